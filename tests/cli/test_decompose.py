"""Bodies of few superquadrics, by `decompose`: see support.py."""
import re
import shutil

from support import *

BOX = "".join(f"v {x} {y} {z}\n" for z in (0, 0.1) for y in (0, 0.2) for x in (0, 0.3))
FACES = "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n"


def setup():
    """A box of 0.3 x 0.2 x 0.1 m, and the cache, which is the file's own."""
    os.environ["ABUT_CACHE_DIR"] = os.path.abspath("../cache")
    put("box.obj", BOX + FACES)
    # Two balls, as text of blanks, in millimetres: a table of what has no mesh.
    put("near.txt", "# e1 e2 a (3) angles (3) t (3)\n1 1 100 100 100 0 0 0 0 0 0\n"
        "1 1 100 100 100 0.5 0 0 150 0 0\n")


def test_the_command():
    run(0, f"decompose box.obj --primitives 1 --export box.csv -o box.body.json {ON}",
        out=(r"^box\.obj: 6 faces: 1 superquadric, union 0\.00299[0-9]* m \(0\.8 % of the diagonal\), [0-9.e-]+ s on .+$",
        r"^IoU 0\.9[0-9]+, coverage [01]\.[0-9]+, precision [01]\.[0-9]+; Chamfer [0-9.]+ %, Hausdorff [0-9.]+ % of the diagonal$",
        r"^largest uncovered part [0-9.e-]+ % of the volume, surplus [0-9.e-]+ %, [0-9.e-]+ % of the surface beyond 1 %; smallest axis 0\.0[0-9]+ m, [0-9] exponents? at a bound$",
        r"^depth in the field divided by depth in the mesh: median 1.[0-9]+, 95 % below [0-9.]+, maximum [0-9.]+ at \(0.[0-9]+, 0.[0-9]+, 0.[0-9]+\)$",
        r"^box\.body\.json: 300 vertices, 596 faces, 894 edges; genus 0$",
        r"^triangles: mean quality 0\.[89][0-9]+, least 0\.[0-9]+$",
        r"^distance from the field's surface, % of the diagonal of 0.3[0-9]+ m: 0.[0-9]+ on average, [0-9.]+ at most; volume ratio 0.9[0-9]+$",
        r"^box.csv: 1 row of 11 numbers; import them with --union 0.008, because tables do not contain it$"),
        err="")
    there("box.body.json", "box.contact.obj", "box.surface.obj")
    valid_json(text_of("box.body.json"))
    has(text_of("box.body.json"), r'"union": 0\.00299')
    run(0, f"decompose box.obj --primitives 1 -q -o again.body.json {ON}", out="")
    same_bytes("box.contact.obj", "again.contact.obj")
    first, again = (re.sub(r'(?m)^.*"(name|mesh|surface)".*\n', "", text_of(f"{name}.body.json")) for name in ("box", "again"))
    check(first == again, "again.body.json differs")
    said = run(0, "decompose box.obj --error 0.1 --max-primitives 2 --scale 1000 --json -o",
               f"large.body.json {ON}",
               err=r"box\.obj: unit: the diagonal of the box is 374\.[0-9] m; if the file is in millimetres, scale it by 0.001 \(--scale 0.001\)",
               is_json=True, out=('"end": "done"', '"primitives": 1', r'"diagonal": 374\.',
               r'"contact_mesh": \{', '"hausdorff_percent": [0-9.]+,'))
    for key in ("decomposing", "measuring", "whole"):
        has(said.out, f'"{key}": [0-9.]+')
    has(said.out, r'"volume_kept": 0\.9', '"largest_surplus": [0-9.e-]+,',
        '"depth_ratio_median": [0-9.]+,', r'"depth_ratio_most_at": \[')
    # Of a box there is nothing to take away; it is a polyhedron.
    said = run(0, f"decompose box.obj --primitives 1 --family auto --json -o auto.body.json {ON}")
    for figure in ('"primitives": 1', '"subtracted": 0', '"polyhedra": 1', '"planes": 6'):
        has(said.out, f"{figure},")
    valid_json(text_of("auto.body.json"))
    has(text_of("auto.body.json"), r'"polyhedra": \[')
    run(0, f"inspect auto.body.json --json {ON}", out='"polyhedra": 1,')
    # The vertices lie on the surface of the body.
    run(0, f"decompose box.obj --primitives 1 --vertices 40 -q -o few.body.json {ON}")
    obj_has("few.contact.obj", 40, 76)
    run(0, f"inspect few.body.json --json {ON}", out=('"vertices": 40',
        '"off_most_percent": [0-9.]+e-'))
    # Its closed contact mesh is filled by a density, and swept.
    put("few.scene.json", """{"timestep": 0.005, "sweep": true, "links": [{"bodies": [{"box": [1, 1, 0.1]}]},
  {"position": [0, 0, 0.4], "joint": {"type": "free"}, "density": 500, "bodies": [{"file": "few.body.json"}]}],
 "pairs": [{"a": 1, "b": 0}]}
""")
    run(0, "simulate few.scene.json --steps 2 -o few.npz --device host")
    # One closed mesh cannot cover two boxes.
    faces = re.sub(r"\d+", lambda m: str(int(m[0]) + 8), FACES)
    put("two.obj", BOX + re.sub("(?m)^v 0 ", "v 0.6 ", re.sub(r"(?m)^v 0\.3 ", "v 0.9 ", BOX)) + FACES + faces)
    run(0, f"decompose two.obj --primitives 2 --json -o two.body.json {ON}",
        out='"contact_mesh": null',
        err=r"two\.obj: no contact mesh on the body's surface: 50 % of the volume .*; instead, a mesh with about 1,000 vertices on the")
    two = text_of("two.contact.obj")
    check(lines_with(two, r"^v 0\.[6-9]") and lines_with(two, r"^v 0\.[0-3]"), "two.contact.obj has one box")
    # One primitive for two bodies, and a table of such a one: what is far from its mesh is warned about.
    run(0, f"decompose two.obj --primitives 1 --export poor.csv -q -o poor.body.json {ON}",
        err=r"two\.obj: poor fit: with 1 primitive the IoU is 0\.[0-7][0-9], below 0\.8, and [0-9]+ % of the mesh is covered \(use more --primitives, or --error E ")
    run(0, f"decompose --import poor.csv two.obj -q {ON}", out="",
        err=r"poor\.csv: poor fit: with 1 primitive the IoU is 0\.[0-7][0-9], below 0\.8")
    # Of a plate depths are wrong, by a fit, by a table, and for inspect, which tells how many primitives there are.
    changed("box.obj", "plate.obj", (r"^(v .*) 0\.1$", r"\1 0.02"))
    run(0, f"decompose plate.obj --primitives 1 --export plate.csv -q -o plate.body.json {ON}",
        err=r"plate.obj: penetration depths in the body are [0-9.]+ times those in the mesh \(median\), and ")
    run(0, f"decompose --import plate.csv --union 0.008 plate.obj {ON}",
        err=r"plate.csv: penetration depths in the body are [0-9.]+ times those in the mesh \(median\), and ")
    run(0, f"inspect plate.body.json plate.obj -o plate.html {ON}", out="^1 primitive; ",
        err=r"plate.body.json: penetration depths in the body are [0-9.]+ times those in the mesh \(median\), and ")
    has(text_of("plate.html"), 'class="warn">Depths within the body are [0-9.]+ times')
    # Without its lid: what is over the hole counts for no distance.
    changed("box.obj", "open.obj", (r"^f 5 6 8 7\n", ""))
    run(0, f"decompose open.obj --primitives 1 -o open.body.json {ON}",
        out="^[0-9.]+ % of the field's surface covers closed holes of the mesh, and is left out of the distances$",
        err=r"open\.obj: open: 1 hole was closed")
    run(0, f"inspect open.body.json open.obj --json {ON}", out=r'"over_holes": 0\.[2-3]')
    put("inside-out.obj", BOX + "".join("f " + " ".join(f.split()[:0:-1]) + "\n" for f in FACES.splitlines()))
    run(0, f"decompose inside-out.obj --primitives 1 -q -o turned.body.json {ON}",
        err=r"inside-out\.obj: inside out: 1 shell was turned")
    run(0, f"decompose box.obj --error 0.001 --max-primitives 1 -q -o one.body.json {ON}",
        err=r"box\.obj: error not reached: 1 - IoU is 0\.0[0-9]+ of the samples with 1 primitive \(")
    # The table of the box.
    check(re.sub("[^,\n]", "", text_of("box.csv")) == ",,,,,,,,,,\n", "box.csv has other columns")
    run(0, f"decompose --import box.csv --union 0.008 box.obj {ON}",
        out=(r"^box\.csv: 1 superquadric, union 0\.003[0-9]* m \(0\.8 % of the diagonal\)$",
        r"^IoU 0\.9[0-9]+, coverage [01]\.[0-9]+, precision [01]\.[0-9]+; Chamfer [0-9.]+ %, Hausdorff [0-9.]+ % of the diagonal$"),
        err="")


