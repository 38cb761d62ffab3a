#!/usr/bin/env python3
"""Collision in time: abut beside the IPC Toolkit and Tight-Inclusion, on one core each, by turns, on the same questions.

  python3 bench/peers/ccd.py --build build --queries FOLDER --mesh FILE.obj --ipc FOLDER --tight FOLDER --python FILE [--write]

Four comparisons:

  public    the queries of Wang et al. in --queries, of rational numbers: who is right, and microseconds a query
  pairs     100,000 queries of points and triangles and as many of edges of two bodies of --mesh, as chance takes them from all pairs
            of groups of neighbouring features whose boxes over the whole step meet, of 30 pose pairs; and 200,000 of pairs whose own
            boxes meet
  steps     the safe step of two bodies of --mesh between 1,000 pairs of poses, broad phase and all
  slopes    what derivatives cost beside the queries of both

ipc::AdditiveCCD and ipc::TightInclusionCCD are compiled here from their sources and asked one query after the other: --ipc names the
folder `src` of the source package of ipctk, --tight that of Tight-Inclusion, --eigen Eigen's headers. Steps are asked through the package,
whose calls cost microseconds of a step's thousands; --python has it. abut answers a batch in a call, built by
`ninja -C BUILD bench/ccd_abut`. Each is bound to one core, PoCL to one thread.

Prints tables of the processor's time, which other programs disturb less: medians over the rounds, and of ratios within each round.
--write keeps bench/results/ccd.json and renews the tables and the picture of docs/benchmarks/ccd.md. Needs numpy, g++ and a build of
abut; matplotlib to draw. A quarter of an hour.
"""
import argparse
import collections
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

import numpy as np

import ccd_problems as cp
import run
from closest import Program, ask, pin

ROOT, HERE = run.ROOT, run.HERE
RESULT, PAGE = ROOT / "bench" / "results" / "ccd.json", ROOT / "docs" / "benchmarks" / "ccd.md"
PICTURE = PAGE.parent / "ccd.png"
LARGE = 20  # times the public queries are repeated in a batch
ROWS, POSES, SOME_POSES = 100000, 1000, 30
SOURCES = ("ccd/additive_ccd", "ccd/tight_inclusion_ccd",
           *(f"distance/{name}" for name in ("distance_type", "edge_edge", "line_line", "point_edge", "point_line", "point_plane",
                                             "point_point", "point_triangle")))
TIGHT_SOURCES = "ccd", "interval", "interval_root_finder", "avx"
# What both packages write by their builds, as far as these sources read it, and loggers that are silent.
SETTINGS = {
    "ipc/config.hpp": "#include <Eigen/Core>\n#include <cstdint>\nnamespace ipc {\nusing index_t = int32_t;\n"
                      "inline constexpr int VERTEX_DERIVATIVE_LAYOUT = Eigen::RowMajor;\n}\n",
    "tight_inclusion/config.hpp": "#define TIGHT_INCLUSION_WITH_DOUBLE_PRECISION\n"}
SILENT = """#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <tuple>
namespace NAME {
struct silent {
  template <typename... A> void trace(const A &...) const {}
  template <typename... A> void debug(const A &...) const {}
  template <typename... A> void warn(const A &...) const {}
  template <typename... A> void error(const A &...) const {}
};
inline const silent &logger() { static const silent one; return one; }
template <typename... A> [[noreturn]] void log_and_throw_error(const A &...) { throw std::runtime_error("NAME"); }
}
"""
ABUT = {"f64": ["-p", "f64"], "f32": ["-p", "f32"]}
PEERS = {"additive": "ipctk ACCD", "tight": "ipctk Tight-Inclusion", "plain": "only Tight-Inclusion"}


