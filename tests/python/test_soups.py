"""Meshes of faces that were meshed one by one, as CAD programs write them, against closed forms.

Corners on common edges are equal to rounding only, or to a gap; faces meet at corners of one side
only, are turned against each other, or are there twice.
"""
import warnings

import abut
import numpy as np
import pytest

SIDE = 0.1  # [m] of the cubes
CLEAR = 2e-3  # [m] signs are asked about farther from the surface


def patch(n, m, place):
    """A patch of n x m quads, cut into triangles: place maps u and v in [0, 1] to points."""
    u, v = np.meshgrid(np.linspace(0, 1, n + 1), np.linspace(0, 1, m + 1), indexing="ij")
    at = (np.arange(n)[:, None] * (m + 1) + np.arange(m)).ravel()
    low, high = at, at + m + 1
    return (place(u.ravel(), v.ravel()),
            np.concatenate([np.column_stack([low, high, high + 1]),
                            np.column_stack([low, high + 1, low + 1])]))


def face(axis, side, low, high, n, m):
    """A face of a box, seen from outside counterclockwise."""
    low, high = np.asarray(low, float), np.asarray(high, float)
    first, second = ((axis + 1) % 3, (axis + 2) % 3)[::side]

    def place(u, v):
        p = np.empty((len(u), 3))
        p[:, axis] = (high if side > 0 else low)[axis]
        p[:, first] = low[first] + u * (high - low)[first]
        p[:, second] = low[second] + v * (high - low)[second]
        return p
    return patch(n, m, place)


FACES = [(axis, side) for axis in range(3) for side in (-1, 1)]


def box(low, high, n=6, without=()):
    return [face(*which, low, high, n, n) for which in FACES if which not in without]


def cube(n=6):
    return box([0] * 3, [SIDE] * 3, n)


def uneven(random):
    """A cube whose faces have other numbers of quads each, so that corners lie on sides."""
    return [face(*which, [0] * 3, [SIDE] * 3, *random.integers(3, 12, 2)) for which in FACES]


def sphere():
    faces = [face(*which, [-1] * 3, [1] * 3, 12, 12) for which in FACES]
    rays = [(np.tan(p * np.pi / 4), t) for p, t in faces]
    return [(0.5 * SIDE * p / np.linalg.norm(p, axis=1)[:, None], t) for p, t in rays]


def cylinder():
    n, radius, half = 40, 0.04, 0.05
    wall = patch(n, 4, lambda u, v: np.column_stack(
        [radius * np.cos(2 * np.pi * u), radius * np.sin(2 * np.pi * u), half * (2 * v - 1)]))
    angle = 2 * np.pi * np.arange(n) / n
    lids = []
    for side in (-1, 1):
        rim = np.column_stack([radius * np.cos(angle), radius * np.sin(angle), np.full(n, side * half)])
        fan = np.column_stack([np.arange(n), (np.arange(n) + 1) % n, np.full(n, n)])
        lids.append((np.vstack([rim, [0, 0, side * half]]), fan[:, ::side]))
    return [wall, *lids]


def two_cubes():
    """With a wall between, there from both sides."""
    return cube() + box([SIDE, 0, 0], [2 * SIDE, SIDE, SIDE])


def angle_piece():
    """An L: faces of 8 and of 4 quads meet."""
    return (box([0] * 3, [2 * SIDE, SIDE, SIDE], 8, without=[(1, 1)])
            + [face(1, 1, [SIDE, 0, 0], [2 * SIDE, SIDE, SIDE], 4, 4)]
            + box([0, SIDE, 0], [SIDE, 2 * SIDE, SIDE], 4, without=[(1, -1)]))


def hollow():
    return cube() + [(p, t[:, ::-1]) for p, t in box([0.03] * 3, [0.07] * 3, 3)]


def moved(patches, random, share):
    """Each corner by itself, by half of a share of SIDE at most."""
    return [(p + share * SIDE * random.uniform(-0.5, 0.5, p.shape), t) for p, t in patches]


def shifted(patches, random, share):
    """Each patch as a whole."""
    return [(p + share * SIDE * random.uniform(-1, 1, 3), t) for p, t in patches]


def turned(patches, random):
    return [(p, t[:, ::-1] if random.random() < 0.5 else t) for p, t in patches]


def volume_of(patches):
    return sum(np.einsum("ij,ij", p[t[:, 0]], np.cross(p[t[:, 1]], p[t[:, 2]])) for p, t in patches) / 6


def within(low, high):
    return lambda x: np.all((x > low) & (x < high), axis=1)


