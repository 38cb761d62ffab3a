"""Closest points of convex shapes as JAX primitives, for abut.jax.closest.

Tangents of the poses' own numbers are converted to twists of both bodies, along which derivatives are taken.
"""
from __future__ import annotations

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from abut import _forms
from abut._arrays import by_position
from abut._closest import ANSWERS, Shapes, check_rows, context_of, subject_of
from abut._table import closest_settings
from abut._xla import Given, bind, by_derivatives, check_precision, poses_of

__all__ = ["Closest", "closest"]

NO_SECOND = "closest points have only first derivatives"


class Closest(NamedTuple):
    """Closest points of two shapes, of leading axes (...).

    d       (...) signed distance [m]
    n       (..., 3) unit normal in the world, from shape 1 to shape 2
    p1, p2  (..., 3) closest points in the world [m]; p2 = p1 + d n
    """

    d: jax.Array
    n: jax.Array
    p1: jax.Array
    p2: jax.Array


# ---- derivatives ----

def _world_twists(pose: jax.Array, tangent: Any) -> jax.Array:
    """Returns the world twists (..., 6) of tangents of a pose's own numbers; 0 for an invalid pose."""
    if tangent is None:
        return jnp.zeros((*pose.shape[:-1], 6), pose.dtype)
    width = pose.shape[-1]
    good = jnp.isfinite(pose).all(-1, keepdims=True)
    if width == 7:
        good &= (pose[..., 3:] != 0).any(-1, keepdims=True)
    pose = jnp.where(good, pose, jnp.asarray(_forms.IDENTITY[width], pose.dtype))
    if width == 6:
        pose, tangent = jax.jvp(functools.partial(_forms.exp, jnp), (pose,), (tangent,))
    largest = jnp.abs(pose[..., 3:]).max(-1, keepdims=True)
    q, dq = pose[..., 3:] / largest, tangent[..., 3:] / largest
    turned = q[..., :1] * dq[..., 1:] - dq[..., :1] * q[..., 1:] + jnp.cross(q[..., 1:], dq[..., 1:])
    phi = 2 * turned / (q * q).sum(-1, keepdims=True)
    return jnp.where(good, jnp.concatenate([tangent[..., :3], phi], -1), 0)


def _twists(x: Given, dx: Given) -> Given:
    """Returns tangents of both poses as one array of twists."""
    return {"twists_tangent": jnp.concatenate([_world_twists(x[name], dx.get(name)) for name in ("pose1", "pose2")], -1)
            } if dx else {}


by_derivatives("closest", NO_SECOND, _twists)


# ---- public functions ----

def _row(row: Any, lead: tuple[int, ...], count: int, shift: int, name: str) -> jax.Array:
    """Returns rows in the list of all shapes; a row without a shape gets a number that the library refuses."""
    which = jnp.asarray(0 if row is None else row)
    if which.dtype.kind not in "iu":
        raise ValueError(f"{name} has dtype {which.dtype.name}, expected integers")
    if not isinstance(row, jax.Array) and row is not None:
        given = np.asarray(row)
        if given.size and (given.min() < 0 or given.max() >= count):
            raise ValueError(f"{name} names a shape that does not exist; there are {count}")
    try:
        which = jnp.broadcast_to(which, lead)
    except ValueError:
        raise ValueError(f"{name} has shape {which.shape}, not {lead}") from None
    return jnp.where((which >= 0) & (which < count), which.astype(np.uint32) + shift, np.uint32(0xffffffff))


@by_position
def closest(shape1: Shapes, shape2: Shapes, pose1: Any, pose2: Any, method: str = "gumbel", *, one: Any = None,
            two: Any = None, **options: Any) -> Closest:
    """Computes the signed distance, normal and closest points of two convex shapes at many poses, as abut.closest.

    shape1, shape2  a Shape each; or several of one context, with `one` and `two` as the number of each pose's shape
    pose1, pose2    (..., 6) twists, (..., 7) positions and quaternions, or (..., 4, 4) matrices; None is the identity. Leading
                    axes are broadcast, and are those of the result
    method          of the derivatives: "exact", "gumbel", "gaussian", "zeroth" or "finite"; the result itself is never smoothed
    one, two        (...) whole numbers: rows of shape1 and of shape2 if these are lists
    options         of the query: cutoff, tolerance, iterations_most, corners_most as in abut.closest; of the derivatives:
                    temperature, level, epsilon, samples, seed, first, ridge as in abut.closest_jacobian
    The function has first derivatives, in both modes, by the poses' own numbers. A pose that is not finite gives zeros, also
    in its gradients.
    Errors: ValueError for shapes of arrays and dtypes, while tracing; the program raises the library's own errors, also for a
    traced row without a shape.
    """
    context = context_of(shape1, shape2)
    check_rows(shape1, one, 0)
    check_rows(shape2, two, 1)
    check_precision(context.dtype)
    settings, smoothing = closest_settings(method, options)
    poses = poses_of(pose1, pose2, context.dtype)
    indexed, lead = one is not None or two is not None, poses[0].shape[:-1]
    subject = subject_of(shape1, shape2, indexed, poses[0].shape[-1], settings, smoothing)
    given = dict(zip(("pose1", "pose2"), poses))
    if indexed:
        given["one"], given["two"] = (_row(row, lead, count, shift, name) for row, count, shift, name in
                                      zip((one, two), subject.counts, (0, subject.shift), ("one", "two")))
    made = bind("closest", subject, given, (*ANSWERS, "status"))
    return Closest(*(made[name] for name in ANSWERS))
