"""Continuous collision detection with a certificate: safe times of features and meshes, and the safe share of a step."""
from __future__ import annotations

import dataclasses
import enum
import operator
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Union

import numpy as np

from abut._arrays import Rows, by_position, check_names, pointer, real_array, typed_pointer
from abut._body import Body
from abut._calls import all_poses_of, warn_of_rows
from abut._ccd_mesh import CcdMesh, whole_numbers
from abut._closest import _group
from abut._context import Context, default_context
from abut._native import Error, check, ffi, lib
from abut._pair import Pair
from abut._table import (CALLS, MANY, POSES, VERTICES, OfFeatures, OfMeshes, answers, feature_settings, move_settings, plan_of,
                         set_members)

__all__ = ["Ccd", "CcdFeature", "CcdGradients", "CcdQueries", "CcdQueryGradients", "CcdStatus", "StepFilter",
           "ccd", "ccd_gradient", "ccd_queries", "ccd_queries_gradient", "step_filter"]

Array = Any  # np.ndarray, or types that NumPy accepts without a copy
Real = np.ndarray[Any, Any]

KINDS = ("pp", "pe", "pt", "ee")
WORDS = ("point-point", "point-edge", "point-triangle", "edge-edge")
METHODS = ("certified", "additive")
MOTIONS = ("linear", "arc")


class CcdStatus(enum.IntEnum):
    """Result status of a row of abut.ccd or abut.ccd_queries. d is the distance, d0 a certified lower bound of it at time 0, and
    r = separation + keep max(d0 - separation, 0).

    FREE       d > r up to the end, proved; toi is the end
    HIT        d > r up to toi, proved, but not beyond toi: there d decreases to slightly above r
    LIMIT      d > r up to toi, proved; the iterations ran out
    WITHIN     it could not be proved that d0 is above the separation; toi is 0
    BAD_INPUT  a number that is not finite, two vertices whose difference overflows, a setting of a row out of its range, a
               quaternion of 0; toi is 0
    ROUGH      8, added to HIT by derivatives that are not reliable, and are 0: the features graze, so that the slope is
               unbounded; or a vertex or an end touches at distance 0; or there is a turn of half a circle between the poses
    """

    FREE = 0
    HIT = 1
    LIMIT = 2
    WITHIN = 3
    BAD_INPUT = 4
    ROUGH = 8


class CcdFeature(enum.IntEnum):
    """Kinds of the features of two meshes that touch first.

    NONE             all are free
    VERTEX_TRIANGLE  feature1 is a vertex, feature2 a triangle
    TRIANGLE_VERTEX  feature1 is a triangle, feature2 a vertex
    EDGES            both are edges
    EDGE_TRIANGLE    feature1 is an edge, which goes through feature2, a triangle, at time 0
    TRIANGLE_EDGE    feature1 is a triangle; feature2, an edge, goes through it at time 0
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
    """Returns two meshes of one context: the given meshes, or those of a pair's bodies, which are made once."""
    if isinstance(pair, Pair):
        return pair.ccd_meshes()
    if isinstance(pair, (Body, CcdMesh)):
        raise TypeError("pair is a single body or mesh: give an abut.Pair or two meshes (one, two) before the poses")
    try:
        one, two = pair
    except (TypeError, ValueError):
        one = two = None
    if not isinstance(one, CcdMesh) or not isinstance(two, CcdMesh):
        if isinstance(one, Body) or isinstance(two, Body):
            raise TypeError("pair is two bodies: make a pair with abut.Pair(a, b)")
        raise ValueError("pair must be an abut.Pair, or two abut.CcdMesh")
    if one.context is not two.context:
        raise ValueError("the meshes belong to different contexts")
    return one, two


def _count(value: Any, name: str) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise ValueError(f"{name} is {value!r}; it must be an integer") from None
    if not 0 <= number <= 0xffffffff:
        raise ValueError(f"{name} is {number}; it must be in [0, 1000000]")
    return number


def common_lead(arrays: Mapping[str, Any], tails: Sequence[int]) -> tuple[int, ...]:
    """Returns the leading axes of arrays of one batch. `tails` holds the number of last axes of one entry of each array."""
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
    """The request of a call: its subject and arrays, all owned by the request."""

    subject: OfMeshes | OfFeatures
    rows: Rows
    given: dict[str, np.ndarray[Any, Any]]


