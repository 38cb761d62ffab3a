"""The soft-minimum contact model "spring": wrenches between oriented point clouds."""
from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np

from abut._arrays import Rows, pointer, real_array
from abut._body import warn_trailing
from abut._calls import poses_of
from abut._context import Context, default_context, warn_of_failures
from abut._native import check, ffi, lib

PARAMETERS = ("k", "mu", "v_d", "v_s", "eps2", "eps3")
DISSIPATIONS, REACTIONS = ("c1", "smooth"), ("point", "plane")


class Cloud(NamedTuple):
    """An oriented point cloud of I points in its body's frame, in double.

    points, normals  (I, 3) [m]; outward
    log_weights      (I) logarithms of weights; a point with -1e30 never counts
    eps1             (I) [m^2]
    kernels          (I, 3, 3) instead of eps1 [m^2], or None
    vertices         (V, 3) of the mesh whose faces the points are [m], face_sizes (I) and face_indices: for soft_points; or None
    """

    points: np.ndarray[Any, Any]
    normals: np.ndarray[Any, Any]
    log_weights: np.ndarray[Any, Any]
    eps1: np.ndarray[Any, Any]
    kernels: np.ndarray[Any, Any] | None = None
    vertices: np.ndarray[Any, Any] | None = None
    face_sizes: np.ndarray[Any, Any] | None = None
    face_indices: np.ndarray[Any, Any] | None = None


class Springs(NamedTuple):
    """Wrenches of pairs of leading axes (...) on each body, about its own origin, in the world's axes.

    wrench1, wrench2  (..., 6) force [N], then moment [N m]
    distance          (...) soft minimum of the separation [m], negative in contact
    separation        (..., I1 + I2) of the points of both bodies in the other's field [m]
    weights           (..., I1 + I2) beta, whose sum is 1
    """

    wrench1: np.ndarray[Any, Any]
    wrench2: np.ndarray[Any, Any]
    distance: np.ndarray[Any, Any]
    separation: np.ndarray[Any, Any]
    weights: np.ndarray[Any, Any]


class SpringGradients(NamedTuple):
    """Gradients with respect to poses, twists and parameters (k, mu, v_d, v_s, eps2, eps3). The Jacobian (..., 7, 18) is of body
    1's force, moment and distance in body 2's frame, see <abut/spring.h>."""

    pose1: np.ndarray[Any, Any]
    pose2: np.ndarray[Any, Any]
    twist1: np.ndarray[Any, Any]
    twist2: np.ndarray[Any, Any]
    parameters: np.ndarray[Any, Any]
    jacobian: np.ndarray[Any, Any]


def load_cloud(path: str | os.PathLike[str], *, eps1: float = 0.0, area_weight: bool = False) -> Cloud:
    """Makes a cloud with one point per face of a closed mesh's file. eps1 0: the mean area of a face / 8. Errors: abut.Error."""
    name = os.fsdecode(path)
    if "\0" in name:
        raise ValueError(f"{name!r} is not a path")
    made = ffi.new("abut_cloud *")
    check(lib.abut_load_cloud(os.fsencode(name), eps1, area_weight, made))
    try:
        warn_trailing(name, made.trailing)
        count = made.count
        sizes = np.frombuffer(ffi.buffer(made.face_sizes, 4 * count), np.uint32).copy()
        corners = ffi.buffer(made.face_indices, 4 * int(sizes.sum()))
        points, normals, log_weights, widths, vertices = (
            np.frombuffer(ffi.buffer(at, 8 * rows * width)).copy().reshape((rows, width) if width > 1 else (rows,))
            for at, rows, width in ((made.points, count, 3), (made.normals, count, 3), (made.log_weights, count, 1),
                                    (made.eps1, count, 1), (made.vertices, made.vertex_count, 3)))
        return Cloud(points, normals, log_weights, widths, None, vertices, sizes,
                     np.frombuffer(corners, np.uint32).copy())
    finally:
        lib.abut_free_cloud(made)


def _doubles(value: Any, shape: tuple[int, ...], name: str) -> np.ndarray[Any, Any]:
    array = real_array(value, np.dtype(np.float64), name)
    if array.shape != shape:
        raise ValueError(f"{name} has shape {array.shape}, not {shape}")
    return array if array.flags.writeable else array.copy()


