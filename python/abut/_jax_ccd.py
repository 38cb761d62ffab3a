"""Collision in time as JAX primitives: what abut.jax.ccd and abut.jax.ccd_queries call.

Operands are four poses; or vertices at both ends and what is given beside them, by bits of `given`. All have the same
leading axes. With `slopes` a primitive also gives the derivatives of toi, by which its tangents are sums, whose
transposes JAX makes itself. python/xla_ccd.c has the settings' names, too.
"""
from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from abut import _ccd, _forms
from abut._ccd import (ANSWERS, BATCH_SETTINGS, LOW, MANY, POSES, QUERY_ANSWERS, QUERY_SETTINGS, ROW_SETTINGS, VERTICES,
                       Meshes, Move, Queries, meshes_of)
from abut._closest import set_members
from abut._context import Context, default_context
from abut._native import ffi, lib
from abut._xla import batched, bits_of, check_precision, eager, handle_of, real_of, register

__all__ = ["Ccd", "CcdQueries", "ccd", "ccd_queries"]

TARGET = "abut_ccd"
NO_SECOND = "times of impact have first derivatives, and no second ones"
BY_VERTICES = "times of impact have derivatives by x0 and x1 alone, not by settings"
GIVEN = (*LOW, *MANY)
Params = dict[str, Any]


class Ccd(NamedTuple):
    """How far pairs of meshes may go, of leading axes (...). toi alone has derivatives; the others count as constants.

    toi      (...) the largest time that is safe, 0 to 1
    status   (...) uint8, abut.CcdStatus
    kind     (...) int32, abut.CcdFeature of the first pair of features to touch
    feature1, feature2   (...) uint32, which vertex, triangle or edge of each mesh
    p1, p2   (..., 3) nearest points of these at toi, in the world [m]
    n        (..., 3) unit, out of mesh 2; 0 where all are free
    """

    toi: jax.Array
    status: jax.Array
    kind: jax.Array
    feature1: jax.Array
    feature2: jax.Array
    p1: jax.Array
    p2: jax.Array
    n: jax.Array


class CcdQueries(NamedTuple):
    """How far pairs of features may go, of leading axes (...). toi alone has derivatives; the others count as constants.

    toi      (...) time of impact, 0 to `end`
    status   (...) uint8, abut.CcdStatus
    n        (..., 3) unit, along the gap at toi, from the second feature to the first
    d0       (...) certified lower bound of the distance at time 0 [m]
    """

    toi: jax.Array
    status: jax.Array
    n: jax.Array
    d0: jax.Array


def _axes(op: str) -> int:
    """How many axes of the first operand are an entry's."""
    return 2 if op == "queries" else 1


def _abstract(op: str, first: Any, *rest: Any, slopes: bool, **params: Any) -> list[Any]:
    make, lead = type(first), first.shape[:first.ndim - _axes(op)]
    answers = QUERY_ANSWERS if op == "queries" else ANSWERS
    made = [make(lead + tail, np.dtype(dtype or first.dtype)) for tail, dtype in answers.values()]
    return made + [make(first.shape, first.dtype)] * ((2 if op == "queries" else 4) if slopes else 0)


# ---- how they are computed ----

def _bits(numbers: Sequence[float]) -> Any:
    return np.array(numbers, np.float64).view(np.int64)


def _lower(op: str, ctx: Any, *operands: Any, slopes: bool, owners: Any, reals: Any, **numbers: int) -> Any:
    """For CPUs: the handler itself. The program keeps its context or meshes."""
    register(TARGET)
    ctx.module_context.add_keepalive(owners)
    handles = np.array([handle_of(owner) for owner in owners], np.uint64).view(np.int64)
    return jax.ffi.ffi_lowering(TARGET)(ctx, *operands, op=np.int64(op == "meshes"), slopes=np.int64(slopes), owners=handles,
                                        reals=_bits(reals), **{name: np.int64(value) for name, value in numbers.items()})


