"""What the command makes and tells of bodies of primitives, by `remesh`, `inspect`, `suggest` and `view`: see support.py."""
import math
import os
import shutil

from support import *


def setup():
    put("ball.body.json", """{"name": "ball", "mesh": "ball.obj",
 "superquadrics": [{"axes": [0.5, 0.4, 0.3], "exponents": [1, 1], "position": [0, 0, 0], "quaternion": [1, 0, 0, 0]}]}
""")
    put("ball.obj", "v 0.5 0 0\nv 0 0.4 0\nv 0 0 0.3\nf 1 2 3\n")


def remeshed():
    """What remesh makes of the ball, once for all functions."""
    if not os.path.exists("../new.body.json"):
        command(f"remesh ball.body.json --vertices 40 -o ../new.body.json -q {ON}")
        command(f"remesh ../new.body.json -q --vertices 12 -o ../small.obj --smoothing sharp.json {ON}")
    for name in ("new.body.json", "new.contact.obj", "small.obj"):
        shutil.copy(f"../{name}", name)


def test_remesh():
    run(0, f"remesh ball.body.json --vertices 40 -o new.body.json {ON}",
        out=(r"^new\.body\.json: 40 vertices, 76 faces, 114 edges; genus 0$",
        r"^triangles: mean quality 0\.9[0-9]+, least 0\.[0-9]+$",
        r"^distance from the field's surface, % of the diagonal of 1.4[0-9]+ m: [0-9.]+ on average, [0-9.]+ at most; volume ratio 0.[89][0-9]+$"),
        err="")
    valid_json(text_of("new.body.json"))
    has(text_of("new.body.json"), r'"mesh": "new\.contact\.obj"', r'"union": 0\.00')
    obj_has("new.contact.obj", 40, 76)
    # The surface that a body names is kept, copied beside a new body, and not written over.
    os.mkdir("beside")
    changed("ball.body.json", "skinned.body.json", ('"name"', '"surface": "cube.obj", "name"'))
    run(0, f"remesh skinned.body.json --vertices 40 -q -o beside/skin.body.json {ON}")
    has(text_of("beside/skin.body.json"), r'"surface": "skin\.surface\.obj"')
    obj_has("beside/skin.surface.obj", faces=6)
    wrong("beside/skin.surface.obj: would be overwritten, but beside/skin.body.json, an input of this command, uses it as its mesh; use another output file",
          "remesh beside/skin.body.json -o beside/skin.surface.obj")
    said = run(0, "remesh new.body.json --json --vertices 12 -o small.obj --smoothing sharp.json",
               ON)
    check(lines_with(text_of("small.obj"), "^v ") == 12, "not 12 vertices")
    valid_json(said.out)
    has(said.out, '"genus": 0,')
    run(0, f"contacts new.body.json slab.body.json --poses poses.csv -o contacts.npz {ON}")
    # A wedge is of one piece, though cells see splinters at its edge.
    put("wedge.body.json", """{"mesh": "ball.obj", "union": 0.0036, "polyhedra": [{"planes": [
  [0.58614, -0.61796, -0.524, 0.15101, 0.15415, -0.01307], [-0.71805, 0.33891, 0.6079, 0.10819, 0.18619, 0.02415],
  [-0.62675, 0.0634, -0.77664, 0.0837, 0.18032, -0.05315], [0.62769, -0.06256, 0.77595, 0.17793, 0.17086, 0.06348],
  [0.51298, 0.78337, -0.35097, 0.1806, 0.25178, -0.02905], [-0.38235, -0.89467, 0.23103, 0.05037, -0.01239, 0.05363]]}]}
""")
    said = run(0, f"remesh wedge.body.json --json --vertices 40 -o wedge.obj {ON}",
               out='"left_out": [0-9.]+e-[5-9],')
    lacks(said.err, "piece")

    usage("remesh needs a body", "remesh -o x.obj")
    usage("remesh needs -o NAME.body.json", "remesh ball.body.json")
    usage("cube.obj: is not a body file; remesh takes .body.json (for bare meshes, `abut field` makes contact meshes)",
          "remesh cube.obj -o x.obj")
    usage("-o x.png: the output of remesh must end with .body.json or .obj",
          "remesh ball.body.json -o x.png")
    usage("--vertices: 7 is not in [8, 65536]", "remesh ball.body.json --vertices 7 -o x.obj")
    run(2, "remesh none.body.json -o x.obj")
    wrong("ball.body.json: is also an input of this command; use another output file",
          "remesh ball.body.json -o ball.body.json")
    wrong("ball.obj: would be overwritten, but ball.body.json, an input of this command, uses it as its mesh; use another output file",
          "remesh ball.body.json -o ball.obj")


