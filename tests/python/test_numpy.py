"""abut's NumPy functions: golden answers, derivatives against each other, shapes, refusals, lives."""
import contextlib
import gc
import os
import pathlib
import pickle
import resource
import signal
import subprocess
import sys
import threading
import warnings
import weakref

import conftest
import numpy as np
import pytest
from conftest import OUTPUTS, WITHIN

import abut
from abut import _drivers


def within(got, wanted, tolerance):
    """The largest error, relative where numbers are above 1."""
    error = np.abs(got - wanted) / np.maximum(1.0, np.abs(wanted))
    assert np.all(np.isfinite(got)) and error.max(initial=0.0) <= tolerance


# ---- answers ----

@pytest.mark.parametrize("name", [name if name in ("box-on-box", "figure-gate", "grids-fine", "heights") else pytest.param(name, marks=conftest.long)
                                  for name in conftest.CASES])
def test_golden(double, name):
    pair, poses, bars, wanted = conftest.golden(double, name)
    s1, s2 = poses["s1"], poses["s2"]
    got = abut.contacts(pair, s1, s2)
    for output in OUTPUTS:
        if output in wanted:
            within(getattr(got, output), wanted[output], WITHIN[output])
    if "vjp_g1" in wanted:
        g = abut.vjp(pair, s1, s2, **{o: bars[o + "_bar"] for o in OUTPUTS if o + "_bar" in bars})
        for side in (1, 2):
            scale = np.abs(wanted[f"vjp_g{side}"]).max()
            within(g[side - 1] / scale, wanted[f"vjp_g{side}"] / scale, 1e-7)
    if "jvp_d" in wanted:
        tangent = wanted["tangent"]
        along = abut.jvp(pair, s1, s2, tangent1=tangent[0], tangent2=tangent[1])
        for output in OUTPUTS:
            scale = np.abs(wanted["jvp_" + output]).max()
            within(getattr(along, output) / scale, wanted["jvp_" + output] / scale, 1e-7)
    if "mean_g1" in wanted:
        mean = abut.reduce(pair, s1, s2, "mean_distance", grad=True)
        within(mean.grad1, wanted["mean_g1"], 1e-7)
        within(mean.grad2, wanted["mean_g2"], 1e-7)


def direction_of(answers, side, like):
    named = {name: answers.get(f"tangent_{side}_{name}") if not isinstance(value, tuple) else
             tuple(answers[f"tangent_{side}_{name}{i}"] for i in range(len(value)))
             for name, value in like._asdict().items()}
    return abut.ShapeGradients(**named)


def test_golden_shapes(double):
    answers = np.load(conftest.ROOT / "tests" / "golden-shape" / "composed.npz")
    pair, poses, bars, _ = conftest.golden(double, "composed")
    s1, s2 = (poses[name][answers["pose"]] for name in ("s1", "s2"))
    given = {o: bars[o + "_bar"][answers["pose"]] for o in OUTPUTS}
    rows = abut.shape_vjp(pair, s1, s2, **given, each_pose=True)
    sums = abut.shape_vjp(pair, s1, s2, **given)
    for side, row, total in zip("ab", rows, sums):
        for name, value in row._asdict().items():
            primitives = isinstance(value, tuple)
            for i, array in enumerate(value if primitives else (value,)):
                wanted = answers[f"{side}_{name}{i if primitives else ''}"] if array.size else array
                scale = max(np.abs(wanted).max(initial=0.0), 1e-300)
                within(array / scale, wanted / scale, 1e-7)
                one = getattr(total, name)[i] if primitives else getattr(total, name)
                within(one / scale, array.sum(axis=0) / scale, 1e-12)
    mean = abut.shape_gradient(pair, s1, s2, "mean_distance")[0]
    slots = np.full((len(s1), pair.C), 1 / pair.C)
    within(mean.axes, abut.shape_vjp(pair, s1, s2, d=slots)[0].axes, 1e-12)
    follows = abut.shape_vjp(pair, s1, s2, **given, follow=True)
    assert np.array_equal(follows[0].vertices, sums[0].vertices)
    assert not np.allclose(follows[0].axes, sums[0].axes)
    directions = [direction_of(answers, side, row) for side, row in zip("ab", sums)]
    along = abut.shape_jvp(pair, s1, s2, *directions)
    for output in OUTPUTS:
        scale = np.abs(answers["jvp_" + output]).max()
        within(getattr(along, output) / scale, answers["jvp_" + output] / scale, 1e-7)
    with pytest.raises(ValueError, match="one abut.Pair"):
        abut.shape_vjp([pair], s1, s2, **given)
    with pytest.raises(abut.Error, match="soft distance"):
        abut.shape_gradient(pair, s1, s2, "soft_distance")


def test_directions_of_shapes(double_pair):
    p1, p2 = (conftest.random_poses(5, np.float64, seed) for seed in (1, 2))
    like, other = abut.shape_gradient(double_pair, p1, p2, "activity")
    by = {"vertices": np.sin(np.arange(like.vertices.size)).reshape(-1, 3)}
    turns = np.ones((5, 6))
    one = abut.shape_jvp(double_pair, p1, p2, by)
    rows = abut.shape_jvp(double_pair, p1, p2, {"vertices": np.broadcast_to(by["vertices"], (5, *by["vertices"].shape))},
                          each_pose=True)
    both = abut.shape_jvp(double_pair, p1, p2, by, along2=turns, want=("d",))
    np.testing.assert_array_equal(one.d, rows.d)
    within(both.d, one.d + abut.jvp(double_pair, p1, p2, tangent2=turns).d, 1e-12)
    assert np.abs(one.p).max() > 0
    for wrong, text in (({"vertices": np.ones(3)}, "tangents1.vertices has the shape"), ({"edges": 1}, "edges"),
                        ({"plane_normals": np.ones((1, 3))}, "plane_normals is a ndarray, not a list with an array for each of"),
                        ({"vertices": [[0, 0, 0], [1]]}, "tangents1.vertices is ragged"),
                        ({"vertices": "x"}, "tangents1.vertices has dtype str"),
                        (double_pair.bodies[0].shape(), "tangents1 is a ShapeNumbers, not an abut.ShapeGradients"),
                        (like.vertices, "tangents1 is a ndarray, not an abut.ShapeGradients")):
        with pytest.raises(ValueError, match=text):
            abut.shape_jvp(double_pair, p1, p2, wrong)
    with pytest.raises(ValueError, match="give tangents1, tangents2 or both"):
        abut.shape_jvp(double_pair, p1, p2)
    with pytest.raises(abut.Error, match="body 2's vertices: number 0 is not finite"):
        abut.shape_jvp(double_pair, p1, p2, None, {"vertices": np.full_like(other.vertices, np.nan)})


