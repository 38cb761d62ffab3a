"""The calls of abut's table as JAX primitives: shapes, batches, the connection to XLA (python/xla.c), and rules of derivatives.

A primitive has one parameter, its plan, which names its operands and its results. All operands have the same leading axes,
whose product is the library's N. Rules work on mappings of these names; zeros are never made.
"""
from __future__ import annotations

import functools
import math
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NoReturn

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir
from jax.interpreters import partial_eval as pe

from abut import _forms
from abut._native import ffi, lib
from abut._table import CALLS, REAL, Plan, Subject, plan_of, refuse, renamed, run

TARGET = "abut"
Given = Mapping[str, Any]
Made = dict[str, Any]
Rule = Callable[[Plan, Given, Given], tuple[Given, Given]]
PRIMITIVES: dict[str, Any] = {}
_lock = threading.Lock()
_registered: list[str] = []


# ---- calls ----

def register() -> None:
    """Registers the handler with XLA, once. An error in the registration would break the next computation, so programs that do
    not use abut do not register it."""
    with _lock:
        if not _registered:
            capsule: Any = jax.ffi.pycapsule
            jax.ffi.register_ffi_target(TARGET, capsule(lib.abutpy_xla_handler()), platform="cpu")
            _registered.append(TARGET)


def real_of(value: Any, dtype: np.dtype[Any], name: str) -> jax.Array:
    if not isinstance(value, jax.Array):
        array = np.asarray(value)
        if array.dtype.kind not in "iuf":
            raise ValueError(f"{name} has dtype {array.dtype.name}, expected numbers")
        return jnp.asarray(array.astype(dtype, copy=False))
    if value.dtype != dtype:
        raise ValueError(f"{name} is {value.dtype.name}, but the context uses {dtype.name}: "
                         "convert it, or open a context with that precision")
    return value


def poses_of(pose1: Any, pose2: Any, dtype: np.dtype[Any]) -> list[Any]:
    """Returns both poses in one format and of one batch."""
    arrays = [None if pose is None else real_of(pose, dtype, name) for name, pose in (("pose1", pose1), ("pose2", pose2))]
    poses = [jnp.asarray(pose, dtype) for pose in _forms.of_one_kind(jnp, *arrays)]
    for name, pose in zip(("pose1", "pose2"), poses):
        if not pose.ndim or pose.shape[-1] not in (6, 7):
            raise ValueError(f"{name} has shape {pose.shape}: its last axis is a twist's 6 numbers, or position and "
                             "quaternion, 7; or its last two are a matrix, 4 x 4")
    try:
        lead = jnp.broadcast_shapes(*(pose.shape[:-1] for pose in poses))
    except ValueError:
        raise ValueError(f"pose1 has shape {poses[0].shape} and pose2 {poses[1].shape}, which do not have the same "
                         "batch") from None
    return [spread(pose, lead + pose.shape[-1:]) for pose in poses]


def spread(array: Any, shape: tuple[int, ...]) -> jax.Array:
    """Broadcasts an array, if it does not have the shape."""
    return array if array.shape == shape else jnp.broadcast_to(array, shape)


def check_precision(dtype: np.dtype[Any]) -> None:
    if jax.dtypes.canonicalize_dtype(dtype) != dtype:
        raise ValueError("the context uses float64: set jax_enable_x64 in JAX")


def bind(call: str, subject: Subject, given: Given, outputs: Iterable[str]) -> Made:
    """Returns the outputs of a call, with its own arrays among `given`."""
    plan = plan_of(call, subject, given, outputs)
    return dict(zip(plan.outputs, PRIMITIVES[call].bind(*(given[name] for name in plan.inputs), plan=plan)))


# ---- computation ----

@functools.partial(jax.jit, static_argnames=("primitive", "plan"))
def eager(*args: Any, primitive: Primitive, plan: Plan) -> Any:
    """Computes outside of programs: the function and the plan's owners are cached until jax.clear_caches()."""
    return primitive.bind(*args, plan=plan)


def _abstract(first: Any, *rest: Any, plan: Plan) -> list[Any]:
    make: Any = type(first)
    return [make(shape, dtype) for shape, dtype in plan.shapes(plan.lead(first))]


def _batched(primitive: Any, args: Sequence[Any], dims: Sequence[Any], *, plan: Plan) -> tuple[Sequence[Any], Sequence[int]]:
    size = next(a.shape[d] for a, d in zip(args, dims) if d is not None)
    args = [jnp.broadcast_to(a, (size, *a.shape)) if d is None else jnp.moveaxis(a, d, 0)
            for a, d in zip(args, dims)]
    results = primitive.bind(*args, plan=plan)
    return results, [0] * len(results)


