#include <cstdlib>
#include <iostream>
#include <optional>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "compiler/evaluator/evaluator.h"
#include "compiler/ops/ops.h"
#include "runtime/base/stack.h"
#include "runtime/tensor/tensor_text.h"
#include "tests/compiler/compiled_text.h"
#include "vm/interpreter/session.h"

// Calls of every operator at random, on operands whose sizes are known as the program runs only, and whose result
// nothing reads: what fails in the evaluator fails in the VM, with the optional passes and without. INGOT_SOAK=1 makes
// two hundred times as many; INGOT_OPERATOR=name those of one operator.
namespace ingot {
namespace {

using Random = std::mt19937;

size_t pick(Random& random, size_t count) { return random() % count; }
bool chance(Random& random, size_t percent) { return pick(random, 100) < percent; }
template <size_t N>
std::string_view one_of(Random& random, const std::string_view (&items)[N]) {
  return items[pick(random, N)];
}

constexpr std::string_view kSizes[] = {"a", "b", "c", "d"};

struct Parameter {
  std::string_view dtype;
  std::vector<std::string> dims;
};

// One call and the parameters that it reads.
class Written {
 public:
  Written(Random& random, const ir::Op& op) : random_(&random) {
    for (const auto param : op.params) {
      if (param.ends_with("?") && chance(random, 60)) break;
      add(argument());
      if (param.ends_with("...") && chance(random, 50)) add(argument());
    }
    for (const auto attribute : op.attributes) attribute_of(attribute);
    call_ = fmt::format("{}({})", op.name, arguments_);
  }

  std::string program(bool is_read) const {
    std::string params;
    for (size_t i = 0; i < params_.size(); ++i) {
      std::string dims;
      for (const auto& dim : params_[i].dims) dims += dim + ", ";
      params += fmt::format("{}%x{}: Tensor[({}), {}]", i == 0 ? "" : ", ", i, dims, params_[i].dtype);
    }
    return fmt::format("def @main({}) {{\n  let %y = {};\n  {}\n}}\n", params, call_, is_read ? "%y" : "1");
  }

  // Arguments for sizes at random, most of them small.
  std::vector<std::string> inputs() {
    size_t sizes[std::size(kSizes)];
    for (size_t& size : sizes) size = pick(*random_, chance(*random_, 80) ? 4 : 8);
    std::vector<std::string> result;
    for (const Parameter& param : params_) {
      std::string text;
      size_t count = 1;
      for (const auto& dim : param.dims) {
        const auto named = std::ranges::find(kSizes, dim);
        const size_t size = named == std::end(kSizes) ? std::stoul(dim) : sizes[named - std::begin(kSizes)];
        text += fmt::format("{}x", size);
        count *= size;
      }
      text += fmt::format("{}=", param.dtype);
      for (size_t i = 0; i < count; ++i)
        text += param.dtype == "bool" ? fmt::format(" {}", pick(*random_, 2))
                                      : fmt::format(" {}", static_cast<int>(pick(*random_, 6)) - 1);
      result.push_back(std::move(text));
    }
    return result;
  }

 private:
  void add(const std::string& argument) { arguments_ += (arguments_.empty() ? "" : ", ") + argument; }

  std::string dim() {
    return chance(*random_, 75) ? std::string(one_of(*random_, kSizes)) : fmt::format("{}", pick(*random_, 4));
  }

  std::string tensor() {
    constexpr std::string_view kDTypes[] = {"float32", "float32", "float32", "float32",
                                            "int64",   "int64",   "int32",   "bool"};
    // Operands of one call agree more often than not.
    if (params_.empty() || chance(*random_, 30)) dtype_ = one_of(*random_, kDTypes);
    if (params_.empty() || chance(*random_, 30)) rank_ = pick(*random_, 5);
    Parameter made{dtype_, {}};
    const bool alike = !params_.empty() && params_.back().dims.size() == rank_ && chance(*random_, 50);
    for (size_t i = 0; i < rank_; ++i) made.dims.push_back(alike ? params_.back().dims[i] : dim());
    params_.push_back(std::move(made));
    return fmt::format("%x{}", params_.size() - 1);
  }

  std::string argument() {
    switch (pick(*random_, 24)) {
      case 0:
        return fmt::format("shape({}, {})", dim(), dim());
      case 1:
        return fmt::format("{}", pick(*random_, 4));
      case 2:
        return fmt::format("{}.5f", pick(*random_, 4));
      case 3: {
        const std::string first = tensor();
        return fmt::format("({}, {})", first, tensor());
      }
      case 4:
        return fmt::format("Constant([{}, {}], (2,), int64)", pick(*random_, 4), pick(*random_, 4));
      case 5:
        return fmt::format("prim({})", dim());
      default:
        return tensor();
    }
  }

