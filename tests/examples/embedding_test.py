#!/usr/bin/env python3
"""The embedding example of the README: it stands there as it stands in its file, and runs on the digit classifier.

usage: embedding_test.py INGOT EXAMPLE      (in the root folder of the project)
"""

import pathlib
import subprocess
import sys
import tempfile


def main():
    ingot, example = sys.argv[1:3]
    source = pathlib.Path("docs/examples/embedding.cpp").read_text()
    if source.strip() not in pathlib.Path("README.md").read_text():
        sys.exit("README.md does not show docs/examples/embedding.cpp as it is")
    with tempfile.TemporaryDirectory() as folder:
        executable = f"{folder}/digits.ingot"
        subprocess.run([ingot, "compile", "docs/examples/digits/digits.onnx", "-o", executable], check=True)
        output = subprocess.run([example, executable], check=True, capture_output=True, text=True).stdout
    head, numbers = output.split(":")
    probabilities = [float(word) for word in numbers.split()]
    if head != "2 images" or len(probabilities) != 20 or abs(sum(probabilities) - 2) > 1e-4:
        sys.exit(f"the example printed: {output}")
    if subprocess.run([example, "no-such-file"], capture_output=True).returncode != 1:
        sys.exit("the example does not report a missing file")


main()
