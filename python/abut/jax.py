"""Contacts and reductions of traced arrays: abut.jax.

    import jax, abut, abut.jax as aj
    loss = lambda x: aj.contacts(pair, fixed, x).activity.sum()
    g = jax.jit(jax.grad(loss))(x)
    H = jax.hessian(lambda y: aj.reduce(pair, fixed, y, "energy"))(x)

Under jit, vmap, scan, grad, jvp, jacfwd, jacrev and hessian. JAX's arrays are float32 or float64 as
the pair's context is, and never converted; float64 needs jax_enable_x64. On CPUs XLA calls the
library itself, and arrays are not copied; arrays of GPUs and TPUs take the way through the host.

A compiled program names its pairs, and keeps them as long as JAX keeps it (jax.clear_caches() lets
them go). A pair that is closed makes the program fail, with the library's text in a ValueError or
jax.errors.JaxRuntimeError, whichever JAX makes of it.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Optional

import jax
import jax.numpy as jnp
import numpy as np
from jax.interpreters import ad

from abut import _forms
from abut._arrays import check_names
from abut._calls import ALL_OUTPUTS, OUTPUTS, REDUCTIONS, VALUES, Contacts, Pairs, _list_of
from abut._pair import Pair
from abut._jax_ccd import Ccd, CcdQueries, ccd, ccd_queries
from abut._jax_closest import Closest, closest
from abut._jax_shapes import shaped
from abut._jax_worlds import rollout, step
from abut._xla import bit_count, bits_of, check_precision, make, names, real_of

__all__ = ["Ccd", "CcdQueries", "Closest", "ccd", "ccd_queries", "closest", "contacts", "reduce", "rollout", "step"]

Shapes = Optional[Mapping[str, Any]]

_contacts = make("contacts", "want")
_jvp = make("jvp", "want")
_vjp = make("vjp", "wrt")
_vjp_tangent = make("vjp_tangent", "wrt")
_jvp_tangent = make("jvp_tangent", "want")
_value = make("value")
_gradient = make("gradient", "wrt")
_hessian_product = make("hessian_product", "wrt")
_is_undefined: Any = ad.is_undefined_primal


# ---- derivatives: lists of what is there, zeros are never made ----

def _is_zero(tangent: Any) -> bool:
    return type(tangent) is ad.Zero


def _there(values: Sequence[Any]) -> tuple[int, list[Any]]:
    """Bits of what is not a symbolic zero, and these."""
    return (bits_of([not _is_zero(v) for v in values]), [v for v in values if not _is_zero(v)])


def _place(bits: int, there: int, values: Sequence[Any]) -> int:
    """Bits of those of `bits` whose values are not zero: `there` counts in the list alone."""
    places = [k for k in range(len(ALL_OUTPUTS)) if bits >> k & 1]
    return sum(1 << places[i] for i in range(len(values)) if there >> i & 1)


def _some(bits: int, values: Sequence[Any]) -> tuple[int, list[Any]]:
    """The same of a list of what `bits` name."""
    there, found = _there(values)
    return _place(bits, there, values), found


def _zero_of(value: Any) -> Any:
    return ad.Zero(jax.typeof(value).to_tangent_aval())


def _zeros(values: Sequence[Any]) -> list[Any]:
    return [_zero_of(v) for v in values]


def _shared(params: dict[str, Any]) -> dict[str, Any]:
    return {name: params[name] for name in ("pairs", "indexed")}


def _refuse_third(what: str) -> None:
    raise NotImplementedError(f"{what} has no derivatives beyond the second")


def _contacts_jvp(primals: Any, tangents: Any, *, want: int, **shared: Any) -> Any:
    results = _contacts.bind(*primals, want=want, **shared)
    along, directions = _there(tangents[:2])
    if not along or not want:
        return results, _zeros(results)
    slopes = _jvp.bind(*primals, *directions, want=want, along=along, **shared)
    return results, [*slopes, _zero_of(results[-1])]


def _head(args: Sequence[Any], indexed: bool) -> tuple[list[Any], list[Any]]:
    """Poses with their index, and what is behind."""
    count = 3 if indexed else 2
    return list(args[:count]), list(args[count:])


def _jvp_jvp(primals: Any, tangents: Any, *, want: int, along: int, **shared: Any) -> Any:
    head, directions = _head(primals, shared["indexed"])
    moved, changes = _head(tangents, shared["indexed"])
    results = _jvp.bind(*primals, want=want, along=along, **shared)
    slopes = _zeros(results)
    bits, found = _some(along, changes)
    if bits:
        slopes = _jvp.bind(*head, *found, want=want, along=bits, **shared)
    bits, found = _there(moved[:2])
    if bits:
        more = _jvp_tangent.bind(*head, *directions, *found, want=want, along=along, moved=bits,
                                 **shared)
        slopes = list(map(ad.add_tangents, slopes, more))
    return results, slopes


def _results_of_linear(head: Sequence[Any], linear: Sequence[Any],
                       gradients: Sequence[Any]) -> list[Any]:
    """Cotangents of a primitive's operands: of those among `linear` that are undefined."""
    found = iter(gradients)
    undefined = [_is_undefined(x) for x in linear]
    return [None] * len(head) + [next(found) if is_undefined else None
                                 for is_undefined in undefined]


