"""Bodies of arrays, and the arrays of bodies."""
import copy
import json
import pickle

import conftest
import numpy as np
import pytest

import abut


def same(a, b):
    """Contacts and fields of two bodies, to the bit."""
    pair = [abut.Pair(body, a) for body in (a, b)]
    poses = conftest.random_poses(4, a.context.dtype)
    c, other = (abut.contacts(p, poses, None) for p in pair)
    for name in ("p", "d", "n", "activity"):
        assert np.array_equal(getattr(c, name), getattr(other, name)), name


def two(**changed):
    """Two superquadrics, the second taken away, with a mesh of its own."""
    rng = np.random.default_rng(0)
    return {"vertices": rng.normal(size=(20, 3)) * 0.1, "faces": np.arange(18).reshape(6, 3),
            "axes": [[0.2, 0.1, 0.1], [0.05, 0.05, 0.3]], "exponents": [[0.3, 0.8], [0.2, 1.0]],
            "position": [[0, 0, 0], [0.1, 0, 0]], "rotation": [[1, 0, 0, 0], [0.9, 0.1, -0.3, 0.2]],
            "operation": ["add", "subtract"], "union": 0.004, **changed}


def grid(nodes=9, spacing=0.1, radius=0.2):
    """Coefficients that are the distance to a ball."""
    x = spacing * (np.arange(nodes) - (nodes - 1) / 2)
    return np.sqrt(sum(c ** 2 for c in np.meshgrid(x, x, x, indexing="ij"))) - radius


def test_superquadrics_are_those_of_a_file(context, tmp_path):
    given = two()
    (tmp_path / "two.obj").write_text(
        "".join("v %r %r %r\n" % tuple(v) for v in given["vertices"].tolist()) +
        "".join("f %d %d %d\n" % tuple(f + 1) for f in given["faces"]))
    parts = [{"axes": a, "exponents": e, "position": p, "quaternion": q, "operation": o} for a, e, p, q, o in
             zip(*(given[name] for name in ("axes", "exponents", "position", "rotation", "operation")))]
    (tmp_path / "two.body.json").write_text(json.dumps(
        {"name": "two", "mesh": "two.obj", "union": 0.004, "superquadrics": parts}))
    made = context.body(**given)
    same(made, context.load(tmp_path / "two.body.json"))
    assert made.union == 0.004 and made.primitive_count == 2
    # A row alone is that of all.
    broadcast = context.body(**two(exponents=(0.3, 0.8), position=None, rotation=None, operation=None)).shape()
    assert np.array_equal(broadcast.exponents, [[0.3, 0.8]] * 2) and not broadcast.position.any()
    assert np.array_equal(broadcast.rotation, [[1, 0, 0, 0]] * 2) and broadcast.operation == ["add", "add"]


@pytest.mark.parametrize("wrong", [lambda x: x[:, :2], lambda x: x.ravel(), lambda x: x + 0.5])
def test_blocks_of_grids_are_rows_of_whole_numbers(context, wrong):
    numbers = context.load(conftest.GOLDEN / "grids-fine" / "a.body.json").shape()
    numbers.grid_blocks[0][0] = wrong(numbers.grid_blocks[0][0])
    with pytest.raises(ValueError, match=r"grid_blocks\[0\]\[0\] has shape .*, not \(n, 3\) of whole numbers"):
        context.body(numbers)


@pytest.mark.parametrize("name", ["composed", "grids-fine"])
def test_round_trip(context, name):
    conftest.not_twice(context)
    for side in "ab":
        body = context.load(conftest.GOLDEN / name / f"{side}.body.json")
        numbers = body.shape()
        same(body, context.body(numbers))
        assert len(numbers.vertices) == body.vertex_count and len(numbers.edges) == body.edge_count
        assert len(numbers.operation) == body.primitive_count and numbers.union == body.union
        again = pickle.loads(pickle.dumps(numbers))
        same(body, context.body(copy.deepcopy(again)))
        pair = abut.Pair(body, body)
        g = abut.shape_vjp(pair, None, np.zeros((1, 6)), d=np.ones((1, pair.C)))[0]
        for field, value in g._asdict().items():  # the names and shapes of gradients
            if field in ("feature_vertices", "vertex_radius", "edge_radius"):  # of features, which this body does not state
                assert len(value) == 0, field
                continue
            mine = getattr(numbers, field)
            if field in ("rotation", "core_rotation"):
                assert mine.shape == (len(value), 4)
            elif isinstance(value, tuple):
                assert [x.shape for x in mine] == [x.shape for x in value], field
            else:
                assert mine.shape == value.shape, field


