"""How far the field of a mesh's body is from the mesh: errors, signs, smoothness, time, bytes.

    python judge.py BUILD MESH...        a row a mesh, as JSON

All lengths are per cent of the mesh's diagonal.
  face    |field| at points of the surface that are not near a sharp edge (oracle.SHARP)
  edge    the same within a cell of one: a 128th of the box's longest side
  wrong   share of points with the wrong sign, of those farther than 1 % from the surface: in the
          box, in a box twice as large, and up to ten diagonals away
  off     error of the distance at those points; far away, as a share of the distance itself
  jumps   of the field [%], its slope and its curvature [1 / diagonal] along straight lines through
          twice the box; `steepest` slope, 1 of an exact distance; `bend`, the most curvature seen
"""
import json
import pathlib
import sys

import numpy as np

import library
import loading
import oracle

CELLS = 128
CLEAR = 0.01  # of the diagonal: farther points must have the right sign
FARTHEST = 10.0
LINES, STEPS, ZOOMS, TEN = 48, 600, 4, 10


def spread(errors, unit):
    if not len(errors):
        return None
    median, most = np.percentile(errors, [50, 95]) * unit
    return {"median": float(median), "95": float(most), "most": float(errors.max() * unit)}


def at_surface(body, it, count, rng):
    points = it.surface(count, rng)
    points = points[it.decided(points)]
    away = it.far_from(it.sharp, points, it.sides.max() / CELLS)
    off = np.abs(body.distance(points))
    return {"face": spread(off[away], 100 / it.diagonal),
            "edge": spread(off[~away], 100 / it.diagonal),
            "lost": float((~np.isfinite(off)).sum())}


def around(it, count, rng):
    """Points by where they lie."""
    directions = rng.normal(size=(count, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    far = it.diagonal * np.exp(rng.uniform(0, np.log(FARTHEST), (count, 1)))
    box = rng.random((count, 3)) - 0.5
    return {"box": it.middle + box * it.sides, "twice": it.middle + 2 * box * it.sides,
            "far": it.middle + far * directions}


def signs(body, it, count, rng):
    out = {}
    for place, points in around(it, count, rng).items():
        true = it.distance(points)
        judged = (np.abs(true) > CLEAR * it.diagonal) & it.decided(points)
        if not judged.any():
            out[place] = {"points": 0, "wrong": None, "false inside": None, "off": None}
            continue
        found, true = body.distance(points[judged]), true[judged]
        off = np.abs(found - true)
        unit = 100 / it.diagonal
        out[place] = {"points": int(judged.sum()),
                      "wrong": float(100 * ((found < 0) != (true < 0)).mean()),
                      "false inside": float(100 * ((found < 0) & (true > 0)).mean()),
                      "off": spread(off / np.abs(true), 100) if place == "far"
                      else spread(off, unit)}
    return out


# ---- smoothness ----

def along(body, starts, directions, begin, step, count):
    """The field at begin + step * 0 .. count - 1 on lines; (lines, count)."""
    t = begin[:, None] + step * np.arange(count)
    points = starts[:, None] + t[:, :, None] * directions[:, None]
    return body.distance(points.reshape(-1, 3)).reshape(len(starts), count)


def largest(values, order):
    """Of each row the largest difference of an order, and where it begins."""
    d = np.abs(np.diff(values, order, axis=1))
    where = d.argmax(1)
    return d[np.arange(len(d)), where], where


def left(coarse, fine):
    """What stays as steps go to 0, of what is `coarse` at ten times the step at which it is `fine`.

    What is smooth falls to a tenth at least, and leaves 0.
    """
    return float(np.maximum((TEN * fine - coarse) / (TEN - 1), 0).max())


def jumps(body, it, lines, rng):
    """Jumps of the field, its slope and its curvature on lines, and what is steepest and most bent.

    Where a difference of order 2 or 3 is largest, ten times finer steps follow, ZOOMS times. A field
    that is twice continuously differentiable leaves nothing: neither of order 2 (a jump of the
    field), nor of order 2 over the step (of its slope), nor of order 3 over its square (of its
    curvature). A change much narrower than the last steps cannot be told from a jump.
    """
    ends = [it.middle + 2 * (rng.random((lines, 3)) - 0.5) * it.sides for _ in range(2)]
    length = np.linalg.norm(ends[1] - ends[0], axis=1)
    starts, directions = ends[0], (ends[1] - ends[0]) / length[:, None]
    step = 2 * it.diagonal / STEPS
    first = along(body, starts, directions, np.zeros(lines), step, STEPS)
    out = {"steepest": float(np.abs(np.diff(first, axis=1)).max() / step)}
    for order, zooms in ((2, ZOOMS), (3, ZOOMS - 1)):
        begin, fine = largest(first, order)[1] * step, step
        steps, found = [], []
        for _ in range(zooms):
            fine /= TEN
            values = along(body, starts, directions, begin, fine, order * TEN + 1)
            most, where = largest(values, order)
            begin = begin + where * fine
            steps.append(fine)
            found.append(most)
        unit = 1 / it.diagonal
        if order == 2:
            out["value"] = 100 * unit * left(*found[-2:])
            out["slope"] = left(found[-2] / steps[-2], found[-1] / steps[-1])
        else:
            out["curvature"] = left(found[-2] / steps[-2] ** 2, found[-1] / steps[-1] ** 2) / unit
            out["bend"] = float(np.abs(np.diff(values, 2, axis=1)).max() / fine ** 2 / unit)
    return out


# ---- a mesh ----

def make(context, path, truth, maker):
    """A body of a file: as abut loads it, or the point cloud that it made before."""
    return context.load(path) if maker == "file" else context.cloud(*oracle.read(path))


def judge(build, path, truth=None, count=20000, maker="file", timed=True):
    """All of a mesh's figures. `truth`: an Oracle of a clean mesh of the same body, if it has one."""
    it = truth or oracle.Oracle(*oracle.read(path))
    lib = library.Library(build)
    single, double = lib.context(), lib.context(double=True)
    rng = np.random.default_rng(11)
    try:
        body = make(single, path, it, maker)
        info = body.info
        out = {"kind": body.kind(), "bytes": body.bytes, "vertices": info.vertices,
               "edges": info.edges, "points": info.points, "blocks": info.blocks,
               "suspicions": info.suspicions}
        count = affordable(count, info.points)
        out |= at_surface(body, it, count, rng) | {"signs": signs(body, it, count, rng)}
        lines = max(4, min(LINES, affordable(LINES * STEPS, 3 * info.points) // STEPS))
        out["jumps"] = jumps(make(double, path, it, maker), it, lines, rng)
    except library.Error as refusal:
        return {"refused": str(refusal).replace(f"{pathlib.Path(path).parent}/", "")}
    finally:
        single.close()
        double.close()
    if timed and maker == "file":
        out["seconds"] = loading.times(build, path)
    return out


def affordable(count, points):
    """Fewer samples where each asks every point of a large cloud."""
    return int(min(count, max(1000, 2e10 // max(points, 1))))


if __name__ == "__main__":
    for name in sys.argv[2:]:
        print(pathlib.Path(name).name, json.dumps(judge(sys.argv[1], name, count=5000), indent=1))
