"""Test folders made here: models of one node or a few, inputs, and what must come out, for `ingot onnx-test`."""
import pathlib
import shutil
import subprocess
import sys
import tempfile

import onnx
from onnx import TensorProto, helper, numpy_helper

# Types that are newer than the installed package, by their numbers in onnx.proto.
FLOAT8E4M3FN, FLOAT8E5M2, UINT4, INT4, FLOAT4E2M1, FLOAT8E8M0, UINT2, INT2 = 17, 19, 21, 22, 23, 24, 25, 26


def stored(dtype, dims, data):
    """A tensor of a type that only stores numbers, from the bytes that hold them."""
    return TensorProto(data_type=dtype, dims=dims, raw_data=bytes(data))


def tensor_of(value):
    return value if isinstance(value, TensorProto) else numpy_helper.from_array(value)


class Cases:
    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.count = 0

    def add(self, name, nodes, inputs, outputs, opset=23, initializers=None, domains=(("com.microsoft", 1),)):
        """`inputs` and `outputs`: arrays or TensorProtos by name; initializers: the inputs that are constants."""
        nodes = nodes if isinstance(nodes, list) else [nodes]
        tensors = {key: tensor_of(value) for key, value in {**inputs, **outputs, **(initializers or {})}.items()}

        def info(key):
            proto = onnx.ValueInfoProto(name=key)
            proto.type.tensor_type.elem_type = tensors[key].data_type
            proto.type.tensor_type.shape.SetInParent()
            for size in tensors[key].dims:
                proto.type.tensor_type.shape.dim.add(dim_value=size)
            return proto

        constants = []
        for key in initializers or {}:
            constants.append(onnx.TensorProto())
            constants[-1].CopyFrom(tensors[key])
            constants[-1].name = key
        graph = helper.make_graph(nodes, name, [info(k) for k in inputs], [info(k) for k in outputs], constants)
        imports = [helper.make_opsetid("", opset), *(helper.make_opsetid(*domain) for domain in domains)]
        folder = pathlib.Path(self.folder.name) / name
        data = folder / "test_data_set_0"
        data.mkdir(parents=True)
        (folder / "model.onnx").write_bytes(helper.make_model(graph, opset_imports=imports).SerializeToString())
        for kind, values in (("input", inputs), ("output", outputs)):
            for i, key in enumerate(values):
                (data / f"{kind}_{i}.pb").write_bytes(tensors[key].SerializeToString())
        self.count += 1

    def run(self, tool=None):
        """Arguments --write FOLDER only write the test folders."""
        if sys.argv[1] == "--write":
            shutil.copytree(self.folder.name, sys.argv[2])
            return 0
        done = subprocess.run([tool or sys.argv[1], "onnx-test", "--quiet", self.folder.name], capture_output=True,
                              text=True, timeout=120)
        print(done.stdout + done.stderr, end="")
        passed = done.returncode == 0 and f"{self.count} of {self.count} passed" in done.stdout
        self.folder.cleanup()
        return 0 if passed else 1
