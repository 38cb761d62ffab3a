#!/usr/bin/env python3
"""Ranks by MPI, by mpirun as a user starts them: ranks.py ABUT MPIRUN PLUGIN [long [UNSYNCED]|pocl]

Computes on $ABUT_TEST_DEVICE, else the host; `auto` there is the device that each rank takes by itself. Open MPI and MPICH.
UNSYNCED is unsynced.c.
"""
import json
import os
import pathlib
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

DEVICE = os.environ.get("ABUT_TEST_DEVICE", "host")
if DEVICE == "auto":
    os.environ["ABUT_TEST_DEVICE"] = "pocl"
import folder as f  # pylint: disable=wrong-import-position

MPIRUN, PLUGIN = sys.argv[2], os.path.abspath(sys.argv[3])
UNSYNCED = os.path.abspath(sys.argv[5]) if sys.argv[5:] else None
OPEN = "Open MPI" in subprocess.run([MPIRUN, "--version"], capture_output=True, text=True, check=True).stdout
START = [MPIRUN, "--oversubscribe", "--allow-run-as-root", "--bind-to", "none"] if OPEN else [MPIRUN]
# Each rank notes its process, so that it can be stopped or killed.
NOTE = 'p=pid.${OMPI_COMM_WORLD_RANK:-$PMI_RANK}; echo $$ > $p.new; mv $p.new $p; exec "$0" "$@"'
KINDS = {name: [w for w in words if DEVICE != "auto" or w not in ("--device", "pocl")] for name, words in f.KINDS.items()}


def begin(ranks, *words, plugin=PLUGIN, note=False):
    for old in pathlib.Path(".").glob("pid.*"):
        old.unlink()
    noted = ["sh", "-c", NOTE] if note else []
    return subprocess.Popen([*START, "-n", str(ranks), *noted, f.ABUT, *map(str, words)], stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=f.environment(ABUT_MPI_PLUGIN=plugin))


def unlike(ranks, one, words, others, before=""):
    """Ranks of which one is given other words."""
    shell = f'if test "${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}" = {one}; then {before}exec {shlex.join([f.ABUT, *others])}; fi; '
    return subprocess.Popen([*START, "-n", str(ranks), "sh", "-c", shell + "exec " + shlex.join([f.ABUT, *words])], text=True,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            env=f.environment(ABUT_MPI_PLUGIN=PLUGIN))


def end(process, status, says=(), in_order=True):
    """That it ends with this status and that abut says these lines on stderr, each once and nothing else. Lines of several
    ranks may come in any order."""
    out, err = process.communicate(timeout=120)
    lines = [line for line in err.splitlines() if line.startswith("abut: ")]
    if not in_order:
        lines.sort(key=lambda line: [i for i, said in enumerate(says) if re.search(said, line)])
    f.check(process.returncode == status, f"status {process.returncode}, not {status}: {process.args}: {err}")
    f.check(len(lines) == len(says) and all(re.search(s, line) for s, line in zip(says, lines)),
            f"{lines} are not {says}: {process.args}")
    return out


def run(ranks, status, *words, says=(), **more):
    return end(begin(ranks, *words, **more), status, says)


def arrays(folder):
    """Devices, of which parts have other names, are not compared."""
    manifest = json.loads((pathlib.Path(folder) / "manifest.json").read_text())
    f.check(manifest["complete"] and manifest.pop("devices"), f"{folder} is not complete")
    return manifest, {k: v for k, v in f.tree(folder).items() if k != "manifest.json"}


def same(a, b, text):
    (about_a, a), (about_b, b) = arrays(a), arrays(b)
    different = sorted(k for k in a.keys() | b.keys() if a.get(k) != b.get(k))
    f.check(not different and about_a == about_b, f"{text}: {different} differ")


def alone(name, *more):
    """By one process."""
    f.run(0, *f.KINDS[name], *more, "--yes")


def process_of(rank):
    path = pathlib.Path(f"pid.{rank}")
    while not path.exists():
        time.sleep(0.001)
    return int(path.read_text())


def done(folder, rank, ranks):
    """Poses that a rank has done."""
    path = pathlib.Path(folder) / f"rank-{rank:05}-of-{ranks:05}.journal"
    lines = path.read_text().splitlines() if path.exists() else []
    return sum(int(w[2]) - int(w[1]) for w in map(str.split, lines) if w[0] == "done" and w[-1] == ".")


