"""Random calls of operators: program text, operands, and what NumPy says of them.

A maker takes a Draw and gives (expression, operands, expected): operands by name, `expected` a list of arrays, or None
where there is no reference. It raises Skip where the drawn shape or dtype is none of the operator's.
"""
import itertools

import numpy as np

import quantized_cases

FLOATS = ["f16", "bf16", "f32", "f64"]
INTS = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"]
NUMBERS = FLOATS + INTS
ALL = NUMBERS + ["bool"]
NAMES = {"f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64", "bool": "bool",
         **{i: i.replace("i", "int").replace("u", "uint") for i in INTS}}
# bfloat16 is held as float32 whose lower half is zero.
NUMPY = {"f16": np.float16, "bf16": np.float32, "f32": np.float32, "f64": np.float64, "bool": np.bool_,
         **{i: np.dtype(NAMES[i]).type for i in INTS}}


class Skip(Exception):
    pass


class Operand:
    def __init__(self, value, dtype):
        self.value, self.dtype = value, dtype


def to_bf16(value):
    bits = np.array(value, np.float32).view(np.uint32).astype(np.int64)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16 << 16
    return np.array(rounded, np.uint32).view(np.float32)


class Draw:
    """Shapes, dtypes and operands of one case."""

    def __init__(self, random):
        self.random = random

    def one_of(self, choices):
        return choices[self.random.integers(len(choices))]

    def yes(self):
        return bool(self.random.integers(2))

    def rank(self, least=0, most=6):
        return self.one_of([r for r in (0, 1, 1, 2, 2, 3, 3, 4, 6) if least <= r <= most])

    def shape(self, least=0, most=6, empty=True):
        rank = self.rank(least, most)
        sizes = [1, 2, 3, 4, 5, 7] if rank > 3 else [1, 2, 3, 5, 8, 17, 33]
        dims = [int(self.one_of(sizes[:3] if rank == 6 else sizes)) for _ in range(rank)]
        while np.prod(dims, dtype=int) > 1500:
            dims[int(np.argmax(dims))] = 2
        if empty and rank and self.random.random() < 0.08:
            dims[self.random.integers(rank)] = 0
        return tuple(dims)

    def array(self, dtype, shape, positive=False):
        if dtype == "bool":
            return self.random.integers(0, 2, shape).astype(bool)
        if dtype in FLOATS:
            values = self.random.integers(1 if positive else -24, 25, shape) / 8.0
            return np.asarray(values, NUMPY[dtype])
        least = 0 if dtype[0] == "u" or positive else -9
        return self.random.integers(least, 10, shape).astype(NUMPY[dtype])

    def operand(self, dtype, shape, positive=False):
        return Operand(self.array(dtype, shape, positive), dtype)

    def distinct(self, dtype, shape):
        """No two elements alike, so that order says everything."""
        count = int(np.prod(shape, dtype=int))
        if count > (120 if dtype in ("i8", "u8", "bf16") else 1500) or (dtype == "bool" and count > 1):
            raise Skip
        return Operand(self.random.permutation(count).reshape(shape).astype(NUMPY[dtype]), dtype)

    def axis(self, rank):
        axis = int(self.random.integers(rank))
        return axis, (axis - rank if self.yes() else axis)

    def axes(self, rank):
        """Some axes, for NumPy and as text; None: all."""
        if self.random.random() < 0.3:
            return None, None
        chosen = sorted(self.random.permutation(rank)[:self.random.integers(1, rank + 1)].tolist()) if rank else []
        if not chosen:
            return None, None
        return tuple(chosen), str(chosen[0]) if len(chosen) == 1 else tuple_text(chosen)


def tuple_text(values):
    values = list(values)
    return "(" + ", ".join(str(v) for v in values) + ("," if len(values) == 1 else "") + ")"


def wide(x):
    return x.astype(np.float64) if x.dtype.kind == "f" else x


def call(name, operands, **attributes):
    given = [*operands, *(f"{key}={value}" for key, value in attributes.items() if value is not None)]
    return f"{name}({', '.join(given)})"


