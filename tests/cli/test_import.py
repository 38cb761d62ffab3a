"""Models of MuJoCo's and of URDF as scenes: see support.py. It is skipped where neither $ABUT_PYTHON nor python3 has MuJoCo."""
import os
import pathlib
import shutil
import signal

import imported
from support import *

ARM, HAND = "tests/cli/models/arm.xml", "tests/cli/models/hand.xml"


def test_what_is_refused_with_and_without_mujoco():
    usage("import needs a model", "import -o no.scene.json")
    usage("import needs -o NAME.scene.json", f"import {ARM}")
    usage("unexpected argument `b.xml`", f"import {ARM} b.xml -o no.scene.json")
    usage("-o no.json: the output of import must end with .scene.json", f"import {ARM} -o no.json")
    usage("-o .scene.json: the output of import must end with .scene.json",
          f"import {ARM} -o .scene.json")
    usage("-o -: give the name of a file", f"import {ARM} -o -")
    usage("import has no option --poses", f"import {ARM} -o no.scene.json --poses poses.csv")
    wrong("none.xml: No such file or directory", "import none.xml -o no.scene.json")
    for name, text in (("robot.xml", "<mujoco/>"), ("robot.urdf", ""), ("robot.txt", " <robot/>")):
        put(name, text)
        wrong(f"{name}: this is a model, not a scene; import it first: abut import {name} -o robot.scene.json",
              f"simulate {name} --steps 1 -o no.npz {ON}")
    shutil.copy(ARM, "own.scene.json")
    wrong("own.scene.json: is also an input of this command; use another output file",
          "import own.scene.json -o own.scene.json")
    same_bytes("own.scene.json", ARM)
    # Python that is not there, and Python without its packages.
    put("bare", '#!/bin/sh\nexec python3 -I -S "$@"\n')
    os.chmod("bare", 0o755)
    for named in ("./nowhere", "./bare"):
        env = {"ABUT_PYTHON": named}
        said = run(2, f"import {ARM} -o arm.scene.json", env=env,
                   err=r"^abut: import needs Python with the package `mujoco`, but .*: .*set ABUT_PYTHON to another Python \(docs/import\.md\)$")
        check(said.err.count("\n") == 1, f"not one line: {said.err}")
        absent("arm.scene.json")
        run(0, "--version", env=env, err="",
            out=rf"^MuJoCo imports models: none found by {named} \(docs/import\.md\)$")
    if "needs Python with the package" in command(f"import {ARM} -o arm.scene.json").err:
        raise Skipped(f"{os.environ.get('ABUT_PYTHON') or 'python3'} has no MuJoCo (pip install mujoco, docs/import.md)")


