"""Shapes of our own as mesh files, with what is known of them: python shapes.py FOLDER

A shape has the mesh that is written, which may be damaged, and the `truth`: a clean closed mesh of
the same body, from which distances and signs are taken. Where the body has a formula, `formula` is
its exact signed distance, by which `check` tries the judge's own oracle.
"""
import dataclasses
import pathlib
import struct
import sys

import numpy as np
import trimesh

SEED = 7


@dataclasses.dataclass
class Shape:
    name: str
    what: str
    written: trimesh.Trimesh
    truth: trimesh.Trimesh
    formula: object = None  # points (N, 3) to signed distances (N)
    bent: float = 0.0       # how far the truth's facets lie off the formula, at most
    ending: str = "obj"


def plain(vertices, faces):
    """A mesh as given: nothing welded, nothing dropped."""
    return trimesh.Trimesh(np.asarray(vertices, float), np.asarray(faces, np.int64), process=False)


def joined(*meshes):
    """Shells one beside the other, whatever they overlap."""
    first = np.cumsum([0, *[len(m.vertices) for m in meshes[:-1]]])
    return plain(np.concatenate([m.vertices for m in meshes]),
                 np.concatenate([m.faces + n for m, n in zip(meshes, first)]))


def union(*meshes):
    return trimesh.boolean.union(meshes, engine="manifold")


def difference(*meshes):
    return trimesh.boolean.difference(meshes, engine="manifold")


def moved(mesh, *offset):
    return plain(mesh.vertices + np.array(offset), mesh.faces)


def scaled(mesh, factor):
    return plain(mesh.vertices * factor, mesh.faces)


def box(*sides):
    return trimesh.creation.box(sides)


def box_distance(*sides):
    half = np.array(sides) / 2

    def distance(points):
        q = np.abs(points) - half
        return np.linalg.norm(np.maximum(q, 0), axis=1) + np.minimum(q.max(1), 0)
    return distance


# ---- the shapes ----

def hand_link():
    """A palm with a hole, two fingers and a knuckle, as exporters of robots write them: shells."""
    palm = difference(box(0.08, 0.05, 0.03),
                      trimesh.creation.cylinder(0.012, 0.1, sections=48))
    finger = trimesh.creation.capsule(0.06, 0.011, count=(24, 24))
    fingers = [turned(finger, [0, 1, 0], 90, (0.03, side * 0.018, 0.0)) for side in (-1, 1)]
    knuckle = turned(trimesh.creation.cylinder(0.016, 0.056, sections=48), [1, 0, 0], 90,
                     (-0.04, 0, 0))
    parts = [palm, *fingers, knuckle]
    return Shape("hand link", "palm with a hole, fork of two fingers, knuckle: shells that overlap",
                 joined(*parts), union(*parts))


def turned(mesh, axis, degrees, offset):
    matrix = trimesh.transformations.rotation_matrix(np.radians(degrees), axis)
    return plain(mesh.vertices @ matrix[:3, :3].T + np.array(offset), mesh.faces)


def sheet():
    sides = (0.3, 0.2, 0.002 * np.hypot(0.3, 0.2))
    return Shape("sheet", "a plate 0.2 % of its diagonal thick, 12 triangles", box(*sides),
                 box(*sides), box_distance(*sides))


def ring():
    big, small, around, across = 0.2, 0.06, 96, 48
    mesh = trimesh.creation.torus(big, small, major_sections=around, minor_sections=across)

    def distance(points):
        flat = np.hypot(points[:, 0], points[:, 1]) - big
        return np.hypot(flat, points[:, 2]) - small
    bent = (big + small) * (1 - np.cos(np.pi / around)) + small * (1 - np.cos(np.pi / across))
    return Shape("ring", "a torus of 96 x 48 vertices", mesh, mesh, distance, bent)


