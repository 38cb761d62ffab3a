"""MJX, MuJoCo in JAX: mjx.kinematics and mjx.collision, jit and vmap, float32.

first_call_s is nearly all compilation: every pair of hulls is a function of its own. "contacts" are slots,
four for each pair of hulls, of which most are apart.
"""
import worker

try:
    import jax
    import mujoco
    import numpy as np
    from mujoco import mjx

    import hulls
    ABSENT = None
except ImportError as error:
    ABSENT = error.name


def contacts(request):
    model = mujoco.MjModel.from_xml_string(hulls.model_xml(request["bodies"], request["hulls"]))
    put, data = mjx.put_model(model), mjx.make_data(model)
    poses = hulls.positions(request["poses"], request["size"]).astype(np.float32)

    def one(pose):
        moved = mjx.collision(put, mjx.kinematics(put, data.replace(qpos=pose)))
        contact = getattr(moved, "_impl", moved).contact
        return contact.dist, contact.pos, contact.frame
    f = jax.jit(jax.vmap(one))

    def call():
        return [np.asarray(x) for x in f(poses)]
    return call, lambda found: {"precision": "f32", "contacts": found[0].shape[1]}


if __name__ == "__main__":
    worker.serve(worker.once(contacts), ABSENT)
