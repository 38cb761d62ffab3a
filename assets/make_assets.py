#!/usr/bin/env python3
"""Makes the bodies and poses of this folder: python3 assets/make_assets.py [OUT_DIR]

Needs numpy and scikit-image (for marching cubes); the build does not run it. The same versions
give the same files: every random number comes from a seeded generator.

  figure   an astronaut who waves: 18 superquadrics, triangles
  box      one superquadric near a cuboid, six quads
  part     a flange: a polyhedral plate and a hub, with a bore and four bolt holes subtracted
  ring     a torus as an oriented point cloud, quads
  poses    64 poses of the figure and the part, the first one standing on it, all near contact
  poses.csv, twists.csv   the first eight of these, with quaternions and as twists

The field below is written from its definition, apart from the library's, so that the assertion at
the end (every vertex of a mesh lies on the zero set of its body) also says something about both.
"""
import heapq
import json
import pathlib
import sys

import numpy as np
from skimage.measure import marching_cubes

UNION = PLANE = 0.005  # temperatures of the zero set [m]; near what fits bodies of one metre
ON_SURFACE = 1e-7      # how far a written vertex may lie off the zero set [m]
POSES = 64
SEED = 20240607


# ---- the field ---------------------------------------------------------------------------------
def log_sum_exp(x, axis):
    top = x.max(axis=axis, keepdims=True)
    return np.squeeze(top, axis) + np.log(np.exp(x - top).sum(axis=axis))


def rotation_of(quaternion):
    w, x, y, z = np.asarray(quaternion, float) / np.linalg.norm(quaternion)
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])


def superquadric_distance(x, shape):
    """r (1 - 1/h), in logarithms: the powers of a sharp superquadric leave the numbers' range."""
    axes, (e1, e2) = np.asarray(shape["axes"]), shape["exponents"]
    y = (x - shape["position"]) @ rotation_of(shape["quaternion"])
    logs = np.log((y / axes) ** 2 + 1e-12)
    around = np.logaddexp(logs[:, 0] / e2, logs[:, 1] / e2) * (e2 / e1)
    h = np.exp(0.5 * e1 * np.logaddexp(around, logs[:, 2] / e1))
    return np.sqrt((y * y).sum(1) + 1e-12 * axes @ axes) * (1 - 1 / h)


def polyhedron_distance(x, shape):
    planes = np.asarray(shape["planes"])
    heights = x @ planes[:, :3].T - (planes[:, :3] * planes[:, 3:]).sum(1)
    return PLANE * log_sum_exp(heights / PLANE, 1)


def cloud_distance(x, shape):
    points = np.asarray(shape["points"])
    apart = x[:, None, :] - points[None, :, :3]
    logs = -0.5 * (apart ** 2).sum(2) / points[:, 6] ** 2
    weights = np.exp(logs - logs.max(1, keepdims=True))
    heights = (apart * points[:, 3:6]).sum(2)
    return (weights * heights).sum(1) / weights.sum(1)


FAMILIES = {"superquadrics": superquadric_distance, "polyhedra": polyhedron_distance,
            "pointclouds": cloud_distance}


def distance(body, x):
    """The signed distance of a body at points (n, 3): soft union, then soft subtraction."""
    sides = {"add": [], "subtract": []}
    for family, function in FAMILIES.items():
        for shape in body.get(family, []):
            sides[shape.get("operation", "add")].append(function(x, shape))
    union = {side: -UNION * log_sum_exp(-np.stack(list_) / UNION, 0)
             for side, list_ in sides.items() if list_}
    if "subtract" not in union:
        return union["add"]
    return UNION * np.logaddexp(union["add"] / UNION, -union["subtract"] / UNION)


def gradient(body, x, step=1e-5):
    """By central differences: the gradient only steers Newton's steps."""
    ends = [x + s * step * axis for axis in np.eye(3) for s in (1, -1)]
    d = distance(body, np.concatenate(ends)).reshape(3, 2, len(x))
    return ((d[:, 0] - d[:, 1]) / (2 * step)).T


def project(body, x, steps=12):
    """Newton along the gradient onto the zero set, no step longer than 2 cm."""
    for _ in range(steps):
        d, g = distance(body, x), gradient(body, x)
        move = -d[:, None] * g / np.maximum((g * g).sum(1, keepdims=True), 0.05)
        length = np.linalg.norm(move, axis=1, keepdims=True)
        x = x + move * np.minimum(1, 0.02 / np.maximum(length, 1e-12))
    return x


