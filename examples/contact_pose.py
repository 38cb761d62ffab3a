#!/usr/bin/env python3
"""Poses in which two bodies touch in given points, by Gauss-Newton steps along derivatives of closest points.

  contact_pose.py [--device NAME] [--plot OUT.png]

A pencil is to touch a block in a point of each: with its point on a face, with an edge across an edge, with a corner at a corner. It
starts apart, turned anyhow. The residual is what both closest points miss their targets by, each in its own body's frame, and the signed
distance; it is 0 where the bodies touch in the targets. Its derivative by the pencil's twist comes from `gumbel`, because the bodies' own
says nothing of the faces, edges and corners around the closest points. It smooths much at first, and less where a step finds nothing
better; behind the last smoothing the pencil is nudged by chance and goes on. Many starts are one batch. Of `exact` and of `finite`
derivatives, nudged alike, fewer arrive.
"""
import time

import numpy as np

import abut
import common
import solids

SEED, STARTS, STEPS, HALVINGS = 2, 60, 40, 12  # STARTS of each task
TEMPERATURES = 0.1, 0.02  # of smoothing, as shares of the bodies' sizes
TASKS = "point on face", "edge across edge", "corner at corner"
NUDGE = 0.03, 1.0  # [m] and [rad] along each axis
ARRIVED = 1e-18  # [m^2] of the squared residual


def ring(radius, x, sides=6):
    angles = 2 * np.pi * np.arange(sides) / sides
    return np.stack([np.full(sides, x), radius * np.cos(angles), radius * np.sin(angles)], 1)


def block():
    """A stone of 10 cm, cut flat on top."""
    return np.concatenate([[[x * 0.05, y * 0.04, -0.03] for x in (-1, 1) for y in (-1, 1)],
                           [[x * 0.035, y * 0.025, 0.03] for x in (-1, 1) for y in (-1, 1)]])


def pencil():
    """15 cm along x, of six sides; the last vertex is its point."""
    return np.concatenate([ring(0.012, -0.075), ring(0.012, 0.045), [[0.075, 0, 0]]])


def targets():
    """Where the bodies are to touch, in their own frames: (tasks, 3) of the block, of the pencil."""
    one, two = block(), pencil()
    return (np.array([[0.01, -0.008, 0.03], (one[5] + one[7]) / 2, one[6]]),
            np.array([two[-1], 0.4 * two[1] + 0.6 * two[7], two[2]]))


def rotation(pose):
    """(N, 7) -> (N, 3, 3)"""
    w, v = pose[:, 3, None, None], pose[:, 4:]
    cross = np.cross(np.eye(3), v[:, None, :])  # its rows are e x v, as a matrix of v x
    return np.eye(3) + 2 * w * cross + 2 * cross @ cross


def moved(pose, twist):
    """Poses after world twists (N, 6): t + tau and exp(hat phi) R."""
    angle = np.linalg.norm(twist[:, 3:], axis=1, keepdims=True)
    w, v = np.cos(angle / 2), twist[:, 3:] / 2 * np.sinc(angle / 2 / np.pi)
    w0, v0 = pose[:, 3:4], pose[:, 4:]
    q = np.concatenate([w * w0 - np.sum(v * v0, 1, keepdims=True), w * v0 + w0 * v + np.cross(v, v0)], 1)
    return np.concatenate([pose[:, :3] + twist[:, :3], q / np.linalg.norm(q, axis=1, keepdims=True)], 1)


