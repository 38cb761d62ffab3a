"""What abut.torch calls: primitives with their derivatives, eager and in compiled programs.

A primitive runs on tensors (index, pose1, pose2, more ...) of one batch and says how cotangents go
back through it and tangents through it, by other primitives. Of each are made
- a torch.autograd.Function, for eager torch and torch.func;
- an operator abut::NAME, for torch.compile and torch.export, which refuse Functions with a forward
  mode. It knows pairs by their numbers.
In a Function's backward and jvp tensors may be torch.func's, which have no data: there nothing but
other primitives and torch's own functions may be called; in jvp not even the latter, for torch
turns their forward mode off there, so that a jvp of a jvp would be zero.
"""
from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import torch
from torch import Tensor

from abut import _calls
from abut._calls import ALL_OUTPUTS, REDUCTIONS, contact_shape
from abut._pair import Pair, pair_of
from abut._torch_arrays import POOL, array, check_poses, tensors_of

Tensors = Sequence[Any]  # each a tensor or None
NO_SLOPES = (None,) * len(ALL_OUTPUTS)


class Plan:
    """What is fixed in a call; to torch a leaf.

    pair   a Pair, or a tuple of pairs, of which index tells; numbers in a compiled program
    what   the outputs wanted, joined by commas, or the reduction, with ",nearest" where the least
           distance is wanted too
    """

    __slots__ = ("compiled", "pair", "what")

    def __init__(self, pair: Any, what: str, compiled: bool = False) -> None:
        self.pair, self.what, self.compiled = pair, what, compiled

    def of(self, what: str) -> Plan:
        return Plan(self.pair, what, self.compiled)

    @property
    def pairs(self) -> tuple[Pair, ...]:
        return (self.pair,) if isinstance(self.pair, Pair) else self.pair

    @property
    def reduction(self) -> str:
        return self.what.partition(",")[0]

    @property
    def nearest(self) -> bool:
        return "," in self.what

    @property
    def want(self) -> tuple[str, ...]:
        return tuple(self.what.split(",")) if self.what else ()


def bars_of(plan: Plan, given: Tensors) -> list[Tensor | None]:
    """Of all outputs, those that are wanted have these."""
    named = dict(zip(plan.want, given))
    return [named.get(name) for name in ALL_OUTPUTS]


def some(tensors: Tensors) -> bool:
    return any(t is not None for t in tensors)


def total(*terms: Tensor | None) -> Tensor | None:
    given = [t for t in terms if t is not None]
    return sum(given[1:], given[0]) if given else None


def refuse(what: str) -> NoReturn:
    raise NotImplementedError(f"abut has no {what}")


class Primitive:
    """One function of tensors.

    name      what its operator is called
    inputs    its tensors' names, behind index, pose1 and pose2
    keeps     whether derivatives need its outputs
    """

    name: str
    inputs: tuple[str, ...] = ()
    keeps = False

    def run(self, plan: Plan, *t: Any) -> tuple[Tensor, ...]:
        """Its outputs, of tensors with data."""
        raise NotImplementedError

    def outputs(self, plan: Plan, *t: Any) -> tuple[Tensor, ...]:
        """The same; of no poses none are asked for."""
        return self.run(plan, *t) if t[1].numel() else tuple(self.empty(plan, t[1]))

    def shapes_of(self, plan: Plan, pose: Tensor) -> list[tuple[int, ...]]:
        return self.shapes(plan, tuple(pose.shape[:-1]), pose.shape[-1],
                           max(pair.C for pair in plan.pairs))

    def empty(self, plan: Plan, pose: Tensor) -> list[Tensor]:
        """Outputs that are yet to be computed."""
        out = [pose.new_empty(shape) for shape in self.shapes_of(plan, pose)]
        if self.name == "contacts":
            out[-1] = out[-1].to(torch.uint8)
        return out

    def shapes(self, plan: Plan, lead: tuple[int, ...], width: int,
               count: int) -> list[tuple[int, ...]]:
        """The outputs' shapes, of `count` contacts a pose."""
        return [(*lead, width), (*lead, width)]

    def backward(self, plan: Plan, needs: Sequence[bool], t: Tensors, out: Tensors,
                 bars: Tensors) -> Tensors:
        """Cotangents of pose1, pose2, more ...; needs tells which are of use."""
        raise NotImplementedError

    def jvp(self, plan: Plan, t: Tensors, out: Tensors, along: Tensors) -> Tensors:
        """Tangents of the outputs, along those of pose1, pose2, more ...; by primitives alone."""
        raise NotImplementedError

    def __init__(self) -> None:
        self.function = make_function(self)
        self.operator = make_operator(self)

    def __call__(self, plan: Plan, *t: Any) -> tuple[Tensor, ...]:
        if plan.compiled:
            return tuple(self.operator(plan.pair, plan.what, *t))
        made: tuple[Tensor, ...] = self.function.apply(plan, *t)
        return made


