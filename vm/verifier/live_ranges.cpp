#include "vm/verifier/live_ranges.h"

#include <algorithm>
#include <utility>

namespace ingot::vm {

uint32_t LiveRanges::add(uint32_t unit) {
  const auto site = static_cast<uint32_t>(parents_.size());
  parents_.push_back(site);
  ranges_.push_back({unit});
  return site;
}

uint32_t LiveRanges::find(uint32_t site) {
  while (parents_[site] != site) {
    parents_[site] = parents_[parents_[site]];
    site = parents_[site];
  }
  return site;
}

// The lesser number represents; path halving keeps the chains short.
void LiveRanges::merge(uint32_t a, uint32_t b) {
  a = find(a);
  b = find(b);
  if (a == b) return;
  if (a > b) std::swap(a, b);
  parents_[b] = a;
  ranges_[a].allocated = std::min(ranges_[a].allocated, ranges_[b].allocated);
  ranges_[a].first = std::min(ranges_[a].first, ranges_[b].first);
  ranges_[a].last = std::max(ranges_[a].last, ranges_[b].last);
}

uint32_t LiveRanges::meet(uint32_t a, uint32_t b) {
  if (a == b) return a;
  meetings_.push_back({a, b});
  return kMeeting | static_cast<uint32_t>(meetings_.size() - 1);
}

// Merges all that met under this name, and gives one of them. Every meeting is looked through once.
uint32_t LiveRanges::settle(uint32_t site) {
  if ((site & kMeeting) == 0) return site;
  std::vector<uint32_t> left = {site};
  std::vector<uint32_t> seen;
  uint32_t first = kNoSite;
  while (!left.empty()) {
    const uint32_t next = left.back();
    left.pop_back();
    if ((next & kMeeting) == 0) {
      if (first == kNoSite) first = next;
      merge(first, next);
      continue;
    }
    const Meeting meeting = std::exchange(meetings_[next & ~kMeeting], {kNoSite, kNoSite});
    if (meeting.a == kNoSite) continue;
    seen.push_back(next & ~kMeeting);
    left.push_back(meeting.a);
    left.push_back(meeting.b);
  }
  for (const uint32_t at : seen) meetings_[at] = {first, first};
  return first;
}

void LiveRanges::touch(uint32_t site, uint32_t unit) {
  const uint32_t touched = find(settle(site));
  touches_.push_back({touched, unit});
  Range& range = ranges_[touched];
  range.first = std::min(range.first, unit);
  range.last = std::max(range.last, unit);
}

// Of each range and each arm that it reaches beyond, but not beyond the other side: a gap behind its last touch in the
// arm.
void LiveRanges::find_gaps(const ControlFlow& flow, std::span<AllocSite> sites) {
  // Touches by range, still in order.
  std::vector<uint32_t> begin(sites.size() + 1), units(touches_.size());
  for (const Touch& touch : touches_) ++begin[find(touch.site) + 1];
  for (size_t i = 1; i < begin.size(); ++i) begin[i] += begin[i - 1];
  std::vector<uint32_t> next(begin.begin(), begin.end() - 1);
  for (const Touch& touch : touches_) units[next[find(touch.site)]++] = touch.unit;

  size_t steps_left = size_t{1} << 22;
  for (uint32_t site = 0; site < sites.size(); ++site) {
    AllocSite& at = sites[site];
    if (find(site) != site) {
      at.gaps = sites[find(site)].gaps;
      continue;
    }
    if (at.first > at.last) continue;
    const std::span<const uint32_t> own(units.data() + begin[site], begin[site + 1] - begin[site]);
    for (const ControlFlow::Arm& arm : flow.arms) {
      if (arm.branch >= at.last || steps_left == 0) break;
      --steps_left;
      if (at.first > arm.end || at.last <= arm.end || at.last >= arm.resume) continue;
      const auto behind = std::ranges::upper_bound(own, arm.end);
      uint32_t last = std::max(arm.branch, at.first);
      if (behind != own.begin()) last = std::max(last, *(behind - 1));
      // Loops in the arm that touch it keep it.
      for (const ControlFlow::Loop& loop : flow.loops) {
        if (loop.header > last || steps_left == 0) break;
        --steps_left;
        if (loop.header > arm.branch && loop.header > ranges_[site].allocated && loop.end >= last &&
            loop.end <= arm.end)
          last = loop.end;
      }
      if (steps_left == 0) break;
      const Life gap{last + 1, arm.end};
      if (gap.first > gap.last) continue;
      if (!at.gaps.empty() && gap.first <= at.gaps.back().last + 1) {
        at.gaps.back().last = std::max(at.gaps.back().last, gap.last);
      } else {
        at.gaps.push_back(gap);
      }
    }
  }
}

void LiveRanges::finish(const ControlFlow& flow, std::span<AllocSite> sites) {
  const std::span<const ControlFlow::Loop> loops = flow.loops;
  // Loops are disjoint or nested: those around a unit form a chain, along which `parent` leads outwards.
  std::vector<size_t> parent(loops.size(), SIZE_MAX);
  std::vector<size_t> around;
  for (size_t i = 0; i < loops.size(); ++i) {
    while (!around.empty() && loops[around.back()].end < loops[i].header) around.pop_back();
    if (!around.empty()) parent[i] = around.back();
    around.push_back(i);
  }
  for (uint32_t site = 0; site < sites.size(); ++site) {
    const Range& range = ranges_[find(site)];
    sites[site].first = range.first;
    sites[site].last = range.last;
    if (range.first > range.last) continue;
    const auto behind = std::ranges::upper_bound(loops, range.last, {}, &ControlFlow::Loop::header);
    size_t loop = static_cast<size_t>(behind - loops.begin()) - 1;
    while (loop != SIZE_MAX && loops[loop].header > range.allocated) {
      if (loops[loop].end >= range.last) {
        sites[site].first = std::min(sites[site].first, loops[loop].header);
        sites[site].last = std::max(sites[site].last, loops[loop].end);
      }
      loop = parent[loop];
    }
  }
  if (!flow.arms.empty()) find_gaps(flow, sites);
}

}  // namespace ingot::vm
