"""Derivatives of contacts with respect to the shapes of their bodies, for NumPy arrays."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from abut._arrays import by_position, check_names, double_array
from abut._calls import ALL_OUTPUTS, OUTPUTS, Array, Batch, Contacts, _reduction, contact_shape
from abut._native import check, ffi, lib
from abut._pair import Pair
from abut._shape_numbers import ShapeNumbers

__all__ = ["ShapeGradients", "shape_gradient", "shape_jvp", "shape_vjp"]

Arrays = np.ndarray[Any, Any]


class ShapeGradients(NamedTuple):
    """Derivatives with respect to the numbers of one body, in its own frame, in float64. Derivatives for each pose have the
    batch's leading axes (...); sums have none. Tuples have an array for each primitive of the body.

    vertices           (..., V, 3) of the mesh [1/m]
    axes               (..., B, 3) of the superquadrics [1/m]
    exponents          (..., B, 2)
    position           (..., B, 3) [1/m]
    rotation           (..., B, 3) by the twist w of R exp(hat w) at w = 0: rotations in their own axes
    plane_normals      of each polyhedron (..., N, 3): by the body's normals of length 1, whose length may change, too
    plane_points       of each polyhedron (..., N, 3) [1/m]
    cloud_points       of each point cloud (..., M, 3) [1/m]; the cloud of a bare mesh is the last
    cloud_normals      of each point cloud (..., M, 3)
    cloud_widths       of each point cloud (..., M) [1/m]
    grid_coefficients  of each grid (..., K) [1/m]: its own, x slowest, then those of its levels' blocks
    core_half          (..., C, 3) of the cores [1/m]; the third number of a disc is 0
    core_radius        (..., C) [1/m]
    core_position      (..., C, 3) [1/m]
    core_rotation      (..., C, 3) like rotation
    feature_vertices   (..., F, 3) of the features that the body states [1/m]; without stated features its vertices are the
                       features
    vertex_radius      (..., F) [1/m]
    edge_radius        (..., E) of its stated edges [1/m]
    """

    vertices: Arrays
    axes: Arrays
    exponents: Arrays
    position: Arrays
    rotation: Arrays
    plane_normals: tuple[Arrays, ...]
    plane_points: tuple[Arrays, ...]
    cloud_points: tuple[Arrays, ...]
    cloud_normals: tuple[Arrays, ...]
    cloud_widths: tuple[Arrays, ...]
    grid_coefficients: tuple[Arrays, ...]
    core_half: Arrays
    core_radius: Arrays
    core_position: Arrays
    core_rotation: Arrays
    feature_vertices: Arrays
    vertex_radius: Arrays
    edge_radius: Arrays


# The rows of each array, the numbers per row, and the primitives that they belong to.
_KINDS = {"vertices": ("vertices", (3,), None), "axes": ("superquadrics", (3,), None),
          "exponents": ("superquadrics", (2,), None), "position": ("superquadrics", (3,), None),
          "rotation": ("superquadrics", (3,), None), "plane_normals": ("planes", (3,), "polyhedra"),
          "plane_points": ("planes", (3,), "polyhedra"), "cloud_points": ("points", (3,), "pointclouds"),
          "cloud_normals": ("points", (3,), "pointclouds"), "cloud_widths": ("points", (), "pointclouds"),
          "grid_coefficients": ("coefficients", (), "grids"), "core_half": ("cores", (3,), None),
          "core_radius": ("cores", (), None), "core_position": ("cores", (3,), None), "core_rotation": ("cores", (3,), None),
          "feature_vertices": ("feature_vertices", (3,), None), "vertex_radius": ("feature_vertices", (), None),
          "edge_radius": ("feature_edges", (), None)}


class _Room:
    """A body's arrays, and the C struct that points to them."""

    def __init__(self, body: Any, lead: tuple[int, ...]) -> None:
        sizes = ffi.new("abut_shape_sizes *")
        check(lib.abut_get_shape_sizes(body.handle, sizes))
        counts = {name: ffi.new("size_t[]", int(getattr(sizes, name)) or 1)
                  for name in ("polyhedra", "pointclouds", "grids")}
        check(lib.abut_get_shape_counts(body.handle, counts["polyhedra"], counts["pointclouds"],
                                        counts["grids"]))
        self.counts = {name: list(of)[:int(getattr(sizes, name))] for name, of in counts.items()}
        self.axis = len(lead)
        self.arrays = {name: np.zeros((*lead, int(getattr(sizes, of)), *tail))
                       for name, (of, tail, _) in _KINDS.items()}
        self.struct = ffi.new("abut_shape_gradients *")
        self.kept = []
        for name, array in self.arrays.items():
            if getattr(sizes, _KINDS[name][0]):
                place = ffi.from_buffer("double[]", array if array.size else np.zeros(1))
                self.kept.append(place)
                setattr(self.struct, name, place)

    def take(self, given: ShapeGradients | Mapping[str, Any], name: str) -> Any:
        """Returns a direction's C struct, from a body's numbers as in ShapeGradients. Names that are None or missing are zero."""
        if isinstance(given, ShapeNumbers) or not isinstance(given, (ShapeGradients, Mapping)):
            raise ValueError(f"{name} is a {type(given).__name__}, not an abut.ShapeGradients or a mapping of its names to "
                             "directions")
        numbers = given._asdict() if isinstance(given, ShapeGradients) else dict(given)
        check_names(numbers, tuple(_KINDS), name)
        made = ffi.new("abut_shape_tangents *")
        for kind, value in numbers.items():
            primitives, array = _KINDS[kind][2], self.arrays[kind]
            if value is None:
                continue
            if primitives is not None:
                counts = self.counts[primitives]
                if not isinstance(value, (tuple, list)) or len(value) != len(counts):
                    held = f"a list of {len(value)}" if isinstance(value, (tuple, list)) else f"a {type(value).__name__}"
                    raise ValueError(f"{name}.{kind} is {held}, not a list with an array for each of the body's "
                                     f"{len(counts)} {primitives}")
                parts = [double_array(part, f"{name}.{kind}[{i}]") for i, part in enumerate(value)]
                for i, (part, count) in enumerate(zip(parts, counts)):
                    wanted = (*array.shape[:self.axis], count, *array.shape[self.axis + 1:])
                    if part.shape != wanted:
                        raise ValueError(f"{name}.{kind}[{i}] has the shape {part.shape}, not {wanted}")
                value = np.concatenate(parts, axis=self.axis) if parts else array
            value = double_array(value, f"{name}.{kind}")
            if value.shape != array.shape:
                raise ValueError(f"{name}.{kind} has the shape {value.shape}, not {array.shape}")
            if value.size:
                self.kept.append(ffi.from_buffer("double[]", value))
                setattr(made, kind, self.kept[-1])
        self.kept.append(made)
        return made

    def answer(self) -> ShapeGradients:
        made: dict[str, Any] = {}
        for name, array in self.arrays.items():
            primitives = _KINDS[name][2]
            if primitives is None:
                made[name] = array
            else:
                ends = np.cumsum(self.counts[primitives], dtype=int)[:-1]
                parts = np.split(array, ends, axis=self.axis) if self.counts[primitives] else ()
                made[name] = tuple(parts)
        return ShapeGradients(**made)


