"""Scenes of MuJoCo's models: abut.mujoco, and as a program python -m abut.mujoco MODEL.xml -o NAME.scene.json.

    import abut, mujoco
    model = mujoco.MjModel.from_xml_path("robot.xml")
    scene = abut.from_mujoco(model)                  # an abut.Scene; q and v are MuJoCo's, number by number
    s = scene.step(model.qpos0, [0] * model.nv, steps=100)

The rules are those of `abut import` (docs/import.md): what a scene has no word for is left out or changed, each with a warning
that names it. Whatever MuJoCo of PyPI is installed made the model; abut's command needs none for this.
"""
from __future__ import annotations

import argparse
import contextlib
import errno
import json
import math
import os
import pathlib
import re
import secrets
import sys
import tempfile
from collections.abc import Callable
from typing import Any

import mujoco as mj  # type: ignore[import-untyped,import-not-found,unused-ignore]
import numpy as np

from abut._context import Context
from abut._drivers import warn
from abut._worlds import Scene

__all__ = ["from_mujoco", "scene_of", "set_state", "state_of", "write"]

_SOLREF, _SOLIMP = [0.02, 1.0], [0.9, 0.95, 0.001, 0.5, 2.0]
_LEAST_ITERATIONS = 10  # fewer are of models made for MJX
_PLANE_EXTENTS, _PLANE_LEAST = 10.0, 10.0  # half edges of a plane without end: times the model's size, and [m]
_MIX_LEAST = 1e-15  # a weight below is none (mjMINVAL)
_FRICTION = 1.0  # MuJoCo's default, and so that of automatic pairs
_HEIGHTS_LEAST, _HEIGHTS_MOST = 2, 2048  # nodes a side of a scene's height field
_FAR = 1e10  # beyond it MuJoCo calls positions and accelerations bad (mjMAXVAL), and its square is finite in float32
_ENDING = ".scene.json"
_MESH_HEAD = "# by abut import\n"
_FREE, _BALL, _SLIDE, _HINGE = (int(getattr(mj.mjtJoint, f"mjJNT_{k}")) for k in ("FREE", "BALL", "SLIDE", "HINGE"))
_WORDS = {int(getattr(mj.mjtGeom, f"mjGEOM_{word.upper()}")): (word, count)
          for word, count in (("sphere", 1), ("capsule", 2), ("ellipsoid", 3), ("cylinder", 2), ("box", 3))}
_PLANE, _MESH, _HFIELD = (int(getattr(mj.mjtGeom, f"mjGEOM_{k}")) for k in ("PLANE", "MESH", "HFIELD"))


def _floats(x: Any) -> list[float]:
    return [float(v) for v in np.ravel(x)]


def _clipped(solimp: Any) -> list[float]:
    """As scenes do, which clip those of bodies, too."""
    d = _floats(solimp)
    return [min(max(d[k], 1e-4), 0.9999) if k in (0, 1, 3) else max(d[k], 1.0) if k == 4 else d[k] for k in range(5)]


def _finite_range(ends: list[float]) -> list[float] | None:
    """A range as scenes take it: an end that is infinite becomes one that nothing reaches. None where both ends are."""
    if ends == [-math.inf, math.inf]:
        return None
    return [-_FAR if ends[0] == -math.inf else ends[0], _FAR if ends[1] == math.inf else ends[1]]


def _plain(x: Any, place: str = "") -> Any:
    """A scene with 0 for -0, as the command writes it. Numbers that JSON has no word for are refused by their place."""
    if isinstance(x, dict):
        return {key: _plain(value, f"{place}.{key}" if place else key) for key, value in x.items()}
    if isinstance(x, list):
        return [_plain(value, f"{place}[{i}]") for i, value in enumerate(x)]
    if not isinstance(x, float):
        return x
    if not math.isfinite(x):
        raise ValueError(f"the scene's {place} is {x:g}; scenes hold finite numbers alone")
    return float(x + 0.0)


def _version() -> tuple[int, int, int]:
    """MuJoCo's, of its number: 330 is 3.3.0, and from 3.4 on 3004000 is 3.4.0. Its text may end with letters."""
    number = int(mj.mj_version())
    base = 10 if number < 1000000 else 1000
    return number // base**2, number // base % base, number % base


