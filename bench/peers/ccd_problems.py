"""Questions about collision in time: files of ccd_problem.h, the public queries, and two meshes that come close. Needs numpy."""
import collections
import csv
import pathlib

import numpy as np

ANSWERS = ("toi", "status", "first", "second", "time", "d0")
KINDS = {"vertex-face": 2, "edge-edge": 3}
POINT_TRIANGLE, EDGE_EDGE = 2, 3
POSES = ("from1", "to1", "from2", "to2")
GROUP = 24  # faces that a box is around

Mesh = collections.namedtuple("Mesh", "vertices faces edges")


# ---- files ----
def write_problem(path, kind=(), x0=None, x1=None, mesh=None, poses=None):
    mesh = mesh or Mesh(np.empty((0, 3)), np.empty((0, 3)), None)
    poses = poses or {name: np.empty((0, 7)) for name in POSES}
    none = np.empty((0, 4, 3))
    rows = [(kind, np.uint32), (none if x0 is None else x0, float), (none if x1 is None else x1, float), (mesh.vertices, float),
            (mesh.faces, np.uint32), *((poses[name], float) for name in POSES)]
    with open(path, "wb") as file:
        file.write(b"ccdtime1" + np.array([len(kind), len(mesh.vertices), len(mesh.faces), len(poses["from1"])], np.uint64).tobytes())
        for array, real in rows:
            file.write(np.ascontiguousarray(array, real).tobytes())


def read_problem(path):
    """-> mesh and poses."""
    data = pathlib.Path(path).read_bytes()
    queries, vertices, faces, rows = (int(n) for n in np.frombuffer(data, np.uint64, 4, 8))
    at = 40 + queries * (4 + 2 * 12 * 8)
    points = np.frombuffer(data, float, 3 * vertices, at).reshape(-1, 3)
    corners = np.frombuffer(data, np.uint32, 3 * faces, at + points.nbytes).reshape(-1, 3)
    poses = np.frombuffer(data, float, 4 * 7 * rows, at + points.nbytes + corners.nbytes).reshape(4, -1, 7)
    return mesh_of(points, corners), dict(zip(POSES, poses))


def read_answers(path):
    rows = np.fromfile(path).reshape(-1, len(ANSWERS))
    return {name: rows[:, k] for k, name in enumerate(ANSWERS)}


# ---- the public queries ----
def nearest(numerator, denominator):
    """Nearest double of a quotient, and whether it is all of it."""
    value = numerator / denominator
    p, q = value.as_integer_ratio()
    return value, p * denominator == q * numerator


def read_csv(path):
    rows = [[int(cell) for cell in row] for row in csv.reader(path.open()) if row]
    numbers = [[nearest(*row[2 * k:2 * k + 2]) for k in range(3)] for row in rows]
    x = np.array([[value for value, _ in row] for row in numbers]).reshape(-1, 8, 3)
    rounded = sum(not exact for row in numbers for _, exact in row)
    return x, np.array([row[6] != 0 for row in rows[::8]]), rounded


def public_queries(folder):
    """-> kind, x0, x1, whether they hit; sorted by kind; and how many coordinates a double cannot hold."""
    kinds, xs, hits, rounded = [], [], [], 0
    for name, kind in KINDS.items():
        for path in sorted(folder.glob(f"*/{name}/*.csv")):
            x, hit, lost = read_csv(path)
            kinds.append(np.full(len(x), kind))
            xs.append(x)
            hits.append(hit)
            rounded += lost
    if not xs:
        raise SystemExit(f"{folder} has no queries")
    x = np.concatenate(xs)
    return np.concatenate(kinds), x[:, :4], x[:, 4:], np.concatenate(hits), rounded


# ---- meshes ----
def mesh_of(vertices, faces):
    edges = np.sort(faces[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2).astype(int), axis=1)
    return Mesh(vertices, faces.astype(int), np.unique(edges, axis=0))


