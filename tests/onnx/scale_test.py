#!/usr/bin/python3
"""Models with very many of everything: success in linear time, or an error that says what there is too much of.

usage: scale_test.py INGOT
"""
import pathlib
import resource
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

TOOL = sys.argv[1]
MANY = 100_000
node, FLOAT, INT64, BOOL = helper.make_node, TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
failures = []


def value(name, shape=(2,), dtype=FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def integers(name, values):
    return numpy_helper.from_array(np.array(values, np.int64), name)


def model(nodes, inputs, outputs, initializers=(), functions=()):
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("mine", 1)]
    return helper.make_model(helper.make_graph(nodes, "g", inputs, outputs, list(initializers)), opset_imports=imports,
                             functions=list(functions))


def chain(count, step):
    """A model of `count` nodes: step(i, from, to) is the node that follows the one before it."""
    return [step(i, f"v{i}" if i else "x", f"v{i + 1}" if i + 1 < count else "y") for i in range(count)]


def tool(folder, proto, *words, limit=60):
    """Exit code, standard output and error, and seconds of processor time."""
    if proto is not None:
        (pathlib.Path(folder) / "m.onnx").write_bytes(proto.SerializeToString())
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run([TOOL, *words], capture_output=True, text=True, errors="replace", timeout=limit * 5, cwd=folder)
    return done.returncode, done.stdout, done.stderr, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def compiled(folder, title, proto):
    result = tool(folder, proto, "compile", "m.onnx", "-o", "m.ingot")
    check(title, result[0] == 0 and result[3] < 60, result)
    return result[3]


def check(title, good, seen):
    if not good:
        failures.append(title)
        print(f"FAILED {title}: {str(seen)[:1000]}")


def refused(folder, title, proto, *texts):
    result = tool(folder, proto, "compile", "m.onnx")
    check(title, result[0] == 1 and all(text in result[2] for text in texts) and result[3] < 20, result)


def linear(folder, title, make, small):
    """Four times as many nodes take at most eight times as long; linear growth and slower memory make it five."""
    times = [min(compiled(folder, f"{count} {title}", make(count)) for _ in range(2)) for count in (small, 4 * small)]
    check(f"{title} take linear time", times[1] < 8 * times[0] + 0.2, times)


def mixed(count):
    steps = [lambda a, b: node("Neg", [a], [b]), lambda a, b: node("Softmax", [a], [b], axis=-1),
             lambda a, b: node("Transpose", [a], [b], perm=[1, 0]), lambda a, b: node("MatMul", [a, "w"], [b]),
             lambda a, b: node("Add", [a, "x"], [b]), lambda a, b: node("Reshape", [a, "square"], [b]),
             lambda a, b: node("ReduceSum", [a, "axis"], [b]), lambda a, b: node("Mul", [a, "x"], [b]),
             lambda a, b: node("Concat", [a, "x"], [b], axis=0), lambda a, b: node("Slice", [a, "zero", "four"], [b]),
             lambda a, b: node("LayerNormalization", [a, "ones"], [b]), lambda a, b: node("Gather", [a, "back"], [b])]
    weights = [numpy_helper.from_array(np.eye(4, dtype=np.float32), "w"), numpy_helper.from_array(np.ones(4, np.float32), "ones"),
               integers("square", [4, 4]), integers("axis", [1]), integers("zero", [0]), integers("four", [4]),
               integers("back", [3, 2, 1, 0])]
    return model(chain(count, lambda i, a, b: steps[i % len(steps)](a, b)), [value("x", (4, 4))], [value("y", None)], weights)


def loops(count):
    body = helper.make_graph([node("Identity", ["c"], ["d"]), node("Relu", ["a"], ["b"])], "b",
                             [value("i", (), INT64), value("c", (), BOOL), value("a")], [value("d", (), BOOL), value("b")])
    return model(chain(count, lambda i, a, b: node("Loop", ["n", "", a], [b], body=body)), [value("x"), value("n", (), INT64)], [value("y")])


