#!/usr/bin/env python3
"""The server of `abut view` by its protocol, without a browser: live.py ABUT ASSETS served|none

What it answers is compared with what `abut contacts` writes for the same poses and smoothing, to the bit.
"""
import array
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

ABUT, ASSETS, KIND = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
BOX = str(ASSETS / "box.body.json")
POSES = [[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.02, 0.01, 0.17, 1.0, 0.0, 0.0, 0.1],
         [0.1, 0.0, 0.0, 1.0, 0.2, 0.0, 0.0, 0.05, 0.03, 0.16, 2.0, 0.3, 0.1, 0.1]]
ONE_MB = 1 << 20


def write_npy(path, rows):
    head = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({len(rows)}, {len(rows[0])}), }}"
    head += " " * (63 - (10 + len(head)) % 64) + "\n"
    numbers = array.array("d", [x for row in rows for x in row])
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + numbers.tobytes())


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
    magic, version, count, *layout = struct.unpack_from("<4sII9I", data)
    flags, _ = struct.unpack_from("<II", data, 48)
    assert magic == b"abut" and version == 1
    assert len(data) == 136 + 44 * count
    at, out = 136, {"count": count, "contacts": layout[0], "flags": flags, "numbers": struct.unpack_from("<4d", data, 56),
                    "gradient": struct.unpack_from("<6d", data, 88)}
    for name, kind, columns in (("slot", "I", 1), ("feature", "I", 2), ("p", "f", 3), ("d", "f", 1), ("n", "f", 3), ("activity", "f", 1)):
        out[name] = array.array(kind, data[at:at + 4 * columns * count])
        at += 4 * columns * count
    return out


def request_of(row, **more):
    return {"pose1": row[:7], "pose2": row[7:], **more}


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
            (b"", "line 1"), (b"[]", "an object"), (b"{", "line 1"), (b"\xff\x00", "line 1"), (b"[" * 100_000, "line 1"),
            ({**good, "pose2": [0.0] * 5}, "5 numbers, not 6"), ({**good, "pose2": [0.0] * 6}, "pose1 has 7 numbers and pose2 6"),
            ({**good, "pose2": [0.0, None, 0, 1, 0, 0, 0]}, "number 1, counted from 0"), ({"pose1": good["pose1"]}, "pose2"),
            (json.dumps({**good, "pose2": [float("nan")] * 7}).encode(), "line 1"), (json.dumps(good).replace("0.17", "1e999").encode(), "line 1"),
            ({**good, "pose2": [0.0] * 7}, "quaternion has length 0"), ({**good, "threshold": 1.5}, "threshold"), ({**good, "threshold": "0"}, "threshold"),
            ({**good, "reduction": "depth"}, "reduction"), ({**good, "colour": 1}, "`colour`"), ({**good, "smoothing": 3}, "not an object"),
            ({**good, "smoothing": {**smoothing, "penetration": -1.0}}, "-1 is not within"), ({**good, "smoothing": {**smoothing, "select": "best"}}, "softsort"),
            ({**good, "smoothing": {**smoothing, "reach": 1e-5, "penetration": 1e-3}}, "reach"), ({**good, "smoothing": {}}, "length")):
        status, headers, told = server.contacts(request)
        assert status == 400 and text in told.decode(), (request, status, told)
        assert headers["Content-Type"].startswith("text/plain")
    assert server.contacts(b'{"a": "' + b"x" * (ONE_MB - 9) + b'"}')[0] == 400  # as much as is allowed
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
    softer = {**smoothing, "penetration": 3 * smoothing["penetration"], "reach": 0, "select": "softsort", "edges": [5, 7]}
    (folder / "softer.json").write_text(json.dumps(softer))
    run("contacts", BOX, BOX, "--poses", folder / "poses.npy", "-o", folder / "a.npz", "-q")
    run("contacts", BOX, BOX, "--poses", folder / "poses.npy", "--smoothing", folder / "softer.json", "-o", folder / "b.npz", "-q")
    for name, more in (("b", {"smoothing": softer}), ("a", {}), ("a", {"smoothing": smoothing}), ("a", {"smoothing": smoothing, "reduction": "energy"})):
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
    twist = {"pose1": [0.0] * 6, "pose2": [0.02, 0.01, 0.17, 0.0, 0.0, 0.0]}
    assert answer_of(server.contacts(twist)[2])["contacts"] == slots


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
    assert "on standard output\n" in said and f"{opener.name}: it ended with status 3; the address is for you to open" in said[-1], said
    server.end(signal.SIGINT)


def check_served(folder):
    write_npy(folder / "poses.npy", POSES)
    for words, text in ((("--listen", "nowhere"), "--listen: `nowhere`"), (("--port", "0"), "--port"), (("--port", "70000"), "--port"),
                        (("--open", "-o", folder / "x.html", "--poses", folder / "poses.npy"), "--open is of a server"), (("--index", "1"), "there is no pose 1")):
        assert text in run("view", BOX, BOX, *words, code=2), words
    server = Server(BOX, BOX, "--poses", folder / "poses.npy", "--index", "1", "--port", "18420")
    page = server.ask()[2].decode()
    smoothing = json.loads(json.loads(re.search(r'<script type="application/json" id="object">(.*?)</script>', page, re.S)[1])["live"]["smoothing"])
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
    lone = json.loads(re.search(r'<script type="application/json" id="object">(.*?)</script>', other.ask()[2].decode(), re.S)[1])
    assert lone["frames"] == 1
    assert "rror" not in other.end(signal.SIGTERM)
    idle = socket.create_connection(("127.0.0.1", server.port), 30)  # which says nothing, and does not keep it
    assert "rror" not in server.end(signal.SIGINT)
    idle.close()
    run("simulate", ASSETS / "drop.scene.json", "--steps", "2", "-o", folder / "drop.npz", "-q")
    world = Server(ASSETS / "drop.scene.json", folder / "drop.npz")
    assert b'"scene":true' in world.ask()[2] and world.ask("POST", "contacts", b"{}")[0] == 404
    world.end(signal.SIGINT)


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
