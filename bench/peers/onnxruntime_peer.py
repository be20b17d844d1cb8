#!/usr/bin/env python3
"""ONNX Runtime, driven through its C interface, as a module and as a runner for the benchmarks.

As a module:

    session = Session("model.onnx", threads=1)
    outputs = session.run({"image": array})                # a list of arrays

As a program it speaks the protocol of bench/runner.py on stdin and stdout. The library comes out of the npm package that
bench/peers/install.py puts into build/peers; the environment variable ORT_LIBRARY names another one.
"""
import ctypes
import os
import pathlib
import sys
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from runner import arange_input, serve

ROOT = pathlib.Path(__file__).resolve().parents[2]
API_VERSION = 17  # the oldest that has what we call; newer libraries serve it as well

# Where the function table of onnxruntime_c_api.h (struct OrtApi) holds what we call. Entries never move.
POSITIONS = {
    "GetErrorMessage": 2, "CreateEnv": 3, "CreateSession": 7, "Run": 9, "CreateSessionOptions": 10,
    "SetSessionLogSeverityLevel": 22, "SetSessionGraphOptimizationLevel": 23, "SetIntraOpNumThreads": 24,
    "SetInterOpNumThreads": 25, "SessionGetInputCount": 30, "SessionGetOutputCount": 31, "SessionGetInputName": 36,
    "SessionGetOutputName": 37, "CreateTensorWithDataAsOrtValue": 49, "GetTensorMutableData": 51,
    "GetTensorElementType": 60, "GetDimensionsCount": 61, "GetDimensions": 62, "GetTensorTypeAndShape": 65,
    "CreateCpuMemoryInfo": 69, "AllocatorFree": 76, "GetAllocatorWithDefaultOptions": 78, "ReleaseStatus": 93,
    "ReleaseSession": 95, "ReleaseValue": 96, "ReleaseTensorTypeAndShapeInfo": 99, "ReleaseSessionOptions": 100,
}
RETURN_NO_STATUS = {
    "GetErrorMessage": ctypes.c_char_p, "ReleaseStatus": None, "ReleaseSession": None, "ReleaseValue": None,
    "ReleaseTensorTypeAndShapeInfo": None, "ReleaseSessionOptions": None,
}
ELEMENT_TYPES = {1: np.float32, 2: np.uint8, 3: np.int8, 6: np.int32, 7: np.int64, 9: np.bool_, 11: np.float64}
ELEMENT_NUMBERS = {np.dtype(dtype): number for number, dtype in ELEMENT_TYPES.items()}


def find_library():
    """The path of libonnxruntime.so.1, or None."""
    if "ORT_LIBRARY" in os.environ:
        return pathlib.Path(os.environ["ORT_LIBRARY"])
    package = ROOT / "build/peers/node_modules/onnxruntime-node"
    return next(iter(sorted(package.glob("bin/napi-v*/linux/x64/libonnxruntime.so.1"))), None)


class Runtime:
    """The function table: runtime.CreateEnv(...) and so on. Arguments are passed as ctypes objects, None or bytes;
    a function that reports an error raises RuntimeError."""

    def __init__(self, path):
        library = ctypes.CDLL(str(path))
        library.OrtGetApiBase.restype = ctypes.POINTER(ctypes.c_void_p * 2)
        get_api, get_version = library.OrtGetApiBase().contents
        self.version = ctypes.CFUNCTYPE(ctypes.c_char_p)(get_version)().decode()
        table = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint32)(get_api)(API_VERSION)
        if not table:
            raise RuntimeError(f"ONNX Runtime {self.version} does not have version {API_VERSION} of the C interface")
        self.table = ctypes.cast(table, ctypes.POINTER(ctypes.c_void_p))
        self.environment = self.made("CreateEnv", ctypes.c_int(4), b"ingot")
        self.memory = self.made("CreateCpuMemoryInfo", ctypes.c_int(0), ctypes.c_int(0))
        self.allocator = self.made("GetAllocatorWithDefaultOptions")

    def __getattr__(self, name):
        # A prototype without argument types passes pointers and integers as they are.
        prototype = ctypes.CFUNCTYPE(RETURN_NO_STATUS.get(name, ctypes.c_void_p))
        function = prototype(self.table[POSITIONS[name]])
        if name not in RETURN_NO_STATUS:
            function.errcheck = self.raise_on_error
        setattr(self, name, function)
        return function

    def raise_on_error(self, status, function, arguments):
        if status:
            message = self.GetErrorMessage(ctypes.c_void_p(status)).decode(errors="replace")
            self.ReleaseStatus(ctypes.c_void_p(status))
            raise RuntimeError(message)

    def made(self, name, *arguments, kind=ctypes.c_void_p):
        """Calls a function whose last parameter receives the result."""
        result = kind()
        getattr(self, name)(*arguments, ctypes.byref(result))
        return result


_runtime = None


def runtime():
    """The one Runtime of this process."""
    global _runtime
    if _runtime is None:
        library = find_library()
        if library is None:
            raise RuntimeError("ONNX Runtime is not installed: python3 bench/peers/install.py onnxruntime")
        _runtime = Runtime(library)
    return _runtime


