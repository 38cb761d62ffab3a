"""abut.mpi by real ranks: this file is the program that mpirun starts, too. mpirun and its words are ABUT_TEST_MPIRUN."""
import json
import os
import pathlib
import shlex
import signal
import subprocess
import sys
import threading
import time
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest

import abut

BODY = "v 0.5 0 0\nv -0.5 0.4 0\nv 0 -0.5 0\nv 0 0 0.4\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n"
COUNT = 151


def ranks(count, folder, what, good=True, **more):
    """What the ranks of `what` below have said, on both streams, which end well or, unless they are to, do not."""
    words = shlex.split(os.environ.get("ABUT_TEST_MPIRUN", ""))
    if not words:
        pytest.skip("ABUT_TEST_MPIRUN is not set: no MPI, or no mpirun")
    started = subprocess.run([*words, "-n", str(count), sys.executable, __file__, what], cwd=folder, stdin=subprocess.DEVNULL,
                             capture_output=True, text=True, timeout=100, env={**os.environ, **more})
    assert (started.returncode == 0) == good, started.stdout + started.stderr
    return started.stdout + started.stderr


@pytest.fixture
def folder(tmp_path):
    for name, z in (("low", 0.0), ("high", 0.1)):
        (tmp_path / f"{name}.obj").write_text(BODY)
        (tmp_path / f"{name}.body.json").write_text(json.dumps({
            "mesh": f"{name}.obj", "superquadrics": [{"axes": [0.4, 0.4, 0.3], "exponents": [1, 1],
                                                      "position": [0, 0, z], "quaternion": [1, 0, 0, 0]}]}))
    poses = np.zeros((COUNT, 12))
    poses[:, 6:] = np.random.default_rng(0).normal(scale=0.3, size=(COUNT, 6))
    poses[7, 7] = np.nan
    np.save(tmp_path / "poses.npy", poses)
    return tmp_path


def test_ranks_give_what_one_call_gives(folder):
    assert ranks(3, folder, "answers").count("is well") == 3
    poses = np.load(folder / "poses.npy").astype(np.float32)
    context = abut.Context("host")
    pair = context.pair(context.load(folder / "low.body.json"), context.load(folder / "high.body.json"))
    c = abut.contacts(pair, poses[:, :6], poses[:, 6:], want=("d",))
    r = abut.reduce(pair, poses[:, :6], poses[:, 6:], "energy", grad=True)
    h = abut.hvp(pair, poses[:, :6], poses[:, 6:], "energy", tangent2=np.ones(6, np.float32))[1]
    for name, one in (("d", c.d), ("status", c.status), ("value", r.value), ("g2", r.grad2), ("hvp", h)):
        many = np.load(folder / f"{name}.npy")
        assert many.dtype == one.dtype and many.tobytes() == one.tobytes(), name
    assert c.status[7] == 1 and np.abs(r.value[:7]).max() > 0


def test_what_fails_on_one_rank_is_raised_on_all(folder):
    said = ranks(2, folder, "failures")
    assert said.count("is well") == 2


def test_ranks_that_cannot_say_so_end_all(folder):
    """The thread of rank 0 that answers; before, the others waited for ever."""
    said = ranks(2, folder, "no_answer", good=False)
    assert "ZeroDivisionError: no answer" in said and "is well" not in said


def test_what_a_rank_fails_to_compute_is_done_by_others(folder):
    assert ranks(3, folder, "left").count("is well") == 3


def test_two_ranks_share_a_device(folder):
    if not any(d.type == "cpu" for d in abut.devices()):
        pytest.skip("no OpenCL device of a processor")
    assert ranks(2, folder, "devices").count("is well") == 2