IN_CUBE, IN_TWO = within(0, SIDE), within(0, [2 * SIDE, SIDE, SIDE])
IN_HOLE = within(0.03, 0.07)
SHAPES = {
    "cube": (lambda r: cube(), IN_CUBE), "uneven": (uneven, IN_CUBE),
    "sphere": (lambda r: sphere(), lambda x: np.linalg.norm(x, axis=1) < 0.5 * SIDE),
    "cylinder": (lambda r: cylinder(), lambda x: (np.hypot(x[:, 0], x[:, 1]) < 0.04) & (abs(x[:, 2]) < 0.05)),
    "two cubes": (lambda r: two_cubes(), IN_TWO),
    "angle": (lambda r: angle_piece(), lambda x: IN_TWO(x) | within([0, SIDE, 0], [SIDE, 2 * SIDE, SIDE])(x)
              | within(0, SIDE)(x) | (np.all(x > 0, axis=1) & (x[:, 0] < SIDE) & (x[:, 1] < 2 * SIDE) & (x[:, 2] < SIDE))),
    "hollow": (lambda r: hollow(), lambda x: IN_CUBE(x) & ~IN_HOLE(x)),
    "twice": (lambda r: cube() + cube(), IN_CUBE), "half twice": (lambda r: cube() + cube()[:3], IN_CUBE)}
VOLUMES = {"cylinder": volume_of(cylinder()), "sphere": volume_of(sphere()), "two cubes": 2 * SIDE**3, "angle": 3 * SIDE**3,
           "hollow": SIDE**3 - 0.04**3}

# shape, how far corners are off as a share of SIDE, whether faces are turned, what is warned about
CASES = [
    ("cube", 0, False, []), ("cube", 1e-7, False, []), ("cube", 2e-6, False, ["welded"]), ("cube", 1e-5, False, ["welded"]),
    ("cube", 1e-4, False, ["welded"]), ("cube", 1e-3, False, ["welded"]), ("cube", 3e-3, False, ["open", "welded"]),
    ("cube", 1e-4, True, ["welded", "turned"]),
    ("uneven", 0, False, []), ("uneven", 1e-6, False, []), ("uneven", 3e-5, False, ["welded"]),
    ("sphere", 1e-5, False, ["welded"]), ("sphere", 3e-6, True, ["welded", "turned"]), ("sphere", 3e-4, True, ["welded", "turned"]),
    ("cylinder", 2e-5, False, ["welded"]),
    ("two cubes", 1e-6, False, []), ("two cubes", 1e-3, False, ["welded"]),
    ("angle", 1e-6, False, []), ("angle", 1e-3, False, ["welded"]), ("hollow", 1e-5, False, ["welded"]),
    ("twice", 0, False, []), ("twice", 1e-6, False, []), ("half twice", 1e-5, True, ["welded", "turned"])]


def write(path, patches):
    with open(path, "w") as to:
        first = 1
        for points, triangles in patches:
            to.writelines("v %.17g %.17g %.17g\n" % tuple(p) for p in points)
            to.writelines("f %d %d %d\n" % tuple(t) for t in triangles + first)
            first += len(points)


def load(tmp_path, monkeypatch, patches):
    """A field of its own, not one that is kept; and the names of what is warned about."""
    monkeypatch.setenv("ABUT_CACHE_DIR", str(tmp_path / "cache"))
    write(tmp_path / "soup.obj", patches)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        body = abut.Context("host", precision="f64").load(tmp_path / "soup.obj")
    return body, {str(w.message).split("soup.obj: ")[-1].split(":")[0] for w in told}


def check(body, patches, inside, volume, share):
    random = np.random.default_rng(5)
    points = np.concatenate([p for p, _ in patches])
    low, high = points.min(0), points.max(0)
    x = random.uniform(low - 0.1 * (high - low), high + 0.1 * (high - low), (3000, 3))
    d = np.asarray(body.evaluate(x)[0])
    clear = np.abs(d) > CLEAR
    assert clear.mean() > 0.5
    assert np.array_equal((d < 0)[clear], inside(x)[clear])
    assert abs(body.report["volume"] / volume - 1) < share


@pytest.mark.parametrize("shape, share, turns, expected", CASES,
                         ids=[f"{s}, {e:g}{', turned' if t else ''}" for s, e, t, _ in CASES])
def test_soup(tmp_path, monkeypatch, shape, share, turns, expected):
    random = np.random.default_rng(2)
    make, inside = SHAPES[shape]
    patches = moved(make(random), random, share)
    patches = turned(patches, random) if turns else patches
    body, names = load(tmp_path, monkeypatch, patches)
    check(body, patches, inside, VOLUMES.get(shape, SIDE**3), 2e-3)
    assert set(expected) <= names <= {*expected, "inside out"}


