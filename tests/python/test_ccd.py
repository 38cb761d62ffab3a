"""Collision in time from Python: features, meshes between poses, whole steps."""
import math
import signal

import abut
import numpy as np
import pytest
from abut import CcdFeature, CcdStatus
from conftest import ROOT, USUAL

KINDS = ("pp", "pe", "pt", "ee")
SIZES = {"pp": (1, 1), "pe": (1, 2), "pt": (1, 3), "ee": (2, 2)}  # vertices of both features
TWISTS = ("by1", "by2")
POSES = ("from1", "to1", "from2", "to2")
SLOPES = {"f32": 1e-2, "f64": 1e-5}  # of the largest entry: the distance of golden derivatives


def golden(name):
    """Answers that were computed apart from the library: tests/golden-ccd/SOURCES.md."""
    return dict(np.load(ROOT / "tests" / "golden-ccd" / f"{name}.npz"))


def vertices_of(kind):
    return sum(SIZES[kind])


def some_features(kind, count, seed=1, speed=1.0):
    """Rows, most of which meet in the middle of the step."""
    rng, (na, nb) = np.random.default_rng(seed), SIZES[kind]
    x = rng.normal(size=(count, na + nb, 3))
    first, second = rng.dirichlet(np.full(na, 4.0), count), rng.dirichlet(np.full(nb, 4.0), count)
    x[:, :na] += (np.einsum("nb,nbk->nk", second, x[:, na:]) - np.einsum("na,nak->nk", first, x[:, :na]))[:, None]
    way = 0.3 * rng.normal(size=x.shape)
    way[:, :na] += speed * rng.normal(size=(count, 1, 3))
    when = rng.uniform(0.2, 0.8, (count, 1, 1))
    return x - when * way, x + (1 - when) * way


def nearest(w, e):
    """The shortest vector to w from a segment along e that begins at 0."""
    length = e @ e
    return w - (np.clip(w @ e / length, 0, 1) if length else 0) * e


def distance(kind, x):
    """Of one row (V, 3), by the best of ends and insides."""
    if kind == "pp":
        return np.linalg.norm(x[0] - x[1])
    if kind == "pe":
        return np.linalg.norm(nearest(x[0] - x[1], x[2] - x[1]))
    if kind == "pt":
        best = [nearest(x[0] - x[i], x[j] - x[i]) for i, j in ((1, 2), (1, 3), (2, 3))]
        columns, w = np.stack([x[2] - x[1], x[3] - x[1]], 1), x[0] - x[1]
        s = np.linalg.lstsq(columns, w, rcond=None)[0]
        if s.min() >= 0 and s.sum() <= 1:
            best.append(w - columns @ s)
    else:
        best = [nearest(x[i] - x[2], x[3] - x[2]) for i in (0, 1)] + [nearest(x[i] - x[0], x[1] - x[0]) for i in (2, 3)]
        columns, w = np.stack([x[1] - x[0], x[2] - x[3]], 1), x[2] - x[0]
        s = np.linalg.lstsq(columns, w, rcond=None)[0]
        if s.min() >= 0 and s.max() <= 1:
            best.append(w - columns @ s)
    return min(map(np.linalg.norm, best))


def first_touch(kind, x0, x1, separation, keep, end=1.0):
    """The first time at which a row is as near as it may be, by steps of gap over speed; inf: never."""
    na = SIZES[kind][0]
    way = x1 - x0
    speed = max(np.linalg.norm(a - b) for a in way[:na] for b in way[na:])
    r = separation + keep * max(distance(kind, x0) - separation, 0)
    t = 0.0
    for _ in range(100_000):
        gap = distance(kind, x0 + t * way) - r
        if gap <= 1e-13:
            return t
        t += gap / (speed + 1e-300)
        if t > end:
            return math.inf
    return t


def unit_cube(half=0.5):
    vertices = half * np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    return vertices, [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]


def cubes(context, half=0.5):
    mesh = abut.CcdMesh(*unit_cube(half), context=context)
    return mesh, mesh


def thrown(count, seed=1, width=7):
    """Poses of a body of half a metre that stays around the origin, and of one that is thrown at it from 3 m away."""
    rng = np.random.default_rng(seed)
    here, there = (0.2 * rng.normal(size=(count, 6)) for _ in range(2))
    there[:, 0] += 3.0
    moves = 0.3 * rng.normal(size=(2, count, 6))
    moves[1, :, 0] -= 3.0
    made = [here, here + moves[0], there, there + moves[1]]
    return [abut.pose.exp(x) for x in made] if width == 7 else made


# ---- golden answers ----


def complaints_of_queries(g, status, toi, precision):
    bad = []
    for k, what in enumerate(g["status"]):
        got, t, early, last = CcdStatus(int(status[k])), float(toi[k]), g["early_" + precision][k], g["toi_hi"][k]
        if what in (CcdStatus.BAD_INPUT, CcdStatus.WITHIN):
            good = got == what and t == 0
        elif what == CcdStatus.FREE:
            good = got == CcdStatus.FREE or (got in (CcdStatus.HIT, CcdStatus.LIMIT) and early <= t)
        elif got == CcdStatus.WITHIN:
            good = early == 0
        else:
            good = (got == CcdStatus.HIT and early <= t <= last) or (got == CcdStatus.LIMIT and t <= last)
        if not good:
            bad.append(f"{k} {g['group'][k]}: {got.name} {t}, where {CcdStatus(int(what)).name} is within [{early}, {last}]")
    return bad


def golden_answers(g, context, **options):
    status, toi, n = np.empty(len(g["kind"]), int), np.empty(len(g["kind"])), np.empty((len(g["kind"]), 3))
    for number, kind in enumerate(g["kinds"]):
        rows, v = g["kind"] == number, vertices_of(kind)
        r = abut.ccd_queries(str(kind), g["X0"][rows, :v], g["X1"][rows, :v], separation=g["xi"][rows], keep=g["s"][rows],
                             end=g["tmax"][rows], context=context, **options)
        assert r.toi.dtype == context.dtype and r.status.dtype == np.uint8 and r.iterations.shape == (rows.sum(), 2)
        status[rows], toi[rows], n[rows] = r.status, r.toi, r.n
    return status, toi, n


