"""Poses as numbers: twists (6) and positions with quaternions (7), steps, gradients along steps.

All take NumPy arrays of float32 or float64, whose precision is the answer's, with any leading axes.
Conventions are those of <abut/pose.h>.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from abut._arrays import pointer
from abut._native import check, lib

__all__ = ["compose", "exp", "gradient_from_frame", "gradient_to_frame", "invert", "log", "step"]

_FRAMES = {"body": 0, "world": 1, "aligned": 2}
Array = np.ndarray[Any, Any]


def _read(value: Any, name: str, widths: tuple[int, ...]) -> Array:
    array = np.asarray(value)
    if array.dtype not in (np.float32, np.float64):
        if array.dtype.kind not in "iu":
            raise ValueError(f"{name} holds {array.dtype.name}, not float32 or float64")
        array = array.astype(np.float64)
    if not array.ndim or array.shape[-1] not in widths:
        raise ValueError(f"{name} has shape {array.shape}: its last axis is "
                         f"{' or '.join(map(str, widths))}")
    return np.ascontiguousarray(array)


def _together(first: Array, second: Array) -> tuple[Array, Array]:
    dtype = np.result_type(first, second)
    lead = np.broadcast_shapes(first.shape[:-1], second.shape[:-1])
    return tuple(np.ascontiguousarray(np.broadcast_to(x, lead + x.shape[-1:]), dtype)  # type: ignore
                 for x in (first, second))


def _frame(frame: str) -> int:
    if frame not in _FRAMES:
        raise ValueError(f"frame is {frame!r}, not one of {', '.join(_FRAMES)}")
    return _FRAMES[frame]


def _precision(array: Array) -> int:
    return int(array.dtype.itemsize // 8)


def _rows(array: Array) -> int:
    return int(array.size // array.shape[-1])


def exp(twists: Any) -> Array:
    """Poses (..., 7) from twists (..., 6)."""
    x = _read(twists, "twists", (6,))
    out = np.empty((*x.shape[:-1], 7), x.dtype)
    check(lib.abut_pose_exp(_precision(x), _rows(x), pointer(x), pointer(out)))
    return out


def log(poses: Any) -> Array:
    """The shortest twists (..., 6) from poses (..., 7)."""
    x = _read(poses, "poses", (7,))
    out = np.empty((*x.shape[:-1], 6), x.dtype)
    check(lib.abut_pose_log(_precision(x), _rows(x), pointer(x), pointer(out)))
    return out


def compose(left: Any, right: Any) -> Array:
    """Products left right, of poses of one kind (..., P): x goes to left(right(x))."""
    x, y = _together(_read(left, "left", (6, 7)), _read(right, "right", (6, 7)))
    if x.shape != y.shape:
        raise ValueError(f"left has {x.shape[-1]} numbers a pose and right has {y.shape[-1]}")
    out = np.empty_like(x)
    check(lib.abut_pose_compose(_precision(x), x.shape[-1] - 6, _rows(x), pointer(x), pointer(y),
                                pointer(out)))
    return out


def invert(poses: Any) -> Array:
    """Inverses of poses (..., P)."""
    x = _read(poses, "poses", (6, 7))
    out = np.empty_like(x)
    check(lib.abut_pose_invert(_precision(x), x.shape[-1] - 6, _rows(x), pointer(x), pointer(out)))
    return out


def step(poses: Any, steps: Any, frame: str = "body") -> Array:
    """Poses (..., P) after a step (..., 6) each, in the frame "body", "world" or "aligned" (the world's
    axes, about the body's origin)."""
    x, y = _together(_read(poses, "poses", (6, 7)), _read(steps, "steps", (6,)))
    out = np.empty_like(x)
    check(lib.abut_pose_step(_precision(x), x.shape[-1] - 6, _frame(frame), _rows(x), pointer(x),
                             pointer(y), pointer(out)))
    return out


def gradient_to_frame(poses: Any, gradients: Any, frame: str = "body") -> Array:
    """Gradients along steps (..., 6), from gradients (..., P) by a pose's own numbers."""
    x, y = _together(_read(poses, "poses", (6, 7)), _read(gradients, "gradients", (6, 7)))
    if x.shape != y.shape:
        raise ValueError(f"gradients has shape {y.shape}, not {x.shape}")
    out = np.empty((*x.shape[:-1], 6), x.dtype)
    check(lib.abut_gradient_to_frame(_precision(x), x.shape[-1] - 6, _frame(frame), _rows(x),
                                     pointer(x), pointer(y), pointer(out)))
    return out


def gradient_from_frame(poses: Any, steps: Any, frame: str = "body") -> Array:
    """Gradients (..., P) by a pose's own numbers, from gradients along steps (..., 6)."""
    x, y = _together(_read(poses, "poses", (6, 7)), _read(steps, "steps", (6,)))
    out = np.empty_like(x)
    check(lib.abut_gradient_from_frame(_precision(x), x.shape[-1] - 6, _frame(frame), _rows(x),
                                       pointer(x), pointer(y), pointer(out)))
    return out
