"""Suite kernels: what the kernel generator makes of single operators and chains, against the limits of memory and peers.

One thread each; rows NAME.2t are ours with two threads against ours with one. Peer `memcpy` copies as many bytes as the result
has, peer `read` adds up as many as the operands have, in the same run (bench/kernels_runner.cpp); the bar of such a row is its speedup, the
share of that bandwidth. Rows NAME.2t of sums stand against `read` with two threads too; row read.2t is that against `read` with one, over the
rounds of all sums: what the second thread can bring. Row compile: the median time to generate the code of one kernel.

Commands of bench/kernels_runner.cpp, beside `version` and `quit` (see bench/runner.py):

    memcpy BYTES COUNT          ok MICROSECONDS...
    read BYTES THREADS COUNT    ok MICROSECONDS...
    compile COUNT PATH          ok MICROSECONDS...    COUNT times each PrimFunc of the executable at PATH
"""
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper

from peers.install import install
from report import ROOT, compare
from runner import Runner

SETTINGS = [
    "one thread on each side unless the name ends in .2t, in each round all on one core, which changes from round to round, or on two cores; "
    "float32; inputs arange(n) / n; results of all sides compared",
    "peer memcpy: a copy of as many bytes as the result has; peer read: the sum of as many as the operands have, read.2t: by two threads; "
    "from memory like that of tensors; speedup is the share of that bandwidth",
    "ONNX Runtime from npm's onnxruntime-node, CPU provider, all graph optimisations; PyTorch from Debian, eager",
]
BUILD = ROOT / "build/release"
WORK = ROOT / "build/bench/kernels"
ROUNDS, QUICK_ROUNDS = 15, 3


def node(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs, outputs, **attributes)


def scalar(name, value):
    return helper.make_tensor(name, TensorProto.FLOAT, [], [value])


class Workload:
    """A program of ours, the same as an ONNX graph and as PyTorch (None: no such peer)."""

    def __init__(self, name, relax, shapes, result, nodes=None, torch=None, constants=(), memory=None, threads=False):
        self.name, self.relax, self.shapes, self.result = name, relax, shapes, result
        self.nodes, self.torch, self.constants, self.memory, self.threads = nodes, torch, constants, memory, threads

    def relax_path(self):
        params = ", ".join(f"%{name}: Tensor[({', '.join(map(str, dims))},), float32]" for name, dims in zip("xyzw", self.shapes))
        path = WORK / f"{self.name}.relax"
        path.write_text(f"def @main({params}) {{\n  {self.relax}\n}}\n")
        return path

    def onnx_path(self):
        inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, dims) for name, dims in zip("xyzw", self.shapes)]
        output = helper.make_tensor_value_info("out", TensorProto.FLOAT, self.result)
        graph = helper.make_graph(self.nodes, self.name, inputs, [output], list(self.constants))
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20), helper.make_opsetid("com.microsoft", 1)])
        model.ir_version = 9
        path = WORK / f"{self.name}.onnx"
        onnx.save(model, str(path))
        return path


L2, ROW = [128, 768], [768]
CUBE = [256, 256, 256]
WORKLOADS = [
    Workload("gelu_chain", "gelu(%x * 1.5f + 0.25f) * 0.75f + 0.5f", [[16777216]], [16777216],
             [node("Mul", ["x", "a"], ["p"]), node("Add", ["p", "b"], ["q"]), node("Gelu", ["q"], ["r"]),
              node("Mul", ["r", "c"], ["s"]), node("Add", ["s", "d"], ["out"])],
             "gelu(x * 1.5 + 0.25) * 0.75 + 0.5",
             [scalar("a", 1.5), scalar("b", 0.25), scalar("c", 0.75), scalar("d", 0.5)], "memcpy"),
    Workload("softmax", "softmax(%x)", [[4096, 1024]], [4096, 1024], [node("Softmax", ["x"], ["out"], axis=-1)]),
    Workload("layer_norm", "layer_norm(%x, %y, %z)", [[4096, 1024], [1024], [1024]], [4096, 1024],
             [node("LayerNormalization", ["x", "y", "z"], ["out"], axis=-1)]),
    Workload("rms_norm", "rms_norm(%x, %y)", [L2, ROW], L2,
             [node("SimplifiedLayerNormalization", ["x", "y"], ["out"], axis=-1, epsilon=1e-5)], threads=True),
    Workload("gelu", "gelu(%x)", [L2], L2, [node("Gelu", ["x"], ["out"])], threads=True),
    Workload("swiglu", "silu(%x) * %y", [L2, L2], L2,
             [node("Sigmoid", ["x"], ["s"]), node("Mul", ["x", "s"], ["t"]), node("Mul", ["t", "y"], ["out"])], threads=True),
    Workload("residual_norm", "layer_norm(%x + %y, %z, %w)", [L2, L2, ROW, ROW], L2,
             [node("Add", ["x", "y"], ["s"]), node("LayerNormalization", ["s", "z", "w"], ["out"], axis=-1)], threads=True),
    Workload("reduce_inner", "sum(%x, axis=2)", [CUBE], CUBE[:2], None, "x.sum(2)", memory="read", threads=True),
    Workload("reduce_middle", "sum(%x, axis=1)", [CUBE], CUBE[:2], None, "x.sum(1)", memory="read", threads=True),
    Workload("reduce_outer", "sum(%x, axis=0)", [CUBE], CUBE[:2], None, "x.sum(0)", memory="read", threads=True),
    Workload("transpose", "transpose(%x)", [[4096, 4096]], [4096, 4096], memory="memcpy"),
    Workload("permute", "transpose(%x, axes=(0, 2, 1, 3))", [[8, 128, 12, 64]], [8, 12, 128, 64], memory="memcpy"),
]


