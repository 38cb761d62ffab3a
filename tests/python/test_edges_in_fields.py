"""Pairs whose edges make contacts with the other body's field, and bodies that state their features."""
import copy
import pickle

import conftest
import numpy as np
import pytest

import abut

BOX = np.array([[x, y, z] for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)]) * [0.05, 0.04, 0.03]
BOX_EDGES = [[i, i | b, 0.004] for i in range(8) for b in (1, 2, 4) if not i & b]
FIELD = {"edge_contacts": "field", "penetration": 1e-3, "inset": 1e-3, "part": 2e-3, "gain": 5e-4}


def round_box(context, radius=0.004, **more):
    """A box with rounded edges, and features of the same radius."""
    inner = BOX * (1 - radius / np.array([0.05, 0.04, 0.03]))
    edges = [[i, j, radius] for i, j, _ in BOX_EDGES]
    return context.body(BOX, core_half=np.abs(inner[0]), core_radius=[radius],
                        feature_vertices=np.c_[inner, np.full(8, radius)], feature_edges=edges, **more)


def capsule(context, radius=0.01, half=0.03):
    ends = [[0, 0, -half, radius], [0, 0, half, radius]]
    return context.body(np.array(ends)[:, :3], core_half=[0, 0, half], core_radius=[radius],
                        feature_vertices=ends, feature_edges=[[0, 1, radius]])


def poses(depth=1e-3, count=3):
    """A box on a box, turned more and more."""
    return np.array([[0.01 * i, 0.005, 0.06 - depth, 0.02 * i, 0.01, 0.3 + 0.2 * i] for i in range(count)])


def test_layout_and_words(double):
    a, b = capsule(double), round_box(double)
    pair = abut.Pair(a, b)
    assert pair.smoothing["edge_contacts"] == "field" and pair.smoothing["select"] == "gate"  # since they are round
    assert pair.layout.vertices == (2, 8) and pair.layout.edges == (1, 12) and pair.layout.edge_slots == (2, 24)
    assert pair.C == 36 and pair.layout.edge_offset == (10, 12)
    sharp = double.load(conftest.GOLDEN / "box-on-box" / "a.body.json")
    assert abut.Pair(sharp, sharp).smoothing["edge_contacts"] == "field"
    assert abut.Pair(sharp, sharp, FIELD).layout.edge_slots == (24, 24)
    with pytest.raises(ValueError, match="edge_contacts is 'fields', not 'pairs' or 'field'"):
        abut.Pair(a, b, {"edge_contacts": "fields"})
    mesh = abut.Pair(b, b, {"edge_contacts": "pairs"})  # the bodies' own vertices alone: the features have no part
    assert mesh.layout.vertices == (8, 8) and mesh.layout.edge_slots[0] == mesh.layout.edges[0] * mesh.layout.edges[1]
    with pytest.raises(abut.Error, match="tilt is 0.7"):
        abut.Pair(a, b, {"tilt": 0.7})


def test_a_capsule_lies_on_a_box(double):
    a, b = capsule(double), round_box(double)
    turn = [0, np.pi / 2, 0]  # along x
    c = abut.contacts(abut.Pair(a, b, FIELD), [[0, 0, 0, *turn]], [[0, 0, -0.039, 0, 0, 0]])
    deep = np.asarray(c.activity[0]) > 0.5
    np.testing.assert_allclose(c.d[0][deep], -1e-3, atol=2e-5)
    np.testing.assert_allclose(c.n[0][deep], np.tile([0, 0, 1.0], (deep.sum(), 1)), atol=1e-6)
    assert deep.sum() == 2  # both ends: the edge between them lies flat


