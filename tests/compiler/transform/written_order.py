#!/usr/bin/python3
"""Random programs in which a PrimFunc writes to tensors between operators: by second names, tuples, branches, closures and
functions. Evaluator, VM, and VM without optional passes must give the same elements, whatever is fused.

usage: written_order.py INGOT [PROGRAMS [SEED]]      40 programs, 2,000 under ./dev soak; `INGOT 1 7` shows number 7 where it fails
"""
import os
import pathlib
import random
import subprocess
import sys
import tempfile

VECTOR = "Tensor[(n,), float32]"
FUNCTIONS = f"""prim_func @inc(A: Buffer[(n,), float32]) {{ for i in n {{ A[i] = A[i] + 1f32; }} }}
private impure def @between(%u: {VECTOR}, %v: {VECTOR}) -> {VECTOR} attrs {{noinline=True}} {{
  let %a = %u * 2f;
  @inc(%v);
  relu(%a + %u)
}}
private def @same(%v: {VECTOR}) -> {VECTOR} attrs {{noinline=True}} {{ %v }}
private def @pick(%c: bool, %u: {VECTOR}, %v: {VECTOR}) -> {VECTOR} attrs {{noinline=True}} {{ if (%c) {{ %u }} else {{ %v }} }}
private def @pure(%u: {VECTOR}, %v: {VECTOR}) -> {VECTOR} {{ relu(%u + %v) * 0.5f }}
"""
DEEPEST = 2


class Maker:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.count = 0

    def name(self):
        self.count += 1
        return f"%v{self.count}"

    def operation(self, a, b):
        return self.random.choice([f"{a} + {b}", f"{a} * 2f", f"relu({a} - 1f)", f"maximum({a}, {b})", f"({a} + {b}) * 0.5f",
                                   f"negative({a})", f"reshape({a}, shape(n))"])

    def body(self, count, depth, known):
        """Some statements and one of the vectors, as the body of a branch or of a closure."""
        lines, vectors = self.statements(count, depth, known)
        return " ".join(lines + [self.random.choice(vectors)])

    def statements(self, count, depth, known):
        """Statements, and the names of all vectors behind them."""
        lines, vectors, closures = [], list(known), []

        def let(value):
            vectors.append(self.name())
            lines.append(f"let {vectors[-1]} = {value};")

        kinds = ["operation"] * 8 + ["write"] * 4 + ["alias", "tuple", "same", "pick", "pure", "between", "call"]
        kinds += ["branch", "closure"] if depth < DEEPEST else []
        for _ in range(count):
            kind = self.random.choice(kinds)
            a, b = self.random.choice(vectors[-4:]), self.random.choice(vectors)
            if kind == "operation":
                let(self.operation(a, b))
            elif kind == "write":
                lines.append(f"@inc({b});")
            elif kind == "alias":
                let(b)
            elif kind == "tuple":
                both = self.name()
                lines.append(f"let {both} = ({a}, {b});")
                let(f"{both}.{self.random.randrange(2)}")
            elif kind in ("same", "pick", "pure", "between"):
                let({"same": f"@same({b})", "pick": f"@pick(%c, {a}, {b})"}.get(kind, f"@{kind}({a}, {b})"))
            elif kind == "branch":
                bodies = [self.body(self.random.randrange(4), depth + 1, vectors) for _ in range(2)]
                let(f"if (%c) {{ {bodies[0]} }} else {{ {bodies[1]} }}")
            elif kind == "closure":
                closures.append(self.name())
                body = self.body(self.random.randrange(4), depth + 1, vectors)
                lines.append(f"let {closures[-1]} = impure fn() -> {VECTOR} {{ {body} }};")
            elif closures:
                let(f"{self.random.choice(closures)}()")
        return lines, vectors

    def program(self):
        lines, vectors = self.statements(self.random.randint(4, 16), 0, ["%y", "%z"])
        results = self.random.sample(vectors, self.random.randint(1, min(5, len(vectors)))) + ["%y"]
        lines = ["let %y = %x + 1f;", "let %z = %x * 3f;", *lines, f"({', '.join(results)})"]
        body = "\n".join("  " + line for line in lines)
        return f"{FUNCTIONS}impure def @main(%x: {VECTOR}, %c: bool) {{\n{body}\n}}\n"


def main():
    tool = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 2000 if os.environ.get("INGOT_SOAK") else 40
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        source, target = (pathlib.Path(folder) / name for name in ("p.relax", "p.ingot"))

        def said(*words):
            done = subprocess.run([tool, *map(str, words)], capture_output=True, text=True, timeout=60)
            return done.stdout if done.returncode == 0 else done.stderr

        for seed in range(first, first + count):
            source.write_text(Maker(seed).program())
            inputs = ["--input", "x=3xf32=1 2 5", "--input", f"c=bool={seed % 2}"]
            results = [said("eval", source, *inputs)]
            for without in ([], ["--without", "all"]):
                results.append(said("compile", source, *without, "-o", target) or said("run", target, *inputs))
            if "error" in results[0] or results.count(results[0]) != len(results):
                failed += 1
                print(f"number {seed}:\n{source.read_text()}evaluator:\n{results[0]}VM:\n{results[1]}without passes:\n{results[2]}")
    print(f"{count - failed} of {count} programs agree")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
