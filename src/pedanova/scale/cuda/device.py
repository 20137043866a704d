"""Find the GPU, wrap arrays in its memory, and compile CUDA kernels when they are first needed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pedanova.errors import Arg, DataError, listed, missing_library

WORDS = {  # types of NumPy → C++
    np.dtype(name): word
    for name, word in {
        "float32": "float", "float64": "double", "int8": "signed char", "uint8": "u8", "int16": "short",
        "uint16": "u16", "int32": "int", "uint32": "u32", "int64": "i64", "uint64": "u64",
    }.items()
}  # fmt: skip
CUDA_IN_DLPACK = (2, 13)  # device types of CUDA and of its managed memory
THREADS = 512  # threads of a block
SMALL_TABLE = 1 << 18  # a table with fewer values is copied to main memory


@lru_cache(maxsize=1)
def library() -> Any:
    """The module CuPy; raises an error if it is not installed or no GPU responds."""
    try:
        import cupy
    except ImportError:
        raise missing_library("counting on a GPU needs CuPy", "cuda") from None
    try:
        devices = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise DataError(f"no GPU can be used ({error}); leave engine='cuda' out to count on the CPU") from None
    if not devices:
        raise DataError("this machine has no CUDA GPU; leave engine='cuda' out to count on the CPU")
    return cupy


def is_on_device(values: object) -> bool:
    if isinstance(values, np.ndarray | list | tuple | str | bytes):
        return False
    if getattr(type(values), "__cuda_array_interface__", None) is not None:
        try:
            return getattr(values, "__cuda_array_interface__", None) is not None
        except (AttributeError, TypeError, RuntimeError):  # PyTorch tensors that are not on a GPU raise an error
            return False
    where = getattr(values, "__dlpack_device__", None)
    try:
        return where is not None and int(where()[0]) in CUDA_IN_DLPACK
    except (AttributeError, TypeError, ValueError, RuntimeError):
        return False


def as_device_array(name: str, values: object) -> Any:
    """A CuPy array that shares memory with `values`; types that the CUDA kernels cannot read are converted."""
    cupy = library()
    try:
        if getattr(values, "requires_grad", False):
            values = values.detach()  # type: ignore[attr-defined]
        shared = hasattr(values, "__cuda_array_interface__")
        array = cupy.asarray(values) if shared else cupy.from_dlpack(values)
    except (TypeError, ValueError, RuntimeError, BufferError) as error:
        raise DataError(f"{name}: the array cannot be read from the GPU: {error}") from None
    if array.ndim != 1:
        raise DataError(f"{name}: an array of shape {array.shape} is not a column; give one number per row")
    if array.dtype == np.bool_:
        return array.view(np.uint8)
    if array.dtype == np.float16:
        return array.astype(np.float32)
    if array.dtype not in WORDS:
        raise DataError(f"{name}: {array.dtype} cannot be counted on a GPU; turn it into numbers")
    return array


@dataclass(frozen=True, slots=True, eq=False)
class OnDevice:
    """A table of columns in the memory of a GPU, to be counted on that GPU."""

    columns: Mapping[str, Any]


def table_on_device(data: object, names: Sequence[str] | None, *, engine: str | None) -> object:
    """Wrap a table in GPU memory as `OnDevice`, or copy it to main memory if it is small or `engine` is "cpu"."""
    columns = columns_on_device(data, names)
    if columns is None and engine == "cuda":
        library()
        words = " needs columns in GPU memory; copy the columns with cupy.asarray, or leave the option out"
        raise DataError(Arg("engine", "cuda"), words)
    if columns is None:
        return data
    arrays = {name: as_device_array(name, values) for name, values in columns.items()}
    small = sum(len(values) for values in arrays.values()) <= SMALL_TABLE
    if engine == "cpu" or (engine is None and small):
        return {name: library().asnumpy(array) for name, array in arrays.items()}
    return OnDevice(arrays)


def columns_on_device(data: object, names: Sequence[str] | None) -> dict[str, Any] | None:
    if names is not None and is_on_device(data) and getattr(data, "ndim", 0) == 2:
        table: Any = data
        if table.shape[1] != len(names):
            raise DataError(Arg("names"), f" has {len(names)} names for {table.shape[1]} columns")
        return {str(name): table[:, i] for i, name in enumerate(names)}
    if type(data).__module__.split(".")[0] == "cudf":
        frame: Any = data
        return {str(name): frame[name].values for name in frame.columns}
    if not isinstance(data, Mapping) or not any(is_on_device(values) for values in data.values()):
        return None
    elsewhere = [str(name) for name, values in data.items() if not is_on_device(values)]
    if elsewhere:
        raise DataError(f"some columns are on the GPU, but not {listed(elsewhere)}; copy all columns to the GPU")
    return {str(name): values for name, values in data.items()}


@dataclass(frozen=True, slots=True)
class DeviceArray:
    """An array for a CUDA kernel, with its stride, counted in values."""

    array: Any
    stride: int
    dense: bool  # whether four values can be read at once

    @classmethod
    def of(cls, array: Any) -> DeviceArray:
        size = array.dtype.itemsize
        step = array.strides[0] if len(array) > 1 else size
        if step % size:
            array = array.copy()
            step = size
        return cls(array, step // size, bool(step == size and array.data.ptr % (4 * size) == 0))

    @property
    def word(self) -> str:
        return WORDS[self.array.dtype]

    def read_by(self, name: str, *given: Any, words: Sequence[str] = (), shared: int = 0) -> None:
        """Launch the CUDA kernel `name` on all values; `words` are further arguments of the kernel's C++ template."""
        function = kernel(name, self.word, *words, "true" if self.dense else "false", shared=shared)
        rows, (processors, _) = len(self.array), here()
        head = self.array, np.int64(self.stride), np.int64(rows)
        launch(function, blocks_for(rows, 4 * THREADS, 3 * processors), THREADS, (*head, *given), shared)


