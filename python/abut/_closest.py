"""Closest points of convex shapes, and their derivatives, for NumPy arrays."""
from __future__ import annotations

import dataclasses
import enum
import math
import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, Union, overload

import numpy as np

from abut import pose as pose_numbers
from abut._arrays import Rows, by_position, check_names
from abut._body import Body, warn_trailing
from abut._calls import _common, _width, poses_of, warn_of_rows
from abut._context import Context, Owner, default_context
from abut._drivers import warn
from abut._native import check, ffi, lib, path_of
from abut._table import (CALLS, SETTINGS, OfShapes, answers, integers_of, plan_of, settled,
                         smoothing_settings)

__all__ = ["Closest", "ClosestGradients", "ClosestJacobian", "ClosestStatus", "ClosestTangents", "Shape", "closest",
           "closest_jacobian", "closest_jvp", "closest_vjp", "load_hull", "load_shapes"]

Array = Any  # np.ndarray, or types that NumPy accepts without a copy
Real = np.ndarray[Any, Any]

KINDS = ("hull", "sphere", "box", "ellipsoid", "capsule", "cylinder", "cone", "superquadric")
PARTS = ("hull", "superquadrics", "polyhedra")
ANSWERS = ("d", "n", "p1", "p2")
# Shapes of each kind's groups of numbers; a hull's is (V, 3).
_GROUPS: dict[str, tuple[tuple[int, ...], ...]] = {
    "sphere": ((),), "box": ((3,),), "ellipsoid": ((3,),), "capsule": ((2,),), "cylinder": ((2,),), "cone": ((2,),),
    "superquadric": ((3,), (2,))}


class ClosestStatus(enum.IntEnum):
    """Result status of a row of abut.closest.

    CONVERGED        the gap is under the tolerance
    ITERATION_LIMIT  the result is accurate to its gap
    DEGENERATE       both shapes are flat in one plane, or rounding ends progress before the tolerance is reached; the result is
                     accurate to its gap
    BAD_INPUT        a pose that is not finite, or whose quaternion is 0: numbers are NaN, derivatives 0
    BEYOND           certainly farther apart than `cutoff`: d is a lower bound of the distance
    FLAT             8, added to the others by derivatives of method "exact": a shape has no curvature where it is touched, which
                     counts as 0
    STEEP            16, added to the others by derivatives through curvatures that do not determine the normal. Slopes of n, p1
                     and p2 may be as large as the inverse of the ridge, and are not meaningful; those of d are right
    """

    CONVERGED = 0
    ITERATION_LIMIT = 1
    DEGENERATE = 2
    BAD_INPUT = 3
    BEYOND = 4
    FLAT = 8
    STEEP = 16


ClosestStatus.__module__ = "abut"


# ---- shapes ----


def _group(value: Any, shape: tuple[int, ...], name: str) -> Real:
    """Returns numbers of a shape in float64."""
    array = np.asarray(value)
    if array.dtype.kind not in "iuf":
        raise ValueError(f"{name} has dtype {array.dtype.name}, expected numbers")
    wanted = "(V, 3)" if shape == (-1, 3) else str(shape)
    if array.ndim != len(shape) or any(want not in (-1, given) for given, want in zip(array.shape, shape)):
        raise ValueError(f"{name} has shape {array.shape}, not {wanted}")
    return np.ascontiguousarray(array, np.float64).reshape(array.shape)


def _fill_definition(to: Any, kind: str, numbers: Sequence[Any]) -> list[Any]:
    """Writes a kind and its numbers into a definition of the C API, and returns the arrays that it points to."""
    check_names((kind,), KINDS, "kind")
    to.kind = KINDS.index(kind)
    groups = ((-1, 3),) if kind == "hull" else _GROUPS[kind]
    if len(numbers) != len(groups):
        raise ValueError(f"a {kind} has {len(groups)} {'group' if len(groups) == 1 else 'groups'} of numbers, "
                         f"and {len(numbers)} are given")
    if kind == "sphere" and np.shape(numbers[0]) == (1,):
        numbers = [np.asarray(numbers[0])[0]]
    arrays = [_group(value, shape, f"{kind}'s numbers[{k}]") for k, (value, shape) in enumerate(zip(numbers, groups))]
    if kind == "hull":
        vertices = ffi.from_buffer("double[]", arrays[0]) if arrays[0].size else ffi.NULL
        to.vertices, to.vertex_count = vertices, len(arrays[0])
        return [vertices]
    for k, number in enumerate(arrays[0].reshape(-1)):
        to.size[k] = number
    for k, number in enumerate(arrays[1]) if len(arrays) > 1 else ():
        to.exponents[k] = number
    return []


