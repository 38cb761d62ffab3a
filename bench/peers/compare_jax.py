#!/usr/bin/env python3
"""abut against the JAX transcription of the same formulas, side by side in one run.

  python bench/peers/compare_jax.py CASE [--abut build/src/cli/abut] [--batch 1024] [--device pocl]
                                    [--variant full,vertices-only,one-sided] [--out bench/results]
                                    [--what forward,mean-gradient,vjp,jvp]

CASE is a folder with a.body.json, b.body.json, smoothing.json and poses.npz (tests/golden/figure-softsort,
say); abut-dev is beside abut. Needs jax and numpy (PyPI) in the environment that runs it. Both compute float32, all four outputs,
the same poses (those of the case, repeated), from host memory to host memory. The two take turns, so that
a machine whose speed drifts does not favour one. manifold_reference.py beside this file is the
transcription: jit and vmap of the specification's formulas; its derivatives are jax.grad, jax.vjp and
jax.jvp of these. vjp has cotangents of all four outputs, jvp one tangent of both poses.
"""
import argparse
import json
import pathlib
import platform
import statistics
import subprocess
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from manifold_reference import Smoothing, level_nodes, manifold, natural_coefficients  # noqa: E402

OPERATION = {"add": 1.0, "subtract": -1.0}


def rotation(wxyz):
    w, x, y, z = np.asarray(wxyz, float) / np.linalg.norm(wxyz)
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])


def read_obj(path):
    vertices, faces = [], []
    for line in path.read_text().splitlines():
        words = line.split()
        if words and words[0] == "v":
            vertices.append([float(w) for w in words[1:4]])
        elif words and words[0] == "f":
            faces.append([int(w.split("/")[0]) - 1 for w in words[1:]])
    pairs = {tuple(sorted((f[i], f[(i + 1) % len(f)]))) for f in faces for i in range(len(f))}
    return np.array(vertices), np.array(sorted(p for p in pairs if p[0] != p[1]))


def load_grid(path, real):
    with np.load(path) as archive:
        file = dict(archive)
    levels = [level_nodes(file["coefficients"].shape, i, file[f"blocks_{i}"], file[f"corrections_{i}"])
              for i in range(1, 9) if f"blocks_{i}" in file]
    return {**{key: real(file[key]) for key in ("coefficients", "origin", "spacing")},
            "levels": [real(nodes) for nodes in levels]}


def load_shape(path, kind=np.float32):
    body = json.loads(path.read_text())
    vertices, edges = read_obj(path.parent / body["mesh"])
    real = lambda x: jnp.asarray(np.asarray(x, kind))
    shape = {"V": real(vertices), "E": jnp.asarray(edges)}
    sign = lambda p: OPERATION[p.get("operation", "add")]
    quadrics = body.get("superquadrics", [])
    if quadrics:
        shape["sq"] = {"a": real([q["axes"] for q in quadrics]),
                       "eps": real([q["exponents"] for q in quadrics]),
                       "t": real([q["position"] for q in quadrics]),
                       "R": real([rotation(q["quaternion"]) for q in quadrics]),
                       "sign": real([sign(q) for q in quadrics])}
    for key, name, parts in (("polyhedra", "planes", ("n", "p")), ("pointclouds", "points", ("p", "n"))):
        shape[{"polyhedra": "cp", "pointclouds": "opc"}[key]] = [
            {parts[0]: real(np.array(p[name])[:, :3]), parts[1]: real(np.array(p[name])[:, 3:6]),
             "sign": sign(p), **({"width": real(np.array(p[name])[:, 6])} if name == "points" else {})}
            for p in body.get(key, [])]
    shape["grid"] = [{**load_grid(path.parent / p["file"], real), "sign": sign(p)} for p in body.get("grids", [])]
    shape["height"] = [{"coefficients": real(natural_coefficients(p.get("scale", 1.) * np.asarray(p["heights"], float))),
                        "size": real(p["size"]), "base": p["base"], "sign": sign(p)} for p in body.get("height_fields", [])]
    shape["cores"] = [{"kind": "disc" if "disc" in p else "box", "half": real(p.get("disc") or p["box"]), "radius": p["radius"],
                       "R": real(rotation(p["quaternion"])), "t": real(p["position"]), "sign": sign(p)}
                      for p in body.get("cores", [])]
    shape["subtract"] = any(sign(p) < 0 for key in ("superquadrics", "polyhedra", "pointclouds", "grids", "height_fields", "cores")
                            for p in body.get(key, []))
    return shape


