"""Closest points of convex shapes as JAX primitives: what abut.jax.closest calls.

Operands are both poses and, where `indexed`, rows of the shapes; of derivatives then the answers d, n, p1, p2 and
status, and either twists of both bodies (..., 12) or cotangents by `bars`, in which they are linear and each other's
transposes. All have the same leading axes. python/xla_closest.c has the settings' names, too.
"""
from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from abut import _closest, _forms
from abut._closest import (ANSWERS, METHODS, SETTINGS, SMOOTHING, TAILS, TWISTS, Query, Shapes, check_rows, context_of,
                           listed, set_members, smoothing_of)
from abut._native import ffi, lib
from abut._xla import batched, bits_of, check_precision, eager, handle_of, poses_of, register

__all__ = ["Closest", "closest"]

TARGET = "abut_closest"
NO_SECOND = "closest points have first derivatives, and no second ones"
Params = dict[str, Any]
Numbers = tuple[tuple[str, Any], ...]


class Closest(NamedTuple):
    """Closest points of leading axes (...).

    d       (...) signed distance [m]
    n       (..., 3) unit normal in the world, from shape 1 to shape 2
    p1, p2  (..., 3) closest points in the world [m]; p2 = p1 + d n
    """

    d: jax.Array
    n: jax.Array
    p1: jax.Array
    p2: jax.Array


def _results(op: str) -> list[tuple[int, ...]]:
    return [(TWISTS,)] if op == "vjp" else [TAILS[name] for name in ANSWERS]


def _abstract(op: str, pose1: Any, *rest: Any, **params: Any) -> list[Any]:
    make, lead = type(pose1), pose1.shape[:-1]
    made = [make(lead + tail, pose1.dtype) for tail in _results(op)]
    return made + [make(lead, np.dtype(np.uint8))] * (op == "query")


# ---- how they are computed ----

def _number(value: Any) -> Any:
    """A setting as 64 bits."""
    return np.float64(value).view(np.int64) if isinstance(value, float) else np.uint64(value).view(np.int64)


def _lower(number: int, ctx: Any, *operands: Any, shapes: Any, indexed: bool, settings: Any, smoothing: Any,
           bars: int = 0) -> Any:
    """For CPUs: the handler itself. The program keeps its shapes."""
    register(TARGET)
    ctx.module_context.add_keepalive(shapes)
    handles = np.array([handle_of(shape) for shape in shapes], np.uint64).view(np.int64)
    context = np.array(handle_of(shapes[0].context), np.uint64).view(np.int64)[()]
    numbers = {name: _number(value) for name, value in (*settings, *smoothing)}
    return jax.ffi.ffi_lowering(TARGET)(ctx, *operands, op=np.int64(number), context=context, shapes=handles,
                                        indexed=np.int64(indexed), bars=np.int64(bars), **numbers)


def _evaluate(op: str, arrays: Sequence[Any], *, shapes: Any, indexed: bool, settings: Any, smoothing: Any,
              bars: int = 0) -> list[Any]:
    """The same by the package's own functions, of arrays in the host's memory."""
    rest = [np.asarray(a) for a in arrays]
    p1, p2 = rest.pop(0), rest.pop(0)
    if indexed:
        query = Query(shapes, shapes, p1, p2, rest.pop(0), rest.pop(0), dict(settings))
    else:
        query = Query(shapes[0], shapes[1], p1, p2, None, None, dict(settings))
    if op == "query":
        r = _closest.answer(query)
        return [r.d, r.n, r.p1, r.p2, r.status]
    d, n, p1, p2, status = rest[:5]
    r = _closest.Closest(d, n, p1, p2, d, status, status, status, 0, 0, query)
    options: Params = dict(smoothing)
    options["method"] = METHODS[options["method"]]
    if op == "jvp":
        made = _closest.closest_jvp(r, rest[5], **options)
        return [getattr(made, name) for name in ANSWERS]
    names = [name for k, name in enumerate(ANSWERS) if bars >> k & 1]
    given: Params = dict(zip(names, rest[5:]))
    return [_closest.closest_vjp(r, **given, **options).twists]


