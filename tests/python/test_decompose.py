"""Meshes made into few superquadrics: arrays, files, options, what is refused."""
import conftest
import numpy as np
import pytest

import abut

BOX = np.array([[x, y, z] for z in (0, 0.1) for y in (0, 0.2) for x in (0, 0.3)], float)
FACES = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]]


def test_box(tmp_path):
    path = tmp_path / "box.body.json"
    d = abut.decompose((BOX, FACES), 1, measure=True, output=path)
    assert d.report["end"] == "done" and d.report["primitives"] == 1 and d.report["iou"] > 0.97
    assert d.axes.shape == (1, 3) and d.exponents.shape == (1, 2) and d.quaternions.shape == (1, 4)
    assert np.allclose(d.positions, BOX.mean(0), atol=2e-3)
    assert np.allclose(np.linalg.norm(d.quaternions, axis=1), 1.0)
    assert d.union == pytest.approx(0.008 * np.linalg.norm([0.3, 0.2, 0.1])) == d.report["union"] == d.body.union
    assert d.fit["iou"] == pytest.approx(d.report["iou"], abs=0.01) and d.fit["largest_surplus"] < 0.01
    assert 0.8 < d.report["depth_ratio_median"] < 2.0 and len(d.report["depth_ratio_most_at"]) == 3
    assert d.fit["depth_ratio_median"] == pytest.approx(d.report["depth_ratio_median"], rel=0.1)
    with abut.load(path) as again:
        assert again.primitive_count == 1 and again.union == d.union and again.vertex_count == d.body.vertex_count


@conftest.long
def test_file_and_error(tmp_path):
    path = tmp_path / "box.obj"
    lines = [f"v {x} {y} {z}" for x, y, z in 1000 * BOX] + ["f " + " ".join(str(i + 1) for i in f) for f in FACES]
    path.write_text("\n".join(lines) + "\n")
    d = abut.decompose(path, error=0.1, max_primitives=2, scale=0.001, seed=5, union=0.01)
    assert d.report["primitives"] == 1 and d.report["diagonal"] == pytest.approx(np.linalg.norm([0.3, 0.2, 0.1]))
    assert d.union == pytest.approx(0.01 * d.report["diagonal"])
    assert 0.0 < d.report["seconds_sampling"] < d.report["seconds"]
    with pytest.warns(UserWarning, match="error not reached: 1 - IoU is 0.0.* with 1 primitive$"):
        assert abut.decompose(path, error=0.001, max_primitives=1, scale=0.001).report["end"] == "error not reached"


@conftest.long
def test_contact_mesh(tmp_path):
    path = tmp_path / "box.body.json"
    d = abut.decompose((BOX, FACES), 1, vertices=100, output=path)
    assert d.body.vertex_count == d.mesh_report["vertices"] == 100 and d.body.edge_count == d.mesh_report["edges"] == 294
    assert d.mesh_report["volume_kept"] > 0.9 and d.mesh_report["hausdorff_percent"] < 5.0
    vertices, edges = d.body.mesh()
    values, _ = d.body.evaluate(vertices)
    assert np.abs(values).max() < 1e-6
    with abut.load(path) as again:
        assert np.array_equal(again.mesh()[0], vertices) and np.array_equal(again.mesh()[1], edges)
    two = np.concatenate([BOX, BOX + [0.6, 0.0, 0.0]]), FACES + [[i + 8 for i in f] for f in FACES]
    with pytest.warns(UserWarning, match="no contact mesh .*: 50 % of the volume is in pieces of it beside the largest"):
        d = abut.decompose(two, 2, vertices=100)
    assert d.mesh_report is None and d.body.mesh()[0][:, 0].max() > 0.8
    assert abut.decompose((BOX, FACES), 1).mesh_report is None


