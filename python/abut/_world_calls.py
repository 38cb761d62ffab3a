"""Calls of worlds: their inputs, their results, and their C batch."""
from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from abut import _drivers
from abut._arrays import Rows, Shape, check_names, common_axes, pointer, real_array
from abut._context import Context, warn_of_failures
from abut._native import check, ffi, lib

Array = Any  # np.ndarray, or types that NumPy accepts without a copy

PARAMETERS = ("mass_scale", "friction", "stiffness", "gravity")
SPRING_WIDTH = 6  # k, mu, v_d, v_s, eps2, eps3 of a pair; these have gradients but no tangents
ON_REQUEST = ("mass", "bias", "smooth", "acceleration", "constraint", "multipliers", "energy", "momentum",
              "energy_record", "status_step", "counts", "fast_links", "link_forces", "pair_forces", "pair_normals")
# In the order of python/worlds.h.
BARS = ("q", "v", "q_record", "v_record", "acceleration", "link_forces", "pair_forces")
SLOPES = ("q", "v", "u", *PARAMETERS, "springs", "p", "d", "n", "activity")
MAPS = {"slope_to_tangent": 0, "slope_from_tangent": 1, "gradient_to_tangent": 2,
        "gradient_from_tangent": 3}


NO_TANGENTS = "steps of worlds have gradients by springs, but no tangents along springs"
NO_FORCE_TANGENTS = "forces of contacts have gradients (reverse mode), but no tangents"


class WorldStatus(enum.IntFlag):
    """Bits of a world's status over all steps of a call; OK is none of them.

    NOT_FINITE, DIVERGED, SINGULAR, BAD_INPUT  the world keeps its last valid state; STOPS has all four of these bits
    NOT_CONVERGED  the solver did not converge, and its last iterate was used
    OVERFLOW       a pair had more contacts than the scene's capacity, or a world more than its `most_contacts` or `most` hard
                   ones: some were left out
    SQUEEZED       hard contacts pushed against each other, and gave way a little
    FAST           bodies of a pair moved against each other in one step by more than half of the thinner one, and may have passed
                   through
    GAINED         springs created energy, because the time step is too long for them
    SWEPT          in a scene with "sweep", bodies were stopped within a step because they would have passed through each other
    SWEEP_LIMIT    bodies were stopped so often in one step that the rest of the step is lost
    DEEP           bodies of a pair were so deep in each other that contacts within their normal cones had less than half of the
                   depth, and may not have pushed them apart
    """

    OK = 0
    NOT_FINITE = 1
    DIVERGED = 2
    OVERFLOW = 4
    NOT_CONVERGED = 8
    SINGULAR = 16
    BAD_INPUT = 32
    SQUEEZED = 64
    FAST = 128
    GAINED = 256
    SWEPT = 512
    SWEEP_LIMIT = 1024
    DEEP = 2048
    STOPS = NOT_FINITE | DIVERGED | SINGULAR | BAD_INPUT


WorldStatus.__module__ = "abut"

# The status bits with a warning, as in the command.
_TOLD = {
    WorldStatus.NOT_FINITE: "are not finite, and keep their last valid state",
    WorldStatus.DIVERGED: "diverge, and keep their last valid state",
    WorldStatus.OVERFLOW: "had more contacts than the scene allows (`most` of \"lcp\", by default 16, "
                          "or `capacity` or `most_contacts` of a soft scene): some contacts were left out",
    WorldStatus.NOT_CONVERGED: "had steps whose solver did not converge within the scene's `iterations`",
    WorldStatus.SINGULAR: "have a mass matrix or a solver matrix that is not positive definite, and keep "
                          "their last valid state",
    WorldStatus.BAD_INPUT: "had states, controls or parameters that are not valid, and keep "
                           "their last valid state",
    WorldStatus.SQUEEZED: "had hard contacts that push against each other, and were softened a little",
    WorldStatus.FAST: "had bodies that moved in one step by more than half of the thinner body, and may have "
                      "passed through each other",
    WorldStatus.GAINED: "had springs that added energy: the time step is too long for these springs",
    WorldStatus.SWEEP_LIMIT: "had more impacts in a step than the limit, and lost the rest of the step",
    WorldStatus.DEEP: "had bodies that overlap so deeply that their contacts show less than half of the depth"}


