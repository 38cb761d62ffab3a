"""gradient, jvp, jacobian and gradcheck as a user meets them: see support.py."""
import math
import os
import random
import re
import shutil
import subprocess

from support import *

PAIR = f"{POSES} --smoothing sharp.json"
NO = f"gradient {PAIR} -o no.npz"
NO = f"gradient {PAIR} -o no.npz"
LIMIT = 1e-7 if WIDE == "f64" else 1e-2  # relative to the largest entry of an array


def setup():
    write("one.npz", tangent1=full(6, 0.5))
    write("d_bar.npz", d_bar=full((3, 304), 1.))
    changed("sharp.json", "soft.json", ('"penetration": 1e-3', '"penetration": 5e-2'))


def test_golden_answers():
    """docs/dev/spec.md, section 9."""
    cases = ["box-on-box", "grids-fine"] if USUAL else ["box-on-box", "figure-gate", "figure-vertices-only", "grids-fine"]
    for name in cases:
        case = f"tests/golden/{name}"
        given = f"{case}/a.body.json {case}/b.body.json --poses {case}/poses.npz {ON} --precision {WIDE} -q"
        given = f"{given} --smoothing {case}/smoothing.json"
        run(0, f"gradient {given} --mean-distance -o mean.npz", out="", err="")
        run(0, f"gradient {given} --reduce mean-distance -o reduced.npz")
        run(0, f"gradient {given} --cotangents {case}/cotangents.npz -o vjp.npz")
        run(0, f"jvp {given} --tangents {case}/expected.npz -o jvp.npz")
        run(0, f"gradient {given} --reduce energy -o energy.npz")
        for body in (1, 2):
            agree("mean.npz", f"g{body}", f"{case}/expected.npz", f"mean_g{body}", LIMIT)
            agree("vjp.npz", f"g{body}", f"{case}/expected.npz", f"vjp_g{body}", LIMIT)
            agree("reduced.npz", f"g{body}", "mean.npz", f"g{body}", 0)
        for output in ("p", "d", "n", "activity"):
            agree("jvp.npz", f"jvp_{output}", f"{case}/expected.npz", f"jvp_{output}", LIMIT)
        run(0, f"contacts {given} -o contacts.npz")
        agree("energy.npz", "value", "contacts.npz", "energy", 1e-6)
        # The value of the mean distance: of all contacts of a pose.
        means = [sum(row) / len(row) for row in read("contacts.npz", "d").rows()]
        near(read("mean.npz", "value"), means, 1e-4, f"{name}: value is not the mean of d")


def test_what_is_written():
    run(0, f"gradient {PAIR} {ON} --reduce soft-minimum -o soft.npz",
        out="^3 poses, 304 contacts per pose, gradient of soft-minimum, largest entry [0-9.]+, [0-9.e-]+ s on .*, f32$")
    laid_out("soft.npz", "g1 float32 3 6", "g2 float32 3 6", "value float32 3", "status uint8 3", "smoothing text")
    lacks(layout("soft.npz"), "^(h1|soft) ")
    run(0, f"contacts {PAIR} {ON} -o contacts.npz -q")
    agree("soft.npz", "value", "contacts.npz", "soft_minimum", 0)
    for name in ("distance", "soft-distance"):
        run(0, f"gradient {PAIR} {ON} --reduce {name} -o reduced.npz -q")
        agree("reduced.npz", "value", "contacts.npz", name.replace("-", "_"), 0)
    run(0, f"gradient {PAIR} {ON} --reduce soft-distance --temperature 0.01 -o warm.npz -q")
    run(0, f"contacts {PAIR} {ON} --temperature 0.01 -o warm_contacts.npz -q")
    agree("warm.npz", "value", "warm_contacts.npz", "soft_distance", 0)
    # Poses that differ by one motion of both bodies have the same numbers, and moving both alike
    # changes nothing: the translation parts of an upright pose cancel.
    first = read("soft.npz", "g1")
    second = read("soft.npz", "g2")
    near(first[:3], [-x for x in second[:3]], 1e-5, "translations do not cancel")
    check(sum(x * x for x in second[:3]) > 0.5, "translations are 0")

    # Quaternions: seven numbers a pose, and no row for the one without a rotation.
    quaternions("quaternions.npz")
    run(0, "gradient cube.body.json slab.body.json --poses quaternions.npz --smoothing sharp.json",
        f"{ON} --mean-distance -o q.npz",
        line="abut: warning: poses with a quaternion of length 0: 1 of 3; the first one has index 1. Their rows are NaN.")
    check([math.isnan(x) for x in read("q.npz", "g2")] == [False] * 7 + [True] * 7 + [False] * 7, "g2 of q.npz")
    # Orthogonal to the quaternion, which is (1, 0, 0, 0) there.
    near(read("q.npz", "g2")[3:4], [0], 1e-6, "g2 is not orthogonal to the quaternion")

    # --cotangents with one array, of d: as the mean distance, but for its factor.
    run(0, f"gradient {PAIR} {ON} --cotangents d_bar.npz -o sum.npz -q --precision {WIDE}")
    run(0, f"gradient {PAIR} {ON} --mean-distance -o mean.npz -q --precision {WIDE}")
    # Whole numbers, as NumPy makes of ones without a point, are reals, too.
    write("whole.npz", d_bar=full((3, 304), 1))
    run(0, f"gradient {PAIR} {ON} --cotangents whole.npz -o whole_sum.npz -q --precision {WIDE}")
    for g in ("g1", "g2"):
        agree("whole_sum.npz", g, "sum.npz", g, 0)
    lacks(layout("sum.npz"), "^value")
    mean = read("mean.npz", "g2")
    near([x / 304 for x in read("sum.npz", "g2")], mean, LIMIT * max(map(abs, mean)), "cotangents of 1 are not 304 means")


