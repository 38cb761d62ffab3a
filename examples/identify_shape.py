#!/usr/bin/env python3
"""Finds a superquadric's size, roundness and place from touches of a ball, by gradients with respect to its shape.

  identify_shape.py [--device NAME] [--plot OUT.png]

A ball of 8 mm touches an unknown body from 60 sides. What is measured of each touch is where the ball is, the point of contact, with
noise of 0.3 mm, and that the ball touches at all, to 0.1 mm. The search is told these and begins with a round body that is too large,
5 mm off its place. What its body would give at the measured places of the ball is

  c = sum a_i p_i / sum a_i   and   D = sum a_i d_i / sum a_i

of the contacts of the ball's vertices, whose activities a tell which of them lie nearest: wide ones, so that a body that is off by
centimetres still has a slope. BFGS goes down the squared differences to what was measured in units of noise. Each gradient is one VJP by
axes, exponents and position, summed over all touches: its price is that of one touch's times their number, whatever the shape has of
numbers. The search makes a new body of the numbers at every trial.
"""
import time

import numpy as np

import abut
import common
import solids

SEED, TOUCHES = 4, 60
BALL, SOFT = 0.008, 1e-3  # [m] the ball's radius; the pair's `penetration`
NOISE, TOUCH = 3e-4, 1e-4  # [m] of a contact point along each axis; of the distance
TRUTH = np.array([0.045, 0.030, 0.021, 0.35, 0.75, 0.003, -0.004, 0.002])  # axes [m], exponents, position [m]
START = np.array([0.040, 0.040, 0.040, 1.0, 1.0, 0.0, 0.0, 0.0])
LEAST, MOST = 0.1, 1.9  # exponents
GRADIENTS = 60


def directions(count):
    """Unit vectors that are spread evenly over the sphere, along a spiral."""
    z = 1 - (2 * np.arange(count) + 1) / count
    angle = np.pi * (1 + 5 ** 0.5) * np.arange(count)
    return np.stack([np.sqrt(1 - z * z) * np.cos(angle), np.sqrt(1 - z * z) * np.sin(angle), z], 1)


def body_of(context, x, vertices):
    """The body of eight numbers: axes, exponents, position."""
    return context.body(vertices, axes=x[:3], exponents=x[3:5], position=x[5:])


class Touches:
    """The ball at places (N, 3) [m], and what a body would give there."""

    def __init__(self, context, ball, places):
        self.context, self.ball = context, ball
        self.poses = np.concatenate([places, np.zeros((len(places), 3))], 1)

    def pair(self, x):
        # Of the ball's vertices alone: the body's own, which would have to move along with its shape, say nothing.
        body = body_of(self.context, x, START[:3] * directions(50))
        return abut.Pair(self.ball, body, {"penetration": SOFT, "union": 1e-4, "edge_edge": False, "two_sided": False})

    def answers(self, pair):
        c = abut.contacts(pair, self.poses, None)
        share = c.activity / c.activity.sum(1, keepdims=True)
        return c, share, np.einsum("ni,nik->nk", share, c.p), (share * c.d).sum(1)

    def slope(self, x, points, distances):
        """Half the squared differences in units of noise, and their gradient by the eight numbers."""
        pair = self.pair(x)
        c, share, point, distance = self.answers(pair)
        off, gap = (point - points) / NOISE, (distance - distances) / TOUCH
        p_bar = share[..., None] * off[:, None] / NOISE
        d_bar = share * gap[:, None] / TOUCH
        activity_bar = (np.einsum("nik,nk->ni", c.p - point[:, None], off / NOISE) +
                        (c.d - distance[:, None]) * gap[:, None] / TOUCH) / c.activity.sum(1, keepdims=True)
        g = abut.shape_vjp(pair, self.poses, None, p=p_bar, d=d_bar, activity=activity_bar)[1]
        return 0.5 * (np.sum(off ** 2) + np.sum(gap ** 2)), np.concatenate([g.axes[0], g.exponents[0], g.position[0]])


# The search's own numbers have no bounds: logarithms of axes, exponents between LEAST and MOST, positions in centimetres.
def to_shape(z):
    return np.concatenate([np.exp(z[:3]), LEAST + (MOST - LEAST) / (1 + np.exp(-z[3:5])), 0.01 * z[5:]])


def from_shape(x):
    share = (x[3:5] - LEAST) / (MOST - LEAST)
    return np.concatenate([np.log(x[:3]), np.log(share / (1 - share)), x[5:] / 0.01])


def slope_of_shape(z):
    x = to_shape(z)
    share = (x[3:5] - LEAST) / (MOST - LEAST)
    return np.concatenate([x[:3], (MOST - LEAST) * share * (1 - share), np.full(3, 0.01)])


