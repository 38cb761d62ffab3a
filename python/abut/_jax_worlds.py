"""Steps of worlds as JAX primitives: what abut.jax.step and abut.jax.rollout call.

Operands of steps are q, v, then what `given` names, all of the same leading axes, the worlds. Of the
others q' (and the kept q where `record` is not 0) follow, then tangents by `along` or cotangents by
`bars`, in which they are linear and each other's transposes. Bits count in GIVEN, WANT, BARS and
SLOPES, which python/xla_worlds.c has too.
"""
from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir
from jax.interpreters import partial_eval as pe

from abut._world_calls import NO_TANGENTS, PARAMETERS, SPRING_WIDTH, Call, Step, count_of
from abut._worlds import Scene
from abut._xla import (batched, bit_count, bits_of, check_precision, eager, handle_of, real_of,
                       register)

__all__ = ["rollout", "step"]

TARGET = "abut_worlds"
GIVEN = ("w", "u", *PARAMETERS, "springs")
WANT = ("q", "v", "w", "status", "q_record", "v_record")
BARS = ("q", "v", "q_record", "v_record")
SLOPES = ("q", "v", "u", *PARAMETERS, "springs")
Params = dict[str, Any]


def _named(bits: int, known: Sequence[str]) -> list[str]:
    return [name for k, name in enumerate(known) if bits >> k & 1]


def _bits(names: Sequence[str], known: Sequence[str]) -> int:
    return bits_of([name in names for name in known])


def _kept(params: Params) -> int:
    return int(params["steps"] // params["record"]) if params["record"] else 0


def _tail(name: str, params: Params) -> tuple[int, ...]:
    """An array's shape behind the worlds'."""
    scene: Scene = params["scene"]
    if name == "u" and params["controls"]:
        return (params["steps"], scene.nu)
    widths = {"q": (scene.nq,), "v": (scene.nv,), "w": (scene.nv,), "u": (scene.nu,), "status": (),
              "mass_scale": (scene.links,), "friction": (scene.parameters,), "stiffness": (scene.parameters,),
              "gravity": (3,), "springs": (scene.pairs, SPRING_WIDTH), "q_record": (_kept(params), scene.nq),
              "v_record": (_kept(params), scene.nv)}
    return widths[name]


def _results(op: str, params: Params) -> list[str]:
    return _named(params["wrt"], SLOPES) if op == "vjp" else _named(params["want"], WANT)


def _abstract(op: str, q: Any, *rest: Any, **params: Any) -> list[Any]:
    make, lead = type(q), q.shape[:-1]
    return [make(lead + _tail(name, params), np.dtype(np.uint32) if name == "status" else q.dtype)
            for name in _results(op, params)]


# ---- how they are computed ----

def _check_tangents(params: Params) -> None:
    """Gradients are transposed tangents, so that tangents along springs are traced, and never computed."""
    if params.get("along", 0) & _bits(("springs",), SLOPES):
        raise NotImplementedError(NO_TANGENTS)


def _lower(number: int, ctx: Any, *operands: Any, scene: Scene, **params: Any) -> Any:
    """For CPUs: the handler itself. The program keeps its scene."""
    _check_tangents(params)
    register(TARGET)
    ctx.module_context.add_keepalive(scene)
    numbers = {name: np.int64(value) for name, value in params.items()}
    handle = np.array(handle_of(scene), np.uint64).view(np.int64)[()]
    return jax.ffi.ffi_lowering(TARGET)(ctx, *operands, op=np.int64(number), scene=handle, **numbers)


def _evaluate(op: str, arrays: Sequence[Any], **params: Any) -> list[Any]:
    """The same by the package's own functions, of arrays in the host's memory."""
    rest = [np.asarray(a) for a in arrays]
    given: dict[str, Any] = {name: rest.pop(0) for name in ("q", "v", *_named(params["given"], GIVEN))}
    if params["controls"]:
        given["controls"] = given.pop("u")
    call = Call(params["scene"], steps=params["steps"], record=params["record"], **given)
    if op == "steps":
        made: Any = call.step()
        return [getattr(made, name) for name in _results(op, params)]
    q, q_record = rest.pop(0), rest.pop(0) if params["record"] else None
    if op == "jvp":
        tangents = dict(zip(_named(params["along"], SLOPES), rest))
        made = call.jvp(tangents, _results(op, params))
    else:
        bars = {name: rest.pop(0) if params["bars"] >> k & 1 else None for k, name in enumerate(BARS)}
        made = call.vjp(bars, _results(op, params), q, q_record)
    return [getattr(made, name) for name in _results(op, params)]


def _by_callback(op: str, *args: Any, **params: Any) -> Any:
    """For devices whose memory the library does not share: through the host, by Python."""
    _check_tangents(params)
    shapes = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in _abstract(
        op, jax.core.ShapedArray(args[0].shape, args[0].dtype), **params)]
    return jax.pure_callback(lambda *arrays: _evaluate(op, arrays, **params), shapes, *args)


