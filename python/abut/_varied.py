"""Contacts and reductions as functions of the bodies' numbers, which abut.torch and abut.jax differentiate with respect to
shapes.

The caller's numbers replace those of a pair's bodies; the other numbers and the smoothing do not change. Each call makes
bodies from them, unless the last call had the same numbers, as for a derivative.
"""
from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from abut import _calls, _shapes
from abut._arrays import check_names
from abut._body import Body
from abut._calls import ALL_OUTPUTS, OUTPUTS, REDUCTIONS, VALUES
from abut._pair import Pair
from abut._shape_numbers import LISTS, ROWS, ShapeNumbers, create, times

Arrays = np.ndarray[Any, Any]
NO_SECOND = "contacts have only first derivatives by shapes, in reverse mode"
BLOCK, ROOM = 256, 1 << 24  # poses whose rows of a reduction's gradient are in memory at once, and their total numbers


class Slot(NamedTuple):
    """An array that varies: its body, 1 or 2, its name, and its primitive's index (-1 for an array of all primitives)."""

    side: int
    name: str
    one: int

    def __str__(self) -> str:
        return f"shape{self.side}[{self.name!r}]" + (f"[{self.one}]" if self.one >= 0 else "")


class Plan(NamedTuple):
    """The fixed arguments of a call.

    kind  the reduction, or None for contacts
    want  the outputs, for contacts
    """

    pair: Pair
    slots: tuple[Slot, ...]
    kind: str | None
    want: tuple[str, ...]
    nearest: bool
    follow: bool


class _Kept:
    """Data kept with a pair: its bodies' numbers, and the pair that the last call has made."""

    def __init__(self, pair: Pair) -> None:
        self.numbers = tuple(body.shape() for body in pair.bodies)
        self.last: tuple[Any, Pair] | None = None


def _kept(pair: Pair) -> _Kept:
    if pair._varied is None:
        pair.handle  # raises an error for a closed pair
        pair._varied = _Kept(pair)
    kept: _Kept = pair._varied
    return kept


def plan_of(pair: Any, shapes: tuple[Any, Any], index: Any, kind: str | None, want: Sequence[str], nearest: bool,
            follow: bool, shape_of: Callable[[Any, str], tuple[int, ...]]) -> tuple[Plan, list[Any]]:
    """Returns the plan, and the arrays in its order. shape_of checks an array for its kind and returns its shape."""
    if not isinstance(pair, Pair) or index is not None:
        raise ValueError("shape1 and shape2 work only with one abut.Pair, without a list of pairs and an index")
    if kind is None:
        check_names(want, ALL_OUTPUTS, "want")
        if "weight" in want:
            raise ValueError("weights have no derivatives by shapes: leave 'weight' out of want")
    elif kind not in REDUCTIONS or kind == "soft_distance":
        known = ", ".join(name for name in REDUCTIONS if name != "soft_distance")
        raise ValueError(f"the reduction {kind!r} has no derivatives by shapes; {known} have" if kind in VALUES else
                         f"a reduction {kind!r} is not among {known}")
    slots, arrays = [], []
    for side, given in enumerate(shapes, 1):
        if given is not None and not isinstance(given, Mapping):
            raise ValueError(f"shape{side} is a {type(given).__name__}, not a mapping of names to arrays")
        for name, value in (given or {}).items():
            check_names((name,), tuple(ROWS), f"shape{side}")
            there = getattr(_kept(pair).numbers[side - 1], name)
            if name in LISTS:
                if not isinstance(value, (list, tuple)) or len(value) != len(there):
                    raise ValueError(f"shape{side}[{name!r}] is a {type(value).__name__}, not a list of {len(there)}, one "
                                     "for each primitive")
                more = [(Slot(side, name, i), one) for i, one in enumerate(value)]
            else:
                more = [(Slot(side, name, -1), value)]
            for slot, array in more:
                wanted = there.shape if slot.one < 0 else there[slot.one].shape
                shape = shape_of(array, str(slot))
                if shape != wanted:
                    raise ValueError(f"{slot} has shape {shape}, not {wanted} as the body has")
                slots.append(slot)
                arrays.append(array)
    if follow and not slots:
        raise ValueError("follow works only with shape1 or shape2: give one")
    return Plan(pair, tuple(slots), kind, tuple(name for name in OUTPUTS if name in want), nearest, follow), arrays


