#include <algorithm>
#include <cmath>
#include <limits>

#include "vm/builtins/builtins.h"

// Parts and repetitions of tensors whose places are only known at run time.
namespace ingot::vm::builtins {
namespace {

// Linear index in `from` of the element for `index`, by a place per dimension.
template <typename Place>
Value select_places(const Args& args, const TensorObject& from, const Dims& dims, const Place& place) {
  auto result = args.make(from.dtype, dims);
  const Dims strides = strides_of(from.dims());
  for_each_index(dims, [&](const Dims& index, size_t at) {
    int64_t linear = 0;
    for (size_t d = 0; d < index.size(); ++d) linear += place(d, index[d]) * strides[d];
    copy_element(*result, at, from, static_cast<size_t>(linear));
  });
  return to_value(std::move(result));
}

}  // namespace

Value slice(const Args& args) {
  const auto x = args.tensor(0);
  const Dims starts = args.integers(1), ends = args.integers(2);
  const Dims steps = args.has(4) ? args.integers(4) : Dims(starts.size(), 1);
  std::vector<size_t> axes;
  if (args.has(3)) {
    axes = args.axes(3, x->rank);
  } else {
    for (size_t d = 0; d < starts.size(); ++d) axes.push_back(d);
  }
  if (ends.size() != starts.size() || steps.size() != starts.size() || axes.size() != starts.size() ||
      starts.size() > x->rank)
    args.fail(ErrorCode::InvalidArgument, "{} starts, {} ends, {} axes and {} steps for rank {}", starts.size(),
              ends.size(), axes.size(), steps.size(), x->rank);
  Dims begin(x->rank, 0), step(x->rank, 1), dims = dims_of(*x);
  for (size_t i = 0; i < axes.size(); ++i) {
    const size_t d = axes[i];
    const int64_t extent = x->dims()[d];
    if (steps[i] == 0) args.fail(ErrorCode::InvalidArgument, "step {} is 0", i);
    const int64_t low = steps[i] > 0 ? 0 : -1, high = steps[i] > 0 ? extent : extent - 1;
    const auto place = [&](int64_t at) {
      if (at < 0) at = at < -extent ? std::numeric_limits<int64_t>::min() : at + extent;
      return std::max(low, std::min(high, at));
    };
    // Backwards from before the first element is from the first one: so the standard has it, unlike NumPy.
    const int64_t last = place(ends[i]), first = extent > 0 ? std::max<int64_t>(place(starts[i]), 0) : place(starts[i]);
    const int64_t span = steps[i] > 0 ? last - first : first - last;
    // |step| above the extent takes one element; brought there, nothing overflows.
    const int64_t stride = std::clamp<int64_t>(steps[i], -extent - 1, extent + 1);
    begin[d] = first;
    step[d] = stride;
    dims[d] = span <= 0 ? 0 : (span + std::abs(stride) - 1) / std::abs(stride);
  }
  return select_places(args, *x, dims, [&](size_t d, int64_t i) { return begin[d] + i * step[d]; });
}

Value pad(const Args& args) {
  const auto x = args.tensor(0);
  const Dims pads = args.integers(1);
  const auto axes = args.axes(3, x->rank);
  const std::string_view mode = args.text(4);
  if (pads.size() != 2 * axes.size())
    args.fail(ErrorCode::InvalidArgument, "{} pads for {} axes", pads.size(), axes.size());
  Dims before(x->rank, 0), dims = dims_of(*x);
  constexpr int64_t kMost = int64_t{1} << 40;
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t after = pads[axes.size() + i];
    if (std::max(std::abs(pads[i]), std::abs(after)) > kMost)
      args.fail(ErrorCode::ShapeMismatch, "pads {} and {} are too large", pads[i], after);
    before[axes[i]] = pads[i];
    dims[axes[i]] += pads[i] + after;
    if (dims[axes[i]] < 0) args.fail(ErrorCode::ShapeMismatch, "dimension {} would become {}", axes[i], dims[axes[i]]);
    if (mode != "constant" && x->dims()[axes[i]] == 0 && dims[axes[i]] > 0)
      args.fail(ErrorCode::ShapeMismatch, "dimension {} is empty: there is nothing to repeat", axes[i]);
  }
  if (mode == "constant") {
    auto result = args.make(x->dtype, dims);
    const auto value = args.has(2) ? args.tensor(2, x->dtype) : Ref<TensorObject>();
    if (value && count_of(*value) != 1)
      args.fail(ErrorCode::ShapeMismatch, "the value has {} elements, 1 is wanted", count_of(*value));
    clear(*result);
    const Dims strides = strides_of(x->dims());
    for_each_index(dims, [&](const Dims& index, size_t at) {
      int64_t linear = 0;
      for (size_t d = 0; d < index.size(); ++d) {
        const int64_t place = index[d] - before[d];
        if (place < 0 || place >= x->dims()[d]) {
          if (value) copy_element(*result, at, *value, 0);
          return;
        }
        linear += place * strides[d];
      }
      copy_element(*result, at, *x, static_cast<size_t>(linear));
    });
    return to_value(std::move(result));
  }
  return select_places(args, *x, dims, [&](size_t d, int64_t i) {
    const int64_t extent = x->dims()[d];
    int64_t place = i - before[d];
    if (mode == "edge") return std::clamp<int64_t>(place, 0, extent - 1);
    if (mode == "wrap") return ((place % extent) + extent) % extent;
    if (mode != "reflect") args.fail(ErrorCode::InvalidArgument, "the mode is '{}'", mode);
    if (extent == 1) return int64_t{0};
    const int64_t period = 2 * (extent - 1);
    place = ((place % period) + period) % period;
    return place < extent ? place : period - place;
  });
}

