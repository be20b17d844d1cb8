#include "vm/executable/writer.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>

#include <xxhash.h>

#include "runtime/base/bytes.h"
#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "runtime/symbolic/codec.h"
#include "runtime/tir/codec.h"
#include "vm/executable/format.h"
#include "vm/executable/layout.h"

namespace ingot::vm {
namespace {

using format::Section;

// A count or size that the format keeps in 32 bits.
uint32_t narrow(size_t value) {
  if (value >= format::kNone) fail(ErrorCode::Internal, "{} does not fit into the executable format", value);
  return static_cast<uint32_t>(value);
}

constexpr size_t align_up(size_t value) { return (value + format::kAlignment - 1) & ~(format::kAlignment - 1); }

// Names, each once, in order of first use.
class StringTable {
 public:
  uint32_t id_of(std::string_view text) {
    const auto at = ids_.find(text);
    if (at != ids_.end()) return at->second;
    const uint32_t id = narrow(ids_.size());
    ids_.emplace(std::string(text), id);
    texts_.put_string(text);
    return id;
  }
  void write(ByteWriter& out) const {
    out.put(narrow(ids_.size()));
    out.put_bytes(texts_.bytes());
  }

 private:
  std::map<std::string, uint32_t, std::less<>> ids_;
  ByteWriter texts_;
};

// All sections but Data, which stays where the constants have it.
class ProgramWriter {
 public:
  explicit ProgramWriter(const Program& program) : program_(program) {
    write_functions();
    write_constants();
    write_prim_funcs();
    write_kernels();
    write_imports();
    write_metadata();
    write_debug();
    write_bounds();
    strings_.write(section(Section::Strings));
  }

  void emit(const ByteSink& sink) const;

 private:
  struct DataChunk {
    size_t offset;
    std::span<const std::byte> bytes;
  };

  ByteWriter& section(Section id) { return sections_[id]; }
  void write_functions();
  void write_tables(const Function& function, ByteWriter& out, SymVarTable& vars);
  void write_constants();
  void write_prim_funcs();
  void write_kernels();
  void write_imports();
  void write_metadata();
  void write_debug();
  void write_bounds();
  void emit_data(const ByteSink& sink) const;

