#!/usr/bin/env python3
"""Trains gymnasium's half_cheetah to run, by short-horizon actor-critic (SHAC) with abut's gradients.

  cheetah.py [--device NAME ...] [--iterations K] [--seed I] [--save RUN.npz]
  cheetah.py --plot OUT.png RUN.npz ...

An actor drives 64 worlds for 8 controls of 50 ms. Its loss is the discounted reward on this way and
the critic's value at its end. The loss is differentiated through every step of the worlds. The critic
then learns the values of these states. The reward is gymnasium's, and in training lying on the back has
a price. The trained actor is judged in MuJoCo, where it runs gymnasium's model for 1000 controls and gets
gymnasium's reward. The program needs JAX, MuJoCo, and gymnasium's wheel for the model.
"""
import argparse
import importlib.util
import pathlib
import sys
import time

import jax
import jax.numpy as jnp
import mujoco
import numpy as np

import abut
import abut.jax as aj
import abut.mujoco
import common

WORLDS, CONTROLS, SUBSTEPS = 64, 8, 5  # worlds, controls of a short rollout, steps of a control
DISCOUNT, TRACE = 0.99, 0.95  # gamma, and lambda of the critic's targets
WIDTH, SPREAD = 64, -1.0  # of hidden layers; logarithm of the first noise on controls
LONGEST = 10.0  # the longest gradient of a world's mean gain by a state
RATE, CLIP = 2e-3, 1.0  # of Adam, at first; the longest gradient of weights
EPOCHS, BATCHES = 16, 4  # how often the critic sees an iteration's states, and in how many parts
FOLLOW = 0.2  # the share of the critic that its slow copy takes over in an iteration
RESET = 1 / 16  # the share of worlds that begin anew in an iteration
LYING = 2.0  # the price of lying on the back, in training only
NOISE, COST, EPISODE = 0.1, 0.1, 1000  # gymnasium's: spread of starts, price of controls, controls


def model_file():
    """The model in gymnasium's wheel, which is not imported and so needs none of its dependencies."""
    found = importlib.util.find_spec("gymnasium")
    if found is None:
        sys.exit("the half_cheetah model is not there: pip install --no-deps gymnasium")
    return pathlib.Path(found.submodule_search_locations[0]) / "envs/mujoco/assets/half_cheetah.xml"


# ---- networks, and how they learn ----

def network(rng, inputs, outputs):
    """Weights of two hidden layers, and of an output layer, which begins small."""
    sizes = (inputs, WIDTH, WIDTH, outputs)
    return [(np.float32(rng.normal(size=(m, n)) * (0.01 if n == outputs else 1.0) / np.sqrt(m)), np.zeros(n, np.float32))
            for m, n in zip(sizes, sizes[1:])]


def apply(layers, x, xp=jnp):
    for W, b in layers[:-1]:
        x = x @ W + b
        x = xp.where(x > 0, x, xp.expm1(xp.minimum(x, 0.0)))
        x = (x - x.mean(-1, keepdims=True)) / xp.sqrt(x.var(-1, keepdims=True) + 1e-5)
    return x @ layers[-1][0] + layers[-1][1]


def beginner(scene, seed):
    """What is learned: the actor and the critic, each with Adam's numbers, the critic's slow copy, and the count,
    mean and squared deviations of all observations; then the states of the worlds and the source of chance."""
    rng, inputs = np.random.default_rng(seed), 2 * scene.nq - 1
    actor, critic = (network(rng, inputs, scene.nu), np.full(scene.nu, SPREAD, np.float32)), network(rng, inputs, 1)
    zeros = [(jax.tree.map(np.zeros_like, x),) * 2 + (np.float32(0),) for x in (actor, critic)]
    statistics = np.float32(1), np.zeros(inputs, np.float32), np.ones(inputs, np.float32)
    return (actor, zeros[0], critic, zeros[1], critic, statistics), *starts(scene, rng), rng


def adam(weights, state, gradient, rate):
    """One step of Adam, whose gradient is shortened to CLIP."""
    first, second, count = state
    norm, count = jnp.sqrt(sum(jnp.sum(g ** 2) for g in jax.tree.leaves(gradient))), count + 1
    gradient = jax.tree.map(lambda g: jnp.where(jnp.isfinite(norm), g / jnp.maximum(1.0, norm / CLIP), 0.0), gradient)
    first = jax.tree.map(lambda m, g: 0.7 * m + 0.3 * g, first, gradient)
    second = jax.tree.map(lambda s, g: 0.95 * s + 0.05 * g * g, second, gradient)
    return jax.tree.map(lambda x, m, s: x - rate * m / (1 - 0.7 ** count) / (jnp.sqrt(s / (1 - 0.95 ** count)) + 1e-8),
                        weights, first, second), (first, second, count)


