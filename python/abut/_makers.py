"""The methods of Context that make bodies, pairs and scenes.

Modules of bodies, pairs and scenes import Context. The methods are therefore added to Context here, at the end.
"""
from __future__ import annotations

import dataclasses
import numbers
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from abut._body import Body, diagnostic_texts
from abut._context import Context, set_options
from abut._drivers import warn
from abut._inspect import contact_mesh
from abut._native import FIELD_GOES_ON, check, ffi, lib, path_of
from abut._pair import Pair
from abut._progress import Progress
from abut._shape_numbers import ShapeNumbers, create, mesh_definition, numbers_from, turned
from abut._worlds import Scene

MESH_VERTICES = 300  # of a contact mesh that is made if none is given


def _field_options(cells: int, vertices: int | str, tolerance: float, scale: float,
                   cache: bool) -> Any:
    options = ffi.new("abut_field_options *", lib.abut_default_field_options())
    set_options(options, {"cells": cells, "tolerance": tolerance, "scale": scale,
                          "vertices": 0xffffffff if vertices == "all" else vertices})
    if not scale > 0.0:
        raise ValueError(f"scale is {scale!r}; it must be above 0")
    options.no_cache = not cache
    options.progress = FIELD_GOES_ON
    return options


def _of_field(context: Context, field: Any, name: str) -> Body:
    try:
        handle = ffi.new("abut_body *")
        check(lib.abut_create_body(context.handle, ffi.addressof(field, "def"), handle))
        report = {key: getattr(field.report, key) for key, _ in
                  ffi.typeof("abut_field_report").fields}
        texts = diagnostic_texts(field.report)
        made = Body(context, handle[0], report)
        if not field.report.suspicions & lib.ABUT_SUSPECT_UNIT:  # lengths are meaningless with a wrong unit
            made._off = (name, field.report.face_95 * field.report.diagonal)
    finally:
        lib.abut_free_field(field)
    for text in texts:
        warn(f"{name}: {text}")
    return made


def load(self: Context, path: str | os.PathLike[str], *, cells: int = 0, vertices: int | str = 0,
         tolerance: float = 0.0, scale: float = 1.0, cache: bool = True) -> Body:
    """Loads a body from a file: NAME.body.json, or a bare mesh in a format that docs/bodies.md lists.

    For a bare mesh a field is made. The options are: `cells` along its longest side, the number of vertices that make contacts
    (or "all"), the tolerance as a share of the diagonal, and `scale`, the file's unit of length [m]; 0 takes the library's
    default. The field is kept on disk unless cache is False. Warns of suspicious meshes, and of a body file whose mesh is far
    from its field. Errors: abut.Error with file, line, cause.
    """
    if hasattr(path, "vertices") and hasattr(path, "faces"):
        raise TypeError(f"load takes a path, not a {type(path).__name__}: abut.body(mesh.vertices, mesh.faces) makes a body of a mesh")
    place, context = path_of(path), self.handle
    name = os.fsdecode(place)
    if name.endswith(".json"):
        if cells or vertices or tolerance or scale != 1.0 or not cache:
            raise ValueError(f"{name}: cells, vertices, tolerance, scale and cache work only with bare meshes")
        handle = ffi.new("abut_body *")
        check(lib.abut_load_body(context, place, handle))
        made = Body(self, handle[0])
        for text in made._diagnostics():
            warn(f"{name}: {text}")
        return made
    field = ffi.new("abut_field *")
    check(lib.abut_load_field(place, _field_options(cells, vertices, tolerance, scale, cache), field))
    return _of_field(self, field, name)


def _around(s: ShapeNumbers) -> np.ndarray[Any, Any]:
    """Returns points (..., 3) around a body's primitives, which show its size."""
    signs = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
    corners = s.position[:, None] + turned(s.rotation[:, None], signs * s.axes[:, None])
    ends = s.core_half + s.core_radius[:, None]
    ends[[kind == "disc" for kind in s.core_kind], 1:] = ends[[kind == "disc" for kind in s.core_kind], :2]
    cores = s.core_position[:, None] + turned(s.core_rotation[:, None], signs * ends[:, None])
    nodes = [s.grid_origin[i] + s.grid_spacing[i] * 0.5 * (signs + 1) * (s.grid_sizes[i] - 1)
             for i in range(len(s.grid_sizes))]
    return np.concatenate([corners.reshape(-1, 3), cores.reshape(-1, 3), *s.plane_points, *s.cloud_points, *nodes])


