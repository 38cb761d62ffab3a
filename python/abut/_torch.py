"""The calls of abut's table for torch: in eager mode as Functions, and those of pairs as operators in compiled programs.

For each call there are:
- a torch.autograd.Function, for eager torch and torch.func;
- for contacts and reductions an operator abut::NAME, for torch.compile and torch.export, which refuse Functions with a forward
  mode. The operator refers to pairs by their numbers.

A rule defines how cotangents go back through a call, and tangents through it, by other calls. In a Function's backward and
jvp, tensors may belong to torch.func and have no data: only calls and torch's own functions may be used there. In jvp not even
torch's own functions may be used if there are second derivatives. torch turns their forward mode off there, so that a jvp of a
jvp would be zero.
"""
from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from abut._calls import ALL_OUTPUTS, REDUCTIONS
from abut._pair import pair_of
from abut._table import CALLS, COUNT, OfPairs, Plan, plan_of, refuse, renamed, run
from abut._torch_arrays import POOL, array, check_poses

Given = Mapping[str, Any]
Made = dict[str, Any]


class Numbered(NamedTuple):
    """The subject of a call in a compiled program: pairs by their numbers."""

    numbers: list[int]
    kind: str = ""


class Rule(NamedTuple):
    """Derivatives of a call, on mappings of names; missing names are zero.

    backward  cotangents of inputs that `needs` names, from the plan, the inputs, outputs that were kept, and cotangents
    jvp       tangents of outputs, from the plan, the inputs, outputs that were kept, and tangents
    """

    backward: Callable[[Plan, Given, Given, Given, Sequence[str]], Made]
    jvp: Callable[[Plan, Given, Given, Given], Made]


def ending(names: Iterable[str], end: str) -> list[str]:
    return [name + end for name in names]


def apply(call: str, subject: Any, given: Given, outputs: Iterable[str]) -> Made:
    """Returns the outputs of a call, with its own tensors among `given`."""
    there = [name for name, value in given.items() if value is not None]
    plan = plan_of(call, subject, there, outputs)
    if not plan.outputs:
        return {}
    if isinstance(subject, Numbered):
        return OPERATORS[call](plan, given)
    return dict(zip(plan.outputs, FUNCTIONS[call].apply(plan, *(given[name] for name in plan.inputs))))


def folded(tensor: Any, axis: int | None, size: int) -> Any:
    """Moves a vmap's axis to the front; without such an axis the tensor is the same for all."""
    if tensor is None:
        return None
    if axis is None:
        return tensor.unsqueeze(0).expand(size, *tensor.shape)
    return tensor.movedim(axis, 0)


# ---- torch.autograd.Function ----


def _tensor(call: str, numbers: Any) -> Tensor:
    """Returns a result as a tensor. Counts are signed, because not all of torch takes unsigned ones: bit fields keep their width,
    others get a wider type."""
    if numbers.dtype == np.uint32:
        numbers = numbers.view(np.int32) if call in ("steps", "forces") else numbers.astype(np.int64)
    return torch.from_numpy(numbers)


def compute(plan: Plan, t: Sequence[Any]) -> tuple[Tensor, ...]:
    """Computes the results of a call for tensors with data."""
    arrays = [array(x) for x in t]
    lead, inputs = plan.lead(arrays[0]), CALLS[plan.call].inputs
    arrays = [plan.subject.rows(name, given, lead) if inputs[name].type == COUNT else given
              for name, given in zip(plan.inputs, arrays)]
    return tuple(_tensor(plan.call, made) for made in run(plan, arrays, POOL.take))


def keep(ctx: Any, plan: Plan, inputs: Any, output: Any) -> list[Any]:
    """Stores the data that derivatives need, and returns it. Outputs are stored only as far as needed, because a caller may change
    them in place."""
    ctx.plan = plan
    ctx.set_materialize_grads(False)
    saved = [*inputs, *(value for name, value in zip(plan.outputs, output) if name in CALLS[plan.call].keeps)]
    ctx.save_for_backward(*saved)
    return saved