def test_clouds_of_meshes_and_surfaces_return(context):
    conftest.not_twice(context)
    vertices = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
    wedge = context.body(vertices, [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]], cells=16)
    numbers = wedge.shape()
    assert numbers.surface is not None and len(numbers.grid_coefficients) == 1
    same(wedge, context.body(numbers))
    ground = context.height_field(np.zeros((4, 4)), (1.0, 1.0), 0.5)
    with pytest.raises(abut.Error, match="height field"):
        ground.shape()


def ball_mesh(radius, count=40):
    """Points of a sphere, which lie on the field of a ball."""
    z = 1 - (2 * np.arange(count) + 1) / count
    angle = np.pi * (1 + 5 ** 0.5) * np.arange(count)
    return radius * np.stack([np.sqrt(1 - z * z) * np.cos(angle), np.sqrt(1 - z * z) * np.sin(angle), z], 1)


def test_other_families(double):
    cube = np.concatenate([np.eye(3), -np.eye(3)])
    box = double.body(0.1 * cube, plane_normals=3 * cube, plane_points=0.1 * cube)
    assert abs(box.evaluate([0.0, 0, 0.3])[0] - 0.2) < 1e-3
    directions = np.random.default_rng(1).normal(size=(300, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    cloud = double.body(directions, cloud_points=[0.2 * directions], cloud_normals=[directions],
                        cloud_widths=[np.full(300, 0.02)])
    assert abs(cloud.evaluate([0.0, 0, 0.25])[0] - 0.05) < 5e-3
    hollow = double.body(ball_mesh(0.3), axes=(0.3, 0.3, 0.3), exponents=(1, 1), grid_coefficients=[grid(13)],
                         grid_origin=[[-0.6, -0.6, -0.6]], grid_spacing=[0.1], operation=["add", "subtract"], union=1e-3)
    assert hollow.evaluate([0.0, 0, 0])[0] > 0.1 and np.abs(hollow.evaluate(ball_mesh(0.3))[0]).max() < 1e-3


@conftest.long
def test_contact_meshes_are_made(double):
    ball = double.body(12, axes=(0.1, 0.1, 0.1), exponents=(1, 1), position=(1, 2, 3))
    assert ball.vertex_count == 12 and ball.face_count == 20  # closed
    np.testing.assert_allclose(np.linalg.norm(ball.mesh()[0] - [1, 2, 3], axis=1), 0.1, atol=1e-4)


def test_a_loop_goes_down(double):
    ball = double.body(ball_mesh(0.1), axes=(0.1, 0.1, 0.1), exponents=(1, 1))
    poses = np.array([[0.19, 0.02, 0.01, 0, 0, 0], [0, 0.17, 0.05, 0.1, 0, 0]])
    body, energies = ball, []
    for _ in range(4):
        pair = abut.Pair(body, ball)
        energies.append(abut.reduce(pair, None, poses, "energy").value.sum())
        g = abut.shape_gradient(pair, None, poses, "energy", follow=True)[0]
        shape = body.shape()
        shape.axes -= 4e-3 * g.axes / np.abs(g.axes).max()
        body = double.body(shape)
        shape.vertices = body.project(shape.vertices)
        body = double.body(shape)
        assert np.abs(body.evaluate(shape.vertices)[0]).max() < 1e-9
    assert np.all(np.diff(energies) < 0)


def test_turns(double):
    body = double.body(ball_mesh(0.1), axes=(0.2, 0.1, 0.05), exponents=(0.5, 0.7), rotation=(2, 1, 0, 0.4))
    shape, w = body.shape(), np.array([[0.3, -0.2, 0.5]])
    shape.turn(w)
    pair, poses = abut.Pair(body, body), np.array([[0.2, 0.05, 0.02, 0.3, 0, 0.1]])
    g = abut.shape_gradient(pair, None, poses, "mean_distance")[0].rotation
    values = []
    for sign in (1, -1):
        moved = body.shape()
        moved.turn(sign * 1e-5 * w)
        values.append(abut.reduce(abut.Pair(double.body(moved), body, pair.smoothing), None, poses, "mean_distance").value[0])
    np.testing.assert_allclose((values[0] - values[1]) / 2e-5, (g * w).sum(), rtol=1e-7)
    # R exp(hat w) by matrices.
    before, after = (abut.pose.to_matrix(np.concatenate([np.zeros(3), q[0]]))[:3, :3]
                     for q in (body.shape().rotation, shape.rotation))
    step = abut.pose.to_matrix(abut.pose.exp(np.concatenate([np.zeros(3), w[0]])))[:3, :3]
    np.testing.assert_allclose(after, before @ step, atol=1e-12)


@pytest.mark.parametrize("changed, what", [
    ({"axes": [[0.1, 0.1]]}, r"axes has shape \(1, 2\)"),
    ({"axes": None}, "axes is missing"),
    ({"exponents": None}, "exponents is missing"),
    ({"exponents": np.ones((3, 2))}, r"exponents has shape \(3, 2\), not \(2, 2\)"),
    ({"rotation": [["x"] * 4]}, "rotation has dtype str"),
    ({"axes": []}, r"axes has shape \(0,\), not \(B, 3\)"),
    ({"axes": [[0.1, 0.1, 0.1], [0.1, 0.1]]}, "axes is ragged"),
    ({"plane_points": [[[0, 0, 0], [1]]]}, r"plane_points\[0\] is ragged"),
    ({"operation": ["add"]}, "operation has 1 entries, but there are 2"),
    ({"operation": "cut"}, "operation 0 is 'cut'"),
    ({"edges": [[0, 20]]}, "edges names a vertex"),
    ({"edges": [0.5]}, "edges has shape"),
    ({"cells": 8}, "only with a mesh without primitives"),
    ({"plane_points": [np.eye(3)]}, r"polyhedra have \[\] rows in plane_normals and \[3\]"),
    ({"cloud_points": [np.eye(3)], "cloud_normals": [np.eye(3)], "cloud_widths": [np.ones((3, 1))]},
     r"cloud_widths\[0\] has shape \(3, 1\)"),
    ({"grid_coefficients": [np.ones((6, 6))]}, r"grid_coefficients\[0\] has shape \(6, 6\)"),
    ({"grid_coefficients": np.ones((6, 6, 6))}, "grid_origin is missing"),
    ({"grid_coefficients": np.ones((6, 6, 6)), "grid_origin": np.zeros(2)}, r"grid_origin has shape \(2,\)"),
    ({"vertices": 30}, "faces and edges need vertices"),
    ({"vertices": np.ones((4, 2))}, r"vertices has shape \(4, 2\)"),
])
def test_refusals(contexts, changed, what):
    with pytest.raises(ValueError, match=what):
        contexts["f64"].body(**two(**changed))


def test_the_librarys_refusals(contexts):
    context = contexts["f64"]
    for changed, what in (({"axes": [[0.1, 0.1, 0.1], [0.1, -1, 0.1]]}, "superquadric 1: axis 1 is -1"),
                          ({"exponents": (0.5, 3)}, "superquadric 0: exponent 1 is 3"),
                          # Of primitives alone, about which a mesh is made, too.
                          ({"vertices": None, "faces": None, "axes": [[0.1] * 3, [0.1, np.nan, 0.1]]},
                           "superquadric 1: axis 1 is nan"),
                          ({"vertices": None, "faces": None, "position": [[0, 0, 0], [0, np.inf, 0]]},
                           "superquadric 1: position is 0 inf 0"),
                          ({"vertices": None, "faces": None, "rotation": [[1, 0, 0, 0], [0, 0, 0, 0]]},
                           "superquadric 1: the quaternion 0 0 0 0 has a length of 0, or one that is not finite"),
                          ({"operation": "subtract"}, "the body has no primitive with the operation \"add\"")):
        with pytest.raises(abut.Error, match=what):
            context.body(**two(**changed))
    numbers = context.body(**two()).shape()
    with pytest.raises(ValueError, match="a whole body"):
        context.body(numbers, axes=np.ones((2, 3)))
    numbers.axes = numbers.axes[:1]
    with pytest.raises(ValueError, match="operation has 2 entries, but there are 1"):
        context.body(numbers)
    numbers.operation = ["add"]
    with pytest.raises(ValueError, match=r"exponents has shape \(2, 2\), not \(1, 2\)"):
        context.body(numbers)
    with pytest.raises(ValueError, match="vertices and faces, or primitives"):
        context.body()
    grids = context.body(ball_mesh(0.2), grid_coefficients=grid(13), grid_origin=(-0.6, -0.6, -0.6), grid_spacing=0.1).shape()
    grids.grid_coefficients[0] = np.ones(7)
    with pytest.raises(ValueError, match=r"grid_coefficients\[0\] has 7 numbers, not 2197"):
        context.body(grids)
    assert "13" not in repr(numbers) and "1 superquadric>" in repr(numbers)


BOX_CORNERS = [[0.3 * (i & 1), 0.2 * (i >> 1 & 1), 0.1 * (i >> 2)] for i in range(8)]
BOX_SIDES = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]]


