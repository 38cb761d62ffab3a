"""Pulls body B out of body A from many starts at once, by torch: separate_torch.py A B POSES

The descent of separate.c, whose numbers it follows step by step: up the slope of a broad soft minimum
of all vertex distances, until no vertex of either body lies in the other. Prints how long it took
once kernels are there.
"""
import sys
import time

import numpy as np
import torch

import abut
import abut.torch as at

STEPS_MOST, STEPS_A_LINE = 100, 5


def load(paths):
    a, b = abut.load(paths[0]), abut.load(paths[1])
    size = max(a.diagonal, b.diagonal)
    # The soft minimum's temperature; edge contacts are not asked for.
    pair = abut.Pair(a, b, {"penetration": 0.1 * size})
    poses = np.load(paths[2])
    one, two = ("s1", "s2") if "s1" in poses else ("pose1", "pose2")
    return pair, size, *(torch.tensor(poses[name][:4096], dtype=torch.float32) for name in (one, two))


def look(pair, fixed, pose):
    """The slope, the soft minimum and the least distance of a vertex at every start."""
    pose = pose.detach().requires_grad_()
    soft, nearest = at.reduce(pair, fixed, pose, "soft_minimum", nearest=True)
    (slope,) = torch.autograd.grad(soft.sum(), pose)
    return slope, soft.detach(), nearest


def descend(pair, size, fixed, pose, report):
    # Turning counts as the way of a point a third of the size away; a quaternion turns by twice its
    # own change.
    lever = (1.0 if pose.shape[1] == 6 else 2.0) * size / 3.0
    weights = torch.tensor([1.0] * 3 + [1.0 / lever ** 2] * (pose.shape[1] - 3))
    step = torch.full((len(pose), 1), 0.01 * size)
    slope, soft, nearest = look(pair, fixed, pose)
    steps = 0
    report(steps, nearest)
    while (nearest <= 0).any() and steps < STEPS_MOST:
        for _ in range(STEPS_A_LINE):
            step = torch.where(nearest[:, None] > 0, 0.0, step)  # what is apart stays where it is
            length = (weights * slope * slope).sum(1, keepdim=True).sqrt()
            way = torch.where(length > 0, weights * slope / length, 0.0)
            trial = pose + step * way
            there = look(pair, fixed, trial)
            better = there[1] > soft
            step = torch.where(better[:, None], (1.5 * step).clamp(max=0.03 * size), 0.5 * step)
            pose = torch.where(better[:, None], trial, pose)
            slope = torch.where(better[:, None], there[0], slope)
            soft, nearest = (torch.where(better, new, old) for new, old in
                             zip(there[1:], (soft, nearest)))
        steps += STEPS_A_LINE
        report(steps, nearest)
    return pose


def main():
    if len(sys.argv) != 4:
        sys.exit("usage: separate_torch.py A B POSES")
    pair, size, fixed, starts = load(sys.argv[1:])

    def report(steps, nearest):
        depth = (-nearest).clamp(min=0)
        print(f"step {steps:3}: {int((nearest > 0).sum())} of {len(nearest)} apart, depth "
              f"{depth.mean():.4f} m in the mean, {depth.max():.4f} m at most")

    look(pair, fixed, starts)
    begin = time.perf_counter()
    descend(pair, size, fixed, starts, report)
    print(f"{time.perf_counter() - begin:.3f} s")


if __name__ == "__main__":
    main()
