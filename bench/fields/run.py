#!/usr/bin/env python3
"""Judges the fields and contacts that abut makes of bare meshes, by oracles that share no code with it.

    python3 bench/fields/run.py --build build --environment VENV [--write]
    python3 bench/fields/run.py --only judge --meshes cylinder,gear --samples 2000
    python3 bench/fields/run.py --page | --check

Measures what --only names: `judge` (errors, signs, smoothness, times), `poses` (contacts against exact
distances), `rates` (poses a second), `torture` (bad meshes), each of which says of itself what it does.
--write keeps the results as bench/results/fields-*.json, and makes the tables of
docs/benchmarks/fields.md of them; --page does the latter alone, --check says whether it was done.
Meshes are our own shapes (shapes.py) and those of --data, by default data/ of ABUT_SHARED's folder.
The environment is made where there is none: pip installs numpy, scipy, trimesh, libigl, coal,
manifold3d and pillow. Before anything is measured the judge is tried on bodies whose answers are known.
"""
import argparse
import importlib.util
import json
import os
import pathlib
import platform
import subprocess
import sys
import tempfile
import time
import venv

import page

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
RESULTS = ROOT / "bench" / "results"
PACKAGES = ("numpy", "scipy", "trimesh", "libigl", "coal", "manifold3d", "pillow")
MODULES = ("numpy", "scipy", "trimesh", "igl", "coal", "manifold3d", "PIL")
PARTS = ("judge", "poses", "rates", "torture")
PAIRS = (("cylinder", "cylinder"), ("plate_holes", "bolt_m16"), ("featuretype", "nut_m16"),
         ("bolt_m16", "nut_m16"), ("spot", "bunny"), ("armadillo", "spot"), ("spot", "featuretype"),
         ("ycb_power_drill", "3holes"), ("hand link", "gear"), ("sheet", "ring"),
         ("sheet", "hand link"), ("slivers", "two boxes"), ("cavity", "gear"),
         ("holes", "flipped patch"))
CLOUD_SHARE = 10  # of the poses of point clouds, which take long, one in so many is done


def read_options():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    shared = os.environ.get("ABUT_SHARED")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--environment", type=pathlib.Path)
    parser.add_argument("--data", type=pathlib.Path,
                        default=pathlib.Path(shared, "data") if shared else None)
    parser.add_argument("--only", default=",".join(PARTS))
    parser.add_argument("--meshes", help="of judge and poses, only these, by name")
    parser.add_argument("--samples", type=int, default=20000, help="points of each kind (20000)")
    parser.add_argument("--poses", type=int, default=2000, help="of each pair (2000)")
    parser.add_argument("--no-clouds", action="store_true",
                        help="leave out the point clouds that files became before")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--page", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    options.only = options.only.split(",")
    if not set(options.only) <= set(PARTS):
        parser.error(f"--only takes any of {','.join(PARTS)}")
    options.build = options.build.resolve()
    if not (options.page or options.check or (options.build / "src/cli/abut").exists()):
        parser.error(f"{options.build} holds no build of abut: meson setup, ninja")
    return options


def environment(folder):
    """The Python of the environment in `folder`, which is made where there is none."""
    python = folder / "bin" / "python"
    if not python.exists():
        print(f"installing {' '.join(PACKAGES)}", flush=True)
        venv.create(folder, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                        *PACKAGES], check=True)
    return python


def enter(folder):
    """Goes on in the environment, or fails where its packages are not here."""
    if folder:
        python = environment(folder.absolute())
        if pathlib.Path(sys.prefix) != folder.absolute():
            os.execv(python, [str(python), *sys.argv])
    absent = [p for p, m in zip(PACKAGES, MODULES) if not importlib.util.find_spec(m)]
    if absent:
        sys.exit(f"{' '.join(absent)} cannot be imported: give --environment a folder")


# ---- what a reader needs to judge a number by ----

def output_of(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, cwd=ROOT,
                          check=True)
    return done.stdout.strip()


def commit():
    """The commit whose code runs; results and pages that are being written do not count."""
    changed = output_of("git", "status", "--porcelain", "--", "cl", "src", "include", "bench/fields")
    return output_of("git", "rev-parse", "--short", "HEAD") + ("-dirty" if changed else "")


