"""What can be wrong with fixes, told with the file and the row."""

from collections.abc import Sequence

import numpy as np

from shoal.errors import InputError
from shoal.tracks.readers.fixes import Codes, Fixes


def check_finite(fixes: Fixes) -> None:
    """Places are finite or missing, and on Earth where they say so."""
    for name, values in (("x", fixes.x), ("y", fixes.y)):
        if np.isinf(values).any():
            late = int(np.flatnonzero(np.isinf(values))[0])
            raise InputError(
                f"{fixes.place(late)}: {name} is {values[late]}; leave a place empty where an "
                "animal was not seen"
            )
    if fixes.geographic:
        wrong = (np.abs(fixes.y) > 90) | (np.abs(fixes.x) > 360)
        if wrong.any():
            late = int(np.flatnonzero(wrong)[0])
            raise InputError(
                f"{fixes.place(late)}: longitude {fixes.x[late]}, latitude {fixes.y[late]} is no "
                "place on Earth"
            )


def check_order(fixes: Fixes, animal: Codes, names: Sequence[str], sort: bool) -> None:
    """Every animal's frames or times increase, row after row; anything else is named."""
    moment = fixes.frame if fixes.frame is not None else fixes.time
    assert moment is not None
    word = "frame" if fixes.frame is not None else "time"
    if not np.all(np.isfinite(moment)):
        late = int(np.flatnonzero(~np.isfinite(moment))[0])
        raise InputError(f"{fixes.place(late)}: there is no {word}")
    order = np.lexsort((moment, animal)) if sort else np.argsort(animal, kind="stable")
    step = np.diff(moment[order])
    same = np.diff(animal[order]) == 0
    for wrong, words in ((step < 0, "goes backwards"), (step == 0, "comes twice")):
        found = np.flatnonzero(same & wrong)
        if found.size:
            before, after = int(order[found[0]]), int(order[found[0] + 1])
            name = names[animal[after]]
            advice = "sort the rows by time, or read with sort=True"
            if words == "comes twice":
                advice = "keep one row for each animal and frame"
            raise InputError(
                f"{fixes.place(after)}: {word} {words} for individual {name!r:.60}: "
                f"{moment[after]:.12g} after {moment[before]:.12g} in "
                f"{fixes.row_words(before)}; {advice}"
            )


def disorder(fixes: Fixes, animal: Codes) -> list[str]:
    """How many rows of a logger came late."""
    assert fixes.time is not None
    order = np.argsort(animal, kind="stable")
    late = int(((np.diff(fixes.time[order]) < 0) & (np.diff(animal[order]) == 0)).sum())
    return [f"{late} fixes came out of order and were put into theirs"] if late else []
