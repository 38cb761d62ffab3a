"""The command as a user meets it, but for derivatives: see support.py."""
import itertools
import json
import math
import os
import pathlib
import re
import resource
import shutil
import signal
import stat
import subprocess

from support import *

NO = f"contacts {POSES} -o no.npz"
NO = f"contacts {POSES} -o no.npz"
NONE = 4294967295
SHARP = f"contacts -q {POSES} -o sharp.npz {ON} --smoothing sharp.json --precision {WIDE}"
# Poses of two pairs by turns, and those of each.
FIRST = ["0,0,0,0,0,0,0,0,0.98,0,0,0", "1,2,3,0,0,0,1,2,3.98,0,0,0"]
SECOND = ["0,0,0,0,0,0,0,0,0.4,0,0,0", "0,0,0,0,0,0,0,0,1.5,0,0,0"]
BOTH_PAIRS = [row for a, b in zip(SECOND, FIRST) for row in (a + ",1", b + ",0")]


def mixed_poses():
    twists("mixed.csv", *BOTH_PAIRS, header=HEADER + ",pair")


def test_help_and_version():
    run(0, "--help", out="^  abut contacts A B --poses P -o OUT.npz", err="")
    for command in "devices field import simulate transition rollout-gradient compare film contacts gradient jvp jacobian closest ccd render".split():
        said = run(0, command, "--help", out=f"^usage: abut {command}")
        # an example
        has(said.out, f"^  abut {command}")
        run(0, f"--help {command}", out=f"^usage: abut {command}")
        run(0, f"help {command}", out=f"^usage: abut {command}")
    for command in ("gradcheck", "bench", "tune"):
        for words in (f"{command} --help", f"--help {command}", f"help {command}"):
            said = run(0, words, dev=True, out=f"^usage: abut-dev {command}")
            # an example
            has(said.out, f"^  abut-dev {command}")
        usage(f"`{command}` is a command of abut-dev; build it with `meson compile -C build abut-dev` (docs/dev/testing.md)",
              command)
        usage(f"`{command}` is a command of abut-dev; build it with `meson compile -C build abut-dev` (docs/dev/testing.md)",
              f"help {command}")
    run(0, "--help", dev=True, out=(r"^abut-dev [0-9]+\.[0-9]+\.[0-9]+: checks and measurements",
        r"^  abut-dev bench \[A B\|SCENE\] "))
    run(0, "--version", dev=True, out=r"^abut-dev [0-9]+\.[0-9]+\.[0-9]+$")
    run(0, "help", out="^  abut contacts A B --poses P -o OUT.npz")
    run(2, "help contacts film")
    run(2, "help unknown", err="unknown command `unknown`")
    run(0, "field --help", out=(r"^  -o, --output NAME\.body\.json$", r"^ +Sets the body file to write\."))
    said = " ".join(run(0, "render --help").out.split())
    for option, default in (("azimuth DEG", "34.4"), ("elevation DEG", "20.1"), ("width PIXELS", "900"), ("height PIXELS", "700"),
                            ("threshold T", "0.05"), ("index I", "0")):
        has(said, f" --{option} [^-]*The default is {re.escape(default)}[.,]")
    has(" ".join(run(0, "jacobian --help").out.split()), r" --threshold T [^-]*The default is 0\.1\.")
    run(0, "contacts -h", out="--compact T")
    run(0, "--version", out=(r"^abut [0-9]+\.[0-9]+\.[0-9]+$", "^MuJoCo imports models: "))
    run(0, "devices --version", out="^abut [0-9]")


def test_devices():
    run(0, "devices", out=("^index  name .* platform .* type .* float64 .* driver$",
        "^[0-9]+ +host +abut +host +yes +1 "), err="")
    run(0, "devices --json", out=('"name": "host"', '"default": true'), is_json=True)


