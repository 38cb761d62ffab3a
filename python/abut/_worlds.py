"""Worlds that move: scenes, their steps, and steps along their positions."""
from __future__ import annotations

import enum
import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from abut._arrays import Rows, Shape, check_names, pointer, real_array
from abut._native import check, ffi, lib
from abut._objects import Context, _Owner, default_context, warn_of_failures

__all__ = ["GivenContacts", "Gradients", "Scene", "Step", "WorldStatus"]

Array = Any  # np.ndarray, or what NumPy takes without a copy

PARAMETERS = ("mass_scale", "friction", "stiffness", "gravity")
ON_REQUEST = ("mass", "bias", "smooth", "acceleration", "constraint")
# In the order of python/worlds.h.
BARS = ("q", "v", "q_record", "v_record", "acceleration")
SLOPES = ("q", "v", "u", *PARAMETERS, "p", "d", "n", "activity")
MAPS = {"slope_to_tangent": 0, "slope_from_tangent": 1, "gradient_to_tangent": 2,
        "gradient_from_tangent": 3}


class WorldStatus(enum.IntFlag):
    """What has become of a world, in all steps of a call; OK is none of them.

    A world that is NOT_FINITE, has DIVERGED, is SINGULAR or had BAD_INPUT keeps the last state that it
    had. With NOT_CONVERGED the solver's last iterate was used; with OVERFLOW a pair had more contacts
    than the scene's capacity.
    """

    OK = 0
    NOT_FINITE = 1
    DIVERGED = 2
    OVERFLOW = 4
    NOT_CONVERGED = 8
    SINGULAR = 16
    BAD_INPUT = 32


WorldStatus.__module__ = "abut"


class Step(NamedTuple):
    """Worlds after a call's steps, of leading axes (...); None where it was not wanted.

    q             (..., nq) positions [m, rad, quaternions w, x, y, z]
    v             (..., nv) velocities [m/s, rad/s]
    w             (..., nv) the last acceleration, from which the next call's solver may start
    status        (...) uint32, bits of WorldStatus, or-ed over all steps
    iterations    (...) uint32, of the solver in the last step
    q_record, v_record
                  (..., K, nq), (..., K, nv) every `record`-th state, the first one after `record` steps
    At the beginning of the last step, in generalised coordinates:
    mass          (..., nv, nv) the mass matrix
    bias          (..., nv) Coriolis, centrifugal and gravity forces
    smooth        (..., nv) the acceleration without contacts, limits and friction loss
    acceleration  (..., nv)
    constraint    (..., nv) forces of contacts, limits and friction loss
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


class GivenContacts(NamedTuple):
    """Contacts in place of the bodies', C slots that are the same in all worlds.

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
    """Gradients by what a step was given, of its shapes behind the leading axes; None where it was not
    wanted.

    q, v                           (..., nq), (..., nv)
    u                              (..., nu), or (..., steps, nu) where controls were given
    mass_scale                     (..., links)
    friction, stiffness            (..., pairs)
    gravity                        (..., 3)
    p, d, n, activity              (..., C, 3), (..., C), (..., C, 3), (..., C) of given contacts
    """

    q: np.ndarray[Any, Any] | None = None
    v: np.ndarray[Any, Any] | None = None
    u: np.ndarray[Any, Any] | None = None
    mass_scale: np.ndarray[Any, Any] | None = None
    friction: np.ndarray[Any, Any] | None = None
    stiffness: np.ndarray[Any, Any] | None = None
    gravity: np.ndarray[Any, Any] | None = None
    p: np.ndarray[Any, Any] | None = None
    d: np.ndarray[Any, Any] | None = None
    n: np.ndarray[Any, Any] | None = None
    activity: np.ndarray[Any, Any] | None = None


