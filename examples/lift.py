#!/usr/bin/env python3
"""A gripper takes a block from a table and lifts it, by predictive control with the steps' matrices A and B.

  lift.py [--device NAME] [--plans K] [--plot OUT.png] [--save RUN.npz]

The hand moves along three axes and turns, and two fingers close (lift.xml, a model of MuJoCo's).
The block lies 7 cm off and is turned. Every 40 ms one round of iLQR plans the next 0.48 s anew, with
abut's derivatives of each step. The same controls are then replayed in MuJoCo with the same model,
and so is the whole control, where MuJoCo is the world and abut plans. The program needs MuJoCo.
"""
import argparse
import pathlib
import time
import warnings

import mujoco
import numpy as np

import abut
import abut.mujoco
import common

SUBSTEPS, KNOTS, PLANS = 10, 12, 50  # steps a control is held, controls of a plan, plans
DAMPINGS = 0.01 * 5.0 ** np.arange(6)  # of changes of controls: each makes a plan, the best is taken
HALF, PAD, OPEN = 0.025, 0.006, 0.025  # [m] of the block, of a finger, of the hand at 0
LIFT = 0.15  # [m] from the block's place to where it is to be
AHEAD = 0.04  # [m] above the block that a plan aims at, so that the way up does not outweigh the rest
SQUEEZE = 0.006  # [m] that fingers aim at within the block
HOVER, CLEAR = 0.07, 0.02  # [m] above the block until the hand is over it; beside it until it is low
NEAR, LOW = 0.012, 0.03  # [m] at which the hand is over the block, and is low
LEVER = 0.05  # [m] a radian counts as so much
WEIGHTS = np.array([1, 1, 2, 1, 1, 1, 2] + [0.05] * 6 + [0.01])  # of residuals
LAST = 3.0  # weight of the plan's end
FARTHEST = np.array([0.03, 0.03, 0.03, 0.3, 0.01, 0.01])  # of a change of a control [m, rad]
LIMITS = np.array([[-0.3] * 3 + [-2.0, 0, 0], [0.3] * 3 + [2.0, 0.05, 0.05]])  # of controls


def load(device):
    """The model, the scene that abut makes of it, and the start that it names."""
    model = mujoco.MjModel.from_xml_path(str(pathlib.Path(__file__).with_name("lift.xml")))
    scene = abut.from_mujoco(model, abut.Context(device, precision="f64"))
    return model, scene, scene.starts["start"]


def rise(x):
    """0 below 0, 1 above 1, smooth between."""
    x = np.clip(x, 0.0, 1.0)
    return x * x * (3 - 2 * x)


def places(q):
    """Where the hand is about the block: off to the sides [m] (N, 2), turned [rad] and above [m] (N)."""
    w, x, y, z = q[:, 3:7].T
    yaw = np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
    turn = (q[:, 10] - yaw + np.pi / 4) % (np.pi / 2) - np.pi / 4  # any two sides will do
    return q[:, 7:9] - q[:, :2], turn, HALF + q[:, 9] - q[:, 2]


def aims(q):
    """What the present state (nq) has a plan aim at: the hand's height above the block, the fingers' places, the
    block's height. The hand goes over the block with open fingers, then down, then closes, then lifts."""
    off, turn, height = (x[0] for x in places(q[None]))
    aside = rise(np.hypot(np.hypot(*off), LEVER * turn) / NEAR - 0.3)
    about = (1 - aside) * (1 - rise(height / LOW - 0.2))
    return HOVER * aside, HALF + PAD - OPEN + CLEAR - about * (CLEAR + SQUEEZE), min(q[2] + AHEAD * about, HALF + LIFT)


def residuals(q, v, aim):
    """What is to be small, of states (N, ...): lengths [m] and speeds, rows of (N, 14)."""
    off, turn, height = places(q)
    return np.column_stack([off, LEVER * turn, height - aim[0], q[:, 11:] - aim[1], q[:, 2] - aim[2],
                            v[:, :3], v[:, 6:10]]) * WEIGHTS


def slopes():
    """Of the residuals by steps of q and v (14, 24), where the block lies flat."""
    J = np.zeros((14, 24))
    J[[0, 1, 2, 3, 4, 5], [6, 7, 9, 8, 10, 11]] = 1, 1, LEVER, 1, 1, 1
    J[[0, 1, 2, 3], [0, 1, 5, 2]] = -1, -1, -LEVER, -1
    J[[6, 7, 8, 9], [2, 12, 13, 14]] = J[[10, 11, 12, 13], [18, 19, 20, 21]] = 1
    return J * WEIGHTS[:, None]


