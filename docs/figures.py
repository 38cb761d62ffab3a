#!/usr/bin/env python3
"""Draws pictures of this folder; needs numpy and matplotlib, and the build does not run it.

  python3 docs/figures.py CURVES.csv [OUT.png]                       fig3.png
  python3 docs/figures.py separate BUILD [A B STARTS INDEX [OUT.png]]   separate.png
  python3 docs/figures.py decomposed BUILD DATA [MESH:COUNT ...]     decomposed.png, and the tables in decompose.md and bodies.md

docs/concepts/figures.py draws the plots of the concept pages.

fig3: the curves come from the test program that checks them:
  build/tests/core/test_core_figures f64 curves.csv
Columns: angle [rad], then x of the first edge's witness point [m] with hard choices, with only the
ridge and with everything smooth. A fixed edge of length 1 along x lies 0.2 below an edge that turns
about its middle, past parallel at angle 0.

separate: runs examples/separate.c of a build and draws one start, its middle and its end with
`abut render`, which frames each picture separately; here all three get the same camera.

decomposed: makes bodies of scans of DATA/meshes by `abut decompose`, writes their reported figures into
the tables between marks in decompose.md and bodies.md, and draws four of them by `abut inspect`; if only some rows are made, the other rows stay as they are. The picture
is drawn if its four are among the rows.
"""
import base64
import csv
import io
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import matplotlib
import numpy as np

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402  (the backend has to be chosen first)

HERE = pathlib.Path(__file__).parent
LOOK = {"hard": ("#d1495b", 1.6, "hard: jumps from end to end"),
        "ridge": ("#edae49", 1.6, "only ridge: continuous, with kinks"),
        "smooth": ("#30638e", 2.4, "smooth")}

FIGURE = HERE.parent / "assets/figure.body.json"
PAIR = [FIGURE, FIGURE, HERE.parent / "examples/starts.npz", 11]
STAGES = ("start", "middle", "end")
AZIMUTH, ELEVATION = 2.0, 12.0  # [degrees]
CANVAS, ZOOM, MARGIN = 860, 0.65, 16  # [pixels]; of the picture is filled; [pixels] of white around
HALF_FIELD = np.tan(np.radians(15.0))


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {name: [float(row[name]) for row in rows] for name in rows[0]}


def draw_curves(path, out=HERE / "fig3.png"):
    curves = read(path)
    figure, axes = pyplot.subplots(figsize=(7.2, 4.0), dpi=130)
    for name, (colour, width, label) in LOOK.items():
        axes.plot(curves["angle"], curves[name], color=colour, linewidth=width, label=label)
    axes.set_xlim(curves["angle"][0], curves["angle"][-1])
    axes.set_xlabel("angle between the edges [rad]")
    axes.set_ylabel("witness point on the fixed edge, x [m]")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    figure.tight_layout()
    figure.savefig(out)


# ---- separate ----------------------------------------------------------------------------------
def vertices_of(body):
    path = pathlib.Path(body)
    lines = (path.parent / json.loads(path.read_text())["mesh"]).read_text().splitlines()
    return np.array([line.split()[1:4] for line in lines if line.startswith("v ")], float)


def placed(vertices, pose):
    """Vertices in world coordinates, by position and quaternion w, x, y, z."""
    q = pose[3:] / np.linalg.norm(pose[3:])
    across = 2 * np.cross(q[1:], vertices)
    return vertices + q[0] * across + np.cross(q[1:], across) + pose[:3]


def seen(points):
    """Right, up and forward of the camera."""
    a, e = np.radians(AZIMUTH), np.radians(ELEVATION)
    right, up = [-np.sin(a), np.cos(a), 0], [-np.sin(e) * np.cos(a), -np.sin(e) * np.sin(a),
                                             np.cos(e)]
    return points @ np.array([right, up, np.cross(up, right)]).T


def framing(points):
    """Where the picture's middle is and how far off the eye, as src/view/render/camera.c frames them."""
    centre = (points.min(0) + points.max(0)) / 2
    for _ in range(6):
        q = points - centre
        distance = (np.abs(q[:, :2]) / (0.9 * HALF_FIELD) - q[:, 2:]).max()
        at = q[:, :2] * distance / (distance + q[:, 2:])
        centre[:2] += (at.min(0) + at.max(0)) / 2
    return centre, distance


