#include "compiler/text/printer.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "compiler/ir/attrs.h"
#include "compiler/ir/op.h"
#include "compiler/ir/visitor.h"
#include "compiler/text/constant_text.h"
#include "compiler/text/lexer.h"
#include "runtime/tir/text.h"

namespace ingot::text {
namespace {

using namespace ir;

// Gives each node a name of its own, close to the one it has.
class Names {
 public:
  const std::string& of(const void* node, const std::string& wanted) {
    auto [at, added] = names_.try_emplace(node);
    if (added) {
      at->second = fresh(wanted);
      given_.push_back(node);
    }
    return at->second;
  }
  bool has(const void* node) const { return names_.contains(node); }
  // What got its name after the mark is forgotten by `leave`: these names are free again.
  size_t enter() const { return given_.size(); }
  void leave(size_t mark) {
    for (; given_.size() > mark; given_.pop_back()) {
      const auto found = names_.find(given_.back());
      used_.erase(found->second);
      names_.erase(found);
    }
  }
  void reserve(const std::string& name) { used_.insert(name); }

 private:
  std::string fresh(const std::string& wanted) {
    if (used_.insert(wanted).second) return wanted;
    for (size_t& i = suffix_[wanted];;) {
      std::string name = wanted + "_" + std::to_string(++i);
      if (used_.insert(name).second) return name;
    }
  }

  std::unordered_map<const void*, std::string> names_;
  std::vector<const void*> given_;
  std::unordered_set<std::string> used_;
  std::unordered_map<std::string, size_t> suffix_;
};

class Printer {
 public:
  explicit Printer(const PrintOptions& options) : options_(options) {
    // Words that have a meaning among dimensions and types.
    for (const char* word :
         {"min",   "max",    "select", "floordiv", "floormod", "ndim", "dtype", "Tensor", "Shape", "Prim",
          "Tuple", "Object", "fn",     "Float",    "Int",      "Bool", "float", "int",    "uint",  "uint1"})
      sym_names_.reserve(word);
    for (const DTypeInfo& dtype : kDTypes) {
      sym_names_.reserve(std::string(dtype.name));
      sym_names_.reserve(std::string(dtype.brief));
    }
  }

  void definition(const Definition& definition) {
    if (!definition.exported) out += "private ";
    if (definition.prim_func != nullptr) {
      out += tir::print(*definition.prim_func);
      if (out.back() != '\n') out += '\n';
      return;
    }
    const Function& f = *definition.function;
    if (!f.pure) out += "impure ";
    out += "def " + global(definition.name);
    function(f);
    out += '\n';
  }

  void expr(const Expr& e) {
    switch (e->kind) {
      case ExprKind::Constant:
        out += constant_text(*as<Constant>(e)->data, as<Constant>(e)->adapts, options_.most_elements);
        return;
      case ExprKind::Var:
        out += local(*as<Var>(e));
        return;
      case ExprKind::GlobalVar:
        out += global(as<GlobalVar>(e)->name);
        return;
      case ExprKind::Tuple: {
        const auto& fields = as<Tuple>(e)->fields;
        out += '(';
        list(fields);
        out += fields.size() == 1 ? ",)" : ")";
        return;
      }
      case ExprKind::Seq:
        if (match_cast(*as<Seq>(e))) return;
        block(e);
        return;
      case ExprKind::PrimValue:
        prim_value(*as<PrimValue>(e));
        return;
      case ExprKind::String:
        out += quoted(as<String>(e)->value);
        return;
      case ExprKind::DataType:
        out += fmt::format("dtype({})", dtype_name(as<DataType>(e)->value));
        return;
      case ExprKind::NullValue:
        out += "null_value()";
        return;
      case ExprKind::Function:
        out += as<Function>(e)->pure ? "fn" : "impure fn";
        function(*as<Function>(e));
        return;
      case ExprKind::If:
        branch(*as<If>(e));
        return;
      case ExprKind::ExternFunc:
        extern_func(*as<ExternFunc>(e));
        return;
      case ExprKind::Call:
        call(*as<Call>(e));
        return;
      case ExprKind::Shape: {
        out += "shape(";
        const auto& dims = as<Shape>(e)->dims;
        for (size_t i = 0; i < dims.size(); ++i) {
          if (i != 0) out += ", ";
          out += dim(dims[i]);
        }
        out += ')';
        return;
      }
      case ExprKind::TupleGetItem:
        operand(as<TupleGetItem>(e)->tuple);
        out += fmt::format(".{}", as<TupleGetItem>(e)->index);
        return;
      case ExprKind::Op:
        out += as<OpExpr>(e)->op->name;
        return;
    }
  }

