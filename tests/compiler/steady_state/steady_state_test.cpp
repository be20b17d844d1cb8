// In steady state runs ask the system for no memory: not the VM, nor kernels of libraries, nor generated code, nor
// threads.
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <string_view>

#include <execinfo.h>
#include <link.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "runtime/memory/poison.h"
#include "runtime/tensor/tensor.h"
#include "tests/compiler/compiled_text.h"
#include "vm/interpreter/session.h"

#if defined(INGOT_POISONS_MEMORY) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

namespace {

std::atomic<size_t> requests = 0;
std::atomic<size_t> requests_of_libraries = 0;
std::atomic<bool> watching = false;

struct Range {
  uintptr_t begin;
  uintptr_t end;
};
std::array<Range, 64> library_code{};
size_t library_ranges = 0;

// Where the code of oneDNN and of OpenMP lies.
int find_libraries(dl_phdr_info* object, size_t, void*) {
  const std::string_view name = object->dlpi_name;
  if (name.find("libdnnl") == std::string_view::npos && name.find("libgomp") == std::string_view::npos) return 0;
  for (size_t i = 0; i < object->dlpi_phnum; ++i) {
    const auto& part = object->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0 || library_ranges == library_code.size()) continue;
    const uintptr_t begin = object->dlpi_addr + part.p_vaddr;
    library_code[library_ranges++] = {begin, begin + part.p_memsz};
  }
  return 0;
}

}  // namespace

#if !defined(INGOT_POISONS_MEMORY) && !defined(__SANITIZE_THREAD__)
// All ways to the heap of this process, libraries included.
extern "C" {
void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* memory, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);
}

