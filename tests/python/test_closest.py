"""Closest points of convex shapes from Python."""
import json
import os
import pathlib

import abut
import numpy as np
import pytest
from conftest import ROOT

SHARED = os.environ.get("ABUT_SHARED")
IDENTITY = [0, 0, 0, 1, 0, 0, 0]
# Of both spans, float64 and float32: the distance of each part's golden answers.
PARTS = {"polytopes": (1e-11, 2e-6), "awkward": (1e-11, 4e-6), "mixed": (1e-9, 4e-6)}


def poses(count, seed=1, width=7, reach=1.0):
    """Poses around the origin, most of which are apart for shapes of half a metre."""
    rng = np.random.default_rng(seed)
    twists = rng.normal(size=(count, 6)) * ([reach] * 3 + [1.0] * 3)
    return twists if width == 6 else abut.pose.exp(twists)


def golden(part, context):
    folder = pathlib.Path(SHARED or "nowhere") / "golden-closest" / part
    if not folder.is_dir():
        pytest.skip("ABUT_SHARED names no folder with golden-closest")
    shapes = abut.load_shapes(folder / "shapes.json", context)
    given, wanted = (dict(np.load(folder / f"{name}.npz")) for name in ("inputs", "expected"))
    spans = np.array([shape.span for shape in shapes])
    return shapes, given, wanted, spans[given["one"]] + spans[given["two"]]


def check_points(r, sizes, within):
    """What holds of all answers, of whatever shapes."""
    __tracebackhide__ = True
    far = np.abs(r.p1 + r.d[..., None] * r.n - r.p2).max(-1)
    assert (far <= within * sizes).all()
    np.testing.assert_allclose(np.linalg.norm(r.n, axis=-1), 1, atol=within)


# ---- answers ----


@pytest.mark.parametrize("part", PARTS)
def test_golden(context, part):
    shapes, given, wanted, sizes = golden(part, context)
    rows = {"one": given["one"], "two": given["two"]}
    r = abut.closest(shapes, shapes, given["pose1"], given["pose2"], **rows)
    single = context.precision == "f32"
    assert (np.abs(r.d - wanted["d"]) <= PARTS[part][single] * sizes).all()
    assert r.rejected == 0 and (single or r.unsettled == 0)
    if part == "polytopes":
        clear = np.abs(wanted["d"]) > 1e-3
        for name, mask in (("n", "one_normal"), ("p1", "one_point"), ("p2", "one_point")):
            off = np.abs(getattr(r, name) - wanted[name])[clear & (wanted[mask] == 1)]
            assert off.max() <= (1e-4 if single else 1e-9)
        check_points(r, sizes, 4e-6 if single else 1e-12)
    again = abut.closest(shapes, shapes, given["pose1"], given["pose2"], r.warm, **rows)
    assert (np.abs(again.d - r.d) <= PARTS[part][single] * sizes).all()
    assert again.iterations.sum() < r.iterations.sum() or part == "awkward"


def test_spheres(context):
    """Of two balls all is known: also of a hull of one vertex with a radius."""
    a, b = (abut.Shape("sphere", r, context=context) for r in (0.3, 0.2))
    point = abut.Shape("hull", [[0, 0, 0]], radius=0.2, context=context)
    p1, p2 = poses(200), poses(200, 2)
    between = p2[:, :3] - p1[:, :3]
    length = np.linalg.norm(between, axis=1)
    tolerance = 1e-12 if context.precision == "f64" else 2e-6
    for other in (b, point):
        r = abut.closest(a, other, p1, p2)
        assert r.d.dtype == context.dtype and r.status.dtype == np.uint8 and not r.status.any()
        np.testing.assert_allclose(r.d, length - 0.5, atol=tolerance)
        np.testing.assert_allclose(r.n, between / length[:, None], atol=10 * tolerance)
        np.testing.assert_allclose(r.p1, p1[:, :3] + 0.3 * between / length[:, None], atol=10 * tolerance)
        np.testing.assert_allclose(r.p2, p2[:, :3] - 0.2 * between / length[:, None], atol=10 * tolerance)
        assert (r.gap >= 0).all() and (r.gap <= tolerance).all()


