#!/usr/bin/env python3
"""abut beside its peers: witness points, manifolds, and abut's own variants against batch size.

  python3 bench/peers/run.py --build build [--environment DIR] [--limit SECONDS] [--only FIGURES]
                             [--write docs/benchmarks/peers.md]

Makes an environment with the peers from PyPI (a temporary one, unless --environment names a folder:
one that exists is used as it is, another is made and kept), lets abut and each peer answer in turn,
writes bench/results/peers-*.csv and draws docs/peers-*.png. A peer that is not installed is "not
run", by name; one that passes the limit in a single request, its compilation included, has "timed
out": that is its result, and it is asked no more of that kind. Needs a build of abut; without --case
or the files by name, takes the figures of tests/golden/figure-softsort.
FIGURES: any of witness,manifold,variants.
"""
import argparse
import collections
import csv
import json
import os
import pathlib
import platform
import select
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import venv

import table

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PACKAGES = ["jax[cpu]", "jaxopt", "matplotlib", "mujoco", "mujoco-mjx", "numpy", "qpax", "scipy"]
COLUMNS = ["peer", "what", "size", "seconds", "seconds_least", "rounds", "ratio", "first_call_s",
           "precision", "contacts", "off_exact", "converged", "result"]
VERSIONS = """
import importlib.metadata, sys
for name in sys.argv[1:]:
    try:
        print(name, importlib.metadata.version(name))
    except importlib.metadata.PackageNotFoundError:
        print(name, "absent")
"""
ROUNDS = 3
LONG = 5.0  # seconds of a call after which one round has to do

# PoCL keeps each of its threads on a core of its own: else Linux has both on one in a third of all processes
# whose calls take less than half a millisecond, its least time before it moves a thread. Threads leave the cores
# a process is bound to that way, so not where it is bound to some.
ENVIRONMENT = {"POCL_AFFINITY": "1"} if len(os.sched_getaffinity(0)) == os.cpu_count() else {}

# A series is one line of a plot: who answers, what, at which sizes.
Series = collections.namedtuple("Series", "peer label request sizes")


