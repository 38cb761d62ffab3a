"""Parts of a long batch, from Python and by the command."""
import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import abut

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "examples" / "shards.py"


def test_parts_are_all_rows_once():
    for n in (0, 1, 2, 7, 16, 1000):
        for k in (1, 2, 3, 16, 17):
            parts = [abut.shard(n, i, k) for i in range(k)]
            assert [row for part in parts for row in range(n)[part]] == list(range(n))
            lengths = [part.stop - part.start for part in parts]
            assert max(lengths) - min(lengths) <= 1
    assert abut.shard(10**9, 3, 16) == slice(187500000, 250000000)
    assert abut.shard(np.int64(10), np.int32(1), 3) == slice(3, 6)
    assert np.arange(10)[abut.shard(10, 2, 3)].tolist() == [6, 7, 8, 9]


@pytest.mark.parametrize("n, i, k", [(-1, 0, 1), (5, 2, 2), (5, -1, 2), (5, 0, 0)])
def test_what_is_no_part(n, i, k):
    with pytest.raises(ValueError, match=f"part {i} of {k} of {n} rows"):
        abut.shard(n, i, k)
    with pytest.raises(TypeError):
        abut.shard(5.5, 0, 1)


@pytest.fixture
def inputs(tmp_path):
    for name, z in (("low", 0.0), ("high", 0.1)):
        (tmp_path / f"{name}.obj").write_text("v 0.5 0 0\nv -0.5 0.4 0\nv 0 -0.5 0\nv 0 0 0.4\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n")
        (tmp_path / f"{name}.body.json").write_text(json.dumps({
            "mesh": f"{name}.obj", "superquadrics": [{"axes": [0.4, 0.4, 0.3], "exponents": [1, 1],
                                                      "position": [0, 0, z], "quaternion": [1, 0, 0, 0]}]}))
    poses = np.zeros((41, 12))
    poses[:, 6:] = np.random.default_rng(0).normal(scale=0.3, size=(41, 6))
    np.save(tmp_path / "poses.npy", poses)
    return tmp_path, poses.astype(np.float32)


def test_processes_of_a_launcher(inputs):
    """Three processes as torchrun starts them, each with RANK and WORLD_SIZE, give what one call gives, to the bit."""
    folder, poses = inputs
    started = [subprocess.Popen([sys.executable, EXAMPLE, "low.body.json", "high.body.json", "poses.npy", "g.npy"], cwd=folder,
                                env={**os.environ, "RANK": str(i), "WORLD_SIZE": "3"}) for i in range(3)]
    assert [process.wait() for process in started] == [0] * 3
    have = np.load(folder / "g.npy")
    pair = abut.Pair(abut.load(folder / "low.body.json"), abut.load(folder / "high.body.json"))
    assert have.shape == (41, 6) and np.abs(have).max() > 0
    assert (have == abut.reduce(pair, poses[:, :6], poses[:, 6:], "distance", grad=True).grad2).all()
    assert sorted(p.name for p in folder.glob("g.npy*")) == ["g.npy"]


def test_the_command_has_the_same_parts(inputs):
    folder, poses = inputs
    command = os.environ.get("ABUT_TEST_COMMAND")
    if not command:
        pytest.skip("ABUT_TEST_COMMAND is not set")
    for i in range(3):
        subprocess.run([command, "gradient", "low.body.json", "high.body.json", "--poses", "poses.npy", "--reduce", "distance",
                        "-o", "out/", "--shard", f"{i}/3", "--yes", "-q"], cwd=folder, check=True)
        value = np.load(folder / "out" / "value.npy", mmap_mode="r")
        done = np.zeros(41, bool)
        done[: abut.shard(41, i, 3).stop] = True
        assert (value[done] != 0).all() and (value[~done] == 0).all()
    subprocess.run([command, "merge", "out/", "-q"], cwd=folder, check=True)
    pair = abut.Pair(abut.load(folder / "low.body.json"), abut.load(folder / "high.body.json"))
    assert np.allclose(value, abut.reduce(pair, poses[:, :6], poses[:, 6:], "distance").value, rtol=1e-5, atol=1e-6)
    assert json.loads((folder / "out" / "manifest.json").read_text())["arrays"]["value"]["shape"] == [41]
