"""Suite models: networks of the ONNX model zoo with real-valued weights against ONNX Runtime, one thread each.

Rows: NAME, the latency of a run; NAME_compile, the time of `ingot compile`; NAME_load, from the file to ready (for ONNX
Runtime: creation of the session); NAME_first, from the file to the first result. Row silero: one step of speech
detection at 16 kHz, a network of ifs, an LSTM and convolutions, whose shapes are fixed on our side when it is compiled.
The networks come from the folder that INGOT_SHARED names (default: shared beside the repository).
"""
import os
import pathlib
import subprocess
import sys
import time

import numpy as np

from peers.install import install
from report import ROOT, compare
from runner import Runner

SETTINGS = [
    "one thread on each side, float32, batch 1, weights drawn at random",
    "ONNX Runtime from npm's onnxruntime-node, CPU provider, all graph optimisations",
    "load: from the file to ready, for ONNX Runtime the creation of the session; first: from the file to the first result; files in the page cache",
]
NETWORKS = ["resnet50", "squeezenet", "shufflenet", "inception_v1", "inception_v2", "densenet121", "bvlc_alexnet", "zfnet512", "vgg19"]
SHAPE = "1x3x224x224"
BLOCK_SECONDS = 0.25
SHARED = pathlib.Path(os.environ.get("INGOT_SHARED", ROOT.parent / "shared")) / "models"
BUILD = ROOT / "build/release"
WORK = ROOT / "build/bench/models"


def materialized(name):
    """The network with real-valued weights, written once."""
    path = WORK / f"{name}.onnx"
    if not path.exists():
        if not (SHARED / "materialize.py").exists():
            raise RuntimeError(f"the networks are not there: {SHARED}/materialize.py; INGOT_SHARED names the folder above models")
        subprocess.run([sys.executable, SHARED / "materialize.py", WORK, name], check=True, stdout=sys.stderr)
    return path


def compiled(source, times):
    """Compiles `times` times; the executable, and how many seconds each took."""
    target, seconds = source.with_suffix(".ingot"), []
    for _ in range(times):
        start = time.perf_counter()
        subprocess.run([BUILD / "bin/ingot", "compile", source, "-o", target], check=True)
        seconds.append(time.perf_counter() - start)
    return target, seconds


def check_output(runner, name):
    """Raises unless the runner's loaded network computes what the stored reference says."""
    expected = np.load(SHARED / f"light/{name}_random_output.npy").ravel()
    actual = runner.output(WORK / "output.bin")
    if actual.shape != expected.shape or not np.allclose(actual, expected, rtol=1e-3, atol=1e-5):
        raise RuntimeError(f"{name}: the result of {runner.name} differs from the reference")


def silero(ours, theirs, quick):
    """Microseconds of every step of speech detection, for each side."""
    source = SHARED / "silero/silero_vad.onnx"
    target = WORK / "silero.ingot"
    subprocess.run([BUILD / "bin/ingot", "compile", source, "--shape", "input:1x576", "--shape", "state:2x1x128", "-o", target], check=True)
    outputs, blocks = [], []
    for runner, path in ((ours, target), (theirs, source)):
        runner.load(path)
        runner.set_input(0, "1x576")
        runner.set_input(1, "2x1x128")
        runner.set_scalar(2, 16000)
        outputs.append(runner.output(WORK / "output.bin"))
        blocks.append(max(1, round(BLOCK_SECONDS * 1e6 / min(runner.run(100)))))
    if outputs[0].shape != outputs[1].shape or not np.allclose(*outputs, rtol=0, atol=1e-3):
        raise RuntimeError(f"silero: {outputs[0]} differs from {outputs[1]}")
    samples = [[], []]
    for _ in range(4 if quick else 20):
        for i, runner in enumerate((ours, theirs)):
            samples[i] += runner.run(blocks[i])
    ours.unload()
    theirs.unload()
    return samples


def loads(sides, rounds):
    """Loads in turns. Milliseconds to ready and to the first result, for each side."""
    ready, first = ([[] for _ in sides] for _ in range(2))
    for round_ in range(rounds + 1):
        for i, (runner, path) in enumerate(sides):
            to_ready = runner.load(path)
            runner.set_input(0, SHAPE)
            to_first = to_ready + runner.run(1)[0]
            runner.unload()
            if round_ > 0:  # the first one warms up
                ready[i].append(to_ready / 1e3)
                first[i].append(to_first / 1e3)
    return ready, first


def latencies(sides, name, seconds):
    """Runs blocks in turns for about `seconds`. Microseconds of every run, for each side."""
    block = []
    for runner, path in sides:
        runner.load(path)
        runner.set_input(0, SHAPE)
        check_output(runner, name)
        block.append(max(1, round(BLOCK_SECONDS * 1e6 / min(runner.run(2)))))
    samples = [[] for _ in sides]
    for _ in range(max(3, round(seconds / BLOCK_SECONDS / len(sides)))):
        for i, (runner, _) in enumerate(sides):
            samples[i] += runner.run(block[i])
    for runner, _ in sides:
        runner.unload()
    return samples


def measure(quick):
    WORK.mkdir(parents=True, exist_ok=True)
    install("onnxruntime")
    ours = Runner("ingot", [BUILD / "bench/models_runner"])
    theirs = Runner("onnxruntime", [sys.executable, ROOT / "bench/peers/onnxruntime_peer.py"])
    with ours, theirs:
        peer, version = theirs.version().split()
        for name in NETWORKS[:1] if quick else NETWORKS:
            thorough = name == NETWORKS[0]
            source = materialized(name)
            target, compile_seconds = compiled(source, 5 if thorough and not quick else 1)
            sides = [(ours, target), (theirs, source)]
            samples = latencies(sides, name, 40 if thorough and not quick else 8)
            yield compare("models", name, "us", samples[0], peer, version, samples[1])
            if thorough:
                yield compare("models", f"{name}_compile", "s", compile_seconds)
                ready, first = loads(sides, 3 if quick else 9)
                yield compare("models", f"{name}_load", "ms", ready[0], peer, version, ready[1])
                yield compare("models", f"{name}_first", "ms", first[0], peer, version, first[1])
        samples = silero(ours, theirs, quick)
        yield compare("models", "silero", "us", samples[0], peer, version, samples[1])
