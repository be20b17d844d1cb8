#pragma once
#include <map>
#include <vector>

#include "runtime/tir/interpreter.h"
#include "runtime/tir/prim_func.h"

// The obvious meaning of PrimFuncs, one element after the other: what the interpreter is compared with.
namespace ingot::tir {

using Bytes = std::vector<std::byte>;
using Dims = std::vector<std::vector<int64_t>>;

// `buffers`: the elements of each parameter; outputs are zero-filled here. `scalars`: the bits of each.
// The code of the fault, or Internal and failed = false.
RunStatus run_reference(const PrimFunc& func, const Dims& dims, std::vector<Bytes>& buffers,
                        const std::vector<uint64_t>& scalars = {});

// The same through the interpreter.
RunStatus run_interpreter(const PrimFunc& func, const Dims& dims, std::vector<Bytes>& buffers,
                          const std::vector<uint64_t>& scalars = {}, PollPoint poll = {});

size_t buffer_bytes(const PrimFunc& func, const Dims& dims, size_t buffer);

template <typename T>
Bytes to_bytes(const std::vector<T>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}
template <typename T>
std::vector<T> from_bytes(const Bytes& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

}  // namespace ingot::tir
