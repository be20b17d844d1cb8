#include "compiler/driver/compile.h"

#include "compiler/codegen/codegen.h"
#include "compiler/onnx/import.h"
#include "compiler/text/parser.h"
#include "compiler/transform/pipeline.h"
#include "runtime/base/file.h"
#include "runtime/base/stack.h"
#include "runtime/tensor/npy.h"
#include "runtime/tensor/npz.h"

namespace ingot::driver {
namespace {

// Walks over programs recurse as deep as expressions are nested, which the parser limits.
constexpr size_t kCompilerStack = size_t{512} << 20;

// `Constant(file("w.npz:name"))`: relative to the folder of the program.
Ref<TensorObject> load_constant(const std::filesystem::path& folder, std::string_view name) {
  const size_t colon = name.rfind(':');
  const std::filesystem::path path = folder / name.substr(0, colon);
  if (path.extension() == ".npy") return read_npy(folder / name);
  if (colon == std::string_view::npos)
    fail(ErrorCode::InvalidArgument, "file(\"{}\"): name a tensor of the archive behind a colon", name);
  return read_npz(path, name.substr(colon + 1));
}

// The errors of a compilation as one Error whose text is what the tool prints behind the first label.
template <typename Body>
auto reported(const Body& body) {
  try {
    return body();
  } catch (const ir::CompileError& errors) {
    std::string text = ir::render(errors.errors());
    text.erase(0, text.find(": ") + 2);
    while (text.ends_with('\n')) text.pop_back();
    throw Error(errors.code(), std::move(text), errors.rule());
  }
}

ir::Module read(const std::filesystem::path& path, const CompileOptions& options, ir::Diagnostics& diagnostics) {
  if (path.extension() == ".onnx") return onnx_import::import_model(path, {options.shapes}, diagnostics);
  const FileBytes file = map_file(path);
  std::string text(reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size());
  auto source = std::make_shared<const ir::Source>(ir::Source{path.string(), std::move(text)});
  const auto load = [&](std::string_view name) { return load_constant(path.parent_path(), name); };
  return text::parse_module(std::move(source), diagnostics, {load});
}

transform::PassContext make_context(const CompileOptions& options) {
  transform::PassContext context;
  context.without = options.without;
  for (const auto& name : options.without) {
    const auto* pass = transform::find_pass(name);
    if (name != "all" && (pass == nullptr || !pass->optional))
      fail(ErrorCode::InvalidArgument, "--without: '{}' is not an optional pass", name);
  }
  return context;
}

}  // namespace

void on_large_stack(const std::function<void()>& body) { run_with_stack(kCompilerStack, body); }

ir::Module run_passes(const std::filesystem::path& path, const std::vector<std::string>& passes,
                      const CompileOptions& options, ir::Diagnostics& diagnostics) {
  return reported([&] {
    transform::PassContext context = make_context(options);
    ir::Module module = transform::run_passes(read(path, options, context.diagnostics), passes, context);
    diagnostics = std::move(context.diagnostics);
    return module;
  });
}

vm::Program compile(const std::filesystem::path& path, const CompileOptions& options, ir::Diagnostics& diagnostics) {
  return reported([&] {
    transform::PassContext context = make_context(options);
    const ir::Module module = transform::lower(read(path, options, context.diagnostics), context);
    vm::Program program = codegen::generate(module);
    program.metadata = {{"producer", "ingot " INGOT_VERSION}, {"source", path.filename().string()}};
    diagnostics = std::move(context.diagnostics);
    return program;
  });
}

}  // namespace ingot::driver
