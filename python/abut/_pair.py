"""Pairs of bodies, and the smoothing of their contacts."""
from __future__ import annotations

import itertools
import math
import numbers
import os
import types
import weakref
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from abut import _drivers
from abut._arrays import by_position
from abut._body import Body
from abut._ccd_mesh import CcdMesh
from abut._context import Owner
from abut._native import check, ffi, lib

__all__ = ["Layout", "Pair", "anneal", "fit_smoothing", "load_smoothing"]

_WORDS = {"select": ("softsort", "gate"), "edge_contacts": ("pairs", "field")}
_SMOOTHING = {"union": "union_"}  # names that differ from the C API's
_FOLLOWERS = ("neighbour", "inset", "part", "gain", "cone_inset")  # lengths that are fitted to the penetration
# Functions that users may look for as methods of a Pair.
_FUNCTIONS = ("active", "ccd", "contacts", "hessian", "hvp", "jacobian", "jvp", "reduce", "vjp")
_LENGTH_LEAST = 1e-6  # [m] of a smoothing
_TAKEN_OUT = ("near", "reach", "ends", "agree")


class Layout(NamedTuple):
    """Layout of a pair's contact slots: counts and first slots, of body 1 and of body 2. edge_slots is the number of slots of
    edges: one for each pair of edges, or two for each edge in the other body's field."""

    contacts: int
    vertices: tuple[int, int]
    edges: tuple[int, int]
    vertex_offset: tuple[int, int]
    edge_offset: tuple[int, int]
    edge_slots: tuple[int, int]


Layout.__module__ = "abut"  # for pickle


def _smoothing_fields() -> list[str]:
    return [name for name, _ in ffi.typeof("abut_smoothing").fields if name != "cookie"]


def read_smoothing(s: Any) -> dict[str, Any]:
    backward = {c: python for python, c in _SMOOTHING.items()}
    out: dict[str, Any] = {}
    for name in _smoothing_fields():
        value = getattr(s, name)
        if name in ("edges", "vertices"):
            value = (value[0], value[1])
        out[backward.get(name, name)] = _WORDS[name][value] if name in _WORDS else value
    return out


def _check_smoothing(given: Any) -> None:
    if given is not None and not isinstance(given, Mapping):
        raise TypeError(f"smoothing is a {type(given).__name__}, not a mapping of coefficients by name: "
                        "abut.Pair(a, b, abut.load_smoothing(path)) takes those of a file")


def _fill_smoothing(s: Any, given: Mapping[str, Any]) -> None:
    known = [{c: python for python, c in _SMOOTHING.items()}.get(n, n) for n in _smoothing_fields()]
    for name, value in given.items():
        if name in _TAKEN_OUT:
            if isinstance(value, numbers.Real) and value == 0:  # off, in the form of older dicts
                continue
            raise ValueError(f"smoothing {name!r} was removed in version 0.3: use edge contacts in fields "
                             "(edge_contacts='field')")
        if name not in known:
            raise ValueError(f"smoothing has no {name!r}; it has {', '.join(known)}")
        if name in _WORDS:
            if value not in _WORDS[name]:
                raise ValueError(f"{name} is {value!r}, not {' or '.join(map(repr, _WORDS[name]))}")
            value = _WORDS[name].index(value)
        try:
            setattr(s, _SMOOTHING.get(name, name), value)
        except (TypeError, OverflowError) as error:
            raise ValueError(f"smoothing {name!r} cannot be {value!r}: {error}") from error


def fit(a: Body, b: Body, given: Mapping[str, Any] | None = None) -> Any:
    _check_smoothing(given)
    s = ffi.new("abut_smoothing *")
    given = given or {}
    pairs = given.get("edge_contacts") == "pairs"
    check((lib.abut_fit_edge_pairs if pairs else lib.abut_fit_smoothing)(a.handle, b.handle, s))
    # Cones need both bodies' vertices and edges: without them cones are off, unless they were requested.
    if not all(given.get(name, True) for name in ("edge_edge", "two_sided")):
        for name in ("cone_inner", "cone_outer", "cone_hold", "cone_inset"):
            setattr(s, name, 0.0)
    _fill_smoothing(s, given)
    return s


def fit_smoothing(a: Body, b: Body, edge_contacts: str = "field") -> dict[str, Any]:
    """Fits smoothing coefficients to the size of two bodies, by name (abut_smoothing of the C API, where `union` is `union_`).

    edge_contacts  "field": edges make contacts with the other body's field, with normal cones; "pairs": with its edges, as in
                   Beker et al.
    """
    return read_smoothing(fit(a, b, {"edge_contacts": edge_contacts}))