class Planner:
    """iLQR, which begins with its last plan."""

    def __init__(self, scene, u):
        self.scene, self.plan = scene, np.tile(u, (KNOTS, 1))
        self.weights = np.where(np.arange(KNOTS) == KNOTS - 1, LAST, 1.0)

    def cost(self, q, v):
        """Of states after each control of plans (N, KNOTS, ...)."""
        r = residuals(q.reshape(-1, q.shape[-1]), v.reshape(-1, v.shape[-1]), self.aim).reshape(*q.shape[:2], -1)
        return (self.weights * (r ** 2).sum(2)).sum(1)

    def models(self, q, v, u, made):
        """A (KNOTS, 2 nv, 2 nv) and B (KNOTS, 2 nv, nu) over each control's steps, one batch."""
        starts = [np.vstack([x, kept[0, :-1]]) for x, kept in ((q, made.q_record), (v, made.v_record))]
        t = self.scene.transition(*starts, np.repeat(u, SUBSTEPS, axis=0))
        A, B = (M.reshape(KNOTS, SUBSTEPS, *M.shape[1:]) for M in (t.A, t.B))
        whole, by_u = A[:, 0], B[:, 0]
        for k in range(1, SUBSTEPS):
            whole, by_u = A[:, k] @ whole, A[:, k] @ by_u + B[:, k]
        return whole, by_u

    def gains(self, q, v, A, B):
        """The way back of iLQR, of Gauss and Newton, for each damping: changes (KNOTS, dampings, nu) and feedback."""
        r, J = residuals(q, v, self.aim), slopes()
        many, nx, nu = len(DAMPINGS), A.shape[1], B.shape[2]
        change, feedback = np.zeros((KNOTS, many, nu)), np.zeros((KNOTS, many, nu, nx))
        Vx, Vxx = np.zeros((many, nx)), np.zeros((many, nx, nx))
        for k in reversed(range(KNOTS)):
            Vx, Vxx = Vx + self.weights[k] * J.T @ r[k], Vxx + self.weights[k] * J.T @ J
            Quu = B[k].T @ Vxx @ B[k] + DAMPINGS[:, None, None] * np.eye(nu)
            Qu, Qux = Vx @ B[k], B[k].T @ Vxx @ A[k]
            both = -np.linalg.solve(Quu, np.concatenate([Qu[:, :, None], Qux], 2))
            change[k], feedback[k] = both[:, :, 0], both[:, :, 1:]
            Vx = Vx @ A[k] + np.einsum("nux,nu->nx", Qux, change[k])
            Vxx = A[k].T @ Vxx @ A[k] + Qux.swapaxes(1, 2) @ feedback[k]
            Vxx = 0.5 * (Vxx + Vxx.swapaxes(1, 2))
        return change, feedback

    def improve(self, q, v):
        """One round from the plan at a state (nq), (nv): the cost before, and that of the next plan."""
        scene, u = self.scene, self.plan
        self.aim = aims(q)
        nominal = scene.step(q[None], v[None], controls=np.repeat(u, SUBSTEPS, axis=0)[None], record=1)
        q_plan, v_plan = (x[0, SUBSTEPS - 1::SUBSTEPS] for x in (nominal.q_record, nominal.v_record))
        change, feedback = self.gains(q_plan, v_plan, *self.models(q, v, u, nominal))
        qs, vs = (np.tile(x, (len(DAMPINGS), 1)) for x in (q, v))
        states, speeds, controls = [], [], []
        for k in range(KNOTS):
            now = change[k]
            if k:
                dq = scene.subtract(qs, np.broadcast_to(q_plan[k - 1], qs.shape))
                now = now + (feedback[k] @ np.hstack([dq, vs - v_plan[k - 1]])[:, :, None])[:, :, 0]
            now = np.clip(u[k] + np.clip(now, -FARTHEST, FARTHEST), *LIMITS)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a bad plan may be too fast for the step, and is not taken
                made = scene.step(qs, vs, now, steps=SUBSTEPS)
            qs, vs = made.q, made.v
            states.append(qs), speeds.append(vs), controls.append(now)
        states, speeds, controls = (np.stack(x, 1) for x in (states, speeds, controls))
        costs = np.append(self.cost(states, speeds), self.cost(q_plan[None], v_plan[None]))
        best = int(np.argmin(np.where(np.isfinite(costs), costs, np.inf)))
        if best < len(DAMPINGS):
            self.plan = controls[best]
        return costs[-1], costs[best]

    def advance(self):
        """The first control of the plan, which then begins with the second."""
        u = self.plan[0]
        self.plan = np.vstack([self.plan[1:], self.plan[-1:]])
        return u


