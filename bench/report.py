"""Rows of measurements: gathered by the suites, printed, written as JSON and to docs/performance.md."""
import dataclasses
import datetime
import json
import pathlib
import subprocess

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/performance.md"
PREFACE = """# Performance

Written by `./dev bench`. Ours and the peer's runs alternate in small blocks within one run of the benchmark, both sides staying loaded.
Values are medians, the spread is the distance between the quartiles, the speedup is the peer's time over ours: above 1, ours is faster.
"""


@dataclasses.dataclass
class Row:
    """One measured name against one peer, or against none. Times in `unit`: smaller is better."""

    suite: str
    name: str
    unit: str
    value: float
    spread: float
    peer: str | None = None
    peer_version: str | None = None
    peer_value: float | None = None
    speedup: float | None = None


def compare(suite, name, unit, ours, peer=None, version=None, theirs=None):
    """A Row from samples; `theirs` are the peer's."""
    row = Row(suite, name, unit, float(np.median(ours)), float(np.subtract(*np.percentile(ours, [75, 25]))))
    if theirs is not None:
        row.peer, row.peer_version, row.peer_value = peer, version, float(np.median(theirs))
        row.speedup = row.peer_value / row.value
    return row


def number(value):
    return "" if value is None else f"{value:.4g}" if abs(value) < 1000 else f"{value:.0f}"


def cells(row):
    peer = f"{row.peer} {row.peer_version}" if row.peer else ""
    return [row.name, row.unit, number(row.value), number(row.spread), peer, number(row.peer_value), number(row.speedup)]


def line(row):
    name, unit, value, spread, peer, peer_value, speedup = cells(row)
    theirs = f", {peer} {peer_value} {unit}, speedup {speedup}" if peer else ""
    return f"{row.suite}  {name:20} {value} {unit} (spread {spread}){theirs}"


def machine():
    """One line on the processor, and the features that matter here."""
    fields = dict(line.split(":", 1) for line in open("/proc/cpuinfo") if ":" in line)
    fields = {k.strip(): v.strip() for k, v in fields.items()}
    features = [f for f in ("avx2", "avx512f", "avx512_vnni", "avx512_bf16", "amx_tile") if f in fields["flags"].split()]
    cores = sum(line.startswith("processor") for line in open("/proc/cpuinfo"))
    family = f"family {fields['cpu family']} model {fields['model']}"
    return f"{fields['model name']} ({family}), {cores} cores, {' '.join(features)}"


def commit():
    git = ["git", "-C", str(ROOT)]
    head = subprocess.run([*git, "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    others = ["--", ".", ":!docs/performance.md"]  # which the benchmark itself writes
    changed = subprocess.run([*git, "status", "--porcelain", "-uno", *others], capture_output=True, text=True).stdout.strip()
    return head + (" with changes" if changed else "")


def section(suite, rows, settings):
    lines = [
        f"## {suite}", "", f"* machine: {machine()}", f"* commit {commit()}, {datetime.date.today()}",
        *(f"* {line}" for line in settings), "",
        "| name | unit | median | spread | peer | peer's median | speedup |", "|---|---|---|---|---|---|---|",
        *("| " + " | ".join(cells(row)) + " |" for row in rows), "",
    ]
    return "\n".join(lines)


def write_page(results):
    """Replaces the sections of the suites in `results`, {suite: (rows, settings)}; the others stay."""
    text = PAGE.read_text() if PAGE.exists() else ""
    sections = {part.partition("\n")[0]: "## " + part for part in text.split("\n## ")[1:]}
    sections.update({suite: section(suite, *result) for suite, result in results.items()})
    PAGE.write_text("\n".join([PREFACE, *(sections[suite].rstrip("\n") + "\n" for suite in sorted(sections))]))


def write_json(path, rows):
    pathlib.Path(path).write_text(json.dumps([dataclasses.asdict(row) for row in rows], indent=1) + "\n")
