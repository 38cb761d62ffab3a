"""Convex shapes for the comparison and the check of closest points: support maps of whole batches, poses, files.

A shape is a dict as in the files of shapes: "kind", "numbers" (groups: a sphere's [r], a hull's [vertices], a cone's
[[r, h]]) and "radius" if it is not 0. Batches are arrays of rows of a list of shapes, and of poses (N, 7): x y z qw qx qy qz.
Nothing here comes from the library: it is what its answers are checked with. Needs numpy.
"""
import numpy as np

KINDS = ("hull", "sphere", "box", "ellipsoid", "capsule", "cylinder", "cone", "superquadric")  # in abut_shape_kind's order
MAGIC = b"closest1"
SHAPE = np.dtype([("kind", "u4"), ("vertices", "u4"), ("size", "f8", 3), ("exponents", "f8", 2), ("radius", "f8")])
ANSWER = {"d": 0, "n": slice(1, 4), "p1": slice(4, 7), "p2": slice(7, 10), "gap": 10, "status": 11}
WIDTH = 12


# ---- poses ----
def rotations(pose):
    """(N, 7) -> (N, 3, 3), of quaternions of any length."""
    w, x, y, z = (pose[:, 3:] / np.linalg.norm(pose[:, 3:], axis=1, keepdims=True)).T
    rows = [[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]]
    return np.moveaxis(np.array(rows), 2, 0)


def turned(R, x):
    return np.einsum("nij,nj->ni", R, x)


def turned_back(R, x):
    return np.einsum("nji,nj->ni", R, x)


def unit(x):
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


# ---- support maps in the shapes' own frames; directions need not be unit vectors ----
def sign(x):
    return np.where(x < 0, -1., 1.)


def hull_support(u, vertices):
    return vertices[np.argmax(u @ vertices.T, axis=1)]


def ellipsoid_support(u, axes):
    return axes * unit(axes * u)


def ring(u, r):
    """The point of a circle around z that is farthest along u; its centre where u is along z."""
    across = np.hypot(u[:, 0], u[:, 1])
    scale = np.divide(r, across, out=np.zeros(len(u)), where=across > 0)
    return np.stack([scale * u[:, 0], scale * u[:, 1], np.zeros(len(u))], 1)


def on_axis(z):
    return np.stack([0 * z, 0 * z, z], 1)


def capsule_support(u, numbers):
    return numbers[0] * unit(u) + on_axis(numbers[1] * sign(u[:, 2]))


def cylinder_support(u, numbers):
    return ring(u, numbers[0]) + on_axis(numbers[1] * sign(u[:, 2]))


def cone_support(u, numbers):
    """The apex where it is at least as far along u as the rim is."""
    r, h = numbers
    apex = h * u[:, 2] >= r * np.hypot(u[:, 0], u[:, 1]) - h * u[:, 2]
    base = ring(u, r) + on_axis(np.full(len(u), -h))
    return np.where(apex[:, None], [0., 0., h], base)


def dual(x, y, q):
    """The q-norm of two numbers from 0 and its derivatives, without overflow; both 0 give the middle."""
    most = np.maximum(np.maximum(x, y), 1e-300)
    a, b = x / most, y / most
    norm = (a ** q + b ** q) ** (1 / q)
    norm = np.where(norm > 0, norm, 1.)
    return most * norm, (a / norm) ** (q - 1), (b / norm) ** (q - 1)


def superquadric_support(u, axes, exponents):
    """The gradient of the dual norm: first x with y, then both with z."""
    x, y, z = np.abs(axes * u).T
    flat, of_x, of_y = dual(x, y, 2 / (2 - exponents[1]))
    _, of_flat, of_z = dual(flat, z, 2 / (2 - exponents[0]))
    return axes * sign(u) * np.stack([of_flat * of_x, of_flat * of_y, of_z], 1)


SUPPORTS = {"hull": hull_support, "sphere": lambda u, r: r * unit(u), "box": lambda u, half: half * sign(u),
            "ellipsoid": ellipsoid_support, "capsule": capsule_support, "cylinder": cylinder_support,
            "cone": cone_support, "superquadric": superquadric_support}


