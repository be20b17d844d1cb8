"""Networks of which only the sizes matter, as programs: their weights are parameters.

Each function gives the text of one program whose function @main has static shapes.
"""


def tensor(*dims):
    return f"Tensor[({', '.join(map(str, dims))}{',' if len(dims) == 1 else ''}), float32]"


class Program:
    def __init__(self, **inputs):
        self.params = [f"%{name}: {tensor(*dims)}" for name, dims in inputs.items()]
        self.lines = []

    def weight(self, *dims):
        self.params.append(f"%w{len(self.params)}: {tensor(*dims)}")
        return f"%w{len(self.params) - 1}"

    def let(self, expression):
        self.lines.append(f"  let %t{len(self.lines)} = {expression};")
        return f"%t{len(self.lines) - 1}"

    def text(self, result):
        return "def @main(" + ", ".join(self.params) + ") {\n" + "\n".join(self.lines) + f"\n  {result}\n}}\n"

    def linear(self, x, inputs, outputs):
        return self.let(f"matmul({x}, {self.weight(inputs, outputs)}) + {self.weight(outputs)}")

    def layer_norm(self, x, width):
        return self.let(f"layer_norm({x}, {self.weight(width)}, {self.weight(width)})")

    def heads(self, x, rows, heads, width):
        return self.let(f"transpose(reshape({x}, shape({rows}, {heads}, {width})), axes=(1, 0, 2))")


def bert_base(rows=128, layers=12, width=768, heads=12):
    """The encoder of BERT-base for one sequence, embeddings given."""
    p = Program(x=(rows, width))
    x = "%x"
    for _ in range(layers):
        q, k, v = (p.heads(p.linear(x, width, width), rows, heads, width // heads) for _ in range(3))
        scores = p.let(f"matmul({q}, {k}, transpose_b=True) * 0.125f")
        mixed = p.let(f"matmul(softmax({scores}), {v})")
        joined = p.let(f"reshape(transpose({mixed}, axes=(1, 0, 2)), shape({rows}, {width}))")
        x = p.layer_norm(p.let(f"{x} + {p.linear(joined, width, width)}"), width)
        inner = p.let(f"gelu({p.linear(x, width, 4 * width)})")
        x = p.layer_norm(p.let(f"{x} + {p.linear(inner, 4 * width, width)}"), width)
    return p.text(x)


def mobilenet_v2(size=224):
    p = Program(x=(1, 3, size, size))

    def conv(x, inputs, outputs, kernel, stride=1, groups=1, active=True):
        pad = kernel // 2
        made = p.let(f"conv2d({x}, {p.weight(outputs, inputs // groups, kernel, kernel)}, {p.weight(outputs)}, "
                     f"strides=({stride}, {stride}), padding=({pad}, {pad}), groups={groups})")
        return p.let(f"clip({made}, a_min=0.0, a_max=6.0)") if active else made

    x, channels = conv("%x", 3, 32, 3, 2), 32
    for expand, outputs, repeats, stride in [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]:
        for i in range(repeats):
            step, inner = stride if i == 0 else 1, channels * expand
            y = conv(x, channels, inner, 1) if expand != 1 else x
            y = conv(conv(y, inner, inner, 3, step, inner), inner, outputs, 1, active=False)
            x = p.let(f"{x} + {y}") if step == 1 and channels == outputs else y
            channels = outputs
    x = p.let(f"reshape(global_avg_pool2d({conv(x, channels, 1280, 1)}), shape(1, 1280))")
    return p.text(p.linear(x, 1280, 1000))


def lstm(steps=32, inputs=256, width=256):
    """One layer, unrolled, all states joined."""
    p = Program(x=(steps, inputs), h=(1, width), c=(1, width))
    h, c, states = "%h", "%c", []
    wx, wh, bias = p.weight(inputs, 4 * width), p.weight(width, 4 * width), p.weight(4 * width)
    for t in range(steps):
        x = p.let(f"strided_slice(%x, ({t}, 0), ({t + 1}, {inputs}))")
        gates = p.let(f"matmul({x}, {wx}) + matmul({h}, {wh}) + {bias}")
        i, f, g, o = (p.let(f"strided_slice({gates}, (0, {k * width}), (1, {(k + 1) * width}))") for k in range(4))
        c = p.let(f"sigmoid({f}) * {c} + sigmoid({i}) * tanh({g})")
        h = p.let(f"sigmoid({o}) * tanh({c})")
        states.append(h)
    return p.text(p.let(f"concat({', '.join(states)}, axis=0)"))


def decoder_step(past=511, layers=12, width=768, heads=12):
    """One token through a decoder that keeps keys and values: they are inputs, and the longer ones results."""
    head = width // heads
    p = Program(x=(1, width))
    x, kept = "%x", []
    for _ in range(layers):
        normed = p.layer_norm(x, width)
        q, k, v = (p.heads(p.linear(normed, width, width), 1, heads, head) for _ in range(3))
        keys = p.let(f"concat({p.weight(heads, past, head)}, {k}, axis=1)")
        values = p.let(f"concat({p.weight(heads, past, head)}, {v}, axis=1)")
        scores = p.let(f"softmax(matmul({q}, {keys}, transpose_b=True) * 0.125f)")
        mixed = p.let(f"reshape(transpose(matmul({scores}, {values}), axes=(1, 0, 2)), shape(1, {width}))")
        x = p.let(f"{x} + {p.linear(mixed, width, width)}")
        inner = p.let(f"gelu({p.linear(p.layer_norm(x, width), width, 4 * width)})")
        x = p.let(f"{x} + {p.linear(inner, 4 * width, width)}")
        kept += [keys, values]
    return p.text(f"({x}, {', '.join(kept)})")


NETWORKS = {"bert_base": bert_base, "mobilenet_v2": mobilenet_v2, "lstm": lstm, "decoder_step": decoder_step}
