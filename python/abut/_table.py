"""The table of the calls that frameworks of arrays differentiate, and how a call is done.

Each call has a C function (python/calls.h), arrays that it is given and arrays that it gives: their names, where their
addresses lie in the function's record, their shapes behind the leading axes of the batch and their types. Names say what
belongs together: of an input `x` that has derivatives x_tangent and x_gradient, of an output `y` y_tangent and y_bar, its
cotangent. A call is linear in its inputs whose names have one of the endings `linear`. torch's Functions, JAX's
primitives and the places of arrays in calls by XLA are all made of this table.
"""
from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from abut import _ccd, _closest
from abut._arrays import Shape
from abut._calls import ALL_OUTPUTS, REDUCTIONS, SAME, TAILS, VALUES, pair_rows
from abut._ccd import BATCH_SETTINGS, LOW, MANY, POSES, QUERY_SETTINGS, ROW_SETTINGS, VERTICES
from abut._ccd_mesh import CcdMesh
from abut._closest import METHODS, SETTINGS, SMOOTHING, TWISTS, set_members, shape_rows, smoothing_of
from abut._context import Context, warn_of_failures
from abut._native import GO_ON, check, ffi, lib
from abut._pair import Pair
from abut._world_calls import PARAMETERS, SPRING_WIDTH, warn_of_status
from abut._world_calls import BARS as WORLD_BARS
from abut._world_calls import SLOPES as WORLD_SLOPES
from abut._worlds import Scene

Arrays = np.ndarray[Any, Any]
Settings = tuple[tuple[str, Any], ...]

TYPES = (None, np.dtype(np.uint8), np.dtype(np.int32), np.dtype(np.uint32))  # as python/xla.c has them
REAL, BYTE, WHOLE, COUNT = range(4)  # REAL is the context's


class Array(NamedTuple):
    """An array of a call.

    place  where in the record its address goes
    tail   its shape behind the leading axes, as the subject's `tails` name it
    type   of TYPES
    """

    place: str
    tail: str = "number"
    type: int = REAL


# ---- what calls are of ----


@dataclasses.dataclass(frozen=True)
class Subject:
    """What is fixed in a call beside its arrays: owners of handles, and settings."""

    record_type: ClassVar[str]
    axes: ClassVar[int] = 1  # of the first input, which are an entry's own
    handles_at: ClassVar[str] = ""  # where in the record the address of a list of handles goes

    @property
    def context(self) -> Context:
        raise NotImplementedError

    @property
    def tails(self) -> dict[str, Shape]:
        raise NotImplementedError

    def fill(self, record: Any) -> None:
        """Puts all but arrays into a record of zeros."""
        raise NotImplementedError

    def handles(self) -> Any:
        """A C array of handles, where the record has a list of them."""
        return None

    def rows(self, name: str, array: Arrays, lead: Shape) -> Arrays:
        """Rows of a list, which a caller has given by whole numbers."""
        raise NotImplementedError

    def gives(self, names: Iterable[str]) -> list[str]:
        """Those among a call's outputs that there are."""
        return list(names)

    def record(self) -> Any:
        made = ffi.new(self.record_type + " *")
        self.fill(made)
        return made


@dataclasses.dataclass(frozen=True)
class OfPairs(Subject):
    """Contacts of pairs at poses of `width` numbers; reduced to the number `kind` in calls that reduce."""

    pairs: tuple[Pair, ...]
    indexed: bool
    width: int
    kind: str = ""

    record_type = "abutpy_contacts_record"
    handles_at = "batch.pairs"

    @property
    def context(self) -> Context:
        return self.pairs[0].context

    @property
    def tails(self) -> dict[str, Shape]:
        slots = max([pair.C for pair in self.pairs])
        return {"number": (), "pose": (self.width,), "slots": (slots,), "vectors": (slots, 3)}

    def fill(self, record: Any) -> None:
        record.slots = max([pair.C for pair in self.pairs])
        record.batch = lib.abut_default_batch()
        record.batch.poses = self.width - 6
        record.pair = SAME if self.indexed else self.pairs[0].handle
        record.batch.pair_count = len(self.pairs) if self.indexed else 0
        record.reduction = REDUCTIONS.get(self.kind, 0)

    def handles(self) -> Any:
        return ffi.new("abut_pair[]", [pair.handle for pair in self.pairs]) if self.indexed else None

    def rows(self, name: str, array: Arrays, lead: Shape) -> Arrays:
        return pair_rows(array, lead, len(self.pairs))