def _whose(fast_links: np.ndarray[Any, Any] | None, world: int) -> str:
    if fast_links is None:
        return '; want=("fast_links",) gives the links'
    of = [f"link {link - 1}" if link else "the world" for link in fast_links.reshape(-1, 2)[world].tolist()]
    return f": {of[0]} and {of[1]}"


def warn_of_status(status: np.ndarray[Any, Any], fast_links: np.ndarray[Any, Any] | None = None) -> None:
    """Warns in Python of each status bit of the worlds."""
    if not status.any():
        return
    for bit, text in _TOLD.items():
        worlds = np.flatnonzero(status & int(bit))
        if len(worlds):
            of = _whose(fast_links, worlds[0]) if bit == WorldStatus.FAST else ""
            _drivers.warn(f"{len(worlds)} of {status.size} worlds ({worlds[0]} first) {text}{of} "
                          f"(abut.WorldStatus.{bit.name})")


class Step(NamedTuple):
    """Worlds after the steps of a call, of leading axes (...). Outputs that were not wanted are None.

    q              (..., nq) positions [m, rad, quaternions w, x, y, z]
    v              (..., nv) velocities [m/s, rad/s]
    w              (..., nv) the last acceleration, from which the next call's solver may start
    status         (...) uint32, bits of WorldStatus, combined over all steps
    status_step    (..., 12) uint32, the first step, from 0, with each of these bits, the lowest bit first; 2**32 - 1: none
    fast_links     (..., 2) uint32, the two bodies for which FAST was set first: their links' numbers plus 1, and 0 for the world;
                   both 0: none
    counts         (..., 6) uint32, sums over all solves (one per step, four with rk4): solves, pairs that were considered, pairs
                   with contacts, contacts, islands, numbers of Newton's matrix; 0 for springs
    iterations     (...) uint32, of the solver in the last solve: that of the last step, with rk4 that of its last stage; with
                   hard contacts how they were solved, as in abut.solve_lcp's `how`
    q_record, v_record  (..., K, nq), (..., K, nv) every `record`-th state, the first one after `record` steps
    At the beginning of the last step, in generalised coordinates:
    mass           (..., nv, nv) the mass matrix
    bias           (..., nv) Coriolis, centrifugal and gravity forces
    smooth         (..., nv) the acceleration without contacts, limits, friction loss and equalities
    acceleration   (..., nv)
    constraint     (..., nv) forces of contacts, limits, friction loss and equalities
    multipliers    (..., C, 3) forces of contacts on their owners along n, |n| t1, |n| t2 of docs/dev/cone-formulas.md, section 7
                   [N]; C slots of all pairs, one pair after the other, or given contacts; with springs the force on body 1 in the
                   world's axes, one for each pair
    link_forces    (..., links, 6) sum of the contact forces on each link: a force [N], and its moment about the link's centre of
                   mass [N m], along the world's axes
    pair_forces    (..., candidates, 3) sum of the contact forces of each candidate on its first body [N]
    pair_normals   (..., candidates) the sums of their normal forces [N]
    energy         (..., 2) kinetic, potential [J]
    momentum       (..., 6) linear [kg m/s], then angular about the world's origin [kg m^2/s]
    Of the recorded states:
    energy_record  (..., K, 2)
    """

    q: np.ndarray[Any, Any]
    v: np.ndarray[Any, Any]
    w: np.ndarray[Any, Any]
    status: np.ndarray[Any, Any]
    iterations: np.ndarray[Any, Any] | None = None
    q_record: np.ndarray[Any, Any] | None = None
    v_record: np.ndarray[Any, Any] | None = None
    mass: np.ndarray[Any, Any] | None = None
    bias: np.ndarray[Any, Any] | None = None
    smooth: np.ndarray[Any, Any] | None = None
    acceleration: np.ndarray[Any, Any] | None = None
    constraint: np.ndarray[Any, Any] | None = None
    multipliers: np.ndarray[Any, Any] | None = None
    energy: np.ndarray[Any, Any] | None = None
    momentum: np.ndarray[Any, Any] | None = None
    energy_record: np.ndarray[Any, Any] | None = None
    status_step: np.ndarray[Any, Any] | None = None
    counts: np.ndarray[Any, Any] | None = None
    fast_links: np.ndarray[Any, Any] | None = None
    link_forces: np.ndarray[Any, Any] | None = None
    pair_forces: np.ndarray[Any, Any] | None = None
    pair_normals: np.ndarray[Any, Any] | None = None


