"""Derivatives of worlds as a user meets them, by transition, rollout-gradient and gradcheck: see support.py."""
import math
import os

from support import *

TREE, BOXES, LONG, SPRINGS = (f"tests/golden-dynamics/{name}" for name in (
    "cone-random-tree", "cone-boxes-resting", "cone-tree-rollout", "spring-t26-finger"))
# Limits of trees, of contacts, of float32.
EXACT, CLOSE = (1e-10, 1e-6) if WIDE == "f64" else (1e-3, 1e-2)


def setup():
    write("tree.npz", q=read(f"{TREE}/inputs.npz", "q"), v=read(f"{TREE}/inputs.npz", "v"))
    write("u.npz", u=read(f"{TREE}/inputs.npz", "u"))
    write("boxes.npz", q=read(f"{BOXES}/inputs.npz", "q"), v=read(f"{BOXES}/inputs.npz", "v"))
    write("two.npz", q=read(f"{BOXES}/inputs.npz", "q").first(2),
          v=read(f"{BOXES}/inputs.npz", "v").first(2))
    write("stop.npz", q=full((1, 14), math.nan))
    write("long.npz", q=read(f"{LONG}/inputs.npz", "q"), v=read(f"{LONG}/inputs.npz", "v"))
    write("push.npz", u=read(f"{LONG}/inputs.npz", "u_rollout").swapped())
    write("bar.npz", state=read(f"{LONG}/inputs.npz", "cotangent_rollout"))
    rows = [[0.1 * ((22 * world + i) % 7) - 0.3 for i in range(22)] for world in range(3)]
    bars = [x for row in rows for x in row]
    positions, speeds = ([x for row in rows for x in half(row)] for half in (lambda r: r[:11], lambda r: r[11:]))
    write("whole.npz", state=full((3, 22), *bars))
    write("parts.npz", q=full((3, 11), *positions), v=full((3, 11), *speeds))
    write("kept.npz", record=full((6, 3, 22), *[0.] * 330, *bars))
    write("held.npz", u=full((3, 3), 0.2, -0.1, 0.3))
    answer = {name: read(f"{SPRINGS}/rollout.npz", name) for name in ("q0", "v0", "end_bar", "controls",
              "euler_2_q0_bar", "euler_2_v0_bar", "euler_2_parameters_bar")}
    write("spring.npz", q=full((1, 5), *answer["q0"]), v=full((1, 5), *answer["v0"]))
    write("spring-bar.npz", state=full((1, 10), *answer["end_bar"]))
    held = [x for i in range(0, 50, 2) for _ in range(8) for x in answer["controls"][i:i + 2]]
    write("spring-u.npz", u=full((200, 1, 2), *held))
    write("spring-g.npz", q=full((1, 5), *answer["euler_2_q0_bar"]), v=full((1, 5), *answer["euler_2_v0_bar"]),
          springs=full((1, 1, 6), *answer["euler_2_parameters_bar"]))

def test_matrices_of_a_step():
    run(0, f"transition {TREE}/scene.json --states tree.npz --controls u.npz --parameters",
        f"--precision {WIDE} -o ab.npz {ON}",
        out="^3 worlds, A of 24 x 24, B of 24 x 4, [0-9.e+-]+ s on .*, f(32|64)$", err="")
    for name in ("A", "B", "P_mass_scale", "P_gravity"):
        agree("ab.npz", name, f"{TREE}/expected.npz", name, EXACT)
    laid_out("ab.npz", f"A {TYPE} 3 24 24")
    # no pairs
    laid_out("ab.npz", f"P_friction {TYPE} 3 24 0", "status uint32 3")
    run(0, f"transition {TREE}/scene.json --states tree.npz --controls u.npz -o short.npz -q {ON}",
        out="")
    # float32
    agree("short.npz", "A", f"{TREE}/expected.npz", "A", 1e-3)
    lacks(layout("short.npz"), "P_")
    # Controls of one step are those of a rollout of one.
    write("pushed.npz", u=read(f"{TREE}/inputs.npz", "u").first(1))
    write("one.npz", q=read(f"{TREE}/inputs.npz", "q").first(1),
          v=read(f"{TREE}/inputs.npz", "v").first(1))
    write("first.npz", B=read(f"{TREE}/expected.npz", "B").first(1))
    run(0, f"transition {TREE}/scene.json --states one.npz --controls pushed.npz --precision",
        f"{WIDE} -o ab1.npz {ON}")
    agree("ab1.npz", "B", "first.npz", "B", EXACT)

    run(0, f"transition {BOXES}/scene.json --states boxes.npz --parameters --precision {WIDE} -o",
        f"boxes-ab.npz {ON}")
    for name in ("A", "P_mass_scale", "P_friction", "P_stiffness", "P_gravity"):
        agree("boxes-ab.npz", name, f"{BOXES}/expected.npz", name, CLOSE)
    laid_out("boxes-ab.npz", f"B {TYPE} 3 12 0")
    # At the scene's own start, of worlds alike, and of one that stops.
    run(0, f"transition {TREE}/scene.json --worlds 2 --precision {WIDE} -o start.npz {ON}")
    laid_out("start.npz", f"A {TYPE} 2 24 24")
    run(0, f"transition {TREE}/scene.json --states stop.npz -o stopped.npz {ON}",
        err=r"^abut: warning: 1 of 1 world \(0\) has numbers that are not finite")
    all_are("stopped.npz", "A", 0, 576)
    all_are("stopped.npz", "status", 32)


