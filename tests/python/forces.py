"""What the tests of contact forces share: a box on a floor, a ball on the box, and an arm whose tip lies on the box."""
import json

import abut
import numpy as np

SCENE = {
    "links": [
        {"name": "floor", "bodies": [{"plane": [2, 2]}]},
        {"name": "box", "position": [0, 0, 0.0998], "joint": {"type": "free"}, "density": 500, "bodies": [{"box": [0.2, 0.1, 0.1]}]},
        {"name": "ball", "position": [-0.1, 0, 0.2596], "joint": {"type": "free"}, "density": 500, "bodies": [{"sphere": 0.06}]},
        {"name": "arm", "position": [0.6, 0, 0.25], "joint": {"type": "hinge", "axis": [0, 1, 0]}, "density": 500,
         "bodies": [{"capsule": [0.03, 0.2], "position": [-0.25, 0, 0], "quaternion": [0.5 ** 0.5, 0, 0.5 ** 0.5, 0]}]},
        {"name": "tip", "parent": 3, "position": [-0.5, 0, 0], "bodies": [{"sphere": 0.05}], "density": 500}],
    "actuators": [{"kind": "motor", "joint": "arm"}],
    "automatic": {"friction": 0.5}}
MASSES = {"box": 500 * 8 * 0.2 * 0.1 * 0.1, "ball": 500 * 4 / 3 * np.pi * 0.06 ** 3}


def scene_of(context, folder, **words):
    path = folder / "forces.scene.json"
    path.write_text(json.dumps(SCENE))
    return abut.Scene(path, context, **words)


def states(scene, count=4, seed=0):
    """Worlds in which all lie on each other, some thrown a little: q, v, u."""
    rng = np.random.default_rng(seed)
    at = scene.step(scene.start(), np.zeros(scene.nv), steps=100)
    q = scene.add(np.tile(at.q, (count, 1)), (5e-4 * rng.normal(size=(count, scene.nv))).astype(scene.context.dtype))
    v = (at.v + 0.05 * rng.normal(size=(count, scene.nv))).astype(scene.context.dtype)
    return q, v, rng.normal(size=(count, scene.nu)).astype(scene.context.dtype)