def kept(ctx: Any) -> tuple[Plan, Given, Given]:
    """Returns a plan, and its stored inputs and outputs."""
    plan: Plan = ctx.plan
    saved, count = ctx.saved_tensors, len(plan.inputs)
    names = [name for name in plan.outputs if name in CALLS[plan.call].keeps]
    return plan, dict(zip(plan.inputs, saved)), dict(zip(names, saved[count:]))


def back(rule: Rule, ctx: Any, needs: Sequence[bool], bars: Sequence[Any]) -> list[Any]:
    """Returns the cotangents of a plan's inputs that are needed."""
    plan, x, made = kept(ctx)
    given = {name: bar for name, bar in zip(plan.outputs, bars) if bar is not None}
    wanted = [name for name, need in zip(plan.inputs, needs) if need]
    found = rule.backward(plan, x, made, given, wanted) if given and wanted else {}
    return [found.get(name) if need else None for name, need in zip(plan.inputs, needs)]


def make(call: str, rule: Rule) -> None:
    """Makes the Function of a call."""
    def constant(plan: Plan) -> list[bool]:
        kind = getattr(plan.subject, "kind", "")
        return [name in CALLS[call].constant and name != kind for name in plan.outputs]

    class Rules:
        @staticmethod
        def forward(plan: Plan, *t: Any) -> tuple[Tensor, ...]:
            return compute(plan, t)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_forward(*keep(ctx, inputs[0], inputs[1:], output))
            ctx.mark_non_differentiable(*(t for t, fixed in zip(output, constant(inputs[0])) if fixed))

        @staticmethod
        def backward(ctx: Any, *bars: Tensor | None) -> Any:
            return (None, *back(rule, ctx, ctx.needs_input_grad[1:], bars))

        @staticmethod
        def jvp(ctx: Any, _plan: Any, *along: Tensor | None) -> Any:
            plan, x, made = kept(ctx)
            moved = {name: t for name, t in zip(plan.inputs, along) if t is not None}
            found = rule.jvp(plan, x, made, moved) if moved else {}
            return tuple(found.get(name) for name in plan.outputs)

        @staticmethod
        def vmap(info: Any, in_dims: Any, plan: Plan, *t: Any) -> Any:
            made = FUNCTIONS[call].apply(plan, *(folded(x, axis, info.batch_size) for x, axis in zip(t, in_dims[1:])))
            return made, (0,) * len(made)

    # torch inspects it in every call.
    Rules.forward.__signature__ = inspect.signature(Rules.forward)  # type: ignore[attr-defined]
    # The name of its graph node is then AbutContactsBackward, and so on.
    FUNCTIONS[call] = type("Abut" + call.title().replace("_", ""), (torch.autograd.Function,),
                           {name: part for name, part in vars(Rules).items() if not name.startswith("__")})


FUNCTIONS: dict[str, Any] = {}
OPERATORS: dict[str, Callable[[Plan, Given], Made]] = {}


# ---- first derivatives ----


def by_calls(vjp: str, jvp: str, prepared: Callable[[Plan, Given, Given], Given] | None = None) -> Rule:
    """Makes the rule of a call whose derivatives are the calls `vjp` and `jvp`; tangents are `prepared` for the latter."""
    def backward(plan: Plan, x: Given, made: Given, bars: Given, needs: Sequence[str]) -> Made:
        wanted = [name for name in ending(needs, "_gradient") if name in CALLS[vjp].outputs]
        return renamed(apply(vjp, plan.subject, {**x, **made, **renamed(bars, "", "_bar")}, wanted), "_gradient", "")

    def forward(plan: Plan, x: Given, made: Given, dx: Given) -> Made:
        along = prepared(plan, x, dx) if prepared else renamed(dx, "", "_tangent")
        wanted = [name for name in ending(plan.outputs, "_tangent") if name in CALLS[jvp].outputs]
        return renamed(apply(jvp, plan.subject, {**x, **made, **along}, wanted), "_tangent", "")

    return Rule(backward, forward)