def test_models():
    run(0, f"import {ARM} -o arm.scene.json", err="",
        out=r"/arm\.xml: 8 links, 8 bodies, 6 actuators, 22 pairs \(22 automatic\), by MuJoCo [0-9.]+; nothing left out$")
    run(0, "import tests/cli/models/humanoid.xml -o humanoid.scene.json",
        out=r": 15 links, 13 bodies, 11 actuators, 58 pairs \(58 automatic\), by MuJoCo [0-9.]+; 1 warning$",
        err="^abut: warning: geom `floor`: an infinite plane becomes one of [0-9]+ m by [0-9]+ m$")
    run(0, "import -q tests/cli/models/humanoid.xml -o humanoid-listed.scene.json --list-pairs")
    run(0, f"import -q {HAND} -o hand-listed.scene.json --list-pairs")
    run(0, f"import -q {HAND} -o hand.scene.json", out="",
        line=("abut: warning: 1 geom that touches nothing is left out (contype and conaffinity 0)",
        "abut: warning: actuator `turn`: left out with its control: it has a state (dyntype filter)",
        "abut: warning: geom `index_1`: condim 4 becomes 3",
        "abut: warning: pair 1: friction is 2 in all directions, not 1 in one",
        "abut: warning: tendon `pull`: its length limits are left out"))
    # its mesh of before is written over
    run(0, f"import -q {HAND} -o hand.scene.json")
    run(0, "import -q tests/cli/models/gripper.urdf -o gripper.scene.json")
    obj_has("hand.wedge.obj", 8, 12)
    check(imported.are_right(), "the scenes are wrong")

    # Ranges without an end; MuJoCo 2.2 does not read them.
    ranges = """<mujoco><compiler angle="radian"/><worldbody><body quat="1 -0 0 0">
  <joint name="a" axis="0 0 1" limited="true" range="-inf inf"/>
  <joint name="b" axis="0 1 0" limited="true" range="-0.5 inf" damping="D"/><geom size="0.1"/></body></worldbody><actuator>
  <motor joint="a" forcelimited="true" forcerange="-inf inf"/><motor joint="b" forcelimited="true" forcerange="-1 inf"/>
  <position joint="b" ctrllimited="true" ctrlrange="-inf 3"/><position joint="b" ctrllimited="true" ctrlrange="-inf inf"/>
  </actuator></mujoco>"""
    put("ranges.xml", ranges.replace("D", "1"))
    said = command("import ranges.xml -o ranges.scene.json")
    if "cannot read it" not in said.err:
        ended(said, 0, "ranges without an end", out="; nothing left out$")
        has(text_of("ranges.scene.json"), r'"control_limits": \[-10000000000\.0, 3\.0\]',
            r'"axis": \[0\.0, 1\.0, 0\.0\], "damping": 1\.0, "limits": \[-0\.5, 10000000000\.0\]',
            r'"kind": "motor", "joint": 1, "gear": 1\.0, "force_limits": \[-1\.0, 10000000000\.0\]')
        lacks(text_of("ranges.scene.json"), r"inf[],]|quaternion")
        valid_json(text_of("ranges.scene.json"))
        put("endless.xml", ranges.replace("D", "inf"))
        wrong("endless.xml: the scene's links[1] (body 1).joint.damping is inf; scenes can contain only finite numbers",
              "import -q endless.xml -o no.scene.json")

    # Python takes no modules from the folder where the command is called.
    os.mkdir("strange")
    for module in ("csv", "email", "json", "importlib", "argparse"):
        put(f"strange/{module}.py", 'open("ran", "w")\n')
    for words in ("--version", "import --help", f"import {os.path.abspath(ARM)} -o arm.scene.json"):
        command(words, cwd="strange")
    absent("strange/ran")

    # What options take away is not in the scene.
    changed(ARM, "off.xml", ("<option [^>]*>", '<option><flag gravity="disable" limit="disable" '
            'frictionloss="disable" contact="disable" actuation="disable"/></option>'))
    run(0, "import -q off.xml -o off.scene.json",
        err="^abut: warning: actuators .* and 3 more: left out with their controls: they are off in the model$")
    run(0, "import -q off.xml -o off.scene.json --verbose",
        line=("abut: warning: contacts are off in the model, so there are no pairs",
        "abut: warning: actuator 5: left out with its control: it is off in the model"))
    has(text_of("off.scene.json"), r'"gravity": \[0\.0, 0\.0, 0\.0\]')
    lacks(text_of("off.scene.json"), "limits|frictionloss|condim|kp")

    # MuJoCo counts two geoms that are a pair twice twice; a scene has them once.
    put("twice.xml", """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/>
  <body pos="0 0 1"><freejoint/><geom name="ball" size="0.1"/></body></worldbody>
  <contact><pair geom1="floor" geom2="ball"/><pair name="again" geom1="ball" geom2="floor"/></contact>
</mujoco>
""")
    run(0, "import twice.xml -o twice.scene.json", out=": 2 links, 2 bodies, 0 actuators, 1 pair,",
        line="abut: warning: pair `again`: its geoms are those of an earlier pair")

    # A solver of one iteration is MJX's way, not one to take over.
    changed(ARM, "once.xml", ("<option ", '<option iterations="1" '))
    run(0, "import -q once.xml -o once.scene.json",
        line="abut: warning: iterations: 1 is left out, because Newton's method would rarely converge by then; the scene keeps its own number")
    lacks(text_of("once.scene.json"), "iterations")


