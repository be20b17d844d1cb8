#!/usr/bin/python3
"""Attention of the standard and of com.microsoft, rotary embeddings and linear attention, against NumPy.

usage: attention_test.py INGOT
"""
import sys

import numpy as np
from onnx import TensorProto, helper

from cases import Cases

rng = np.random.default_rng(1)
cases = Cases()
MS = {"domain": "com.microsoft"}


def random(*shape, dtype=np.float32):
    return rng.standard_normal(shape).astype(dtype)


def softmax(x, sink=None):
    top = np.maximum(x.max(-1, keepdims=True), -1e30)
    e = np.exp(x - top)
    total = e.sum(-1, keepdims=True) + (0 if sink is None else np.exp(sink - top))
    return e / np.where(total == 0, 1, total)


def attention(q, k, v, bias=0.0, scale=None, softcap=0, sink=None):
    """q, k, v [batch, heads, time, width]; gives scores, capped, biased, weights and the result."""
    share = q.shape[1] // k.shape[1]
    k, v = np.repeat(k, share, 1), np.repeat(v, share, 1)
    scores = q @ k.swapaxes(2, 3) * (scale or q.shape[3] ** -0.5)
    capped = softcap * np.tanh(scores / softcap) if softcap else scores
    biased = capped + bias
    weights = softmax(biased, sink)
    return scores, capped, biased, weights, weights @ v


def seen(condition):
    return np.where(condition, 0, -np.inf).astype(np.float32)


def heads(x, count):
    return x.reshape(*x.shape[:2], count, -1).swapaxes(1, 2)


def flat(x):
    return np.ascontiguousarray(x.swapaxes(1, 2)).reshape(x.shape[0], x.shape[2], -1)


def f32(x):
    return np.ascontiguousarray(x, dtype=np.float32)


def standard():
    q, k, v = random(2, 4, 3, 8), random(2, 2, 5, 8), random(2, 2, 5, 6)
    i, j = np.arange(3)[:, None], np.arange(5)
    attn = lambda inputs, outputs=("y",), **attributes: helper.make_node("Attention", inputs, outputs, **attributes)
    cases.add("grouped", attn(["q", "k", "v"]), dict(q=q, k=k, v=v), dict(y=f32(attention(q, k, v)[4])))
    flat_inputs = dict(q=flat(q), k=flat(k), v=flat(v))
    cases.add("three_dimensions", attn(["q", "k", "v"], q_num_heads=4, kv_num_heads=2, scale=0.3), flat_inputs,
              dict(y=flat(f32(attention(q, k, v, scale=0.3)[4]))))
    mask = random(3, 4)
    padded = np.pad(mask, ((0, 0), (0, 1)), constant_values=-np.inf)
    cases.add("mask_that_ends_early", attn(["q", "k", "v", "mask"]), dict(q=q, k=k, v=v, mask=mask),
              dict(y=f32(attention(q, k, v, padded)[4])))
    flags = rng.random((2, 1, 3, 5)) > 0.4
    flags[1, 0, 1] = False
    cases.add("query_that_sees_nothing", attn(["q", "k", "v", "mask"]), dict(q=q, k=k, v=v, mask=flags),
              dict(y=f32(attention(q, k, v, seen(flags))[4])))
    whole = random(3, 5)
    for mode in range(4):
        parts = attention(q, k, v, whole, softcap=1.5)
        cases.add(f"softcap_before_mask_mode_{mode}",
                  attn(["q", "k", "v", "mask"], ["y", "", "", "qk"], softcap=1.5, qk_matmul_output_mode=mode),
                  dict(q=q, k=k, v=v, mask=whole), dict(y=f32(parts[4]), qk=f32(parts[mode])))
    lengths = np.array([4, 2], dtype=np.int64)
    offset = (lengths - 3)[:, None, None, None]
    bias = seen((j <= i + offset) & (j < lengths[:, None, None, None]))
    cases.add("causal_in_a_buffer", attn(["q", "k", "v", "", "", "", "n"], is_causal=1),
              dict(q=q, k=k, v=v, n=lengths), dict(y=f32(attention(q, k, v, bias)[4])), opset=24)
    past_k, past_v = random(2, 2, 2, 8), random(2, 2, 2, 6)
    all_k, all_v = np.concatenate([past_k, k], 2), np.concatenate([past_v, v], 2)
    bias = seen(np.arange(7) <= i + 2)
    cases.add("causal_with_past", attn(["q", "k", "v", "", "pk", "pv"], ["y", "k2", "v2"], is_causal=1),
              dict(q=q, k=k, v=v, pk=past_k, pv=past_v), dict(y=f32(attention(q, all_k, all_v, bias)[4]), k2=all_k, v2=all_v))
    for name, left, right, causal in (("left", 1, -1, 0), ("both_sides", 1, 1, 0), ("causal", 0, 2, 1)):
        window = (j >= i - left) & ((j <= i + right) | (right < 0)) & ((j <= i) | (causal == 0))
        cases.add(f"window_{name}", attn(["q", "k", "v"], left_window_size=left, right_window_size=right, is_causal=causal),
                  dict(q=q, k=k, v=v), dict(y=f32(attention(q, k, v, seen(window))[4])), opset=25)
    change = lambda name, op: helper.make_graph([helper.make_node(op, ["s", "extra"], ["t"])], name,
        [helper.make_tensor_value_info("s", 1, None)], [helper.make_tensor_value_info("t", 1, None)])
    extra = random(3, 5)
    scores = attention(q, k, v, extra)[3] * extra @ np.repeat(v, 2, 1)
    cases.add("flexible", helper.make_node("FlexAttention", ["q", "k", "v"], ["y"], domain="ai.onnx.preview",
                                           score_mod=change("s", "Add"), prob_mod=change("p", "Mul")),
              dict(q=q, k=k, v=v), dict(y=f32(scores)), initializers=dict(extra=extra), opset=26,
              domains=(("ai.onnx.preview", 1),))


