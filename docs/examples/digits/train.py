#!/usr/bin/env python3
"""Trains the digit classifier of the demo: scikit-learn's digits (8 x 8 grey images of handwriting) in, ONNX out.

    /usr/bin/python3 train.py [FOLDER]

writes FOLDER/digits.onnx and FOLDER/digits_test.npz (FOLDER: where this script is). Only numpy does arithmetic; the seed
fixes the split, the weights and the order of training, so a second run gives the same files. Takes about a minute.
Needs Debian's python3-numpy, python3-sklearn and python3-onnx.
"""
import os
import pathlib
import sys

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # another number of threads would round differently

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from sklearn.datasets import load_digits

SEED = 20
HELD_OUT = 400
EPOCHS = 30
BATCH = 64
EPSILON = 1e-5
rng = np.random.RandomState(SEED)


def windows(x):
    """The 3 x 3 neighbourhood of every pixel, zero outside: [n, h, w, c] -> [n, h, w, 9 c]."""
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    h, w = x.shape[1:3]
    return np.concatenate([padded[:, i:i + h, j:j + w] for i in range(3) for j in range(3)], axis=3)


# Layers keep activations as [n, height, width, channels]. forward(x, training) -> y; backward(dy) -> dx fills `grads`.
# `params` and `grads` are lists of arrays that belong together; nodes(...) gives the layer in ONNX's terms.


class Conv:
    """3 x 3 convolution, stride 1, zero padding, no bias: batch normalisation follows."""

    def __init__(self, inputs, outputs):
        self.params = [(rng.standard_normal((9 * inputs, outputs)) * np.sqrt(2 / (9 * inputs))).astype(np.float32)]

    def forward(self, x, training):
        self.columns = windows(x)
        return self.columns @ self.params[0]

    def backward(self, dy):
        outputs = dy.shape[3]
        flat = dy.reshape(-1, outputs)
        self.grads = [self.columns.reshape(len(flat), -1).T @ flat]
        # The gradient of a convolution is one with the weights turned by 180 degrees and transposed.
        turned = self.params[0].reshape(9, -1, outputs)[::-1].transpose(0, 2, 1)
        return windows(dy) @ np.ascontiguousarray(turned).reshape(9 * outputs, -1)

    def nodes(self, x, y, weights):
        inputs, outputs = len(self.params[0]) // 9, self.params[0].shape[1]
        w = weights(y + "_weight", self.params[0].reshape(3, 3, inputs, outputs).transpose(3, 2, 0, 1))
        return [helper.make_node("Conv", [x, w], [y], y, kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[1, 1])]


class BatchNorm:
    """Normalises each channel by the batch in training, by running averages otherwise."""

    def __init__(self, channels):
        self.params = [np.ones(channels, np.float32), np.zeros(channels, np.float32)]
        self.mean, self.var = np.zeros(channels, np.float32), np.ones(channels, np.float32)

    def forward(self, x, training):
        if not training:
            return (x - self.mean) / np.sqrt(self.var + EPSILON) * self.params[0] + self.params[1]
        mean, var = x.mean((0, 1, 2)), x.var((0, 1, 2))
        self.mean += 0.1 * (mean - self.mean)
        self.var += 0.1 * (var - self.var)
        self.factor = 1 / np.sqrt(var + EPSILON)
        self.normal = (x - mean) * self.factor
        return self.normal * self.params[0] + self.params[1]

    def backward(self, dy):
        self.grads = [(dy * self.normal).sum((0, 1, 2)), dy.sum((0, 1, 2))]
        dn = dy * self.params[0]
        return self.factor * (dn - dn.mean((0, 1, 2)) - self.normal * (dn * self.normal).mean((0, 1, 2)))

    def nodes(self, x, y, weights):
        values = zip(("scale", "bias", "mean", "var"), (*self.params, self.mean, self.var))
        names = [weights(f"{y}_{name}", value) for name, value in values]
        return [helper.make_node("BatchNormalization", [x, *names], [y], y, epsilon=EPSILON)]


class Relu:
    params = grads = ()

    def forward(self, x, training):
        self.positive = x > 0
        return x * self.positive

    def backward(self, dy):
        return dy * self.positive

    def nodes(self, x, y, weights):
        return [helper.make_node("Relu", [x], [y], y)]


