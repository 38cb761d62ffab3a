#!/usr/bin/env python3
"""The server of `abut view` by its protocol, without a browser: live.py ABUT ASSETS served|none

What it answers is compared with what `abut contacts` writes for the same poses and smoothing, to the bit.
"""
import array
import base64
import concurrent.futures
import http.client
import json
import os
import pathlib
import random
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import zipfile
import zlib

ABUT, ASSETS, KIND = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
BOX = str(ASSETS / "box.body.json")
POSES = [[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.02, 0.01, 0.17, 1.0, 0.0, 0.0, 0.1],
         [0.1, 0.0, 0.0, 1.0, 0.2, 0.0, 0.0, 0.05, 0.03, 0.16, 2.0, 0.3, 0.1, 0.1]]
ONE_MB = 1 << 20


def npy(rows, shape):
    head = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}"
    head += " " * (63 - (10 + len(head)) % 64) + "\n"
    numbers = array.array("d", [x for row in rows for x in row])
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + numbers.tobytes()


def write_npy(path, rows):
    path.write_bytes(npy(rows, (len(rows), len(rows[0]))))


def read_npz(path, name):
    """The float32 numbers of an array, one behind the other, and its shape."""
    data = zipfile.ZipFile(path).read(f"{name}.npy")
    length = struct.unpack("<H", data[8:10])[0]
    head = data[10:10 + length].decode()
    assert "'<f4'" in head, head
    return array.array("f", data[10 + length:]), [int(n) for n in re.search(r"\(([\d, ]*)\)", head)[1].split(",") if n.strip()]


def run(*words, code=0):
    done = subprocess.run([ABUT, *map(str, words)], capture_output=True, text=True, timeout=60)
    assert done.returncode == code, (words, done.returncode, done.stderr)
    return done.stderr


