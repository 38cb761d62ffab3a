"""Collision in time with a certificate: how far features, meshes and a whole step may go, of NumPy arrays."""
from __future__ import annotations

import dataclasses
import enum
import operator
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Union

import numpy as np

from abut._arrays import Rows, check_names, pointer, real_array, typed_pointer
from abut._body import Body
from abut._calls import all_poses_of
from abut._ccd_mesh import CcdMesh, whole_numbers
from abut._closest import _group
from abut._context import Context, default_context
from abut._native import Error, check, ffi, lib
from abut._pair import Pair
from abut._table import (CALLS, MANY, POSES, VERTICES, OfFeatures, OfMeshes, answers, feature_settings, move_settings, plan_of,
                         set_members)

__all__ = ["Ccd", "CcdFeature", "CcdGradients", "CcdQueries", "CcdQueryGradients", "CcdStatus", "StepFilter",
           "ccd", "ccd_gradient", "ccd_queries", "ccd_queries_gradient", "step_filter"]

Array = Any  # np.ndarray, or what NumPy takes without a copy
Real = np.ndarray[Any, Any]

KINDS = ("pp", "pe", "pt", "ee")
WORDS = ("point-point", "point-edge", "point-triangle", "edge-edge")
METHODS = ("certified", "additive")
MOTIONS = ("linear", "arc")


class CcdStatus(enum.IntEnum):
    """What became of a row of abut.ccd or abut.ccd_queries: d is the distance, d0 a certified lower bound of it at
    time 0, and r = separation + keep max(d0 - separation, 0).

    FREE       d > r up to the end, proved; toi is the end
    HIT        d > r up to toi, proved, and not beyond it: d comes down to r plus a little there
    LIMIT      d > r up to toi, proved; the iterations were used up
    WITHIN     that d0 is above the separation could not be proved; toi is 0
    BAD_INPUT  a number that is not finite, two vertices whose difference overflows, a setting of a row out of its
               range, a quaternion of 0; toi is 0
    ROUGH      8, added to HIT by derivatives that are not to be relied on, and are 0: the features graze, so that the
               slope has no bound; a vertex or an end touches at distance 0; or a turn of half a circle
               between the poses
    """

    FREE = 0
    HIT = 1
    LIMIT = 2
    WITHIN = 3
    BAD_INPUT = 4
    ROUGH = 8


class CcdFeature(enum.IntEnum):
    """What the features of two meshes are that touch first.

    NONE             all are free
    VERTEX_TRIANGLE  feature1 is a vertex, feature2 a triangle
    TRIANGLE_VERTEX  feature1 is a triangle, feature2 a vertex
    EDGES            both are edges
    EDGE_TRIANGLE    feature1 is an edge, which goes through feature2, a triangle, at time 0
    TRIANGLE_EDGE    feature1 is a triangle, which feature2, an edge, goes through at time 0
    """

    NONE = -1
    VERTEX_TRIANGLE = 0
    TRIANGLE_VERTEX = 1
    EDGES = 2
    EDGE_TRIANGLE = 3
    TRIANGLE_EDGE = 4


for _enum in (CcdStatus, CcdFeature):
    _enum.__module__ = "abut"


# ---- meshes ----


Meshes = Union[Pair, Sequence[CcdMesh]]


def meshes_of(pair: Any) -> tuple[CcdMesh, CcdMesh]:
    """Two meshes of one context: those of a pair's bodies, which are made once, or as they are."""
    if isinstance(pair, Pair):
        return pair.ccd_meshes()
    if isinstance(pair, (Body, CcdMesh)):
        raise TypeError("pair is one body or mesh: give an abut.Pair, or two meshes as (one, two), before the poses")
    try:
        one, two = pair
    except (TypeError, ValueError):
        one = two = None
    if not isinstance(one, CcdMesh) or not isinstance(two, CcdMesh):
        raise ValueError("pair is an abut.Pair, or two abut.CcdMesh")
    if one.context is not two.context:
        raise ValueError("the meshes are of different contexts")
    return one, two


def _count(value: Any, name: str) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise ValueError(f"{name} cannot be {value!r}: it is a whole number") from None
    if not 0 <= number <= 0xffffffff:
        raise ValueError(f"{name} cannot be {number}: it is from 0 to 1000000")
    return number


def common_lead(arrays: Mapping[str, Any], tails: Sequence[int]) -> tuple[int, ...]:
    """The leading axes of arrays of one batch, of each of which as many of the last axes as `tails` says are an entry's."""
    try:
        return np.broadcast_shapes(*(tuple(a.shape[:a.ndim - tail]) for a, tail in zip(arrays.values(), tails)))
    except ValueError:
        raise ValueError(f"{', '.join(f'{name} has shape {tuple(a.shape)}' for name, a in arrays.items())}: they are not "
                         "of one batch") from None


