#include <algorithm>
#include <map>

#include "compiler/ops/functions.h"
#include "compiler/ops/op_func.h"
#include "runtime/symbolic/simplify.h"

// Sums of products by Einstein's notation.
namespace ingot::ops {

using namespace ir;
using tir::Indices;

namespace {

// The letters of each operand and of the result; '.' followed by a digit letter stands for a dimension of "...".
struct Notation {
  std::vector<std::string> terms;
  std::string result;
  std::map<char, PrimExpr> extents;
};

Notation notation(const CallSite& call, const std::vector<Operand>& operands) {
  std::string text = call.text("equation");
  std::erase(text, ' ');
  const size_t arrow = text.find("->");
  std::vector<std::string> terms(1);
  for (const char c : text.substr(0, arrow)) {
    if (c == ',') {
      terms.emplace_back();
    } else {
      terms.back() += c;
    }
  }
  if (terms.size() != operands.size())
    call.fail(ErrorCode::ArityMismatch, "\"{}\" has {} terms, {} operands are given", text, terms.size(),
              operands.size());
  // Dimensions of "..." get letters of their own, aligned at the last one: '1' is the last, '2' the one before it.
  size_t most = 0;
  Notation result;
  const auto expand = [&](const std::string& term, size_t hidden) {
    std::string letters = term;
    if (const size_t at = letters.find("..."); at != std::string::npos) {
      std::string dots;
      for (size_t i = hidden; i > 0; --i) dots += static_cast<char>('0' + i);
      letters.replace(at, 3, dots);
    }
    for (const char c : letters)
      if (!std::isalnum(static_cast<unsigned char>(c)))
        call.fail(ErrorCode::InvalidArgument, "\"{}\" has '{}', only letters and ... are possible", text, c);
    return letters;
  };
  for (size_t i = 0; i < terms.size(); ++i) {
    const bool dots = terms[i].find("...") != std::string::npos;
    const size_t named = terms[i].size() - (dots ? 3 : 0);
    const size_t rank = operands[i].rank();
    if (named > rank || (!dots && named != rank) || rank - named > 9)
      call.fail(ErrorCode::ShapeMismatch, "\"{}\" names {} dimensions of {}, which has rank {}", text, named,
                operands[i].name, rank);
    if (dots) most = std::max(most, rank - named);
    result.terms.push_back(expand(terms[i], dots ? rank - named : 0));
    for (size_t d = 0; d < rank; ++d) {
      const PrimExpr& dim = operands[i].dims()[d];
      const auto [at, added] = result.extents.emplace(result.terms[i][d], dim);
      if (!added && at->second.is_const(1)) at->second = dim;
      if (!added && !dim.is_const(1) && prove_equal(at->second, dim) == Proof::No)
        call.fail(ErrorCode::ShapeMismatch, "dimension '{}' is {} and, in {}, {}", result.terms[i][d],
                  to_text(at->second), operands[i].name, to_text(dim));
    }
  }
  if (arrow != std::string::npos) {
    result.result = expand(text.substr(arrow + 2), most);
  } else {
    // What occurs once, in alphabetical order, behind the dimensions of "...".
    std::map<char, size_t> count;
    for (const auto& term : result.terms)
      for (const char c : term) ++count[c];
    result.result = expand("...", most);
    for (const auto& [letter, times] : count)
      if (times == 1 && std::isalpha(static_cast<unsigned char>(letter))) result.result += letter;
  }
  for (const char c : result.result)
    if (!result.extents.contains(c) || std::ranges::count(result.result, c) > 1)
      call.fail(ErrorCode::InvalidArgument,
                "'{}' of the result of \"{}\" is no dimension of an operand, or there twice", c, text);
  return result;
}

}  // namespace

StructInfo infer_einsum(const CallSite& call) {
  const auto all = operands(call);
  if (all.empty()) call.fail(ErrorCode::ArityMismatch, "there are no operands");
  for (const auto& x : all) {
    require_numeric(call, x);
    require_same_dtype(call, all[0], x);
  }
  const auto n = notation(call, all);
  Dims dims;
  for (const char letter : n.result) dims.push_back(n.extents.at(letter));
  return tensor_like(all[0], dims);
}

Meaning define_einsum(const CallSite& call) {
  OpFunc f(call);
  std::vector<Operand> all;
  for (size_t i = 0; i < operands(call).size(); ++i) all.push_back(f.operand(i));
  const auto n = notation(call, all);
  std::string summed;
  Dims extents;
  for (const auto& [letter, extent] : n.extents)
    if (n.result.find(letter) == std::string::npos) {
      summed += letter;
      extents.push_back(extent);
    }
  const DType dtype = f.dtype(f.out());
  const DType wide = accumulator(dtype);
  const auto product = [&](const Indices& i, const Indices& k) {
    Element result = element(wide, 1.0);
    for (size_t x = 0; x < all.size(); ++x) {
      Indices at;
      for (size_t d = 0; d < all[x].rank(); ++d) {
        const char letter = n.terms[x][d];
        const size_t place = n.result.find(letter);
        const PrimExpr index = place != std::string::npos ? i[place] : k[summed.find(letter)];
        at.push_back(all[x].dims()[d].is_const(1) ? PrimExpr(0) : index);
      }
      const Element value = cast(wide, f.load(f.in(x), at));
      result = x == 0 ? value : result * value;
    }
    return result;
  };
  if (summed.empty()) {
    f.compute(f.out(), [&](const Indices& i) { return cast(dtype, product(i, {})); });
    return f.finish();
  }
  f.reduce(f.out(), tir::ExprOp::Add, element(wide, 0.0), extents, product);
  return f.finish();
}

}  // namespace ingot::ops
