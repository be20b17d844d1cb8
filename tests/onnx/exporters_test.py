#!/usr/bin/python3
"""Transformers as exporters write them: masks and positions made of shapes, caches that grow, symbolic dimensions.
What follows from dimensions alone runs no kernel; results are compared with NumPy.

usage: exporters_test.py INGOT
"""
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
from onnx import TensorProto, helper, numpy_helper

TOOL = sys.argv[1]
FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
failures = []


def check(title, good, seen):
    if not good:
        failures.append(title)
        print(f"FAILED {title}: {str(seen)[:3000]}")


class Graph:
    """Builds a graph; constants become initializers and equal ones are shared."""

    def __init__(self):
        self.nodes, self.constants, self.inputs, self.outputs, self.count = [], {}, [], [], 0

    def __call__(self, op, *inputs, outputs=1, **attributes):
        names = []
        for _ in range(outputs):
            self.count += 1
            names.append(f"{op}_{self.count}")
        self.nodes.append(helper.make_node(op, [self.operand(x) for x in inputs], names, **attributes))
        return names[0] if outputs == 1 else names

    def operand(self, x):
        if isinstance(x, str):
            return x
        array = np.asarray(x)
        if array.dtype == np.float64:
            array = array.astype(np.float32)
        name = f"c{len(self.constants)}"
        self.constants[name] = array
        return name

    def input(self, name, dims, dtype=FLOAT):
        self.inputs.append(helper.make_tensor_value_info(name, dtype, dims))
        return name

    def output(self, value, name, dtype=FLOAT):
        self.nodes.append(helper.make_node("Identity", [value], [name]))
        self.outputs.append(helper.make_tensor_value_info(name, dtype, None))

    # What exporters write for x.size(i), and for a shape of such sizes.
    def size(self, x, axis):
        return self("Gather", self("Shape", x), np.array(axis), axis=0)

    def shape(self, *sizes):
        return self("Concat", *[self("Unsqueeze", s, np.array([0])) if isinstance(s, str) else np.array([s]) for s in sizes], axis=0)

    def model(self, opset=17):
        graph = helper.make_graph(self.nodes, "g", self.inputs, self.outputs,
                                  [numpy_helper.from_array(v, k) for k, v in self.constants.items()])
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def run(folder, *words):
    return subprocess.run([TOOL, *words], capture_output=True, text=True, timeout=120, cwd=folder)


def compiled(folder, graph, *words):
    (pathlib.Path(folder) / "m.onnx").write_bytes(graph.model().SerializeToString())
    done = run(folder, "compile", "m.onnx", "-o", "m.ingot", *words)
    check("it compiles", done.returncode == 0, done.stderr)
    return run(folder, "disasm", "m.ingot").stdout


def for_shapes(text):
    """PrimFuncs that write integers of rank 0, or of rank 1 and known size: sizes, and what is computed of them."""
    found = re.findall(r"^prim_func @(\w+)\((.*)\) \{$", text, re.M)
    results = [(name, re.findall(r"Buffer\[\(([^)]*)\), (\w+)\]", params)[-1]) for name, params in found]
    return [name for name, (dims, dtype) in results if re.match("u?int|bool", dtype) and re.fullmatch(r"(\d+,)?", dims)]


def calls(text, most):
    """Few kernels, none of them for shapes, and of the builtins only slices whose places depend on sizes."""
    kernels = [line.strip() for line in text.splitlines() if line.startswith("    call_kernel")]
    builtins = [line.strip() for line in text.splitlines() if line.startswith("    call_builtin")]
    good = len(kernels) <= most and not for_shapes(text) and all(", slice, " in line for line in builtins)
    return good, (len(kernels), for_shapes(text), builtins)


def layer_norm(x, w, b):
    x = x - x.mean(-1, keepdims=True)
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * w + b


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def gelu(x):
    return 0.5 * x * (1 + np.tanh(np.float32(np.sqrt(2 / np.pi)) * (x + 0.044715 * x ** 3)))


