"""Several devices, parts of devices, timelines, timeouts, devices that fail: see support.py."""
import json
import os
import re
import shutil

from support import *

BASE = f"contacts {POSES} --smoothing sharp.json -q"
# Host paths are threads, of which there may be several; a device has one place, as have its parts, if it has any.
if DEVICE == "host":
    TWO, THREE = f"{ON} {ON}", f"{ON} {ON} {ON} --chunk 1"
else:
    TWO, THREE = (f"{ON} {ON}/1.0", f"{ON} {ON}/1 --chunk 1") if PARTS else (ON, f"{ON} --chunk 1")


def test_several_devices():
    run(0, BASE, f"-o one.npz {ON}")
    for several in (TWO, THREE):
        run(0, BASE, f"-o several.npz {several} --timeline shared")
        same_arrays("several.npz", "one.npz", "d")
        shared = text_of("shared.json")
        valid_json(shared)
        there("shared.png")
        has(shared, *(f'"cat":"{phase}","ph":"X"' for phase in ("upload", "compute", "download")))
    # Microseconds to three places at most, and of each device its platform.
    times = re.findall(r'"(?:ts|dur)":([0-9.e+-]+)', shared)
    check(all(re.fullmatch(r"[0-9]+(\.[0-9]{1,3})?", time) for time in times),
          "a time of shared.json has more digits than it knows")
    has(shared, r'"process_name".*"name":"[^"]+ \([^"]+\)"')
    check(shared.count('"cat":"compute","ph":"X"') == 3, "three poses in chunks of one are not three spans")
    if DEVICE == "host":
        run(0, BASE, "-o many.npz", f"{ON} " * 64, "--chunk 1")
        same_arrays("many.npz", "one.npz", "d")
    elif DEVICE == "pocl":
        run(0, BASE, "-o parts.npz --device pocl/1")
        same_arrays("parts.npz", "one.npz", "d")
        run(0, BASE, "-o parts.npz --device pocl/1.0 --device host")


def test_timelines():
    run(0, BASE, f"-o name.npz {ON} --timeline named.json")
    there("named.json", "named.png")
    # A timeline's files are no input, and not the other output.
    shutil.copy("cube.body.json", "kept.json")
    for clash in ("cube.body", "cube.body.json", "sharp"):
        run(2, BASE, f"-o no.npz {ON} --timeline {clash}")
    same_bytes("cube.body.json", "kept.json")
    run(2, BASE, f"-o both.json {ON} --timeline both")
    run(2, BASE, f"-o no.npz {ON} --timeline no-such-folder/t")
    absent("no.npz")
    run(0, f"gradient {POSES} --mean-distance -o g.npz -q {TWO} --timeline g")
    there("g.png")


def test_words_that_name_no_device_or_no_part_of_one():
    no = f"{BASE} -o no.npz"
    wrong('no device is called "toaster"; `abut devices` lists them', no, f"{ON} --device toaster")
    run(2, no, f"{ON}/0")
    run(2, no, f"{ON}/1.900")
    run(2, no, f"{ON}/100000")
    run(2, no, f"{ON} --timeout 0")
    run(2, no, f"{ON} --timeout soon")
    run(0, BASE, f"-o slow.npz {ON} --timeout 1000")
    usage("--device: the value is empty", no, "--device ''")
    usage("--device: the value is empty", no, f"--device= {ON}")
    usage("--timeline: the value is empty", no, f"{ON} --timeline ''")
    absent("no.npz")
    run(2, no, f"{ON} " * 65, line="abut: --device is given more than 64 times")
    if DEVICE != "pocl":
        run(2, no, "--device host/1", err="cannot be divided")
        return
    for twice in ("pocl --device portable", "pocl/1.0 --device pocl/1", "all --device pocl"):
        run(2, no, f"--device {twice}",
            err=r"^abut: .*device [0-9]+ \(.*\) is named twice in one context$")
    run(2, no, "--device pocl/99999",
        err="^abut: device .* cannot be divided into parts of 99999 compute units: it has only [0-9]+$")
    run(2, no, "--device pocl/1.900",
        err="^abut: device .* has no part 900: with 1 units per part it has [0-9]+ parts \(0-based\)$")


