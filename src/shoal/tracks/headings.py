"""Where animals were heading: the direction of their displacement, kept while they rest."""

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
    """Degrees, counter-clockwise from the x-axis, in [−180, 180); NaN where there is none.

    The heading in a frame is the direction from the animal's place in it to its place ``frames``
    later, as in eq. vicsek, so the last ``frames`` frames have none.

    Parameters
    ----------
    positions
        NaN where an animal was not seen. Displacements across a gap are not used.
    frames
        Over how many frames the displacement is taken.
    minimum_step
        A displacement no longer than this gives no heading: a resting animal has none, and keeps
        the one it had, until it is lost from sight.
    arena
        In a periodic box displacements go the shortest way round.
    """
    if frames < 1:
        raise InputError(f"headings need a displacement over 1 frame or more, got {frames}")
    if not minimum_step >= 0:
        raise InputError(f"a minimum step is 0 or more, got {minimum_step}")
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
    """Which animals rest from the first frame to this one: their headings lie before the first."""
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
    """Resting animals keep the heading they had the frame before."""
    frames = np.arange(len(angle))[:, None]
    since = np.maximum.accumulate(np.where(resting, 0, frames), axis=0)  # the last that was no rest
    return np.take_along_axis(angle, since, axis=0)
