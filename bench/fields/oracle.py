"""Exact signed distance to a mesh, by libigl; shares no code with abut.

Distances are exact, to the nearest triangle. A point is inside where the generalized winding number
is above a half: that of libigl's tree, and near a half the sum over all triangles. Meshes with holes
have no answer near their borders: `decided` says which points have one.
"""
import pathlib

import igl
import numpy as np
import scipy.spatial
import trimesh

SHARP = 30.0   # dihedral angle from which an edge is sharp [degrees]
NEAR_HALF = 0.1
WELD = 1e-6
BORDER = 0.01  # how near to an open border nothing is judged, as a share of the diagonal


def read(path):
    """A mesh's triangles as the file has them, vertices welded."""
    mesh = trimesh.load(path, force="mesh", process=False)
    return welded(mesh.vertices, mesh.faces)


def welded(vertices, faces):
    """One vertex for all of a place, to a millionth of the diagonal; faces of less than three go."""
    vertices = np.asarray(vertices, float)
    used = vertices[np.unique(faces)]
    step = WELD * np.linalg.norm(np.ptp(used, axis=0)) or 1.0
    _, first, place = np.unique(np.round((vertices - used.min(0)) / step), axis=0,
                                return_index=True, return_inverse=True)
    points = vertices[first]
    faces = place.reshape(-1)[np.asarray(faces, np.int64)]
    good = ((faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0]))
    return points, faces[good]


class Oracle:
    """Signed distances to a mesh of welded vertices."""

    def __init__(self, vertices, faces):
        self.vertices = np.ascontiguousarray(vertices, float)
        self.faces = np.ascontiguousarray(faces, np.int64)
        self.lower, self.upper = self.vertices.min(0), self.vertices.max(0)
        self.sides = self.upper - self.lower
        self.diagonal = float(np.linalg.norm(self.sides))
        self.middle = (self.lower + self.upper) / 2
        # igl's trees have absolute tolerances: all is asked at a size of one.
        self.unit = (self.vertices - self.middle) / self.diagonal
        self.tree = igl.AABB()
        self.tree.init(self.unit, self.faces)
        volume = np.einsum("ij,ij->", np.cross(self.unit[self.faces[:, 0]],
                                               self.unit[self.faces[:, 1]]),
                           self.unit[self.faces[:, 2]]) / 6
        self.turned = volume < 0
        self.edges, self.sides_of_edges = edges_of(self.faces)
        self.borders = self.edges[self.sides_of_edges == 1]
        self.sharp = self.sharp_edges()

    def scaled(self, points):
        return np.ascontiguousarray((points - self.middle) / self.diagonal)

    def distance(self, points):
        """Signed distance [m] at points (N, 3)."""
        q = self.scaled(points)
        squared = self.tree.squared_distance(self.unit, self.faces, q)
        squared = squared[0] if isinstance(squared, tuple) else squared
        return np.sqrt(squared) * self.diagonal * np.where(self.inside(points), -1.0, 1.0)

    def inside(self, points):
        out = np.zeros(len(points), bool)
        box = np.all((points >= self.lower) & (points <= self.upper), axis=1)
        if box.any():
            q = self.scaled(points[box])
            number = igl.fast_winding_number(self.unit, self.faces, q)
            number = -number if self.turned else number
            close = np.abs(number - 0.5) < NEAR_HALF
            if close.any():
                exact = igl.winding_number(self.unit, self.faces, np.ascontiguousarray(q[close]))
                number[close] = -exact if self.turned else exact
            out[box] = number > 0.5
        return out

    def decided(self, points):
        """Whether points are far enough from open borders to be judged."""
        return self.far_from(self.borders, points, BORDER * self.diagonal)

    def far_from(self, edges, points, length):
        """Whether points are farther than `length` from edges, to a sixteenth of it."""
        if not len(edges):
            return np.ones(len(points), bool)
        a, b = self.vertices[edges[:, 0]], self.vertices[edges[:, 1]]
        counts = np.ceil(np.linalg.norm(b - a, axis=1) / (length / 4)).astype(int) + 1
        which = np.repeat(np.arange(len(edges)), counts)
        t = (np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts))
        t = (t / np.maximum(counts[which] - 1, 1))[:, None]
        tree = scipy.spatial.cKDTree(a[which] * (1 - t) + b[which] * t)
        return tree.query(points, workers=-1)[0] > length

    def sharp_edges(self):
        """Edges of two faces whose normals differ by more than SHARP."""
        normals = np.cross(self.unit[self.faces[:, 1]] - self.unit[self.faces[:, 0]],
                           self.unit[self.faces[:, 2]] - self.unit[self.faces[:, 0]])
        lengths = np.linalg.norm(normals, axis=1)
        normals /= np.maximum(lengths, 1e-300)[:, None]
        order, first = face_of_edges(self.faces)
        two = self.sides_of_edges == 2
        left, right = order[first[two]], order[first[two] + 1]
        angle = np.degrees(np.arccos(np.clip((normals[left] * normals[right]).sum(1), -1, 1)))
        real = np.minimum(lengths[left], lengths[right]) > 1e-12
        return self.edges[two][(angle > SHARP) & real]

    def surface(self, count, rng):
        """Points spread evenly over the mesh."""
        corners = self.vertices[self.faces]
        area = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0],
                                       corners[:, 2] - corners[:, 0]), axis=1)
        which = rng.choice(len(area), count, p=area / area.sum())
        u, v = rng.random((2, count, 1))
        u, v = np.where(u + v > 1, 1 - u, u), np.where(u + v > 1, 1 - v, v)
        a, b, c = (corners[which, k] for k in range(3))
        return a + u * (b - a) + v * (c - a)


def edges_of(faces):
    """Unique edges and of how many faces each is."""
    pairs = np.sort(faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    return np.unique(pairs, axis=0, return_counts=True)


def face_of_edges(faces):
    """Faces sorted by edge, and the first place of each unique edge among them."""
    pairs = np.sort(faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    order = np.lexsort((pairs[:, 1], pairs[:, 0]))
    changes = np.any(np.diff(pairs[order], axis=0) != 0, axis=1)
    return order // 3, np.concatenate([[0], np.flatnonzero(changes) + 1])


def name_of(path):
    return pathlib.Path(path).stem


def self_check(shapes, count=4000):
    """Largest errors of the oracle against the formulas, as shares of the diagonal."""
    out = {}
    for shape in shapes:
        if shape.formula is None:
            continue
        rng, it = np.random.default_rng(1), Oracle(*welded(shape.truth.vertices, shape.truth.faces))
        points = it.middle + (rng.random((count, 3)) - 0.5) * 2 * it.sides
        off = np.abs(it.distance(points) - shape.formula(points))
        out[shape.name] = (float(off.max() / it.diagonal), float(shape.bent / it.diagonal))
    return out