def _by_callback(op: str, *args: Any, **params: Any) -> Any:
    """For devices whose memory the library does not share: through the host, by Python."""
    shapes = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in _abstract(
        op, jax.core.ShapedArray(args[0].shape, args[0].dtype), **params)]
    return jax.pure_callback(lambda *arrays: _evaluate(op, arrays, **params), shapes, *args)


def _make(op: str, number: int) -> Any:
    p: Any = Primitive("abut_closest_" + op)
    p.multiple_results = True
    p.def_impl(lambda *args, **params: eager(*args, primitive=p, params=tuple(sorted(params.items()))))
    p.def_abstract_eval(functools.partial(_abstract, op))
    batching.primitive_batchers[p] = functools.partial(batched, p)
    mlir.register_lowering(p, functools.partial(_lower, number), platform="cpu")
    mlir.register_lowering(p, mlir.lower_fun(functools.partial(_by_callback, op), multiple_results=True))
    return p


_query = _make("query", 0)
_vjp = _make("vjp", 1)
_jvp = _make("jvp", 2)


# ---- derivatives ----

def _zero_of(value: Any) -> Any:
    return ad.Zero(jax.typeof(value).to_tangent_aval())


def _is_zero(tangent: Any) -> bool:
    return type(tangent) is ad.Zero


def _world_twists(pose: jax.Array, tangent: Any) -> jax.Array:
    """World twists (..., 6) that tangents of a pose's own numbers make; 0 of a pose that is not one."""
    if _is_zero(tangent):
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


def _query_jvp(primals: Any, tangents: Any, **params: Any) -> Any:
    answers = _query.bind(*primals, **params)
    if all(map(_is_zero, tangents[:2])):
        return answers, [_zero_of(value) for value in answers]
    twists = jnp.concatenate([_world_twists(*side) for side in zip(primals[:2], tangents[:2])], -1)
    slopes = _jvp.bind(*primals, *answers, twists, **params)
    return answers, [*slopes, _zero_of(answers[-1])]


def _there(values: Sequence[Any]) -> tuple[int, list[Any]]:
    """Bits of what is not a symbolic zero, and these."""
    return bits_of([not _is_zero(v) for v in values]), [v for v in values if not _is_zero(v)]


def _jvp_transposed(cotangents: Any, *args: Any, **params: Any) -> Any:
    bars, found = _there(cotangents)
    if not bars:
        return [None] * len(args)
    return [None] * (len(args) - 1) + _vjp.bind(*args[:-1], *found, bars=bars, **params)


def _vjp_transposed(cotangents: Any, *args: Any, bars: int, **params: Any) -> Any:
    count = len(args) - bin(bars).count("1")
    if _is_zero(cotangents[0]):
        return [None] * len(args)
    slopes = _jvp.bind(*args[:count], cotangents[0], **params)
    there = [slope for k, slope in enumerate(slopes) if bars >> k & 1]
    return [None] * count + [slope if ad.is_undefined_primal(bar) else None for slope, bar in zip(there, args[count:])]


def _jvp_jvp(primals: Any, tangents: Any, **params: Any) -> Any:
    """It is linear in the twists; there are no second derivatives."""
    if not all(map(_is_zero, tangents[:-1])):
        raise NotImplementedError(NO_SECOND)
    return _jvp.bind(*primals, **params), _jvp.bind(*primals[:-1], tangents[-1], **params)


def _vjp_jvp(primals: Any, tangents: Any, *, bars: int, **params: Any) -> Any:
    count = len(primals) - bin(bars).count("1")
    if not all(map(_is_zero, tangents[:count])):
        raise NotImplementedError(NO_SECOND)
    places = [k for k in range(len(ANSWERS)) if bars >> k & 1]
    along = [(k, t) for k, t in zip(places, tangents[count:]) if not _is_zero(t)]
    slopes = _vjp.bind(*primals[:count], *(t for _, t in along), bars=sum(1 << k for k, _ in along), **params)
    return _vjp.bind(*primals, bars=bars, **params), slopes


