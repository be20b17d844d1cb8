#!/usr/bin/python3
"""Nodes with one attribute, or one constant that acts like one, that is wrong: each is refused when it is compiled, and
the message names the attribute, what it is and what it may be.

usage: attributes_test.py INGOT
"""
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from onnx import TensorProto, helper, numpy_helper

TOOL = sys.argv[1]
FLOAT, INT64, UINT8 = TensorProto.FLOAT, TensorProto.INT64, TensorProto.UINT8
INVALID, SHAPE, RANGE, TYPE, ARITY = "InvalidArgument", "ShapeMismatch", "IndexOutOfRange", "TypeError", "ArityMismatch"

IMAGE, FLAT = (1, 4, 5, 5), (2, 3)
KERNEL = np.ones((4, 4, 3, 3), np.float32)
CONV = dict(x=IMAGE, w=KERNEL)
POOL = dict(x=IMAGE)
RNN = dict(x=(3, 1, 2), w=np.ones((1, 16, 2), np.float32), r=np.ones((1, 16, 4), np.float32))
ROI = dict(x=IMAGE, r=(1, 4), b=np.zeros(1, np.int64))
FOUR = np.array([1, 1, 2, 2], np.float32)
SCALES = dict(x=IMAGE, roi=None, scales=FOUR)
HEADS = dict(q=(1, 2, 8), k=(1, 2, 8), v=(1, 2, 8))
COLUMNS = dict(x=(1, 4, 4), image=np.array([3, 3]), block=np.array([2, 2]))
DEFORM = dict(x=IMAGE, w=np.ones((4, 4, 2, 2), np.float32), offset=(1, 8, 4, 4))
ROTARY = dict(x=(1, 2, 8), cos=(2, 2), sin=(2, 2))
GRID = dict(x=IMAGE, grid=(1, 2, 2, 2))
BLOCKS = dict(x=(4, 16), w=np.zeros((8, 1, 8), np.uint8), s=np.ones((8, 1), np.float32))

