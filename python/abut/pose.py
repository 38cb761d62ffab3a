"""Poses as numbers: twists (6) and positions with quaternions (7), steps, gradients along steps.

All functions take NumPy arrays of float32 or float64, with any leading axes; the result has the same precision. Conventions
are those of <abut/pose.h>.
"""
import typing as _typing

import numpy as _np

from abut import _forms
from abut._arrays import pointer as _pointer
from abut._native import check as _check, lib as _lib

__all__ = ["compose", "exp", "from_matrix", "gradient_from_frame", "gradient_to_frame", "invert", "log",
           "step", "to_matrix"]

_FRAMES = {"body": 0, "world": 1, "aligned": 2}
_Array = _np.ndarray[_typing.Any, _typing.Any]


def _read(value: _typing.Any, name: str, widths: tuple[int, ...]) -> _Array:
    array = _np.asarray(value)
    if array.dtype not in (_np.float32, _np.float64):
        if array.dtype.kind not in "iu":
            raise ValueError(f"{name} has dtype {array.dtype.name}, expected float32 or float64")
        array = array.astype(_np.float64)
    if not array.ndim or array.shape[-1] not in widths:
        raise ValueError(f"{name} has shape {array.shape}: its last axis is "
                         f"{' or '.join(map(str, widths))}")
    return _np.ascontiguousarray(array)


def _together(first: _Array, second: _Array) -> tuple[_Array, _Array]:
    dtype = _np.result_type(first, second)
    lead = _np.broadcast_shapes(first.shape[:-1], second.shape[:-1])
    return tuple(_np.ascontiguousarray(_np.broadcast_to(x, lead + x.shape[-1:]), dtype)  # type: ignore
                 for x in (first, second))


def _frame(frame: str) -> int:
    if frame not in _FRAMES:
        raise ValueError(f"frame is {frame!r}, not one of {', '.join(_FRAMES)}")
    return _FRAMES[frame]


def _precision(array: _Array) -> int:
    return int(array.dtype.itemsize // 8)


def _rows(array: _Array) -> int:
    return int(array.size // array.shape[-1])


def exp(twists: _typing.Any) -> _Array:
    """Computes poses (..., 7) from twists (..., 6)."""
    x = _read(twists, "twists", (6,))
    out = _np.empty((*x.shape[:-1], 7), x.dtype)
    _check(_lib.abut_pose_exp(_precision(x), _rows(x), _pointer(x), _pointer(out)))
    return out


def log(poses: _typing.Any) -> _Array:
    """Computes the shortest twists (..., 6) from poses (..., 7)."""
    x = _read(poses, "poses", (7,))
    out = _np.empty((*x.shape[:-1], 6), x.dtype)
    _check(_lib.abut_pose_log(_precision(x), _rows(x), _pointer(x), _pointer(out)))
    return out


def from_matrix(matrices: _typing.Any) -> _Array:
    """Computes poses (..., 7) from rigid motions (..., 4, 4). The sign of the quaternion is arbitrary, since q and -q are the
    same rotation. ValueError for a matrix that differs from a rotation by more than 1e-3."""
    x = _np.asarray(matrices)
    if not _forms.is_matrix(x):
        raise ValueError(f"matrices has shape {x.shape}: its last two axes are 4 x 4")
    x = _read(x, "matrices", (4,))
    _forms.check_matrix(x, "matrices")
    return _np.ascontiguousarray(_forms.from_matrix(_np, x), x.dtype)


def to_matrix(poses: _typing.Any) -> _Array:
    """Computes rigid motions (..., 4, 4) from poses (..., P) of either kind."""
    x = _read(poses, "poses", (6, 7))
    return _np.ascontiguousarray(_forms.to_matrix(_np, exp(x) if x.shape[-1] == 6 else x), x.dtype)


def compose(left: _typing.Any, right: _typing.Any) -> _Array:
    """Computes products of poses of one kind (..., P), left right: x is mapped to left(right(x))."""
    x, y = _together(_read(left, "left", (6, 7)), _read(right, "right", (6, 7)))
    if x.shape != y.shape:
        raise ValueError(f"left has {x.shape[-1]} numbers per pose, but right has {y.shape[-1]}")
    out = _np.empty_like(x)
    _check(_lib.abut_pose_compose(_precision(x), x.shape[-1] - 6, _rows(x), _pointer(x), _pointer(y),
                                _pointer(out)))
    return out


def invert(poses: _typing.Any) -> _Array:
    """Computes the inverses of poses (..., P)."""
    x = _read(poses, "poses", (6, 7))
    out = _np.empty_like(x)
    _check(_lib.abut_pose_invert(_precision(x), x.shape[-1] - 6, _rows(x), _pointer(x), _pointer(out)))
    return out


def step(poses: _typing.Any, steps: _typing.Any, frame: str = "body") -> _Array:
    """Moves poses (..., P) by a step (..., 6) each, in the frame "body", "world" or "aligned" (the world's axes, about the body's
    origin)."""
    x, y = _together(_read(poses, "poses", (6, 7)), _read(steps, "steps", (6,)))
    out = _np.empty_like(x)
    _check(_lib.abut_pose_step(_precision(x), x.shape[-1] - 6, _frame(frame), _rows(x), _pointer(x),
                             _pointer(y), _pointer(out)))
    return out


def gradient_to_frame(poses: _typing.Any, gradients: _typing.Any, frame: str = "body") -> _Array:
    """Converts gradients (..., P) by a pose's own numbers to gradients along steps (..., 6)."""
    x, y = _together(_read(poses, "poses", (6, 7)), _read(gradients, "gradients", (6, 7)))
    if x.shape != y.shape:
        raise ValueError(f"gradients has shape {y.shape}, not {x.shape}")
    out = _np.empty((*x.shape[:-1], 6), x.dtype)
    _check(_lib.abut_gradient_to_frame(_precision(x), x.shape[-1] - 6, _frame(frame), _rows(x),
                                     _pointer(x), _pointer(y), _pointer(out)))
    return out


def gradient_from_frame(poses: _typing.Any, steps: _typing.Any, frame: str = "body") -> _Array:
    """Converts gradients along steps (..., 6) to gradients (..., P) by a pose's own numbers."""
    x, y = _together(_read(poses, "poses", (6, 7)), _read(steps, "steps", (6,)))
    out = _np.empty_like(x)
    _check(_lib.abut_gradient_from_frame(_precision(x), x.shape[-1] - 6, _frame(frame), _rows(x),
                                       _pointer(x), _pointer(y), _pointer(out)))
    return out