def shapes(count):
    nodes = []
    for i in range(count):
        source = f"r{i}" if i else "x"
        nodes += [node("Shape", [source], [f"s{i}"]), node("Gather", [f"s{i}", "zero"], [f"g{i}"]),
                  node("Unsqueeze", [f"g{i}", "axis"], [f"u{i}"]), node("Concat", [f"u{i}", "rest"], [f"c{i}"], axis=0),
                  node("Reshape", [source, f"c{i}"], [f"r{i + 1}"])]
    return model(nodes, [value("x", ("n", "m"))], [value(f"r{count}", None)],
                 [integers("zero", 0), integers("axis", [0]), integers("rest", [-1])])


def parts(count):
    return model([node("Split", ["x"], [f"p{i}" for i in range(count)], axis=0), node("Add", ["p0", f"p{count - 1}"], ["y"])],
                 [value("x", (count,))], [value("y", (1,))])


def nodes(folder):
    linear(folder, "mixed nodes", mixed, 2000)
    linear(folder, "loops", loops, 1000)
    linear(folder, "chains of shape arithmetic", shapes, 500)
    linear(folder, "parts of a split", parts, 5000)
    compiled(folder, "10^5 nodes", model(chain(MANY, lambda i, a, b: node("Relu" if i % 2 else "Neg", [a], [b])), [value("x")], [value("y")]))