def test_products_agree(double_pair):
    rng = np.random.default_rng(3)
    for width in (6, 7):
        p1, p2 = (conftest.random_poses(9, np.float64, seed, width) for seed in (1, 2))
        t1, t2 = rng.normal(size=(2, 9, width))
        bars = {o: rng.normal(size=(9, double_pair.C, 3) if o in "pn" else (9, double_pair.C))
                for o in OUTPUTS}
        g1, g2 = abut.vjp(double_pair, p1, p2, **bars)
        along = abut.jvp(double_pair, p1, p2, tangent1=t1, tangent2=t2)
        left = (g1 * t1 + g2 * t2).sum(1)
        right = sum((bars[o] * getattr(along, o)).reshape(9, -1).sum(1) for o in OUTPUTS)
        np.testing.assert_allclose(left, right, rtol=1e-9, atol=1e-9 * np.abs(right).max())


def test_second_derivatives(double_pair):
    p1, p2 = (conftest.random_poses(4, np.float64, seed) for seed in (5, 6))
    t = np.random.default_rng(7).normal(size=(4, 6))
    kinds = ("energy", "soft_distance", "mean_distance", "activity", "soft_minimum", "distance")
    for kind in kinds[:2] if conftest.USUAL else kinds:
        h1, h2 = abut.hvp(double_pair, p1, p2, kind, tangent2=t)
        whole = abut.hessian(double_pair, p1, p2, kind)
        products = np.einsum("nij,nj->ni", whole[:, :, 6:], t)
        scale = np.abs(whole).max()
        np.testing.assert_allclose(np.concatenate([h1, h2], 1), products, atol=1e-9 * scale)
        step = 1e-6
        above, below = (abut.reduce(double_pair, p1, p2 + s * t, kind, grad=True)
                        for s in (step, -step))
        np.testing.assert_allclose(h1, (above.grad1 - below.grad1) / (2 * step), atol=3e-4 * scale)
        np.testing.assert_allclose(h2, (above.grad2 - below.grad2) / (2 * step), atol=3e-4 * scale)


def test_weights(double, double_pair):
    p1, p2 = (conftest.random_poses(9, np.float64, seed) for seed in (5, 6))
    rng = np.random.default_rng(3)
    c = abut.contacts(double_pair, p1, p2, want=("d", "weight"))
    assert abut.contacts(double_pair, p1, p2).weight is None
    assert c.p is None and c.weight.shape == c.d.shape
    assert (c.weight >= 0).all() and (c.weight <= 1).all()
    without = abut.Pair(*conftest.figure_and_part(double), {**conftest.FEW, "cone_outer": 0})
    whole = abut.contacts(without, p1, p2, want=("weight",)).weight
    assert (whole[:, :without.layout.edge_offset[0]] == 1).all()  # only normal cones weigh vertices
    counted = c.weight.copy()  # vertices count whole for distances (docs/dev/spec.md, section 11.7)
    counted[:, :double_pair.layout.edge_offset[0]] = 1
    least = np.where(counted >= 0.5, c.d, np.inf).min(1)
    np.testing.assert_array_equal(abut.reduce(double_pair, p1, p2, "distance").value, least)
    for temperature in (None, 5e-4, 0.05):
        t = temperature or double_pair.smoothing["penetration"] / 16
        total = (counted * np.exp(np.where(counted > 0, least[:, None] - c.d, 0) / t)).sum(1)
        r = abut.reduce(double_pair, p1, p2, "soft_distance", grad=True, temperature=temperature)
        contacts = least - t * np.log(total)
        if t > 1e-3:  # so warm that the bodies' middles, which are no contacts, count as well
            assert ((r.value < contacts) & (r.value > contacts - t * np.log(1.02))).all()
        else:
            np.testing.assert_allclose(r.value, contacts, atol=1e-12)
        ahead, behind = (abut.reduce(double_pair, p1, p2 + step, "soft_distance", temperature=temperature).value
                         for step in (1e-7, -1e-7))
        np.testing.assert_allclose((ahead - behind) / 2e-7, r.grad2.sum(1), atol=1e-5)
    bar, (t1, t2) = rng.normal(size=c.d.shape), rng.normal(size=(2, 9, 6))
    g1, g2 = abut.vjp(double_pair, p1, p2, weight=bar)
    along = abut.jvp(double_pair, p1, p2, tangent1=t1, tangent2=t2, want=("weight",)).weight
    np.testing.assert_allclose((g1 * t1 + g2 * t2).sum(1), (bar * along).sum(1),
                               atol=1e-9 * np.abs(bar * along).sum())
    some = abut.active(double_pair, p1, p2, threshold=0.2, weights=True)
    np.testing.assert_array_equal(some.weight, c.weight[some.pose, some.slot])
    assert abut.active(double_pair, p1, p2, threshold=0.2).weight is None
    with pytest.raises(ValueError, match="temperature works only with 'soft_distance'"):
        abut.reduce(double_pair, p1, p2, "distance", temperature=0.1)
    with pytest.raises(ValueError, match="must be above 0"):
        abut.reduce(double_pair, p1, p2, "soft_distance", temperature=0.0)


def test_tangent_of_vjp(double_pair):
    rng = np.random.default_rng(8)
    p1, p2, t1, t2 = 0.2 * rng.normal(size=(4, 3, 6))
    bar, slope = rng.normal(size=(2, 3, double_pair.C))
    got = abut.vjp_tangent(double_pair, p1, p2, tangent1=t1, tangent2=t2, d=bar, d_tangent=slope)
    step = 1e-7
    above, below = (abut.vjp(double_pair, p1 + s * t1, p2 + s * t2, d=bar + s * slope)
                    for s in (step, -step))
    for one, high, low in zip(got, above, below):
        np.testing.assert_allclose(one, (high - low) / (2 * step), atol=1e-6 * np.abs(one).max())
    with pytest.raises(ValueError, match="d_tangent has shape"):
        abut.vjp_tangent(double_pair, p1, p2, tangent1=t1, d=bar, d_tangent=slope[:1, :1])


