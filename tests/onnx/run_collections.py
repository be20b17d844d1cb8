#!/usr/bin/python3
"""The test collections of Debian's libonnx-testdata through `ingot onnx-test`.

    run_collections.py [--bless]

Succeeds if exactly the tests of known_failures.txt fail; --bless writes that list anew, with the errors as reasons.
INGOT_BIN names the folder of the tools, INGOT_ONNX_DATA another folder of collections. Ends with 77 without the data.
"""
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
TOOL = pathlib.Path(os.environ.get("INGOT_BIN", HERE.parent.parent / "build/release/bin")) / "ingot"
DATA = pathlib.Path(os.environ.get("INGOT_ONNX_DATA", "/usr/share/libonnx-testdata/data"))
COLLECTIONS = ["node", "simple", "pytorch-operator", "pytorch-converted"]
KNOWN = HERE / "known_failures.txt"


def main():
    folders = [str(DATA / name) for name in COLLECTIONS]
    if not all(map(os.path.isdir, folders)):
        print(f"SKIPPED: {DATA} has no ONNX tests; install libonnx-testdata")
        return 77
    if "--bless" not in sys.argv:
        return subprocess.run([TOOL, "onnx-test", "--quiet", "--known-failures", KNOWN, *folders]).returncode
    lines = subprocess.run([TOOL, "onnx-test", *folders], stdout=subprocess.PIPE, text=True).stdout.splitlines()
    failed = [line.removeprefix("FAILED ") for line in lines if line.startswith("FAILED ")]
    KNOWN.write_text("# ONNX tests that fail, each with its reason. One that passes fails the run.\n" +
                     "".join(line + "\n" for line in failed))
    print("\n".join(line for line in lines if line.endswith(" passed")))
    return 0


sys.exit(main())