def observe(q, v, xp=jnp):
    """What gymnasium's environment observes: all but the way that was run."""
    return xp.concatenate([q[..., 1:], v], -1)


def seen(statistics, x, xp=jnp):
    """Observations of mean 0 and variance 1."""
    count, mean, squares = statistics
    return xp.clip((x - mean) / xp.sqrt(squares / count + 1e-4), -10, 10)


def merged(statistics, x):
    """The statistics with further observations (N, inputs)."""
    count, mean, squares = statistics
    total, delta = count + len(x), x.mean(0) - mean
    return total, mean + delta * len(x) / total, squares + len(x) * (x.var(0) + delta ** 2 * count / total)


# ---- SHAC ----

def shorten(_, gradient):
    """Each world's gradient by a state, no longer than LONGEST: few impacts are steep, and would outweigh the rest."""
    worlds = gradient[0].shape[0]
    norm = jnp.sqrt(sum((g ** 2).sum(-1, keepdims=True) for g in gradient)) * worlds / LONGEST
    return (tuple(jnp.where(jnp.isfinite(norm), g / jnp.maximum(norm, 1.0), 0.0) for g in gradient),)


bounded = jax.custom_vjp(lambda state: state)  # whose gradient is shortened
bounded.defvjp(lambda state: (state, None), shorten)


def short_rollout(actor, critic, statistics, scene, q, v, noise):
    """The actor's loss; then the last states, and observations before, rewards and observations after each control."""
    layers, spread = actor

    def control(state, noise):
        q, v = bounded(state)
        q = q.at[:, 0].set(0.0)  # speeds are differences of places, whose gradients would cancel only at the end
        before = observe(q, v)
        u = jnp.tanh(apply(layers, seen(statistics, before)) + jnp.exp(spread) * noise)
        made = aj.step(scene, q, v, u, steps=SUBSTEPS)
        reward = made.q[:, 0] / (SUBSTEPS * scene.timestep) - COST * (u ** 2).sum(-1) - LYING * (1 - jnp.cos(made.q[:, 2]))
        return (made.q, made.v), (before, reward, observe(made.q, made.v))

    (q, v), (before, reward, after) = jax.lax.scan(control, (q, v), noise)
    gain = DISCOUNT ** jnp.arange(CONTROLS) @ reward + DISCOUNT ** CONTROLS * apply(critic, seen(statistics, after[-1]))[:, 0]
    return -gain.mean() / CONTROLS, (q, v, before, reward, after)


def learn_values(critic, state, slow, statistics, before, reward, after, batches, rate):
    """The critic learns TD(lambda) targets, whose values are those of its slow copy."""
    value = apply(slow, seen(statistics, after))[..., 0]

    def back(later, at):
        target = at[0] + DISCOUNT * ((1 - TRACE) * at[1] + TRACE * later)
        return target, target

    target = jax.lax.scan(back, value[-1], (reward, value), reverse=True)[1].ravel()
    x = seen(statistics, before).reshape(len(target), -1)
    slope = jax.grad(lambda critic, rows: ((apply(critic, x[rows])[:, 0] - target[rows]) ** 2).mean())

    def learn(both, rows):
        return adam(*both, slope(both[0], rows), rate), None

    return jax.lax.scan(learn, (critic, state), batches)[0]


def iteration_of(scene):
    """One iteration of SHAC as a compiled function."""
    @jax.jit
    def iterate(learner, q, v, chance, rate):
        actor, actor_adam, critic, critic_adam, slow, statistics = learner
        gradient, (q, v, *ways) = jax.grad(short_rollout, has_aux=True)(actor, slow, statistics, scene, q, v, chance["noise"])
        actor, actor_adam = adam(actor, actor_adam, gradient, rate)
        critic, critic_adam = learn_values(critic, critic_adam, slow, statistics, *ways, chance["batches"], rate)
        slow = jax.tree.map(lambda s, c: (1 - FOLLOW) * s + FOLLOW * c, slow, critic)
        statistics = merged(statistics, ways[0].reshape(-1, ways[0].shape[-1]))
        anew = chance["anew"] | (jnp.cos(q[:, 2:3]) < 0) | ~jnp.isfinite(v).all(-1, keepdims=True)
        q, v = jnp.where(anew, chance["q"], q), jnp.where(anew, chance["v"], v)
        return (actor, actor_adam, critic, critic_adam, slow, statistics), q, v

    return iterate


def starts(scene, rng):
    """Gymnasium's starts."""
    q = scene.start() + rng.uniform(-NOISE, NOISE, (WORLDS, scene.nq))
    return q.astype(np.float32), (NOISE * rng.normal(size=(WORLDS, scene.nv))).astype(np.float32)


