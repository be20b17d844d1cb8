#!/usr/bin/python3
"""Random models of If, Loop, Scan, SequenceMap, sequences and optionals: nested, with values captured from outside and
carried values that change their length. Each is a tree of Ops that NumPy evaluates here and the tool runs; floats hold
small integers, so results are equal.

usage: control_flow_test.py INGOT [MODELS [SEED [--ort ORT.PY]]]      --ort: what ONNX Runtime refuses or has otherwise
"""
import os
import pathlib
import random
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

# Kinds of values: f float32, i int64, b bool of rank 0; v a vector, w one of length 3, m a matrix of 3 columns; s a sequence of vectors.
TYPES = {"f": (TensorProto.FLOAT, []), "i": (TensorProto.INT64, []), "b": (TensorProto.BOOL, []), "v": (TensorProto.FLOAT, [None]),
         "w": (TensorProto.FLOAT, [3]), "m": (TensorProto.FLOAT, [None, 3])}
LONGEST, DEEPEST, MOST_OPS = 9, 3, 400


def f32(x):
    return np.asarray(x, np.float32)


def clip(x):
    return np.clip(x, f32(-40), f32(40))


def cut(x):
    return x[:LONGEST]


def at(v, i):
    return np.concatenate([v, f32([0])])[i % (len(v) + 1)]


