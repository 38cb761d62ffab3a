"""Comparison of derivatives with central differences, for the user's own pairs and scenes."""
from __future__ import annotations

from typing import Any, Callable, NamedTuple, Union

import numpy as np

from abut._calls import reduce
from abut._native import lib
from abut._pair import Pair
from abut._worlds import Scene

Real = np.ndarray[Any, Any]

SMOOTH = 0.05  # largest relative difference between the differences of two steps for a smooth function


class GradCheck(NamedTuple):
    """Derivatives along random directions, of rows (...).

    derivative  (...) by abut's gradient
    difference  (...) central differences, with half of `step`
    error       (...) |derivative - difference|, over the larger of both in the row and of 1e-3 of the largest row; NaN if a pose
                was refused, or if a world stopped or gave a warning
    smooth      (...) bool: differences of the whole step, and one-sided differences, agree with these to 5 %. Otherwise the
                function jumps or bends within the step, or the error is NaN, and the row confirms nothing
    """

    derivative: Real
    difference: Real
    error: Real
    smooth: Real


def _compare(derivative: Real, along: Callable[[float], tuple[Real, Real]], step: float) -> GradCheck:
    """Compares derivatives. `along` returns values at a share of the way, and which of them are valid."""
    middle, good = along(0.0)
    good = good & np.isfinite(derivative) & np.isfinite(middle)
    slopes = []
    for h in (step, step / 2):
        (ahead, one), (behind, two) = along(h), along(-h)
        slopes.append((ahead - behind) / (2 * h))
        bend = np.abs(ahead - 2 * middle + behind) / h  # difference of both one-sided slopes, which decreases except at a kink
        good = good & one & two & np.isfinite(slopes[-1])
    wide, narrow = slopes
    size = np.where(good, np.maximum(np.abs(derivative), np.abs(narrow)), 0)
    size = np.maximum(size, max(1e-3 * float(size.max(initial=0)), 1e-300))
    error = np.where(good, np.abs(derivative - narrow) / size, np.nan)
    return GradCheck(derivative, narrow, error, good & (np.abs(wide - narrow) <= SMOOTH * size) & (bend <= SMOOTH * size))


def _direction(random: np.random.Generator, at: Real) -> Real:
    """Returns unit directions of poses' numbers; a quaternion's is orthogonal to it."""
    made: Real = np.asarray(random.normal(size=at.shape))
    if at.shape[-1] == 7:
        q = at[..., 3:]
        made[..., 3:] -= q * (np.sum(made[..., 3:] * q, -1) / np.sum(q * q, -1))[..., None]
    return np.asarray(made / np.linalg.norm(made, axis=-1, keepdims=True))


def _of_pair(pair: Pair, pose1: Real, pose2: Real, kind: str, step: float, random: np.random.Generator) -> GradCheck:
    to1, to2 = _direction(random, pose1), _direction(random, pose2)
    made = reduce(pair, pose1, pose2, kind, grad=True)
    assert made.grad1 is not None and made.grad2 is not None
    derivative = np.sum(made.grad1 * to1, -1) + np.sum(made.grad2 * to2, -1)

    def along(h: float) -> tuple[Real, Real]:
        moved = reduce(pair, pose1 + h * to1, pose2 + h * to2, kind)
        assert moved.status is not None
        return moved.value, moved.status & lib.ABUT_POSE_REJECTED == 0

    return _compare(derivative, along, step)


def _of_scene(scene: Scene, q: Real, v: Real, u: Real | None, steps: int, step: float,
              random: np.random.Generator) -> GradCheck:
    rows = np.broadcast_shapes(q.shape[:-1], v.shape[:-1], () if u is None else u.shape[:-1])
    given = np.zeros((*rows, scene.nu)) if u is None else np.broadcast_to(u, (*rows, scene.nu))
    to_q, to_v, to_u, q_bar, v_bar = (random.normal(size=(*rows, n)) for n in (scene.nv, scene.nv, scene.nu, scene.nq, scene.nv))
    made = scene.vjp(q, v, given, steps=steps, q_bar=q_bar, v_bar=v_bar)
    assert made.q is not None and made.v is not None and made.u is not None
    by_q = scene.map("gradient_to_tangent", np.broadcast_to(q, (*rows, scene.nq)), made.q)
    derivative = np.sum(by_q * to_q, -1) + np.sum(made.v * to_v, -1) + np.sum(made.u * to_u, -1)

    def along(h: float) -> tuple[Real, Real]:
        end = scene.step(scene.add(q, h * to_q), v + h * to_v, given + h * to_u, steps=steps)
        return np.asarray(np.sum(end.q * q_bar, -1) + np.sum(end.v * v_bar, -1)), end.status == 0

    return _compare(derivative, along, step)


def gradcheck(of: Union[Pair, Scene], first: Any, second: Any, u: Any = None, *, kind: str | None = None, steps: int = 1,
              step: float = 1e-6, seed: int = 0) -> GradCheck:
    """Compares abut's derivatives with central differences in float64, along a random direction in each row. The result is a
    GradCheck of derivative, difference, error and smooth. Rows that are not smooth confirm nothing.

    of             a Pair, or a Scene, in a context of precision "f64"
    first, second  for a pair both bodies' poses (..., 6 or 7); for a scene q (..., nq) and v (..., nv)
    u              (..., nu) a scene's controls; None: 0
    kind           for a pair, a reduction of abut.reduce that has a gradient; None: "energy"
    steps          for a scene, the number of steps; the differentiated function is a random sum of the state after them
    step           of the differences: metres and radians, and a scene's units
    seed           of the random numbers
    Errors: ValueError for a context of float32, for shapes, and for arguments of the other kind of `of`; abut.Error.
    """
    if not isinstance(of, (Pair, Scene)):
        raise ValueError(f"of is a {type(of).__name__}, neither an abut.Pair nor an abut.Scene")
    if of.context.dtype != np.float64:
        raise ValueError("differences need a context with precision 'f64'")
    random = np.random.default_rng(seed)
    one, two = np.asarray(first, float), np.asarray(second, float)
    if isinstance(of, Scene):
        if kind is not None:
            raise ValueError("kind works only with a pair")
        if u is not None and (np.ndim(u) < 1 or np.shape(u)[-1] != of.nu):
            raise ValueError(f"u has shape {np.shape(u)}, not (..., {of.nu})")
        return _of_scene(of, one, two, None if u is None else np.asarray(u, float), steps, step, random)
    if u is not None:
        raise ValueError("u works only with a scene")
    rows = np.broadcast_shapes(one.shape[:-1], two.shape[:-1])
    return _of_pair(of, np.broadcast_to(one, (*rows, one.shape[-1])), np.broadcast_to(two, (*rows, two.shape[-1])), kind or "energy",
                    step, random)