def test_pairs():
    put("pairs.csv", f"""# the second pair has fewer contacts
    cube.body.json, slab.body.json

    {os.getcwd()}/slab.obj,point.obj # from anywhere
    """)
    put("point.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    twists("first.csv", *FIRST)
    twists("second.csv", *SECOND)
    mixed_poses()
    run(0, f"contacts --pairs pairs.csv --poses mixed.csv -o mixed.npz {ON} --smoothing sharp.json",
        "--vertices all",
        out="^4 poses of 2 pairs, up to [0-9]+ contacts per pose, [0-9]+ active in total")
    run(0, f"contacts cube.body.json slab.body.json --poses first.csv -o first.npz {ON}",
        "--smoothing sharp.json -q")
    run(0, f"contacts slab.obj point.obj --poses second.csv -o second.npz {ON} --smoothing",
        "sharp.json -q --vertices all")
    check(list(read("mixed.npz", "pair")) == [1, 0, 1, 0], "pairs of poses")
    wide, narrow = read("first.npz", "layout")[0], read("second.npz", "layout")[0]
    check(list(read("mixed.npz", "count")) == [narrow, wide, narrow, wide], "the counts of mixed.npz")
    check(read("mixed.npz", "layout")[0:12:11] == [wide, narrow], "the layouts of mixed.npz")
    check(wide > narrow, "both pairs are as wide")
    for name in ("d", "activity"):
        first, second = read("first.npz", name), read("second.npz", name)
        rows = read("mixed.npz", name).rows()
        check(rows[1] + rows[3] == first, f"{name} of the first pair differs")
        check(rows[0][:narrow] + rows[2][:narrow] == second, f"{name} of the second pair differs")
        check(not any(rows[0][narrow:]), f"behind {name} of the second pair is no 0")
    run(0, f"contacts --pairs pairs.csv --poses mixed.csv -o listed.npz {ON} --compact 0.1",
        err=r"^abut: no --smoothing; a smoothing was fitted to the size of the bodies, separately for each pair \(--show-smoothing prints it\)$")
    said = run(0, f"contacts --pairs pairs.csv --poses mixed.csv -o listed.npz {ON} --compact 0.1",
               "--show-smoothing -q")
    listed = read("listed.npz", "smoothing")
    check(said.err == listed, "the list of smoothing shown is not the stored one")
    poses = read("listed.npz", "compact_pose")
    check(poses and poses == sorted(poses), "the poses of the list are not in order")
    valid_json(listed)
    run(0, f"contacts cube.body.json slab.body.json --poses mixed.csv -o warned.npz {ON} -q",
        err="^abut: warning: the poses name pairs")
    usage("unexpected argument `cube.obj`: with --pairs, the list already names the bodies",
          "contacts cube.obj --pairs pairs.csv --poses mixed.csv -o no.npz")
    usage("gradient has no option --pairs",
          "gradient --pairs pairs.csv --poses mixed.csv -o no.npz")
    mixed = "--poses mixed.csv -o no.npz -q"
    wrong("poses.csv: does not name the pair of each pose: add an array `pair` or a last column `pair`",
          "contacts --pairs pairs.csv --poses poses.csv -o no.npz -q")
    put("one.csv", "cube.obj,slab.obj\n")
    wrong("mixed.csv:2: there is no pair 1 (0-based); one.csv contains 1",
          f"contacts --pairs one.csv {mixed}")
    write("mixed.npz", s1=full((2, 6), 0.), s2=full((2, 6), 1), pair=full(2, 1))
    wrong("mixed.npz: array 'pair', row 0: there is no pair 1 (both 0-based); one.csv contains 1",
          "contacts --pairs one.csv --poses mixed.npz -o no.npz -q")
    run(0, f"contacts --pairs pairs.csv --poses mixed.npz -o whole.npz {ON} -q")
    all_are("whole.npz", "pair", 1, 2)
    write("mixed.npz", s1=full((2, 6), 0.), s2=full((2, 6), 1), pair=full(2, -1))
    wrong("mixed.npz: array 'pair': row 0 (0-based): -1 is not an index of a pair",
          "contacts --pairs one.csv --poses mixed.npz -o no.npz -q")
    wrong("none.txt: No such file or directory", f"contacts --pairs none.txt {mixed}")
    put("three.csv", "\ncube.obj,slab.obj,cube.obj\n")
    wrong("three.csv:2: has 3 files; a pair needs two", f"contacts --pairs three.csv {mixed}")
    put("missing.csv", "cube.obj,slab.obj\ncube.obj,missing.obj\n")
    wrong("missing.csv:2: missing.obj: No such file or directory",
          f"contacts --pairs missing.csv {mixed}")
    put("strange.csv", "cube.obj,slab.obj\ncube.obj,poses.csv\n")
    run(2, f"contacts --pairs strange.csv {mixed} {ON}", err=r"^abut: strange\.csv:2: poses\.csv: ")
    wrong("pairs.csv: is also an input of this command; use another output file",
          "contacts --pairs pairs.csv --poses mixed.csv -o pairs.csv")
    shutil.copy("slab.obj", "slab.npz")
    put("itself.csv", "slab.npz,slab.obj\n")
    wrong("slab.npz: is also an input of this command; use another output file",
          "contacts --pairs itself.csv --poses mixed.csv -o slab.npz")
    absent("no.npz")


def test_contacts():
    said = run(0, f"contacts {POSES} -o out.npz {ON}",
               out=r"^3 poses, [0-9]+ contacts per pose, [0-9]+ active in total \(activity >= 0\.1\), least distance -0\.0[0-9]* m, [0-9.e-]+ s on .*, f32$",
               line="abut: no --smoothing; a smoothing was fitted to the size of the bodies (--show-smoothing prints it)")
    check(lines_with(said.err, ".") == 1, "more than a line without being asked")
    there("out.npz")
    stored = read("out.npz", "smoothing")
    put("stored.json", stored)
    said = run(0, f"contacts {POSES} -o out.npz {ON} --show-smoothing",
               err=r'^ "penetration": 0\.0',
               line="abut: no --smoothing; a smoothing was fitted to the size of the bodies:")
    check(re.sub(r"(?m)^abut:.*\n", "", said.err) == stored, "printed smoothing is not the stored one")
    said = run(0, f"contacts {POSES} -o out.npz {ON} --show-smoothing --smoothing stored.json -q")
    check(said.err == stored, "the smoothing given is not the one shown")
    run(0, f"contacts {POSES} -o again.npz {ON} --smoothing stored.json", err="")
    same_arrays("out.npz", "again.npz", "p", "d", "n", "activity", "smoothing")

    run(0, f"--quiet contacts {POSES} --output=sharp.npz {ON} --smoothing sharp.json --precision",
        WIDE, out="", err="")
    # 8 vertices of each body, 12 x 12 edge pairs twice
    laid_out("sharp.npz", f"p {TYPE} 3 304 3", f"d {TYPE} 3 304", f"n {TYPE} 3 304 3",
             f"activity {TYPE} 3 304", "status uint8 3", "layout uint32 11", "smoothing text")
    layout_of = [304, 8, 8, 12, 12, 0, 8, 16, 160, 144, 144]
    check(read("sharp.npz", "layout") == layout_of, f"layout of sharp.npz: {read('sharp.npz', 'layout')}")
    all_are("sharp.npz", "status", 0, 3)
    # Corners 5 to 8 of the cube are its upper ones: 0.02 inside the slab, whose way out is downwards.
    d, activity = read("sharp.npz", "d").rows(), read("sharp.npz", "activity").rows()
    near(d[0][4:8], -0.02, 1e-6, "depths")
    near(read("sharp.npz", "n")[12:24], [0, 0, -1] * 4, 1e-5, "normals")
    check(min(activity[0][4:8]) >= 0.999, f"corners are not active: {activity[0][4:8]}")
    # The second pose is 0.5 apart: no vertex is active.
    check(max(activity[1][:16]) <= 1e-9, f"vertices are active: {activity[1][:16]}")
    # The third moves both bodies, so that the points move along.
    p = read("sharp.npz", "p").rows()
    near(p[2][:24], [x + i % 3 + 1 for i, x in enumerate(p[0][:24])], 3e-6, "points")

    # Of every pose: the least distance of its 16 vertices, a soft one at most that, the sum of all
    # activities, and an energy that only contact makes.
    reductions = "distance soft_distance minimum_distance soft_minimum energy activity_sum".split()
    laid_out("sharp.npz", *(f"{name} {TYPE} 3" for name in reductions))
    distance, _, minimum, soft, energy, total = (read("sharp.npz", name) for name in reductions)
    weight = read("sharp.npz", "weight").rows()
    check(distance == [min(x for x, w in zip(*rows) if w >= 0.5) for rows in zip(d, weight)],
          "distance is not the least d of what weighs")
    check(minimum == [min(row[:16]) for row in d], "minimum_distance is not the least d")
    near(total, [sum(row) for row in activity], 1e-4, "activity_sum is not the sum")
    check(len(soft) == 3 and all(a <= b + 1e-6 for a, b in zip(soft, minimum)), "soft_minimum is above the minimum")
    check(energy[0] > 0 and abs(energy[1]) <= 1e-6 and energy[2] > 0, f"energy: {energy}")

    run(0, f"contacts {MESHES} -o mesh.npz {ON} -q --vertices all")
    laid_out("mesh.npz", "d float32 3 64")
    shutil.copy("cube.obj", "a name.obj")
    run(0, f"contacts 'a name.obj' slab.obj --poses poses.csv -o 'an output.npz' {ON} -q")
    there("an output.npz")

    for extra in ("--chunk 1", "--chunk 2", "--lanes 1"):
        run(0, f"contacts {POSES} -o split.npz -q {extra} {ON} --smoothing sharp.json --precision",
            WIDE)
        if extra != "--lanes 1":
            same_arrays("sharp.npz", "split.npz", "d")

    run(0, f"contacts cube.body.json slab.body.json --poses none.csv -o none.npz {ON} -q",
        line="abut: warning: none.csv: contains no poses; the output will be empty")
    laid_out("none.npz", "d float32 0 64", "status uint8 0")
    run(0, f"contacts cube.body.json slab.body.json --poses none.csv -o none.npz {ON} -q --compact",
        "0.1")
    laid_out("none.npz", "compact_p float32 0 3")


def test_poses_that_are_not_finite():
    run(0, f"contacts cube.body.json slab.body.json --poses not-finite.csv -o nan.npz {ON}",
        "--smoothing sharp.json",
        line="abut: warning: poses that are not finite: 2 of 4; the first one has index 1. Their rows are NaN.")
    check(list(read("nan.npz", "status")) == [0, 1, 1, 0], "status of nan.npz")
    d = read("nan.npz", "d").rows()
    check([len(row) for row in d] == [304] * 4 and [[math.isnan(x) for x in row] for row in d] ==
          [[bad] * 304 for bad in (False, True, True, False)], "d of nan.npz")
    run(0, "contacts -q cube.body.json slab.body.json --poses not-finite.csv -o nan.npz --compact",
        f"0.5 {ON} --smoothing sharp.json",
        line="abut: warning: poses that are not finite: 2 of 4; the first one has index 1. They have no contacts in the list.")
    poses = read("nan.npz", "compact_pose")
    check(poses and not {1, 2} & set(poses), "compact_pose of nan.npz")

    quaternions("quaternions.npz")
    run(0, f"contacts cube.body.json slab.body.json --poses quaternions.npz -o q.npz -q {ON}",
        "--smoothing sharp.json",
        line="abut: warning: poses with a quaternion of length 0: 1 of 3; the first one has index 1. Their rows are NaN.")
    check(list(read("q.npz", "status")) == [0, 2, 0], "status of q.npz")
    near(read("q.npz", "d")[4:8], -0.02, 1e-5, "d of q.npz")


def test_compact_lists():
    run(0, f"contacts {POSES} -o list.npz --compact 0.5 {ON} --smoothing sharp.json --precision",
        WIDE, out=r"\(activity >= 0\.5\)")
    arrays = layout("list.npz")
    for name in ("p", "d", "n", "activity"):
        lacks(arrays, f"^{name} ")
    has(arrays, "^compact_feature uint32 [0-9]+ 2$", f"^compact_p {TYPE} [0-9]+ 3$")
    all_are("list.npz", "compact_threshold", 0.5, 1)
    # It holds what the dense arrays say, in their order.
    command(SHARP)
    wanted = [(i // 304, i % 304, x) for i, x in enumerate(read("sharp.npz", "activity")) if x >= 0.5]
    got = zip(*(read("list.npz", f"compact_{name}") for name in ("pose", "slot", "activity")))
    check(wanted and list(got) == wanted, "the list is not the dense arrays")
    check(read("list.npz", "compact_feature")[:8] == [4, NONE, 5, NONE, 6, NONE, 7, NONE], "features")
    # All contacts of 40 poses: more than the first guess.
    forty_poses()
    run(0,
        f"contacts cube.body.json slab.body.json --poses forty.csv -o all.npz --compact 0 {ON} -q")
    laid_out("all.npz", "compact_d float32 2560")


def test_large_calls():
    # Said before there is no memory for them, which a limit sees to; a sanitizer needs more itself.
    if FAILING:
        twists("many.csv", *["0,0,0,0,0,0,0,0,1,0,0,0"] * 500000)
        said = command("contacts cube.body.json slab.body.json --poses many.csv -o no.npz --device",
                       "host -q --smoothing sharp.json", limit=(resource.RLIMIT_AS, 3000000 << 10))
        says(said.err, "abut: warning: 500000 poses with 304 contacts each, including all pairs of 12 and 12 edges, 5.47 GB to write")
        # A ring of many edges, all of which are kept.
        turn = [2 * math.pi * i / 1500 for i in range(1500)]
        faces = ((2 * i + 1, 2 * (i + 1) % 3000 + 1, 2 * (i + 1) % 3000 + 2, 2 * i + 2) for i in range(1500))
        put("ring.obj", "".join(f"v {math.cos(a)} {math.sin(a)} {z}\n" for a in turn for z in (0, 1)) +
            "".join("f {} {} {} {}\n".format(*face) for face in faces))
        changed("cube.body.json", "ring.body.json", (r"cube\.obj", "ring.obj"))
        said = command("contacts ring.body.json ring.body.json --poses poses.csv -o no.npz",
                       "--device host -q --smoothing sharp.json", limit=(resource.RLIMIT_AS,
                       500000 << 10))
        says(said.err, "abut: warning: 3 poses with 40506000 contacts each, including all pairs of 4500 and 4500 edges, 4.37 GB to write")
        absent("no.npz")


def test_render():
    run(0, f"render {POSES} -o out.png --width 64 --height 48 {ON}",
        out="^pose 0 of 3, 64 x 48 pixels, .* s on ")
    is_png(content("out.png"))
    run(0, f"render {POSES} -o other.png --width 64 --height 48 --index 2 --azimuth -30",
        f"--elevation 60 --zoom 0.5 --no-contacts --threshold 0.2 --smoothing sharp.json {ON} -q",
        out="", err="")
    different("out.png", "other.png")
    wrong("poses.csv: pose 3 does not exist (poses 0-2)",
          f"render {POSES} -o no.png --index 3")
    wrong("none.csv: contains no poses",
          "render cube.body.json slab.body.json --poses none.csv -o no.png")
    run(2,
        f"render cube.body.json slab.body.json --poses not-finite.csv -o no.png --index 1 -q {ON}",
        err="^abut: .*finite")
    absent("no.png")
    # Finite, though beyond float: drawn from very far away, not refused.
    run(0, "render cube.body.json slab.body.json --poses not-finite.csv -o far.png --index 3 -q",
        f"--width 32 --height 32 {ON} --smoothing sharp.json")
    there("far.png")

    # Others around the pair: each in its place, by whichever spelling; `same` pictures are equal to the byte.
    def also(name, *words):
        run(0, f"render {POSES} --width 64 --height 48 --smoothing sharp.json {ON} -q -o {name}",
            *words, err="")
    also("alone.png")
    also("one.png --also cube.body.json:0,3,0")
    different("alone.png", "one.png")
    also("other.png --also=cube.body.json:0.0,+3,0e0,2,0,0,0")
    same_bytes("one.png", "other.png")
    also("two.png --also cube.body.json:0,3,0 --also slab.body.json:0,0,-2")
    different("one.png", "two.png")
    also("other.png --also slab.obj:0,0,-2 --also cube.body.json:0,3,0")
    different("two.png", "other.png")  # colours are by their order
    also("at.png --also cube.body.json")
    also("other.png --also cube.body.json:0,0,0")
    same_bytes("at.png", "other.png")
    os.mkdir("a:1,2,3")
    for name in ("cube.body.json", "cube.obj"):
        shutil.copy(name, "a:1,2,3")
    also("other.png --also a:1,2,3/cube.body.json")
    also("other.png --also a:1,2,3/cube.body.json:0,3,0")
    different("at.png", "other.png")
    shutil.rmtree("a:1,2,3")
    run(0, f"render {POSES} -o other.png --width 64 --height 48 --smoothing sharp.json {ON} --also",
        "slab.obj:0,3,0 --cells 16", err=r"^abut: slab\.obj: 6 faces.*; field of 16 cells")
    forms = "a pose is x,y,z or x,y,z,qw,qx,qy,qz"
    render = "render cube.body.json slab.body.json --poses poses.csv -o no.png --also"
    for word, what in (("1,2", "2 numbers"), ("1", "1 number"), ("1,2,3,4", "4 numbers"),
                       ("1,2,3,4,5,6", "6 numbers"), ("1,2,3,4,5,6,7,8", "8 numbers")):
        usage(f"--also: `slab.obj:{word}`: {what} after the last colon; {forms}", render,
              f"slab.obj:{word}")
    usage(f"--also: `slab.obj:1,x,3`: `x` is not a number; {forms}", render, "slab.obj:1,x,3")
    usage(f"--also: `slab.obj:1,2,nan`: `nan` is not a number; {forms}", render, "slab.obj:1,2,nan")
    usage(f"--also: `slab.obj:1,2,1e999`: `1e999` is not a number; {forms}", render,
          "slab.obj:1,2,1e999")
    usage(f"--also: `slab.obj:1,2, 3`: ` 3` is not a number; {forms}", render, "'slab.obj:1,2, 3'")
    usage(f"--also: `slab.obj:`: `` is not a number; {forms}", render, "slab.obj:")
    usage("--also: `slab.obj:1,2,3,0,0,0,0`: the quaternion has length 0", render,
          "slab.obj:1,2,3,0,0,0,0")
    usage("--also: `:1,2,3` does not name a body", render, ":1,2,3")
    usage("--also: the value is empty", render, "''")
    wrong("nowhere.obj: No such file or directory", render, "nowhere.obj:1,2,3")
    wrong("nowhere.obj: No such file or directory", render, "nowhere.obj")
    wrong("folder:x/nowhere.obj: No such file or directory", render, "folder:x/nowhere.obj")
    put("bad.body.json", '{"mesh": 3}')
    run(2, render, f"bad.body.json:0,0,1 -q {ON}", err=r"^abut: bad\.body\.json:?.*")
    absent("no.png")
    usage("contacts has no option --also", NO, "--also cube.body.json")
    shutil.copy("one.png", "kept.png")
    wrong("one.png: is also an input of this command; use another output file",
          f"render {POSES} -o one.png --also one.png:0,0,1")
    same_bytes("one.png", "kept.png")
    usage("--cells works only with bare meshes, and no bare mesh is given", render,
          "cube.body.json:0,0,1 --cells 16")
    check(lines_with(command("render --help").out, "x,y,z,qw,qx,qy,qz") == 1, "what a pose is")


def test_bench():
    bodies = "cube.body.json slab.body.json"
    said = run(0, f"bench --json --batch 1 --what forward {ON} --variant vertices-only", dev=True,
               is_json=True)
    for key in "device precision variant what batch contacts seconds_median seconds_min poses_per_s".split():
        has(said.out, f'"{key}": ')
    has(said.out, '"contacts": 648')
    check("ratio_to_forward" not in said.out or '"ratio_to_forward": 1.0' in said.out,
          "forward is not equal to itself")
    if not USUAL:
        run(0, f"bench --batch 1 --variant one-sided --lanes 1 {ON}", dev=True, out=", 1 lanes$")
        run(0, f"bench {bodies} --batch 1,3 --variant full,vertices-only,one-sided {ON} -q",
            dev=True, out=("^full +forward +1 +64 ", "^vertices-only +forward +3 +16 ",
            "^one-sided +forward +1 +8 "), err="")
        said = run(0, f"bench {bodies} --batch 2,3 --what",
                   "vjp,forward,mean-gradient,jvp,hessian,list,list-vjp,jacobian,full-hessian",
                   f"{ON} -q", dev=True, out="poses/s x forward$")
        for what in "vjp mean-gradient jvp hessian list list-vjp jacobian full-hessian".split():
            has(said.out, rf"^full +{what} +2 +64 .* [0-9]+\.[0-9][0-9]$")
        has(said.out, r"^full +forward +3 +64 .* 1\.00$")
        run(0, f"bench {bodies} --batch 2 --what list --apart 0.5 {ON} -q", dev=True,
            out=("^full +list +2 +64 ", r"^ +[0-9.]+ entries per pose with an activity of at least 0\.001$"))
        said = run(0, f"bench {bodies} --batch 3 --what list,forward {ON} -q --json --poses",
                   "poses.csv --smoothing sharp.json", dev=True, is_json=True)
        check(lines_with(said.out, '"entries_per_pose": ') == 1, "not one number of entries")
        has(said.out, r'"threshold": 0\.001')
        listed = float(re.search(r'"entries_per_pose": ([0-9.]*)', said.out)[1])
        run(0, f"contacts {POSES} -o entries.npz --compact 0.001 {ON} --smoothing sharp.json -q")
        count = len(read("entries.npz", "compact_d"))
        check(count and abs(count - 3 * listed) < 1e-3, f"bench lists {listed} a pose, not {count / 3}")
    usage("--apart: 2000 is not in [-1000, 1000]", "bench --apart 2000", dev=True)
    usage("--apart makes its own poses: leave out --poses", "bench --apart 0 --poses poses.csv",
          dev=True)
    if not USUAL:
        run(0, f"bench {bodies} --batch 2 --what jvp {ON} -q", dev=True,
            out="^full +jvp +2 +64 .* -$")
        said = run(0,
                   f"bench {bodies} --batch 2 --what vjp,forward --json {ON} -q --precision {WIDE}",
                   dev=True, is_json=True)
        check(lines_with(said.out, '"ratio_to_forward"') == 2, "not two ratios")
        said = run(0, f"bench cube.obj slab.obj --json --batch 2 {ON} --poses poses.csv",
                   f"--smoothing sharp.json --precision f32,{WIDE} --vertices all", dev=True,
                   out=(f'"precision": "{WIDE}"', '"contacts": 304'))
        check(lines_with(said.out, '"poses_per_s"') == 2, "not two results")
    wrong("none.csv: contains no poses", "bench --poses none.csv", dev=True)


def test_smoothing_in_part():
    """A file may leave coefficients out: they are fitted. Cones are off without edges on both sides."""
    fitted = json.loads(run(0, f"contacts {POSES} -o fit.npz {ON} --show-smoothing").err.split("\n", 1)[1].rsplit("}", 1)[0] + "}")
    for stated, others in (({"penetration": 0.002}, {}), ({"edge_edge": False}, {name: 0 for name in fitted if name.startswith("cone_")}),
                           ({"edge_contacts": "pairs", "sort": 0.01}, None)):
        pathlib.Path("some.json").write_text(json.dumps(stated))
        said = run(0, f"contacts {POSES} -o some.npz {ON} --smoothing some.json --show-smoothing").err
        got = json.loads(said[said.index("{"):said.rindex("}") + 1])
        assert {name: got.get(name, "pairs") for name in stated} == stated  # pairs of edges are not written
        if others is not None:
            assert got == {**fitted, **others, **stated}
    pathlib.Path("some.json").write_text('{"penetratio": 1}')
    wrong("some.json:1: penetratio: unknown key", f"contacts {POSES} -o no.npz {ON} --smoothing some.json")


def test_files_of_another_kind():
    pathlib.Path("ball.scene.json").write_text('{"links": []}')
    pathlib.Path("ball.body.json").write_text('{"mesh": "cube.obj"}')
    wrong("ball.body.json:1: this is a body file; expected a scene file, which has \"links\"", f"simulate ball.body.json --steps 1 -o no.npz {ON}")
    for name, text in (("part.stl", "solid part\nendsolid part\n"), ("part.DAE", "<COLLADA/>"), ("part.gltf", "{}")):
        put(name, text)
        wrong(f"{name}: a mesh is no scene; a scene names it as the \"file\" of a body (docs/scenes.md). Meshes are taken by "
              "abut contacts, closest, ccd, view, inspect, decompose and field", f"simulate {name} --steps 1 -o no.npz {ON}")
    wrong("ball.scene.json:1: this is a scene file; expected a body file", f"contacts ball.scene.json cube.body.json --poses poses.csv -o no.npz {ON}")


def test_usage():
    usage("a command is missing: use devices, field, remesh, inspect, decompose, import, simulate, transition, rollout-gradient, compare, film, contacts, suggest, gradient, jvp, jacobian, merge, closest, ccd, render or view",
          "")
    usage("a command is missing: use gradcheck, bench or tune", "", dev=True)
    usage("unknown command `contacts`", "contacts", dev=True)
    usage("unknown command `contact`: did you mean `contacts`?", "contact cube.obj slab.obj")
    usage("unknown command `simulatd`: did you mean `simulate`?", "simulatd cube.obj")
    usage("unknown command `xyz`", "xyz cube.obj slab.obj")
    usage("unknown command `" + 40 * "c" + "`", 40 * "c")
    usage("option --frobnicate is unknown or ambiguous", "contacts --frobnicate")
    usage("option --p is unknown or ambiguous", "contacts --p")
    usage("unknown option -x", "contacts -x")
    usage("--poses is given twice", "contacts --poses poses.csv --poses poses.csv")
    usage("--output is given twice", "contacts -o a.npz cube.obj --output=b.npz")
    usage("contacts has no option --batch", "contacts --batch 3")
    usage("devices has no option --poses", "devices --poses poses.csv")
    usage("--quiet takes no value", "devices --quiet=yes")
    usage("--poses needs a value", "contacts cube.obj slab.obj --poses")
    usage("-o needs a value", "contacts cube.obj slab.obj -o")
    usage("unexpected argument `here`", "devices here")
    usage("contacts needs two bodies, A and B", "contacts cube.obj --poses poses.csv -o no.npz")
    usage("contacts needs --poses P", "contacts cube.obj slab.obj -o no.npz")
    usage("render needs --poses P", "render cube.obj slab.obj -o no.png")
    usage("render needs two bodies, A and B", "render")
    usage("bench needs two bodies, A and B, a scene, or none", "bench cube.obj", dev=True)
    usage("contacts needs -o OUT.npz", f"contacts {POSES}")
    usage("render needs -o OUT.png", f"render {POSES}")
    usage("unexpected argument `more`", f"contacts {POSES} more -o no.npz")
    usage("--precision: `f16` must be f32 or f64", NO, "--precision f16")
    usage("--compact: `0.1x` is not a number", NO, "--compact 0.1x")
    usage("--compact: `` is not a number", NO, "--compact ''")
    usage("--compact: `nan` is not a number", NO, "--compact nan")
    usage("--compact: `0x1` is not a number", NO, "--compact 0x1")
    usage("--compact: 1.5 is not in [0, 1]", NO, "--compact 1.5")
    usage("--chunk: `1 ` is not a whole number of at least 0", NO, "--chunk '1 '")
    usage("--chunk: 0 is not in [1, 4294967295]", NO, "--chunk 0")
    usage("--index: `-1` is not a whole number of at least 0", f"render {POSES} -o no.png --index -1")
    usage("--index: `99999999999999999999` is not a whole number of at least 0",
          f"render {POSES} -o no.png --index 99999999999999999999")
    usage("--width: 0 is not in [1, 16384]", f"render {POSES} -o no.png --width 0")
    usage("--zoom: 0 is not in [0.001, 1000]", f"render {POSES} -o no.png --zoom 0")
    usage("--azimuth: `north` is not a number", f"render {POSES} -o no.png --azimuth north")
    usage("--what: unknown value `jacobi`; possible values: forward, mean-gradient, vjp, jvp, hessian, list, list-vjp, jacobian, full-hessian",
          "bench --what jacobi", dev=True)
    usage("--variant: unknown value `ful`; possible values: full, vertices-only, one-sided",
          "bench --variant ful", dev=True)
    usage("--precision: unknown value `f16`; possible values: f32, f64", "bench --precision f32,f16",
          dev=True)
    usage("--batch: `` is not a whole number of at least 0", "bench --batch 1,,2", dev=True)
    usage("--batch: `1.5` is not a whole number of at least 0", "bench --batch 1.5", dev=True)
    usage("--batch: 0 is not in [1, 2147483648]", "bench --batch 0", dev=True)


def test_input():
    wrong(f"no.obj: {MISSING}", "contacts no.obj slab.obj --poses poses.csv -o no.npz")
    wrong(f"no.csv: {MISSING}", "contacts cube.obj slab.obj --poses no.csv -o no.npz")
    wrong(f"no.json: {MISSING}", NO, "--smoothing no.json")
    run(2, NO, "--device 'no such device'",
        err='^abut: no device is called "no such device"; `abut devices` lists them$')
    run(2, NO, "--device 4294967295")
    if WIDE == "f32":
        run(2, NO, f"{ON} --precision f64", err="^abut: .* has no float64$")
    run(2, NO, f"--lanes 3 {ON}", err="^abut: .*lane")
    put("bad.body.json", '{"name": "bad",\n "mesh": "cube.obj",\n "polyhedra": 3}\n')
    run(2, f"contacts bad.body.json slab.obj --poses poses.csv -o no.npz {ON}",
        err=r"^abut: bad\.body\.json:3: .")
    put("bad.obj", "v 0 0 0\nv 1 0 0\nv 0 1 x\nf 1 2 3\n")
    run(2, f"contacts cube.obj bad.obj --poses poses.csv -o no.npz {ON}",
        err=r"^abut: bad\.obj:3: .")
    put("bad.csv", f"{HEADER}\n1,2,3\n")
    run(2, "contacts cube.obj slab.obj --poses bad.csv -o no.npz", err=r"^abut: bad\.csv:2: .")
    changed("sharp.json", "bad.json", ('"ridge"', '"rigid"'))
    run(2, NO, f"--smoothing bad.json {ON}", err=r"^abut: bad\.json:[0-9]+: .")
    shutil.copy("poses.csv", "poses.txt")
    run(2, "contacts cube.obj slab.obj --poses poses.txt -o no.npz", err=r"^abut: poses\.txt: .")
    absent("no.npz")


def test_output():
    os.mkdir("full")
    run(2, f"contacts {POSES} -o nowhere/out.npz",
        line=f"abut: nowhere/out.npz: the folder nowhere/: {MISSING}")
    run(2, f"render {POSES} -o nowhere/out.png")
    run(1, f"contacts {POSES} -o full", line="abut: full: exists and is not a regular file")
    run(1, f"render {POSES} -o full/")
    run(2, f"contacts {POSES} -o ''")
    # A file size of 0 stands for a full disk.
    for words in ("contacts -o full/out.npz", "render --width 64 --height 48 -o full/out.png"):
        run(1, f"-q {words} {POSES} --device host", limit=FULL_DISK,
            err=r"^abut: full/out\.[npzg]+: .")
    absent("full/out.npz", "full/out.png")
    no_leftovers("full")
    put("kept.npz", "before\n")
    command(f"-q contacts {POSES} -o kept.npz --device host", limit=FULL_DISK)
    check(text_of("kept.npz") == "before\n", "a failed write touched the old file")
    # The mesh that a body file names is an input, too.
    shutil.copy("cube.obj", "before.obj")
    wrong("cube.obj: would be overwritten, but cube.body.json, an input of this command, uses it as its mesh; use another output file",
          f"contacts cube.body.json slab.obj --poses poses.csv -o cube.obj {ON}")
    changed("cube.body.json", "named.body.json", (r"cube\.obj", "cube.npz"))
    shutil.copy("cube.obj", "cube.npz")
    mixed_poses()
    put("named.csv", "named.body.json,slab.obj\n")
    wrong("cube.npz: would be overwritten, but named.body.json, an input of this command, uses it as its mesh; use another output file",
          f"contacts --pairs named.csv --poses mixed.csv -o cube.npz {ON}")
    same_bytes("cube.obj", "before.obj")
    # An output that is an input, also by another name.
    shutil.copy("poses.csv", "input.csv")
    os.symlink("input.csv", "linked.csv")
    for name in ("input.csv", "./input.csv", "linked.csv"):
        wrong(f"{name}: is also an input of this command; use another output file",
              f"contacts cube.obj slab.obj --poses input.csv -o {name} {ON}")
        same_bytes("input.csv", "poses.csv")
    # What a command writes ends as it should, which is found before anything else is done.
    usage("-o out.npy: the output of contacts must end with .npz", f"contacts {POSES} -o out.npy")
    usage("-o out: the output of jvp must end with .npz", f"jvp {POSES} --tangents poses.csv -o out")
    usage("-o .npz: the output of gradient must end with .npz",
          f"gradient {POSES} --mean-distance -o .npz")
    usage("-o out.npz: the output of render must end with .png", f"render {POSES} -o out.npz")
    usage("-o out.png: the output of jacobian must end with .npz", f"jacobian {POSES} -o out.png")
    usage("-o out.npz: the output of tune must end with .json", "tune -o out.npz", dev=True)
    usage("-o -: give the name of a file; for standard output, use /dev/stdout", f"contacts {POSES} -o -")
    usage("-o -: give the name of a file; for standard output, use /dev/stdout", f"render {POSES} -o=-")
    usage("-o -: give the name of a file", "tune -o -", dev=True)
    usage("-o /dev/null: the output of tune must end with .json", "tune -o /dev/null", dev=True)
    absent("out.npy", "out", "-")
    # As --output=FILE is; of two words the second is the whole name.
    run(0, f"contacts {POSES} -q -o=equals.npz --device host")
    there("equals.npz")
    run(0, f"contacts {POSES} -qo=grouped.npz --device host")
    there("grouped.npz")
    run(0, f"contacts {POSES} -q -o =named.npz --device host")
    there("=named.npz")
    # Devices and pipes are written in place, and nothing else goes to standard output then.
    run(0, f"contacts {POSES} -o /dev/null --device host", out="^3 poses, ")
    run(0, f"render {POSES} -o /dev/null --width 64 --height 48 --device host")
    check(stat.S_ISCHR(os.stat("/dev/null").st_mode), "/dev/null is no device any more")
    run(0, f"contacts {POSES} -o piped.npz --device host")
    os.mkfifo("pipe")
    with subprocess.Popen(["cat", "pipe"], stdout=subprocess.PIPE) as reader:
        command(f"contacts {POSES} -o pipe -q --device host")
        check(reader.communicate()[0] == content("piped.npz"), "through a pipe come other bytes")
    for quiet in ("", "-q"):
        check(command(f"contacts {POSES} -o /dev/stdout --device host {quiet}").stdout ==
              content("piped.npz"), "standard output gets other bytes")


def test_signals():
    # While an output is written, with files that have no name meanwhile and with others.
    if FAILING:
        signals = (15,) if USUAL else (1, 2, 15)
        for number in signals:  # one that is ignored, as below nohup, is so in children, too
            signal.signal(number, signal.SIG_DFL)
        os.mkdir("ended")
        for named, number in itertools.product(({}, {"ABUT_TEST_NAMED": "1"}), signals):
            env = {**named, "ABUT_TEST_SIGNAL": str(number), "LD_PRELOAD": FAILING}
            for words, ending in (("contacts", "npz"), ("render --width 64 --height 48", "png")):
                put(f"ended/old.{ending}", "before\n")
                for name in ("new", "old"):
                    run(128 + number, words, f"{POSES} -q --device host -o ended/{name}.{ending}",
                        env=env)
                absent(f"ended/new.{ending}")
                check(text_of(f"ended/old.{ending}") == "before\n", f"signal {number}: old.{ending}")
                no_leftovers("ended")
        check(sorted(os.listdir("ended")) == ["old.npz", "old.png"], f"ended: {os.listdir('ended')}")
        # What ignores a signal goes on ignoring it.
        command(f"contacts {POSES} -q --device host -o ended/kept.npz", ignore=signal.SIGHUP,
                env={"ABUT_TEST_SIGNAL": "1", "LD_PRELOAD": FAILING})
        there("ended/kept.npz")

    if os.path.exists("/dev/full"):
        run(1, f"contacts {POSES} -o /dev/full --device host -q",
            err="^abut: /dev/full: .*No space left")
        with open("/dev/full", "wb") as full_device:
            run(1, "devices", stdout=full_device, err="^abut: standard output: ")


if __name__ == "__main__":
    main()
