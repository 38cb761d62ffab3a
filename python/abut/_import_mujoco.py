"""Scenes of MuJoCo's models: the rules of `abut import` (docs/import.md), which runs a copy of this file, and of abut.mujoco.

It needs Python, NumPy and the package `mujoco`, and nothing of abut, so that the command works without the Python package.
Features of a model that a scene cannot express are left out or changed, and a warning names each.
"""
from __future__ import annotations

import sys

_IS_PROGRAM = __name__ == "__main__"
if _IS_PROGRAM:
    if sys.version_info < (3, 10):
        print("abut: import needs Python 3.10 or later, but %s is %d.%d: set ABUT_PYTHON to another Python (docs/import.md)"
              % (sys.executable, *sys.version_info[:2]), file=sys.stderr)
        sys.exit(2)
    sys.path.pop(0)  # this file's folder, which is the command's: files in it are not modules

import argparse
import collections
import contextlib
import copy
import errno
import itertools
import json
import math
import os
import pathlib
import re
import secrets
import signal
import threading
import weakref
from collections.abc import Callable
from typing import Any

if _IS_PROGRAM and signal.getsignal(signal.SIGINT) == signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # no traceback while the packages are loaded
try:
    import mujoco as mj  # type: ignore[import-untyped,import-not-found,unused-ignore]
    import numpy as np
except ImportError as _missing:
    if not _IS_PROGRAM:
        raise
    print(f"abut: import needs Python with the package `mujoco`, but {sys.executable} cannot load it ({_missing}): pip install mujoco, "
          "or set ABUT_PYTHON to another Python (docs/import.md)", file=sys.stderr)
    sys.exit(2)

_SOLREF, _SOLIMP = [0.02, 1.0], [0.9, 0.95, 0.001, 0.5, 2.0]
_LEAST_ITERATIONS = 10  # models made for MJX have fewer
_PLANE_EXTENTS, _PLANE_LEAST = 10.0, 10.0  # least half lengths of a plane: times the model's size, and [m]
_MIX_LEAST = 1e-15  # smaller weights count as 0 (mjMINVAL)
_FRICTION = 1.0  # MuJoCo's default, and therefore that of automatic pairs
_HEIGHTS_LEAST, _HEIGHTS_MOST = 2, 2048  # nodes per side of a scene's height field
_SIZE_LEAST, _SIZE_MOST, _SLENDER_MOST = 1e-6, 1e6, 50.0  # of simple shapes [m]; of length over radius
_STARTS_MOST = 4096  # of a scene
_NAMES, _PLURAL = 3, {"body": "bodies", "equality": "equalities"}  # of warnings of one kind
_OF_MANY = (("with its control", "with their controls"), ("it has", "they have"), ("it is", "they are"), ("it drives", "they drive"),
            ("it does", "they do"), ("its", "their"))  # plural forms in a warning about several elements
_JOINTS_MOST, _SAMPLES = 2, 12  # joints between geoms that may be stuck in each other; positions of each
_PENETRATION, _THICKNESSES = 0.0056, 8.0  # ratio of penetration to a body's scale; factor of the thickness in that scale
_ACTIVE = math.log(999.0)  # range of contacts in penetrations: there the activity is the floor of a fitted smoothing, 0.001
_TOUCHING = 1e-6  # smaller distances are rounding errors [m]
_FAR = 1e10  # beyond it MuJoCo calls positions and accelerations bad (mjMAXVAL); its square is finite in float32
_ENDING = ".scene.json"
_MESH_HEAD = "# by abut import\n"
_SHORT = {"joint": "jnt", "equality": "eq"}  # prefixes of MuJoCo's arrays
_FREE, _BALL, _SLIDE, _HINGE = (int(getattr(mj.mjtJoint, f"mjJNT_{k}")) for k in ("FREE", "BALL", "SLIDE", "HINGE"))
_WORDS = {int(getattr(mj.mjtGeom, f"mjGEOM_{word.upper()}")): (word, count)
          for word, count in (("sphere", 1), ("capsule", 2), ("ellipsoid", 3), ("cylinder", 2), ("box", 3))}
_SITE = int(mj.mjtObj.mjOBJ_SITE)
_CONNECT, _WELD, _EQ_JOINT, _EQ_TENDON = (int(getattr(mj.mjtEq, f"mjEQ_{word}")) for word in ("CONNECT", "WELD", "JOINT", "TENDON"))
_UNTAKEN = (("tendon_limited", "its length limits are left out"), ("tendon_frictionloss", "its frictionloss is left out"),
            ("tendon_armature", "its armature is left out"), ("tendon_stiffnesspoly", "its spring stays linear"),
            ("tendon_dampingpoly", "its damper stays linear"), ("tendon_actfrclimited", "its actuatorfrcrange is left out"))
_PLANE, _MESH, _HFIELD = (int(getattr(mj.mjtGeom, f"mjGEOM_{k}")) for k in ("PLANE", "MESH", "HFIELD"))


def _floats(x: Any) -> list[float]:
    return [float(v) for v in np.ravel(x)]


def _clipped(solimp: Any) -> list[float]:
    """Clips a value as scenes do, which clip those of bodies, too."""
    d = _floats(solimp)
    return [min(max(d[k], 1e-4), 0.9999) if k in (0, 1, 3) else max(d[k], 1.0) if k == 4 else d[k] for k in range(5)]


def _finite_range(ends: list[float]) -> list[float] | None:
    """Returns a range for a scene. An infinite end becomes a bound that nothing reaches. None if both ends are infinite."""
    if ends == [-math.inf, math.inf]:
        return None
    return [-_FAR if ends[0] == -math.inf else ends[0], _FAR if ends[1] == math.inf else ends[1]]


def _plain(x: Any, place: str = "") -> Any:
    """Returns a scene with 0 for -0. Refuses numbers that JSON cannot express, with their place."""
    if isinstance(x, dict):
        return {key: _plain(value, f"{place}.{key}" if place else key) for key, value in x.items()}
    if isinstance(x, list):
        return [_plain(value, f"{place}[{i}]") for i, value in enumerate(x)]
    if not isinstance(x, float):
        return x
    if not math.isfinite(x):
        raise ValueError(f"the scene's {place} is {x:g}; scenes can contain only finite numbers")
    return float(x + 0.0)


def _version() -> tuple[int, int, int]:
    """Returns MuJoCo's version from its number: 330 is 3.3.0; since 3.4, 3004000 is 3.4.0. The text may end with letters."""
    number = int(mj.mj_version())
    base = 10 if number < 1000000 else 1000
    return number // base**2, number // base % base, number % base


def _matrix(q: Any) -> list[list[float]]:
    w, x, y, z = _floats(q)
    squares = w * w + x * x + y * y + z * z
    s = 2.0 / squares if squares else math.nan  # NaN is refused with its place
    return [[1 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)],
            [s * (x * y + w * z), 1 - s * (x * x + z * z), s * (y * z - w * x)],
            [s * (x * z - w * y), s * (y * z + w * x), 1 - s * (x * x + y * y)]]


def _rotated(q: Any, v: Any) -> list[float]:
    x, y, z = _floats(v)
    return [row[0] * x + row[1] * y + row[2] * z for row in _matrix(q)]


def _product(a: list[float], b: list[float]) -> list[float]:
    return [a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
            a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
            a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
            a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]]


def _counted(number: int, one: str) -> str:
    return f"{number} {one if number == 1 else _PLURAL.get(one, one + 's')}"


def _of_many(text: str) -> str:
    """Returns the plural form of a warning of one element. Names between backquotes do not change."""
    parts = text.split("`")
    for k in range(0, len(parts), 2):
        for one, many in _OF_MANY:
            parts[k] = re.sub(rf"\b{one}\b", many, parts[k])
    return "`".join(parts)


def _summed(told: list[str]) -> list[str]:
    """Groups warnings by kind, those of omitted actuators first, with the first names and the number of each kind."""
    one = re.compile(r"(\w+) ((?:of joint )?`[^`]*`|\d+): (.*)", re.DOTALL)
    same, alike = dict[Any, list[str]](), dict[Any, list[str]]()
    for text in told:
        found = one.fullmatch(text)
        same.setdefault((found[1], found[3]) if found else text, []).append(found[2] if found else text)
    for key, names in same.items():
        if isinstance(key, str):
            line = key
        elif len(names) == 1:
            line = f"{key[0]} {names[0]}: {key[1]}"
        else:
            more = f" and {len(names) - _NAMES} more" if len(names) > _NAMES else ""
            line = f"{_PLURAL.get(key[0], key[0] + 's')} {', '.join(names[:_NAMES])}{more}: {_of_many(key[1])}"
        kind = re.sub(r"`[^`]*`|\d[\d.e+-]*", "", line if isinstance(key, str) else f"{key[0]}: {key[1]}")
        alike.setdefault(kind, []).append(line)
    lines = [f"{group[0]} (and {len(group) - 1} more lines of this kind: --verbose)" if len(group) > _NAMES else line
             for group in alike.values() for line in (group[:1] if len(group) > _NAMES else group)]
    return sorted(lines, key=lambda line: not (line.startswith("actuator") and re.search("left out with (its|their) control", line)))