class Contacts(Primitive):
    """The wanted outputs, then status."""

    name = "contacts"

    def run(self, plan: Plan, *t: Any) -> tuple[Tensor, ...]:
        dtype, shapes = plan.pairs[0].context.dtype, self.shapes_of(plan, t[1])
        out = {name: POOL.take(shape, dtype) for name, shape in zip(plan.want, shapes)}
        c = _calls.contacts(plan.pair, array(t[1]), array(t[2]), want=plan.want, out=out,
                            index=array(t[0]))
        return tensors_of([*(getattr(c, name) for name in plan.want), c.status])

    def shapes(self, plan: Plan, lead: tuple[int, ...], width: int,
               count: int) -> list[tuple[int, ...]]:
        return [*((*lead, *contact_shape(name, count)) for name in plan.want), lead]

    def backward(self, plan: Plan, needs: Sequence[bool], t: Tensors, out: Tensors,
                 bars: Tensors) -> Tensors:
        bars = bars_of(plan, bars)
        return VJP(plan, *t, *bars) if some(bars) else (None, None)

    def jvp(self, plan: Plan, t: Tensors, out: Tensors, along: Tensors) -> Tensors:
        return (*(JVP(plan, *t, *along) if plan.what and some(along) else [None] * len(plan.want)),
                None)


class Vjp(Primitive):
    """Gradients of the sum of all outputs times their cotangents."""

    name = "vjp"
    inputs = tuple(f"{name}_bar" for name in ALL_OUTPUTS)

    def run(self, plan: Plan, *t: Any) -> tuple[Tensor, ...]:
        bars = {name: array(bar) for name, bar in zip(ALL_OUTPUTS, t[3:])}
        return tensors_of(_calls.vjp(plan.pair, array(t[1]), array(t[2]), index=array(t[0]),
                                     **bars))

    # With b the cotangents and J the Jacobian, J^T b is linear in b: back go J u, and the Hessian
    # of b's sum times u, which is symmetric.
    def backward(self, plan: Plan, needs: Sequence[bool], t: Tensors, out: Tensors,
                 bars: Tensors) -> Tensors:
        if not some(bars):
            return [None] * (2 + len(ALL_OUTPUTS))
        poses: Tensors = (None, None)
        if needs[0] or needs[1]:
            poses = VJP_TANGENT(plan, *t[:3], *bars, *t[3:], *NO_SLOPES)
        wanted = plan.of(",".join(name for name, need in zip(ALL_OUTPUTS, needs[2:]) if need))
        slopes = JVP(wanted, *t[:3], *bars) if wanted.what else ()
        return (*poses, *bars_of(wanted, slopes))

    def jvp(self, plan: Plan, t: Tensors, out: Tensors, along: Tensors) -> Tensors:
        if some(along[:2]):
            return VJP_TANGENT(plan, *t[:3], *along[:2], *t[3:], *along[2:])
        return VJP(plan, *t[:3], *along[2:]) if some(along) else (None, None)


