#!/usr/bin/env python3
"""Installs what the benchmarks compare with, unless it is there already.

    /usr/bin/python3 bench/peers/install.py PEER...

onnxruntime comes from npm's package (the CPU library is inside it) into build/peers; torch and lua come from Debian.
"""
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
ONNXRUNTIME = "1.30.0"  # the version that docs/performance.md speaks of
PACKAGES = {"torch": ["python3-torch"], "lua": ["lua5.4"]}


def run(*command, **options):
    print("+", *command, file=sys.stderr)
    subprocess.run(command, check=True, stdout=sys.stderr, **options)


def install_packages(names):
    status = ["dpkg-query", "-W", "-f", "${db:Status-Status}"]
    missing = [name for name in names if subprocess.run([*status, name], capture_output=True).stdout != b"installed"]
    if missing:
        apt = [*(["sudo"] if shutil.which("sudo") else []), "apt-get"]
        run(*apt, "update", "-q")
        run(*apt, "install", "-q", "-y", "--no-install-recommends", *missing)


def install_onnxruntime():
    folder = ROOT / "build/peers"
    manifest = folder / "node_modules/onnxruntime-node/package.json"
    if manifest.exists() and f'"version": "{ONNXRUNTIME}"' in manifest.read_text():
        return
    if not shutil.which("npm"):
        install_packages(["nodejs", "npm"])
    folder.mkdir(parents=True, exist_ok=True)
    run("npm", "install", "--prefix", str(folder), "--ignore-scripts", "--no-audit", "--no-fund", f"onnxruntime-node@{ONNXRUNTIME}")


def install(peer):
    if peer == "onnxruntime":
        install_onnxruntime()
    elif peer in PACKAGES:
        install_packages(PACKAGES[peer])
    else:
        sys.exit(f"install.py: unknown peer '{peer}'; known are onnxruntime, {', '.join(PACKAGES)}")


if __name__ == "__main__":
    for name in sys.argv[1:] or sys.exit(__doc__):
        install(name)
