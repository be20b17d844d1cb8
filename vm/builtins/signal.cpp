#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <random>

#include "vm/builtins/builtins.h"

// Fourier transforms, filter banks, matrices and random numbers.
namespace ingot::vm::builtins {
namespace {

using Complex = std::complex<double>;

// Bluestein's algorithm would make every length fast; lengths that are no power of two are summed up as they stand.
void transform(std::vector<Complex>& data, bool inverse) {
  const size_t n = data.size();
  const double turn = (inverse ? 2 : -2) * std::numbers::pi;
  if (n > 1 && (n & (n - 1)) == 0) {
    for (size_t i = 1, j = 0; i < n; ++i) {
      size_t bit = n >> 1;
      for (; (j & bit) != 0; bit >>= 1) j ^= bit;
      j ^= bit;
      if (i < j) std::swap(data[i], data[j]);
    }
    for (size_t length = 2; length <= n; length *= 2)
      for (size_t begin = 0; begin < n; begin += length)
        for (size_t k = 0; k < length / 2; ++k) {
          const Complex factor = std::polar(1.0, turn * static_cast<double>(k) / static_cast<double>(length));
          const Complex even = data[begin + k], odd = data[begin + k + length / 2] * factor;
          data[begin + k] = even + odd;
          data[begin + k + length / 2] = even - odd;
        }
  } else {
    std::vector<Complex> factors(n), result(n);
    for (size_t k = 0; k < n; ++k) factors[k] = std::polar(1.0, turn * static_cast<double>(k) / static_cast<double>(n));
    for (size_t k = 0; k < n; ++k)
      for (size_t i = 0; i < n; ++i) result[k] += data[i] * factors[k * i % n];
    data = std::move(result);
  }
  if (inverse)
    for (auto& value : data) value /= static_cast<double>(n);
}

constexpr int64_t kLongest = int64_t{1} << 24;

}  // namespace

// (x, length?, axis, inverse, onesided): x [..., 1 or 2], real or complex.
Value dft(const Args& args) {
  const auto x = args.tensor(0);
  if (x->rank < 2 || x->dims()[x->rank - 1] < 1 || x->dims()[x->rank - 1] > 2)
    args.fail(ErrorCode::ShapeMismatch, "a signal of shape {}; its last dimension must be 1 or 2",
              shape_text(x->dims()));
  const size_t axis = args.axis(2, x->rank);
  if (axis + 1 == x->rank) args.fail(ErrorCode::InvalidArgument, "axis {} holds real and imaginary parts", axis);
  const bool inverse = args.flag(3), onesided = args.flag(4);
  const int64_t parts = x->dims()[x->rank - 1], extent = x->dims()[axis];
  // A one-sided inverse takes the half spectrum of a real signal.
  const bool half_in = inverse && onesided;
  const int64_t length = args.has(1) ? args.integer(1) : half_in ? 2 * (extent - 1) : extent;
  if (length < 1 || length > kLongest) args.fail(ErrorCode::InvalidArgument, "a transform of length {}", length);
  const int64_t kept = onesided && !inverse ? length / 2 + 1 : length;
  Dims dims = dims_of(*x);
  dims[axis] = kept;
  dims.back() = half_in ? 1 : 2;
  auto result = args.make(x->dtype, dims);
  const int64_t outer = product(x->dims().first(axis));
  const int64_t inner = product(x->dims().subspan(axis + 1)) / parts;
  std::vector<Complex> data(static_cast<size_t>(length));
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < inner; ++i) {
      for (int64_t n = 0; n < length; ++n) {
        Complex value = 0;
        const bool mirrored = half_in && n >= extent;
        const int64_t from = mirrored ? length - n : n;
        if (from < extent) {
          const auto at = static_cast<size_t>(((o * extent + from) * inner + i) * parts);
          value = {get_number(*x, at), parts == 2 ? get_number(*x, at + 1) : 0};
          if (mirrored) value = std::conj(value);
        }
        data[static_cast<size_t>(n)] = value;
      }
      transform(data, inverse);
      for (int64_t n = 0; n < kept; ++n) {
        const auto at = static_cast<size_t>(((o * kept + n) * inner + i) * dims.back());
        set_number(*result, at, data[static_cast<size_t>(n)].real());
        if (dims.back() == 2) set_number(*result, at + 1, data[static_cast<size_t>(n)].imag());
      }
    }
  return Value(std::move(result));
}