# ---- two meshes between two poses ----


def check_widths(poses: Sequence[Any]) -> None:
    for name, pose in zip(POSES, poses):
        if not pose.ndim or pose.shape[-1] not in (6, 7):
            raise ValueError(f"{name} has shape {tuple(pose.shape)}: its last axis is a twist's 6 numbers, or position and "
                             "quaternion, 7; or its last two are a matrix, 4 x 4")


class Asked(NamedTuple):
    """What a call asks: whose, and arrays, all its own."""

    subject: OfMeshes | OfFeatures
    rows: Rows
    given: dict[str, np.ndarray[Any, Any]]


def _answer(call: str, asked: Asked) -> dict[str, Any]:
    """The members of an answer."""
    made, record = answers(plan_of(call, asked.subject, asked.given, CALLS[call].outputs), asked.given)
    return {**made, "undecided": record.batch.undecided, "rejected": record.batch.rejected, "_asked": asked}


@dataclasses.dataclass(frozen=True, eq=False)
class Ccd:
    """How far pairs of meshes may go between poses of leading axes (...).

    toi         (...) the largest time that is safe, 0 to 1
    status      (...) uint8, abut.CcdStatus; LIMIT only where an arc used up its windows
    kind        (...) int32, abut.CcdFeature of the first pair of features to touch
    feature1, feature2   (...) uint32, which vertex, triangle or edge of each mesh, as abut.CcdMesh lists them; 0 where
                all are free
    p1, p2      (..., 3) nearest points of these features at toi, in the world [m]
    n           (..., 3) unit, p1 - p2 over its length: out of mesh 2; 0 where all are free, and where an edge is through
                a triangle
    candidates  (...) uint32, pairs of features whose boxes met
    undecided   rows at LIMIT
    rejected    rows at BAD_INPUT
    """

    toi: Real
    status: np.ndarray[Any, Any]
    kind: np.ndarray[Any, Any]
    feature1: np.ndarray[Any, Any]
    feature2: np.ndarray[Any, Any]
    p1: Real
    p2: Real
    n: Real
    candidates: np.ndarray[Any, Any]
    undecided: int
    rejected: int
    _asked: Asked = dataclasses.field(repr=False)


def batch_settings(motion: str, center1: Any, center2: Any, separation: float, keep: float, tolerance: float,
                   iterations: int) -> dict[str, Any]:
    """Settings as a batch of the C API's takes them."""
    check_names((motion,), MOTIONS, "motion")
    centers = [tuple(_group(center, (3,), name).tolist()) for center, name in ((center1, "center1"), (center2, "center2"))]
    for center, name in zip(centers, ("center1", "center2")):
        if motion != "arc" and any(center):
            raise ValueError(f"{name} is of motion 'arc', not of {motion!r}")
    return {"motion": MOTIONS.index(motion), "center1": centers[0], "center2": centers[1], "separation": separation,
            "keep": keep, "tolerance": tolerance, "iterations_most": _count(iterations, "iterations")}


def ccd(pair: Meshes, from1: Array | None = None, to1: Array | None = None, from2: Array | None = None,
        to2: Array | None = None, *,
        motion: str = "linear", center1: Any = (0.0, 0.0, 0.0), center2: Any = (0.0, 0.0, 0.0), separation: float = 0.0,
        keep: float = 0.0, tolerance: float = 0.0, iterations: int = 0) -> Ccd:
    """How far two meshes may go from one pose to another before they touch, at many poses; no answer is too late.

    pair            an abut.Pair, whose bodies' meshes (abut.CcdMesh.of_body) are made once and kept with it; or two abut.CcdMesh of
                    one context, which may be the same
    from1, to1      (..., 6) twists (translation part first), (..., 7) positions and quaternions x, y, z, qw, qx, qy, qz,
                    or (..., 4, 4) matrices of mesh 1 at times 0 and 1; None is the identity; leading axes of all four
                    are broadcast, and are those of the answer
    from2, to2      of mesh 2
    motion          "linear", each vertex goes straight; or "arc", a mesh turns evenly about its center, which goes straight
    center1, center2   (3) of "arc", in the meshes' own frames [m]; (0, 0, 0) is slerp with a straight origin; of
                    "linear" others are refused
    separation      the distance that counts as a touch, from 0 [m]
    keep            share of the distance at time 0 above `separation` that is to be kept, 0 to below 1; 0 asks whether
                    they touch, 0.1 is a line search's: toi is then the share of a step that is safe, one for each row
    tolerance       how much above that a hit may end [m]; 0: 1e-9 in float64, 1e-6 in float32, of both meshes' size
    iterations      at most, of a window's query; 0: 32
    Errors: ValueError for shapes of arrays, dtypes and words; abut.Error for settings out of their range. A pose that
    is not finite, or whose quaternion is 0, gives toi 0 and its status.
    Source: Li et al. 2021, Codimensional incremental potential contact, for the additive method; the certificate by
    separating directions is this project's own.
    """
    meshes, given = meshes_of(pair), (from1, to1, from2, to2)
    settings = batch_settings(motion, center1, center2, separation, keep, tolerance, iterations)
    dtype = meshes[0].context.dtype
    poses = all_poses_of(given, POSES, dtype)
    check_widths(poses)
    width, rows = int(poses[0].shape[-1]), Rows(dtype, common_lead(dict(zip(POSES, poses)), [1] * len(POSES)))
    arrays = {name: rows.own(pose, (width,), name, own) for name, pose, own in zip(POSES, poses, given)}
    return Ccd(**_answer("ccd", Asked(OfMeshes(meshes, width, move_settings(settings)), rows, arrays)))


