"""The table of the calls that frameworks of arrays differentiate, and how a call is run.

Each call has a C function (python/calls.h), input arrays and output arrays. The table has their names, the places of their
addresses in the function's record, their shapes after the leading axes of the batch, and their types. Names show what belongs
together: an input `x` with derivatives has x_tangent and x_gradient; an output `y` has y_tangent and y_bar, its cotangent. A
call is linear in its inputs whose names have one of the endings `linear`. torch's Functions, JAX's primitives and the places
of arrays in calls by XLA are all made from this table.
"""
from __future__ import annotations

import dataclasses
import functools
import math
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, NoReturn

import numpy as np

from abut._arrays import Shape, check_names, common_axes
from abut._calls import ALL_OUTPUTS, REDUCTIONS, SAME, TAILS, VALUES, pair_rows
from abut._ccd_mesh import CcdMesh
from abut._context import Context, warn_of_failures
from abut._native import GO_ON, check, ffi, lib
from abut._pair import Pair
from abut._world_calls import PARAMETERS, SPRING_WIDTH, SceneNumbers, count_of, warn_of_status
from abut._world_calls import BARS as WORLD_BARS
from abut._world_calls import SLOPES as WORLD_SLOPES

Arrays = np.ndarray[Any, Any]

METHODS = ("exact", "gumbel", "gaussian", "zeroth", "finite")  # for derivatives of closest points
FROM_ANSWERS = METHODS[:3]  # these start from a query's result; the others make their own queries
SMOOTHING = ("temperature", "level", "epsilon", "samples", "seed", "first", "ridge")
SETTINGS = ("tolerance", "cutoff", "iterations_most", "corners_most")  # for queries of closest points
POSE = 7  # numbers of a link's pose
TWISTS = 12  # numbers of both bodies' twists, or of one body's at both ends
VERTICES = (2, 3, 4, 4)  # per row of features of each kind
POSES = ("from1", "to1", "from2", "to2")
# Settings of features that are one number, or one per row: their names in queries, and in the C API for rows.
ROW_SETTINGS = ("separation", "keep", "tolerance", "end", "error", "relative_error")
MANY = tuple(name + "s" for name in ROW_SETTINGS)
LOW = ("x0_low", "x1_low")
BATCH_SETTINGS = ("motion", "center1", "center2", "separation", "keep", "tolerance", "iterations_most")
FEATURE_SETTINGS = ("kind", "method", "iterations_most", "plain", *ROW_SETTINGS)

TYPES = (None, np.dtype(np.uint8), np.dtype(np.int32), np.dtype(np.uint32))  # in the order of python/xla.c
REAL, BYTE, WHOLE, COUNT = range(4)  # REAL is the context's precision


class Array(NamedTuple):
    """An array of a call.

    place  place of its address in the record
    tail   its shape after the leading axes, in the names of the subject's `tails`
    type   of TYPES
    """

    place: str
    tail: str = "number"
    type: int = REAL


# ---- subjects of calls ----


def _copy(record: Any, member: str, settings: bytes) -> None:
    """Copies a struct of settings into a record."""
    if settings:
        ffi.memmove(ffi.addressof(record, member), settings, len(settings))


def integers_of(value: Any, wanted: tuple[int, ...], tail: int, name: str) -> np.ndarray[Any, Any]:
    """Returns whole numbers of a shape, or broadcast to it in all but its last `tail` axes."""
    array = np.asarray(value)
    if array.dtype.kind not in "iu":
        raise ValueError(f"{name} has dtype {array.dtype.name}, expected integers")
    if not tail or array.shape[max(array.ndim - tail, 0):] == wanted[len(wanted) - tail:]:
        try:
            return np.broadcast_to(array, wanted)
        except ValueError:
            pass
    raise ValueError(f"{name} has shape {array.shape}, not {wanted}")


def shape_rows(row: Any, lead: tuple[int, ...], count: int, shift: int, name: str) -> np.ndarray[Any, Any]:
    """Returns the index of each pose's shape among `count` shapes, as rows of a list that starts with `shift` other shapes."""
    which = integers_of(0 if row is None else row, lead, 0, name)
    if which.size and (which.min() < 0 or which.max() >= count):
        raise ValueError(f"{name} names a shape that does not exist; there are {count}")
    shifted: np.ndarray[Any, Any] = which.astype(np.uint32, order="C") + np.uint32(shift)
    return shifted


