"""Settings of speed as a user meets them: see support.py."""
import json
import os
import re
import shutil

from support import *


def setup():
    os.environ.pop("XDG_CONFIG_HOME", None)


def test_measuring():
    said = run(0, f"tune {POSES} {ON} --seconds 5 -o tuned.json", dev=True,
               out=(r"^lanes group items +scratch answers ready \[s\] +forward/s +gradient/s +ratio$",
               r"^ +[0-9]+ +[0-9]+ +[0-9]+ +[0-9.]+ MiB right .* 1\.00 as it is$",
               r"^tuned\.json: [0-9]+ lanes, work-groups of [0-9]+ and [0-9]+, [0-9.]+ MiB of scratch$",
               r"^To use it, set the environment variable ABUT_TUNING to its path\.$"), err="")
    lacks(said.out, "wrong")
    valid_json(text_of("tuned.json"))
    has(text_of("tuned.json"), '"precision": "f32"')
    said = run(0, "devices")
    lacks(said.out, "file")
    os.environ["ABUT_TUNING"] = "tuned.json"
    said = run(0, "devices", out="^[0-9]+ .* file, table: [^ ].*")
    says(said.out, "Settings from file tuned.json.")
    said = run(0, "devices --json", is_json=True, out=r'"source": "file tuned\.json"')
    for key in ("group", "items", "scratch_bytes"):
        wanted = re.search(rf'(?m)^ *"{key}": ([0-9]*),?$', text_of("tuned.json"))[1]
        lines = said.out.split("\n")
        at = next(i for i, line in enumerate(lines) if "file tuned" in line)
        has("\n".join(lines[max(at - 4, 0):at + 1]), f'"{key}": {wanted},?$')
    run(0, f"contacts {POSES} -o out.npz {ON} -q")
    there("out.npz")

    # Once more into the same file, quietly, and for the other precision.
    run(0, f"tune -q --seconds 1 {ON}", dev=True, out="", err="")
    check(lines_with(text_of("tuned.json"), '"name"') == 1, "not one entry")
    if WIDE == "f64":
        said = run(0, f"tune --seconds 1 {ON} --precision f64", dev=True)
        check(lines_with(text_of("tuned.json"), '"name"') == 2, "not two entries")
        lacks(said.out, "To use it, set the environment variable ABUT_TUNING")

    # Every device that is named, one after the other; a part of one has its settings.
    named = f"--device host {ON}" if DEVICE == "host" or not PARTS else f"{ON}/1 --device host {ON}"
    said = run(0, f"tune {POSES} {named} --seconds 1 -o several.json", dev=True,
               out=r"^host \(abut\), f32: ")
    if DEVICE != "host" and PARTS:
        has(said.out, r"^.* \[1 of [0-9]+ units, part 0\] .*, f32: ")
    several = 1 if DEVICE == "host" else 2
    for count in (lines_with(said.out, " as it is$"), lines_with(text_of("several.json"), '"name"')):
        check(count == several, f"{count} devices, not {several}")
    if DEVICE == "pocl":
        run(0, f"tune {POSES} --device all --seconds 1 -o all.json -q", dev=True)
        there("all.json")
    run(0, f"tune --seconds 1 {ON} --timeout 100 -q -o patient.json", dev=True)
    if DEVICE == "host":  # what follows is about files and words, and the same whatever is measured
        entries_are_kept()


def entries_are_kept():
    """The file is used, and others' entries are kept."""
    name, platform = (json.dumps(json.loads(text_of("tuned.json"))["devices"][0][key]) for key in ("name", "platform"))
    put("own.json", f"""{{"devices": [{{"name": "elsewhere", "platform": "p", "precision": "f64", "lanes": 4, "group": 1,
              "items": 1, "scratch_bytes": 65536}},
             {{"name": {name}, "platform": {platform}, "precision": "f32", "lanes": 4,
              "group": 2, "items": 2, "scratch_bytes": 1048576}}]}}
""")
    os.environ["ABUT_TUNING"] = "own.json"
    run(0, f"bench cube.obj slab.obj --batch 1 {ON} -q", dev=True, out=", f32, 1 lanes$")
    run(0, f"tune -q --seconds 1 {ON}", dev=True)
    has(text_of("own.json"), '"name": "elsewhere"', '"scratch_bytes": 65536')
    check(lines_with(text_of("own.json"), '"name"') == 2, "not two entries")

    # Settings of one module lie beside those of all, without lanes.
    run(0, f"tune --module manifold --seconds 1 {ON}", dev=True, out=r"^own\.json: manifold, with ")
    has(text_of("own.json"), '"module": "manifold"')
    for key, count in (("name", 3), ("lanes", 2)):
        check(lines_with(text_of("own.json"), f'"{key}"') == count, f"not {count} of {key}")
    run(0, "devices")

    # A setting that cannot run is no obstacle: 1024 work-items are more than some devices take.
    put("large.json", f"""{{"devices": [{{"name": {name}, "platform": {platform}, "precision": "f32", "lanes": 1,
              "group": 1024, "items": 1024, "scratch_bytes": 65536}}]}}
""")
    run(0, f"tune --seconds 1 {ON}", dev=True, env={"ABUT_TUNING": "large.json"},
        out=r"^large\.json: ")
    # A file size of 0 stands for a full disk.
    os.mkdir("full")
    shutil.copy("own.json", "full/own.json")
    run(1, "tune -q --seconds 1 --device host -o full/own.json", dev=True, limit=FULL_DISK,
        err=r"^abut-dev: full/own\.json: .")
    same_bytes("own.json", "full/own.json")
    no_leftovers("full")


