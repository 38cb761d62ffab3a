"""Scenes of many.py, each for abut and for MuJoCo, and settled starts: piles that fell for some seconds in MuJoCo's C engine
from places that a seed draws. Each engine goes on from there by itself before it is timed, as its shapes differ a little."""
import concurrent.futures
import json
import os
import pathlib

import mujoco
import numpy as np

import hulls
import world_scenes

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIGURE = ROOT / "assets" / "figure.body.json"
TIMESTEP, FRICTION, DENSITY, HALF, SECONDS = 0.002, 0.8, 1000.0, 0.1, 5.0
FLOOR = [20.0, 20.0, 0.5]
WORLDS = {"boxes-2": 64, "boxes-10": 64, "boxes-50": 16, "boxes-200": 2, "figures-10": 16}  # different starts


def starts(count, spacing, random):
    """Turned anyhow, on a square lattice of layers in which no two touch, up to six high -> (7 count)."""
    side = max(2, round(np.sqrt(count / 6)))
    q = np.zeros((count, 7))
    for i in range(count):
        k = i % (side * side)
        q[i, :3] = spacing * (k % side - (side - 1) / 2), spacing * (k // side - (side - 1) / 2), spacing * (0.6 + i // (side * side))
    q[:, :3] += random.uniform(-0.02, 0.02, (count, 3)) * spacing
    q[:, 3:] = world_scenes.unit(random.normal(size=(count, 4)))
    return q.ravel()


def write_scene(folder, name):
    """NAME.scene.json and NAME.xml, the same masses and frictions in both -> how many bodies, and how far apart they begin."""
    kind, count = name.split("-")
    floor = {"bodies": [{"box": FLOOR}], "position": [0, 0, -FLOOR[2]]}
    meshes = ""
    if kind == "boxes":
        mass = DENSITY * (2 * HALF) ** 3
        solid = {"mass": mass, "com": [0, 0, 0], "inertia": np.diag([mass * 2 * HALF ** 2 / 3] * 3).tolist()}
        body, geoms = {"box": [HALF] * 3}, f'<geom type="box" size="{HALF} {HALF} {HALF}"/>'
        place = 2.1 * HALF * np.sqrt(3)
    else:
        solid, body, geoms = world_scenes.solid(FIGURE), {"file": str(FIGURE)}, ""
        for k, (points, position, quaternion) in enumerate(hulls.hulls(FIGURE, 18)):
            meshes += f'<mesh name="hull{k}" vertex="{hulls.numbers(points)}"/>'
            geoms += f'<geom type="mesh" mesh="hull{k}" pos="{hulls.numbers(position)}" quat="{hulls.numbers(quaternion)}"/>'
        reach = np.linalg.norm(world_scenes.corners(FIGURE), axis=2).max()
        place = 2.1 * reach
    links = [floor] + [{"joint": {"type": "free"}, "bodies": [body], **solid} for _ in range(int(count))]
    pairs = [{"a": i, "b": k, "friction": FRICTION} for i in range(1, len(links)) for k in range(i)]
    (folder / f"{name}.scene.json").write_text(json.dumps({"timestep": TIMESTEP, "links": links, "pairs": pairs}))
    free = f"<body><freejoint/>{world_scenes.inertial_xml(solid)}{geoms}</body>"
    (folder / f"{name}.xml").write_text(
        f'<mujoco><option timestep="{TIMESTEP}" cone="elliptic"/><default><geom friction="{FRICTION}" condim="3"/></default>'
        f'<asset>{meshes}</asset><worldbody><geom type="box" size="{world_scenes.exactly(FLOOR)}" pos="0 0 {-FLOOR[2]}"/>'
        + free * int(count) + "</worldbody></mujoco>")
    return int(count), place


def settle(model, begin):
    data = mujoco.MjData(model)
    data.qpos[:] = begin
    mujoco.mj_step(model, data, round(SECONDS / TIMESTEP))
    return np.concatenate([data.qpos, data.qvel])


def write(folder, names):
    """Scenes and NAME.npz of q and v -> what to say of them."""
    for name in names:
        count, spacing = write_scene(folder, name)
        random, model = np.random.default_rng(7), mujoco.MjModel.from_xml_path(str(folder / f"{name}.xml"))
        begin = [starts(count, spacing, random) for _ in range(WORLDS[name])]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            ends = np.array(list(pool.map(lambda q: settle(model, q), begin)))
        np.savez(folder / f"{name}.npz", q=ends[:, :model.nq], v=ends[:, model.nq:])
    return ", ".join(f"{name}: {WORLDS[name]} of {SECONDS:g} s" for name in names)
