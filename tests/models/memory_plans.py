#!/usr/bin/python3
"""How near memory plans come to the least that any plan needs: arena over the largest sum of sizes alive at one instant,
padding and scratch counted. At most 1.05 in the median and 1.10 in the worst case, over the networks of this folder and
the programs of bench/programs/networks.py; `./dev bench memory` measures the large networks as well.
"""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BIN = pathlib.Path(os.environ.get("INGOT_BIN", ROOT / "build/release/bin")).resolve()
sys.path.insert(0, str(ROOT / "bench"))

from programs.networks import NETWORKS  # noqa: E402


def plan_of(source, work):
    target = work / "network.ingot"
    subprocess.run([BIN / "ingot", "compile", source, "-o", target], check=True)
    told = subprocess.run([BIN / "ingot", "inspect", target, "--json"], check=True, capture_output=True, text=True).stdout
    return next(f for f in json.loads(told)["functions"] if f["name"] == "main")["memory"]


def main():
    ratios = {}
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        for name, program in NETWORKS.items():
            (work / f"{name}.relax").write_text(program())
        for source in sorted(HERE.glob("*_small.onnx")) + [work / f"{name}.relax" for name in NETWORKS]:
            plan = plan_of(source, work)
            assert 0 < plan["lower_bound_bytes"] <= plan["arena_bytes"] <= plan["sum_bytes"], (source.stem, plan)
            ratios[source.stem] = plan["arena_bytes"] / plan["lower_bound_bytes"]
            print(f"{source.stem}: {ratios[source.stem]:.4f}, {plan['arena_bytes']} of {plan['sum_bytes']} bytes")
    worst, median = max(ratios.values()), statistics.median(ratios.values())
    print(f"{len(ratios)} networks: median {median:.4f}, worst {worst:.4f}")
    return 0 if len(ratios) >= 13 and worst <= 1.10 and median <= 1.05 else 1


if __name__ == "__main__":
    sys.exit(main())
