"""OpenCL drivers from Python packages, and the warning if there is no driver."""
from __future__ import annotations

import os
import pathlib
import sys
import tempfile
import threading
import warnings
from typing import Any

_lock = threading.Lock()
_prepared = False
_warned = False


def warn(text: str) -> None:
    """Warns at the line outside the package that made the call."""
    folder, level = os.path.dirname(__file__), 1
    frame: Any = sys._getframe(0)
    while frame is not None and os.path.dirname(frame.f_code.co_filename) == folder:
        frame, level = frame.f_back, level + 1
    warnings.warn(text, stacklevel=level)


def _cache_folder() -> pathlib.Path | None:
    """Returns the folder in which the C library keeps compiled programs; None if it keeps none."""
    given = os.environ.get("ABUT_CACHE_DIR")
    if given == "off":
        return None
    if given:
        return pathlib.Path(given)
    cache = os.environ.get("XDG_CACHE_HOME")
    return (pathlib.Path(cache) if cache else pathlib.Path.home() / ".cache") / "abut"


def _has_system_driver() -> bool:
    folder = pathlib.Path("/etc/OpenCL/vendors")
    return folder.is_dir() and any(folder.glob("*.icd"))


def _offer_intel() -> None:
    """Makes Intel's CPU runtime from PyPI (abut[intel]) visible to loaders. Its own .icd file holds no path, and loaders do not
    look into an environment. This function writes a file with the path."""
    runtime = pathlib.Path(sys.prefix) / "lib" / "libintelocl.so"
    folder = _cache_folder()
    if not runtime.exists() or folder is None:
        return
    vendors = folder / "vendors"
    try:
        vendors.mkdir(parents=True, exist_ok=True)
        wanted, icd = f"{runtime}\n", vendors / "intel.icd"
        if not icd.exists() or icd.read_text() != wanted:
            with tempfile.NamedTemporaryFile("w", dir=vendors, delete=False) as file:
                file.write(wanted)
            os.replace(file.name, icd)
        os.environ["OCL_ICD_VENDORS"] = str(vendors)
    except OSError as error:
        warn(f"Intel's OpenCL runtime is installed and cannot be offered: {error}")


def prepare() -> None:
    """Prepares OpenCL before its first use in this process. Settings of the user are kept."""
    global _prepared
    with _lock:
        if not _prepared:
            _prepared = True
            if "OCL_ICD_VENDORS" not in os.environ and not _has_system_driver():
                _offer_intel()


def warn_of_host(device: Any) -> None:
    """Warns once if only the host path was found."""
    global _warned
    if device.type == "host" and not _warned:
        _warned = True
        warn("no OpenCL device was found, so the slow host path is used: install a "
             "driver, for the processor `apt install pocl-opencl-icd` or `pip install abut[intel]`")
