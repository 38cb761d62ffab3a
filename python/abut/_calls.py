"""Contacts, reductions, lists and their derivatives, for NumPy arrays."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Union

import numpy as np

from abut import _forms
from abut._arrays import Rows, by_position, check_names, copied, pointer, real_array
from abut._body import Body
from abut._ccd_mesh import CcdMesh
from abut._context import Context, warn_of_failures
from abut._drivers import warn
from abut._native import check, ffi, lib
from abut._pair import Pair

__all__ = ["ActiveContacts", "Contacts", "Reduction", "active", "contacts", "hessian", "hvp",
           "jacobian", "jvp", "reduce", "vjp", "vjp_tangent"]

Array = Any  # np.ndarray, or types that NumPy accepts without a copy
Pairs = Union[Pair, Sequence[Pair]]

_lines = [line.split() for line in ffi.string(lib.abutpy_outputs()).decode().split("\n")]
OUTPUTS, _MORE = (tuple(line[::2]) for line in _lines)  # the default outputs; the others
ALL_OUTPUTS = (*OUTPUTS, *_MORE)
TAILS = {name: (int(reals),) if reals != "1" else () for line in _lines  # axes after those of contacts
         for name, reals in zip(line[::2], line[1::2])}
VALUES = tuple(ffi.string(lib.abutpy_reductions()).decode().split())
REDUCTIONS = {name: number for number, name in enumerate(VALUES) if name != "minimum_distance"}
MOVING = {"both": 0, 1: 1, 2: 2}
SAME = ffi.new("abut_pair *")[0]


class Contacts(NamedTuple):
    """Contacts of a batch with leading axes (...). Outputs that were not wanted are None.

    p         (..., C, 3) position in the world [m]
    d         (..., C) signed distance [m], negative inside
    n         (..., C, 3) normal, out of the opposing body
    activity  (..., C) in [0, 1]
    status    (...) uint8: 0, or 1 for a pose that is not finite, 2 for a quaternion of length 0; rows of such poses are NaN
    weight    (..., C) in [0, 1], the relevance of a contact regardless of its depth; only if requested
    """

    p: np.ndarray[Any, Any] | None = None
    d: np.ndarray[Any, Any] | None = None
    n: np.ndarray[Any, Any] | None = None
    activity: np.ndarray[Any, Any] | None = None
    status: np.ndarray[Any, Any] | None = None
    weight: np.ndarray[Any, Any] | None = None


class Reduction(NamedTuple):
    """Result of abut.reduce: one number for each pose, (...). If requested, it has the gradients (..., P) by both poses, and the
    smallest distance (...) of a vertex [m]. status (...) uint8 is as for Contacts, and 4 if bodies are deep in each other,
    which only "distance" and "soft_distance" check."""

    value: np.ndarray[Any, Any]
    grad1: np.ndarray[Any, Any] | None = None
    grad2: np.ndarray[Any, Any] | None = None
    nearest: np.ndarray[Any, Any] | None = None
    status: np.ndarray[Any, Any] | None = None


def contact_shape(name: str, count: int) -> tuple[int, ...]:
    return (count, *TAILS[name])


def named(given: Mapping[str, Array | None], suffixes: Sequence[str] = ("",)) -> None:
    """Refuses keywords that are not names of outputs."""
    for name in given:
        if name not in [output + suffix for output in ALL_OUTPUTS for suffix in suffixes]:
            raise TypeError(f"{name!r} is not an output of contacts; the outputs are {', '.join(ALL_OUTPUTS)}")


class Batch:
    """A C batch with everything that it points to."""

    __slots__ = ("C", "batch", "context", "kept", "owner", "pose1", "pose2", "rows", "width")

    def __init__(self, pair: Pairs, pose1: Array, pose2: Array, index: Array | None) -> None:
        pairs = (pair,) if type(pair) is Pair else _list_of(pair)
        self.context: Context = pairs[0].context
        dtype = self.context.dtype
        self.pose1, self.pose2 = poses_of(pose1, pose2, dtype)
        width = _width(self.pose1, self.pose2)
        self.width = width
        lead = self.pose1.shape[:-1]
        if lead != self.pose2.shape[:-1]:
            lead = _common(self.pose1, self.pose2)
        self.rows = Rows(dtype, lead)
        self.kept: list[Any] = [pair]
        if type(pair) is Pair:
            if index is not None:
                raise ValueError("index is only for a list of pairs; there is "
                                 "one pair")
            self.owner, self.C = pair.handle, pair.C
        else:
            self.owner, self.C = SAME, max(p.C for p in pairs)
        self.pose1 = self.rows.read(self.pose1, (width,), "pose1")
        self.pose2 = self.rows.read(self.pose2, (width,), "pose2")
        self.batch = ffi.new("abut_batch *")
        null = ffi.NULL
        lib.abutpy_set_batch(self.batch, self.rows.count, width - 6, pointer(self.pose1),
                             pointer(self.pose2), null, null, null, null, null)
        if type(pair) is not Pair:
            self._set_pairs(pairs, index)

    def _set_pairs(self, pairs: Sequence[Pair], index: Array | None) -> None:
        if index is None:
            raise ValueError("a list of pairs needs index, which names the pair of each pose")
        which = pair_rows(index, self.rows.lead, len(pairs))
        handles = ffi.new("abut_pair[]", [p.handle for p in pairs])
        self.batch.pairs, self.batch.pair_count = handles, len(pairs)
        self.batch.pair = ffi.from_buffer("uint32_t[]", which) if which.size else ffi.NULL
        self.kept += [which, handles, pairs]

    def keep(self, array: np.ndarray[Any, Any] | None) -> Any:
        """Returns a pointer to an array, which the batch keeps alive."""
        where = pointer(array)
        self.kept.append(where)
        return where

    def input(self, value: Array | None, tail: tuple[int, ...], name: str) -> Any:
        """Returns a pointer to an input; NULL if there is none."""
        return ffi.NULL if value is None else self.keep(self.rows.read(value, tail, name))

    def output(self, tail: tuple[int, ...], out: Mapping[str, Any] | None = None,
               name: str = "", dtype: Any = None) -> np.ndarray[Any, Any]:
        return self.rows.write(out, name, tail, dtype)

    def gradients(self) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], Any]:
        g1, g2 = self.output((self.width,)), self.output((self.width,))
        return g1, g2, self.struct("abut_gradients *", pose1=g1, pose2=g2)

    def tangents(self, tangent1: Array | None, tangent2: Array | None) -> Any:
        if tangent1 is None and tangent2 is None:
            raise ValueError("give tangent1, tangent2 or both")
        along = ffi.new("abut_pose_tangents *")
        along.pose1 = self.input(tangent1, (self.width,), "tangent1")
        along.pose2 = self.input(tangent2, (self.width,), "tangent2")
        return along

    def cotangents(self, given: Mapping[str, Array | None], suffix: str = "",
                   needed: bool = False) -> Any:
        if needed and all(value is None for value in given.values()):
            raise ValueError(f"give at least one cotangent: {', '.join(given)}")
        bars = ffi.new("abut_cotangents *")
        for name, value in given.items():
            setattr(bars, name, self.input(value, contact_shape(name, self.C), name + suffix))
        return bars

    def struct(self, kind: str, **arrays: np.ndarray[Any, Any] | None) -> Any:
        made = ffi.new(kind)
        for name, array in arrays.items():
            setattr(made, name, self.keep(array))
        return made

    def done(self, status: int) -> None:
        """Finishes the batch after the call."""
        check(status)
        if self.batch.failures:
            warn_of_failures(self.context, self.batch.failures)


def pair_rows(index: Array, lead: tuple[int, ...], count: int) -> np.ndarray[Any, Any]:
    """Returns the index of each pose's pair among `count` pairs."""
    which = np.asarray(index)
    if which.dtype.kind not in "iu":
        raise ValueError(f"index has dtype {which.dtype.name}, expected integers")
    if which.size and (which.min() < 0 or which.max() >= count):
        raise ValueError(f"index names a pair that does not exist; there are {count}")
    try:
        which = np.broadcast_to(which, lead)
    except ValueError:
        raise ValueError(f"index has shape {which.shape}, not {lead}") from None
    return np.ascontiguousarray(which, np.uint32)


