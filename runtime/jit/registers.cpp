#include "runtime/jit/registers.h"

#include <algorithm>

namespace ingot::jit {
namespace {

struct Interval {
  Value value;
  uint32_t begin = 0, end = 0;
  double weight = 0;
};

class Liveness {
 public:
  explicit Liveness(const Function& function) : function_(function), of_(function.values.size()) {
    for (Value value = 0; value < of_.size(); ++value) of_[value].value = value;
  }

  void walk(const Block& block) {
    for (const Item& item : block) {
      if (const auto* instr = std::get_if<Instr>(&item)) {
        visit(*instr);
      } else if (const auto* loop = std::get_if<Loop*>(&item)) {
        enter(**loop);
      } else {
        const Branch& branch = *std::get<Branch*>(item);
        ++now_;
        constexpr double kRare = 1.0 / 64;
        const double share = branch.above != 0 ? kRare : 1;
        use(branch.condition);
        use(branch.above);
        weight_ *= share;
        walk(branch.then_block);
        walk(branch.else_block);
        weight_ /= share;
      }
    }
  }

  std::vector<Interval> intervals() const {
    std::vector<Interval> result;
    for (const Interval& each : of_)
      if (each.begin != 0) result.push_back(each);
    std::ranges::sort(result, {}, &Interval::begin);
    return result;
  }
  bool spans_call(const Interval& interval) const {
    const auto call = std::ranges::upper_bound(calls_, interval.begin);
    return call != calls_.end() && *call < interval.end;
  }

 private:
  void visit(const Instr& instr) {
    ++now_;
    for (const Value operand : {instr.a, instr.b, instr.c, instr.mask}) use(operand);
    if (instr.op == Op::Call) calls_.push_back(now_);
    if (instr.dst == 0) return;
    if (of_[instr.dst].begin == 0) {
      of_[instr.dst].begin = of_[instr.dst].end = now_;
      of_[instr.dst].weight += weight_;
    } else {
      use(instr.dst);
    }
  }

  void use(Value value) {
    if (value == 0 || function_.values[value].constant) return;
    of_[value].end = now_;
    of_[value].weight += weight_;
    if (!used_.empty()) used_.back().push_back(value);
  }

  void enter(const Loop& loop) {
    const uint32_t begin = ++now_;
    used_.emplace_back();
    weight_ *= 8;
    walk(loop.body);
    weight_ /= 8;
    ++now_;
    const auto used = std::move(used_.back());
    used_.pop_back();
    for (const Value value : used) {
      if (of_[value].begin > begin) continue;
      of_[value].end = now_;
      if (!used_.empty()) used_.back().push_back(value);
    }
  }

  const Function& function_;
  std::vector<Interval> of_;
  std::vector<std::vector<Value>> used_;  // in the loops around
  std::vector<uint32_t> calls_;
  uint32_t now_ = 0;
  double weight_ = 1;
};

}  // namespace

Places assign_places(const Function& function, int registers) {
  Liveness liveness(function);
  liveness.walk(function.body);
  Places places;
  places.registers.assign(function.values.size(), Places::kNone);
  places.frame.assign(function.values.size(), Places::kNone);
  const auto to_frame = [&](Value value) {
    places.registers[value] = Places::kNone;
    places.frame[value] = places.frame_places++;
  };

  std::vector<Interval> active;
  std::vector<int16_t> free;
  for (int reg = registers; reg-- > 0;) free.push_back(static_cast<int16_t>(reg));
  for (const Interval& interval : liveness.intervals()) {
    std::erase_if(active, [&](const Interval& other) {
      if (other.end > interval.begin) return false;
      free.push_back(places.registers[other.value]);
      return true;
    });
    if (liveness.spans_call(interval)) {
      to_frame(interval.value);
      continue;
    }
    if (free.empty()) {
      const auto density = [](const Interval& each) { return each.weight / (each.end - each.begin + 1); };
      const auto least = std::ranges::min_element(active, {}, density);
      if (density(*least) >= density(interval)) {
        to_frame(interval.value);
        continue;
      }
      free.push_back(places.registers[least->value]);
      to_frame(least->value);
      active.erase(least);
    }
    places.registers[interval.value] = free.back();
    free.pop_back();
    active.push_back(interval);
  }
  return places;
}

}  // namespace ingot::jit
