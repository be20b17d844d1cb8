#include "vm/tool/memory_page.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace ingot::tool {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

nlohmann::json description() {
  return nlohmann::json::parse(R"json({"functions": [
    {"name": "main", "kernels": [{"unit": 10}, {"unit": 20}],
     "memory": {"arena_bytes": 30000, "lower_bound_bytes": 25000, "sum_bytes": 40000, "peak_bytes": 31000,
                "peak_is_known": true, "places": [
       {"name": "matmul", "kind": "matmul", "offset": 0, "bytes": 20000, "first": 10, "last": 20, "line": 3,
        "dtype": "float32", "shape": "(50, 100)"},
       {"name": "scratch of <odd> & \"quoted\"", "kind": "scratch", "offset": 20000, "bytes": 10000, "first": 20,
        "last": 20, "line": 0}]
}
},
    {"name": "small"}]})json");
}

size_t count(const std::string& text, const std::string& what) {
  size_t found = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

TEST(MemoryPage, DrawsOneRectanglePerPlace) {
  const std::string page = memory_page(description(), "a.ingot");
  EXPECT_EQ(count(page, "<rect class=\"place\""), 2u);
  EXPECT_EQ(count(page, "<svg "), 1u);
  EXPECT_THAT(page, HasSubstr("arena 30.0 kB, lower bound 25.0 kB"));
  EXPECT_THAT(
      page,
      HasSubstr("data-about=\"matmul&#10;float32 (50, 100)&#10;20.0 kB at 0&#10;alive from step 0 to 1&#10;line 3\""));
  EXPECT_THAT(page, HasSubstr("scratch of &lt;odd&gt; &amp; &quot;quoted&quot;"));
}

TEST(MemoryPage, StandsAlone) {
  const std::string page = memory_page(description(), "a.ingot");
  for (const char* outside : {"http:", "https:", "src=", "@import", "<link"})
    EXPECT_THAT(page, Not(HasSubstr(outside)));
}

TEST(MemoryPage, SaysSoWhereNothingIsPlanned) {
  EXPECT_THAT(memory_page({{"functions", nlohmann::json::array()}}, "b"), HasSubstr("No function keeps tensors"));
}

}  // namespace
}  // namespace ingot::tool
