"""Scenes by random numbers, of every contact law, joint and actuator: of the randomised battery of derivatives."""
import json

import numpy as np
from random_bodies import ball, quaternions

LAWS = {"cone": {"contact_model": "cone", "tolerance": 1e-14, "iterations": 100},
        "pyramid": {"contact_model": "cone", "cone": "pyramidal", "tolerance": 1e-14, "iterations": 100},
        "lcp": {"contact_model": "lcp", "lcp": {"elastic": "none"}},  # others tell of times that steps do not know
        "spring": {"contact_model": "spring"},
        "clouds": {"contact_model": "spring", "clouds": True}}
JOINTS = ("fixed", "hinge", "slide", "ball", "free", "moved")
ACTUATORS = ("motor", "position", "velocity", "affine", "tendon")
EQUALITIES = ("connect", "weld", "joint", "tendon")


def box(rng, small, large):
    return {"box": rng.uniform(small, large, size=3).tolist()}


def any_word(rng, small, large):
    """A body by a word, of random size."""
    a, b, c = rng.uniform(small, large, size=3)
    return [{"box": [a, b, c]}, {"sphere": a}, {"capsule": [a, b]}, {"cylinder": [a, b]}][rng.integers(4)]


def write_clouds(folder, rng):
    """Bodies of springs between clouds, of few faces: dented balls."""
    for i in range(3):
        v, faces = ball()
        v = v * rng.uniform(0.03, 0.06, size=3) + 0.002 * rng.normal(size=v.shape)
        (folder / f"cloud{i}.obj").write_text("".join("v {:.9g} {:.9g} {:.9g}\n".format(*x) for x in v)
                                              + "".join("f {} {} {}\n".format(*(k + 1 for k in f)) for f in faces))
        cloud = {"source": "faces", "area_weight": bool(rng.random() < 0.5)}
        (folder / f"cloud{i}.body.json").write_text(json.dumps({"mesh": f"cloud{i}.obj", "aopc": cloud}))


def joint_of(rng, kind, hard):
    """A joint with springs, dampers and whatever else it may have."""
    if kind in ("fixed", "moved"):
        return {"type": kind}
    made = {"type": kind, "damping": rng.uniform(0, 0.02 if hard else 0.5), "armature": rng.uniform(0, 0.01)}
    if kind != "free":
        made["stiffness"] = rng.uniform(0, 20)
    if kind in ("hinge", "slide"):
        made["axis"] = rng.normal(size=3).tolist()
        made["rest"] = rng.uniform(-0.1, 0.1)
        if rng.random() < 0.5:
            made["limits"] = [-rng.uniform(0.02, 0.3), rng.uniform(0.02, 0.3)]
    if rng.random() < 0.5 and not (hard and kind in ("ball", "free")):
        made["frictionloss"] = rng.uniform(0, 0.5)
    return made