class Call:
    """A C batch of worlds with all that it points to."""

    def __init__(self, scene: Scene, q: Array, v: Array, u: Array | None = None,
                 controls: Array | None = None, steps: int | None = None, record: int = 0,
                 contacts: GivenContacts | None = None, **given: Array | None) -> None:
        self.scene, self.dtype = scene, scene.context.dtype
        self.kept: list[Any] = [scene]
        self.worlds = ffi.new("abut_worlds *", lib.abut_default_worlds())
        if u is not None and controls is not None:
            raise ValueError("u is held over all steps, controls has those of each: one of them")
        self.steps = _count("steps", steps, 1)
        inputs: dict[str, tuple[Array, Shape]] = {"q": (q, (scene.nq,)), "v": (v, (scene.nv,))}
        if u is not None:
            inputs["u"] = u, (scene.nu,)
        if controls is not None:
            shape = np.shape(controls)
            if steps is None and len(shape) > 1:
                self.steps = shape[-2]
            inputs["controls"] = controls, (self.steps, scene.nu)
            self.worlds.controls = True
        tails = {"w": scene.nv, "mass_scale": scene.links, "friction": scene.pairs,
                 "stiffness": scene.pairs, "gravity": 3}
        inputs.update({name: (value, (tails[name],)) for name, value in given.items()
                       if value is not None})
        if contacts is not None:
            inputs.update(self._of_contacts(contacts))
        arrays = self._read(inputs)
        self.arrays = arrays
        self.worlds.count = self.rows.count
        self.worlds.steps = self.steps
        self.worlds.record = self.record = _count("record", record, 0)
        for name in ("q", "v", "w", "u", *PARAMETERS):
            setattr(self.worlds, name, self.place(arrays.get(name)))
        if controls is not None:
            self.worlds.u = self.place(arrays["controls"])
        if contacts is not None:
            for name in ("p", "d", "n", "activity"):
                where = self.place(arrays[name])  # NULL is refused, also of no contacts
                setattr(self.given, name, where if arrays[name].size else self.given)

    def _of_contacts(self, contacts: GivenContacts) -> dict[str, tuple[Array, Shape]]:
        self.given = ffi.new("abut_given_contacts *")
        links = {}
        for name in ("owner", "opposing", "pair"):
            which = np.asarray(getattr(contacts, name))
            if which.ndim != 1 or which.dtype.kind not in "iu":
                raise ValueError(f"{name} is no row of whole numbers")
            links[name] = np.ascontiguousarray(which, np.int32)
        count = links["owner"].size
        for name, which in links.items():
            if which.size != count:
                raise ValueError(f"{name} has {which.size} contacts and owner {count}")
            # Rooms of one number more, so that none of them is NULL.
            room = ffi.new("int32_t[]", count + 1)
            ffi.memmove(room, which, which.nbytes)
            setattr(self.given, name, room)
            self.kept.append(room)
        self.given.count = count
        self.worlds.contacts = self.given
        return {"p": (contacts.p, (count, 3)), "d": (contacts.d, (count,)),
                "n": (contacts.n, (count, 3)), "activity": (contacts.activity, (count,))}

    def _read(self, inputs: Mapping[str, tuple[Array, Shape]]) -> dict[str, Any]:
        """The inputs, of common leading axes."""
        arrays = {name: real_array(value, self.dtype, name) for name, (value, _) in inputs.items()}
        leads = []
        for name, (_, tail) in inputs.items():
            shape = arrays[name].shape
            if shape[len(shape) - len(tail):] != tail or len(shape) < len(tail):
                wanted = ", ".join(["...", *map(str, tail)])
                raise ValueError(f"{name} has shape {shape}, not ({wanted})")
            leads.append(shape[:len(shape) - len(tail)])
        try:
            lead = np.broadcast_shapes(*leads)
        except ValueError:
            shapes = ", ".join(f"{name} {arrays[name].shape}" for name in inputs)
            raise ValueError(f"shapes are not of one batch: {shapes}") from None
        self.rows = Rows(self.dtype, lead)
        return {name: self.rows.read(arrays[name], tail, name)
                for name, (_, tail) in inputs.items()}

    def place(self, array: Any) -> Any:
        """Where an array lies, which stays as long as the call does."""
        where = pointer(array) if array is not None and array.size else ffi.NULL
        self.kept.append(where)
        return where

    def new(self, tail: Shape, dtype: Any = None) -> Any:
        return self.rows.write(None, "", tail, dtype)

    def output(self, name: str, tail: Shape) -> Any:
        array = self.new(tail)
        setattr(self.worlds, name, self.place(array))
        return array

    def counts(self, name: str) -> np.ndarray[Any, Any]:
        array = np.zeros(self.rows.lead, np.uint32)
        setattr(self.worlds, name, ffi.from_buffer("uint32_t[]", array) if array.size else ffi.NULL)
        return array

    def done(self, status: int) -> None:
        check(status)
        if self.worlds.failures:
            warn_of_failures(self.scene.context, self.worlds.failures)

    def step(self, want: Sequence[str] = ()) -> Step:
        check_names(want, ON_REQUEST, "want")
        scene = self.scene
        made = {"q": self.output("q_next", (scene.nq,)), "v": self.output("v_next", (scene.nv,)),
                "w": self.output("w_next", (scene.nv,)), "status": self.counts("status"),
                "iterations": self.counts("iterations")}
        if self.record:
            kept = self.steps // self.record
            made["q_record"] = self.output("q_record", (kept, scene.nq))
            made["v_record"] = self.output("v_record", (kept, scene.nv))
        for name in want:
            made[name] = self.output(name, (scene.nv,) * (2 if name == "mass" else 1))
        self.done(lib.abut_step_worlds(scene.handle, self.worlds))
        return Step(**made)

    def input(self, value: Array, tail: Shape, name: str) -> Any:
        """One more input's place, of the call's leading axes."""
        return self.place(self.rows.read(real_array(value, self.dtype, name), tail, name))

    def _tail(self, name: str) -> Shape:
        """The shape of what has a gradient, behind the leading axes."""
        scene = self.scene
        if name == "u" and self.worlds.controls:
            return (self.steps, scene.nu)
        if name in ("p", "d", "n", "activity"):
            if name not in self.arrays:
                raise ValueError(f"wrt names {name!r}, and no contacts are given")
            return tuple(self.arrays[name].shape[len(self.rows.lead):])
        return ({"q": scene.nq, "v": scene.nv, "u": scene.nu, "mass_scale": scene.links,
                 "friction": scene.pairs, "stiffness": scene.pairs, "gravity": 3}[name],)

    def vjp(self, bars: Mapping[str, Array | None], wrt: Sequence[str], q: Array | None = None,
            q_record: Array | None = None) -> Gradients:
        """Gradients of the sum of a step's outputs times their cotangents, by the numbers of q.

        q, q_record   of that step, where they have cotangents
        """
        scene, worlds, kept = self.scene, self.worlds, 0
        check_names(wrt, SLOPES, "wrt")
        if self.record:
            kept = self.steps // self.record
        tails: dict[str, Shape] = {"q": (scene.nq,), "v": (scene.nv,), "q_record": (kept, scene.nq),
                                   "v_record": (kept, scene.nv), "acceleration": (scene.nv,)}
        if bars.get("q") is not None:
            worlds.q_next = self.input(q, tails["q"], "q")
        if bars.get("q_record") is not None:
            worlds.q_record = self.input(q_record, tails["q_record"], "q_record")
        given = ffi.new("void *[]", [
            ffi.NULL if bars.get(name) is None else
            ffi.cast("void *", self.input(bars[name], tails[name], name + "_bar")) for name in BARS])
        made = {name: np.zeros(self.rows.lead + self._tail(name), self.dtype) for name in wrt}
        found = ffi.new("void *[]", [
            ffi.cast("void *", self.place(made[name])) if name in made else ffi.NULL for name in SLOPES])
        self.done(lib.abutpy_vjp_worlds(scene.handle, self.dtype.itemsize, worlds, given, found))
        return Gradients(**made)


