#!/usr/bin/env python3
"""Measures Ingot against its peers; ./dev bench builds first and then calls this.

    run.py [SUITE...] [--json FILE] [--quick]

Without a name all suites run. A suite is a module of bench/suites with

    SETTINGS            lines for docs/performance.md: threads, weights, whatever a reader must know
    measure(quick)      yields report.Row

`--quick` measures less and leaves docs/performance.md alone.
"""
import argparse
import importlib
import pathlib
import sys

from report import line, write_json, write_page

SUITES = sorted(path.stem for path in (pathlib.Path(__file__).resolve().parent / "suites").glob("[a-z]*.py"))


def main():
    parser = argparse.ArgumentParser(prog="./dev bench", description="Measure Ingot against its peers.")
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=f"of {', '.join(SUITES)}; all when none is named")
    parser.add_argument("--json", metavar="FILE", help="write the rows as a list of objects")
    parser.add_argument("--quick", action="store_true", help="measure less; do not touch docs/performance.md")
    options = parser.parse_args()
    for name in options.suites:
        if name not in SUITES:
            sys.exit(f"bench: there is no suite '{name}'; there are: {', '.join(SUITES)}")

    results, failed = {}, False
    for name in options.suites or SUITES:
        suite, rows = importlib.import_module(f"suites.{name}"), []
        try:
            for row in suite.measure(options.quick):
                rows.append(row)
                print(line(row), flush=True)
        except Exception as error:
            print(f"bench: suite {name}: {error}", file=sys.stderr)
            failed = True
        results[name] = (rows, suite.SETTINGS)

    if options.json:
        write_json(options.json, [row for rows, _ in results.values() for row in rows])
    if not options.quick and not failed:
        write_page(results)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
