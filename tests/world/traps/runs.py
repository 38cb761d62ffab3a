"""Runs of `abut simulate`, and what a trap says of them by itself: energies from masses, positions and velocities."""
import array
import ast
import math
import struct
import subprocess
import zipfile

GRAVITY = 9.81
CODES = {"<f4": "f", "<f8": "d", "<u4": "I", "<u8": "Q", "<i8": "q"}


def read_npz(path):
    """{name: (shape, flat array)}."""
    out = {}
    with zipfile.ZipFile(path) as file:
        for name in file.namelist():
            data = file.read(name)
            size = 2 if data[6] == 1 else 4
            end = 8 + size + int.from_bytes(data[8:8 + size], "little")
            header = ast.literal_eval(data[8 + size:end].decode())
            numbers = array.array(CODES[header["descr"]])
            numbers.frombytes(data[end:])
            out[name.removesuffix(".npy")] = header["shape"], numbers
    return out


def write_npz(path, **arrays):
    """Each a list of rows of numbers, written as float64, or a list of such lists."""
    with zipfile.ZipFile(path, "w") as file:
        for name, rows in arrays.items():
            shape, flat = [], rows
            while isinstance(flat[0], (list, tuple)):
                shape.append(len(flat) // math.prod(shape))
                flat = [x for row in flat for x in row]
            shape.append(len(flat) // math.prod(shape))
            header = repr({"descr": "<f8", "fortran_order": False, "shape": tuple(shape)}).encode()
            header += b" " * (63 - (10 + len(header)) % 64) + b"\n"
            file.writestr(f"{name}.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header +
                          array.array("d", flat).tobytes())


# ---- quaternions w, x, y, z ----
def about(axis, angle):
    length = math.hypot(*axis)
    return [math.cos(angle / 2), *(math.sin(angle / 2) / length * x for x in axis)]


def times(a, b):
    w, x, y, z = a
    return [w * b[0] - x * b[1] - y * b[2] - z * b[3], w * b[1] + x * b[0] + y * b[3] - z * b[2],
            w * b[2] - x * b[3] + y * b[0] + z * b[1], w * b[3] + x * b[2] - y * b[1] + z * b[0]]


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def turned(q, v):
    """A vector by a quaternion of any length."""
    length = math.hypot(*q)
    w, u = q[0] / length, [c / length for c in q[1:]]
    once = [2 * c for c in cross(u, v)]
    return [x + w * a + b for x, a, b in zip(v, once, cross(u, once))]


def any_turn(random):
    q = [random.gauss(0, 1) for _ in range(4)]
    return [c / math.hypot(*q) for c in q]


def point(pose, p):
    """A link's point in the world."""
    return [a + b for a, b in zip(pose[:3], turned(pose[3:7], p))]


# ---- runs ----
class Run:
    """What a run has kept. Links are those that are free, by number, first to last."""

    def __init__(self, path, scene):
        kept = read_npz(path)
        self.solids = [link for link in scene["links"] if link.get("joint", {}).get("type") == "free"]
        self.kept, self.worlds, self.nq = kept["q"][0]
        self.nv = kept["v"][0][2]
        self.times, self.status = list(kept["time"][1]), list(kept["status"][1])
        self.q_of, self.v_of = kept["q"][1], kept["v"][1]
        (_, _, *pairs), counts = kept["contact_count"]  # of scenes with automatic pairs a world's contacts are counted together
        self.counts, self.d = math.prod(pairs), kept["contact_d"][1]
        self.ends = [0]
        for count in counts:
            self.ends.append(self.ends[-1] + count)

    def q(self, k, world=0):
        return self.q_of[(k * self.worlds + world) * self.nq:][:self.nq]

    def v(self, k, world=0):
        return self.v_of[(k * self.worlds + world) * self.nv:][:self.nv]

    def pose(self, k, link, world=0):
        return list(self.q(k, world)[7 * link:7 * link + 7])

    def at(self, time):
        """The first state kept from then on."""
        return next(k for k, t in enumerate(self.times) if t >= time - 1e-9)

    def since(self, time):
        return range(self.at(time), self.kept)

    def distances(self, k, world=0):
        """Of all contacts that are kept [m], of listed and of automatic pairs."""
        first = (k * self.worlds + world) * self.counts
        return self.d[self.ends[first]:self.ends[first + self.counts]]

    def deepest(self, k, world=0):
        """Of all contacts that are kept [m], 0 if none is in the other body."""
        return max([-d for d in self.distances(k, world)] + [0.0])

    def speed(self, k, link, world=0):
        return math.hypot(*self.v(k, world)[6 * link:6 * link + 3])

    def spin(self, k, link, world=0):
        return math.hypot(*self.v(k, world)[6 * link + 3:6 * link + 6])

    def energy(self, k, world=0):
        """Kinetic and potential [J], of free links alone."""
        kinetic = potential = 0.0
        q, v = self.q(k, world), self.v(k, world)
        for i, solid in enumerate(self.solids):
            pose, linear, angular = q[7 * i:7 * i + 7], v[6 * i:6 * i + 3], list(v[6 * i + 3:6 * i + 6])
            way = turned(pose[3:7], cross(angular, solid["com"]))
            kinetic += 0.5 * solid["mass"] * sum((a + b) ** 2 for a, b in zip(linear, way))
            kinetic += 0.5 * sum(angular[a] * solid["inertia"][a][b] * angular[b] for a in range(3) for b in range(3))
            potential += solid["mass"] * GRAVITY * point(pose, solid["com"])[2]
        return kinetic, potential

    def rise(self, world=0):
        """By how much energy ever rose between two kept states above what it may: a thousandth of what has been lost
        so far [J]."""
        energies = [sum(self.energy(k, world)) for k in range(self.kept)]
        return max(after - before - 1e-3 * max(energies[0] - before, 0.0) for before, after in zip(energies, energies[1:]))


def simulate(abut, scene, out, *words, states=None, controls=None):
    """Contacts of an activity below 0.1 are not kept."""
    files = (["--states", states] if states else []) + (["--controls", controls] if controls else [])
    done = subprocess.run([str(word) for word in (abut, "simulate", scene, *files, "--contacts", "--threshold", 0.1, "-q", "-o", out, *words)],
                          capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr.rstrip())
    return done.stderr
