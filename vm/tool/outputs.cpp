#include "vm/tool/outputs.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runtime/base/convert.h"
#include "runtime/base/error.h"
#include "runtime/tensor/compare.h"
#include "runtime/tensor/npy.h"
#include "runtime/tensor/value_text.h"
#include "vm/tool/forms.h"
#include "vm/tool/tool.h"

namespace ingot::tool {
namespace {

const Output& at(std::span<const Output> outputs, size_t index, std::string_view option) {
  if (index >= outputs.size())
    fail(ErrorCode::InvalidArgument, "{} was given {} times, the result has {} outputs", option, index + 1,
         outputs.size());
  return outputs[index];
}

const TensorObject& tensor_of(const Output& output, size_t index) {
  if (!output.tensor) fail(ErrorCode::TypeError, "output {} is no tensor of numbers: {}", index, output.text);
  return *output.tensor;
}

bool compare(const TensorObject& actual, size_t index, const std::string& expected_form, const OutputOptions& options) {
  const bool is_file = expected_form.ends_with(".npy") || expected_form.find(".npz:") != std::string::npos;
  const std::string form = is_file && !expected_form.starts_with('@') ? "@" + expected_form : expected_form;
  const auto expected = to_tensor(nullptr, parse_form(form, "", 0));
  const Comparison comparison = compare_tensors(actual, *expected, {options.rtol, options.atol});
  const std::string text = fmt::format("output {}: {}", index, comparison_text(comparison));
  if (comparison.matches()) {
    if (!options.json) print_line(text);
  } else {
    report("WrongResult", text);
  }
  return comparison.matches();
}

nlohmann::json json_of(const Output& output) {
  if (!output.tensor) return {{"text", output.text}};
  const TensorObject& tensor = *output.tensor;
  nlohmann::json elements = nlohmann::json::array();
  with_element(tensor.dtype, [&]<typename T>() {
    for (size_t i = 0; i < tensor.bytes / sizeof(T); ++i)
      elements.push_back(widen(load_element<T>(tensor.data + i * sizeof(T))));
  });
  return {{"dtype", dtype_name(tensor.dtype)},
          {"dims", std::vector<int64_t>(tensor.dims().begin(), tensor.dims().end())},
          {"elements", std::move(elements)}};
}

}  // namespace

Output output_of(const api::Value& value) { return {value.to_string(), to_runtime_tensor(value)}; }

Output output_of(const Value& value) {
  const bool numbers = value.kind() == Kind::Scalar ||
                       (value.kind() == Kind::Tensor && value.get<TensorObject>()->dtype != DType::String);
  return {value_text(value), numbers ? to_tensor(nullptr, value) : Ref<TensorObject>()};
}

void add_output_options(CLI::App& command, OutputOptions& options) {
  command.add_option("--output", options.files, "write an output to this .npy file; repeats by position")
      ->allow_extra_args(false);
  command
      .add_option("--expected", options.expected,
                  "compare an output with this .npy file, .npz:name or text form; repeats by position")
      ->allow_extra_args(false);
  command.add_option("--rtol", options.rtol, "relative tolerance of --expected")->capture_default_str();
  command.add_option("--atol", options.atol, "absolute tolerance of --expected")->capture_default_str();
  command.add_flag("--json", options.json, "print outputs as JSON");
}

int deliver(std::span<const Output> outputs, const OutputOptions& options) {
  for (size_t i = 0; i < options.files.size(); ++i)
    write_npy(options.files[i], tensor_of(at(outputs, i, "--output"), i));
  bool right = true;
  for (size_t i = 0; i < options.expected.size(); ++i)
    right &= compare(tensor_of(at(outputs, i, "--expected"), i), i, options.expected[i], options);
  if (options.json) {
    nlohmann::json all = nlohmann::json::array();
    for (const Output& output : outputs) all.push_back(json_of(output));
    nlohmann::json document = {{"outputs", std::move(all)}};
    if (!options.expected.empty()) document["matches"] = right;
    print_line(document.dump());
  } else if (options.files.empty() && options.expected.empty()) {
    for (const Output& output : outputs) print_line(output.text);
  }
  return right ? 0 : 1;
}

}  // namespace ingot::tool
