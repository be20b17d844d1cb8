#!/usr/bin/python3
"""Random calls of every legalized operator: the evaluator, the VM with generated code and the VM without it must agree
with each other, and with NumPy. Dtypes, ranks 0 to 6, empty tensors; static and symbolic dimensions.

    sweep.py TOOL [BATCHES [FIRST]]      batches of random cases, numbered; each is one program
"""
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cases import FLOATS, MAKERS, NAMES, NUMPY, Draw, Skip, to_bf16  # noqa: E402

CASES = 50  # of a batch
WAYS = {"eval": ["eval"], "run": ["run"], "run --jit off": ["run", "--jit", "off"]}
TOLERANCE = {"f16": 2e-2, "bf16": 1.5e-1, "f32": 2e-5, "f64": 1e-6}

# Groups must be proved to divide channels, and the number of coordinates must be known.
STATIC = {("group_norm", "x"), ("group_norm", "g"), ("group_norm", "b"), ("gather_nd", "i")}


class Case:
    """One call, its operands with names and dimensions of its own."""

    def __init__(self, number, name, made, symbolic):
        text, self.operands, self.expected = made
        self.name, self.text = name, text
        self.params, self.inputs = [], []
        for key in sorted(self.operands, key=len, reverse=True):
            self.text = self.text.replace(f"%{key}", f"%c{number}_{key}")
        for key, operand in self.operands.items():
            dims = [str(d) for d in operand.value.shape]
            # Dimensions of equal size are the same one: what belongs together is proved to.
            if symbolic and (name, key) not in STATIC:
                dims = [d if int(d) < 2 else f"c{number}n{d}" for d in dims]
            shape = "(" + ", ".join(dims) + ("," if len(dims) == 1 else "") + ")"
            self.params.append(f"%c{number}_{key}: Tensor[{shape}, {NAMES[operand.dtype]}]")
            self.inputs += ["--input", f"c{number}_{key}={value_text(operand)}"]

    def __str__(self):
        return f"{self.name}: def @main({', '.join(self.params)}) {{ {self.text} }} {' '.join(self.inputs)}"


def value_text(operand):
    value = operand.value.astype(int) if operand.dtype == "bool" else operand.value
    dims = "".join(f"{d}x" for d in value.shape)
    return f"{dims}{operand.dtype}=" + " ".join(str(v) for v in value.ravel().tolist())


def parsed(text):
    head, _, values = text.partition("=")
    *dims, dtype = head.split("x")
    values = values.split()
    if NUMPY[dtype] is np.bool_:
        values = [v in ("1", "true") for v in values]
    elif dtype not in FLOATS:
        values = [int(v) for v in values]
    return dtype, np.array(values, NUMPY[dtype]).reshape([int(d) for d in dims])


def run_tool(tool, words, cases, work):
    """What it prints, by case, or what it says is wrong."""
    path = work / "sweep.relax"
    path.write_text(f"def @main({', '.join(p for c in cases for p in c.params)}) {{\n  (" +
                    ",\n   ".join(c.text for c in cases) + ",)\n}\n")
    done = subprocess.run([tool, *words, path, *(w for c in cases for w in c.inputs)], capture_output=True, text=True,
                          timeout=240)
    if done.returncode != 0:
        return None, f"exit {done.returncode}: {done.stderr.strip()}"
    return done.stdout.strip("\n").split("\n"), ""


def tensors(line):
    return [parsed(part) for part in (line[1:-1].split(", ") if line.startswith("(") else [line])]


def difference(expected, dtype, value):
    if expected.shape != value.shape:
        return f"shape {value.shape}, expected {expected.shape}"
    if dtype in FLOATS:
        want = np.asarray(expected, np.float64)
        want = to_bf16(want) if dtype == "bf16" else want.astype(NUMPY[dtype])
        limit = TOLERANCE[dtype]
        if np.allclose(value.astype(np.float64), want.astype(np.float64), limit, limit, equal_nan=True):
            return ""
    elif np.array_equal(np.asarray(expected).astype(value.dtype), value):
        return ""
    return f"{value.ravel()[:8]}, expected {np.asarray(expected).ravel()[:8]}"


def check(case, lines):
    for way, line in lines.items():
        found = tensors(line)
        reference = case.expected if case.expected is not None else [value for _, value in tensors(lines["eval"])]
        if len(found) != len(reference):
            return f"{way} gives {len(found)} results, expected {len(reference)}"
        for (dtype, value), expected in zip(found, reference):
            problem = difference(expected, dtype, value)
            if problem:
                return f"{way}: {problem}"
    return ""


def run_cases(tool, cases, work):
    """The failures: text by case."""
    outputs = {way: run_tool(tool, words, cases, work) for way, words in WAYS.items()}
    broken = next((f"{way}: {told}" for way, (lines, told) in outputs.items() if lines is None), None)
    if broken:
        if len(cases) == 1:
            return [f"{cases[0]}\n    {broken}"]
        middle = len(cases) // 2
        return run_cases(tool, cases[:middle], work) + run_cases(tool, cases[middle:], work) or [f"together: {broken}"]
    failures = []
    for i, case in enumerate(cases):
        problem = check(case, {way: lines[i] for way, (lines, _) in outputs.items()})
        if problem:
            failures.append(f"{case}\n    {problem}")
    return failures


def batch(number):
    random = np.random.default_rng(number)
    draw = Draw(random)
    cases = []
    while len(cases) < CASES:
        name = list(MAKERS)[random.integers(len(MAKERS))]
        try:
            with np.errstate(all="ignore"):
                made = MAKERS[name](draw)
        except Skip:
            continue
        cases.append(Case(len(cases), name, made, symbolic=number % 2 == 1))
    return cases


def main():
    tool = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 400 if os.environ.get("INGOT_SOAK") else 6
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for number in range(first, first + count):
            for failure in run_cases(tool, batch(number), pathlib.Path(folder)):
                failures += 1
                print(f"batch {number}: {failure}", flush=True)
    print(f"{count * CASES} calls of {len(MAKERS)} operators, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