def _wanted(bits: int, operands: Sequence[Any]) -> int:
    """Those of `bits` whose operands are to be transposed to."""
    return _place(bits, bits_of([_is_undefined(x) for x in operands]), operands)


def _jvp_transposed(cotangents: Any, *args: Any, want: int, along: int, **shared: Any) -> Any:
    head, directions = _head(args, shared["indexed"])
    bars, found = _some(want, cotangents)
    if not bars:
        return [None] * len(args)
    g = _vjp.bind(*head, *found, bars=bars, wrt=_wanted(along, directions), **shared)
    return _results_of_linear(head, directions, g)


def _vjp_jvp(primals: Any, tangents: Any, *, bars: int, wrt: int, **shared: Any) -> Any:
    head, cotangents = _head(primals, shared["indexed"])
    moved, changes = _head(tangents, shared["indexed"])
    results = _vjp.bind(*primals, bars=bars, wrt=wrt, **shared)
    along, directions = _there(moved[:2])
    slopes, found = _some(bars, changes)
    if along:
        return results, _vjp_tangent.bind(*head, *directions, *cotangents, *found, along=along,
                                          bars=bars, slopes=slopes, wrt=wrt, **shared)
    if slopes:
        return results, _vjp.bind(*head, *found, bars=slopes, wrt=wrt, **shared)
    return results, _zeros(results)


def _vjp_transposed(cotangents: Any, *args: Any, bars: int, wrt: int, **shared: Any) -> Any:
    head, linear = _head(args, shared["indexed"])
    along, found = _some(wrt, cotangents)
    if not along:
        return [None] * len(args)
    slopes = _jvp.bind(*head, *found, along=along, want=_wanted(bars, linear), **shared)
    return _results_of_linear(head, linear, slopes)


def _second_parts(args: Sequence[Any], params: dict[str, Any]) -> tuple[list[Any], ...]:
    """Operands of _vjp_tangent: head, tangents, cotangents, tangents of cotangents."""
    head, rest = _head(args, params["indexed"])
    first = bit_count(params["along"])
    second = first + bit_count(params["bars"])
    return head, rest[:first], rest[first:second], rest[second:]


def _vjp_tangent_jvp(primals: Any, tangents: Any, **params: Any) -> Any:
    head, directions, bars, slopes = _second_parts(primals, params)
    moved, turned, changed, bent = _second_parts(tangents, params)
    results = _vjp_tangent.bind(*primals, **params)
    if not all(map(_is_zero, [*moved[:2], *changed])):
        _refuse_third("a manifold of contacts")
    along, found = _some(params["along"], turned)
    slopes_there, more = _some(params["slopes"], bent)
    if not along and not slopes_there:
        return results, _zeros(results)
    given = {**params, "along": along, "slopes": slopes_there}
    return results, _vjp_tangent.bind(*head, *found, *bars, *more, **given)


