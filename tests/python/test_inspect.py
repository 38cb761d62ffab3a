"""Contact meshes, how well bodies stand for meshes, and how many edges a pair needs, from Python."""
import json

import numpy as np
import pytest

import abut


@pytest.fixture(scope="module")
def ball(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ball")
    (folder / "ball.obj").write_text("v 0.5 0 0\nv 0 0.4 0\nv 0 0 0.3\nf 1 2 3\n")
    (folder / "ball.body.json").write_text(json.dumps({
        "mesh": "ball.obj", "superquadrics": [{"axes": [0.5, 0.4, 0.3], "exponents": [1, 1],
                                               "position": [0, 0, 0], "quaternion": [1, 0, 0, 0]}]}))
    return abut.load(folder / "ball.body.json")


def test_contact_mesh(ball):
    mesh = abut.contact_mesh(ball, 60)
    assert mesh.vertices.shape == (60, 3) and mesh.faces.shape == (116, 3) and mesh.faces.dtype == np.uint32
    assert mesh.report["vertices"] == 60 and mesh.report["genus"] == 0 and mesh.report["quality_mean"] > 0.85
    on = (mesh.vertices ** 2 / np.array([0.5, 0.4, 0.3]) ** 2).sum(1)
    assert np.allclose(on, 1.0, atol=1e-6)
    fit = abut.measure_fit(ball, mesh.vertices, mesh.faces)
    assert fit["coverage"] > 0.999 and abs(fit["iou"] - mesh.report["volume_kept"]) < 0.01
    assert fit["largest_surplus"] < 0.15 and 0.9 < fit["depth_ratio_median"] < fit["depth_ratio_95"] < 4.0
    assert len(fit["depth_ratio_most_at"]) == 3 and fit["endless"] is False
    with pytest.raises(ValueError):
        abut.contact_mesh(ball, 0)
    for name in ("vertices", "sweeps"):
        with pytest.raises(ValueError, match=f"{name} cannot be {2**40}"):
            abut.contact_mesh(ball, **{name: 2**40})
    with pytest.raises(ValueError, match="union cannot be"):
        abut.measure_fit(ball, mesh.vertices, mesh.faces, union=10**400)
    with pytest.raises(abut.Error, match="not 8 to 65536"):
        abut.contact_mesh(ball, 7)
    with pytest.raises(abut.Error, match="encloses no volume"):
        abut.measure_fit(ball, mesh.vertices, mesh.faces[:1])


def test_own_mesh(ball):
    quality = abut.measure_mesh(ball)
    assert quality["triangles"] == 1 and 0.9 < quality["quality_mean"] <= 1.0
    assert quality["off_most"] < 1e-3 and quality["edges_leaving"] == 0.0


def test_suggest(ball):
    vertices = np.array([[x, y, z] for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)]) * 0.4
    faces = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]]
    box = ball.context.body(vertices, faces, vertices_kept="all")
    found = abut.suggest(box, box, poses=40, seed=2)
    assert found.pairs.shape[0] == found.deepest.shape[1] <= 40 and found.deepest.shape[0] == 2
    assert 1 <= found.edges[0] <= 12 and 1 <= found.vertices[0] <= 8 and 0.95 <= found.pairs_held <= 1.0
    again = abut.suggest(box, box, {"edges": (1, 1)}, poses=40, seed=2)
    assert np.array_equal(found.pairs, again.pairs)
    with pytest.raises(ValueError):
        abut.suggest(box, box, poses=0)
    for given in ({"poses": 2**40}, {"seed": 2**70}, {"seed": -1}, {"quantile": 10**400}):
        with pytest.raises(ValueError, match=f"{next(iter(given))} cannot be"):
            abut.suggest(box, box, **given)
