#!/usr/bin/env python3
"""Folders of results, parts, --resume and merge as a user meets them: folder.py ABUT [killed]

Computes on $ABUT_TEST_DEVICE, else the host. With `killed`, runs that are killed at moments by a seed and go on alone.
"""
import array
import fcntl
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
import time
import zipfile

ABUT = os.path.abspath(sys.argv[1])
DEVICE = os.environ.get("ABUT_TEST_DEVICE", "host")
LAUNCHERS = re.compile("^(OMPI|PMI|PMIX|SLURM)_")
passed = failed = 0

CUBE = """{"name": "cube", "mesh": "cube.obj",
 "polyhedra": [{"planes": [[1, 0, 0, %(x)g, 0, 0], [-1, 0, 0, -%(x)g, 0, 0], [0, 1, 0, 0, %(x)g, 0], [0, -1, 0, 0, -%(x)g, 0],
                           [0, 0, 1, 0, 0, 0.5], [0, 0, -1, 0, 0, -0.5]]}]}
"""


def check(good, text):
    global passed, failed
    passed += bool(good)
    failed += not good
    if not good:
        print("FAILED:", text)


def environment(**more):
    env = {k: v for k, v in os.environ.items() if not LAUNCHERS.match(k)}
    env["ABUT_TUNING"] = ""
    env["ABUT_MPI_PLUGIN"] = "/nonexistent"  # ranks by MPI are ranks.py's
    if DEVICE == "host":
        env["OCL_ICD_VENDORS"] = "/nonexistent"
    return {**env, **more}


def start(*words, env=None, **more):
    return subprocess.Popen([ABUT, *map(str, words)], env=env or environment(), stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)


def run(status, *words, says="", **more):
    """Runs abut; its exit status, and what its last line on stderr must match."""
    process = start(*words, **more)
    out, err = process.communicate()
    check(process.returncode == status, f"status {process.returncode}, not {status}: {' '.join(map(str, words))}: {err}")
    last = err.strip().splitlines()[-1] if err.strip() else ""
    if "--help`." in last:
        last = err.strip().splitlines()[-2]
    check(re.search(says, last), f"{last!r} does not match {says!r}: {' '.join(map(str, words))}")
    return out


def write_npy(path, shape, numbers, kind="d"):
    text = repr({"descr": {"d": "<f8", "f": "<f4", "I": "<u4"}[kind], "fortran_order": False, "shape": shape})
    text += " " * (-(len(text) + 11) % 64) + "\n"
    header = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()
    pathlib.Path(path).write_bytes(header + array.array(kind, numbers).tobytes())


