"""Fields of bare meshes, by `field` and by the commands that take bodies: see support.py."""
import os
import shutil

from support import *

NO = "field box.stl -o no.body.json"
NO = "field box.stl -o no.body.json"


def stl(name, scale=1, keep=lambda t: True, turn=lambda t: False):
    """A box of 0.3 x 0.2 x 0.1 m: those of its triangles that are kept, and some of them turned."""
    faces = [(0, 2, 3), (0, 3, 1), (4, 5, 7), (4, 7, 6), (0, 1, 5), (0, 5, 4),
             (2, 6, 7), (2, 7, 3), (0, 4, 6), (0, 6, 2), (1, 3, 7), (1, 7, 5)]
    text = "solid\n"
    for t, (a, b, c) in enumerate(faces):
        if keep(t):
            text += "facet normal 0 0 0\nouter loop\n"
            for i in (a, c, b) if turn(t) else (a, b, c):
                x, y, z = (scale * size * (i >> k & 1) for k, size in enumerate((0.3, 0.2, 0.1)))
                text += f"vertex {x:.9g} {y:.9g} {z:.9g}\n"
            text += "endloop\nendfacet\n"
    put(name, text + "endsolid\n")


def setup():
    os.environ["ABUT_CACHE_DIR"] = os.path.abspath("../cache")  # what is kept is the file's own
    stl("box.stl")
    stl("open.stl", keep=lambda t: t > 1)
    stl("millimetres.stl", 1000)
    stl("flat.stl", keep=lambda t: t < 2)


def test_the_command():
    os.environ["ABUT_CACHE_DIR"] = os.path.abspath("cache")
    run(0, "field box.stl -o box.body.json",
        out=(r"^box.stl: 12 faces, 12 triangles merged into flat faces, .*: [0-9]+ vertices, 12 edges; field of [0-9]+ cells.*, [0-9.]+ MiB$",
        r"^cells of [0-9.e-]+ m, the finest [0-9.e-]+ m; [0-9]+ blocks; diagonal 0\.3742 m, volume 0\.006 m\^3$",
        "^error, % of the diagonal +median +95 % +largest$",
        "^away from sharp edges +[0-9.e-]+ +[0-9.e-]+ +[0-9.e-]+$",
        "^at sharp edges +- +[0-9.e-]+ +[0-9.e-]+$"), err="")
    there("box.body.json", "box.grid.npz", "box.contact.obj", "box.surface.obj")
    valid_json(text_of("box.body.json"))
    has(layout("box.grid.npz"), "^coefficients float(32|64) [0-9]+ [0-9]+ [0-9]+$")
    laid_out("box.grid.npz", "origin float64 3")
    check(lines_with(text_of("box.contact.obj"), "^l ") == 12, "not 12 edges")
    for file in ("body.json", "grid.npz", "contact.obj", "surface.obj"):
        shutil.copy(f"box.{file}", f"before.{file}")
    run(0, "field box.stl -o box.body.json", out=r"^box.stl: .* MiB, from the cache$")
    for file in ("body.json", "grid.npz", "contact.obj", "surface.obj"):
        same_bytes(f"box.{file}", f"before.{file}")
    said = run(0, "field box.stl -o box.body.json --no-cache")
    lacks(said.out, "kept")
    same_bytes("box.grid.npz", "before.grid.npz")
    shutil.rmtree("cache")
    run(0, "field -q box.stl -o=quiet.body.json --no-cache --cells 16 --tolerance 0.01 --vertices",
        "all --memory 64", out="", err="")
    absent("cache")
    check(lines_with(text_of("quiet.contact.obj"), "^v ") == 8, "all are not 8 vertices")


def diagnosed(name, regex):
    """Warned of by `field` and by `contacts`, quiet or not, and of nothing else."""
    for quiet in ("", "-q"):
        for words in (f"field {name} -o warned.body.json",
                      f"contacts {name} cube.body.json --poses poses.csv -o warned.npz {ON}"):
            said = run(0, words, quiet, err=f"^abut: warning: {name}: {regex}")
            check(lines_with(said.err, "warning") == 1, f"not one warning of {name}")