OUTPUTS = ("p", "d", "n", "activity")


def derivative(f, what, arguments):
    """The function to time and its arguments: of one pose pair, before vmap."""
    if what == "forward":
        return f, arguments
    if what == "mean-gradient":
        return jax.grad(lambda x, y: jnp.mean(f(x, y)["d"]), argnums=(0, 1)), arguments
    random = np.random.default_rng(1)
    if what == "jvp":
        along = [random.normal(size=a.shape).astype(np.float32) for a in arguments]
        return lambda x, y, u, v: jax.jvp(f, (x, y), (u, v))[1], arguments + along
    shapes = jax.eval_shape(jax.vmap(f), *arguments)
    bars = {k: random.normal(size=shapes[k].shape).astype(np.float32) for k in OUTPUTS}
    return lambda x, y, bar: jax.vjp(f, x, y)[1](bar), arguments + [bars]


def jax_call(case, variant, what, poses):
    smoothing = json.loads((case / "smoothing.json").read_text())
    edges, vertices = smoothing.pop("edges"), smoothing.pop("vertices")
    smoothing["edge_edge"] = smoothing["edge_edge"] and variant == "full"
    smoothing["two_sided"] = smoothing["two_sided"] and variant != "one-sided"
    sm = Smoothing(**smoothing)
    a, b = load_shape(case / "a.body.json"), load_shape(case / "b.body.json")

    def outputs(x, y):
        all_of_them = manifold(x, y, a, b, sm, *edges, *vertices)
        return {k: all_of_them[k] for k in OUTPUTS}
    g, arguments = derivative(outputs, what, list(poses))
    f = jax.jit(jax.vmap(g))

    def run():
        start = time.perf_counter()
        out = jax.tree_util.tree_map(np.asarray, f(*arguments))
        return time.perf_counter() - start, out
    run()
    return run


def abut_seconds(options, case, variant, what, batch):
    command = [f"{options.abut}-dev", "bench", str(case / "a.body.json"), str(case / "b.body.json"),
               "--smoothing", str(case / "smoothing.json"), "--poses", str(case / "poses.npz"),
               "--batch", str(batch), "--variant", variant, "--what", what, "--device",
               options.device, "--json", "--quiet"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)[0]


def driver_of(options, name):
    listed = subprocess.run([options.abut, "devices", "--json"], check=True, capture_output=True,
                            text=True).stdout
    return next(f"{d['platform']} {d['driver']}" for d in json.loads(listed) if d["name"] == name)


def compare(options, case, variant, what, batch, loaded):
    poses = [np.resize(loaded[k], (batch, 6)).astype(np.float32) for k in ("s1", "s2")]
    run = jax_call(case, variant, what, poses)
    ours, theirs = [], []
    for _ in range(options.rounds):
        theirs.append(run()[0])
        row = abut_seconds(options, case, variant, what, batch)
        ours.append(row["seconds_median"])
    ratios = [t / o for t, o in zip(theirs, ours)]
    return {"case": case.name, "variant": variant, "what": what, "batch": batch, "contacts": row["contacts"],
            "device": row["device"], "driver": driver_of(options, row["device"]), "jax": jax.__version__,
            "abut_poses_per_s": batch / statistics.median(ours),
            "jax_poses_per_s": batch / statistics.median(theirs),
            "ratio_median": statistics.median(ratios), "ratio_min": min(ratios)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("case", type=pathlib.Path)
    parser.add_argument("--abut", default="build/src/cli/abut")
    parser.add_argument("--batch", type=int, default=1024)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--device", default="pocl")
    parser.add_argument("--variant", default="full")
    parser.add_argument("--what", default="forward")
    parser.add_argument("--out", type=pathlib.Path)
    options = parser.parse_args()
    loaded = np.load(options.case / "poses.npz")
    rows = [compare(options, options.case, v, w, options.batch, loaded)
            for v in options.variant.split(",") for w in options.what.split(",")]
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True)
    report = {"commit": commit.stdout.strip(), "machine": platform.processor() or platform.machine(),
              "date": time.strftime("%Y-%m-%d"), "rows": rows}
    print(json.dumps(report, indent=1))
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / f"jax-{options.case.name}.json").write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
