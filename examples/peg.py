#!/usr/bin/env python3
"""Brings a peg into its hole by gradients, with contacts that are coarse at first and fine at last.

  peg.py [--device NAME] [--plot OUT.png]

A peg of 40 mm is to go into a hole of 41 mm, through a plate of 20 mm. It begins in twelve poses above the plate, 4 mm aside and tilted
by 0.1 rad. The objective is the goal, half the squared height of the peg's lower end above the plate's lower side, plus the contacts'
energy. The goal does not say where the hole is, and how the peg must stand. Contacts alone lead there. BFGS goes down the objective.

With one `penetration` most starts end on the rim. abut.anneal makes pairs whose contacts shrink from 10 mm to 0.1 mm. Each descent begins
where the last one ended. The searches with one `penetration` begin anew as often, so that all have as many descents.
"""
import time

import numpy as np

import abut
import common

PEG, HOLE, OUTER, THICK, LONG, ROUND = 0.020, 0.0205, 0.060, 0.020, 0.100, 2e-4  # [m] radii, the plate, the peg's length; of rims
SIDES = 50  # of the contact meshes
STARTS, ASIDE, TILT = 12, 0.004, 0.1  # [m], [rad]
COARSE, FINE, STAGES = 1e-2, 1e-4, 7
SINGLE = 1e-2, 3e-3, 1e-3, 3e-4, 1e-4  # [m] for comparison
PULL = 0.3  # weight of the goal beside the energy
TURN = 0.05  # [m] a radian counts as much as this way
SCALE = np.array([1, 1, 1] + 3 * [1 / TURN])
GRADIENTS, LONGEST = 60, 0.004  # of a descent; its longest step [m]


def lathe(profile):
    """Vertices and faces of a closed profile of (radius, z), turned about z."""
    angles = 2 * np.pi * np.arange(SIDES) / SIDES
    rings, vertices, faces = [], [], []
    for radius, z in profile:
        rings.append(len(vertices) + (np.arange(SIDES) if radius else np.zeros(SIDES, int)))
        vertices += [[radius * np.cos(a), radius * np.sin(a), z] for a in angles[:SIDES if radius else 1]]
    for low, high in zip(rings, rings[1:] + rings[:1]):
        for i in range(SIDES):
            corners = [low[i], low[(i + 1) % SIDES], high[(i + 1) % SIDES], high[i]]
            corners = [c for n, c in enumerate(corners) if c not in corners[:n]]
            if len(corners) > 2:
                faces.append(corners)
    return vertices, faces


def bodies(context):
    """The plate, whose upper side is z = 0, and the peg, whose origin is the middle of its lower end."""
    plate = context.body(*lathe([(HOLE, -THICK), (OUTER, -THICK), (OUTER, 0), (HOLE, 0)]), core_kind="disc", core_radius=[ROUND, ROUND],
                         core_half=[[OUTER - ROUND, THICK / 2 - ROUND, 0], [HOLE - ROUND, LONG, 0]],  # the hole goes on above the plate
                         core_position=[0, 0, -THICK / 2], operation=["add", "subtract"], union=1e-5)
    peg = context.body(*lathe([(0, 0), (PEG, 0), (PEG, LONG), (0, LONG)]), core_kind="disc", core_radius=[ROUND],
                       core_half=[[PEG - ROUND, LONG / 2 - ROUND, 0]], core_position=[0, 0, LONG / 2])
    return plate, peg


def starts():
    """Twists (STARTS, 6): aside all around, tilted towards the hole, sideways and away from it; the rim is 2 mm above the plate."""
    aside = 2.4 * np.arange(STARTS)
    tilt = aside + np.pi / 2 * np.arange(STARTS)
    zero = np.zeros(STARTS)
    return np.stack([ASIDE * np.cos(aside), ASIDE * np.sin(aside), zero + 0.002 + PEG * np.sin(TILT),
                     TILT * np.cos(tilt), TILT * np.sin(tilt), zero], 1)


def objective(pair):
    """look(y) -> value [mm^2], gradient; y is a twist with its turn as a way [m]."""
    down = np.array([0, 0, 1.0, 0, 0, 0])

    def look(y):
        contact = abut.reduce(pair, None, y * SCALE, "energy", grad=True)
        high = y[2] + THICK
        return 1e6 * (0.5 * PULL * high ** 2 + contact.value), 1e6 * (PULL * high * down + contact.grad2 * SCALE)
    return look


def descend(looks, x):
    """All places of one descent after the other, twists (N, 6), and how many gradients they took."""
    way = [x / SCALE]
    for look in looks:
        way += list(common.descend(look, way[-1], GRADIENTS, LONGEST)[0][1:])
    return np.array(way) * SCALE


def end(x):
    """Where the middle of the peg's lower end is (3) [m], and how far the peg is tilted [rad]."""
    pose = abut.pose.to_matrix(x)
    return pose[:3, 3], np.arccos(min(pose[2, 2], 1.0))