class _Maker:
    """Conversion of a model to a scene. `tell` gets the features that were left out or changed once the scene is made, grouped or
    one by one."""

    def __init__(self, model: Any, stem: str, tell: Callable[[str], None], list_pairs: bool = False, verbose: bool = False):
        if not isinstance(model, mj.MjModel):
            raise TypeError(f"expected a mujoco.MjModel, which mujoco.MjModel.from_xml_path makes, not {type(model).__name__}")
        self.m, self.stem, self.to, self.verbose = model, stem, tell, verbose
        self.told: list[str] = []
        self.tell_all = self.told.append
        self.names = bytes(model.names)
        self.kind, self.body, self.parent = model.geom_type.tolist(), model.geom_bodyid.tolist(), model.body_parentid.tolist()
        self.takes_parents = self.flag("FILTERPARENT")  # a body may collide with the one that its joints connect it to
        self.place: list[int] = [-1] * model.ngeom
        self.meshes: set[int] = set()
        self.mesh_names = collections.Counter(self.name("mesh", k).lower() for k in range(model.nmesh))
        self.version = _version()
        first = 0 if self.version >= (3,) else 1  # the number of the first body in a signature, which is (body << 16) + body
        self.excluded = [((int(s) >> 16 & 0xFFFF) - first, (int(s) & 0xFFFF) - first) for s in model.exclude_signature]
        self.weld, self.free = [0], [False]  # the body whose joints or mocap pose move each body; whether some joint does
        for b in range(1, model.nbody):
            own = model.body_jntnum[b] > 0 or model.body_mocapid[b] >= 0
            self.weld.append(b if own else self.weld[self.parent[b]])
            self.free.append(bool(model.body_jntnum[b] > 0 or self.free[self.parent[b]]))
        self.close: dict[tuple[int, int], float] = {}  # pairs whose contacts act at the start without touch, by their distance
        self.stuck = self._stuck_pairs()
        self._tell_clearances()
        self.dynamic = [pair for pair in self._dynamic_pairs() if pair not in self.stuck]
        self._place_geoms()
        self._number_links()
        alike: dict[tuple[float, ...], int] = {}  # models have many geoms, but few with different contact numbers
        self.alike = [alike.setdefault(self._numbers(g), len(alike)) for g in range(model.ngeom)]
        self.mixed: dict[tuple[int, int], dict[str, Any]] = {}
        self.controls: list[int] = []  # the model's controls that the scene has
        self.origins: dict[str, str] = {}  # places in the scene, and the corresponding objects in the model
        self.pair_count = 0
        self.tendon_numbers: dict[int, int] = {}  # the index in the scene of each of the model's tendons
        self.automatic: set[tuple[int, int]] = set()  # geoms whose pairs are automatic in the scene
        if not list_pairs:
            # Links with geoms that are stuck have no automatic pairs, because the scene excludes links as a whole.
            bodies = {self._bodies_of(*pair) for pair in self.stuck}
            self.automatic = {pair for pair in self.dynamic
                              if self._contact(*pair)["automatic"] and self._bodies_of(*pair) not in bodies}

    # ---- the model ----

    def has(self, name: str, index: Any = slice(None)) -> bool:
        """Returns whether an array that some versions lack has anything but 0 there."""
        return hasattr(self.m, name) and bool(np.any(getattr(self.m, name)[index]))

    def flag(self, name: str) -> bool:
        """Returns whether a flag that disables something is set; False if this MuJoCo has no flag of this name."""
        return bool(self.m.opt.disableflags & int(getattr(mj.mjtDisableBit, f"mjDSBL_{name}", 0)))

    def is_off(self, name: str) -> bool:
        """Returns whether a kind of constraints is disabled, by itself or with all of them."""
        return self.flag(name) or self.flag("CONSTRAINT")

    def passive_off(self, name: str) -> bool:
        """Returns whether SPRING or DAMPER is disabled. Before MuJoCo 3.3.6 both were one flag, PASSIVE."""
        return self.flag(name if hasattr(mj.mjtDisableBit, f"mjDSBL_{name}") else "PASSIVE")

    def takes_pairs(self, kind: str) -> bool:
        """Returns whether DYNAMIC pairs, by geoms' bits, or explicit pairs, PAIR, are used: an option until MuJoCo 3."""
        chosen = getattr(self.m.opt, "collision", None)
        return chosen is None or int(chosen) in (int(getattr(mj.mjtCollision, f"mjCOL_{k}")) for k in ("ALL", kind))

    def name(self, kind: str, number: int) -> str:
        """Returns a name. Models need not be UTF-8; the readable part of other names is used."""
        first = int(getattr(self.m, f"name_{_SHORT.get(kind, kind)}adr")[number])
        return self.names[first:self.names.index(0, first)].decode(errors="replace")

    def called(self, kind: str, number: int) -> str:
        name = self.name(kind, number)
        if not name and kind == "equality" and int(self.m.eq_type[number]) == _EQ_JOINT:
            joint = self.name("joint", int(self.m.eq_obj1id[number]))  # for URDF's mimic, which has no name
            return f"of joint `{joint}`" if joint else str(number)
        return f"`{name}`" if name else str(number)

    def named(self, text: str, form: str = "{1}") -> str:
        """Replaces the scene's places in a text by the model's names, or with `form` by a place and its name."""
        return re.sub(r"(links\[\d+\](\.bodies\[\d+\])?|(actuators|pairs|tendons|equalities)\[\d+\])",
                      lambda found: form.format(found[0], self.origins[found[0]]) if found[0] in self.origins else found[0], text)

    def tell(self, kind: str, number: int, text: str) -> None:
        self.tell_all(f"{kind} {self.called(kind, number)}: {text}")

    # ---- softness ----

    def solref(self, kind: str, number: int, given: Any) -> list[float]:
        value = _floats(given)
        if (value[0] > 0.0) != (value[1] > 0.0):
            self.tell(kind, number, f"solref {value[0]:g} {value[1]:g} has two signs; MuJoCo takes 0.02 1 then, too")
            return list(_SOLREF)
        return value

    @staticmethod
    def softness(to: dict[str, Any], which: str, solref: list[float], solimp: Any) -> None:
        solimp = _floats(solimp)
        if solref != _SOLREF:
            to["solref" + which] = solref
        if solimp != _SOLIMP:
            to["solimp" + which] = solimp

    # ---- geoms ----

    def _may_touch(self, g: int) -> bool:
        m = self.m
        return bool(m.geom_contype[g] or m.geom_conaffinity[g] or (m.npair and (g in m.pair_geom1 or g in m.pair_geom2)))

    def _is_field(self, g: int) -> bool:
        """Returns whether the geom is a mesh or a height field, for which a field is made or kept."""
        return self.kind[g] in (_MESH, _HFIELD)

    def _has_word(self, g: int) -> bool:
        kind = self.kind[g]
        if kind in _WORDS or kind in (_PLANE, _MESH):
            return True
        return kind == _HFIELD and all(_HEIGHTS_LEAST <= nodes <= _HEIGHTS_MOST for nodes in self._nodes(g))

    def _nodes(self, g: int) -> tuple[int, int]:
        field = self.m.geom_dataid[g]
        return int(self.m.hfield_nrow[field]), int(self.m.hfield_ncol[field])

    def _misfit(self, g: int) -> str | None:
        """Returns why a scene refuses the lengths of a geom whose shape it supports."""
        kind, size = self.kind[g], _floats(self.m.geom_size[g])
        if kind not in _WORDS:
            return None
        word, count = _WORDS[kind]
        for length in size[:count]:
            if not _SIZE_LEAST <= length <= _SIZE_MOST and math.isfinite(length):
                return f"a {word} with a half length or radius of {length:g} m; scenes have {_SIZE_LEAST:g} to {_SIZE_MOST:g} m"
        if word == "capsule" and size[1] > _SLENDER_MOST * size[0]:
            return f"a capsule of radius {size[0]:g} m and half length {size[1]:g} m; scenes have at most {_SLENDER_MOST:g} radii"
        if word == "cylinder" and max(size[:2]) > _SLENDER_MOST * min(size[:2]):
            return f"a cylinder of radius {size[0]:g} m and half length {size[1]:g} m; in scenes one is at most {_SLENDER_MOST:g} times the other"
        return None

    def _place_geoms(self) -> None:
        """Numbers geoms among the bodies of their links. Geoms that cannot touch have no number, except simple shapes, which
        pictures show and which cost nothing."""
        m, untouched, alone = self.m, 0, 0
        touching = {g for pair in self.dynamic for g in pair}
        if self.takes_pairs("PAIR") and not self.is_off("CONTACT"):
            touching |= {g for p in range(m.npair) if self._is_taken(p) for g in self._geoms_of(p)}
        for b in range(m.nbody):
            count = 0
            for g in range(m.body_geomadr[b], m.body_geomadr[b] + m.body_geomnum[b]):
                if not self._may_touch(g):
                    untouched += 1
                elif not self._has_word(g):
                    self.tell("geom", g, "a height field of {} by {} nodes is left out".format(*self._nodes(g)) if self.kind[g] == _HFIELD
                              else "its shape is left out")
                elif g not in touching and (self._is_field(g) or self._misfit(g)):
                    alone += 1
                else:
                    why = self._misfit(g)
                    if why:
                        raise ValueError(f"geom {self.called('geom', g)} of body {self.called('body', b)} is {why}")
                    self.place[g] = count
                    count += 1
                    if self.kind[g] == _MESH:
                        self.meshes.add(int(m.geom_dataid[g]))
        for number, why in ((untouched, "contype and conaffinity 0"), (alone, "no geom meets them")):
            if number:
                one = number == 1
                self.tell_all(f"{number} geom{'' if one else 's'} that touch{'es' if one else ''} nothing "
                              f"{'is' if one else 'are'} left out ({why})")

    def mesh_file(self, mesh: int) -> str:
        """Returns a mesh's file by the mesh's name, unless that is no file name, or differs from another only in case, which some
        file systems ignore."""
        name = self.name("mesh", mesh)
        plain = re.fullmatch(r"[A-Za-z0-9._-]+", name) and self.mesh_names[name.lower()] == 1
        return f"{self.stem}.{name}.obj" if plain else f"{self.stem}.mesh+{mesh}.obj"

    def _heights(self, field: int) -> dict[str, Any]:
        """Returns a height field's rows in the order of scenes, which is MuJoCo's: from the lower end of y on."""
        m, size = self.m, _floats(self.m.hfield_size[field])
        rows, columns, first = int(m.hfield_nrow[field]), int(m.hfield_ncol[field]), int(m.hfield_adr[field])
        heights = m.hfield_data[first:first + rows * columns].reshape(rows, columns)
        return {"size": size[:2], "scale": size[2], "base": size[3], "heights": [_floats(row) for row in heights]}

    def _shape(self, g: int) -> dict[str, Any]:
        m, size = self.m, _floats(self.m.geom_size[g])
        kind = self.kind[g]
        if kind == _PLANE:
            far = max(_PLANE_LEAST, math.ceil(_PLANE_EXTENTS * m.stat.extent))
            half = [max(size[k], float(far)) for k in range(2)]  # MuJoCo's planes collide as infinite, whatever their drawn size
            if not (size[0] > 0.0 and size[1] > 0.0):
                self.tell("geom", g, f"an infinite plane becomes one of {2 * half[0]:g} m by {2 * half[1]:g} m")
            return {"plane": half}
        if kind == _MESH:
            return {"file": pathlib.Path(self.mesh_file(int(m.geom_dataid[g]))).name}
        if kind == _HFIELD:
            return {"height_field": self._heights(int(m.geom_dataid[g]))}
        word, count = _WORDS[kind]
        return {word: size[0] if count == 1 else size[:count]}

    def bodies(self, body: int) -> list[dict[str, Any]]:
        m, out = self.m, list[dict[str, Any]]()
        for g in range(m.body_geomadr[body], m.body_geomadr[body] + m.body_geomnum[body]):
            if self.place[g] < 0:
                continue
            one = self._shape(g)
            if np.any(m.geom_pos[g]):
                one["position"] = _floats(m.geom_pos[g])
            if _floats(m.geom_quat[g]) != [1.0, 0.0, 0.0, 0.0]:
                one["quaternion"] = _floats(m.geom_quat[g])
            self._put_own(one, g)
            self.origins[f"links[{self.last[body]}].bodies[{len(out)}]"] = (
                f"geom {self.called('geom', g)} of body {self.called('body', body)}")
            if self.has("geom_surfacevel", g) or self.has("geom_adhesion", g):
                self.tell("geom", g, "its surface neither moves by itself nor sticks in the scene")
            out.append(one)
        return out

    # ---- links ----

    def _number_links(self) -> None:
        m = self.m
        world = any(self.place[g] >= 0 for g in range(m.body_geomnum[0]))
        self.link_count = int(world)
        self.first, self.last = [self.link_count - 1], [self.link_count - 1]
        for b in range(1, m.nbody):
            self.first.append(self.link_count)
            self.link_count += max(int(m.body_jntnum[b]), 1)
            self.last.append(self.link_count - 1)

    def _is_single(self, joint: int) -> bool:
        return int(self.m.jnt_type[joint]) in (_SLIDE, _HINGE)

    def _frame(self, body: int, k: int) -> dict[str, Any]:
        m, out = self.m, dict[str, Any]()
        position, quaternion = [0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]
        if k == 0:
            position, quaternion = _floats(m.body_pos[body]), _floats(m.body_quat[body])
        joint = int(m.body_jntadr[body]) + k
        if m.body_jntnum[body] > 0 and self._is_single(joint):
            at = float(m.qpos0[m.jnt_qposadr[joint]])
            if at != 0.0:
                axis, anchor = _floats(m.jnt_axis[joint]), m.jnt_pos[joint]
                if m.jnt_type[joint] == _SLIDE:
                    position = [p - at * a for p, a in zip(position, _rotated(quaternion, axis))]
                else:
                    half = 0.5 * at if math.isfinite(at) else math.nan
                    turned = _product(quaternion, [math.cos(half), *(-math.sin(half) * a for a in axis)])
                    position = [p + a - b for p, a, b in zip(position, _rotated(quaternion, anchor), _rotated(turned, anchor))]
                    quaternion = turned
        if any(position):
            out["position"] = position
        if quaternion != [1.0, 0.0, 0.0, 0.0]:
            out["quaternion"] = quaternion
        return out

    def _mass(self, body: int) -> dict[str, Any]:
        m = self.m
        moments = _floats(m.body_inertia[body])
        if not m.body_mass[body] and not any(moments):
            return {}
        out: dict[str, Any] = {"mass": float(m.body_mass[body])}
        if np.any(m.body_ipos[body]):
            out["com"] = _floats(m.body_ipos[body])
        # Not computed by NumPy, whose last digit depends on the machine. Both halves use the upper one, so that the matrix is
        # symmetric.
        rows = _matrix(m.body_iquat[body])
        turned = [[sum(r * moment * c for r, moment, c in zip(rows[min(i, k)], moments, rows[max(i, k)])) for k in range(3)]
                  for i in range(3)]
        return out | {"inertia": turned}

    def _limits(self, joint: int, to: dict[str, Any]) -> None:
        m = self.m
        margin, (low, high) = float(m.jnt_margin[joint]), _floats(m.jnt_range[joint])
        if self.is_off("LIMIT"):
            return
        if not m.jnt_limited[joint]:
            if low > high:
                self.tell("joint", joint, f"its lower limit of {low:g} is above its upper one of {high:g}: MuJoCo leaves both out")
            return
        if not self._is_single(joint):
            self.tell("joint", joint, "a ball's limit is left out")
            return
        limits = [low + margin, high - margin]
        if not limits[0] < limits[1]:
            self.tell("joint", joint, "the limits' margin is as wide as they are, and is left out")
            limits = [low, high]
        if not limits[0] < limits[1]:
            self.tell("joint", joint, "limits without room between them are left out")
            return
        finite = _finite_range(limits)
        if finite is None:
            return
        to["limits"] = finite
        self.softness(to, "_limit", self.solref("joint", joint, m.jnt_solref[joint]), m.jnt_solimp[joint])

    def _joint(self, joint: int) -> dict[str, Any]:
        m = self.m
        kind, dof = int(m.jnt_type[joint]), int(m.jnt_dofadr[joint])
        out: dict[str, Any] = {"type": {_FREE: "free", _BALL: "ball", _SLIDE: "slide", _HINGE: "hinge"}[kind]}
        if kind != _FREE and np.any(m.jnt_pos[joint]):
            out["position"] = _floats(m.jnt_pos[joint])
        if self._is_single(joint):
            out["axis"] = _floats(m.jnt_axis[joint])
            start = float(m.qpos0[m.jnt_qposadr[joint]])
            if start != 0.0:
                out["start"] = start
        if not self.passive_off("DAMPER") and np.ravel(m.dof_damping)[dof]:
            out["damping"] = float(m.dof_damping[dof])
        if m.dof_armature[dof]:
            out["armature"] = float(m.dof_armature[dof])
        if m.jnt_stiffness[joint] and not self.passive_off("SPRING"):
            if kind == _FREE:
                self.tell("joint", joint, "a free joint's spring is left out")
            else:
                out["stiffness"] = float(m.jnt_stiffness[joint])
                if self._is_single(joint) and m.qpos_spring[m.jnt_qposadr[joint]]:
                    out["rest"] = float(m.qpos_spring[m.jnt_qposadr[joint]])
        self._limits(joint, out)
        if m.dof_frictionloss[dof] and not self.is_off("FRICTIONLOSS"):
            out["frictionloss"] = float(m.dof_frictionloss[dof])
            self.softness(out, "_friction", self.solref("joint", joint, m.dof_solref[dof]), m.dof_solimp[dof])
        if (self.has("jnt_stiffnesspoly", joint) or self.has("jnt_springyield", joint)) and not self.passive_off("SPRING"):
            self.tell("joint", joint, "its spring is linear in the scene")
        if self.has("dof_dampingpoly", dof) and not self.passive_off("DAMPER"):
            self.tell("joint", joint, "its damping is linear in the scene")
        return out

    def links(self) -> list[dict[str, Any]]:
        m, out = self.m, []
        if self.last[0] >= 0:
            out.append({"name": "world", "bodies": self.bodies(0)})
        for b in range(1, m.nbody):
            name, joints = self.name("body", b), int(m.body_jntnum[b])
            for k in range(max(joints, 1)):
                link: dict[str, Any] = {}
                joint, end = int(m.body_jntadr[b]) + k, k + 1 >= joints
                if name:
                    link["name"] = name if end else f"{name}/{self.name('joint', joint) or k}"
                # Children of the world's own link, which does not move, may be attached to the world, as free joints must be.
                link["parent"] = self.first[b] + k - 1 if k else -1 if self.parent[b] == 0 else self.last[self.parent[b]]
                link |= self._frame(b, k)
                if joints:
                    link["joint"] = self._joint(joint)
                elif m.body_mocapid[b] >= 0:
                    link["joint"] = {"type": "moved"}
                self.origins[f"links[{self.first[b] + k}]"] = f"body {self.called('body', b)}"
                if end:
                    link |= self._mass(b)
                    bodies = self.bodies(b)
                    if bodies:
                        link["bodies"] = bodies
                out.append(link)
        return out

    # ---- actuators ----

    def _kind(self, a: int) -> dict[str, Any] | str:
        """Converts an actuator's force F = gain u + bias[0] + bias[1] l + bias[2] ld to a scene's, or returns why that is
        impossible."""
        m = self.m
        if hasattr(m, "actuator_plugin") and m.actuator_plugin[a] >= 0:
            name = self.name("plugin", int(m.actuator_plugin[a]))
            return f"a plugin{f' `{name}`' if name else ''} computes its force"
        words = [self._word(kind, int(getattr(m, f"actuator_{array}type")[a]))
                 for kind, array in (("mjtDyn", "dyn"), ("mjtGain", "gain"), ("mjtBias", "bias"))]
        if words[0] != "none":
            return f"it has a state (dyntype {words[0]})"
        if words[1] != "fixed" or words[2] not in ("none", "affine"):
            return f"its gain is {words[1]} and its bias {words[2]}"
        gain = float(m.actuator_gainprm[a][0])
        bias = _floats(m.actuator_biasprm[a][:3]) if words[2] == "affine" else [0.0, 0.0, 0.0]
        if not any(bias):
            return {"kind": "motor", "gain": gain}
        if bias[0] == 0.0 and bias[1] == -gain:
            return {"kind": "position", "kp": gain, "kv": -bias[2]}
        if bias[0] == 0.0 and bias[1] == 0.0 and bias[2] == -gain:
            return {"kind": "velocity", "kv": gain}
        return {"kind": "affine", "gain": gain, "bias": bias[0], "kp": -bias[1], "kv": -bias[2]}

    @staticmethod
    def _word(kind: str, number: int) -> str:
        return str(getattr(mj, kind)(number).name.split("_")[-1].lower())

    def _control_range(self, a: int) -> list[float] | None:
        """Returns the finite range of a control that is clipped."""
        m = self.m
        if not m.actuator_ctrllimited[self._control(a)] or self.flag("CLAMPCTRL"):
            return None
        return _finite_range(_floats(m.actuator_ctrlrange[self._control(a)]))

    def _joint_range(self, a: int, force: float) -> list[float] | None:
        """Returns the range that the joint's actuatorfrcrange leaves to the actuator's force, of which `force` is applied to the
        joint, if no other actuator drives the joint."""
        m, joint = self.m, int(self.m.actuator_trnid[a][0])
        if not self._is_of_joint(a):
            return None
        if not self.has("jnt_actfrclimited", joint) or not self._is_single(joint) or force == 0.0 or self.drivers[joint] > 1:
            return None
        return sorted(x / force for x in _floats(m.jnt_actfrcrange[joint]))

    def _force_range(self, a: int, kind: dict[str, Any]) -> list[float]:
        """Returns the range of the force before the gear: for a motor that of its control, with its range and gain."""
        m, motor = self.m, kind["kind"] == "motor"
        gain, ranges = float(kind["gain"]) if motor else 1.0, list[list[float]]()
        if m.actuator_forcelimited[a] and gain:
            ranges.append(sorted(x / gain for x in _floats(m.actuator_forcerange[a])))
        own = self._control_range(a) if motor else None
        of_joint = self._joint_range(a, gain * float(m.actuator_gear[self._output(a)][0]))
        ranges += [one for one in (own, of_joint) if one]
        return [max([-math.inf, *(low for low, _ in ranges)]), min([math.inf, *(high for _, high in ranges)])]

    def _control(self, a: int) -> int:
        return int(self.m.actuator_ctrladr[a]) if hasattr(self.m, "actuator_ctrladr") else a

    def _output(self, a: int) -> int:
        return int(self.m.actuator_outadr[a]) if hasattr(self.m, "actuator_outadr") else a

    def _is_of_joint(self, a: int) -> bool:
        m = self.m
        plain = not hasattr(m, "actuator_ctrlnum") or (m.actuator_ctrlnum[a] == 1 and m.actuator_outnum[a] == 1)
        return bool(plain and self._word("mjtTrn", int(m.actuator_trntype[a])) in ("joint", "jointinparent"))

    def _tendon_of(self, a: int) -> int | None:
        """Returns the scene's tendon that an actuator pulls."""
        m = self.m
        plain = not hasattr(m, "actuator_ctrlnum") or (m.actuator_ctrlnum[a] == 1 and m.actuator_outnum[a] == 1)
        pulls = plain and self._word("mjtTrn", int(m.actuator_trntype[a])) == "tendon"
        return self.tendon_numbers.get(int(m.actuator_trnid[a][0])) if pulls else None

    def _refusal(self, a: int, kind: dict[str, Any] | str, dof: list[int]) -> str | None:
        m, group = self.m, int(self.m.actuator_group[a])
        if self.flag("ACTUATION") or (0 <= group < 31 and getattr(m.opt, "disableactuator", 0) & (1 << group)):
            return "it is off in the model"
        if isinstance(kind, str):
            return kind
        ranges = self._force_range(a, kind), self._control_range(a) or [0.0, 1.0]
        roomless = None if all(low < high for low, high in ranges) else "its ranges leave its force no room"
        if self._tendon_of(a) is not None:
            dof.append(0)
            return roomless
        if not self._is_of_joint(a):
            return f"it drives a {self._word('mjtTrn', int(m.actuator_trntype[a]))}, not a joint or a fixed tendon"
        joint = int(m.actuator_trnid[a][0])
        dofs = {_FREE: 6, _BALL: 3}.get(int(m.jnt_type[joint]), 1)
        used = [0] if dofs == 1 else [k for k in range(dofs) if m.actuator_gear[self._output(a)][k]]
        if len(used) != 1:
            return "its gear is not along one axis of the joint"
        dof.append(used[0])
        if dofs > 1 and kind["kind"] != "motor":
            return "of ball and free joints only motors are taken"
        if dofs > 1 and self._word("mjtTrn", int(m.actuator_trntype[a])) == "jointinparent":
            return "its gear is in the parent's axes"
        return roomless

    def _moved_by(self, a: int) -> dict[str, Any]:
        """Returns the object that an actuator moves, in the form of a scene."""
        m, tendon = self.m, self._tendon_of(a)
        return {"joint": _link_of_joint(self, int(m.actuator_trnid[a][0]))} if tendon is None else {"tendon": tendon}

    def actuators(self) -> list[dict[str, Any]]:
        m, out = self.m, list[dict[str, Any]]()
        count = int(getattr(m, "nactuator", m.nu))
        self.drivers = collections.Counter(int(m.actuator_trnid[a][0]) for a in range(count) if self._is_of_joint(a))
        for a in range(count):
            kind, dof = self._kind(a), list[int]()
            why = self._refusal(a, kind, dof)
            if why or isinstance(kind, str):
                self.tell("actuator", a, f"left out with its control: {why}")
                continue
            joint, motor = int(m.actuator_trnid[a][0]) if self._is_of_joint(a) else -1, kind["kind"] == "motor"
            one: dict[str, Any] = {"kind": kind["kind"]} | self._moved_by(a)
            if dof[0]:
                one["dof"] = dof[0]
            gear = float(m.actuator_gear[self._output(a)][dof[0]])
            one["gear"] = kind["gain"] * gear if motor else gear
            one |= {k: kind[k] for k in ("gain", "bias", "kp", "kv") if kind.get(k) is not None and not (motor or kind[k] == 0.0 and k != "gain")}
            limits = _finite_range(self._force_range(a, kind))
            if limits:
                one["force_limits"] = limits
            controls = None if motor else self._control_range(a)
            if controls:
                one["control_limits"] = controls
            self.origins[f"actuators[{len(out)}]"] = f"actuator {self.called('actuator', a)}"
            out.append(one)
            self.controls.append(self._control(a))
            if joint >= 0 and self.has("jnt_actfrclimited", joint) and self.drivers[joint] > 1:
                self.tell("actuator", a, "the joint's actuatorfrcrange, which several actuators share, is left out")
            if any(self.has(name, a) for name in ("actuator_damping", "actuator_armature", "actuator_dampingpoly", "actuator_delay")):
                self.tell("actuator", a, "its own damping, armature or delay is left out")
        return out

    # ---- pairs ----

    def _margin(self, g1: int, g2: int, pair: int) -> float:
        m = self.m
        if self.version >= (3, 9):
            return float(m.pair_margin[pair] if pair >= 0 else m.geom_margin[g1] + m.geom_margin[g2])
        if pair >= 0:
            return float(m.pair_margin[pair] - m.pair_gap[pair])
        if self.version >= (3, 5):
            return float(m.geom_margin[g1] + m.geom_margin[g2] - (m.geom_gap[g1] + m.geom_gap[g2]))
        return float(max(m.geom_margin[g1], m.geom_margin[g2]) - max(m.geom_gap[g1], m.geom_gap[g2]))

    def _numbers(self, g: int) -> tuple[float, ...]:
        """Returns all numbers of a geom that its contacts depend on."""
        m = self.m
        return (float(m.geom_friction[g][0]), *_floats(m.geom_solref[g]), *_floats(m.geom_solimp[g]), int(m.geom_condim[g]),
                int(m.geom_priority[g]), float(m.geom_solmix[g]), float(m.geom_margin[g]), float(m.geom_gap[g]))

    def _contact(self, g1: int, g2: int) -> dict[str, Any]:
        """Returns the contact of two geoms, and whether their bodies alone define the same contact."""
        key = self.alike[g1], self.alike[g2]
        if key not in self.mixed:
            self.mixed[key] = self._of_geoms(g1, g2) | {"margin": self._margin(g1, g2, -1), "automatic": self._mixes_alike(g1, g2)}
        return self.mixed[key]

    def _of_geoms(self, g1: int, g2: int) -> dict[str, Any]:
        m = self.m
        each: list[dict[str, Any]] = [
            {"friction": float(m.geom_friction[g][0]), "solref": _floats(m.geom_solref[g]),
             "solimp": _floats(m.geom_solimp[g]), "condim": int(m.geom_condim[g])} for g in (g1, g2)]
        a, b = each
        first, second = int(m.geom_priority[g1]), int(m.geom_priority[g2])
        if first != second:
            return a if first > second else b
        s1, s2 = float(m.geom_solmix[g1]), float(m.geom_solmix[g2])
        share = s1 / (s1 + s2) if s1 >= _MIX_LEAST and s2 >= _MIX_LEAST else 0.5 if s1 < _MIX_LEAST and s2 < _MIX_LEAST else float(s1 >= _MIX_LEAST)

        def mixed(x: list[float], y: list[float]) -> list[float]:
            return [share * p + (1.0 - share) * q for p, q in zip(x, y)]

        direct = not (a["solref"][0] > 0.0 and b["solref"][0] > 0.0)
        return {"friction": max(a["friction"], b["friction"]), "condim": max(a["condim"], b["condim"]),
                "solref": list(map(min, a["solref"], b["solref"])) if direct else mixed(a["solref"], b["solref"]),
                "solimp": mixed(a["solimp"], b["solimp"])}

    def _pair(self, g1: int, g2: int, c: dict[str, Any]) -> dict[str, Any]:
        sides = [[self.last[self.body[g]], self.place[g]] for g in (g1, g2)]
        self.origins[f"pairs[{self.pair_count}]"] = f"geoms {self.called('geom', g1)} and {self.called('geom', g2)}"
        self.pair_count += 1
        out: dict[str, Any] = {"a": sides[0], "b": sides[1], "friction": c["friction"]}
        self.softness(out, "", c["solref"], c["solimp"])
        if c["condim"] == 1:
            out["condim"] = 1
        if c["margin"]:
            out["margin"] = c["margin"]
        return out

    def _own_margin(self, g: int) -> float:
        """Returns a geom's own part of a margin."""
        return float(self.m.geom_margin[g] - (0.0 if self.version >= (3, 9) else self.m.geom_gap[g]))

    def _mixes_alike(self, g1: int, g2: int) -> bool:
        """Returns whether the values of two bodies combine to MuJoCo's contact: by means and by the larger of their own values."""
        m, c = self.m, self._of_geoms(g1, g2)
        refs = [_floats(m.geom_solref[g]) for g in (g1, g2)]
        if any((x > 0.0) != (y > 0.0) for x, y in refs):
            return False
        direct = not (refs[0][0] > 0.0 and refs[1][0] > 0.0)
        solref = [min(x, y) if direct else 0.5 * x + 0.5 * y for x, y in zip(*refs)]
        imps = [_clipped(m.geom_solimp[g]) for g in (g1, g2)]
        return bool(max(m.geom_friction[g][0] for g in (g1, g2)) == c["friction"] and solref == c["solref"]
                    and [0.5 * x + 0.5 * y for x, y in zip(*imps)] == _clipped(c["solimp"])
                    and max(self._own_margin(g1), self._own_margin(g2)) == self._margin(g1, g2, -1)
                    and (max(m.geom_condim[g1], m.geom_condim[g2]) == 1) == (c["condim"] == 1))

    def _put_own(self, to: dict[str, Any], g: int) -> None:
        """Writes a body's own values for automatic pairs."""
        m = self.m
        if not self.automatic:
            return
        for key in ("contype", "conaffinity"):
            bits = int(getattr(m, f"geom_{key}")[g]) & 0xFFFFFFFF
            if bits != 1:
                to[key] = bits
        if m.geom_friction[g][0] != _FRICTION:
            to["friction"] = float(m.geom_friction[g][0])
        self.softness(to, "", self.solref("geom", g, m.geom_solref[g]), m.geom_solimp[g])
        if m.geom_condim[g] == 1:
            to["condim"] = 1
        if self._own_margin(g):
            to["margin"] = self._own_margin(g)

    def _shapes_collide(self, g1: int, g2: int) -> bool:
        return self._has_word(g1) and self._has_word(g2) and not (self.kind[g1] == _PLANE and self.kind[g2] == _PLANE)

    def _part(self, b1: int, b2: int) -> bool:
        """Returns whether a joint can move two bodies relative to each other. Mocap bodies follow their pose, whatever touches them."""
        return self.weld[b1] != self.weld[b2] and (self.free[b1] or self.free[b2])

    def _bodies_collide(self, b1: int, b2: int) -> bool:
        a, b = self.weld[b1], self.weld[b2]
        if not self._part(b1, b2) or (self.excluded and ((b1, b2) in self.excluded or (b2, b1) in self.excluded)):
            return False
        return not (a and b and not self.takes_parents and (self.weld[self.parent[a]] == b or self.weld[self.parent[b]] == a))

    def _geoms_of(self, p: int) -> tuple[int, int]:
        return int(self.m.pair_geom1[p]), int(self.m.pair_geom2[p])

    def _is_taken(self, p: int) -> bool:
        """Returns whether an explicit pair belongs to the scene, unless another pair has its geoms."""
        g1, g2 = self._geoms_of(p)
        return (self._shapes_collide(g1, g2) and self._part(self.body[g1], self.body[g2])
                and (min(g1, g2), max(g1, g2)) not in self.stuck)

    def _explicit(self, p: int, seen: set[frozenset[int]]) -> dict[str, Any] | None:
        m = self.m
        g1, g2 = self._geoms_of(p)
        friction, condim = m.pair_friction[p], int(m.pair_dim[p])
        if not self._is_taken(p):  # omitted shapes have been warned about, and so have pairs that no joint can separate
            if self._shapes_collide(g1, g2) and not self._part(self.body[g1], self.body[g2]):
                self.tell("pair", p, "its geoms cannot move relative to each other")
            return None
        if frozenset((g1, g2)) in seen:
            self.tell("pair", p, "its geoms are those of an earlier pair")
            return None
        if condim > 1 and friction[0] != friction[1]:
            self.tell("pair", p, f"friction is {friction[0]:g} in all directions, not {friction[1]:g} in one")
        if condim > 3:
            self.tell("pair", p, f"condim {condim} becomes 3")
        if self.has("pair_solreffriction", p):
            self.tell("pair", p, "solreffriction is left out")
        if self.has("pair_adhesion", p):
            self.tell("pair", p, "it does not stick in the scene")
        c = {"friction": float(friction[0]), "condim": condim, "solref": self.solref("pair", p, m.pair_solref[p]),
             "solimp": _floats(m.pair_solimp[p]), "margin": self._margin(g1, g2, p)}
        return self._pair(g1, g2, c)

    def _dynamic_pairs(self) -> list[tuple[int, int]]:
        """Returns geoms that collide by their bits."""
        m, found = self.m, list[tuple[int, int]]()
        if self.is_off("CONTACT") or not self.takes_pairs("DYNAMIC"):
            return found
        explicit = {(min(pair), max(pair)) for pair in zip(m.pair_geom1.tolist(), m.pair_geom2.tolist())} if self.takes_pairs("PAIR") else set()
        for a in range(m.ngeom):
            behind = slice(a + 1, None)
            bits = m.geom_contype[a] & m.geom_conaffinity[behind] | m.geom_contype[behind] & m.geom_conaffinity[a]
            for b in (np.flatnonzero(bits) + a + 1).tolist():
                if self._shapes_collide(a, b) and (a, b) not in explicit and self._bodies_collide(self.body[a], self.body[b]):
                    found.append((a, b))
        return found

    def _bodies_of(self, g1: int, g2: int) -> tuple[int, int]:
        return min(self.body[g1], self.body[g2]), max(self.body[g1], self.body[g2])

    def _joints_between(self, b1: int, b2: int) -> list[int]:
        """Returns the joints by which two bodies move against each other."""
        m, ways = self.m, list[set[int]]()
        for b in (b1, b2):
            way = set[int]()
            while b:
                way.update(range(int(m.body_jntadr[b]), int(m.body_jntadr[b]) + int(m.body_jntnum[b])))
                b = self.parent[b]
            ways.append(way)
        return sorted(ways[0] ^ ways[1])

    def _mocap_of(self, g: int) -> int:
        """Returns the mocap body that a geom is attached to, or 0."""
        root = int(self.m.body_rootid[self.body[g]])
        return root if self.m.body_mocapid[root] >= 0 else 0

    def _samples(self, joint: int) -> list[float] | None:
        """Returns positions over the whole range of a joint; None for an unlimited joint, which separates the bodies that it
        joins."""
        m = self.m
        if not self._is_single(joint):
            return None
        low, high = _floats(m.jnt_range[joint])
        if m.jnt_limited[joint] and not self.is_off("LIMIT") and math.isfinite(high - low):
            return [float(q) for q in np.linspace(low, high, _SAMPLES)]
        turn = 2.0 * math.pi / _SAMPLES
        return [float(m.qpos0[m.jnt_qposadr[joint]]) + turn * k for k in range(_SAMPLES)] if m.jnt_type[joint] == _HINGE else None

    def _reach(self, geoms: Any) -> Any:
        """Returns the distance below which contacts of geoms act without touch: 6.9 of the penetrations that a scene fits to
        their size (docs/smoothing.md). Planes have no size."""
        half = self.m.geom_aabb[geoms, 3:]
        scale = np.minimum(2.0 * np.linalg.norm(half, axis=-1), _THICKNESSES * 2.0 * np.min(half, axis=-1))
        return np.where(self.m.geom_type[geoms] == _PLANE, math.inf, _ACTIVE * _PENETRATION * scale)

    def _widened(self) -> Any:
        """Returns the model with margins with which MuJoCo finds all geoms whose contacts act."""
        wide = copy.copy(self.m)
        reach = self._reach(slice(None))
        reach = np.where(np.isfinite(reach), reach, 0.0)
        wide.geom_margin[:] += reach
        if hasattr(wide, "body_margin"):
            for g, b in enumerate(self.body):
                wide.body_margin[b] = max(wide.body_margin[b], wide.geom_margin[g])
        for p in range(wide.npair):
            wide.pair_margin[p] += max(reach[wide.pair_geom1[p]], reach[wide.pair_geom2[p]])
        return wide

    def _clearance(self, g1: int, g2: int) -> float:
        """Returns the distance at which the geoms' contact begins to push in MuJoCo."""
        explicit = [p for p in range(self.m.npair) if set(self._geoms_of(p)) == {g1, g2}]
        return self._margin(g1, g2, explicit[0] if explicit else -1)

    @staticmethod
    def _distances(wide: Any, data: Any) -> dict[tuple[int, int], float]:
        """Returns distances of geoms that MuJoCo finds near each other; negative for overlaps."""
        mj.mj_kinematics(wide, data)
        mj.mj_comPos(wide, data)  # before 3.2 it computes the boxes that the broad phase uses
        mj.mj_collision(wide, data)
        found = dict[tuple[int, int], float]()
        for k in range(data.ncon):
            contact = data.contact[k]
            pair = min(int(contact.geom1), int(contact.geom2)), max(int(contact.geom1), int(contact.geom2))
            if min(pair) >= 0:
                found[pair] = min(found.get(pair, math.inf), float(contact.dist))
        return found

    def _deep(self, g1: int, g2: int) -> float:
        """Returns the depth from which two geoms are stuck in each other: half of the smallest half length of either."""
        lengths = self.m.geom_aabb[[g1, g2], 3:]
        return 0.5 * float(np.min(lengths[lengths > 0.0], initial=math.inf))

    def _is_stuck(self, pair: tuple[int, int], distance: float | None) -> bool:
        return distance is not None and -distance > self._deep(*pair)

    def _is_close(self, pair: tuple[int, int], distance: float | None) -> bool:
        """Returns whether a contact acts in the scene but not in MuJoCo."""
        return distance is not None and 0.0 < distance - self._clearance(*pair) < float(np.min(self._reach(list(pair))))

    def _stuck_pairs(self) -> dict[tuple[int, int], float]:
        """Returns geoms that are deep in each other at all positions of the joints between them, or that are so near without
        touch that their contact acts, by their distance at the start: for example a rotor in its housing. Their contact would
        push or brake forever. A slide that presses on its table is a contact, with friction."""
        m, stuck = self.m, dict[tuple[int, int], float]()
        if self.is_off("CONTACT") or not np.all(np.isfinite(m.qpos0)):
            return stuck
        wide = self._widened()
        data = mj.MjData(wide)
        ways = collections.defaultdict[tuple[int, ...], dict[tuple[int, int], float]](dict)
        for pair, distance in self._distances(wide, data).items():
            joints = tuple(self._joints_between(self.body[pair[0]], self.body[pair[1]]))
            if self._mocap_of(pair[0]) != self._mocap_of(pair[1]):
                continue  # a mocap body can move anywhere
            if 0 < len(joints) <= _JOINTS_MOST and (self._is_stuck(pair, distance) or self._is_close(pair, distance)):
                ways[joints][pair] = distance
        for joints, pairs in ways.items():
            ranges = [self._samples(joint) for joint in joints]
            tests = {pair: self._is_stuck if self._is_stuck(pair, distance) else self._is_close for pair, distance in pairs.items()}
            left = dict(pairs)
            for q in itertools.product(*ranges) if all(ranges) else ():  # type: ignore[arg-type]
                data.qpos[:] = m.qpos0
                for joint, position in zip(joints, q):
                    data.qpos[m.jnt_qposadr[joint]] = position
                there = self._distances(wide, data)
                left = {pair: distance for pair, distance in left.items() if tests[pair](pair, there.get(pair))}
                if not left:
                    break
            stuck |= left if all(ranges) else {}
            if all(self._is_single(joint) for joint in joints):
                self.close |= {pair: distance for pair, distance in pairs.items() if distance > 0.0 and pair not in stuck}
        return stuck

    def _tell_clearances(self) -> None:
        for (g1, g2), distance in sorted((self.stuck | self.close).items()):
            names = (f"geoms {self.called('geom', g1)} and {self.called('geom', g2)} of bodies {self.called('body', self.body[g1])} and "
                     f"{self.called('body', self.body[g2])}")
            touch = distance < _TOUCHING
            near = "touching" if touch else f"{1e3 * distance:.3g} mm apart"
            if (g1, g2) in self.close:
                self.tell_all(f"{names} are {near} at the start: contacts act below some "
                              f"{1e3 * float(np.min(self._reach([g1, g2]))):.2g} mm, and may brake them (docs/import.md#clearances)")
            elif distance < 0.0:
                self.tell_all(f"{names} overlap by {-1e3 * distance:.3g} mm wherever the joints between them go: they are not made a pair")
            else:
                self.tell_all(f"{names} are {near} and never {'overlap' if touch else 'touch'} wherever the joints between them go: they are not made a pair")

    def _automatic(self) -> dict[str, Any]:
        """Returns the common values of automatic pairs, by the scene's key; {} if there are none."""
        if not self.automatic:
            return {}
        out: dict[str, Any] = {"friction": _FRICTION}
        if self.takes_parents:
            out["parents"] = True
        links = [[self.last[a], self.last[b]] for a, b in self.excluded + sorted({self._bodies_of(*pair) for pair in self.stuck})]
        excluded = [pair for pair in links if min(pair) >= 0]  # excluding the world without geoms
        return {"automatic": out | ({"exclude": excluded} if excluded else {})}

    def pairs(self) -> list[dict[str, Any]]:
        m, out = self.m, list[dict[str, Any]]()
        if self.is_off("CONTACT"):
            self.tell_all("contacts are off in the model, so there are no pairs")
            return out
        for g in range(m.ngeom):
            if self.place[g] >= 0 and m.geom_condim[g] > 3:
                self.tell("geom", g, f"condim {m.geom_condim[g]} becomes 3")
        seen: set[frozenset[int]] = set()
        for p in range(m.npair if self.takes_pairs("PAIR") else 0):
            one = self._explicit(p, seen)
            seen.add(frozenset((int(m.pair_geom1[p]), int(m.pair_geom2[p]))))
            if one:
                out.append(one)
        for a, b in self.dynamic:
            if (a, b) not in self.automatic:
                c = self._contact(a, b)
                out.append(self._pair(a, b, c | {"solref": self.solref("geom", a, c["solref"])}))
        return out

    # ---- the whole ----

    def settings(self) -> dict[str, Any]:
        opt = self.m.opt
        out: dict[str, Any] = {
            "contact_model": "cone", "timestep": float(opt.timestep),
            "integrator": "rk4" if opt.integrator == mj.mjtIntegrator.mjINT_RK4 else "euler",
            "gravity": [0.0, 0.0, 0.0] if self.flag("GRAVITY") else _floats(opt.gravity),
            "cone": "elliptic" if opt.cone == mj.mjtCone.mjCONE_ELLIPTIC else "pyramidal", "impratio": float(opt.impratio)}
        exact = getattr(mj.mjtEnableBit, "mjENBL_DIAGEXACT", None)
        if exact is not None and opt.enableflags & int(exact):
            out["diagonal"] = "exact"
        if 0 < opt.iterations < _LEAST_ITERATIONS:
            self.tell_all(f"iterations: {opt.iterations} is left out, because Newton's method would rarely converge by then; the scene keeps its own "
                          "number")
        elif opt.iterations != 100 and opt.iterations > 0:
            out["iterations"] = int(opt.iterations)
        if opt.tolerance > 0.0 and opt.tolerance != 1e-8:
            out["tolerance"] = float(opt.tolerance)
        return out

    def rest(self) -> None:
        m, opt, integrators = self.m, self.m.opt, mj.mjtIntegrator
        if opt.integrator not in (int(integrators.mjINT_EULER), int(integrators.mjINT_RK4)):
            self.tell_all("the model's integrator becomes euler, which also damps implicitly")
        if opt.integrator == integrators.mjINT_EULER and self.flag("EULERDAMP"):
            self.tell_all("the model damps explicitly (eulerdamp), the scene implicitly")
        if self.flag("REFSAFE"):
            self.tell_all("solref below twice the timestep is raised, although refsafe is off")
        if opt.enableflags & int(mj.mjtEnableBit.mjENBL_OVERRIDE):
            self.tell_all("the override of contact parameters is left out")
        if opt.density or opt.viscosity:
            self.tell_all("the medium's density and viscosity are left out")
        if opt.noslip_iterations > 0:
            self.tell_all("noslip iterations are left out")
        for b in range(1, m.nbody):
            if self.has("body_gravcomp", b):
                self.tell("body", b, "gravcomp is left out")
        if getattr(m, "nflex", 0):
            self.tell_all(f"{m.nflex} flexible bodies are left out")

    def scene(self) -> dict[str, Any]:
        if not self.link_count:
            raise ValueError("the model has no bodies except the world, and no geoms that may touch anything")
        out = self.settings() | {"links": self.links()}
        tendons, self.tendon_numbers = _tendons(self)
        equalities = _equalities(self, self.tendon_numbers)
        out |= ({"tendons": tendons} if tendons else {}) | ({"equalities": equalities} if equalities else {})
        out |= {"actuators": self.actuators(), "pairs": self.pairs()} | self._automatic()
        out |= self._starts()
        self.rest()
        try:
            plain: dict[str, Any] = _plain(out)
        except ValueError as error:
            raise ValueError(self.named(str(error), "{0} ({1})")) from None
        for line in self.told if self.verbose else _summed(self.told):
            self.to(line)
        return plain

    def _starts(self) -> dict[str, Any]:
        """Returns keyframes by their names, or by numbers if they have no name or a duplicate one."""
        m, starts = self.m, dict[str, Any]()
        if m.nkey > _STARTS_MOST:
            self.tell_all(f"of {m.nkey} keyframes the first {_STARTS_MOST} are starts")
        for k in range(min(m.nkey, _STARTS_MOST)):
            one: dict[str, Any] = {"q": _floats(m.key_qpos[k])}
            if np.any(m.key_qvel[k]):
                one["v"] = _floats(m.key_qvel[k])
            controls = [float(m.key_ctrl[k][c]) for c in self.controls] + _moved(m, m.key_mpos[k], m.key_mquat[k])
            if any(controls):
                one["u"] = controls
            name = self.name("key", k) or str(k)
            if name in starts:
                self.tell_all(f"keyframe {k}: another has the name `{name}`, and it is the start `key+{k}`")
                name = f"key+{k}"
            starts[name] = one
        return {"starts": starts} if starts else {}

    def mesh_text(self, mesh: int) -> str:
        m = self.m
        first, faces = int(m.mesh_vertadr[mesh]), int(m.mesh_faceadr[mesh])
        lines = [f"v {x:.9g} {y:.9g} {z:.9g}\n" for x, y, z in m.mesh_vert[first:first + m.mesh_vertnum[mesh]]]
        lines += [f"f {a + 1} {b + 1} {c + 1}\n" for a, b, c in m.mesh_face[faces:faces + m.mesh_facenum[mesh]]]
        return _MESH_HEAD + "".join(lines)

    def mesh_texts(self) -> dict[str, str]:
        """Returns the texts of meshes by their files' names."""
        return {self.mesh_file(k): self.mesh_text(k) for k in sorted(self.meshes)}


