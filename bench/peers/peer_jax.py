"""The same formulas in JAX: jit and vmap of manifold_reference.py, float32, host to host."""
import json
import pathlib

import worker

try:
    import jax
    import numpy as np

    import problems
    from compare_jax import load_shape
    from manifold_reference import Smoothing, ee_witness, manifold, vf_project
    ABSENT = None
except ImportError as error:
    ABSENT = error.name


def witness(request):
    what, sm = request["what"], Smoothing()
    one = {"edges": lambda p, q: ee_witness(p, q, sm),
           "faces": lambda v, t: (vf_project(v, t, sm),)}[what]
    f, arguments = jax.jit(jax.vmap(one)), problems.queries(what, request["size"])

    def call():
        return [np.asarray(x) for x in f(*arguments)]
    return call, lambda found: {"precision": "f32",
                                "off_exact": problems.off_exact(what, arguments, found[0])}


def contacts(request):
    smoothing = json.loads(pathlib.Path(request["smoothing"]).read_text())
    edges, vertices = smoothing.pop("edges"), smoothing.pop("vertices")
    shapes = [load_shape(pathlib.Path(path)) for path in request["bodies"]]
    loaded, sm = np.load(request["poses"]), Smoothing(**smoothing)
    poses = [np.resize(loaded[k], (request["size"], 6)).astype(np.float32) for k in ("s1", "s2")]

    def one(s1, s2):
        found = manifold(s1, s2, *shapes, sm, *edges, *vertices)
        return [found[k] for k in ("p", "d", "n", "activity")]
    f = jax.jit(jax.vmap(one))

    def call():
        return [np.asarray(x) for x in f(*poses)]
    return call, lambda found: {"precision": "f32", "contacts": found[1].shape[1]}


if __name__ == "__main__":
    worker.serve(worker.once(lambda r: (contacts if r["what"] == "contacts" else witness)(r)), ABSENT)
