#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/object/value.h"
#include "runtime/tensor/tensor.h"
#include <ingot/ingot.hpp>

// Values on the command line.
//
//   x=@x.npy                   a file; @archive.npz:name one tensor of an archive
//   x=2x3xf32=1 2 3 4 5 6      dtype and dimensions, then the elements; f32=3 has rank 0
//   x=2x3xf32=random           the same for the same position
//   x=random                   where the function says dtype and dimensions
//   x=shape(2, 3)  x=prim(3)  x="text"
// The name and its `=` may be left out: then the argument stands at its position.
namespace ingot::tool {

struct NamedForm {
  std::string name;  // empty: by position
  std::string form;
};
NamedForm split_form(std::string_view text);

// The value that a form says. `info` is what the function says of the parameter, "Tensor[(1, 3), float32]", or empty.
// Throws InvalidArgument, Io, CorruptFile, Unsupported; `seed` is for random elements.
Value parse_form(const std::string& form, std::string_view info, uint64_t seed);

// A random tensor for a parameter whose StructInfo has a dtype and numbers as dimensions; nullopt for others.
std::optional<Value> random_value(std::string_view info, uint64_t seed);

// Across the border of ingot.hpp; elements are not copied.
api::Value to_api(const Value& value);
// Null for values that are no tensors.
Ref<TensorObject> to_runtime_tensor(const api::Value& value);

}  // namespace ingot::tool
