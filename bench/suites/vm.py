"""Suite vm: what calls, closures, tuples and the VM's borders cost.

Against Lua, the same algorithms on integers of 64 bits (bench/programs/vm.relax, bench/peers/vm.lua): processor time in
turns, results compared. In units of an indirect C++ call of an empty function measured in the same run (row `call`):
what one packed call, VM call, kernel call, run or check at a function's entry takes; their value is the number of units.

Commands of the runners, beside `version` and `quit` (see bench/runner.py). Arguments are integers, or shapes like 2x3x
for float32 zeros.

    load PATH                          adds the functions of an executable               (ours alone)
    call FUNCTION ARG...               ok RESULT MICROSECONDS
    repeat COUNT FUNCTION ARG...       ok NANOSECONDS     of COUNT runs from C++          (ours alone)
    repeat_publicly COUNT FUNCTION     ok NANOSECONDS     the same through ingot.hpp      (ours alone)
    empty_calls COUNT                  ok NANOSECONDS                                     (ours alone)
"""
import subprocess

from peers.install import install
from report import ROOT, compare
from runner import Runner

SETTINGS = [
    "one thread, processor time; every call of the source runs as a call or tail-call instruction (`noinline`), arguments come at run time",
    "Lua from Debian's lua5.4, the same algorithm on integers of 64 bits, results compared; speedup: Lua's time over ours",
    "unit `calls`: the value is a multiple of an indirect C++ call of an empty function in the same run (row call, in ns)",
    "packed_call: three tensor arguments to a C++ function; kernel_call: concat of no elements; entry_check: dtype, rank and two symbolic dimensions, the difference between two closure calls; invoke: an empty run from C++, invoke_public: through ingot.hpp",
]
# name, arguments, arguments of a quick measurement
PROGRAMS = [
    ("fib", "32", "24"),
    ("ackermann", "3 8", "3 5"),
    ("loop", "100000000 0", "1000000 0"),
    ("even_odd", "20000000", "1000000"),
    ("closure", "5000000 0", "200000 0"),
    ("tuple", "5000000 0", "200000 0"),
    ("closure_return", "5000000 0", "200000 0"),
]
REPEATED = 512  # times the measured instruction stands in its function, so that the run around it does not count
BUILD = ROOT / "build/release"
WORK = ROOT / "build/bench/vm"


def units_relax():
    """Functions that do one thing REPEATED times, in the language."""
    packed = "\n".join('  let %r = extern("bench.nothing")(%a, %b, %c);' for _ in range(REPEATED))
    calls = "\n".join("  let %x = @callee(%x);" for _ in range(REPEATED))
    pair = "%a: Tensor[(2,), float32], %b: Tensor[(2,), float32], %c: Tensor[(2,), float32]"
    return f"""def @nothing() -> int64 {{ 0 }}
private def @callee(%x: int64) -> int64 attrs {{noinline=True}} {{ %x }}
def @vm_call(%x: int64) -> int64 {{
{calls}
  %x
}}
impure def @packed_call({pair}) -> int64 {{
{packed}
  0
}}
"""


def units_asm():
    """The same for single instructions, in assembly."""
    kernels = "\n".join("    call_kernel k0, [r0, r1]" for _ in range(REPEATED))

    def caller(name, callee):
        calls = "\n".join("    alias r3, r0\n    copy r2, r1\n    call_value r3, r2, 1\n    kill r3" for _ in range(REPEATED))
        return f"""func @{name} exported params 1 captures 0 registers 5 {{
  signature fn(Object) -> Tensor[(), int64]
  names "x"
  code
    make_closure r1, @{callee}, []
{calls}
    kill r1
    kill r0
    load_int r1, int64, 0
    return r1
}}
"""

    return f"""kernel k0 = concat 1 -> 1 {{axis=0}}
func @checked params 1 captures 0 registers 4 {{
  vars n, m
  signature fn(Tensor[(n, m), float32]) -> Tensor[(), int64]
  names "x"
  check t0 = (Tensor[(n, m), float32],) binds (1, 1)
  code
    check_params t0, [r1, r2]
    kill r0
    load_int r3, int64, 0
    return r3
}}
func @unchecked params 1 captures 0 registers 4 {{
  signature fn(Object) -> Tensor[(), int64]
  names "x"
  code
    kill r0
    load_int r3, int64, 0
    return r3
}}
{caller("entry_checked", "checked")}{caller("entry_unchecked", "unchecked")}func @kernel_call exported params 1 captures 0 registers 3 {{
  signature fn(Tensor[(0,), float32]) -> Tensor[(), int64]
  names "x"
  check t0 = (Tensor[(0,), float32],)
  storage s0 = float32 (0,)
  code
    check_params t0, []
    plan []
    alloc_tensor r1, s0
{kernels}
    kill r0
    load_int r2, int64, 0
    return r2
}}
"""


