"""Closest points of convex shapes for torch: abut.torch.closest.

Tangents of the poses' own numbers are converted to twists of both bodies, along which derivatives are taken.
"""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from abut._closest import ANSWERS, Shapes, check_rows, context_of, listed, subject_of, twists_of
from abut._table import Plan, closest_settings, refuse
from abut._torch import Given, apply, by_calls, folded, make, no_more
from abut._torch_arrays import array, check_poses, of_one_batch, rows_of

__all__ = ["Closest", "closest"]

NO_SECOND = "closest points have only first derivatives"


class Closest(NamedTuple):
    """Closest points of two shapes, of leading axes (...).

    d       (...) signed distance [m]
    n       (..., 3) unit normal in the world, from shape 1 to shape 2
    p1, p2  (..., 3) closest points in the world [m]; p2 = p1 + d n
    """

    d: Tensor
    n: Tensor
    p1: Tensor
    p2: Tensor


class Twists(torch.autograd.Function):
    """World twists of both bodies from tangents of their poses: of each pose and its tangent, or None."""

    @staticmethod
    def forward(*t: Any) -> Any:
        given = [array(x) for x in t]
        steps = [np.zeros((*pose.shape[:-1], 6), pose.dtype) if tangent is None else twists_of(pose, tangent)
                 for pose, tangent in zip(given[::2], given[1::2])]
        return torch.from_numpy(np.concatenate(steps, -1))

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, *bars: Any) -> Any:
        refuse(NO_SECOND)

    @staticmethod
    def jvp(ctx: Any, *along: Any) -> Any:
        refuse(NO_SECOND)

    @staticmethod
    def vmap(info: Any, in_dims: Any, *t: Any) -> Any:
        return Twists.apply(*(folded(x, axis, info.batch_size) for x, axis in zip(t, in_dims))), 0


def _along(plan: Plan, x: Given, dx: Given) -> Given:
    sides = ((x[name], dx.get(name)) for name in ("pose1", "pose2"))
    return {"twists_tangent": Twists.apply(*(part for side in sides for part in side))}


make("closest", by_calls("closest_vjp", "closest_jvp", _along))
for _call in ("closest_vjp", "closest_jvp"):
    make(_call, no_more(NO_SECOND))


@torch.compiler.disable
def closest(shape1: Shapes, shape2: Shapes, pose1: Tensor | None, pose2: Tensor | None, method: str = "gumbel", *,
            one: Any = None, two: Any = None, **options: Any) -> Closest:
    """Computes the signed distance, normal and closest points of two convex shapes at many poses, as abut.closest.

    shape1, shape2  a Shape each; or several of one context, with `one` and `two` as the number of each pose's shape
    pose1, pose2    (..., 6) twists, (..., 7) positions and quaternions, or (..., 4, 4) matrices; None is the identity. Leading
                    axes are broadcast, and are those of the result
    method          of the derivatives: "exact", "gumbel", "gaussian", "zeroth" or "finite"; the result itself is never smoothed
    one, two        (...) whole numbers: rows of shape1 and of shape2 if these are lists
    options         of the query: cutoff, tolerance, iterations_most, corners_most as in abut.closest; of the derivatives:
                    temperature, level, epsilon, samples, seed, first, ridge as in abut.closest_jacobian
    The function has first derivatives, in both modes, by the poses' own numbers, and no second derivatives. torch.func's
    transformations work; torch.compile runs the function outside the compiled program. A pose that is not finite gives zeros,
    also in its gradients.
    Errors: ValueError for shapes of arrays, dtypes, devices and rows without a shape; abut.Error.
    """
    shapes = listed(shape1, "shape1") + listed(shape2, "shape2")
    context_of(shape1, shape2)
    check_rows(shape1, one, 0)
    check_rows(shape2, two, 1)
    settings = closest_settings(method, options)
    check_poses(shapes, pose1, pose2)
    pose1, pose2 = of_one_batch(pose1, pose2)
    given, lead = {"pose1": pose1, "pose2": pose2}, pose1.shape[:-1]
    if one is not None or two is not None:
        given.update({name: rows_of(0 if row is None else row, lead, name) for name, row in (("one", one), ("two", two))})
    subject = subject_of(shape1, shape2, "one" in given, pose1.shape[-1], *settings)
    made = apply("closest", subject, given, (*ANSWERS, "status"))
    return Closest(*(made[name] for name in ANSWERS))
