"""Headings: the directions of displacements, kept while an animal rests."""

import numpy as np
from jaxtyping import Bool, Float

from shoal.errors import InputError
from shoal.tracks.arena import Arena, shortest


def headings(
    positions: Float[np.ndarray, "time individuals 2"],
    frames: int = 1,
    minimum_step: float = 0.0,
    arena: Arena | None = None,
) -> Float[np.ndarray, "time individuals"]:
    """Headings in degrees, counter-clockwise from the x-axis, in [−180, 180); NaN if unknown.

    The heading in a frame is the direction from the position in it to the position ``frames``
    later, as in eq. vicsek, so the last ``frames`` frames have no heading.

    Parameters
    ----------
    positions
        NaN where an animal was not seen. Displacements across a gap are not used.
    frames
        The number of frames of a displacement.
    minimum_step
        An animal whose displacement is no longer than this rests: it keeps its last heading until
        it is lost from sight.
    arena
        In a periodic box, displacements go the shortest way round.
    """
    if frames < 1:
        raise InputError(f"headings need displacements over 1 frame or more, got {frames}")
    if not minimum_step >= 0:
        raise InputError(f"minimum_step must be 0 or more, got {minimum_step}")
    moved = np.full_like(positions, np.nan)
    if frames < len(positions):
        moved[:-frames] = shortest(positions[frames:] - positions[:-frames], arena)
    seen = np.isfinite(positions).all(axis=-1)
    for offset in range(1, frames):  # an animal lost on the way may have gone anywhere
        moved[:-offset][~seen[offset:]] = np.nan
    with np.errstate(invalid="ignore"):
        going = np.hypot(moved[..., 0], moved[..., 1]) > minimum_step
    angle = np.rad2deg(np.arctan2(moved[..., 1], moved[..., 0]))
    angle = np.where(angle >= 180.0, -180.0, angle)
    known = np.isfinite(moved).all(axis=-1)
    return _kept(np.where(going, angle, np.nan), resting=known & ~going)


def resting_until(
    positions: Float[np.ndarray, "time individuals 2"],
    frame: int,
    frames: int = 1,
    minimum_step: float = 0.0,
) -> Bool[np.ndarray, " individuals"]:
    """Which animals rest from the first frame to this one, so that their headings are older."""
    span = positions[: frame + frames + 1]
    if frame + frames >= len(span):
        return np.zeros(positions.shape[1], dtype=bool)
    seen = np.isfinite(span).all(axis=(0, -1))
    moved = span[frames:] - span[:-frames]
    with np.errstate(invalid="ignore"):
        still = (np.hypot(moved[..., 0], moved[..., 1]) <= minimum_step).all(axis=0)
    return seen & still


def _kept(
    angle: Float[np.ndarray, "time individuals"], resting: np.ndarray
) -> Float[np.ndarray, "time individuals"]:
    """Headings in which resting animals keep the heading of the frame before."""
    frames = np.arange(len(angle))[:, None]
    since = np.maximum.accumulate(np.where(resting, 0, frames), axis=0)  # the last that was no rest
    return np.take_along_axis(angle, since, axis=0)