def test_gradients_of_a_rollout():
    # World 2 becomes too fast.
    run(0, f"rollout-gradient {LONG}/scene.json --states long.npz --controls push.npz --cotangents",
        f"bar.npz --precision {WIDE} -o g.npz {ON}",
        out=r"^3 worlds, 20 steps of 0\.005 s, gradients of the last state, [0-9.e+-]+ s on .*, f(32|64)$",
        err=r"^abut: warning: 1 of 3 worlds \(2\) became faster than the scene's .divergence.")
    laid_out("g.npz", f"u {TYPE} 20 3 3", f"friction {TYPE} 3 0")
    for name in ("q", "v", "mass_scale", "gravity", "u"):
        got = read("g.npz", name).swapped() if name == "u" else read("g.npz", name)
        want = read(f"{LONG}/expected.npz", f"rollout_grad_{name}").first(2)
        near(got.first(2), want, EXACT * max(map(abs, want)), name)
    v = read("g.npz", "v")
    check(len(v) == 33 and not any(v[22:]), "a world that stopped has a gradient")
    check(list(read("g.npz", "status")) == [0, 0, 2], "status of g.npz")
    # The same cotangents in two parts, or as those of the last state that is kept.
    for bar in ("whole", "parts", "kept"):
        more = "--record 4" if bar == "kept" else ""
        said = run(0, f"rollout-gradient {LONG}/scene.json --states long.npz --controls push.npz",
                   f"--cotangents {bar}.npz --precision {WIDE} -o g-{bar}.npz {more} {ON}")
    has(said.out, "gradients of 6 states, ")
    for name in ("q", "v", "u", "mass_scale", "gravity"):
        agree("g-parts.npz", name, "g-whole.npz", name, 0)
        agree("g-kept.npz", name, "g-whole.npz", name, 0)
    # Cotangents of the start are gradients, but of worlds that stop; those of one half alone are taken.
    write("begin.npz", record=full((1, 3, 22), *read("whole.npz", "state")))
    run(0, f"rollout-gradient {LONG}/scene.json --states long.npz --controls push.npz --cotangents",
        f"begin.npz --record 21 --precision f32 -o g-begin.npz {ON}")
    near(read("g-begin.npz", "q").first(2), read("parts.npz", "q").first(2), 1e-7, "gradients of the start")
    v = read("g-begin.npz", "v")
    check(len(v) == 33 and not any(v[22:]), "a world that stopped has a gradient")
    all_are("g-begin.npz", "u", 0)
    write("half.npz", v=full((3, 11), 1.))
    write("half-whole.npz",
          state=full((3, 22), 0., 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1))
    run(0, f"rollout-gradient {LONG}/scene.json --states long.npz --controls push.npz --cotangents",
        f"half.npz -o g-half.npz {ON}")
    run(0, f"rollout-gradient {LONG}/scene.json --states long.npz --controls push.npz --cotangents",
        f"half-whole.npz -o g-ones.npz {ON}")
    agree("g-half.npz", "q", "g-ones.npz", "q", 0)
    # Held controls: their gradient is the sum over steps.
    write("repeated.npz", u=full((7, 3, 3), 0.2, -0.1, 0.3))
    run(0, f"rollout-gradient {LONG}/scene.json --states long.npz --controls held.npz --steps 7",
        f"--cotangents whole.npz --precision {WIDE} -o g-held.npz {ON}")
    run(0, f"rollout-gradient {LONG}/scene.json --states long.npz --controls repeated.npz",
        f"--cotangents whole.npz --precision {WIDE} -o g-repeated.npz {ON}")
    agree("g-held.npz", "q", "g-repeated.npz", "q", 0)
    u = read("g-repeated.npz", "u")
    sums = [sum(u[i::9]) for i in range(9)]
    near(read("g-held.npz", "u"), sums, EXACT * max(map(abs, sums)), "u of held controls")
    # Contacts over 60 steps; two worlds, without controls.
    write("boxes-bar.npz", state=read(f"{BOXES}/inputs.npz", "cotangent_rollout"))
    run(0, f"rollout-gradient {BOXES}/scene.json --states two.npz --steps 60 --cotangents",
        f"boxes-bar.npz --precision {WIDE} -o boxes-g.npz {ON}")
    for name in ("q", "v", "mass_scale", "friction", "stiffness", "gravity"):
        agree("boxes-g.npz", name, f"{BOXES}/expected.npz", f"rollout_grad_{name}", CLOSE)
    laid_out("boxes-g.npz", f"u {TYPE} 2 0")

    # A finger pushes a T, by springs, over 200 steps; a control holds for eight.
    run(0, f"rollout-gradient {SPRINGS}/scene.json --states spring.npz --controls spring-u.npz",
        f"--cotangents spring-bar.npz --precision {WIDE} -o spring-out.npz {ON}")
    for name in ("q", "v", "springs"):
        agree("spring-out.npz", name, "spring-g.npz", name, CLOSE)
    laid_out("spring-out.npz", f"springs {TYPE} 1 1 6")


