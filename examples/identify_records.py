#!/usr/bin/env python3
"""Finds mass, friction and damping from MuJoCo's records of a slide and of a push, by Gauss-Newton steps.

  identify_records.py [--device NAME] [--penetration LENGTH] [--solref TIME]

record_motions.py has MuJoCo make the records (identify_records.json). In the first record a box slides over a table and comes to rest.
In the second one a ball on a rail pushes the box. The force on the ball and the ball's mass are known. The search finds the box's mass,
its friction on the table and the damping of the rail. It begins at ten guesses, each number off by a factor of up to 2.5.

The damping of a joint is not a parameter of worlds. A motion is the same after all masses, forces and dampings are divided by one
number. So the scene states a damping of 1, and each world has the masses and the force divided by the damping of its guess. The scene's
`diagonal` is exact, so that contacts are as stiff as the masses of each world ask for. The approximate diagonal is that of the stated
masses: contacts of lighter guesses are too stiff then, their motion is chaotic, and their search may stay where it begins.

With --penetration or --solref both pairs have these contacts. The program then prints what it finds by the law `cone`, and does not ask
for 3 %.
"""
import argparse
import json
import pathlib
import tempfile
import time

import numpy as np

import abut

SEED, GUESSES, FACTOR = 0, 10, 2.5
STEPS, LONGEST = 30, 0.7  # of the search, at most; the longest step in a logarithm
ENOUGH = 1e-5  # a world's search ends after a shorter step
FINE = {"smoothing": {"penetration": 2.5e-4}}  # [m], about a fifth of the fitted one
RECORD = json.loads(pathlib.Path(__file__).with_name("identify_records.json").read_text())
GIVEN = RECORD["given"]
TRUTH = np.array([RECORD["truth"][name] for name in ("mass", "friction", "damping")])