def write_off(path, sides, behind=""):
    path.write_text(f"OFF\n8 {len(sides)} 0\n" + "".join("%r %r %r\n" % tuple(v) for v in BOX_CORNERS) +
                    "".join("4 %d %d %d %d\n" % tuple(side) for side in sides) + behind)
    return path


def test_shells_that_are_turned_are_counted(double, tmp_path):
    """However a mesh comes in whose faces point inwards, it is turned, and what is said of it has the figures."""
    turned = [side[::-1] for side in BOX_SIDES]
    path = write_off(tmp_path / "inwards.off", turned)
    scene = tmp_path / "inwards.scene.json"
    ways = [lambda: double.load(path), lambda: double.body(BOX_CORNERS, turned), lambda: double.scene(scene)]
    for model in ("cone", "spring"):
        scene.write_text(json.dumps({"links": [{"bodies": [{"plane": [2, 2]}]}, {
            "joint": {"type": "free"}, "density": 9, "position": [0, 0, 1], "bodies": [{"file": "inwards.off"}]}],
            "contact_model": model, "pairs": [{"a": 1, "b": 0}]}))
        for way in ways:
            with pytest.warns(UserWarning) as told:
                way()
            assert [str(one.message).split(": ", 1)[1].split(";")[0].removeprefix("links[1].bodies[0]: ") for one in told] == [
                "inside out: 1 of 1 shell had inward faces and was turned"]
    with pytest.warns(UserWarning) as told:
        abut.decompose((BOX_CORNERS, turned[1:]), primitives=1, vertices=None, context=double)
    assert [str(one.message) for one in told] == ["inside out: 1 shell was turned", "open: 1 hole was closed with faces"]


