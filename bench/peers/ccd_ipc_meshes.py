#!/usr/bin/env python3
"""Safe steps of two meshes by the IPC Toolkit, one pose pair after the other on one thread.

  ccd_ipc_meshes.py PROBLEM ANSWERS METHOD BROAD [PASSES]

METHOD: additive or tight, both with their defaults; BROAD: LBVH, HashGrid, SpatialHash, SweepAndPrune, BruteForce. Both bodies are one
collision mesh, of which pairs of vertices of one body are left out. Vertices at both ends are there before the clock runs.
Prints JSON, in microseconds a pose pair: "mean", of the median pass, "processor", the same of the processor's time, and "median" of the pairs. METHOD cross reads toi
from ANSWERS instead, and counts the pairs whose surfaces are in each other there. Needs ipctk and numpy.
"""
import json
import statistics
import sys
import time

import ipctk
import numpy as np

import ccd_problems as cp


def make_mesh(mesh):
    count = len(mesh.vertices)
    vertices = np.concatenate([mesh.vertices, mesh.vertices + 10])
    both = ipctk.CollisionMesh(vertices, np.concatenate([mesh.edges, mesh.edges + count]),
                               np.concatenate([mesh.faces, mesh.faces + count]))
    both.can_collide = ipctk.make_vertex_patches_filter(np.repeat([0, 1], count))
    return both


def ends(mesh, poses, row):
    return [np.asfortranarray(np.concatenate([cp.placed(mesh, poses[name][row]) for name in names]))
            for names in (("from1", "from2"), ("to1", "to2"))]


def time_steps(both, places, method, broad, passes):
    narrow = {"additive": ipctk.AdditiveCCD, "tight": ipctk.TightInclusionCCD}[method]()
    spent, processor, toi = [], [], None
    for _ in range(passes):
        each, toi, begun = [], [], time.process_time()
        for x0, x1 in places:
            start = time.perf_counter()
            toi.append(ipctk.compute_collision_free_stepsize(both, x0, x1, 0., broad, narrow))
            each.append(1e6 * (time.perf_counter() - start))
        spent.append(each)
        processor.append(1e6 * (time.process_time() - begun) / len(places))
    print(json.dumps({"version": ipctk.__version__, "rows": len(places), "passes": passes,
                      "mean": statistics.median(statistics.fmean(each) for each in spent), "processor": statistics.median(processor),
                      "median": statistics.median(statistics.median(each) for each in spent)}))
    return np.array(toi)


def main():
    path, answers, method, broad = sys.argv[1:5]
    mesh, poses = cp.read_problem(path)
    ipctk.set_num_threads(1)
    ipctk.set_logger_level(ipctk.LoggerLevel.off)
    both, rows = make_mesh(mesh), len(poses["from1"])
    places = [ends(mesh, poses, row) for row in range(rows)]
    if method == "cross":
        toi = cp.read_answers(answers)["toi"]
        crossing = [ipctk.has_intersections(both, np.asfortranarray(x0 + t * (x1 - x0))) for (x0, x1), t in zip(places, toi)]
        print(json.dumps({"rows": rows, "crossing": int(sum(crossing))}))
        return
    toi = time_steps(both, places, method, getattr(ipctk, broad)(), int(sys.argv[5]) if len(sys.argv) > 5 else 1)
    table = np.zeros((rows, len(cp.ANSWERS)))
    table[:, 0], table[:, 1] = toi, toi < 1
    table.tofile(answers)


if __name__ == "__main__":
    main()
