#!/usr/bin/env python3
"""Ranks by MPI on two machines: nodes.py ABUT MPIRUN PLUGIN [all]

The machines are namespaces of Linux: each has a name, a network address, processes, shared memory and a folder `local` of its own,
and both see the folder of results. mpirun starts its daemon on the other one by a script that enters it, in place of ssh, and
with nothing of the environment, as by ssh. Open MPI alone. Skipped where namespaces cannot be made: by root, or by whoever may make
user namespaces. Computes on the host; with `all` what takes longer, too, and ranks on PoCL where that is there.
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

NAMES = ["node1", "node2"]
SPACES = ["--net", "--mount", "--uts", "--ipc"]


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def enter():
    """Begins again in a network and mounts of its own, which end with it."""
    for words in (["unshare"], ["unshare", "--user", "--map-root-user"]):
        words += ["--net", "--mount"]
        tried = ["sh", "-c", "mount -t tmpfs none /mnt && ip link add v1 type veth peer name v2 && unshare --pid --fork --uts --ipc true"]
        try:
            if subprocess.run([*words, *tried], capture_output=True, check=False).returncode == 0:
                os.execvp(words[0], [*words, sys.executable, __file__, *sys.argv[1:], "--entered"])
        except FileNotFoundError:
            break
    skip("no namespaces by unshare and ip (util-linux, iproute2), or not by this user")


if sys.argv[-1] != "--entered":
    if "Open MPI" not in subprocess.run([sys.argv[2], "--version"], capture_output=True, text=True, check=True).stdout:
        skip("the launcher is not Open MPI's")
    enter()
sys.argv.pop()
ALL = sys.argv[4:5] == ["all"]
os.environ["ABUT_TEST_DEVICE"] = "host"
import ranks as r  # pylint: disable=wrong-import-position
f = r.f
LOCAL = [w.replace("slab", "local/slab") for w in r.KINDS["gradient"]]
# The number that a process has outside, where it is killed.
r.NOTE = r.NOTE.replace("echo $$ >", "read process rest < /proc/self/stat; echo $process >")


# The shell of a machine: it stays until it is ended. /proc is the one from outside, so that it has each machine's processes.
MACHINE = """
set -e
hostname "$1"
mount -t tmpfs none /dev/shm
mount --bind "$1" local
mount --bind hosts /etc/hosts
ip link set lo up
read process rest < /proc/self/stat
echo $process > "$1/process.new"
mv "$1/process.new" "$1/process"
exec sleep 1000
"""

# What stands in for ssh: HOST COMMAND...
AGENT = """#!/bin/sh
host=$1
shift
cd /
exec nsenter --target "$(cat {scratch}/$host/process)" --net --mount --uts --ipc --pid env -i PATH="$PATH" HOME="$HOME" sh -c "$*"
"""


def make_machines():
    scratch = os.getcwd()
    pathlib.Path("agent").write_text(AGENT.format(scratch=scratch))
    os.chmod("agent", 0o755)
    pathlib.Path("hosts").write_text("127.0.0.1 localhost\n" + "".join(f"10.77.0.{i + 1} {n}\n" for i, n in enumerate(NAMES)))
    os.mkdir("local")
    machines = []
    for name in NAMES:
        for folder in ("", "/tmp", "/run", "/programs"):
            os.mkdir(name + folder, 0o700)
        own = SPACES + ["--pid"] * (name != NAMES[0])  # those of the first are seen by none that it can enter
        machines.append(subprocess.Popen(["unshare", *own, "--fork", "--kill-child", "sh", "-c", MACHINE, "sh", name]))
    for name, machine in zip(NAMES, machines):
        while not os.path.exists(f"{name}/process"):
            if machine.poll() is not None:
                skip(f"{name} cannot be made")
            time.sleep(0.005)
    processes = [pathlib.Path(name, "process").read_text().strip() for name in NAMES]
    subprocess.run(["ip", "link", "add", "v1", "netns", processes[0], "type", "veth", "peer", "name", "v2", "netns", processes[1]], check=True)
    for i, process in enumerate(processes):
        for words in (["addr", "add", f"10.77.0.{i + 1}/24", "dev", f"v{i + 1}"], ["link", "set", f"v{i + 1}", "up"]):
            subprocess.run(["nsenter", "--target", process, "--net", "ip", *words], check=True)
    return machines, processes[0]


def start_of(process, ranks, on_host=True):
    """So many ranks a machine. Their environment is named, as users name it."""
    local = {"TMPDIR": "tmp", "XDG_RUNTIME_DIR": "run", "ABUT_CACHE_DIR": "programs", "POCL_CACHE_DIR": "programs"}
    passed = [f"{name}={os.getcwd()}/local/{folder}" for name, folder in local.items()]
    names = [w.split("=")[0] for w in passed] + ["ABUT_MPI_PLUGIN", "ABUT_TUNING"] + ["OCL_ICD_VENDORS"] * on_host
    return ["nsenter", "--target", process, *SPACES, f"--wd={os.getcwd()}", "env", *passed,
            *r.START, "--mca", "plm_rsh_agent", os.path.abspath("agent"), "--host", ",".join(f"{n}:{ranks}" for n in NAMES),
            *[w for name in names for w in ("-x", name)]]


def alike(name):
    """What one process gives."""
    r.alone(name, "-o", f"{name}/")
    r.run(4, 0, *r.KINDS[name], "-o", f"{name}-4/", "--block", 9, says=r.NOT_FINITE)
    r.same(name, f"{name}-4", f"{name} of two machines")


def refused():
    """A body that the second machine does not have."""
    for name in NAMES:
        shutil.copy("slab.obj", name)
    shutil.copy("slab.body.json", NAMES[0])
    r.run(4, 2, *LOCAL, "-o", "not/", says=["rank 2: local/slab.body.json: No such file"])
    f.check(not os.path.exists("not"), "what was refused has written")


def unlike():
    """A body that the second machine has otherwise, and a plug-in that it lacks."""
    other = pathlib.Path(NAMES[1], "slab.body.json")
    other.write_text(pathlib.Path("slab.body.json").read_text() + " ")
    r.run(4, 2, *LOCAL, "-o", "not/", says=["rank 2: rank 0 has another pair of bodies: .* there, .* here"])
    shutil.copy("slab.body.json", other)
    r.run(4, 0, *LOCAL, "-o", "local-bodies/", says=r.NOT_FINITE)
    r.same("gradient", "local-bodies", "bodies of each machine's own")
    shutil.copy(r.PLUGIN, NAMES[0])
    process = r.begin(4, *LOCAL, "-o", "not/", plugin=os.path.abspath(f"local/{os.path.basename(r.PLUGIN)}"))
    err = process.communicate(timeout=60)[1]
    f.check(process.returncode == 2 and ": started as one of several ranks, but without MPI: each rank would compute everything and overwrite the files of the others. Give each rank its part with -o FOLDER/ --shard $" in err, err)
    f.check(not os.path.exists("not"), "what was refused has written")


def devices(first, start):
    """Ranks share the device of their own machine alone, each machine compiles for itself, and one may have a device of another kind."""
    listed = subprocess.run([f.ABUT, "devices", "--json"], capture_output=True, text=True, check=True).stdout
    if "Portable Computing Language" not in listed:
        print("ranks on PoCL: skipped, there is none")
        return
    words = [w for w in r.KINDS["gradient"] if w not in ("--device", "host")]
    environment = {k: v for k, v in f.environment(ABUT_MPI_PLUGIN=r.PLUGIN).items() if k != "OCL_ICD_VENDORS"}
    on_host = f'test "$(hostname)" != {NAMES[1]} || exec "$0" "$@" --device host; '
    for ranks, out, before, parts, whole in ((2, "parts", "", 2, 0), (1, "undivided", "", 0, 1), (2, "kinds", on_host, 2, 1)):
        r.START = start
        done = subprocess.run([*start_of(first, ranks, False), "-n", str(2 * ranks), "sh", "-c", before + 'exec "$0" "$@"', f.ABUT, *words, "-o", f"{out}/"],
                              env=environment, capture_output=True, text=True, timeout=600, check=False)
        f.check(done.returncode == 0, f"{out}: {done}")
        names = json.loads(pathlib.Path(out, "manifest.json").read_text())["devices"]
        have = sum("[1 of" in name for name in names)
        f.check(os.cpu_count() < 2 or (have, len(names) - have) == (parts, whole), f"{out}: {names}")
    r.same("parts", "undivided", "devices of two machines, in parts and whole")


def killed(poses):
    """A rank of the second machine that is killed ends all; ranks of both go on, and then it is as without."""
    words = [*r.KINDS["compact"], "--block", 20, "--yes", "-o"]
    r.alone("compact", "-o", "whole/")
    process = r.begin(4, *words, "killed/", note=True)
    while process.poll() is None and not (os.path.exists("pid.3") and r.done("killed", 3, 4)):
        time.sleep(0.002)
    if process.poll() is None:
        os.kill(r.process_of(3), signal.SIGKILL)
    err = process.communicate(timeout=60)[1]
    have = len(r.poses_done("killed"))
    f.check(process.returncode != 0 and 0 < have < poses, f"status {process.returncode}, {have} of {poses} poses are done: {err}")
    r.run(3, 0, *words, "killed/", "--resume", says=["poses that are not finite"] * (7 not in r.poses_done("killed")))
    r.same("whole", "killed", "after a rank of the second machine was killed")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        f.make_inputs(100)
        machines, first = make_machines()
        start = r.START
        try:
            r.START = start_of(first, 2)
            alike("gradient")
            refused()
            if ALL:
                alike("compact")
                unlike()
            f.make_inputs(2000)
            killed(2000)
            if ALL:
                f.make_inputs(100)
                devices(first, start)
        finally:
            for machine in machines:
                machine.kill()
                machine.wait()
            os.chdir("/")
    print(f"{f.passed} passed, {f.failed} failed")
    sys.exit(f.failed > 0)


if __name__ == "__main__":
    main()
