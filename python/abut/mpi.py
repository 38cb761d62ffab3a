"""Batches that ranks of MPI share, by mpi4py: each rank gets the next block when it is free.

    # mpirun -n 16 python program.py
    import abut, abut.mpi, numpy as np
    context = abut.mpi.context()             # on the rank's own device
    pair = context.pair(context.load("A.body.json"), context.load("B.body.json"))
    g2 = abut.mpi.open_output("g2.npy", (len(np.load("poses.npy", mmap_mode="r")), 6))
    abut.mpi.reduce(pair, "poses.npy", "energy", {"grad2": g2}, grad=True)

All ranks make the same call, each with its own context and pairs; rank 0 computes, too. Only counts and errors are sent, and
all ranks raise errors as RankError. The results of a pose are the same to the bit on every rank, with devices of one kind.
"""
from __future__ import annotations

import os
import signal
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Union

import numpy as np

from abut import _calls
from abut._context import Context, devices as _devices
from abut._native import Error, check as _check, ffi as _ffi, lib as _lib

try:
    from mpi4py import MPI
except (ImportError, RuntimeError) as _error:
    raise ImportError("abut.mpi needs mpi4py and the MPI whose mpirun starts the ranks: pip install mpi4py, and of Debian "
                      f"openmpi-bin: {_error}") from _error

__all__ = ["RankError", "contacts", "context", "open_output", "reduce", "run", "share"]

Array = Any
_Piece = tuple[int, int]  # elements first .. stop - 1
Poses = Union[str, "os.PathLike[str]", Array, Callable[[int, int], tuple[Any, ...]]]
Sink = Union[Callable[[int, Any], Any], Mapping[str, Any]]

_ASK, _ANSWER, _END = 1, 2, 3  # tags
_SERVE_EVERY = 0.001  # [s]
_BLOCK_BYTES, _BLOCK_MOST = 64 << 20, 1 << 18
_NUMBER_MOST = (1 << 63) - 1  # bound on numbers in messages
# As in src/mpi/shares.c: the first block of a rank of unknown speed relative to an equal share, a block of a rank of known
# speed relative to its expected share, and the shortest worthwhile block [s].
_FIRST, _OF_EXPECTED, _LEAST = 1 / 256, 0.5, 0.03
# Errors that are the same on every rank: is_own of src/mpi/calls.c.
_OF_ALL = ("ABUT_ERROR_CANCELLED", "ABUT_ERROR_ARGUMENT", "ABUT_ERROR_HANDLE")


class RankError(RuntimeError):
    """An error of one rank, raised on all of them; on that rank `__cause__` is the exception itself.

    rank  the first rank of the communicator that failed
    """

    def __init__(self, rank: int, text: str) -> None:
        super().__init__(f"rank {rank}: {text}")
        self.rank = rank


def _wait(request: Any) -> None:
    """Waits without taking the processor from ranks that compute."""
    pause = 2e-5
    while not request.Test():
        time.sleep(pause)
        pause = min(2 * pause, 1e-3)


class _Shares:
    """The number of elements that a rank is given at once: the policy of src/mpi/shares.c."""

    def __init__(self, total: int, most: int, ranks: int) -> None:
        self.total, self.most, self.given, self.stopped = total, most, 0, False
        self.speed = [0.0] * ranks
        self.turn = threading.Lock()

    def next(self, rank: int, speed: float) -> tuple[int, int]:
        with self.turn:
            self.stopped = self.stopped or speed < 0.0
            self.speed[rank] = speed if speed > 0.0 else self.speed[rank]
            left = 0 if self.stopped else self.total - self.given
            least, share = self.speed[rank] * _LEAST, self._expected(rank) * left
            wanted = share if share > least else least
            count = min(left, max(1, int(wanted) if wanted < self.most else self.most))
            first = self.given
            self.given += count
            return first, count

    def _expected(self, rank: int) -> float:
        """Returns the expected speed. A rank of unknown speed counts like the others."""
        total, known = 0.0, 0
        for speed in self.speed:  # sum() rounds differently since Python 3.12
            total += speed
            known += speed > 0.0
        if not self.speed[rank]:
            return _FIRST / len(self.speed)
        return _OF_EXPECTED * self.speed[rank] / (total * len(self.speed) / known)