  const Program& program_;
  std::map<Section, ByteWriter> sections_;
  StringTable strings_;
  std::vector<DataChunk> data_;
  size_t data_bytes_ = 0;
};

void ProgramWriter::write_functions() {
  ByteWriter& records = section(Section::Functions);
  ByteWriter& signatures = section(Section::Signatures);
  ByteWriter& tables = section(Section::Tables);
  ByteWriter& code = section(Section::Code);
  records.put(narrow(program_.functions.size()));
  for (const Function& function : program_.functions) {
    records.put(strings_.id_of(function.name));
    records.put((function.exported ? format::kExported : 0) | (function.pure ? format::kPure : 0));
    records.put(function.params);
    records.put(function.captures);
    records.put(function.registers);
    records.put(narrow(function.code.size()));

    SymVarTable vars;
    for (const SymVar& var : function.vars) vars.id_of(var);
    ByteWriter signature;
    encode(signature, function.signature, vars);
    write_tables(function, tables, vars);
    signatures.put(narrow(vars.vars().size()));
    for (const SymVar& var : vars.vars()) signatures.put(strings_.id_of(var->name));
    signatures.put_bytes(signature.bytes());
    signatures.put(narrow(function.param_names.size()));
    for (const std::string& name : function.param_names) signatures.put(strings_.id_of(name));

    code.put_bytes(std::as_bytes(std::span(function.code)));
  }
}

void ProgramWriter::write_tables(const Function& function, ByteWriter& out, SymVarTable& vars) {
  out.put(narrow(function.storages.size()));
  for (const Storage& storage : function.storages) {
    out.put(storage.dtype);
    out.put(narrow(storage.dims.size()));
    for (const PrimExpr& dim : storage.dims) encode(out, dim, vars);
  }
  out.put(narrow(function.checks.size()));
  for (const Check& check : function.checks) {
    encode(out, check.info, vars);
    out.put(narrow(check.binds.size()));
    for (const bool binds : check.binds) out.put(static_cast<uint8_t>(binds));
  }
  out.put(narrow(function.exprs.size()));
  for (const PrimExpr& expr : function.exprs) encode(out, expr, vars);
  out.put(narrow(function.loops.size()));
  for (const LoopHeader& loop : function.loops) {
    out.put(loop.unit);
    out.put(narrow(loop.registers.size()));
    for (const LoopRegister& reg : loop.registers) {
      out.put(reg.index);
      out.put(reg.kind);
      out.put(reg.dtype);
      out.put(reg.holding);
    }
  }
}

void ProgramWriter::write_constants() {
  ByteWriter& out = section(Section::Constants);
  out.put(narrow(program_.constants.size()));
  for (const Constant& constant : program_.constants) {
    out.put(constant.kind);
    out.put(constant.dtype);
    if (constant.kind == Kind::Scalar || constant.kind == Kind::Prim || constant.kind == Kind::DType)
      out.put(constant.bits);
    if (constant.kind == Kind::Tensor || constant.kind == Kind::Shape) {
      out.put(narrow(constant.dims.size()));
      for (const int64_t dim : constant.dims) out.put(dim);
    }
    if (constant.kind == Kind::String) out.put_string(constant.text);
    if (constant.kind != Kind::Tensor) continue;
    if (constant.dtype == DType::String) {
      out.put(narrow(constant.strings.size()));
      for (const std::string& text : constant.strings) out.put_string(text);
      continue;
    }
    data_bytes_ = align_up(data_bytes_);
    out.put(uint64_t{data_bytes_});
    out.put(uint64_t{constant.bytes.size()});
    data_.push_back({data_bytes_, constant.bytes});
    data_bytes_ += constant.bytes.size();
  }
}

void ProgramWriter::write_prim_funcs() {
  ByteWriter& out = section(Section::PrimFuncs);
  out.put(narrow(program_.prim_funcs.size()));
  for (const tir::PrimFuncRef& func : program_.prim_funcs) tir::encode(out, *func);
}

void ProgramWriter::write_kernels() {
  ByteWriter& out = section(Section::Kernels);
  std::map<const tir::PrimFunc*, uint32_t> positions;
  for (size_t i = 0; i < program_.prim_funcs.size(); ++i) positions.emplace(program_.prim_funcs[i].get(), narrow(i));
  out.put(narrow(program_.kernels.size()));
  for (const KernelCall& call : program_.kernels) {
    out.put(call.contract);
    out.put(call.inputs);
    out.put(call.outputs);
    out.put(narrow(call.attributes.size()));
    for (const NamedAttribute& attribute : call.attributes) {
      out.put(strings_.id_of(attribute.name));
      out.put(static_cast<uint8_t>(attribute.value.index()));
      if (const auto* integer = std::get_if<int64_t>(&attribute.value)) out.put(*integer);
      if (const auto* number = std::get_if<double>(&attribute.value)) out.put(*number);
      if (const auto* text = std::get_if<std::string>(&attribute.value)) out.put(strings_.id_of(*text));
      if (const auto* integers = std::get_if<std::vector<int64_t>>(&attribute.value)) {
        out.put(narrow(integers->size()));
        for (const int64_t value : *integers) out.put(value);
      }
    }
    out.put(narrow(call.post_ops.size()));
    for (const PostOp& op : call.post_ops) {
      out.put(op.kind);
      out.put(op.alpha);
      out.put(op.beta);
    }
    if (call.prim_func == nullptr) {
      out.put(format::kNone);
      continue;
    }
    const auto at = positions.find(call.prim_func.get());
    if (at == positions.end())
      fail(ErrorCode::Internal, "a kernel call names PrimFunc '{}', which the program does not list",
           call.prim_func->name);
    out.put(at->second);
  }
}

void ProgramWriter::write_imports() {
  ByteWriter& out = section(Section::Imports);
  out.put(narrow(program_.imports.size()));
  for (const Import& import : program_.imports) {
    out.put(strings_.id_of(import.name));
    out.put(narrow(import.writes.size()));
    for (const uint32_t index : import.writes) out.put(index);
  }
}

void ProgramWriter::write_metadata() {
  ByteWriter& out = section(Section::Metadata);
  auto metadata = program_.metadata;
  std::ranges::sort(metadata);
  out.put(narrow(metadata.size()));
  for (const auto& [key, value] : metadata) {
    out.put(strings_.id_of(key));
    out.put(strings_.id_of(value));
  }
}

void ProgramWriter::write_debug() {
  const auto has_debug = [](const Function& f) { return !f.spans.empty() || !f.source.empty(); };
  if (std::ranges::none_of(program_.functions, has_debug)) return;
  ByteWriter& out = section(Section::Debug);
  for (const Function& function : program_.functions) {
    out.put(strings_.id_of(function.source));
    out.put(narrow(function.spans.size()));
    for (const SourceSpan& span : function.spans) {
      out.put(span.unit);
      out.put(span.line);
      out.put(span.column);
    }
  }
}

void ProgramWriter::write_bounds() {
  size_t count = 0;
  for (const Function& function : program_.functions) count += function.bounds.size();
  if (count == 0) return;
  ByteWriter& out = section(Section::Bounds);
  out.put(narrow(count));
  for (size_t i = 0; i < program_.functions.size(); ++i)
    for (const Bound& bound : program_.functions[i].bounds) {
      out.put(narrow(i));
      out.put(bound.var);
      out.put(bound.most);
    }
}

constexpr std::array<std::byte, format::kAlignment> kZeros{};

void ProgramWriter::emit_data(const ByteSink& sink) const {
  size_t at = 0;
  for (const DataChunk& chunk : data_) {
    sink(std::span(kZeros).first(chunk.offset - at));
    sink(chunk.bytes);
    at = chunk.offset + chunk.bytes.size();
  }
}

uint64_t checksum_of_pieces(const std::function<void(const ByteSink&)>& produce) {
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(), &XXH3_freeState);
  if (state == nullptr) fail(ErrorCode::OutOfMemory, "no memory for a checksum");
  XXH3_64bits_reset(state.get());
  produce([&](std::span<const std::byte> piece) { XXH3_64bits_update(state.get(), piece.data(), piece.size()); });
  return XXH3_64bits_digest(state.get());
}

void ProgramWriter::emit(const ByteSink& sink) const {
  std::vector<format::SectionEntry> entries;
  size_t end = sizeof(format::FileHeader) + (sections_.size() + 1) * sizeof(format::SectionEntry);
  const auto add = [&](Section id, size_t bytes, uint64_t sum) {
    const uint32_t flags = id == Section::Debug ? 0 : format::kRequired;
    entries.push_back({static_cast<uint32_t>(id), flags, align_up(end), bytes, sum});
    end = align_up(end) + bytes;
  };
  const auto add_data = [&] {
    add(Section::Data, data_bytes_, checksum_of_pieces([&](const ByteSink& piece) { emit_data(piece); }));
  };
  const auto behind_data = sections_.upper_bound(Section::Data);
  for (auto at = sections_.begin(); at != sections_.end(); ++at) {
    if (at == behind_data) add_data();
    add(at->first, at->second.size(), checksum(at->second.bytes()));
  }
  if (behind_data == sections_.end()) add_data();

  format::FileHeader header{format::kMagic, format::kVersion, static_cast<uint32_t>(entries.size()), 0, end, {}, 0};
  ByteWriter head;
  head.put_bytes(std::as_bytes(std::span(&header, 1)));
  head.put_bytes(std::as_bytes(std::span(entries)));
  std::vector<std::byte> head_bytes = head.take();
  seal_head(head_bytes);
  sink(head_bytes);
  size_t at = head_bytes.size();
  for (const format::SectionEntry& entry : entries) {
    sink(std::span(kZeros).first(entry.offset - at));
    const auto content = sections_.find(static_cast<Section>(entry.id));
    if (content != sections_.end())
      sink(content->second.bytes());
    else
      emit_data(sink);
    at = entry.offset + entry.bytes;
  }
}

}  // namespace

std::vector<std::byte> write_program(const Program& program) {
  const ProgramWriter writer(program);
  std::vector<std::byte> file;
  writer.emit([&](std::span<const std::byte> piece) { file.insert(file.end(), piece.begin(), piece.end()); });
  return file;
}

void save_program(const Program& program, const std::filesystem::path& path) {
  const ProgramWriter writer(program);
  save_file(path, [&](const ByteSink& sink) { writer.emit(sink); });
}

}  // namespace ingot::vm