def read_obj(path):
    """Triangles of an .obj file, about their middle, of diagonal 1."""
    words = [line.split() for line in path.read_text().splitlines()]
    vertices = np.array([[float(x) for x in w[1:4]] for w in words if w and w[0] == "v"])
    faces = np.array([[int(x.split("/")[0]) - 1 for x in w[1:4]] for w in words if w and w[0] == "f"])
    low, high = vertices.min(0), vertices.max(0)
    return mesh_of((vertices - (low + high) / 2) / np.linalg.norm(high - low), faces)


def rotation(q):
    w, x, y, z = q / np.linalg.norm(q)
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])


def placed(mesh, pose):
    return mesh.vertices @ rotation(pose[3:]).T + pose[:3]


def product(a, b):
    return np.array([a[0] * b[0] - a[1:] @ b[1:], *(a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:]))])


def unit(x):
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def meet(box, other):
    """Which of boxes (N, 2, 3) and (M, 2, 3) meet: places in both."""
    apart = (box[:, None, 0] > other[None, :, 1]).any(2) | (box[:, None, 1] < other[None, :, 0]).any(2)
    return np.nonzero(~apart)


def boxes(*corners):
    """Around points (N, K, 3), of all that are given."""
    all_of = np.concatenate(corners, axis=1)
    return np.stack([all_of.min(1), all_of.max(1)], axis=1)


def pierced(mesh, x, mesh2, x2):
    """Whether an edge of one surface goes through a triangle of the other."""
    ends, corners = x[mesh.edges], x2[mesh2.faces]
    e, f = meet(boxes(ends), boxes(corners))
    p, d = ends[e, 0], ends[e, 1] - ends[e, 0]
    a, u, v = corners[f, 0], corners[f, 1] - corners[f, 0], corners[f, 2] - corners[f, 0]
    n = np.cross(u, v)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = ((a - p) * n).sum(1) / (d * n).sum(1)
        at = p + t[:, None] * d - a
        s = (np.cross(at, v) * n).sum(1) / (n * n).sum(1)
        r = (np.cross(u, at) * n).sum(1) / (n * n).sum(1)
        return bool(((t >= 0) & (t <= 1) & (s >= 0) & (r >= 0) & (s + r <= 1)).any())


def apart_at_first(mesh, first, second):
    x, y = placed(mesh, first), placed(mesh, second)
    return not (pierced(mesh, x, mesh, y) or pierced(mesh, y, mesh, x))


def pose_pairs(mesh, count, random):
    """Two bodies of that mesh, turned anyhow, 0.35 to 0.7 diagonals apart and not in each other, that come up to 0.2 closer while
    the first turns by some 0.1 rad and moves by some 0.02 to any side."""
    rows = []
    while len(rows) < count:
        towards = unit(random.normal(size=3))
        first = np.r_[np.zeros(3), unit(random.normal(size=4))]
        second = np.r_[towards * random.uniform(.35, .7), unit(random.normal(size=4))]
        if not apart_at_first(mesh, first, second):
            continue
        turn = unit(np.r_[1., .05 * random.normal(size=3)])
        rows.append((first, np.r_[.02 * random.normal(size=3), product(turn, first[3:])],
                     second, np.r_[second[:3] - towards * random.uniform(0, .2), second[3:]]))
    return dict(zip(POSES, np.array(rows).transpose(1, 0, 2)))