@dataclasses.dataclass(unsafe_hash=True)
class Subject:
    """The fixed arguments of a call besides its arrays: owners of handles, and settings."""

    record_type: ClassVar[str]
    axes: ClassVar[int] = 1  # trailing axes of the first input that belong to one entry
    handles_at: ClassVar[str] = ""  # position of the address of a list of handles in the record
    has_progress: ClassVar[bool] = True  # its calls can be cancelled

    @property
    def context(self) -> Context:
        raise NotImplementedError

    @property
    def tails(self) -> dict[str, Shape]:
        raise NotImplementedError

    def fill(self, record: Any) -> None:
        """Writes everything except arrays into a record of zeros."""
        raise NotImplementedError

    def handles(self) -> Any:
        """Returns a C array of handles, or of other values of the same size, if the record has a list of them."""
        return None

    def rows(self, name: str, given: Any, lead: Shape) -> Arrays:
        """Converts whole numbers of the caller to rows of a list."""
        raise NotImplementedError

    def gives(self, names: Iterable[str]) -> list[str]:
        """Returns the outputs of a call that exist."""
        return list(names)

    def record(self) -> Any:
        made = ffi.new(self.record_type + " *")
        self.fill(made)
        return made


@dataclasses.dataclass(unsafe_hash=True)
class OfPairs(Subject):
    """Contacts of pairs at poses of `width` numbers; in calls that reduce, reduced to the number `kind`."""

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

    def rows(self, name: str, given: Any, lead: Shape) -> Arrays:
        return pair_rows(given, lead, len(self.pairs))


@dataclasses.dataclass(unsafe_hash=True)
class OfShapes(Subject):
    """Closest points of convex shapes. If rows are given, these are the numbers of shapes 1 and 2; shapes 2 come after `shift`
    others."""

    shapes: tuple[Any, ...]
    counts: tuple[int, int]
    shift: int
    width: int
    settings: bytes
    smoothing: bytes = b""

    record_type = "abutpy_closest_record"
    handles_at = "batch.shapes"

    @property
    def context(self) -> Context:
        context: Context = self.shapes[0].context
        return context

    @property
    def tails(self) -> dict[str, Shape]:
        return {"number": (), "vector": (3,), "pose": (self.width,), "twists": (TWISTS,), "simplex": (4, 2),
                "number_by_twists": (TWISTS,), "vector_by_twists": (3, TWISTS)}

    def fill(self, record: Any) -> None:
        record.context = self.context.handle
        _copy(record, "batch", self.settings)
        _copy(record, "smoothing", self.smoothing)
        record.batch.shape_count, record.batch.poses = len(self.shapes), self.width - 6

    def handles(self) -> Any:
        return ffi.new("abut_shape[]", [shape.handle for shape in self.shapes])

    def rows(self, name: str, given: Any, lead: Shape) -> Arrays:
        which = ("one", "two").index(name)
        return shape_rows(given, lead, self.counts[which], self.shift * which, name)


@dataclasses.dataclass(unsafe_hash=True)
class OfMeshes(Subject):
    """Safe times of two meshes between poses."""

    meshes: tuple[CcdMesh, CcdMesh]
    width: int
    settings: bytes

    record_type = "abutpy_ccd_record"

    @property
    def context(self) -> Context:
        return self.meshes[0].context

    @property
    def tails(self) -> dict[str, Shape]:
        return {"number": (), "vector": (3,), "pose": (self.width,), "twists": (TWISTS,)}

    def fill(self, record: Any) -> None:
        record.one, record.two = (mesh.handle for mesh in self.meshes)
        _copy(record, "batch", self.settings)
        record.batch.poses = self.width - 6


@dataclasses.dataclass(unsafe_hash=True)
class OfFeatures(Subject):
    """Times up to which two features stay apart."""

    of: Context
    vertices: int
    settings: bytes

    record_type = "abutpy_ccd_queries_record"
    axes = 2

    @property
    def context(self) -> Context:
        return self.of

    @property
    def tails(self) -> dict[str, Shape]:
        return {"number": (), "vector": (3,), "two": (2,), "vertices": (self.vertices, 3)}

    def fill(self, record: Any) -> None:
        record.context = self.of.handle
        _copy(record, "batch", self.settings)