namespace {

bool is_in_library(const void* code) {
  const auto at = reinterpret_cast<uintptr_t>(code);
  for (size_t i = 0; i < library_ranges; ++i)
    if (at >= library_code[i].begin && at < library_code[i].end) return true;
  return false;
}

// A request belongs to the libraries where one of them is among the callers, with the C++ library in between.
[[gnu::noinline]] void count_request() {
  std::array<void*, 24> callers{};
  const int count = watching ? backtrace(callers.data(), callers.size()) : 0;
  for (int i = 0; i < count; ++i)
    if (is_in_library(callers[static_cast<size_t>(i)])) {
      ++requests_of_libraries;
      return;
    }
  ++requests;
}

// Not inlined, so that no compiler sees new and free side by side.
[[gnu::noinline]] void* counted_new(size_t bytes) {
  count_request();
  if (void* memory = __libc_malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void give_back(void* memory) { std::free(memory); }

}  // namespace

// NOLINTBEGIN: what the C library and the language prescribe
extern "C" {
void* malloc(size_t bytes) {
  count_request();
  return __libc_malloc(bytes);
}
void* calloc(size_t count, size_t bytes) {
  count_request();
  return __libc_calloc(count, bytes);
}
void* realloc(void* memory, size_t bytes) {
  count_request();
  return __libc_realloc(memory, bytes);
}
void* memalign(size_t alignment, size_t bytes) {
  count_request();
  return __libc_memalign(alignment, bytes);
}
void* aligned_alloc(size_t alignment, size_t bytes) {
  count_request();
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void** memory, size_t alignment, size_t bytes) {
  count_request();
  *memory = __libc_memalign(alignment, bytes);
  return *memory == nullptr ? ENOMEM : 0;
}
}
void* operator new(size_t bytes) { return counted_new(bytes); }
void* operator new[](size_t bytes) { return counted_new(bytes); }
void operator delete(void* memory) noexcept { give_back(memory); }
void operator delete[](void* memory) noexcept { give_back(memory); }
void operator delete(void* memory, size_t) noexcept { give_back(memory); }
void operator delete[](void* memory, size_t) noexcept { give_back(memory); }
// NOLINTEND
#endif

namespace ingot {
namespace {

Value tensor_of(std::vector<int64_t> dims) {
  auto tensor = make_tensor(nullptr, DType::Float32, dims);
  const size_t count = tensor->bytes / sizeof(float);
  for (size_t i = 0; i < count; ++i) tensor->elements<float>()[i] = static_cast<float>(i % 7) * 0.125f;
  return Value(std::move(tensor));
}

using Arguments = std::vector<std::vector<Value>>;

// Requests of `rounds` rounds, each a run for every list of arguments, after some rounds to warm up.
size_t requests_of(const std::shared_ptr<const vm::Executable>& executable, const Arguments& arguments) {
  const auto session = vm::Session::create(executable);
  const uint32_t main = *executable->find("main");
  const auto round = [&] {
    for (const std::vector<Value>& args : arguments) session->recycle(session->run(main, args));
  };
  if (library_ranges == 0) dl_iterate_phdr(find_libraries, nullptr);
  for (int i = 0; i < 3; ++i) round();
  // The first call of backtrace loads a library.
  std::array<void*, 1> here{};
  backtrace(here.data(), here.size());
  const size_t before = requests;
  watching = true;
  for (int i = 0; i < 3; ++i) round();
  watching = false;
  return requests - before;
}

struct Case {
  const char* name;
  const char* text;
  Arguments arguments;
};

std::vector<Case> cases() {
  const Value yes = Value::scalar(DType::Bool, true);
  const Value no = Value::scalar(DType::Bool, false);
  return {
      {"static kernels of libraries and generated code",
       R"(def @main(%x: Tensor[(48, 64), float32], %w: Tensor[(64, 64), float32]) {
         let %a = gelu(matmul(%x, %w) + %x);
         let %b = layer_norm(softmax(%a) * %x);
         (sum(%b, axis=0), transpose(matmul(%b, %w)))
       })",
       {{tensor_of({48, 64}), tensor_of({64, 64})}}},
      {"convolutions",
       R"(def @main(%x: Tensor[(1, 8, 20, 20), float32], %w: Tensor[(16, 8, 3, 3), float32]) {
         let %a = relu(conv2d(%x, %w, padding=(1, 1)));
         global_avg_pool2d(max_pool2d(%a, pool_size=(2, 2), strides=(2, 2)))
       })",
       {{tensor_of({1, 8, 20, 20}), tensor_of({16, 8, 3, 3})}}},
      {"symbolic shapes that are known",
       R"(def @main(%x: Tensor[(n, 64), float32], %w: Tensor[(64, 64), float32]) {
         softmax(tanh(matmul(%x, %w)) + %x)
       })",
       {{tensor_of({3, 64}), tensor_of({64, 64})},
        {tensor_of({31, 64}), tensor_of({64, 64})},
        {tensor_of({200, 64}), tensor_of({64, 64})}}},
      {"sizes that are found on the way",
       R"(def @main(%x: Tensor) {
         let %y = match_cast(%x, Tensor[(n, m), float32]);
         relu(reshape(exp(%y), shape(n * m)))
       })",
       {{tensor_of({3, 5})}, {tensor_of({30, 20})}}},
      {"branches",
       R"(def @main(%x: Tensor[(100,), float32], %c: bool) {
         let %y = exp(%x);
         let %z = if (%c) { tanh(%y) } else { sin(%y) * %x };
         %z + %x
       })",
       {{tensor_of({100}), yes}, {tensor_of({100}), no}}},
      {"recursion with tensors",
       R"(private def @down(%x: Tensor[(n,), float32], %k: int64) -> Tensor[(n,), float32] attrs {noinline=True} {
         if (%k == 0i64) { %x } else { let %y = @down(exp(%x * 0.5f), %k - 1i64); tanh(%y) + %x }
       }
       def @main(%x: Tensor[(n,), float32]) { @down(%x, 20i64) })",
       {{tensor_of({100})}, {tensor_of({64})}}},
      {"closures and tuples",
       R"(private def @apply(%f: fn(Tensor[(n,), float32]) -> Tensor[(n,), float32], %x: Tensor[(n,), float32])
             -> Tensor[(n,), float32] attrs {noinline=True} { %f(%x) }
       def @main(%x: Tensor[(n,), float32], %y: Tensor[(n,), float32]) {
         let %f = fn(%a: Tensor[(n,), float32]) -> Tensor[(n,), float32] { exp(%a) + %y };
         let %p = (@apply(%f, %x), %f(%y));
         (%p.1, tanh(%p.0))
       })",
       {{tensor_of({50}), tensor_of({50})}}},
      {"a loop over places",
       R"(private def @sums(%i: Prim[int64, i], %x: Tensor[(n, 8), float32], %h: Tensor[(1, 8), float32])
             -> Tensor[(1, 8), float32] {
         if (prim(i >= n)) { %h } else {
           @sums(prim(i + 1), %x, tanh(%h * 0.5f + take(%x, %i, axis=0)))
         }
       }
       def @main(%x: Tensor[(n, 8), float32]) { @sums(prim(0), %x, zeros(shape(1, 8))) })",
       {{tensor_of({40, 8})}, {tensor_of({30, 8})}}},
      {"results within results",
       R"(def @main(%x: Tensor[(n, m), float32]) {
         let %y = exp(%x);
         (shape(n, m), (tanh(%y), (shape(m), sum(%y, axis=0), ())), fn(%a: Tensor[(n, m), float32]) { %a + %y }, %x, prim(n))
       })",
       {{tensor_of({5, 7})}, {tensor_of({9, 3})}}},
  };
}

