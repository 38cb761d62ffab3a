"""What the tests of poses and distances share: an arm beside a post."""
import json

import abut
import numpy as np

SCENE = {
    "links": [
        {"name": "post", "position": [0.5, 0.05, 0.3], "bodies": [{"capsule": [0.08, 0.3]}, {"sphere": 0.1, "position": [0, 0, 0.35]}]},
        {"name": "upper", "joint": {"type": "hinge", "axis": [0, 0, 1]}, "density": 500, "position": [0, 0, 0.3],
         "bodies": [{"box": [0.2, 0.03, 0.03], "position": [0.2, 0, 0]}]},
        {"name": "lower", "parent": 1, "position": [0.4, 0, 0], "joint": {"type": "hinge", "axis": [0, 0, 1]}, "density": 500,
         "bodies": [{"capsule": [0.04, 0.15], "position": [0.2, 0, 0], "quaternion": [0.5 ** 0.5, 0, 0.5 ** 0.5, 0]}]},
        {"name": "ball", "position": [-0.5, 0, 0.3], "joint": {"type": "free"}, "density": 500, "bodies": [{"sphere": 0.1}]}],
    "pairs": [{"a": 2, "b": 0}, {"a": 2, "b": [0, 1]}, {"a": 1, "b": 0}, {"a": 3, "b": [0, 1]}, {"a": 3, "b": 1}]}


def scene_of(context, folder):
    path = folder / "arm.scene.json"
    path.write_text(json.dumps(SCENE))
    return abut.Scene(path, context)


def positions(scene, count=6, size=0.5, seed=0):
    """Worlds around the scene's start."""
    steps = size * np.random.default_rng(seed).normal(size=(count, scene.nv))
    return scene.add(np.tile(scene.start(), (count, 1)), steps.astype(scene.context.dtype))