def _batch(pair: Pair, pose1: Array, pose2: Array, each_pose: bool) -> tuple[Batch, list[_Room]]:
    if not isinstance(pair, Pair):
        raise ValueError("derivatives by shapes need one abut.Pair")
    b = Batch(pair, pose1, pose2, None)
    lead = b.rows.lead if each_pose else ()
    return b, [_Room(body, lead) for body in pair.bodies]


def _want(each_pose: bool, follow: bool) -> int:
    return (lib.ABUT_SHAPE_EACH_POSE if each_pose else 0) | (lib.ABUT_SHAPE_FOLLOW if follow else 0)


@by_position
def shape_vjp(pair: Pair, pose1: Array, pose2: Array, *, p: Array | None = None, d: Array | None = None,
              n: Array | None = None, activity: Array | None = None,
              each_pose: bool = False, follow: bool = False) -> tuple[ShapeGradients, ShapeGradients]:
    """Computes gradients with respect to both bodies' numbers of the sum, over all poses, of all outputs times their cotangents.
    Cotangents have the outputs' shapes; None is zero. With each_pose each pose has its own gradients.

    With `follow` meshes move along with their bodies' fields, on which they must lie: the derivatives with respect to the
    vertices are added to those with respect to the primitives through this relation.

    Poses that are not finite are left out of sums, and give NaN with each_pose. Sums are the same to the bit for any chunks
    and for any devices of one kind."""
    b, rooms = _batch(pair, pose1, pose2, each_pose)
    bars = b.cotangents({"p": p, "d": d, "n": n, "activity": activity}, needed=True)
    b.done(lib.abut_shape_vjp(b.owner, b.batch, bars, rooms[0].struct, rooms[1].struct, _want(each_pose, follow)))
    return rooms[0].answer(), rooms[1].answer()