def test_diagnostics_by_name():
    stl("inside-out.stl", turn=lambda t: True)
    stl("one-turned.stl", turn=lambda t: t == 3)
    stl("speck.stl", 1e-5)
    diagnosed("inside-out.stl", "inside out: 1 of 1 shell had inward faces and was turned; to model a cavity, put it inside another shell")
    diagnosed("one-turned.stl", "turned: 1 triangle had the opposite orientation of the neighbours and was turned; check the volume, which is now ")
    diagnosed("open.stl", r"open: 1 hole was closed, the widest 0\.[0-9]+ m across")
    diagnosed("millimetres.stl", r"unit: the diagonal of the box is 374\.2 m; if the file is in millimetres, "
              r"scale it by 0\.001 \(--scale 0\.001( for all bare meshes, or `abut field --scale 0\.001` for one)?\)$")
    diagnosed("speck.stl", r"small: the diagonal of the box is 3.742e-06 m, which is too small to fit a smoothing, so contacts will fail; if the file is not in metres, scale it up")
    run(2, f"contacts speck.stl speck.stl --poses poses.csv -o specks.npz {ON} -q",
        err=r"^abut: speck.stl, speck.stl: bodies of 3.74.*e-06 m are too small to fit a smoothing, whose lengths are at least ")
    absent("specks.npz")
    stl("tiny.stl", 0.01)
    stl("little.stl", 6e-4)  # just too small for a smoothing of its own
    diagnosed("little.stl", r"small: the diagonal of the box is 0.0002245 m, which is too small to fit a smoothing, so contacts will fail; if the file is not in metres, scale it up")
    # A body file whose mesh is in millimetres, and its primitives are not.
    stl("metres.stl")
    for mesh in ("metres", "millimetres"):
        put(f"{mesh}.body.json", f"""{{"mesh": "{mesh}.stl", "superquadrics": [{{"axes": [0.15, 0.1, 0.05],
 "exponents": [0.1, 0.1], "position": [0.15, 0.1, 0.05], "quaternion": [1, 0, 0, 0]}}]}}
""")
    run(0, f"contacts metres.body.json cube.body.json --poses poses.csv -o fits.npz {ON} -q",
        err="")
    run(0, f"contacts millimetres.body.json cube.body.json --poses poses.csv -o misfit.npz {ON} -q",
        err=r"^abut: warning: millimetres.body.json: misfit: half of the vertices of the mesh are [0-9.]+ m or more from the surface of the body's field, and the diagonal of the mesh is ")
    # What lies behind the end of a mesh is left out, and whoever reads the file hears of it.
    put("more.stl", content("box.stl").decode() + "more\n")
    put("more.body.json", content("metres.body.json").decode().replace("metres.stl", "more.stl"))
    left_out = "trailing: 5 bytes after the end of the mesh in the file were ignored; check that the file is complete and its header correct"
    diagnosed("more.stl", left_out.replace("?", r"\?"))
    run(0, "field more.stl -o more-again.body.json", err=left_out.replace("?", r"\?"))
    for path, words in (("more.stl", f"contacts more.stl cube.body.json --poses poses.csv {ON}"),
                        ("more.body.json", f"contacts more.body.json cube.body.json --poses poses.csv {ON}"),
                        ("more.stl", f"closest more.stl box.stl --poses poses.csv {ON}"),
                        ("more.stl", f"ccd more.stl box.stl --from poses.csv --to poses.csv {ON}")):
        run(0, words, "-o more.npz -q", line=f"abut: warning: {path}: {left_out}")
    run(0, "field millimetres.stl -o scaled.body.json --scale 0.001",
        out=r"; diagonal 0\.3742 m, volume 0\.006 m\^3$", err="")
    # A field that is off by more than contacts with a much smaller body count; not with one of like size.
    said = run(0, "contacts tests/golden/airplane-drill/a.obj tiny.stl --poses poses.csv -o",
               f"tiny.npz {ON} -q",
               err=r"^abut: warning: .*/a\.obj: the error of its field is up to [0-9.e-]+ m at 95 % of the surface, more than the smoothing.s penetration of [0-9.e-]+ m")
    check(lines_with(said.err, r"a\.obj: the error of its field") == 1, "it is said more than once")
    said = run(0, "contacts tests/golden/airplane-drill/a.obj box.stl --poses poses.csv -o",
               f"like.npz {ON} -q")
    lacks(said.err, "the error of its field is")
    # A mesh that encloses nothing is refused, and nothing is left.
    run(2, "field flat.stl -o flat.body.json", err=r"^abut: flat\.stl: ")
    run(2, f"contacts flat.stl cube.body.json --poses poses.csv -o flat.npz {ON}",
        err=r"^abut: flat\.stl: ")
    absent("flat.body.json", "flat.grid.npz", "flat.contact.obj", "flat.surface.obj", "flat.npz")