class Peer:
    """A process of worker.py's kind; started when first asked, again after it was stopped."""

    def __init__(self, python, name):
        self.command = [str(python), str(HERE / f"peer_{name}.py")]
        self.process = None

    def ask(self, request, limit):
        """The answer, or None where `limit` seconds were not enough: then the process is gone."""
        if not self.process:
            self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                            start_new_session=True, env=os.environ | ENVIRONMENT)
        try:
            self.process.stdin.write(json.dumps(request).encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # the read below finds its end
        if not select.select([self.process.stdout], [], [], limit)[0]:
            self.stop()
            return None
        line = self.process.stdout.readline()
        if not line:
            self.stop()
            return {"error": "it ended without an answer"}
        return json.loads(line)

    def stop(self):
        if self.process:
            os.killpg(self.process.pid, signal.SIGKILL)
            with self.process:  # waits, closes the pipes
                self.process = None


def series_of_witness(build, device):
    decades = [10 ** k for k in range(2, 7)]
    out = []
    for what in ("edges", "faces"):
        out += [Series("abut", "abut", {"what": what, "build": build, "device": device}, decades),
                Series("jax", "JAX, the same formulas", {"what": what}, decades),
                Series("qpax", "qpax", {"what": what}, decades),
                Series("lbfgs", "L-BFGS, log barrier", {"what": what}, decades[:-1])]
    return out


def series_of_manifold(build, device, files):
    sizes = [1, 16, 64, 256, 1024, 4096]
    fields = {"what": "contacts", "build": build, "device": device, **files}
    poses = {k: files[k] for k in ("bodies", "poses")}
    out = [Series("abut", "abut", fields, sizes),
           Series("jax", "JAX, the same formulas", {"what": "contacts", **files}, sizes[:-1])]
    fitted = {**fields, "smoothing": None, "call": "list"}  # SoftSort computes all contacts
    out += [Series("abut", "abut, only active contacts", fitted, sizes),
            Series("abut", "abut, only active contacts, one core", {**fitted, "device": f"{device}/1.0"}, sizes)]
    for what, label in (("contacts", "MuJoCo C, 18 x 18 hulls, contacts"),
                        ("forward", "MuJoCo C, 18 x 18 hulls, mj_forward")):
        out.append(Series("mujoco", label, {"what": what, "hulls": 18, **poses}, sizes))
    for hulls in (2, 5, 18):  # each size is compiled anew
        request = {"what": "contacts", "hulls": hulls, **poses}
        out.append(Series("mjx", f"MJX, {hulls} x {hulls} hulls", request,
                          [64] if hulls == 18 else [1, 64, 1024]))
    return out


def result_of(reply, limit):
    if reply is None:
        return f"timed out after {limit:g} s"
    if "absent" in reply:
        return f"not run: no package {reply['absent']}"
    return f"failed: {reply['error']}" if "error" in reply else "ok"


def row_of(series, size, replies, result):
    good = [r for r in replies if r and "seconds" in r]
    row = {"peer": series.label, "what": series.request["what"], "size": size, "result": result}
    if result == "ok" and good:
        seconds = [r["seconds"] for r in good]
        row |= {k: good[0][k] for k in COLUMNS if k in good[0]}
        row |= {"seconds": statistics.median(seconds), "seconds_least": min(seconds),
                "rounds": len(good)}
    return row


def key_of(series):
    return series.label + series.request["what"]


def add_ratio(row, replies, ours):
    """Time over abut's of the same round, median of the rounds that both have."""
    ratios = [a["seconds"] / b["seconds"] for a, b in zip(replies, ours)
              if a and b and "seconds" in a and "seconds" in b]
    if row["result"] == "ok" and ratios:
        row["ratio"] = statistics.median(ratios)
    return row


def measure(all_series, python, limit, largest):
    """Size by size, round by round, series by series; rows in the order of the series."""
    peers = {s.label: Peer(python, s.peer) for s in all_series}  # stopping one stops no other
    ended, rows = {}, collections.defaultdict(list)
    for size in sorted({n for s in all_series for n in s.sizes if n <= largest}):
        asked = [s for s in all_series if size in s.sizes and key_of(s) not in ended]
        replies = collections.defaultdict(list)
        for _ in range(ROUNDS):
            for i, s in enumerate(asked):
                before = replies[i]
                key = key_of(s)
                if key in ended or (before and before[-1]["seconds"] > LONG):
                    continue
                reply = peers[s.label].ask({**s.request, "size": size}, limit)
                before.append(reply)
                if result_of(reply, limit) != "ok":
                    ended[key] = result_of(reply, limit)
        for i, s in enumerate(asked):
            ours = [k for k, other in enumerate(asked) if other.peer == "abut"
                    and ("hulls" in s.request or other.request["what"] == s.request["what"])]
            row = row_of(s, size, replies[i], ended.get(key_of(s), "ok"))
            add_ratio(row, replies[i], replies[ours[0]] if ours else [])
            rows[all_series.index(s)].append(row)
            print(f"{row['peer']:46} {row['what']:9} {size:8} "
                  + (f"{row['seconds']:.3e} s" if "seconds" in row else row["result"]), flush=True)
    for peer in peers.values():
        peer.stop()
    return [row for i in sorted(rows) for row in rows[i]]


def measure_variants(python, request, limit, largest):
    """A series for each variant and derivative; one `abut-dev bench` a batch size times them by turns."""
    peer, kept = Peer(python, "abut"), collections.defaultdict(list)
    sizes = [n for n in (1, 4, 16, 64, 256, 1024, 4096) if n <= largest]
    rows = []
    for _ in range(ROUNDS - 1):
        for size in sizes:
            reply = peer.ask({**request, "size": size, "variant": "full,vertices-only,one-sided",
                              "whats": "forward,mean-gradient,vjp"}, limit)
            if result_of(reply, limit) != "ok":
                peer.stop()
                return [{"peer": "abut", "size": size, "result": result_of(reply, limit)}]
            for r in reply["rows"]:
                kept[r["variant"], r["what"], size].append(r)
    for (variant, what, size), found in sorted(kept.items()):
        seconds = [r["seconds_median"] for r in found]
        rows.append({"peer": f"abut, {variant}", "what": what, "size": size, "rounds": len(found),
                     "seconds": statistics.median(seconds), "seconds_least": min(seconds),
                     "precision": found[0]["precision"], "contacts": found[0]["contacts"],
                     "result": "ok"})
        print(f"{rows[-1]['peer']:46} {what:13} {size:8} {rows[-1]['seconds']:.3e} s", flush=True)
    peer.stop()
    return rows


def output_of(command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, cwd=ROOT)
    return done.stdout.strip() if done.returncode == 0 else ""


def processor():
    lines = pathlib.Path("/proc/cpuinfo")
    names = [line.split(":")[1].strip() for line in lines.read_text().splitlines()
             if line.startswith("model name")] if lines.exists() else []
    return names[0] if names else platform.machine()


def circumstances(options, python, files):
    """What a reader needs to judge a number by, as "key: value" lines above each CSV."""
    abut = options.build / "src" / "cli" / "abut"
    listed = json.loads(output_of([abut, "devices", "--json"]) or "[]")
    bench = json.loads(output_of([f"{abut}-dev", "bench", "--batch", 1, "--device", options.device, "--json",
                                  "--quiet"]) or '[{"device": "none"}]')[0]["device"]
    device = next((d for d in listed if d["name"] == bench), {"platform": "?", "driver": "?"})
    names = [p.split("[")[0] for p in PACKAGES + ["jaxlib"] if p != "matplotlib"]
    versions = output_of([python, "-c", VERSIONS, *names])
    return {"device": bench, "driver": f"{device['platform']} {device['driver']}",
            "processor": f"{processor()}, {len(os.sched_getaffinity(0))} cores",
            "commit": output_of(["git", "describe", "--always", "--dirty"]) or "?",
            "date": time.strftime("%Y-%m-%d"), "load before": f"{os.getloadavg()[0]:.1f}",
            "versions": ", ".join(versions.splitlines()),
            "environment": " ".join(f"{k}={v}" for k, v in ENVIRONMENT.items()) or "as found",
            "limit of a request": f"{options.limit:g} s",
            "bodies": ", ".join("/".join(pathlib.Path(b).parts[-2:]) for b in files["bodies"])}


def write_csv(path, about, rows):
    used = [c for c in COLUMNS if any(c in row for row in rows)]
    short = {c: "{:.4g}" for c in ("seconds", "seconds_least", "ratio", "contacts", "converged")}
    short |= {"first_call_s": "{:.2f}", "off_exact": "{:.2g}"}
    with path.open("w", newline="") as file:
        file.writelines(f"# {key}: {value}\n" for key, value in about.items())
        writer = csv.DictWriter(file, used, lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({k: short[k].format(v) if k in short else v
                             for k, v in row.items()})


def environment(folder):
    """The Python of the environment in `folder`, which is made where there is none.

    Where pip cannot have all packages at once, it is asked for one after another.
    """
    python = folder / "bin" / "python"
    if python.exists():
        return python
    print(f"installing {' '.join(PACKAGES)}", flush=True)
    venv.create(folder, with_pip=True)
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    if subprocess.run([*install, *PACKAGES]).returncode:
        for package in PACKAGES:
            if subprocess.run([*install, package]).returncode:
                print(f"{package} cannot be installed", file=sys.stderr)
    return python


def run(options, python):
    files = {"bodies": [str(p) for p in options.bodies], "smoothing": str(options.smoothing),
             "poses": str(options.poses)}
    build, bounds = str(options.build), (options.limit, options.largest)
    about = circumstances(options, python, files)
    options.out.mkdir(parents=True, exist_ok=True)
    for figure in options.only.split(","):
        start = time.monotonic()
        if figure == "witness":
            rows = measure(series_of_witness(build, options.device), python, *bounds)
        elif figure == "manifold":
            rows = measure(series_of_manifold(build, options.device, files), python, *bounds)
        else:
            request = {"what": "contacts", "build": build, "device": options.device, **files}
            rows = measure_variants(python, request, *bounds)
        write_csv(options.out / f"peers-{figure}.csv", about, rows)
        print(f"{figure}: {time.monotonic() - start:.0f} s", flush=True)
    if options.write:
        table.write(options.write, options.out)
    return subprocess.run([python, HERE / "plot.py", options.out, options.plots]).returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--environment", type=pathlib.Path)
    parser.add_argument("--limit", type=float, default=180.0, help="seconds for one request")
    parser.add_argument("--only", default="witness,manifold,variants")
    parser.add_argument("--largest", type=int, default=10 ** 9, help="no batch above this")
    parser.add_argument("--device", default="pocl")
    parser.add_argument("--case", type=pathlib.Path, default=ROOT / "tests/golden/figure-softsort",
                        help="folder of a.body.json, b.body.json, smoothing.json, poses.npz (s1, s2)")
    parser.add_argument("--bodies", type=pathlib.Path, nargs=2)
    parser.add_argument("--smoothing", type=pathlib.Path)
    parser.add_argument("--poses", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "bench" / "results")
    parser.add_argument("--write", type=pathlib.Path, help="the page whose tables are renewed")
    parser.add_argument("--plots", type=pathlib.Path, default=ROOT / "docs")
    options = parser.parse_args()
    if not set(options.only.split(",")) <= {"witness", "manifold", "variants"}:
        parser.error("--only takes any of witness,manifold,variants")
    options.bodies = options.bodies or [options.case / f"{side}.body.json" for side in "ab"]
    options.smoothing = options.smoothing or options.case / "smoothing.json"
    options.poses = options.poses or options.case / "poses.npz"
    for name in ("build", "smoothing", "poses", "out", "plots"):
        setattr(options, name, getattr(options, name).resolve())
    options.bodies = [path.resolve() for path in options.bodies]
    if not (options.build / "src" / "cli" / "abut").exists():
        parser.error(f"{options.build} holds no build of abut: meson setup, ninja")
    if options.write and (not options.write.exists() or table.BEGIN not in options.write.read_text()):
        parser.error(f"{options.write} has no line {table.BEGIN}")
    if options.environment:
        return run(options, environment(options.environment.absolute()))
    with tempfile.TemporaryDirectory(prefix="abut-peers-") as folder:
        return run(options, environment(pathlib.Path(folder)))


if __name__ == "__main__":
    sys.exit(main())
