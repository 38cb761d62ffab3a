"""bench/ccd_queries.py: its quotients, files and answers, and what it refuses."""
import fractions
import json
import math
import os
import pathlib
import random
import sys

import abut
import numpy as np
import pytest
from conftest import ROOT
from test_ccd import complaints_of_queries

sys.path.insert(0, str(ROOT / "bench"))
import ccd_queries as cq  # noqa: E402

GOLDEN = str(ROOT / "tests" / "golden-ccd" / "queries.npz")
PUBLIC = pathlib.Path(os.environ.get("ABUT_SHARED", "nowhere")) / "data" / "ccd-queries"
SEVERAL = 10**40
TRIANGLE = ["1,1,0,1,0,1,", "-1,1,1,1,0,1,", "-1,1,-1,1,0,1,"]
# A point that falls through a triangle at a third of the way, and one that stays above it by 1e-40.
FALLS = [line + "1" for line in ["0,7,0,1,1,3,", *TRIANGLE, " 0 , 1, 0,1,-2,3,", *TRIANGLE]]
STAYS = [line + "0" for line in 2 * [f"0,1,0,1,1,{SEVERAL},", *TRIANGLE]]
ONE = {"kind": [2], "X0": [[[0.1, 0.2, 1], [1, 0, 0], [-1, 1, 0], [-1, -1, 0]]], "X1": [[[0.1, 0.2, -1], [1, 0, 0], [-1, 1, 0], [-1, -1, 0]]]}
BITS = {"f32": (24, -149, 128), "f64": (53, -1074, 1024)}  # of the significand, of the last bit of the least number, of infinity
REALS = {"f32": np.dtype(np.float32), "f64": np.dtype(np.float64)}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(cq, "time_queries", lambda q, **options: (1e-6, 2e-6))
    return tmp_path


def csv(*lines, name="pt.csv", end="\n"):
    pathlib.Path(name).parent.mkdir(parents=True, exist_ok=True)
    pathlib.Path(name).write_bytes(end.join(lines).encode())
    return name


def npz(**arrays):
    np.savez("q.npz", **{name: np.array(value) for name, value in arrays.items()})
    return "q.npz"


def run(capsys, *words):
    """The status, and what it prints to both."""
    try:
        status = cq.main([*words, "--device", "host"])
    except SystemExit as ended:
        status = ended.code
    return status, *capsys.readouterr()


# ---- quotients ----
def nearest(value, precision):
    """A fraction from 0 as the nearest number of the precision, of two as near the one whose last bit is 0."""
    if not value:
        return 0.0
    bits, least, top = BITS[precision]
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    exponent = max(exponent - (value < fractions.Fraction(2)**exponent) + 1 - bits, least)
    found = round(value / fractions.Fraction(2)**exponent) * fractions.Fraction(2)**exponent
    return math.inf if found >= 2**top else float(found)


def whole(r, digits):
    """Of up to so many digits: any, or a power of 2 or next to one."""
    bits = int(digits * 3.32)
    return max(0, 2**r.randrange(bits) + r.choice([-1, 0, 1])) if r.random() < 0.3 else r.getrandbits(r.randint(1, bits))


def halfway(r, precision):
    """A number of the precision plus half of its last bit, by a little more, less, or nothing."""
    bits = BITS[precision][0]
    middle = fractions.Fraction(2 * (2**(bits - 1) + r.getrandbits(bits - 1)) + 1)
    middle *= fractions.Fraction(2)**r.randint(-1200 if precision == "f64" else -180, 80)
    return (middle + r.choice([-1, 0, 1]) * middle * fractions.Fraction(1, 10**r.randint(20, 90))).as_integer_ratio()


