"""Collision in time for torch: what abut.torch.ccd and abut.torch.ccd_queries call.

Two Functions each: what is asked, whose backward and jvp multiply by the other's slopes of toi, so that torch.func's
transformations see through all; _torch_worlds.py says what may be called in them.
"""
from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from abut import _ccd, _forms
from abut._ccd import ANSWERS, LOW, MANY, POSES, QUERY_ANSWERS, Meshes, Move, Queries, meshes_of
from abut._ccd_mesh import CcdMesh
from abut._context import Context, default_context
from abut._torch import folded
from abut._torch_arrays import array, check_numbers, check_pose, tensors_of

__all__ = ["Ccd", "CcdQueries", "ccd", "ccd_queries"]

NO_SECOND = "times of impact have first derivatives, and no second ones"
MOVE_ANSWERS = tuple(ANSWERS)[:-1]
FEATURE_ANSWERS = tuple(QUERY_ANSWERS)[:-1]


class Ccd(NamedTuple):
    """How far pairs of meshes may go, of leading axes (...). toi alone has derivatives; the others count as constants.

    toi      (...) the largest time that is safe, 0 to 1
    status   (...) uint8, abut.CcdStatus
    kind     (...) int32, abut.CcdFeature of the first pair of features to touch
    feature1, feature2   (...) int64, which vertex, triangle or edge of each mesh
    p1, p2   (..., 3) nearest points of these at toi, in the world [m]
    n        (..., 3) unit, out of mesh 2; 0 where all are free
    """

    toi: Tensor
    status: Tensor
    kind: Tensor
    feature1: Tensor
    feature2: Tensor
    p1: Tensor
    p2: Tensor
    n: Tensor


class CcdQueries(NamedTuple):
    """How far pairs of features may go, of leading axes (...). toi alone has derivatives; the others count as constants.

    toi      (...) time of impact, 0 to `end`
    status   (...) uint8, abut.CcdStatus
    n        (..., 3) unit, along the gap at toi, from the second feature to the first
    d0       (...) certified lower bound of the distance at time 0 [m]
    """

    toi: Tensor
    status: Tensor
    n: Tensor
    d0: Tensor


class MovePlan(NamedTuple):
    """What is fixed in a call of two meshes."""

    meshes: tuple[CcdMesh, CcdMesh]
    settings: Mapping[str, Any]

    def move(self, t: Any) -> Move:
        return Move(self.meshes, [array(x) for x in t], self.settings)

    def answer(self, t: Any) -> tuple[Tensor, ...]:
        r = _ccd.answer(self.move(t))
        return tensors_of([_signed(getattr(r, name)) for name in MOVE_ANSWERS])

    def slopes(self, t: Any) -> tuple[Tensor, ...]:
        g = _ccd.gradients(self.move(t), None, POSES)[1]
        return tensors_of([getattr(g, name) for name in POSES])


class QueryPlan(NamedTuple):
    """What is fixed in a call of features."""

    context: Context
    settings: Mapping[str, Any]
    names: tuple[str, ...]  # of arrays beside the vertices

    def queries(self, t: Any) -> Queries:
        x0, x1, *more = map(array, t)
        return Queries(self.context, x0, x1, self.settings, dict(zip(self.names, more)))

    def answer(self, t: Any) -> tuple[Tensor, ...]:
        r = _ccd.query_answer(self.queries(t))
        return tensors_of([getattr(r, name) for name in FEATURE_ANSWERS])

    def slopes(self, t: Any) -> tuple[Tensor, ...]:
        return tensors_of(_ccd.query_gradients(self.queries(t))[1])


def _signed(numbers: Any) -> Any:
    """torch computes little with unsigned numbers of 32 bits."""
    return numbers.astype(np.int64) if numbers.dtype == np.uint32 else numbers


def _vmapped(function: Any, info: Any, in_dims: Any, plan: Any, t: Any) -> Any:
    made = function.apply(plan, *(folded(x, axis, info.batch_size) for x, axis in zip(t, in_dims[1:])))
    return made, (0,) * len(made)


class AbutCcd(torch.autograd.Function):
    """Answers, of a plan and of tensors: four poses; or vertices at both ends, and what is given beside them."""

    @staticmethod
    def forward(plan: Any, *t: Any) -> Any:
        return plan.answer(t)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.plan = inputs[0]
        ctx.set_materialize_grads(False)
        ctx.mark_non_differentiable(*output[1:])
        ctx.save_for_backward(*inputs[1:])
        ctx.save_for_forward(*inputs[1:])
        ctx.answers = len(output)

    @staticmethod
    def backward(ctx: Any, *bars: Any) -> Any:
        nothing = (None,) * (1 + len(ctx.saved_tensors))
        if bars[0] is None:
            return nothing
        slopes = AbutCcdSlopes.apply(ctx.plan, *ctx.saved_tensors)
        made = [slope * bars[0].reshape(bars[0].shape + (1,) * (slope.ndim - bars[0].ndim)) if need else None
                for slope, need in zip(slopes, ctx.needs_input_grad[1:])]
        return (None, *made, *nothing[1 + len(made):])

    @staticmethod
    def jvp(ctx: Any, *along: Any) -> Any:
        slopes = AbutCcdSlopes.apply(ctx.plan, *ctx.saved_tensors)
        axes = -1 if isinstance(ctx.plan, MovePlan) else (-2, -1)
        parts = [(slope * tangent).sum(axes) for slope, tangent in zip(slopes, along[1:]) if tangent is not None]
        return (sum(parts[1:], parts[0]), *(None,) * (ctx.answers - 1))

    @staticmethod
    def vmap(info: Any, in_dims: Any, plan: Any, *t: Any) -> Any:
        return _vmapped(AbutCcd, info, in_dims, plan, t)


