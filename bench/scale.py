#!/usr/bin/env python3
"""Whether the fitted smoothing follows the smaller, thinner body: small ones beside large, thin ones.

  python3 bench/scale.py BUILD [--parts slabs,walls,fits] [--device host] [--csv OUT.csv] [--check]

Needs numpy; the build does not run it. BUILD holds src/cli/abut. Bodies are made by this program.
  slabs  a ball of 20 mm above slabs of 2 x 2 m, 10 and 100 mm thick: the sum of activities
  walls  a ball of 100 mm at 0.1, 0.3 and 1 m/s against walls of 2 x 2 m, 6, 10 and 15 mm thick, by
         each contact law: how fast it still goes into the wall after 0.6 s [m/s]
  fits   a peg of 8 mm in a hole and a nut on a bolt, 0.2 mm apart all around: the largest activity
Analytic bodies are superquadrics and polyhedra, bare ones the same meshes by their fields.
--check fails where a line misses what docs/smoothing.md promises.
"""
import argparse
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

SUMS = {5: 0.3, 20: 1e-3, 50: 1e-6}  # at a distance of [mm], at most
FIT = 0.3                            # an activity where there is clearance, at most
CLEARANCE = 0.2e-3                   # [m]
LAWS = ("cone", "lcp", "spring")
SPEEDS = (0.1, 0.3, 1.0)             # [m/s]
WALLS = (0.006, 0.010, 0.015)        # [m]
RADIUS = 0.05                        # of the ball that is thrown [m]


# ---- bodies ----
def box_mesh(half):
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * half
    return corners, [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]


def ball_mesh(radius, rings=12):
    polar = np.pi * (np.arange(rings) + 0.5) / rings
    points = [[np.sin(p) * np.cos(a), np.sin(p) * np.sin(a), np.cos(p)]
              for p in polar for a in np.pi * np.arange(2 * rings) / rings]
    n = 2 * rings
    faces = [[r * n + i, (r + 1) * n + i, (r + 1) * n + (i + 1) % n, r * n + (i + 1) % n]
             for r in range(rings - 1) for i in range(n)]
    faces += [list(range(n)), list(range(rings * n - 1, (rings - 1) * n - 1, -1))]
    return radius * np.array(points), faces


def drilled_mesh(half, radius, sections):
    """A block with a bore along z: rings of the bore and of the outline, of as many corners."""
    angle = 2 * np.pi * (np.arange(sections) + 0.5) / sections
    around = np.stack([np.cos(angle), np.sin(angle)], 1)
    outer = around * half[0] / np.abs(around).max(1, keepdims=True)
    return ring_mesh(radius * around, outer, half[2])


def ring_mesh(inner, outer, height):
    n = len(inner)
    points = np.concatenate([np.c_[ring, np.full(n, z)] for z in (-height, height) for ring in (inner, outer)])
    faces = []
    for i in range(n):
        j = (i + 1) % n  # rings: 0 inner and n outer below, 2 n inner and 3 n outer above
        faces += [[i, n + i, n + j, j][::-1], [2 * n + i, 3 * n + i, 3 * n + j, 2 * n + j],
                  [n + i, n + j, 3 * n + j, 3 * n + i], [j, i, 2 * n + i, 2 * n + j]]
    return points, faces


def thread_mesh(radius, pitch, depth, turns, ring=None, sections=48, steps=8):
    """A rod with a thread, or with `ring`, its outer radius, a nut with the same thread inside."""
    per_turn, rows = sections, turns * steps
    points, faces = [], []

    def r_at(z, angle):
        phase = (z / pitch - angle / (2 * np.pi)) % 1.0
        return radius - depth * (1 - abs(2 * phase - 1))

    heights = np.linspace(0, turns * pitch, rows + 1) - turns * pitch / 2
    angle = 2 * np.pi * np.arange(per_turn) / per_turn
    for z in heights:
        points += [[r_at(z, a) * np.cos(a), r_at(z, a) * np.sin(a), z] for a in angle]
    sign = -1 if ring else 1
    for k in range(rows):
        for i in range(per_turn):
            j = (i + 1) % per_turn
            faces.append([k * per_turn + i, k * per_turn + j, (k + 1) * per_turn + j, (k + 1) * per_turn + i][::sign])
    if ring:
        base = len(points)
        for z in (heights[0], heights[-1]):
            points += [[ring * np.cos(a), ring * np.sin(a), z] for a in angle]
        for i in range(per_turn):
            j = (i + 1) % per_turn
            low, high = base, base + per_turn
            faces += [[low + i, low + j, high + j, high + i], [i, j, low + j, low + i],
                      [rows * per_turn + j, rows * per_turn + i, high + i, high + j]]
    else:
        faces += [list(range(per_turn))[::-1], list(range(rows * per_turn, (rows + 1) * per_turn))]
    return np.array(points), faces