@lru_cache(maxsize=256)
def kernel(name: str, *arguments: str, shared: int = 0, file: str = "kernels.cu") -> Any:
    """Compile the CUDA kernel `name` with these template arguments; it will use `shared` bytes of shared memory."""
    from importlib import resources  # slow to import

    cupy = library()
    instance = f"{name}<{', '.join(arguments)}>"
    text = (resources.files("pedanova.scale.cuda") / file).read_text(encoding="utf-8")
    module = cupy.RawModule(code=text, options=("-std=c++17",), name_expressions=[instance])
    try:
        function = module.get_function(instance)
    except (cupy.cuda.compiler.CompileException, RuntimeError, ImportError, OSError) as error:
        why = next(iter(str(error).strip().splitlines()), type(error).__name__)
        check = "check that CuPy fits the driver (python -c 'import cupy; cupy.show_config()')"
        remedy = f"{check}, or pass scan=pa.Scan(engine='cpu')"
        raise DataError(f"the GPU code could not be compiled ({why}); {remedy}") from None
    if shared > 48 * 1024:  # the limit is set again, because calls differ in their needs
        function.max_dynamic_shared_size_bytes = here()[1]
    return function


@lru_cache(maxsize=8)
def room(device: int) -> tuple[int, int]:
    """The number of multiprocessors of a GPU, and the bytes of shared memory available to one block."""
    cupy = library()
    facts = cupy.cuda.runtime.getDeviceProperties(device)
    optin = int(facts.get("sharedMemPerBlockOptin", 48 * 1024))
    return int(facts["multiProcessorCount"]), optin - 1024


def launch(function: Any, blocks: int, threads: int, arguments: Sequence[Any], shared: int = 0) -> None:
    function((blocks,), (threads,), tuple(arguments), shared_mem=shared)


def fetching(array: Any) -> Callable[[], NDArray[Any]]:
    """Start to copy an array from the GPU to main memory; the result waits for the copy and returns it."""
    host = pinned(array.size, array.dtype).reshape(array.shape)
    array.data.copy_to_host_async(host.ctypes.data, array.nbytes)
    end = library().cuda.Event(disable_timing=True)
    end.record()

    def wait() -> NDArray[Any]:
        end.synchronize()
        return host

    return wait


def pinned(size: int, dtype: Any) -> NDArray[Any]:
    """An array in page-locked memory, which the GPU can read and write directly."""
    room = library().cuda.alloc_pinned_memory(size * np.dtype(dtype).itemsize)
    return np.frombuffer(room, dtype=dtype, count=size)


def blocks_for(rows: int, each: int, most: int) -> int:
    """The number of blocks to launch if one block processes `each` rows: at least 1 and at most `most`."""
    return max(1, min(most, -(-rows // each)))


def here() -> tuple[int, int]:
    """The result of `room` for the GPU in use."""
    return room(library().cuda.runtime.getDevice())