def draw_stage(build, bodies, poses, index, picture, zoom):
    subprocess.run([f"{build}/src/cli/abut", "render", *bodies, "--poses", poses, "--index",
                    str(index), "--azimuth", str(AZIMUTH), "--elevation", str(ELEVATION), "--zoom",
                    str(zoom), "--width", str(CANVAS), "--height", str(CANVAS), "-q", "-o",
                    picture, "--threshold", "0.25"], check=True)
    image = pyplot.imread(picture)[..., :3]
    image[-130:, -260:] = 1  # the bar of activities, which would stand in between
    return image


def framings(a, b, folder, index):
    for stage in STAGES:
        poses = np.load(f"{folder}/out-{stage}.npz")
        yield framing(seen(np.concatenate(
            [placed(vertices_of(body), poses[name][index].astype(float))
             for body, name in ((a, "pose1"), (b, "pose2"))])))


def draw_separate(build, *pair):
    a, b, starts, index = pair[:4] or PAIR
    out = pair[4] if len(pair) > 4 else HERE / "separate.png"
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([f"{build}/tests/examples/separate", a, b, starts, f"{folder}/out"],
                       check=True)
        frames = list(framings(a, b, folder, int(index)))
        farthest = max(distance for _, distance in frames)
        middle = np.mean([centre for centre, _ in frames], axis=0)
        shown = []
        for stage, (centre, distance) in zip(STAGES, frames):
            zoom = ZOOM * distance / farthest
            image = draw_stage(build, (a, b), f"{folder}/out-{stage}.npz", index,
                               f"{folder}/{stage}.png", zoom)
            per_metre = CANVAS * zoom / (2 * HALF_FIELD * distance)
            x, y = np.rint((middle - centre)[:2] * per_metre).astype(int)
            shown.append(np.roll(image, (y, -x), (0, 1)))
    rows, columns = np.nonzero(np.min(shown, axis=(0, 3)) < 1)  # what any of them draws
    shown = [image[rows.min() - MARGIN:rows.max() + MARGIN,
                   columns.min() - MARGIN:columns.max() + MARGIN] for image in shown]
    pyplot.imsave(out, np.concatenate(shown, axis=1))


# ---- decomposed --------------------------------------------------------------------------------
# A name, the file, how many primitives, more options, and IoU and Chamfer [%] of as many by Marching-Primitives, where
# they are known: of published bodies by `abut inspect` with a hard union.
DECOMPOSED = [("armadillo", "armadillo.obj", 18, [], (0.883, 0.40)), ("armadillo", "armadillo.obj", 40, [], (0.917, 0.29)),
              ("toy airplane", "ycb_a_toy_airplane.obj", 32, [], (0.835, 0.46)),
              ("toy airplane", "ycb_a_toy_airplane.obj", 64, [], (0.889, 0.30)),
              ("drill", "ycb_power_drill.obj", 17, [], (0.938, 0.28)),
              ("screwdriver", "ycb_flat_screwdriver.obj", 5, [], (0.889, 0.34)),
              ("screwdriver", "ycb_flat_screwdriver.obj", 12, [], (0.920, 0.23)),
              ("spot", "spot.obj", 22, [], (0.957, 0.25)), ("bunny", "bunny.off", 16, [], None),
              ("three holes", "3holes.off", 24, [], None), ("a cylinder", "cylinder.stl", 1, [], None),
              ("a plate with holes", "plate_holes.STL", 24, ["--union", "0.004"], None)]
HEAD = ("| mesh, primitives | IoU | Chamfer % | Hausdorff % | largest part uncovered % | largest surplus % | surface beyond 1 % "
        "| depth ratio, median and 95 % | evaluations, 1e8 |\n|" + "---|" * 9 + "\n")
SHORT_HEAD = "| mesh, primitives | IoU | Chamfer % | Hausdorff % |\n|" + "---|" * 4 + "\n"
BEGIN, END = "<!-- by docs/figures.py decomposed -->\n", "<!-- end -->\n"
DRAWN = {("armadillo", 18): ("0", "10"), ("toy airplane", 32): ("40", "35"), ("drill", 17): ("20", "25"),
         ("screwdriver", 5): ("50", "35")}  # azimuth, elevation
CAPTION = 40  # [pixels]


