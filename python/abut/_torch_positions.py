"""Poses of links and distances of pairs for torch: abut.torch.poses and abut.torch.distances."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from abut._arrays import common_axes
from abut._table import OfPositions
from abut._torch import apply, by_calls, make, no_more
from abut._torch_arrays import real_tensor
from abut._worlds import Scene, WorldPair

__all__ = ["distances", "poses"]

for _call, _what in (("poses", "poses of links"), ("distances", "distances of worlds")):
    make(_call, by_calls(_call + "_vjp", _call + "_jvp"))
    for _ending in ("_vjp", "_jvp"):
        make(_call + _ending, no_more(f"{_what} have only first derivatives"))


def _made(call: str, subject: OfPositions, q: Any, output: str) -> Tensor:
    own = real_tensor(q, subject.context.precision, "q")
    common_axes({"q": tuple(own.shape)}, {"q": subject.tails["q"]})
    made: Tensor = apply(call, subject, {"q": own}, (output,))[output]
    return made


@torch.compiler.disable
def poses(scene: Scene, q: Any) -> Tensor:
    """Computes poses (..., links, 7) of all links, as abut.Scene.poses, for a tensor q (..., nq).

    The function has first derivatives, in both modes, by the numbers of q. Only the part of a quaternion's tangent and
    gradient that is orthogonal to the quaternion counts. Errors: ValueError for shapes, dtypes and devices; abut.Error.
    """
    return _made("poses", OfPositions(scene), q, "poses")


@torch.compiler.disable
def distances(scene: Scene, q: Any, pairs: Sequence[WorldPair] | None = None, *, smooth: bool = True,
              temperature: float = 0.0) -> Tensor:
    """Computes signed distances (..., pairs), as abut.Scene.distances with the same arguments, for a tensor q (..., nq).

    Derivatives are as for poses.
    """
    return _made("distances", scene._select(pairs, smooth, temperature), q, "d")