def test_bare_meshes_of_other_commands():
    command("field box.stl -o box.body.json")
    said = run(0, f"contacts box.stl cube.body.json --poses poses.csv -o bare.npz {ON}",
               out="^3 poses, ",
               err=r"^abut: box\.stl: 12 faces, .*: [0-9]+ vertices, 12 edges; field of ")
    check(lines_with(said.err, ".") == 2, "not two lines")
    run(0, f"contacts -q box.stl cube.body.json --poses poses.csv -o bare.npz {ON}", err="")
    run(0, f"contacts box.body.json cube.body.json --poses poses.csv -o written.npz {ON} -q")
    same_arrays("bare.npz", "written.npz", "p", "d", "n", "activity")
    # The body file keeps the mesh, with which it collides in time.
    twists("from.csv", "0,0,2,0.1,0.2,0.3,0,0,0,0,0,0", "0,0,2,0,0,0,0,0,0,0,0,0")
    twists("to.csv", "0,0,0,0.1,0.2,0.3,0,0,0,0,0,0", "0,3,2,0,0,0,0,0,0,0,0,0")
    run(0, f"ccd box.stl cube.body.json --from from.csv --to to.csv -o bare.npz {ON} -q")
    run(0, f"ccd box.body.json cube.body.json --from from.csv --to to.csv -o written.npz {ON} -q")
    same_arrays("bare.npz", "written.npz", "toi", "status", "candidates")
    said = run(0, f"contacts box.stl box.stl --poses poses.csv -o same.npz {ON}")
    check(lines_with(said.err, "^abut: box") == 1, "one mesh is told of twice")
    run(0, f"contacts box.stl cube.body.json --poses poses.csv -o few.npz {ON} --vertices all",
        "--cells 16", err=r"^abut: box\.stl: .*: 8 vertices, 12 edges; field of 16 cells")
    put("open.csv", "open.stl,cube.body.json\nopen.stl,box.stl\n")
    twists("open-poses.csv", *(f"0,0,0,0,0,0,0,0,0.98,0,0,0,{pair}" for pair in (0, 1)), header=HEADER + ",pair")
    said = run(0, f"contacts --pairs open.csv --poses open-poses.csv -o list.npz {ON} --scale 2",
               err=r"^abut: warning: open\.stl: open: 1 hole was closed")
    check(lines_with(said.err, r"open\.stl: [0-9]* faces") == 1, "it is read twice")
    run(0,
        f"render box.stl cube.body.json --poses poses.csv -o box.png --width 64 --height 48 {ON}")
    there("box.png")


