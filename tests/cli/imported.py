"""Looks into the scenes that test_import.py has made of the models in this folder. Expected numbers are worked out from the
models' text by hand, not by MuJoCo.
"""
import json
import math
import pathlib


def scene(name):
    return json.loads(pathlib.Path(f"{name}.scene.json").read_text())


def links_of(name):
    return {link["name"]: link for link in scene(name)["links"]}


def near(a, b, most=1e-12):
    """Numbers, or lists of them, of at most this difference."""
    if isinstance(b, (list, tuple)):
        assert len(a) == len(b), (a, b)
        for x, y in zip(a, b):
            near(x, y, most)
    else:
        assert abs(a - b) <= most, (a, b)


def pair(s, names, a, b):
    """The one pair of bodies given as [link's name, body]."""
    number = [[names.index(link), body] for link, body in (a, b)]
    found = [p for p in s["pairs"] if [p["a"], p["b"]] in (number, number[::-1])]
    assert len(found) <= 1, found
    return found[0] if found else None


def humanoid():
    s, links = scene("humanoid"), links_of("humanoid")
    names = list(links)
    assert s["timestep"] == .003 and s["integrator"] == "rk4" and s["cone"] == "pyramidal"
    assert "iterations" not in s and "tolerance" not in s
    assert names == ["world", "trunk", "pelvis/abdomen_z", "pelvis/abdomen_y", "pelvis", "right_thigh/right_hip_x",
                     "right_thigh/right_hip_z", "right_thigh", "right_shin", "left_thigh/left_hip_x", "left_thigh/left_hip_z",
                     "left_thigh", "left_shin", "right_arm", "left_arm"]
    assert [link.get("parent", -1) for link in s["links"]] == [-1, -1, 1, 2, 3, 4, 5, 6, 7, 4, 9, 10, 11, 1, 1]
    assert "joint" not in links["world"] and links["trunk"]["joint"] == {"type": "free"}
    near(links["trunk"]["position"], [0, 0, 1.3])
    middle = links["pelvis/abdomen_y"]
    assert not {"mass", "bodies", "position", "quaternion"} & set(middle)
    joint = middle["joint"]
    near(joint["limits"], [math.radians(-75), math.radians(30)])
    near([joint[k] for k in ("rest", "stiffness", "damping", "armature")], [math.radians(-5), 5, 2, .01])
    near(joint["position"] + joint["axis"], [0, 0, .065, 0, 1, 0])
    near(joint["solimp_limit"], [0, .99, .01, .5, 2])
    assert "solref_limit" not in joint and "limits" not in links["left_arm"]["joint"]
    near(links["pelvis"]["bodies"][0]["capsule"], [.09, .07])
    near(links["right_shin"]["bodies"][1]["box"], [.1, .045, .025])
    near(links["right_shin"]["bodies"][1]["position"], [.04, 0, -.37])
    # A sphere and two capsules of 1000 kg/m^3.
    capsule = lambda r, length: 1000 * math.pi * r * r * (4 / 3 * r + length)
    near(links["trunk"]["mass"], capsule(.07, .14) + capsule(.09, 0) + capsule(.06, .12), 1e-10)
    assert s["actuators"][0] == {"kind": "motor", "joint": 3, "gear": 40, "force_limits": [-1, 1]}
    assert s["actuators"][9] == {"kind": "motor", "joint": 13, "dof": 1, "gear": 12, "force_limits": [-1, 1]}
    # F = -2 u in [-1, 3], u in [-1, 1]: a motor of gear -20 whose u is in [-1, 0.5].
    assert s["actuators"][10] == {"kind": "motor", "joint": 14, "gear": -20, "force_limits": [-1, .5]}
    assert s["pairs"] == [] and s["automatic"] == {"friction": 1, "exclude": [[1, 4]]}
    own = lambda name, body: {k: links[name]["bodies"][body].get(k) for k in ("contype", "conaffinity", "friction", "condim")}
    assert own("trunk", 0) == {"contype": None, "conaffinity": None, "friction": .7, "condim": 1}
    assert own("right_shin", 1) == {"contype": None, "conaffinity": None, "friction": .7, "condim": None}
    s = scene("humanoid-listed")
    assert "automatic" not in s and not {"condim", "contype", "friction"} & {k for l in s["links"] for b in l.get("bodies", []) for k in b}
    assert not pair(s, names, ["trunk", 0], ["pelvis", 0])
    assert not pair(s, names, ["pelvis", 0], ["right_thigh", 0])
    assert pair(s, names, ["right_thigh", 0], ["left_thigh", 0])["condim"] == 1
    foot = pair(s, names, ["world", 0], ["right_shin", 1])
    assert foot["friction"] == 1 and "condim" not in foot


def turned(quaternion, axis, angle):
    c, s = math.cos(angle / 2), math.sin(angle / 2)
    w, x, y, z = quaternion
    a, b, d = (s * k for k in axis)
    return [w * c - x * a - y * b - z * d, w * a + x * c + y * d - z * b, w * b - x * d + y * c + z * a,
            w * d + x * b - y * a + z * c]