def arrived(fine, x):
    """Whether the peg is as deep as it should be to 0.1 mm, within the hole's clearance, and free of the plate."""
    at = end(x)[0]
    return bool(abs(at[2] + THICK) < 1e-4 and np.hypot(*at[:2]) < HOLE - PEG and abut.reduce(fine, None, x, "distance").value > 0)


def outline(x):
    """The corners (2, 4) of the peg [mm], seen from the side: x to the right, z up."""
    pose = 1e3 * abut.pose.to_matrix(x)
    along = pose[[0, 2], 2] * LONG
    across = np.array([along[1], -along[0]]) / np.linalg.norm(along) * 1e3 * PEG
    foot = pose[[0, 2], 3]
    return np.stack([foot - across, foot + across, foot + along + across, foot + along - across], 1)


def draw(axes, way, title):
    for left in (-OUTER, HOLE):
        axes.fill(1e3 * (left + np.array([0, 1, 1, 0]) * (OUTER - HOLE)), 1e3 * np.array([-THICK, -THICK, 0, 0]), color="0.75")
    shown = [way[k] for k in np.unique(np.linspace(0, len(way) - 1, 9).astype(int))]
    for k, x in enumerate(shown):
        u, w = outline(x)
        last = k == len(shown) - 1
        colour = "#c1272d" if k == 0 else "#0b3c8c" if last else "#56b4e9"
        axes.plot(np.append(u, u[0]), np.append(w, w[0]), color=colour, lw=1.8 if k == 0 or last else 0.8, zorder=3 if last else 2,
                  label={0: "start", 1: "on the way", len(shown) - 1: "end"}.get(k))
    axes.set(title=title, xlim=(-62, 62), ylim=(-32, 112), aspect="equal")
    axes.title.set_fontsize(11)
    axes.set_axis_off()


def plot(path, single, annealed, counts):
    plt = common.pyplot()
    figure, axes = plt.subplots(1, 3, figsize=(9.6, 3.9), gridspec_kw={"width_ratios": (1, 1, 0.9)})
    draw(axes[0], single, f"one penetration, {1e3 * SINGLE[-1]:g} mm")
    draw(axes[1], annealed, f"{1e3 * COARSE:g} mm down to {1e3 * FINE:g} mm")
    axes[1].legend(fontsize=9, frameon=False, loc="upper right", bbox_to_anchor=(1.12, 1.0))
    axes[2].bar(list(counts), list(counts.values()), color=len(SINGLE) * ["0.6"] + ["#0b3c8c"])
    axes[2].set(ylim=(0, STARTS), yticks=range(0, STARTS + 1, 3))
    axes[2].set_title(f"of {STARTS} starts arrive", fontsize=11)
    axes[2].tick_params(axis="x", labelrotation=35)
    axes[2].spines[["top", "right"]].set_visible(False)
    figure.tight_layout(pad=0.6)
    figure.savefig(path, dpi=90)


def main():
    context, picture = common.begin()
    plate, peg = bodies(context)
    fine = abut.Pair(plate, peg, {"penetration": FINE})
    pairs = abut.anneal(plate, peg, COARSE, FINE, STAGES)
    cases = {f"{1e3 * p:g} mm": [objective(abut.anneal(plate, peg, p, p, 2)[0])] * STAGES for p in SINGLE}
    cases["annealed"] = [objective(pair) for pair in pairs]
    error = common.check_slope(objective(pairs[STAGES // 2]), starts()[0] / SCALE - [0, 0, 0.003, 0, 0, 0], 1e-7)
    print(f"gradients against differences: {error:.1e} of the largest entry")
    ways, counts = {}, {}
    for name, looks in cases.items():
        begin = time.perf_counter()
        ways[name] = [descend(looks, x) for x in starts()]
        there = [way[-1] for way in ways[name] if arrived(fine, way[-1])]
        counts[name] = len(there)
        aside, tilt = (max((f(end(x)) for x in there), default=0) for f in (lambda e: np.hypot(*e[0][:2]), lambda e: e[1]))
        print(f"{name}: {len(there)} of {STARTS} starts arrive, {1e3 * aside:.2f} mm aside and tilted by {np.degrees(tilt):.1f} degrees at most; "
              f"{np.mean([len(way) - 1 for way in ways[name]]):.0f} steps in the mean, {time.perf_counter() - begin:.1f} s")
    if picture:
        single = f"{1e3 * SINGLE[-1]:g} mm"
        in_sight = np.abs(starts()[:, 0] * starts()[:, 4])  # aside and tilted in the picture's plane
        stuck = max((k for k in range(STARTS) if not arrived(fine, ways[single][k][-1])), key=lambda k: in_sight[k])
        plot(picture, ways[single][stuck], ways["annealed"][stuck], counts)
    assert error < 1e-4
    assert counts.pop("annealed") >= STARTS - 1, "at most one start does not arrive"
    assert max(counts.values()) <= 9, "and with one penetration a quarter of them or more does not"


if __name__ == "__main__":
    main()
