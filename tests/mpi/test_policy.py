"""abut.mpi hands out as src/mpi does: the same numbers go to both. ABUT_TEST_POLICY is policy.c; needs neither MPI nor mpi4py."""
import importlib
import math
import os
import subprocess
import sys
import types

import numpy as np
import pytest


@pytest.fixture
def am(monkeypatch):
    """abut.mpi, of which nothing that is asked here calls MPI."""
    stub = types.ModuleType("mpi4py")
    stub.MPI = None
    monkeypatch.setitem(sys.modules, "mpi4py", stub)
    monkeypatch.delitem(sys.modules, "abut.mpi", raising=False)
    yield importlib.import_module("abut.mpi")
    sys.modules.pop("abut.mpi")


def by_c(lines):
    done = subprocess.run([os.environ["ABUT_TEST_POLICY"]], input="\n".join(lines) + "\n", capture_output=True, text=True, check=True)
    return [tuple(map(int, line.split())) for line in done.stdout.splitlines()]


def test_shares(am):
    random, lines, answers = np.random.default_rng(1), [], []
    for total, most, ranks in ((10, 1, 2), (1000, 7, 3), (10**7, 65536, 4), (10**9, 10**9, 16), (3 * 10**15, 2**62, 7), (2**62, 2**62, 5)):
        shares = am._Shares(total, most, ranks)
        lines.append(f"begin {total} {most} {ranks}")
        own = 10.0 ** random.uniform(-2, 9, ranks)
        for step in range(300):
            rank = int(random.integers(ranks))
            odd = {150: 0.0, 200: math.nan, 240: math.inf, 290: -1.0}.get(step)
            speed = own[rank] * random.uniform(0.5, 1.5) * (step > ranks) if odd is None else odd
            lines.append(f"next {rank} {float(speed)!r}")
            answers.append(shares.next(rank, float(speed)))
        assert shares.stopped and answers[-1][1] == 0 and 0 < shares.given <= total
    assert by_c(lines) == answers
    assert len({count for _, count in answers}) > 300


def test_parts(am):
    cases = [(units, cores, rank, ranks) for units in (1, 2, 7, 16) for cores in (0, 1, 3, 16) for ranks in (1, 2, 3, 20)
             for rank in range(min(ranks, 5))]
    assert by_c([f"part {' '.join(map(str, case))}" for case in cases]) == [am._own_part(*case) for case in cases]


@pytest.mark.parametrize("kind, divides, expected", [("cpu", True, ("0/3.1", 1)), ("cpu", False, (None, 0)), ("host", True, (None, 0)),
                                                     ("gpu", False, ("0", 0))])
def test_own_device(am, monkeypatch, kind, divides, expected):
    """Of a driver that divides nothing it is the default, and nothing is said of cores."""
    asked = []
    monkeypatch.setattr(am, "_devices", lambda: [types.SimpleNamespace(index=0, type=kind, compute_units=8)])
    monkeypatch.setattr(am, "_divides", lambda name: asked.append(name) or divides)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2}, raising=False)
    assert am._own_device(1, 2) == expected
    assert asked == (["0/3.1"] if kind == "cpu" else [])


def test_divides(am):
    """The host path cannot be divided."""
    assert not am._divides("0/1.0") and not am._divides("no such device/1.0")
