"""Height fields beside SciPy's splines, slopes and planes; derivatives, meshes and refusals; worlds on waves."""
import json

import abut
import numpy as np
import pytest

interpolate = pytest.importorskip("scipy.interpolate")

SIZE, BASE = (1.2, 0.9), 0.6
WALLS = ((0, 1), (0, -1), (1, 1), (1, -1), (2, -1))  # axes, signs


def waves(rows=17, columns=23, seed=5):
    x, y = np.meshgrid(np.linspace(-1, 1, columns), np.linspace(-1, 1, rows))
    noise = np.random.default_rng(seed).uniform(-0.02, 0.02, (rows, columns))
    return 0.12 * np.sin(4 * x + 0.3) * np.cos(3 * y) + noise


def spline(heights, x, y, dx, dy):
    """The natural bicubic spline at points within the rectangle: along rows first, then across them."""
    rows, columns = heights.shape
    natural = dict(k=3, bc_type="natural")
    along = interpolate.make_interp_spline(np.linspace(-SIZE[0], SIZE[0], columns), heights.T, **natural)(x, dx)
    places = np.linspace(-SIZE[1], SIZE[1], rows)
    return np.array([interpolate.make_interp_spline(places, row, **natural)(at, dy) for row, at in zip(along, y)])


def bilinear(heights, x, y, dx, dy):
    """Of four heights, of which the natural spline is the same."""
    weights = [np.stack([-np.ones_like(at), np.ones_like(at)]) / (2 * half) if slope else
               np.stack([half - at, half + at]) / (2 * half) for at, half, slope in ((x, SIZE[0], dx), (y, SIZE[1], dy))]
    return np.einsum("rc,cp,rp->p", heights, *weights)


def field(heights, points, tau):
    x, y, z = points.T
    of = bilinear if heights.shape == (2, 2) else spline
    h, dx, dy = (of(heights, x, y, *order) for order in ((0, 0), (1, 0), (0, 1)))
    steep = np.sqrt(1 + dx**2 + dy**2)
    terms = np.stack([(z - h) / steep, x - SIZE[0], -x - SIZE[0], y - SIZE[1], -y - SIZE[1], -z - BASE])
    normals = np.zeros((6, len(points), 3))
    normals[0] = np.stack([-dx, -dy, np.ones_like(dx)], -1) / steep[:, None]
    for i, (axis, sign) in enumerate(WALLS, 1):
        normals[i, :, axis] = sign
    weights = np.exp((terms - terms.max(0)) / tau)
    g = np.einsum("ip,ipk->pk", weights / weights.sum(0), normals)
    return terms.max(0) + tau * np.log(weights.sum(0)), g / np.linalg.norm(g, axis=-1, keepdims=True)


def some_points(count, seed=6):
    random = np.random.default_rng(seed)
    return random.uniform([-SIZE[0], -SIZE[1], -BASE - 0.1], [*SIZE, 1.0], (count, 3))


@pytest.mark.parametrize("shape", [(17, 23), (4, 40), (2, 2)])
def test_as_scipy(context, shape):
    heights, points = waves(*shape), some_points(400).astype(context.dtype)
    d, n = context.height_field(heights, SIZE, BASE).evaluate(points, union=0.02, plane=0.02)
    wanted = field(heights, points.astype(float), 0.02)
    within = 1e-13 if context.dtype == np.float64 else 1e-6
    assert np.abs(d - wanted[0]).max() < within and np.abs(n - wanted[1]).max() < 50 * within


def test_exact_on_a_slope(double):
    """The distance from the middle of a slope's face is that of its plane."""
    x, y = np.meshgrid(np.linspace(-SIZE[0], SIZE[0], 9), np.linspace(-SIZE[1], SIZE[1], 6))
    body = double.height_field(0.3 * x - 0.2 * y, SIZE, BASE)
    normal = np.array([-0.3, 0.2, 1.0]) / np.sqrt(1.13)
    points = np.random.default_rng(7).uniform([-0.3, -0.3, -0.1], [0.3, 0.3, 0.5], (200, 3))
    d, n = body.evaluate(points, plane=1e-3)
    assert np.abs(d - points @ normal).max() < 1e-12 and np.abs(n - normal).max() < 1e-12


def test_a_level_one_is_a_box(double, tmp_path):
    """Level ground is the polyhedron of six planes, everywhere."""
    (tmp_path / "b.obj").write_text("v 0 0 0\n")
    planes = [[0, 0, 1, 0, 0, 0.25]] + [[sign * (k == axis) for k in range(3)] +
                                        [sign * (k == axis) * (*SIZE, BASE)[k] for k in range(3)] for axis, sign in WALLS]
    (tmp_path / "b.body.json").write_text(json.dumps({"mesh": "b.obj", "polyhedra": [{"planes": planes}]}))
    with pytest.warns(UserWarning):   # of the mesh, a point in the middle
        box = double.load(tmp_path / "b.body.json")
    level = double.height_field(np.full((5, 4), 0.25), SIZE, BASE)
    points = 2.0 * some_points(500)
    for one, other in zip(level.evaluate(points, plane=0.05), box.evaluate(points, plane=0.05)):
        assert np.abs(one - other).max() < 1e-13


