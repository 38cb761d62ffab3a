"""Poses of links and distances of pairs as JAX primitives: what abut.jax.poses and abut.jax.distances call."""
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
    by_derivatives(_call, f"{_what} have first derivatives, and no second ones")


def _made(call: str, subject: OfPositions, q: Any, output: str) -> jax.Array:
    check_precision(subject.context.dtype)
    own = real_of(q, subject.context.dtype, "q")
    common_axes({"q": own.shape}, {"q": subject.tails["q"]})
    made: jax.Array = bind(call, subject, {"q": own}, (output,))[output]
    return made


def poses(scene: Scene, q: Any) -> jax.Array:
    """Poses (..., links, 7) of all links, as abut.Scene.poses has them, of an array q (..., nq) of JAX.

    Differentiable once, in both modes, by the numbers of q; of a quaternion's tangent and gradient only what is orthogonal
    to it. Errors: ValueError for shapes and dtypes, while tracing; the library's own come out of the program.
    """
    return _made("poses", OfPositions(scene), q, "poses")


def distances(scene: Scene, q: Any, pairs: Sequence[WorldPair] | None = None, *, smooth: bool = True,
              temperature: float = 0.0) -> jax.Array:
    """Signed distances (..., pairs), as abut.Scene.distances has them with the same words, of an array q (..., nq) of JAX.

    Differentiable as poses are.
    """
    return _made("distances", scene._select(pairs, smooth, temperature), q, "d")