class Server:
    def __init__(self, *words, **settings):
        self.process = subprocess.Popen([ABUT, "view", *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **settings)
        line = self.process.stdout.readline()
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/([0-9a-f]{32})/\n", line)
        assert found, (line, self.process.stderr.read() if self.process.poll() is not None else "")
        self.port, self.token = int(found[1]), found[2]
        self.host = f"127.0.0.1:{self.port}"

    def ask(self, method="GET", path="", body=None, root=None, **headers):
        """Status, headers and bytes of an answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, (f"/{self.token}/" if root is None else root) + path, body=body, headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def contacts(self, request, **headers):
        body = request if isinstance(request, bytes) else json.dumps(request).encode()
        return self.ask("POST", "contacts", body, **headers)

    def end(self, number):
        self.process.send_signal(number)
        assert self.process.wait(timeout=30) == 0
        assert self.process.stdout.read() == ""  # but for the address nothing is there
        return self.process.stderr.read()


def answer_of(data):
    """An answer of contacts; of a world `contacts` are kinds of another smoothing."""
    magic, version, count, *layout = struct.unpack_from("<4sII9I", data)
    flags, pushes = struct.unpack_from("<II", data, 48)
    assert magic == b"abut" and version == 4
    at, out = 136, {"count": count, "contacts": layout[0], "flags": flags, "numbers": struct.unpack_from("<4d", data, 56),
                    "gradient": struct.unpack_from("<6d", data, 88)}
    candidates, forces = count if flags & 2 else 0, 3 * count if flags & 4 else 0
    for name, kind, numbers in (("slot", "I", count), ("feature", "I", 2 * count), ("p", "f", 3 * count), ("d", "f", count), ("n", "f", 3 * count),
                                ("activity", "f", count), ("candidate", "I", candidates), ("force", "f", forces), ("pushes", "f", pushes),
                                ("kinds", "I", 10 * layout[0] if flags & 2 else 0)):
        out[name] = array.array(kind, data[at:at + 4 * numbers])
        at += 4 * numbers
    assert len(data) == at
    return out


def curves_of(data):
    magic, version, count, rows = struct.unpack_from("<4s3I", data)
    assert magic == b"abut" and version == 4 and len(data) == 16 + 4 * rows * count
    values = array.array("f", data[16:])
    return [list(values[k * count:(k + 1) * count]) for k in range(rows)]


def request_of(row, **more):
    return {"pose1": row[:7], "pose2": row[7:], **more}


def page_of(server):
    """The object of the page."""
    return json.loads(re.search(r'<script type="application/json" id="object">(.*?)</script>', server.ask()[2].decode(), re.S)[1])


def check_who_may_ask(server):
    status, headers, page = server.ask()
    assert status == 200 and b"@LIVE@" not in page and b'"live":{' in page
    assert headers["Content-Type"].startswith("text/html") and headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Content-Security-Policy"] == "frame-ancestors 'none'" and headers["Cache-Control"] == "no-store"
    policy = re.search(rb'Content-Security-Policy" content="([^"]*)"', page)[1].decode()
    assert "unsafe" not in policy and "default-src 'none'" in policy and policy.endswith("; connect-src 'self'")
    assert b"://" not in page, "the page names another host"
    assert server.ask(path="alive")[0] == 204
    good = request_of(POSES[0])
    for root in ("/", "/favicon.ico", f"/{server.token}", f"/{server.token[:-1]}g/", f"/{'0' * 32}/", f"//{server.token}/"):
        assert server.ask(root=root)[0] == 404, root
    assert server.ask(path="nothing")[0] == 404
    assert server.ask("POST", "contacts", json.dumps(good).encode(), root="/")[0] == 404
    assert server.ask(path="contacts")[0] == 405 and server.ask("POST", "", b"{}")[0] == 405
    for host in ("evil.example", f"evil.example:{server.port}", "127.0.0.1", f"127.0.0.1:{server.port + 1}", f"10.0.0.1:{server.port}", "", ":"):
        assert server.contacts(good, Host=host)[0] == 403, host
        assert server.ask(Host=host)[0] == 403, host
    assert server.contacts(good, Host=f"localhost:{server.port}")[0] == 200
    for origin in ("http://evil.example", "null", f"https://{server.host}", f"http://{server.host}.evil.example", f"http://localhost:{server.port}"):
        assert server.contacts(good, Origin=origin)[0] == 403, origin
    assert server.contacts(good, Origin=f"http://{server.host}")[0] == 200


def check_bad_requests(server, smoothing):
    good = request_of(POSES[0])
    for request, text in (
            (b"", "line 1"), (b"[]", "must be an object"), (b"{", "line 1"), (b"\xff\x00", "line 1"), (b"[" * 100_000, "line 1"),
            ({**good, "pose2": [0.0] * 5}, ": has 5 numbers, expected 6 (a twist) or 7 (a position and a quaternion)"), ({**good, "pose2": [0.0] * 6}, "pose1 has 7 numbers, but pose2 has 6"),
            ({**good, "pose2": [0.0, None, 0, 1, 0, 0, 0]}, ": number 1 (0-based) is not a number"), ({"pose1": good["pose1"]}, "pose2"), ({}, "pose1"),
            (json.dumps({**good, "pose2": [float("nan")] * 7}).encode(), "line 1"), (json.dumps(good).replace("0.17", "1e999").encode(), "line 1"),
            ({**good, "pose2": [0.0] * 7}, "quaternion has length 0"), ({**good, "threshold": 1.5}, "threshold"), ({**good, "threshold": "0"}, "threshold"),
            ({"frame": 2}, "frame 2 does not exist (frames 0-1)"), ({"frame": -1}, "frame: must be 1 whole number"), ({"frame": 0.0}, "frame: must be 1"),
            ({**good, "frame": 0}, "a request must have poses, a frame or curves"), ({"frame": 0, "curves": [0, 1]}, "not for both"), ({"curves": [1, 2]}, "frames 1-2 do not all exist (frames 0-1)"),
            ({"curves": [0, 0]}, "curves: 0 frames are not in [1,"), ({"curves": [0, 99999]}, "99999 frames are not"), ({"curves": [0]}, "curves: must be 2 whole"),
            ({"curves": [4294967295, 4096]}, "frames 4294967295-4294971390 do not all exist (frames 0-1)"), ({"curves": 3}, "curves: must be 2"), ({"frame": 0, "contact": [0, 1]}, "contact: works only with curves"),
            ({**good, "reduction": "depth"}, "reduction"), ({**good, "colour": 1}, "`colour`"), ({**good, "smoothing": 3}, "smoothing: must be an object"),
            ({**good, "smoothing": {**smoothing, "penetration": -1.0}}, "-1 is not in ["), ({**good, "smoothing": {**smoothing, "select": "best"}}, "softsort"),
            ({**good, "smoothing": {**smoothing, "reach": 1e-3}}, "reach: this key was removed in version 0.3: use edge contacts in fields (\"edge_contacts\": \"field\")"), ({**good, "smoothing": {}}, "length")):
        status, headers, told = server.contacts(request)
        assert status == 400 and text in told.decode(), (request, status, told)
        assert headers["Content-Type"].startswith("text/plain")
    assert server.contacts(b'{"a": "' + b"x" * (ONE_MB - 9) + b'"}')[0] == 400  # as much as is allowed
    # Brackets that stand in each other: text of them must not be indented, which would make gigabytes of a request.
    status, _, told = server.contacts(b'{"frame": 0, "smoothing": {"x": ' + b"[" * 1800 + b"1," * (ONE_MB // 2 - 2000) + b"1" + b"]" * 1800 + b"}}")
    assert status == 400 and "unknown key" in told.decode()
    if pathlib.Path("/proc").is_dir():
        most = int(re.search(r"VmHWM:\s*(\d+) kB", pathlib.Path(f"/proc/{server.process.pid}/status").read_text())[1])
        assert most < 1_000_000, most  # of some 100 MB; a sanitizer takes more
    for head in (f"Content-Length: {ONE_MB + 1}", "Content-Length: 99999999999999"):
        with socket.create_connection(("127.0.0.1", server.port), 30) as s:
            s.sendall(f"POST /{server.token}/contacts HTTP/1.1\r\nHost: {server.host}\r\n{head}\r\n\r\n".encode())
            assert s.recv(12) == b"HTTP/1.1 413", head
    with socket.create_connection(("127.0.0.1", server.port), 30) as s:  # a size that is not told before
        s.sendall(f"POST /{server.token}/contacts HTTP/1.1\r\nHost: {server.host}\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
        piece = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
        s.sendall(17 * piece + b"0\r\n\r\n")
        assert s.recv(12) == b"HTTP/1.1 413"


def check_garbage(server):
    """Damaged requests, from a fixed seed: none ends the server, or is answered as if it were good."""
    chance = random.Random(35)
    body = json.dumps(request_of(POSES[0])).encode()
    good = (f"POST /{server.token}/contacts HTTP/1.1\r\nHost: {server.host}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n").encode() + body
    for _ in range(60):
        damaged = bytearray(good)
        for _ in range(chance.randint(1, 20)):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        with socket.create_connection(("127.0.0.1", server.port), 30) as s:
            try:
                s.sendall(damaged[:chance.randint(1, len(damaged))])
                s.shutdown(socket.SHUT_WR)
                while s.recv(65536):
                    pass
            except OSError:
                pass  # it may close at once
    assert server.ask(path="alive")[0] == 204


def check_contacts(server, folder, smoothing):
    """All slots of every pose are those of `abut contacts`, and a threshold takes those from it on."""
    softer = {**smoothing, "penetration": 3 * smoothing["penetration"], "select": "softsort", "edge_contacts": "pairs", "cone_inner": 0, "cone_outer": 0, "edges": [5, 7]}
    fields = {**smoothing, "edge_contacts": "field", "tilt": 0.05, "inset": 1e-3, "part": 2e-3, "gain": 5e-4, "slope": 0.05, "samples": 1}
    (folder / "softer.json").write_text(json.dumps(softer))
    (folder / "fields.json").write_text(json.dumps(fields))
    run("contacts", BOX, BOX, "--poses", folder / "poses.npy", "-o", folder / "a.npz", "-q")
    run("contacts", BOX, BOX, "--poses", folder / "poses.npy", "--smoothing", folder / "softer.json", "-o", folder / "b.npz", "-q")
    run("contacts", BOX, BOX, "--poses", folder / "poses.npy", "--smoothing", folder / "fields.json", "-o", folder / "c.npz", "-q")
    for name, more in (("b", {"smoothing": softer}), ("c", {"smoothing": fields}), ("a", {}), ("a", {"smoothing": smoothing}), ("a", {"smoothing": smoothing, "reduction": "energy"})):
        wanted = {key: read_npz(folder / f"{name}.npz", key) for key in ("p", "d", "n", "activity")}
        for i, row in enumerate(POSES):
            status, _, data = server.contacts(request_of(row, **more))
            assert status == 200, data
            made, slots = answer_of(data), wanted["d"][1][1]
            assert made["count"] == made["contacts"] == slots and list(made["slot"]) == list(range(slots))
            for key, columns in (("p", 3), ("d", 1), ("n", 3), ("activity", 1)):
                assert made[key].tobytes() == wanted[key][0][i * columns * slots:(i + 1) * columns * slots].tobytes(), (name, key)
            assert abs(made["numbers"][1] - sum(made["activity"])) < 1e-4 * max(1, sum(made["activity"]))
            assert made["flags"] == (1 if "reduction" in more else 0)
            assert server.contacts(request_of(row, **more))[2] == data  # again, by the pair that is there
            few = answer_of(server.contacts(request_of(row, threshold=0.5, **more))[2])
            assert list(few["slot"]) == [k for k in range(slots) if made["activity"][k] >= 0.5]
    check_frames(server, folder)
    twist = {"pose1": [0.0] * 6, "pose2": [0.02, 0.01, 0.17, 0.0, 0.0, 0.0]}
    assert answer_of(server.contacts(twist)[2])["contacts"] == slots


def check_frames(server, folder):
    """Frames are the poses that were loaded, to the bit, and curves are theirs."""
    activities, (_, slots) = read_npz(folder / "a.npz", "activity")
    made = [answer_of(server.contacts({"frame": i, "threshold": 0.05})[2]) for i in range(len(POSES))]
    for i, row in enumerate(POSES):
        assert server.contacts({"frame": i})[2] == server.contacts(request_of(row))[2]
        assert list(made[i]["slot"]) == [k for k in range(slots) if activities[i * slots + k] >= 0.05]
    slot = made[0]["slot"][0]
    least, sums, energy, activity, d = curves_of(server.contacts({"curves": [0, 2], "threshold": 0.05, "contact": [0, slot]})[2])
    for i, answer in enumerate(made):
        assert (least[i], sums[i], energy[i]) == answer["numbers"][:3]
        at = list(answer["slot"]).index(slot) if slot in answer["slot"] else None
        assert (activity[i], d[i]) == (answer["activity"][at], answer["d"][at]) if at is not None else activity[i] != activity[i]
    assert curves_of(server.contacts({"curves": [1, 1]})[2]) == [[least[1]], [sums[1]], [energy[1]]]


PAIRS = ((1, 0), (2, 0), (2, 1), (4, 1), (4, 2))  # bodies of drop.scene.json's pairs


def check_forces(world, page, frame):
    """Forces of all slots of a frame add up to what each free link is pushed with."""
    every = answer_of(world.contacts({"frame": frame, "threshold": 0})[2])
    sums, compared = {}, 0
    for i, candidate in enumerate(every["candidate"]):
        force = every["force"][3 * i:3 * i + 3]
        for side, sign in ((0, 1.0), (1, -1.0)):
            mover = page["bodies"][PAIRS[candidate][side]]["mover"]
            before = sums.get(mover, [0.0] * 3)
            sums[mover] = [before[k] + sign * force[k] for k in range(3)]
    for mover, at in enumerate(page["pushed"]):
        if at >= 0:
            assert all(abs(sums[mover][k] - every["pushes"][at + k]) < 1e-3 for k in range(3)), (mover, sums[mover], every["pushes"])
            compared += abs(every["pushes"][at + 2]) > 1.0
    assert compared


def check_world(folder):
    """Frames of a world: the contacts that `simulate` kept, pushes of free links, and by another smoothing of one kind."""
    scene = json.loads((ASSETS / "drop.scene.json").read_text())
    motor = scene.pop("actuators")
    path = folder / "drop.scene.json"
    path.write_text(json.dumps(scene))
    run("simulate", path, "--steps", "300", "--record", "100", "--contacts", "-o", folder / "drop.npz", "-q")
    world = Server(path, folder / "drop.npz")
    page = page_of(world)
    assert page["scene"] and page["frames"] == 4 and page["pairs"] == [] and len(page["layouts"]) == len(page["live"]["smoothing"]) > 1
    frame, kept = 3, read_npz(folder / "drop.npz", "contact_p")[0]
    data = world.contacts({"frame": frame, "threshold": 0.05})[2]
    made = answer_of(data)
    assert made["count"] > 2 and made["p"].tobytes() == kept[-3 * made["count"]:].tobytes() and made["contacts"] == 0
    assert abs(made["numbers"][0] - min(made["d"])) < 1e-9 and abs(made["numbers"][1] - sum(made["activity"])) < 1e-4
    free = [at for at in page["pushed"] if at >= 0]
    assert free and any(abs(made["pushes"][at + 2]) > 1e-3 for at in free)
    check_forces(world, page, frame)
    least, sums, activity, d, *pressed = curves_of(world.contacts({"curves": [0, 4], "threshold": 0.05, "contact": [made["candidate"][0], made["slot"][0]]})[2])
    assert (least[frame], activity[frame], d[frame]) == (made["numbers"][0], made["activity"][0], made["d"][0])
    assert abs(sums[frame] - made["numbers"][1]) < 1e-5 and [len(row) for row in pressed] == [4, 4]
    own_force = [made["force"][k] for k in range(3)]
    assert abs(pressed[0][frame] ** 2 + pressed[1][frame] ** 2 - sum(x * x for x in own_force)) <= 1e-4 * sum(x * x for x in own_force)
    own = {str(k): json.loads(text) for k, text in enumerate(page["live"]["smoothing"])}
    assert answer_of(world.contacts({"frame": frame, "threshold": 0.05, "smoothing": own})[2])["p"] == made["p"]
    softer = {k: {**s, "penetration": 3 * s["penetration"], "edges": [3, 3]} for k, s in own.items()}
    other = answer_of(world.contacts({"frame": frame, "threshold": 0.05, "smoothing": softer})[2])
    assert not other["force"] and other["pushes"] == made["pushes"]  # forces are of the scene's own smoothing
    assert other["contacts"] == len(own) and list(other["kinds"][::10]) == list(range(len(own))) and other["numbers"][1] > made["numbers"][1]
    assert all(layout[3] <= 3 and layout[4] <= 3 for layout in (other["kinds"][10 * k + 1:10 * k + 10] for k in range(len(own))))
    for request, text in (({"frame": 0, "smoothing": {"99": own["0"]}}, "`99` is not a kind of pairs"), ({"frame": 0, "smoothing": {"": own["0"]}}, "is not a kind"),
                          ({"frame": 0, "smoothing": {"0": own["0"], "00": own["0"]}}, "kind 0 is named twice"), ({"frame": 0, "smoothing": {"0": 3}}, "kind 0 must be an object"), ({"frame": 0, "smoothing": {"0": {**own["0"], "penetration": -1}}}, "-1 is not in ["),
                          ({"frame": 4}, "frame 4 does not exist (frames 0-3)"), (request_of(POSES[0]), "without poses"), ({"frame": 0, "reduction": "energy"}, "without poses")):
        status, _, told = world.contacts(request)
        assert status == 400 and text in told.decode(), (request, told)
    assert world.contacts({"frame": frame, "threshold": 0.05})[2] == data  # what was refused has left nothing
    assert "rror" not in world.end(signal.SIGINT)
    check_controls(folder, {**scene, "actuators": motor})


def check_controls(folder, scene):
    """With controls, forces of a scene with actuators are those of its steps: the box gains what they and gravity give it."""
    path, steps, mass, h = folder / "motor.scene.json", 300, 1.3824, 0.002
    path.write_text(json.dumps(scene))
    for name, torque in (("driven", 4.0), ("idle", 0.0)):
        with zipfile.ZipFile(folder / f"{name}.npz", "w") as z:
            z.writestr("u.npy", npy([[torque * (k > 100)] for k in range(steps)], (steps, 1, 1)))
    run("simulate", path, "--controls", folder / "driven.npz", "-o", folder / "motor.npz", "-q")
    v, (_, _, nv) = read_npz(folder / "motor.npz", "v")
    alone = Server(path, folder / "motor.npz")  # without controls forces are not known, which the page says
    page = page_of(alone)
    made = answer_of(alone.contacts({"frame": 290, "threshold": 0.05})[2])
    assert "the scene has controls" in page["unforced"] and "pushed" not in page and made["count"] and not made["force"] and not made["pushes"]
    assert "does not contain the scene's controls: forces are shown only with --controls" in alone.end(signal.SIGINT)
    pushes = {}
    for name in ("driven", "idle"):
        world = Server(path, folder / "motor.npz", "--controls", folder / f"{name}.npz")
        box = next(at for at in page_of(world)["pushed"] if at >= 0)
        pushes[name] = [answer_of(world.contacts({"frame": k, "threshold": 0.05})[2])["pushes"][box:box + 3] for k in range(250, steps, 5)]
        world.end(signal.SIGINT)
    for k, push in zip(range(250, steps, 5), pushes["driven"]):
        for i in range(3):
            gained = (v[(k + 1) * nv + i] - v[k * nv + i]) / h + (9.81 if i == 2 else 0.0)
            assert abs(push[i] - mass * gained) < 0.02 * max(1.0, abs(push[i])), (k, i, push[i], mass * gained)
    assert max(abs(a[0] - b[0]) for a, b in zip(pushes["driven"], pushes["idle"])) > 0.5
    with zipfile.ZipFile(folder / "short.npz", "w") as z:
        z.writestr("u.npy", npy([[0.0]] * 20, (20, 1, 1)))
    assert ": array 'u': has 20 steps, but state 21 (0-based) of" in run("view", path, folder / "motor.npz", "--controls", folder / "short.npz", code=2)
    with zipfile.ZipFile(folder / "nan.npz", "w") as z:
        z.writestr("u.npy", npy([[float("nan")]], (1, 1)))
    assert "nan" in run("view", path, folder / "motor.npz", "--controls", folder / "nan.npz", code=2)
    assert "--controls works only with a scene" in run("view", BOX, BOX, "--controls", folder / "idle.npz", code=2)


def check_moved(folder):
    """A scene with moved links is served without forces, which are not known where the page shows these links, be there controls or not."""
    path, steps = folder / "moved.scene.json", 20
    path.write_text(json.dumps({"links": [{"name": "floor", "bodies": [{"plane": [2, 2]}]}, {"name": "hand", "position": [0, 0, 0.5], "joint": {"type": "moved"}},
                                          {"name": "box", "position": [0, 0, 0.059], "density": 500, "joint": {"type": "free"}, "bodies": [{"box": [0.1, 0.08, 0.06]}]}],
                                "pairs": [{"a": "floor", "b": "box"}]}))
    with zipfile.ZipFile(folder / "hand.npz", "w") as z:
        z.writestr("u.npy", npy([[0.01 * k, 0.0, 0.0, 0.0, 0.0, 0.0] for k in range(steps)], (steps, 1, 6)))
    run("simulate", path, "--controls", folder / "hand.npz", "-o", folder / "moved.npz", "-q")
    for more in ((), ("--controls", folder / "hand.npz")):
        world = Server(path, folder / "moved.npz", *more)
        assert "the scene has moved links" in page_of(world)["unforced"] and "pushed" not in page_of(world)
        status, _, data = world.contacts({"frame": 10, "threshold": 0.05})
        assert status == 200, data
        made = answer_of(data)
        assert made["count"] and not made["force"] and not made["pushes"]
        status, _, data = world.contacts({"curves": [0, steps], "threshold": 0.05, "contact": [made["candidate"][0], made["slot"][0]]})
        assert status == 200 and len(curves_of(data)) == 4, data
        said = world.end(signal.SIGINT)
        assert "the scene has moved links: forces are not shown" in said and "rror" not in said, said


def array_of(path, name):
    """The float32 numbers of an array of a page in a file, one behind the other: rows lie as planes of their bytes."""
    text = path.read_text()
    page, packed = (re.search(rf'id="{element}">(.*?)</script>', text, re.S)[1] for element in ("object", "arrays"))
    a, data = json.loads(page)["arrays"][name], zlib.decompress(base64.b64decode(packed), -15)
    rows, width = a["rows"], 4 * a["columns"]
    assert a["type"] == "f4"
    return array.array("f", b"".join(data[a["at"] + i:a["at"] + width * rows:rows] for i in range(rows)))


def check_welded(folder):
    """What a weld holds in the air is pushed by no contact, and what rests, with what hangs on it by a hinge, by its weight."""
    box = {"density": 500, "bodies": [{"box": [0.1, 0.08, 0.06]}]}
    weight, path = 500 * 0.2 * 0.16 * 0.12 * 9.81, folder / "welded.scene.json"
    path.write_text(json.dumps({
        "links": [{"name": "floor", "bodies": [{"plane": [2, 2]}]}, {"name": "held", "position": [0, 0, 2], "joint": {"type": "free"}, **box},
                  {"name": "resting", "position": [0, 0, 0.06], "joint": {"type": "free"}, **box},
                  {"name": "hinged", "parent": "resting", "position": [0.3, 0, 0], "joint": {"type": "hinge", "position": [-0.15, 0, 0], "axis": [0, 1, 0]}, **box}],
        "pairs": [{"a": "floor", "b": name} for name in ("held", "resting", "hinged")], "equalities": [{"kind": "weld", "a": "held"}]}))
    run("simulate", path, "--steps", "400", "--record", "400", "-o", folder / "welded.npz", "-q")
    run("view", path, folder / "welded.npz", "-o", folder / "welded.html", "-q")
    world = Server(path, folder / "welded.npz")
    page, frame = page_of(world), 1
    softer = {k: {**json.loads(text), "edges": [3, 3]} for k, text in enumerate(page["live"]["smoothing"])}
    asked = [{"frame": frame, "threshold": 0.05, **more} for more in ({}, {"smoothing": softer})]
    for pushes, first in [(answer_of(world.contacts(request)[2])["pushes"], page["pushed"]) for request in asked] + [(array_of(folder / "welded.html", "forces")[12 * frame:], [0, 3, 6, 9])]:
        assert list(pushes[first[1]:first[1] + 3]) == [0.0] * 3, pushes
        assert all(abs(pushes[first[2] + k] - (2 * weight if k == 2 else 0.0)) < 5e-3 * weight for k in range(3)), (pushes, weight)
    world.end(signal.SIGINT)


def check_gradient(server):
    """The gradient by body 2's place is the slope of the value that comes with it."""
    def value(**moved):
        row = list(POSES[0])
        row[9] += moved.get("z", 0.0)
        return answer_of(server.contacts(request_of(row, reduction="energy", threshold=0.05))[2])

    step, here = 1e-4, value()
    slope = (value(z=step)["numbers"][3] - value(z=-step)["numbers"][3]) / (2 * step)
    assert slope < 0 and abs(here["gradient"][2] - slope) < 0.01 * abs(slope), (here["gradient"], slope)
    assert here["numbers"][3] == here["numbers"][2]


def check_newest(server):
    """Of many at once each is answered, or told that a newer one has come."""
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        codes = list(pool.map(lambda k: server.contacts(request_of(POSES[k % 2], reduction="energy"))[0], range(24)))
    assert set(codes) <= {200, 409} and 200 in codes, codes


def check_port_of_http():
    """On port 80 browsers leave the port out. Where this user may not listen there, or another does, nothing is known."""
    server = Server(BOX, BOX, "--port", "80", "-q") if may_listen(80) else None
    if server and server.port == 80:
        for host in ("127.0.0.1", "localhost", "127.0.0.1:80"):
            assert server.ask(path="alive", Host=host)[0] == server.ask(path="alive", Host=host, Origin=f"http://{host}")[0] == 204, host
        for host in ("evil.example", "10.0.0.1", "127.0.0.1:", "127.0.0.1:81", ""):
            assert server.ask(path="alive", Host=host)[0] == 403, host
        assert server.ask(path="alive", Host="127.0.0.1", Origin="http://evil.example")[0] == 403
    if server:
        server.end(signal.SIGINT)


def may_listen(port):
    with socket.socket() as s:
        try:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            s.bind(("127.0.0.1", port))
            return True
        except OSError:
            return False


def check_open(folder):
    """What --open starts has the address, standard error, SIGPIPE as by default and a group of its own; how it ends is told."""
    opener = folder / ("open" if sys.platform == "darwin" else "xdg-open")
    opener.write_text('#!/bin/sh\necho "on standard output"\ncd "${0%/*}"\n'
                      'for word in "$1" "$(cut -d " " -f 5 /proc/$$/stat)" "$$" "$(grep SigIgn /proc/$$/status)"; do echo "$word"; done > told\nexit 3\n')
    opener.chmod(0o755)
    server = Server(BOX, BOX, "--open", "-q", env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"})
    said = [server.process.stderr.readline()]
    while said[-1] and f"--open: {opener.name}" not in said[-1]:
        said.append(server.process.stderr.readline())
    told = (folder / "told").read_text().split("\n")
    assert told[0] == f"http://{server.host}/{server.token}/"
    if sys.platform == "linux":
        assert int(told[1]) == int(told[2]) != os.getpgrp()
        assert not int(told[3].split()[1], 16) >> (signal.SIGPIPE - 1) & 1
    assert "on standard output\n" in said and f"{opener.name}: it exited with status 3; open the address yourself" in said[-1], said
    server.end(signal.SIGINT)


def check_served(folder):
    write_npy(folder / "poses.npy", POSES)
    for words, text in ((("--listen", "nowhere"), "--listen: `nowhere`"), (("--port", "0"), "--port"), (("--port", "70000"), "--port"),
                        (("--open", "-o", folder / "x.html", "--poses", folder / "poses.npy"), "--open works only with a server"), (("--index", "1"), "pose 1 does not exist (only pose 0)")):
        assert text in run("view", BOX, BOX, *words, code=2), words
    server = Server(BOX, BOX, "--poses", folder / "poses.npy", "--index", "1", "--port", "18420")
    smoothing = json.loads(page_of(server)["live"]["smoothing"][0])
    check_who_may_ask(server)
    check_bad_requests(server, smoothing)
    check_contacts(server, folder, smoothing)
    check_gradient(server)
    check_newest(server)
    check_garbage(server)
    check_port_of_http()
    check_open(folder)
    other = Server(BOX, BOX, "--port", str(server.port), "-q")
    assert other.port > server.port and other.token != server.token
    lone = page_of(other)
    assert lone["frames"] == 1
    assert "rror" not in other.end(signal.SIGTERM)
    idle = socket.create_connection(("127.0.0.1", server.port), 30)  # which says nothing, and does not keep it
    assert "rror" not in server.end(signal.SIGINT)
    idle.close()
    check_world(folder)
    check_moved(folder)
    check_welded(folder)


def main():
    os.environ.setdefault("ABUT_TEST_DEVICE", "host")
    with tempfile.TemporaryDirectory() as folder:
        if KIND == "served":
            check_served(pathlib.Path(folder))
        else:
            told = run("view", BOX, BOX, code=2)
            assert "libmicrohttpd" in told and "-o PAGE.html" in told, told
    print("1 passed, 0 failed")


if __name__ == "__main__":
    main()