def known_quotients():
    half = 340282356779733661637539395458142568448  # float32's largest number and half of its last bit
    return [(0, 7), (7, 2), (1, 3), (1, 10), (6004799503160661, 36028797018963968), (575569314603499, 81129638414606681695789005144064),
            (2**53 + 1, 1), (2**53 + 3, 1), (9007199254740993000000000000000000001, 10**21), (2**24 + 1, 1), (2**24 + 3, 1), (2**25 - 1, 1),
            (2**25 - 1, 2**25), (half - 1, 1), (half, 1), (1, 2**149), (1, 2**150), (3, 2**151), (10**4000, 10**3998), (10**4000, 1),
            (1, 10**4000), (10**4000, 10**4001)]


@pytest.mark.parametrize("precision", ["f32", "f64"])
def test_quotients_are_rounded_once(precision):
    r = random.Random(1)
    cases = known_quotients() + [halfway(r, precision) for _ in range(1200)]
    cases += [(whole(r, digits), max(1, whole(r, r.choice([3, 16, 33, digits])))) for digits in 700 * [3, 16, 33, 60, 400]]
    cases += [(-n, d) for n, d in cases[::3]]
    x, left = np.array([cq.quotient(n, d) for n, d in cases]).T
    with np.errstate(all="ignore"):
        found = cq.rounded(x, left, REALS[precision])
    for (n, d), got, double, sign in zip(cases, found, x, left):
        value = fractions.Fraction(n, d)
        assert float(got) == nearest(abs(value), precision) * (1 if n > 0 else -1)
        assert math.isinf(double) or sign == (value > fractions.Fraction(double)) - (value < fractions.Fraction(double))


@pytest.mark.parametrize("precision", ["f32", "f64"])
def test_rounding_makes_errors(folder, precision):
    info = np.finfo(REALS[precision])
    tiny = f"1,{2**200 if precision == 'f32' else 2**1100},"
    whole, third, small = ["0,1,0,1,0,1,0"] * 8, ["1,3,0,1,0,1,0"] + ["0,1,0,1,0,1,0"] * 7, ["0,1,0,1,0,1,0"] * 7 + [tiny + "0,1,0,1,0"]
    q = cq.read(csv(*whole, *third, *small), "pt", precision)
    assert q.settings["relative_error"].tolist() == [0, info.eps / 2, info.eps / 2]
    assert q.settings["error"].tolist() == [0, 0, info.smallest_normal] and q.x.dtype == info.dtype
    given = {**ONE, "xi": [0.1], "s": [0.1], "tol": [0.7], "tmax": [0.7], "ein": [0.1], "eta": [1e-3]}
    q = cq.read(npz(**given), None, precision)
    for key, name in cq.SETTINGS.items():
        assert abs(q.settings[name][0] - given[key][0]) < 1e-7 and (key in ("s", "tol") or q.settings[name][0] >= given[key][0])
    assert q.settings["relative_error"][0] >= 1e-3 + (2**-24 if precision == "f32" else 0)  # float32 has no 0.1


# ---- answers ----
def test_golden_queries(context):
    g = dict(np.load(GOLDEN))
    q = cq.read(GOLDEN, None, context.precision)
    found = cq.answer(q, context=context)
    assert not complaints_of_queries(g, found["status"], found["toi"], context.precision)
    assert found["toi"].dtype == context.dtype and found["status"].dtype == np.uint8 and found["iterations"].shape == (226, 2)
    said = cq.counts(q, found)
    assert said["queries"] == 226 and said["true_hits"] == np.isin(g["status"], (1, 3)).sum() > 0 and said["false_negatives"] == 0
    assert said["rejected"] == (g["status"] == 4).sum() and said["iterations_most"] == found["iterations"].sum(1).max() > 0
    assert cq.counts(q, cq.answer(q, context=context, method="additive", iterations=100))["false_negatives"] == 0