class Jvp(Primitive):
    """The wanted outputs' derivatives along tangents of the poses."""

    name = "jvp"
    inputs = ("tangent1", "tangent2")

    def run(self, plan: Plan, *t: Any) -> tuple[Tensor, ...]:
        c = _calls.jvp(plan.pair, array(t[1]), array(t[2]), index=array(t[0]), want=plan.want,
                       tangent1=array(t[3]), tangent2=array(t[4]))
        return tensors_of([getattr(c, name) for name in plan.want])

    def shapes(self, plan: Plan, lead: tuple[int, ...], width: int,
               count: int) -> list[tuple[int, ...]]:
        return [(*lead, *contact_shape(name, count)) for name in plan.want]

    def backward(self, plan: Plan, needs: Sequence[bool], t: Tensors, out: Tensors,
                 bars: Tensors) -> Tensors:
        if not some(bars):
            return [None] * 4
        bars = bars_of(plan, bars)
        poses: Tensors = (None, None)
        if needs[0] or needs[1]:
            poses = VJP_TANGENT(plan, *t, *bars, *NO_SLOPES)
        return (*poses, *(VJP(plan, *t[:3], *bars) if needs[2] or needs[3] else (None, None)))

    def jvp(self, plan: Plan, t: Tensors, out: Tensors, along: Tensors) -> Tensors:
        if some(along[:2]):
            refuse("second derivatives of contacts by forward mode twice: take jacfwd of jacrev, "
                   "or reduce, which has them")
        return JVP(plan, *t[:3], *along[2:]) if some(along) else [None] * len(plan.want)


class VjpTangent(Primitive):
    """The derivative of Vjp's answer along tangents of the poses and of the cotangents."""

    name = "vjp_tangent"
    inputs = ("tangent1", "tangent2", *Vjp.inputs, *(f"{name}_slope" for name in ALL_OUTPUTS))

    def run(self, plan: Plan, *t: Any) -> tuple[Tensor, ...]:
        bars = {name: array(bar) for name, bar in zip(ALL_OUTPUTS, t[5:])}
        slopes = {f"{name}_tangent": array(slope) for name, slope in zip(ALL_OUTPUTS, t[5 + len(ALL_OUTPUTS):])}
        return tensors_of(_calls.vjp_tangent(
            plan.pair, array(t[1]), array(t[2]), tangent1=array(t[3]), tangent2=array(t[4]),
            index=array(t[0]), **bars, **slopes))

    def backward(self, plan: Plan, needs: Sequence[bool], t: Tensors, out: Tensors,
                 bars: Tensors) -> Tensors:
        refuse("third derivatives of contacts")

    def jvp(self, plan: Plan, t: Tensors, out: Tensors, along: Tensors) -> Tensors:
        refuse("third derivatives of contacts")


class Reduce(Primitive):
    """One number a pose; and the least distance, a constant to derivatives, where it is wanted."""

    name = "reduce"

    def run(self, plan: Plan, *t: Any) -> tuple[Tensor, ...]:
        r = _calls.reduce(plan.pair, array(t[1]), array(t[2]), plan.reduction,
                          nearest=plan.nearest, index=array(t[0]))
        return tensors_of([r.value, r.nearest] if plan.nearest else [r.value])

    def shapes(self, plan: Plan, lead: tuple[int, ...], width: int,
               count: int) -> list[tuple[int, ...]]:
        return [lead] * (1 + plan.nearest)

    # Where a gradient will be asked for it comes with the value, by one call.
    def __call__(self, plan: Plan, *t: Any) -> tuple[Tensor, ...]:
        if plan.reduction in REDUCTIONS and torch.is_grad_enabled() and (
                t[1].requires_grad or t[2].requires_grad):
            made = GRADIENT(plan, *t)
            return (made[0], *made[3:])
        return super().__call__(plan, *t)

    def backward(self, plan: Plan, needs: Sequence[bool], t: Tensors, out: Tensors,
                 bars: Tensors) -> Tensors:
        return times(bars[0], gradients(plan, t)) if some(bars) else (None, None)

    def jvp(self, plan: Plan, t: Tensors, out: Tensors, along: Tensors) -> Tensors:
        slope = dot(gradients(plan, t), along) if some(along) else None
        return (slope, None) if plan.nearest else (slope,)


def gradients(plan: Plan, t: Tensors) -> Tensors:
    if plan.reduction not in REDUCTIONS:
        refuse(f"derivatives of {plan.reduction}: soft_minimum has them")
    return GRADIENT(plan.of(plan.reduction), *t)[1:]


def times(bar: Tensor | None, slopes: Tensors) -> Tensors:
    return (None, None) if bar is None else [bar.unsqueeze(-1) * slope for slope in slopes]