def test_inspect():
    remeshed()
    run(0, f"inspect new.body.json -o report.html {ON}",
        out=(r"^new\.body\.json compared with \./?new\.contact\.obj:$|^new\.body\.json compared with new\.contact\.obj:$",
        r"^IoU 0\.[89][0-9]+, coverage (1\.0000|0\.9[0-9]+), precision 0\.[89][0-9]+; largest part uncovered 0\.[0-9]+ %, surplus [0-9.]+ % of the volume$",
        "^Chamfer [0-9.]+ %, Hausdorff [0-9.]+ % of the diagonal; [0-9.]+ % of the surface is farther away than 1 %$",
        r"^depth in the field divided by depth in the mesh: median [0-9.]+, 95 % below [0-9.]+, maximum [0-9.]+ at \(-?[0-9.e-]+, -?[0-9.e-]+, -?[0-9.e-]+\)$",
        r"^contact mesh: 40 vertices, 114 edges, 0\.0 % of them outside the field; mean quality of 76 triangles 0\.9[0-9]+$",
        "^1 primitive; a contact query [0-9.e-]+ ms, in batches of 256 on .+$"), err="")
    check(text_of("report.html").count("data:image/png;base64,iVBORw0KGgo") == 10, "not 10 pictures")
    lacks(text_of("report.html"), r'(?i)<script|src="[^d]|href=|url\(|@import')
    has(text_of("report.html"), "<tr><td>Superquadrics</td><td>1</td></tr>",
        "<tr><td>Largest part of the field outside</td><td>[0-9.]+ %</td></tr>",
        "<tr><td>Depth by the field over that in the mesh, median</td><td>[0-9.]+</td></tr>")
    run(0, f"inspect ball.body.json small.obj --json --smoothing sharp.json {ON}", is_json=True,
        out=(r'"mesh": "small\.obj",$', '"endless": false', r'"quality_mean": 0\.',
        r'"over_holes": 0\.0,'))
    # A contact mesh without faces has no triangles to speak of.
    put("points.obj", "v 0.5 0 0\nv 0 0.4 0\n")
    changed("ball.body.json", "points.body.json", (r"ball\.obj", "points.obj"))
    said = run(0, f"inspect points.body.json small.obj -o points.html {ON}")
    says(said.out, "contact mesh: 2 vertices, 0 edges")
    # A primitive far from the mesh counts; a field without an end is named.
    changed("ball.body.json", "stray.body.json", (r"\}\]\}", """}, {"axes": [0.5, 0.4, 0.3],
     "exponents": [1, 1], "position": [9, 0, 0], "quaternion": [1, 0, 0, 0]}]}"""))
    run(0, f"inspect stray.body.json small.obj --json {ON}", out=(r'"precision": 0\.2[0-9]+',
        r'"largest_surplus": 1\.[0-9]'))
    put("half.body.json", '{"mesh": "ball.obj", "polyhedra": [{"planes": [[0, 0, 1, 0, 0, 0]]}]}')
    run(0, f"inspect half.body.json small.obj -o half.html {ON}",
        err=r"^abut: warning: half\.body\.json: its field is unbounded: only the part in the mesh's box and 8 % beyond it is measured$")
    has(text_of("half.html"), "The field is unbounded")
    usage("inspect needs a body, and optionally a mesh to compare it with", "inspect -o x.html")
    usage("inspect needs -o REPORT.html", "inspect ball.body.json")
    usage("-o x.png: the output of inspect must end with .html", "inspect ball.body.json -o x.png")
    usage("new.body.json: is not a mesh; inspect compares with .obj, .stl, .ply or .off, and with Assimp .glb, .gltf or .dae",
          "inspect ball.body.json new.body.json -o x.html")
    wrong("poses.csv: the name of a mesh must end with .obj, .stl, .ply or .off, or with .glb, .gltf or .dae (read by Assimp)",
          "inspect ball.body.json poses.csv -o x.html")
    wrong("none.obj: No such file or directory", "inspect ball.body.json none.obj -o x.html")
    run(2, "inspect ball.body.json -o x.html", err="encloses no volume")
    put("line.obj", "v 0 0 0\nv 1 0 0\nl 1 2\n")
    wrong("line.obj: has no faces to compare with: give a mesh after the body",
          "inspect ball.body.json line.obj -o x.html")
    absent("x.html")


