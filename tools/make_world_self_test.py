#!/usr/bin/env python3
"""Writes what devices are asked about worlds: make_world_self_test.py > src/world/self_test_answers.inl

A tree of a free link, a hinge and a slide with limits, friction loss and a motor, with contacts that
are given; two worlds, one step. Answers by bench/peers/dynamics_reference.py, in float64.

And a box on two slides over a plane, between which is a spring: a plane's field is z itself, the box's
points below are all as deep as each other, and its others so much higher that they weigh nothing. So all is
one point's closed form (docs/dev/spring-formulas.md), written out here; its derivatives are complex steps.

And a ball on two slides in touch with another one, by springs at contacts: each ball's middle is a contact in the
other's field, both are as deep, and what turns nothing does not depend on where they are.
"""
import json
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "bench" / "peers"))
import dynamics_reference as dr  # noqa: E402

SCENE = {
    "timestep": 0.004, "impratio": 2,
    "links": [
        {"mass": 1.2, "com": [0.02, -0.01, 0.03], "inertia": [[0.02, 0.001, 0], [0.001, 0.03, 0.002], [0, 0.002, 0.025]],
         "joint": {"type": "free"}},
        {"parent": 0, "position": [0.1, 0, 0.05], "quaternion": [0.9, 0.1, -0.3, 0.2], "mass": 0.4, "com": [0.05, 0, 0],
         "inertia": [[0.001, 0, 0], [0, 0.002, 0], [0, 0, 0.002]],
         "joint": {"type": "hinge", "position": [0, 0.01, 0], "axis": [0.2, 1, 0.1], "damping": 0.05, "armature": 0.01,
                   "limits": [-0.5, 0.2]}},
        {"parent": 1, "position": [0.1, 0, 0], "mass": 0.3, "inertia": [[0.001, 0, 0], [0, 0.001, 0], [0, 0, 0.001]],
         "joint": {"type": "slide", "axis": [1, 0, 0.5], "frictionloss": 0.4, "stiffness": 20, "rest": 0.01}}],
    "actuators": [{"kind": "motor", "joint": 1, "gear": 1.5}],
    "pairs": [{"friction": 0.7}]}
CONTACTS = 3


def numbers(name, array):
    flat = np.asarray(array).reshape(-1)
    rows = [", ".join(f"{x:.17g}" for x in flat[i:i + 4]) for i in range(0, len(flat), 4)]
    return f"static const double {name}[{len(flat)}] = {{\n  " + ",\n  ".join(rows) + "};\n"


SPRINGS = {
    "contact_model": "spring", "clouds": True, "timestep": 0.004, "gravity": [0, 0, -10],
    "links": [
        {"bodies": [{"plane": [1, 1]}]},
        {"joint": {"type": "slide", "axis": [1, 0, 0], "limits": [-0.1, 0.1], "limit_spring": [200, 0.01, 0.2],
                   "frictionloss": 0.3}},
        {"parent": 1, "position": [0, 0, 0.125], "mass": 2, "inertia": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
         "joint": {"type": "slide", "axis": [0, 0, 1], "damping": 0.5}, "bodies": [{"box": [0.125, 0.125, 0.125]}]}],
    "pairs": [{"a": 2, "b": 0, "contact": {"k": 1000, "mu": 0.4, "v_d": 0.1, "v_s": 0.02, "eps2": 1e-4, "eps3": 1e-3}}]}


BALLS = {
    "contact_model": "spring", "timestep": 0.004, "gravity": [0, 0, -10],
    "links": [
        {"bodies": [{"sphere": 0.1}]},
        {"joint": {"type": "slide", "axis": [1, 0, 0]}},
        {"parent": 1, "position": [0, 0, 0.2], "mass": 2, "inertia": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
         "joint": {"type": "slide", "axis": [0, 0, 1], "damping": 0.5}, "bodies": [{"sphere": 0.1}]}],
    "pairs": [{"a": 2, "b": 0, "contact": {"k": 1000, "mu": 0.4, "v_d": 0.1, "v_s": 0.02, "eps2": 1e-4, "eps3": 1e-3}}]}