def _list_of(pairs: Any) -> tuple[Pair, ...]:
    if isinstance(pairs, (Body, CcdMesh)):
        raise TypeError("pair is a single body: make a pair with abut.Pair(a, b)")
    try:
        listed = tuple(pairs)
    except TypeError:
        listed = ()
    if not listed or not all(isinstance(p, Pair) for p in listed):
        raise ValueError("pair must be an abut.Pair, or a sequence with at least one")
    if any(p.context is not listed[0].context for p in listed):
        raise ValueError("the pairs belong to different contexts")
    return listed


def poses_of(pose1: Any, pose2: Any, dtype: np.dtype[Any]) -> tuple[np.ndarray[Any, Any],
                                                                    np.ndarray[Any, Any]]:
    """Converts the caller's poses to arrays of the context's precision and of one kind."""
    one, two = all_poses_of((pose1, pose2), ("pose1", "pose2"), dtype)
    return one, two


def all_poses_of(poses: Sequence[Any], names: Sequence[str], dtype: np.dtype[Any]) -> list[np.ndarray[Any, Any]]:
    """Converts any number of poses to arrays of one kind. Errors use the given names."""
    for name, pose in zip(names, poses):
        if isinstance(pose, (Body, CcdMesh, Pair)):
            raise TypeError(f"{name} is a {type(pose).__name__}, not a pose: abut.Pair(a, b) makes a pair of two bodies, and poses follow it")
    arrays = [None if pose is None else real_array(pose, dtype, name) for name, pose in zip(names, poses)]
    for name, array in zip(names, arrays):
        if array is not None and _forms.is_matrix(array):
            _forms.check_matrix(array, name)
    return [np.asarray(pose, dtype, order="C") for pose in _forms.all_of_one_kind(np, arrays, names)]


