"""qpax, a differentiable interior-point solver, on the witness problems: jit and vmap.

In float64 and at its own defaults, tolerance 1e-5: in float32 its default backend keeps slacks above
3e-4, never meets that tolerance and runs all of its 30 iterations. "converged" is the fraction of queries
that it says met it.
"""
import worker

try:
    import jax
    import jax.numpy as jnp
    import numpy as np
    import qpax

    import problems
    jax.config.update("jax_enable_x64", True)
    ABSENT = None
except ImportError as error:
    ABSENT = error.name


def witness(request):
    what = request["what"]
    G, h, _ = (jnp.asarray(x, float) for x in (problems.BOX if what == "edges" else problems.TRIANGLE))
    arguments = problems.queries(what, request["size"], np.float64)

    def one(first, second):
        (a, b, d), (c1, c2) = problems.quadratic(what, first, second)
        x, _, _, _, converged, _ = qpax.solve_qp(jnp.array([[a, b], [b, d]]), jnp.array([c1, c2]),
                                                 jnp.zeros((0, 2)), jnp.zeros(0), G, h)
        return problems.points(what, first, second, x), converged
    f = jax.jit(jax.vmap(one))

    def call():
        return [np.asarray(x) for x in f(*arguments)]
    return call, lambda found: {"precision": "f64",
                                "off_exact": problems.off_exact(what, arguments, found[0]),
                                "converged": float(np.mean(found[1]))}


if __name__ == "__main__":
    worker.serve(worker.once(witness), ABSENT)