# ---- meshes ------------------------------------------------------------------------------------
def march(body, low, high, cells):
    """Marching cubes over a box; triangles run counterclockwise seen from outside."""
    low, high = np.asarray(low, float), np.asarray(high, float)
    step = (high - low).max() / cells
    axes = [np.arange(a, b + step, step) for a, b in zip(low, high)]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), -1)
    values = np.concatenate([distance(body, slab.reshape(-1, 3)) for slab in grid])
    vertices, faces, _, _ = marching_cubes(values.reshape(grid.shape[:3]), 0.0, spacing=[step] * 3)
    vertices = project(body, vertices + low)
    corners = vertices[faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    outward = (normals * gradient(body, corners.mean(1))).sum() > 0
    return vertices, faces if outward else faces[:, ::-1]


class Collapse:
    """Shrinks a closed triangle mesh by collapsing edges onto one of their ends.

    An edge's cost is the quadric error of Garland and Heckbert (1997), Surface simplification using
    quadric error metrics, and a little of its length; vertices stay where they are, on the surface.
    An edge goes only where its ends share exactly two neighbours (the surface stays a manifold) and
    no face around it turns by more than about 60 degrees or becomes a sliver.
    """

    def __init__(self, vertices, faces, normals):
        self.x, self.n = vertices, normals
        self.faces = {i: tuple(int(v) for v in f) for i, f in enumerate(faces)}
        self.around = [set() for _ in vertices]
        self.quadric = np.zeros((len(vertices), 4, 4))
        for i, f in self.faces.items():
            a, b, c = self.x[list(f)]
            plane = np.cross(b - a, c - a)
            area = max(np.linalg.norm(plane), 1e-30)
            plane = np.append(plane, -plane @ a) / area
            for v in f:
                self.around[v].add(i)
                self.quadric[v] += area * np.outer(plane, plane)
        self.version = [0] * len(vertices)

    def neighbours(self, v):
        return {u for f in self.around[v] for u in self.faces[f]} - {v}

    def push(self, v):
        """Queues every collapse of a vertex into a neighbour or of a neighbour into it."""
        for u in self.neighbours(v):
            shared = self.quadric[u] + self.quadric[v]
            length = np.linalg.norm(self.x[u] - self.x[v])
            for gone, kept in ((u, v), (v, u)):
                end = np.append(self.x[kept], 1.0)
                cost = end @ shared @ end + 1e-8 * length
                heapq.heappush(self.queue,
                               (cost, gone, kept, self.version[gone], self.version[kept]))

    def quality(self, face):
        """A triangle's shape, 0 for a sliver, and how well its normal agrees with its corners'."""
        a, b, c = (self.x[v] for v in face)
        normal = np.cross(b - a, c - a)
        size = max(np.linalg.norm(normal), 1e-30)
        longest = max(np.linalg.norm(b - a), np.linalg.norm(c - b), np.linalg.norm(a - c))
        mean = sum(self.n[v] for v in face)
        return size / longest ** 2, normal @ mean / (size * max(np.linalg.norm(mean), 1e-30))

    def holds(self, gone, kept):
        if len(self.neighbours(gone) & self.neighbours(kept)) != 2:
            return False
        for f in self.around[gone] - self.around[kept]:
            before = self.quality(self.faces[f])
            after = self.quality([kept if v == gone else v for v in self.faces[f]])
            if any(y < min(x, least) for x, y, least in zip(before, after, (self.sliver, 0.5))):
                return False
        return True

    def collapse(self, gone, kept):
        for f in list(self.around[gone]):
            if f in self.around[kept]:
                for v in self.faces.pop(f):
                    self.around[v].discard(f)
            else:
                self.faces[f] = tuple(kept if v == gone else v for v in self.faces[f])
                self.around[kept].add(f)
        self.around[gone] = set()
        self.quadric[kept] += self.quadric[gone]
        self.version[gone] = -1
        self.version[kept] += 1
        self.push(kept)

    def run(self, target):
        """Passes over all edges, the second milder, until `target` vertices are left."""
        left = sum(1 for a in self.around if a)
        for self.sliver in (0.15, 0.05):
            self.queue = []
            for v in range(len(self.around)):
                self.push(v)
            while left > target and self.queue:
                _, gone, kept, *versions = heapq.heappop(self.queue)
                if versions == [self.version[gone], self.version[kept]] and self.holds(gone, kept):
                    self.collapse(gone, kept)
                    left -= 1
        used = [v for v, a in enumerate(self.around) if a]
        number = {v: i for i, v in enumerate(used)}
        return self.x[used], [[number[v] for v in f] for f in self.faces.values()]


def relax(body, vertices, faces, rounds=6):
    """Moves vertices to the mean of their neighbours and back onto the surface."""
    pairs = np.concatenate([faces[:, [i, (i + 1) % 3]] for i in range(3)])
    for _ in range(rounds):
        total, count = np.zeros_like(vertices), np.zeros(len(vertices))
        np.add.at(total, pairs[:, 0], vertices[pairs[:, 1]])
        np.add.at(count, pairs[:, 0], 1)
        vertices = project(body, total / count[:, None], 3)
    return project(body, vertices)


def mesh_of(body, low, high, cells, target):
    vertices, faces = march(body, low, high, cells)
    vertices = relax(body, vertices, faces)
    normals = gradient(body, vertices)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    return Collapse(vertices, faces, normals).run(target)


# ---- the four bodies ---------------------------------------------------------------------------
def turn(axis, degrees):
    axis = np.asarray(axis, float) / np.linalg.norm(axis)
    half = np.radians(degrees) / 2
    return [round(float(q), 9) for q in (np.cos(half), *(np.sin(half) * axis))]


def superquadric(axes, exponents, position, quaternion=(1, 0, 0, 0), operation="add"):
    shape = {"axes": list(axes), "exponents": list(exponents), "position": list(position),
             "quaternion": list(quaternion)}
    return shape if operation == "add" else {**shape, "operation": operation}


def figure():
    """Soles at z = 0, about 1.1 m to the raised hand; faces -y."""
    x, y = (1, 0, 0), (0, 1, 0)
    shapes = [
        superquadric((.130, .095, .085), (.70, .80), (0, 0, .455)),                     # pelvis
        superquadric((.115, .085, .100), (.90, .90), (0, -.005, .575)),                 # waist
        superquadric((.160, .110, .120), (.60, .75), (0, 0, .715), turn(x, -4)),        # chest
        superquadric((.095, .100, .105), (.90, 1.0), (0, -.010, .925)),                 # helmet
        superquadric((.070, .040, .050), (.60, .80), (0, -.095, .930)),                 # visor
        superquadric((.120, .055, .140), (.30, .40), (0, .145, .720)),                  # backpack
        superquadric((.055, .055, .105), (.80, 1.0), (.225, 0, .800), turn(y, 62)),     # waving arm
        superquadric((.046, .046, .110), (.80, 1.0), (.335, -.020, .935), turn(y, 12)),
        superquadric((.050, .026, .055), (.50, .60), (.365, -.025, 1.070), turn(y, 18)),
        superquadric((.055, .055, .110), (.80, 1.0), (-.215, .005, .690), turn(y, 32)), # arm on hip
        superquadric((.046, .046, .100), (.80, 1.0), (-.225, -.035, .545), turn(y, -48)),
        superquadric((.050, .034, .046), (.50, .60), (-.150, -.075, .480), turn(y, -40)),
    ]
    for side in (1, -1):
        shapes += [
            superquadric((.075, .078, .130), (.80, .95), (side * .085, 0, .330),    # thigh
                         turn(y, side * -7)),
            superquadric((.060, .064, .125), (.70, .95), (side * .105, .005, .150), # shin
                         turn(y, side * -3)),
            superquadric((.062, .105, .042), (.35, .60), (side * .110, -.035, .042)),
        ]
    body = {"name": "figure", "mesh": "figure.obj", "superquadrics": shapes}
    return body, *mesh_of(body, (-.40, -.26, -.04), (.48, .26, 1.18), 110, 420)


def box():
    """A cuboid of 30 x 24 x 18 cm with narrow round edges, its mesh the eight corners."""
    body = {"name": "box", "mesh": "box.obj",
            "superquadrics": [superquadric((.15, .12, .09), (.1, .1), (0, 0, 0))]}
    signs = np.array([[a, b, c] for c in (-1, 1) for b in (-1, 1) for a in (-1, 1)])
    faces = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]]
    return body, project(body, signs * [.15, .12, .09], 30), faces


