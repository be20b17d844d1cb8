#!/usr/bin/env python3
"""Writes the small networks of tests/models: NAME.onnx, NAME_input.npy, NAME_output.npy, and the table in README.md.

    /usr/bin/python3 bench/peers/install.py onnxruntime
    /usr/bin/python3 tests/models/generate.py

References come from ONNX Runtime with graph optimisations off, and numpy_operators.py must agree. For opsets older than
7, which ONNX Runtime does not promise to run, the reference is that of the same network at opset 9.
Needs Debian's python3-numpy and python3-onnx.
"""
import collections
import pathlib
import sys
import tempfile

import numpy as np
import onnx

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "bench/peers"))

from network import Network
from numpy_operators import attributes_of
from onnxruntime_peer import Session, runtime

NO_PADS, PADS_1, PADS_2, PADS_3 = ([n] * 4 for n in range(4))
END_PADS = [0, 0, 1, 1]
ONE, TWO = [1, 1], [2, 2]


def alexnet(name, opset):
    g = Network(name, opset, (1, 3, 47, 47), input_scale=60)
    x = g.relu(g.conv("data_0", 8, 11, strides=[4, 4], pads=NO_PADS))
    x = g.lrn(x, size=5, alpha=1e-4, beta=0.75, bias=1.0)
    x = g.max_pool(x, 3, strides=TWO, pads=NO_PADS)
    x = g.relu(g.conv(x, 12, 5, group=2, strides=ONE, pads=PADS_2))
    x = g.lrn(x, size=5, alpha=1e-4, beta=0.75, bias=1.0)
    x = g.max_pool(x, 3, strides=TWO, pads=END_PADS)
    x = g.relu(g.conv(x, 16, 3, strides=ONE, pads=PADS_1))
    x = g.relu(g.conv(x, 16, 3, group=2, strides=ONE, pads=PADS_1))
    x = g.reshape(x, [1, 64])
    x = g.dropout(g.relu(g.gemm(x, 24)), 0.5)
    return g, g.softmax(g.gemm(x, 10, scale=0.02))


def densenet(name, opset):
    g = Network(name, opset, (1, 3, 32, 32))

    def norm(x):
        return g.relu(g.per_channel(g.batch_norm(x, epsilon=1e-3)))

    x = norm(g.conv("data_0", 16, 7, bias=False, strides=TWO, pads=PADS_3))
    x = g.max_pool(x, 3, strides=TWO, pads=PADS_1)
    for _ in range(2):
        y = norm(g.conv(norm(x), 16, 1, bias=False, strides=ONE, pads=NO_PADS))
        x = g.concat(x, g.conv(y, 8, 3, bias=False, strides=ONE, pads=PADS_1))
    x = g.conv(norm(x), 16, 1, bias=False, strides=ONE, pads=NO_PADS)
    x = norm(g.average_pool(x, 2, strides=TWO, pads=NO_PADS))
    return g, g.conv(g.global_average_pool(x), 20, 1, strides=ONE, pads=NO_PADS)


def inception_v1(name, opset):
    g = Network(name, opset, (1, 3, 55, 55), input_scale=60)
    x = g.relu(g.conv("data_0", 12, 7, strides=TWO, pads=PADS_3))
    x = g.max_pool(x, 3, strides=TWO, pads=NO_PADS)
    x = g.lrn(x, size=5, alpha=1e-4, beta=0.75, bias=1.0)
    x = g.max_pool(x, 3, strides=TWO, pads=NO_PADS)
    one = g.relu(g.conv(x, 8, 1, strides=ONE, pads=NO_PADS))
    three = g.relu(g.conv(x, 8, 1, strides=ONE, pads=NO_PADS))
    three = g.relu(g.conv(three, 12, 3, strides=ONE, pads=PADS_1))
    five = g.relu(g.conv(x, 4, 1, strides=ONE, pads=NO_PADS))
    five = g.relu(g.conv(five, 8, 5, strides=ONE, pads=PADS_2))
    pool = g.max_pool(x, 3, strides=ONE, pads=PADS_1)
    pool = g.relu(g.conv(pool, 4, 1, strides=ONE, pads=NO_PADS))
    x = g.average_pool(g.concat(one, three, five, pool), 7, strides=ONE, pads=END_PADS)
    x = g.dropout(x, 0.4)
    x = g.reshape(x, [1, 32])
    weight = g.reshape(g.normal((1, 1, 10, 32), 0.01), [10, 32])
    return g, g.softmax(g.gemm_with(x, weight, g.normal((10,), 0.1)))