@dataclasses.dataclass(frozen=True)
class OfShapes(Subject):
    """Closest points of convex shapes; `first` of them are those of shape 1 where rows are given."""

    shapes: tuple[_closest.Shape, ...]
    first: int
    width: int
    settings: Settings
    smoothing: Settings

    record_type = "abutpy_closest_record"
    handles_at = "batch.shapes"

    @property
    def context(self) -> Context:
        return self.shapes[0].context

    @property
    def tails(self) -> dict[str, Shape]:
        return {"number": (), "vector": (3,), "pose": (self.width,), "twists": (TWISTS,)}

    def fill(self, record: Any) -> None:
        record.context = self.context.handle
        record.batch, record.smoothing = lib.abut_default_closest_batch(), lib.abut_default_closest_smoothing()
        record.batch.shape_count, record.batch.poses = len(self.shapes), self.width - 6
        for to, settings in ((record.batch, self.settings), (record.smoothing, self.smoothing)):
            for name, value in settings:
                setattr(to, name, value)

    def handles(self) -> Any:
        return ffi.new("abut_shape[]", [shape.handle for shape in self.shapes])

    def rows(self, name: str, array: Arrays, lead: Shape) -> Arrays:
        first = self.first if name == "two" else 0
        count = len(self.shapes) - first if name == "two" else self.first
        return shape_rows(array, lead, count, first, name)


@dataclasses.dataclass(frozen=True)
class OfMeshes(Subject):
    """How far two meshes may go between poses."""

    meshes: tuple[CcdMesh, CcdMesh]
    width: int
    settings: Settings

    record_type = "abutpy_ccd_record"

    @property
    def context(self) -> Context:
        return self.meshes[0].context

    @property
    def tails(self) -> dict[str, Shape]:
        return {"number": (), "vector": (3,), "pose": (self.width,)}

    def fill(self, record: Any) -> None:
        record.one, record.two = (mesh.handle for mesh in self.meshes)
        record.batch = lib.abut_default_ccd_batch()
        record.batch.poses = self.width - 6
        for name, value in self.settings:
            setattr(record.batch, name, value)


@dataclasses.dataclass(frozen=True)
class OfFeatures(Subject):
    """Up to which time two features stay apart."""

    of: Context
    settings: Settings

    record_type = "abutpy_ccd_queries_record"
    axes = 2

    @property
    def context(self) -> Context:
        return self.of

    @property
    def tails(self) -> dict[str, Shape]:
        return {"number": (), "vector": (3,), "two": (2,), "vertices": (VERTICES[dict(self.settings)["kind"]], 3)}

    def fill(self, record: Any) -> None:
        record.context, record.batch = self.of.handle, lib.abut_default_ccd_queries()
        for name, value in self.settings:
            setattr(record.batch, name, value)


@dataclasses.dataclass(frozen=True)
class OfWorlds(Subject):
    """Steps of a scene's worlds; with `controls` u has those of each."""

    scene: Scene
    steps: int
    kept: int  # every so many steps a state is; 0: none
    controls: bool

    record_type = "abutpy_steps_record"

    def gives(self, names: Iterable[str]) -> list[str]:
        return [name for name in names if self.kept or not name.endswith("_record")]

    @property
    def context(self) -> Context:
        return self.scene.context

    @property
    def tails(self) -> dict[str, Shape]:
        scene, states = self.scene, self.steps // self.kept if self.kept else 0
        parameters = {name: (scene.parameters,) for name in ("friction", "stiffness")}
        return {"number": (), "q": (scene.nq,), "v": (scene.nv,), "mass_scale": (scene.links,), **parameters,
                "u": (self.steps, scene.nu) if self.controls else (scene.nu,), "gravity": (3,),
                "springs": (scene.pairs, SPRING_WIDTH), "q_record": (states, scene.nq), "v_record": (states, scene.nv)}

    def fill(self, record: Any) -> None:
        record.scene, record.real = self.scene.handle, self.context.dtype.itemsize
        for name in ("nq", "nv", "nu", "links", "pairs", "parameters"):
            setattr(record, name, getattr(self.scene, name))
        record.batch = lib.abut_default_worlds()
        record.batch.steps, record.batch.record, record.batch.controls = self.steps, self.kept, self.controls


