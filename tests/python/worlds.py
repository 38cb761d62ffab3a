"""What the tests of worlds in Python share: golden cases and how near answers must be to them."""
import json

import conftest
import numpy as np

import abut

FOLDER = conftest.ROOT / "tests" / "golden-dynamics"
CASES = sorted(p.name for p in FOLDER.glob("cone-*"))
NAMES = {"M": "mass", "bias": "bias", "qacc_smooth": "smooth", "qacc": "acceleration",
         "constraint": "constraint", "multipliers": "multipliers",
         "energy": "energy", "momentum": "momentum", "q1": "q", "v1": "v"}  # the files' names of a Step's arrays
CLASSES = {"M": 0, "bias": 0, "energy": 0, "momentum": 0, "qacc": 1, "qacc_smooth": 1, "constraint": 1, "multipliers": 1, "q1": 2, "v1": 2,
           "rollout_q": 4, "rollout_v": 4}
# docs/dev/cone-formulas.md, section 13, by precision and by whether there is a manifold; it states rollouts
# with manifolds only, and others are held to the same.
TABLE = {("f32", False): (2e-6, 2e-3, 2e-5, 1e-2, 1e-2, np.inf),
         ("f32", True): (2e-6, 2e-2, 1e-3, 5e-2, 1e-2, np.inf),
         ("f64", False): (1e-11, 1e-8, 1e-11, 1e-7, 1e-6, 1e-4),
         ("f64", True): (1e-11, 1e-6, 1e-8, 1e-5, 1e-6, 1e-4)}
# In float32: h times accelerations from stiff contacts are more than v's limit of the largest v (tests/world/test_steps.c).
STIFF = {"cone-given-pyramidal": 3e-3, "cone-crossed-bars": 6e-3}  # of all cases with given contacts: 2e-4
ROLLOUTS = [name for name in CASES if "rollout_grad_q" in np.load(FOLDER / name / "expected.npz").files]
PARAMETERS = ("mass_scale", "friction", "stiffness", "gravity")


class Case:
    """A golden case on a context, its inputs in the context's precision."""

    def __init__(self, context, name):
        folder = FOLDER / name
        self.name, self.precision = name, context.precision
        self.dtype = context.dtype
        self.scene = abut.Scene(folder / "scene.json", context)
        self.inputs = dict(np.load(folder / "inputs.npz"))
        self.expected = dict(np.load(folder / "expected.npz"))
        self.manifold = "p" not in self.inputs and "P_friction" in self.expected

    def read(self, name):
        array = self.inputs.get(name)
        with np.errstate(over="ignore"):  # a state too fast for float32 is as infinite
            return None if array is None else array.astype(self.dtype)

    @property
    def options(self):
        """All that is given beside q, v and u."""
        made = {name: self.read("par_" + name) for name in PARAMETERS}
        made["w"] = self.read("w")
        if "p" in self.inputs:
            made["contacts"] = abut.GivenContacts(
                **{name: self.inputs[name] for name in ("owner", "opposing", "pair")},
                **{name: self.read(name) for name in ("p", "d", "n", "activity")})
        return made

    def rollout(self):
        """q, v and the options of its rollout, which fewer worlds may have."""
        count, steps = self.expected["rollout_q"].shape[:2]
        rows = {name: array[:count] for name, array in
                {**self.options, "u": self.read("u")}.items() if array is not None}
        controls = self.read("u_rollout")
        if controls is None:
            return self.read("q")[:count], self.read("v")[:count], {**rows, "steps": steps}
        rows.pop("u", None)
        return self.read("q")[:count], self.read("v")[:count], {**rows, "controls": controls}

    def without_flat(self, multipliers):
        """The reference leaves contacts without friction out."""
        flat = [pair.get("condim", 3) == 1 for pair in json.loads((FOLDER / self.name / "scene.json").read_text())["pairs"]]
        flat = np.array(flat)[self.options["contacts"].pair]
        assert not multipliers[:, flat, 1:].any()
        return np.where(flat[:, None], 0, multipliers)

    def limit(self, array):
        if self.precision == "f32" and array == "v1" and (self.name in STIFF or "p" in self.inputs):
            return STIFF.get(self.name, 2e-4)
        place = CLASSES.get(array, 5 if array.startswith("rollout_grad_") else 3)
        return TABLE[self.precision, self.manifold][place]

    def _beside(self, array):
        """A derivative that is 0 but for rounding is held to that by the state beside it."""
        other = ("rollout_grad_v" if array.startswith("rollout_grad_") else
                 "vjp_state" if array.startswith("vjp_") else "A" if array.startswith("P_") else None)
        return self.expected.get(other)

    def check(self, array, got):
        """An answer against the file's, relative to the largest entry of its world."""
        wanted, other = self.expected[array], self._beside(array)
        got = np.asarray(got, np.float64)
        assert got.shape == wanted.shape
        largest = np.abs(wanted[np.isfinite(wanted)]).max(initial=0.0)
        for world, (one, want) in enumerate(zip(got, wanted)):
            stated = np.abs(want) <= np.finfo(self.dtype).max
            scale = np.abs(want[stated]).max(initial=0.0)
            if other is not None:
                part = 1e-6 if self.precision == "f64" else 1e-4
                scale = max(scale, part * np.abs(other[world]).max(initial=0.0))
            error = np.abs(one[stated] - want[stated]) / (scale or largest or 1.0)
            assert np.all(np.isfinite(one[stated])), (array, world)
            assert error.max(initial=0.0) <= self.limit(array), (array, world, error.max())

    def check_status(self, got):
        narrow = self.expected.get("status_float32") if self.precision == "f32" else None
        mask = self.expected.get("status_mask", 0xffffffff)
        wanted = self.expected["status"] if narrow is None else narrow
        np.testing.assert_array_equal(got & mask, wanted & mask)