def test_golden_queries(context):
    g = golden("queries")
    status, toi, n = golden_answers(g, context)
    assert not complaints_of_queries(g, status, toi, context.precision)
    assert (status == CcdStatus.LIMIT).sum() <= len(status) // 100
    hit = status == CcdStatus.HIT
    np.testing.assert_allclose(np.linalg.norm(n[hit], axis=1), 1, atol=1e-5 if context.precision == "f32" else 1e-12)
    assert not n[status == CcdStatus.BAD_INPUT].any()


def test_golden_queries_otherwise(context):
    """Neither the additive method nor plain numbers tell a hit too late."""
    g = golden("queries")
    hit = g["status"] == CcdStatus.HIT
    for options in ({"method": "additive"}, {"plain": True}, {"iterations": 2}):
        status, toi, _ = golden_answers(g, context, **options)
        assert (toi[hit] <= g["toi_hi"][hit]).all() and (status[hit] != CcdStatus.FREE).all()


def golden_rigid(context):
    """Rows of golden answers, with the library's, and gradients by both meshes' twists."""
    g = golden("rigid")
    meshes = [abut.CcdMesh(g[f"vertices{k}"], g[f"faces{k}"], context=context) for k in range(4)]
    for k in range(len(g["toi"])):
        r = abut.ccd((meshes[g["body_a"][k]], meshes[g["body_b"][k]]), *(g[name][k] for name in ("a0", "a1", "b0", "b1")),
                     motion=("linear", "arc")[g["arc"][k]], separation=float(g["xi"][k]))
        yield {name: g[name][k] for name in ("status", "toi", "smooth", "normal", "dtoi_a", "dtoi_b")}, r


def test_golden_rigid(context):
    early, normal = {"f32": (1e-4, 2e-2), "f64": (1e-8, 1e-5)}[context.precision]
    for wanted, r in golden_rigid(context):
        assert r.toi.shape == () and r.status == wanted["status"]
        assert wanted["toi"] - early <= r.toi <= wanted["toi"] + 1e-11
        if wanted["status"] != CcdStatus.HIT:
            assert r.kind == CcdFeature.NONE and not r.n.any() and r.feature1 == r.feature2 == 0
            continue
        between = r.p1 - r.p2
        np.testing.assert_allclose(between / np.linalg.norm(between), r.n, atol=normal)
        if wanted["smooth"]:
            np.testing.assert_allclose(r.n, wanted["normal"], atol=normal)
            gradients = abut.ccd_gradient(r)
            assert gradients.status == CcdStatus.HIT
            for got, name in zip(gradients[:2], ("dtoi_a", "dtoi_b")):
                scale = max(1, np.abs(wanted[name]).max())
                np.testing.assert_allclose(got, wanted[name], atol=SLOPES[context.precision] * scale)


# ---- queries ----


@pytest.mark.parametrize("kind", KINDS)
def test_queries(context, kind):
    """Against steps of gap over speed, in float64: never later."""
    rows = 30 if USUAL else 60
    x0, x1 = some_features(kind, rows)
    x0, x1 = (x.astype(np.float32).astype(float) for x in (x0, x1))
    r = abut.ccd_queries(kind, x0, x1, separation=0.0625, keep=0.125, context=context)
    slack = 1e-5 if context.precision == "f32" else 1e-9
    for k in range(rows):
        wanted = first_touch(kind, x0[k], x1[k], 0.0625, 0.125)
        start = distance(kind, x0[k])
        assert start - slack <= r.d0[k] + slack <= start + 2 * slack
        if start <= 0.0625:
            assert r.status[k] == CcdStatus.WITHIN and r.toi[k] == 0
        else:
            assert r.toi[k] <= min(wanted, 1) + slack and (r.status[k] != CcdStatus.FREE or wanted > 1 - slack)
            soon = first_touch(kind, x0[k], x1[k], 0.0625, 1.5 * 0.125 * (1 + 1e-4))
            assert r.toi[k] >= min(soon, 1) - slack
    assert (r.status == CcdStatus.HIT).sum() > rows // 3


def test_words(context):
    for kind, words in zip(KINDS, ("point-point", "point_edge", "point-triangle", "edge_edge")):
        x0, x1 = some_features(kind, 5)
        a, b = (abut.ccd_queries(name, x0, x1, context=context) for name in (kind, words))
        assert np.array_equal(a.toi, b.toi)


def test_axes_of_queries(double):
    """Leading axes of vertices and settings are broadcast; one row has none."""
    x0, x1 = some_features("pt", 6)
    whole = abut.ccd_queries("pt", x0, x1, separation=0.01, context=double)
    one = abut.ccd_queries("pt", x0[2], x1[2], separation=0.01, context=double)
    assert one.toi.shape == () and one.toi == whole.toi[2] and one.n.shape == (3,) and one.iterations.shape == (2,)
    grid = [x.reshape(2, 3, 4, 3) for x in (x0, x1)]
    many = abut.ccd_queries("pt", *grid, separation=[[0.01], [0.02]], context=double)
    assert many.toi.shape == (2, 3) and np.array_equal(many.toi[0], whole.toi[:3])
    fixed = abut.ccd_queries("pt", x0[0], x1, end=[0.25] * 6, context=double)
    assert fixed.toi.shape == (6,) and fixed.toi.max() <= 0.25
    rows = abut.ccd_queries("pt", x0[0], x1[0], end=np.linspace(0, 1, 5), context=double)
    assert rows.toi.shape == (5,) and (np.diff(rows.toi) >= 0).all()


def test_single_settings_and_many(context):
    x0, x1 = some_features("ee", 30)
    given = {"separation": 0.05, "keep": 0.1, "tolerance": 1e-3, "end": 0.75, "error": 1e-6, "relative_error": 1e-6}
    given = {name: float(np.float32(value)) for name, value in given.items()}
    a = abut.ccd_queries("ee", x0, x1, context=context, **given)
    b = abut.ccd_queries("ee", x0, x1, context=context, **{name: np.full(30, value) for name, value in given.items()})
    for name in ("toi", "status", "n", "d0", "iterations"):
        assert np.array_equal(getattr(a, name), getattr(b, name))


def test_bad_rows(context):
    x0, x1 = some_features("pe", 8)
    x0[1, 0, 0], x1[3, 2, 1] = np.nan, np.inf
    r = abut.ccd_queries("pe", x0, x1, separation=[0.01] * 5 + [-1, np.nan, 0.01], keep=[0.0] * 7 + [1.0], context=context)
    bad = np.isin(np.arange(8), [1, 3, 5, 6, 7])
    assert np.array_equal(r.status == CcdStatus.BAD_INPUT, bad) and r.rejected == 5
    assert not r.toi[bad].any() and not r.n[bad].any() and np.isfinite(r.toi).all() and np.isfinite(r.n).all()
    g = abut.ccd_queries_gradient(r)
    assert not g.x0[bad].any() and not g.x1[bad].any() and np.isfinite(g.x0).all() and np.isfinite(g.x1).all()


