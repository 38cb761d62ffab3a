"""Whether the errors that a field's report names are those that are there.

    python reported.py [--points 100000] MESH...     with abut, numpy, scipy and trimesh importable

A body is made of each mesh, and of a cone, a pencil and discs that are made here. On its triangles
points are drawn at random, by area and again as many by triangle, so that small faces count: the
field would be 0 there. The largest |field| away from sharp edges is held against `face_most`, that
within a coarse cell of them against `edge_most`: the report must name at least half of it. The
report's own points take no part. Points that lie within another shell, by the winding number summed
over all triangles, are no part of the surface. Ends with 1 where a report says too little.
"""
import argparse
import pathlib
import sys
import warnings

import numpy as np
import scipy.spatial
import trimesh

import abut

SHARP = np.cos(np.radians(30.0))
ENOUGH = 0.5     # of what is found, that must be reported
NEGLIGIBLE = 1e-5  # of the diagonal: what is smaller is not compared
MARGIN = 0.1     # of a cell: so near to where the classes part a point may be of either


def revolved(profile, sections):
    """The closed surface of a profile (radius, z) that begins and ends on the axis."""
    angle, rings = 2 * np.pi * np.arange(sections) / sections, len(profile) - 2
    points = [[0, 0, profile[0][1]]]
    points += [[r * np.cos(a), r * np.sin(a), z] for r, z in profile[1:-1] for a in angle]
    points += [[0, 0, profile[-1][1]]]
    faces = []
    for i in range(sections):
        j, last = (i + 1) % sections, 1 + (rings - 1) * sections
        faces += [[0, 1 + j, 1 + i], [last + i, last + j, len(points) - 1]]
        for k in range(rings - 1):
            a, b = 1 + k * sections, 1 + (k + 1) * sections
            faces += [[a + i, b + j, b + i], [a + i, a + j, b + j]]
    return np.array(points, float), np.array(faces)


def own_meshes():
    cone = [(0, 0), (0.02, 0.3), (0, 0.3)]
    for n in (16, 32, 64, 128):
        yield f"cone of {n}", *revolved(cone, n)
    yield "pencil of 32", *revolved([(0, 0), (0.004, 0.02), (0.004, 0.18), (0, 0.18)], 32)
    for n in (360, 720, 1500):
        yield f"disc of {n}", *revolved([(0, 0), (0.1, 0), (0.1, 0.002), (0, 0.002)], n)


def read(path):
    """Its triangles, whatever they are painted with."""
    loaded = trimesh.load(path, process=False, skip_materials=True)
    meshes = list(loaded.geometry.values()) if isinstance(loaded, trimesh.Scene) else [loaded]
    first = np.cumsum([0, *(len(m.vertices) for m in meshes)])
    return (path.name, np.concatenate([m.vertices for m in meshes]).astype(float),
            np.concatenate([np.asarray(m.faces) + n for m, n in zip(meshes, first)]))


def drawn(points, faces, count, rng):
    """Points of triangles and the triangle of each: by area, and by number."""
    corners = points[faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    area = np.linalg.norm(normals, axis=1)
    real = np.flatnonzero(area > 0)
    which = np.concatenate([rng.choice(len(area), count, p=area / area.sum()),
                            rng.choice(real, count)])
    u, v = rng.random((2, len(which), 1))
    u, v = np.where(u + v > 1, 1 - u, u), np.where(u + v > 1, 1 - v, v)
    a, b, c = (corners[which, k] for k in range(3))
    return a + u * (b - a) + v * (c - a), normals[which] / area[which][:, None]


def sharp_points(points, faces, step):
    """Points on sharp edges, at most `step` apart; those of other than two triangles are."""
    diagonal = np.linalg.norm(np.ptp(points, axis=0))
    _, same = np.unique(np.round(points / (1e-7 * diagonal)), axis=0, return_inverse=True)
    corners = points[faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    area = np.linalg.norm(normals, axis=1)
    normals /= np.maximum(area, 1e-300)[:, None]
    ends = faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    keys = np.sort(same.reshape(-1)[ends], axis=1)
    order = np.lexsort((keys[:, 1], keys[:, 0]))
    first = np.flatnonzero(np.r_[True, np.any(np.diff(keys[order], axis=0) != 0, axis=1)])
    counts = np.diff(np.r_[first, len(order)])
    two = first[counts == 2]
    left, right = order[two] // 3, order[two + 1] // 3
    lean = (normals[left] * normals[right]).sum(1) < SHARP
    edges = ends[np.r_[order[two][lean], order[first[counts != 2]]]]
    if not len(edges):
        return np.empty((0, 3))
    a, b = points[edges[:, 0]], points[edges[:, 1]]
    parts = np.ceil(np.linalg.norm(b - a, axis=1) / step).astype(int) + 1
    which = np.repeat(np.arange(len(edges)), parts)
    t = np.arange(parts.sum()) - np.repeat(np.cumsum(parts) - parts, parts)
    t = (t / np.maximum(parts[which] - 1, 1))[:, None]
    return a[which] * (1 - t) + b[which] * t


def winding(points, faces, at):
    """How often triangles wind around one point."""
    a, b, c = (points[faces[:, k]] - at for k in range(3))
    la, lb, lc = (np.linalg.norm(x, axis=1) for x in (a, b, c))
    over = (a * np.cross(b, c)).sum(1)
    under = la * lb * lc + (a * b).sum(1) * lc + (b * c).sum(1) * la + (c * a).sum(1) * lb
    return np.arctan2(over, under).sum() / (2 * np.pi)


def worst(points, faces, diagonal, at, normals, off):
    """The largest |field| at points that bound the solid."""
    turned = np.einsum("ij,ij->", points[faces[:, 0]],
                       np.cross(points[faces[:, 1]], points[faces[:, 2]])) < 0
    for i in np.argsort(-off)[:3000]:
        before, behind = (winding(points, faces, at[i] + s * 1e-5 * diagonal * normals[i])
                          for s in (1, -1))
        if turned:
            before, behind = -before, -behind
        if (before > 0.5) != (behind > 0.5):
            return float(off[i])
    return 0.0


def judge(name, points, faces, count):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        body = abut.Context(precision="f64").body(points, faces)
    report, diagonal = body.report, body.report["diagonal"]
    at, normals = drawn(points, faces, count, np.random.default_rng(5))
    off = np.abs(body.evaluate(at)[0])
    cell = report["spacing"]
    edges = sharp_points(points, faces, cell / 4)
    far = scipy.spatial.cKDTree(edges).query(at)[0] if len(edges) else np.full(len(at), np.inf)
    good, row = True, []
    for key, which in (("face_most", far > (1 + MARGIN) * cell),
                       ("edge_most", far < (1 - MARGIN) * cell)):
        found = worst(points, faces, diagonal, at[which], normals[which], off[which]) / diagonal
        says = report[key]
        enough = says >= ENOUGH * found or found < NEGLIGIBLE
        good = good and enough
        row.append(f"{key} {100 * says:.4f} % of {100 * found:.4f} % found"
                   f"{'' if enough else ' TOO LITTLE'}")
    print(f"{name}: {'; '.join(row)}", flush=True)
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=100000)
    parser.add_argument("meshes", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    meshes = [*own_meshes(), *map(read, options.meshes)]
    bad = [mesh[0] for mesh in meshes if not judge(*mesh, options.points)]
    print(f"too little is reported of {', '.join(bad)}" if bad else
          f"reports of {len(meshes)} meshes name at least {ENOUGH:g} of what is found")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