# ---- controls of an mjData ----

def _moved(m: Any, positions: Any, quaternions: Any) -> list[float]:
    """Returns the controls of moved links for these mocap poses: the displacement of each from its body's own pose, along and
    about the world's axes."""
    out, all_positions, all_quaternions = list[float](), _floats(np.ravel(positions)), _floats(np.ravel(quaternions))
    for b in np.flatnonzero(np.asarray(m.body_mocapid) >= 0).tolist():
        k = int(m.body_mocapid[b])
        quaternion = all_quaternions[4 * k:4 * k + 4]
        length = math.sqrt(math.fsum(x * x for x in quaternion))
        w, x, y, z = _floats(m.body_quat[b])
        turn = _product([c / length for c in quaternion] if length > 0.0 else [1.0, 0.0, 0.0, 0.0], [w, -x, -y, -z])
        sine = math.sqrt(math.fsum(c * c for c in turn[1:]))
        share = 2.0 * math.atan2(math.copysign(sine, turn[0]), abs(turn[0])) / sine if sine > 0.0 else 0.0
        out += [p - q for p, q in zip(all_positions[3 * k:3 * k + 3], _floats(m.body_pos[b]))]
        out += [share * c for c in turn[1:]]
    return out


_KEPT: dict[int, tuple[Any, list[int]]] = {}  # by models' ids, so that a loop need not examine a model's actuators at each step