def _with_contact_mesh(context: Context, s: ShapeNumbers, vertices: int) -> ShapeNumbers:
    """Adds a contact mesh on the surface of a body's field to its numbers."""
    bare_of = dataclasses.replace(s, vertices=_around(s), feature_vertices=None, feature_edges=None, cones="mesh")
    with Body(context, create(context, bare_of)) as bare:
        mesh = contact_mesh(bare, vertices)
    if not mesh.report["covers"]:
        warn(f"the contact mesh leaves out {100.0 * mesh.report['left_out']:.2g} % of the volume, in pieces beside the "
             f"largest ({mesh.report['parts_left_out']}): contacts with these pieces would be missed (make a body for each piece, or give "
             "vertices of your own)")
    return dataclasses.replace(s, vertices=mesh.vertices, faces=mesh.faces)


def body(self: Context, vertices: Any = None, faces: Any = None, *, edges: Any = None, axes: Any = None, exponents: Any = None,
         position: Any = None, rotation: Any = None, plane_normals: Any = None, plane_points: Any = None,
         cloud_points: Any = None, cloud_normals: Any = None, cloud_widths: Any = None, grid_coefficients: Any = None,
         grid_origin: Any = None, grid_spacing: Any = None, core_half: Any = None, core_radius: Any = None,
         core_position: Any = None, core_rotation: Any = None, core_kind: Any = None, operation: Any = None,
         union: float | None = None, feature_vertices: Any = None, feature_edges: Any = None, sharp: float | None = None,
         cones: str | None = None, vertex_cones: Any = None, edge_cones: Any = None, edge_cone_ends: Any = None,
         cells: int = 0, vertices_kept: int | str = 0, tolerance: float = 0.0) -> Body:
    """Makes a body from arrays. The arrays are the ShapeNumbers of another body, or a mesh and primitives. A mesh without
    primitives gets a field, as a bare mesh's file does. Primitives without a mesh get a contact mesh on the surface of their
    field.

    vertices       (V, 3) [m] of the mesh that makes contacts; or ShapeNumbers, and nothing else; or the number of vertices of a
                   contact mesh, for which None takes 300
    faces          (F, 3) or a sequence of polygons, indices from 0; None: the faces on the planes of a single polyhedron, else
                   none
    edges          (E, 2) in addition to those of faces
    axes           (B, 3) half lengths of superquadrics [m], in [1e-6, 1e6]; (3,) for one
    exponents      (B, 2) along z, then around z, in (0, 2]: 1, 1 is an ellipsoid, 0.1, 0.1 nearly a box
    position       (B, 3) [m]; None: the origin. A single row is for all, here and below
    rotation       (B, 4) quaternions w, x, y, z, normalised when read; None: the body's axes
    plane_normals, plane_points  of each polyhedron (N, 3): outward normals, normalised when read, and points of its planes [m]; a
                   single array is for one polyhedron, here and below
    cloud_points, cloud_normals, cloud_widths  of each oriented point cloud (M, 3) [m], (M, 3), (M) [m]
    grid_coefficients  of each grid (nx, ny, nz) of a cubic B-spline [m], above 0 in the outer four layers
    grid_origin, grid_spacing  (G, 3) and (G) [m], position of node 0 0 0, and distance to the next node
    core_half      (C, 3) half lengths of cores [m]; for discs radius, half length, and a number that is not read
    core_radius    (C) distance by which cores are grown [m]
    core_position, core_rotation  (C, 3) [m] and (C, 4), as for superquadrics
    core_kind      "box" or "disc" for all, or for each; None: boxes
    operation      "add" or "subtract" for all, or for each primitive: superquadrics, then polyhedra, clouds, grids, cores
    union          temperature with which the primitives were fitted [m]; None: unknown
    feature_vertices  (N, 4) position and radius [m] of the vertices that are tested against other fields; None: those of the mesh
    feature_edges  (E, 3) edges between these vertices: two indices and the radius [m]; or (E, 9) with the centre and the axis of
                   arcs, right-handed from the first vertex to the second; the axis of a straight edge is 0
    sharp          angle between two faces' normals above which their edge is a feature [degrees]; None: 20
    cones          normal cones of features: "mesh", "given" or "none"; None: given if there are any, else of the mesh
    vertex_cones, edge_cones  (N, 4) and (E, 4) axis and half angle [degrees]; edge_cone_ends (E, 2) the vertices of these edges,
                   None: of feature_edges
    cells, vertices_kept, tolerance  for a mesh without primitives: those of `load`
    Errors: ValueError for shapes and for arguments that cannot be combined; abut.Error for numbers out of range, with the
    primitive's number.
    """
    given = {"edges": edges, "axes": axes, "exponents": exponents, "position": position, "rotation": rotation,
             "plane_normals": plane_normals, "plane_points": plane_points, "cloud_points": cloud_points,
             "cloud_normals": cloud_normals, "cloud_widths": cloud_widths, "grid_coefficients": grid_coefficients,
             "grid_origin": grid_origin, "grid_spacing": grid_spacing, "core_half": core_half, "core_radius": core_radius,
             "core_position": core_position, "core_rotation": core_rotation, "core_kind": core_kind, "operation": operation,
             "union": union, "feature_vertices": feature_vertices, "feature_edges": feature_edges, "sharp": sharp,
             "cones": cones, "vertex_cones": vertex_cones, "edge_cones": edge_cones, "edge_cone_ends": edge_cone_ends}
    named = [name for name, value in given.items() if value is not None]
    of_bare_meshes = bool(cells or vertices_kept or tolerance)
    if isinstance(vertices, ShapeNumbers):
        if faces is not None or named or of_bare_meshes:
            raise ValueError("these numbers describe a whole body: give no other arguments, and change the numbers instead")
        return Body(self, create(self, vertices))
    if named:
        if of_bare_meshes:
            raise ValueError("cells, vertices_kept and tolerance work only with a mesh without primitives")
        made = vertices is None or isinstance(vertices, numbers.Integral)
        if made and (faces is not None or edges is not None):
            raise ValueError("faces and edges need vertices, which are missing")
        found = numbers_from(None if made else vertices, faces, given)
        if made:
            found = _with_contact_mesh(self, found, MESH_VERTICES if vertices is None else vertices)
        return Body(self, create(self, found))
    if vertices is None or faces is None:
        raise ValueError("a body needs vertices and faces, or primitives such as axes and exponents")
    definition, kept = mesh_definition(vertices, faces)
    field = ffi.new("abut_field *")
    check(lib.abut_make_field(definition, _field_options(cells, vertices_kept, tolerance, 1.0, True), field))
    del kept
    return _of_field(self, field, "mesh")


