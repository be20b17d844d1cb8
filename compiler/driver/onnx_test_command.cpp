#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>

#include "compiler/driver/commands.h"
#include "compiler/onnx/test_folder.h"
#include "runtime/object/objects.h"
#include "runtime/tensor/compare.h"
#include "runtime/tensor/tensor.h"
#include "vm/interpreter/session.h"
#include "vm/loader/executable.h"

namespace ingot::driver {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::vector<std::string> folders;
  std::string known_failures;
  Tolerance tolerance{1e-3, 1e-7};
  double deadline_ms = 60000;
  bool quiet = false;
};

bool is_tensor(const Value& value) { return value.kind() == Kind::Tensor || value.kind() == Kind::Scalar; }

double largest(const TensorObject& tensor) {
  double result = 0;
  for (size_t i = 0; i < tensor.bytes / dtype_bytes(tensor.dtype); ++i) {
    double value = 0;
    if (tensor.dtype == DType::Float32) value = static_cast<double>(tensor.elements<float>()[i]);
    if (tensor.dtype == DType::Float64) value = tensor.elements<double>()[i];
    if (!std::isfinite(value)) return value;
    result = std::max(result, std::fabs(value));
  }
  return result;
}

// Random numbers: dtype, shape, and values of the same order of magnitude.
void compare_random(const TensorObject& actual, const TensorObject& expected) {
  if (actual.dtype != expected.dtype)
    fail(ErrorCode::TypeError, "dtype is {}, expected {}", dtype_name(actual.dtype), dtype_name(expected.dtype));
  if (!std::ranges::equal(actual.dims(), expected.dims()))
    fail(ErrorCode::ShapeMismatch, "shape is {}, expected {}", shape_text(actual.dims()), shape_text(expected.dims()));
  const double found = largest(actual), wanted = largest(expected);
  if (!(found <= 4 * wanted + 1))
    fail(ErrorCode::InvalidArgument, "values reach {}, expected are values up to {}", found, wanted);
}

void compare(const Value& actual, const Value& expected, const Options& options, bool random) {
  if (is_tensor(expected)) {
    if (!is_tensor(actual)) fail(ErrorCode::TypeError, "is a {}, expected a tensor", kind_name(actual.kind()));
    const auto a = to_tensor(nullptr, actual);
    const auto e = to_tensor(nullptr, expected);
    if (random) return compare_random(*a, *e);
    const Comparison comparison = compare_tensors(*a, *e, options.tolerance);
    if (!comparison.matches()) fail(ErrorCode::InvalidArgument, "{}", comparison_text(comparison));
    return;
  }
  if (actual.kind() != expected.kind())
    fail(ErrorCode::TypeError, "is a {}, expected a {}", kind_name(actual.kind()), kind_name(expected.kind()));
  if (expected.kind() != Kind::Tuple) return;
  const auto fields = actual.get<TupleObject>()->fields();
  const auto wanted = expected.get<TupleObject>()->fields();
  if (fields.size() != wanted.size())
    fail(ErrorCode::ShapeMismatch, "is a sequence of {}, expected {}", fields.size(), wanted.size());
  for (size_t i = 0; i < fields.size(); ++i)
    compare(Value::copy_of(fields[i]), Value::copy_of(wanted[i]), options, random);
}

void run_test(const onnx_import::TestFolder& test, const Options& options) {
  const auto data_sets = test.data_sets();
  ir::Diagnostics diagnostics;
  const auto executable = vm::Executable::from_program(compile(test.model(), {}, diagnostics));
  const auto session = vm::Session::create(executable);
  vm::RunOptions run;
  run.deadline = std::chrono::nanoseconds(static_cast<int64_t>(options.deadline_ms * 1e6));
  for (const auto& data : data_sets) {
    const Value result = session->run("main", data.inputs, run);
    for (size_t i = 0; i < data.outputs.size(); ++i) {
      const bool whole = data.outputs.size() == 1;
      if (!whole && (result.kind() != Kind::Tuple || result.get<TupleObject>()->size != data.outputs.size()))
        fail(ErrorCode::ArityMismatch, "the result is a {}, expected {} outputs", kind_name(result.kind()),
             data.outputs.size());
      const Value output = whole ? result : Value::copy_of(result.get<TupleObject>()->fields()[i]);
      try {
        compare(output, data.outputs[i], options, test.random());
      } catch (Error& error) {
        error.add_context(fmt::format("{}: output {}", data.path.filename().string(), i));
        throw;
      }
    }
  }
}