def _width(pose1: np.ndarray[Any, Any], pose2: np.ndarray[Any, Any]) -> int:
    widths = [pose.shape[-1] if pose.ndim else 0 for pose in (pose1, pose2)]
    for name, pose, width in zip(("pose1", "pose2"), (pose1, pose2), widths):
        if width not in (6, 7):
            raise ValueError(f"{name} has shape {pose.shape}: its last axis is a twist's 6 numbers, "
                             "or position and quaternion, 7; or its last two are a matrix, 4 x 4")
    return int(widths[0])


def _common(pose1: np.ndarray[Any, Any], pose2: np.ndarray[Any, Any]) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(pose1.shape[:-1], pose2.shape[:-1])
    except ValueError:
        raise ValueError(f"pose1 has shape {pose1.shape} and pose2 {pose2.shape}, which do not have the same "
                         "batch") from None


_from_buffer, _ndarray, _empty = ffi.from_buffer, np.ndarray, np.empty
_contacts, _null, _new = lib.abutpy_contacts, ffi.NULL, tuple.__new__
_bytes = np.dtype(np.uint8)
_FEW, _NONE = frozenset(OUTPUTS), (None,) * len(_MORE)


def _at_once(pair: Pair, pose1: Any, pose2: Any, want: Sequence[str],
             out: Mapping[str, Any] | None) -> Contacts | None:
    """Computes contacts of arrays that need no conversion, in few steps: a call at batch 1 takes a tenth of a millisecond.
    Returns None for anything unusual, which `contacts` then computes or refuses."""
    dtype, shape = pair.dtype, pose1.shape
    if want is not OUTPUTS and not _FEW.issuperset(want):
        return None
    if pose1.dtype is not dtype or pose2.dtype is not dtype or shape != pose2.shape or not shape:
        return None
    width = shape[-1]
    if width != 6 and width != 7:
        return None
    lead = shape[:-1]
    slots = (*lead, pair.C)
    points = (*slots, 3)
    left = len(out) if out else 0
    arrays: list[Any] = []
    places: list[Any] = []
    for name, wanted in (("p", points), ("d", slots), ("n", points), ("activity", slots),
                         ("status", lead)):
        numbers = dtype if wanted is not lead else _bytes
        if left and name in out:  # type: ignore[operator]
            array = out[name]  # type: ignore[index]
            left -= 1
            if ((name not in want and wanted is not lead) or type(array) is not _ndarray or
                    array.shape != wanted or array.dtype is not numbers or not array.flags.writeable):
                return None
        elif name in want or wanted is lead:
            array = _empty(wanted, numbers)
        else:
            arrays.append(None)
            places.append(_null)
            continue
        arrays.append(array)
        places.append(_from_buffer(array))
    if left:
        return None
    if out and len(out) > 1:
        _refuse_shared(out)
    code = _contacts(pair._handle, pose1.size // width, width - 6, _from_buffer(pose1),
                     _from_buffer(pose2), *places)
    if code:
        if code < 0:
            check(code)
        warn_of_failures(pair.context, code)
    if arrays[4].any():
        warn_of_poses(arrays[4])
    arrays += _NONE
    return _new(Contacts, arrays)