def gear(teeth=24, outer=0.05, root=0.042, bore=0.012, thick=0.015):
    """Flat teeth and a bore: its caps are long thin triangles, as CAD programs make them."""
    import manifold3d
    pitch, shares = 2 * np.pi / teeth, ((0.0, root), (0.3, root), (0.42, outer), (0.68, outer),
                                        (0.8, root))
    angles = [(pitch * (k + share), r) for k in range(teeth) for share, r in shares]
    outline = np.array([[r * np.cos(a), r * np.sin(a)] for a, r in angles])
    circle = np.linspace(0, 2 * np.pi, 64, endpoint=False)
    hole = bore * np.stack([np.cos(circle), np.sin(circle)], 1)
    section = manifold3d.CrossSection([outline]) - manifold3d.CrossSection([hole])
    made = manifold3d.Manifold.extrude(section, thick).to_mesh()
    mesh = plain(made.vert_properties[:, :3], made.tri_verts)
    return Shape("gear", "24 teeth and a bore, long thin triangles, binary STL", mesh, mesh,
                 ending="stl")


def slivers(strips=200):
    """A box whose four long faces are strips from end to end."""
    sides = (1.0, 0.4, 0.3)
    loop = []
    corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * np.array(sides[1:]) / 2
    for a, b in zip(corners, np.roll(corners, -1, axis=0)):
        loop += [a + (b - a) * t for t in np.arange(strips) / strips]
    loop, n = np.array(loop), 4 * strips
    ends = [np.column_stack([np.full(n, x), loop]) for x in (-sides[0] / 2, sides[0] / 2)]
    middles = [[-sides[0] / 2, 0, 0], [sides[0] / 2, 0, 0]]
    i, j = np.arange(n), np.roll(np.arange(n), -1)
    left, right = np.full(n, 2 * n), np.full(n, 2 * n + 1)
    faces = np.concatenate([np.stack([i, i + n, j + n], 1), np.stack([i, j + n, j], 1),
                            np.stack([left, i, j], 1), np.stack([right, j + n, i + n], 1)])
    mesh = outwards(plain(np.concatenate([*ends, middles]), faces))
    return Shape("slivers", "a box whose faces are 200 strips each, 1 : 1,000", mesh, mesh,
                 box_distance(*sides))


def outwards(mesh):
    return mesh if mesh.volume > 0 else plain(mesh.vertices, mesh.faces[:, ::-1])


def cavity():
    outer, inner = (0.4, 0.3, 0.25), (0.2, 0.15, 0.1)
    hollow = box(*inner)
    mesh = joined(box(*outer), plain(hollow.vertices, hollow.faces[:, ::-1]))
    return Shape("cavity", "a box with a closed hollow", mesh, mesh,
                 lambda p: np.maximum(box_distance(*outer)(p), -box_distance(*inner)(p)))


def two_boxes():
    a, b = box(0.4, 0.3, 0.2), turned(box(0.3, 0.2, 0.3), [0.3, 0.2, 1], 35, (0.2, 0.1, 0.05))
    return Shape("two boxes", "two shells that overlap", joined(a, b), union(a, b))


def cube_sphere(n, noise=0.0):
    """A sphere of radius 0.5 of 12 n^2 even triangles, dented by a few waves."""
    t = np.tan(np.linspace(-np.pi / 4, np.pi / 4, n + 1))
    u, v = (a.ravel() for a in np.meshgrid(t, t, indexing="ij"))
    k = np.arange((n + 1) * (n + 1)).reshape(n + 1, n + 1)
    a, b, c, d = (x.ravel() for x in (k[:-1, :-1], k[1:, :-1], k[1:, 1:], k[:-1, 1:]))
    quad = np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)])
    points, faces = [], []
    for axis in range(3):
        for sign in (-1, 1):
            side = np.empty((len(u), 3))
            side[:, axis], side[:, (axis + 1) % 3], side[:, (axis + 2) % 3] = sign, u, v
            faces.append((quad if sign > 0 else quad[:, ::-1]) + sum(map(len, points)))
            points.append(side)
    points = np.concatenate(points)
    points /= np.linalg.norm(points, axis=1)[:, None]
    mesh = trimesh.Trimesh(points, np.concatenate(faces), process=False)
    mesh.merge_vertices(digits_vertex=9)
    p = mesh.vertices
    radius = np.full(len(p), 0.5)
    rng = np.random.default_rng(SEED)
    for frequency in (3, 6, 12, 24):
        for _ in range(4):
            wave = rng.normal(size=3)
            wave *= frequency / np.linalg.norm(wave)
            radius += noise / frequency * np.sin(p @ wave + rng.uniform(0, 2 * np.pi))
    return plain(p * radius[:, None], mesh.faces)