def segment_distance(a, b):
    """Of segments (2, 3), by the best of ends against segments and of both insides."""
    def to_segment(x, s):
        e = s[1] - s[0]
        return np.linalg.norm(s[0] + np.clip((x - s[0]) @ e / (e @ e), 0, 1) * e - x)

    best = min(*(to_segment(x, b) for x in a), *(to_segment(x, a) for x in b))
    u, v, w = a[1] - a[0], b[1] - b[0], a[0] - b[0]
    s, t = np.linalg.lstsq(np.stack([u, -v], 1), -w, rcond=None)[0]
    return min(best, np.linalg.norm(w + s * u - t * v)) if 0 <= s <= 1 and 0 <= t <= 1 else best


def test_capsules(double):
    a, b = abut.Shape("capsule", (0.1, 0.4), context=double), abut.Shape("capsule", (0.2, 0.3), context=double)
    p1, p2 = poses(100), poses(100, 2)
    r = abut.closest(a, b, p1, p2)
    ends = [abut.pose.to_matrix(p)[:, None, :3, :] @ np.array([[0, 0, -h, 1], [0, 0, h, 1]])[..., None]
            for p, h in ((p1, 0.4), (p2, 0.3))]
    wanted = np.array([segment_distance(x[..., 0], y[..., 0]) for x, y in zip(*ends)]) - 0.3
    np.testing.assert_allclose(r.d, wanted, atol=1e-12)
    check_points(r, 1.0, 1e-12)


def test_boxes(context):
    """Along an axis, apart and overlapping, as a box and as the hull of its corners."""
    box = abut.Shape("box", (0.5, 0.4, 0.3), context=context)
    hull = abut.Shape("hull", box.vertices, context=context)
    assert box.vertices.shape == (8, 3) and hull.dimensions == 3 and hull.vertex_count == 8
    at = np.tile(np.array(IDENTITY, float), (4, 1))
    at[:, 0] = [1.5, 1.0 + 1e-3, 0.9, 0.95]
    at[:, 1] = 0.05
    for first, second in ((box, box), (box, hull), (hull, hull)):
        r = abut.closest(first, second, IDENTITY, at)
        np.testing.assert_allclose(r.d, at[:, 0] - 1, atol=1e-6)
        np.testing.assert_allclose(r.n, np.tile([1, 0, 0], (4, 1)), atol=1e-5)
        np.testing.assert_allclose(r.p1[:, 0], 0.5, atol=1e-6)
        np.testing.assert_allclose(r.p2[:, 0], at[:, 0] - 0.5, atol=1e-6)


def test_rounding_and_frames(double):
    """A radius, and a frame of the shape's own."""
    quaternion = np.array([0.9, 0.1, -0.3, 0.2])
    position = [0.1, -0.2, 0.3]
    plain = abut.Shape("cylinder", (0.2, 0.4), context=double)
    placed = abut.Shape("cylinder", (0.2, 0.4), radius=0.05, position=position, quaternion=3 * quaternion,
                        context=double)
    ball = abut.Shape("ellipsoid", (0.3, 0.2, 0.1), context=double)
    p1, p2 = poses(50), poses(50, 2)
    own = np.array([*position, *quaternion / np.linalg.norm(quaternion)])
    r = abut.closest(placed, ball, p1, p2)
    moved = abut.closest(plain, ball, abut.pose.compose(p1, np.tile(own, (50, 1))), p2)
    np.testing.assert_allclose(r.d, moved.d - 0.05, atol=1e-11)
    np.testing.assert_allclose(r.p1, moved.p1 + 0.05 * moved.n, atol=1e-5)
    assert placed.diagonal == plain.diagonal == pytest.approx(np.hypot(np.hypot(0.4, 0.4), 0.8))
    assert placed.span == pytest.approx(np.hypot(np.hypot(0.5, 0.5), 0.9))


def test_kinds(double):
    """All kinds against a plane-like box below them: half their height is their lowest point."""
    floor = abut.Shape("box", (5, 5, 1), context=double)
    at = [0, 0, 2, 1, 0, 0, 0]
    heights = {"sphere": (0.3,), "box": ((0.1, 0.2, 0.3),), "ellipsoid": ((0.1, 0.2, 0.3),), "capsule": ((0.1, 0.2),),
               "cylinder": ((0.1, 0.3),), "cone": ((0.1, 0.3),), "superquadric": ((0.1, 0.2, 0.3), (0.7, 1.3)),
               "hull": ([[0, 0, -0.3], [0, 0, 0.3], [0.1, 0, 0], [0, 0.1, 0]],)}
    for kind, numbers in heights.items():
        shape = abut.Shape(kind, *numbers, context=double)
        assert shape.kind == kind and shape.context is double and kind in repr(shape)
        r = abut.closest(floor, shape, None, at)
        assert r.d.shape == () and r.n.shape == (3,) and r.warm.shape == (4, 2)
        assert r.d == pytest.approx(0.7, abs=1e-9), kind
        np.testing.assert_allclose(r.n, [0, 0, 1], atol=1e-5)