_REJECTED = {1: "are not finite", 2: "have a quaternion of length 0"}


def warn_of_poses(status: np.ndarray[Any, Any]) -> None:
    """Warns in Python if poses are rejected: their rows are NaN."""
    if status.any():
        for bit, text in _REJECTED.items():
            warn_of_rows(status & bit, text, "numbers are NaN")


def warn_of_rows(bad: np.ndarray[Any, Any], what: str, effect: str) -> None:
    """Warns of the poses of rows where `bad` is not 0."""
    poses = np.flatnonzero(bad)
    if len(poses):
        warn(f"{len(poses)} of {bad.size} poses {what}; the first one has index {poses[0]}: their {effect}")


def _refuse_shared(out: Mapping[str, Any]) -> None:
    arrays = [(name, a) for name, a in out.items() if isinstance(a, np.ndarray)]
    for i, (name, one) in enumerate(arrays):
        for other, another in arrays[:i]:
            if np.may_share_memory(one, another):
                raise ValueError(f"out[{name!r}] and out[{other!r}] share memory")


@by_position
def contacts(pair: Pairs, pose1: Array | None = None, pose2: Array | None = None, *, want: Sequence[str] = OUTPUTS,
             out: Mapping[str, Any] | None = None, index: Array | None = None) -> Contacts:
    """Computes all contacts of every pose.

    pair          a Pair; or several of one context, with index (...) as the number of each pose's pair. C is the largest number
                  of slots among them; slots beyond a pair's own are 0
    pose1, pose2  (..., 6) twists (translation part first), (..., 7) positions and quaternions x, y, z, qw, qx, qy, qz, or (...,
                  4, 4) matrices; None is the identity. Leading axes are broadcast, and are those of the result. If the two pose
                  formats differ, both are converted to, and differentiated as, positions and quaternions
    want          any of "p", "d", "n", "activity", and "weight", which must be named. Other outputs are neither computed nor
                  copied
    out           arrays to write the wanted outputs into, by name; "status" too
    Errors: ValueError for shapes and dtypes; abut.Error. A pose that is not finite gives NaN, and its status.
    """
    if want is not OUTPUTS:
        check_names(want, ALL_OUTPUTS, "want")
    if (index is None and type(pair) is Pair and type(pose1) is type(pose2) is _ndarray and
            pair._handle is not None):
        try:
            done = _at_once(pair, pose1, pose2, want, out)
            if done is not None:
                return done
        except (ValueError, BufferError):
            pass  # not contiguous: converted, or refused by name
    if out:
        check_names(out, (*want, "status"), "out")
    b = Batch(pair, pose1, pose2, index)
    if out:
        _refuse_shared(out)
    made: dict[str, Any] = {}
    for name in want:
        made[name] = array = b.output(contact_shape(name, b.C), out, name)
        setattr(b.batch, name, b.keep(array))
    status = b.output((), out, "status", np.uint8)
    b.batch.status = ffi.from_buffer("uint8_t[]", status) if status.size else ffi.NULL
    b.done(lib.abut_contacts(b.owner, b.batch))
    warn_of_poses(status)
    return Contacts(**made, status=status)