  // Which variables without a name are used; the others need none.
  void find_uses(const Expr& e) {
    const auto* var = as<Var>(e);
    if (var != nullptr && var->name.empty()) used_.insert(var);
    for_each_child(e, [this](const Expr& child) { find_uses(child); });
  }

  std::string out;

 private:
  std::string local(const Var& var) {
    const std::string& name = var_names_.of(&var, var.name.empty() ? "t" : var.name);
    return is_plain_name(name) ? "%" + name : "%" + quoted(name);
  }
  static std::string global(const std::string& name) { return is_plain_name(name) ? "@" + name : "@" + quoted(name); }
  std::string sym(const SymVar& var) { return sym_names_.of(var.get(), var->name.empty() ? "d" : var->name); }
  std::string dim(const PrimExpr& e) {
    return ingot::to_text(e, [this](const SymVar& var) { return sym(var); });
  }

  void line() {
    out += '\n';
    out.append(2 * indent_, ' ');
  }

  void list(const std::vector<Expr>& exprs) {
    for (size_t i = 0; i < exprs.size(); ++i) {
      if (i != 0) out += ", ";
      expr(exprs[i]);
    }
  }

  // What a call or projection follows, or an operand of && and ||.
  void operand(const Expr& e) {
    const auto* constant = as<Constant>(e);
    const bool wrap = e->kind == ExprKind::If || e->kind == ExprKind::Function || constant != nullptr;
    if (wrap) out += '(';
    expr(e);
    if (wrap) out += ')';
  }

  std::string dims(const std::vector<PrimExpr>& values) {
    std::string text = "(";
    for (size_t i = 0; i < values.size(); ++i) {
      if (i != 0) text += ", ";
      text += dim(values[i]);
    }
    return text + (values.size() == 1 ? ",)" : ")");
  }

  std::string info(const StructInfo& i) {
    const auto fields = [&] {
      std::string text;
      for (size_t k = 0; k < i->fields.size(); ++k) text += (k == 0 ? "" : ", ") + info(i->fields[k]);
      return text;
    };
    const auto bracketed = [](std::string head, const std::vector<std::string>& parts) {
      return parts.empty() ? head : fmt::format("{}[{}]", head, fmt::join(parts, ", "));
    };
    std::vector<std::string> parts;
    switch (i->kind) {
      case InfoKind::Object:
        return i->shape_var ? sym(i->shape_var) : "Object";
      case InfoKind::Tensor:
      case InfoKind::Shape:
        if (i->dims) parts.push_back(dims(*i->dims));
        if (i->shape_var) {
          const auto held = shape_vars_.find(i->shape_var.get());
          parts.push_back(held != shape_vars_.end() ? local(*held->second) : sym(i->shape_var));
        }
        if (i->rank && !i->dims) parts.push_back(fmt::format("ndim={}", *i->rank));
        if (i->dtype != DType::None) parts.emplace_back(dtype_name(i->dtype));
        if (i->kind == InfoKind::Tensor && i->value) parts.push_back(dim(*i->value));
        return bracketed(i->kind == InfoKind::Tensor ? "Tensor" : "Shape", parts);
      case InfoKind::Prim:
        parts.emplace_back(dtype_name(i->dtype));
        if (i->value) parts.push_back(dim(*i->value));
        return bracketed("Prim", parts);
      case InfoKind::Tuple:
        return "(" + fields() + (i->fields.size() == 1 ? ",)" : ")");
      case InfoKind::Func: {
        // Dimensions that only the function type knows are its own.
        const size_t mark = sym_names_.enter();
        std::string params = i->has_params ? fields() : "...";
        std::string text = fmt::format("{}fn({}) -> {}", i->pure ? "" : "impure ", params, info(i->result));
        sym_names_.leave(mark);
        return text;
      }
    }
    return {};
  }

  // Can the text say what was inferred? It has no words for a pure function of which the parameters are not known, and
  // dimensions must be bound: in front of here, or in `binds`, the position of a parameter.
  bool can_say(const StructInfo& i, bool binds) const {
    if (has_nameless_params(i)) return false;
    std::unordered_set<const SymVarNode*> own;
    if (binds) for_each_binding_var(i, [&](const SymVar& var) { own.insert(var.get()); });
    collect_own(i, own);
    bool known = true;
    for_each_var(i, [&](const SymVar& var) {
      known = known && !hidden_.contains(var.get()) && (own.contains(var.get()) || sym_names_.has(var.get()));
    });
    return known;
  }

