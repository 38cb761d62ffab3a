"""Exact closest points as a user meets them: see support.py."""
import math
import os
import shutil

from support import *


ZERO = (0, 0, 0, 1, 0, 0, 0)
SHAPES = "--shapes shapes.json --poses rows.npz"
TWO = "closest --shapes two.json --poses poses.csv"
BLOBS = "blobs.body.json blobs.body.json --poses blobs.npz -o blobs.out.npz --as superquadrics"


def closest(*words, **said):
    return run(0, "closest", *words, ON, **said)


def golden_jacobian(golden, path, prefix, limit):
    """Of poses that have derivatives and are not at touch, relative to each pose's largest."""
    use = [has and abs(d) > 1e-3 for has, d in zip(read(golden, "derivatives"), read(golden, "d"))]
    for name in ("p1", "p2", "n", "d"):
        got, want = (read(*of).rows() for of in ((path, f"jacobian_{name}"), (golden, f"{prefix}_{name}")))
        check(any(use) and len(got) == len(want) == len(use) and
              all(is_near(a, b, limit * max(map(abs, b))) for a, b, u in zip(got, want, use) if u),
              f"jacobian_{name} of {path} is not {prefix} of the answers")


def setup():
    put("shapes.json", """[{"kind": "box", "numbers": [[0.5, 0.5, 0.5]]},
 {"kind": "sphere", "numbers": [0.25]},
 {"kind": "hull", "numbers": [[[-0.5, -0.5, -0.5], [0.5, -0.5, -0.5], [0, 0.5, -0.5], [0, 0, 0.5]]]},
 {"kind": "capsule", "numbers": [[0.1, 0.3]], "position": [0, 0, 1]}]
""")
    # A box and a sphere apart, two spheres in each other, a hull over a box, a capsule over a sphere.
    write("rows.npz", one=full(4, 0, 1, 0, 1), two=full(4, 1, 1, 2, 3), pose1=full((4, 7), *ZERO),
          pose2=full((4, 7), 2, 0, 0, 1, 0, 0, 0, 0, 0, -0.4, 1, 0, 0, 0, 0.1, 0, 1.5, 1, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0))
    put("two.json", """[{"kind": "box", "numbers": [[0.5, 0.5, 0.5]]}, {"kind": "box", "numbers": [[2, 2, 0.5]], "radius": 0.1}]
""")
    put("blobs.body.json", """{"name": "blobs", "mesh": "cube.obj", "superquadrics": [
  {"axes": [0.1, 0.1, 0.1], "exponents": [1, 1], "position": [-1, 0, 0], "quaternion": [1, 0, 0, 0]},
  {"axes": [0.5, 0.5, 0.5], "exponents": [1, 1], "position": [0, 0, 0], "quaternion": [1, 0, 0, 0],
   "operation": "subtract"},
  {"axes": [0.2, 0.2, 0.2], "exponents": [1, 1], "position": [1, 0, 0], "quaternion": [1, 0, 0, 0]}]}
""")
    write("blobs.npz", pose1=full((3, 7), *ZERO),
          pose2=full((3, 7), 4., 0, 0, 1, 0, 0, 0, -3, 0, 0, 1, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0))