def test_derivatives_are_those_of_differences(double):
    pair, s = abut.Pair(round_box(double), round_box(double), FIELD), poses()
    rng = np.random.default_rng(3)
    bars = {name: rng.normal(size=getattr(abut.contacts(pair, None, s), name).shape) for name in ("p", "d", "n", "activity")}
    total = lambda x: sum((getattr(abut.contacts(pair, None, x), name) * bar).sum((1, 2) if bar.ndim == 3 else 1)
                          for name, bar in bars.items())
    g = abut.vjp(pair, None, s, **bars)[1]
    for k in range(6):
        h = 1e-7 * np.eye(6)[k]
        np.testing.assert_allclose(g[:, k], (total(s + h) - total(s - h)) / 2e-7, rtol=1e-4, atol=1e-4 * np.abs(g).max())


def test_torch(double):
    torch = pytest.importorskip("torch")
    import abut.torch
    pair, s = abut.Pair(round_box(double), round_box(double), FIELD), poses()
    x = torch.tensor(s, requires_grad=True)
    abut.torch.contacts(pair, None, x)[1].sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), abut.vjp(pair, None, s, d=np.ones((3, pair.C)))[1], rtol=1e-9, atol=1e-9)


def test_jax(double):
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    import abut.jax
    pair, s = abut.Pair(round_box(double), round_box(double), FIELD), poses()
    g = jax.grad(lambda x: abut.jax.contacts(pair, None, x).d.sum())(jax.numpy.asarray(s))
    np.testing.assert_allclose(g, abut.vjp(pair, None, s, d=np.ones((3, pair.C)))[1], rtol=1e-9, atol=1e-9)


def test_features_return(double):
    ring = [[0.03, 0, 0, 0.001], [0, 0.03, 0, 0.001], [-0.03, 0, 0, 0.001]]
    arcs = [[0, 1, 0.001, 0, 0, 0, 0, 0, 1], [1, 2, 0.001, 0, 0, 0, 0, 0, 2], [0, 2, 0.0, 0, 0, 0, 0, 0, 0]]
    cones = [[0, 0, 1, 30], [0, 1, 0, 180], [1, 0, 0, 90]]
    made = double.body(BOX, core_half=[0.02, 0.02, 0.02], core_radius=[0.01], feature_vertices=ring, feature_edges=arcs, sharp=35,
                       vertex_cones=cones, edge_cones=cones)
    numbers = pickle.loads(pickle.dumps(copy.deepcopy(made.shape())))
    np.testing.assert_array_equal(numbers.feature_vertices, ring)
    np.testing.assert_array_equal(numbers.feature_edges, arcs)
    assert numbers.sharp == 35 and numbers.cones == "given"
    np.testing.assert_array_equal(numbers.vertex_cones, cones)
    np.testing.assert_array_equal(numbers.edge_cones, cones)
    again, other = double.body(numbers), round_box(double)
    c, d = (abut.contacts(abut.Pair(x, other), None, poses()) for x in (made, again))
    for name in ("p", "d", "n", "activity"):
        assert np.array_equal(getattr(c, name), getattr(d, name)), name
    plain = double.load(conftest.GOLDEN / "box-on-box" / "a.body.json").shape()
    assert plain.feature_vertices is None and plain.feature_edges is None and plain.sharp == 20 and plain.cones == "mesh"
    assert round_box(double, cones="none").shape().cones == "none"


@pytest.mark.parametrize("given, match", [
    ({"feature_edges": [[0, 1, 0]]}, "feature_vertices is missing"),
    ({"feature_vertices": [[0, 0, 0]]}, r"feature_vertices has shape \(1, 3\)"),
    ({"feature_vertices": [[0, 0, 0, 0]] * 2, "feature_edges": [[0, 1]]}, r"feature_edges has shape \(1, 2\)"),
    ({"feature_vertices": [[0, 0, 0, 0]] * 2, "feature_edges": [[0, 2, 0]]}, "does not exist; there are 2"),
    ({"feature_vertices": [[0, 0, 0, 0]] * 2, "feature_edges": [[0, 0.5, 0]]}, "does not exist; there are 2"),
    ({"cones": "all"}, "cones is 'all'"), ({"cones": "given"}, "are missing"),
    ({"cones": "none", "vertex_cones": [[0, 0, 1, 30]] * 8}, "are given")])
