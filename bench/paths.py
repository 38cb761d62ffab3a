#!/usr/bin/env python3
"""How well gradients follow values along smooth paths, for several ways of smoothing.

  python3 bench/paths.py BUILD [--pairs figure-part,ring-box] [--poses 1500] [--device pocl]
                         [--csv OUT.csv] [--picture docs/paths.png] [--check]

Needs numpy, and matplotlib for a picture; the build does not run it. BUILD holds src/cli/abut. The
armadillo pair takes part where the environment's ABUT_SHARED names a folder with data/bodies.

Body 2 passes through body 1 on three straight lines, turning as it goes. Where the energy is above
a hundredth of a pass's largest, so that the bodies touch, and for each reduction:
  largest  the largest gradient over the median, the worst of the passes (quaternions and positions
           are weighed alike in bodies of any size)
  wrong    the percentage of steps in which the gradient's slope along the step and the change of
           the value to the next pose differ in sign
--check fails where the fitted smoothing misses a largest below 5 or a wrong below 4 % for the
energy and the activity of figure-part and ring-box.
"""
import argparse
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAIRS = {"figure-part": ("figure", "part"), "ring-box": ("ring", "box"),
         "armadillo-pair": ("armadillo", "armadillo"), "box-box": ("box", "box")}
REDUCTIONS = ("mean-distance", "activity", "energy", "soft-minimum")
PASSES = ((0.12, 0.4), (0.25, 0.4), (0.3, 0.5))  # beside the middle, and half the way [sizes]
LARGEST, WRONG = 5.0, 4.0
CHECKED = [(pair, reduction) for pair in ("figure-part", "ring-box")
           for reduction in ("activity", "energy")]


def body_file(name):
    own = ROOT / "assets" / f"{name}.body.json"
    shared = os.environ.get("ABUT_SHARED")
    if own.exists() or not shared:
        return own
    return pathlib.Path(shared) / "data/bodies" / f"{name}.body.json"


def box_of(body):
    """Least and largest corner of a body's mesh."""
    mesh = body.parent / json.loads(body.read_text())["mesh"]
    lines = mesh.read_text().splitlines()
    points = np.array([line.split()[1:4] for line in lines if line.startswith("v ")], float)
    return points.min(0), points.max(0)


# ---- a path ----
def turn(axis, angle):
    axis = np.array(axis) / np.linalg.norm(axis)
    return np.concatenate([np.cos(angle / 2)[:, None], np.sin(angle / 2)[:, None] * axis], 1)


def product(p, q):
    w = p[:, :1] * q[:, :1] - (p[:, 1:] * q[:, 1:]).sum(1, keepdims=True)
    v = p[:, :1] * q[:, 1:] + q[:, :1] * p[:, 1:] + np.cross(p[:, 1:], q[:, 1:])
    return np.concatenate([w, v], 1)


def rotated(q, v):
    v = np.broadcast_to(v, (len(q), 3))
    across = 2 * np.cross(q[:, 1:], v)
    return v + q[:, :1] * across + np.cross(q[:, 1:], across)


def path(pair, count, beside, reach):
    """Poses (count, 7) of body 2 on a line that passes body 1's middle, and the bodies' size."""
    (low1, high1), (low2, high2) = (box_of(body) for body in pair)
    size = max(np.linalg.norm(high1 - low1), np.linalg.norm(high2 - low2))
    t = np.linspace(-1, 1, count)
    along = np.array([0.8, 0.5, 0.33])
    along /= np.linalg.norm(along)
    side = np.cross(along, [0, 0, 1.0])
    side /= np.linalg.norm(side)
    q = product(turn([1, 0.3, 0.2], 0.4 + 1.2 * t), turn([-0.2, 0.4, 1], 0.3 + 0.72 * t))
    middle = (low1 + high1) / 2 + size * (reach * t[:, None] * along + beside * side)
    return np.concatenate([middle - rotated(q, (low2 + high2) / 2), q], 1), size


# ---- the program ----
class Program:
    """Runs abut on poses of body 2; body 1 rests at the origin."""

    def __init__(self, build, device, folder):
        self.command = [str(pathlib.Path(build) / "src/cli/abut"), "gradient"]
        self.options = ["--precision", "f64", "-q", "--device", device]
        self.folder = pathlib.Path(folder)

    def run(self, pair, poses, reduction, smoothing=None):
        """Values (N), gradients by body 2's pose (N, 7) and the smoothing."""
        rest = np.tile([0, 0, 0, 1.0, 0, 0, 0], (len(poses), 1))
        given = self.folder / "poses.npz"
        out = self.folder / "out.npz"
        np.savez(given, pose1=rest, pose2=poses)
        arguments = [*map(str, pair), "--poses", str(given), "--reduce", reduction, "-o", str(out)]
        if smoothing:
            file = self.folder / "smoothing.json"
            file.write_text(json.dumps(smoothing))
            arguments += ["--smoothing", str(file)]
        subprocess.run([*self.command, *arguments, *self.options], check=True)
        with np.load(out) as arrays:
            return arrays["value"], arrays["g2"], json.loads(str(arrays["smoothing"]))


def ways(fitted, size):
    """Smoothing sets by name, the last but one the fitted one."""
    pairs = dict(fitted, edge_contacts="pairs", cone_outer=0, edges=[18, 18])
    return {"softsort, sort 0.001 D": dict(pairs, select="softsort", sort=0.001 * size),
            "gate": pairs,
            "fitted": fitted,
            "vertices only": dict(fitted, edge_edge=False)}