# ---- programs ----
def make_ipc(options):
    """In the build's folder, once."""
    program, folder = options.build / "bench" / "ccd_ipc", options.build / "bench" / "ccd_ipc.p"
    if program.exists() and program.stat().st_mtime > (HERE / "ccd_ipc.cpp").stat().st_mtime:
        return Program([program], {})
    loggers = {f"{path}/logger.hpp": SILENT.replace("NAME", name) for path, name in (("ipc/utils", "ipc"), ("tight_inclusion", "ticcd"))}
    for name, text in (SETTINGS | loggers).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("#pragma once\n" + text)
    sources = [HERE / "ccd_ipc.cpp", *(options.ipc / "ipc" / f"{name}.cpp" for name in SOURCES),
               *(options.tight / "tight_inclusion" / f"{name}.cpp" for name in TIGHT_SOURCES)]
    flags = ["-std=c++17", "-O3", "-march=native", "-DNDEBUG", "-w", "-I", folder, "-isystem", options.ipc, "-isystem", options.tight,
             "-isystem", options.eigen]
    objects = [folder / f"{source.parent.name}_{source.stem}.o" for source in sources]
    for source, to in zip(sources, objects):
        subprocess.run(["g++", *flags, "-c", source, "-o", to], check=True)
    subprocess.run(["g++", *objects, "-o", program], check=True)
    return Program([program], {})


def programs_of(options):
    subprocess.run(["ninja", "-C", options.build, "bench/ccd_abut"], check=True, stdout=subprocess.DEVNULL)
    abut = Program([options.build / "bench" / "ccd_abut", "-d", options.device], {"POCL_MAX_PTHREAD_COUNT": "1"})
    return {"abut": abut, "ipc": make_ipc(options), "meshes": Program([options.python, HERE / "ccd_ipc_meshes.py"], {})}


# ---- asking ----
class Asked:
    """A problem file, and replies and answers of all who were asked about it."""

    def __init__(self, programs, folder, name, **problem):
        self.programs, self.path = programs, folder / name
        self.replies = collections.defaultdict(list)
        cp.write_problem(self.path, **problem)

    def answers_path(self, name):
        return self.path.with_suffix("." + "".join(c for c in name if c.isalnum()))

    def ask(self, name, program, *words):
        """Words may have ANSWERS in place of a path."""
        words = [self.answers_path(name) if word == "ANSWERS" else word for word in words]
        self.replies[name].append(ask(self.programs[program], *words))

    def abut(self, name, *words, rounds=5):
        self.ask(name, "abut", *words, "-r", rounds, "-o", "ANSWERS", self.path)

    def peer(self, method, passes=1):
        self.ask(PEERS[method], "ipc", self.path, "ANSWERS", method, passes)

    def step(self, method, broad, passes=1):
        self.ask(f"{PEERS[method]}, {broad}", "meshes", self.path, "ANSWERS", method, broad, passes)

    def answers(self, name):
        return cp.read_answers(self.answers_path(name))

    def times(self):
        """Medians of all numbers that are told."""
        return {name: {key: statistics.median(r[key] for r in replies) for key in replies[0]
                       if isinstance(replies[0][key], (int, float))} for name, replies in self.replies.items()}

    def ratio(self, slow, fast, of="processor", over="processor"):
        """Within each round: median, least and most."""
        each = [a[of] / b[over] for a, b in zip(self.replies[slow], self.replies[fast])]
        return [statistics.median(each), min(each), max(each)]


# ---- the public queries ----
PUBLIC = {"abut f64": ["-p", "f64"], "abut f32": ["-p", "f32", "-e", 1], "abut f32, lower parts": ["-p", "f32", "-l", "-e", 1],
          "abut f64, additive": ["-p", "f64", "-a"], "abut f64, keep 0.1": ["-p", "f64", "-s", .1],
          "abut f32, keep 0.1": ["-p", "f32", "-e", 1, "-s", .1]}


