"""Steps of worlds for torch: what abut.torch.step and abut.torch.rollout call.

Three Functions: a step, whose backward and jvp are the others, so that torch.func's transformations see
through all. In a backward and a jvp tensors may be torch.func's, which have no data: there nothing but
Functions may be called, and in a backward torch's own functions.
"""
from __future__ import annotations

import inspect
from typing import Any, NamedTuple

import torch
from torch import Tensor

from abut._torch import folded
from abut._torch_arrays import DTYPES, array, tensors_of
from abut._world_calls import NO_TANGENTS, PARAMETERS, SPRING_WIDTH, Call, count_of
from abut._worlds import Scene

__all__ = ["Step", "rollout", "step"]

INPUTS = ("q", "v", "w", "u", *PARAMETERS, "springs")
BARS = ("q", "v", "q_record", "v_record")
SLOPES = ("q", "v", "u", *PARAMETERS, "springs")


class Step(NamedTuple):
    """Worlds after a call's steps, of leading axes (...).

    q, v, w             (..., nq), (..., nv), (..., nv) positions, velocities, the last acceleration
    status              (...) int32, bits of abut.WorldStatus, or-ed over all steps
    q_record, v_record  (..., K, nq), (..., K, nv) every `record`-th state; None without `record`
    """

    q: Tensor
    v: Tensor
    w: Tensor
    status: Tensor
    q_record: Tensor | None = None
    v_record: Tensor | None = None


class Plan(NamedTuple):
    """What is fixed in a call."""

    scene: Scene
    steps: int
    record: int
    controls: bool
    wrt: tuple[str, ...] = ()

    def call(self, t: Any) -> Call:
        given = {name: array(x) for name, x in zip(INPUTS, t)}
        if self.controls:
            given["controls"] = given.pop("u")
        return Call(self.scene, steps=self.steps, record=self.record, **given)


def _vmapped(function: Any, info: Any, in_dims: Any, plan: Plan, t: Any) -> Any:
    made = function.apply(plan, *(folded(x, axis, info.batch_size) for x, axis in zip(t, in_dims[1:])))
    return made, (0,) * len(made)


class AbutWorlds(torch.autograd.Function):
    """q, v, w, status, then what is kept, of a plan and INPUTS."""

    @staticmethod
    def forward(plan: Plan, *t: Any) -> Any:
        made = plan.call(t).step()
        kept = (made.q_record, made.v_record) if plan.record else ()
        return tensors_of([made.q, made.v, made.w, made.status.view("int32"), *kept])

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.plan = inputs[0]
        ctx.set_materialize_grads(False)
        ctx.mark_non_differentiable(output[2], output[3])
        ctx.save_for_backward(*inputs[1:], output[0], output[4] if ctx.plan.record else None)
        ctx.save_for_forward(*inputs[1:])

    @staticmethod
    def backward(ctx: Any, *bars: Any) -> Any:
        needed = dict(zip(INPUTS, ctx.needs_input_grad[1:]))
        wrt = tuple(name for name in SLOPES if needed[name])
        smooth = (*bars[:2], *(bars[4:] if ctx.plan.record else (None, None)))
        if not wrt or all(bar is None for bar in smooth):
            return (None,) * (1 + len(INPUTS))
        g = dict(zip(wrt, AbutWorldsVjp.apply(ctx.plan._replace(wrt=wrt), *ctx.saved_tensors, *smooth)))
        return (None, *(g.get(name) for name in INPUTS))

    @staticmethod
    def jvp(ctx: Any, _plan: Any, *along: Any) -> Any:
        given, count = dict(zip(INPUTS, along)), len(INPUTS)
        if given["springs"] is not None:
            raise NotImplementedError(NO_TANGENTS)
        tangents = [given[name] for name in SLOPES]
        if all(tangent is None for tangent in tangents):  # w alone has one; torch wants some of q and v
            tangents[1] = torch.zeros_like(ctx.saved_tensors[1])
        q, v, *kept = AbutWorldsJvp.apply(ctx.plan, *ctx.saved_tensors[:count], *tangents)
        return (q, v, None, None, *kept)

    @staticmethod
    def vmap(info: Any, in_dims: Any, plan: Plan, *t: Any) -> Any:
        return _vmapped(AbutWorlds, info, in_dims, plan, t)


class _First(torch.autograd.Function):
    """A first derivative."""

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, *bars: Any) -> Any:
        raise NotImplementedError("steps of worlds have first derivatives, and no second ones")

    @staticmethod
    def jvp(ctx: Any, *along: Any) -> Any:
        raise NotImplementedError("steps of worlds have first derivatives, and no second ones")


class AbutWorldsVjp(_First):
    """Gradients by what a plan names, of INPUTS, the step's q and q_record, and cotangents."""

    @staticmethod
    def forward(plan: Plan, *t: Any) -> Any:
        count = len(INPUTS)
        bars = {name: array(bar) for name, bar in zip(BARS, t[count + 2:])}
        made = plan.call(t[:count]).vjp(bars, plan.wrt, array(t[count]), array(t[count + 1]))
        return tensors_of([getattr(made, name) for name in plan.wrt])

    @staticmethod
    def vmap(info: Any, in_dims: Any, plan: Plan, *t: Any) -> Any:
        return _vmapped(AbutWorldsVjp, info, in_dims, plan, t)


