"""What the tests of the Python package share: devices, bodies, poses, golden cases."""
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import pytest

import abut

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "golden"
OUTPUTS = ("p", "d", "n", "activity")
WITHIN = {"p": 1e-9, "d": 1e-9, "n": 1e-8, "activity": 1e-9}  # docs/dev/spec.md, section 9, float64
USUAL = os.environ.get("ABUT_TEST_USUAL") == "1" and os.environ.get("ABUT_TEST_ALL") != "1"  # a share of what the long run takes whole
long = pytest.mark.skipif(USUAL, reason="the long run has it")
CASES = sorted(p.parent.name for p in GOLDEN.glob("*/smoothing.json"))


@pytest.fixture(scope="session")
def contexts():
    """A context of each precision on the device of ABUT_TEST_DEVICE, by default the host path."""
    device = os.environ.get("ABUT_TEST_DEVICE", "host")
    return {precision: abut.Context(device, precision) for precision in ("f32", "f64")}


@pytest.fixture(params=["f32", "f64"])
def context(request, contexts):
    return contexts[request.param]


@pytest.fixture
def double(contexts):
    return contexts["f64"]


def by_given(name, given, exact):
    """What a derivative by numbers that a body has is by those that were given: a normal's length counts for nothing."""
    if not name.endswith("normals"):
        return exact
    length = np.linalg.norm(given, axis=-1, keepdims=True)
    unit = np.asarray(given) / length
    return (exact - (exact * unit).sum(-1, keepdims=True) * unit) / length


def figure_and_part(context):
    return (context.load(ROOT / "assets" / "figure.body.json"),
            context.load(ROOT / "assets" / "part.body.json"))


FEW = {"edges": (16, 16)} if USUAL else {}  # of the figure and the part the usual run takes few edges


def not_twice(thing):
    """The usual run has the test of a context, or of what lies in one, in float alone; the long run in both precisions."""
    if USUAL and thing.dtype == np.float64:
        pytest.skip("the long run has it")


@pytest.fixture
def pair(context):
    return abut.Pair(*figure_and_part(context), FEW)


@pytest.fixture
def double_pair(double):
    return abut.Pair(*figure_and_part(double), FEW)


def random_poses(count, dtype, seed=1, width=6):
    """Poses of which many touch."""
    rng = np.random.default_rng(seed)
    twists = rng.normal(size=(count, 6)) * [0.15, 0.15, 0.15, 1.0, 1.0, 1.0]
    return (twists if width == 6 else abut.pose.exp(twists)).astype(dtype)


def follows_separate(script):
    """Whether an example of Python's goes as examples/separate.c does, step by step."""
    program = os.environ.get("ABUT_TEST_SEPARATE")
    if not program or not pathlib.Path(program).exists():
        pytest.skip("examples/separate.c is not built")
    files = ["assets/figure.body.json", "assets/part.body.json", "examples/starts.npz"]
    with tempfile.TemporaryDirectory() as folder:
        outputs = [subprocess.run([*command, *files, *more], capture_output=True, text=True,
                                  check=True, cwd=ROOT).stdout.splitlines()
                   for command, more in (([program], [folder + "/out"]),
                                         ([sys.executable, f"examples/{script}"], []))]
    steps = [[line for line in out if line.startswith("step")] for out in outputs]
    assert len(steps[0]) > 1 and steps[0] == steps[1]


def golden_pair(context, name, **changed):
    """A case's pair, with some of its smoothing changed."""
    bodies = [context.load(GOLDEN / name / f"{side}.body.json") for side in "ab"]
    return abut.Pair(*bodies, {**abut.load_smoothing(GOLDEN / name / "smoothing.json"), **changed})


def golden_arrays(name, what):
    return dict(np.load(GOLDEN / name / f"{what}.npz"))


def golden(context, name):
    """A case: its pair, poses, cotangents, and the answers that were computed independently."""
    return (golden_pair(context, name),
            *(golden_arrays(name, what) for what in ("poses", "cotangents", "expected")))
