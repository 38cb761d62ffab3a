"""Contacts of pyopencl arrays that stay on a device, of the queue that the context was opened with.

    queue = pyopencl.CommandQueue(pyopencl.create_some_context())
    context = abut.Context(queue=queue)
    abut.opencl.contacts(context.pair(a, b), pose1, pose2, out={"d": d})

Arrays are pyopencl.array.Array, contiguous, of the context's precision, (N, ...). Kernels read and write them in place.
Commands are in order with the queue's others; a call returns when its own commands are done.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyopencl.array as cla

from abut._arrays import Rows, by_position, check_names
from abut._calls import ALL_OUTPUTS, OUTPUTS, REDUCTIONS, SAME, Contacts, Reduction, contact_shape, named
from abut._context import Context, warn_of_failures
from abut._native import check, ffi, lib
from abut._pair import Pair
from abut._world_calls import Call, Step
from abut._worlds import Scene

__all__ = ["contacts", "jvp", "reduce", "step", "vjp"]


def _place(context: Context, array: Any, shape: tuple[int, ...], name: str) -> Any:
    """Returns an array's cl_mem. The array must be the whole cl_mem from its beginning."""
    if not isinstance(array, cla.Array):
        raise ValueError(f"{name} is a {type(array).__name__}, not a pyopencl array")
    if array.shape != shape or array.dtype != context.dtype:
        raise ValueError(f"{name} has shape {array.shape} of {array.dtype.name}, not {shape} of "
                         f"{context.dtype.name}")
    if not array.flags.c_contiguous or array.offset:
        raise ValueError(f"{name} is not contiguous, or does not begin at the start of its memory")
    if array.queue is not None and array.queue != context._queue:
        raise ValueError(f"{name} belongs to another queue than the context: finish that queue, and get "
                         "the array by with_queue")
    memory: Any = array.base_data
    return ffi.cast("void *", memory.int_ptr) if array.size else ffi.NULL


class _Batch:
    def __init__(self, pair: Pair, pose1: Any, pose2: Any) -> None:
        self.pair, self.queue = pair, pair.context._queue
        if self.queue is None:
            raise ValueError("the pair's context was opened without a queue: abut.Context(queue=...)")
        for name, pose in (("pose1", pose1), ("pose2", pose2)):
            if not isinstance(pose, cla.Array) or pose.ndim != 2 or pose.shape[1] not in (6, 7):
                raise ValueError(f"{name} is not a pyopencl array of shape (N, 6) or (N, 7)")
        if pose1.shape != pose2.shape:
            raise ValueError(f"pose1 has shape {pose1.shape} and pose2 {pose2.shape}")
        self.count, self.width = pose1.shape
        self.batch = ffi.new("abut_batch *")
        null = ffi.NULL
        lib.abutpy_set_batch(self.batch, self.count, self.width - 6,
                             self.place(pose1, pose1.shape, "pose1"),
                             self.place(pose2, pose2.shape, "pose2"), null, null, null, null, null)
        self.batch.memory = lib.ABUT_MEMORY_OPENCL

    def place(self, array: Any, shape: tuple[int, ...], name: str) -> Any:
        return _place(self.pair.context, array, shape, name)

    def new(self, shape: tuple[int, ...]) -> Any:
        return cla.empty(self.queue, shape, self.pair.dtype)

    def output(self, name: str, out: Mapping[str, Any]) -> tuple[Any, Any]:
        shape = (self.count, *contact_shape(name, self.pair.C))
        array = out[name] if name in out else self.new(shape)
        return array, self.place(array, shape, f"out[{name!r}]")

    def inputs(self, kind: str, given: Mapping[str, Any], shape_of: Any) -> Any:
        struct = ffi.new(kind)
        for name, array in given.items():
            if array is not None:
                setattr(struct, name, self.place(array, (self.count, *shape_of(name)), name))
        return struct

    def gradients(self) -> tuple[Any, Any, Any]:
        shape = (self.count, self.width)
        g1, g2 = self.new(shape), self.new(shape)
        struct = ffi.new("abut_gradients *")
        struct.pose1, struct.pose2 = self.place(g1, shape, "g1"), self.place(g2, shape, "g2")
        return g1, g2, struct

    def done(self, status: int) -> None:
        check(status)
        warn_of_failures(self.pair.context, self.batch.failures)