def test_derivatives_are_differences(double):
    """Of a box's poses on waves: VJP of all outputs against central differences."""
    ground = double.height_field(waves(), SIZE, BASE)
    box = double.body(np.array([[x, y, z] for x in (-.2, .2) for y in (-.15, .15) for z in (-.1, .1)]),
                      [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]])
    pair = abut.Pair(ground, box, {"floor": 0.0, "vertices": (0, 8), "edges": (0, 0), "edge_edge": False})
    pose = np.array([0.2, -0.1, 0.15, 0.1, 0.2, 0.3])
    bars = {k: np.random.default_rng(8).normal(size=np.shape(getattr(abut.contacts(pair, np.zeros(6), pose), k)))
            for k in ("p", "d", "n", "activity")}
    value = lambda q: sum(np.sum(bars[k] * getattr(abut.contacts(pair, np.zeros(6), q), k)) for k in bars)
    got = abut.vjp(pair, np.zeros(6), pose, **bars)[1]
    for i in range(6):
        step = 1e-6 * np.eye(6)[i]
        wanted = (value(pose + step) - value(pose - step)) / 2e-6
        assert abs(got[i] - wanted) < 1e-6 * max(1.0, abs(wanted)), (i, got[i], wanted)


def test_meshes(double):
    """Contact vertices lie on the ground; a step leaves out nodes; the surface is closed, of the ground's volume."""
    heights = waves()
    vertices, edges = double.height_field(heights, SIZE, BASE).mesh()
    assert vertices.shape == (17 * 23 + 4, 3) and not len(edges)
    assert np.all(vertices[:-4, 2] == heights.ravel()) and np.all(vertices[-4:, 2] == -BASE)
    coarse = double.height_field(heights, SIZE, BASE, step=5)
    assert coarse.vertex_count == 5 * 6 + 4   # rows 0, 5, 10, 15, 16 and columns 0, 5, ... 20, 22
    assert double.height_field(np.zeros((300, 200)), SIZE, BASE).vertex_count <= 2048 + 4


def test_a_file_without_a_mesh(double, tmp_path):
    """Its body, the hull and what collides in time are the height field's."""
    heights = waves()
    one = {"heights": heights.tolist(), "size": SIZE, "base": BASE}
    (tmp_path / "a.body.json").write_text(json.dumps({"height_fields": [one]}))
    body = double.load(tmp_path / "a.body.json")
    assert body.vertex_count == 17 * 23 + 4 and body.thickness > BASE / 2
    mesh = abut.CcdMesh.load(tmp_path / "a.body.json", double)
    rim = 2 * (16 + 22)
    assert mesh.vertex_count == 17 * 23 + rim + 1 and mesh.triangle_count == 2 * 16 * 22 + 3 * rim
    hull = abut.load_hull(tmp_path / "a.body.json", double)
    ball = abut.closest(hull, abut.Shape("sphere", 0.1, context=double), None, np.array([0, 0, -BASE - 0.3, 1, 0, 0, 0]))
    assert abs(ball.d - 0.2) < 1e-6


def test_subtracted_alone_is_refused(double, tmp_path):
    one = {"heights": [[0, 0], [0, 0]], "size": [1, 1], "base": 1, "operation": "subtract"}
    (tmp_path / "a.body.json").write_text(json.dumps({"height_fields": [one]}))
    with pytest.raises(abut.Error, match="the body needs a mesh, or an added height field, which has its own mesh"):
        double.load(tmp_path / "a.body.json")


@pytest.mark.parametrize("change, text", [
    ({"heights": np.zeros((1, 4))}, "1 rows, expected 2 to 2048"),
    ({"heights": np.zeros((4, 2049))}, "2049 columns, expected 2 to 2048"),
    ({"heights": np.array([[0, 1], [np.nan, 0]])}, "row 1, column 0: the height nan m"),
    ({"heights": np.array([[0, 1], [-2, 0]])}, "row 1, column 0: the height -2 m is not above the base at -1 m"),
    ({"size": (1, -1)}, "half length 1 is -1"), ({"base": 0.0}, "base is 0, not in")])
def test_refusals(double, change, text):
    good = {"heights": np.zeros((3, 3)), "size": (1.0, 1.0), "base": 1.0}
    with pytest.raises(abut.Error, match=text):
        double.height_field(**{**good, **change})