def touch(touches, x, ways):
    """Moves the ball along lines towards the body until the mean of its contacts' distances is 0."""
    near, far = np.zeros(len(ways)), np.full(len(ways), 0.12)
    pair = touches.pair(x)
    for _ in range(40):
        middle = 0.5 * (near + far)
        touches.poses[:, :3] = TRUTH[5:] + middle[:, None] * ways
        apart = touches.answers(pair)[3] > 0
        near, far = np.where(apart, near, middle), np.where(apart, middle, far)


def plot(path, contact_points, balls, path_of_x, costs):
    plt = common.pyplot()
    figure, axes = plt.subplots(1, 4, figsize=(12.6, 3.5), gridspec_kw={"width_ratios": (1.12, 1.12, 1.12, 0.9)})
    with abut.Context("host", "f64") as context:
        for panel, x, title in ((axes[0], TRUTH, "what is touched, and the ball"), (axes[1], START, "start"),
                                (axes[2], path_of_x[-1], f"after {len(path_of_x) - 1} steps")):
            with context.body(1500, axes=x[:3], exponents=x[3:5], position=x[5:]) as body:
                vertices = body.mesh()[0]
                faces = body.shape().faces
            eye = solids.View(-55, 28, (0, 0, 0), 0.135, (460, 400))
            eye.mesh(vertices, faces.astype(int), np.array([0.62, 0.74, 0.86]) if panel is not axes[2] else np.array([0.98, 0.78, 0.35]))
            if panel is axes[0]:
                for place in balls:
                    eye.ball(place, BALL, np.array([0.85, 0.85, 0.85]))
            panel.imshow(eye.image(), interpolation="antialiased")
            if panel is not axes[0]:
                seen = eye.shows(contact_points, 1.5e-3)
                columns, rows, _ = eye.pixels(contact_points)
                panel.scatter(columns[seen], rows[seen], s=14, c="#c1272d", linewidths=0)
                panel.scatter(columns[~seen], rows[~seen], s=12, facecolors="none", edgecolors="#c1272d", linewidths=0.5)
            panel.set_title(title, fontsize=11)
            panel.set_axis_off()
    colours = ["#0b3c8c", "#0072b2", "#56b4e9", "#c1272d", "#e69f00"]
    for k, (name, colour) in enumerate(zip(("axis x", "axis y", "axis z", "exponent 1", "exponent 2"), colours)):
        axes[3].plot(path_of_x[:, k] / TRUTH[k], color=colour, lw=1.5, label=name)
    axes[3].axhline(1, color="k", lw=0.8, ls=":")
    axes[3].set(xlabel="steps", yscale="log", ylim=(0.8, 3.6))
    axes[3].set_yticks((1, 2, 3), ("truth", "twice", "thrice"))
    axes[3].minorticks_off()
    axes[3].legend(fontsize=8, frameon=False, ncols=2, loc="upper right")
    axes[3].spines[["top", "right"]].set_visible(False)
    figure.tight_layout(pad=0.6)
    figure.savefig(path, dpi=90)


def main():
    context, picture = common.begin()
    random, begin = np.random.default_rng(SEED), time.perf_counter()
    ball = context.body(BALL * directions(400), axes=np.full(3, BALL), exponents=(1, 1))
    touches = Touches(context, ball, np.zeros((TOUCHES, 3)))
    touch(touches, TRUTH, directions(TOUCHES))
    true_points = touches.answers(touches.pair(TRUTH))[2]
    points = true_points + NOISE * random.normal(size=(TOUCHES, 3))
    distances = TOUCH * random.normal(size=TOUCHES)

    def look(z):
        cost, g = touches.slope(to_shape(z), points, distances)
        return cost, g * slope_of_shape(z)

    z = from_shape(START)
    error = common.check_slope(look, z, 1e-6)
    print(f"gradients against differences: {error:.1e} of the largest entry")
    walked, costs = common.descend(look, z, GRADIENTS, 0.5)
    found = [to_shape(row) for row in walked]
    for name, x in (("start", START), ("found", found[-1]), ("truth", TRUTH)):
        print(f"{name}: axes {1e3 * x[0]:.2f} {1e3 * x[1]:.2f} {1e3 * x[2]:.2f} mm, exponents {x[3]:.3f} {x[4]:.3f}, "
              f"position {1e3 * x[5]:.2f} {1e3 * x[6]:.2f} {1e3 * x[7]:.2f} mm")
    print(f"half the squared differences in units of noise: {costs[0]:.0f} -> {costs[-1]:.1f} of {4 * TOUCHES} numbers measured, "
          f"{len(walked) - 1} steps, {time.perf_counter() - begin:.1f} s")
    if picture:
        plot(picture, points, touches.poses[:, :3], np.array(found), costs)
    off = np.abs(found[-1] - TRUTH)
    assert error < 1e-4
    assert (off[:3] < 5e-4).all() and (off[5:] < 3e-4).all(), "axes to half a millimetre, the position to less"
    assert (off[3:5] < 0.06).all(), "and how round its edges are"
    assert costs[-1] < 2.6 * TOUCHES, "what is left over is noise"


if __name__ == "__main__":
    main()
