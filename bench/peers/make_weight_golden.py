#!/usr/bin/env python3
"""Write what the reference says of weights in golden cases: python bench/peers/make_weight_golden.py CASE_FOLDER...

Each folder gets a weights.npz of weight (N, C), distance and soft_distance (N) at their default
temperature, gradients of both and of the mean weight (distance_g1 ... weight_g2, each (N, 6)), and
jvp_weight along the case's tangent, which is repeated. Where in any pose two contacts are nearest,
equal to rounding, the gradient of distance is left out. Needs jax and numpy (PyPI).
"""
import json
import pathlib
import sys

import jax
jax.config.update("jax_enable_x64", True)
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

from compare_jax import load_shape  # noqa: E402
from manifold_reference import Smoothing, distance, manifold, soft_distance  # noqa: E402

TEMPERATURE = 1 / 16  # of penetration
TIE = 1e-13           # [m]


def answers(folder):
    smoothing = json.loads((folder / "smoothing.json").read_text())
    kept = *smoothing.pop("edges"), *smoothing.pop("vertices")
    sm = Smoothing(**smoothing)
    shapes = [load_shape(folder / f"{name}.body.json", np.float64) for name in "ab"]
    with np.load(folder / "poses.npz") as file:
        poses = [jnp.asarray(file[name], jnp.float64) for name in ("s1", "s2")]
    with np.load(folder / "expected.npz") as file:
        expected = dict(file)

    def contacts(x, y):
        out = manifold(x, y, *shapes, sm, *kept, weigh=True)
        return out["d"], out["weight"]

    def reduced(x, y):
        d, weight = contacts(x, y)
        return {"distance": distance(d, weight), "soft_distance": soft_distance(d, weight, TEMPERATURE * sm.penetration),
                "weight": weight.mean()}
    each = lambda f: jax.jit(jax.vmap(f))
    d, weight = each(contacts)(*poses)
    assert np.abs(d - expected["d"]).max() < 1e-9, "distances are not those of the case"
    values = each(reduced)(*poses)
    slopes = {name: each(jax.grad(lambda x, y, name=name: reduced(x, y)[name], (0, 1)))(*poses) for name in values}
    along = [jnp.broadcast_to(t, poses[0].shape) for t in expected["tangent"]]
    push = each(lambda x, y, u, v: jax.jvp(lambda a, b: contacts(a, b)[1], (x, y), (u, v))[1])
    found = {"weight": weight, "distance": values["distance"], "soft_distance": values["soft_distance"],
             "jvp_weight": push(*poses, *along), "tangent": expected["tangent"]}
    near = np.sort(np.where(weight >= 0.5, d, np.inf), 1)
    if (near[:, 1] - near[:, 0]).min() < TIE:  # whose gradient it is is a matter of rounding
        slopes.pop("distance")
    for name, (g1, g2) in slopes.items():
        found |= {f"{name}_g1": g1, f"{name}_g2": g2}
    return {name: np.asarray(x) for name, x in found.items()}


for name in sys.argv[1:]:
    case = pathlib.Path(name)
    all_answers = answers(case)
    np.savez_compressed(case / "weights.npz", **all_answers)
    w = all_answers["weight"]
    print(case.name, w.shape, f"weights above 1/2 {(w > .5).mean():.3f}, between {((w > 0) & (w < 1)).mean():.4f},",
          "distances", np.round(all_answers["distance"], 4)[:4], flush=True)