def compiled(workload):
    source = workload.relax_path()
    target = source.with_suffix(".ingot")
    subprocess.run([BUILD / "bin/ingot", "compile", source, "-o", target], check=True)
    return target


def ready(runner, path, workload, threads=1):
    runner.load(path, threads)
    for position, dims in enumerate(workload.shapes):
        runner.set_input(position, "x".join(map(str, dims)))
    return runner.output(WORK / "output.bin")


def limits(workload):
    """What the memory runner is asked for next to a workload."""
    if workload.memory == "memcpy":
        return {"memcpy": ("memcpy", 4 * int(np.prod(workload.result)))}
    if workload.memory == "read":
        size = 4 * int(np.prod(workload.shapes[0]))
        return {"read": ("read", size, 1), "read.2t": ("read", size, 2)}
    return {}


def measure_workload(workload, ours, second, memory, memory_second, peers, rounds, reads):
    """Yields the rows of a workload; adds the times of `read` and `read.2t` to `reads`."""
    path = compiled(workload)
    expected = ready(ours, path, workload)
    sides = {"ours": ours}
    if workload.threads:
        ready(second, path, workload, 2)
        sides["2t"] = second
    for name, runner, source in peers:
        if source(workload) is None:
            continue
        actual = ready(runner, source(workload), workload)
        if not np.allclose(actual, expected, rtol=1e-3, atol=1e-4):
            raise RuntimeError(f"{workload.name}: the results of ingot and {name} differ")
        sides[name] = runner
    repeats = max(1, min(400, round(3e4 / min(ours.run(3)))))
    asked = limits(workload)
    samples = {name: [] for name in (*sides, *asked)}
    for turn in range(rounds):
        for runner in {*sides.values(), memory} - {second}:
            runner.stay_on(turn)
        for runner in (second, memory_second):
            runner.spread()
        for name, runner in sides.items():
            samples[name] += runner.run(repeats)
        for name, words in asked.items():
            runner = memory_second if name == "read.2t" else memory
            samples[name] += [float(word) for word in runner.ask(*words, repeats).split()]
    row = lambda name, side, peer, version, theirs: compare("kernels", name, "us", samples[side], peer, version, samples[theirs])
    for name in asked.keys() - {"read.2t"}:
        yield row(workload.name, "ours", name, "", name)
    for name, runner, _ in peers:
        if name in samples:
            yield row(workload.name, "ours", name, runner.version().split()[1], name)
    if workload.threads:
        yield row(f"{workload.name}.2t", "2t", "one thread", "", "ours")
    if "read.2t" in asked:
        yield row(f"{workload.name}.2t", "2t", "read.2t", "", "read.2t")
        for name, times in reads.items():
            times += samples[name]
    for runner in sides.values():
        runner.unload()


def measure(quick):
    WORK.mkdir(parents=True, exist_ok=True)
    install("onnxruntime")
    install("torch")
    own = [BUILD / "bench/models_runner"]
    peer = lambda name: [sys.executable, ROOT / f"bench/peers/{name}_peer.py"]
    with Runner("ingot", own) as ours, Runner("ingot with two threads", own) as second, \
         Runner("memory", [BUILD / "bench/kernels_runner"]) as memory, \
         Runner("memory with two threads", [BUILD / "bench/kernels_runner"]) as memory_second, \
         Runner("onnxruntime", peer("onnxruntime")) as onnxruntime, Runner("torch", peer("torch")) as torch:
        peers = [("onnxruntime", onnxruntime, lambda w: w.onnx_path() if w.nodes else None),
                 ("torch", torch, lambda w: w.torch)]
        compile_times, reads = [], {"read": [], "read.2t": []}
        for workload in WORKLOADS:
            yield from measure_workload(workload, ours, second, memory, memory_second, peers,
                                        QUICK_ROUNDS if quick else ROUNDS, reads)
            answer = memory.ask("compile", 9, WORK / f"{workload.name}.ingot")
            compile_times += [float(word) for word in answer.split()]
        yield compare("kernels", "read.2t", "us", reads["read.2t"], "one thread", "", reads["read"])
        yield compare("kernels", "compile", "us", compile_times)