class Session:
    """A loaded model. `optimise=False` switches all graph optimisations off."""

    def __init__(self, path, threads=1, optimise=True):
        ort = runtime()
        options = ort.made("CreateSessionOptions")
        ort.SetSessionGraphOptimizationLevel(options, ctypes.c_int(99 if optimise else 0))
        ort.SetIntraOpNumThreads(options, ctypes.c_int(threads))
        ort.SetInterOpNumThreads(options, ctypes.c_int(1))
        ort.SetSessionLogSeverityLevel(options, ctypes.c_int(4))
        try:
            self.handle = ort.made("CreateSession", ort.environment, os.fsencode(path), options)
        finally:
            ort.ReleaseSessionOptions(options)
        self.inputs = self._names("Input")
        self.outputs = self._names("Output")
        self.bound = []

    def close(self):
        self.bind({})
        runtime().ReleaseSession(self.handle)

    def _names(self, which):
        ort, names = runtime(), []
        for i in range(ort.made(f"SessionGet{which}Count", self.handle, kind=ctypes.c_size_t).value):
            text = ort.made(f"SessionGet{which}Name", self.handle, ctypes.c_size_t(i), ort.allocator)
            names.append(ctypes.cast(text, ctypes.c_char_p).value)
            ort.AllocatorFree(ort.allocator, text)
        return [name.decode() for name in names]

    def bind(self, feeds):
        """Makes the arrays of `feeds` the inputs of the runs to come."""
        ort = runtime()
        for _, value in self.bound:
            ort.ReleaseValue(value)
        self.bound = []
        for array in feeds.values():
            array = np.require(array, requirements="C")
            dims = (ctypes.c_int64 * array.ndim)(*array.shape)
            value = ort.made("CreateTensorWithDataAsOrtValue", ort.memory, ctypes.c_void_p(array.ctypes.data),
                             ctypes.c_size_t(array.nbytes), dims, ctypes.c_size_t(array.ndim),
                             ctypes.c_int(ELEMENT_NUMBERS[array.dtype]))
            self.bound.append((array, value))
        values = [value.value for _, value in self.bound]
        names = [name.encode() for name in feeds]
        results = [name.encode() for name in self.outputs]
        self.arrays = ((ctypes.c_char_p * len(names))(*names), (ctypes.c_void_p * len(values))(*values),
                       (ctypes.c_char_p * len(results))(*results), (ctypes.c_void_p * len(results))())

    def run_bound(self):
        """Runs once; the results stay with ONNX Runtime until `results` or `drop_results`."""
        in_names, in_values, out_names, out_values = self.arrays
        runtime().Run(self.handle, None, in_names, in_values, ctypes.c_size_t(len(in_names)), out_names,
                      ctypes.c_size_t(len(out_names)), out_values)

    def drop_results(self):
        out_values = self.arrays[3]
        for i, value in enumerate(out_values):
            runtime().ReleaseValue(ctypes.c_void_p(value))
            out_values[i] = None

    def results(self):
        arrays = [self._copy(ctypes.c_void_p(value)) for value in self.arrays[3]]
        self.drop_results()
        return arrays

    def run(self, feeds):
        self.bind(feeds)
        self.run_bound()
        return self.results()

    @staticmethod
    def _copy(value):
        ort = runtime()
        info = ort.made("GetTensorTypeAndShape", value)
        dtype = np.dtype(ELEMENT_TYPES[ort.made("GetTensorElementType", info, kind=ctypes.c_int).value])
        rank = ort.made("GetDimensionsCount", info, kind=ctypes.c_size_t).value
        dims = (ctypes.c_int64 * rank)()
        ort.GetDimensions(info, dims, ctypes.c_size_t(rank))
        ort.ReleaseTensorTypeAndShapeInfo(info)
        count = int(np.prod(dims, dtype=np.int64))
        data = ort.made("GetTensorMutableData", value)
        return np.frombuffer(ctypes.string_at(data, count * dtype.itemsize), dtype).reshape(tuple(dims))


class Runner:
    """The commands of the protocol."""

    def version(self):
        return f"onnxruntime {runtime().version}"

    def load(self, threads, path):
        start = time.perf_counter_ns()
        self.session = Session(path, int(threads))
        took = time.perf_counter_ns() - start
        self.feeds = {}
        return took / 1e3

    def input(self, position, shape):
        self._feed(position, arange_input(shape))

    def scalar(self, position, number):
        self._feed(position, np.array(int(number), np.int64))

    def _feed(self, position, array):
        self.feeds[self.session.inputs[int(position)]] = array
        if len(self.feeds) == len(self.session.inputs):
            self.session.bind(self.feeds)

    def run(self, count):
        times = []
        for _ in range(int(count)):
            start = time.perf_counter_ns()
            self.session.run_bound()
            times.append((time.perf_counter_ns() - start) / 1e3)
            self.session.drop_results()
        return times

    def output(self, path):
        self.session.run_bound()
        self.session.results()[0].astype(np.float32).tofile(path)

    def unload(self):
        self.session.close()
        del self.session


if __name__ == "__main__":
    serve(Runner())