// (signal, step, window?, length?, onesided): signal [batch, length, 1 or 2] gives [batch, frames, bins, 2].
Value stft(const Args& args) {
  const auto x = args.tensor(0);
  if (x->rank != 3 || x->dims()[2] < 1 || x->dims()[2] > 2)
    args.fail(ErrorCode::ShapeMismatch, "a signal of shape {}, [batch, length, 1 or 2] is wanted",
              shape_text(x->dims()));
  const int64_t step = args.integer(1);
  const auto window = args.has(2) ? args.numbers(2) : std::vector<double>();
  const int64_t length = args.has(3) ? args.integer(3) : static_cast<int64_t>(window.size());
  if (step < 1 || length < 1 || length > x->dims()[1] || length > kLongest ||
      (!window.empty() && static_cast<int64_t>(window.size()) != length))
    args.fail(ErrorCode::InvalidArgument, "frames of {} every {} with a window of {} in a signal of {}", length, step,
              window.size(), x->dims()[1]);
  const int64_t frames = (x->dims()[1] - length) / step + 1, bins = args.flag(4) ? length / 2 + 1 : length;
  const int64_t dims[] = {x->dims()[0], frames, bins, 2};
  auto result = args.make(x->dtype, dims);
  std::vector<Complex> data(static_cast<size_t>(length));
  size_t to = 0;
  for (int64_t batch = 0; batch < dims[0]; ++batch)
    for (int64_t frame = 0; frame < frames; ++frame) {
      for (int64_t n = 0; n < length; ++n) {
        const auto at = static_cast<size_t>((batch * x->dims()[1] + frame * step + n) * x->dims()[2]);
        const Complex value = {get_number(*x, at), x->dims()[2] == 2 ? get_number(*x, at + 1) : 0};
        data[static_cast<size_t>(n)] = value * (window.empty() ? 1 : window[static_cast<size_t>(n)]);
      }
      transform(data, false);
      for (int64_t bin = 0; bin < bins; ++bin) {
        set_number(*result, to++, data[static_cast<size_t>(bin)].real());
        set_number(*result, to++, data[static_cast<size_t>(bin)].imag());
      }
    }
  return Value(std::move(result));
}

// (bins, transform length, sample rate, lowest, highest, prototype): [length / 2 + 1, bins]
Value mel_weights(const Args& args) {
  const int64_t bins = args.integer(0), length = args.integer(1), rate = args.integer(2);
  if (bins < 1 || bins > kLongest || length < 1 || length > kLongest || rate < 1)
    args.fail(ErrorCode::InvalidArgument, "{} bins of a transform of {} at a rate of {}", bins, length, rate);
  const auto to_mel = [](double frequency) { return 2595 * std::log10(1 + frequency / 700); };
  const double low = to_mel(args.number(3)), high = to_mel(args.number(4));
  const int64_t rows = length / 2 + 1;
  const int64_t dims[] = {rows, bins};
  auto result = args.make(args.tensor(5)->dtype, dims);
  clear(*result);
  std::vector<int64_t> edges;
  const double step = (high - low) / static_cast<double>(bins + 2);
  for (int64_t i = 0; i < bins + 2; ++i) {
    const double frequency = 700 * (std::pow(10, (static_cast<double>(i) * step + low) / 2595) - 1);
    edges.push_back(
        static_cast<int64_t>(std::floor(static_cast<double>(length + 1) * frequency / static_cast<double>(rate))));
  }
  const auto set = [&](int64_t row, int64_t bin, double value) {
    if (row >= 0 && row < rows) set_number(*result, static_cast<size_t>(row * bins + bin), value);
  };
  for (int64_t bin = 0; bin < bins; ++bin) {
    const int64_t left = edges[static_cast<size_t>(bin)], top = edges[static_cast<size_t>(bin) + 1];
    const int64_t right = edges[static_cast<size_t>(bin) + 2];
    if (top == left) set(top, bin, 1);
    for (int64_t row = std::max<int64_t>(left, 0); row <= std::min(top, rows); ++row)
      if (top != left) set(row, bin, static_cast<double>(row - left) / static_cast<double>(top - left));
    for (int64_t row = std::max<int64_t>(top, 0); row < std::min(right, rows); ++row)
      if (right != top) set(row, bin, static_cast<double>(right - row) / static_cast<double>(right - top));
  }
  return Value(std::move(result));
}