def judged(answers, hit):
    free = answers["status"] == 0
    row = {"false negatives": int((free & hit).sum()), "false positives": int((~free & ~hit).sum())}
    if answers["first"].any():
        first, second = answers["first"], answers["second"]
        row |= {"mean": float(first.mean()), "p99": float(np.percentile(first, 99)), "most": int(first.max()),
                "again": int((second > 0).sum()), "again mean": float(second[second > 0].mean()) if second.any() else 0.}
    return row


def public(programs, folder, options):
    kind, x0, x1, hit, rounded = cp.public_queries(options.queries)
    few = Asked(programs, folder, "public", kind=kind, x0=x0, x1=x1)
    order = np.argsort(np.tile(kind, LARGE), kind="stable")
    large = Asked(programs, folder, "repeated", kind=np.tile(kind, LARGE)[order], x0=np.tile(x0, (LARGE, 1, 1))[order],
                  x1=np.tile(x1, (LARGE, 1, 1))[order])
    for turn in range(options.rounds):
        for name, words in PUBLIC.items():
            few.abut(name, *words)
            large.abut(name, *words)
        few.peer("additive", 5)
        if not turn:
            few.peer("plain", 0)
            few.peer("tight", 0)
    rows = {name: judged(few.answers(name), hit) for name in few.replies}
    return {"queries": len(kind), "hits": int(hit.sum()), "coordinates rounded": rounded, "right": rows, "times": few.times(),
            "repeated": LARGE, "times repeated": large.times()}


# ---- pairs of features of meshes ----
PAIRS = {f"abut {p}, {what}": [*ABUT[p], *words] for p in ABUT
         for what, words in (("keep 0.1", ["-s", .1]), ("bare", []), ("keep 0.1, derivatives", ["-s", .1, "-g"]))}


def compared(asked, slow, fast):
    return {f"{a} / {b}": asked.ratio(a, b) for a in slow for b in fast}


def pairs(programs, folder, options, mesh, poses):
    few = {name: p[:SOME_POSES] for name, p in poses.items()}
    found = {}
    for name, (kind, x0, x1) in cp.mesh_queries(mesh, few, ROWS, np.random.default_rng(options.seed + 1)).items():
        asked = Asked(programs, folder, name.replace(" ", "-"), kind=kind, x0=x0, x1=x1)
        for turn in range(options.rounds):
            for way, words in PAIRS.items():
                asked.abut(way, *words)
            asked.peer("additive")
            if not turn:
                asked.peer("tight", 0)
        near = np.mean([cp.boxes_meet(k, x0[kind == k], x1[kind == k]).mean() for k in (cp.POINT_TRIANGLE, cp.EDGE_EDGE)])
        ways = [way for way in PAIRS if "derivatives" not in way]
        found[name] = {"rows": len(kind), "boxes meet": float(near), "times": asked.times(),
                       "ratios": compared(asked, [PEERS["additive"]], ways), "slopes": slopes_of(asked),
                       "agreement": {way: agreement(asked, way) for way in ways if "keep" in way}}
    return found


def slopes_of(asked):
    """Share of the query's time that derivatives add."""
    found = {}
    for name in asked.replies:
        if name.endswith(", derivatives"):
            each = [a["processor"] / b["processor"] - 1 for a, b in zip(asked.replies[name], asked.replies[name[:-len(", derivatives")]])]
            found[name] = statistics.median(each)
    return found


def agreement(asked, way, peer=PEERS["additive"]):
    """Of toi where both say the same, and how often only one is free."""
    ours, theirs = asked.answers(way), asked.answers(peer)
    free, hers = ours["status"] == 0, theirs["status"] == 0
    later = (ours["toi"] - theirs["toi"])[~free & ~hers]
    return {"free alone": int((free & ~hers).sum()), "peer free alone": int((hers & ~free).sum()), "both stop": int(len(later)),
            "abut later, median": float(np.median(later)) if len(later) else 0., "most": float(np.abs(later).max()) if len(later) else 0.}


