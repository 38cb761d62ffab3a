"""abut: smoothly differentiable contact of rigid bodies, in huge batches, on any OpenCL device.

    import abut, numpy as np
    a, b = abut.load("figure.body.json"), abut.load("part.stl")
    pair = abut.Pair(a, b)
    c = abut.contacts(pair, np.zeros(6), poses)      # c.p, c.d, c.n, c.activity, c.status
    s = abut.closest(abut.Shape.of(a), abut.Shape("sphere", 0.1), None, poses)  # s.d, s.n, s.p1, s.p2
    t = abut.ccd(pair, None, None, poses, poses + step)  # t.toi, t.status, t.p1, t.p2, t.n

abut.torch and abut.jax have the same functions for tensors and for traced arrays. abut.opencl is for arrays that stay on a
device, abut.mpi for batches that ranks of MPI share, abut.pose for poses as numbers, and abut.mujoco for scenes from MuJoCo's
models. docs/python.md describes the package.
"""
from os import PathLike as _PathLike
from typing import TYPE_CHECKING as _TYPE_CHECKING, Any as _Any

from abut import _makers as _makers, pose  # _makers adds methods to Context
from abut._batches import shard
from abut._body import Body
from abut._calls import (ActiveContacts, Contacts, Reduction, active, contacts, hessian, hvp,
                         jacobian, jvp, reduce, vjp, vjp_tangent)
from abut._ccd import (Ccd, CcdFeature, CcdGradients, CcdQueries, CcdQueryGradients, CcdStatus, StepFilter, ccd,
                       ccd_gradient, ccd_queries, ccd_queries_gradient, step_filter)
from abut._ccd_mesh import CcdMesh
from abut._closest import (Closest, ClosestGradients, ClosestJacobian, ClosestStatus, ClosestTangents, Shape,
                           closest, closest_jacobian, closest_jvp, closest_vjp, load_hull,
                           load_shapes)
from abut._context import Context, Device, DeviceReport, default_context, devices
from abut._decompose import Decomposition, decompose, import_superquadrics
from abut._gradcheck import GradCheck, gradcheck
from abut._inspect import ContactMesh, Suggestion, contact_mesh, measure_fit, measure_mesh, suggest
from abut._lcp import Lcp, LcpClass, LcpEnd, solve_lcp
from abut._native import Error, ffi as _ffi, lib as _lib
from abut._pair import Layout, Pair, anneal, fit_smoothing, load_smoothing
from abut._progress import Progress as _Progress
from abut._shape_numbers import ShapeNumbers
from abut._shapes import ShapeGradients, shape_gradient, shape_jvp, shape_vjp
from abut._spring import (Cloud, SpringGradients, Springs, evaluate_cloud, load_cloud, soft_points, springs,
                          springs_vjp)
from abut._view import View, view
from abut._worlds import (Distances, Forces, GivenContacts, Gradients, Scene, Step, Tangents, Transition,
                          WorldContacts, WorldStatus)

__version__: str = _ffi.string(_lib.abut_version()).decode()

NO_FEATURE = 0xffffffff  # Feature index of a contact slot that has no feature.

if _TYPE_CHECKING:
    from abut import mujoco as mujoco
else:
    def __getattr__(name: str) -> _Any:
        """Provides abut.mujoco beside from_mujoco; MuJoCo is imported only when it is requested."""
        if name != "mujoco":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        import importlib
        return importlib.import_module("abut.mujoco")


def body(vertices: _Any = None, faces: _Any = None, **options: _Any) -> Body:
    """Makes a body in the default context, as Context.body does."""
    return default_context().body(vertices, faces, **options)


def load(path: str | _PathLike[str], **options: _Any) -> Body:
    """Loads a body into the default context, as Context.load does."""
    return default_context().load(path, **options)


def from_mujoco(model: _Any, context: Context | None = None, *, contact_model: str | None = None,
                list_pairs: bool = False, progress: _Progress = None) -> Scene:
    """Makes a scene from a mujoco.MjModel of any installed MuJoCo, as abut.mujoco.from_mujoco does."""
    from abut.mujoco import from_mujoco as make  # MuJoCo is imported only when it is needed
    return make(model, context, contact_model=contact_model, list_pairs=list_pairs, progress=progress)


__all__ = ["NO_FEATURE", "ActiveContacts", "Body", "Ccd", "CcdFeature", "CcdGradients", "CcdMesh", "CcdQueries",
           "CcdQueryGradients", "CcdStatus", "Closest", "ClosestGradients", "ClosestJacobian", "ClosestStatus",
           "ClosestTangents", "Cloud", "ContactMesh", "Contacts", "Context", "Decomposition", "Device", "DeviceReport", "Distances", "Error", "Forces",
           "GivenContacts", "GradCheck", "Gradients", "Layout", "Lcp", "LcpClass", "LcpEnd", "Pair",
           "Reduction", "Scene", "Shape", "ShapeGradients", "ShapeNumbers", "SpringGradients", "Springs", "Step", "StepFilter", "Suggestion", "Tangents",
           "Transition", "View", "WorldContacts", "WorldStatus", "active", "anneal", "body", "ccd", "ccd_gradient", "ccd_queries", "ccd_queries_gradient",
           "closest", "closest_jacobian", "closest_jvp", "closest_vjp", "contact_mesh", "contacts", "decompose", "default_context",
           "devices", "evaluate_cloud", "fit_smoothing", "from_mujoco", "gradcheck", "hessian", "hvp", "import_superquadrics", "jacobian", "jvp",
           "load", "load_cloud", "load_hull", "load_shapes", "load_smoothing", "measure_fit", "measure_mesh", "pose", "reduce",
           "shape_gradient", "shape_jvp", "shape_vjp", "shard", "soft_points",
           "solve_lcp", "springs", "springs_vjp", "step_filter", "suggest", "view", "vjp", "vjp_tangent"]