class GivenContacts(NamedTuple):
    """Contacts that replace those of the bodies, in C slots that are the same in all worlds.

    owner, opposing  (C) links, -1 the world; a force along the normal acts on the owner
    pair             (C) the scene's pair of each, for friction and softness
    p, d, n          (..., C, 3), (..., C), (..., C, 3) positions [m], distances [m], normals
    activity         (..., C) in [0, 1]
    """

    owner: Array
    opposing: Array
    pair: Array
    p: Array
    d: Array
    n: Array
    activity: Array


class Gradients(NamedTuple):
    """Gradients with respect to the inputs of a step, with their shapes after the leading axes. Gradients that were not wanted
    are None.

    q, v                   (..., nq), (..., nv)
    u                      (..., nu), or (..., steps, nu) if controls were given
    mass_scale             (..., links)
    friction, stiffness    (..., pairs)
    gravity                (..., 3)
    springs                (..., pairs, 6)
    p, d, n, activity      (..., C, 3), (..., C), (..., C, 3), (..., C) of given contacts
    escaped                (...) uint32, 1 if a step treated hard contacts as open
    """

    q: np.ndarray[Any, Any] | None = None
    v: np.ndarray[Any, Any] | None = None
    u: np.ndarray[Any, Any] | None = None
    mass_scale: np.ndarray[Any, Any] | None = None
    friction: np.ndarray[Any, Any] | None = None
    stiffness: np.ndarray[Any, Any] | None = None
    gravity: np.ndarray[Any, Any] | None = None
    springs: np.ndarray[Any, Any] | None = None
    p: np.ndarray[Any, Any] | None = None
    d: np.ndarray[Any, Any] | None = None
    n: np.ndarray[Any, Any] | None = None
    activity: np.ndarray[Any, Any] | None = None
    escaped: np.ndarray[Any, Any] | None = None


class Tangents(NamedTuple):
    """Tangents of the results of a step along tangents of its inputs. Tangents of recorded states are None if there are none.

    q, v                (..., nq), (..., nv)
    q_record, v_record  (..., K, nq), (..., K, nv) of the recorded states
    step                the Step itself, of the same call; it differs from step's only by rounding
    """

    q: np.ndarray[Any, Any] | None = None
    v: np.ndarray[Any, Any] | None = None
    q_record: np.ndarray[Any, Any] | None = None
    v_record: np.ndarray[Any, Any] | None = None
    step: Step | None = None


class Transition(NamedTuple):
    """The linear model of one step, in the tangent space of q: rows are of q', then v'. Matrices that were not wanted are None.

    A                    (..., 2 nv, 2 nv) by q, then v
    B                    (..., 2 nv, nu) by u
    mass_scale           (..., 2 nv, links)
    friction, stiffness  (..., 2 nv, pairs)
    gravity              (..., 2 nv, 3)
    step                 the Step itself, of the same call; it differs from step's only by rounding
    """

    A: np.ndarray[Any, Any]
    B: np.ndarray[Any, Any]
    mass_scale: np.ndarray[Any, Any] | None = None
    friction: np.ndarray[Any, Any] | None = None
    stiffness: np.ndarray[Any, Any] | None = None
    gravity: np.ndarray[Any, Any] | None = None
    step: Step | None = None


