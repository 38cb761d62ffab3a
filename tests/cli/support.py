"""What the tests of the command share: runs of it, arrays of .npz files, bodies and poses.

Their arguments are ABUT [FAILING] [FUNCTION...]: the command, with abut-dev beside it, the library of failing.c, and the
functions to run in place of all. They compute on $ABUT_TEST_DEVICE, else the host. Each function begins in a folder of its
own, which holds what `inputs` writes. Python's own library is all that is needed: builds with sanitizers and machines
without NumPy and pytest run these tests, too. Checks are counted and go on.
"""
import array
import ast
import itertools
import json
import math
import os
import pathlib
import re
import resource
import shlex
import signal
import struct
import subprocess
import sys
import tempfile
import traceback
import zipfile

TESTS = pathlib.Path(__file__).resolve().parents[1]
ABUT = os.path.abspath(sys.argv[1])
FAILING = next((os.path.abspath(word) for word in sys.argv[2:] if not word.startswith("test_")), "")
DEVICE = os.environ.get("ABUT_TEST_DEVICE", "host")
ON = f"--device {DEVICE}"
# The usual run takes a share of what the long run takes whole; sanitizers get fewer numbers through the same code.
USUAL = os.environ.get("ABUT_TEST_USUAL") == "1" and os.environ.get("ABUT_TEST_ALL") != "1"
SANITIZED = os.environ.get("ABUT_TEST_SANITIZED") == "1"
POSES = "cube.body.json slab.body.json --poses poses.csv"
MESHES = "cube.obj slab.obj --poses poses.csv"
HEADER = "r1x,r1y,r1z,w1x,w1y,w1z,r2x,r2y,r2z,w2x,w2y,w2z"
MISSING = "No such file or directory"
os.environ.pop("POSIXLY_CORRECT", None)
os.environ["ABUT_TUNING"] = ""  # no settings of the user's own
os.environ["ABUT_TEST_PROGRESS"] = "0"  # no lines of what takes long, however slow the machine is
if DEVICE == "host":
    os.environ["OCL_ICD_VENDORS"] = "/nonexistent"


class Skipped(Exception):
    """The rest of a file cannot run here."""


# ---- checks ----

counts = {"passed": 0, "failed": 0}


def check(good, text):
    counts["passed" if good else "failed"] += 1
    if not good:
        print("FAILED:", text)


def lines_with(text, regex):
    """How many lines of a text hold what the expression says."""
    return sum(re.search(regex, line) is not None for line in text.split("\n"))


def has(text, *regexes):
    for regex in regexes:
        check(lines_with(text, regex), f"no line has {regex}:\n{text}")


def lacks(text, regex):
    check(not lines_with(text, regex), f"a line has {regex}:\n{text}")


def says(text, *lines):
    """The lines are there, whole."""
    for line in lines:
        check(line in text.split("\n"), f"the line is not there: {line}\n{text}")


def there(*paths):
    for path in paths:
        check(os.path.exists(path) and os.path.getsize(path), f"{path} is not there")


def absent(*paths):
    for path in paths:
        check(not os.path.lexists(path), f"{path} is there")


def is_png(data):
    check(data[1:4] == b"PNG", f"no PNG: {data[:8]}")


def no_leftovers(folder="."):
    """Nothing that an interrupted write has left behind."""
    left = list(pathlib.Path(folder).glob(".abut*"))
    check(not left, f"{left} was left behind")


def content(path):
    return pathlib.Path(path).read_bytes()


def text_of(path):
    return pathlib.Path(path).read_text(encoding="utf-8")


def same_bytes(a, b):
    check(content(a) == content(b), f"{a} and {b} differ")


def different(a, b):
    check(content(a) != content(b), f"{a} and {b} are the same")


def valid_json(text):
    try:
        value = json.loads(text)
    except ValueError as error:
        value = None
        print(error)
    check(value is not None, f"no JSON:\n{text}")
    return value


# ---- the command ----