def test_without_mpi4py(tmp_path):
    """The import says what to install."""
    (tmp_path / "mpi4py.py").write_text("raise ImportError('No module named mpi4py')\n")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run([sys.executable, "-c", "import abut; abut.shard(1, 0, 1); import abut.mpi"], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": path})
    assert "abut.mpi needs mpi4py" in done.stderr and "pip install mpi4py" in done.stderr


# ---- what ranks do


def load_pair(context):
    return context.pair(context.load("low.body.json"), context.load("high.body.json"))


def answers(rank, _):
    pair = load_pair(am.context(device="host"))
    out = am.open_output("d.npy", (COUNT, pair.C))
    status = am.open_output("status.npy", (COUNT,), np.uint8)
    am.contacts(pair, "poses.npy", {"d": out, "status": status}, want=("d",), block=13)
    poses = np.load("poses.npy", mmap_mode="r")
    value, g2 = am.open_output("value.npy", (COUNT,)), am.open_output("g2.npy", (COUNT, 6))
    am.reduce(pair, lambda i, j: (poses[i:j, :6], poses[i:j, 6:]), "energy", {"value": value, "grad2": g2}, grad=True, count=COUNT)
    hvp, seen = am.open_output("hvp.npy", (COUNT, 6)), []
    tangents = np.ones((COUNT, 6), np.float32)

    def sink(first, result):
        hvp[first:first + len(result[1])] = result[1]
        seen.append(first)

    am.run(lambda a, b, t: abut.hvp(pair, a, b, "energy", tangent2=t),
           lambda i, j: (poses[i:j, :6], poses[i:j, 6:], tangents[i:j]), sink, count=COUNT, block=10)
    assert len(seen) == len(set(seen))
    am.run(None, poses[:0], sink)  # nothing to do
    for array in (out, status, value, g2, hvp):
        array.flush()


def left(rank, size):
    pair = load_pair(am.context(device="host"))
    out, last, again = am.open_output("left.npy", (COUNT,)), size - 1, []

    def function(a, b):
        if rank == last:
            raise abut.Error(-5, "no device")
        time.sleep(0.005)  # until that one has been given something
        return abut.reduce(pair, a, b, "energy")

    def fails(match):
        return pytest.raises(am.RankError, match=match)

    with fails(f"^rank {last}: no device$") if rank == last else nullcontext():
        am.run(function, "poses.npy", {"value": out}, block=3, lasts=True)
    out.flush()
    _MPI.COMM_WORLD.Barrier()
    poses = np.load("poses.npy").astype(np.float32)
    one = abut.reduce(pair, poses[:, :6], poses[:, 6:], "energy").value
    assert np.load("left.npy").tobytes() == one.tobytes() and np.abs(one[:7]).max() > 0
    with fails(f"^rank {last}: no device$"):
        am.run(function, "poses.npy", {"value": out}, block=3)

    def sink(first, _):  # what comes behind later rows was left
        if again and first < again[-1]:
            raise OSError("no room on the disk")
        again.append(first)

    with fails("OSError: no room on the disk"):
        am.run(function, "poses.npy", sink, block=3, lasts=True)


def failures(rank, size):
    def fails(first, stop):
        if first <= 50 < stop:
            raise OSError("no room on the disk")

    try:
        am.share(fails, 100, block=4)
        assert False, "nothing was raised"
    except am.RankError as error:
        assert str(error) == f"rank {error.rank}: OSError: no room on the disk", error
        assert (error.rank == rank) == isinstance(error.__cause__, OSError)
    done = []
    slow = size - 1

    def slowly(first, stop):
        done.extend(range(first, stop))
        time.sleep(0.02 * (rank == slow))

    am.share(slowly, 1000, block=7)
    assert rank != slow or len(done) < 250
    for call, text in ((lambda: am.share(fails, 100 + rank), "share: ranks have batches of 100 and of 101 elements"),
                       (lambda: am.share(fails, 10, block=0), "rank 0: 10 elements in blocks of 0"),
                       (lambda: am.run(None, np.zeros((3, 5)), fails), r"rank 0: poses have shape \(3, 5\)"),
                       (lambda: am.run(None, fails, fails), "rank 0: count is missing"),
                       (lambda: am.run(None, np.zeros((3, 12)), {}), "rank 0: sink is an empty mapping"),
                       (lambda: am.run(lambda a, b: a, np.zeros((3, 12)), {"d": np.zeros(3)}), "sink names 'd', which is not computed"),
                       *((lambda array=array: am.run(lambda a, b: SimpleNamespace(d=np.ones((len(a), 2))), np.zeros((3, 12)), {"d": array}),
                          text) for array, text in ((np.zeros((2, 2)), "rank 0: sink's 'd' has 2 rows, but there are 3 poses"),
                                                    (np.zeros((0, 2)), "rank 0: sink's 'd' has 0 rows, but there are 3 poses"),
                                                    (np.zeros((4, 2)), "rank 0: sink's 'd' has 4 rows, but there are 3 poses"),
                                                    (np.zeros((3, 4, 2)), r"takes \(1, 4, 2\) of 1 poses, but the result has \(1, 2\)"),
                                                    (np.zeros((3, 3)), r"takes \(1, 3\) of 1 poses, but the result has \(1, 2\)"))),
                       (lambda: am.run(lambda a, b: SimpleNamespace(d=np.ones(7)), np.zeros((3, 12)), {"d": np.zeros(3)}),
                        r"takes \(1,\) of 1 poses, but the result has \(7,\)"),
                       (lambda: am.context("f16"), "rank 0: precision is 'f16'"),
                       (lambda: am.open_output("no/file.npy", (3,)), "rank 0: FileNotFoundError"),
                       (lambda: (am.share if rank else am.run)(*((fails, 3) if rank else (None, np.zeros((3, 12)), fails))),
                        "other ranks called another function")):
        with pytest.raises((am.RankError, ValueError), match=text):
            call()


    interrupts(rank)
    no_thread(rank, size)


def interrupts(rank):
    """Ctrl-C of rank 1, again and again while it talks, while it works, and at the end."""
    def interrupt(*_):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)

    def during(function):
        return lambda *arguments: (interrupt(), function(*arguments))[1]

    def works(first, stop):
        time.sleep(0.01)

    for work, names in ((works, ["ask"]), (works, ["ask", "agree", "least"]), (interrupt, [])):
        with pytest.MonkeyPatch.context() as patch:
            for name in names if rank == 1 else ():
                patch.setattr(am._Team, name, during(getattr(am._Team, name)))
            with pytest.raises(KeyboardInterrupt) if rank == 1 else pytest.raises(am.RankError, match="rank 1: KeyboardInterrupt"):
                am.share(work if rank == 1 else works, 200, block=1)
    with pytest.MonkeyPatch.context() as patch, pytest.raises(KeyboardInterrupt) if rank == 1 else nullcontext():
        if rank == 1:
            hand_out = am._Team.hand_out
            patch.setattr(am._Team, "hand_out", lambda *arguments: (hand_out(*arguments), interrupt())[0])
        am.share(lambda first, stop: None, 5)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def no_thread(rank, size):
    """Rank 0 serves the others, who do it all."""
    def start(_):
        raise RuntimeError("can't start new thread")

    done = []
    with pytest.MonkeyPatch.context() as patch:
        if rank == 0:
            patch.setattr(threading.Thread, "start", start)
        am.share(lambda first, stop: done.extend(range(first, stop)), 100, block=9)
    assert done == ([] if rank == 0 else list(range(100))) or size > 2