def reduction(name, dtypes, reference):
    def make(draw):
        x = draw.operand(draw.one_of(dtypes), draw.shape(), name == "logsumexp")
        axes, text = draw.axes(x.value.ndim)
        keep = draw.yes()
        if name == "prod":
            x.value = np.where(wide(x.value) == 0, x.value, np.sign(wide(x.value))).astype(x.value.dtype)
        text = call(name, ["%x"], axis=text, keepdims=keep)
        whole = 0 in x.value.shape and name not in ("sum", "prod", "any", "all")
        expected = None if whole else [reference(wide(x.value), axes, keep)]
        return text, {"x": x}, expected
    return make


def reference_sum(x, axis, keepdims):
    return np.sum(x, axis, x.dtype if x.dtype != bool else None, keepdims=keepdims)


def arg(name):
    def make(draw):
        shape = draw.shape(1, empty=False)
        x = draw.operand(draw.one_of(NUMBERS), shape)
        axis, text = draw.axis(len(shape))
        keep = draw.yes()
        found = np.expand_dims(getattr(np, name)(x.value, axis), axis)
        return call(name, ["%x"], axis=text, keepdims=keep), {"x": x}, [found if keep else found.squeeze(axis)]
    return make


def softmax(name):
    def make(draw):
        x = draw.operand(draw.one_of(FLOATS), draw.shape(1))
        axis, text = draw.axis(x.value.ndim)
        if x.value.size == 0:
            return call(name, ["%x"], axis=text), {"x": x}, [x.value]
        shifted = wide(x.value) - wide(x.value).max(axis, keepdims=True)
        powers = np.exp(shifted)
        total = powers.sum(axis, keepdims=True)
        return (call(name, ["%x"], axis=text), {"x": x},
                [powers / total if name == "softmax" else shifted - np.log(total)])
    return make


def cumulative(name):
    def make(draw):
        x = draw.operand(draw.one_of(NUMBERS), draw.shape(1, 4))
        axis, text = draw.axis(x.value.ndim)
        if name == "cumprod":
            x.value = np.sign(wide(x.value)).astype(x.value.dtype)
        exclusive, reverse = draw.yes(), draw.yes()
        value = np.flip(wide(x.value), axis) if reverse else wide(x.value)
        if exclusive:
            start = np.full_like(value[(slice(None),) * axis + (slice(0, 1),)], name == "cumprod")
            value = np.concatenate([start, value], axis)[(slice(None),) * axis + (slice(0, value.shape[axis]),)]
        value = getattr(np, name)(value, axis, value.dtype)
        return (call(name, ["%x"], axis=text, exclusive=exclusive, reverse=reverse), {"x": x},
                [np.flip(value, axis) if reverse else value])
    return make


def normalisation(name):
    def make(draw):
        dtype = draw.one_of(FLOATS)
        shape = draw.shape(1 if name in ("layer_norm", "rms_norm") else 3)
        if shape[-1] == 0 or (name in ("group_norm", "instance_norm") and 0 in shape):
            raise Skip
        x = draw.operand(dtype, shape)
        value = wide(x.value)
        operands = {"x": x}
        if name in ("layer_norm", "rms_norm"):
            count = draw.one_of([1, 2]) if len(shape) > 1 and 0 not in shape else 1
            axes = tuple(range(len(shape) - count, len(shape)))
            scale_shape, attributes = shape[len(shape) - count:], {"axes": tuple_text(range(-count, 0))}
        else:
            channels = shape[1]
            divisors = [g for g in (1, 2, 3, channels) if channels % g == 0]
            groups = channels if name == "instance_norm" else draw.one_of(divisors)
            value = value.reshape(shape[0], groups, -1)
            axes, scale_shape = (2,), (channels,)
            attributes = {"num_groups": groups} if name == "group_norm" else {}
        if name == "rms_norm":
            value = value / np.sqrt((value ** 2).mean(axes, keepdims=True) + 1e-5)
        else:
            value = (value - value.mean(axes, keepdims=True)) / np.sqrt(value.var(axes, keepdims=True) + 1e-5)
        value = value.reshape(shape)
        names = ["%x"]
        if name in ("group_norm", "instance_norm") or draw.yes():
            gamma = operands["g"] = draw.operand(dtype, scale_shape)
            beta = draw.operand(dtype, scale_shape)
            spread = (len(shape) - 2) * (1,) if len(attributes) == 0 or "num_groups" in attributes else ()
            value = value * wide(gamma.value).reshape(scale_shape + spread)
            names.append("%g")
            if name != "rms_norm":
                operands["b"] = beta
                value = value + wide(beta.value).reshape(scale_shape + spread)
                names.append("%b")
        return call(name, names, **attributes), operands, [value]
    return make


