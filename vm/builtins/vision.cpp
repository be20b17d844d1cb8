#include <algorithm>
#include <cmath>
#include <functional>

#include "vm/builtins/builtins.h"

// Operators that read images at places between their elements.
namespace ingot::vm::builtins {
namespace {

// A plane of an image; elements outside of it are zero.
struct Plane {
  const TensorObject& x;
  size_t begin;
  int64_t height, width;

  double at(int64_t row, int64_t column) const {
    if (row < 0 || column < 0 || row >= height || column >= width) return 0;
    return get_number(x, begin + static_cast<size_t>(row * width + column));
  }
  double between(double row, double column) const {
    const double top = std::floor(row), left = std::floor(column);
    const double down = row - top, right = column - left;
    const auto r = static_cast<int64_t>(top), c = static_cast<int64_t>(left);
    return (1 - down) * ((1 - right) * at(r, c) + right * at(r, c + 1)) +
           down * ((1 - right) * at(r + 1, c) + right * at(r + 1, c + 1));
  }
};

double cubic(double x) {
  const double a = -0.75;
  x = std::fabs(x);
  if (x <= 1) return (a + 2) * x * x * x - (a + 3) * x * x + 1;
  return x < 2 ? a * x * x * x - 5 * a * x * x + 8 * a * x - 4 * a : 0;
}

// Back and forth between two ends.
double reflected(double x, double low, double high) {
  if (high <= low) return low;
  const double range = high - low;
  double away = std::fabs(x - low);
  const double turns = std::floor(away / range);
  away -= turns * range;
  return std::fmod(turns, 2) == 0 ? low + away : high - away;
}

}  // namespace

// (x [N, C, d...], grid [N, o..., spatial], mode, padding, align corners)
Value grid_sample(const Args& args) {
  const auto x = args.tensor(0), grid = args.tensor(1);
  const std::string_view mode = args.text(2), padding = args.text(3);
  const bool align = args.flag(4);
  if (x->rank < 3 || grid->rank != x->rank || grid->dims()[grid->rank - 1] != static_cast<int64_t>(x->rank - 2) ||
      grid->dims()[0] != x->dims()[0])
    args.fail(ErrorCode::ShapeMismatch, "data of shape {} and a grid of shape {} do not fit", shape_text(x->dims()),
              shape_text(grid->dims()));
  const size_t spatial = x->rank - 2;
  const bool is_cubic = mode == "cubic" || mode == "bicubic", nearest = mode == "nearest";
  Dims dims = {x->dims()[0], x->dims()[1]};
  for (size_t d = 0; d < spatial; ++d) dims.push_back(grid->dims()[1 + d]);
  auto result = args.make(x->dtype, dims);
  const Dims extents(x->dims().begin() + 2, x->dims().end());
  const auto plane = static_cast<size_t>(product(extents));
  const auto points = static_cast<size_t>(product(std::span<const int64_t>(dims).subspan(2)));
  // An element by place, after what the padding makes of places outside; nothing there is zero.
  const auto element = [&](size_t begin, const Dims& given) {
    size_t at = 0;
    for (size_t d = 0; d < spatial; ++d) {
      int64_t place = given[d];
      const int64_t extent = extents[d];
      if (place < 0 || place >= extent) {
        if (padding == "border") {
          place = std::clamp<int64_t>(place, 0, extent - 1);
        } else if (padding == "reflection") {
          const double low = align ? 0 : -0.5, high = static_cast<double>(extent) - (align ? 1 : 0.5);
          place = std::clamp<int64_t>(static_cast<int64_t>(reflected(static_cast<double>(place), low, high)), 0,
                                      extent - 1);
        } else {
          return 0.0;
        }
      }
      at = at * static_cast<size_t>(extent) + static_cast<size_t>(place);
    }
    return get_number(*x, begin + at);
  };
  std::vector<double> where(spatial);
  for (size_t n = 0; n < static_cast<size_t>(dims[0]); ++n)
    for (size_t p = 0; p < points; ++p) {
      for (size_t d = 0; d < spatial; ++d) {
        // The last coordinate of the grid is that of the first spatial dimension.
        const double g = get_number(*grid, (n * points + p) * spatial + (spatial - 1 - d));
        const auto extent = static_cast<double>(extents[d]);
        double at = align ? (g + 1) / 2 * (extent - 1) : ((g + 1) * extent - 1) / 2;
        if (nearest) at = std::nearbyint(at);
        const double low = align ? 0 : -0.5, high = align ? extent - 1 : extent - 0.5;
        if (at < low || at > high) {
          if (padding == "border") at = std::clamp(at, 0.0, extent - 1);
          if (padding == "reflection") at = reflected(at, low, high);
        }
        // Far outside is outside.
        where[d] = std::isfinite(at) ? std::clamp(at, -1e9, 1e9) : -1e9;
      }
      const int64_t reach = is_cubic ? 4 : nearest ? 1 : 2;
      Dims window(spatial, reach);
      for (size_t c = 0; c < static_cast<size_t>(dims[1]); ++c) {
        const size_t begin = (n * static_cast<size_t>(dims[1]) + c) * plane;
        double value = 0;
        for_each_index(window, [&](const Dims& k, size_t) {
          Dims place(spatial);
          double weight = 1;
          for (size_t d = 0; d < spatial; ++d) {
            if (nearest) {
              place[d] = static_cast<int64_t>(std::nearbyint(where[d]));
              continue;
            }
            const double base = std::floor(where[d]);
            place[d] = static_cast<int64_t>(base) + k[d] - (is_cubic ? 1 : 0);
            const double distance = where[d] - static_cast<double>(place[d]);
            weight *= is_cubic ? cubic(distance) : std::max(0.0, 1 - std::fabs(distance));
          }
          if (weight != 0) value += weight * element(begin, place);
        });
        set_number(*result, (n * static_cast<size_t>(dims[1]) + c) * points + p, value);
      }
    }
  return Value(std::move(result));
}

constexpr int64_t kMostSamples = 4096;

// (x [N, C, H, W], regions [R, 4], batch of each, rows, columns, samples, scale, half pixel, maximum)
Value roi_align(const Args& args) {
  const auto x = args.tensor(0), regions = args.tensor(1);
  args.require_rank(*x, 0, 4);
  args.require_rank(*regions, 1, 2);
  const Dims batches = args.integers(2);
  const int64_t rows = args.integer(3), columns = args.integer(4), samples = args.integer(5);
  const double scale = args.number(6);
  const double offset = args.flag(7) ? 0.5 : 0;
  // 0: the mean of the samples, 1: the greatest weighted neighbour of one, 2: the greatest sample.
  const int64_t mode = args.integer(8);
  const int64_t count = regions->dims()[0], channels = x->dims()[1], height = x->dims()[2], width = x->dims()[3];
  if (regions->dims()[1] != 4 || static_cast<int64_t>(batches.size()) != count || rows < 1 || columns < 1)
    args.fail(ErrorCode::ShapeMismatch, "regions of shape {} with {} batches, {}x{} results",
              shape_text(regions->dims()), batches.size(), rows, columns);
  if (samples > kMostSamples)
    args.fail(ErrorCode::InvalidArgument, "{} samples in each direction, {} are the most", samples, kMostSamples);
  const int64_t dims[] = {count, channels, rows, columns};
  auto result = args.make(x->dtype, dims);
  size_t to = 0;
  for (int64_t r = 0; r < count; ++r) {
    const int64_t batch = batches[static_cast<size_t>(r)];
    if (batch < 0 || batch >= x->dims()[0])
      args.fail(ErrorCode::IndexOutOfRange, "batch {} of {}", batch, x->dims()[0]);
    double corner[4];
    for (size_t i = 0; i < 4; ++i) corner[i] = get_number(*regions, static_cast<size_t>(r) * 4 + i) * scale - offset;
    double region_width = corner[2] - corner[0], region_height = corner[3] - corner[1];
    if (offset == 0) {
      region_width = std::max(region_width, 1.0);
      region_height = std::max(region_height, 1.0);
    }
    const double bin_height = region_height / static_cast<double>(rows),
                 bin_width = region_width / static_cast<double>(columns);
    const auto steps = [&](double bin) {
      return samples > 0 ? samples : std::clamp<int64_t>(static_cast<int64_t>(std::ceil(bin)), 1, kMostSamples);
    };
    const int64_t down = steps(bin_height), across = steps(bin_width);
    for (int64_t c = 0; c < channels; ++c) {
      const Plane plane{*x, static_cast<size_t>((batch * channels + c) * height * width), height, width};
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < columns; ++j) {
          double sum = 0, greatest = -INFINITY;
          for (int64_t u = 0; u < down; ++u)
            for (int64_t v = 0; v < across; ++v) {
              double row = corner[1] + static_cast<double>(i) * bin_height +
                           (static_cast<double>(u) + 0.5) * bin_height / static_cast<double>(down);
              double column = corner[0] + static_cast<double>(j) * bin_width +
                              (static_cast<double>(v) + 0.5) * bin_width / static_cast<double>(across);
              double value = 0;
              if (row >= -1 && row <= static_cast<double>(height) && column >= -1 &&
                  column <= static_cast<double>(width)) {
                row = std::clamp(row, 0.0, static_cast<double>(height - 1));
                column = std::clamp(column, 0.0, static_cast<double>(width - 1));
                if (mode == 1) {
                  // The greatest of the weighted neighbours.
                  const auto r0 = static_cast<int64_t>(row), c0 = static_cast<int64_t>(column);
                  const double dr = row - static_cast<double>(r0), dc = column - static_cast<double>(c0);
                  const int64_t r1 = std::min(r0 + 1, height - 1), c1 = std::min(c0 + 1, width - 1);
                  value = std::max({(1 - dr) * (1 - dc) * plane.at(r0, c0), (1 - dr) * dc * plane.at(r0, c1),
                                    dr * (1 - dc) * plane.at(r1, c0), dr * dc * plane.at(r1, c1)});
                } else {
                  value = plane.between(row, column);
                }
              }
              sum += value;
              greatest = std::max(greatest, value);
            }
          set_number(*result, to++, mode != 0 ? greatest : sum / static_cast<double>(down * across));
        }
    }
  }
  return Value(std::move(result));
}

