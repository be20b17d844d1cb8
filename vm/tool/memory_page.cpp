#include "vm/tool/memory_page.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace ingot::tool {
namespace {

using Json = nlohmann::json;

constexpr double kLeft = 90;  // room for the scale
constexpr double kTop = 12;
constexpr double kBottom = 34;
constexpr double kWidth = 1280;  // at least
constexpr double kColumn = 5;    // the least width of an instant: longer plans scroll
constexpr double kHeight = 560;

constexpr std::string_view kHead = R"(<style>
body { font: 14px/1.4 system-ui, sans-serif; margin: 24px; color: #222; background: #fff; }
h1 { font-size: 20px; } h2 { font-size: 16px; margin: 28px 0 4px; }
p { margin: 2px 0 8px; color: #555; }
.plan { overflow-x: auto; } svg { display: block; width: 100%; height: auto; max-width: 1400px; }
svg text { font: 11px system-ui, sans-serif; fill: #000; pointer-events: none; }
svg text.axis { fill: #666; } svg .grid { stroke: #e3e3e3; } svg .bound { stroke: #c00; stroke-dasharray: 6 4; }
rect.place { stroke: #fff; stroke-width: 0.6; } rect.place:hover { stroke: #000; stroke-width: 1.5; }
.key { display: inline-block; margin-right: 16px; } .key i { display: inline-block; width: 12px; height: 12px; margin-right: 5px; }
#tip { position: fixed; display: none; background: #222; color: #fff; padding: 6px 9px; border-radius: 4px; white-space: pre; font-size: 12px; pointer-events: none; }
</style>
)";

constexpr std::string_view kScript = R"(<div id="tip"></div>
<script>
const tip = document.getElementById("tip");
for (const place of document.querySelectorAll("rect.place")) {
  place.addEventListener("mousemove", event => {
    tip.textContent = place.dataset.about;
    tip.style.display = "block";
    tip.style.left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8) + "px";
    tip.style.top = Math.min(event.clientY + 14, innerHeight - tip.offsetHeight - 8) + "px";
  });
  place.addEventListener("mouseleave", () => tip.style.display = "none");
}
</script>
)";

constexpr std::array<std::string_view, 9> kColours = {"#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#76b7b2",
                                                      "#edc948", "#b07aa1", "#ff9da7", "#9c755f"};
constexpr std::string_view kScratchColour = "#bab0ac";

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\n':
        result += "&#10;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

// Steps of 1, 2 or 5 times a power of ten, up to `count` of them.
double nice_step(double range, int count) {
  double step = 1;
  while (step * 10 * count <= range) step *= 10;
  for (const double factor : {1.0, 2.0, 5.0, 10.0})
    if (step * factor * count >= range) return step * factor;
  return step * 10;
}

// The drawing of one function's plan.
class Drawing {
 public:
  explicit Drawing(const Json& function) : function_(function), memory_(function["memory"]) {
    for (const Json& place : memory_["places"]) {
      instants_.push_back(place["first"]);
      instants_.push_back(place["last"]);
    }
    for (const Json& kernel : function["kernels"]) instants_.push_back(kernel["unit"]);
    std::sort(instants_.begin(), instants_.end());
    instants_.erase(std::unique(instants_.begin(), instants_.end()), instants_.end());
    for (const Json& place : memory_["places"]) kinds_.emplace(place["kind"].get<std::string>(), "");
    size_t next = 0;
    for (auto& [kind, colour] : kinds_)
      colour = kind == "scratch" ? kScratchColour : kColours[next++ % kColours.size()];
  }

  std::string html() const {
    std::string html =
        fmt::format("<h2>@{}</h2>\n<p>{}</p>\n<p>", escaped(function_["name"].get<std::string>()), escaped(summary()));
    for (const auto& [kind, colour] : kinds_)
      html += fmt::format(R"(<span class="key"><i style="background:{}"></i>{}</span>)", colour, escaped(kind));
    const std::string style =
        width() > kWidth ? fmt::format(R"( style="width: {0:.0f}px; max-width: none")", width()) : "";
    html += fmt::format("</p>\n<div class=\"plan\"><svg viewBox=\"0 0 {:.0f} {}\" role=\"img\"{}>\n", width(), kHeight,
                        style);
    html += scales();
    for (const Json& place : memory_["places"]) html += rectangle(place);
    const double bound = y(memory_["lower_bound_bytes"]);
    html += fmt::format(R"(<line class="bound" x1="{}" x2="{}" y1="{:.1f}" y2="{:.1f}"/>)"
                        "\n</svg></div>\n",
                        kLeft, width(), bound, bound);
    return html;
  }

 private:
  std::string summary() const {
    return fmt::format(
        "arena {}, lower bound {} (dashed), all tensors {}; {} {}; {} tensors and scratch areas over {} instants",
        size_text(memory_["arena_bytes"]), size_text(memory_["lower_bound_bytes"]), size_text(memory_["sum_bytes"]),
        memory_["peak_is_known"] ? "peak of a run" : "at least, for each activation,", size_text(memory_["peak_bytes"]),
        memory_["places"].size(), instants_.size());
  }

  double arena() const { return std::max(1.0, memory_["arena_bytes"].get<double>()); }
  double column() const {
    return std::max(kColumn, (kWidth - kLeft) / static_cast<double>(std::max<size_t>(1, instants_.size())));
  }
  double width() const { return kLeft + column() * static_cast<double>(std::max<size_t>(1, instants_.size())); }
  double y(double bytes) const { return kHeight - kBottom - bytes / arena() * (kHeight - kTop - kBottom); }
  double x(uint32_t instant) const {
    const auto at = std::lower_bound(instants_.begin(), instants_.end(), instant);
    return kLeft + column() * static_cast<double>(at - instants_.begin());
  }

  std::string scales() const {
    std::string svg;
    const double unit = arena() < 1e4 ? 1 : arena() < 1e7 ? 1e3 : 1e6;
    const std::string_view name = unit == 1 ? "B" : unit == 1e3 ? "kB" : "MB";
    const double step = nice_step(arena() / unit, 8);
    const auto lines = static_cast<int>(arena() / unit / step);
    for (int line = 0; line <= lines; ++line) {
      const double at = line * step;
      svg += fmt::format(R"(<line class="grid" x1="{0}" x2="{1}" y1="{2:.1f}" y2="{2:.1f}"/>)"
                         R"(<text class="axis" x="{3}" y="{4:.1f}" text-anchor="end">{5:g} {6}</text>)"
                         "\n",
                         kLeft, width(), y(at * unit), kLeft - 8, y(at * unit) + 4, at, name);
    }
    const auto count = static_cast<double>(instants_.size());
    const double every = nice_step(count, static_cast<int>(width() / 80));
    for (int label = 0; label * every < count; ++label) {
      const double at = label * every;
      svg += fmt::format(R"(<text class="axis" x="{:.1f}" y="{:.1f}" text-anchor="middle">{:g}</text>)"
                         "\n",
                         kLeft + column() * (at + 0.5), kHeight - kBottom + 15, at);
    }
    svg += fmt::format(
        R"(<text class="axis" x="{:.1f}" y="{:.1f}" text-anchor="middle">time: steps of the function</text>)"
        "\n",
        (kLeft + std::min(width(), kWidth)) / 2, kHeight - 4);
    svg += fmt::format(
        R"svg(<text class="axis" transform="translate(14 {:.1f}) rotate(-90)" text-anchor="middle">addresses of the arena</text>)svg"
        "\n",
        kHeight / 2);
    return svg;
  }

  std::string rectangle(const Json& place) const {
    const double left = x(place["first"]);
    const double width = x(place["last"]) + column() - left;
    const double top = y(place["offset"].get<double>() + place["bytes"].get<double>());
    const double height = y(place["offset"]) - top;
    const std::string name = place["name"];
    const std::string shape = place.contains("shape")
                                  ? place["dtype"].get<std::string>() + " " + place["shape"].get<std::string>()
                                  : std::string();
    std::string about = name + (shape.empty() ? "" : "\n" + shape);
    about +=
        fmt::format("\n{} at {}\nalive from step {:.0f} to {:.0f}", size_text(place["bytes"]),
                    place["offset"].get<uint64_t>(), (left - kLeft) / column(), (left + width - kLeft) / column() - 1);
    if (place["line"] != 0) about += fmt::format("\nline {}", place["line"].get<uint32_t>());
    std::string svg = fmt::format(
        R"(<rect class="place" x="{:.2f}" y="{:.2f}" width="{:.2f}" height="{:.2f}" fill="{}" data-about="{}"/>)", left,
        top, width, height, kinds_.at(place["kind"]), escaped(about));
    const double room = 6.2 * static_cast<double>(name.size()) + 6;
    if (height >= 13 && width >= room) {
      svg += fmt::format(R"(<text x="{:.1f}" y="{:.1f}">{}</text>)", left + 4, top + std::min(height / 2 + 4, 14.0),
                         escaped(name));
    }
    return svg + "\n";
  }

  const Json& function_;
  const Json& memory_;
  std::vector<uint32_t> instants_;                         // at which something begins, ends or runs
  std::map<std::string, std::string, std::less<>> kinds_;  // and their colours
};

}  // namespace

std::string size_text(uint64_t bytes) {
  if (bytes < 10'000) return fmt::format("{} B", bytes);
  if (bytes < 10'000'000) return fmt::format("{:.1f} kB", static_cast<double>(bytes) / 1e3);
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

std::string memory_page(const Json& description, const std::string& title) {
  std::string html = "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" + escaped(title) +
                     ": memory</title>\n" + std::string(kHead) + "</head><body>\n<h1>Memory of " +
                     escaped(title.substr(title.find_last_of('/') + 1)) + "</h1>\n";
  size_t drawn = 0;
  for (const Json& function : description["functions"]) {
    if (!function.contains("memory") || function["memory"]["places"].empty()) continue;
    html += Drawing(function).html();
    ++drawn;
  }
  if (drawn == 0) html += "<p>No function keeps tensors in its arena for the dimensions given.</p>\n";
  return html + std::string(kScript) + "</body></html>\n";
}

}  // namespace ingot::tool
