#!/usr/bin/python3
"""What the standard says of its operators where the conformance tests are silent, against NumPy.

usage: standard_test.py INGOT
"""
import sys

import numpy as np
from onnx import helper

from cases import Cases

rng = np.random.default_rng(11)
cases = Cases()


def random(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def integers(*values):
    return np.array(values, np.int64)


def add(name, op, inputs, outputs, initializers=None, opset=21, **attributes):
    cases.add(name, helper.make_node(op, [*inputs, *(initializers or {})], list(outputs), **attributes), inputs, outputs,
              initializers=initializers, opset=opset)


def slices():
    """A start before the first element is the first one, backwards too."""
    x = random(3, 4)
    bounds = dict(s=integers(-9, -9), e=integers(-9, 2), a=integers(0, 1), p=integers(-1, 1))
    add("slice_backwards_from_before", "Slice", dict(x=x), dict(y=x[:1, :2]), bounds)
    add("slice_backwards_from_before_at_run_time", "Slice", dict(x=x, **bounds), dict(y=x[:1, :2]))


def empty():
    none = np.zeros((5, 0), np.float64)
    add("reshape_to_zeros", "Reshape", dict(x=none), dict(y=np.zeros((0, 0))), dict(s=integers(0, 0)), allowzero=1)
    wide = np.zeros((2, 1, 0, 3), np.float32)
    add("softmax_of_nothing", "LogSoftmax", dict(x=wide), dict(y=wide), opset=8, axis=2)


def no_axes():
    """Reductions along no axis still do to each element what they do."""
    x = np.abs(random(2, 3)) + np.float32(0.5)
    for op, y in (("L1", x), ("L2", x), ("LogSum", np.log(x)), ("LogSumExp", x), ("SumSquare", x * x), ("Sum", x)):
        add(f"reduce_{op}_along_nothing", f"Reduce{op}", dict(x=x), dict(y=y), dict(a=integers()), noop_with_empty_axes=1)


slices()
empty()
no_axes()
sys.exit(cases.run())