def _matrix(q: Any) -> np.ndarray[Any, Any]:
    w, x, y, z = q
    s = 2.0 / (w * w + x * x + y * y + z * z)
    return np.array([[1 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)],
                     [s * (x * y + w * z), 1 - s * (x * x + z * z), s * (y * z - w * x)],
                     [s * (x * z - w * y), s * (y * z + w * x), 1 - s * (x * x + y * y)]])


def _product(a: Any, b: Any) -> np.ndarray[Any, Any]:
    return np.array([a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
                     a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
                     a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
                     a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]])


class _Maker:
    """A model on its way to a scene. `tell` gets what is left out or changed."""

    def __init__(self, model: Any, stem: str, tell: Callable[[str], None], list_pairs: bool = False):
        if not isinstance(model, mj.MjModel):
            raise TypeError(f"a mujoco.MjModel is wanted, as mujoco.MjModel.from_xml_path makes one, not {type(model).__name__}")
        self.m, self.stem, self.tell_all = model, stem, tell
        self.place: list[int] = [-1] * model.ngeom
        self.meshes: set[int] = set()
        self.version = _version()
        self._place_geoms()
        self._number_links()
        first = 0 if self.version >= (3,) else 1  # the number of the first body in a signature, which is (body << 16) + body
        self.excluded = [((int(s) >> 16 & 0xFFFF) - first, (int(s) & 0xFFFF) - first) for s in model.exclude_signature]
        self.automatic: set[tuple[int, int]] = set()  # geoms whose pairs the scene finds by itself
        if not list_pairs:
            self.automatic = {pair for pair in self._dynamic_pairs() if self._mixes_alike(*pair)}

    # ---- the model ----

    def has(self, name: str, index: Any = slice(None)) -> bool:
        """Whether an array that versions may lack has anything but 0 there."""
        return hasattr(self.m, name) and bool(np.any(getattr(self.m, name)[index]))

    def flag(self, name: str) -> bool:
        """Whether a flag that disables something is set; False where this MuJoCo has none of the name."""
        return bool(self.m.opt.disableflags & int(getattr(mj.mjtDisableBit, f"mjDSBL_{name}", 0)))

    def is_off(self, name: str) -> bool:
        """Whether a kind of constraints is disabled, by itself or with all of them."""
        return self.flag(name) or self.flag("CONSTRAINT")

    def passive_off(self, name: str) -> bool:
        """Whether SPRING or DAMPER is disabled, which was one flag, PASSIVE, before MuJoCo 3.3.6."""
        return self.flag(name if hasattr(mj.mjtDisableBit, f"mjDSBL_{name}") else "PASSIVE")

    def takes_pairs(self, kind: str) -> bool:
        """Whether DYNAMIC pairs, by geoms' bits, or explicit ones, PAIR, are looked at: an option until MuJoCo 3."""
        chosen = getattr(self.m.opt, "collision", None)
        return chosen is None or int(chosen) in (int(getattr(mj.mjtCollision, f"mjCOL_{k}")) for k in ("ALL", kind))

    def name(self, kind: str, number: int) -> str:
        return mj.mj_id2name(self.m, getattr(mj.mjtObj, f"mjOBJ_{kind.upper()}"), number) or ""

    def tell(self, kind: str, number: int, text: str) -> None:
        name = self.name(kind, number)
        self.tell_all(f"{kind} {f'`{name}`' if name else number}: {text}")

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

    def _has_word(self, g: int) -> bool:
        kind = int(self.m.geom_type[g])
        if kind in _WORDS or kind in (_PLANE, _MESH):
            return True
        if kind != _HFIELD:
            self.tell("geom", g, "its shape is left out")
            return False
        field = self.m.geom_dataid[g]
        rows, columns = int(self.m.hfield_nrow[field]), int(self.m.hfield_ncol[field])
        good = all(_HEIGHTS_LEAST <= nodes <= _HEIGHTS_MOST for nodes in (rows, columns))
        if not good:
            self.tell("geom", g, f"a height field of {rows} by {columns} nodes is left out")
        return good

    def _place_geoms(self) -> None:
        m, untouched = self.m, 0
        for b in range(m.nbody):
            count = 0
            for g in range(m.body_geomadr[b], m.body_geomadr[b] + m.body_geomnum[b]):
                if not self._may_touch(g):
                    untouched += 1
                elif self._has_word(g):
                    self.place[g] = count
                    count += 1
                    if m.geom_type[g] == _MESH:
                        self.meshes.add(int(m.geom_dataid[g]))
        if untouched:
            one = untouched == 1
            self.tell_all(f"{untouched} geom{'' if one else 's'} that touch{'es' if one else ''} nothing "
                          f"{'is' if one else 'are'} left out (contype and conaffinity 0)")

    def mesh_file(self, mesh: int) -> str:
        name = self.name("mesh", mesh)
        return f"{self.stem}.{name}.obj" if re.fullmatch(r"[A-Za-z0-9._-]+", name) else f"{self.stem}.mesh+{mesh}.obj"

    def _heights(self, field: int) -> dict[str, Any]:
        """MuJoCo's rows of heights are those of scenes: from the lower end of y on."""
        m, size = self.m, _floats(self.m.hfield_size[field])
        rows, columns, first = int(m.hfield_nrow[field]), int(m.hfield_ncol[field]), int(m.hfield_adr[field])
        heights = m.hfield_data[first:first + rows * columns].reshape(rows, columns)
        return {"size": size[:2], "scale": size[2], "base": size[3], "heights": [_floats(row) for row in heights]}

    def _shape(self, g: int) -> dict[str, Any]:
        m, size = self.m, _floats(self.m.geom_size[g])
        kind = int(m.geom_type[g])
        if kind == _PLANE:
            far = max(_PLANE_LEAST, math.ceil(_PLANE_EXTENTS * m.stat.extent))
            half = [size[k] if size[k] > 0.0 else float(far) for k in range(2)]
            if not (size[0] > 0.0 and size[1] > 0.0):
                self.tell("geom", g, f"a plane without end becomes one of {2 * half[0]:g} m by {2 * half[1]:g} m")
            return {"plane": half}
        if kind == _MESH:
            return {"file": pathlib.Path(self.mesh_file(int(m.geom_dataid[g]))).name}
        if kind == _HFIELD:
            return {"height_field": self._heights(int(m.geom_dataid[g]))}
        word, count = _WORDS[kind]
        return {word: size[0] if count == 1 else size[:count]}

    def bodies(self, body: int) -> list[dict[str, Any]]:
        m, out = self.m, []
        for g in range(m.body_geomadr[body], m.body_geomadr[body] + m.body_geomnum[body]):
            if self.place[g] < 0:
                continue
            one = self._shape(g)
            if np.any(m.geom_pos[g]):
                one["position"] = _floats(m.geom_pos[g])
            if _floats(m.geom_quat[g]) != [1.0, 0.0, 0.0, 0.0]:
                one["quaternion"] = _floats(m.geom_quat[g])
            self._put_own(one, g)
            if self.has("geom_surfacevel", g) or self.has("geom_adhesion", g):
                self.tell("geom", g, "its surface neither moves by itself nor sticks in the scene")
            out.append(one)
        return out

    # ---- links ----

    def _number_links(self) -> None:
        m = self.m
        world = any(self.place[g] >= 0 for g in range(m.body_geomnum[0]))
        self.link_count = int(world)
        self.first, self.last, self.weld = [self.link_count - 1], [self.link_count - 1], [0]
        for b in range(1, m.nbody):
            self.first.append(self.link_count)
            self.link_count += max(int(m.body_jntnum[b]), 1)
            self.last.append(self.link_count - 1)
            self.weld.append(b if m.body_jntnum[b] > 0 else self.weld[m.body_parentid[b]])

    def _is_single(self, joint: int) -> bool:
        return int(self.m.jnt_type[joint]) in (_SLIDE, _HINGE)

    def _frame(self, body: int, k: int) -> dict[str, Any]:
        m, out = self.m, {}
        position, quaternion = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
        if k == 0:
            position, quaternion = m.body_pos[body].copy(), m.body_quat[body].copy()
        joint = int(m.body_jntadr[body]) + k
        if m.body_jntnum[body] > 0 and self._is_single(joint):
            at = float(m.qpos0[m.jnt_qposadr[joint]])
            if at != 0.0:
                axis, anchor = m.jnt_axis[joint], m.jnt_pos[joint]
                if m.jnt_type[joint] == _SLIDE:
                    position -= at * (_matrix(quaternion) @ axis)
                else:
                    turned = _product(quaternion, [math.cos(0.5 * at), *(-math.sin(0.5 * at) * axis)])
                    position += _matrix(quaternion) @ anchor - _matrix(turned) @ anchor
                    quaternion = turned
                self.tell("joint", joint, f"ref {at:g} stays in q, but approximate weights of rows are those at q = 0")
        if np.any(position):
            out["position"] = _floats(position)
        if _floats(quaternion) != [1.0, 0.0, 0.0, 0.0]:
            out["quaternion"] = _floats(quaternion)
        return out

    def _mass(self, body: int) -> dict[str, Any]:
        m = self.m
        moments = m.body_inertia[body]
        if not m.body_mass[body] and not np.any(moments):
            return {}
        r = _matrix(m.body_iquat[body])
        inertia = r @ np.diag(moments) @ r.T
        out: dict[str, Any] = {"mass": float(m.body_mass[body])}
        if np.any(m.body_ipos[body]):
            out["com"] = _floats(m.body_ipos[body])
        return out | {"inertia": [_floats(row) for row in 0.5 * (inertia + inertia.T)]}

    def _limits(self, joint: int, to: dict[str, Any]) -> None:
        m = self.m
        if not m.jnt_limited[joint] or self.is_off("LIMIT"):
            return
        if not self._is_single(joint):
            self.tell("joint", joint, "a ball's limit is left out")
            return
        margin, (low, high) = float(m.jnt_margin[joint]), _floats(m.jnt_range[joint])
        limits = [low + margin, high - margin]
        if not limits[0] < limits[1]:
            self.tell("joint", joint, "the limits' margin is as wide as they are, and is left out")
            limits = [low, high]
        if not limits[0] < limits[1]:
            self.tell("joint", joint, "limits without room between are left out")
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
                # What hangs on the world's own link, which does not move, may hang on the world, as free joints must.
                link["parent"] = self.first[b] + k - 1 if k else -1 if m.body_parentid[b] == 0 else self.last[m.body_parentid[b]]
                link |= self._frame(b, k)
                if joints:
                    link["joint"] = self._joint(joint)
                if end:
                    link |= self._mass(b)
                    bodies = self.bodies(b)
                    if bodies:
                        link["bodies"] = bodies
                out.append(link)
        return out

    # ---- actuators ----

    def _kind(self, a: int) -> dict[str, Any] | None:
        """F = gain u + bias[0] + bias[1] l + bias[2] ld, of a few shapes."""
        m = self.m
        gain, bias = float(m.actuator_gainprm[a][0]), m.actuator_biasprm[a]
        plain = m.actuator_dyntype[a] == mj.mjtDyn.mjDYN_NONE and m.actuator_gaintype[a] == mj.mjtGain.mjGAIN_FIXED
        if plain and m.actuator_biastype[a] == mj.mjtBias.mjBIAS_NONE:
            return {"kind": "motor", "gain": gain}
        if not plain or m.actuator_biastype[a] != mj.mjtBias.mjBIAS_AFFINE or bias[0] != 0.0:
            return None
        if bias[1] == -gain:
            return {"kind": "position", "kp": gain, "kv": -float(bias[2])}
        return {"kind": "velocity", "kp": 0.0, "kv": gain} if bias[1] == 0.0 and bias[2] == -gain else None

    def _force_range(self, a: int, motor: float | None) -> list[float] | None:
        m = self.m
        forced, out = bool(m.actuator_forcelimited[a]), [-math.inf, math.inf]
        if forced:
            out = _floats(m.actuator_forcerange[a])
            if motor:
                out = sorted(x / motor for x in out)
        if motor is None or not m.actuator_ctrllimited[self._control(a)] or self.flag("CLAMPCTRL"):
            return out if forced else None
        low, high = _floats(m.actuator_ctrlrange[self._control(a)])
        return [max(out[0], low), min(out[1], high)]

    def _control(self, a: int) -> int:
        return int(self.m.actuator_ctrladr[a]) if hasattr(self.m, "actuator_ctrladr") else a

    def _output(self, a: int) -> int:
        return int(self.m.actuator_outadr[a]) if hasattr(self.m, "actuator_outadr") else a

    def _refusal(self, a: int, kind: dict[str, Any] | None, dof: list[int]) -> str | None:
        m = self.m
        group, way = int(m.actuator_group[a]), m.actuator_trntype[a]
        if self.flag("ACTUATION") or (0 <= group < 31 and getattr(m.opt, "disableactuator", 0) & (1 << group)):
            return "it is off in the model"
        joints = (mj.mjtTrn.mjTRN_JOINT, mj.mjtTrn.mjTRN_JOINTINPARENT)
        plain = not hasattr(m, "actuator_ctrlnum") or (m.actuator_ctrlnum[a] == 1 and m.actuator_outnum[a] == 1)
        if way not in [int(j) for j in joints] or not plain:
            return "only actuators of joints are taken"
        if kind is None:
            return "it is neither a motor, a position nor a velocity actuator without state"
        joint = int(m.actuator_trnid[a][0])
        dofs = {_FREE: 6, _BALL: 3}.get(int(m.jnt_type[joint]), 1)
        used = [0] if dofs == 1 else [k for k in range(dofs) if m.actuator_gear[self._output(a)][k]]
        if len(used) != 1:
            return "its gear is not along one axis of the joint"
        dof.append(used[0])
        if dofs > 1 and kind["kind"] != "motor":
            return "of ball and free joints only motors are taken"
        if dofs > 1 and way == int(joints[1]):
            return "its gear is in the parent's axes"
        limits = self._force_range(a, kind.get("gain"))
        return "its ranges leave its force no room" if limits and not limits[0] < limits[1] else None

    def actuators(self) -> list[dict[str, Any]]:
        m, out = self.m, []
        for a in range(getattr(m, "nactuator", m.nu)):
            kind, dof = self._kind(a), list[int]()
            why = self._refusal(a, kind, dof)
            if why or kind is None:
                self.tell("actuator", a, f"left out with its control: {why}")
                continue
            joint, motor = int(m.actuator_trnid[a][0]), kind["kind"] == "motor"
            body = int(m.jnt_bodyid[joint])
            one: dict[str, Any] = {"kind": kind["kind"], "joint": self.first[body] + joint - int(m.body_jntadr[body])}
            if dof[0]:
                one["dof"] = dof[0]
            gear = float(m.actuator_gear[self._output(a)][dof[0]])
            one["gear"] = kind["gain"] * gear if motor else gear
            one |= {k: kind[k] for k in ("kp", "kv") if kind.get(k)}
            limits = self._force_range(a, kind.get("gain"))
            finite = _finite_range(limits) if limits else None
            if finite:
                one["force_limits"] = finite
            out.append(one)
            if not motor and m.actuator_ctrllimited[self._control(a)] and not self.flag("CLAMPCTRL"):
                low, high = _floats(m.actuator_ctrlrange[self._control(a)])
                if _finite_range([low, high]):
                    self.tell("actuator", a, f"the control's range {low:g} to {high:g} is left out")
            if self.has("jnt_actfrclimited", joint):
                self.tell("actuator", a, "the joint's actuatorfrcrange is left out")
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

    def _pair(self, g1: int, g2: int, c: dict[str, Any], margin: float) -> dict[str, Any]:
        sides = [[self.last[int(self.m.geom_bodyid[g])], self.place[g]] for g in (g1, g2)]
        out: dict[str, Any] = {"a": sides[0], "b": sides[1], "friction": c["friction"]}
        self.softness(out, "", c["solref"], c["solimp"])
        if c["condim"] == 1:
            out["condim"] = 1
        if margin:
            out["margin"] = margin
        return out

    def _own_margin(self, g: int) -> float:
        """A geom's own part of a margin."""
        return float(self.m.geom_margin[g] - (0.0 if self.version >= (3, 9) else self.m.geom_gap[g]))

    def _mixes_alike(self, g1: int, g2: int) -> bool:
        """Whether what the two bodies state comes to the contact that MuJoCo has: by the means and the larger of their own."""
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
        """What a body states of itself for automatic pairs."""
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
        kinds = self.m.geom_type
        return self.place[g1] >= 0 and self.place[g2] >= 0 and not (kinds[g1] == _PLANE and kinds[g2] == _PLANE)

    def _bodies_collide(self, b1: int, b2: int) -> bool:
        a, b = self.weld[b1], self.weld[b2]
        if a == b or (b1, b2) in self.excluded or (b2, b1) in self.excluded:
            return False
        parents = [self.weld[self.m.body_parentid[x]] for x in (a, b)]
        return not (a and b and not self.flag("FILTERPARENT") and (parents[0] == b or parents[1] == a))

    def _explicit(self, p: int, seen: set[frozenset[int]]) -> dict[str, Any] | None:
        m = self.m
        g1, g2 = int(m.pair_geom1[p]), int(m.pair_geom2[p])
        friction, condim = m.pair_friction[p], int(m.pair_dim[p])
        if not self._shapes_collide(g1, g2):
            return None  # a shape that is left out was told
        if self.weld[m.geom_bodyid[g1]] == self.weld[m.geom_bodyid[g2]]:
            self.tell("pair", p, "its geoms do not move against each other")
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
             "solimp": _floats(m.pair_solimp[p])}
        return self._pair(g1, g2, c, self._margin(g1, g2, p))

    def _dynamic_pairs(self) -> list[tuple[int, int]]:
        """Geoms that collide by their bits."""
        m, found = self.m, list[tuple[int, int]]()
        if self.is_off("CONTACT") or not self.takes_pairs("DYNAMIC"):
            return found
        explicit = {frozenset((int(a), int(b))) for a, b in zip(m.pair_geom1, m.pair_geom2)} if self.takes_pairs("PAIR") else set()
        for a in range(m.ngeom):
            for b in range(a + 1, m.ngeom):
                bits = m.geom_contype[a] & m.geom_conaffinity[b] or m.geom_contype[b] & m.geom_conaffinity[a]
                if bits and self._shapes_collide(a, b) and frozenset((a, b)) not in explicit \
                        and self._bodies_collide(int(m.geom_bodyid[a]), int(m.geom_bodyid[b])):
                    found.append((a, b))
        return found

    def _automatic(self) -> dict[str, Any]:
        """What automatic pairs have in common, by the scene's key; {} where there are none."""
        if not self.automatic:
            return {}
        out: dict[str, Any] = {"friction": _FRICTION}
        if self.flag("FILTERPARENT"):
            out["parents"] = True
        links = [[self.last[a], self.last[b]] for a, b in self.excluded]
        excluded = [pair for pair in links if min(pair) >= 0]  # not the world without geoms
        return {"automatic": out | ({"exclude": excluded} if excluded else {})}

    def pairs(self) -> list[dict[str, Any]]:
        m, out = self.m, list[dict[str, Any]]()
        if self.is_off("CONTACT"):
            self.tell_all("contacts are off in the model, so that there are no pairs")
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
        for a, b in self._dynamic_pairs():
            if (a, b) not in self.automatic:
                c = self._of_geoms(a, b)
                c["solref"] = self.solref("geom", a, c["solref"])
                out.append(self._pair(a, b, c, self._margin(a, b, -1)))
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
            self.tell_all(f"iterations: {opt.iterations} is left out, as Newton's method would seldom end by then; the scene's own "
                          "number stays")
        elif opt.iterations != 100 and opt.iterations > 0:
            out["iterations"] = int(opt.iterations)
        if opt.tolerance > 0.0 and opt.tolerance != 1e-8:
            out["tolerance"] = float(opt.tolerance)
        return out

    def rest(self) -> None:
        m, opt, integrators = self.m, self.m.opt, mj.mjtIntegrator
        if opt.integrator not in (int(integrators.mjINT_EULER), int(integrators.mjINT_RK4)):
            self.tell_all("the model's integrator becomes euler, which damps implicitly, too")
        if opt.integrator == integrators.mjINT_EULER and self.flag("EULERDAMP"):
            self.tell_all("the model damps explicitly (eulerdamp), the scene implicitly")
        if self.flag("REFSAFE"):
            self.tell_all("solref below twice the timestep is raised, though refsafe is off")
        if opt.enableflags & int(mj.mjtEnableBit.mjENBL_OVERRIDE):
            self.tell_all("the override of contact parameters is left out")
        if opt.density or opt.viscosity:
            self.tell_all("the medium's density and viscosity are left out")
        if opt.noslip_iterations > 0:
            self.tell_all("noslip iterations are left out")
        for b in range(1, m.nbody):
            if self.has("body_gravcomp", b):
                self.tell("body", b, "gravcomp is left out")
            if m.body_mocapid[b] >= 0:
                self.tell("body", b, "a mocap body becomes a fixed link")
        on = m.eq_active0 if hasattr(m, "eq_active0") else m.eq_active
        for e in range(0 if self.is_off("EQUALITY") else m.neq):
            if on[e]:
                self.tell("equality", e, "equality constraints are left out")
        for t in range(m.ntendon):
            self.tell("tendon", t, "tendons are left out")
        if getattr(m, "nflex", 0):
            self.tell_all(f"{m.nflex} flexible bodies are left out")

    def scene(self) -> dict[str, Any]:
        if not self.link_count:
            raise ValueError("the model has no bodies")
        out = self.settings() | {"links": self.links(), "actuators": self.actuators(), "pairs": self.pairs()} | self._automatic()
        self.rest()
        plain: dict[str, Any] = _plain(out)
        return plain

    def mesh_text(self, mesh: int) -> str:
        m = self.m
        first, faces = int(m.mesh_vertadr[mesh]), int(m.mesh_faceadr[mesh])
        lines = [f"v {x:.9g} {y:.9g} {z:.9g}\n" for x, y, z in m.mesh_vert[first:first + m.mesh_vertnum[mesh]]]
        lines += [f"f {a + 1} {b + 1} {c + 1}\n" for a, b, c in m.mesh_face[faces:faces + m.mesh_facenum[mesh]]]
        return _MESH_HEAD + "".join(lines)


