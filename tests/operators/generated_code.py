#!/usr/bin/python3
"""Which operators' PrimFuncs the kernel generator does not take, so that the interpreter runs them: at most those of
EXPECTED. Every elementwise operator of ops.def in every dtype, and random calls of the other legalized ones.

    generated_code.py TOOL [BATCHES [CPU]]
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER))
from cases import ALL, FLOATS, INTS, NAMES, NUMBERS  # noqa: E402
from sweep import batch  # noqa: E402

DTYPES = {"Numeric": NUMBERS, "Float": FLOATS, "Integer": INTS, "Bits": (*INTS, "bool"), "Any": ALL, "Choice": ALL}
# Operator, and why.
EXPECTED = {}


def elementwise_calls():
    """(operator, parameters, call) of each elementwise line of ops.def in each dtype."""
    text = (FOLDER.parents[1] / "compiler/ops/ops.def").read_text()
    line = re.compile(r"^ELEMENTWISE\((\w+), A\([^)]*\), P\(([^)]*)\), D\(([^)]*)\), (\w+)", re.MULTILINE)
    for name, params, attributes, kind in line.findall(text):
        operands = re.findall(r'"([\w|]+)"', params)
        given = "".join(f", {a}=1.0" for a in re.findall(r'"(\w+)"', attributes))
        for dtype in DTYPES[kind]:
            dtypes = [("bool" if kind == "Choice" and i == 0 else NAMES[dtype]) for i in range(len(operands))]
            yield name, dtypes, lambda names, name=name, given=given: f"{name}({', '.join(names)}{given})"


def elementwise_program(calls):
    params, lines = [], []
    for number, (_, dtypes, call) in enumerate(calls):
        names = [f"%c{number}_{i}" for i in range(len(dtypes))]
        params += [f"{name}: Tensor[(37,), {dtype}]" for name, dtype in zip(names, dtypes)]
        lines.append(call(names))
    return params, lines


def refused(tool, params, lines, owners, work, cpu):
    """The operators whose PrimFuncs another variant than jit runs, and how many kernels there were."""
    source, target = work / "code.relax", work / "code.ingot"
    source.write_text(f"def @main({', '.join(params)}) {{\n  (" + ",\n   ".join(lines) + ",)\n}\n")
    without = "fuse_primfuncs,fuse_library_kernels,eliminate_common,fold_constants"
    subprocess.run([tool, "compile", source, "-o", target, "--without", without], check=True)
    told = subprocess.run([tool, "inspect", target, "--json", *cpu, "--memory"], check=True, capture_output=True, text=True)
    kernels = [k for f in json.loads(told.stdout)["functions"] for k in f["kernels"]]
    kernels = [k for k in kernels if k["contract"] == "prim_func" and k["variant"] is not None]
    return {owners[k["line"] - 2] for k in kernels if k["variant"] != "jit"}, len(kernels)


def main():
    tool = sys.argv[1]
    batches = int(sys.argv[2]) if len(sys.argv) > 2 else 100 if os.environ.get("INGOT_SOAK") else 2
    cpu = ["--cpu", sys.argv[3]] if len(sys.argv) > 3 else []
    flags = pathlib.Path("/proc/cpuinfo").read_text()
    if " avx2 " not in flags:
        print("SKIPPED: needs AVX2")
        return 0
    found, kernels = set(), 0
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        calls = list(elementwise_calls())
        for start in range(0, len(calls), 100):
            part = calls[start:start + 100]
            names, count = refused(tool, *elementwise_program(part), [c[0] for c in part], work, cpu)
            found, kernels = found | names, kernels + count
        for number in range(0, 2 * batches, 2):
            cases = batch(number)
            params = [p for c in cases for p in c.params]
            names, count = refused(tool, params, [c.text for c in cases], [c.name for c in cases], work, cpu)
            found, kernels = found | names, kernels + count
    print(f"{kernels} PrimFuncs, {len(found)} operators refused")
    for name in sorted(found - EXPECTED.keys()):
        print(f"{name}: is not compiled any more")
    return 1 if found - EXPECTED.keys() else 0


if __name__ == "__main__":
    sys.exit(main())
