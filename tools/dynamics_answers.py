"""Golden cases of worlds: the answers to a folder's inputs, for tools/make_dynamics_golden.py. Needs jax and numpy (PyPI).

Answers are those of bench/peers/dynamics_reference.py, in float64, never abut's own. An entry that is not a number is not stated.
"""
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench" / "peers"))

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

import dynamics_reference as dr  # noqa: E402

PARAMETERS = ("mass_scale", "friction", "stiffness", "gravity")
CONTACTS = ("p", "d", "n", "activity")
NONE = float("nan")


def clean(x):
    """Converts to JSON."""
    if isinstance(x, dict):
        return {k: clean(v) for k, v in x.items()}
    if isinstance(x, (list, tuple)):
        return [clean(v) for v in x]
    return x.tolist() if isinstance(x, (np.ndarray, np.generic)) else x


# ---- answers of one world ----
def step_answers(sc, w, given, derivatives):
    """Computes everything about one step of the world w, a dict of its inputs."""
    par, q, v, u = w["par"], w["q"], w["v"], w["u"]
    q1, v1, info = dr.step(sc, q, v, u, par, w["w"], given)
    energy, linear, angular = dr.energy_momentum(sc, q, v, par)
    out = dict(M=dr.mass_matrix(sc, q, par), bias=dr.bias(sc, q, v, par), qacc_smooth=info["qacc_smooth"], qacc=info["qacc"],
               constraint=info["fc"], q1=q1, v1=v1, status=info["status"], iterations=info["iterations"], energy=energy,
               momentum=jnp.concatenate([linear, angular]))
    if info["lam"][0] is not None:
        out["multipliers"] = info["lam"][0]
    if info["lam"][2] is not None:  # for printed text: friction loss that yields
        out["yields"] = jnp.abs(info["lam"][2]) > .999 * info["blocks"][2]["f"]
    if given is None and sc.pairs:
        out["activities"] = info["contacts"]["activity"]
    if derivatives:
        A, B, P = dr.step_derivatives(sc, q, v, u, par, w["w"], given)
        out |= dict(A=A, vjp_state=w["cotangent"] @ A)
        if u.size:
            out |= dict(B=B, vjp_u=w["cotangent"] @ B)
        for k, x in P.items():
            if x.size:
                out |= {"P_" + k: x, "vjp_" + k: w["cotangent"] @ x}
    if "cotangent_qacc" in w:
        f = lambda c: w["cotangent_qacc"] @ dr.acceleration(sc, q, v, u, par, w["w"], given | c)[0]
        out |= {"qacc_vjp_" + k: x for k, x in jax.grad(f)({k: given[k] for k in CONTACTS}).items()}
    return out


def rollout_answers(sc, w, steps):
    """Computes states after every step, and the gradient of the cotangent times (q_T (-) its value, v_T)."""
    us = w.get("u_rollout", jnp.zeros((steps, 0)))

    def f(d, v, us, par):
        Q, V, S = dr.rollout(sc, dr.integrate(sc, w["q"], d), v, us, par)
        last = jnp.concatenate([dr.difference(sc, Q[-1], jax.lax.stop_gradient(Q[-1])), V[-1]])
        return w["cotangent_rollout"] @ last, (Q, V, S)
    g, (Q, V, S) = jax.grad(f, argnums=(0, 1, 2, 3), has_aux=True)(jnp.zeros(sc.nv), w["v"], us, w["par"])
    out = dict(rollout_q=Q, rollout_v=V, rollout_status=S, rollout_grad_q=g[0], rollout_grad_v=g[1])
    if us.size:
        out["rollout_grad_u"] = g[2]
    return out | {"rollout_grad_" + k: x for k, x in g[3].items() if x.size}


def world_of(sc, inputs, i):
    """Returns inputs of world i with defaults: parameters as stated in the scene, no controls, w = 0."""
    w = {k: jnp.asarray(x[i]) for k, x in inputs.items() if k not in ("owner", "opposing", "pair", "steps") and not k.startswith("par_")}
    w["par"] = dr.default_parameters(sc) | {k: jnp.asarray(inputs["par_" + k][i]) for k in PARAMETERS if "par_" + k in inputs}
    return dict(u=jnp.zeros(len(sc.actuators)), w=jnp.zeros(sc.nv)) | w


def batch(f, worlds):
    f = jax.jit(f)
    found = [f(w) for w in worlds]
    return {k: np.stack([np.asarray(x[k]) for x in found]) for k in found[0]}


def report(name, found):
    line = f"{name}: iterations {found['iterations']} status {found['status']}"
    if "multipliers" in found:
        lam = found["multipliers"][..., 0]
        line += f" slots {lam.shape[1]} with force {(lam > 1e-6 * lam.max()).sum(1)}"
    if "yields" in found:
        line += f" friction loss yields {found.pop('yields').astype(int).tolist()}"
    if "activities" in found:
        line += f" active {(found.pop('activities') > 0).sum(1)}"
    print(line, flush=True)


