"""Contact laws of the command beside each other: see support.py."""
import math

from support import *


def compare(*words, **said):
    return run(0, "compare", *words, f"{ON} --precision {WIDE}", **said)


def setup():
    put("fall.scene.json", """{"timestep": 0.01, "gravity": [0, 0, -10],
 "links": [{"position": [0, 0, 5], "joint": {"type": "free"}, "density": 1000,
            "bodies": [{"box": [0.1, 0.1, 0.1]}]},
           {"joint": {"type": "slide", "axis": [1, 0, 0]}, "mass": 2,
            "inertia": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}],
 "actuators": [{"kind": "motor", "joint": 1}]}
""")
    # A box of 6 kg on a floor. What is of hard contacts alone, the soft ones leave aside.
    put("rest.scene.json", """{"timestep": 0.002, "lcp": {"most": 12},
 "links": [{"bodies": [{"plane": [2, 2]}]},
           {"position": [0, 0, 0.1], "joint": {"type": "free"}, "density": 500,
            "bodies": [{"box": [0.15, 0.1, 0.1]}]}],
 "pairs": [{"a": 1, "b": 0, "friction": 0.5}]}
""")
    changed("rest.scene.json", "hard.scene.json", ('"timestep"', '"contact_model": "lcp", "timestep"'))
    changed("hard.scene.json", "rk4.scene.json", ('"timestep"', '"integrator": "rk4", "timestep"'))
    write("states.npz", q=full((2, 8), 0., 0, 5, 1, 0, 0, 0, 0), v=full((2, 7), 0.),
          gravity=full((2, 3), 0., 0, -1, 0, 0, -2))


def test_what_is_warned_about():
    # Hard contacts alone take a joint's damping as it is before the step.
    changed("fall.scene.json", "damped.scene.json", ('"slide", ', '"slide", "damping": 500, '))
    said = compare("damped.scene.json --steps 2",
                   err=r'^abut: warning: damped.scene.json by "lcp": links\[1\].joint: its damping and stiffness are too large for steps of 10 ms: the speeds will oscillate and grow; near the start, steps of up to 8 ms are stable$')
    check(lines_with(said.err, "ms: the speeds will oscillate and grow; near the start, steps of up to") == 1, "soft contacts take damping in, and are warned about")


def test_what_nothing_touches():
    # A coordinate of the end moves with its velocity by the time that is left.
    compare("fall.scene.json --steps 40 --coordinate 2 --models cone,lcp --series fall.npz",
            out=(r"^40 steps of 0\.01 s, 41 states; gradient of the end's z of link 0; on .*, f(32|64)$",
            r"^law +ms a step +end energy \[J\] +deepest \[mm\] +largest force \[N\] +gradient \[s\]  status$",
            r"^cone +[0-9.e-]+ +[0-9.e+-]+ +0 +0 +0\.4  ok$",
            r"^lcp +[0-9.e-]+ +[0-9.e+-]+ +0 +0 +0\.4  ok$"), err="")
    holds("fall.npz", "gradient", [1 if i == 2 else 0.4 - 0.01 * row if i == 9 else 0
                                   for row in range(41) for _ in range(2) for i in range(14)], 1e-6)
    holds("fall.npz", "time", [0.01 * i for i in range(41)], 1e-12)
    for name, count in (("force", 82), ("penetration", 82), ("status", 2)):
        all_are("fall.npz", name, 0, count)
    check(read("fall.npz", "models") == "cone,lcp", "models of fall.npz")
    run(0, "film fall.scene.json fall.npz --world 1 -o fall.png --frames 2 --width 20 --height 20",
        f"-q {ON}")

    # The coordinate: of the last joint, else as it is asked for.
    compare("fall.scene.json --steps 3 --models lcp", out="gradient of the end's length of link 1;")
    compare("fall.scene.json --steps 3 --models lcp --coordinate 4",
            out=("gradient of the end's turn about y of link 0;", r"^lcp .* 0\.03  ok$"))
    compare("rest.scene.json --steps 3 --models lcp", out="gradient of the end's x of link 1;")


