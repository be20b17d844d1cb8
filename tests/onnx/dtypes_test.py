#!/usr/bin/python3
"""Which dtypes the first tensor of each ONNX operator may have, by trial, compared with compiler/onnx/onnx_dtypes.txt.

usage: dtypes_test.py INGOT [--bless]

Examples are the nodes of Debian's libonnx-testdata and of the tests in this folder, and a few from here. Each is brought
to every dtype, with the other inputs that must have the same; a dtype counts if one of the examples compiles and runs.
Ends with 77 without the data.
"""
import collections
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from cases import tensor_of

HERE = pathlib.Path(__file__).resolve().parent
TABLE = HERE.parent.parent / "compiler/onnx/onnx_dtypes.txt"
OPERATORS = HERE.parent.parent / "compiler/onnx/onnx_ops.def"
DATA = pathlib.Path("/usr/share/libonnx-testdata/data/node")
TESTS = ["attention", "contrib", "contrib_array", "ml", "standard", "storage", "text"]
# What is tried, round after round, with the dtypes that have not passed: which example, whether inputs that keep their
# dtype are constants, and whether it is only the first that changes.
ROUNDS = [(0, True, False), (1, False, False), (2, True, False), (3, True, True)]
DEADLINE_MS = 20000
# What they take is what their graphs take.
GRAPHS = {"If", "Loop", "Scan", "SequenceMap"}
# ONNX's numbers, in groups that have a name of their own.
GROUPS = {"floats": {"float16": 10, "bfloat16": 16, "float32": 1, "float64": 11},
          "integers": {"int8": 3, "int16": 5, "int32": 6, "int64": 7, "uint8": 2, "uint16": 4, "uint32": 12, "uint64": 13},
          "bool": {"bool": 9}, "string": {"string": 8}}
DTYPES = {name: number for group in GROUPS.values() for name, number in group.items()}
NUMPY = {10: "f2", 1: "f4", 11: "f8", 3: "i1", 5: "i2", 6: "i4", 7: "i8", 2: "u1", 4: "u2", 12: "u4", 13: "u8", 9: "?"}


def operators():
    """domain and name of each line of the table of conversions."""
    for line in OPERATORS.read_text().splitlines():
        if found := re.match(r'CONVERT_IN\("([^"]*)", (\w+),', line):
            yield found[1], found[2]
        elif found := re.match(r"(?:SAME|BINARY|CONVERT)\((\w+),", line):
            if "// " in line and not line.startswith("//"):
                yield "", found[1]


def brought(tensor, dtype):
    """The tensor's numbers, as far as they fit, in another dtype."""
    result = TensorProto(name=tensor.name, data_type=dtype, dims=tensor.dims)
    if tensor.data_type == dtype:
        result.CopyFrom(tensor)
        return result
    count = int(np.prod(tensor.dims)) if tensor.dims else 1
    if tensor.data_type in NUMPY.keys() | {8}:
        values = numpy_helper.to_array(tensor)
        if tensor.data_type == 8:
            values = np.ones(values.shape, np.float32)
        values = np.nan_to_num(np.asarray(values, np.float64), posinf=1, neginf=1)
    else:
        values = np.ones(count)
    if dtype == 8:
        result.string_data.extend(str(v).encode() for v in np.ravel(values))
    elif dtype in NUMPY:
        limit = 100 if dtype not in (1, 11) else 1e30
        fit = np.clip(values, 0 if NUMPY[dtype][0] == "u" else -limit, limit)
        result.raw_data = fit.astype(NUMPY[dtype]).tobytes()
    else:
        result.raw_data = (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16).tobytes()
    return result


