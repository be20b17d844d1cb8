#pragma once
#include <functional>
#include <span>
#include <unordered_map>

#include "compiler/ir/module.h"
#include "compiler/ir/op.h"

// What passes over functions in normal form share.
namespace ingot::transform {

// Changes the bindings of one sequence; blocks that it leaves empty are removed.
using RewriteSequence = std::function<void(std::vector<ir::BindingBlock>& blocks, ir::Expr& body)>;

// Every sequence of the function, inner ones first: branches, nested functions, then the body.
ir::FunctionRef rewrite_sequences(const ir::FunctionRef& function, const RewriteSequence& rewrite);

// Calls `visit` for blocks whose variables share one scope: each dataflow block alone, neighbouring others together.
// What moves from one binding to another stays within them.
void for_each_scope(std::vector<ir::BindingBlock>& blocks,
                    const std::function<void(std::span<ir::BindingBlock>)>& visit);

// Every function of the module in turn; the form stays.
ir::Module rewrite_functions(const ir::Module& module,
                             const std::function<ir::FunctionRef(const ir::FunctionRef&)>& rewrite);

// Does `holds` hold for a binding of the function, nested functions and sequences included?
bool any_binding(const ir::FunctionRef& function, const std::function<bool(const ir::Binding&)>& holds);

// How often each variable is used in the expression, nested functions and sequences included.
using Uses = std::unordered_map<const ir::Var*, size_t>;
Uses count_uses(const ir::Expr& expr);

// The operator that a binding's value calls; null where it is anything else.
const ir::Op* called_op(const ir::Expr& value);

// The expression with StructInfo.
ir::Expr typed(ir::Expr expr, StructInfo info);
// A constant tensor with StructInfo.
ir::Expr typed_constant(Ref<TensorObject> data, const ir::Span& span);
// Constant elements of a float32 tensor, where the expression is one; null otherwise.
const TensorObject* float_constant(const ir::Expr& expr);

// A call of an operator that code generation knows.
std::shared_ptr<ir::Call> low_level(std::string_view op, std::vector<ir::Expr> args, ir::Attrs attrs,
                                    std::vector<StructInfo> info_args, const ir::Span& span);

// call_tir of a PrimFunc of the module.
ir::Expr tir_call(const std::string& prim_func, std::vector<ir::Expr> inputs, std::vector<PrimExpr> scalars,
                  std::vector<StructInfo> outputs, const StructInfo& result, const ir::Span& span);

// call_kernel with these inputs; attributes tell readers of the text which kernel it is.
ir::Expr kernel_call(KernelCall kernel, std::vector<ir::Expr> inputs, const StructInfo& result, const ir::Span& span);

// A call as its operator sees it; what it refers to lives as long as this object and the call.
class Site {
 public:
  explicit Site(const ir::Call& call);
  const ir::CallSite& operator*() const { return site_; }
  const ir::CallSite* operator->() const { return &site_; }

 private:
  std::vector<StructInfo> infos_;
  ir::CallSite site_;
};

}  // namespace ingot::transform
