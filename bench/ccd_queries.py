#!/usr/bin/env python3
"""Answers a file of queries of two moving features, compares the answers with what the file says is true, and times them.

  PYTHONPATH=build/python python3 bench/ccd_queries.py FILE [--precision f64] [--json] [-o ANSWERS.npz]

A .csv has the form of the public benchmark queries of Wang, Ferguson, Schneider, Jiang, Attene and Panozzo: eight lines a query, four
vertices at time 0 and then at time 1, each of seven whole numbers of any length: numerator and denominator of x, y and z, and 1 for a
hit or 0. A folder vertex-face or edge-edge in its path says the kind, or --kind does. An .npz has kind (N), 0 to 3: two points, a
point and an edge, a point and a triangle, two edges; X0 and X1 (N, 4, 3), where rows that a kind lacks count for nothing; and perhaps
xi, s, tol, tmax, ein, eta (separation, keep, tolerance, end, error, relative error) and the true status (N).

Coordinates are rounded once, to the nearest number of the precision. A query of which one is rounded is known within a relative error
of 2^-53 or 2^-24, and within the smallest normal number where one is rounded below it. In float32 settings are rounded up, but for s
and tol. False negatives are answered free where the file says hit or within: there must be none. False positives are not answered free
though the file says so.

Iterations and times are of calls of abut.ccd_queries, which also finds normals and distances at time 0; one call before is not timed.
The mean is of the whole file, over and over; the median of batches of 64 queries of a kind in the order of the file, 256 batches at
most, each of which counts with the median of 5 calls. Both are divided by how many queries a call has. A file that takes more than 2 s
is timed once. -o writes status and toi (N) and iterations (N, 2). The exit status is 2 where the usage or the file is wrong. Needs numpy.
"""
import argparse
import collections
import json
import math
import os
import pathlib
import re
import statistics
import sys
import time
import zipfile
import zlib

import numpy as np

import abut

KINDS, VERTICES = ("pp", "pe", "pt", "ee"), np.array([2, 3, 4, 4])
FOLDERS = {"pt": "vertex-face", "ee": "edge-edge"}
COLUMNS = [("-?[0-9]+", "a whole number"), ("0*[1-9][0-9]*", "a whole number above 0")] * 3 + [("[01]", "0, free, or 1, a hit")]
LINES = 8  # of a query
SETTINGS = {"xi": "separation", "s": "keep", "tol": "tolerance", "tmax": "end", "ein": "error", "eta": "relative_error"}
TO_NEAREST = "keep", "tolerance"  # the others must not get smaller where they are rounded
TRUTH = np.array([0, 1, -1, 1, -1])  # of a status: 0 free, 1 a hit or within
BATCH, ROUNDS, BATCHES_MOST, RUNS_LEAST, RUNS_MOST, SECONDS_WANTED, SECONDS_LONG = 64, 5, 256, 3, 1000, 0.5, 2.0

# kind (N) of KINDS; of the precision x (N, 2, 4, 3) [m] and settings, (N) each, as abut.ccd_queries names them; truth (N), or None
Queries = collections.namedtuple("Queries", "kind x settings truth")


class Fault(ValueError):
    """What is wrong with a file, and perhaps in which line."""


# ---- numbers ----
def quotient(numerator, denominator):
    """The nearest double, and the sign of what it leaves of the quotient."""
    try:
        value = numerator / denominator
    except OverflowError:
        return (math.inf, 1) if numerator > 0 else (-math.inf, -1)
    p, q = value.as_integer_ratio()
    left = numerator * q - p * denominator
    return value, (left > 0) - (left < 0)


def rounded(x, left, real):
    """The numbers of the precision nearest to what doubles stand for, which leave something of the sign `left`. Of a double that does
    and its neighbour on that side the one whose last bit is odd is rounded to float32: rounding twice is rounding once then."""
    if real == np.float32:
        x = np.where((left != 0) & (x.view(np.int64) % 2 == 0), np.nextafter(x, np.copysign(np.inf, left)), x)
    return x.astype(real)


def rounded_up(x, real):
    near = x.astype(real)
    return np.where(near < x, np.nextafter(near, real.type(np.inf)), near)


@np.errstate(over="ignore", under="ignore")
def queries_of(kind, x, left, given, truth, precision, place):
    """Queries rounded to the precision, with the errors that this makes. Errors: Fault of place(row, end, vertex, axis)."""
    real = np.dtype({"f32": np.float32, "f64": np.float64}[precision])
    to, info = rounded(x, left, real), np.finfo(real)
    beyond = np.argwhere(np.isinf(to) & (np.isfinite(x) | (left != 0)))
    if len(beyond):
        text, *line = place(*beyond[0])
        raise Fault(f"{text} is beyond {real}{'; --precision f64 may hold it' if precision == 'f32' else ''}", *line)
    inexact = np.isfinite(x) & ((left != 0) | (to != x))
    small = inexact & (abs(to) < info.smallest_normal)
    settings = {name: np.full(len(x), float(name == "end")) for name in SETTINGS.values()} | given
    settings["relative_error"] = settings["relative_error"] + inexact.any((1, 2, 3)) * float(info.eps) / 2
    settings["error"] = settings["error"] + small.any((1, 2, 3)) * float(info.smallest_normal)
    return Queries(kind, to, {name: v.astype(real) if name in TO_NEAREST else rounded_up(v, real) for name, v in settings.items()}, truth)