def test_public_queries(context):
    files = sorted(PUBLIC.glob("*/*/*.csv"))
    if not files:
        pytest.skip("ABUT_SHARED names no folder with data/ccd-queries")
    said = []
    for path in files:
        q = cq.read(str(path), None, context.precision)
        said.append(cq.counts(q, cq.answer(q, context=context)))
    total = {name: sum(row[name] for row in said) for name in said[0]}
    assert total["queries"] == 929 and total["true_hits"] > 0 and total["false_negatives"] == total["rejected"] == 0
    assert total["false_positives"] <= (1 if context.precision == "f64" else 200)


def test_rational_queries(folder, double):
    q = cq.read(csv(*FALLS, "", *STAYS, "", end="\r\n", name="some/vertex-face/q.csv"), None, "f64")
    assert q.kind.tolist() == [2, 2] and q.truth.tolist() == [1, 0] and q.x[1, 0, 0, 2] == 1e-40
    found = cq.answer(q, context=double)
    assert found["status"].tolist() == [abut.CcdStatus.HIT, abut.CcdStatus.FREE] and 0.33333 < found["toi"][0] < 0.33334
    same = cq.answer(cq.read(csv(*FALLS, *STAYS), "pt", "f64"), context=double)
    assert all((same[name] == found[name]).all() for name in found)
    liar = [line[:-1] + str(1 - int(line[-1])) for line in (*FALLS, *STAYS)]
    q = cq.read(csv(*liar), "pt", "f64")
    said = cq.counts(q, cq.answer(q, context=double))
    assert said["true_hits"] == said["false_positives"] == said["false_negatives"] == 1
    q = cq.read(csv(*FALLS, name="some/edge-edge/q.csv"), None, "f64")
    assert q.kind.tolist() == [3] and cq.read("some/edge-edge/q.csv", "pt", "f64").kind.tolist() == [2]
    far = csv(FALLS[0].replace("1,3,", f"{SEVERAL},1,"), *FALLS[1:])
    assert cq.read(far, "pt", "f64").x[0, 0, 0, 2] == 1e40


def test_what_is_wrong_with_a_query_is_its_own_fault(folder, context):
    two = {name: 2 * value for name, value in ONE.items()}
    found = cq.answer(cq.read(npz(**two, xi=[-1, 0]), None, context.precision), context=context)
    assert found["status"].tolist() == [4, 1] and found["toi"][0] == 0 and 0.499 < found["toi"][1] <= 0.5
    two["X0"] = [np.full((4, 3), np.inf), two["X0"][1]]
    assert cq.answer(cq.read(npz(**two), None, context.precision), context=context)["status"].tolist() == [4, 1]
    two["X0"] = [np.concatenate([two["X1"][0][:2], np.full((2, 3), np.nan)]), two["X0"][1]]  # a point and a point have two vertices
    two["kind"] = [0, 2]
    assert cq.answer(cq.read(npz(**two), None, context.precision), context=context)["status"][0] == 0


def test_times(double):
    q = cq.read(GOLDEN, None, "f64")
    calls = list(cq.calls_of(q, 16))
    assert sorted(row for _, rows in calls for row in rows) == list(range(226))
    assert all(8 <= len(rows) < 24 and (q.kind[rows] == cq.KINDS.index(call["kind"])).all() for call, rows in calls)
    mean, median = cq.time_queries(q, context=double)
    assert 0 < mean < 1 and 0 < median < 1


# ---- the program ----
def test_what_is_printed(folder, capsys):
    status, out, err = run(capsys, csv(*FALLS, *STAYS), "--kind", "pt", "--json", "-o", "out.npz", "--precision", "f64")
    said = json.loads(out)
    assert status == 0 and not err and said.pop("iterations_mean") <= said.pop("iterations_most")
    assert said == {"file": "pt.csv", "method": "certified", "precision": "f64", "device": "host", "queries": 2, "true_hits": 1,
                    "false_negatives": 0, "false_positives": 0, "undecided": 0, "rejected": 0, "microseconds_median": 2.0,
                    "microseconds_mean": 1.0}
    found = dict(np.load("out.npz"))
    assert {name: (a.dtype.name, a.shape) for name, a in found.items()} == {
        "status": ("uint8", (2,)), "toi": ("float64", (2,)), "iterations": ("uint32", (2, 2))}
    status, out, err = run(capsys, npz(**ONE), "--method", "additive")
    assert status == 0 and not err and "true_hits            unknown\n" in out and "method               additive\n" in out
    assert json.loads(run(capsys, "q.npz", "--json")[1])["false_negatives"] is None
    status, out, err = run(capsys, npz(**{**ONE, "X1": ONE["X0"]}, status=[1]))
    assert status == 0 and "q.npz: 1 queries are answered free that the file calls hits" in err


