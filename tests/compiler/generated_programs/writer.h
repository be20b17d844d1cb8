#pragma once
#include <functional>
#include <string>
#include <vector>

#include "tests/compiler/generated_programs/choices.h"
#include "tests/compiler/generated_programs/program.h"
#include "tests/compiler/generated_programs/types.h"

namespace ingot::generated {

// Text of an expression that may stand as an operand, and what is known of the float that it gives.
struct Piece {
  std::string text;
  Bounds bounds;
};

struct Variable {
  std::string name;  // with sigil
  Type type;
  std::string loose = {};  // of a parameter: the annotation, where it says less than the type
};

// Something that can be called by name. Recursive ones take the number of levels left as their first argument.
struct Callable {
  std::string callee;
  std::vector<std::string> symbols;  // shape variables of the signature, bound anew by each call
  std::vector<Type> params;
  Type result;
  bool pure = true;
  std::string levels;  // the text of the first argument; empty: there is none
  size_t uses_left = SIZE_MAX;
};

// What an expression may refer to.
struct Scope {
  std::vector<Variable> variables;
  std::vector<std::string> dims;  // each at most 4 at run time
  std::vector<Callable> callables;
  bool pure = true;
  bool dataflow = false;
  size_t outside = 0;  // in a dataflow block: how many of the variables functions may capture
};

// Writes one program, top down: every method gives text of the type that it is asked for.
class Writer {
 public:
  Program program(const Recipe& recipe);

 private:
  // write_program.cpp
  void define_function();
  std::string signature(const std::vector<Variable>& params, const Type& result, const std::string& levels);
  // An annotation that says less; empty where it says everything.
  std::string loosened(const Type& type);
  void define_main();
  std::string input(const Type& type, int64_t n, int64_t m);
  Scope function_scope(const std::vector<std::string>& symbols, const std::vector<Variable>& params, bool pure);

  // write_statements.cpp
  // Statements and a result, in braces.
  std::string block(const Type& result);
  // Statements and a tuple of the last tensors that they compute, without braces; its type goes to `result`.
  std::string body(const std::vector<std::string>& symbols, Type& result);
  void statement(std::string& text);
  void let_statement(std::string& text);
  void graph_binding(std::string& text);
  void match_cast_statement(std::string& text);
  void dataflow_block(std::string& text);
  void recursive_closure(std::string& text);
  void log_statement(std::string& text);

  // write_expressions.cpp
  // Of any type; floats within operand_bounds.
  std::string expression(const Type& type);
  Piece tuple(const Type& type);
  Piece function(const Type& type);
  Piece leaf(const Type& type);
  std::string condition();
  // Forms of all types; empty where none is possible here.
  Piece branch(const Type& type);
  Piece call(const Type& type);
  Piece immediate_call(const Type& type);
  Piece projection(const Type& type);
  Piece logged(const Type& type);
  Piece match_cast(const Type& type);

  // write_tensors.cpp
  Piece tensor(const Type& type);
  // The same, within operand_bounds.
  Piece operand(const Type& type);
  Piece fit(Piece piece, const Type& type);
  Piece boolean(const Type& type);
  Piece integer(const Type& type);
  Piece exact_float(const Type& type);
  Piece inexact_float(const Type& type);
  std::string divisor(const Type& type);
  Piece converted(const Type& type);

  // write_shapes.cpp
  // Operators that move, choose or reduce elements; empty where none is possible.
  Piece reduced(const Type& type);
  Piece rearranged(const Type& type);
  Piece product(const Type& type);
  // What library kernels fuse: a product, a bias, an activation.
  Piece layer(const Type& type);
  Piece chosen(const Type& type);

  // write_forms.cpp
  // By way of an Object or an if whose other branch is something else, and a cast that sometimes fails.
  Piece forgotten(const Type& type);
  // By way of a function without annotations, or with type parameters.
  Piece polymorphic(const Type& type);
  // Empty where it is none of int64 and rank 1.
  Piece dims_as_tensor(const Type& type);
  std::string dim_expression();
  std::string prim_condition();
  // By a prim_func of one dtype and rank; empty where there is none.
  Piece called_tir(const Type& type);
  // The name of one. `params`: A, B, ... of the result's dimensions, R with one more, T with the first two exchanged, s
  // a scalar. In `store` $i are the indices, $t the exchanged ones, $d is the dtype and $0 a zero.
  std::string prim_func(const std::string& stem, const Type& type, std::string_view params, std::string_view store);
  // A tensor that a prim_func writes, sometimes with a tuple that holds it too.
  void written_tensor(std::string& text);
  // With a shape variable of its own.
  void symbolic_closure(std::string& text);

  // write_literals.cpp
  std::string literal(DType dtype);
  std::string literal_zero(DType dtype);
  std::string tensor_literal(const Type& type);

  // write_types.cpp
  DType pick_dtype();
  std::string pick_dim();
  // Often one that a variable has.
  Type pick_tensor_type();
  Type pick_type(size_t depth = 0);
  // To the scope of a function that is written where it is used.
  void enter_function(const Type& type, std::vector<std::string>& params);
  // A type whose tensor broadcasts to `type`.
  Type broadcastable(const Type& type);

  std::string fresh(const char* stem);
  // Runs `write` with a deeper level and drops what it adds to the scope.
  std::string nested(const std::function<std::string()>& write);
  bool at_bottom() const { return depth_ >= 7; }

  Choices choices_{{}};
  Scope scope_;
  std::string definitions_;
  std::string prim_funcs_;
  size_t depth_ = 0;
  size_t names_ = 0;
  std::vector<std::string> inputs_;
};

}  // namespace ingot::generated
