#!/usr/bin/env python3
"""Counts primitive evaluations and operations of a case: count_evaluations.py CASE [--build build]

Makes a copy of cl/ whose field counts the superquadrics that it evaluates (culling leaves out the rest):
in place of the normal, so that distances still select the same edges, or of a distance by itself. It
runs bench/evaluations on PoCL with it, and multiplies by the operations of one evaluation, counted off
cl/geometry/superquadric.inl and blend.inl by hand (a multiply-add is two; integer operations, loads and
selects are not counted):
  bounds    38: move and map 18, two squares 12, two roots and a quotient 3, two ends 4, comparison 1
  distance 228: move and rotate 18, scale and square 9, three log2 at 21, two soft maxima at 43,
                exp2 20, radius 7, rest 2, blend 23
  normal   +52: shares and gradient 17, rotate 15, unit 11, blend 9
Every superquadric's bounds are evaluated, as long as there are no more than CULL_GROUP.
"""
import argparse
import json
import pathlib
import shutil
import subprocess
import tempfile

BOUND_OPERATIONS, DISTANCE_OPERATIONS, NORMAL_OPERATIONS = 38, 228, 280


def patched(text, *pairs):
    for old, new in pairs:
        assert text.count(old) >= 1, old
        text = text.replace(old, new)
    return text


def counting_kernels(source, into, own):
    shutil.copytree(source, into)
    blend = into / "geometry" / "blend.inl"
    blend.write_text(patched(
        blend.read_text(), ("  num least, sum;", "  num least, sum, evaluated;"),
        ("  b.sum = n_lit(R(0.0));", "  b.sum = n_lit(R(0.0));\n  b.evaluated = b.sum;"),
        ("  b->sum = n_mad(b->sum, keep, take);",
         "  b->sum = n_mad(b->sum, keep, take);\n  b->evaluated = n_shift(b->evaluated, R(1.0));")))
    compose = into / "geometry" / "compose.inl"
    compose.write_text(patched(
        compose.read_text(),
        ("  out->phi = n_select(n_value(plus.sum) > lane_lit(R(0.0)), m.phi, n_lit(REAL_BIG));",
         "  const num evaluated = subtracted ? n_add(plus.evaluated, b.evaluated) : plus.evaluated;\n"
         "  out->phi = all & JET_NORMAL ? m.phi : evaluated;"),
        ("    out->normal = FN(unit)(m.raw, c->normal);",
         "    out->normal = FN(make)(evaluated, n_lit(R(0.0)), n_lit(R(0.0)));")))
    vertex = into / "kernels" / "manifold" / "vertex.cl"
    vertex.write_text(patched(vertex.read_text(), (
        "poisoned(frame, phi)", "poisoned(frame, load(at + padded, field_stride))")))
    edge = into / "kernels" / "manifold" / "edge.cl"
    values = ("in.m1.x", "n_sqrt(FN(dot3)(in.m2, in.m2))") if own else ("in.opposing1", "in.opposing2")
    edge.write_text(patched(edge.read_text(), ("poisoned(frame, r.d1)", f"poisoned(frame, {values[0]})"),
                            ("poisoned(frame, r.d2)", f"poisoned(frame, {values[1]})")))


def means(build, case, own):
    root = pathlib.Path(__file__).resolve().parent.parent
    with tempfile.TemporaryDirectory() as folder:
        into = pathlib.Path(folder) / "cl"
        counting_kernels(root / "cl", into, own)
        out = subprocess.run([build / "bench" / "evaluations", case, into], check=True,
                             capture_output=True, text=True).stdout
    return [tuple(float(x) for x in line.split()) for line in out.splitlines()]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("case", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    options = parser.parse_args()
    own, opposing = means(options.build, options.case, True), means(options.build, options.case, False)
    body = [len(json.loads((options.case / f"{n}.body.json").read_text()).get("superquadrics", []))
            for n in "ab"]
    full = own[:2] + own[2:]  # vertices and witness points of both bodies, with normals
    with_normal = sum(n * mean for n, mean in full)
    without = sum(n * mean for n, mean in opposing[2:])
    all_of_them = (own[0][0] * body[1] + own[1][0] * body[0] +
                   sum(own[2 + i][0] for i in (0, 1)) * (body[0] + body[1]))
    print(json.dumps({
        "primitives_a_pose": all_of_them, "evaluated_a_pose": round(with_normal + without, 1),
        "mean_of_vertices": [own[0][1], own[1][1]], "mean_of_own": [own[2][1], own[3][1]],
        "mean_of_opposing": [opposing[2][1], opposing[3][1]],
        "operations_a_pose": round(all_of_them * BOUND_OPERATIONS + with_normal * NORMAL_OPERATIONS +
                                   without * DISTANCE_OPERATIONS)},
        indent=1))


if __name__ == "__main__":
    main()
