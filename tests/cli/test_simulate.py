"""Worlds and films of the command: see support.py."""
import contextlib
import math
import os
import pty
import re
import shutil
import struct
import subprocess
import time

from support import *

NONE = 4294967295
FALL = "fall.scene.json -o fall.npz --steps 40 --record 4"
SEVEN = "fall.scene.json -o seven.npz --steps 40 --record 7"
REST = "rest.scene.json -o rest.npz --steps 20 --record 10 --worlds 2 --contacts"
STOPPED = "fall.scene.json -o stopped.npz --states stop.npz --steps 40 --record 4"
STATES = f"{ON} --precision {WIDE}"


def simulate(*words, **said):
    return run(0, "simulate", *words, STATES, **said)


def made(*each):
    """What another function tests."""
    for words in each:
        command(f"simulate {words} {STATES}")


def last_same(path, other, name, count):
    """An array's last numbers, to the bit."""
    check(read(path, name)[-count:] == read(other, name)[-count:], f"the last {name} of {path} is not that of {other}")


def size_of(path):
    """Width and height of a PNG."""
    return struct.unpack(">II", content(path)[16:24])


def setup():
    put("fall.scene.json", """{"timestep": 0.01, "gravity": [0, 0, -10],
 "links": [{"name": "stone", "position": [0, 0, 5], "joint": {"type": "free"}, "density": 1000,
            "bodies": [{"box": [0.1, 0.1, 0.1]}]},
           {"name": "cart", "joint": {"type": "slide", "axis": [1, 0, 0]}, "mass": 2,
            "inertia": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}],
 "actuators": [{"kind": "motor", "joint": "cart"}]}
""")
    put("rest.scene.json", """{"timestep": 0.002,
 "links": [{"name": "floor", "bodies": [{"plane": [2, 2]}]},
           {"name": "box", "position": [0, 0, 0.1], "joint": {"type": "free"}, "density": 500,
            "bodies": [{"box": [0.15, 0.1, 0.1]}]}],
 "pairs": [{"a": "box", "b": "floor"}]}
""")
    changed("fall.scene.json", "slow.scene.json", ('"timestep": 0.01', '"divergence": 1, "timestep": 0.01'))
    changed("rest.scene.json", "hard.scene.json", ('"timestep"', '"contact_model": "lcp", "timestep"'))
    changed("rest.scene.json", "soft.scene.json", ('"timestep": 0.002', '"contact_model": "spring", "timestep": 0.005'))
    changed("soft.scene.json", "clouds.scene.json", (r"\A\{", '{"clouds": true, '))
    put("automatic.scene.json", """{"links": [{"bodies": [{"plane": [5, 5]}]},
 {"joint": {"type": "free"}, "density": 500, "position": [0, 0, 0.1], "bodies": [{"box": [0.1, 0.1, 0.1]}]},
 {"joint": {"type": "free"}, "density": 500, "position": [0, 0.15, 0.1], "bodies": [{"box": [0.1, 0.1, 0.1]}]}],
 "automatic": true}
""")
    write("held.npz", u=full((2, 1), 4., 8))
    write("each.npz", u=full((40, 2, 1), 4., 8))
    write("states.npz", q=full((2, 8), 0, 0, 1, 2, 0, 0, 0, 0.5), v=full((2, 7), 0.),
          gravity=full((2, 3), 0., 0, -1, 0, 0, -2), mass_scale=full((2, 2), 1.))
    write("stop.npz",
          q=full((3, 8), 0, 0, 5, 1, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, math.nan, 1, 0, 0, 0, 0))
    write("noq.npz", v=full((1, 7), 0.))


def test_steps():
    # z = 5 - 10 h^2 n (n + 1) / 2 by semi-implicit Euler
    simulate("fall.scene.json -o fall.npz --steps 40 --record 4",
             out=r"^1 world, 40 steps of 0.01 s, 11 states of each stored, [0-9.e+-]+ s on .*, f(32|64)$",
             err="")
    holds("fall.npz", "time", [0.04 * i for i in range(11)], 1e-12)
    n = range(0, 41, 4)
    near(read("fall.npz", "q")[2::8], [5 - 0.0005 * i * (i + 1) for i in n], 1e-5, "heights")
    near(read("fall.npz", "v")[2::7], [-0.1 * i for i in n], 1e-5, "speeds")
    # A cube of 8 kg: what falls loses m g z and gains m v^2 / 2, but for what the step's length costs.
    e = read("fall.npz", "energy")
    check(len(e) == 22 and e[0] == 0 and abs(e[20] - 64) <= 1e-3 and abs(e[1] - e[21] - 80 * 0.82) <= 1e-2, f"energy: {e}")
    all_are("fall.npz", "status", 0, 1)
    check(len(read("fall.npz", "w")) == 7, "w of fall.npz")

    # The same from an earlier end, from another one kept, of several worlds, without a state between.
    simulate("fall.scene.json -o half.npz --steps 20 --record 20")
    simulate("fall.scene.json -o whole.npz --steps 20 --record 20 --states half.npz")
    simulate("fall.scene.json -o ends.npz --steps 40 --record 40")
    last_same("ends.npz", "whole.npz", "q", 8)
    said = simulate(SEVEN)
    # After 28 steps.
    check(read("seven.npz", "q").rows()[4] == read("fall.npz", "q").rows()[7], "every 7th state is another than every 4th")

    # The last state is kept also where --record does not meet it, and what goes on from the file is, to
    # the bit, what one long run gives.
    has(said.out, " s, 7 states of each stored, ")
    holds("seven.npz", "time", [0.07 * i for i in range(6)] + [0.4], 1e-12)
    check(len(read("seven.npz", "q")) == 7 * 8, "q of seven.npz")
    last_same("seven.npz", "fall.npz", "q", 8)
    last_same("seven.npz", "fall.npz", "v", 7)
    last_same("seven.npz", "fall.npz", "energy", 2)
    simulate("fall.scene.json -o beyond.npz --steps 5 --record 9")
    holds("beyond.npz", "time", [0, 0.05])
    simulate("rest.scene.json -o long.npz --steps 47 --worlds 2 --contacts")
    simulate("rest.scene.json -o odd.npz --steps 17 --record 5 --worlds 2 --contacts")
    near(read("odd.npz", "time")[4:], [0.034], 1e-6, "time")
    check(len(read("odd.npz", "contact_count")) == 5 * 2, "contact_count of odd.npz")
    simulate("rest.scene.json -o on.npz --steps 30 --record 100 --states odd.npz --contacts")
    holds("on.npz", "time", [0, 0.06])
    last_same("on.npz", "long.npz", "q", 14)
    last_same("on.npz", "long.npz", "v", 12)
    last_same("on.npz", "long.npz", "w", 12)
    last_same("on.npz", "long.npz", "energy", 4)
    last_same("on.npz", "long.npz", "contact_count", 2)
    last_same("on.npz", "long.npz", "contact_d", 8)

    simulate("fall.scene.json -o none.npz --steps 0",
             out=r"1 world, 0 steps of 0.01 s, 1 state of each stored")
    q = read("none.npz", "q")
    check(len(q) == 8 and q[2] == 5, f"q: {q}")
    simulate("fall.scene.json -o three.npz --steps 4 --worlds 3 -q", out="")
    check(len(read("three.npz", "q")) == 5 * 3 * 8, "q of three.npz")