TEST(SteadyState, RunsAskTheSystemForNothing) {
  if (kSanitized) GTEST_SKIP() << "sanitizers have an allocator of their own";
  for (const int threads : {1, 2})
    for (const Case& c : cases()) {
      vm::LoadOptions options;
      options.threads = threads;
      transform::PassContext context;
      const auto executable = vm::Executable::from_program(
          codegen::generate(transform::lower(parsed_text(c.text), context, true)), options);
      EXPECT_EQ(requests_of(executable, c.arguments), 0u) << c.name << ", threads: " << threads;
    }
}

TEST(SteadyState, NetworksAskTheSystemForNothing) {
  if (kSanitized) GTEST_SKIP() << "sanitizers have an allocator of their own";
  const char* const bin = std::getenv("INGOT_BIN");
  ASSERT_NE(bin, nullptr);
  const std::filesystem::path target = std::filesystem::path(::testing::TempDir()) / "steady_state.ingot";
  for (const char* name : {"squeezenet_small", "shufflenet_small"}) {
    const std::string command = fmt::format("{}/ingot compile tests/models/{}.onnx -o {}", bin, name, target.string());
    ASSERT_EQ(std::system(command.c_str()), 0);
    for (const int threads : {1, 2}) {
      vm::LoadOptions options;
      options.threads = threads;
      const auto executable = vm::Executable::load(target, options);
      const auto& params = executable->program().functions[*executable->find("main")].signature->fields;
      std::vector<Value> args;
      for (const StructInfo& param : params) {
        std::vector<int64_t> dims;
        for (const PrimExpr& dim : *param->dims) dims.push_back(*dim.as_const());
        args.push_back(tensor_of(dims));
      }
      EXPECT_EQ(requests_of(executable, {args}), 0u) << name << ", threads: " << threads;
    }
  }
  std::filesystem::remove(target);
}

// The counter itself.
TEST(SteadyState, NewShapesAreCounted) {
  if (kSanitized) GTEST_SKIP() << "sanitizers have an allocator of their own";
  const auto executable = loaded_program(parsed_text("def @main(%x: Tensor[(n,), float32]) { exp(sin(%x)) }"));
  const auto session = vm::Session::create(executable);
  const std::vector<Value> args = {tensor_of({9})};
  const size_t before = requests;
  session->recycle(session->run("main", args));
  EXPECT_GT(requests - before, 0u);
}

}  // namespace
}  // namespace ingot