class CcdGradients(NamedTuple):
    """Gradients of toi, of leading axes (...), by both meshes' poses at times 0 and 1, at a fixed distance.

    by1, by2   (..., 12) by tau0, phi0, tau1, phi1 of the mesh [1/m, 1/rad], twists of its poses at 0 and 1: t becomes
               t + tau and R becomes exp(hat phi) R
    from1, to1, from2, to2   (..., P) by the poses' own numbers; a quaternion's part is orthogonal to it
    status     (...) uint8, the answer's, with abut.CcdStatus.ROUGH added to HIT where derivatives are not to be relied
               on: these are 0, like all but a HIT's
    """

    by1: Real
    by2: Real
    from1: Real
    to1: Real
    from2: Real
    to2: Real
    status: np.ndarray[Any, Any]


def ccd_gradient(r: Ccd, toi: Array | None = None) -> CcdGradients:
    """Gradients of an answer's times of impact, at a fixed distance: what `keep` takes from the poses at time 0 counts
    as constant.

    r     the answer of abut.ccd
    toi   (...) cotangents of toi, or what is broadcast to it, which all gradients are multiplied by; None: 1
    Poses that were given as matrices, or not all of one kind, are differentiated as positions and quaternions.
    Errors: ValueError for shapes and for what is no answer; abut.Error.
    """
    if not isinstance(r, Ccd):
        raise ValueError(f"{type(r).__name__} is no answer of abut.ccd")
    asked, given = r._asked, dict(r._asked.given)
    if toi is not None:
        given["toi_bar"] = asked.rows.read(toi, (), "toi")
    names = [name + "_gradient" for name in POSES]
    made = answers(plan_of("ccd_gradient", asked.subject, given, ("by1", "by2", *names, "status")), given)[0]
    return CcdGradients(*made.values())


# ---- queries of features ----


def kind_of(kind: Any) -> int:
    """A kind's number, of its letters or its words."""
    word = kind.replace("_", "-") if isinstance(kind, str) else kind
    for names in (KINDS, WORDS):
        if word in names:
            return names.index(word)
    raise ValueError(f"kind {kind!r} is not among {', '.join(KINDS + WORDS)}")


def axes_of(arrays: Mapping[str, Any], tail: tuple[int, ...]) -> list[int]:
    """How many of the last axes of each are an entry's: settings' none, those of vertices, of shape `tail`, two."""
    for name, array in arrays.items():
        if name not in MANY and tuple(array.shape[max(array.ndim - 2, 0):]) != tail:
            raise ValueError(f"{name} has shape {tuple(array.shape)}, whose last axes are not {tail}")
    return [0 if name in MANY else 2 for name in arrays]


@dataclasses.dataclass(frozen=True, eq=False)
class CcdQueries:
    """How far pairs of features may go, of leading axes (...).

    toi         (...) time of impact, 0 to `end`
    status      (...) uint8, abut.CcdStatus
    n           (..., 3) unit, along the gap at toi, from the second feature to the first; 0 at BAD_INPUT
    d0          (...) certified lower bound of the distance at time 0 [m], from 0
    iterations  (..., 2) uint32, of the stages in plain and in doubled numbers
    undecided   rows at LIMIT
    rejected    rows at BAD_INPUT
    """

    toi: Real
    status: np.ndarray[Any, Any]
    n: Real
    d0: Real
    iterations: np.ndarray[Any, Any]
    undecided: int
    rejected: int
    _asked: Asked = dataclasses.field(repr=False)