def scene_of(model: Any, stem: str = "model", tell: Callable[[str], None] = warn, *,
             list_pairs: bool = False) -> tuple[dict[str, Any], dict[str, str]]:
    """What a scene file of an mjModel holds, and the texts of the meshes that it names, by their files' names.

    stem   what meshes' names begin with
    tell   gets each thing that is left out or changed; by default it is a Python warning
    list_pairs   whether all pairs are listed; else the scene finds those by itself that mix as MuJoCo's do
    """
    maker = _Maker(model, stem, tell, list_pairs)
    scene = maker.scene()
    return scene, {maker.mesh_file(k): maker.mesh_text(k) for k in sorted(maker.meshes)}


def _check_output(to: pathlib.Path) -> None:
    """Refuses what cannot be written before anything is, as the command does."""
    if to.exists() and not to.is_file():
        raise OSError(f"{to}: exists and is not a regular file")
    if not to.exists() and not to.parent.is_dir():
        raise FileNotFoundError(f"{to}: the folder {to.parent}/: {os.strerror(errno.ENOENT)}")
    if not os.access(to if to.exists() else to.parent, os.W_OK if to.exists() else os.W_OK | os.X_OK):
        raise PermissionError(f"{to}: {os.strerror(errno.EACCES)}")


def _check_scene_file(to: pathlib.Path) -> None:
    if not to.name.endswith(_ENDING) or to.name == _ENDING:
        raise ValueError(f"{to}: scenes are files that end with {_ENDING}")
    _check_output(to)