  static bool has_nameless_params(const StructInfo& i) {
    if (i->kind == InfoKind::Func && ((i->pure && !i->has_params) || has_nameless_params(i->result))) return true;
    return std::ranges::any_of(i->fields, has_nameless_params);
  }

  // Dimensions that function types bind.
  static void collect_own(const StructInfo& i, std::unordered_set<const SymVarNode*>& into) {
    if (i->kind == InfoKind::Func) {
      for (const StructInfo& param : i->fields)
        for_each_binding_var(param, [&](const SymVar& var) { into.insert(var.get()); });
      collect_own(i->result, into);
    }
    for (const StructInfo& field : i->fields) collect_own(field, into);
  }

  // The dimensions of what a variable %s holds that gives the shape of a tensor type have no names of their own.
  void hide_unnamed(const StructInfo& i) {
    if (!options_.types || i == nullptr || i->kind == InfoKind::Func) return;
    for_each_var(i, [&](const SymVar& var) {
      if (!sym_names_.has(var.get())) hidden_.insert(var.get());
    });
  }

  // A parameter %s: Shape[ndim=2] that gives the shape of a tensor type: inference names the dimensions, and what it
  // gives for the result mentions them.
  static bool binds_more_than_stated(const Var& var) {
    return var.shape_symbol && var.annotation && !var.annotation->dims && var.info && var.info->dims;
  }

  void define(const VarRef& var, bool is_param = false) {
    if (var->shape_symbol) shape_vars_[var->shape_symbol.get()] = var.get();
    out += local(*var);
    const bool inferred = (options_.types && !var->annotation && var->info && can_say(var->info, is_param)) ||
                          (is_param && binds_more_than_stated(*var));
    if (var->annotation || inferred) out += ": " + info(inferred ? var->info : var->annotation);
  }

  // From behind the name or `fn` to the closing brace.
  void function(const Function& f) {
    if (!f.type_params.empty()) {
      out += '[';
      for (size_t i = 0; i < f.type_params.size(); ++i)
        out += fmt::format("{}{}: {}", i == 0 ? "" : ", ", sym(f.type_params[i].var), f.type_params[i].kind);
      out += ']';
    }
    out += '(';
    for (size_t i = 0; i < f.params.size(); ++i) {
      if (i != 0) out += ", ";
      define(f.params[i], true);
      hide_unnamed(f.params[i]->info);
    }
    out += ')';
    const bool inferred = options_.types && !f.result && f.info && can_say(f.info->result, false);
    if (f.result || inferred) out += " -> " + info(inferred ? f.info->result : f.result);
    for (size_t i = 0; i < f.where.size(); ++i) out += (i == 0 ? " where " : ", ") + f.where[i];
    if (!f.attrs.empty()) {
      out += " attrs {";
      attributes(f.attrs, true);
      out += '}';
    }
    out += ' ';
    block(f.body);
  }

  void attributes(const Attrs& attrs, bool first) {
    for (const auto& [name, value] : attrs) {
      if (!first) out += ", ";
      first = false;
      const bool word = is_plain_name(name) && (name[0] < '0' || name[0] > '9');
      out += (word ? name : quoted(name)) + "=" + to_text(value);
    }
  }

  void block(const Expr& e) {
    out += '{';
    ++indent_;
    statements(e);
    --indent_;
    line();
    out += '}';
  }

  void statements(const Expr& e) {
    const auto* seq = as<Seq>(e);
    if (seq == nullptr || match_cast_of(*seq) != nullptr) {
      line();
      expr(e);
      return;
    }
    for (const BindingBlock& block : seq->blocks) {
      if (!block.dataflow) {
        for (const Binding& binding : block.bindings) statement(binding, false);
        continue;
      }
      if (block.bindings.empty()) continue;
      line();
      out += "dataflow {";
      ++indent_;
      std::vector<std::string> outputs;
      for (const Binding& binding : block.bindings) {
        statement(binding, true);
        if (!binding.var->dataflow) outputs.push_back(local(*binding.var));
      }
      if (!outputs.empty()) {
        line();
        out += fmt::format("output({});", fmt::join(outputs, ", "));
      }
      --indent_;
      line();
      out += '}';
    }
    if (const auto* nested = as<Seq>(seq->body); nested != nullptr && match_cast_of(*nested) == nullptr) {
      line();
      block(seq->body);
      return;
    }
    line();
    expr(seq->body);
  }