def test_lists(double_pair):
    pair = double_pair
    p1, p2 = (conftest.random_poses(7, np.float64, seed) for seed in (5, 6))
    whole = abut.contacts(pair, p1, p2)
    some = abut.active(pair, p1, p2, threshold=0.2)
    pose, slot = np.nonzero(whole.activity >= 0.2)
    assert len(some) > 10
    np.testing.assert_array_equal(some.pose, pose)
    np.testing.assert_array_equal(some.slot, slot)
    np.testing.assert_array_equal(some.d, whole.d[pose, slot])
    np.testing.assert_array_equal(some.p, whole.p[pose, slot])
    assert some.feature.shape == (len(some), 2)
    bar = np.random.default_rng(1).normal(size=len(some))
    spread = np.zeros_like(whole.d)
    spread[pose, slot] = bar
    for one, other in zip(some.vjp(d=bar), abut.vjp(pair, p1, p2, d=spread)):
        np.testing.assert_allclose(one, other, atol=1e-9)
    t = np.ones((7, 6))
    along = some.jvp(tangent2=t, want=("d", "n"))
    dense = abut.jvp(pair, p1, p2, tangent2=t)
    assert along.p is None
    np.testing.assert_allclose(along.d, dense.d[pose, slot], atol=1e-9)
    blocks = abut.jacobian(pair, p1, p2, threshold=0.2)
    assert blocks.jacobian.shape == (len(some), 8, 12)
    np.testing.assert_allclose(blocks.jacobian[:, 3, 6:].sum(1), along.d, atol=1e-9)
    none = abut.active(pair, p1, p2 + np.array([50.0, 0, 0, 0, 0, 0]))
    assert len(none) == 0 and none.vjp()[0].shape == (7, 6)


def test_lists_stand_alone(double):
    """A list keeps its pair and the poses as they were, and nothing of its products."""
    a, b = conftest.figure_and_part(double)
    z, y = np.zeros((3, 6)), conftest.random_poses(3, np.float64)
    some = abut.active(abut.Pair(a, b), z, y)
    gc.collect()
    bar = np.ones(len(some))
    before = some.vjp(d=bar)
    y += 0.05
    for one, other in zip(before, some.vjp(d=bar)):
        np.testing.assert_array_equal(one, other)
    gone = weakref.ref(before[0])
    del before, one, other
    gc.collect()
    assert gone() is None
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(some)


def test_several_pairs(context):
    a, b = conftest.figure_and_part(context)
    pairs = [abut.Pair(a, b, conftest.FEW), abut.Pair(b, b, conftest.FEW), abut.Pair(b, a, {"edge_edge": False})]
    p1, p2 = (conftest.random_poses(8, context.dtype, seed) for seed in (1, 2))
    which = np.array([2, 0, 1, 1, 0, 2, 2, 0])
    got = abut.contacts(pairs, p1, p2, index=which)
    assert got.d.shape == (8, max(p.C for p in pairs))
    g = abut.reduce(pairs, p1, p2, "energy", grad=True, index=which)
    for i, k in enumerate(which):
        alone = abut.contacts(pairs[k], p1[i], p2[i])
        np.testing.assert_array_equal(got.d[i, :pairs[k].C], alone.d)
        assert not got.d[i, pairs[k].C:].any()
        np.testing.assert_array_equal(
            g.grad2[i], abut.reduce(pairs[k], p1[i], p2[i], "energy", grad=True).grad2)


def test_weights_of_several_pairs(context):
    conftest.not_twice(context)
    a, b = conftest.figure_and_part(context)
    pairs = [abut.Pair(a, b, conftest.FEW), abut.Pair(b, b, conftest.FEW), abut.Pair(b, a, {"edge_edge": False})]
    p1, p2 = (conftest.random_poses(8, context.dtype, seed) for seed in (1, 2))
    which = np.array([2, 0, 1, 1, 0, 2, 2, 0])
    got = abut.contacts(pairs, p1, p2, index=which, want=("d", "weight"))
    least = abut.reduce(pairs, p1, p2, "distance", grad=True, index=which)
    soft = abut.reduce(pairs, p1, p2, "soft_distance", grad=True, index=which)
    bar = np.random.default_rng(3).normal(size=got.weight.shape).astype(context.dtype)
    g1, g2 = abut.vjp(pairs, p1, p2, weight=bar, index=which)
    for i, k in enumerate(which):
        pair = pairs[k]
        alone = abut.contacts(pair, p1[i], p2[i], want=("d", "weight"))
        np.testing.assert_array_equal(got.weight[i, :pair.C], alone.weight)
        assert not got.weight[i, pair.C:].any()
        for found, kind in ((least, "distance"), (soft, "soft_distance")):
            one = abut.reduce(pair, p1[i], p2[i], kind, grad=True)
            np.testing.assert_array_equal(found.value[i], one.value)
            np.testing.assert_array_equal(found.grad1[i], one.grad1)
        one = abut.vjp(pair, p1[i], p2[i], weight=bar[i, :pair.C])
        np.testing.assert_array_equal(g1[i], one[0])
        np.testing.assert_array_equal(g2[i], one[1])


# ---- shapes ----

def test_shapes(pair):
    conftest.not_twice(pair)
    real = pair.dtype
    p2 = conftest.random_poses(6, real).reshape(2, 3, 6)
    c = abut.contacts(pair, np.zeros(6, real), p2)
    assert c.p.shape == c.n.shape == (2, 3, pair.C, 3)
    assert c.d.shape == c.activity.shape == (2, 3, pair.C) and c.status.shape == (2, 3)
    assert c.d.dtype == real and c.status.dtype == np.uint8
    one = abut.contacts(pair, np.zeros(6, real), p2[1, 2])
    assert one.d.shape == (pair.C,) and one.status.shape == ()
    np.testing.assert_array_equal(one.d, c.d[1, 2])
    crossed = abut.contacts(pair, p2[:, :1], p2[:1], want=("d",))
    assert crossed.d.shape == (2, 3, pair.C) and crossed.p is None
    np.testing.assert_array_equal(crossed.d[1, 2],
                                  abut.contacts(pair, p2[1, 0], p2[0, 2]).d)
    nothing = abut.contacts(pair, np.zeros((0, 6), real), np.zeros(6, real))
    assert nothing.d.shape == (0, pair.C)
    r = abut.reduce(pair, np.zeros(6, real), p2, "energy", grad=True, nearest=True)
    np.testing.assert_allclose(  # a kernel without derivatives rounds differently
        r.nearest, abut.reduce(pair, np.zeros(6, real), p2, "energy", nearest=True).nearest,
        rtol=0, atol=4 * np.finfo(real).eps * np.abs(r.nearest).max())
    r = abut.reduce(pair, np.zeros(6, real), p2, "minimum_distance")
    assert r.value.shape == (2, 3) and r.grad1 is None
    assert abut.hessian(pair, np.zeros(6, real), p2, "energy", moving=2).shape == (2, 3, 6, 6)
    assert abut.hessian(pair, np.zeros(6, real), p2, "energy").shape == (2, 3, 12, 12)


