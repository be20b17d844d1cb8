#include <algorithm>
#include <bit>
#include <cstdlib>
#include <map>

#include "runtime/base/error.h"
#include "runtime/tir/text.h"
#include "vm/executable/text.h"
#include "vm/executable/text_constant.h"
#include "vm/executable/text_info.h"
#include "vm/executable/text_scanner.h"
#include "vm/executable/text_words.h"
#include "vm/isa/builtins.h"
#include "vm/isa/encode.h"

namespace ingot::vm {
namespace {

using Arg = CodeBuilder::Arg;

// What parsing one function needs besides the function itself.
struct FunctionScope {
  explicit FunctionScope(TextScanner& in) : infos(in) {}
  InfoParser infos;
  CodeBuilder code;
  struct TextLabel {
    Label label;
    bool is_bound = false;
    size_t place = 0;
  };
  std::map<std::string, TextLabel, std::less<>> labels;
};

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text), in_(text) {}

  Program run() {
    while (!in_.done()) item();
    for (const Fixup& fixup : fixups_) {
      const auto found = functions_.find(fixup.name);
      if (found == functions_.end()) in_.fail_at(fixup.place, fmt::format("there is no function {}", fixup.name));
      std::vector<CodeUnit>& code = program_.functions[fixup.function].code;
      code[fixup.unit] = static_cast<CodeUnit>(found->second);
      code[fixup.unit + 1] = static_cast<CodeUnit>(found->second >> 16);
    }
    return std::move(program_);
  }

 private:
  // A function that an instruction names, perhaps before its text came.
  struct Fixup {
    size_t function;
    size_t unit;
    std::string name;
    size_t place;
  };

  void item() {
    if (in_.accept("meta")) {
      std::string key = in_.string();
      in_.expect("=");
      program_.metadata.emplace_back(std::move(key), in_.string());
    } else if (in_.accept("import")) {
      program_.imports.push_back(import());
    } else if (in_.accept("const")) {
      numbered('c', program_.constants.size());
      program_.constants.push_back(parse_constant(in_, program_.owners));
    } else if (in_.comes("prim_func")) {
      size_t offset = in_.offset();
      program_.prim_funcs.push_back(std::make_shared<const tir::PrimFunc>(tir::parse(text_, offset)));
      in_.move_to(offset);
    } else if (in_.accept("kernel")) {
      kernel();
    } else if (in_.accept("func")) {
      function();
    } else {
      in_.fail_here("meta, import, const, prim_func, kernel or func is expected here");
    }
  }

  // The `c3 =` of an entry, which must be the next one of its table.
  void numbered(char letter, size_t next) {
    in_.expect(fmt::format("{}{}", letter, next));
    in_.expect("=");
  }

  template <typename Entry>
  void list(std::string_view open, std::string_view close, Entry&& entry) {
    in_.expect(open);
    while (!in_.comes(close)) {
      entry();
      if (!in_.accept(",")) break;
    }
    in_.expect(close);
  }

  std::string name() { return in_.at_string() ? in_.string() : std::string(in_.word("a name")); }

  Import import() {
    Import made{in_.string(), {}};
    if (in_.accept("writes")) list("[", "]", [&] { made.writes.push_back(in_.count()); });
    return made;
  }

  double number() {
    if (in_.accept("bits")) return std::bit_cast<double>(in_.hex());
    const size_t place = in_.offset();
    const std::string text(in_.number());
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (end != text.c_str() + text.size()) in_.fail_at(place, "this is no number");
    return value;
  }

  Attribute attribute() {
    if (in_.at_string()) return in_.string();
    if (in_.comes("[")) {
      std::vector<int64_t> values;
      list("[", "]", [&] { values.push_back(in_.integer()); });
      return values;
    }
    if (in_.comes("bits")) return number();
    const size_t place = in_.offset();
    const bool is_integer = in_.number().find_first_of(".en") == std::string_view::npos;
    in_.move_to(place);
    if (is_integer) return in_.integer();
    return number();
  }

  void kernel() {
    numbered('k', program_.kernels.size());
    KernelCall call{};
    call.contract = contract();
    call.inputs = static_cast<uint16_t>(in_.count(UINT16_MAX));
    in_.expect("->");
    call.outputs = static_cast<uint16_t>(in_.count(UINT16_MAX));
    if (in_.accept("of")) {
      const size_t place = in_.offset();
      const uint32_t index = in_.count();
      if (index >= program_.prim_funcs.size())
        in_.fail_at(place, fmt::format("PrimFunc {} does not exist, there are {}", index, program_.prim_funcs.size()));
      call.prim_func = program_.prim_funcs[index];
    }
    if (in_.comes("{"))
      list("{", "}", [&] {
        std::string key = name();
        in_.expect("=");
        call.attributes.push_back({std::move(key), attribute()});
      });
    if (in_.comes("[")) list("[", "]", [&] { call.post_ops.push_back(post_op()); });
    program_.kernels.push_back(std::move(call));
  }

