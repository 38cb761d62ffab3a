#!/usr/bin/env python3
"""Pushes a figure over a table to a pose, by predictive control with the steps' matrices A and B.

  push.py [--device NAME] [--plot OUT.png]

A block on two rails shoves a T (push.scene.json); where it pushes, how hard and where it slides
along is found anew every 80 ms, for the next 0.8 s. Two planners have the same cost and the same
number of simulated steps: one round of iLQR, whose linear model is abut's A and B of every step on
the way and whose gains run in the rollouts of its line search; and predictive sampling, the best of
random changes of the last plan.
"""
import pathlib
import time

import numpy as np

import abut
import common

SUBSTEPS, KNOTS, PLANS = 10, 10, 25  # steps a control is held, controls a plan, plans
SHARES = np.array([1.0, 0.6, 0.3, 0.1, 0.03])  # of iLQR's line search
TRANSITION = 8  # A and B of a step count as so many; measured: 3 to 10
SAMPLES = 1 + TRANSITION + len(SHARES)  # rollouts of a plan's sampling, at the same cost
NOISE, FASTEST = 0.15, 0.4  # [m/s] of sampling, and of any control
GOAL, HEADING = np.array([0.25, 0.1]), 0.7  # [m], [rad] of the figure
LEVER = 0.1  # [m] a radian counts as so much
HOME, MIDDLE = np.array([-0.12, -0.12]), np.array([0.0, -0.041])  # pusher at 0; figure's mass
CONTROL, NEAR, LAST = 0.04, 0.1, 5.0  # weights: speed [s], the pusher's distance, the plan's end
RUNS, SEED = 4, 5  # of sampling, which chance decides


class World:
    """The scene with what controls are to bring about."""

    def __init__(self, scene):
        self.scene, self.nv = scene, scene.nv
        self.goal = scene.start()
        self.goal[:2], self.goal[3:7] = GOAL, [np.cos(HEADING / 2), 0, 0, np.sin(HEADING / 2)]

    def residuals(self, q):
        """What is to be small, rows of (N, 5) [m], and its slopes by steps of q (N, 5, nv)."""
        turn = self.scene.subtract(q, np.broadcast_to(self.goal, q.shape))[:, 5]
        yaw = HEADING + turn
        c, s = np.cos(yaw), np.sin(yaw)
        middle = np.column_stack([c * MIDDLE[0] - s * MIDDLE[1], s * MIDDLE[0] + c * MIDDLE[1]])
        apart = NEAR * (HOME + q[:, 7:] - q[:, :2] - middle)
        r = np.column_stack([q[:, :2] - GOAL, LEVER * turn, apart])
        J = np.zeros((len(q), 5, self.nv))
        J[:, 0, 0] = J[:, 1, 1] = 1.0
        J[:, 2, 5] = LEVER
        J[:, 3, 0] = J[:, 4, 1] = -NEAR
        J[:, 3, 6] = J[:, 4, 7] = NEAR
        J[:, 3:, 5] = NEAR * np.column_stack([middle[:, 1], -middle[:, 0]])
        return r, J

    def off(self, q):
        """How far the figure is from its pose [m]."""
        return np.linalg.norm(self.residuals(q)[0][:, :3], axis=1)

    def cost(self, q, u):
        """Of plans: positions (N, KNOTS, nq) after each control (N, KNOTS, nu)."""
        r = self.residuals(q.reshape(-1, q.shape[-1]))[0].reshape(*q.shape[:2], 5)
        weights = np.where(np.arange(KNOTS) == KNOTS - 1, LAST, 1.0)
        return (weights * (r ** 2).sum(2)).sum(1) + CONTROL ** 2 * (u ** 2).sum((1, 2))