def test_by_shape():
    """Sums in double, each pose's, and what is refused."""
    run(0, f"gradient {PAIR} {ON} --reduce mean-distance --by shape -o shape.npz",
        out="^3 poses, 304 contacts per pose, gradient of mean-distance by shape, largest entry [0-9.e-]+, ")
    laid_out("shape.npz", "a_vertices float64 8 3", "b_vertices float64 8 3", "value float32 3", "status uint8 3")
    lacks(layout("shape.npz"), "^g1")
    run(0, f"gradient {PAIR} {ON} --reduce mean-distance --by shape --each-pose -o rows.npz -q")
    run(0, f"gradient {PAIR} {ON} --cotangents d_bar.npz --by shape -o shape_sum.npz -q")
    usage("--each-pose works only with --by shape", f"gradient {PAIR} --reduce energy --each-pose -o no.npz")
    usage("--follow works only with --by shape", f"gradient {PAIR} --reduce energy --follow -o no.npz")
    run(0, f"gradient {PAIR} {ON} --reduce mean-distance --by shape --follow -o follow.npz -q")
    usage("--by shape cannot be combined with --soft, --hessian or --full-hessian",
          f"gradient {PAIR} --reduce energy --by shape --hessian h.npz -o no.npz")
    usage("the soft distance has no gradient by shape",
          f"gradient {PAIR} --reduce soft-distance --by shape -o no.npz")
    write("weight_bar.npz", weight_bar=full((3, 304), 1.))
    run(2, f"gradient {PAIR} {ON} --cotangents weight_bar.npz --by shape -o no.npz",
        line="abut: weight_bar.npz: weight_bar has no gradient by shape")
    one, each, total = (read(f"{name}.npz", "a_vertices") for name in ("shape", "rows", "shape_sum"))
    square = sum(x * x for x in one)
    check(len(one) == len(total) == 24 and len(each) == 72 and square > 0 and
          sum((a - b / 304) ** 2 for a, b in zip(one, total)) < 1e-10 * square and
          sum((sum(each[i::24]) - a) ** 2 for i, a in enumerate(one)) < 1e-20 * square,
          "sums by shape are not those of rows, or of cotangents of 1")