def test_inputs(pair):
    conftest.not_twice(pair)
    real = pair.dtype
    other = np.dtype(np.float64 if real == np.float32 else np.float32)
    p2 = conftest.random_poses(4, np.float32).astype(real)
    wanted = abut.contacts(pair, np.zeros(6, real), p2).d
    read_only = p2.copy()
    read_only.flags.writeable = False
    turned = np.asfortranarray(p2)
    every_other = np.repeat(p2, 2, axis=0)[::2]
    for given in (p2.astype(other), p2.tolist(), read_only, turned, every_other, p2[::-1][::-1]):
        for first in (np.zeros(6), [0] * 6, np.zeros((4, 6), int), np.zeros((4, 6), real)):
            np.testing.assert_array_equal(abut.contacts(pair, first, given).d, wanted)

    class Tensor:  # of another framework: never converted
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **options):
            return self.array.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    np.testing.assert_array_equal(abut.contacts(pair, np.zeros(6), Tensor(p2)).d, wanted)
    with pytest.raises(ValueError, match=f"pose2 is {other.name}, but the context uses"):
        abut.contacts(pair, np.zeros(6), Tensor(p2.astype(other)))


def test_out(pair):
    real = pair.dtype
    p1, p2 = np.zeros((3, 6), real), conftest.random_poses(3, real)
    wanted = abut.contacts(pair, p1, p2)
    out = {"d": np.empty((3, pair.C), real), "status": np.empty(3, np.uint8)}
    for first in (p1, p1[0]):  # at once, and by broadcasting
        got = abut.contacts(pair, first, p2, want=("d", "n"), out=out)
        assert got.d is out["d"] and got.status is out["status"] and got.p is None
        np.testing.assert_array_equal(got.d, wanted.d)
        np.testing.assert_array_equal(got.n, wanted.n)
    for bad, words in (({"d": np.empty((3, 1), real)}, "shape"),
                       ({"d": np.empty((pair.C, 3), real).T}, "contiguous"),
                       ({"d": out["d"].tolist()}, "list"),
                       ({"d": out["d"], "activity": out["d"]}, "share memory"), ({"e": out["d"]}, "'e'"),
                       ({"p": np.empty((3, pair.C, 3), real)}, "'p'")):
        with pytest.raises(ValueError, match=words):
            abut.contacts(pair, p1, p2, want=("d", "activity"), out=bad)
    both = np.empty(3 * pair.C + 1, real)
    parts = {"d": both[:-1].reshape(3, -1), "activity": both[1:].reshape(3, -1)}
    with pytest.raises(ValueError, match="share memory"):
        abut.contacts(pair, p1, p2, want=("d", "activity"), out=parts)
    given = parts | {"status": both.view(np.uint8)[:3]}
    for first in (p1, p1[0]):
        for out in ({"d": out["d"], "activity": out["d"][:]}, given, {"d": given["d"], "status": given["status"]}):
            with pytest.raises(ValueError, match="share memory"):
                abut.contacts(pair, first, p2, want=("d", "activity"), out=out)
    poses = np.concatenate([p1.ravel(), np.zeros(3 * pair.C, real)])  # an input is read before it is written over
    over = poses[1:3 * pair.C + 1].reshape(3, -1)
    assert abut.contacts(pair, poses[:18].reshape(3, 6), p2, want=("d",), out={"d": over}).d is over
    np.testing.assert_array_equal(over, wanted.d)
    index = np.zeros(3, np.uint32)
    with pytest.raises(abut.Error, match="the output status overlaps the input pair in memory") as told:
        abut.contacts([pair], p1, p2, index=index, out={"status": index.view(np.uint8)[:3]})
    assert told.value.name == "ABUT_ERROR_ARGUMENT" and not index.any()
    frozen = np.empty((3, pair.C), real)
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="written"):
        abut.contacts(pair, p1, p2, out={"d": frozen})


def test_forms_of_poses(double_pair):
    """Matrices, None and both kinds beside each other are the poses that they say."""
    count = 12 if conftest.USUAL else 40
    twists = conftest.random_poses(count, np.float64)
    twists[0] = 0.0
    twists[1:4, 3:] = np.pi * np.eye(3)  # half turns
    quaternions, origin = abut.pose.exp(twists), np.zeros(6)
    matrices = abut.pose.to_matrix(twists)
    np.testing.assert_allclose(abut.pose.to_matrix(quaternions), matrices, atol=1e-15)
    np.testing.assert_allclose(matrices[:, 3], np.broadcast_to([0.0, 0.0, 0.0, 1.0], (count, 4)))
    x = np.random.default_rng(2).normal(size=3)
    for twist, matrix in zip(twists, matrices):  # a turn by scipy's formula is Rodrigues'
        angle = np.linalg.norm(twist[3:])
        axis = twist[3:] / angle if angle else np.zeros(3)
        turned = (np.cos(angle) * x + np.sin(angle) * np.cross(axis, x)
                  + (1 - np.cos(angle)) * axis * (axis @ x))
        np.testing.assert_allclose(matrix[:3, :3] @ x, turned, atol=1e-14)
    back = abut.pose.from_matrix(matrices)
    np.testing.assert_allclose(abut.pose.to_matrix(back), matrices, atol=1e-14)
    assert abut.pose.from_matrix(matrices.astype(np.float32)).dtype == np.float32
    wanted = abut.contacts(double_pair, np.broadcast_to(abut.pose.exp(origin), (count, 7)), quaternions)
    for one, two in ((None, quaternions), (None, matrices), (np.eye(4), matrices), (origin, quaternions),
                     (origin, matrices), (np.eye(4), twists), (None, twists)):
        got = abut.contacts(double_pair, one, two)
        for name in OUTPUTS:
            np.testing.assert_allclose(getattr(got, name), getattr(wanted, name), atol=1e-11)
    mirrored = abut.contacts(double_pair, matrices, None).d
    np.testing.assert_allclose(mirrored, abut.contacts(double_pair, twists, np.zeros(6)).d, atol=1e-11)
    mixed = abut.reduce(double_pair, origin, quaternions, "energy", grad=True)
    assert mixed.grad1.shape == mixed.grad2.shape == (count, 7)
    listed = abut.active(double_pair, None, matrices)
    assert len(listed) == len(abut.active(double_pair, np.eye(4), quaternions))
    broken = matrices.copy()
    broken[3, 1, 2] = np.nan
    assert abut.contacts(double_pair, None, broken).status.tolist() == [0, 0, 0, 1] + (count - 4) * [0]