class Task:
    """Where two shapes are to touch, for a batch of poses of the second one."""

    def __init__(self, first, second, target1, target2):
        self.first, self.second, self.target1, self.target2 = first, second, target1, target2

    def rows(self, some):
        return Task(self.first, self.second, self.target1[some], self.target2[some])

    def residual(self, pose):
        """r (N, 7) in world axes, and the closest points that it is of."""
        r = abut.closest(self.first, self.second, np.array([0, 0, 0, 1, 0, 0, 0.]), pose)
        there = np.einsum("nij,nj->ni", rotation(pose), self.target2) + pose[:, :3]
        return np.concatenate([r.p1 - self.target1, r.p2 - there, r.d[:, None]], 1), r

    def slope(self, pose, r, method, **settings):
        """dr (N, 7, 6) by the pencil's twist; what is measured in its frame moves with it."""
        j = abut.closest_jacobian(r, method, want=("d", "p1", "p2"), **settings)
        J = np.concatenate([j.p1[:, :, 6:], j.p2[:, :, 6:], j.d[:, None, 6:]], 1)
        J[:, 3:6, :3] -= np.eye(3)
        J[:, 3:6, 3:] -= np.cross(np.eye(3), (r.p2 - pose[:, :3])[:, None, :]).swapaxes(1, 2)
        return J

    def step(self, pose, how):
        """A step halved until the residual falls -> poses, squared residuals, and where it fell."""
        residual, r = self.residual(pose)
        J = self.slope(pose, r, *how[:1], **how[1])
        A = J.swapaxes(1, 2) @ J
        A += 1e-9 * np.trace(A, axis1=1, axis2=2)[:, None, None] * np.eye(6)
        step = -np.linalg.solve(A, J.swapaxes(1, 2) @ residual[:, :, None])[:, :, 0]
        step /= np.maximum(np.linalg.norm(step[:, 3:], axis=1, keepdims=True), 1)  # of 1 rad at most
        cost = np.sum(residual ** 2, 1)
        pose, cost, fell = pose.copy(), cost.copy(), np.zeros(len(pose), bool)
        for k in range(HALVINGS):
            some = np.flatnonzero(~fell)
            there = moved(pose[some], step[some] / 2 ** k)
            found = np.sum(self.rows(some).residual(there)[0] ** 2, 1)
            better = found < cost[some]
            pose[some[better]], cost[some[better]], fell[some[better]] = there[better], found[better], True
            if fell.all():
                break
        return pose, cost, fell


def descend(task, pose, turns, random):
    """-> poses (STEPS + 1, N, 7), the best ones so far, and their squared residuals (STEPS + 1, N). Where a step finds nothing better the
    next of `turns` is taken; behind the last one the pencil is nudged."""
    pose, cost = pose.copy(), np.sum(task.residual(pose)[0] ** 2, 1)
    ways, costs, turn = [pose.copy()], [cost.copy()], np.zeros(len(pose), int)
    for _ in range(STEPS):
        now, arrived = turn.copy(), costs[-1] < ARRIVED
        for k, how in enumerate(turns):
            some = np.flatnonzero((now == k) & ~arrived)
            if len(some):
                pose[some], cost[some], fell = task.rows(some).step(pose[some], how)
                turn[some[~fell]] += 1
        better = cost < costs[-1]
        ways.append(np.where(better[:, None], pose, ways[-1]))
        costs.append(np.where(better, cost, costs[-1]))
        some = np.flatnonzero((turn == len(turns)) & (costs[-1] > ARRIVED))
        pose[some] = moved(pose[some], random.normal(size=(len(some), 6)) * np.repeat(NUDGE, 3))
        turn[some] = 0
    return np.array(ways), np.array(costs)


def placed(points, pose):
    """Points of the pencil's frame in the world."""
    return points @ rotation(pose[None])[0].T + pose[:3]


def view():
    return solids.View(-62, 28, (0.0, 0, 0.035), 0.3, (720, 620))


def stages(cost):
    """The steps that are drawn: the start, one on the way, and the first one that has arrived."""
    end = int(np.argmax(cost < ARRIVED))
    return 0, max(1, np.count_nonzero(cost[:end] > 0.03 * cost[0]) - 1), end


def is_clear(way, cost, task):
    """Whether all stages lie within the picture, and at the end the pencil is seen from its side, and its target at all."""
    if cost[-1] >= ARRIVED:
        return False
    eye = view()
    x, y, _ = eye.pixels(np.concatenate([placed(pencil(), way[k]) for k in stages(cost)]))
    if abs(rotation(way[-1:])[0, :, 0] @ eye.axes[2]) > 0.7:
        return False
    eye.hull(block(), 1.0)
    eye.hull(placed(pencil(), way[-1]), 1.0)
    return (x.min() > 10 and x.max() < eye.width - 10 and y.min() > 10 and y.max() < eye.height - 10
            and eye.shows(placed(targets()[1][task:task + 1], way[-1]), 3e-3).all())


def draw_stage(axes, pose, task, title):
    """Both bodies, and their targets: filled where they are seen, rings where something hides them."""
    eye = view()
    eye.hull(block(), np.array([0.62, 0.74, 0.86]))
    eye.hull(placed(pencil(), pose), np.array([0.98, 0.78, 0.35]))
    axes.imshow(eye.image(), interpolation="antialiased")
    marks = np.array([targets()[0][task], placed(targets()[1][task], pose)])
    for x, y, seen, colour, size in zip(*eye.pixels(marks)[:2], eye.shows(marks, 3e-3), ("#0b3c8c", "#c1272d"), (11, 7)):
        axes.plot(x, y, "o", ms=size, color=colour if seen else "none", markeredgecolor=colour, mew=1.6)
    axes.set_title(title, fontsize=12)
    axes.set_axis_off()