def test_bytes_behind_a_mesh_are_named(double, tmp_path):
    """Whatever reads the mesh of a file says how many bytes of it were left out."""
    path = write_off(tmp_path / "more.off", BOX_SIDES, "more\n")
    (tmp_path / "more.body.json").write_text(json.dumps({"mesh": "more.off", "superquadrics": [
        {"axes": [0.15, 0.1, 0.05], "exponents": [0.1, 0.1], "position": [0.15, 0.1, 0.05], "quaternion": [1, 0, 0, 0]}]}))
    for read in (lambda: double.load(path), lambda: abut.load_hull(path, double), lambda: abut.CcdMesh.load(path, double),
                 lambda: abut.decompose(path, primitives=1, vertices=None, context=double), lambda: abut.load_cloud(path)):
        with pytest.warns(UserWarning, match="trailing: 5 bytes after the end of the mesh in the file were ignored"):
            read()
    with pytest.warns(UserWarning, match="trailing: 5 bytes") as told:
        double.load(tmp_path / "more.body.json")
    assert len(told) == 1


@conftest.long
def test_pieces_beside_the_largest_are_named():
    with pytest.warns(UserWarning, match="the contact mesh leaves out 50 % of the volume, in pieces beside the largest"):
        abut.body(80, axes=[[0.05] * 3] * 2, exponents=(1, 1), position=[[0, 0, 0], [1, 0, 0]])


