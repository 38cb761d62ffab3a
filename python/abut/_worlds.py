"""Worlds that move: scenes, their steps and derivatives, and steps along their positions."""
from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Union

import numpy as np

from abut._arrays import Rows, copied, pointer, real_array
from abut._body import diagnostic_texts
from abut._context import Context, Owner, default_context, warn_of_failures
from abut._drivers import warn
from abut._native import SCENE_GOES_ON, Error, check, ffi, lib, path_of
from abut._pair import read_smoothing
from abut._progress import Progress, teller
from abut._table import Forces, OfPositions, forces_of, plan_of, run
from abut._world_calls import (MAPS, SPRING_WIDTH, Array, Call, GivenContacts, Gradients, Step, Tangents,
                               Transition, WorldStatus, mirrored)

WorldPair = Union[int, "tuple[str | int, str | int]"]  # for distances: a candidate, or two links

GAP_MOST = 0.045  # adequate meshes for clouds are below
SINKING_MOST = 0.01  # of the smaller body's diagonal

__all__ = ["Distances", "Forces", "GivenContacts", "Gradients", "Scene", "Start", "Step", "Tangents", "Transition", "WorldContacts", "WorldStatus"]


class WorldContacts(NamedTuple):
    """Contacts of worlds, sorted by world, by pair as in Scene.candidates, and by slot.

    world      (M) uint32, index in the batch, with its leading axes folded into one
    bodies     (M, 2) uint32, the numbers of the two bodies
    candidate  (M) uint32, index of their pair among the scene's candidates
    slot       (M) uint32, slot of that pair
    p, n       (M, 3) [m]; d, activity (M)
    force      (M, 3) [N] on the first body, along the world's axes, if requested, else None
    """

    world: np.ndarray[Any, Any]
    bodies: np.ndarray[Any, Any]
    candidate: np.ndarray[Any, Any]
    slot: np.ndarray[Any, Any]
    p: np.ndarray[Any, Any]
    d: np.ndarray[Any, Any]
    n: np.ndarray[Any, Any]
    activity: np.ndarray[Any, Any]
    force: np.ndarray[Any, Any] | None = None


class Start(NamedTuple):
    """A state that a scene names: positions (nq), velocities (nv) and controls (nu). scene.step(*start) begins at it."""

    q: np.ndarray[Any, Any]
    v: np.ndarray[Any, Any]
    u: np.ndarray[Any, Any]


class _Starts(dict[str, Start]):
    """Starts by name. The error for a missing name lists the existing names."""

    def __missing__(self, name: str) -> Start:
        raise KeyError(f"there is no start `{name}`: the starts of the scene are " + (", ".join(f"`{one}`" for one in self) or "none"))


class Distances(NamedTuple):
    """Distances of pairs in worlds of leading axes (...), in the order of the requested pairs.

    d     (..., pairs) [m], negative for overlapping bodies
    grad  (..., pairs, nq) by the numbers of q, if requested, else None
    """

    d: np.ndarray[Any, Any]
    grad: np.ndarray[Any, Any] | None = None


