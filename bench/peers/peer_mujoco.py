"""MuJoCo's C engine by its Python binding, pose after pose on one core: hard contacts, no gradient.

"contacts" is mj_kinematics and mj_collision, from qpos to contacts, as far as a manifold goes, with a turn
of Python's loop for each pose. "forward" is mj_forward: inertias, constraints and their solver as well.
"""
import worker

try:
    import mujoco
    import numpy as np

    import hulls
    ABSENT = None
except ImportError as error:
    ABSENT = error.name


def contacts(request):
    model = mujoco.MjModel.from_xml_string(hulls.model_xml(request["bodies"], request["hulls"]))
    data, poses = mujoco.MjData(model), hulls.positions(request["poses"], request["size"])
    found = np.zeros(len(poses))

    def call():
        for i, pose in enumerate(poses):
            data.qpos[:] = pose
            if request["what"] == "forward":
                mujoco.mj_forward(model, data)
            else:
                mujoco.mj_kinematics(model, data)
                mujoco.mj_collision(model, data)
            found[i] = data.ncon
    return call, lambda _: {"precision": "f64", "contacts": float(found.mean())}


if __name__ == "__main__":
    worker.serve(worker.once(contacts), ABSENT)