def _answer(call: str, asked: Asked) -> dict[str, Any]:
    """Returns the members of a result."""
    made, record = answers(plan_of(call, asked.subject, asked.given, CALLS[call].outputs), asked.given)
    return {**made, "undecided": record.batch.undecided, "rejected": record.batch.rejected, "_asked": asked}


@dataclasses.dataclass(frozen=True, eq=False)
class Ccd:
    """Safe times of pairs of meshes between poses of leading axes (...).

    toi         (...) the largest safe time, 0 to 1
    status      (...) uint8, abut.CcdStatus; LIMIT only if an arc used up its windows
    kind        (...) int32, abut.CcdFeature of the first pair of features to touch
    feature1, feature2  (...) uint32, index of the vertex, triangle or edge of each mesh, as in abut.CcdMesh; 0 if all are free
    p1, p2      (..., 3) nearest points of these features at toi, in the world [m]
    n           (..., 3) unit vector p1 - p2 over its length: out of mesh 2; 0 if all are free, and if an edge is through a
                triangle
    candidates  (...) uint32, pairs of features whose boxes overlapped
    undecided   number of rows at LIMIT
    rejected    number of rows at BAD_INPUT
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
    """Converts settings to a batch of the C API."""
    check_names((motion,), MOTIONS, "motion")
    centers = [tuple(_group(center, (3,), name).tolist()) for center, name in ((center1, "center1"), (center2, "center2"))]
    for center, name in zip(centers, ("center1", "center2")):
        if motion != "arc" and any(center):
            raise ValueError(f"{name} works only with motion 'arc', not with {motion!r}")
    return {"motion": MOTIONS.index(motion), "center1": centers[0], "center2": centers[1], "separation": separation,
            "keep": keep, "tolerance": tolerance, "iterations_most": _count(iterations, "iterations")}


@by_position
def ccd(pair: Meshes, from1: Array | None = None, to1: Array | None = None, from2: Array | None = None,
        to2: Array | None = None, *,
        motion: str = "linear", center1: Any = (0.0, 0.0, 0.0), center2: Any = (0.0, 0.0, 0.0), separation: float = 0.0,
        keep: float = 0.0, tolerance: float = 0.0, iterations: int = 0) -> Ccd:
    """Computes how far two meshes may move from one pose to another before they touch, at many poses. No result is too late.

    pair            an abut.Pair, whose bodies' meshes (abut.CcdMesh.of_body) are made once and kept with it; or two abut.CcdMesh
                    of one context, which may be the same
    from1, to1      (..., 6) twists (translation part first), (..., 7) positions and quaternions x, y, z, qw, qx, qy, qz, or (...,
                    4, 4) matrices of mesh 1 at times 0 and 1; None is the identity. Leading axes of all four are broadcast, and
                    are those of the result
    from2, to2      likewise for mesh 2
    motion          "linear": each vertex moves on a straight line; or "arc": a mesh turns uniformly about its center, which moves
                    on a straight line
    center1, center2  (3) for "arc", in the meshes' own frames [m]; (0, 0, 0) is slerp with a straight origin; "linear" refuses
                      other values
    separation      the distance that counts as a touch, from 0 [m]
    keep            share of the distance at time 0 above `separation` that must remain, 0 to below 1; 0 asks whether the meshes
                    touch, 0.1 suits a line search: toi is then the safe share of a step, one for each row
    tolerance       how far above that a hit may end [m]; 0: 1e-9 in float64, 1e-6 in float32, times both meshes' size
    iterations      largest number for a window's query; 0: 32
    Errors: ValueError for shapes of arrays, dtypes and words; abut.Error for settings out of their range. A pose that is not
    finite, or whose quaternion is 0, gives toi 0, its status and a warning.
    Source: Li et al. 2021, Codimensional incremental potential contact, for the additive method; the certificate by separating
    directions is this project's own.
    """
    meshes, given = meshes_of(pair), (from1, to1, from2, to2)
    settings = batch_settings(motion, center1, center2, separation, keep, tolerance, iterations)
    dtype = meshes[0].context.dtype
    poses = all_poses_of(given, POSES, dtype)
    check_widths(poses)
    width, rows = int(poses[0].shape[-1]), Rows(dtype, common_lead(dict(zip(POSES, poses)), [1] * len(POSES)))
    arrays = {name: rows.own(pose, (width,), name, own) for name, pose, own in zip(POSES, poses, given)}
    made = Ccd(**_answer("ccd", Asked(OfMeshes(meshes, width, move_settings(settings)), rows, arrays)))
    if made.rejected:
        warn_of_rows(made.status == CcdStatus.BAD_INPUT, "are not finite, or too far out, or have a quaternion of length 0", "times are 0")
    return made


class CcdGradients(NamedTuple):
    """Gradients of toi, of leading axes (...), by both meshes' poses at times 0 and 1, at a fixed distance.

    by1, by2  (..., 12) by tau0, phi0, tau1, phi1 of the mesh [1/m, 1/rad], twists of its poses at 0 and 1: t becomes t + tau and
              R becomes exp(hat phi) R
    from1, to1, from2, to2  (..., P) by the poses' own numbers; a quaternion's part is orthogonal to it
    status    (...) uint8, the status of the result, with abut.CcdStatus.ROUGH added to HIT if derivatives are not reliable. These
              derivatives are 0, and so are those of all rows except HIT
    """

    by1: Real
    by2: Real
    from1: Real
    to1: Real
    from2: Real
    to2: Real
    status: np.ndarray[Any, Any]


def ccd_gradient(r: Ccd, toi: Array | None = None) -> CcdGradients:
    """Computes gradients of a result's times of impact, at a fixed distance: the distance that `keep` derives from the poses at
    time 0 counts as constant.

    r    the result of abut.ccd
    toi  (...) cotangents of toi, or an array that broadcasts to it; all gradients are multiplied by it; None: 1
    Poses that were given as matrices, or in different formats, are differentiated as positions and quaternions.
    Errors: ValueError for shapes and for an `r` that is no result of abut.ccd; abut.Error.
    """
    if not isinstance(r, Ccd):
        raise ValueError(f"{type(r).__name__} is not a result of abut.ccd")
    asked, given = r._asked, dict(r._asked.given)
    if toi is not None:
        given["toi_bar"] = asked.rows.read(toi, (), "toi")
    names = [name + "_gradient" for name in POSES]
    made = answers(plan_of("ccd_gradient", asked.subject, given, ("by1", "by2", *names, "status")), given)[0]
    return CcdGradients(*made.values())


# ---- queries of features ----


def kind_of(kind: Any) -> int:
    """Returns a kind's number from its letters or its words."""
    word = kind.replace("_", "-") if isinstance(kind, str) else kind
    for names in (KINDS, WORDS):
        if word in names:
            return names.index(word)
    raise ValueError(f"kind {kind!r} is not among {', '.join(KINDS + WORDS)}")


