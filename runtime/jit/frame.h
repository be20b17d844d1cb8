#pragma once
#include <cstddef>
#include <cstdint>

namespace ingot::jit {

// What generated code is called with. One for each thread.
struct Frame {
  std::byte* const* buffers;
  const void* const* scalars;
  int64_t begin, end;   // of the outermost loop
  uint64_t fault;       // a Fault
  const int64_t* dims;  // of a shaped nest: the values of its vars
  int64_t outer;        // of parts: the index of the loop around them
};
using Entry = void (*)(Frame*);

}  // namespace ingot::jit
