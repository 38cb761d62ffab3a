"""The C library as cffi sees it, its texts, and its errors as exceptions."""
from __future__ import annotations

import os
import threading
from typing import Any

from abut._abut import ffi, lib

__all__ = ["Error", "check", "ffi", "lib", "path_of", "text_of"]


# What the progress of a batch, of a field, of a decomposition and of a scene is: they ask for signals. And who hears of builds.
GO_ON: Any = ffi.addressof(lib, "abutpy_go_on")
FIELD_GOES_ON: Any = ffi.addressof(lib, "abutpy_field_goes_on")
SCENE_GOES_ON: Any = ffi.addressof(lib, "abutpy_scene_goes_on")
BUILDS: Any = ffi.addressof(lib, "abutpy_builds")


class Error(Exception):
    """An error of the C library.

    status  its number, negative: OpenCL's own codes from -1 to -1999, abut's beyond
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
    """A text of the library's."""
    return str(ffi.string(characters).decode(errors="replace"))


def path_of(path: str | os.PathLike[str]) -> bytes:
    """A path as the library takes it."""
    name = os.fsdecode(path)
    if "\0" in name:
        raise ValueError(f"{name!r} is no path")
    return os.fsencode(name)


_pending = threading.local()


def _keep(kind: Any, value: BaseException, trace: Any) -> None:
    _pending.raised = value


@ffi.def_extern(error=False, onerror=_keep)  # type: ignore[untyped-decorator]
def abutpy_check_signals() -> bool:
    """Asked between chunks. Python runs signals' handlers when it begins a function."""
    return True


def check(status: int) -> None:
    """Raises what a call of the library has failed with."""
    if status:
        if status == lib.ABUT_ERROR_CANCELLED:
            raised, _pending.raised = getattr(_pending, "raised", None), None
            raise raised or KeyboardInterrupt
        if status == lib.ABUT_ERROR_MEMORY:
            raise MemoryError(text_of(lib.abut_last_error()))
        raise Error(status, text_of(lib.abut_last_error()))