def test_low_parts(contexts):
    """What float32 leaves of coordinates decides a row that float32 alone leaves open."""
    x0 = np.zeros((2, 4, 3))
    x0[:, 1:] = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
    x0[:, 0] = [0.25, 0.25, 1 / 3]
    x1 = x0.copy()
    x1[:, 0, 2] = [1e-9, -1e-9]  # one stays above the triangle, one does not
    high = [x.astype(np.float32) for x in (x0, x1)]
    x0_low, x1_low = (x - h for x, h in zip((x0, x1), high))
    r = abut.ccd_queries("pt", *high, x0_low=x0_low, x1_low=x1_low, relative_error=2.0**-48, context=contexts["f32"])
    assert r.status.tolist() == [CcdStatus.FREE, CcdStatus.HIT]


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_of_queries(double, kind):
    """Central differences, but where another feature takes over."""
    x0, x1 = some_features(kind, 60, 3)
    options = {"separation": 0.05, "context": double}
    r = abut.ccd_queries(kind, x0, x1, **options)
    g = abut.ccd_queries_gradient(r)
    hit = g.status == CcdStatus.HIT
    assert hit.sum() > 20 and np.array_equal(g.status & 7, r.status)
    assert not g.x0[~hit].any() and not g.x1[~hit].any()
    rng = np.random.default_rng(4)
    step0, step1 = rng.normal(size=(2, *x0.shape))
    ends = [abut.ccd_queries(kind, x0 + h * step0, x1 + h * step1, **options).toi for h in (1e-6, -1e-6)]
    found, wanted = (ends[0] - ends[1]) / 2e-6, (g.x0 * step0 + g.x1 * step1).sum((-2, -1))
    good = np.abs(found - wanted) <= 1e-4 * (1 + np.abs(wanted))
    assert good[hit].mean() > 0.9
    twice = abut.ccd_queries_gradient(r, toi=np.full(60, 2.0))
    np.testing.assert_allclose(twice.x0, 2 * g.x0)


def test_rough(double):
    """A touch that only grazes has no slope."""
    x0 = np.array([[-1, 0.5, 0], [0, 0, 0]])
    r = abut.ccd_queries("pp", x0, x0 * [-1, 1, 1], separation=0.5, context=double)
    g = abut.ccd_queries_gradient(r)
    assert r.status == CcdStatus.HIT and g.status == CcdStatus.HIT | CcdStatus.ROUGH
    assert not g.x0.any() and not g.x1.any()


# ---- meshes ----


def test_meshes(context, tmp_path):
    vertices, faces = unit_cube()
    mesh = abut.CcdMesh(vertices, faces, context=context)
    assert (mesh.vertex_count, mesh.triangle_count, mesh.edge_count) == (8, 12, 18)
    np.testing.assert_array_equal(mesh.vertices, vertices)
    assert mesh.triangles.shape == (12, 3) and mesh.edges.shape == (18, 2) and mesh.triangles.dtype == np.uint32
    assert len(np.unique(np.sort(mesh.edges, 1), axis=0)) == 18
    assert mesh.lower.tolist() == [-0.5] * 3 and mesh.upper.tolist() == [0.5] * 3 and "18 edges" in repr(mesh)
    again = abut.CcdMesh(mesh.vertices, mesh.triangles, context=context)
    assert np.array_equal(again.triangles, mesh.triangles) and np.array_equal(again.edges, mesh.edges)
    wire = abut.CcdMesh(vertices, edges=[[0, 7]], context=context)
    assert (wire.vertex_count, wire.triangle_count, wire.edge_count) == (8, 0, 1)
    assert wire.edges.tolist() == [[0, 7]] and wire.triangles.shape == (0, 3)
    path = tmp_path / "cube.obj"
    lines = ["v {} {} {}".format(*v) for v in vertices] + ["f " + " ".join(str(i + 1) for i in face) for face in faces]
    path.write_text("\n".join(lines) + "\n")
    loaded = abut.CcdMesh.load(path, context)
    np.testing.assert_array_equal(loaded.vertices, vertices)
    assert loaded.triangle_count == 12 and loaded.edge_count == 18
    mesh.close()
    with pytest.raises(ValueError, match="closed"):
        mesh.vertices
    with pytest.raises(TypeError, match="pickled"):
        loaded.__reduce__()


def test_of_bodies(context):
    body = context.load(ROOT / "assets" / "part.body.json")
    mesh = abut.CcdMesh.of_body(body)
    vertices, edges = body.mesh()
    np.testing.assert_array_equal(mesh.vertices, vertices)
    ways = {tuple(sorted(edge)) for edge in mesh.edges.tolist()}
    assert mesh.context is context and ways >= {tuple(sorted(edge)) for edge in edges.tolist()}


def test_pairs(pair):
    """The meshes of a pair's bodies are made once, and stay as long as an answer of theirs."""
    far = np.array([[3.0, 0, 0, 1, 0, 0, 0]] * 4)
    near = far.copy()
    near[:, 0] = [0, 1, 2, 3]
    r = abut.ccd(pair, None, None, far, near, separation=1e-3)
    meshes = pair.ccd_meshes()
    assert pair.ccd_meshes() is meshes and r.toi.dtype == pair.dtype
    again = abut.ccd(tuple(abut.CcdMesh.of_body(body) for body in pair.bodies), None, None, far, near, separation=1e-3)
    assert np.array_equal(r.toi, again.toi) and r.status[0] == CcdStatus.HIT and r.status[3] == CcdStatus.FREE
    same = abut.Pair(pair.bodies[0], pair.bodies[0])
    assert same.ccd_meshes()[0] is same.ccd_meshes()[1]
    bodies = pair.bodies
    pair.close()
    with pytest.raises(ValueError, match="closed"):
        abut.ccd(pair, None, None, far, near)
    for answer in (r, abut.ccd(abut.Pair(*bodies), None, None, far, near, separation=1e-3)):
        assert abut.ccd_gradient(answer).by2[0].any()


# ---- meshes between poses ----