def test_of_bodies(context):
    """The hull of a body's mesh holds it; primitives are where the body's file has them."""
    part = context.load(ROOT / "assets" / "part.body.json")
    hull = abut.Shape.of(part)
    assert hull.kind == "hull" and hull.context is context
    vertices, _ = part.mesh()
    assert {*map(tuple, hull.vertices)} <= {*map(tuple, vertices)}
    for shape in (hull, *abut.Shape.of(part, "polyhedra")):
        at = np.tile(np.array(IDENTITY, float), (6, 1))
        for k in range(6):
            at[k, k % 3] = 5 if k < 3 else -5
        walls = abut.closest(shape, abut.Shape("box", (1, 1, 1), context=context), None, at)
        own = shape.vertices if shape is not hull else vertices
        np.testing.assert_allclose(4 - walls.d, [*own.max(0), *-own.min(0)], atol=2e-6)
    made = abut.Shape.of(part, "superquadrics")
    assert [shape.kind for shape in made] == ["superquadric"]  # the others are taken away
    own = abut.Shape("superquadric", (0.17, 0.17, 0.1), (0.2, 1), position=[0, 0, 0.06], context=context)
    ball, p2 = abut.Shape("sphere", 0.1, context=context), poses(20)
    assert np.array_equal(abut.closest(made[0], ball, None, p2).d, abut.closest(own, ball, None, p2).d)
    with pytest.raises(ValueError):
        abut.Shape.of(part, "spheres")
    with pytest.raises(abut.Error, match="polyhedra"):
        abut.Shape.of(context.load(ROOT / "assets" / "figure.body.json"), "polyhedra")


def test_files(context, tmp_path):
    path = tmp_path / "two.shapes.json"
    path.write_text(json.dumps([{"kind": "box", "numbers": [[0.3, 0.2, 0.1]], "radius": 0.05},
                                {"kind": "superquadric", "numbers": [[0.3, 0.2, 0.1], [0.5, 1.5]],
                                 "position": [0.1, 0, 0], "quaternion": [0, 1, 0, 0]}]))
    box, other = abut.load_shapes(path, context)
    assert (box.kind, other.kind) == ("box", "superquadric") and box.context is context
    assert box.diagonal == pytest.approx(2 * np.linalg.norm([0.3, 0.2, 0.1]))
    same = (abut.Shape("box", (0.3, 0.2, 0.1), radius=0.05, context=context),
            abut.Shape("superquadric", (0.3, 0.2, 0.1), (0.5, 1.5), position=[0.1, 0, 0], quaternion=[0, 1, 0, 0],
                       context=context))
    p2 = poses(20)
    assert np.array_equal(abut.closest(box, other, None, p2).d, abut.closest(*same, None, p2).d)
    path.write_text('[{"kind": "ball", "numbers": [1]}]')
    with pytest.raises(abut.Error, match="two.shapes.json"):
        abut.load_shapes(path, context)
    with pytest.raises(abut.Error, match="none"):
        abut.load_shapes(tmp_path / "none.json", context)
    with pytest.raises(ValueError):
        abut.load_shapes("a\0b", context)


# ---- calls ----


def test_lists(double):
    shapes = [abut.Shape("box", (0.3, 0.2, 0.1), context=double), abut.Shape("sphere", 0.2, context=double),
              abut.Shape("cone", (0.2, 0.3), context=double)]
    others = [abut.Shape("capsule", (0.1, 0.2), context=double), shapes[1]]
    rng = np.random.default_rng(3)
    p1, p2 = poses(60), poses(60, 2)
    one, two = rng.integers(0, 3, 60), rng.integers(0, 2, 60)
    r = abut.closest(shapes, others, p1, p2, one=one, two=two.astype(np.uint8))
    alone = abut.closest(shapes[0], others, p1, p2, two=two)
    same = abut.closest(shapes, shapes, p1, p2, one=one, two=np.int64(1))
    for i in range(60):
        for got, first, second in ((r, shapes[one[i]], others[two[i]]), (alone, shapes[0], others[two[i]]),
                                   (same, shapes[one[i]], shapes[1])):
            wanted = abut.closest(first, second, p1[i], p2[i])
            for name in ("d", "n", "p1", "p2", "gap", "status", "iterations", "warm"):
                assert np.array_equal(getattr(got, name)[i], getattr(wanted, name))