def hand():
    s, links = scene("hand"), links_of("hand")
    names = list(links)
    assert (s["cone"], s["impratio"], s["iterations"], s["tolerance"]) == ("elliptic", 10, 50, 1e-12)
    assert names == ["wrist", "palm", "index/index_spread", "index", "index_tip", "ring", "thumb/thumb_push", "thumb", "ball"]
    palm = links["palm"]
    near(palm["joint"]["limits"], [-.49, .49])
    near(palm["joint"]["start"], .1)
    near(turned(palm["quaternion"], [0, 1, 0], .1), [1, 0, 0, 0])       # ref
    near(palm["position"], [0, 0, .02])
    near(palm["mass"], .3)
    near(palm["com"], [.01, .002, .03])
    near(palm["inertia"], [[3e-4, 1e-5, -2e-5], [1e-5, 2.5e-4, 5e-6], [-2e-5, 5e-6, 1.5e-4]], 1e-11)
    assert len(palm["bodies"]) == 1 and palm["bodies"][0]["file"] == "hand.wedge.obj"
    push, turn = links["thumb/thumb_push"], links["thumb"]
    k = .004 / math.sqrt(2)
    near(push["position"], [-.03 - k, 0, .03 - k])
    near(push["joint"]["rest"], .005)
    near(turned(turn["quaternion"], [0, 0, 1], -.2), [1, 0, 0, 0])
    near(turn["position"], [.004 - .004 * math.cos(.2), -.004 * math.sin(.2), 0])
    near(links["index/index_spread"]["joint"]["solref_limit"], [-300, -5])
    near(links["ring"]["joint"]["solref_friction"], [.03, 1])
    near([links["ring"]["joint"][k] for k in ("frictionloss", "armature")], [.001, .0002])
    assert links["ball"]["joint"] == {"type": "free"} and links["ball"]["parent"] == -1
    assert s["actuators"] == [
        {"kind": "position", "joint": 1, "gear": 1.5, "kp": 2, "kv": .05, "force_limits": [-1, 1], "control_limits": [-.5, .5]},
        {"kind": "position", "joint": 3, "gear": 1, "kp": 2, "kv": .05, "force_limits": [-1, 1], "control_limits": [0, 1.6]},
        {"kind": "velocity", "joint": 2, "gear": 1, "kv": .3, "force_limits": [-.5, .5], "control_limits": [0, 1.6]},
        {"kind": "position", "tendon": 0, "gear": 1, "kp": 2, "kv": .05, "force_limits": [-1, 1], "control_limits": [0, 1.6]},
        {"kind": "motor", "joint": 6, "gear": 3, "force_limits": [0, 1]}]
    # The explicit pair, and those that priority or solmix mix in another way; the others are automatic.
    assert s["automatic"] == {"friction": 1, "exclude": [[3, 5]]} and 0 < len(s["pairs"]) < len(scene("hand-listed")["pairs"])
    assert pair(s, names, ["ball", 0], ["thumb", 0])["friction"] == 2 and pair(s, names, ["index_tip", 0], ["ring", 0])["friction"] == 1.5
    assert not pair(s, names, ["ring", 1], ["thumb", 0]) and links["ring"]["bodies"][1]["solimp"] == [.8, .9, .002, .4, 3]
    s = scene("hand-listed")
    explicit = pair(s, names, ["ball", 0], ["thumb", 0])
    assert explicit["friction"] == 2 and explicit["solref"] == [.05, .8]
    assert pair(s, names, ["thumb", 0], ["palm", 0])["condim"] == 1     # though the thumb hangs on the palm
    assert not pair(s, names, ["index", 0], ["ring", 0])                # excluded
    assert not pair(s, names, ["index", 0], ["index_tip", 0])           # joined
    assert "condim" not in pair(s, names, ["index", 0], ["thumb", 0])
    assert pair(s, names, ["index", 0], ["thumb", 0])["solref"] == [.015, 1]
    assert pair(s, names, ["index_tip", 0], ["ring", 0])["friction"] == 1.5
    assert pair(s, names, ["ring", 0], ["thumb", 0])["solref"] == [-900, -20]
    near(pair(s, names, ["ring", 1], ["thumb", 0])["solimp"], [.85, .925, .0015, .45, 2.5])


def gripper():
    s, links = scene("gripper"), links_of("gripper")
    assert [link["joint"]["type"] for link in s["links"] if "joint" in link] == ["slide", "hinge", "hinge"]
    lift = links["carriage"]["joint"]
    near(lift["limits"] + [lift["damping"], lift["frictionloss"]], [0, .4, 5, .5])
    near(links["carriage"]["position"], [.05, 0, .2])
    near(links["carriage"]["com"], [.1, 0, .01], 1e-10)
    near(sum(links["carriage"]["inertia"][i][i] for i in range(3)), .03)
    near(links["right"]["joint"]["axis"], [0, math.sqrt(.5), math.sqrt(.5)])
    assert "limits" not in links["right"]["joint"]
    near(links["left"]["bodies"][0]["box"], [.04, .01, .01])


def are_right():
    humanoid()
    hand()
    gripper()
    return True
