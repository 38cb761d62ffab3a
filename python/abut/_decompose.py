"""Decomposition of a mesh into a body of few superquadrics and polyhedra."""
from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from abut._body import Body, diagnostic_texts
from abut._context import Context, default_context, set_options
from abut._drivers import warn
from abut._inspect import _fields
from abut._native import FIELD_GOES_ON, check, ffi, lib
from abut._shape_numbers import OPERATIONS, mesh_definition

# The same limits as in the command: docs/decompose.md, Depths, What is refused and warned about.
_RATIO_MOST = 2.0
_IOU_LEAST = 0.8
_FAMILIES = ("sq", "auto")
_ENDS = ("done", "fewer", "error not reached", "stalled")


class Decomposition(NamedTuple):
    """The result of abut.decompose for a mesh, and of abut.import_superquadrics for a table.

    body         the body on its context's devices, with a contact mesh on its surface, or about 1,000 contact vertices on the
                 mesh
    axes         (K, 3) half axes of the superquadrics [m], float64 like all arrays here
    exponents    (K, 2) e1 along z, e2 around z
    positions    (K, 3) centres [m]
    quaternions  (K, 4) w, x, y, z
    union        temperature of the union in the fit [m]; fitted smoothing uses it
    report       figures by the names of the C API's abut_decompose_report: `end` is "done", "fewer", "error not reached" or
                 "stalled"; `iou`, `coverage`, `precision` and depths are those of samples
    mesh_report  figures of the contact mesh by the names of the C API's abut_contact_mesh_report; None if the contact vertices
                 are on the mesh
    fit          with measure=True the figures of abut.measure_fit, which the fit did not use; else None
    operation    "add" or "subtract" for each primitive: superquadrics, then polyhedra
    planes       of each polyhedron (P, 6): outward normal, and a point of the plane [m]
    """

    body: Body
    axes: np.ndarray[Any, Any]
    exponents: np.ndarray[Any, Any]
    positions: np.ndarray[Any, Any]
    quaternions: np.ndarray[Any, Any]
    union: float
    report: dict[str, Any]
    mesh_report: dict[str, Any] | None
    fit: dict[str, Any] | None = None
    operation: tuple[str, ...] = ()
    planes: tuple[np.ndarray[Any, Any], ...] = ()

    @property
    def table(self) -> np.ndarray[Any, Any]:
        """Returns rows (K, 11) in the form of other programs: e1 e2, half axes [m], angles [rad] about z, y and x, and centres
        [m]. The axes are the columns of Rz Ry Rx. numpy.save and numpy.savetxt write the rows. abut.Error if a superquadric is
        subtracted, and ValueError if there are polyhedra, because rows cannot express them."""
        if self.planes:
            raise ValueError("tables have no polyhedra")
        quadrics = ffi.new("abut_superquadric[]", len(self.axes))
        names = ("axes", "exponents", "position", "quaternion")
        for name, rows in zip(names, (self.axes, self.exponents, self.positions, self.quaternions)):
            for quadric, row in zip(quadrics, rows.tolist()):
                setattr(quadric, name, row)
        for quadric, word in zip(quadrics, self.operation):
            quadric.operation = OPERATIONS.index(word)
        out = np.empty((len(self.axes), lib.ABUT_TABLE_COLUMNS))
        check(lib.abut_superquadrics_to_rows(quadrics, len(out), ffi.from_buffer("double[]", out)))
        return out


def _options(**given: Any) -> Any:
    options = ffi.new("abut_decompose_options *", lib.abut_default_decompose_options())
    set_options(options, given)
    options.progress = FIELD_GOES_ON
    return options


def _rows(quadrics: Any, count: int, name: str, width: int) -> np.ndarray[Any, Any]:
    return np.array([list(getattr(quadrics[i], name)) for i in range(count)], np.float64).reshape(count, width)


def _why_not(status: int, of: Any) -> str | None:
    """Returns why a body's surface has no contact mesh, or None if it has one."""
    if status == lib.ABUT_ERROR_BODY:
        return str(ffi.string(lib.abut_last_error()).decode())
    check(status)
    if not of.covers:
        return f"{100.0 * of.left_out:.2g} % of the volume is in pieces of it beside the largest ({of.parts_left_out})"
    return None


def _put_mesh(body: Any, definition: Any, plane: float, vertices: int, made: Any, instead: str) -> dict[str, Any] | None:
    """Makes a contact mesh on a body's surface and puts it into the definition, or warns why there is none."""
    options = ffi.new("abut_contact_mesh_options *", lib.abut_default_contact_mesh_options())
    options.vertices = vertices
    why = _why_not(lib.abut_make_contact_mesh(body, definition.union_, plane, options, made), made.report)
    if why is not None:
        warn(f"no contact mesh on the body's surface: {why}; it has {instead}")
        return None
    of = getattr(made, "def")
    for name in ("vertices", "vertex_count", "face_sizes", "face_indices", "face_count", "edges", "edge_count"):
        setattr(definition, name, getattr(of, name))
    return _fields(made.report, "abut_contact_mesh_report")


