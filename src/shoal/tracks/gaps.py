"""Grids of frames and animals, refused where they would fill memory with gaps."""

from shoal.errors import InputError
from shoal.system.memory import refuse_beyond_memory

ROOMY = 12_000_000
"""Cells that any grid may have: about half a gigabyte while tracks are made of it."""
MOST_EMPTY = 300
"""Cells for each fix in a larger one, as of many animals tagged for a while in many years."""
BYTES = 48
"""For a cell: two numbers, and the copies that checks need."""


def check_grid(frames: int, animals: int, fixes: int, where: str = "") -> None:
    """Raise where a few fixes are spread over more frames and animals than memory holds.

    Parameters
    ----------
    fixes
        Rows or points that the grid is made from.
    where
        The file, at the beginning of a message.
    """
    cells = int(frames) * int(animals)
    start = f"{where}: " if where else ""
    if cells > max(ROOMY, MOST_EMPTY * int(fixes)):
        raise InputError(
            f"{start}{fixes} fixes of {animals} animals are spread over {frames} frames, nearly "
            "all of them gaps: check the times and frame numbers, give a coarser clock, or read "
            "parts"
        )
    refuse_beyond_memory(
        BYTES * cells, f"{start}{animals} animals in {frames} frames", "read the tracks in parts"
    )