def part():
    """A plate 60 x 60 x 8 cm with cut corners, a hub, a bore through both, four bolt holes."""
    directions = [(np.cos(a), np.sin(a), 0) for a in np.arange(8) * np.pi / 4]
    directions += [(0, 0, 1), (0, 0, -1)]
    offsets = [.30, .36] * 4 + [.04, .04]
    planes = [[round(float(v), 9) for v in (*n, *(np.array(n) * o))]
              for n, o in zip(directions, offsets)]
    holes = [(s * .21, t * .21, 0) for s in (-1, 1) for t in (-1, 1)]
    added = [superquadric((.17, .17, .10), (.2, 1), (0, 0, .06))]
    cut = [superquadric((.09, .09, .40), (.2, 1), (0, 0, 0), operation="subtract")]
    cut += [superquadric((.04, .04, .20), (.2, 1), hole, operation="subtract") for hole in holes]
    body = {"name": "part", "mesh": "part.obj", "superquadrics": added + cut,
            "polyhedra": [{"planes": planes}]}
    return body, *mesh_of(body, (-.34, -.34, -.07), (.34, .34, .19), 110, 480)


def ring(big=.16, small=.05, around=28, across=12):
    """A torus around z. A point's width is the local spacing."""
    u = 2 * np.pi * np.arange(around) / around
    v = 2 * np.pi * np.arange(across) / across
    uu, vv = (a.ravel() for a in np.meshgrid(u, v, indexing="ij"))
    normals = np.stack([np.cos(uu) * np.cos(vv), np.sin(uu) * np.cos(vv), np.sin(vv)], 1)
    centres = np.stack([np.cos(uu), np.sin(uu), 0 * uu], 1) * big
    points = centres + small * normals
    spacing = 0.5 * (2 * np.pi * (big + small * np.cos(vv)) / around + 2 * np.pi * small / across)
    rows = np.round(np.hstack([points, normals, spacing[:, None]]), 7).tolist()
    body = {"name": "ring", "mesh": "ring.obj", "pointclouds": [{"points": rows}]}
    at = lambda i, j: (i % around) * across + j % across
    faces = [[at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)]
             for i in range(around) for j in range(across)]
    return body, project(body, points, 30), faces