def in_abut(scene):
    """A world of abut's: a function from a state and controls to the next state."""
    def step(q, v, u):
        made = scene.step(q, v, u, steps=SUBSTEPS)
        return made.q, made.v
    return step


def in_mujoco(model, start):
    """The same of MuJoCo's, which begins at the start and then holds its state itself."""
    data = mujoco.MjData(model)
    data.qpos[:] = start.q

    def step(q, v, u):
        data.ctrl[:] = u
        mujoco.mj_step(model, data, nstep=SUBSTEPS)
        return data.qpos.copy(), data.qvel.copy()
    return step


def control(planner, world, start, plans):
    """Plans, does the first control of the plan in a world, plans again: states, controls, costs of plans."""
    q, v = start.q, start.v
    path, controls, costs = [(q, v)], [], []
    for _ in range(plans):
        costs.append(planner.improve(q, v))
        controls.append(planner.advance())
        q, v = world(q, v, controls[-1])
        path.append((q, v))
    return path, np.array(controls), np.array(costs)


def replay(world, start, controls):
    """The same controls without a plan: states."""
    path = [(start.q, start.v)]
    for u in controls:
        path.append(world(*path[-1], u))
    return path


def height(path):
    """Of the block above where it lay [m]."""
    return np.array([q[2] for q, _ in path]) - HALF


def plot(path, runs):
    pyplot = common.pyplot()
    figure, axes = pyplot.subplots(figsize=(5.6, 3.2), dpi=90)
    axes.axhline(1e3 * LIFT, color="#999999", linewidth=0.8, linestyle="--")
    for (name, path_of), colour, style in zip(runs.items(), ("#30638e", "#d1495b", "#edae49"), ("-", "--", "-")):
        axes.plot(0.04 * np.arange(len(path_of)), 1e3 * height(path_of), style, color=colour, linewidth=1.4, label=name)
    axes.set(xlabel="time [s]", ylabel="block above the table [mm]")
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(path)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="host", help="one of abut.devices(), or host")
    parser.add_argument("--plans", type=int, default=PLANS)
    parser.add_argument("--save", metavar="RUN.npz", help="keep MuJoCo's replay, and RUN.scene.json beside it")
    parser.add_argument("--plot", metavar="OUT.png", help="draw the block's height; needs matplotlib")
    given = parser.parse_args()
    model, scene, start = load(given.device)
    runs, begin = {}, time.perf_counter()
    runs["abut"], controls, costs = control(Planner(scene, start.u), in_abut(scene), start, given.plans)
    seconds = time.perf_counter() - begin
    runs["MuJoCo, same controls"] = replay(in_mujoco(model, start), start, controls)
    runs["MuJoCo, planned by abut"] = control(Planner(scene, start.u), in_mujoco(model, start), start, given.plans)[0]
    for name, path in runs.items():
        print(f"{name}: the block ends {1e3 * height(path)[-1]:.1f} mm above where it lay")
    print(f"{given.plans} plans of {KNOTS * SUBSTEPS} steps in {seconds:.1f} s; cost {costs[0, 0]:.3f} to {costs[-1, 1]:.5f}")
    if given.save:
        file, path = pathlib.Path(given.save), runs["MuJoCo, same controls"]
        abut.mujoco.write(model, file.with_suffix(".scene.json"), lambda text: None)
        np.savez(file, q=np.float32([[q] for q, _ in path]), v=np.float32([[v] for _, v in path]),
                 time=SUBSTEPS * model.opt.timestep * np.arange(len(path)), status=np.zeros(1, np.uint32))
    if given.plot:
        plot(given.plot, runs)
    for name, path in runs.items():
        assert given.plans < PLANS or abs(height(path)[-1] - LIFT) < 0.01, name


if __name__ == "__main__":
    main()
