"""Every mesh, good or bad, ends in a body or in a clear refusal: python torture.py BUILD MESH...

A body: `abut contacts` of the mesh with itself ends with 0 and finite numbers within LIMIT seconds,
and its field is positive three to ten diagonals away on all sides. A refusal: it ends with 2 and a
last message that names the file. Everything else is a failure, printed with its reason.
"""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

import numpy as np

import library

LIMIT = 60  # [s]
AROUND = 200
POSES = [[0, 0, 0], [0.4, 0, 0], [0, 0, 5]]  # of body 2, in units of one metre


def contacts(build, path, folder):
    """How the command ends."""
    poses, out = pathlib.Path(folder) / "poses.npz", pathlib.Path(folder) / "out.npz"
    turn = np.tile([1.0, 0.1, 0.2, 0.05], (len(POSES), 1))
    np.savez(poses, pose1=np.tile([0, 0, 0, 1.0, 0, 0, 0], (len(POSES), 1)),
             pose2=np.hstack([np.array(POSES, float), turn]))
    out.unlink(missing_ok=True)
    command = [str(build / "src/cli/abut"), "contacts", str(path), str(path), "--poses", str(poses),
               "--device", "pocl", "-q", "-o", str(out)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return f"FAILURE: no end within {LIMIT} s", ""
    said = done.stderr.strip()
    if done.returncode < 0:
        return f"FAILURE: {signal.Signals(-done.returncode).name}", said
    if done.returncode == 2:
        named = pathlib.Path(path).name in last_line(said) and not out.exists()
        return ("refused" if named else "FAILURE: a refusal that does not name the file"), said
    if done.returncode:
        return f"FAILURE: it ends with {done.returncode}", said
    with np.load(out) as arrays:
        good = all(np.isfinite(arrays[k]).all() for k in ("p", "d", "n", "activity"))
    return ("body" if good else "FAILURE: numbers that are not finite"), said


def nonsense(build, path):
    """The share of the far that counts as inside, by a process of its own, in words; or ''."""
    try:
        done = subprocess.run([sys.executable, __file__, "--far", str(build), str(path)],
                              capture_output=True, text=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return f"FAILURE: no field within {LIMIT} s"
    if done.returncode:
        return f"FAILURE: its field cannot be had: {done.stderr.strip().splitlines()[-1:]}"
    share = float(done.stdout)
    return f"FAILURE: nonsense, {100 * share:.3g} % of the far counts as inside" if share else ""


def far(build, path):
    body = library.Library(build).context().load(path)
    rng = np.random.default_rng(2)
    u = rng.normal(size=(AROUND, 3))
    u *= rng.uniform(3, 10, (AROUND, 1)) / np.linalg.norm(u, axis=1)[:, None]
    middle = (np.array(body.info.lower) + np.array(body.info.upper)) / 2
    found = body.distance(middle + u * body.info.diagonal)
    print(float((~(found > 0)).mean()))


def torture(build, paths):
    """Rows of file, how it ended, and what was said, with files' names alone."""
    rows = []
    with tempfile.TemporaryDirectory(prefix="abut-fields-") as folder:
        os.environ["ABUT_CACHE_DIR"] = os.path.join(folder, "programs")
        for path in paths:
            end, said = contacts(pathlib.Path(build), path, folder)
            if end == "body":
                end = nonsense(build, path) or end
            said = said.replace(str(path), pathlib.Path(path).name)
            rows.append({"file": pathlib.Path(path).name, "end": end, "said": said})
            print(f"{rows[-1]['file']:40} {end:10} {last_line(said)}", flush=True)
    failed = sum(row["end"].startswith("FAILURE") for row in rows)
    print(f"{len(rows) - failed} passed, {failed} failed")
    return rows


def last_line(said):
    return said.splitlines()[-1][:150] if said else ""


if __name__ == "__main__":
    if sys.argv[1] == "--far":
        far(*sys.argv[2:4])
    else:
        sys.exit(any(row["end"].startswith("FAILURE") for row in torture(sys.argv[1], sys.argv[2:])))