WIDTH, HEADS, LAYERS, WORDS, LONGEST = 16, 4, 6, 29, 32
PART = WIDTH // HEADS
rng = np.random.default_rng(6)


def weights():
    def some(*dims):
        return (rng.standard_normal(dims) * 0.3).astype(np.float32)

    layers = [dict(n1=(some(WIDTH), some(WIDTH)), qkv=(some(WIDTH, 3 * WIDTH), some(3 * WIDTH)), out=(some(WIDTH, WIDTH), some(WIDTH)),
                   n2=(some(WIDTH), some(WIDTH)), up=(some(WIDTH, 4 * WIDTH), some(4 * WIDTH)), down=(some(4 * WIDTH, WIDTH), some(WIDTH)))
              for _ in range(LAYERS)]
    return dict(words=some(WORDS, WIDTH), places=some(LONGEST, WIDTH), layers=layers, last=(some(WIDTH), some(WIDTH)))


def linear(g, x, wb, columns):
    """GPT-2's Conv1D: a Gemm of two dimensions, with a reshape by sizes before and behind it."""
    flat = g("Reshape", x, g.shape(-1, g.size(x, 2)))
    y = g("Gemm", flat, *wb)
    return g("Reshape", y, g.shape(g.size(x, 0), g.size(x, 1), columns))


def expanded(g, x, *sizes):
    """x.expand(sizes), where -1 keeps a size."""
    shape = g.shape(*sizes)
    ones = g("ConstantOfShape", g("Shape", shape), value=numpy_helper.from_array(np.array([1], np.int64)))
    keep = g("Equal", shape, g("Mul", ones, np.array(-1)))
    return g("Expand", x, g("Where", keep, ones, shape))


