#!/usr/bin/env python3
"""Contact laws on cases whose answers are known: the table of docs/dynamics.md, "Which law to take for what":

tools/compare_laws.py [--models LAW,LAW...] [--device D] [--write]

Each case is a scene with a closed form. Of every law it measures how far the end is off, the longest step of 1 to 16 ms with
which it stays within the case's limit, the time of a step of one world, and a gradient of the end beside central differences
over an interval of the kind that an optimiser steps by. All in float64. Laws that this build does not compute are told as absent.
--write puts the table into docs/dynamics.md, between its marks. Needs the Python package and NumPy.
"""
import argparse
import json
import pathlib
import re
import statistics
import tempfile
import time
from typing import Callable, NamedTuple

import numpy as np

import abut

ROOT = pathlib.Path(__file__).resolve().parent.parent
LAWS = ["cone", "lcp", "spring"]
STEPS_MS = [1, 2, 4, 8, 16]
USUAL_MS = 2  # for errors, times and gradients
G, HALF, DENSITY, FRICTION = 9.81, 0.1, 500.0, 0.5
MASS = DENSITY * (2 * HALF) ** 3
FLOOR = {"bodies": [{"plane": [5, 5]}]}
BOX = {"joint": {"type": "free"}, "density": DENSITY, "bodies": [{"box": [HALF, HALF, HALF]}]}


class Case(NamedTuple):
    """A scene, its initial state and duration, and the quantity of its final state."""
    about: str
    scene: dict
    start: Callable  # scene -> q, v, u
    seconds: float
    error: Callable  # (q, v, times) of all states -> error
    shown: Callable  # error -> text
    limit: float  # largest error that counts as stable
    input: tuple  # ("v" or "u", index): input of the gradient
    output: int  # index in q of the final state
    interval: float  # half of the interval of the differences
    until: float  # [s] time of the gradient's final state


def box_at(z, x=0.0):
    return dict(BOX, position=[x, 0, z])


# ---- drop: with a restitution of 0.5 from 0.2 m ----

HEIGHT, RESTITUTION = 0.2, 0.5
RATIO = -np.log(RESTITUTION) / np.hypot(np.pi, np.log(RESTITUTION))  # a damper that leaves the same speed


def of_start(v=None, u=None):
    def start(scene):
        speeds = np.zeros(scene.nv)
        for i, x in (v or {}).items():
            speeds[i] = x
        return scene.start(), speeds, np.array(u if u is not None else np.zeros(scene.nu))
    return start


def restitution_error(q, v, times):
    """The error of the ratio of the largest upward speed to the largest downward speed before it."""
    low = np.argmin(v[:, 2])
    return max(v[low:, 2]) / -v[low, 2] - RESTITUTION


# ---- slides ----


def slide(speed, interval):
    distance = speed ** 2 / (2 * FRICTION * G)
    return Case(f"a box stops from {speed:g} m/s, friction {FRICTION}",
                {"links": [FLOOR, box_at(HALF)], "pairs": [{"a": 1, "b": 0, "friction": FRICTION}]},
                of_start({0: speed}), 0.8, lambda q, v, times: q[-1, 0] / distance - 1,
                lambda e: f"distance {100 * e:+.1f} %", 0.1, ("v", 0), 0, interval, 0.8)


# ---- push: a slide of 1 kg pushes the box with 40 N, and with 15 N, which friction withstands ----

PUSH, HELD, PUSHED_S = 40.0, 15.0, 0.5
PUSHER = {"joint": {"type": "slide", "axis": [1, 0, 0]}, "position": [-2 * HALF, 0, HALF], "mass": 1,
          "inertia": [[0.01, 0, 0], [0, 0.01, 0], [0, 0, 0.01]], "bodies": [{"box": [HALF, HALF, HALF]}]}
PUSH_SCENE = {"links": [FLOOR, box_at(HALF), PUSHER], "actuators": [{"kind": "motor", "joint": 2}],
              "pairs": [{"a": 1, "b": 0, "friction": FRICTION}, {"a": 2, "b": 1, "condim": 1}]}
PUSHED = (PUSH - FRICTION * MASS * G) / (MASS + 1) * PUSHED_S ** 2 / 2

# ---- stack: five boxes for a second, so slippery that the top one slides off before all tip over ----

STACK, SLIPPERY = 5, 0.2


def drift(q, v, times):
    """Returns the largest sideways displacement of a box."""
    moved = (q[-1] - q[0]).reshape(STACK, 7)
    return max(np.hypot(moved[:, 0], moved[:, 1]))


