#!/usr/bin/env python3
"""Starts for examples/separate.c: make_starts.py A.body.json B.body.json OUT.npz

64 poses: A at rest, B turned at random and its middle laid into A's, up to 0.15 of A's bounding
diagonal off. Needs numpy; the build does not run it. starts.npz is of two assets/figure.body.json.
"""
import json
import pathlib
import sys

import numpy as np

STARTS, SHIFT, SEED = 64, 0.15, 1


def box(body):
    path = pathlib.Path(body)
    lines = (path.parent / json.loads(path.read_text())["mesh"]).read_text().splitlines()
    vertices = np.array([line.split()[1:4] for line in lines if line.startswith("v ")], float)
    return vertices.min(0), vertices.max(0)


def turn(q, v):
    """q v q*, of unit quaternions w, x, y, z."""
    across = 2 * np.cross(q[:, 1:], v)
    return v + q[:, :1] * across + np.cross(q[:, 1:], across)


def main():
    (low, high), middle = box(sys.argv[1]), np.mean(box(sys.argv[2]), axis=0)
    random = np.random.default_rng(SEED)
    q, shift = random.normal(size=(STARTS, 4)), random.normal(size=(STARTS, 3))
    q /= np.linalg.norm(q, axis=1, keepdims=True)
    shift *= SHIFT * np.linalg.norm(high - low) * random.random((STARTS, 1)) ** (1 / 3) / \
        np.linalg.norm(shift, axis=1, keepdims=True)
    rest = np.tile([0.0, 0, 0, 1, 0, 0, 0], (STARTS, 1))
    np.savez(sys.argv[3], pose1=rest,
             pose2=np.hstack([(low + high) / 2 + shift - turn(q, np.tile(middle, (STARTS, 1))), q]))


if __name__ == "__main__":
    main()
