"""Scenes of worlds.py, each for abut and for MuJoCo, and the states at which they are timed."""
import json
import pathlib
import subprocess

import numpy as np

import hulls

TIMESTEP, FRICTION, DENSITY = 0.002, 0.6, 200.0
LINKS = 20
STARTS, STEPS, RECORD = 128, 400, 5  # of the fall from which the pair's states are taken
PUSHED = 1e-3  # [m/s] between two kept states: more is no rounding


def unit(x):
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def exactly(x):
    return " ".join(repr(float(v)) for v in np.ravel(x))


def inertial_xml(solid):
    I = np.asarray(solid["inertia"])
    six = [I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]]
    return (f'<inertial pos="{exactly(solid["com"])}" mass="{exactly(solid["mass"])}" '
            f'fullinertia="{exactly(six)}"/>')


# ---- two free bodies ----
def corners(path):
    """A body's mesh -> its triangles' corners (T, 3, 3)."""
    path = pathlib.Path(path)
    lines = (path.parent / json.loads(path.read_text())["mesh"]).read_text().splitlines()
    vertices = np.array([line.split()[1:4] for line in lines if line.startswith("v ")], float)
    faces = [[int(word.split("/")[0]) - 1 for word in line.split()[1:]] for line in lines if line.startswith("f ")]
    return vertices[[(f[0], f[k], f[k + 1]) for f in faces for k in range(1, len(f) - 1)]]


def solid(path):
    """Mass, centre and inertia of what a closed mesh encloses: sums over tetrahedra from the origin."""
    t = corners(path)
    volume = np.linalg.det(t) / 6
    s = t.sum(1)
    com = (volume[:, None] * s).sum(0) / 4 / volume.sum()
    second = np.einsum("t,tki,tkj->ij", volume, t, t) + np.einsum("t,ti,tj->ij", volume, s, s)
    second = second / 20 - volume.sum() * np.outer(com, com)
    return {"mass": DENSITY * volume.sum(), "com": com.tolist(),
            "inertia": (DENSITY * (np.trace(second) * np.eye(3) - second)).tolist()}


def write_pair(folder, bodies, counts):
    """pair.scene.json, and pair-K.xml of K hulls a body; the same masses and friction in all."""
    solids = [solid(path) for path in bodies]
    links = [{"joint": {"type": "free"}, "bodies": [{"file": str(path)}], **s} for path, s in zip(bodies, solids)]
    scene = {"timestep": TIMESTEP, "links": links, "pairs": [{"a": [0, 0], "b": [1, 0], "friction": FRICTION}]}
    (folder / "pair.scene.json").write_text(json.dumps(scene))
    options = (f'<option timestep="{TIMESTEP}" cone="elliptic"/>'
               f'<default><geom friction="{FRICTION} 0 0" condim="3"/></default>')
    for count in counts:
        text = hulls.model_xml(bodies, count, options, [inertial_xml(s) for s in solids])
        (folder / f"pair-{count}.xml").write_text(text)
    return solids


def turned(quaternion, x):
    """x of the links' axes in the world's."""
    w, u = quaternion[..., :1], quaternion[..., 1:]
    once = np.cross(u, x)
    return x + 2 * (w * once + np.cross(u, once))


def starts(bodies, random):
    """Pairs turned anyhow, so far apart that they cannot touch, that meet within two thirds of the steps."""
    reach = sum(np.linalg.norm(corners(path), axis=2).max() for path in bodies)
    q, v = np.zeros((STARTS, 14)), np.zeros((STARTS, 12))
    towards = unit(random.normal(size=(STARTS, 3)))
    q[:, 7:10] = reach * towards
    q[:, 3:7], q[:, 10:14] = (unit(random.normal(size=(STARTS, 4))) for _ in range(2))
    v[:, 6:9] = -1.5 * reach / (STEPS * TIMESTEP) * towards
    v[:, 3:6], v[:, 9:12] = (random.normal(size=(STARTS, 3)) for _ in range(2))
    return q, v


def pushed_states(q, v, solids, count, random):
    """`count` of a fall's states (T, N, ..): of different worlds and times, at which the bodies push each other."""
    centre = [v[..., at:at + 3] + turned(q[..., 7 * k + 3:7 * k + 7], np.cross(v[..., at + 3:at + 6], s["com"]))
              for k, (at, s) in enumerate(zip((0, 6), solids))]
    relative = centre[1] - centre[0]
    pushed = np.linalg.norm(relative[1:] - relative[:-1], axis=-1) > PUSHED
    step, world = np.nonzero(pushed)
    chosen = random.permutation(len(step))[:count]
    if not len(chosen):
        raise ValueError("the bodies have not met")
    return {"q": q[step[chosen], world[chosen]], "v": v[step[chosen], world[chosen]]}


