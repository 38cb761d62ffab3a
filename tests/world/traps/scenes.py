"""The scenes of the traps, written into a folder with their meshes and starts. Each function returns a Trap."""
import dataclasses
import json
import math
import pathlib
import random

import shapes
from runs import about, any_turn, turned, write_npz

STEP = 0.002  # [s]
UPRIGHT = [1.0, 0.0, 0.0, 0.0]


@dataclasses.dataclass
class Trap:
    name: str
    scene: dict
    seconds: float
    q: list = None            # starts (worlds, nq); else the scene's own
    parameters: dict = dataclasses.field(default_factory=dict)  # other arrays of the states
    controls: list = None     # (steps, 1, nu)
    record: int = 25          # steps between kept states
    view: str = "35,20"       # of its picture
    about: dict = dataclasses.field(default_factory=dict)       # what its checks need to know

    def write(self, folder):
        scene = folder / f"{self.name}.scene.json"
        scene.write_text(json.dumps(self.scene))
        files = {}
        if self.q:
            files["states"] = folder / f"{self.name}-start.npz"
            write_npz(files["states"], q=self.q, **self.parameters)
        if self.controls:
            files["controls"] = folder / f"{self.name}-controls.npz"
            write_npz(files["controls"], u=self.controls)
        return scene, files


def free(body, solid, pose=(0, 0, 0, *UPRIGHT)):
    return {"joint": {"type": "free"}, "position": list(pose[:3]), "quaternion": list(pose[3:]), **solid,
            "bodies": body if isinstance(body, list) else [body]}


def floor(half=5.0):
    return {"bodies": [{"plane": [half, half]}]}


def every_pair(links, **more):
    """All bodies of links that move against each other."""
    bodies = [[i, k] for i, link in enumerate(links) for k in range(len(link.get("bodies", [])))]
    return [{"a": a, "b": b, **more} for n, a in enumerate(bodies) for b in bodies[:n]
            if a[0] != b[0] and ("joint" in links[a[0]] or "joint" in links[b[0]])]


def scene_of(links, pairs=None, **more):
    return {"timestep": STEP, "gravity": [0, 0, -9.81], "links": links,
            "pairs": every_pair(links) if pairs is None else pairs, **more}


def cubes(count, half=0.1, density=1000.0):
    return [free({"box": [half] * 3}, shapes.weigh_box([half] * 3, density)) for _ in range(count)]


def stack(folder, full):
    links = [floor(), *cubes(10)]
    for i, link in enumerate(links[1:]):
        link["position"] = [0, 0, 0.1005 + 0.2005 * i]
    return Trap("stack", scene_of(links), 4.0, view="30,10")