def judge(poses, size, values, gradients, touching):
    """Largest over median gradient, wrong steps and steps."""
    force = np.linalg.norm(gradients[:, :3], axis=1)
    moment = np.linalg.norm(gradients[:, 3:], axis=1) / size
    steep = np.hypot(force, moment)[touching]
    slope = (gradients[:-1] * np.diff(poses, axis=0)).sum(1)
    both = touching[:-1] & touching[1:]
    wrong = (slope * np.diff(values) < 0) & both
    return steep.max() / np.median(steep), wrong.sum(), both.sum()


def measure(program, name, count):
    """Rows of pair, way, reduction, largest, wrong [%]."""
    pair = [body_file(body) for body in PAIRS[name]]
    found = {}
    for beside, reach in PASSES:
        poses, size = path(pair, count, beside, reach)
        fitted = program.run(pair, poses[:1], "energy")[2]
        for way, smoothing in ways(fitted, size).items():
            energy = program.run(pair, poses, "energy", smoothing)
            touching = energy[0] > 0.01 * energy[0].max()
            for reduction in REDUCTIONS:
                values, gradients, _ = (energy if reduction == "energy" else
                                        program.run(pair, poses, reduction, smoothing))
                found.setdefault((way, reduction), []).append(
                    judge(poses, size, values, gradients, touching))
    return [(name, way, reduction, max(f[0] for f in passes),
             100.0 * sum(f[1] for f in passes) / sum(f[2] for f in passes))
            for (way, reduction), passes in found.items()]


def show(rows):
    ways_of = list(dict.fromkeys(row[1] for row in rows))
    print(f"{rows[0][0]:34s}" + "".join(f"{r:>22s}" for r in REDUCTIONS))
    for way in ways_of:
        cells = {row[2]: f"{row[3]:.1f}, {row[4]:.1f} %" for row in rows if row[1] == way}
        print(f"  {way:32s}" + "".join(f"{cells[r]:>22s}" for r in REDUCTIONS), flush=True)


# ---- the picture ----
def draw(program, count, out):
    """Energy and its gradient on the first pass, as they were before and as they are fitted."""
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    figure, axes = pyplot.subplots(2, 2, figsize=(9.6, 5.6), dpi=120, sharex=True)
    for column, name in enumerate(("figure-part", "ring-box")):
        pair = [body_file(body) for body in PAIRS[name]]
        poses, size = path(pair, count, *PASSES[0])
        fitted = program.run(pair, poses[:1], "energy")[2]
        sets = ways(fitted, size)
        way = [("#d1495b", 0.9, "softsort", sets["softsort, sort 0.001 D"]),
               ("#30638e", 1.6, "fitted", fitted)]
        middle = np.linspace(-PASSES[0][1], PASSES[0][1], count)
        for colour, width, label, smoothing in way:
            values, gradients, _ = program.run(pair, poses, "energy", smoothing)
            steep = np.hypot(np.linalg.norm(gradients[:, :3], axis=1),
                             np.linalg.norm(gradients[:, 3:], axis=1) / size)
            axes[0, column].plot(middle, values, color=colour, linewidth=width, label=label)
            axes[1, column].semilogy(middle, steep, color=colour, linewidth=width)
        axes[1, column].set_ylim(bottom=1e-2 * steep.max())
        axes[0, column].set_title(name)
        axes[1, column].set_xlabel("way along the line [sizes]")
    axes[0, 0].set_ylabel("energy [m$^2$]")
    axes[1, 0].set_ylabel("length of its gradient [m]")
    axes[0, 0].legend(frameon=False)
    for axis in axes.flat:
        axis.grid(alpha=0.3)
        for side in ("top", "right"):
            axis.spines[side].set_visible(False)
    figure.tight_layout()
    figure.savefig(out)


def missed(rows):
    """What the fitted smoothing is asked for and does not keep."""
    return [row for row in rows if row[1].startswith("fitted") and (row[0], row[2]) in CHECKED
            and not (row[3] < LARGEST and row[4] < WRONG)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("--pairs", default=",".join(PAIRS))
    parser.add_argument("--poses", type=int, default=1500, help="poses of each pass")
    parser.add_argument("--device", default="pocl")
    parser.add_argument("--csv", type=pathlib.Path)
    parser.add_argument("--picture", type=pathlib.Path)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        program = Program(options.build, options.device, folder)
        for name in filter(None, options.pairs.split(",")):
            if not all(body_file(body).exists() for body in PAIRS[name]):
                print(f"{name}: not run, its bodies are in no ABUT_SHARED")
                continue
            rows += measure(program, name, options.poses)
            show([row for row in rows if row[0] == name])
        if options.picture:
            draw(program, options.poses, options.picture)
    if options.csv:
        with open(options.csv, "w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["pair", "smoothing", "reduction", "largest_over_median", "wrong_percent"])
            writer.writerows([*row[:3], f"{row[3]:.2f}", f"{row[4]:.2f}"] for row in rows)
    bad = missed(rows) if options.check else []
    for name, _, reduction, largest, wrong in bad:
        print(f"missed: {name}, {reduction}: largest {largest:.1f}, wrong {wrong:.1f} %")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
