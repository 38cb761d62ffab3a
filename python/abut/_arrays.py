"""Conversion of the caller's arrays to arrays that the library can read, and back."""
from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from abut._native import ffi

Shape = tuple[int, ...]
Called = TypeVar("Called", bound=Callable[..., Any])


def by_position(function: Called) -> Called:
    """Makes a function refuse more positional arguments than it has by a TypeError that names the right call."""
    made, _, method = function.__qualname__.partition(".")
    names = function.__code__.co_varnames[bool(method):function.__code__.co_argcount]
    most = len(names) + bool(method)
    others = ", others by name" if function.__code__.co_kwonlyargcount else ""
    bodies = "; abut.Pair(a, b) makes a pair of two bodies" if names[0] == "pair" else ""

    @functools.wraps(function)
    def wrapped(*given: Any, **named: Any) -> Any:
        if len(given) > most:
            raise TypeError(f"{made} takes at most {len(names)} positional arguments, not {len(given) - bool(method)}: "
                            f"{made}({', '.join(names)}){others}{bodies}")
        return function(*given, **named)

    return wrapped  # type: ignore[return-value]


def name_of(dtype: Any) -> str:
    return str(np.dtype(dtype).name)


def foreign(value: Any, dtype: np.dtype[Any], name: str) -> np.ndarray[Any, Any]:
    """Returns an array of another framework in the CPU's memory, without a copy. It is never converted."""
    try:
        # jax arrays are read-only, and only newer versions of NumPy accept read-only arrays by DLPack.
        array = np.asarray(value) if hasattr(value, "__array__") else np.from_dlpack(value)
    except Exception as error:
        raise ValueError(f"{name} is a {type(value).__name__} that NumPy cannot read without a "
                         f"copy, on another device perhaps: {error}") from error
    if array.dtype != dtype:
        raise ValueError(f"{name} is {array.dtype.name}, but the context uses "
                         f"{dtype.name}: convert it, or open a context with that precision")
    return array


def real_array(value: Any, dtype: np.dtype[Any], name: str) -> np.ndarray[Any, Any]:
    """Returns numbers as a contiguous array in the context's precision."""
    if isinstance(value, np.ma.MaskedArray):
        raise ValueError(f"{name} is a masked array: fill it first")
    if isinstance(value, np.ndarray):
        array = np.asarray(value)  # also for a subclass, such as trimesh's
    elif hasattr(value, "__dlpack__"):
        array = foreign(value, dtype, name)
    else:
        array = np.asarray(value)
    if array.dtype != dtype:
        if array.dtype.kind not in "iuf":
            raise ValueError(f"{name} has dtype {array.dtype.name}, expected numbers")
        return np.asarray(array, dtype, order="C")
    return np.asarray(array, order="C")


def double_array(value: Any, name: str) -> np.ndarray[Any, Any]:
    """Returns numbers as an array in double. Errors: ValueError, which names the argument that is not an array of numbers."""
    try:
        array = np.asarray(value)
    except ValueError:
        raise ValueError(f"{name} is ragged: not all of its rows have the same length") from None
    if array.dtype.kind not in "iuf":
        raise ValueError(f"{name} has dtype {array.dtype.name}, expected numbers")
    return np.ascontiguousarray(array, np.float64).reshape(array.shape)


def polygons_of(vertices: Any, faces: Any) -> tuple[Any, Any, Any]:
    """Returns a mesh's vertices (V, 3), the number of corners of each face, and the indices of all faces, one face after the
    other."""
    points = np.ascontiguousarray(vertices, np.float64)
    if points.ndim != 2 or points.shape[1] != 3:
        raise ValueError(f"vertices has shape {points.shape}, not (V, 3)")
    if isinstance(faces, np.ndarray) and faces.ndim == 2 and faces.shape[1] >= 3 and faces.dtype.kind in "iu" and (
            not faces.size or (faces.min() >= 0 and faces.max() < len(points))):  # many faces, all valid
        return points, np.full(len(faces), faces.shape[1], np.uint32), faces.astype(np.uint32).ravel()
    polygons = [np.asarray(face) for face in faces]
    for i, polygon in enumerate(polygons):
        if polygon.size and polygon.dtype.kind not in "iu":
            raise ValueError(f"face {i} has dtype {polygon.dtype.name}, expected integers")
        if polygon.ndim != 1 or polygon.size < 3:
            raise ValueError(f"face {i} must be a polygon with at least three indices")
        if polygon.min() < 0 or polygon.max() >= len(points):
            raise ValueError(f"face {i} names a vertex that does not exist; there are {len(points)}")
    sizes = np.array([p.size for p in polygons], np.uint32)
    return points, sizes, np.concatenate(polygons).astype(np.uint32) if polygons else np.empty(0, np.uint32)


