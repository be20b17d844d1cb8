// One executable, 64 threads with sessions of their own, different shapes, and executables that are loaded and unloaded
// meanwhile: every result has the bits that a single thread gets. Preset tsan watches.
#include <atomic>
#include <random>
#include <thread>

#include <gtest/gtest.h>

#include "tests/vm/golden/programs.h"
#include "tests/vm/hostile/run_bytes.h"
#include "vm/executable/writer.h"

namespace ingot::vm {
namespace {

constexpr size_t kThreads = 64;
constexpr size_t kRounds = 24;
constexpr int64_t kShapes = 6;

using Bits = std::vector<std::byte>;

Value some_tensor(DType dtype, const std::vector<int64_t>& dims) {
  auto tensor = make_tensor(nullptr, dtype, dims);
  const auto count = static_cast<size_t>(element_count(dims));
  for (size_t i = 0; i < count; ++i) tensor->elements<float>()[i] = static_cast<float>(i % 13) * 0.37f - 2;
  return to_value(std::move(tensor));
}

// Arguments by the signature; dimensions that it leaves open become `n`.
std::vector<Value> arguments(const Function& function, int64_t n) {
  std::vector<Value> args;
  for (const StructInfo& info : function.signature->fields) {
    if (info->kind != InfoKind::Tensor || info->dtype != DType::Float32 || !info->dims || info->dims->empty()) {
      args.push_back(test::some_value(info));
      continue;
    }
    std::vector<int64_t> dims;
    for (const PrimExpr& dim : *info->dims) dims.push_back(dim.as_const().value_or(n));
    args.push_back(some_tensor(DType::Float32, dims));
  }
  return args;
}

Bits bits_of(const Value& value) {
  if (value.kind() != Kind::Tensor) {
    const auto* payload = static_cast<const std::byte*>(value.slot().payload());
    return {payload, payload + sizeof(uint64_t)};
  }
  const auto* tensor = value.get<TensorObject>();
  return {tensor->data, tensor->data + tensor->bytes};
}

Bits run_main(Session& session, int64_t n) {
  const Function& main = session.executable()->program().functions[*session.executable()->find("main")];
  return bits_of(session.run("main", arguments(main, n)));
}

struct Subject {
  std::string name;
  std::vector<std::byte> file;
  std::shared_ptr<const Executable> executable;
  std::vector<Bits> expected;  // by n - 1
};

std::vector<Subject> subjects() {
  std::vector<Subject> all;
  for (const test::NamedProgram& golden : test::golden_programs()) {
    const bool wanted = golden.name == "mlp" || golden.name == "closure" || golden.name == "fact" ||
                        golden.name == "constant_weights" || golden.name == "branch";
    if (!wanted) continue;
    Subject subject{golden.name, write_program(golden.program), nullptr, {}};
    const auto session = Session::create(Executable::load(subject.file));
    for (int64_t n = 1; n <= kShapes; ++n) subject.expected.push_back(run_main(*session, n));
    // Fresh, so that plans and kernels are made while the threads run.
    subject.executable = Executable::load(subject.file);
    all.push_back(std::move(subject));
  }
  return all;
}

TEST(Sharing, ThreadsGetTheBitsThatOneGets) {
  const std::vector<Subject> all = subjects();
  ASSERT_EQ(all.size(), 5u);
  std::atomic<size_t> different = 0;
  std::atomic<size_t> runs = 0;
  const auto work = [&](size_t thread) {
    std::mt19937 random(static_cast<unsigned>(thread));
    std::vector<std::shared_ptr<Session>> sessions(all.size());
    for (size_t round = 0; round < kRounds; ++round) {
      const size_t which = random() % all.size();
      const int64_t n = 1 + static_cast<int64_t>(random() % kShapes);
      const Subject& subject = all[which];
      std::shared_ptr<Session>& session = sessions[which];
      if (round % 6 == 5)
        session = Session::create(Executable::load(subject.file));
      else if (session == nullptr || round % 4 == 3)
        session = Session::create(subject.executable);
      different += run_main(*session, n) == subject.expected[static_cast<size_t>(n - 1)] ? 0 : 1;
      ++runs;
    }
  };
  std::vector<std::thread> threads;
  for (size_t thread = 0; thread < kThreads; ++thread) threads.emplace_back(work, thread);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(runs, kThreads * kRounds);
  EXPECT_EQ(different, 0u);
}

}  // namespace
}  // namespace ingot::vm
