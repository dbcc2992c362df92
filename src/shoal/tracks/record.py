"""One experiment's tracks: where every animal was in every frame."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from jaxtyping import Float

from shoal.errors import InputError
from shoal.tracks.headings import headings

DIMENSIONS = ("time", "individuals", "space")
SPACE = ("x", "y")


@dataclass(frozen=True, eq=False)
class Tracks:
    """Positions of the animals of one group, with names, times, units and provenance.

    Attributes
    ----------
    data
        An xarray Dataset with ``position`` (time, individuals, space), NaN where an animal was not
        seen, and ``heading`` (time, individuals) in degrees where the tracker gave one. Its
        attributes are ``fps``, ``time_unit``, ``length_unit``, ``group`` and ``source``.

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
    def from_arrays(
        cls,
        positions: Any,
        *,
        fps: float | None = None,
        time: Any = None,
        individuals: Sequence[str] | None = None,
        group: str = "",
        length_unit: str = "",
        heading: Any = None,
        source: str = "",
    ) -> "Tracks":
        """From an array (time, individuals, 2), checked.

        Parameters
        ----------
        positions
            x and y of every animal in every frame; NaN where it was not seen.
        fps
            Frames per second; None where it is not known, and time then counts frames.
        time
            Of every frame; by default the frame number divided by ``fps``.
        individuals
            Names; by default numbers.
        heading
            In degrees, counter-clockwise from the x-axis, where the tracker gave one.
        """
        array = _checked_positions(positions)
        frames, animals, _ = array.shape
        if fps is not None and not (np.isfinite(fps) and fps > 0):
            raise InputError(f"frames per second must be positive, got {fps}")
        names = [str(n) for n in (range(animals) if individuals is None else individuals)]
        if len(names) != animals or len(set(names)) < animals:
            raise InputError(f"{animals} animals need as many different names, got {names}")
        default = np.arange(frames) / (fps or 1.0)
        clock = default if time is None else np.asarray(time, dtype=float)
        if clock.shape != (frames,) or not np.all(np.diff(clock) > 0):
            raise InputError(f"the times of {frames} frames must increase, got {clock!r:.80}")
        variables: dict[str, Any] = {"position": (DIMENSIONS, array)}
        if heading is not None:
            angles = np.asarray(heading, dtype=float)
            if angles.shape != array.shape[:2]:
                raise InputError(f"headings of shape {angles.shape} do not fit {array.shape[:2]}")
            variables["heading"] = (DIMENSIONS[:2], angles)
        attributes: dict[str, Any] = {
            "time_unit": "s" if fps or time is not None else "frames",
            "length_unit": length_unit,
            "group": group,
            "source": source,
        }
        if fps is not None:
            attributes["fps"] = float(fps)
        coordinates = {"time": clock, "individuals": names, "space": list(SPACE)}
        return cls(xr.Dataset(variables, coordinates, attributes))

    @property
    def positions(self) -> Float[np.ndarray, "time individuals 2"]:
        """X and y of every animal in every frame."""
        return self.data["position"].values

    @property
    def individuals(self) -> tuple[str, ...]:
        """The animals' names."""
        return tuple(str(name) for name in self.data["individuals"].values)

    @property
    def fps(self) -> float | None:
        """Frames per second, where known."""
        return self.data.attrs.get("fps")

    @property
    def group(self) -> str:
        """The label of the group or experiment."""
        return str(self.data.attrs["group"])

    def headings(
        self, frames: int = 1, minimum_step: float = 0.0, *, tracker: bool = False
    ) -> Float[np.ndarray, "time individuals"]:
        """Headings in degrees: from displacements, or with ``tracker`` as the file gave them."""
        if not tracker:
            return headings(self.positions, frames, minimum_step)
        if "heading" not in self.data:
            raise InputError("the tracker gave no headings: take them from displacements")
        return self.data["heading"].values

    def __repr__(self) -> str:
        frames, animals, _ = self.positions.shape
        lost = int(np.isnan(self.positions).any(axis=-1).sum())
        rate = f" at {self.fps:g} per second" if self.fps else ""
        label = f"{self.group!r}, " if self.group else ""
        return (
            f"Tracks({label}{animals} animals, {frames} frames{rate}, "
            f"{lost} of {frames * animals} fixes missing)"
        )


def _checked_positions(positions: Any) -> Float[np.ndarray, "time individuals 2"]:
    try:
        array = np.array(positions, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(f"positions are an array of numbers ({error})") from error
    if array.ndim != 3 or array.shape[-1] != 2 or 0 in array.shape:
        raise InputError(f"positions are an array (time, individuals, 2), got shape {array.shape}")
    if np.any(np.isinf(array)):
        frame, animal, _ = (int(i) for i in np.argwhere(np.isinf(array))[0])
        raise InputError(
            f"positions are finite, or NaN where an animal was not seen; animal {animal} in frame "
            f"{frame} is at {array[frame, animal].tolist()}"
        )
    array[np.isnan(array).any(axis=-1)] = np.nan  # half a place is none
    return array