def test_refusals(double, given, match):
    with pytest.raises(ValueError, match=match):
        double.body(BOX, core_half=[0.02, 0.02, 0.02], core_radius=[0.01], **given)


def test_derivatives_where_fields_have_many_dips():
    """Derivatives of distances are those of differences: each edge ends at a minimum, whatever its samples have met."""
    context = abut.Context("host", precision="f64")
    rng = np.random.default_rng(4)
    corners = np.array([[x, y, z] for x in (-.15, .15) for y in (-.12, .12) for z in (-.1, .1)])
    checked = wrong = 0
    for _ in range(3):
        axes, exponents = rng.uniform(.03, .2, (5, 3)), rng.uniform(.2, 1.6, (5, 2))
        fields = dict(axes=axes, exponents=exponents, position=.12 * rng.normal(size=(5, 3)), rotation=rng.normal(size=(5, 4)))
        edges = [[2 * i, 2 * i + 1] for i in range(20)]
        one = {name: rows[:1] for name, rows in fields.items()}
        a = context.body(rng.uniform(-.5, .5, (40, 3)), [], edges=edges, **one)
        b = context.body(corners, [], **fields)
        pair = abut.Pair(a, b, {"penetration": .05, "samples": 4, "cone_outer": 0.0})
        poses = rng.normal(size=(20, 6)) * [.05, .05, .05, 1, 1, 1]
        way, h = np.concatenate([rng.normal(size=(20, 3)), np.zeros((20, 3))], 1), 1e-8
        near, ahead, back = (abut.active(pair, None, poses + step * way, threshold=1e-9) for step in (0, h, -h))
        rows = [{(pose, slot): i for i, (pose, slot) in enumerate(zip(c.pose, c.slot))} for c in (near, ahead, back)]
        first, end = pair.layout.edge_offset
        found = np.array([[r[at] for r in rows] for at in rows[0] if all(at in r for r in rows) and first <= at[1] < end])
        slope = (ahead.d[found[:, 1]] - back.d[found[:, 2]]) / (2 * h)
        off = np.abs(near.jvp(tangent2=way).d[found[:, 0]] - slope)
        checked, wrong = checked + len(found), wrong + int((off > 1e-4).sum())
    assert checked > 1000
    assert wrong <= checked // 1000  # where the deeper of two dips changes there is no derivative


@pytest.mark.parametrize("samples", [5, 8, 40])
def test_a_dip_beside_an_end_that_rises(samples):
    """The edge begins within one ball, from which the field rises, and goes on through a deeper one."""
    context = abut.Context("host", precision="f64")
    a = context.body([[0, 0, 0], [1, 0, 0]], [], edges=[[0, 1]], core_half=[[.5, 0, 0]], core_radius=[.001], core_position=[[.5, 0, 0]])
    b = context.body([[0, 0, 1], [0, 0, 2]], [], core_half=[[0, 0, 0]] * 2, core_radius=[.06, .08],
                     core_position=[[-.04, 0, 0], [.15, 0, 0]])
    pair = abut.Pair(a, b, {"penetration": .005, "samples": samples, "cone_outer": 0.0, "union": 1e-5})
    first = pair.layout.edge_offset[0]
    d = abut.contacts(pair, np.zeros((1, 6)), np.zeros((1, 6))).d[0, first:first + 2]
    np.testing.assert_allclose(d, -.08, atol=2e-3)


# ---- meshes that are round, with long facets ----

def ring(sides, radius, z):
    angle = 2 * np.pi * np.arange(sides) / sides
    return np.c_[radius * np.cos(angle), radius * np.sin(angle), np.full(sides, z)]


def rotation(angle):
    """About z."""
    return np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1.0]])