def test_the_place_of_the_file():
    if DEVICE != "host":
        return
    del os.environ["ABUT_TUNING"]
    here = os.getcwd()
    config = {"XDG_CONFIG_HOME": f"{here}/new/config"}
    run(0, f"tune --seconds 1 {ON}", dev=True, env=config)
    there("new/config/abut/tuning.json")
    says(run(0, "devices", env=config).out, f"Settings from file {here}/new/config/abut/tuning.json.")
    run(0, f"tune --seconds 1 {ON} -q", dev=True, env={"HOME": f"{here}/home"})
    there("home/.config/abut/tuning.json")
    os.environ["ABUT_TUNING"] = ""
    usage("there is no default place for a file of settings: name a file with -o", f"tune {ON}", dev=True)


def test_what_is_wrong():
    if DEVICE != "host":
        return
    usage("tune needs two bodies, A and B, or neither", "tune cube.obj", dev=True)
    usage("unexpected argument `more`", "tune cube.obj slab.obj more", dev=True)
    usage("tune has no option --lanes", "tune --lanes 4", dev=True)
    usage("tune has no option --json", "tune --json", dev=True)
    usage("--module witness: only manifold can be measured", "tune --module witness", dev=True)
    usage("--seconds: `soon` is not a number", "tune --seconds soon", dev=True)
    usage("--seconds: 0 is not in [1, 86400]", "tune --seconds 0", dev=True)
    usage("--precision: `f16` must be f32 or f64", "tune --precision f16", dev=True)
    usage("bench has no option --seconds", "bench --seconds 3", dev=True)
    wrong(f"no.obj: {MISSING}", "tune no.obj cube.obj -o t.json", dev=True)
    wrong(f"no.csv: {MISSING}", "tune --poses no.csv -o t.json", dev=True)
    wrong("none.csv: contains no poses", "tune --poses none.csv -o t.json", dev=True)
    run(2, "tune --device 'no such device' -o t.json", dev=True)
    run(2, f"tune {ON} --device toaster -o t.json", dev=True)
    run(2, "tune --device host/1 -o t.json", dev=True, err="cannot be divided")
    usage("--device: the value is empty", "tune --device '' -o t.json", dev=True)
    usage("--timeout: `soon` is not a number", "tune --timeout soon -o t.json", dev=True)
    usage("--timeout: 0 is not in [0.001, 1e+06]", "tune --timeout 0 -o t.json", dev=True)
    wrong("sharp.json: is also an input of this command; use another output file",
          "tune --smoothing sharp.json -o sharp.json", dev=True)
    run(2, "tune -o nowhere/t.json", dev=True,
        line=f"abut-dev: nowhere/t.json: the folder nowhere/: {MISSING}")
    absent("t.json")
    put("bad.json", '{"devices": [\n {"name": "d",\n  "speed": 1}]}\n')
    shutil.copy("bad.json", "before.json")
    for words, dev in (("devices", False), (f"contacts {POSES} -o no.npz {ON}", False),
                       (f"tune --seconds 1 {ON}", True), (f"bench --batch 1 {ON}", True)):
        wrong("bad.json:3: devices[0].speed: unknown key", words, dev=dev,
              env={"ABUT_TUNING": "bad.json"})
    absent("no.npz")
    run(2, f"tune --seconds 1 {ON} -o bad.json", dev=True, err=r"^abut-dev: bad\.json:3: ")
    same_bytes("bad.json", "before.json")


if __name__ == "__main__":
    main()
