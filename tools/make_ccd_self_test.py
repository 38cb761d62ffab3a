#!/usr/bin/env python3
"""Writes src/query/ccd_self_test_answers.inl: rows of collision in time whose answers are proved in rational numbers.

    python3 tools/make_ccd_self_test.py > src/query/ccd_self_test_answers.inl

Most rows end a hair off a touch at time 1, by 1/100 to 1/20 of the last digit of the coordinates: on one side they are
free, which numbers of twice the digits alone can prove, on the other they collide. A device that rounds otherwise than
the certificate counts on is wrong about some of them. Rows of whole numbers: both precisions have them exactly.
"""
import math
import random
import re
from fractions import Fraction as F

KINDS = ["pp", "pe", "pt", "ee"]
VERTICES = {"pp": 2, "pe": 3, "pt": 4, "ee": 4}
FREE, HIT, LIMIT, WITHIN, BAD = (1 << i for i in range(5))
TOUCHED = HIT | LIMIT
DIGITS = [24, 53]
PAIRS = 5  # rows of each kind
LATER = [F(1, 2**12), F(1, 2**38)]  # how long before a touch a row may end
UNIT = [F(1, 2**18), F(1, 2**46)]


def sub(a, b):
    return [x - y for x, y in zip(a, b)]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def volume(kind, x):
    """Returns a volume that is 0 where the features' lines or planes meet; for an edge in the plane x = z, an area."""
    if kind == "pe":
        (a, b), (c, d) = [(v[0], v[1]) for v in (sub(x[2], x[1]), sub(x[0], x[1]))]
        return a * d - b * c
    if kind == "pt":
        return dot(cross(sub(x[2], x[1]), sub(x[3], x[1])), sub(x[0], x[1]))
    return dot(cross(sub(x[1], x[0]), sub(x[3], x[2])), sub(x[0], x[2]))


def span(kind, x):
    """Returns the squared ratio of the volume to the distance of lines or planes."""
    if kind == "pe":
        return dot(sub(x[2], x[1])[:2], sub(x[2], x[1])[:2])
    n = cross(sub(x[2], x[1]), sub(x[3], x[1])) if kind == "pt" else cross(sub(x[1], x[0]), sub(x[3], x[2]))
    return dot(n, n)


def between(x0, x1, t):
    return [[a + (b - a) * t for a, b in zip(v, w)] for v, w in zip(x0, x1)]


def bernstein(kind, x0, x1):
    """Returns control points of the volume over time, a cubic, from its values at four times."""
    p = [volume(kind, between(x0, x1, F(i, 3))) for i in range(4)]
    k1 = (-5 * p[0] + 18 * p[1] - 9 * p[2] + 2 * p[3]) / 6
    k2 = (2 * p[0] - 9 * p[1] + 18 * p[2] - 5 * p[3]) / 6
    return [p[0], k1, k2, p[3]]


def flat(kind, v):
    return [v[0], v[1], v[0]] if kind == "pe" else v


def random_vertex(r, kind, size):
    return flat(kind, [r.randrange(-size, size + 1) for _ in range(3)])


def touching(r, kind, size):
    """Returns vertices that nearly touch, well inside both features."""
    x = [random_vertex(r, kind, size) for _ in range(VERTICES[kind])]
    if kind == "pe":
        s = F(r.randrange(30, 70), 100)
        x[0] = flat(kind, [round(a + (b - a) * s) for a, b in zip(x[1], x[2])])
    elif kind == "pt":
        s, t = F(r.randrange(25, 40), 100), F(r.randrange(25, 40), 100)
        x[0] = [round(a + (b - a) * s + (c - a) * t) for a, b, c in zip(x[1], x[2], x[3])]
    else:
        s = F(r.randrange(30, 70), 100)
        middle = [a + (b - a) * s for a, b in zip(x[0], x[1])]
        x[3] = [round(2 * m - a) for a, m in zip(x[2], middle)]
    return x


def is_hair(kind, x):
    """Returns whether the distance is from 1/100 to 1/20 of a unit, and no feature is thin."""
    v, n = volume(kind, x), span(kind, x)
    largest = max(abs(a - b) for p in x for q in x for a, b in zip(p, q))
    thick = n * 25 > largest**2 if kind == "pe" else n * 100 > largest**4
    return thick and n < 10**4 * v * v and v * v * 400 < n