def controls_of(model: Any, data: Any) -> list[float]:
    """Returns the controls of an mjData in the order of its model's scene."""
    kept = _KEPT.get(id(model))
    if kept is None or kept[0]() is not model:
        maker = _Maker(model, "model", lambda text: None)
        _, maker.tendon_numbers = _tendons(maker)
        maker.actuators()
        number = id(model)
        kept = weakref.ref(model, lambda _: _KEPT.pop(number, None)), maker.controls
        _KEPT[number] = kept
    return [float(data.ctrl[k]) for k in kept[1]] + _moved(model, data.mocap_pos, data.mocap_quat)


# ---- what couples bodies and joints beyond contacts ----

def _link_of_joint(maker: _Maker, joint: int) -> int:
    body = int(maker.m.jnt_bodyid[joint])
    return maker.first[body] + joint - int(maker.m.body_jntadr[body])


def _is_fixed(m: Any, t: int) -> bool:
    first, count = int(m.tendon_adr[t]), int(m.tendon_num[t])
    return all(int(m.wrap_type[w]) == int(mj.mjtWrap.mjWRAP_JOINT) for w in range(first, first + count))


def _tendons(maker: _Maker) -> tuple[list[dict[str, Any]], dict[int, int]]:
    """Returns the fixed tendons, and the index among them of each of the model's tendons."""
    m, out, numbers = maker.m, list[dict[str, Any]](), dict[int, int]()
    for t in range(m.ntendon):
        if not _is_fixed(m, t):
            maker.tell("tendon", t, "spatial tendons are left out")
            continue
        wraps = range(int(m.tendon_adr[t]), int(m.tendon_adr[t] + m.tendon_num[t]))
        one: dict[str, Any] = {"joints": [{"joint": _link_of_joint(maker, int(m.wrap_objid[w])), "coefficient": float(m.wrap_prm[w])}
                                          for w in wraps]}
        name = maker.name("tendon", t)
        if name:
            one["name"] = name
        if m.tendon_stiffness[t] and not maker.passive_off("SPRING"):
            one |= {"stiffness": float(m.tendon_stiffness[t]), "rest": _floats(m.tendon_lengthspring[t])}
        if m.tendon_damping[t] and not maker.passive_off("DAMPER"):
            one["damping"] = float(m.tendon_damping[t])
        for array, why in _UNTAKEN:
            if maker.has(array, t):
                couples = array == "tendon_limited" and len(wraps) > 1
                maker.tell("tendon", t, why + (", so that joints which they couple move by themselves" if couples else ""))
        numbers[t] = len(out)
        maker.origins[f"tendons[{len(out)}]"] = f"tendon {maker.called('tendon', t)}"
        out.append(one)
    return out, numbers


