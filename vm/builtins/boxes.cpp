#include <cmath>
#include <numeric>

#include "runtime/base/arithmetic.h"
#include "runtime/base/checked.h"
#include "vm/builtins/box.h"
#include "vm/builtins/builtins.h"

// Boxes of pictures: which of them stay.
namespace ingot::vm::builtins {
namespace {

// Places 0, 1, ... in descending order of `score`, equal ones as they came.
template <typename Score>
Dims descending(int64_t count, const Score& score) {
  Dims order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](int64_t a, int64_t b) { return score(a) > score(b); });
  return order;
}

}  // namespace

Value soft_suppression(const Args& args) {
  const auto data = args.tensor(0), counts = args.tensor(1), indices = args.tensor(2);
  args.require_rank(*data, 0, 3);
  args.require_rank(*counts, 1, 1);
  args.require_rank(*indices, 2, 2);
  const int64_t batches = data->dims()[0], count = data->dims()[1], width = data->dims()[2];
  const int64_t most = args.integer(3);
  const double limit = args.number(4);
  const auto options = args.numbers(5);
  if (counts->dims()[0] != batches || indices->dims()[0] != batches || indices->dims()[1] != count ||
      options.size() != 7)
    args.fail(ErrorCode::ShapeMismatch, "boxes of shape {}, counts of shape {} and indices of shape {} do not fit",
              shape_text(data->dims()), shape_text(counts->dims()), shape_text(indices->dims()));
  const double decay = -0.5 / options[0], least = options[1];
  const bool one_class = options[2] != 0;
  const auto top = convert<int64_t>(options[3]), corner = convert<int64_t>(options[4]);
  const auto score_at = convert<int64_t>(options[5]), class_at = convert<int64_t>(options[6]);
  if (corner < 0 || corner > width - 4 || score_at < 0 || score_at >= width || class_at >= width)
    args.fail(ErrorCode::InvalidArgument, "rows of {} elements have no places {}, {} and {}", width, corner, score_at,
              class_at);

  auto rows = args.make(data->dtype, data->dims());
  auto places = args.make(DType::Int32, indices->dims());
  const int64_t number_dims[] = {batches, 1};
  auto numbers = args.make(DType::Int32, number_dims);
  for (size_t i = 0; i < count_of(*rows); ++i) set_number(*rows, i, -1);
  std::fill_n(places->elements<int32_t>(), batches * count, -1);
  for (int64_t b = 0; b < batches; ++b) {
    const auto element = [&](int64_t row, int64_t k) {
      return get_number(*data, static_cast<size_t>((b * count + row) * width + k));
    };
    int64_t valid = std::clamp<int64_t>(get_integer(*counts, static_cast<size_t>(b)), 0, count);
    Dims open = descending(valid, [&](int64_t row) { return element(row, score_at); });
    if (top > 0 && top < valid) open.resize(static_cast<size_t>(top));
    std::vector<double> scores(static_cast<size_t>(count));
    for (const int64_t row : open) scores[static_cast<size_t>(row)] = element(row, score_at);
    const auto score = [&](int64_t row) -> double& { return scores[static_cast<size_t>(row)]; };
    const auto box = [&](int64_t row) {
      return box_of_corners(element(row, corner), element(row, corner + 1), element(row, corner + 2),
                            element(row, corner + 3));
    };
    int32_t chosen = 0;
    while (!open.empty() && (most <= 0 || chosen < most)) {
      const auto best = std::ranges::max_element(open, {}, score);
      if (!(score(*best) > least)) break;
      const int64_t row = *best;
      open.erase(best);
      const size_t at = static_cast<size_t>(b * count + chosen++);
      for (int64_t k = 0; k < width; ++k)
        set_number(*rows, at * static_cast<size_t>(width) + static_cast<size_t>(k),
                   k == score_at ? score(row) : element(row, k));
      places->elements<int32_t>()[at] =
          static_cast<int32_t>(get_integer(*indices, static_cast<size_t>(b * count + row)));
      std::erase_if(open, [&](int64_t other) {
        if (!one_class && class_at >= 0 && element(row, class_at) != element(other, class_at)) return false;
        const double shared = overlap(box(row), box(other));
        if (shared >= limit) return true;
        score(other) *= std::exp(decay * shared * shared);
        return score(other) <= least;
      });
    }
    numbers->elements<int32_t>()[b] = chosen;
  }
  return tuple_value(args.pool(), {Value(std::move(rows)), Value(std::move(places)), Value(std::move(numbers))});
}

