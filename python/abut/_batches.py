"""Parts of long batches for independent processes."""
from __future__ import annotations

import operator
from typing import SupportsIndex


def shard(n: SupportsIndex, i: SupportsIndex, k: SupportsIndex) -> slice:
    """Returns part i of k of n rows as a slice, i from 0: rows n i / k to before n (i + 1) / k, rounded down.

    All parts together are all rows, once each, in order, and their lengths differ by at most one. `abut ... --shard i/k`
    computes the same part. ValueError if n < 0, k < 1 or i is not in 0 .. k - 1.

        poses = np.load("poses.npy", mmap_mode="r")[abut.shard(n, rank, ranks)]
    """
    n, i, k = operator.index(n), operator.index(i), operator.index(k)
    if n < 0 or not 0 <= i < k:
        raise ValueError(f"part {i} of {k} of {n} rows: rows must be 0 or more, and parts are 0 to k - 1")
    return slice(n * i // k, n * (i + 1) // k)