@pytest.mark.parametrize("words, text", [
    (["pt.txt"], "pt.txt: queries end with .csv or .npz"), (["pt.csv", "--kind", "vf"], "--kind"), (["pt.csv", "pt.csv"], "pt.csv"),
    (["q.npz", "--kind", "pt"], "--kind is of a .csv"), (["q.npz", "--method", "exact"], "--method"), ([], "file"),
    (["q.npz", "--precision", "f16"], "--precision"), (["q.npz", "-o", "no.csv"], "-o no.csv: answers end with .npz"),
    (["q.npz", "-o", "./q.npz"], "not written over the queries"), (["q.npz", "--iterations", "-1"], "iterations is -1"),
    (["pt.csv"], "pt.csv: neither --kind nor one of the folders"), (["nowhere.csv", "--kind", "pt"], "nowhere.csv: No such file"),
    (["nowhere.npz"], "nowhere.npz: No such file")])
def test_wrong_usage(folder, capsys, words, text):
    csv(*FALLS)
    npz(**ONE)
    status, out, err = run(capsys, *words)
    assert status == 2 and not out and text in err and sorted(os.listdir()) == ["pt.csv", "q.npz"]


@pytest.mark.parametrize("at, line, text", [
    (2, "1,1,0,1,0,1", ":2: columns: 6, not the 7 of a vertex"), (3, "1,1,0,1,0,1,1,1", ":3: columns: 8, not the 7"), (1, "0", ":1: columns: 1,"),
    (2, "inf,1,0,1,0,1,1", ":2: column 1: 'inf' is not a whole number"), (2, "1e3,1,0,1,0,1,1", ":2: column 1: '1e3' is not a whole number"),
    (2, ",1,0,1,0,1,1", ":2: column 1: '' is not a whole number"), (2, "+1,1,0,1,0,1,1", ":2: column 1: '+1' is not"),
    (2, "1_0,1,0,1,0,1,1", ":2: column 1: '1_0' is not"), (2, "\N{FULLWIDTH DIGIT ONE},1,0,1,0,1,1", ":2: column 1: "),
    (2, "1,0,0,1,0,1,1", ":2: column 2: '0' is not a whole number above 0"), (2, "1,1,0,-1,0,1,1", ":2: column 4: '-1' is not a whole number above 0"),
    (4, "-1,1,-1,1,0,1,2", ":4: column 7: '2' is not 0, free, or 1, a hit"), (4, "-1,1,-1,1,0,1,", ":4: column 7: '' is not"),
    (4, "-1,1,-1,1,0,1,0", ":4: column 7: 0, but 1 in line 3 of the same query"),
    (6, "", ":10: the last query has 7 lines, not the 8 of four vertices at two times"),
    (3, f"1,1,{SEVERAL},1,0,1,1", ":3: the quotient of columns 3 and 4 is beyond float32; --precision f64 may hold it")])
def test_malformed_csv(folder, capsys, at, line, text):
    lines = [*FALLS, *(line[:-1] + "1" for line in STAYS)]
    status, out, err = run(capsys, csv(*lines[:at - 1], line, *lines[at:]), "--kind", "pt", "-o", "no.npz")
    assert status == 2 and not out and f"pt.csv{text}" in err and os.listdir() == ["pt.csv"]