@dataclasses.dataclass(unsafe_hash=True)
class OfWorlds(Subject):
    """Steps of a scene's worlds; with `controls` u has the controls of each step."""

    scene: SceneNumbers
    steps: int
    kept: int  # steps per recorded state; 0: none
    controls: bool

    record_type = "abutpy_steps_record"
    has_progress = False

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
                "springs": (scene.pairs, SPRING_WIDTH), "link_forces": (scene.links, 6),
                "pair_forces": (scene.candidate_count, 3), "pair_normals": (scene.candidate_count,), "q_record": (states, scene.nq), "v_record": (states, scene.nv)}

    def fill(self, record: Any) -> None:
        record.scene, record.real = self.scene.handle, self.context.dtype.itemsize
        for name in ("nq", "nv", "nu", "links", "pairs", "parameters"):
            setattr(record, name, getattr(self.scene, name))
        record.candidates = self.scene.candidate_count
        record.batch = lib.abut_default_worlds()
        record.batch.steps, record.batch.record, record.batch.controls = self.steps, self.kept, self.controls


@dataclasses.dataclass(unsafe_hash=True)
class OfPositions(Subject):
    """Results from positions of a scene's worlds. For distances, one row of pairs, `candidates` has each candidate with its pair."""

    scene: SceneNumbers
    pairs: int = 0
    candidates: tuple[tuple[int, int], ...] = ()
    smooth: bool = True
    temperature: float = 0.0

    record_type = "abutpy_positions_record"
    handles_at = "batch.candidates"
    has_progress = False

    def __post_init__(self) -> None:
        if self.scene.moved:
            warnings.warn("poses and distances have no controls: moved links are at the poses in the scene", stacklevel=4)

    @property
    def context(self) -> Context:
        return self.scene.context

    @property
    def tails(self) -> dict[str, Shape]:
        return {"q": (self.scene.nq,), "poses": (self.scene.links, POSE), "pairs": (self.pairs,)}

    def fill(self, record: Any) -> None:
        record.scene, record.real = self.scene.handle, self.context.dtype.itemsize
        for name in ("nq", "nv", "links"):
            setattr(record, name, getattr(self.scene, name))
        record.batch = lib.abut_default_distances()
        record.batch.pairs, record.batch.candidate_count = self.pairs, len(self.candidates)
        record.batch.temperature = self.temperature
        if not self.smooth:
            record.batch.reduction = lib.ABUT_REDUCE_DISTANCE

    def handles(self) -> Any:
        return ffi.new("uint32_t[]", [number for of in self.candidates or ((0, 0),) for number in of])


def set_members(to: Any, given: Mapping[str, Any], known: Sequence[str]) -> None:
    """Sets members of a C struct by name."""
    for name, value in given.items():
        if name not in known:
            raise TypeError(f"{name!r} is not among {', '.join(known)}")
        try:
            setattr(to, name, value)
        except (TypeError, OverflowError) as error:
            raise ValueError(f"{name} cannot be {value!r}: {error}") from None


@functools.lru_cache(maxsize=256, typed=True)
def _kept_settings(struct: str, names: Sequence[str], given: tuple[str, ...], *values: Any) -> bytes:
    return _made_settings(struct, names, dict(zip(given, values)))


def _made_settings(struct: str, names: Sequence[str], given: Mapping[str, Any]) -> bytes:
    made = ffi.new(f"abut_{struct} *", getattr(lib, f"abut_default_{struct}")())
    set_members(made, given, names)
    return bytes(ffi.buffer(made))


def settled(struct: str, given: Mapping[str, Any], names: Sequence[str]) -> bytes:
    """Returns a C struct with settings, those of `names`, as bytes. Errors: TypeError, ValueError as in set_members."""
    try:
        return _kept_settings(struct, names, tuple(given), *given.values())
    except TypeError:  # for example a list
        return _made_settings(struct, names, given)


def smoothing_settings(method: str, given: Mapping[str, Any]) -> bytes:
    """Returns settings of derivatives of closest points."""
    check_names((method,), METHODS, "method")
    for name in given:
        if name not in SMOOTHING:
            raise TypeError(f"{name!r} is not among {', '.join(SMOOTHING)}")
    return settled("closest_smoothing", {**given, "method": METHODS.index(method), "solved": method in FROM_ANSWERS},
                   (*SMOOTHING, "method", "solved"))


def closest_settings(method: str, options: Mapping[str, Any]) -> tuple[bytes, bytes]:
    """Returns settings of queries for closest points and of their derivatives."""
    query = {name: value for name, value in options.items() if name in SETTINGS}
    return settled("closest_batch", query, SETTINGS), smoothing_settings(
        method, {name: value for name, value in options.items() if name not in SETTINGS})