# Operator, inputs (dims, or a constant), attributes, code, words of the message; the opset is 23 unless it is told.
CASES = [
    ("Resize", SCALES, dict(mode="area"), INVALID, "attribute mode is 'area', it must be one of nearest, linear, cubic"),
    ("Resize", SCALES, dict(mode=1), TYPE, "attribute mode has type INT, it must have type STRING"),
    ("Resize", SCALES, dict(coordinate_transformation_mode="corners"), INVALID, "is 'corners', it must be one of half_pixel"),
    ("Resize", SCALES, dict(nearest_mode="up"), INVALID, "'up', it must be one of round_prefer_floor, round_prefer_ceil, floor, ceil"),
    ("Resize", SCALES, dict(keep_aspect_ratio_policy="fit"), INVALID, "'fit', it must be one of stretch, not_larger, not_smaller"),
    ("Resize", SCALES, dict(antialias=2), INVALID, "attribute antialias is 2, it must be between 0 and 1"),
    ("Resize", SCALES, dict(axes=[2]), SHAPE, "scales has 4 elements for 1 dimensions"),
    ("Resize", SCALES, dict(axes=[0, 1, 2, -2]), INVALID, "axis 2 is given twice"),
    ("Resize", dict(SCALES, scales=np.array([1, 1, -2, 2], np.float32)), {}, INVALID, "scale 2 is -2, it must be greater than 0"),
    ("Upsample", dict(x=IMAGE, scales=FOUR), dict(mode="area"), INVALID, "attribute mode is 'area'", 9),
    ("Pad", dict(x=FLAT, pads=np.array([0, 0, 1, 1])), dict(mode="mirror"), INVALID, "'mirror', it must be one of constant, reflect, edge, wrap"),
    ("Pad", dict(x=FLAT, pads=np.array([0, 0, 1])), {}, SHAPE, "pads has 3 values for 2 axes"),
    ("Conv", CONV, dict(auto_pad="SAME"), INVALID, "'SAME', it must be one of NOTSET, , SAME_UPPER, SAME_LOWER, VALID"),
    ("Conv", CONV, dict(strides=[0, 1]), INVALID, "attribute strides is 0, it must be between 1 and 2147483647"),
    ("Conv", CONV, dict(strides=[1]), SHAPE, "attribute strides has 1 values, 2 are expected"),
    ("Conv", CONV, dict(dilations=[1, -1]), INVALID, "attribute dilations is -1"),
    ("Conv", CONV, dict(pads=[0, 0, -1, 0]), INVALID, "attribute pads is -1, it must be between 0"),
    ("Conv", CONV, dict(pads=[0.5, 0.5]), TYPE, "attribute pads has type FLOATS, it must have type INTS"),
    ("Conv", CONV, dict(kernel_shape=[3, 2]), SHAPE, "attribute kernel_shape has 2, dimension 3 of the weight has 3"),
    ("Conv", CONV, dict(kernel_shape=[3]), SHAPE, "attribute kernel_shape has 1 values, the weight has rank 4"),
    ("Conv", CONV, dict(group=0), INVALID, "attribute group is 0, it must be between 1"),
    ("Conv", CONV, dict(group=3), SHAPE, "4", "3"),
    ("Conv", dict(CONV, x=(1, 4, 2, 5)), {}, SHAPE, "3", "2"),
    ("ConvTranspose", CONV, dict(auto_pad="SAME"), INVALID, "attribute auto_pad is 'SAME'"),
    ("ConvTranspose", CONV, dict(kernel_shape=[]), SHAPE, "attribute kernel_shape has 0 values"),
    ("ConvTranspose", CONV, dict(output_padding=[-1, 0]), INVALID, "attribute output_padding is -1"),
    ("ConvTranspose", CONV, dict(output_shape=[5]), SHAPE, "attribute output_shape has 1 values for 2 spatial dimensions"),
    ("ConvTranspose", CONV, dict(output_shape=[0, 5]), INVALID, "attribute output_shape has 0, it must be 1 or more"),
    ("DeformConv", DEFORM, dict(strides=[0, 1]), INVALID, "attribute strides is 0"),
    ("DeformConv", DEFORM, dict(pads=[0, 0]), SHAPE, "attribute pads has 2 values, 4 are expected"),
    ("DeformConv", DEFORM, dict(offset_group=0), INVALID, "attribute offset_group is 0"),
    ("DeformConv", DEFORM, dict(kernel_shape=[3, 3]), SHAPE, "attribute kernel_shape has 3, dimension 2 of the weight has 2"),
    ("MaxPool", POOL, dict(kernel_shape=[6, 1]), SHAPE, "6", "5"),
    ("MaxPool", POOL, dict(kernel_shape=[0, 1]), INVALID, "attribute kernel_shape is 0, it must be between 1"),
    ("MaxPool", POOL, dict(kernel_shape=[2]), SHAPE, "attribute kernel_shape has 1 values, 2 are expected"),
    ("MaxPool", POOL, {}, INVALID, "attribute kernel_shape is missing"),
    ("MaxPool", POOL, dict(kernel_shape=[2, 2], ceil_mode=2), INVALID, "attribute ceil_mode is 2"),
    ("AveragePool", POOL, dict(kernel_shape=[2, 2], pads=[0, 0, 0, 2]), INVALID, "2", "is not less than the window"),
    ("LpPool", POOL, dict(kernel_shape=[2, 2], p=0), INVALID, "attribute p is 0, it must be 1 or more"),
    ("GlobalLpPool", POOL, dict(p=-1), INVALID, "attribute p is -1"),
    ("MaxUnpool", dict(x=(1, 1, 2, 2), i=np.zeros((1, 1, 2, 2), np.int64)), dict(kernel_shape=[2, 2], strides=[2, 0]), INVALID, "attribute strides is 0"),
    ("MaxRoiPool", dict(x=IMAGE, r=(1, 5)), dict(pooled_shape=[2]), SHAPE, "attribute pooled_shape has 1 values"),
    ("RoiAlign", ROI, dict(mode="sum"), INVALID, "attribute mode is 'sum', it must be one of avg, max"),
    ("RoiAlign", ROI, dict(coordinate_transformation_mode="pixel"), INVALID, "it must be one of half_pixel, output_half_pixel"),
    ("RoiAlign", ROI, dict(output_height=0), INVALID, "attribute output_height is 0, it must be 1 or more"),
    ("RoiAlign", ROI, dict(sampling_ratio=-1), INVALID, "attribute sampling_ratio is -1"),
    ("GridSample", GRID, dict(mode="area"), INVALID, "attribute mode is 'area', it must be one of bilinear, linear, nearest, bicubic, cubic"),
    ("GridSample", GRID, dict(padding_mode="wrap"), INVALID, "attribute padding_mode is 'wrap', it must be one of zeros, border, reflection"),
    ("Col2Im", COLUMNS, dict(strides=[1, 0]), INVALID, "attribute strides is 0"),
    ("Col2Im", COLUMNS, dict(pads=[0, 0]), SHAPE, "attribute pads has 2 values, 4 are expected"),
    ("CenterCropPad", dict(x=FLAT, s=np.array([1, 1])), dict(axes=[1, -1]), INVALID, "axis 1 is given twice"),
    ("CenterCropPad", dict(x=FLAT, s=np.array([1, 1])), dict(axes=[1]), SHAPE, "attribute axes has 1 values, input 1 has 2"),
    ("DepthToSpace", dict(x=IMAGE), dict(blocksize=2, mode="RCD"), INVALID, "attribute mode is 'RCD', it must be one of DCR, CRD"),
    ("DepthToSpace", dict(x=IMAGE), dict(blocksize=0), INVALID, "attribute blocksize is 0"),
    ("DepthToSpace", dict(x=IMAGE), {}, INVALID, "attribute blocksize is missing"),
    ("SpaceToDepth", dict(x=IMAGE), dict(blocksize=3), SHAPE, "3", "5"),
    ("LSTM", RNN, dict(hidden_size=4, direction="both"), INVALID, "'both', it must be one of forward, reverse, bidirectional"),
    ("LSTM", RNN, dict(hidden_size=3), SHAPE, "hidden_size is 3, input 2 (R) has 4"),
    ("LSTM", RNN, dict(hidden_size=4, activations=["Sigmoid"]), INVALID, "1 activations"),
    ("LSTM", RNN, dict(hidden_size=4, layout=2), INVALID, "attribute layout is 2"),
    ("Attention", HEADS, dict(q_num_heads=-1, kv_num_heads=1), INVALID, "attribute q_num_heads is -1"),
    ("Attention", HEADS, dict(q_num_heads=3, kv_num_heads=1), SHAPE, "3 heads do not divide 8"),
    ("Attention", HEADS, dict(q_num_heads=2, kv_num_heads=2, qk_matmul_output_mode=4), INVALID, "it must be between 0 and 3"),
    ("Attention", HEADS, dict(q_num_heads=2, kv_num_heads=2, is_causal="yes"), TYPE, "attribute is_causal has type STRING, it must have type INT"),
    ("RotaryEmbedding", ROTARY, dict(num_heads=2, interleaved=3), INVALID, "attribute interleaved is 3"),
    ("RotaryEmbedding", ROTARY, dict(num_heads=2, rotary_embedding_dim=-4), INVALID, "attribute rotary_embedding_dim is -4"),
    ("TensorScatter", dict(c=(1, 4, 2), u=(1, 1, 2)), dict(mode="ring"), INVALID, "'ring', it must be one of linear, circular", 24),
    ("ScatterND", dict(x=FLAT, i=np.zeros((1, 1), np.int64), u=(1, 3)), dict(reduction="sum"), INVALID, "it must be one of none, add, mul, max, min"),
    ("NegativeLogLikelihoodLoss", dict(x=FLAT, t=np.zeros(2, np.int64)), dict(reduction="avg"), INVALID, "it must be one of none, mean, sum"),
    ("Gelu", dict(x=FLAT), dict(approximate="erf"), INVALID, "attribute approximate is 'erf', it must be one of none, tanh"),
    ("BitShift", dict(x=np.ones(2, np.uint8), y=np.ones(2, np.uint8)), dict(direction="UP"), INVALID, "'UP', it must be one of LEFT, RIGHT"),
    ("Cast", dict(x=FLAT), dict(to=99), "Unsupported", "element type 99"),
    ("Cast", dict(x=FLAT), dict(to=2**32 + 1), INVALID, "attribute to is 4294967297, it must be between 0 and 2147483647"),
    ("Cast", dict(x=FLAT), dict(to="float"), TYPE, "attribute to has type STRING, it must have type INT"),
    ("Cast", dict(x=FLAT), dict(to=24, round_mode="even"), INVALID, "'even', it must be one of up, down, nearest", 25),
    ("QuantizeLinear", dict(x=FLAT, s=np.ones(3, np.float32)), dict(axis=2), RANGE, "axis 2 is outside of rank 2"),
    ("QuantizeLinear", dict(x=(1, 4), s=np.ones(3, np.float32)), dict(axis=0), SHAPE, "the scale has 3 elements, dimension 0 has 1"),
    ("QuantizeLinear", dict(x=FLAT, s=np.ones((2, 2), np.float32)), dict(axis=1, block_size=3), SHAPE, "the scale has 2 blocks of 3 for 3 elements"),
    ("QuantizeLinear", dict(x=FLAT, s=np.ones((2, 2), np.float32)), dict(axis=1, block_size=-2), INVALID, "attribute block_size is -2"),
    ("Softmax", dict(x=FLAT), dict(axis=2), RANGE, "axis 2 is outside of rank 2"),
    ("Softmax", dict(x=FLAT), dict(axis=1.0), TYPE, "attribute axis has type FLOAT, it must have type INT"),
    ("Concat", dict(x=FLAT, y=FLAT), dict(axis=-3), RANGE, "axis is -3, the rank is 2"),
    ("Gather", dict(x=FLAT, i=np.zeros(1, np.int64)), dict(axis=-3), RANGE, "axis -3 is outside of rank 2"),
    ("Flatten", dict(x=FLAT), dict(axis=3), RANGE, "axis 3 is outside of rank 2"),
    ("Transpose", dict(x=FLAT), dict(perm=[0, 0]), INVALID, "0"),
    ("Split", dict(x=FLAT), dict(axis=1, num_outputs=2), ARITY, "attribute num_outputs is 2, the node has 1 outputs"),
    ("TopK", dict(x=FLAT, k=np.array([1])), dict(axis=2), RANGE, "axis 2 is outside of rank 2"),
    ("TopK", dict(x=FLAT, k=np.array([1])), dict(largest=-1), INVALID, "attribute largest is -1"),
    ("ReduceSum", dict(x=FLAT, a=np.array([2])), {}, RANGE, "axis 2 is outside of rank 2"),
    ("ReduceSum", dict(x=FLAT), dict(keepdims=7), INVALID, "attribute keepdims is 7, it must be between 0 and 1"),
    ("LayerNormalization", dict(x=FLAT, s=(3,)), dict(axis=2), RANGE, "axis 2 is outside of rank 2"),
    ("GroupNormalization", dict(x=IMAGE, s=(4,), b=(4,)), dict(num_groups=3), SHAPE, "3 groups do not divide 4 channels"),
    ("LRN", dict(x=IMAGE), dict(size=0), INVALID, "attribute size is 0, it must be 1 or more"),
    ("LpNormalization", dict(x=FLAT), dict(p=3), INVALID, "attribute p is 3, it must be between 1 and 2"),
    ("Gemm", dict(x=FLAT, y=(2, 3)), dict(transB=2), INVALID, "attribute transB is 2"),
    ("Einsum", dict(x=FLAT), dict(equation="ij->k"), INVALID, "k"),
    ("ReverseSequence", dict(x=FLAT, n=np.ones(2, np.int64)), dict(batch_axis=0, time_axis=0), INVALID, "batch_axis and time_axis are both 0"),
    ("NonMaxSuppression", dict(b=(1, 3, 4), s=(1, 1, 3)), dict(center_point_box=2), INVALID, "attribute center_point_box is 2"),
    ("TfIdfVectorizer", dict(x=np.zeros((1, 2), np.int64)), dict(mode="BM25", min_gram_length=1, max_gram_length=1, max_skip_count=0, ngram_counts=[0], ngram_indexes=[0], pool_int64s=[1]),
     INVALID, "attribute mode is 'BM25', it must be one of TF, IDF, TFIDF"),
    ("TfIdfVectorizer", dict(x=np.zeros((1, 2), np.int64)), dict(mode="TF", min_gram_length=1, max_gram_length=1, max_skip_count=0, ngram_counts=[2], ngram_indexes=[0], pool_int64s=[1]),
     INVALID, "attribute ngram_counts is 2, it must be between 0 and 1"),
    ("LabelEncoder", dict(x=np.zeros(2, np.int64)), dict(keys_int64s=[1, 2], values_floats=[1.5]), INVALID, "it has 2 keys and 1 values"),
    ("MatMulNBits", BLOCKS, dict(K=16, N=8, bits=3, block_size=16), INVALID, "attribute bits is 3, it must be 2, 4 or 8"),
    ("MatMulNBits", BLOCKS, dict(K=16, N=8, bits=4, block_size=0), INVALID, "attribute block_size is 0"),
    ("MatMulNBits", BLOCKS, dict(K=16, bits=4, block_size=16), INVALID, "attribute N is missing"),
    ("MoE", dict(x=(2, 4), r=(2, 3), w=(3, 4, 4), b=None, w2=(3, 4, 4)), dict(k=4), INVALID, "attribute k is 4, it must be between 1 and 3"),
    ("MoE", dict(x=(2, 4), r=(2, 3), w=(3, 4, 4), b=None, w2=(3, 4, 4)), dict(activation_type="tanh"), INVALID, "it must be one of relu, gelu, silu, swiglu, identity"),
    ("CDist", dict(x=FLAT, y=FLAT), dict(metric="cosine"), INVALID, "'cosine', it must be one of euclidean, sqeuclidean"),
]
CONTRIB = {"MatMulNBits", "CDist", "MoE"}
ML = {"LabelEncoder"}
TYPES = {np.dtype(np.float32): FLOAT, np.dtype(np.int64): INT64, np.dtype(np.uint8): UINT8}