def chances(scene, rng):
    """All that chance decides in an iteration: noise, rows of the critic's batches, worlds that begin anew, where."""
    q, v = starts(scene, rng)
    rows = np.concatenate([rng.permutation(WORLDS * CONTROLS).reshape(BATCHES, -1) for _ in range(EPOCHS)])
    return {"noise": rng.normal(size=(CONTROLS, WORLDS, scene.nu)).astype(np.float32), "batches": rows, "q": q, "v": v,
            "anew": rng.random((WORLDS, 1)) < RESET}


def judge(model, learner, seed=0, controls=EPISODE):
    """One run of the actor in MuJoCo, without noise: its return, and its states after each control."""
    rng, data = np.random.default_rng(seed), mujoco.MjData(model)
    data.qpos[:] += rng.uniform(-NOISE, NOISE, model.nq)
    data.qvel[:] = NOISE * rng.normal(size=model.nv)
    (layers, _), statistics = jax.tree.map(np.asarray, (learner[0], learner[-1]))
    total, q, v = 0.0, [data.qpos.copy()], [data.qvel.copy()]
    for _ in range(controls):
        data.ctrl[:] = np.tanh(apply(layers, seen(statistics, observe(data.qpos, data.qvel, np), np), np))
        mujoco.mj_step(model, data, nstep=SUBSTEPS)
        total += (data.qpos[0] - q[-1][0]) / (SUBSTEPS * model.opt.timestep) - COST * (data.ctrl @ data.ctrl)
        q.append(data.qpos.copy()), v.append(data.qvel.copy())
    return total, np.array(q), np.array(v)


def train(scene, model, iterations, seed, every):
    """The learner, and the curve: iterations, seconds, and the return of one run in MuJoCo."""
    learner, q, v, rng = beginner(scene, seed)
    iterate, begin, curve = iteration_of(scene), time.perf_counter(), []
    for k in range(iterations + 1):
        if k % every == 0 or k == iterations:
            curve.append((k, time.perf_counter() - begin, judge(model, learner)[0]))
            print("iteration {}, {:.0f} s: a return of {:.0f} in MuJoCo".format(*curve[-1]), flush=True)
        if k < iterations:
            learner, q, v = iterate(learner, q, v, chances(scene, rng), np.float32(RATE * max(1 - k / iterations, 0.1)))
    return learner, np.array(curve)


def plot(path, files):
    """Curves of runs that were kept."""
    figure, axes = common.pyplot().subplots(figsize=(5.6, 3.2), dpi=90, layout="constrained")
    for file, colour in zip(files, ("#30638e", "#d1495b", "#edae49", "#66a182")):
        axes.plot(*np.load(file)["curve"][:, [0, -1]].T, color=colour, linewidth=1.4, label=pathlib.Path(file).stem)
    axes.set(xlabel="iterations", ylabel="return in MuJoCo")
    axes.legend(frameon=False)
    figure.savefig(path)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("runs", nargs="*", metavar="RUN.npz", help="runs that were kept, to draw with --plot")
    parser.add_argument("--device", nargs="+", help="of abut.devices(), or host")
    parser.add_argument("--iterations", type=int, default=1000)
    parser.add_argument("--every", type=int, default=20, help="iterations from one run in MuJoCo to the next")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--save", metavar="RUN.npz", help="keep the curve and 2 s of a run, and RUN.scene.json beside it")
    parser.add_argument("--plot", metavar="OUT.png", help="draw the curves of runs; needs matplotlib")
    given = parser.parse_args()
    if given.plot:
        return plot(given.plot, given.runs)
    model = mujoco.MjModel.from_xml_path(str(model_file()))
    scene = abut.from_mujoco(model, abut.Context(given.device))
    learner, curve = train(scene, model, given.iterations, given.seed, given.every)
    runs = [judge(model, learner, seed) for seed in range(1, 6)]
    print(f"seed {given.seed}: returns of {', '.join(f'{run[0]:.0f}' for run in runs)} in MuJoCo, {curve[0, -1]:.0f} before; "
          f"{curve[-1, 1]:.0f} s, of which the processor computed {time.process_time():.0f} s")
    if given.save:
        path, (q, v) = pathlib.Path(given.save), (x[:41] for x in runs[0][1:])
        abut.mujoco.write(model, path.with_suffix(".scene.json"))
        np.savez(path, curve=curve, returns=[run[0] for run in runs], q=np.float32(q[:, None]), v=np.float32(v[:, None]),
                 time=SUBSTEPS * model.opt.timestep * np.arange(len(q)), status=np.zeros(1, np.uint32))


if __name__ == "__main__":
    main()