def test_cores_are_those_of_a_file(context, tmp_path):
    given = {"core_half": [[0.2, 0.1, 0.15], [0.05, 0.4, 0.0], [0.0, 0.0, 0.2]], "core_radius": [0.05, 0.01, 0.1],
             "core_position": [[0, 0, 0], [0.1, 0, 0], [0, 0.2, 0]],
             "core_rotation": [[1, 0, 0, 0], [0.9, 0.1, -0.3, 0.2], [0.5, 0.5, 0, 0]],
             "core_kind": ["box", "disc", "box"], "operation": ["add", "subtract", "add"]}
    mesh = two()
    (tmp_path / "c.obj").write_text("".join("v %r %r %r\n" % tuple(v) for v in mesh["vertices"].tolist()) +
                                    "".join("f %d %d %d\n" % tuple(f + 1) for f in mesh["faces"]))
    cores = [{kind: half[:2] if kind == "disc" else half, "radius": r, "position": p, "quaternion": q, "operation": o}
             for kind, half, r, p, q, o in zip(*(given[name] for name in ("core_kind", "core_half", "core_radius", "core_position",
                                                                          "core_rotation", "operation")))]
    (tmp_path / "c.body.json").write_text(json.dumps({"mesh": "c.obj", "cores": cores}))
    made = context.body(mesh["vertices"], mesh["faces"], **given)
    same(made, context.load(tmp_path / "c.body.json"))
    numbers = made.shape()
    assert numbers.core_kind == given["core_kind"] and numbers.operation == given["operation"]
    for name in ("core_half", "core_radius", "core_position", "core_rotation"):
        assert np.array_equal(getattr(numbers, name), given[name]), name
    same(made, context.body(numbers))
    assert "3 cores" in repr(numbers)
    # A radius, a position and a kind alone are those of all.
    rows = context.body(mesh["vertices"], mesh["faces"], core_half=given["core_half"][:2], core_radius=0.1).shape()
    assert np.array_equal(rows.core_radius, [0.1, 0.1]) and rows.core_kind == ["box", "box"] and not rows.core_position.any()


def test_a_ball_of_a_core(context):
    conftest.not_twice(context)
    ball = context.body(40, core_half=(0, 0, 0), core_radius=0.5, core_position=(1, 0, 0))
    x = np.array([[2.0, 0, 0], [1, 0.75, 0], [1, 0, -0.4]])
    distance, normal = ball.evaluate(x)
    assert np.allclose(distance, [0.5, 0.25, -0.1], atol=5e-5) and np.allclose(normal, np.eye(3) * [1, 1, -1], atol=1e-6)
    assert ball.vertex_count >= 40


@pytest.mark.parametrize("given, text", [
    ({"core_radius": 1.0}, "core_half is missing"),
    ({"core_half": [1, 1, 1]}, "core_radius is missing"),
    ({"core_half": [[1, 1]], "core_radius": 1.0}, r"core_half has shape \(1, 2\), not \(C, 3\)"),
    ({"core_half": [[1, 1, 1]] * 2, "core_radius": [1, 1, 1]}, r"core_radius has shape \(3,\), not \(2,\)"),
    ({"core_half": [1, 1, 1], "core_radius": 1.0, "core_kind": "ball"}, "core_kind 0 is 'ball'"),
    ({"core_half": [1, 1, 1], "core_radius": 1.0, "core_kind": ["box", "box"]}, "core_kind has 2 entries, but there are 1"),
])
def test_arrays_of_cores_that_do_not_fit(context, given, text):
    with pytest.raises(ValueError, match=text):
        context.body(np.zeros((1, 3)), [], **given)