def test_shapes_of_a_file():
    closest(SHAPES, f"-o rows.out.npz --precision {WIDE}",
            out=r"^4 poses of 4 shapes, least distance -0\.1 m, 0 not converged, 0 rejected, [0-9.e+-]+ s on .*, f(32|64)$",
            err="")
    holds("rows.out.npz", "d", [1.25, -0.1, 0.5, 0.35])
    holds("rows.out.npz", "n", [1, 0, 0, 0, 0, -1, 0, 0, 1, 0, 0, 1])
    holds("rows.out.npz", "status", [0, 0, 0, 0])
    near(read("rows.out.npz", "p1")[:6] + read("rows.out.npz", "p2")[:6],
         [0.5, 0, 0, 0, 0, -0.25, 1.75, 0, 0, 0, 0, -0.15], 1e-5, "witness points")
    gap = read("rows.out.npz", "gap")
    check(len(gap) == 4 and 0 <= min(gap) and max(gap) <= 1e-5, f"gaps: {gap}")
    laid_out("rows.out.npz", f"d {TYPE} 4", f"n {TYPE} 4 3", f"p1 {TYPE} 4 3", f"p2 {TYPE} 4 3",
             f"gap {TYPE} 4", "status uint8 4", "iterations uint32 4", "simplex int32 4 4 2")
    lacks(layout("rows.out.npz"), "^(one|two|smoothing)")
    closest(SHAPES, "-o rows32.npz --quiet", out="")
    laid_out("rows32.npz", "d float32 4")
    holds("rows32.npz", "d", [1.25, -0.1, 0.5, 0.35])
    # Whatever the chunks are, it is the same to the bit.
    closest(SHAPES, f"-o chunks.npz --precision {WIDE} --chunk 1 -q")
    same_arrays("rows.out.npz", "chunks.npz", "d", "n", "p1", "p2", "gap")
    check(closest(f"{SHAPES} -o /dev/stdout").stdout[:2] == b"PK", "no .npz on standard output")
    closest(SHAPES, "-o timed.npz --timeline timed")
    there("timed.json", "timed.png")

    # Two shapes need no one and two, and poses may be twists of a .csv.
    closest("--shapes two.json --poses poses.csv -o two.npz",
            out=r"^3 poses of 2 shapes, least distance -0\.12 m, ")
    holds("two.npz", "d", [-0.12, 0.4, -0.12])
    closest("--shapes two.json --poses none.csv -o none.npz",
            out="^0 poses of 2 shapes, 0 not converged",
            err=r"^abut: warning: none.csv: contains no poses; the output will be empty$")
    laid_out("none.npz", "d float32 0")


def test_what_became_of_rows():
    closest("--shapes two.json --poses not-finite.csv -o bad.npz", out=", 2 rejected, ",
            line="abut: warning: poses that are not finite, or with a quaternion of length 0: 2 of 4; the first one has index 1. Their rows are NaN.")
    check(read("bad.npz", "status")[:3] == [0, 3, 3], "status of bad.npz")
    near(read("bad.npz", "d")[:1], [-0.12], 1e-5, "d of bad.npz")
    for name in ("d", "gap", "n", "p1", "p2"):  # a distance of 0 would say that the shapes touch
        rows = read("bad.npz", name).rows()
        check([[math.isnan(x) for x in row] for row in rows] == [[bad] * len(rows[0]) for bad in (0, 1, 1, 0)],
              f"{name} of bad.npz: {rows}")
    write("still.npz", pose1=full((1, 7), *ZERO), pose2=full((1, 7), 0., 0, 1, 0, 0, 0, 0))
    closest("--shapes two.json --poses still.npz -o still.out.npz",
            err=" with a quaternion of length 0: 1 of 1; ")
    closest(SHAPES, "-o cut.npz --cutoff 0.4",
            out=r", least distance -0\.1 m, 2 beyond the cutoff, 0 not converged")
    holds("cut.npz", "status", [4, 0, 4, 0])
    check(min(read("cut.npz", "d")[::2]) > 0.4, "d beyond the cutoff")
    said = closest(SHAPES, "-o cut.npz --cutoff -1")
    holds("cut.npz", "status", [4, 4, 4, 4])
    check(not said.err, said.err)


