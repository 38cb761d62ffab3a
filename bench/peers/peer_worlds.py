"""Steps and transition matrices of worlds by MuJoCo's C engine, a thread a core, and steps by MJX.

"step": mujoco.rollout, whose threads take no turn of Python's. "transition": mjd_transitionFD, central
differences of 1e-6, MuJoCo's own A of a step, on threads that leave Python's lock meanwhile. "mjx": jit
and vmap of mjx.step, float32; first_call_s is nearly all compilation. All begin without a last acceleration.
"""
import concurrent.futures

import worker

try:
    import mujoco
    import mujoco.rollout
    import numpy as np
    ABSENT = None
except ImportError as error:
    ABSENT = error.name

DIFFERENCE = 1e-6


def states(request):
    with np.load(request["states"]) as file:
        return [np.resize(file[name], (request["size"], file[name].shape[1])) for name in "qv"]


def contacts_of(model, q):
    """Mean number over some of the states."""
    data, found = mujoco.MjData(model), []
    for row in q[:256]:
        data.qpos[:] = row
        mujoco.mj_forward(model, data)
        found.append(data.ncon)
    return float(np.mean(found))


def step(request):
    model = mujoco.MjModel.from_xml_path(request["model"])
    q, v = states(request)
    begin = np.concatenate([np.zeros((len(q), 1)), q, v], 1)
    data = [mujoco.MjData(model) for _ in range(request["threads"])]
    pool = mujoco.rollout.Rollout(nthread=request["threads"])
    contacts = contacts_of(model, q)

    def call():
        return pool.rollout(model, data, begin, nstep=request["steps"], skip_checks=False)
    return call, lambda _: {"precision": "f64", "contacts": contacts}


def transition(request):
    model = mujoco.MjModel.from_xml_path(request["model"])
    q, v = states(request)
    nv, threads = model.nv, request["threads"]
    data = [mujoco.MjData(model) for _ in range(threads)]
    A = np.zeros((len(q), 2 * nv, 2 * nv))
    pool = concurrent.futures.ThreadPoolExecutor(threads)

    def some(first):
        of = data[first]
        for i in range(first, len(q), threads):
            of.qpos[:], of.qvel[:], of.qacc_warmstart[:] = q[i], v[i], 0
            mujoco.mjd_transitionFD(model, of, DIFFERENCE, True, A[i], None, None, None)

    def call():
        list(pool.map(some, range(threads)))
    return call, lambda _: {"precision": "f64"}


def mjx_step(request):
    import jax
    from mujoco import mjx
    model = mujoco.MjModel.from_xml_path(request["model"])
    put, data = mjx.put_model(model), mjx.make_data(model)
    q, v = (x.astype(np.float32) for x in states(request))
    f = jax.jit(jax.vmap(lambda q, v: (lambda d: (d.qpos, d.qvel))(mjx.step(put, data.replace(qpos=q, qvel=v)))))

    def call():
        return [np.asarray(x) for x in f(q, v)]
    return call, lambda _: {"precision": "f32"}


MAKE = {"step": step, "transition": transition, "mjx": mjx_step}

if __name__ == "__main__":
    worker.serve(worker.once(lambda request: MAKE[request["what"]](request)), ABSENT)