def test_cores_out_of_range(context):
    with pytest.raises(abut.Error, match="core 0: radius is 0"):
        context.body(np.zeros((1, 3)), [], core_half=(1, 1, 1), core_radius=0.0)
    with pytest.raises(abut.Error, match="core 0: length 1 of its disc is 0"):
        context.body(np.zeros((1, 3)), [], core_half=(1, 0, 1), core_radius=0.1, core_kind="disc")


def test_derivatives_by_cores(context):
    """Of a point above a ball: its distance falls as the radius grows and as the ball comes nearer."""
    ball = context.body(np.zeros((1, 3)), [], core_half=(0, 0, 0), core_radius=0.5, core_rotation=(0.8, 0.6, 0, 0))
    point = context.body([[0, 0, 0]], [], core_half=(0, 0, 0), core_radius=0.01)
    pair = abut.Pair(point, ball)
    s = np.array([[0, 0, 0.9, 0, 0, 0]], pair.dtype)
    p, _ = (g for g in abut.shape_gradient(pair, s, None, "distance"))
    _, g = abut.shape_gradient(pair, s, None, "distance")
    assert np.allclose(g.core_radius, [-1], atol=2e-4) and np.allclose(g.core_position, [[0, 0, -1]], atol=1e-4)
    assert np.abs(g.core_rotation).max() < 1e-4 and np.allclose(p.vertices, [[0, 0, 1]], atol=1e-4)
    along = abut.shape_jvp(pair, s, None, None, {"core_radius": [1.0]}, want=("d",))
    assert np.isclose(along.d[0, 0], -1, atol=2e-4)


SIDES = np.concatenate([np.eye(3), -np.eye(3)])
CORNERS = np.stack(np.meshgrid(*3 * [[-1.0, 1.0]]), -1).reshape(8, 3)


def test_corners_and_planes_have_edges(double):
    """Vertices without faces get those that they have on a polyhedron's planes, where these close."""
    def edges(vertices, sides=SIDES, points=None, **more):
        return double.body(vertices, plane_normals=sides, plane_points=sides if points is None else points, **more).edge_count
    middles = np.concatenate([CORNERS, SIDES, [[1, 1, 0], [0, 0, 0]]])
    rng = np.random.default_rng(2)
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    origin_and_axes = np.concatenate([np.zeros((1, 3)), np.eye(3)])
    assert edges(CORNERS) == 12 and edges(middles) == 12
    assert edges(CORNERS @ turn.T, SIDES @ turn.T) == 12
    assert edges(CORNERS, np.concatenate([SIDES, 2 * SIDES[:2]]), np.concatenate([SIDES, SIDES[:2]])) == 12
    assert edges(CORNERS, np.concatenate([[[1, 0, 0]], SIDES]), np.concatenate([[[2, 0, 0]], SIDES])) == 12
    assert edges(np.round(0.1 * CORNERS @ turn.T, 5), SIDES @ turn.T, 0.1 * SIDES @ turn.T) == 12
    assert edges(np.concatenate([CORNERS, CORNERS + 1e-9])) == 12
    assert edges(origin_and_axes, np.concatenate([-np.eye(3), [[1, 1, 1]]]), origin_and_axes[[0, 0, 0, 1]]) == 6
    assert edges(CORNERS[:7]) == 0 and edges(0.9 * CORNERS) == 0  # these do not close
    assert edges(CORNERS, edges=[[0, 1]]) == 1 and edges(CORNERS, cones="none") == 12
    crate = double.body(0.1 * CORNERS, plane_normals=SIDES, plane_points=0.1 * SIDES)
    mesh = double.body(0.1 * CORNERS, [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]],
                       plane_normals=SIDES, plane_points=0.1 * SIDES)
    poses = np.concatenate([rng.uniform(-0.05, 0.05, (200, 3)), rng.normal(size=(200, 3))], 1)
    found = [abut.reduce(abut.Pair(one, one), np.zeros(6), poses, "distance").value for one in (crate, mesh)]
    assert (found[0] < 0).all() and (found[1] < 0).all()
    pair = abut.Pair(crate, crate)
    for grad in (False, True):
        status = [abut.reduce(pair, np.zeros(6), [aside, 0, 0, 0, 0, 0], "distance", grad=grad).status for aside in (0.3, 0.19, 0.05)]
        assert status == [0, 0, 4]
