#include "runtime/jit/hoist_constants.h"

#include <algorithm>
#include <unordered_map>

namespace ingot::jit {
namespace {

// Where loops are shorter, loading costs more than it saves.
constexpr int64_t kLeastSteps = 4;

class Hoisting {
 public:
  explicit Hoisting(Function& function) : function_(function) {}

  void walk(Block& block) {
    Block result;
    for (Item& item : block) {
      if (auto* loop = std::get_if<Loop*>(&item)) enter(**loop, result);
      if (auto* branch = std::get_if<Branch*>(&item)) {
        walk((*branch)->then_block);
        walk((*branch)->else_block);
      }
      result.push_back(std::move(item));
    }
    block = std::move(result);
  }

 private:
  static bool takes(const Loop& loop) {
    const bool is_long = loop.ranged || loop.has_extent_slot || loop.extent / loop.step >= kLeastSteps;
    return loop.lanes > 1 && loop.whole_steps && is_long && std::ranges::all_of(loop.body, [](const Item& item) {
             if (const auto* branch = std::get_if<Branch*>(&item)) return (*branch)->above != 0;
             const auto* instr = std::get_if<Instr>(&item);
             return instr != nullptr && instr->op != Op::Call;
           });
  }

  void enter(Loop& loop, Block& before) {
    if (!takes(loop)) return walk(loop.body);
    std::unordered_map<Value, Value> loaded;
    for (Item& item : loop.body) {
      if (std::holds_alternative<Branch*>(item)) continue;
      auto& instr = std::get<Instr>(item);
      // Where the second operand is a constant, it is known not to be NaN.
      if (instr.op == Op::FMinNan || instr.op == Op::FMaxNan || instr.op == Op::Move) continue;
      for (Value* operand : {&instr.a, &instr.b, &instr.c}) {
        if (*operand == 0 || !function_.values[*operand].constant) continue;
        Value& value = loaded[*operand];
        if (value == 0) value = load(*operand, static_cast<uint8_t>(loop.lanes), before);
        *operand = value;
      }
    }
  }

  Value load(Value constant, uint8_t lanes, Block& before) {
    const Width width = function_.values[constant].width;
    function_.values.push_back({.width = width, .lanes = lanes});
    const auto value = static_cast<Value>(function_.values.size() - 1);
    before.push_back(Instr{.op = Op::Move, .width = width, .lanes = lanes, .dst = value, .a = constant});
    return value;
  }

  Function& function_;
};

}  // namespace

void hoist_constants(Function& function) { Hoisting(function).walk(function.body); }

}  // namespace ingot::jit