@by_position
def contacts(pair: Pair, pose1: Any, pose2: Any, *, want: Sequence[str] | None = None,
             out: Mapping[str, Any] | None = None) -> Contacts:
    """Computes all contacts of every pose, as abut.contacts.

    want  None: the outputs that `out` names, or all without `out`
    out   arrays to write into, by name
    status is a NumPy array.
    """
    given = dict(out or {})
    want = tuple(want) if want is not None else tuple(given) or OUTPUTS
    check_names(want, ALL_OUTPUTS, "want")
    check_names(given, want, "out")
    b = _Batch(pair, pose1, pose2)
    made = {}
    for name in want:
        made[name], place = b.output(name, given)
        setattr(b.batch, name, place)
    status = np.empty(b.count, np.uint8)
    b.batch.status = ffi.from_buffer("uint8_t[]", status) if b.count else ffi.NULL
    b.done(lib.abut_contacts(pair.handle, b.batch))
    return Contacts(**made, status=status)


@by_position
def reduce(pair: Pair, pose1: Any, pose2: Any, kind: str) -> Reduction:
    """Computes a reduction with its gradients. The value is a NumPy array; the gradients stay on the device."""
    if kind not in REDUCTIONS:
        raise ValueError(f"a reduction {kind!r} is not among {', '.join(REDUCTIONS)}")
    b = _Batch(pair, pose1, pose2)
    value = np.empty(b.count, pair.dtype)
    setattr(b.batch.reductions, kind, ffi.from_buffer(value) if b.count else ffi.NULL)
    g1, g2, gradients = b.gradients()
    b.done(lib.abut_gradient(pair.handle, SAME, b.batch, REDUCTIONS[kind], gradients))
    return Reduction(value, g1, g2)


@by_position
def vjp(pair: Pair, pose1: Any, pose2: Any, **cotangents: Any) -> tuple[Any, Any]:
    """Computes gradients (N, P) of the sum of all outputs times their cotangents, as abut.vjp."""
    named(cotangents)
    b = _Batch(pair, pose1, pose2)
    bars = b.inputs("abut_cotangents *", cotangents,
                    lambda name: contact_shape(name, pair.C))
    g1, g2, gradients = b.gradients()
    b.done(lib.abut_vjp(pair.handle, SAME, b.batch, bars, gradients))
    return g1, g2


@by_position
def jvp(pair: Pair, pose1: Any, pose2: Any, *, tangent1: Any = None, tangent2: Any = None,
        want: Sequence[str] = OUTPUTS) -> Contacts:
    """Computes derivatives of the contacts along tangents (N, P) of the poses."""
    check_names(want, ALL_OUTPUTS, "want")
    if tangent1 is None and tangent2 is None:
        raise ValueError("give tangent1, tangent2 or both")
    b = _Batch(pair, pose1, pose2)
    along = b.inputs("abut_pose_tangents *", {"pose1": tangent1, "pose2": tangent2},
                     lambda name: (b.width,))
    made, struct = {}, ffi.new("abut_tangents *")
    for name in want:
        made[name], place = b.output(name, {})
        setattr(struct, name, place)
    b.done(lib.abut_jvp(pair.handle, SAME, b.batch, along, struct))
    return Contacts(**made)


class _Worlds(Call):
    """A batch of worlds with pyopencl arrays."""

    def _read(self, inputs: Mapping[str, tuple[Any, tuple[int, ...]]]) -> dict[str, Any]:
        context, q = self.scene.context, inputs["q"][0]
        if context._queue is None:
            raise ValueError("the scene's context was opened without a queue: abut.Context(queue=...)")
        if not isinstance(q, cla.Array) or q.ndim != 2:
            raise ValueError(f"q is not a pyopencl array of shape (N, {self.scene.nq})")
        self.rows = Rows(self.dtype, (q.shape[0],))
        for name, (array, tail) in inputs.items():
            _place(context, array, (q.shape[0], *tail), name)
        self.worlds.memory = lib.ABUT_MEMORY_OPENCL
        return {name: array for name, (array, _) in inputs.items()}

    def place(self, array: Any) -> Any:
        self.kept.append(array)
        return ffi.NULL if array is None else _place(self.scene.context, array, array.shape, "array")

    def new(self, tail: tuple[int, ...], dtype: Any = None) -> Any:
        return cla.empty(self.scene.context._queue, (*self.rows.lead, *tail), self.dtype)


def step(scene: Scene, q: Any, v: Any, u: Any = None, *, controls: Any = None, w: Any = None,
         steps: int | None = None, record: int = 0, mass_scale: Any = None, friction: Any = None,
         stiffness: Any = None, gravity: Any = None, springs: Any = None, want: Sequence[str] = ()) -> Step:
    """Steps worlds `steps` times, as abut.Scene.step, with arrays (N, ...), which are not broadcast.

    status and iterations are NumPy arrays. A mass matrix has only its lower triangle, and zeros above.
    """
    return _Worlds(scene, q, v, u, controls, steps, record, w=w, mass_scale=mass_scale,
                   friction=friction, stiffness=stiffness, gravity=gravity, springs=springs).step(want)