namespace {

// Matrices in the last two dimensions of x: how many rows and columns each has.
size_t square(const Args& args, const TensorObject& x) {
  if (x.rank < 2 || x.dims()[x.rank - 1] != x.dims()[x.rank - 2])
    args.fail(ErrorCode::ShapeMismatch, "matrices of shape {} are not square", shape_text(x.dims()));
  return static_cast<size_t>(x.dims()[x.rank - 1]);
}

// Eliminates what is below the diagonal of n rows of `width` numbers, with the greatest pivot of each column; gives the
// determinant of the first n columns.
double eliminate(std::vector<double>& a, size_t n, size_t width) {
  double value = 1;
  for (size_t column = 0; column < n; ++column) {
    size_t pivot = column;
    for (size_t row = column + 1; row < n; ++row)
      if (std::fabs(a[row * width + column]) > std::fabs(a[pivot * width + column])) pivot = row;
    if (a[pivot * width + column] == 0) return 0;
    if (pivot != column) {
      for (size_t i = 0; i < width; ++i) std::swap(a[pivot * width + i], a[column * width + i]);
      value = -value;
    }
    value *= a[column * width + column];
    for (size_t row = column + 1; row < n; ++row) {
      const double factor = a[row * width + column] / a[column * width + column];
      for (size_t i = column; i < width; ++i) a[row * width + i] -= factor * a[column * width + i];
    }
  }
  return value;
}

}  // namespace

Value determinant(const Args& args) {
  const auto x = args.tensor(0);
  const size_t n = square(args, *x);
  auto result = args.make(x->dtype, x->dims().first(x->rank - 2));
  std::vector<double> a(n * n);
  for (size_t at = 0; at < count_of(*result); ++at) {
    for (size_t i = 0; i < n * n; ++i) a[i] = get_number(*x, at * n * n + i);
    set_number(*result, at, eliminate(a, n, n));
  }
  return to_value(std::move(result));
}

// By elimination with the identity behind each matrix, then from the last row upwards.
Value inverse(const Args& args) {
  const auto x = args.tensor(0);
  const size_t n = square(args, *x), width = 2 * n;
  auto result = args.make(x->dtype, x->dims());
  std::vector<double> a(n * width);
  for (size_t first = 0; first < count_of(*result); first += n * n) {
    for (size_t row = 0; row < n; ++row)
      for (size_t i = 0; i < n; ++i) {
        a[row * width + i] = get_number(*x, first + row * n + i);
        a[row * width + n + i] = row == i ? 1 : 0;
      }
    const bool singular = eliminate(a, n, width) == 0;
    for (size_t row = n; row-- > 0;)
      for (size_t i = n; i < width; ++i) {
        double sum = a[row * width + i];
        for (size_t k = row + 1; k < n; ++k) sum -= a[row * width + k] * a[k * width + i];
        a[row * width + i] = singular ? std::nan("") : sum / a[row * width + row];
        set_number(*result, first + row * n + i - n, a[row * width + i]);
      }
  }
  return to_value(std::move(result));
}

namespace {

std::mt19937_64 generator(const Args& args, size_t seed) {
  if (args.has(seed)) {
    const double value = args.number(seed);
    return std::mt19937_64(std::bit_cast<uint64_t>(value));
  }
  std::random_device device;
  return std::mt19937_64((static_cast<uint64_t>(device()) << 32) | device());
}

}  // namespace

// (shape, kind: 0 uniform, 1 normal; low or mean, high or deviation, seed?, prototype)
Value random_numbers(const Args& args) {
  auto random = generator(args, 4);
  auto result = args.make(args.tensor(5)->dtype, args.integers(0));
  const double a = args.number(2), b = args.number(3);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::normal_distribution<double> normal(0, 1);
  const bool is_normal = args.flag(1);
  for (size_t at = 0; at < count_of(*result); ++at)
    set_number(*result, at, is_normal ? a + b * normal(random) : a + (b - a) * uniform(random));
  return to_value(std::move(result));
}

// (log probabilities [batch, classes], samples, seed?, prototype)
Value multinomial(const Args& args) {
  auto random = generator(args, 2);
  const auto x = args.tensor(0);
  if (x->rank != 2 || x->dims()[1] < 1)
    args.fail(ErrorCode::ShapeMismatch, "log probabilities of shape {}", shape_text(x->dims()));
  const int64_t dims[] = {x->dims()[0], args.integer(1)};
  auto result = args.make(args.tensor(3)->dtype, dims);
  const auto classes = static_cast<size_t>(x->dims()[1]);
  size_t to = 0;
  for (size_t row = 0; row < static_cast<size_t>(dims[0]); ++row) {
    std::vector<double> weights(classes);
    for (size_t i = 0; i < classes; ++i) weights[i] = std::exp(get_number(*x, row * classes + i));
    std::discrete_distribution<int64_t> draw(weights.begin(), weights.end());
    for (int64_t i = 0; i < dims[1]; ++i) set_number(*result, to++, static_cast<double>(draw(random)));
  }
  return Value(std::move(result));
}

}  // namespace ingot::vm::builtins