# ---- files ----
def read_csv(path, given, precision):
    named = [kind for kind, folder in FOLDERS.items() if folder in path]
    if not given and len(named) != 1:
        raise Fault("neither --kind nor one of the folders vertex-face and edge-edge in its path says of which kind the queries are")
    if hasattr(sys, "set_int_max_str_digits"):
        sys.set_int_max_str_digits(0)
    values, hits, lines = [], [], []
    for line, text in enumerate(pathlib.Path(path).read_text("ascii", "replace").split("\n"), 1):
        fields = [field.strip(" \t\r") for field in text.split(",")]
        if fields == [""]:
            continue
        if len(fields) != len(COLUMNS):
            raise Fault(f"columns: {len(fields)}, not the 7 of a vertex: numerator and denominator of x, y and z, and 0 or 1", line)
        for column, (field, (pattern, what)) in enumerate(zip(fields, COLUMNS), 1):
            if not re.fullmatch(pattern, field):
                raise Fault(f"column {column}: {field[:36]!r} is not {what}", line)
        *whole, hit = (int(field) for field in fields)
        if len(hits) % LINES and hit != hits[-1]:
            raise Fault(f"column 7: {hit}, but {hits[-1]} in line {lines[-1]} of the same query", line)
        values += [quotient(*whole[k:k + 2]) for k in (0, 2, 4)]
        hits.append(hit)
        lines.append(line)
    rest = len(hits) % LINES
    if rest:
        raise Fault(f"the last query has {rest} lines, not the {LINES} of four vertices at two times", lines[-rest])
    x, left = np.array(values or np.empty((0, 2))).T.reshape(2, -1, 2, 4, 3)
    return queries_of(np.full(len(x), KINDS.index(given or named[0])), x, left, {}, np.array(hits[::LINES]), precision,
                      lambda row, end, vertex, axis: (f"the quotient of columns {2 * axis + 1} and {2 * axis + 2}",
                                                      lines[LINES * row + 4 * end + vertex]))


def numbers_of(arrays, name, shape, end=None):
    """An array in float64; with `end` whole numbers from 0 to below it."""
    if name not in arrays or arrays[name].dtype.kind not in "biuf":
        raise Fault(f"array '{name}' {f'holds {arrays[name].dtype}, not numbers' if name in arrays else 'is missing'}")
    if arrays[name].shape != shape:
        raise Fault(f"array '{name}': shape {arrays[name].shape}, not {shape}: a row a query")
    wrong = np.flatnonzero(~np.isin(arrays[name], range(end))) if end else ()
    if len(wrong):
        raise Fault(f"array '{name}': row {wrong[0]}, counted from 0: {arrays[name][wrong[0]]:g} is not one of 0 to {end - 1}")
    return arrays[name].astype(float)


def read_npz(path, precision):
    try:
        with np.load(path) as file:
            arrays = {name: file[name] for name in ("kind", "X0", "X1", *SETTINGS, "status") if name in file}
    except (ValueError, EOFError, TypeError, AttributeError, RuntimeError, zipfile.BadZipFile, zlib.error) as error:
        raise Fault(f"not an .npz archive of numbers: {error}") from None
    count = np.shape(arrays.get("kind", ()))[:1] or (0,)
    kind = numbers_of(arrays, "kind", count, len(KINDS)).astype(int)
    x = np.stack([numbers_of(arrays, name, (*count, 4, 3)) for name in ("X0", "X1")], 1)
    x = np.where((np.arange(4) < VERTICES[kind][:, None])[:, None, :, None], x, 0.0)
    given = {name: numbers_of(arrays, key, count) for key, name in SETTINGS.items() if key in arrays}
    truth = TRUTH[numbers_of(arrays, "status", count, len(TRUTH)).astype(int)] if "status" in arrays else None
    return queries_of(kind, x, np.zeros_like(x), given, truth, precision, lambda row, end, vertex, axis:
                      (f"array 'X{end}': row {row}, counted from 0: {x[row, end, vertex, axis]:g}",))


def read(path, kind=None, precision="f32"):
    """Errors: ValueError with the file, perhaps the line, and the cause."""
    try:
        q = read_csv(path, kind, precision) if path.endswith(".csv") else read_npz(path, precision)
        if not len(q.kind):
            raise Fault("holds no queries")
    except Fault as fault:
        text, *line = fault.args
        raise ValueError(": ".join([":".join([path, *map(str, line)]), text])) from None
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror or error}") from None
    return q