def rows(v):
    return np.concatenate([v, f32([1, 2, 3])])[:len(v) // 3 * 3 + 3].reshape(-1, 3)


def three(v):
    return np.concatenate([v, f32([1, 2, 3])])[:3]


class Graph:
    def __init__(self, names):
        self.nodes, self.names = [], names

    def fresh(self):
        self.names[0] += 1
        return f"t{self.names[0]}"

    def __call__(self, op, *inputs, outputs=1, **attributes):
        inputs = [self.constant(x) if isinstance(x, np.ndarray) else x for x in inputs]
        names = [self.fresh() for _ in range(outputs)]
        self.nodes.append(helper.make_node(op, inputs, names, **attributes))
        return names[0] if outputs == 1 else names

    def constant(self, array):
        name = self.fresh()
        self.nodes.append(helper.make_node("Constant", [], [name], value=numpy_helper.from_array(array)))
        return name


ONE, ZEROS = np.array([1]), np.array([0])


def emit_clip(g, x):
    return g("Clip", x, f32(-40), f32(40))


def emit_cut(g, x):
    return g("Slice", x, ZEROS, np.array([LONGEST]))


def emit_at(g, v, i):
    padded = g("Concat", v, f32([0]), axis=0)
    return g("Gather", padded, g("Mod", i, g("Size", padded)))


def emit_rows(g, v):
    count = g("Add", g("Mul", g("Div", g("Size", v), np.array(3)), np.array(3)), np.array(3))
    long = g("Concat", v, f32([1, 2, 3]), axis=0)
    return g("Reshape", g("Slice", long, ZEROS, g("Unsqueeze", count, ZEROS)), np.array([-1, 3]))


def emit_three(g, v):
    return g("Slice", g("Concat", v, f32([1, 2, 3]), axis=0), ZEROS, np.array([3]))


def sequence_value(s, i):
    s = s + [f32([7])]
    return s[i % len(s)]


def emit_sequence_at(g, s, i):
    s = g("SequenceInsert", s, f32([7]))
    return g("SequenceAt", s, g("Mod", i, g("SequenceLength", s)))


def inserted(s, v, i):
    place = i % (len(s) + 1)
    return (s[:place] + [v] + s[place:])[-6:]


def emit_inserted(g, s, v, i):
    """At most six elements are kept: the first goes while there are more."""
    s = g("SequenceInsert", s, v, g("Mod", i, g("Add", g("SequenceLength", s), np.array(1))))
    then, other = Graph(g.names), Graph(g.names)
    kept, whole = then("SequenceErase", s, np.array(0)), other("Identity", s)
    many = g("Greater", g("SequenceLength", s), np.array(6))
    return g("If", many, then_branch=graph_proto(then, [], [(kept, "s")]), else_branch=graph_proto(other, [], [(whole, "s")]))


def erased(s, i):
    s = s + [f32([5])]
    place = i % len(s)
    return s[:place] + s[place + 1:]


def emit_erased(g, s, i):
    s = g("SequenceInsert", s, f32([5]))
    return g("SequenceErase", s, g("Mod", i, g("SequenceLength", s)))


def emit_optional(g, v):
    maybe = g("Optional", v)
    then, other = Graph(g.names), Graph(g.names)
    some, none = then("OptionalGetElement", maybe), other("Identity", v)
    return g("If", g("OptionalHasElement", maybe), then_branch=graph_proto(then, [], [(some, "v")]),
             else_branch=graph_proto(other, [], [(none, "v")]))


# Operators that are right for all operands: kinds of the operands, of the result, what it is, how it is written.
PLAIN = [
    ("ff", "f", lambda a, b: clip(a + b), lambda g, a, b: emit_clip(g, g("Add", a, b))),
    ("ff", "f", lambda a, b: np.maximum(a, -b), lambda g, a, b: g("Max", a, g("Neg", b))),
    ("ii", "i", lambda a, b: (a - b) % 11, lambda g, a, b: g("Mod", g("Sub", a, b), np.array(11))),
    ("i", "i", lambda a: a * 3 % 7, lambda g, a: g("Mod", g("Mul", a, np.array(3)), np.array(7))),
    ("i", "f", lambda a: f32(a % 13), lambda g, a: g("Cast", g("Mod", a, np.array(13)), to=TensorProto.FLOAT)),
    ("f", "i", lambda a: np.int64(a), lambda g, a: g("Cast", a, to=TensorProto.INT64)),
    ("v", "i", lambda v: np.int64(len(v)), lambda g, v: g("Size", v)),
    ("m", "i", lambda m: np.int64(m.shape[0]), lambda g, m: g("Gather", g("Shape", m), np.array(0))),
    ("s", "i", lambda s: np.int64(len(s)), lambda g, s: g("SequenceLength", s)),
    ("ff", "b", lambda a, b: np.bool_(a < b), lambda g, a, b: g("Less", a, b)),
    ("ii", "b", lambda a, b: np.bool_(a % 3 == b % 3), lambda g, a, b: g("Equal", g("Mod", a, np.array(3)), g("Mod", b, np.array(3)))),
    ("bb", "b", lambda a, b: np.bool_(a != b), lambda g, a, b: g("Xor", a, b)),
    ("bff", "f", lambda c, a, b: a if c else b, lambda g, c, a, b: g("Where", c, a, b)),
    ("v", "f", lambda v: clip(v.sum()), lambda g, v: emit_clip(g, g("ReduceSum", v, keepdims=0))),
    ("vi", "f", at, emit_at),
    ("vf", "v", lambda v, a: clip(v - a), lambda g, v, a: emit_clip(g, g("Sub", v, a))),
    ("vv", "v", lambda a, b: cut(np.concatenate([a, b])), lambda g, a, b: emit_cut(g, g("Concat", a, b, axis=0))),
    ("vf", "v", lambda v, a: cut(np.concatenate([f32([a]), v])), lambda g, v, a: emit_cut(g, g("Concat", g("Unsqueeze", a, ZEROS), v, axis=0))),
    ("v", "v", lambda v: v[1:], lambda g, v: g("Slice", v, ONE, np.array([1000]))),
    ("v", "v", lambda v: v[::-1], lambda g, v: g("Slice", v, np.array([-1]), np.array([-1000]), ZEROS, np.array([-1]))),
    ("vf", "v", lambda v, a: v[v > a], lambda g, v, a: g("Compress", v, g("Greater", v, a), axis=0)),
    ("w", "v", lambda w: w, lambda g, w: g("Identity", w)),
    ("m", "v", lambda m: cut(m.reshape(-1)), lambda g, m: emit_cut(g, g("Reshape", m, np.array([-1])))),
    ("v", "w", three, emit_three),
    ("wf", "w", lambda w, a: clip(w + a), lambda g, w, a: emit_clip(g, g("Add", w, a))),
    ("v", "m", rows, emit_rows),
    ("mw", "m", lambda m, w: clip(m + w), lambda g, m, w: emit_clip(g, g("Add", m, w))),
    ("m", "w", lambda m: clip(m.sum(0)), lambda g, m: emit_clip(g, g("ReduceSum", m, ZEROS, keepdims=0))),
    ("vv", "s", lambda a, b: [a, b], lambda g, a, b: g("SequenceConstruct", a, b)),
    ("", "s", lambda: [], lambda g: g("SequenceEmpty", dtype=TensorProto.FLOAT)),
    ("svi", "s", inserted, emit_inserted),
    ("si", "s", erased, emit_erased),
    ("si", "v", sequence_value, emit_sequence_at),
    ("sv", "v", lambda s, v: cut(np.concatenate(s + [v])), lambda g, s, v: emit_cut(g, g("ConcatFromSequence", g("SequenceInsert", s, v), axis=0))),
    ("v", "s", lambda v: [v[i:i + 2] for i in range(0, len(v), 2)], lambda g, v: g("SplitToSequence", v, np.array(2), axis=0)),
    ("v", "v", lambda v: v, emit_optional),
]


def type_proto(kind):
    if kind == "s":
        return helper.make_sequence_type_proto(helper.make_tensor_type_proto(*TYPES["v"]))
    return helper.make_tensor_type_proto(*TYPES[kind])


def graph_proto(g, inputs, outputs):
    infos = [[helper.make_value_info(name, type_proto(kind)) for name, kind in side] for side in (inputs, outputs)]
    return helper.make_graph(g.nodes, g.fresh(), *infos)


class Block:
    """Steps that see the values of the blocks around it. Values are numbers; kinds[n] is the kind of value n."""

    def __init__(self, maker, parameters, depth, visible):
        self.parameters, self.steps, self.results = parameters, [], []
        self.visible = visible + parameters
        for _ in range(maker.rng.randint(1, 6 if depth else 9)):
            maker.step(self, depth)

    def run(self, values):
        for step in self.steps:
            step.run(values)
        return [values[n] for n in self.results]

    def emit(self, g, names, fresh_results=False):
        for step in self.steps:
            step.emit(g, names)
        # A result is made here, and only once.
        return [g("Identity", names[n]) for n in self.results] if fresh_results else [names[n] for n in self.results]


class Plain:
    def __init__(self, operator, inputs, output):
        (_, _, self.meaning, self.writing), self.inputs, self.output = operator, inputs, output

    def run(self, values):
        values[self.output] = self.meaning(*[values[n] for n in self.inputs])

    def emit(self, g, names):
        names[self.output] = self.writing(g, *[names[n] for n in self.inputs])


class If:
    def __init__(self, maker, block, depth, kinds):
        self.condition, self.outputs = maker.pick(block, "b"), []
        self.branches = [Block(maker, [], depth + 1, block.visible) for _ in range(2)]
        for branch in self.branches:
            branch.results = [maker.pick(branch, kind) for kind in kinds]
        self.outputs = [maker.define(block, kind) for kind in kinds]

    def run(self, values):
        for n, value in zip(self.outputs, self.branches[0 if values[self.condition] else 1].run(values)):
            values[n] = value

    def emit(self, g, names):
        protos = []
        for branch in self.branches:
            inner = Graph(g.names)
            results = branch.emit(inner, names, True)
            protos.append(graph_proto(inner, [], list(zip(results, self.kinds))))
        made = g("If", names[self.condition], outputs=len(self.outputs), then_branch=protos[0], else_branch=protos[1])
        names.update(zip(self.outputs, made if len(self.outputs) > 1 else [made]))


class Loop:
    """Of so many steps at most, or while a condition of its body holds, or both."""

    def __init__(self, maker, block, depth, carried, collected):
        self.count = maker.pick(block, "i") if maker.rng.random() < 0.7 else None
        self.first = maker.pick(block, "b") if maker.rng.random() < 0.3 else None
        self.carried, self.collected = carried, collected
        self.initial = [maker.pick(block, kind) for kind in carried]
        self.index, self.going = maker.value("i"), maker.value("b")
        self.entering = [maker.value(kind) for kind in carried]
        self.body = Block(maker, [self.index, self.going, *self.entering], depth + 1, block.visible)
        self.goes_on = maker.pick(self.body, "b") if maker.rng.random() < 0.5 else None
        self.body.results = [maker.pick(self.body, kind) for kind in carried + collected]
        self.outputs = [maker.define(block, kind) for kind in carried]
        self.lists = [maker.define(block, {"f": "v", "w": "m"}[kind]) for kind in collected]

    def run(self, values):
        count = int(values[self.count]) % 5 if self.count is not None else 4
        going = bool(values[self.first]) if self.first is not None else True
        state, lists = [values[n] for n in self.initial], [[] for _ in self.lists]
        for step in range(count):
            if not going:
                break
            values.update(zip([self.index, self.going, *self.entering], [np.int64(step), np.bool_(True), *state]))
            results = self.body.run(values)
            going = bool(values[self.goes_on]) if self.goes_on is not None else True
            state = results[:len(state)]
            for items, item in zip(lists, results[len(state):]):
                items.append(item)
        values.update(zip(self.outputs, state))
        for n, kind, items in zip(self.lists, self.collected, lists):
            values[n] = f32(items).reshape((-1, 3) if kind == "w" else -1)

    def emit(self, g, names):
        count = g("Mod", names[self.count], np.array(5)) if self.count is not None else np.array(4)
        first = names[self.first] if self.first is not None else ""
        inner = Graph(g.names)
        inputs = [(inner.fresh(), kind) for kind in ["i", "b", *self.carried]]
        names.update(zip([self.index, self.going, *self.entering], [name for name, _ in inputs]))
        results = self.body.emit(inner, names, True)
        goes_on = inner("Identity", names[self.goes_on]) if self.goes_on is not None else inner.constant(np.array(True))
        body = graph_proto(inner, inputs, [(goes_on, "b"), *zip(results, self.carried + self.collected)])
        outputs = self.outputs + self.lists
        made = g("Loop", count, first, *[names[n] for n in self.initial], outputs=len(outputs), body=body)
        names.update(zip(outputs, made if len(outputs) > 1 else [made]))


class Scan:
    """Over the rows or columns of matrices and the elements of vectors, each in its direction."""

    def __init__(self, maker, block, depth, state, collected):
        rng = maker.rng
        self.state, self.collected = state, collected
        self.initial = [maker.pick(block, kind) for kind in state]
        self.source = maker.pick(block, "m")
        self.both = rng.random() < 0.3
        self.axis = 0 if self.both else rng.randint(0, 1)
        self.directions = [rng.randint(0, 1) for _ in range(2 if self.both else 1)]
        self.out_directions = [rng.randint(0, 1) for _ in collected]
        self.out_axes = [rng.choice([0, -1]) if kind == "f" else 0 for kind in collected]
        self.entering = [maker.value(kind) for kind in state]
        self.parts = [maker.value("v" if self.axis else "w"), *([maker.value("f")] if self.both else [])]
        self.body = Block(maker, self.entering + self.parts, depth + 1, block.visible)
        self.body.results = [maker.pick(self.body, kind) for kind in state + collected]
        self.outputs = [maker.define(block, kind) for kind in state]
        self.lists = [maker.define(block, {"f": "v", "w": "m"}[kind]) for kind in collected]

    def run(self, values):
        matrix = values[self.source]
        parts = [list(matrix.T if self.axis else matrix)]
        if self.both:
            parts.append(list(matrix.sum(1)))
        parts = [items[::-1] if back else items for items, back in zip(parts, self.directions)]
        state, lists = [values[n] for n in self.initial], [[] for _ in self.lists]
        for now in zip(*parts):
            values.update(zip(self.entering + self.parts, state + list(now)))
            results = self.body.run(values)
            state = results[:len(state)]
            for items, item in zip(lists, results[len(state):]):
                items.append(item)
        values.update(zip(self.outputs, state))
        for n, kind, items, back in zip(self.lists, self.collected, lists, self.out_directions):
            values[n] = f32(items[::-1] if back else items).reshape((-1, 3) if kind == "w" else -1)

    def emit(self, g, names):
        inner = Graph(g.names)
        kinds = self.state + ["v" if self.axis else "w"] + ["f"] * self.both
        inputs = [(inner.fresh(), kind) for kind in kinds]
        names.update(zip(self.entering + self.parts, [name for name, _ in inputs]))
        results = self.body.emit(inner, names, True)
        body = graph_proto(inner, inputs, list(zip(results, self.state + self.collected)))
        sources = [names[self.source]] + ([g("ReduceSum", names[self.source], ONE, keepdims=0)] if self.both else [])
        outputs = self.outputs + self.lists
        made = g("Scan", *[names[n] for n in self.initial], *sources, outputs=len(outputs), body=body, num_scan_inputs=len(sources),
                 scan_input_axes=[self.axis, 0][:len(sources)], scan_input_directions=self.directions,
                 **(dict(scan_output_axes=self.out_axes, scan_output_directions=self.out_directions) if self.lists else {}))
        names.update(zip(outputs, made if len(outputs) > 1 else [made]))


class SequenceMap:
    def __init__(self, maker, block, depth):
        self.source, self.other = maker.pick(block, "s"), maker.pick(block, "v")
        self.parts = [maker.value("v"), maker.value("v")]
        self.body = Block(maker, self.parts, depth + 1, block.visible)
        self.body.results = [maker.pick(self.body, "v")]
        self.output = maker.define(block, "s")

    def run(self, values):
        results = []
        for part in values[self.source]:
            values.update(zip(self.parts, [part, values[self.other]]))
            results += self.body.run(values)
        values[self.output] = results

    def emit(self, g, names):
        inner = Graph(g.names)
        inputs = [(inner.fresh(), "v"), (inner.fresh(), "v")]
        names.update(zip(self.parts, [name for name, _ in inputs]))
        results = self.body.emit(inner, names, True)
        names[self.output] = g("SequenceMap", names[self.source], names[self.other], body=graph_proto(inner, inputs, [(results[0], "v")]))


class Maker:
    def __init__(self, seed):
        self.rng, self.kinds, self.steps = random.Random(seed), [], 0
        self.inputs = [self.value(kind) for kind in "fivvm"]
        self.block = Block(self, self.inputs, 0, [])
        self.block.results = [n for n in self.block.visible if n not in self.inputs]

    def value(self, kind):
        self.kinds.append(kind)
        return len(self.kinds) - 1

    def define(self, block, kind):
        n = self.value(kind)
        block.visible.append(n)
        return n

    def pick(self, block, kind):
        """A value of the kind that the block sees, the latest ones more often; made where there is none."""
        found = [n for n in block.visible if self.kinds[n] == kind]
        if found and self.rng.random() < 0.9:
            return found[-1 - min(int(self.rng.expovariate(0.5)), len(found) - 1)]
        makers = [op for op in PLAIN if op[1] == kind and (kind in "vms" or kind not in op[0])]
        return self.plain(block, self.rng.choice(makers))

    def plain(self, block, operator):
        self.steps += 1
        inputs = [self.pick(block, kind) for kind in operator[0]]
        output = self.define(block, operator[1])
        block.steps.append(Plain(operator, inputs, output))
        return output

    def step(self, block, depth):
        self.steps += 1
        kind = self.rng.random()
        if depth == DEEPEST or self.steps > MOST_OPS or kind < 0.45:
            self.plain(block, self.rng.choice(PLAIN))
            return
        some = lambda kinds, least=1: [self.rng.choice(kinds) for _ in range(self.rng.randint(least, 3))]
        if kind < 0.65:
            kinds = some("fibvwms")
            step = If(self, block, depth, kinds)
            step.kinds = kinds
        elif kind < 0.83:
            step = Loop(self, block, depth, some("fibvwms"), some("fw", 0))
        elif kind < 0.93:
            step = Scan(self, block, depth, some("fw"), some("fw", 0))
        else:
            step = SequenceMap(self, block, depth)
        block.steps.append(step)

    def model(self):
        names, counter = {}, [0]
        g = Graph(counter)
        inputs = []
        for n in self.inputs:
            names[n] = f"x{n}"
            inputs.append((names[n], self.kinds[n]))
        results = self.block.emit(g, names)
        outputs = []
        for n, name in zip(self.block.results, results):
            if self.kinds[n] == "s":
                outputs.append((g("SequenceLength", name), "i"))
                outputs.append((g("ConcatFromSequence", g("SequenceInsert", name, f32([9])), axis=0), "v"))
            else:
                outputs.append((g("Identity", name), self.kinds[n]))
        graph = graph_proto(g, inputs, outputs)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)

    def run(self, feeds):
        values = dict(zip(self.inputs, feeds))
        results = self.block.run(values)
        out = []
        for n, value in zip(self.block.results, results):
            if self.kinds[n] == "s":
                out += [np.int64(len(value)), np.concatenate(value + [f32([9])])]
            else:
                out.append(value)
        return [np.asarray(x) for x in out]


