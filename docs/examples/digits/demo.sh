#!/usr/bin/env bash
# Compiles the digit classifier from ONNX, runs it on images that training never saw, and measures it: `./dev demo`.
set -euo pipefail
cd "$(dirname "$0")/../../.."

ingot=${INGOT:-build/release/bin/ingot}
here=docs/examples/digits
out=build/demo
model=$out/digits.ingot
mkdir -p "$out"

show() {
  printf '\n$ ingot %s\n' "$*" >&2
  "$ingot" "$@"
}

show compile $here/digits.onnx -o $model
show run $model --input image=@$here/digits_test.npz:image --output $out/probabilities.npy
show inspect $model --memory n=1
show bench $model --input image=1x1x8x8xf32=random --seconds 1 --json > $out/bench.txt
"$ingot" inspect $model --memory n=1 --json > $out/inspect.json

/usr/bin/python3 - $here $out <<'PYTHON'
import json
import os
import sys

import numpy as np

here, out = sys.argv[1:]
test = np.load(f"{here}/digits_test.npz")
probabilities = np.load(f"{out}/probabilities.npy")
label = test["label"]
guess = probabilities.argmax(axis=1)
right = int((guess == label).sum())
with open(f"{out}/bench.txt") as file:
    bench = json.loads(next(line for line in file if line.startswith("{")))
with open(f"{out}/inspect.json") as file:
    program = json.load(file)
memory = next(f for f in program["functions"] if f["name"] == "main")["memory"]

print("\nThree of the images, and what the network takes them for:\n")
shades = " .:-=+*#%@"
for row in zip(*(test["image"][i, 0] for i in range(3))):
    print("   " + "      ".join("".join(shades[int(v * 9)] * 2 for v in line) for line in row))
print("   " + "".join(f"{guess[i]} ({probabilities[i, guess[i]]:.1%})".ljust(22) for i in range(3)))
print(f"""
accuracy     {right / len(label):.2%} ({right} of {len(label)} held-out images)
latency      {bench["median_ms"] * 1000:.1f} us median, {bench["p99_ms"] * 1000:.1f} us p99, one image, {bench["threads"]} thread
load         {bench["load_ms"]:.2f} ms, first run {bench["first_run_ms"]:.2f} ms
model        {os.path.getsize(f"{here}/digits.onnx"):,} bytes (ONNX)
executable   {os.path.getsize(f"{out}/digits.ingot"):,} bytes
arena        {memory["arena_bytes"]:,} bytes for one image; all tensors {memory["sum_bytes"]:,}, lower bound {memory["lower_bound_bytes"]:,}
""")
if right < 0.97 * len(label):
    sys.exit("the accuracy is below 97 %")
PYTHON

cat <<'TEXT'
How to go on:
  build/release/bin/ingot disasm build/demo/digits.ingot     the program that just ran
  build/release/bin/ingot run FILE --input x=@x.npy          your own: compile FILE.onnx or FILE.relax first
  README.md                                                  embedding it into a C++ program
  docs/architecture.md                                       how it works, on one example
TEXT