def test_controls_states_parameters():
    made(FALL)
    # A force u moves 2 kg: v = 0.01 / 2 times the sum of u.
    write("rising.npz", u=full((3, 1, 1), 2., 4, 6))
    simulate("fall.scene.json -o held-out.npz --steps 40 --worlds 2 --controls held.npz")
    simulate("fall.scene.json -o each-out.npz --steps 40 --worlds 2 --controls each.npz")
    same_arrays("held-out.npz", "each-out.npz", "q")
    same_arrays("held-out.npz", "each-out.npz", "v")
    near(read("held-out.npz", "v")[-8::7], [0.8, 1.6], 1e-5, "speeds")
    simulate("fall.scene.json -o rising-out.npz --controls rising.npz",
             out=r"^1 world, 3 steps of 0.01 s, 4 states of each stored, ")
    near(read("rising-out.npz", "v")[6::7], [0.005 * (k * k + k) for k in range(4)], 1e-6, "speeds")
    simulate("fall.scene.json -o states-out.npz --states states.npz --steps 1")
    near(read("states-out.npz", "v")[16:24:7], [-0.01, -0.02], 1e-5, "speeds")
    write("extra.npz", q=full((1, 8), 0., 0, 5, 1, 0, 0, 0, 0), qq=full((1, 8), 0.))
    simulate("fall.scene.json -o extra-out.npz --states extra.npz --steps 40 --record 4",
             line="abut: warning: extra.npz: array 'qq' is not an input of worlds; it is ignored")
    same_arrays("extra-out.npz", "fall.npz", "q")
    # What simulate itself writes with any option is known.
    changed("automatic.scene.json", "apart.scene.json", (r"0, 0\.15, 0\.1", "0, 0.25, 0.1"))
    for scene in ("rest", "apart"):
        simulate(f"{scene}.scene.json -o all.npz --steps 2 --contacts --forces --distances --link-poses", err="")
        written = {line.split()[0] for line in layout("all.npz").split("\n")}
        check(written >= {"status_step", "contact_activity", "pair_normal"} and
              ("contact_bodies" in written) == (scene == "apart"), f"arrays of {scene}: {written}")
        simulate(f"{scene}.scene.json -o after.npz --states all.npz --steps 2", err="")
    # Numbers that the solver raises, which nobody means.
    write("below.npz", q=full((3, 7), 0, 0, 0.1, 1, 0, 0, 0), friction=full((3, 1), 0.5, -1, -2),
          stiffness=full((3, 1), 1., -1, 0))
    write("raised.npz", q=full((3, 7), 0, 0, 0.1, 1, 0, 0, 0),
          friction=full((3, 1), 0.5, 1e-5, 1e-5), stiffness=full((3, 1), 1, 1e-6, 1e-6))
    simulate("rest.scene.json -o below-out.npz --states below.npz --steps 5",
             line=("abut: warning: below.npz: array 'friction': 2 of 3 worlds (1, 2) have negative numbers, which count as 1e-5",
             "abut: warning: below.npz: array 'stiffness': 1 of 3 worlds (1) has negative numbers, which count as 1e-6"))
    simulate("rest.scene.json -o raised-out.npz --states raised.npz --steps 5", err="")
    same_arrays("below-out.npz", "raised-out.npz", "q")