def processor():
    lines = pathlib.Path("/proc/cpuinfo")
    names = [line.split(":")[1].strip() for line in lines.read_text().splitlines()
             if line.startswith("model name")] if lines.exists() else []
    return names[0] if names else platform.machine()


def circumstances(options):
    from importlib import metadata
    listed = json.loads(output_of(options.build / "src/cli/abut", "devices", "--json"))
    device = next((d for d in listed if "Portable" in d["platform"]), listed[0])
    return {"device": device["name"], "driver": f"{device['platform']} {device['driver']}",
            "processor": f"{processor()}, {len(os.sched_getaffinity(0))} cores",
            "commit": commit(), "date": time.strftime("%Y-%m-%d"),
            "load before": round(os.getloadavg()[0], 1),
            "versions": ", ".join(f"{p} {metadata.version(p)}" for p in PACKAGES)}


# ---- the meshes ----

class Bench:
    """Options, the meshes by name and what is asked of them again and again."""

    def __init__(self, options, folder):
        import shapes
        self.options, self.folder = options, pathlib.Path(folder)
        self.shapes = shapes.write_all(folder)
        self.files = {name: path for name, (_, path) in self.shapes.items()}
        if options.data:
            self.files |= {p.stem: p for p in sorted((options.data / "meshes").iterdir())}
        self.oracles = {}
        self.wanted = options.meshes.split(",") if options.meshes else list(self.files)
        unknown = set(self.wanted) - set(self.files)
        if unknown:
            sys.exit(f"no mesh {', '.join(sorted(unknown))}; there are {', '.join(self.files)}")

    def oracle(self, name):
        import oracle
        if name not in self.oracles:
            truth = self.shapes[name][0].truth if name in self.shapes else None
            mesh = oracle.welded(truth.vertices, truth.faces) if truth else oracle.read(self.files[name])
            self.oracles[name] = oracle.Oracle(*mesh)
        return self.oracles[name]

    def makers(self):
        return ("file",) if self.options.no_clouds else ("file", "cloud")


# ---- the parts ----

def run_judge(bench):
    import judge
    out = {}
    for name in bench.wanted:
        out[name] = {"faces": int(len(bench.oracle(name).faces))}
        for maker in bench.makers():
            found = judge.judge(bench.options.build, bench.files[name], bench.oracle(name),
                                bench.options.samples, maker)
            out[name][maker] = found
            print(f"judge {name}, {maker}: {page.judged(found)}", flush=True)
    return out