def move_settings(given: Mapping[str, Any]) -> bytes:
    return settled("ccd_batch", given, BATCH_SETTINGS)


def feature_settings(given: Mapping[str, Any]) -> bytes:
    return settled("ccd_queries", given, FEATURE_SETTINGS)


class Forces(NamedTuple):
    """Contact forces in worlds of leading axes (...), in the step that would start at their states.

    link      (..., links, 6) sum of all contact forces on each link: a force [N], and its moment about the link's centre of mass
              [N m], along the world's axes
    pair      (..., pairs, 3) for each requested pair: the force on its first link, or body [N], along the world's axes; the
              second has the opposite force
    normal    (..., pairs) the sum of the pair's normal forces [N]
    touching  (..., pairs) bool: whether `normal` is above the threshold
    status    (...) bits of WorldStatus. A world that has stopped has no forces: all are 0
    """

    link: Any
    pair: Any
    normal: Any
    touching: Any
    status: Any


def forces_of(made: Mapping[str, Any], signs: Any, threshold: float) -> Forces:
    """Computes forces of links and pairs from those of candidates, for arrays of any framework. `signs` (pairs, candidates) is
    the side of a pair on which the first body of a candidate is, 0 for candidates of other pairs."""
    normal = made["pair_normals"] @ abs(signs).T
    return Forces(made["link_forces"], signs @ made["pair_forces"], normal, normal > threshold, made["status"])


def worlds_of(scene: SceneNumbers, given: Mapping[str, Any], controls: Any, steps: int | None, record: int,
              read: Callable[[Any, str], Any], spread: Callable[[Any, Shape], Any]) -> tuple[OfWorlds, dict[str, Any]]:
    """Returns the steps that a framework of arrays requests, and their inputs, of one batch. `read` makes an array of the
    framework, `spread` broadcasts one."""
    if given["u"] is not None and controls is not None:
        raise ValueError("give u (the same for all steps) or controls (one row per step), not both")
    count = count_of("steps", steps, 1)
    if controls is not None:
        given, controls = {**given, "u": controls}, read(controls, "controls")
        count = controls.shape[-2] if steps is None and controls.ndim > 1 else count
    worlds = OfWorlds(scene, count, count_of("record", record, 0), controls is not None)
    arrays = {name: read(value, name) for name, value in given.items() if value is not None}
    tails = {name: worlds.tails[CALLS["steps"].inputs[name].tail] for name in arrays}
    lead = common_axes({name: tuple(array.shape) for name, array in arrays.items()}, tails)
    return worlds, {name: spread(array, lead + tails[name]) for name, array in arrays.items()}


# ---- the table ----


class Call:
    """A row of the table.

    number    number of its C function; None for a derivative that is not supported
    linear    endings of the names of inputs in which the call is linear
    always    outputs that are computed whether or not they are used
    constant  outputs that have no derivatives
    keeps     outputs from which derivatives start
    """

    def __init__(self, number: int | None, subject: type[Subject], inputs: Mapping[str, Array],
                 outputs: Mapping[str, Array], *, linear: tuple[str, ...] = (), always: tuple[str, ...] = (),
                 constant: Iterable[str] = (), keeps: Iterable[str] = ()) -> None:
        self.number, self.subject, self.linear, self.always = number, subject, linear, always
        self.constant, self.keeps = tuple(constant), tuple(keeps)
        self.inputs, self.outputs = dict(inputs), dict(outputs)
        assert not inputs.keys() & outputs.keys()
        self.offsets = {name: _offset(subject, array.place) for name, array in (*inputs.items(), *outputs.items())}
        self.count = _offset(subject, "batch.count")
        self.has_progress = subject.has_progress
        self.handles_at = _offset(subject, subject.handles_at) if subject.handles_at else -1


def _offset(subject: type[Subject], place: str) -> int:
    path = (int(part) if part.isdigit() else part for part in place.split("."))
    return int(ffi.offsetof(subject.record_type, *path))


def _of_outputs(member: str, ending: str = "") -> dict[str, Array]:
    """Returns all outputs of contacts."""
    return {name + ending: Array(f"{member}.{name}", "vectors" if TAILS[name] else "slots") for name in ALL_OUTPUTS}


