#!/usr/bin/env python3
"""How far `distance` and `soft_distance` are from the distances of the meshes themselves.

  python3 bench/distances.py BUILD [--pairs "figure-part;ring-box"] [--poses 1000] [--device pocl]
                             [--csv OUT.csv] [--check]

Needs numpy, scipy, trimesh, rtree and coal (PyPI); the build does not run it. BUILD holds the Python
package. The pairs of scans and CAD parts take part where the environment's ABUT_SHARED names a folder
with data/meshes. Where a pair's sizes are far apart, body 2 is scaled to 0.7 of body 1's diagonal.

Each pose turns body 2 at random, brings it along a random line until it touches body 1, and moves it
on, from 5 % of the smaller diagonal in to 10 % out; bodies of 8 corners (BOXES) from half the diagonal in. What it is then held to:
  apart      the distance of the two meshes' triangles, by coal, whose bodies know nothing of fields
  in touch   minus the least translation that parts the meshes: for two convex bodies of few faces
             over all directions that can be it (normals, and products of edges), else the least found
             by a search over directions from the one that the body came along, each tried with coal
Errors are in per cent of the smaller diagonal. `wrong` counts poses whose sign is another although one
of both distances is farther from 0 than CLEAR, which is about what a bare mesh's field is off by, and
than both bodies' fields together are off their meshes there: of bodies that are said to touch, at the
point of the contact whose distance was found; of bodies whose touch was missed, where they first met. `of another sign` counts
all that are farther than CLEAR, and `wrong most` is the largest true distance among `wrong`. --check
fails where a pair of bare meshes of assets/ misses the limits that LIMITS says.
"""
import argparse
import csv
import os
import pathlib
import sys
import tempfile

import coal
import numpy as np
import trimesh
from scipy.spatial.transform import Rotation

ROOT = pathlib.Path(__file__).resolve().parent.parent
DEEP, APART = 0.05, 0.10  # of the smaller diagonal
DEEP_OF_BOXES = 0.5       # the same
TOUCH = 1e-5              # the same: what counts as touching while a pose is made
SEARCHED = 160            # directions
FEW_FACES = 64            # of a convex body whose faces and edges are all tried
CLEAR = 0.25              # per cent
LIMITS = {"apart median": 0.02, "apart 95 %": 0.15, "median": 0.05, "soft median": 0.06, "wrong": 2}
NAMED = "figure-part", "ring-box", "box-box"
ASSETS = {name: tuple(f"{part}.body.json" for part in name.split("-")) for name in NAMED}
BARE = {f"{name}, bare": tuple(f"{part}.obj" for part in name.split("-")) for name in NAMED}
BOXES = {"crate-crate": ((0.1, 0.1, 0.1), (0.1, 0.1, 0.1)),  # half sizes [m]
         "plate-plate": ((0.1, 0.1, 0.01), (0.1, 0.1, 0.01)),
         "bar-bar": ((0.2, 0.02, 0.02), (0.2, 0.02, 0.02)),
         "plate-bar": ((0.1, 0.1, 0.01), (0.2, 0.02, 0.02)),
         "crate-plate": ((0.1, 0.1, 0.1), (0.1, 0.1, 0.01))}
MESHES = {"plate_holes-featuretype": ("plate_holes.STL", "featuretype.STL"),
          "cylinder-featuretype": ("cylinder.stl", "featuretype.STL"),
          "nut_m16-bolt_m16": ("nut_m16.obj", "bolt_m16.obj"),
          "bunny-3holes": ("bunny.off", "3holes.off"),
          "power_drill-screwdriver": ("ycb_power_drill.obj", "ycb_flat_screwdriver.obj"),
          "spot-toy_airplane": ("spot.obj", "ycb_a_toy_airplane.obj")}


def pairs():
    """Two files of each pair, of a body or of a bare mesh, or the half sizes of two bodies of 8 corners and 6 planes."""
    found = {name: [ROOT / "assets" / file for file in files] for name, files in {**ASSETS, **BARE}.items()} | BOXES
    folder = pathlib.Path(os.environ.get("ABUT_SHARED", "/none")) / "data/meshes"
    if folder.is_dir():
        found |= {name: [folder / file for file in files] for name, files in MESHES.items()}
    return found