def test_poses(context):
    """Ways to write poses, and leading axes."""
    a, b = abut.Shape("box", (0.3, 0.2, 0.1), context=context), abut.Shape("cone", (0.2, 0.3), context=context)
    twists = poses(6, width=6).astype(context.dtype).reshape(2, 3, 6)
    as_quaternions = abut.pose.exp(twists)
    r = abut.closest(a, b, np.zeros(6), twists)
    assert r.d.shape == (2, 3) and r.p1.shape == (2, 3, 3) and r.warm.shape == (2, 3, 4, 2)
    within = 1e-6 if context.precision == "f32" else 1e-12
    for pose in (as_quaternions, abut.pose.to_matrix(as_quaternions), as_quaternions.tolist()):
        np.testing.assert_allclose(abut.closest(a, b, None, pose).d, r.d, atol=within)
    np.testing.assert_allclose(abut.closest(a, b, np.zeros((2, 1, 6)), twists[:1]).d, r.d[[0, 0]], atol=within)
    none = abut.closest(a, b, np.zeros((0, 7)), None)
    assert none.d.shape == (0,) and none.n.shape == (0, 3) and none.unsettled == none.rejected == 0
    nothing = abut.closest([a], [b], np.zeros((0, 7)), None, one=np.zeros(0, int), two=0)
    assert nothing.d.shape == (0,)


def test_warm(double):
    """From an earlier answer, from that of other poses, from one of nonsense: the same."""
    a, b = (abut.Shape("hull", np.random.default_rng(k).normal(size=(30, 3)), radius=0.01, context=double)
            for k in (0, 1))
    p1, p2 = poses(100), poses(100, 2, reach=3.0)
    r = abut.closest(a, b, p1, p2)
    for warm in (r.warm, r.warm[::-1], r.warm[0], np.full((4, 2), -1), np.full((4, 2), 10**6)):
        again = abut.closest(a, b, p1, p2, warm)
        np.testing.assert_allclose(again.d, r.d, atol=2e-11)
        np.testing.assert_allclose(again.p1, r.p1, atol=1e-9)
    assert abut.closest(a, b, p1, p2, r.warm).iterations.sum() < r.iterations.sum()


def test_settings(double):
    a, b = abut.Shape("ellipsoid", (0.5, 0.3, 0.2), context=double), abut.Shape("sphere", 0.1, context=double)
    p2 = poses(100, reach=2.0)
    r = abut.closest(a, b, None, p2)
    near = abut.closest(a, b, None, p2, cutoff=0.5)
    beyond = near.status == abut.ClosestStatus.BEYOND
    assert beyond.any() and (near.d[beyond] > 0.5).all() and (near.d[beyond] <= r.d[beyond] + 1e-12).all()
    assert (r.d[beyond] <= near.d[beyond] + near.gap[beyond] + 1e-12).all()
    assert np.array_equal(near.d[~beyond], r.d[~beyond]) and (r.d[~beyond] <= 0.5 + 1e-12).all()
    short = abut.closest(a, b, None, p2, iterations_most=2)
    limited = short.status == abut.ClosestStatus.ITERATION_LIMIT
    assert limited.any() and short.unsettled == limited.sum()
    assert (np.abs(short.d - r.d) <= short.gap + 1e-12).all()
    coarse = abut.closest(a, b, None, p2, tolerance=1e-3)
    assert (np.abs(coarse.d - r.d) <= 1e-3 * (a.span + b.span)).all()


def test_bad_poses(context):
    a, b = abut.Shape("box", (0.3, 0.2, 0.1), context=context), abut.Shape("sphere", 0.2, context=context)
    p2 = poses(6)
    p2[1, 0], p2[3, 3:], p2[4, 5] = np.nan, 0, np.inf
    r = abut.closest(a, b, None, p2)
    bad = np.isin(np.arange(6), [1, 3, 4])
    assert np.array_equal(r.status == abut.ClosestStatus.BAD_INPUT, bad) and r.rejected == 3
    for name in ("d", "n", "p1", "p2", "gap"):
        assert np.isfinite(getattr(r, name)).all() and not getattr(r, name)[bad].any()
    assert (r.d[~bad] == abut.closest(a, b, None, p2[~bad]).d).all()