ad.primitive_jvps.update({_query: _query_jvp, _jvp: _jvp_jvp, _vjp: _vjp_jvp})
ad.primitive_transposes[_jvp] = _jvp_transposed
ad.primitive_transposes[_vjp] = _vjp_transposed


# ---- what is called ----

def _row(row: Any, lead: tuple[int, ...], count: int, shift: int, name: str) -> jax.Array:
    """Rows in the list of all shapes; of what names none a number that the library refuses."""
    which = jnp.asarray(0 if row is None else row)
    if which.dtype.kind not in "iu":
        raise ValueError(f"{name} holds {which.dtype.name}, not whole numbers")
    if not isinstance(row, jax.Array) and row is not None:
        given = np.asarray(row)
        if given.size and (given.min() < 0 or given.max() >= count):
            raise ValueError(f"{name} names a shape that is not among the {count}")
    try:
        which = jnp.broadcast_to(which, lead)
    except ValueError:
        raise ValueError(f"{name} has shape {which.shape}, not {lead}") from None
    return jnp.where((which >= 0) & (which < count), which.astype(np.uint32) + shift, np.uint32(0xffffffff))


def numbers_of(method: str, options: Params) -> tuple[Numbers, Numbers]:
    """Settings of a query and of its derivatives, all of them, as the C API's structs have taken them."""
    batch = ffi.new("abut_closest_batch *", lib.abut_default_closest_batch())
    set_members(batch, {name: value for name, value in options.items() if name in SETTINGS}, SETTINGS)
    smoothing = smoothing_of(method, {name: value for name, value in options.items() if name not in SETTINGS})
    return (tuple((name, getattr(batch, name)) for name in SETTINGS),
            (("method", METHODS.index(method)), *((name, getattr(smoothing, name)) for name in SMOOTHING)))


def closest(shape1: Shapes, shape2: Shapes, pose1: Any, pose2: Any, method: str = "gumbel", *, one: Any = None,
            two: Any = None, **options: Any) -> Closest:
    """Signed distance, normal and closest points of two convex shapes at many poses, as abut.closest has them.

    shape1, shape2   a Shape each; or several of one context, of which `one` and `two` say which each pose's is
    pose1, pose2     (..., 6) twists, (..., 7) positions and quaternions, or (..., 4, 4) matrices; None is the
                     identity; leading axes are broadcast, and are those of the answer
    method           of the derivatives: "exact", "gumbel", "gaussian", "zeroth" or "finite"; what is computed is never
                     smoothed
    one, two         (...) whole numbers: rows of shape1 and of shape2 where these are lists
    options          of the query: cutoff, tolerance, iterations_most, corners_most as of abut.closest; of the
                     derivatives: temperature, level, epsilon, samples, seed, first, ridge as of abut.closest_jacobian
    Differentiable once, in both modes, by the poses' own numbers. A pose that is not finite gives zeros, as do its
    gradients. Errors: ValueError for shapes of arrays and dtypes, while tracing; the library's own come out of the
    program, and so does a traced row without a shape.
    """
    context = context_of(shape1, shape2)
    check_rows(shape1, one, 0)
    check_rows(shape2, two, 1)
    check_precision(context.dtype)
    settings, smoothing = numbers_of(method, options)
    operands = poses_of(pose1, pose2, context.dtype)
    first, second = listed(shape1, "shape1"), listed(shape2, "shape2")
    indexed, lead = one is not None or two is not None, operands[0].shape[:-1]
    if indexed:
        operands += [_row(one, lead, len(first), 0, "one"), _row(two, lead, len(second), len(first), "two")]
    made = _query.bind(*operands, shapes=first + second, indexed=indexed, settings=settings, smoothing=smoothing)
    return Closest(*made[:4])
