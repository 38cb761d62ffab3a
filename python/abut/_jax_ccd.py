"""Collision in time as JAX primitives, for abut.jax.ccd and abut.jax.ccd_queries.

Operands are four poses; or vertices at both ends and the arrays of settings.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from abut import _ccd, _forms
from abut._arrays import by_position
from abut._ccd import Meshes, meshes_of
from abut._context import Context, default_context
from abut._native import lib
from abut._table import (CALLS, MANY, POSES, VERTICES, OfFeatures, OfMeshes, Plan, Subject, feature_settings, move_settings)
from abut._xla import Given, along_gradients, bind, check_precision, make, of_constant, real_of

__all__ = ["Ccd", "CcdQueries", "ccd", "ccd_queries"]

NO_SECOND = "times of impact have only first derivatives"
BY_VERTICES = "times of impact have derivatives only by x0 and x1, not by settings"


class Ccd(NamedTuple):
    """Safe times of pairs of meshes, of leading axes (...). Only toi has derivatives; the other members count as constants.

    toi     (...) the largest safe time, 0 to 1
    status  (...) uint8, abut.CcdStatus
    kind    (...) int32, abut.CcdFeature of the first pair of features to touch
    feature1, feature2  (...) uint32, index of the vertex, triangle or edge of each mesh
    p1, p2  (..., 3) nearest points of these at toi, in the world [m]
    n       (..., 3) unit, out of mesh 2; 0 if all are free
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
    """Safe times of pairs of features, of leading axes (...). Only toi has derivatives; the other members count as constants.

    toi     (...) time of impact, 0 to `end`
    status  (...) uint8, abut.CcdStatus
    n       (..., 3) unit, along the gap at toi, from the second feature to the first
    d0      (...) certified lower bound of the distance at time 0 [m]
    """

    toi: jax.Array
    status: jax.Array
    n: jax.Array
    d0: jax.Array


# ---- derivatives ----

def _rule(plan: Plan, x: Given, dx: Given) -> tuple[Given, Given]:
    """Makes the rule of a tangent of toi, a sum of gradients times tangents. JAX itself makes its transposes."""
    call = plan.call + "_gradient"
    if any(name + "_gradient" not in CALLS[call].outputs for name in dx):
        raise NotImplementedError(BY_VERTICES)
    if not dx or "toi" not in plan.outputs:
        return bind(plan.call, plan.subject, x, plan.outputs), {}
    made = bind(call, plan.subject, x, (*plan.outputs, *(name + "_gradient" for name in dx)))
    return made, {"toi": along_gradients(made, dx, plan.subject.axes)}


for _call in ("ccd", "ccd_queries"):
    make(_call, _rule)
    make(_call + "_gradient", of_constant(NO_SECOND))


# ---- public functions ----

def _together(arrays: Mapping[str, Any], tails: Sequence[int]) -> list[jax.Array]:
    """Broadcasts arrays of one batch to all its leading axes."""
    lead = _ccd.common_lead(arrays, tails)
    return [jnp.broadcast_to(a, lead + a.shape[a.ndim - tail:]) for a, tail in zip(arrays.values(), tails)]


def _answers(call: str, subject: Subject, given: Given, names: Sequence[str]) -> dict[str, jax.Array]:
    made = bind(call, subject, given, CALLS[call].outputs)
    return {name: made[name] & np.uint8(lib.ABUT_CCD_END) if name == "status" else made[name] for name in names}


@by_position
def ccd(pair: Meshes, from1: Any, to1: Any, from2: Any, to2: Any, *, motion: str = "linear",
        center1: Any = (0.0, 0.0, 0.0), center2: Any = (0.0, 0.0, 0.0), separation: float = 0.0, keep: float = 0.0,
        tolerance: float = 0.0, iterations: int = 0) -> Ccd:
    """Computes how far two meshes may move from one pose to another before they touch, at many poses, as abut.ccd.

    pair  an abut.Pair, or two abut.CcdMesh of one context
    from1, to1, from2, to2  (..., 6) twists, (..., 7) positions and quaternions, or (..., 4, 4) matrices of both meshes at times 0
          and 1; None is the identity. Leading axes are broadcast, and are those of the result
    motion, center1, center2, separation, keep, tolerance, iterations  as in abut.ccd toi has first derivatives, in both modes,
    by the poses' own numbers, at a fixed distance: the distance that `keep` derives from the poses at time 0 counts as
    constant. Derivatives are 0 except for a HIT that is not ROUGH (see abut.ccd_gradient).
    Errors: ValueError for shapes of arrays, dtypes and words, while tracing; the program raises the library's own errors.
    """
    meshes = meshes_of(pair)
    dtype = meshes[0].context.dtype
    check_precision(dtype)
    settings = _ccd.batch_settings(motion, center1, center2, separation, keep, tolerance, iterations)
    given = [None if pose is None else real_of(pose, dtype, name) for name, pose in zip(POSES, (from1, to1, from2, to2))]
    poses = [jnp.asarray(pose, dtype) for pose in _forms.all_of_one_kind(jnp, given, POSES)]
    _ccd.check_widths(poses)
    subject = OfMeshes(meshes, poses[0].shape[-1], move_settings(settings))
    return Ccd(**_answers("ccd", subject, dict(zip(POSES, _together(dict(zip(POSES, poses)), [1] * len(POSES)))), Ccd._fields))


def ccd_queries(kind: str, x0: Any, x1: Any, *, separation: Any = 0.0, keep: Any = 0.0, tolerance: Any = 0.0,
                end: Any = 1.0, error: Any = 0.0, relative_error: Any = 0.0, method: str = "certified",
                iterations: int = 0, x0_low: Any = None, x1_low: Any = None, plain: bool = False,
                context: Context | None = None) -> CcdQueries:
    """Computes the time up to which two features stay apart while their vertices move on straight lines, as abut.ccd_queries.

    kind    "pp", "pe", "pt" or "ee", or their words
    x0, x1  (..., V, 3) vertices at times 0 and 1 [m]; leading axes, also those of settings, are broadcast, and are those of the
            result
    separation, keep, tolerance, end, error, relative_error  numbers, or (...) arrays
    method, iterations, x0_low, x1_low, plain, context  as in abut.ccd_queries
    toi has first derivatives, in both modes, only for x0 and x1, at a fixed distance: the distance that `keep` derives from the
    vertices at time 0 counts as constant. Derivatives are 0 except for a HIT that is not ROUGH (see
    abut.ccd_queries_gradient).
    Errors: ValueError for shapes of arrays, dtypes and words, while tracing; NotImplementedError for derivatives with respect to
    other arguments; the program raises the library's own errors.
    """
    chosen = default_context() if context is None else context
    check_precision(chosen.dtype)
    numbers, many = _ccd.split_settings({"separation": separation, "keep": keep, "tolerance": tolerance, "end": end,
                                         "error": error, "relative_error": relative_error}, jax.Array)
    settings = feature_settings({**_ccd.query_settings(kind, method, iterations, plain), **numbers})
    given = {"x0": x0, "x1": x1, "x0_low": x0_low, "x1_low": x1_low, **{name: many.get(name) for name in MANY}}
    there = {name: real_of(value, chosen.dtype, name) for name, value in given.items() if value is not None}
    vertices = VERTICES[_ccd.kind_of(kind)]
    operands = _together(there, _ccd.axes_of(there, (vertices, 3)))
    subject = OfFeatures(chosen, vertices, settings)
    return CcdQueries(**_answers("ccd_queries", subject, dict(zip(there, operands)), CcdQueries._fields))