def draw_shares(axes, costs, task):
    """How many starts have arrived behind each step, by method."""
    for (name, cost), colour in zip(costs.items(), ("#c1272d", "#0072b2", "0.4")):
        axes.plot(np.mean(cost[:, task] < ARRIVED, 1), color=colour, lw=2, label=name)
    axes.set_ylim(-.03, 1.03)
    axes.set_yticks((0, .5, 1), ("0", "half", "all"), fontsize=11)
    axes.set_title("starts that have arrived", fontsize=12)
    axes.grid(alpha=.3)
    axes.spines[["top", "right"]].set_visible(False)


def plot(path, ways, costs):
    plt = common.pyplot()
    figure, axes = plt.subplots(3, 4, figsize=(11.4, 7.4), gridspec_kw={"width_ratios": (1, 1, 1, .8)})
    for task, name in enumerate(TASKS):
        cost = costs["gumbel"][:, task]
        i = next(i for i in range(STARTS) if is_clear(ways[:, task, i], cost[:, i], task))
        for column, step in enumerate(stages(cost[:, i])):
            off = 1e3 * np.sqrt(cost[step, i])
            words = f"{off:.0f} mm off" if off > 1 else f"touches to {off:.0e} mm"
            draw_stage(axes[task, column], ways[step, task, i], task, f"{f'step {step}' if step else 'start'}: {words}")
        axes[task, 0].text(-.02, .5, name, fontsize=13, rotation=90, va="center", ha="right", transform=axes[task, 0].transAxes)
        draw_shares(axes[task, 3], costs, task)
    axes[0, 3].legend(fontsize=11, frameon=False)
    axes[-1, 3].set_xlabel("steps", fontsize=12)
    figure.tight_layout(pad=.5)
    figure.savefig(path, dpi=80)


def main():
    context, picture = common.begin()
    random, begin = np.random.default_rng(SEED), time.perf_counter()
    bodies = [abut.Shape("hull", vertices, context=context) for vertices in (block(), pencil())]
    task = Task(*bodies, *(np.repeat(t, STARTS, 0) for t in targets()))
    start = random.normal(size=(3 * STARTS, 7))
    start[:, :3] *= 0.12 / np.linalg.norm(start[:, :3], axis=1, keepdims=True)
    start[:, 3:] /= np.linalg.norm(start[:, 3:], axis=1, keepdims=True)
    turns = {"gumbel": [("gumbel", {"temperature": t}) for t in TEMPERATURES], "exact": [("exact", {})], "finite": [("finite", {})]}
    found = {name: descend(task, start, each, np.random.default_rng(SEED)) for name, each in turns.items()}
    ways, costs = found["gumbel"][0].reshape(STEPS + 1, 3, STARTS, 7), {k: c.reshape(STEPS + 1, 3, STARTS) for k, (_, c) in found.items()}
    for method, cost in costs.items():
        for k, name in enumerate(TASKS):
            arrived = [np.count_nonzero(cost[steps, k] < ARRIVED) for steps in (10, STEPS)]
            print(f"{method}, {name}: of {STARTS} starts {arrived[0]} arrive within 10 steps, {arrived[1]} within {STEPS}; the median is "
                  f"{1e3 * np.sqrt(np.median(cost[0, k])):.0f} mm off at first, {1e3 * np.sqrt(np.median(cost[-1, k])):.1e} mm at last")
    print(f"{time.perf_counter() - begin:.1f} s")
    if picture:
        plot(picture, ways, costs)
    assert all(np.isfinite(c).all() for c in costs.values()) and np.isfinite(ways).all()
    assert (np.mean(costs["gumbel"][-1] < ARRIVED, 1) > 0.85).all(), "nearly all starts arrive"
    assert (np.median(costs["gumbel"][-1], 1) < 1e-12 * np.median(costs["gumbel"][0], 1)).all(), "squares fall by twelve digits"
    early = {name: np.mean(cost[10] < ARRIVED) for name, cost in costs.items()}
    assert early["gumbel"] > 2 * early["finite"], "and within ten steps more than twice as many as by differences"


if __name__ == "__main__":
    main()