def _side(maker: _Maker, e: int, which: int) -> tuple[int, list[float], list[float]]:
    """Returns the link of a side of a connection or weld, -1 for the world, and a position and a quaternion on it."""
    m = maker.m
    number = int((m.eq_obj1id if which == 0 else m.eq_obj2id)[e])
    weld = int(m.eq_type[e]) == _WELD
    if hasattr(m, "eq_objtype") and int(m.eq_objtype[e]) == _SITE:
        body = int(m.site_bodyid[number])
        position, quaternion = _floats(m.site_pos[number]), _floats(m.site_quat[number])
    else:
        body, data = number, _floats(m.eq_data[e])
        first = 3 if weld == (which == 0) else 0
        position = data[first:first + 3]
        quaternion = data[6:10] if weld and which == 0 else [1.0, 0.0, 0.0, 0.0]
    return (maker.last[body] if body else -1), position, quaternion


def _of_links(maker: _Maker, e: int) -> dict[str, Any] | None:
    m, weld = maker.m, int(maker.m.eq_type[e]) == _WELD
    sides = [_side(maker, e, which) for which in (0, 1)]
    out: dict[str, Any] = {"kind": "weld" if weld else "connect"}
    for letter, (link, position, quaternion) in zip("ab", sides):
        out |= {letter: link, f"position_{letter}": position}
        if weld:
            out[f"quaternion_{letter}"] = quaternion
    if weld and m.eq_data[e][10] != 1.0:
        out["torque_scale"] = float(m.eq_data[e][10])
    return out


