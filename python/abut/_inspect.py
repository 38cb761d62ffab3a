"""Quality of bodies made of primitives, their contact meshes, and the number of edges that a pair needs."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from abut._body import Body
from abut._context import set_options
from abut._native import check, ffi, lib
from abut._pair import fit
from abut._shape_numbers import mesh_definition

__all__ = ["ContactMesh", "Suggestion", "contact_mesh", "measure_fit", "measure_mesh", "suggest"]


class ContactMesh(NamedTuple):
    """A closed mesh on the surface of a field: vertices (V, 3) [m] in float64, faces (F, 3) in uint32, and its properties by the
    names of the C API's abut_contact_mesh_report."""

    vertices: np.ndarray[Any, Any]
    faces: np.ndarray[Any, Any]
    report: dict[str, Any]


class Suggestion(NamedTuple):
    """Suggested numbers of edges and vertices of both bodies to retain, with the share of pairs whose two edges are retained, and
    the counts: pairs (poses,) and vertices of both bodies (2, poses), in uint32."""

    edges: tuple[int, int]
    vertices: tuple[int, int]
    pairs_held: float
    pairs: np.ndarray[Any, Any]
    deepest: np.ndarray[Any, Any]


def _fields(struct: Any, kind: str) -> dict[str, Any]:
    """Returns a C struct's members by name, arrays as tuples."""
    def value(name: str, of: Any) -> Any:
        member = getattr(struct, name)
        return tuple(member) if of.type.kind == "array" else member
    return {name: value(name, of) for name, of in ffi.typeof(kind).fields}


def _temperatures(body: Body, union: float | None, plane: float | None) -> tuple[float, float]:
    fitted = fit(body, body)
    set_options(fitted, {name: value for name, value in (("union_", union), ("plane", plane)) if value is not None})
    return fitted.union_, fitted.plane


def measure_fit(body: Body, vertices: Any, faces: Any, *, union: float | None = None,
                plane: float | None = None) -> dict[str, Any]:
    """Measures how well a body's field represents a mesh (docs/inspect.md). The result has the names of the C API's abut_fit:
    volumes, distances, depths by the field over those in the mesh, and whether the field is unbounded.

    vertices (V, 3) [m], faces (F, 3) or a sequence of polygons, indices from 0
    union, plane  temperatures [m]; None: as in Body.evaluate
    Errors: abut.Error if the mesh encloses nothing, or if the field has no surface near it.
    """
    definition, kept = mesh_definition(vertices, faces)
    fit = ffi.new("abut_fit *")
    check(lib.abut_measure_fit(body.handle, *_temperatures(body, union, plane), definition, fit))
    del kept
    return _fields(fit, "abut_fit")


def measure_mesh(body: Body, *, union: float | None = None, plane: float | None = None) -> dict[str, Any]:
    """Measures how even the triangles of a body's own mesh are, and its distance from the field (docs/inspect.md), by the names
    of the C API's abut_mesh_quality."""
    quality = ffi.new("abut_mesh_quality *")
    check(lib.abut_measure_mesh(body.handle, *_temperatures(body, union, plane), quality))
    return _fields(quality, "abut_mesh_quality")


def contact_mesh(body: Body, vertices: int = 300, *, sweeps: int = 12, union: float | None = None,
                 plane: float | None = None) -> ContactMesh:
    """Makes a contact mesh with a given number of vertices on the surface of a body's field (docs/inspect.md, Contact meshes).

    vertices      8 to 65,536
    sweeps        of the search for better triangles, 1 to 100
    union, plane  temperatures [m]; None: as in Body.evaluate
    Errors: abut.Error if the field has no surface, or an unbounded one.
    """
    if vertices < 1 or sweeps < 1:
        raise ValueError(f"vertices is {vertices!r} and sweeps is {sweeps!r}: both must be above 0")
    options = ffi.new("abut_contact_mesh_options *", lib.abut_default_contact_mesh_options())
    set_options(options, {"vertices": vertices, "sweeps": sweeps})
    made = ffi.new("abut_contact_mesh *")
    check(lib.abut_make_contact_mesh(body.handle, *_temperatures(body, union, plane), options, made))
    try:
        mesh = getattr(made, "def")
        points = np.frombuffer(ffi.buffer(mesh.vertices, 24 * mesh.vertex_count), np.float64).reshape(-1, 3).copy()
        faces = np.frombuffer(ffi.buffer(mesh.face_indices, 12 * mesh.face_count), np.uint32).reshape(-1, 3).copy()
        return ContactMesh(points, faces, _fields(made.report, "abut_contact_mesh_report"))
    finally:
        lib.abut_free_contact_mesh(made)


def suggest(a: Body, b: Body, smoothing: Mapping[str, Any] | None = None, *, poses: int = 256, seed: int = 0,
            depth: float = 0.03, quantile: float = 0.95) -> Suggestion:
    """Suggests how many edges and vertices of two bodies to retain, by random poses in collision (docs/suggest.md).

    smoothing  coefficients that differ from those fitted for pairs of edges
    poses      1 to 65,536
    depth      largest overlap, as a share of the smaller body's diagonal, 1e-4 to 0.5
    quantile   share of poses, and of pairs, that must be covered, 0.5 to 1
    Errors: abut.Error if no pose in collision is found.
    """
    if poses < 1 or not depth > 0.0 or not quantile > 0.0:
        raise ValueError(f"poses is {poses!r}, depth is {depth!r} and quantile is {quantile!r}: all must be above 0")
    fitted = fit(a, b, {"edge_contacts": "pairs", **(smoothing or {})})
    options = ffi.new("abut_suggest_options *", lib.abut_default_suggest_options())
    set_options(options, {"poses": poses, "seed": seed, "depth": depth, "quantile": quantile})
    found = ffi.new("abut_suggestion *")
    check(lib.abut_suggest_kept(a.handle, b.handle, fitted, options, found))
    try:
        def counts(of: Any) -> np.ndarray[Any, Any]:
            out: np.ndarray[Any, Any] = np.frombuffer(ffi.buffer(of, 4 * found.poses), np.uint32).copy()
            return out
        return Suggestion((found.edges[0], found.edges[1]), (found.vertices[0], found.vertices[1]),
                          found.pairs_held, counts(found.pairs),
                          np.stack([counts(found.deepest[0]), counts(found.deepest[1])]))
    finally:
        lib.abut_free_suggestion(found)