def write_scene(folder, name="test", **scene):
    """A scene's file, of what json can say of it."""
    path = folder / f"{name}.scene.json"
    path.write_text(json.dumps(scene))
    return path


# A free box of 2 kg, com at its origin, without anything to touch.
FREE = {"links": [{"joint": {"type": "free"}, "mass": 2.0,
                   "inertia": [[0.02, 0, 0], [0, 0.03, 0], [0, 0, 0.04]]}]}

# All that has quaternions, and all that has not.
MIXED = {"links": [
    {"joint": {"type": "free"}, "mass": 2.0, "inertia": [[0.02, 0, 0], [0, 0.03, 0], [0, 0, 0.04]]},
    {"parent": 0, "position": [0.2, 0, 0], "joint": {"type": "hinge", "axis": [0, 1, 1]}, "mass": 0.5,
     "com": [0.1, 0, 0], "inertia": [[0.002, 0, 0], [0, 0.002, 0], [0, 0, 0.002]]},
    {"parent": 1, "position": [0.2, 0, 0], "joint": {"type": "ball", "stiffness": 2.0}, "mass": 0.3,
     "com": [0, 0.1, 0], "inertia": [[0.001, 0, 0], [0, 0.001, 0], [0, 0, 0.001]]},
    {"parent": -1, "joint": {"type": "slide", "axis": [0, 0, 1], "damping": 0.5}, "mass": 1.0}],
    "actuators": [{"kind": "motor", "joint": 1}, {"kind": "motor", "joint": 3}]}


def random_states(scene, count, seed=0):
    rng = np.random.default_rng(seed)
    q = scene.add(np.broadcast_to(scene.start(), (count, scene.nq)), 0.5 * rng.normal(size=(count, scene.nv)))
    return q, rng.normal(size=(count, scene.nv)).astype(scene.context.dtype)


class Finger:
    """The golden finger that pushes a T by springs: 200 steps of 2 ms, a control for eight of them."""

    def __init__(self, context):
        folder = FOLDER / "spring-t26-finger"
        self.scene = abut.Scene(folder / "scene.json", context)
        self.expected = dict(np.load(folder / "rollout.npz"))
        self.q, self.v = (self.expected[name].astype(context.dtype) for name in ("q0", "v0"))
        self.controls = np.repeat(self.expected["controls"][:25], 8, 0).astype(context.dtype)
        self.bar = self.expected["end_bar"].astype(context.dtype)

    def vjp(self, **options):
        return self.scene.vjp(self.q, self.v, controls=self.controls, q_bar=self.bar[:5], v_bar=self.bar[5:], **options)

    def value(self, **options):
        made = self.scene.step(self.q, self.v, controls=self.controls, **options)
        return made.q @ self.bar[:5] + made.v @ self.bar[5:]
