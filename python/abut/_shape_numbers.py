"""Conversion of arrays to bodies, and of bodies to arrays."""
from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from abut._arrays import double_array, polygons_of
from abut._native import check, ffi, lib

__all__ = ["ShapeNumbers"]

Array = Any  # np.ndarray, or types that NumPy accepts
Arrays = np.ndarray[Any, Any]
OPERATIONS = ("add", "subtract")


def _record(kind: str, size: int) -> np.dtype[Any]:
    """Returns the NumPy dtype of a C struct of doubles, and of an operation."""
    fields = [(name, field.offset, np.dtype((np.float64, (ffi.sizeof(field.type) // 8,))))
              for name, field in ffi.typeof(kind).fields if name != "operation"]
    return np.dtype({"names": [name for name, _, _ in fields] + ["operation"],
                     "formats": [form for _, _, form in fields] + [np.int32],
                     "offsets": [offset for _, offset, _ in fields] + [ffi.offsetof(kind, "operation")],
                     "itemsize": size})


SUPERQUADRIC = _record("abut_superquadric", ffi.sizeof("abut_superquadric"))


@dataclasses.dataclass(eq=False, repr=False)
class ShapeNumbers:
    """The numbers of a body, in its own frame [m], by the names of ShapeGradients. Lists have an array for each primitive. Arrays
    are in float64 and may be changed: abut.body(numbers) makes a body from them.

    vertices           (V, 3) of the mesh
    faces              (F, 3), or a list of polygons, indices of vertices from 0
    edges              (E, 2) of the mesh, all of them
    axes               (B, 3) half lengths of the superquadrics, in [1e-6, 1e6]
    exponents          (B, 2) along z, then around z, in (0, 2]
    position           (B, 3)
    rotation           (B, 4) quaternions w, x, y, z, whose length has no effect; `turn` turns them
    plane_normals      of each polyhedron (N, 3), outward; their length has no effect
    plane_points       of each polyhedron (N, 3), on its planes
    cloud_points       of each point cloud (M, 3)
    cloud_normals      of each point cloud (M, 3), outward; their length has no effect
    cloud_widths       of each point cloud (M)
    grid_coefficients  of each grid (nx ny nz), x slowest, and then of the blocks of its levels, (8, 8, 8) each
    grid_sizes         (G, 3) nx, ny, nz
    grid_origin        (G, 3)
    grid_spacing       (G)
    grid_blocks        of each grid a list of its levels' blocks (n, 3)
    core_kind          of each core "box" or "disc"
    core_half          (C, 3) half lengths of boxes; for discs radius, half length, 0
    core_radius        (C)
    core_position      (C, 3)
    core_rotation      (C, 4) quaternions as for superquadrics
    operation          of each primitive "add" or "subtract": superquadrics, then polyhedra, clouds, grids, cores
    union              temperature with which the primitives were fitted; 0: unknown
    surface            vertices and faces for collision in time instead of the mesh, or None
    feature_vertices   (N, 4) position and radius of the stated vertices that are tested against other fields; None: those of the
                       mesh
    feature_edges      (E, 9) of the stated edges: two of these vertices, the radius, and the centre and the axis of an arc, which
                       is right-handed from the first to the second; the axis of a straight edge is 0. None: the mesh's
    sharp              angle between two faces' normals above which their edge is a feature [degrees]
    cones              source of the features' normal cones: "mesh", "given" or "none"
    vertex_cones       (N, 4) axis and half angle [degrees] of given cones, or None
    edge_cones         (E, 4) the same for edges, or None
    edge_cone_ends     (E, 2) the vertices of these edges, or None: they are feature_edges
    """

    vertices: Arrays
    faces: Any
    edges: Arrays
    axes: Arrays
    exponents: Arrays
    position: Arrays
    rotation: Arrays
    plane_normals: list[Arrays]
    plane_points: list[Arrays]
    cloud_points: list[Arrays]
    cloud_normals: list[Arrays]
    cloud_widths: list[Arrays]
    grid_coefficients: list[Arrays]
    grid_sizes: Arrays
    grid_origin: Arrays
    grid_spacing: Arrays
    grid_blocks: list[list[Arrays]]
    core_kind: list[str]
    core_half: Arrays
    core_radius: Arrays
    core_position: Arrays
    core_rotation: Arrays
    operation: list[str]
    union: float
    surface: tuple[Arrays, Any] | None
    feature_vertices: Arrays | None = None
    feature_edges: Arrays | None = None
    sharp: float = 20.0
    cones: str = "mesh"
    vertex_cones: Arrays | None = None
    edge_cones: Arrays | None = None
    edge_cone_ends: Arrays | None = None

    def turn(self, twists: Array) -> None:
        """Turns the superquadrics by twists (B, 3) in their own axes [rad]: R becomes R exp(hat w). The gradients `rotation` are
        by these twists."""
        w = np.broadcast_to(np.asarray(twists, np.float64), self.position.shape)
        angle = np.linalg.norm(w, axis=1, keepdims=True)
        turned = np.concatenate([np.cos(angle / 2), 0.5 * np.sinc(angle / (2 * np.pi)) * w], 1)
        self.rotation = times(self.rotation, turned)

    def __repr__(self) -> str:
        primitives = (len(self.axes), len(self.plane_points), len(self.cloud_points), len(self.grid_coefficients),
                      len(self.core_half))
        families = (("superquadric", "superquadrics"), ("polyhedron", "polyhedra"), ("point cloud", "point clouds"),
                    ("grid", "grids"), ("core", "cores"))
        parts = ", ".join(f"{n} {words[n != 1]}" for n, words in zip(primitives, families) if n)
        return f"<abut.ShapeNumbers of {len(self.vertices)} vertices, {parts or 'no primitives'}>"


ShapeNumbers.__module__ = "abut"  # for pickle


# The arrays that can be differentiated, those of primitives' lists, and the numbers per row.
ROWS = {"vertices": (3,), "axes": (3,), "exponents": (2,), "position": (3,), "rotation": (4,), "plane_normals": (3,),
        "plane_points": (3,), "cloud_points": (3,), "cloud_normals": (3,), "cloud_widths": (), "grid_coefficients": ()}
CORE_ROWS = {"core_half": (3,), "core_radius": (), "core_position": (3,), "core_rotation": (4,)}
ROWS |= CORE_ROWS
CORE_KINDS = ("box", "disc")
CONES = ("mesh", "given", "none")
LISTS = tuple(name for name in ROWS if name.startswith(("plane", "cloud", "grid")))


def times(a: Arrays, b: Arrays) -> Arrays:
    """Returns products of quaternions w, x, y, z."""
    w, v, x, u = a[..., :1], a[..., 1:], b[..., :1], b[..., 1:]
    return np.concatenate([w * x - (v * u).sum(-1, keepdims=True), w * u + x * v + np.cross(v, u)], -1)


def turned(q: Arrays, x: Arrays) -> Arrays:
    """Returns vectors rotated by quaternions, whose length has no effect."""
    with np.errstate(divide="ignore", invalid="ignore"):  # the library reports vectors of length 0
        unit = q / np.linalg.norm(q, axis=-1, keepdims=True)
    w, v = unit[..., :1], unit[..., 1:]
    across = 2.0 * np.cross(v, x)
    return np.asarray(x + w * across + np.cross(v, across))


# ---- from a body ----

def _copied(where: Any, count: int, tail: tuple[int, ...], dtype: Any = np.float64) -> Arrays:
    shape = (count, *tail)
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    return np.frombuffer(ffi.buffer(where, size), dtype).reshape(shape).copy() if size else np.zeros(shape, dtype)


def _faces(sizes: Any, indices: Any, count: int) -> Any:
    """Returns an array if all faces have the same number of corners, else a list."""
    corners = _copied(sizes, count, (), np.uint32)
    flat = _copied(indices, int(corners.sum()), (), np.uint32)
    if count and (corners == corners[0]).all():
        return flat.reshape(count, -1)
    return np.split(flat, np.cumsum(corners, dtype=int)[:-1]) if count else np.zeros((0, 3), np.uint32)


def numbers_of(body: Any) -> ShapeNumbers:
    """Returns the numbers of a body from its handle."""
    copy = ffi.new("abut_body_copy *")
    check(lib.abut_copy_body(body, copy))
    try:
        return _read(getattr(copy, "def"))
    finally:
        lib.abut_free_body_copy(copy)


def _read(d: Any) -> ShapeNumbers:
    rows = np.frombuffer(ffi.buffer(d.superquadrics, SUPERQUADRIC.itemsize * d.superquadric_count), SUPERQUADRIC) \
        if d.superquadric_count else np.zeros(0, SUPERQUADRIC)
    polyhedra = [d.polyhedra[i] for i in range(d.polyhedron_count)]
    clouds = [d.pointclouds[i] for i in range(d.pointcloud_count)]
    grids = [d.grids[i] for i in range(d.grid_count)]
    planes = [_copied(p.planes, p.count, (6,)) for p in polyhedra]
    points = [_copied(c.points, c.count, (7,)) for c in clouds]
    levels = [[g.levels[i] for i in range(g.level_count)] for g in grids]
    coefficients = [np.concatenate([_copied(g.coefficients, g.size[0] * g.size[1] * g.size[2], ()),
                                    *(_copied(level.coefficients, 512 * level.block_count, ()) for level in of)])
                    for g, of in zip(grids, levels)]
    cores = [d.cores[i] for i in range(d.core_count)]
    operations = [*rows["operation"].tolist(), *(one.operation for one in (*polyhedra, *clouds, *grids, *cores))]
    s = d.surface
    return ShapeNumbers(
        vertices=_copied(d.vertices, d.vertex_count, (3,)), faces=_faces(d.face_sizes, d.face_indices, d.face_count),
        edges=_copied(d.edges, d.edge_count, (2,), np.uint32),
        axes=rows["axes"].copy(), exponents=rows["exponents"].copy(), position=rows["position"].copy(),
        rotation=rows["quaternion"].copy(),
        plane_normals=[p[:, :3].copy() for p in planes], plane_points=[p[:, 3:].copy() for p in planes],
        cloud_points=[p[:, :3].copy() for p in points], cloud_normals=[p[:, 3:6].copy() for p in points],
        cloud_widths=[p[:, 6].copy() for p in points], grid_coefficients=coefficients,
        grid_sizes=np.array([list(g.size) for g in grids], int).reshape(-1, 3),
        grid_origin=np.array([list(g.origin) for g in grids], np.float64).reshape(-1, 3),
        grid_spacing=np.array([g.spacing for g in grids], np.float64),
        grid_blocks=[[_copied(level.blocks, level.block_count, (3,), np.int32) for level in of] for of in levels],
        core_kind=[CORE_KINDS[int(c.kind)] for c in cores],
        core_half=np.array([[*c.half[0:2], 0.0 if c.kind else c.half[2]] for c in cores], np.float64).reshape(-1, 3),
        core_radius=np.array([c.radius for c in cores], np.float64),
        core_position=np.array([list(c.position) for c in cores], np.float64).reshape(-1, 3),
        core_rotation=np.array([list(c.quaternion) for c in cores], np.float64).reshape(-1, 4),
        operation=[OPERATIONS[int(o)] for o in operations], union=d.union_,
        surface=(_copied(s.vertices, s.vertex_count, (3,)), _faces(s.face_sizes, s.face_indices, s.face_count))
        if s.face_count else None,
        **_read_features(d))


def _read_features(d: Any) -> dict[str, Any]:
    edges = [d.feature_edges[i] for i in range(d.feature_edge_count)]
    straight = ((0.0,) * 3,) * 2
    rows = [[getattr(e, "from"), e.to, e.radius, *(x for of in ((e.centre, e.axis) if e.arc else straight) for x in of)]
            for e in edges]
    cones = {name: _copied(getattr(d, name), count, (width,), kind) if count else None for name, count, width, kind in
             (("vertex_cones", d.vertex_cone_count, 4, np.float64), ("edge_cones", d.edge_cone_count, 4, np.float64),
              ("edge_cone_ends", d.edge_cone_count if d.edge_cone_ends else 0, 2, np.uint32))}
    return {"feature_vertices": _copied(d.feature_vertices, d.feature_vertex_count, (4,)) if d.states_features else None,
            "feature_edges": np.array(rows, np.float64).reshape(-1, 9) if d.states_features else None,
            "sharp": d.sharp, "cones": CONES[int(d.cones)], **cones}


# ---- from the caller ----

def _rows(value: Array | None, name: str, count: int | None, default: Sequence[float] | None = None) -> Arrays:
    """Returns rows of an array that is given for all superquadrics, or for each one."""
    width = ROWS[name][0]
    if value is None:
        if default is None:
            raise ValueError(f"{name} is missing: a superquadric needs axes and exponents")
        value = [default]
    rows = double_array(value, name)
    if rows.ndim not in (1, 2) or rows.shape[-1] != width:
        raise ValueError(f"{name} has shape {rows.shape}, not (B, {width})")
    rows = np.array(rows, ndmin=2)
    if count is not None and len(rows) not in (1, count):
        raise ValueError(f"{name} has shape {rows.shape}, not ({count}, {width}) as axes has")
    return rows if count is None else np.broadcast_to(rows, (count, width)).copy()


def _list(value: Any, name: str) -> list[Arrays]:
    """Returns a list with an array for each primitive; a single array is for one primitive."""
    tail = ROWS[name]
    single = isinstance(value, np.ndarray) and value.ndim == (3 if name == "grid_coefficients" else 1 + len(tail))
    made = []
    for i, one in enumerate([value] if single else list(value)):
        rows = double_array(one, f"{name}[{i}]")
        if name != "grid_coefficients" and (rows.ndim != 1 + len(tail) or rows.shape[1:] != tail):
            raise ValueError(f"{name}[{i}] has shape {rows.shape}, not {'(M, 3)' if tail else '(M,)'}")
        made.append(np.array(rows))
    return made


def _same_lengths(given: dict[str, list[Arrays]], what: str) -> None:
    """Checks that all arrays of each primitive have the same number of rows."""
    counts = {name: [len(one) for one in of] for name, of in given.items()}
    first, *rest = counts
    for name in rest:
        if counts[name] != counts[first]:
            raise ValueError(f"{what} have {counts[first]} rows in {first} and {counts[name]} in {name}")


def _operations(given: Any, count: int) -> list[str]:
    named = ["add"] * count if given is None else [given] * count if isinstance(given, str) else list(given)
    if len(named) != count:
        raise ValueError(f"operation has {len(named)} entries, but there are {count} primitives")
    for i, word in enumerate(named):
        if word not in OPERATIONS:
            raise ValueError(f"operation {i} is {word!r}, not 'add' or 'subtract'")
    return named


def _core_kinds(given: Any, count: int) -> list[str]:
    named = ["box"] * count if given is None else [given] * count if isinstance(given, str) else list(given)
    if len(named) != count:
        raise ValueError(f"core_kind has {len(named)} entries, but there are {count} cores")
    for i, word in enumerate(named):
        if word not in CORE_KINDS:
            raise ValueError(f"core_kind {i} is {word!r}, not 'box' or 'disc'")
    return named


def _cores(given: dict[str, Any]) -> dict[str, Any]:
    """Returns the arrays of cores. Radius, position and rotation may be given once for all cores."""
    half = given.get("core_half")
    if half is None:
        for name in ("core_kind", "core_radius", "core_position", "core_rotation"):
            if given.get(name) is not None:
                raise ValueError("core_half is missing: a core needs half lengths and a radius")
        return {"core_kind": [], **{name: np.zeros((0, *tail)) for name, tail in CORE_ROWS.items()}}
    rows = double_array(half, "core_half")
    if rows.ndim not in (1, 2) or rows.shape[-1] != 3:
        raise ValueError(f"core_half has shape {rows.shape}, not (C, 3)")
    made: dict[str, Any] = {"core_half": np.array(rows, ndmin=2)}
    count = len(made["core_half"])
    if given.get("core_radius") is None:
        raise ValueError("core_radius is missing: a core needs half lengths and a radius")
    for name, default in (("core_radius", None), ("core_position", (0.0, 0.0, 0.0)), ("core_rotation", (1.0, 0.0, 0.0, 0.0))):
        value, wanted = given.get(name), (count, *CORE_ROWS[name])
        rows = double_array(default if value is None else value, name)
        if rows.shape not in (wanted, wanted[1:], (1, *wanted[1:])):
            raise ValueError(f"{name} has shape {rows.shape}, not {wanted} as core_half has")
        made[name] = np.broadcast_to(rows, wanted).copy()
    return {"core_kind": _core_kinds(given.get("core_kind"), count), **made}


def _features(given: dict[str, Any]) -> dict[str, Any]:
    """Returns explicit features, the angle of sharp edges, and cones."""
    made: dict[str, Any] = {}
    if given.get("feature_edges") is not None and given.get("feature_vertices") is None:
        raise ValueError("feature_vertices is missing: feature_edges connect these vertices")
    if given.get("feature_vertices") is not None:
        made["feature_vertices"] = np.array(_table(given["feature_vertices"], "feature_vertices", (4,)))
        edges = _table(() if given.get("feature_edges") is None else given["feature_edges"], "feature_edges", (3, 9))
        made["feature_edges"] = np.concatenate([edges, np.zeros((len(edges), 9 - edges.shape[1]))], 1)
    if given.get("sharp") is not None:
        made["sharp"] = float(given["sharp"])
    for name in ("vertex_cones", "edge_cones"):
        if given.get(name) is not None:
            made[name] = np.array(_table(given[name], name, (4,)))
    if given.get("edge_cone_ends") is not None:
        made["edge_cone_ends"] = np.array(given["edge_cone_ends"])
    cones = given.get("cones")
    some = "vertex_cones" in made or "edge_cones" in made
    if cones is not None and cones not in CONES:
        raise ValueError(f"cones is {cones!r}, not 'mesh', 'given' or 'none'")
    if cones is not None and some != (cones == "given"):
        raise ValueError(f"cones is {cones!r}, and vertex_cones or edge_cones {'are given' if some else 'are missing'}")
    return {**made, "cones": cones or ("given" if some else "mesh")}


def _table(value: Any, name: str, widths: tuple[int, ...]) -> Arrays:
    rows = double_array(value, name)
    if not rows.size:
        return np.zeros((0, widths[-1]))
    if rows.ndim != 2 or rows.shape[1] not in widths:
        raise ValueError(f"{name} has shape {rows.shape}, not (N, {' or '.join(map(str, widths))})")
    return rows


def numbers_from(vertices: Array, faces: Any, given: dict[str, Any]) -> ShapeNumbers:
    """Returns the numbers from abut.body's arguments, with their shapes checked."""
    one = {name: given.get(name) for name in ("axes", "exponents", "position", "rotation")}
    if any(value is not None for value in one.values()):
        axes = _rows(one["axes"], "axes", None)
        made: dict[str, Any] = {"axes": axes, "exponents": _rows(one["exponents"], "exponents", len(axes)),
                "position": _rows(one["position"], "position", len(axes), (0.0, 0.0, 0.0)),
                "rotation": _rows(one["rotation"], "rotation", len(axes), (1.0, 0.0, 0.0, 0.0))}
    else:
        made = {name: np.zeros((0, ROWS[name][0])) for name in one}
    many: dict[str, Any] = {name: _list(() if given.get(name) is None else given[name], name) for name in LISTS}
    _same_lengths({name: many[name] for name in ("plane_normals", "plane_points")}, "polyhedra")
    _same_lengths({name: many[name] for name in ("cloud_points", "cloud_normals", "cloud_widths")}, "point clouds")
    grids = many["grid_coefficients"]
    for i, grid in enumerate(grids):
        if grid.ndim != 3:
            raise ValueError(f"grid_coefficients[{i}] has shape {grid.shape}, not (nx, ny, nz)")
    places: dict[str, Any] = {}
    for name, width in (("grid_origin", 3), ("grid_spacing", 1)):
        value = given.get(name)
        if grids and value is None:
            raise ValueError(f"{name} is missing: a grid needs an origin and a spacing")
        rows = np.array([] if value is None else value, np.float64)
        if rows.size != width * len(grids):
            raise ValueError(f"{name} has shape {rows.shape}, but there are {len(grids)} grids")
        places[name] = rows.reshape((len(grids), 3) if width == 3 else (len(grids),))
    count = len(made["axes"]) + len(many["plane_points"]) + len(many["cloud_points"]) + len(grids)
    cores = _cores(given)
    count += len(cores["core_half"])
    edges = given.get("edges")
    union = given.get("union")
    return ShapeNumbers(
        vertices=np.zeros((0, 3)) if vertices is None else vertices, faces=() if faces is None else faces,
        edges=np.zeros((0, 2), np.uint32) if edges is None else edges,
        **made, **{**many, "grid_coefficients": [grid.ravel() for grid in grids]},
        grid_sizes=np.array([grid.shape for grid in grids], int).reshape(-1, 3), **places,
        grid_blocks=[[] for _ in grids], **cores, operation=_operations(given.get("operation"), count),
        union=0.0 if union is None else float(union), surface=None, **_features(given))


# ---- to a definition ----

class _Kept:
    """The arrays that a definition points to."""

    def __init__(self) -> None:
        self.all: list[Any] = []

    def array(self, value: Any, kind: str, dtype: Any = np.float64) -> Any:
        """Returns a pointer to an array; NULL if there is none."""
        array = np.ascontiguousarray(value, dtype)
        where = ffi.from_buffer(kind, array) if array.size else ffi.NULL
        self.all.append(where)
        return where

    def new(self, kind: str, rows: Any) -> Any:
        made = ffi.new(kind, rows)
        self.all.append(made)
        return made


def _check_rows(value: Any, name: str, count: int) -> Arrays:
    array = np.asarray(value, np.float64)
    wanted = (count, *ROWS[name])
    if array.shape != wanted:
        raise ValueError(f"{name} has shape {array.shape}, not {wanted}")
    return array


def _edges(value: Any, count: int) -> Arrays:
    edges = np.asarray(value)
    if edges.size and (edges.dtype.kind not in "iu" or edges.ndim != 2 or edges.shape[1] != 2):
        raise ValueError(f"edges has shape {edges.shape} of {edges.dtype.name}, not (E, 2) of whole numbers")
    if edges.size and (edges.min() < 0 or edges.max() >= count):
        raise ValueError(f"edges names a vertex that does not exist; there are {count}")
    return edges


def _together(name: str, columns: Sequence[tuple[str, Any]]) -> Arrays:
    """Returns one primitive's rows in the library's form, all columns side by side."""
    count = len(columns[0][1])
    return np.concatenate([_check_rows(value, f"{column}", count).reshape(count, -1) for column, value in columns], 1)


def _set_grids(s: ShapeNumbers, d: Any, kept: _Kept, operation: Sequence[int]) -> None:
    grids = kept.new("abut_grid[]", max(len(s.grid_coefficients), 1))
    for i, flat in enumerate(s.grid_coefficients):
        sizes, blocks = [int(n) for n in s.grid_sizes[i]], [np.asarray(level) for level in s.grid_blocks[i]]
        for k, places in enumerate(blocks):
            if places.dtype.kind not in "iu" or places.ndim != 2 or places.shape[1] != 3:
                raise ValueError(f"grid_blocks[{i}][{k}] has shape {places.shape} of {places.dtype.name}, not (n, 3) of whole "
                                 "numbers")
        nodes = sizes[0] * sizes[1] * sizes[2]
        numbers = np.ascontiguousarray(flat, np.float64).ravel()
        wanted = nodes + 512 * sum(len(level) for level in blocks)
        if len(numbers) != wanted:
            raise ValueError(f"grid_coefficients[{i}] has {len(numbers)} numbers, not {wanted}")
        g = grids[i]
        g.coefficients, g.size, g.origin = kept.array(numbers[:nodes], "double[]"), sizes, list(s.grid_origin[i])
        g.spacing, g.operation = float(s.grid_spacing[i]), operation[i]
        if blocks:
            levels, at = kept.new("abut_grid_level[]", len(blocks)), nodes
            for level, places in zip(levels, blocks):
                level.blocks, level.block_count = kept.array(places, "int32_t[]", np.int32), len(places)
                level.coefficients = kept.array(numbers[at:at + 512 * len(places)], "double[]")
                at += 512 * len(places)
            g.levels, g.level_count = levels, len(blocks)
    d.grids, d.grid_count = grids, len(s.grid_coefficients)


def _set_cores(s: ShapeNumbers, d: Any, kept: _Kept, operation: Sequence[int]) -> None:
    count = len(s.core_half)
    kinds = _core_kinds(s.core_kind, count)
    rows = {}
    for name, tail in CORE_ROWS.items():
        rows[name] = np.asarray(getattr(s, name), np.float64)
        if rows[name].shape != (count, *tail):
            raise ValueError(f"{name} has shape {rows[name].shape}, not {(count, *tail)}")
    cores = kept.new("abut_core[]", max(count, 1))
    for i in range(count):
        cores[i] = (CORE_KINDS.index(kinds[i]), rows["core_half"][i].tolist(), float(rows["core_radius"][i]),
                    rows["core_position"][i].tolist(), rows["core_rotation"][i].tolist(), operation[i])
    d.cores, d.core_count = cores, count


def _whole(value: Any, name: str, count: int) -> Arrays:
    """Returns indices of features, which are stored among reals."""
    rows = np.asarray(value)
    if rows.size and ((rows != np.floor(rows)).any() or (rows < 0).any() or (rows >= count).any()):
        raise ValueError(f"{name} names a vertex that does not exist; there are {count}")
    return rows


def _set_features(s: ShapeNumbers, d: Any, kept: _Kept) -> None:
    count = len(s.vertices)
    if s.feature_vertices is not None:
        places, rows = _table(s.feature_vertices, "feature_vertices", (4,)), np.zeros((0, 9))
        count = len(places)
        if s.feature_edges is not None:
            rows = _table(s.feature_edges, "feature_edges", (9,))
        ends = _whole(rows[:, :2], "feature_edges", count)
        edges = kept.new("abut_feature_edge[]", max(len(rows), 1))
        for i, row in enumerate(rows):
            arc = bool(row[6:].any())
            edges[i] = (int(ends[i, 0]), int(ends[i, 1]), float(row[2]), arc, row[3:6].tolist(), row[6:].tolist())
        d.states_features = True
        d.feature_vertices, d.feature_vertex_count = kept.array(places, "double[]"), count
        d.feature_edges, d.feature_edge_count = edges, len(rows)
    d.sharp = float(s.sharp)
    if s.cones not in CONES:
        raise ValueError(f"cones is {s.cones!r}, not 'mesh', 'given' or 'none'")
    d.cones = CONES.index(s.cones)
    for name in ("vertex_cones", "edge_cones"):
        value = getattr(s, name)
        if s.cones == "given" and value is not None:
            rows = _table(value, name, (4,))
            setattr(d, name, kept.array(rows, "double[]"))
            setattr(d, name[:-1] + "_count", len(rows))
    if s.cones == "given" and s.edge_cone_ends is not None:
        ends = _whole(s.edge_cone_ends, "edge_cone_ends", count)
        if ends.shape != (d.edge_cone_count, 2):
            raise ValueError(f"edge_cone_ends has shape {ends.shape}, not {(d.edge_cone_count, 2)}")
        d.edge_cone_ends = kept.array(ends, "uint32_t[]", np.uint32)


def mesh_definition(vertices: Any, faces: Any) -> tuple[Any, list[Any]]:
    """Returns a definition of the C API for a mesh, and the arrays that it points to."""
    points, sizes, indices = polygons_of(vertices, faces)
    definition = ffi.new("abut_body_def *", lib.abut_default_body_def())
    kept = [ffi.from_buffer("double[]", points), ffi.from_buffer("uint32_t[]", sizes),
            ffi.from_buffer("uint32_t[]", indices)]
    definition.vertices, definition.face_sizes, definition.face_indices = kept
    definition.vertex_count, definition.face_count = len(points), len(sizes)
    return definition, kept


def definition_of(s: ShapeNumbers) -> tuple[Any, _Kept]:
    """Returns a definition of the C API, and the arrays that it points to."""
    kept, d = _Kept(), ffi.new("abut_body_def *", lib.abut_default_body_def())
    points, corners, indices = polygons_of(s.vertices, s.faces)
    d.vertices, d.vertex_count = kept.array(points, "double[]"), len(points)
    d.face_sizes, d.face_count = kept.array(corners, "uint32_t[]", np.uint32), len(corners)
    d.face_indices = kept.array(indices, "uint32_t[]", np.uint32)
    edges = _edges(s.edges, len(points))
    d.edges, d.edge_count, d.union_ = kept.array(edges, "uint32_t[]", np.uint32), len(edges), s.union
    if s.surface is not None:
        points, corners, indices = polygons_of(*s.surface)
        d.surface.vertices, d.surface.vertex_count = kept.array(points, "double[]"), len(points)
        d.surface.face_sizes, d.surface.face_count = kept.array(corners, "uint32_t[]", np.uint32), len(corners)
        d.surface.face_indices = kept.array(indices, "uint32_t[]", np.uint32)

    counts = [len(s.axes), len(s.plane_points), len(s.cloud_points), len(s.grid_coefficients), len(s.core_half)]
    named = [OPERATIONS.index(word) for word in _operations(s.operation, sum(counts))]
    ends = np.cumsum([0, *counts])
    operation = [named[ends[i]:ends[i + 1]] for i in range(len(counts))]
    rows = np.zeros(counts[0], SUPERQUADRIC)
    for column, name in (("axes", "axes"), ("exponents", "exponents"), ("position", "position"), ("quaternion", "rotation")):
        rows[column] = _check_rows(getattr(s, name), name, counts[0])
    rows["operation"] = operation[0]
    if counts[0]:
        d.superquadrics = ffi.cast("abut_superquadric *", kept.array(rows.view(np.uint8), "uint8_t[]", np.uint8))
    d.superquadric_count = counts[0]
    polyhedra = kept.new("abut_polyhedron[]", max(counts[1], 1))
    for i, (normals, places) in enumerate(zip(s.plane_normals, s.plane_points)):
        planes = _together("polyhedron", (("plane_normals", normals), ("plane_points", places)))
        polyhedra[i] = (kept.array(planes, "double[]"), len(planes), operation[1][i])
    d.polyhedra, d.polyhedron_count = polyhedra, counts[1]
    clouds = kept.new("abut_pointcloud[]", max(counts[2], 1))
    for i, (places, normals, widths) in enumerate(zip(s.cloud_points, s.cloud_normals, s.cloud_widths)):
        cloud = _together("point cloud", (("cloud_points", places), ("cloud_normals", normals), ("cloud_widths", widths)))
        clouds[i] = (kept.array(cloud, "double[]"), len(cloud), operation[2][i])
    d.pointclouds, d.pointcloud_count = clouds, counts[2]
    _set_grids(s, d, kept, operation[3])
    _set_cores(s, d, kept, operation[4])
    _set_features(s, d, kept)
    return d, kept


def create(context: Any, s: ShapeNumbers) -> Any:
    """Makes a body from these numbers and returns its handle."""
    d, kept = definition_of(s)
    handle = ffi.new("abut_body *")
    check(lib.abut_create_body(context.handle, d, handle))
    del kept
    return handle[0]
