#!/usr/bin/python3
"""Strings through operators that only move elements, and through loops.

usage: strings_test.py INGOT
"""
import sys

import numpy as np
from onnx import TensorProto, helper

from cases import Cases

cases, node = Cases(), helper.make_node


def strings(values):
    return np.array(values, dtype=object)


def integers(values):
    return np.array(values, np.int64)


x = strings([["a", "b", "c"], ["d", "e", "f"]])


def add(op, inputs, outputs, initializers=None, name=None, **attributes):
    made = node(op, [*inputs, *(initializers or {})], list(outputs), **attributes)
    cases.add(name or op, made, inputs, outputs, initializers=initializers, opset=19)


def gathered():
    add("Gather", dict(x=x, i=integers([2, 0])), dict(y=x[:, [2, 0]]), axis=1)
    add("GatherElements", dict(x=x, i=integers([[2, 0], [1, -1]])), dict(y=strings([["c", "a"], ["e", "f"]])), axis=1)
    add("GatherND", dict(x=x, i=integers([[0, 1], [1, 2]])), dict(y=strings(["b", "f"])))
    add("GatherND", dict(x=x, i=integers([[1], [2]])), dict(y=strings(["b", "f"])), name="GatherND_of_batches", batch_dims=1)
    add("Compress", dict(x=x, c=np.array([False, True])), dict(y=x[1:]), axis=0)
    add("OneHot", dict(i=integers([1, 0]), d=integers(2), v=strings(["no", "yes"])), dict(y=strings([["no", "yes"], ["yes", "no"]])))
    add("Unique", dict(x=strings(["b", "a", "b"])), dict(y=strings(["a", "b"])))


def scattered():
    changed = x.copy()
    changed[0, 2], changed[1, 0] = "X", "Y"
    add("ScatterElements", dict(x=x, i=integers([[2], [0]]), u=strings([["X"], ["Y"]])), dict(y=changed), axis=1)
    add("ScatterND", dict(x=x, i=integers([[0, 2], [1, 0]]), u=strings(["X", "Y"])), dict(y=changed))
    add("Where", dict(c=np.array([[True, True, False], [False, True, False]]), x=x, z=changed),
        dict(y=strings([["a", "b", "X"], ["Y", "e", "f"]])))
    add("Equal", dict(x=x, z=changed), dict(y=x == changed))


def shaped():
    add("Split", dict(x=x), dict(y=x[:, :2], z=x[:, 2:]), dict(s=integers([2, 1])), axis=1)
    add("Split", dict(x=x, s=integers([2, 1])), dict(y=x[:, :2], z=x[:, 2:]), name="Split_by_an_input", axis=1)
    add("ReverseSequence", dict(x=x, n=integers([3, 2])), dict(y=strings([["c", "b", "a"], ["e", "d", "f"]])), time_axis=1, batch_axis=0)
    add("Transpose", dict(x=x), dict(y=x.T.copy()))
    add("Concat", dict(x=x, z=x[:1]), dict(y=np.concatenate([x, x[:1]])), axis=0)
    add("Slice", dict(x=x), dict(y=x[:, ::-1].copy()), dict(s=integers([-1]), e=integers([-10]), a=integers([1]), t=integers([-1])))
    add("Tile", dict(x=x), dict(y=np.tile(x, (1, 2))), dict(r=integers([1, 2])))
    add("Expand", dict(x=x), dict(y=np.broadcast_to(x, (2, 2, 3)).copy()), dict(r=integers([2, 2, 3])))
    add("Pad", dict(x=x), dict(y=np.pad(x, ((0, 1), (0, 0)), constant_values="q")), dict(r=integers([0, 0, 1, 0]), v=strings("q")))
    add("Pad", dict(x=x), dict(y=np.pad(x, ((0, 1), (0, 0)), constant_values="")), dict(r=integers([0, 0, 1, 0])), name="Pad_by_nothing")
    add("Reshape", dict(x=x), dict(y=x.reshape(3, 2)), dict(s=integers([3, 2])))
    add("Unsqueeze", dict(x=x), dict(y=x[None]), dict(a=integers([0])))


def loops():
    def of(name, dims, dtype=TensorProto.STRING):
        return helper.make_tensor_value_info(name, dtype, dims)

    step = [node("Identity", ["c"], ["d"]), node("Identity", ["s"], ["t"]), node("Identity", ["s"], ["u"])]
    body = helper.make_graph(step, "b", [of("k", [], TensorProto.INT64), of("c", [], TensorProto.BOOL), of("s", [2, 3])],
                             [of("d", [], TensorProto.BOOL), of("t", [2, 3]), of("u", [2, 3])])
    for count in (0, 2):
        cases.add(f"Loop_of_{count}", node("Loop", ["n", "", "x"], ["y", "z"], body=body), dict(n=integers(count), x=x),
                  dict(y=x, z=strings([x.tolist()] * count).reshape(count, 2, 3)))
    body = helper.make_graph([node("Identity", ["s"], ["u"])], "b", [of("s", [3])], [of("u", [3])])
    add("Scan", dict(x=x), dict(y=x), num_scan_inputs=1, body=body)
    cases.add("sequence", [node("SplitToSequence", ["x"], ["s"], axis=1), node("ConcatFromSequence", ["s"], ["y"], axis=1)], dict(x=x), dict(y=x))


for part in (gathered, scattered, shaped, loops):
    part()
sys.exit(cases.run())
