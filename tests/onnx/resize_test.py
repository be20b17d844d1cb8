#!/usr/bin/python3
"""Resize and Upsample by sizes that are known when the model is compiled and by ones that are not, against NumPy.

usage: resize_test.py INGOT
"""
import sys

import numpy as np
from onnx import helper

from cases import Cases

rng = np.random.default_rng(4)
cases = Cases()


def source(how, i, size, out, scale):
    if how == "asymmetric":
        return i / scale
    if how == "align_corners":
        return i * (size - 1) / (out - 1) if out > 1 else 0
    if how == "pytorch_half_pixel" and out == 1:
        return 0
    return (i + 0.5) / scale - 0.5


def weights(mode, how, size, out, scale, rounding="round_prefer_floor"):
    """A matrix [out, size]; no antialiasing, the border repeated."""
    matrix = np.zeros((out, size))
    for i in range(out):
        at = source(how, i, size, out, scale)
        if mode == "nearest":
            place = {"floor": np.floor(at), "ceil": np.ceil(at), "round_prefer_floor": np.ceil(at - 0.5),
                     "round_prefer_ceil": np.floor(at + 0.5)}[rounding]
            parts = [(place, 1)]
        else:
            base, t = np.floor(at), at - np.floor(at)
            a = -0.75
            near = lambda x: (a + 2) * x ** 3 - (a + 3) * x ** 2 + 1
            far = lambda x: a * x ** 3 - 5 * a * x ** 2 + 8 * a * x - 4 * a
            parts = [(base, 1 - t), (base + 1, t)] if mode == "linear" else [
                (base - 1, far(1 + t)), (base, near(t)), (base + 1, near(1 - t)), (base + 2, far(2 - t))]
        for place, weight in parts:
            matrix[i, int(np.clip(place, 0, size - 1))] += weight
    return matrix


def case(name, shape, scales=None, sizes=None, mode="linear", how="half_pixel", rounding="round_prefer_floor", opset=18,
         dtype=np.float32, **attributes):
    x = rng.standard_normal(shape).astype(dtype)
    axes = attributes.get("axes", range(len(shape)))
    y = x.astype(np.float64)
    for i, d in enumerate(axes):
        out = sizes[i] if sizes else int(np.floor(shape[d] * scales[i]))
        scale = out / shape[d] if sizes else scales[i]
        if (out, scale) != (shape[d], 1):
            y = np.moveaxis(np.tensordot(weights(mode, how, shape[d], out, scale, rounding), y, (1, d)), 0, d)
    operand = {"sizes": np.array(sizes, np.int64)} if sizes else {"scales": np.array(scales, np.float32)}
    names = ["x", "", "", "sizes"] if sizes else ["x", "", "scales"]
    node = helper.make_node("Resize", names, ["y"], mode=mode, coordinate_transformation_mode=how, nearest_mode=rounding,
                            **attributes)
    cases.add(f"{name}_known", node, dict(x=x), dict(y=y.astype(dtype)), opset, initializers=operand)
    cases.add(f"{name}_unknown", node, {"x": x, **operand}, dict(y=y.astype(dtype)), opset)


image = (1, 2, 4, 5)
case("double_nearest", image, [1, 1, 2, 2], mode="nearest", how="asymmetric", rounding="floor")
case("triple_nearest", image, [1, 1, 3, 2], mode="nearest")
case("nearest_ties", (1, 1, 6, 8), [1, 1, 2.5, 1.3], mode="nearest")
for rounding in ("floor", "ceil", "round_prefer_floor", "round_prefer_ceil"):
    case(f"nearest_{rounding}", image, [1, 1, 1.6, 0.7], mode="nearest", rounding=rounding)
for mode in ("linear", "cubic"):
    for how in ("half_pixel", "pytorch_half_pixel", "asymmetric"):
        case(f"{mode}_{how}", image, [1, 1, 2, 0.6], mode=mode, how=how)
    case(f"{mode}_align_corners", image, sizes=[1, 2, 7, 3], mode=mode, how="align_corners")
case("linear_to_one", image, sizes=[1, 2, 1, 1], how="pytorch_half_pixel")
case("linear_half", image, [1, 1, 2, 2], dtype=np.float16)
case("axes", image, [3, 2], axes=[3, 2])
case("sequence", (2, 3, 6), sizes=[2, 3, 9])
case("volume", (1, 1, 3, 4, 5), [1, 1, 2, 2, 2])
whole = rng.integers(0, 9, (1, 1, 2, 3)).astype(np.int32)
cases.add("integers", helper.make_node("Resize", ["x", "", "s"], ["y"], mode="nearest"), dict(x=whole),
          dict(y=np.repeat(np.repeat(whole, 2, 2), 2, 3)), 18, initializers=dict(s=np.array([1, 1, 2, 2], np.float32)))
cases.add("integers_linear", helper.make_node("Resize", ["x", "", "s"], ["y"], mode="linear"), dict(x=np.array([0, 3], np.uint8)),
          dict(y=np.array([0, 0, 2, 3], np.uint8)), 18, initializers=dict(s=np.array([2], np.float32)))
cases.add("upsample", helper.make_node("Upsample", ["x", "s"], ["y"], mode="nearest"), dict(x=whole.astype(np.float32)),
          dict(y=np.repeat(whole, 3, 3).astype(np.float32)), 9, initializers=dict(s=np.array([1, 1, 1, 3], np.float32)))
sys.exit(cases.run())