def sphere(n=30):
    return cube_sphere(n), lambda p: np.linalg.norm(p, axis=1) - 0.5, 0.65 * (np.pi / 4 / n) ** 2


def damaged(name, what, change):
    mesh, formula, bent = sphere()
    return Shape(name, what, change(mesh), mesh, formula, bent)


def flipped():
    def change(mesh):
        faces = mesh.faces.copy()
        patch = mesh.triangles_center[:, 0] > 0.3
        faces[patch] = faces[patch][:, ::-1]
        return plain(mesh.vertices, faces)
    return damaged("flipped patch", "a sphere, a fifth of whose faces run the other way", change)


def doubled():
    def change(mesh):
        again = mesh.faces[mesh.triangles_center[:, 1] > 0.25]
        return plain(mesh.vertices, np.concatenate([mesh.faces, again, again[::2, ::-1]]))
    return damaged("doubled faces", "a sphere, a quarter of whose faces are there twice, some of "
                   "them reversed", change)


def holes():
    def change(mesh):
        middles = mesh.triangles_center
        far = [np.linalg.norm(middles - 0.5 * np.array(at), axis=1) > 0.035
               for at in ((1, 0, 0), (0, 0.6, 0.8), (-0.6, -0.8, 0))]
        return plain(mesh.vertices, mesh.faces[np.all(far, axis=0)])
    return damaged("holes", "a sphere with three holes, 4 % of the diagonal wide", change)


def no_area():
    """Needles of no area, of corners that are one, and of corners that lie on a line."""
    mesh = trimesh.creation.box((0.4, 0.3, 0.2)).subdivide().subdivide()
    edges = mesh.edges_unique[:40]
    middles = mesh.vertices[edges].mean(1)
    first = len(mesh.vertices)
    lines = np.column_stack([edges, first + np.arange(len(edges))])
    same = np.repeat(np.arange(20)[:, None], 3, axis=1)
    written = plain(np.concatenate([mesh.vertices, middles]),
                    np.concatenate([mesh.faces, lines, same, lines[:, [0, 0, 1]]]))
    return Shape("no area", "a box with 100 more faces of no area", written,
                 plain(mesh.vertices, mesh.faces), box_distance(0.4, 0.3, 0.2))


def resized(shape, factor, name):
    formula = shape.formula and (lambda p: factor * shape.formula(p / factor))
    return Shape(name, f"{shape.what}, times {factor:g}", scaled(shape.written, factor),
                 scaled(shape.truth, factor), formula, factor * shape.bent, shape.ending)


def noisy(n, name):
    mesh = cube_sphere(n, 0.05)
    return Shape(name, f"a dented sphere of {len(mesh.faces):,} even triangles", mesh, mesh)


def micro():
    mesh, formula, bent = sphere()
    factor = 1e-6 / np.linalg.norm(np.ptp(mesh.vertices, axis=0))
    return resized(Shape("", "a sphere", mesh, mesh, formula, bent), factor, "a micrometre")


def make(large=True):
    """All shapes, in the order in which tables show them."""
    link = hand_link()
    out = [link, sheet(), ring(), gear(), slivers(), cavity(), two_boxes(), flipped(), doubled(),
           holes(), no_area(), resized(link, 1e-3, "hand link / 1000"),
           resized(link, 1e3, "hand link x 1000"), micro(), noisy(58, "dents 40k")]
    return out + [noisy(204, "dents 500k")] if large else out


# ---- files ----

def file_of(folder, name, ending="obj"):
    return pathlib.Path(folder) / f"{name.replace(' ', '_').replace('/', 'by').replace(',', '')}.{ending}"


def write(mesh, path):
    """Writes what the mesh has, to the last digit in .obj, in float in .stl."""
    path = pathlib.Path(path)
    if path.suffix == ".stl":
        corners = mesh.vertices[mesh.faces].astype("<f4").reshape(-1, 9)
        row = np.dtype([("normal", "<f4", 3), ("corners", "<f4", 9), ("attribute", "<u2")])
        rows = np.zeros(len(corners), row)
        rows["corners"] = corners
        path.write_bytes(b"\0" * 80 + struct.pack("<I", len(rows)) + rows.tobytes())
        return path
    with path.open("w", encoding="ascii") as file:
        file.writelines("v %.17g %.17g %.17g\n" % tuple(v) for v in mesh.vertices)
        file.writelines("f %d %d %d\n" % tuple(f) for f in mesh.faces + 1)
    return path