Value tile(const Args& args) {
  const auto x = args.tensor(0);
  const Dims repeats = args.integers(1);
  if (repeats.size() != x->rank) args.fail(ErrorCode::ShapeMismatch, "{} repeats for rank {}", repeats.size(), x->rank);
  Dims dims = dims_of(*x);
  for (size_t d = 0; d < dims.size(); ++d)
    if (repeats[d] < 0 || __builtin_mul_overflow(dims[d], repeats[d], &dims[d]))
      args.fail(ErrorCode::ShapeMismatch, "dimension {} is repeated {} times", d, repeats[d]);
  return select_places(args, *x, dims, [&](size_t d, int64_t i) { return i % x->dims()[d]; });
}

Value expand(const Args& args) {
  const auto x = args.tensor(0);
  Dims dims = args.integers(1);
  if (dims.size() < x->rank) dims.insert(dims.begin(), x->rank - dims.size(), 1);
  const size_t skipped = dims.size() - x->rank;
  for (size_t d = 0; d < x->rank; ++d) {
    const int64_t have = x->dims()[d];
    int64_t& wanted = dims[skipped + d];
    if (wanted == 1) wanted = have;
    if (have != 1 && have != wanted)
      args.fail(ErrorCode::ShapeMismatch, "dimension {} is {}, which does not broadcast to {}", d, have, wanted);
  }
  auto result = args.make(x->dtype, dims);
  const Dims strides = strides_of(x->dims());
  for_each_index(dims, [&](const Dims& index, size_t at) {
    int64_t linear = 0;
    for (size_t d = 0; d < strides.size(); ++d)
      if (x->dims()[d] != 1) linear += index[skipped + d] * strides[d];
    copy_element(*result, at, *x, static_cast<size_t>(linear));
  });
  return to_value(std::move(result));
}

Value fill(const Args& args) {
  const Dims dims = args.integers(0);
  const auto value = args.tensor(1);
  if (count_of(*value) != 1)
    args.fail(ErrorCode::ShapeMismatch, "the value has {} elements, 1 is wanted", count_of(*value));
  auto result = args.make(value->dtype, dims);
  gather(*result, *value, [](size_t) { return 0; });
  return to_value(std::move(result));
}

Value range(const Args& args) {
  const auto start = args.tensor(0);
  const auto limit = args.tensor(1, start->dtype), delta = args.tensor(2, start->dtype);
  if (count_of(*start) != 1 || count_of(*limit) != 1 || count_of(*delta) != 1)
    args.fail(ErrorCode::ShapeMismatch, "start, limit and step must be scalars");
  if (get_number(*delta, 0) == 0) args.fail(ErrorCode::InvalidArgument, "the step is 0");
  const double length = std::ceil((get_number(*limit, 0) - get_number(*start, 0)) / get_number(*delta, 0));
  if (!(length < 1e15)) args.fail(ErrorCode::ShapeMismatch, "the range has {} elements", length);
  const int64_t dims[] = {std::max<int64_t>(0, static_cast<int64_t>(length))};
  auto result = args.make(start->dtype, dims);
  for (int64_t i = 0; i < dims[0]; ++i) {
    const auto at = static_cast<size_t>(i);
    if (is_float(start->dtype)) {
      set_number(*result, at, get_number(*start, 0) + static_cast<double>(i) * get_number(*delta, 0));
    } else {
      const auto value = static_cast<uint64_t>(get_integer(*start, 0)) +
                         static_cast<uint64_t>(i) * static_cast<uint64_t>(get_integer(*delta, 0));
      std::memcpy(result->data + at * dtype_bytes(result->dtype), &value, dtype_bytes(result->dtype));
    }
  }
  return Value(std::move(result));
}

// Sizes along the axis: those given, one that all but the last part have, or a number of equal parts.
Value split(const Args& args) {
  const auto x = args.tensor(0);
  const size_t axis = args.axis(2, x->rank);
  const int64_t extent = x->dims()[axis];
  const bool keep = args.flag(3);
  Dims sizes;
  if (args.has(1)) {
    sizes = args.integers(1);
    if (args[1].kind == Kind::Scalar || (args[1].kind == Kind::Prim)) {
      const int64_t size = sizes[0];
      if (size <= 0) args.fail(ErrorCode::InvalidArgument, "parts of {} elements", size);
      sizes.assign(static_cast<size_t>((extent + size - 1) / size), size);
      if (!sizes.empty()) sizes.back() = extent - size * static_cast<int64_t>(sizes.size() - 1);
    }
  } else {
    sizes.assign(static_cast<size_t>(extent), 1);
  }
  int64_t total = 0;
  for (const int64_t size : sizes)
    if (size < 0 || __builtin_add_overflow(total, size, &total))
      args.fail(ErrorCode::InvalidArgument, "a part has {} elements", size);
  if (total != extent)
    args.fail(ErrorCode::ShapeMismatch, "the parts have {} elements, dimension {} has {}", total, axis, extent);
  std::vector<Value> parts;
  int64_t begin = 0;
  for (const int64_t size : sizes) {
    Dims dims = dims_of(*x);
    dims[axis] = size;
    Value part = select_places(args, *x, dims, [&](size_t d, int64_t i) { return d == axis ? begin + i : i; });
    if (!keep && !args.has(1)) {
      dims.erase(dims.begin() + static_cast<ptrdiff_t>(axis));
      part = to_value(make_view(args.pool(), to_tensor(args.pool(), part), dims));
    }
    parts.push_back(std::move(part));
    begin += size;
  }
  return tuple_value(args.pool(), std::move(parts));
}

}  // namespace ingot::vm::builtins
