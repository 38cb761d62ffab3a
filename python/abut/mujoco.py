"""Scenes from MuJoCo's models: abut.mujoco, and as a program python -m abut.mujoco MODEL.xml -o NAME.scene.json.

    import abut, mujoco
    model = mujoco.MjModel.from_xml_path("robot.xml")
    scene = abut.from_mujoco(model)                  # an abut.Scene; q and v are MuJoCo's, number by number
    s = scene.step(model.qpos0, [0] * model.nv, steps=100)

The rules are those of `abut import` (docs/import.md). Features of a model that a scene cannot express are left out or changed,
and a warning names each. Any version of MuJoCo from PyPI works.
"""
from __future__ import annotations

import os
import pathlib
import re
import sys
import tempfile
from collections.abc import Callable
from typing import Any

import mujoco as mj  # type: ignore[import-untyped,import-not-found,unused-ignore]
import numpy as np

from abut import _import_mujoco
from abut._context import Context
from abut._drivers import warn
from abut._progress import Progress
from abut._worlds import Scene

__all__ = ["controls_of", "from_mujoco", "scene_of", "set_state", "state_of", "write"]


def scene_of(model: Any, stem: str = "model", tell: Callable[[str], None] = warn, *,
             list_pairs: bool = False, verbose: bool = False) -> tuple[dict[str, Any], dict[str, str]]:
    """Returns the contents of a scene file for an mjModel, and the texts of the meshes that it names, by their files' names.

    stem        beginning of the meshes' names
    tell        called with the features that are left out or changed, grouped by kind, or one by one with `verbose`; by default a
                Python warning
    list_pairs  whether all pairs are listed; otherwise the scene finds pairs automatically if their parameters combine as in
                MuJoCo
    """
    return _import_mujoco.scene_of(model, stem, tell, list_pairs, verbose)


def write(model: Any, path: str | os.PathLike[str], tell: Callable[[str], None] = warn, *,
          list_pairs: bool = False, verbose: bool = False) -> pathlib.Path:
    """Writes NAME.scene.json of an mjModel, with its meshes NAME.MESH.obj beside it. Either all files are written, or none of the
    new ones remains. list_pairs, verbose: as in scene_of."""
    _import_mujoco.write(model, path, tell, list_pairs, verbose)
    return pathlib.Path(path)


def from_mujoco(model: Any, context: Context | None = None, *, contact_model: str | None = None,
                list_pairs: bool = False, progress: Progress = None) -> Scene:
    """Makes a scene from a mujoco.MjModel. q, v and controls are MuJoCo's, number by number, except actuators that are left out.

    Warnings name the features that a scene cannot express, grouped by kind. contact_model: "cone" (MuJoCo's law), "lcp" or
    "spring". list_pairs: whether all pairs are listed, each with its own column of friction and stiffness; otherwise bodies
    have these columns. progress: as in abut.Scene, with the model's names.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.scene.json"
        maker = _import_mujoco.write(model, path, warn, list_pairs)

        def renamed(text: str) -> str:
            without = re.sub(r"(\.bodies\[\d+\]) of `[^`]*`", r"\1", text)  # the model's names include this
            return _import_mujoco.renamed(maker, path, without)

        scene = Scene.__new__(Scene)
        scene._load(path, context, contact_model, renamed, progress)
        return scene


def state_of(data: Any) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Returns q (nq) and v (nv) of an mjData, for Scene.step."""
    return np.array(data.qpos), np.array(data.qvel)


def controls_of(model: Any, data: Any) -> np.ndarray[Any, Any]:
    """Returns u (nu) of an mjData, for Scene.step: its controls, except those of actuators that are left out, then 6 of each
    mocap body, the displacement of its mocap pose from the pose in the model."""
    return np.array(_import_mujoco.controls_of(model, data))


def set_state(model: Any, data: Any, q: Any, v: Any) -> None:
    """Copies q and v of one world into an mjData, and lets MuJoCo compute the quantities that depend on them."""
    data.qpos[:], data.qvel[:] = np.asarray(q, float), np.asarray(v, float)
    mj.mj_forward(model, data)


if __name__ == "__main__":
    sys.exit(_import_mujoco.main())