def axes_of(arrays: Mapping[str, Any], tail: tuple[int, ...]) -> list[int]:
    """Returns the number of last axes of one entry of each array: none for settings, two for vertices, which have the shape
    `tail`."""
    for name, array in arrays.items():
        if name not in MANY and tuple(array.shape[max(array.ndim - 2, 0):]) != tail:
            raise ValueError(f"{name} has shape {tuple(array.shape)}; its last axes must be {tail}")
    return [0 if name in MANY else 2 for name in arrays]


@dataclasses.dataclass(frozen=True, eq=False)
class CcdQueries:
    """Safe times of pairs of features, of leading axes (...).

    toi         (...) time of impact, 0 to `end`
    status      (...) uint8, abut.CcdStatus
    n           (..., 3) unit, along the gap at toi, from the second feature to the first; 0 at BAD_INPUT
    d0          (...) certified lower bound of the distance at time 0 [m], from 0
    iterations  (..., 2) uint32, of the stages in plain numbers and in numbers of twice the digits
    undecided   number of rows at LIMIT
    rejected    number of rows at BAD_INPUT
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
    """Converts settings of all rows to the C API's struct."""
    check_names((method,), METHODS, "method")
    return {"kind": kind_of(kind), "method": METHODS.index(method),
            "iterations_most": _count(iterations, "iterations"), "plain": bool(plain)}


def split_settings(given: Mapping[str, Any], arrays: Any = ()) -> tuple[dict[str, Any], dict[str, Any]]:
    """Splits settings into single numbers and arrays, which get the C API's names. A value of one of the types `arrays` counts as
    an array even without axes."""
    numbers = {name: value.item() if hasattr(value, "item") else value for name, value in given.items()
               if np.ndim(value) == 0 and not isinstance(value, arrays)}
    return numbers, {name + "s": value for name, value in given.items() if name not in numbers}


