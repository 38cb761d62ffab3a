"""Collision in time as a user meets it: see support.py."""
import shutil

from support import *

FROM_TO = "--from from.csv --to to.csv"
QUATERNIONS = "x1,y1,z1,qw1,qx1,qy1,qz1,x2,y2,z2,qw2,qx2,qy2,qz2"
BOXES = f"cube.obj slab.obj {FROM_TO}"


def ccd(*words, **said):
    """Two meshes, without an error."""
    return run(0, "ccd", *words, ON, **said)


def setup():
    twists("from.csv", *(f"0,0,0,1,0,0,0,{end},1,0,0,0" for end in ("0,0,2", "0,0,2", "0,0,0.5")), header=QUATERNIONS)
    twists("to.csv", *(f"0,0,0,1,0,0,0,{end},1,0,0,0" for end in ("0,0,0", "5,0,2", "0,0,0.6")), header=QUATERNIONS)


def within(got, want, limit, text, least=0):
    """By the largest of want, or least where that is larger."""
    near(got, want, limit * max(least, *map(abs, want)), text)


def test_two_boxes_that_meet():
    ccd("cube.obj slab.body.json --from from.csv --to to.csv --separation 0.1 -o boxes.npz",
        f"--precision {WIDE}",
        out="^3 poses: 1 free, 1 hit, 0 at the limit, 1 within, 0 rejected, least time 0, [0-9.e+-]+ s on .*, f(32|64)$",
        err="")
    toi = read("boxes.npz", "toi")
    check(0.4499 < toi[0] <= 0.45 and toi[1:] == [1, 0], f"toi: {toi}")
    check(read("boxes.npz", "status") == [1, 0, 3], "status of boxes.npz")
    kind = read("boxes.npz", "kind")
    check(0 <= kind[0] <= 2 and kind[1] == -1, f"kind: {kind}")
    near(read("boxes.npz", "n")[:3], [0, 0, -1], 1e-5, "the normal")
    within([read("boxes.npz", name)[2] for name in ("p_a", "p_b")], [0.5, 0.6], 1e-3, "nearest points")
    laid_out("boxes.npz", f"toi {TYPE} 3", "status uint8 3", "kind int32 3", "feature_a uint32 3",
             "feature_b uint32 3", f"p_a {TYPE} 3 3", f"p_b {TYPE} 3 3", f"n {TYPE} 3 3",
             "candidates uint32 3")
    lacks(layout("boxes.npz"), "^(dtoi|smoothing)")
    ccd(BOXES, f"--keep 0.1 -o keep.npz -q --precision {WIDE}", out="")
    check(0.4499 < read("keep.npz", "toi")[0] <= 0.4501, "toi of keep.npz")
    # A mesh in millimetres, at the same numbers.
    in_millimetres("cube.obj", "cube-in-mm.obj")
    ccd("cube-in-mm.obj slab.obj --from from.csv --to to.csv --separation 0.1 -o bare.npz",
        err=r"^abut: warning: cube-in-mm\.obj: .* \(--scale 0\.001\)$")
    ccd("cube-in-mm.obj slab.body.json --from from.csv --to to.csv --separation 0.1 -o bare.npz",
        f"--scale 0.001 --precision {WIDE}", err="")
    agree("bare.npz", "toi", "boxes.npz", "toi", 1e-5)
    # Whatever the chunks are, it is the same to the bit.
    ccd("cube.obj slab.body.json --from from.csv --to to.csv --separation 0.1 -o chunks.npz",
        f"--precision {WIDE} --chunk 1 -q")
    same_arrays("boxes.npz", "chunks.npz", "toi", "status", "kind", "feature_a", "feature_b", "p_a", "p_b", "n", "candidates")
    ccd(BOXES, f"--separation 0.1 --gradient -o slopes.npz --precision {WIDE}")
    laid_out("slopes.npz", f"dtoi_a {TYPE} 3 12", f"dtoi_b {TYPE} 3 12")
    # Moving the slab up by tau at time 1 alone: the hit at 0.45 of 2 m, so by 0.45 / 2 a metre.
    within(read("slopes.npz", "dtoi_b")[2:9:6], [0.275, 0.225], 1e-3, "derivatives")
    check(not any(read("slopes.npz", "dtoi_a")[12:]), "what is not hit has derivatives")
    ccd("cube.obj cube.obj --from poses.csv --to poses.csv --motion arc --center1 0.1,0,0",
        "--center2 0,-.5,1e-2 --iterations 20 --tolerance 1e-4 -o still.npz", out="^3 poses: ")
    # What the tolerance is without the option, and less, may be said.
    ccd(BOXES, "--tolerance 0 -o zero.npz")
    ccd(BOXES, "--tolerance 1e-9 -o least.npz")
    check(ccd(f"{BOXES} -o /dev/stdout").stdout[:2] == b"PK", "no .npz on standard output")
    ccd(BOXES, "-o timed.npz --timeline timed")
    there("timed.json", "timed.png")
    ccd("cube.obj slab.obj --from none.csv --to none.csv -o none.npz", out="^0 poses: 0 free, ",
        line="abut: warning: none.csv: contains no poses; the output will be empty")
    laid_out("none.npz", "toi float32 0")
    ccd("cube.obj slab.obj --from not-finite.csv --to not-finite.csv -o bad.npz",
        out=", 3 rejected, ",
        line="abut: warning: poses that are not finite, or too far out, or with a quaternion of length 0: 3 of 4; the first one has index 1. Their times are 0.")
    status = read("bad.npz", "status")
    check(status[0] != 4 and set(status[1:]) == {4}, f"status of bad.npz: {status}")


