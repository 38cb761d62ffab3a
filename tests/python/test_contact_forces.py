"""Contact forces of links and pairs: weights at rest, equal and opposite, by each law, and gradients beside differences."""
import abut
import forces
import numpy as np
import pytest

LAWS = ["cone", "lcp", "spring"]
PAIRS = [("box", "floor"), ("floor", "box"), ("ball", "box"), ("box", "tip"), ("ball", "tip")]


def settled(scene, steps=600):
    s = scene.step(scene.start(), np.zeros(scene.nv), steps=steps)
    return s.q, s.v, s.w


@pytest.mark.parametrize("law", LAWS)
def test_at_rest(double, tmp_path, law):
    """The floor bears all, the box the ball and the tip; pairs push each other equally and the other way."""
    scene = forces.scene_of(double, tmp_path, contact_model=law)
    q, v, w = settled(scene)
    f = scene.contact_forces(q, v, pairs=PAIRS, w=w)
    box, ball = (9.81 * forces.MASSES[name] for name in ("box", "ball"))
    on_tip = f.link[4, 2]
    np.testing.assert_allclose(f.link[2], [0, 0, ball, 0, 0, 0], atol=2e-2 * ball)
    np.testing.assert_allclose(f.link[1, :3], [0, 0, box], atol=1e-2 * box)
    assert on_tip > 1 and np.abs(f.link[3]).max() < 1e-9
    np.testing.assert_allclose(f.pair[:, 2], [box + ball + on_tip, -box - ball - on_tip, ball, -on_tip, 0], atol=2e-2 * box)
    np.testing.assert_allclose(f.pair[0], -f.pair[1])
    np.testing.assert_allclose(f.link[:, :3].sum(0), 0, atol=1e-9 * box)
    np.testing.assert_allclose(f.normal[:4], np.abs(f.pair[:4, 2]), rtol=2e-2)
    assert f.touching.tolist() == [True, True, True, True, False] and f.status == 0
    assert not scene.contact_forces(q, v, pairs=PAIRS, w=w, threshold=2 * (box + ball + on_tip)).touching.any()


def test_pairs(scene_and_states):
    """Links' forces are sums of all pairs', and numbers of candidates are their bodies' in order."""
    scene, (q, v, u) = scene_and_states
    f = scene.contact_forces(q, v, u)
    assert f.pair.shape == (4, scene.candidate_count, 3) and f.link.shape == (4, 5, 6)
    links, sums = scene.bodies[scene.candidates, 0], np.zeros((4, 5, 3))
    for i, (a, b) in enumerate(links):
        sums[:, a] += f.pair[:, i]
        sums[:, b] -= f.pair[:, i]
    np.testing.assert_allclose(sums, f.link[..., :3], atol=1e-9 if scene.context.precision == "f64" else 1e-3)
    some = scene.contact_forces(q, v, u, pairs=[2, (int(links[2][1]), int(links[2][0]))])
    np.testing.assert_array_equal(some.pair, np.stack([f.pair[:, 2], -f.pair[:, 2]], 1))
    assert scene.contact_forces(q, v, u, pairs=[]).pair.shape == (4, 0, 3)


@pytest.fixture
def scene_and_states(context, tmp_path):
    scene = forces.scene_of(context, tmp_path)
    return scene, forces.states(scene)


def test_gradients(double, tmp_path):
    """By q, v, u and parameters, of random cotangents, beside central differences."""
    scene = forces.scene_of(double, tmp_path)
    q, v, u = forces.states(scene)
    rng = np.random.default_rng(1)
    given = {"q": q, "v": v, "u": u, "mass_scale": rng.uniform(0.8, 1.2, (4, scene.links)),
             "friction": np.full((4, scene.parameters), 0.5) + rng.uniform(0, 0.1, (4, scene.parameters)),
             "stiffness": rng.uniform(0.8, 1.2, (4, scene.parameters)), "gravity": np.tile([0.1, 0.2, -9.5], (4, 1))}
    bars = [rng.normal(size=(4, scene.links, 6)), rng.normal(size=(4, scene.candidate_count, 3))]
    g = scene.vjp(**given, link_forces_bar=bars[0], pair_forces_bar=bars[1], wrt=tuple(given))

    def loss(**moved):
        f = scene.contact_forces(**{**given, **moved})
        return (f.link * bars[0]).sum((1, 2)) + (f.pair * bars[1]).sum((1, 2))

    h = 1e-6
    for name, value in given.items():
        d = rng.normal(size=(4, scene.nv) if name == "q" else value.shape)
        ends = [loss(**{name: scene.add(q, side * h * d) if name == "q" else value + side * h * d}) for side in (-1, 1)]
        along = scene.map("slope_from_tangent", q, d) if name == "q" else d
        got = (getattr(g, name) * along).sum(1)
        size = np.abs(getattr(g, name) * along).sum(1)
        assert (np.abs((ends[1] - ends[0]) / (2 * h) - got) <= 5e-6 * size + 1e-6).all(), name


def test_refusals(double, tmp_path):
    scene = forces.scene_of(double, tmp_path)
    q, v = scene.start(), np.zeros(scene.nv)
    with pytest.raises(ValueError, match="there is no link with the name 'hand'"):
        scene.contact_forces(q, v, pairs=[("hand", "box")])
    hard = forces.scene_of(double, tmp_path, contact_model="lcp")
    with pytest.raises(abut.Error, match="gradients only with soft contacts"):
        hard.vjp(q, v, link_forces_bar=np.ones((5, 6)), wrt=("v",))
