"""Draws docs/peers-*.png from bench/results/peers-*.csv: python plot.py RESULTS PLOTS"""
import collections
import pathlib
import sys

from table import read

try:
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
except ImportError:
    sys.exit(print("not drawn: no package matplotlib"))

COLOURS = {"abut": "#c1272d", "JAX": "#0072b2", "qpax": "#009e73", "L-BFGS": "#e69f00"}
MUJOCO, MJX = ("#555555", "#999999"), ("#009e73", "#e69f00", "#7b3fa0")


def lines_of(rows, key):
    """Points (size, ms a batch) of each line; where it ended, and why; the longest first call [s]."""
    points, ends, first = collections.OrderedDict(), {}, collections.Counter()
    for row in rows:
        line = points.setdefault(key(row), [])
        if row["result"] == "ok":
            line.append((int(row["size"]), 1e3 * float(row["seconds"])))
            first[key(row)] = max(first[key(row)], float(row.get("first_call_s") or 0))
        else:
            ends[key(row)] = int(row["size"]), row["result"]
    return points, ends, first


def draw_line(ax, found, end, label, style, colour, width):
    """A time limit that was passed is a cross at the limit: the true time lies above."""
    label += f": {end[1]}" if end else ""
    ax.plot([n for n, _ in found], [t for _, t in found], style, color=colour, label=label, markersize=4,
            linewidth=width)
    if end and end[1].startswith("timed out"):
        ax.plot([end[0]], [1e3 * float(end[1].split()[-2])], "x", color=colour, markersize=8)


def finish(figure, axes, about, path):
    for ax in axes:
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.grid(True, which="major", alpha=0.35)
        ax.grid(True, which="minor", alpha=0.12)
        ax.spines[["top", "right"]].set_visible(False)
    figure.text(0.01, 0.005, f"{about['processor']}; {about['driver']}; commit {about['commit']}, "
                f"{about['date']}; load before {about['load before']}", fontsize=7, color="#555555")
    figure.tight_layout(rect=(0, 0.03, 1, 1))
    figure.savefig(path, dpi=130)
    plt.close(figure)


def colour_of(name):
    return next((c for key, c in COLOURS.items() if name.startswith(key)), "#000000")


def witness(results, plots):
    about, rows = read(results / "peers-witness.csv")
    figure, axes = plt.subplots(1, 2, figsize=(10, 4.6), sharey=True)
    for ax, what, title in zip(axes, ("edges", "faces"), ("edge-edge", "vertex-face")):
        points, ends, _ = lines_of([r for r in rows if r["what"] == what], lambda r: r["peer"])
        for name, found in points.items():
            draw_line(ax, found, ends.get(name), name, "o-", colour_of(name), 2 if name == "abut" else 1.3)
        ax.set_title(f"witness points, {title}")
        ax.set_xlabel("queries in a batch")
    axes[0].set_ylabel("milliseconds a batch, host to host")
    axes[0].legend(fontsize=8, loc="upper left")
    finish(figure, axes, about, plots / "peers-witness.png")


def manifold(results, plots):
    about, rows = read(results / "peers-manifold.csv")
    points, ends, first = lines_of(rows, lambda r: r["peer"])
    figure, ax = plt.subplots(figsize=(10, 5))
    greys, others = iter(MUJOCO), iter(MJX)
    for name, found in points.items():
        style, colour = "o-", colour_of(name)
        if name.startswith("MuJoCo"):
            style, colour = "s--", next(greys)
        elif name.startswith("MJX"):
            style, colour = "^-", next(others)
        elif name.startswith("abut,"):
            style = "o:" if name.endswith("one core") else "o--"
        label = name + (f" (first call {first[name]:.0f} s)" if first[name] >= 1 else "")
        draw_line(ax, found, ends.get(name), label, style, colour, 2 if name == "abut" else 1.3)
    ax.set_title(f"contacts of two bodies: {about['bodies']}", fontsize=10)
    ax.set_xlabel("poses in a batch")
    ax.set_ylabel("milliseconds a batch, host to host")
    ax.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    finish(figure, [ax], about, plots / "peers-manifold.png")


def variants(results, plots):
    about, rows = read(results / "peers-variants.csv")
    points, _, _ = lines_of([r for r in rows if r["result"] == "ok"], lambda r: (r["peer"], r["what"]))
    figure, ax = plt.subplots(figsize=(8, 5))
    colours = {"full": "#c1272d", "vertices-only": "#0072b2", "one-sided": "#009e73"}
    styles = {"forward": "o-", "mean-gradient": "^--", "vjp": "x:"}
    words = {"forward": "forward", "mean-gradient": "gradient of the mean distance", "vjp": "VJP"}
    for name, colour in colours.items():
        for what, style in styles.items():
            draw_line(ax, points.get((f"abut, {name}", what), []), None, f"{name}, {words[what]}", style,
                      colour, 1.3)
    ax.set_title(f"abut's variants and derivatives: {about['bodies']}", fontsize=10)
    ax.set_xlabel("poses in a batch")
    ax.set_ylabel("milliseconds a batch, host to host")
    ax.legend(fontsize=8, loc="upper left")
    finish(figure, [ax], about, plots / "peers-variants.png")


def main():
    results, plots = (pathlib.Path(word) for word in sys.argv[1:3])
    plots.mkdir(parents=True, exist_ok=True)
    for draw in (witness, manifold, variants):
        if (results / f"peers-{draw.__name__}.csv").exists():
            draw(results, plots)


if __name__ == "__main__":
    main()