@pytest.mark.parametrize("share, expected", [(1e-4, {"welded"}), (2e-3, {"open"}), (1e-2, {"open"})])
def test_faces_apart(tmp_path, monkeypatch, share, expected):
    """Beyond a thousandth of the size nothing is welded, and winding numbers say what is inside."""
    patches = shifted(cube(5), np.random.default_rng(3), share)
    body, names = load(tmp_path, monkeypatch, patches)
    check(body, patches, IN_CUBE, SIDE**3, 0.02)
    assert expected <= names <= {*expected, "welded", "thin"}


def test_lid(tmp_path, monkeypatch):
    """A hole in its own right is closed: the open mesh's winding numbers agree."""
    patches = box([0] * 3, [SIDE] * 3, without=[(2, 1)])
    body, names = load(tmp_path, monkeypatch, patches)
    check(body, patches, IN_CUBE, SIDE**3, 1e-6)
    assert names == {"open"}


def test_apart_and_turned(tmp_path, monkeypatch):
    """Nothing says where the inside is: no body, or a warning."""
    random = np.random.default_rng(4)
    patches = turned(shifted(cube(5), random, 5e-3), random)
    try:
        _, names = load(tmp_path, monkeypatch, patches)
    except abut.Error as error:
        assert "encloses no volume" in str(error)
    else:
        assert "closing" in names


def test_plate_beside_tangles(tmp_path, monkeypatch):
    """A thin plate keeps both of its sides, though corners of others are joined within its thickness."""
    random = np.random.default_rng(6)
    plate = box([0, 0, 3 * SIDE], [SIDE, SIDE, 3 * SIDE + 1e-3 * SIDE], 6)
    edge = box([2 * SIDE] * 3, [3 * SIDE] * 3, 2) + box([3 * SIDE, 3 * SIDE, 2 * SIDE], [4 * SIDE, 4 * SIDE, 3 * SIDE], 2)
    for i in range(3):  # without tangles, with those that can be undone, and with those that stay
        patches = plate + (moved(two_cubes(), random, 1e-3) if i else []) + (edge if i == 2 else [])
        body, _ = load(tmp_path, monkeypatch, patches)
        solids = SIDE**3 * (1e-3 + 2 * (i > 0) + 2 * (i == 2))
        assert abs(body.report["volume"] / solids - 1) < (1e-6 if i == 0 else 1e-4)


def test_equal_walls(tmp_path, monkeypatch):
    """A wall whose faces are equal to the bit, between solids whose other faces are not."""
    wall = [face(0, 1, [0] * 3, [SIDE] * 3, 6, 6), face(0, -1, [SIDE, 0, 0], [2 * SIDE, SIDE, SIDE], 6, 6)]
    others = box([0] * 3, [SIDE] * 3, without=[(0, 1)]) + box([SIDE, 0, 0], [2 * SIDE, SIDE, SIDE], without=[(0, -1)])
    patches = wall + moved(others, np.random.default_rng(7), 1e-6)
    body, names = load(tmp_path, monkeypatch, patches)
    check(body, patches, IN_TWO, 2 * SIDE**3, 1e-4)
    assert names <= {"inside out"}


def test_inside_out_beside_a_hole(tmp_path, monkeypatch):
    """A box inside out that overlaps another one adds to it, though a triangle of that is missing."""
    large = box([0] * 3, [SIDE] * 3, 4)
    points, triangles = large[0]
    large[0] = points, triangles[1:]
    small = [(p, t[:, ::-1]) for p, t in box([0.8 * SIDE, 0.2 * SIDE, 0.2 * SIDE], [1.6 * SIDE, 0.8 * SIDE, 0.8 * SIDE], 4)]
    patches = large + small

    def inside(x):
        return IN_CUBE(x) | within([0.8 * SIDE, 0.2 * SIDE, 0.2 * SIDE], [1.6 * SIDE, 0.8 * SIDE, 0.8 * SIDE])(x)
    body, names = load(tmp_path, monkeypatch, patches)
    check(body, patches, inside, SIDE**3 * (1 + 0.6**2 * 0.6), 1e-3)
    assert {"open", "inside out"} <= names


def test_decompose_says_so(tmp_path, monkeypatch):
    """What is made of such meshes warns as their fields do."""
    patches = shifted(cube(5), np.random.default_rng(3), 2e-3)
    write(tmp_path / "soup.obj", patches)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        abut.decompose(tmp_path / "soup.obj", 1, context=abut.Context("host", precision="f64"))
    assert any("open: " in str(w.message) for w in told)


def test_narrow_slit(tmp_path, monkeypatch):
    """Of a closed mesh nothing is welded, however near its faces are."""
    slit = 2e-5 * SIDE
    patches = box([0] * 3, [SIDE] * 3, 1) + box([SIDE + slit, 0, 0], [2 * SIDE + slit, SIDE, SIDE], 1)
    body, names = load(tmp_path, monkeypatch, patches)
    check(body, patches, IN_TWO, 2 * SIDE**3, 1e-3)
    assert "welded" not in names and body.report["shells"] == 2