# ---- poses -------------------------------------------------------------------------------------
def hat(w):
    return np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])


def exponential(s):
    """exp of (rho, omega): rotation and translation."""
    rho, w = np.asarray(s[:3]), np.asarray(s[3:])
    t = np.linalg.norm(w)
    if t < 1e-9:
        return np.eye(3) + hat(w), rho
    k = hat(w / t)
    rotation = np.eye(3) + np.sin(t) * k + (1 - np.cos(t)) * k @ k
    return rotation, (np.eye(3) + (1 - np.cos(t)) / t * k + (1 - np.sin(t) / t) * k @ k) @ rho


def twist(w, translation):
    """The s with the rotation exp(hat w), |w| < 2 pi, and this translation."""
    columns = np.stack([exponential([*e, *w])[1] for e in np.eye(3)], 1)
    return np.concatenate([np.linalg.solve(columns, translation), w])


def deepest(one, two, rotation, translation):
    """The least distance over both meshes' vertices; two is placed in the frame of one."""
    there = distance(two[0], (one[1] - translation) @ rotation)
    here = distance(one[0], two[1] @ rotation.T + translation)
    return min(there.min(), here.min())


def touch(one, two, rotation, origin, direction, depth):
    """How far along a direction two is pulled back until it reaches `depth` into one."""
    near, far = 0.0, 3.0
    for _ in range(40):
        middle = 0.5 * (near + far)
        if deepest(one, two, rotation, origin + middle * direction) < -depth:
            near = middle
        else:
            far = middle
    return origin + far * direction


def poses_of(one, two):
    rng = np.random.default_rng(SEED)
    s1, s2 = np.zeros((POSES, 6)), np.zeros((POSES, 6))
    for i in range(POSES):
        if i == 0:  # the picture: astride the bore, turned to where the camera stands by default
            w, origin = np.zeros(3), np.array([0, -.02, .3])
            direction, depth = np.array([0, 0, -1.]), .006
        else:
            w = rng.normal(size=3)
            w *= rng.uniform(0, np.pi) / np.linalg.norm(w)
            origin = np.array([0, 0, rng.uniform(.1, .9)])
            direction = rng.normal(size=3)
            direction /= np.linalg.norm(direction)
            depth = rng.uniform(-.005, .015)
        rotation = exponential([0, 0, 0, *w])[0]
        offset = touch(one, two, rotation, origin, direction, depth)
        s1[i] = [0, 0, 0, 0, 0, 1.75] if i == 0 else rng.normal(size=6) * [.1, .1, .1, .3, .3, .3]
        base, shift = exponential(s1[i])
        angle_axis = rotation_vector(base @ rotation)
        s2[i] = twist(angle_axis, base @ offset + shift)
    return s1, s2