class Example:
    """One node, its opset and the tensors that it is given."""

    def __init__(self, node, imports, given, before=()):
        self.node, self.imports, self.given, self.before = node, imports, given, list(before)
        self.key = ("" if node.domain == "ai.onnx" else node.domain, node.op_type)
        self.size = sum(len(t.raw_data) for t in given.values())
        self.first = next((name for name in [*node.input, *given] if name in given), None)

    def alike(self):
        """The inputs that have the dtype of the first one."""
        opset = next((i.version for i in self.imports if i.domain == self.key[0]), 1)
        names = list(self.node.input)
        try:
            schema = onnx.defs.get_schema(self.key[1], min(opset, onnx.defs.onnx_opset_version()), self.key[0])
        except onnx.defs.SchemaError:
            dtype = self.given[self.first].data_type
            return [n for n in names if n in self.given and self.given[n].data_type == dtype]
        formal = lambda i: schema.inputs[min(i, len(schema.inputs) - 1)].typeStr
        kind = formal(names.index(self.first))
        return [n for i, n in enumerate(names) if n in self.given and formal(i) == kind]

    def write(self, folder, dtype, constant, alone):
        """`constant`: the inputs that are constants of the model; `alone`: others keep their dtype."""
        changed = {self.first} if alone else set(self.alike()) if not self.before else set(self.given)
        tensors = {n: brought(t, dtype) if n in changed else t for n, t in self.given.items()}
        infos, initializers, files = [], [], []
        for name, tensor in tensors.items():
            tensor.name = name
            if name in constant and name not in changed:
                initializers.append(tensor)
                continue
            info = onnx.ValueInfoProto(name=name)
            info.type.tensor_type.elem_type = tensor.data_type
            info.type.tensor_type.shape.SetInParent()
            for size in tensor.dims:
                info.type.tensor_type.shape.dim.add(dim_value=size)
            infos.append(info)
            files.append(tensor)
        outputs = [onnx.ValueInfoProto(name=name) for name in self.node.output if name]
        graph = helper.make_graph([*self.before, self.node], "g", infos, outputs[:1], initializers)
        data = folder / "test_data_set_0"
        data.mkdir(parents=True)
        (folder / "model.onnx").write_bytes(helper.make_model(graph, opset_imports=self.imports).SerializeToString())
        for i, tensor in enumerate(files):
            (data / f"input_{i}.pb").write_bytes(tensor.SerializeToString())


def read_example(folder):
    model = onnx.load(folder / "model.onnx")
    graph = model.graph
    if len(graph.node) != 1 or any(not i.type.HasField("tensor_type") for i in graph.input):
        return None
    constants = {t.name: t for t in graph.initializer}
    given, place = {}, 0
    for info in graph.input:
        if info.name in constants:
            continue
        tensor = TensorProto()
        tensor.ParseFromString((folder / f"test_data_set_0/input_{place}.pb").read_bytes())
        given[info.name] = tensor
        place += 1
    return Example(graph.node[0], model.opset_import, {**given, **constants})