def write_rings(path, rings):
    """A body of revolution as an OBJ of triangles: rings of as many points each, closed by fans."""
    sides, lines = len(rings[0]), [f"v {x:.17g} {y:.17g} {z:.17g}" for x, y, z in np.concatenate(rings)]
    for k in range(sides):
        after = (k + 1) % sides
        for low in range(0, (len(rings) - 1) * sides, sides):
            a, b, c, d = (1 + low + i for i in (k, after, sides + after, sides + k))
            lines += [f"f {a} {b} {c}", f"f {a} {c} {d}"]
        if 0 < k < sides - 1:
            last = (len(rings) - 1) * sides + 1
            lines += [f"f 1 {k + 2} {k + 1}", f"f {last} {last + k} {last + k + 1}"]
    path.write_text("\n".join(lines) + "\n")
    return path


def cylinder(folder, sides, radius, half):
    return write_rings(folder / f"cylinder{sides}-{radius}.obj", [ring(sides, radius, -half), ring(sides, radius, half)])


def round_rod(folder, sides, radius, half):
    """A capsule whose ends are fine and whose side is long facets."""
    turns = np.linspace(0.05, 1, 8) * np.pi / 2
    end = [ring(sides, radius * np.sin(t), half + radius * np.cos(t)) for t in turns]
    return write_rings(folder / f"rod{sides}.obj", [r * [1, 1, -1] for r in end] + end[::-1])


@pytest.mark.parametrize("make, widths, sides", [(make, 80, sides) for make in (cylinder, round_rod) for sides in (16, 24, 32, 120)]
                         + [(cylinder, 3.5, sides) for sides in (16, 24, 32)])
def test_long_round_sides_meet_where_they_cross(double, tmp_path, make, widths, sides):
    """No vertex is where two crossed rods, or drums, touch: the long edges of their sides are features."""
    half = min(0.04, 0.01 * widths * np.sin(np.pi / sides))  # facets are so many widths long
    body = double.load(make(tmp_path, sides, 0.01, half))
    pair = abut.Pair(body, body)
    rng = np.random.default_rng(sides)
    gap, count = np.repeat([0.5e-3, -0.5e-3, -2e-3], 20), 60
    turn, about, along = rng.uniform(-0.8, 0.8, count), rng.uniform(0, 2 * np.pi, (2, count)), rng.uniform(-half / 4, half / 4, (2, count))
    none = np.zeros(count)
    one = np.c_[none, none, along[0], none, none, about[0]]
    # The second axis is across the first at x = 2 r + gap. Each rod is turned about its own axis and moved along it.
    across = np.c_[0.02 + gap, none, none, np.pi / 2 + turn, none, none]
    own = np.c_[none, none, along[1], none, none, about[1]]
    found = abut.reduce(pair, one, abut.pose.compose(across, own), "distance").value
    flat = 0.01 * (1 - np.cos(np.pi / sides))  # how far a facet is inside the circle
    assert np.all(found < gap + 2 * flat + 1e-4) and np.all(found > gap - 1e-4), (found - gap).round(6)
    deep = np.asarray(abut.contacts(pair, one, abut.pose.compose(across, own)).activity)[gap < -1e-3].sum(1)
    assert deep.min() > 0.5


def test_flat_curves_meet(double, tmp_path):
    """Cones of 80 degrees and lenses are nearly flat: their edges are features although their normals hardly differ."""
    cone = double.load(write_rings(tmp_path / "cone.obj", [ring(120, 0.04, 0), ring(120, 1e-5, 0.007)]))
    lens = double.load(write_rings(tmp_path / "lens.obj", [ring(120, 0.03, z) * [1, 0.1, 1] for z in (-0.05, 0.05)]))
    rng = np.random.default_rng(0)
    down = [0.04, 0, -0.007]  # along the side of the cone
    for body, place, along in ((cone, [0.02, 0, 0.0035], down), (lens, [0, 0.003, 0], [0, 0, 1.0])):
        poses = np.tile(np.eye(4), (2, 40, 1, 1))
        for one, two, about, twist in zip(*poses, rng.uniform(0, 2 * np.pi, 40), rng.uniform(0.5, 1.0, 40)):
            turn = np.eye(3) if body is lens else rotation(about)
            p, t = turn @ place, turn @ along / np.linalg.norm(along)
            n = np.cross(t, turn @ [0, 1, 0]) if body is cone else np.array([0, 1.0, 0])
            n *= np.sign(n @ p)
            one[:3, :3] = np.stack([t, np.cross(n, t), n])  # the place to the origin, its normal to z
            two[:3, :3] = rotation(twist) @ np.diag([1, -1, -1]) @ one[:3, :3]
            one[:3, 3], two[:3, 3] = -one[:3, :3] @ p, -two[:3, :3] @ p - [0, 0, 1e-3]
        found = abut.reduce(abut.Pair(body, body), *(abut.pose.from_matrix(x) for x in poses), "distance").value
        assert np.abs(found + 1e-3).max() < 2.5e-4, found


