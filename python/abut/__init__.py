"""abut: smoothly differentiable contact of rigid bodies, in huge batches, on any OpenCL device.

    import abut, numpy as np
    a, b = abut.load("figure.body.json"), abut.load("part.stl")
    pair = abut.Pair(a, b)
    c = abut.contacts(pair, np.zeros(6), poses)      # c.p, c.d, c.n, c.activity, c.status

abut.torch and abut.jax are the same for tensors and traced arrays, abut.opencl for arrays that stay on
a device, abut.pose for poses as numbers. The page is docs/python.md.
"""
from abut import pose
from abut._calls import (ActiveContacts, Contacts, Reduction, active, contacts, hessian, hvp,
                         jacobian, jvp, reduce, vjp, vjp_tangent)
from abut._lcp import Lcp, LcpClass, LcpEnd, solve_lcp
from abut._native import Error, ffi as _ffi, lib as _lib
from abut._objects import (Body, Context, Device, DeviceReport, Layout, Pair, default_context,
                           devices, fit_smoothing, load, load_smoothing)
from abut._spring import (Cloud, SpringGradients, Springs, evaluate_cloud, load_cloud, soft_points, springs,
                          springs_vjp)
from abut._worlds import (GivenContacts, Gradients, Scene, Step, Tangents, Transition,
                          WorldStatus)

__version__: str = _ffi.string(_lib.abut_version()).decode()

NO_FEATURE = 0xffffffff

__all__ = ["NO_FEATURE", "ActiveContacts", "Body", "Cloud", "Contacts", "Context", "Device",
           "DeviceReport", "Error", "GivenContacts", "Gradients", "Layout", "Lcp", "LcpClass",
           "LcpEnd", "Pair", "Reduction", "Scene", "SpringGradients", "Springs", "Step", "Tangents",
           "Transition", "WorldStatus", "active", "contacts", "default_context", "devices",
           "evaluate_cloud", "fit_smoothing", "hessian", "hvp", "jacobian", "jvp", "load",
           "load_cloud", "load_smoothing", "pose", "reduce", "solve_lcp", "soft_points", "springs", "springs_vjp",
           "vjp", "vjp_tangent"]
