"""Closest points of convex shapes from Python."""
import json
import os
import pathlib
import signal

import abut
import numpy as np
import pytest
from conftest import ROOT

SHARED = os.environ.get("ABUT_SHARED")
IDENTITY = [0, 0, 0, 1, 0, 0, 0]
# Of both spans, float64 and float32: the distance of each part's golden answers.
PARTS = {"polytopes": (1e-11, 2e-6), "awkward": (1e-11, 2e-6), "mixed": (1e-9, 4e-6)}


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
    if part == "awkward":  # some lie 2 km away, where a pose in float32 is itself rounded by 1e-4 m
        given["pose2"][:, :3] -= given["pose1"][:, :3]
        given["pose1"][:, :3] = 0
    spans = np.array([shape.span for shape in shapes])
    return shapes, given, wanted, spans[given["one"]] + spans[given["two"]]


def check_points(r, sizes, within):
    """What holds of all answers, of whatever shapes."""
    __tracebackhide__ = True
    far = np.abs(r.p1 + r.d[..., None] * r.n - r.p2).max(-1)
    assert (far <= within * sizes).all()
    np.testing.assert_allclose(np.linalg.norm(r.n, axis=-1), 1, atol=within)


# ---- what a review found ----


def turned_to_diagonal():
    """The quaternion that turns x to (1, 1, 1)."""
    return [np.cos(0.5 * np.arccos(3**-0.5)), 0, *(np.sin(0.5 * np.arccos(3**-0.5)) * np.array([-1, 1]) / 2**0.5)]


def test_long_shape_on_the_diagonal(context):
    """All axes find its two ends alone, so that it looked like a segment."""
    ends = np.diag([5.0, 1, 1])
    long_one = abut.Shape("hull", np.concatenate([ends, -ends]), context=context)
    ball = abut.Shape("sphere", 0.25, context=context)
    pose = [0, 0, 0, *turned_to_diagonal()]
    depth = 5 / np.sqrt(51)  # of the origin below |x| / 5 + |y| + |z| = 1
    r = abut.closest(ball, long_one, [IDENTITY], [pose])
    np.testing.assert_allclose(r.d, -0.25 - depth, rtol=1e-5 if context.precision == "f32" else 1e-12)


def boxes_and_round(context):
    return [abut.Shape("box", (5.5, 8, 2), radius=1.1, context=context), abut.Shape("sphere", 0.2, context=context),
            abut.Shape("cylinder", (1, 2), context=context), abut.Shape("superquadric", (1, 2, 0.5), (0.3, 0.7), context=context),
            abut.Shape("hull", np.random.default_rng(0).normal(size=(20, 3)), context=context)]


