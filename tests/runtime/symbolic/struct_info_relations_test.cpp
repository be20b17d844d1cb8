#include <gtest/gtest.h>

#include "runtime/symbolic/struct_info.h"

namespace ingot {
namespace {

constexpr auto kNo = Compatibility::Incompatible;
constexpr auto kMaybe = Compatibility::Possibly;
constexpr auto kYes = Compatibility::Compatible;

class RelationsTest : public ::testing::Test {
 protected:
  static StructInfo floats(std::vector<PrimExpr> dims) { return tensor_info(DType::Float32, std::move(dims)); }
  static std::string join(const StructInfo& a, const StructInfo& b) { return to_text(least_upper_bound(a, b)); }

  SymVar n_ = make_sym_var("n"), m_ = make_sym_var("m");
  PrimExpr n = n_, m = m_;
};

TEST_F(RelationsTest, SubtypesDropWhatIsKnown) {
  EXPECT_EQ(is_subtype(floats({n, 4}), object_info()), kYes);
  EXPECT_EQ(is_subtype(floats({n, 4}), floats({n, 4})), kYes);
  EXPECT_EQ(is_subtype(floats({n + n, 4}), floats({n * 2, 4})), kYes);
  EXPECT_EQ(is_subtype(floats({n, 4}), tensor_info(DType::Float32, 2u)), kYes);
  EXPECT_EQ(is_subtype(floats({n, 4}), tensor_info()), kYes);
  EXPECT_EQ(is_subtype(floats({n, 4}), floats({m, 4})), kMaybe);
  EXPECT_EQ(is_subtype(floats({n, 4}), floats({n, 5})), kNo);
  EXPECT_EQ(is_subtype(tensor_info(DType::Float32, 2u), floats({n, 4})), kNo);
  EXPECT_EQ(is_subtype(tensor_info(), tensor_info(DType::Float32)), kNo);
  EXPECT_EQ(is_subtype(object_info(), tensor_info()), kNo);
  EXPECT_EQ(is_subtype(shape_info({n}), shape_info(1)), kYes);
  EXPECT_EQ(is_subtype(shape_info(1), shape_info({n})), kNo);
  EXPECT_EQ(is_subtype(prim_info(DType::Int64, n), prim_info(DType::Int64)), kYes);
  EXPECT_EQ(is_subtype(prim_info(DType::Int32), prim_info(DType::Int64)), kNo);
  EXPECT_EQ(is_subtype(tuple_info({floats({n})}), tuple_info({tensor_info()})), kYes);
  EXPECT_EQ(is_subtype(tuple_info({}), tuple_info({object_info()})), kNo);
}

TEST_F(RelationsTest, FunctionsAreContravariantInParameters) {
  const StructInfo from_any = func_info({tensor_info()}, floats({4}), true);
  const StructInfo from_floats = func_info({tensor_info(DType::Float32)}, tensor_info(), true);
  EXPECT_EQ(is_subtype(from_any, from_floats), kYes);
  EXPECT_EQ(is_subtype(from_floats, from_any), kNo);
  const StructInfo impure = func_info({tensor_info()}, floats({4}), false);
  EXPECT_EQ(is_subtype(from_any, impure), kYes);
  EXPECT_EQ(is_subtype(impure, from_any), kNo);
  EXPECT_EQ(is_subtype(packed_func_info(tensor_info()), packed_func_info(object_info())), kYes);
  EXPECT_EQ(is_subtype(func_info({floats({n})}, floats({n}), true), func_info({floats({m})}, floats({m}), true)), kYes);
}

TEST_F(RelationsTest, OnlyWhatIsDefinitelyDifferentIsIncompatible) {
  EXPECT_EQ(is_compatible(object_info(), floats({n})), kMaybe);
  EXPECT_EQ(is_compatible(tensor_info(), floats({n})), kMaybe);
  EXPECT_EQ(is_compatible(tensor_info(DType::Float32, 2u), floats({n})), kNo);
  EXPECT_EQ(is_compatible(floats({n}), floats({m})), kMaybe);
  EXPECT_EQ(is_compatible(floats({n}), floats({n + 1})), kNo);
  EXPECT_EQ(is_compatible(tensor_info(DType::Int32, 1u), tensor_info(DType::Float32)), kNo);
  EXPECT_EQ(is_compatible(shape_info(), floats({n})), kNo);
  EXPECT_EQ(is_compatible(prim_info(DType::Int64), prim_info(DType::Int64, n)), kMaybe);
  EXPECT_EQ(is_compatible(packed_func_info(object_info()), func_info({object_info()}, object_info(), false)), kNo);
  EXPECT_EQ(is_compatible(packed_func_info(object_info()), func_info({object_info()}, object_info(), true)), kNo);
}

TEST_F(RelationsTest, ShapeVariablesAreEqualOnlyToThemselves) {
  const SymVar s = make_sym_var("s"), t = make_sym_var("t");
  const StructInfo with_s = tensor_info(DType::Float32, s, 2);
  EXPECT_EQ(is_subtype(with_s, with_s), kYes);
  EXPECT_EQ(is_subtype(tensor_info(DType::Float32, s, std::nullopt), tensor_info(DType::Float32, s, std::nullopt)),
            kYes);
  EXPECT_EQ(is_compatible(floats({n, m}), with_s), kMaybe);
  EXPECT_EQ(is_compatible(floats({n}), with_s), kNo);
  EXPECT_EQ(is_compatible(tensor_info(DType::Float32, t, 2), with_s), kMaybe);
  EXPECT_EQ(is_subtype(with_s, tensor_info(DType::Float32, 2u)), kYes);
}

TEST_F(RelationsTest, LeastUpperBoundDropsWhatDiffers) {
  EXPECT_EQ(join(floats({n, 4}), floats({n, 4})), "Tensor[(n, 4), float32]");
  EXPECT_EQ(join(floats({n, 4}), floats({m, 4})), "Tensor[ndim=2, float32]");
  EXPECT_EQ(join(floats({n, 4}), floats({n})), "Tensor[float32]");
  EXPECT_EQ(join(floats({n}), tensor_info(DType::Int32, {n})), "Tensor[(n,)]");
  EXPECT_EQ(join(shape_info({n, 2}), shape_info({n, 3})), "Shape[ndim=2]");
  EXPECT_EQ(join(prim_info(DType::Int64, n), prim_info(DType::Int64, m)), "Prim[int64]");
  EXPECT_EQ(join(prim_info(DType::Int64), prim_info(DType::Int32)), "Object");
  EXPECT_EQ(join(tuple_info({floats({n}), shape_info()}), tuple_info({floats({m}), shape_info()})),
            "(Tensor[ndim=1, float32], Shape)");
  EXPECT_EQ(join(tuple_info({}), tuple_info({shape_info()})), "Object");
  EXPECT_EQ(join(floats({n}), shape_info()), "Object");
  EXPECT_EQ(join(func_info({floats({n})}, floats({n}), true), func_info({floats({m})}, floats({4}), false)),
            "impure fn(Tensor[(n,), float32]) -> Tensor[ndim=1, float32]");
  EXPECT_EQ(join(func_info({floats({n})}, floats({n}), true), func_info({}, floats({4}), true)),
            "fn(...) -> Tensor[ndim=1, float32]");
}

TEST_F(RelationsTest, ErasesVariablesThatLeaveTheirScope) {
  const auto only_n = [&](const SymVar& var) { return var == n_; };
  EXPECT_EQ(to_text(erase_vars(floats({n, m + 1}), only_n)), "Tensor[ndim=2, float32]");
  const StructInfo kept = tuple_info({floats({n * 2}), prim_info(DType::Int64, n)});
  EXPECT_EQ(erase_vars(kept, only_n), kept);
  EXPECT_EQ(to_text(erase_vars(tuple_info({shape_info({m}), prim_info(DType::Int64, m)}), only_n)),
            "(Shape[ndim=1], Prim[int64])");
  const StructInfo binds_m = func_info({floats({m})}, floats({m, n}), true);
  EXPECT_EQ(erase_vars(binds_m, only_n), binds_m);
  EXPECT_EQ(to_text(erase_vars(func_info({floats({n})}, floats({m}), true), only_n)),
            "fn(Tensor[(n,), float32]) -> Tensor[ndim=1, float32]");
}

}  // namespace
}  // namespace ingot