def timeline(name, tracks, poses):
    """A track a rank, whose spans follow each other; all poses are computed once, and then written."""
    events = json.loads(pathlib.Path(name).read_text())["traceEvents"]
    names = [(e["pid"], e["args"]["name"]) for e in events if e["ph"] == "M"]
    f.check(names == list(enumerate(tracks)) and not os.path.exists(name[:-4] + "png"), f"{name} has tracks {names}")
    spans = [e for e in events if e["ph"] == "X"]
    of = lambda what: [(e["args"]["first"], e["args"]["first"] + e["args"]["count"]) for e in spans if e["cat"] == what]
    done = sorted(of("compute"))
    f.check(done[0][0] == 0 and done[-1][1] == poses and all(a[1] == b[0] for a, b in zip(done, done[1:])), f"{name}: computed {done}")
    f.check(sorted(of("write")) == done, f"{name}: written {of('write')}")
    for track in range(len(tracks)):
        own = [e for e in spans if e["pid"] == track]
        f.check(all(a["ts"] + a["dur"] <= b["ts"] + 0.01 for a, b in zip(own, own[1:])), f"{name}: spans of track {track} overlap")
        asked = [e["cat"] for e in own]
        f.check(asked.count("end") == 1 and asked.count("ask") == (len(tracks) > 1) * (asked.count("compute") + 1), f"{name}: {asked}")


NOT_FINITE = ["poses that are not finite: 1 of 100; the first one has index 7"]
NOT_FINITE_TOO = ["poses that are not finite, or with a quaternion of length 0: 1 of 100; the first one has index 7"]


def quick():
    """Two ranks as one; what is refused."""
    alone("gradient", "-o", "alone/")
    out = run(2, 0, *[w for w in KINDS["gradient"] if w != "-q"], "-o", "two/", "--block", 9, "--timeline", "two",
              says=["no --smoothing", *NOT_FINITE])
    f.check(re.search("^two/: 100 of 100 poses in this run, by 2 ranks, 64 contacts per pose, .* s on .* by the first rank, f32\n$", out), out)
    same("alone", "two", "two ranks")
    timeline("two.json", [f"rank {i}" for i in range(2)], 100)
    f.run(0, *f.KINDS["gradient"], "-o", "one/", "--block", 30, "--timeline", "one.json")
    timeline("one.json", ["process"], 100)
    run(2, 2, *KINDS["gradient"], "-o", "two/", says=[r"rank 0: two/: is already complete; use another folder"])
    run(2, 0, *KINDS["gradient"], "-o", "two/", "--resume")
    words = [*KINDS["gradient"], "-o", "not/"]
    end(unlike(3, 1, words, ["none.body.json" if w == "slab.body.json" else w for w in words]), 2,
        ["rank 1: none.body.json: No such file"])
    f.check(not os.path.exists("not"), "a folder was made though a rank failed")
    run(2, 2, *KINDS["gradient"], "-o", "two.npz", says=["rank 0: .*: several ranks need a folder of results: write -o FOLDER/, with a / at the end; only one process can write a single file"])
    alone("closest", "-o", "closest-alone/")
    run(2, 0, *KINDS["closest"], "-o", "closest/", "--block", 9, says=[*NOT_FINITE_TOO, "poses whose normal is not determined by curvature: [0-9]+ of 100"])
    same("closest-alone", "closest", "closest points of two ranks")
    f.write_scene()
    worlds = ["simulate", "s.scene.json", "--worlds", 9, "--steps", 3, "-q", "-o"]
    device = [] if DEVICE == "auto" else ["--device", DEVICE]
    f.run(0, *worlds, "worlds-alone/", "--device", f.DEVICE)
    run(2, 0, *worlds, "worlds/", "--block", 2, *device)
    same("worlds-alone", "worlds", "worlds of two ranks")
    if DEVICE == "host":  # gradients of worlds are the same on PoCL, whose compiler takes long for them
        f.write_arrays("states.npz", q=((9, 8), [0, 0, 0.1, 1, 0, 0, 0, 0] * 9), stiffness=((9, 1), [1, -1, 1, 1, 1, 1, 1, -1, 1]))
        f.write_arrays("u.npz", u=((4, 9, 1), [0.1 * i for i in range(36)]))
        f.write_arrays("bars.npz", q=((9, 7), [1] * 63), record=((3, 9, 14), [0.1 * i for i in range(378)]))
        worlds = ["rollout-gradient", "s.scene.json", "--states", "states.npz", "--controls", "u.npz", "--record", 2, "--cotangents", "bars.npz",
                  "-q", *device, "-o"]
        f.run(0, *worlds, "rollout-alone/")
        run(2, 0, *worlds, "rollout/", "--block", 2,
            says=["worlds whose array 'stiffness' has negative numbers: 2 of 9; the first one has index 1. These count as 1e-6.$"])
        same("rollout-alone", "rollout", "gradients of worlds of two ranks")
    process = begin(2, *KINDS["gradient"], "-o", "none/", plugin="/nonexistent")
    err = process.communicate(timeout=60)[1]
    f.check(process.returncode == 2 and re.search(r"without MPI: each rank would compute everything.*--shard \$", err), err)
    f.check(not os.path.exists("none") and not os.path.exists("two.npz"), "what was refused has written")


