"""Contexts, bodies and pairs."""
from __future__ import annotations

import dataclasses
import itertools
import numbers
import os
import threading
import types
import weakref
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from abut import _drivers
from abut._native import Error, check, ffi, lib

if TYPE_CHECKING:
    from abut._bodies import ShapeNumbers
    from abut._ccd import CcdMesh
    from abut._worlds import Scene

__all__ = ["Body", "Context", "Device", "DeviceReport", "Layout", "Pair", "body", "default_context",
           "devices", "fit_smoothing", "load", "load_smoothing"]

_PRECISIONS = {"f32": 0, "float32": 0, "f64": 1, "float64": 1}
_TYPES = ("host", "cpu", "gpu", "other")
_WORDS = {"select": ("softsort", "gate"), "edge_contacts": ("pairs", "field")}
_SMOOTHING = {"union": "union_"}  # names that differ from the C API's
_TAKEN_OUT = ("near", "reach", "ends", "agree")
_DIAGNOSTICS = ("OPEN", "INSIDE_OUT", "TURNED", "TANGLED", "UNIT", "SMALL", "COARSE", "THIN",
                "NESTED", "SHEET", "MISFIT", "FEATURES")


@dataclasses.dataclass(frozen=True)
class Device:
    """A device, as `abut devices` lists it."""

    index: int
    type: str
    name: str
    platform: str
    driver: str
    has_float64: bool
    compute_units: int
    memory_bytes: int


class DeviceReport(NamedTuple):
    """How a device of a context is doing; error is "" where it works."""

    device: Device
    error: str
    chunks: int
    elements: int


class Layout(NamedTuple):
    """Where a pair's contact slots are: counts and first slots, of body 1 and of body 2. edge_slots is how many slots edges have:
    one for each pair of edges, or two for each edge in the other body's field."""

    contacts: int
    vertices: tuple[int, int]
    edges: tuple[int, int]
    vertex_offset: tuple[int, int]
    edge_offset: tuple[int, int]
    edge_slots: tuple[int, int]


def _text(characters: Any) -> str:
    return str(ffi.string(characters).decode(errors="replace"))


def _device(info: Any) -> Device:
    return Device(info.index, _TYPES[info.type], _text(info.name), _text(info.platform),
                  _text(info.driver), bool(info.has_float64), info.compute_units,
                  info.memory_bytes)


def devices() -> list[Device]:
    """Every OpenCL device, then the host path, which is always there and slow."""
    _drivers.prepare()
    count = ffi.new("size_t *")
    check(lib.abut_list_devices(ffi.NULL, 0, count))
    infos = ffi.new("abut_device_info[]", count[0])
    check(lib.abut_list_devices(infos, count[0], count))
    return [_device(infos[i]) for i in range(min(count[0], len(infos)))]


def _choices(words: str | int | Sequence[str | int]) -> Any:
    """The devices that one name, or several, mean."""
    found: list[tuple[int, int, int]] = []
    names = [words] if isinstance(words, (str, int)) else list(words)
    count = ffi.new("size_t *")
    for name in names:
        text = str(name).encode()
        status = lib.abut_find_devices(text, ffi.NULL, 0, count)
        if status == lib.ABUT_ERROR_DEVICE:
            there = ", ".join(f"{d.index} {d.name!r} ({d.type})" for d in devices())
            raise Error(status, f"no device is called {str(name)!r}; abut.devices() has {there}. Others need "
                        "their OpenCL driver: a GPU its vendor's, a processor `apt install pocl-opencl-icd` "
                        "or `pip install abut[intel]`")
        check(status)
        some = ffi.new("abut_device_choice[]", count[0])
        check(lib.abut_find_devices(text, some, count[0], count))
        found += [(c.device, c.units, c.part) for c in some]
    return ffi.new("abut_device_choice[]", found)


