#!/usr/bin/python3
"""Types that only store numbers, what quantises to them, and operators on bits, against NumPy.

usage: storage_test.py INGOT
"""
import sys

import numpy as np
from onnx import TensorProto, helper

from cases import (FLOAT4E2M1, FLOAT8E4M3FN, FLOAT8E5M2, FLOAT8E8M0, INT2, INT4, UINT2, UINT4, Cases, stored)

rng = np.random.default_rng(2)
cases = Cases()
NAN, INF = np.nan, np.inf


def packed(values, bits):
    """The bytes of integers of a few bits, the lowest first."""
    values, share = [int(v) & ((1 << bits) - 1) for v in values], 8 // bits
    values += [0] * (-len(values) % share)
    return [sum(v << (bits * i) for i, v in enumerate(values[at:at + share])) for at in range(0, len(values), share)]


def node(op, inputs, **attributes):
    return helper.make_node(op, inputs, ["y"], **attributes)


def casts():
    for name, kind, bits, signed in (("int4", INT4, 4, 1), ("uint4", UINT4, 4, 0), ("int2", INT2, 2, 1), ("uint2", UINT2, 2, 0)):
        low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
        all_of = np.arange(low, high + 1)
        proto = stored(kind, [len(all_of)], packed(all_of, bits))
        cases.add(f"cast_{name}_to_float", node("Cast", ["x"], to=TensorProto.FLOAT), dict(x=proto),
                  dict(y=all_of.astype(np.float32)), opset=25)
        odd = stored(kind, [3], packed([high, low, high], bits))
        cases.add(f"cast_{name}_odd", node("Cast", ["x"], to=TensorProto.INT32), {}, dict(y=np.array([high, low, high], np.int32)),
                  opset=25, initializers=dict(x=odd))
        x = np.array([low - 1, low, high, high + 1.6, 0, 1.9], np.float32)
        cases.add(f"cast_float_to_{name}", node("Cast", ["x"], to=kind), dict(x=x),
                  dict(y=stored(kind, [6], packed(np.trunc(x), bits))), opset=25)
        cases.add(f"cast_float_to_{name}_before_24", node("Cast", ["x"], to=kind), dict(x=x),
                  dict(y=stored(kind, [6], packed(np.clip(np.rint(x), low, high), bits))), opset=23)
    powers = stored(FLOAT8E8M0, [4], [0, 127, 130, 255])
    cases.add("cast_float8e8m0_to_float", node("Cast", ["x"], to=TensorProto.FLOAT), dict(x=powers),
              dict(y=np.array([2.0 ** -127, 1, 8, NAN], np.float32)), opset=24)
    x = np.array([1, 1.25, 1.5, 3, 3e38, INF, NAN, 1e-3], np.float32)
    for mode, saturate, expected in (("up", 1, [127, 128, 128, 129, 254, 254, 255, 118]),
                                     ("down", 1, [127, 127, 127, 128, 254, 254, 255, 117]),
                                     ("nearest", 0, [127, 127, 128, 129, 255, 255, 255, 117])):
        cases.add(f"cast_float_to_float8e8m0_{mode}", node("Cast", ["x"], to=FLOAT8E8M0, round_mode=mode, saturate=saturate),
                  dict(x=x), dict(y=stored(FLOAT8E8M0, [8], expected)), opset=24)
    x = np.array([0, -0.25, 1.25, 448, 500, -INF, NAN], np.float32)
    cases.add("cast_float_to_float8e4m3fn", node("Cast", ["x"], to=FLOAT8E4M3FN), dict(x=x),
              dict(y=stored(FLOAT8E4M3FN, [7], [0x00, 0xA8, 0x3A, 0x7E, 0x7E, 0xFE, 0x7F])))
    cases.add("cast_float_to_float8e5m2_no_saturate", node("Cast", ["x"], to=FLOAT8E5M2, saturate=0),
              dict(x=np.array([1.1, 1e6, -1e6], np.float32)), dict(y=stored(FLOAT8E5M2, [3], [0x3C, 0x7C, 0xFC])))
    cases.add("cast_like_float4", node("CastLike", ["x", "l"]), dict(x=np.array([0.6, -5.1, 9], np.float32),
              l=stored(FLOAT4E2M1, [2], [0x21])), dict(y=stored(FLOAT4E2M1, [3], [0xF1, 0x07])))


