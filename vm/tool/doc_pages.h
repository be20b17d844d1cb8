#pragma once
#include <functional>
#include <map>
#include <string>

namespace ingot::vm {

// The parts of documentation pages that are made from the .def tables, by name. A part stands between the lines
// `<!-- generated: NAME -->` and `<!-- end -->` of a .md file; parts of other names are left alone.
using DocParts = std::map<std::string, std::function<std::string()>, std::less<>>;

// The command `PROGRAM [--check] FOLDER`: rewrites the parts of the folder's pages, or with --check only tells. Its
// exit code is 1 where a page was not current under --check.
int update_doc_pages(int argc, char** argv, const DocParts& parts);

// `|` escaped, as cells of tables need it.
std::string doc_cell(std::string text);

}  // namespace ingot::vm