def _of_poses(member: str, ending: str) -> dict[str, Array]:
    return {f"pose{k}{ending}": Array(f"{member}.pose{k}", "pose") for k in (1, 2)}


def _of_answers(member: str, ending: str = "", tail: str = "") -> dict[str, Array]:
    """Returns the outputs of closest points."""
    return {name + ending: Array(f"{member}.{name}", ("number" if name == "d" else "vector") + tail)
            for name in ("d", "n", "p1", "p2")}


def _listed(member: str, names: Sequence[str], known: Sequence[str], ending: str, outputs: bool = False) -> dict[str, Array]:
    """Returns derivatives of steps, whose addresses are one row in the order of `known`."""
    state = {"q": "q_next", "v": "v_next"} if outputs else {}
    return {state.get(name, name) + ending: Array(f"{member}.{known.index(name)}", name) for name in names}


_POSES = _of_poses("batch", "")
_HEAD = {**_POSES, "index": Array("batch.pair", type=COUNT)}
_ALONG, _BY_POSES = _of_poses("along", "_tangent"), _of_poses("gradients", "_gradient")
_BARS, _STATUS = _of_outputs("bars", "_bar"), {"status": Array("batch.status", type=BYTE)}
_VALUES = {name: Array(f"batch.reductions.{name}") for name in VALUES}

_SHAPES = {**_POSES, "one": Array("batch.one", type=COUNT), "two": Array("batch.two", type=COUNT)}
_ANSWERED = {**_of_answers("batch"), **_STATUS}
_SOLVED = {"gap": Array("batch.gap"), "iterations": Array("batch.iterations", type=COUNT),
           "warm": Array("batch.simplex", "simplex", WHOLE)}
_FLAGS = {"flags": Array("flags", type=BYTE)}  # the status, combined with that of derivatives

_MOVES = {name: Array(f"batch.{name}", "pose") for name in POSES}
_MOVED = {"toi": Array("batch.toi"), **_STATUS, "kind": Array("batch.kind", type=WHOLE),
          "feature1": Array("batch.feature1", type=COUNT), "feature2": Array("batch.feature2", type=COUNT),
          "p1": Array("batch.p1", "vector"), "p2": Array("batch.p2", "vector"), "n": Array("batch.n", "vector"),
          "candidates": Array("batch.candidates", type=COUNT)}
_ENDS = {name: Array(f"batch.{name}", "vertices") for name in ("x0", "x1", *LOW)}
_FEATURES = {**_ENDS, **{name: Array(f"batch.{name}") for name in MANY}}
_ASKED = {"toi": Array("batch.toi"), **_STATUS, "n": Array("batch.n", "vector"), "d0": Array("batch.d0"),
          "iterations": Array("batch.iterations", "two", COUNT)}

_STATES = ("q", "v", "q_record", "v_record")
MOVING = ("q", "v", "u", *PARAMETERS, "springs")  # inputs of steps that have derivatives
_WORLDS = {name: Array(f"batch.{name}", "v" if name == "w" else name) for name in ("q", "v", "w", "u", *MOVING[3:])}
_STEPPED = {"q_next": Array("batch.q_next", "q"), "v_next": Array("batch.v_next", "v"), "w_next": Array("batch.w_next", "v"),
            "status": Array("batch.status", type=COUNT), "q_record": Array("batch.q_record", "q_record"),
            "v_record": Array("batch.v_record", "v_record")}
_PUSHED = {name: Array(f"batch.{name}", name) for name in ("link_forces", "pair_forces", "pair_normals")}
_REACHED = {name: _STEPPED[name] for name in ("q_next", "q_record")}

_AT, _ALONG_Q, _BY_Q = ({name: Array(place, "q")} for name, place in (
    ("q", "batch.q"), ("q_tangent", "q_tangent"), ("q_gradient", "q_gradient")))