class Shape(Owner):
    """A convex shape, whose closest points to other shapes abut.closest finds.

    kind, numbers  "hull", vertices (V, 3), of which those on the hull count; "sphere", r; "box", (hx, hy, hz), half lengths;
                   "ellipsoid", (a, b, c), half axes; "capsule", (r, h), around the segment from -h to h on z; "cylinder", (r, h),
                   z from -h to h; "cone", (r, h), its base at z = -h, its apex at z = h; "superquadric", (a, b, c), (e1, e2),
                   half axes and exponents in [0.1, 1.9]. Lengths in [m]
    radius         rounds the shape: adds all points within this distance of it [m], from 0
    position, quaternion  (3) [m] and (4) w, x, y, z, of any length above 0: the shape's own frame in the frame that poses move;
                   None: the same frame
    context        None takes abut.default_context()
    Errors: ValueError for kinds and shapes of arrays; abut.Error, whose text names the value that is out of range.

    dimensions     of a hull: 3, 2 if flat, 1 for a segment, 0 for a point; 3 for other shapes
    vertex_count   number of vertices on the hull, for hulls and boxes; else 0
    diagonal       norm of the extents along the shape's own axes [m], without radius
    span           the same with radius [m]
    """

    _destroy = lib.abut_destroy_shape

    def __init__(self, kind: str, *numbers: Any, radius: float = 0.0, position: Any = None, quaternion: Any = None,
                 context: Context | None = None) -> None:
        definition = ffi.new("abut_shape_def *", lib.abut_default_shape_def())
        kept = _fill_definition(definition, kind, numbers)
        for name, value, width in (("position", position, 3), ("quaternion", quaternion, 4)):
            if value is not None:
                setattr(definition, name, _group(value, (width,), name).tolist())
        definition.radius = radius
        chosen = default_context() if context is None else context
        handle = ffi.new("abut_shape *")
        check(lib.abut_create_shape(chosen.handle, definition, handle))
        del kept
        self._take(chosen, handle[0])

    def _take(self, context: Context, handle: Any) -> None:
        self.context, self._handle = context, handle
        info = ffi.new("abut_shape_info *")
        check(lib.abut_get_shape_info(handle, info))
        self.kind: str = KINDS[info.kind]
        self.vertex_count: int = info.vertices
        self.dimensions: int = info.dimensions
        self.diagonal: float = info.diagonal
        self.span: float = info.span

    @staticmethod
    def _made(context: Context, handles: Any, count: int) -> list[Shape]:
        """Makes shapes from a C array of handles, which are copied."""
        made = [Shape.__new__(Shape) for _ in range(count)]
        for k, shape in enumerate(made):
            shape._take(context, ffi.new("abut_shape *", handles[k])[0])
        return made

    @overload
    @staticmethod
    def of(body: Body, part: Literal["hull"] = "hull") -> Shape: ...

    @overload
    @staticmethod
    def of(body: Body, part: Literal["superquadrics", "polyhedra"]) -> list[Shape]: ...

    @overload
    @staticmethod
    def of(body: Body, part: str) -> Shape | list[Shape]: ...

    @staticmethod
    def of(body: Body, part: str = "hull") -> Shape | list[Shape]:
        """Makes the shapes of a body, in the body's context.

        part  "hull", the hull of its mesh: one Shape; "superquadrics" or "polyhedra": a list of the added ones, in the order of
              the body's file. Exponents outside [0.1, 1.9] are replaced by the nearest bound
        Warns of subtracted parts: they are not convex shapes, and the volume that they remove counts as solid.
        Errors: ValueError for an unknown part; abut.Error for a body without such parts, and for a polyhedron that is empty or
        unbounded.
        """
        check_names((part,), PARTS, "part")
        number, count = PARTS.index(part), ffi.new("size_t *")
        check(lib.abut_count_body_shapes(body.handle, number, count))
        handles = ffi.new("abut_shape[]", max(count[0], 1))
        check(lib.abut_create_body_shapes(body.handle, number, count[0], handles))
        made = Shape._made(body.context, handles, count[0])
        if part != "hull":
            info = ffi.new("abut_body_info *")
            check(lib.abut_get_body_info(body.handle, info))
            every = int(getattr(info, part))
            if len(made) < every:
                warn(f"{every - len(made)} of {every} {part} are subtracted, and this is ignored: their hollows count as "
                     "solid (contacts consider them)")
        return made[0] if part == "hull" else made

    @property
    def vertices(self) -> Real:
        """Vertices (vertex_count, 3) on the hull [m] in the shape's own frame, in float64, in the order of the indices in `warm`,
        which is that of the definition. A box's vertices are its corners; other shapes have none."""
        out = np.empty((self.vertex_count, 3))
        check(lib.abut_get_shape_vertices(self.handle, ffi.from_buffer("double[]", out) if out.size
                                          else ffi.new("double[1]")))
        return out

    def __repr__(self) -> str:
        return f"<abut.Shape {self.kind} of {self.span:.3g} m{'' if self._handle else ', closed'}>"