def _vjp_tangent_transposed(cotangents: Any, *args: Any, **params: Any) -> Any:
    """By the poses it is its own transpose, for second derivatives are symmetric; by tangents of
    cotangents it is what the VJP is."""
    head, directions, bars, slopes = _second_parts(args, params)
    along, found = _some(params["wrt"], cotangents)
    if not along:
        return [None] * len(args)
    shared = _shared(params)
    back = [None] * len(directions)
    to_poses = _wanted(params["along"], directions)
    if to_poses:
        g = _vjp_tangent.bind(*head, *found, *bars, along=along, bars=params["bars"], slopes=0,
                              wrt=to_poses, **shared)
        back = _results_of_linear([], directions, g)
    further = [None] * len(slopes)
    to_slopes = _wanted(params["slopes"], slopes)
    if to_slopes:
        t = _jvp.bind(*head, *found, along=along, want=to_slopes, **shared)
        further = _results_of_linear([], slopes, t)
    return [None] * len(head) + back + [None] * len(bars) + further


def _jvp_tangent_jvp(primals: Any, tangents: Any, **params: Any) -> Any:
    head, rest = _head(primals, params["indexed"])
    first = bit_count(params["along"])
    changes = _head(tangents, params["indexed"])[1]
    results = _jvp_tangent.bind(*primals, **params)
    if not all(map(_is_zero, [*tangents[:2], *changes[:first]])):
        _refuse_third("a manifold of contacts")
    moved, found = _some(params["moved"], changes[first:])
    if not moved:
        return results, _zeros(results)
    return results, _jvp_tangent.bind(*head, *rest[:first], *found, **{**params, "moved": moved})


def _jvp_tangent_transposed(cotangents: Any, *args: Any, want: int, along: int, moved: int,
                            **shared: Any) -> Any:
    head, rest = _head(args, shared["indexed"])
    first = bit_count(along)
    bars, found = _some(want, cotangents)
    if not bars:
        return [None] * len(args)
    g = _vjp_tangent.bind(*head, *rest[:first], *found, along=along, bars=bars, slopes=0,
                          wrt=_wanted(moved, rest[first:]), **shared)
    return [None] * (len(head) + first) + _results_of_linear([], rest[first:], g)


# ---- derivatives of reductions ----

def _along_gradient(bits: int, gradients: dict[int, Any], tangents: Sequence[Any]) -> Any:
    terms = [(gradients[k] * t).sum(-1) for k, t in
             zip((k for k in range(2) if bits >> k & 1), tangents)]
    return terms[0] if len(terms) == 1 else terms[0] + terms[1]


def _value_jvp(primals: Any, tangents: Any, *, reduction: int, nearest: int, **shared: Any) -> Any:
    along, directions = _there(tangents[:2])
    if not along:
        results = _value.bind(*primals, reduction=reduction, nearest=nearest, **shared)
        return results, _zeros(results)
    if reduction >= len(REDUCTIONS):
        raise NotImplementedError(f"{VALUES[reduction]!r} has no derivative; 'distance' and "
                                  "'soft_minimum' have")
    found = _gradient.bind(*primals, reduction=reduction, nearest=nearest, wrt=along, **shared)
    values, g = found[:1 + nearest], found[1 + nearest:]
    both = dict(zip((k for k in range(2) if along >> k & 1), g))
    return values, [_along_gradient(along, both, directions), *_zeros(values[1:])]