def nearly(r, kind, digits, turns):
    """Ends of a motion that begins on one side, free or not by a hair at time 1. Differences of coordinates have a digit
    more than these have."""
    size = 2**digits - 1
    while True:
        x1 = touching(r, kind, size)
        if not is_hair(kind, x1):
            continue
        by = [random_vertex(r, kind, size // 4) for _ in range(2)]
        first = 2 if kind == "ee" else 1
        x0 = [[a + b for a, b in zip(v, by[i >= first])] for i, v in enumerate(x1)]
        if turns:
            x0 = [[a + b for a, b in zip(v, random_vertex(r, kind, size // 8))] for v in x0]
        if max(abs(c) for v in x0 + x1 for c in v) < 2**digits:
            return x0, x1


def is_free(kind, x0, x1):
    """Proves that the volume is never 0."""
    k = bernstein(kind, x0, x1)
    return min(k) > 0 or max(k) < 0


def touch(kind, x0, x1):
    """Proves that it is 0 once, near time 1, and returns a time before the zero and one after."""
    k = bernstein(kind, x0, x1)
    sign = 1 if k[0] > 0 else -1
    if not (min(sign * c for c in k[:3]) > 0 > sign * k[3]):
        return None
    low, high = F(0), F(1)
    while high - low > F(1, 2**120):
        t = (low + high) / 2
        low, high = (t, high) if sign * volume(kind, between(x0, x1, t)) > 0 else (low, t)
    return (low, high) if 1 - low < F(1, 2**15) else None


def hairs(r, kind, p):
    """Returns rows that only doubled numbers can decide: straight and rotating, free and not."""
    rows, wanted = [], {(turns, free): PAIRS for turns in (False, True) for free in (True, False)}
    while any(wanted.values()):
        turns = r.random() < 0.5
        x0, x1 = nearly(r, kind, DIGITS[p], turns)
        free = is_free(kind, x0, x1)
        at = None if free else touch(kind, x0, x1)
        if (free or at) and wanted[turns, free]:
            wanted[turns, free] -= 1
            rows.append((x0, x1, 0, FREE, 1, 1) if free else (x0, x1, 0, TOUCHED, at[0] - LATER[p], at[1]))
    return rows


def passes(r, p):
    """Returns two points that meet on their way, with differences that no single number represents."""
    rows = []
    size = 2 ** (DIGITS[p] - 4)
    for i in range(2 * PAIRS):
        w = [r.randrange(-size, size) * 2 + 1 for _ in range(3)]
        m, n = r.randrange(2, 8), r.randrange(1, 8)
        q = [[r.randrange(-size, size) for _ in range(3)] for _ in range(2)]
        x0, x1 = [[a + m * b for a, b in zip(q[0], w)], q[0]], [[a - n * b for a, b in zip(q[1], w)], q[1]]
        rows.append((x0, x1, 0, TOUCHED, F(m, m + n) - LATER[p], F(m, m + n)))
    return [row for row in rows if max(abs(c) for x in row[:2] for v in x for c in v) < 2 ** DIGITS[p]]


# Features at z = 0 when the first one is a falling point, or a falling edge.
SHAPES = {"pp": [[0, 0, 0], [0, 0, 0]], "pe": [[F(1, 4), 0, 0], [-1, 0, 0], [1, 0, 0]],
          "pt": [[F(1, 8), F(1, 8), 0], [-1, -1, 0], [2, -1, 0], [0, 2, 0]],
          "ee": [[-1, -1, 0], [1, 1, 0], [-1, 1, 0], [3, -3, 0]]}


def falling(kind, z0, z1, size=1):
    first = 2 if kind == "ee" else 1
    return [[[c * size for c in v[:2]] + [(z if i < first else 0)] for i, v in enumerate(SHAPES[kind])] for z in (z0, z1)]


def closed(kind, p):
    """Returns answers in closed form: heights fall from z0 to z1."""
    rows = []
    for z0, z1, separation in [(3, -1, 0), (2, -2, F(1, 2)), (1, F(1, 2), F(1, 4)), (-3, 5, 1), (F(1, 8), 1, F(1, 4)), (0, 1, 0)]:
        low, high = abs(z0), abs(z1)
        x0, x1 = falling(kind, z0, z1)
        if low <= separation:
            rows.append((x0, x1, separation, WITHIN, 0, 0))
        elif z0 * z1 > 0 and high > separation:
            rows.append((x0, x1, separation, FREE, 1, 1))
        else:
            t = F(low - separation) / abs(F(z1) - z0)
            rows.append((x0, x1, separation, HIT, t - UNIT[p], t))
    # Within the separation by the last digit at time 1.
    one = 1 - F(1, 2 ** DIGITS[p])
    rows.append((*falling(kind, 2, one), 1, TOUCHED, 1 - LATER[p], 1 / (2 - one)))
    return rows


def small(kind, p):
    """Returns a touch of features of size 2^-30; and one, at 8/9, whose last height a device may flush to 0."""
    tiny, unit = ([-30, -128] if p == 0 else [-300, -1024])
    z = F(2) ** tiny
    rows = [(*falling(kind, 3 * z, -z, z), 0, HIT, F(3, 4) - UNIT[p], F(3, 4))]
    z1 = F(2) ** unit
    rows.append((*falling(kind, 8 * z1, -z1, F(2) ** tiny), 0, TOUCHED | WITHIN, 0, F(8, 9)))
    z0 = F(2) ** tiny
    rows.append((*falling(kind, z0, -z0, F(1, 2**20)), 0, TOUCHED, F(1, 2) - F(1, 2**4), F(1, 2)))
    return rows


def bad(kind, p):
    most = F(2) ** (127 if p == 0 else 1023)
    rows = []
    for what in ("NAN", "INFINITY"):
        x0, x1 = falling(kind, 3, -1)
        x1[VERTICES[kind] - 1][1] = what
        rows.append((x0, x1, 0, BAD, 0, 0))
    x0, x1 = falling(kind, 3, -1)
    x0[0][0], x0[1][0] = most, -most
    rows.append((x0, x1, 0, BAD, 0, 0))
    return rows


def text(x, up):
    """Formats exactly, or rounded down or up if a bound has more digits than double."""
    if isinstance(x, str):
        return x
    x = F(x)
    if x == 0 or x.denominator == 1 and abs(x) < 2**53:
        return str(int(x))
    f = float(x)
    while (F(f) < x if up else F(f) > x):
        f = math.nextafter(f, math.inf if up else -math.inf)
    return re.sub(r"\.?0*p", "p", f.hex())


def number(x):
    if isinstance(x, str):
        return x
    assert F(float(x)) == x, x
    return text(x, True)


def write(name, numbers):
    line = "  "
    print(f"static const double {name}[] = {{")
    for n in numbers:
        if len(line) + len(n) > 98:
            print(line.rstrip())
            line = "  "
        line += n + ", "
    print(line.rstrip() + "\n};\n")


def main():
    print("/* Made by tools/make_ccd_self_test.py: change that. */")
    tables = []
    for p, precision in enumerate(["float", "double"]):
        for kind in KINDS:
            r = random.Random(f"{precision} {kind}")
            rows = closed(kind, p) + small(kind, p) + (passes(r, p) if kind == "pp" else hairs(r, kind, p))
            rows += bad(kind, p)
            name = f"{precision}_{kind}"
            write(f"{name}_x0", [number(c) for row in rows for v in row[0] for c in v])
            write(f"{name}_x1", [number(c) for row in rows for v in row[1] for c in v])
            write(f"{name}_separations", [number(row[2]) for row in rows])
            write(f"{name}_earliest", [text(max(row[4], 0), False) for row in rows])
            write(f"{name}_latest", [text(row[5], True) for row in rows])
            print(f"static const unsigned char {name}_ends[] = {{{', '.join(str(row[3]) for row in rows)}}};\n")
            tables.append((name, len(rows)))
    print("/* By precision and kind. */\nstatic const known_rows answers[2][4] = {")
    for p in range(2):
        print("  {" + ",\n   ".join(
            f"{{{n}, {t}_x0, {t}_x1, {t}_separations, {t}_earliest, {t}_latest, {t}_ends}}"
            for t, n in tables[4 * p:4 * p + 4]) + ("}," if p == 0 else "}"))
    print("};")


if __name__ == "__main__":
    main()