def rotate(x, cosine, sine, interleaved=False, width=0):
    """x [batch, heads, time, head]; cosine, sine [batch or 1, time, half]."""
    width = width or x.shape[3]
    part, rest = x[..., :width], x[..., width:]
    c, s = cosine[:, None], sine[:, None]
    one, two = (part[..., 0::2], part[..., 1::2]) if interleaved else (part[..., :width // 2], part[..., width // 2:])
    turned = [one * c - two * s, one * s + two * c]
    part = np.stack(turned, -1).reshape(part.shape) if interleaved else np.concatenate(turned, -1)
    return f32(np.concatenate([part, rest], -1))


def rotary():
    x, table = random(2, 3, 4, 8), random(10, 4)
    cosine, sine = np.cos(table), np.sin(table)
    place = np.array([[1, 2, 3, 4], [5, 6, 7, 8]], dtype=np.int64)
    for interleaved in (0, 1):
        expected = rotate(x, cosine[place], sine[place], interleaved)
        cases.add(f"rotary_{interleaved}", helper.make_node("RotaryEmbedding", ["x", "c", "s", "p"], ["y"],
                  interleaved=interleaved), dict(x=x, c=cosine, s=sine, p=place), dict(y=expected))
        cases.add(f"rotary_ms_{interleaved}", helper.make_node("RotaryEmbedding", ["x", "p", "c", "s"], ["y"], **MS,
                  interleaved=interleaved), dict(x=x, p=place, c=cosine, s=sine), dict(y=expected))
    start = np.array([3], dtype=np.int64)
    run = np.arange(3, 7)[None]
    cases.add("rotary_ms_from_a_place", helper.make_node("RotaryEmbedding", ["x", "p", "c", "s"], ["y"], **MS, num_heads=3),
              dict(x=flat(x), p=start, c=cosine, s=sine), dict(y=flat(rotate(x, cosine[run], sine[run]))))


def grouped_queries():
    batch, time, count, kv, width = 2, 1, 4, 2, 8
    q, k, v = random(batch, time, count * width), random(batch, time, kv * width), random(batch, time, kv * width)
    table = random(16, width // 2)
    cosine, sine = np.cos(table), np.sin(table)
    inputs = ["q", "k", "v", "pk", "pv", "last", "total", "c", "s"]

    def expect(past_k, past_v, lengths, total, rotate_too, window=-1, sink=None, softcap=0.0, q=q, k=k, v=v, bias=None):
        """lengths: keys of each batch, those of now included."""
        now = q.shape[1]
        new_q, new_k, new_v = heads(q, count), heads(k, kv), heads(v, kv)
        before = lengths - now
        place = before[:, None] + np.arange(now)
        if rotate_too:
            new_q, new_k = (rotate(x, cosine[place], sine[place]) for x in (new_q, new_k))
        room = max(total, past_k.shape[2])
        present = [np.concatenate([p, np.zeros((batch, kv, room - p.shape[2], width), np.float32)], 2)
                   for p in (past_k, past_v)]
        for b in range(batch):
            for part, new in zip(present, (new_k, new_v)):
                part[b, :, before[b]:before[b] + now] = new[b]
        j, p = np.arange(room), place[:, None, :, None]
        added = 0.0 if bias is None else np.pad(bias, ((0, 0), (0, 0), (0, 0), (0, room - total)))
        y = attention(new_q, *present, seen((j <= p) & ((j > p - window) | (window < 0))) + added, softcap=softcap, sink=sink)[4]
        return dict(y=flat(f32(y)), k2=present[0], v2=present[1])

    def case(name, past, lengths, total, known=True, extra=(), extra_values=None, **attributes):
        pk, pv = random(batch, kv, past, width), random(batch, kv, past, width)
        lengths = np.array(lengths, dtype=np.int64)
        out = expect(pk, pv, lengths, total, attributes.get("do_rotary"), attributes.get("local_window_size", -1),
                     softcap=attributes.get("softcap", 0.0),
                     sink=0 if attributes.get("smooth_softmax") else
                     extra_values["sink"].reshape(1, count, 1, 1) if "sink" in (extra_values or {}) else None,
                     bias=(extra_values or {}).get("bias"))
        for b, length in enumerate(lengths):
            out["k2"][b, :, length:] = out["v2"][b, :, length:] = 0
        values = dict(q=q, k=k, v=v, pk=pk, pv=pv, last=(lengths - 1).astype(np.int32), **(extra_values or {}))
        size = dict(total=np.array(total, dtype=np.int32))
        names = inputs if attributes.get("do_rotary") else inputs[:7] + ["", ""]
        tables = dict(c=cosine, s=sine) if attributes.get("do_rotary") else {}
        node = helper.make_node("GroupQueryAttention", names + list(extra), ["y", "k2", "v2"], **MS, num_heads=count,
                                kv_num_heads=kv, **attributes)
        if known:
            cases.add(name, node, {**values, **tables}, out, initializers=size)
        else:
            cases.add(name, node, {**values, **size, **tables}, out)

    case("gqa", 5, [6, 6], 6)
    case("gqa_rotary", 5, [6, 6], 6, do_rotary=1)
    case("gqa_of_different_lengths", 5, [6, 3], 6, do_rotary=1)
    case("gqa_in_a_buffer", 9, [6, 4], 6, do_rotary=1)
    case("gqa_of_unknown_length", 5, [6, 3], 6, known=False)
    case("gqa_window_softcap", 5, [6, 4], 6, local_window_size=3, softcap=2.0)
    case("gqa_smooth", 5, [6, 4], 6, smooth_softmax=1)
    for name, past, known in (("", 5, True), ("_of_unknown_length", 5, False), ("_in_a_buffer", 9, True), ("_in_a_buffer_of_unknown_length", 9, False)):
        case(f"gqa_bias{name}", past, [6, 4], 6, known, extra=["", "bias"], extra_values=dict(bias=random(batch, 1, time, 6)))
    case("gqa_sinks", 5, [6, 4], 6, extra=["", "", "sink"], extra_values=dict(sink=random(count)))
    # The prompt: no past, one operand that holds all three.
    q, k, v = random(batch, 3, count * width), random(batch, 3, kv * width), random(batch, 3, kv * width)
    none = np.zeros((batch, kv, 0, width), np.float32)
    out = expect(none, none, np.array([3, 3]), 3, True, q=q, k=k, v=v)
    cases.add("gqa_prompt_packed", helper.make_node("GroupQueryAttention", ["q", "", "", "", "", "last", "total", "c", "s"],
              ["y", "k2", "v2"], **MS, num_heads=count, kv_num_heads=kv, do_rotary=1),
              dict(q=np.concatenate([q, k, v], 2), last=np.array([2, 2], np.int32), c=cosine, s=sine), out,
              initializers=dict(total=np.array(3, np.int32)))


def contrib():
    q, k, v = random(2, 3, 8), random(2, 5, 8), random(2, 5, 8)
    split = lambda x: heads(x, 2)
    result = lambda bias=0.0, q=q, k=k, v=v: flat(f32(attention(split(q), split(k), split(v), bias)[4]))
    mha = lambda inputs, **attributes: helper.make_node("MultiHeadAttention", inputs, ["y"], **MS, num_heads=2, **attributes)
    bias, mask = random(24), np.array([[1, 1, 0, 1, 0], [1, 0, 0, 0, 0]], np.int32)
    hidden = lambda flags: np.where(flags, 0, -10000)
    cases.add("mha_bias_mask", mha(["q", "k", "v", "b", "m"]), dict(q=q, k=k, v=v, b=bias, m=mask),
              dict(y=result(hidden(mask[:, None, None] > 0), q + bias[:8], k + bias[8:16], v + bias[16:])))
    cases.add("mha_unidirectional", mha(["q", "k", "v"], unidirectional=1), dict(q=q, k=k, v=v),
              dict(y=result(seen((np.arange(5) <= np.arange(3)[:, None]) | (np.arange(3)[:, None] == 2)))))
    newest = random(2, 1, 8)
    cases.add("mha_unidirectional_newest_query", mha(["q", "k", "v"], unidirectional=1), dict(q=newest, k=k, v=v), dict(y=result(q=newest)))
    cases.add("mha_nothing_seen", mha(["q", "k", "v", "", "m"], mask_filter_value=-50.0),
              dict(q=q, k=k, v=v, m=mask * 0), dict(y=result()))
    packed = np.stack([x.reshape(2, 5, 2, 4) for x in (k, v)], 3)
    cases.add("mha_packed_keys", mha(["q", "kv"]), dict(q=q, kv=packed), dict(y=result()))
    packed = np.stack([x.reshape(2, 5, 2, 4) for x in (k, k, v)], 3)
    cases.add("mha_packed", mha(["qkv"]), dict(qkv=packed), dict(y=result(q=k)))
    cases.add("mha_keys_in_heads", mha(["q", "k", "v", "b"]), dict(q=q, k=f32(split(k)), v=f32(split(v)), b=bias),
              dict(y=result(0.0, q + bias[:8])))
    sums = np.array([4, 2, 0, 3, 6, 0, 5, 10], np.int32)
    cases.add("mha_mask_with_sums", mha(["q", "k", "v", "", "m"]), dict(q=q, k=k, v=v, m=sums),
              dict(y=result(hidden(np.arange(5) < sums[:2, None, None, None]))))
    x, w = random(2, 4, 6), random(6, 24)
    all_of = np.split(x @ w + bias, 3, 2)
    node = lambda inputs, **attributes: helper.make_node("Attention", inputs, ["y"], **MS, num_heads=2, **attributes)
    cases.add("ms_attention_ends", node(["x", "w", "b", "m"]), dict(x=x, w=w, b=bias, m=np.array([3, 2], np.int32)),
              dict(y=result(hidden(np.arange(4) < np.array([3, 2])[:, None, None, None]), *all_of)))
    ends = np.array([4, 3, 1, 0], np.int32)
    begins = (np.arange(4) < ends[:2, None, None, None]) & (np.arange(4) >= ends[2:, None, None, None])
    cases.add("ms_attention_begins", node(["x", "w", "b", "m"]), dict(x=x, w=w, b=bias, m=ends),
              dict(y=result(hidden(begins), *all_of)))


def buffers():
    """Pasts with room behind what they hold: two rows that are beams of one batch."""
    rows, count, room, width, taken = 2, 2, 6, 4, 3
    q, k, v, bias = random(rows, 1, 8), random(rows, 1, 8), random(rows, 1, 8), random(24)
    pk, pv = random(rows, count, room, width), random(rows, count, room, width)
    beams = rng.integers(0, 2, (1, 2, room)).astype(np.int32)
    length, end = np.array([taken], np.int32), taken + 1
    mask = np.array([[1, 0, 1, 1], [0, 1, 1, 1]], np.int32)

    def expect(from_beams, shift=np.zeros(24, np.float32), extra=0.0):
        new = [heads(x + part, count) for x, part in zip((q, k, v), np.split(shift, 3))]
        present, used = [p.copy() for p in (pk, pv)], []
        for p, now in zip(present, new[1:]):
            p[:, :, taken:end] = now
            used.append(p[:, :, :end].copy())
            for row in range(rows if from_beams else 0):
                for t in range(taken):
                    used[-1][row, :, t] = p[beams[0, row, t], :, t]
        return dict(y=flat(f32(attention(new[0], *used, extra)[4])), k2=present[0], v2=present[1])

    def case(name, op, names, out, **attributes):
        given = dict(q=q, k=k, v=v, pk=pk, pv=pv, n=length, w=np.array([2], np.int32), i=beams, b=bias, m=mask)
        cases.add(name, helper.make_node(op, names, ["y", "k2", "v2"], **MS, num_heads=count, **attributes),
                  {key: given[key] for key in given if key in names}, out)

    hidden = np.where(mask > 0, 0, -10000)[:, None, None]
    decode = ["q", "k", "v", "", "", "pk", "pv", "n"]
    case("decode", "DecoderMaskedMultiHeadAttention", decode, expect(False), past_present_share_buffer=1)
    case("decode_masked", "DecoderMaskedMultiHeadAttention", decode[:3] + ["m"] + decode[4:], expect(False, extra=hidden),
         past_present_share_buffer=1)
    case("decode_beams_bias", "DecoderMaskedMultiHeadAttention", decode + ["w", "i", "b"], expect(True, bias),
         past_present_share_buffer=1)
    case("mha_buffer_beams", "MultiHeadAttention", ["q", "k", "v", "b", "", "", "pk", "pv", "n", "i"], expect(True, bias))
    w = random(8, 24)
    both = np.stack([pk, pv])
    parts = np.split(q @ w, 3, 2)
    present = [p.copy() for p in (pk, pv)]
    for p, now in zip(present, parts[1:]):
        p[:, :, taken:end] = heads(now, count)
    y = attention(heads(parts[0], count), *[p[:, :, :end] for p in present])[4]
    cases.add("ms_attention_buffer", helper.make_node("Attention", ["x", "w", "", "", "p", "", "n"], ["y", "p2"], **MS,
              num_heads=count, past_present_share_buffer=1), dict(x=q, w=w, p=both, n=np.array(taken, np.int32)),
              dict(y=flat(f32(y)), p2=np.stack(present)))


def linear():
    batch, time, count, kv, width, depth = 2, 3, 4, 2, 3, 5
    q, k, v = random(batch, time, count * width), random(batch, time, kv * width), random(batch, time, kv * depth)
    state = random(batch, kv, width, depth)
    decay, beta = -np.abs(random(batch, time, kv)), np.abs(random(batch, time, kv))
    for rule in ("linear", "gated", "delta", "gated_delta"):
        s, outputs = state.astype(np.float64), []
        for t in range(time):
            key, value = k[:, t].reshape(batch, kv, width), v[:, t].reshape(batch, kv, depth)
            if "gated" in rule:
                s = s * np.exp(decay[:, t])[..., None, None]
            if "delta" in rule:
                value = beta[:, t][..., None] * (value - np.einsum("bhkv,bhk->bhv", s, key))
            s = s + key[..., None] * value[..., None, :]
            query = q[:, t].reshape(batch, count, width) * width ** -0.5
            outputs.append(np.einsum("bhk,bhkv->bhv", query, np.repeat(s, count // kv, 1)).reshape(batch, -1))
        inputs = dict(q=q, k=k, v=v, s=state)
        inputs.update({"d": decay} if "gated" in rule else {})
        inputs.update({"b": beta} if "delta" in rule else {})
        names = ["q", "k", "v", "s", "d" if "gated" in rule else "", "b" if "delta" in rule else ""]
        cases.add(f"linear_attention_{rule}", helper.make_node("LinearAttention", names, ["y", "s2"], q_num_heads=count,
                  kv_num_heads=kv, update_rule=rule), inputs, dict(y=f32(np.stack(outputs, 1)), s2=f32(s)), opset=27)
    x, w, past = random(2, 3, 4), random(3, 1, 3), random(2, 3, 2)
    whole = np.concatenate([past, x], 2)
    y = sum(whole[:, :, i:i + 4] * w[:, 0, i][None, :, None] for i in range(3))
    cases.add("causal_conv", helper.make_node("CausalConvWithState", ["x", "w", "", "p"], ["y", "p2"], activation="silu"),
              dict(x=x, w=w, p=past), dict(y=f32(y / (1 + np.exp(-y))), p2=whole[:, :, -2:]), opset=27)


standard()
rotary()
grouped_queries()
contrib()
buffers()
linear()
sys.exit(cases.run())