class MaxPool:
    """2 x 2, stride 2."""

    params = grads = ()

    def forward(self, x, training):
        n, h, w, c = x.shape
        blocks = x.reshape(n, h // 2, 2, w // 2, 2, c)
        y = blocks.max((2, 4))
        self.chosen = blocks == y[:, :, None, :, None]
        return y

    def backward(self, dy):
        n, h, w, c = dy.shape
        return (self.chosen * dy[:, :, None, :, None]).reshape(n, 2 * h, 2 * w, c)

    def nodes(self, x, y, weights):
        return [helper.make_node("MaxPool", [x], [y], y, kernel_shape=[2, 2], strides=[2, 2])]


class Flatten:
    """To [n, features] in ONNX's order, channels first."""

    params = grads = ()

    def forward(self, x, training):
        self.shape = x.shape
        return x.transpose(0, 3, 1, 2).reshape(len(x), -1)

    def backward(self, dy):
        n, h, w, c = self.shape
        return dy.reshape(n, c, h, w).transpose(0, 2, 3, 1)

    def nodes(self, x, y, weights):
        return [helper.make_node("Flatten", [x], [y], y, axis=1)]


class Dense:
    def __init__(self, inputs, outputs):
        weight = rng.standard_normal((inputs, outputs)) / np.sqrt(inputs)
        self.params = [weight.astype(np.float32), np.zeros(outputs, np.float32)]

    def forward(self, x, training):
        self.x = x
        return x @ self.params[0] + self.params[1]

    def backward(self, dy):
        self.grads = [self.x.T @ dy, dy.sum(0)]
        return dy @ self.params[0].T

    def nodes(self, x, y, weights):
        names = [weights(y + "_weight", self.params[0].T), weights(y + "_bias", self.params[1])]
        return [helper.make_node("Gemm", [x, *names], [y], y, transB=1)]


def build():
    """(name, layer) in order; the last one gives the scores before softmax."""
    return [
        ("conv1", Conv(1, 16)), ("norm1", BatchNorm(16)), ("relu1", Relu()),
        ("conv2", Conv(16, 32)), ("norm2", BatchNorm(32)), ("relu2", Relu()), ("pool2", MaxPool()),
        ("conv3", Conv(32, 32)), ("norm3", BatchNorm(32)), ("relu3", Relu()), ("pool3", MaxPool()),
        ("flatten", Flatten()), ("scores", Dense(128, 10)),
    ]


def predict(layers, images):
    """Probabilities [n, 10] of images [n, 1, 8, 8]."""
    x = images.transpose(0, 2, 3, 1)
    for _, layer in layers:
        x = layer.forward(x, training=False)
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def shifted(images):
    """Each image moved by up to one pixel in both directions."""
    padded = np.pad(images, ((0, 0), (0, 0), (1, 1), (1, 1)))
    moves = rng.randint(0, 3, (len(images), 2))
    return np.stack([image[:, i:i + 8, j:j + 8] for image, (i, j) in zip(padded, moves)])


def train(layers, images, labels):
    """Adam on the cross entropy, the rate falling linearly to zero."""
    moments = {name: [(np.zeros_like(p), np.zeros_like(p)) for p in layer.params] for name, layer in layers}
    steps_per_epoch = len(images) // BATCH
    step, steps = 0, EPOCHS * steps_per_epoch
    for epoch in range(EPOCHS):
        order, loss = rng.permutation(len(images)), 0.0
        for k in range(steps_per_epoch):
            chosen = order[k * BATCH:(k + 1) * BATCH]
            x, target = shifted(images[chosen]).transpose(0, 2, 3, 1), labels[chosen]
            for _, layer in layers:
                x = layer.forward(x, training=True)
            p = np.exp(x - x.max(1, keepdims=True))
            p /= p.sum(1, keepdims=True)
            loss -= np.log(p[np.arange(BATCH), target]).mean()
            gradient = p
            gradient[np.arange(BATCH), target] -= 1
            gradient /= BATCH
            for _, layer in reversed(layers):
                gradient = layer.backward(gradient)
            step += 1
            rate = 3e-3 * (1 - step / steps) * np.sqrt(1 - 0.999**step) / (1 - 0.9**step)
            for name, layer in layers:
                for p, g, (m, v) in zip(layer.params, layer.grads, moments[name]):
                    m += 0.1 * (g - m)
                    v += 0.001 * (g * g - v)
                    p -= np.float32(rate) * m / (np.sqrt(v) + 1e-8)
        print(f"epoch {epoch + 1:2} of {EPOCHS}: loss {loss / steps_per_epoch:.4f}", flush=True)


def export(layers, path):
    initializers, nodes, x = [], [], "image"

    def weights(name, value):
        initializers.append(numpy_helper.from_array(np.ascontiguousarray(value, np.float32), name))
        return name

    for name, layer in layers:
        nodes += layer.nodes(x, name, weights)
        x = name
    nodes.append(helper.make_node("Softmax", [x], ["probability"], "probability", axis=1))
    graph = helper.make_graph(
        nodes, "digits",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["n", 1, 8, 8])],
        [helper.make_tensor_value_info("probability", TensorProto.FLOAT, ["n", 10])],
        initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], producer_name="train.py", ir_version=7)
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, str(path))


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__).resolve()
    folder = folder.parent if folder.is_file() else folder
    digits = load_digits()
    images = (digits.images / 16).astype(np.float32)[:, None]  # grey values from 0 to 1
    labels = digits.target.astype(np.int64)
    order = np.random.RandomState(SEED).permutation(len(images))
    held_out, training = order[:HELD_OUT], order[HELD_OUT:]

    layers = build()
    train(layers, images[training], labels[training])
    accuracy = (predict(layers, images[held_out]).argmax(1) == labels[held_out]).mean()
    print(f"accuracy on {HELD_OUT} held-out images: {accuracy:.2%}")

    export(layers, folder / "digits.onnx")
    np.savez(folder / "digits_test.npz", image=images[held_out], label=labels[held_out])


if __name__ == "__main__":
    main()