class AbutCcdSlopes(torch.autograd.Function):
    """Derivatives of toi by four poses, or by vertices at both ends, of the same."""

    @staticmethod
    def forward(plan: Any, *t: Any) -> Any:
        return plan.slopes(t)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, *bars: Any) -> Any:
        raise NotImplementedError(NO_SECOND)

    @staticmethod
    def jvp(ctx: Any, *along: Any) -> Any:
        raise NotImplementedError(NO_SECOND)

    @staticmethod
    def vmap(info: Any, in_dims: Any, plan: Any, *t: Any) -> Any:
        return _vmapped(AbutCcdSlopes, info, in_dims, plan, t)


# torch asks for it in every call.
for _function in (AbutCcd, AbutCcdSlopes):
    _function.forward.__signature__ = inspect.signature(_function.forward)  # type: ignore[attr-defined]


def _together(arrays: Mapping[str, Tensor], tails: list[int]) -> list[Tensor]:
    """Tensors of one batch, with all its leading axes."""
    lead = _ccd.common_lead(arrays, tails)
    return [a.expand((*lead, *a.shape[a.ndim - tail:])) for a, tail in zip(arrays.values(), tails)]


@torch.compiler.disable
def ccd(pair: Meshes, from1: Tensor | None, to1: Tensor | None, from2: Tensor | None, to2: Tensor | None, *,
        motion: str = "linear", center1: Any = (0.0, 0.0, 0.0), center2: Any = (0.0, 0.0, 0.0), separation: float = 0.0,
        keep: float = 0.0, tolerance: float = 0.0, iterations: int = 0) -> Ccd:
    """How far two meshes may go from one pose to another before they touch, at many poses, as abut.ccd has it.

    pair            an abut.Pair, or two abut.CcdMesh of one context
    from1, to1, from2, to2   (..., 6) twists, (..., 7) positions and quaternions, or (..., 4, 4) matrices of both meshes at
                    times 0 and 1; None is the identity; leading axes are broadcast, and are those of the answer
    motion, center1, center2, separation, keep, tolerance, iterations   as of abut.ccd
    toi is differentiable once, in both modes, by the poses' own numbers, at a fixed distance: what `keep` takes from the
    poses at time 0 counts as constant. Derivatives are 0 but for a HIT that is not ROUGH (abut.ccd_gradient tells).
    torch.func's transformations work, and a program of torch.compile goes around it. Errors: ValueError for shapes of
    arrays, dtypes, devices and words; abut.Error.
    """
    meshes = meshes_of(pair)
    settings = _ccd.batch_settings(motion, center1, center2, separation, keep, tolerance, iterations)
    given = (from1, to1, from2, to2)
    for name, pose in zip(POSES, given):
        check_pose(meshes[0], pose, name)
    poses = _forms.all_of_one_kind(torch, given, POSES)
    _ccd.check_widths(poses)
    made = AbutCcd.apply(MovePlan(meshes, settings), *_together(dict(zip(POSES, poses)), [1] * len(POSES)))
    return Ccd(*made)


@torch.compiler.disable
def ccd_queries(kind: str, x0: Tensor, x1: Tensor, *, separation: Any = 0.0, keep: Any = 0.0, tolerance: Any = 0.0,
                end: Any = 1.0, error: Any = 0.0, relative_error: Any = 0.0, method: str = "certified",
                iterations: int = 0, x0_low: Tensor | None = None, x1_low: Tensor | None = None, plain: bool = False,
                context: Context | None = None) -> CcdQueries:
    """Up to which time two features stay apart while their vertices go straight, as abut.ccd_queries has it.

    kind            "pp", "pe", "pt" or "ee", or their words
    x0, x1          (..., V, 3) vertices at times 0 and 1 [m]; leading axes, also those of settings, are broadcast, and
                    are those of the answer
    separation, keep, tolerance, end, error, relative_error   numbers, or tensors (...)
    method, iterations, x0_low, x1_low, plain, context   as of abut.ccd_queries
    toi is differentiable once, in both modes, by x0 and x1 alone, at a fixed distance: what `keep` takes from the vertices
    at time 0 counts as constant. Derivatives are 0 but for a HIT that is not ROUGH (abut.ccd_queries_gradient tells).
    torch.func's transformations work, and a program of torch.compile goes around it. Errors: ValueError for shapes of
    arrays, dtypes, devices, words and for a setting that asks for a gradient; abut.Error.
    """
    chosen = default_context() if context is None else context
    numbers, many = _ccd.split_settings({"separation": separation, "keep": keep, "tolerance": tolerance, "end": end,
                                         "error": error, "relative_error": relative_error}, Tensor)
    settings = {**_ccd.query_settings(kind, method, iterations, plain), **numbers}
    given = {"x0": x0, "x1": x1, "x0_low": x0_low, "x1_low": x1_low, **{name: many.get(name) for name in MANY}}
    there = {name: value for name, value in given.items() if value is not None}
    for name, value in there.items():
        check_numbers(chosen.precision, value, name)
        if value.requires_grad and name not in ("x0", "x1"):
            raise ValueError(f"{name} asks for a gradient: times of impact have derivatives by x0 and x1 alone")
    operands = _together(there, _ccd.axes_of(there, (_ccd.VERTICES[settings["kind"]], 3)))
    names = tuple(name for name in (*LOW, *MANY) if name in there)
    return CcdQueries(*AbutCcd.apply(QueryPlan(chosen, settings, names), *operands))
