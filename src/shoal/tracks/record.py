"""The record of tracks: where every animal of one group was in every frame."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import xarray as xr
from jaxtyping import Float

from shoal.errors import InputError, warn
from shoal.inputs import GIVEN, Limits, Number, Numbers, Place
from shoal.results import Result, counted, share, spoken
from shoal.tracks import movement, preparing, splitting, writing
from shoal.tracks.arena import Arena
from shoal.tracks.covariates import LANDMARK, coordinates_of, covariates_of, members_of
from shoal.tracks.dataset import (
    arena_around,
    checked_rate,
    dataset,
    individuals_of,
    noted,
    place_of,
    positions_of,
)
from shoal.tracks.geography import to_metres
from shoal.tracks.headings import headings

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Label", "Share", "Tracks", "same_tracks", "warn"]

Label = str | int
"""The name of an animal."""

Share = Annotated[float | Sequence[str | int | tuple[str, str]], GIVEN]
"""A share, drawn at random, or the names of those that are meant; an animal of a group, too."""

Covariate = Annotated[
    str | float | bool | Sequence[Any] | np.ndarray | Mapping[str, Any] | None, GIVEN
]
"""One value for the group, or a list or dictionary with one for each animal."""


@dataclass(frozen=True, eq=False)
class Tracks(Result):
    """Positions of the animals of one group, with names, times, units and origin.

    Attributes
    ----------
    data
        An xarray Dataset with ``position`` (time, individuals, space), NaN where an animal was not
        seen, and ``heading`` (time, individuals) in degrees if the tracker gives headings.
        Covariates are coordinates: along ``individuals`` (sex), or of the group (treatment).
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
        """Make tracks from an array (time, individuals, 2).

        Parameters
        ----------
        positions
            x and y of every animal in every frame; NaN where it was not seen.
        fps
            Frames per second; by default from ``time``, and unknown without it.
        time
            The time of each frame in seconds; by default the frame number divided by ``fps``, or
            the frame number if ``fps`` is not known.
        individuals
            Names; by default numbers.
        heading
            In degrees, counter-clockwise from the x-axis, if the tracker gives headings.
        covariates
            For each name, one value for the group, or a list or dictionary with one for each
            animal. The ``role`` "landmark" marks what is not a member of the group but can be the
            target of a feature, such as a dog.
        arena
            The walls, if known.
        time_unit
            ``"frames"`` if times are frame numbers.
        centre
            Longitude and latitude of (0, 0), if positions were projected.

        Notes
        -----
        If times jump by more than one and a half usual steps, the missing frames are inserted as
        gaps, so that no transition crosses them.
        """
        data = dataset(
            positions,
            fps=fps,
            time=time,
            individuals=individuals,
            group=group,
            length_unit=length_unit,
            heading=heading,
            arena=arena,
            source=source,
            notes=notes,
            time_unit=time_unit,
            centre=centre,
        )
        return cls(data).with_covariates(**covariates) if covariates else cls(data)

    @property
    def positions(self) -> Float[np.ndarray, "time individuals 2"]:
        """X and y of every animal in every frame."""
        return positions_of(self.data)

    @property
    def time(self) -> Float[np.ndarray, " time"]:
        """The time of each frame: seconds, or frame numbers if the rate is not known."""
        return self.data["time"].values

    @property
    def individuals(self) -> tuple[str, ...]:
        """The names of the animals."""
        return individuals_of(self.data)

    @property
    def members(self) -> tuple[str, ...]:
        """The names of the members of the group, without landmarks."""
        return members_of(self.data)

    @property
    def fps(self) -> float | None:
        """Frames per second, if known."""
        return self.data.attrs.get("fps")

    @property
    def group(self) -> str:
        """The label of the group or experiment."""
        return str(self.data.attrs["group"])

    @property
    def length_unit(self) -> str:
        """The unit of the positions; empty if not known."""
        return str(self.data.attrs["length_unit"])

    @property
    def arena(self) -> Arena | None:
        """The walls or the periodic box, if known."""
        return arena_around(self.data)

    @property
    def centre(self) -> tuple[float, float] | None:
        """Longitude and latitude of (0, 0), if positions were projected."""
        found = self.data.attrs.get("centre")
        return None if found is None else (float(found[0]), float(found[1]))

    def place_at(self, longitude: float, latitude: float) -> tuple[float, float]:
        """The position of a place on Earth: in metres, or in the unit after rescaling."""
        if self.centre is None:
            raise InputError("these tracks were not projected from longitude and latitude")
        east, north = to_metres(np.array([longitude]), np.array([latitude]), self.centre)
        across, up, right, higher = self.data.attrs.get("from_metres", (1.0, 1.0, 0.0, 0.0))
        return float(across * east[0] + right), float(up * north[0] + higher)

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on what was done to the tracks."""
        return tuple(self.data.attrs["notes"])

    @property
    def missing(self) -> int:
        """The number of missing fixes: animals × frames without a position."""
        return int(np.isnan(self.positions[..., 0]).sum())

    @property
    def covariates(self) -> dict[str, Any]:
        """Each covariate: a value of the group, or a dictionary from animals to values."""
        return covariates_of(self.data)

    def with_covariates(self, **covariates: Covariate) -> "Tracks":
        """Add covariates: one value, or a list or dictionary with one for each animal."""
        return Tracks(self.data.assign_coords(coordinates_of(covariates, self.individuals)))

    def with_landmarks(self, *names: str) -> "Tracks":
        """Mark these as landmarks: not members, but possible targets, such as a dog."""
        for name in names:
            place_of(self.data, name)
        landmarks = set(names) | (set(self.individuals) - set(self.members))
        roles = [LANDMARK if name in landmarks else "animal" for name in self.individuals]
        return self.with_covariates(role=roles)

    def with_arena(self, arena: Arena | None) -> "Tracks":
        """Set the walls or the periodic box; None removes them."""
        kept = {name: value for name, value in self.data.attrs.items() if name != "arena"}
        data = self.data.copy(deep=False)
        data.attrs = kept if arena is None else kept | {"arena": repr(arena)}
        return Tracks(data)

    def with_fps(self, fps: Number) -> "Tracks":
        """Set the frame rate of tracks whose rate is not known."""
        rate = checked_rate(fps)
        if rate is None:
            raise InputError("give the number of frames a second, such as tracks.with_fps(25)")
        if self.fps is not None:
            raise InputError(
                f"these tracks have {self.fps:g} frames a second already: for fewer frames use "
                "tracks.thin(5); to correct the rate read the file again with fps="
            )
        data = self.data.assign_coords(time=np.arange(len(self.time)) / rate)
        data.attrs = dict(self.data.attrs, fps=rate, time_unit="s")
        return Tracks(data)

    def place_of(self, name: str) -> Float[np.ndarray, "time 2"]:
        """The positions of one animal or landmark."""
        return self.positions[:, place_of(self.data, name)]

    def headings(
        self, frames: int = 1, minimum_step: float = 0.0, *, tracker: bool = False
    ) -> Float[np.ndarray, "time individuals"]:
        """Headings in degrees, from displacements or, with ``tracker``, from the file."""
        if not tracker:
            return headings(self.positions, frames, minimum_step, self.arena)
        if "heading" not in self.data:
            raise InputError("the tracker gave no headings: take them from displacements")
        return self.data["heading"].values

    def thin(self, every: int) -> "Tracks":
        """Every n-th frame."""
        return Tracks(preparing.thin(self.data, every))

    def crop(
        self, x: Limits | None = None, y: Limits | None = None, time: Limits | None = None
    ) -> "Tracks":
        """Keep positions and times within limits (low, high); None leaves a side open."""
        return Tracks(preparing.crop(self.data, x, y, time))

    def rescale(
        self, factor: float | None = None, unit: str = "", shift: Place = (0.0, 0.0)
    ) -> "Tracks":
        """Multiply positions by ``factor``, then add ``shift``; by default fit the unit square."""
        return Tracks(preparing.rescale(self.data, factor, unit, shift))

    def smooth(self, window: int, order: int = 2) -> "Tracks":
        """Smooth by Savitzky–Golay: polynomials over ``window`` frames, not across gaps."""
        return Tracks(preparing.smooth(self.data, window, order))

    def drop(
        self,
        individuals: Sequence[str] = (),
        frames: Annotated[Sequence[int] | np.ndarray, GIVEN] = (),
    ) -> "Tracks":
        """Remove these animals, and count all animals as not seen in these frames."""
        return Tracks(preparing.drop(self.data, individuals, frames))

    def flip_y(self) -> "Tracks":
        """Replace y by −y: for pixels of images, whose rows count downwards."""
        return Tracks(preparing.flip_y(self.data))

    def drop_jumps(self, step: float) -> "Tracks":
        """Remove fixes farther than ``step`` from those before and after."""
        return Tracks(preparing.drop_jumps(self.data, step))

    def fill_gaps(self, longest: int) -> "Tracks":
        """Fill gaps of at most ``longest`` frames by straight lines; a note gives their share."""
        return Tracks(preparing.fill_gaps(self.data, longest))

    def split_time(self, share: float) -> "tuple[Tracks, Tracks]":
        """The first ``int(share * frames)`` frames, and the others."""
        first, rest = splitting.split_time(self.data, share)
        return Tracks(first), Tracks(rest)

    def split_individuals(self, which: Share, seed: int = 0) -> "tuple[Tracks, Tracks]":
        """Split into some members, a random share or those with these names, and the others.

        Landmarks are in both parts. Members of one part are not seen as neighbours in the other:
        if they should be, count first and split the ``Transitions``.
        """
        first, rest = splitting.split_animals([self.data], which, seed)
        return Tracks(first[0]), Tracks(rest[0])

    def table(self) -> "pd.DataFrame":
        """One row for each fix: group, individual, frame, time, x, y, heading and covariates."""
        return writing.table([self.data])

    def to_csv(self, path: str | Path) -> Path:
        """Write a long CSV that ``read_tracks`` reads back exactly."""
        return writing.write_csv([self.data], Path(path))

    def to_parquet(self, path: str | Path) -> Path:
        """Write a long Parquet file that ``read_tracks`` reads back exactly."""
        return writing.write_parquet([self.data], Path(path))

    @classmethod
    def from_movement(
        cls, dataset: xr.Dataset, keypoint: str | None = None, confidence: float = 0.0
    ) -> "Tracks":
        """Make tracks from a poses or bboxes dataset of the ``movement`` package.

        Parameters
        ----------
        keypoint
            The point of a pose that is the position; by default the centroid of those seen.
        confidence
            Points of a pose with a lower confidence count as not seen.
        """
        return cls(movement.from_movement(dataset, keypoint, confidence))

    def to_movement(self) -> xr.Dataset:
        """A poses dataset of the ``movement`` package, with one keypoint."""
        return movement.to_movement(self.data)

    def noted(self, *sentences: str) -> "Tracks":
        """Add sentences to the notes."""
        return Tracks(noted(self.data, *sentences))

    def __iter__(self) -> Iterator["Tracks"]:
        """Yield the tracks themselves, as a collection of one group."""
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
    """Whether two records are equal apart from their notes, source and format."""
    aside = ("notes", "source", "format")
    first, second = (
        part.data.assign_attrs({name: "" for name in aside if name in part.data.attrs})
        for part in (one, other)
    )
    mine, theirs = (
        {k: v for k, v in part.attrs.items() if k not in aside} for part in (first, second)
    )
    return mine == theirs and one.data.drop_attrs().identical(other.data.drop_attrs())
