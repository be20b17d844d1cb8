#include "runtime/registry/packed_func.h"

#include <gtest/gtest.h>

namespace ingot {
namespace {

Value first(const PackedArgs& args) { return args.copy(0); }

TEST(Registry, FindsWhatWasAdded) {
  Registry registry;
  EXPECT_FALSE(registry.find("a"));
  registry.add("b", first);
  registry.add("a", first);
  registry.add("c", first);
  EXPECT_EQ(registry.find("a")->name, "a");
  EXPECT_EQ(registry.find("c")->name, "c");
  EXPECT_FALSE(registry.find("bb"));
}

TEST(Registry, AddReplaces) {
  Registry registry;
  registry.add("a", first);
  auto earlier = registry.find("a");
  registry.add("a", [](const PackedArgs&) { return Value::prim(int64_t{5}); });
  EXPECT_NE(registry.find("a").get(), earlier.get());
  EXPECT_EQ(registry.find("a")->function(PackedArgs({}, nullptr)).slot().as<int64_t>(), 5);
}

TEST(PackedFunc, CopiesOfArgumentsMayLeaveTheThread) {
  auto text = make_string(nullptr, "x");
  text->counting = Counting::Local;
  const Slot slots[] = {Slot::of(text.get(), Slot::kBorrowed)};
  const Value kept = make_packed_func("first", first)->function(PackedArgs(slots, nullptr));
  EXPECT_EQ(text->counting, Counting::Shared);
  EXPECT_EQ(text->count, 2u);
}

}  // namespace
}  // namespace ingot
