"""Meshes that Assimp reads, .glb, .gltf and .dae, held against the same as .obj: see support.py. Without Assimp in the build
it sees that this is said, and is skipped."""
import os
import pathlib
import signal
import subprocess
import sys

from support import *


def setup():
    os.environ["ABUT_CACHE_DIR"] = os.path.abspath("../cache")  # what is kept is the file's own
    subprocess.run([sys.executable, TESTS / "cli/make_scenes.py", "."], check=True)


def test_what_is_refused_with_and_without_assimp():
    put("box.fbx", "\n")
    wrong("box.fbx: the name of a mesh must end with .obj, .stl, .ply or .off, or with .glb, .gltf or .dae (read by Assimp)",
          "field box.fbx -o no.body.json")
    usage("box.body.json: is not a mesh; field takes .obj, .stl, .ply or .off, and with Assimp .glb, .gltf or .dae",
          "field box.body.json -o no.body.json")
    said = run(0, "--version")
    if "Assimp reads meshes in .glb, .gltf and .dae files: none in this build" in said.out:
        for mesh in ("box.glb", "UPPER.GLB", "box.gltf", "box.dae", "cut.dae"):
            said = wrong(f"{mesh}: this abut is built without Assimp, which reads .glb, .gltf and .dae (Debian: install libassimp-dev, then meson setup -Dassimp=enabled); it reads .obj, .stl, .ply and .off",
                         f"field {mesh} -o no.body.json")
        absent("no.body.json")
        raise Skipped("this build has no Assimp (-Dassimp, docs/install.md)")
    has(said.out, r"^Assimp reads meshes in \.glb, \.gltf and \.dae files: [0-9.]+$")
    run(0, "field --help", out=r"^Installed Assimp, which reads \.glb, \.gltf and \.dae: [0-9.]+$")


def test_what_is_read():
    def box_is(mesh, volume, *bounds):
        """No warning, and these bounds to float's rounding."""
        run(0, f"field --cells 16 --no-cache --vertices all {mesh} -o made.body.json", err="",
            out=rf", volume {volume} m\^3$")
        corners = [[float(x) for x in line.split()[1:4]] for line in text_of("made.contact.obj").split("\n")
                   if line.startswith("v ")]
        got = [most(axis) for axis in zip(*corners) for most in (min, max)]
        check(is_near(got, bounds, 1e-6) and len(corners) % 8 == 0, f"{mesh}: {got}, not the box {bounds}")
        for path in pathlib.Path(".").glob("made.*"):
            path.unlink()
    for mesh in ("box.obj", "box.glb", "UPPER.GLB", "box.gltf", "embedded.gltf", "box.dae"):
        box_is(mesh, "0.006", 0, 0.3, 0, 0.2, 0, 0.1)
    # a parent's place, turned; a child's scale
    box_is("moved.glb", "0.012", 0.8, 1, 2, 2.6, 3, 3.1)
    box_is("mirror.glb", "0.006", -0.3, 0, 0, 0.2, 0, 0.1)
    # two meshes, one mirrored
    box_is("both.glb", "0.012", 0, 1.3, -0.2, 0.2, 0, 0.1)
    box_is("millimetres.dae", "0.006", 0, 0.3, 0, 0.2, 0, 0.1)
    box_is("millimetres-moved.dae", "0.006", 0.5, 0.8, 0, 0.2, 0, 0.1)
    # nothing is turned
    box_is("z-up.dae", "0.006", 0, 0.3, 0, 0.2, 0, 0.1)
    box_is("mirror.dae", "0.006", 0, 0.3, 0, 0.2, -0.1, 0)


