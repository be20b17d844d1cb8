#pragma once
#include "compiler/ops/call.h"
#include "compiler/ops/operands.h"

// Calls that ask for other layouts or another dtype than the operator itself works on, as compositions around the plain
// call. A layout names the dimensions of a tensor by capital letters, in order; "NCHW16c" has the channels in blocks of
// 16, whose elements lie along the last dimension.
namespace ingot::ops {

// The call on operands brought into the layouts `data` and `kernel` (where the operator has one), its result in
// out_layout, or else in the layout of the data; nullopt where the call asks for no others. Attributes: layout or
// data_layout, kernel_layout, out_layout.
std::optional<ir::Expr> in_plain_layouts(const ir::CallSite& call, std::string_view data, std::string_view kernel = {});

// The call on operands cast to the widest of their dtypes and out_dtype, its result cast to out_dtype; nullopt where
// no out_dtype is given or all are of that dtype.
std::optional<ir::Expr> in_out_dtype(const ir::CallSite& call);

// Both.
std::optional<ir::Expr> in_plain_form(const ir::CallSite& call, std::string_view data, std::string_view kernel = {});

}  // namespace ingot::ops
