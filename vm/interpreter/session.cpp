#include "vm/interpreter/session.h"

#include <optional>

#include "runtime/checks/faults.h"
#include "runtime/object/trim_system.h"
#include "runtime/parallel/thread_team.h"
#include "runtime/tensor/tensor.h"
#include "vm/interpreter/controls.h"
#include "vm/interpreter/escape.h"
#include "vm/interpreter/fault.h"
#include "vm/interpreter/imports.h"
#include "vm/interpreter/instructions.h"
#include "vm/interpreter/machine.h"
#include "vm/interpreter/run_loop.h"

namespace ingot::vm {
namespace {

// Frames of a run that failed; more of them leave memory behind that most runs never need again.
constexpr ptrdiff_t kDeepRecursion = 10'000;

// What the host hands in, as a register holds it: an alias, rank-0 tensors as scalars.
Slot lend_argument(const Machine& m, const Value& value, size_t index) {
  Slot slot = value.slot();
  if (!is_object(slot.kind)) return slot;
  if (slot.object->counting == Counting::Local && slot.object->pool != &m.pool)
    fail(ErrorCode::InvalidArgument, "argument {} belongs to another session; share it first", index);
  if (slot.kind == Kind::Tensor) {
    const auto& tensor = *static_cast<const TensorObject*>(slot.object);
    if (tensor.rank == 0 && tensor.dtype != DType::String) {
      Slot scalar = Slot::immediate(Kind::Scalar, tensor.dtype, uint64_t{0});
      std::memcpy(scalar.payload(), tensor.data, tensor.bytes);
      return scalar;
    }
  }
  slot.flags |= Slot::kBorrowed;
  return slot;
}

// One run loop on the machine's stacks, from the end mark below its first frame to its result.
class Activate {
 public:
  Activate(Machine& m, const RunOptions& options) : m_(m) {
    if (m.depth == 0) {
      m.stack.set_limit(options.frame_limit);
      m.frame = m.stack.frames_begin();
      *m.frame = Frame{nullptr, halt_code(), m.stack.registers_begin(), nullptr};
      m.next_register = m.stack.registers_begin();
      m.account.set_limit(options.memory_limit == 0 ? SIZE_MAX : options.memory_limit);
      start_controls(m, options);
      if (m.controls.profile != nullptr) m.controls.profile->begin_run();
    } else if (m.depth >= kMaxRunDepth) {
      fail(ErrorCode::ResourceExhausted, "PackedFuncs call back into the session {} deep, {} is the limit", m.depth,
           kMaxRunDepth);
    }
    ++m.depth;
  }
  ~Activate() {
    if (--m_.depth == 0 && m_.controls.profile != nullptr) m_.controls.profile->end_run();
  }
  Activate(const Activate&) = delete;
  Activate& operator=(const Activate&) = delete;