CASES = {
    "drop": Case(f"a box falls {HEIGHT} m, restitution {RESTITUTION}",
                 {"links": [FLOOR, box_at(HALF + HEIGHT)],
                  "pairs": [{"a": 1, "b": 0, "restitution": RESTITUTION, "solref": [0.02, RATIO]}]},
                 of_start(), 0.6, restitution_error, lambda e: f"restitution {RESTITUTION + e:.2f}", 0.1,
                 ("v", 2), 2, 0.1, 0.35),
    "slide": slide(2.0, 0.1),
    "slow slide": slide(0.5, 0.05),
    "push": Case(f"a slide pushes a box with {PUSH:g} N", PUSH_SCENE, of_start(u=[PUSH]), PUSHED_S,
                 lambda q, v, times: q[-1, 0] / PUSHED - 1, lambda e: f"distance {100 * e:+.1f} %", 0.1,
                 ("u", 0), 0, 2.0, PUSHED_S),
    "hold": Case(f"the same with {HELD:g} N: friction holds", PUSH_SCENE, of_start(u=[HELD]), 1.0,
                 lambda q, v, times: q[-1, 0], lambda e: f"creeps {1e3 * abs(e):.2f} mm", 0.01,
                 ("u", 0), 0, 2.0, 1.0),
    "stack": Case(f"{STACK} boxes, by turns 1 cm to either side, stand for 1 s, friction {SLIPPERY}",
                  {"links": [FLOOR] + [box_at(HALF * (1 + 2 * i), 0.01 * (-1) ** i) for i in range(STACK)],
                   "pairs": [{"a": i + 1, "b": i, "friction": SLIPPERY} for i in range(STACK)],
                   "lcp": {"most": 64}},
                  of_start(), 1.0, drift, lambda e: f"drifts {1e3 * e:.2g} mm", 0.01,
                  ("v", 6 * STACK - 6), 7 * STACK - 7, 0.2, 0.5),
}


# ---- measurements ----

class Trial:
    """A case with a law and a step."""

    def __init__(self, context, folder, case, law, step_ms):
        self.case, self.step = case, 1e-3 * step_ms
        path = folder / "case.scene.json"
        path.write_text(json.dumps({**case.scene, "timestep": self.step}))
        self.scene = context.scene(path, contact_model=law)
        self.q, self.v, self.u = case.start(self.scene)
        self.input = {"v": self.v, "u": self.u}

    def go(self, seconds, **changed):
        given = {**self.input, **changed}
        return self.scene.step(self.q, given["v"], given["u"], steps=round(seconds / self.step), record=1)

    def error(self):
        """NaN if the world stopped."""
        made = self.go(self.case.seconds)
        q, v = np.vstack([self.q, made.q_record]), np.vstack([self.v, made.v_record])
        stops = abut.WorldStatus.NOT_FINITE | abut.WorldStatus.DIVERGED | abut.WorldStatus.SINGULAR
        return np.nan if int(made.status) & stops else self.case.error(q, v, self.step * np.arange(len(q)))

    def seconds_a_step(self):
        count, times = round(self.case.seconds / self.step), []
        for _ in range(3):
            begin = time.perf_counter()
            self.scene.step(self.q, self.v, self.u, steps=count)
            times.append((time.perf_counter() - begin) / count)
        return statistics.median(times)

    def gradient(self):
        """Returns the gradient by the case's input, and its difference quotient."""
        case, (name, i) = self.case, self.case.input
        bar = np.eye(self.scene.nq)[case.output]
        made = self.scene.vjp(self.q, self.v, self.u, steps=round(case.until / self.step), q_bar=bar, wrt=(name,))
        ends = []
        for sign in (1, -1):
            moved = self.input[name].copy()
            moved[i] += sign * case.interval
            ends.append(self.go(case.until, **{name: moved}).q[case.output])
        return getattr(made, name)[i], (ends[0] - ends[1]) / (2 * case.interval)


def print_gradient(gradient, quotient):
    """Prints the gradient relative to the quotient: 1 is right, and values below 0 have the wrong direction."""
    if abs(quotient) < 1e-9:
        return "both 0" if abs(gradient) < 1e-6 else f"{gradient:.2g}, not 0"
    share = gradient / quotient
    way = "" if share > 0.01 else ", no slope" if share > -0.01 else ", the wrong way"
    return f"{share:.2f}{way}"


def longest(context, folder, case, law):
    good = []
    for step in STEPS_MS:
        error = Trial(context, folder, case, law, step).error()
        good.append(bool(abs(error) <= case.limit))
    steps = [step for step, g in zip(STEPS_MS, good) if g]
    return "none" if not steps else f"{max(steps)} ms" if good[:len(steps)] == [True] * len(steps) else \
        ", ".join(map(str, steps)) + " ms"


def row(context, folder, name, law):
    case = CASES[name]
    try:
        usual = Trial(context, folder, case, law, USUAL_MS)
    except abut.Error as refusal:
        if "not computed" not in str(refusal):
            raise
        return f"| {name} | {law} | absent | | | |"
    error = usual.error()
    return (f"| {name} | {law} | {'stopped' if np.isnan(error) else case.shown(error)} | "
            f"{longest(context, folder, case, law)} | {1e3 * usual.seconds_a_step():.2f} | "
            f"{print_gradient(*usual.gradient())} |")


MARKS = "<!-- tools/compare_laws.py -->\n", "<!-- end -->\n"


def write(table):
    page = ROOT / "docs" / "dynamics.md"
    text = page.read_text(encoding="utf-8")
    found = re.search("(?s)" + re.escape(MARKS[0]) + ".*?" + re.escape(MARKS[1]), text)
    if not found:
        raise SystemExit(f"{page}: has no marks for the table")
    page.write_text(text[:found.start()] + MARKS[0] + table + MARKS[1] + text[found.end():], encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default=",".join(LAWS))
    parser.add_argument("--device", default="host")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    context = abut.Context(given.device, "f64")
    lines = ["| case | law | end, at 2 ms | longest step | ms a step | gradient / difference |",
             "|---|---|---|---|---|---|"]
    with tempfile.TemporaryDirectory() as folder:
        for name in CASES:
            for law in given.models.split(","):
                lines.append(row(context, pathlib.Path(folder), name, law))
                print(lines[-1], flush=True)
    if given.write:
        write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
