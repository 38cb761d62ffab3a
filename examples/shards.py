#!/usr/bin/env python3
"""One of several processes that share a batch and know nothing of each other: gradients of the distance.

    torchrun --nproc-per-node 4 examples/shards.py A.body.json B.body.json poses.npy gradients.npy

Whatever sets RANK and WORLD_SIZE starts it as well; alone it does all of the batch. poses.npy is of shape (N, 12), twists of A and
of B; gradients.npy becomes (N, 6), by the twists of B. Every process reads and writes its own rows alone.
"""
import os
import sys

import numpy as np

import abut

BLOCK = 65536  # poses at once: memory does not grow with N


def open_output(path, rows):
    """The array that all processes write into. Whoever comes first makes it; it takes its name once it is whole."""
    own = f"{path}.{os.getpid()}"
    np.lib.format.open_memmap(own, "w+", np.float32, (rows, 6)).flush()
    try:
        os.link(own, path)
    except FileExistsError:
        pass
    os.unlink(own)
    return np.lib.format.open_memmap(path, "r+")


def main():
    body1, body2, poses_path, out_path = sys.argv[1:]
    rank, ranks = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
    poses = np.load(poses_path, mmap_mode="r")
    out = open_output(out_path, len(poses))
    pair = abut.Pair(abut.load(body1), abut.load(body2))
    part = abut.shard(len(poses), rank, ranks)
    for first in range(part.start, part.stop, BLOCK):
        rows = slice(first, min(first + BLOCK, part.stop))
        block = poses[rows].astype(np.float32)
        out[rows] = abut.reduce(pair, block[:, :6], block[:, 6:], "distance", grad=True).grad2
    out.flush()


if __name__ == "__main__":
    main()
