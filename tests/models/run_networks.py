#!/usr/bin/python3
"""Networks through the tool, against stored references.

    run_networks.py SUITE [NAME ...]

Suites: small (this folder: best and reference kernels, without optional passes, the evaluator), digits (accuracy on the
held-out set), light (the nine networks of the shared folder as they are) and random (the same with real-valued weights).
INGOT_BIN names the folder of the tools, INGOT_SHARED the shared folder (../shared beside the project without it);
INGOT_SOAK=1 adds the three largest networks to `random`. Ends with 77 when what a suite needs is not there.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BIN = pathlib.Path(os.environ.get("INGOT_BIN", ROOT / "build/release/bin")).resolve()
SHARED = pathlib.Path(os.environ.get("INGOT_SHARED") or ROOT.parent / "shared").resolve()
LARGE = ["vgg19", "bvlc_alexnet", "zfnet512"]
TOLERANCE = ["--rtol=1e-3", "--atol=1e-5"]
ACCURACY = 0.97
SKIPPED = 77


def tool(*words):
    """Standard output of the tool, which must succeed; None with a report otherwise."""
    command = [str(BIN / "ingot"), *map(str, words)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace")
    if done.returncode != 0:
        print(f"FAILED ({done.returncode}): {' '.join(command)}\n{(done.stdout + done.stderr)[:4000]}", flush=True)
        return None
    return done.stdout


def compare(name, verb, program, data, expected, *options):
    start = time.monotonic()
    out = tool(verb, program, f"--input=@{data}", f"--expected=@{expected}", *TOLERANCE, *options)
    words = " ".join([verb, *options])
    if out is not None:
        print(f"{name}: {words}: {time.monotonic() - start:.1f} s: {out.strip()}", flush=True)
    return out is not None


def small(names, work):
    networks = sorted(path.stem for path in HERE.glob("*.onnx"))
    good = len(networks) == 16 or bool(print(f"FAILED: {len(networks)} networks in {HERE}, not 16"))
    for name in names or networks:
        model, data, expected = (HERE / f"{name}{tail}" for tail in (".onnx", "_input.npy", "_output.npy"))
        best, plain = work / f"{name}.ingot", work / f"{name}_plain.ingot"
        if tool("compile", model, "-o", best) is None or tool("compile", model, "--without", "all", "-o", plain) is None:
            good = False
            continue
        good &= compare(name, "run", best, data, expected)
        good &= compare(name, "run", best, data, expected, "--kernels=reference")
        good &= compare(name + " without passes", "run", plain, data, expected)
        good &= compare(name, "eval", model, data, expected)
    return good


def digits(_, work):
    folder = ROOT / "docs/examples/digits"
    held_out = np.load(folder / "digits_test.npz")
    images, labels = held_out["image"], held_out["label"]
    program, data, scores = work / "digits.ingot", work / "images.npy", work / "scores.npy"
    np.save(data, images)
    if tool("compile", folder / "digits.onnx", "-o", program) is None:
        return False
    if tool("run", program, f"--input=@{data}", f"--output={scores}") is None:
        return False
    accuracy = float(np.mean(np.load(scores).argmax(axis=1) == labels))
    print(f"digits: accuracy {accuracy:.4f} on {len(labels)} images, wanted {ACCURACY}")
    return accuracy >= ACCURACY


def ramp(model, path):
    """Writes arange(n)/n in the shape of the model's one input that is no weight."""
    graph = model.graph
    weights = {tensor.name for tensor in graph.initializer}
    (only,) = [value for value in graph.input if value.name not in weights]
    shape = [d.dim_value for d in only.type.tensor_type.shape.dim]
    count = int(np.prod(shape))
    np.save(path, (np.arange(count) / count).astype(np.float32).reshape(shape))


def zoo(names, work, prepare):
    """Each network of the shared folder; prepare(name) gives (model file, expected output file)."""
    import onnx

    good = True
    for name in names:
        model, expected = prepare(name)
        program, data = work / f"{name}.ingot", work / f"{name}_input.npy"
        ramp(onnx.load(str(model)), data)
        start = time.monotonic()
        if tool("compile", model, "-o", program) is None:
            good = False
            continue
        print(f"{name}: compile: {time.monotonic() - start:.1f} s", flush=True)
        good &= compare(name, "run", program, data, expected)
        program.unlink()
    return good


def zoo_names():
    folder = SHARED / "models/light"
    names = sorted(path.stem[len("light_"):] for path in folder.glob("light_*.onnx"))
    if not names:
        print(f"SKIPPED: no networks in {folder}; INGOT_SHARED names the shared folder")
        sys.exit(SKIPPED)
    return folder, names


def light(names, work):
    from onnx import TensorProto, numpy_helper

    folder, networks = zoo_names()

    def prepare(name):
        tensor = TensorProto()
        tensor.ParseFromString((folder / f"light_{name}_output_0.pb").read_bytes())
        expected = work / f"{name}_expected.npy"
        np.save(expected, numpy_helper.to_array(tensor))
        return folder / f"light_{name}.onnx", expected

    return zoo(names or networks, work, prepare)


def random(names, work):
    folder, networks = zoo_names()
    if not names and os.environ.get("INGOT_SOAK") != "1":
        print(f"SKIPPED: {', '.join(LARGE)} with real-valued weights run with INGOT_SOAK=1", flush=True)
        networks = [name for name in networks if name not in LARGE]
    script = folder.parent / "materialize.py"

    def prepare(name):
        model = work / f"{name}.onnx"
        subprocess.run([sys.executable, str(script), str(work), name], check=True, stdout=subprocess.DEVNULL)
        return model, folder / f"{name}_random_output.npy"

    return zoo(names or networks, work, prepare)


def main():
    suites = {"small": small, "digits": digits, "light": light, "random": random}
    if len(sys.argv) < 2 or sys.argv[1] not in suites:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory(prefix="ingot_networks_") as work:
        if not suites[sys.argv[1]](sys.argv[2:], pathlib.Path(work)):
            sys.exit(1)


if __name__ == "__main__":
    main()