def load_hull(path: str | os.PathLike[str], context: Context | None = None) -> Shape:
    """Makes the convex hull of all vertices of a mesh file: of a bare mesh in a format that abut.load reads, or of the mesh that
    a NAME.body.json names, or of its surface if that mesh has no faces. No field is made. Numbers are taken as metres.

    context  None takes abut.default_context()
    Errors: abut.Error with file, line and cause.
    """
    chosen, handle = default_context() if context is None else context, ffi.new("abut_shape *")
    check(lib.abut_load_hull(chosen.handle, path_of(path), handle))
    info = ffi.new("abut_shape_info *")
    check(lib.abut_get_shape_info(handle[0], info))
    warn_trailing(os.fsdecode(path), info.trailing)
    return Shape._made(chosen, handle, 1)[0]


def load_shapes(path: str | os.PathLike[str], context: Context | None = None) -> list[Shape]:
    """Loads shapes from a file: a JSON array of objects with "kind", "numbers" (a list of the arguments of abut.Shape after the
    kind) and optionally "radius", "position" and "quaternion".

    context  None takes abut.default_context()
    Errors: abut.Error with file, line and cause.
    """
    chosen = default_context() if context is None else context
    count, handles = ffi.new("size_t *"), ffi.new("abut_shape **")
    check(lib.abut_load_shapes(chosen.handle, path_of(path), count, handles))
    try:
        return Shape._made(chosen, handles[0], count[0])
    finally:
        lib.abut_free(handles[0])


Shapes = Union[Shape, Sequence[Shape]]


def listed(shapes: Any, name: str) -> tuple[Shape, ...]:
    """Returns one shape, or several, as a tuple."""
    if isinstance(shapes, Shape):
        return (shapes,)
    try:
        made = tuple(shapes)
    except TypeError:
        made = ()
    if not made or not all(isinstance(shape, Shape) for shape in made):
        raise ValueError(f"{name} must be an abut.Shape, or a sequence with at least one")
    return made


def context_of(shape1: Any, shape2: Any) -> Context:
    """Returns the context of all shapes, which must be the same."""
    both = listed(shape1, "shape1") + listed(shape2, "shape2")
    if any(shape.context is not both[0].context for shape in both):
        raise ValueError("the shapes belong to different contexts")
    return both[0].context


def check_rows(shapes: Any, row: Any, side: int) -> None:
    """Checks rows: a list of shapes needs them, and a single shape must not have them."""
    name = ("one", "two")[side]
    if isinstance(shapes, Shape) and row is not None:
        raise ValueError(f"{name} is only for a list of shapes; shape{side + 1} is one shape")
    if not isinstance(shapes, Shape) and row is None:
        raise ValueError(f"a list of shapes needs {name}, which names the shape of each pose")