def test_golden_answers_of_meshes():
    golden = TESTS / "golden-ccd/rigid.npz"
    for i in range(4):
        vertices, faces = read(golden, f"vertices{i}").rows(), read(golden, f"faces{i}").rows()
        put(f"mesh{i}.obj", "".join("v {!r} {!r} {!r}\n".format(*v) for v in vertices) +
            "".join("f {} {} {}\n".format(*(k + 1 for k in f)) for f in faces))
    names = "body_a body_b a0 a1 b0 b1 xi arc status toi smooth normal dtoi_a dtoi_b".split()
    columns = [read(golden, name) for name in names]
    rows = [dict(zip(names, row)) for row in zip(*(c.rows() if c.shape[1:] else c for c in columns))]
    # By how much times, slopes and normals may differ.
    for precision, early, slope, normal in (("f32", 1e-4, 1e-2, 2e-2), ("f64", 1e-8, 1e-5, 1e-5)):
        for i in range(0, len(rows), 8 if USUAL else 1) if precision in ("f32", WIDE) else ():
            row = rows[i]
            for time in "01":
                write(f"p{time}.npz", pose1=full((1, 7), *row["a" + time]), pose2=full((1, 7), *row["b" + time]))
            ccd(f"mesh{row['body_a']:.0f}.obj mesh{row['body_b']:.0f}.obj --from p0.npz --to",
                f"p1.npz --motion {'arc' if row['arc'] else 'linear'} --separation {row['xi']!r}",
                f"--gradient --precision {precision} -o rigid.npz")
            toi = read("rigid.npz", "toi")
            check(all(row["toi"] - early <= t <= row["toi"] + 1e-11 for t in toi), f"toi of row {i}: {toi}")
            check(all(s % 8 == row["status"] for s in read("rigid.npz", "status")), f"status of row {i}")
            if row["smooth"]:
                within(read("rigid.npz", "n"), row["normal"], normal, f"the normal of row {i}")
                for name in ("dtoi_a", "dtoi_b"):
                    within(read("rigid.npz", name), row[name], slope, f"{name} of row {i}", 1)


