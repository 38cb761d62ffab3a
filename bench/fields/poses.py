"""Contacts of bodies of meshes against exact distances between those meshes, by Coal.

    python poses.py BUILD A B [COUNT]    one pair, as JSON

Half of the poses are anywhere around each other, half near contact: moved along a random direction
until 2 to 5 % of the mean diagonal apart, or until touch and then 1 to 5 % on. Body 1 rests.
  apart   poses whose meshes are at least 2 % of the mean diagonal apart, none in the other
  false   those of them with a contact of activity above 0.1; `most` is the largest activity
  deep    poses in which a vertex of one lies deeper than 1 % of the mean diagonal in the other
  missed  those of them without a contact of activity above 0.1; `least` is the least activity
  unseen  poses whose surfaces cross, however little, without such a contact: thin parts, and
          touches between the contact mesh's vertices
"""
import json
import sys
import time

import coal
import numpy as np

import judge
import library
import oracle

APART, DEEP, ACTIVE = 0.02, 0.01, 0.1
LOOKED_AT = 600  # vertices of each mesh that are asked how deep they lie, at most


def rotation(q):
    w, x, y, z = q
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])


class Meshes:
    """Two meshes whose distance is asked for, the second one at a pose."""

    def __init__(self, first, second):
        self.of = (first, second)
        self.mean = (first.diagonal + second.diagonal) / 2
        self.models = [self.model(it) for it in self.of]
        self.request, self.rest = coal.DistanceRequest(), coal.Transform3s()
        rng = np.random.default_rng(3)
        self.some = [rng.choice(len(it.vertices), min(LOOKED_AT, len(it.vertices)), replace=False)
                     for it in self.of]

    def model(self, it):
        """A tree of the triangles, of a size at which Coal's tolerances mean nothing."""
        model = coal.BVHModelOBBRSS()
        points = coal.StdVec_Vec3s()
        for p in it.vertices / self.mean:
            points.append(p)
        triangles = coal.StdVec_Triangle()
        for f in it.faces:
            triangles.append(coal.Triangle(*(int(k) for k in f)))
        model.beginModel(len(triangles), len(points))
        model.addSubModel(points, triangles)
        model.endModel()
        return model

    def distance(self, turn, offset):
        """Distance between the surfaces, in means; below 0 where they cross."""
        transform = coal.Transform3s(turn, offset / self.mean)
        return coal.distance(self.models[0], self.rest, self.models[1], transform, self.request,
                             coal.DistanceResult())

    def depth(self, turn, offset):
        """How deep the deepest of some vertices of either lies in the other, in means."""
        first, second = self.of
        seen = (second.vertices[self.some[1]] @ turn.T + offset,
                (first.vertices[self.some[0]] - offset) @ turn)
        out = 0.0
        for it, points in zip(self.of, seen):
            points = points[np.all((points > it.lower) & (points < it.upper), axis=1)]
            points = points[it.decided(points)] if len(points) and len(it.borders) else points
            if len(points):
                out = max(out, -it.distance(points).min() / self.mean)
        return out


def turned_at_random(rng):
    q = rng.normal(size=4)
    q /= np.linalg.norm(q)
    return q, rotation(q)


def near(meshes, rng, target):
    """A pose on the way from far, where the distance first is `target`, in means."""
    q, turn = turned_at_random(rng)
    u = rng.normal(size=3)
    u /= np.linalg.norm(u)
    first, second = meshes.of
    aim = first.middle - turn @ second.middle + 0.15 * first.sides * rng.uniform(-1, 1, 3)
    reach = (first.diagonal + second.diagonal) * 0.65
    wanted = max(target, 2e-4)
    for _ in range(200):
        left = meshes.distance(turn, aim + reach * u) - wanted
        reach -= left * meshes.mean
        if left < 1e-4 or reach < -meshes.mean * 2:
            break
    if target < 0:
        reach += target * meshes.mean
    return q, turn, aim + reach * u