def decoder(w):
    g = Graph()
    ids = g.input("input_ids", ("batch", "sequence"), INT64)
    mask = g.input("attention_mask", ("batch", "past_sequence + sequence"), INT64)
    past = [[g.input(f"past_{i}_{kind}", ("batch", HEADS, "past_sequence", PART)) for kind in "kv"] for i in range(LAYERS)]
    batch, length, before = g.size(ids, 0), g.size(ids, 1), g.size(past[0][0], 2)
    total = g("Add", length, before)
    ids2 = g("Reshape", ids, g.shape(-1, length))
    places = g("Reshape", g("Unsqueeze", g("Range", before, total, np.array(1)), np.array([0])), g.shape(-1, length))
    flat = g("Reshape", mask, g.shape(batch, -1))
    four = g("Unsqueeze", g("Unsqueeze", flat, np.array([1])), np.array([2]))
    away = g("Mul", g("Sub", np.float32(1), g("Cast", four, to=FLOAT)), np.float32(np.finfo(np.float32).min))
    x = g("Add", g("Gather", w["words"], ids2), g("Gather", w["places"], places))
    bias = np.tril(np.ones((LONGEST, LONGEST), bool)).reshape(1, 1, LONGEST, LONGEST)
    outputs = []
    for layer, (pk, pv) in zip(w["layers"], past):
        h = g("LayerNormalization", x, *layer["n1"], epsilon=1e-5)
        parts = g("Split", linear(g, h, layer["qkv"], 3 * WIDTH), np.array([WIDTH] * 3), outputs=3, axis=2)
        q, k, v = (g("Transpose", g("Reshape", p, g.shape(g.size(p, 0), g.size(p, 1), HEADS, PART)), perm=[0, 2, 1, 3]) for p in parts)
        k, v = g("Concat", pk, k, axis=-2), g("Concat", pv, v, axis=-2)
        outputs += [k, v]
        scores = g("MatMul", q, g("Transpose", k, perm=[0, 1, 3, 2]))
        scores = g("Div", scores, np.float32(np.sqrt(PART)))
        keys, queries = g.size(k, -2), g.size(q, -2)
        first = g("Sub", keys, queries)
        at = [g("Unsqueeze", n, np.array([0])) for n in (first, keys)]
        rows = g("Slice", bias, at[0], at[1], np.array([2]), np.array([1]))
        causal = g("Slice", rows, np.array([0]), at[1], np.array([3]), np.array([1]))
        scores = g("Add", g("Where", causal, scores, np.float32(np.finfo(np.float32).min)), away)
        y = g("Transpose", g("MatMul", g("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3])
        y = g("Reshape", y, g.shape(g.size(y, 0), g.size(y, 1), g("Mul", g.size(y, 2), g.size(y, 3))))
        x = g("Add", linear(g, y, layer["out"], WIDTH), x)
        h = linear(g, g("LayerNormalization", x, *layer["n2"], epsilon=1e-5), layer["up"], 4 * WIDTH)
        cubed = g("Mul", np.float32(0.044715), g("Pow", h, np.float32(3)))
        t = g("Tanh", g("Mul", np.float32(np.sqrt(2 / np.pi)), g("Add", h, cubed)))
        h = g("Mul", g("Mul", np.float32(0.5), h), g("Add", np.float32(1), t))
        x = g("Add", x, linear(g, h, layer["down"], WIDTH))
    x = g("LayerNormalization", x, *w["last"], epsilon=1e-5)
    x = g("Reshape", x, g.shape(-1, length, g.size(x, -1)))
    g.output(g("MatMul", x, np.ascontiguousarray(w["words"].T)), "logits")
    for i, value in enumerate(outputs):
        g.output(value, f"present_{i // 2}_{'kv'[i % 2]}")
    return g


def decoder_in_numpy(w, ids, mask, past):
    length, before = ids.shape[1], past[0][0].shape[2]
    x = w["words"][ids] + w["places"][np.arange(before, before + length)]
    away = (1 - mask[:, None, None].astype(np.float32)) * np.finfo(np.float32).min
    causal = np.tril(np.ones((LONGEST, LONGEST), bool))[before:before + length, :before + length]
    present = []
    for layer, (pk, pv) in zip(w["layers"], past):
        h = layer_norm(x, *layer["n1"]) @ layer["qkv"][0] + layer["qkv"][1]
        q, k, v = (p.reshape(*p.shape[:2], HEADS, PART).transpose(0, 2, 1, 3) for p in np.split(h, 3, 2))
        k, v = np.concatenate([pk, k], 2), np.concatenate([pv, v], 2)
        present += [k, v]
        scores = q @ k.transpose(0, 1, 3, 2) / np.float32(np.sqrt(PART))
        with np.errstate(over="ignore"):
            scores = np.where(causal, scores, np.finfo(np.float32).min) + away
        y = (softmax(scores) @ v).transpose(0, 2, 1, 3).reshape(x.shape)
        x = x + y @ layer["out"][0] + layer["out"][1]
        h = gelu(layer_norm(x, *layer["n2"]) @ layer["up"][0] + layer["up"][1])
        x = x + h @ layer["down"][0] + layer["down"][1]
    return [layer_norm(x, *w["last"]) @ w["words"].T, *present]


def encoder(w):
    """BERT's: a mask that is expanded to (batch, 1, sequence, sequence), positions cut from a table."""
    g = Graph()
    ids, mask = g.input("input_ids", ("batch", "sequence"), INT64), g.input("attention_mask", ("batch", "sequence"), INT64)
    batch, length = g.size(ids, 0), g.size(ids, 1)
    four = g("Unsqueeze", mask, np.array([1, 2]))
    wide = g("Cast", expanded(g, four, batch, 1, length, length), to=FLOAT)
    away = g("Sub", np.float32(1), wide)
    away = g("Where", g("Cast", away, to=BOOL), np.float32(-1e9), away)
    table = np.arange(LONGEST).reshape(1, -1)
    places = g("Slice", table, np.array([0]), g("Unsqueeze", length, np.array([0])), np.array([1]), np.array([1]))
    x = g("Add", g("Gather", w["words"], ids), g("Gather", w["places"], places))
    for layer in w["layers"]:
        h = g("Add", g("MatMul", x, layer["qkv"][0]), layer["qkv"][1])
        parts = g("Split", h, np.array([WIDTH] * 3), outputs=3, axis=-1)
        q, k, v = (g("Transpose", g("Reshape", p, g.shape(g.size(p, 0), g.size(p, 1), HEADS, PART)), perm=[0, 2, 1, 3]) for p in parts)
        scores = g("Add", g("Div", g("MatMul", q, g("Transpose", k, perm=[0, 1, 3, 2])), np.float32(np.sqrt(PART))), away)
        y = g("Transpose", g("MatMul", g("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3])
        y = g("Reshape", y, g.shape(g.size(y, 0), g.size(y, 1), WIDTH))
        x = g("LayerNormalization", g("Add", g("Add", g("MatMul", y, layer["out"][0]), layer["out"][1]), x), *layer["n1"], epsilon=1e-5)
        h = g("Add", g("MatMul", x, layer["up"][0]), layer["up"][1])
        h = g("Mul", g("Mul", h, g("Add", g("Erf", g("Div", h, np.float32(np.sqrt(2)))), np.float32(1))), np.float32(0.5))
        x = g("LayerNormalization", g("Add", g("Add", g("MatMul", h, layer["down"][0]), layer["down"][1]), x), *layer["n2"], epsilon=1e-5)
    g.output(x, "hidden")
    return g


def encoder_in_numpy(w, ids, mask):
    erf = np.vectorize(__import__("math").erf, otypes=[np.float32])
    x = w["words"][ids] + w["places"][np.arange(ids.shape[1])]
    away = np.where(mask[:, None, None] == 0, np.float32(-1e9), np.float32(0))
    for layer in w["layers"]:
        h = x @ layer["qkv"][0] + layer["qkv"][1]
        q, k, v = (p.reshape(*p.shape[:2], HEADS, PART).transpose(0, 2, 1, 3) for p in np.split(h, 3, 2))
        y = softmax(q @ k.transpose(0, 1, 3, 2) / np.float32(np.sqrt(PART)) + away) @ v
        x = layer_norm(y.transpose(0, 2, 1, 3).reshape(x.shape) @ layer["out"][0] + layer["out"][1] + x, *layer["n1"])
        h = x @ layer["up"][0] + layer["up"][1]
        h = h * (1 + erf(h / np.float32(np.sqrt(2)))) * np.float32(0.5)
        x = layer_norm(h @ layer["down"][0] + layer["down"][1] + x, *layer["n2"])
    return [x]


def same(folder, title, feeds, expected):
    words = []
    for name, array in feeds.items():
        np.save(pathlib.Path(folder) / f"{name}.npy", array)
        words += ["--input", f"{name}=@{name}.npy"]
    for i, array in enumerate(expected):
        np.save(pathlib.Path(folder) / f"expected_{i}.npy", array)
        words += ["--expected", f"expected_{i}.npy"]
    done = run(folder, "run", "m.ingot", *words)
    check(title, done.returncode == 0, done.stdout[-500:] + done.stderr)


def transformers(folder):
    w = weights()
    text = compiled(folder, decoder(w))
    check("a decoder runs little for shapes", *calls(text, 169))
    for batch, before, length in ((1, 0, 5), (1, 5, 1), (2, 7, 3), (3, 0, 1)):
        past = [[rng.standard_normal((batch, HEADS, before, PART)).astype(np.float32) for _ in "kv"] for _ in range(LAYERS)]
        ids = rng.integers(0, WORDS, (batch, length))
        mask = np.ones((batch, before + length), np.int64)
        mask[0, :before // 2] = 0
        feeds = dict(input_ids=ids, attention_mask=mask)
        feeds.update({f"past_{i}_{kind}": past[i][k] for i in range(LAYERS) for k, kind in enumerate("kv")})
        same(folder, f"a decoder of batch {batch} after {before} words", feeds, decoder_in_numpy(w, ids, mask, past))
    text = compiled(folder, encoder(w))
    check("an encoder runs little for shapes", *calls(text, 106))
    for batch, length in ((1, 1), (1, 7), (3, 5)):
        ids, mask = rng.integers(0, WORDS, (batch, length)), (rng.random((batch, length)) < 0.7).astype(np.int64)
        mask[:, 0] = 1
        same(folder, f"an encoder of batch {batch}", dict(input_ids=ids, attention_mask=mask), encoder_in_numpy(w, ids, mask))


def sizes(g):
    """One chain after the other from the dimensions (n, m, 6) of x to a shape of [elements]."""
    shape = g("Shape", "x")
    n, m = g.size("x", 0), g.size("x", 1)
    some = [g("Unsqueeze", v, np.array([0])) for v in (n, m)]
    all_of = g("Mul", g("Mul", n, m), np.array(6))
    yield g("Concat", some[0], np.array([-1]), axis=0)
    yield g("Concat", *some, np.array([-1]), axis=0)
    yield g("Slice", shape, np.array([1]), np.array([3]))
    yield g("Slice", shape, np.array([-3]), np.array([-1]), np.array([0]), np.array([1]))
    yield g("Unsqueeze", g("Size", "x"), np.array([0]))
    yield g("Reshape", all_of, np.array([1]))
    yield g("Reshape", all_of, np.array([-1]))
    yield g("Cast", g("Cast", shape, to=TensorProto.INT32), to=INT64)
    yield g("Shape", g("Transpose", "x", perm=[2, 0, 1]))
    yield g("ReduceProd", shape, keepdims=1)
    yield g("Unsqueeze", g("Squeeze", some[0]), np.array([0]))
    yield g("Concat", g("Sub", g("Add", some[0], np.array([2])), np.array([2])), np.array([-1]), axis=0)
    yield g("Concat", g("Div", g("Mul", some[0], np.array([4])), np.array([4])), np.array([-1]), axis=0)
    yield g("Concat", *g("Split", shape, np.array([1, 1, 1]), outputs=3, axis=0)[1:], axis=0)
    yield g("Gather", shape, np.array([2, 0, 1]), axis=0)
    ones = g("ConstantOfShape", np.array([3]), value=numpy_helper.from_array(np.array([1], np.int64)))
    yield g("Where", g("Equal", np.array([4, 6, -1]), g("Mul", ones, np.array(-1))), shape, g("Gather", shape, np.array([2, 0, 1])))
    yield g("Concat", g("Max", some[0], np.array([1])), np.array([-1]), axis=0)
    yield g("Concat", g("Min", g("Sub", some[0], np.array([1])), some[0]), np.array([-1]), axis=0)
    yield g("Concat", g("Mod", some[0], g("Add", some[0], np.array([1]))), np.array([-1]), axis=0)
    yield g("Neg", g("Neg", shape))
    yield g("Abs", shape)
    yield g("Expand", all_of, np.array([1]))


def chains(folder):
    count = len(list(sizes(Graph())))
    for i in range(count):
        g = Graph()
        g.input("x", ("n", "m", 6))
        shape = list(sizes(g))[i]
        g.output(g("Reshape", "x", shape), "y")
        kept = {shape}
        for node in reversed(g.nodes[:-2]):
            if kept & set(node.output):
                kept |= set(node.input)
        g.nodes = [node for node in g.nodes[:-2] if kept & set(node.output)] + g.nodes[-2:]
        text = compiled(folder, g)
        title = " ".join(node.op_type for node in g.nodes[:-2])
        code = [line.strip() for line in text.splitlines() if line.startswith("    call_")]
        check(f"{title} costs nothing", not code, code)


def main():
    with tempfile.TemporaryDirectory() as folder:
        chains(folder)
        transformers(folder)
    print(f"{len(failures)} failures")
    return 1 if failures else 0


sys.exit(main())