def test_what_is_refused():
    no = f"ccd {BOXES} -o no.npz"
    usage("ccd needs two meshes, A and B", "ccd cube.obj --from from.csv --to to.csv -o no.npz")
    usage("unexpected argument `slab.obj`",
          "ccd cube.obj slab.obj slab.obj --from from.csv --to to.csv -o no.npz")
    usage("ccd needs --from P0", "ccd cube.obj slab.obj --to to.csv -o no.npz")
    usage("ccd needs --to P1", "ccd cube.obj slab.obj --from from.csv -o no.npz")
    usage("ccd needs -o OUT.npz", f"ccd {BOXES}")
    usage("-o no.csv: the output of ccd must end with .npz", f"ccd {BOXES} -o no.csv")
    usage("--separation: -1 is not in [0, 1e+09]", no, "--separation -1")
    usage("--separation: `inf` is not a number", no, "--separation inf")
    usage("--keep: 1 is not in [0, 0.999]", no, "--keep 1")
    usage("--tolerance: -1e-9 is not in [0, 1e+09]", no, "--tolerance -1e-9")
    usage("--iterations: 0 is not in [1, 1000000]", no, "--iterations 0")
    usage("--motion: unknown value `screw`; possible values: linear, arc", no, "--motion screw")
    usage("--center1 works only with --motion arc", no, "--center1 0,0,0")
    usage("--center2 works only with --motion arc", no, "--motion linear --center2 0,0,0")
    usage("--center1: `0,0` must be 3 numbers", no, "--motion arc --center1 0,0")
    usage("--center2: `0,0,0,0` must be 3 numbers", no, "--motion arc --center2 0,0,0,0")
    usage("--center1: `z` is not a number", no, "--motion arc --center1 0,0,z")
    usage("ccd has no option --poses", no, "--poses poses.csv")
    usage("ccd has no option --json", no, "--json")
    run(2, f"ccd {BOXES} -o nowhere/no.npz {ON}")
    wrong("to.csv: contains 3 poses, but none.csv contains 0",
          "ccd cube.obj slab.obj --from none.csv --to to.csv -o no.npz")
    wrong("poses.csv: contains twists, but from.csv contains positions and quaternions",
          "ccd cube.obj slab.obj --from from.csv --to poses.csv -o no.npz")
    wrong("nowhere.csv: No such file or directory",
          "ccd cube.obj slab.obj --from from.csv --to nowhere.csv -o no.npz")
    wrong("nowhere.obj: No such file or directory",
          "ccd cube.obj nowhere.obj --from from.csv --to to.csv -o no.npz")
    put("narrow.csv", f"{QUATERNIONS}\n0,0,0,1,0,0,0,0,0,2,1,0,0\n")
    wrong("narrow.csv:2: has 13 columns, but the header has 14",
          "ccd cube.obj slab.obj --from narrow.csv --to to.csv -o no.npz")
    write("input.npz", pose1=full((1, 7), 0., 0, 0, 1, 0, 0, 0),
          pose2=full((1, 7), 0., 0, 2, 1, 0, 0, 0))
    shutil.copy("input.npz", "before.npz")
    wrong("input.npz: is also an input of this command; use another output file",
          "ccd cube.obj slab.obj --from input.npz --to input.npz -o input.npz")
    same_bytes("input.npz", "before.npz")
    put("bad.obj", "v 0 0 0\nv 1 zero 0\n")
    run(2, f"ccd cube.obj bad.obj --from from.csv --to to.csv -o no.npz {ON}",
        err=r"^abut: bad\.obj:2: ")
    put("huge.obj", "v 0 0 0\nv 1 0 0\nv 0 2e6 0\nf 1 2 3\n")
    run(2, f"ccd cube.obj huge.obj --from from.csv --to to.csv -o no.npz {ON}",
        err=r"^abut: huge\.obj: ")

    absent("no.npz", "no.csv")
    no_leftovers()


if __name__ == "__main__":
    main()