def fall_of_abut(folder, q, v, command, device):
    np.savez(folder / "starts.npz", q=q, v=v)
    subprocess.run([str(word) for word in (
        command, "simulate", folder / "pair.scene.json", "--states", folder / "starts.npz", "--steps", STEPS,
        "--record", RECORD, "-o", folder / "fall.npz", "--device", device, "-q")], check=True)
    with np.load(folder / "fall.npz") as fall:
        return fall["q"].astype(float), fall["v"].astype(float)


def fall_of_mujoco(path, q, v):
    import mujoco.rollout
    model = mujoco.MjModel.from_xml_path(str(path))
    begin = np.concatenate([np.zeros((len(q), 1)), q, v], 1)
    states, _ = mujoco.rollout.rollout(model, mujoco.MjData(model), begin, nstep=STEPS)
    kept = np.concatenate([begin[None], states.transpose(1, 0, 2)[RECORD - 1::RECORD]])
    return kept[..., 1:1 + model.nq], kept[..., 1 + model.nq:]


def write_states(folder, bodies, solids, count, command, device):
    """pair.npz: states of abut's falls; pair-K.npz: of MuJoCo's from the same starts, whose hulls meet elsewhere."""
    random = np.random.default_rng(1)
    q, v = starts(bodies, random)
    falls = {"pair": lambda: fall_of_abut(folder, q, v, command, device)}
    falls |= {path.stem: lambda path=path: fall_of_mujoco(path, q, v) for path in folder.glob("pair-*.xml")}
    found = {}
    for name, fall in falls.items():
        try:
            states = pushed_states(*fall(), solids, count, random)
        except ImportError:
            continue  # the peers say so
        np.savez(folder / f"{name}.npz", **states)
        found[name] = len(states["q"])
    return {"states": found, "falls": f"{STARTS} of {STEPS} steps"}


# ---- a tree ----
def tree_links(random):
    """Hinged links, parents before children and depth first, as MuJoCo numbers them."""
    links, stack = [], [-1]
    for i in range(LINKS):
        parent = stack[int(random.integers(max(0, len(stack) - 3), len(stack)))] if i else -1
        S = random.normal(size=(3, 3))
        S = S @ S.T + 0.5 * np.eye(3)
        links.append({"parent": parent, "position": (0.3 * random.normal(size=3)).tolist(),
                      "mass": random.uniform(0.5, 2), "com": (0.1 * random.normal(size=3)).tolist(),
                      "inertia": (0.01 * (np.trace(S) * np.eye(3) - S)).tolist(),
                      "joint": {"type": "hinge", "axis": unit(random.normal(size=3)).tolist(),
                                "damping": 0.05, "armature": 0.01}})
        while stack[-1] != parent:
            stack.pop()
        stack.append(i)
    return links


def tree_xml(links, i):
    joint = links[i]["joint"]
    inner = "".join(tree_xml(links, k) for k, other in enumerate(links) if other["parent"] == i)
    return (f'<body pos="{exactly(links[i]["position"])}"><joint type="hinge" axis="{exactly(joint["axis"])}" '
            f'damping="{joint["damping"]}" armature="{joint["armature"]}"/>{inertial_xml(links[i])}{inner}</body>')


def write_tree(folder, count):
    """tree.scene.json, tree.xml, tree.npz with `count` states."""
    random = np.random.default_rng(2)
    links = tree_links(random)
    (folder / "tree.scene.json").write_text(json.dumps({"timestep": TIMESTEP, "links": links}))
    roots = "".join(tree_xml(links, i) for i in range(LINKS) if links[i]["parent"] < 0)
    (folder / "tree.xml").write_text(f'<mujoco><option timestep="{TIMESTEP}"/><worldbody>{roots}</worldbody></mujoco>')
    np.savez(folder / "tree.npz", q=random.uniform(-1, 1, (count, LINKS)), v=random.normal(size=(count, LINKS)))


def steps_apart(folder, command, device, steps=10, worlds=8):
    """Largest difference of the tree's q and v between abut in float64 and MuJoCo after some steps."""
    import mujoco
    model = mujoco.MjModel.from_xml_path(str(folder / "tree.xml"))
    with np.load(folder / "tree.npz") as states:
        q, v = states["q"][:worlds], states["v"][:worlds]
    np.savez(folder / "few.npz", q=q, v=v)
    subprocess.run([str(word) for word in (
        command, "simulate", folder / "tree.scene.json", "--states", folder / "few.npz", "--steps", steps, "--record",
        steps, "-o", folder / "stepped.npz", "--device", device, "--precision", "f64", "-q")], check=True)
    most = 0.0
    with np.load(folder / "stepped.npz") as ours:
        for i in range(worlds):
            data = mujoco.MjData(model)
            data.qpos[:], data.qvel[:] = q[i], v[i]
            for _ in range(steps):
                mujoco.mj_step(model, data)
            most = max(most, abs(ours["q"][-1, i] - data.qpos).max(), abs(ours["v"][-1, i] - data.qvel).max())
    return float(most)
