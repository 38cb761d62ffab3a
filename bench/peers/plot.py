"""Draws docs/peers-*.png from bench/results/peers-*.csv: python plot.py RESULTS PLOTS"""
import collections
import csv
import pathlib
import sys

try:
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
except ImportError:
    sys.exit(print("not drawn: no package matplotlib"))

COLOURS = {"abut": "#c1272d", "JAX": "#0072b2", "qpax": "#009e73", "L-BFGS": "#e69f00"}
MUJOCO, MJX = ("#555555", "#999999"), ("#009e73", "#e69f00", "#7b3fa0")


def read(path):
    lines = path.read_text().splitlines()
    about = dict(line[2:].split(": ", 1) for line in lines if line.startswith("# "))
    return about, list(csv.DictReader(line for line in lines if not line.startswith("#")))


def lines_of(rows, key):
    """Points of each line, and what else became of it."""
    points, ends = collections.OrderedDict(), {}
    for row in rows:
        points.setdefault(key(row), [])
        if row["result"] == "ok":
            points[key(row)].append((int(row["size"]), float(row["seconds"])))
        else:
            ends[key(row)] = row["result"]
    return points, ends


def finish(figure, axes, about, path):
    for ax in axes:
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.grid(True, which="major", alpha=0.35)
        ax.grid(True, which="minor", alpha=0.12)
        ax.spines[["top", "right"]].set_visible(False)
    figure.text(0.01, 0.005, f"{about['processor']}; {about['driver']}; commit {about['commit']}, "
                f"{about['date']}", fontsize=7, color="#555555")
    figure.tight_layout(rect=(0, 0.03, 1, 1))
    figure.savefig(path, dpi=130)
    plt.close(figure)


def witness(results, plots):
    about, rows = read(results / "peers-witness.csv")
    figure, axes = plt.subplots(1, 2, figsize=(10, 4.4), sharey=True)
    for ax, what, title in zip(axes, ("edges", "faces"), ("edge-edge", "vertex-face")):
        points, ends = lines_of([r for r in rows if r["what"] == what], lambda r: r["peer"])
        for name, found in points.items():
            colour = next(c for key, c in COLOURS.items() if name.startswith(key))
            label = name + (f" ({ends[name]})" if name in ends else "")
            ax.plot([n for n, _ in found], [1e6 * s / n for n, s in found], "o-", color=colour, label=label,
                    markersize=4, linewidth=2 if name == "abut" else 1.3)
        ax.set_title(f"witness points, {title}")
        ax.set_xlabel("queries in a batch")
    axes[0].set_ylabel("microseconds a query, host to host")
    axes[1].legend(fontsize=8, loc="upper right")
    finish(figure, axes, about, plots / "peers-witness.png")


def manifold_style(name, seen):
    if name.startswith("MuJoCo"):
        return MUJOCO[sum(s.startswith("MuJoCo") for s in seen)], "s--"
    if name.startswith("MJX"):
        return MJX[sum(s.startswith("MJX") for s in seen)], "^-"
    return next(c for key, c in COLOURS.items() if name.startswith(key)), "o-"


def manifold(results, plots):
    about, rows = read(results / "peers-manifold.csv")
    points, ends = lines_of(rows, lambda r: (r["peer"]))
    figure, ax = plt.subplots(figsize=(8, 5))
    seen = []
    for name, found in points.items():
        colour, style = manifold_style(name, seen)
        seen.append(name)
        label = name + (f": {ends[name]}" if name in ends else "")
        ax.plot([n for n, _ in found], [1e3 * s / n for n, s in found], style, color=colour, label=label,
                markersize=4, linewidth=2 if name == "abut" else 1.3)
    ax.set_title("contacts of a pair of bodies of 18 primitives")
    ax.set_xlabel("poses in a batch")
    ax.set_ylabel("milliseconds a pose")
    ax.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    figure.set_size_inches(10, 4.8)
    finish(figure, [ax], about, plots / "peers-manifold.png")


def variants(results, plots):
    about, rows = read(results / "peers-variants.csv")
    points, _ = lines_of(rows, lambda r: (r["peer"], r["what"]))
    figure, ax = plt.subplots(figsize=(8, 5))
    colours = {"abut, full": "#c1272d", "abut, vertices-only": "#0072b2", "abut, one-sided": "#009e73"}
    styles = {"forward": "o-", "mean-gradient": "^--", "vjp": "x:"}
    words = {"forward": "forward", "mean-gradient": "gradient of the mean distance", "vjp": "VJP"}
    for name in colours:
        for what in styles:
            found = points.get((name, what), [])
            ax.plot([n for n, _ in found], [1e3 * s for _, s in found], styles[what], color=colours[name],
                    markersize=4, label=f"{name[6:]}, {words[what]}")
    ax.set_title("abut's variants and derivatives")
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
