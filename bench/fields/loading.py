"""Times abut_load_body alone: python loading.py BUILD MESH, printed as JSON. A process of its own, so
that nothing is warm but what ABUT_CACHE_DIR keeps."""
import json
import os
import subprocess
import sys
import tempfile
import time

import library

LONG = 3.0  # seconds of a load after which one has to do
LIMIT = 600


def main():
    context = library.Library(sys.argv[1]).context()
    start = time.perf_counter()
    body = context.load(sys.argv[2])
    seconds = time.perf_counter() - start
    print(json.dumps({"seconds": seconds, "bytes": body.bytes, "kind": body.kind()}))


def load(build, path, cache):
    """One load in a fresh process: seconds, or None where it failed or took too long."""
    try:
        done = subprocess.run([sys.executable, __file__, str(build), str(path)],
                              capture_output=True, text=True, timeout=LIMIT,
                              env={**os.environ, "ABUT_CACHE_DIR": str(cache)})
    except subprocess.TimeoutExpired:
        return None
    return json.loads(done.stdout)["seconds"] if done.returncode == 0 else None


def times(build, path):
    """Seconds to make a body without a cache, and with one that knows it: the least of three."""
    first = load(build, path, "off")
    if first is None:
        return {"without cache": None, "with cache": None}
    rounds = 0 if first > LONG else 2
    cold = [first] + [load(build, path, "off") for _ in range(rounds)]
    with tempfile.TemporaryDirectory(prefix="abut-fields-") as folder:
        load(build, path, folder)
        warm = [load(build, path, folder) for _ in range(1 + rounds)]
    return {"without cache": min(cold), "with cache": min(warm)}


if __name__ == "__main__":
    main()