def _write_aside(to: pathlib.Path, text: str, waiting: list[tuple[str, str]]) -> None:
    """Writes a file under a name of its own, to the disk, and notes that and the name that it is to have."""
    target = os.path.realpath(to)  # a link stays one
    aside = os.path.join(os.path.dirname(target), f".abut-{secrets.token_hex(8)}.tmp")
    try:
        handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        waiting.append((aside, target))
        with open(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(to)) from error


def _write_files(files: dict[pathlib.Path, str]) -> None:
    """All of them or none: whole under other names first, and what was not there before goes if one cannot take its own."""
    waiting: list[tuple[str, str]] = []
    made: list[str] = []
    try:
        for to, text in files.items():
            _write_aside(to, text, waiting)
        for aside, target in waiting:
            new = not os.path.exists(target)
            os.replace(aside, target)
            made += [target] if new else []
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
            raise ValueError(f"{there}: is there, and not of an import; it is not written over")
    text = json.dumps(scene, indent=1, allow_nan=False) + "\n"
    _write_files({to.parent / name: mesh for name, mesh in meshes.items()} | {to: text})


def write(model: Any, path: str | os.PathLike[str], tell: Callable[[str], None] = warn, *,
          list_pairs: bool = False) -> pathlib.Path:
    """Writes NAME.scene.json of an mjModel and its meshes, NAME.MESH.obj, beside it: all of them or none. list_pairs: as of
    scene_of."""
    to = pathlib.Path(path)
    _check_scene_file(to)
    scene, meshes = scene_of(model, to.name[: -len(_ENDING)], tell, list_pairs=list_pairs)
    _write(scene, meshes, to)
    return to