def test_springs():
    # A box comes to rest m g / k deep: 6 kg, 5000 N/m; with k of its own twice as stiff.
    write("springs.npz", q=full((2, 7), 0, 0, 0.1, 1, 0, 0, 0),
          springs=full((2, 1, 6), 5000, 0.5, 0.1, 0.01, 5e-4, 2e-4, 10000, 0.5, 0.1, 0.01, 5e-4, 2e-4))
    simulate("soft.scene.json -o soft.npz --steps 400 --record 400")
    simulate("soft.scene.json -o springs-out.npz --states springs.npz --steps 400 --record 400",
             line="abut: warning: soft.scene.json: pairs[0]: at rest its spring gives way by 12 mm, which is 2.9 % of the smaller body's diagonal; with k = 1.4e+04 N/m it is 1 % (docs/spring.md#worlds)")
    near(read("soft.npz", "q")[9:10], 0.088225, 5e-6, "height")
    near(read("springs-out.npz", "q")[16:24:7], [0.088225, 0.094115], 5e-6, "heights")
    run(0, f"film soft.scene.json soft.npz -o soft.png --frames 1 --width 40 --height 30 {ON}")
    write("bad-springs.npz", q=full((2, 7), 0, 0, 0.1, 1, 0, 0, 0), friction=full((2, 1), 1.),
          springs=full((2, 1, 6), 5000, 0, 0.1, 0.01, 5e-4, 2e-4, 5000, 0.5, 0.1, 0.01, 5e-4, 0))
    simulate("soft.scene.json -o bad-out.npz --states bad-springs.npz --steps 4",
             err=r"^abut: warning: 1 of 2 worlds \(1\) .*, and keeps its previous state, first in step [0-9]+$",
             line=("abut: warning: bad-springs.npz: array 'friction' is ignored, because 'springs' contains the mu of every pair",
             "abut: warning: bad-springs.npz: array 'springs': 1 of 2 worlds (1) has numbers that are not above 0 (mu: below 0)"))
    # What the solver raises stops worlds of springs; mu of listed pairs is that of 'springs', where there are some.
    write("below.npz", q=full((3, 7), 0, 0, 0.1, 1, 0, 0, 0), friction=full((3, 1), 0.5, -1, 0),
          stiffness=full((3, 1), 1., 1, 0))
    simulate("soft.scene.json -o below-out.npz --states below.npz --steps 5",
             line=("abut: warning: below.npz: array 'friction': 1 of 3 worlds (1) has negative numbers",
             "abut: warning: below.npz: array 'stiffness': 1 of 3 worlds (2) has numbers that are not above 0"))
    status = read("below-out.npz", "status")
    check([s % 64 >= 32 for s in status] == [False, True, True], f"status: {status}")
    write("flat-springs.npz", q=full((2, 7), 0, 0, 0.1, 1, 0, 0, 0), springs=full((2, 6), 1.))
    wrong("flat-springs.npz: array 'springs': has shape (2, 6), expected (2, 1, 6): k, mu, v_d, v_s, eps2, eps3 of each pair",
          f"simulate soft.scene.json -o x.npz --states flat-springs.npz --steps 1 {ON}")
    wrong("springs.npz: array 'springs': the contacts of the scene are not springs",
          f"simulate rest.scene.json -o x.npz --states springs.npz --steps 1 {ON}")
    unlisted = "its contacts are springs between whole bodies, which have no list of contacts"
    simulate("soft.scene.json -o listed.npz --steps 1 --contacts")
    wrong(f"clouds.scene.json: --contacts: {unlisted}",
          f"simulate clouds.scene.json -o x.npz --steps 1 --contacts {ON}")
    wrong(f"clouds.scene.json: --contacts: {unlisted}",
          f"film clouds.scene.json soft.npz -o x.png --contacts {ON}")
    by_slot = ("needs listed pairs, but the scene has automatic ones: list them in `pairs`, as `abut import --list-pairs` does "
               "(docs/scenes.md#automatic-pairs)")
    run(0, f"simulate automatic.scene.json -o automatic.npz --steps 3 {ON}",
        out=", 3 pairs of 3 bodies that may touch, of 2 kinds, ",
        err=r"^abut: warning: automatic\.scene\.json: links\[1\]\.bodies\[0\] and links\[2\]\.bodies\[0\] overlap by [0-9.]+ mm at the start")
    put("single.scene.json", """{"automatic": true, "links": [{"bodies": [{"plane": [5, 5]}]},
     {"position": [0, 0, 0.1], "joint": {"type": "free"}, "density": 500, "bodies": [{"box": [0.1, 0.1, 0.1]}]}]}
""")
    run(0, f"simulate single.scene.json -o single.npz --steps 1 {ON}", out="^1 world, 1 step of .*, 1 pair of 2 bodies that may touch, of 1 kind, ")
    changed("automatic.scene.json", "driven.scene.json",
            ('"automatic": true', '"actuators": [{"kind": "velocity", "joint": 3, "kv": 500}]'),
            (r"\}\]\}\],$", """}]},
     {"joint": {"type": "slide"}, "mass": 0.2, "inertia": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}],"""))
    run(0, f"simulate driven.scene.json -o driven.npz --steps 3 {ON}",
        err=r"^abut: warning: driven.scene.json: actuators\[0\], on links\[3\]: its kp and kv are too large for steps of 2 ms: the speeds will oscillate and grow; near the start, steps of up to 0.8 ms are stable")
    run(0, f"transition automatic.scene.json -o automatic-t.npz --parameters {ON}")
    run(0, "film automatic.scene.json automatic.npz -o automatic.png --contacts --frames 2 --width",
        f"40 --height 30 {ON}")
    run(0, f"simulate automatic.scene.json -o touching.npz --steps 3 --contacts {ON}",
        out="stored with [0-9]+ contacts in total, 3 pairs of 3 bodies")
    count, bodies = read("touching.npz", "contact_count"), read("touching.npz", "contact_bodies")
    check(len(count) == 4 and min(count) > 0 and sum(count) >= 16, f"contact_count: {count}")
    check(len(bodies) >= 32 and len(bodies) % 2 == 0 and set(bodies) <= {0, 1, 2}, f"contact_bodies: {bodies}")
    for name, width in (("bodies", 2), ("p", 3), ("activity", 1)):
        check(len(read("touching.npz", f"contact_{name}")) == width * len(read("touching.npz", "contact_slot")),
              f"touching.npz: contact_{name} has not {width} numbers a contact")
    said = run(0, f"simulate automatic.scene.json --states touching.npz -o on.npz --steps 1 {ON}")
    lacks(said.err, "contact_")
    run(0, "film automatic.scene.json touching.npz -o touching.png --contacts --frames 2 --width",
        f"40 --height 30 {ON}")
    said = wrong(f"automatic.scene.json: compare {by_slot}",
                 f"compare automatic.scene.json --steps 2 {ON}")
    lacks(said.err, "warning")
    wrong(f"automatic.scene.json: --what contacts and list {by_slot}",
          f"bench automatic.scene.json --what step,list {ON}", dev=True)
    wrong(f"clouds.scene.json: --what contacts and list: {unlisted}",
          f"bench clouds.scene.json --what step,list {ON}", dev=True)

    # A plate of 12 triangles is too coarse for clouds, which the command says.
    put("plate.obj", """v -0.2 -0.2 -0.01
v 0.2 -0.2 -0.01
v 0.2 0.2 -0.01
v -0.2 0.2 -0.01
v -0.2 -0.2 0.01
v 0.2 -0.2 0.01
v 0.2 0.2 0.01
v -0.2 0.2 0.01
f 1 3 2
f 1 4 3
f 5 6 7
f 5 7 8
f 1 2 6
f 1 6 5
f 2 3 7
f 2 7 6
f 3 4 8
f 3 8 7
f 4 1 5
f 4 5 8
""")
    changed("clouds.scene.json", "coarse.scene.json", (r'"plane": \[[0-9, ]*\]', '"file": "plate.obj"'))
    simulate("coarse.scene.json -o coarse.npz --steps 1",
             line="abut: warning: coarse.scene.json: links[0].bodies[0]: the error of the field of its cloud is up to 12 % of its diagonal, at its faces or in its hollows: the mesh is too coarse or too hollow for springs, so bodies may fall through it, rest on its openings or gain energy (docs/scenes.md#springs)")

    # A box in millimetres, and how many others are suspicious.
    in_millimetres("plate.obj", "large.obj")
    put("large.scene.json", """{"links": [{"bodies": [{"plane": [1, 1]}]}, {"position": [0, 0, 300], "joint": {"type": "free"}, "mass": 1,
 "inertia": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], "bodies": [{"file": "large.obj"}, {"file": "large.obj"}]}],
 "pairs": [{"a": [1, 0], "b": 0}]}
""")
    simulate("large.scene.json -o large.npz --steps 1",
             err=r"^abut: warning: large.scene.json: links\[1\].bodies\[0\]: unit: the diagonal of the box is .* m; if the file is in millimetres, scale it by 0.001")

    # What is suspicious comes with its figures: a triangle that ran the wrong way, and shells.
    plate = [line.split() for line in text_of("plate.obj").splitlines()]
    faces, points = [f for f in plate if f[0] == "f"], [v for v in plate if v[0] == "v"]
    put("one-turned.obj", "".join(" ".join(f) + "\n" for f in points + [["f", faces[0][1], faces[0][3], faces[0][2]]] + faces[1:]))
    inner = [["v", *(str(0.5 * float(x)) for x in v[1:])] for v in points] + [["f", *(str(int(i) + 8) for i in f[1:])] for f in faces]
    put("nested.obj", "".join(" ".join(f) + "\n" for f in plate + inner))
    for mesh, text in (("one-turned", r"turned: 1 triangle had the opposite orientation of the neighbours and was turned; check the volume, which is now 0\.0032 m.3$"),
                       ("nested", "nested: 1 of 2 shells is inside others and points the same way")):
        put(f"{mesh}.scene.json", text_of("large.scene.json").replace("large.obj", f"{mesh}.obj").replace("300", "3"))
        simulate(f"{mesh}.scene.json -o {mesh}.npz --steps 1", err=rf"^abut: warning: {mesh}.scene.json: links\[1\].bodies\[0\]: {text}")

    # A mesh that is in no pair gets no field until a picture shows it; it must be there all the same.
    put("idle.scene.json", """{"links": [{"joint": {"type": "free"}, "mass": 1, "inertia": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
 "bodies": [{"file": "nested.obj"}]}], "pairs": []}
""")
    simulate("idle.scene.json -o idle.npz --steps 1", err="")
    run(0, f"film idle.scene.json idle.npz -o idle.png {ON}")
    put("lost.scene.json", text_of("idle.scene.json").replace("nested.obj", "nowhere.obj"))
    wrong("lost.scene.json:2: links[0].bodies[0]: its file, nowhere.obj: No such file or directory",
          f"simulate lost.scene.json --steps 1 -o no.npz {ON}")

    # Springs that give way too much at rest, and bodies too fast for a step, are named.
    put("sink.scene.json", """{"contact_model": "spring", "links": [{"bodies": [{"plane": [1, 1]}]},
  {"position": [0, 0, 0.1], "joint": {"type": "free"}, "density": 500, "bodies": [{"box": [0.1, 0.1, 0.1]}]},
  {"position": [0, 0, 0.3], "joint": {"type": "free"}, "density": 500, "bodies": [{"box": [0.1, 0.1, 0.1]}]}],
 "pairs": [{"a": 1, "b": 0}, {"a": 2, "b": 1}]}
""")
    simulate("sink.scene.json -o sink.npz --steps 1",
             line="abut: warning: sink.scene.json: pairs[0]: at rest its spring gives way by 16 mm, which is 4.5 % of the smaller body's diagonal, and 1 more by less; with k = 2.3e+04 N/m it is 1 % (docs/spring.md#worlds)")
    put("fast.scene.json", """{"gravity": [0, 0, 0], "links": [{"bodies": [{"box": [1, 1, 0.005]}]},
  {"position": [0, 0, 0.2], "joint": {"type": "free"}, "density": 1000, "bodies": [{"sphere": 0.05}]}],
 "pairs": [{"a": 1, "b": 0}]}
""")
    write("fast-start.npz", q=full((1, 7), 0, 0, 0.2, 1, 0, 0, 0),
          v=full((1, 6), 0., 0, -20, 0, 0, 0))
    simulate("fast.scene.json -o fast.npz --states fast-start.npz --steps 10",
             err=r"^abut: warning: 1 of 1 world \(0\) had bodies that moved in one step by more than half of the thinner body, and may have passed through each other, first in step [0-9]+, between link 1 and link 0$")

    # What cannot be swept is named by its own place, not by that of the body that it meets.
    put("bare.obj", "v 0.1 0 0\nv 0 0.1 0\nv 0 0 0.1\nl 1 2\nl 2 3\n")
    put("bare.body.json",
        '{"mesh": "bare.obj", "superquadrics": [{"axes": [0.1, 0.1, 0.1], "exponents": [1, 1], "position": [0, 0, 0], "quaternion": [1, 0, 0, 0]}]}')
    put("sweep.scene.json", """{"timestep": 0.01, "sweep": true, "automatic": true, "links": [
  {"bodies": [{"box": [0.5, 0.5, 0.1]}]},
  {"position": [0, 0, 0.5], "joint": {"type": "free"}, "mass": 1, "com": [0, 0, 0],
   "inertia": [[0.01, 0, 0], [0, 0.01, 0], [0, 0, 0.01]], "bodies": [{"file": "bare.body.json"}]}]}
""")
    run(2, f"simulate sweep.scene.json -o no.npz --steps 1 {ON}",
        err=r"^abut: sweep\.scene\.json:[0-9]+: links\[1\]\.bodies\[0\]: its file, bare\.body\.json: ")

    # The T of docs/spring.md, which a finger turns by 0.96 rad. Under sanitizers the finger goes but a part of its way.
    moves = 25 if SANITIZED else 250
    write("t-start.npz", q=full((1, 5), 0, 0, 0, 0.06, 0.04))
    way = (x for i in range(moves) for x in (0.06, 0.04 - 0.2 * i / 249))
    write("t-way.npz", u=full((moves, 1, 2), *way))
    simulate("tests/golden/../../assets/push_t.scene.json -o t.npz --states t-start.npz --controls",
             f"t-way.npz --record {moves}")
    if not SANITIZED:
        turn = read("t.npz", "q")[7]
        check(-0.97 <= turn <= -0.94, f"the T is turned by {turn}")


