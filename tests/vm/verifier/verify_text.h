#pragma once
#include <string>
#include <string_view>

#include "runtime/base/error.h"
#include "vm/executable/text.h"
#include "vm/verifier/verifier.h"

namespace ingot::vm::test {

// "ok", or why the verifier refuses the program.
inline std::string verify_text(std::string_view text) {
  const Program program = assemble(text);
  try {
    verify(program);
    return "ok";
  } catch (const Error& error) {
    return error.code() == ErrorCode::CorruptFile ? error.what() : "not CorruptFile: " + std::string(error.what());
  }
}

// A program around the code of one function that takes any values and returns any: constants c0 (a tensor), c1 (a
// string), c2 (an int32), c3 (a bool), functions @callee (one parameter), @typed (one int32, gives float32, trusts its
// callers) and @captor (one parameter, two captures).
inline std::string around(std::string_view code, int params = 2, std::string_view tables = "",
                          std::string_view result = "Object") {
  std::string infos;
  for (int i = 0; i < params; ++i) infos += i == 0 ? "Object" : ", Object";
  return fmt::format(R"(
import "host.read"
import "host.write" writes [0]
const c0 = tensor float32 (2,) {{1, 2}}
const c1 = string "text"
const c2 = scalar int32 7
const c3 = scalar bool 1
kernel k0 = matmul 2 -> 1
kernel k1 = lrn 1 -> 1
func @test params {} registers 10 {{
  signature fn({}) -> {}
  {}
  code
  {}
}}
func @callee params 1 registers 2 {{ signature fn(Object) -> Object code kill r0 load_none r1 return r1 }}
func @typed params 1 registers 2 {{
  signature fn(Tensor[(), int32]) -> Tensor[(), float32]
  code cast r0, r0, float32 return r0
}}
func @captor params 1 captures 2 registers 3 {{ signature fn(Object) -> Object code kill r0 kill r1 kill r2 load_none r0 return r0 }}
)",
                     params, infos, result, tables, code);
}

inline std::string verify_code(std::string_view code, int params = 2, std::string_view tables = "",
                               std::string_view result = "Object") {
  return verify_text(around(code, params, tables, result));
}

}  // namespace ingot::vm::test
