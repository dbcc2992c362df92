"""Groups in motion: a video of one group, or of several side by side on one clock."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import matplotlib as mpl
import numpy as np

from shoal.errors import InputError
from shoal.figures.style import STYLE
from shoal.figures.video.encoding import FASTEST, checked_suffix, write_video
from shoal.figures.video.layout import checked_size
from shoal.figures.video.pacing import Timing
from shoal.figures.video.stage import Cast, Stage
from shoal.figures.video.state_map import checked_inset
from shoal.inputs import GIVEN, Filename, Number, Places, Whole, Word
from shoal.posterior import Fit
from shoal.states.targets import checked_point
from shoal.system.progress import Report, reporting
from shoal.tracks import Collection, Periodic, Tracks


def animate(  # noqa: PLR0913  (every choice a user has)
    tracks: Annotated[Tracks | Sequence[Tracks] | Mapping[str, Tracks], GIVEN],
    out: Filename,
    *,
    titles: Annotated[Sequence[str] | None, GIVEN] = None,
    target: Places | None = None,
    tail: Whole | None = None,
    speed: Number = 1.0,
    size: Annotated[tuple[int, int] | None, GIVEN] = None,
    inset: Annotated[Fit | None, GIVEN] = None,
    follow: Word | None = None,
    heading_frames: Whole = 1,
    progress: bool | Report | None = None,
) -> Path:
    """Write a video of one group, or of several side by side, and give its path.

    Members are blue arrows along their heading, or dots where they have none, with tails that
    fade; landmarks are orange, with their names; the followed animal is black.

    Parameters
    ----------
    tracks
        Of one group, or several in a sequence or by title in a dictionary: these are shown on one
        scale and one clock, each from its first frame; one that is over stays as it was.
    out
        A file that ends in .mp4 (H.264) or .gif. It appears whole or not at all.
    titles
        Of the panels; by default the groups' labels where there are several.
    target
        A point (x, y) to mark, or a dictionary with one for each group.
    tail
        Frames that tails go back; by default what is seen in 1.5 seconds of the video.
    speed
        How many times faster than life. Recordings with an unknown rate, or with less than one
        frame a second, are shown at 10 frames a second times this.
    size
        Width and height of the video in pixels; by default what the panels need.
    inset
        A fit with one or two state axes: a map of its posterior-mean cost-to-go, with the state
        of the followed animal on it.
    follow
        The name of the animal to follow; by default the first, where there is an inset.
    heading_frames
        Over how many frames headings are taken, see ``shoal.tracks.headings``.
    progress
        True for a bar, False for none, None for a bar on a terminal.

    Returns
    -------
    Path
        Of the video.

    Notes
    -----
    Every frame is one picture of the video, where that gives 5 to 60 pictures a second (50 in a
    GIF). Above that, every second, third, … frame is shown; below, every frame is shown twice,
    three times, …, so the speed is kept in any case.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> import shoal
    >>> pair = shoal.Tracks.from_arrays(np.cumsum(np.ones((8, 2, 2)), axis=0), fps=10.0)
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> shoal.animate(pair, folder / "pair.gif", size=(320, 240), progress=False).name
    'pair.gif'
    """
    path = checked_suffix(out)
    groups = _checked_groups(tracks)
    timing = Timing.of(groups, speed, FASTEST[path.suffix.lower()])
    cast = Cast(
        groups,
        _checked_titles(tracks, groups, titles),
        tuple(_target_of(group, target) for group in groups),
        timing.tail if tail is None else _whole(tail, 0, "tail is a number of frames"),
        _whole(heading_frames, 1, "heading_frames is a number of frames"),
        _followed(groups, follow, inset),
        None if inset is None else checked_inset(inset),
    )
    with mpl.rc_context(STYLE):
        stage = Stage(cast, timing, checked_size(size))
        with reporting(progress) as report:
            write_video(stage, path, timing.rate, timing.repeats, report)
    return path


def _checked_groups(tracks: Any) -> tuple[Tracks, ...]:
    """One group for each panel, each with somebody to be seen."""
    if isinstance(tracks, Tracks | Collection):
        given = [tracks]
    elif isinstance(tracks, Mapping):
        given = list(tracks.values())
    elif isinstance(tracks, Sequence) and not isinstance(tracks, str | bytes) and tracks:
        given = list(tracks)
    else:
        given = [tracks]
    groups = tuple(_one_group(part) for part in given)
    if not groups:
        raise InputError("a video needs tracks, and there are none in this dictionary")
    units = {group.length_unit for group in groups}
    if len(units) > 1:
        raise InputError(
            f"side by side on one scale, tracks have one unit of length; got {sorted(units)}: "
            "rescale them to one"
        )
    return groups


def _one_group(part: Any) -> Tracks:
    if isinstance(part, Collection):
        if len(part.tracks) > 1:
            first = part.groups[0]
            raise InputError(
                f"a video shows one group in a panel, and this collection has {len(part.tracks)}: "
                f"pick one, such as tracks[{first!r}], or several in a list"
            )
        part = part.tracks[0]
    if not isinstance(part, Tracks):
        raise InputError(
            f"expected Tracks, or several in a list or dictionary; got {part!r:.60}: read a file "
            "with shoal.read_tracks"
        )
    if not np.isfinite(part.positions).any():
        raise InputError(f"group {part.group!r} has no animal with a place in any frame")
    return part


def _checked_titles(tracks: Any, groups: tuple[Tracks, ...], titles: Any) -> tuple[str, ...]:
    if titles is None and isinstance(tracks, Mapping):
        return tuple(str(title) for title in tracks)
    if titles is None:
        return tuple(group.group if len(groups) > 1 else "" for group in groups)
    words = (titles,) if isinstance(titles, str) else titles
    if not isinstance(words, Sequence) or len(words) != len(groups):
        raise InputError(f"{len(groups)} panel(s) need as many titles, got {titles!r}")
    return tuple(str(title) for title in words)


def _target_of(group: Tracks, target: Any) -> tuple[float, ...] | None:
    point = target.get(group.group) if isinstance(target, Mapping) else target
    if point is None:
        return None
    place = checked_point(point)
    if isinstance(group.arena, Periodic):
        return tuple(group.arena.wrapped(np.asarray(place)).tolist())
    return place


def _followed(groups: tuple[Tracks, ...], follow: Any, inset: Any) -> tuple[str | None, ...]:
    """The name of the followed animal in each group."""
    if follow is None and inset is None:
        return (None,) * len(groups)
    for group in groups:
        if not group.members:
            raise InputError(f"group {group.group!r} has landmarks but no animal to follow")
        if follow is not None and str(follow) not in group.members:
            known = ", ".join(group.members[:12]) + (" …" if len(group.members) > 12 else "")
            raise InputError(
                f"follow is the name of an animal in every panel, and group {group.group!r} has no "
                f"{str(follow)!r}; there are {known}"
            )
    return tuple(group.members[0] if follow is None else str(follow) for group in groups)


def _whole(value: Any, least: int, what: str) -> int:
    if not hasattr(value, "__index__") or value.__index__() < least:
        raise InputError(f"{what}, {least} or more; got {value!r}")
    return int(value.__index__())