def _set_temperature(b: Batch, kind: str, temperature: float | None) -> None:
    if temperature is None:
        return
    if kind != "soft_distance":
        raise ValueError(f"temperature works only with 'soft_distance', not with {kind!r}")
    if not temperature > 0.0:
        raise ValueError(f"temperature is {temperature!r}; it must be above 0")
    b.batch.reductions.temperature = temperature


def _reduction(kind: str) -> int:
    if kind == "minimum_distance":
        raise ValueError("'minimum_distance' has no derivatives; 'distance' and 'soft_minimum' have")
    if kind not in REDUCTIONS:
        raise ValueError(f"a reduction {kind!r} is not among {', '.join(REDUCTIONS)}")
    return REDUCTIONS[kind]


@by_position
def reduce(pair: Pairs, pose1: Array, pose2: Array, kind: str, *, grad: bool = False,
           nearest: bool = False, index: Array | None = None,
           temperature: float | None = None) -> Reduction:
    """Reduces the contacts of each pose to one number, such as a distance or an energy. No manifold is stored.

    kind         "distance", distance or depth [m], with the gradient of the contact that has it; "soft_distance", its smooth form
                 [m]; "mean_distance" [m]; "activity" (their sum); "energy", the sum of activity max(-d, 0)^2 [m^2];
                 "soft_minimum" of the vertices' distances [m]; or, without a gradient, "minimum_distance" of these [m]
    temperature  of "soft_distance" [m]; None: a sixteenth of the smoothing's `penetration`
    grad         also compute the gradients with respect to the numbers of both poses
    nearest      also compute the smallest distance of a vertex, in the same pass
    """
    if kind not in VALUES:
        raise ValueError(f"a reduction {kind!r} is not among {', '.join(VALUES)}")
    b = Batch(pair, pose1, pose2, index)
    _set_temperature(b, kind, temperature)
    value = b.output(())
    least = b.output(()) if nearest else None
    if least is not None:
        b.batch.reductions.minimum_distance = b.keep(least)
    setattr(b.batch.reductions, kind, b.keep(value))
    status = b.output((), None, "", np.uint8)
    b.batch.status = ffi.from_buffer("uint8_t[]", status) if status.size else ffi.NULL
    if not grad:
        b.done(lib.abut_contacts(b.owner, b.batch))
        if nearest and kind == "minimum_distance":
            least = value
        warn_of_poses(status)
        return Reduction(value, nearest=least, status=status)
    number = _reduction(kind)
    g1, g2, gradients = b.gradients()
    b.done(lib.abut_gradient(b.owner, SAME, b.batch, number, gradients))
    warn_of_poses(status)
    return Reduction(value, g1, g2, least, status)


@by_position
def vjp(pair: Pairs, pose1: Array, pose2: Array, *, index: Array | None = None,
        **cotangents: Array | None) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Computes gradients (..., P) by both poses of the sum of all outputs times their cotangents. The cotangents have the
    outputs' names (p, d, n, activity, weight) and shapes; None is zero."""
    named(cotangents)
    b = Batch(pair, pose1, pose2, index)
    g1, g2, gradients = b.gradients()
    bars = b.cotangents(cotangents, needed=True)
    b.done(lib.abut_vjp(b.owner, SAME, b.batch, bars, gradients))
    return g1, g2


@by_position
def jvp(pair: Pairs, pose1: Array, pose2: Array, *, tangent1: Array | None = None,
        tangent2: Array | None = None, want: Sequence[str] = OUTPUTS,
        index: Array | None = None) -> Contacts:
    """Computes derivatives of the contacts along tangents (..., P) of the poses. None is zero."""
    check_names(want, ALL_OUTPUTS, "want")
    b = Batch(pair, pose1, pose2, index)
    along = b.tangents(tangent1, tangent2)
    made = {name: b.output(contact_shape(name, b.C)) for name in want}
    status = b.output((), None, "", np.uint8)
    b.batch.status = ffi.from_buffer("uint8_t[]", status) if status.size else ffi.NULL
    b.done(lib.abut_jvp(b.owner, SAME, b.batch, along, b.struct("abut_tangents *", **made)))
    return Contacts(**made, status=status)