def test_worlds_that_stop():
    made(FALL)
    simulate(STOPPED,
             line="abut: warning: 2 of 3 worlds (1, 2) have numbers that are not finite, or a quaternion of length 0, and keep their previous state, first in step 0")
    write("stop1.npz", q=full((2, 8), 0, 0, 5, 1, 0, 0, 0, 0, 0, 0, math.nan, 1, 0, 0, 0, 0))
    simulate("fall.scene.json -o stopped1.npz --states stop1.npz --steps 1",
             line="abut: warning: 1 of 2 worlds (1) has numbers that are not finite, or a quaternion of length 0, and keeps its previous state, first in step 0")
    check(list(read("stopped.npz", "status")) == [0, 32, 32], "status of stopped.npz")
    steps = read("stopped.npz", "status_step")
    check(len(steps) == 36 and not any(steps[17::12]), f"status_step: {steps}")
    rows = [row for state in read("stopped.npz", "q").rows() for row in state[:8]]
    check(rows == read("fall.npz", "q"), "a world is disturbed by those that stop")
    check(set(read("stopped.npz", "q")[10::24]) == {5}, "a world that stopped moves")
    # It stays where it stopped, over many calls of the library.
    simulate("slow.scene.json -o slow.npz --steps 400",
             err=r"^abut: warning: 1 of 1 world \(0\) became faster than the scene.s `divergence`, and keeps its last valid state, first in step [0-9]+$")
    all_are("slow.npz", "status", 2)
    check(list(read("slow.npz", "status_step")) == [NONE, 10] + [NONE] * 10, "status_step of slow.npz")
    v = read("slow.npz", "v")[2::7]
    check(min(v) >= -1.00001 and v[-1] <= -0.98, f"v: {v[-1]}")
    e = read("slow.npz", "energy")[::2]
    check(e[-1] == e[59] and 3.5 <= e[-1] <= 4.1, f"energy: {e[-1]}")
    z = read("slow.npz", "q")[2::8]
    check(len(z) == 401 and z[-1] == z[19] and z[-1] <= 4.96, f"height: {z[-1]}")


