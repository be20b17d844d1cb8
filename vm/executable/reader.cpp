#include "vm/executable/reader.h"

#include <algorithm>
#include <map>
#include <optional>

#include "runtime/base/bytes.h"
#include "runtime/base/error.h"
#include "runtime/symbolic/codec.h"
#include "runtime/tir/codec.h"
#include "vm/executable/format.h"
#include "vm/executable/layout.h"

namespace ingot::vm {
namespace {

using format::Section;

// An enumerator that the file may contain: not above `last`.
template <typename Enum>
Enum get_enum(ByteReader& in, Enum last, std::string_view what) {
  const size_t at = in.offset();
  const auto value = in.get<std::underlying_type_t<Enum>>();
  if (value > static_cast<std::underlying_type_t<Enum>>(last))
    fail(ErrorCode::CorruptFile, "byte {}: {} {} does not exist, the last is {}", at, what, value,
         static_cast<unsigned>(last));
  return static_cast<Enum>(value);
}

constexpr size_t kContracts = 0
#define CONTRACT(...) +1
#define KERNEL(...)
#include "runtime/kernels/kernels.def"
    ;

// The copied bytes of one section, and its reader.
struct OpenSection {
  OpenSection(std::vector<std::byte> copied, std::string name)
      : bytes(std::move(copied)), what("section '" + name + "'"), in(bytes, what) {}
  OpenSection(const OpenSection&) = delete;
  OpenSection& operator=(const OpenSection&) = delete;

  std::vector<std::byte> bytes;
  std::string what;
  ByteReader in;
};

class ProgramReader {
 public:
  explicit ProgramReader(const FileBytes& file) : file_(file), layout_(read_layout(file.bytes)) {
    // Names are written once and used often: without a limit, a small file could ask for much memory.
    names_left_ = (size_t{1} << 20) + 32 * file.bytes.size();
  }

  Program read();

 private:
  const SectionInfo* find(Section id) const;
  std::span<const std::byte> section_bytes(const SectionInfo& section) const;
  void check_sum(const SectionInfo& section, std::span<const std::byte> bytes) const;
  // Runs `parse` over a copy of the section, which it must use up. Errors get the section's name.
  template <typename Parse>
  void with(Section id, Parse&& parse);

  void check_features();
  void read_strings(ByteReader& in);
  std::string name(ByteReader& in);
  void read_records(ByteReader& in);
  void read_signatures(ByteReader& in);
  void read_tables(ByteReader& in);
  void read_function_tables(ByteReader& in, Function& function, const SymVarTable& vars);
  void read_code(ByteReader& in);
  Constant read_constant(ByteReader& in, std::span<const std::byte> data);
  void read_constants(ByteReader& in);
  void read_kernels(ByteReader& in);
  Attribute read_attribute(ByteReader& in);
  void read_imports(ByteReader& in);
  void read_metadata(ByteReader& in);
  void read_debug(ByteReader& in);
  void read_bounds(ByteReader& in);