@conftest.long
def test_family(tmp_path):
    """A block with a square bore, by two."""
    square = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]], float)
    rings = [np.c_[size * square, np.full(4, z)] for z in (0.0, 0.5) for size in (1.0, 0.4)]  # below: outer, inner; above
    faces = []
    for i in range(4):
        j = (i + 1) % 4
        faces += [[i, 4 + i, 4 + j, j], [8 + i, 8 + j, 12 + j, 12 + i], [i, j, 8 + j, 8 + i], [4 + i, 12 + i, 12 + j, 4 + j]]
    path = tmp_path / "bore.body.json"
    d = abut.decompose((np.concatenate(rings), faces), 2, family="auto", union=0.004, vertices=200, output=path)
    assert sorted(d.operation) == ["add", "subtract"] and d.report["subtracted"] == 1 and d.report["iou"] > 0.95
    assert d.mesh_report["genus"] == 1
    values, _ = d.body.evaluate(np.array([[0.0, 0.0, 0.25], [0.7, 0.0, 0.25]]))
    assert values[0] > 0.1 and values[1] < -0.1
    mouths, _ = d.body.evaluate(np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.5]]))
    assert mouths.min() > 0.2  # 0.4 m off the surface: what is taken away does not end there
    with abut.load(path) as again:  # a file tells what is taken away
        assert np.array_equal(again.evaluate(np.array([[0.0, 0.0, 0.25], [0.7, 0.0, 0.25]]))[0], values)
    with pytest.raises(ValueError, match="no polyhedra"):
        d.table
    assert len(d.planes) == 2  # the block and its square bore
    with pytest.warns(UserWarning, match="^1 of 2 polyhedra are subtracted, and this is ignored"):
        assert len(abut.Shape.of(d.body, "polyhedra")) == 1
    assert abut.decompose((BOX, FACES), 2, family="auto").operation == ("add", "add")  # of a box there is nothing to take


@conftest.long
def test_polyhedra(tmp_path):
    """A box by one is its six planes, in the numbers, in the body, and in the file."""
    path = tmp_path / "box.body.json"
    d = abut.decompose((BOX, FACES), 1, family="auto", union=0.004, measure=True, output=path)
    assert d.operation == ("add",) and d.axes.shape == (0, 3) and len(d.planes) == 1 == d.report["polyhedra"]
    assert d.planes[0].shape == (6, 6) and d.report["planes"] == 6 and d.report["primitives"] == 1
    assert np.allclose(np.linalg.norm(d.planes[0][:, :3], axis=1), 1.0)
    distances = np.sort((d.planes[0][:, :3] * (d.planes[0][:, 3:] - BOX.mean(0))).sum(1))
    assert np.allclose(distances, [0.05, 0.05, 0.1, 0.1, 0.15, 0.15], atol=5e-4)
    assert d.fit["iou"] > 0.99 and d.report["smallest_axis"] == pytest.approx(0.05, abs=5e-4)
    assert d.report["plane"] == pytest.approx(0.004 * d.report["diagonal"])
    with abut.load(path) as again:
        assert np.array_equal(again.evaluate(BOX)[0], d.body.evaluate(BOX)[0])


def test_depths_of_a_plate():
    plate = BOX * [1.0, 1.0, 0.2]
    with pytest.warns(UserWarning, match="penetration depths in the body are .* times those in the mesh .median"):
        d = abut.decompose((plate, FACES), 1)
    assert d.fit is None and d.report["depth_ratio_median"] > 2.0


def test_a_poor_fit():
    two = np.concatenate([BOX, BOX + [0.6, 0.0, 0.0]]), FACES + [[i + 8 for i in f] for f in FACES]
    with pytest.warns(UserWarning, match="poor fit: with 1 primitive the IoU is 0.[0-7][0-9], below 0.8, and [0-9]+ % of the mesh"):
        assert abut.decompose(two, 1).report["iou"] < 0.8


ROWS = [[1.0, 0.5, 0.1, 0.2, 0.3, 0.4, -0.5, 0.6, 0.0, 0.0, 0.0], [1.0, 1.0, 0.2, 0.2, 0.2, 0.0, 0.0, 0.0, 0.0, 0.1, 0.2]]


