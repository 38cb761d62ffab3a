#!/usr/bin/env python3
"""Finds a box's mass and its friction from a recorded push, by the rollout's gradient.

  identify.py [--device NAME] [--plot OUT.png]

A pusher with a known force shoves a box along a table and lets go; the box slides on and stops
(identify.scene.json). The record, 25 positions of box and pusher with noise of 2 mm, is made here
with a mass and a friction that the search is not told. From guesses far off, BFGS goes down the
squared difference to the record in the logarithms of both; each of its trials is one gradient through 125
steps of all guesses at once. That the push is known makes the mass seen at all: a box that slides
alone stops at the same place whatever it weighs.
"""
import pathlib
import time

import numpy as np

import abut
import common

STEPS, EVERY, SEED = 125, 5, 3
MASS, FRICTION = 1.7, 0.27  # [kg], the truth
NOISE = 2e-3  # [m]
GUESSES = np.array([[m, f] for m in (0.6, 1.2, 3.5) for f in (0.1, 0.5)])
TRIALS, LONGEST = 20, 0.7  # of BFGS; its longest step in the logarithms


def push(scene):
    """The motor's force at every step [N]: on, then back, so that the pusher lets go."""
    t = np.arange(STEPS) * scene.timestep
    return np.where(t < 0.4, 9.0, np.where(t < 0.7, -9.0, 0.0))[:, None]


def worlds(scene, x):
    """What a batch of rollouts is given, for rows of masses and frictions."""
    n = len(x)
    mass, friction = np.ones((n, scene.links)), np.tile([1.0, 0.2], (n, 1))
    mass[:, 1], friction[:, 0] = x.T  # the box, which the scene states as 1 kg; on the table
    return {"q": np.tile(scene.start(), (n, 1)), "v": np.zeros((n, scene.nv)),
            "controls": push(scene), "record": EVERY, "mass_scale": mass, "friction": friction}


def seen(made):
    """Of the kept states what a camera sees: the box's middle and the pusher [m]."""
    return made.q_record[..., [0, 1, 7]]


def slope(scene, x, record):
    """The squared difference to the record in units of noise, its slope by mass and friction."""
    given = worlds(scene, x)
    made = scene.step(**given)
    off = (seen(made) - record) / NOISE
    bar = np.zeros_like(made.q_record)
    bar[..., [0, 1, 7]] = off / NOISE
    g = scene.vjp(**given, q_record_bar=bar, wrt=("mass_scale", "friction"), made=made)
    return 0.5 * (off ** 2).sum((1, 2)), np.column_stack([g.mass_scale[:, 1], g.friction[:, 0]])


def walk(scene, x, record):
    """BFGS in the logarithms, a row each: every trial of all guesses and its cost."""
    def look(z):
        cost, g = slope(scene, np.exp(z), record)
        return cost, g * np.exp(z)

    z = np.log(x)
    cost, g = look(z)
    H = np.eye(2) / np.linalg.norm(g, axis=1)[:, None, None]  # of the inverse second derivative
    path, share = [(np.exp(z), cost)], np.ones(len(x))
    for _ in range(TRIALS):
        step = -np.einsum("nij,nj->ni", H, g)
        step *= (share * np.minimum(1.0, LONGEST / np.linalg.norm(step, axis=1)))[:, None]
        cost_next, g_next = look(z + step)
        good = cost_next < cost + 1e-4 * (g * step).sum(1)
        change = g_next - g
        curve = (change * step).sum(1)
        for k in np.flatnonzero(good & (curve > 0)):
            left = np.eye(2) - np.outer(step[k], change[k]) / curve[k]
            H[k] = left @ H[k] @ left.T + np.outer(step[k], step[k]) / curve[k]
        z, g = (np.where(good[:, None], new, old) for new, old in ((z + step, z), (g_next, g)))
        cost, share = np.where(good, cost_next, cost), np.where(good, 1.0, 0.4 * share)
        path.append((np.exp(z), cost))
    return [np.array(rows) for rows in zip(*path)]


def check_slope(scene, x, record):
    """The slope against central differences, of the larger entry."""
    exact, near = slope(scene, x, record)[1], np.zeros_like(x)
    for k in range(2):
        move = 1e-5 * x * (np.arange(2) == k)
        up, down = (slope(scene, x + way * move, record)[0] for way in (1, -1))
        near[:, k] = (up - down) / (2 * move[:, k])
    return (np.abs(exact - near).max(1) / np.abs(near).max(1)).max()


def plot(path, walked, costs):
    pyplot = common.pyplot()
    figure, panels = pyplot.subplots(1, 3, figsize=(9.6, 3.2), dpi=90)
    colours = pyplot.get_cmap("viridis")(np.linspace(0.1, 0.85, len(GUESSES)))
    for k, colour in enumerate(colours):
        for axes, rows in zip(panels, (walked[:, k, 0], walked[:, k, 1], costs[:, k])):
            axes.plot(rows, color=colour, linewidth=1.4)
    for axes, truth, label in zip(panels, (MASS, FRICTION), ("mass [kg]", "friction")):
        axes.axhline(truth, color="#d1495b", linewidth=1, linestyle="--")
        axes.set(ylabel=label)
    panels[2].axhline(1.5 * STEPS / EVERY, color="#d1495b", linewidth=1, linestyle="--")
    panels[2].set(ylabel="squared difference / noise² / 2", yscale="log")
    for axes in panels:
        axes.set(xlabel="gradients")
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(path)


def main():
    context, picture = common.begin()
    scene = abut.Scene(pathlib.Path(__file__).with_name("identify.scene.json"), context)
    begin = time.perf_counter()
    record = seen(scene.step(**worlds(scene, np.array([[MASS, FRICTION]]))))
    record = record + NOISE * np.random.default_rng(SEED).normal(size=record.shape)

    error = check_slope(scene, GUESSES, record)
    print(f"gradients through {STEPS} steps against differences: {error:.1e} of the larger entry "
          "at most")
    assert error < 1e-4

    walked, costs = walk(scene, GUESSES, record)
    for guess, found, cost in zip(GUESSES, walked[-1], costs[-1]):
        print(f"from {guess[0]:.1f} kg, {guess[1]:.2f}: {found[0]:.4f} kg, {found[1]:.4f}; "
              f"squared difference {cost:.1f}")
    print(f"the truth is {MASS} kg, {FRICTION}; {TRIALS} gradients each, "
          f"{time.perf_counter() - begin:.1f} s")
    if picture:
        plot(picture, walked, costs)
    off = np.abs(walked[-1] / [MASS, FRICTION] - 1)
    assert (off < 0.02).all(), "mass and friction within 2 %, from every guess"


if __name__ == "__main__":
    main()