class Scene(Owner):
    """A scene defines the common parts of worlds: trees of links with bodies, joints, actuators, and pairs that touch.

    path           a NAME.scene.json (docs/scenes.md), whose files are relative to its folder; or the contents of such a file as a
                   dict. Files of a dict are relative to the working directory, in which a temporary file is made during loading
    context        the devices that step its worlds; None takes abut.default_context()
    contact_model  "cone", "lcp" or "spring", instead of the scene's own. Settings of the scene that have no meaning in the other
                   model are ignored. None: the scene's own
    progress       called as progress(what, share) before each body is made and while its field is made, with the body's place and
                   the finished share of all bodies; an exception in it ends the loading. None: a line on stderr after a second,
                   if that is a terminal; False: nothing
    Errors: abut.Error with file, line and cause.

    nq, nv, nu     positions, velocities, controls of a world
    moved          number of links that controls move
    links, pairs, contacts  numbers of links, of listed pairs, and of the contact slots of these pairs; with springs one per pair
    bodies, candidates  see there. candidate_count, kinds and trees are the numbers of candidates, of their kinds and of trees of
                        links
    parameters     columns of friction and of stiffness: the listed pairs, then the bodies of automatic pairs, by their numbers.
                   Suspicious automatic pairs give a warning
    timestep       [s]
    by_springs     whether contacts are springs
    hard                    whether contacts are hard ("lcp")
    """

    _destroy = lib.abut_destroy_scene

    def __init__(self, path: str | os.PathLike[str] | Mapping[str, Any], context: Context | None = None, *,
                 contact_model: str | None = None, progress: Progress = None) -> None:
        if not isinstance(path, Mapping):
            self._load(path, context, contact_model, str, progress)
            return
        # File names in a dict are relative to the working directory, so a temporary file there makes them valid.
        file, place = tempfile.mkstemp(".scene.json", "abut-", os.curdir)
        try:
            with os.fdopen(file, "w") as to:
                json.dump(path, to, default=lambda a: a.tolist())  # for NumPy's arrays and numbers
            self._load(place, context, contact_model, lambda text: text.replace(place, "scene"), progress)
        finally:
            os.unlink(place)

    def _load(self, path: str | os.PathLike[str], context: Context | None, contact_model: str | None,
              renamed: Callable[[str], str], progress: Progress) -> None:
        """Loads the scene. `renamed` gives the scene's files and places other names in errors and warnings."""
        place = path_of(path)
        name = os.fsdecode(place)
        self.context = default_context() if context is None else context
        handle = ffi.new("abut_scene *")
        options = ffi.new("abut_scene_options *", lib.abut_default_scene_options())
        model = ffi.NULL if contact_model is None else ffi.new("char[]", contact_model.encode())
        options.contact_model = model
        told = teller(progress, lambda what: renamed(f"{name}: {what}"))
        options.progress, options.user = SCENE_GOES_ON, told.handle
        try:
            check(lib.abut_load_scene_with(self.context.handle, place, options, handle))
        except Error as error:
            raise Error(error.status, renamed(str(error))) from None
        finally:
            told.end()
        self._handle = handle[0]
        info = ffi.new("abut_scene_info *")
        check(lib.abut_get_scene_info(self._handle, info))
        self.links: int = info.links
        self.pairs: int = info.pairs
        self.contacts: int = info.contacts
        self.nq: int = info.nq
        self.nv: int = info.nv
        self.nu: int = info.nu
        self.moved: int = info.moved
        self.timestep: float = info.timestep
        self.parameters: int = info.parameters
        self.by_springs: bool = info.by_springs
        self.hard: bool = info.hard
        self.kinds: int = info.kinds
        self.trees: int = info.trees
        self._starts: int = info.starts
        self._bodies: int = info.bodies
        self.candidate_count: int = info.candidates
        if info.cloud_gap > GAP_MOST:
            warn(renamed(f"{name}: links[{info.cloud_link}].bodies[{info.cloud_body}]: the error of the field of its cloud is up to "
                 f"{100 * info.cloud_gap:.2g} % of its diagonal, at its faces or in its hollows: "
                 "the mesh is too coarse or too hollow for springs"))
        more = f"; {info.suspicious_bodies - 1} more bodies have such warnings" if info.suspicious_bodies > 1 else ""
        for text in diagnostic_texts(info.report):
            warn(renamed(f"{name}: links[{info.suspicious_link}].bodies[{info.suspicious_body}]: {text}{more}"))
        if info.sinking_share > SINKING_MOST:
            others = f", and {info.sinking_pairs - 1} more by less" if info.sinking_pairs > 1 else ""
            warn(renamed(f"{name}: {self._name_pair(info.sinking_pair)}: at rest its spring gives way by {1e3 * info.sinking:.2g} mm, "
                 f"{100 * info.sinking_share:.2g} % of the smaller body's diagonal{others}; with k = "
                 f"{info.sinking_k:.2g} N/m it is 1 %"))
        self._check(name, renamed)

    def _name_pair(self, i: int) -> str:
        """Returns the place of a pair, or of the bodies of an automatic pair."""
        if i < self.pairs:
            return f"pairs[{i}]"
        of, at = [ffi.new("size_t *") for _ in range(2)], [ffi.new("size_t *") for _ in range(2)]
        check(lib.abut_get_candidate(self._handle, i, *of))
        places = []
        for body in of:
            check(lib.abut_get_scene_body(self._handle, body[0], *at))
            places.append(f"links[{at[0][0]}].bodies[{at[1][0]}]")
        return " and ".join(places)

    def _check(self, name: str, renamed: Callable[[str], str]) -> None:
        """Warns of joints for which the steps are unstable, and of suspicious automatic pairs."""
        count, text = ffi.new("size_t *"), ffi.new("const char **")
        check(lib.abut_check_scene(self._handle, count))
        for i in range(count[0]):
            check(lib.abut_get_scene_warning(self._handle, i, text))
            warn(renamed(f"{name}: {ffi.string(text[0]).decode()}"))

    @property
    def bodies(self) -> np.ndarray[Any, Any]:
        """The link of each body, and the body's index among the link's bodies, by the body's number: (bodies, 2)."""
        found = np.empty((self._bodies, 2), np.int64)
        link, place = ffi.new("size_t *"), ffi.new("size_t *")
        for i in range(self._bodies):
            check(lib.abut_get_scene_body(self.handle, i, link, place))
            found[i] = link[0], place[0]
        return found

    @property
    def candidates(self) -> np.ndarray[Any, Any]:
        """The numbers of the two bodies of each pair that may collide, (candidates, 2): the listed pairs, then the automatic
        pairs. Errors: abut.Error if a listed pair has no bodies."""
        found = np.empty((self.candidate_count, 2), np.int64)
        a, b = ffi.new("size_t *"), ffi.new("size_t *")
        for i in range(self.candidate_count):
            check(lib.abut_get_candidate(self.handle, i, a, b))
            found[i] = a[0], b[0]
        return found

    def _positions(self, q: Array) -> tuple[np.ndarray[Any, Any], int]:
        own = real_array(q, self.context.dtype, "q")
        rows = Rows(self.context.dtype, own.shape[:-1])
        return rows.read(own, (self.nq,), "q"), rows.count

    @property
    def link_names(self) -> tuple[str | None, ...]:
        """The names of the links in the scene's file; None for a link without a name."""
        name, found = ffi.new("const char **"), []
        for i in range(self.links):
            check(lib.abut_get_link_name(self.handle, i, name))
            found.append(ffi.string(name[0]).decode() if name[0] else None)
        return tuple(found)

    def _link(self, link: str | int, names: tuple[str | None, ...]) -> int:
        if not isinstance(link, (str, int, np.integer)):
            raise ValueError(f"a link must be a name or a number, not {link!r}")
        if isinstance(link, str):
            if link not in names:
                raise ValueError(f"there is no link with the name {link!r}: there are {', '.join(filter(None, names)) or 'no names'}")
            return names.index(link)
        if not 0 <= link < self.links:
            raise ValueError(f"there is no link {link} (0-based); there are {self.links}")
        return link

    def _select(self, pairs: Sequence[WorldPair] | None, smooth: bool, temperature: float) -> OfPositions:
        """Converts the pairs that `distances` is given."""
        if pairs is None:
            count, of = self.candidate_count, [(i, i) for i in range(self.candidate_count)]
            return OfPositions(self, count, tuple(of), smooth, temperature)
        names, of = self.link_names, []
        links = np.sort(self.bodies[self.candidates, 0]) if len(pairs) else np.empty((0, 2), np.int64)
        for i, pair in enumerate(pairs):
            if isinstance(pair, (int, np.integer)):
                if not 0 <= pair < self.candidate_count:
                    raise ValueError(f"there is no candidate {pair} (0-based); there are {self.candidate_count}")
                of.append((int(pair), i))
                continue
            if isinstance(pair, str) or len(pair) != 2:
                raise ValueError(f"a pair must be the number of a candidate, or two links, not {pair!r}")
            a, b = (self._link(link, names) for link in pair)
            found = np.flatnonzero((links == sorted((a, b))).all(1))
            if not len(found):
                raise ValueError(f"the scene has no pair of links {pair!r}: list it under \"pairs\", or set `automatic`")
            of.extend((int(candidate), i) for candidate in found)
        return OfPositions(self, len(pairs), tuple(of), smooth, temperature)

    def poses(self, q: Array) -> np.ndarray[Any, Any]:
        """Computes poses (..., links, 7) of all links in worlds at positions q (..., nq): x, y, z, qw, qx, qy, qz of each link's
        own frame in the world, with quaternions of length 1. A world whose positions are not finite gets NaN. abut.torch.poses
        and abut.jax.poses differentiate them. Errors: ValueError for shapes."""
        own = real_array(q, self.context.dtype, "q")
        own = Rows(self.context.dtype, own.shape[:-1]).read(own, (self.nq,), "q")
        poses: np.ndarray[Any, Any] = run(plan_of("poses", OfPositions(self), ("q",), ("poses",)), [own])[0]
        return poses

    def distances(self, q: Array, pairs: Sequence[WorldPair] | None = None, *, smooth: bool = True, temperature: float = 0.0,
                  grad: bool = False) -> Distances:
        """Computes signed distances of pairs in worlds at positions q (..., nq), by the fields of their bodies.

        pairs        each is an index into `candidates`, or two links, by names or numbers: then the smallest distance of the
                     candidates between them. None: all candidates, in their order
        smooth       True: soft_distance of abut.reduce; False: its distance
        temperature  [m] of soft distances; 0: a sixteenth of the pair's `penetration`
        grad         also compute derivatives with respect to q
        A world whose positions are not finite gets NaN. abut.torch.distances and abut.jax.distances differentiate them.
        Errors: ValueError for shapes, and for links that do not exist or have no candidate; abut.Error, also with springs.
        """
        own = real_array(q, self.context.dtype, "q")
        rows = Rows(self.context.dtype, own.shape[:-1])
        own, of = rows.read(own, (self.nq,), "q"), self._select(pairs, smooth, temperature)
        if not grad:
            return Distances(run(plan_of("distances", of, ("q",), ("d",)), [own])[0])
        record, handles = of.record(), of.handles()
        made = [np.empty((*rows.lead, of.pairs, *tail), self.context.dtype) for tail in ((), (self.nv,))]
        batch = record.batch
        batch.count, batch.candidates = rows.count, handles
        batch.q, batch.d, batch.gradient = (pointer(array) if array.size else handles for array in (own, *made))
        check(lib.abut_find_distances(self.handle, ffi.addressof(batch)))
        if batch.failures:
            warn_of_failures(self.context, batch.failures)
        return Distances(made[0], self.map("gradient_from_tangent", own[..., None, :], made[1]))

    def _signs(self, pairs: Sequence[WorldPair] | None) -> np.ndarray[Any, Any]:
        """Returns (pairs, candidates): 1 if the candidate belongs to the pair, -1 if its bodies are in the other order, else 0."""
        if pairs is None:
            return np.eye(self.candidate_count, dtype=self.context.dtype)
        of, names = self._select(pairs, True, 0.0), self.link_names
        signs = np.zeros((of.pairs, self.candidate_count), self.context.dtype)
        links = self.bodies[self.candidates, 0]
        for candidate, i in of.candidates:
            pair = pairs[i]
            turned = not isinstance(pair, (int, np.integer)) and links[candidate, 0] != self._link(pair[0], names)
            signs[i, candidate] = -1 if turned else 1
        return signs

    def contact_forces(self, q: Array, v: Array, u: Array | None = None, pairs: Sequence[WorldPair] | None = None, *,
                       threshold: float = 0.0, w: Array | None = None, mass_scale: Array | None = None,
                       friction: Array | None = None, stiffness: Array | None = None, gravity: Array | None = None,
                       springs: Array | None = None, contacts: GivenContacts | None = None) -> Forces:
        """Computes contact forces on links and between the bodies of pairs, in the step that would start at q, v and u.

        pairs      as for distances: each is an index into `candidates`, or two links. For two links the forces of all candidates
                   between them are added, on the first link. None: all candidates, on their first bodies
        threshold  [N] of the sum of a pair's normal forces, above which the pair touches
        All else as in step. Forces are those of the scene's contact law: with soft contacts and springs at the state, with
        hard ones impulses of the step over its length. Contacts of soft laws begin slightly before bodies touch. abut.torch
        and abut.jax have their gradients with soft contacts.
        Errors: as in step; abut.Error, also with springs between clouds.
        """
        signs = self._signs(pairs)
        made = self.step(q, v, u, w=w, mass_scale=mass_scale, friction=friction, stiffness=stiffness, gravity=gravity,
                         springs=springs, contacts=contacts, want=("link_forces", "pair_forces", "pair_normals"))
        return forces_of(made._asdict(), signs, threshold)

    def near(self, q: Array) -> np.ndarray[Any, Any]:
        """Finds pairs that may touch in worlds at positions q (..., nq): the pairs that a step considers; no contact of any other
        pair is active. The result (M, 3) has one row per pair: the world, counted over the leading axes, and the numbers of
        the two bodies. Rows are sorted by world, then by candidate. Errors: abut.Error, also for positions that are not
        finite."""
        own, count = self._positions(q)
        items = ffi.new("abut_items *")
        check(lib.abut_find_items(self.handle, pointer(own), count, items))
        try:
            return copied(items.items, (items.count, 3), np.uint32).astype(np.int64)
        finally:
            lib.abut_free_items(items)

    def find_contacts(self, q: Array, threshold: float = 0.05, *, forces: bool = False, v: Array | None = None,
                      u: Array | None = None) -> WorldContacts:
        """Finds contacts of at least this activity in worlds at positions q (..., nq), including those of automatic pairs.

        forces  also compute the force of each contact on its first body, normal force and friction together, in one step from q,
                v (..., nv) and controls u (..., nu); None: 0. Many hard contacts have none, since the contact model chooses only
                a few of them. NaN where the force is unknown (abut_find_contact_forces)
        Errors: ValueError for shapes; abut.Error, also for positions that are not finite and with springs.
        """
        own, count = self._positions(q)
        batch = Rows(self.context.dtype, own.shape[:-1])
        given = [None if a is None else batch.read(a, (width,), name) for a, width, name in ((v, self.nv, "v"), (u, self.nu, "u"))]
        items, found = ffi.new("abut_items *"), ffi.new("abut_compact *", {"threshold": threshold, "grows": True})
        check(lib.abut_find_contacts(self.handle, pointer(own), count, items, found))
        try:
            real, size = self.context.dtype, found.count
            force = np.empty((size, 3), real) if forces else None
            if force is not None:
                check(lib.abut_find_contact_forces(self.handle, count, pointer(own), *map(pointer, given), items, found,
                                                   pointer(force), ffi.NULL, ffi.NULL))
            at = copied(found.pose, (size,), np.uint32)
            rows = copied(items.items, (items.count, 3), np.uint32)[at]
            return WorldContacts(rows[:, 0].copy(), rows[:, 1:].copy(), copied(items.candidates, (items.count,), np.uint32)[at],
                                 copied(found.slot, (size,), np.uint32), copied(found.p, (size, 3), real),
                                 copied(found.d, (size,), real), copied(found.n, (size, 3), real),
                                 copied(found.activity, (size,), real), force)
        finally:
            lib.abut_free_items(items)
            lib.abut_free_compact(found)

    def start(self) -> np.ndarray[Any, Any]:
        """Positions (nq) of the scene's start state, in the context's precision: hinges and slides at their `start`, balls not
        turned."""
        q = np.empty(self.nq)
        check(lib.abut_get_scene_start(self.handle, ffi.from_buffer("double[]", q)
                                       if q.size else ffi.new("double[1]")))
        return q.astype(self.context.dtype)

    @property
    def starts(self) -> dict[str, Start]:
        """The states that the scene names, in the order of its file, in the context's precision."""
        found = _Starts()
        name = ffi.new("const char **")
        for i in range(self._starts):
            rows = [ffi.new("double[]", width + 1) for width in (self.nq, self.nv, self.nu)]
            check(lib.abut_get_named_start(self.handle, i, name, *rows))
            found[ffi.string(name[0]).decode()] = Start(*(
                np.array(list(row)[:-1], self.context.dtype) for row in rows))
        return found

    def smoothings(self) -> list[dict[str, Any] | None]:
        """The smoothing of each pair, both stated and fitted coefficients, by the names of abut.fit_smoothing; None for pairs
        whose contacts are given, or springs."""
        pair, smoothing = ffi.new("abut_scene_pair *"), ffi.new("abut_smoothing *")
        found: list[dict[str, Any] | None] = []
        for i in range(self.pairs):
            check(lib.abut_get_scene_pair(self.handle, i, pair))
            if pair.pair.index or pair.pair.generation:
                check(lib.abut_get_smoothing(pair.pair, smoothing))
                found.append(read_smoothing(smoothing))
            else:
                found.append(None)
        return found

    def springs(self) -> np.ndarray[Any, Any]:
        """Numbers (pairs, 6) of the scene's springs: k [N/m], mu, v_d, v_s [m/s], eps2, eps3 [m], in the context's precision.
        Errors: abut.Error if its contacts are not springs."""
        numbers = np.empty((self.pairs, SPRING_WIDTH))
        check(lib.abut_get_scene_springs(self.handle, ffi.from_buffer("double[]", numbers)
                                         if numbers.size else ffi.new("double[1]")))
        return numbers.astype(self.context.dtype)

    def step(self, q: Array, v: Array, u: Array | None = None, *, controls: Array | None = None,
             w: Array | None = None, steps: int | None = None, record: int = 0,
             mass_scale: Array | None = None, friction: Array | None = None,
             stiffness: Array | None = None, gravity: Array | None = None, springs: Array | None = None,
             contacts: GivenContacts | None = None, want: Sequence[str] = ()) -> Step:
        """Steps worlds `steps` times (1), one row per world; leading axes are broadcast against each other.

        q, v         (..., nq), (..., nv): a free joint's position and quaternion w, x, y, z (of any length above 0), velocity in
                     the world's axes [m/s], angular velocity in the link's axes [rad/s]
        u            (..., nu) controls for all steps; None: 0
        controls     (..., steps, nu) instead, controls of every step; defines `steps`
        w            (..., nv) the last acceleration, from which the solver starts; None: 0
        record       number of steps after which a state is recorded; 0: none
        mass_scale   (..., links) factors of masses and inertias; None: 1
        friction     (..., parameters) coefficients; None: the scene's. An automatic pair has the larger value of its bodies
        stiffness    (..., parameters) factors of the contacts' stiffness; None: 1. An automatic pair has the root of the product
                     of its bodies' values
        gravity      (..., 3) [m/s^2]; None: the scene's
        springs      (..., pairs, 6) k, mu, v_d, v_s, eps2, eps3 of each pair whose contacts are springs, instead of the pair's
                     own and of friction; None: the scene's
        contacts     GivenContacts instead of the bodies'
        want         any of "mass", "bias", "smooth", "acceleration", "constraint", "multipliers", "energy", "momentum",
                     "status_step", "counts", "fast_links", "link_forces", "pair_forces", "pair_normals" and, for recorded states,
                     "energy_record"; each costs a copy
        Errors: ValueError for shapes and dtypes; abut.Error. A failure of a single world sets its status and is not an error.
        """
        call = Call(self, q, v, u, controls, steps, record, contacts, w=w, mass_scale=mass_scale,
                    friction=friction, stiffness=stiffness, gravity=gravity, springs=springs)
        made = call.step(want)
        return made if made.mass is None else made._replace(mass=mirrored(made.mass))

    def vjp(self, q: Array, v: Array, u: Array | None = None, *, controls: Array | None = None,
            w: Array | None = None, steps: int | None = None, record: int = 0,
            mass_scale: Array | None = None, friction: Array | None = None,
            stiffness: Array | None = None, gravity: Array | None = None, springs: Array | None = None,
            contacts: GivenContacts | None = None, q_bar: Array | None = None,
            v_bar: Array | None = None, q_record_bar: Array | None = None,
            v_record_bar: Array | None = None, acceleration_bar: Array | None = None,
            link_forces_bar: Array | None = None, pair_forces_bar: Array | None = None,
            wrt: Sequence[str] = ("q", "v", "u"), made: Step | None = None,
            escape: bool = False) -> Gradients:
        """Computes gradients of the sum of a step's outputs times these cotangents, by the inputs of the step.

        q_bar, v_bar  (..., nq), (..., nv) of the state after all steps; None is 0
        q_record_bar, v_record_bar  (..., K, nq), (..., K, nv) of recorded states
        acceleration_bar  (..., nv) of the last step's acceleration
        link_forces_bar, pair_forces_bar  (..., links, 6), (..., candidates, 3) of the contact forces in the last step; only with
                      soft contacts
        wrt           any of "q", "v", "u" (also of controls), "mass_scale", "friction", "stiffness", "gravity", "springs"; for
                      given contacts and one step, also "p", "d", "n", "activity"
        made          the result of step for the same inputs; None: it is computed anew if cotangents of quaternions need it
        escape        with hard contacts: each backward step may treat contacts as open that gradient descent would open, if the
                      gradient with respect to v and u is larger so
        All else as in step. Gradients with respect to q are for its numbers, a quaternion's orthogonal to it; `map` converts them
        to gradients along steps in the tangent space. w, iterations and links and pairs of given contacts have no derivatives.
        The gradients of a world that has stopped are 0.
        """
        bars = {"q": q_bar, "v": v_bar, "q_record": q_record_bar, "v_record": v_record_bar,
                "acceleration": acceleration_bar, "link_forces": link_forces_bar, "pair_forces": pair_forces_bar}
        if all(bar is None for bar in bars.values()):
            raise ValueError(f"give at least one cotangent: {', '.join(name + '_bar' for name in bars)}")
        if not record and not (q_record_bar is None and v_record_bar is None):
            raise ValueError("q_record_bar and v_record_bar need recorded states, but record "
                             "is 0")
        options = {"w": w, "mass_scale": mass_scale, "friction": friction, "stiffness": stiffness,
                   "gravity": gravity, "springs": springs}
        call = Call(self, q, v, u, controls, steps, record, contacts, **options)
        needs_end = self.nq != self.nv and not (q_bar is None and q_record_bar is None)
        if made is None and needs_end:
            made = Call(self, q, v, u, controls, steps, record, contacts, **options).step()
        if made is None:  # without quaternions the final numbers are irrelevant, so those of the cotangents replace them
            return call.vjp(bars, wrt, q_bar, q_record_bar, escape)
        return call.vjp(bars, wrt, made.q, made.q_record, escape)

    def jvp(self, q: Array, v: Array, u: Array | None = None, *, controls: Array | None = None,
            w: Array | None = None, steps: int | None = None, record: int = 0,
            mass_scale: Array | None = None, friction: Array | None = None,
            stiffness: Array | None = None, gravity: Array | None = None, springs: Array | None = None,
            contacts: GivenContacts | None = None, q_tangent: Array | None = None,
            v_tangent: Array | None = None, u_tangent: Array | None = None,
            mass_scale_tangent: Array | None = None, friction_tangent: Array | None = None,
            stiffness_tangent: Array | None = None, gravity_tangent: Array | None = None) -> Tangents:
        """Computes derivatives of the results of step along tangents of its inputs. Tangents have the inputs' shapes; None is 0.

        q_tangent     (..., nq): change of q's numbers, not a step in its tangent space; map("slope_from_tangent", q, d) makes one
                      from such a step
        v_tangent     (..., nv)
        u_tangent     as u or controls, whichever was given; (..., nu) if neither was
        mass_scale_tangent, friction_tangent, stiffness_tangent, gravity_tangent  shapes of the parameters
        All else as in step, which is computed, too: `step` of the result. Only the part of a quaternion's tangent that is
        orthogonal to the quaternion counts, and tangents of the result are orthogonal, too. Given contacts and springs'
        numbers are held fixed. A world's tangents are 0 from the step that stops it.
        """
        tangents = {"q": q_tangent, "v": v_tangent, "u": u_tangent, "mass_scale": mass_scale_tangent,
                    "friction": friction_tangent, "stiffness": stiffness_tangent,
                    "gravity": gravity_tangent}
        if all(tangent is None for tangent in tangents.values()):
            raise ValueError(f"give at least one tangent: {', '.join(name + '_tangent' for name in tangents)}")
        call = Call(self, q, v, u, controls, steps, record, contacts, w=w, mass_scale=mass_scale,
                    friction=friction, stiffness=stiffness, gravity=gravity, springs=springs)
        made = call.results()
        return call.jvp(tangents, ("q", "v", "q_record", "v_record")[:4 if record else 2])._replace(step=made)

    def transition(self, q: Array, v: Array, u: Array | None = None, *, w: Array | None = None,
                   mass_scale: Array | None = None, friction: Array | None = None,
                   stiffness: Array | None = None, gravity: Array | None = None, springs: Array | None = None,
                   contacts: GivenContacts | None = None, want: Sequence[str] = ()) -> Transition:
        """Computes the linear model of one step of each world: matrices of the state after the step with respect to the inputs of
        the step.

        want  matrices with respect to parameters: any of "mass_scale", "friction", "stiffness", "gravity"
        All else as in step, which is computed, too: `step` of the result. A state has 2 nv rows and columns, steps in the
        tangent space of q, then v: to first order
            subtract(q', q0') = A[:nv] @ [d, dv] + B[:nv] @ du    where q = add(q0, d)
        so that a quaternion counts three. Matrices of worlds that have stopped are 0.
        """
        call = Call(self, q, v, u, None, None, 0, contacts, w=w, mass_scale=mass_scale,
                    friction=friction, stiffness=stiffness, gravity=gravity, springs=springs)
        made = call.results()
        return call.transition(want)._replace(step=made)

    def add(self, q: Array, d: Array) -> np.ndarray[Any, Any]:
        """Adds a step to positions, q (+) d: positions (..., nq) after a step (..., nv) in their tangent space. A quaternion
        turns by d in the link's axes [rad], and has length 1 in the result."""
        return self._map(lib.abut_add_positions, q, d, "d", self.nv, self.nq)

    def subtract(self, left: Array, right: Array) -> np.ndarray[Any, Any]:
        """Computes the step between positions, left (-) right: the step (..., nv) from right (..., nq) to left (..., nq), with
        rotations of at most pi."""
        def call(handle: Any, count: int, right: Any, left: Any, d: Any) -> int:
            return int(lib.abut_subtract_positions(handle, count, left, right, d))
        return self._map(call, right, left, "left", self.nq, self.nv)

    def map(self, kind: str, q: Array, x: Array) -> np.ndarray[Any, Any]:
        """Converts derivatives with respect to positions' nq numbers to derivatives along steps of their tangent space (nv), or
        back, at positions q (..., nq). A quaternion's gradient is orthogonal to it.

        kind  "slope_to_tangent" and "slope_from_tangent": for rates of q, with q (+) d = q + slope_from_tangent(d) to first
              order, for quaternions of length 1; "gradient_to_tangent" and "gradient_from_tangent", their transposes: for a
              function's gradients
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
            raise ValueError(f"q has shape {own.shape} and {name} {other.shape}, which do not have the same "
                             "batch") from None
        rows = Rows(self.context.dtype, lead)
        own = rows.read(own, (self.nq,), "q")
        other = rows.read(other, (width,), name)
        made = np.empty((*lead, out), self.context.dtype)
        check(call(self.handle, rows.count if made.size else 0, pointer(own), pointer(other),
                   pointer(made)))
        return made

    def __repr__(self) -> str:
        return (f"<abut.Scene of {self.links} link{'' if self.links == 1 else 's'}, nq {self.nq}, nv {self.nv}, nu {self.nu}, "
                f"{self.pairs} pair{'' if self.pairs == 1 else 's'}{'' if self._handle else ', closed'}>")