def test_differences():
    if WIDE == "f64":
        said = run(0, f"gradcheck {BOXES}/scene.json --states two.npz --steps 5 {ON}", dev=True,
                   out=("^2 of 2 worlds, a step and a rollout of 5 steps, float64 on ",
                   r"^not smooth: a border where a step chooses \(zones of the cone, "))
        for name in ("step: vjp by q", "step: jvp by v", "rollout: vjp by friction", "rollout: vjp by gravity", "rollout: jvp by mass_scale"):
            has(said.out, f"^{name} +[a-z ]+ +[0-9.e+-]+ +1e-0[58] +8 .* ok *$")
        check(lines_with(said.out, " ok *$") == 24, "not 24 are right")
        check(not said.err, said.err)
        # With the numbers of springs, of which there are no tangents.
        said = run(0, f"gradcheck {SPRINGS}/scene.json --states spring.npz --steps 5 {ON}",
                   dev=True,
                   out=("^rollout: vjp by springs +differences of states +[0-9.e+-]+ +1e-05 +4 .* ok *$",
                   "^not smooth: a limit of forces, or a pose after which worlds diverge, "))
        check(lines_with(said.out, " ok *$") == 30, "not 30 are right")
        # Far from touch they have derivatives of 1e-200 and less.
        put("air.scene.json", """{"contact_model": "spring", "integrator": "euler", "timestep": 0.001,
 "links": [{"bodies": [{"plane": [5, 5]}]},
  {"position": [0, 0, 0.23], "quaternion": [0.045426, -0.334452, -0.894187, -0.294124],
   "joint": {"type": "free"}, "density": 500, "bodies": [{"box": [0.15, 0.1, 0.03]}]}],
 "pairs": [{"a": 1, "b": 0}]}
""")
        said = run(0, f"gradcheck air.scene.json {ON}", dev=True)
        check(lines_with(said.out, " ok *$") == 26, "not 26 are right")
        # Near the start; controls tell the steps; a world with a status is left out.
        said = run(0, f"gradcheck {LONG}/scene.json --worlds 2 --step 1e-3 {ON}", dev=True,
                   out=("^2 of 2 worlds, a step and a rollout of 10 steps, ",
                   r"h = 0\.001 for q, .*; 0\.01 for v, u; 0\.1 for gravity"))
        check(lines_with(said.out, " ok *$") == 20, "not 20 are right")
        run(0, f"gradcheck {LONG}/scene.json --states long.npz --controls push.npz {ON}", dev=True,
            out="^2 of 3 worlds, a step and a rollout of 20 steps, ",
            line="abut-dev: warning: 1 of 3 worlds are skipped: derivatives do not describe everything that they do")
        # Steps across the borders of all zones confirm nothing; under sanitizers none of a shorter rollout.
        across = "--steps 2" if SANITIZED else "--steps 10"
        run(1, f"gradcheck {BOXES}/scene.json --states two.npz --step 100 {across} {ON}", dev=True,
            out=" (NOT SMOOTH|PARTS)", err="^abut-dev: [0-9]+ of 24 derivatives are not confirmed$")
        wrong("stop.npz: contains no worlds that can be checked",
              f"gradcheck {TREE}/scene.json --states stop.npz {ON}", dev=True)
    else:
        run(2, f"gradcheck {BOXES}/scene.json {ON}", dev=True, err="^abut-dev: .* has no float64$")