def _gradient_jvp(primals: Any, tangents: Any, *, reduction: int, nearest: int, wrt: int,
                  **shared: Any) -> Any:
    along, directions = _there(tangents[:2])
    found = _gradient.bind(*primals, reduction=reduction, nearest=nearest, wrt=wrt | along, **shared)
    values, g = found[:1 + nearest], found[1 + nearest:]
    both = dict(zip((k for k in range(2) if (wrt | along) >> k & 1), g))
    results = [*values, *(both[k] for k in range(2) if wrt >> k & 1)]
    if not along:
        return results, _zeros(results)
    products = _hessian_product.bind(*primals, *directions, reduction=reduction, along=along,
                                     wrt=wrt, **shared) if wrt else []
    return results, [_along_gradient(along, both, directions), *_zeros(values[1:]), *products]


def _hessian_product_jvp(primals: Any, tangents: Any, *, along: int, **params: Any) -> Any:
    head, _ = _head(primals, params["indexed"])
    moved, changes = _head(tangents, params["indexed"])
    results = _hessian_product.bind(*primals, along=along, **params)
    if not all(map(_is_zero, moved[:2])):
        _refuse_third("a reduction")
    bits, found = _some(along, changes)
    if not bits:
        return results, _zeros(results)
    return results, _hessian_product.bind(*head, *found, along=bits, **params)


def _hessian_product_transposed(cotangents: Any, *args: Any, along: int, wrt: int,
                                **params: Any) -> Any:
    head, directions = _head(args, params["indexed"])
    bits, found = _some(wrt, cotangents)
    if not bits:
        return [None] * len(args)
    h = _hessian_product.bind(*head, *found, along=bits, wrt=_wanted(along, directions), **params)
    return _results_of_linear(head, directions, h)


ad.primitive_jvps.update({
    _contacts: _contacts_jvp, _jvp: _jvp_jvp, _vjp: _vjp_jvp, _vjp_tangent: _vjp_tangent_jvp,
    _jvp_tangent: _jvp_tangent_jvp, _value: _value_jvp, _gradient: _gradient_jvp,
    _hessian_product: _hessian_product_jvp})
ad.primitive_transposes.update({
    _jvp: _jvp_transposed, _vjp: _vjp_transposed, _vjp_tangent: _vjp_tangent_transposed,
    _jvp_tangent: _jvp_tangent_transposed, _hessian_product: _hessian_product_transposed})


# ---- what is called ----

def _widths(poses: Sequence[jax.Array]) -> None:
    widths = [pose.shape[-1] if pose.ndim else 0 for pose in poses]
    for k, pose in enumerate(poses):
        if widths[k] not in (6, 7):
            raise ValueError(f"pose{k + 1} has shape {pose.shape}: its last axis is a twist's 6 "
                             "numbers, or position and quaternion, 7; or its last two are a "
                             "matrix, 4 x 4")


def _operands(pair: Pairs, pose1: Any, pose2: Any, index: Any) -> tuple[list[Any], dict[str, Any]]:
    """The poses, broadcast, with the index where there is one; and the pairs."""
    pairs = (pair,) if isinstance(pair, Pair) else _list_of(pair)
    if isinstance(pair, Pair) != (index is None):
        raise ValueError("index tells of a list of pairs which one each pose is of: one pair has "
                         "none, and a list needs it")
    dtype = pairs[0].dtype
    check_precision(dtype)
    poses = _forms.of_one_kind(jnp, *(None if pose is None else real_of(pose, dtype, name)
                                      for name, pose in (("pose1", pose1), ("pose2", pose2))))
    _widths(poses)
    try:
        lead = jnp.broadcast_shapes(poses[0].shape[:-1], poses[1].shape[:-1])
    except ValueError:
        raise ValueError(f"pose1 has shape {poses[0].shape} and pose2 {poses[1].shape}, which are "
                         "not of one batch") from None
    operands = [p if p.shape[:-1] == lead else jnp.broadcast_to(p, lead + p.shape[-1:])
                for p in poses]
    if index is not None:
        operands.append(_index(index, lead, len(pairs)))
    return operands, {"pairs": pairs, "indexed": index is not None}