def test_bare_meshes(double):
    """A body of a bare mesh collides by the mesh's own surface, not by the samples that make contacts."""
    box = double.load(ROOT / "assets" / "box.obj")
    mesh = abut.CcdMesh.load(ROOT / "assets" / "box.obj", double)
    for of, where in ((abut.CcdMesh.of_body(box), "body"), (abut.Pair(box, box).ccd_meshes()[1], "pair")):
        assert np.array_equal(of.triangles, mesh.triangles), where
    r = abut.ccd(abut.Pair(box, box), [0, 0, 1, 0, 0, 0], [0, 0, -1, 0, 0, 0], None, None)
    assert r.status == CcdStatus.HIT and r.toi == pytest.approx((1 - (mesh.upper - mesh.lower)[2]) / 2, abs=1e-6)


def scene_of(tmp_path, context, file):
    text = f'''{{"contact_model": "lcp", "timestep": 0.02, "sweep": true, "gravity": [0, 0, 0],
"links": [{{"bodies": [{{"file": "{file}"}}]}},
 {{"position": [0, 0, 1], "joint": {{"type": "free"}}, "density": 2000, "bodies": [{{"sphere": 0.006}}]}}],
"pairs": [{{"a": 1, "b": 0}}]}}'''
    (tmp_path / "s.scene.json").write_text(text)
    return context.scene(tmp_path / "s.scene.json")


def test_bare_meshes_stop_what_sweeps(double, tmp_path):
    scene = scene_of(tmp_path, double, ROOT / "assets" / "box.obj")
    q = np.tile(scene.start(), (20, 1))
    q[:, :2] = np.random.default_rng(5).uniform(-0.05, 0.05, (20, 2))
    v = np.zeros((20, 6))
    v[:, 2] = -60
    s = scene.step(q, v, steps=3)
    assert (s.q[:, 2] > 0.08).all(), s.q[:, 2]


def test_bodies_without_faces_are_refused(double, tmp_path):
    (tmp_path / "b.obj").write_text("v 0 0 0\nv 1 0 0\nl 1 2\n")
    name = tmp_path / "b.body.json"
    name.write_text('{"mesh": "b.obj", "superquadrics": [{"axes": [1, 1, 1], "exponents": [1, 1], "position": [0, 0, 0],'
                    ' "quaternion": [1, 0, 0, 0]}]}')
    body = double.load(name)
    for call in (lambda: abut.CcdMesh.of_body(body), lambda: abut.Pair(body, body).ccd_meshes(),
                 lambda: abut.CcdMesh.load(name, double)):
        with pytest.raises(abut.Error, match="b.body.json: its mesh has no faces"):
            call()
    with pytest.raises(abut.Error, match=r"s.scene.json:2: links\[0\].bodies\[0\]: its file, .*b.body.json: its mesh has no faces"):
        scene_of(tmp_path, double, name)


def test_cubes(context):
    """Face to face, by hand: 1.5 m apart at speed 2, 0.25 m are to be left."""
    to2 = np.array([[1.0, 0, 0, 1, 0, 0, 0], [0, 0, 4, 1, 0, 0, 0]])
    r = abut.ccd(cubes(context), None, None, [3.0, 0.125, 0, 1, 0, 0, 0], to2, separation=0.25)
    slack = 1e-5 if context.precision == "f32" else 1e-8
    assert r.toi.shape == (2,) and r.status.tolist() == [CcdStatus.HIT, CcdStatus.FREE]
    assert 0.875 - slack <= r.toi[0] <= 0.875 + 1e-7 and r.toi[1] == 1
    np.testing.assert_allclose(r.n[0], [-1, 0, 0], atol=1e-5)
    np.testing.assert_allclose(r.p1[0, 0], 0.5, atol=1e-5)
    np.testing.assert_allclose(r.p2[0, 0], 0.75, atol=1e-5)
    assert r.kind[0] >= 0 and r.kind[1] == CcdFeature.NONE and r.candidates[0] > 0 and r.undecided == r.rejected == 0
    most = abut.ccd(cubes(context), None, None, [3.0, 0.125, 0, 1, 0, 0, 0], to2, keep=0.1)
    assert 0.9 - slack - 0.05 <= most.toi[0] <= 0.9 + 1e-6  # 0.2 m of 2 m are kept, or a little more


@pytest.mark.parametrize("motion", ["linear", "arc"])
def test_features_are_where_they_are_told(double, motion):
    """At toi the features are as near as asked, and their nearest points are those."""
    mesh, poses = cubes(double)[0], thrown(20)
    r = abut.ccd((mesh, mesh), *poses, motion=motion, separation=0.02)
    hits = np.flatnonzero(r.status == CcdStatus.HIT)
    assert len(hits) > 10
    np.testing.assert_allclose(np.linalg.norm(r.p1 - r.p2, axis=1)[hits], 0.02, atol=1e-7)
    lists = {CcdFeature.VERTEX_TRIANGLE: (np.arange(8)[:, None], mesh.triangles),
             CcdFeature.TRIANGLE_VERTEX: (mesh.triangles, np.arange(8)[:, None]), CcdFeature.EDGES: (mesh.edges, mesh.edges)}
    for k in hits if motion == "linear" else ():
        kind = CcdFeature(int(r.kind[k]))
        ends = [mesh.vertices @ abut.pose.to_matrix(p[k])[:3, :3].T + p[k, :3] for p in poses]
        where = [(1 - r.toi[k]) * ends[2 * side] + r.toi[k] * ends[2 * side + 1] for side in range(2)]
        rows = [where[side][lists[kind][side][number]] for side, number in enumerate((r.feature1[k], r.feature2[k]))]
        if kind == CcdFeature.TRIANGLE_VERTEX:
            rows.reverse()
        assert distance("ee" if kind == CcdFeature.EDGES else "pt", np.concatenate(rows)) == pytest.approx(0.02, abs=1e-7)


def test_keep_is_a_share_of_each_row(double):
    poses = thrown(20)
    r = abut.ccd(cubes(double), *poses, keep=0.1)
    touch = abut.ccd(cubes(double), *poses)
    assert (r.toi <= touch.toi).all() and (r.toi < touch.toi).any()