def from_mujoco(model: Any, context: Context | None = None, *, contact_model: str | None = None,
                list_pairs: bool = False) -> Scene:
    """A scene of a mujoco.MjModel: q, v and controls are MuJoCo's, number by number, but for actuators that are left out.

    What a scene has no word for is a warning each. contact_model: "cone" (MuJoCo's law), "lcp" or "spring".
    list_pairs: whether all pairs are listed, each with a column of friction and stiffness of its own; else bodies have these.
    """
    with tempfile.TemporaryDirectory() as folder:
        return Scene(write(model, pathlib.Path(folder) / "model.scene.json", list_pairs=list_pairs), context, contact_model=contact_model)


def state_of(data: Any) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """q (nq) and v (nv) of an mjData, for Scene.step."""
    return np.array(data.qpos), np.array(data.qvel)


def set_state(model: Any, data: Any, q: Any, v: Any) -> None:
    """Puts q and v of one world into an mjData, and has MuJoCo compute what follows from them."""
    data.qpos[:], data.qvel[:] = np.asarray(q, float), np.asarray(v, float)
    mj.mj_forward(model, data)


def _refuse(text: object, status: int = 2) -> int:
    print(f"abut: {text}", file=sys.stderr)
    return status


def _of_file(error: OSError) -> str:
    return f"{error.filename}: {error.strerror}" if error.filename else str(error)