CALLS = {
    "contacts": Call(lib.ABUTPY_CONTACTS, OfPairs, _HEAD, {**_of_outputs("batch"), **_STATUS}, always=("status",),
                     constant=("status",)),
    "jvp": Call(lib.ABUTPY_JVP, OfPairs, {**_HEAD, **_ALONG}, _of_outputs("tangents", "_tangent"), linear=("_tangent",)),
    "vjp": Call(lib.ABUTPY_VJP, OfPairs, {**_HEAD, **_BARS}, _BY_POSES, linear=("_bar",)),
    "vjp_tangent": Call(lib.ABUTPY_VJP_TANGENT, OfPairs,
                        {**_HEAD, **_ALONG, **_BARS, **_of_outputs("slopes", "_slope")}, _BY_POSES,
                        linear=("_tangent", "_slope")),
    "jvp_tangent": Call(None, OfPairs, {**_HEAD, **_ALONG, **_of_poses("along", "_move")},
                        _of_outputs("tangents", "_tangent"), linear=("_move",)),
    "reduce": Call(lib.ABUTPY_CONTACTS, OfPairs, _HEAD, _VALUES, always=VALUES, constant=("minimum_distance",)),
    "gradient": Call(lib.ABUTPY_GRADIENT, OfPairs, _HEAD, {**_VALUES, **_BY_POSES}, always=VALUES,
                     constant=("minimum_distance",), keeps=_BY_POSES),
    "hessian_product": Call(lib.ABUTPY_HESSIAN_PRODUCT, OfPairs, {**_HEAD, **_ALONG}, _BY_POSES, linear=("_tangent",)),

    "closest": Call(lib.ABUTPY_CLOSEST, OfShapes, {**_SHAPES, "begun": Array("batch.warm", "simplex", WHOLE)},
                    {**_ANSWERED, **_SOLVED}, constant=("status", *_SOLVED), keeps=_ANSWERED),
    "closest_vjp": Call(lib.ABUTPY_CLOSEST_VJP, OfShapes, {**_SHAPES, **_ANSWERED, **_of_answers("bars", "_bar")},
                        {**_BY_POSES, "twists_gradient": Array("gradients.twists", "twists"), **_FLAGS}, linear=("_bar",)),
    "closest_jvp": Call(lib.ABUTPY_CLOSEST_JVP, OfShapes,
                        {**_SHAPES, **_ANSWERED, "twists_tangent": Array("twists", "twists")},
                        {**_of_answers("tangents", "_tangent"), **_FLAGS}, linear=("_tangent",)),
    "closest_jacobian": Call(lib.ABUTPY_CLOSEST_JACOBIAN, OfShapes, {**_SHAPES, **_ANSWERED},
                             {**_of_answers("jacobians", "_jacobian", "_by_twists"), **_FLAGS}),

    "ccd": Call(lib.ABUTPY_CCD, OfMeshes, _MOVES, _MOVED, constant=list(_MOVED)[1:]),
    "ccd_gradient": Call(lib.ABUTPY_CCD_GRADIENT, OfMeshes, {**_MOVES, "toi_bar": Array("gradients.toi_bar")},
                         {**_MOVED, "by1": Array("gradients.by1", "twists"), "by2": Array("gradients.by2", "twists"),
                          **{f"{name}_gradient": Array(f"gradients.{name}", "pose") for name in POSES}}),
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

    "forces": Call(lib.ABUTPY_STEPS, OfWorlds, _WORLDS, {**_PUSHED, "status": _STEPPED["status"]},
                   constant=("pair_normals", "status")),
    "forces_vjp": Call(lib.ABUTPY_STEPS_VJP, OfWorlds,
                       {**_WORLDS, **_listed("bars", ("link_forces", "pair_forces"), WORLD_BARS, "_bar")},
                       _listed("slopes", MOVING, WORLD_SLOPES, "_gradient"), linear=("_bar",)),
    "forces_jvp": Call(lib.ABUTPY_STEPS_JVP, OfWorlds, {**_WORLDS, **_listed("along", MOVING, WORLD_SLOPES, "_tangent")},
                       {f"{name}_tangent": Array(f"batch.{name}", name) for name in ("link_forces", "pair_forces")},
                       linear=("_tangent",)),

    "poses": Call(lib.ABUTPY_POSES, OfPositions, _AT, {"poses": Array("poses", "poses")}),
    "poses_vjp": Call(lib.ABUTPY_POSES_VJP, OfPositions, {**_AT, "poses_bar": Array("poses_bar", "poses")}, _BY_Q,
                      linear=("_bar",)),
    "poses_jvp": Call(lib.ABUTPY_POSES_JVP, OfPositions, {**_AT, **_ALONG_Q}, {"poses_tangent": Array("poses_tangent", "poses")},
                      linear=("_tangent",)),
    "distances": Call(lib.ABUTPY_DISTANCES, OfPositions, _AT, {"d": Array("batch.d", "pairs")}),
    "distances_vjp": Call(lib.ABUTPY_DISTANCES_VJP, OfPositions, {**_AT, "d_bar": Array("batch.d_bar", "pairs")}, _BY_Q,
                          linear=("_bar",)),
    "distances_jvp": Call(lib.ABUTPY_DISTANCES_JVP, OfPositions, {**_AT, **_ALONG_Q},
                          {"d_tangent": Array("batch.d_tangent", "pairs")}, linear=("_tangent",)),
}