def anywhere(meshes, rng):
    q, turn = turned_at_random(rng)
    first, second = meshes.of
    u = rng.normal(size=3)
    u *= rng.uniform(0, 0.75) * (first.diagonal + second.diagonal) / 2 / np.linalg.norm(u)
    return q, turn, first.middle - turn @ second.middle + 1.2 * u


def drawn(meshes, count, rng):
    """Poses (count, 7), distances and depths in means, of what is exact."""
    poses, gaps, depths = np.zeros((count, 7)), np.zeros(count), np.zeros(count)
    for i in range(count):
        if i % 2:
            target = rng.uniform(0.02, 0.05) if i % 4 == 1 else -rng.uniform(0.01, 0.05)
            q, turn, offset = near(meshes, rng, target)
        else:
            q, turn, offset = anywhere(meshes, rng)
        poses[i] = [*offset, *q]
        gaps[i] = meshes.distance(turn, offset)
        depths[i] = meshes.depth(turn, offset)
    return poses, gaps, depths


def measure(build, meshes, paths, drawn_poses, maker="file"):
    """What abut says of the poses."""
    poses, gaps, depths = drawn_poses
    context = library.Library(build).context()
    rest = np.tile([0, 0, 0, 1.0, 0, 0, 0], (len(poses), 1))
    try:
        bodies = [judge.make(context, path, it, maker) for path, it in zip(paths, meshes.of)]
        pair = library.Pair(*bodies)
        start = time.perf_counter()
        largest, count = pair.activity(rest, poses)
        seconds = time.perf_counter() - start
    except library.Error as refusal:
        return {"refused": str(refusal)}
    finally:
        context.close()
    apart, deep = (gaps >= APART) & (depths == 0), depths > DEEP
    wrong, missed = apart & ~(largest <= ACTIVE), deep & ~(largest > ACTIVE)
    crossing = gaps <= 0
    out = {"poses": len(poses), "crossing": int(crossing.sum()),
           "unseen": int((crossing & ~(largest > ACTIVE)).sum()),
           "apart": int(apart.sum()), "false": int(wrong.sum()),
           "contacts": int(count[apart].max(initial=0)), "deep": int(deep.sum()),
           "missed": int(missed.sum()), "seconds": seconds}
    for name, chosen, pick in (("most", apart, np.argmax), ("least", deep, np.argmin)):
        if chosen.any():
            worst = np.flatnonzero(chosen)[pick(largest[chosen])]
            out[name] = float(largest[worst])
            out[f"{name} at"] = {"pose": poses[worst].tolist(), "distance": float(gaps[worst]),
                                 "depth": float(depths[worst])}
    return out


def fitting(paths, oracles, folder):
    """Bodies of like size: where one is more than five times the other, the larger is brought down.

    A copy goes to `folder`.
    """
    import shapes
    sizes = [it.diagonal for it in oracles]
    if max(sizes) <= 5 * min(sizes):
        return paths, oracles
    paths, oracles = list(paths), list(oracles)
    k = int(np.argmax(sizes))
    factor = 2.5 * min(sizes) / max(sizes)
    it, written = oracles[k], shapes.plain(*oracle.read(paths[k]))
    paths[k] = shapes.write(shapes.scaled(written, factor),
                            shapes.file_of(folder, f"{oracle.name_of(paths[k])} {factor:.3g}"))
    oracles[k] = oracle.Oracle(it.vertices * factor, it.faces)
    return paths, oracles


if __name__ == "__main__":
    _oracles = [oracle.Oracle(*oracle.read(path)) for path in sys.argv[2:4]]
    _meshes = Meshes(*_oracles)
    _start = time.perf_counter()
    _drawn = drawn(_meshes, int(sys.argv[4]) if len(sys.argv) > 4 else 200, np.random.default_rng(5))
    print(f"drawn in {time.perf_counter() - _start:.1f} s", file=sys.stderr)
    print(json.dumps(measure(sys.argv[1], _meshes, sys.argv[2:4], _drawn), indent=1))