@by_position
def shape_gradient(pair: Pair, pose1: Array, pose2: Array, kind: str, *,
                   each_pose: bool = False, follow: bool = False) -> tuple[ShapeGradients, ShapeGradients]:
    """Computes the gradient of a reduction with respect to shapes, summed over all poses or for each pose: "distance",
    "mean_distance", "activity", "energy" or "soft_minimum". Otherwise it works as shape_vjp."""
    number = _reduction(kind)
    b, rooms = _batch(pair, pose1, pose2, each_pose)
    b.done(lib.abut_shape_gradient(b.owner, b.batch, number, rooms[0].struct, rooms[1].struct, _want(each_pose, follow)))
    return rooms[0].answer(), rooms[1].answer()


@by_position
def shape_jvp(pair: Pair, pose1: Array, pose2: Array,
              tangents1: ShapeGradients | Mapping[str, Any] | None = None,
              tangents2: ShapeGradients | Mapping[str, Any] | None = None, *,
              along1: Array | None = None, along2: Array | None = None, want: Sequence[str] = OUTPUTS,
              each_pose: bool = False, follow: bool = False) -> Contacts:
    """Computes derivatives of the contacts along a direction of both bodies' numbers. A direction is a ShapeGradients or a
    mapping with some of its names and shapes. Names that are None or missing are zero. The direction is the same for all
    poses, or with each_pose has the batch's leading axes. along1 and along2 are tangents (..., P) of the poses in addition.

    With `follow` meshes move along with their bodies' fields, on which they must lie, in addition to the direction of their
    own vertices. Directions that are not finite are refused."""
    check_names(want, ALL_OUTPUTS, "want")
    b, rooms = _batch(pair, pose1, pose2, each_pose)
    if tangents1 is None and tangents2 is None:
        raise ValueError("give tangents1, tangents2 or both")
    moves = [ffi.NULL if given is None else room.take(given, name)
             for room, given, name in zip(rooms, (tangents1, tangents2), ("tangents1", "tangents2"))]
    along = ffi.NULL if along1 is None and along2 is None else b.tangents(along1, along2)
    made = {name: b.output(contact_shape(name, b.C)) for name in want}
    status = b.output((), None, "", np.uint8)
    b.batch.status = ffi.from_buffer("uint8_t[]", status) if status.size else ffi.NULL
    b.done(lib.abut_shape_jvp(b.owner, b.batch, moves[0], moves[1], along, b.struct("abut_tangents *", **made),
                              _want(each_pose, follow)))
    return Contacts(**made, status=status)
