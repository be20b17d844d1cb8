#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "vm/verifier/control_flow.h"
#include "vm/verifier/facts.h"

namespace ingot::vm {

// Live ranges of allocation sites, collected while the code is walked forward. Sites that meet in one register and are
// touched through it, and views with their bases, share one range.
class LiveRanges {
 public:
  // A new site, allocated at `unit`; gives its number: 0, 1, 2, ...
  uint32_t add(uint32_t unit);
  void merge(uint32_t a, uint32_t b);
  // A name for either of both, for the functions below: they are merged when it is touched or compared.
  uint32_t meet(uint32_t a, uint32_t b);
  bool same(uint32_t a, uint32_t b) { return find(settle(a)) == find(settle(b)); }
  void touch(uint32_t site, uint32_t unit);
  // Writes the ranges into the sites: what was allocated before a loop and is touched in it lives through all of it,
  // and what one side of a branch does not touch, or not any more, has a gap there where only the other side does.
  void finish(const ControlFlow& flow, std::span<AllocSite> sites);

 private:
  struct Range {
    uint32_t allocated;
    uint32_t first = UINT32_MAX;
    uint32_t last = 0;
  };
  // What meet() gave has this bit, and otherwise is a position in meetings_.
  static constexpr uint32_t kMeeting = uint32_t{1} << 31;
  struct Meeting {
    uint32_t a;
    uint32_t b;
  };
  uint32_t find(uint32_t site);
  uint32_t settle(uint32_t site);
  void find_gaps(const ControlFlow& flow, std::span<AllocSite> sites);

  struct Touch {
    uint32_t site;
    uint32_t unit;
  };
  std::vector<Touch> touches_;  // in order of units
  std::vector<Meeting> meetings_;
  std::vector<uint32_t> parents_;
  std::vector<Range> ranges_;  // of the representatives
};

}  // namespace ingot::vm
