#!/usr/bin/env python3
"""Write the golden case of cores: python bench/peers/make_core_golden.py OUT_FOLDER

A box with rounded edges and a sphere, less a cylinder, against a cylinder with a capsule through it. Answers are the
reference's, in float64. Needs jax and numpy (PyPI).
"""
import json
import pathlib
import sys
from dataclasses import asdict

import jax
jax.config.update("jax_enable_x64", True)
import numpy as np  # noqa: E402

from compare_jax import load_shape  # noqa: E402
from make_grid_golden import KEPT, answers, prism  # noqa: E402
from make_height_golden import write_body  # noqa: E402
from manifold_reference import Smoothing  # noqa: E402


def core(lengths, radius, position, quaternion, operation="add"):
    kind = "disc" if len(lengths) == 2 else "box"
    return {kind: lengths, "radius": radius, "position": position, "quaternion": quaternion, "operation": operation}


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(44)
    outline = [(-.3, -.25), (-.3, .25), (.3, .25), (.3, -.25)]
    write_body(folder, "a", prism(outline, -.2, .2), {"cores": [
        core([.27, .17, .22], .03, [0, 0, 0], [1, 0, 0, 0]),
        core([0, 0, 0], .12, [.25, .1, .2], [.5, .5, .1, -.3]),
        core([.08, .3], .01, [-.05, .05, .05], [.8, .2, -.1, .3], "subtract")]})
    turn = 2 * np.pi * np.arange(8) / 8
    rim = [(.15 * np.cos(a), .15 * np.sin(a)) for a in -turn]
    write_body(folder, "b", prism(rim, -.1, .1), {"cores": [
        core([.13, .08], .02, [0, 0, 0], [np.sqrt(.5), np.sqrt(.5), 0, 0]),
        core([0, 0, .15], .06, [.02, 0, .03], [.9, .1, .3, 0])]})
    smoothing = Smoothing(length=.1, sort=.003, neighbour=.01, union=.01, select="gate", floor=1e-3)
    (folder / "smoothing.json").write_text(
        json.dumps({**asdict(smoothing), "edges": KEPT[0], "vertices": KEPT[1]}, indent=1) + "\n")
    s1 = rng.normal(size=(8, 6)) * np.array([.2] * 3 + [.5] * 3)
    s2 = s1 + rng.normal(size=(8, 6)) * np.array([.2] * 3 + [.8] * 3)
    s2[-1, :3] += [.7, 0, .4]
    bars, found = answers([load_shape(folder / f"{name}.body.json", float) for name in "ab"], smoothing, s1, s2, rng)
    assert all(np.isfinite(v).all() for v in found.values())
    np.savez_compressed(folder / "poses.npz", s1=s1, s2=s2)
    np.savez_compressed(folder / "cotangents.npz", **bars)
    np.savez_compressed(folder / "expected.npz", **found)
    print(f"{found['d'].shape[1]} contacts of {len(s1)} poses, active {(found['activity'] > .1).sum(1)}")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