class _Signals:
    """Keeps exceptions of signal handlers, such as KeyboardInterrupt, during one call. An exception while ranks communicate would
    leave the others waiting. It is therefore kept until this rank computes, or until the call has ended.

    Handlers run only in the main thread; other threads do nothing here.
    """

    def __init__(self) -> None:
        self.held, self.raised = True, None  # type: bool, BaseException | None
        self.former: dict[int, Callable[..., Any]] = {}
        if threading.current_thread() is threading.main_thread():
            try:
                self._begin()
            except BaseException:  # from a signal whose handler was not yet replaced
                self._restore()
                raise

    def _begin(self) -> None:
        for number in signal.valid_signals():
            former = signal.getsignal(number)
            if callable(former):
                self.former[number] = former
                signal.signal(number, self._handle)

    def _handle(self, number: int, frame: Any) -> None:
        try:
            self.former[number](number, frame)
        except BaseException as error:
            if not self.held:
                self.held = True  # later exceptions wait
                raise
            self.raised = self.raised or error

    def _raise(self) -> None:
        error, self.raised = self.raised, None
        if error is not None:
            raise error

    def _restore(self) -> None:
        for number, former in self.former.items():
            if signal.getsignal(number) == self._handle:
                signal.signal(number, former)

    def work(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Returns the result of the function, which handlers may interrupt."""
        try:
            self.held = False
            self._raise()
            return function(*arguments)
        finally:
            self.held = True

    def end(self) -> None:
        self._restore()
        self._raise()


class _Team:
    """The ranks of a communicator, during one call.

    A failure inside MPI ends all ranks, and so does an exception on one rank that cannot report it to the others.
    """

    def __init__(self, comm: Any) -> None:
        given = MPI.COMM_WORLD if comm is None else comm
        if given == MPI.COMM_NULL or given.Is_inter():
            raise ValueError("comm must be an intracommunicator (one group of ranks)")
        self.agreed = False  # all ranks raise the current exception
        self.signals = _Signals()
        try:
            self.comm = given.Dup()
            self.comm.Set_errhandler(MPI.ERRORS_ARE_FATAL)  # mpi4py's own handler would raise on this rank only
            self.node = self.comm.Split_type(MPI.COMM_TYPE_SHARED)
            self.node.Set_errhandler(MPI.ERRORS_ARE_FATAL)
            self.rank, self.size = self.comm.Get_rank(), self.comm.Get_size()
        except BaseException:
            self.signals.end()
            raise

    def __enter__(self) -> _Team:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is not None and not self.agreed and self.size > 1:
            self.abort(error)
        self.node.Free()
        self.comm.Free()
        self.signals.end()

    def abort(self, error: BaseException) -> None:
        traceback.print_exception(type(error), error, error.__traceback__)
        sys.stderr.flush()
        self.comm.Abort(1)

    def refuse(self, text: str) -> None:
        """Raises on all ranks an error that all ranks have detected."""
        self.agreed = True
        raise ValueError(text)

    def least(self, *numbers: int) -> list[int]:
        array = np.array(numbers, np.int64)
        _wait(self.comm.Iallreduce(MPI.IN_PLACE, array, MPI.MIN))
        return [int(n) for n in array]

    def agree(self, error: BaseException | None) -> None:
        """Raises on all ranks if one has failed, with the text of the first such rank."""
        failed = self.least(self.size if error is None else self.rank)[0]
        if failed == self.size:
            return
        said = _text_of(error).encode(errors="backslashreplace") if failed == self.rank else b""
        text = np.frombuffer(said, np.uint8).copy()
        length = np.array([text.size], np.int64)
        _wait(self.comm.Ibcast(length, failed))
        text = text if failed == self.rank else np.empty(int(length[0]), np.uint8)
        _wait(self.comm.Ibcast(text, failed))
        self.agreed = True
        if error is not None and not isinstance(error, Exception):
            raise error  # KeyboardInterrupt and similar
        raise RankError(failed, text.tobytes().decode(errors="replace")) from error

    def attempt(self, function: Callable[[], Any]) -> Any:
        """Returns the result of a function that does not call MPI; all ranks raise if it fails on one."""
        answer, error = None, None
        try:
            answer = self.signals.work(function)
        except BaseException as raised:
            error = raised
        self.agree(error)
        return answer

    def serve(self, shares: _Shares) -> None:
        """Answers requests on rank 0, until all others have ended. Without the answers they would wait forever."""
        try:
            self._serve(shares)
        except BaseException as error:
            self.abort(error)

    def _serve(self, shares: _Shares) -> None:
        status, asked, answer = MPI.Status(), np.empty(1), np.empty(2, np.int64)
        others = self.size - 1
        while others:
            if not self.comm.Iprobe(MPI.ANY_SOURCE, MPI.ANY_TAG, status):
                time.sleep(_SERVE_EVERY)
                continue
            rank, tag = status.Get_source(), status.Get_tag()
            self.comm.Recv(asked, rank, tag)
            if tag == _END:
                others -= 1
                continue
            answer[:] = shares.next(rank, float(asked[0]))
            self.comm.Send(answer, rank, _ANSWER)

    def begin_serving(self, shares: _Shares) -> threading.Thread | None:
        """Answers requests in a thread while rank 0 computes. Without a thread, rank 0 only answers, and the others compute
        everything."""
        if self.rank or self.size == 1:
            return None
        thread = threading.Thread(target=self.serve, args=(shares,), name="abut.mpi")
        try:
            thread.start()
        except (RuntimeError, MemoryError):
            self.serve(shares)
            return None
        return thread

    def ask(self, shares: _Shares, speed: float) -> tuple[int, int]:
        if self.rank == 0:
            return shares.next(0, speed)
        answer = np.empty(2, np.int64)
        request = self.comm.Irecv(answer, 0, _ANSWER)
        self.comm.Send(np.array([speed]), 0, _ASK)
        _wait(request)
        return int(answer[0]), int(answer[1])

    def hand_out(self, pieces: Sequence[_Piece], most: int, job: _Job, last: bool = False,
                 out: bool = False) -> tuple[BaseException | None, _Piece]:
        """Computes this rank's pieces of a batch, or with `out` only answers. Returns the rank's error and the elements that it
        leaves to others, which it never does in the last round."""
        shares, speed = _Shares(sum(stop - first for first, stop in pieces), most, self.size), 0.0
        error: BaseException | None = None
        thread = self.begin_serving(shares)
        try:
            first, length = (0, 0) if out else self.ask(shares, speed)
            while length:
                begun, piece = time.monotonic(), (0, 0)
                try:
                    for piece in _within(pieces, first, first + length):
                        self.signals.work(job.work, *piece)
                except BaseException as raised:
                    error = raised
                    if not last and job.leaves(error):
                        return error, piece
                speed = length / max(time.monotonic() - begun, 1e-9)
                # After this rank's failure the others only finish their current blocks.
                first, length = self.ask(shares, speed if error is None else -1.0)
                length = length if error is None else 0
        finally:
            if thread is not None:
                thread.join()
            elif self.rank:
                self.comm.Send(np.zeros(1), 0, _END)
        return error, (0, 0)

    def sums(self, numbers: Sequence[int]) -> list[int]:
        array = np.array(numbers, np.int64)
        _wait(self.comm.Iallreduce(MPI.IN_PLACE, array, MPI.SUM))
        return [int(n) for n in array]

    def do_all(self, most: int, job: _Job) -> None:
        """Computes all of a batch. In a second round, once, the other ranks compute the elements that failed ranks have left."""
        error, left = self.hand_out([(0, job.total)], most, job)
        leaves = left[1] > left[0]
        well, lost, ended = self.sums((error is None, leaves, error is not None and not leaves))
        if ended or not lost or not well:
            self.agree(error)
            return
        own = [0] * (2 * self.size)
        own[2 * self.rank : 2 * self.rank + 2] = left
        of = self.sums(own)
        self.agree(self.hand_out(list(zip(of[::2], of[1::2])), most, job, last=True, out=leaves)[0])
        if error is not None:
            self.agreed = True  # the others have completed the batch and continue
            raise RankError(self.rank, _text_of(error)) from error


def _within(pieces: Sequence[_Piece], first: int, stop: int) -> list[_Piece]:
    """Returns the parts of elements first .. stop - 1, which are counted across the pieces."""
    found, at = [], 0
    for begin, end in pieces:
        low, high = max(first, at), min(stop, at + end - begin)
        if low < high:
            found.append((begin + low - at, begin + high - at))
        at += end - begin
    return found


def _text_of(error: BaseException | None) -> str:
    try:
        return str(error) if isinstance(error, (Error, ValueError)) and str(error) else f"{type(error).__name__}: {error}"
    except Exception:  # raised by its own __str__
        return type(error).__name__


class _Job(NamedTuple):
    """The task of a rank: elements 0 .. total - 1 for `work`. `leaves` decides whether the last error of `work` leaves its
    elements to other ranks."""

    work: Callable[[int, int], Any]
    total: int
    leaves: Callable[[BaseException], bool] = lambda error: False


def _share(name: str, comm: Any, block: int, prepare: Callable[[], _Job]) -> None:
    """Runs every call of this module: all exchange the same numbers, so that ranks in different calls notice it."""
    def checked() -> _Job:
        job = prepare()
        if MPI.Query_thread() < MPI.THREAD_SERIALIZED and team.size > 1:
            raise RuntimeError("MPI does not support MPI_THREAD_SERIALIZED: let mpi4py initialise MPI (mpi4py.rc.thread_level)")
        if not 0 <= job.total <= _NUMBER_MOST or block < 1:
            raise ValueError(f"{job.total} elements in blocks of {block}: there are 0 to 2**63 - 1, in blocks of at least 1")
        return job

    with _Team(comm) as team:
        job: _Job = team.attempt(checked)
        call = int.from_bytes(name.encode()[-7:], "big")
        least = team.least(job.total, -job.total, call, -call, min(int(block), _NUMBER_MOST))
        if least[2] != -least[3]:
            team.refuse(f"abut.mpi.{name}: other ranks called another function")
        if least[0] != -least[1]:
            team.refuse(f"abut.mpi.{name}: the ranks have batches of different sizes, from {least[0]} to {-least[1]} elements")
        if not job.total:
            return
        team.do_all(least[4], job)


def share(work: Callable[[int, int], Any], count: int, *, block: int = 65536, comm: Any = None) -> None:
    """Hands out elements 0 .. count - 1 of anything: work(first, stop) is called for blocks of at most `block`, on the rank that
    gets the block.

    comm  a communicator of mpi4py; None: MPI.COMM_WORLD. All of its ranks must make this call
    Errors: RankError on all ranks if work raises on one; ValueError if counts or calls differ between ranks.
    """
    _share("share", comm, block, lambda: _Job(work, count))


def _read(poses: Poses, count: int | None) -> tuple[Callable[[int, int], tuple[Any, ...]], int]:
    """Returns a function for arrays of rows first .. stop - 1, and the number of rows."""
    if callable(poses):
        if count is None:
            raise ValueError("count is missing: give the number of poses that `poses` returns by ranges")
        # A memory map would not be converted to the context's precision.
        return (lambda first, stop: tuple(np.asarray(a) if isinstance(a, np.ndarray) else a for a in poses(first, stop))), int(count)
    array = np.load(poses, mmap_mode="r") if isinstance(poses, (str, os.PathLike)) else poses
    if isinstance(array, tuple):
        one, two = array
        if len(one) != len(two):
            raise ValueError(f"there are {len(one)} poses of body 1 and {len(two)} of body 2")
        return (lambda first, stop: (np.asarray(one[first:stop]), np.asarray(two[first:stop]))), len(one)
    if np.ndim(array) != 2 or np.shape(array)[1] not in (12, 14):
        raise ValueError(f"poses have shape {np.shape(array)}, not (N, 12) or (N, 14)")
    width = np.shape(array)[1] // 2
    if count is not None and count != len(array):
        raise ValueError(f"count is {count}, but there are {len(array)} poses")

    def read(first: int, stop: int) -> tuple[Any, ...]:
        rows = np.asarray(array[first:stop])
        return rows[:, :width], rows[:, width:]

    return read, len(array)


def _write(sink: Sink, total: int) -> Callable[[int, int, Any], Any]:
    """Returns a function that stores the result of rows first .. stop - 1 of `total`."""
    if callable(sink):
        return lambda first, stop, result: sink(first, result)
    if not sink:
        raise ValueError("sink is an empty mapping: arrays by the names of what is computed, or a function")
    for name, array in sink.items():
        if len(array) != total:
            raise ValueError(f"sink's {name!r} has {len(array)} rows, but there are {total} poses")

    def write(first: int, stop: int, result: Any) -> None:
        for name, array in sink.items():
            rows = getattr(result, name, None)
            if rows is None:
                raise ValueError(f"sink names {name!r}, which is not computed")
            # An array of another shape might broadcast the rows.
            expected = (stop - first, *np.shape(array)[1:])
            if np.shape(rows) != expected:
                raise ValueError(f"sink's {name!r} takes {expected} of {stop - first} poses, but the result has {np.shape(rows)}")
            array[first:stop] = rows

    return write


def _run(name: str, function: Callable[..., Any], poses: Poses, sink: Sink, count: int | None, block: int, comm: Any, lasts: bool) -> None:
    computing = False

    def prepare() -> _Job:
        read, rows = _read(poses, count)
        write = _write(sink, rows)

        def work(first: int, stop: int) -> None:
            nonlocal computing
            arrays = read(first, stop)
            computing = True
            result = function(*arrays)
            computing = False
            write(first, stop, result)

        def leaves(error: BaseException) -> bool:
            return lasts and computing and isinstance(error, Error) and error.name not in _OF_ALL

        return _Job(work, rows, leaves)

    _share(name, comm, block, prepare)


def run(function: Callable[..., Any], poses: Poses, sink: Sink, *, count: int | None = None, block: int = 65536,
        lasts: bool = False, comm: Any = None) -> None:
    """Runs any call by blocks of poses: sink(first, function(*arrays)), on the rank that computes the block.

    function  such as lambda a, b: abut.hvp(pair, a, b, "energy", tangent2=along)
    poses     the name of a .npy of shape (N, 12), twists of both bodies, or (N, 14), positions and quaternions, of which each
              rank reads its blocks; such an array; a tuple with an array for each body; or a function (first, stop) that returns
              a tuple of arrays, the arguments of `function`, which may include cotangents and the like
    sink      a function of the first pose's index and the result; or arrays (N, ...), such as those of open_output, by the names
              of a result's members, whose rows are set: each needs one row per pose, of the member's shape
    count     number of poses, if `poses` is a function
    block     largest number of poses at once, on any rank
    lasts     results in the sink remain, whatever its rank's call raises, as in open_output's arrays. An abut.Error of `function`
              (of a device, of memory) is then this rank's own RankError; the other ranks compute the rest and raise nothing.
              Errors of arguments, and blocks that another rank also fails to compute, raise on all ranks. The next collective
              step of the ranks must not depend on whether their own call has raised
    comm      as in share, and so are errors
    """
    _run("run", function, poses, sink, count, block, comm, lasts)


def contacts(pair: _calls.Pairs, poses: Poses, sink: Sink, *, want: Sequence[str] = _calls.OUTPUTS, count: int | None = None,
             block: int | None = None, lasts: bool = False, comm: Any = None) -> None:
    """Computes abut.contacts of all poses, by all ranks. Results are passed to the sink block by block.

    want   as in abut.contacts
    block  None: as many poses as fit into 64 MB
    The rest is as in run; use run for a list of pairs.
    """
    if block is None:
        numbers = getattr(pair, "C", 1) * sum(3 if _calls.TAILS.get(name) else 1 for name in want)
        block = min(_BLOCK_MOST, max(1, _BLOCK_BYTES // (8 * max(1, numbers))))
    _run("contacts", lambda a, b: _calls.contacts(pair, a, b, want=want), poses, sink, count, block, comm, lasts)


def reduce(pair: _calls.Pairs, poses: Poses, kind: str, sink: Sink, *, grad: bool = False, nearest: bool = False,
           temperature: float | None = None, count: int | None = None, block: int = 65536, lasts: bool = False,
           comm: Any = None) -> None:
    """Computes abut.reduce of all poses, by all ranks, with gradients if `grad` is set.

    kind, nearest, temperature  as in abut.reduce
    The rest is as in run.
    """
    _run("reduce", lambda a, b: _calls.reduce(pair, a, b, kind, grad=grad, nearest=nearest, temperature=temperature), poses, sink,
         count, block, comm, lasts)


def open_output(path: str | os.PathLike[str], shape: Sequence[int], dtype: Any = np.float32, *, comm: Any = None) -> Any:
    """Makes a new .npy of zeros that all ranks map into memory, so that each can write its own rows.

    Rank 0 makes the file and replaces an existing one. All ranks must see the file system. On NFS the ranks must be on one
    machine, because clients write whole pages back, over rows that another machine has written. Call .flush() before others
    read the file.
    """
    with _Team(comm) as team:
        team.attempt(lambda: np.lib.format.open_memmap(path, "w+", dtype, tuple(shape)).flush() if team.rank == 0 else None)
        return team.attempt(lambda: np.lib.format.open_memmap(path, "r+"))


def _own_part(units: int, cores: int, rank: int, ranks: int) -> tuple[int, int, int]:
    """Returns a rank's part of a device: the number of units, the index among parts of this size, and the number of unused units.
    `cores` is the number of cores that the process may run on, 0 if unknown."""
    share = max(1, units // ranks)
    of = min(share, cores) if cores else share
    return of, rank % (units // of), share - of


def _divides(name: str) -> bool:
    """Returns whether the driver can make such a part."""
    count, choice = _ffi.new("size_t *"), _ffi.new("abut_device_choice *")
    return bool(_lib.abut_find_devices(name.encode(), choice, 1, count) == _lib.ABUT_SUCCESS and count[0] == 1)


def _own_device(rank: int, ranks: int) -> tuple[str | None, int]:
    """Returns the rank's own device and the number of unused units: GPUs in turn; an equal part of a CPU, no larger than the
    cores of this process (the policy of src/mpi/own_device.c). None: the default device, if no rank can have its own."""
    first = _ffi.new("uint32_t *")
    there = _devices()
    _check(_lib.abut_find_device(_ffi.NULL, first))
    best = there[first[0]]
    if best.type == "gpu":
        gpus = [d.index for d in there if d.type == "gpu"]
        return str(gpus[rank % len(gpus)]), 0
    if best.type != "cpu" or not best.compute_units:
        return None, 0
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 0
    units, part, idle = _own_part(best.compute_units, cores, rank, ranks)
    name = f"{best.index}/{units}.{part}"
    return (name, idle) if _divides(name) else (None, 0)


def context(precision: str = "f32", *, comm: Any = None, **more: Any) -> Context:
    """Opens a context on the rank's own device, on a node whose ranks share the devices. GPUs are assigned in turn. Each rank
    gets an equal part of a CPU, no larger than the cores that the launcher lets the rank run on, with a warning if these are
    fewer. `more` is as in abut.Context; `device` in it overrides the choice."""
    with _Team(comm) as team:
        rank, ranks = team.node.Get_rank(), team.node.Get_size()
        if "device" in more:
            return team.attempt(lambda: Context(precision=precision, **more))
        device, idle = team.attempt(lambda: _own_device(rank, ranks))

        def make() -> Context:
            if idle and rank == 0:  # the warning may be turned into an error
                warnings.warn(f"ranks leave {idle} compute units of their part of the device, being bound to fewer cores: mpirun "
                              "--bind-to none", stacklevel=5)
            return Context(device, precision, **more)

        return team.attempt(make)
