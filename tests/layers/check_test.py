#!/usr/bin/env python3
"""The layer test finds what it should find: runs check.py on small trees."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK = pathlib.Path(__file__).with_name("check.py")
RULES = """
library fmt : fmt
library dnnl : dnnl.hpp oneapi
include/ingot :
runtime/base : fmt
runtime/kernels : runtime/base dnnl
vm/isa : runtime/base
vm/tool : vm/isa runtime include/ingot
"""


def check(files):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in {"cmake/layers.txt": RULES, **files}.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        run = subprocess.run([sys.executable, CHECK, folder], capture_output=True, text=True)
        return run.returncode, run.stdout


class LayerCheck(unittest.TestCase):
    def assert_error(self, files, message):
        code, out = check(files)
        self.assertEqual(code, 1, out)
        self.assertIn(message, out)

    def test_allowed(self):
        code, out = check({
            "runtime/base/a.h": "#include <vector>\n#include <sys/mman.h>\n#include <fmt/core.h>\n",
            "runtime/kernels/conv2d/k.cpp": '#include "runtime/base/a.h"\n#include <dnnl.hpp>\n',
            "include/ingot/ingot.h": "#include <stdint.h>\n",
            "vm/tool/t.cpp": '#include "ingot/ingot.h"\n#include <ingot/ingot.h>\n#include <dnnl.hpp>\n',
        })
        self.assertEqual((code, out), (0, "0 errors\n"))

    def test_upward(self):
        self.assert_error(
            {"vm/isa/b.h": "", "runtime/base/a.cpp": '\n#include "vm/isa/b.h"\n'},
            "runtime/base/a.cpp:2: runtime/base may not use vm/isa (cmake/layers.txt), but includes vm/isa/b.h")

    def test_outside_library(self):
        self.assert_error({"vm/isa/a.h": "#include <oneapi/dnnl/dnnl.h>\n"}, "vm/isa/a.h:1: vm/isa may not use dnnl")

    def test_unknown_library(self):
        self.assert_error({"vm/isa/a.h": "#include <absl/a.h>\n"}, "<absl/a.h> belongs to no library")

    def test_relative(self):
        self.assert_error({"vm/isa/a.h": "", "vm/isa/a.cpp": '#include "a.h"\n'}, "write it from the root folder")

    def test_unlisted_folder(self):
        self.assert_error({"vm/other/a.h": ""}, "vm/other/a.h:1: its folder has no line")

    def test_long_file(self):
        self.assert_error({"vm/isa/a.h": "\n" * 801}, "vm/isa/a.h:801: 801 lines")


if __name__ == "__main__":
    unittest.main()
