#!/usr/bin/env python3
"""Writes nearly the same case with four times as many superquadrics: refine_primitives.py CASE OUT

Each one gives way to four along its longest axis, of half that axis's length and at -1/2, -1/6, 1/6
and 1/2 of it, as wide as the first is at their centres. Meshes, poses and smoothing stay the same.
"""
import json
import pathlib
import shutil
import sys

SPLITS = (-1 / 2, -1 / 6, 1 / 6, 1 / 2)


def turned(quaternion, v):
    w, x, y, z = (q / sum(q * q for q in quaternion) ** 0.5 for q in quaternion)
    across = (y * v[2] - z * v[1] + w * v[0], z * v[0] - x * v[2] + w * v[1],
              x * v[1] - y * v[0] + w * v[2])
    return [v[0] + 2 * (y * across[2] - z * across[1]), v[1] + 2 * (z * across[0] - x * across[2]),
            v[2] + 2 * (x * across[1] - y * across[0])]


def split(solid):
    axes = solid["axes"]
    longest = max(range(3), key=lambda k: axes[k])
    exponent = solid["exponents"][0 if longest == 2 else 1]
    for at in SPLITS:
        width = (1 - abs(at) ** (2 / exponent)) ** (exponent / 2)
        offset = turned(solid["quaternion"], [axes[longest] * at * (k == longest) for k in range(3)])
        yield {**solid, "axes": [a * (0.5 if k == longest else width) for k, a in enumerate(axes)],
               "position": [p + d for p, d in zip(solid["position"], offset)]}


def main():
    source, out = map(pathlib.Path, sys.argv[1:3])
    shutil.copytree(source, out)
    for body in out.glob("*.body.json"):
        content = json.loads(body.read_text())
        content["superquadrics"] = [part for solid in content["superquadrics"] for part in split(solid)]
        body.write_text(json.dumps(content, indent=1))


if __name__ == "__main__":
    main()