// (x [N, C, H, W], regions [R, 5]: batch and corners, rows, columns, scale)
Value max_roi_pool(const Args& args) {
  const auto x = args.tensor(0), regions = args.tensor(1);
  args.require_rank(*x, 0, 4);
  args.require_rank(*regions, 1, 2);
  const int64_t rows = args.integer(2), columns = args.integer(3);
  const double scale = args.number(4);
  if (regions->dims()[1] != 5 || rows < 1 || columns < 1)
    args.fail(ErrorCode::ShapeMismatch, "regions of shape {}, {}x{} results", shape_text(regions->dims()), rows,
              columns);
  const int64_t channels = x->dims()[1], height = x->dims()[2], width = x->dims()[3];
  const int64_t dims[] = {regions->dims()[0], channels, rows, columns};
  auto result = args.make(x->dtype, dims);
  size_t to = 0;
  for (int64_t r = 0; r < dims[0]; ++r) {
    const auto corner = [&](size_t i) {
      return static_cast<int64_t>(
          std::round(std::clamp(get_number(*regions, static_cast<size_t>(r) * 5 + i) * scale, -1e9, 1e9)));
    };
    const int64_t batch = get_integer(*regions, static_cast<size_t>(r) * 5);
    if (batch < 0 || batch >= x->dims()[0])
      args.fail(ErrorCode::IndexOutOfRange, "batch {} of {}", batch, x->dims()[0]);
    const int64_t left = corner(1), top = corner(2);
    const double bin_width =
        static_cast<double>(std::max<int64_t>(corner(3) - left + 1, 1)) / static_cast<double>(columns);
    const double bin_height =
        static_cast<double>(std::max<int64_t>(corner(4) - top + 1, 1)) / static_cast<double>(rows);
    const auto edge = [](double at, int64_t origin, int64_t extent) {
      return std::clamp<int64_t>(static_cast<int64_t>(at) + origin, 0, extent);
    };
    for (int64_t c = 0; c < channels; ++c) {
      const Plane plane{*x, static_cast<size_t>((batch * channels + c) * height * width), height, width};
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < columns; ++j) {
          const auto fi = static_cast<double>(i), fj = static_cast<double>(j);
          const int64_t first = edge(std::floor(fi * bin_height), top, height),
                        last = edge(std::ceil((fi + 1) * bin_height), top, height);
          const int64_t begin = edge(std::floor(fj * bin_width), left, width),
                        end = edge(std::ceil((fj + 1) * bin_width), left, width);
          double greatest = first < last && begin < end ? -INFINITY : 0;
          for (int64_t row = first; row < last; ++row)
            for (int64_t column = begin; column < end; ++column) greatest = std::max(greatest, plane.at(row, column));
          set_number(*result, to++, greatest);
        }
    }
  }
  return Value(std::move(result));
}

