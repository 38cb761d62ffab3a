"""Draws convex hulls, balls and meshes as they would be seen from afar: what contact_pose.py, contact_grasp.py and lay.py make their
pictures with.

A point of a pixel's ray is in a hull where it is behind the planes of all faces; so the ray enters the hull at the last plane that it
comes through from before, if that is before the first one that it leaves by. Rays are parallel. Needs SciPy for the hulls' planes.
"""
import numpy as np

LIGHT = np.array([-0.35, 0.45, 0.82])  # [-] right, up, towards the eye
EDGE = 0.9  # cosine of the angle at which two faces' common edge is drawn


def planes_of(vertices):
    """Outer normals (F, 3) and offsets (F) of a hull."""
    from scipy.spatial import ConvexHull
    found = ConvexHull(vertices).equations
    return found[:, :3], -found[:, 3]


class View:
    """An eye in a direction [degrees] around the z axis and above the plane, that sees so many metres around a point."""

    def __init__(self, azimuth, elevation, centre, size, pixels=(420, 420)):
        a, e = np.radians([azimuth, elevation])
        back = np.array([np.cos(a) * np.cos(e), np.sin(a) * np.cos(e), np.sin(e)])
        right = np.array([-np.sin(a), np.cos(a), 0])
        self.axes, self.centre = np.array([right, np.cross(back, right), back]), np.asarray(centre, float)
        self.width, self.height = pixels
        self.scale = size / max(pixels)  # [m] of a pixel
        x = (np.arange(self.width) - (self.width - 1) / 2) * self.scale
        y = ((self.height - 1) / 2 - np.arange(self.height)) * self.scale
        self.rays = np.stack(np.meshgrid(x, y), -1).reshape(-1, 2)
        self.depth = np.full(len(self.rays), -np.inf)  # towards the eye
        self.normal, self.colour = np.zeros((len(self.rays), 3)), np.ones((len(self.rays), 3))
        self.solid, self.solids = np.full(len(self.rays), -1), 0

    def seen(self, points):
        """Points (..., 3) of the world as right, up, towards the eye."""
        return (np.asarray(points) - self.centre) @ self.axes.T

    def pixels(self, points):
        """Where points are in the picture, and how near the eye."""
        p = self.seen(points)
        return p[..., 0] / self.scale + (self.width - 1) / 2, (self.height - 1) / 2 - p[..., 1] / self.scale, p[..., 2]

    def _put(self, hit, depth, normal, colour):
        nearer = hit & (depth > self.depth)
        self.depth[nearer], self.normal[nearer] = depth[nearer], normal[nearer]
        self.colour[nearer], self.solid[nearer] = colour, self.solids
        self.solids += 1

    def hull(self, vertices, colour):
        """A hull of vertices (V, 3) in the world."""
        n, offset = planes_of(self.seen(vertices))
        left = offset - self.rays @ n[:, :2].T  # a ray is behind a plane where n_z depth <= left
        with np.errstate(divide="ignore", invalid="ignore"):
            at = left / n[:, 2]
        enters, leaves = n[:, 2] > 1e-9, n[:, 2] < -1e-9
        front, face = at[:, enters].min(1), np.flatnonzero(enters)[at[:, enters].argmin(1)]
        hit = (front > at[:, leaves].max(1)) & (left[:, ~enters & ~leaves] >= 0).all(1)
        self._put(hit, front, n[face], colour)

    def ball(self, centre, radius, colour):
        across = self.rays - self.seen(centre)[:2]
        high = np.sqrt(np.maximum(radius ** 2 - np.sum(across ** 2, 1), 0))
        normal = np.concatenate([across, high[:, None]], 1) / radius
        self._put(high > 0, self.seen(centre)[2] + high, normal, colour)

    def mesh(self, vertices, triangles, colour):
        """A closed mesh of vertices (V, 3) and triangles (F, 3), whose normals are blended between vertices."""
        a, b, c = (self.seen(vertices[triangles[:, k]]) for k in range(3))
        flat, blended = np.cross(b - a, c - a), np.zeros((len(vertices), 3))
        np.add.at(blended, triangles, flat[:, None])
        x, y, z = self.pixels(vertices)
        for corners in triangles[flat[:, 2] > 0]:
            self._triangle(x[corners], y[corners], z[corners], blended[corners], colour)
        self.solids += 1

    def _triangle(self, x, y, z, normals, colour):
        columns, rows = (np.arange(max(int(np.ceil(u.min())), 0), min(int(u.max()), most - 1) + 1)
                         for u, most in ((x, self.width), (y, self.height)))
        column, row = (u.ravel() for u in np.meshgrid(columns, rows))
        area = (x[1] - x[0]) * (y[2] - y[0]) - (x[2] - x[0]) * (y[1] - y[0])
        share = np.stack([(x[j] - column) * (y[k] - row) - (x[k] - column) * (y[j] - row) for j, k in ((1, 2), (2, 0), (0, 1))], 1) / area
        at, depth = row * self.width + column, share @ z
        nearer = (share >= 0).all(1) & (depth > self.depth[at])
        normal = share[nearer] @ normals
        self.depth[at[nearer]], self.colour[at[nearer]], self.solid[at[nearer]] = depth[nearer], colour, self.solids
        self.normal[at[nearer]] = normal / np.linalg.norm(normal, axis=1, keepdims=True)

    def shows(self, points, slack):
        """Which points (N, 3) nothing hides by more than `slack` [m]."""
        x, y, z = self.pixels(points)
        column, row = np.clip(np.rint(x), 0, self.width - 1), np.clip(np.rint(y), 0, self.height - 1)
        return z > self.depth[(row * self.width + column).astype(int)] - slack

    def image(self):
        """(height, width, 3): lit from the upper left, with dark edges."""
        shade = 0.45 + 0.55 * np.clip(self.normal @ (LIGHT / np.linalg.norm(LIGHT)), 0, 1)
        there = self.solid >= 0
        made = np.where(there[:, None], self.colour * shade[:, None], 1.0).reshape(self.height, self.width, 3)
        made[self._edges()] *= 0.45
        return made

    def _edges(self):
        solid = self.solid.reshape(self.height, self.width)
        normal = self.normal.reshape(self.height, self.width, 3)
        edge = np.zeros(solid.shape, bool)
        for axis in (0, 1):
            other, beside = np.roll(solid, 1, axis), np.roll(normal, 1, axis)
            bend = (solid >= 0) & (np.sum(normal * beside, -1) < EDGE)
            found = (solid != other) | bend
            (found if axis == 0 else found.T)[0] = False  # what np.roll took from the other end
            edge |= found
        return edge
