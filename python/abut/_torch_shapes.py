"""Contacts and reductions by shapes for torch, which abut.torch calls if shape1 or shape2 is given."""
from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from abut import _varied
from abut._torch_arrays import array, check_numbers, check_poses, of_one_batch, tensors_of

__all__ = ["shaped"]


class AbutShapes(torch.autograd.Function):
    """Computes the outputs of a plan from both poses and the arrays that vary."""

    @staticmethod
    def forward(plan: Any, *t: Any) -> Any:
        pose1, pose2, *numbers = map(array, t)
        if not pose1.size:
            return tuple(t[0].new_empty(shape, dtype=torch.uint8 if dtype.itemsize == 1 else t[0].dtype)
                         for shape, dtype in _varied.shapes_of(plan, pose1.shape[:-1]))
        return tensors_of(_varied.evaluate(plan, pose1, pose2, numbers))

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.plan = inputs[0]
        ctx.set_materialize_grads(False)
        if ctx.plan.kind is None or ctx.plan.nearest:
            ctx.mark_non_differentiable(output[-1])
        ctx.save_for_backward(*inputs[1:])

    @staticmethod
    def backward(ctx: Any, *bars: Any) -> Any:
        needs = ctx.needs_input_grad[1:]
        found = iter(AbutShapesBackward.apply(ctx.plan, needs, *ctx.saved_tensors, *bars))
        return (None, *(next(found) if need else None for need in needs))

    @staticmethod
    def jvp(ctx: Any, *along: Any) -> Any:
        raise NotImplementedError(_varied.NO_SECOND)


class AbutShapesBackward(torch.autograd.Function):
    """Computes the needed cotangents of the inputs from these and from the outputs' cotangents. It has no derivatives and refuses
    them, also as part of other functions."""

    @staticmethod
    def forward(plan: Any, needs: Any, *t: Any) -> Any:
        pose1, pose2, *rest = map(array, t)
        numbers, bars = rest[:len(plan.slots)], rest[len(plan.slots):]
        made = _varied.backward(plan, pose1, pose2, numbers, bars, needs)
        return tuple(torch.from_numpy(g) for g in made if g is not None)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, *bars: Any) -> Any:
        raise NotImplementedError(_varied.NO_SECOND)

    @staticmethod
    def jvp(ctx: Any, *along: Any) -> Any:
        raise NotImplementedError(_varied.NO_SECOND)


def _shape_of(precision: str) -> Any:
    def check(tensor: Any, name: str) -> tuple[int, ...]:
        check_numbers(precision, tensor, name)
        return tuple(tensor.shape)
    return check


@torch.compiler.disable
def shaped(pair: Any, pose1: Tensor | None, pose2: Tensor | None, shapes: tuple[Any, Any], index: Any, *,
           kind: str | None = None, want: Sequence[str] = (), nearest: bool = False, follow: bool = False
           ) -> tuple[_varied.Plan, tuple[Tensor, ...]]:
    """Returns the plan of a call and its results."""
    precision = getattr(getattr(pair, "context", None), "precision", "f32")
    plan, numbers = _varied.plan_of(pair, shapes, index, kind, want, nearest, follow, _shape_of(precision))
    check_poses((pair,), pose1, pose2)
    pose1, pose2 = of_one_batch(pose1, pose2)
    made: tuple[Tensor, ...] = AbutShapes.apply(plan, pose1, pose2, *numbers)
    return plan, made


# torch inspects it in every call.
AbutShapes.forward.__signature__ = inspect.signature(AbutShapes.forward)  # type: ignore[attr-defined]
AbutShapesBackward.forward.__signature__ = inspect.signature(AbutShapesBackward.forward)  # type: ignore[attr-defined]