def _narrowed(used: list[bool], eqn: Any) -> tuple[list[bool], Any]:
    """Removes unused results from an equation, so that the library does not compute them."""
    if not any(used):
        return [False] * len(eqn.invars), None
    plan = eqn.params["plan"]
    always = CALLS[plan.call].always
    kept = [is_used or name in always for name, is_used in zip(plan.outputs, used)]
    if plan.call == "gradient" and not any(name not in always for name, keep in zip(plan.outputs, kept) if keep):
        kept = [True] * len(kept)
    fewer = tuple(name for name, keep in zip(plan.outputs, kept) if keep)
    return [True] * len(eqn.invars), eqn.replace(
        outvars=[v for v, keep in zip(eqn.outvars, kept) if keep],
        params={"plan": plan._replace(outputs=fewer)})


def _words(data: Any) -> Any:
    return np.frombuffer(ffi.buffer(data), np.int64)


def _lower(ctx: Any, *operands: Any, plan: Plan) -> Any:
    """Lowers a call for CPUs to the handler itself. The program keeps the owners of its handles alive."""
    register()
    ctx.module_context.add_keepalive(plan.subject)
    call, subject, tails = CALLS[plan.call], plan.subject, plan.subject.tails
    arrays = [*(call.inputs[name] for name in plan.inputs), *(call.outputs[name] for name in plan.outputs)]
    places = [(call.offsets[name], math.prod(tails[array.tail]), array.type)
              for name, array in zip((*plan.inputs, *plan.outputs), arrays)]
    handles = subject.handles()
    return jax.ffi.ffi_lowering(TARGET)(
        ctx, *operands, call=np.int64(call.number or 0), record=_words(subject.record()),
        count=np.int64(call.count), axes=np.int64(subject.axes), places=np.array(places, np.int64).ravel(),
        list=np.int64(-1 if handles is None else call.handles_at),
        handles=np.zeros(1, np.int64) if handles is None else _words(handles))


def through_host(*args: Any, plan: Plan) -> Sequence[Any]:
    """Computes through Python for devices whose memory the library does not share."""
    results = [jax.ShapeDtypeStruct(*of) for of in plan.shapes(plan.lead(args[0]))]
    made: Sequence[Any] = jax.pure_callback(lambda *arrays: run(plan, list(map(np.asarray, arrays))), results, *args)
    return made


def _missing(*args: Any, plan: Plan) -> NoReturn:
    raise NotImplementedError("contacts have no second derivatives by forward mode over forward mode, and no third derivatives: use "
                              "reverse mode once, as jax.hessian does, or jax.grad of jax.jvp")


def make(call: str, rule: Rule, transposed: Callable[..., Made] | None = None,
         check: Callable[[Plan], None] | None = None) -> None:
    """Makes the primitive of a call. `check` refuses plans that are traced and never computed."""
    p: Any = Primitive("abut_" + call)
    p.multiple_results = True
    p.def_impl(lambda *args, plan: eager(*args, primitive=p, plan=plan))
    p.def_abstract_eval(_abstract)
    batching.primitive_batchers[p] = functools.partial(_batched, p)
    pe.dce_rules[p] = _narrowed

    def lower(way: Callable[..., Any]) -> Callable[..., Any]:
        def checked(*args: Any, plan: Plan) -> Any:
            if check is not None:
                check(plan)
            return way(*args, plan=plan)
        return checked

    if CALLS[call].number is None:
        mlir.register_lowering(p, _missing)
    else:
        mlir.register_lowering(p, lower(_lower), platform="cpu")
        mlir.register_lowering(p, mlir.lower_fun(lower(through_host), multiple_results=True))
    ad.primitive_jvps[p] = functools.partial(_differentiate, rule)
    if transposed is not None:
        ad.primitive_transposes[p] = functools.partial(_transpose, transposed)
    PRIMITIVES[call] = p


# ---- derivatives ----

def _differentiate(rule: Rule, primals: Any, tangents: Any, *, plan: Plan) -> Any:
    call = CALLS[plan.call]
    moved = {name: t for name, t in zip(plan.inputs, tangents) if type(t) is not ad.Zero and call.inputs[name].type == REAL}
    made, slopes = rule(plan, dict(zip(plan.inputs, primals)), moved)
    return [made[name] for name in plan.outputs], [
        slopes[name] if name in slopes else ad.Zero(jax.typeof(made[name]).to_tangent_aval()) for name in plan.outputs]


