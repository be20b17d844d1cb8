#include "vm/tool/profile_export.h"

#include <gmock/gmock.h>

#include "tests/vm/hostile/run_bytes.h"
#include "vm/executable/text.h"

namespace ingot::tool {
namespace {

constexpr std::string_view kProgram = R"(
kernel k0 = lrn 1 -> 1
func @main exported params 1 registers 4 {
  signature fn(Tensor[(1, 2, 2, 2), float32]) -> Object
  storage s0 = float32 (1, 2, 2, 2)
  check t0 = (Tensor[(1, 2, 2, 2), float32],)
  code
    check_params t0, []
    plan []
    alias r2, r0
    call r2, @inner
    kill r2
    new_tensor r1, s0
    call_kernel k0, [r0, r1]
    kill r0
    return r1
}
func @inner params 1 registers 2 { signature fn(Object) -> Object code kill r0 load_none r1 return r1 }
)";

struct Profiled {
  std::shared_ptr<const vm::Executable> executable;
  std::shared_ptr<vm::Profile> profile;
};

Profiled profiled() {
  const auto executable = vm::Executable::from_program(vm::assemble(kProgram));
  vm::ProfileOptions options;
  options.max_spans = 1000;
  vm::RunOptions run;
  run.profile = std::make_shared<vm::Profile>(options);
  const auto session = vm::Session::create(executable);
  for (int i = 0; i < 2; ++i)
    vm::test::for_each_run(
        *session, run, [](const vm::Function&, const Value&) {},
        [](const vm::Function&, const Error& error) { ADD_FAILURE() << error.what(); });
  return {executable, run.profile};
}

// The trace event format: what each phase must have, and of which type.
TEST(ProfileExport, TraceKeepsToTheTraceEventFormat) {
  const Profiled run = profiled();
  const nlohmann::json trace = nlohmann::json::parse(trace_events(*run.executable, *run.profile).dump());
  ASSERT_TRUE(trace.is_object());
  ASSERT_TRUE(trace.at("traceEvents").is_array());
  EXPECT_TRUE(trace.at("displayTimeUnit") == "ms" || trace.at("displayTimeUnit") == "ns");
  EXPECT_TRUE(trace.at("otherData").is_object());
  std::map<std::string, int> names;
  for (const nlohmann::json& event : trace["traceEvents"]) {
    ASSERT_TRUE(event.at("name").is_string());
    ASSERT_TRUE(event.at("ph").is_string());
    ASSERT_TRUE(event.at("pid").is_number_integer());
    ASSERT_TRUE(event.at("tid").is_number_integer());
    if (event.contains("args")) {
      EXPECT_TRUE(event["args"].is_object());
    }
    if (event["ph"] == "M") {
      EXPECT_EQ(event["name"], "process_name");
      EXPECT_TRUE(event.at("args").at("name").is_string());
      continue;
    }
    ASSERT_EQ(event["ph"], "X");
    EXPECT_TRUE(event.at("cat") == "function" || event.at("cat") == "kernel");
    ASSERT_TRUE(event.at("ts").is_number());
    ASSERT_TRUE(event.at("dur").is_number());
    EXPECT_GE(event["ts"].get<double>(), 0);
    EXPECT_GE(event["dur"].get<double>(), 0);
    ++names[event["name"]];
  }
  EXPECT_THAT(names, ::testing::ElementsAre(std::pair("@inner", 2), std::pair("@main", 2), std::pair("lrn", 2)));
}

// A viewer nests events of one thread by their times.
TEST(ProfileExport, EventsNest) {
  const Profiled run = profiled();
  const nlohmann::json trace = trace_events(*run.executable, *run.profile);
  const auto find = [&](std::string_view name) {
    for (const nlohmann::json& event : trace["traceEvents"])
      if (event["name"] == name) return event;
    return nlohmann::json();
  };
  const auto begin = [&](std::string_view name) { return find(name)["ts"].get<double>(); };
  const auto end = [&](std::string_view name) { return begin(name) + find(name)["dur"].get<double>(); };
  for (const std::string_view inner : {"@inner", "lrn"}) {
    EXPECT_LE(begin("@main"), begin(inner));
    EXPECT_GE(end("@main"), end(inner));
  }
}

TEST(ProfileExport, StacksAreFolded) {
  const Profiled run = profiled();
  EXPECT_THAT(folded_stacks(*run.executable, *run.profile),
              ::testing::MatchesRegex("main [0-9]+\nmain;inner [0-9]+\n"));
}

}  // namespace
}  // namespace ingot::tool
