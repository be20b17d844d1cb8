"""ONNX operators in plain numpy, slow and obvious: the second opinion on the stored references.

apply(node, opset, inputs) gives the outputs of one node. All forms up to opset 13 of the operators below are understood.
"""
import math

import numpy as np
from onnx import helper, numpy_helper


def attributes_of(node):
    values = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    return {k: numpy_helper.to_array(v) if hasattr(v, "raw_data") else v for k, v in values.items()}


def begin_pads(attributes, sizes, kernel, strides, dilations):
    """(pads before, pads after) per spatial axis."""
    auto = attributes.get("auto_pad", b"NOTSET").decode()
    if auto.startswith("SAME"):
        need = [max(0, (math.ceil(n / s) - 1) * s + (k - 1) * d + 1 - n) for n, k, s, d in zip(sizes, kernel, strides, dilations)]
        less, more = [n // 2 for n in need], [n - n // 2 for n in need]
        return (less, more) if auto == "SAME_UPPER" else (more, less)
    pads = attributes.get("pads", [0] * 2 * len(kernel)) if auto == "NOTSET" else [0] * 2 * len(kernel)
    return pads[: len(kernel)], pads[len(kernel):]


def window_positions(attributes, x, kernel, fill):
    """x padded with `fill`, cut into windows: an array [kernel height * kernel width, n, c, height, width]."""
    strides = attributes.get("strides", [1, 1])
    dilations = attributes.get("dilations", [1, 1])
    before, after = begin_pads(attributes, x.shape[2:], kernel, strides, dilations)
    rounding = math.ceil if attributes.get("ceil_mode", 0) else math.floor
    out = [rounding((n + b + a - (k - 1) * d - 1) / s) + 1
           for n, b, a, k, d, s in zip(x.shape[2:], before, after, kernel, dilations, strides)]
    room = [(n - 1) * s + (k - 1) * d + 1 for n, s, k, d in zip(out, strides, kernel, dilations)]
    extra = [max(0, r - (n + b)) for r, n, b in zip(room, x.shape[2:], before)]
    padded = np.pad(x, ((0, 0), (0, 0), *zip(before, extra)), constant_values=fill)
    return np.stack([
        padded[:, :, i * dilations[0]: i * dilations[0] + (out[0] - 1) * strides[0] + 1: strides[0],
               j * dilations[1]: j * dilations[1] + (out[1] - 1) * strides[1] + 1: strides[1]]
        for i in range(kernel[0]) for j in range(kernel[1])])


def conv(a, x, w, b=None):
    group = a.get("group", 1)
    flat = w.reshape(*w.shape[:2], -1)
    parts = zip(np.split(x, group, 1), np.split(flat, group, 0))
    y = np.concatenate([np.einsum("knchw,ock->nohw", window_positions(a, p, w.shape[2:], 0), v) for p, v in parts], 1)
    return y if b is None else y + b[:, None, None]


def max_pool(a, x):
    return window_positions(a, x, a["kernel_shape"], -np.inf).max(0)


def average_pool(a, x):
    total = window_positions(a, x, a["kernel_shape"], 0).sum(0)
    if a.get("count_include_pad", 0):
        return total / np.prod(a["kernel_shape"])
    return total / window_positions(a, np.ones_like(x), a["kernel_shape"], 0).sum(0)


def lrn(a, x):
    size, channels = a["size"], x.shape[1]
    squares = np.zeros_like(x)
    for c in range(channels):
        first, last = max(0, c - (size - 1) // 2), min(channels - 1, c + size // 2)
        squares[:, c] = (x[:, first: last + 1] ** 2).sum(1)
    return x / (a.get("bias", 1.0) + a.get("alpha", 1e-4) / size * squares) ** a.get("beta", 0.75)


def batch_normalization(a, x, *parameters):
    scale, bias, mean, var = (p.reshape(-1, *[1] * (x.ndim - 2)) for p in parameters)
    return (x - mean) / np.sqrt(var + a.get("epsilon", 1e-5)) * scale + bias


def gemm(a, x, w, c=None):
    x = x.T if a.get("transA", 0) else x
    w = w.T if a.get("transB", 0) else w
    y = a.get("alpha", 1.0) * (x @ w)
    return y if c is None else y + a.get("beta", 1.0) * c


def softmax(a, opset, x):
    if opset >= 13:
        e = np.exp(x - x.max(a.get("axis", -1), keepdims=True))
        return e / e.sum(a.get("axis", -1), keepdims=True)
    flat = x.reshape(math.prod(x.shape[: a.get("axis", 1)]), -1)
    return softmax({}, 13, flat).reshape(x.shape)


def aligned(a, x, y):
    """The second operand of an elementwise operator, its axes where attribute `axis` of the old form says."""
    if "axis" not in a:
        return y
    return y.reshape(y.shape + (1,) * (x.ndim - a["axis"] - y.ndim))


def reshape(x, shape):
    return x.reshape([x.shape[i] if n == 0 else n for i, n in enumerate(shape)])


def unsqueeze(x, axes):
    for axis in sorted(axes):
        x = np.expand_dims(x, axis)
    return x


OPERATORS = {
    "Add": lambda a, opset, x, y: x + aligned(a, x, y),
    "AveragePool": lambda a, opset, x: average_pool(a, x),
    "BatchNormalization": lambda a, opset, *xs: batch_normalization(a, *xs),
    "Concat": lambda a, opset, *xs: np.concatenate(xs, a.get("axis", 1)),
    "Constant": lambda a, opset: a["value"],
    "ConstantOfShape": lambda a, opset, shape: np.full(shape, a.get("value", np.zeros(1, np.float32))[0]),
    "Conv": lambda a, opset, *xs: conv(a, *xs),
    "Dropout": lambda a, opset, x, *_: x,
    "Flatten": lambda a, opset, x: x.reshape(math.prod(x.shape[: a.get("axis", 1)]), -1),
    "Gemm": lambda a, opset, *xs: gemm(a, *xs),
    "GlobalAveragePool": lambda a, opset, x: x.mean((2, 3), keepdims=True),
    "LRN": lambda a, opset, x: lrn(a, x),
    "MaxPool": lambda a, opset, x: max_pool(a, x),
    "Mul": lambda a, opset, x, y: x * aligned(a, x, y),
    "Relu": lambda a, opset, x: np.maximum(x, 0),
    "Reshape": lambda a, opset, x, shape=None: reshape(x, a["shape"] if shape is None else shape),
    "Softmax": softmax,
    "Sum": lambda a, opset, *xs: sum(xs[1:], xs[0]),
    "Transpose": lambda a, opset, x: x.transpose(a.get("perm")),
    "Unsqueeze": lambda a, opset, x, axes=None: unsqueeze(x, a["axes"] if axes is None else axes),
}


def apply(node, opset, inputs):
    """The first output of a node; the only one that our networks read."""
    result = OPERATORS[node.op_type](attributes_of(node), opset, *inputs)
    return np.asarray(result, inputs[0].dtype if inputs and node.op_type != "ConstantOfShape" else None)