# ---- pairs of features ----
def groups(mesh):
    """Number of each face's group of neighbours: halved along the longest side of the boxes of their middles, down to GROUP."""
    middles, numbers = mesh.vertices[mesh.faces].mean(1), np.zeros(len(mesh.faces), int)
    waiting, found = [np.arange(len(mesh.faces))], 0
    while waiting:
        part = waiting.pop()
        if len(part) <= GROUP:
            numbers[part] = found
            found += 1
            continue
        axis = np.argmax(np.ptp(middles[part], axis=0))
        part = part[np.argsort(middles[part, axis])]
        waiting += [part[:len(part) // 2], part[len(part) // 2:]]
    return numbers


def members(mesh, numbers):
    """For each group its faces, and the edges and vertices that none before it has."""
    taken_vertices, taken_edges, parts = set(), set(), []
    place = {tuple(edge): k for k, edge in enumerate(mesh.edges.tolist())}
    for g in range(numbers.max() + 1):
        faces = np.flatnonzero(numbers == g)
        corners = mesh.faces[faces]
        vertices = set(corners.ravel().tolist()) - taken_vertices
        edges = {place[tuple(sorted(e))] for e in corners[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2).tolist()} - taken_edges
        taken_vertices |= vertices
        taken_edges |= edges
        parts.append((np.array(sorted(vertices), int), np.array(sorted(edges), int), faces))
    return parts


def crossed(a, b):
    return np.repeat(a, len(b)), np.tile(b, len(a))


def gathered(x, y, first, second):
    """Rows of four vertices each of two places in time."""
    return np.concatenate([x[first], y[second]], axis=1)


def feature_pairs(mesh, parts, poses, row):
    """All pairs of features of groups whose boxes over both ends meet: x0, x1 of points and triangles, and of edges."""
    (x0, x1, y0, y1) = (placed(mesh, poses[name][row]).astype(np.float32).astype(float) for name in POSES)
    around = [np.stack([np.minimum(a, b)[v].min(0), np.maximum(a, b)[v].max(0)]) for a, b in ((x0, x1), (y0, y1))
              for v in (np.unique(mesh.faces[p[2]]) for p in parts)]
    half = len(parts)
    points, edges = [], []
    for g, h in zip(*meet(np.array(around[:half]), np.array(around[half:]))):
        v, f = crossed(parts[g][0], parts[h][2])
        points.append([gathered(a, b, v[:, None], mesh.faces[f]) for a, b in ((x0, y0), (x1, y1))])
        w, f = crossed(parts[h][0], parts[g][2])
        points.append([gathered(b, a, w[:, None], mesh.faces[f]) for a, b in ((x0, y0), (x1, y1))])
        e, k = crossed(parts[g][1], parts[h][1])
        edges.append([gathered(a, b, mesh.edges[e], mesh.edges[k]) for a, b in ((x0, y0), (x1, y1))])
    return points, edges


def boxes_meet(kind, x0, x1):
    """Of both features of each row, over both ends."""
    first = 1 if kind == POINT_TRIANGLE else 2
    box, other = boxes(x0[:, :first], x1[:, :first]), boxes(x0[:, first:], x1[:, first:])
    return ~((box[:, 0] > other[:, 1]).any(1) | (box[:, 1] < other[:, 0]).any(1))


def mesh_queries(mesh, poses, count, random):
    """`count` queries of each kind by chance from all pairs of groups that meet in any row, half points and triangles, half edges
    -> of all, and of those alone whose own boxes over both ends meet."""
    parts, found = members(mesh, groups(mesh)), {POINT_TRIANGLE: [], EDGE_EDGE: []}
    for row in range(len(poses["from1"])):
        for kind, lists in zip(found, feature_pairs(mesh, parts, poses, row)):
            found[kind] += lists
    sets = {"groups meet": [], "boxes meet": []}
    for kind, lists in found.items():
        x0, x1 = (np.concatenate([pair[k] for pair in lists]) for k in (0, 1))
        near = boxes_meet(kind, x0, x1)
        for name, rows in (("groups meet", np.arange(len(x0))), ("boxes meet", np.flatnonzero(near))):
            taken = random.choice(rows, count, replace=len(rows) < count)
            sets[name].append((np.full(count, kind), x0[taken], x1[taken]))
    return {name: tuple(np.concatenate(part) for part in zip(*both)) for name, both in sets.items()}