def inception_v2(name, opset):
    g = Network(name, opset, (1, 3, 28, 28))

    def conv(x, channels, kernel, **attributes):
        y = g.conv(x, channels, kernel, bias=False, **attributes)
        return g.relu(g.per_channel(g.batch_norm(y, epsilon=1e-5)))

    x = conv("data_0", 16, 3, strides=TWO, pads=PADS_1)
    one = conv(x, 8, 1, strides=ONE, pads=NO_PADS)
    three = conv(conv(x, 8, 1, strides=ONE, pads=NO_PADS), 12, 3, strides=ONE, pads=PADS_1)
    average = conv(g.average_pool(x, 3, strides=ONE, pads=PADS_1), 4, 1, strides=ONE, pads=NO_PADS)
    maximum = conv(g.max_pool(x, 3, strides=ONE, pads=PADS_1), 4, 1, strides=ONE, pads=NO_PADS)
    x = g.concat(one, three, average, maximum)
    three = conv(conv(x, 8, 1, strides=ONE, pads=NO_PADS), 12, 3, strides=TWO, pads=PADS_1)
    double = conv(conv(x, 8, 3, strides=ONE, pads=PADS_1), 8, 3, strides=TWO, pads=PADS_1)
    x = g.concat(three, double, g.max_pool(x, 3, strides=TWO, pads=END_PADS))
    x = g.average_pool(x, 7, strides=ONE, pads=NO_PADS)
    x = g.reshape(x, [1, 48])
    return g, g.softmax(g.gemm(x, 10))


def resnet(name, opset):
    g = Network(name, opset, (2, 3, 34, 34), input_name="gpu_0/data_0")

    def conv(x, channels, kernel, **attributes):
        return g.batch_norm(g.conv(x, channels, kernel, bias=False, **attributes), epsilon=1e-5)

    def bottleneck(x, inner, outer, stride):
        y = g.relu(conv(x, inner, 1, strides=ONE, pads=NO_PADS))
        y = g.relu(conv(y, inner, 3, strides=[stride, stride], pads=PADS_1))
        y = conv(y, outer, 1, strides=ONE, pads=NO_PADS)
        shortcut = x if g.shape(x)[1] == outer else conv(x, outer, 1, strides=[stride, stride])
        return g.relu(g.sum(y, shortcut))

    g.initializer(np.ones((1, 1), np.float32), "gpu_0/unused_0")
    x = g.relu(conv(g.input_name, 12, 7, strides=TWO, pads=PADS_3))
    x = g.max_pool(x, 3, strides=TWO, pads=PADS_1)
    x = bottleneck(x, 8, 32, 1)
    x = bottleneck(x, 8, 32, 1)
    x = bottleneck(x, 10, 36, 2)
    x = g.average_pool(x, 5, strides=ONE)
    x = g.reshape(x, [2, 36])
    return g, g.softmax(g.gemm(x, 10, scale=0.2))