Value class_suppression(const Args& args) {
  const auto boxes = args.tensor(0), scores = args.tensor(1);
  args.require_rank(*boxes, 0, 3);
  args.require_rank(*scores, 1, 3);
  const int64_t batches = boxes->dims()[0], count = boxes->dims()[1], columns = scores->dims()[2];
  const int64_t most_of_class = args.integer(2), most = args.integer(3), classes = args.integer(4);
  const double limit = args.number(5), least = args.number(6);
  if (boxes->dims()[2] != 4 || scores->dims()[0] != batches || scores->dims()[1] != count)
    args.fail(ErrorCode::ShapeMismatch, "boxes of shape {} and scores of shape {} do not fit",
              shape_text(boxes->dims()), shape_text(scores->dims()));
  if (classes < 0 || classes > columns || most < 0)
    args.fail(ErrorCode::InvalidArgument, "{} classes of {} scores and {} results are asked for", classes, columns,
              most);
  const int64_t background = columns - classes;
  const int64_t dims[] = {batches, most, 4};
  auto out_boxes = args.make(boxes->dtype, dims), out_scores = args.make(scores->dtype, std::span(dims, 2));
  auto out_classes = args.make(DType::Float32, std::span(dims, 2)),
       out_counts = args.make(DType::Int32, std::span(dims, 1));
  for (auto* x : {&out_boxes, &out_scores, &out_classes}) clear(**x);

  struct Chosen {
    int64_t row, of_class;
    double score;
  };
  for (int64_t b = 0; b < batches; ++b) {
    const auto score = [&](int64_t row, int64_t c) {
      return get_number(*scores, static_cast<size_t>((b * count + row) * columns + background + c));
    };
    const auto side = [&](int64_t row, int64_t k) {
      return get_number(*boxes, static_cast<size_t>((b * count + row) * 4 + k));
    };
    const auto box = [&](int64_t row) { return Box{side(row, 0), side(row, 1), side(row, 2), side(row, 3)}; };
    std::vector<Chosen> all;
    for (int64_t c = 0; c < classes; ++c) {
      Dims kept;
      for (const int64_t row : descending(count, [&](int64_t i) { return score(i, c); })) {
        if (!(score(row, c) >= least) || static_cast<int64_t>(kept.size()) >= most_of_class) break;
        if (std::ranges::any_of(kept, [&](int64_t other) { return overlap(box(other), box(row)) > limit; })) continue;
        kept.push_back(row);
        all.push_back({row, c, score(row, c)});
      }
    }
    std::ranges::stable_sort(all, std::ranges::greater(), &Chosen::score);
    if (static_cast<int64_t>(all.size()) > most) all.resize(static_cast<size_t>(most));
    for (size_t i = 0; i < all.size(); ++i) {
      const size_t at = static_cast<size_t>(b * most) + i;
      for (size_t k = 0; k < 4; ++k)
        copy_element(*out_boxes, at * 4 + k, *boxes, static_cast<size_t>((b * count + all[i].row) * 4) + k);
      copy_element(*out_scores, at, *scores,
                   static_cast<size_t>((b * count + all[i].row) * columns + background + all[i].of_class));
      set_number(*out_classes, at, static_cast<double>(all[i].of_class));
    }
    out_counts->elements<int32_t>()[b] = static_cast<int32_t>(all.size());
  }
  return tuple_value(args.pool(), {Value(std::move(out_boxes)), Value(std::move(out_classes)),
                                   Value(std::move(out_scores)), Value(std::move(out_counts))});
}

namespace {

// Sides in pixels, both ends included.
struct Region {
  double left, top, right, bottom, score;
};

double shared_pixels(const Region& a, const Region& b) {
  const auto pixels = [](double from, double to) { return to - from + 1; };
  const double width = std::max(0.0, pixels(std::max(a.left, b.left), std::min(a.right, b.right)));
  const double height = std::max(0.0, pixels(std::max(a.top, b.top), std::min(a.bottom, b.bottom)));
  const auto area = [&](const Region& r) { return pixels(r.left, r.right) * pixels(r.top, r.bottom); };
  const double both = width * height;
  return both / (area(a) + area(b) - both);
}

// A window of about stride x stride pixels around the middle of such a cell, scaled and brought to a ratio of its
// sides.
Region anchor(double stride, double ratio, double scale) {
  const double middle = 0.5 * (stride - 1);
  const double plain_width = std::floor(std::sqrt(std::floor(stride * stride / ratio)) + 0.5);
  const double width = plain_width * scale, height = std::floor(plain_width * ratio + 0.5) * scale;
  return {middle - 0.5 * (width - 1), middle - 0.5 * (height - 1), middle + 0.5 * (width - 1),
          middle + 0.5 * (height - 1), 0};
}

// The region moved by (x, y, width, height) of its sides, or by (left, top, right, bottom) pixels.
Region moved(const Region& r, const double (&by)[4], bool pixels) {
  if (pixels) return {r.left + by[0], r.top + by[1], r.right + by[2], r.bottom + by[3], 0};
  const double width = r.right - r.left + 1, height = r.bottom - r.top + 1;
  const double x = r.left + 0.5 * (width - 1) + by[0] * width, y = r.top + 0.5 * (height - 1) + by[1] * height;
  const double half_width = 0.5 * (std::exp(by[2]) * width - 1), half_height = 0.5 * (std::exp(by[3]) * height - 1);
  return {x - half_width, y - half_height, x + half_width, y + half_height, 0};
}

}  // namespace

