"""The C library through cffi, its texts, and its errors as exceptions."""
from __future__ import annotations

import os
import threading
from typing import Any

from abut._abut import ffi, lib

__all__ = ["Error", "check", "ffi", "lib", "path_of", "text_of"]


# Progress functions for batches, fields, decompositions and scenes, which check for signals; and the function that reports
# builds.
GO_ON: Any = ffi.addressof(lib, "abutpy_go_on")
FIELD_GOES_ON: Any = ffi.addressof(lib, "abutpy_field_goes_on")
SCENE_GOES_ON: Any = ffi.addressof(lib, "abutpy_scene_goes_on")
BUILDS: Any = ffi.addressof(lib, "abutpy_builds")


class Error(Exception):
    """An error of the C library.

    status  its number, negative: OpenCL's own codes from -1 to -1999, abut's below
    name    that number's name, such as "ABUT_ERROR_BODY"
    """

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status
        self.name: str = ffi.string(lib.abut_status_name(status)).decode()

    def __reduce__(self) -> tuple[object, ...]:
        return Error, (self.status, str(self))


Error.__module__ = "abut"


def text_of(characters: Any) -> str:
    """Returns a text of the library."""
    return str(ffi.string(characters).decode(errors="replace"))


def path_of(path: str | os.PathLike[str]) -> bytes:
    """Returns a path in the form of the library."""
    name = os.fsdecode(path)
    if "\0" in name:
        raise ValueError(f"{name!r} is not a path")
    return os.fsencode(name)


_pending = threading.local()


def _keep(kind: Any, value: BaseException, trace: Any) -> None:
    _pending.raised = value


@ffi.def_extern(error=False, onerror=_keep)  # type: ignore[untyped-decorator]
def abutpy_check_signals() -> bool:
    """Called between chunks. Python runs signal handlers when a function starts."""
    return True


def check(status: int) -> None:
    """Raises the error of a call of the library, if there is one."""
    if status:
        if status == lib.ABUT_ERROR_CANCELLED:
            raised, _pending.raised = getattr(_pending, "raised", None), None
            raise raised or KeyboardInterrupt
        if status == lib.ABUT_ERROR_MEMORY:
            raise MemoryError(text_of(lib.abut_last_error()))
        raise Error(status, text_of(lib.abut_last_error()))