def pile(folder, full):
    """Fifty cubes turned at random, four by four above each other and so that no two touch, fall onto each other."""
    starts, draw = (8 if full else 1), random.Random(5)
    q = []
    for _ in range(starts):
        q.append([])
        for i in range(50):
            place = [0.36 * (i % 4 - 1.5), 0.36 * (i // 4 % 4 - 1.5), 0.2 + 0.36 * (i // 16)]
            q[-1] += [c + draw.uniform(-0.005, 0.005) for c in place] + any_turn(draw)
    return Trap("pile", scene_of([floor(), *cubes(50)]), 4.0, q=q, view="35,30")


def dominoes(folder, full):
    half = [0.02, 0.08, 0.15]
    links = [floor()]
    for i in range(10):
        pose = [0.12 * i, 0, half[2], *UPRIGHT]
        if i == 0:  # tipped about its lower edge in front
            turn = about([0, 1, 0], 0.3)
            edge = turned(turn, [half[0], 0, -half[2]])
            pose = [half[0] - edge[0], 0, -edge[2], *turn]
        links.append(free({"box": half}, shapes.weigh_box(half, 1000), pose))
    return Trap("dominoes", scene_of(links), 3.0, record=5, view="-75,15")


def ball_in_bowl(folder, full):
    inner, wall, sides = 0.2, 0.015, 64
    angles = [math.radians(75) * i / 24 for i in range(25)]
    outer = inner + wall
    profile = [(outer * math.sin(a), inner - outer * math.cos(a)) for a in angles]
    profile += [(inner * math.sin(a), inner - inner * math.cos(a)) for a in reversed(angles)]
    shapes.write_obj(folder / "bowl.obj", shapes.lathe(profile, sides))
    radius, aside = 0.04, 0.12
    height = inner - math.sqrt((inner - radius) ** 2 - aside ** 2) + 0.0005
    links = [{"bodies": [{"file": "bowl.obj"}]},
             free({"sphere": radius}, shapes.weigh_ball(radius, 1000), [aside, 0, height, *UPRIGHT])]
    return Trap("ball-in-bowl", scene_of(links), 4.0, view="20,35", about={"radius": radius})


def mug_on_pipe(folder, full):
    """The link's origin is the middle of the handle, whose axis is y as the pipe's is. The mug begins turned so that
    its centre of mass is below the pipe."""
    large, small, pipe = 0.03, 0.006, 0.01
    ring = shapes.torus(large, small, 48, 16)
    radius, wall, height = 0.04, 0.004, 0.09
    cup = shapes.lathe([(0, 0), (radius, 0), (radius, height), (radius - wall, height), (radius - wall, wall), (0, wall)], 48)
    shapes.write_obj(folder / "handle.obj", ring)
    shapes.write_obj(folder / "cup.obj", cup)
    aside = [-(radius + 0.022), 0, -height / 2]
    ring_solid = shapes.weigh(ring, 2300)
    (a, *_), (_, b, _), (*_, c) = ring_solid["inertia"]
    lying = {**ring_solid, "inertia": [[a, 0, 0], [0, c, 0], [0, 0, b]]}  # its axis is y
    solid = shapes.together([lying, shapes.moved(shapes.weigh(cup, 2300), aside)])
    bodies = [{"file": "handle.obj", "quaternion": about([1, 0, 0], math.pi / 2)}, {"file": "cup.obj", "position": aside}]
    x, _, z = solid["com"]
    turn = about([0, 1, 0], math.atan2(x, -z))
    touch = -(large - small - pipe)
    links = [{"bodies": [{"cylinder": [pipe, 0.15], "quaternion": about([1, 0, 0], math.pi / 2)}]},
             free(bodies, solid, [0, 0, touch + 0.002, *turn])]
    return Trap("mug-on-pipe", scene_of(links), 4.0, view="-70,15", about={"touch": touch})


def peg_in_hole(folder, full):
    """Two of them. The first has the fitted smoothing, whose penetration of 0.64 mm is more than the clearance, so that
    contacts act all around; with a friction of 0.1 it would stay on the rim. The second one's is stated, as docs/smoothing.md asks
    for in tight fits."""
    hole, outer, below, above = 0.0205, 0.06, 0.04, 0.06
    shapes.write_obj(folder / "plate.obj", shapes.lathe([(hole, below), (outer, below), (outer, above), (hole, above)], 64))
    radius, half, apart = 0.02, 0.05, 0.2
    links = [floor(1.0)]
    for x in (0, apart):
        links.append({"position": [x, 0, 0], "bodies": [{"file": "plate.obj"}]})
    for x in (0, apart):
        links.append(free({"cylinder": [radius, half]}, shapes.weigh_cylinder(radius, half, 1000),
                          [x + 0.0002, 0, above + half + 0.002, *UPRIGHT]))
    pairs = [{"a": 3, "b": 0, "friction": 0.1}, {"a": 3, "b": 1, "friction": 0.05},
             {"a": 4, "b": 0}, {"a": 4, "b": 2, "smoothing": {"penetration": 1e-4}}]
    return Trap("peg-in-hole", scene_of(links, pairs), 4.0, view="20,25", about={"half": half, "places": [0, apart]})


def nut_on_bolt(folder, full, shared):
    """The worlds: friction 0.3 and 0.01. The nut's place is that of its file, up by two turns of the thread."""
    mesh = {name: str(shared / f"data/meshes/{name}_m16.obj") for name in ("nut", "bolt")}
    inside, outside, middle, height = 0.0076, 0.0126, 0.0225, 0.013
    mass = 0.03
    side = mass * ((inside ** 2 + outside ** 2) / 4 + height ** 2 / 12)
    solid = {"mass": mass, "com": [0, 0, middle],
             "inertia": [[side, 0, 0], [0, side, 0], [0, 0, mass * (inside ** 2 + outside ** 2) / 2]]}
    links = [{"bodies": [{"file": mesh["bolt"]}]}, free({"file": mesh["nut"]}, solid)]
    start = [0, 0, 0.004, *UPRIGHT]
    return Trap("nut-on-bolt", scene_of(links), 1.0, q=[start, start], parameters={"friction": [[0.3], [0.01]]}, view="30,10")


def ground(x, y):
    """Of the terrain [m]: it slopes by up to 0.32."""
    return 0.06 * math.sin(4.4 * x + 0.5) * math.cos(3.1 * y)


def terrain(folder, full):
    """The same ground twice, as a mesh and beside it as a height field, and the same boxes above either."""
    cells, depth, half, aside = 40, 0.2, [0.1, 0.08, 0.06], 2.5
    shapes.write_obj(folder / "terrain.obj", shapes.terrain(ground, 1.0, cells, depth))
    at = [2 * i / cells - 1 for i in range(cells + 1)]
    field = {"heights": [[ground(x, y) for x in at] for y in at], "size": [1.0, 1.0], "base": depth}
    links = [{"bodies": [{"file": "terrain.obj"}, {"height_field": field, "position": [aside, 0, 0]}]}]
    for middle in (0.0, aside):
        for x, y in ((-0.5, -0.4), (0.45, -0.5), (-0.4, 0.5), (0.5, 0.45)):
            links.append(free({"box": half}, shapes.weigh_box(half, 1000), [middle + x, y, 0.25, *about([1, 2, 3], x + y)]))
    return Trap("terrain", scene_of(links, [], automatic={"friction": 0.8}), 5.0, view="40,35",
                about={"half": half, "middles": [0.0] * 4 + [aside] * 4})


def gripper(folder, full, shared):
    """A carriage that is lifted, and two fingers that close by 40 N each about the drill's centre of mass. It stands upright,
    its thickness of 35 mm there between them."""
    path = shared / "data/bodies/drill.body.json"
    mesh = shapes.read_obj(path.parent / json.loads(path.read_text())["mesh"])
    solid = shapes.weigh(mesh, 900)
    com, turn = solid["com"], about([1, 0, 0], math.pi / 2)
    height = com[1] - min(v[1] for v in mesh[0])
    place = [o - c for o, c in zip([0, 0, height], turned(turn, com))]
    half, gap = 0.03, 0.02
    links = [floor(2.0), free({"file": str(path)}, solid, place + turn),
             {"name": "carriage", "position": [0, 0, height], "mass": 2.0, "inertia": [[0.01, 0, 0], [0, 0.01, 0], [0, 0, 0.01]],
              "joint": {"type": "slide", "axis": [0, 0, 1]}}]
    for side in (-1, 1):
        links.append({"parent": "carriage", "position": [0, side * (half + gap), 0], **shapes.weigh_box([half] * 3, 1000),
                      "joint": {"type": "slide", "axis": [0, -side, 0], "damping": 5.0}, "bodies": [{"box": [half] * 3}]})
    actuators = [{"kind": "position", "joint": "carriage", "kp": 2e4, "kv": 400.0}] + [{"kind": "motor", "joint": i} for i in (3, 4)]
    heights = [0.2 * min(max(i * STEP - 0.3, 0.0), 1.0) for i in range(round(4.0 / STEP))]
    pairs = [{"a": 1, "b": 0}, {"a": 1, "b": 3}, {"a": 1, "b": 4}]
    # Few contacts bear the fingers' force, and friction of impratio 1 creeps by 6.6 mm (docs/traps.md).
    return Trap("gripper", scene_of(links, pairs, actuators=actuators, impratio=10), 4.0, controls=[[[z, 40.0, 40.0]] for z in heights],
                view="20,15", about={"com": com})


def bin_of_bodies(folder, full, shared):
    """Twenty bodies of four kinds, turned at random, fall into an open box of five boxes: one after the other is put where
    it is lowest, of places that it is asked about, while no spheres around them meet."""
    half, high, wall = 0.35, 0.25, 0.02
    walls = [{"box": [half + 2 * wall, half + 2 * wall, wall], "position": [0, 0, -wall]}]
    for side in (-1, 1):
        walls.append({"box": [wall, half + 2 * wall, high], "position": [side * (half + wall), 0, high]})
        walls.append({"box": [half, wall, high], "position": [0, side * (half + wall), high]})
    kinds = {"cube": ({"box": [0.03] * 3}, shapes.weigh_box([0.03] * 3, 1000), 0.03 * math.sqrt(3))}
    for name in ("drill", "screwdriver", "airplane"):
        path = shared / f"data/bodies/{name}.body.json"
        mesh = shapes.read_obj(path.parent / json.loads(path.read_text())["mesh"])
        solid = shapes.weigh(mesh, 1000)
        kinds[name] = {"file": str(path)}, solid, max(math.dist(v, solid["com"]) for v in mesh[0])
    links, placed, draw = [{"bodies": walls}], [], random.Random(11)
    for name in ("airplane", "drill", "screwdriver", "cube") * 5:
        body, solid, radius = kinds[name]
        radius += 0.005
        asked = []
        for _ in range(50):
            x, y = (draw.uniform(-1, 1) * (half - radius) for _ in range(2))
            z = radius
            for a, b, c, other in placed:
                square = (radius + other) ** 2 - (x - a) ** 2 - (y - b) ** 2
                z = max(z, c + math.sqrt(square)) if square > 0 else z
            asked.append((z, x, y))
        z, x, y = min(asked)
        placed.append((x, y, z, radius))
        turn = any_turn(draw)
        links.append(free(body, solid, [o - c for o, c in zip([x, y, z], turned(turn, solid["com"]))] + turn))
    return Trap("bin", scene_of(links), 4.0, view="30,45", about={"half": half, "radii": [p[3] for p in placed]})


OWN = {"stack": stack, "pile": pile, "dominoes": dominoes, "ball-in-bowl": ball_in_bowl, "mug-on-pipe": mug_on_pipe,
       "peg-in-hole": peg_in_hole, "terrain": terrain}
SHARED = {"nut-on-bolt": nut_on_bolt, "gripper": gripper, "bin": bin_of_bodies}  # of meshes that lie beside the project


def make(name, folder, full, shared):
    """None without the meshes that it needs."""
    if name in OWN:
        return OWN[name](folder, full)
    return SHARED[name](folder, full, pathlib.Path(shared).resolve()) if shared else None