def linear_models(world, q, v, u, made):
    """A (KNOTS, 2 nv, 2 nv) and B (KNOTS, 2 nv, nu) over each control's steps, one batch."""
    starts = [np.vstack([x, kept[0, :-1]]) for x, kept in ((q, made.q_record), (v, made.v_record))]
    t = world.scene.transition(*starts, np.repeat(u, SUBSTEPS, axis=0))
    A, B = (M.reshape(KNOTS, SUBSTEPS, *M.shape[1:]) for M in (t.A, t.B))
    whole, by_u = A[:, 0], B[:, 0]
    for k in range(1, SUBSTEPS):
        whole, by_u = A[:, k] @ whole, A[:, k] @ by_u + B[:, k]
    return whole, by_u


def gains(world, q, u, A, B):
    """The way back of iLQR, of Gauss and Newton: changes and feedback of controls."""
    nv, nu = world.nv, u.shape[1]
    r, J = world.residuals(q)
    change, feedback = np.zeros_like(u), np.zeros((KNOTS, nu, 2 * nv))
    Vx, Vxx = np.zeros(2 * nv), np.zeros((2 * nv, 2 * nv))
    for k in reversed(range(KNOTS)):
        weight = LAST if k == KNOTS - 1 else 1.0
        Vx[:nv] += weight * J[k].T @ r[k]
        Vxx[:nv, :nv] += weight * J[k].T @ J[k]
        Qx, Qu = A[k].T @ Vx, B[k].T @ Vx + CONTROL ** 2 * u[k]
        Qxx, Qux = A[k].T @ Vxx @ A[k], B[k].T @ Vxx @ A[k]
        Quu = B[k].T @ Vxx @ B[k] + CONTROL ** 2 * np.eye(nu)
        change[k], feedback[k] = -np.linalg.solve(Quu, Qu), -np.linalg.solve(Quu, Qux)
        Vx, Vxx = Qx + Qux.T @ change[k], Qxx + Qux.T @ feedback[k]
        Vxx = 0.5 * (Vxx + Vxx.T)
    return change, feedback


def ilqr(world, q, v, u, rng):
    """One round from the plan u (1, KNOTS, nu) at one state: its next one."""
    q, v, u = q[0], v[0], u[0]
    each = np.repeat(u, SUBSTEPS, axis=0)
    nominal = world.scene.step(q[None], v[None], controls=each[None], record=1)
    ends = slice(SUBSTEPS - 1, None, SUBSTEPS)
    q_plan, v_plan = nominal.q_record[0, ends], nominal.v_record[0, ends]
    A, B = linear_models(world, q, v, u, nominal)
    change, feedback = gains(world, q_plan, u, A, B)
    many = len(SHARES)
    qs, vs = (np.broadcast_to(x, (many, len(x))) for x in (q, v))
    states, controls = [], []
    for k in range(KNOTS):
        now = u[k] + SHARES[:, None] * change[k]
        if k:
            dq = world.scene.subtract(qs, np.broadcast_to(q_plan[k - 1], qs.shape))
            dx = np.hstack([dq, vs - v_plan[k - 1]])
            now = now + dx @ feedback[k].T
        now = np.clip(now, -FASTEST, FASTEST)
        made = world.scene.step(qs, vs, now, steps=SUBSTEPS)
        qs, vs = made.q, made.v
        states.append(qs)
        controls.append(now)
    states, controls = np.stack(states, 1), np.stack(controls, 1)
    costs = np.append(world.cost(states, controls), world.cost(q_plan[None], u[None]))
    best = int(np.argmin(np.where(np.isfinite(costs), costs, np.inf)))
    return (u if best == many else controls[best])[None]


