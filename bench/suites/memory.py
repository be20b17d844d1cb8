"""Suite memory: the planner's time, and how near the arena comes to the least that any plan needs.

Rows: plan_10000, plan_10000_long: 10,000 tensors laid out, lives of up to 20 or 2,000 of 10,000 instants; first_shape, the first
call of a function with a new shape, kernels included; arena_NAME, arena over lower bound (the largest sum of sizes alive at one
instant) of a network, layout padding and scratch counted; arena_median and arena_worst of them.

The networks of the model zoo come from the folder that INGOT_SHARED names: light_NAME, which make their weights as they
run, and NAME with real-valued weights (not in a quick measurement). The others are bench/programs/networks.py.

Commands of the runner, beside `quit` (see bench/runner.py):

    plan COUNT LONGEST     ok MICROSECONDS       of one plan
    shapes COUNT PATH      ok MICROSECONDS...    of the first plan for each of the lengths 1 to COUNT of an executable's first function
"""
import json
import statistics
import subprocess

from programs.networks import NETWORKS as PROGRAMS
from report import Row, compare
from runner import Runner
from suites.models import BUILD, NETWORKS, ROOT, SHARED, materialized

SETTINGS = [
    "processor time of one thread; plan_10000: 10,000 tensors, lives of up to 20 instants; plan_10000_long: up to 2,000",
    "first_shape: plan of a chain of three fused kernels for a new length: sizes, prepared kernels, arena",
    "arena_NAME: arena over the largest sum of sizes alive at one instant, padding and scratch counted",
]
WORK = ROOT / "build/bench/memory"
CHAIN = """def @main(%x: Tensor[(n, 64), float32], %w: Tensor[(64, 64), float32]) {
  let %a = matmul(%x, %w);
  let %b = softmax(%a + %x);
  layer_norm(matmul(%b, %w))
}
"""


def ingot(*words):
    return subprocess.run([BUILD / "bin/ingot", *words], check=True, capture_output=True, text=True).stdout


def written(name, text):
    path = WORK / f"{name}.relax"
    path.write_text(text)
    return path


def arena_ratio(source):
    """Of @main, as `ingot inspect --json` tells it."""
    target = WORK / f"{source.stem}.ingot"
    ingot("compile", source, "-o", target)
    functions = json.loads(ingot("inspect", target, "--json"))["functions"]
    memory = next(f for f in functions if f["name"] == "main")["memory"]
    return memory["arena_bytes"] / max(1, memory["lower_bound_bytes"])


def measure(quick):
    WORK.mkdir(parents=True, exist_ok=True)
    with Runner("planner", [BUILD / "bench/memory_runner"]) as planner:
        for name, longest in [("plan_10000", 20), ("plan_10000_long", 2_000)]:
            times = [float(planner.ask("plan", 10_000, longest)) / 1e3 for _ in range(5 if quick else 25)]
            yield compare("memory", name, "ms", times)
        target = WORK / "chain.ingot"
        ingot("compile", written("chain", CHAIN), "-o", target)
        yield compare("memory", "first_shape", "us", [float(t) for t in planner.ask("shapes", 50 if quick else 500, target).split()])
    sources = [SHARED / f"light/light_{name}.onnx" for name in NETWORKS]
    sources += [] if quick else [materialized(name) for name in NETWORKS]
    sources += [written(name, program()) for name, program in PROGRAMS.items()]
    ratios = {}
    for source in sources:
        ratios[source.stem] = arena_ratio(source)
        yield Row("memory", f"arena_{source.stem}", "ratio", ratios[source.stem], 0.0)
    yield Row("memory", "arena_median", "ratio", statistics.median(ratios.values()), 0.0)
    yield Row("memory", "arena_worst", "ratio", max(ratios.values()), 0.0)
