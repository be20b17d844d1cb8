"""Random calls of the operators on quantized tensors, and what NumPy says of them."""
import math

import numpy as np

SCALES = [0.5, 0.25, 0.125, 0.0375, 0.1, 1.0, 0.7, 2.5]


def f32(x):
    return float(np.float32(x))


def fixed_point(factor):
    """(multiplier, exponent): factor = multiplier / 2**31 * 2**exponent."""
    fraction, exponent = math.frexp(factor)
    multiplier = math.floor(abs(fraction) * 2**31 + 0.5) * (1 if fraction >= 0 else -1)
    return (multiplier // 2, exponent + 1) if abs(multiplier) == 2**31 else (multiplier, exponent)


def scaled(x, factor, rounding="UPWARD"):
    multiplier, exponent = fixed_point(factor)
    product = (x.astype(np.int64) << max(exponent, 0)) * multiplier
    places = 31 + max(-exponent, 0)
    half = 1 << (places - 1)
    return (product + (half if rounding == "UPWARD" else np.where(product >= 0, half, half - 1))) >> places


def clipped(x, dtype):
    info = np.iinfo(dtype)
    return np.clip(x, info.min, info.max).astype(dtype)


def requantized(x, scale, zero, to_scale, to_zero, rounding="UPWARD"):
    """Of vectors along the last axis."""
    x = x.astype(np.int64) - zero
    factors = np.asarray(scale, np.float64) / to_scale
    if factors.ndim == 0:
        return scaled(x, float(factors), rounding) + to_zero
    parts = [scaled(x[..., i], float(factor), rounding) for i, factor in enumerate(factors)]
    return (np.stack(parts, -1) if parts else x) + to_zero


class Encoding:
    """Scale and zero point; as literals, or as operands that are known only when the program runs."""

    def __init__(self, draw, name, operands, operand_type):
        self.scale = f32(draw.one_of(SCALES))
        self.zero = int(draw.random.integers(-5, 6))
        if draw.yes():
            operands[f"{name}s"] = operand_type(np.float32(self.scale), "f32")
            operands[f"{name}z"] = operand_type(np.int32(self.zero), "i32")
            self.text = f"%{name}s, %{name}z"
        else:
            self.text = f"{self.scale!r}f, {self.zero}"


def makers(operand_type, call):
    def integers(draw, dtype, shape):
        info = np.iinfo(dtype)
        values = draw.random.integers(max(info.min, -3000), min(info.max, 3000) + 1, shape)
        names = {"int8": "i8", "uint8": "u8", "int16": "i16", "int32": "i32"}
        return operand_type(values.astype(dtype), names[np.dtype(dtype).name])

    def requantize(draw):
        dtype, to = draw.one_of([np.int8, np.uint8, np.int16, np.int32]), draw.one_of([np.int8, np.uint8, np.int32])
        x = integers(draw, dtype, draw.shape(1))
        operands = {"x": x}
        rounding = draw.one_of(["UPWARD", "TONEAREST"])
        target = Encoding(draw, "t", operands, operand_type)
        if draw.yes():
            source = Encoding(draw, "s", operands, operand_type)
            scale, zero, text = source.scale, source.zero, source.text
        else:
            count = x.value.shape[-1]
            scale = np.array([f32(draw.one_of(SCALES)) for _ in range(count)], np.float32)
            zero = draw.random.integers(-5, 6, count).astype(np.int32)
            operands |= {"s": operand_type(scale, "f32"), "z": operand_type(zero, "i32")}
            text = "%s, %z"
        value = requantized(x.value, scale, zero, target.scale, target.zero, rounding)
        return (call("qnn.requantize", ["%x", text, target.text], rounding=f'"{rounding}"',
                     out_dtype=f'"{np.dtype(to).name}"'), operands, [clipped(value, to)])

    def sides(draw):
        shape = draw.shape(0, 4)
        dtype = draw.one_of([np.int8, np.uint8])
        operands = {"x": integers(draw, dtype, shape), "y": integers(draw, dtype, shape[draw.random.integers(len(shape) + 1):])}
        return dtype, operands, [Encoding(draw, name, operands, operand_type) for name in ("p", "q", "r")]

    def addition(name, sign):
        def make(draw):
            dtype, operands, (p, q, r) = sides(draw)
            left = requantized(operands["x"].value, p.scale, p.zero, r.scale, r.zero)
            right = requantized(operands["y"].value, q.scale, q.zero, r.scale, r.zero)
            return (f"{name}(%x, %y, {p.text}, {q.text}, {r.text})", operands,
                    [clipped(left + sign * right - sign * r.zero, dtype)])
        return make

    def multiply(draw):
        dtype, operands, (p, q, r) = sides(draw)
        product = (operands["x"].value.astype(np.int64) - p.zero) * (operands["y"].value.astype(np.int64) - q.zero)
        value = requantized(product, f32(np.float32(p.scale) * np.float32(q.scale)), 0, r.scale, r.zero)
        return f"qnn.mul(%x, %y, {p.text}, {q.text}, {r.text})", operands, [clipped(value, dtype)]

    def leaky_relu(draw):
        operands = {"x": integers(draw, draw.one_of([np.int8, np.uint8]), draw.shape())}
        p, r = (Encoding(draw, name, operands, operand_type) for name in ("p", "r"))
        alpha = draw.one_of([0.01, 0.25, 0.9])
        x = operands["x"].value
        plain = requantized(x, p.scale, p.zero, r.scale, r.zero)
        below = scaled(plain, alpha) + scaled(np.array(r.zero), 1 - alpha)
        return (f"qnn.leaky_relu(%x, {p.text}, {r.text}, alpha={alpha})", operands,
                [clipped(np.where(x.astype(np.int64) < p.zero, below, plain), x.dtype)])

    def softmax(draw):
        operands = {"x": integers(draw, np.int8, draw.shape(1, 4, empty=False))}
        p, r = (Encoding(draw, name, operands, operand_type) for name in ("p", "r"))
        while p.scale > 1:
            p = Encoding(draw, "p", operands, operand_type)
        x = operands["x"].value.astype(np.int64) - p.zero
        axis, text = draw.axis(x.ndim)
        unit = math.floor(np.float32(1) / np.float32(p.scale) + np.float32(0.5))
        x = x - x.max(axis, keepdims=True)
        power = x + (x >> 1) - (x >> 4)
        whole = np.clip(-power // unit, 0, 20)
        exps = (((power + whole * unit) >> 1) + unit) << (whole.max(axis, keepdims=True) - whole)
        share = (1 << 30) // exps.sum(axis, keepdims=True)
        value = requantized(((share * exps).astype(np.int32) >> 23), 1 / 128, 0, r.scale, r.zero)
        return f"qnn.softmax(%x, {p.text}, {r.text}, axis={text})", operands, [clipped(value, np.int8)]

    def dense(draw):
        rows, inner, columns = (int(draw.one_of([1, 3, 8, 17])) for _ in range(3))
        operands = {"x": integers(draw, draw.one_of([np.int8, np.uint8]), (rows, inner)),
                    "w": integers(draw, draw.one_of([np.int8, np.uint8]), (columns, inner)),
                    "z": operand_type(draw.random.integers(-3, 4, columns).astype(np.int32), "i32")}
        zero = int(draw.random.integers(-3, 4))
        value = (operands["x"].value.astype(np.int64) - zero) @ (operands["w"].value.astype(np.int64) -
                                                                 operands["z"].value[:, None]).T
        return f"qnn.dense(%x, %w, {zero}, %z, 0.5f, 0.25f)", operands, [value.astype(np.int32)]

    def conv2d(draw):
        channels, outputs, size, padding = (int(draw.one_of([1, 3])) for _ in range(4))
        operands = {"x": integers(draw, np.uint8, (2, channels, 5, 4)),
                    "w": integers(draw, np.int8, (outputs, channels, size, 1))}
        zero, w_zero = (int(draw.random.integers(-3, 4)) for _ in range(2))
        x = np.pad(operands["x"].value.astype(np.int64) - zero, ((0, 0), (0, 0), (padding, padding), (0, 0)))
        w = operands["w"].value.astype(np.int64) - w_zero
        rows = x.shape[2] - size + 1
        value = sum(np.einsum("nchw,oc->nohw", x[:, :, k:k + rows], w[:, :, k, 0]) for k in range(size))
        return (f"qnn.conv2d(%x, %w, {zero}, {w_zero}, 0.5f, 0.25f, padding=({padding}, 0), kernel_size=({size}, 1), "
                f"channels={outputs})", operands, [value.astype(np.int32)])

    return {"qnn_requantize": requantize, "qnn_add": addition("qnn.add", 1),
            "qnn_subtract": addition("qnn.subtract", -1), "qnn_multiply": multiply, "qnn_leaky_relu": leaky_relu,
            "qnn_softmax": softmax, "qnn_dense": dense, "qnn_conv2d": conv2d}
