"""abut by its own programs: `abut-dev bench` for manifolds, bench/witness for witness points, host to host.

Both repeat a call, for half a second or so, after one that warms up, and give the median.
"""
import csv
import json
import pathlib
import subprocess

import worker


def run(command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "failed")
    return done.stdout


def witness(request):
    program = pathlib.Path(request["build"], "bench", "witness")
    if not program.exists():
        run(["ninja", "-C", request["build"], "bench/witness"])
    text = run([program, "-d", request["device"], "-w", request["what"], "-n", request["size"],
                "-t", worker.SECONDS])
    row = next(csv.DictReader(text.splitlines()))
    return {"seconds": float(row["seconds_per_query"]) * request["size"], "precision": row["precision"]}


def contacts(request):
    command = [pathlib.Path(request["build"], "src", "cli", "abut-dev"), "bench", *request["bodies"],
               "--poses", request["poses"], "--device", request["device"], "--batch", request["size"],
               "--variant", request.get("variant", "full"), "--json", "--quiet",
               "--what", request.get("whats") or request.get("call", "forward")]
    if request["smoothing"]:  # else fitted
        command += ["--smoothing", request["smoothing"]]
    rows = json.loads(run(command))
    if "whats" in request:
        return {"rows": rows}
    row = rows[0]
    return {"seconds": row["seconds_median"], "precision": row["precision"], "contacts": row["contacts"]}


if __name__ == "__main__":
    worker.serve(lambda r: (witness if r["what"] in ("edges", "faces") else contacts)(r))