class AbutWorldsJvp(_First):
    """Tangents of q, v and what is kept, of INPUTS and their tangents by SLOPES."""

    @staticmethod
    def forward(plan: Plan, *t: Any) -> Any:
        count = len(INPUTS)
        along = {name: array(tangent) for name, tangent in zip(SLOPES, t[count:])}
        want = BARS[:4 if plan.record else 2]
        made = plan.call(t[:count]).jvp(along, want)
        return tensors_of([getattr(made, name) for name in want])

    @staticmethod
    def vmap(info: Any, in_dims: Any, plan: Plan, *t: Any) -> Any:
        return _vmapped(AbutWorldsJvp, info, in_dims, plan, t)


# torch asks for it in every call.
for _function in (AbutWorlds, AbutWorldsVjp, AbutWorldsJvp):
    _function.forward.__signature__ = inspect.signature(_function.forward)  # type: ignore[attr-defined]


def _tensor(value: Any, wanted: torch.dtype, name: str) -> Tensor:
    """A tensor of the CPU and of the context's precision, never converted; plain numbers are."""
    if not isinstance(value, Tensor):
        return torch.as_tensor(value, dtype=wanted)
    if value.dtype != wanted:
        raise ValueError(f"{name} is {value.dtype}, and the context computes in {wanted}: convert it, or "
                         "open a context of that precision")
    if value.device.type != "cpu" or value.layout != torch.strided:
        raise ValueError(f"{name} is on {value.device}, {value.layout}: a dense tensor on the cpu is "
                         "needed")
    return value


def _batch(scene: Scene, plan: Plan, given: dict[str, Any]) -> list[Tensor | None]:
    """INPUTS, of the same leading axes."""
    wanted = DTYPES[scene.context.precision]
    t = {name: _tensor(x, wanted, name) for name, x in given.items() if x is not None}
    tails: dict[str, tuple[int, ...]] = {
        "q": (scene.nq,), "v": (scene.nv,), "w": (scene.nv,), "mass_scale": (scene.links,),
        "friction": (scene.parameters,), "stiffness": (scene.parameters,), "gravity": (3,),
        "springs": (scene.pairs, SPRING_WIDTH),
        "u": (plan.steps, scene.nu) if plan.controls else (scene.nu,)}
    leads = []
    for name, x in t.items():
        count = x.ndim - len(tails[name])
        if count < 0 or tuple(x.shape[count:]) != tails[name]:
            tail = ", ".join(["...", *map(str, tails[name])])
            raise ValueError(f"{name} has shape {tuple(x.shape)}, not ({tail})")
        leads.append(x.shape[:count])
    try:
        lead = torch.broadcast_shapes(*leads)
    except RuntimeError:
        shapes = ", ".join(f"{name} {tuple(x.shape)}" for name, x in t.items())
        raise ValueError(f"shapes are not of one batch: {shapes}") from None
    return [t[name].expand(*lead, *tails[name]) if name in t else None for name in INPUTS]


@torch.compiler.disable
def step(scene: Scene, q: Any, v: Any, u: Any = None, *, controls: Any = None, w: Any = None,
         steps: int | None = None, record: int = 0, mass_scale: Any = None, friction: Any = None,
         stiffness: Any = None, gravity: Any = None, springs: Any = None) -> Step:
    """Worlds after `steps` steps, as abut.Scene.step has them, with the same words and tensors.

    Differentiable once, in both modes, by q, v, u or controls, mass_scale, friction, stiffness and
    gravity, in reverse mode also by springs; w, in and out, counts as constant. Derivatives of and by q are by its numbers; of a
    quaternion's tangent and gradient only what is orthogonal to it. torch.func's transformations work,
    second derivatives do not, and a program of torch.compile goes around it. Errors: ValueError for shapes, dtypes and devices; abut.Error.
    """
    if u is not None and controls is not None:
        raise ValueError("u is held over all steps, controls has those of each: one of them")
    count = count_of("steps", steps, 1)
    if controls is not None and steps is None:
        controls = _tensor(controls, DTYPES[scene.context.precision], "controls")
        count = controls.shape[-2] if controls.ndim > 1 else 1
    plan = Plan(scene, count, count_of("record", record, 0), controls is not None)
    given = {"q": q, "v": v, "w": w, "u": u if controls is None else controls, "mass_scale": mass_scale,
             "friction": friction, "stiffness": stiffness, "gravity": gravity, "springs": springs}
    return Step(*AbutWorlds.apply(plan, *_batch(scene, plan, given)))


def rollout(scene: Scene, q: Any, v: Any, controls: Any = None, *, steps: int | None = None,
            record: int = 1, **options: Any) -> Step:
    """Many steps as one function, whose derivative keeps few states and makes the others anew.

    controls  (..., steps, nu), those of every step; or `u` among the options, held over `steps`
    record    keep every so many steps' state in q_record (..., K, nq) and v_record (..., K, nv)
    options   as of step
    """
    return step(scene, q, v, controls=controls, steps=steps, record=record, **options)