def indices_of(draw, size, shape):
    if size == 0:
        shape = (0,) + shape[1:] if shape else (0,)
    values = draw.random.integers(0, max(size, 1), shape)
    if draw.yes():
        values = values - size * draw.random.integers(0, 2, values.shape)
    return Operand(values.astype(np.int64), "i64")


def take(draw):
    x = draw.operand(draw.one_of(ALL), draw.shape(1, 4))
    axis, text = draw.axis(x.value.ndim)
    indices = indices_of(draw, x.value.shape[axis], draw.shape(0, 2))
    mode = draw.one_of(("clip", "wrap", "raise"))
    if x.value.shape[axis] == 0 and indices.value.size:
        indices.value = indices.value[:0] if indices.value.ndim else np.zeros((0,), np.int64)
    if mode != "raise":
        indices.value = indices.value + draw.random.integers(-9, 9)
    if draw.yes():
        indices = Operand(indices.value.astype(np.int32), "i32")
    expected = [np.take(x.value, indices.value, axis, mode=mode)]
    attributes = {} if mode == "clip" and draw.yes() else {"mode": f"\"{mode}\""}
    return call("take", ["%x", "%i"], axis=text, **attributes), {"x": x, "i": indices}, expected


def gather_elements(draw):
    x = draw.operand(draw.one_of(ALL), draw.shape(1, 4, empty=False))
    axis, text = draw.axis(x.value.ndim)
    shape = list(x.value.shape)
    shape[axis] = int(draw.random.integers(0, 6))
    indices = Operand(draw.random.integers(0, x.value.shape[axis], shape), "i64")
    return (call("gather_elements", ["%x", "%i"], axis=text), {"x": x, "i": indices},
            [np.take_along_axis(x.value, indices.value, axis)])


def gather_nd(draw):
    x = draw.operand(draw.one_of(ALL), draw.shape(1, 4, empty=False))
    depth = int(draw.random.integers(1, x.value.ndim + 1))
    places = draw.shape(0, 2)
    indices = np.stack([draw.random.integers(0, s, places) for s in x.value.shape[:depth]], -1)
    return (call("gather_nd", ["%x", "%i"]), {"x": x, "i": Operand(indices, "i64")},
            [x.value[tuple(np.moveaxis(indices, -1, 0))]])


def scatter_elements(draw):
    dtype = draw.one_of(NUMBERS)
    x = draw.operand(dtype, draw.shape(1, 4, empty=False))
    axis, text = draw.axis(x.value.ndim)
    shape = list(x.value.shape)
    how = draw.one_of(["none", "add", "max", "min"])
    shape[axis] = int(draw.random.integers(0, x.value.shape[axis] + 1))
    indices = np.argsort(draw.random.random(x.value.shape), axis).take(range(shape[axis]), axis)
    updates = draw.operand(dtype, tuple(shape))
    value = x.value.copy()
    old = np.take_along_axis(value, indices, axis)
    combine = {"none": lambda a, b: b, "add": lambda a, b: a + b, "max": np.maximum, "min": np.minimum}[how]
    np.put_along_axis(value, indices, combine(old, updates.value), axis)
    return (call("scatter_elements", ["%x", "%i", "%u"], axis=text, reduction=f'"{how}"'),
            {"x": x, "i": Operand(indices.astype(np.int64), "i64"), "u": updates}, [value])


def scatter_nd(draw):
    dtype = draw.one_of(ALL)
    x = draw.operand(dtype, draw.shape(1, 3, empty=False))
    count = int(draw.random.integers(0, x.value.shape[0] + 1))
    indices = draw.random.permutation(x.value.shape[0])[:count].reshape(count, 1)
    updates = draw.operand(dtype, (count,) + x.value.shape[1:])
    value = x.value.copy()
    value[indices[:, 0]] = updates.value
    return (call("scatter_nd", ["%x", "%i", "%u"]),
            {"x": x, "i": Operand(indices.astype(np.int64), "i64"), "u": updates}, [value])