def settled(default: Any, given: Mapping[str, Any], names: Sequence[str]) -> Settings:
    """All settings of those names, as a C struct takes them. Errors: TypeError, ValueError as of set_members."""
    made = ffi.new(ffi.typeof(default).cname + " *", default)
    set_members(made, given, names)
    values = ((name, getattr(made, name)) for name in names)
    return tuple((name, tuple(value) if isinstance(value, ffi.CData) else value) for name, value in values)


def closest_settings(method: str, options: Mapping[str, Any]) -> tuple[Settings, Settings]:
    """Settings of queries for closest points and of their derivatives."""
    batch = settled(lib.abut_default_closest_batch(), {name: value for name, value in options.items() if name in SETTINGS},
                    SETTINGS)
    made = smoothing_of(method, {name: value for name, value in options.items() if name not in SETTINGS})
    smoothing = tuple((name, getattr(made, name)) for name in SMOOTHING)
    return batch, (("method", METHODS.index(method)), ("solved", method in _closest.FROM_ANSWERS), *smoothing)


def move_settings(given: Mapping[str, Any]) -> Settings:
    return settled(lib.abut_default_ccd_batch(), given, BATCH_SETTINGS)


def query_settings(given: Mapping[str, Any]) -> Settings:
    return settled(lib.abut_default_ccd_queries(), given, (*QUERY_SETTINGS, *ROW_SETTINGS))


# ---- the table ----


class Call:
    """A row of the table.

    number    of its C function; None of one that only stands for a derivative that there is not
    linear    endings of the names of inputs in which it is linear
    always    outputs that are computed whether or not somebody uses them
    constant  outputs that have no derivatives
    keeps     outputs that derivatives begin from
    """

    def __init__(self, number: int | None, subject: type[Subject], inputs: Mapping[str, Array],
                 outputs: Mapping[str, Array], *, linear: tuple[str, ...] = (), always: tuple[str, ...] = (),
                 constant: Iterable[str] = (), keeps: Iterable[str] = ()) -> None:
        self.number, self.subject, self.linear, self.always = number, subject, linear, always
        self.constant, self.keeps = tuple(constant), tuple(keeps)
        self.inputs, self.outputs = dict(inputs), dict(outputs)
        self.offsets = {name: _offset(subject, array.place) for name, array in (*inputs.items(), *outputs.items())}
        self.count = _offset(subject, "batch.count")
        self.handles_at = _offset(subject, subject.handles_at) if subject.handles_at else -1


def _offset(subject: type[Subject], place: str) -> int:
    path = (int(part) if part.isdigit() else part for part in place.split("."))
    return int(ffi.offsetof(subject.record_type, *path))


def _of_outputs(member: str, ending: str = "") -> dict[str, Array]:
    """All outputs of contacts."""
    return {name + ending: Array(f"{member}.{name}", "vectors" if TAILS[name] else "slots") for name in ALL_OUTPUTS}


def _of_poses(member: str, ending: str) -> dict[str, Array]:
    return {f"pose{k}{ending}": Array(f"{member}.pose{k}", "pose") for k in (1, 2)}


def _of_answers(member: str, ending: str = "") -> dict[str, Array]:
    """Closest points."""
    return {name + ending: Array(f"{member}.{name}", "vector" if tail else "number")
            for name, tail in _closest.TAILS.items()}


def _of_rows(answers: Mapping[str, tuple[Shape, Any]]) -> dict[str, Array]:
    """Answers of collision in time."""
    names = {(): "number", (2,): "two", (3,): "vector"}
    return {name: Array(f"batch.{name}", names[tail], REAL if dtype is None else TYPES.index(np.dtype(dtype)))
            for name, (tail, dtype) in answers.items()}


def _listed(member: str, names: Sequence[str], known: Sequence[str], ending: str, outputs: bool = False) -> dict[str, Array]:
    """Derivatives of steps, whose addresses lie in a row in the order of `known`."""
    tails = {name: "q" if name == "q" else "v" if name == "v" else name for name in names}
    state = {"q": "q_next", "v": "v_next"} if outputs else {}
    return {state.get(name, name) + ending: Array(f"{member}.{known.index(name)}", tails[name]) for name in names}