def tree(folder):
    """Every file of a folder and its bytes."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in pathlib.Path(folder).rglob("*") if p.is_file()}


def same_tree(a, b, text):
    a, b = tree(a), tree(b)
    different = sorted(k for k in a.keys() | b.keys() if a.get(k) != b.get(k))
    check(not different, f"{text}: {different} differ")


def same_tree_but(a, b, text):
    """The arrays alone."""
    a, b = ({k: v for k, v in tree(f).items() if k != "manifest.json"} for f in (a, b))
    check(a == b, f"{text}: arrays differ")


def same_as_npz(folder, npz, extra=()):
    """A folder's arrays are the archive's members to the byte; texts of the archive stand in the manifest."""
    with zipfile.ZipFile(npz) as archive:
        members = {name: archive.read(name) for name in archive.namelist() if name not in ("smoothing.npy", "soft.npy")}
    have = {k: v for k, v in tree(folder).items() if k.endswith(".npy") and k not in extra}
    different = sorted(k for k in have.keys() | members.keys() if have.get(k) != members.get(k))
    check(not different, f"{folder} and {npz}: {different} differ")
    manifest = json.loads((pathlib.Path(folder) / "manifest.json").read_text())
    check(manifest["complete"] and manifest["devices"], f"{folder} is not complete")
    check(set(manifest["arrays"]) == {k[:-4] for k in tree(folder) if k.endswith(".npy")}, f"{folder}: arrays of the manifest")


def make_inputs(poses):
    for name, x in (("cube", 0.5), ("slab", 2.0)):
        lines = [f"v {x if i % 2 else -x} {x if i // 2 % 2 else -x} {0.5 if i > 3 else -0.5}" for i in range(8)]
        lines += ["f 1 3 4 2", "f 5 6 8 7", "f 1 2 6 5", "f 3 7 8 4", "f 1 5 7 3", "f 2 4 8 6"]
        pathlib.Path(name + ".obj").write_text("\n".join(lines) + "\n")
        pathlib.Path(name + ".body.json").write_text(CUBE.replace("cube", name) % {"x": x})
    rng = random.Random(1)
    rows = [0.0] * (12 * poses)
    for i in range(poses):
        rows[12 * i + 6 : 12 * i + 12] = [rng.uniform(-1, 1), rng.uniform(-1, 1), rng.uniform(0.9, 1.1), *(rng.gauss(0, 0.1) for _ in range(3))]
    rows[12 * 7 + 6] = float("nan")
    write_npy("p.npy", (poses, 12), rows)
    write_npy("q.npy", (poses, 12), [x - 0.5 * (k % 12 == 8) for k, x in enumerate(rows)])
    write_arrays("t.npz", tangent1=((6,), [1, 0, 0, 0, 0, 0]), tangent2=((6,), [0, 0.5, 1, 0, 0, 0.25]))
    write_arrays("along.npz", tangent2=((6,), [0, 0, 1, 0, 0, 0]), b_vertices=((8, 3), [0.01 * i for i in range(24)]))
    return rows


def write_arrays(path, **arrays):
    with zipfile.ZipFile(path, "w") as archive:
        for name, (shape, numbers) in arrays.items():
            write_npy("array.npy", shape, numbers)
            archive.write("array.npy", name + ".npy")


def add_broken(like, path):
    """The arrays of a file, and one behind them that cannot be unpacked."""
    shutil.copy(like, path)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.write("array.npy", "broken.npy")
        end = archive.start_dir  # where the central directory begins, behind the last array
    data = bytearray(pathlib.Path(path).read_bytes())
    data[end - 40] ^= 255
    pathlib.Path(path).write_bytes(data)


GIVEN = ["cube.body.json", "slab.body.json", "--device", DEVICE]
ON = [*GIVEN, "--poses", "p.npy", "-q"]
KINDS = {"gradient": ["gradient", *ON, "--reduce", "energy"],
         "hessian": ["gradient", *ON, "--reduce", "soft-minimum", "--full-hessian", "2"],
         "dense": ["contacts", *ON],
         "compact": ["contacts", *ON, "--compact", "0.1"],
         "jacobian": ["jacobian", *ON],
         "jvp": ["jvp", *ON, "--tangents", "t.npz"],
         "shape": ["jvp", *ON, "--tangents", "along.npz", "--by", "shape"],
         "closest": ["closest", *ON, "--as", "polyhedra", "--jacobian", "gaussian", "--samples", "4"],
         "ccd": ["ccd", *GIVEN, "--from", "p.npy", "--to", "q.npy", "-q", "--gradient"]}
NOT_FINITE = "poses that are not finite.*: 1 of 100; the first one has index 7"
SAYS = {"closest": "poses whose normal is not determined by curvature: [0-9]+ of 100; the first one has index 3"}


def answers(poses):
    """The same as one file has, however the folder was cut, and whoever came first."""
    for name, words in KINDS.items():
        if name in ("closest", "ccd") and DEVICE != "host":
            continue
        extra = ["compact_count.npy"] if name in ("compact", "jacobian") else []
        run(0, *words, "-o", f"{name}.npz", says=SAYS.get(name, NOT_FINITE))
        run(0, *words, "-o", f"{name}/", "--block", 41, "--yes", says=SAYS.get(name, NOT_FINITE))
        same_as_npz(name, f"{name}.npz", extra)
        parts = [start(*words, "-o", f"{name}-parts/", "--shard", f"{i}/3", "--block", 20, "--yes") for i in (2, 0, 1)]
        for part in parts:
            check(part.wait() == 0, part.stderr.read())
            part.communicate()
        run(0, "merge", f"{name}-parts", "-q")
        same_tree(name, f"{name}-parts", "three parts at once")
    entries = array.array("I", (pathlib.Path("compact") / "compact_count.npy").read_bytes()[-4 * poses :])
    pose = (pathlib.Path("compact") / "compact_pose.npy").read_bytes()
    pose = array.array("I", pose[pose.index(b"\n") + 1 :])
    check(list(entries) == [pose.count(i) for i in range(poses)] and sum(entries) > 0, "counts of entries")


def beside_the_poses(rows, poses):
    """What is read beside the poses by ranges: cotangents, tangents of each pose, which shapes, poses at time 1."""
    rng = random.Random(3)
    some = {"d_bar": ((poses, 64), [rng.gauss(0, 1) for _ in range(64 * poses)]),
            "n_bar": ((poses, 64, 3), [rng.gauss(0, 1) for _ in range(192 * poses)])}
    write_arrays("c.npz", **some)
    write_arrays("short.npz", d_bar=((5, 64), some["d_bar"][1][: 5 * 64]))
    write_arrays("nan.npz", d_bar=((poses, 64), [float("nan") if i == 64 * 60 + 1 else 0.0 for i in range(64 * poses)]))
    write_arrays("each.npz", tangent2=((poses, 6), [rng.gauss(0, 1) for _ in range(6 * poses)]))
    pathlib.Path("shapes.json").write_text('[{"kind": "sphere", "numbers": [0.5]}, {"kind": "box", "numbers": [[0.5, 0.5, 0.5]]},'
                                           ' {"kind": "sphere", "numbers": [0.1]}]')
    write_npy("one.npy", (poses,), [i % 3 for i in range(poses)], "I")
    write_npy("two.npy", (poses,), [i % 2 + 1 for i in range(poses)], "I")
    for body in 1, 2:
        write_npy(f"s{body}.npy", (poses, 6), [x for i in range(poses) for x in rows[12 * i + 6 * body - 6 : 12 * i + 6 * body]])
    for path, how in (("shapes.npz", zipfile.ZIP_STORED), ("small.npz", zipfile.ZIP_DEFLATED)):
        with zipfile.ZipFile(path, "w", how) as archive:
            for name in ("s1.npy", "s2.npy", "one.npy", "two.npy"):
                archive.write(name)
    shapes = ["closest", "--shapes", "shapes.json", "--device", DEVICE, "-q", "--poses"]
    for name, words in {"vjp": ["gradient", *ON, "--cotangents", "c.npz"],
                        "product": ["gradient", *ON, "--reduce", "energy", "--hessian", "each.npz"],
                        "of-each": ["jvp", *ON, "--tangents", "each.npz"],
                        "of-shapes": [*shapes, "shapes.npz"], "unpacked": [*shapes, "small.npz"]}.items():
        run(0, *words, "-o", f"{name}.npz", says=NOT_FINITE)
        for part in (1, 0):
            run(0, *words, "-o", f"{name}/", "--block", 41, "--yes", "--shard", f"{part}/2", says="^$" if part else "not finite")
        run(0, "merge", name, "-q")
        same_as_npz(name, f"{name}.npz")
    same_tree_but("of-shapes", "unpacked", "a compressed file of shapes")
    for name, like, words in (("vjp", "c.npz", ["gradient", *ON, "--cotangents"]),
                              ("product", "each.npz", ["gradient", *ON, "--reduce", "energy", "--hessian"]),
                              ("of-each", "each.npz", ["jvp", *ON, "--tangents"]),
                              ("shape", "along.npz", ["jvp", *ON, "--by", "shape", "--tangents"])):
        add_broken(like, "broken.npz")
        run(0, *words, "broken.npz", "-o", f"{name}-broken/", "--yes", says=NOT_FINITE)
        same_tree_but(name, f"{name}-broken", "beside an array that nobody wants, and that cannot be read")
    vjp = ["gradient", *ON, "-o", "w/", "--block", 41, "--cotangents"]
    run(2, *vjp, "short.npz", says=r"short.npz: array 'd_bar': has shape \(5, 64\), expected \(100, 64\): 100 poses of 64 contacts")
    run(2, *vjp, "each.npz", says="each.npz: contains none of p_bar")
    check(not os.path.exists("w"), "a folder of what was refused")
    run(2, *vjp, "nan.npz", says=r"nan.npz: array 'd_bar': number 3841 [(]0-based[)] is nan; it must be finite")
    run(2, *vjp, "c.npz", "--resume", says="w/: was started with another file of cotangents")
    write_npy("two.npy", (poses,), [3 * (i == 60) for i in range(poses)], "I")
    with zipfile.ZipFile("wrong.npz", "w") as archive:
        for name in ("s1.npy", "s2.npy", "one.npy", "two.npy"):
            archive.write(name)
    run(2, *shapes, "wrong.npz", "-o", "w2/", "--block", 41, says="wrong.npz: array 'two': row 60: there is no shape 3 [(]both 0-based[)]; ")
    run(2, *shapes, "p.npy", "-o", "w3/", says="p.npy: contains no arrays one and two, which name the shapes of each pose; they are needed because ")
    write_npy("few.npy", (9, 12), rows[: 9 * 12])
    run(2, "ccd", *GIVEN, "--from", "p.npy", "--to", "few.npy", "-o", "w3/", says="few.npy: contains 9 poses, but p.npy contains 100")
    run(0, *KINDS["ccd"], "-o", "c2/", "--shard", "0/9", says="not finite")
    q = pathlib.Path("q.npy").read_bytes()
    pathlib.Path("q.npy").write_bytes(q[:-1] + b"\x01")
    run(2, *KINDS["ccd"], "-o", "c2/", "--shard", "1/9", says="c2/: was started with another file of poses at time 1")
    pathlib.Path("q.npy").write_bytes(q)
    run(2, *KINDS["closest"], "--seed", 2, "-o", "closest/", "--resume", says="closest/: was started with another set of options")


def pairs_of_bodies(rows, poses):
    pathlib.Path("pairs.csv").write_text("cube.body.json, slab.body.json\nslab.body.json, slab.body.json\n")
    for body in 1, 2:
        write_npy(f"s{body}.npy", (poses, 6), [x for i in range(poses) for x in rows[12 * i + 6 * body - 6 : 12 * i + 6 * body]])
    write_npy("pair.npy", (poses,), [i % 2 for i in range(poses)], "I")
    with zipfile.ZipFile("p.npz", "w") as archive:
        for name in ("s1.npy", "s2.npy", "pair.npy"):
            archive.write(name)
    for name, more in (("pairs", []), ("pairs-compact", ["--compact", "0.1"])):
        words = ["contacts", "--pairs", "pairs.csv", "--poses", "p.npz", "--device", DEVICE, "-q", *more]
        run(0, *words, "-o", f"{name}.npz", says="not finite")
        run(0, *words, "-o", f"{name}/", "--block", 51, "--yes", says="not finite")
        same_as_npz(name, f"{name}.npz", ["compact_count.npy"])
    write_npy("pair.npy", (poses,), [2 * (i == 60) for i in range(poses)], "I")
    with zipfile.ZipFile("wrong.npz", "w") as archive:
        for name in ("s1.npy", "s2.npy", "pair.npy"):
            archive.write(name)
    run(2, "contacts", "--pairs", "pairs.csv", "--poses", "wrong.npz", "--device", DEVICE, "-q", "-o", "wrong/", "--block", 51,
        "--yes", says="wrong.npz: array 'pair', row 60: there is no pair 2")
    run(2, "contacts", "--pairs", "pairs.csv", "--poses", "p.npy", "--device", DEVICE, "-q", "-o", "w2/", says=": does not name the pair of each pose: add an array `pair` or a last column `pair`")
    write_npy("none.npy", (0, 12), [])
    run(0, "contacts", *GIVEN, "--poses", "none.npy", "-o", "none/", "--compact", 0.1, "-q", says="contains no poses")
    check(json.loads(pathlib.Path("none/manifest.json").read_text())["complete"], "a folder of no poses")


def write_scene():
    pathlib.Path("s.scene.json").write_text("""{"timestep": 0.01, "links": [{"name": "floor", "bodies": [{"plane": [2, 2]}]},
      {"name": "box", "joint": {"type": "free"}, "density": 500, "bodies": [{"box": [0.15, 0.1, 0.1]}]},
      {"name": "cart", "joint": {"type": "slide", "axis": [1, 0, 0]}, "mass": 2, "inertia": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}],
      "actuators": [{"kind": "motor", "joint": "cart"}], "pairs": [{"a": "box", "b": "floor"}]}""")


def parameters():
    """What is said of parameters: once, and of worlds of all blocks by their number."""
    scene = json.loads(pathlib.Path("s.scene.json").read_text())
    scene["contact_model"] = "spring"
    pathlib.Path("spring.scene.json").write_text(json.dumps(scene))
    bad, start_q = [2e3, 0.5, 0.1, 0.1, 1e-3, 0.0], ((5, 8), [0, 0, 0.3, 1, 0, 0, 0, 0] * 5)
    write_arrays("sprung.npz", q=start_q, friction=((5, 1), [0.5] * 5), springs=((5, 1, 6), [2e3, 0.5, 0.1, 0.1, 1e-3, 1e-3] * 3 + bad * 2))
    write_arrays("scaled.npz", q=start_q, stiffness=((5, 1), [1, 0, 1, 1, -1]), friction=((5, 1), [0, -1, 0, 0, 0]))
    write_arrays("soft.npz", q=start_q, stiffness=((5, 1), [1, -1, 1, 1, -1]), friction=((5, 1), [0, 0, 0, 0, -1]))
    says = {("spring", "sprung"): ["sprung.npz: array 'friction' is ignored, because 'springs' contains the mu of every pair",
                                   "worlds whose array 'springs' has numbers that are not above 0 \\(mu: below 0\\): 2 of 5; the first one has "
                                   "index 3. They stay at their start."],
            ("spring", "scaled"): ["worlds whose array 'friction' has negative numbers: 1 of 5; the first one has index 1. They stay at their start.",
                                   "worlds whose array 'stiffness' has numbers that are not above 0: 2 of 5; the first one has index 1. They stay "
                                   "at their start."],
            ("s", "soft"): ["worlds whose array 'friction' has negative numbers: 1 of 5; the first one has index 4. These count as 1e-5.",
                            "worlds whose array 'stiffness' has negative numbers: 2 of 5; the first one has index 1. These count as 1e-6."]}
    for (scene, states), texts in says.items():
        process = start("simulate", f"{scene}.scene.json", "--states", f"{states}.npz", "--steps", 2, "--device", DEVICE, "-o", f"{states}/",
                        "--block", 2)
        err = process.communicate()[1]
        check(process.returncode == 0, err)
        for text in texts:
            said = re.findall(f"^abut: warning: {text}$", err, re.MULTILINE)
            check(len(said) == 1, f"said {len(said)} times: {text}: {err}")


def worlds():
    """States of worlds, which lie within each kept state, from states and controls that are read by ranges."""
    count, rng = 10, random.Random(4)
    write_scene()
    q = [x for _ in range(2 * count) for x in (rng.gauss(0, 1), 0, rng.uniform(0.09, 0.2), 1, rng.gauss(0, 0.1), 0, 0, 0)]
    q[8 * (count + 3)] = float("nan")
    states = {"q": ((2, count, 8), q), "v": ((2, count, 7), [rng.gauss(0, 1) for _ in range(14 * count)]),
              "friction": ((count, 1), [rng.uniform(0.2, 1) for _ in range(count)])}
    write_arrays("states.npz", **states)
    write_arrays("u.npz", u=((12, count, 1), [rng.gauss(0, 5) for _ in range(12 * count)]))
    words = ["simulate", "s.scene.json", "--states", "states.npz", "--controls", "u.npz", "--record", 5, "--device", DEVICE, "-q"]
    run(0, *words, "-o", "worlds.npz", says="1 of 10 worlds \\(3\\) has numbers that are not finite")
    for part in (1, 0):
        run(0, *words, "-o", "worlds/", "--shard", f"{part}/2", "--block", 3, "--yes",
            says="^$" if part else "worlds that have numbers that are not finite.*: 1 of 5; the first one has index 3. status_step contains the steps.$")
    check(run(0, "merge", "worlds") == "worlds/: 10 worlds, complete\n", "what merge says of worlds")
    same_as_npz("worlds", "worlds.npz")
    alike = [w for w in words if w not in ("--states", "states.npz", "--controls", "u.npz")] + ["--steps", 7, "--worlds", 5]
    run(0, *alike, "-o", "alike.npz", says="^$")
    run(0, *alike, "-o", "alike/", "--block", 2, says="^$")
    same_as_npz("alike", "alike.npz")
    run(2, *alike, "--contacts", "-o", "w4/", says="a folder of results can contain only states: --contacts needs an .npz")
    write_arrays("short.npz", u=((12, 4, 1), [0.0] * 48))
    run(2, *words[:5], "short.npz", *words[6:], "-o", "w4/", says="short.npz: array 'u': has shape \\(12, 4, 1\\), expected \\(12, 10, 1\\)")
    check(not os.path.exists("w4"), "a folder of what was refused")
    run(0, *words, "-o", "w5/", "--shard", "0/9", says="^$")
    # Of as many kept states, so that nothing but the options tells them apart.
    run(0, *alike, "-o", "w8/", "--shard", "0/9", says="^$")
    for more in (["--steps", 6], ["--record", 6]):
        other = [*alike[: alike.index(more[0])], *more, *alike[alike.index(more[0]) + 2 :]]
        run(2, *other, "-o", "w8/", "--shard", "1/9", says=f"w8/: was started with another set of options: .*\"{more[0][2:]}\":\"{more[1]}\"")
    run(0, *alike, "-o", "w8/", "--shard", "1/9", says="^$")
    write_arrays("states.npz", **{**states, "v": ((2, count, 7), [0.0] * 14 * count)})
    run(2, *words, "-o", "w5/", "--shard", "1/9", says="w5/: was started with another file of poses or states")
    write_arrays("cs.npz", q=((count, 7), [rng.gauss(0, 1) for _ in range(7 * count)]),
                 record=((3, count, 14), [rng.gauss(0, 1) for _ in range(42 * count)]))
    gradients = ["rollout-gradient", *words[1:], "--cotangents", "cs.npz"]
    run(0, *gradients, "-o", "rollout.npz", says="1 of 10 worlds")
    for part in (0, 1):
        run(0, *gradients, "-o", "rollout/", "--shard", f"{part}/2", "--block", 3,
            says="^$" if part else "1 of 5; the first one has index 3. The gradients of stopped worlds are 0.$")
    run(0, "merge", "rollout", "-q")
    same_as_npz("rollout", "rollout.npz")
    parameters()
    model = ["transition", *words[1:4], "--device", DEVICE, "-q", "--parameters"]
    run(0, *model, "-o", "model.npz", says="1 of 10 worlds")
    run(0, *model, "-o", "model/", "--block", 3, says="1 of 10; the first one has index 3. The matrices of stopped worlds are 0.$")
    same_as_npz("model", "model.npz")
    write_arrays("nan.npz", record=((3, count, 14), [float("nan") if i == 14 * (2 * count + 7) + 5 else 0.0 for i in range(42 * count)]))
    run(2, *gradients[:-1], "nan.npz", "-o", "w7/", "--block", 3, says="nan.npz: array 'record': number 383 [(]0-based[)] is nan; it must be finite")
    write_arrays("few.npz", q=((4, 7), [0.0] * 28))
    run(2, *gradients[:-1], "few.npz", "-o", "w6/", says=r"few.npz: array 'q': has shape \(4, 7\), expected \(10, 7\): 10 worlds of 7 velocities$")
    check(not os.path.exists("w6"), "a folder of what was refused")


def refused(poses):
    words = KINDS["compact"]
    part = [*words, "-o", "r/", "--block", 10, "--yes", "--shard"]
    for wrong in ("3/3", "1", "-1/3", "1/0", "1/3x", "a/3", "0/1000001", ""):
        run(2, *part, wrong, says="` must be I/N, part I [(]0-based[)] of N parts; N is at most")
    run(2, *words, "-o", "r.npz", "--shard", "0/1", says="--shard needs a folder of results: write -o FOLDER/")
    run(2, *words, "-o", "r.npz", "--resume", says="--resume needs a folder")
    run(2, *words, "-o", "out1", "--shard", "0/2", says="--shard needs a folder of results: write -o out1/, with a / at the end")
    run(2, *words, "-o", "out1", "--resume", says="--resume needs a folder of results: write -o out1/")
    run(2, *words, "-o", "cube.obj/", says="^abut: cube.obj/: ")
    run(2, *words, "-o", "r/", "--timeline", "no such/t", says="no such/t.json: the folder no such/: No such file")
    run(2, *words, "-o", "not/there/", says="not/there/: No such file")
    run(2, "gradient", *ON, "--by", "shape", "--reduce", "energy", "-o", "r/", says="a folder of results can contain only gradients by poses; --by shape needs an .npz$")
    run(2, "render", *ON, "-o", "r/", says="` does not name a file")
    run(2, *KINDS["shape"], "--each-pose", "-o", "r/", says="a folder of results needs directions that are the same for all poses: leave out --each-pose")
    check(not os.path.exists("r"), "a folder of what was refused")
    os.mkdir("other")
    pathlib.Path("other/file").write_text("not abut's")
    run(2, *words, "-o", "other/", says="other/: contains other files")
    run(2, "merge", "other", says="other/: has no manifest.json")
    run(2, "merge", "nowhere", says="has no manifest.json")
    run(2, "merge", "cube.obj", says="^abut: cube.obj: is a file; merge needs a folder of results, which -o FOLDER/ writes$")
    check(tree("other") == {"file": b"not abut's"}, "another's folder was changed")

    run(0, *part, "1/3", says="^$")
    run(2, "merge", "r", says="r/: has 3 parts, of which 2 have not been started: 0, 2$")
    for name in ("part-1-of-3", "part-00000-of-99999999999", "part-00002-of-00002", "part--0001-of-00003"):  # none of abut's
        stray = pathlib.Path(f"r/{name}.journal")
        stray.touch()
        run(2, "merge", "r", says="r/: has 3 parts, of which 2 have not been started: 0, 2$")
        stray.unlink()
    run(2, *part, "1/3", says="part-00001-of-00003.journal: was already started; use --resume to compute only the missing rows")
    before = tree("r")
    run(0, *part, "1/3", "--resume", says="^$")
    check(tree("r") == before, "a part that was whole was computed again")
    run(2, *part, "1/4", says="r/: was started in 3 parts, not in 4, according to r/part-00001-of-00003.journal; continue with "
        "--shard I/3, or remove the folder or use another one to choose other parts$")
    run(2, *words, "-o", "r/", "--resume", says="r/: was started in 3 parts, not in 1, according to ")
    run(0, *part, "0/3", says="not finite")
    run(0, *part, "2/3", says="^$")
    # Other inputs, by name.
    for other, says in ((["--compact", "0.2"], "another set of options"), (["--precision", "f64"], "another list of arrays"),
                        (["--smoothing", "s.json"], "another smoothing")):
        if other[0] == "--smoothing":
            shown = start("contacts", *ON, "--show-smoothing", "-o", "shown.npz").communicate()[1]
            given = json.loads(shown[shown.index("{") : shown.rindex("}") + 1])
            pathlib.Path("s.json").write_text(json.dumps({**given, "penetration": 2 * given["penetration"]}))
        run(2, *(words[:-2] if other[0] == "--compact" else words), *other, "-o", "r/", "--shard", "1/3", "--resume",
            says="r/: was started with " + says)
    run(2, *KINDS["gradient"], "-o", "r/", "--shard", "0/3", says="r/: was started with another command: \"contacts\" there, \"gradient\" here")
    write_arrays("other.npz", tangent2=((6,), [0, 0, 2, 0, 0, 0]))
    run(0, *KINDS["jvp"], "-o", "j/", "--shard", "0/9", "--yes", says="not finite")
    run(2, *KINDS["jvp"][:-1], "other.npz", "-o", "j/", "--shard", "1/9", says="j/: was started with another file of tangents")
    run(2, *KINDS["jvp"][:-1], "along.npz", "--by", "shape", "-o", "j/", "--shard", "1/9", says="j/: was started with ")
    obj, npy = pathlib.Path("slab.obj").read_bytes(), pathlib.Path("p.npy").read_bytes()
    pathlib.Path("slab.obj").write_bytes(obj + b"# another mesh\n")
    run(2, *part, "0/3", "--resume", says="r/: was started with another pair of bodies")
    pathlib.Path("slab.obj").write_bytes(obj)
    # Of a body file behind a byte order mark the mesh counts, too.
    pathlib.Path("marked.body.json").write_bytes(b"\xef\xbb\xbf" + pathlib.Path("slab.body.json").read_bytes())
    marked = ["marked.body.json" if word == "slab.body.json" else word for word in part]
    marked[marked.index("r/")] = "marked/"
    run(0, *marked, "0/3", says="not finite")
    pathlib.Path("slab.obj").write_bytes(obj + b"# another mesh\n")
    run(2, *marked, "1/3", says="marked/: was started with another pair of bodies")
    pathlib.Path("slab.obj").write_bytes(obj)
    pathlib.Path("p.npy").write_bytes(npy[:-1] + b"\x01")
    run(2, *part, "0/3", "--resume", says="r/: was started with another file of poses")
    pathlib.Path("p.npy").write_bytes(npy)

    # A folder that another version of abut has made.
    manifest = pathlib.Path("r/manifest.json")
    whole = manifest.read_text()
    manifest.write_text(re.sub('"abut": "[^"]*"', '"abut": "0.0.1"', whole))
    run(2, *part, "0/3", "--resume", says='r/: was started with another version of abut: "0.0.1" there, "[^"]*" here')
    run(2, "merge", "r", says="r/part-00000-of-00003.journal: was written by abut [^,]*, but the folder by abut 0.0.1$")
    manifest.write_text(whole)

    # Journals that are damaged, of another abut or of other inputs, and parts that overlap or are missing.
    journal = pathlib.Path("r/part-00001-of-00003.journal")
    good = journal.read_text()
    version = json.loads(pathlib.Path("r/manifest.json").read_text())["abut"]
    lines = good.splitlines()
    for text, says in (
            (good.replace(f"abut {version}", "abut 0.0.1"), f"was written by abut 0.0.1, but the folder by abut {version}"),
            (re.sub("inputs .*", "inputs 0123456789abcdef", good), "has other inputs"),
            (good.replace("done 43", "gone 43"), "part-00001-of-00003.journal:[0-9]+: is not a line of a journal"),
            ("\n".join(lines[:2] + lines[3:]) + "\n", ": part 1 of 3 is incomplete: poses 33 up to but not including 43 are missing; run the command of this part again with --resume"),
            ("\n".join(lines[:-1]) + "\n", ": part 1 of 3 is incomplete: poses 63 up to but not including 66 are missing; run the command of this part again with --resume"),
            (good.replace("done 33", "done 32"), ": parts 0 and 1 of 3 both contain poses 32 up to but not including 33"),
            ("", ": part 1 of 3 has not finished any block yet")):
        journal.write_text(text)
        before = tree("r")
        run(2, "merge", "r", says=says)
        check({**tree("r"), "abut.lock": b""} == {**before, "abut.lock": b""}, f"merge that was refused ({says}) left something")
    journal.write_text(good)
    lists = sorted(pathlib.Path("r/lists").iterdir())
    kept = lists[3].read_bytes()
    for damage, says in ((lambda: lists[3].unlink(), "No such file"),
                         (lambda: shutil.copy(lists[2], lists[3]), ": array 'compact_pose' with [0-9]+ entries is missing"),
                         (lambda: lists[3].write_bytes(kept[:-30]), "not an .npz archive")):
        damage()
        run(2, "merge", "r", says=says)
        check(not [p for p in tree("r") if "joining" in p or p == "compact_pose.npy"], "a list is half joined")
        lists[3].write_bytes(kept)
    status = pathlib.Path("r/status.npy")
    kept = status.read_bytes()
    status.write_bytes(kept[:-1])
    run(2, "merge", "r", says="r/status.npy: does not match the array in the manifest")
    status.write_bytes(kept)

    # Half a line at the end, as a power failure leaves it, is done again.
    last = good.splitlines()[-1]
    journal.write_text(good[: -len(last) // 2])
    run(2, "merge", "r", says="part 1 of 3 is incomplete")
    run(0, *part, "1/3", "--resume", says="^$")
    check(run(0, "merge", "r/") == "r/: 100 poses, complete\n", "what merge says")
    same_tree("r", "compact", "after all that")
    check(run(0, "merge", "r/") == "r/: 100 poses, complete\n", "merged again")
    os.mkdir("r/lists")
    pathlib.Path("r/lists/mine.npz").write_bytes(b"not abut's")
    run(0, "merge", "r/")
    check(tree("r").get("lists/mine.npz") == b"not abut's", "another's file was removed")
    shutil.rmtree("r/lists")
    run(2, *part, "1/3", says="r/: is already complete; use another folder")
    out = run(0, *[w for w in part if w != "-q"], "1/3", "--resume")
    check(out == "r/: already complete\n", out)
    same_tree("r", "compact", "a complete folder")

    # Two processes at one part: the first is stopped while it computes.
    slow = [*KINDS["dense"], "-o", "two/", "--block", 12, "--yes"]
    first = start(*slow)
    journal = pathlib.Path("two/part-00000-of-00001.journal")
    while first.poll() is None and not (journal.exists() and "done" in journal.read_text()):
        time.sleep(0.002)
    first.send_signal(signal.SIGSTOP)
    if first.poll() is None and journal.exists():
        run(2, *slow, "--resume", says=": another process is already computing part 0 of 1")
        run(2, "merge", "two", says=": another process is already computing part 0 of 1")
    first.send_signal(signal.SIGCONT)
    check(first.wait() == 0, first.stderr.read())
    first.communicate()
    same_tree("two", "dense", "two processes at one part")


def limit(size):
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def disk_full():
    """By the largest file that a process may write: while arrays are made, and among blocks."""
    words = [*KINDS["jacobian"], "-o", "full/", "--block", "20", "--yes"]
    if DEVICE == "host":  # compilers of drivers write files, too
        run(2, *words, preexec_fn=limit(100), says="full/.*: File too large")
        run(2, *words, preexec_fn=limit(6000), says="full/lists/.*File too large")
        journal = pathlib.Path("full/part-00000-of-00001.journal").read_text()
        check("done" not in journal, "a block whose list was not written is in the journal")
        run(0, *words, "--resume", says="not finite")
        same_tree("full", "jacobian", "after a full disk")
    words = [*KINDS["dense"], "-o", "large/"]
    disk = os.statvfs(".")
    write_npy("zero.npy", (1, 12), [0.0] * 12)
    count = disk.f_bavail * disk.f_frsize // 1000
    header = repr({"descr": "|i1", "fortran_order": False, "shape": (count, 12)})
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open("large.npy", "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode())
        file.truncate(10 + len(header) + 12 * count)
    words[words.index("p.npy")] = "large.npy"
    run(2, *words, says=r"large/: the results need .* GB, and .* GB are free there; use --yes to write them, or --compact T")
    check(not os.path.exists("large"), "a folder that was refused is there")
    os.unlink("large.npy")


def far():
    """Poses and results beyond 2^31 bytes: the last hundred of 1e8."""
    count, rows = 100000000, array.array("d")
    rows.frombytes(pathlib.Path("p.npy").read_bytes()[-8 * 12 * 100 :])
    header = repr({"descr": "<f8", "fortran_order": False, "shape": (count, 12)})
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open("far.npy", "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode())
        file.seek(96 * (count - 100), 1)
        file.write(rows.tobytes())
    words = [w if w != "p.npy" else "far.npy" for w in KINDS["gradient"]]
    run(0, *words, "-o", "far/", "--shard", "999999/1000000", "--yes", says="not finite: 1 of 100; the first one has index 99999907")
    with open("far/g2.npy", "rb") as file:
        file.seek(-100 * 24, 2)
        check(file.tell() > 2**31, "the results are not beyond 2^31 bytes")
        have = file.read()
    check(have == pathlib.Path("gradient/g2.npy").read_bytes()[-100 * 24 :] and any(have), "the last poses of 1e8")
    shutil.rmtree("far")
    os.unlink("far.npy")


def launchers():
    """One of several ranks is refused, unless it says which part it is; the script of a job is not."""
    words = [*KINDS["gradient"]]
    in_shell = {"SLURM_STEP_NUM_TASKS": "4", "SLURM_PTY_PORT": "1234"}
    several = [{"OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_RANK": "0"}, {"PMI_SIZE": "16", "PMI_RANK": "3"},
               {"PMIX_RANK": "1"}, {"PMIX_RANK": "0", "SLURM_NTASKS": "4"}, {"PMI_RANK": "0", "SLURM_NTASKS": "4"},
               {"SLURM_STEP_NUM_TASKS": "8", "SLURM_NTASKS": "8", "SLURM_PROCID": "0"}, in_shell]
    alone = [{"OMPI_COMM_WORLD_SIZE": "1"}, {"PMI_SIZE": "1"}, {"PMIX_RANK": "0"}, {"SLURM_NTASKS": "16", "SLURM_PROCID": "0"},
             {"SLURM_NTASKS": "16", "SLURM_JOB_ID": "7", "SLURM_PROCID": "0", "SLURM_NODEID": "0"},
             {"SLURM_STEP_NUM_TASKS": "1", "SLURM_NTASKS": "16", "PMIX_RANK": "0"}, {"PMI_SIZE": ""}, {"OMPI_COMM_WORLD_SIZE": "x"}]
    write_npy("one.npy", (1, 12), [0.0] * 12)
    short = [w if w != "p.npy" else "one.npy" for w in words]
    for i, variables in enumerate(several):
        run(2, *words, "-o", "launched.npz", env=environment(**variables), start_new_session=True,
            says=r"started as one of several ranks.*--shard \$" + ".*srun needs --mpi=pmix" * (not any(k.startswith(("PMI", "OMPI")) for k in variables)))
        check(not os.path.exists("launched.npz"), f"{variables}: something was written")
    run(0, "devices", env=environment(**several[0]))
    run(0, *words, "-o", "launched/", "--shard", "0/2", env=environment(**several[0]), says="not finite")
    run(0, *words, "-o", "launched/", "--shard", "1/2", env=environment(**several[0]), says="^$")
    run(0, "merge", "launched", "-q")
    same_tree("launched", "gradient", "two ranks")
    for variables in alone:
        run(0, *short, "-o", "launched.npz", env=environment(**variables), says="^$")
        os.unlink("launched.npz")
    # A shell that is typed into is one process, and has a terminal, which steps that it starts have not.
    ours, terminal = os.openpty()
    run(0, *short, "-o", "launched.npz", env=environment(**in_shell), says="^$", start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(terminal, termios.TIOCSCTTY, 0))
    os.close(ours)
    os.close(terminal)


def kill_after(seconds, *words):
    """Whether a run was killed before it ended."""
    process = start(*words)
    time.sleep(seconds)
    process.kill()
    process.communicate()
    return process.returncode == -signal.SIGKILL


def killed():
    """Runs, and merges, that are killed at moments by a seed: each goes on, none does a block twice, and the end is the same."""
    words = [*KINDS["compact"], "--block", 25]
    begin = time.monotonic()
    run(0, *words, "-o", "whole/", "--yes", says="not finite")
    whole = time.monotonic() - begin
    rng = random.Random(7)
    part = ["-o", "killed/", "--yes", "--resume", "--shard"]
    kills = sum(kill_after(rng.uniform(0, 0.16 * whole), *words, *part, "0/1") for _ in range(10))
    check(kills >= 8, f"{kills} of 10 runs were killed before they ended")
    run(0, *words, *part, "0/1")
    for _ in range(10):
        kill_after(rng.uniform(0, 0.1), "merge", "killed")
    run(0, "merge", "killed", "-q")
    same_tree("whole", "killed", f"after {kills} kills")


def main():
    global failed
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    try:
        if sys.argv[2:] == ["killed"]:
            make_inputs(1000)
            killed()
        else:
            rows = make_inputs(100)
            answers(100)
            if DEVICE == "host":  # folders are the same on PoCL, whose compiler takes long for further modules
                beside_the_poses(rows, 100)
                worlds()
            pairs_of_bodies(rows, 100)
            refused(100)
            disk_full()
            launchers()
            far()
    finally:
        os.chdir("/")
        shutil.rmtree(folder)
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