def main() -> int:
    """python -m abut.mujoco MODEL.xml -o NAME.scene.json; the statuses are those of `abut import`."""
    parser = argparse.ArgumentParser(prog="python -m abut.mujoco", description="A scene of a model that MuJoCo reads.")
    parser.add_argument("model", help="MJCF or URDF")
    parser.add_argument("-o", "--output", required=True, help="NAME.scene.json")
    parser.add_argument("--list-pairs", action="store_true", help="list all pairs, rather than have the scene find them by itself")
    options = parser.parse_args()
    to = pathlib.Path(options.output)
    try:
        if to.exists() and os.path.exists(options.model) and os.path.samefile(to, options.model):
            return _refuse(f"{to}: is an input of this command too")
        _check_scene_file(to)
        try:
            model = mj.MjModel.from_xml_path(options.model)
        except (ValueError, OSError) as error:
            # MuJoCo's reasons have several lines.
            return _refuse(f"{options.model}: MuJoCo {mj.__version__}: {error}".replace("\n", " ").rstrip())
        try:
            scene, meshes = scene_of(model, to.name[: -len(_ENDING)], lambda text: print(f"abut: warning: {text}", file=sys.stderr),
                                     list_pairs=options.list_pairs)
        except ValueError as error:
            return _refuse(f"{options.model}: {error}")
        _write(scene, meshes, to)
    except ValueError as error:
        return _refuse(error)
    except OSError as error:
        return _refuse(_of_file(error), 1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
