#!/usr/bin/env python3
"""Runs the commands of docs/descent.md around examples/separate.c: separate.py ROOT BUILD

They run as they stand there, in a folder that links to the tree. What comes out is judged without
the library: a body is the union of its superquadrics, and a point is inside one where its implicit
function is below 1.
"""
import array
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

STARTS = 64
HEADER = re.compile(rb"'descr': '<f([48])', 'fortran_order': False, 'shape': \((\d+), (\d+)\)")
results = []


def check(name, holds):
    results.append(bool(holds))
    if not holds:
        print(f"FAILED: {name}")


def read_npz(path):
    """Arrays of two dimensions, as lists of rows."""
    arrays = {}
    with zipfile.ZipFile(path) as file:
        for member in file.namelist():
            data = file.read(member)
            size, rows, columns = map(int, HEADER.search(data).groups())
            numbers = array.array({4: "f", 8: "d"}[size])
            numbers.frombytes(data[len(data) - size * rows * columns:])
            arrays[member[:-4]] = [numbers[k * columns:(k + 1) * columns] for k in range(rows)]
    return arrays


def turn(q, v):
    """Of a unit quaternion w, x, y, z."""
    w, x, y, z = q
    a, b, c = 2 * (y * v[2] - z * v[1]), 2 * (z * v[0] - x * v[2]), 2 * (x * v[1] - y * v[0])
    return (v[0] + w * a + y * c - z * b, v[1] + w * b + z * a - x * c, v[2] + w * c + x * b - y * a)


def unit(q):
    length = math.sqrt(sum(x * x for x in q))
    return [x / length for x in q]


def back(q):
    return [q[0], -q[1], -q[2], -q[3]]


def inside(shape, point):
    away = [x - c for x, c in zip(point, shape["position"])]
    if math.hypot(*away) > math.hypot(*shape["axes"]):
        return False
    x, y, z = (abs(u) / a for u, a in zip(turn(back(unit(shape["quaternion"])), away), shape["axes"]))
    e1, e2 = shape["exponents"]
    return (x ** (2 / e2) + y ** (2 / e2)) ** (e2 / e1) + z ** (2 / e1) < 1


class Body:
    def __init__(self, path):
        text = json.loads(path.read_text())
        self.shapes = text["superquadrics"]
        self.vertices = [tuple(map(float, line.split()[1:4]))
                         for line in (path.parent / text["mesh"]).read_text().splitlines()
                         if line.startswith("v ")]

    def swallows(self, own, other, pose):
        """How many of the other's vertices lie inside, by both poses x, y, z, qw, qx, qy, qz."""
        q1, q2 = unit(own[3:]), unit(pose[3:])
        count = 0
        for v in other.vertices:
            world = [a + b - c for a, b, c in zip(turn(q2, v), pose, own)]
            point = turn(back(q1), world)
            count += any(inside(shape, point) for shape in self.shapes)
        return count


def swallowed(body, poses, k):
    one, two = poses["pose1"][k], poses["pose2"][k]
    return body.swallows(one, body, two) + body.swallows(two, body, one)


def run_commands(root, build, folder):
    """The shell lines of the page that name the example's files."""
    for name, target in (("assets", root / "assets"), ("examples", root / "examples"),
                         ("build", build)):
        (folder / name).symlink_to(target)
    blocks = re.findall(r"```sh\n(.*?)```", (root / "docs/descent.md").read_text(), re.S)
    blocks = [block for block in blocks if "examples/separate" in block]
    check("docs/descent.md has the example's commands", len(blocks) == 1)
    done = subprocess.run(["sh", "-e"], input=blocks[0], text=True, cwd=folder,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    print(done.stdout)
    check(f"the page's commands run: {done.stderr}", done.returncode == 0)
    check("says that all are apart", f"{STARTS} of {STARTS} apart" in done.stdout)
    return done.returncode == 0


def check_poses(root, folder):
    body = Body(root / "assets/figure.body.json")
    given = read_npz(root / "examples/starts.npz")
    start, middle, end = (read_npz(folder / f"out-{name}.npz") for name in ("start", "middle", "end"))
    check("as many poses as starts", len(end["pose2"]) == len(given["pose2"]) == STARTS)
    for k in range(STARTS):
        check(f"start {k} is the one given", max(
            abs(x - y) for x, y in zip(start["pose2"][k], given["pose2"][k])) < 1e-6)
        check(f"body A of start {k} stays", end["pose1"][k] == middle["pose1"][k] == start["pose1"][k])
        check(f"bodies of start {k} penetrate", swallowed(body, start, k) > 20)
        check(f"bodies of middle {k} penetrate", swallowed(body, middle, k) > 0)
        check(f"bodies of end {k} are apart", swallowed(body, end, k) == 0)
        moved = math.dist(start["pose2"][k][:3], end["pose2"][k][:3])
        check(f"body B of start {k} went no farther than its size", moved < 1.4)
    check("pictures of start and end", all((folder / f"{name}.png").read_bytes()[:4] == b"\x89PNG"
                                           for name in ("start", "end")))


def check_refusals(build, folder):
    program = str(build / "tests/examples/separate")
    body = "assets/figure.body.json"
    for arguments, code in (([], 2), ([body, body, "absent.npz", "out"], 1),
                            ([body, body, "examples/starts.npz", "absent/out"], 1)):
        done = subprocess.run([program, *arguments], cwd=folder, capture_output=True, text=True)
        check(f"{arguments} gives {code} and a word", done.returncode == code and done.stderr.strip())


def main():
    root, build = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if run_commands(root, build, folder):
            check_poses(root, folder)
            check_refusals(build, folder)
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