class Rows:
    """The arrays of one batch: leading axes, which are broadcast and folded into N."""

    __slots__ = ("count", "dtype", "lead")

    def __init__(self, dtype: np.dtype[Any], lead: Shape) -> None:
        self.dtype, self.lead = dtype, lead
        self.count = math.prod(lead)

    def read(self, value: Any, tail: Shape, name: str) -> np.ndarray[Any, Any]:
        """Reads an input of shape lead + tail, or of a shape that broadcasts to it."""
        array = real_array(value, self.dtype, name)
        wanted = self.lead + tail
        if array.shape == wanted:
            return array
        last = array.shape[array.ndim - len(tail):] if len(tail) <= array.ndim else None
        if last == tail:
            try:
                return np.ascontiguousarray(np.broadcast_to(array, wanted))
            except ValueError:
                pass
        raise ValueError(f"{name} has shape {array.shape}, not {wanted}")

    def own(self, value: Any, tail: Shape, name: str, given: Any) -> np.ndarray[Any, Any]:
        """Reads an input like `read`, from numbers that the caller has handed over and does not change any more."""
        array = self.read(value, tail, name)
        return array.copy() if array is given or array.base is not None else array

    def write(self, out: Mapping[str, Any] | None, name: str, tail: Shape,
              dtype: Any = None) -> np.ndarray[Any, Any]:
        """Returns an output array: the caller's own if `out` has it, else a new one."""
        wanted, numbers = self.lead + tail, np.dtype(dtype) if dtype else self.dtype
        given = out.get(name) if out else None
        if given is None:
            return np.empty(wanted, numbers)
        if not isinstance(given, np.ndarray):
            raise ValueError(f"out[{name!r}] is a {type(given).__name__}, not a NumPy array")
        if given.shape != wanted or given.dtype != numbers:
            raise ValueError(f"out[{name!r}] has shape {given.shape} of {given.dtype.name}, not "
                             f"{wanted} of {numbers.name}")
        if not given.flags.c_contiguous or not given.flags.writeable:
            raise ValueError(f"out[{name!r}] is not contiguous, or cannot be written")
        return given


def common_axes(shapes: Mapping[str, Shape], tails: Mapping[str, Shape]) -> Shape:
    """Returns the leading axes of arrays of one batch. `tails` names the last axes of each array."""
    leads = []
    for name, shape in shapes.items():
        count = len(shape) - len(tails[name])
        if count < 0 or shape[count:] != tails[name]:
            raise ValueError(f"{name} has shape {shape}, not ({', '.join(['...', *map(str, tails[name])])})")
        leads.append(shape[:count])
    try:
        return np.broadcast_shapes(*leads)
    except ValueError:
        listed = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise ValueError(f"shapes do not have the same batch dimensions: {listed}") from None


def pointer(array: np.ndarray[Any, Any] | None) -> Any:
    """Returns a pointer to an array's data. The array must outlive its use."""
    if array is None:
        return ffi.NULL
    return ffi.from_buffer(array)


def typed_pointer(kind: str, array: np.ndarray[Any, Any]) -> Any:
    """Returns a typed pointer to an array's data; NULL if the array is empty."""
    return ffi.from_buffer(f"{kind}[]", array) if array.size else ffi.NULL


def copied(where: Any, shape: Shape, dtype: Any) -> np.ndarray[Any, Any]:
    """Returns a copy of an array that the library owns."""
    out = np.empty(shape, dtype)
    if out.size:
        ffi.memmove(ffi.from_buffer(out), where, out.nbytes)
    return out


def check_names(given: Iterable[str], known: Sequence[str], what: str) -> None:
    for name in given:
        if name not in known:
            raise ValueError(f"{what} {name!r} is not among {', '.join(known)}")