def test_bodies():
    closest(POSES, "-o hulls.npz",
            out=r"^3 poses of 1 and 1 shapes, least distance -0\.02 m, 0 not converged, ", err="")
    holds("hulls.npz", "d", [-0.02, 0.5, -0.02])
    holds("hulls.npz", "n", [0, 0, 1, 0, 0, 1, 0, 0, 1])
    lacks(layout("hulls.npz"), "^(one|two|smoothing)")
    closest(POSES, f"-o parts.npz --as polyhedra --precision {WIDE}")
    holds("parts.npz", "d", [-0.02, 0.5, -0.02])
    laid_out("parts.npz", "one uint32 3", "two uint32 3")
    closest("cube.body.json cube.body.json --poses poses.csv -o same.npz")
    holds("same.npz", "d", [-0.02, 0.5, -0.02])
    # Of several shapes the nearest answers: two blobs, one of which takes away, and two more.
    closest(BLOBS, f"--precision {WIDE}", out="^3 poses of 2 and 2 shapes, ",
            line="abut: warning: blobs.body.json: 1 of 3 superquadrics are subtracted, and this command ignores that: their hollows count as solid (contacts consider them)")
    holds("blobs.out.npz", "d", [1.7, 0.7, 0.6])
    holds("blobs.out.npz", "one", [1, 0, 1])
    holds("blobs.out.npz", "two", [0, 1, 1])
    holds("blobs.out.npz", "n", [1, 0, 0, -1, 0, 0, 0, 0, 1])
    # A bare mesh's hull is that of all its vertices, whether faces name them or not, and needs no field.
    closest("cube.obj slab.body.json --poses poses.csv -o bare.npz", err="")
    holds("bare.npz", "d", [-0.02, 0.5, -0.02])
    put("cube-and-point.obj", text_of("cube.obj") + "v 0 0 0.25\n")
    put("cube-and-apex.obj", text_of("cube.obj") + "v 0 0 1.5\n")
    closest("cube-and-point.obj slab.obj --poses poses.csv -o bare.npz")
    holds("bare.npz", "d", [-0.02, 0.5, -0.02])
    closest(f"cube-and-apex.obj slab.obj --poses poses.csv -o bare.npz --precision {WIDE}")
    first = read("bare.npz", "d")
    closest(MESHES, f"-o bare.npz --precision {WIDE}")
    second = read("bare.npz", "d")
    check(first != second, "a vertex without a face is left out")
    in_millimetres("cube.obj", "cube-in-mm.obj")
    closest("cube-in-mm.obj slab.body.json --poses poses.csv -o bare.npz",
            err=r"^abut: warning: cube-in-mm\.obj: .* \(--scale 0\.001\)$")
    closest("cube-in-mm.obj slab.body.json --poses poses.csv -o bare.npz --scale 0.001", err="")
    holds("bare.npz", "d", [-0.02, 0.5, -0.02])


def test_derivatives():
    closest(SHAPES, f"-o gumbel.npz --precision {WIDE} --jacobian gumbel",
            out=", derivatives by gumbel, 0 not converged")
    laid_out("gumbel.npz", f"jacobian_p1 {TYPE} 4 3 12", f"jacobian_p2 {TYPE} 4 3 12",
             f"jacobian_n {TYPE} 4 3 12", f"jacobian_d {TYPE} 4 12")
    command(f"closest {SHAPES} -o rows.out.npz --precision {WIDE} {ON}")
    same_arrays("rows.out.npz", "gumbel.npz", "d", "n", "p1", "p2")
    # d of a sphere beside a box's face: along the normal, and no turn of the sphere counts.
    near(read("gumbel.npz", "jacobian_d")[:12], [-1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0], 5e-5, "jacobian_d")
    # Two spheres are smooth: moving body 1 by tau turns the normal by -tau over the distance of the centres, 0.4.
    write("spheres.npz", one=full(1, 1), two=full(1, 1), pose1=full((1, 7), *ZERO),
          pose2=full((1, 7), 0, 0, -0.4, 1, 0, 0, 0))
    closest(f"--shapes shapes.json --poses spheres.npz -o exact.npz --precision {WIDE} --jacobian",
            "exact", err="")
    near(read("exact.npz", "jacobian_n")[0:7:6], [-2.5, 2.5], 1e-3, "jacobian_n")
    closest(SHAPES, "-o exact.npz --jacobian exact",
            err=r"^abut: warning: poses that touch a face or an edge, which has no curvature: [0-9] of 4; the first one has index 0. The curvature is taken as 0; --jacobian gumbel and gaussian smooth it.$")
    check(read("exact.npz", "status")[:2] == [8, 0], "status of exact.npz")
    # Samples follow from the seed.
    for method in ("gaussian", "zeroth"):
        seen = {}
        for seed in (7, 7, 8):
            closest(SHAPES, f"-o random.npz -q --jacobian {method} --samples 5 --seed {seed}")
            new = read("random.npz", "jacobian_p1")
            check(seen.setdefault(seed, new) == new, f"{method} of one seed differs")
        check(seen[7] != seen[8], f"{method} of two seeds is the same")
    if WIDE == "f64":
        closest(SHAPES, "-o finite.npz --precision f64 --jacobian finite")
        # Two faces that lie parallel, as in a later row, have no one derivative.
        want = read("gumbel.npz", "jacobian_d").first(2)
        near(read("finite.npz", "jacobian_d").first(2), want, 1e-6 * max(map(abs, want)))
    closest(BLOBS, "--jacobian exact")
    holds("blobs.out.npz", "one", [1, 0, 1])
    laid_out("blobs.out.npz", "jacobian_p1 float32 3 3 12")