def test_arcs(double):
    """A bar that turns by a quarter meets posts that its ends' straight ways pass by: about its middle, and about an end."""
    bar = abut.CcdMesh([[-1.0, 0, 0], [1, 0, 0]], edges=[[0, 1]], context=double)
    start, turn = [0, 0, 0, 1, 0, 0, 0], [*np.array([1, 0, 0, 1]) / 2**0.5]
    for center, end, reach in (((0, 0, 0), [0, 0, 0, *turn], 0.95), ((1, 0, 0), [1, -1, 0, *turn], -1.9)):
        place = np.array(center) + reach * np.array([1, 1, 0]) / 2**0.5
        post = abut.CcdMesh([place - [0, 0, 1], place + [0, 0, 1]], edges=[[0, 1]], context=double)
        straight, arc, other = (abut.ccd((bar, post), start, end, None, None, separation=0.005, **options) for options in (
            {}, {"motion": "arc", "center1": center}, {"motion": "arc", "center1": (0.5, 0.5, 0)}))
        assert straight.status == CcdStatus.FREE and arc.status == CcdStatus.HIT and other.toi != arc.toi
        assert arc.toi == pytest.approx(0.5 - math.asin(0.005 / abs(reach)) / (math.pi / 2), abs=1e-6)


def test_poses(context):
    """Twists, positions with quaternions, matrices and None are the same poses, and leading axes are broadcast."""
    meshes, poses = cubes(context), thrown(6)
    slack = 2e-5 if context.precision == "f32" else 1e-8
    wanted = abut.ccd(meshes, None, None, *poses[2:], separation=0.01)
    twists = [abut.pose.log(pose) for pose in poses[2:]]
    for one, two in ((abut.pose.to_matrix(poses[2]), twists[1]), twists):
        got = abut.ccd(meshes, None, None, one, two, separation=0.01)
        np.testing.assert_allclose(got.toi, wanted.toi, atol=slack)
    alone = abut.ccd(meshes, None, None, poses[2][4], poses[3][4], separation=0.01)
    assert alone.toi.shape == () and alone.p1.shape == (3,) and alone.toi == wanted.toi[4]
    grid = abut.ccd(meshes, None, None, poses[2].reshape(2, 3, 7), poses[3][:3], separation=0.01)
    assert grid.toi.shape == (2, 3) and np.array_equal(grid.toi[0], wanted.toi[:3])


def test_bad_poses(context):
    poses = thrown(6)
    poses[3][1, 0], poses[2][3, 3:], poses[0][4, 5] = np.nan, 0, np.inf
    with pytest.warns(UserWarning, match="^3 of 6 poses are not finite, or .* length 0; the first one has index 1: their times are 0$"):
        r = abut.ccd(cubes(context), *poses, separation=0.01)
    bad = np.isin(np.arange(6), [1, 3, 4])
    assert np.array_equal(r.status == CcdStatus.BAD_INPUT, bad) and r.rejected == 3 and not r.toi[bad].any()
    g = abut.ccd_gradient(r)
    for slopes in g[:6]:
        assert np.isfinite(slopes).all() and not slopes[bad].any()


def about(motion, center):
    return {"motion": "arc", "center1": center, "center2": center} if motion == "arc" else {"motion": motion}


FAR = np.array([1e5, -7e4, 3e4])


@pytest.mark.parametrize("motion", ["linear", "arc"])
@pytest.mark.parametrize("far", ["meshes", "poses", "turned meshes", "twisted meshes"])
def test_far_from_the_origin(contexts, motion, far):
    """In float32 a hit 100 km away is early by what rounding poses costs, and never late: against float64 of the same numbers."""
    poses = thrown(40)
    if far == "poses":
        poses = [np.concatenate([p[:, :3] + FAR, p[:, 3:]], -1) for p in poses]
    else:  # the meshes lie so far from what their poses place; turned, they swing about it by metres
        turn = {"meshes": 0.0, "turned meshes": 1e-5, "twisted meshes": 1e-5}[far]
        poses = [np.concatenate([p[:, :3], turn * abut.pose.log(p)[:, 3:]], -1) for p in poses]
        poses = poses if far == "twisted meshes" else [abut.pose.exp(p) for p in poses]
    poses = [p.astype(np.float32) for p in poses]
    vertices, faces = unit_cube()
    vertices = vertices + (0 if far == "poses" else FAR)
    r = {}
    for precision, context in contexts.items():
        meshes = [abut.CcdMesh(vertices, faces, context=context)] * 2
        r[precision] = abut.ccd(meshes, *poses, **about(motion, vertices.mean(0)))
    hit = r["f64"].status == CcdStatus.HIT
    assert hit.sum() > 15 and (r["f32"].toi <= r["f64"].toi * (1 + 1e-6)).all()
    early = (r["f64"].toi - r["f32"].toi)[hit]
    assert early.max() < (0.02 if far == "poses" else 2e-4), early.max()
    off = np.abs(r["f32"].p1[hit] - r["f64"].p1[hit]).max(-1)
    assert (off < (0.1 if far == "poses" else 0.03)).mean() > 0.9  # features that are parallel have several nearest points


@pytest.mark.parametrize("far", ["meshes", "poses"])
def test_gradients_far_from_the_origin(contexts, far):
    """In float32 a hit 100 km away is no rougher than one near by."""
    poses = thrown(40)
    poses = [np.concatenate([p[:, :3] + (FAR if far == "poses" else 0), np.tile([1, 0, 0, 0], (40, 1))], -1).astype(np.float32) for p in poses]
    vertices, faces = unit_cube()
    g = {}
    for precision, context in contexts.items():
        meshes = [abut.CcdMesh(vertices + (FAR if far == "meshes" else 0), faces, context=context)] * 2
        g[precision] = abut.ccd_gradient(abut.ccd(meshes, *poses, separation=0.1))
    hit = g["f64"].status == CcdStatus.HIT
    assert hit.sum() > 15 and (g["f32"].status[hit] == CcdStatus.HIT).all()
    off = np.abs(g["f32"].by1[hit] - g["f64"].by1[hit])[:, [0, 1, 2, 6, 7, 8]].max(-1)  # the cubes' edges are parallel: some turns differ
    assert (off < (0.1 if far == "poses" else 0.01) * np.abs(g["f64"].by1[hit]).max()).mean() > 0.9