def write_all(folder, large=True):
    """name -> (shape, its file)."""
    return {s.name: (s, write(s.written, file_of(folder, s.name, s.ending))) for s in make(large)}


CUBE = ("v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\n")
CUBE_FACES = "f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n"


def write_odd(folder):
    """Meshes that are no bodies, or hardly so: they are to end in a body or in a refusal."""
    rng = np.random.default_rng(SEED)
    soup = rng.uniform(-1, 1, (300, 1, 3)) + rng.uniform(-0.2, 0.2, (300, 3, 3))
    turn = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    across = np.stack([np.cos(turn / 2) * np.cos(turn), np.cos(turn / 2) * np.sin(turn),
                       np.sin(turn / 2)], 1) * 0.3
    middle = np.stack([np.cos(turn), np.sin(turn), 0 * turn], 1)
    band = np.concatenate([middle - across, middle + across])
    i = np.arange(39)
    strip = np.concatenate([np.stack([i, i + 1, i + 41], 1), np.stack([i, i + 41, i + 40], 1),
                            [[39, 40, 0], [39, 79, 40]]])
    texts = {
        "nothing.obj": "", "points_alone.obj": CUBE, "one_triangle.obj": CUBE + "f 1 2 3\n",
        "flat_square.obj": CUBE + "f 1 2 3 4\n", "open_box.obj": CUBE + CUBE_FACES[:-10],
        "inside_out.obj": CUBE + "".join(
            "f " + " ".join(reversed(line[2:].split())) + "\n" for line in CUBE_FACES.splitlines()),
        "a_point.obj": "v 1 1 1\nv 1 1 1\nv 1 1 1\nv 1 1 1\nf 1 2 3\nf 1 3 4\nf 1 4 2\nf 2 4 3\n",
        "a_line.obj": "v 0 0 0\nv 1 0 0\nv 2 0 0\nv 3 0 0\nf 1 2 3\nf 2 3 4\nf 1 2 4\n",
        "not_a_number.obj": CUBE.replace("v 1 1 1", "v nan 1 1") + CUBE_FACES,
        "infinite.obj": CUBE.replace("v 1 1 1", "v inf 1 1") + CUBE_FACES,
        "huge.obj": CUBE.replace("1", "1e30") + CUBE_FACES,
        "index_out_of_range.obj": CUBE + CUBE_FACES + "f 1 2 99\n",
        "far_away.obj": CUBE.replace("v ", "v 99999") + CUBE_FACES,
        "box_and_speck.obj": CUBE + CUBE_FACES + "v 1e5 1e5 1e5\nv 1.00001e5 1e5 1e5\n"
                             "v 1e5 1.00001e5 1e5\nv 1e5 1e5 1.00001e5\n"
                             "f 9 11 10\nf 9 10 12\nf 10 11 12\nf 9 12 11\n",
        "cut_off.stl": "solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0",
    }
    paths = []
    for name, text in texts.items():
        paths.append(pathlib.Path(folder) / name)
        paths[-1].write_text(text, encoding="ascii")
    for name, mesh in (("soup", plain(soup.reshape(-1, 3), np.arange(900).reshape(-1, 3))),
                       ("one_sided_band", plain(band, strip)),
                       ("a_needle", scaled_by(box(1, 1, 1), (1, 1e-5, 1e-5))),
                       ("a_leaf", scaled_by(box(1, 1, 1), (1, 1, 1e-7))),
                       ("too_small", scaled(box(1, 1, 1), 1e-12))):
        paths.append(write(mesh, pathlib.Path(folder) / f"{name}.obj"))
    return paths


def scaled_by(mesh, factors):
    return plain(mesh.vertices * np.array(factors), mesh.faces)


if __name__ == "__main__":
    target = pathlib.Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    for _shape, _path in write_all(target).values():
        print(f"{_path}: {len(_shape.written.faces):,} faces, truth "
              f"{'closed' if _shape.truth.is_watertight else 'OPEN'}, volume {_shape.truth.volume:.3g}")
    print(f"{len(write_odd(target))} odd ones")
