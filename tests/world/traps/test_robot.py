"""MJX's humanoid with all its geoms colliding: automatic pairs are those that MuJoCo has, and steps of them
those of a list of the same pairs in the same order, to the bit; neighbours and what is excluded touch never."""
import json
import os
import pathlib

import abut
import abut.mujoco as am
import mujoco
import numpy as np
import pytest

MODEL = pathlib.Path(mujoco.__file__).parent / "mjx/test_data/humanoid/humanoid.xml"
WORLDS, STEPS, EVERY = 3, 200, 10
QUIET = 'contype="0" conaffinity="0"'  # of the geoms of its body, which touch nothing but by its four <pair>


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    if not MODEL.exists():
        pytest.skip("mujoco-mjx, whose humanoid it is, is not there")
    path = tmp_path_factory.mktemp("robot")
    text = MODEL.read_text()
    assert text.count(QUIET) == 1
    (path / "humanoid.xml").write_text(text.replace(QUIET, ""))
    return path


@pytest.fixture(scope="module")
def model(folder):
    return mujoco.MjModel.from_xml_path(str(folder / "humanoid.xml"))


@pytest.fixture(scope="module")
def scenes(folder, model):
    """The scene of automatic pairs and that of all pairs listed, with the numbers that the importer mixed. Pairs are listed anew
    as those that are automatic come, which says in what order their contacts are summed up."""
    made = [folder / f"{name}.scene.json" for name in ("automatic", "listed")]
    for path, listed in zip(made, (False, True)):
        am.write(model, path, lambda text: None, list_pairs=listed)
    context = abut.Context(os.environ.get("ABUT_TEST_DEVICE"), precision="f32")
    automatic, text = abut.Scene(made[0], context), json.loads(made[1].read_text())
    of = {frozenset((tuple(pair["a"]), tuple(pair["b"]))): pair for pair in text["pairs"]}
    bodies = [tuple(map(int, body)) for body in automatic.bodies]
    candidates = [(bodies[a], bodies[b]) for a, b in automatic.candidates]
    assert {frozenset(pair) for pair in candidates} == of.keys()
    text["pairs"] = [{**of[frozenset((a, b))], "a": list(a), "b": list(b)} for a, b in candidates]
    made[1].write_text(json.dumps(text))
    return automatic, abut.Scene(made[1], context), [link.get("name", "world") for link in text["links"]]


def starts(scene):
    """Limbs bent at random, some beyond their ends, a metre up: within a second they lie on the floor."""
    random = np.random.default_rng(4)
    q = np.tile(scene.start(), (WORLDS, 1))
    q[:, 2] -= 0.3
    q[:, 7:] += 0.4 * random.normal(size=(WORLDS, scene.nq - 7))
    return q, np.zeros((WORLDS, scene.nv))


def test_pairs_are_those_of_mujoco(scenes, model):
    """Every two geoms that MuJoCo's rules let collide, and no other. Links of an import are MuJoCo's bodies, by name."""
    automatic, _, links = scenes
    named = {tuple(sorted(links[automatic.bodies[body][0]] for body in pair)) for pair in automatic.candidates}
    body, geoms = [mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_BODY, i) for i in range(model.nbody)], model.geom_bodyid
    excluded = {(signature >> 16, signature & 0xffff) for signature in map(int, model.exclude_signature)}
    weld, parent = model.body_weldid, model.body_parentid
    allowed, left_out = 0, set()
    for a in range(model.ngeom):
        for b in range(a):
            i, j = sorted((int(geoms[a]), int(geoms[b])))
            over = int(weld[parent[weld[j]]])
            neighbours = weld[i] == over and over != 0
            if weld[i] == weld[j] or neighbours or (i, j) in excluded or (j, i) in excluded:
                left_out.add(tuple(sorted((body[i], body[j]))))
            else:
                allowed += 1
    assert allowed == len(automatic.candidates)
    assert ("thigh_left", "waist_lower") in left_out and not left_out & named


def test_automatic_as_listed(scenes, model):
    """To the bit, over 200 steps, in which limbs meet limbs as well as the floor, as MuJoCo sees it."""
    automatic, listed, _ = scenes
    q, v = starts(automatic)
    one, other = [scene.step(q, v, steps=STEPS, record=EVERY) for scene in (automatic, listed)]
    assert not one.status.any()
    for name in ("q", "v", "w", "q_record", "v_record", "status"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    data, met = mujoco.MjData(model), set()
    for q in one.q_record.reshape(-1, automatic.nq):
        am.set_state(model, data, q, np.zeros(automatic.nv))
        met |= {tuple(sorted(map(int, model.geom_bodyid[contact.geom]))) for contact in data.contact}
    assert len([pair for pair in met if pair[0] == 0]) > 5 and len([pair for pair in met if pair[0] > 0]) > 5