def test_readings():
    """Poses of links are the states', distances go down with the stone, and forces bear what lies there."""
    simulate("fall.scene.json -o read.npz --steps 8 --record 4 --worlds 2 --link-poses", err="")
    laid_out("read.npz", f"link_pose {TYPE} 3 2 2 7")
    poses, q = read("read.npz", "link_pose"), read("read.npz", "q")
    for k in range(3 * 2):
        near(poses[14 * k:14 * k + 7], q[8 * k:8 * k + 7], 1e-6, "the stone's pose")
        near(poses[14 * k + 7:14 * k + 14], [q[8 * k + 7], 0, 0, 1, 0, 0, 0], 1e-6, "the cart's pose")
    simulate("rest.scene.json -o pushed.npz --steps 300 --record 150 --worlds 2 --forces --distances", err="")
    laid_out("pushed.npz", f"distance {TYPE} 3 2 1", f"link_force {TYPE} 3 2 2 6", f"pair_force {TYPE} 3 2 1 3",
             f"pair_normal {TYPE} 3 2 1")
    weight = 500 * 0.3 * 0.2 * 0.2 * 9.81
    forces = read("pushed.npz", "link_force")[-24:]
    near(forces[:3], [0, 0, -weight], 0.02 * weight, "the force on the floor")
    near(forces[6:9], [0, 0, weight], 0.02 * weight, "the force on the box")
    near(read("pushed.npz", "pair_force")[-3:], [0, 0, weight], 0.02 * weight, "the pair's force")
    near(read("pushed.npz", "pair_normal")[-1:], [weight], 0.02 * weight, "the pair's normal force")
    check(all(abs(d) < 0.005 for d in read("pushed.npz", "distance")), "distances of what lies on the floor")
    simulate("fall.scene.json -o driven.npz --controls each.npz --worlds 2 --steps 40 --record 20 --forces", err="")
    all_are("driven.npz", "link_force", 0, 3 * 2 * 2 * 6)
    wrong("a scene whose contacts are springs has no distances of pairs",
          f"simulate clouds.scene.json -o x.npz --steps 1 --distances {ON}")
    wrong("springs between point clouds have no forces on links and no forces of pairs",
          f"simulate clouds.scene.json -o x.npz --steps 1 --forces {ON}")
    usage("a folder of results can contain only states: --distances, --forces and --link-poses need an .npz",
          "simulate fall.scene.json -o folder/ --steps 1 --forces")
    absent("x.npz")