def own_examples():
    """Operators that are newer than the data, or work on sequences."""
    def of(op, opset=18, domain="", before=(), outputs=("y",), inputs=None, **rest):
        attributes = {k: v for k, v in rest.items() if not isinstance(v, np.ndarray)}
        given = {k: tensor_of(v) for k, v in rest.items() if isinstance(v, np.ndarray)}
        node = helper.make_node(op, inputs or list(given), list(outputs), domain=domain, **attributes)
        return Example(node, [helper.make_opsetid("", opset), helper.make_opsetid(domain or "x", 1)], given, before)

    f = lambda *shape: np.ones(shape, np.float32)
    i = lambda *values: np.array(values, np.int64)
    x, two = f(2, 3), [helper.make_node("SequenceConstruct", ["x", "x"], ["s"])]
    maybe = [helper.make_node("Optional", ["x"], ["s"])]
    for op in ("Mish", "Identity", "BitwiseNot", "Det"):
        yield of(op, x=f(3, 3))
    for op in ("BitwiseAnd", "BitwiseOr", "BitwiseXor", "Mod"):
        yield of(op, x=x, z=x)
    for op in ("Gelu", "HardSwish"):
        yield of(op, 20, x=x)
    yield of("Swish", 24, x=x)
    yield of("SwiGLU", 28, x=x, z=x)
    yield of("CumProd", 26, x=x, a=np.array(0))
    yield of("BitCast", 26, x=x, to=2)
    yield of("BitCast", 26, x=x, to=7)
    yield of("BitCast", 26, x=x, to=6)
    yield of("BitCast", 26, x=x, to=5)
    yield of("CenterCropPad", x=f(4, 4), s=i(2, 6))
    yield of("Col2Im", x=f(1, 5, 5), i=i(5, 5), b=i(1, 5))
    yield of("AffineGrid", 20, x=f(1, 2, 3), s=i(1, 1, 2, 2))
    yield of("DeformConv", 19, x=f(1, 1, 3, 3), w=f(1, 1, 2, 2), o=f(1, 8, 2, 2), kernel_shape=[2, 2])
    yield of("GroupNormalization", 21, x=f(1, 4, 2), s=f(4), b=f(4), num_groups=2)
    yield of("RMSNormalization", 23, x=x, s=f(3))
    yield of("TensorScatter", 24, x=f(1, 4, 2), u=f(1, 1, 2), n=i(1))
    yield of("RotaryEmbedding", 23, x=f(1, 2, 3, 4), c=f(1, 3, 2), s=f(1, 3, 2))
    yield of("SimplifiedLayerNormalization", x=x, s=f(3))
    yield of("SequenceConstruct", x=x)
    for op, rest in (("SequenceAt", ["n"]), ("SequenceErase", ["n"]), ("SequenceLength", []), ("ConcatFromSequence", [])):
        more = dict(axis=0) if op == "ConcatFromSequence" else {}
        example = of(op, before=two, inputs=["s", *rest], x=x, **more)
        if rest:
            example.before.append(helper.make_node("Constant", [], ["n"], value=tensor_of(np.array(0))))
        yield example
    yield of("SequenceInsert", before=two, inputs=["s", "x"], x=x)
    yield of("SplitToSequence", x=x)
    yield of("Optional", x=x)
    for op in ("OptionalGetElement", "OptionalHasElement"):
        yield of(op, before=maybe, inputs=["s"], x=x)
    yield of("ImageScaler", 7, x=f(1, 3, 2, 2), scale=1.0, bias=[0.0, 0.0, 0.0])
    yield of("MaxRoiPool", 7, x=f(1, 1, 4, 4), r=f(1, 5) * 0, pooled_shape=[1, 1])
    yield of("GlobalLpPool", 7, x=f(1, 1, 4))
    yield of("LpPool", x=f(1, 1, 4), kernel_shape=[2])
    yield of("LpNormalization", x=x)
    yield of("MaxUnpool", x=f(1, 1, 1, 1), i=i(0).reshape(1, 1, 1, 1), kernel_shape=[2, 2], strides=[2, 2])
    yield of("Multinomial", x=x, sample_size=2)
    yield of("RandomNormalLike", x=x)
    yield of("RandomUniformLike", x=x)
    yield of("Upsample", 9, x=f(1, 1, 2, 2), s=f(4))
    yield of("Scatter", 9, x=x, i=i(0).reshape(1, 1), u=f(1, 1))
    words = np.array(["a b"], object)
    yield of("StringConcat", 20, x=words, z=words)
    yield of("StringSplit", 20, x=words, outputs=("y", "n"))
    ms = "com.microsoft"
    for op in ("Gelu", "QuickGelu", "FastGelu"):
        yield of(op, domain=ms, x=x)
    for op in ("BiasGelu",):
        yield of(op, domain=ms, x=x, b=f(3))
    yield of("Range", domain=ms, x=f(), l=f() * 3, d=f())
    yield of("Trilu", domain=ms, x=x)
    yield of("Inverse", domain=ms, x=np.eye(2, dtype=np.float32))
    yield of("GatherND", domain=ms, x=x, i=i(0).reshape(1, 1))
    yield of("GemmFastGelu", domain=ms, x=f(2, 3), w=f(3, 2))
    yield of("GridSample", domain=ms, x=f(1, 1, 2, 2), g=f(1, 1, 1, 2))
    yield of("TransposeMatMul", domain=ms, x=x, z=f(3, 2))
    yield of("LinearAttention", domain=ms, x=f(1, 2, 4), k=f(1, 2, 4), v=f(1, 2, 4), inputs=["x", "k", "v"], q_num_heads=2, kv_num_heads=2,
             update_rule="linear")
    yield of("CausalConvWithState", domain=ms, x=f(1, 2, 3), w=f(2, 1, 2))
    yield of("LinearAttentionGate", domain=ms, x=f(1, 2, 3), b=f(3), s=f(3))
    q = np.ones((1, 1, 2, 2), np.uint8)
    s, z = np.array(0.5, np.float32), np.array(1, np.uint8)
    yield of("QLinearLeakyRelu", domain=ms, x=q, s=s, z=z, t=s, u=z)
    yield of("QLinearSoftmax", domain=ms, x=q, s=s, z=z, t=s, u=z)
    yield of("QLinearGlobalAveragePool", domain=ms, x=q, s=s, z=z, t=s, u=z)
    yield of("QuantizeLinear", domain=ms, x=x, s=s, z=z)
    ids, e = np.zeros((1, 2), np.int32), np.ones((2, 4), np.uint8)
    yield of("QEmbedLayerNormalization", domain=ms, inputs=["x", "", "w", "p", "", "g", "b", "", *["s"] * 5, *["z"] * 5], x=ids, w=e, p=e,
             g=e[0].copy(), b=e[1].copy(), s=s, z=z)
    yield of("EmbedLayerNormalization", domain=ms, inputs=["x", "", "w", "p", "", "g", "b"], x=ids, w=f(2, 4), p=f(2, 4), g=f(4), b=f(4))