class _Owner:
    """Something of the library's, destroyed with `close`, with `with`, or when it is collected."""

    _handle: Any = None
    _destroy: Any = None

    def close(self) -> None:
        """Frees it. Everything made of it is of no use any more."""
        if self._handle is not None and lib is not None and lib.abutpy_is_inside():
            raise RuntimeError("nothing is closed while a call is under way: a signal's handler runs "
                               "within it")
        handle, self._handle = self._handle, None
        if handle is not None and lib is not None:
            self._destroy(handle)

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __del__(self) -> None:
        # Within a call's question whether to go on nothing of its context may go: it goes with
        # the context.
        if lib is not None and not lib.abutpy_is_inside():
            self.close()

    @property
    def handle(self) -> Any:
        """The C API's value."""
        if self._handle is None:
            raise ValueError(f"this {type(self).__name__} is closed")
        return self._handle

    def __reduce__(self) -> Any:
        raise TypeError(f"a {type(self).__name__} lives on devices and cannot be pickled: keep the "
                        "names of files, and load them again")


class Context(_Owner):
    """Devices, opened at one precision, with all that is made on them.

    device         None takes the best one that works: a GPU, else PoCL, else another; else the
                   host path, with a warning. A name or an index of abut.devices(), "host", "all",
                   or a sequence of these, among which every batch is shared.
    precision      "f32" or "f64", of kernels and of all arrays
    queue          a pyopencl.CommandQueue, in order, whose context and device are then the only
                   ones (abut.opencl)
    fallback       "host": the host path finishes what devices fail at; "none": calls fail
    chunk, scratch_bytes, lanes, timeout
                   bounds and settings of the C API's abut_context_def; 0 takes the library's

    Threads may share a context; its calls take turns. A process that has been forked since opens
    none of its own, for drivers would hang: start workers by spawn.
    """

    _destroy = lib.abut_destroy_context

    def __init__(self, device: str | int | Sequence[str | int] | None = None,
                 precision: str = "f32", *, queue: Any = None, fallback: str = "host",
                 chunk: int = 0, scratch_bytes: int = 0, lanes: int = 0,
                 timeout: float = 0.0) -> None:
        if precision not in _PRECISIONS:
            raise ValueError(f"precision is {precision!r}, not one of {', '.join(_PRECISIONS)}")
        if fallback not in ("host", "none"):
            raise ValueError(f"fallback is {fallback!r}, not 'host' or 'none'")
        if queue is not None and device is not None:
            raise ValueError("a queue is of a device: device and queue exclude each other")
        _drivers.prepare()
        definition = ffi.new("abut_context_def *", lib.abut_default_context_def())
        choices = None if device is None else _choices(device)
        if choices is not None:
            definition.devices, definition.device_count = choices, len(choices)
        if queue is not None:
            definition.opencl_queue = ffi.cast("void *", queue.int_ptr)
        definition.precision = _PRECISIONS[precision]
        definition.fallback = 0 if fallback == "host" else 1
        definition.chunk, definition.scratch_bytes = chunk, scratch_bytes
        definition.lanes, definition.timeout = lanes, timeout
        handle = ffi.new("abut_context *")
        check(lib.abut_create_context(definition, handle))
        self._handle = handle[0]
        self._queue = queue
        self._told: list[DeviceReport] = []  # of failed devices that were warned about
        self.precision = "f64" if _PRECISIONS[precision] else "f32"
        self.dtype: np.dtype[Any] = np.dtype(np.float64 if _PRECISIONS[precision] else np.float32)
        if device is None and queue is None:
            _drivers.warn_of_host(self.device)

    @property
    def device(self) -> Device:
        """The first device."""
        info = ffi.new("abut_device_info *")
        check(lib.abut_context_device(self.handle, info))
        return _device(info)

    @property
    def devices(self) -> list[DeviceReport]:
        """All devices, those that failed, and what stands in for them."""
        count = ffi.new("size_t *")
        check(lib.abut_context_devices(self.handle, ffi.NULL, 0, count))
        reports = ffi.new("abut_device_report[]", count[0])
        check(lib.abut_context_devices(self.handle, reports, count[0], count))
        return [DeviceReport(_device(r.info), _text(r.text) if r.status else "", r.chunks,
                             r.elements) for r in reports]

    @property
    def counters(self) -> dict[str, int]:
        """What was done so far: bytes_up, bytes_down, launches, builds, chunks, resident."""
        counters = ffi.new("abut_counters *")
        check(lib.abut_get_counters(self.handle, counters))
        return {name: getattr(counters, name) for name in
                ("bytes_up", "bytes_down", "launches", "builds", "chunks", "resident")}

    def load(self, path: str | os.PathLike[str], *, cells: int = 0, vertices: int | str = 0,
             tolerance: float = 0.0, scale: float = 1.0, cache: bool = True) -> Body:
        """A body of a file: NAME.body.json, or a bare mesh (.obj .stl .ply .off, and .glb .gltf .dae
        where abut was built with Assimp).

        Of a bare mesh a field is made: cells along its longest side, the number of vertices
        that make contacts (or "all"), the tolerance as a share of the diagonal, scale the file's
        unit of length [m]; 0 takes the library's. It is kept on disk unless cache is False. What
        is suspicious about the mesh is warned about, and a body file whose mesh is not where
        its field is. Errors: abut.Error with file, line, cause.
        """
        name, handle = os.fsdecode(path), self.handle
        if "\0" in name:
            raise ValueError(f"{name!r} is no path")
        if name.endswith(".json"):
            if cells or vertices or tolerance or scale != 1.0 or not cache:
                raise ValueError(f"{name}: cells, vertices, tolerance, scale and cache are of bare meshes")
            body = ffi.new("abut_body *")
            check(lib.abut_load_body(handle, os.fsencode(name), body))
            made = Body(self, body[0])
            for text in made._diagnostics():
                _drivers.warn(f"{name}: {text}")
            return made
        field = ffi.new("abut_field *")
        check(lib.abut_load_field(os.fsencode(name), _field_options(
            cells, vertices, tolerance, scale, cache), field))
        return self._of_field(field, name)

    def body(self, vertices: Any = None, faces: Any = None, *, edges: Any = None, axes: Any = None, exponents: Any = None,
             position: Any = None, rotation: Any = None, plane_normals: Any = None, plane_points: Any = None,
             cloud_points: Any = None, cloud_normals: Any = None, cloud_widths: Any = None, grid_coefficients: Any = None,
             grid_origin: Any = None, grid_spacing: Any = None, core_half: Any = None, core_radius: Any = None,
             core_position: Any = None, core_rotation: Any = None, core_kind: Any = None, operation: Any = None,
             union: float | None = None, feature_vertices: Any = None, feature_edges: Any = None, sharp: float | None = None,
             cones: str | None = None, vertex_cones: Any = None, edge_cones: Any = None, edge_cone_ends: Any = None,
             cells: int = 0, vertices_kept: int | str = 0, tolerance: float = 0.0) -> Body:
        """A body of arrays: of the ShapeNumbers of another; of a mesh and primitives; of a mesh alone, of which a field
        is made as of a bare mesh's file; or of primitives alone, on whose field a contact mesh is made.

        vertices       (V, 3) [m] of the mesh that makes contacts; ShapeNumbers, and nothing else; or how many vertices
                       the contact mesh is to have, of which None makes 300
        faces          (F, 3) or a sequence of polygons, indices from 0; None: those of a lone polyhedron's planes, else none
        edges          (E, 2) beside those of faces
        axes           (B, 3) half lengths of superquadrics [m], in [1e-6, 1e6]; (3,) of one
        exponents      (B, 2) along z, then around z, in (0, 2]: 1, 1 an ellipsoid, 0.1, 0.1 nearly a box
        position       (B, 3) [m]; None: the origin. A row alone is that of all, here and below
        rotation       (B, 4) quaternions w, x, y, z, normalised on reading; None: as the body's axes
        plane_normals, plane_points   of each polyhedron (N, 3): outward normals, normalised on reading, and points of
                       its planes [m]; an array alone is that of one polyhedron, here and below
        cloud_points, cloud_normals, cloud_widths   of each oriented point cloud (M, 3) [m], (M, 3), (M) [m]
        grid_coefficients   of each grid (nx, ny, nz) of a cubic B-spline [m], above 0 in the outer four layers
        grid_origin, grid_spacing   (G, 3) and (G) [m], where node 0 0 0 is, and how far it is to the next
        core_half      (C, 3) half lengths of cores [m]; of discs radius, half length, and a number that is not read
        core_radius    (C) by which they are grown [m]
        core_position, core_rotation   (C, 3) [m] and (C, 4), as those of superquadrics
        core_kind      "box" or "disc" of all, or of each; None: boxes
        operation      "add" or "subtract" of all, or of each primitive: superquadrics, then polyhedra, clouds, grids, cores
        union          temperature that the primitives were fitted with [m]; None: none is known
        feature_vertices   (N, 4) place and radius [m] of the vertices that touch other fields; None: those of the mesh
        feature_edges  (E, 3) of the edges between these: two indices and the radius [m]; (E, 9) with the centre and the axis
                       of arcs, right-handed from the first vertex to the second; the axis of a straight edge is 0
        sharp          angle between two faces' normals above which their edge is a feature [degrees]; None: 20
        cones          normal cones of features: "mesh", "given" or "none"; None: given where they are, else of the mesh
        vertex_cones, edge_cones   (N, 4) and (E, 4) axis and half angle [degrees]; edge_cone_ends (E, 2) the vertices of
                       these edges, None: of feature_edges
        cells, vertices_kept, tolerance   of a mesh alone: those of `load`
        Errors: ValueError for shapes and what does not go together; abut.Error for numbers out of range, by the
        primitive's number.
        """
        from abut import _bodies
        given = {"edges": edges, "axes": axes, "exponents": exponents, "position": position, "rotation": rotation,
                 "plane_normals": plane_normals, "plane_points": plane_points, "cloud_points": cloud_points,
                 "cloud_normals": cloud_normals, "cloud_widths": cloud_widths, "grid_coefficients": grid_coefficients,
                 "grid_origin": grid_origin, "grid_spacing": grid_spacing, "core_half": core_half, "core_radius": core_radius,
                 "core_position": core_position, "core_rotation": core_rotation, "core_kind": core_kind, "operation": operation,
                 "union": union, "feature_vertices": feature_vertices, "feature_edges": feature_edges, "sharp": sharp,
                 "cones": cones, "vertex_cones": vertex_cones, "edge_cones": edge_cones, "edge_cone_ends": edge_cone_ends}
        named = [name for name, value in given.items() if value is not None]
        of_bare_meshes = bool(cells or vertices_kept or tolerance)
        if isinstance(vertices, _bodies.ShapeNumbers):
            if faces is not None or named or of_bare_meshes:
                raise ValueError("numbers of a body are a whole one: change them, and give nothing beside")
            return Body(self, _bodies.create(self, vertices))
        if named:
            if of_bare_meshes:
                raise ValueError("cells, vertices_kept and tolerance are of a mesh alone, without primitives")
            made = vertices is None or isinstance(vertices, numbers.Integral)
            if made and (faces is not None or edges is not None):
                raise ValueError("faces and edges are of vertices, which are missing")
            found = _bodies.numbers_from(None if made else vertices, faces, given)
            if made:
                found = _bodies.with_contact_mesh(self, found, _bodies.MESH_VERTICES if vertices is None else vertices)
            return Body(self, _bodies.create(self, found))
        if vertices is None or faces is None:
            raise ValueError("a body is made of vertices and faces, or of primitives: axes and exponents, for example")
        definition, kept = _mesh(vertices, faces)
        field = ffi.new("abut_field *")
        check(lib.abut_make_field(definition, _field_options(cells, vertices_kept, tolerance, 1.0,
                                                             True), field))
        del kept
        return self._of_field(field, "mesh")

    def height_field(self, heights: Any, size: Sequence[float], base: float, *, step: int = 0) -> Body:
        """A body of ground below z = h(x, y), with walls and a base: docs/bodies.md, Height fields.

        heights (rows, columns) [m], the first row at y = -size[1], the first column at x = -size[0]
        size    half lengths along x and y [m]
        base    how far below z = 0 it ends [m]; all heights lie above -base
        step    every how many nodes it has a contact vertex; 0: as few as make 2,048 or less
        Errors: ValueError of shapes; abut.Error of what is out of range, with its row and column.
        """
        rows = np.ascontiguousarray(heights, np.float64)
        if rows.ndim != 2:
            raise ValueError(f"heights has shape {rows.shape}, not (rows, columns)")
        ends = np.asarray(size, np.float64)
        if ends.shape != (2,):
            raise ValueError(f"size has shape {ends.shape}, not (2,)")
        if not 0 <= step <= max(rows.shape):
            raise ValueError(f"step is {step!r}, not within 0 to {max(rows.shape)}")
        ground = ffi.new("abut_height_field *")
        kept = ffi.from_buffer("double[]", rows)
        ground.heights, (ground.rows, ground.columns) = kept, rows.shape
        ground.size, ground.base, ground.step = list(map(float, ends)), float(base), step
        definition = ffi.new("abut_body_def *", lib.abut_default_body_def())
        definition.height_fields, definition.height_field_count = ground, 1
        body = ffi.new("abut_body *")
        check(lib.abut_create_body(self.handle, definition, body))
        del kept
        return Body(self, body[0])

    def _of_field(self, field: Any, name: str) -> Body:
        try:
            body = ffi.new("abut_body *")
            check(lib.abut_create_body(self.handle, ffi.addressof(field, "def"), body))
            report = {key: getattr(field.report, key) for key, _ in
                      ffi.typeof("abut_field_report").fields}
            texts = diagnostic_texts(field.report)
            made = Body(self, body[0], report)
            if not field.report.suspicions & lib.ABUT_SUSPECT_UNIT:  # lengths say nothing then
                made._off = (name, field.report.face_95 * field.report.diagonal)
        finally:
            lib.abut_free_field(field)
        for text in texts:
            _drivers.warn(f"{name}: {text}")
        return made

    def pair(self, a: Body, b: Body, smoothing: Mapping[str, Any] | None = None) -> Pair:
        """The same as abut.Pair."""
        return Pair(a, b, smoothing)

    def scene(self, path: str | os.PathLike[str], *, contact_model: str | None = None) -> Scene:
        """The same as abut.Scene on this context."""
        from abut._worlds import Scene
        return Scene(path, self, contact_model=contact_model)

    def __repr__(self) -> str:
        return f"<abut.Context {self.precision} on {self.device.name}>" if self._handle else \
            "<abut.Context, closed>"


