#!/usr/bin/env python3
"""House rules that a machine can check: libraries never print, exit or read the environment, and memory has owners.

usage: rules.py [ROOT]

Prints `file:line: ...` for each breach, and makes the exit code 1 if there is one. Comments and strings do not count; the
tools (vm/tool, compiler/driver) are no libraries.
"""

import pathlib
import re
import sys

TOOLS = ("vm/tool/", "compiler/driver/")
ALLOCATORS = ("runtime/object/", "runtime/memory/")
QUIET = [
    (re.compile(r"\bstd::(cout|cerr|clog)\b|(?<![\w.>])(std::)?(v?f?printf|puts|putchar|fputs)\s*\(|\bfmt::print\b"),
     "a library does not print; pass a sink in"),
    (re.compile(r"(?<![\w.>])(std::)?(exit|_exit|quick_exit|abort|terminate)\s*\("), "a library does not end the process"),
    (re.compile(r"\b(std::)?(secure_)?getenv\s*\("), "a library does not read the environment; pass an option in"),
    (re.compile(r"#\s*include\s*<iostream>"), "<iostream> has static initialisers, and a library does not print"),
]
OWNERSHIP = [
    (re.compile(r"(?<!operator )\bnew\s+[A-Za-z_:]|(?<!operator )\bdelete(\s*\[\s*\])?\s+[A-Za-z_*(]"),
     "new and delete belong to runtime/object and runtime/memory; use an owner"),
    (re.compile(r"(?<![\w.>])(std::)?(malloc|calloc|realloc|free)\s*\("),
     "malloc and free belong to runtime/object and runtime/memory; use an owner"),
]
NOISE = re.compile(
    r'R"([^(\s]*)\(.*?\)\1"|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"' r"|'(?:\\.|[^'\\\n])+'", re.DOTALL)


def without_noise(text):
    """The text with comments and literals blanked out, line numbers kept; digit separators are no literals."""
    text = re.sub(r"(?<=[0-9a-fA-F])'(?=[0-9a-fA-F])", "", text)
    return NOISE.sub(lambda m: '""' + "\n" * m[0].count("\n"), text)


def check(root):
    errors = []
    for layer in ("include", "runtime", "vm", "compiler"):
        for path in sorted((root / layer).rglob("*")):
            name = path.relative_to(root).as_posix()
            if path.suffix not in (".h", ".hpp", ".cpp") or name.endswith("main.cpp"):
                continue
            rules = [] if name.startswith(TOOLS) else list(QUIET)
            if not name.startswith(ALLOCATORS):
                rules += OWNERSHIP
            for number, line in enumerate(without_noise(path.read_text()).splitlines(), 1):
                errors += [f"{name}:{number}: {why}" for pattern, why in rules if pattern.search(line)]
    return errors


def main():
    errors = check(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "."))
    print("\n".join(errors + [f"{len(errors)} errors"]))
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
