#pragma once
#include <string>
#include <vector>

#include "runtime/base/convert.h"
#include "vm/executable/program.h"
#include "vm/interpreter/session.h"
#include "vm/isa/encode.h"

// Small programs written with the encoder.
namespace ingot::vm::testing {

inline StructInfo scalar_info(DType dtype) { return tensor_info(dtype, std::vector<PrimExpr>{}); }

// One function on its way: code and tables.
class FunctionBuilder {
 public:
  FunctionBuilder(std::string name, std::vector<StructInfo> params, StructInfo result, uint32_t registers) {
    f_.name = std::move(name);
    f_.params = static_cast<uint32_t>(params.size());
    f_.registers = registers;
    for (size_t i = 0; i < params.size(); ++i) f_.param_names.push_back(std::string(1, static_cast<char>('a' + i)));
    f_.signature = func_info(std::move(params), std::move(result), true);
  }

  // The host may run it; begins with check_params over the signature, whose standalone variables are bound to registers
  // `vars`.
  FunctionBuilder& exported(std::vector<Register> vars = {}) {
    f_.exported = true;
    return checks_params(std::move(vars));
  }
  FunctionBuilder& checks_params(std::vector<Register> vars = {}) {
    Check check{tuple_info(f_.signature->fields), {}};
    for_each_var(check.info, [&](const SymVar& var) {
      f_.vars.push_back(var);
      check.binds.push_back(true);
    });
    f_.checks.push_back(std::move(check));
    code.emit(Opcode::CheckParams, 0, vars);
    return *this;
  }
  uint32_t storage(DType dtype, std::vector<PrimExpr> dims) {
    f_.storages.push_back({dtype, std::move(dims)});
    return static_cast<uint32_t>(f_.storages.size() - 1);
  }
  uint32_t check(StructInfo info, std::vector<bool> binds = {}) {
    f_.checks.push_back({std::move(info), std::move(binds)});
    return static_cast<uint32_t>(f_.checks.size() - 1);
  }
  Function& function() { return f_; }
  Function finish() {
    f_.code = code.finish();
    return std::move(f_);
  }

  CodeBuilder code;

 private:
  Function f_;
};

inline Constant text_constant(std::string text) {
  Constant constant;
  constant.kind = Kind::String;
  constant.text = std::move(text);
  return constant;
}

inline std::shared_ptr<Session> session_of(Program program, SessionOptions options = {}) {
  return Session::create(Executable::from_program(std::move(program)), std::move(options));
}

template <typename T>
Value run_one(Session& session, std::string_view function, std::vector<T> args, const RunOptions& options = {}) {
  std::vector<Value> values;
  for (const T arg : args) values.push_back(Value::scalar(kDTypeOf<T>, arg));
  return session.run(function, values, options);
}

}  // namespace ingot::vm::testing
