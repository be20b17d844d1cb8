"""Runners: child processes that keep a model loaded, so that two systems can be measured in turns.

A runner reads commands from stdin, one per line, and answers each with one line on stdout, `ok WORD...` or
`error TEXT`. Nothing else may go to stdout. Times are microseconds as decimals.

    version               ok NAME VERSION
    load THREADS PATH     ok TIME           reads the model at PATH (the rest of the line) and makes it ready to run
    input POSITION SHAPE  ok                sets an input, counted from 0, to float32 arange(n) / n; SHAPE as 1x3x224x224
    scalar POSITION N     ok                sets an input to the int64 number N, of rank 0
    run COUNT             ok TIME...        runs COUNT times, the time of each; input and output stay where they are
    output PATH           ok                runs once and writes the first result to PATH: float32, row-major, no header
    unload                ok                forgets the model; another may be loaded
    quit                                    ends the process, as does the end of stdin

ONNX Runtime's runner is bench/peers/onnxruntime_peer.py, ours is bench/models_runner.cpp.
"""
import os
import subprocess
import sys

import numpy as np


def arange_input(shape):
    dims = [int(dim) for dim in shape.split("x")]
    count = int(np.prod(dims))
    return (np.arange(count) / count).astype(np.float32).reshape(dims)


def serve(commands):
    """Answers from stdin until it ends; `commands` has one method per command."""
    for line in sys.stdin:
        name, *words = line.rstrip("\n").split(" ", 2)
        if name == "quit":
            break
        if name != "load":
            words = " ".join(words).split()
        try:
            result = getattr(commands, name)(*words)
            result = [] if result is None else result if isinstance(result, list) else [result]
            answer = " ".join(["ok", *(f"{word:.3f}" if isinstance(word, float) else str(word) for word in result)])
        except Exception as error:
            answer = "error " + str(error).replace("\n", " ")
        print(answer, flush=True)


class RunnerError(Exception):
    """A runner's own words about what went wrong."""


class Runner:
    """The caller's end: Runner("ours", [PROGRAM, ARGUMENT...])."""

    def __init__(self, name, command):
        self.name = name
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()

    def stay_on(self, turn):
        """For runners of one thread: the core of the given turn. Sides of a comparison that take their turns alike share
        what else happens to a core (its other hardware thread may belong to somebody else)."""
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(self.process.pid, {cores[turn % len(cores)]})

    def spread(self):
        """For runners of several threads: a core for each. Woken ones may else share a core for some milliseconds."""
        cores = sorted(os.sched_getaffinity(0))
        for i, thread in enumerate(sorted(map(int, os.listdir(f"/proc/{self.process.pid}/task")))):
            os.sched_setaffinity(thread, {cores[i % len(cores)]})

    def ask(self, *words):
        try:
            print(*words, file=self.process.stdin, flush=True)
            answer = self.process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        status, _, rest = answer.rstrip("\n").partition(" ")
        if status != "ok":
            raise RunnerError(f"{self.name}: {' '.join(map(str, words))}: {rest or 'the runner ended'}")
        return rest

    def version(self):
        return self.ask("version")

    def load(self, path, threads=1):
        return float(self.ask("load", threads, path))

    def set_input(self, position, shape):
        self.ask("input", position, shape)

    def set_scalar(self, position, number):
        self.ask("scalar", position, number)

    def run(self, count):
        return [float(word) for word in self.ask("run", count).split()]

    def output(self, path):
        self.ask("output", path)
        return np.fromfile(path, np.float32)

    def unload(self):
        self.ask("unload")
