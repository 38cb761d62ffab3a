#!/usr/bin/env python3
"""Draws the pictures of docs/spring.md: tools/spring_pictures.py [OUT] [--only spheres|box|pushing] [--device NAME].

  PYTHONPATH=build/python python3 tools/spring_pictures.py

spring-spheres.png  the force between two spheres over a plane and along an approach, beside MuJoCo's
spring-box.png      the field of a box in a plane at four temperatures, of 8 points and of 32
spring-pushing.png  five sequences of strokes at a T, where clouds of 26 and 4,114 points end and where MuJoCo's boxes do

All that is drawn of springs is computed anew in float64, and compared with the golden answers where these have it. OUT: docs.
Needs NumPy and matplotlib, spheres MuJoCo too; the build does not run it. A minute.
"""
import argparse
import json
import pathlib
import sys

import matplotlib
import numpy as np

import abut

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402  (the backend has to be chosen first)

ROOT = pathlib.Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "tests" / "golden-dynamics"
BLUE, ORANGE, RED, GREY = "#30638e", "#e08e1a", "#d1495b", "#8d99a6"
DPI = 110
RADII = 0.1, 0.05  # [m], the two spheres
SHARP, SMOOTH = "sharp", "smooth"  # of the golden answers: default temperatures, and 8 times those
STIFFNESS, MASS = 5000.0, 1.0  # [N/m] of springs and of MuJoCo's contacts; [kg] of MuJoCo's sphere


def arrays_of(case, name):
    with np.load(GOLDEN / f"spring-{case}" / f"{name}.npz") as file:
        return {key: file[key] for key in file.files}


def check(what, got, wanted, most):
    off = np.abs(got - wanted).max()
    if not off <= most:
        sys.exit(f"{what} is off the golden answers by {off:g}")


def save(figure, path):
    figure.savefig(path, dpi=DPI)
    print(f"{path}: {path.stat().st_size // 1000} kB")


def plain(axes):
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


# ---- two spheres ----
def cloud_of_body(case, name):
    folder = GOLDEN / f"spring-{case}"
    words = json.loads((folder / f"{name}.body.json").read_text()) if (folder / f"{name}.body.json").exists() else {}
    return abut.load_cloud(folder / f"{name}.obj", eps1=words.get("aopc", {}).get("eps1", 0.0))


def springs_on_b(clouds, places, temperatures, context):
    """Returns forces on the second sphere (N, 3), both at rest, the first at the origin."""
    poses = np.concatenate([places, np.tile([1.0, 0, 0, 0], (len(places), 1))], 1)
    made = abut.springs(*clouds, poses[:1] * [0, 0, 0, 1, 1, 1, 1], poses, k=STIFFNESS, eps2=temperatures[0],
                        eps3=temperatures[1], context=context)
    return made.wrench2[:, :3]


def mujoco_on_b(places):
    """Returns forces of MuJoCo's contact, of the same stiffness, on the second sphere, which has three slides."""
    import mujoco
    slides = "".join(f'<joint type="slide" axis="{axis}"/>' for axis in ("1 0 0", "0 1 0", "0 0 1"))
    model = mujoco.MjModel.from_xml_string(f"""<mujoco><option gravity="0 0 0"/>
      <default><geom type="sphere" solref="{-STIFFNESS / MASS} -100" solimp="0.95 0.95 0.001"/></default><worldbody>
      <geom size="{RADII[0]}"/><body>{slides}<inertial pos="0 0 0" mass="{MASS}" diaginertia="0.001 0.001 0.001"/>
      <geom size="{RADII[1]}"/></body></worldbody></mujoco>""")
    data = mujoco.MjData(model)
    forces = []
    for place in places:
        data.qpos[:], data.qvel[:] = place, 0
        mujoco.mj_forward(model, data)
        forces.append(data.qfrc_constraint.copy())
    return np.array(forces)