def test_golden_answers():
    golden = os.environ.get("ABUT_SHARED", "") + "/golden-closest"
    if os.path.isdir(golden):
        for part in ("polytopes", "mixed", "awkward"):
            closest(f"--shapes {golden}/{part}/shapes.json --poses {golden}/{part}/inputs.npz -o",
                    f"golden.npz --precision {WIDE}")
            agree("golden.npz", "d", f"{golden}/{part}/expected.npz", "d", 4e-6)
        exact = 1e-7 if WIDE == "f64" else 2e-2
        answers = f"{golden}/polytopes/expected.npz"
        polytopes = f"--shapes {golden}/polytopes/shapes.json --poses {golden}/polytopes/inputs.npz"
        closest(polytopes, f"-o golden.npz --precision {WIDE} --jacobian gumbel --temperature 0.1")
        golden_jacobian(answers, "golden.npz", "gumbel1", exact)
        closest(polytopes,
                f"-o golden.npz --precision {WIDE} --jacobian gumbel --temperature 0.1 --level 2")
        golden_jacobian(answers, "golden.npz", "gumbel2", exact)
        closest(polytopes,
                f"-o golden.npz --precision {WIDE} --jacobian gaussian --epsilon 0.1 --seed 12345")
        golden_jacobian(answers, "golden.npz", "gaussian", exact)


