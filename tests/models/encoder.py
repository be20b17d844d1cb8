#!/usr/bin/python3
"""Writes a transformer encoder as exporters write it: token ids and mask of a symbolic length `n`, shapes computed from
shapes, layer norm and GELU in their parts.

    encoder.py PATH [LAYERS [WIDTH [HEADS]]]
"""
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

LONGEST = 1024
WORDS = 100


class Graph:
    def __init__(self):
        self.nodes, self.constants = [], []
        self.random = np.random.default_rng(1)

    def node(self, kind, *inputs, **attributes):
        name = f"{kind.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], **attributes))
        return name

    def constant(self, value, dtype=np.float32):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value, dtype), name))
        return name

    def weight(self, *dims):
        return self.constant(self.random.normal(0, 1 / np.sqrt(dims[0]), dims))

    def linear(self, x, inputs, outputs):
        return self.node("Add", self.node("MatMul", x, self.weight(inputs, outputs)), self.weight(outputs))

    def layer_norm(self, x, width):
        centred = self.node("Sub", x, self.node("ReduceMean", x, axes=[-1]))
        variance = self.node("ReduceMean", self.node("Pow", centred, self.constant(2)), axes=[-1])
        scaled = self.node("Div", centred, self.node("Sqrt", self.node("Add", variance, self.constant(1e-12))))
        return self.node("Add", self.node("Mul", scaled, self.constant(np.ones(width))), self.weight(width))

    def gelu(self, x):
        erf = self.node("Erf", self.node("Div", x, self.constant(np.sqrt(2))))
        return self.node("Mul", self.node("Mul", x, self.node("Add", erf, self.constant(1))), self.constant(0.5))

    def dim(self, x, axis):
        picked = self.node("Gather", self.node("Shape", x), self.constant(axis, np.int64), axis=0)
        return self.node("Unsqueeze", picked, self.constant([0], np.int64))

    def reshape(self, x, *dims):
        parts = [d if isinstance(d, str) else self.constant([d], np.int64) for d in dims]
        return self.node("Reshape", x, self.node("Concat", *parts, axis=0))


def encoder(layers, width, heads):
    g = Graph()
    size = width // heads
    rows, length = g.dim("input_ids", 0), g.dim("input_ids", 1)
    zero, one = g.constant([0], np.int64), g.constant([1], np.int64)
    places = g.node("Slice", g.weight(LONGEST, width), zero, length, zero, one)
    x = g.node("Add", g.node("Gather", g.weight(WORDS, width), "input_ids"), places)
    x = g.layer_norm(x, width)
    mask = g.node("Unsqueeze", "attention_mask", g.constant([1, 2], np.int64))
    mask = g.node("Sub", g.constant(1), g.node("Cast", mask, to=TensorProto.FLOAT))
    mask = g.node("Mul", mask, g.constant(-10000))
    for _ in range(layers):
        def split(axes):
            parts = g.reshape(g.linear(x, width, width), rows, length, heads, size)
            return g.node("Transpose", parts, perm=axes)

        q, k, v = split([0, 2, 1, 3]), split([0, 2, 3, 1]), split([0, 2, 1, 3])
        scores = g.node("Add", g.node("Div", g.node("MatMul", q, k), g.constant(np.sqrt(size))), mask)
        mixed = g.node("MatMul", g.node("Softmax", scores, axis=-1), v)
        joined = g.reshape(g.node("Transpose", mixed, perm=[0, 2, 1, 3]), rows, length, width)
        x = g.layer_norm(g.node("Add", x, g.linear(joined, width, width)), width)
        inner = g.gelu(g.linear(x, width, 4 * width))
        x = g.layer_norm(g.node("Add", x, g.linear(inner, 4 * width, width)), width)
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, [1, "n"]) for name in ("input_ids", "attention_mask")]
    output = helper.make_tensor_value_info(x, TensorProto.FLOAT, [1, "n", width])
    graph = helper.make_graph(g.nodes, "encoder", inputs, [output], g.constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)])


if __name__ == "__main__":
    sizes = [int(size) for size in sys.argv[2:]]
    onnx.save(encoder(*sizes, *(2, 64, 4)[len(sizes):]), sys.argv[1])
