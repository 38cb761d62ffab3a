"""Progress of long calls, for the caller's function or as a line on a terminal."""
from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from abut._native import _keep, ffi, text_of

__all__ = ["Progress", "Teller", "teller"]

# A caller's `progress`: a function of a text and the fraction done, False for silence, or None for a line on a terminal.
Progress = Callable[[str, float], object] | bool | None

_AFTER, _EVERY = 1.0, 0.2  # delay before the first line, and interval between updates [s]


class Teller:
    """Progress of one call of the library. `handle` is its `user`."""

    def __init__(self, named: Callable[[str], str]) -> None:
        self._named = named
        self.handle: Any = ffi.new_handle(self)

    def tell(self, what: str, share: float) -> None:
        """Reports progress. what: the library's name of the step; share: fraction of the whole."""

    def end(self) -> None:
        """Ends the report for now."""


class _Function(Teller):
    def __init__(self, function: Callable[[str, float], object], named: Callable[[str], str]) -> None:
        super().__init__(named)
        self._function = function

    def tell(self, what: str, share: float) -> None:
        self._function(self._named(what), share)


class _Line(Teller):
    """A line on stderr after a second. The next line replaces it, and the last one is removed at the end."""

    def __init__(self, named: Callable[[str], str]) -> None:
        super().__init__(named)
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None
        self._text, self._shown = "", 0.0

    def _show(self) -> None:
        with self._lock:
            if self._timer is not None:
                self._shown = time.monotonic()
                print(f"\r\033[K{self._text}", end="", file=sys.stderr, flush=True)

    def tell(self, what: str, share: float) -> None:
        if share >= 1.0:
            return
        with self._lock:
            self._text = f"abut: {self._named(what)}" + (f", {share:.0%}" if share > 0.0 else "")
            due = self._shown > 0.0 and time.monotonic() > self._shown + _EVERY
            if self._timer is None:
                self._timer = threading.Timer(_AFTER, self._show)
                self._timer.daemon = True
                self._timer.start()
        if due:
            self._show()

    def end(self) -> None:
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
            if self._shown:
                print("\r\033[K", end="", file=sys.stderr, flush=True)
            self._timer, self._shown = None, 0.0


def teller(progress: Progress, named: Callable[[str], str] = str) -> Teller:
    """Returns the progress object for a caller's `progress`. `named` replaces the library's names."""
    if callable(progress):
        return _Function(progress, named)
    if progress not in (None, False):
        raise TypeError(f"progress is {progress!r}, not a function, False or None")
    return _Line(named) if progress is None and sys.stderr is not None and sys.stderr.isatty() else Teller(named)


@ffi.def_extern(error=False, onerror=_keep)  # type: ignore[untyped-decorator]
def abutpy_say(user: Any, what: Any, share: float) -> bool:
    """Reports the progress of scenes that are loaded. An exception in the caller's function ends the loading, and _native.check
    raises it again."""
    ffi.from_handle(user).tell(text_of(what), share)
    return True


@ffi.def_extern()  # type: ignore[untyped-decorator]
def abutpy_say_building(user: Any, what: Any, done: bool) -> None:
    """Reports the building of a context's kernels, in a device's own thread."""
    told = ffi.from_handle(user)
    told.tell(f"compiling {text_of(what)}, once", float(done))
    if done:
        told.end()