@conftest.long
def test_tables(tmp_path):
    path = tmp_path / "two.body.json"
    d = abut.import_superquadrics(ROWS, vertices=20, output=path)
    assert np.allclose(d.table, ROWS, atol=1e-14) and d.report["primitives"] == 2 and d.report["end"] == "done"
    assert d.union == pytest.approx(0.004 * d.report["diagonal"]) == d.body.union
    assert d.body.vertex_count == d.mesh_report["vertices"] == 20
    assert np.abs(d.body.evaluate(d.body.mesh()[0])[0]).max() < 1e-6
    cos, sin = np.cos(ROWS[0][5:8]), np.sin(ROWS[0][5:8])
    first = np.array([cos[0] * cos[1], sin[0] * cos[1], -sin[1]])  # of Rz Ry Rx the first column: where x goes
    w, x, y, z = d.quaternions[0]
    assert np.allclose([1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)], first)
    np.save(tmp_path / "two.npy", np.asfortranarray(d.table, np.float32))
    np.savetxt(tmp_path / "two.txt", d.table, header="e1 e2 ...")
    np.savetxt(tmp_path / "two.csv", d.table, delimiter=",")
    for name, off in (("two.npy", 1e-7), ("two.txt", 1e-14), ("two.csv", 1e-14), ("two.body.json", 1e-14)):
        again = abut.import_superquadrics(tmp_path / name, scale=2.0, vertices=None)
        assert np.allclose(again.axes, 2.0 * d.axes, atol=off) and np.allclose(again.positions, 2.0 * d.positions, atol=off)
    assert again.union == 2.0 * d.union  # which the body file tells
    assert np.allclose(abut.import_superquadrics(np.array(ROWS), scale=2.0, vertices=None).axes, 2.0 * d.axes)
    with pytest.warns(UserWarning, match="no contact mesh .*; it has a mesh of each primitive by itself"):
        far = np.array(ROWS)
        far[1, 8] = 5.0
        assert abut.import_superquadrics(far, vertices=12).body.vertex_count == 84
    with pytest.warns(UserWarning, match="unit: "):
        abut.import_superquadrics(ROWS, scale=100.0, vertices=None)


def test_tables_refused(tmp_path):
    with pytest.raises(ValueError, match=r"\(K, 11\), not \(1, 3\)"):
        abut.import_superquadrics([1, 2, 3])
    with pytest.raises(abut.Error, match="row 2, column 3: half axis x is -1 m"):
        abut.import_superquadrics([ROWS[0], [1, 1, -1] + ROWS[1][3:]])
    with pytest.raises(abut.Error, match="the union is 1 "):
        abut.import_superquadrics(ROWS, union=1.0)
    with pytest.raises(abut.Error, match="there are no superquadrics"):
        abut.import_superquadrics(np.empty((0, 11)))
    (tmp_path / "bad.csv").write_text("1,1,1,1,1,0,0,nan,0,0,0\n")
    with pytest.raises(abut.Error, match="bad.csv:1: column 8: angle about x is nan"):
        abut.import_superquadrics(tmp_path / "bad.csv")
    with pytest.raises(ValueError, match="vertices is 7"):
        abut.import_superquadrics(ROWS, vertices=7)


def test_refused(tmp_path):
    with pytest.raises(ValueError, match="leave out error and max_primitives"):
        abut.decompose((BOX, FACES), 3, error=0.1)
    with pytest.raises(ValueError, match="primitives is 0, not 1 to 64; leave it out"):
        abut.decompose((BOX, FACES), 0)
    with pytest.raises(ValueError, match="vertices is 7"):
        abut.decompose((BOX, FACES), 1, vertices=7)
    with pytest.raises(abut.Error, match="enclose"):
        abut.decompose((BOX, FACES[:1]), 1)
    with pytest.raises(abut.Error, match="give 1 to 64"):
        abut.decompose((BOX, FACES), 65)
    with pytest.raises(ValueError, match="primitives cannot be -1"):
        abut.decompose((BOX, FACES), -1)
    with pytest.raises(ValueError, match="family is 'both'"):
        abut.decompose((BOX, FACES), 1, family="both")
    with pytest.raises(ValueError, match="scale"):
        abut.decompose((BOX, FACES), 1, scale=0.0)
    with pytest.raises(abut.Error, match="body.json"):
        abut.decompose((BOX, FACES), 1, output=tmp_path / "box.obj")
    with pytest.raises(abut.Error, match="missing.stl"):
        abut.decompose(tmp_path / "missing.stl", 1)