def answers():
    """Any number of ranks gives what one process gives."""
    for name in ("gradient", "dense", "compact"):
        alone(name, "-o", f"{name}/")
    for ranks, name in ((1, "gradient"), (2, "dense"), (3, "compact"), (5, "gradient")):
        run(ranks, 0, *KINDS[name], "-o", f"{name}-{ranks}/", "--block", 8, "--yes", says=NOT_FINITE)
        same(name, f"{name}-{ranks}", f"{name}, {ranks} ranks")
    rows = f.make_inputs(100)
    for count in (0, 1, 2, 9):  # none, fewer than ranks, one more than a block
        f.write_npy("few.npy", (count, 12), rows[: 12 * count])
        words = [w if w != "p.npy" else "few.npy" for w in KINDS["compact"]]
        own = [w if w != "p.npy" else "few.npy" for w in f.KINDS["compact"]]
        f.run(0, *own, "-o", f"few-{count}/", "--block", 8)
        run(3, 0, *words, "-o", f"few-{count}-ranks/", "--block", 8,
            says=["contains no poses; the output will be empty"] if count == 0 else ["poses that are not finite: 1 of 9"] if count == 9 else [])
        same(f"few-{count}", f"few-{count}-ranks", f"{count} poses of 3 ranks")


def refused():
    """Inputs that differ between ranks; a folder that a part has begun; a rank that fails while it computes."""
    os.mkdir("x")
    shutil.copy("slab.obj", "x")
    pathlib.Path("x/slab.body.json").write_text(pathlib.Path("slab.body.json").read_text() + " ")
    words = [*KINDS["gradient"], "-o", "differ/"]
    end(unlike(3, 2, words, ["x/slab.body.json" if w == "slab.body.json" else w for w in words]), 2,
        ["rank 2: rank 0 has another pair of bodies: .* there, .* here"])
    f.check(not os.path.exists("differ"), "a folder was made though ranks differ")
    f.run(0, *f.KINDS["gradient"], "-o", "mixed/", "--shard", "1/3", says="")
    run(2, 2, *KINDS["gradient"], "-o", "mixed/", says=[": was already started; use --resume to compute only the missing rows"])
    run(2, 0, *KINDS["gradient"], "-o", "mixed/", "--resume", says=["poses that are not finite: 1 of 67"])
    same("gradient", "mixed", "a folder that a part had begun")
    run(2, 2, *KINDS["gradient"], "-o", "bad/", "--block", "0", says=["rank 0: --block"])
    if DEVICE == "host" and OPEN:  # a rank that fails while it computes: a disk that is full for it alone; MPICH needs one, too
        words = [*KINDS["dense"], "--yes", "--block", "8", "-o"]
        full = "File too large; finished blocks stay: free disk space, then continue with --resume"
        own = [*words, "full/"]
        end(unlike(3, 1, own, own, "ulimit -f 8; "), 0,
            [f"rank 1: full/.*: {full}", "1 of 3 ranks failed; the other ranks did their work", *NOT_FINITE], in_order=False)
        same("dense", "full", "a rank that failed")


def unsynced():
    """Ranks that fail by the disk once a block is written, which nobody else knows: what they had is done by the others, and
    told of once; where all fail, all end."""
    words = [*KINDS["dense"], "--yes", "--block", "8", "-o"]
    loaded = f"export LD_PRELOAD={shlex.quote(UNSYNCED)} ABUT_TEST_"
    for one, ranks, fails, ending in ((1, 3, "DATA_FAILS=1", "npy"), (0, 2, "DATA_FAILS=1", "npy"), (1, 2, "JOURNAL_FAILS=3", "journal")):
        name = f"unsynced-{one}-{ending}"
        end(unlike(ranks, one, [*words, f"{name}/"], [*words, f"{name}/"], loaded + fails + "; "), 0,
            [f"rank {one}: {name}/.*{ending}: Input/output error", f"1 of {ranks} ranks failed; the other ranks did their work", *NOT_FINITE], in_order=False)
        same("dense", name, f"{name}: a rank that failed")
    own = shlex.join([f.ABUT, *map(str, words), "none/"])
    process = subprocess.Popen([*START, "-n", "2", "sh", "-c", f"{loaded}DATA_FAILS=1; exec {own}"], text=True, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=f.environment(ABUT_MPI_PLUGIN=PLUGIN))
    end(process, 2, ["rank 0: none/.*: Input/output error"])
    f.run(2, "merge", "none", says="are missing; run the command again with --resume and any number of ranks")
    f.run(0, *f.KINDS["dense"], "-o", "none/", "--resume", "--yes", says="")
    same("dense", "none", "after all ranks failed, by one process")