def test_device_that_is_not_there():
    with pytest.raises(abut.Error, match=r"there is no device 'nix'; abut.devices\(\) lists .*'host' \(host\)"
                                         r".*apt install pocl-opencl-icd") as told:
        abut.Context("nix")
    assert told.value.name == "ABUT_ERROR_DEVICE"


def test_names_of_pose():
    assert sorted(name for name in dir(abut.pose) if name[0] != "_") == sorted(abut.pose.__all__)


def test_refusals(contexts):
    context = contexts["f32"]
    a, b = conftest.figure_and_part(context)
    pair = abut.Pair(a, b)
    p = np.zeros((3, 6), np.float32)
    for call, words in (
            (lambda: abut.contacts(pair, np.zeros((3, 5)), p), r"pose1 has shape \(3, 5\)"),
            (lambda: abut.contacts(pair, None, None), "pose1 and pose2 are both None"),
            (lambda: abut.contacts(pair, 2 * np.eye(4), p), "pose1 is not a rigid motion"),
            (lambda: abut.contacts(pair, p, np.stack([np.eye(4), np.diag([1, 1, -1, 1])])),
             r"pose2\[1\] is not a rigid motion"),
            (lambda: abut.contacts(pair, p, np.zeros((3, 4, 5))), r"pose2 has shape \(3, 4, 5\)"),
            (lambda: abut.contacts(pair, np.zeros((4, 6)), p), "do not have the same batch"),
            (lambda: abut.contacts(pair, 0.0, p), r"pose1 has shape \(\)"),
            (lambda: abut.contacts(pair, ["a"] * 6, p), "expected numbers"),
            (lambda: abut.contacts(pair, p, p, want=("q",)), "'q' is not among p, d"),
            (lambda: abut.reduce(pair, p, p, "sum"), "'sum' is not among"),
            (lambda: abut.reduce(pair, p, p, "minimum_distance", grad=True), "no derivatives"),
            (lambda: abut.vjp(pair, p, p), "give at least one cotangent"),
            (lambda: abut.active(pair, p, p, threshold=2.0), "threshold is 2.0"),
            (lambda: abut.Pair("a.obj", b), "a is a str, not an abut.Body"),
            (lambda: context.load(conftest.ROOT / "assets/box.body.json", scale=0.001), "bare meshes"),
            (lambda: context.load(conftest.ROOT / "assets/box.obj", cells=-3), "cells cannot be -3"),
            (lambda: context.load(conftest.ROOT / "assets/box.obj", scale=0.0), "scale is 0.0"),
            (lambda: context.load("a\0b.obj"), "not a path"),
            (lambda: abut.vjp(pair, p, p, d=np.zeros((3, 1))), r"d has shape \(3, 1\), not"),
            (lambda: abut.jvp(pair, p, p), "give tangent1, tangent2 or both"),
            (lambda: abut.hessian(pair, p, p, "energy", moving=3), "moving is 3"),
            (lambda: abut.contacts(pair, p, p, index=[0, 0, 0]), "there is one pair"),
            (lambda: abut.contacts([pair], p, p), "needs index"),
            (lambda: abut.contacts([pair], p, p, index=[0, 0, 1]), "does not exist; there are 1"),
            (lambda: abut.contacts([pair], p, p, index=[0.0] * 3), "expected integers"),
            (lambda: abut.contacts([], p, p, index=[]), "at least one"),
            (lambda: abut.contacts("pair", p, p), "at least one"),
            (lambda: abut.Pair(a, b, {"penetratio": 1}), "no 'penetratio'"),
            (lambda: abut.Pair(a, b, {"select": "hard"}), "'softsort' or 'gate'"),
            (lambda: abut.Pair(a, b, {"trace": -1}), "'trace' cannot be -1"),
            (lambda: abut.Pair(a, contexts["f64"].load(conftest.ROOT / "assets/box.body.json")),
             "different contexts"),
            (lambda: abut.Context(precision="f16"), "precision is 'f16'"),
            (lambda: abut.Context(fallback="maybe"), "fallback is 'maybe'"),
            (lambda: context.body(np.zeros((3, 2)), []), r"vertices has shape \(3, 2\)"),
            (lambda: context.body(np.zeros((3, 3)), [[0, 1, 3]]), "face 0 names a vertex"),
            (lambda: a.evaluate(np.zeros((3, 2))), r"not \(..., 3\)")):
        with pytest.raises(ValueError, match=words):
            call()
    with pytest.raises(abut.Error, match="there is no device") as caught:
        abut.Context("a device that nobody has")
    assert caught.value.name == "ABUT_ERROR_DEVICE" and caught.value.status < -2000
    with pytest.raises(abut.Error, match="nowhere.stl: No such file") as caught:
        context.load("nowhere.stl")
    assert caught.value.name == "ABUT_ERROR_READ"
    with pytest.raises(abut.Error, match="penetration"):
        abut.Pair(a, b, {"penetration": -1.0})


def test_not_finite(pair):
    p2 = conftest.random_poses(3, pair.dtype)
    p2[1, 4] = np.nan
    c = abut.contacts(pair, np.zeros(6), p2)
    assert c.status.tolist() == [0, 1, 0]
    assert np.isnan(c.d[1]).all() and np.isfinite(c.d[[0, 2]]).all()
    r = abut.reduce(pair, np.zeros(6), p2, "energy", grad=True)
    assert np.isnan(r.value[1]) and np.isnan(r.grad1[1]).all() and np.isfinite(r.grad2[0]).all()


# ---- bodies ----

class Tracked(np.ndarray):
    """As trimesh's arrays are."""


def test_arrays_of_a_subclass(pair):
    poses = np.zeros((3, 6)).view(Tracked)
    np.testing.assert_array_equal(abut.contacts(pair, np.zeros(6), poses).d, abut.contacts(pair, np.zeros(6), np.zeros((3, 6))).d)
    with pytest.raises(ValueError, match="pose2 is a masked array: fill it first"):
        abut.contacts(pair, np.zeros(6), np.ma.zeros((3, 6)))


