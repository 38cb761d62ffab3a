"""Poses of links and distances of pairs as JAX primitives, for abut.jax.poses and abut.jax.distances."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax

from abut._arrays import common_axes
from abut._table import OfPositions
from abut._worlds import Scene, WorldPair
from abut._xla import bind, by_derivatives, check_precision, real_of

__all__ = ["distances", "poses"]

for _call, _what in (("poses", "poses of links"), ("distances", "distances of worlds")):
    by_derivatives(_call, f"{_what} have only first derivatives")


def _made(call: str, subject: OfPositions, q: Any, output: str) -> jax.Array:
    check_precision(subject.context.dtype)
    own = real_of(q, subject.context.dtype, "q")
    common_axes({"q": own.shape}, {"q": subject.tails["q"]})
    made: jax.Array = bind(call, subject, {"q": own}, (output,))[output]
    return made


def poses(scene: Scene, q: Any) -> jax.Array:
    """Computes poses (..., links, 7) of all links, as abut.Scene.poses, for an array q (..., nq) of JAX.

    The function has first derivatives, in both modes, by the numbers of q. Only the part of a quaternion's tangent and
    gradient that is orthogonal to the quaternion counts. Errors: ValueError for shapes and dtypes, while tracing; the program
    raises the library's own errors.
    """
    return _made("poses", OfPositions(scene), q, "poses")


def distances(scene: Scene, q: Any, pairs: Sequence[WorldPair] | None = None, *, smooth: bool = True,
              temperature: float = 0.0) -> jax.Array:
    """Computes signed distances (..., pairs), as abut.Scene.distances with the same arguments, for an array q (..., nq) of JAX.

    Derivatives are as for poses.
    """
    return _made("distances", scene._select(pairs, smooth, temperature), q, "d")