def load_smoothing(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Loads all smoothing coefficients for a Pair from a .json file, by name."""
    s = ffi.new("abut_smoothing *")
    check(lib.abut_load_smoothing(os.fsencode(path), s))
    return read_smoothing(s)


# A pair's number in compiled programs, which can contain only numbers; never reused.
_numbers = itertools.count(1)
_numbered: weakref.WeakValueDictionary[int, Pair] = weakref.WeakValueDictionary()


def pair_of(number: int) -> Pair:
    """Returns the pair with the number that a compiled program uses."""
    pair = _numbered.get(int(number))
    if pair is None:
        raise ValueError(f"pair {int(number)} was freed: keep it as long as the compiled function " "that uses it")
    return pair


def _warn_of_clearance(body: Body, penetration: float) -> None:
    """Warns once per body whose field cannot provide the requested contacts of the pair."""
    if body._off and body._off[1] > penetration:
        name, off = body._off
        _drivers.warn(f"{name}: the error of its field is up to {off:.2g} m at 95 % of the surface, more than the "
                      f"{penetration:.2g} m of the smoothing's penetration: "
                      "smaller clearances are meaningless; set a smaller tolerance")
        body._off = None


class Pair(Owner):
    """Two bodies of one context with their smoothing. The bodies may be the same.

    smoothing  coefficients that differ from the fitted ones, by name. As an attribute, all of them, read-only
    C          number of contact slots of a pose
    layout     layout of the contact slots
    number     number of this pair in compiled programs
    """

    _destroy = lib.abut_destroy_pair
    _ccd_meshes: tuple[CcdMesh, CcdMesh] | None = None
    _varied: Any = None  # for derivatives with respect to shapes in frameworks

    @by_position
    def __init__(self, a: Body, b: Body, smoothing: Mapping[str, Any] | None = None) -> None:
        for name, body in (("a", a), ("b", b)):
            if not isinstance(body, Body):
                raise ValueError(f"{name} is a {type(body).__name__}, not an abut.Body: abut.load reads "
                                 "files")
        if a.context is not b.context:
            raise ValueError("the two bodies belong to different contexts")
        s = fit(a, b, smoothing)
        handle = ffi.new("abut_pair *")
        check(lib.abut_create_pair(a.handle, b.handle, s, handle))
        self._handle = handle[0]
        self.bodies = (a, b)
        self.context = a.context
        self.dtype = a.context.dtype
        self.smoothing: Mapping[str, Any] = types.MappingProxyType(read_smoothing(s))
        layout = ffi.new("abut_layout *")
        check(lib.abut_get_layout(self._handle, layout))
        for body in self.bodies:
            _warn_of_clearance(body, s.penetration)
        self.layout = Layout(layout.contacts, *(
            (getattr(layout, name)[0], getattr(layout, name)[1]) for name in
            ("vertices", "edges", "vertex_offset", "edge_offset", "edge_slots")))
        self.C: int = layout.contacts
        self.number: int = next(_numbers)
        _numbered[self.number] = self

    def ccd_meshes(self) -> tuple[CcdMesh, CcdMesh]:
        """The bodies' meshes for abut.ccd, made on first use and retained by the pair."""
        if self.handle is not None and self._ccd_meshes is None:
            one = CcdMesh.of_body(self.bodies[0])
            self._ccd_meshes = (one, one if self.bodies[1] is self.bodies[0] else CcdMesh.of_body(self.bodies[1]))
        assert self._ccd_meshes is not None
        return self._ccd_meshes

    if not TYPE_CHECKING:  # a type checker refuses attributes that are not there
        def __getattr__(self, name: str) -> Any:
            why = f": abut.{name} takes a pair as its first argument" if name in _FUNCTIONS else ""
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{why}", name=name, obj=self)

    def close(self) -> None:
        super().close()
        self._ccd_meshes = None  # results and programs may still refer to it
        self._varied = None

    def __repr__(self) -> str:
        return f"<abut.Pair of {self.C} contact slots{'' if self._handle else ', closed'}>"


def anneal(a: Body, b: Body, coarse: float, fine: float, stages: int = 5,
           smoothing: Mapping[str, Any] | None = None) -> list[Pair]:
    """Makes pairs of the same two bodies with coarse to fine contacts, for a descent that uses one pair after the other.

    coarse, fine  `penetration` of the first and of the last pair [m]; each stage divides it by the same number
    stages        number of pairs, at least 2
    smoothing     as for Pair, without "penetration". Lengths that a fit derives from the penetration change with it, unless they
                  are stated here: neighbour, inset, part, gain and cone_inset
    Errors: ValueError.
    """
    _check_smoothing(smoothing)
    given = dict(smoothing or {})
    if "penetration" in given:
        raise ValueError("anneal changes penetration itself: give coarse and fine instead")
    if not isinstance(stages, numbers.Integral) or stages < 2:
        raise ValueError(f"stages is {stages!r}, not a whole number of at least 2")
    for name, value in (("coarse", coarse), ("fine", fine)):
        if not isinstance(value, numbers.Real) or not 0 < value < math.inf:
            raise ValueError(f"{name} is {value!r}, not a length above 0")
    fitted = Pair(a, b, given).smoothing
    pairs = []
    for stage in range(stages):
        penetration = float(fine) if stage == stages - 1 else coarse * (fine / coarse) ** (stage / (stages - 1))
        follow = {name: fitted[name] * penetration / fitted["penetration"] for name in _FOLLOWERS if name not in given}
        if "gain" in follow:
            follow["gain"] = max(follow["gain"], _LENGTH_LEAST)
        pairs.append(Pair(a, b, {**given, **follow, "penetration": penetration}))
    return pairs
