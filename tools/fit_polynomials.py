#!/usr/bin/env python3
"""Fit the float polynomials of cl/num/real.h and print their coefficients.

Least squares on Chebyshev nodes, reweighted after Lawson: weights grow where the error is large,
until the largest error is nearly as small as the degree allows. The minimum is flat: runs of
other lengths, such as the one that real.h holds, agree to 1e-5 of a coefficient. Needs numpy.
"""
import numpy

NODES = 2000
ROUNDS = 100


def chebyshev_nodes(low, high, count):
    angles = (2 * numpy.arange(count) + 1) * numpy.pi / (2 * count)
    return (low + high) / 2 + (high - low) / 2 * numpy.cos(angles)


def fit(function, low, high, degree, scale):
    """Coefficients from the constant on, and the largest of scale(x) |polynomial - function|."""
    x = chebyshev_nodes(low, high, NODES)
    wanted, scales = function(x), scale(x)
    # In the Chebyshev basis, where least squares is well conditioned.
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


def show(name, coefficients, error, unit):
    print(f"{name}, from the constant on; worst error {error:.3g} {unit}")
    for c in coefficients:
        print(f"  {c:.10g}")


def main():
    show("exp2(x) on [-1/2, 1/2]", *fit(numpy.exp2, -0.5, 0.5, 6, numpy.ones_like), "absolute")
    # Absolute errors count where the result is large, relative ones near 1, where it vanishes.
    show("log2(1 + t) / t on [sqrt(1/2) - 1, sqrt(2) - 1]",
         *fit(log2_ratio, numpy.sqrt(0.5) - 1, numpy.sqrt(2) - 1, 8, lambda t: numpy.abs(t) + 0.02),
         "times |t| + 0.02")


if __name__ == "__main__":
    main()