def examples(folder):
    for path in sorted(DATA.iterdir()):
        if (path / "test_data_set_0/input_0.pb").exists():
            yield read_example(path)
    for test in TESTS:
        subprocess.run(["/usr/bin/python3", HERE / f"{test}_test.py", "--write", folder / test], check=True)
        for path in sorted((folder / test).iterdir()):
            if (path / "test_data_set_0/input_0.pb").exists():
                yield read_example(path)
    yield from own_examples()


def described(dtypes):
    """Groups that are whole by their name, others by their members."""
    parts = []
    for name, group in GROUPS.items():
        parts += [name] if group.keys() <= dtypes else [d for d in group if d in dtypes]
    return ", ".join(parts)


def found(tool, folder):
    wanted = set(operators())
    by_operator = collections.defaultdict(list)
    for example in examples(folder):
        if example is not None and example.first is not None and example.key in wanted and example.key[1] not in GRAPHS:
            by_operator[example.key].append(example)
    passed = collections.defaultdict(set)
    for number, (place, constant, alone) in enumerate(ROUNDS):
        trials = folder / f"round{number}"
        for (domain, op), all_of in by_operator.items():
            small = sorted((e for e in all_of if e.size < 1 << 16), key=lambda e: e.size)
            at = place * len(small) // len(ROUNDS)
            if 0 < number < 3 and len(small) < 2 and constant:
                continue
            for name in DTYPES.keys() - passed[f"{domain}.{op}"]:
                small[at].write(trials / f"{domain}.{op}-{name}", DTYPES[name], set(small[at].given) if constant else (), alone)
        done = subprocess.run([tool, "onnx-test", "--deadline", str(DEADLINE_MS), trials], capture_output=True, text=True, timeout=300)
        for match in re.finditer(rf"^passed round{number}/([^-\n]*)-(\w+)$", done.stdout, re.M):
            passed[match[1]].add(match[2])
    return {f"{domain}.{op}": described(passed[f"{domain}.{op}"]) for domain, op in operators()}


def main():
    if not DATA.is_dir():
        print(f"SKIPPED: {DATA} has no ONNX tests; install libonnx-testdata")
        return 77
    # Thousands of small files: in memory, where that is there.
    memory = pathlib.Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        dtypes = found(sys.argv[1], pathlib.Path(folder))
    text = "# The dtypes that the first tensor of an operator may have, found by trial: dtypes_test.py --bless writes this.\n"
    text += "".join(f"{key}: {names}".rstrip() + "\n" for key, names in dtypes.items())
    if "--bless" in sys.argv:
        TABLE.write_text(text)
        return 0
    if text == TABLE.read_text():
        return 0
    old, new = TABLE.read_text().splitlines(), text.splitlines()
    print("\n".join([f"- {line}" for line in old if line not in new] + [f"+ {line}" for line in new if line not in old]))
    return 1


if __name__ == "__main__":
    sys.exit(main())
