#!/usr/bin/python3
"""Operators of ai.onnx.ml against plain Python.

usage: ml_test.py INGOT
"""
import sys

import numpy as np
from onnx import helper, numpy_helper

from cases import Cases

rng = np.random.default_rng(5)
cases = Cases()
ML = (("ai.onnx.ml", 5),)


def add(name, op, inputs, output, **attributes):
    node = helper.make_node(op, list(inputs), ["y"], domain="ai.onnx.ml", **attributes)
    cases.add(name, node, inputs, dict(y=output), opset=18, domains=ML)


def tensor(values, dtype):
    return numpy_helper.from_array(np.array(values, dtype))


words = np.array([["b", "x"], ["a", "b"]], dtype=object)
add("strings_to_integers", "LabelEncoder", dict(x=words), np.array([[7, -1], [5, 7]], np.int64), keys_strings=["a", "b", "b"],
    values_int64s=[5, 6, 7])
add("integers_to_strings", "LabelEncoder", dict(x=np.array([3, 9, 1], np.int64)), np.array(["c", "?", "a"], dtype=object),
    keys_int64s=[1, 3], values_strings=["a", "c"], default_string="?")
add("floats_to_floats", "LabelEncoder", dict(x=np.array([np.nan, 2, 5], np.float32)), np.array([1.5, 8, -2], np.float32),
    keys_floats=[float("nan"), 5.0], values_floats=[1.5, -2.0], default_float=8.0)
x = rng.standard_normal((3, 4)).astype(np.float32)
add("binarizer", "Binarizer", dict(x=x), (x > 0.5).astype(np.float32), threshold=0.5)
add("features", "ArrayFeatureExtractor", dict(x=x, i=np.array([[2, 0]], np.int64)), x[:, [2, 0]])

# Two trees: nodes 0 to 2 (node 1 is a test of membership), and node 3; six leaves, two targets.
FEATURES, MODES, SPLITS = [0, 1, 2, 3], [1, 6, 2, 0], [0.5, 0, -0.25, 0.1]
TRUE, FALSE = [(0, 1), (1, 0), (1, 2), (1, 4)], [(0, 2), (1, 1), (1, 3), (1, 5)]
MISSING, TARGETS, WEIGHTS = [1, 0, 0, 0], [0, 1, 0, 1, 0, 1], [1.0, 2.0, 3.0, -4.0, 5.0, 6.0]
MEMBERS = {1: [1.0, 3.0]}


def leaf(row, node):
    value = row[FEATURES[node]]
    test = [value <= SPLITS[node], value < SPLITS[node], value >= SPLITS[node]]
    holds = value in MEMBERS[node] if node in MEMBERS else test[MODES[node]]
    is_leaf, at = (TRUE if holds or (np.isnan(value) and MISSING[node]) else FALSE)[node]
    return at if is_leaf else leaf(row, at)


rows = rng.standard_normal((20, 4)).astype(np.float32)
rows[:, 1] = rng.integers(0, 4, 20)
rows[0, 0] = rows[1, 2] = np.nan
for number, (name, combine) in enumerate((("average", lambda w: sum(w) / 2), ("sum", sum), ("min", min), ("max", max))):
    expected = np.zeros((20, 2), np.float32)
    for i, row in enumerate(rows):
        leaves = [leaf(row, 0), leaf(row, 3)]
        for target in range(2):
            weights = [WEIGHTS[at] for at in leaves if TARGETS[at] == target]
            expected[i, target] = combine(weights) if weights else 0
    add(f"trees_{name}", "TreeEnsemble", dict(x=rows), expected, aggregate_function=number, tree_roots=[0, 3], n_targets=2,
        nodes_featureids=FEATURES, nodes_modes=tensor(MODES, np.uint8), nodes_splits=tensor(SPLITS, np.float32),
        nodes_trueleafs=[t[0] for t in TRUE], nodes_truenodeids=[t[1] for t in TRUE],
        nodes_falseleafs=[f[0] for f in FALSE], nodes_falsenodeids=[f[1] for f in FALSE],
        nodes_missing_value_tracks_true=MISSING, leaf_targetids=TARGETS, leaf_weights=tensor(WEIGHTS, np.float32),
        membership_values=tensor([1, 3, np.nan], np.float32))
sys.exit(cases.run())