def test_moved_links():
    """What is read of positions has moved links at their stated poses, so that it is refused where controls move one."""
    put("moved.scene.json", """{"timestep": 0.01,
 "links": [{"name": "cart", "joint": {"type": "slide", "axis": [1, 0, 0]}, "density": 500, "bodies": [{"sphere": 0.1}]},
           {"name": "hand", "position": [0, 0, 1], "joint": {"type": "moved"}, "bodies": [{"sphere": 0.1}]}],
 "actuators": [{"kind": "motor", "joint": "cart"}], "pairs": [{"a": "cart", "b": "hand"}],
 "starts": {"away": {"q": [0], "u": [0, 0, 0, 0.2, 0, 0, 0]}, "driven": {"q": [0], "u": [2, 0, 0, 0, 0, 0, 0]}}}
""")
    still, turned = [4., 0, 0, 0, 0, 0, 0], [4., 0, 0, 0, 0, 0, 0.1]
    write("still.npz", u=full((2, 7), *still))
    write("turned.npz", u=full((3, 2, 7), *still * 5, *turned))
    what = ("--contacts", "--distances", "--link-poses")
    simulate("moved.scene.json -o still-hand.npz --steps 3 --worlds 2 --controls still.npz", *what, err="")
    near(read("still-hand.npz", "link_pose")[-7:], [0, 0, 1, 1, 0, 0, 0], 1e-6, "the hand's pose")
    simulate("moved.scene.json -o driven-hand.npz --steps 3 --start driven", *what, err="")
    for option in what:
        said = f"moved.scene.json: {option}: control %d of world %d in step %d moves a link, but this option uses stored states, which have moved links only at the poses in the scene (docs/scenes.md#moved-links)"
        wrong(said % (6, 1, 2), f"simulate moved.scene.json -o no-hand.npz --worlds 2 --controls turned.npz {option} {ON}")
        wrong(said % (3, 0, 0), f"simulate moved.scene.json -o no-hand.npz --steps 3 --start away {option} {ON}")
    absent("no-hand.npz")
    simulate("moved.scene.json -o turned-hand.npz --worlds 2 --controls turned.npz --forces", err="")
    run(0, f"film moved.scene.json turned-hand.npz -o hand.png --frames 2 --width 20 --height 16 {ON}",
        line='abut: warning: moved.scene.json: links of type "moved" are drawn at the poses in the scene, because files of states have no controls (docs/scenes.md#moved-links)')
    run(0, f"compare moved.scene.json --models cone --start driven --steps 3 --series depths.npz {STATES}", err="")
    all_are("depths.npz", "penetration", 0, 4)
    run(0, f"compare moved.scene.json --models cone --start away --steps 3 --series no-depths.npz {STATES}",
        line="abut: warning: moved.scene.json: controls move a link: the deepest penetration is not computed (docs/scenes.md#moved-links)")
    check(all(map(math.isnan, read("no-depths.npz", "penetration"))), "depths of links that controls move")


def test_contacts():
    simulate(REST, out="stored with [0-9]+ contacts in total")
    all_are("rest.npz", "contact_count", 4, 6)
    d, n, activity = (read("rest.npz", f"contact_{name}") for name in ("d", "n", "activity"))
    check(len(d) == 24 and -0.002 <= min(d) and max(d) <= 0.0001, f"contact_d: {d}")
    check(len(n) == 72 and min(n[2::3]) >= 0.99, f"contact_n: {n}")
    check(len(activity) == 24 and 0.05 <= min(activity) and max(activity) <= 1, f"contact_activity: {activity}")
    check(len(read("rest.npz", "contact_slot")) == 24, "contact_slot of rest.npz")
    simulate("rest.scene.json -o few.npz --steps 20 --record 10 --worlds 2 --contacts --threshold",
             "1")
    check(not any(read("few.npz", "contact_count")), "contacts above the threshold of 1")
    write("stop7.npz", q=full((1, 7), math.nan))
    run(0, f"simulate rest.scene.json --states stop7.npz --steps 2 --contacts -o nowhere.npz {ON}")
    all_are("nowhere.npz", "contact_count", 0, 3)


def test_what_is_refused():
    no = "simulate fall.scene.json -o untouched/no.npz"
    made(FALL)
    os.mkdir("untouched")
    usage("--steps T is missing; it is needed unless controls of shape (T, N, nu) give the number of steps", no)
    usage("--steps T is missing; it is needed unless controls of shape (T, N, nu) give the number of steps",
          f"simulate fall.scene.json --worlds 2 --controls held.npz -o untouched/no.npz {ON}")
    usage("simulate needs -o OUT.npz", "simulate fall.scene.json --steps 3")
    usage("simulate needs a scene", "simulate --steps 3 -o untouched/no.npz")
    usage("--steps: `-1` is not a whole number of at least 0",
          "simulate fall.scene.json --steps -1 -o untouched/no.npz")
    usage("--record: 0 is not in [1, 9223372036854775807]",
          "simulate fall.scene.json --steps 1 --record 0 -o untouched/no.npz")
    usage("--threshold works only with --contacts",
          "simulate fall.scene.json --steps 1 --threshold 0.1 -o untouched/no.npz")
    usage("--states already determines the number of worlds: leave out --worlds",
          "simulate fall.scene.json --steps 1 --worlds 2 --states stop.npz -o untouched/no.npz")
    usage("-o untouched/no.txt: the output of simulate must end with .npz",
          "simulate fall.scene.json --steps 1 -o untouched/no.txt")
    def refused(text, *words):
        wrong(text, "simulate --steps 2 -o untouched/no.npz", ON, *words)
    refused("none.scene.json: No such file or directory", "none.scene.json")
    refused("none.npz.not: No such file or directory", "fall.scene.json --states none.npz.not")
    put("bad.scene.json", '{"links": [\n {"mas": 1}]}')
    run(2, f"simulate bad.scene.json --steps 2 -o untouched/no.npz {ON}",
        err=r"^abut: bad\.scene\.json:2: .*mas")
    wrong("stop.npz: is also an input of this command; use another output file",
          "simulate fall.scene.json --steps 2 --states stop.npz -o stop.npz")
    refused("noq.npz: contains no q, the start of the worlds", "fall.scene.json --states noq.npz")
    write("flat.npz", q=full(8, 0.))
    refused("flat.npz: array 'q': must have shape (worlds, nq) or (states, worlds, nq)",
            "fall.scene.json --states flat.npz")
    write("wide.npz", q=full((2, 9), 0.))
    refused("wide.npz: array 'q': has shape (2, 9), expected (2, 8): 2 worlds of the scene, whose q has 8 numbers",
            "fall.scene.json --states wide.npz")
    write("other.npz", q=full((2, 8), 0.), v=full((3, 7), 0.))
    refused("other.npz: array 'v': has shape (3, 7), expected (2, 7): 2 worlds of the scene, whose v has 7 numbers",
            "fall.scene.json --states other.npz")
    write("links.npz", q=full((1, 8), 0.), mass_scale=full((1, 3), 1.))
    refused("links.npz: array 'mass_scale': has shape (1, 3), expected (1, 2): one per link",
            "fall.scene.json --states links.npz")
    write("text.npz", q="?" * 8)
    refused("text.npz: array 'q': is a text; expected numbers", "fall.scene.json --states text.npz")
    refused("fall.npz: contains no u, the controls", "fall.scene.json --controls fall.npz")
    refused("held.npz: array 'u': has shape (2, 1), expected (1, 1): 2 steps of 1 world, and 1 control",
            "fall.scene.json --controls held.npz")
    refused("each.npz: array 'u': has shape (40, 2, 1), expected (2, 1, 1): 2 steps of 1 world, and 1 control",
            "fall.scene.json --controls each.npz")
    check(not os.listdir("untouched"), "something was written")