class _Clouds:
    """Clouds in the library's form, with the arrays that hold them."""

    def __init__(self, clouds: tuple[Cloud, ...]) -> None:
        self.at = ffi.new("abut_cloud[]", len(clouds))
        self.kept: list[np.ndarray[Any, Any]] = []
        for to, cloud in zip(self.at, clouds):
            to.count = count = len(cloud.points)
            for name, tail in (("points", (3,)), ("normals", (3,)), ("log_weights", ()), ("eps1", ()),
                               ("kernels", (3, 3))):
                value = getattr(cloud, name)
                if value is not None:
                    self.kept.append(_doubles(value, (count, *tail), name))
                    setattr(to, name, ffi.from_buffer("double[]", self.kept[-1]))
            if cloud.vertices is not None and cloud.face_sizes is not None and cloud.face_indices is not None:
                self._put_faces(to, cloud, count)

    def _put_faces(self, to: Any, cloud: Cloud, count: int) -> None:
        """Adds the mesh of a cloud of faces."""
        vertices = np.ascontiguousarray(cloud.vertices, np.float64).reshape(-1, 3).copy()
        sizes = np.array(cloud.face_sizes, np.uint32).reshape(-1)
        indices = np.array(cloud.face_indices, np.uint32).reshape(-1)
        if len(sizes) != count or int(sizes.sum()) != len(indices):
            raise ValueError(f"{len(sizes)} faces with {len(indices)} corners do not fit {count} points")
        self.kept += [vertices, sizes, indices]
        to.vertex_count, to.vertices = len(vertices), ffi.from_buffer("double[]", vertices)
        to.face_sizes, to.face_indices = (ffi.from_buffer("uint32_t[]", x) for x in (sizes, indices))


def evaluate_cloud(cloud: Cloud, points: Any, *, context: Context | None = None
                   ) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Computes the field of a cloud and its gradient at points (..., 3) of its frame: (...) and (..., 3)."""
    chosen = context or default_context()
    array = real_array(points, chosen.dtype, "points")
    if array.ndim < 1 or array.shape[-1] != 3:
        raise ValueError(f"points has shape {array.shape}, not (..., 3)")
    rows, clouds = Rows(chosen.dtype, array.shape[:-1]), _Clouds((cloud,))
    x = rows.read(array, (3,), "points")
    phi, gradient = rows.write(None, "phi", ()), rows.write(None, "gradient", (3,))
    check(lib.abut_evaluate_cloud(chosen.handle, clouds.at, rows.count, pointer(x), pointer(phi), pointer(gradient)))
    return phi, gradient


class _Call:
    """A call on pairs of two clouds: its arrays, broadcast, and the library's struct."""

    def __init__(self, clouds: tuple[Cloud, Cloud], pose1: Any, pose2: Any, twist1: Any, twist2: Any,
                 context: Context | None, options: dict[str, Any]) -> None:
        self.context = context or default_context()
        dtype = self.context.dtype
        a, b = poses_of(pose1, pose2, dtype)
        self.width = a.shape[-1] if a.ndim else 0
        if self.width not in (6, 7) or b.shape[-1:] != (self.width,):
            raise ValueError(f"poses have shapes {a.shape} and {b.shape}, not (..., 6), (..., 7) or (..., 4, 4)")
        self.rows = Rows(dtype, np.broadcast_shapes(a.shape[:-1], b.shape[:-1]))
        self.clouds = _Clouds(clouds)
        self.points = len(clouds[0].points) + len(clouds[1].points)
        s = self.at = ffi.new("abut_spring *", lib.abut_default_spring())
        self.kept = {"pose1": self.rows.read(a, (self.width,), "pose1"),
                     "pose2": self.rows.read(b, (self.width,), "pose2")}
        for name, twist in (("twist1", twist1), ("twist2", twist2)):
            if twist is not None:
                self.kept[name] = self.rows.read(twist, (6,), name)
        if options.get("parameters") is not None:
            self.kept["parameters"] = self.rows.read(options["parameters"], (6,), "parameters")
        for name in PARAMETERS:
            if options.get(name) is not None:
                setattr(s, name, float(options[name]))
        s.dissipation = _choice(options.get("dissipation", "c1"), DISSIPATIONS, "dissipation")
        s.reaction = _choice(options.get("reaction", "point"), REACTIONS, "reaction")
        s.clouds, s.cloud_count, s.count, s.poses = self.clouds.at, 2, self.rows.count, self.width - 6
        for name, array in self.kept.items():
            setattr(s, name, pointer(array))

    def check_failures(self) -> None:
        if self.at.failures:
            warn_of_failures(self.context, self.at.failures)