  std::string integers(size_t count, int least) {
    std::string text;
    for (size_t i = 0; i < count; ++i) text += fmt::format("{}, ", static_cast<int>(pick(*random_, 5)) + least);
    return "(" + text + ")";
  }

  void attribute_of(std::string_view line) {
    const auto name = ir::attribute_name(line);
    const auto sign = line.find('=');
    const bool must = sign == std::string_view::npos && !line.ends_with("?");
    if (!must && chance(*random_, 55)) return;
    const auto set = [&](const std::string& value) { add(fmt::format("{}={}", name, value)); };
    const auto preset = sign == std::string_view::npos ? std::string_view() : line.substr(sign + 1);
    if (preset == "True" || preset == "False") return set(chance(*random_, 50) ? "True" : "False");
    if (preset.starts_with('"')) return;
    if (preset.starts_with('('))
      return set(
          integers(static_cast<size_t>(std::ranges::count(preset, ',')) + 1, preset.find('0') != preset.npos ? 0 : 1));
    if (name.find("dtype") != name.npos) return set("float32");
    if (!preset.empty() || chance(*random_, 50)) return set(fmt::format("{}", static_cast<int>(pick(*random_, 6)) - 1));
    set(integers(1 + pick(*random_, 4), chance(*random_, 80) ? 0 : -1));
  }

  Random* random_;
  std::string_view dtype_ = "float32";
  size_t rank_ = 0;
  std::vector<Parameter> params_;
  std::string arguments_;
  std::string call_;
};

template <typename Body>
std::string outcome_of(const Body& body) {
  try {
    body();
    return "a value";
  } catch (const Error& error) {
    return error.label();
  }
}

struct Ways {
  explicit Ways(const std::string& text) {
    const ir::Module module = parsed_text(text);
    typed = typed_program(module);
    compiled[0] = loaded_program(module);
    compiled[1] = loaded_program(module, "all");
  }

  // How each way ends; a text that tells of it where they do not agree.
  std::string difference(const std::vector<std::string>& texts, bool& failed) const {
    std::vector<Value> inputs;
    for (const auto& text : texts) inputs.push_back(to_value(parse_tensor(text)));
    const std::string expected = outcome_of([&] { evaluator::evaluate(typed, "main", inputs, {}); });
    failed = expected != "a value";
    for (const auto& executable : compiled) {
      const std::string outcome = outcome_of([&] { vm::Session::create(executable)->run("main", inputs); });
      if (outcome == expected) continue;
      return fmt::format("{}: {} instead of {}", executable == compiled[0] ? "VM" : "VM --without all", outcome,
                         expected);
    }
    return {};
  }

  ir::Module typed;
  std::shared_ptr<const vm::Executable> compiled[2];
};

void check_operator(const ir::Op& op, size_t calls) {
  Random random(static_cast<unsigned>(std::hash<std::string_view>()(op.name)));
  size_t compiled = 0, failures = 0;
  for (size_t tries = 0; tries < calls * 30 && compiled < calls; ++tries) {
    Written written(random, op);
    for (const bool is_read : {false, true}) {
      const std::string text = written.program(is_read);
      std::optional<Ways> ways;
      try {
        ways.emplace(text);
      } catch (const Error& error) {
        ASSERT_NE(error.code(), ErrorCode::Internal) << error.what() << "\n" << text;
        break;
      }
      compiled += is_read ? 1 : 0;
      for (size_t run = 0; run < 4; ++run) {
        const auto inputs = written.inputs();
        bool failed = false;
        const std::string found = ways->difference(inputs, failed);
        failures += failed ? 1 : 0;
        ASSERT_EQ(found, "") << text << fmt::format("{}", fmt::join(inputs, "\n"));
      }
    }
  }
  if (std::getenv("INGOT_SOAK") != nullptr || std::getenv("INGOT_OPERATOR") != nullptr)
    std::cerr << op.name << ": " << compiled << " calls, " << failures << " failures\n";
}

TEST(UnreadResults, FailAlike) {
  const size_t calls = std::getenv("INGOT_SOAK") != nullptr ? 200 : 1;
  const char* asked = std::getenv("INGOT_OPERATOR");
  run_with_stack(size_t{64} << 20, [&] {
    for (const ir::Op& op : ops::all())
      if (asked == nullptr || op.name == asked) check_operator(op, calls);
  });
}

}  // namespace
}  // namespace ingot