def test_calls_that_are_meant_otherwise(context, pair):
    """A TypeError names the right call."""
    body, mesh = pair.bodies[0], abut.CcdMesh.of_body(pair.bodies[0])

    class Mesh:
        vertices, faces = np.zeros((4, 3)), [[0, 1, 2]]

    for call, text in ((lambda: context.load(Mesh()), r"abut\.body\(mesh\.vertices, mesh\.faces\)"),
                       (lambda: abut.contacts(body, body), r"abut\.Pair\(a, b\)"), (lambda: abut.ccd(mesh, mesh), "two meshes"),
                       (lambda: abut.ccd(body, body), "two meshes"),
                       (lambda: abut.Pair(body, body, "file.json"), r"a str, .*abut\.load_smoothing\(path\)"),
                       (lambda: context.pair(body, body, np.zeros(6)), "a ndarray, not a mapping"),
                       (lambda: abut.anneal(body, body, 0.1, 0.01, smoothing="file.json"), r"abut\.load_smoothing\(path\)"),
                       (lambda: abut.Pair(body, body, {}, None), r"^Pair takes at most 3 positional arguments, not 4: Pair\(a, b, smoothing\)"),
                       (lambda: abut.contacts(pair, body, body), r"^pose1 is a Body, not a pose: abut\.Pair\(a, b\)"),
                       (lambda: abut.ccd(pair, None, pair), "^to1 is a Pair, not a pose"),
                       (lambda: abut.ccd((body, body)), r"abut\.Pair\(a, b\)")):
        with pytest.raises(TypeError, match=text):
            call()


def test_calls_with_more_arguments_by_position(pair):
    body, pose, makes = pair.bodies[0], np.zeros(6), r", others by name; abut\.Pair\(a, b\) makes a pair of two bodies$"
    for call, text in ((lambda: abut.contacts(body, body, pose, pose), r"^contacts takes at most 3 positional arguments, not 4: contacts\(pair, pose1, pose2\)" + makes),
                       (lambda: abut.contacts(pair, body, body, pose, pose), "^contacts takes .* not 5: "),
                       (lambda: abut.reduce(body, body, pose, pose, "distance"), r"^reduce takes .* not 5: reduce\(pair, pose1, pose2, kind\)" + makes),
                       (lambda: abut.jacobian(body, body, pose, pose), "^jacobian takes" + ".*" + makes),
                       (lambda: abut.ccd(body, body, pose, pose, pose, pose), r"^ccd takes .* not 6: ccd\(pair, from1, to1, from2, to2\)" + makes),
                       (lambda: abut.closest(None, None, pose, pose, None, 0.1), r"^closest takes .* not 6: closest\(.*\), others by name$")):
        with pytest.raises(TypeError, match=text):
            call()
    with pytest.raises(AttributeError, match=r"no attribute 'contacts': abut\.contacts takes a pair as its first argument"):
        pair.contacts(body, body, pose, pose)
    with pytest.raises(AttributeError, match="no attribute 'nothing'$"):
        pair.nothing


def test_rejected_poses_are_warned_about(pair):
    poses = np.zeros((4, 7))
    poses[:, 3] = 1
    poses[1, 0], poses[3, 3] = np.inf, 0
    for call in (lambda: abut.contacts(pair, poses, poses), lambda: abut.reduce(pair, poses, poses, "distance"),
                 lambda: abut.reduce(pair, poses, poses, "distance", grad=True)):
        with pytest.warns(UserWarning) as caught:
            call()
        assert [str(w.message) for w in caught] == [
            "1 of 4 poses are not finite; the first one has index 1: their numbers are NaN",
            "1 of 4 poses have a quaternion of length 0; the first one has index 3: their numbers are NaN"]


def tetrahedron():
    return (np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]]),
            [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])


def test_bodies(context, tmp_path):
    conftest.not_twice(context)
    body = context.body(*tetrahedron())
    assert body.report["holes"] == 0 and abs(body.report["volume"] - 1 / 6) < 1e-9
    vertices, edges = body.mesh()
    assert vertices.shape == (body.vertex_count, 3) and edges.shape == (body.edge_count, 2)
    points = np.array([[0.1, 0.1, 0.1], [2.0, 0.0, 0.0]])
    distance, normal = body.evaluate(points)
    np.testing.assert_allclose(distance, [-0.1, 1.0], atol=0.02)
    np.testing.assert_allclose(np.linalg.norm(normal, axis=-1), 1.0, atol=1e-3)
    lost = body.evaluate([[np.nan, 0, 0], [np.inf, 0, 0], [0, 0, 0]])
    assert np.isnan(lost[0][:2]).all() and np.isnan(lost[1][:2]).all() and np.isfinite(lost[0][2])
    with pytest.warns(UserWarning, match="open: 1 hole") as told:
        context.body(tetrahedron()[0], tetrahedron()[1][:3])
    assert told[0].filename == __file__  # where the caller is, not the package
    path = tmp_path / "open.obj"
    path.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\n")
    with pytest.warns(UserWarning, match="open.obj: open"):
        assert context.load(path, cells=16, vertices="all").vertex_count == 4
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert context.load(conftest.ROOT / "assets" / "box.obj").report["vertices"] >= 8
        context.load(conftest.ROOT / "assets" / "box.body.json")
    x, y, z = 0.5, 0.5, 0.005  # a plate of 10 mm, whose field is off by a millimetre
    plate = context.body([[i * x, j * y, k * z] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)],
                         [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]])
    with pytest.warns(UserWarning, match=r"mesh: the error of its field is up to 0\.\d+ m.*penetration") as told:
        abut.Pair(plate, plate)
    assert len(told) == 1 and told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        abut.Pair(plate, plate)  # that has been said
        abut.Pair(plate, context.load(conftest.ROOT / "assets" / "box.obj"), {"penetration": 0.01})
    beside = tmp_path / "beside.body.json"
    (tmp_path / "t.obj").write_text("v 2 0 0\nv 3 0 0\nv 2 1 0\nv 2 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\n")
    beside.write_text('{"mesh": "t.obj", "superquadrics": [{"axes": [1, 1, 1], "exponents": [1, 1], '
                      '"position": [0, 0, 0], "quaternion": [1, 0, 0, 0]}]}')
    with pytest.warns(UserWarning, match="beside.body.json: misfit"):
        context.load(beside)


