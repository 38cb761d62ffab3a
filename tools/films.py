#!/usr/bin/env python3
"""Films of one body that falls onto another, with and without edge-edge contacts:

tools/films.py OUT [--bodies FOLDER] [--abut PATH] [--film NAME]... [--sheets] [--seconds S] [--width PIXELS]

Each shows four views of two worlds, on the left with edge-edge contacts between the two bodies, on the right without.
It writes OUT/NAME.png, a sheet of 12 moments, and OUT/NAME.mp4 where ffmpeg is installed; and what they are drawn from,
OUT/NAME-edges.scene.json and OUT/NAME-vertices.scene.json with their states in .npz files.

The bodies are this project's own (assets/) or, where FOLDER holds them, those of the method's paper: armadillo on
armadillo, airplane on drill, drill on screwdriver. They are read where they are. Needs Python's standard library alone.
"""
import argparse
import json
import math
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
UPRIGHT, AS_IS = [math.sqrt(0.5), math.sqrt(0.5), 0, 0], [1, 0, 0, 0]
VIEWS = "20,15,110,15,200,15,-60,60"
EDGE_EDGE = {"edges": True, "vertices": False}
TIMESTEP, RECORD = 0.002, 5

# The body on the floor and the one that falls onto it, with their orientations; and the offset of the second along x and y,
# relative to the first one's size.
OWN = {
    "box-on-box": (("box", AS_IS), ("box", [0.653, 0.271, 0.271, 0.653]), (0, 0)),
    "figure-on-part": (("part", AS_IS), ("figure", [0.6, 0.2, 0.8, 0]), (0, 0.05)),
    "part-on-ring": (("ring", AS_IS), ("part", [0.9, 0.2, 0.38, 0]), (0.1, 0.05)),
}
PAPER = {
    "armadillo-on-armadillo": (("armadillo", UPRIGHT), ("armadillo", [0.3, 0.3, 0.6, 0.67]), (0.05, 0)),
    "airplane-on-drill": (("drill", AS_IS), ("airplane", [0.9, 0.1, 0.3, 0.3]), (0, 0)),
    "drill-on-screwdriver": (("screwdriver", AS_IS), ("drill", [0.6, 0.7, 0.3, 0.2]), (0, 0)),
}


def turned(q, v):
    """Returns a vector rotated by a quaternion w, x, y, z of any length."""
    w, x, y, z = (c / math.hypot(*q) for c in q)
    a, b, c = 2 * (y * v[2] - z * v[1]), 2 * (z * v[0] - x * v[2]), 2 * (x * v[1] - y * v[0])
    return (v[0] + w * a + y * c - z * b, v[1] + w * b + z * a - x * c, v[2] + w * c + x * b - y * a)


def corners(folder, name, orientation):
    """Returns the lowest and the highest corner of a rotated body."""
    body = json.loads((folder / f"{name}.body.json").read_text())
    lines = (folder / body["mesh"]).read_text().splitlines()
    points = [turned(orientation, [float(x) for x in line.split()[1:4]]) for line in lines if line.startswith("v ")]
    return [min(c) for c in zip(*points)], [max(c) for c in zip(*points)]


def command(abut, *words):
    """Returns a command's standard error; ends the program if the command fails."""
    done = subprocess.run([abut, *map(str, words)], text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if done.returncode:
        sys.exit(done.stderr.rstrip())
    return done.stderr


def smoothing_of(abut, a, b, edge_edge):
    """Returns the smoothing that abut fits to the pair, with the settings that scenes add."""
    text = command(f"{abut}-dev", "bench", a, b, "--batch", 1, "--show-smoothing", "-q", "--what", "forward")
    fitted = json.loads(text[text.index("{"):text.rindex("}") + 1])
    no_cones = {} if edge_edge else {name: 0 for name in fitted if name.startswith("cone_")}  # these need edges
    return {**fitted, "floor": 1e-3, "edge_edge": edge_edge, **no_cones}


def scene_of(abut, folder, film, edge_edge):
    """Returns a scene with both bodies free, the first just above the floor, the second above it by a quarter of the first one's size."""
    (low, low_turn), (high, high_turn), aside = film
    files = [str(folder / f"{name}.body.json") for name in (low, high)]
    least, most = corners(folder, low, low_turn)
    under, over = corners(folder, high, high_turn)
    size = math.dist(least, most)
    floor_gap, gap = 0.02 * size, 0.25 * size
    top = floor_gap + most[2] - least[2]
    middles = [[(a + b) / 2 for a, b in zip(*box)] for box in ((least, most), (under, over))]
    places = [[-middles[0][0], -middles[0][1], floor_gap - least[2]],
              [aside[0] * size - middles[1][0], aside[1] * size - middles[1][1], top + gap - under[2]]]
    links = [{"name": name, "position": place, "quaternion": turn, "joint": {"type": "free"}, "density": 1000,
              "bodies": [{"file": file}]}
             for name, place, turn, file in zip(("low", "high"), places, (low_turn, high_turn), files)]
    return {"timestep": TIMESTEP,
            "links": [{"name": "floor", "bodies": [{"plane": [4 * size, 4 * size]}]}, *links],
            "pairs": [{"a": "low", "b": "floor"}, {"a": "high", "b": "floor"},
                      {"a": "high", "b": "low", "smoothing": smoothing_of(abut, files[1], files[0], edge_edge)}]}


def make(abut, folder, name, film, args):
    out = args.out.resolve()
    runs = []
    for kind, edge_edge in EDGE_EDGE.items():
        scene = out / f"{name}-{kind}.scene.json"
        scene.write_text(json.dumps(scene_of(abut, folder, film, edge_edge), indent=1) + "\n")
        runs.append(out / f"{name}-{kind}.npz")
        told = command(abut, "simulate", scene, "--steps", round(args.seconds / TIMESTEP), "--record", RECORD,
                       "-o", runs[-1], "-q")
        sys.stderr.write(told)  # worlds that stopped
    endings = [".png"] + [".mp4"] * (not args.sheets and shutil.which("ffmpeg") is not None)
    for ending in endings:
        command(abut, "film", scene, *runs, "--view", VIEWS, "--width", args.width, "--height", args.width * 3 // 4,
                "-o", out / (name + ending), "-q")
        print(args.out / (name + ending), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--bodies", type=pathlib.Path, metavar="FOLDER", help="where the paper's bodies are")
    parser.add_argument("--abut", default=ROOT / "build/src/cli/abut", metavar="PATH", help="the command, with abut-dev beside it")
    parser.add_argument("--film", action="append", metavar="NAME", help="this one alone (repeatable)")
    parser.add_argument("--sheets", action="store_true", help="no films")
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--width", type=int, default=240, help="of a view in pixels")
    args = parser.parse_args()
    films = PAPER if args.bodies else OWN
    for name in args.film or films:
        if name not in films:
            parser.error(f"there is no film {name}; there are {', '.join(films)}")
    args.out.mkdir(parents=True, exist_ok=True)
    folder = (args.bodies or ROOT / "assets").resolve()
    for name in args.film or films:
        make(str(args.abut), folder, name, films[name], args)


if __name__ == "__main__":
    main()
