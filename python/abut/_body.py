"""Bodies: a mesh, which makes contacts, and a signed distance field."""
from __future__ import annotations

from typing import Any

import numpy as np

from abut._arrays import pointer, real_array
from abut._context import Context, Owner
from abut._drivers import warn
from abut._native import check, ffi, lib, text_of
from abut._shape_numbers import ShapeNumbers, numbers_of

__all__ = ["Body"]

_DIAGNOSTICS = ("OPEN", "INSIDE_OUT", "TURNED", "TANGLED", "UNIT", "SMALL", "COARSE", "THIN",
                "NESTED", "SHEET", "MISFIT", "FEATURES", "WELDED", "CLOSING", "TRAILING", "NARROW")


def diagnostic_texts(report: Any) -> list[str]:
    room = ffi.new("char[]", 1024)
    address = ffi.addressof(report)
    return [text_of(room) for name in _DIAGNOSTICS if lib.abut_suspicion_text(
        address, getattr(lib, "ABUT_SUSPECT_" + name), room, len(room))]


def warn_trailing(name: str, trailing: int) -> None:
    """Warns of bytes after a mesh's end in its file, if there are any."""
    report = ffi.new("abut_field_report *", {"suspicions": lib.ABUT_SUSPECT_TRAILING if trailing else 0, "trailing": trailing})
    for text in diagnostic_texts(report[0]):
        warn(f"{name}: {text}")


class Body(Owner):
    """A body on a context's devices: a mesh, which makes contacts, and a signed distance field.

    report   of a bare mesh: repairs of the mesh and errors of its field, by the names of the C API's abut_field_report; else None
    """

    _destroy = lib.abut_destroy_body

    def __init__(self, context: Context, handle: Any,
                 report: dict[str, Any] | None = None) -> None:
        self.context, self._handle, self.report = context, handle, report
        self._off: tuple[str, float] | None = None  # for a bare mesh: its name, and its field's error [m]
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
        """Returns the diagnostics of a body file's mesh."""
        report = ffi.new("abut_field_report *")
        check(lib.abut_get_body_report(self.handle, report))
        return diagnostic_texts(report[0])

    def mesh(self) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """Returns vertices (vertex_count, 3) [m] in float64 and edges (edge_count, 2) in uint32."""
        vertices = np.empty((self.vertex_count, 3))
        edges = np.empty((self.edge_count, 2), np.uint32)
        check(lib.abut_get_body_mesh(self.handle, ffi.from_buffer("double[]", vertices),
                                     ffi.from_buffer("uint32_t[]", edges)))
        return vertices, edges

    def shape(self) -> ShapeNumbers:
        """Returns the numbers of a body as arrays that may be changed. abut.body(numbers) makes a body from them.

        The numbers are those of the body's file, or as they were given. Coefficients of grids are in the context's precision.
        A cloud that was made from the mesh is the last. Errors: abut.Error for a body with a height field.
        """
        return numbers_of(self.handle)

    def project(self, points: Any, *, union: float | None = None, plane: float | None = None,
                steps: int = 12) -> np.ndarray[Any, Any]:
        """Projects points (..., 3) of the body's frame onto its surface, each along the field's normals there, in the context's
        precision. This moves vertices of a mesh onto the field after the field has changed.

        union, plane  temperatures [m], as in `evaluate`: for a pair's contacts those of its smoothing
        steps         largest number of steps of Newton's method
        """
        x = np.array(points, np.float64)
        scale = max(self.diagonal, 1e-9)
        enough = (1e-13 if self.context.precision == "f64" else 1e-6) * scale
        for _ in range(steps):
            d, n = (a.astype(np.float64) for a in self.evaluate(x.astype(self.context.dtype), union=union, plane=plane))
            if not (np.abs(d) > enough).any():
                break
            # The distance's slope along its own normal, which is not 1 for all primitives.
            h = 1e-4 * scale
            ahead = self.evaluate((x + h * n).astype(self.context.dtype), union=union, plane=plane)[0]
            slope = np.maximum((ahead - d) / h, 0.1)
            x = x - (d / slope)[..., None] * n
        return x.astype(self.context.dtype)

    def evaluate(self, points: Any, *, union: float | None = None,
                 plane: float | None = None) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """Computes the field at points (..., 3) of the body's frame: distance (...) [m], normal (..., 3). A point that is not
        finite gives NaN.

        union, plane  temperatures [m]; None: those of the smoothing fitted to this body, 0.004 of its scale or the union in its
                      file
        """
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
