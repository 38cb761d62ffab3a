"""Bodies of every family and shapes of every kind, by random numbers: of the randomised battery of derivatives."""
import numpy as np

import abut

FAMILIES = ("superquadrics", "polyhedra", "clouds", "grids", "shells", "heights", "cores")
SHAPES = ("hull", "sphere", "box", "ellipsoid", "capsule", "cylinder", "cone", "superquadric", "rounded")
CUBE = np.array([[x, y, z] for z in (-1.0, 1.0) for y in (-1.0, 1.0) for x in (-1.0, 1.0)])
SIDES = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]]


def quaternions(rng, *shape):
    x = rng.normal(size=(*shape, 4))
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def turned(rng, points):
    """Points turned at random."""
    q, r = np.linalg.qr(rng.normal(size=(3, 3)))
    q = q * np.sign(np.diag(r))
    q[:, 0] *= np.linalg.det(q)
    return points @ q


def ball():
    """Vertices and faces of an octahedron whose faces are cut into four: 18 and 32."""
    v = [np.array(x, float) for x in ((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1))]
    faces, middles = [], {}

    def middle(a, b):
        key = min(a, b), max(a, b)
        if key not in middles:
            middles[key] = len(v)
            v.append((v[a] + v[b]) / np.linalg.norm(v[a] + v[b]))
        return middles[key]
    for a, b, c in ((0, 2, 4), (2, 1, 4), (1, 3, 4), (3, 0, 4), (2, 0, 5), (1, 2, 5), (3, 1, 5), (0, 3, 5)):
        x, y, z = middle(a, b), middle(b, c), middle(c, a)
        faces += [(a, x, z), (x, b, y), (z, y, c), (x, y, z)]
    return np.array(v), faces


def around(context, rng, **numbers):
    """A body of these numbers, whose mesh is a turned ball laid on the field."""
    v, faces = ball()
    v = turned(rng, v)
    bare = context.body(v, faces, **numbers)
    inner, outer = np.zeros(len(v)), np.ones(len(v))
    for _ in range(40):
        middle = 0.5 * (inner + outer)
        out = bare.evaluate(v * middle[:, None])[0] > 0
        inner, outer = np.where(out, inner, middle), np.where(out, middle, outer)
    return context.body(v * inner[:, None], faces, **numbers)


def superquadrics(context, rng):
    """A union of one to three, of which something may be taken away."""
    count, less = rng.integers(1, 4), rng.integers(0, 2)
    position = rng.uniform(-0.04, 0.04, size=(count + less, 3))
    axes = rng.uniform(0.05, 0.12, size=(count + less, 3))
    if less:
        axes[-1] *= 0.4
        position[-1] = 0.1 * quaternions(rng)[:3]
    return around(context, rng, axes=axes, exponents=rng.uniform(0.3, 1.6, size=(count + less, 2)), position=position,
                  rotation=quaternions(rng, count + less), operation=["add"] * count + ["subtract"] * less)


def polyhedra(context, rng):
    """Planes all around, which close."""
    v, _ = ball()
    normals = v + 0.15 * rng.normal(size=v.shape)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    return around(context, rng, plane_normals=normals, plane_points=normals * rng.uniform(0.07, 0.1, size=(len(v), 1)))


def clouds(context, rng):
    normals = rng.normal(size=(40, 3))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    return around(context, rng, cloud_points=normals * rng.uniform(0.08, 0.1), cloud_normals=normals,
                  cloud_widths=rng.uniform(0.025, 0.035, size=40))


def grids(context, rng):
    """The field of a mesh."""
    v, faces = ball()
    return context.body(turned(rng, v * rng.uniform(0.05, 0.1, size=3) + 0.004 * rng.normal(size=v.shape)), faces, cells=14,
                        vertices_kept=30, tolerance=0.02)


def shells(context, rng):
    """The field of a thin plate."""
    half = rng.uniform(0.06, 0.1, size=3)
    half[rng.integers(3)] = rng.uniform(0.003, 0.006)
    return context.body(turned(rng, CUBE * half), SIDES, cells=16, vertices_kept=30, tolerance=0.005)


def heights(context, rng):
    return context.height_field(0.02 * rng.normal(size=(5, 6)), size=(0.25, 0.2), base=0.2)


def cores(context, rng):
    """Rounded boxes and discs; some state features: a ball, a capsule, and the rim of a wheel."""
    kind = rng.integers(3)
    if kind == 0:
        return around(context, rng, core_half=rng.uniform(0.02, 0.08, size=(1, 3)), core_radius=rng.uniform(0.004, 0.02, size=1),
                      core_rotation=quaternions(rng, 1))
    if kind == 1:
        return around(context, rng, core_half=rng.uniform(0.03, 0.08, size=(2, 3)), core_radius=rng.uniform(0.004, 0.02, size=2),
                      core_position=rng.uniform(-0.02, 0.02, size=(2, 3)), core_rotation=quaternions(rng, 2), core_kind=["box", "disc"])
    reach, round_ = rng.uniform(0.03, 0.08), rng.uniform(0.02, 0.04)
    v, faces = ball()
    return context.body(v * round_ + [0, 0, reach] * np.sign(v[:, 2:]), faces, core_half=[[0, 0, reach]], core_radius=[round_],
                        feature_vertices=[[0, 0, -reach, round_], [0, 0, reach, round_]], feature_edges=[[0, 1, round_]])


def make(context, rng, family):
    return globals()[family](context, rng)


def shape(context, rng, kind):
    """A convex shape, in a frame of its own. Superquadrics have exponents up to 1: beyond it curvatures have no bound along their planes,
    and the normal's derivatives are not known to 1e-5 beside these."""
    placed = {"position": rng.uniform(-0.1, 0.1, size=3), "quaternion": quaternions(rng), "context": context}
    sizes = rng.uniform(0.2, 0.6, size=3)
    return {"hull": lambda: abut.Shape("hull", rng.normal(size=(20, 3)) * sizes, **placed),
            "rounded": lambda: abut.Shape("hull", rng.normal(size=(6, 3)) * sizes, radius=rng.uniform(0.05, 0.2), **placed),
            "sphere": lambda: abut.Shape("sphere", sizes[0], **placed),
            "box": lambda: abut.Shape("box", sizes, **placed),
            "ellipsoid": lambda: abut.Shape("ellipsoid", sizes, **placed),
            "capsule": lambda: abut.Shape("capsule", sizes[:2], **placed),
            "cylinder": lambda: abut.Shape("cylinder", sizes[:2], **placed),
            "cone": lambda: abut.Shape("cone", sizes[:2], **placed),
            "superquadric": lambda: abut.Shape("superquadric", sizes, rng.uniform(0.6, 1, size=2), **placed)}[kind]()
