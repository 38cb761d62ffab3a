"""abut for JAX: contacts and reductions of traced arrays.

    import jax, abut, abut.jax as aj
    loss = lambda x: aj.contacts(pair, fixed, x).activity.sum()
    g = jax.jit(jax.grad(loss))(x)
    H = jax.hessian(lambda y: aj.reduce(pair, fixed, y, "energy"))(x)

The functions work under jit, vmap, scan, grad, jvp, jacfwd, jacrev and hessian. JAX's arrays are float32 or float64 as the
pair's context, and never converted; float64 needs jax_enable_x64. On CPUs XLA calls the library directly, without a copy of
arrays. Arrays of GPUs and TPUs are copied through the host.

A compiled program refers to its pairs, and keeps them alive as long as JAX keeps the program (jax.clear_caches() frees them).
A closed pair makes the program fail, with the library's text in a ValueError or jax.errors.JaxRuntimeError, depending on JAX.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Optional

import jax
import jax.numpy as jnp
import numpy as np

from abut._arrays import by_position, check_names
from abut._calls import ALL_OUTPUTS, OUTPUTS, REDUCTIONS, VALUES, Contacts, Pairs, _list_of
from abut._jax_ccd import Ccd, CcdQueries, ccd, ccd_queries
from abut._jax_closest import Closest, closest
from abut._jax_positions import distances, poses
from abut._jax_shapes import shaped
from abut._jax_worlds import contact_forces, rollout, step
from abut._pair import Pair
from abut._table import CALLS, Forces, OfPairs, Plan, refuse, renamed
from abut._xla import (Given, along_gradients, along_linear, bind, check_precision, ended, make, of_linear, poses_of,
                       transposed_by)

__all__ = ["Ccd", "CcdQueries", "Closest", "Forces", "ccd", "ccd_queries", "closest", "contact_forces", "contacts", "distances", "poses", "reduce", "rollout",
           "step"]

Shapes = Optional[Mapping[str, Any]]

THIRD = {what: f"{what} has no derivatives beyond the second" for what in ("a manifold of contacts", "a reduction")}


# ---- derivatives ----

def _tangents(dx: Given, ending: str = "_tangent") -> Given:
    """Returns tangents of poses for the calls along them."""
    return renamed({name: t for name, t in dx.items() if name in ("pose1", "pose2")}, "", ending)


def _contacts_rule(plan: Plan, x: Given, dx: Given) -> tuple[Given, Given]:
    made, smooth = bind("contacts", plan.subject, x, plan.outputs), [name for name in plan.outputs if name != "status"]
    if not dx or not smooth:
        return made, {}
    slopes = bind("jvp", plan.subject, {**x, **_tangents(dx)}, [name + "_tangent" for name in smooth])
    return made, renamed(slopes, "_tangent", "")


def _jvp_rule(plan: Plan, x: Given, dx: Given) -> tuple[Given, Given]:
    made, moved = bind("jvp", plan.subject, x, plan.outputs), _tangents(dx, "_move")
    slopes = along_linear(plan, x, {name: dx[name] for name in ended(dx, "_tangent")})
    if not moved:
        return made, slopes
    more = bind("jvp_tangent", plan.subject, {**x, **moved}, plan.outputs)
    return made, {name: slopes[name] + slope if slopes else slope for name, slope in more.items()}


def _vjp_rule(plan: Plan, x: Given, dx: Given) -> tuple[Given, Given]:
    made, along = bind("vjp", plan.subject, x, plan.outputs), _tangents(dx)
    if not along:
        return made, along_linear(plan, x, dx)
    return made, bind("vjp_tangent", plan.subject, {**x, **along, **renamed(dx, "_bar", "_slope")}, plan.outputs)


# As a function of the poses, vjp_tangent is its own transpose, because second derivatives are symmetric. As a function of
# tangents of cotangents, its transpose is the VJP.
_by_tangents = transposed_by("vjp_tangent", "_tangent", ("_gradient", "_tangent"), "_gradient")
_by_slopes = transposed_by("jvp", "_slope", ("_gradient", "_tangent"), "_tangent")


def _value_rule(plan: Plan, x: Given, dx: Given) -> tuple[Given, Given]:
    if not dx:
        return bind("reduce", plan.subject, x, plan.outputs), {}
    kind = plan.subject.kind
    if kind not in REDUCTIONS:
        refuse(f"{kind!r} has no derivative; 'distance' and 'soft_minimum' have")
    made = bind("gradient", plan.subject, x, (*plan.outputs, *(name + "_gradient" for name in dx)))
    return made, {kind: along_gradients(made, dx, 1)}


def _gradient_rule(plan: Plan, x: Given, dx: Given) -> tuple[Given, Given]:
    wanted = [name for name in CALLS["gradient"].outputs if name in (*plan.outputs, *(name + "_gradient" for name in dx))]
    made, products = bind("gradient", plan.subject, x, wanted), [name for name in plan.outputs if name.endswith("_gradient")]
    if not dx:
        return made, {}
    slopes = bind("hessian_product", plan.subject, {**x, **_tangents(dx)}, products) if products else {}
    return made, {plan.subject.kind: along_gradients(made, dx, 1), **slopes}


make("contacts", _contacts_rule)
make("jvp", _jvp_rule, transposed_by("vjp", "_tangent", ("_tangent", "_bar"), "_gradient"))
make("vjp", _vjp_rule, transposed_by("jvp", "_bar", ("_gradient", "_tangent"), "_tangent"))
make("vjp_tangent", of_linear(THIRD["a manifold of contacts"]), lambda *of: {**_by_tangents(*of), **_by_slopes(*of)})
make("jvp_tangent", of_linear(THIRD["a manifold of contacts"]),
     transposed_by("vjp_tangent", "_move", ("_tangent", "_bar"), "_gradient"))
make("reduce", _value_rule)
make("gradient", _gradient_rule)
make("hessian_product", of_linear(THIRD["a reduction"]),
     transposed_by("hessian_product", "_tangent", ("_gradient", "_tangent"), "_gradient"))


# ---- public functions ----

def _operands(pair: Pairs, pose1: Any, pose2: Any, index: Any, kind: str = "") -> tuple[OfPairs, Given]:
    """Returns the subject of the call, and the poses, broadcast, with the index if there is one."""
    pairs = (pair,) if isinstance(pair, Pair) else _list_of(pair)
    if isinstance(pair, Pair) != (index is None):
        raise ValueError("index is only for a list of pairs: one pair has "
                         "none, and a list needs it")
    dtype = pairs[0].dtype
    check_precision(dtype)
    poses = poses_of(pose1, pose2, dtype)
    given = dict(zip(("pose1", "pose2"), poses))
    if index is not None:
        given["index"] = _index(index, poses[0].shape[:-1], len(pairs))
    return OfPairs(pairs, index is not None, poses[0].shape[-1], kind), given


def _index(index: Any, lead: tuple[int, ...], count: int) -> jax.Array:
    which = index if isinstance(index, jax.Array) else np.asarray(index)
    if which.dtype.kind not in "iu":
        raise ValueError(f"index has dtype {which.dtype.name}, expected integers")
    if isinstance(which, np.ndarray) and which.size and (
            which.min() < 0 or which.max() >= count):
        raise ValueError(f"index names a pair that does not exist; there are {count}")
    if which.dtype.itemsize > 4:  # truncated to 32 bits, 2 ** 32 would be the first pair
        which = jnp.where((which < 0) | (which >= count), count, which)
    try:
        return jnp.broadcast_to(jnp.asarray(which).astype(jnp.uint32), lead)
    except ValueError:
        raise ValueError(f"index has shape {which.shape}, not {lead}") from None


@by_position
def contacts(pair: Pairs, pose1: Any, pose2: Any, *, want: Sequence[str] = OUTPUTS,
             index: Any = None, shape1: Shapes = None, shape2: Shapes = None, follow: bool = False) -> Contacts:
    """Computes all contacts of every pose, as abut.contacts, with the same arguments and arrays of JAX.

    shape1, shape2  arrays instead of body 1's and body 2's numbers, by the names of abut.ShapeNumbers: vertices, axes, exponents,
                    position, rotation (quaternions w, x, y, z, whose length has no effect), core_half, core_radius,
                    core_position, core_rotation, and lists of arrays plane_normals, plane_points, cloud_points, cloud_normals,
                    cloud_widths, grid_coefficients. They need one Pair, whose smoothing is used. Derivatives with respect to them
                    are sums over the poses, first derivatives only, in reverse mode. Under vmap there is one call per entry;
                    leading axes of the poses avoid that
    follow          in derivatives, meshes move along with their fields, on which they must lie (shape_vjp)

    Outputs that `want` leaves out are None; under jit, unused outputs are not computed either. A pose that is not finite gives
    NaN, and its `status`. An index that is out of range makes the program fail.
    Errors: ValueError for shapes and dtypes, while tracing; the program raises the library's own errors.
    """
    check_names(want, ALL_OUTPUTS, "want")
    if shape1 is not None or shape2 is not None or follow:
        plan, values = shaped(pair, pose1, pose2, (shape1, shape2), index, want=want, follow=follow)
        return Contacts(**dict(zip(plan.want, values)), status=values[-1])
    names = [name for name in ALL_OUTPUTS if name in want]
    return Contacts(**bind("contacts", *_operands(pair, pose1, pose2, index), [*names, "status"]))


@by_position
def reduce(pair: Pairs, pose1: Any, pose2: Any, kind: str, *, nearest: bool = False,
           index: Any = None, shape1: Shapes = None, shape2: Shapes = None, follow: bool = False) -> Any:
    """Reduces the contacts of each pose to one number, (...), as abut.reduce, with first and second derivatives;
    "minimum_distance" has none. With `nearest` the result is a pair of arrays: this number, and the smallest distance of a
    vertex [m], which counts as constant. shape1, shape2 and follow are as in contacts; "soft_distance" and "minimum_distance"
    have no derivatives with respect to these."""
    if kind not in VALUES:
        raise ValueError(f"a reduction {kind!r} is not among {', '.join(VALUES)}")
    if shape1 is not None or shape2 is not None or follow:
        found = shaped(pair, pose1, pose2, (shape1, shape2), index, kind=kind, nearest=nearest, follow=follow)[1]
        return (found[0], jax.lax.stop_gradient(found[1])) if nearest else found[0]
    if nearest and kind == "minimum_distance":
        least = reduce(pair, pose1, pose2, kind, index=index)
        return least, least
    outputs = (kind, "minimum_distance") if nearest else (kind,)
    values = bind("reduce", *_operands(pair, pose1, pose2, index, kind), outputs)
    return tuple(values.values()) if nearest else values[kind]