def executables():
    WORK.mkdir(parents=True, exist_ok=True)
    (WORK / "units.relax").write_text(units_relax())
    (WORK / "units.asm").write_text(units_asm())
    tool = BUILD / "bin/ingot"
    subprocess.run([tool, "compile", ROOT / "bench/programs/vm.relax", "-o", WORK / "programs.ingot"], check=True)
    subprocess.run([tool, "compile", WORK / "units.relax", "-o", WORK / "units.ingot"], check=True)
    subprocess.run([tool, "asm", WORK / "units.asm", "-o", WORK / "instructions.ingot"], check=True)
    return [WORK / name for name in ("programs.ingot", "units.ingot", "instructions.ingot")]


def against_lua(ours, lua, name, arguments, rounds):
    """Microseconds of `rounds` calls in turns, for each side; the first call of each warms up."""
    samples = [[], []]
    for round_ in range(rounds + 1):
        results = []
        for side, times in zip((ours, lua), samples):
            result, time = side.ask("call", name, arguments).split()
            results.append(result)
            if round_ > 0:
                times.append(float(time))
        if results[0] != results[1]:
            raise RuntimeError(f"{name}({arguments}): ours gives {results[0]}, Lua {results[1]}")
    return samples


def in_units(runner, rounds, runs):
    """{name: samples}: nanoseconds of an empty call under `call`, multiples of it under the other names."""
    loops = runs * REPEATED
    commands = {
        "packed_call": (f"repeat {runs} packed_call 2x 2x 2x", loops),
        "vm_call": (f"repeat {runs} vm_call 1", loops),
        "kernel_call": (f"repeat {runs} kernel_call 0x", loops),
        "invoke": (f"repeat {loops} nothing", loops),
        "invoke_public": (f"repeat_publicly {loops} nothing", loops),
        "entry_checked": (f"repeat {runs} entry_checked 2x3x", loops),
        "entry_unchecked": (f"repeat {runs} entry_unchecked 2x3x", loops),
    }
    samples = {name: [] for name in ("call", *commands)}
    for round_ in range(rounds + 1):
        call = float(runner.ask("empty_calls", 4 * loops)) / (4 * loops)
        if round_ > 0:
            samples["call"].append(call)
        for name, (command, count) in commands.items():
            time = float(runner.ask(command)) / count
            if round_ > 0:
                samples[name].append(time / call)
    checked, unchecked = samples.pop("entry_checked"), samples.pop("entry_unchecked")
    samples["entry_check"] = [a - b for a, b in zip(checked, unchecked)]
    return samples


def measure(quick):
    install("lua")
    paths = executables()
    ours, lua = Runner("ingot", [BUILD / "bench/vm_runner"]), Runner("lua", ["lua5.4", ROOT / "bench/peers/vm.lua"])
    with ours, lua:
        for path in paths:
            ours.ask("load", path)
        peer, version = lua.version().split()
        for name, arguments, few in PROGRAMS:
            times = against_lua(ours, lua, name, few if quick else arguments, 3 if quick else 7)
            yield compare("vm", name, "us", times[0], peer, version, times[1])
        for name, samples in in_units(ours, 3 if quick else 21, 20 if quick else 200).items():
            yield compare("vm", name, "ns" if name == "call" else "calls", samples)