def concat(draw):
    dtype, shape = draw.one_of(ALL), draw.shape(1, 4)
    axis, text = draw.axis(len(shape))
    parts = []
    for _ in range(draw.one_of([1, 2, 3])):
        dims = list(shape)
        dims[axis] = int(draw.random.integers(0, 5))
        parts.append(draw.operand(dtype, tuple(dims)))
    names = [f"p{i}" for i in range(len(parts))]
    return (call("concat", [tuple_text(f"%{n}" for n in names)], axis=text), dict(zip(names, parts)),
            [np.concatenate([p.value for p in parts], axis)])


def stack(draw):
    dtype, shape = draw.one_of(ALL), draw.shape(0, 4)
    parts = {f"p{i}": draw.operand(dtype, shape) for i in range(draw.one_of([1, 2, 3]))}
    axis, text = draw.axis(len(shape) + 1)
    return (call("stack", [tuple_text(f"%{n}" for n in parts)], axis=text), parts,
            [np.stack([p.value for p in parts.values()], axis)])


def split(draw):
    shape = draw.shape(1, 4)
    axis, text = draw.axis(len(shape))
    x = draw.operand(draw.one_of(ALL), shape)
    if draw.yes() and shape[axis] > 1:
        cuts = sorted(set(draw.random.integers(1, shape[axis], 2).tolist()))
        return (call("split", ["%x"], indices_or_sections=tuple_text(cuts), axis=text), {"x": x},
                np.split(x.value, cuts, axis))
    sections = draw.one_of([s for s in (1, 2, 3, 5) if shape[axis] % s == 0])
    return (call("split", ["%x"], indices_or_sections=sections, axis=text), {"x": x},
            np.split(x.value, sections, axis))


def strided_slice(draw):
    x = draw.operand(draw.one_of(ALL), draw.shape(1))
    cuts, place = {}, [slice(None)] * x.value.ndim
    for axis in sorted(draw.random.permutation(x.value.ndim)[:2].tolist()):
        step = draw.one_of([1, 1, 2, 3, -1, -2])
        begin, end = draw.random.integers(-10, 11, 2).tolist()
        cuts[axis] = (begin, end, step)
        place[axis] = slice(begin, end, step)
    begin, end, steps = (tuple_text(c[i] for c in cuts.values()) for i in range(3))
    return (call("strided_slice", ["%x"], begin=begin, end=end, strides=steps, axes=tuple_text(cuts)), {"x": x},
            [x.value[tuple(place)]])


def pad(draw):
    x = draw.operand(draw.one_of(ALL), draw.shape(1, 4, empty=False))
    mode = draw.one_of(["constant", "edge", "reflect"])
    widths = [(int(draw.random.integers(0, min(3, s))), int(draw.random.integers(0, min(3, s)))) for s in x.value.shape]
    return (call("pad", ["%x"], pad_width=tuple_text(itertools.chain(*widths)), pad_mode=f'"{mode}"'), {"x": x},
            [np.pad(x.value, widths, mode=mode)])


def tile(draw):
    x = draw.operand(draw.one_of(ALL), draw.shape(0, 4))
    least = 0 if draw.random.random() < 0.1 else 1
    repeats = draw.random.integers(least, 4, draw.one_of([x.value.ndim, 1, 3]) or 1).tolist()
    return call("tile", ["%x"], reps=tuple_text(repeats)), {"x": x}, [np.tile(x.value, repeats)]


def repeat(draw):
    x = draw.operand(draw.one_of(ALL), draw.shape(1, 4))
    axis, text = draw.axis(x.value.ndim)
    return call("repeat", ["%x"], repeats=3, axis=text), {"x": x}, [np.repeat(x.value, 3, axis)]


def flip(draw):
    x = draw.operand(draw.one_of(ALL), draw.shape(1))
    axis, text = draw.axis(x.value.ndim)
    return call("flip", ["%x"], axis=text), {"x": x}, [np.flip(x.value, axis)]


def triangle(name):
    def make(draw):
        x = draw.operand(draw.one_of(ALL), draw.shape(2, 4))
        k = int(draw.random.integers(-3, 4))
        return call(name, ["%x"], k=k), {"x": x}, [getattr(np, name)(x.value, k)]
    return make


def reshape(draw):
    x = draw.operand(draw.one_of(ALL), draw.shape())
    dims = draw.random.permutation([d for d in x.value.shape if d != 1] + [1] * draw.one_of([0, 1, 2])).tolist()
    return (call("reshape", ["%x"], shape=tuple_text(dims), allowzero=0 in dims or None), {"x": x},
            [x.value.reshape(dims)])