def test_smoothing(context):
    a, b = conftest.figure_and_part(context)
    fitted = abut.fit_smoothing(a, b)
    assert abut.Pair(a, b).smoothing == fitted
    changed = abut.Pair(a, b, {"penetration": 0.01, "union": 0.01, "vertices": (20, 0)})
    assert changed.smoothing == {**fitted, "penetration": 0.01, "union": 0.01, "vertices": (20, 0)}
    assert changed.layout.vertices[0] == 20
    for penetration in (0.5, 1, np.float32(0.5)):
        assert abut.Pair(a, b, {"penetration": penetration}).smoothing["penetration"] == penetration
    for name in ("near", "reach", "ends", "agree"):
        assert abut.Pair(a, b, {name: 0}).smoothing == fitted  # off, as dicts from before state it
        with pytest.raises(ValueError, match=f"'{name}' was removed in version 0.3"):
            abut.Pair(a, b, {name: 0.5})
    with pytest.raises(TypeError):
        changed.smoothing["penetration"] = 1.0


def test_anneal(double):
    """From coarse to fine by equal ratios, with the lengths that a fit takes from the penetration; what is stated stays."""
    a, b = conftest.figure_and_part(double)
    pairs = abut.anneal(a, b, 8e-3, 1e-3, 4)
    np.testing.assert_allclose([p.smoothing["penetration"] for p in pairs], [8e-3, 4e-3, 2e-3, 1e-3], rtol=1e-12)
    assert pairs[-1].smoothing["penetration"] == 1e-3
    fitted = abut.fit_smoothing(a, b)
    follow = {"penetration", "neighbour", "inset", "part", "gain", "cone_inset"}
    for pair in pairs:
        s = pair.smoothing
        assert {name for name in s if s[name] != fitted[name]} == follow
        for name in follow:
            assert s[name] / fitted[name] == pytest.approx(s["penetration"] / fitted["penetration"], rel=1e-12)
    same = abut.anneal(a, b, fitted["penetration"], 2 * fitted["penetration"], 2)[0]
    assert {name: pytest.approx(value, rel=1e-12) if name in follow else value for name, value in fitted.items()} == dict(same.smoothing)
    stated = abut.anneal(a, b, 8e-3, 1e-3, smoothing={"inset": 0.002, "edges": (16, 16)})
    assert len(stated) == 5 and all(p.smoothing["inset"] == 0.002 and p.smoothing["edges"] == (16, 16) for p in stated)
    tiny = abut.anneal(a, b, 1e-3, 1.5e-6, 2)[1].smoothing
    assert tiny["penetration"] == 1.5e-6 and tiny["gain"] == 1e-6  # the least that a smoothing may have
    for wrong in ({"stages": 1}, {"stages": 2.5}, {"coarse": 0.0}, {"fine": -1e-3}, {"fine": "x"}, {"smoothing": {"penetration": 1e-3}}):
        with pytest.raises(ValueError, match=next(iter(wrong)) if "smoothing" not in wrong else "anneal changes penetration itself"):
            abut.anneal(a, b, **{"coarse": 8e-3, "fine": 1e-3, **wrong})
    with pytest.raises(ValueError, match="not an abut.Body"):
        abut.anneal(a, "b", 8e-3, 1e-3)


def test_poses():
    rng = np.random.default_rng(2)
    twists = rng.normal(size=(5, 4, 6))
    poses = abut.pose.exp(twists)
    np.testing.assert_allclose(abut.pose.exp(abut.pose.log(poses))[..., :3], poses[..., :3],
                               atol=1e-12)
    unit = abut.pose.compose(poses, abut.pose.invert(poses))
    np.testing.assert_allclose(np.abs(unit), np.broadcast_to([0, 0, 0, 1, 0, 0, 0], unit.shape),
                               atol=1e-12)
    steps = 1e-6 * rng.normal(size=(5, 4, 6))
    for frame in ("body", "world", "aligned"):
        moved = abut.pose.step(twists, steps, frame)
        gradients = rng.normal(size=twists.shape)
        along = abut.pose.gradient_to_frame(twists, gradients, frame)
        flat = np.linalg.norm(twists[..., 3:], axis=-1) < 2.5  # beyond a half turn numbers jump
        np.testing.assert_allclose(((moved - twists) * gradients).sum(-1)[flat],
                                   (along * steps).sum(-1)[flat], atol=1e-10)
    assert abut.pose.exp(twists.astype(np.float32)).dtype == np.float32
    with pytest.raises(ValueError, match="twists has shape"):
        abut.pose.exp(poses)
    with pytest.raises(ValueError, match="frame is 'moon'"):
        abut.pose.step(twists, steps, "moon")


# ---- lives ----

def test_closing():
    device = os.environ.get("ABUT_TEST_DEVICE", "host")
    with abut.Context(device) as context:
        a, b = conftest.figure_and_part(context)
        with abut.Pair(a, b) as pair:
            abut.contacts(pair, np.zeros(6), np.zeros(6))
        with pytest.raises(ValueError, match="this Pair is closed"):
            abut.contacts(pair, np.zeros(6), np.zeros(6))
        left = abut.Pair(a, b)
    with pytest.raises(ValueError, match="this Context is closed"):
        context.load("x.obj")
    with pytest.raises(abut.Error, match="stale"):
        abut.contacts(left, np.zeros(6), np.zeros(6))
    for thing in (context, a, left):
        with pytest.raises(TypeError, match="cannot be pickled"):
            pickle.dumps(thing)
        assert "closed" in repr(thing) or thing is not context


def test_nothing_leaks(context):
    conftest.not_twice(context)
    a, b = conftest.figure_and_part(context)
    box = context.load(conftest.ROOT / "assets" / "box.body.json")

    def sizes():
        gc.collect()
        pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
        return context.counters["resident"], pages * resource.getpagesize()

    abut.Pair(a, b)  # the first keeps what bodies need in pairs with them
    for _ in range(100):
        abut.Pair(box, box)
    resident, memory = sizes()
    for _ in range(2000 if conftest.USUAL else 10000):
        abut.Pair(box, box)
    assert sizes()[0] == resident and sizes()[1] < memory + 5e6
    for _ in range(30):
        abut.Pair(a, b)
    assert sizes()[0] == resident