// Lines "folder/test: reason"; empty ones and those that begin with # are for readers.
std::map<std::string, std::string> read_known_failures(const std::string& path) {
  std::map<std::string, std::string> known;
  if (path.empty()) return known;
  std::ifstream file(path);
  if (!file) fail(ErrorCode::Io, "{} cannot be read", path);
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.starts_with('#')) continue;
    const size_t colon = line.find(": ");
    if (colon == std::string::npos)
      fail(ErrorCode::InvalidArgument, "{}: '{}' has no reason; a line is 'folder/test: reason'", path, line);
    known[line.substr(0, colon)] = line.substr(colon + 2);
  }
  return known;
}

// One line without the model's path, which the name of the test tells.
std::string one_line(std::string text, const std::string& model) {
  if (const size_t at = text.find(model + ": "); at != std::string::npos) text.erase(at, model.size() + 2);
  // Unsupported operators come one a line.
  for (size_t at = text.find("\n  "); at != std::string::npos; at = text.find("\n  ")) text.replace(at, 3, " ");
  return text.substr(0, text.find('\n'));
}

struct Total {
  size_t passed = 0, tests = 0;
};

int run_all(const Options& options) {
  const auto known = read_known_failures(options.known_failures);
  std::map<std::string, Total> totals;
  size_t surprises = 0;
  for (const auto& folder : options.folders) {
    for (const auto& path : onnx_import::find_test_folders(fs::path(folder).lexically_normal())) {
      const std::string collection = fs::absolute(path).parent_path().filename().string();
      const std::string name = fmt::format("{}/{}", collection, path.filename().string());
      std::string error;
      try {
        run_test(onnx_import::TestFolder(path), options);
      } catch (const Error& failure) {
        error = one_line(fmt::format("[{}] {}", failure.label(), failure.what()), (path / "model.onnx").string());
      }
      Total& total = totals[collection];
      ++total.tests;
      if (error.empty()) ++total.passed;
      const bool expected = known.contains(name);
      const bool surprise = error.empty() == expected;
      if (surprise) ++surprises;
      if (options.quiet && !surprise) continue;
      if (!error.empty()) {
        tool::print_line(fmt::format("{} {}: {}", expected ? "known failure" : "FAILED", name, error));
      } else {
        tool::print_line(expected ? fmt::format("FAILED {}: it passes, but is listed as a known failure", name)
                                  : fmt::format("passed {}", name));
      }
    }
  }
  for (const auto& [collection, total] : totals)
    tool::print_line(fmt::format("{}: {} of {} passed", collection, total.passed, total.tests));
  return surprises == 0 ? 0 : 1;
}

}  // namespace

tool::Tool::Command configure_onnx_test(CLI::App& command, const tool::Sources&) {
  const auto options = std::make_shared<Options>();
  command
      .add_option("DIR", options->folders,
                  "test folders (model.onnx, test_data_set_N/input_K.pb, output_K.pb), or folders of such folders")
      ->required();
  command.add_option("--known-failures", options->known_failures,
                     "a file with lines 'folder/test: reason': the run succeeds if exactly these fail");
  command.add_option("--rtol", options->tolerance.rtol, "relative tolerance")->capture_default_str();
  command.add_option("--atol", options->tolerance.atol, "absolute tolerance")->capture_default_str();
  command.add_option("--deadline", options->deadline_ms, "for one run, in milliseconds")->capture_default_str();
  command.add_flag("--quiet", options->quiet, "only what is not as expected, and the totals");
  return [options] {
    int code = 0;
    on_large_stack([&] { code = run_all(*options); });
    return code;
  };
}

}  // namespace ingot::driver
