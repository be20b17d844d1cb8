#!/usr/bin/python3
"""mistakes.py INGOT [--bless]: programs with one mistake, or with several that have nothing to do with one another, give
exactly these errors: one for each mistake, with its code and its place, and none that only follows from another.

mistakes.txt has the programs; behind each stand its errors, as `! CODE LINE:COLUMN`, in the order in which they are told.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

TABLE = pathlib.Path(__file__).with_name("mistakes.txt")


def cases():
    text, errors = [], []
    for line in TABLE.read_text().split("\n"):
        if line.startswith("! "):
            errors.append(line[2:])
        elif errors:
            yield "\n".join(text), errors
            text, errors = ([line] if line else []), []
        elif line or text:
            text.append(line)
    if errors:
        yield "\n".join(text), errors


def errors_of(ingot, folder, text):
    (folder / "case.relax").write_text(text + "\n")
    done = subprocess.run([ingot, "compile", "case.relax"], cwd=folder, capture_output=True, text=True, timeout=60)
    found = re.findall(r"^error\[(.*?)\]: .*\n\s+--> case.relax:(\d+:\d+)", done.stderr, re.MULTILINE)
    count = len(re.findall(r"^error\[", done.stderr, re.MULTILINE))
    return [" ".join(error) for error in found] + ["without a place"] * (count - len(found))


def main():
    ingot = str(pathlib.Path(sys.argv[1]).resolve())
    wrong, all_cases, blessed = 0, list(cases()), []
    with tempfile.TemporaryDirectory() as folder:
        for text, expected in all_cases:
            found = errors_of(ingot, pathlib.Path(folder), text)
            blessed.append("\n".join([text, *(f"! {error}" for error in found)]))
            if found != expected:
                wrong += 1
                print(f"{text}\n  gives {found}\n  instead of {expected}")
    if "--bless" in sys.argv:
        TABLE.write_text("\n".join(blessed) + "\n")
    print(f"{len(all_cases)} programs, {wrong} are wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