def test_devices_that_fail_in_the_middle():
    """Who did the work is named, in the warning and in the last line."""
    if DEVICE != "pocl" or not FAILING:
        return
    bodies = "cube.body.json slab.body.json --smoothing sharp.json"
    twists("many.csv", *(f"0,0,0,0,0,0,0,0,{0.9 + i * 1e-4:g},0,0,0" for i in range(400)))
    name = next(d["name"] for d in json.loads(command("devices --json").out) if d["platform"].startswith("Portable"))
    two = "--device pocl --device pocl/1.0"
    host = r"^abut: warning: device .* failed \(.*CL_INVALID_COMMAND_QUEUE\); host has done its share$"
    failed = r"^abut-dev: warning: device .* failed \(.*CL_INVALID_COMMAND_QUEUE\)"
    os.environ.update(ABUT_TEST_LARGE="100", ABUT_TEST_FAILURES="1000000", LD_PRELOAD=FAILING)
    run(0, f"contacts {bodies} --poses many.csv -o failed.npz {two} --timeline failed",
        out=" s on host, f32$", err=host)
    run(0, f"gradient {bodies} --poses many.csv --mean-distance -o failed.npz {two}",
        out=" s on host, f32$")
    # The first rays of a device, few, may have been drawn by it.
    run(0, f"render {bodies} --poses many.csv -o failed.png {two}", out=" host$")
    run(1, f"bench {bodies} --poses many.csv --batch 400 --device pocl", dev=True, err=failed + "$")
    # What the other does is no measurement of both.
    run(1, f"bench {bodies} --poses many.csv --batch 400 {two}", dev=True,
        env={"ABUT_TEST_FAILURES": "1"},
        line="abut-dev: some of the devices failed during the calls",
        err=f"{failed}; .* its share$")
    # The second program is that of adjoints; the first lines of the compiler's are given.
    os.environ["ABUT_TEST_FAILURES"] = "0"
    said = run(0,
               f"gradient {bodies} --poses poses.csv --mean-distance -o failed.npz --device pocl",
               err=r"^abut: warning: .* failed \(.*CL_BUILD_PROGRAM_FAILURE\); host has done its share$",
               line=("  reason 1", "  reason 4"), env={"ABUT_TEST_BUILD": "2"})
    lacks(said.err, "reason 5")
    # The only device's first, and no host to stand in.
    run(1, f"bench {bodies} --poses poses.csv --batch 4 --device pocl", dev=True, line="reason 10",
        env={"ABUT_TEST_BUILD": "1"})
    run(0, f"contacts {bodies} --poses many.csv -o named.npz --device 0 --timeline strange",
        env={"ABUT_TEST_NAME": "caf\u00e9 \1"})
    valid_json(text_of("strange.json"))
    there("strange.png")
    silent = r"device [0-9]+ \(.*\) does not report its properties: CL_OUT_OF_RESOURCES"
    run(0, "devices", env={"ABUT_TEST_SILENT": "1"}, out=(rf"^Unusable: {silent}\.$",
        "^[0-9]+ +host .*table: the host path"))
    run(0, "devices --json", env={"ABUT_TEST_SILENT": "1"}, out=('"settings": null',
        f'"unusable": "{silent}"'), is_json=True)
    said = run(0, f"contacts {bodies} --poses many.csv -o failed.npz {two}",
               env={"ABUT_TEST_FAILURES": "1"})
    check(lines_with(said.err, "^abut: warning: device .* failed") == 1, "not one device failed")
    sharer = said.err.split("; ")[-1]
    has(sharer, " has done its share$")
    lacks(sharer, "^host ")
    lacks(said.out, " on .*host")
    del os.environ["LD_PRELOAD"]
    said = run(0, f"render {bodies} --poses many.csv -o drawn.png {two}")
    drawers = said.out.rstrip("\n").split(" s on ")[-1].split(" + ")
    check(all(name in drawer for drawer in drawers), f"not drawn by parts of {name} alone: {drawers}")


if __name__ == "__main__":
    main()