def quantisation():
    x = rng.standard_normal((3, 8)).astype(np.float32) * 4
    for name, kind, bits, low, high in (("int4", INT4, 4, -8, 7), ("uint2", UINT2, 2, 0, 3)):
        scale, zero = np.float32(0.7), 1
        y = np.clip(np.rint(x / scale) + zero, low, high)
        cases.add(f"quantize_{name}", node("QuantizeLinear", ["x", "s", "z"]), dict(x=x, s=scale.reshape(()), z=stored(kind, [], packed([zero], bits))),
                  dict(y=stored(kind, [3, 8], packed(y.ravel(), bits))), opset=25)
        cases.add(f"dequantize_{name}", node("DequantizeLinear", ["x", "s", "z"]),
                  dict(x=stored(kind, [3, 8], packed(y.ravel(), bits)), s=scale.reshape(()), z=stored(kind, [], packed([zero], bits))),
                  dict(y=((y - zero) * scale).astype(np.float32)), opset=25)
    scale = rng.random((3, 3)).astype(np.float32) + 0.5
    wide = np.repeat(scale, 3, 1)[:, :8]
    y = np.clip(np.rint(x / wide), -128, 127).astype(np.int8)
    cases.add("quantize_blocks", node("QuantizeLinear", ["x", "s"], axis=-1, block_size=3, output_dtype=TensorProto.INT8),
              dict(x=x, s=scale), dict(y=y), opset=21)
    cases.add("dequantize_blocks", node("DequantizeLinear", ["x", "s"], axis=1, block_size=3), dict(x=y, s=scale),
              dict(y=y * wide), opset=21)
    weights = rng.integers(-8, 8, (4, 6))
    scale = rng.random((4, 2)).astype(np.float32)
    cases.add("weights_of_int4", [helper.make_node("DequantizeLinear", ["w", "s"], ["d"], axis=1, block_size=3),
                                  helper.make_node("MatMul", ["x", "d"], ["y"])],
              dict(x=x[:, :4]), dict(y=x[:, :4] @ (weights * np.repeat(scale, 3, 1)).astype(np.float32)), opset=21,
              initializers=dict(w=stored(INT4, [4, 6], packed(weights.ravel(), 4)), s=scale))
    half = np.float16(0.25)
    y = np.array([[-7, 3, 2]], np.int16)
    cases.add("dequantize_to_output_dtype", node("DequantizeLinear", ["x", "s"], output_dtype=TensorProto.FLOAT),
              dict(x=y, s=half.reshape(())), dict(y=y.astype(np.float32) * 0.25), opset=23)
    x16 = np.array([10.5, 9000.0, -3.0], np.float16)
    cases.add("quantize_half_to_int16", node("QuantizeLinear", ["x", "s", "z"]), dict(x=x16, s=np.float16(1.0).reshape(()), z=np.int16(2001).reshape(())),
              dict(y=np.array([2011, 11001, 1998], np.int16)), opset=21)
    third = np.float16(1 / 3)
    cases.add("quantize_in_a_precision", node("QuantizeLinear", ["x", "s"], precision=TensorProto.FLOAT, output_dtype=TensorProto.INT16),
              dict(x=x16, s=third.reshape(())), dict(y=np.rint(x16.astype(np.float32) / np.float32(third)).astype(np.int16)), opset=23)


def bits():
    x = rng.standard_normal((2, 3)).astype(np.float32)
    cases.add("bit_cast", node("BitCast", ["x"], to=TensorProto.INT32), dict(x=x), dict(y=x.view(np.int32)), opset=26)
    cases.add("bit_cast_bool", node("BitCast", ["x"], to=TensorProto.UINT8), dict(x=x > 0), dict(y=(x > 0).view(np.uint8)), opset=26)
    axis = np.array(1, np.int64)
    n = rng.integers(1, 5, (2, 4)).astype(np.int32)
    cases.add("cum_prod", node("CumProd", ["x", "a"]), dict(x=n, a=axis), dict(y=np.cumprod(n, 1, dtype=np.int32)), opset=26)
    back = np.concatenate([np.cumprod(x[:, ::-1], 1, dtype=np.float32)[:, -2::-1], np.ones((2, 1), np.float32)], 1)
    cases.add("cum_prod_exclusive_reverse", node("CumProd", ["x", "a"], exclusive=1, reverse=1), dict(x=x, a=axis), dict(y=back), opset=26)


casts()
quantisation()
bits()
sys.exit(cases.run())