def _warn_of(report: Any, wanted: int) -> None:
    """Warns of a body that differs from the request, and of a mesh in another unit."""
    count = f"{report.primitives} primitive{'' if report.primitives == 1 else 's'}"
    if report.end == lib.ABUT_DECOMPOSE_FEWER:
        warn(f"fewer: the shape has room for only {count}, not {wanted}")
    elif report.end == lib.ABUT_DECOMPOSE_ERROR_NOT_REACHED:
        warn(f"error not reached: 1 - IoU is {1.0 - report.iou:.3g} of the samples with {count}")
    elif report.end == lib.ABUT_DECOMPOSE_STALLED:
        warn("stalled: the equations of the last fit had no solution (try another seed)")
    if wanted and report.iou < _IOU_LEAST:
        warn(f"poor fit: with {count} the IoU is {report.iou:.2f}, below {_IOU_LEAST}, and {100.0 * report.coverage:.0f} % of "
             "the mesh is covered (use more primitives, or error=E to get as many as an IoU of 1 - E needs, or a grid from "
             "`abut field`)")
    if report.shells_turned:
        warn(f"inside out: {report.shells_turned} shell{' was' if report.shells_turned == 1 else 's were'} turned")
    if report.holes:
        warn(f"open: {report.holes} hole{' was' if report.holes == 1 else 's were'} closed with faces")
    shared = ("suspicions", "diagonal", "open_edges", "welded_within", "closing_doubt", "trailing")
    field = ffi.new("abut_field_report *", {name: getattr(report, name) for name in shared})
    for text in diagnostic_texts(field[0]):
        warn(text)


def _warn_depths(report: Mapping[str, Any]) -> None:
    if report["depth_ratio_median"] > _RATIO_MOST:
        x, y, z = report["depth_ratio_most_at"]
        warn(f"penetration depths in the body are {report['depth_ratio_median']:.3g} times those in the mesh (median), and "
             f"{report['depth_ratio_most']:.3g} times at ({x:.4g}, {y:.4g}, {z:.4g}): thin parts will push too hard on "
             "penetrating bodies (a grid from `abut field` has the depths of the mesh)")


def _measure(body: Body, definition: Any, plane: float) -> dict[str, Any]:
    """Measures how well the body represents the surface of its mesh."""
    mesh = ffi.new("abut_body_def *", lib.abut_default_body_def())
    for name in ("vertices", "vertex_count", "face_sizes", "face_indices", "face_count"):
        setattr(mesh, name, getattr(definition.surface, name))
    fit = ffi.new("abut_fit *")
    check(lib.abut_measure_fit(body.handle, definition.union_, plane, mesh, fit))
    return _fields(fit, "abut_fit")


def _finish(place: Context, made: Any, vertices: int | None, output: str | os.PathLike[str] | None,
            instead: str, measure: bool = False) -> Decomposition:
    """Makes a body from a decomposition, with a contact mesh, and writes it."""
    body, contact, mesh_report = ffi.new("abut_body *"), ffi.new("abut_contact_mesh *"), None
    definition = ffi.addressof(made, "def")
    plane = made.report.plane or lib.abut_default_smoothing().plane  # a table has none
    try:
        if vertices is not None:
            check(lib.abut_create_body(place.handle, definition, body))
            try:
                mesh_report = _put_mesh(body[0], definition, plane, vertices, contact, instead)
            finally:
                lib.abut_destroy_body(body[0])
        if output is not None:
            check(lib.abut_write_decomposition(os.fsencode(output), made))
        check(lib.abut_create_body(place.handle, definition, body))
    finally:
        lib.abut_free_contact_mesh(contact)
    report = _fields(made.report, "abut_decompose_report")
    report["union"], report["end"] = report.pop("union_"), _ENDS[report["end"]]
    quadrics, count = definition.superquadrics, definition.superquadric_count
    polyhedra = [definition.polyhedra[i] for i in range(definition.polyhedron_count)]
    own = Body(place, body[0])
    fit = _measure(own, definition, plane) if measure else None
    _warn_depths(report)
    return Decomposition(own, _rows(quadrics, count, "axes", 3),
                         _rows(quadrics, count, "exponents", 2), _rows(quadrics, count, "position", 3),
                         _rows(quadrics, count, "quaternion", 4), definition.union_, report, mesh_report, fit,
                         tuple(OPERATIONS[one.operation] for one in (*(quadrics[i] for i in range(count)), *polyhedra)),
                         tuple(np.array(ffi.unpack(one.planes, 6 * one.count)).reshape(-1, 6) for one in polyhedra))


def _check_numbers(scale: float, vertices: int | None) -> None:
    if not scale > 0.0:
        raise ValueError(f"scale is {scale!r}; it must be above 0")
    if vertices is not None and not 8 <= vertices <= 65536:
        raise ValueError(f"vertices is {vertices!r}, not 8 to 65,536")