def test_along_shapes():
    """A gradient as a direction, of all poses or of each, is the gradient times itself."""
    run(0, f"gradient {PAIR} {ON} --reduce mean-distance --by shape --each-pose -o rows64.npz -q",
        f"--precision {WIDE}")
    run(0, f"gradient {PAIR} {ON} --reduce mean-distance --by shape -o shape64.npz -q --precision",
        WIDE)
    said = run(0, f"jvp {PAIR} {ON} --tangents shape64.npz --by shape -o jvp_shape.npz --precision",
               WIDE, out="^3 poses, 304 contacts per pose, derivatives along tangents by shape, ")
    check(not said.err, f"jvp by shape warns: {said.err}")
    run(0, f"jvp {PAIR} {ON} --tangents rows64.npz --by shape --each-pose --follow -o jvp_rows.npz",
        f"-q --precision {WIDE}")
    write("shape_and_pose.npz", a_vertices=full((8, 3), 0.5), tangent1=full(6, 0.5))
    run(0, f"jvp {PAIR} {ON} --tangents shape_and_pose.npz --by shape -o jvp_both.npz -q",
        f"--precision {WIDE}")
    usage("--each-pose works only with --by shape", f"jvp {PAIR} --tangents one.npz --each-pose -o no.npz")
    usage("--follow works only with --by shape", f"jvp {PAIR} --tangents one.npz --follow -o no.npz")
    usage("--by shape cannot be combined with --soft",
          f"jvp {PAIR} --tangents one.npz --by shape --soft s.json -o no.npz")
    write("bad.npz", a_vertices=full((8, 2), 1.))
    run(2, f"jvp {PAIR} {ON} --tangents bad.npz --by shape -o no.npz",
        line="abut: bad.npz: array 'a_vertices': has shape (8, 2), expected (8, 3): the body's numbers")
    write("bad.npz", a_vertices=full((8, 3), math.nan))
    run(2, f"jvp {PAIR} {ON} --tangents bad.npz --by shape -o no.npz",
        line="abut: bad.npz: array 'a_vertices': number 0 (0-based) is nan; it must be finite")
    write("bad.npz", tangent1=full(6, 1.))
    run(2, f"jvp {PAIR} {ON} --tangents bad.npz --by shape -o no.npz",
        line="abut: bad.npz: contains no direction of a body's numbers, such as a_vertices or b_axes")
    write("bad.npz", a_vertices=full((8, 3), 1.), a_vertexes=full((8, 3), 1.))
    run(0, f"jvp {PAIR} {ON} --tangents bad.npz --by shape -o some.npz -q",
        line="abut: warning: bad.npz: array 'a_vertexes' is not a direction; it is ignored")
    names = [line.split()[0] for line in layout("shape64.npz").split("\n") if re.match("[ab]_", line)]
    pulled = sum(x * x for name in names for x in read("shape64.npz", name))
    pushed = sum(read("jvp_shape.npz", "jvp_d")) / 304
    check(pulled > 0 and abs(pushed - pulled) < 1e-4 * pulled, "mean distances do not change along their gradient by its square")


def test_tangents():
    """Tangents for each pose, for all poses, of one body alone, and in one array; Hessians."""
    write("each.npz", tangent1=full((3, 6), 0.5), tangent2=full((3, 6), 0.))
    write("both.npz", tangent=full((2, 6), 0.5))
    write("second.npz", tangent2=full(6, 0.5))
    for name in ("each", "one", "both", "second"):
        run(0, f"jvp {PAIR} {ON} --tangents {name}.npz -o jvp_{name}.npz -q --precision {WIDE}")
        run(0, f"gradient {PAIR} {ON} --reduce activity --hessian {name}.npz -o h_{name}.npz -q",
            f"--precision {WIDE}")
    laid_out("jvp_one.npz", f"jvp_p {TYPE} 3 304 3", f"jvp_d {TYPE} 3 304", f"jvp_n {TYPE} 3 304 3",
             f"jvp_activity {TYPE} 3 304", "status uint8 3")
    laid_out("h_one.npz", f"g1 {TYPE} 3 6", f"h1 {TYPE} 3 6", f"h2 {TYPE} 3 6", f"value {TYPE} 3")
    write("ones.npz", tangent1=full(6, 1.))
    write("whole.npz", tangent1=full(6, 1))
    for name in ("ones", "whole"):
        run(0, f"jvp {PAIR} {ON} --tangents {name}.npz -o jvp_{name}.npz -q --precision {WIDE}")
    for output in ("p", "d", "n", "activity"):
        agree("jvp_whole.npz", f"jvp_{output}", "jvp_ones.npz", f"jvp_{output}", 0)
    for output in ("p", "d", "n", "activity"):
        agree("jvp_each.npz", f"jvp_{output}", "jvp_one.npz", f"jvp_{output}", 0)
    for body in (1, 2):
        agree("h_each.npz", f"h{body}", "h_one.npz", f"h{body}", 0)
    # Linear in the tangents.
    for file, name in (("jvp_", "jvp_d"), ("h_", "h1")):
        one, second, both = (read(f"{file}{part}.npz", name) for part in ("one", "second", "both"))
        big = max(map(abs, one + second + both))
        check(big > 0 and is_near([a + b for a, b in zip(one, second)], both, LIMIT * big), f"{name} is not linear in the tangents")

    # The whole Hessian: with tangent2 = 0.5 the products are half the sum of its last six columns; one
    # body's is a block of both bodies'.
    for bodies in ("both", "1", "2"):
        run(0, f"gradient {PAIR} {ON} --reduce activity --full-hessian {bodies} -o",
            f"whole_{bodies}.npz -q --precision {WIDE}")
    laid_out("whole_both.npz", f"hessian {TYPE} 3 12 12")
    laid_out("whole_1.npz", f"hessian {TYPE} 3 6 6", f"g1 {TYPE} 3 6", f"g2 {TYPE} 3 6", f"value {TYPE} 3")
    both = read("whole_both.npz", "hessian")
    for body in (1, 2):
        agree("whole_both.npz", f"g{body}", "h_one.npz", f"g{body}", LIMIT)
        own = range(6 * body - 6, 6 * body)
        products = [sum(both[(12 * pose + row) * 12 + 6:(12 * pose + row) * 12 + 12]) / 2 for pose in range(3) for row in own]
        block = [both[(12 * pose + row) * 12 + column] for pose in range(3) for row in own for column in own]
        want = read("h_second.npz", f"h{body}") + read(f"whole_{body}.npz", "hessian")
        near(products + block, want, LIMIT * max(map(abs, want)), f"the Hessian of body {body}")