def dot(slopes: Tensors, along: Tensors) -> Tensor:
    """Of each pose, the sum of both sides' products; without a tangent it is zero."""
    made: Tensor = Dot.apply(*(x for pair in zip(slopes, along) if pair[1] is not None
                               for x in pair))
    return made


class Dot(torch.autograd.Function):
    """The sum of products of pairs of arrays, along the last axis: a Function of its own, so that
    tangents of tangents pass it."""

    @staticmethod
    def forward(*t: Tensor) -> Tensor:
        return sum((a * b).sum(-1) for a, b in zip(t[::2], t[1::2]))  # type: ignore[return-value]

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx: Any, bar: Tensor | None) -> Any:
        t = ctx.saved_tensors
        others = [other for a, b in zip(t[::2], t[1::2]) for other in (b, a)]
        return tuple(times(bar, others)) if bar is not None else (None,) * len(t)

    @staticmethod
    def jvp(ctx: Any, *along: Tensor | None) -> Any:
        t = ctx.saved_tensors
        terms = [x for i, slope in enumerate(along) if slope is not None for x in (slope, t[i ^ 1])]
        return Dot.apply(*terms) if terms else None

    @staticmethod
    def vmap(info: Any, in_dims: Any, *t: Tensor) -> Any:
        return Dot.apply(*(folded(x, axis, info.batch_size) for x, axis in zip(t, in_dims))), 0


class Gradient(Primitive):
    """A reduction's value and its gradients by both poses; the least distance where it is wanted."""

    name = "gradient"
    keeps = True

    def run(self, plan: Plan, *t: Any) -> tuple[Tensor, ...]:
        r = _calls.reduce(plan.pair, array(t[1]), array(t[2]), plan.reduction, grad=True,
                          nearest=plan.nearest, index=array(t[0]))
        return tensors_of([r.value, r.grad1, r.grad2] + [r.nearest] * plan.nearest)

    def shapes(self, plan: Plan, lead: tuple[int, ...], width: int,
               count: int) -> list[tuple[int, ...]]:
        return [lead, (*lead, width), (*lead, width)] + [lead] * plan.nearest

    def backward(self, plan: Plan, needs: Sequence[bool], t: Tensors, out: Tensors,
                 bars: Tensors) -> Tensors:
        products = HVP(plan, *t, *bars[1:3]) if some(bars[1:3]) else (None, None)
        return [total(*terms) for terms in zip(times(bars[0], out[1:3]), products)]

    def jvp(self, plan: Plan, t: Tensors, out: Tensors, along: Tensors) -> Tensors:
        if not some(along):
            return [None] * (3 + plan.nearest)
        return (dot(out[1:3], along), *HVP(plan, *t, *along), *[None] * plan.nearest)


class Hvp(Primitive):
    """A reduction's Hessian times tangents of the poses."""

    name = "hvp"
    inputs = ("tangent1", "tangent2")

    def run(self, plan: Plan, *t: Any) -> tuple[Tensor, ...]:
        return tensors_of(_calls.hvp(plan.pair, array(t[1]), array(t[2]), plan.reduction,
                                     tangent1=array(t[3]), tangent2=array(t[4]), index=array(t[0])))

    # The Hessian is symmetric.
    def backward(self, plan: Plan, needs: Sequence[bool], t: Tensors, out: Tensors,
                 bars: Tensors) -> Tensors:
        if not some(bars):
            return [None] * 4
        if needs[0] or needs[1]:
            refuse("third derivatives of reductions")
        return (None, None, *HVP(plan, *t[:3], *bars))

    def jvp(self, plan: Plan, t: Tensors, out: Tensors, along: Tensors) -> Tensors:
        if some(along[:2]):
            refuse("third derivatives of reductions")
        return HVP(plan, *t[:3], *along[2:]) if some(along) else (None, None)


# ---- torch.autograd.Function ----


def folded(tensor: Any, axis: int | None, size: int) -> Any:
    """A vmap's axis as the first one; where there is none the tensor is the same for all."""
    if tensor is None:
        return None
    if axis is None:
        return tensor.unsqueeze(0).expand(size, *tensor.shape)
    return tensor.movedim(axis, 0)