@pytest.mark.parametrize("motion", ["linear", "arc"])
def test_gradients_of_meshes_with_an_origin_of_their_own(double, motion):
    """A mesh that lies 100 m from what its pose places swings about that."""
    vertices, faces = unit_cube()
    off = 1e-3 * FAR
    meshes = [abut.CcdMesh(vertices + off, faces, context=double)] * 2
    poses = thrown(20, 5)
    poses = [np.concatenate([p[:, :3] - abut.pose.to_matrix(p)[:, :3, :3] @ off, p[:, 3:]], -1) for p in poses]
    options = {**about(motion, off), "separation": 0.05, "tolerance": 1e-13}
    g = abut.ccd_gradient(abut.ccd(meshes, *poses, **options))
    hit = g.status == CcdStatus.HIT
    assert hit.sum() > 10
    steps = np.random.default_rng(6).normal(size=(4, 20, 6)) * [1, 1, 1, 0.01, 0.01, 0.01]
    ends = [abut.ccd(meshes, *(abut.pose.step(p, h * s, "aligned") for p, s in zip(poses, steps)), **options).toi
            for h in (1e-5, -1e-5)]
    wanted = (g.by1 * np.concatenate(steps[:2], -1)).sum(-1) + (g.by2 * np.concatenate(steps[2:], -1)).sum(-1)
    good = np.abs((ends[0] - ends[1]) / 2e-5 - wanted) <= 1e-4 * (1 + np.abs(wanted))
    assert good[hit].mean() > 0.85


@pytest.mark.parametrize("motion", ["linear", "arc"])
@pytest.mark.parametrize("width", [6, 7])
def test_gradients(double, motion, width):
    """Central differences along twists of both meshes' poses, and gradients by the poses' own numbers."""
    meshes, poses = cubes(double), thrown(20, 5, width)
    options = {"motion": motion, "separation": 0.05, "tolerance": 1e-13}
    r = abut.ccd(meshes, *poses, **options)
    g = abut.ccd_gradient(r)
    hit = g.status == CcdStatus.HIT
    assert hit.sum() > 10
    steps = np.random.default_rng(6).normal(size=(4, 20, 6))
    ends = [abut.ccd(meshes, *(abut.pose.step(p, h * s, "aligned") for p, s in zip(poses, steps)), **options).toi
            for h in (1e-5, -1e-5)]
    wanted = (g.by1 * np.concatenate(steps[:2], -1)).sum(-1) + (g.by2 * np.concatenate(steps[2:], -1)).sum(-1)
    good = np.abs((ends[0] - ends[1]) / 2e-5 - wanted) <= 1e-4 * (1 + np.abs(wanted))
    assert good[hit].mean() > 0.85
    for k, name in enumerate(POSES):
        along = (g.by1, g.by2)[k // 2][:, 6 * (k % 2):6 * (k % 2) + 6]
        np.testing.assert_allclose(getattr(g, name), abut.pose.gradient_from_frame(poses[k], along, "aligned"), atol=1e-9)
    bar = np.linspace(-1, 1, 20)
    weighed = abut.ccd_gradient(r, toi=bar)
    for name in (*TWISTS, *POSES):
        np.testing.assert_allclose(getattr(weighed, name), bar[:, None] * getattr(g, name), atol=1e-12)


def test_answers_are_kept(double):
    """What comes of an answer is of its poses and vertices, whatever the caller does with the arrays."""
    poses = thrown(5)
    r = abut.ccd(cubes(double), *poses)
    assert not any(np.may_share_memory(own, given) for own in r._asked.given.values() for given in poses)
    x = some_features("pt", 5)
    q = abut.ccd_queries("pt", *x, context=double)
    assert not any(np.may_share_memory(own, given) for own in q._asked.given.values() for given in x)


def test_empty(context):
    none = np.zeros((0, 7))
    r = abut.ccd(cubes(context), None, None, none, none)
    assert r.toi.shape == (0,) and r.p1.shape == (0, 3) and r.undecided == r.rejected == 0
    assert abut.ccd_gradient(r).by1.shape == (0, 12) and abut.ccd_gradient(r).to2.shape == (0, 7)
    q = abut.ccd_queries("ee", np.zeros((0, 4, 3)), np.zeros((0, 4, 3)), separation=np.zeros(0), context=context)
    assert q.toi.shape == (0,) and q.iterations.shape == (0, 2) and abut.ccd_queries_gradient(q).x0.shape == (0, 4, 3)


def test_signals(contexts):
    """What a signal's handler raises ends a call between chunks, and the next one is as before."""
    context = contexts["f32"]
    x0, x1 = (np.tile(x, (400, 1, 1)) for x in some_features("ee", 1000))

    def stop(*_):
        raise TimeoutError("mine")

    before = signal.signal(signal.SIGALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.03)
        with pytest.raises(TimeoutError, match="mine"):
            abut.ccd_queries("ee", x0, x1, context=context)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert abut.ccd_queries("ee", x0[:2], x1[:2], context=context).toi.shape == (2,)


# ---- whole steps ----


def chain(count=12, seed=2):
    """Two chains in the plane that a step would push through each other, with their points and edges as lanes."""
    rng = np.random.default_rng(seed)
    x, step = np.zeros((2 * count, 3)), np.zeros((2 * count, 3))
    x[:count, 0] = x[count:, 0] = np.arange(count)
    x[:, 1] = 0.1 * rng.normal(size=2 * count)
    x[count:, 1] += 2
    step[:, :2] = 0.2 * rng.normal(size=(2 * count, 2))
    step[count:, 1] -= 3
    edges = [(i, i + 1) for i in range(2 * count - 1) if i != count - 1]
    points = [(p, *e) for p in range(2 * count) for e in edges if p not in e]
    return x, step, {"pe": np.array(points)}


def tetrahedra(seed=3):
    """Two tetrahedra of one array of vertices, of which one falls on the other."""
    rng = np.random.default_rng(seed)
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
    x = np.concatenate([corners, corners + [0.2, 0.2, 1.6]]) + 0.05 * rng.normal(size=(8, 3))
    step = 0.05 * rng.normal(size=(8, 3))
    step[4:, 2] -= 2
    faces, edges = ([[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]], [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]])
    pt = [(p, *(4 * o + np.array(f))) for o in (0, 1) for p in range(4 - 4 * o, 8 - 4 * o) for f in faces]
    ee = [(*e, *(4 + np.array(f))) for e in edges for f in edges]
    return x, step, {"pt": np.array(pt), "ee": np.array(ee)}