# ---- queries ----


class Query(NamedTuple):
    """The request of a query: shapes and settings; poses and rows of the shapes, all owned by the request."""

    subject: OfShapes
    rows: Rows
    given: dict[str, np.ndarray[Any, Any]]


def subject_of(shape1: Shapes, shape2: Shapes, indexed: bool, width: int, settings: bytes,
               smoothing: bytes = b"") -> OfShapes:
    """Returns the shapes of a call. With `indexed` rows of the shapes are given, and one list for both shapes counts as one."""
    first, second = listed(shape1, "shape1"), listed(shape2, "shape2")
    same = indexed and first == second
    return OfShapes(first if same else first + second, (len(first), len(second)), 0 if same else len(first), width, settings,
                    smoothing)


def query_of(shape1: Any, shape2: Any, pose1: Any, pose2: Any, one: Any, two: Any, settings: Mapping[str, Any]) -> Query:
    context = context_of(shape1, shape2)
    check_rows(shape1, one, 0)
    check_rows(shape2, two, 1)
    poses = poses_of(pose1, pose2, context.dtype)
    width, rows = _width(*poses), Rows(context.dtype, _common(*poses))
    indexed = one is not None or two is not None
    subject = subject_of(shape1, shape2, indexed, width, settled("closest_batch", settings, SETTINGS))
    given = {name: rows.own(pose, (width,), name, own) for name, pose, own in
             zip(("pose1", "pose2"), poses, (pose1, pose2))}
    if indexed:
        given.update({name: subject.rows(name, 0 if row is None else row, rows.lead)
                      for name, row in (("one", one), ("two", two))})
    return Query(subject, rows, given)


@dataclasses.dataclass(frozen=True, eq=False)
class Closest:
    """Closest points of pairs of shapes at poses of leading axes (...). abut.closest_jacobian and related functions read the
    arrays: do not change them before.

    d           (...) signed distance [m]; for overlapping shapes minus the shortest translation that separates them
    n           (..., 3) unit normal in the world, from shape 1 to shape 2
    p1, p2      (..., 3) closest points of shape 1 and shape 2 in the world [m]; p2 = p1 + d n
    gap         (...) certified error bound [m]: the true distance is within [d - gap, d] if the shapes without their radius are
                separated, and within [d, d + gap] if they overlap and at BEYOND
    status      (...) uint8, abut.ClosestStatus
    iterations  (...) uint32
    warm        (..., 4, 2) int32, the support points that define the result: input `warm` of a later call
    unsettled   number of rows at ITERATION_LIMIT or DEGENERATE
    rejected    number of rows at BAD_INPUT
    """

    d: Real
    n: Real
    p1: Real
    p2: Real
    gap: Real
    status: np.ndarray[Any, Any]
    iterations: np.ndarray[Any, Any]
    warm: np.ndarray[Any, Any]
    unsettled: int
    rejected: int
    _query: Query = dataclasses.field(repr=False)