 private:
  Machine& m_;
};

Value run_function(Machine& m, const LinkedFunction& function, std::span<const Value> args,
                   const ClosureObject* closure, const RunOptions& options) {
  if (args.size() != function.params) fail_arity(exported_name(*function.source), function.params, args.size());
  const Activate active(m, options);
  std::optional<ThreadLimit> threads;
  if (m.depth == 1 && !m.executable->program().kernels.empty()) threads.emplace(m.executable->options().threads);

  Slot* const registers = m.next_register;
  for (size_t i = 0; i < args.size(); ++i) registers[i] = lend_argument(m, args[i], i);
  // Above this frame and its end mark there must be room for one more; the callee's registers are asked for as in a
  // call.
  if (m.frame + 2 >= m.stack.frames_end() || registers + function.registers > m.stack.registers_end())
    fail(ErrorCode::ResourceExhausted, "no room for a frame of @{}: frame_limit is {} bytes", function.source->name,
         m.stack.limit());
  if (closure != nullptr) {
    Slot* to = registers + args.size();
    for (const Slot& capture : closure->captures()) {
      retain(capture);
      *to++ = capture;
    }
  }
  Frame* const mark = m.frame + 1;
  *mark = Frame{nullptr, halt_code(), registers, nullptr};
  mark[1] = Frame{&function, function.code.data(), registers, nullptr};
  m.frame = mark + 1;
  try {
    run_loop(m);
  } catch (...) {
    const bool deep = m.frame - mark > kDeepRecursion;
    const Fault fault = unwind(m, mark, std::current_exception());
    if (deep) m.stack.trim(m.frame + 1, registers);
    throw fault;
  }
  m.frame = mark - 1;
  const Value result = Value::adopt(registers[0]);
  return escape(m, result.slot());
}

}  // namespace

namespace {

std::array<Machine::Release, 4> make_releases(const LinkedProgram& program) {
  uint32_t most = 0;
  for (const LinkedFunction& function : program.functions) most = std::max(most, function.registers);
  const Machine::Release release{nullptr, false, RegisterSet(most)};
  return {release, release, release, release};
}

}  // namespace

Machine::Machine(std::shared_ptr<const Executable> executable_, SessionOptions options_)
    : executable(std::move(executable_)),
      program(&executable->linked()),
      stack(RunOptions{}.frame_limit),
      frame(stack.frames_begin()),
      next_register(stack.registers_begin()),
      register_stop(stack.registers_end()),
      releases(make_releases(*program)),
      plans(program->functions.size()),
      dynamic_kernels(program->functions.size()),
      options(std::move(options_)) {}

Machine::~Machine() = default;

std::shared_ptr<Session> Session::create(std::shared_ptr<const Executable> executable, SessionOptions options) {
  auto session = std::make_shared<Session>(std::make_unique<Machine>(std::move(executable), std::move(options)));
  session->machine_->session = session.get();
  resolve_imports(*session->machine_);
  return session;
}

Session::Session(std::unique_ptr<Machine> machine) : machine_(std::move(machine)) {}
Session::~Session() = default;

Value Session::run(std::string_view function, std::span<const Value> args, const RunOptions& options) {
  const auto index = machine_->executable->find(function);
  if (!index) fail_function(function, exported_names(machine_->executable->program()));
  return run(*index, args, options);
}

Value Session::run(uint32_t function, std::span<const Value> args, const RunOptions& options) {
  if (function >= machine_->program->functions.size() || !machine_->program->functions[function].source->exported)
    fail(ErrorCode::InvalidArgument, "function {} is not exported", function);
  return run_function(*machine_, machine_->program->functions[function], args, nullptr, options);
}

Value Session::call(const Value& callee, std::span<const Value> args, const RunOptions& options) {
  Machine& m = *machine_;
  if (callee.kind() == Kind::PackedFunc) {
    const auto& function = *callee.get<PackedFuncObject>();
    std::vector<Slot> slots;
    for (const Value& arg : args) slots.push_back(arg.slot());
    for (Slot& slot : slots) slot.flags |= Slot::kBorrowed;
    const Value result = function.function(PackedArgs(slots, &m.pool, escape_for_packed, &m));
    return escape(m, result.slot());
  }
  if (callee.kind() != Kind::Closure) fail_call_of(callee.slot());
  const auto* closure = callee.get<ClosureObject>();
  if (closure->home != nullptr && static_cast<Session*>(closure->home.get())->executable() != m.executable)
    fail(ErrorCode::InvalidArgument, "the closure belongs to another executable");
  return run_function(m, m.program->functions[closure->function], args, closure, options);
}

void Session::recycle(Value result) noexcept { vm::recycle(*machine_, std::move(result)); }

void Session::register_function(std::string name, PackedFunction function) {
  machine_->options.registry.add(std::move(name), std::move(function));
  resolve_imports(*machine_);
}

const std::shared_ptr<const Executable>& Session::executable() const { return machine_->executable; }
MemoryStatistics Session::memory() const { return machine_->account.statistics(); }

void Session::trim() {
  Machine& m = *machine_;
  m.pool.trim();
  m.arena.trim();
  m.stack.trim(m.frame + 1, m.next_register);
  trim_system();
}

}  // namespace ingot::vm