def test_soft():
    """--soft changes derivatives, and no values."""
    run(0, f"gradient {PAIR} {ON} --reduce activity -o hard.npz -q")
    run(0, f"gradient {PAIR} {ON} --reduce activity --soft soft.json -o softer.npz -q")
    run(0, f"jvp {PAIR} {ON} --tangents one.npz --soft soft.json -o softer_jvp.npz -q")
    agree("softer.npz", "value", "hard.npz", "value", 0)
    want = read("hard.npz", "g2")
    check(not is_near(read("softer.npz", "g2"), want, 1e-3 * max(map(abs, want))), "--soft changes no gradient")
    laid_out("softer.npz", "soft text")
    has(read("softer.npz", "soft"), '"penetration": 0.05')
    changed("sharp.json", "other.json", ('"two_sided": true', '"two_sided": false'))
    run(2, f"gradient {PAIR} {ON} --mean-distance --soft other.json -o no.npz",
        err="^abut: the pair for derivatives has ")
    absent("no.npz")


def test_jacobian_blocks():
    run(0, f"jacobian {PAIR} {ON} --threshold 0.5 -o blocks.npz --precision {WIDE}",
        out=r"\(activity >= 0\.5\)")
    run(0, f"contacts {PAIR} {ON} --compact 0.5 -o list.npz --precision {WIDE} -q")
    run(0, f"jacobian {PAIR} {ON} --threshold 0.5 -o chunk.npz --precision {WIDE} --chunk 2 -q")
    run(0, f"jacobian {PAIR} {ON} -o default.npz -q")
    for name in ("compact_p", "compact_d", "compact_n", "compact_activity"):
        agree("blocks.npz", name, "list.npz", name, 0)
    agree("chunk.npz", "jacobian", "blocks.npz", "jacobian", 0)
    has(layout("blocks.npz"), f"^jacobian {TYPE} [0-9]+ 8 12$")
    all_are("default.npz", "compact_threshold", 0.1, 1)
    # Along tangents of one body the blocks say what jvp says of the same contacts: rows of 12 numbers,
    # of which the first six are body 1's; d is the fourth of eight.
    command(f"jvp {PAIR} {ON} --tangents one.npz -o jvp_one.npz -q --precision {WIDE}")
    blocks = read("blocks.npz", "jacobian").rows(8 * 12)
    along = read("jvp_one.npz", "jvp_d")
    places = zip(read("blocks.npz", "compact_pose"), read("blocks.npz", "compact_slot"))
    near([sum(block[36:42]) / 2 for block in blocks], [along[304 * pose + slot] for pose, slot in places], 1e-5,
         "blocks are not what jvp says")
    # All contacts of 40 poses: more than the first guess.
    forty_poses()
    run(0, "jacobian cube.body.json slab.body.json --poses forty.csv -o all.npz --threshold 0",
        f"{ON} -q --smoothing sharp.json")
    laid_out("all.npz", "jacobian float32 12160 8 12")