@by_position
def closest(shape1: Shapes, shape2: Shapes, pose1: Array, pose2: Array, warm: Array | None = None, *,
            one: Array | None = None, two: Array | None = None, cutoff: float = math.inf, tolerance: float = 0.0,
            iterations_most: int = 0, corners_most: int = 0) -> Closest:
    """Computes the signed distance, normal and closest points of two convex shapes at many poses.

    shape1, shape2   a Shape each; or several of one context, with `one` and `two` as the number of each pose's shape
    pose1, pose2     (..., 6) twists (translation part first), (..., 7) positions and quaternions x, y, z, qw, qx, qy, qz, or
                     (..., 4, 4) matrices; None is the identity. Leading axes are broadcast, and are those of the result
    warm             (..., 4, 2) `warm` of an earlier result to start from: it changes the time, not the result beyond the
                     tolerance
    one, two         (...) whole numbers: rows of shape1 and of shape2 if these are lists
    cutoff           a row ends as soon as its distance is certainly above this [m]
    tolerance        of the gap, as a share of the sum of both shapes' spans; 0: 1e-12 in float64, 1e-6 in float32
    iterations_most  largest number for a row with separated shapes; 0: 256
    corners_most     corners of the polytope in overlapping shapes, 8 to 4096; 0: 256
    Errors: ValueError for shapes of arrays, dtypes and rows without a shape; abut.Error. A pose that is not finite, or whose
    quaternion is 0, gives NaN, its status and a warning.
    """
    settings = {"cutoff": cutoff, "tolerance": tolerance, "iterations_most": iterations_most,
                "corners_most": corners_most}
    query = query_of(shape1, shape2, pose1, pose2, one, two, settings)
    given = query.given if warm is None else {
        **query.given, "begun": np.ascontiguousarray(integers_of(warm, (*query.rows.lead, 4, 2), 2, "warm"), np.int32)}
    made: Any
    made, record = answers(plan_of("closest", query.subject, given, CALLS["closest"].outputs), given)
    if record.batch.rejected:
        warn_of_rows(made["status"] == ClosestStatus.BAD_INPUT, "are not finite or have a quaternion of length 0", "numbers are NaN")
    return Closest(**made, unsettled=record.batch.unsettled, rejected=record.batch.rejected, _query=query)


# ---- derivatives ----


class ClosestJacobian(NamedTuple):
    """Jacobians of closest points, of leading axes (...), by world twists of each body about the origin of its pose: t becomes t
    + tau and R becomes exp(hat phi) R. The last axis is tau1, phi1, tau2, phi2 [m, rad].

    p1, p2, n  (..., 3, 12) and d (..., 12); None if not wanted
    status     (...) uint8, the status of the result, with abut.ClosestStatus.FLAT added if "exact" found no curvature, and STEEP
               if M was not positive, so that slopes of n, p1 and p2 are not meaningful
    """

    p1: Real | None = None
    p2: Real | None = None
    n: Real | None = None
    d: Real | None = None
    status: np.ndarray[Any, Any] | None = None


class ClosestGradients(NamedTuple):
    """Gradients of closest points, of leading axes (...).

    twists        (..., 12) by world twists, as in abut.ClosestJacobian
    pose1, pose2  (..., P) by the poses' own numbers; a quaternion's part is orthogonal to it
    status        (...) uint8, as in abut.ClosestJacobian
    """

    twists: Real
    pose1: Real
    pose2: Real
    status: np.ndarray[Any, Any]


class ClosestTangents(NamedTuple):
    """Derivatives of closest points along twists, of leading axes (...).

    p1, p2, n  (..., 3) and d (...); None if not wanted
    status     (...) uint8, as in abut.ClosestJacobian
    """

    p1: Real | None = None
    p2: Real | None = None
    n: Real | None = None
    d: Real | None = None
    status: np.ndarray[Any, Any] | None = None


def _derivatives(call: str, r: Closest, more: Mapping[str, Any], outputs: Sequence[str], method: str,
                 smoothing: Mapping[str, Any]) -> dict[str, Any]:
    """Computes derivatives of a result, which is reused if the method starts from it; their status is called "flags"."""
    if not isinstance(r, Closest):
        raise ValueError(f"{type(r).__name__} is not a result of abut.closest")
    query, of = r._query, r._query.subject
    subject = OfShapes(of.shapes, of.counts, of.shift, of.width, of.settings, smoothing_settings(method, smoothing))
    inputs, tails = CALLS[call].inputs, subject.tails
    given = {**query.given, **{name: getattr(r, name) for name in (*ANSWERS, "status")}}
    given.update({name: query.rows.read(value, tails[inputs[name].tail], name.removesuffix("_bar").removesuffix("_tangent"))
                  for name, value in more.items() if value is not None})
    return answers(plan_of(call, subject, given, (*outputs, "flags")), given)[0]