def support(shape, u):
    """Of one shape in directions (N, 3) of its frame -> (N, 3)."""
    numbers = [np.asarray(x, float) for x in shape["numbers"]]
    return SUPPORTS[shape["kind"]](u, *numbers) + shape.get("radius", 0.) * unit(u)


def by_shape(rows):
    """(shape, places in the batch), one for each shape that has any."""
    order = np.argsort(rows, kind="stable")
    firsts = np.flatnonzero(np.diff(rows[order], prepend=-1))
    for first, places in zip(firsts, np.split(order, firsts[1:])):
        yield int(rows[order[first]]), places


def supports(shapes, rows, u):
    """Row by row -> (N, 3)."""
    out = np.empty(u.shape)
    for k, places in by_shape(rows):
        out[places] = support(shapes[k], u[places])
    return out


def separations(shapes, problem, n):
    """g(n) = n . s2(-n) - n . s1(n) of all rows, from the difference of the positions on, at unit n (N, 3)."""
    R1, R2 = rotations(problem["pose1"]), rotations(problem["pose2"])
    apart = problem["pose2"][:, :3] - problem["pose1"][:, :3]
    s1 = turned(R1, supports(shapes, problem["one"], turned_back(R1, n)))
    s2 = turned(R2, supports(shapes, problem["two"], turned_back(R2, -n)))
    return ((s2 - s1 + apart) * n).sum(1)


def diagonal(shape):
    """The norm of the extents along the shape's own axes."""
    axes = np.eye(3)
    return np.linalg.norm([(support(shape, axes[i:i + 1]) - support(shape, -axes[i:i + 1]))[0, i] for i in range(3)])


# ---- files, as closest_problem.h has them ----
def shape_record(shape):
    groups = [np.asarray(x, float) for x in shape["numbers"]]
    record = np.zeros((), SHAPE)
    record["kind"], record["radius"] = KINDS.index(shape["kind"]), shape.get("radius", 0.)
    if shape["kind"] == "hull":
        record["vertices"] = len(groups[0])
    else:
        size = np.ravel(groups[0])
        record["size"][:len(size)] = size
        record["exponents"] = groups[1] if len(groups) > 1 else 0
    return record


def write_problem(path, shapes, problem):
    vertices = [np.asarray(s["numbers"][0], float) for s in shapes if s["kind"] == "hull"]
    with open(path, "wb") as file:
        file.write(MAGIC)
        np.array([len(shapes), sum(map(len, vertices)), len(problem["one"])], "u8").tofile(file)
        np.array([shape_record(s) for s in shapes], SHAPE).tofile(file)
        np.concatenate([np.zeros((0, 3)), *vertices]).tofile(file)
        for name, kind in (("one", "u4"), ("two", "u4"), ("pose1", "f8"), ("pose2", "f8")):
            np.ascontiguousarray(problem[name], kind).tofile(file)


def shape_of(record, vertices):
    kind = KINDS[record["kind"]]
    size = record["size"].tolist()
    numbers = {"hull": [vertices], "sphere": size[:1], "superquadric": [size, record["exponents"].tolist()]}.get(
        kind, [size[:2] if kind in ("capsule", "cylinder", "cone") else size])
    return {"kind": kind, "numbers": numbers} | ({"radius": float(record["radius"])} if record["radius"] else {})


def read_problem(path):
    """-> shapes and the batch."""
    with open(path, "rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            raise ValueError(f"{path} is no file of pairs")
        shapes, count, pairs = (int(x) for x in np.fromfile(file, "u8", 3))
        records = np.fromfile(file, SHAPE, shapes)
        vertices = np.fromfile(file, "f8", 3 * count).reshape(-1, 3)
        ends = np.cumsum(records["vertices"])
        found = [shape_of(r, vertices[e - r["vertices"]:e]) for r, e in zip(records, ends)]
        batch = {name: np.fromfile(file, "u4", pairs).astype(int) for name in ("one", "two")}
        return found, batch | {name: np.fromfile(file, "f8", 7 * pairs).reshape(-1, 7) for name in ("pose1", "pose2")}


def read_answers(path):
    table = np.fromfile(path, "f8").reshape(-1, WIDTH)
    return {name: table[:, at] for name, at in ANSWER.items()}