def _evaluate(op: str, arrays: Sequence[Any], *, slopes: bool, owners: Any, reals: Any, **numbers: int) -> list[Any]:
    """The same by the package's own functions, of arrays in the host's memory."""
    given = [np.asarray(a) for a in arrays]
    if op == "queries":
        bits = numbers.pop("given")
        more = dict(zip([name for k, name in enumerate(GIVEN) if bits >> k & 1], given[2:]))
        queries = Queries(owners[0], given[0], given[1], {**dict(zip(ROW_SETTINGS, reals)), **numbers}, more)
        if slopes:
            made, found = _ccd.query_gradients(queries, tuple(QUERY_ANSWERS))
            return [*made.values(), *found]
        r = _ccd.query_answer(queries)
        return [getattr(r, name) for name in QUERY_ANSWERS]
    settings = {**dict(zip(("separation", "keep", "tolerance"), reals)), "center1": list(reals[3:6]),
                "center2": list(reals[6:]), **numbers}
    move = Move(owners, given, settings)
    if slopes:
        made, g = _ccd.gradients(move, None, POSES, tuple(ANSWERS))
        return [*made.values(), *(getattr(g, name) for name in POSES)]
    answer = _ccd.answer(move)
    return [getattr(answer, name) for name in ANSWERS]


def _by_callback(op: str, *args: Any, **params: Any) -> Any:
    """For devices whose memory the library does not share: through the host, by Python."""
    shapes = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in _abstract(
        op, jax.core.ShapedArray(args[0].shape, args[0].dtype), **params)]
    return jax.pure_callback(lambda *arrays: _evaluate(op, arrays, **params), shapes, *args)


def _make(op: str) -> Any:
    p: Any = Primitive("abut_ccd_" + op)
    p.multiple_results = True
    p.def_impl(lambda *args, **params: eager(*args, primitive=p, params=tuple(sorted(params.items()))))
    p.def_abstract_eval(functools.partial(_abstract, op))
    batching.primitive_batchers[p] = functools.partial(batched, p)
    mlir.register_lowering(p, functools.partial(_lower, op), platform="cpu")
    mlir.register_lowering(p, mlir.lower_fun(functools.partial(_by_callback, op), multiple_results=True))
    ad.primitive_jvps[p] = functools.partial(_differentiate, p, op)
    return p


# ---- derivatives ----

def _zero_of(value: Any) -> Any:
    return ad.Zero(jax.typeof(value).to_tangent_aval())


def _is_zero(tangent: Any) -> bool:
    return type(tangent) is ad.Zero


def _along(slope: jax.Array, tangent: Any, axes: int) -> jax.Array:
    """What a tangent changes."""
    changed = slope * tangent
    return changed.sum(tuple(range(changed.ndim - axes, changed.ndim)))


def _differentiate(p: Any, op: str, primals: Any, tangents: Any, *, slopes: bool, **params: Any) -> Any:
    moving = 2 if op == "queries" else 4
    if not all(map(_is_zero, tangents[moving:])):
        raise NotImplementedError(BY_VERTICES)
    count = len(QUERY_ANSWERS if op == "queries" else ANSWERS)
    along = [(k, tangent) for k, tangent in enumerate(tangents[:moving]) if not _is_zero(tangent)]
    if slopes and along:
        raise NotImplementedError(NO_SECOND)
    made = p.bind(*primals, slopes=slopes or bool(along), **params)
    answers = made if slopes else made[:count]
    changes = [_zero_of(value) for value in answers]
    if along:
        parts = [_along(made[count + k], tangent, _axes(op)) for k, tangent in along]
        changes[0] = functools.reduce(jnp.add, parts)
    return answers, changes


_queries = _make("queries")
_meshes = _make("meshes")


# ---- what is called ----

def _together(arrays: Mapping[str, Any], tails: Sequence[int]) -> list[jax.Array]:
    """Arrays of one batch, with all its leading axes."""
    lead = _ccd.common_lead(arrays, tails)
    return [jnp.broadcast_to(a, lead + a.shape[a.ndim - tail:]) for a, tail in zip(arrays.values(), tails)]