def closest_jacobian(r: Closest, method: str = "gumbel", *, want: Sequence[str] = ANSWERS,
                     **smoothing: Any) -> ClosestJacobian:
    """Computes Jacobians of a result of abut.closest with respect to world twists of both bodies.

    r          the result, whose numbers the first three methods reuse
    method     "exact", with the shapes' own curvature, which is 0 on faces, edges and corners; "gumbel", for hulls and boxes a
               soft maximum of the vertices around the closest point, for other shapes exact; "gaussian", from the support map's
               mean over random directions; "zeroth", by queries at random poses around the given ones; "finite", by central
               differences, only in float64
    want       any of "d", "n", "p1", "p2": other derivatives are neither computed nor copied
    smoothing  by name: temperature (of "gumbel", as a share of each shape's diagonal, 0.05), level (how often "gumbel" adds
               neighbours on the hull, 0 to 16; 1), epsilon (of "gaussian", 0.3; of "zeroth", 0.02, and of "finite", 1e-6, rad and
               a share of the spans; 0: these defaults), samples (of "gaussian" and "zeroth", 20: 1 to 65536, zeroth to 4096),
               seed (of both, 0), first (number of the first row for random numbers, 0), ridge (smallest eigenvalue used as a
               divisor, as a share of the sum of both spans, 1e-6)
    The derivatives are those of a smoothed problem at the result, which is not smoothed (docs/closest.md). Those of rows at
    BAD_INPUT are 0. Errors: ValueError for names, abut.Error for settings that are out of range and for "finite" in float32;
    TypeError for an unknown setting.
    """
    check_names(want, ANSWERS, "want")
    made = _derivatives("closest_jacobian", r, {}, [name + "_jacobian" for name in want], method, smoothing)
    return ClosestJacobian(status=made["flags"], **{name: made[name + "_jacobian"] for name in want})


def closest_vjp(r: Closest, *, p1: Array | None = None, p2: Array | None = None, n: Array | None = None,
                d: Array | None = None, method: str = "gumbel", **smoothing: Any) -> ClosestGradients:
    """Computes gradients of the sum of a result's numbers times these cotangents, without storing the Jacobian.

    r          the result of abut.closest
    p1, p2, n  (..., 3) cotangents, or arrays that broadcast to it; None is 0. Likewise d
    d          (...)
    method, smoothing  as in abut.closest_jacobian, and so are errors
    Poses that were given as matrices, or in different formats, are differentiated as positions and quaternions.
    """
    bars = {"p1": p1, "p2": p2, "n": n, "d": d}
    if all(bar is None for bar in bars.values()):
        raise ValueError(f"give at least one cotangent: {', '.join(bars)}")
    names = ("twists", "pose1", "pose2")
    made = _derivatives("closest_vjp", r, {name + "_bar": bar for name, bar in bars.items()},
                        [name + "_gradient" for name in names], method, smoothing)
    return ClosestGradients(*made.values())


def closest_jvp(r: Closest, twists: Array, *, method: str = "gumbel", want: Sequence[str] = ANSWERS,
                **smoothing: Any) -> ClosestTangents:
    """Computes derivatives of a result's numbers along world twists of both bodies, without storing the Jacobian.

    r        the result of abut.closest
    twists   (..., 12), or an array that broadcasts to it: tau1, phi1, tau2, phi2 [m, rad], as in abut.ClosestJacobian
    want, method, smoothing  as in abut.closest_jacobian, and so are errors
    """
    check_names(want, ANSWERS, "want")
    made = _derivatives("closest_jvp", r, {"twists_tangent": twists}, [name + "_tangent" for name in want], method, smoothing)
    return ClosestTangents(status=made["flags"], **{name: made[name + "_tangent"] for name in want})


def twists_of(poses: Real, tangents: Real) -> Real:
    """Returns the world twists (..., 6) of tangents (..., P) of poses' own numbers; 0 for an invalid pose."""
    steps = np.eye(6, dtype=poses.dtype)
    rows = pose_numbers.gradient_from_frame(poses[..., None, :], steps, "aligned")
    made: Real = np.einsum("...kp,...p->...k", rows, tangents)
    return np.where(np.isfinite(rows).all(-1), made, 0).astype(poses.dtype)