@pytest.mark.parametrize("law", ("cone", "lcp", "spring"))
def test_crossed_rods_carry_each_other(double, tmp_path, law):
    """A rod that falls onto one that is fixed stays above it, and did fall through."""
    path = str(cylinder(tmp_path, 32, 0.01, 0.04))
    down, beside = [0.5 ** 0.5, 0.5 ** 0.5, 0, 0], [0.5 ** 0.5, 0, 0.5 ** 0.5, 0]
    scene = abut.Scene({"contact_model": law, "timestep": 5e-4, "links": [
        {"name": "fixed", "bodies": [{"file": path, "quaternion": down}]},
        {"name": "rod", "position": [0, 0, 0.022], "joint": {"type": "free"}, "density": 1000,
         "bodies": [{"file": path, "quaternion": beside}]}], "pairs": [{"a": "rod", "b": "fixed", "friction": 0.8}]}, double)
    q, v, heights = scene.start()[None], np.zeros((1, scene.nv)), []
    for _ in range(16):
        end = scene.step(q, v, steps=10)
        q, v = end.q, end.v
        heights.append(q[0, 2])
    assert 0.0185 < min(heights) and max(heights) < 0.024 and heights[-1] < 0.0205, heights


def test_separate_meshes_report_their_distance(double, tmp_path):
    """A plate and a headed pin, 1 to 100 mm apart. Beyond a field's box its gradient may be longer than 1: distances were divided by it."""
    plate = double.load(write_rings(tmp_path / "plate.obj", [np.array([[-.04, -.025, z], [.04, -.025, z], [.04, .025, z], [-.04, .025, z]])
                                                             for z in (-.003, .003)]))
    rings = [ring(24, 0.004, -0.02), ring(24, 0.004, 0.018), ring(24, 0.01, 0.018), ring(24, 0.01, 0.024)]
    pin = double.load(write_rings(tmp_path / "pin.obj", rings))
    parts = [abut.Shape("hull", np.concatenate(half), context=double) for half in (rings[:2], rings[2:])]
    rng = np.random.default_rng(0)
    way, turn = rng.normal(size=(3000, 3)), rng.normal(size=(3000, 4))
    place = way / np.linalg.norm(way, axis=1)[:, None] * rng.uniform(0.03, 0.15, 3000)[:, None]
    one, two = np.tile([0, 0, 0, 1, 0, 0, 0.0], (3000, 1)), np.c_[place, turn / np.linalg.norm(turn, axis=1)[:, None]]
    exact = np.minimum(*(abut.closest(abut.Shape.of(plate), part, one, two).d for part in parts))
    one, two, exact = one[exact > 1e-3], two[exact > 1e-3], exact[exact > 1e-3]
    assert len(exact) > 2500
    for kind in ("distance", "soft_distance"):
        found = abut.reduce(abut.Pair(plate, pin), one, two, kind, grad=True)
        assert np.abs(found.value - exact).max() < 1e-3  # 42 mm before
        assert np.linalg.norm(found.grad2[:, :3], axis=1).max() < 1.5  # 29 before