def read_obj(file):
    """Vertices and triangles alone: textures want libraries that nothing else here needs."""
    vertices, faces = [], []
    for words in map(str.split, file.read_text(errors="replace").splitlines()):
        if words and words[0] == "v":
            vertices.append([float(w) for w in words[1:4]])
        elif words and words[0] == "f":
            corners = [int(w.split("/")[0]) for w in words[1:]]
            corners = [c - 1 if c > 0 else len(vertices) + c for c in corners]
            faces += [(corners[0], *two) for two in zip(corners[1:], corners[2:])]
    return np.array(vertices), np.array(faces, np.int64)


def box(half):
    mesh = trimesh.creation.box(2 * np.array(half))
    return np.asarray(mesh.vertices, float), np.asarray(mesh.faces, np.int64)


def read(file):
    if isinstance(file, tuple):
        return box(file)
    file = pathlib.Path(str(file).replace(".body.json", ".obj"))
    if file.suffix == ".obj":
        return read_obj(file)
    mesh = trimesh.load(file, force="mesh")
    return np.asarray(mesh.vertices, float), np.asarray(mesh.faces, np.int64)


def diagonal(vertices):
    return np.linalg.norm(np.ptp(vertices, axis=0))


# ---- exact distances ----
def hierarchy(vertices, faces):
    model = coal.BVHModelOBBRSS()
    model.beginModel(len(faces), len(vertices))
    model.addVertices(vertices)
    model.addTriangles(faces)
    model.endModel()
    return model


def is_convex(vertices, faces):
    mesh = trimesh.Trimesh(vertices, faces)
    return len(faces) <= FEW_FACES and mesh.is_watertight and mesh.is_convex


class Meshes:
    """Two meshes, of which the second one moves."""

    def __init__(self, one, two):
        self.vertices, self.faces = zip(one, two)
        self.models = [hierarchy(*mesh) for mesh in (one, two)]
        self.rest = coal.Transform3s()
        self.small = min(map(diagonal, self.vertices))
        self.convex = all(map(is_convex, self.vertices, self.faces))

    def at(self, rotation, place):
        pose = coal.Transform3s()
        pose.setRotation(rotation)
        pose.setTranslation(place)
        return pose

    def meet(self, rotation, place):
        """Whether surfaces meet."""
        request, result = coal.CollisionRequest(), coal.CollisionResult()
        request.enable_contact = False
        return coal.collide(self.models[0], self.rest, self.models[1], self.at(rotation, place), request, result) > 0

    def apart(self, rotation, place, points=False):
        """Distance of the surfaces, and what goes from body 1's nearest point to body 2's; or both points."""
        request, result = coal.DistanceRequest(), coal.DistanceResult()
        request.enable_signed_distance = False
        d = coal.distance(self.models[0], self.rest, self.models[1], self.at(rotation, place), request, result)
        one, two = np.array(result.getNearestPoint1()), np.array(result.getNearestPoint2())
        return (one, two) if points else (d, two - one)

    def signed(self, body, point):
        """A point's distance of a mesh, negative inside; in the body's frame."""
        mesh = trimesh.Trimesh(self.vertices[body], self.faces[body], process=False)
        far = trimesh.proximity.closest_point(mesh, point[None])[1][0]
        return -far if self.inside(body, point) else far

    def inside(self, body, point):
        """By the solid angles of the mesh's triangles."""
        a, b, c = np.moveaxis(self.vertices[body][self.faces[body]] - point, 1, 0)
        la, lb, lc = (np.linalg.norm(v, axis=1) for v in (a, b, c))
        top = np.einsum("ij,ij->i", a, np.cross(b, c))
        bottom = la * lb * lc + (a * b).sum(1) * lc + (b * c).sum(1) * la + (c * a).sum(1) * lb
        return abs(np.arctan2(top, bottom).sum()) > np.pi

    def parted(self, rotation, place):
        """No point in common."""
        return not (self.meet(rotation, place) or self.inside(0, rotation @ self.vertices[1][0] + place) or
                    self.inside(1, rotation.T @ (self.vertices[0][0] - place)))

    def depth_of_convex(self, rotation, place):
        """Least overlap along all directions that can part two convex bodies."""
        normals, edges = [], []
        for k, turn in enumerate((np.eye(3), rotation)):
            t = self.vertices[k][self.faces[k]] @ turn.T
            normals.append(np.cross(t[:, 1] - t[:, 0], t[:, 2] - t[:, 0]))
            edges.append(np.concatenate([t[:, (i + 1) % 3] - t[:, i] for i in range(3)]))
        across = np.cross(edges[0][:, None], edges[1][None]).reshape(-1, 3)
        n = np.concatenate([*normals, across])
        length = np.linalg.norm(n, axis=1)
        n = n[length > 1e-9 * length.max()] / length[length > 1e-9 * length.max(), None]
        n = np.concatenate([n, -n])
        return np.min((self.vertices[0] @ n.T).max(0) - ((self.vertices[1] @ rotation.T + place) @ n.T).min(0))

    def shorten(self, rotation, place, along, high):
        """The least translation along a direction, near a parted one."""
        low = 0.0
        for _ in range(14):
            middle = (low + high) / 2
            low, high = (middle, high) if self.meet(rotation, place + middle * along) else (low, middle)
        return high

    def depth(self, rotation, place, known, rng):
        """Least translation that parts the bodies; `known`: one that does."""
        if self.convex:
            return self.depth_of_convex(rotation, place)
        best, along = np.linalg.norm(known), known / np.linalg.norm(known)
        for i in range(SEARCHED):  # first anywhere, then nearer and nearer the best one
            share = 3 * i / SEARCHED
            way = rng.normal(size=3) if share < 1 else along + rng.normal(size=3) * 0.5 * 0.04 ** ((share - 1) / 2)
            way /= np.linalg.norm(way)
            if not self.parted(rotation, place + 0.998 * best * way):
                continue
            best, along = self.shorten(rotation, place, way, best), way
            for _ in range(4):  # straight on, along the contact's normal
                normal = self.apart(rotation, place + 1.0005 * best * along)[1]
                length = np.linalg.norm(normal)
                if length < 1e-12 or not self.parted(rotation, place + 0.999 * best * normal / length):
                    break
                along = normal / length
                best = self.shorten(rotation, place, along, best)
        return best

    def approach(self, rotation, place, along):
        """From far away along -along until the bodies touch; None where they miss."""
        reach = sum(map(diagonal, self.vertices))
        at = reach
        while at > -reach:
            d = self.apart(rotation, place + at * along)[0]
            if d < TOUCH * self.small:
                return at
            at -= d
        return None


