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
  Range& range = ranges_[find(settle(site))];
  range.first = std::min(range.first, unit);
  range.last = std::max(range.last, unit);
}

void LiveRanges::finish(std::span<const ControlFlow::Loop> loops, std::span<AllocSite> sites) {
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
}

}  // namespace ingot::vm