def no_answer(rank, size):
    def fails(shares, rank, speed):
        raise ZeroDivisionError("no answer")

    with am._Team(None) as team:
        assert team.comm.Get_errhandler() == team.node.Get_errhandler() == _MPI.ERRORS_ARE_FATAL
    if rank == 0:
        answer = am._Shares.next
        am._Shares.next = lambda shares, rank, speed: (fails if rank else answer)(shares, rank, speed)
    am.share(lambda first, stop: time.sleep(0.01), 100, block=1)


def devices(rank, size):
    from mpi4py import MPI
    own = am.context()
    units = {d.index: d.compute_units for d in abut.devices()}[own.device.index]
    assert own.device.type != "cpu" or units == 1 or own.device.compute_units <= units // size, own.device
    assert am._own_device(0, 1000)[0] != am._own_device(1, 1000)[0] or units == 1
    assert MPI.COMM_WORLD.allreduce(1) == size


if __name__ == "__main__":
    import abut.mpi as am
    from mpi4py import MPI as _MPI
    own_rank, all_ranks = _MPI.COMM_WORLD.Get_rank(), _MPI.COMM_WORLD.Get_size()
    try:
        globals()[sys.argv[1]](own_rank, all_ranks)
    except BaseException:
        import traceback
        traceback.print_exc()
        _MPI.COMM_WORLD.Abort(1)
    print(f"rank {own_rank} is well", flush=True)
