#include "compiler/ir/diagnostics.h"

#include <algorithm>
#include <unordered_map>

namespace ingot::ir {
namespace {

std::string label(const Diagnostic& d) {
  const std::string_view severity = d.severity == Diagnostic::Severity::Error ? "error" : "warning";
  return d.rule == 0 ? fmt::format("{}[{}]", severity, error_name(d.code))
                     : fmt::format("{}[{}.{}]", severity, error_name(d.code), d.rule);
}

// Columns count code points; a position in bytes behind `columns` of them.
size_t byte_of_column(std::string_view line, uint32_t column) {
  size_t at = 0;
  for (uint32_t seen = 1; at < line.size() && seen < column; ++seen) {
    ++at;
    while (at < line.size() && (static_cast<unsigned char>(line[at]) & 0xC0) == 0x80) ++at;
  }
  return at;
}

// Lines of a source, found once for all diagnostics of a report.
class Lines {
 public:
  std::string_view line(const Source& source, uint32_t number) {
    auto [at, added] = starts_.try_emplace(&source);
    std::vector<size_t>& starts = at->second;
    if (added) {
      starts.push_back(0);
      for (size_t i = 0; i < source.text.size(); ++i)
        if (source.text[i] == '\n') starts.push_back(i + 1);
    }
    if (number == 0 || number > starts.size()) return {};
    const size_t begin = starts[number - 1];
    size_t end = number < starts.size() ? starts[number] - 1 : source.text.size();
    if (end > begin && source.text[end - 1] == '\r') --end;
    return std::string_view(source.text).substr(begin, end - begin);
  }

 private:
  std::unordered_map<const Source*, std::vector<size_t>> starts_;
};

constexpr size_t kLongestLine = 160;

void render_place(std::string& out, const Span& span, Lines& lines) {
  const std::string source = span.source ? span.source->name : std::string();
  if (span.line == 0) {
    if (span.node)
      out += source.empty() ? fmt::format("  --> {}\n", *span.node) : fmt::format("  --> {}: {}\n", source, *span.node);
    else if (!source.empty())
      out += fmt::format("  --> {}\n", source);
    return;
  }
  out += fmt::format("  --> {}:{}:{}\n", source, span.line, span.column);
  if (!span.source) return;
  std::string line(lines.line(*span.source, span.line));
  size_t caret = byte_of_column(line, span.column);
  size_t width = std::max<size_t>(1, span.length);
  if (line.size() > kLongestLine) {
    const size_t begin = caret > kLongestLine / 2 ? caret - kLongestLine / 2 : 0;
    line = line.substr(begin, kLongestLine);
    caret -= begin;
  }
  width = std::min(width, std::max<size_t>(1, line.size() > caret ? line.size() - caret : 1));
  std::string before;
  for (size_t i = 0; i < caret; ++i) {
    const auto byte = static_cast<unsigned char>(line[i]);
    if ((byte & 0xC0) != 0x80) before += byte == '\t' ? '\t' : ' ';
  }
  const std::string number = fmt::format("{}", span.line);
  const std::string margin(std::max<size_t>(number.size(), 3), ' ');
  out += fmt::format("  {} |\n", margin);
  out += fmt::format("  {:>3} | {}\n", number, line);
  out += fmt::format("  {} | {}^{}\n", margin, before, std::string(width - 1, '~'));
}

bool earlier(const Diagnostic& a, const Diagnostic& b) {
  if (a.severity != b.severity) return a.severity == Diagnostic::Severity::Error;
  return std::pair(a.span.line, a.span.column) < std::pair(b.span.line, b.span.column);
}

bool is_repeated(const Diagnostic& a, const Diagnostic& b) {
  return a.code == b.code && a.rule == b.rule && a.message == b.message && a.span.line == b.span.line &&
         a.span.column == b.span.column && a.span.node == b.span.node;
}

}  // namespace

void Diagnostics::error(ErrorCode code, const Span& span, std::string message, std::string hint, int rule) {
  diagnostics_.push_back({Diagnostic::Severity::Error, code, rule, std::move(message), span, std::move(hint)});
}

void Diagnostics::warning(ErrorCode code, const Span& span, std::string message, std::string hint) {
  diagnostics_.push_back({Diagnostic::Severity::Warning, code, 0, std::move(message), span, std::move(hint)});
}

bool Diagnostics::has_errors() const {
  return std::any_of(diagnostics_.begin(), diagnostics_.end(),
                     [](const Diagnostic& d) { return d.severity == Diagnostic::Severity::Error; });
}

void Diagnostics::throw_if_errors() const {
  std::vector<Diagnostic> errors;
  for (const Diagnostic& d : diagnostics_)
    if (d.severity == Diagnostic::Severity::Error) errors.push_back(d);
  if (errors.empty()) return;
  std::stable_sort(errors.begin(), errors.end(), earlier);
  std::vector<Diagnostic> once;
  for (Diagnostic& error : errors) {
    bool repeated = false;
    for (size_t i = once.size(); i > 0 && !repeated && !earlier(once[i - 1], error); --i)
      repeated = is_repeated(once[i - 1], error);
    if (!repeated) once.push_back(std::move(error));
  }
  errors = std::move(once);
  throw CompileError(std::move(errors));
}

CompileError::CompileError(std::vector<Diagnostic> errors)
    : Error(errors.front().code, errors.front().message, errors.front().rule), errors_(std::move(errors)) {}

std::string render(const std::vector<Diagnostic>& diagnostics) {
  std::vector<const Diagnostic*> sorted;
  for (const Diagnostic& d : diagnostics) sorted.push_back(&d);
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) { return earlier(*a, *b); });
  std::string out;
  Lines lines;
  for (const Diagnostic* d : sorted) {
    out += fmt::format("{}: {}\n", label(*d), d->message);
    render_place(out, d->span, lines);
    if (!d->hint.empty()) out += fmt::format("  hint: {}\n", d->hint);
  }
  return out;
}

}  // namespace ingot::ir
