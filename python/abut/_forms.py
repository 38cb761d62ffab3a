"""Conversion of all pose formats that calls accept to the formats that the library uses.

`xp` is NumPy, jax.numpy or torch. The code uses only functions that all three have. It has derivatives where they have them,
and no branch that depends on traced values.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

IDENTITY = {6: (0.0,) * 6, 7: (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)}
_SMALL = 0.1  # limit on squared angles below which series are as exact as closed forms


def is_matrix(pose: Any) -> bool:
    return len(pose.shape) >= 2 and tuple(pose.shape[-2:]) == (4, 4)


def _series(s: Any, terms: tuple[float, ...]) -> Any:
    total = terms[-1]
    for term in terms[-2::-1]:
        total = total * s + term
    return total


def exp(xp: Any, twists: Any) -> Any:
    """Returns positions and quaternions (..., 7) of twists (..., 6), see docs/dev/spec.md."""
    rx, ry, rz, ox, oy, oz = (twists[..., i] for i in range(6))
    s = ox * ox + oy * oy + oz * oz
    near = s < _SMALL
    large = xp.where(near, s * 0 + 1, s)
    angle = xp.sqrt(large)
    w = xp.where(near, _series(s, (1, -1 / 8, 1 / 384, -1 / 46080, 1 / 10321920)), xp.cos(angle / 2))
    half = xp.where(near, _series(s, (1 / 2, -1 / 48, 1 / 3840, -1 / 645120, 1 / 185794560)),
                    xp.sin(angle / 2) / angle)
    a = xp.where(near, _series(s, (1 / 2, -1 / 24, 1 / 720, -1 / 40320, 1 / 3628800)),
                 (1 - xp.cos(angle)) / large)
    b = xp.where(near, _series(s, (1 / 6, -1 / 120, 1 / 5040, -1 / 362880, 1 / 39916800)),
                 (angle - xp.sin(angle)) / (large * angle))
    cx, cy, cz = oy * rz - oz * ry, oz * rx - ox * rz, ox * ry - oy * rx  # omega x rho
    dx, dy, dz = oy * cz - oz * cy, oz * cx - ox * cz, ox * cy - oy * cx  # omega x (omega x rho)
    return xp.stack([rx + a * cx + b * dx, ry + a * cy + b * dy, rz + a * cz + b * dz, w, half * ox,
                     half * oy, half * oz], -1)


def from_matrix(xp: Any, matrices: Any) -> Any:
    """Returns positions and quaternions (..., 7) of matrices (..., 4, 4). The largest quaternion number comes from a root, so
    that no number is divided by a small one."""
    m = [[matrices[..., i, j] for j in range(4)] for i in range(3)]
    xx, yy, zz = m[0][0], m[1][1], m[2][2]
    ones = xx * 0 + 1
    squares = [ones + xx + yy + zz, ones + xx - yy - zz, ones - xx + yy - zz, ones - xx - yy + zz]
    sums = {(1, 2): m[1][0] + m[0][1], (1, 3): m[2][0] + m[0][2], (2, 3): m[2][1] + m[1][2],
            (0, 1): m[2][1] - m[1][2], (0, 2): m[0][2] - m[2][0], (0, 3): m[1][0] - m[0][1]}
    largest = squares[0]
    for square in squares[1:]:
        largest = xp.where(square > largest, square, largest)
    found: list[Any] = []
    for k in range(4):
        chosen = squares[k] >= largest
        root = xp.sqrt(xp.where(chosen, squares[k], ones))
        quaternion = [root / 2 if i == k else sums[min(i, k), max(i, k)] / (2 * root) for i in range(4)]
        if not found:
            found = quaternion
        else:
            found = [xp.where(chosen, new, old) for new, old in zip(quaternion, found)]
    found = [xp.where(largest == largest, x, largest) for x in found]  # NaN is preserved
    return xp.stack([m[0][3], m[1][3], m[2][3], *found], -1)


def to_matrix(xp: Any, poses: Any) -> Any:
    """Returns matrices (..., 4, 4) of positions and quaternions (..., 7), whose length has no effect."""
    x, y, z, w, i, j, k = (poses[..., n] for n in range(7))
    s = 2 / (w * w + i * i + j * j + k * k)
    zero = x * 0
    rows = [[1 - s * (j * j + k * k), s * (i * j - w * k), s * (i * k + w * j), x],
            [s * (i * j + w * k), 1 - s * (i * i + k * k), s * (j * k - w * i), y],
            [s * (i * k - w * j), s * (j * k + w * i), 1 - s * (i * i + j * j), z],
            [zero, zero, zero, zero + 1]]
    return xp.stack([xp.stack(row, -1) for row in rows], -2)


def of_one_kind(xp: Any, pose1: Any, pose2: Any) -> tuple[Any, Any]:
    """Returns both poses as twists or both as positions and quaternions. None is the identity, (..., 4, 4) are matrices. If the
    formats differ, both become positions and quaternions."""
    one, two = all_of_one_kind(xp, (pose1, pose2), ("pose1", "pose2"))
    return one, two


def all_of_one_kind(xp: Any, given: Sequence[Any], names: Sequence[str]) -> list[Any]:
    """Returns any number of poses in one format, as of_one_kind does. Errors use the given names."""
    poses = [pose if pose is None or not is_matrix(pose) else from_matrix(xp, pose) for pose in given]
    there = [pose for pose in poses if pose is not None]
    if not there:
        raise ValueError(f"{', '.join(names[:-1])} and {names[-1]} are {'both' if len(names) == 2 else 'all'} None: "
                         "one of them must give the number of poses")
    widths = [pose.shape[-1] if len(pose.shape) else 0 for pose in there]
    twists = [width == 6 for width in widths]
    if len(there) < len(poses):
        identity = np.array(IDENTITY[6 if all(twists) else 7])
        poses = [xp.asarray(identity, dtype=there[0].dtype) if pose is None else pose for pose in poses]
    if any(twists) and any([width == 7 for width in widths]):
        poses = [exp(xp, pose) if len(pose.shape) and pose.shape[-1] == 6 else pose for pose in poses]
    return poses


def check_matrix(matrices: np.ndarray[Any, Any], name: str) -> None:
    """Refuses matrices that are not rigid motions. A matrix that is not finite only makes its own pose invalid, as everywhere."""
    finite = np.isfinite(matrices).all((-2, -1))
    m = matrices[finite].astype(np.float64)
    r = m[..., :3, :3]
    off = np.abs(r @ np.swapaxes(r, -1, -2) - np.eye(3)).max((-2, -1)) if m.size else np.zeros(0)
    wrong = (off > 1e-3) | (np.linalg.det(r) < 0) | (m[..., 3, :] != (0.0, 0.0, 0.0, 1.0)).any(-1)
    if wrong.any():
        where = np.argwhere(finite)[np.flatnonzero(wrong)[0]]
        raise ValueError(f"{name}{list(map(int, where)) or ''} is not a rigid motion: expected a rotation, a "
                         "translation and the row 0 0 0 1")