def _transpose(transposed: Callable[..., Made], cotangents: Any, *args: Any, plan: Plan) -> Any:
    bars = {name: bar for name, bar in zip(plan.outputs, cotangents) if type(bar) is not ad.Zero}
    given = dict(zip(plan.inputs, args))
    wanted = [name for name, value in given.items() if ad.is_undefined_primal(value)]
    made = transposed(plan, bars, given, wanted) if bars else {}
    return [made.get(name) for name in plan.inputs]


def ended(names: Iterable[str], ending: str | tuple[str, ...]) -> list[str]:
    return [name for name in names if name.endswith(ending)]


def of_linear(beyond: str) -> Rule:
    """Makes the rule of a call that is linear in its last inputs; derivatives by others are refused with the text `beyond`."""
    def rule(plan: Plan, x: Given, dx: Given) -> tuple[Given, Given]:
        linear = CALLS[plan.call].linear
        made = bind(plan.call, plan.subject, x, plan.outputs)
        along = {name: dx[name] for name in ended(dx, linear)}
        if len(along) < len(dx):
            refuse(beyond)
        return made, along_linear(plan, x, along)
    return rule


def along_linear(plan: Plan, x: Given, along: Given) -> Given:
    linear = CALLS[plan.call].linear
    head = {name: value for name, value in x.items() if not name.endswith(linear)}
    return bind(plan.call, plan.subject, {**head, **along}, plan.outputs) if along else {}


def transposed_by(to: str, linear: str, outputs: tuple[str, str], result: str) -> Callable[..., Made]:
    """Makes the transpose of a call by its inputs with the ending `linear`. It is the result of the call `to` with the ending
    `result`, in which cotangents of outputs with the first of those endings have the second one."""
    def transposed(plan: Plan, bars: Given, x: Given, wanted: Sequence[str]) -> Made:
        back = {name[:-len(linear)] + result: name for name in ended(wanted, linear)}
        if not back:
            return {}
        head = {name: value for name, value in x.items() if not name.endswith(CALLS[plan.call].linear)}
        made = bind(to, plan.subject, {**head, **renamed(bars, *outputs)}, back)
        return {back[name]: value for name, value in made.items()}
    return transposed


def of_constant(beyond: str) -> Rule:
    """Makes the rule of a call whose derivatives are refused with that text."""
    def rule(plan: Plan, x: Given, dx: Given) -> tuple[Given, Given]:
        if dx:
            refuse(beyond)
        return bind(plan.call, plan.subject, x, plan.outputs), {}
    return rule


def by_derivatives(call: str, beyond: str,
                   prepared: Callable[[Given, Given], Given] | None = None,
                   check: Callable[[Plan], None] | None = None) -> None:
    """Makes the primitives of a call, and of its derivatives CALL_vjp and CALL_jvp, which are each other's transposes.

    beyond    error text for second derivatives
    prepared  tangents for CALL_jvp; None: those that it has
    check     of plans of CALL_jvp
    """
    jvp, vjp = call + "_jvp", call + "_vjp"

    def rule(plan: Plan, x: Given, dx: Given) -> tuple[Given, Given]:
        kept = plan.subject.gives(CALLS[call].keeps)
        made = bind(call, plan.subject, x, [name for name in CALLS[call].outputs if name in (*plan.outputs, *kept)])
        along = prepared(x, dx) if prepared else {name + "_tangent": t for name, t in dx.items()
                                                  if name + "_tangent" in CALLS[jvp].inputs}
        smooth = [name + "_tangent" for name in plan.outputs if name + "_tangent" in CALLS[jvp].outputs]
        if not along or not smooth:
            return made, {}
        slopes = bind(jvp, plan.subject, {**x, **{name: made[name] for name in kept}, **along}, smooth)
        return made, renamed(slopes, "_tangent", "")

    make(call, rule)
    make(jvp, of_linear(beyond), transposed_by(vjp, "_tangent", ("_tangent", "_bar"), "_gradient"), check)
    make(vjp, of_linear(beyond), transposed_by(jvp, "_bar", ("_gradient", "_tangent"), "_tangent"))


def along_gradients(made: Given, dx: Given, axes: int) -> Any:
    """Returns the sum of gradients times tangents, each over its last axes."""
    changes = (made[name + "_gradient"] * tangent for name, tangent in dx.items())
    return functools.reduce(jnp.add, [change.sum(tuple(range(change.ndim - axes, change.ndim))) for change in changes])