# ---- answers ----
def calls_of(q, most=sys.maxsize):
    """Arguments of calls, each of `most` rows of one kind, and which rows these are; the last of a kind has half as many at least, or
    is the only one."""
    for kind, word in enumerate(KINDS):
        rows = np.flatnonzero(q.kind == kind)
        for part in np.split(rows, range(most, len(rows) - most // 2 + 1, most)) if len(rows) else ():
            x = q.x[part, :, :VERTICES[kind]]
            yield {"kind": word, "x0": x[:, 0].copy(), "x1": x[:, 1].copy(), **{name: v[part] for name, v in q.settings.items()}}, part


def answer(q, **options):
    """status and toi (N), and iterations (N, 2)."""
    found = {name: np.zeros((len(q.kind), *tail), real) for name, real, tail in
             (("status", np.uint8, ()), ("toi", q.x.dtype, ()), ("iterations", np.uint32, (2,)))}
    for call, rows in calls_of(q):
        r = abut.ccd_queries(**call, **options)
        for name, array in found.items():
            array[rows] = getattr(r, name)
    return found


def seconds(calls, options):
    start = time.perf_counter()
    for call, _ in calls:
        abut.ccd_queries(**call, **options)
    return time.perf_counter() - start


def time_queries(q, **options):
    """Mean and median of a query [s]."""
    whole, batches, runs = list(calls_of(q)), list(calls_of(q, BATCH)), []
    while sum(runs) < SECONDS_LONG and (len(runs) < RUNS_LEAST or (len(runs) < RUNS_MOST and sum(runs) < SECONDS_WANTED)):
        runs.append(seconds(whole, options))
    some, rounds = batches[::-(-len(batches) // BATCHES_MOST)], range(1 if runs[0] > SECONDS_LONG else ROUNDS)
    shares = [statistics.median(seconds([batch], options) for _ in rounds) / len(batch[1]) for batch in some]
    return statistics.mean(runs) / len(q.kind), statistics.median(shares)


def counts(q, found):
    """What is said of all queries; None where the file does not say what is true."""
    iterations, status = found["iterations"].sum(1), found["status"]
    free, truth = status == abut.CcdStatus.FREE, np.full(len(status), -1) if q.truth is None else q.truth
    rows = {"true_hits": truth == 1, "false_negatives": free & (truth == 1), "false_positives": ~free & (truth == 0),
            "undecided": status == abut.CcdStatus.LIMIT, "rejected": status == abut.CcdStatus.BAD_INPUT}
    unknown = {} if q.truth is not None else dict.fromkeys(("true_hits", "false_negatives", "false_positives"))
    return {"queries": len(status), **{name: int(which.sum()) for name, which in rows.items()}, **unknown,
            "iterations_mean": float(iterations.mean()), "iterations_most": int(iterations.max())}


# ---- the program ----
def parse(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--kind", choices=FOLDERS, help="of a .csv")
    parser.add_argument("--precision", choices=("f32", "f64"), default="f32")
    parser.add_argument("--device", action="append", help="as abut.Context takes it; may be given again")
    parser.add_argument("--method", choices=("certified", "additive"), default="certified")
    parser.add_argument("--iterations", type=int, default=0, help="of each stage of a query, at most (32)")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("-o", "--output", metavar="OUT.npz")
    options = parser.parse_args(words)
    if not options.file.endswith((".csv", ".npz")):
        parser.error(f"{options.file}: queries end with .csv or .npz")
    if options.kind and not options.file.endswith(".csv"):
        parser.error("--kind is of a .csv; an .npz has the kind of each query")
    if options.output and (not options.output.endswith(".npz") or os.path.realpath(options.output) == os.path.realpath(options.file)):
        parser.error(f"-o {options.output}: answers end with .npz, and are not written over the queries")
    return options


def run(options):
    q = read(options.file, options.kind, options.precision)
    settings = {"method": options.method, "iterations": options.iterations, "context": abut.Context(options.device, options.precision)}
    found = answer(q, **settings)
    mean, median = time_queries(q, **settings)
    if options.output:
        np.savez(options.output, **found)
    devices = " + ".join(report.device.name for report in settings["context"].devices)
    said = {"file": options.file, "method": options.method, "precision": options.precision, "device": devices, **counts(q, found),
            "microseconds_median": 1e6 * median, "microseconds_mean": 1e6 * mean}
    if said["false_negatives"]:
        print(f"ccd_queries.py: warning: {options.file}: {said['false_negatives']} queries are answered free that the file calls hits: "
              "one of the two is wrong", file=sys.stderr)
    lines = (f"{name:20} {'unknown' if v is None else format(v, '.4g') if isinstance(v, float) else v}" for name, v in said.items())
    print(json.dumps(said, indent=1) if options.json else "\n".join(lines))


def main(words=None):
    options = parse(words)
    try:
        run(options)
    except (abut.Error, OSError, ValueError) as error:
        print(f"ccd_queries.py: {error}", file=sys.stderr)
        return 2 if isinstance(error, ValueError) else 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