def by_gradients(call: str) -> Rule:
    """Makes the rule of a call of continuous collision detection, from the gradients of toi by the call `call`."""
    def gradients(plan: Plan, x: Given, names: Iterable[str]) -> Made:
        wanted = [name for name in ending(names, "_gradient") if name in CALLS[call].outputs]
        return renamed(apply(call, plan.subject, x, wanted), "_gradient", "")

    def backward(plan: Plan, x: Given, made: Given, bars: Given, needs: Sequence[str]) -> Made:
        bar = bars["toi"]
        bar = bar.reshape(bar.shape + (1,) * plan.subject.axes)
        return {name: slope * bar for name, slope in gradients(plan, x, needs).items()}

    def forward(plan: Plan, x: Given, made: Given, dx: Given) -> Made:
        axes = tuple(range(-plan.subject.axes, 0))
        parts = [(slope * dx[name]).sum(axes) for name, slope in gradients(plan, x, dx).items()]
        if not parts:
            refuse("times of impact have derivatives only by x0 and x1, not by settings")
        return {"toi": sum(parts[1:], parts[0])}

    return Rule(backward, forward)


def no_more(text: str) -> Rule:
    """Makes the rule of a call whose derivatives are refused with that text."""
    return Rule(lambda *of: refuse(text), lambda *of: refuse(text))


# ---- contacts ----

POSES = ("pose1", "pose2")
HEAD = (*POSES, "index")


def _head(x: Given) -> Given:
    return {name: x[name] for name in HEAD if name in x}


def _poses(dx: Given) -> Made:
    """Returns tangents of poses for the calls along them."""
    return {name + "_tangent": dx[name] for name in POSES if name in dx}


# With cotangents b and Jacobian J, J^T b is linear in b. The backward pass returns J u, and the Hessian of b's sum times u,
# which is symmetric.
def _vjp_back(plan: Plan, x: Given, made: Given, bars: Given, needs: Sequence[str]) -> Made:
    along = renamed(bars, "_gradient", "_tangent")
    poses = apply("vjp_tangent", plan.subject, {**x, **along}, ending((name for name in needs if name in POSES), "_gradient"))
    slopes = apply("jvp", plan.subject, {**_head(x), **along}, [
        name[:-4] + "_tangent" for name in needs if name.endswith("_bar")])
    return {**renamed(poses, "_gradient", ""), **renamed(slopes, "_tangent", "_bar")}


def _vjp_along(plan: Plan, x: Given, made: Given, dx: Given) -> Made:
    along = _poses(dx)
    if along:
        return apply("vjp_tangent", plan.subject, {**x, **along, **renamed(dx, "_bar", "_slope")}, plan.outputs)
    return apply("vjp", plan.subject, {**_head(x), **dx}, plan.outputs)


def _jvp_back(plan: Plan, x: Given, made: Given, bars: Given, needs: Sequence[str]) -> Made:
    back = renamed(bars, "_tangent", "_bar")
    poses = apply("vjp_tangent", plan.subject, {**x, **back}, ending((name for name in needs if name in POSES), "_gradient"))
    along = apply("vjp", plan.subject, {**_head(x), **back}, [
        name[:-8] + "_gradient" for name in needs if name.endswith("_tangent")])
    return {**renamed(poses, "_gradient", ""), **renamed(along, "_gradient", "_tangent")}


def _jvp_along(plan: Plan, x: Given, made: Given, dx: Given) -> Made:
    if _poses(dx):
        refuse("abut has no second derivatives of contacts by forward mode over forward mode: use jacfwd of jacrev, "
               "or reduce, which has them")
    return apply("jvp", plan.subject, {**_head(x), **dx}, plan.outputs)


# ---- reductions ----


def _gradients(plan: Plan, x: Given, names: Iterable[str]) -> Made:
    kind = plan.subject.kind
    if kind not in REDUCTIONS:
        refuse(f"abut has no derivatives of {kind}: soft_minimum has them")
    return apply("gradient", plan.subject, x, (kind, *ending(POSES, "_gradient")))


def _times(bar: Tensor | None, made: Given, needs: Sequence[str]) -> Made:
    return {} if bar is None else {name: bar.unsqueeze(-1) * made[name + "_gradient"] for name in needs}


def _reduce_back(plan: Plan, x: Given, made: Given, bars: Given, needs: Sequence[str]) -> Made:
    return _times(bars[plan.subject.kind], _gradients(plan, x, needs), needs) if plan.subject.kind in bars else {}