def test_wrong_arguments(double):
    with pytest.raises(ValueError, match="heights has shape"):
        double.height_field(np.zeros(4), SIZE, BASE)
    with pytest.raises(ValueError, match="size has shape"):
        double.height_field(np.zeros((4, 4)), (1, 2, 3), BASE)
    with pytest.raises(ValueError, match="step is -1"):
        double.height_field(np.zeros((4, 4)), SIZE, BASE, step=-1)


# ---- worlds ----

def test_bodies_rest_on_waves(contexts, tmp_path):
    """Four boxes and a ball on waves of a slope to 0.32: no box sinks in by more than 10 mm, and none creeps. The ball rolls to and
    fro in its valley, on the ground."""
    x, y = np.meshgrid(np.linspace(-2, 2, 41), np.linspace(-2, 2, 41))
    heights = 0.15 * np.sin(2 * np.pi * x / 3) * np.cos(2 * np.pi * y / 3.3)
    ground = {"height_field": {"heights": heights.tolist(), "size": [2, 2], "base": 0.5}}
    places = [[-1, -1, .4], [1, .8, .4], [.3, -.6, .4], [-.5, 1.1, .4]]
    links = [{"name": "ground", "bodies": [ground]}]
    for i, place in enumerate(places):
        links.append({"name": f"box{i}", "position": place, "quaternion": [1, .1 * i, .05, .2 * i], "density": 500,
                      "joint": {"type": "free"}, "bodies": [{"box": [.15, .12, .1]}]})
    links.append({"name": "ball", "position": [-.72, .05, 0], "density": 500, "joint": {"type": "free"},
                  "bodies": [{"sphere": .1}]})
    pairs = [{"a": "ground", "b": link["name"], "friction": 0.8} for link in links[1:]]
    (tmp_path / "w.scene.json").write_text(json.dumps({"links": links, "pairs": pairs}))
    scene = contexts["f32"].scene(tmp_path / "w.scene.json")
    q, v, kept = scene.start(), np.zeros(scene.nv), []
    for _ in range(20):
        s = scene.step(q, v, steps=125)
        assert s.status == 0
        q, v = s.q, s.v
        kept.append(np.asarray(q, float))
    surface = interpolate.RectBivariateSpline(np.linspace(-2, 2, 41), np.linspace(-2, 2, 41), heights)
    corners = np.array([[a, b, c] for a in (-.15, .15) for b in (-.12, .12) for c in (-.1, .1)])
    for state in kept[8:]:   # after 2 s
        for i in range(4):
            place, (w, *u) = state[7 * i:7 * i + 3], state[7 * i + 3:7 * i + 7] / np.linalg.norm(state[7 * i + 3:7 * i + 7])
            turned = corners + 2 * np.cross(u, np.cross(u, corners) + w * corners) + place
            assert np.min(turned[:, 2] - surface.ev(turned[:, 1], turned[:, 0])) > -0.010
    creep = np.linalg.norm((kept[19] - kept[11]).reshape(5, 7)[:, :3], axis=1) / 2.0   # from 3 s to 5 s
    assert creep[:4].max() < 4e-3, creep
    balls = np.array([state[28:31] for state in kept[8:]])
    above = balls[:, 2] - surface.ev(balls[:, 1], balls[:, 0])
    assert 0.095 < above.min() and above.max() < 0.11, above  # a ball's middle is higher over a slope
    assert np.ptp(balls[:, :2], axis=0).max() < 0.3, balls


def test_equal_heights_are_shared_and_others_not(double, tmp_path):
    one = {"height_field": {"heights": [[0, 0], [0, 0.1]], "size": [1, 1], "base": 1}}
    other = {"height_field": {**one["height_field"], "base": 0.5}}
    links = [{"bodies": [one, other, one]},
             {"density": 500, "joint": {"type": "free"}, "position": [0, 0, 2], "bodies": [one]}]
    (tmp_path / "w.scene.json").write_text(json.dumps({"links": links, "pairs": [{"a": [0, k], "b": 1} for k in range(3)]}))
    assert double.scene(tmp_path / "w.scene.json").nv == 6   # a density fills the surface, which is closed


def test_clouds_take_none(double, tmp_path):
    one = {"height_field": {"heights": [[0, 0], [0, 0.1]], "size": [1, 1], "base": 1}}
    links = [{"bodies": [one]}, {"density": 500, "joint": {"type": "free"}, "bodies": [{"sphere": 0.1}]}]
    (tmp_path / "w.scene.json").write_text(json.dumps({"contact_model": "spring", "clouds": True, "links": links, "pairs": [{"a": 0, "b": 1}]}))
    with pytest.raises(abut.Error, match=r"links\[0\].bodies\[0\]: a height field has no point cloud"):
        double.scene(tmp_path / "w.scene.json")
