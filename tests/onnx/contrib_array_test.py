#!/usr/bin/python3
"""Operators of com.microsoft on whole arrays, with channels last, and on codes of four bits, against NumPy.

usage: contrib_array_test.py INGOT
"""
import sys

import numpy as np
from onnx import helper

from cases import Cases

rng = np.random.default_rng(5)
cases = Cases()


def random(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def f32(x):
    return np.ascontiguousarray(x, dtype=np.float32)


def add(name, op, inputs, outputs, initializers=None, **attributes):
    names = [*inputs, *(initializers or {})]
    cases.add(name, helper.make_node(op, names, list(outputs), domain="com.microsoft", **attributes), inputs, outputs,
              initializers=initializers)


def arrays():
    x = random(2, 3)
    for axis, y in ((0, x[None]), (-1, x[..., None])):
        add(f"expand_dims_{axis}", "ExpandDims", dict(x=x), dict(y=y), dict(axis=np.array(axis, np.int32)))
    matrices = random(2, 4, 4)
    add("inverse", "Inverse", dict(x=matrices), dict(y=f32(np.linalg.inv(matrices.astype(np.float64)))))
    add("inverse_with_pivots", "Inverse", dict(x=f32([[0, 1], [2, 0]])), dict(y=f32([[0, 0.5], [1, 0]])))
    a, b = random(5, 3), random(4, 3)
    square = ((a[:, None] - b) ** 2).sum(2)
    add("c_dist", "CDist", dict(a=a, b=b), dict(y=f32(np.sqrt(square))), metric="euclidean")
    add("c_dist_square", "CDist", dict(a=a, b=b), dict(y=f32(square)), metric="sqeuclidean")
    bias, residual = random(3), random(2, 3)
    add("bias_dropout", "BiasDropout", dict(x=x, b=bias, r=residual), dict(y=x + bias + residual, m=np.ones((2, 3), bool)))
    values = np.array([2, 1, 1, 3, 4, 3], np.float32)
    add("unique", "Unique", dict(x=values), dict(y=f32([2, 1, 3, 4]), at=np.array([0, 1, 1, 2, 3, 2]), n=np.array([1, 2, 2, 1])))
    add("range_by_ones", "Range", {}, dict(y=np.arange(1, 5)), dict(a=np.array(1), b=np.array(5)))
    add("pad", "Pad", dict(x=x), dict(y=np.pad(x, ((1, 2), (0, 1)), constant_values=2.5)),
        dict(p=np.array([1, 0, 2, 1]), v=f32([2.5])), mode="constant")
    tokens, scores = np.array([[1, 2, 3, 1, 2], [1, 1, 1, 1, 1], [1, 2, 3, 4, 5]]), random(3, 6)
    for size, banned in ((1, [(0, 1), (0, 2), (0, 3), (1, 1), *((2, t) for t in range(1, 6))]), (3, [(0, 3), (1, 1)])):
        blocked = scores.copy()
        for place in banned:
            blocked[place] = -np.inf
        add(f"n_gram_repeat_block_{size}", "NGramRepeatBlock", dict(i=tokens, s=scores), dict(y=blocked), ngram_size=size)
    p, q = rng.integers(0, 256, (2, 3)).astype(np.uint8), rng.integers(0, 256, (2, 3)).astype(np.uint8)
    add("mul_integer", "MulInteger", dict(a=p, az=np.uint8(3) * np.ones((), np.uint8), b=q, bz=np.array(100, np.uint8)),
        dict(y=((p.astype(np.int32) - 3) * (q.astype(np.int32) - 100))))
    m, n = rng.integers(-99, 99, (2, 3)).astype(np.int16), rng.integers(-99, 99, (3, 2)).astype(np.int16)
    add("mat_mul_integer16", "MatMulInteger16", dict(a=m, b=n), dict(y=m.astype(np.int32) @ n.astype(np.int32)))
    add("reduce_sum_integer", "ReduceSumInteger", dict(x=p), dict(y=p.astype(np.uint32).sum(1, dtype=np.uint32)), axes=[-1], keepdims=0)


def channels_last():
    x, w, bias, rest = random(1, 3, 4, 2), random(3, 2, 1, 1), random(3), random(1, 3, 4, 3)
    conv = np.einsum("nhwc,mc->nhwm", x, w[:, :, 0, 0]) + bias
    add("nhwc_conv", "NhwcConv", dict(x=x, w=w, b=bias), dict(y=f32(conv)))
    add("nhwc_fused_conv", "NhwcFusedConv", dict(x=x, w=w, b=bias, z=rest), dict(y=f32(np.maximum(conv + rest, 0))), activation="Relu")
    image = rng.integers(0, 256, (1, 4, 4, 3)).astype(np.uint8)
    add("nhwc_max_pool", "NhwcMaxPool", dict(x=image), dict(y=image.reshape(1, 2, 2, 2, 2, 3).max((2, 4))), kernel_shape=[2, 2], strides=[2, 2])


def codes():
    rows, columns, block = 4, 32, 16
    normal = np.array([-1.0, -0.6961928, -0.52507305, -0.3949175, -0.28444138, -0.18477343, -0.09105004, 0.0, 0.0795803, 0.1609302,
                       0.2461123, 0.33791524, 0.44070983, 0.562617, 0.72295684, 1.0])
    half = np.array([0, 0.0052083333, 0.66666667, 1, 0.33333333, 0.5, 0.16666667, 0.25])
    for kind, table in ((0, np.concatenate([half, -half])), (1, normal)):
        code = rng.integers(0, 16, rows * columns)
        most = np.abs(random(rows * columns // block))
        weight = (table[code] * np.repeat(most, block)).reshape(rows, columns)
        x = random(3, columns)
        add(f"mat_mul_bnb4_{kind}", "MatMulBnb4", dict(x=x, w=(code[0::2] * 16 + code[1::2]).astype(np.uint8), m=most),
            dict(y=f32(x @ weight.T)), K=columns, N=rows, block_size=block, quant_type=kind)
    table = rng.integers(0, 256, (4, 6, 32)).astype(np.uint8)
    at = np.array([[1, -1], [0, 3]])
    for gathered, quantised in ((1, 2), (2, 0), (1, 1), (2, 2)):
        moved = np.moveaxis(table, 2, quantised)
        shape = list(moved.shape)
        shape[quantised] //= 16
        scale, zero = random(*shape), rng.integers(0, 256, shape).astype(np.uint8)
        whole = (moved.astype(int) - np.repeat(zero.astype(int), 16, quantised)) * np.repeat(scale, 16, quantised)
        add(f"gather_{gathered}_blocks_of_{quantised}", "GatherBlockQuantized", dict(t=moved, i=at, s=scale, z=zero),
            dict(y=f32(np.take(whole, at, gathered))), gather_axis=gathered, quantize_axis=quantised, block_size=16, bits=8)


def recurrent():
    """LSTM on inputs and states that are brought to 8 bits by their range at each product."""
    steps, batch, width, hidden = 3, 2, 4, 5

    def product(x, w, scale, zero):
        low, high = min(x.min(), 0), max(x.max(), 0)
        s = np.float32(high - low) / np.float32(255) if high > low else np.float32(1)
        z = np.clip(np.rint(-low / s), 0, 255)
        return (np.clip(np.rint(x / s) + z, 0, 255) - z) @ (w.astype(float) - zero) * s * scale

    sigmoid = lambda x: 1 / (1 + np.exp(-x))
    x = random(steps, batch, width)
    w, r = (rng.integers(-128, 128, (1, n, 4 * hidden)).astype(np.int8) for n in (width, hidden))
    bias, scales = random(1, 8 * hidden), [f32([0.011]), np.abs(random(1, 4 * hidden)) * np.float32(0.01)]
    zeros = [np.array([2], np.int8), np.zeros((1, 4 * hidden), np.int8)]
    h, c = np.zeros((batch, hidden), np.float32), np.zeros((batch, hidden), np.float32)
    inputs = product(x.reshape(-1, width), w[0], scales[0], zeros[0].astype(float)).reshape(steps, batch, -1)
    outputs = []
    for t in range(steps):
        gates = inputs[t] + product(h, r[0], scales[1][0], 0) + bias[0, :4 * hidden] + bias[0, 4 * hidden:]
        i, o, f, g = np.split(f32(gates), 4, 1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = f32(sigmoid(o) * np.tanh(c))
        outputs.append(h)
    given = dict(x=x, w=w, r=r, b=bias, ws=scales[0], wz=zeros[0], rs=scales[1], rz=zeros[1])
    names = ["x", "w", "r", "b", "", "", "", "", "ws", "wz", "rs", "rz"]
    cases.add("dynamic_quantize_lstm", helper.make_node("DynamicQuantizeLSTM", names, ["y", "h", "c"], domain="com.microsoft", hidden_size=hidden),
              given, dict(y=f32(np.stack(outputs)[:, None]), h=h[None], c=f32(c)[None]))


def experts():
    count, width, inner, k = 4, 8, 16, 2
    x, scores = random(3, width), random(3, count)
    layers = [random(count, inner, width), random(count, inner), random(count, width, inner // 2), random(count, width)]
    e = np.exp(scores)
    probable = e / e.sum(1, keepdims=True)
    chosen = np.argsort(-scores, 1)[:, :k]

    def expect(first, first_bias, second, second_bias, act, share=probable, normal=True):
        y = np.zeros_like(x)
        for t in range(len(x)):
            total = share[t, chosen[t]].sum() if normal else 1
            for i in chosen[t]:
                y[t] += share[t, i] / total * (second[i] @ act(first[i] @ x[t] + first_bias[i]) + second_bias[i])
        return dict(y=f32(y))

    def swiglu(h):
        gate, linear = np.minimum(h[0::2], 1.5), np.clip(h[1::2], -1.5, 1.5)
        return gate / (1 + np.exp(-1.7 * gate)) * (linear + 1)

    relu = lambda h: np.maximum(h, 0)
    given = dict(x=x, r=scores, w1=layers[0], b1=layers[1], w2=layers[2], b2=layers[3])
    add("mo_e_swiglu", "MoE", given, expect(*layers, swiglu), k=k, normalize_routing_weights=1, activation_type="swiglu",
        swiglu_fusion=1, swiglu_limit=1.5, activation_alpha=1.7, activation_beta=1.0)
    layers[0], layers[1] = f32(layers[0][:, :inner // 2]), f32(layers[1][:, :inner // 2])
    add("mo_e_relu", "MoE", dict(given, w1=layers[0], b1=layers[1]), expect(*layers, relu, normal=False), k=k)
    block, codes, scales, zeros = 4, [], [], []
    for rows, columns in ((inner // 2, width), (width, inner // 2)):
        codes.append(rng.integers(0, 16, (count, rows, columns)))
        scales.append(random(count, rows, columns // block))
        zeros.append(rng.integers(0, 16, (count, rows, columns // block)))
    pack = lambda v: (v[..., 0::2] + 16 * v[..., 1::2]).astype(np.uint8)
    whole = [(c - np.repeat(z, block, 2)) * np.repeat(s, block, 2) for c, s, z in zip(codes, scales, zeros)]
    share = random(3, count) ** 2
    names = ["x", "r", "w1", "s1", "b1", "w2", "s2", "b2", "", "", "", "z1", "z2", "", "share"]
    inputs = dict(x=x, r=scores, w1=pack(codes[0]), s1=scales[0], b1=layers[1], w2=pack(codes[1]), s2=scales[1], b2=layers[3],
                  z1=pack(zeros[0]), z2=pack(zeros[1]), share=share)
    cases.add("q_mo_e", helper.make_node("QMoE", names, ["y"], domain="com.microsoft", k=k, expert_weight_bits=4, block_size=block,
              normalize_routing_weights=1), inputs, expect(whole[0], layers[1], whole[1], layers[3], relu, share))


def padding():
    x, counts = random(2, 4, 6), np.array([3, 1], np.int32)
    tokens, offsets = np.array([0, 1, 2, 4]), np.array([[0, 1, 2, 4], [3, 5, 6, 7]], np.int32)
    rows, sums = x.reshape(8, 6)[tokens], np.array([0, 3, 4], np.int32)
    add("remove_padding", "RemovePadding", dict(x=x, n=counts), dict(y=rows, at=offsets, sums=sums, most=np.array([3], np.int32)))
    restored = np.zeros((8, 6), np.float32)
    restored[tokens] = rows
    add("restore_padding", "RestorePadding", dict(x=rows, at=offsets), dict(y=restored.reshape(2, 4, 6)))
    w, bias = random(6, 12), random(12)
    y = np.zeros((4, 4), np.float32)
    for begin, end in ((0, 3), (3, 4)):
        q, k, v = (p.reshape(-1, 2, 2).swapaxes(0, 1) for p in np.split(rows[begin:end] @ w + bias, 3, 1))
        e = np.exp(q @ k.swapaxes(1, 2) / np.sqrt(2))
        y[begin:end] = (e / e.sum(-1, keepdims=True) @ v).swapaxes(0, 1).reshape(-1, 4)
    add("packed_attention", "PackedAttention", dict(x=rows, w=w, b=bias, at=offsets, sums=sums), dict(y=y), num_heads=2)
    parts = dict(zip("qkv", (f32(p) for p in np.split(rows @ w, 3, 1))))
    add("packed_multi_head_attention", "PackedMultiHeadAttention", dict(**parts, b=bias, at=offsets, sums=sums), dict(y=y), num_heads=2)
    series = random(2, 9)
    add("unfold_tensor", "UnfoldTensor", dict(x=series), dict(y=np.stack([series[:, i:i + 3] for i in range(0, 7, 2)], 1)), size=3, step=2)


arrays()
experts()
padding()
channels_last()
codes()
recurrent()
sys.exit(cases.run())
