"""The tables of docs/benchmarks/peers.md, from bench/results/peers-*.csv: python table.py PAGE RESULTS"""
import csv
import pathlib
import sys

BEGIN, END = "<!-- peers: begin -->", "<!-- peers: end -->"
WITNESS = {"edges": "edge-edge", "faces": "vertex-face"}
GRADIENT = {"abut": "yes", "JAX": "yes", "MuJoCo": "no", "MJX": "yes"}


def read(path):
    """What stands above a CSV, and its rows."""
    lines = path.read_text().splitlines()
    about = dict(line[2:].split(": ", 1) for line in lines if line.startswith("# "))
    return about, list(csv.DictReader(line for line in lines if not line.startswith("#")))


def digits(x):
    """Three digits, no exponent."""
    return f"{x:,.0f}" if x >= 100 else f"{x:.3g}" if x >= 0.001 else f"{x:.5f}"


def cell(row, scale):
    """Time a query or pose, and how many times abut's of the same rounds."""
    if not row:
        return ""
    if row["result"] != "ok":
        return row["result"]
    text = digits(scale * float(row["seconds"]) / int(row["size"]))
    ratio = float(row.get("ratio") or 1)
    return text if row["peer"] == "abut" else f"{text} ({digits(ratio)} x)"


def table_of(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return ["| " + " | ".join(line) + " |" for line in lines]


def witness(results):
    about, rows = read(results / "peers-witness.csv")
    found = {(r["peer"], r["what"], int(r["size"])): r for r in rows}
    peers = list(dict.fromkeys(r["peer"] for r in rows))
    sizes = sorted({size for _, _, size in found if size >= 10000}) or sorted({key[2] for key in found})
    lines = [[f"{WITNESS[what]}, {size:,}", *[cell(found.get((p, what, size)), 1e6) for p in peers]]
             for what in WITNESS for size in sizes]
    return about, table_of(["witness points, µs a query", *peers], lines)


def manifold(results):
    about, rows = read(results / "peers-manifold.csv")
    found = {(r["peer"], int(r["size"])): r for r in rows}
    sizes = [n for n in (1, 64, 1024) if n in {key[1] for key in found}]
    lines = []
    for peer in dict.fromkeys(r["peer"] for r in rows):
        first = max(float(r.get("first_call_s") or 0) for r in rows if r["peer"] == peer)
        lines.append([peer, GRADIENT[peer.replace(",", "").split()[0]],
                      *[cell(found.get((peer, n)), 1e3) for n in sizes],
                      f"{first:.0f} s" if first >= 1 else ""])
    batches = [f"batch {n:,}" for n in sizes]
    return about, table_of(["contacts of two bodies, ms a pose", "gradient", *batches, "first call"], lines)


def circumstances(about):
    text = f"{about['processor']}; {about['driver']}; commit {about['commit']}, {about['date']}"
    if float(about["load before"]) > 1.0:
        text += (f". The load before was {about['load before']}: other work may have kept the machine "
                 "busy, which is kinder to short calls than to long ones")
    return text + "."


def write(page, results):
    text = page.read_text()
    lines = []
    for make in (witness, manifold):
        if (results / f"peers-{make.__name__}.csv").exists():
            about, found = make(results)
            lines += [*found, "", circumstances(about), ""]
    head, rest = text.split(BEGIN)
    page.write_text(head + "\n".join([BEGIN, *lines[:-1], END]) + rest.split(END)[1])


if __name__ == "__main__":
    write(*(pathlib.Path(word) for word in sys.argv[1:3]))