// (x [N, C * block, L], image, block, dilations, pads, strides): blocks summed where they lie in the image.
Value col2im(const Args& args) {
  const auto x = args.tensor(0);
  args.require_rank(*x, 0, 3);
  const Dims image = args.integers(1), block = args.integers(2), dilations = args.integers(3), pads = args.integers(4),
             strides = args.integers(5);
  const size_t spatial = image.size();
  if (spatial == 0 || block.size() != spatial || dilations.size() != spatial || strides.size() != spatial ||
      pads.size() != 2 * spatial)
    args.fail(ErrorCode::InvalidArgument, "{} image, {} block, {} dilations, {} pads, {} strides", spatial,
              block.size(), dilations.size(), pads.size(), strides.size());
  Dims places;
  int64_t block_size = 1;
  for (size_t d = 0; d < spatial; ++d) {
    constexpr int64_t kMost = int64_t{1} << 31;
    for (const int64_t value : {image[d], block[d], dilations[d], strides[d]})
      if (value < 1 || value >= kMost) args.fail(ErrorCode::InvalidArgument, "a size is {}", value);
    if (std::min(pads[d], pads[spatial + d]) < 0 || std::max(pads[d], pads[spatial + d]) >= kMost)
      args.fail(ErrorCode::InvalidArgument, "pads {} and {}", pads[d], pads[spatial + d]);
    const int64_t room = image[d] + pads[d] + pads[spatial + d] - dilations[d] * (block[d] - 1) - 1;
    places.push_back(room < 0 ? 0 : room / strides[d] + 1);
    if (__builtin_mul_overflow(block_size, block[d], &block_size))
      args.fail(ErrorCode::ShapeMismatch, "the block is too large");
  }
  int64_t total = 1;
  for (const int64_t place : places)
    if (__builtin_mul_overflow(total, place, &total)) args.fail(ErrorCode::ShapeMismatch, "the image is too large");
  if (x->dims()[1] % block_size != 0 || x->dims()[2] != total)
    args.fail(ErrorCode::ShapeMismatch, "columns of shape {} for blocks of {} at {} places", shape_text(x->dims()),
              block_size, total);
  Dims dims = {x->dims()[0], x->dims()[1] / block_size};
  dims.insert(dims.end(), image.begin(), image.end());
  auto result = args.make(x->dtype, dims);
  std::vector<double> sums(count_of(*result), 0);
  const auto plane = static_cast<size_t>(product(image));
  for (size_t nc = 0; nc < static_cast<size_t>(dims[0] * dims[1]); ++nc)
    for_each_index(block, [&](const Dims& k, size_t in_block) {
      for_each_index(places, [&](const Dims& o, size_t place) {
        size_t at = 0;
        for (size_t d = 0; d < spatial; ++d) {
          const int64_t p = o[d] * strides[d] + k[d] * dilations[d] - pads[d];
          if (p < 0 || p >= image[d]) return;
          at = at * static_cast<size_t>(image[d]) + static_cast<size_t>(p);
        }
        sums[nc * plane + at] +=
            get_number(*x, (nc * static_cast<size_t>(block_size) + in_block) * static_cast<size_t>(total) + place);
      });
    });
  for (size_t at = 0; at < sums.size(); ++at) set_number(*result, at, sums[at]);
  return Value(std::move(result));
}