def test_no_poses_poses_that_are_not_finite():
    none = "cube.body.json slab.body.json --poses none.csv"
    run(0, f"gradient {none} {ON} --mean-distance -o none.npz -q",
        line="abut: warning: none.csv: contains no poses; the output will be empty")
    laid_out("none.npz", "g1 float32 0 6")
    run(0, f"jvp {none} {ON} --tangents one.npz -o none.npz -q")
    run(0, f"jacobian {none} {ON} -o none.npz -q")
    wrong("none.csv: contains no poses that can be checked", f"gradcheck {none} --device host -q",
          dev=True)
    odd = "cube.body.json slab.body.json --poses not-finite.csv --smoothing sharp.json"
    run(0, f"gradient {odd} {ON} --reduce energy -o odd.npz -q")
    check([math.isnan(x) for x in read("odd.npz", "g1")] == [False] * 6 + [True] * 12 + [False] * 6, "g1 of odd.npz")
    run(0, f"jvp {odd} {ON} --tangents one.npz -o odd.npz -q")
    check(list(read("odd.npz", "status")) == [0, 1, 1, 0], "status of odd.npz")
    run(0, f"jacobian {odd} {ON} -o odd.npz",
        line="abut: warning: poses that are not finite: 2 of 4; the first one has index 1. They have no contacts in the list.")


