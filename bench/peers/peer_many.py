"""Steps of worlds of many bodies by abut, MuJoCo's C engine and MJX: what many.py asks for, within a time that it states.

A request has "engine", "model" (the scene, or the MJCF file), "states" (settled starts), "size" worlds, "settled" steps, "seconds" and, of
MuJoCo, "threads", of abut, "device" and "build". Each engine first goes on by that many settled steps of its own, of the starts that differ. Then as many steps a
call as last about a third of `seconds`, and calls until that is over. Times are from host memory to host memory.
"""
import os
import resource
import sys
import time

import worker

try:
    import numpy as np
    ABSENT = None
except ImportError as error:
    ABSENT = error.name

KEPT = {}  # engine and model -> stepper: steps -> nothing; what is counted: () -> dict


def begin(request):
    """The starts that differ, of which a batch is made by `repeated`."""
    with np.load(request["states"]) as file:
        return [file[name][:request["size"]] for name in "qv"]


def repeated(request, x):
    return np.resize(x, (request["size"], x.shape[1]))


def of_abut(request):
    sys.path.insert(0, os.path.join(request["build"], "python"))
    import abut
    scene = abut.Context(request["device"], precision="f32").scene(request["model"])
    q, v = (x.astype(np.float32) for x in begin(request))
    at = scene.step(q, v, steps=request["settled"])
    start = {name: repeated(request, getattr(at, name)) for name in "qvw"}
    seen = [at]

    def steps(count):
        seen[0] = scene.step(**start, steps=count)
    return steps, lambda: {"precision": "f32", "iterations": float(np.mean(seen[0].iterations))}


def of_mujoco(request):
    import mujoco
    import mujoco.rollout
    model, threads = mujoco.MjModel.from_xml_path(request["model"]), request["threads"]
    q, v = begin(request)
    data = [mujoco.MjData(model) for _ in range(threads)]
    pool = mujoco.rollout.Rollout(nthread=threads)
    full = mujoco.mjtState.mjSTATE_FULLPHYSICS
    states = np.zeros((len(q), mujoco.mj_stateSize(model, full)))
    states[:, 1:1 + model.nq], states[:, 1 + model.nq:1 + model.nq + model.nv] = q, v
    states = repeated(request, pool.rollout(model, data, states, nstep=request["settled"])[0][:, -1])

    def steps(count):
        pool.rollout(model, data, states, nstep=count, skip_checks=False)

    def counted():
        contacts, iterations, one = [], [], data[0]
        for state in states[:64]:
            mujoco.mj_resetData(model, one)
            mujoco.mj_setState(model, one, state, full)
            for _ in range(2):  # the first has no last acceleration to begin from
                mujoco.mj_step(model, one)
            contacts.append(one.ncon)
            iterations.append(int(max(one.solver_niter)))  # of the island that takes most
        return {"precision": "f64", "contacts": float(np.mean(contacts)), "iterations": float(np.mean(iterations))}
    return steps, counted


def of_mjx(request):
    import jax
    import mujoco
    try:
        from mujoco import mjx
    except ImportError as error:  # which names mujoco
        raise ImportError(name="mujoco-mjx") from error
    model = mujoco.MjModel.from_xml_path(request["model"])
    put, data = mjx.put_model(model), mjx.make_data(model)
    q, v = (repeated(request, x).astype(np.float32) for x in begin(request))  # another size would be compiled anew

    @jax.jit
    def roll(q, v, count):
        one = jax.vmap(lambda q, v: jax.lax.fori_loop(0, count, lambda _, d: mjx.step(put, d), data.replace(qpos=q, qvel=v)))
        d = one(q, v)
        return d.qpos, d.qvel
    q, v = (np.asarray(x) for x in roll(q, v, request["settled"]))

    def steps(count):
        [np.asarray(x) for x in roll(q, v, count)]
    return steps, lambda: {"precision": "f32"}


ENGINES = {"abut": of_abut, "mujoco": of_mujoco, "mjx": of_mjx}


def answer(request):
    try:
        return measured(request)
    except ImportError as error:
        return {"absent": error.name}


def measured(request):
    key = tuple(sorted((k, str(v)) for k, v in request.items() if k != "seconds"))
    first = time.perf_counter()
    if key not in KEPT:
        KEPT.clear()  # scenes of thousands of worlds take much memory
        KEPT[key] = ENGINES[request["engine"]](request)
        KEPT[key][0](1)
    steps, counted = KEPT[key]
    first = time.perf_counter() - first
    begun = time.perf_counter()
    steps(1)
    count = max(1, min(1000, int(request["seconds"] / 3 / max(1e-9, time.perf_counter() - begun))))
    seconds, cpu = [], []
    begun = time.perf_counter()
    while not seconds or (time.perf_counter() - begun < request["seconds"] and len(seconds) < 100):
        at, busy = time.perf_counter(), time.process_time()
        steps(count)
        seconds.append(time.perf_counter() - at)
        cpu.append(time.process_time() - busy)
    of = count * request["size"]
    k = sorted(range(len(seconds)), key=seconds.__getitem__)[len(seconds) // 2]
    return {"seconds": seconds[k], "steps": count, "steps_per_s": of / seconds[k], "cpu_us": 1e6 * cpu[k] / of, "first_call_s": first,
            "peak_MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, **counted()}


if __name__ == "__main__":
    worker.serve(answer, ABSENT)