def test_what_is_refused():
    os.mkdir("untouched")
    to = "-o untouched/no.npz"
    rollout = f"rollout-gradient {LONG}/scene.json --states long.npz {to}"
    usage("transition needs a scene", f"transition {to}")
    usage("transition needs -o OUT.npz", f"transition {TREE}/scene.json")
    usage("transition has no option --steps", f"transition {TREE}/scene.json --steps 2 {to}")
    usage("-o untouched/no.txt: the output of transition must end with .npz",
          f"transition {TREE}/scene.json -o untouched/no.txt")
    usage("--states already determines the number of worlds: leave out --worlds",
          f"transition {TREE}/scene.json --states tree.npz --worlds 2 {to}")
    usage("rollout-gradient needs --cotangents C.npz", rollout, "--controls push.npz")
    usage("--steps T is missing; it is needed unless controls of shape (T, N, nu) give the number of steps",
          rollout, "--cotangents bar.npz")
    usage("--steps: 0 is not in [1, 1099511627776]", rollout, "--cotangents bar.npz --steps 0")
    usage("--record: 0 is not in [1, 9223372036854775807]", rollout,
          "--cotangents bar.npz --steps 2 --record 0")
    usage("--states works only with a scene, not with two bodies", f"gradcheck {POSES} --states two.npz",
          dev=True)
    usage("--poses works only with two bodies, not with a scene",
          f"gradcheck {LONG}/scene.json --poses poses.csv", dev=True)
    usage("gradcheck has no option --output", f"gradcheck {LONG}/scene.json {to}", dev=True)
    run(2, rollout, f"--controls held.npz --cotangents bar.npz {ON}",
        line="abut: --steps T is missing; it is needed unless controls of shape (T, N, nu) give the number of steps")
    wrong("none.npz: No such file or directory",
          f"transition {TREE}/scene.json --states none.npz {to} {ON}")
    wrong("none.npz: No such file or directory", rollout,
          f"--controls push.npz --cotangents none.npz {ON}")
    wrong("tree.npz: array 'q': has shape (3, 14), expected (3, 7): 3 worlds of the scene, whose q has 7 numbers",
          f"transition {BOXES}/scene.json --states tree.npz {to} {ON}")
    wrong("push.npz: array 'u': has shape (20, 3, 3), expected (1, 3, 3): 1 step of 3 worlds, and 3 controls",
          f"transition {LONG}/scene.json --states long.npz --controls push.npz {to} {ON}")
    wrong("push.npz: array 'u': has shape (20, 3, 3), expected (19, 3, 3): 19 steps of 3 worlds, and 3 controls",
          rollout, f"--controls push.npz --steps 19 --cotangents bar.npz {ON}")
    wrong("long.npz: is also an input of this command; use another output file", f"rollout-gradient {LONG}/scene.json",
          "--states long.npz --cotangents bar.npz --steps 2 -o long.npz")

    def cotangents(text, **arrays):
        write("bad.npz", **arrays)
        return wrong(f"bad.npz: {text}", rollout, f"--controls push.npz --cotangents bad.npz {ON}")

    said = cotangents("contains none of state, q, v and record", other=full((3, 22), 1.))
    has(said.err, r"^abut: warning: bad\.npz: array 'other' is not a cotangent; it is ignored$")
    cotangents("contains both state and q or v; give one form", state=full((3, 22), 1.), v=full((3, 11), 1.))
    cotangents("array 'state': has shape (2, 22), expected (3, 22): 3 worlds of 11 velocities",
               state=full((2, 22), 1.))
    cotangents("array 'q': has shape (3, 13), expected (3, 11): 3 worlds of 11 velocities",
               q=full((3, 13), 1.))
    cotangents("array 'v': number 12 (0-based) is nan; it must be finite",
               v=full((3, 11), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, math.nan))
    cotangents("array 'record' has cotangents of every K-th state: state this K with --record K",
               record=full((6, 3, 22), 1.))
    wrong("whole.npz: contains no record, the cotangents of --record 4", rollout,
          f"--controls push.npz --cotangents whole.npz --record 4 {ON}")
    wrong("kept.npz: array 'record': has shape (6, 3, 22), expected (5, 3, 22): the start and each state of --record 5 in 20 steps, 3 worlds of 11 velocities",
          rollout, f"--controls push.npz --cotangents kept.npz --record 5 {ON}")
    write("nothing.npz", u=full((0, 3, 3), 1.))
    wrong("nothing.npz: array 'u': must have at least one step", rollout,
          f"--controls nothing.npz --cotangents bar.npz {ON}")
    check(not os.listdir("untouched"), "something was written")


if __name__ == "__main__":
    main()