@by_position
def vjp_tangent(pair: Pairs, pose1: Array, pose2: Array, *, tangent1: Array | None = None,
                tangent2: Array | None = None, index: Array | None = None,
                **cotangents: Array | None) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Computes the derivative of the result of vjp along tangents of the poses and of the cotangents. Second derivatives of
    contacts need it. The cotangents are those of vjp, and p_tangent and so on are their tangents."""
    named(cotangents, ("", "_tangent"))
    b = Batch(pair, pose1, pose2, index)
    g1, g2, gradients = b.gradients()
    along = ffi.new("abut_pose_tangents *")
    along.pose1 = b.input(tangent1, (b.width,), "tangent1")
    along.pose2 = b.input(tangent2, (b.width,), "tangent2")
    bars = b.cotangents({name: cotangents.get(name) for name in ALL_OUTPUTS})
    slopes = b.cotangents({name: cotangents.get(name + "_tangent") for name in ALL_OUTPUTS}, "_tangent")
    b.done(lib.abut_vjp_tangent(b.owner, b.batch, bars, slopes, along, ffi.NULL, gradients))
    return g1, g2


@by_position
def hvp(pair: Pairs, pose1: Array, pose2: Array, kind: str, *, tangent1: Array | None = None,
        tangent2: Array | None = None, index: Array | None = None,
        temperature: float | None = None) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Computes the Hessian of a reduction times a tangent: the derivative of its gradients (..., P) along the tangent."""
    number = _reduction(kind)
    b = Batch(pair, pose1, pose2, index)
    _set_temperature(b, kind, temperature)
    along = b.tangents(tangent1, tangent2)
    h1, h2, products = b.gradients()
    b.done(lib.abut_hessian_product(b.owner, b.batch, number, along, ffi.NULL, products))
    return h1, h2


@by_position
def hessian(pair: Pairs, pose1: Array, pose2: Array, kind: str, *, moving: int | str = "both",
            index: Array | None = None,
            temperature: float | None = None) -> np.ndarray[Any, Any]:
    """Computes the whole Hessian (..., K, K) of a reduction by the poses of `moving`: "both", 1 or 2. K is 2 P, with pose 1's
    numbers first, or P. It costs as much as six calls of hvp, for any K."""
    number = _reduction(kind)
    if moving not in MOVING:
        raise ValueError(f"moving is {moving!r}, not 'both', 1 or 2")
    b = Batch(pair, pose1, pose2, index)
    _set_temperature(b, kind, temperature)
    size = b.width * (2 if moving == "both" else 1)
    out = b.output((size, size))
    b.done(lib.abut_hessian(b.owner, b.batch, number, MOVING[moving], ffi.NULL, pointer(out)))
    return out