def _replaced(numbers: ShapeNumbers, plan: Plan, arrays: Sequence[Arrays], side: int) -> ShapeNumbers:
    changed: dict[str, Any] = {}
    for slot, array in zip(plan.slots, arrays):
        if slot.side == side:
            if slot.one < 0:
                changed[slot.name] = np.asarray(array, np.float64)
            else:
                of = changed.setdefault(slot.name, list(getattr(numbers, slot.name)))
                of[slot.one] = np.asarray(array, np.float64)
    return dataclasses.replace(numbers, **changed)


def pair_with(plan: Plan, arrays: Sequence[Arrays]) -> Pair:
    """Returns the pair of bodies with these numbers; that of the last call if the numbers are the same."""
    kept, pair = _kept(plan.pair), plan.pair
    key = (plan.slots, *(np.asarray(a).tobytes() for a in arrays))
    last = kept.last
    if last is not None and last[0] == key and last[1]._handle is not None:
        return last[1]
    pair.handle
    same = pair.bodies[0] is pair.bodies[1]
    bodies = []
    for side, body in enumerate(pair.bodies, 1):
        varies = any(slot.side == side for slot in plan.slots)
        numbers = _replaced(kept.numbers[side - 1], plan, arrays, side)
        bodies.append(Body(pair.context, create(pair.context, numbers)) if varies or same else body)
    made = Pair(bodies[0], bodies[1], pair.smoothing)
    kept.last = key, made
    return made


def evaluate(plan: Plan, pose1: Arrays, pose2: Arrays, arrays: Sequence[Arrays]) -> list[Arrays]:
    """Computes the wanted outputs, then status; or a reduction, then the nearest distance if requested."""
    made = pair_with(plan, arrays)
    if plan.kind is None:
        c = _calls.contacts(made, pose1, pose2, want=plan.want)
        return [*(getattr(c, name) for name in plan.want), np.asarray(c.status)]
    r = _calls.reduce(made, pose1, pose2, plan.kind, nearest=plan.nearest)
    return [r.value, np.asarray(r.nearest)] if plan.nearest else [r.value]


def shapes_of(plan: Plan, lead: tuple[int, ...]) -> list[tuple[tuple[int, ...], Any]]:
    """Returns shapes and kinds of these numbers."""
    dtype = plan.pair.dtype
    if plan.kind is not None:
        return [(lead, dtype)] * (2 if plan.nearest else 1)
    return [*((lead + _calls.contact_shape(name, plan.pair.C), dtype) for name in plan.want), (lead, np.dtype(np.uint8))]


def _by_quaternion(q: Arrays, by_twist: Arrays) -> Arrays:
    """Returns the derivative with respect to q of a function of q / |q|.

    A rotation by w in its own axes changes q by q (0, w / 2)."""
    length = np.linalg.norm(q, axis=-1, keepdims=True)
    unit = np.concatenate([np.zeros_like(by_twist[..., :1]), by_twist], -1)
    return np.asarray(2.0 / length * times(q / length, unit))


def _by_normal(n: Arrays, by_unit: Arrays) -> Arrays:
    """Returns the derivative with respect to n of a function of n / |n|."""
    length = np.linalg.norm(n, axis=-1, keepdims=True)
    unit = n / length
    return np.asarray((by_unit - (by_unit * unit).sum(-1, keepdims=True) * unit) / length)


