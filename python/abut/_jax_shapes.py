"""Contacts and reductions by shapes for JAX, which abut.jax calls if shape1 or shape2 is given.

Bodies are made from arrays on the host, so that calls are made through Python (jax.pure_callback) on every device.
"""
from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.custom_derivatives import SymbolicZero

from abut import _varied
from abut._xla import check_precision, poses_of, real_of


__all__ = ["shaped"]


def _forward(plan: _varied.Plan, pose1: Any, pose2: Any, *numbers: Any) -> tuple[Any, ...]:
    shapes = _varied.shapes_of(plan, pose1.shape[:-1])

    def call(*t: Any) -> Any:
        pose1, pose2, *numbers = map(np.asarray, t)
        if not pose1.size:
            return tuple(np.empty(shape, dtype) for shape, dtype in shapes)
        return tuple(_varied.evaluate(plan, pose1, pose2, numbers))

    return tuple(jax.pure_callback(call, [jax.ShapeDtypeStruct(*of) for of in shapes], pose1, pose2, *numbers,
                                   vmap_method="sequential"))


def _rule_forward(plan: _varied.Plan, *t: Any) -> Any:
    values = [x.value for x in t]
    # The differentiated arguments, so that only their derivatives are computed. They are passed in a structure without arrays,
    # which tracing does not change.
    return _forward(plan, *values), (values, tuple(() if x.perturbed else None for x in t))


def _rule_backward(plan: _varied.Plan, kept: Any, bars: Any) -> Any:
    values, perturbed = kept
    needs = [mark is not None for mark in perturbed]
    counted = bars[:len(plan.want) if plan.kind is None else 1]
    there = [not isinstance(bar, SymbolicZero) for bar in counted]
    if not any(there) or not any(needs):
        return (None,) * len(needs)

    def call(*t: Any) -> Any:
        pose1, pose2, *rest = map(np.asarray, t)
        numbers, given = rest[:len(plan.slots)], iter(rest[len(plan.slots):])
        made = _varied.backward(plan, pose1, pose2, numbers, [next(given) if is_there else None for is_there in there],
                                needs)
        return tuple(np.asarray(g) for g, need in zip(made, needs) if need)

    shapes = [jax.ShapeDtypeStruct(x.shape, x.dtype) for x, need in zip(values, needs) if need]
    found = iter(jax.pure_callback(call, shapes, *values, *(bar for bar, is_there in zip(counted, there) if is_there),
                                   vmap_method="sequential"))
    return tuple(next(found) if need else None for need in needs)


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _shapes(plan: _varied.Plan, *t: Any) -> tuple[Any, ...]:
    return _forward(plan, *t)


_shapes.defvjp(_rule_forward, _rule_backward, symbolic_zeros=True)


def shaped(pair: Any, pose1: Any, pose2: Any, shapes: tuple[Any, Any], index: Any, *, kind: str | None = None,
           want: Sequence[str] = (), nearest: bool = False, follow: bool = False
           ) -> tuple[_varied.Plan, tuple[Any, ...]]:
    """Returns the plan of a call and its results."""
    dtype = getattr(pair, "dtype", np.dtype(np.float32))
    plan, given = _varied.plan_of(pair, shapes, index, kind, want, nearest, follow,
                                  lambda value, name: tuple(real_of(value, dtype, name).shape))
    check_precision(dtype)
    one, two = poses_of(pose1, pose2, dtype)
    made = _shapes(plan, one, two, *(jnp.asarray(real_of(x, dtype, "shape")) for x in given))
    return plan, tuple(made)