class ActiveContacts:
    """The contacts of a batch whose activity reaches a threshold, sorted by pose, then by slot.

    pose      (K,) uint32, index in the batch, with its leading axes folded into one
    slot      (K,) uint32, in 0 .. C-1
    feature   (K, 2) uint32, vertex or edge of body 1 and of body 2; abut.NO_FEATURE if the contact has none
    p, n      (K, 3); d, activity (K,)
    weight    (K,) if requested, or None
    jacobian  (K, 8, 2 P) of abut.jacobian: rows p, d, n, activity, columns pose 1, pose 2; or None
    """

    p: np.ndarray[Any, Any]
    d: np.ndarray[Any, Any]
    n: np.ndarray[Any, Any]
    activity: np.ndarray[Any, Any]
    weight: np.ndarray[Any, Any] | None

    def __init__(self, batch: Batch, of: tuple[Any, ...], compact: Any, with_blocks: bool) -> None:
        self._of = of  # copies of pair, poses and index: the caller's arrays may change
        self._count = batch.rows.count
        self._dtype = batch.rows.dtype
        count = compact.count
        real = batch.rows.dtype
        self.pose = copied(compact.pose, (count,), np.uint32)
        self.slot = copied(compact.slot, (count,), np.uint32)
        self.feature = copied(compact.feature, (count, 2), np.uint32)
        for name in ALL_OUTPUTS:
            there = name in OUTPUTS or compact.weights
            setattr(self, name, copied(getattr(compact, name), contact_shape(name, count), real) if there else None)
        self.jacobian = (copied(compact.blocks, (count, 8, 2 * batch.width), real)
                         if with_blocks else None)

    def __len__(self) -> int:
        return len(self.pose)

    def __reduce__(self) -> Any:
        raise TypeError("a list of active contacts belongs to bodies on devices and cannot be pickled: "
                        "keep its arrays")

    def _list(self) -> Any:
        compact = ffi.new("abut_compact *")
        compact.capacity = compact.count = len(self.pose)
        if len(self.pose):
            compact.pose = ffi.from_buffer("uint32_t[]", self.pose)
            compact.slot = ffi.from_buffer("uint32_t[]", self.slot)
        return compact

    def _entries(self, b: Batch, value: Array | None, name: str) -> Any:
        if value is None:
            return ffi.NULL
        shape = contact_shape(name, len(self.pose))
        array = real_array(value, self._dtype, name)
        if array.shape != shape:
            raise ValueError(f"{name} has shape {array.shape}, not {shape}")
        return b.keep(array)

    def vjp(self, **cotangents: Array | None) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """Computes gradients (..., P) by both poses of the sum of the entries' outputs times these cotangents, as abut.vjp does."""
        named(cotangents)
        b = Batch(*self._of)
        bars = ffi.new("abut_cotangents *")
        for name, value in cotangents.items():
            setattr(bars, name, self._entries(b, value, name))
        g1, g2, gradients = b.gradients()
        b.done(lib.abut_list_vjp(b.owner, b.batch, self._list(), bars, gradients))
        return g1, g2

    def jvp(self, *, tangent1: Array | None = None, tangent2: Array | None = None,
            want: Sequence[str] = OUTPUTS) -> Contacts:
        """Computes derivatives (K, ...) of the entries along tangents (..., P) of the poses."""
        check_names(want, ALL_OUTPUTS, "want")
        b = Batch(*self._of)
        along = b.tangents(tangent1, tangent2)
        made = {name: np.empty(contact_shape(name, len(self.pose)), b.rows.dtype) for name in want}
        b.done(lib.abut_list_jvp(b.owner, b.batch, self._list(), along,
                                 b.struct("abut_tangents *", **made)))
        return Contacts(**made)

    def __repr__(self) -> str:
        return f"<abut.ActiveContacts, {len(self.pose)} of {self._count} poses>"


def _listed(pair: Pairs, pose1: Array, pose2: Array, index: Array | None, threshold: float,
            call: Any, with_blocks: bool, weights: bool = False) -> ActiveContacts:
    if not 0.0 <= threshold <= 1.0:
        raise ValueError(f"threshold is {threshold!r}, not in [0, 1]")
    dtype = (pair if isinstance(pair, Pair) else _list_of(pair)[0]).dtype
    one, two = poses_of(pose1, pose2, dtype)
    of = (pair, np.array(one), np.array(two), None if index is None else np.array(index))
    b = Batch(*of)
    compact = ffi.new("abut_compact *")
    compact.threshold, compact.grows, compact.weights = threshold, True, weights
    b.batch.compact = compact
    try:
        b.done(call(b))
        return ActiveContacts(b, of, compact, with_blocks)
    finally:
        b.batch.compact = ffi.NULL
        lib.abut_free_compact(compact)


@by_position
def active(pair: Pairs, pose1: Array, pose2: Array, *, threshold: float = 0.1,
           index: Array | None = None, weights: bool = False) -> ActiveContacts:
    """Lists the contacts whose activity is at least `threshold`, with their own vjp and jvp. The list is as long as needed. With
    a threshold above 0, only contacts that can reach it are computed, unless `weights` requests the weights of the entries,
    which need the whole manifold."""
    return _listed(pair, pose1, pose2, index, threshold,
                   lambda b: lib.abut_contacts(b.owner, b.batch), False, weights)


@by_position
def jacobian(pair: Pairs, pose1: Array, pose2: Array, *, threshold: float = 0.1,
             index: Array | None = None) -> ActiveContacts:
    """Lists contacts as abut.active does, with the Jacobian block of each entry."""
    return _listed(pair, pose1, pose2, index, threshold,
                   lambda b: lib.abut_jacobian(b.owner, SAME, b.batch, ffi.NULL), True)
