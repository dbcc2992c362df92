"""One experiment's tracks: where every animal was in every frame."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import xarray as xr
from jaxtyping import Float

from shoal.errors import InputError
from shoal.inputs import GIVEN, Limits, Numbers, Place
from shoal.results import Result, counted, share, spoken
from shoal.tracks.arena import Arena, arena_of
from shoal.tracks.covariates import LANDMARK, coordinates_of, covariates_of, members_of
from shoal.tracks.dataset import (
    checked_names,
    checked_positions,
    checked_rate,
    checked_times,
    dataset,
    rate_of_times,
    with_missing_frames,
)
from shoal.tracks.headings import headings

if TYPE_CHECKING:
    import pandas as pd

Label = str | int
"""The name of an animal."""

Share = Annotated[float | Sequence[str | int | tuple[str, str]], GIVEN]
"""A share, drawn at random, or the names of those that are meant; an animal of a group, too."""

Covariate = Annotated[
    str | float | bool | Sequence[Any] | np.ndarray | Mapping[str, Any] | None, GIVEN
]
"""One value for the group, or a list or dictionary with one for each animal."""

LEFT_OUT = (
    "{} was left out: only x and y are used, so that distances and angles are those on a plane"
)


@dataclass(frozen=True, eq=False)
class Tracks(Result):
    """Positions of the animals of one group, with names, times, units and provenance.

    Attributes
    ----------
    data
        An xarray Dataset with ``position`` (time, individuals, space), NaN where an animal was not
        seen, and ``heading`` (time, individuals) in degrees where the tracker gave one. Covariates
        are coordinates: along ``individuals`` (sex), or without dimension (the group's treatment).
        Its attributes are ``fps``, ``time_unit``, ``length_unit``, ``group``, ``source``,
        ``format``, ``arena`` and ``notes``, sentences on what was done to the tracks.

    Examples
    --------
    >>> import numpy as np
    >>> import shoal
    >>> steps = np.cumsum(np.ones((5, 3, 2)), axis=0)
    >>> tracks = shoal.Tracks.from_arrays(steps, fps=10.0, length_unit="cm")
    >>> tracks
    Tracks(3 animals, 5 frames at 10 per second, 0 of 15 fixes missing)
    >>> tracks.headings()[0].tolist()
    [45.0, 45.0, 45.0]
    """

    data: xr.Dataset

    @classmethod
    def from_arrays(  # noqa: PLR0913  (a record has as many fields as it has)
        cls,
        positions: Numbers,
        *,
        fps: float | None = None,
        time: Numbers | None = None,
        individuals: Annotated[Sequence[Label] | None, GIVEN] = None,
        group: str = "",
        length_unit: str = "",
        heading: Numbers | None = None,
        covariates: Mapping[str, Covariate] | None = None,
        arena: Arena | None = None,
        source: str = "",
        notes: Sequence[str] = (),
        time_unit: str | None = None,
        centre: tuple[float, float] | None = None,
    ) -> "Tracks":
        """From an array (time, individuals, 2), checked.

        Parameters
        ----------
        positions
            x and y of every animal in every frame; NaN where it was not seen.
        fps
            Frames per second; by default from ``time``, and unknown without it.
        time
            Of every frame, in seconds; by default the frame number divided by ``fps``, or the
            frame number itself where that is not known.
        individuals
            Names; by default numbers.
        heading
            In degrees, counter-clockwise from the x-axis, where the tracker gave one.
        covariates
            By name: one value for the group, or a list or dictionary of one for each animal. The
            covariate ``role`` marks with "landmark" those that are no members of the group but
            can be the target of a feature, such as a dog.
        arena
            The walls, where known.
        time_unit
            ``"frames"`` where times are frame numbers.
        centre
            Longitude and latitude of (0, 0), where places were projected.

        Notes
        -----
        Where times jump by more than one and a half usual steps, the frames that are missing are
        put in with nobody seen in them, so that nothing is counted across.
        """
        array = checked_positions(positions)
        if time is not None:
            array, time, heading, missing = with_missing_frames(array, time, heading)
            notes = [*notes, *missing]
        rate = checked_rate(fps)
        names = checked_names(individuals, array.shape[1])
        clock = checked_times(time, len(array), rate)
        if time_unit is None:
            time_unit = "frames" if rate is None and time is None else "s"
        if rate is None and time_unit == "s":
            rate = rate_of_times(clock)
        data = dataset(array, heading, clock, names)
        data.attrs = {
            "time_unit": time_unit,
            "length_unit": length_unit,
            "group": group,
            "source": source,
            "notes": list(notes),
        }
        if rate is not None:
            data.attrs["fps"] = rate
        if arena is not None:
            data.attrs["arena"] = repr(arena)
        if centre is not None:
            data.attrs["centre"] = [float(part) for part in centre]
        return cls(data).with_covariates(**covariates) if covariates else cls(data)

    @property
    def positions(self) -> Float[np.ndarray, "time individuals 2"]:
        """X and y of every animal in every frame."""
        return self.data["position"].values

    @property
    def time(self) -> Float[np.ndarray, " time"]:
        """Of every frame: seconds, or the frame's number where the rate is not known."""
        return self.data["time"].values

    @property
    def individuals(self) -> tuple[str, ...]:
        """The animals' names."""
        return tuple(str(name) for name in self.data["individuals"].values)

    @property
    def members(self) -> tuple[str, ...]:
        """The names of the group's members: all but the landmarks."""
        return members_of(self.data)

    @property
    def fps(self) -> float | None:
        """Frames per second, where known."""
        return self.data.attrs.get("fps")

    @property
    def group(self) -> str:
        """The label of the group or experiment."""
        return str(self.data.attrs["group"])

    @property
    def length_unit(self) -> str:
        """Of the positions; empty where it is not known."""
        return str(self.data.attrs["length_unit"])

    @property
    def arena(self) -> Arena | None:
        """The walls or the periodic box, where known."""
        words = self.data.attrs.get("arena")
        return None if words is None else arena_of(words)

    @property
    def centre(self) -> tuple[float, float] | None:
        """Longitude and latitude of (0, 0), where places were projected."""
        found = self.data.attrs.get("centre")
        return None if found is None else (float(found[0]), float(found[1]))

    def place_at(self, longitude: float, latitude: float) -> tuple[float, float]:
        """Where a place on Earth lies in these tracks: in metres, or as they were rescaled."""
        from shoal.tracks.readers.geography import to_metres  # noqa: PLC0415  (needs pyproj)

        if self.centre is None:
            raise InputError("these tracks were not projected from longitude and latitude")
        east, north = to_metres(np.array([longitude]), np.array([latitude]), self.centre)
        across, up, right, higher = self.data.attrs.get("from_metres", (1.0, 1.0, 0.0, 0.0))
        return float(across * east[0] + right), float(up * north[0] + higher)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was done to the tracks on the way, in sentences."""
        return tuple(self.data.attrs["notes"])

    @property
    def missing(self) -> int:
        """How many fixes are missing: animals × frames without a place."""
        return int(np.isnan(self.positions[..., 0]).sum())

    @property
    def covariates(self) -> dict[str, Any]:
        """Of the group: a value; of the animals: a dictionary by name."""
        return covariates_of(self.data)

    def with_covariates(self, **covariates: Covariate) -> "Tracks":
        """With these covariates as well: one value, or a list or dictionary of one per animal."""
        return Tracks(self.data.assign_coords(coordinates_of(covariates, self.individuals)))

    def with_landmarks(self, *names: str) -> "Tracks":
        """These are no members of the group, but can be the target of a feature, such as a dog."""
        for name in names:
            self._index(name)
        landmarks = set(names) | (set(self.individuals) - set(self.members))
        roles = [LANDMARK if name in landmarks else "animal" for name in self.individuals]
        return self.with_covariates(role=roles)

    def with_arena(self, arena: Arena | None) -> "Tracks":
        """With these walls or this periodic box around them; None for none."""
        kept = {name: value for name, value in self.data.attrs.items() if name != "arena"}
        data = self.data.copy(deep=False)
        data.attrs = kept if arena is None else kept | {"arena": repr(arena)}
        return Tracks(data)

    def with_fps(self, fps: float) -> "Tracks":
        """Tracks whose rate was not known, at this many frames a second."""
        rate = checked_rate(fps)
        if self.fps is not None or rate is None:
            raise InputError(f"these tracks have {self.fps} frames a second already")
        data = self.data.assign_coords(time=np.arange(len(self.time)) / rate)
        data.attrs = dict(self.data.attrs, fps=rate, time_unit="s")
        return Tracks(data)

    def place_of(self, name: str) -> Float[np.ndarray, "time 2"]:
        """Where one animal or landmark was in every frame."""
        return self.positions[:, self._index(name)]

    def headings(
        self, frames: int = 1, minimum_step: float = 0.0, *, tracker: bool = False
    ) -> Float[np.ndarray, "time individuals"]:
        """Headings in degrees: from displacements, or with ``tracker`` as the file gave them."""
        if not tracker:
            return headings(self.positions, frames, minimum_step, self.arena)
        if "heading" not in self.data:
            raise InputError("the tracker gave no headings: take them from displacements")
        return self.data["heading"].values

    def thin(self, every: int) -> "Tracks":
        """Every n-th frame."""
        from shoal.tracks.preparing import thin  # noqa: PLC0415  (takes and gives Tracks)

        return thin(self, every)

    def crop(
        self, x: Limits | None = None, y: Limits | None = None, time: Limits | None = None
    ) -> "Tracks":
        """Places and times within limits (low, high); None leaves a side open."""
        from shoal.tracks.preparing import crop  # noqa: PLC0415

        return crop(self, x, y, time)

    def rescale(
        self, factor: float | None = None, unit: str = "", shift: Place = (0.0, 0.0)
    ) -> "Tracks":
        """Places times ``factor`` plus ``shift``; without a factor, fitted to the unit square."""
        from shoal.tracks.preparing import rescale  # noqa: PLC0415

        return rescale(self, factor, unit, shift)

    def smooth(self, window: int, order: int = 2) -> "Tracks":
        """Savitzky–Golay: a polynomial through every run of ``window`` frames without a gap."""
        from shoal.tracks.preparing import smooth  # noqa: PLC0415

        return smooth(self, window, order)

    def drop(
        self,
        individuals: Sequence[str] = (),
        frames: Annotated[Sequence[int] | np.ndarray, GIVEN] = (),
    ) -> "Tracks":
        """Without these animals, and with nobody seen in these frames."""
        from shoal.tracks.preparing import drop  # noqa: PLC0415

        return drop(self, individuals, frames)

    def flip_y(self) -> "Tracks":
        """Mirrored, y as −y: for pixels of images, whose rows count downwards."""
        from shoal.tracks.preparing import flip_y  # noqa: PLC0415

        return flip_y(self)

    def drop_jumps(self, step: float) -> "Tracks":
        """Without fixes that are farther than ``step`` from the ones before and after."""
        from shoal.tracks.preparing import drop_jumps  # noqa: PLC0415

        return drop_jumps(self, step)

    def fill_gaps(self, longest: int) -> "Tracks":
        """Straight lines across gaps of at most ``longest`` frames; the share is noted."""
        from shoal.tracks.preparing import fill_gaps  # noqa: PLC0415

        return fill_gaps(self, longest)

    def split_time(self, share: float) -> "tuple[Tracks, Tracks]":
        """The first ``int(share * frames)`` frames, and the others."""
        from shoal.tracks.splitting import split_time  # noqa: PLC0415

        return split_time(self, share)

    def split_individuals(self, which: Share, seed: int = 0) -> "tuple[Tracks, Tracks]":
        """A share of the members, drawn at random, or those with these names; and the others.

        Landmarks are in both parts. The members of one part are no longer seen as neighbours by
        those of the other: where they should be, count first and split the ``Transitions``.
        """
        from shoal.tracks.splitting import split_individuals  # noqa: PLC0415

        return split_individuals(self, which, seed)

    def table(self) -> "pd.DataFrame":
        """One row for each fix: group, individual, frame, time, x, y, heading and covariates."""
        from shoal.tracks.writing import table  # noqa: PLC0415

        return table([self])

    def to_csv(self, path: str | Path) -> Path:
        """Write a long CSV that ``read_tracks`` reads back exactly."""
        from shoal.tracks.writing import write_csv  # noqa: PLC0415

        return write_csv([self], Path(path))

    def to_parquet(self, path: str | Path) -> Path:
        """Write a long Parquet file that ``read_tracks`` reads back exactly."""
        from shoal.tracks.writing import write_parquet  # noqa: PLC0415

        return write_parquet([self], Path(path))

    @classmethod
    def from_movement(
        cls, dataset: xr.Dataset, keypoint: str | None = None, confidence: float = 0.0
    ) -> "Tracks":
        """From a poses or bboxes dataset of the ``movement`` package.

        Parameters
        ----------
        keypoint
            Of a pose; by default the centroid of those that are seen.
        confidence
            Points of a pose with less than this count as not seen.
        """
        from shoal.tracks.movement import from_movement  # noqa: PLC0415

        return from_movement(dataset, keypoint, confidence)

    def to_movement(self) -> xr.Dataset:
        """A poses dataset of the ``movement`` package, with one keypoint."""
        from shoal.tracks.movement import to_movement  # noqa: PLC0415

        return to_movement(self)

    def noted(self, *sentences: str) -> "Tracks":
        """With these sentences added to the notes."""
        return Tracks(self.data.assign_attrs(notes=[*self.notes, *sentences]))

    def _index(self, name: str) -> int:
        if str(name) not in self.individuals:
            known = ", ".join(self.individuals[:12]) + (" …" if len(self.individuals) > 12 else "")
            raise InputError(f"no animal is called {name!r}; there are {known}")
        return self.individuals.index(str(name))

    def __iter__(self) -> Iterator["Tracks"]:
        """One experiment is a collection of one."""
        yield self

    def __str__(self) -> str:
        frames, animals, _ = self.positions.shape
        label = f" of the group {self.group}" if self.group else ""
        others = [name for name in self.individuals if name not in self.members]
        beside = (
            f", with {' and '.join(others)} as {'a landmark' if len(others) == 1 else 'landmarks'}"
        )
        words = [
            f"Tracks of {counted(len(self.members), 'animal')}{label}{beside if others else ''}, "
            f"seen in {counted(frames, 'frame')}{self._how_long()}.",
            f"Lengths are in {self.length_unit}."
            if self.length_unit
            else "No unit of length is known.",
            f"{share(self.missing, frames * animals).capitalize()} of the places are missing.",
            *(
                [f"{counted(len(self.notes), 'remark')} on the tracks: see notes."]
                if self.notes
                else []
            ),
        ]
        return " ".join(words)

    def _how_long(self) -> str:
        """The time between the first and the last frame, where the rate is known."""
        if not self.fps:
            return ""
        seconds = (len(self.positions) - 1) / self.fps
        for size, unit in ((172800, "days"), (7200, "hours"), (120, "minutes")):
            if seconds >= size:
                each = {"days": 86400, "hours": 3600, "minutes": 60}[unit]
                return f" over {spoken(seconds / each)} {unit}"
        return f" over {spoken(seconds)} seconds"

    def __repr__(self) -> str:
        frames, animals, _ = self.positions.shape
        rate = f" at {self.fps:g} per second" if self.fps else ""
        if self.fps is not None and self.fps < 0.5:
            rate = f", one every {1 / self.fps:.4g} s"
        label = f"{self.group!r}, " if self.group else ""
        members = len(self.members)
        who = f"{members} animal{'s' if members != 1 else ''}"
        if members < animals:
            who += f" and {', '.join(n for n in self.individuals if n not in self.members)}"
        return (
            f"Tracks({label}{who}, {frames} frames{rate}, "
            f"{self.missing} of {frames * animals} fixes missing)"
        )


def same_tracks(one: Tracks, other: Tracks) -> bool:
    """Whether two records hold the same, notes and source apart."""
    aside = ("notes", "source", "format")
    first, second = (
        part.data.assign_attrs({name: "" for name in aside if name in part.data.attrs})
        for part in (one, other)
    )
    mine, theirs = (
        {k: v for k, v in part.attrs.items() if k not in aside} for part in (first, second)
    )
    return mine == theirs and one.data.drop_attrs().identical(other.data.drop_attrs())


def warn(sentence: str) -> None:
    """Tell the user something that needs a look but stops nothing."""
    warnings.warn(sentence, UserWarning, stacklevel=3)