@pytest.mark.parametrize("made", [chain, tetrahedra])
@pytest.mark.parametrize("keep", [0.1, 0.5])
def test_step_filter(context, made, keep):
    """The share is that of a loop over all pairs, and the pairs have kept what they are to keep."""
    x, step, lanes = made()
    x, step = (a.astype(np.float32).astype(float) for a in (x, step))
    r = abut.step_filter(x, step, lanes, separation=0.01, keep=keep, context=context)
    rows = [(kind, k, row) for kind, array in lanes.items() for k, row in enumerate(array)]

    def loop(more):
        """The best share with a little more kept, `more` of what a hit may leave, by pair."""
        return [first_touch(kind, x[row], (x + step)[row], 0.01, keep + more) for kind, _, row in rows]

    slack = 1e-4 if context.precision == "f32" else 1e-9
    last, early = loop(0), min(loop(keep / 2 * (1 + 1e-4)))
    assert early - slack <= r.share <= min(last) + slack and 0 < r.share < 1 and r.status == CcdStatus.HIT
    kind, k = r.bound
    place = [i for i, (name, number, _) in enumerate(rows) if (name, number) == (kind, k)][0]
    assert last[place] < math.inf and 0 < r.asked <= len(rows)
    for name, _, row in rows:
        start, end = distance(name, x[row]), distance(name, (x + r.share * step)[row])
        assert end >= 0.01 + keep * (start - 0.01) - slack


def test_step_filter_ends(context):
    x, step, lanes = tetrahedra()
    free = abut.step_filter(x, 0.01 * step, lanes, context=context)
    assert free == (1.0, None, CcdStatus.FREE, free.asked)
    half = abut.step_filter(x, 0.01 * step, lanes, most=0.5, context=context)
    assert half.share == 0.5 and half.bound is None
    within = abut.step_filter(x, step, lanes, separation=5.0, context=context)
    assert within.share == 0 and within.status == CcdStatus.WITHIN and within.bound == ("pt", 0)
    words = abut.step_filter(x, step, {"edge-edge": lanes["ee"], "point-triangle": lanes["pt"]}, context=context)
    assert words.share == abut.step_filter(x, step, lanes, context=context).share
    assert words.bound[0] in ("edge-edge", "point-triangle")
    twice = abut.step_filter(x, step, {"ee": [[0, 1, 1, 2]]}, context=context)
    assert twice.share == 1 and twice.asked == 0
    for none in ({}, {"pt": []}, {"pt": np.zeros((0, 4), int)}):
        assert abut.step_filter(x, step, none, context=context) == (1.0, None, CcdStatus.FREE, 0)
    assert abut.step_filter(np.zeros((0, 3)), np.zeros((0, 3)), {}, context=context).share == 1


# ---- refusals ----


def test_pierced(context):
    """Meshes that are through each other from the start are within, whatever they do then, and tell where."""
    plate = abut.CcdMesh([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]], [[0, 1, 2], [0, 2, 3]], context=context)
    vertices, faces = unit_cube()
    rod = abut.CcdMesh((np.asarray(vertices) - np.mean(vertices, 0)) * [0.02, 0.02, 2], faces, context=context)
    start = np.array([0.5, 0.1, 0.1, 1, 0, 0, 0])
    for way in ([0, 0, 0], [0.1, 0, 0], [0, 0, 5]):
        end = start + np.r_[way, 0, 0, 0, 0]
        for motion in ("linear", "arc"):
            for separation in (0, 1e-3):
                r = abut.ccd((rod, plate), start, end, None, None, separation=separation, motion=motion)
                assert (r.status, r.toi, r.kind) == (CcdStatus.WITHIN, 0, CcdFeature.EDGE_TRIANGLE)
                ends = rod.vertices[rod.edges[r.feature1]] + start[:3]
                assert ends[:, 2].min() < 0 < ends[:, 2].max()
                assert np.allclose(r.p1, [*ends[0, :2], 0], atol=1e-6) and np.array_equal(r.p1, r.p2) and not r.n.any()
                r = abut.ccd((plate, rod), None, None, start, end, separation=separation, motion=motion)
                assert (r.status, r.toi, r.kind) == (CcdStatus.WITHIN, 0, CcdFeature.TRIANGLE_EDGE)
    g = abut.ccd_gradient(r)
    assert g.status == CcdStatus.WITHIN and not g.by1.any() and not g.by2.any()


def test_not_pierced(context):
    """In a plane beside each other, around a hole, and above: none is through the other."""
    one = abut.CcdMesh([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], [[0, 1, 2], [0, 2, 3]], context=context)
    corners = np.array([[-1, -1, 0], [2, -1, 0], [2, 2, 0], [-1, 2, 0], [-0.1, -0.1, 0], [1.1, -0.1, 0], [1.1, 1.1, 0],
                        [-0.1, 1.1, 0]])
    ring = [[k, (k + 1) % 4, 4 + (k + 1) % 4, 4 + k] for k in range(4)]
    frame = abut.CcdMesh(corners, ring, context=context)
    vertices, faces = unit_cube()
    rod = abut.CcdMesh((np.asarray(vertices) - np.mean(vertices, 0)) * [1, 1, 5] + [0.5, 0.5, 0], faces, context=context)
    random = np.random.default_rng(3)
    for _ in range(20):
        pose = np.r_[random.normal(size=3), random.normal(size=4)]
        for a, b in ((one, frame), (frame, rod)):
            r = abut.ccd((a, b), pose, pose, pose, pose)
            assert r.status == CcdStatus.FREE, (a, b)
            beside = abut.ccd((one, one), None, None, [1.001, 0, 0, 0, 0, 0], [1.001, 0, 0, 0, 0, 0])
            assert beside.status == CcdStatus.FREE


def test_names_of_what_is_wrong(context):
    x, step, lanes = tetrahedra()
    vertices, faces = unit_cube()
    mesh = cubes(context)[0]
    pose = np.zeros(6)
    with pytest.raises(abut.Error, match=r"^lanes\['pt'\]: pair 0 uses vertex"):
        abut.step_filter(x, step, {"pt": lanes["pt"] + 4}, context=context)
    for call, text in (
            (lambda: abut.step_filter(x, step, None, context=context), "lanes is a NoneType, not a mapping"),
            (lambda: abut.ccd((mesh, mesh), pose, pose, None, None, iterations=-3), "^iterations is -3"),
            (lambda: abut.ccd_queries("pp", x[:2], x[:2], iterations=1.5, context=context), "^iterations is 1.5"),
            (lambda: abut.ccd((mesh, mesh), pose, pose, None, None, center2=(0, 0, 1)), "center2 works only with motion 'arc'"),
            (lambda: abut.CcdMesh(vertices, [[0.0, 1, 2]], context=context), "face 0 has dtype float64, expected integers"),
            (lambda: abut.CcdMesh.load(ROOT / "assets" / "box.obj", context, scale=0), "scale is 0"),
            (lambda: abut.CcdMesh.load(ROOT / "assets" / "box.body.json", context, scale=2), "scale works only with bare meshes")):
        with pytest.raises(ValueError, match=text):
            call()