def test_what_is_refused():
    command("field box.stl -o box.body.json")
    usage("field needs a mesh", "field -o no.body.json")
    usage("field needs -o NAME.body.json", "field box.stl")
    usage("unexpected argument `open.stl`", "field box.stl open.stl -o no.body.json")
    usage("-o no.json: the output of field must end with .body.json", "field box.stl -o no.json")
    usage("-o .body.json: the output of field must end with .body.json",
          "field box.stl -o .body.json")
    usage("-o /dev/null: the output of field must end with .body.json", "field box.stl -o /dev/null")
    usage("-o -: give the name of a file", "field box.stl -o -")
    usage("box.body.json: is not a mesh; field takes .obj, .stl, .ply or .off, and with Assimp .glb, .gltf or .dae",
          "field box.body.json -o no.body.json")
    usage("--cells: 7 is not in [8, 128]", NO, "--cells 7")
    usage("--cells: `x` is not a whole number of at least 0",
          "contacts box.stl box.stl --poses poses.csv -o no.npz --cells x")
    usage("--vertices: 7 is not in [8, 16777216]", NO, "--vertices 7")
    usage("--vertices: `some` is not a whole number of at least 0", NO, "--vertices some")
    usage("--tolerance: 1 is not in [1e-05, 0.1]", NO, "--tolerance 1")
    usage("--scale: 0 is not in [1e-09, 1e+09]", NO, "--scale 0")
    usage("--memory: 0 is not in [1, 1048576]", NO, "--memory 0")
    usage("contacts has no option --tolerance",
          "contacts box.stl box.stl --poses poses.csv -o no.npz --tolerance 0.01")
    usage("--scale works only with bare meshes, and no bare mesh is given",
          f"contacts {POSES} -o no.npz --scale 0.001")
    usage("--vertices works only with bare meshes, and no bare mesh is given", "bench --vertices 8", dev=True)
    wrong("none.stl: No such file or directory", "field none.stl -o no.body.json")
    run(2, "field box.stl -o nowhere/no.body.json",
        err=r"^abut: nowhere/no\.body\.json: the folder nowhere/: ")
    os.mkdir("taken.grid.npz")
    run(1, "field box.stl -o taken.body.json",
        line="abut: taken.grid.npz: exists and is not a regular file")
    # The mesh is not written over, by whichever of the names.
    shutil.copy("box.contact.obj", "own.contact.obj")
    shutil.copy("own.contact.obj", "before.obj")
    wrong("own.contact.obj: is also an input of this command; use another output file",
          "field own.contact.obj -o own.body.json")
    same_bytes("own.contact.obj", "before.obj")
    shutil.copy("box.stl", "own.surface.obj")
    wrong("own.surface.obj: is also an input of this command; use another output file",
          "field own.surface.obj -o own.body.json")
    # A surface that is missing, one without faces, and one that is another body's.
    changed("box.body.json", "other.body.json", ('"surface": .*', '"surface": "millimetres.stl"'))
    run(0, f"contacts other.body.json cube.body.json --poses poses.csv -o other.npz {ON} -q",
        err=r"^abut: warning: other\.body\.json: misfit: ")
    changed("box.body.json", "lost.body.json", ("box.surface", "none.surface"))
    wrong("lost.body.json: its surface, none.surface.obj: No such file or directory",
          f"contacts lost.body.json cube.body.json --poses poses.csv -o no.npz {ON}")
    changed("box.body.json", "bare.body.json", ("box.surface", "box.contact"))
    wrong("box.contact.obj: contains no faces, but bare.body.json names it as its surface",
          f"contacts bare.body.json cube.body.json --poses poses.csv -o no.npz {ON}")
    put("lines.obj", "v 0 0 0\nv 1 0 0\nl 1 2\n")
    run(2, "field lines.obj -o no.body.json", err=r"^abut: lines.obj: contains no faces")
    os.mkdir("full")
    run(1, "field box.stl -o full/box.body.json", limit=FULL_DISK,
        err=r"^abut: full/box\.[a-z.]+: .")
    no_leftovers("full")
    absent("full/box.body.json", "full/box.grid.npz", "full/box.contact.obj", "full/box.surface.obj",
           "no.body.json", "no.npz")


if __name__ == "__main__":
    main()