def test_starts():
    """Models begin where MuJoCo's do, and their keyframes are starts by name, whose controls hold."""
    put("hop.xml", """<mujoco><worldbody><body><joint type="slide" axis="0 0 1" ref="1.25" name="z"/>
  <geom size="0.1" contype="0" conaffinity="0"/></body></worldbody><actuator><position joint="z" kp="10"/></actuator>
  <keyframe><key name="up" qpos="2" qvel="0.5" ctrl="1"/><key qpos="3"/></keyframe></mujoco>
""")
    if "needs Python with the package" in command("import -q hop.xml -o hop.scene.json").err:
        raise Skipped("MuJoCo is not there")
    for start, q, v in (("", 1.25, 0.0), ("--start up", 2.0, 0.5), ("--start 1", 3.0, 0.0)):
        run(0, f"simulate hop.scene.json {start} --steps 1 {ON} --precision f64 -q -o hop.npz")
        check((list(read("hop.npz", "q"))[0], list(read("hop.npz", "v"))[0]) == (q, v), f"a wrong start {start}")
    wrong("hop.scene.json: there is no start `no`: the starts of the scene are `up`, `1`", f"simulate hop.scene.json --start no --steps 1 -o no.npz {ON}")
    usage("--states already contains the start of the worlds: leave out --start", "simulate hop.scene.json --start up --states hop.npz --steps 1 -o no.npz")