  void statement(const Binding& binding, bool dataflow) {
    line();
    const Var& var = *binding.var;
    if (binding.graph) {
      out += local(var) + " = ";
    } else if (!var.name.empty() || var.annotation != nullptr || var.dataflow != dataflow || used_.contains(&var)) {
      out += "let ";
      define(binding.var);
      out += " = ";
    }
    if (binding.cast != nullptr) {
      out += "match_cast(";
      expr(binding.value);
      out += ", " + info(binding.cast) + ")";
    } else {
      expr(binding.value);
    }
    hide_unnamed(var.info);
    out += ';';
  }

  static const Binding* match_cast_of(const Seq& seq) {
    if (seq.blocks.size() != 1 || seq.blocks[0].dataflow || seq.blocks[0].bindings.size() != 1) return nullptr;
    const Binding& binding = seq.blocks[0].bindings[0];
    const bool is = binding.cast != nullptr && binding.var->name.empty() && binding.var->annotation == nullptr &&
                    seq.body == binding.var;
    return is ? &binding : nullptr;
  }

  bool match_cast(const Seq& seq) {
    const Binding* binding = match_cast_of(seq);
    if (binding == nullptr) return false;
    out += "match_cast(";
    expr(binding->value);
    out += ", " + info(binding->cast) + ")";
    return true;
  }

  void prim_value(const PrimValue& value) {
    out += "prim(";
    if (const auto* d = std::get_if<PrimExpr>(&value.value))
      out += dim(*d);
    else if (const auto* number = std::get_if<double>(&value.value))
      out += decimal_text(*number);
    else
      out += std::get<bool>(value.value) ? "True" : "False";
    out += ')';
  }

  void branch(const If& e) {
    if (e.sugar != ShortCircuit::None) {
      const bool both = e.sugar == ShortCircuit::And;
      out += '(';
      operand_of_sugar(e.condition);
      out += both ? " && " : " || ";
      operand_of_sugar(both ? e.then_branch : e.else_branch);
      out += ')';
      return;
    }
    out += "if (";
    expr(e.condition);
    out += ") ";
    block(e.then_branch);
    out += " else ";
    const Expr& other = e.else_branch;
    const auto* chained = as<If>(other);
    if (chained != nullptr && chained->sugar == ShortCircuit::None)
      branch(*chained);
    else
      block(other);
  }

  void operand_of_sugar(const Expr& e) {
    const auto* seq = as<Seq>(e);
    if (seq != nullptr && seq->blocks.empty()) return operand_of_sugar(seq->body);
    expr(e);
  }

  void extern_func(const ExternFunc& f) {
    out += "extern(" + quoted(f.name);
    for (const StructInfo& result : f.results) out += ", " + info(result);
    if (!f.writes.empty()) out += fmt::format(", writes=({},)", fmt::join(f.writes, ", "));
    out += ')';
  }

  void call(const Call& call) {
    operand(call.callee);
    const bool is_op = call.callee->kind == ExprKind::Op;
    if (!is_op && !call.info_args.empty()) {
      out += '<';
      for (size_t i = 0; i < call.info_args.size(); ++i) out += (i == 0 ? "" : ", ") + info(call.info_args[i]);
      out += '>';
    }
    out += '(';
    list(call.args);
    bool first = call.args.empty();
    if (is_op)
      for (const StructInfo& i : call.info_args) {
        out += (first ? "" : ", ") + info(i);
        first = false;
      }
    attributes(call.attrs, first);
    out += ')';
  }

  const PrintOptions& options_;
  size_t indent_ = 0;
  Names var_names_, sym_names_;
  std::unordered_map<const SymVarNode*, const Var*> shape_vars_;
  std::unordered_set<const SymVarNode*> hidden_;
  std::unordered_set<const Var*> used_;
};

}  // namespace

std::string print(const Module& module, const PrintOptions& options) {
  std::string text;
  for (const Definition& definition : module.definitions()) {
    if (!text.empty()) text += '\n';
    Printer printer(options);
    if (definition.function != nullptr) printer.find_uses(definition.function->body);
    printer.definition(definition);
    text += printer.out;
  }
  return text;
}

std::string print(const Expr& expr, const PrintOptions& options) {
  Printer printer(options);
  printer.find_uses(expr);
  printer.expr(expr);
  return std::move(printer.out);
}

}  // namespace ingot::text
