#!/usr/bin/env python3
"""Holds every #include of the library folders against the arrows in cmake/layers.txt.

usage: check.py [ROOT]

A forbidden include is printed as `file:line: ...` with the rule that it breaks, and makes the exit code 1. So does a
source file of more than 800 lines.
"""

import pathlib
import re
import sys

MAX_LINES = 800
SOURCES = {".h", ".hpp", ".cpp", ".c", ".def"}
LAYERS = ("include/ingot", "runtime", "vm", "compiler")
INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^>"]+)[>"]')
# Headers of the operating system and of the instruction set; C++'s own have neither dot nor slash.
SYSTEM = re.compile(
    r"[a-z_0-9]+|(sys|linux|asm|arpa|netinet|bits)/.+"
    r"|(cpuid|dlfcn|dirent|errno|fcntl|fenv|float|immintrin|inttypes|limits|malloc|math|poll|pthread|sched|semaphore|signal"
    r"|stdarg|stdbool|stddef|stdint|stdio|stdlib|string|time|ucontext|unistd|x86intrin|cxxabi)\.h"
)


class Rules:
    """The parsed layers.txt: what each folder may use, closed over the arrows."""

    def __init__(self, text):
        self.prefixes = {}  # library -> include prefixes
        self.uses = {}  # folder -> every folder and library that it may use, itself included
        for number, line in enumerate(text.splitlines(), 1):
            if not line or line.startswith("#"):
                continue
            name, _, rest = line.partition(":")
            name, names = name.strip(), rest.split()
            if name.startswith("library "):
                self.prefixes[name.removeprefix("library ").strip()] = names
                continue
            closed = {name}
            for used in names:
                if used in self.uses:
                    closed |= self.uses[used]
                elif used in self.prefixes:
                    closed.add(used)
                elif members := [f for f in self.uses if f.startswith(used + "/")]:
                    for member in members:
                        if member not in ("vm/tool", "compiler/driver"):
                            closed |= self.uses[member]
                else:
                    sys.exit(f"cmake/layers.txt:{number}: '{used}' is not declared above its use")
            self.uses[name] = closed

    def folder_of(self, path):
        """The declared folder that a file lies in, subfolders included, or None."""
        best = [f for f in self.uses if path.startswith(f + "/")]
        return max(best, key=len) if best else None

    def library_of(self, include):
        for library, prefixes in self.prefixes.items():
            if any(include == p or include.startswith(p + "/") for p in prefixes):
                return library
        return None


def check_include(rules, root, folder, path, quote, include):
    """Says what is wrong with one include line, or None."""
    if quote == '"' or include.startswith("ingot/"):
        if include.startswith("ingot/"):
            target = "include/" + include
        elif (root / include).is_file():
            target = include
        elif (path.parent / include).is_file():
            return f'"{include}" is relative to the file; write it from the root folder'
        else:
            return f'"{include}" is not a file of this project'
        used = rules.folder_of(target)
        if used is None:
            return f'"{include}" lies in no folder of cmake/layers.txt'
    else:
        used = rules.library_of(include)
        if used is None:
            if SYSTEM.fullmatch(include):
                return None
            return f"<{include}> belongs to no library of cmake/layers.txt"
    if used not in rules.uses[folder]:
        return f"{folder} may not use {used} (cmake/layers.txt), but includes {include}"
    return None


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    rules = Rules((root / "cmake/layers.txt").read_text())
    errors = []
    for top in LAYERS + ("tests", "bench"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix not in SOURCES or not path.is_file():
                continue
            name = path.relative_to(root).as_posix()
            lines = path.read_text().splitlines()
            if len(lines) > MAX_LINES:
                errors.append(f"{name}:{MAX_LINES + 1}: {len(lines)} lines; above {MAX_LINES} a file is split by idea")
            if top in ("tests", "bench"):
                continue
            folder = rules.folder_of(name)
            if folder is None:
                errors.append(f"{name}:1: its folder has no line in cmake/layers.txt")
                continue
            for number, line in enumerate(lines, 1):
                if match := INCLUDE.match(line):
                    if wrong := check_include(rules, root, folder, path, *match.groups()):
                        errors.append(f"{name}:{number}: {wrong}")
    print("\n".join(errors + [f"{len(errors)} errors"]))
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
