"""Rows of collision in time whose vertices are small whole numbers, against answers in rationals: exact.py [ROWS]

The host path answers. Two features can only touch where a polynomial of time is 0, whose roots are bracketed to 2^-70; the
squared distance there is exact but for the bracket. Rows whose polynomial is 0 throughout are looked at up to toi alone.
"""
import random
import sys
from fractions import Fraction as F

import abut

KINDS = ["pp", "pe", "pt", "ee"]
VERTICES = [2, 3, 4, 4]


def sub(a, b):
    return [x - y for x, y in zip(a, b)]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def at(x0, x1, t):
    return [[F(a) + (b - a) * t for a, b in zip(v, w)] for v, w in zip(x0, x1)]


def to_edge(p, a, b):
    e, w = sub(b, a), sub(p, a)
    ee = dot(e, e)
    s = min(max(dot(w, e) / ee, 0), 1) if ee else 0
    d = [c - s * f for c, f in zip(w, e)]
    return dot(d, d)


def squared(kind, x):
    """The squared distance, exactly."""
    if kind == 0:
        return to_edge(x[0], x[1], x[1])
    if kind == 1:
        return to_edge(x[0], x[1], x[2])
    if kind == 2:
        best = min(to_edge(x[0], x[a], x[b]) for a, b in ((1, 2), (1, 3), (2, 3)))
        e, f, w = sub(x[2], x[1]), sub(x[3], x[1]), sub(x[0], x[1])
    else:
        best = min(to_edge(x[0], x[2], x[3]), to_edge(x[1], x[2], x[3]), to_edge(x[2], x[0], x[1]), to_edge(x[3], x[0], x[1]))
        e, f, w = sub(x[1], x[0]), sub(x[3], x[2]), sub(x[0], x[2])
    n = cross(e, f)
    nn = dot(n, n)
    if nn:
        s, t = dot(cross(w, f), n) / nn, dot(cross(e, w), n) / nn
        inside = s >= 0 and t >= 0 and s + t <= 1 if kind == 2 else 0 <= -s <= 1 and 0 <= t <= 1
        if inside:
            best = min(best, dot(w, n) ** 2 / nn)
    return best


def roots(p):
    """Brackets of the roots in [0, 1] of a polynomial by its coefficients, lowest first; [] where it is 0 throughout."""
    while p and p[-1] == 0:
        p = p[:-1]
    if len(p) < 2:
        return []
    value = lambda t: sum(c * t**k for k, c in enumerate(p))
    turns = [(a + b) / 2 for a, b in roots([k * c for k, c in enumerate(p)][1:])] if len(p) > 2 else []
    ends = [F(0)] + sorted(turns) + [F(1)]
    found = [(t, t) for t in ends if abs(value(t)) < F(1, 2**60)]
    for low, high in zip(ends, ends[1:]):
        if value(low) * value(high) < 0:
            while high - low > F(1, 2**70):
                t = (low + high) / 2
                low, high = (t, high) if value(low) * value(t) > 0 else (low, t)
            found.append((low, high))
    return found


def through(values):
    """The polynomial with these values at 0, 1, 2, 3."""
    a, b, c, d = values
    third, second = (d - 3 * c + 3 * b - a) / F(6), (c - 2 * b + a) / F(2)
    return [a, b - a - second + 2 * third, second - 3 * third, third]


def moments(kind, x0, x1):
    """Times at which they may touch: all of them, but where something is 0 throughout."""
    def of(f):
        return roots(through([f(at(x0, x1, F(t))) for t in range(4)]))
    if kind == 0:
        v, w = sub(x0[0], x0[1]), sub(sub(x1[0], x1[1]), sub(x0[0], x0[1]))
        return roots([F(dot(v, w)), F(dot(w, w))])
    if kind == 1:
        return [r for k in range(3) for r in of(lambda x: cross(sub(x[2], x[1]), sub(x[0], x[1]))[k])]
    if kind == 2:
        return of(lambda x: dot(cross(sub(x[2], x[1]), sub(x[3], x[1])), sub(x[0], x[1])))
    return of(lambda x: dot(cross(sub(x[1], x[0]), sub(x[3], x[2])), sub(x[0], x[2])))


def rows(kind, count, seed):
    """So small that points meet, too."""
    r, most = random.Random(seed), (1, 1, 4, 4)[kind]
    return [[[[r.randrange(-most, most + 1) for _ in range(3)] for _ in range(VERTICES[kind])] for _ in range(2)] for _ in range(count)]


def judge(kind, x0, x1, toi, status, precision):
    """Says what is wrong with an answer, or nothing."""
    times = [F(float(toi)) * k / 8 for k in range(9)]
    if status == 3:
        return None if squared(kind, at(x0, x1, F(0))) == 0 else "within, and apart at 0"
    if any(squared(kind, at(x0, x1, t)) == 0 for t in times):
        return "touches up to toi"
    touches = [low for low, high in moments(kind, x0, x1) if squared(kind, at(x0, x1, (low + high) / 2)) < F(1, 2**100)]
    if any(high < toi for high in touches):
        return "touches before toi"
    if status == 0:
        return "is told free, and touches" if touches else None
    near = 2.0 ** (-40 if precision == "f64" else -14)
    if status == 1 and squared(kind, at(x0, x1, times[-1])) > F(near) ** 2:
        return "is told hit where it is apart"
    return None if status in (1, 2) else f"ends as {status}"


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    wrong = 0
    for kind in range(4):
        x = rows(kind, count, kind)
        for precision in ("f64", "f32"):
            answer = abut.ccd_queries(KINDS[kind], [r[0] for r in x], [r[1] for r in x], context=abut.Context("host", precision))
            toi, status = answer.toi.astype(float), answer.status
            for i, (x0, x1) in enumerate(x):
                what = judge(kind, x0, x1, toi[i], status[i], precision)
                if what:
                    wrong += 1
                    print(f"FAILED: {KINDS[kind]}, {precision}, row {i}: {what}; status {status[i]}, toi {toi[i]!r}")
            wrong += (status == 1).sum() == 0
            print(f"{KINDS[kind]}, {precision}: {count} rows, {(status == 1).sum()} hits, {(status == 2).sum()} limits, "
                  f"{(status == 3).sum()} within")
    print(f"{8 * count - wrong} passed, {wrong} failed")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
