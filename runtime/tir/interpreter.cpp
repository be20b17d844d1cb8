#include "runtime/tir/interpreter.h"

#include <cstring>

#include <fmt/format.h>

#include "runtime/base/checked.h"
#include "runtime/base/convert.h"
#include "runtime/base/error.h"
#include "runtime/tir/program.h"

namespace ingot::tir {
namespace {

constexpr size_t kAlignment = 64;

// Parts of the scratch memory one after the other, each aligned.
class Layout {
 public:
  size_t add(size_t bytes) {
    const auto padded = checked_align_up(bytes, kAlignment);
    const auto end = padded ? checked_add(size_, *padded) : std::nullopt;
    if (!end)
      fail(ErrorCode::ResourceExhausted, "the temporaries of a prim_func need more memory than can be addressed");
    return std::exchange(size_, *end);
  }
  size_t size() const { return size_; }

 private:
  size_t size_ = 0;
};

}  // namespace

struct Interpreter::Program {
  Nest nest;
  MachineProgram machine;
  std::vector<size_t> temporaries;  // offsets
  size_t buffer_table = 0, register_table = 0, vars = 0, storage = 0;
  size_t scratch_bytes = 0;
};

std::string fault_text(const RunStatus& status, const PrimFunc* func) {
  if (status.place && func != nullptr && status.place->buffer < func->buffers.size())
    return fmt::format("index {} lies outside of dimension {} of {}, which has {}", status.place->index,
                       status.place->dim, func->buffers[status.place->buffer].name, status.place->extent);
  return status.message != nullptr ? status.message : "it failed";
}

Interpreter::Interpreter(PrimFuncRef func, std::span<const std::vector<int64_t>> dims, std::span<const int64_t> scalars)
    : program_(std::make_unique<Program>()) {
  Program& program = *program_;
  program.nest = make_nest(*func, dims, scalars);
  compile(program.nest, program.machine);

  Layout layout;
  for (size_t id = program.nest.params; id < program.nest.buffers.size(); ++id)
    program.temporaries.push_back(layout.add(program.nest.buffers[id].bytes));
  size_t stored = 0;
  for (const bool has_storage : program.machine.has_storage) stored += has_storage;
  program.buffer_table = layout.add(program.nest.buffers.size() * sizeof(std::byte*));
  program.register_table = layout.add(program.machine.has_storage.size() * sizeof(std::byte*));
  program.vars = layout.add(program.machine.vars * sizeof(int64_t));
  program.storage = layout.add(stored * kRegisterBytes);
  program.scratch_bytes = layout.size();
}

Interpreter::~Interpreter() = default;

size_t Interpreter::scratch_bytes() const { return program_->scratch_bytes; }

uint64_t Interpreter::work() const { return program_->nest.work; }

RunStatus Interpreter::run(std::span<std::byte* const> buffers, std::span<const void* const> scalar_payloads,
                           std::byte* scratch, PollPoint poll) const noexcept {
  const Program& program = *program_;
  const MachineProgram& machine = program.machine;
  if (buffers.size() != program.nest.params || scalar_payloads.size() != machine.scalars.size())
    return {ErrorCode::Internal, true, "a prim_func is run with the wrong number of arguments"};

  auto** table = reinterpret_cast<std::byte**>(scratch + program.buffer_table);
  for (size_t id = 0; id < buffers.size(); ++id) table[id] = buffers[id];
  for (size_t i = 0; i < program.temporaries.size(); ++i) table[buffers.size() + i] = scratch + program.temporaries[i];
  auto** registers = reinterpret_cast<std::byte**>(scratch + program.register_table);
  std::byte* storage = scratch + program.storage;
  for (size_t i = 0; i < machine.has_storage.size(); ++i) {
    registers[i] = machine.has_storage[i] ? storage : nullptr;
    if (machine.has_storage[i]) storage += kRegisterBytes;
  }
  auto* vars = reinterpret_cast<int64_t*>(scratch + program.vars);
  std::memset(vars, 0, machine.vars * sizeof(int64_t));

  for (const auto& constant : machine.constants) {
    const size_t bytes = dtype_bytes(constant.dtype);
    const uint64_t bits = constant.dtype == DType::Bool ? load_element<bool>(&constant.bits) : constant.bits;
    for (uint32_t lane = 0; lane < kLanes; ++lane) std::memcpy(registers[constant.reg] + lane * bytes, &bits, bytes);
  }
  for (size_t i = 0; i < machine.scalars.size(); ++i) {
    const auto& scalar = machine.scalars[i];
    const size_t bytes = dtype_bytes(scalar.dtype);
    std::memcpy(registers[scalar.reg], scalar_payloads[i], bytes);
    if (scalar.dtype == DType::Bool) store_element(registers[scalar.reg], load_element<bool>(registers[scalar.reg]));
    if (!scalar.slot) continue;
    const auto value = load_element<int64_t>(scalar_payloads[i]);
    if (scalar.expected && *scalar.expected != value)
      return {ErrorCode::ShapeMismatch, true, "a scalar differs from the value that the prim_func was prepared for"};
    vars[*scalar.slot] = value;
  }
  for (size_t id = 0; id < program.nest.buffers.size(); ++id)
    if (program.nest.buffers[id].zero_fill) std::memset(table[id], 0, program.nest.buffers[id].bytes);

  Frame frame{.buffers = table, .vars = vars, .registers = registers, .countdown = 1, .poll = poll};
  run_block(machine.main, frame, {0, 1});
  return frame.status;
}

}  // namespace ingot::tir
