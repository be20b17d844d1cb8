#!/usr/bin/python3
"""The speech example on the recording of the shared folder, against stored probabilities.

usage: speech_test.py INGOT EXAMPLE      ends with 77 where the model is not there
"""
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

FOLDER = pathlib.Path(os.environ.get("INGOT_SHARED") or "../shared") / "models/silero"


def main():
    ingot, example = sys.argv[1:3]
    if not (FOLDER / "silero_vad.onnx").exists():
        print(f"SKIPPED: {FOLDER} has no silero_vad.onnx; INGOT_SHARED names the shared folder")
        return 77
    expected = np.load(FOLDER / "expected_speech_prob.npy").ravel()
    with tempfile.TemporaryDirectory() as folder:
        executable = f"{folder}/silero.ingot"
        subprocess.run([ingot, "compile", FOLDER / "silero_vad.onnx", "--shape", "input:1x576", "--shape", "state:2x1x128",
                        "-o", executable], check=True)
        done = subprocess.run([example, executable, FOLDER / "speech_10s_16k.wav"], check=True, capture_output=True,
                              text=True)
    found = np.array([float(line) for line in done.stdout.split()])
    print(done.stderr.strip())
    if found.shape != expected.shape or not np.allclose(found, expected, rtol=0, atol=1e-3):
        print(f"{found.shape} probabilities, {expected.shape} expected; largest difference "
              f"{np.abs(found[:len(expected)] - expected[:len(found)]).max()}")
        return 1
    print(f"{len(found)} chunks, largest difference {np.abs(found - expected).max():.2g}")
    return 0


sys.exit(main())