// (x [N, C, H, W], w [M, C / g, kH, kW], offset, mask?, strides, pads, dilations, groups, offset groups)
Value deform_conv(const Args& args) {
  const auto x = args.tensor(0), w = args.tensor(1), offset = args.tensor(2);
  args.require_rank(*x, 0, 4);
  args.require_rank(*w, 1, 4);
  args.require_rank(*offset, 2, 4);
  const Dims strides = args.integers(4), pads = args.integers(5), dilations = args.integers(6);
  const int64_t groups = args.integer(7), offset_groups = args.integer(8);
  const int64_t channels = x->dims()[1], kernel = w->dims()[2] * w->dims()[3];
  const int64_t rows = offset->dims()[2], columns = offset->dims()[3], maps = w->dims()[0];
  if (strides.size() != 2 || pads.size() != 4 || dilations.size() != 2 || groups < 1 || offset_groups < 1 ||
      channels % groups != 0 || maps % groups != 0 || channels % offset_groups != 0 ||
      w->dims()[1] != channels / groups || offset->dims()[0] != x->dims()[0] ||
      offset->dims()[1] != offset_groups * kernel * 2)
    args.fail(ErrorCode::ShapeMismatch, "data {}, weight {} and offset {} do not fit", shape_text(x->dims()),
              shape_text(w->dims()), shape_text(offset->dims()));
  const auto mask = args.has(3) ? args.tensor(3) : Ref<TensorObject>();
  if (mask && (mask->rank != 4 || mask->dims()[0] != x->dims()[0] || mask->dims()[1] != offset_groups * kernel ||
               mask->dims()[2] != rows || mask->dims()[3] != columns))
    args.fail(ErrorCode::ShapeMismatch, "a mask of shape {} for an offset of {}", shape_text(mask->dims()),
              shape_text(offset->dims()));
  const int64_t dims[] = {x->dims()[0], maps, rows, columns};
  auto result = args.make(x->dtype, dims);
  const int64_t per_group = channels / groups, height = x->dims()[2], width = x->dims()[3];
  size_t to = 0;
  for (int64_t n = 0; n < dims[0]; ++n)
    for (int64_t m = 0; m < maps; ++m)
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < columns; ++j) {
          double sum = 0;
          for (int64_t c = 0; c < per_group; ++c) {
            const int64_t channel = m / (maps / groups) * per_group + c;
            const int64_t group = channel / (channels / offset_groups);
            const Plane plane{*x, static_cast<size_t>((n * channels + channel) * height * width), height, width};
            for (int64_t k = 0; k < kernel; ++k) {
              const auto offset_at = [&](int64_t part) {
                const int64_t map = (group * kernel + k) * 2 + part;
                return get_number(*offset,
                                  static_cast<size_t>(((n * offset->dims()[1] + map) * rows + i) * columns + j));
              };
              const int64_t down = k / w->dims()[3] * dilations[0], right = k % w->dims()[3] * dilations[1];
              const double row = static_cast<double>(i * strides[0] - pads[0] + down) + offset_at(0);
              const double column = static_cast<double>(j * strides[1] - pads[1] + right) + offset_at(1);
              if (!(row > -1 && column > -1 && row < static_cast<double>(height) &&
                    column < static_cast<double>(width)))
                continue;
              double value = plane.between(row, column);
              if (mask)
                value *= get_number(
                    *mask, static_cast<size_t>(((n * mask->dims()[1] + group * kernel + k) * rows + i) * columns + j));
              sum += value * get_number(*w, static_cast<size_t>((m * per_group + c) * kernel + k));
            }
          }
          set_number(*result, to++, sum);
        }
  return Value(std::move(result));
}

}  // namespace ingot::vm::builtins