def _choice(value: str, known: tuple[str, ...], what: str) -> int:
    if value not in known:
        raise ValueError(f"{what} {value!r} is not among {', '.join(known)}")
    return known.index(value)


def _check_options(options: dict[str, Any]) -> None:
    known = (*PARAMETERS, "parameters", "dissipation", "reaction")
    for name in options:
        if name not in known:
            raise TypeError(f"{name!r} is not among {', '.join(known)}")


def springs(cloud1: Cloud, cloud2: Cloud, pose1: Any, pose2: Any, twist1: Any = None, twist2: Any = None, *,
            context: Context | None = None, **options: Any) -> Springs:
    """Computes wrenches between two bodies at many poses.

    pose1, pose2    (..., 6), (..., 7) or (..., 4, 4), None for the identity, leading axes broadcast
    twist1, twist2  (..., 6) velocity of the body's origin [m/s], spin [rad/s], in the world's axes; None: at rest
    options         k [N/m], mu, v_d, v_s [m/s], eps2, eps3 [m]; or parameters (..., 6), the same six for each pair; dissipation
                    "c1" or "smooth"; reaction "point" or "plane"
    Errors: ValueError for shapes and dtypes; abut.Error. A pair that is out of range gives NaN.
    """
    _check_options(options)
    call = _Call((cloud1, cloud2), pose1, pose2, twist1, twist2, context, options)
    tails = {"wrench1": (6,), "wrench2": (6,), "distance": (), "separation": (call.points,), "weights": (call.points,)}
    made = Springs(**{name: call.rows.write(None, name, tail) for name, tail in tails.items()})
    call.at.width = call.points
    for name, array in made._asdict().items():
        setattr(call.at, name, pointer(array))
    check(lib.abut_spring_forces(call.context.handle, call.at))
    call.check_failures()
    return made


def soft_points(cloud1: Cloud, cloud2: Cloud, pose1: Any, pose2: Any, count: int, tau: float = 0.002, *,
                context: Context | None = None, **options: Any) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Computes soft collision points (..., count, 3) of two bodies in the world [m], for another contact model. It also returns
    the weights (..., V1 + V2) of their vertices: beta of the faces around each. tau: SoftSort's, no unit. Clouds must be of
    faces (load_cloud); options: eps2 [m]. Source: Beker et al. 2025, (12)-(13)."""
    _check_options(options)
    call = _Call((cloud1, cloud2), pose1, pose2, None, None, context, options)
    vertices = sum(0 if cloud.vertices is None else len(cloud.vertices) for cloud in (cloud1, cloud2))
    points = call.rows.write(None, "points", (count, 3))
    weights = call.rows.write(None, "vertex_weights", (vertices,))
    call.at.soft_points, call.at.tau, call.at.vertex_width = count, tau, vertices
    call.at.points, call.at.vertex_weights = pointer(points), pointer(weights)
    check(lib.abut_spring_forces(call.context.handle, call.at))
    call.check_failures()
    return points, weights


def springs_vjp(cloud1: Cloud, cloud2: Cloud, pose1: Any, pose2: Any, twist1: Any = None, twist2: Any = None, *,
                wrench1: Any = None, wrench2: Any = None, distance: Any = None, context: Context | None = None,
                **options: Any) -> SpringGradients:
    """Computes gradients of sum(wrench1 * springs(...).wrench1) and so on, by poses, twists and parameters of each pair.
    Cotangents have the shapes of their outputs; None: 0. Only for reactions at points."""
    _check_options(options)
    call = _Call((cloud1, cloud2), pose1, pose2, twist1, twist2, context, options)
    g = ffi.new("abut_spring_gradients *", lib.abut_default_spring_gradients())
    bars = {name: call.rows.read(value, tail, name) for name, value, tail in
            (("wrench1", wrench1, (6,)), ("wrench2", wrench2, (6,)), ("distance", distance, ())) if value is not None}
    tails = {"pose1": (call.width,), "pose2": (call.width,), "twist1": (6,), "twist2": (6,), "parameters": (6,),
             "jacobian": (7, 18)}
    made = SpringGradients(**{name: call.rows.write(None, name, tail) for name, tail in tails.items()})
    for name, array in (*bars.items(), *made._asdict().items()):
        setattr(g, name, pointer(array))
    check(lib.abut_spring_vjp(call.context.handle, call.at, g))
    call.check_failures()
    return made
