#include "runtime/symbolic/struct_info.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ingot {
namespace {

using ::testing::ElementsAre;

class StructInfoTest : public ::testing::Test {
 protected:
  SymVar n_ = make_sym_var("n"), m_ = make_sym_var("m");
  PrimExpr n = n_, m = m_;

  static std::vector<std::string> names(const StructInfo& info,
                                        void (*walk)(const StructInfo&, const std::function<void(const SymVar&)>&)) {
    std::vector<std::string> result;
    walk(info, [&](const SymVar& var) { result.push_back(var->name); });
    return result;
  }
};

TEST_F(StructInfoTest, PrintsTheSyntaxOfPrograms) {
  const auto text = [](const StructInfo& info) { return to_text(info); };
  EXPECT_EQ(text(object_info()), "Object");
  EXPECT_EQ(text(tensor_info()), "Tensor");
  EXPECT_EQ(text(tensor_info(DType::Float32)), "Tensor[float32]");
  EXPECT_EQ(text(tensor_info(DType::Float32, 2u)), "Tensor[ndim=2, float32]");
  EXPECT_EQ(text(tensor_info(DType::Float32, {n, 4})), "Tensor[(n, 4), float32]");
  EXPECT_EQ(text(tensor_info(DType::Float32, std::vector<PrimExpr>{n * 2})), "Tensor[(n * 2,), float32]");
  EXPECT_EQ(text(tensor_info(DType::Int32, std::vector<PrimExpr>{})), "Tensor[(), int32]");
  EXPECT_EQ(text(tensor_info(DType::None, {n, m})), "Tensor[(n, m)]");
  EXPECT_EQ(text(tensor_info(DType::Float32, make_sym_var("s"), 2)), "Tensor[%s, ndim=2, float32]");
  EXPECT_EQ(text(shape_info()), "Shape");
  EXPECT_EQ(text(shape_info(2)), "Shape[ndim=2]");
  EXPECT_EQ(text(shape_info({n, m})), "Shape[(n, m)]");
  EXPECT_EQ(text(prim_info(DType::Int64)), "Prim[int64]");
  EXPECT_EQ(text(prim_info(DType::Int64, n + 1)), "Prim[int64, n + 1]");
  EXPECT_EQ(text(tuple_info({})), "()");
  EXPECT_EQ(text(tuple_info({object_info()})), "(Object,)");
  EXPECT_EQ(text(tuple_info({object_info(), tensor_info()})), "(Object, Tensor)");
  EXPECT_EQ(text(func_info({tensor_info(), object_info()}, shape_info(), true)), "fn(Tensor, Object) -> Shape");
  EXPECT_EQ(text(func_info({}, object_info(), false)), "impure fn() -> Object");
  EXPECT_EQ(text(packed_func_info(tensor_info())), "impure fn(...) -> Tensor");
  EXPECT_EQ(text(nullptr), "?");
}

TEST_F(StructInfoTest, SameInfoComparesStructure) {
  EXPECT_TRUE(same_info(tensor_info(DType::Float32, {n, 4}), tensor_info(DType::Float32, {n, 4})));
  EXPECT_FALSE(same_info(tensor_info(DType::Float32, {n, 4}), tensor_info(DType::Float32, {m, 4})));
  EXPECT_FALSE(same_info(tensor_info(DType::Float32, {n, 4}), tensor_info(DType::Float32, 2u)));
  EXPECT_FALSE(same_info(prim_info(DType::Int64), prim_info(DType::Int64, n)));
  EXPECT_FALSE(same_info(func_info({}, object_info(), true), func_info({}, object_info(), false)));
  EXPECT_FALSE(same_info(object_info(), nullptr));
  EXPECT_TRUE(same_info(tuple_info({shape_info({n})}), tuple_info({shape_info({n})})));
}

TEST_F(StructInfoTest, SubstitutesEverywhereAndSharesWhatIsUnchanged) {
  const Substitution n_is_3 = [&](const SymVar& var) -> std::optional<PrimExpr> {
    return var == n_ ? std::optional(PrimExpr(3)) : std::nullopt;
  };
  const StructInfo info =
      func_info({tensor_info(DType::Float32, {n, m}), prim_info(DType::Int64, n)}, tuple_info({shape_info({n})}), true);
  EXPECT_EQ(to_text(substitute(info, n_is_3)), "fn(Tensor[(3, m), float32], Prim[int64, 3]) -> (Shape[(3,)],)");
  const StructInfo other = tensor_info(DType::Float32, {m, 2});
  EXPECT_EQ(substitute(other, n_is_3), other);
}

TEST_F(StructInfoTest, VisitsVariables) {
  const StructInfo info =
      func_info({tensor_info(DType::Float32, {n * m, 2}), tuple_info({shape_info({m}), prim_info(DType::Int64, n)})},
                shape_info({PrimExpr(make_sym_var("k"))}), true);
  EXPECT_THAT(names(info, for_each_var), ElementsAre("n", "m", "k"));
  for (const StructInfo& param : info->fields)
    EXPECT_EQ(names(param, for_each_binding_var).size(), param->kind == InfoKind::Tuple ? 2 : 0);
  EXPECT_THAT(names(info, for_each_binding_var), ElementsAre()) << "a function type has variables of its own";
  EXPECT_THAT(names(tensor_info(DType::None, make_sym_var("s"), std::nullopt), for_each_var), ElementsAre("s"));
}

}  // namespace
}  // namespace ingot