def _set_options(options: Any, given: Mapping[str, Any]) -> None:
    """Lets a C struct have members by name; ValueError where one does not hold what is given."""
    for name, value in given.items():
        try:
            setattr(options, name, value)
        except (TypeError, OverflowError) as error:
            raise ValueError(f"{name.rstrip('_')} cannot be {value!r}: {error}") from None


def _field_options(cells: int, vertices: int | str, tolerance: float, scale: float,
                   cache: bool) -> Any:
    options = ffi.new("abut_field_options *", lib.abut_default_field_options())
    _set_options(options, {"cells": cells, "tolerance": tolerance, "scale": scale,
                           "vertices": 0xffffffff if vertices == "all" else vertices})
    if not scale > 0.0:
        raise ValueError(f"scale is {scale!r}, not above 0")
    options.no_cache = not cache
    lib.abutpy_watch(options)
    return options


def diagnostic_texts(report: Any) -> list[str]:
    room = ffi.new("char[]", 1024)
    address = ffi.addressof(report)
    return [_text(room) for name in _DIAGNOSTICS if lib.abut_suspicion_text(
        address, getattr(lib, "ABUT_SUSPECT_" + name), room, len(room))]


def polygons_of(vertices: Any, faces: Any) -> tuple[Any, Any, Any]:
    """A mesh's vertices (V, 3), how many corners each face has, and the indices of all, one face after the other."""
    points = np.ascontiguousarray(vertices, np.float64)
    if points.ndim != 2 or points.shape[1] != 3:
        raise ValueError(f"vertices has shape {points.shape}, not (V, 3)")
    if isinstance(faces, np.ndarray) and faces.ndim == 2 and faces.shape[1] >= 3 and faces.dtype.kind in "iu" and (
            not faces.size or (faces.min() >= 0 and faces.max() < len(points))):  # many, that are all right
        return points, np.full(len(faces), faces.shape[1], np.uint32), faces.astype(np.uint32).ravel()
    polygons = [np.asarray(face) for face in faces]
    for i, polygon in enumerate(polygons):
        if polygon.size and polygon.dtype.kind not in "iu":
            raise ValueError(f"face {i} holds {polygon.dtype.name}, not whole numbers")
        if polygon.ndim != 1 or polygon.size < 3:
            raise ValueError(f"face {i} is no polygon of at least three indices")
        if polygon.min() < 0 or polygon.max() >= len(points):
            raise ValueError(f"face {i} names a vertex that is not among the {len(points)}")
    sizes = np.array([p.size for p in polygons], np.uint32)
    return points, sizes, np.concatenate(polygons).astype(np.uint32) if polygons else np.empty(0, np.uint32)


