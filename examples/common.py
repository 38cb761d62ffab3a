"""What the examples in Python share: their options, matplotlib that draws into files, and a descent."""
import argparse

import numpy as np

import abut


def options():
    """What the command line says."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", help="one of abut.devices(), or host")
    parser.add_argument("--plot", metavar="OUT.png", help="draw what came of it; needs matplotlib")
    return parser.parse_args()


def begin():
    """A context in float64 for the device of the command line, and the picture to draw or None."""
    given = options()
    return abut.Context(given.device, precision="f64"), given.plot


def pyplot():
    """matplotlib's pyplot, which needs no screen."""
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt
    return plt


def check_slope(look, x, step):
    """How far the gradient of look(x) -> value, gradient is from central differences, as a share of the largest entry."""
    exact = look(x)[1]
    near = np.array([(look(x + way)[0] - look(x - way)[0]) / (2 * step) for way in step * np.eye(len(x))])
    return np.abs(exact - near).max() / np.abs(near).max()


def descend(look, x, gradients, longest, enough=1e-6):
    """BFGS with steps that are halved until the value falls: places (N, K) and values (N), the start's first.

    look     x (K) -> value, gradient (K)
    longest  step in x; the search ends where a step wins less than `enough` of the value, or after so many gradients
    """
    value, g = look(x)
    H, kept, share = np.eye(len(x)) / (np.linalg.norm(g) or 1), [(x, value)], 1.0
    for _ in range(gradients):
        if not g.any():
            break
        step = -H @ g
        step *= share * min(1.0, longest / np.linalg.norm(step))
        there, g_there = look(x + step)
        if not there < value + 1e-4 * (g @ step):
            share *= 0.4
            if share < 1e-4:
                break
            continue
        share, change = 1.0, g_there - g
        if change @ step > 0:
            left = np.eye(len(x)) - np.outer(step, change) / (change @ step)
            H = left @ H @ left.T + np.outer(step, step) / (change @ step)
        won = value - there
        x, value, g = x + step, there, g_there
        kept.append((x, value))
        if won < enough * abs(value):
            break
    return tuple(np.array(rows) for rows in zip(*kept))