def map_of(axes, places, forces, title):
    """Draws magnitudes as colours and directions as arrows over a square of places."""
    side = round(len(places) ** 0.5)
    size = np.linalg.norm(forces, axis=1)
    line = places[::side, 0]
    picture = axes.contourf(line, line, size.reshape(side, side).T, np.linspace(0, 750, 16), cmap="Blues")
    some = (size > 1e-3) & (np.arange(len(size)) // side % 4 == 0) & (np.arange(len(size)) % side % 4 == 0)
    ways = forces[some] / size[some, None]
    axes.quiver(places[some, 0], places[some, 1], ways[:, 0], ways[:, 1], color=RED, scale=16, width=0.006)
    turn = np.linspace(0, 2 * np.pi, 200)
    axes.plot(sum(RADII) * np.cos(turn), sum(RADII) * np.sin(turn), color="black", linewidth=0.8, linestyle=":")
    axes.set_title(title, fontsize=10)
    axes.set(aspect="equal", xlabel="x [m]", xticks=[-0.2, 0, 0.2], yticks=[-0.2, 0, 0.2])
    return picture


def draw_spheres(out, context):
    golden = arrays_of("sphere-sphere", "profile")
    clouds = cloud_of_body("sphere-sphere", "a"), cloud_of_body("sphere-sphere", "b")
    for name in (SHARP, SMOOTH):
        wanted = golden[f"{name}_wrench_on_b"][:, :3]
        check(f"forces of spheres, {name},", springs_on_b(clouds, golden["grid"], golden[f"{name}_eps"], context), wanted,
              1e-10 * np.abs(wanted).max())
    way = {name: (lambda places, name=name: springs_on_b(clouds, places, golden[f"{name}_eps"], context))
           for name in (SHARP, SMOOTH)} | {"MuJoCo": mujoco_on_b}
    looks = {SHARP: (BLUE, "springs, eps2 0.5 mm, eps3 0.2 mm"), SMOOTH: (ORANGE, "springs, 8 times these"),
             "MuJoCo": (RED, "MuJoCo, as stiff")}
    line = np.linspace(-0.2, 0.2, 97)
    square = np.stack(np.meshgrid(line, line, [0.0], indexing="ij"), -1).reshape(-1, 3)
    figure = pyplot.figure(figsize=(9.2, 6.6), layout="constrained")
    grid = figure.add_gridspec(2, 6, height_ratios=[1.1, 1])
    maps = []
    for i, (name, call) in enumerate(way.items()):
        maps.append(figure.add_subplot(grid[0, 2 * i:2 * i + 2]))
        picture = map_of(maps[-1], square, call(square), looks[name][1])
    maps[0].set_ylabel("y [m]")
    figure.colorbar(picture, ax=maps, label="force on the small sphere [N]", shrink=0.8)
    whole, near = figure.add_subplot(grid[1, :3]), figure.add_subplot(grid[1, 3:])
    for axes, gaps in ((whole, np.linspace(-0.15, 0.03, 361)), (near, np.linspace(-0.004, 0.008, 481))):
        places = np.outer(gaps + sum(RADII), [1.0, 0, 0])
        for name, call in way.items():
            axes.plot(1e3 * gaps, call(places)[:, 0], color=looks[name][0], label=looks[name][1],
                      linestyle="--" if name == "MuJoCo" else "-")
        axes.set(xlabel="gap between the spheres along x [mm]", ylabel="force [N]")
        axes.grid(alpha=0.3)
        plain(axes)
    near.set(yscale="log", ylim=(1e-3, 100))
    whole.legend(frameon=False, loc="lower right", fontsize=8)
    save(figure, out / "spring-spheres.png")


# ---- a box in a plane ----
def draw_box(out, context):
    golden = arrays_of("box-field", "field2")
    line = np.linspace(-2, 2, 161)
    square = np.stack(np.meshgrid(line, line, [0.0], indexing="ij"), -1).reshape(-1, 3)
    figure, rows = pyplot.subplots(2, 4, figsize=(9.2, 5.0), layout="constrained", sharex=True, sharey=True)
    for axes_of_row, name in zip(rows, ("coarse", "fine")):
        points, normals = golden[f"{name}_p"], golden[f"{name}_n"]
        for axes, eps1 in zip(axes_of_row, (0.005, 0.05, 0.5, 5.0)):
            cloud = abut.Cloud(points, normals, np.zeros(len(points)), np.full(len(points), eps1))
            check(f"a field of {name} points", abut.evaluate_cloud(cloud, golden["grid"], context=context)[0],
                  golden[f"{name}_{eps1}"], 1e-11)
            phi = abut.evaluate_cloud(cloud, square, context=context)[0].reshape(161, 161).T
            picture = axes.contourf(line, line, phi, np.linspace(-1.4, 1.4, 29), cmap="RdBu_r", extend="both")
            axes.contour(line, line, phi, [0.0], colors="black", linewidths=1.6)
            axes.plot([-1, 1, 1, -1, -1], [-1, -1, 1, 1, -1], color="black", linewidth=0.8, linestyle=":")
            axes.quiver(*points[:, :2].T, *normals[:, :2].T, scale=14, width=0.008, color="#333333")
            axes.set(title=f"{len(points)} points, eps1 {eps1:g} m²", aspect="equal", xticks=[-2, 0, 2], yticks=[-2, 0, 2])
            axes.title.set_fontsize(9)
    figure.colorbar(picture, ax=rows, label="field [m]", ticks=[-1, -0.5, 0, 0.5, 1], shrink=0.8)
    save(figure, out / "spring-box.png")


# ---- pushing ----
FIELD = 0.31  # [m], half of what a picture shows
TEE = np.array([[-0.125, 0.0125], [-0.025, 0.0125], [-0.025, -0.1375], [0.025, -0.1375], [0.025, 0.0125], [0.125, 0.0125],
                [0.125, 0.0625], [-0.125, 0.0625], [-0.125, 0.0125]])


def placed(points, pose):
    c, s = np.cos(pose[2]), np.sin(pose[2])
    return points[:, :2] @ np.array([[c, s], [-s, c]]) + pose[:2]


def rolled(cloud, given, context):
    """Returns states of the five sequences, one row of controls apart, with the scene's own settings: Euler, steps of 2 ms."""
    scene = abut.Scene(GOLDEN / f"spring-{cloud}-finger" / "scene.json", context)
    hold = round(float(given["hold"]) / scene.timestep)
    made = scene.step(given["q0"], np.zeros_like(given["q0"]), controls=np.repeat(given["controls"], hold, axis=1), record=hold)
    return np.concatenate([given["q0"][:, None], made.q_record], 1)


def draw_pushing(out, context):
    given = arrays_of("pushing-five", "pushing")
    looks = {"t26": (ORANGE, "26 points", 10, 1.0), "t4k": (BLUE, "4,114 points", 0.5, 0.4)}
    states = {name: rolled(name, given, context) for name in looks}
    clouds = {name: cloud_of_body(f"{name}-finger", name).points for name in looks}
    figure, panels = pyplot.subplots(1, 5, figsize=(12.5, 3.1), layout="constrained")
    for i, axes in enumerate(panels):
        ends = {"start": given["q0"][i], "MuJoCo": given["mujoco_end"][i]}
        outlines = {name: placed(TEE, pose) for name, pose in ends.items()}
        axes.plot(*outlines["start"].T, color=GREY, linewidth=0.9, label="start")
        axes.plot(*given["mujoco_path"][i, :, 3:].T, color=GREY, linewidth=0.7, linestyle=":", label="the finger's way")
        for name, (colour, label, size, opacity) in reversed(looks.items()):
            axes.scatter(*placed(clouds[name], states[name][i, -1]).T, s=size, color=colour, alpha=opacity, linewidths=0)
            axes.plot(*states[name][i, :, :2].T, color=colour, linewidth=1.2, label=label)
        axes.plot(*outlines["MuJoCo"].T, color=RED, linewidth=1.2, linestyle="--", label="MuJoCo")
        off = [100 * np.linalg.norm(states[name][i, -1, :2] - given["mujoco_end"][i, :2]) for name in looks]
        drawn = np.concatenate([*outlines.values(), given["mujoco_path"][i, :, 3:]])
        middle = 0.5 * (drawn.min(0) + drawn.max(0))
        axes.set(aspect="equal", xlim=middle[0] + np.array([-FIELD, FIELD]), ylim=middle[1] + np.array([-FIELD, FIELD]))
        axes.set_title(f"{off[0]:.1f} and {off[1]:.1f} cm off", fontsize=9)
        axes.tick_params(labelsize=7)
    panels[0].set_ylabel("x and y [m]", fontsize=8)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5, frameon=False)
    save(figure, out / "spring-pushing.png")


PICTURES = {"spheres": draw_spheres, "box": draw_box, "pushing": draw_pushing}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", nargs="?", type=pathlib.Path, default=ROOT / "docs")
    parser.add_argument("--only", choices=PICTURES)
    parser.add_argument("--device", help="as of abut.Context; the default one")
    options = parser.parse_args()
    chosen = {"device": options.device} if options.device else {}
    with abut.Context(precision="f64", **chosen) as context:
        for name in [options.only] if options.only else PICTURES:
            PICTURES[name](options.out, context)


if __name__ == "__main__":
    main()