def run_poses(bench):
    import numpy
    import poses
    out = {}
    for pair in PAIRS:
        if not set(pair) <= set(bench.wanted):
            continue
        paths, oracles = poses.fitting([bench.files[n] for n in pair],
                                       [bench.oracle(n) for n in pair], bench.folder)
        meshes, start = poses.Meshes(*oracles), time.monotonic()
        drawn = poses.drawn(meshes, bench.options.poses, numpy.random.default_rng(5))
        row = out[", ".join(pair)] = {"oracle seconds": round(time.monotonic() - start, 1)}
        for maker in bench.makers():
            fewer = max(20, bench.options.poses // (1 if maker == "file" else CLOUD_SHARE))
            some = tuple(a[:fewer] for a in drawn)
            row[maker] = poses.measure(bench.options.build, meshes, paths, some, maker)
            print(f"poses {', '.join(pair)}, {maker}: {page.posed(row[maker])}", flush=True)
    return out


def run_rates(bench):
    import rates
    if not bench.options.data:
        return {"not run": "no --data"}
    out = rates.measure(bench.options.build, bench.options.data)
    print("rates " + "; ".join(f"{name} {out[name]['poses_per_s']['median']:.4g} poses/s"
                               for name in ("file", "quadrics", "cloud")), flush=True)
    return out


def run_torture(bench):
    import shapes
    import torture
    odd = bench.folder / "odd"
    odd.mkdir()
    paths = [*bench.files.values(), *shapes.write_odd(odd)]
    if bench.options.data:
        paths += sorted((bench.options.data / "malformed").iterdir())
    return {"files": torture.torture(bench.options.build, paths)}


class Formula:
    """What judge.jumps takes for a body."""

    def __init__(self, distance):
        self.distance = distance


def check_jumps(it):
    """Whether jumps are seen where they are, and only there."""
    import judge
    import numpy
    import shapes
    box = shapes.box_distance(0.6, 0.5, 0.4)
    fields = {"smooth": lambda p: numpy.linalg.norm(p - 3.0, axis=1),
              "slope": box, "value": lambda p: box(p) + 0.01 * (p[:, 0] > 0.1),
              "curvature": lambda p: numpy.maximum(p[:, 0] - 0.1, 0) ** 2}
    wrong = []
    for name, field in fields.items():
        found = judge.jumps(Formula(field), it, 20, numpy.random.default_rng(8))
        seen = {"value": found["value"] > 0.1, "slope": found["slope"] > 0.01,
                "curvature": found["curvature"] > 0.1}
        if not {"smooth": not any(seen.values()), "curvature": seen["curvature"] and not seen["slope"],
                "slope": seen["slope"] and not seen["value"], "value": seen["value"]}[name]:
            wrong.append(f"jumps of a field made to have {name}: {found}")
    return wrong


def check_ball(bench, it, mesh):
    """The judge and the poses on a sphere whose field is exact."""
    import judge
    import numpy
    import poses
    import shapes
    shapes.write(mesh, bench.folder / "ball.obj")
    ball = bench.folder / "ball.body.json"
    ball.write_text(json.dumps({"name": "ball", "mesh": "ball.obj", "superquadrics": [
        {"axes": [0.5] * 3, "exponents": [1, 1], "position": [0, 0, 0], "quaternion": [1, 0, 0, 0]}]}))
    wrong = []
    found = judge.judge(bench.options.build, ball, it, 2000, timed=False)
    for place, row in found["signs"].items():
        if row["wrong"] or row["off"]["most"] > 0.1:
            wrong.append(f"the judge finds fault with an exact sphere, {place}: {row}")
    if found["face"]["most"] > 0.1 or found["jumps"]["slope"] > 1e-3 or found["jumps"]["value"] > 1e-4:
        wrong.append(f"the judge finds fault with an exact sphere: {found}")
    meshes = poses.Meshes(it, it)
    drawn = poses.drawn(meshes, 100, numpy.random.default_rng(4))
    found = poses.measure(bench.options.build, meshes, [ball, ball], drawn)
    if found["false"] or found["missed"] or not (found["apart"] > 20 and found["deep"] > 20):
        wrong.append(f"poses of exact spheres: {found}")
    return wrong


def self_check(bench):
    """The judge, and the oracle, where answers are known."""
    import oracle
    import shapes
    wrong = [f"the oracle is {off:.2g} diagonals off the formula of {name}"
             for name, (off, bent) in oracle.self_check(s for s, _ in bench.shapes.values()).items()
             if off > bent + 1e-12]
    mesh = shapes.cube_sphere(20)
    it = oracle.Oracle(*oracle.welded(mesh.vertices, mesh.faces))
    wrong += check_jumps(it) + check_ball(bench, it, mesh)
    print("\n".join(wrong) or "self-check: passed", flush=True)
    return not wrong


def measure(options):
    about = circumstances(options)  # before anything is written
    made = {"judge": run_judge, "poses": run_poses, "rates": run_rates, "torture": run_torture}
    with tempfile.TemporaryDirectory(prefix="abut-fields-") as folder:
        bench = Bench(options, folder)
        if not self_check(bench):
            return 1
        for part in options.only:
            start = time.monotonic()
            found = made[part](bench)
            result = {"measured": about | {"seconds": round(time.monotonic() - start)}} | found
            print(f"{part}: {time.monotonic() - start:.0f} s", flush=True)
            if options.write:
                (RESULTS / f"fields-{part}.json").write_text(json.dumps(result, indent=1) + "\n")
    if options.write:
        page.write(page.PAGE, RESULTS)
    return 0


def main():
    options = read_options()
    if options.check:
        return page.check(page.PAGE, RESULTS)
    if options.page:
        page.write(page.PAGE, RESULTS)
        return 0
    enter(options.environment)
    if options.data is None:
        print("without --data, and ABUT_SHARED is not set: our own shapes alone", file=sys.stderr)
    return measure(options)


if __name__ == "__main__":
    sys.exit(main())