def ccd(pair: Meshes, from1: Any, to1: Any, from2: Any, to2: Any, *, motion: str = "linear",
        center1: Any = (0.0, 0.0, 0.0), center2: Any = (0.0, 0.0, 0.0), separation: float = 0.0, keep: float = 0.0,
        tolerance: float = 0.0, iterations: int = 0) -> Ccd:
    """How far two meshes may go from one pose to another before they touch, at many poses, as abut.ccd has it.

    pair            an abut.Pair, or two abut.CcdMesh of one context
    from1, to1, from2, to2   (..., 6) twists, (..., 7) positions and quaternions, or (..., 4, 4) matrices of both meshes at
                    times 0 and 1; None is the identity; leading axes are broadcast, and are those of the answer
    motion, center1, center2, separation, keep, tolerance, iterations   as of abut.ccd
    toi is differentiable once, in both modes, by the poses' own numbers, at a fixed distance: what `keep` takes from the
    poses at time 0 counts as constant. Derivatives are 0 but for a HIT that is not ROUGH (abut.ccd_gradient tells).
    Errors: ValueError for shapes of arrays, dtypes and words, while tracing; the library's own come out of the program.
    """
    meshes = meshes_of(pair)
    dtype = meshes[0].context.dtype
    check_precision(dtype)
    settings = _ccd.batch_settings(motion, center1, center2, separation, keep, tolerance, iterations)
    b = ffi.new("abut_ccd_batch *", lib.abut_default_ccd_batch())
    set_members(b, settings, BATCH_SETTINGS)
    given = [None if pose is None else real_of(pose, dtype, name) for name, pose in zip(POSES, (from1, to1, from2, to2))]
    poses = [jnp.asarray(pose, dtype) for pose in _forms.all_of_one_kind(jnp, given, POSES)]
    _ccd.check_widths(poses)
    made = _meshes.bind(*_together(dict(zip(POSES, poses)), [1] * len(POSES)), slopes=False, owners=meshes, motion=b.motion,
                        iterations_most=b.iterations_most,
                        reals=(b.separation, b.keep, b.tolerance, *b.center1, *b.center2))
    return Ccd(made[0], made[1] & np.uint8(lib.ABUT_CCD_END), *made[2:8])


def ccd_queries(kind: str, x0: Any, x1: Any, *, separation: Any = 0.0, keep: Any = 0.0, tolerance: Any = 0.0,
                end: Any = 1.0, error: Any = 0.0, relative_error: Any = 0.0, method: str = "certified",
                iterations: int = 0, x0_low: Any = None, x1_low: Any = None, plain: bool = False,
                context: Context | None = None) -> CcdQueries:
    """Up to which time two features stay apart while their vertices go straight, as abut.ccd_queries has it.

    kind            "pp", "pe", "pt" or "ee", or their words
    x0, x1          (..., V, 3) vertices at times 0 and 1 [m]; leading axes, also those of settings, are broadcast, and
                    are those of the answer
    separation, keep, tolerance, end, error, relative_error   numbers, or (...) arrays
    method, iterations, x0_low, x1_low, plain, context   as of abut.ccd_queries
    toi is differentiable once, in both modes, by x0 and x1 alone, at a fixed distance: what `keep` takes from the vertices
    at time 0 counts as constant. Derivatives are 0 but for a HIT that is not ROUGH (abut.ccd_queries_gradient tells).
    Errors: ValueError for shapes of arrays, dtypes and words, while tracing; NotImplementedError for derivatives by
    others; the library's own come out of the program.
    """
    chosen = default_context() if context is None else context
    check_precision(chosen.dtype)
    numbers, many = _ccd.split_settings({"separation": separation, "keep": keep, "tolerance": tolerance, "end": end,
                                         "error": error, "relative_error": relative_error}, jax.Array)
    q = ffi.new("abut_ccd_queries *", lib.abut_default_ccd_queries())
    set_members(q, {**_ccd.query_settings(kind, method, iterations, plain), **numbers}, (*QUERY_SETTINGS, *ROW_SETTINGS))
    given = {"x0": x0, "x1": x1, "x0_low": x0_low, "x1_low": x1_low, **{name: many.get(name) for name in MANY}}
    there = {name: real_of(value, chosen.dtype, name) for name, value in given.items() if value is not None}
    operands = _together(there, _ccd.axes_of(there, (VERTICES[q.kind], 3)))
    made = _queries.bind(*operands, slopes=False, owners=(chosen,), given=bits_of([name in there for name in GIVEN]),
                         kind=int(q.kind), method=int(q.method), iterations_most=q.iterations_most, plain=int(q.plain),
                         reals=tuple(getattr(q, name) for name in ROW_SETTINGS))
    return CcdQueries(made[0], made[1] & np.uint8(lib.ABUT_CCD_END), *made[2:4])