def back(primitive: Primitive, ctx: Any, needs: Sequence[bool], bars: Tensors) -> Tensors:
    """Cotangents of pose1, pose2, more ..., where they are of use."""
    kept, count = ctx.saved_tensors, 3 + len(primitive.inputs)
    made = primitive.backward(ctx.plan, needs, kept[:count], kept[count:], bars)
    return [bar if need else None for bar, need in zip(made, needs)]


def make_function(primitive: Primitive) -> Any:
    count = 3 + len(primitive.inputs)

    class Rules:
        @staticmethod
        def forward(plan: Plan, *t: Any) -> tuple[Tensor, ...]:
            return primitive.outputs(plan, *t)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.plan = inputs[0]
            ctx.set_materialize_grads(False)
            # Not the value itself, which a caller may change in its place.
            kept = (*inputs[1:], None, *output[1:3]) if primitive.keeps else inputs[1:]
            ctx.save_for_backward(*kept)
            ctx.save_for_forward(*kept)
            if primitive.name == "contacts" or (
                    primitive.name in ("reduce", "gradient") and ctx.plan.nearest):
                ctx.mark_non_differentiable(output[-1])

        @staticmethod
        def backward(ctx: Any, *bars: Tensor | None) -> Any:
            return (None, None, *back(primitive, ctx, ctx.needs_input_grad[2:], bars))

        @staticmethod
        def jvp(ctx: Any, _plan: Any, _index: Any, *along: Tensor | None) -> Any:
            kept = ctx.saved_tensors
            return tuple(primitive.jvp(ctx.plan, kept[:count], kept[count:], along))

        @staticmethod
        def vmap(info: Any, in_dims: Any, plan: Plan, *t: Any) -> Any:
            out = primitive(plan, *(folded(x, axis, info.batch_size)
                                    for x, axis in zip(t, in_dims[1:])))
            return out, (0,) * len(out)

    # torch asks for it in every call.
    Rules.forward.__signature__ = inspect.signature(Rules.forward)  # type: ignore[attr-defined]
    # In a graph its node is AbutContactsBackward, and so on.
    return type(f"Abut{type(primitive).__name__}", (torch.autograd.Function,),
                {name: rule for name, rule in vars(Rules).items() if not name.startswith("__")})


# ---- operators ----


def make_operator(primitive: Primitive) -> Callable[..., list[Tensor]]:
    more = "".join(f", Tensor? {name}" for name in primitive.inputs)

    def run(pairs: Sequence[int], what: str, *t: Any) -> list[Tensor]:
        listed = tuple(pair_of(number) for number in pairs)
        check_poses(listed, t[1], t[2])
        return list(primitive.outputs(Plan(listed[0] if t[0] is None else listed, what), *t))

    def fake(pairs: Sequence[int], what: str, *t: Any) -> list[Tensor]:
        listed = tuple(pair_of(number) for number in pairs)
        check_poses(listed, t[1], t[2])
        return primitive.empty(Plan(listed, what), t[1])

    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.plan = Plan(list(inputs[0]), inputs[1], True)
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*inputs[2:], *(output if primitive.keeps else ()))

    def backward(ctx: Any, bars: Tensors) -> Any:
        return (None, None, None, *back(primitive, ctx, ctx.needs_input_grad[3:], bars))

    def vmap(info: Any, in_dims: Any, pairs: Sequence[int], what: str, *t: Any) -> Any:
        out = operator(pairs, what, *(folded(x, axis, info.batch_size)
                                      for x, axis in zip(t, in_dims[2:])))
        return out, [0] * len(out)

    operator = torch.library.custom_op(
        f"abut::{primitive.name}", run, mutates_args=(), device_types="cpu",
        schema="(int[] pairs, str what, Tensor? index, Tensor pose1, Tensor pose2"
               f"{more}) -> Tensor[]")
    operator.register_fake(fake)
    operator.register_autograd(backward, setup_context=setup_context)
    if hasattr(operator, "register_vmap"):
        operator.register_vmap(vmap)
    return operator


CONTACTS, VJP, JVP, VJP_TANGENT = Contacts(), Vjp(), Jvp(), VjpTangent()
REDUCE, GRADIENT, HVP = Reduce(), Gradient(), Hvp()
