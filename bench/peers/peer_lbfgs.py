"""L-BFGS of jaxopt on a logarithmic barrier of the witness problems: jit and vmap, float32.

Barrier of weight 1e-3, which makes the minimiser a smooth function of the query; from the middle, at most 30
iterations, gradient to 1e-3. The backtracking line search is several times faster here than jaxopt's own
choice, "zoom"; the best one for it is taken. "converged" is the fraction whose gradient met the tolerance.
"""
import worker

try:
    import jax
    import jax.numpy as jnp
    import jaxopt
    import numpy as np

    import problems
    ABSENT = None
except ImportError as error:
    ABSENT = error.name

WEIGHT, TOLERANCE = 1e-3, 1e-3


def barrier(x, quadratic, G, h):
    (a, b, d), (c1, c2) = quadratic
    slack = h - G @ x
    allowed = jnp.all(slack > 0)
    logs = jnp.sum(jnp.log(jnp.where(slack > 0, slack, 1)))
    cost = 0.5 * (a * x[0] ** 2 + d * x[1] ** 2) + b * x[0] * x[1] + c1 * x[0] + c2 * x[1]
    return jnp.where(allowed, cost - WEIGHT * logs, jnp.inf)


def witness(request):
    what = request["what"]
    G, h, start = (jnp.asarray(x, jnp.float32)
                   for x in (problems.BOX if what == "edges" else problems.TRIANGLE))
    arguments = problems.queries(what, request["size"])
    solver = jaxopt.LBFGS(barrier, maxiter=30, tol=TOLERANCE, linesearch="backtracking",
                          history_size=5, implicit_diff=False)

    def one(first, second):
        x, state = solver.run(start, problems.quadratic(what, first, second), G, h)
        return problems.points(what, first, second, x), state.error <= TOLERANCE
    f = jax.jit(jax.vmap(one))

    def call():
        return [np.asarray(x) for x in f(*arguments)]
    return call, lambda found: {"precision": "f32",
                                "off_exact": problems.off_exact(what, arguments, found[0]),
                                "converged": float(np.mean(found[1]))}


if __name__ == "__main__":
    worker.serve(worker.once(witness), ABSENT)
