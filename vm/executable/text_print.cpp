#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "runtime/base/error.h"
#include "runtime/tensor/element_text.h"
#include "runtime/tir/text.h"
#include "vm/executable/text.h"
#include "vm/executable/text_constant.h"
#include "vm/executable/text_info.h"
#include "vm/executable/text_words.h"
#include "vm/isa/builtins.h"
#include "vm/isa/decode.h"

namespace ingot::vm {
namespace {

std::string import_text(const Import& import, bool with_writes) {
  if (!with_writes || import.writes.empty()) return ingot::quoted(import.name);
  return fmt::format("{} writes [{}]", ingot::quoted(import.name), fmt::join(import.writes, ", "));
}

std::string number_text(double value) {
  if (!std::isfinite(value)) return fmt::format("bits {:#x}", std::bit_cast<uint64_t>(value));
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string attribute_text(const Attribute& value) {
  if (const auto* integer = std::get_if<int64_t>(&value)) return fmt::format("{}", *integer);
  if (const auto* number = std::get_if<double>(&value)) return number_text(*number);
  if (const auto* text = std::get_if<std::string>(&value)) return ingot::quoted(*text);
  return fmt::format("[{}]", fmt::join(std::get<std::vector<int64_t>>(value), ", "));
}

std::string registers_text(std::span<const Register> registers) {
  std::string text;
  for (const Register reg : registers) text += fmt::format("{}r{}", text.empty() ? "" : ", ", reg);
  return "[" + text + "]";
}

class Printer {
 public:
  explicit Printer(const Program& program) : program_(program) {
    std::map<std::string_view, size_t> uses;
    for (const Function& function : program.functions) ++uses[function.name];
    for (const Function& function : program.functions) {
      const bool is_named = !function.name.empty() && uses[function.name] == 1;
      names_.push_back(is_named ? "@" + word_or_quoted(function.name) : fmt::format("f{}", names_.size()));
    }
    for (const tir::PrimFuncRef& func : program.prim_funcs) prim_funcs_.emplace(func.get(), prim_funcs_.size());
    for (const Import& import : program.imports) ++import_names_[import.name];
  }

  std::string program() {
    for (const auto& [key, value] : program_.metadata) line("meta {} = {}", ingot::quoted(key), ingot::quoted(value));
    for (const Import& import : program_.imports) line("import {}", import_text(import, true));
    for (size_t i = 0; i < program_.constants.size(); ++i)
      line("const c{} = {}", i, print_constant(program_.constants[i]));
    for (const tir::PrimFuncRef& func : program_.prim_funcs) {
      text_ += tir::print(*func);
      if (!text_.ends_with('\n')) text_ += '\n';
    }
    for (size_t i = 0; i < program_.kernels.size(); ++i) kernel(i);
    for (const Function& f : program_.functions) {
      text_ += "\n";
      function(f);
    }
    return std::move(text_);
  }

  std::string one(const Function& f) {
    function(f);
    return std::move(text_);
  }

 private:
  template <typename... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    text_ += '\n';
  }

  static std::string word_or_quoted(std::string_view name) {
    return is_word(name) ? std::string(name) : ingot::quoted(name);
  }

  void kernel(size_t index) {
    const KernelCall& call = program_.kernels[index];
    std::string text =
        fmt::format("kernel k{} = {} {} -> {}", index, contract_name(call.contract), call.inputs, call.outputs);
    if (call.prim_func != nullptr) {
      const auto found = prim_funcs_.find(call.prim_func.get());
      if (found == prim_funcs_.end())
        fail(ErrorCode::CorruptFile, "kernel call {}: PrimFunc '{}' is not listed", index, call.prim_func->name);
      text += fmt::format(" of {}", found->second);
    }
    std::string attributes;
    for (const NamedAttribute& attribute : call.attributes)
      attributes += fmt::format("{}{}={}", attributes.empty() ? "" : ", ", word_or_quoted(attribute.name),
                                attribute_text(attribute.value));
    if (!attributes.empty()) text += " {" + attributes + "}";
    std::string ops;
    for (const PostOp& op : call.post_ops)
      ops += fmt::format("{}{}({}, {})", ops.empty() ? "" : ", ", post_op_name(op.kind), number_text(op.alpha),
                         number_text(op.beta));
    if (!ops.empty()) text += " [" + ops + "]";
    line("{}", text);
  }

  void function(const Function& f) {
    const auto index = static_cast<size_t>(&f - program_.functions.data());
    const VarSpelling vars(f.vars);
    const std::string header =
        names_[index][0] == '@' ? names_[index] : fmt::format("{} named {}", names_[index], ingot::quoted(f.name));
    line("func {}{}{} params {} captures {} registers {} {{", header, f.exported ? " exported" : "",
         f.pure ? "" : " impure", f.params, f.captures, f.registers);
    tables(f, vars);
    line("  code");
    code(f);
    line("}}");
  }

  void tables(const Function& f, const VarSpelling& vars) {
    if (!f.vars.empty()) {
      std::string all;
      for (size_t i = 0; i < f.vars.size(); ++i) {
        all += (all.empty() ? "" : ", ") + vars.of(f.vars[i]);
        const auto bound = std::ranges::find(f.bounds, i, &Bound::var);
        if (bound != f.bounds.end()) all += fmt::format(" <= {}", bound->most);
      }
      line("  vars {}", all);
    }
    line("  signature {}", vars.text(f.signature));
    if (!f.param_names.empty()) {
      std::string all;
      for (const std::string& name : f.param_names) all += (all.empty() ? "" : ", ") + ingot::quoted(name);
      line("  names {}", all);
    }
    for (size_t i = 0; i < f.storages.size(); ++i)
      line("  storage s{} = {} {}", i, dtype_name(f.storages[i].dtype), vars.text(f.storages[i].dims));
    for (size_t i = 0; i < f.checks.size(); ++i) {
      std::string binds;
      for (const bool b : f.checks[i].binds) binds += fmt::format("{}{}", binds.empty() ? "" : ", ", b ? 1 : 0);
      line("  check t{} = {}{}", i, vars.text(f.checks[i].info), binds.empty() ? "" : " binds (" + binds + ")");
    }
    for (size_t i = 0; i < f.exprs.size(); ++i) line("  expr e{} = {}", i, vars.text(f.exprs[i]));
    if (!f.source.empty()) line("  source {}", ingot::quoted(f.source));
  }

  void code(const Function& f) {
    std::vector<uint32_t> labels;
    for (const Instruction& i : Instructions<Checked>(f.code))
      for (const Operand& operand : i.operands())
        if (operand.role == Role::Target) labels.push_back(label(i, operand, f));
    std::ranges::sort(labels);
    auto next_label = labels.begin();
    auto next_span = f.spans.begin();
    auto next_loop = f.loops.begin();
    for (const Instruction& i : Instructions<Checked>(f.code)) {
      const auto skipped = std::lower_bound(next_label, labels.end(), i.at);
      if (skipped != next_label)
        fail(ErrorCode::CorruptFile, "a jump leads to unit {}, where no instruction begins", *next_label);
      if (next_label != labels.end() && *next_label == i.at) line("  L{}:", i.at);
      while (next_label != labels.end() && *next_label == i.at) ++next_label;
      if (next_span != f.spans.end() && next_span->unit == i.at) {
        line("    at {}:{}", next_span->line, next_span->column);
        ++next_span;
      }
      line("    {}{}", i.info->mnemonic, operands(i, f));
      if (i.opcode == Opcode::Loop && next_loop != f.loops.end() && next_loop->unit == i.at) {
        text_.pop_back();
        line(" {}", loop_text(*next_loop++));
      }
    }
    if (next_label != labels.end() || next_span != f.spans.end() || next_loop != f.loops.end())
      fail(ErrorCode::CorruptFile, "a jump, loop header or source span names a unit where no instruction begins");
  }

  static uint32_t label(const Instruction& i, const Operand& operand, const Function& f) {
    const int64_t target = i.target(operand);
    if (target < 0 || target >= static_cast<int64_t>(f.code.size()))
      fail(ErrorCode::CorruptFile, "a jump leads to unit {}, the code has {}", target, f.code.size());
    return static_cast<uint32_t>(target);
  }

  static std::string loop_text(const LoopHeader& loop) {
    std::string text;
    for (const LoopRegister& reg : loop.registers)
      text += fmt::format("{}r{} {}{} {}", text.empty() ? "" : ", ", reg.index, kind_word(reg.kind),
                          reg.dtype == DType::None ? "" : fmt::format(" {}", dtype_name(reg.dtype)),
                          holding_word(reg.holding));
    return "[" + text + "]";
  }

  std::string operands(const Instruction& i, const Function& f) {
    std::string text;
    for (const Operand& operand : i.operands()) text += (text.empty() ? " " : ", ") + operand_text(i, operand, f);
    return text;
  }

  std::string operand_text(const Instruction& i, const Operand& operand, const Function& f) {
    const auto numbered = [&](char letter, size_t count) {
      if (operand.index() >= count)
        fail(ErrorCode::CorruptFile, "unit {}: {} {} does not exist, there are {}", i.at, role_name(operand.role),
             operand.index(), count);
      return fmt::format("{}{}", letter, operand.index());
    };
    switch (operand.role) {
      case Role::None:
        return {};
      case Role::Def:
      case Role::Use:
      case Role::Take:
      case Role::Base:
        return fmt::format("r{}", operand.reg());
      case Role::Const:
        return numbered('c', program_.constants.size());
      case Role::Func:
        numbered('f', names_.size());
        return names_[operand.index()];
      case Role::Import:
        numbered('i', program_.imports.size());
        return import_text(program_.imports[operand.index()],
                           import_names_[program_.imports[operand.index()].name] > 1);
      case Role::Kernel:
        return numbered('k', program_.kernels.size());
      case Role::Builtin:
        numbered('b', kBuiltinCount);
        return std::string(kBuiltins[operand.index()].name);
      case Role::Storage:
        return numbered('s', f.storages.size());
      case Role::Check:
        return numbered('t', f.checks.size());
      case Role::Expr:
        return numbered('e', f.exprs.size());
      case Role::DType:
        numbered('d', kDTypeCount);
        return std::string(dtype_name(static_cast<DType>(operand.value)));
      case Role::Imm:
        return fmt::format("{}", operand.value);
      case Role::Target:
        return fmt::format("L{}", label(i, operand, f));
      case Role::Uses:
      case Role::Takes:
      case Role::Operands:
      case Role::Vars:
        return registers_text(operand.list);
    }
    return {};
  }

  const Program& program_;
  std::vector<std::string> names_;
  std::unordered_map<const tir::PrimFunc*, size_t> prim_funcs_;
  std::unordered_map<std::string_view, size_t> import_names_;  // how many imports have each
  std::string text_;
};

}  // namespace

std::string disassemble(const Program& program) { return Printer(program).program(); }
std::string disassemble(const Program& program, const Function& function) { return Printer(program).one(function); }

}  // namespace ingot::vm
