#!/usr/bin/env python3
"""Runs tools/films.py small: films.py ROOT ABUT. A box falls with its lower edges across those of another: these hold it,
and without edge-edge contacts it passes through them."""
import array
import json
import pathlib
import subprocess
import sys
import tempfile
import zipfile

WIDTH, SECONDS, SIDE = 24, 0.6, 0.164  # SIDE: height of the mesh of assets/box
results = []


def check(name, holds):
    results.append(bool(holds))
    if not holds:
        print(f"FAILED: {name}")


def positions(path):
    """Of a world of two free links: where they are at the end."""
    with zipfile.ZipFile(path) as file:
        numbers = array.array("f")
        numbers.frombytes(file.read("q.npy")[-4 * 14:])
        status = file.read("status.npy")[-4:]
    return numbers, status


def films(root, abut, out, *words):
    return subprocess.run([sys.executable, root / "tools/films.py", out, "--abut", abut, "--sheets", *words],
                          capture_output=True, text=True, check=False)


def main():
    root, abut = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "new/films"
        done = films(root, abut, out, "--film", "box-on-box", "--seconds", str(SECONDS), "--width", str(WIDTH))
        check(f"it runs: {done.stderr}", done.returncode == 0)
        ends = {}
        for kind, edge_edge in {"edges": True, "vertices": False}.items():
            scene = json.loads((out / f"box-on-box-{kind}.scene.json").read_text())
            check(f"{kind}: of the pair that falls", scene["pairs"][2]["smoothing"]["edge_edge"] is edge_edge)
            ends[kind], status = positions(out / f"box-on-box-{kind}.npz")
            check(f"{kind}: no status", status == bytes(4))
            check(f"{kind}: the lower box rests on the floor", abs(ends[kind][2] - SIDE / 2) < 0.01)
        check("edges hold the box", ends["edges"][9] > 1.4 * SIDE)
        check("without them it passes", ends["vertices"][9] < 1.2 * SIDE)
        png = (out / "box-on-box.png").read_bytes()
        size = [int.from_bytes(png[k:k + 4], "big") for k in (16, 20)]
        # four pictures in a row, three rows; in each 2 x 2 views of both worlds, and a gap
        check(f"a sheet of {size}", size == [4 * (4 * WIDTH + 8), 3 * (2 * WIDTH * 3 // 4 + 8)])
        done = films(root, abut, out, "--film", "none")
        check("an unknown film is refused", done.returncode == 2 and "there is no film none" in done.stderr)
    failed = results.count(False)
    print(f"{len(results) - failed} passed, {failed} failed")
    sys.exit(failed > 0)


main()