def test_malformed_files(folder, capsys):
    for lines in ([], ["", " \t"]):
        assert run(capsys, csv(*lines), "--kind", "pt")[::2] == (2, "ccd_queries.py: pt.csv: holds no queries\n")
    csv(f"{10**400},1,0,1,0,1,1", *FALLS[1:])
    assert "pt.csv:1: the quotient of columns 1 and 2 is beyond float64\n" in run(capsys, "pt.csv", "--kind", "pt", "--precision", "f64")[2]
    for text in (b"", b"kind", b"PK\x03\x04", b"\x93NUMPY", pathlib.Path(npz(**ONE)).read_bytes()[:-30]):
        pathlib.Path("q.npz").write_bytes(text)
        status, out, err = run(capsys, "q.npz")
        assert status == 2 and not out and "q.npz: not an .npz archive of numbers" in err
    with open("q.npz", "wb") as file:
        np.save(file, np.zeros(3))
    assert run(capsys, "q.npz")[0] == 2


@pytest.mark.parametrize("changed, text", [
    ({"kind": None}, "array 'kind' is missing"), ({"kind": [[2]]}, "array 'kind': shape (1, 1), not (1,)"), ({"X1": None}, "array 'X1' is missing"),
    ({"kind": 2}, "array 'kind': shape (), not (0,)"), ({"X0": np.zeros((2, 4, 3))}, "array 'X0': shape (2, 4, 3), not (1, 4, 3): a row a query"),
    ({"xi": [0, 0]}, "array 'xi': shape (2,), not (1,)"), ({"kind": [4]}, "array 'kind': row 0, counted from 0: 4 is not one of 0 to 3"),
    ({"kind": [1.5]}, "array 'kind': row 0, counted from 0: 1.5"), ({"kind": ["pt"]}, "array 'kind' holds <U2, not numbers"),
    ({"status": [-1]}, "array 'status': row 0, counted from 0: -1 is not one of 0 to 4"), ({"kind": [{}]}, "not an .npz archive of numbers"),
    ({"X0": np.full((1, 4, 3), 1e39)}, "array 'X0': row 0, counted from 0: 1e+39 is beyond float32; --precision f64 may hold it"),
    ({"kind": [], "X0": np.zeros((0, 4, 3)), "X1": np.zeros((0, 4, 3))}, "holds no queries")])
def test_malformed_npz(folder, capsys, changed, text):
    status, out, err = run(capsys, npz(**{name: value for name, value in (ONE | changed).items() if value is not None}), "-o", "no.npz")
    assert status == 2 and not out and f"q.npz: {text}" in err and os.listdir() == ["q.npz"]


def test_damaged_csv(folder):
    """Both precisions take the same files, but for numbers that float32 cannot reach; what neither takes has a cause."""
    r, good = random.Random(1), "\n".join([*FALLS, *STAYS]).encode()
    taken = 0
    for _ in range(1500):
        damaged = bytearray(good)
        for _ in range(r.randint(1, 3)):
            at = r.randrange(len(damaged))
            damaged[at:at + r.randint(0, 2)] = r.choice([b"0", b"1", b"9", b",", b"\n", b"-", b" ", b"\x00", b"\xff", b"", bytes(good[:at % 60])])
        pathlib.Path("pt.csv").write_bytes(damaged)
        said = {}
        for precision in ("f32", "f64"):
            try:
                q = cq.read("pt.csv", "pt", precision)
                assert len(q.kind) and np.isfinite(q.x).all() and np.isin(q.truth, (0, 1)).all()
                said[precision] = ""
            except ValueError as error:
                said[precision] = str(error)
                assert str(error).startswith("pt.csv:") and len(str(error)) < 200
        taken += not said["f64"]
        assert said["f32"] == said["f64"] or "is beyond float32" in said["f32"]
    assert 100 < taken < 1400
