#include <algorithm>
#include <map>
#include <numeric>

#include "runtime/base/arithmetic.h"
#include "vm/builtins/box.h"
#include "vm/builtins/builtins.h"

// Operators whose results are as large as the data says.
namespace ingot::vm::builtins {
namespace {

// A part of a tensor: everything at place `at` of an axis. All elements in a row where there is no axis.
struct Parts {
  const TensorObject& x;
  int64_t count, outer, inner;

  Parts(const Args& args, const TensorObject& x_, size_t axis_argument) : x(x_) {
    if (args.has(axis_argument)) {
      const size_t axis = args.axis(axis_argument, x.rank);
      count = x.dims()[axis];
      outer = product(x.dims().first(axis));
      inner = product(x.dims().subspan(axis + 1));
    } else {
      count = static_cast<int64_t>(count_of(x));
      outer = inner = 1;
    }
  }
  size_t index(int64_t o, int64_t at, int64_t i) const { return static_cast<size_t>((o * count + at) * inner + i); }
};

Value gather_parts(const Args& args, const Parts& parts, size_t axis_argument, const Dims& places) {
  Dims dims;
  if (args.has(axis_argument)) {
    dims = dims_of(parts.x);
    dims[args.axis(axis_argument, parts.x.rank)] = static_cast<int64_t>(places.size());
  } else {
    dims = {static_cast<int64_t>(places.size())};
  }
  auto result = args.make(parts.x.dtype, dims);
  size_t at = 0;
  for (int64_t o = 0; o < parts.outer; ++o)
    for (const int64_t place : places)
      for (int64_t i = 0; i < parts.inner; ++i) copy_element(*result, at++, parts.x, parts.index(o, place, i));
  return Value(std::move(result));
}

// <, = or > 0; NaN is greater than everything.
int compare_elements(const TensorObject& x, size_t a, size_t b) {
  if (x.dtype == DType::String) {
    const auto text = [&](size_t i) {
      const auto* string = x.elements<StringObject*>()[i];
      return string == nullptr ? std::string_view() : string->text();
    };
    return text(a).compare(text(b));
  }
  return with_element(x.dtype, [&]<typename T>() {
    const T p = load_element<T>(x.data + a * sizeof(T)), q = load_element<T>(x.data + b * sizeof(T));
    if constexpr (FloatElement<T>)
      if (arithmetic::is_nan(p) || arithmetic::is_nan(q))
        return static_cast<int>(arithmetic::is_nan(p)) - static_cast<int>(arithmetic::is_nan(q));
    return widen(p) < widen(q) ? -1 : widen(q) < widen(p) ? 1 : 0;
  });
}

}  // namespace

Value non_zero(const Args& args) {
  const auto x = args.tensor(0);
  std::vector<Dims> found(x->rank);
  int64_t count = 0;
  for_each_index(x->dims(), [&](const Dims& index, size_t at) {
    if (get_number(*x, at) == 0) return;
    ++count;
    for (size_t d = 0; d < index.size(); ++d) found[d].push_back(index[d]);
  });
  const int64_t dims[] = {static_cast<int64_t>(x->rank), count};
  auto result = args.make(DType::Int64, dims);
  auto* out = result->elements<int64_t>();
  for (const auto& row : found) out = std::copy(row.begin(), row.end(), out);
  return Value(std::move(result));
}

Value arg_where(const Args& args) {
  const auto x = args.tensor(0);
  std::vector<int32_t> found;
  int64_t count = 0;
  for_each_index(x->dims(), [&](const Dims& index, size_t at) {
    if (get_number(*x, at) == 0) return;
    ++count;
    for (const int64_t place : index) {
      if (place > INT32_MAX) args.fail(ErrorCode::IndexOutOfRange, "coordinate {} does not fit into int32", place);
      found.push_back(static_cast<int32_t>(place));
    }
  });
  const int64_t dims[] = {count, static_cast<int64_t>(x->rank)};
  auto result = args.make(DType::Int32, dims);
  std::copy(found.begin(), found.end(), result->elements<int32_t>());
  return Value(std::move(result));
}

Value compress(const Args& args) {
  const auto x = args.tensor(0), condition = args.tensor(1);
  const Parts parts(args, *x, 2);
  Dims places;
  if (static_cast<int64_t>(count_of(*condition)) > parts.count)
    args.fail(ErrorCode::ShapeMismatch, "{} conditions for {} parts", count_of(*condition), parts.count);
  for (size_t i = 0; i < count_of(*condition); ++i)
    if (get_integer(*condition, i) != 0) places.push_back(static_cast<int64_t>(i));
  return gather_parts(args, parts, 2, places);
}

// The parts, where each was first, which one each is, and how often it occurs.
Value unique(const Args& args) {
  const auto x = args.tensor(0);
  const Parts parts(args, *x, 1);
  const bool sorted = args.flag(2);
  const auto compare = [&](int64_t a, int64_t b) {
    for (int64_t o = 0; o < parts.outer; ++o)
      for (int64_t i = 0; i < parts.inner; ++i)
        if (const int order = compare_elements(*x, parts.index(o, a, i), parts.index(o, b, i)); order != 0)
          return order;
    return 0;
  };
  Dims order(static_cast<size_t>(parts.count));
  std::iota(order.begin(), order.end(), int64_t{0});
  std::ranges::stable_sort(order, [&](int64_t a, int64_t b) { return compare(a, b) < 0; });
  std::vector<Dims> groups;
  for (const int64_t at : order) {
    if (groups.empty() || compare(groups.back().front(), at) != 0) groups.emplace_back();
    groups.back().push_back(at);
  }
  if (!sorted) std::ranges::sort(groups, {}, [](const Dims& group) { return group.front(); });
  Dims first, counts, inverse(static_cast<size_t>(parts.count));
  for (size_t g = 0; g < groups.size(); ++g) {
    first.push_back(groups[g].front());
    counts.push_back(static_cast<int64_t>(groups[g].size()));
    for (const int64_t at : groups[g]) inverse[static_cast<size_t>(at)] = static_cast<int64_t>(g);
  }
  std::vector<Value> fields;
  fields.push_back(gather_parts(args, parts, 1, first));
  for (const auto* list : {&first, &inverse, &counts}) fields.push_back(tensor_value(args.pool(), *list));
  return tuple_value(args.pool(), std::move(fields));
}

// Values and places of the k greatest or least along an axis; the lower place first on a tie.
Value top_k(const Args& args) {
  const auto x = args.tensor(0);
  const int64_t k = args.integer(1);
  const Parts parts(args, *x, 2);
  const bool largest = args.flag(3);
  if (k < 0 || k > parts.count)
    args.fail(ErrorCode::InvalidArgument, "{} of {} elements are asked for", k, parts.count);
  Dims dims = dims_of(*x);
  dims[args.axis(2, x->rank)] = k;
  const bool narrow = args.has(5) && args.flag(5);
  if (narrow && parts.count > INT32_MAX)
    args.fail(ErrorCode::InvalidArgument, "places of {} elements do not fit into int32", parts.count);
  auto values = args.make(x->dtype, dims), places = args.make(narrow ? DType::Int32 : DType::Int64, dims);
  Dims order(static_cast<size_t>(parts.count));
  for (int64_t o = 0; o < parts.outer; ++o)
    for (int64_t i = 0; i < parts.inner; ++i) {
      std::iota(order.begin(), order.end(), int64_t{0});
      std::ranges::partial_sort(order, order.begin() + k, [&](int64_t a, int64_t b) {
        const int order_ab = compare_elements(*x, parts.index(o, a, i), parts.index(o, b, i));
        if (order_ab == 0) return a < b;
        return largest ? order_ab > 0 : order_ab < 0;
      });
      for (int64_t j = 0; j < k; ++j) {
        const auto to = static_cast<size_t>((o * k + j) * parts.inner + i);
        copy_element(*values, to, *x, parts.index(o, order[static_cast<size_t>(j)], i));
        const int64_t place = order[static_cast<size_t>(j)];
        if (narrow)
          places->elements<int32_t>()[to] = static_cast<int32_t>(place);
        else
          places->elements<int64_t>()[to] = place;
      }
    }
  return tuple_value(args.pool(), {Value(std::move(values)), Value(std::move(places))});
}

Value non_max_suppression(const Args& args) {
  const auto boxes = args.tensor(0), scores = args.tensor(1);
  if (boxes->rank != 3 || scores->rank != 3 || boxes->dims()[2] != 4 || boxes->dims()[0] != scores->dims()[0] ||
      boxes->dims()[1] != scores->dims()[2])
    args.fail(ErrorCode::ShapeMismatch, "boxes of shape {} and scores of shape {} do not fit",
              shape_text(boxes->dims()), shape_text(scores->dims()));
  const int64_t most = args.has(2) ? args.integer(2) : 0;
  const double limit = args.has(3) ? args.number(3) : 0;
  const bool has_threshold = args.has(4);
  const double threshold = has_threshold ? args.number(4) : 0;
  const bool centred = args.flag(5);
  const int64_t count = boxes->dims()[1], classes = scores->dims()[1];
  const auto box_at = [&](int64_t batch, int64_t i) {
    double v[4];
    for (int64_t c = 0; c < 4; ++c) v[c] = get_number(*boxes, static_cast<size_t>((batch * count + i) * 4 + c));
    if (centred) return Box{v[1] - v[3] / 2, v[0] - v[2] / 2, v[1] + v[3] / 2, v[0] + v[2] / 2};
    return box_of_corners(v[0], v[1], v[2], v[3]);
  };
  Dims selected;
  for (int64_t batch = 0; batch < boxes->dims()[0]; ++batch)
    for (int64_t c = 0; c < classes; ++c) {
      const auto score = [&](int64_t i) {
        return get_number(*scores, static_cast<size_t>((batch * classes + c) * count + i));
      };
      Dims order;
      for (int64_t i = 0; i < count; ++i)
        if (!has_threshold || score(i) > threshold) order.push_back(i);
      std::ranges::stable_sort(order, [&](int64_t a, int64_t b) { return score(a) > score(b); });
      std::vector<Box> kept;
      for (const int64_t i : order) {
        if (static_cast<int64_t>(kept.size()) >= most) break;
        const Box box = box_at(batch, i);
        if (std::ranges::any_of(kept, [&](const Box& other) { return overlap(box, other) > limit; })) continue;
        kept.push_back(box);
        selected.insert(selected.end(), {batch, c, i});
      }
    }
  const int64_t dims[] = {static_cast<int64_t>(selected.size() / 3), 3};
  auto result = args.make(DType::Int64, dims);
  std::ranges::copy(selected, result->elements<int64_t>());
  return Value(std::move(result));
}

Value cumulate(const Args& args) {
  const auto x = args.tensor(0);
  const Parts parts(args, *x, 1);
  const bool exclusive = args.flag(2), reverse = args.flag(3), product = args.has(4) && args.flag(4);
  auto result = args.make(x->dtype, x->dims());
  with_element(x->dtype, [&]<typename T>() {
    if constexpr (std::same_as<T, bool>) {
      args.fail_kind(0, "numbers");
    } else {
      const auto summand = [](T element) {
        if constexpr (IntElement<T>)
          return static_cast<uint64_t>(static_cast<int64_t>(element));
        else
          return static_cast<double>(widen(element));
      };
      for (int64_t o = 0; o < parts.outer; ++o)
        for (int64_t i = 0; i < parts.inner; ++i) {
          decltype(summand(T{})) total = product ? 1 : 0;
          for (int64_t n = 0; n < parts.count; ++n) {
            const size_t at = parts.index(o, reverse ? parts.count - 1 - n : n, i);
            const auto before = total;
            const auto next = summand(x->elements<T>()[at]);
            total = product ? total * next : total + next;
            result->elements<T>()[at] = static_cast<T>(static_cast<Wide<T>>(exclusive ? before : total));
          }
        }
    }
  });
  return Value(std::move(result));
}

}  // namespace ingot::vm::builtins
