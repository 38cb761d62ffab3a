#!/usr/bin/env python3
"""Finds where a gripper takes one part out of a bin of twenty, by the gradient of the rollout.

  pick.py [--device NAME] [--small] [--check] [--keep FOLDER]

Figures, flanges and blocks fall into a bin and come to rest. A gripper of two round fingertips
goes down over the flange that lies highest, closes and lifts. Sought are four numbers of the grip:
x, y, the turn about z and the depth. The objective is how far the flange is from being lifted
straight up, on the way and at the end; its gradient goes back through all steps, contacts of the
heap among them. Four grips that drop or turn the flange are one batch, and descend side by side.

--small: fewer parts, grips and rounds; --check: the gradients against differences, in float64;
--keep: where the scene and the first and the found lift stay, for `abut film`.
"""
import argparse
import json
import pathlib
import tempfile
import time

import numpy as np

import abut

ASSETS = pathlib.Path(__file__).resolve().parents[1] / "assets"
STEP, SETTLE, SEED = 0.004, 1.5, 3  # [s], [s]
HALF, HIGH, WALL = 0.19, 0.08, 0.01  # [m] half lengths of the bin's inside, its height, its walls
APART = 0.12  # [m] between parts as they fall
DOWN, CLOSE, LIFT = 0.12, 0.1, 0.2  # [s]
ABOVE, HEIGHT, FORCE = 0.06, 0.12, 10.0  # [m] the fingers begin above, lift to; [N] a finger
LEVER = 0.1  # [m] a radian of turn counts as so much
OFF, TURN = 0.025, 0.8  # [m] the first grips are off the flange's middle; [rad]
ENOUGH = 0.1  # of the objective; the gripper's own lag is 0.05
RECORD = 5  # steps between kept states
SIZES = np.array([0.01, 0.01, 0.3, 0.005])  # [m], [m], [rad], [m]: what counts alike in a step
SHARES = np.array([1.0, 0.4, 0.1])  # of the step, tried at once
FRAME = 0.25  # [m] of the gripper where its joint is at 0


# ---- the scene ----
def scaled(name, factor, folder):
    """Writes a body of assets/ at another size, and returns its file's name."""
    body = json.loads((ASSETS / f"{name}.body.json").read_text())
    lines = (ASSETS / body["mesh"]).read_text().splitlines()
    (folder / body["mesh"]).write_text("\n".join(
        " ".join(["v", *(str(factor * float(x)) for x in line.split()[1:4])])
        if line.startswith("v ") else line for line in lines) + "\n")
    body["union"] *= factor
    for solid in body["superquadrics"]:
        for key in ("axes", "position"):
            solid[key] = [factor * x for x in solid[key]]
    for solid in body.get("polyhedra", []):  # planes: a normal and a point each
        solid["planes"] = [[*p[:3], *(factor * x for x in p[3:])] for p in solid["planes"]]
    (folder / f"{name}.body.json").write_text(json.dumps(body))
    return f"{name}.body.json"


def gripper():
    """Three slides and a hinge that controls place, then two fingers that close by a force each."""
    none = {"contype": 0, "conaffinity": 0}  # is seen, and touches nothing
    light = {"mass": 0.05, "inertia": (1e-4 * np.eye(3)).tolist()}
    links = [{"name": name, "joint": {"type": "slide", "axis": axis}, **light, **more}
             for name, axis, more in (("x", [1, 0, 0], {}), ("y", [0, 1, 0], {"parent": "x"}),
                                      ("z", [0, 0, 1], {"parent": "y", "position": [0, 0, FRAME]}))]
    links.append({"name": "hand", "parent": "z", "joint": {"type": "hinge"}, "mass": 0.5,
                  "inertia": (5e-3 * np.eye(3)).tolist(),
                  "bodies": [{"box": [0.03, 0.07, 0.01], "position": [0, 0, 0.1], **none}]})
    for name, side in (("left", -1), ("right", 1)):  # of no bit that the other one meets
        links.append({"name": name, "parent": "hand", "position": [0, 0.05 * side, 0],
                      "density": 7800,
                      "joint": {"type": "slide", "axis": [0, -side, 0], "damping": 20},
                      "bodies": [{"sphere": 0.012, "contype": 2},
                                 {"box": [0.006, 0.004, 0.045],
                                  "position": [0, 0.004 * side, 0.05], **none}]})
    placed = [{"kind": "position", "joint": joint, "kp": kp, "kv": kv}
              for joint, kp, kv in (("x", 2e3, 80), ("y", 2e3, 80), ("z", 2e3, 80),
                                    ("hand", 20, 0.6))]
    return links, placed + [{"kind": "motor", "joint": joint} for joint in ("left", "right")]


