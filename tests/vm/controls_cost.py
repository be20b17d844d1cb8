#!/usr/bin/env python3
"""Counts the instructions that run options cost a run that uses none of them.

usage: controls_cost.py INGOT_RT

Runs fib under callgrind. What starts, polls and counts for budgets, deadlines and cancel tokens must stay within 1 % of the
instructions of the run loop. (A call compares the callee's registers with the end of the stack in any case; polling runs move
that end, so that they need no test of their own.) Exit code 77, skipped, without valgrind.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

PROGRAM = """
func @main exported params 1 registers 2 {
  signature fn(Tensor[(), int32]) -> Tensor[(), int32]
  check t0 = (Tensor[(), int32],)
  code check_params t0, [] tail_call r0, @fib
}
func @fib params 1 registers 8 {
  signature fn(Tensor[(), int32]) -> Tensor[(), int32]
  code
    load_int r1, int32, 2
    less.i32 r2, r0, r1
    jump_unless r2, L
    return r0
  L:
    load_int r1, int32, 1
    sub.i32 r4, r0, r1
    call r4, @fib
    move r3, r4
    load_int r1, int32, 2
    sub.i32 r4, r0, r1
    call r4, @fib
    add.i32 r3, r3, r4
    return r3
}
"""
CONTROLS = re.compile(r"ingot::vm::(start_controls|poll|poll_clock|enter_slowly|note_instruction|charge)\(")
RUN_LOOP = re.compile(r"ingot::vm::run_loop\(")
LINE = re.compile(r"^\s*([\d,]+) \([^)]*\)\s+(.*)$")


def count(lines, pattern):
    return sum(int(m[1].replace(",", "")) for m in map(LINE.match, lines) if m and pattern.search(m[2]))


def main():
    if not shutil.which("valgrind"):
        print("SKIPPED: valgrind is not installed")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder, "fib.asm")
        program.write_text(PROGRAM)
        out = pathlib.Path(folder, "callgrind.out")
        subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", sys.argv[1], "bench", program,
                        "--input", "i32=20", "--runs", "1"], check=True, capture_output=True)
        text = subprocess.run(["callgrind_annotate", "--threshold=100", out], check=True, capture_output=True,
                              text=True).stdout
    lines = text.splitlines()
    loop, controls = count(lines, RUN_LOOP), count(lines, CONTROLS)
    share = controls / max(loop, 1)
    print(f"run loop: {loop:,} instructions; controls: {controls:,}, {share:.4%}")
    if loop < 1_000_000:
        print("the run loop was not found")
        return 1
    return 0 if share <= 0.01 else 1


if __name__ == "__main__":
    sys.exit(main())