def sampling(world, q, v, u, rng):
    """The best of changes of plans u (RUNS, KNOTS, nu) by chance, held for two knots each; u is
    one of them, and runs are a batch."""
    noise = np.repeat(rng.normal(0.0, NOISE, (len(u), SAMPLES, KNOTS // 2, u.shape[2])), 2, axis=2)
    noise[:, 0] = 0.0
    plans = np.clip(u[:, None] + noise, -FASTEST, FASTEST)
    each = [np.broadcast_to(x[:, None], (len(u), SAMPLES, x.shape[1])) for x in (q, v)]
    made = world.scene.step(*each, controls=np.repeat(plans, SUBSTEPS, axis=2), record=SUBSTEPS)
    costs = [world.cost(kept, plan) for kept, plan in zip(made.q_record, plans)]
    return plans[np.arange(len(u)), np.argmin(costs, axis=1)]


def control(world, planner, runs):
    """Plans, does the first part of the plan, plans again: states (PLANS + 1, runs, nq)."""
    rng = np.random.default_rng(SEED)
    q, v = np.tile(world.scene.start(), (runs, 1)), np.zeros((runs, world.nv))
    u = np.full((runs, KNOTS, world.scene.nu), 0.1)
    path = [q]
    for _ in range(PLANS):
        u = planner(world, q, v, u, rng)
        made = world.scene.step(q, v, u[:, 0], steps=SUBSTEPS)
        q, v = made.q, made.v
        path.append(q)
        u = np.concatenate([u[:, 1:], u[:, -1:]], axis=1)
    return np.array(path)


def corners(pose):
    """The figure's outline on the table."""
    T = np.array([[-.1, .03], [.1, .03], [.1, -.03], [.03, -.03], [.03, -.17], [-.03, -.17],
                  [-.03, -.03], [-.1, -.03], [-.1, .03]])
    yaw = 2 * np.arctan2(pose[6], pose[3])
    return pose[:2] + T @ np.array([[np.cos(yaw), np.sin(yaw)], [-np.sin(yaw), np.cos(yaw)]])


def plot(path, world, paths, off):
    pyplot = common.pyplot()
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9.6, 3.8), dpi=90)
    t = np.arange(PLANS + 1) * SUBSTEPS * world.scene.timestep
    for name, colour in (("predictive sampling", "#d1495b"), ("iLQR", "#30638e")):
        width = 1.6 if name == "iLQR" else 1.0
        lines = left.plot(t, 1e3 * off[name], color=colour, linewidth=width)
        lines[0].set_label(name if name == "iLQR" else f"{name}, {RUNS} runs")
    left.set(xlabel="time [s]", ylabel="distance to the pose [mm]", yscale="log")
    left.legend(frameon=False)
    run = paths["iLQR"][:, 0]
    for k in (0, 6, 10, PLANS):
        shade = "#30638e" if k else "#999999"
        right.plot(*corners(run[k]).T, color=shade, alpha=0.35 + 0.65 * (k in (0, PLANS)))
        right.add_patch(pyplot.Rectangle(HOME + run[k, 7:] - 0.018, 0.036, 0.036, color=shade,
                                         alpha=0.5, linewidth=0))
    right.plot(*(HOME + run[:, 7:]).T, color="#30638e", linewidth=0.8)
    right.plot(*corners(world.goal).T, color="#d1495b", linestyle="--", linewidth=1.0)
    right.set(title="iLQR: start (grey), way, goal (dashed)", aspect="equal", xlabel="x [m]",
              ylabel="y [m]")
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(path)


def main():
    context, picture = common.begin()
    world = World(abut.Scene(pathlib.Path(__file__).with_name("push.scene.json"), context))
    paths, off = {}, {}
    for name, planner, runs in (("iLQR", ilqr, 1), ("predictive sampling", sampling, RUNS)):
        begin = time.perf_counter()
        paths[name] = control(world, planner, runs)
        off[name] = world.off(paths[name].reshape(-1, world.scene.nq)).reshape(-1, runs)
        ends = ", ".join(f"{1e3 * x:.1f}" for x in off[name][-1])
        print(f"{name}: from {1e3 * off[name][0, 0]:.0f} mm to {ends} mm, "
              f"{1e3 * np.median(off[name].mean(0)):.0f} mm in the mean over time; "
              f"{time.perf_counter() - begin:.1f} s")
    if picture:
        plot(picture, world, paths, off)
    one, other = off.values()
    assert one[-1, 0] < 6e-3, "the figure is at its pose"
    assert one[-1, 0] < np.median(other[-1]), "iLQR against predictive sampling, at the end"
    assert one.mean() < np.median(other.mean(0)), "and over the whole way"


if __name__ == "__main__":
    main()