_POSES = _of_poses("batch", "")
_HEAD = {**_POSES, "index": Array("batch.pair", type=COUNT)}
_ALONG, _BY_POSES = _of_poses("along", "_tangent"), _of_poses("gradients", "_gradient")
_BARS, _STATUS = _of_outputs("bars", "_bar"), {"status": Array("batch.status", type=BYTE)}
_VALUES = {name: Array(f"batch.reductions.{name}") for name in VALUES}

_SHAPES = {**_POSES, "one": Array("batch.one", type=COUNT), "two": Array("batch.two", type=COUNT)}
_ANSWERED = {**_of_answers("batch"), **_STATUS}

_MOVES = {name: Array(f"batch.{name}", "pose") for name in POSES}
_MOVED = _of_rows(_ccd.ANSWERS)
_ENDS = {name: Array(f"batch.{name}", "vertices") for name in ("x0", "x1", *LOW)}
_FEATURES = {**_ENDS, **{name: Array(f"batch.{name}") for name in MANY}}
_ASKED = _of_rows(_ccd.QUERY_ANSWERS)

_STATES = ("q", "v", "q_record", "v_record")
MOVING = ("q", "v", "u", *PARAMETERS, "springs")  # inputs of steps that have derivatives
_WORLDS = {name: Array(f"batch.{name}", "v" if name == "w" else name) for name in ("q", "v", "w", "u", *MOVING[3:])}
_STEPPED = {"q_next": Array("batch.q_next", "q"), "v_next": Array("batch.v_next", "v"), "w_next": Array("batch.w_next", "v"),
            "status": Array("batch.status", type=COUNT), "q_record": Array("batch.q_record", "q_record"),
            "v_record": Array("batch.v_record", "v_record")}
_REACHED = {name: _STEPPED[name] for name in ("q_next", "q_record")}

CALLS = {
    "contacts": Call(lib.ABUTPY_CONTACTS, OfPairs, _HEAD, {**_of_outputs("batch"), **_STATUS}, always=("status",), constant=("status",)),
    "jvp": Call(lib.ABUTPY_JVP, OfPairs, {**_HEAD, **_ALONG}, _of_outputs("tangents", "_tangent"), linear=("_tangent",)),
    "vjp": Call(lib.ABUTPY_VJP, OfPairs, {**_HEAD, **_BARS}, _BY_POSES, linear=("_bar",)),
    "vjp_tangent": Call(lib.ABUTPY_VJP_TANGENT, OfPairs,
                        {**_HEAD, **_ALONG, **_BARS, **_of_outputs("slopes", "_slope")}, _BY_POSES, linear=("_tangent", "_slope")),
    "jvp_tangent": Call(None, OfPairs, {**_HEAD, **_ALONG, **_of_poses("along", "_move")},
                        _of_outputs("tangents", "_tangent"), linear=("_move",)),
    "reduce": Call(lib.ABUTPY_CONTACTS, OfPairs, _HEAD, _VALUES, always=VALUES, constant=("minimum_distance",)),
    "gradient": Call(lib.ABUTPY_GRADIENT, OfPairs, _HEAD, {**_VALUES, **_BY_POSES}, always=VALUES,
                     constant=("minimum_distance",), keeps=_BY_POSES),
    "hessian_product": Call(lib.ABUTPY_HESSIAN_PRODUCT, OfPairs, {**_HEAD, **_ALONG}, _BY_POSES, linear=("_tangent",)),

    "closest": Call(lib.ABUTPY_CLOSEST, OfShapes, _SHAPES, _ANSWERED, constant=("status",), keeps=_ANSWERED),
    "closest_vjp": Call(lib.ABUTPY_CLOSEST_VJP, OfShapes, {**_SHAPES, **_ANSWERED, **_of_answers("bars", "_bar")},
                        {**_BY_POSES, "twists_gradient": Array("gradients.twists", "twists")}, linear=("_bar",)),
    "closest_jvp": Call(lib.ABUTPY_CLOSEST_JVP, OfShapes, {**_SHAPES, **_ANSWERED, "twists_tangent": Array("twists", "twists")},
                        _of_answers("tangents", "_tangent"), linear=("_tangent",)),

    "ccd": Call(lib.ABUTPY_CCD, OfMeshes, _MOVES, _MOVED, constant=list(_MOVED)[1:]),
    "ccd_gradient": Call(lib.ABUTPY_CCD_GRADIENT, OfMeshes, _MOVES, {
        **_MOVED, **{f"{name}_gradient": Array(f"gradients.{name}", "pose") for name in POSES}}),
    "ccd_queries": Call(lib.ABUTPY_CCD_QUERIES, OfFeatures, _FEATURES, _ASKED, constant=list(_ASKED)[1:]),
    "ccd_queries_gradient": Call(lib.ABUTPY_CCD_QUERIES_GRADIENT, OfFeatures, _FEATURES, {
        **_ASKED, **{f"{name}_gradient": Array(f"by_{name}", "vertices") for name in ("x0", "x1")}}),

    "steps": Call(lib.ABUTPY_STEPS, OfWorlds, _WORLDS, _STEPPED, constant=("w_next", "status"), keeps=_REACHED),
    "steps_vjp": Call(lib.ABUTPY_STEPS_VJP, OfWorlds,
                      {**_WORLDS, **_REACHED, **_listed("bars", _STATES, WORLD_BARS, "_bar", True)},
                      _listed("slopes", MOVING, WORLD_SLOPES, "_gradient"), linear=("_bar",)),
    "steps_jvp": Call(lib.ABUTPY_STEPS_JVP, OfWorlds,
                      {**_WORLDS, **_REACHED, **_listed("along", MOVING, WORLD_SLOPES, "_tangent")},
                      _listed("tangents", _STATES, WORLD_BARS, "_tangent", True), linear=("_tangent",)),
}


