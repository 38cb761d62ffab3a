#!/usr/bin/env python3
"""Fit the polynomials of cl/num/real.h and print their coefficients.

Those for float: least squares on Chebyshev nodes, reweighted after Lawson: weights grow where the
error is large, until the largest error is nearly as small as the degree allows. The minimum is
flat: runs of other lengths, such as the one that real.h holds, agree to 1e-5 of a coefficient. Needs numpy.
Those for double: interpolation at Chebyshev nodes in 60 digits, within twice the least error.
"""
import decimal
from decimal import Decimal

import numpy

decimal.getcontext().prec = 60
LN2 = Decimal(2).ln()

NODES = 2000
ROUNDS = 100


def chebyshev_nodes(low, high, count):
    angles = (2 * numpy.arange(count) + 1) * numpy.pi / (2 * count)
    return (low + high) / 2 + (high - low) / 2 * numpy.cos(angles)


def fit(function, low, high, degree, scale):
    """Returns coefficients, from the constant on, and the largest of scale(x) |polynomial - function|."""
    x = chebyshev_nodes(low, high, NODES)
    wanted, scales = function(x), scale(x)
    # In the Chebyshev basis, in which least squares is well conditioned.
    mapped = (2 * x - low - high) / (high - low)
    rows = numpy.polynomial.chebyshev.chebvander(mapped, degree) * scales[:, None]
    weights = numpy.full(NODES, 1 / NODES)
    best, least = None, numpy.inf
    for _ in range(ROUNDS):
        root = numpy.sqrt(weights)
        found = numpy.linalg.lstsq(rows * root[:, None], wanted * scales * root, rcond=None)[0]
        error = numpy.abs(rows @ found - wanted * scales)
        if error.max() < least:
            best, least = found, error.max()
        weights *= error
        weights /= weights.sum()
    series = numpy.polynomial.Chebyshev(best, domain=[low, high])
    return series.convert(kind=numpy.polynomial.Polynomial).coef, least


def log2_ratio(t):
    """log2(1 + t) / t"""
    return numpy.log1p(t) / (t * numpy.log(2))


def cosine(x):
    total, term = Decimal(0), Decimal(1)
    for k in range(1, 80, 2):
        total += term
        term *= -x * x / (k * (k + 1))
    return total


def interpolate(function, low, high, degree):
    """Returns coefficients, from the constant on, and the largest error, in decimals."""
    count = degree + 1
    pi = Decimal("3.14159265358979323846264338327950288419716939937510582097494459")
    angles = [pi * (2 * k + 1) / (2 * count) for k in range(count)]
    x = [(low + high) / 2 + (high - low) / 2 * cosine(a) for a in angles]
    divided = [function(v) for v in x]
    for j in range(1, count):
        for i in range(count - 1, j - 1, -1):
            divided[i] = (divided[i] - divided[i - 1]) / (x[i] - x[i - j])
    found = [Decimal(0)] * count
    for i in range(count - 1, -1, -1):  # found = found (t - x_i) + divided_i
        shifted = [Decimal(0)] + found[:-1]
        found = [s - f * x[i] for s, f in zip(shifted, found)]
        found[0] += divided[i]
    worst = Decimal(0)
    for k in range(401):
        t = low + (high - low) * k / 400
        value = Decimal(0)
        for c in reversed(found):
            value = value * t + c
        worst = max(worst, abs(value - function(t)))
    return found, worst


def exp2_ratio(f):
    """(2^f - 1) / f"""
    return LN2 + LN2 * LN2 * f / 2 if abs(f) < Decimal("1e-25") else ((f * LN2).exp() - 1) / f


def atanh_ratio(z):
    """2 atanh(s) / (s ln 2) of z = s^2"""
    s = z.sqrt()
    return ((1 + s) / (1 - s)).ln() / (LN2 * s) if z > 0 else 2 / LN2


def show(name, coefficients, error, unit, digits=10):
    print(f"{name}, from the constant on; worst error {error:.3g} {unit}")
    for c in coefficients:
        print(f"  {float(c):.{digits}g}")


def main():
    show("float: exp2(x) on [-1/2, 1/2]", *fit(numpy.exp2, -0.5, 0.5, 6, numpy.ones_like),
         "absolute")
    # Absolute errors count where the result is large, relative errors near 1, where it vanishes.
    show("float: log2(1 + t) / t on [sqrt(1/2) - 1, sqrt(2) - 1]",
         *fit(log2_ratio, numpy.sqrt(0.5) - 1, numpy.sqrt(2) - 1, 8, lambda t: numpy.abs(t) + 0.02),
         "times |t| + 0.02")
    show("float: log2(1 + t) / t on [0, 1]", *fit(log2_ratio, 1e-9, 1, 8, numpy.ones_like),
         "absolute")
    half = Decimal("0.5")
    show("double: (2^f - 1) / f on [-1/2, 1/2]", *interpolate(exp2_ratio, -half, half, 10),
         "absolute", 17)
    root = Decimal(2).sqrt()
    for top, degree in (((root - 1) / (root + 1), 7), (Decimal(1) / 3, 10)):
        show(f"double: log2((1 + s) / (1 - s)) / s by powers of s^2, s to {float(top):.6f}",
             *interpolate(atanh_ratio, Decimal(0), top * top * Decimal("1.0000001"), degree),
             "absolute", 17)


if __name__ == "__main__":
    main()