def make_scene(folder, count):
    """Writes the scene of so many parts; returns its path and which of them are flanges."""
    kinds = [({"file": scaled("figure", 0.1, folder)}, 0.055),  # and its middle's height
             ({"file": scaled("part", 0.15, folder)}, 0.0), ({"box": [0.035, 0.03, 0.022]}, 0.0)]
    outside, beside = HALF + 2 * WALL, HALF + WALL
    walls = [{"box": [outside, outside, WALL], "position": [0, 0, -WALL]}]
    for side in (-1, 1):
        walls.append({"box": [WALL, outside, HIGH], "position": [side * beside, 0, HIGH]})
        walls.append({"box": [HALF, WALL, HIGH], "position": [0, side * beside, HIGH]})
    links, random = [{"name": "bin", "bodies": walls}], np.random.default_rng(SEED)
    which = random.permutation(np.arange(count) % 3)
    for i in range(count):
        body, middle = kinds[which[i]]
        w, *axis = turn = random.normal(size=4)
        up = np.array([2 * (axis[0] * axis[2] + w * axis[1]), 2 * (axis[1] * axis[2] - w * axis[0]),
                       w * w - axis[0] ** 2 - axis[1] ** 2 + axis[2] ** 2]) / (turn @ turn)
        place = APART * np.array([i % 3 - 1, i // 3 % 3 - 1, 0])
        place = place + [0, 0, 0.08 + 0.13 * (i // 9)] - middle * up
        links.append({"position": place.tolist(), "quaternion": turn.tolist(), "density": 1000,
                      "joint": {"type": "free"}, "bodies": [body]})
    more, actuators = gripper()
    path = folder / "pick.scene.json"
    path.write_text(json.dumps(
        {"timestep": STEP, "links": links + more, "actuators": actuators,
         # Contacts softer than fitted ones, and without normal cones: slopes that hold over more of a step of the grip.
         "automatic": {"solref": [0.04, 1], "smoothing": {"penetration": 1e-3, "cone_outer": 0}}}))
    return path, np.flatnonzero(which == 1)


# ---- lifts ----
def smooth(x):
    x = np.clip(x, 0, 1)
    return x * x * (3 - 2 * x)


class Pick:
    """Lifts of one part of a heap at rest, by grips: rows of x, y, turn and depth."""

    def __init__(self, scene, q, part):
        self.scene, self.q, self.first, self.own = scene, q, 7 * part, slice(7 * part, 7 * part + 7)
        down, close, lift = (round(x / STEP) for x in (DOWN, CLOSE, LIFT))
        at = np.arange(1, down + close + lift + 1)
        self.down, self.up = smooth(at / (0.8 * down)), smooth((at - down - close) / (0.8 * lift))
        self.force = FORCE * np.clip((at - down) / 5, 0, 1)
        kept = at[RECORD - 1::RECORD]
        self.goal = HEIGHT * self.up[kept - 1]
        self.weight = (kept > down + close) / np.count_nonzero(kept > down + close)
        self.turn = q[self.own][3:] / np.linalg.norm(q[self.own][3:])

    def begin(self, grips):
        """Starts (N, nq) and controls (N, steps, nu)."""
        q = np.tile(self.q, (len(grips), 1))
        q[:, -6:] = 0
        x, y, turn, depth = grips.T
        low = depth - FRAME
        q[:, -6], q[:, -5], q[:, -4], q[:, -3] = x, y, low + ABOVE, turn
        u = np.empty((len(grips), len(self.down), 6))
        u[..., 0], u[..., 1], u[..., 3] = x[:, None], y[:, None], turn[:, None]
        u[..., 2] = low[:, None] + ABOVE * (1 - self.down) + HEIGHT * self.up
        u[..., 4:] = self.force[:, None]
        return {"q": q, "v": np.zeros(self.scene.nv), "controls": u, "record": RECORD}

    def objective(self, record):
        """Of kept states (N, K, nq): how far the part is from where a straight lift has it, mean
        square over the height; and its gradient."""
        pose = record[..., self.own].astype(float)
        low, along = pose[..., 2] - self.q[self.first + 2] - self.goal, pose[..., 3:] @ self.turn
        value = (self.weight * (low ** 2 + 4 * LEVER ** 2 * (1 - along ** 2))).sum(1)
        slope = np.zeros(record.shape)
        slope[..., self.first + 2] = self.weight * 2 * low
        by_turn = -8 * LEVER ** 2 * self.weight * along
        slope[..., self.own][..., 3:] = by_turn[..., None] * self.turn
        return value / HEIGHT ** 2, slope / HEIGHT ** 2

    def values(self, grips):
        """Of grips (..., 4)."""
        made = self.scene.step(**self.begin(grips.reshape(-1, 4)))
        return self.objective(made.q_record)[0].reshape(grips.shape[:-1])

    def gradients(self, grips):
        """Of grips (N, 4): their objectives, and gradients (N, 4)."""
        given = self.begin(grips)
        made = self.scene.step(**given)
        value, slope = self.objective(made.q_record)
        g = self.scene.vjp(**given, q_record_bar=slope, wrt=("q", "u"), made=made)
        # A number of the grip is where a joint begins and what its controls ask for.
        return value, np.column_stack([g.q[:, at] + g.u[..., of].sum(1)
                                       for at, of in ((-6, 0), (-5, 1), (-3, 3), (-4, 2))])


def descend(pick, grips, rounds):
    """Steps down the gradients' directions, of each grip as long as the last ones let hope."""
    length, path = np.full(len(grips), 0.6), []
    for _ in range(rounds):
        value, gradient = pick.gradients(grips)
        path.append(value)
        way = -gradient * SIZES ** 2
        way /= np.linalg.norm(way / SIZES, axis=1, keepdims=True) + 1e-12
        tried = grips[:, None] + (length[:, None] * SHARES)[..., None] * way[:, None]
        values = pick.values(tried)
        best = values.argmin(1)
        rows = np.arange(len(grips))
        better = values[rows, best] < value
        grips = np.where(better[:, None], tried[rows, best], grips)
        length = np.clip(length * np.where(better, 1.7 * SHARES[best], 0.15), 0.02, 1.5)
    return grips, np.array([*path, pick.values(grips)])


def compare(pick, grips):
    """By how much gradients are off differences over nanometres, as a share of these; and the
    cosine of their angle with differences over half a millimetre or as much of a turn."""
    def differences(h):
        moves = h * np.diag(SIZES)
        return (pick.values(grips[:, None] + moves) - pick.values(grips[:, None] - moves)) / (2 * h)

    def length(x):
        return np.linalg.norm(x, axis=1)

    exact = pick.gradients(grips)[1] * SIZES
    near, far = differences(1e-6), differences(0.05)
    return length(exact - near) / length(near), (exact * far).sum(1) / (length(exact) * length(far))


def keep(path, pick, grip):
    """Writes a lift as `abut simulate` writes runs."""
    given = pick.begin(grip[None])
    made = pick.scene.step(**given)
    q = np.concatenate([given["q"][None], made.q_record.swapaxes(0, 1)])
    v = np.concatenate([np.zeros((1, 1, pick.scene.nv)), made.v_record.swapaxes(0, 1)])
    np.savez(path, time=STEP * RECORD * np.arange(len(q)), q=q, v=v, status=made.status)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--keep", type=pathlib.Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        run(given, given.keep or pathlib.Path(temporary))


def run(given, folder):
    begin = time.perf_counter()
    folder.mkdir(exist_ok=True)
    path, flanges = make_scene(folder, 8 if given.small else 20)
    # A heap that falls in float64 is the same everywhere, to some digits; lifts go by float32.
    exact = abut.Scene(path, abut.Context(given.device, precision="f64"))
    rest = exact.step(exact.start(), np.zeros(exact.nv), steps=round(SETTLE / STEP)).q
    part = flanges[rest[7 * flanges + 2].argmax()]
    pick = Pick(abut.Scene(path, abut.Context(given.device, precision="f32")), rest, part)
    x, y, z = rest[7 * part:7 * part + 3]
    ways = [(OFF, 0), (0, OFF), (-OFF, 0), (0, -OFF)][:2 if given.small else 4]
    grips = np.array([[x + dx, y + dy, TURN, z] for dx, dy in ways])

    found, values = descend(pick, grips, 2 if given.small else 7)
    for i, row in enumerate(values.T):
        dx, dy, turn, up = (found[i] - grips[i]) * [1e3, 1e3, 1, 1e3]
        print(f"grip {i}: {' '.join(f'{value:.3f}' for value in row)}; moved by {dx:.1f}, {dy:.1f} "
              f"and {up:.1f} mm, turned by {turn:.2f} rad")
    best = values[-1].argmin()
    print(f"grip {best} is the best; {time.perf_counter() - begin:.1f} s")
    if given.keep:
        keep(folder / "first.npz", pick, grips[best])
        keep(folder / "found.npz", pick, found[best])
    if given.check:
        off, cosine = compare(Pick(exact, rest, part), grips)
        print("gradients of the first grips off differences:", *(f"{x:.1e}" for x in off))
        print("cosines of their angles with those over half a millimetre:",
              *(f"{x:.2f}" for x in cosine))
        assert np.median(off) < 1e-3, "gradients are those of the rollout"
    assert values[-1].min() < ENOUGH, "a grip lifts the flange"
    assert (values[-1] < 0.5 * values[0]).sum() >= len(grips) / 2, "descent mends half of the grips"


if __name__ == "__main__":
    main()