def _reduce_along(plan: Plan, x: Given, made: Given, dx: Given) -> Made:
    return {plan.subject.kind: dot(_gradients(plan, x, dx), dx)}


def _gradient_back(plan: Plan, x: Given, made: Given, bars: Given, needs: Sequence[str]) -> Made:
    found, along = _times(bars.get(plan.subject.kind), made, needs), renamed(bars, "_gradient", "_tangent")
    products = apply("hessian_product", plan.subject, {**x, **along}, ending(needs, "_gradient")) if along else {}
    for name, product in renamed(products, "_gradient", "").items():
        found[name] = found[name] + product if name in found else product
    return found


def _gradient_along(plan: Plan, x: Given, made: Given, dx: Given) -> Made:
    products = apply("hessian_product", plan.subject, {**x, **_poses(dx)}, ending(POSES, "_gradient"))
    return {plan.subject.kind: dot(made, dx), **products}


# The Hessian is symmetric.
def _product_back(plan: Plan, x: Given, made: Given, bars: Given, needs: Sequence[str]) -> Made:
    if any(name in POSES for name in needs):
        refuse("abut has no third derivatives of reductions")
    along = apply("hessian_product", plan.subject, {**_head(x), **renamed(bars, "_gradient", "_tangent")}, [
        name[:-8] + "_gradient" for name in needs])
    return renamed(along, "_gradient", "_tangent")


def _product_along(plan: Plan, x: Given, made: Given, dx: Given) -> Made:
    if _poses(dx):
        refuse("abut has no third derivatives of reductions")
    return apply("hessian_product", plan.subject, {**_head(x), **dx}, plan.outputs)


def dot(gradients: Given, dx: Given) -> Tensor:
    """Returns for each pose the sum of the products of both sides; it is zero without a tangent."""
    made: Tensor = Dot.apply(*(x for name, tangent in dx.items() for x in (gradients[name + "_gradient"], tangent)))
    return made


class Dot(torch.autograd.Function):
    """The sum of products of pairs of arrays, along the last axis. It is a Function of its own, so that tangents of tangents pass
    through it."""

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
        return (None,) * len(t) if bar is None else tuple(bar.unsqueeze(-1) * other for other in others)

    @staticmethod
    def jvp(ctx: Any, *along: Tensor | None) -> Any:
        t = ctx.saved_tensors
        terms = [x for i, slope in enumerate(along) if slope is not None for x in (slope, t[i ^ 1])]
        return Dot.apply(*terms) if terms else None

    @staticmethod
    def vmap(info: Any, in_dims: Any, *t: Tensor) -> Any:
        return Dot.apply(*(folded(x, axis, info.batch_size) for x, axis in zip(t, in_dims))), 0


def reduced(subject: Any, given: Given, outputs: Sequence[str]) -> Made:
    """Computes one number for each pose and, if wanted, the smallest distance, which is constant for derivatives. If a gradient
    will be needed, one call computes it with the value."""
    if subject.kind in REDUCTIONS and torch.is_grad_enabled() and any(given[name].requires_grad for name in POSES):
        return apply("gradient", subject, given, (*outputs, *ending(POSES, "_gradient")))
    return apply("reduce", subject, given, outputs)


# ---- operators ----


def _what(plan: Plan) -> str:
    """Returns the fixed argument of an operator's call: the reduction, then "nearest" if the smallest distance is wanted, too; or
    the outputs, joined by commas."""
    if plan.subject.kind:
        return str(plan.subject.kind) + ",nearest" * ("minimum_distance" in plan.outputs[1:])
    names = (name[:-8] if plan.call == "jvp" else name for name in plan.outputs)
    return ",".join(name for name in names if name in ALL_OUTPUTS)


def _plan_of(call: str, subject: Callable[[str], Any], what: str, there: Sequence[bool]) -> Plan:
    """Returns the plan of an operator's call; subject is that of a reduction."""
    first, _, nearest = what.partition(",")
    poses = ending(POSES, "_gradient")
    outputs = {"contacts": [*what.split(","), "status"] if what else ["status"], "jvp": ending(what.split(","), "_tangent"),
               "reduce": [first] + ["minimum_distance"] * bool(nearest),
               "gradient": [first, *["minimum_distance"] * bool(nearest), *poses]}.get(call, poses)
    names = [name for name, is_there in zip(_operands(call), there) if is_there]
    return Plan(call, subject(first if call in ("reduce", "gradient", "hessian_product") else ""),
                tuple(names), tuple(outputs))


