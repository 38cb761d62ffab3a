"""Differences that the randomised battery of derivatives (test_derivatives.py) holds derivatives beside.

A slope is measured at many steps, each a third of the one before. The estimate that counts agrees best with those of
the neighbouring steps and with those of all finer steps, up to their rounding: far ahead and far behind a narrow hill, values are alike.
The tested derivative has no part in that choice. The largest difference from these estimates is the doubt of the slope.
"""
import os
import zlib
from typing import NamedTuple

import numpy as np

WITHIN = 1e-5  # of the natural scale
RATIO, COUNT = 3.0, 11
SEED = int(os.environ.get("ABUT_TEST_SEED") or int.from_bytes(os.urandom(4), "little"))
OFFSETS = np.concatenate([[0.0], *([x, -x] for x in RATIO ** -np.arange(COUNT))])  # in widest steps: 0, then ahead and behind by turns


def generator(*names):
    """Random numbers of a part of the battery: those of the seed and its name, whatever else runs."""
    return np.random.default_rng([SEED, *(zlib.crc32(str(name).encode()) for name in names)])


def _denied(column, noise):
    """By how much the finer estimates of a column (steps, ...) differ from each of its estimates, beyond what rounding explains."""
    return np.stack([(np.abs(column[k + 1:] - column[k]) - 4 * (noise[k + 1:] + noise[k])).max(0) for k in range(1, len(column) - 1)])


def _best(column, steps, order, rounding, times):
    """The estimate that agrees best with its neighbours and with all finer ones, and its doubt: `column` (steps, ...), made better by
    extrapolation."""
    best = doubt = None
    for _ in range(times):
        apart = np.abs(np.diff(column, axis=0))
        noise = rounding / steps.reshape(-1, *[1] * (column.ndim - 1))
        own = np.maximum(np.maximum(apart[:-1], apart[1:]), _denied(column, noise)) + noise[1:-1]
        which = np.argmin(own, axis=0)[None]
        here, by = (np.take_along_axis(x, which, 0)[0] for x in (column[1:-1], own))
        best, doubt = (here, by) if best is None else (np.where(by < doubt, here, best), np.minimum(by, doubt))
        column = (RATIO ** order * column[1:] - column[:-1]) / (RATIO ** order - 1)
        steps = steps[1:]
        order += 1 if times == 3 else 2
    return best, doubt


class Slopes(NamedTuple):
    """Measured slopes (...): central ones, and to either side, each with its doubt; the least and the largest quotient of any step to
    either side."""

    value: np.ndarray
    doubt: np.ndarray
    ahead: np.ndarray
    ahead_doubt: np.ndarray
    behind: np.ndarray
    behind_doubt: np.ndarray
    low: np.ndarray
    high: np.ndarray


def slopes(values, widest, size=0.0):
    """The slopes of values (len(OFFSETS), ...) at OFFSETS times the widest step; `size` of what was rounded in making them, where that
    is more than they are."""
    steps = widest * OFFSETS[1::2]
    tall = steps.reshape(-1, *[1] * (values.ndim - 1))
    middle, ahead, behind = values[0], values[1::2], values[2::2]
    rounding = 2e-16 * np.maximum(np.abs(values).max(0), size)
    with np.errstate(invalid="ignore", over="ignore"):
        onward, back = (ahead - middle) / tall, (middle - behind) / tall
        return Slopes(*_best((ahead - behind) / (2 * tall), steps, 2, rounding, 2), *_best(onward, steps, 1, 2 * rounding, 3),
                      *_best(back, steps, 1, 2 * rounding, 3), np.minimum(onward, back).min(0), np.maximum(onward, back).max(0))


def only(measured, rows):
    """The slopes of some rows."""
    return Slopes(*(x[rows] for x in measured))


class Tally:
    """What came of a part: how many slopes were compared, how many of these are not 0, kinks, and those that never settle."""

    def __init__(self, name):
        self.name, self.seed = name, SEED
        self.compared = self.nonzero = self.kinks = self.unsettled = 0
        self.wrong = []

    def add(self, what, tested, measured, scale):
        """Holds tested derivatives (...) beside measured slopes; `scale` (...) is the natural one of each."""
        tested, scale = np.asarray(tested), np.broadcast_to(scale, np.shape(tested))
        near = WITHIN * scale
        if not np.isfinite(tested).all():
            self.wrong.append(f"{what}: a derivative is not finite")
            return
        low, high = np.minimum(measured.behind, measured.ahead), np.maximum(measured.behind, measured.ahead)
        sided = (measured.ahead_doubt <= 0.2 * near) & (measured.behind_doubt <= 0.2 * near)
        kink = sided & (high - low > near)
        # Where both sides are one slope, it is that of central differences, too, but where these settle on none: far ahead and far
        # behind a narrow hill values are alike.
        smooth = sided & ~kink & ((measured.doubt <= 0.2 * near) | (np.abs(measured.value - low) > near))
        value = np.where(np.abs(measured.value - low) > near, 0.5 * (low + high), measured.value)
        off = np.where(kink, np.maximum(low - tested, tested - high), np.abs(tested - value))
        # Slopes that never settle still confirm something: the tested one lies among those of all steps, or beside them by their doubt.
        doubtful = ~smooth & ~kink
        doubt = measured.ahead_doubt + measured.behind_doubt
        off = np.where(doubtful, np.maximum(measured.low - tested, tested - measured.high) - doubt, off)
        wrong = ~(off <= near)
        self.compared += int(smooth.sum())
        self.nonzero += int((smooth & (np.abs(value) > 100 * near)).sum())
        self.kinks += int(kink.sum())
        self.unsettled += int(doubtful.sum())
        for at in list(zip(*np.nonzero(wrong)))[:5]:
            self.wrong.append(f"{what}{[int(i) for i in at]}: {tested[at]:.9g}, differences {measured.value[at]:.9g} "
                              f"(doubt {measured.doubt[at]:.1g}), behind {measured.behind[at]:.9g}, ahead {measured.ahead[at]:.9g}, "
                              f"scale {scale[at]:.3g}")

    def equal(self, what, one, two, scale, within=1e-9):
        """Two ways to the same number."""
        off = np.abs(np.asarray(one) - two)
        self.wrong += [f"{what}{[int(i) for i in at]}: {one[at]:.12g} and {two[at]:.12g}, scale {np.broadcast_to(scale, off.shape)[at]:.3g}"
                       for at in list(zip(*np.nonzero(~(off <= within * scale))))[:5]]

    def check(self, kinks=0.05, nonzero=1):
        """Nothing is wrong, few slopes kink or never settle, and enough are not 0."""
        __tracebackhide__ = True
        again = f"{self}; repeat it with ABUT_TEST_SEED={self.seed}"
        assert not self.wrong, "\n".join([again, *self.wrong[:12]])
        assert self.kinks + self.unsettled <= kinks * (self.compared + self.kinks + self.unsettled), again
        assert self.nonzero >= nonzero, again

    def __str__(self):
        return (f"{self.name}: {self.compared} slopes compared, {self.nonzero} of them not 0, {self.kinks} kinks, "
                f"{self.unsettled} unsettled, {len(self.wrong)} wrong")