def _of_coordinates(maker: _Maker, e: int, numbers: dict[int, int]) -> dict[str, Any] | None:
    m, joint = maker.m, int(maker.m.eq_type[e]) == _EQ_JOINT
    out: dict[str, Any] = {"kind": "joint" if joint else "tendon"}
    for letter, number in (("a", int(m.eq_obj1id[e])), ("b", int(m.eq_obj2id[e]))):
        if number < 0:
            continue
        if not joint and number not in numbers:
            return None
        out[letter] = _link_of_joint(maker, number) if joint else numbers[number]
    polynomial = _floats(m.eq_data[e][:5])
    if polynomial != [0.0, 1.0, 0.0, 0.0, 0.0]:
        out["polynomial"] = polynomial
    return out


def _equalities(maker: _Maker, numbers: dict[int, int]) -> list[dict[str, Any]]:
    """Returns the active equalities. `numbers` maps the model's tendons to the scene's."""
    m, out = maker.m, list[dict[str, Any]]()
    on = m.eq_active0 if hasattr(m, "eq_active0") else m.eq_active
    for e in range(0 if maker.is_off("EQUALITY") else m.neq):
        kind = int(m.eq_type[e])
        if not on[e]:
            maker.tell("equality", e, "left out: it is not active at the start")
            continue
        if kind not in (_CONNECT, _WELD, _EQ_JOINT, _EQ_TENDON):
            maker.tell("equality", e, f"left out: {mj.mjtEq(kind).name[len('mjEQ_'):].lower()} has no kind of the scene")
            continue
        one = _of_links(maker, e) if kind in (_CONNECT, _WELD) else _of_coordinates(maker, e, numbers)
        if one is None:
            maker.tell("equality", e, "left out: it holds a spatial tendon")
        elif kind in (_CONNECT, _WELD) and not _moves(maker, e):
            maker.tell("equality", e, "left out: neither side can move")
        else:
            maker.softness(one, "", maker.solref("equality", e, m.eq_solref[e]), m.eq_solimp[e])
            maker.origins[f"equalities[{len(out)}]"] = f"equality {maker.called('equality', e)}"
            out.append(one)
    return out