def decompose(abut, path, count, options, body):
    """What the command reports."""
    run = subprocess.run([abut, "decompose", path, "--primitives", str(count), *options, "--json", "-o", body], check=True,
                         capture_output=True, text=True)
    return json.loads(run.stdout)


def put_row(page, head, row):
    """Puts a row in the place of the one that begins like it, or behind all."""
    before, rest = page.read_text(encoding="utf-8").split(BEGIN)
    table, after = rest.split(END)
    rows = [head] + table.splitlines(keepends=True)[2:]
    name = row.split("|")[1]
    places = [i for i, old in enumerate(rows) if old.split("|")[1] == name]
    rows[places[0] if places else len(rows):len(rows) if not places else places[0] + 1] = [row]
    page.write_text(before + BEGIN + "".join(rows) + END + after, encoding="utf-8")


def row_of(name, count, options, peer, r):
    def with_peer(text, i, digits):
        return text + (f" ({peer[i]:.{digits}f})" if peer else "")
    what = f"{name}, {count}" + (f", `{' '.join(options)}`" if options else "")
    return (f"| {what} | {with_peer(format(r['iou'], '.3f'), 0, 3)} | {with_peer(format(r['chamfer_percent'], '.3f'), 1, 2)} | "
            f"{r['hausdorff_percent']:.1f} | {100 * r['largest_uncovered']:.2f} | {100 * r['largest_surplus']:.2f} | "
            f"{100 * r['surface_beyond_1_percent']:.1f} % | {r['depth_ratio_median']:.2f}, {r['depth_ratio_95']:.2f} | "
            f"{r['evaluations'] / 1e8:.1f} |\n")


def pictures_of(abut, body, mesh, view, folder):
    """The mesh and its primitives, as `abut inspect` draws them on white."""
    page = folder / "page.html"
    subprocess.run([abut, "inspect", body, mesh, "--azimuth", view[0], "--elevation", view[1], "-q", "-o", page], check=True)
    light = re.findall(r'<img src="data:image/png;base64,([^"]+)"', page.read_text(encoding="utf-8"))
    return [pyplot.imread(io.BytesIO(base64.b64decode(text)))[..., :3] for text in light[:2]]


def draw_columns(columns):
    height, width = columns[0][1][0].shape[:2]
    whole = (len(columns) * width, 2 * height + CAPTION)
    figure = pyplot.figure(figsize=(whole[0] / 100, whole[1] / 100), dpi=60)
    for i, (caption, images) in enumerate(columns):
        for k, image in enumerate(images):
            axes = figure.add_axes((i / len(columns), (1 - k) * height / whole[1], 1 / len(columns), height / whole[1]))
            axes.imshow(image)
            axes.axis("off")
        figure.text((i + 0.5) / len(columns), 1 - 0.5 * CAPTION / whole[1], caption, ha="center", va="center", fontsize=16)
    figure.savefig(HERE / "decomposed.png")


def draw_decomposed(build, data, *wanted):
    abut, columns = f"{build}/src/cli/abut", []
    with tempfile.TemporaryDirectory() as folder:
        body = pathlib.Path(folder) / "made.body.json"
        for name, file, count, options, peer in DECOMPOSED:
            if wanted and f"{name}:{count}" not in wanted:
                continue
            mesh = f"{data}/meshes/{file}"
            row = row_of(name, count, options, peer, decompose(abut, mesh, count, options, body))
            put_row(HERE / "decompose.md", HEAD, row)
            if (name, count) in DRAWN:
                short = "|".join(re.sub(r" \([^)]*\)", "", row).split("|")[:5]) + "|\n"
                put_row(HERE / "bodies.md", SHORT_HEAD, short)
                columns.append((f"{name}, {count}", pictures_of(abut, body, mesh, DRAWN[name, count], pathlib.Path(folder))))
    if len(columns) == len(DRAWN):
        draw_columns(columns)


if __name__ == "__main__":
    if sys.argv[1:] in ([], ["separate"], ["decomposed"]):
        sys.exit(__doc__)
    if sys.argv[1] == "separate":
        draw_separate(*sys.argv[2:])
    elif sys.argv[1] == "decomposed":
        draw_decomposed(*sys.argv[2:])
    else:
        draw_curves(*sys.argv[1:])