def test_wherever_meshes_are_read():
    for mesh in ("box.obj", "box.glb", "box.dae"):
        run(0, f"contacts -q {mesh} cube.body.json --poses poses.csv -o {mesh}.npz {ON}")
    for mesh in ("box.glb", "box.dae"):
        holds(f"{mesh}.npz", "distance", read("box.obj.npz", "distance"))
    put("pairs.csv", "box.glb,cube.body.json\nbox.dae,box.gltf\n")
    twists("pair-poses.csv", *(f"0,0,0,0,0,0,0,0,0.98,0,0,0,{pair}" for pair in (0, 1)), header=HEADER + ",pair")
    run(0, f"contacts -q --pairs pairs.csv --poses pair-poses.csv -o list.npz {ON}")
    put("glb.body.json", """{"mesh": "box.glb", "superquadrics": [{"axes": [0.15, 0.1, 0.05], "exponents": [0.1, 0.1],
 "position": [0.15, 0.1, 0.05], "quaternion": [1, 0, 0, 0]}]}
""")
    run(0, f"contacts -q glb.body.json cube.body.json --poses poses.csv -o named.npz {ON}", err="")
    for mesh in ("box.obj", "box.glb"):
        put(f"{mesh}.scene.json", """{"timestep": 0.002,
 "links": [{"name": "floor", "bodies": [{"plane": [2, 2]}]},
           {"name": "box", "position": [0, 0, 0.01], "joint": {"type": "free"}, "density": 500,
            "bodies": [{"file": "MESH"}]}],
 "pairs": [{"a": "box", "b": "floor"}]}
""".replace("MESH", mesh))
        run(0, f"simulate -q {mesh}.scene.json --steps 5 -o {mesh}.states.npz {ON}")
    holds("box.glb.states.npz", "q", read("box.obj.states.npz", "q"))


def test_what_is_refused():
    wrong("none.glb: No such file or directory", "field none.glb -o no.body.json")
    wrong("empty.glb: is empty", "field empty.glb -o no.body.json")
    wrong("empty.dae: is empty", "field empty.dae -o no.body.json")
    for mesh in "garbage.glb garbage.gltf garbage.dae cut.glb header.glb cut.dae short.gltf".split():
        run(2, f"field {mesh} -o no.body.json",
            err=f"^abut: {mesh}: Assimp [0-9.]+ cannot read it: .")
    run(2, "field lost.gltf -o no.body.json",
        err=r"^abut: lost\.gltf: Assimp [0-9.]+ cannot read it: .*nowhere\.bin")
    for mesh in ("lines.glb", "nodes.glb"):
        run(2, f"field {mesh} -o no.body.json",
            err=f"^abut: {mesh}: it contains no triangles, according to Assimp [0-9.]+$")
    run(2, "field faceless.dae -o no.body.json", err=r"^abut: faceless\.dae: ")
    for mesh in ("nan.glb", "infinite.glb", "unit.dae"):
        run(2, f"field {mesh} -o no.body.json",
            err=f"^abut: {mesh}: a vertex is not finite, according to Assimp [0-9.]+$")
    os.mkdir("folder.glb")
    run(2, "field folder.glb -o no.body.json", err=r"^abut: folder\.glb: ")
    run(2, f"contacts box.glb cut.glb --poses poses.csv -o no.npz {ON}", err=r"^abut: cut\.glb: ")


def test_the_program_that_reads_them():
    def reader(text):
        """Stands in for it."""
        put("reader", f"#!/bin/sh\n{text}\n")
        os.chmod("reader", 0o755)

    os.environ["ABUT_MESH_READER"] = "./reader"
    reader("kill -SEGV $$")
    run(2, "field box.glb -o no.body.json",
        err=r"^abut: box.glb: Assimp [0-9.]+ crashed while reading this file \(Segmentation fault\)$")
    reader("kill -KILL $$")
    run(2, "field box.glb -o no.body.json",
        err=r"^abut: box.glb: Assimp [0-9.]+ was ended while reading this file \(Killed\)$")
    reader("echo no library >&2; exit 127")
    wrong("box.glb: its reader, ./reader, exited with status 127: no library",
          "field box.glb -o no.body.json")
    reader("exit 3")
    wrong("box.glb: its reader, ./reader, exited with status 3 and no mesh",
          "field box.glb -o no.body.json")
    reader("echo nonsense")
    wrong("box.glb: its reader exited without a mesh", "field box.glb -o no.body.json")
    reader(r'printf "a\001b\n" >&2; exit 2')
    wrong("box.glb: a b", "field box.glb -o no.body.json")
    os.environ["ABUT_MESH_READER"] = "./nowhere"
    run(2, "field box.glb -o no.body.json",
        err=r"^abut: box\.glb: its reader, \./nowhere, cannot be run: ")
    del os.environ["ABUT_MESH_READER"]
    # A caller that wants to know of no child, or has no standard input.
    run(0, "field -q box.glb -o made.body.json", ignore=signal.SIGCHLD)
    done = subprocess.run(["sh", "-c", '"$0" field -q box.dae -o made.body.json <&-', ABUT], check=False)
    check(done.returncode == 0, "without a standard input")
    absent("no.body.json", "no.grid.npz", "no.contact.obj", "no.npz")


if __name__ == "__main__":
    main()