def _moves(maker: _Maker, e: int) -> bool:
    m, site = maker.m, hasattr(maker.m, "eq_objtype") and int(maker.m.eq_objtype[e]) == _SITE
    ids = [int(m.eq_obj1id[e]), int(m.eq_obj2id[e])]
    bodies = [int(m.site_bodyid[k]) for k in ids] if site else ids
    return any(maker.free[b] for b in bodies)


def renamed(maker: _Maker, path: pathlib.Path, text: str) -> str:
    """Replaces the scene's places and files by the model's names, in a text about the scene that `maker` has written to a path."""
    name = maker.names[:maker.names.index(0)].decode(errors="replace")
    for mesh in sorted(maker.meshes):
        file = path.parent / pathlib.Path(maker.mesh_file(mesh)).name
        text = text.replace(str(file), f"mesh {maker.called('mesh', mesh)}")
    text = re.sub(re.escape(str(path)) + r"(:\d+)?", f"model `{name}`" if name else "the model", text)
    return maker.named(text)


def scene_of(model: Any, stem: str, tell: Callable[[str], None], list_pairs: bool,
             verbose: bool = False) -> tuple[dict[str, Any], dict[str, str]]:
    """Returns a scene, and the texts of the meshes that it names, by their files' names."""
    maker = _Maker(model, stem, tell, list_pairs, verbose)
    scene = maker.scene()
    return scene, maker.mesh_texts()