def _operands(call: str) -> list[str]:
    """Returns the tensors of an operator, which always include the poses."""
    return ["index", *(name for name in CALLS[call].inputs if name != "index")]


def make_operator(call: str, name: str, rule: Rule) -> None:
    names = _operands(call)

    def planned(numbers: Sequence[int], what: str, t: Sequence[Any]) -> tuple[Plan, list[Any]]:
        """Returns a plan of pairs, and its tensors in the table's order."""
        listed = tuple(pair_of(number) for number in numbers)
        check_poses(listed, t[1], t[2])
        there = {name: x for name, x in zip(names, t) if x is not None}
        plan = _plan_of(call, lambda kind: OfPairs(listed, "index" in there, t[1].shape[-1], kind), what, [
            x is not None for x in t])
        plan = plan_of(call, plan.subject, there, plan.outputs)
        return plan, [there[name] for name in plan.inputs]

    def compute_it(pairs: Sequence[int], what: str, *t: Any) -> list[Tensor]:
        return list(compute(*planned(pairs, what, t)))

    def fake(pairs: Sequence[int], what: str, *t: Any) -> list[Tensor]:
        plan, _ = planned(pairs, what, t)
        return [t[1].new_empty(shape, dtype=torch.uint8 if dtype == np.uint8 else None)
                for shape, dtype in plan.shapes(tuple(t[1].shape[:-1]))]

    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        there = [x is not None for x in inputs[2:]]
        plan = _plan_of(call, lambda kind: Numbered(list(inputs[0]), kind), inputs[1], there)
        keep(ctx, plan, [x for x in inputs[2:] if x is not None], output)
        ctx.there = there

    def backward(ctx: Any, bars: Sequence[Any]) -> Any:
        needs = [need for need, is_there in zip(ctx.needs_input_grad[2:], ctx.there) if is_there]
        found = iter(back(rule, ctx, needs, bars))
        return (None, None, *(next(found) if is_there else None for is_there in ctx.there))

    def vmap(info: Any, in_dims: Any, pairs: Sequence[int], what: str, *t: Any) -> Any:
        out = operator(pairs, what, *(folded(x, axis, info.batch_size)
                                      for x, axis in zip(t, in_dims[2:])))
        return out, [0] * len(out)

    def called(plan: Plan, given: Given) -> Made:
        """Returns the wanted outputs of the operator, by names."""
        there = [given.get(name) is not None for name in names]
        whole = _plan_of(call, lambda kind: plan.subject, _what(plan), there)
        made = dict(zip(whole.outputs, operator(plan.subject.numbers, _what(plan), *(given.get(name) for name in names))))
        return {name: made[name] for name in plan.outputs}

    tensors = "".join(f", Tensor{'' if operand in POSES else '?'} {operand}" for operand in names)
    operator = torch.library.custom_op(f"abut::{name}", compute_it, mutates_args=(), device_types="cpu",
                                       schema=f"(int[] pairs, str what{tensors}) -> Tensor[]")
    operator.register_fake(fake)
    operator.register_autograd(backward, setup_context=setup_context)
    if hasattr(operator, "register_vmap"):
        operator.register_vmap(vmap)
    OPERATORS[call] = called


for _call, _name, _rule in (
        ("contacts", "contacts", by_calls("vjp", "jvp")),
        ("vjp", "vjp", Rule(_vjp_back, _vjp_along)),
        ("jvp", "jvp", Rule(_jvp_back, _jvp_along)),
        ("vjp_tangent", "vjp_tangent", no_more("abut has no third derivatives of contacts")),
        ("reduce", "reduce", Rule(_reduce_back, _reduce_along)),
        ("gradient", "gradient", Rule(_gradient_back, _gradient_along)),
        ("hessian_product", "hvp", Rule(_product_back, _product_along))):
    make(_call, _rule)
    make_operator(_call, _name, _rule)