def _mesh(vertices: Any, faces: Any) -> tuple[Any, list[Any]]:
    """A definition of the C API's, and what it points to."""
    points, sizes, indices = polygons_of(vertices, faces)
    definition = ffi.new("abut_body_def *", lib.abut_default_body_def())
    kept = [ffi.from_buffer("double[]", points), ffi.from_buffer("uint32_t[]", sizes),
            ffi.from_buffer("uint32_t[]", indices)]
    definition.vertices, definition.face_sizes, definition.face_indices = kept
    definition.vertex_count, definition.face_count = len(points), len(sizes)
    return definition, kept


class Body(_Owner):
    """A body on a context's devices: a mesh that makes contacts, and a signed distance field.

    report   of a bare mesh: what was done to it and how far its field is off, by the names of
             the C API's abut_field_report; else None
    """

    _destroy = lib.abut_destroy_body

    def __init__(self, context: Context, handle: Any,
                 report: dict[str, Any] | None = None) -> None:
        self.context, self._handle, self.report = context, handle, report
        self._off: tuple[str, float] | None = None  # of a bare mesh: its name, and its field's error [m]
        info = ffi.new("abut_body_info *")
        check(lib.abut_get_body_info(handle, info))
        self.vertex_count: int = info.vertices
        self.edge_count: int = info.edges
        self.face_count: int = info.faces
        self.primitive_count: int = info.primitives
        self.lower = np.array(list(info.lower))
        self.upper = np.array(list(info.upper))
        self.diagonal: float = info.diagonal
        self.thickness: float = info.thickness
        self.union: float = info.union_

    def _diagnostics(self) -> list[str]:
        """The diagnostics of a body file's mesh."""
        info, report = ffi.new("abut_body_info *"), ffi.new("abut_field_report *")
        check(lib.abut_get_body_info(self.handle, info))
        for name in ("suspicions", "misfit", "feature_misfit", "diagonal"):
            setattr(report, name, getattr(info, name))
        return diagnostic_texts(report[0])

    def mesh(self) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """Vertices (vertex_count, 3) [m] in float64 and edges (edge_count, 2) in uint32."""
        vertices = np.empty((self.vertex_count, 3))
        edges = np.empty((self.edge_count, 2), np.uint32)
        check(lib.abut_get_body_mesh(self.handle, ffi.from_buffer("double[]", vertices),
                                     ffi.from_buffer("uint32_t[]", edges)))
        return vertices, edges

    def shape(self) -> ShapeNumbers:
        """What the body is made of, as arrays that may be changed: abut.body(numbers) makes a body of them.

        Numbers are those of the body's file, or as they were given; coefficients of grids in the context's precision. A
        cloud that was made of the mesh is the last. Errors: abut.Error for a body with a height field.
        """
        from abut._bodies import numbers_of
        return numbers_of(self)

    def project(self, points: Any, *, union: float | None = None, plane: float | None = None,
                steps: int = 12) -> np.ndarray[Any, Any]:
        """Points (..., 3) of the body's frame put onto its surface, each along the field's normals there, in the
        context's precision: where a mesh that lay on the field belongs after the field has been changed.

        union, plane   temperatures [m], as of `evaluate`: those of a pair's smoothing for its contacts
        steps          of Newton's method, at most
        """
        x = np.array(points, np.float64)
        scale = max(self.diagonal, 1e-9)
        enough = (1e-13 if self.context.precision == "f64" else 1e-6) * scale
        for _ in range(steps):
            d, n = (a.astype(np.float64) for a in self.evaluate(x.astype(self.context.dtype), union=union, plane=plane))
            if not (np.abs(d) > enough).any():
                break
            # The distance's slope along its own normal, which is not 1 of all primitives.
            h = 1e-4 * scale
            ahead = self.evaluate((x + h * n).astype(self.context.dtype), union=union, plane=plane)[0]
            slope = np.maximum((ahead - d) / h, 0.1)
            x = x - (d / slope)[..., None] * n
        return x.astype(self.context.dtype)

    def evaluate(self, points: Any, *, union: float | None = None,
                 plane: float | None = None) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """The field at points (..., 3) of the body's frame: distance (...) [m], normal (..., 3). NaN of a
        point that is not finite.

        union, plane   temperatures [m]; None: as smoothing that is fitted to this body has, 0.004 of
                       its scale or the union that its file tells
        """
        from abut._arrays import pointer, real_array
        x = real_array(points, self.context.dtype, "points")
        if not x.ndim or x.shape[-1] != 3:
            raise ValueError(f"points has shape {x.shape}, not (..., 3)")
        distance, normal = np.empty(x.shape[:-1], x.dtype), np.empty(x.shape, x.dtype)
        lost = ~np.isfinite(x).all(-1)
        fitted = ffi.new("abut_smoothing *")
        check(lib.abut_fit_smoothing(self.handle, self.handle, fitted))
        check(lib.abut_evaluate_body(self.handle, fitted.union_ if union is None else union,
                                     fitted.plane if plane is None else plane, x.size // 3, pointer(x),
                                     pointer(distance), pointer(normal)))
        distance[lost], normal[lost] = np.nan, np.nan
        return distance, normal

    def __repr__(self) -> str:
        return (f"<abut.Body of {self.vertex_count} vertices, {self.edge_count} edges, "
                f"{self.primitive_count} primitives{'' if self._handle else ', closed'}>")