def make(rng, law, joint="hinge", actuator=None, equality=None, sweep=False):
    """A scene: ground, a free body upon it, a limb by the joint, which is the body's or stands alone, and a slide on a rail.

    Hard contacts whose forces are not the only ones have one-sided derivatives alone where one slides (docs/dev/lcp-formulas.md,
    section 4), and steps that are good to 1e-6. So in scenes of theirs what moves in one way alone does not touch the ground.
    """
    def word(rng, small=0.03, large=0.07):
        if law == "lcp":
            small, large = 0.7 * small, 0.7 * large  # squeezed bodies have no answer that is the only one
        if law == "clouds":
            return {"file": f"cloud{rng.integers(3)}.body.json"}
        return box(rng, small, large) if sweep else any_word(rng, small, large)

    def place(reach):
        return (rng.uniform(-1, 1, size=3) * reach).tolist()
    alone = joint in ("free", "moved") or rng.random() < 0.3
    limb = {"name": "limb", "position": [0.12, 0, 0.1] if alone else [0.11, 0, 0], "quaternion": quaternions(rng).tolist(),
            "joint": joint_of(rng, joint, law == "lcp"), "density": rng.uniform(300, 1500),
            "bodies": [{**word(rng, 0.02, 0.05), "position": place(0.02), "quaternion": quaternions(rng).tolist()}]}
    if not alone:
        limb["parent"] = "body"
    links = [{"name": "ground", "bodies": [{"plane": [2, 2]}]},
             {"name": "body", "position": [0, 0, 0.1], "joint": joint_of(rng, "free", law == "lcp"), "density": rng.uniform(300, 1500),
              "bodies": [{**word(rng), "position": place(0.01), "quaternion": quaternions(rng).tolist()}]},
             limb,
             {"name": "rail", "position": [-0.15, 0, 0.1], "joint": joint_of(rng, "slide", law == "lcp"), "density": 500,
              "bodies": [word(rng)]},
             {"name": "wheel", "parent": "rail", "position": [0, 0.1, 0], "joint": joint_of(rng, "hinge", law == "lcp"), "density": 500,
              "bodies": [word(rng, 0.02, 0.04)]}]
    touching = [("body", "ground"), ("rail", "body"), ("wheel", "ground"), ("rail", "ground")]
    if joint != "fixed" or alone:
        touching += [("limb", "body")] if joint != "fixed" else []
    touching += [("limb", "ground")] if not (alone and joint in ("fixed", "moved")) else []
    rough = rng.random() < 0.5
    if law == "lcp":
        moves = [("limb", "ground")] if joint == "free" or not alone else []
        touching = [pair for pair in touching if pair in [("body", "ground"), ("rail", "body"), ("limb", "body"), *moves]]
    if sweep:  # what hits the ground with few degrees of freedom hits it again and again within a step
        touching = [("body", "ground"), ("limb", "body"), ("limb", "ground")]
    pairs = [{"a": a, "b": b, "friction": rng.uniform(0.2, 1), "condim": int(rng.choice([1, 3, 3])) if law != "lcp" else 3 if rough else 1}
             for a, b in touching]
    for pair in pairs:
        if law == "lcp" and rng.random() < 0.5:
            pair["restitution"] = rng.uniform(0.1, 0.8)
        if law in ("cone", "pyramid"):
            pair["solref"] = [rng.uniform(0.01, 0.03), rng.uniform(0.6, 1.2)]
            pair["margin"] = float(rng.choice([0, 0.001]))
        if law in ("spring", "clouds"):
            pair["contact"] = {"k": rng.uniform(2e3, 2e4), "mu": rng.uniform(0.2, 1),
                               "dissipation": str(rng.choice(["c1", "smooth"]))}
    scene = {**LAWS[law], "timestep": rng.uniform(0.001, 0.004), "gravity": [rng.normal(), rng.normal(), -9.81], "links": links,
             "pairs": pairs, "sweep": bool(sweep)}
    if law == "cone":
        scene["diagonal"] = str(rng.choice(["approximate", "exact"]))
        scene["impratio"] = rng.uniform(1, 3)
    if law in ("cone", "pyramid"):
        scene["integrator"] = str(rng.choice(["euler", "rk4"]))
    if law in ("spring", "clouds"):
        scene["integrator"] = str(rng.choice(["implicit", "euler", "rk4"]))
        if scene["integrator"] != "implicit":
            scene["timestep"] *= 0.2
    over = [{"joint": "rail", "coefficient": rng.uniform(0.5, 2)}, {"joint": "wheel", "coefficient": -rng.uniform(0.5, 2)}]
    scene["tendons"] = [{"name": "cord", "joints": over, "stiffness": rng.uniform(0, 20), "damping": rng.uniform(0, 0.02)}]
    driven = {"motor": {"kind": "motor"}, "position": {"kind": "position", "kp": 2, "kv": 0.005},
              "velocity": {"kind": "velocity", "kv": 0.01},
              "affine": {"kind": "affine", "gain": 0.3, "bias": -0.02, "kp": 0.5, "kv": 0.003}}
    if actuator == "tendon":
        scene["actuators"] = [{**driven[str(rng.choice(list(driven)))], "tendon": "cord", "gear": rng.uniform(0.5, 2)}]
    elif actuator:
        scene["actuators"] = [{**driven[actuator], "joint": name, "gear": rng.uniform(0.5, 2)} for name in ("rail", "wheel")]
        if joint not in ("fixed", "moved") and (actuator == "motor" or joint in ("hinge", "slide")):
            scene["actuators"].append({**driven[actuator], "joint": "limb", **({"dof": 2} if joint in ("ball", "free") else {}),
                                       "force_limits": [-0.4, 0.4], "control_limits": [-1.5, 1.5]})
    if equality in ("connect", "weld"):
        scene["equalities"] = [{"kind": equality, "a": "limb", "b": "body" if alone else "rail",
                                "solref": [rng.uniform(0.01, 0.03), 1.0]}]
    elif equality == "joint":
        scene["equalities"] = [{"kind": "joint", "a": "wheel", "b": "rail", "polynomial": [0, 1, 0.5, -0.3, 0.1]}]
    elif equality == "tendon":
        scene["equalities"] = [{"kind": "tendon", "a": "cord"}]
    return scene
