#include <cstring>

#include "runtime/base/arithmetic.h"
#include "runtime/base/convert.h"
#include "runtime/base/error.h"
#include "runtime/tir/machine.h"

namespace ingot::tir {
namespace {

const LinearPosition& position_of(const Step& step) { return *static_cast<const LinearPosition*>(step.detail); }

// The element that lane 0 would have; it may lie outside of the buffer where lane 0 does not take part.
template <typename T>
T* element(const Frame& frame, const LinearPosition& position, uint32_t lane) {
  const int64_t index = position.at_lane_0(frame.vars) + position.stride * static_cast<int64_t>(lane);
  return reinterpret_cast<T*>(frame.buffers[position.buffer]) + index;
}

template <typename T, bool Normalise>
T loaded(T value) {
  return Normalise ? static_cast<T>(value != 0) : value;
}

template <typename T, bool Normalise>
bool load(Frame& frame, const Step& step, Lanes lanes) {
  const LinearPosition& position = position_of(step);
  const T* from = element<const T>(frame, position, lanes.begin);
  T* to = frame.lanes<T>(step.dst) + lanes.begin;
  const uint32_t count = lanes.end - lanes.begin;
  const int64_t stride = position.stride;
  if (stride == 1 && !Normalise) {
    std::memcpy(to, from, count * sizeof(T));
  } else if (stride == 0) {
    const T value = loaded<T, Normalise>(*from);
    for (uint32_t i = 0; i < count; ++i) to[i] = value;
  } else {
    for (uint32_t i = 0; i < count; ++i) to[i] = loaded<T, Normalise>(from[stride * static_cast<int64_t>(i)]);
  }
  return true;
}

template <typename T>
bool load_alias(Frame& frame, const Step& step, Lanes lanes) {
  auto* first = reinterpret_cast<std::byte*>(element<T>(frame, position_of(step), lanes.begin));
  frame.registers[step.dst] = first - lanes.begin * sizeof(T);
  return true;
}

template <typename T, bool Normalise>
bool fill(Frame& frame, const Step& step, Lanes) {
  return load<T, Normalise>(frame, step, {0, frame.fill});
}

template <typename T>
bool store(Frame& frame, const Step& step, Lanes lanes) {
  const LinearPosition& position = position_of(step);
  T* to = element<T>(frame, position, lanes.begin);
  const T* from = frame.lanes<const T>(step.a) + lanes.begin;
  const uint32_t count = lanes.end - lanes.begin;
  if (position.stride == 1) {
    std::memmove(to, from, count * sizeof(T));
  } else {
    for (uint32_t i = 0; i < count; ++i) to[position.stride * static_cast<int64_t>(i)] = from[i];
  }
  return true;
}

template <typename T, bool Normalise>
bool gather(Frame& frame, const Step& step, Lanes lanes) {
  const T* from = reinterpret_cast<const T*>(frame.buffers[position_of(step).buffer]);
  const int64_t* at = frame.lanes<const int64_t>(step.b);
  T* to = frame.lanes<T>(step.dst);
  for (uint32_t i = lanes.begin; i < lanes.end; ++i) to[i] = loaded<T, Normalise>(from[at[i]]);
  return true;
}

template <typename T>
bool scatter(Frame& frame, const Step& step, Lanes lanes) {
  T* to = reinterpret_cast<T*>(frame.buffers[position_of(step).buffer]);
  const int64_t* at = frame.lanes<const int64_t>(step.b);
  const T* from = frame.lanes<const T>(step.a);
  for (uint32_t i = lanes.begin; i < lanes.end; ++i) to[at[i]] = from[i];
  return true;
}

template <typename T>
bool copy(Frame& frame, const Step& step, Lanes lanes) {
  std::memcpy(frame.lanes<T>(step.dst) + lanes.begin, frame.lanes<const T>(step.a) + lanes.begin,
              (lanes.end - lanes.begin) * sizeof(T));
  return true;
}

template <typename T>
bool broadcast(Frame& frame, const Step& step, Lanes) {
  const T value = *frame.lanes<const T>(step.a);
  T* to = frame.lanes<T>(step.dst);
  for (uint32_t i = 0; i < frame.fill; ++i) to[i] = value;
  return true;
}

template <typename T>
bool blend(Frame& frame, const Step& step, Lanes lanes) {
  const bool* condition = frame.lanes<const bool>(step.a);
  const T* if_true = frame.lanes<const T>(step.b);
  const T* if_false = frame.lanes<const T>(step.c);
  T* __restrict to = frame.lanes<T>(step.dst);
  for (uint32_t i = lanes.begin; i < lanes.end; ++i) to[i] = condition[i] ? if_true[i] : if_false[i];
  return true;
}

// pick.operator()<an unsigned type of that many bytes>().
template <typename Pick>
StepFunction by_bytes(size_t bytes, Pick pick) {
  switch (bytes) {
    case 1:
      return pick.template operator()<uint8_t>();
    case 2:
      return pick.template operator()<uint16_t>();
    case 4:
      return pick.template operator()<uint32_t>();
    default:
      return pick.template operator()<uint64_t>();
  }
}

template <typename T, auto Op, bool Swapped>
bool fold(Frame& frame, const Step& step, Lanes lanes) {
  T* at = element<T>(frame, position_of(step), 0);
  T value = load_element<T>(at);
  const T* with = frame.lanes<const T>(step.a);
  for (uint32_t i = lanes.begin; i < lanes.end; ++i) value = Swapped ? Op(with[i], value) : Op(value, with[i]);
  store_element(at, value);
  return true;
}

template <typename T, bool Swapped>
StepFunction fold_of(ExprOp op) {
  if constexpr (std::same_as<T, bool>) {
    if (op == ExprOp::And) return fold<T, [](T a, T b) { return a && b; }, Swapped>;
    if (op == ExprOp::Or) return fold<T, [](T a, T b) { return a || b; }, Swapped>;
  } else {
    if (op == ExprOp::Add) return fold<T, arithmetic::add<T>, Swapped>;
    if (op == ExprOp::Mul) return fold<T, arithmetic::mul<T>, Swapped>;
    if (op == ExprOp::Min) return fold<T, arithmetic::min<T>, Swapped>;
    if (op == ExprOp::Max) return fold<T, arithmetic::max<T>, Swapped>;
  }
  return nullptr;
}

}  // namespace

StepFunction load_step(DType dtype, bool alias) {
  if (dtype == DType::Bool) return load<uint8_t, true>;
  return by_bytes(dtype_bytes(dtype),
                  [&]<typename T>() -> StepFunction { return alias ? load_alias<T> : load<T, false>; });
}

StepFunction fill_step(DType dtype) {
  if (dtype == DType::Bool) return fill<uint8_t, true>;
  return by_bytes(dtype_bytes(dtype), []<typename T>() -> StepFunction { return fill<T, false>; });
}

StepFunction gather_step(DType dtype) {
  if (dtype == DType::Bool) return gather<uint8_t, true>;
  return by_bytes(dtype_bytes(dtype), []<typename T>() -> StepFunction { return gather<T, false>; });
}

StepFunction store_step(size_t bytes) {
  return by_bytes(bytes, []<typename T>() -> StepFunction { return store<T>; });
}
StepFunction scatter_step(size_t bytes) {
  return by_bytes(bytes, []<typename T>() -> StepFunction { return scatter<T>; });
}
StepFunction copy_step(size_t bytes) {
  return by_bytes(bytes, []<typename T>() -> StepFunction { return copy<T>; });
}
StepFunction broadcast_step(size_t bytes) {
  return by_bytes(bytes, []<typename T>() -> StepFunction { return broadcast<T>; });
}
StepFunction blend_step(size_t bytes) {
  return by_bytes(bytes, []<typename T>() -> StepFunction { return blend<T>; });
}

StepFunction fold_step(ExprOp op, DType dtype, bool swapped) {
  return with_element(dtype, [&]<typename T>() { return swapped ? fold_of<T, true>(op) : fold_of<T, false>(op); });
}

}  // namespace ingot::tir
