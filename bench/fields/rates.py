"""Poses a second of raw meshes: python rates.py BUILD SHARED_DATA, printed as JSON.

armadillo.obj against spot.obj around touching, batch 1024, float32, p, d, n and activity of all
contacts, end to end, by turns:
  file     bodies as abut loads them
  quadrics 18 superquadrics each, under the very vertices and edges of those contact meshes
  cloud    the point clouds that cloud_from_mesh makes of the same raw meshes; a smaller batch, since
           it takes long
"""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

import library
import oracle

ROUNDS = 7
SHORT = 4.0  # seconds that a batch may take
PAIR = ("armadillo.obj", "spot.obj")


def poses_around_touch(first, second, count, seed=9):
    """Like those of `abut-dev bench`: outlines up to 5 % of the smaller's diagonal apart or across."""
    rng = np.random.default_rng(seed)
    vertices = [body.mesh()[0] for body in (first, second)]
    size = min(first.info.diagonal, second.info.diagonal)
    out = np.zeros((2, count, 7))
    for i in range(count):
        u = rng.normal(size=3)
        u /= np.linalg.norm(u)
        reach = 0.0
        for k, points in enumerate(vertices):
            q = rng.normal(size=4)
            q /= np.linalg.norm(q)
            w, v = q[0], -q[1:]  # u seen from the body
            seen = u + 2 * np.cross(v, np.cross(v, u) + w * u)
            reach += (points @ seen).max() if k == 0 else -(points @ seen).min()
            out[k, i, 3:] = q
        out[1, i, :3] = (reach + size * rng.uniform(-0.05, 0.05)) * u
    return out


def quadrics(path):
    """The superquadrics of a body file, as abut.body takes them."""
    given = json.loads(pathlib.Path(path).read_text())["superquadrics"]
    names = {"axes": "axes", "exponents": "exponents", "position": "position", "rotation": "quaternion"}
    return {**{name: np.array([q[key] for q in given]) for name, key in names.items()},
            "operation": [q.get("operation", "add") for q in given]}


def under_quadrics(context, body, path, faces):
    """A body of the primitives in `path`, its contact mesh `body`'s, brought to their size."""
    primitives = quadrics(path)
    vertices, edges = body.mesh()
    reference = primitives["position"]
    lower, upper = vertices.min(0), vertices.max(0)
    scale = np.ptp(reference, axis=0).max() / (upper - lower).max()
    vertices = (vertices - (lower + upper) / 2) * scale + (reference.min(0) + reference.max(0)) / 2
    made = context.create(vertices, np.zeros((0, 3)), edges, primitives)
    if made.info.edges != len(edges):  # a library that has no edges but those of faces
        made.destroy()
        made = context.create(vertices, faces, None, primitives)
    if made.info.edges != len(edges):
        raise RuntimeError(f"{made.info.edges} edges instead of {len(edges)}")
    return made


def timed(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def counts(bodies):
    return [{"kind": b.kind(), "vertices": b.info.vertices, "edges": b.info.edges,
             "primitives": b.info.primitives, "points": b.info.points, "blocks": b.info.blocks,
             "bytes": b.bytes} for b in bodies]


def raw(path):
    """Vertices and triangles in the file's order, for an .obj."""
    import trimesh
    mesh = trimesh.load(path, force="mesh", process=False, maintain_order=True)
    return mesh.vertices, mesh.faces


def measure(build, data, batch=1024, rounds=ROUNDS):
    data = pathlib.Path(data)
    paths = [data / "meshes" / name for name in PAIR]
    context = library.Library(build).context()
    files = [context.load(path) for path in paths]
    poses = poses_around_touch(*files, batch)
    sets = {"file": files, "cloud": [context.cloud(*oracle.read(path)) for path in paths]}
    armadillo = data / "bodies" / "armadillo.body.json"
    sets["quadrics"] = [under_quadrics(context, body, armadillo, faces_of(path, body))
                        for body, path in zip(files, paths)]
    calls, out = {}, {}
    for name, bodies in sets.items():
        pair = library.Pair(*bodies)
        one = pair.everything(*(p[:2] for p in poses))
        one()
        count = int(min(batch, max(2, SHORT / (timed(one) / 2))))
        calls[name] = pair.everything(*(p[:count] for p in poses))
        out[name] = {"batch": count, "contacts": pair.layout.contacts, "bodies": counts(bodies)}
        calls[name]()
    seconds = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            seconds[name].append(timed(call))
    for name, times in seconds.items():
        out[name]["poses_per_s"] = spread([out[name]["batch"] / t for t in times])
    rates = {name: [out[name]["batch"] / t for t in times] for name, times in seconds.items()}
    out["file over cloud"] = spread([a / b for a, b in zip(rates["file"], rates["cloud"])])
    out["file over quadrics"] = spread([a / b for a, b in zip(rates["file"], rates["quadrics"])])
    context.close()
    out["abut-dev bench"] = command(build, paths, out["file"]["batch"])
    return out


def faces_of(path, body):
    """The file's own faces, where the contact mesh is the file's."""
    vertices, faces = raw(path)
    return faces if len(vertices) == body.info.vertices else np.zeros((0, 3))


def command(build, paths, batch):
    """The same pair by the command, with its own poses around touching."""
    with tempfile.TemporaryDirectory(prefix="abut-fields-") as folder:
        text = subprocess.run([str(pathlib.Path(build) / "src/cli/abut-dev"), "bench", *map(str, paths),
                               "--batch", str(batch), "--device", "pocl", "--what", "forward,list",
                               "--json", "--quiet"], capture_output=True, text=True, check=True,
                              env={**os.environ, "ABUT_CACHE_DIR": folder}).stdout
    return {row["what"]: {k: row[k] for k in ("batch", "contacts", "poses_per_s")}
            for row in json.loads(text)}


def spread(numbers):
    return {"median": round(statistics.median(numbers), 4), "least": round(min(numbers), 4),
            "most": round(max(numbers), 4)}


if __name__ == "__main__":
    print(json.dumps(measure(*sys.argv[1:3]), indent=1))
