"""What compilers have made of programs before: the same text, built by the same compiler for the same
target, gives the same figures, and takes minutes.

A file an entry, in ABUT_OFFLINE_CACHE, else in abut/offline of the user's cache folder; with
ABUT_OFFLINE_CACHE=off nothing is kept.
"""
import hashlib
import json
import os
import pathlib

import vendors


def folder():
    own = os.environ.get("ABUT_OFFLINE_CACHE")
    if own:
        return None if own == "off" else pathlib.Path(own)
    base = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(base) / "abut" / "offline"


def entry(vendor, precision, program, root, target):
    """Where the figures are, by all that they depend on: the module's text with all that it includes,
    the compiler and libclc, and how vendors.py calls it and reads what it prints."""
    libraries = sorted((path.name, path.stat().st_size)
                       for path in pathlib.Path(vendors.libclc()).glob("*.bc"))
    parts = [vendor, precision, str(program), target, vendors.compiler(vendor, target),
             str(libraries), pathlib.Path(vendors.__file__).read_text("utf-8"),
             vendors.embed_kernels.source_of(root, program.module)]
    name = hashlib.sha256("\0".join(parts).encode()).hexdigest()
    return folder() / f"{name}.json"


def read(path):
    """The figures of each kernel, or None where they are not there whole."""
    try:
        return {name: vendors.Figures(*figures)
                for name, figures in json.loads(path.read_text("utf-8")).items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return None


def write(path, found):
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(f".{os.getpid()}")
        part.write_text(json.dumps(found), "utf-8")
        part.replace(path)
    except OSError:
        pass  # the next run builds it again


def build(vendor, precision, program, root, targets):
    """vendors.build, of what was not built before."""
    if not folder():
        yield from vendors.build(vendor, precision, program, root, targets)
        return
    paths = {target: entry(vendor, precision, program, root, target) for target in targets}
    known = {target: read(path) for target, path in paths.items()}
    yield from ((target, found) for target, found in known.items() if found is not None)
    left = [target for target, found in known.items() if found is None]
    for target, found in vendors.build(vendor, precision, program, root, left) if left else []:
        if found is not None:
            write(paths[target], found)
        yield target, found