def _index(index: Any, lead: tuple[int, ...], count: int) -> jax.Array:
    which = index if isinstance(index, jax.Array) else np.asarray(index)
    if which.dtype.kind not in "iu":
        raise ValueError(f"index holds {which.dtype.name}, not whole numbers")
    if isinstance(which, np.ndarray) and which.size and (
            which.min() < 0 or which.max() >= count):
        raise ValueError(f"index names a pair that is not among the {count}")
    if which.dtype.itemsize > 4:  # cut to 32 bits, 2 ** 32 would be the first pair
        which = jnp.where((which < 0) | (which >= count), count, which)
    try:
        return jnp.broadcast_to(jnp.asarray(which).astype(jnp.uint32), lead)
    except ValueError:
        raise ValueError(f"index has shape {which.shape}, not {lead}") from None


def contacts(pair: Pairs, pose1: Any, pose2: Any, *, want: Sequence[str] = OUTPUTS,
             index: Any = None, shape1: Shapes = None, shape2: Shapes = None, follow: bool = False) -> Contacts:
    """All contacts of every pose, as abut.contacts has them: the same words, and arrays of JAX.

    shape1, shape2  arrays in place of body 1's and body 2's numbers, by the names of abut.ShapeNumbers: vertices, axes,
                  exponents, position, rotation (quaternions w, x, y, z, whose length counts for nothing), core_half,
                  core_radius, core_position, core_rotation, and lists of
                  arrays plane_normals, plane_points, cloud_points, cloud_normals, cloud_widths, grid_coefficients. Of
                  one Pair, whose smoothing stays. Derivatives by them are sums over the poses, once, in reverse mode;
                  under vmap there is a call for each entry, which leading axes of the poses need not
    follow        meshes, which must lie on their fields, move along with these in derivatives (shape_vjp)

    What `want` leaves out is None; under jit, what nobody uses is not computed either. A pose that
    is not finite gives NaN, and its `status`. An index that is out of range makes the program fail.
    Errors: ValueError for shapes and dtypes, while tracing; the library's own come out of the
    program.
    """
    check_names(want, ALL_OUTPUTS, "want")
    if shape1 is not None or shape2 is not None or follow:
        plan, values = shaped(pair, pose1, pose2, (shape1, shape2), index, want=want, follow=follow)
        return Contacts(**dict(zip(plan.want, values)), status=values[-1])
    operands, shared = _operands(pair, pose1, pose2, index)
    bits = bits_of([name in want for name in ALL_OUTPUTS])
    *found, status = _contacts.bind(*operands, want=bits, **shared)
    return Contacts(**dict(zip(names(bits), found)), status=status)


def reduce(pair: Pairs, pose1: Any, pose2: Any, kind: str, *, nearest: bool = False,
           index: Any = None, shape1: Shapes = None, shape2: Shapes = None, follow: bool = False) -> Any:
    """One smooth number a pose (...), as abut.reduce has it, with first and second derivatives;
    "minimum_distance" has none. With `nearest` a pair of arrays: that, and the least distance of
    a vertex [m], which counts as constant. shape1, shape2 and follow are as of contacts; "soft_distance" and
    "minimum_distance" have no derivatives by these."""
    if kind not in VALUES:
        raise ValueError(f"a reduction {kind!r} is not among {', '.join(VALUES)}")
    if shape1 is not None or shape2 is not None or follow:
        found = shaped(pair, pose1, pose2, (shape1, shape2), index, kind=kind, nearest=nearest, follow=follow)[1]
        return (found[0], jax.lax.stop_gradient(found[1])) if nearest else found[0]
    if nearest and kind == "minimum_distance":
        least = reduce(pair, pose1, pose2, kind, index=index)
        return least, least
    operands, shared = _operands(pair, pose1, pose2, index)
    values = _value.bind(*operands, reduction=VALUES.index(kind), nearest=int(nearest), **shared)
    return tuple(values) if nearest else values[0]