def _narrowed(selector: str, known: Sequence[str], used: list[bool], eqn: Any) -> tuple[list[bool], Any]:
    """An equation without the results that nobody uses."""
    if not any(used):
        return [False] * len(eqn.invars), None
    present = _named(eqn.params[selector], known)
    fewer = _bits([name for name, is_used in zip(present, used) if is_used], known)
    return [True] * len(eqn.invars), eqn.replace(
        outvars=[v for v, is_used in zip(eqn.outvars, used) if is_used],
        params={**eqn.params, selector: fewer})


def _make(op: str, number: int, selector: str, known: Sequence[str]) -> Any:
    p: Any = Primitive("abut_worlds_" + op)
    p.multiple_results = True
    p.def_impl(lambda *args, **params: eager(*args, primitive=p, params=tuple(sorted(params.items()))))
    p.def_abstract_eval(functools.partial(_abstract, op))
    batching.primitive_batchers[p] = functools.partial(batched, p)
    pe.dce_rules[p] = functools.partial(_narrowed, selector, known)
    mlir.register_lowering(p, functools.partial(_lower, number), platform="cpu")
    mlir.register_lowering(p, mlir.lower_fun(functools.partial(_by_callback, op), multiple_results=True))
    return p


_steps = _make("steps", 0, "want", WANT)
_vjp = _make("vjp", 1, "wrt", SLOPES)
_jvp = _make("jvp", 2, "want", WANT)


# ---- derivatives ----

def _zero_of(value: Any) -> Any:
    return ad.Zero(jax.typeof(value).to_tangent_aval())


def _steps_jvp(primals: Any, tangents: Any, *, want: int, **params: Any) -> Any:
    needed = want | _bits(("q", "q_record") if params["record"] else ("q",), WANT)
    found = dict(zip(_named(needed, WANT), _steps.bind(*primals, want=needed, **params)))
    results = [found[name] for name in _named(want, WANT)]
    moved = {name: t for name, t in zip(("q", "v", *_named(params["given"], GIVEN)), tangents)
             if name != "w" and type(t) is not ad.Zero}
    smooth = want & _bits(BARS, WANT)
    if not moved or not smooth:
        return results, [_zero_of(value) for value in results]
    kept = [found["q_record"]] if params["record"] else []
    slopes = _jvp.bind(*primals, found["q"], *kept, *(moved[name] for name in SLOPES if name in moved),
                       along=_bits(list(moved), SLOPES), want=smooth, **params)
    there = dict(zip(_named(smooth, WANT), slopes))
    return results, [there.get(name, _zero_of(found[name])) for name in _named(want, WANT)]


def _jvp_transposed(cotangents: Any, *args: Any, want: int, along: int, **params: Any) -> Any:
    count = len(args) - bit_count(along)
    bars = {name: bar for name, bar in zip(_named(want, WANT), cotangents) if type(bar) is not ad.Zero}
    if not bars:
        return [None] * len(args)
    directions = dict(zip(_named(along, SLOPES), args[count:]))
    wrt = [name for name, t in directions.items() if ad.is_undefined_primal(t)]
    g = _vjp.bind(*args[:count], *(bars[name] for name in BARS if name in bars),
                  bars=_bits(list(bars), BARS), wrt=_bits(wrt, SLOPES), **params)
    found = dict(zip(wrt, g))
    return [None] * count + [found.get(name) for name in directions]


def _vjp_transposed(cotangents: Any, *args: Any, wrt: int, bars: int, **params: Any) -> Any:
    count = len(args) - bit_count(bars)
    along = {name: t for name, t in zip(_named(wrt, SLOPES), cotangents) if type(t) is not ad.Zero}
    if not along:
        return [None] * len(args)
    given = dict(zip(_named(bars, BARS), args[count:]))
    want = [name for name, bar in given.items() if ad.is_undefined_primal(bar)]
    moved = _jvp.bind(*args[:count], *along.values(), along=_bits(list(along), SLOPES),
                      want=_bits(want, WANT), **params)
    found = dict(zip(want, moved))
    return [None] * count + [found.get(name) for name in given]