def _smoothing_fields() -> list[str]:
    return [name for name, _ in ffi.typeof("abut_smoothing").fields if name != "cookie"]


def _read_smoothing(s: Any) -> dict[str, Any]:
    backward = {c: python for python, c in _SMOOTHING.items()}
    out: dict[str, Any] = {}
    for name in _smoothing_fields():
        value = getattr(s, name)
        if name in ("edges", "vertices"):
            value = (value[0], value[1])
        out[backward.get(name, name)] = _WORDS[name][value] if name in _WORDS else value
    return out


def _fill_smoothing(s: Any, given: Mapping[str, Any]) -> None:
    known = [{c: python for python, c in _SMOOTHING.items()}.get(n, n) for n in _smoothing_fields()]
    for name, value in given.items():
        if name in _TAKEN_OUT:
            if isinstance(value, numbers.Real) and value == 0:  # off, as dicts from before state it
                continue
            raise ValueError(f"smoothing {name!r} was taken out in version 0.3: contacts of edges in fields "
                             "(edge_contacts='field') take its place")
        if name not in known:
            raise ValueError(f"smoothing has no {name!r}; it has {', '.join(known)}")
        if name in _WORDS:
            if value not in _WORDS[name]:
                raise ValueError(f"{name} is {value!r}, not {' or '.join(map(repr, _WORDS[name]))}")
            value = _WORDS[name].index(value)
        try:
            setattr(s, _SMOOTHING.get(name, name), value)
        except (TypeError, OverflowError) as error:
            raise ValueError(f"smoothing {name!r} cannot be {value!r}: {error}") from error