def superquadric(axes, exponents, operation="add"):
    return {"axes": list(axes), "exponents": list(exponents), "position": [0, 0, 0],
            "quaternion": [1, 0, 0, 0], "operation": operation}


def prism(radius, height, sides, operation="add"):
    """A convex polyhedron around z, whose sides touch a circle."""
    planes = [[0, 0, s, 0, 0, s * height] for s in (1, -1)]
    for a in 2 * np.pi * np.arange(sides) / sides:
        planes.append([np.cos(a), np.sin(a), 0, radius * np.cos(a), radius * np.sin(a), 0])
    return {"planes": planes, "operation": operation}


def box_planes(half):
    return {"planes": [[s * (k == 0), s * (k == 1), s * (k == 2), *(s * half[k] * (np.arange(3) == k))]
                       for k in range(3) for s in (1, -1)]}


class Shop:
    """Writes bodies into a folder and runs the command on them."""

    def __init__(self, build, device, folder):
        self.command = str(pathlib.Path(build) / "src/cli/abut")
        self.options = ["-q", "--device", device]
        self.folder = pathlib.Path(folder)
        self.count = 0

    def body(self, mesh, **primitives):
        """A body file, or without primitives the bare mesh."""
        self.count += 1
        points, faces = mesh
        out = self.folder / f"{self.count}.obj"
        lines = ["v " + " ".join(repr(float(x)) for x in p) for p in points]
        out.write_text("\n".join(lines + ["f " + " ".join(str(i + 1) for i in f) for f in faces]) + "\n")
        if not primitives:
            return out
        file = self.folder / f"{self.count}.body.json"
        file.write_text(json.dumps({"mesh": out.name, **primitives}, default=float))
        return file

    def run(self, *arguments, expect=True):
        done = subprocess.run([self.command, *map(str, arguments), *self.options], text=True,
                              capture_output=True, check=False)
        if expect and done.returncode:
            raise RuntimeError(done.stderr)
        return done

    def contacts(self, pair, positions, turns=None):
        """Activities (N, C), and the smoothing."""
        count = len(positions)
        rest = np.tile([0, 0, 0, 1.0, 0, 0, 0], (count, 1))
        pose = rest.copy()
        pose[:, :3] = positions
        if turns is not None:
            pose[:, 3], pose[:, 6] = np.cos(turns / 2), np.sin(turns / 2)
        given, out = self.folder / "poses.npz", self.folder / "out.npz"
        np.savez(given, pose1=rest, pose2=pose)
        self.run("contacts", *pair, "--poses", given, "-o", out, "--precision", "f64")
        with np.load(out) as arrays:
            return arrays["activity"], json.loads(str(arrays["smoothing"]))


# ---- the parts ----
def slabs(shop):
    """Rows of part, case, figure, what it is at most."""
    rows = []
    ball = ball_mesh(0.01)
    for thick in (0.01, 0.1):
        half = np.array([1, 1, thick / 2])
        kinds = {"analytic": (shop.body(box_mesh(half), polyhedra=[box_planes(half)]),
                              shop.body(ball, superquadrics=[superquadric([0.01] * 3, (1, 1))])),
                 "bare": (shop.body(box_mesh(half)), shop.body(ball))}
        places = np.array([[0.013, 0.007, half[2] + 0.01 + 1e-3 * above] for above in SUMS])
        places = np.concatenate([places, places + [0.3, 0.2, 0], places + [0.97, 0.5, 0]])
        for kind, pair in kinds.items():
            activity, smoothing = shop.contacts(pair, places)
            sums = activity.sum(1).reshape(3, -1).max(0)
            for (above, most), found in zip(SUMS.items(), sums):
                rows.append(("slabs", f"{kind}, {1e3 * thick:g} mm thick, {above} mm above, penetration "
                             f"{1e3 * smoothing['penetration']:.2g} mm", found, most))
    return rows