def model(op, inputs, attributes, opset):
    constants = {k: v for k, v in inputs.items() if isinstance(v, np.ndarray)}
    node = helper.make_node(op, [k if v is not None else "" for k, v in inputs.items()], ["out"], name="it",
                            domain="com.microsoft" if op in CONTRIB else "ai.onnx.ml" if op in ML else "")
    node.attribute.extend(attribute(k, v) for k, v in attributes.items())
    given = [helper.make_tensor_value_info(k, FLOAT, v) for k, v in inputs.items() if isinstance(v, tuple)]
    graph = helper.make_graph([node], "g", given, [helper.make_tensor_value_info("out", FLOAT, None)],
                              [numpy_helper.from_array(v, k) for k, v in constants.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1), helper.make_opsetid("ai.onnx.ml", 5)])


def attribute(name, value):
    if value == []:
        made = helper.make_attribute(name, [1])
        del made.ints[:]
        return made
    return helper.make_attribute(name, value)


def main():
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "m.onnx"
        for op, inputs, attributes, code, *words in CASES:
            opset = words.pop() if isinstance(words[-1], int) else 23
            path.write_bytes(model(op, inputs, attributes, opset).SerializeToString())
            done = subprocess.run([TOOL, "compile", str(path), "-o", str(path) + ".ingot"], capture_output=True, text=True, timeout=60)
            wanted = [f"error[{code}]", f"(opset {opset}): node #0 'it' ({op}): ", *words]
            if done.returncode != 1 or not all(word in done.stderr for word in wanted):
                failures += 1
                print(f"FAILED {op} {attributes}: {done.returncode}, {done.stderr.strip() or 'accepted'}")
    print(f"{len(CASES)} cases, {failures} failures")
    return 1 if failures else 0


sys.exit(main())
