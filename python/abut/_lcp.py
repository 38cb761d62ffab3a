"""Boxed linear complementarity problems, which each step with hard contacts solves."""
from __future__ import annotations

import enum
from typing import Any, NamedTuple

import numpy as np

from abut._arrays import Rows, pointer, real_array
from abut._context import Context, default_context, warn_of_failures
from abut._native import check, ffi, lib


class LcpClass(enum.IntEnum):
    """Class of a row: f = 0, w = 0, f at its upper or its lower bound, or at a bound with w = 0."""

    SEPARATING = 0
    CLAMPING = 1
    UPPER = 2
    LOWER = 3
    TIED = 4


class LcpEnd(enum.IntEnum):
    """How a problem was solved. SQUEEZED has no solution, FAILED was not solved, BAD is not finite."""

    WARM = 0
    PIVOTED = 1
    LEMKE = 2
    SQUEEZED = 3
    FAILED = 4
    BAD = 5


LcpClass.__module__ = LcpEnd.__module__ = "abut"


class Lcp(NamedTuple):
    """Solutions of boxed linear complementarity problems, of leading axes (...) and m rows.

    f, w      (..., m)
    classes   (..., m) int32, LcpClass; a guess for similar problems
    how       (...) uint32, LcpEnd
    residual  (...) in w's unit
    """

    f: np.ndarray[Any, Any]
    w: np.ndarray[Any, Any]
    classes: np.ndarray[Any, Any]
    how: np.ndarray[Any, Any]
    residual: np.ndarray[Any, Any]


def _whole(value: Any, shape: tuple[int, ...], name: str, least: int, most: int) -> np.ndarray[Any, Any]:
    array = np.asarray(value)
    if array.dtype.kind not in "iu" or array.shape != shape:
        raise ValueError(f"{name} is {array.dtype.name} of shape {array.shape}, expected integers of shape {shape}")
    if array.size and (array.min() < least or array.max() > most):
        raise ValueError(f"{name} has numbers that are not in [{least}, {most}]")
    return np.ascontiguousarray(array, np.int32)


def solve_lcp(A: Any, b: Any, parent: Any, *, mu: Any = None, box: Any = None, guess: Any = None,
              context: Context | None = None) -> Lcp:
    """Solves boxed linear complementarity problems w = A f + b. Rows of parent -1 have f >= 0, w >= 0 and f w = 0. Other rows
    have |f| <= mu f[parent] + box, with w pushing back at the bounds. Rows of parent -2 are bounded only by box.

    A        (..., m, m) symmetric, positive semidefinite
    b        (..., m)
    parent   (m) whole numbers, the same for all problems
    mu, box  (..., m) from 0; None: 0
    guess    (..., m) LcpClass of each row to start from, such as those of the last solution; None: none
    If there are several solutions, redundant rows share the force. Errors: ValueError for shapes and dtypes; abut.Error. `how`
    reports the result of each problem.
    """
    chosen = context or default_context()
    matrix = real_array(A, chosen.dtype, "A")
    if matrix.ndim < 2 or matrix.shape[-1] != matrix.shape[-2]:
        raise ValueError(f"A has shape {matrix.shape}, not (..., m, m)")
    m = matrix.shape[-1]
    rows = Rows(chosen.dtype, matrix.shape[:-2])
    kept = {"A": rows.read(matrix, (m, m), "A"), "b": rows.read(b, (m,), "b"),
            "mu": None if mu is None else rows.read(mu, (m,), "mu"),
            "box": None if box is None else rows.read(box, (m,), "box")}
    parents = _whole(parent, (m,), "parent", -2, m - 1)
    guessed = None if guess is None else _whole(guess, rows.lead + (m,), "guess", 0, 4)
    made = Lcp(rows.write(None, "f", (m,)), rows.write(None, "w", (m,)),
               np.empty(rows.lead + (m,), np.int32), np.empty(rows.lead, np.uint32),
               rows.write(None, "residual", ()))
    if not rows.count:
        return made
    problems = ffi.new("abut_lcp *", lib.abut_default_lcp())
    problems.count, problems.rows = rows.count, m
    for name, array in kept.items():
        setattr(problems, name, pointer(array))
    problems.parent = ffi.from_buffer("int32_t[]", parents)
    if guessed is not None:
        problems.guess = ffi.from_buffer("int32_t[]", guessed)
    problems.f, problems.w, problems.residual = pointer(made.f), pointer(made.w), pointer(made.residual)
    problems.classes = ffi.from_buffer("int32_t[]", made.classes)
    problems.how = ffi.from_buffer("uint32_t[]", made.how)
    check(lib.abut_solve_lcp(chosen.handle, problems))
    if problems.failures:
        warn_of_failures(chosen, problems.failures)
    return made