class Plan(NamedTuple):
    """One call with the names of its input and output arrays, in order."""

    call: str
    subject: Any
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    def shapes(self, lead: Shape) -> list[tuple[Shape, Any]]:
        """Returns shapes and types of the outputs."""
        tails, outputs, real = self.subject.tails, CALLS[self.call].outputs, self.subject.context.dtype
        return [(lead + tails[tail], TYPES[kind] or real) for _, tail, kind in map(outputs.__getitem__, self.outputs)]

    def lead(self, first: Any) -> Shape:
        """Returns the batch's leading axes, those of the first input."""
        return tuple(first.shape[:len(first.shape) - self.subject.axes])


def plan_of(call: str, subject: Subject, given: Iterable[str], outputs: Iterable[str]) -> Plan:
    """Returns a call with its own arrays among `given`, in the table's order."""
    return Plan(call, subject, _ordered(call, tuple(given)), tuple(outputs))


def renamed(arrays: Mapping[str, Any], old: str, new: str) -> dict[str, Any]:
    """Returns arrays whose names end in `old`, under names that end in `new`."""
    return {name[:len(name) - len(old)] + new: array for name, array in arrays.items() if name.endswith(old)}


def refuse(text: str) -> NoReturn:
    """Refuses derivatives that are not supported."""
    raise NotImplementedError(text)


@functools.lru_cache(maxsize=1024)
def _ordered(call: str, given: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in CALLS[call].inputs if name in given)


@functools.lru_cache(maxsize=1024)
def _places(call: str, names: tuple[str, ...]) -> tuple[int, ...]:
    """Returns the places of arrays' addresses in the record, as in a row of addresses."""
    return tuple(CALLS[call].offsets[name] // 8 for name in names)


def answers(plan: Plan, given: Mapping[str, Arrays]) -> tuple[dict[str, Arrays], Any]:
    """Returns the results of a call by names, for contiguous arrays, and its C record."""
    made, record = _done(plan, [given[name] for name in plan.inputs], np.empty)
    return dict(zip(plan.outputs, made)), record


def run(plan: Plan, arrays: Sequence[Arrays], new: Callable[[Shape, Any], Arrays] = np.empty) -> list[Arrays]:
    """Returns the results of a call, for arrays in the host's memory, of one batch and of the table's types."""
    arrays = [np.asarray(array, order="C") for array in arrays]
    if CALLS[plan.call].number != lib.ABUTPY_STEPS:
        return _done(plan, arrays, new)[0]
    outputs = plan.outputs if "status" in plan.outputs else (*plan.outputs, "status")
    made = _done(plan._replace(outputs=outputs), arrays, new)[0]
    warn_of_status(made[outputs.index("status")])
    return made[:len(plan.outputs)]


def _done(plan: Plan, arrays: Sequence[Arrays], new: Callable[[Shape, Any], Arrays]) -> tuple[list[Arrays], Any]:
    """Returns the results of a call for contiguous arrays, and its C record.

    The record owns its memory: references to its members do not keep it.
    """
    call, subject = CALLS[plan.call], plan.subject
    lead = plan.lead(arrays[0])
    record, handles = subject.record(), subject.handles()
    batch = record.batch
    batch.count = math.prod(lead)
    if call.has_progress:
        batch.progress = GO_ON
    places = ffi.cast("void **", record)
    if handles is not None:
        places[call.handles_at // 8] = handles
    made = [new(shape, dtype) for shape, dtype in plan.shapes(lead)]
    # With zero rows nothing is read or written, but no array may be missing.
    nowhere = ffi.NULL if batch.count else places
    kept = [ffi.from_buffer(array) if array.size else nowhere for array in (*arrays, *made)]
    for place, where in zip(_places(plan.call, plan.inputs + plan.outputs), kept):
        places[place] = where
    check(lib.abutpy_run(call.number, record))
    if batch.failures:
        warn_of_failures(subject.context, batch.failures)
    return made, record
