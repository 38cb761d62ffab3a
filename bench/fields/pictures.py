"""Pictures of bare meshes for docs/bodies.md: python pictures.py BUILD DATA FOLDER [NAME]

A part of a CAD program, a scan and a thin sheet, each with another body 1 % in it, by `abut render`:
bare-cad.png, bare-scan.png and bare-sheet.png in FOLDER. Needs the environment of run.py.
"""
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from PIL import Image

import oracle
import poses
import shapes

WIDTH, HEIGHT = 720, 480
MOST = 300_000  # bytes of a picture
DEPTH = -0.01
# name: two bodies, of --data where they have an ending; which of the random poses; the camera
PICTURES = {"bare-cad": ("featuretype.STL", "gear", 1, 40, 25),
            "bare-scan": ("ycb_power_drill.obj", "ycb_a_toy_airplane.obj", 2, 120, 15),
            "bare-sheet": ("sheet", "hand link", 3, 30, -20)}


def draw(build, data, out, name, folder):
    *bodies, seed, azimuth, elevation = PICTURES[name]
    own = shapes.write_all(folder, large=False)
    paths = [data / "meshes" / body if "." in body else own[body][1] for body in bodies]
    truths = [None if "." in body else own[body][0].truth for body in bodies]
    oracles = [oracle.Oracle(*(oracle.welded(t.vertices, t.faces) if t else oracle.read(p)))
               for t, p in zip(truths, paths)]
    paths, oracles = poses.fitting(paths, oracles, folder)
    q, _, offset = poses.near(poses.Meshes(*oracles), np.random.default_rng(seed), DEPTH)
    given = pathlib.Path(folder) / "poses.npz"
    np.savez(given, pose1=[[0, 0, 0, 1.0, 0, 0, 0]], pose2=[[*offset, *q]])
    picture = out / f"{name}.png"
    subprocess.run([str(build / "src/cli/abut"), "render", *map(str, paths), "--poses", str(given),
                    "--width", str(WIDTH), "--height", str(HEIGHT), "--azimuth", str(azimuth),
                    "--elevation", str(elevation), "-q", "-o", str(picture)],
                   check=True)
    shrink(picture)
    print(f"{picture}: {picture.stat().st_size:,} bytes", flush=True)


def shrink(path):
    """As few colours as it takes to stay below MOST."""
    whole = Image.open(path).convert("RGB")
    for colours in (256, 128, 64):
        if path.stat().st_size <= MOST:
            return
        whole.quantize(colours).save(path, optimize=True)


if __name__ == "__main__":
    _build, _data, _out = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
    with tempfile.TemporaryDirectory(prefix="abut-fields-") as _folder:
        for _name in sys.argv[4:] or PICTURES:
            draw(_build, _data, _out, _name, _folder)