def flatten(draw):
    x = draw.operand(draw.one_of(ALL), draw.shape())
    return "flatten(%x)", {"x": x}, [x.value.reshape(-1)]


def squeeze(draw):
    x = draw.operand(draw.one_of(ALL), draw.shape(0, 3))
    axis, text = draw.axis(x.value.ndim + 1)
    return call("squeeze", [call("expand_dims", ["%x"], axis=text)], axis=text), {"x": x}, [x.value]


def expand_dims(draw):
    x = draw.operand(draw.one_of(ALL), draw.shape(0, 4))
    axis, text = draw.axis(x.value.ndim + 1)
    return call("expand_dims", ["%x"], axis=text), {"x": x}, [np.expand_dims(x.value, axis)]


def transpose(draw):
    x = draw.operand(draw.one_of(ALL), draw.shape())
    axes = draw.random.permutation(x.value.ndim).tolist()
    if not axes or draw.yes():
        return "transpose(%x)", {"x": x}, [x.value.transpose()]
    return call("transpose", ["%x"], axes=tuple_text(axes)), {"x": x}, [x.value.transpose(axes)]


def broadcast_shape(draw, shape):
    return tuple(1 if draw.random.random() < 0.3 else d for d in shape[draw.random.integers(len(shape) + 1):])


def where(draw):
    dtype, shape = draw.one_of(ALL), draw.shape(0, 6)
    c = draw.operand("bool", shape)
    x, y = (draw.operand(dtype, broadcast_shape(draw, shape)) for _ in range(2))
    return "where(%c, %x, %y)", {"c": c, "x": x, "y": y}, [np.where(c.value, x.value, y.value)]


def elementwise(name, dtypes, reference):
    def make(draw):
        dtype, shape = draw.one_of(dtypes), draw.shape(0, 6)
        x, y = draw.operand(dtype, shape), draw.operand(dtype, broadcast_shape(draw, shape))
        return f"{name}(%x, %y)", {"x": x, "y": y}, [reference(x.value, y.value)]
    return make


def broadcast_to(draw):
    shape = draw.shape(0, 6)
    x = draw.operand(draw.one_of(ALL), broadcast_shape(draw, shape))
    return call("broadcast_to", ["%x"], shape=tuple_text(shape)), {"x": x}, [np.broadcast_to(x.value, shape)]


def one_hot(draw):
    depth, dtype = draw.one_of([1, 4, 9]), draw.one_of(NUMBERS)
    indices = Operand(draw.random.integers(0, depth, draw.shape(0, 3)), "i64")
    axis, text = draw.axis(indices.value.ndim + 1)
    value = np.moveaxis((indices.value[..., None] == np.arange(depth)).astype(NUMPY[dtype]), -1, axis)
    on, off = ("1f", "0f") if dtype in FLOATS else ("1", "0")
    return (call("one_hot", ["%i", on, off], depth=depth, axis=text, dtype=f'"{NAMES[dtype]}"'), {"i": indices},
            [value])


def arange(draw):
    dtype = draw.one_of(["i32", "i64", "f32", "f64", "i8", "u8"])
    start, step = int(draw.random.integers(0, 10)), draw.one_of([1, 2, 3])
    stop = start + int(draw.random.integers(0, 20))
    return (call("arange", [str(start), str(stop), str(step)], dtype=f'"{NAMES[dtype]}"'), {},
            [np.arange(start, stop, step).astype(NUMPY[dtype])])


def sort(draw):
    x = draw.distinct(draw.one_of(NUMBERS), draw.shape(1, 4))
    axis, text = draw.axis(x.value.ndim)
    descending = draw.yes()
    sign = -1.0 if descending else 1.0
    order = np.argsort(sign * x.value.astype(np.float64), axis, kind="stable")
    if draw.yes():
        return call("argsort", ["%x"], axis=text, descending=descending), {"x": x}, [order]
    return call("sort", ["%x"], axis=text, descending=descending), {"x": x}, [np.take_along_axis(x.value, order, axis)]