def decompose(mesh: Any, primitives: int | None = None, *, error: float = 0.0, max_primitives: int = 0, seed: int = 0,
              union: float = 0.0, scale: float = 1.0, vertices: int | None = None, family: str = "sq",
              measure: bool = False, output: str | os.PathLike[str] | None = None,
              context: Context | None = None) -> Decomposition:
    """Fits superquadrics to a mesh, so that their union lies on the mesh: docs/decompose.md.

    mesh        a mesh file's path, or vertices (V, 3) [m] and faces (F, 3) or polygons, as a pair
    primitives  number of primitives, 1 to 64; None: the smallest number that keeps 1 - IoU at most at `error` (0.05), up to
                `max_primitives`
    union       temperature of the union, as a share of the mesh's diagonal (0.008)
    scale       of a file: its unit of length [m]
    vertices    number of vertices of a contact mesh on the body's surface, 8 to 65,536, as `abut decompose` makes one (with 300).
                If there is none, which gives a warning, and with None, about 1,000 vertices on the mesh make contacts
    family      "sq": superquadrics, all added; "auto": also fits as many primitives of which some are subtracted, as for bores,
                or are polyhedra of at most 8 planes, and takes them if that lowers the objective by 5 % or more
    measure     also compute figures that the fit did not use, as `abut decompose` does; this takes about a second
    output      NAME.body.json to write, with NAME.contact.obj and NAME.surface.obj beside it
    Warns of fewer primitives than requested, of an IoU below 0.8 with a requested number, of an error that was not reached, of
    a last fit that stalled, of a mesh whose size looks like another unit, and of depths within the body that differ much from
    those in the mesh (docs/decompose.md, Depths).
    Errors: abut.Error for meshes that enclose nothing or too little, with what to try; ValueError, also for `primitives` with
    `error` or `max_primitives`.
    """
    place = context or default_context()
    if primitives == 0:
        raise ValueError("primitives is 0, not 1 to 64; leave it out to get as few as `error` allows")
    if primitives is not None and (error or max_primitives):
        raise ValueError("primitives fixes their number: leave out error and max_primitives")
    _check_numbers(scale, vertices)
    if family not in _FAMILIES:
        raise ValueError(f"family is {family!r}, not one of {_FAMILIES}")
    options = _options(family=_FAMILIES.index(family), primitives=primitives or 0, error=error,
                       most_primitives=max_primitives, seed=seed, union_=union, scale=scale)
    made = ffi.new("abut_decomposition *")
    if isinstance(mesh, (str, os.PathLike)):
        check(lib.abut_load_decomposition(place.handle, os.fsencode(mesh), options, made))
    else:
        definition, kept = mesh_definition(*mesh)
        check(lib.abut_decompose(place.handle, definition, options, made))
        del kept
    try:
        _warn_of(made.report, primitives or 0)
        return _finish(place, made, vertices, output, "the input's skin of about 1,000 vertices", measure)
    finally:
        lib.abut_free_decomposition(made)


def import_superquadrics(table: Any, *, union: float = 0.0, scale: float = 1.0, vertices: int | None = 300,
                         output: str | os.PathLike[str] | None = None,
                         context: Context | None = None) -> Decomposition:
    """Makes a body of superquadrics that another program has fitted: docs/decompose.md.

    table     a file's path (text with commas or blanks, .npy, or a .body.json with only superquadrics), or rows (K, 11) as in
              Decomposition.table
    union     temperature of their union, as a share of the diagonal of their box (0.004, or that of a .body.json)
    scale     the table's unit of length [m]
    vertices  number of vertices of the contact mesh on the body's surface, 8 to 65,536. If there is none, which gives a warning,
              and with None, 42 vertices on each primitive make contacts
    output    NAME.body.json to write, with NAME.contact.obj and NAME.surface.obj beside it
    The report has only end, primitives, diagonal, union, exponents_at_bound and smallest_axis.
    Errors: abut.Error for rows that do not have 11 numbers, are not finite or out of range, with line, or row and column;
    ValueError.
    """
    place = context or default_context()
    _check_numbers(scale, vertices)
    read, made = ffi.new("abut_superquadrics *"), ffi.new("abut_decomposition *")
    owned = isinstance(table, (str, os.PathLike))
    kept = None
    if owned:
        check(lib.abut_load_superquadrics(os.fsencode(table), scale, read))
    else:
        rows = np.array(table, np.float64, ndmin=2)
        if rows.ndim != 2 or rows.shape[1] != lib.ABUT_TABLE_COLUMNS:
            raise ValueError(f"a table has the shape (K, 11), not {rows.shape}")
        rows[:, 2:5] *= scale
        rows[:, 8:] *= scale
        kept = ffi.new("abut_superquadric[]", len(rows))
        check(lib.abut_superquadrics_from_rows(ffi.from_buffer("double[]", rows), len(rows), kept))
        read.superquadrics, read.count = kept, len(rows)
    try:
        check(lib.abut_import_superquadrics(read, union, made))
    finally:
        if owned:
            lib.abut_free_superquadrics(read)
    try:
        _warn_of(made.report, 0)
        return _finish(place, made, vertices, output, "a mesh of each primitive by itself")
    finally:
        lib.abut_free_decomposition(made)
