#!/usr/bin/env python3
"""The checkers find what they should find: runs check.py and rules.py on small trees."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

RULES = """
library fmt : fmt
library dnnl : dnnl.hpp oneapi
include/ingot :
runtime/base : fmt
runtime/kernels : runtime/base dnnl
vm/isa : runtime/base
vm/tool : vm/isa runtime include/ingot
"""


def check(files, script="check.py"):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in {"cmake/layers.txt": RULES, **files}.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        run = subprocess.run([sys.executable, pathlib.Path(__file__).with_name(script), folder], capture_output=True, text=True)
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


class HouseRules(unittest.TestCase):
    def breaches(self, name, text):
        return [line for line in check({name: text}, "rules.py")[1].splitlines() if line.startswith(name)]

    def test_breaches(self):
        for line in ("std::cout << 1;", "std::printf(x);", "fmt::print(x);", "exit(1);", "std::abort();", "getenv(x);",
                     "auto* p = new Foo();", "delete p;", "delete[] p;", "free(p);", "#include <iostream>"):
            self.assertEqual(len(self.breaches("vm/isa/a.cpp", "// c\n" + line)), 1, line)

    def test_innocent(self):
        for line in ("// std::cout, new Foo", 'f("delete p; exit(1)");', "A(const A&) = delete;", "new (p) Foo();",
                     "printer.puts(x);", "state->exit();", "int x = 1'000;  // exit(1)'", "snprintf(b, 3, x);",
                     "void operator delete(void*);", "renew Foo;"):
            self.assertEqual(self.breaches("vm/isa/a.cpp", line), [], line)

    def test_exempt(self):
        self.assertEqual(self.breaches("vm/tool/a.cpp", "std::cout << 1; exit(1);"), [])
        self.assertEqual(self.breaches("runtime/memory/a.cpp", "auto* p = new Foo(); free(p);"), [])

    def test_line(self):
        self.assertTrue(self.breaches("vm/isa/a.cpp", "/* a\n b */\nexit(1);")[0].startswith("vm/isa/a.cpp:3: "))


if __name__ == "__main__":
    unittest.main()