def test_a_box_that_rests():
    # Each law holds its 6 * 9.81 N in the end; soft contacts give way by some hundredths of a millimetre.
    compare("rest.scene.json --steps 200 --record 7 --models lcp,cone --series rest.npz -o",
            "rest.png", out=r"^200 steps of 0\.002 s, 30 states; ")
    is_png(content("rest.png"))
    force, depth, energy = (read("rest.npz", name) for name in ("force", "penetration", "energy"))
    check(len(force) == 60 and is_near(force[58:], 58.86, 0.06), f"force: {force[58:]}")
    check(3e-5 < depth[58] < 1e-3 and depth[59] < 1e-6, f"penetration: {depth[58:]}")
    check(len(energy) == 120 and abs(energy[1] - 5.886) <= 1e-3, f"energy: {energy[1]}")

    # Springs give way by their force over their stiffness. Under sanitizers they are not waited for: to come to rest takes many
    # of the same steps.
    def settled(path, name, i, want, within):
        if not SANITIZED:
            got = read(path, name)
            check(len(got) == i + 1 and abs(got[i] - want) <= within, f"{name} of {path}: {got[i]}, not {want}")

    steps = 40 if SANITIZED else 400
    compare(f"rest.scene.json --steps {steps} --record 7 --models spring --series rest.npz")
    settled("rest.npz", "force", 58, 58.86, 1e-3)
    settled("rest.npz", "penetration", 58, 58.86 / 5000, 1e-5)

    # Springs of the world that is chosen, whichever laws are beside it; and a law without derivatives.
    write("weak.npz", q=full((2, 7), 0, 0, 0.1, 1, 0, 0, 0),
          springs=full((2, 1, 6), 5000, 0.5, 0.1, 0.01, 5e-4, 2e-4, 10000, 0.5, 0.1, 0.01, 5e-4, 2e-4))
    compare(f"rest.scene.json --steps {steps} --record 7 --models cone,spring --states weak.npz",
            "--world 1 --series weak.out.npz")
    settled("weak.out.npz", "penetration", 117, 58.86 / 10000, 1e-5)
    changed("rest.scene.json", "plane.scene.json", ('"timestep"', '"integrator": "euler", "timestep"'),
            ('"friction": 0.5', '"contact": {"reaction": "plane"}'))
    compare("plane.scene.json --steps 4 --models lcp,spring", out="^spring .* nan  ok$",
            err="^abut: warning: spring has no gradient: ")

    # Numbers are those of other commands, whichever model the scene itself has.
    compare("rest.scene.json --steps 40 --record 6 --models cone --series soft.npz")
    run(0, f"simulate rest.scene.json --steps 40 --record 6 {ON} --precision {WIDE} -o",
        "soft-simulated.npz")
    compare("rest.scene.json --steps 40 --record 6 --models lcp --series hard.npz")
    compare("hard.scene.json --steps 40 --record 6 --models lcp --series own.npz")
    compare("hard.scene.json --steps 40 --record 6 --models cone --series other.npz")
    run(0, f"simulate hard.scene.json --steps 40 --record 6 {ON} --precision {WIDE} -o",
        "hard-simulated.npz")
    for name in ("q", "v", "time", "status"):
        agree("soft.npz", name, "soft-simulated.npz", name, 0)
        agree("hard.npz", name, "hard-simulated.npz", name, 0)
        agree("own.npz", name, "hard-simulated.npz", name, 0)
        agree("other.npz", name, "soft-simulated.npz", name, 0)
    agree("soft.npz", "energy", "soft-simulated.npz", "energy", 1e-6)
    agree("hard.npz", "energy", "hard-simulated.npz", "energy", 1e-6)

    # The gradient at the start is that of one call for all steps.
    write("end.npz", state=full((1, 12), 1., 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
    for model, law in (("rest", "cone"), ("hard", "lcp")):
        compare(f"{model}.scene.json --steps 40 --record 6 --models {law} --coordinate 0 --series",
                "g.npz")
        run(0, f"rollout-gradient {model}.scene.json --steps 40 --cotangents end.npz -o whole.npz",
            f"{ON} --precision {WIDE} -q")
        want = read("whole.npz", "q") + read("whole.npz", "v")
        near(read("g.npz", "gradient")[:12], want, 1e-3 * max(map(abs, want)), f"the gradient of {law}")


def test_states_controls_worlds_that_stop():
    write("rows.npz", u=full((3, 2, 1), 2., 8, 4, 16, 6, 24))
    compare("fall.scene.json --states states.npz --world 1 --controls rows.npz --models cone",
            "--series second.npz", out="^3 steps ")
    v = read("second.npz", "v")
    check(len(v) == 28 and is_near(v[23:28:4], [-0.06, 0.24], 1e-6), f"v: {v[23:]}")
    write("held.npz", u=full((2, 1), 4., 8))
    compare("fall.scene.json --states states.npz --world 1 --controls held.npz --steps 5 --models",
            "cone --series held-out.npz")
    v = read("held-out.npz", "v")
    check(len(v) == 42 and abs(v[41] - 0.2) <= 1e-6, f"v: {v[41:]}")
    changed("fall.scene.json", "fast.scene.json", ('"timestep"', '"divergence": 1, "timestep"'))
    compare("fast.scene.json --steps 40 --record 3 --models cone,lcp --series stopped.npz -o",
            "stopped.png --json", is_json=True, out=('"seconds_per_step": null',
            '"status_text": "diverged"'))
    gradient = read("stopped.npz", "gradient")
    check(len(gradient) == 15 * 2 * 14 and all(map(math.isnan, gradient)), "gradients of worlds that stop")
    check(min(read("stopped.npz", "v")[2::7]) >= -1.01, "worlds that stop go on")


def test_what_is_left_out():
    # A law that the scene's own file cannot have; what another one has no meaning for is left aside.
    compare("rk4.scene.json --steps 5 --models cone,lcp --series left.npz",
            err=r'^abut: warning: lcp is skipped: rk4\.scene\.json:1: integrator: .*support only "euler"$')
    check(read("left.npz", "models") == "cone", "models of left.npz")
    run(2, f"compare rk4.scene.json --steps 5 --models lcp --series none.npz {ON}", out="",
        err=r'^abut: rk4\.scene\.json:1: integrator: .*support only "euler"$')
    absent("none.npz")
    changed("rk4.scene.json", "soft-rk4.scene.json", ('"contact_model": "lcp", ', ""))
    compare("soft-rk4.scene.json --steps 5 --models cone,lcp", out="^lcp ", err="")
    compare("rest.scene.json --steps 4 --json", is_json=True, out=(r'"left_out": \[',
            '"model": "lcp"'))
    is_png(compare("rest.scene.json --steps 4 --models lcp -o /dev/stdout").stdout)


def test_what_is_wrong():
    usage("compare needs a scene", "compare --steps 3")
    usage("--steps T is missing; it is needed unless controls of shape (T, N, nu) give the number of steps",
          "compare rest.scene.json")
    usage("--models: unknown value `soft`; possible values: cone, lcp, spring",
          "compare rest.scene.json --steps 3 --models cone,soft")
    usage("--models names lcp twice", "compare rest.scene.json --steps 3 --models lcp,cone,lcp")
    usage("--world works only with --states", "compare rest.scene.json --steps 3 --world 1")
    usage("-o no.npz: the output of compare must end with .png",
          "compare rest.scene.json --steps 3 -o no.npz")
    usage("-o -: give the name of a file; for standard output, use /dev/stdout",
          "compare rest.scene.json --steps 3 -o -")
    usage("--series no.png: the output of compare must end with .npz",
          "compare rest.scene.json --steps 3 --series no.png")
    usage("--coordinate: 6 is not in [0, 5], the coordinates of the scene",
          f"compare rest.scene.json --steps 3 --models cone --coordinate 6 {ON}")
    usage("compare has no option --worlds", "compare rest.scene.json --steps 3 --worlds 2")
    usage("compare has no option --contacts", "compare rest.scene.json --steps 3 --contacts")
    usage("simulate has no option --models",
          "simulate rest.scene.json --steps 3 -o no.npz --models cone")
    wrong("states.npz: world 2 does not exist (worlds 0-1)",
          f"compare fall.scene.json --steps 3 --states states.npz --world 2 --models cone {ON}")
    run(2, "compare none.scene.json --steps 3 --models cone,lcp -o no.png",
        err=r"^abut: none\.scene\.json: ")
    put("wrong.scene.json", '{"links": [{}], "what": 1}\n')
    said = run(2, f"compare wrong.scene.json --steps 3 --models cone,lcp -o no.png {ON}",
               err=r"^abut: wrong\.scene\.json:1: what: ")
    check(said.err.count("\n") == 1, "what is wrong is told more than once")
    put("still.scene.json", '{"links": [{}]}\n')
    wrong("still.scene.json: nothing moves, so there is no final state to differentiate",
          f"compare still.scene.json --steps 3 --models cone -o no.png {ON}")
    put("given.scene.json", """{"links": [{"joint": {"type": "free"}, "mass": 1, "inertia": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}],
 "pairs": [{}]}
""")
    wrong("given.scene.json: pairs[0] has no bodies, so there are no contacts to compare",
          f"compare given.scene.json --steps 3 --models cone -o no.png {ON}")
    run(2, f"compare rest.scene.json --steps 3 --models cone {ON} --series none/s.npz")
    absent("no.png", "no.npz")
    no_leftovers()


if __name__ == "__main__":
    main()