def test_gradcheck_always_in_float64():
    if WIDE == "f64":
        assets = "tests/golden/../../assets"
        # The host is slow: few poses there.
        rng = random.Random(5)
        twists("check.csv", *("0.01,0.02,0.03,0.1,0.2,0.3," + ",".join(f"{rng.uniform(-1, 1) * (0.15 if k < 3 else 1):.6f}"
                              for k in range(6)) for _ in range(1 if DEVICE == "host" else 20)))
        # The usual run takes bodies of fewer contacts.
        checked = f"{assets}/figure.body.json {assets}/part.body.json"
        if USUAL:
            flat = "tests/golden/figure-vertices-only"
            checked = f"{flat}/a.body.json {flat}/b.body.json --smoothing {flat}/smoothing.json"
        said = run(0, f"gradcheck {checked} --poses check.csv {ON}", dev=True,
                   out=("^(1 of 1|16 of 20) poses, [0-9]+ contacts per pose, float64 on ",
                   "^steps h, h/2, h/4 .* h = [0-9.e-]+ m or [0-9.e-]+ rad"))
        for name in ("jvp of p", "jvp of activity", "vjp of n", "gradient of energy", "Hessian of soft-minimum", "Jacobian blocks"):
            has(said.out, f"^{name} +.* ok *$")
        check(lines_with(said.out, " ok *$") == 23, "not 23 are right")
        # Grids whose derivatives are continuous to the second: the library's numbers, by the command's same steps.
        if not SANITIZED:
            fine = "tests/golden/grids-fine"
            some = "check.csv" if USUAL else f"{fine}/poses.npz"
            said = run(0, f"gradcheck {fine}/a.body.json {fine}/b.body.json --poses {some}",
                       f"--smoothing {fine}/smoothing.json {ON}", dev=True)
            check(lines_with(said.out, " ok *$") == 23, "not 23 are right of grids")
        # Rows come as they are done: who has read the first ones is gone when the last are written.
        reading = [ABUT + "-dev", *words_of(f"gradcheck {checked} --poses check.csv {ON} -q")]
        with subprocess.Popen(reading, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as rows:
            first = "".join(rows.stdout.readline() for _ in range(6))
            rows.stdout.close()
            check(rows.wait() != 0, "all rows are written at once")
        has(first, "^vjp of p ")
        quaternions("turned.npz", 0.1, 0.03, 0.97, 0.9, 0.05, 0.11, 0.4, 0, 0, 0.98, 0, 0, 0, 0,
                    -0.2, 0.13, 1.02, 0.5, -0.03, 0.07, 0.2)
        # Poses as quaternions, one of them none; a step by hand.
        changed("sharp.json", "blunt.json", (": 1e-[34]", ": 1e-2"))
        run(0, "gradcheck cube.body.json slab.body.json --poses turned.npz --smoothing blunt.json",
            f"{ON} --all --step 1e-3", dev=True, out=("^2 of 3 poses, ", r"h = 0\.001 m or "),
            line="abut-dev: warning: poses with a quaternion of length 0: 1 of 3; the first one has index 1. They are skipped.")
        # Where nothing is smooth at the scale of the steps, nothing is confirmed.
        rows = text_of("poses.csv").splitlines()[1:]
        twists("first.csv", *(rows[:1] if SANITIZED or USUAL else rows))
        run(1, "gradcheck cube.body.json slab.body.json --poses first.csv --smoothing sharp.json",
            f"{ON} --step 10", dev=True, out=" NOT SMOOTH",
            err="^abut-dev: [0-9]+ of 23 derivatives are not confirmed$")
    else:
        run(2, f"gradcheck {PAIR} {ON}", dev=True, err="^abut-dev: .* has no float64$")


def test_usage_and_input():
    one_of = "gradient needs --reduce NAME, --mean-distance or --cotangents C.npz"
    usage(one_of, NO)
    usage(one_of, NO, "--mean-distance --reduce energy")
    usage(one_of, NO, "--mean-distance --cotangents d_bar.npz")
    usage("--reduce: unknown value `least`; possible values: mean-distance, activity, energy, soft-minimum, distance, soft-distance",
          NO, "--reduce least")
    usage("--temperature works only with --reduce soft-distance", NO, "--reduce distance --temperature 0.1")
    usage("--temperature: 0 is not in [1e-12, 1e+09]", NO, "--reduce soft-distance --temperature 0")
    usage("--hessian works only with a reduction, not with --cotangents", NO,
          "--cotangents d_bar.npz --hessian one.npz")
    usage("--hessian and --soft cannot be combined", NO,
          "--mean-distance --hessian one.npz --soft soft.json")
    usage("--full-hessian: unknown value `3`; possible values: both, 1, 2", NO,
          "--mean-distance --full-hessian 3")
    usage("--full-hessian works only with a reduction, not with --cotangents", NO,
          "--cotangents d_bar.npz --full-hessian 1")
    usage("--full-hessian cannot be combined with --hessian or --soft", NO,
          "--mean-distance --full-hessian 1 --soft soft.json")
    usage("--full-hessian cannot be combined with --hessian or --soft", NO,
          "--mean-distance --full-hessian 1 --hessian one.npz")
    usage("gradient needs two bodies, A and B",
          "gradient cube.obj --poses poses.csv --mean-distance")
    usage("gradient needs --poses P", "gradient cube.obj slab.obj --mean-distance -o no.npz")
    usage("gradient needs -o OUT.npz", f"gradient {PAIR} --mean-distance")
    usage("jvp needs --tangents T.npz", f"jvp {PAIR} -o no.npz")
    usage("jvp needs -o OUT.npz", f"jvp {PAIR} --tangents one.npz")
    usage("jacobian needs -o OUT.npz", f"jacobian {PAIR}")
    usage("gradcheck needs two bodies, A and B, or a scene", "gradcheck", dev=True)
    usage("gradcheck needs --poses P", "gradcheck cube.obj slab.obj", dev=True)
    usage("gradcheck has no option --precision", f"gradcheck {PAIR} --precision f32", dev=True)
    usage("contacts has no option --tangents", f"contacts {PAIR} -o no.npz --tangents one.npz")
    usage("--step: 0 is not in [1e-12, 1e+09]", f"gradcheck {PAIR} --step 0", dev=True)
    usage("--threshold: 2 is not in [0, 1]", f"jacobian {PAIR} -o no.npz --threshold 2")

    wrong(f"missing.npz: {MISSING}", NO, "--cotangents missing.npz")
    wrong(f"missing.npz: {MISSING}", NO, "--mean-distance --hessian missing.npz")
    wrong(f"missing.npz: {MISSING}", f"jvp {PAIR} -o no.npz --tangents missing.npz")
    wrong(f"missing.json: {MISSING}",
          f"jvp {PAIR} -o no.npz --tangents one.npz --soft missing.json")
    run(2, NO, "--cotangents poses.csv", err=r"^abut: poses\.csv: .")
    def refused(text, words, **arrays):
        """The text behind the name of the file of these arrays."""
        write("bad.npz", **arrays)
        wrong(f"bad.npz: {text}", words, f"bad.npz {PAIR} {ON} -q -o no.npz")
    refused("contains none of p_bar, d_bar, n_bar, activity_bar, weight_bar", "gradient --cotangents",
            bar=full((3, 304), 1.))
    refused("array 'd_bar': has shape (3, 300), expected (3, 304): 3 poses of 304 contacts",
            "gradient --cotangents", d_bar=full((3, 300), 1.))
    refused("array 'p_bar': has shape (3, 304), expected (3, 304, 3): 3 poses of 304 contacts",
            "gradient --cotangents", d_bar=full((3, 304), 1.), p_bar=full((3, 304), 1.))
    refused("array 'n_bar': has shape (912,), expected (3, 304, 3): 3 poses of 304 contacts",
            "gradient --cotangents", n_bar=full(912, 1.))
    refused("array 'activity_bar': number 0 (0-based) is nan; it must be finite", "gradient --cotangents",
            activity_bar=full((3, 304), math.nan))
    refused("array 'd_bar': number 0 (0-based) is inf; it must be finite", "gradient --cotangents",
            d_bar=full((3, 304), math.inf))
    refused("array 'd_bar': 1e+300 is too large for float32; use --precision f64",
            "gradient --cotangents", d_bar=full((3, 304), 1e300))
    refused("array 'd_bar': is a text; expected numbers", "gradient --cotangents", d_bar="?" * 9)
    for option in ("jvp --tangents", "gradient --mean-distance --hessian"):
        refused("contains no tangent: expected tangent1, tangent2 or tangent", option, s1=full(6, 1.),
                s2=full(6, 1.))
        refused("contains both tangent and tangent1 or tangent2; give one form", option, tangent=full((2, 6), 1.),
                tangent2=full(6, 1.))
        refused("array 'tangent1': has shape (7,), expected (3, 6) or (6,)", option,
                tangent1=full(7, 1.))
        refused("array 'tangent2': has shape (4, 6), expected (3, 6) or (6,)", option,
                tangent1=full(6, 1.), tangent2=full((4, 6), 1.))
        refused("array 'tangent': has shape (3, 6), expected (2, 6)", option, tangent=full((3, 6), 1.))
        refused("array 'tangent1': number 0 (0-based) is nan; it must be finite", option,
                tangent1=full(6, math.nan))
        refused("array 'tangent2': is a text; expected numbers", option, tangent2="?" * 6)
    absent("no.npz")
    write("more.npz", d_bar=full((3, 304), 1.), dbar=full((3, 304), 1.))
    run(0, f"gradient {PAIR} {ON} -q -o more_out.npz --cotangents more.npz",
        line="abut: warning: more.npz: array 'dbar' is not a cotangent; it is ignored")


def test_output():
    os.mkdir("full")
    os.mkdir("locked")
    run(1, f"gradient {PAIR} --mean-distance -o full",
        line="abut: full: exists and is not a regular file")
    run(2, f"jvp {PAIR} --tangents one.npz -o nowhere/out.npz",
        err=r"^abut: nowhere/out\.npz: the folder nowhere/: ")
    for words in ("gradient --mean-distance", "jvp --tangents one.npz", "jacobian"):
        run(1, f"-q {words} {PAIR} -o full/out.npz --device host", limit=FULL_DISK,
            err=r"^abut: full/out\.npz: .")
    # An output that is an input.
    shutil.copy("one.npz", "input.npz")
    wrong("input.npz: is also an input of this command; use another output file",
          f"jvp {PAIR} --tangents input.npz -o input.npz")
    wrong("./input.npz: is also an input of this command; use another output file",
          f"gradient {PAIR} --mean-distance --hessian input.npz -o ./input.npz")
    same_bytes("one.npz", "input.npz")
    os.chmod("locked", 0o555)
    if not os.access("locked", os.W_OK):
        run(1, f"gradient {PAIR} --mean-distance -o locked/out.npz",
            err=r"^abut: locked/out\.npz: .")
    os.chmod("locked", 0o755)
    absent("full/out.npz")
    no_leftovers("full")


if __name__ == "__main__":
    main()