def _weighed_gradient(plan: Plan, made: Pair, pose1: Arrays, pose2: Arrays, bar: Arrays) -> Any:
    """Computes gradients with respect to shapes of the sum of a reduction times one number per pose."""
    assert plan.kind is not None
    if (bar == bar.flat[0]).all():
        both = _shapes.shape_gradient(made, pose1, pose2, plan.kind, follow=plan.follow)
        return [_mapped(lambda x: float(bar.flat[0]) * x, one) for one in both]
    flat, total = [x.reshape(-1, x.shape[-1]) for x in (pose1, pose2)], None
    block = max(1, min(BLOCK, ROOM // sum(_count(numbers) for numbers in _kept(plan.pair).numbers)))
    for first in range(0, bar.size, block):
        part = slice(first, first + block)
        weights = bar.ravel()[part].astype(np.float64)
        rows = _shapes.shape_gradient(made, flat[0][part], flat[1][part], plan.kind, each_pose=True, follow=plan.follow)
        some = np.all([np.isfinite(x[part]).all(1) & (x[part][:, 3:].any(1) | (x.shape[1] == 6)) for x in flat], 0)
        sums = [_mapped(lambda x: np.tensordot(weights[some], x[some], 1), one) for one in rows]
        total = sums if total is None else [_added(a, b) for a, b in zip(total, sums)]
    return total


def _count(numbers: ShapeNumbers) -> int:
    """Returns how many numbers vary, at least the vertices."""
    return 1 + sum(sum(x.size for x in value) if isinstance(value, list) else value.size
                   for value in (getattr(numbers, name) for name in ROWS))


def _mapped(of: Callable[[Arrays], Arrays], g: Any) -> Any:
    return type(g)(*(tuple(map(of, value)) if isinstance(value, tuple) else of(value) for value in g))


def _added(a: Any, b: Any) -> Any:
    return type(a)(*(tuple(x + y for x, y in zip(one, two)) if isinstance(one, tuple) else one + two
                     for one, two in zip(a, b)))


def backward(plan: Plan, pose1: Arrays, pose2: Arrays, arrays: Sequence[Arrays], bars: Sequence[Arrays | None],
             needs: Sequence[bool]) -> list[Arrays | None]:
    """Computes the needed cotangents of both poses and of the arrays from those of the outputs (the wanted outputs of contacts,
    the first output of a reduction)."""
    made, dtype = pair_with(plan, arrays), plan.pair.dtype
    out: list[Arrays | None] = [None] * (2 + len(arrays))
    if plan.kind is None:
        given: dict[str, Any] = {name: bar for name, bar in zip(plan.want, bars) if bar is not None}
        nothing = not given
    else:
        given, nothing = {}, bars[0] is None
    if not pose1.size or nothing:
        zeros = [np.zeros_like(x, dtype) for x in (pose1, pose2, *arrays)]
        return [x if need else None for x, need in zip(zeros, needs)]
    if needs[0] or needs[1]:
        if plan.kind is None:
            both = _calls.vjp(made, pose1, pose2, **given)
        else:
            r = _calls.reduce(made, pose1, pose2, plan.kind, grad=True)
            both = tuple(np.asarray(bars[0])[..., None] * g for g in (r.grad1, r.grad2))
        out[:2] = [g if need else None for g, need in zip(both, needs)]
    if any(needs[2:]):
        if plan.kind is None:
            g = _shapes.shape_vjp(made, pose1, pose2, **given, follow=plan.follow)
        else:
            g = _weighed_gradient(plan, made, pose1, pose2, np.asarray(bars[0]))
        for k, (slot, array) in enumerate(zip(plan.slots, arrays)):
            if needs[2 + k]:
                found = getattr(g[slot.side - 1], slot.name)
                found = found if slot.one < 0 else found[slot.one]
                if slot.name in ("rotation", "core_rotation"):
                    found = _by_quaternion(np.asarray(array, np.float64), found)
                elif slot.name in ("plane_normals", "cloud_normals"):
                    found = _by_normal(np.asarray(array, np.float64), found)
                out[2 + k] = np.asarray(found, dtype)
    return out
