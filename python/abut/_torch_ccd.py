"""Continuous collision detection for torch: abut.torch.ccd and abut.torch.ccd_queries."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor

from abut import _ccd, _forms
from abut._ccd import Meshes, meshes_of
from abut._context import Context, default_context
from abut._table import MANY, POSES, VERTICES, OfFeatures, OfMeshes, feature_settings, move_settings
from abut._torch import apply, by_gradients, make, no_more
from abut._torch_arrays import check_numbers, check_pose

__all__ = ["Ccd", "CcdQueries", "ccd", "ccd_queries"]

NO_SECOND = "times of impact have only first derivatives"


class Ccd(NamedTuple):
    """Safe times of pairs of meshes, of leading axes (...). Only toi has derivatives; the other members count as constants.

    toi     (...) the largest safe time, 0 to 1
    status  (...) uint8, abut.CcdStatus
    kind    (...) int32, abut.CcdFeature of the first pair of features to touch
    feature1, feature2  (...) int64, index of the vertex, triangle or edge of each mesh
    p1, p2  (..., 3) nearest points of these at toi, in the world [m]
    n       (..., 3) unit, out of mesh 2; 0 if all are free
    """

    toi: Tensor
    status: Tensor
    kind: Tensor
    feature1: Tensor
    feature2: Tensor
    p1: Tensor
    p2: Tensor
    n: Tensor


class CcdQueries(NamedTuple):
    """Safe times of pairs of features, of leading axes (...). Only toi has derivatives; the other members count as constants.

    toi     (...) time of impact, 0 to `end`
    status  (...) uint8, abut.CcdStatus
    n       (..., 3) unit, along the gap at toi, from the second feature to the first
    d0      (...) certified lower bound of the distance at time 0 [m]
    """

    toi: Tensor
    status: Tensor
    n: Tensor
    d0: Tensor


for _name in ("ccd", "ccd_queries"):
    make(_name, by_gradients(_name + "_gradient"))
    make(_name + "_gradient", no_more(NO_SECOND))


def _together(arrays: Mapping[str, Tensor], tails: list[int]) -> list[Tensor]:
    """Broadcasts tensors of one batch to all its leading axes."""
    lead = _ccd.common_lead(arrays, tails)
    return [a.expand((*lead, *a.shape[a.ndim - tail:])) for a, tail in zip(arrays.values(), tails)]


@torch.compiler.disable
def ccd(pair: Meshes, from1: Tensor | None, to1: Tensor | None, from2: Tensor | None, to2: Tensor | None, *,
        motion: str = "linear", center1: Any = (0.0, 0.0, 0.0), center2: Any = (0.0, 0.0, 0.0), separation: float = 0.0,
        keep: float = 0.0, tolerance: float = 0.0, iterations: int = 0) -> Ccd:
    """Computes how far two meshes may move from one pose to another before they touch, at many poses, as abut.ccd.

    pair  an abut.Pair, or two abut.CcdMesh of one context
    from1, to1, from2, to2  (..., 6) twists, (..., 7) positions and quaternions, or (..., 4, 4) matrices of both meshes at times 0
          and 1; None is the identity. Leading axes are broadcast, and are those of the result
    motion, center1, center2, separation, keep, tolerance, iterations  as in abut.ccd toi has first derivatives, in both modes,
    by the poses' own numbers, at a fixed distance: the distance that `keep` derives from the poses at time 0 counts as
    constant. Derivatives are 0 except for a HIT that is not ROUGH (see abut.ccd_gradient). torch.func's transformations work;
    torch.compile runs the function outside the compiled program.
    Errors: ValueError for shapes of arrays, dtypes, devices and words; abut.Error.
    """
    meshes = meshes_of(pair)
    settings = _ccd.batch_settings(motion, center1, center2, separation, keep, tolerance, iterations)
    for name, pose in zip(POSES, (from1, to1, from2, to2)):
        check_pose(meshes[0], pose, name)
    poses = _forms.all_of_one_kind(torch, (from1, to1, from2, to2), POSES)
    _ccd.check_widths(poses)
    given = dict(zip(POSES, _together(dict(zip(POSES, poses)), [1] * len(POSES))))
    return Ccd(**apply("ccd", OfMeshes(meshes, poses[0].shape[-1], move_settings(settings)), given, Ccd._fields))


@torch.compiler.disable
def ccd_queries(kind: str, x0: Tensor, x1: Tensor, *, separation: Any = 0.0, keep: Any = 0.0, tolerance: Any = 0.0,
                end: Any = 1.0, error: Any = 0.0, relative_error: Any = 0.0, method: str = "certified",
                iterations: int = 0, x0_low: Tensor | None = None, x1_low: Tensor | None = None, plain: bool = False,
                context: Context | None = None) -> CcdQueries:
    """Computes the time up to which two features stay apart while their vertices move on straight lines, as abut.ccd_queries.

    kind    "pp", "pe", "pt" or "ee", or their words
    x0, x1  (..., V, 3) vertices at times 0 and 1 [m]; leading axes, also those of settings, are broadcast, and are those of the
            result
    separation, keep, tolerance, end, error, relative_error  numbers, or tensors (...)
    method, iterations, x0_low, x1_low, plain, context  as in abut.ccd_queries
    toi has first derivatives, in both modes, only for x0 and x1, at a fixed distance: the distance that `keep` derives from the
    vertices at time 0 counts as constant. Derivatives are 0 except for a HIT that is not ROUGH (see
    abut.ccd_queries_gradient). torch.func's transformations work; torch.compile runs the function outside the compiled
    program.
    Errors: ValueError for shapes of arrays, dtypes, devices, words and for a setting that requires a gradient; abut.Error.
    """
    chosen = default_context() if context is None else context
    numbers, many = _ccd.split_settings({"separation": separation, "keep": keep, "tolerance": tolerance, "end": end,
                                         "error": error, "relative_error": relative_error}, Tensor)
    settings = feature_settings({**_ccd.query_settings(kind, method, iterations, plain), **numbers})
    given = {"x0": x0, "x1": x1, "x0_low": x0_low, "x1_low": x1_low, **{name: many.get(name) for name in MANY}}
    there = {name: value for name, value in given.items() if value is not None}
    for name, value in there.items():
        check_numbers(chosen.precision, value, name)
        if value.requires_grad and name not in ("x0", "x1"):
            raise ValueError(f"{name} requires a gradient, but times of impact have derivatives only by x0 and x1")
    vertices = VERTICES[_ccd.kind_of(kind)]
    operands = _together(there, _ccd.axes_of(there, (vertices, 3)))
    subject = OfFeatures(chosen, vertices, settings)
    return CcdQueries(**apply("ccd_queries", subject, dict(zip(there, operands)), CcdQueries._fields))