def growing(folder):
    """Insertions at the end of a sequence that nobody else holds take constant time each; who holds it sees no change."""
    body = helper.make_graph([node("Identity", ["c"], ["d"]), node("SequenceInsert", ["s", "x"], ["t"])], "b",
                             [value("i", (), INT64), value("c", (), BOOL), sequence_value("s")],
                             [value("d", (), BOOL), sequence_value("t")])
    nodes = [node("SequenceConstruct", ["x"], ["one"]), node("Loop", ["n", "", "one"], ["all"], body=body),
             node("SequenceInsert", ["all", "x"], ["more"]), node("SequenceLength", ["one"], ["a"]),
             node("SequenceLength", ["all"], ["b"]), node("SequenceLength", ["more"], ["c"]),
             node("SequenceAt", ["more", "last"], ["y"])]
    compiled(folder, "a sequence that grows", model(nodes, [value("x"), value("n", (), INT64)],
                                                    [value("a", (), INT64), value("b", (), INT64), value("c", (), INT64), value("y")],
                                                    [integers("last", -1)]))
    times = []
    for count in (MANY // 4, MANY):
        result = min((tool(folder, None, "run", "m.ingot", "--input", "x=2xf32=1 2", "--input", f"n=i64={count}") for _ in range(2)),
                     key=lambda r: r[3])
        check(f"{count} insertions", result[:2] == (0, f"i64=1\ni64={count + 1}\ni64={count + 2}\n2xf32=1 2\n"), result)
        times.append(result[3])
    check("insertions take linear time", times[1] < 8 * times[0] + 0.2, times)


def sequence_value(name):
    info = onnx.ValueInfoProto(name=name)
    info.type.sequence_type.elem_type.CopyFrom(value(name).type)
    return info


def operands(folder):
    for op, attributes, expected in (("Concat", {"axis": 0}, f"{MANY}xf32=1 2 1 2"), ("Sum", {}, "1xf32=150000"), ("Max", {}, "1xf32=2")):
        many = model([node(op, [f"x{i % 2}" for i in range(MANY)], ["y"], **attributes)], [value("x0", (1,)), value("x1", (1,))],
                     [value("y", None)])
        compiled(folder, f"{op} of 10^5 operands", many)
        result = tool(folder, None, "run", "m.ingot", "--input", "x0=1xf32=1", "--input", "x1=1xf32=2")
        check(f"{op} of 10^5 operands runs", result[0] == 0 and result[1].startswith(expected), (result[0], result[1][:100], result[2]))
    entries = [f"x{i % 2}" for i in range(MANY // 2)]
    sequence = [node("SequenceConstruct", entries, ["s"]), node("ConcatFromSequence", ["s"], ["y"], axis=0)]
    given = [value("x0"), value("x1")]
    compiled(folder, "a sequence of 50,000", model(sequence, given, [value("y", None)]))
    result = tool(folder, None, "run", "m.ingot", "--input", "x0=2xf32=1 2", "--input", "x1=2xf32=3 4")
    check("a sequence of 50,000 runs", result[0] == 0 and result[1].startswith(f"{MANY}xf32=1 2 3 4 1"), (result[0], result[2]))
    sequence[0].input.extend(entries)
    refused(folder, "a sequence of 10^5", model(sequence, given, [value("y", None)]), "error[Unsupported]",
            "node #0 (SequenceConstruct)", "100000", "65000")


def values(folder):
    many = [value(f"x{i}") for i in range(MANY)]
    refused(folder, "10^5 inputs", model([node("Relu", ["x0"], ["y"])], many, [value("y")]), "error[Unsupported]: m.onnx",
            "inputs", "at most 65000")
    outputs = [value(f"y{i}") for i in range(MANY)]
    refused(folder, "10^5 outputs", model([node("Relu", ["x"], [f"y{i}"]) for i in range(MANY)], [value("x")], outputs),
            "error[Unsupported]: m.onnx", "100000 outputs, at most 65000")
    weights = [numpy_helper.from_array(np.full(2, i, np.float32), f"w{i}") for i in range(MANY // 5)]
    compiled(folder, "20,000 initializers", model(chain(len(weights), lambda i, a, b: node("Add", [a, f"w{i}"], [b])),
                                               [value("x")], [value("y")], weights))


def nesting(folder):
    inner = helper.make_graph([node("Relu", ["x"], ["r"])], "g", [], [value("r")])
    other = helper.make_graph([node("Abs", ["x"], ["r"])], "e", [], [value("r")])
    for _ in range(1000):
        inner = helper.make_graph([node("If", ["c"], ["r"], then_branch=inner, else_branch=other)], "g", [], [value("r")])
    deep = model(inner.node, [value("x"), value("c", (), BOOL)], [value("r")])
    refused(folder, "graphs nested 1000 deep", deep, "nested more than 200 deep")
    (pathlib.Path(folder) / "m.onnx").write_bytes(deep.SerializeToString())
    small = subprocess.run(["bash", "-c", 'ulimit -s 256; "$0" compile m.onnx; "$0" inspect m.onnx', TOOL], cwd=folder, capture_output=True, text=True)
    check("graphs nested 1000 deep on a small stack", small.returncode == 0 and "more than 200 deep" in small.stderr, small)

    def functions(count, calls):
        imports = [helper.make_opsetid("", 17), helper.make_opsetid("mine", 1)]
        made = [helper.make_function("mine", f"F{count}", ["a"], ["b"], [node("Relu", ["a"], ["b"])], imports)]
        for i in range(count):
            steps = [node(f"F{i + 1}", ["a" if k == 0 else f"t{k - 1}"], ["b" if k == calls - 1 else f"t{k}"], domain="mine") for k in range(calls)]
            made.append(helper.make_function("mine", f"F{i}", ["a"], ["b"], steps, imports))
        return model([node("F0", ["x"], ["y"], domain="mine")], [value("x")], [value("y")], functions=made)

    compiled(folder, "functions nested 90 deep", functions(90, 1))
    refused(folder, "functions nested 200 deep", functions(200, 1), "functions call one another more than 100 deep")
    refused(folder, "functions that double 40 times", functions(40, 2), "unfold to more than")


def main():
    with tempfile.TemporaryDirectory() as folder:
        for part in (nodes, growing, operands, values, nesting):
            part(folder)
    print(f"{len(failures)} failures")
    return 1 if failures else 0


sys.exit(main())