def test_what_is_wrong():
    put("bad.xml", "<mujoco><worldbody><geom/></worldbody></mujoco>\n")
    run(2, "import bad.xml -o no.scene.json",
        err=r"^abut: bad\.xml: .*sizes? (0 )?must be positive[^;]*$")
    put("bad.xml", "<mujoco><worldbody><gem/></worldbody></mujoco>\n")
    run(2, "import bad.xml -o no.scene.json", err=r"^abut: bad\.xml: .*gem.*; if MuJoCo is too old, see docs/import\.md$")
    put("bad.xml", "no XML\n")
    run(2, "import bad.xml -o no.scene.json", err=r"^abut: bad\.xml: ")
    for mesh in ("part.dae", "part.GLB"):
        put("bad.xml",
            f'<mujoco><asset><mesh name="part" file="{mesh}"/></asset><worldbody><geom type="mesh" mesh="part"/></worldbody></mujoco>\n')
        put(mesh, "\n")
        run(2, "import bad.xml -o no.scene.json",
            err=r"^abut: bad\.xml: .*; MuJoCo's meshes are \.obj, \.stl or \.msh, so convert it \(docs/import\.md#meshes\)")
    mesh = '<robot name="r"><link name="a"><collision><geometry><mesh filename="{}"/></geometry></collision></link></robot>\n'
    for name, hint in (("package://arm/part.stl", "MuJoCo finds no packages of ROS: write the mesh's path in the place of `package://`"),
                       ("file:///arm/part.stl", "MuJoCo reads no URLs: write the mesh's path in the place of `file://`"),
                       ("model://arm/part.stl", "MuJoCo reads no URLs: write the mesh's path in the place of `model://`"),
                       ("part.stl", "MuJoCo looks for files from the model's own folder on")):
        put("bad.urdf", mesh.format(name))
        said = run(2, "import bad.urdf -o no.scene.json", err=r"^abut: bad\.urdf: MuJoCo .*part\.stl.*; " + hint + r" \(docs/import\.md#meshes\)$")
        lacks(said.err, "too old")
    xacro = '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro"><!-- <xacro:arm/> --><link name="a"/>{}</robot>\n'
    for name, text in (("some.urdf", xacro.format("<xacro:arm/>")), ("some.urdf.xacro", xacro.format(""))):
        put(name, text)
        wrong(f"{name}: it is a xacro file: expand it first with `xacro FILE > robot.urdf` (docs/import.md)", f"import {name} -o no.scene.json")
    put("expanded.urdf", xacro.format(""))
    wrong("expanded.urdf: the model has no bodies except the world, and no geoms that may touch anything", "import expanded.urdf -o no.scene.json")
    put("empty.xml", "<mujoco/>\n")
    wrong("empty.xml: the model has no bodies except the world, and no geoms that may touch anything", "import empty.xml -o no.scene.json")
    absent("MUJOCO_LOG.TXT")
    run(2, f"import {ARM} -o nowhere/no.scene.json",
        err=r"^abut: nowhere/no\.scene\.json: the folder nowhere/: ")
    # No mesh is written over that may be the model's, and none is left where the scene cannot be written.
    os.mkdir("mesh")
    os.mkdir("full")
    command(f"import -q {HAND} -o hand.scene.json")
    put("mesh/x.wedge.obj", text_of("hand.wedge.obj").split("\n", 1)[1])
    shutil.copy("mesh/x.wedge.obj", "before.obj")
    put("mesh/m.xml",
        '<mujoco><asset><mesh name="wedge" file="x.wedge.obj"/></asset><worldbody><geom size="1"/><body><freejoint/>\n      <geom type="mesh" mesh="wedge"/></body></worldbody></mujoco>\n')
    wrong("mesh/x.wedge.obj: exists and was not written by an import, so it is not overwritten",
          "import -q mesh/m.xml -o mesh/x.scene.json")
    same_bytes("before.obj", "mesh/x.wedge.obj")
    run(1, f"import -q {HAND} -o full/hand.scene.json", limit=FULL_DISK)
    no_leftovers("full")
    absent("full/hand.scene.json", "full/hand.wedge.obj", "mesh/x.scene.json", "no.scene.json")

    if os.access("/dev/full", os.W_OK):
        with open("/dev/full", "wb") as to:
            run(1, f"import {ARM} -o arm.scene.json", stdout=to,
                line="abut: standard output: No space left on device")
    # What MuJoCo warns of is said once, and not written to a file; names need not be UTF-8, and an output may begin with a dash.
    odd = b'<mujoco><worldbody><body name="b\374"><joint axis="0 0 1" damping="nan"/><geom size="0.1"/></body></worldbody></mujoco>'
    pathlib.Path("odd.xml").write_bytes(odd)
    run(2, "import odd.xml -o odd.scene.json", err="^abut: warning: MuJoCo: .*NaN")
    absent("MUJOCO_LOG.TXT")
    pathlib.Path("-odd.xml").write_bytes(odd.replace(b"nan", b"1"))
    run(0, "import -q -o=-odd.scene.json -- -odd.xml")
    valid_json(text_of("./-odd.scene.json"))

    # MuJoCo runs in a process of its own, which may crash.
    if FAILING:
        run(2, f"import {ARM} -o crashed.scene.json",
            env={"ABUT_TEST_SIGNAL": "11", "LD_PRELOAD": FAILING},
            err=r"/arm.xml: the process that reads it with MuJoCo was stopped by a signal \(Segmentation fault\)$")
        absent("crashed.scene.json")
        # A signal that asks for the end leaves nothing that is half written.
        os.mkdir("ended")
        run(143, f"import -q {HAND} -o ended/hand.scene.json",
            env={"ABUT_TEST_SIGNAL": "15", "LD_PRELOAD": FAILING})
        no_leftovers("ended")
        absent("ended/hand.scene.json", "ended/hand.wedge.obj")
        # Whoever calls may have children's ends ignored.
        run(2, "import bad.xml -o no.scene.json", ignore=signal.SIGCHLD)
    put("blob.xml", '<mujoco><worldbody><geom type="blob"/></worldbody></mujoco>\n')
    run(2, "import blob.xml -o blob.scene.json",
        err=r"^abut: blob\.xml: MuJoCo [0-9.]+ cannot read it: .*; if MuJoCo is too old, see docs/import\.md$")
    run(0, "import --help", out="^Installed MuJoCo, which reads models: [0-9.]+$")
    run(0, "--version", out="^MuJoCo imports models: [0-9.]+$")


if __name__ == "__main__":
    main()