NORMAL = 1e-12  # tau of unit normals, as in the fitted smoothing


def softplus(y):
    return np.maximum(y.real, 0) + np.log1p(np.exp(y - 2 * y * (y.real > 0))) + 1j * y.imag * (y.real > 0)


def spring_dissipation(x):
    """Returns the dissipation and its slope."""
    y = x.real
    return np.select([y <= 0, y <= 2], [1 - x, (x - 2)**2 / 4], 0), np.select([y <= 0, y <= 2], [-1, (x - 2) / 2], 0)


def slides(z, implicit):
    """(q, v, k, mu, v_d, v_s, eps2, eps3) -> (q', v'), for the box on slides."""
    q, v, (k, mu, v_d, v_s, _, eps3) = z[:2], z[2:4], z[4:]
    h, mass, damping, loss, (stiffness, e, v_l), edge = 0.004, 2.0, 0.5, 0.3, (200.0, 0.01, 0.2), 0.1
    soft, (D, slope) = softplus(-q[1] / eps3), spring_dissipation(v[1] / v_d)
    normal, by_v = k * eps3 * soft * D, k * eps3 * soft * slope / v_d
    rho, joint = np.sqrt(v_s**2 + v[0]**2), np.sqrt(1e-4 + v[0]**2)
    f = np.array([-mu * normal * v[0] / rho - loss * v[0] / joint, normal - 10 * mass - damping * v[1]])
    J = np.array([[-mu * normal * v_s**2 / rho**3 - loss * 1e-4 / joint**3, -mu * by_v * v[0] / rho], [0, by_v - damping]])
    for side in (1, -1):
        soft, (D, slope) = softplus((-edge - side * q[0]) / e), spring_dissipation(side * v[0] / v_l)
        f[0] += side * stiffness * e * soft * D
        J[0, 0] += stiffness * e * soft * slope / v_l
    inertia = mass * np.eye(2) - h * J if implicit else np.diag([mass, mass + h * damping])
    after = v + h * np.linalg.solve(inertia.astype(complex), f)
    return np.r_[q + h * after, after]


def balls(z, implicit):
    """The same for the ball on slides."""
    q, v, (k, mu, v_d, v_s, _, eps3) = z[:2], z[2:4], z[4:]
    h, mass, damping, r = 0.004, 2.0, 0.5, 0.1
    y = q + np.array([0, 2 * r])
    length = np.sqrt(y @ y + 1e-4 * r**2)
    d, g = length - np.sqrt(1.0001) * r - r, y / length
    n = g / np.sqrt(NORMAL + g @ g)
    soft, along = softplus(-d / eps3), v @ n
    D, slope = spring_dissipation(along / v_d)
    slide, across = v - along * n, np.eye(2) - np.outer(n, n)
    rho = np.sqrt(v_s**2 + slide @ slide)
    way, push = n - mu * slide / rho, k * eps3 * soft
    f = push * D * way + np.array([0, -10 * mass - damping * v[1]])
    J = push * (slope / v_d * np.outer(way, n) - D * mu * (across / rho - np.outer(slide, slide @ across) / rho**3))
    J = J - np.diag([0, damping])
    inertia = mass * np.eye(2) - h * J if implicit else np.diag([mass, mass + h * damping])
    after = v + h * np.linalg.solve(inertia.astype(complex), f)
    return np.r_[q + h * after, after]


def answers(scene, step, q, v, bars, name):
    law = scene["pairs"][0]["contact"]
    law = [law[key] for key in ("k", "mu", "v_d", "v_s", "eps2", "eps3")]
    starts = [np.r_[q[i], v[i], law].astype(complex) for i in range(2)]
    yield from ((f"{name}_q", q), (f"{name}_v", v), (f"{name}_bars", bars))
    for implicit, kind in ((False, "euler"), (True, "implicit")):
        after = np.array([step(z, implicit).real for z in starts])
        yield from ((f"{name}_{kind}_q", after[:, :2]), (f"{name}_{kind}_v", after[:, 2:]))
    by = np.array([[bar @ step(z + 1e-30j * e, False).imag / 1e-30 for e in np.eye(10)] for bar, z in zip(bars, starts)])
    yield from ((f"{name}_q_gradients", by[:, :2]), (f"{name}_v_gradients", by[:, 2:4]), (f"{name}_law_gradients", by[:, 4:]))