Value proposals(const Args& args) {
  const auto scores = args.tensor(0), moves = args.tensor(1), pictures = args.tensor(2);
  args.require_rank(*scores, 0, 4);
  args.require_rank(*moves, 1, 4);
  args.require_rank(*pictures, 2, 2);
  const auto scales = args.numbers(3), ratios = args.numbers(4), options = args.numbers(5);
  const auto anchors = static_cast<int64_t>(scales.size() * ratios.size());
  const int64_t batches = scores->dims()[0], height = scores->dims()[2], width = scores->dims()[3];
  if (options.size() != 6 || scores->dims()[1] != 2 * anchors || moves->dims()[0] != batches ||
      moves->dims()[1] != 4 * anchors || moves->dims()[2] != height || moves->dims()[3] != width ||
      pictures->dims()[0] != batches || pictures->dims()[1] != 3)
    args.fail(ErrorCode::ShapeMismatch, "scores {}, moves {} and pictures {} do not fit {} anchors",
              shape_text(scores->dims()), shape_text(moves->dims()), shape_text(pictures->dims()), anchors);
  const double stride = options[0], limit = options[1], least = options[4];
  const auto before = convert<int64_t>(options[2]), after = convert<int64_t>(options[3]);
  const bool pixels = options[5] != 0;
  const auto all = checked_mul(batches, after);
  if (after < 0 || !all) args.fail(ErrorCode::InvalidArgument, "{} regions are asked for", after);
  const auto at = [&](const TensorObject& x, int64_t b, int64_t channels, int64_t c, int64_t row, int64_t column) {
    return get_number(x, static_cast<size_t>(((b * channels + c) * height + row) * width + column));
  };
  const int64_t dims[] = {*all, 5};
  auto result = args.make(moves->dtype, dims);
  clear(*result);
  for (int64_t b = 0; b < batches; ++b) {
    const auto picture = [&](int64_t k) { return get_number(*pictures, static_cast<size_t>(b * 3 + k)); };
    const double rows = picture(0), columns = picture(1), smallest = picture(2) * least;
    std::vector<Region> regions;
    for (int64_t cell = 0; cell < height * width; ++cell)
      for (int64_t k = 0; k < anchors; ++k) {
        const int64_t row = cell / width, column = cell % width;
        const auto n = static_cast<size_t>(k);
        Region r = anchor(stride, ratios[n / scales.size()], scales[n % scales.size()]);
        const double x = static_cast<double>(column) * stride, y = static_cast<double>(row) * stride;
        double by[4];
        for (int64_t i = 0; i < 4; ++i) by[i] = at(*moves, b, 4 * anchors, 4 * k + i, row, column);
        r = moved({r.left + x, r.top + y, r.right + x, r.bottom + y, 0}, by, pixels);
        const auto inside = [](double v, double size) { return std::max(std::min(v, size - 1), 0.0); };
        r = {inside(r.left, columns), inside(r.top, rows), inside(r.right, columns), inside(r.bottom, rows),
             at(*scores, b, 2 * anchors, anchors + k, row, column)};
        if (static_cast<double>(row) >= std::trunc(rows / stride) ||
            static_cast<double>(column) >= std::trunc(columns / stride))
          r.score = -1;
        if (r.right - r.left + 1 < smallest || r.bottom - r.top + 1 < smallest)
          r = {r.left - smallest / 2, r.top - smallest / 2, r.right + smallest / 2, r.bottom + smallest / 2, -1};
        regions.push_back(r);
      }
    std::ranges::stable_sort(regions, std::ranges::greater(), &Region::score);
    if (before > 0 && before < static_cast<int64_t>(regions.size())) regions.resize(static_cast<size_t>(before));
    std::vector<Region> kept;
    for (const Region& r : regions)
      if (std::ranges::none_of(kept, [&](const Region& other) { return shared_pixels(other, r) > limit; }))
        kept.push_back(r);
    for (int64_t i = 0; i < after && !kept.empty(); ++i) {
      const Region& r = kept[static_cast<size_t>(i) % kept.size()];
      const double row[] = {static_cast<double>(b), r.left, r.top, r.right, r.bottom};
      for (size_t k = 0; k < 5; ++k) set_number(*result, static_cast<size_t>(b * after + i) * 5 + k, row[k]);
    }
  }
  return Value(std::move(result));
}

}  // namespace ingot::vm::builtins