def scene_text(scene: dict[str, Any]) -> str:
    """Returns the scene's text, one line for each setting, link, actuator and pair."""
    members = []
    for key, value in scene.items():
        text = json.dumps(value, allow_nan=False)
        if value and isinstance(value, list) and isinstance(value[0], dict):
            text = "[\n " + ",\n ".join(json.dumps(one, allow_nan=False) for one in value) + "]"
        members.append(f"{json.dumps(key)}: {text}")
    return "{" + ",\n".join(members) + "}\n"


def _check_output(to: pathlib.Path) -> None:
    """Refuses an output that cannot be written before anything is written, as the command does."""
    if to.exists() and not to.is_file():
        raise OSError(f"{to}: exists and is not a regular file")
    if not to.exists() and not to.parent.is_dir():
        raise FileNotFoundError(f"{to}: the folder {to.parent}/: {os.strerror(errno.ENOENT)}")
    if not os.access(to if to.exists() else to.parent, os.W_OK if to.exists() else os.W_OK | os.X_OK):
        raise PermissionError(f"{to}: {os.strerror(errno.EACCES)}")


def _check_scene_file(to: pathlib.Path) -> None:
    if not to.name.endswith(_ENDING) or to.name == _ENDING:
        raise ValueError(f"{to}: the name of a scene must end with {_ENDING}")
    _check_output(to)


def _write_aside(to: pathlib.Path, text: str, waiting: list[tuple[str, str]]) -> None:
    """Writes a file under a temporary name to the disk, and records that name and the final one."""
    target = os.path.realpath(to)  # a link remains a link
    aside = os.path.join(os.path.dirname(target), f".abut-{secrets.token_hex(8)}.tmp")
    waiting.append((aside, target))
    try:
        handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        with open(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(to)) from error


def _write_files(files: dict[pathlib.Path, str]) -> None:
    """Writes all files under temporary names first, then renames them. If a rename fails, new files are removed; an existing file
    that was already replaced stays replaced."""
    waiting: list[tuple[str, str]] = []
    made: list[str] = []
    try:
        for to, text in files.items():
            _write_aside(to, text, waiting)
        for aside, target in waiting:
            made += [] if os.path.exists(target) else [target]  # recorded before the file exists, because a signal may arrive
            os.replace(aside, target)
    except BaseException:
        for path in [aside for aside, _ in waiting] + made:
            with contextlib.suppress(OSError):
                os.unlink(path)
        raise


def _write(scene: dict[str, Any], meshes: dict[str, str], to: pathlib.Path) -> None:
    for name in meshes:
        there = to.parent / name
        _check_output(there)
        if there.exists() and not there.read_text(errors="replace").startswith(_MESH_HEAD):
            raise ValueError(f"{there}: exists and was not written by an import, so it is not overwritten")
    _write_files({to.parent / name: mesh for name, mesh in meshes.items()} | {to: scene_text(scene)})


def write(model: Any, path: str | os.PathLike[str], tell: Callable[[str], None], list_pairs: bool, verbose: bool = False) -> _Maker:
    """Writes the scene with its meshes, NAME.MESH.obj, beside it. Either all files are written, or none of the new ones remains."""
    to = pathlib.Path(path)
    _check_scene_file(to)
    maker = _Maker(model, to.name[: -len(_ENDING)], tell, list_pairs, verbose)
    _write(maker.scene(), maker.mesh_texts(), to)
    return maker


# ---- as a program ----

def _refuse(text: object, status: int = 2) -> int:
    print(f"abut: {text}", file=sys.stderr)
    return status


def _of_file(error: OSError) -> str:
    return f"{error.filename}: {error.strerror}" if error.filename else str(error)


class _Ended(BaseException):
    """Raised by a signal that ends the program, with its number. Unfinished files are removed first."""


def _end(number: int, frame: object) -> None:
    raise _Ended(number)


def _reason(error: Exception) -> str:
    """Returns MuJoCo's reason, which has several lines, and what to do about it. MuJoCo does not read the meshes that abut reads
    by Assimp."""
    text = " ".join(str(error).split())
    if re.search(r"\.(dae|glb|gltf)", text, re.IGNORECASE):
        return text + "; MuJoCo's meshes are .obj, .stl or .msh, so convert it (docs/import.md#meshes)"
    if re.search("package:/", text):
        return text + "; MuJoCo finds no packages of ROS: write the mesh's path in the place of `package://` (docs/import.md#meshes)"
    scheme = re.search(r"'(\w\w+):/", text)  # MuJoCo merges the slashes of a URL
    if scheme:
        return text + f"; MuJoCo reads no URLs: write the mesh's path in the place of `{scheme[1]}://` (docs/import.md#meshes)"
    if "Error opening file" in text:
        return text + "; MuJoCo looks for files from the model's own folder on (docs/import.md#meshes)"
    if re.search("unrecognized (attribute|element)|invalid keyword", text):
        return text + "; if MuJoCo is too old, see docs/import.md"
    return text


def _summary(path: str, scene: dict[str, Any], maker: _Maker) -> str:
    warnings = len(maker.told)
    automatic = len(maker.automatic)
    counts = ", ".join(_counted(number, one) for number, one in (
        (maker.link_count, "link"), (sum(place >= 0 for place in maker.place), "body"), (len(scene["actuators"]), "actuator"),
        (len(scene["pairs"]) + automatic, "pair")))
    return (f"{path}: {counts}{f' ({automatic} automatic)' if automatic else ''}, by MuJoCo {mj.__version__}; "
            + (_counted(warnings, "warning") if warnings else "nothing left out"))


def _print(line: str) -> int:
    """Prints on standard output, with paths as given, and without a buffer that Python would flush again at exit."""
    try:
        os.write(1, os.fsencode(line + "\n"))
    except OSError as error:
        return _refuse(f"standard output: {error.strerror}", 1)
    return 0


def _is_xacro(path: str) -> bool:
    """Returns whether a URDF is an xacro file. MuJoCo skips unknown elements of a URDF, and with them their content. Comments
    remain after xacro has run."""
    with contextlib.suppress(OSError):  # MuJoCo reports such errors
        text = pathlib.Path(path).read_text(errors="replace")
        return path.lower().endswith(".xacro") or "<xacro:" in re.sub("<!--.*?-->", "", text, flags=re.DOTALL)
    return False


def _read(path: str) -> Any:
    """Reads a mujoco.MjModel from a file."""
    if os.fsencode(path) != path.encode(errors="replace"):
        raise ValueError("MuJoCo's package accepts only UTF-8 paths")
    if _is_xacro(path):
        raise ValueError("it is a xacro file: expand it first with `xacro FILE > robot.urdf` (docs/import.md)")
    # MuJoCo would write its warnings to a file in the working folder.
    mj.set_mju_user_warning(lambda text: print(f"abut: warning: MuJoCo: {text}", file=sys.stderr))
    try:
        return mj.MjModel.from_xml_path(path)
    except (ValueError, OSError) as error:
        raise ValueError(f"MuJoCo {mj.__version__} cannot read it: {_reason(error)}") from error


class _Reading:
    """A line on a terminal after a second, which the next output removes."""

    def __init__(self, path: str, quiet: bool) -> None:
        self._shown, self._quiet = False, quiet or not sys.stderr.isatty()
        self._timer = threading.Timer(1.0, self._show, (path,))
        self._timer.daemon = True

    def __enter__(self) -> None:
        if not self._quiet:
            self._timer.start()

    def __exit__(self, *error: object) -> None:
        self.end()

    def _show(self, path: str) -> None:
        self._shown = True
        print(f"\r\033[Kreading {path} with MuJoCo", end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        self._timer.cancel()
        if self._shown:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
        self._shown = False


def _import(path: str, to: pathlib.Path, list_pairs: bool, quiet: bool, verbose: bool) -> int:
    reading = _Reading(path, quiet)

    def tell(text: str) -> None:
        reading.end()
        print(f"abut: warning: {text}", file=sys.stderr)

    try:
        if to.exists() and os.path.exists(path) and os.path.samefile(to, path):
            return _refuse(f"{to}: is also an input of this command; use another output file")
        _check_scene_file(to)
        try:
            with reading:
                maker = _Maker(_read(path), to.name[: -len(_ENDING)], tell, list_pairs, verbose)
                scene = maker.scene()
        except ValueError as error:
            return _refuse(f"{path}: {error}")
        _write(scene, maker.mesh_texts(), to)
    except ValueError as error:
        return _refuse(error)
    except FileNotFoundError as error:  # the output folder is missing
        return _refuse(_of_file(error))
    except OSError as error:
        return _refuse(_of_file(error), 1)
    except mj.FatalError as error:
        return _refuse(f"MuJoCo: {error}", 1)
    return 0 if quiet else _print(_summary(path, scene, maker))


def main() -> int:
    """Runs the program. Arguments and exit statuses are those of `abut import`."""
    parser = argparse.ArgumentParser(prog="abut.mujoco", description="A scene of a model that MuJoCo reads.")
    parser.add_argument("model", help="MJCF or URDF")
    parser.add_argument("-o", "--output", required=True, help="NAME.scene.json")
    parser.add_argument("--list-pairs", action="store_true", help="list all pairs, rather than have the scene find them by itself")
    parser.add_argument("--verbose", action="store_true", help="name all that is left out or changed, a line each, rather than sum it up")
    parser.add_argument("-q", "--quiet", action="store_true", help="print no summary")
    options = parser.parse_args()
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _end)
    try:
        return _import(options.model, pathlib.Path(options.output), options.list_pairs, options.quiet, options.verbose)
    except _Ended as ended:
        signal.signal(ended.args[0], signal.SIG_DFL)
        os.kill(os.getpid(), ended.args[0])
        return 1


if _IS_PROGRAM:
    sys.exit(main())
