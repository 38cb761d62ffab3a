#!/usr/bin/env python3
"""Counts primitive evaluations and operations of a case: count_evaluations.py CASE [--build build]

Makes a copy of cl/ whose field counts the superquadrics that it evaluates (culling leaves out the rest),
runs bench/evaluations on PoCL with it, and multiplies by the operations of one evaluation, counted off
cl/geometry/superquadric.inl and compose.inl by hand (a multiply-add is two; integer operations, loads and
selects are not counted):
  distance 196: move and rotate 18, scale and square 9, three log2 at 19, two soft maxima at 42,
                exp2 18, radius 7, rest 11, blend 21
  normal   +74: shares and gradient 32, unit 11, blend 9, rest 22
"""
import argparse
import json
import pathlib
import shutil
import subprocess
import tempfile

DISTANCE_OPERATIONS, NORMAL_OPERATIONS = 196, 270


def patched(text, *pairs):
    for old, new in pairs:
        assert text.count(old) >= 1, old
        text = text.replace(old, new)
    return text


def counting_kernels(source, into, own):
    shutil.copytree(source, into)
    compose = into / "geometry" / "compose.inl"
    compose.write_text(patched(
        compose.read_text(), ("  num least, sum;", "  num least, sum, evaluated;"),
        ("  b.sum = n_lit(R(0.0));", "  b.sum = n_lit(R(0.0));\n  b.evaluated = b.sum;"),
        ("  b->sum = n_mad(b->sum, keep, take);",
         "  b->sum = n_mad(b->sum, keep, take);\n  b->evaluated = n_shift(b->evaluated, R(1.0));"),
        ("    return added;\n", "    return plus.evaluated;\n"),
        ("  return n_smad(n_log2(sum), c->union_ln2, hi);",
         "  return n_add(plus.evaluated, b.evaluated);")))
    edge = into / "kernels" / "edge.cl"
    values = ("lane_load(row1 + first)", "lane_load(row2 + first)") if own else (
        "lane_load(ROW(opposing1, pose, pair_padded) + first)",
        "lane_load(ROW(opposing2, pose, pair_padded) + first)")
    edge.write_text(patched(edge.read_text(), ("r.d1 + poison", values[0]),
                            ("r.d2 + poison", values[1])))


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
        "operations_a_pose": round(with_normal * NORMAL_OPERATIONS + without * DISTANCE_OPERATIONS)},
        indent=1))


if __name__ == "__main__":
    main()
