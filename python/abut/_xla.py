"""The library's calls as JAX primitives: shapes, batches, and how XLA reaches them (python/xla.c).

Operands are both poses, the index where `indexed`, then tangents of poses by `along`, cotangents by
`bars` and tangents of cotangents by `slopes`; bits say which are there. All have the same leading
axes, whose product is the library's N.
"""
from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import batching, mlir
from jax.interpreters import partial_eval as pe

from abut import _calls, _forms
from abut._calls import ALL_OUTPUTS, VALUES, contact_shape
from abut._native import lib

TARGET = "abut"
_HANDLERS = {TARGET: lib.abutpy_xla_handler, "abut_ccd": lib.abutpy_xla_ccd_handler,
             "abut_closest": lib.abutpy_xla_closest_handler, "abut_worlds": lib.abutpy_xla_worlds_handler}
_lock = threading.Lock()
_registered: set[str] = set()


def names(bits: int) -> list[str]:
    """The outputs that bits mean."""
    return [name for k, name in enumerate(ALL_OUTPUTS) if bits >> k & 1]


def bits_of(there: Sequence[bool]) -> int:
    return sum(1 << k for k, is_there in enumerate(there) if is_there)


def bit_count(bits: int) -> int:
    return bin(bits).count("1")


def register(target: str) -> None:
    """Shows XLA a handler, once: what it refused would spoil whatever is computed first, so that
    nobody who computes nothing of abut's should have it."""
    with _lock:
        if target not in _registered:
            capsule: Any = jax.ffi.pycapsule
            jax.ffi.register_ffi_target(target, capsule(_HANDLERS[target]()), platform="cpu")
            _registered.add(target)


def real_of(value: Any, dtype: np.dtype[Any], name: str) -> jax.Array:
    if not isinstance(value, jax.Array):
        array = np.asarray(value)
        if array.dtype.kind not in "iuf":
            raise ValueError(f"{name} holds {array.dtype.name}, not numbers")
        return jnp.asarray(array.astype(dtype, copy=False))
    if value.dtype != dtype:
        raise ValueError(f"{name} is {value.dtype.name}, and the context computes in {dtype.name}: "
                         "convert it, or open a context of that precision")
    return value


def poses_of(pose1: Any, pose2: Any, dtype: np.dtype[Any]) -> list[Any]:
    """Both of one kind, of one batch."""
    arrays = [None if pose is None else real_of(pose, dtype, name) for name, pose in (("pose1", pose1), ("pose2", pose2))]
    poses = [jnp.asarray(pose, dtype) for pose in _forms.of_one_kind(jnp, *arrays)]
    for name, pose in zip(("pose1", "pose2"), poses):
        if not pose.ndim or pose.shape[-1] not in (6, 7):
            raise ValueError(f"{name} has shape {pose.shape}: its last axis is a twist's 6 numbers, or position and "
                             "quaternion, 7; or its last two are a matrix, 4 x 4")
    try:
        lead = jnp.broadcast_shapes(*(pose.shape[:-1] for pose in poses))
    except ValueError:
        raise ValueError(f"pose1 has shape {poses[0].shape} and pose2 {poses[1].shape}, which are not of one "
                         "batch") from None
    return [jnp.broadcast_to(pose, lead + pose.shape[-1:]) for pose in poses]


def check_precision(dtype: np.dtype[Any]) -> None:
    if jax.dtypes.canonicalize_dtype(dtype) != dtype:
        raise ValueError("the context computes in float64, which JAX has once jax_enable_x64 is "
                         "set")


# ---- what operations give ----

def _outputs(bits: int, count: int) -> list[tuple[int, ...]]:
    return [contact_shape(name, count) for name in names(bits)]


def _tails(op: str, width: int, count: int, params: dict[str, Any]) -> list[tuple[int, ...]]:
    """Shapes of an operation's results behind the leading axes, without contacts' status."""
    if op in ("contacts", "jvp", "jvp_tangent"):
        return _outputs(params["want"], count)
    values = 1 + params.get("nearest", 0) if op in ("value", "gradient") else 0
    numbers: list[tuple[int, ...]] = [()] * values
    return numbers + [(width,)] * bit_count(params.get("wrt", 0))


def _abstract(op: str, pose1: Any, *rest: Any, pairs: Any, **params: Any) -> list[Any]:
    make, lead = type(pose1), pose1.shape[:-1]
    tails = _tails(op, pose1.shape[-1], max(p.C for p in pairs), params)
    made = [make(lead + tail, pose1.dtype) for tail in tails]
    return made + [make(lead, np.dtype(np.uint8))] * (op == "contacts")


def batched(primitive: Any, args: Sequence[Any], dims: Sequence[Any],
             **params: Any) -> tuple[Sequence[Any], Sequence[int]]:
    size = next(a.shape[d] for a, d in zip(args, dims) if d is not None)
    args = [jnp.broadcast_to(a, (size, *a.shape)) if d is None else jnp.moveaxis(a, d, 0)
            for a, d in zip(args, dims)]
    results = primitive.bind(*args, **params)
    return results, [0] * len(results)


