#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "runtime/object/objects.h"
#include "runtime/symbolic/struct_info.h"
#include "runtime/tensor/tensor.h"

namespace ingot::evaluator {

// Values of symbolic variables in one activation.
using SymValues = std::unordered_map<const SymVarNode*, int64_t>;

int64_t dim_value(const PrimExpr& expr, const SymValues& values);

// What is known of a value once it is there: dtype and concrete dimensions. Closures and PackedFuncs give Object.
StructInfo info_of(const Value& value);

// Binds each variable that stands alone in some dimension and has no value yet from the value there, tuples included.
// Ignores whatever does not fit: `require` reports it.
void bind_dims(const Value& value, const StructInfo& info, SymValues& values);

// Which codes a mismatch raises: at function entry ShapeMismatch or TypeError, elsewhere CastFailed.
enum class MatchAt : uint8_t { Entry, Cast };

// Throws unless the value matches. `func_info` gives the StructInfo of closures, null for PackedFuncs.
void require(const Value& value, const StructInfo& info, const SymValues& values, MatchAt at, std::string_view what,
             const std::function<StructInfo(const Value&)>& func_info);

}  // namespace ingot::evaluator