def test_suggest():
    remeshed()
    run(0, f"suggest new.body.json cube.body.json --samples 30 -o suggest.png {ON}",
        out=("^(30|2[0-9]) random poses in collision: [0-9.e-]+ pairs of edges each, of which [0-9.]+ % have both edges kept by$",
        r'^  "edges": \[[0-9]+, [0-9]+\]$', r'^  "vertices": \[[0-9]+, [0-9]+\]$',
        "^a query with these numbers: [0-9]+ contacts, [0-9.e-]+ ms; with the present smoothing: [0-9]+ contacts, [0-9.e-]+ ms$"))
    there("suggest.png")
    run(0, f"suggest new.body.json cube.body.json --samples 30 --seed 3 --json {ON}", is_json=True)
    said = run(0, "contacts new.body.json cube.body.json --poses poses.csv --edges auto -o",
               f"auto.npz {ON}")
    lacks(said.err, "keeps")
    run(0, "contacts new.body.json cube.body.json --poses poses.csv --smoothing",
        f"tests/golden/figure-gate/smoothing.json --edges auto -o auto.npz {ON}",
        err="^abut: keeps [0-9]+ and [0-9]+ edges, found in [0-9]+ random poses: [0-9]+ contacts per pose instead of [0-9]+, at about [0-9.e+-]+ times the cost$")
    run(0, "contacts new.body.json cube.body.json --poses poses.csv --edges 2 -o two.npz",
        f"--show-smoothing {ON}", err=r'"edges": \[2, 2\]|"edges":\[2,2\]|^ *2,?$')
    usage("--edges: 0 is not in [1, 65536]",
          "contacts new.body.json cube.body.json --poses poses.csv --edges 0 -o x.npz")
    usage("suggest needs two bodies, A and B", "suggest new.body.json")
    usage("-o x.npz: the output of suggest must end with .png",
          "suggest new.body.json cube.body.json -o x.npz")
    usage("--samples: 0 is not in [1, 65536]", "suggest new.body.json cube.body.json --samples 0")


def test_view_what_has_no_place_is_told_for_a_page_does_not():
    run(0, f"view cube.body.json slab.body.json --poses not-finite.csv -o view.html {ON}",
        line="abut: warning: poses that are not finite: 2 of 4; the first one has index 1. Their frames lack a body and have no contacts.")
    put("one.scene.json", """{"timestep": 0.005, "links": [{"bodies": [{"box": [1, 1, 0.1]}]},
  {"position": [0, 0, 1], "joint": {"type": "free"}, "density": 500, "bodies": [{"sphere": 0.1}]}], "pairs": [{"a": 1, "b": 0}]}
""")
    write("states.npz", q=full((2, 1, 7), 0, 0, 1, 1, 0, 0, 0, math.nan, 0, 1, 1, 0, 0, 0),
          time=full(2, 0., 1))
    run(0, f"view one.scene.json states.npz -o view.html {ON}",
        line="abut: warning: states.npz: positions that are not finite: 1 of 2 states; the first one has index 1. Their frames are empty.")


if __name__ == "__main__":
    main()