def _narrowed(selector: str, op: str, used: list[bool], eqn: Any) -> tuple[list[bool], Any]:
    """An equation without the results that nobody uses: what the library need not compute."""
    if not any(used):
        return [False] * len(eqn.invars), None
    bits = eqn.params[selector]
    leading = 1 + eqn.params.get("nearest", 0) if op == "gradient" else 0
    present = [k for k in range(len(ALL_OUTPUTS)) if bits >> k & 1]
    chosen = used[leading:leading + len(present)]
    if selector == "wrt" and not any(chosen):
        chosen = [True] * len(present)
    kept = [True] * leading + chosen + [True] * (len(used) - leading - len(present))
    fewer = sum(1 << k for k, is_used in zip(present, chosen) if is_used)
    return [True] * len(eqn.invars), eqn.replace(
        outvars=[v for v, keep in zip(eqn.outvars, kept) if keep],
        params={**eqn.params, selector: fewer})


# ---- how they are computed ----

@functools.partial(jax.jit, static_argnames=("primitive", "params"))
def eager(*args: Any, primitive: Primitive, params: tuple[tuple[str, Any], ...]) -> Any:
    """Outside of programs: kept, with the pairs that it names, where jax.clear_caches() clears."""
    return primitive.bind(*args, **dict(params))


def handle_of(owner: Any) -> int:
    """A handle of the library's as one number."""
    value = owner.handle
    return int(value.generation) << 32 | int(value.index)


def _lower(number: int, ctx: Any, *operands: Any, pairs: Any, indexed: bool, **params: Any) -> Any:
    """For CPUs: the handler itself. The program keeps its pairs."""
    register(TARGET)
    ctx.module_context.add_keepalive(pairs)
    handles = np.array([handle_of(pair) for pair in pairs], np.uint64).view(np.int64)
    numbers = {name: np.int64(value) for name, value in params.items()}
    return jax.ffi.ffi_lowering(TARGET)(ctx, *operands, op=np.int64(number), pairs=handles,
                                        indexed=np.int64(indexed), **numbers)


def _evaluate(op: str, arrays: Sequence[Any], pairs: Any, indexed: bool, along: int = 0,
              bars: int = 0, slopes: int = 0, want: int = 0, wrt: int = 0,
              reduction: int = 0, nearest: int = 0) -> list[Any]:
    """The same by the package's own functions, of arrays in the host's memory."""
    rest = [np.asarray(a) for a in arrays]
    p1, p2 = rest.pop(0), rest.pop(0)
    pair, index = (pairs, rest.pop(0)) if indexed else (pairs[0], None)
    tangents: dict[str, Any] = {f"tangent{k + 1}": rest.pop(0) for k in range(2) if along >> k & 1}
    cotangents: dict[str, Any] = {name: rest.pop(0) for name in names(bars)}
    cotangents.update({name + "_tangent": rest.pop(0) for name in names(slopes)})

    def call(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
        return function(pair, p1, p2, *args, index=index, **options)

    kind = VALUES[reduction]
    if op in ("contacts", "jvp"):
        made = call(getattr(_calls, op), want=names(want), **tangents)
        return [getattr(made, name) for name in names(want) + ["status"] * (op == "contacts")]
    if op == "value":
        made = call(_calls.reduce, kind, nearest=bool(nearest))
        return [made.value, made.nearest] if nearest else [made.value]
    value = []
    if op == "gradient":
        made = call(_calls.reduce, kind, grad=True, nearest=bool(nearest))
        value, both = [made.value, made.nearest][:1 + nearest], [made.grad1, made.grad2]
    elif op == "hessian_product":
        both = call(_calls.hvp, kind, **tangents)
    elif op == "vjp":
        both = call(_calls.vjp, **cotangents)
    else:
        both = call(_calls.vjp_tangent, **tangents, **cotangents)
    return [*value, *(both[k] for k in range(2) if wrt >> k & 1)]


def by_callback(op: str, *args: Any, pairs: Any, **params: Any) -> Sequence[Any]:
    """For devices whose memory the library does not share: through the host, by Python."""
    lead, dtype = args[0].shape[:-1], args[0].dtype
    tails = _tails(op, args[0].shape[-1], max(p.C for p in pairs), params)
    shape: Any = jax.ShapeDtypeStruct
    results = [shape(lead + tail, dtype) for tail in tails]
    if op == "contacts":
        results.append(shape(lead, np.uint8))
    made: Sequence[Any] = jax.pure_callback(
        lambda *arrays: _evaluate(op, arrays, pairs=pairs, **params), results, *args)
    return made


NUMBERS = {"contacts": 0, "jvp": 1, "vjp": 2, "vjp_tangent": 3, "value": 4, "gradient": 5,
           "hessian_product": 6}


def _is_missing(op: str) -> Callable[..., Any]:
    def lower(*args: Any, **params: Any) -> Any:
        raise NotImplementedError(
            "contacts have no second derivatives by forward mode twice, and no third ones: take "
            "reverse mode once, as jax.hessian does, or jax.grad of jax.jvp")
    return lower


def make(op: str, selector: str | None = None) -> Any:
    """A primitive of an operation. `selector` is the parameter that says what it results in."""
    p: Any = Primitive("abut_" + op)
    p.multiple_results = True
    p.def_impl(lambda *args, **params: eager(*args, primitive=p,
                                              params=tuple(sorted(params.items()))))
    p.def_abstract_eval(functools.partial(_abstract, op))
    batching.primitive_batchers[p] = functools.partial(batched, p)
    if selector:
        pe.dce_rules[p] = functools.partial(_narrowed, selector, op)
    if op in NUMBERS:
        mlir.register_lowering(p, functools.partial(_lower, NUMBERS[op]), platform="cpu")
        mlir.register_lowering(p, mlir.lower_fun(functools.partial(by_callback, op),
                                                 multiple_results=True))
    else:
        mlir.register_lowering(p, _is_missing(op))
    return p
