"""What every peer's process does: answer requests, one JSON object a line, until its input ends.

A request is {"what", "size", ...}, its answer {"seconds", ...}: of one call, the median of as many as fit
into a fifth of a second. "absent" instead names a package that is not installed, "error" what went wrong.
run.py asks the peers in turn and kills one that passes its time limit.
"""
import json
import os
import statistics
import sys
import time

SECONDS = 0.2

# Standard output carries answers alone: what packages print, even while imported, goes to standard error.
ANSWERS = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)


def timed(call, **more):
    """Times `call`, which has run before; it comes back when its results are in host memory."""
    seconds = []
    while not seconds or (sum(seconds) < SECONDS and len(seconds) < 1000):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return {"seconds": statistics.median(seconds), **more}


def once(make):
    """make(request) -> call, describe: kept by the request's text, so that a size is compiled once.

    describe(what the first call gave) -> more to say in every answer.
    """
    made = {}

    def answer(request):
        key = json.dumps(request, sort_keys=True)
        if key not in made:
            start = time.perf_counter()
            call, describe = make(request)
            first = call()
            seconds = time.perf_counter() - start
            made[key] = call, {"first_call_s": seconds, **describe(first)}
        call, more = made[key]
        return timed(call, **more)
    return answer


def serve(answer, absent=None):
    for line in sys.stdin:
        try:
            reply = {"absent": absent} if absent else answer(json.loads(line))
        except Exception as error:  # whatever a peer raises is its result
            reply = {"error": f"{type(error).__name__}: {error}".splitlines()[0][:200]}
        print(json.dumps(reply), file=ANSWERS, flush=True)
