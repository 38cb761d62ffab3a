#!/usr/bin/env python3
"""Draws fig3.png of this folder: python3 docs/figures.py CURVES.csv [OUT.png]

Needs matplotlib; the build does not run it. The curves come from the test program that checks them:
  build/tests/core/test_core_figures f64 curves.csv
Columns: angle [rad], then x of the first edge's witness point [m] with hard choices, with the ridge
alone and with everything smooth. A fixed edge of length 1 along x lies 0.2 below an edge that turns
about its middle, past parallel at angle 0.
"""
import csv
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402  (the backend has to be chosen first)

LOOK = {"hard": ("#d1495b", 1.6, "hard: jumps from end to end"),
        "ridge": ("#edae49", 1.6, "ridge alone: continuous, with kinks"),
        "smooth": ("#30638e", 2.4, "smooth")}


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {name: [float(row[name]) for row in rows] for name in rows[0]}


def main():
    curves = read(sys.argv[1])
    out = sys.argv[2] if len(sys.argv) > 2 else pathlib.Path(__file__).parent / "fig3.png"
    figure, axes = pyplot.subplots(figsize=(7.2, 4.0), dpi=130)
    for name, (colour, width, label) in LOOK.items():
        axes.plot(curves["angle"], curves[name], color=colour, linewidth=width, label=label)
    axes.set_xlim(curves["angle"][0], curves["angle"][-1])
    axes.set_xlabel("angle between the edges [rad]")
    axes.set_ylabel("witness point on the fixed edge, x [m]")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    figure.tight_layout()
    figure.savefig(out)


if __name__ == "__main__":
    main()
