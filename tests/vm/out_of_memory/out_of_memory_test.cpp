// Takes the place of operator new in this program: the k-th request for memory fails, alone or with all that follow,
// while an executable is loaded, run and destroyed through the C table. What comes of it is OutOfMemory, no block stays
// behind, and the session goes on working.

#include <algorithm>
#include <cstdlib>
#include <map>

#include <gtest/gtest.h>

#include "tests/replaced_new.h"
#include "tests/vm/golden/programs.h"
#include "tests/vm/hostile/run_bytes.h"
#include "vm/executable/writer.h"
#include <ingot/ingot.h>

namespace ingot {
namespace {

struct System {
  int64_t requests_until_failure = -1;  // below 0: none fails
  bool once = true;
  int64_t live = 0;
};
System the_system;

}  // namespace

void* test::request(size_t bytes, size_t alignment) noexcept {
  if (the_system.requests_until_failure == 0) {
    if (the_system.once) the_system.requests_until_failure = -1;
    return nullptr;
  }
  if (the_system.requests_until_failure > 0) --the_system.requests_until_failure;
  ++the_system.live;
  return std::aligned_alloc(alignment, (std::max<size_t>(bytes, 1) + alignment - 1) / alignment * alignment);
}

void test::give_back(void* memory) noexcept {
  if (memory != nullptr) --the_system.live;
  std::free(memory);
}

}  // namespace ingot

namespace ingot::vm {
namespace {

const ingot_api& api() { return *ingot_get_api(INGOT_API_VERSION); }

struct Subject {
  std::string name;
  std::vector<std::byte> bytes;
  std::string function;
  std::vector<ingot_value*> args;
  std::string expected;
};

void append(void* context, const char* text, size_t length) {
  static_cast<std::string*>(context)->append(text, length);
}

enum class Came { Through, OutOfMemory };

// Destroys the error; anything but OutOfMemory is a failure of the test.
Came outcome(ingot_error* error, const Subject& subject) {
  if (error == nullptr) return Came::Through;
  the_system.requests_until_failure = -1;
  EXPECT_EQ(api().error_status(error), INGOT_OUT_OF_MEMORY)
      << subject.name << ": " << api().error_label(error) << ": " << api().error_message(error);
  api().error_destroy(error);
  return Came::OutOfMemory;
}

std::string printed(ingot_session* session) {
  ingot_value* value = nullptr;
  std::string text;
  if (ingot_error* error = api().result(session, &value)) {
    api().error_destroy(error);
    return "no result";
  }
  if (ingot_error* error = api().value_print(value, 40, append, &text)) api().error_destroy(error);
  api().value_destroy(value);
  return text;
}

Came run_twice(const Subject& subject, ingot_session* session) {
  for (size_t i = 0; i < subject.args.size(); ++i)
    if (outcome(api().set_input(session, subject.function.c_str(), i, subject.args[i]), subject) == Came::OutOfMemory)
      return Came::OutOfMemory;
  for (int turn = 0; turn < 2; ++turn)
    if (outcome(api().run(session, subject.function.c_str(), nullptr), subject) == Came::OutOfMemory) {
      EXPECT_EQ(outcome(api().run(session, subject.function.c_str(), nullptr), subject), Came::Through);
      EXPECT_EQ(printed(session), subject.expected) << subject.name;
      return Came::OutOfMemory;
    }
  return Came::Through;
}

// oneDNN does not promise to survive without memory.
ingot_load_options reference_kernels() {
  ingot_load_options options{};
  options.size = sizeof options;
  options.kernels = "reference";
  return options;
}

Came run_all(const Subject& subject) {
  const ingot_load_options options = reference_kernels();
  ingot_executable* executable = nullptr;
  ingot_session* session = nullptr;
  Came came = outcome(api().load_memory(subject.bytes.data(), subject.bytes.size(), &options, &executable), subject);
  if (came == Came::Through) came = outcome(api().session_create(executable, nullptr, &session), subject);
  if (came == Came::Through) came = run_twice(subject, session);
  api().session_destroy(session);
  api().executable_destroy(executable);
  return came;
}

std::vector<Subject> subjects() {
  static const std::map<std::string, std::string> kFunctions = {
      {"branch", "main"}, {"closure", "main"}, {"constant_weights", "main"}, {"fact", "main"},
      {"mlp", "main"},    {"padding", "main"}, {"reshape", "main"},          {"typed", "int32"}};
  std::vector<Subject> all;
  for (const test::NamedProgram& golden : test::golden_programs()) {
    const auto found = kFunctions.find(golden.name);
    if (found == kFunctions.end()) continue;
    Subject subject{golden.name, write_program(golden.program), found->second, {}, {}};
    const auto function = std::ranges::find(golden.program.functions, found->second, &Function::name);
    for (const StructInfo& info : function->signature->fields) {
      const Value value = test::some_value(info);
      ingot_value* handle = nullptr;
      if (value.kind() == Kind::Tensor) {
        const auto* tensor = value.get<TensorObject>();
        const ingot_tensor view{static_cast<ingot_dtype>(tensor->dtype), tensor->rank, tensor->dims().data(),
                                tensor->data};
        EXPECT_EQ(api().value_from_tensor(&view, &handle), nullptr);
      } else {
        uint64_t bits = value.slot().bits;
        const ingot_tensor view{static_cast<ingot_dtype>(value.slot().dtype), 0, nullptr, &bits};
        EXPECT_EQ(api().value_from_tensor(&view, &handle), nullptr);
      }
      subject.args.push_back(handle);
    }
    ingot_executable* executable = nullptr;
    ingot_session* session = nullptr;
    const ingot_load_options options = reference_kernels();
    EXPECT_EQ(api().load_memory(subject.bytes.data(), subject.bytes.size(), &options, &executable), nullptr);
    EXPECT_EQ(api().session_create(executable, nullptr, &session), nullptr);
    EXPECT_EQ(run_twice(subject, session), Came::Through);
    subject.expected = printed(session);
    api().session_destroy(session);
    api().executable_destroy(executable);
    all.push_back(std::move(subject));
  }
  return all;
}

// Every request up to the 500th, then one in sixteen.
void fail_at_every_request(bool once) {
  size_t total = 0;
  for (const Subject& subject : subjects()) {
    EXPECT_EQ(run_all(subject), Came::Through);
    for (int64_t k = 0;; k += k < 500 ? 1 : k / 16) {
      const int64_t live = the_system.live;
      the_system.once = once;
      the_system.requests_until_failure = k;
      const Came came = run_all(subject);
      const bool reached = the_system.requests_until_failure < 0 || came == Came::OutOfMemory;
      the_system.requests_until_failure = -1;
      EXPECT_EQ(the_system.live, live) << subject.name << ": blocks stay behind when request " << k << " fails";
      ++total;
      if (::testing::Test::HasFailure()) {
        std::printf("%s, request %ld\n", subject.name.c_str(), static_cast<long>(k));
        return;
      }
      if (!reached) break;
    }
    for (ingot_value* value : subject.args) api().value_destroy(value);
  }
  EXPECT_GT(total, 1000u);
  std::printf("%zu failures\n", total);
}

TEST(OutOfMemory, OneRequestFails) { fail_at_every_request(true); }
TEST(OutOfMemory, AllRequestsFailFromOneOn) { fail_at_every_request(false); }

}  // namespace
}  // namespace ingot::vm