def make_poses(meshes, count, seed, deep):
    """Rotations, places, exact signed distances, and of both bodies the point where they are nearest or
    first met, in its own frame."""
    rng, made = np.random.default_rng(seed), []
    middles = [v.min(0) / 2 + v.max(0) / 2 for v in meshes.vertices]
    while len(made) < count:
        rotation = Rotation.random(random_state=rng).as_matrix()
        along = rng.normal(size=3)
        along /= np.linalg.norm(along)
        beside = (rng.random(3) - 0.5) * 0.8 * np.ptp(meshes.vertices[0], axis=0)
        place = middles[0] + beside - rotation @ middles[1]
        move = rng.uniform(-deep, APART) * meshes.small
        touch = meshes.approach(rotation, place, along)
        if touch is None:
            continue
        at = place + (touch + move) * along
        if meshes.meet(rotation, at) != (move < 0):
            continue  # out of one part and into another
        exact = meshes.apart(rotation, at)[0] if move > 0 else -meshes.depth(
            rotation, at, (2 * TOUCH * meshes.small - move) * along, rng)
        met = at if move > 0 else at - move * along
        one = meshes.apart(rotation, met, points=True)
        made.append((rotation, at, exact, one[0], rotation.T @ (one[1] - met)))
    return [np.array(x) for x in zip(*made)]


# ---- the program ----
def crate(context, half):
    sides = np.concatenate([np.eye(3), -np.eye(3)])
    return context.body(box(half)[0], plane_normals=sides, plane_points=sides * half)


class Library:
    """Both bodies and their pair, as a user gets them."""

    def __init__(self, abut, device, files):
        context = abut.Context(device)
        self.abut, self.bodies = abut, [crate(context, file) if isinstance(file, tuple) else context.load(str(file)) for file in files]
        self.smoothing = abut.fit_smoothing(*self.bodies)
        self.pair = abut.Pair(*self.bodies, self.smoothing)

    def distances(self, poses):
        return [self.abut.reduce(self.pair, None, poses, kind).value.astype(float)
                for kind in ("distance", "soft_distance")]

    def field(self, body, point):
        s = self.smoothing
        return float(self.bodies[body].evaluate(point, union=s["union"], plane=s["plane"])[0])

    def found_at(self, pose):
        """The point of the contact whose distance is the bodies'."""
        c = self.abut.contacts(self.pair, None, pose, want=("p", "d", "weight"))
        return c.p[np.where(c.weight >= 0.5, c.d, np.inf).argmin()].astype(float)


