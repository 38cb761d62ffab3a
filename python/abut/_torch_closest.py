"""Closest points of convex shapes for torch: what abut.torch.closest calls.

Three Functions: a query, whose backward and jvp are the others, so that torch.func's transformations see through all;
_torch_worlds.py says what may be called in them.
"""
from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from abut import _closest
from abut._closest import ANSWERS, SETTINGS, Query, Shapes, check_rows, listed, smoothing_of, twists_of
from abut._torch import folded
from abut._torch_arrays import array, check_poses, of_one_batch, tensors_of

__all__ = ["Closest", "closest"]

GIVEN = 4  # one, two and both poses
KEPT = GIVEN + len(ANSWERS) + 1  # these, and the answers with their status
NO_SECOND = "closest points have first derivatives, and no second ones"


class Closest(NamedTuple):
    """Closest points of leading axes (...).

    d       (...) signed distance [m]
    n       (..., 3) unit normal in the world, from shape 1 to shape 2
    p1, p2  (..., 3) closest points in the world [m]; p2 = p1 + d n
    """

    d: Tensor
    n: Tensor
    p1: Tensor
    p2: Tensor


class Plan(NamedTuple):
    """What is fixed in a call."""

    shape1: Any
    shape2: Any
    method: str
    smoothing: Mapping[str, Any]
    settings: Mapping[str, Any]

    def query(self, t: Any) -> Query:
        one, two, pose1, pose2 = map(array, t[:GIVEN])
        return Query(self.shape1, self.shape2, pose1, pose2, one, two, self.settings)

    def answer(self, t: Any) -> Any:
        """An answer of abut.closest's, of what was kept of it."""
        d, n, p1, p2, status = (np.ascontiguousarray(array(x)) for x in t[GIVEN:KEPT])
        return _closest.Closest(d, n, p1, p2, d, status, status, status, 0, 0, self.query(t))


def _vmapped(function: Any, info: Any, in_dims: Any, plan: Plan, t: Any) -> Any:
    made = function.apply(plan, *(folded(x, axis, info.batch_size) for x, axis in zip(t, in_dims[1:])))
    return made, (0,) * len(made)


class AbutClosest(torch.autograd.Function):
    """d, n, p1, p2 and status, of a plan, one, two and both poses."""

    @staticmethod
    def forward(plan: Plan, *t: Any) -> Any:
        r = _closest.answer(plan.query(t))
        return tensors_of([r.d, r.n, r.p1, r.p2, r.status])

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.plan = inputs[0]
        ctx.set_materialize_grads(False)
        ctx.mark_non_differentiable(output[-1])
        ctx.save_for_backward(*inputs[1:], *output)
        ctx.save_for_forward(*inputs[1:], *output)

    @staticmethod
    def backward(ctx: Any, *bars: Any) -> Any:
        if all(bar is None for bar in bars[:4]):
            return (None,) * (1 + GIVEN)
        slopes = AbutClosestVjp.apply(ctx.plan, *ctx.saved_tensors, *bars[:4])
        needs = ctx.needs_input_grad[-2:]
        return (None, None, None, *(slope if need else None for slope, need in zip(slopes, needs)))

    @staticmethod
    def jvp(ctx: Any, *along: Any) -> Any:
        return (*AbutClosestJvp.apply(ctx.plan, *ctx.saved_tensors, *along[-2:]), None)

    @staticmethod
    def vmap(info: Any, in_dims: Any, plan: Plan, *t: Any) -> Any:
        return _vmapped(AbutClosest, info, in_dims, plan, t)


class _First(torch.autograd.Function):
    """A first derivative."""

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, *bars: Any) -> Any:
        raise NotImplementedError(NO_SECOND)

    @staticmethod
    def jvp(ctx: Any, *along: Any) -> Any:
        raise NotImplementedError(NO_SECOND)


