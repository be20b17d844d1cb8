#!/usr/bin/python3
"""errors_alike.py INGOT [FILE...]: the run-time errors of the text tests, in all ways that a program can be run.

Each case of tests/text and docs/language.md that runs or evaluates a program and expects an error is evaluated, run, run
with interpreted PrimFuncs, with reference kernels, and compiled without optional passes: code and text must be the same
in all of them. Of operators whose shapes turn out not to fit only the code is compared: docs/language.md tells why.
"""
import concurrent.futures
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

PASSES = ["all"]
if os.environ.get("INGOT_SOAK"):
    definitions = pathlib.Path("compiler/transform/passes.def").read_text()
    PASSES += re.findall(r"^PASS\((\w+),.*\bOptional\b", definitions, re.MULTILINE)
# What may follow a command and means the same to all ways.
COMMON = ("--input", "--function", "--allow")
WAYS = ("--jit", "--kernels", "--cpu")


def cases(path):
    """The RUN lines and the text of each case that expects an error."""
    runs, text, at = [], [], "outside"
    for line in path.read_text().split("\n"):
        if line.startswith("// RUN:"):
            if at != "runs":
                runs, text, at = [], [], "runs"
            runs.append(line[len("// RUN:"):])
        elif line.startswith("// ----"):
            if at != "outside" and line.startswith("// ---- expect error"):
                yield runs, "\n".join(text)
            at = "outside"
        elif at != "outside":
            text.append(line)
            at = "text"


def common_arguments(run):
    """What follows `ingot run` or `ingot eval`; None where it says more than all ways understand."""
    words = shlex.split(run)
    if words[:2] not in (["ingot", "run"], ["ingot", "eval"]):
        return None
    kept, rest = [], iter(words[2:])
    for option in rest:
        value = next(rest, None)
        if value is None or option not in COMMON + WAYS:
            return None
        if option in COMMON:
            kept += [option, value]
    return kept


def error_of(command, folder):
    """The first line that it says of an error; None where it succeeds."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
    if done.returncode == 0:
        return None
    return next((line for line in done.stderr.split("\n") if line.startswith("error[")), "no error: " + done.stderr)


def is_alike(one, other):
    if one == other:
        return True
    of_shapes = "error[ShapeMismatch]: "
    operator = re.compile(re.escape(of_shapes) + r"\w+: ")
    return bool(one and other and one.startswith(of_shapes) and other.startswith(of_shapes)
                and (operator.match(one) or operator.match(other)))


def differences(ingot, path, runs, text):
    arguments = common_arguments(runs[0])
    if arguments is None:
        return []
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "case.relax").write_text(text)
        expected = error_of([ingot, "eval", "case.relax"] + arguments, folder)
        ways = {"run": ["case.relax"], "run --jit off": ["case.relax", "--jit", "off"],
                "run --kernels reference": ["case.relax", "--kernels", "reference"]}
        found = {way: error_of([ingot, "run"] + operands + arguments, folder) for way, operands in ways.items()}
        for name in PASSES:
            refused = error_of([ingot, "compile", "case.relax", "-o", "case.ingot", "--without", name], folder)
            found["run --without " + name] = refused or error_of([ingot, "run", "case.ingot"] + arguments, folder)
    return [f"{path}: {runs[0].strip()}\n  eval: {expected}\n  {way}: {error}"
            for way, error in found.items() if not is_alike(error, expected)]


def main():
    ingot = os.path.abspath(sys.argv[1])
    paths = [pathlib.Path(name) for name in sys.argv[2:]]
    paths = paths or sorted(pathlib.Path("tests/text").rglob("*.relax")) + [pathlib.Path("docs/language.md")]
    work = {(path, tuple(runs[:1]), text): runs for path in paths for runs, text in cases(path)}
    with concurrent.futures.ThreadPoolExecutor(2) as threads:
        results = list(threads.map(lambda item: differences(ingot, item[0][0], item[1], item[0][2]), work.items()))
    found = [text for result in results for text in result]
    print("\n".join(found))
    print(f"{len(work)} cases, {len(found)} differences")
    return 1 if found or not work else 0


if __name__ == "__main__":
    sys.exit(main())