def field_errors(library, meshes, rotation, place, pose, points):
    """How far both bodies' fields are off their meshes, added up, at the point of the contact that was
    found, or with `points`, one of each mesh, there."""
    if points is not None:
        return sum(abs(library.field(body, point)) for body, point in enumerate(points))
    x = library.found_at(pose)
    return sum(abs(library.field(body, point) - meshes.signed(body, point))
               for body, point in enumerate((x, rotation.T @ (x - place))))


def judge(exact, found, soft, small, errors):
    """Figures of a pair, in per cent of the smaller diagonal. errors(i): of both fields at pose i."""
    unit = 100 / small
    off, apart = np.abs(found - exact) * unit, exact > 0
    worst = int(off.argmax())
    farther = np.maximum(np.abs(found), np.abs(exact)) * unit
    other = np.flatnonzero(((found < 0) != (exact < 0)) & (farther > CLEAR))
    wrong = [i for i in other if farther[i] > errors(i) * unit]
    return {"apart median": np.median(off[apart]), "apart 95 %": np.percentile(off[apart], 95),
            "apart most": off[apart].max(), "in touch median": np.median(off[~apart]),
            "in touch 95 %": np.percentile(off[~apart], 95), "in touch most": off[~apart].max(),
            "median": np.median(off), "soft median": np.median(np.abs(soft - exact) * unit),
            "soft 95 %": np.percentile(np.abs(soft - exact) * unit, 95),
            "above 0 in touch": int((found[~apart] > 0).sum()), "of another sign": len(other), "wrong": len(wrong),
            "wrong most": (np.abs(exact[wrong]) * unit).max(initial=0.0),
            "worst pose": worst, "worst exact": exact[worst] * unit, "worst found": found[worst] * unit}


def measure(abut, device, files, count):
    meshes = [read(file) for file in files]
    sizes = [diagonal(m[0]) for m in meshes]
    with tempfile.TemporaryDirectory() as name:
        if not 0.2 < sizes[1] / sizes[0] < 5:
            meshes[1] = (meshes[1][0] * 0.7 * sizes[0] / sizes[1], meshes[1][1])
            files = [files[0], pathlib.Path(name) / "scaled.obj"]
            trimesh.Trimesh(*meshes[1], process=False).export(files[1], digits=12)
        both = Meshes(*meshes)
        rotations, places, exact, one, two = make_poses(both, count, 7, DEEP_OF_BOXES if isinstance(files[0], tuple) else DEEP)
        turn = Rotation.from_matrix(rotations).as_quat()
        poses = np.concatenate([places, turn[:, 3:], turn[:, :3]], 1)
        library = Library(abut, device, files)
        found, soft = library.distances(poses)
    return judge(exact, found, soft, both.small,
                 lambda i: field_errors(library, both, rotations[i], places[i], poses[i],
                                        (one[i], two[i]) if exact[i] < 0 else None))


def missed(rows):
    return [f"{name}: {key} {row[key]:.3f}, not {limit}" for name, row in rows.items() if name in BARE
            for key, limit in LIMITS.items() if row[key] > limit]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("--pairs", help="names, joined by semicolons (all)")
    parser.add_argument("--poses", type=int, default=1000)
    parser.add_argument("--device", default="pocl")
    parser.add_argument("--csv", type=pathlib.Path)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    sys.path.insert(0, str(pathlib.Path(options.build) / "python"))
    import abut
    rows = {}
    for name, files in pairs().items():
        if options.pairs and name not in options.pairs.split(";"):
            continue
        rows[name] = row = measure(abut, options.device, files, options.poses)
        print(f"{name}: " + ", ".join(f"{k} {v:.3f}" if isinstance(v, float) else f"{k} {v}" for k, v in row.items()),
              flush=True)
    if options.csv:
        with open(options.csv, "w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["pair", *next(iter(rows.values()))])
            writer.writerows([name, *(f"{x:.4f}" if isinstance(x, float) else x for x in row.values())]
                             for name, row in rows.items())
    bad = missed(rows) if options.check else []
    print("\n".join(bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