class AbutClosestVjp(_First):
    """Gradients by both poses, of what was kept and cotangents of d, n, p1, p2."""

    @staticmethod
    def forward(plan: Plan, *t: Any) -> Any:
        bars = dict(zip(ANSWERS, map(array, t[KEPT:])))
        g = _closest.closest_vjp(plan.answer(t), method=plan.method, **bars, **plan.smoothing)
        return tensors_of([g.pose1, g.pose2])

    @staticmethod
    def vmap(info: Any, in_dims: Any, plan: Plan, *t: Any) -> Any:
        return _vmapped(AbutClosestVjp, info, in_dims, plan, t)


class AbutClosestJvp(_First):
    """Tangents of d, n, p1, p2, of what was kept and tangents of both poses."""

    @staticmethod
    def forward(plan: Plan, *t: Any) -> Any:
        r = plan.answer(t)
        poses, steps = (array(t[2]), array(t[3])), r._query.rows.write(None, "twists", (2, 6))
        for k, tangent in enumerate(map(array, t[KEPT:])):
            steps[..., k, :] = 0 if tangent is None else twists_of(poses[k], tangent)
        made = _closest.closest_jvp(r, steps.reshape(*steps.shape[:-2], 12), method=plan.method, **plan.smoothing)
        return tensors_of([getattr(made, name) for name in ANSWERS])

    @staticmethod
    def vmap(info: Any, in_dims: Any, plan: Plan, *t: Any) -> Any:
        return _vmapped(AbutClosestJvp, info, in_dims, plan, t)


# torch asks for it in every call.
for _function in (AbutClosest, AbutClosestVjp, AbutClosestJvp):
    _function.forward.__signature__ = inspect.signature(_function.forward)  # type: ignore[attr-defined]


def _row(row: Any, lead: Any, name: str) -> Tensor | None:
    if row is None:
        return None
    which = torch.as_tensor(row)
    if which.device.type != "cpu":
        raise ValueError(f"{name} is on {which.device}, not on the cpu")
    try:
        return which.expand(lead)
    except RuntimeError:
        raise ValueError(f"{name} has shape {tuple(which.shape)}, not {tuple(lead)}") from None


@torch.compiler.disable
def closest(shape1: Shapes, shape2: Shapes, pose1: Tensor | None, pose2: Tensor | None, method: str = "gumbel", *,
            one: Any = None, two: Any = None, **options: Any) -> Closest:
    """Signed distance, normal and closest points of two convex shapes at many poses, as abut.closest has them.

    shape1, shape2   a Shape each; or several of one context, of which `one` and `two` say which each pose's is
    pose1, pose2     (..., 6) twists, (..., 7) positions and quaternions, or (..., 4, 4) matrices; None is the
                     identity; leading axes are broadcast, and are those of the answer
    method           of the derivatives: "exact", "gumbel", "gaussian", "zeroth" or "finite"; what is computed is never
                     smoothed
    one, two         (...) whole numbers: rows of shape1 and of shape2 where these are lists
    options          of the query: cutoff, tolerance, iterations_most, corners_most as of abut.closest; of the
                     derivatives: temperature, level, epsilon, samples, seed, first, ridge as of abut.closest_jacobian
    Differentiable once, in both modes, by the poses' own numbers; torch.func's transformations work, second derivatives
    do not, and a program of torch.compile goes around it. A pose that is not finite gives zeros, as do its gradients.
    Errors: ValueError for shapes of arrays, dtypes, devices and rows without a shape; abut.Error.
    """
    shapes = listed(shape1, "shape1") + listed(shape2, "shape2")
    check_rows(shape1, one, 0)
    check_rows(shape2, two, 1)
    settings = {name: value for name, value in options.items() if name in SETTINGS}
    smoothing = {name: value for name, value in options.items() if name not in SETTINGS}
    smoothing_of(method, smoothing)
    check_poses(shapes, pose1, pose2)
    pose1, pose2 = of_one_batch(pose1, pose2)
    lead = pose1.shape[:-1]
    made = AbutClosest.apply(Plan(shape1, shape2, method, smoothing, settings), _row(one, lead, "one"),
                             _row(two, lead, "two"), pose1, pose2)
    return Closest(*made[:4])
