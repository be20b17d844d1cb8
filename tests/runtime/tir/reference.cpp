#include "reference.h"

#include "runtime/base/arithmetic.h"
#include "runtime/base/convert.h"
#include "runtime/base/error.h"

namespace ingot::tir {
namespace {

class Reference {
 public:
  Reference(const PrimFunc& func, std::vector<Bytes>& params) : func_(func), memory_(params) {}

  void run(const Dims& dims, const std::vector<uint64_t>& scalars) {
    for (size_t i = 0; i < func_.scalars.size(); ++i) bind(func_.scalars[i].var, scalars[i]);
    for (size_t i = 0; i < dims.size(); ++i)
      for (size_t d = 0; d < dims[i].size(); ++d)
        if (func_.buffers[i].dims[d].op() == PrimOp::Var) vars_[func_.buffers[i].dims[d].var().get()] = dims[i][d];
    for (size_t i = 0; i < func_.params; ++i)
      if (i >= func_.params - func_.outputs) std::fill(memory_[i].begin(), memory_[i].end(), std::byte{0});
    memory_.resize(func_.buffers.size());
    body(func_.body);
    memory_.resize(func_.params);
  }

 private:
  int64_t index(const PrimExpr& expr) const {
    return evaluate(expr, [&](const SymVar& var) { return std::optional(vars_.at(var.get())); });
  }

  void bind(const LetRef& var, uint64_t bits) {
    lets_[var.get()] = bits;
    if (var->index) vars_[var->index.get()] = static_cast<int64_t>(bits);
  }

  std::byte* element(BufferId id, const std::vector<PrimExpr>& indices) {
    const Buffer& buffer = func_.buffers[id];
    int64_t position = 0;
    for (size_t d = 0; d < indices.size(); ++d) {
      const int64_t i = index(indices[d]);
      const int64_t dim = index(buffer.dims[d]);
      if (i < 0 || i >= dim) fail(ErrorCode::IndexOutOfRange, "index {} of {}", i, dim);
      position = position * dim + i;
    }
    return memory_[id].data() + static_cast<size_t>(position) * dtype_bytes(buffer.dtype);
  }

  template <typename T>
  static uint64_t bits_of(T value) {
    uint64_t bits = 0;
    store_element(&bits, value);
    return bits;
  }

  uint64_t value(const ExprNode& e) {
    switch (e.op) {
      case ExprOp::Const:
        return with_element(e.dtype, [&]<typename T>() { return bits_of(load_element<T>(&e.bits)); });
      case ExprOp::Index:
        return static_cast<uint64_t>(index(e.index));
      case ExprOp::Let:
        return lets_.at(e.let.get());
      case ExprOp::Load: {
        const std::byte* from = element(e.buffer, e.indices);
        return with_element(e.dtype, [&]<typename T>() { return bits_of(load_element<T>(from)); });
      }
      case ExprOp::Select:
        return value(*e.operands[value(*e.operands[0]) != 0 ? 1 : 2]);
      default:
        break;
    }
    const uint64_t a = value(*e.operands[0]);
    const uint64_t b = e.operands.size() > 1 ? value(*e.operands[1]) : 0;
    return with_element(e.operands[0]->dtype, [&]<typename T>() {
      return e.op == ExprOp::Cast ? cast_to<T>(e.dtype, a) : apply(e.op, load_element<T>(&a), load_element<T>(&b));
    });
  }

  template <typename T>
  static uint64_t cast_to(DType dtype, uint64_t a) {
    return with_element(dtype, [&]<typename To>() { return bits_of(convert<To>(load_element<T>(&a))); });
  }