class Said:
    """How a command ended, and what it said."""

    def __init__(self, done):
        self.status = done.returncode if done.returncode >= 0 else 128 - done.returncode
        self.stdout = done.stdout or b""
        self.out = self.stdout.decode("utf-8", "replace")
        # The first time that it compiles a program, PoCL writes how often its compiler warned.
        self.err = re.sub(r"(?m)^\d+ warnings? generated\.\n", "", (done.stderr or b"").decode("utf-8", "replace"))


def words_of(*words):
    """Texts are cut as a shell cuts them, lists are words as they stand."""
    return [str(w) for word in words for w in (shlex.split(word) if isinstance(word, str) else word)]


def command(*words, dev=False, env=(), limit=None, ignore=None, stdout=subprocess.PIPE, **more):
    """What abut, or with dev abut-dev, says. limit: a resource and how much of it there is; ignore: a signal that is ignored."""

    def before():
        if limit:
            resource.setrlimit(limit[0], (limit[1], limit[1]))
        if ignore:
            signal.signal(ignore, signal.SIG_IGN)

    more.setdefault("stdin", subprocess.DEVNULL)
    return Said(subprocess.run([ABUT + "-dev" * dev, *words_of(*words)], stdout=stdout, stderr=subprocess.PIPE, check=False,
                               env={**os.environ, **dict(env)}, preexec_fn=before if limit or ignore else None, **more))


FULL_DISK = (resource.RLIMIT_FSIZE, 0)  # no file may hold a byte


def several(given):
    return [given] if isinstance(given, str) else given


def ended(said, status, name, out=None, err=None, line=(), is_json=False):
    """Checks an end. out and err: expressions that lines match, "" where there are none; line: whole lines on stderr."""
    check(said.status == status, f"status {said.status}, not {status}: {name}\n{said.out}{said.err}")
    for given, text, where in ((out, said.out, "stdout"), (err, said.err, "stderr")):
        if given == "":
            check(not text, f"{where} is not empty: {name}\n{text}")
        elif given is not None:
            has(text, *several(given))
    says(said.err, *several(line))
    if is_json:
        valid_json(said.out)
    return said


def run(status, *words, out=None, err=None, line=(), is_json=False, **more):
    name = " ".join(words_of(*words))
    return ended(command(*words, **more), status, name, out, err, line, is_json)


def wrong(text, *words, dev=False, **more):
    """Exit status 2, this line on stderr, nothing on stdout."""
    return run(2, *words, dev=dev, line="abut" + "-dev" * dev + f": {text}", out="", **more)


def usage(text, *words, dev=False):
    """The same, with a hint to the help."""
    has(wrong(text, *words, dev=dev).err, "^See `abut" + "-dev" * dev + " .*--help`\\.$")


# ---- arrays ----

TYPES = {"<f4": ("f", "float32"), "<f8": ("d", "float64"), "|u1": ("B", "uint8"), "|b1": ("B", "bool"), "<u4": ("I", "uint32"),
         "<i4": ("i", "int32"), "<i8": ("q", "int64")}


class Array(list):
    """The numbers of an array, one behind the other, with its shape and type."""

    def __init__(self, numbers, shape, kind):
        super().__init__(numbers)
        self.shape, self.kind = tuple(shape), kind

    def rows(self, width=None):
        """Lists of so many numbers, by default those of an index of the first axis."""
        width = width or math.prod(self.shape[1:])
        return [self[i:i + width] for i in range(0, len(self), width)]

    def first(self, count):
        """The first so many of the first axis."""
        count = min(count, self.shape[0])
        return Array(self[:count * math.prod(self.shape[1:])], (count, *self.shape[1:]), self.kind)

    def swapped(self):
        """With the first two axes swapped."""
        a, b, *rest = self.shape
        rows = self.rows(math.prod(rest))
        return Array((x for j in range(b) for i in range(a) for x in rows[i * b + j]), (b, a, *rest), self.kind)


def full(shape, *values):
    """These values over and over: float64 where one is a float, else int64."""
    shape = (shape,) if isinstance(shape, int) else shape
    return Array(itertools.islice(itertools.cycle(values), math.prod(shape)), shape,
                 "<f8" if any(isinstance(v, float) for v in values) else "<i8")