def obj(half):
    """A box of twelve triangles as the text of an OBJ file."""
    corners = [[x * half[0], y * half[1], z * half[2]] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    quads = (1, 2, 4, 3), (5, 7, 8, 6), (1, 5, 6, 2), (3, 4, 8, 7), (1, 3, 7, 5), (2, 6, 8, 4)
    lines = ["v {} {} {}".format(*p) for p in corners] + ["f {} {} {} {}".format(*f) for f in quads]
    return "\n".join(lines) + "\n"


def scene_of(context, law, shape, contact):
    """Table, box of 1 kg, and ball on a rail with a damping of 1; the box is a word or a bare mesh. Both pairs have the keys of `contact`."""
    half = np.array(GIVEN["box"])
    start = -half[0] - GIVEN["ball"] - GIVEN["gap"]
    scene = {"contact_model": law, "timestep": GIVEN["timestep"], "diagonal": "exact", "links": [
                {"bodies": [{"plane": [5, 5]}]},
                {"position": [0, 0, half[2]], "joint": {"type": "free"}, "mass": 1, "inertia": np.diag((half @ half - half ** 2) / 3).tolist(),
                 "bodies": [{"box": half.tolist()} if shape == "word" else {"file": "box.obj"}]},
                {"position": [start, 0, half[2]], "joint": {"type": "slide", "axis": [1, 0, 0], "damping": 1},
                 "mass": GIVEN["ball_mass"], "bodies": [{"sphere": GIVEN["ball"]}]}],
             "actuators": [{"kind": "motor", "joint": 2}],
             "pairs": [{"a": 1, "b": 0, **contact}, {"a": 2, "b": 1, "condim": 1, **contact}]}
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "records.scene.json"
        path.write_text(json.dumps(scene))
        path.with_name("box.obj").write_text(obj(half))
        return abut.Scene(path, context)


def worlds(scene, motion, x):
    """What the rollouts of a motion are given, for rows of mass, friction and damping."""
    mass, friction, damping = x.T
    steps = GIVEN[f"{motion}_steps"]
    q, v, force = np.tile(scene.start(), (len(x), 1)), np.zeros((len(x), scene.nv)), np.zeros((len(x), steps, 1))
    if motion == "slide":
        v[:, 0], q[:, 7] = GIVEN["speed"], -1  # the ball is out of the way
    else:
        force[:, :GIVEN["force_steps"], 0] = GIVEN["force"] / damping[:, None]
    scales = np.stack([np.ones(len(x)), mass / damping, 1 / damping], 1)
    return {"q": q, "v": v, "controls": force, "record": GIVEN["every"], "mass_scale": scales,
            "friction": np.stack([friction, np.zeros(len(x))], 1)}


def tangents(given, damping):
    """How what is given changes along the logarithms of mass, friction and damping: rows of all worlds for each."""
    zero = {name: np.zeros_like(given[name]) for name in ("mass_scale", "friction", "controls")}
    by_mass, by_damping = zero["mass_scale"].copy(), -given["mass_scale"]
    by_mass[:, 1], by_damping[:, 0] = given["mass_scale"][:, 1], 0
    return {"mass_scale_tangent": np.concatenate([by_mass, zero["mass_scale"], by_damping]),
            "friction_tangent": np.concatenate([zero["friction"], given["friction"], zero["friction"]]),
            "u_tangent": np.concatenate([zero["controls"], zero["controls"], -given["controls"]])}


def seen(motion, q):
    """The recorded numbers of kept states: where the box is, and where the ball is, along x [m]."""
    return np.concatenate([q[..., 0], q[..., 7]] if motion == "push" else [q[..., 0]], -1)


MEASURED = np.concatenate([RECORD["slide"]["box"], RECORD["push"]["box"], RECORD["push"]["ball"]])


def differences(scene, z):
    """Rollouts minus records (N, R) for rows of logarithms."""
    made = [seen(m, scene.step(**worlds(scene, m, np.exp(z))).q_record) for m in ("slide", "push")]
    return np.concatenate(made, 1) - MEASURED


def jacobian(scene, z):
    """The derivatives of the differences (N, R, 3)."""
    columns = []
    for motion in ("slide", "push"):
        given = worlds(scene, motion, np.exp(z))
        thrice = {name: value if name == "record" else np.tile(value, (3,) + (1,) * (value.ndim - 1)) for name, value in given.items()}
        t = scene.jvp(**thrice, **tangents(given, np.exp(z[:, 2])))
        columns.append(seen(motion, t.q_record).reshape(3, len(z), -1))
    return np.concatenate(columns, 2).transpose(1, 2, 0)


def search(scene, z):
    """Levenberg and Marquardt's method, one search per row: logarithms, root mean squares [m], and steps that were tried."""
    z, r = z.copy(), differences(scene, z)
    J, cost = jacobian(scene, z), (r ** 2).sum(1)
    damping, going, tried = np.full(len(z), 1e-2), np.arange(len(z)), np.zeros(len(z), int)
    for _ in range(STEPS):
        A = np.einsum("nri,nrj->nij", J[going], J[going])
        A += damping[going, None, None] * np.einsum("nii->n", A)[:, None, None] / 3 * np.eye(3)
        step = -np.linalg.solve(A, np.einsum("nri,nr->ni", J[going], r[going])[..., None])[..., 0]
        step *= np.minimum(1, LONGEST / np.abs(step).max(1))[:, None]
        there = differences(scene, z[going] + step)
        better = (there ** 2).sum(1) < cost[going]
        won = going[better]
        z[won] += step[better]
        r[won], cost[won] = there[better], (there[better] ** 2).sum(1)
        damping[going] *= np.where(better, 0.2, 5)
        tried[going] += 1
        still = np.abs(step).max(1) > ENOUGH
        refresh = going[better & still]
        if len(refresh):
            J[refresh] = jacobian(scene, z[refresh])
        going = going[still]
        if not len(going):
            break
    return z, np.sqrt(cost / r.shape[1]), tried


def check_jacobian(scene, z):
    """The Jacobian at one guess against central differences, of each column's largest entry."""
    exact, step = jacobian(scene, z[None])[0], 1e-5
    near = (differences(scene, z + step * np.eye(3)) - differences(scene, z - step * np.eye(3))).T / (2 * step)
    return (np.abs(exact - near).max(0) / np.abs(near).max(0)).max()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", help="one of abut.devices(), or host")
    parser.add_argument("--penetration", type=float, help="of the smoothing [m]; otherwise it is fitted")
    parser.add_argument("--solref", type=float, help="time constant of contacts [s], 0.02 by default")
    options = parser.parse_args()
    contact = {"smoothing": {"penetration": options.penetration}} if options.penetration else {}
    contact |= {"solref": [options.solref, 1]} if options.solref else {}
    context = abut.Context(options.device, precision="f64")
    cases = [("cone", "word", contact)] if contact else [
        ("cone", "word", {}), ("cone", "word", FINE), ("cone", "mesh", {}), ("lcp", "word", {})]
    guesses = np.log(TRUTH) + np.log(FACTOR) * np.random.default_rng(SEED).uniform(-1, 1, (GUESSES, 3))
    print(f"the records are of a box of {TRUTH[0]} kg, friction {TRUTH[1]}, damping {TRUTH[2]} N s/m")
    for law, shape, pair in cases:
        scene, begin = scene_of(context, law, shape, pair), time.perf_counter()
        error = check_jacobian(scene, guesses[0])
        z, rms, tried = search(scene, guesses)
        x = np.exp(z)
        off = np.abs(x / TRUTH - 1).max(0)
        print(f"{law}, box as a {shape}{', fine contacts' if pair is FINE else ''}: {x[0, 0]:.3f} kg, {x[0, 1]:.4f}, {x[0, 2]:.3f} N s/m from the first guess; of {GUESSES} guesses the "
              f"farthest off are {100 * off[0]:.1f}, {100 * off[1]:.1f}, {100 * off[2]:.1f} %; {1e3 * rms.max():.2f} mm from the records at "
              f"most; {tried.min()} to {tried.max()} steps; derivatives against differences {error:.0e}; {time.perf_counter() - begin:.0f} s")
        if contact:
            print(f"  {np.count_nonzero((np.abs(x / TRUTH - 1) < 0.03).all(1))} of {GUESSES} guesses end within 3 %")
            continue
        assert error < 1e-6
        assert (off < 0.03).all(), "mass, friction and damping within 3 %, from every guess"
        assert rms.max() < 2e-3, "and rollouts that lie on the records"


if __name__ == "__main__":
    main()