def _count(name: str, value: Any, default: int) -> int:
    if value is None:
        return default
    if isinstance(value, bool) or not hasattr(value, "__index__") or value.__index__() < 0:
        raise ValueError(f"{name} is {value!r}, not a whole number from 0 on")
    return int(value)


def mirrored(mass: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A whole matrix of its lower triangle, with zeros above."""
    count = mass.shape[-1]
    above = np.triu_indices(count, 1)
    mass[..., above[0], above[1]] = mass[..., above[1], above[0]]
    return mass


class Scene(_Owner):
    """What worlds have in common: trees of links with bodies, joints, actuators, pairs that touch.

    path      of a NAME.scene.json (docs/scenes.md); files that it names are found from its folder
    context   the devices that step its worlds; None takes abut.default_context()
    Errors: abut.Error with file, line and cause.

    nq, nv, nu              positions, velocities, controls of a world
    links, pairs, contacts  how many there are; contacts: slots of all pairs together
    timestep                [s]
    """

    _destroy = lib.abut_destroy_scene

    def __init__(self, path: str | os.PathLike[str], context: Context | None = None) -> None:
        name = os.fsdecode(path)
        if "\0" in name:
            raise ValueError(f"{name!r} is no path")
        self.context = default_context() if context is None else context
        handle = ffi.new("abut_scene *")
        check(lib.abut_load_scene(self.context.handle, os.fsencode(name), handle))
        self._handle = handle[0]
        info = ffi.new("abut_scene_info *")
        check(lib.abut_get_scene_info(self._handle, info))
        self.links: int = info.links
        self.pairs: int = info.pairs
        self.contacts: int = info.contacts
        self.nq: int = info.nq
        self.nv: int = info.nv
        self.nu: int = info.nu
        self.timestep: float = info.timestep

    def start(self) -> np.ndarray[Any, Any]:
        """Positions (nq) as the scene states them: hinges and slides 0, balls not turned; in the
        context's precision."""
        q = np.empty(self.nq)
        check(lib.abut_get_scene_start(self.handle, ffi.from_buffer("double[]", q)
                                       if q.size else ffi.new("double[1]")))
        return q.astype(self.context.dtype)

    def step(self, q: Array, v: Array, u: Array | None = None, *, controls: Array | None = None,
             w: Array | None = None, steps: int | None = None, record: int = 0,
             mass_scale: Array | None = None, friction: Array | None = None,
             stiffness: Array | None = None, gravity: Array | None = None,
             contacts: GivenContacts | None = None, want: Sequence[str] = ()) -> Step:
        """Worlds after `steps` steps (1), a row each; leading axes are broadcast against each other.

        q, v        (..., nq), (..., nv): a free joint's position and quaternion w, x, y, z (of any
                    length above 0), velocity in the world's axes [m/s], angular velocity in the
                    link's [rad/s]
        u           (..., nu) controls held over all steps; None: 0
        controls    (..., steps, nu) in its place, those of every step; tells `steps`
        w           (..., nv) the last acceleration, from which the solver starts; None: 0
        record      keep every so many steps' state; 0: none
        mass_scale  (..., links) factors of masses and inertias; None: 1
        friction    (..., pairs) coefficients; None: the scene's
        stiffness   (..., pairs) factors of the contacts' stiffness; None: 1
        gravity     (..., 3) [m/s^2]; None: the scene's
        contacts    GivenContacts in place of the bodies'
        want        of "mass", "bias", "smooth", "acceleration", "constraint", which cost a copy each
        Errors: ValueError for shapes and dtypes; abut.Error. What becomes of a world is told by its
        status.
        """
        call = Call(self, q, v, u, controls, steps, record, contacts, w=w, mass_scale=mass_scale,
                    friction=friction, stiffness=stiffness, gravity=gravity)
        made = call.step(want)
        return made if made.mass is None else made._replace(mass=mirrored(made.mass))

    def vjp(self, q: Array, v: Array, u: Array | None = None, *, controls: Array | None = None,
            w: Array | None = None, steps: int | None = None, record: int = 0,
            mass_scale: Array | None = None, friction: Array | None = None,
            stiffness: Array | None = None, gravity: Array | None = None,
            contacts: GivenContacts | None = None, q_bar: Array | None = None,
            v_bar: Array | None = None, q_record_bar: Array | None = None,
            v_record_bar: Array | None = None, acceleration_bar: Array | None = None, wrt: Sequence[str] = ("q", "v", "u"),
            made: Step | None = None) -> Gradients:
        """Gradients of the sum of a step's outputs times these cotangents, by what the step was given.

        q_bar, v_bar                (..., nq), (..., nv) of the state after all steps; None is 0
        q_record_bar, v_record_bar  (..., K, nq), (..., K, nv) of states kept on the way
        acceleration_bar            (..., nv) of the last step's acceleration
        wrt      of "q", "v", "u" (also of controls), "mass_scale", "friction", "stiffness", "gravity";
                 of contacts that are given, and of one step, also "p", "d", "n", "activity"
        made     what step gave for the same; where it is None and q's cotangents need it, it is
                 computed anew
        All else as of step. Gradients by q are by its numbers, a quaternion's orthogonal to it; map has
        those along steps in the tangent space. w, iterations and what was given as contacts have no
        derivatives. Where a world has stopped, its gradients are 0.
        """
        bars = {"q": q_bar, "v": v_bar, "q_record": q_record_bar, "v_record": v_record_bar,
                "acceleration": acceleration_bar}
        if all(bar is None for bar in bars.values()):
            raise ValueError(f"a cotangent is needed: {', '.join(name + '_bar' for name in bars)}")
        if not record and not (q_record_bar is None and v_record_bar is None):
            raise ValueError("no state is kept that q_record_bar and v_record_bar could be of: record "
                             "is 0")
        options = {"w": w, "mass_scale": mass_scale, "friction": friction, "stiffness": stiffness,
                   "gravity": gravity}
        call = Call(self, q, v, u, controls, steps, record, contacts, **options)
        if made is None and not (q_bar is None and q_record_bar is None):
            made = Call(self, q, v, u, controls, steps, record, contacts, **options).step()
        return call.vjp(bars, wrt, made and made.q, made and made.q_record)

    def add(self, q: Array, d: Array) -> np.ndarray[Any, Any]:
        """q (+) d: positions (..., nq) after a step (..., nv) in their tangent space. A quaternion turns
        by d in the link's axes [rad], and comes out with length 1."""
        return self._map(lib.abut_add_positions, q, d, "d", self.nv, self.nq)

    def subtract(self, left: Array, right: Array) -> np.ndarray[Any, Any]:
        """left (-) right: the step (..., nv) that takes right (..., nq) to left (..., nq), turning by at
        most pi."""
        def call(handle: Any, count: int, right: Any, left: Any, d: Any) -> int:
            return int(lib.abut_subtract_positions(handle, count, left, right, d))
        return self._map(call, right, left, "left", self.nq, self.nv)

    def map(self, kind: str, q: Array, x: Array) -> np.ndarray[Any, Any]:
        """Derivatives by positions' nq numbers as those along steps of their tangent space (nv), and
        back, at positions q (..., nq). A quaternion's gradient is orthogonal to it.

        kind   "slope_to_tangent" and "slope_from_tangent": of how q moves, with
               q (+) d = q + slope_from_tangent(d) to first order, of quaternions of length 1; "gradient_to_tangent" and
               "gradient_from_tangent", their transposes: of a function's gradients
        """
        if kind not in MAPS:
            raise ValueError(f"a map {kind!r} is not among {', '.join(MAPS)}")
        number, to = MAPS[kind], kind.endswith("to_tangent")
        widths = (self.nq, self.nv) if to else (self.nv, self.nq)
        return self._map(lambda handle, *more: int(lib.abut_map_positions(handle, number, *more)),
                         q, x, "x", *widths)

    def _map(self, call: Any, q: Array, x: Array, name: str, width: int,
             out: int) -> np.ndarray[Any, Any]:
        own = real_array(q, self.context.dtype, "q")
        other = real_array(x, self.context.dtype, name)
        try:
            lead = np.broadcast_shapes(own.shape[:-1], other.shape[:-1])
        except ValueError:
            raise ValueError(f"q has shape {own.shape} and {name} {other.shape}, which are not of one "
                             "batch") from None
        rows = Rows(self.context.dtype, lead)
        own = rows.read(own, (self.nq,), "q")
        other = rows.read(other, (width,), name)
        made = np.empty((*lead, out), self.context.dtype)
        check(call(self.handle, rows.count if made.size else 0, pointer(own), pointer(other),
                   pointer(made)))
        return made

    def __repr__(self) -> str:
        return (f"<abut.Scene of {self.links} links, nq {self.nq}, nv {self.nv}, nu {self.nu}, "
                f"{self.pairs} pairs{'' if self._handle else ', closed'}>")
