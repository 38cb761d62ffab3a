"""Steps of worlds, and their contact forces, as JAX primitives, for abut.jax.step, rollout and contact_forces."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import jax.numpy as jnp

from abut._table import CALLS, Forces, Plan, forces_of, worlds_of
from abut._world_calls import NO_FORCE_TANGENTS, NO_TANGENTS, Step
from abut._worlds import Scene, WorldPair
from abut._xla import bind, by_derivatives, check_precision, real_of, spread

__all__ = ["contact_forces", "rollout", "step"]

NO_SECOND = "steps of worlds have only first derivatives"


def _check_tangents(plan: Plan) -> None:
    """Refuses tangents along springs when they are computed. Gradients are transposed tangents, so these are traced."""
    if "springs_tangent" in plan.inputs:
        raise NotImplementedError(NO_TANGENTS)


def _refuse_tangents(plan: Plan) -> NoReturn:
    """Refuses tangents of forces when they are computed. Gradients of forces are transposed tangents, so these are traced."""
    raise NotImplementedError(NO_FORCE_TANGENTS)


by_derivatives("steps", NO_SECOND, check=_check_tangents)
by_derivatives("forces", "forces of contacts have only first derivatives", check=_refuse_tangents)


# ---- public functions ----

def step(scene: Scene, q: Any, v: Any, u: Any = None, *, controls: Any = None, w: Any = None,
         steps: int | None = None, record: int = 0, mass_scale: Any = None, friction: Any = None,
         stiffness: Any = None, gravity: Any = None, springs: Any = None) -> Step:
    """Steps worlds `steps` times, as abut.Scene.step, with the same arguments and arrays of JAX.

    The function has first derivatives, in both modes, with respect to q, v, u or controls, mass_scale, friction,
    stiffness and gravity, and in reverse mode also to springs. w counts as constant, as input and as output. Derivatives of q, and with respect
    to q, are for its numbers; only the part of a quaternion's tangent and gradient that is orthogonal to the quaternion counts.
    `iterations` is None. A failure of a single world sets its status and is not an error.
    Errors: ValueError for shapes and dtypes, while tracing; the program raises the library's own errors.
    """
    given = {"q": q, "v": v, "w": w, "u": u, "mass_scale": mass_scale, "friction": friction, "stiffness": stiffness,
             "gravity": gravity, "springs": springs}
    dtype = scene.context.dtype
    check_precision(dtype)
    worlds, operands = worlds_of(scene, given, controls, steps, record, lambda value, name: real_of(value, dtype, name), spread)
    made = bind("steps", worlds, operands, worlds.gives(CALLS["steps"].outputs))
    return Step(**{name.replace("_next", ""): value for name, value in made.items()})


def contact_forces(scene: Scene, q: Any, v: Any, u: Any = None, pairs: Sequence[WorldPair] | None = None, *,
                   threshold: float = 0.0, w: Any = None, mass_scale: Any = None, friction: Any = None, stiffness: Any = None,
                   gravity: Any = None, springs: Any = None) -> Forces:
    """Computes contact forces, as abut.Scene.contact_forces, with the same arguments and arrays of JAX.

    `link` and `pair` have first derivatives, in reverse mode and with soft contacts, for q, v, u, mass_scale, friction,
    stiffness and gravity; w counts as constant. With other contact laws a gradient fails with the library's text. Derivatives
    with respect to q are for its numbers.
    Errors: ValueError for shapes and dtypes, while tracing; the program raises the library's own errors.
    """
    given = {"q": q, "v": v, "w": w, "u": u, "mass_scale": mass_scale, "friction": friction, "stiffness": stiffness,
             "gravity": gravity, "springs": springs}
    dtype = scene.context.dtype
    check_precision(dtype)
    worlds, operands = worlds_of(scene, given, None, 1, 0, lambda value, name: real_of(value, dtype, name), spread)
    made = bind("forces", worlds, operands, CALLS["forces"].outputs)
    return forces_of(made, jnp.asarray(scene._signs(pairs)), threshold)


def rollout(scene: Scene, q: Any, v: Any, controls: Any = None, *, steps: int | None = None,
            record: int = 1, **options: Any) -> Step:
    """Computes many steps as one function. Its derivative stores few states and computes the others anew.

    controls  (..., steps, nu), controls of every step; or `u` among the options, for all `steps`
    record    number of steps after which a state is recorded in q_record (..., K, nq) and v_record (..., K, nv)
    options   as in step
    """
    return step(scene, q, v, controls=controls, steps=steps, record=record, **options)
