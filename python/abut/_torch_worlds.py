"""Steps of worlds, and their contact forces, for torch: abut.torch.step, rollout and contact_forces."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from abut._table import CALLS, Forces, Plan, forces_of, refuse, worlds_of
from abut._torch import Given, Made, apply, by_calls, make, no_more
from abut._torch_arrays import real_tensor
from abut._world_calls import NO_FORCE_TANGENTS, NO_TANGENTS
from abut._worlds import Scene, WorldPair

__all__ = ["Step", "contact_forces", "rollout", "step"]

class Step(NamedTuple):
    """Worlds after the steps of a call, of leading axes (...).

    q, v, w             (..., nq), (..., nv), (..., nv) positions, velocities, the last acceleration
    status              (...) int32, bits of abut.WorldStatus, combined over all steps
    q_record, v_record  (..., K, nq), (..., K, nv) every `record`-th state; None without `record`
    """

    q: Tensor
    v: Tensor
    w: Tensor
    status: Tensor
    q_record: Tensor | None = None
    v_record: Tensor | None = None


def _along(plan: Plan, x: Given, dx: Given) -> Given:
    if "springs" in dx:
        refuse(NO_TANGENTS)
    along = {name + "_tangent": t for name, t in dx.items() if name != "w"}
    return along or {"v_tangent": torch.zeros_like(x["v"])}  # only w has tangents, but torch needs some for q and v


make("steps", by_calls("steps_vjp", "steps_jvp", _along))
for _call in ("steps_vjp", "steps_jvp"):
    make(_call, no_more("steps of worlds have only first derivatives"))


def _no_tangents(plan: Plan, x: Given, made: Given, dx: Given) -> Made:
    refuse(NO_FORCE_TANGENTS)


make("forces", by_calls("forces_vjp", "forces_jvp")._replace(jvp=_no_tangents))
make("forces_vjp", no_more("forces of contacts have only first derivatives"))


@torch.compiler.disable
def step(scene: Scene, q: Any, v: Any, u: Any = None, *, controls: Any = None, w: Any = None,
         steps: int | None = None, record: int = 0, mass_scale: Any = None, friction: Any = None,
         stiffness: Any = None, gravity: Any = None, springs: Any = None) -> Step:
    """Steps worlds `steps` times, as abut.Scene.step, with the same arguments and tensors.

    The function has first derivatives, in both modes, with respect to q, v, u or controls, mass_scale, friction, stiffness
    and gravity, and in reverse mode also to springs. It has no second derivatives. w counts as constant, as input and as output. Derivatives of
    q, and with respect to q, are for its numbers; only the part of a quaternion's tangent and gradient that is orthogonal to the
    quaternion counts. torch.func's transformations work; torch.compile runs the function outside the compiled program.
    Errors: ValueError for shapes, dtypes and devices; abut.Error.
    """
    given = {"q": q, "v": v, "w": w, "u": u, "mass_scale": mass_scale, "friction": friction, "stiffness": stiffness,
             "gravity": gravity, "springs": springs}
    precision = scene.context.precision
    worlds, tensors = worlds_of(scene, given, controls, steps, record, lambda value, name: real_tensor(value, precision, name),
                                lambda x, shape: x.expand(shape))
    made = apply("steps", worlds, tensors, worlds.gives(CALLS["steps"].outputs))
    return Step(**{name.replace("_next", ""): value for name, value in made.items()})


@torch.compiler.disable
def contact_forces(scene: Scene, q: Any, v: Any, u: Any = None, pairs: Sequence[WorldPair] | None = None, *,
                   threshold: float = 0.0, w: Any = None, mass_scale: Any = None, friction: Any = None, stiffness: Any = None,
                   gravity: Any = None, springs: Any = None) -> Forces:
    """Computes contact forces, as abut.Scene.contact_forces, with the same arguments and tensors.

    `link` and `pair` have first derivatives, in reverse mode and with soft contacts, for q, v, u, mass_scale, friction,
    stiffness and gravity; w counts as constant. Other contact laws raise abut.Error when a gradient is requested. Derivatives
    with respect to q are for its numbers.
    Errors: ValueError for shapes, dtypes and devices; abut.Error.
    """
    given = {"q": q, "v": v, "w": w, "u": u, "mass_scale": mass_scale, "friction": friction, "stiffness": stiffness,
             "gravity": gravity, "springs": springs}
    precision = scene.context.precision
    signs = torch.from_numpy(scene._signs(pairs))
    worlds, tensors = worlds_of(scene, given, None, 1, 0, lambda value, name: real_tensor(value, precision, name),
                                lambda x, shape: x.expand(shape))
    return forces_of(apply("forces", worlds, tensors, CALLS["forces"].outputs), signs, threshold)


def rollout(scene: Scene, q: Any, v: Any, controls: Any = None, *, steps: int | None = None,
            record: int = 1, **options: Any) -> Step:
    """Computes many steps as one function. Its derivative stores few states and computes the others anew.

    controls  (..., steps, nu), controls of every step; or `u` among the options, for all `steps`
    record    number of steps after which a state is recorded in q_record (..., K, nq) and v_record (..., K, nv)
    options   as in step
    """
    return step(scene, q, v, controls=controls, steps=steps, record=record, **options)
