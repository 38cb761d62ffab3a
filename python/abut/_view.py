"""Pages that show contacts in a browser and in notebooks."""
from __future__ import annotations

import html
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from abut._arrays import double_array, pointer
from abut._drivers import warn
from abut._forms import check_matrix, is_matrix, of_one_kind
from abut._native import check, ffi, lib
from abut._pair import Pair
from abut._worlds import Scene

__all__ = ["View", "view"]


class View:
    """A self-contained page (docs/view.md). A notebook shows it if it is the value of a cell.

    html    the page
    height  [pixels] of the frame in a notebook
    """

    def __init__(self, text: str, height: int) -> None:
        self.html = text
        self.height = height

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the page as NAME.html, completely or not at all."""
        page = self.html.encode()
        check(lib.abut_write_file(os.fsencode(path), page, len(page)))

    def _repr_html_(self) -> str:
        return (f'<iframe srcdoc="{html.escape(self.html)}" style="border: 0; width: 100%; height: {self.height}px" '
                'sandbox="allow-scripts"></iframe>')

    def __repr__(self) -> str:
        return f"<abut.View, a page of {len(self.html):,} characters>"


def _poses(pose1: Any, pose2: Any) -> tuple[int, np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Returns the kind, and both poses as (N, 6) or (N, 7) in double."""
    names = ("pose1", "pose2")
    given = [None if pose is None else double_array(pose, name) for pose, name in zip((pose1, pose2), names)]
    for pose, name in zip(given, names):
        if pose is None:
            continue
        axes = 2 if is_matrix(pose) else 1
        if pose.ndim < axes or (axes == 1 and pose.shape[-1] not in (6, 7)):
            raise ValueError(f"{name} has shape {pose.shape}, not (6,), (7,) or (4, 4), or (N, ...) of these")
        if pose.ndim > axes + 1:
            flat = (-1, *pose.shape[pose.ndim - axes:])
            raise ValueError(f"{name} has shape {pose.shape}, but a page has only one axis of frames: use {name}.reshape{flat}")
        if axes == 2:
            check_matrix(pose, name)
    one, two = of_one_kind(np, *given)
    width = one.shape[-1]
    try:
        lead = np.broadcast_shapes(one.shape[:-1], two.shape[:-1]) or (1,)
    except ValueError:
        raise ValueError(f"pose1 has {len(one)} frames, but pose2 has {len(two)}") from None
    kind = lib.ABUT_POSE_TWIST if width == 6 else lib.ABUT_POSE_QUATERNION
    return kind, *(np.ascontiguousarray(np.broadcast_to(pose, (*lead, width))) for pose in (one, two))


def _warn_of_frames(what: str, bad: np.ndarray[Any, Any], shown: str) -> None:
    if bad.any():
        warn(f"{what} of {bad.sum()} of {len(bad)} frames ({np.flatnonzero(bad)[0]} first) {shown}")


def _frames(array: Any, name: str, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    out = double_array(array, name)
    if out.shape != shape:
        raise ValueError(f"{name} has shape {out.shape}, not {shape}")
    return out


def view(what: Pair | Scene, pose1: Any = None, pose2: Any = None, *, time: Any = None, energy: Any = None, v: Any = None, u: Any = None,
         threshold: float = 0.05, first: int = 0, names: Sequence[str] = (), picture: tuple[int, int] = (640, 480),
         height: int = 640) -> View:
    """Makes a page of a pair at N poses, or of a world of a scene. It turns and plays the bodies, and shows the values of each
    contact.

    abut.view(pair, pose1, pose2)  as for abut.contacts: (6), (7) or (4, 4), or N of these
    abut.view(scene, q)  positions (N, nq), such as Step.q_record of one world
    time       (N) time of each frame [s], not decreasing; None: frames have only numbers
    energy     (N, 2) for a scene, kinetic and potential [J], such as Step.energy_record of one world
    v          (N, nv) for a scene, such as Step.v_record of one world. The page then shows the force of each contact, and the sum
               on each link of a free joint [N], from one step after each frame with the scene's own parameters
    u          (N, nu) controls of that step, or (nu) for all frames; a scene with controls has no forces without them
    threshold  the page has contacts of at least this activity, 1/255 to 1
    first      the frame that is shown first, also in the picture
    names      of a pair's two bodies, instead of their files' names
    picture    width and height of a picture for browsers that cannot draw the page; (0, 0): none
    height     [pixels] of the frame in a notebook
    Warns of frames whose poses are not finite. Errors: abut.Error, and ValueError for shapes.
    """
    if not isinstance(what, (Pair, Scene)):
        raise ValueError(f"what is a {type(what).__name__}, not an abut.Pair or an abut.Scene")
    options = ffi.new("abut_page_options *", lib.abut_default_page_options())
    options.threshold, options.first = threshold, first
    options.picture_width, options.picture_height = picture
    text, count = ffi.new("char **"), ffi.new("size_t *")
    kept: list[Any] = []
    if isinstance(what, Pair):
        if energy is not None or v is not None or u is not None:
            raise ValueError("energy, v and u work only with a scene: the page of a pair has the energy of its contacts")
        kind, one, two = _poses(pose1, pose2)
        frames = len(one)
        good = [np.isfinite(pose).all(1) & (pose[:, 3:].any(1) if pose.shape[1] == 7 else True) for pose in (one, two)]
        _warn_of_frames("poses", ~(good[0] & good[1]), "are not finite, or have a quaternion of length 0: a body is not shown "
                        "there")
        if len(names) not in (0, 2):
            raise ValueError(f"names are {len(names)}, not two")
        kept += [ffi.new("char[]", name.encode()) for name in names]
        for i, name in enumerate(kept):
            options.names[i] = name
    else:
        if pose2 is not None or len(names):
            raise ValueError("pose2 and names work only with a pair")
        if pose1 is None:
            raise ValueError("q is missing: positions (N, nq) of a scene")
        q = double_array(pose1, "q")
        if q.ndim != 2 or q.shape[1] != what.nq:
            raise ValueError(f"q has shape {q.shape}, not (N, {what.nq}): N frames of one world")
        frames = len(q)
        _warn_of_frames("positions", ~np.isfinite(q).all(1), "are not finite: nothing is shown there")
        if v is not None:
            kept.append(_frames(v, "v", (frames, what.nv)))
            options.v = ffi.cast("double *", pointer(kept[-1]))
        if u is not None:
            held = double_array(u, "u")  # a single row applies to all frames
            kept.append(_frames(np.tile(held, (frames, 1)) if held.shape == (what.nu,) else held, "u", (frames, what.nu)))
            options.u = ffi.cast("double *", pointer(kept[-1]))
    if time is not None:
        kept.append(_frames(time, "time", (frames,)))
        options.time = ffi.cast("double *", pointer(kept[-1]))
    if energy is not None:
        kept.append(_frames(energy, "energy", (frames, 2)))
        options.energy = ffi.cast("double *", pointer(kept[-1]))
    if isinstance(what, Pair):
        check(lib.abut_format_pair_page(what.handle, kind, frames, ffi.cast("double *", pointer(one)),
                                        ffi.cast("double *", pointer(two)), options, text, count))
    else:
        check(lib.abut_format_scene_page(what.handle, frames, ffi.cast("double *", pointer(q)), options, text, count))
    try:
        return View(ffi.buffer(text[0], count[0])[:].decode(), height)
    finally:
        lib.abut_free(text[0])