class SceneNumbers(Protocol):
    """The parts of an abut.Scene that calls need; methods of the scene make these calls."""

    context: Context
    links: int
    pairs: int
    contacts: int
    nq: int
    nv: int
    nu: int
    parameters: int
    candidate_count: int
    moved: int
    by_springs: bool
    hard: bool

    @property
    def handle(self) -> Any: ...


class Call:
    """A C batch of worlds with everything that it points to."""

    def __init__(self, scene: SceneNumbers, q: Array, v: Array, u: Array | None = None,
                 controls: Array | None = None, steps: int | None = None, record: int = 0,
                 contacts: GivenContacts | None = None, **given: Array | None) -> None:
        self.scene, self.dtype = scene, scene.context.dtype
        self.kept: list[Any] = [scene]
        self.given: Any = None  # the struct of given contacts
        self.worlds = ffi.new("abut_worlds *", lib.abut_default_worlds())
        if u is not None and controls is not None:
            raise ValueError("give u (the same for all steps) or controls (one row per step), not both")
        self.steps = count_of("steps", steps, 1)
        inputs: dict[str, tuple[Array, Shape]] = {"q": (q, (scene.nq,)), "v": (v, (scene.nv,))}
        if u is not None:
            inputs["u"] = u, (scene.nu,)
        if controls is not None:
            shape = np.shape(controls)
            if steps is None and len(shape) > 1:
                self.steps = shape[-2]
            inputs["controls"] = controls, (self.steps, scene.nu)
            self.worlds.controls = True
        tails = {"w": (scene.nv,), "mass_scale": (scene.links,), "friction": (scene.parameters,),
                 "stiffness": (scene.parameters,), "gravity": (3,), "springs": (scene.pairs, SPRING_WIDTH)}
        inputs.update({name: (value, tails[name]) for name, value in given.items()
                       if value is not None})
        if contacts is not None:
            inputs.update(self._of_contacts(contacts))
        arrays = self._read(inputs)
        self.arrays = arrays
        # Springs report such numbers in a world's status; hard contacts have no stiffness.
        least = {"friction": "0"} if scene.hard else {} if scene.by_springs else {"friction": "1e-5", "stiffness": "1e-6"}
        for name, number in least.items():
            if given.get(name) is not None and (np.asarray(arrays[name]) < 0).any():
                _drivers.warn(f"{name} has negative numbers, which count as {number}")
        self.worlds.count = self.rows.count
        self.worlds.steps = self.steps
        self.worlds.record = self.record = count_of("record", record, 0)
        for name in ("q", "v", "w", "u", *PARAMETERS, "springs"):
            setattr(self.worlds, name, self.place(arrays.get(name)))
        if controls is not None:
            self.worlds.u = self.place(arrays["controls"])
        if contacts is not None:
            for name in ("p", "d", "n", "activity"):
                where = self.place(arrays[name])  # NULL is refused even for zero contacts
                setattr(self.given, name, where if arrays[name].size else self.given)

    def _of_contacts(self, contacts: GivenContacts) -> dict[str, tuple[Array, Shape]]:
        self.given = ffi.new("abut_given_contacts *")
        links = {}
        for name in ("owner", "opposing", "pair"):
            which = np.asarray(getattr(contacts, name))
            if which.ndim != 1 or which.dtype.kind not in "iu":
                raise ValueError(f"{name} must be a row of integers")
            beyond = which[(which < -2 ** 31) | (which >= 2 ** 31)]
            if beyond.size:  # truncated to 32 bits, 2 ** 32 would be the first link
                raise ValueError(f"{name} holds {beyond[0]}, which is no {'pair' if name == 'pair' else 'link'}")
            links[name] = np.ascontiguousarray(which, np.int32)
        count = links["owner"].size
        for name, which in links.items():
            if which.size != count:
                raise ValueError(f"{name} has {which.size} contacts and owner {count}")
            # Arrays with one more number, so that none of them is NULL.
            room = ffi.new("int32_t[]", count + 1)
            ffi.memmove(room, which, which.nbytes)
            setattr(self.given, name, room)
            self.kept.append(room)
        self.given.count = count
        self.worlds.contacts = self.given
        return {"p": (contacts.p, (count, 3)), "d": (contacts.d, (count,)),
                "n": (contacts.n, (count, 3)), "activity": (contacts.activity, (count,))}

    def _read(self, inputs: Mapping[str, tuple[Array, Shape]]) -> dict[str, Any]:
        """Reads the inputs, with common leading axes."""
        arrays = {name: real_array(value, self.dtype, name) for name, (value, _) in inputs.items()}
        self.rows = Rows(self.dtype, common_axes({name: array.shape for name, array in arrays.items()},
                                                 {name: tail for name, (_, tail) in inputs.items()}))
        return {name: self.rows.read(arrays[name], tail, name)
                for name, (_, tail) in inputs.items()}

    def place(self, array: Any) -> Any:
        """Returns a pointer to an array, which the call keeps alive."""
        where = pointer(array) if array is not None and array.size else ffi.NULL
        self.kept.append(where)
        return where

    def new(self, tail: Shape, dtype: Any = None) -> Any:
        return self.rows.write(None, "", tail, dtype)

    def output(self, name: str, tail: Shape) -> Any:
        array = self.new(tail)
        setattr(self.worlds, name, self.place(array))
        return array

    def counts(self, name: str, tail: Shape = ()) -> np.ndarray[Any, Any]:
        array = np.zeros(self.rows.lead + tail, np.uint32)
        setattr(self.worlds, name, ffi.from_buffer("uint32_t[]", array) if array.size else ffi.NULL)
        return array

    def done(self, status: int) -> None:
        check(status)
        if self.worlds.failures:
            warn_of_failures(self.scene.context, self.worlds.failures)

    def results(self, want: Sequence[str] = ()) -> Step:
        """Adds the arrays of the results of steps."""
        check_names(want, ON_REQUEST, "want")
        scene = self.scene
        made = {"q": self.output("q_next", (scene.nq,)), "v": self.output("v_next", (scene.nv,)),
                "w": self.output("w_next", (scene.nv,)), "status": self.counts("status"),
                "iterations": self.counts("iterations")}
        if self.record:
            kept = self.steps // self.record
            made["q_record"] = self.output("q_record", (kept, scene.nq))
            made["v_record"] = self.output("v_record", (kept, scene.nv))
        if "energy_record" in want and not self.record:
            raise ValueError("energy_record needs recorded states, but record is 0")
        slots = self.given.count if self.given else scene.contacts
        tails = {"mass": (scene.nv, scene.nv), "multipliers": (slots, 3), "energy": (2,), "momentum": (6,),
                 "energy_record": (self.steps // (self.record or 1), 2), "link_forces": (scene.links, 6),
                 "pair_forces": (scene.candidate_count, 3), "pair_normals": (scene.candidate_count,)}
        counted = {"status_step": (12,), "counts": (6,), "fast_links": (2,)}
        for name in want:
            made[name] = (self.counts(name, counted[name]) if name in counted else
                          self.output(name, tails.get(name, (scene.nv,))))
        return Step(**made)

    def step(self, want: Sequence[str] = ()) -> Step:
        made = self.results(want)
        self.done(lib.abut_step_worlds(self.scene.handle, self.worlds))
        warn_of_status(made.status, made.fast_links)
        return made

    def input(self, value: Array, tail: Shape, name: str) -> Any:
        """Returns a pointer to one more input, with the call's leading axes."""
        return self.place(self.rows.read(real_array(value, self.dtype, name), tail, name))

    def _tail(self, name: str) -> Shape:
        """Returns the shape of an input that has a gradient, after the leading axes."""
        scene = self.scene
        if name == "u" and self.worlds.controls:
            return (self.steps, scene.nu)
        if name == "springs":
            return (scene.pairs, SPRING_WIDTH)
        if name in ("p", "d", "n", "activity"):
            if name not in self.arrays:
                raise ValueError(f"wrt names {name!r}, but no contacts are given")
            return tuple(self.arrays[name].shape[len(self.rows.lead):])
        return ({"q": scene.nq, "v": scene.nv, "u": scene.nu, "mass_scale": scene.links,
                 "friction": scene.parameters, "stiffness": scene.parameters, "gravity": 3}[name],)

    def _tails(self) -> dict[str, Shape]:
        """Returns the shapes of the outputs that have cotangents, in the order of BARS."""
        nq, nv, kept = self.scene.nq, self.scene.nv, self.steps // self.record if self.record else 0
        return {"q": (nq,), "v": (nv,), "q_record": (kept, nq), "v_record": (kept, nv),
                "acceleration": (nv,), "link_forces": (self.scene.links, 6),
                "pair_forces": (self.scene.candidate_count, 3)}

    def vjp(self, bars: Mapping[str, Array | None], wrt: Sequence[str], q: Array | None = None,
            q_record: Array | None = None, escape: bool = False) -> Gradients:
        """Computes gradients of the sum of a step's outputs times their cotangents, by the numbers of q.

        q, q_record  of that step, if they have cotangents
        """
        scene, worlds = self.scene, self.worlds
        check_names(wrt, SLOPES, "wrt")
        tails = self._tails()
        given = ffi.new("void *[]", [
            ffi.NULL if bars.get(name) is None else
            ffi.cast("void *", self.input(bars[name], tails[name], name + "_bar")) for name in BARS])
        if bars.get("q") is not None:
            worlds.q_next = self.input(q, tails["q"], "q")
        if bars.get("q_record") is not None:
            worlds.q_record = self.input(q_record, tails["q_record"], "q_record")
        made = {name: np.zeros(self.rows.lead + self._tail(name), self.dtype) for name in wrt}
        found = ffi.new("void *[]", [
            ffi.cast("void *", self.place(made[name])) if name in made else ffi.NULL for name in SLOPES])
        escaped = np.zeros(self.rows.lead, np.uint32) if escape else None
        self.done(lib.abutpy_vjp_worlds(
            scene.handle, self.dtype.itemsize, worlds, given, found,
            ffi.NULL if escaped is None else ffi.cast("uint32_t *", self.place(escaped))))
        return Gradients(**made, escaped=escaped)

    def jvp(self, tangents: Mapping[str, Array | None], want: Sequence[str]) -> Tangents:
        """Computes tangents, by the numbers of q, of the outputs that `want` names: q, v, q_record, v_record."""
        if tangents.get("springs") is not None:
            raise NotImplementedError(NO_TANGENTS)
        tails = self._tails()
        given = ffi.new("void *[]", [
            ffi.NULL if tangents.get(name) is None else
            ffi.cast("void *", self.input(tangents[name], self._tail(name), name + "_tangent"))
            for name in SLOPES])
        made = {name: self.new(tails[name]) for name in want}
        found = ffi.new("void *[]", [
            ffi.cast("void *", self.place(made[name])) if name in made else ffi.NULL for name in BARS])
        self.done(lib.abutpy_jvp_worlds(self.scene.handle, self.dtype.itemsize, self.worlds, given, found))
        return Tangents(**made)

    def transition(self, want: Sequence[str]) -> Transition:
        check_names(want, PARAMETERS, "want")
        rows = 2 * self.scene.nv
        matrices = ffi.new("abut_worlds_transition *", lib.abut_default_worlds_transition())
        made = {"A": self.new((rows, rows)), "B": self.new((rows, self.scene.nu))}
        made.update({name: self.new((rows, *self._tail(name))) for name in want})
        for name, array in made.items():
            setattr(matrices, name, self.place(array))
        self.done(lib.abut_transition_worlds(self.scene.handle, self.worlds, matrices))
        return Transition(**made)


def count_of(name: str, value: Any, default: int) -> int:
    if value is None:
        return default
    if isinstance(value, bool) or not hasattr(value, "__index__") or value.__index__() < 0:
        raise ValueError(f"{name} is {value!r}, not an integer of at least 0")
    return int(value)


def mirrored(mass: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Completes a symmetric matrix from its lower triangle, with zeros above."""
    count = mass.shape[-1]
    above = np.triu_indices(count, 1)
    mass[..., above[0], above[1]] = mass[..., above[1], above[0]]
    return mass