def _linear(primitive: Any, selector: str, known: Sequence[str], primals: Any, tangents: Any,
            **params: Any) -> Any:
    """Of derivatives by their last operands, in which they are linear; there are no second ones."""
    count = len(primals) - bit_count(params[selector])
    if any(type(t) is not ad.Zero for t in tangents[:count]):
        raise NotImplementedError("steps of worlds have first derivatives, and no second ones")
    results = primitive.bind(*primals, **params)
    there = [(name, t) for name, t in zip(_named(params[selector], known), tangents[count:])
             if type(t) is not ad.Zero]
    slopes = primitive.bind(*primals[:count], *(t for _, t in there),
                            **{**params, selector: _bits([name for name, _ in there], known)})
    return results, slopes


ad.primitive_jvps.update({_steps: _steps_jvp, _jvp: functools.partial(_linear, _jvp, "along", SLOPES),
                          _vjp: functools.partial(_linear, _vjp, "bars", BARS)})
ad.primitive_transposes[_jvp] = _jvp_transposed
ad.primitive_transposes[_vjp] = _vjp_transposed


# ---- what is called ----

def _operands(inputs: dict[str, Any], params: Params) -> list[Any]:
    """Of one batch: leading axes are broadcast."""
    dtype = params["scene"].context.dtype
    check_precision(dtype)
    arrays = {name: real_of(value, dtype, name) for name, value in inputs.items()}
    leads = []
    for name, array in arrays.items():
        tail = _tail(name, params)
        if array.ndim < len(tail) or array.shape[array.ndim - len(tail):] != tail:
            wanted = ", ".join(["...", *map(str, tail)])
            raise ValueError(f"{name} has shape {array.shape}, not ({wanted})")
        leads.append(array.shape[:array.ndim - len(tail)])
    try:
        lead = jnp.broadcast_shapes(*leads)
    except ValueError:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        raise ValueError(f"shapes are not of one batch: {shapes}") from None
    return [array if at == lead else jnp.broadcast_to(array, lead + _tail(name, params))
            for (name, array), at in zip(arrays.items(), leads)]


def step(scene: Scene, q: Any, v: Any, u: Any = None, *, controls: Any = None, w: Any = None,
         steps: int | None = None, record: int = 0, mass_scale: Any = None, friction: Any = None,
         stiffness: Any = None, gravity: Any = None, springs: Any = None) -> Step:
    """Worlds after `steps` steps, as abut.Scene.step has them, with the same words and arrays of JAX.

    Differentiable once, in both modes, by q, v, u or controls, mass_scale, friction, stiffness and
    gravity, in reverse mode also by springs; w, in and out, counts as constant. Derivatives of and by q are by its numbers; of a
    quaternion's tangent and gradient only what is orthogonal to it. `iterations` is None. Errors: ValueError for shapes and dtypes, while tracing; the library's own
    come out of the program. What becomes of a world is told by its status.
    """
    if u is not None and controls is not None:
        raise ValueError("u is held over all steps, controls has those of each: one of them")
    count = count_of("steps", steps, 1)
    if controls is not None:
        shape = np.shape(controls)
        count = shape[-2] if steps is None and len(shape) > 1 else count
    given = {"w": w, "u": u if controls is None else controls, "mass_scale": mass_scale,
             "friction": friction, "stiffness": stiffness, "gravity": gravity, "springs": springs}
    given = {name: value for name, value in given.items() if value is not None}
    params: Params = {"scene": scene, "steps": count, "record": count_of("record", record, 0),
                      "controls": int(controls is not None), "given": _bits(list(given), GIVEN)}
    want = [name for name in WANT if record or not name.endswith("_record")]
    made = _steps.bind(*_operands({"q": q, "v": v, **given}, params), want=_bits(want, WANT), **params)
    return Step(**dict(zip(want, made)))


def rollout(scene: Scene, q: Any, v: Any, controls: Any = None, *, steps: int | None = None,
            record: int = 1, **options: Any) -> Step:
    """Many steps as one function, whose derivative keeps few states and makes the others anew.

    controls  (..., steps, nu), those of every step; or `u` among the options, held over `steps`
    record    keep every so many steps' state in q_record (..., K, nq) and v_record (..., K, nv)
    options   as of step
    """
    return step(scene, q, v, controls=controls, steps=steps, record=record, **options)
