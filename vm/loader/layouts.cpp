#include "vm/loader/layouts.h"

#include <algorithm>

#include "runtime/kernels/kernel.h"
#include "vm/isa/decode.h"

namespace ingot::vm {
namespace {

// Follows which site each register shows, in order of units.
class Tracker {
 public:
  Tracker(const Program& program, const Function& function, const FunctionFacts& facts, const std::vector<bool>& known)
      : program_(program),
        function_(function),
        facts_(facts),
        known_(known),
        shows_(function.registers, kNoSite),
        free_(facts.sites.size(), true) {}

  std::vector<Layout> run() {
    find_targets();
    for (const Instruction& i : Instructions<Unchecked>(function_.code)) {
      if (std::binary_search(targets_.begin(), targets_.end(), i.at)) {
        bind_everything();
        std::fill(shows_.begin(), shows_.end(), kNoSite);
      }
      step(i);
    }
    std::vector<Layout> layouts(facts_.sites.size(), Layout::RowMajor);
    for (size_t s = 0; s < layouts.size(); ++s) {
      const AllocSite& site = facts_.sites[s];
      if (free_[s] && site.opcode == Opcode::AllocTensor && function_.storages[site.storage].dims.size() == 4)
        layouts[s] = Layout::ChannelsLast;
    }
    return layouts;
  }

 private:
  void find_targets() {
    for (const Instruction& i : Instructions<Unchecked>(function_.code))
      for (const Operand& operand : i.operands())
        if (operand.role == Role::Target) targets_.push_back(static_cast<uint32_t>(i.target(operand)));
    std::sort(targets_.begin(), targets_.end());
  }

  void bind(uint32_t site) {
    for (; site != kNoSite; site = facts_.sites[site].base) free_[site] = false;
  }
  void bind_everything() {
    for (const uint32_t site : shows_) bind(site);
  }

  void step(const Instruction& i) {
    switch (i.opcode) {
      case Opcode::Move:
      case Opcode::Alias: {
        const uint32_t site = shows_[i[1].reg()];
        if (i.opcode == Opcode::Move) shows_[i[1].reg()] = kNoSite;
        shows_[i[0].reg()] = site;
        return;
      }
      case Opcode::Kill:
      case Opcode::GetDim:
        shows_[i[0].reg()] = kNoSite;
        return;
      case Opcode::CheckValue:
        return;
      case Opcode::AllocTensor:
      case Opcode::AllocView:
        if (i.opcode == Opcode::AllocView) bind(shows_[i[1].reg()]);
        shows_[i[0].reg()] = site_at(i.at);
        if (i.opcode == Opcode::AllocView) bind(shows_[i[0].reg()]);
        return;
      case Opcode::CallKernel:
        call_kernel(i);
        return;
      default:
        anything_else(i);
    }
  }

  void call_kernel(const Instruction& i) {
    const auto site = std::lower_bound(facts_.kernels.begin(), facts_.kernels.end(), i.at,
                                       [](const KernelSite& k, uint32_t unit) { return k.unit < unit; });
    if (site == facts_.kernels.end() || site->unit != i.at) return;
    const auto index = static_cast<size_t>(site - facts_.kernels.begin());
    const KernelCall& call = program_.kernels[site->kernel];
    for (size_t k = 0; k < i[1].list.size(); ++k) {
      const uint32_t shown = shows_[i[1].list[k]];
      const Origin origin = site->operands[k];
      const bool followed = known_[index] && origin.from == Origin::From::Site && origin.index == shown;
      if (followed && takes_channels_last(call.contract, k, call)) continue;
      bind(shown);
      if (origin.from == Origin::From::Site) bind(origin.index);
    }
  }

  void anything_else(const Instruction& i) {
    for (const Operand& operand : i.operands()) {
      if (operand.role == Role::Base) {
        for (size_t r = operand.reg(); r < shows_.size(); ++r) {
          bind(shows_[r]);
          shows_[r] = kNoSite;
        }
      } else if (is_list(operand.role)) {
        for (const Register r : operand.list) bind(shows_[r]);
      } else if (operand.role == Role::Use || operand.role == Role::Take) {
        bind(shows_[operand.reg()]);
      } else if (operand.role == Role::Target) {
        bind_everything();
      }
    }
    for (const Operand& operand : i.operands())
      if (operand.role == Role::Def) shows_[operand.reg()] = kNoSite;
  }

  uint32_t site_at(uint32_t unit) const {
    const auto site = std::lower_bound(facts_.sites.begin(), facts_.sites.end(), unit,
                                       [](const AllocSite& s, uint32_t u) { return s.unit < u; });
    if (site == facts_.sites.end() || site->unit != unit) return kNoSite;
    return static_cast<uint32_t>(site - facts_.sites.begin());
  }

  const Program& program_;
  const Function& function_;
  const FunctionFacts& facts_;
  const std::vector<bool>& known_;
  std::vector<uint32_t> targets_;
  std::vector<uint32_t> shows_;
  std::vector<bool> free_;
};

}  // namespace

std::vector<Layout> assign_layouts(const Program& program, const Function& function, const FunctionFacts& facts,
                                   const std::vector<bool>& known) {
  return Tracker(program, function, facts, known).run();
}

}  // namespace ingot::vm