def _fit(a: Body, b: Body, given: Mapping[str, Any] | None = None) -> Any:
    s = ffi.new("abut_smoothing *")
    given = given or {}
    pairs = given.get("edge_contacts") == "pairs"
    check((lib.abut_fit_edge_pairs if pairs else lib.abut_fit_smoothing)(a.handle, b.handle, s))
    # Cones need both bodies' vertices and edges: without them they go, unless they are asked for.
    if not all(given.get(name, True) for name in ("edge_edge", "two_sided")):
        for name in ("cone_inner", "cone_outer", "cone_hold", "cone_inset"):
            setattr(s, name, 0.0)
    _fill_smoothing(s, given)
    return s


def fit_smoothing(a: Body, b: Body, edge_contacts: str = "field") -> dict[str, Any]:
    """Smoothing coefficients that follow the bodies' size, by name (abut_smoothing of the C API,
    where `union` is `union_`).

    edge_contacts   "field": edges make contacts with the other body's field, with normal cones;
                    "pairs": with its edges, as in Beker et al.
    """
    return _read_smoothing(_fit(a, b, {"edge_contacts": edge_contacts}))


def load_smoothing(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Smoothing coefficients of a .json file, by name: all of them, for Pair."""
    s = ffi.new("abut_smoothing *")
    check(lib.abut_load_smoothing(os.fsencode(path), s))
    return _read_smoothing(s)


# What a pair is called in compiled programs, which hold numbers alone: never given twice.
_numbers = itertools.count(1)
_numbered: weakref.WeakValueDictionary[int, Pair] = weakref.WeakValueDictionary()


def pair_of(number: int) -> Pair:
    """The pair of that number, which a compiled program was made for."""
    pair = _numbered.get(int(number))
    if pair is None:
        raise ValueError(f"pair {int(number)}, which this program was compiled for, is gone: keep it "
                         "as long as the program")
    return pair


def _warn_of_clearance(body: Body, penetration: float) -> None:
    """Once a body: its field cannot tell what the pair's contacts are asked for."""
    if body._off and body._off[1] > penetration:
        name, off = body._off
        _drivers.warn(f"{name}: its field is off by up to {off:.2g} m at 95 % of the surface, more than the "
                      f"{penetration:.2g} m by which contacts with the other body count (penetration): "
                      "clearances below that mean nothing; ask a smaller tolerance")
        body._off = None


class Pair(_Owner):
    """Two bodies of one context, which may be the same, with their smoothing.

    smoothing   coefficients that differ from the fitted ones, by name. Afterwards all of them, to
                be read alone
    C           contact slots of a pose
    layout      where which contacts are
    number      this pair in compiled programs
    """

    _destroy = lib.abut_destroy_pair
    _ccd_meshes: tuple[CcdMesh, CcdMesh] | None = None
    _varied: Any = None  # of derivatives by shapes in frameworks

    def __init__(self, a: Body, b: Body, smoothing: Mapping[str, Any] | None = None) -> None:
        for name, body in (("a", a), ("b", b)):
            if not isinstance(body, Body):
                raise ValueError(f"{name} is a {type(body).__name__}, not an abut.Body: abut.load reads "
                                 "files")
        if a.context is not b.context:
            raise ValueError("the two bodies are of different contexts")
        s = _fit(a, b, smoothing)
        handle = ffi.new("abut_pair *")
        check(lib.abut_create_pair(a.handle, b.handle, s, handle))
        self._handle = handle[0]
        self.bodies = (a, b)
        self.context = a.context
        self.dtype = a.context.dtype
        self.smoothing: Mapping[str, Any] = types.MappingProxyType(_read_smoothing(s))
        layout = ffi.new("abut_layout *")
        check(lib.abut_get_layout(self._handle, layout))
        for body in self.bodies:
            _warn_of_clearance(body, s.penetration)
        self.layout = Layout(layout.contacts, *(
            (getattr(layout, name)[0], getattr(layout, name)[1]) for name in
            ("vertices", "edges", "vertex_offset", "edge_offset", "edge_slots")))
        self.C: int = layout.contacts
        self.number: int = next(_numbers)
        _numbered[self.number] = self

    def ccd_meshes(self) -> tuple[CcdMesh, CcdMesh]:
        """The bodies' contact meshes as abut.ccd moves them, made when they are first asked for; the pair keeps them."""
        if self.handle is not None and self._ccd_meshes is None:
            from abut._ccd import CcdMesh
            one = CcdMesh.of_body(self.bodies[0])
            self._ccd_meshes = (one, one if self.bodies[1] is self.bodies[0] else CcdMesh.of_body(self.bodies[1]))
        assert self._ccd_meshes is not None
        return self._ccd_meshes

    def close(self) -> None:
        super().close()
        self._ccd_meshes = None  # answers and programs may still be of them
        self._varied = None

    def __repr__(self) -> str:
        return f"<abut.Pair of {self.C} contact slots{'' if self._handle else ', closed'}>"


_default: dict[int, Context] = {}
_default_lock = threading.Lock()


def default_context() -> Context:
    """The context that abut.load takes: the default device in float32, opened when it is first
    asked for."""
    with _default_lock:
        process = os.getpid()
        context = _default.get(process)
        if context is None or context._handle is None:
            _default[process] = context = Context()
        return context


def body(vertices: Any = None, faces: Any = None, **options: Any) -> Body:
    """Context.body of the default context."""
    return default_context().body(vertices, faces, **options)


def load(path: str | os.PathLike[str], **options: Any) -> Body:
    """Context.load of the default context."""
    return default_context().load(path, **options)


def warn_of_failures(context: Context, count: int) -> None:
    """A device that failed loses nothing but its speed, and is named; so is what computes instead."""
    if count:
        reports = context.devices
        others = ", ".join(r.device.name for r in reports if not r.error and r.chunks)
        for report in reports:
            if report.error and report not in context._told:
                context._told.append(report)
                _drivers.warn(f"device {report.device.name} failed, and {others or 'another'} computes "
                              f"instead: {report.error.splitlines()[0]}")
