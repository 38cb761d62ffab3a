"""abut for torch: contacts and reductions of CPU tensors, which torch itself differentiates.

    import abut, torch, abut.torch as at
    a, b = abut.load("figure.body.json"), abut.load("part.stl")
    pair = abut.Pair(a, b)
    depth = -at.reduce(pair, pose1, pose2, "soft_minimum")
    depth.clamp(min=0).sum().backward()

Backward and forward mode work, and so do torch.func's vmap, grad, jvp, jacrev, jacfwd and hessian. torch.compile supports
backward mode and vmap, but not torch.func's derivatives. Poses are tensors on the CPU, float32 or float64 as the pair's
context; others are refused. Contiguous tensors are read without a copy. A pose that is not finite gives NaN, in its gradients
too, and its status shows it.

With shape1 and shape2 contacts and reductions are also functions of the bodies' numbers: see contacts.

Memory of large outputs that were freed is kept for the next ones, up to 256 MB. torch.autograd's vectorize and
is_grads_batched do not support these functions; torch.func's vmap does.

torch uses all cores, and so does a context on the CPU: torch.set_num_threads divides the cores between them.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Optional, Union

import torch
from torch import Tensor

from abut._arrays import check_names
from abut._calls import ALL_OUTPUTS, OUTPUTS, VALUES, Pairs, _list_of
from abut._pair import Pair
from abut._table import Forces, OfPairs
from abut._torch import Numbered, apply, reduced
from abut._torch_arrays import check_poses, of_one_batch, rows_of
from abut._torch_ccd import Ccd, CcdQueries, ccd, ccd_queries
from abut._torch_closest import Closest, closest
from abut._torch_positions import distances, poses
from abut._torch_shapes import shaped
from abut._torch_worlds import Step, contact_forces, rollout, step

__all__ = ["Ccd", "CcdQueries", "Closest", "Contacts", "Forces", "Step", "WeighedContacts", "ccd", "ccd_queries", "closest", "contact_forces", "contacts",
           "distances", "poses", "reduce", "rollout", "step"]


Shapes = Optional[Mapping[str, Union[Tensor, Sequence[Tensor]]]]


class Contacts(NamedTuple):
    """Contacts of a batch with leading axes (...). Outputs that were not wanted are None.

    p         (..., C, 3) position in the world [m]
    d         (..., C) signed distance [m], negative inside
    n         (..., C, 3) normal, out of the opposing body
    activity  (..., C) in [0, 1]
    status    (...) uint8: 0, or 1 for a pose that is not finite, 2 for a quaternion of length 0; rows of such poses are NaN
    """

    p: Tensor | None = None
    d: Tensor | None = None
    n: Tensor | None = None
    activity: Tensor | None = None
    status: Tensor | None = None


class WeighedContacts(NamedTuple):
    """Contacts like abut.torch.Contacts, with the weight, if "weight" was requested. There are two classes because
    torch.func.vmap takes no None.

    weight  (..., C) in [0, 1], the relevance of a contact regardless of its depth
    """

    p: Tensor | None = None
    d: Tensor | None = None
    n: Tensor | None = None
    activity: Tensor | None = None
    status: Tensor | None = None
    weight: Tensor | None = None


def _subject(pair: Pairs, kind: str, index: Any, pose1: Tensor | None, pose2: Tensor | None) -> tuple[Any, dict[str, Tensor]]:
    """Returns the subject of a call, with poses and index of one shape. Compiled programs refer to pairs by number."""
    one = isinstance(pair, Pair)
    if one and index is not None:
        raise ValueError("index is only for a list of pairs; there is one "
                         "pair")
    if not one and index is None:
        raise ValueError("a list of pairs needs index, which names the pair of each pose")
    compiled = torch.compiler.is_compiling()
    pairs: tuple[Any, ...] = (pair,) if isinstance(pair, Pair) else tuple(pair) if compiled else _list_of(pair)
    if not compiled:
        check_poses(pairs, pose1, pose2)
    pose1, pose2 = of_one_batch(pose1, pose2)
    given = {"pose1": pose1, "pose2": pose2}
    if index is not None:
        given["index"] = rows_of(index, pose1.shape[:-1], "index")
    return (Numbered([p.number for p in pairs], kind) if compiled else
            OfPairs(pairs, index is not None, pose1.shape[-1], kind)), given


def contacts(pair: Pairs, pose1: Tensor | None, pose2: Tensor | None, *, want: Sequence[str] = OUTPUTS,
             index: Any = None, shape1: Shapes = None, shape2: Shapes = None,
             follow: bool = False) -> Contacts | WeighedContacts:
    """Computes all contacts of every pose.

    pair           a Pair; or several of one context, with index (...) as the number of each pose's pair. C is the largest number
                   of slots among them; slots beyond a pair's own are 0
    pose1, pose2   (..., 6) twists (translation part first), (..., 7) positions and quaternions x, y, z, qw, qx, qy, qz, or (...,
                   4, 4) matrices; None is the identity. Leading axes are broadcast, and are those of the result
    want           any of "p", "d", "n", "activity", and "weight", which must be named. Other outputs are neither computed nor
                   kept
    shape1, shape2  tensors instead of body 1's and body 2's numbers, by the names of abut.ShapeNumbers: vertices, axes,
                    exponents, position, rotation (quaternions w, x, y, z, whose length has no effect), core_half, core_radius,
                    core_position, core_rotation, and lists of tensors plane_normals, plane_points, cloud_points, cloud_normals,
                    cloud_widths, grid_coefficients. They need one Pair, whose smoothing is used. Derivatives with respect to them
                    are sums over the poses, first derivatives only, in reverse mode
    follow         in derivatives, meshes move along with their fields, on which they must lie (shape_vjp)
    Errors: ValueError for shapes, dtypes and devices; abut.Error.
    """
    check_names(want, ALL_OUTPUTS, "want")
    names = [name for name in ALL_OUTPUTS if name in want]
    if shape1 is not None or shape2 is not None or follow:
        varied, values = shaped(pair, pose1, pose2, (shape1, shape2), index, want=want, follow=follow)
        return Contacts(**dict(zip(varied.want, values)), status=values[-1])
    made = apply("contacts", *_subject(pair, "", index, pose1, pose2), (*names, "status"))
    return (Contacts if set(names) <= set(Contacts._fields) else WeighedContacts)(**made)


def reduce(pair: Pairs, pose1: Tensor | None, pose2: Tensor | None, kind: str, *, nearest: bool = False,
           index: Any = None, shape1: Shapes = None, shape2: Shapes = None, follow: bool = False) -> Any:
    """Reduces the contacts of each pose to one number, (...), such as a distance or an energy. No manifold is stored. With
    `nearest` the result is a pair of tensors: this number, and the smallest distance of a vertex [m], which counts as
    constant.

    kind  "distance", distance or depth [m], with the derivatives of the contact that has it; "soft_distance", its smooth form
          [m]; "mean_distance" [m]; "activity" (their sum); "energy", the sum of activity max(-d, 0)^2 [m^2]; "soft_minimum" of
          the vertices' distances [m]; or, without derivatives, "minimum_distance" of these [m]
    shape1, shape2, follow  as in contacts; "soft_distance" and "minimum_distance" have no derivatives with respect to these
    """
    check_names((kind,), VALUES, "a reduction")
    if shape1 is not None or shape2 is not None or follow:
        values = shaped(pair, pose1, pose2, (shape1, shape2), index, kind=kind, nearest=nearest, follow=follow)[1]
        return (values[0], values[1].detach()) if nearest else values[0]
    apart = nearest and kind != "minimum_distance"
    made = reduced(*_subject(pair, kind, index, pose1, pose2), (kind, "minimum_distance") if apart else (kind,))
    return (made[kind], made["minimum_distance"].detach()) if nearest else made[kind]
