"""Pulls body B out of body A from many starts at once, by JAX: separate_jax.py A B POSES

The descent of separate.c, whose numbers it follows step by step: up the slope of a broad soft minimum
of all vertex distances, until no vertex of either body lies in the other. Five steps are one
compiled program. Prints how long it took once that is there.
"""
import functools
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np

import abut
import abut.jax as aj

STEPS_MOST, STEPS_A_LINE = 100, 5


def load(paths):
    a, b = abut.load(paths[0]), abut.load(paths[1])
    size = max(a.diagonal, b.diagonal)
    # The soft minimum's temperature; edge contacts are not asked for.
    pair = abut.Pair(a, b, {"penetration": 0.1 * size})
    poses = np.load(paths[2])
    one, two = ("s1", "s2") if "s1" in poses else ("pose1", "pose2")
    return pair, size, *(jnp.asarray(poses[name][:4096], jnp.float32) for name in (one, two))


def look(pair, fixed, pose):
    """The slope, the soft minimum and the least distance of a vertex at every start."""
    def total(x):
        soft, nearest = aj.reduce(pair, fixed, x, "soft_minimum", nearest=True)
        return soft.sum(), (soft, nearest)
    slope, (soft, nearest) = jax.grad(total, has_aux=True)(pose)
    return slope, soft, nearest


def one_step(pair, size, fixed, state, _):
    pose, slope, soft, nearest, step = state
    # Turning counts as the way of a point a third of the size away; a quaternion turns by twice its
    # own change.
    lever = (1.0 if pose.shape[1] == 6 else 2.0) * size / 3.0
    weights = jnp.array([1.0] * 3 + [1.0 / lever ** 2] * (pose.shape[1] - 3))
    step = jnp.where(nearest[:, None] > 0, 0.0, step)  # what is apart stays where it is
    length = jnp.sqrt((weights * slope * slope).sum(1, keepdims=True))
    trial = pose + step * jnp.where(length > 0, weights * slope / length, 0.0)
    trial_slope, trial_soft, trial_nearest = look(pair, fixed, trial)
    better = trial_soft > soft
    step = jnp.where(better[:, None], jnp.minimum(1.5 * step, 0.03 * size), 0.5 * step)
    return (jnp.where(better[:, None], trial, pose), jnp.where(better[:, None], trial_slope, slope),
            jnp.where(better, trial_soft, soft), jnp.where(better, trial_nearest, nearest),
            step), None


def main():
    if len(sys.argv) != 4:
        sys.exit("usage: separate_jax.py A B POSES")
    pair, size, fixed, starts = load(sys.argv[1:])
    first = jax.jit(functools.partial(look, pair))
    five = jax.jit(lambda fixed, state: jax.lax.scan(
        functools.partial(one_step, pair, size, fixed), state, None, length=STEPS_A_LINE)[0])

    def descend(report):
        slope, soft, nearest = first(fixed, starts)
        state = (starts, slope, soft, nearest, jnp.full((len(starts), 1), 0.01 * size, jnp.float32))
        steps = 0
        report(steps, np.asarray(state[3]))
        while steps < STEPS_MOST and (np.asarray(state[3]) <= 0).any():
            state = five(fixed, state)
            steps += STEPS_A_LINE
            report(steps, np.asarray(state[3]))

    def report(steps, nearest):
        depth = np.maximum(-nearest, 0)
        print(f"step {steps:3}: {(nearest > 0).sum()} of {len(nearest)} apart, depth "
              f"{depth.mean():.4f} m in the mean, {depth.max():.4f} m at most")

    descend(lambda steps, nearest: None)
    begin = time.perf_counter()
    descend(report)
    print(f"{time.perf_counter() - begin:.3f} s")


if __name__ == "__main__":
    main()