# ---- steps of two meshes ----
STEPS = {f"abut {p}, {what}": [*ABUT[p], *words] for p in ABUT
         for what, words in (("keep 0.1", ["-m", "-s", .1]), ("keep 0.1, derivatives", ["-m", "-s", .1, "-g"]), ("bare", ["-m"]),
                             ("arc", ["-j"]))}
BROAD = "LBVH"  # the package's default, and the fastest here


def late(asked, truth, size):
    """How many steps end later than the bare question's answer in float64, which is off by 1e-9 of the size."""
    true = asked.answers(truth)["toi"]
    return {name: int((asked.answers(name)["toi"] > true + 1e-6).sum()) for name in asked.replies if "arc" not in name}


def steps(programs, folder, options, mesh, poses):
    asked = Asked(programs, folder, "steps", mesh=mesh, poses=poses)
    for turn in range(options.rounds):
        for name, words in STEPS.items():
            asked.abut(name, *words)
        asked.step("additive", BROAD)
        if not turn:
            asked.step("tight", BROAD)
    peer, ways = f"{PEERS['additive']}, {BROAD}", [name for name in STEPS if "derivatives" not in name and "arc" not in name]
    crossing = {name: ask(programs["meshes"], asked.path, asked.answers_path(name), "cross", BROAD)["crossing"] for name in ways}
    answers = asked.answers("abut f64, bare")
    return {"rows": len(poses["from1"]), "candidates": float(answers["second"].mean()), "stopped": int((answers["status"] != 0).sum()),
            "times": asked.times(), "ratios": compared(asked, [peer], ways), "slopes": slopes_of(asked),
            "late": late(asked, "abut f64, bare", 1.), "crossing": crossing,
            "agreement": {way: agreement(asked, way, peer) for way in ways if "keep" in way}}


# ---- telling ----
def number(x):
    return f"{x:,.0f}" if abs(x) >= 100 else f"{x:.3g}"


def line(cells):
    return "| " + " | ".join(cells) + " |"


def head(cells):
    return [line(cells), "|" + "---|" * len(cells)]


def ranged(three):
    return f"{number(three[0])} ({number(three[1])} to {number(three[2])})"


def mean_of(times):
    """Of the processor, of one who answers a batch or query after query."""
    return times["processor"]


def public_table(found):
    lines = head(["", "false negatives", "false positives", "iterations: mean, 99 %, most", "again; mean", "us: mean", "median",
                  f"batch of {found['repeated'] * found['queries']:,}"])
    for name, row in found["right"].items():
        times, repeated = found["times"][name], found["times repeated"].get(name)
        rounds = f"{row['mean']:.2f}, {row['p99']:.0f}, {row['most']}" if "mean" in row else ""
        again = f"{row['again']}; {row['again mean']:.1f}" if row.get("again") else ""
        median = number(times["median"]) if "passes" in times else ""
        lines.append(line([name, str(row["false negatives"]), str(row["false positives"]), rounds, again, number(mean_of(times)), median,
                           number(mean_of(repeated)) if repeated else ""]))
    return lines


def ratio_table(found, peer, rows):
    lines = head(["", *(f"{name} [us]" for name in found), *(f"{name}: ratio" for name in found)])
    for name in rows:
        ratios = [part["ratios"].get(f"{peer} / {name}") for part in found.values()]
        lines.append(line([name, *(number(mean_of(part["times"][name])) for part in found.values()),
                           *(ranged(r) if r else "" for r in ratios)]))
    return lines


def tables(result):
    """By the names of the page's marks."""
    pairs_rows = [PEERS["additive"], PEERS["tight"], *PAIRS]
    steps_rows = [f"{PEERS[m]}, {BROAD}" for m in ("additive", "tight")] + list(STEPS)
    parts = {"public": public_table(result["public"]), "pairs": ratio_table(result["pairs"], PEERS["additive"], pairs_rows),
             "steps": ratio_table({"a pose pair": result["steps"]}, steps_rows[0], steps_rows)}
    about = result["about"]
    parts["pairs"] += ["", f"{about['processor']}, one core; commit {about['commit']}."]
    return {name: "\n".join(lines) for name, lines in parts.items()}