def thrown(shop, thick, law):
    """How deep the foremost point gets behind the wall's face [m] and where it and the ball's speed are at the end."""
    scene = {"timestep": 0.001, "gravity": [0, 0, 0], "contact_model": law,
             "links": [{"bodies": [{"box": [1, 1, thick / 2]}]},
                       {"joint": {"type": "free"}, "density": 1000, "bodies": [{"sphere": RADIUS}]}],
             "pairs": [{"a": 0, "b": 1}]}
    file, states, out = (shop.folder / name for name in ("w.scene.json", "w.npz", "wo.npz"))
    file.write_text(json.dumps(scene))
    count = len(SPEEDS)
    q = np.tile([0.11, 0.07, thick / 2 + RADIUS + 0.01, 1.0, 0, 0, 0], (count, 1))
    v = np.zeros((count, 6))
    v[:, 2] = -np.array(SPEEDS)
    np.savez(states, q=q, v=v)
    shop.run("simulate", file, "--states", states, "--steps", 600, "--record", 2, "-o", out)
    with np.load(out) as arrays:
        off = arrays["q"].reshape(-1, count, 7)[:, :, 2] - thick / 2 - RADIUS
        return -off.min(0), off[-1], arrays["v"].reshape(-1, count, 6)[-1, :, 2]


def walls(shop):
    """The figure is how fast the ball still goes into the wall at the end; far behind it counts as fast."""
    rows = []
    for thick in WALLS:
        for law in LAWS:
            for speed, deep, off, last in zip(SPEEDS, *thrown(shop, thick, law)):
                into = max(-last, 0.0) if off > -RADIUS else np.inf
                rows.append(("walls", f"{law}, {1e3 * thick:g} mm, {speed:g} m/s, deepest {1e3 * deep:.1f} mm, "
                             f"at the end {1e3 * off:.1f} mm off", into, 1e-3))
    return rows


def fits(shop):
    rows = []
    radius, height, half = 0.004, 0.012, np.array([0.01, 0.01, 0.0065])
    wide = radius + CLEARANCE

    def meshes(sections, outside):
        """The block and the peg; corners lie on the circles, or sides touch them."""
        share = 1 / np.cos(np.pi / sections) if outside else 1
        # The chords of a round bore lie nearer to its middle than its corners do.
        bore = wide / np.cos(np.pi / sections)
        return drilled_mesh(half, bore, sections), rod_mesh(radius * share, height, sections)

    round_, flat = meshes(96, False), meshes(8, True)
    cut = superquadric([wide, wide, 0.03], (0.1, 1), "subtract")
    kinds = {
        "peg, bare": [shop.body(mesh) for mesh in round_],
        "peg, superquadrics": (
            shop.body(round_[0], polyhedra=[box_planes(half)], superquadrics=[cut]),
            shop.body(round_[1], superquadrics=[superquadric([radius, radius, height], (0.1, 1))])),
        "peg of eight sides": (
            shop.body(flat[0], polyhedra=[box_planes(half), prism(wide, 0.03, 8, "subtract")]),
            shop.body(flat[1], polyhedra=[prism(radius, height, 8)]))}
    pitch, depth = 0.002, 0.001
    # The same way apart across flanks of this slope.
    apart = CLEARANCE * np.hypot(1, 2 * depth / pitch)
    kinds["nut, bare"] = (shop.body(thread_mesh(0.006 + apart, pitch, depth, 4, ring=0.011)),
                          shop.body(thread_mesh(0.006, pitch, depth, 10)))
    for kind, pair in kinds.items():
        places = np.array([[0, 0, z] for z in ((0.0,) if kind.startswith("nut") else (0.0, 0.002, 0.004))])
        activity, smoothing = shop.contacts(pair, places)
        rows.append(("fits", f"{kind}, penetration {1e3 * smoothing['penetration']:.3f} mm",
                     activity.max(), FIT))
    return rows


def rod_mesh(radius, height, sections):
    angle = 2 * np.pi * (np.arange(sections) + 0.5) / sections
    ring = radius * np.stack([np.cos(angle), np.sin(angle)], 1)
    points = np.concatenate([np.c_[ring, np.full(sections, z)] for z in (-height, height)])
    faces = [[i, (i + 1) % sections, sections + (i + 1) % sections, sections + i] for i in range(sections)]
    return points, faces + [list(range(sections))[::-1], list(range(sections, 2 * sections))]


PARTS = {"slabs": slabs, "walls": walls, "fits": fits}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--device", default="host")
    parser.add_argument("--csv", type=pathlib.Path)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        shop = Shop(options.build, options.device, folder)
        for part in options.parts.split(","):
            for row in PARTS[part](shop):
                rows.append(row)
                good = row[2] <= row[3]
                print(f"{row[0]:6s} {row[1]:66s} {row[2]:10.3g} {'' if good else 'missed'}", flush=True)
    if options.csv:
        with open(options.csv, "w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["part", "case", "figure", "at_most"])
            writer.writerows([row[0], row[1], f"{row[2]:.3g}", f"{row[3]:.3g}"] for row in rows)
    missed = sum(row[2] > row[3] for row in rows)
    print(f"{missed} of {len(rows)} missed")
    return 1 if options.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