def topk(draw):
    x = draw.distinct(draw.one_of(NUMBERS), draw.shape(1, 4, empty=False))
    axis, text = draw.axis(x.value.ndim)
    k, largest = int(draw.random.integers(1, max(x.value.shape[axis], 1) + 1)), draw.yes()
    sign = -1.0 if largest else 1.0
    order = np.argsort(sign * x.value.astype(np.float64), axis, kind="stable").take(range(k), axis)
    return (call("topk", ["%x"], k=k, axis=text, largest=largest), {"x": x},
            [np.take_along_axis(x.value, order, axis), order])


def nonzero(draw):
    x = draw.operand(draw.one_of(ALL), draw.shape(1))
    return "nonzero(%x)", {"x": x}, [np.array(np.nonzero(x.value))]


def argwhere(draw):
    x = draw.operand(draw.one_of(ALL), draw.shape(1))
    return "argwhere(%x)", {"x": x}, [np.argwhere(x.value)]


def unique(draw):
    x = draw.operand(draw.one_of(NUMBERS), draw.shape(1, 4))
    return "unique(%x)", {"x": x}, [np.unique(x.value)]


def resize(draw):
    x = draw.operand(draw.one_of(["f32", "f64", "f16", "bf16", "u8", "i32"]), draw.shape(4, 4, empty=False))
    rows, columns = draw.one_of([1, 2, 4]), draw.one_of([1, 3])
    size = tuple_text((x.value.shape[2] * rows, x.value.shape[3] * columns))
    return (call("resize2d", ["%x"], size=size, method='"nearest_neighbor"',
                 coordinate_transformation_mode='"asymmetric"', rounding_method='"floor"'), {"x": x},
            [x.value.repeat(rows, 2).repeat(columns, 3)])


def cast(draw):
    x = draw.operand(draw.one_of(ALL), draw.shape(), positive=True)
    to = draw.one_of(ALL)
    value = np.trunc(wide(x.value)) if to in INTS else x.value != 0 if to == "bool" else x.value
    return call("cast", ["%x"], dtype=f'"{NAMES[to]}"'), {"x": x}, [value.astype(NUMPY[to])]


def fill(draw):
    x = draw.operand(draw.one_of(NUMBERS), draw.shape())
    name = draw.one_of(["zeros_like", "ones_like"])
    return f"{name}(%x)", {"x": x}, [getattr(np, name)(x.value)]


def reference_logsumexp(x, axis, keepdims):
    return np.log(np.sum(np.exp(x), axis, keepdims=keepdims))


MAKERS = {
    "sum": reduction("sum", NUMBERS, reference_sum),
    "prod": reduction("prod", NUMBERS, lambda x, a, k: np.prod(x, a, x.dtype, keepdims=k)),
    "max": reduction("max", NUMBERS, lambda x, a, k: np.max(x, a, keepdims=k)),
    "min": reduction("min", NUMBERS, lambda x, a, k: np.min(x, a, keepdims=k)),
    "mean": reduction("mean", FLOATS, lambda x, a, k: np.mean(x, a, keepdims=k)),
    "variance": reduction("variance", FLOATS, lambda x, a, k: np.var(x, a, keepdims=k)),
    "std": reduction("std", FLOATS, lambda x, a, k: np.std(x, a, keepdims=k)),
    "any": reduction("any", ALL, lambda x, a, k: np.any(x, a, keepdims=k)),
    "all": reduction("all", ALL, lambda x, a, k: np.all(x, a, keepdims=k)),
    "logsumexp": reduction("logsumexp", FLOATS, reference_logsumexp),
    "argmax": arg("argmax"), "argmin": arg("argmin"),
    "softmax": softmax("softmax"), "log_softmax": softmax("log_softmax"),
    "cumsum": cumulative("cumsum"), "cumprod": cumulative("cumprod"),
    **{name: normalisation(name) for name in ("layer_norm", "rms_norm", "group_norm", "instance_norm")},
    **{name: triangle(name) for name in ("tril", "triu")},
    **{make.__name__: make for make in (
        take, gather_elements, gather_nd, scatter_elements, scatter_nd, concat, stack, split, strided_slice, pad, tile,
        repeat, flip, reshape, flatten, squeeze, expand_dims, transpose, where, broadcast_to, one_hot, arange, sort,
        topk, nonzero, argwhere, unique, resize, cast, fill)},
    **quantized_cases.makers(Operand, call),
    "add": elementwise("add", NUMBERS, np.add),
    "maximum": elementwise("maximum", NUMBERS, np.maximum),
    "less": elementwise("less", NUMBERS, np.less),
}