  template <typename T>
  static uint64_t apply(ExprOp op, T a, T b) {
    namespace ar = arithmetic;
    switch (op) {
      case ExprOp::Equal:
        return bits_of(ar::equal(a, b));
      case ExprOp::NotEqual:
        return bits_of(ar::not_equal(a, b));
      case ExprOp::Less:
        return bits_of(ar::less(a, b));
      case ExprOp::LessEqual:
        return bits_of(ar::less_equal(a, b));
      case ExprOp::Greater:
        return bits_of(ar::less(b, a));
      case ExprOp::GreaterEqual:
        return bits_of(ar::less_equal(b, a));
      default:
        break;
    }
    if constexpr (std::same_as<T, bool>) {
      if (op == ExprOp::And) return a && b;
      if (op == ExprOp::Or) return a || b;
      if (op == ExprOp::Not) return !a;
    } else {
      const auto divisor = [&] {
        if (ar::divisor_faults(b)) fail(ErrorCode::DivisionByZero, "division");
      };
      switch (op) {
        case ExprOp::Neg:
          return bits_of(ar::neg(a));
        case ExprOp::Abs:
          return bits_of(ar::abs(a));
        case ExprOp::Sign:
          return bits_of(ar::sign(a));
        case ExprOp::Add:
          return bits_of(ar::add(a, b));
        case ExprOp::Sub:
          return bits_of(ar::sub(a, b));
        case ExprOp::Mul:
          return bits_of(ar::mul(a, b));
        case ExprOp::Min:
          return bits_of(ar::min(a, b));
        case ExprOp::Max:
          return bits_of(ar::max(a, b));
        case ExprOp::Div:
          divisor();
          return bits_of(ar::div(a, b));
        case ExprOp::Mod:
          divisor();
          return bits_of(ar::mod(a, b));
        case ExprOp::FloorDiv:
          divisor();
          return bits_of(ar::floor_div(a, b));
        case ExprOp::FloorMod:
          divisor();
          return bits_of(ar::floor_mod(a, b));
        case ExprOp::Pow:
          if (ar::pow_faults(a, b)) fail(ErrorCode::DivisionByZero, "pow");
          return bits_of(ar::pow(a, b));
        default:
          break;
      }
    }
    if constexpr (FloatElement<T>) {
      if (op == ExprOp::Exp) return bits_of(ar::exp(a));
      if (op == ExprOp::Tanh) return bits_of(ar::tanh(a));
      if (op == ExprOp::Floor) return bits_of(ar::floor(a));
      if (op == ExprOp::Sqrt) return bits_of(ar::sqrt(a));
      if (op == ExprOp::IsNan) return bits_of(ar::is_nan(a));
    }
    if constexpr (IntElement<T>) {
      if (op == ExprOp::Not) return bits_of(static_cast<T>(~a));
      if (op == ExprOp::BitXor) return bits_of(ar::bit_xor(a, b));
      if (op == ExprOp::ShiftLeft) return bits_of(ar::shift_left(a, b));
    }
    fail(ErrorCode::Unsupported, "operator {} of the reference", static_cast<int>(op));
  }

  void body(const std::vector<Stmt>& list) {
    for (const Stmt& stmt : list) {
      if (const auto* loop = std::get_if<For>(&stmt->node)) {
        const int64_t extent = index(loop->extent);
        for (int64_t i = 0; i < extent; ++i) {
          vars_[loop->var.get()] = i;
          body(loop->body);
        }
      } else if (const auto* let = std::get_if<Let>(&stmt->node)) {
        bind(let->var, value(*let->value));
      } else if (const auto* branch = std::get_if<If>(&stmt->node)) {
        body(value(*branch->condition) != 0 ? branch->then_body : branch->else_body);
      } else if (const auto* allocate = std::get_if<Allocate>(&stmt->node)) {
        const Buffer& buffer = func_.buffers[allocate->buffer];
        size_t bytes = dtype_bytes(buffer.dtype);
        for (const PrimExpr& dim : buffer.dims) bytes *= static_cast<size_t>(index(dim));
        memory_[allocate->buffer].assign(bytes, std::byte{0});
      } else {
        const auto& store = std::get<Store>(stmt->node);
        const uint64_t bits = value(*store.value);
        std::memcpy(element(store.buffer, store.indices), &bits, dtype_bytes(func_.buffers[store.buffer].dtype));
      }
    }
  }

  const PrimFunc& func_;
  std::vector<Bytes>& memory_;
  std::map<const void*, int64_t> vars_;
  std::map<const void*, uint64_t> lets_;
};

}  // namespace

size_t buffer_bytes(const PrimFunc& func, const Dims& dims, size_t buffer) {
  size_t bytes = dtype_bytes(func.buffers[buffer].dtype);
  for (const int64_t dim : dims[buffer]) bytes *= static_cast<size_t>(dim);
  return bytes;
}

RunStatus run_reference(const PrimFunc& func, const Dims& dims, std::vector<Bytes>& buffers,
                        const std::vector<uint64_t>& scalars) {
  try {
    Reference(func, buffers).run(dims, scalars);
    return {};
  } catch (const Error& error) {
    buffers.resize(func.params);
    return {error.code(), true, nullptr};
  }
}

RunStatus run_interpreter(const PrimFunc& func, const Dims& dims, std::vector<Bytes>& buffers,
                          const std::vector<uint64_t>& scalars, PollPoint poll) {
  const Interpreter interpreter(std::make_shared<const PrimFunc>(func), dims, {});
  std::vector<std::byte*> addresses;
  for (Bytes& buffer : buffers) addresses.push_back(buffer.data());
  std::vector<const void*> payloads;
  for (const uint64_t& scalar : scalars) payloads.push_back(&scalar);
  std::vector<std::byte> scratch(interpreter.scratch_bytes() + 64, std::byte{0xa5});
  const auto address = reinterpret_cast<uintptr_t>(scratch.data());
  std::byte* aligned = scratch.data() + (64 - address % 64) % 64;
  return interpreter.run(addresses, payloads, aligned, poll);
}

}  // namespace ingot::tir