def query_settings(kind: str, method: str, iterations: int, plain: bool) -> dict[str, Any]:
    """Settings of all rows as the C API's struct takes them."""
    check_names((method,), METHODS, "method")
    return {"kind": kind_of(kind), "method": METHODS.index(method),
            "iterations_most": _count(iterations, "iterations"), "plain": bool(plain)}


def split_settings(given: Mapping[str, Any], arrays: Any = ()) -> tuple[dict[str, Any], dict[str, Any]]:
    """Those that are one number, and arrays under the names that the C API has for these. What is of the types `arrays`
    is an array also where it has no axes."""
    numbers = {name: value.item() if hasattr(value, "item") else value for name, value in given.items()
               if np.ndim(value) == 0 and not isinstance(value, arrays)}
    return numbers, {name + "s": value for name, value in given.items() if name not in numbers}


def ccd_queries(kind: str, x0: Array, x1: Array, *, separation: Any = 0.0, keep: Any = 0.0, tolerance: Any = 0.0,
                end: Any = 1.0, error: Any = 0.0, relative_error: Any = 0.0, method: str = "certified",
                iterations: int = 0, x0_low: Array | None = None, x1_low: Array | None = None, plain: bool = False,
                context: Context | None = None) -> CcdQueries:
    """Up to which time two features stay apart while their vertices go straight; no answer is too late.

    kind            "pp" or "point-point", vertices p, q; "pe" or "point-edge", p, e0, e1, also in the plane, with z = 0;
                    "pt" or "point-triangle", p, f0, f1, f2; "ee" or "edge-edge", a0, a1, b0, b1
    x0, x1          (..., V, 3) vertices at times 0 and 1 [m]; leading axes, also those of settings, are broadcast, and
                    are those of the answer
    separation      the distance that counts as a touch, from 0 [m]; like the five that follow a number or (...)
    keep            share of the distance at time 0 above `separation` that is to be kept, 0 to below 1
    tolerance       how much above that a hit may end [m]; 0: as little as rounding lets
    end             time up to which the question goes, 0 to 1
    error, relative_error   each coordinate is known within error + relative_error |coordinate|; 0: the numbers are meant
                    exactly. relative_error 2^-24 for float32 coordinates that were rounded from finer ones
    method          "certified", by separating directions; or "additive", conservative steps of gap over speed (Li et al.)
    iterations      at most, of each stage; 0: 32
    x0_low, x1_low  (..., V, 3) in a context of float32 what it leaves of finer coordinates, which are x0 + x0_low: give
                    relative_error 2^-48 then
    plain           leave rows undecided that the context's numbers cannot decide, instead of looking at them again in
                    numbers of twice the digits
    context         None takes abut.default_context()
    Errors: ValueError for shapes of arrays, dtypes and words; abut.Error for numbers out of their range. Where one of an
    array of settings is, its row is BAD_INPUT.
    Source: Li et al. 2021, Codimensional incremental potential contact, for the additive method; the certificate by
    separating directions is this project's own.
    """
    numbers, many = split_settings({"separation": separation, "keep": keep, "tolerance": tolerance, "end": end,
                                    "error": error, "relative_error": relative_error})
    settings = feature_settings({**query_settings(kind, method, iterations, plain), **numbers})
    chosen, tail = default_context() if context is None else context, (VERTICES[kind_of(kind)], 3)
    more = {"x0_low": x0_low, "x1_low": x1_low, **many}
    given = {"x0": x0, "x1": x1, **{name: value for name, value in more.items() if value is not None}}
    arrays = {name: real_array(value, chosen.dtype, name) for name, value in given.items()}
    rows = Rows(chosen.dtype, common_lead(arrays, axes_of(arrays, tail)))
    owned = {name: rows.own(array, () if name in MANY else tail, name, given[name]) for name, array in arrays.items()}
    return CcdQueries(**_answer("ccd_queries", Asked(OfFeatures(chosen, tail[0], settings), rows, owned)))


class CcdQueryGradients(NamedTuple):
    """Gradients of toi, of leading axes (...), by the vertices at both ends, at a fixed distance.

    x0, x1   (..., V, 3) [1/m]
    status   (...) uint8, the answer's, with abut.CcdStatus.ROUGH added to HIT where derivatives are not to be relied on:
             these are 0, like all but a HIT's
    """

    x0: Real
    x1: Real
    status: np.ndarray[Any, Any]