def test_threads(pair):
    conftest.not_twice(pair)
    poses = [conftest.random_poses(4, pair.dtype, seed) for seed in range(6)]
    wanted = [abut.contacts(pair, np.zeros(6), p).d for p in poses]
    wrong = []

    def work(i):
        for _ in range(10):
            if not np.array_equal(abut.contacts(pair, np.zeros(6), poses[i]).d, wanted[i]):
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@contextlib.contextmanager
def alarm(handler, seconds):
    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def test_signals():
    """A handler's exception, whichever it is, ends a call between chunks and comes out of it; nothing
    can be closed meanwhile."""
    with abut.Context("host", chunk=1) as context:
        pair = abut.Pair(*conftest.figure_and_part(context), conftest.FEW)
        poses = np.zeros((5000, 6), np.float32)
        out = {"d": np.empty((5000, pair.C), np.float32)}  # so that the call begins at once
        refused = []

        def close(*_):
            for thing in (pair, context):
                try:
                    thing.close()
                except RuntimeError:
                    refused.append(thing)
            raise TimeoutError("mine")

        def leave(*_):
            raise SystemExit(7)

        for handler, error in ((signal.default_int_handler, KeyboardInterrupt), (close, TimeoutError),
                               (leave, SystemExit)):
            with alarm(handler, 0.2), pytest.raises(error) as caught:
                abut.contacts(pair, poses, poses, want=("d",), out=out)
            if handler is close:
                assert str(caught.value) == "mine" and refused == [pair, context]
            assert abut.contacts(pair, poses[:2], poses[:2]).d.shape[0] == 2


def test_signal_while_a_field_is_made(contexts):
    rows, columns = 100, 100
    t, p = np.meshgrid(np.linspace(0, np.pi, rows), np.arange(columns) * 2 * np.pi / columns,
                       indexing="ij")
    r = 1 + 0.1 * np.abs(np.sin(6 * t) * np.sin(7 * p))
    vertices = np.stack([r * np.sin(t) * np.cos(p), r * np.sin(t) * np.sin(p), r * np.cos(t)], -1)
    i = np.arange((rows - 1) * columns)
    beside = i // columns * columns + (i + 1) % columns
    faces = np.stack([i, i + columns, beside + columns, beside], 1)
    with alarm(signal.default_int_handler, 0.05), pytest.raises(KeyboardInterrupt):
        contexts["f32"].body(vertices.reshape(-1, 3), faces, tolerance=1e-4)


def run_in_process(text, **environment):
    return subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False,
                          env={**os.environ, "ROOT": str(conftest.ROOT), **environment})


CALL = """
import abut, os
import numpy as np
a = abut.load(os.environ["ROOT"] + "/assets/box.body.json")
d = abut.contacts(abut.Pair(a, a), np.zeros(6), np.full((2, 6), 0.1), want=("d",)).d
abut.contacts(abut.Pair(a, a), np.zeros(6), np.full((2, 6), 0.1), want=("d",))
print(np.isfinite(d).all(), [r.device.type for r in abut.default_context().devices])
"""


@pytest.mark.skipif("ABUT_TEST_FAILING" not in os.environ, reason="no driver to fail")
def test_failing_device():
    """The default device lists itself and cannot build: the next one computes, with one warning."""
    if len(abut.devices()) != 2:
        pytest.skip("not exactly one OpenCL device")
    failing = os.environ["ABUT_TEST_FAILING"]
    done = run_in_process(CALL, LD_PRELOAD=f"{failing} libOpenCL.so.1", ABUT_TEST_BUILD="1",
                          ABUT_TEST_LARGE=str(10 ** 12), ABUT_CACHE_DIR="off")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["True", "['cpu',", "'host']"]
    assert done.stderr.count("UserWarning: device") == 1 and "host is used instead" in done.stderr


@conftest.long
def test_meshes_by_assimp(double, tmp_path, monkeypatch):
    subprocess.run([sys.executable, conftest.ROOT / "tests/cli/make_scenes.py", tmp_path], check=True)
    try:
        bodies = {name: double.load(tmp_path / name, cells=16, vertices="all", cache=False)
                  for name in ("box.obj", "box.glb", "box.gltf", "box.dae", "mirror.glb")}
    except abut.Error as error:
        assert "built without Assimp" in str(error)
        pytest.skip("this build has no Assimp")
    points = np.random.default_rng(0).uniform(-0.1, 0.4, size=(50, 3))
    expected = bodies["box.obj"].evaluate(points)[0]
    for name, body in bodies.items():
        assert abs(body.report["volume"] - 0.006) < 1e-8 and body.vertex_count == 8
        if name != "mirror.glb":
            np.testing.assert_allclose(body.evaluate(points)[0], expected, atol=2e-6)
    with pytest.raises(abut.Error, match="cut.glb: Assimp .* cannot read it: ") as caught:
        double.load(tmp_path / "cut.glb")
    assert caught.value.name == "ABUT_ERROR_FORMAT"
    reader = tmp_path / "reader"
    reader.write_text("#!/bin/sh\nkill -SEGV $$\n")
    reader.chmod(0o755)
    monkeypatch.setenv("ABUT_MESH_READER", str(reader))
    with pytest.raises(abut.Error, match=r"box.glb: Assimp .* crashed while reading this file \(Segmentation fault\)"):
        double.load(tmp_path / "box.glb")


def test_no_driver(tmp_path):
    done = run_in_process(CALL, OCL_ICD_VENDORS=str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["True", "['host']"]
    assert done.stderr.count("pip install abut[intel]") == 1


def test_intel_runtime_of_an_environment(tmp_path, monkeypatch):
    """Its .icd is written where loaders are then told to look; what a user has set stays."""
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "libintelocl.so").touch()
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setenv("ABUT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(_drivers, "_has_system_driver", lambda: False)
    monkeypatch.setattr(_drivers, "_prepared", False)
    monkeypatch.setenv("OCL_ICD_VENDORS", "mine")
    _drivers.prepare()
    assert os.environ["OCL_ICD_VENDORS"] == "mine"
    monkeypatch.delenv("OCL_ICD_VENDORS")
    monkeypatch.setattr(_drivers, "_prepared", False)
    _drivers.prepare()
    vendors = tmp_path / "cache" / "vendors"
    assert os.environ["OCL_ICD_VENDORS"] == str(vendors)
    assert [f.name for f in vendors.iterdir()] == ["intel.icd"]
    assert (vendors / "intel.icd").read_text() == f"{tmp_path}/lib/libintelocl.so\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_fork(pair):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # newer Pythons warn of threads
        child = os.fork()
    if not child:
        code = 1
        with contextlib.suppress(BaseException):
            try:
                abut.contacts(pair, np.zeros(6), np.zeros(6))
            except abut.Error as error:
                code = 0 if "before fork()" in str(error) else 2
            pair.close()
        os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
