"""Devices, and the contexts on them."""
from __future__ import annotations

import dataclasses
import os
import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from abut import _drivers
from abut._native import BUILDS, Error, check, ffi, lib, text_of
from abut._progress import Progress, teller

if TYPE_CHECKING:  # the only import of a higher layer, and only for types: contexts make bodies, and bodies refer to contexts
    from abut import _makers

__all__ = ["Context", "Device", "DeviceReport", "default_context", "devices"]

_PRECISIONS = {"f32": 0, "float32": 0, "f64": 1, "float64": 1}
_TYPES = ("host", "cpu", "gpu", "other")


@dataclasses.dataclass(frozen=True)
class Device:
    """A device, with the properties that `abut devices` lists."""

    index: int
    type: str
    name: str
    platform: str
    driver: str
    has_float64: bool
    compute_units: int
    memory_bytes: int


Device.__module__ = "abut"  # for pickle


class DeviceReport(NamedTuple):
    """State of a device of a context; `error` is "" for a working device."""

    device: Device
    error: str
    chunks: int
    elements: int


DeviceReport.__module__ = "abut"  # for pickle


def _device(info: Any) -> Device:
    return Device(info.index, _TYPES[info.type], text_of(info.name), text_of(info.platform),
                  text_of(info.driver), bool(info.has_float64), info.compute_units,
                  info.memory_bytes)


def devices() -> list[Device]:
    """Lists every OpenCL device, then the host path, which is slow and always available."""
    _drivers.prepare()
    count = ffi.new("size_t *")
    check(lib.abut_list_devices(ffi.NULL, 0, count))
    infos = ffi.new("abut_device_info[]", count[0])
    check(lib.abut_list_devices(infos, count[0], count))
    return [_device(infos[i]) for i in range(min(count[0], len(infos)))]


def _choices(words: str | int | Sequence[str | int]) -> Any:
    """Returns the devices that a name, or several names, select."""
    found: list[tuple[int, int, int]] = []
    names = [words] if isinstance(words, (str, int)) else list(words)
    count = ffi.new("size_t *")
    for name in names:
        text = str(name).encode()
        status = lib.abut_find_devices(text, ffi.NULL, 0, count)
        if status == lib.ABUT_ERROR_DEVICE:
            there = ", ".join(f"{d.index} {d.name!r} ({d.type})" for d in devices())
            raise Error(status, f"there is no device {str(name)!r}; abut.devices() lists {there}. Other devices need "
                        "their OpenCL driver: a GPU its vendor's, a processor `apt install pocl-opencl-icd` "
                        "or `pip install abut[intel]`")
        check(status)
        some = ffi.new("abut_device_choice[]", count[0])
        check(lib.abut_find_devices(text, some, count[0], count))
        found += [(c.device, c.units, c.part) for c in some]
    return ffi.new("abut_device_choice[]", found)


class Owner:
    """An object of the library, destroyed by `close`, at the end of `with`, or when it is collected."""

    _handle: Any = None
    _destroy: Any = None

    def close(self) -> None:
        """Frees the object. Objects made from it can no longer be used."""
        if self._handle is not None and lib is not None and lib.abutpy_is_inside():
            raise RuntimeError("objects cannot be closed during a call: a signal handler runs "
                               "within it")
        handle, self._handle = self._handle, None
        if handle is not None and lib is not None:
            self._destroy(handle)

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __del__(self) -> None:
        # While a call's progress function runs, no object of its context may be destroyed; it is then destroyed with the
        # context.
        if lib is not None and not lib.abutpy_is_inside():
            self.close()

    @property
    def handle(self) -> Any:
        """The handle of the C API."""
        if self._handle is None:
            raise ValueError(f"this {type(self).__name__} is closed")
        return self._handle

    def __reduce__(self) -> Any:
        raise TypeError(f"a {type(self).__name__} is on devices and cannot be pickled: keep the "
                        "names of files, and load them again")


