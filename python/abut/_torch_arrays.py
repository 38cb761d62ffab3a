"""Conversion of tensors to arrays that the library can read, and back."""
from __future__ import annotations

import math
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from abut import _forms
from abut._ccd_mesh import CcdMesh
from abut._closest import Shape
from abut._forms import is_matrix
from abut._pair import Pair

DTYPES = {"f32": torch.float32, "f64": torch.float64}


def check_numbers(precision: str, tensor: Any, name: str) -> None:
    """Checks that numbers are tensors of the CPU and of the context's precision: they are never converted."""
    wanted = DTYPES[precision]
    if not isinstance(tensor, Tensor):
        raise ValueError(f"{name} is a {type(tensor).__name__}, not a tensor")
    if tensor.dtype != wanted:
        raise ValueError(f"{name} is {tensor.dtype}, but the context uses {wanted}: "
                         "convert it, or open a context with that precision")
    if tensor.device.type != "cpu" or tensor.layout != torch.strided:
        raise ValueError(f"{name} is on {tensor.device}, {tensor.layout}: a dense tensor on the "
                         "cpu is needed")


def real_tensor(value: Any, precision: str, name: str) -> Tensor:
    """Returns a tensor of the CPU and of the context's precision. Tensors are never converted; plain numbers are."""
    if not isinstance(value, Tensor):
        return torch.as_tensor(value, dtype=DTYPES[precision])
    check_numbers(precision, value, name)
    return value


def check_pose(owner: Pair | Shape | CcdMesh, pose: Any, name: str) -> None:
    """Checks that a pose is such a tensor, of the right shape. None is the identity."""
    if pose is not None:
        check_numbers(owner.context.precision, pose, name)
        if not pose.ndim or not (pose.shape[-1] in (6, 7) or is_matrix(pose)):
            raise ValueError(f"{name} has shape {tuple(pose.shape)}: its last axis is a twist's 6 "
                             "numbers, or position and quaternion, 7; or its last two are a matrix, "
                             "4 x 4")


def check_poses(pairs: Sequence[Pair | Shape], pose1: Any, pose2: Any) -> None:
    """Checks both poses like check_pose."""
    for name, pose in (("pose1", pose1), ("pose2", pose2)):
        check_pose(pairs[0], pose, name)


def of_one_batch(pose1: Any, pose2: Any) -> tuple[Tensor, Tensor]:
    """Returns both poses in one format and of one shape."""
    pose1, pose2 = _forms.of_one_kind(torch, pose1, pose2)
    if pose1.shape != pose2.shape:
        try:
            pose1, pose2 = torch.broadcast_tensors(pose1, pose2)
        except RuntimeError:
            raise ValueError(f"pose1 has shape {tuple(pose1.shape)} and pose2 {tuple(pose2.shape)}, which do not have "
                             "the same batch") from None
    return pose1, pose2


def rows_of(row: Any, lead: Any, name: str) -> Tensor:
    """Returns whole numbers of a batch, which are the row of a list for each entry."""
    which = torch.as_tensor(row)
    if which.device.type != "cpu":
        raise ValueError(f"{name} is on {which.device}, not on the cpu")
    try:
        return which.expand(lead)
    except RuntimeError:
        raise ValueError(f"{name} has shape {tuple(which.shape)}, not {tuple(lead)}") from None


def array(tensor: Tensor | None) -> Any:
    return None if tensor is None else tensor.numpy(force=True)  # of the CPU: no copy


def tensors_of(arrays: Sequence[Any]) -> tuple[Tensor, ...]:
    return tuple(torch.from_numpy(a) for a in arrays)


class Pool:
    """Memory of freed large outputs, reused for outputs of the same size: a call that touches fresh pages takes a tenth longer."""

    least, most = 1 << 20, 1 << 28  # bytes of one output, and of all retained memory

    def __init__(self) -> None:
        self.free: dict[int, list[np.ndarray[Any, Any]]] = {}

    def take(self, shape: tuple[int, ...], dtype: Any) -> np.ndarray[Any, Any]:
        size = math.prod(shape) * dtype.itemsize
        if size < self.least:
            return np.empty(shape, dtype)
        try:
            block = self.free[size].pop()
        except LookupError:
            block = np.empty(size, np.uint8)
        # Views refer to this first array, which has no base of its own: it lives as long as any of them.
        whole: np.ndarray[Any, Any] = np.frombuffer(block.data, dtype)
        weakref.finalize(whole, self.give, block).atexit = False
        return whole.reshape(shape)

    def give(self, block: np.ndarray[Any, Any]) -> None:
        """Called when the last tensor is freed, on any thread: each step is atomic."""
        kept = sum(size * len(blocks) for size, blocks in list(self.free.items()))
        if kept + block.size > self.most:
            self.free = {}
        if block.size <= self.most:
            self.free.setdefault(block.size, []).append(block)


POOL = Pool()