def read(path, name):
    """An array of an .npz file, or a text."""
    with zipfile.ZipFile(path) as file:
        data = file.read(f"{name}.npy")
    end = 10 + struct.unpack("<H", data[8:10])[0]
    head = ast.literal_eval(data[10:end].decode())
    if head["descr"].startswith("<U"):
        return data[end:].decode("utf-32-le")
    numbers = array.array(TYPES[head["descr"]][0], data[end:])
    return Array(numbers, head["shape"], head["descr"])


def layout(path):
    """A line for each array: its name, type and shape."""
    with zipfile.ZipFile(path) as file:
        arrays = {name[:-4]: read(path, name[:-4]) for name in file.namelist()}
    return "\n".join(f"{name} text" if isinstance(a, str) else " ".join(map(str, (name, TYPES[a.kind][1], *a.shape)))
                     for name, a in arrays.items())


def laid_out(path, *lines):
    says(layout(path), *lines)


def write(path, **arrays):
    """An .npz file of arrays, and of texts."""
    with zipfile.ZipFile(path, "w") as file:
        for name, a in arrays.items():
            kind, shape = (f"<U{len(a)}", ()) if isinstance(a, str) else (a.kind, a.shape)
            head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}"
            head += " " * (63 - (10 + len(head)) % 64) + "\n"
            data = a.encode("utf-32-le") if isinstance(a, str) else array.array(TYPES[kind][0], a).tobytes()
            file.writestr(f"{name}.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + data)


def is_near(got, want, within):
    """Both are as long, and no number is farther off than this; a single number is wanted of all."""
    want = [want] * len(got) if isinstance(want, (int, float)) else want
    return len(got) == len(want) > 0 and all(abs(a - b) <= within for a, b in zip(got, want))


def near(got, want, within, text="numbers"):
    check(is_near(got, want, within), f"{text}: {list(got)[:20]}, not {want}")


def holds(path, name, want, within=1e-5):
    near(read(path, name), want, within, f"{name} of {path}")


def agree(path, name, other, other_name, limit):
    """An array is another to so much of the other's largest number."""
    got, want = read(path, name), read(other, other_name)
    check(got.shape == want.shape and is_near(got, want, limit * max(map(abs, want), default=0)),
          f"{name} of {path} is not {other_name} of {other} to {limit}: {got[:8]}, {want[:8]}")


def same_arrays(path, other, *names):
    """To the bit, where no number is NaN; of none there is nothing to compare."""
    for name in names:
        a, b = read(path, name), read(other, name)
        alike = isinstance(a, str) or (a.shape, a.kind) == (b.shape, b.kind)
        check(len(a) and a == b and alike, f"{name} of {path} is not that of {other}")


def all_are(path, name, value, count=None):
    a = read(path, name)
    check(len(a) == (count or len(a)) > 0 and all(x == value for x in a), f"{name} of {path}: {a[:20]}")


# ---- bodies: a cube of 1 m, and above it a slab that its corners press into ----


def put(path, text):
    pathlib.Path(path).write_text(text, encoding="utf-8")


def changed(path, to, *changes, **more):
    """A file's text with expressions replaced, as another file."""
    text = text_of(path)
    for old, new in changes:
        text = re.sub(old, new, text, flags=re.MULTILINE, **more)
    put(to, text)


def box(name, x, y, z):
    corners = "".join(f"v {x if i & 1 else -x} {y if i & 2 else -y} {z if i & 4 else -z}\n" for i in range(8))
    put(f"{name}.obj", corners + "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n")
    put(f"{name}.body.json", f"""{{"name": "{name}", "mesh": "{name}.obj",
 "polyhedra": [{{"planes": [[1, 0, 0, {x}, 0, 0], [-1, 0, 0, -{x}, 0, 0],
                           [0, 1, 0, 0, {y}, 0], [0, -1, 0, 0, -{y}, 0],
                           [0, 0, 1, 0, 0, {z}], [0, 0, -1, 0, 0, -{z}]]}}]}}
""")


def obj_has(path, vertices=None, faces=None):
    """How many vertices and faces there are, of which one may not be asked about."""
    text = text_of(path)
    check(all(count in (None, lines_with(text, regex)) for count, regex in ((vertices, "^v "), (faces, "^f "))),
          f"{path} has not {vertices} vertices and {faces} faces")


def in_millimetres(path, to):
    """A mesh a thousand times as large."""
    put(to, re.sub(r"(?m)^v .*", lambda m: " ".join(["v", *(str(1000 * float(x)) for x in m[0].split()[1:])]), text_of(path)))


def twists(path, *rows, header=HEADER):
    """A .csv of poses."""
    put(path, "".join(line + "\n" for line in (header, *rows)))


def forty_poses():
    twists("forty.csv", *(f"0,0,0,0,0,0,0,0,0.98,0,0,{i / 100}" for i in range(40)))


def quaternions(path, *pose2):
    """Three poses of two bodies, by default the slab above the cube; the second has no rotation."""
    pose2 = pose2 or (0., 0, 0.98, 1, 0, 0, 0, 0, 0, 0.98, 0, 0, 0, 0, 0, 0, 0.98, 1, 0, 0, 0)
    write(path, pose1=full((3, 7), 0., 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0), pose2=full((3, 7), *pose2))


def inputs():
    box("cube", 0.5, 0.5, 0.5)
    box("slab", 2, 2, 0.5)
    twists("poses.csv", "0,0,0,0,0,0,0,0,0.98,0,0,0", "0,0,0,0,0,0,0,0,1.5,0,0,0", "1,2,3,0,0,0,1,2,3.98,0,0,0")
    twists("not-finite.csv", "0,0,0,0,0,0,0,0,0.98,0,0,0", "0,0,nan,0,0,0,0,0,0.98,0,0,0",
           "0,0,0,0,0,0,0,0,0.98,0,0,inf", "0,0,0,0,0,0,1e300,0,0.98,0,0,0")
    twists("none.csv")
    put("sharp.json", """{"length": 1, "union": 1e-4, "plane": 1e-4, "normal": 1e-12, "penetration": 1e-3, "neighbour": 0.01,
 "clash": 0.1, "sign": 0.1, "sort": 0.01, "clip": 0.1, "minimum": 0.1, "compare": 0.1,
 "ridge": 0.01, "distance": 1e-10, "trace": 0, "inside": false, "select": "softsort",
 "edge_edge": true, "two_sided": true, "edges": [0, 0], "vertices": [0, 0]}
""")
    os.symlink(TESTS, "tests")


# ---- the device ----


def tried(device, *words):
    case = TESTS / "golden/box-on-box"
    return command("contacts", [case / "a.body.json", case / "b.body.json", "--poses", case / "poses.npz"],
                   "-o /dev/null -q --device", [device], *words)


if "no device is" in tried(DEVICE).err:
    print("there is no device", DEVICE)
    sys.exit(77)
# The widest reals that the device has; the host path has both.
WIDE = "f64" if DEVICE == "host" or tried(DEVICE, "--precision f64").status == 0 else "f32"
TYPE = {"f64": "float64", "f32": "float32"}[WIDE]
# False where the device cannot be divided into parts, as GPUs cannot.
PARTS = not lines_with(tried(f"{DEVICE}/1").err, "cannot be divided$")


def main():
    """Runs the functions of the file, or those that are named, and says how many checks passed."""
    here = vars(sys.modules["__main__"])
    named = [word for word in sys.argv[2:] if word.startswith("test_")]
    skipped = None
    home, environment = os.getcwd(), dict(os.environ)
    with tempfile.TemporaryDirectory() as scratch:
        for name in named or [name for name in here if name.startswith("test_")]:
            os.mkdir(f"{scratch}/{name}")
            os.chdir(f"{scratch}/{name}")
            inputs()
            try:
                here.get("setup", bool)()  # what all of the file's functions begin with
                here[name]()
            except Skipped as why:
                skipped = why
            except Exception:  # pylint: disable=broad-except
                check(False, f"{name}: {traceback.format_exc()}")
            os.environ.clear()
            os.environ.update(environment)
            if skipped:
                break
        os.chdir(home)
    print(f"{counts['passed']} passed, {counts['failed']} failed")
    if skipped and not counts["failed"]:
        print(f"skipped: {skipped}")
    sys.exit(1 if counts["failed"] else 77 if skipped else 0)