def ccd_queries_gradient(r: CcdQueries, toi: Array | None = None) -> CcdQueryGradients:
    """Gradients of an answer's times of impact, at a fixed distance: what `keep` takes from the vertices at time 0 counts
    as constant.

    r     the answer of abut.ccd_queries
    toi   (...) cotangents of toi, or what is broadcast to it, which gradients are multiplied by; None: 1
    Errors: ValueError for shapes and for what is no answer; abut.Error.
    """
    if not isinstance(r, CcdQueries):
        raise ValueError(f"{type(r).__name__} is no answer of abut.ccd_queries")
    asked = r._asked
    plan = plan_of("ccd_queries_gradient", asked.subject, asked.given, ("x0_gradient", "x1_gradient", "status"))
    made = answers(plan, asked.given)[0]
    if toi is not None:
        bar = asked.rows.read(toi, (), "toi")[..., None, None]
        made["x0_gradient"] *= bar
        made["x1_gradient"] *= bar
    return CcdQueryGradients(*made.values())


# ---- a line search ----


class StepFilter(NamedTuple):
    """How much of a step is safe.

    share   of the step: no pair comes closer than `separation` plus `keep` of what it has above that
    bound   (kind, row) of the pair that bounds it, as `lanes` has them; of equal ones the first; None: none
    status  abut.CcdStatus: FREE where nothing bounds the step, WITHIN where a pair is closer than `separation` already:
            share is 0 then
    asked   pairs whose boxes met
    """

    share: float
    bound: tuple[str, int] | None
    status: CcdStatus
    asked: int


def _by_names(error: Error, kinds: Sequence[str]) -> Error:
    """The same error, which names lanes as the caller does."""
    return Error(error.status, re.sub(r"^lanes (\d+):", lambda found: f"lanes[{kinds[int(found[1])]!r}]:", str(error)))


def step_filter(x: Array, step: Array, lanes: Mapping[str, Array], *, separation: float = 0.0, keep: float = 0.1,
                most: float = 1.0, context: Context | None = None) -> StepFilter:
    """The largest share of a step that a whole batch of pairs of features may go, for a line search.

    x, step     (N, 3) vertices of one mesh or of many, and the whole step [m]; rounding of x + step, and of
                x + share step afterwards, is covered
    lanes       which features: of each kind, as abut.ccd_queries has them, whole numbers (m, V), the vertices of each
                pair; one that has a vertex twice is left out
    separation  the distance that counts as a touch, from 0 [m]
    keep        share of each pair's distance above `separation` that is to be kept, 0 to below 1
    most        largest share of the step, 0 to 1
    context     None takes abut.default_context()
    Errors: ValueError for shapes, dtypes and kinds; abut.Error for numbers that are not finite or out of their range, and
    for a vertex that is not there.
    """
    chosen = default_context() if context is None else context
    points = real_array(x, chosen.dtype, "x")
    if points.ndim != 2 or points.shape[1] != 3:
        raise ValueError(f"x has shape {points.shape}, not (N, 3)")
    whole = Rows(chosen.dtype, points.shape[:1]).read(step, (3,), "step")
    if not isinstance(lanes, Mapping):
        raise ValueError(f"lanes is a {type(lanes).__name__}, not a mapping of kinds of features to pairs of them")
    kinds = list(lanes)
    arrays = [whole_numbers(lanes[kind], f"lanes[{kind!r}]", VERTICES[kind_of(kind)]) for kind in kinds]
    structs, kept = ffi.new("abut_ccd_lanes[]", max(len(kinds), 1)), []
    for lane, kind, array in zip(structs, kinds, arrays):
        kept.append(typed_pointer("uint32_t", array))
        lane.kind, lane.count, lane.vertices = kind_of(kind), len(array), kept[-1]
    definition = ffi.new("abut_step_filter_def *", lib.abut_default_step_filter_def())
    set_members(definition, {"separation": separation, "keep": keep, "most": most}, ("separation", "keep", "most"))
    definition.vertex_count, definition.x, definition.step = len(points), pointer(points), pointer(whole)
    definition.lanes, definition.lanes_count = structs, len(kinds)
    made = ffi.new("abut_step_filter_result *")
    try:
        check(lib.abut_step_filter(chosen.handle, definition, made))
    except Error as error:
        raise _by_names(error, kinds) from None
    bound = (kinds[made.lanes], int(made.row)) if made.lanes < len(kinds) else None
    return StepFilter(float(made.share), bound, CcdStatus(made.status), int(made.asked))
