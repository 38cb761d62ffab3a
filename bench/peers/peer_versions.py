"""Calls of worlds by one build of abut: what versions.py asks for. A request has "build", "scene", "states", "size" worlds, "device",
"what" and "steps"; the answer is the process' own time on processors and the time that passed, of one call, both in seconds."""
import os
import sys
import time

import worker

try:
    import numpy as np
    ABSENT = None
except ImportError as error:
    ABSENT = error.name

KEPT = {}  # a scene's path and size -> what it can be asked


def calls_of(request):
    sys.path.insert(0, os.path.join(request["build"], "python"))
    import abut
    scene = abut.Context(request["device"], precision="f32").scene(request["scene"])
    with np.load(request["states"]) as file:
        q, v = (np.resize(file[name], (request["size"], file[name].shape[1])).astype(np.float32) for name in "qv")
    random = np.random.default_rng(3)
    bars = {f"{name}_bar": random.normal(size=of.shape).astype(np.float32) for name, of in (("q", q), ("v", v))}
    return {"step": lambda steps: scene.step(q, v, steps=steps), "vjp": lambda steps: scene.vjp(q, v, steps=steps, **bars),
            "transition": lambda steps: scene.transition(q, v)}


def answer(request):
    key = request["scene"], request["size"], request["device"]
    if key not in KEPT:
        KEPT.clear()
        KEPT[key] = calls_of(request)
        for what in KEPT[key]:
            KEPT[key][what](1)
    busy, begun = time.process_time(), time.perf_counter()
    KEPT[key][request["what"]](request["steps"])
    return {"cpu": time.process_time() - busy, "seconds": time.perf_counter() - begun}


if __name__ == "__main__":
    worker.serve(answer, ABSENT)