def rotation_vector(r):
    """The logarithm of a rotation, by way of its quaternion, the larger half first."""
    k = np.array([[r[0, 0] - r[1, 1] - r[2, 2], 0, 0, 0],
                  [r[0, 1] + r[1, 0], r[1, 1] - r[0, 0] - r[2, 2], 0, 0],
                  [r[0, 2] + r[2, 0], r[1, 2] + r[2, 1], r[2, 2] - r[0, 0] - r[1, 1], 0],
                  [r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1], np.trace(r)]])
    q = np.linalg.eigh(k)[1][:, -1]
    q = q if q[3] >= 0 else -q
    sine = np.linalg.norm(q[:3])
    return np.zeros(3) if sine < 1e-12 else 2 * np.arctan2(sine, q[3]) * q[:3] / sine


# ---- files -------------------------------------------------------------------------------------
def check_mesh(name, body, vertices, faces):
    """Every vertex on the zero set; every edge between two faces, once in each direction."""
    off = np.abs(distance(body, vertices)).max()
    assert off < ON_SURFACE, f"{name}: a vertex lies {off:.2e} m off the zero set"
    directed = [(f[i], f[(i + 1) % len(f)]) for f in faces for i in range(len(f))]
    assert len(set(directed)) == len(directed), f"{name}: an edge runs twice in one direction"
    assert {(b, a) for a, b in directed} == set(directed), f"{name}: an edge is open"
    return off, len(directed) // 2


def write(out, body, vertices, faces):
    name = body["name"]
    vertices = np.round(vertices, 9)
    off, edges = check_mesh(name, body, vertices, faces)
    lines = ["v " + " ".join(f"{c:.9g}" for c in v) for v in vertices]
    lines += ["f " + " ".join(str(i + 1) for i in f) for f in faces]
    (out / f"{name}.obj").write_text("\n".join(lines) + "\n")
    head = {"name": name, "mesh": body["mesh"], "union": UNION}
    families = [f'"{family}": [\n  ' + ",\n  ".join(json.dumps(s) for s in body[family]) + "]"
                for family in FAMILIES if family in body]
    text = json.dumps(head)[:-1] + ",\n" + ",\n".join(families) + "}\n"
    assert json.loads(text) == {**body, "union": UNION}
    (out / f"{name}.body.json").write_text(text)
    print(f"{name}: {len(vertices)} vertices, {edges} edges, {len(faces)} faces, "
          f"off the zero set by {off:.1e} m")


def quaternions_of(twists):
    """Twists (N, 6) as positions and quaternions (N, 7), by the exponential's closed form."""
    rows = []
    for rho, omega in zip(twists[:, :3], twists[:, 3:]):
        angle = np.linalg.norm(omega)
        axis = omega / angle if angle else np.zeros(3)
        turn = np.cross(axis, rho)
        along = np.sin(angle) / angle if angle else 1.0
        across = (1.0 - np.cos(angle)) / angle if angle else 0.0
        position = along * rho + (1.0 - along) * axis * (axis @ rho) + across * turn
        rows.append([*position, np.cos(angle / 2), *(np.sin(angle / 2) * axis)])
    return np.array(rows)


def write_csv(path, rotation, one, two):
    names = [f"{name}{body}" for body in (1, 2) for name in ["x", "y", "z", *rotation]]
    lines = [",".join(names)] + [",".join(f"{x:.9g}" for x in row) for row in np.hstack([one, two])]
    path.write_text("\n".join(lines) + "\n")


def main():
    out = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
    bodies = {made[0]["name"]: made for made in (figure(), box(), part(), ring())}
    for made in bodies.values():
        write(out, *made)
    s1, s2 = poses_of(bodies["figure"], bodies["part"])
    np.savez(out / "poses.npz", s1=s1, s2=s2)
    write_csv(out / "twists.csv", ["rx", "ry", "rz"], s1[:8], s2[:8])
    write_csv(out / "poses.csv", ["qw", "qx", "qy", "qz"], quaternions_of(s1[:8]), quaternions_of(s2[:8]))


if __name__ == "__main__":
    main()