KILLS = 4


def killed(poses):
    """A rank killed when so many poses are done, by a seed, ends all; any number of ranks goes on, and the end is the same."""
    words = [*KINDS["compact"], "--block", 20]
    run(2, 0, *words, "-o", "whole/", "--yes", says=[f"1 of {poses}"])
    alone("compact", "-o", "whole-alone/")
    same("whole-alone", "whole", "two ranks of many blocks")
    rng = random.Random(5)
    kills = 0
    for i in range(KILLS):
        ranks, at = rng.choice((2, 3)), poses * (i + rng.random()) / (KILLS + 1)
        process = begin(ranks, *words, "-o", "killed/", "--yes", "--resume", note=True)
        victim = process_of(rng.randrange(ranks))
        while process.poll() is None and len(poses_done("killed")) < at:
            time.sleep(0.002)
        if process.poll() is None:
            os.kill(victim, signal.SIGKILL)
        process.communicate(timeout=60)
        kills += process.returncode != 0
    f.check(kills >= KILLS - 1, f"{kills} of {KILLS} runs were killed before they ended")
    ended = os.path.exists("killed/manifest.json") and json.loads(pathlib.Path("killed/manifest.json").read_text())["complete"]
    if not ended:
        f.run(2, *f.KINDS["compact"], "-o", "killed/", "--shard", "0/2", "--resume", says=": was started by MPI ranks; continue with --resume without --shard, with one process or any number of ranks")
    run(3, 0, *words, "-o", "killed/", "--yes", "--resume", says=[] if ended else ["poses that are not finite"] * (
        7 not in poses_done("killed")))
    same("whole", "killed", f"after {kills} kills")


def poses_done(folder):
    lines = [line.split() for path in pathlib.Path(folder).glob("rank-*.journal") for line in path.read_text().splitlines()]
    return {i for w in lines if w[0] == "done" and w[-1] == "." for i in range(int(w[1]), int(w[2]))}


def stop(process):
    """Whether it stands still: it may have ended."""
    try:
        os.kill(process, signal.SIGSTOP)
        while (state := pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]) not in "TZX":
            time.sleep(0.001)
    except (ProcessLookupError, FileNotFoundError):
        return False
    return state == "T"


def slowed(poses):
    """A rank that stands still keeps the block that it has, and the others take the rest, whichever rank it is but the
    first; the first slowed tenfold does less than its share, and still answers."""
    words = [*KINDS["compact"], "--block", 20]
    for _ in range(5):  # where others leave this process no time, a run may end before it is seen to begin
        process = begin(3, *words, "-o", "stopped/", "--yes", note=True)
        victim = process_of(1)
        while process.poll() is None and not done("stopped", 1, 3):
            time.sleep(0.002)
        if stop(victim):
            break
        process.communicate()
        shutil.rmtree("stopped")
    have = done("stopped", 1, 3)
    limit = time.monotonic() + 60
    while done("stopped", 0, 3) + done("stopped", 2, 3) + have < poses - 20 and time.monotonic() < limit:
        time.sleep(0.01)
    left = poses - done("stopped", 0, 3) - done("stopped", 2, 3) - have
    f.check(left <= 20, f"{left} poses are left while a rank stands still")
    os.kill(victim, signal.SIGCONT)
    end(process, 0, [f"1 of {poses}"])
    same("whole", "stopped", "a rank that stood still")
    # In blocks that take longer than the first, which stands still most of the time, takes to answer.
    process = begin(2, *KINDS["compact"], "--block", 100, "-o", "slow/", "--yes", note=True)
    victim, shares = process_of(0), (0, 1)
    while process.poll() is None and not done("slow", 0, 2):
        time.sleep(0.002)
    while process.poll() is None:
        shares = max(shares, (done("slow", 0, 2), done("slow", 1, 2)), key=sum)
        if stop(victim):
            time.sleep(0.045)
            os.kill(victim, signal.SIGCONT)
        time.sleep(0.005)
    end(process, 0, [f"1 of {poses}"])
    f.check(2 * shares[0] < shares[1], f"the first rank, slowed tenfold, has done {shares[0]}, the other one {shares[1]}")
    same("whole", "slow", "the first rank slowed")


def main():
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    try:
        f.make_inputs(100)
        if sys.argv[4:5] == ["long"]:
            answers()
            refused()
            if UNSYNCED:
                unsynced()
            f.make_inputs(4000)
            killed(4000)
            slowed(4000)
        elif sys.argv[4:] == ["pocl"]:
            answers()
        else:
            quick()
    finally:
        os.chdir("/")
        shutil.rmtree(folder)
    print(f"{f.passed} passed, {f.failed} failed")
    sys.exit(f.failed > 0)


if __name__ == "__main__":
    main()
