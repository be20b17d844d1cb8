#!/usr/bin/python3
"""The speech example on the recording of the shared folder, against stored probabilities: at 16 and at 8 kHz by one
executable with open shapes, and by one whose shapes are fixed.

usage: speech_test.py INGOT EXAMPLE      ends with 77 where the model is not there
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import wave

import numpy as np

FOLDER = pathlib.Path(os.environ.get("INGOT_SHARED") or "../shared") / "models/silero"
RECORDING = FOLDER / "speech_10s_16k.wav"
FIXED = ["--shape", "input:1x576", "--shape", "state:2x1x128"]


def every_second_sample(target):
    with wave.open(str(RECORDING)) as source, wave.open(target, "wb") as half:
        samples = np.frombuffer(source.readframes(source.getnframes()), np.int16)
        half.setparams(source.getparams())
        half.setframerate(8000)
        half.writeframes(samples[::2].tobytes())


def differs(name, example, executable, recording, expected):
    done = subprocess.run([example, executable, recording], check=True, capture_output=True, text=True)
    found = np.array([float(line) for line in done.stdout.split()])
    if found.shape != expected.shape:
        print(f"{name}: {found.shape} probabilities, {expected.shape} expected")
        return True
    worst = np.abs(found - expected).max()
    print(f"{name}: {len(found)} chunks, largest difference {worst:.2g}")
    return not worst <= 1e-3


def main():
    ingot, example = sys.argv[1:3]
    if not (FOLDER / "silero_vad.onnx").exists():
        print(f"SKIPPED: {FOLDER} has no silero_vad.onnx; INGOT_SHARED names the shared folder")
        return 77
    at_16_khz = np.load(FOLDER / "expected_speech_prob.npy").ravel()
    at_8_khz = np.load("tests/examples/speech_8k.npy")  # what ONNX Runtime 1.30 gives for every second sample
    with tempfile.TemporaryDirectory() as folder:
        executable, fixed, half = (f"{folder}/{name}" for name in ("silero.ingot", "fixed.ingot", "8k.wav"))
        subprocess.run([ingot, "compile", FOLDER / "silero_vad.onnx", "-o", executable], check=True)
        subprocess.run([ingot, "compile", FOLDER / "silero_vad.onnx", *FIXED, "-o", fixed], check=True)
        every_second_sample(half)
        failures = [differs("16 kHz", example, executable, RECORDING, at_16_khz),
                    differs("8 kHz", example, executable, half, at_8_khz),
                    differs("16 kHz, fixed shapes", example, fixed, RECORDING, at_16_khz)]
    return 1 if any(failures) else 0


sys.exit(main())
