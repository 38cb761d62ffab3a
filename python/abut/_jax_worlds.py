"""Steps of worlds as JAX primitives: what abut.jax.step and abut.jax.rollout call."""
from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from abut._world_calls import NO_TANGENTS, Step, count_of
from abut._worlds import Scene
from abut._table import CALLS, OfWorlds, Plan
from abut._xla import bind, by_derivatives, check_precision, real_of

__all__ = ["rollout", "step"]

NO_SECOND = "steps of worlds have first derivatives, and no second ones"


def _check_tangents(plan: Plan) -> None:
    """Gradients are transposed tangents, so that tangents along springs are traced, and never computed."""
    if "springs_tangent" in plan.inputs:
        raise NotImplementedError(NO_TANGENTS)


by_derivatives("steps", NO_SECOND, check=_check_tangents)


# ---- what is called ----

def _operands(inputs: dict[str, Any], worlds: OfWorlds) -> dict[str, Any]:
    """Of one batch: leading axes are broadcast."""
    dtype, inner = worlds.context.dtype, worlds.tails
    check_precision(dtype)
    arrays = {name: real_of(value, dtype, name) for name, value in inputs.items()}
    leads, tails = [], {name: inner[CALLS["steps"].inputs[name].tail] for name in arrays}
    for name, array in arrays.items():
        tail = tails[name]
        if array.ndim < len(tail) or array.shape[array.ndim - len(tail):] != tail:
            wanted = ", ".join(["...", *map(str, tail)])
            raise ValueError(f"{name} has shape {array.shape}, not ({wanted})")
        leads.append(array.shape[:array.ndim - len(tail)])
    try:
        lead = jnp.broadcast_shapes(*leads)
    except ValueError:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        raise ValueError(f"shapes are not of one batch: {shapes}") from None
    return {name: array if at == lead else jnp.broadcast_to(array, lead + tails[name])
            for (name, array), at in zip(arrays.items(), leads)}


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
    worlds = OfWorlds(scene, count, count_of("record", record, 0), controls is not None)
    made = bind("steps", worlds, _operands({"q": q, "v": v, **given}, worlds), worlds.gives(CALLS["steps"].outputs))
    return Step(**{name.replace("_next", ""): value for name, value in made.items()})


def rollout(scene: Scene, q: Any, v: Any, controls: Any = None, *, steps: int | None = None,
            record: int = 1, **options: Any) -> Step:
    """Many steps as one function, whose derivative keeps few states and makes the others anew.

    controls  (..., steps, nu), those of every step; or `u` among the options, held over `steps`
    record    keep every so many steps' state in q_record (..., K, nq) and v_record (..., K, nv)
    options   as of step
    """
    return step(scene, q, v, controls=controls, steps=steps, record=record, **options)