def stop(found, inputs):
    """Clears the answers that stopped worlds do not have, and those that the specification does not state."""
    solved = ("qacc", "constraint", "multipliers", "q1", "v1", "A", "B", "rollout_q", "rollout_v")
    mask = np.full(len(found["status"]), 63)
    for i, s in enumerate(found["status"]):
        for k, x in found.items():
            if k in ("status", "q1", "v1", "iterations") or k.endswith("status"):
                continue
            if s & 51:
                zero = s & 19 and not s & 32 and k.startswith(("A", "B", "P_", "vjp_"))
                x[i] = 0 if zero else NONE
            elif s & 8 and (k in solved or k.startswith(("P_", "vjp_", "qacc_vjp", "rollout"))):
                x[i] = NONE
        if s & 8 and not s & 51:
            found["q1"][i] = found["v1"][i] = NONE
        mask[i] = 32 if s & 32 else 16 if s & 16 else 35 if s & 3 else 63
        found["status"][i] &= mask[i]
    if (mask != 63).any():
        found["status_mask"] = mask
        with np.errstate(over="ignore"):
            held = [all(np.isfinite(np.asarray(inputs[k][i], np.float32)).all() for k in ("q", "v", "u") if k in inputs)
                    for i in range(len(mask))]
        found["status_float32"] = np.where(held, found["status"], 32)
        found["status_mask"] = np.where(held, mask, 32)
    return found


def compute(folder, inputs, derivatives=True):
    """Computes the answers of a folder with a scene.json: with given contacts if there is a p, with a rollout if that has a cotangent."""
    sc = dr.load_scene(folder / "scene.json")
    fixed = None
    if "p" in inputs:
        world = len(sc.links)
        fixed = dict(owner=np.where(inputs["owner"] < 0, world, inputs["owner"]), pair=inputs["pair"],
                     opposing=np.where(inputs["opposing"] < 0, world, inputs["opposing"]))
    given = lambda w: fixed and fixed | {k: w[k] for k in CONTACTS}
    worlds = [world_of(sc, inputs, i) for i in range(len(inputs["q"]))]
    found = batch(lambda w: step_answers(sc, w, given(w), derivatives), worlds)
    report(folder.name, found)
    if "cotangent_rollout" in inputs:
        steps = inputs["u_rollout"].shape[1] if "u_rollout" in inputs else int(inputs["steps"][0])
        found |= batch(lambda w: rollout_answers(sc, w, steps), worlds)
        stops = found["rollout_status"].max(1)
        for k in found:
            if k.startswith("rollout_grad_"):  # through a step that was not taken
                found[k][stops & 19 != 0] = NONE
        print("   rollout status", stops, flush=True)
    if fixed is None and "multipliers" in found:
        found["multipliers_world0"] = found.pop("multipliers")[0]
    return stop(found, inputs)


def is_measured(name):
    return not name.startswith(("status", "iterations")) and not name.endswith("status")


def of_worlds(name, x):
    """Returns the largest stated entry of each world."""
    x = x[None] if name.endswith("_world0") else x
    return np.abs(np.where(np.isfinite(x), x, 0)).reshape(len(x), -1).max(1, initial=0)


def write(folder, scene, inputs):
    """Writes a case. inputs: arrays by name; steps: of a rollout without controls."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "scene.json").write_text(json.dumps(clean(scene), indent=1) + "\n")
    inputs = {k: np.asarray(x) for k, x in inputs.items()}
    found = compute(folder, inputs)
    inputs.pop("steps", None)
    stops = found["status"] | found.get("rollout_status", found["status"][:, None]).max(1)
    for k, x in found.items():
        bad = [i for i in range(len(stops)) if not k.endswith("_world0") and not np.isfinite(x[i]).all()]
        assert all(stops[i] & 59 for i in bad), (folder.name, k, bad)
        sizes = of_worlds(k, x)[stops[:1 if k.endswith("_world0") else None] == 0]
        if is_measured(k) and not k.startswith(("P_", "vjp_", "rollout_grad_")) and ((sizes > 0) & (sizes < 1e-6 * sizes.max(initial=0))).any():
            print("   a world's", k, "is all but 0, of which nothing holds the digits:", sizes)
    np.savez_compressed(folder / "inputs.npz", **inputs)
    np.savez_compressed(folder / "expected.npz", **found)


def again(folder):
    """Recomputes stored inputs, such as those from outside the project: the same arrays, for the same worlds."""
    inputs, old = (dict(np.load(folder / name)) for name in ("inputs.npz", "expected.npz"))
    if "rollout_q" in old:
        inputs["steps"] = [old["rollout_q"].shape[1]]
        x = inputs["cotangent_rollout"]  # only of the first worlds
        inputs["cotangent_rollout"] = np.concatenate([x, np.zeros((len(inputs["q"]) - len(x), x.shape[1]))])
    found = compute(folder, inputs)
    found = {k: found[k][:len(x)] for k, x in old.items()}
    assert all(found[k].shape == x.shape and found[k].dtype == x.dtype for k, x in old.items()), folder
    np.savez_compressed(folder / "expected.npz", **found)


def rounded(folder):
    """Computes the error of rounding inputs to float32: answers in float64 to rounded inputs."""
    inputs = dict(np.load(folder / "inputs.npz"))
    expected = dict(np.load(folder / "expected.npz"))
    with np.errstate(over="ignore"):
        inputs = {k: x.astype(np.float32).astype(float) if x.dtype == float else x for k, x in inputs.items()}
    if "rollout_q" in expected:
        inputs["steps"] = [expected["rollout_q"].shape[1]]
    if "rollout_q" in expected and len(expected["rollout_q"]) < len(inputs["q"]):
        inputs.pop("cotangent_rollout")  # only of some worlds
    found = compute(folder, inputs)
    for k, x in expected.items():
        if k in found and is_measured(k):
            scale = of_worlds(k, x)
            error = of_worlds(k, found[k] - x) / np.where(scale > 0, scale, 1)
            print(f"   {k:24} {error.max(initial=0):.1e}  worlds {np.array2string(error, precision=1)}")