def test_scale(double):
    one, small = (abut.CcdMesh.load(ROOT / "assets" / "ring.obj", double, scale=scale) for scale in (1, 1e-3))
    assert np.allclose(small.vertices, one.vertices * 1e-3, rtol=1e-15) and np.array_equal(small.triangles, one.triangles)
    assert np.array_equal(small.edges, one.edges) and small.context is double


def test_refused_meshes(context):
    vertices, faces = unit_cube()
    for wrong in ((vertices[:, :2], faces), (vertices, [[0, 1]]), (vertices, [[0, 1, 8]]), (vertices, [[0, 1, -1]]),
                  (vertices, [[0.0, 1.0, 2.0]]), (vertices, faces, [[0, 8]]), (vertices, faces, [[0, -1]]),
                  (vertices, faces, [[0.0, 1.0]]), (vertices, faces, [0, 1]), (vertices, faces, [[0, 1, 2]])):
        with pytest.raises(ValueError):
            abut.CcdMesh(*wrong, context=context)
    lost = vertices.copy()
    lost[1, 2] = np.nan
    for wrong, text in ((lost, "vertex 1"), (vertices * 1e7, "vertex 0"), (np.zeros((0, 3)), "vert")):
        with pytest.raises(abut.Error, match=text) as caught:
            abut.CcdMesh(wrong, faces if len(wrong) else None, context=context)
        assert caught.value.name == "ABUT_ERROR_ARGUMENT"
    with pytest.raises(abut.Error, match="nowhere.obj"):
        abut.CcdMesh.load("nowhere.obj", context)
    with pytest.raises(ValueError):
        abut.CcdMesh.load("a\0b.obj", context)
    with pytest.raises(ValueError, match="abut.Body"):
        abut.CcdMesh.of_body(vertices)


def test_refused_moves(context):
    meshes, poses = cubes(context), dict(zip(POSES, thrown(3)))
    for wrong in ({"pair": meshes[:1]}, {"pair": (meshes[0], "cube")}, {"pair": None},
                  {"motion": "screw"}, {"center1": (0, 0)}, {"center2": "here"}, dict.fromkeys(POSES), {"to2": np.zeros((3, 5))},
                  {"from1": np.zeros((2, 7))}, {"from2": np.eye(4) * 2}, {"separation": "far"}, {"iterations": -1},
                  {"iterations": 2**40}):
        with pytest.raises(ValueError):
            abut.ccd(**{"pair": meshes, **poses, **wrong})
    for wrong in ({"separation": -1.0}, {"separation": np.nan}, {"keep": 1.0}, {"keep": -0.1}, {"tolerance": -1.0},
                  {"tolerance": np.inf}, {"iterations": 1_000_001}, {"center1": (0, np.nan, 0), "motion": "arc"}):
        with pytest.raises(abut.Error, match="centre" if "center1" in wrong else next(iter(wrong))) as caught:
            abut.ccd(meshes, **poses, **wrong)
        assert caught.value.name == "ABUT_ERROR_ARGUMENT"
    with pytest.raises(ValueError, match="not a result of abut.ccd"):
        abut.ccd_gradient(3)
    with pytest.raises(ValueError, match="toi has shape"):
        abut.ccd_gradient(abut.ccd(meshes, **poses), toi=np.zeros(2))
    with abut.Context("host", context.precision) as other:
        with pytest.raises(ValueError, match="different contexts"):
            abut.ccd((meshes[0], cubes(other)[0]), **poses)


def test_refused_queries(context):
    x0, x1 = some_features("pt", 3)
    good = {"kind": "pt", "x0": x0, "x1": x1, "context": context}
    for wrong in ({"kind": "tp"}, {"kind": 2}, {"kind": "ppp"}, {"x0": x0[:, :3]}, {"x1": x1[:2]}, {"x0": x0[0, 0]},
                  {"method": "exact"}, {"separation": np.zeros(2)}, {"separation": "far"}, {"x0_low": x0[:, :2]},
                  {"x0": x0 + 0j}, {"iterations": -1}, {"kind": "pp"}):
        with pytest.raises(ValueError):
            abut.ccd_queries(**{**good, **wrong})
    for wrong in ({"separation": -1.0}, {"keep": 1.0}, {"tolerance": np.nan}, {"end": 1.5}, {"end": -0.5}, {"error": -1.0},
                  {"relative_error": -1.0}, {"iterations": 1_000_001}):
        with pytest.raises(abut.Error, match=next(iter(wrong)).removeprefix("relative_")) as caught:
            abut.ccd_queries(**{**good, **wrong})
        assert caught.value.name == "ABUT_ERROR_ARGUMENT"
    with pytest.raises(ValueError, match="not a result of abut.ccd_queries"):
        abut.ccd_queries_gradient(3)
    with pytest.raises(ValueError, match="toi has shape"):
        abut.ccd_queries_gradient(abut.ccd_queries(**good), toi=np.zeros(2))


def test_refused_steps(context):
    x, step, lanes = tetrahedra()
    good = {"x": x, "step": step, "lanes": lanes, "context": context}
    for wrong in ({"x": x[:, :2]}, {"step": step[:4]}, {"lanes": {"tt": lanes["pt"]}}, {"lanes": {"pp": lanes["pt"]}},
                  {"lanes": {"pt": lanes["pt"] + 0.5}}, {"lanes": {"pt": -lanes["pt"]}}, {"keep": "some"}):
        with pytest.raises(ValueError):
            abut.step_filter(**{**good, **wrong})
    for wrong, text in (({"keep": 1.0}, "keep"), ({"keep": -0.1}, "keep"), ({"most": 1.5}, "most"),
                        ({"separation": -1.0}, "separation"), ({"lanes": {"pt": lanes["pt"] + 4}}, "vertex"),
                        ({"x": np.full((8, 3), np.nan)}, "x"), ({"step": np.full((8, 3), np.inf)}, "step")):
        with pytest.raises(abut.Error, match=text) as caught:
            abut.step_filter(**{**good, **wrong})
        assert caught.value.name == "ABUT_ERROR_ARGUMENT"
