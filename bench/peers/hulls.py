"""A body's superquadrics as convex hulls, and two such bodies as a MuJoCo model.

A hull has the 26 surface points in the directions of a cube's corners, edges' middles and faces' middles,
scaled by the axes: fewer than the 32 up to which MJX advises its convex collision functions.
"""
import json
import pathlib

import numpy as np

STEPS = (-1, 0, 1)
CUBE = np.array([(x, y, z) for x in STEPS for y in STEPS for z in STEPS if x or y or z], float)


def surface(quadric):
    """Points of the surface f = 1 (docs/dev/spec.md, section 4); h is homogeneous, so x / h(x) lies on it."""
    e1, e2 = quadric["exponents"]
    logs = np.log(CUBE ** 2 + 1e-300)
    ring = np.logaddexp(logs[:, 0] / e2, logs[:, 1] / e2) * e2 / e1
    h = np.exp(0.5 * e1 * np.logaddexp(ring, logs[:, 2] / e1))
    return CUBE / h[:, None] * quadric["axes"]


def hulls(path, count):
    """The `count` largest superquadrics that are added -> points, position, quaternion (w, x, y, z)."""
    quadrics = json.loads(pathlib.Path(path).read_text()).get("superquadrics", [])
    added = [q for q in quadrics if q.get("operation", "add") == "add"]
    largest = sorted(added, key=lambda q: -np.prod(q["axes"]))[:count]
    if len(largest) < count:
        raise ValueError(f"{path} has {len(largest)} superquadrics, {count} are asked for")
    return [(surface(q), q["position"], q["quaternion"]) for q in largest]


def numbers(x):
    return " ".join(f"{v:.9g}" for v in np.ravel(x))


def model_xml(paths, count, options="", inertial=""):
    """Two free bodies; geoms collide with the other body's alone. `options`: elements of the model;
    `inertial`: that of each body, else its hulls'."""
    meshes, bodies = [], []
    for side, path in enumerate(paths):
        geoms = []
        for k, (points, position, quaternion) in enumerate(hulls(path, count)):
            name = f"hull{side}_{k}"
            meshes.append(f'<mesh name="{name}" vertex="{numbers(points)}"/>')
            geoms.append(f'<geom type="mesh" mesh="{name}" pos="{numbers(position)}" '
                         f'quat="{numbers(quaternion)}" contype="{1 + side}" conaffinity="{2 - side}"/>')
        own = inertial[side] if inertial else ""
        bodies.append(f"<body><freejoint/>{own}{''.join(geoms)}</body>")
    return (f"<mujoco>{options}<asset>{''.join(meshes)}</asset><worldbody>{''.join(bodies)}</worldbody></mujoco>")


def frames(twists):
    """exp(s), s = (rho, omega) (docs/dev/spec.md, section 3) -> (N, 7): position, quaternion (w, x, y, z)."""
    rho, omega = twists[:, :3].astype(float), twists[:, 3:].astype(float)
    t2 = np.maximum((omega ** 2).sum(1, keepdims=True), 1e-16)
    t = np.sqrt(t2)
    once = np.cross(omega, rho)
    position = rho + (1 - np.cos(t)) / t2 * once + (t - np.sin(t)) / (t2 * t) * np.cross(omega, once)
    return np.concatenate([position, np.cos(t / 2), np.sin(t / 2) / t * omega], 1)


def positions(path, count):
    """MuJoCo's qpos of a pose file's twists, repeated to `count` poses -> (count, 14)."""
    loaded = np.load(path)
    both = np.concatenate([frames(loaded["s1"]), frames(loaded["s2"])], 1)
    return np.resize(both, (count, 14))