def test_any_warm_start_gives_the_answer(context):
    shapes, count = boxes_and_round(context), 2000
    rng = np.random.default_rng(5)
    rows = {"one": rng.integers(0, 5, count), "two": rng.integers(0, 5, count)}
    p1, p2 = poses(count, 6, reach=0.5), poses(count, 7, reach=6)
    cold = abut.closest(shapes, shapes, p1, p2, **rows)
    nonsense = rng.integers(-(2**31), 2**31 - 1, (count, 4, 2)).astype(np.int32)
    nonsense[::2] = rng.integers(0, 9, (count // 2, 4, 2))
    for warm in (nonsense, cold.warm[rng.permutation(count)]):
        r = abut.closest(shapes, shapes, p1, p2, warm, **rows)
        assert (np.abs(r.d - cold.d) <= r.gap + cold.gap + 1e-5 * (context.precision == "f32") + 1e-11).all()


@pytest.mark.parametrize("tolerance", [1e-15, 0.01, 0.5])
def test_gap_holds_by_any_tolerance(context, tolerance):
    box = abut.Shape("box", (0.5, 0.5, 0.5), context=context)
    flat = abut.Shape("hull", [[0, 0, 0], [1, 0, 0], [0, 1, 0]], context=context)
    places = [[x, y, z] for x in (1.2, 1.01) for y in (1.2, 0.3) for z in (1.2, 1.01)]
    p2 = np.array([[*x, 1, 0, 0, 0] for x in places])
    r = abut.closest(box, box, [IDENTITY] * len(p2), p2, tolerance=tolerance)
    true = np.linalg.norm(np.maximum(p2[:, :3] - 1, 0), axis=1)
    assert (np.abs(r.d - true) <= r.gap + 1e-6).all()
    r = abut.closest(flat, flat, [IDENTITY], [[1.1, 0, 0, 1, 0, 0, 0]], tolerance=tolerance)
    assert abs(r.d[0] - 0.1) <= r.gap[0] + 1e-6


@pytest.mark.parametrize("method", ["exact", "gumbel", "gaussian", "zeroth"])
def test_derivatives_of_points_are_finite(context, method):
    point = abut.Shape("hull", [[0, 0, 0]], context=context)
    none = abut.Shape("box", (0, 0, 0), context=context)
    long_one = abut.Shape("hull", np.random.default_rng(1).normal(size=(57, 3)), context=context)
    p2 = [IDENTITY, [1, 0.5, 0.2, 1, 0, 0, 0]]
    for one, two in ((point, point), (none, point), (long_one, point)):
        r = abut.closest(one, two, [IDENTITY] * 2, p2)
        j = abut.closest_jacobian(r, method=method, temperature=1e-6)
        assert all(np.isfinite(x).all() for x in (j.p1, j.p2, j.n, j.d))


def test_answers_that_are_no_numbers_have_no_derivatives(context):
    box = abut.Shape("box", (0.5, 0.5, 0.5), context=context)
    hull = abut.Shape("hull", np.random.default_rng(1).normal(size=(200, 3)), context=context)
    r = abut.closest(box, hull, poses(20), poses(20, 2, reach=3))
    r.n[3] = np.nan
    for method in ("exact", "gumbel", "gaussian"):
        j = abut.closest_jacobian(r, method=method)
        assert not j.p1[3].any() and np.isfinite(j.p1).all() and j.p1[4].any()


def test_cutoff_leaves_samples_alone(context):
    box = abut.Shape("box", (0.5, 0.4, 0.3), context=context)
    p1, p2 = poses(50, reach=0.1), poses(50, 2, reach=2)
    r = abut.closest(box, box, p1, p2)
    cut = abut.closest(box, box, p1, p2, cutoff=float(np.median(r.d)))
    kept = cut.status != abut.ClosestStatus.BEYOND
    assert 10 < kept.sum() < 45
    whole, some = (abut.closest_jacobian(x, method="zeroth", seed=3) for x in (r, cut))
    assert (whole.p1[kept] == some.p1[kept]).all() and not some.p1[~kept].any()


@pytest.mark.parametrize("exponents", [(1, 1), (0.9, 0.9), (1.5, 1.5), (0.3, 1.2), (0.1, 0.1)])
def test_superquadrics_are_curved_at_their_poles(context, exponents):
    """Stacked on the axis both that vanish are divided by each other; a hair beside it answers come as the same."""
    shape = abut.Shape("superquadric", (0.1, 0.1, 0.1), exponents, context=context)
    ball = abut.Shape("sphere", 0.1, context=context)
    r = abut.closest(shape, ball, [IDENTITY] * 2, [[x, 0, 0.4, 1, 0, 0, 0] for x in (0, 1e-12)])
    j = abut.closest_jacobian(r, method="exact")
    assert max(np.abs(x).max() for x in (j.p1, j.p2, j.n)) < 5
    if exponents == (1, 1):
        np.testing.assert_allclose(j.n[:, 0, 6], 1 / 0.4, rtol=1e-4)
    pair = abut.closest(shape, shape, [IDENTITY], [[0, 0, 0.3, 1, 0, 0, 0]])
    assert np.isfinite(abut.closest_jacobian(pair, method="exact").p1).all()


def test_all_that_is_beyond_is_marked(context):
    shapes, count = boxes_and_round(context), 500
    rng = np.random.default_rng(8)
    rows = {"one": rng.integers(0, 5, count), "two": rng.integers(0, 5, count)}
    p1, p2 = poses(count, 6, reach=0.5), poses(count, 7, reach=6)
    whole = abut.closest(shapes, shapes, p1, p2, **rows)
    cut = abut.closest(shapes, shapes, p1, p2, cutoff=1.0, **rows)
    beyond = cut.status == abut.ClosestStatus.BEYOND
    assert not beyond[whole.d <= 1].any() and beyond[whole.d - whole.gap > 1 + 1e-5].all() and beyond.any()
    assert (cut.d[beyond] > 1).all()


def test_slopes_that_the_ridge_holds_are_told(context):
    """A ball in a box: nothing but the ridge holds the normal by `exact`, and softness does by `gaussian`."""
    box = abut.Shape("box", (0.3, 0.2, 0.2), context=context)
    other = abut.Shape("hull", 0.1 * np.random.default_rng(2).normal(size=(12, 3)), context=context)
    p2 = [[0.02, 0.01, 0.2, 1, 0, 0, 0], [0, 0, 2, 1, 0, 0, 0]]
    r = abut.closest(box, other, [IDENTITY] * 2, p2)
    assert r.d[0] < 0 < r.d[1]
    steep = int(abut.ClosestStatus.STEEP)
    told = [int(s) & steep for s in abut.closest_jacobian(r, method="exact").status]
    assert told == [steep, 0]
    assert not abut.closest_jacobian(r, method="exact", ridge=1.0).n[0].max() > 10


def test_discs_have_rims(context):
    """A cylinder without height is curved along its rim, and flat along its axis alone."""
    disc = abut.Shape("cylinder", (0.5, 0), context=context)
    ball = abut.Shape("sphere", 0.2, context=context)
    r = abut.closest(disc, ball, [IDENTITY] * 2, [[2, 0, 0, 1, 0, 0, 0], [0.1, 0, 1, 1, 0, 0, 0]])
    j = abut.closest_jacobian(r, method="exact")
    flat = int(abut.ClosestStatus.FLAT)
    assert [int(s) & flat for s in j.status] == [0, flat]
    np.testing.assert_allclose(j.n[0, 1, 7], 1 / 2, atol=1e-5)  # of what is 2 m from the axis


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
        np.testing.assert_allclose(r.n, np.tile([1, 0, 0], (4, 1)), atol=1e-4)
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
    with pytest.warns(UserWarning, match="^5 of 6 superquadrics are subtracted"):
        made = abut.Shape.of(part, "superquadrics")
    assert [shape.kind for shape in made] == ["superquadric"]  # the others are taken away
    own = abut.Shape("superquadric", (0.17, 0.17, 0.1), (0.2, 1), position=[0, 0, 0.06], context=context)
    ball, p2 = abut.Shape("sphere", 0.1, context=context), poses(20)
    assert np.array_equal(abut.closest(made[0], ball, None, p2).d, abut.closest(own, ball, None, p2).d)
    with pytest.raises(ValueError):
        abut.Shape.of(part, "spheres")
    with pytest.raises(abut.Error, match="polyhedra"):
        abut.Shape.of(context.load(ROOT / "assets" / "figure.body.json"), "polyhedra")


def test_few_iterations(context):
    """However early a row ends, the distance is within the gap; and so with a cutoff."""
    box, ball = abut.Shape("box", (0.5, 0.4, 0.3), context=context), abut.Shape("sphere", 0.3, context=context)
    p1, p2 = poses(200, reach=2.0), poses(200, 2, reach=2.0)
    for other in (box, ball):
        r = abut.closest(box, other, p1, p2)
        off = 2e-6 * (box.span + other.span)
        for most in (1, 2, 3):
            early = abut.closest(box, other, p1, p2, iterations_most=most)
            apart = r.d > (-0.3 if other is ball else 0)
            assert (early.d >= r.d - off)[apart].all() and (early.d - early.gap <= r.d + off)[apart].all()
            assert (early.status <= abut.ClosestStatus.ITERATION_LIMIT).all()
            near = abut.closest(box, other, p1, p2, iterations_most=most, cutoff=0.5)
            beyond = near.status == abut.ClosestStatus.BEYOND
            assert beyond.any() and (near.d > 0.5)[beyond].all()
            assert (near.d <= r.d + off)[beyond].all() and (near.d + near.gap >= r.d - off)[beyond].all()


def test_hulls_of_files(context, tmp_path):
    """All vertices of a mesh count, of a bare one and of the one that a body names."""
    path = tmp_path / "apex.obj"
    path.write_text("v 0 0 0\nv 2 0 0\nv 0.5 0.5 0.25\nv 0 2 0\nv 0 0 2\nv 3 3 3\nf 1 2 4\n")
    hull = abut.load_hull(path, context)
    assert (hull.kind, hull.vertex_count, hull.dimensions, hull.context) == ("hull", 5, 3, context)
    np.testing.assert_array_equal(hull.vertices, [[0, 0, 0], [2, 0, 0], [0, 2, 0], [0, 0, 2], [3, 3, 3]])
    body = ROOT / "assets" / "part.body.json"
    np.testing.assert_array_equal(abut.load_hull(body, context).vertices,
                                  abut.Shape.of(context.load(body)).vertices)
    path.write_text("v 0 0 0\nv 1 zero 0\n")
    with pytest.raises(abut.Error, match=r"apex\.obj:2: "):
        abut.load_hull(str(path), context)
    with pytest.raises(abut.Error, match="none"):
        abut.load_hull(tmp_path / "none.stl", context)
    with pytest.raises(ValueError):
        abut.load_hull("a\0b", context)


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


def test_rows_of_lists_are_broadcast(double):
    """Row numbers that NumPy broadcasts do not lie in the order of their axes."""
    shapes = [abut.Shape("sphere", r, context=double) for r in (0.1, 0.2, 0.3)]
    p2 = np.broadcast_to(poses(4)[:, None, None, :], (4, 2, 3, 7))
    r = abut.closest(shapes, shapes[0], None, p2, one=np.broadcast_to(np.arange(3), (4, 2, 3)))
    assert np.array_equal(r.d, abut.closest(shapes, shapes[0], None, p2, one=np.arange(3)).d)
    assert np.allclose(r.d[..., 0] - r.d[..., 2], 0.2)


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
    with pytest.warns(UserWarning, match="^3 of 6 poses are not finite or .* length 0; the first one has index 1: their numbers are NaN$"):
        r = abut.closest(a, b, None, p2)
    bad = np.isin(np.arange(6), [1, 3, 4])
    assert np.array_equal(r.status == abut.ClosestStatus.BAD_INPUT, bad) and r.rejected == 3
    for name in ("d", "n", "p1", "p2", "gap"):
        assert np.isfinite(getattr(r, name)[~bad]).all() and np.isnan(getattr(r, name)[bad]).all()
    assert (r.d[~bad] == abut.closest(a, b, None, p2[~bad]).d).all()


def test_poses_are_kept(double):
    """What comes of an answer is of its poses, whatever the caller does with the arrays."""
    a, b = abut.Shape("box", (0.3, 0.2, 0.1), context=double), abut.Shape("sphere", 0.2, context=double)
    p1, p2 = poses(5), poses(5, 2)
    r = abut.closest(a, b, p1, p2)
    assert not any(np.may_share_memory(own, given) for own in r._query.given.values() for given in (p1, p2))


def test_signals(contexts):
    """What a signal's handler raises ends a call between chunks, and the next one is as before."""
    context = contexts["f32"]
    a, b = (abut.Shape("superquadric", (0.3, 0.2, 0.1), (e, 1.2), context=context) for e in (0.7, 1.3))
    p2 = poses(200_000, reach=1.0)

    def stop(*_):
        raise TimeoutError("mine")

    before = signal.signal(signal.SIGALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.03)
        with pytest.raises(TimeoutError, match="mine"):
            abut.closest(a, b, None, p2)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert abut.closest(a, b, None, p2[:2]).d.shape == (2,)


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


# ---- derivatives ----

ANSWERS = ("p1", "p2", "n", "d")


def stacked(J):
    """Rows p1, p2, n, d: (N, 10, 12)."""
    return np.concatenate([J.p1, J.p2, J.n, J.d[..., None, :]], -2)


def smooth_shapes(context):
    """Ellipsoids of which "exact" tells all."""
    return (abut.Shape("ellipsoid", (0.5, 0.3, 0.2), context=context),
            abut.Shape("ellipsoid", (0.3, 0.4, 0.25), radius=0.05, position=[0.05, 0, 0.1],
                       quaternion=[0.9, 0.3, 0.1, -0.2], context=context))


@pytest.mark.parametrize("name,options", [
    ("gumbel1", {"temperature": 0.1}), ("gumbel2", {"temperature": 0.1, "level": 2}),
    ("gaussian", {"method": "gaussian", "epsilon": 0.1}), ("zeroth", {"method": "zeroth"}),
    ("finite", {"method": "finite"})])
def test_golden_derivatives(context, name, options):
    shapes, given, wanted, _ = golden("polytopes", context)
    single = context.precision == "f32"
    if single and name == "finite":
        pytest.skip("central differences need float64")
    if name in ("gaussian", "zeroth"):
        options = {**options, "seed": int(given["seed"]), "samples": int(given["samples"])}
    r = abut.closest(shapes, shapes, given["pose1"], given["pose2"], one=given["one"], two=given["two"])
    got = stacked(abut.closest_jacobian(r, **options))
    rows = wanted["derivatives"] == 1
    if name in ("zeroth", "finite"):
        path = pathlib.Path(SHARED) / "golden-closest" / "polytopes" / "estimated.npz"
        answers = np.load(path)[name]
        got, rows = got[:40], rows[:40]
    else:
        answers = np.concatenate([wanted[f"{name}_{k}"] for k in ANSWERS[:3]] + [wanted[f"{name}_d"][:, None]], 1)
    clear = (np.abs(wanted["d"]) > 1e-8)[:len(rows)]
    off = np.abs(got - answers).max((1, 2)) / np.abs(answers).max((1, 2))
    most, loose = {"zeroth": (1e-6, 1e-5), "finite": (1e-3, 1e-2)}.get(name, (1e-7, 1e-5))
    if single:
        most = loose = 5e-2 if name == "zeroth" else 2e-2
    assert off[rows & clear].max() <= most and off[rows & ~clear].max(initial=0) <= loose


def test_exact_jacobian(double):
    """Against differences along twists, of shapes apart and overlapping."""
    a, b = smooth_shapes(double)
    p1, p2 = poses(40, reach=0.3), poses(40, 2, reach=0.3)
    r = abut.closest(a, b, p1, p2)
    assert (r.d > 0).any() and (r.d < 0).any()
    J = abut.closest_jacobian(r, "exact")
    assert J.p1.shape == (40, 3, 12) and J.d.shape == (40, 12) and np.array_equal(J.status, r.status)
    h, slopes = 1e-5, np.empty((40, 10, 12))
    for k in range(12):
        step = h * np.eye(6)[k % 6]
        ends = [abut.closest(a, b, *((abut.pose.step(p1, s * step, "aligned"), p2) if k < 6 else
                                     (p1, abut.pose.step(p2, s * step, "aligned")))) for s in (1, -1)]
        slopes[:, :, k] = np.concatenate([(getattr(ends[0], name) - getattr(ends[1], name)).reshape(40, -1)
                                          for name in ANSWERS], 1) / (2 * h)
    off = np.abs(stacked(J) - slopes).max((1, 2)) / np.abs(slopes).max((1, 2))
    assert off[r.d > 0].max() < 1e-8 and off.max() < 1e-5


METHODS = [("exact", {}), ("gumbel", {"temperature": 0.1, "level": 2}), ("gaussian", {"seed": 7, "first": 3}),
           ("zeroth", {"samples": 30, "seed": 2**64 - 1})]


@pytest.mark.parametrize("method,options", METHODS)
@pytest.mark.parametrize("width", [6, 7])
def test_products(context, width, method, options):
    """vjp is the Jacobian's transpose, jvp the Jacobian times the twists; of poses' numbers by their steps."""
    shapes = [*smooth_shapes(context), abut.Shape("box", (0.3, 0.2, 0.1), context=context),
              abut.Shape("hull", np.random.default_rng(1).normal(size=(20, 3)), context=context)]
    rng = np.random.default_rng(5)
    one, two = rng.integers(0, 4, (2, 3, 20))
    p1, p2 = (poses(60, k, width).astype(context.dtype).reshape(3, 20, width) for k in (1, 2))
    r = abut.closest(shapes, shapes, p1, p2, one=one, two=two)
    J = abut.closest_jacobian(r, method, **options)
    bars = {name: rng.normal(size=getattr(r, name).shape).astype(context.dtype) for name in ANSWERS}
    twists = rng.normal(size=(3, 20, 12)).astype(context.dtype)
    g = abut.closest_vjp(r, **bars, method=method, **options)
    t = abut.closest_jvp(r, twists, method=method, **options)
    within = 1e-11 if context.precision == "f64" else 1e-4
    bar = np.concatenate([bars[name].reshape(3, 20, -1) for name in ANSWERS], -1)
    wanted = np.einsum("...rk,...r->...k", stacked(J), bar)
    scale = np.abs(stacked(J)).max((-2, -1))[..., None]
    assert (np.abs(g.twists - wanted) <= 30 * within * scale).all()
    wanted = np.einsum("...rk,...k->...r", stacked(J), twists)
    got = np.concatenate([getattr(t, name).reshape(3, 20, -1) for name in ANSWERS], -1)
    assert (np.abs(got - wanted) <= 30 * within * scale).all()
    for k, (pose, slope) in enumerate(((p1, g.pose1), (p2, g.pose2))):
        assert slope.shape == (3, 20, width) and slope.dtype == context.dtype
        wanted = abut.pose.gradient_from_frame(pose, g.twists[..., 6 * k:6 * k + 6], "aligned")
        assert (np.abs(slope - wanted) <= 100 * within * scale).all()
    assert np.array_equal(g.status, J.status) and np.array_equal(t.status, J.status)
    alone = abut.closest_vjp(r, d=bars["d"], method=method, **options)
    np.testing.assert_allclose(alone.twists, np.einsum("...k,...->...k", J.d, bars["d"]), atol=float(within * scale.max()))


def test_rows_of_random_numbers(double):
    """A row's numbers follow from the seed and its index in the whole batch."""
    a, b = smooth_shapes(double)
    p1, p2 = poses(30), poses(30, 2)
    whole = abut.closest_jacobian(abut.closest(a, b, p1, p2), "gaussian", seed=11)
    part = abut.closest_jacobian(abut.closest(a, b, p1[20:], p2[20:]), "gaussian", seed=11, first=20)
    assert all(np.array_equal(x[20:], y) for x, y in zip(whole, part))
    other = abut.closest_jacobian(abut.closest(a, b, p1[20:], p2[20:]), "gaussian", seed=11)
    assert np.abs(other.p1 - part.p1).max() > 1e-3


def test_flat(double):
    """A box's own curvature is 0, which the status tells; the answer's status stays what it was."""
    box, ball = abut.Shape("box", (0.3, 0.2, 0.1), context=double), abut.Shape("sphere", 0.2, context=double)
    r = abut.closest(box, ball, None, [[0.05, 0.02, 1.0, 1, 0, 0, 0]])
    J = abut.closest_jacobian(r, "exact", want=("d", "p1"))
    assert J.status[0] & abut.ClosestStatus.FLAT and r.status[0] == abut.ClosestStatus.CONVERGED
    assert J.n is None and J.p2 is None
    np.testing.assert_allclose(J.p1[0, :, 6:9], np.zeros((3, 3)), atol=1e-9)  # it stays on the face below ...
    soft = abut.closest_jacobian(r, "gumbel")
    assert soft.p1[0, 0, 6] > 0.05 and soft.status[0] == 0                    # ... and goes with the ball


def test_derivatives_of_bad_poses(context):
    a, b = smooth_shapes(context)
    p2 = poses(6)
    p2[1, 0], p2[3, 3:], p2[4, 5] = np.nan, 0, np.inf
    r = abut.closest(a, b, None, p2)
    bad = np.isin(np.arange(6), [1, 3, 4])
    for method, options in METHODS:
        J = stacked(abut.closest_jacobian(r, method, **options))
        g = abut.closest_vjp(r, n=[1, 2, 3], d=1, method=method, **options)
        t = abut.closest_jvp(r, np.ones(12), method=method, **options)
        for array in (J, g.twists, g.pose1, g.pose2, t.d, t.n, t.p1, t.p2):
            assert np.isfinite(array).all() and not array[bad].any() and array[~bad].any()
    empty = abut.closest(a, b, None, np.zeros((0, 7)))
    assert abut.closest_jacobian(empty).p1.shape == (0, 3, 12) and abut.closest_vjp(empty, d=1).pose2.shape == (0, 7)
    assert abut.closest_jvp(empty, np.zeros(12)).n.shape == (0, 3)


def test_kept_answers(double):
    """What comes of an answer is of its poses, whatever the caller does with the arrays afterwards."""
    a, b = smooth_shapes(double)
    p1, p2 = poses(5), poses(5, 2)
    r = abut.closest(a, b, p1, p2)
    before = abut.closest_jacobian(r, "zeroth")
    p1[:], p2[:] = 0, 1
    after = abut.closest_jacobian(r, "zeroth")
    assert all(np.array_equal(x, y) for x, y in zip(before, after))


def test_refused_derivatives(context):
    a, b = smooth_shapes(context)
    r = abut.closest(a, b, None, poses(3))
    for wrong in ({"method": "smooth"}, {"want": ("gap",)}, {"samples": -1}, {"temperature": "warm"}, {"level": 1.5},
                  {"seed": -1}):
        with pytest.raises(ValueError):
            abut.closest_jacobian(r, **wrong)
    for wrong in ({"temperature": 0.0}, {"level": 17}, {"epsilon": -1.0}, {"samples": 0}, {"ridge": np.nan}):
        with pytest.raises(abut.Error):
            abut.closest_jacobian(r, **wrong)
    with pytest.raises(TypeError, match="sharpness"):
        abut.closest_jacobian(r, sharpness=1.0)
    with pytest.raises(ValueError, match="abut.closest"):
        abut.closest_jacobian(r.d)
    with pytest.raises(ValueError, match="cotangent"):
        abut.closest_vjp(r)
    for wrong in ({"d": np.ones(4)}, {"n": np.ones((3, 4))}, {"p1": "up"}):
        with pytest.raises(ValueError):
            abut.closest_vjp(r, **wrong)
    with pytest.raises(ValueError):
        abut.closest_jvp(r, np.ones(6))
    if context.precision == "f32":
        with pytest.raises(abut.Error, match="float64"):
            abut.closest_jacobian(r, "finite")
    else:
        assert np.isfinite(abut.closest_jacobian(r, "finite").p1).all()
