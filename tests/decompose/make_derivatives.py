#!/usr/bin/env python3
"""Writes tests/decompose/derivatives.inl: make_derivatives.py >derivatives.inl

Each row is a random superquadric, a place near its surface, its field there (docs/dev/spec.md, section 4) and the
field's derivatives by the eleven parameters of a fit, by jax.grad in float64: the logarithms of the axes, both
exponents, a translation in its own axes and a twist of these. Tests read the numbers and need no JAX.
"""
import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)
ROWS = 48


def cross(w):
    return jnp.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])


def rotation(w):
    """By Rodrigues' formula; of a vector that is not 0."""
    angle = jnp.linalg.norm(w)
    k = cross(w / angle)
    return jnp.eye(3) + jnp.sin(angle) * k + (1.0 - jnp.cos(angle)) * k @ k


def field(step, axes, exponents, turn, centre, x):
    a, e = axes * jnp.exp(step[:3]), exponents + step[3:5]
    # To first order, which is all that a derivative at 0 sees.
    r = rotation(turn) @ (jnp.eye(3) + cross(step[8:]))
    y = r.T @ (x - centre - rotation(turn) @ step[5:8])
    q = jnp.log((y / a) ** 2 + 1e-12)
    across = e[1] * jnp.logaddexp(q[0] / e[1], q[1] / e[1])
    h = jnp.exp(0.5 * e[0] * jnp.logaddexp(across / e[0], q[2] / e[0]))
    return jnp.sqrt(y @ y + 1e-12 * axes @ axes) * (1.0 - 1.0 / h)


def main():
    rng = np.random.default_rng(4)
    print("/* Made by make_derivatives.py: axes, exponents, rotation vector, centre, place, field, derivatives. */")
    made = 0
    while made < ROWS:
        axes, exponents = rng.uniform(0.05, 0.2, 3), rng.uniform(0.1, 1.9, 2)
        turn, centre = rng.uniform(-1.5, 1.5, 3), rng.uniform(-0.1, 0.1, 3)
        x = centre + np.asarray(rotation(turn)) @ (axes * rng.uniform(-1.3, 1.3, 3))
        given = tuple(map(jnp.asarray, (axes, exponents, turn, centre, x)))
        value = float(field(jnp.zeros(11), *given))
        if abs(value) > 0.06:  # where tanh is flat derivatives of a fit tell nothing
            continue
        slopes = jax.grad(field)(jnp.zeros(11), *given)
        row = np.concatenate([axes, exponents, turn, centre, x, [value], slopes])
        print("{" + ", ".join(f"{v:.17g}" for v in row) + "},")
        made += 1


if __name__ == "__main__":
    main()