def operands(rng):
    vector = lambda: f32(rng.integers(-9, 10, rng.integers(0, 6)))
    return [f32(rng.integers(-9, 10)), np.int64(rng.integers(0, 9)), vector(), vector(), f32(rng.integers(-9, 10, (rng.integers(1, 4), 3)))]


def write(folder, maker, seed):
    model = maker.model()
    folder.mkdir()
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    sets = []
    for k in range(2):
        feeds = operands(np.random.default_rng([seed, k]))
        expected = maker.run(feeds)
        sets.append((feeds, expected))
        data = folder / f"test_data_set_{k}"
        data.mkdir()
        for side, infos, arrays in (("input", model.graph.input, feeds), ("output", model.graph.output, expected)):
            for i, (info, array) in enumerate(zip(infos, arrays)):
                (data / f"{side}_{i}.pb").write_bytes(numpy_helper.from_array(np.asarray(array), info.name).SerializeToString())
    return sets


def in_runtime(path, folder, sets):
    """What ONNX Runtime says about the model: nothing where it agrees."""
    sys.path.insert(0, str(pathlib.Path(path).parent))
    import ort
    try:
        session = ort.Session(folder / "model.onnx")
        for feeds, expected in sets:
            for i, (a, b) in enumerate(zip(session.run(dict(zip(session.inputs, map(np.asarray, feeds)))), expected)):
                if a.size + b.size and not np.array_equal(a, b):
                    return f"output {i} is {a}, here it is {b}"
    except RuntimeError as error:
        return str(error)[:300]
    return None


def main():
    tool = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 2000 if os.environ.get("INGOT_SOAK") else 60
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, first + count):
            path = pathlib.Path(folder) / f"seed_{seed}"
            sets = write(path, Maker(seed), seed)
            if "--ort" in sys.argv:
                said = in_runtime(sys.argv[-1], path, sets)
                if said:
                    print(f"ONNX Runtime, seed {seed}: {said}")
        done = subprocess.run([tool, "onnx-test", "--quiet", folder], capture_output=True, text=True, timeout=1800)
        print(done.stdout + done.stderr, end="")
        return 0 if done.returncode == 0 and f"{count} of {count} passed" in done.stdout else 1


if __name__ == "__main__":
    sys.exit(main())