def shufflenet(name, opset):
    g = Network(name, opset, (1, 3, 32, 32))

    def grouped(x, channels):
        return g.batch_norm(g.conv(x, channels, 1, bias=False, group=4, strides=ONE, pads=NO_PADS))

    def unit(x, channels, stride):
        inner, size = 16, g.shape(x)[2]
        y = g.relu(grouped(x, inner))
        y = g.reshape(y, [1, 4, inner // 4, size, size])
        y = g.reshape(g.transpose(y, perm=[0, 2, 1, 3, 4]), [1, inner, size, size])
        y = g.conv(y, inner, 3, bias=False, group=inner, strides=[stride, stride], pads=PADS_1)
        y = grouped(g.batch_norm(y), channels)
        if stride == 1:
            return g.relu(g.sum(x, y))
        return g.relu(g.concat(y, g.average_pool(x, 3, strides=TWO, pads=PADS_1)))

    x = g.relu(g.batch_norm(g.conv("data_0", 24, 3, strides=TWO, pads=PADS_1)))
    x = g.max_pool(x, 3, strides=TWO, pads=PADS_1)
    x = unit(x, 24, 2)
    x = unit(x, 48, 1)
    x = g.average_pool(x, 4, strides=ONE)
    x = g.reshape(x, [1, 48])
    return g, g.softmax(g.gemm(x, 10, scale=0.2))


def squeezenet(name, opset):
    g = Network(name, opset, (1, 3, 33, 33))

    def fire(x, squeeze, expand):
        x = g.relu(g.conv(x, squeeze, 1, strides=ONE, pads=NO_PADS))
        one = g.relu(g.conv(x, expand, 1, strides=ONE, pads=NO_PADS))
        return g.concat(one, g.relu(g.conv(x, expand, 3, strides=ONE, pads=PADS_1)))

    x = g.relu(g.conv("data_0", 16, 3, strides=TWO, pads=NO_PADS))
    x = g.max_pool(x, 3, strides=TWO, pads=NO_PADS)
    x = fire(fire(x, 6, 12), 8, 16)
    x = g.relu(g.conv(g.dropout(x, 0.5), 10, 1, strides=ONE, pads=NO_PADS))
    return g, g.softmax(g.global_average_pool(x))


def vgg(name, opset):
    g = Network(name, opset, (1, 3, 16, 16))
    x = "data_0"
    for channels in (8, 16):
        for _ in range(2):
            x = g.relu(g.conv(x, channels, 3, strides=ONE, pads=PADS_1))
        x = g.max_pool(x, 2, strides=TWO, pads=NO_PADS)
    x = g.reshape(x, [1, 256])
    x = g.dropout(g.relu(g.gemm(x, 12)), 0.5)
    return g, g.softmax(g.gemm(x, 10))


def zfnet(name, opset):
    g = Network(name, opset, (1, 3, 53, 53), input_scale=40, input_name="gpu_0/data_0")
    x = g.relu(g.conv(g.input_name, 12, 7, strides=TWO, pads=NO_PADS))
    x = g.lrn(x, size=5, alpha=5e-4, beta=0.75, bias=2.0)
    x = g.max_pool(x, 3, strides=TWO, pads=NO_PADS)
    x = g.relu(g.conv(x, 16, 5, strides=TWO, pads=NO_PADS))
    x = g.lrn(x, size=5, alpha=5e-4, beta=0.75, bias=2.0)
    x = g.max_pool(x, 2, strides=TWO, pads=NO_PADS)
    x = g.relu(g.conv(x, 16, 3, strides=ONE, pads=PADS_1))
    x = g.reshape(x, [1, 64])
    return g, g.softmax(g.gemm(x, 10, scale=0.05))


def constant_weights(name, opset):
    """Weights that ConstantOfShape makes: with a value, and with the default, float32 zero."""
    g = Network(name, opset, (1, 4, 12, 12))

    def constant(shape, **attributes):
        return g.node("ConstantOfShape", [g.ints(shape)], **attributes)

    def value(number):
        return onnx.helper.make_tensor("value", onnx.TensorProto.FLOAT, [1], [number])

    x = g.relu(g.node("Conv", ["data_0", constant([8, 4, 3, 3], value=value(0.02)), constant([8])],
                      kernel_shape=[3, 3], strides=ONE, pads=PADS_1))
    scale, bias, mean, var = (constant([8], value=value(v)) for v in (0.5, 0.1, 0.02, 0.02))
    x = g.node("BatchNormalization", [x, scale, bias, mean, var], epsilon=1e-5)
    x = g.node("Add", [x, g.unsqueeze(constant([8], value=value(0.3)), [1, 2])])
    x = g.relu(g.conv(x, 6, 3, strides=TWO, pads=PADS_1))
    x = g.reshape(g.global_average_pool(x), [1, 6])
    return g, g.softmax(g.gemm_with(x, g.normal((10, 6), 1.0), constant([10], value=value(0.02))))


def old_forms(name, opset):
    """Operators whose attributes have moved or gone since opset 1."""
    g = Network(name, opset, (1, 3, 12, 12))
    x = g.relu(g.batch_norm(g.conv("data_0", 8, 3, bias=False, strides=ONE, pads=PADS_1), epsilon=1e-5))
    x = g.relu(g.per_channel(x))
    y = g.conv(x, 8, 3, strides=ONE, pads=PADS_1)
    x = g.sum(g.elementwise("Add", x, y), g.elementwise("Mul", x, y))
    x = g.elementwise("Mul", x, g.uniform((12,), 0.5, 1.5))
    x = g.concat(g.max_pool(x, 2, strides=TWO), g.average_pool(x, 2, strides=TWO))
    x = g.reshape(g.dropout(x, 0.3), [1, -1])
    x = g.relu(g.gemm(x, 5, alpha=0.5, beta=2.0))
    return g, g.softmax(g.gemm(x, 10, scale=0.5), axis=1)


def padding(name, opset):
    """Paddings, dilations and roundings beyond the nine networks."""
    g = Network(name, opset, (1, 3, 23, 19))
    x = g.relu(g.conv("data_0", 8, 3, pads=[0, 2, 1, 0]))
    x = g.relu(g.conv(x, 8, 3, dilations=[2, 3], pads=[2, 3, 2, 3]))
    x = g.relu(g.conv(x, 8, 4, auto_pad="SAME_UPPER", strides=ONE))
    x = g.relu(g.conv(x, 8, 4, auto_pad="SAME_LOWER", strides=[1, 2]))
    x = g.average_pool(x, 3, strides=ONE, pads=[1, 0, 1, 2], count_include_pad=1)
    x = g.relu(g.conv(x, 8, 3, group=2, dilations=TWO, auto_pad="VALID"))
    x = g.concat(g.max_pool(x, 3, strides=TWO, ceil_mode=1), g.average_pool(x, 3, strides=TWO, ceil_mode=1))
    return g, g.conv(x, 4, 1)


def symbolic_batch(name, opset):
    """The first dimension is called n; the stored run has n = 3."""
    g = Network(name, opset, (3, 2, 10, 10), dims=["n", 2, 10, 10], input_name="image")
    x = g.relu(g.batch_norm(g.conv("image", 12, 3, bias=False, strides=ONE, pads=PADS_1)))
    y = g.relu(g.per_channel(g.conv(x, 12, 3, strides=ONE, pads=PADS_1)))
    x = g.node("Add", [x, y])
    one = g.max_pool(x, 2, strides=TWO)
    two = g.average_pool(x, 2, strides=TWO)
    x = g.concat(one, two)
    x = g.reshape(g.transpose(g.reshape(x, [0, 3, 8, 5, 5]), perm=[0, 2, 1, 3, 4]), [-1, 24, 5, 5])
    x = g.dropout(g.lrn(x, size=3, alpha=0.5), 0.5)
    x = g.flatten(g.conv(x, 4, 3, group=4), axis=1)
    x = g.sum(g.gemm(x, 10), g.gemm(x, 10), g.normal((10,), 1.0))
    return g, g.softmax(x)


NETWORKS = {  # name: (function, opset)
    "alexnet_small": (alexnet, 9), "densenet_small": (densenet, 9), "inception_v1_small": (inception_v1, 9),
    "inception_v2_small": (inception_v2, 9), "resnet_small": (resnet, 9), "shufflenet_small": (shufflenet, 9),
    "squeezenet_small": (squeezenet, 9), "vgg_small": (vgg, 9), "zfnet_small": (zfnet, 9),
    "constant_weights": (constant_weights, 9),
    "opset_3": (old_forms, 3), "opset_6": (old_forms, 6), "opset_7": (old_forms, 7), "opset_8": (old_forms, 8),
    "padding": (padding, 11), "opset_13": (symbolic_batch, 13),
}


def reference(model, network):
    """The output by ONNX Runtime, once numpy agrees."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.onnx"
        onnx.save(model, str(path))
        session = Session(path, optimise=False)
    output, = session.run({network.input_name: network.input})
    session.close()
    ours = network.values[model.graph.output[0].name]
    np.testing.assert_allclose(ours, output, rtol=1e-4, atol=1e-6)
    return output


def shown(value):
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, np.ndarray):
        return str(value.tolist())
    return f"{value:g}" if isinstance(value, float) else str(value).replace(" ", "")


def table(models):
    """Markdown: every operator with its attributes, and the networks that show it."""
    rows = collections.defaultdict(list)
    for name, model in models.items():
        for node in model.graph.node:
            attributes = ", ".join(f"{k}={shown(v)}" for k, v in sorted(attributes_of(node).items()))
            operands = f"{len(node.input)} in" + (f", {len(node.output)} out" if len(node.output) > 1 else "")
            networks = rows[node.op_type, operands, attributes]
            if name not in networks:
                networks.append(name)
    lines = ["| operator | operands | attributes | networks |", "|---|---|---|---|"]
    for (kind, operands, attributes), names in sorted(rows.items()):
        lines.append(f"| {kind} | {operands} | {attributes} | {', '.join(names)} |")
    return "\n".join(lines) + "\n"


def main():
    models = {}
    for name, (function, opset) in NETWORKS.items():
        network, output = function(name, opset)
        model = models[name] = network.model(output)
        onnx.checker.check_model(model)
        modern = model
        if opset < 7:
            twin, twin_output = function(name, 9)
            modern = twin.model(twin_output)
            network.values[twin_output] = network.values[output]
        result = reference(modern, network)
        onnx.save(model, str(HERE / f"{name}.onnx"))
        np.save(HERE / f"{name}_input.npy", network.input)
        np.save(HERE / f"{name}_output.npy", result)
        print(f"{name}: {len(model.graph.node)} nodes, output {result.shape} from {result.min():.3g} to {result.max():.3g}")
    readme = HERE / "README.md"
    text = readme.read_text().partition("| operator |")[0]
    readme.write_text(text + table(models))
    print(f"references by ONNX Runtime {runtime().version}")


if __name__ == "__main__":
    main()
