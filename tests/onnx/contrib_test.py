#!/usr/bin/python3
"""Operators of com.microsoft other than attention, against NumPy.

usage: contrib_test.py INGOT
"""
import math
import sys

import numpy as np
from onnx import helper

from cases import Cases

rng = np.random.default_rng(3)
cases = Cases()
EIGHT = np.uint8


def random(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def node(op, inputs, outputs=("y",), **attributes):
    return helper.make_node(op, inputs, outputs, domain="com.microsoft", **attributes)


def number(value, dtype=np.float32):
    return np.array(value, dtype)


def quantize(x, scale, zero, dtype=EIGHT):
    info = np.iinfo(dtype)
    return np.clip(np.rint(x / np.float32(scale)) + int(zero), info.min, info.max).astype(dtype)


def erf(x):
    return np.vectorize(math.erf)(x)


def gelu(x):
    return x * (1 + erf(x / np.sqrt(2))) / 2


def f32(x):
    return np.ascontiguousarray(x, dtype=np.float32)


def dynamic(x):
    low, high = min(x.min(), 0), max(x.max(), 0)
    scale = np.float32(high - low) / 255
    zero = np.clip(np.rint(-low / scale), 0, 255)
    return quantize(x, scale, zero).astype(int), scale, int(zero)


def fused():
    x = random(3, 2, 3)
    a, b = random(2, 3, 4), random(2, 5, 3)
    cases.add("fused_mat_mul", node("FusedMatMul", ["a", "b"], transA=1, transB=1, alpha=0.5), dict(a=a, b=b),
              dict(y=f32(a.swapaxes(1, 2) @ b.swapaxes(1, 2) * 0.5)))
    cases.add("fused_mat_mul_batch", node("FusedMatMul", ["x", "b"], transBatchA=1, transB=1), dict(x=x, b=b),
              dict(y=f32(x.transpose(1, 0, 2) @ b.swapaxes(1, 2))))
    image, w, bias, more = random(1, 2, 4, 4), random(3, 2, 1, 1), random(3), random(1, 3, 4, 4)
    conv = np.einsum("nchw,mc->nmhw", image, w[:, :, 0, 0]) + bias[:, None, None]
    cases.add("fused_conv", node("FusedConv", ["x", "w", "b", "z"], activation="Relu"), dict(x=image, w=w, b=bias, z=more),
              dict(y=f32(np.maximum(conv + more, 0))))
    cases.add("fused_conv_clip", node("FusedConv", ["x", "w"], activation="Clip", activation_params=[-0.5, 0.25]),
              dict(x=image, w=w), dict(y=f32(np.clip(conv - bias[:, None, None], -0.5, 0.25))))
    m, n, c = random(3, 4), random(5, 4), random(5)
    total = m @ n.T * 2 + c
    cases.add("fused_gemm", node("FusedGemm", ["m", "n", "c"], transB=1, alpha=2.0, activation="LeakyRelu", activation_alpha=0.3),
              dict(m=m, n=n, c=c), dict(y=f32(np.where(total < 0, 0.3 * total, total))))
    s, t = random(2, 3, 4), random(2, 1, 4)
    e = np.exp((s + t).reshape(2, -1))
    cases.add("bias_softmax", node("BiasSoftmax", ["s", "t"], axis=1, is_inner_broadcast=0), dict(s=s, t=t),
              dict(y=f32((e / e.sum(1, keepdims=True)).reshape(s.shape))))
    wide, bias = random(2, 3, 8), random(8)
    sums = wide + bias
    cases.add("bias_split_gelu", node("BiasSplitGelu", ["x", "b"]), dict(x=wide, b=bias), dict(y=f32(sums[..., :4] * gelu(sums[..., 4:]))))
    cases.add("bias_add", node("BiasAdd", ["x", "b", "s"]), dict(x=wide, b=bias, s=sums), dict(y=sums + sums))
    cases.add("quick_gelu", node("QuickGelu", ["x"], alpha=1.5), dict(x=wide), dict(y=f32(wide / (1 + np.exp(-1.5 * wide)))))


def normalised():
    x, skip, bias, gamma, beta = random(2, 3, 4), random(1, 3, 4), random(4), random(4), random(4)
    total = x + skip + bias
    normal = (total - total.mean(-1, keepdims=True)) / np.sqrt(total.var(-1, keepdims=True) + 1e-5)
    cases.add("skip_layer_norm", node("SkipLayerNormalization", ["x", "s", "g", "b", "c"], ["y", "", "", "t"], epsilon=1e-5),
              dict(x=x, s=skip, g=gamma, b=beta, c=bias), dict(y=f32(normal * gamma + beta), t=f32(total)))
    root = np.sqrt((total ** 2).mean(-1, keepdims=True) + 1e-6)
    cases.add("skip_rms_norm", node("SkipSimplifiedLayerNormalization", ["x", "s", "g", "c"], ["y", "", "", "t"], epsilon=1e-6),
              dict(x=x, s=skip, g=gamma, c=bias), dict(y=f32(total / root * gamma), t=f32(total)))
    image = random(2, 3, 3, 8)
    groups = image.reshape(2, 9, 2, 4)
    mean, var = groups.mean((1, 3), keepdims=True), groups.var((1, 3), keepdims=True)
    gamma, beta = random(8), random(8)
    normal = ((groups - mean) / np.sqrt(var + 1e-5)).reshape(image.shape) * gamma + beta
    cases.add("group_norm", node("GroupNorm", ["x", "g", "b"], groups=2, activation=1), dict(x=image, g=gamma, b=beta),
              dict(y=f32(normal / (1 + np.exp(-normal)))))
    rest = image - 1
    cases.add("skip_group_norm", node("SkipGroupNorm", ["r", "g", "b", "one"], ["y", "t"], groups=2, activation=0),
              dict(r=rest, g=gamma, b=beta, one=np.ones((2, 8), np.float32)), dict(y=f32(normal), t=image))


def quantised():
    a, b = rng.integers(0, 256, (2, 3), EIGHT), rng.integers(0, 256, (2, 3), EIGHT)
    scales = dict(sa=number(0.1), za=number(120, EIGHT), sb=number(0.05), zb=number(7, EIGHT), sy=number(0.2371), zy=number(100, EIGHT))
    x, y = (a.astype(int) - 120) * np.float32(0.1), (b.astype(int) - 7) * np.float32(0.05)
    both = ["a", "sa", "za", "b", "sb", "zb", "sy", "zy"]
    cases.add("qlinear_add", node("QLinearAdd", both), dict(a=a, b=b, **scales), dict(y=quantize(x + y, 0.2371, 100)))
    cases.add("qlinear_mul", node("QLinearMul", both), dict(a=a, b=b, **scales), dict(y=quantize(x * y, 0.2371, 100)))
    cases.add("qlinear_concat", node("QLinearConcat", ["sy", "zy", "a", "sa", "za", "b", "sb", "zb"], axis=1), dict(a=a, b=b, **scales),
              dict(y=quantize(np.concatenate([x, y], 1), 0.2371, 100)))
    flags = rng.random((2, 3)) > 0.5
    cases.add("qlinear_where", node("QLinearWhere", ["c", *both]), dict(c=flags, a=a, b=b, **scales), dict(y=quantize(np.where(flags, x, y), 0.2371, 100)))
    one = ["a", "sa", "za", "sy", "zy"]
    rest = {k: scales[k] for k in one[1:]}
    cases.add("qlinear_reduce_mean", node("QLinearReduceMean", one, axes=[1], keepdims=0), dict(a=a, **rest), dict(y=quantize(x.mean(1), 0.2371, 100)))
    cases.add("qlinear_sigmoid", node("QLinearSigmoid", one), dict(a=a, **rest), dict(y=quantize(1 / (1 + np.exp(-x)), 0.2371, 100)))
    image = rng.integers(0, 256, (1, 4, 4, 2), EIGHT)
    floats = (image.astype(int) - 120) * np.float32(0.1)
    pooled = floats.reshape(1, 2, 2, 2, 2, 2).mean((2, 4))
    cases.add("qlinear_average_pool", node("QLinearAveragePool", one, kernel_shape=[2, 2], strides=[2, 2], channels_last=1),
              dict(a=image, **rest), dict(y=quantize(pooled, 0.2371, 100)))
    w = rng.integers(-128, 128, (3, 2, 1, 1)).astype(np.int8)
    sw = random(3) ** 2 + 0.01
    conv = np.einsum("nhwc,mc->nhwm", image.astype(int) - 120, w[:, :, 0, 0].astype(int)) * np.float32(0.1) * sw
    cases.add("qlinear_conv_channels_last", node("QLinearConv", ["a", "sa", "za", "w", "sw", "zw", "sy", "zy"], channels_last=1),
              dict(a=image, w=w, sw=sw, zw=np.zeros(3, np.int8), **rest), dict(y=quantize(conv, 0.2371, 100)))
    m, n = rng.integers(0, 256, (2, 4), EIGHT), rng.integers(-128, 128, (4, 5)).astype(np.int8)
    sn, zn, c = random(5) ** 2 + 0.01, rng.integers(-5, 5, 5).astype(np.int8), rng.integers(-900, 900, 5).astype(np.int32)
    whole = (m.astype(int) - 120) @ (n.astype(int) - zn) + c
    given = dict(m=m, sa=scales["sa"], za=scales["za"], n=n, sn=sn, zn=zn, c=c)
    names = ["m", "sa", "za", "n", "sn", "zn", "c"]
    cases.add("q_gemm_to_float", node("QGemm", names), given, dict(y=f32(whole * np.float32(0.1) * sn)))
    cases.add("q_gemm", node("QGemm", names + ["sy", "zy"], transB=1), {**given, "n": np.ascontiguousarray(n.T), "sy": number(30), "zy": scales["zy"]},
              dict(y=quantize(whole * np.float32(0.1) * sn, 30, 100)))
    product = ((m.astype(int) - 120) @ (n.astype(int) - zn)) * np.float32(0.1) * sn
    bias = random(5)
    cases.add("mat_mul_integer_to_float", node("MatMulIntegerToFloat", ["m", "n", "sa", "sn", "za", "zn", "b"]),
              dict(m=m, n=n, sa=scales["sa"], sn=sn, za=scales["za"], zn=zn, b=bias), dict(y=f32(product + bias)))
    x = random(2, 4)
    values, scale, zero = dynamic(x)
    cases.add("dynamic_quantize_mat_mul", node("DynamicQuantizeMatMul", ["x", "n", "sn", "zn", "b"]), dict(x=x, n=n, sn=sn, zn=zn, b=bias),
              dict(y=f32((values - zero) @ (n.astype(int) - zn) * scale * sn + bias)))
    wide = rng.integers(0, 65536, (2, 3)).astype(np.uint16)
    cases.add("dequantize_ms", node("DequantizeLinear", ["x", "s", "z"]), dict(x=wide, s=number(0.5), z=number(9, np.uint16)),
              dict(y=f32((wide.astype(int) - 9) * 0.5)), opset=13)
    hidden, weight, bias = rng.integers(0, 256, (1, 3, 4), EIGHT), rng.integers(-128, 128, (4, 12)).astype(np.int8), random(12)
    all_of = (hidden.astype(int) - 120) @ weight.astype(int) * np.float32(0.01) * np.float32(0.02) + bias
    q, k, v = (part.reshape(1, 3, 2, 2).swapaxes(1, 2) for part in np.split(all_of, 3, 2))
    e = np.exp(q @ k.swapaxes(2, 3) / np.sqrt(2))
    y = (e / e.sum(-1, keepdims=True) @ v).swapaxes(1, 2).reshape(1, 3, 4)
    cases.add("q_attention", node("QAttention", ["x", "w", "b", "sx", "sw", "", "zx", "zw"], num_heads=2),
              dict(x=hidden, w=weight, b=bias, sx=number(0.01), sw=number(0.02), zx=number(120, EIGHT), zw=number(0, np.int8)), dict(y=f32(y)))


def pack(values, bits):
    """The last dimension's numbers, several in a byte, the lowest first; the last byte is filled with zeros."""
    share = 8 // bits
    values = np.pad(values, [(0, 0)] * (values.ndim - 1) + [(0, -values.shape[-1] % share)])
    parts = values.reshape(*values.shape[:-1], -1, share).astype(int) << (bits * np.arange(share))
    return parts.sum(-1).astype(EIGHT)


def few_bits():
    rows, columns, block = 5, 40, 16
    for bits in (4, 8):
        blocks = -(-columns // block)
        w = rng.integers(0, 1 << bits, (rows, blocks * block))
        scale, zero, x = random(rows, blocks), rng.integers(0, 1 << bits, (rows, blocks)), random(2, columns)
        spread = lambda v: np.repeat(v, block, 1)
        given = dict(x=x, w=pack(w, bits).reshape(rows, blocks, -1), s=scale.ravel())
        attributes = dict(K=columns, N=rows, bits=bits, block_size=block)
        weight = ((w - spread(zero)) * spread(scale))[:, :columns]
        cases.add(f"mat_mul_{bits}_bits", node("MatMulNBits", ["x", "w", "s", "z"], **attributes), dict(z=pack(zero, bits).ravel(), **given),
                  dict(y=f32(x @ weight.T)))
        weight = ((w - (1 << (bits - 1))) * spread(scale))[:, :columns]
        bias = random(rows)
        cases.add(f"mat_mul_{bits}_bits_bias", node("MatMulNBits", ["x", "w", "s", "", "", "b"], **attributes), dict(b=bias, **given),
                  dict(y=f32(x @ weight.T + bias)))
        order = rng.integers(0, blocks, columns).astype(np.int32)
        weight = (w[:, :columns] - zero[:, order]) * scale[:, order]
        cases.add(f"mat_mul_{bits}_bits_order", node("MatMulNBits", ["x", "w", "s", "z", "g"], **attributes),
                  dict(z=pack(zero, bits).ravel(), g=order, **given), dict(y=f32(x @ weight.T)))
    table, scale, zero = rng.integers(0, 16, (6, 32)), random(6, 2), rng.integers(0, 16, (6, 2))
    indices = np.array([[1, 5, 0], [2, 2, 3]], np.int64)
    whole = ((table - np.repeat(zero, 16, 1)) * np.repeat(scale, 16, 1))[indices]
    cases.add("gather_block_quantized", node("GatherBlockQuantized", ["t", "i", "s", "z"], block_size=16, bits=4),
              dict(t=pack(table, 4), i=indices, s=scale, z=pack(zero, 4)), dict(y=f32(whole)))


fused()
normalised()
quantised()
few_bits()
sys.exit(cases.run())