def ccd_queries(kind: str, x0: Array, x1: Array, *, separation: Any = 0.0, keep: Any = 0.0, tolerance: Any = 0.0,
                end: Any = 1.0, error: Any = 0.0, relative_error: Any = 0.0, method: str = "certified",
                iterations: int = 0, x0_low: Array | None = None, x1_low: Array | None = None, plain: bool = False,
                context: Context | None = None) -> CcdQueries:
    """Computes the time up to which two features stay apart while their vertices move on straight lines. No result is too late.

    kind            "pp" or "point-point", vertices p, q; "pe" or "point-edge", p, e0, e1, also in the plane, with z = 0; "pt" or
                    "point-triangle", p, f0, f1, f2; "ee" or "edge-edge", a0, a1, b0, b1
    x0, x1          (..., V, 3) vertices at times 0 and 1 [m]; leading axes, also those of settings, are broadcast, and are those
                    of the result
    separation      the distance that counts as a touch, from 0 [m]; a number or (...), like the next five settings
    keep            share of the distance at time 0 above `separation` that must remain, 0 to below 1
    tolerance       how far above that a hit may end [m]; 0: as little as rounding permits
    end             end of the time interval, 0 to 1
    error, relative_error  each coordinate is accurate to error + relative_error |coordinate|; 0: the numbers are exact.
                    relative_error 2^-24 for float32 coordinates that were rounded from finer ones
    method          "certified", by separating directions; or "additive", conservative steps of gap over speed (Li et al.)
    iterations      largest number for each stage; 0: 32
    x0_low, x1_low  (..., V, 3) in a context of float32 the low parts of finer coordinates, which are x0 + x0_low; set
                    relative_error to 2^-48 with them
    plain           leave rows undecided that the context's numbers cannot decide, instead of repeating them with twice the digits
    context         None takes abut.default_context()
    Errors: ValueError for shapes of arrays, dtypes and words; abut.Error for numbers out of their range. A number of an array
    of settings that is out of range makes its row BAD_INPUT.
    Source: Li et al. 2021, Codimensional incremental potential contact, for the additive method; the certificate by separating
    directions is this project's own.
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

    x0, x1  (..., V, 3) [1/m]
    status  (...) uint8, the status of the result, with abut.CcdStatus.ROUGH added to HIT if derivatives are not reliable. These
            derivatives are 0, and so are those of all rows except HIT
    """

    x0: Real
    x1: Real
    status: np.ndarray[Any, Any]


def ccd_queries_gradient(r: CcdQueries, toi: Array | None = None) -> CcdQueryGradients:
    """Computes gradients of a result's times of impact, at a fixed distance: the distance that `keep` derives from the vertices
    at time 0 counts as constant.

    r    the result of abut.ccd_queries
    toi  (...) cotangents of toi, or an array that broadcasts to it; gradients are multiplied by it; None: 1
    Errors: ValueError for shapes and for an `r` that is no result of abut.ccd_queries; abut.Error.
    """
    if not isinstance(r, CcdQueries):
        raise ValueError(f"{type(r).__name__} is not a result of abut.ccd_queries")
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
    """The safe share of a step.

    share   safe share of the step: no pair comes closer than `separation` plus `keep` of its distance above that
    bound   (kind, row) of the pair that bounds the step, as in `lanes`; the first of equal ones; None: none
    status  abut.CcdStatus: FREE if nothing bounds the step, WITHIN if a pair is closer than `separation` already, and share is 0
    asked   number of pairs whose boxes overlapped
    """

    share: float
    bound: tuple[str, int] | None
    status: CcdStatus
    asked: int


def _by_names(error: Error, kinds: Sequence[str]) -> Error:
    """Returns the same error with the caller's names of lanes."""
    return Error(error.status, re.sub(r"^lanes (\d+):", lambda found: f"lanes[{kinds[int(found[1])]!r}]:", str(error)))


def step_filter(x: Array, step: Array, lanes: Mapping[str, Array], *, separation: float = 0.0, keep: float = 0.1,
                most: float = 1.0, context: Context | None = None) -> StepFilter:
    """Finds the largest safe share of a step for a whole batch of pairs of features, for a line search.

    x, step     (N, 3) vertices of one mesh or of many, and the whole step [m]; rounding of x + step, and of x + share step
                afterwards, is covered
    lanes       pairs of features: for each kind of abut.ccd_queries whole numbers (m, V), the vertices of each pair; a pair that
                has a vertex twice is skipped
    separation  the distance that counts as a touch, from 0 [m]
    keep        share of each pair's distance above `separation` that must remain, 0 to below 1
    most        largest share of the step, 0 to 1
    context     None takes abut.default_context()
    Errors: ValueError for shapes, dtypes and kinds; abut.Error for numbers that are not finite or out of their range, and for
    a vertex that does not exist.
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