class Context(Owner):
    """Devices, opened at one precision, with all objects made on them.

    device        None takes the best device that works: a GPU, else PoCL, else another; else the host path, with a warning. A
                  name or an index of abut.devices(), "host", "all", or a sequence of these, which share every batch
    precision     "f32" or "f64", of kernels and of all arrays
    queue         an in-order pyopencl.CommandQueue, whose context and device are then the only ones (abut.opencl)
    fallback      "host": the host path finishes what devices fail at; "none": calls fail
    chunk, scratch_bytes, lanes, timeout  bounds and settings of the C API's abut_context_def; 0 takes the library's
    progress      called as progress("compiling kernels of ...", share) when kernels are built that a call is the first to need,
                  with 0.0 before and 1.0 after it, in the device's own thread. The first time on a machine this may take a
                  minute. None: a line on stderr after a second, if that is a terminal; False: nothing

    Threads may share a context; its calls take turns. A forked process cannot open contexts, because drivers would hang: start
    workers by spawn.
    """

    _destroy = lib.abut_destroy_context

    def __init__(self, device: str | int | Sequence[str | int] | None = None,
                 precision: str = "f32", *, queue: Any = None, fallback: str = "host",
                 chunk: int = 0, scratch_bytes: int = 0, lanes: int = 0,
                 timeout: float = 0.0, progress: Progress = None) -> None:
        if precision not in _PRECISIONS:
            raise ValueError(f"precision is {precision!r}, not one of {', '.join(_PRECISIONS)}")
        if fallback not in ("host", "none"):
            raise ValueError(f"fallback is {fallback!r}, not 'host' or 'none'")
        if queue is not None and device is not None:
            raise ValueError("give device or queue, not both: a queue belongs to a device")
        _drivers.prepare()
        definition = ffi.new("abut_context_def *", lib.abut_default_context_def())
        choices = None if device is None else _choices(device)
        if choices is not None:
            definition.devices, definition.device_count = choices, len(choices)
        if queue is not None:
            definition.opencl_queue = ffi.cast("void *", queue.int_ptr)
        definition.precision = _PRECISIONS[precision]
        definition.fallback = 0 if fallback == "host" else 1
        definition.chunk, definition.scratch_bytes = chunk, scratch_bytes
        definition.lanes, definition.timeout = lanes, timeout
        self._told_of_building = teller(progress)
        definition.building, definition.user = BUILDS, self._told_of_building.handle
        handle = ffi.new("abut_context *")
        check(lib.abut_create_context(definition, handle))
        self._handle = handle[0]
        self._queue = queue
        self._told: list[DeviceReport] = []  # failed devices that have been warned about
        self.precision = "f64" if _PRECISIONS[precision] else "f32"
        self.dtype: np.dtype[Any] = np.dtype(np.float64 if _PRECISIONS[precision] else np.float32)
        if device is None and queue is None:
            _drivers.warn_of_host(self.device)

    @property
    def device(self) -> Device:
        """The first device."""
        info = ffi.new("abut_device_info *")
        check(lib.abut_context_device(self.handle, info))
        return _device(info)

    @property
    def devices(self) -> list[DeviceReport]:
        """All devices, including those that failed and their replacements."""
        count = ffi.new("size_t *")
        check(lib.abut_context_devices(self.handle, ffi.NULL, 0, count))
        reports = ffi.new("abut_device_report[]", count[0])
        check(lib.abut_context_devices(self.handle, reports, count[0], count))
        return [DeviceReport(_device(r.info), text_of(r.text) if r.status else "", r.chunks,
                             r.elements) for r in reports]

    @property
    def counters(self) -> dict[str, int]:
        """Counters of the work so far: bytes_up, bytes_down, launches, builds, chunks, resident."""
        counters = ffi.new("abut_counters *")
        check(lib.abut_get_counters(self.handle, counters))
        return {name: getattr(counters, name) for name in
                ("bytes_up", "bytes_down", "launches", "builds", "chunks", "resident")}

    if TYPE_CHECKING:  # added by _makers.py
        body = _makers.body
        height_field = _makers.height_field
        load = _makers.load
        pair = _makers.pair
        scene = _makers.scene

    def __repr__(self) -> str:
        return f"<abut.Context {self.precision} on {self.device.name}>" if self._handle else \
            "<abut.Context, closed>"


def set_options(options: Any, given: Mapping[str, Any]) -> None:
    """Sets members of a C struct by name; ValueError for a value that a member cannot hold."""
    for name, value in given.items():
        try:
            setattr(options, name, value)
        except (TypeError, OverflowError) as error:
            raise ValueError(f"{name.rstrip('_')} cannot be {value!r}: {error}") from None


_default: dict[int, Context] = {}
_default_lock = threading.Lock()


def default_context() -> Context:
    """Returns the context that abut.load uses: the default device in float32, opened on first use."""
    with _default_lock:
        process = os.getpid()
        context = _default.get(process)
        if context is None or context._handle is None:
            _default[process] = context = Context()
        return context


def warn_of_failures(context: Context, count: int) -> None:
    """Warns of each device that failed and names the device that computes instead. A failed device costs only speed."""
    if count:
        reports = context.devices
        others = ", ".join(r.device.name for r in reports if not r.error and r.chunks)
        for report in reports:
            if report.error and report not in context._told:
                context._told.append(report)
                _drivers.warn(f"device {report.device.name} failed, and {others or 'another'} is used "
                              f"instead: {report.error.splitlines()[0]}")
