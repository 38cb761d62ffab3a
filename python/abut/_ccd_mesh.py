"""Meshes for continuous collision detection."""
from __future__ import annotations

import os
from typing import Any

import numpy as np

from abut._arrays import polygons_of, typed_pointer
from abut._body import Body, warn_trailing
from abut._context import Context, Owner, default_context
from abut._native import check, ffi, lib, path_of

__all__ = ["CcdMesh"]

Array = Any  # np.ndarray, or types that NumPy accepts without a copy


def whole_numbers(value: Any, name: str, width: int) -> np.ndarray[Any, Any]:
    """Returns whole numbers from 0 of shape (m, width)."""
    array = np.asarray(value)
    if not array.size:
        array = array.reshape(0, width) if array.ndim < 2 else array.astype(np.uint32)
    elif array.dtype.kind not in "iu":
        raise ValueError(f"{name} has dtype {array.dtype.name}, expected integers")
    if array.ndim != 2 or array.shape[1] != width:
        raise ValueError(f"{name} has shape {array.shape}, not (m, {width})")
    if array.size and (array.min() < 0 or array.max() > 0xffffffff):
        raise ValueError(f"{name} has a number that is not in [0, 2^32 - 1]")
    return np.ascontiguousarray(array, np.uint32)


class CcdMesh(Owner):
    """A mesh whose vertices, edges and triangles collide. It need not be closed or consistently oriented.

    vertices   (V, 3) [m], within +-1e6; all count, also those of no face
    faces      (F, 3), or a sequence of polygons, which are cut into triangles: indices from 0; None: none
    edges      (E, 2) edges in addition to those of faces; None: none
    context    None takes abut.default_context()
    Errors: ValueError for shapes and types of arrays; abut.Error, whose text names the element.

    vertex_count, triangle_count, edge_count
    lower, upper   (3) bounding box of the vertices [m]
    """

    _destroy = lib.abut_destroy_ccd_mesh

    def __init__(self, vertices: Array, faces: Any = None, edges: Array | None = None, *,
                 context: Context | None = None) -> None:
        points, sizes, indices = polygons_of(vertices, () if faces is None else faces)
        more = np.empty((0, 2), np.uint32) if edges is None else whole_numbers(edges, "edges", 2)
        if more.size and more.max() >= len(points):
            raise ValueError(f"edges names a vertex that does not exist; there are {len(points)}")
        definition = ffi.new("abut_ccd_mesh_def *", lib.abut_default_ccd_mesh_def())
        kept = [typed_pointer("double", points), typed_pointer("uint32_t", sizes), typed_pointer("uint32_t", indices), typed_pointer("uint32_t", more)]
        definition.vertices, definition.face_sizes, definition.face_indices, definition.edges = kept
        definition.vertex_count, definition.face_count, definition.edge_count = len(points), len(sizes), len(more)
        chosen, handle = default_context() if context is None else context, ffi.new("abut_ccd_mesh *")
        check(lib.abut_create_ccd_mesh(chosen.handle, definition, handle))
        self._take(chosen, handle[0])

    def _take(self, context: Context, handle: Any) -> CcdMesh:
        self.context, self._handle = context, handle
        info = ffi.new("abut_ccd_mesh_info *")
        check(lib.abut_get_ccd_mesh_info(handle, info))
        self.vertex_count: int = info.vertices
        self.triangle_count: int = info.triangles
        self.edge_count: int = info.edges
        self._trailing: int = info.trailing
        self.lower = np.array(list(info.lower))
        self.upper = np.array(list(info.upper))
        return self

    @staticmethod
    def load(path: str | os.PathLike[str], context: Context | None = None, *, scale: float = 1.0) -> CcdMesh:
        """Makes a mesh for collision in time from a file, as the file is. The file is a bare mesh (in a format that abut.load
        reads), or a NAME.body.json, from which the mesh is the surface, else the mesh.

        context  None takes abut.default_context()
        scale    of a bare mesh, the file's unit of length [m]
        Errors: abut.Error with file, line and cause, also if a vertex is not within +-1e6 m, if there is no vertex, or if a
        body file's mesh has no faces; ValueError for scale.
        """
        chosen, handle, name = default_context() if context is None else context, ffi.new("abut_ccd_mesh *"), path_of(path)
        _check_scale(scale, name)
        check(lib.abut_load_ccd_mesh(chosen.handle, name, handle))
        made = CcdMesh.__new__(CcdMesh)._take(chosen, handle[0])
        warn_trailing(os.fsdecode(name), made._trailing)
        if scale == 1.0:
            return made
        with made:
            return CcdMesh(made.vertices * scale, made.triangles, made.edges, context=chosen)

    @staticmethod
    def of_body(body: Body) -> CcdMesh:
        """Makes the mesh of a body's surface, in the body's context, or of its contact mesh if the body has no surface. Bodies of
        a bare mesh and of body files that name a surface have one. Errors: abut.Error, which names the body's file, if the
        mesh has no faces."""
        if not isinstance(body, Body):
            raise ValueError(f"body is a {type(body).__name__}, not an abut.Body")
        handle = ffi.new("abut_ccd_mesh *")
        check(lib.abut_create_body_ccd_mesh(body.handle, handle))
        return CcdMesh.__new__(CcdMesh)._take(body.context, handle[0])

    def _features(self, name: str, count: int, width: int, ctype: str, dtype: Any) -> np.ndarray[Any, Any]:
        out = np.empty((count, width), dtype)
        places: dict[str, Any] = {"vertices": ffi.NULL, "triangles": ffi.NULL, "edges": ffi.NULL}
        places[name] = typed_pointer(ctype, out)
        check(lib.abut_get_ccd_mesh_features(self.handle, *places.values()))
        return out

    @property
    def vertices(self) -> np.ndarray[Any, Any]:
        """Vertices (vertex_count, 3) [m] in float64, in the order of the features' numbers."""
        return self._features("vertices", self.vertex_count, 3, "double", np.float64)

    @property
    def triangles(self) -> np.ndarray[Any, Any]:
        """Triangles (triangle_count, 3) in uint32: indices of vertices."""
        return self._features("triangles", self.triangle_count, 3, "uint32_t", np.uint32)

    @property
    def edges(self) -> np.ndarray[Any, Any]:
        """Edges (edge_count, 2) in uint32: indices of vertices."""
        return self._features("edges", self.edge_count, 2, "uint32_t", np.uint32)

    def __repr__(self) -> str:
        return (f"<abut.CcdMesh of {self.vertex_count} vertices, {self.edge_count} edges, "
                f"{self.triangle_count} triangles{'' if self._handle else ', closed'}>")


def _check_scale(scale: Any, name: bytes) -> None:
    if not isinstance(scale, (int, float, np.number)) or not 1e-9 <= scale <= 1e9:
        raise ValueError(f"scale is {scale!r}; it must be a number in [1e-9, 1e9]")
    if scale != 1.0 and name.endswith(b".json"):
        raise ValueError(f"{os.fsdecode(name)}: scale works only with bare meshes")
