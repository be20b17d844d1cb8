#!/usr/bin/python3
"""Models made here through the tool: what it accepts, and what it says about models that are wrong.

usage: import_test.py INGOT
"""
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

TOOL = sys.argv[1]
FLOAT = TensorProto.FLOAT
failures = []


def value(name, shape=(2,), dtype=FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def model(nodes, inputs, outputs, initializers=(), opset=17, functions=(), domains=()):
    graph = helper.make_graph(nodes, "g", inputs, outputs, list(initializers))
    imports = [helper.make_opsetid("", opset), *(helper.make_opsetid(d, 1) for d in domains)]
    return helper.make_model(graph, opset_imports=imports, functions=list(functions))


def tool(folder, proto, *words, name="m.onnx"):
    """Exit code, standard output and standard error of `ingot WORDS m.onnx`."""
    path = pathlib.Path(folder) / name
    path.write_bytes(proto.SerializeToString())
    done = subprocess.run([TOOL, words[0], str(path), *words[1:]], capture_output=True, text=True, errors="replace",
                          timeout=120)
    return done.returncode, done.stdout, done.stderr


def check(title, good, seen):
    if not good:
        failures.append(title)
        print(f"FAILED {title}: {str(seen)[:1000]}")


def refused(title, folder, proto, *texts, code=1):
    result = tool(folder, proto, "compile")
    check(title, result[0] == code and all(text in result[2] for text in texts), result)


def errors(folder):
    x, y = value("x"), value("y")
    node = helper.make_node
    both = model([node("Foo", ["x"], ["a"], name="f"), node("If", ["c"], ["y"],
                  then_branch=helper.make_graph([node("Bar", ["x"], ["t"])], "t", [], [value("t")]),
                  else_branch=helper.make_graph([node("Relu", ["x"], ["e"])], "e", [], [value("e")]))],
                 [x, value("c", (), TensorProto.BOOL)], [y])
    refused("all unsupported operators in one report", folder, both, "error[Unsupported]", "m.onnx (opset 17): 2 operators are not supported:",
            "Foo: node #0 'f'", "Bar: node #0 in then_branch of node #1 (If)")
    lacking = helper.make_function("mine", "G", ["a"], ["b"], [node("Baz", ["a"], ["b"])], [helper.make_opsetid("", 17)])
    refused("an unsupported operator in a function", folder,
            model([node("G", ["x"], ["y"], domain="mine")], [x], [y], functions=[lacking], domains=["mine"]),
            "1 operator is not supported", "Baz: node #0 in function 'G'")
    refused("very many of one unsupported operator", folder, model([node("Foo", ["x"], [f"y{i}"]) for i in range(500)], [x], [value("y0")]),
            "#18, #19 and 480 more")
    refused("a name that nothing defines", folder, model([node("Relu", ["z"], ["y"])], [x], [y]),
            "error[InvalidArgument]", "node #0 (Relu): 'z' is not defined by an input, an initializer or a node")
    refused("a name defined twice", folder, model([node("Relu", ["x"], ["y"]), node("Abs", ["x"], ["y"])], [x], [y]),
            "node #1 (Abs): the name 'y' is defined twice")
    refused("a cycle", folder, model([node("Add", ["x", "b"], ["a"]), node("Relu", ["a"], ["b"])], [x], [value("b")]),
            "node #0 (Add): 'b' is used before node #1 (Relu) gives it")
    refused("a missing input", folder, model([node("Add", ["x"], ["y"])], [x], [y]), "node #0 (Add)", "input 1 is missing")
    refused("shapes that do not fit", folder,
            model([node("MatMul", ["x", "w"], ["y"], name="product")], [value("x", (2, 3)), value("w", (4, 5))],
                  [value("y", None)]), "error[ShapeMismatch]", "node #0 'product' (MatMul)", "3", "4")
    refused("an operand of too low a rank", folder,
            model([node("LSTM", ["x", "w", "r"], ["y"], hidden_size=4)],
                  [value("x", (1, 1, 3)), value("w", (1, 16, 3)), value("r", (16, 4))], [value("y", None)]),
            "error[ShapeMismatch]", "node #0 (LSTM): an operand has fewer dimensions")
    refused("more axes than a tensor has dimensions", folder,
            model([node("Reshape", ["x", "s"], ["y"])], [x, value("s", (2**63 - 1,), TensorProto.INT64)], [value("y", None)]),
            "error[ShapeMismatch]", "node #0 (Reshape)", "at most 64 dimensions")
    refused("a shape of floats", folder, model([node("Expand", ["x", "s"], ["y"])], [x, value("s")], [value("y", None)]),
            "error[TypeError]", "node #0 (Expand)", "integers are wanted")
    refused("a tensor for a sequence", folder, model([node("SequenceAt", ["x", "i"], ["y"])], [x, value("i", (), TensorProto.INT64)], [y]),
            "error[TypeError]", "node #0 (SequenceAt)", "a sequence is wanted")
    refused("too large blocks", folder, model([node("DepthToSpace", ["x"], ["y"], blocksize=2**40)], [value("x", (1, 8, 2, 3))], [value("y", None)]),
            "error[InvalidArgument]", "node #0 (DepthToSpace)", "blocksize")
    none = model([node("Add", ["e", "o"], ["s"]), node("Add", ["x", "x"], ["y"])], [value("x", ("n",))], [value("s", None), value("y", None)],
                 [numpy_helper.from_array(np.zeros(0, np.int64), "e"), numpy_helper.from_array(np.ones(1, np.int64), "o")])
    check("no elements and one", tool(folder, none, "compile")[0] == 0, "it does not compile")
    refused("an opset of the future", folder, model([node("Relu", ["x"], ["y"])], [x], [y], opset=99), "opset 99")
    loops = helper.make_function("mine", "F", ["a"], ["b"], [node("F", ["a"], ["b"], domain="mine")],
                                 [helper.make_opsetid("", 17), helper.make_opsetid("mine", 1)])
    refused("a function that calls itself", folder,
            model([node("F", ["x"], ["y"], domain="mine")], [x], [y], functions=[loops], domains=["mine"]),
            "the function 'F' calls itself")
    huge = model([node("Resize", ["x", "", "s"], ["y"])], [value("x", (1, 2**40))], [value("y", None)],
                 [numpy_helper.from_array(np.array([1, 9e8], dtype=np.float32), "s")], opset=18)
    result = tool(folder, huge, "compile")
    check("a Resize that is too large to lay out", result[0] in (0, 1) and "Internal" not in result[2], result)
    shared = 60  # each node leads to the next one on both sides: 2 to the power of 60 ways to the leaf
    ladder = model([node("TreeEnsemble", ["x"], ["y"], domain="ai.onnx.ml", tree_roots=[0], nodes_featureids=[0] * shared,
                         nodes_modes=numpy_helper.from_array(np.zeros(shared, np.uint8)),
                         nodes_splits=numpy_helper.from_array(np.zeros(shared, np.float32)),
                         nodes_trueleafs=[0] * (shared - 1) + [1], nodes_falseleafs=[0] * (shared - 1) + [1],
                         nodes_truenodeids=[*range(1, shared), 0], nodes_falsenodeids=[*range(1, shared), 0],
                         leaf_targetids=[0], leaf_weights=numpy_helper.from_array(np.ones(1, np.float32)))],
                   [value("x", (1, 1))], [value("y", None)], domains=["ai.onnx.ml"])
    check("a tree of shared nodes", tool(folder, ladder, "compile")[0] == 0, "it does not compile")
    for attribute in ladder.graph.node[0].attribute:
        if attribute.name == "nodes_truenodeids":
            attribute.ints[3] = 1
    refused("a tree that goes in circles", folder, ladder, "error[Unsupported]", "a tree goes in circles")
    inner = helper.make_graph([node("Relu", ["x"], ["r"])], "g", [], [value("r")])
    for _ in range(1000):
        inner = helper.make_graph([node("If", ["c"], ["r"], then_branch=inner, else_branch=helper.make_graph(
            [node("Abs", ["x"], ["r"])], "e", [], [value("r")]))], "g", [], [value("r")])
    deep = onnx.ModelProto()
    deep.CopyFrom(model(list(inner.node), [x, value("c", (), TensorProto.BOOL)], [value("r")]))
    refused("graphs nested 1000 deep", folder, deep, "nested more than 200 deep")


def external(folder):
    node = helper.make_node
    data = np.arange(6, dtype=np.float32)
    (pathlib.Path(folder) / "w.bin").write_bytes(b"\0" * 64 + data.tobytes())

    def with_data(location, offset=64, length=24):
        tensor = TensorProto(name="w", data_type=FLOAT, dims=[6], data_location=TensorProto.EXTERNAL)
        for key, text in (("location", location), ("offset", str(offset)), ("length", str(length))):
            tensor.external_data.add(key=key, value=text)
        return model([node("Add", ["x", "w"], ["y"])], [value("x", (6,))], [value("y", (6,))], [tensor])

    result = tool(folder, with_data("w.bin"), "run", "--input", "x=6xf32=1 1 1 1 1 1")
    check("external data", result[:2] == (0, "6xf32=1 2 3 4 5 6\n"), result)
    refused("external data that ends early", folder, with_data("w.bin", offset=80), "error[CorruptFile]", "it has 88", code=3)
    for place in ("../w.bin", "/etc/passwd", ""):
        refused(f"external data at '{place}'", folder, with_data(place), "error[NotAllowed]")
    link = pathlib.Path(folder) / "link.bin"
    link.symlink_to("w.bin")
    refused("external data behind a link", folder, with_data("link.bin"), "error[NotAllowed]", "link")


def shapes(folder):
    node = helper.make_node
    shape = model([node("Shape", ["x"], ["s"]), node("Gather", ["s", "one"], ["c"]), node("Unsqueeze", ["c", "zero"], ["d"]),
                   node("Concat", ["minus", "d"], ["t"], axis=0), node("Reshape", ["x", "t"], ["y"])],
                  [value("x", ("n", "m", 2))], [value("y", None)],
                  [numpy_helper.from_array(np.array(v, dtype=np.int64), k)
                   for k, v in (("one", 1), ("zero", [0]), ("minus", [-1]))])
    result = tool(folder, shape, "run", "--input", "x=1x2x2xf32=1 2 3 4")
    check("shape arithmetic", result[:2] == (0, "2x2xf32=1 2 3 4\n"), result)
    result = tool(folder, shape, "opt", "--passes=eliminate_dead,legalize")
    check("shape arithmetic costs nothing", result[0] == 0 and "call_tir" not in result[1] and "builtin" not in result[1],
          result)
    result = tool(folder, shape, "opt", "--shape", "x:1x2x2")
    check("--shape fixes dimensions", "Tensor[(1, 2, 2), float32]" in result[1], result)
    result = tool(folder, shape, "compile", "--shape", "x:1x2x2", "--shape", "x:1x3x2")
    check("--shape twice for one input", result[0] == 1 and "--shape x:1x3x2: x has a shape already" in result[2], result)
    constants = [numpy_helper.from_array(np.array(v, dtype=np.int64), k)
                 for k, v in (("zero", [0]), ("one", [1]), ("two", [2]), ("ones", [1, 1]), ("all", [-1, -1, 3]), ("far", [2**62]))]
    expanded = model([node("Shape", ["x"], ["s"]), node("Split", ["s"], ["n", "m"], axis=0, num_outputs=2),
                      node("Concat", ["n", "one", "far3"], ["t"], axis=0), node("Equal", ["all", "minus"], ["eq"]),
                      node("Where", ["eq", "t", "all"], ["to"]), node("Expand", ["w", "to"], ["e"]),
                      node("Div", ["m", "two"], ["half"]), node("Slice", ["x", "zero", "half", "one"], ["a"]),
                      node("Slice", ["x", "half", "far", "one"], ["b"]), node("ReduceProd", ["s"], ["p"]),
                      node("Reshape", ["x", "p"], ["f"])],
                     [value("x", ("n", "m")), value("w", (1, 1, 3))],
                     [value("e", None), value("a", None), value("b", None), value("f", None)],
                     constants + [numpy_helper.from_array(np.array(v, dtype=np.int64), k) for k, v in (("minus", -1), ("far3", [3]))],
                     opset=18)
    result = tool(folder, expanded, "opt", "--passes=eliminate_dead,normalize")
    check("Where, Split, Slice and ReduceProd of shapes", result[0] == 0 and all(text in result[1] for text in (
        "shape(n, 1, 3)", "Tensor[(n, m / 2), float32]", "Tensor[(n, m - m / 2), float32]", "reshape(%x, shape(m * n))")), result)
    doubled = model([node("Resize", ["x", "", "s"], ["t"], mode="linear"), node("Neg", ["t"], ["y"])],
                    [value("x", ("n", 1, "h", 3))], [value("y", None)],
                    [numpy_helper.from_array(np.array([1, 1, 2, 1.5], dtype=np.float32), "s")])
    result = tool(folder, doubled, "opt", "--passes=normalize")
    check("Resize by constants", "Tensor[(n, 1, h * 2, 4), float32]" in result[1], result)
    result = tool(folder, shape, "inspect")
    check("inspect", "input     x: Tensor[(n, m, 2), float32]" in result[1] and "1 Reshape" in result[1], result)


def branches(folder):
    node = helper.make_node
    constants = [numpy_helper.from_array(np.array(v, dtype=np.int64), k)
                 for k, v in (("zero", 0), ("one", 1), ("first", [0]))]
    # What exporters make of squeeze: the rank behind the if depends on a size.
    squeeze = [node("Shape", ["x"], ["s"]), node("Gather", ["s", "zero"], ["d"]), node("Equal", ["d", "one"], ["c"]),
               node("If", ["c"], ["q"],
                    then_branch=helper.make_graph([node("Squeeze", ["x", "first"], ["t"])], "t", [], [value("t", None)]),
                    else_branch=helper.make_graph([node("Identity", ["x"], ["e"])], "e", [], [value("e", None)]))]
    both = model([*squeeze, node("Add", ["q", "q"], ["y"])], [value("x", ("n", "m"))], [value("y", None)], constants)
    result = tool(folder, both, "run", "--input", "x=1x2xf32=1 2")
    check("an if whose branch drops a dimension, taken", result[:2] == (0, "2xf32=2 4\n"), result)
    result = tool(folder, both, "run", "--input", "x=2x2xf32=1 2 3 4")
    check("an if whose branch drops a dimension, not taken", result[:2] == (0, "2x2xf32=2 4 6 8\n"), result)
    one = model([*squeeze, node("Transpose", ["q"], ["y"], perm=[1, 0])], [value("x", ("n", "m"))],
                [value("y", None)], constants)
    result = tool(folder, one, "run", "--input", "x=2x1xf32=1 2")
    check("a rank that only one branch fits", result[:2] == (0, "1x2xf32=1 2\n"), result)
    result = tool(folder, one, "run", "--input", "x=1x2xf32=1 2")
    check("a rank that does not fit, raised where it is taken", result[0] == 1 and "node #4 (Transpose)" in result[2], result)
    # Sizes of a branch that is not taken may fit nothing.
    weight = numpy_helper.from_array(np.ones((1, 1, 3), dtype=np.float32), "w")
    conv = model([node("If", ["c"], ["y"],
                       then_branch=helper.make_graph([node("Conv", ["x", "w"], ["t"])], "t", [], [value("t", None)]),
                       else_branch=helper.make_graph([node("Relu", ["x"], ["e"])], "e", [], [value("e", None)]))],
                 [value("x", (1, 1, "n")), value("c", (), TensorProto.BOOL)], [value("y", None)], [weight])
    for given, expected in (("x=1x1x1xf32=1", "1x1x1xf32=1\n"), ("x=1x1x4xf32=1 1 1 1", "1x1x4xf32=1 1 1 1\n")):
        result = tool(folder, conv, "run", "--input", given, "--input", "c=bool=false")
        check("a branch that fits no longer", result[:2] == (0, expected), result)
    result = tool(folder, conv, "run", "--input", "x=1x1x1xf32=1", "--input", "c=bool=true")
    check("a branch that does not fit, taken", result[0] == 1 and "error[ShapeMismatch]" in result[2], result)
    result = tool(folder, conv, "run", "--input", "x=1x1x4xf32=1 2 3 4", "--input", "c=bool=true")
    check("a branch that fits, taken", result[:2] == (0, "1x1x2xf32=6 9\n"), result)
    # A Squeeze without axes: what follows is built for each rank.
    squeezed = model([node("Squeeze", ["x"], ["q"]), node("ReduceSum", ["q", "last"], ["y"], keepdims=0)],
                     [value("x", ("n", "m", 1, 2))], [value("y", None)],
                     [numpy_helper.from_array(np.array([-1], dtype=np.int64), "last")])
    for dims, expected in (("1x1x1x2", "f32=3\n"), ("2x1x1x2", "2xf32=3 7\n"), ("1x2x1x2", "2xf32=3 7\n"), ("2x2x1x2", "2x2xf32=3 7 11 15\n")):
        count = np.prod([int(d) for d in dims.split("x")])
        result = tool(folder, squeezed, "run", "--input", f"x={dims}xf32={' '.join(str(i + 1) for i in range(count))}")
        check(f"a Squeeze of {dims} without axes", result[:2] == (0, expected), result)
    # A branch that is known goes on with the rank that an if inside of it has; its names end with it.
    inner = helper.make_graph([node("Identity", ["x"], ["q"]), node("Shape", ["q"], ["s"]), node("Gather", ["s", "zero"], ["d"]),
                               node("Equal", ["d", "one"], ["c"]), squeeze[3], node("Neg", ["q_"], ["out"])],
                              "inner", [], [value("out", None)])
    inner.node[4].output[0] = "q_"
    known = model([node("Equal", ["one", "one"], ["yes"]),
                   node("If", ["yes"], ["z"], then_branch=inner,
                        else_branch=helper.make_graph([node("Identity", ["x"], ["w"])], "e", [], [value("w", None)])),
                   node("Abs", ["x"], ["q"]), node("Shape", ["z"], ["r"]), node("Size", ["r"], ["rank"]), node("Cast", ["rank"], ["f"], to=FLOAT),
                   node("Add", ["q", "f"], ["y"])], [value("x", ("n", "m"))], [value("y", None)], constants)
    for given, expected in (("x=1x2xf32=1 -2", "1x2xf32=2 3\n"), ("x=2x1xf32=1 -2", "2x1xf32=3 4\n")):
        result = tool(folder, known, "run", "--input", given)
        check("ranks behind a branch that is known", result[:2] == (0, expected), result)
    # Dimensions of an Expand of which some are in the data.
    partly = model([node("Concat", ["n", "first", "two"], ["s"], axis=0), node("Expand", ["x", "s"], ["z"]),
                    node("MatMul", ["w", "z"], ["y"])], [value("x", (3, 1)), value("n", (1,), TensorProto.INT64)], [value("y", None)],
                   [numpy_helper.from_array(np.array(v, dtype=np.int64), k) for k, v in (("first", [3]), ("two", [2]))] +
                   [numpy_helper.from_array(np.ones((1, 3), np.float32), "w")])
    result = tool(folder, partly, "opt", "--passes=normalize")
    check("dimensions of which some are in the data", "match_cast(%z, Tensor[(d, 3, 2), float32])" in result[1], result)
    result = tool(folder, partly, "run", "--input", "x=3x1xf32=1 2 3", "--input", "n=1xi64=2")
    check("an Expand by the data", result[:2] == (0, "2x1x2xf32=6 6 6 6\n"), result)
    # Paddings as exporters lay them out: a matrix that is turned.
    pad = model([node("Reshape", ["p", "pairs"], ["m"]), node("Slice", ["m", "first", "last", "first", "back"], ["r"]),
                 node("Transpose", ["r"], ["t"], perm=[1, 0]), node("Reshape", ["t", "flat"], ["w"]),
                 node("Pad", ["x", "w"], ["z"], mode="reflect"), node("Shape", ["z"], ["y"])], [value("x", (1, "n"))],
                [value("y", None, TensorProto.INT64)],
                [numpy_helper.from_array(np.array(v, dtype=np.int64), k)
                 for k, v in (("p", [0, 0, 2, 0]), ("pairs", [-1, 2]), ("first", [0]), ("last", [9]), ("back", [1]),
                              ("flat", [-1]))])
    result = tool(folder, pad, "opt", "--passes=eliminate_dead,legalize")
    check("paddings are followed through matrices", result[0] == 0 and "builtin" not in result[1], result)


def folding(folder):
    node = helper.make_node
    bounds = [numpy_helper.from_array(np.array([v], dtype=np.int64), k) for k, v in (("b", 0), ("m", 1000), ("e", 4000))]
    weight = numpy_helper.from_array(np.arange(4000, dtype=np.float32), "w")
    cut = model([node("Slice", ["w", "m", "e"], ["p"]), node("Slice", ["w", "b", "m"], ["q"]),
                 node("Concat", ["p", "q"], ["r"], axis=0), node("Add", ["x", "r"], ["y"])],
                [value("x", (4000,))], [value("y", (4000,))], [*bounds, weight])
    result = tool(folder, cut, "opt", "--passes=fold_constants,eliminate_dead")
    check("weights put together anew are one constant",
          result[0] == 0 and "concat" not in result[1] and "slice" not in result[1], result)


def main():
    with tempfile.TemporaryDirectory() as folder:
        for part in (errors, external, shapes, branches, folding):
            part(folder)
    print(f"{len(failures)} failures")
    return 1 if failures else 0


sys.exit(main())