def height_field(self: Context, heights: Any, size: Sequence[float], base: float, *, step: int = 0) -> Body:
    """Makes a body of ground below z = h(x, y), with walls and a base: docs/primitives.md, Height fields.

    heights  (rows, columns) [m], the first row at y = -size[1], the first column at x = -size[0]
    size     half lengths along x and y [m]
    base     depth of the base below z = 0 [m]; all heights are above -base
    step     spacing of contact vertices, in nodes; 0: the smallest that gives at most 2,048 vertices
    Errors: ValueError for shapes; abut.Error for a number out of range, with its row and column.
    """
    rows = np.ascontiguousarray(heights, np.float64)
    if rows.ndim != 2:
        raise ValueError(f"heights has shape {rows.shape}, not (rows, columns)")
    ends = np.asarray(size, np.float64)
    if ends.shape != (2,):
        raise ValueError(f"size has shape {ends.shape}, not (2,)")
    if not 0 <= step <= max(rows.shape):
        raise ValueError(f"step is {step!r}, not in [0, {max(rows.shape)}]")
    ground = ffi.new("abut_height_field *")
    kept = ffi.from_buffer("double[]", rows)
    ground.heights, (ground.rows, ground.columns) = kept, rows.shape
    ground.size, ground.base, ground.step = list(map(float, ends)), float(base), step
    definition = ffi.new("abut_body_def *", lib.abut_default_body_def())
    definition.height_fields, definition.height_field_count = ground, 1
    handle = ffi.new("abut_body *")
    check(lib.abut_create_body(self.handle, definition, handle))
    del kept
    return Body(self, handle[0])


def pair(self: Context, a: Body, b: Body, smoothing: Mapping[str, Any] | None = None) -> Pair:
    """Makes a pair of two bodies, as abut.Pair does."""
    return Pair(a, b, smoothing)


def scene(self: Context, path: str | os.PathLike[str], *, contact_model: str | None = None,
          progress: Progress = None) -> Scene:
    """Loads a scene into this context, as abut.Scene does."""
    return Scene(path, self, contact_model=contact_model, progress=progress)


for _method in (body, height_field, load, pair, scene):
    _method.__qualname__ = f"Context.{_method.__name__}"
    setattr(Context, _method.__name__, _method)