def test_tables_of_other_programs():
    changed("near.txt", "far.txt", (" 150 ", " 900 "))
    said = run(0, "decompose --import near.txt --scale 0.001 --export near.npy --vertices 20",
               f"--json -o near.body.json {ON}", is_json=True, out=('"primitives": 2',
               r'"union": 0\.00[0-9]+', r'"contact_mesh": \{'))
    lacks(said.out, '"iou"')
    run(0, "decompose --import near.npy --export near.csv")
    has(text_of("near.csv"), r"^1,1,0\.1,0\.1,0\.1,0\.(5|49999|50000)[0-9]*,-?0,0,0\.15,0,0$")
    run(0, "decompose --import near.body.json --export again.txt")
    has(text_of("again.txt"), r"^1 1 0\.1 0\.1 0\.1 0\.(5|49999|50000)[0-9]* -?0 0 0\.15 0 0$")
    run(0, "decompose --import far.txt --export far.csv -q",
        err=r"far\.txt: unit: .*\(--scale 0\.001\)")


def test_what_is_refused():
    put("sheet.obj", BOX + FACES[:10])
    put("nan.obj", "v 0 0 0\nv 1 0 0\nv 0 nan 0\nf 1 2 3\n")
    put("thin.obj", "".join(f"v {x} {y} {z}\n" for z in (0, 0.001) for y in (0, 1) for x in (0, 1)) + FACES)
    run(2, f"decompose sheet.obj --primitives 1 -o no.body.json {ON}", err=r"sheet\.obj: .*enclose")
    run(2, f"decompose thin.obj --primitives 1 -o no.body.json {ON}",
        err=r"thin\.obj: the mesh encloses only [0-9]+ of the [0-9]+ cells .*make a grid with `abut field`")
    run(2, f"decompose nan.obj --primitives 1 -o no.body.json {ON}", err=r"nan\.obj:3: ")
    run(2, "decompose box.body.json --primitives 1 -o no.body.json",
        err=r"box\.body\.json: is not a mesh; decompose takes \.obj, \.stl, \.ply or \.off")
    run(2, "decompose box.obj", err=r"decompose needs -o NAME\.body\.json")
    run(2, "decompose box.obj -o no.npz", err=r": the output of decompose must end with .body.json")
    run(2, "decompose box.obj --primitives 1 --vertices 7 -o no.body.json",
        err=r"--vertices: 7 is not in \[8, 65536\]")
    run(2, "decompose box.obj --primitives 65 -o no.body.json", err=r"--primitives")
    run(2, "decompose box.obj --primitives 3 --error 0.1 -o no.body.json",
        err=r"--primitives fixes the number of primitives: leave out --error and --max-primitives")
    run(2, "decompose box.obj --family both -o no.body.json",
        err=r"--family: .both. must be sq or auto")
    run(2, "decompose box.obj --family auto --export no.csv -o no.body.json",
        err=r"--export: tables cannot contain subtracted primitives and polyhedra, which --family auto may make")
    run(2, "decompose --import near.txt --family sq -o no.body.json",
        err=r"--family works only when a mesh is fitted: --import takes superquadrics as they are")
    run(2, "decompose box.obj --union 1 -o no.body.json", err=r"--union")
    put("flat.csv", "1,1,1,1,1,0,0,0,0,0,0\n1,1,1,0,1,0,0,0,0,0,0\n")
    run(2, "decompose --import flat.csv -o no.body.json",
        err=r"flat\.csv:2: column 4: half axis y is 0 m, not in \[1e-06, 1e\+06\]")
    put("short.txt", "1 1 1 1 1 0 0 0 0 0\n")
    run(2, "decompose --import short.txt -o no.body.json",
        err=r"short\.txt:1: has 10 columns, expected the 11 of a superquadric")
    run(2, "decompose --import near.txt --primitives 3 -o no.body.json",
        err=r"--primitives works only when a mesh is fitted: --import takes superquadrics as they are")
    run(2, "decompose --import near.txt",
        err=r"needs -o NAME\.body\.json, --export TABLE or a mesh")
    run(2, "decompose --import near.txt box.obj again.obj -o no.body.json",
        err=r"unexpected argument .again\.obj.")
    run(2, "decompose --import missing.csv -o no.body.json", err=r"missing\.csv: No such file")
    run(2, "decompose box.obj --primitives 1 --export no.mat -o no.body.json",
        err=r"--export no\.mat: the name of a table must end with \.csv, \.txt or \.npy")
    run(2, "decompose --import near.txt --export near.txt",
        err=r"near\.txt: is also an input of this command; use another output file")
    shutil.copy("box.obj", "no.contact.obj")
    run(2, "decompose no.contact.obj --primitives 1 -o no.body.json",
        err=r"no\.contact\.obj: is also an input of this command; use another output file")
    absent("no.body.json")
    run(2, "decompose missing.obj -o no.body.json", err=r"missing\.obj: No such file")


if __name__ == "__main__":
    main()