  Contract contract() {
    const size_t place = in_.offset();
    const std::string_view word = in_.word("a contract");
#define CONTRACT(name, ...) \
  if (word == #name) return Contract::name;
#define KERNEL(...)
#include "runtime/kernels/kernels.def"
    in_.fail_at(place, fmt::format("there is no contract {}", word));
  }

  template <typename Enum, size_t n>
  Enum enumerator(const std::array<std::string_view, n>& words, std::string_view what) {
    const size_t place = in_.offset();
    const std::string_view word = in_.word(what);
    const auto found = find_word<Enum>(words, word);
    if (!found) in_.fail_at(place, fmt::format("there is no {} {}", what, word));
    return *found;
  }

  PostOpKind post_op_kind() {
    const size_t place = in_.offset();
    const std::string_view word = in_.word("a post-op");
    for (size_t kind = 0; kind < kPostOpKindCount; ++kind)
      if (post_op_name(static_cast<PostOpKind>(kind)) == word) return static_cast<PostOpKind>(kind);
    in_.fail_at(place, fmt::format("there is no post-op {}", word));
  }

  PostOp post_op() {
    PostOp op{post_op_kind()};
    if (!in_.accept("(")) return op;
    op.alpha = number();
    if (in_.accept(",")) op.beta = number();
    in_.expect(")");
    return op;
  }

  void function() {
    const size_t place = in_.offset();
    Function f;
    std::string reference;
    if (in_.accept("@")) {
      f.name = name();
      reference = "@" + f.name;
    } else {
      reference = in_.word("@ or f and a number");
      in_.expect("named");
      f.name = in_.string();
    }
    if (!functions_.emplace(reference, static_cast<uint32_t>(program_.functions.size())).second)
      in_.fail_at(place, fmt::format("function {} is there twice", reference));
    f.exported = in_.accept("exported");
    f.pure = !in_.accept("impure");
    in_.expect("params");
    f.params = in_.count();
    if (in_.accept("captures")) f.captures = in_.count();
    in_.expect("registers");
    f.registers = in_.count();
    in_.expect("{");
    FunctionScope scope(in_);
    while (!in_.accept("code")) table(f, scope);
    while (!in_.accept("}")) code_line(f, scope);
    for (const auto& [text, label] : scope.labels)
      if (!label.is_bound) in_.fail_at(label.place, fmt::format("label {} stands nowhere", text));
    f.code = scope.code.finish();
    program_.functions.push_back(std::move(f));
  }

  void table(Function& f, FunctionScope& scope) {
    if (in_.accept("vars")) {
      do {
        f.vars.push_back(scope.infos.declare());
        if (in_.accept("<=")) f.bounds.push_back({static_cast<uint32_t>(f.vars.size() - 1), in_.integer()});
      } while (in_.accept(","));
    } else if (in_.accept("signature")) {
      f.signature = scope.infos.info();
    } else if (in_.accept("names")) {
      do f.param_names.push_back(in_.string());
      while (in_.accept(","));
    } else if (in_.accept("storage")) {
      numbered('s', f.storages.size());
      const DType dtype = scope.infos.dtype();
      f.storages.push_back({dtype, scope.infos.dims()});
    } else if (in_.accept("check")) {
      numbered('t', f.checks.size());
      Check check{scope.infos.info(), {}};
      if (in_.accept("binds")) list("(", ")", [&] { check.binds.push_back(in_.count(1) == 1); });
      f.checks.push_back(std::move(check));
    } else if (in_.accept("expr")) {
      numbered('e', f.exprs.size());
      f.exprs.push_back(scope.infos.expr());
    } else if (in_.accept("source")) {
      f.source = in_.string();
    } else {
      in_.fail_here("vars, signature, names, storage, check, expr, source or code is expected here");
    }
  }

  FunctionScope::TextLabel& label(FunctionScope& scope, std::string_view text, size_t place) {
    const auto found = scope.labels.find(text);
    if (found != scope.labels.end()) return found->second;
    return scope.labels.emplace(std::string(text), FunctionScope::TextLabel{scope.code.new_label(), false, place})
        .first->second;
  }

  void code_line(Function& f, FunctionScope& scope) {
    const size_t place = in_.offset();
    if (in_.accept("at")) {
      const uint32_t line = in_.count();
      in_.expect(":");
      f.spans.push_back({scope.code.here(), line, in_.count()});
      return;
    }
    const std::string_view word = in_.word("an instruction or a label");
    if (in_.accept(":")) {
      FunctionScope::TextLabel& made = label(scope, word, place);
      if (std::exchange(made.is_bound, true)) in_.fail_at(place, fmt::format("label {} stands twice", word));
      scope.code.bind(made.label);
      return;
    }
    const auto opcode = find_opcode(word);
    if (!opcode) in_.fail_at(place, fmt::format("there is no instruction {}", word));
    instruction(*opcode, f, scope);
  }

  void instruction(Opcode opcode, Function& f, FunctionScope& scope) {
    const OpcodeInfo& info = opcode_info(opcode);
    std::vector<Arg> args;
    std::vector<Register> list;
    for (size_t i = 0; i < info.operands; ++i) {
      if (i != 0) in_.expect(",");
      args.push_back(operand(info.roles[i], operand_offset(info, i), scope, list));
    }
    const size_t place = in_.offset();
    const uint32_t at = scope.code.here();
    try {
      scope.code.emit_args(opcode, args);
    } catch (const Error& error) {
      in_.fail_at(place, error.what());
    }
    if (opcode == Opcode::Loop) loop(f, at);
  }

  void loop(Function& f, uint32_t unit) {
    LoopHeader header{unit, {}};
    list("[", "]", [&] { header.registers.push_back(loop_register()); });
    f.loops.push_back(std::move(header));
  }

  LoopRegister loop_register() {
    LoopRegister made{reg(), Kind::None, DType::None};
    made.kind = enumerator<Kind>(kKindWords, "kind");
    const size_t place = in_.offset();
    const bool has_dtype = !find_word<Holding>(kHoldingWords, in_.word("how the register holds its value"));
    in_.move_to(place);
    if (has_dtype) made.dtype = InfoParser(in_).dtype();
    made.holding = enumerator<Holding>(kHoldingWords, "holding");
    return made;
  }

  // `r3`, `c12`: a letter and a number that is at most `greatest`.
  uint32_t lettered(char letter, uint32_t greatest) {
    const size_t place = in_.offset();
    const std::string_view word = in_.word(fmt::format("{} and a number", letter));
    uint64_t value = 0;
    bool good = word.size() > 1 && word.size() < 12 && word[0] == letter;
    for (const char c : word.substr(1)) {
      good = good && c >= '0' && c <= '9';
      value = value * 10 + static_cast<uint64_t>(c - '0');
    }
    if (!good || value > greatest)
      in_.fail_at(place, fmt::format("{} and a number up to {} is expected here", letter, greatest));
    return static_cast<uint32_t>(value);
  }

  Register reg() { return static_cast<Register>(lettered('r', kMaxRegisters - 1)); }

  // `offset`: where the operand begins in its instruction; `registers` holds what an argument shows.
  Arg operand(Role role, size_t offset, FunctionScope& scope, std::vector<Register>& registers) {
    const size_t place = in_.offset();
    switch (role) {
      case Role::Const:
        return lettered('c', UINT32_MAX);
      case Role::Kernel:
        return lettered('k', UINT32_MAX);
      case Role::Storage:
        return lettered('s', UINT32_MAX);
      case Role::Check:
        return lettered('t', UINT32_MAX);
      case Role::Expr:
        return lettered('e', UINT32_MAX);
      case Role::Func: {
        std::string text = in_.accept("@") ? "@" + name() : std::string(in_.word("a function"));
        fixups_.push_back({program_.functions.size(), scope.code.here() + offset, std::move(text), place});
        return 0;
      }
      case Role::Import: {
        // The list of what it writes need not be repeated where one import has the name.
        const Import wanted = import();
        const auto has_name = [&](const Import& import) { return import.name == wanted.name; };
        const bool any = wanted.writes.empty() && std::ranges::count_if(program_.imports, has_name) == 1;
        for (size_t i = 0; i < program_.imports.size(); ++i)
          if (has_name(program_.imports[i]) && (any || program_.imports[i].writes == wanted.writes)) return i;
        in_.fail_at(place, fmt::format("'{}' is not imported", wanted.name));
      }
      case Role::Builtin: {
        const std::string_view text = in_.word("a builtin");
        const auto found = find_builtin(text);
        if (!found) in_.fail_at(place, fmt::format("there is no builtin {}", text));
        return static_cast<uint16_t>(*found);
      }
      case Role::DType:
        return InfoParser(in_).dtype();
      case Role::Imm:
        return in_.integer();
      case Role::Target:
        return label(scope, in_.word("a label"), place).label;
      case Role::Uses:
      case Role::Takes:
      case Role::Operands:
      case Role::Vars:
        list("[", "]", [&] { registers.push_back(reg()); });
        return registers;
      case Role::None:
      case Role::Def:
      case Role::Use:
      case Role::Take:
      case Role::Base:
        break;
    }
    return reg();
  }

  std::string_view text_;
  TextScanner in_;
  Program program_;
  std::map<std::string, uint32_t, std::less<>> functions_;
  std::vector<Fixup> fixups_;
};

}  // namespace

Program assemble(std::string_view text) { return Parser(text).run(); }

}  // namespace ingot::vm