def test_bench():
    made(REST)
    # Each row takes half a second: the usual run has fewer of them.
    run(0, f"bench rest.scene.json --batch 1,2 --steps 2 --states rest.npz --precision {WIDE} {ON}",
        dev=True, out=(r"^what +batch +steps +slots +median \[s\] +least \[s\] +steps/s +x step$",
        r"^step +1 +2 +[0-9]+ +[0-9.e+-]+ +[0-9.e+-]+ +[0-9.]+ +1\.00$", "^step +2 +2 "))
    run(0, f"bench fall.scene.json --batch 1 --json {ON}", dev=True, is_json=True,
        out='"steps_per_s": [0-9]')
    if not USUAL:
        run(0, f"bench fall.scene.json --what step,step-vjp,transition --batch 2 {ON}", dev=True,
            out=("^step-vjp +2 +1 +0 .* [0-9.]+$", "^transition +2 +1 +0 .* [0-9.]+$"))
        run(0, f"bench fall.scene.json --what step-vjp,step --batch 1 --steps 3 --json {ON}",
            dev=True, is_json=True, out='"ratio_to_step": [0-9]')
        run(0, f"bench fall.scene.json --what step-vjp --batch 1 {ON}", dev=True,
            out="^step-vjp +1 .* -$")
    said = run(0, "bench rest.scene.json --batch 2 --states rest.npz --what step,contacts,list",
               f"--json {ON}", dev=True, is_json=True, out='"iterations": [1-9]')
    # a box rests on its four corners
    has(said.out, '"entries_per_world": 4.0', '"contacts": 4.0', r'"items": 1\.0',
        r'"entries": 1\.0', r'"islands": 1\.0', '"panel_numbers": [1-9][0-9]', '"launches": [1-9]',
        '"bytes_per_world": [1-9][0-9]{3}')
    if not USUAL:
        run(0, f"bench automatic.scene.json --batch 2 --steps 2 {ON}", dev=True,
            out="^ +3 items and [23] entries per world; [0-9.]+ launches per step, [0-9.]+ kB per world$")
    if not USUAL:
        run(0,
            f"bench hard.scene.json --batch 3 --states rest.npz --what step,transition,list {ON}",
            dev=True, out="^ +3 (warm|pivoted)$")
    said = run(0, f"bench hard.scene.json --batch 3 --states rest.npz --what step --json {ON}",
               dev=True, is_json=True, out=r'"solved": \{')
    lacks(said.out, '"iterations"')
    usage("--what transition needs one step: leave out --steps",
          "bench fall.scene.json --what transition --steps 2", dev=True)
    usage("--poses works only with two bodies, not with a scene", "bench fall.scene.json --poses poses.csv",
          dev=True)
    usage("--what: unknown value `forward`; possible values: step, step-vjp, transition, contacts, list",
          "bench fall.scene.json --what forward", dev=True)
    usage("--states and --steps work only with a scene", "bench --steps 3", dev=True)
    wrong("noq.npz: contains no q of shape (worlds, 8) or (states, worlds, 8)",
          f"bench fall.scene.json --states noq.npz --json {ON}", dev=True)