def renew(page, parts):
    text = page.read_text()
    for name, table in parts.items():
        begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
        before, rest = text.split(begin)
        text = before + begin + "\n" + table + "\n" + end + rest.split(end)[1]
    page.write_text(text)


def draw(result):
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt
    figure, axes = plt.subplots(1, 3, figsize=(10.5, 2.9))
    parts = [(f"features of two meshes, {name}", found["times"], [PEERS["tight"], PEERS["additive"], "abut f64, keep 0.1",
              "abut f32, keep 0.1"]) for name, found in result["pairs"].items()]
    parts.append(("safe step of two meshes", result["steps"]["times"], [f"{PEERS['tight']}, {BROAD}", f"{PEERS['additive']}, {BROAD}",
                                                                         "abut f64, keep 0.1", "abut f32, keep 0.1"]))
    for axis, (title, times, names) in zip(axes, parts):
        values = [mean_of(times[name]) for name in names]
        labels = [name.split(",")[0] for name in names]
        bars = axis.barh(labels[::-1], values[::-1], color=["#4c72b0" if "abut" in label else "#c7c7c7" for label in labels[::-1]])
        axis.bar_label(bars, [number(v) for v in values[::-1]], padding=3, fontsize=8)
        axis.set_xscale("log")
        axis.set_xlim(min(values) / 2, max(values) * 4)
        axis.set_title(title, fontsize=9)
        axis.set_xlabel("us of one core, each", fontsize=8)
        axis.tick_params(labelsize=8)
        axis.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(PICTURE, dpi=130)
    plt.close(figure)


def measure(options, folder):
    programs, poses_random = programs_of(options), np.random.default_rng(options.seed)
    mesh = cp.read_obj(options.mesh)
    poses = cp.pose_pairs(mesh, POSES, poses_random)
    pin(options.core)
    commit = run.output_of(["git", "describe", "--always", "--dirty"]) or "?"
    result = {"about": {"processor": run.processor(), "commit": commit, "rounds": options.rounds, "unit": "microseconds of one core",
                        "mesh": [len(mesh.vertices), len(mesh.faces), len(mesh.edges)]}}
    parts = {"public": lambda: public(programs, folder, options), "pairs": lambda: pairs(programs, folder, options, mesh, poses),
             "steps": lambda: steps(programs, folder, options, mesh, poses)}
    for name, part in parts.items():
        if name in options.only:
            result[name] = part()
            print(f"{name} done", file=sys.stderr, flush=True)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--queries", type=pathlib.Path, required=True, help="a folder with */vertex-face/*.csv and */edge-edge/*.csv")
    parser.add_argument("--mesh", type=pathlib.Path, required=True)
    parser.add_argument("--ipc", type=pathlib.Path, required=True, help="src of ipctk's source package")
    parser.add_argument("--tight", type=pathlib.Path, required=True, help="src of Tight-Inclusion")
    parser.add_argument("--eigen", type=pathlib.Path, default=pathlib.Path("/usr/include/eigen3"))
    parser.add_argument("--python", type=pathlib.Path, default=pathlib.Path(sys.executable), help="one that has ipctk")
    parser.add_argument("--only", type=lambda words: words.split(","), default=["public", "pairs", "steps"])
    parser.add_argument("--device", default="pocl")
    parser.add_argument("--core", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        result = measure(options, pathlib.Path(folder))
    if options.write:
        RESULT.write_text(json.dumps(result, indent=1) + "\n")
        renew(PAGE, tables(result))
        draw(result)
    print(json.dumps(result, indent=1) if len(options.only) < 3 else "\n\n".join(tables(result).values()))


if __name__ == "__main__":
    main()