class Plan(NamedTuple):
    """One call with the names of the arrays that it is given and gives, in their order."""

    call: str
    subject: Any
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    def shapes(self, lead: Shape) -> list[tuple[Shape, Any]]:
        """Shapes and types of what it gives."""
        tails, call, real = self.subject.tails, CALLS[self.call], self.subject.context.dtype
        arrays = (call.outputs[name] for name in self.outputs)
        return [(lead + tails[array.tail], TYPES[array.type] or real) for array in arrays]

    def lead(self, first: Any) -> Shape:
        """The batch's leading axes, of the first array that it is given."""
        return tuple(first.shape[:len(first.shape) - self.subject.axes])


def plan_of(call: str, subject: Subject, given: Iterable[str], outputs: Iterable[str]) -> Plan:
    """A call of those arrays of `given` that it knows, in the table's order."""
    there, row = set(given), CALLS[call]
    return Plan(call, subject, tuple(name for name in row.inputs if name in there), tuple(outputs))


def run(plan: Plan, arrays: Sequence[Arrays], new: Callable[[Shape, Any], Arrays] = np.empty) -> list[Arrays]:
    """What a call gives, of arrays in the host's memory, of one batch and of the table's types."""
    call, subject = CALLS[plan.call], plan.subject
    watched = plan._replace(outputs=(*plan.outputs, "status")) if (
        plan.call == "steps" and "status" not in plan.outputs) else plan
    lead = plan.lead(arrays[0])
    record, handles = subject.record(), subject.handles()
    record.batch.count = math.prod(lead)
    if hasattr(record.batch, "progress"):
        record.batch.progress = GO_ON
    places = ffi.cast("void **", record)
    if handles is not None:
        places[call.handles_at // 8] = handles
    given = [np.asarray(array, order="C") for array in arrays]
    made = [new(shape, dtype) for shape, dtype in watched.shapes(lead)]
    if not record.batch.count:
        return made[:len(plan.outputs)]
    kept = [ffi.from_buffer(array) if array.size else ffi.NULL for array in (*given, *made)]
    for name, where in zip((*plan.inputs, *watched.outputs), kept):
        places[call.offsets[name] // 8] = where
    check(lib.abutpy_run(call.number, record))
    if record.batch.failures:
        warn_of_failures(subject.context, record.batch.failures)
    if plan.call == "steps":
        warn_of_status(dict(zip(watched.outputs, made))["status"])
    return made[:len(plan.outputs)]
