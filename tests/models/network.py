"""Builds small ONNX networks, each operator in the form that an opset asks for."""
import zlib

import numpy as np
from onnx import TensorProto, helper, numpy_helper

import numpy_operators


class Network:
    """A graph under construction. Methods named after operators append a node and return its output's name.

    Every node is evaluated at once with numpy_operators, so shapes are known and `values` holds what ONNX Runtime must find.
    Weights are drawn from a generator seeded by the network's name: the same for every opset.
    """

    def __init__(self, name, opset, input_shape, *, input_scale=1.0, dims=None, weights_as_inputs=None, input_name="data_0"):
        self.name, self.opset = name, opset
        self.rng = np.random.RandomState(zlib.crc32(name.encode()) & 0x7FFFFFFF)
        self.weights_as_inputs = opset < 10 if weights_as_inputs is None else weights_as_inputs
        self.nodes, self.initializers, self.values = [], [], {}
        self.input_name, self.dims = input_name, dims or input_shape
        self.input = (input_scale * self.rng.standard_normal(input_shape)).astype(np.float32)
        self.values[input_name] = self.input

    def shape(self, name):
        return self.values[name].shape

    def initializer(self, value, name=None):
        name = name or f"{self.name}/w_{len(self.initializers)}"
        self.initializers.append(numpy_helper.from_array(value, name))
        self.values[name] = value
        return name

    def normal(self, shape, scale):
        return self.initializer((scale * self.rng.standard_normal(shape)).astype(np.float32))

    def uniform(self, shape, low, high):
        return self.initializer(self.rng.uniform(low, high, shape).astype(np.float32))

    def ints(self, values):
        return self.initializer(np.array(values, np.int64))

    def node(self, kind, inputs, outputs=1, **attributes):
        names = [f"{self.name}/{kind.lower()}_{len(self.nodes)}" + (f"_{i}" if i else "") for i in range(outputs)]
        node = helper.make_node(kind, inputs, names, names[0], **attributes)
        self.nodes.append(node)
        self.values[names[0]] = numpy_operators.apply(node, self.opset, [self.values[i] for i in inputs])
        return names[0]

    # Form of opset 1 only: the list of inputs that may be overwritten.
    def consumed(self, *inputs):
        return {"consumed_inputs": list(inputs)} if self.opset < 6 else {}

    def conv(self, x, channels, kernel, *, bias=True, weight=None, **attributes):
        inputs = self.shape(x)[1] // attributes.get("group", 1)
        weight = weight or self.normal((channels, inputs, kernel, kernel), np.sqrt(2 / (inputs * kernel * kernel)))
        operands = [x, weight, self.normal((channels,), 0.1)] if bias else [x, weight]
        return self.node("Conv", operands, kernel_shape=[kernel, kernel], **attributes)

    def batch_norm(self, x, **attributes):
        channels = self.shape(x)[1]
        scale, bias = self.uniform(channels, 0.5, 1.5), self.normal(channels, 0.1)
        mean, var = self.normal(channels, 0.1), self.uniform(channels, 0.5, 1.5)
        if self.opset < 9:
            attributes["spatial"] = 1
        if self.opset < 7:
            attributes["is_test"] = 1
        return self.node("BatchNormalization", [x, scale, bias, mean, var], **attributes, **self.consumed(0, 0, 0, 1, 1))

    def relu(self, x):
        return self.node("Relu", [x], **self.consumed(0))

    def max_pool(self, x, kernel, **attributes):
        return self.node("MaxPool", [x], kernel_shape=[kernel, kernel], **attributes)

    def average_pool(self, x, kernel, **attributes):
        return self.node("AveragePool", [x], kernel_shape=[kernel, kernel], **attributes)

    def global_average_pool(self, x):
        return self.node("GlobalAveragePool", [x])

    def lrn(self, x, **attributes):
        return self.node("LRN", [x], **attributes)

    def dropout(self, x, ratio):
        if self.opset < 7:
            return self.node("Dropout", [x], 2, ratio=ratio, is_test=1, **self.consumed(0))
        if self.opset < 12:
            return self.node("Dropout", [x], 2, ratio=ratio)
        return self.node("Dropout", [x, self.initializer(np.float32(ratio))])

    def reshape(self, x, shape):
        if self.opset < 5:
            return self.node("Reshape", [x], shape=shape, **self.consumed(0))
        return self.node("Reshape", [x, self.ints(shape)])

    def transpose(self, x, **attributes):
        return self.node("Transpose", [x], **attributes)

    def flatten(self, x, **attributes):
        return self.node("Flatten", [x], **attributes)

    def unsqueeze(self, x, axes):
        if self.opset < 13:
            return self.node("Unsqueeze", [x], axes=axes)
        return self.node("Unsqueeze", [x, self.ints(axes)])

    def elementwise(self, kind, x, y, axis=None):
        """Add or Mul; y's axes begin at `axis` of x, or are x's last ones."""
        if self.opset < 7 and self.shape(x) != self.shape(y):
            return self.node(kind, [x, y], broadcast=1, **({} if axis is None else {"axis": axis}), **self.consumed(0, 0))
        if axis is not None:
            y = self.unsqueeze(y, list(range(len(self.shape(y)), len(self.shape(x)) - axis)))
        return self.node(kind, [x, y], **self.consumed(0, 0))

    def per_channel(self, x):
        """Mul and Add with one number per channel: how some exporters write batch normalisation's second half."""
        channels = self.shape(x)[1]
        x = self.elementwise("Mul", x, self.uniform(channels, 0.5, 1.5), axis=1)
        return self.elementwise("Add", x, self.normal(channels, 0.1), axis=1)

    def sum(self, *xs):
        return self.node("Sum", xs, **self.consumed(*[0] * len(xs)))

    def concat(self, *xs):
        return self.node("Concat", xs, axis=1)

    def gemm(self, x, outputs, scale=1.0, **attributes):
        """A dense layer, the weights stored as [outputs, inputs]."""
        inputs = self.shape(x)[1]
        weight = self.normal((outputs, inputs), scale / np.sqrt(inputs))
        return self.gemm_with(x, weight, self.normal((outputs,), 0.1), **attributes)

    def gemm_with(self, x, weight, bias, **attributes):
        old = {"broadcast": 1} if self.opset < 7 else {}
        return self.node("Gemm", [x, weight, bias], transB=1, **attributes, **old)

    def softmax(self, x, **attributes):
        return self.node("Softmax", [x], **attributes)

    def model(self, output):
        """The finished model; `output` names its one output."""
        info = helper.make_tensor_value_info
        inputs = [info(self.input_name, TensorProto.FLOAT, self.dims)]
        if self.weights_as_inputs:
            inputs += [info(i.name, i.data_type, list(i.dims)) for i in self.initializers]
        shape = self.shape(output)
        dims = [self.dims[0], *shape[1:]]
        graph = helper.make_graph(self.nodes, self.name, inputs, [info(output, TensorProto.FLOAT, dims)], self.initializers)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], producer_name="generate.py",
                                 ir_version=3 if self.opset < 10 else 7)