def test_what_is_refused():
    no = f"{TWO} -o no.npz"
    usage("closest needs two bodies, A and B, or --shapes S.json",
          "closest cube.obj --poses poses.csv -o no.npz")
    usage("unexpected argument `cube.obj`: with --shapes, the file already has all shapes",
          "closest cube.obj slab.obj --shapes two.json --poses poses.csv -o no.npz")
    usage("--as works only with bodies, not with --shapes",
          "closest --shapes two.json --as hull --poses poses.csv -o no.npz")
    usage("--as: unknown value `boxes`; possible values: hull, superquadrics, polyhedra",
          "closest cube.body.json slab.body.json --as boxes --poses poses.csv -o no.npz")
    usage("closest needs --poses P", "closest --shapes two.json -o no.npz")
    usage("closest needs -o OUT.npz", TWO)
    usage("-o no.csv: the output of closest must end with .npz", TWO, "-o no.csv")
    usage("--cutoff: `far` is not a number", no, "--cutoff far")
    usage("closest has no option --smoothing", no, "--smoothing sharp.json")
    usage("contacts has no option --shapes",
          "contacts cube.obj slab.obj --shapes two.json --poses poses.csv -o no.npz")
    usage("closest has no option --vertices", f"closest {MESHES} -o no.npz --vertices all")
    usage("--scale works only with bare meshes, and no bare mesh is given", no, "--scale 2")
    usage("--jacobian: unknown value `softmax`; possible values: exact, gumbel, gaussian, zeroth, finite",
          no, "--jacobian softmax")
    usage("--jacobian finite needs --precision f64: in f32 its rounding errors are too large", no,
          "--jacobian finite")
    usage("--temperature: 0 is not in [1e-06, 1000]", no, "--jacobian gumbel --temperature 0")
    usage("--temperature works only with --jacobian gumbel", no, "--jacobian gaussian --temperature 0.1")
    usage("--level works only with --jacobian gumbel", no, "--level 1")
    usage("--level: 17 is not in [0, 16]", no, "--jacobian gumbel --level 17")
    usage("--samples: 0 is not in [1, 65536]", no, "--jacobian zeroth --samples 0")
    usage("--seed: `-1` is not a whole number of at least 0", no, "--jacobian zeroth --seed -1")
    usage("--epsilon works only with --jacobian gaussian, zeroth and finite", no,
          "--jacobian exact --epsilon 0.1")
    wrong("nowhere.json: No such file or directory",
          "closest --shapes nowhere.json --poses poses.csv -o no.npz")
    shutil.copy("rows.npz", "input.npz")
    wrong("input.npz: is also an input of this command; use another output file",
          "closest --shapes shapes.json --poses input.npz -o input.npz")
    same_bytes("rows.npz", "input.npz")
    wrong("poses.csv: contains no arrays one and two, which name the shapes of each pose; they are needed because shapes.json contains 4 shapes, not two",
          f"closest --shapes shapes.json --poses poses.csv -o no.npz {ON}")
    write("far.npz", one=full(2, 0), two=full(2, 1, 4), pose1=full((2, 7), *ZERO),
          pose2=full((2, 7), *ZERO))
    wrong("far.npz: array 'two': row 1: there is no shape 4 (both 0-based); shapes.json contains 4",
          f"closest --shapes shapes.json --poses far.npz -o no.npz {ON}")
    write("below.npz", one=full(2, -1), two=full(2, 1), pose1=full((2, 7), *ZERO),
          pose2=full((2, 7), *ZERO))
    wrong("below.npz: array 'one': row 0 (0-based): -1 is not an index of a shape",
          f"closest --shapes shapes.json --poses below.npz -o no.npz {ON}")
    write("reals.npz", one=full(2, 0.), two=full(2, 1), pose1=full((2, 7), *ZERO),
          pose2=full((2, 7), *ZERO))
    wrong("reals.npz: array 'one': has dtype float64, expected uint8, uint32, int32 or int64",
          f"closest --shapes shapes.json --poses reals.npz -o no.npz {ON}")
    write("short.npz", one=full(2, 0), two=full(1, 1), pose1=full((2, 7), *ZERO),
          pose2=full((2, 7), *ZERO))
    wrong("short.npz: array 'two': must have shape (N,) for the 2 poses",
          f"closest --shapes shapes.json --poses short.npz -o no.npz {ON}")
    write("half.npz", one=full(2, 0), pose1=full((2, 7), *ZERO), pose2=full((2, 7), *ZERO))
    wrong("half.npz: array 'two' is missing",
          f"closest --shapes shapes.json --poses half.npz -o no.npz {ON}")
    put("egg.json", '[{"kind": "egg", "numbers": [1]}]\n')
    run(2, f"closest --shapes egg.json --poses rows.npz -o no.npz {ON}",
        err=r"^abut: egg\.json:1: ")
    wrong("cube.body.json: has no added superquadrics", "closest cube.body.json slab.body.json",
          f"--as superquadrics --poses poses.csv -o no.npz {ON}")
    wrong("cube.obj: a mesh has no polyhedra; give a NAME.body.json",
          f"closest slab.body.json cube.obj --as polyhedra --poses poses.csv -o no.npz {ON}")
    put("bad.obj", "v 0 0 0\nv 1 zero 0\n")
    run(2, f"closest cube.obj bad.obj --poses poses.csv -o no.npz {ON}", err=r"^abut: bad\.obj:2: ")
    run(2, TWO, f"-o nowhere/no.npz {ON}")
    absent("no.npz", "no.csv")
    no_leftovers()


if __name__ == "__main__":
    main()