def spring_answers():
    """The second world is at a limit, and separates from the plane."""
    q, v = np.array([[0.02, -0.015], [0.095, 0.0004]]), np.array([[0.05, -0.03], [0.2, 0.04]])
    bars = np.array([[1.0, -2.0, 0.5, 1.5], [0.7, 3.0, -1.0, 0.25]])
    yield from answers(SPRINGS, slides, q, v, bars, "spring")


def ball_answers():
    """The first world's ball comes down and slides off; the second one's separates from below."""
    q, v = np.array([[0.05, -0.01], [0.02, -0.0006]]), np.array([[0.05, -0.03], [-0.2, 0.06]])
    yield from answers(BALLS, balls, q, v, np.array([[1.0, -2.0, 0.5, 1.5], [0.7, 3.0, -1.0, 0.25]]), "ball")


def print_text(name, scene):
    text = json.dumps(scene).replace('"', '\\"')
    print(f"static const char {name}[] =")
    print("\n".join(f'  "{line}"' for line in lines_of(text)) + ";")


def main():
    scene = dr.load_scene(json.loads(json.dumps(SCENE)))
    rng = np.random.default_rng(5)
    q = np.array([[0.1, 0.2, 0.3, 0.8, 0.2, -0.5, 0.1, 0.25, 0.03], [-0.2, 0, 0.1, -0.3, 0.9, 0.1, 0.4, -0.1, -0.02]])
    v = rng.normal(size=(2, 8))
    u = np.array([[0.6], [-1.1]])
    p = rng.normal(size=(2, CONTACTS, 3)) * 0.2
    d = -rng.uniform(0.0005, 0.004, size=(2, CONTACTS))
    n = rng.normal(size=(2, CONTACTS, 3))
    n /= np.linalg.norm(n, axis=-1, keepdims=True)
    activity = rng.uniform(0.4, 1, size=(2, CONTACTS))
    links = dict(owner=np.array([0, 2, 0]), opposing=np.array([-1, -1, 2]), pair=np.zeros(CONTACTS, int))
    steps = [dr.step(scene, q[i], v[i], u[i], given=dict(links, p=p[i], d=d[i], n=n[i], activity=activity[i],
                                                         pairs=scene.pairs)) for i in range(2)]
    cotangent = rng.normal(size=(2, 16))
    slopes = [dr.step_derivatives(scene, q[i], v[i], u[i], given=dict(links, p=p[i], d=d[i], n=n[i], activity=activity[i],
                                                                      pairs=scene.pairs)) for i in range(2)]
    print("/* Made by tools/make_world_self_test.py. */")
    print_text("scene_text", SCENE)
    for name, array in (("start_q", q), ("start_v", v), ("controls", u), ("points", p), ("distances", d),
                        ("normals", n), ("activities", activity), ("next_q", [s[0] for s in steps]),
                        ("next_v", [s[1] for s in steps]), ("accelerations", [s[2]["qacc"] for s in steps]),
                        ("cotangents", cotangent), ("q_gradients", [c @ s[0][:, :8] for c, s in zip(cotangent, slopes)]),
                        ("v_gradients", [c @ s[0][:, 8:] for c, s in zip(cotangent, slopes)]),
                        ("control_gradients", [c @ s[1] for c, s in zip(cotangent, slopes)])):
        print(numbers(name, array), end="")
    print_text("spring_text", SPRINGS)
    for name, array in spring_answers():
        print(numbers(name, array), end="")
    print_text("ball_text", BALLS)
    for name, array in ball_answers():
        print(numbers(name, array), end="")


def lines_of(text):
    """Breaks lines at blanks, so that no escape sequence is split."""
    line = ""
    for word in text.split(" "):
        if len(line) + len(word) > 90:
            yield line
            line = ""
        line += word + " "
    yield line.rstrip()


main()