def test_poses_are_kept(double):
    """What comes of an answer is of its poses, whatever the caller does with the arrays."""
    a, b = abut.Shape("box", (0.3, 0.2, 0.1), context=double), abut.Shape("sphere", 0.2, context=double)
    p1, p2 = poses(5), poses(5, 2)
    r = abut.closest(a, b, p1, p2)
    assert not any(np.may_share_memory(own, given) for own in (r._query.pose1, r._query.pose2) for given in (p1, p2))


# ---- refusals ----


def test_refused_shapes(context):
    for wrong in (("ball", 1.0), ("sphere",), ("sphere", 1.0, 2.0), ("sphere", [1.0, 2.0]), ("box", (1, 2)),
                  ("capsule", (1, 2, 3)), ("superquadric", (1, 2, 3)), ("superquadric", (1, 2, 3), (1, 2, 3)),
                  ("hull", [1, 2, 3]), ("hull", np.zeros((4, 2))), ("sphere", "large"), ("hull", [["a", "b", "c"]])):
        with pytest.raises(ValueError):
            abut.Shape(*wrong, context=context)
    for wrong in ({"position": [1, 2]}, {"quaternion": [1, 0, 0]}):
        with pytest.raises(ValueError):
            abut.Shape("sphere", 1.0, context=context, **wrong)
    for numbers, text in ((("sphere", -1.0), "size 0 of the sphere"), (("box", (1, np.nan, 1)), "size 1 of the box"),
                          (("ellipsoid", (1, 1, 0)), "size 2"), (("hull", np.zeros((0, 3))), "vertices"),
                          (("hull", [[0, 0, np.nan], [1, 0, 0]]), "vertex 0"),
                          (("superquadric", (1, 1, 1), (1, 2.5)), "exponent 1")):
        with pytest.raises(abut.Error, match=text) as caught:
            abut.Shape(*numbers, context=context)
        assert caught.value.name == "ABUT_ERROR_ARGUMENT"
    for wrong, text in (({"radius": -0.1}, "radius"), ({"radius": np.inf}, "radius"),
                        ({"quaternion": [0, 0, 0, 0]}, "quaternion"), ({"position": [0, np.nan, 0]}, "position")):
        with pytest.raises(abut.Error, match=text):
            abut.Shape("sphere", 1.0, context=context, **wrong)


def test_refused_calls(context):
    a, b = abut.Shape("box", (0.3, 0.2, 0.1), context=context), abut.Shape("sphere", 0.2, context=context)
    good = {"shape1": a, "shape2": b, "pose1": IDENTITY, "pose2": np.array([IDENTITY] * 3)}
    abut.closest(**good)
    for wrong in ({"one": [0, 0, 0]}, {"two": 0}, {"shape1": [a, b]}, {"shape1": []}, {"shape2": "ball"},
                  {"shape1": [a, b], "one": [0, 1, 2]}, {"shape1": [a, b], "one": [-1, 0, 0]},
                  {"shape1": [a, b], "one": [0.0, 1.0, 0.0]}, {"shape1": [a, b], "one": [0, 1]}, {"pose2": None, "pose1": None},
                  {"pose1": [0, 0, 0, 1, 0]}, {"pose1": np.zeros((2, 7))}, {"warm": np.zeros((3, 4, 2))},
                  {"warm": np.zeros((3, 4, 3), int)}, {"warm": np.zeros((2, 4, 2), int)}, {"warm": 3},
                  {"corners_most": -1}, {"iterations_most": 2**40}, {"cutoff": "far"}):
        with pytest.raises(ValueError):
            abut.closest(**{**good, **wrong})
    for wrong in ({"tolerance": -1.0}, {"tolerance": np.nan}, {"cutoff": np.nan}, {"corners_most": 5}):
        with pytest.raises(abut.Error):
            abut.closest(**{**good, **wrong})
    with abut.Context("host", context.precision) as other:
        with pytest.raises(ValueError, match="different contexts"):
            abut.closest(a, abut.Shape("sphere", 0.2, context=other), IDENTITY, IDENTITY)


def test_ends(context):
    ball = abut.Shape("sphere", 0.2, context=context)
    with abut.Shape("box", (0.3, 0.2, 0.1), context=context) as box:
        r = abut.closest(box, ball, IDENTITY, [0.0, 0, 1, 1, 0, 0, 0])
    assert r.d == pytest.approx(0.7) and "closed" in repr(box)
    with pytest.raises(ValueError, match="closed"):
        abut.closest(box, ball, IDENTITY, IDENTITY)
