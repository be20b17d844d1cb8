#include "vm/tool/doc_pages.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/base/file.h"

namespace ingot::vm {
namespace {

std::string current_text(const std::string& text, const std::string& page, const DocParts& parts) {
  constexpr std::string_view kBegin = "<!-- generated: ";
  constexpr std::string_view kEnd = "<!-- end -->";
  std::string made;
  size_t at = 0;
  for (size_t begin = text.find(kBegin); begin != std::string::npos; begin = text.find(kBegin, at)) {
    const size_t line_end = text.find('\n', begin);
    const size_t name_end = text.find(" -->", begin);
    const size_t end = text.find(kEnd, begin);
    if (name_end > line_end || end == std::string::npos)
      fail(ErrorCode::InvalidArgument, "{}: a generated part does not end with {}", page, kEnd);
    const size_t name = begin + kBegin.size();
    const auto part = parts.find(std::string_view(text).substr(name, name_end - name));
    made += part == parts.end() ? text.substr(at, end - at) : text.substr(at, line_end + 1 - at) + part->second();
    at = end;
  }
  return made + text.substr(at);
}

std::string read_text(const std::filesystem::path& path) {
  const FileBytes file = read_file(path);
  return {reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size()};
}

// The number of pages that are not current.
int update(const std::filesystem::path& folder, bool check_only, const DocParts& parts) {
  std::vector<std::filesystem::path> pages;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".md") pages.push_back(entry.path());
  std::ranges::sort(pages);
  int stale = 0;
  for (const std::filesystem::path& page : pages) {
    const std::string text = read_text(page);
    const std::string made = current_text(text, page.string(), parts);
    if (made == text) continue;
    ++stale;
    std::fprintf(stderr, check_only ? "%s is not current: run ./dev docs\n" : "%s is rewritten\n", page.c_str());
    if (!check_only) save_file(page, [&](const ByteSink& sink) { sink(std::as_bytes(std::span<const char>(made))); });
  }
  return stale;
}

}  // namespace

int update_doc_pages(int argc, char** argv, const DocParts& parts) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  const bool check_only = !args.empty() && args[0] == "--check";
  if (args.size() != (check_only ? 2u : 1u)) {
    std::fprintf(stderr, "usage: %s [--check] FOLDER\n", argv[0]);
    return 2;
  }
  try {
    const int stale = update(args.back(), check_only, parts);
    return check_only && stale > 0 ? 1 : 0;
  } catch (const Error& error) {
    std::fprintf(stderr, "error[%s]: %s\n", error.label().c_str(), error.what());
    return error_exit_code(error.code());
  }
}

std::string doc_cell(std::string text) {
  for (size_t bar = text.find('|'); bar != std::string::npos; bar = text.find('|', bar + 2)) text.insert(bar, "\\");
  return text;
}

}  // namespace ingot::vm