  const FileBytes& file_;
  FileLayout layout_;
  Program program_;
  std::vector<std::byte> string_bytes_;
  std::vector<std::string_view> strings_;
  size_t names_left_;
  std::vector<uint32_t> code_units_;
  std::vector<SymVarTable> vars_;
};

const SectionInfo* ProgramReader::find(Section id) const {
  const auto at = std::ranges::find(layout_.sections, static_cast<uint32_t>(id), &SectionInfo::id);
  return at == layout_.sections.end() ? nullptr : &*at;
}

std::span<const std::byte> ProgramReader::section_bytes(const SectionInfo& section) const {
  return file_.bytes.subspan(section.offset, section.bytes);
}

void ProgramReader::check_sum(const SectionInfo& section, std::span<const std::byte> bytes) const {
  const uint64_t sum = checksum(bytes);
  if (sum != section.checksum)
    fail(ErrorCode::CorruptFile, "section '{}' has checksum {:016x}, its bytes give {:016x}", section.name,
         section.checksum, sum);
}

template <typename Parse>
void ProgramReader::with(Section id, Parse&& parse) {
  const SectionInfo& section = *find(id);
  const auto mapped = section_bytes(section);
  OpenSection open({mapped.begin(), mapped.end()}, section.name);
  check_sum(section, open.bytes);
  try {
    parse(open.in);
    open.in.expect_done();
  } catch (Error& error) {
    if (!std::string_view(error.what()).starts_with(open.what)) error.add_context(open.what);
    throw;
  }
}

Program ProgramReader::read() {
  check_features();
  for (const format::SectionName& section : format::kSections)
    if (section.required && find(section.id) == nullptr)
      fail(ErrorCode::CorruptFile, "section '{}' is missing", section.name);

  with(Section::Strings, [&](ByteReader& in) { read_strings(in); });
  with(Section::Functions, [&](ByteReader& in) { read_records(in); });
  with(Section::Signatures, [&](ByteReader& in) { read_signatures(in); });
  with(Section::Tables, [&](ByteReader& in) { read_tables(in); });
  with(Section::Code, [&](ByteReader& in) { read_code(in); });
  with(Section::Constants, [&](ByteReader& in) { read_constants(in); });
  with(Section::PrimFuncs, [&](ByteReader& in) {
    const uint32_t count = in.get_count(4);
    for (uint32_t i = 0; i < count; ++i)
      program_.prim_funcs.push_back(std::make_shared<const tir::PrimFunc>(tir::decode_prim_func(in)));
  });
  with(Section::Kernels, [&](ByteReader& in) { read_kernels(in); });
  with(Section::Imports, [&](ByteReader& in) { read_imports(in); });
  with(Section::Metadata, [&](ByteReader& in) { read_metadata(in); });
  if (find(Section::Debug) != nullptr) with(Section::Debug, [&](ByteReader& in) { read_debug(in); });
  if (find(Section::Bounds) != nullptr) with(Section::Bounds, [&](ByteReader& in) { read_bounds(in); });
  program_.owners.push_back(file_.owner);
  return std::move(program_);
}

// The names come from the file, so that a reader can tell which feature it lacks.
void ProgramReader::check_features() {
  const uint64_t unknown =
      format::kFeatures.size() >= 64 ? 0 : layout_.features & ~((uint64_t{1} << format::kFeatures.size()) - 1);
  if (unknown == 0) return;
  const auto bit = static_cast<size_t>(std::countr_zero(unknown));
  std::string feature = fmt::format("number {}", bit);
  if (find(Section::Features) != nullptr)
    with(Section::Features, [&](ByteReader& in) {
      const uint32_t count = in.get_count(5);
      for (uint32_t i = 0; i < count; ++i) {
        const auto which = in.get<uint8_t>();
        const std::string_view text = in.get_string();
        if (which == bit) feature = fmt::format("'{}'", text);
      }
    });
  fail(ErrorCode::Unsupported, "the file needs feature {}, which this build does not have", feature);
}

void ProgramReader::read_strings(ByteReader& in) {
  const uint32_t count = in.get_count(4);
  const size_t first = in.offset();
  const auto rest = in.get_bytes(in.left());
  string_bytes_.assign(rest.begin(), rest.end());
  const std::string what = fmt::format("section 'strings' behind byte {}", first);
  ByteReader texts(string_bytes_, what);
  strings_.reserve(count);
  for (uint32_t i = 0; i < count; ++i) strings_.push_back(texts.get_string());
  texts.expect_done();
}

std::string ProgramReader::name(ByteReader& in) {
  const size_t at = in.offset();
  const auto id = in.get<uint32_t>();
  if (id >= strings_.size())
    fail(ErrorCode::CorruptFile, "byte {}: string {} does not exist, there are {}", at, id, strings_.size());
  if (strings_[id].size() > names_left_)
    fail(ErrorCode::CorruptFile, "byte {}: names take more than {} bytes, 32 for each of the file", at,
         (size_t{1} << 20) + 32 * file_.bytes.size());
  names_left_ -= strings_[id].size();
  return std::string(strings_[id]);
}

void ProgramReader::read_records(ByteReader& in) {
  constexpr size_t kRecordBytes = 24;
  program_.functions.resize(in.get_count(kRecordBytes));
  for (Function& function : program_.functions) {
    function.name = name(in);
    const size_t at = in.offset();
    const auto flags = in.get<uint32_t>();
    if ((flags & ~(format::kExported | format::kPure)) != 0)
      fail(ErrorCode::CorruptFile, "byte {}: function '{}' has unknown flags {:#x}", at, function.name, flags);
    function.exported = (flags & format::kExported) != 0;
    function.pure = (flags & format::kPure) != 0;
    function.params = in.get<uint32_t>();
    function.captures = in.get<uint32_t>();
    function.registers = in.get<uint32_t>();
    code_units_.push_back(in.get<uint32_t>());
  }
}

void ProgramReader::read_signatures(ByteReader& in) {
  vars_.resize(program_.functions.size());
  for (size_t i = 0; i < program_.functions.size(); ++i) {
    Function& function = program_.functions[i];
    const uint32_t vars = in.get_count(4);
    for (uint32_t k = 0; k < vars; ++k) vars_[i].add(make_sym_var(name(in)));
    function.vars.assign(vars_[i].vars().begin(), vars_[i].vars().end());
    function.signature = decode_struct_info(in, vars_[i]);
    const uint32_t params = in.get_count(4);
    for (uint32_t k = 0; k < params; ++k) function.param_names.push_back(name(in));
  }
}

void ProgramReader::read_tables(ByteReader& in) {
  for (size_t i = 0; i < program_.functions.size(); ++i) read_function_tables(in, program_.functions[i], vars_[i]);
}

void ProgramReader::read_function_tables(ByteReader& in, Function& function, const SymVarTable& vars) {
  const uint32_t storages = in.get_count(5);
  for (uint32_t i = 0; i < storages; ++i) {
    Storage storage{get_enum(in, DType::String, "dtype"), {}};
    const uint32_t rank = in.get_count(1);
    for (uint32_t k = 0; k < rank; ++k) storage.dims.push_back(decode_prim_expr(in, vars));
    function.storages.push_back(std::move(storage));
  }
  const uint32_t checks = in.get_count(5);
  for (uint32_t i = 0; i < checks; ++i) {
    Check check{decode_struct_info(in, vars), {}};
    const uint32_t binds = in.get_count(1);
    for (uint32_t k = 0; k < binds; ++k) {
      const size_t at = in.offset();
      const auto flag = in.get<uint8_t>();
      if (flag > 1) fail(ErrorCode::CorruptFile, "byte {}: a flag is {}, not 0 or 1", at, flag);
      check.binds.push_back(flag == 1);
    }
    function.checks.push_back(std::move(check));
  }
  const uint32_t exprs = in.get_count(1);
  for (uint32_t i = 0; i < exprs; ++i) function.exprs.push_back(decode_prim_expr(in, vars));
  const uint32_t loops = in.get_count(8);
  for (uint32_t i = 0; i < loops; ++i) {
    LoopHeader loop{in.get<uint32_t>(), {}};
    const uint32_t registers = in.get_count(5);
    for (uint32_t k = 0; k < registers; ++k)
      loop.registers.push_back({in.get<Register>(), get_enum(in, Kind::Object, "kind"),
                                get_enum(in, DType::String, "dtype"), get_enum(in, Holding::Kept, "holding")});
    function.loops.push_back(std::move(loop));
  }
}

void ProgramReader::read_code(ByteReader& in) {
  for (size_t i = 0; i < program_.functions.size(); ++i) {
    const auto bytes = in.get_bytes(size_t{code_units_[i]} * sizeof(CodeUnit));
    std::vector<CodeUnit>& code = program_.functions[i].code;
    code.resize(code_units_[i]);
    std::ranges::copy(bytes, reinterpret_cast<std::byte*>(code.data()));
  }
}

Constant ProgramReader::read_constant(ByteReader& in, std::span<const std::byte> data) {
  Constant constant;
  constant.kind = get_enum(in, Kind::Object, "kind");
  constant.dtype = get_enum(in, DType::String, "dtype");
  if (constant.kind == Kind::Scalar || constant.kind == Kind::Prim || constant.kind == Kind::DType)
    constant.bits = in.get<uint64_t>();
  if (constant.kind == Kind::Tensor || constant.kind == Kind::Shape) {
    const uint32_t rank = in.get_count(8);
    for (uint32_t i = 0; i < rank; ++i) constant.dims.push_back(in.get<int64_t>());
  }
  if (constant.kind == Kind::String) constant.text = in.get_string();
  if (constant.kind != Kind::Tensor) return constant;
  if (constant.dtype == DType::String) {
    const uint32_t count = in.get_count(4);
    for (uint32_t i = 0; i < count; ++i) constant.strings.emplace_back(in.get_string());
    return constant;
  }
  const size_t at = in.offset();
  const auto offset = in.get<uint64_t>();
  const auto bytes = in.get<uint64_t>();
  if (offset > data.size() || bytes > data.size() - offset)
    fail(ErrorCode::CorruptFile, "byte {}: a constant of {} bytes begins at byte {} of section 'data', which has {}",
         at, bytes, offset, data.size());
  if (offset % format::kAlignment != 0)
    fail(ErrorCode::CorruptFile, "byte {}: a constant begins at byte {}, which is no multiple of {}", at, offset,
         format::kAlignment);
  constant.bytes = data.subspan(offset, bytes);
  return constant;
}

void ProgramReader::read_constants(ByteReader& in) {
  const SectionInfo& section = *find(Section::Data);
  std::span<const std::byte> data = section_bytes(section);
  check_sum(section, data);
  if (reinterpret_cast<uintptr_t>(data.data()) % format::kAlignment != 0) {
    const FileBytes copy = copy_bytes(data);
    data = copy.bytes;
    program_.owners.push_back(copy.owner);
  }
  const uint32_t count = in.get_count(2);
  for (uint32_t i = 0; i < count; ++i) program_.constants.push_back(read_constant(in, data));
}

Attribute ProgramReader::read_attribute(ByteReader& in) {
  switch (get_enum(in, format::AttributeType::Integers, "type of an attribute")) {
    case format::AttributeType::Integer:
      return in.get<int64_t>();
    case format::AttributeType::Number:
      return in.get<double>();
    case format::AttributeType::Text:
      return name(in);
    case format::AttributeType::Integers:
      break;
  }
  std::vector<int64_t> values(in.get_count(8));
  for (int64_t& value : values) value = in.get<int64_t>();
  return values;
}

void ProgramReader::read_kernels(ByteReader& in) {
  const uint32_t count = in.get_count(18);
  for (uint32_t i = 0; i < count; ++i) {
    KernelCall call{};
    call.contract = get_enum(in, static_cast<Contract>(kContracts - 1), "contract");
    call.inputs = in.get<uint16_t>();
    call.outputs = in.get<uint16_t>();
    const uint32_t attributes = in.get_count(9);
    for (uint32_t k = 0; k < attributes; ++k) {
      std::string key = name(in);
      call.attributes.push_back({std::move(key), read_attribute(in)});
    }
    const uint32_t post_ops = in.get_count(17);
    for (uint32_t k = 0; k < post_ops; ++k) {
      const auto kind = get_enum(in, static_cast<PostOpKind>(kPostOpKindCount - 1), "post-op");
      const auto alpha = in.get<double>();
      call.post_ops.push_back({kind, alpha, in.get<double>()});
    }
    const size_t at = in.offset();
    const auto func = in.get<uint32_t>();
    if (func != format::kNone) {
      if (func >= program_.prim_funcs.size())
        fail(ErrorCode::CorruptFile, "byte {}: PrimFunc {} does not exist, there are {}", at, func,
             program_.prim_funcs.size());
      call.prim_func = program_.prim_funcs[func];
    }
    program_.kernels.push_back(std::move(call));
  }
}

void ProgramReader::read_imports(ByteReader& in) {
  const uint32_t count = in.get_count(8);
  for (uint32_t i = 0; i < count; ++i) {
    Import import{name(in), {}};
    import.writes.resize(in.get_count(4));
    for (uint32_t& index : import.writes) index = in.get<uint32_t>();
    program_.imports.push_back(std::move(import));
  }
}

void ProgramReader::read_metadata(ByteReader& in) {
  const uint32_t count = in.get_count(8);
  for (uint32_t i = 0; i < count; ++i) {
    std::string key = name(in);
    program_.metadata.emplace_back(std::move(key), name(in));
  }
}

void ProgramReader::read_debug(ByteReader& in) {
  for (Function& function : program_.functions) {
    function.source = name(in);
    const uint32_t spans = in.get_count(12);
    for (uint32_t i = 0; i < spans; ++i) {
      const auto unit = in.get<uint32_t>();
      const auto line = in.get<uint32_t>();
      function.spans.push_back({unit, line, in.get<uint32_t>()});
    }
  }
}

void ProgramReader::read_bounds(ByteReader& in) {
  const uint32_t count = in.get_count(16);
  for (uint32_t i = 0; i < count; ++i) {
    const size_t at = in.offset();
    const auto function = in.get<uint32_t>();
    if (function >= program_.functions.size())
      fail(ErrorCode::CorruptFile, "byte {}: function {} does not exist, there are {}", at, function,
           program_.functions.size());
    const auto var = in.get<uint32_t>();
    program_.functions[function].bounds.push_back({var, in.get<int64_t>()});
  }
}

}  // namespace

Program read_program(const FileBytes& file) { return ProgramReader(file).read(); }

Program load_program(const std::filesystem::path& path, bool copy) {
  try {
    return read_program(copy ? read_file(path) : map_file(path));
  } catch (Error& error) {
    if (error.code() != ErrorCode::Io) error.add_context(path.string());
    throw;
  }
}

}  // namespace ingot::vm
