#!/usr/bin/env python3
"""PyTorch as a runner for the benchmarks: speaks the protocol of bench/runner.py on stdin and stdout.

`load` takes an expression over x, y, z, w and the functions of torch.nn.functional instead of a path.
"""
import os
import pathlib
import sys
import time

# Debian's PyTorch uses OpenBLAS, which takes new processors for old ones.
os.environ.setdefault("OPENBLAS_CORETYPE", "SKYLAKEX")
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import torch

from runner import arange_input, serve


class Commands:
    def __init__(self):
        self.inputs = {}

    def version(self):
        return ["torch", torch.__version__.split("+")[0]]

    def load(self, threads, expression):
        torch.set_num_threads(int(threads))
        self.code = compile(expression, "expression", "eval")
        self.inputs = {}
        return 0.0

    def input(self, position, shape):
        self.inputs["xyzw"[int(position)]] = torch.from_numpy(arange_input(shape))

    def evaluate(self):
        with torch.inference_mode():
            return eval(self.code, vars(torch.nn.functional) | self.inputs)

    def run(self, count):
        times = []
        for _ in range(int(count)):
            start = time.perf_counter()
            self.evaluate()
            times.append((time.perf_counter() - start) * 1e6)
        return times

    def output(self, path):
        self.evaluate().numpy().tofile(path)

    def unload(self):
        self.inputs = {}


if __name__ == "__main__":
    serve(Commands())