def test_films():
    made(FALL, SEVEN, STOPPED)
    simulate("fall.scene.json -o way.npz --steps 50 --record 5 --worlds 2")
    run(0, f"film fall.scene.json way.npz -o sheet.png --frames 6 --width 40 --height 30 {ON}",
        out="^world 0, 6 pictures of 40 x 30 pixels, ")
    check(size_of("sheet.png") == (160, 60), f"a sheet of {size_of('sheet.png')}")
    said = run(0, "film fall.scene.json way.npz -o views.png --frames 1 --width 40 --height 30",
               f"--view 0,0,90,0,45,30 --world 1 -q {ON}")
    check(size_of("views.png") == (80, 60), f"three views of {size_of('views.png')}")
    check(not said.out, said.out)
    run(0, "film fall.scene.json way.npz -o follow.png --frames 6 --width 40 --height 30 --follow",
        f"--contacts {ON}")
    different("follow.png", "sheet.png")
    # Large pictures have their times and gravity, but for --plain; small ones have none.
    run(0, f"film fall.scene.json way.npz -o small.png --frames 6 --width 40 --height 30 --plain {ON}")
    same_bytes("small.png", "sheet.png")
    for name, words in (("marked", ""), ("plain", "--plain")):
        run(0, f"film fall.scene.json way.npz -o {name}.png --frames 1 --width 100 --height 100 {words} {ON}")
    different("marked.png", "plain.png")
    # Progress where stderr is no terminal: whole lines, which --quiet leaves out.
    for quiet in ("", "-q"):
        said = run(0, f"film fall.scene.json way.npz -o told.png --frames 9 --width 160 --height 120 {quiet} {ON}",
                   env={"ABUT_TEST_PROGRESS": "0.001"})
        shown = lines_with(said.err, r"^drawing, pictures: [1-9] of 9, [0-9]+ %$")
        check("\r" not in said.err and (shown > 0) == (not quiet), f"progress is {said.err!r}")
    # 0.5 s at 10 pictures a second, from 0 on
    run(0, f"film fall.scene.json way.npz -o frames/ --rate 10 --width 24 --height 20 {ON}")
    frames = sorted(os.listdir("frames"))
    check(frames == [f"{i:06d}.png" for i in range(6)], f"the frames are {frames}")
    check(size_of("frames/000005.png") == (24, 20), "a frame of another size")
    different("frames/000000.png", "frames/000005.png")
    # The last state also where it does not come as long after the one before as others do: 0.4 s of
    # states after 0.07, 0.14, ... 0.35 and 0.4 s.
    run(0, f"film fall.scene.json seven.npz -o uneven/ --rate 10 --width 48 --height 40 {ON}")
    run(0, f"film fall.scene.json fall.npz -o even/ --rate 10 --width 48 --height 40 {ON}")
    check(sorted(os.listdir("uneven")) == sorted(os.listdir("even")) and
          content("uneven/000004.png") == content("even/000004.png") and
          content("uneven/000002.png") != content("even/000002.png"), "the film of odd times")
    run(2, f"film fall.scene.json way.npz -o frames --rate 10 {ON}",
        line="abut: frames: the folder is not empty")
    os.mkdir("empty")
    run(0, f"film fall.scene.json way.npz -o empty --rate 1 --width 24 --height 20 {ON}")
    there("empty/000000.png")
    wrong(f"missing/folder: the folder missing/: {MISSING}",
          f"film fall.scene.json way.npz -o missing/folder/ --rate 1 --width 24 --height 20 {ON}")

    # ffmpeg is a program that reads pictures, here one that counts them.
    for folder in ("films", "tools", "bare"):
        os.mkdir(folder)
    put("tools/ffmpeg", """#!/bin/sh
for word; do last=$word; done
echo "$*" > arguments
wc -c > counted
[ -e "$last" ] && cp counted "$last"
""")
    put("broken", """#!/bin/sh
exit 3
""")
    for name in ("tools/ffmpeg", "broken"):
        os.chmod(name, 0o755)
    for tool in ("sh", "wc", "cp"):
        os.symlink(shutil.which(tool), f"bare/{tool}")
    run(1, f"film fall.scene.json way.npz -o films/none.mp4 {ON}",
        env={"PATH": os.path.abspath("bare")},
        line="abut: films/none.mp4: films need ffmpeg, which is not installed (Debian's package ffmpeg); -o FRAMES/ and -o SHEET.png work without it")
    os.environ["PATH"] = os.path.abspath("tools") + ":" + os.environ["PATH"]
    run(0, f"film fall.scene.json way.npz -o films/fall.mp4 --rate 10 --width 25 --height 20 {ON}")
    has(text_of("arguments"), "-s 25x20 -r 10 -i pipe:0 ")
    check(int(text_of("films/fall.mp4")) == 6 * 25 * 20 * 3, f"ffmpeg was given {text_of('films/fall.mp4')} bytes")
    shutil.copy("broken", "tools/ffmpeg")
    run(1,
        f"film fall.scene.json way.npz -o films/broken.mp4 --rate 10 --width 25 --height 20 {ON}",
        err=r"^abut: films/broken\.mp4: ffmpeg (exited with status 3|accepts no more pictures: .*)$")
    check(os.listdir("films") == ["fall.mp4"], f"films holds {os.listdir('films')}")

    usage("film needs a scene, and the states of it that simulate wrote", "film fall.scene.json -o no.png")
    usage("film needs -o FILM.mp4, FRAMES/ or SHEET.png", "film fall.scene.json way.npz")
    usage("-o no.txt: the output of film must be NAME.mp4, SHEET.png or a folder with a / at the end",
          "film fall.scene.json way.npz -o no.txt")
    usage("--view: `1,2,3` must be pairs of numbers",
          "film fall.scene.json way.npz -o no.png --view 1,2,3")
    usage("--view: `up` is not a number", "film fall.scene.json way.npz -o no.png --view up,2")
    usage("--view: 10,91 is not within +-360 and +-90 degrees",
          "film fall.scene.json way.npz -o no.png --view 10,91")
    usage("--rate works only with a film; a sheet has --frames N pictures",
          "film fall.scene.json way.npz -o no.png --rate 3")
    usage("--frames works only with a sheet; a film has --rate R pictures per second",
          "film fall.scene.json way.npz -o no/ --frames 3")
    wrong("way.npz: world 2 does not exist (worlds 0-1)",
          f"film fall.scene.json way.npz -o no.png --world 2 {ON}")
    wrong("way.npz: array 'q': has shape (11, 2, 8), expected (11, 2, 7): the scene has 7 positions per world",
          f"film rest.scene.json way.npz -o no.png {ON}")
    wrong("states.npz: contains no q of shape (states, worlds, nq) and time of shape (states); use the output of simulate",
          f"film fall.scene.json states.npz -o no.png {ON}")
    wrong("stopped.npz: state 0 of world 2: position 2 (0-based) is nan; it must be finite",
          f"film fall.scene.json stopped.npz -o no.png --world 2 {ON}")
    wrong("way.npz: is also an input of this command; use another output file", "film fall.scene.json way.npz -o way.npz")
    absent("no.png", "no")


def test_told():
    # A line on a terminal names the body whose field takes long.
    for name in ("figure", "part"):
        shutil.copy(TESTS.parent / "assets" / f"{name}.obj", f"told-{name}.obj")
    put("told.scene.json", """{"links": [{"name": "lying", "bodies": [{"file": "told-figure.obj"}]},
 {"name": "falling", "joint": {"type": "free"}, "mass": 1, "inertia": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  "position": [0, 0, 9], "bodies": [{"file": "told-part.obj"}]}], "pairs": [{"a": 1, "b": 0}]}
""")
    for more in ("", "--quiet"):
        terminal, end = pty.openpty()
        began, text = time.monotonic(), b""
        process = subprocess.Popen([ABUT, *words_of(f"simulate told.scene.json -o told.npz --steps 1 {STATES} {more}")],
                                   stdout=subprocess.DEVNULL, stderr=end, env={**os.environ, "ABUT_CACHE_DIR": "off"})
        os.close(end)
        with contextlib.suppress(OSError):  # what a terminal says whose other end is closed
            while some := os.read(terminal, 4096):
                text += some
        took, status = time.monotonic() - began, process.wait()
        os.close(terminal)
        check(status == 0, f"status {status}: {text}")
        if more:
            check(b"links[" not in text, f"with --quiet there is {text}")
        elif took > 1.5:
            found = re.search(rb"\r\x1b\[Ktold\.scene\.json: links\[[01]\]\.bodies\[0\] of `(lying|falling)`.*\r\x1b\[K", text)
            check(found, f"nothing names a body: {text}")


if __name__ == "__main__":
    main()
