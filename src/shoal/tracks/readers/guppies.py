"""The guppy experiment of Bode et al. 2012, as section 4 of the paper uses it."""

import re
from pathlib import Path
from typing import Any

from shoal.errors import InputError
from shoal.tracks.collection import Collection
from shoal.tracks.readers.clock import at_rate
from shoal.tracks.readers.reading import read_tracks
from shoal.tracks.record import Tracks

FPS = 10.0
FEMALE, MALE, SIZE = 12, 14, 10
"""Groups of females and males, and fish in each."""
SEXES = {"f": "female", "female": "female", "females": "female",
         "m": "male", "male": "male", "males": "male"}  # fmt: skip


def read_guppies(folder: str | Path) -> Collection:
    """Read all experiments and the sex of each group; notes tell any difference from the paper.

    Parameters
    ----------
    folder
        One long table with columns individual, frame, x, y, experiment and sex; or a folder with a
        table for each experiment, with the sex as a column or as a word in the name of the file or
        folder. docs/data/guppies.md says where to find the data and how to arrange them.

    Returns
    -------
    Collection
        One group for each experiment.
    """
    found = read_tracks(folder)
    groups = [_settled(part) for part in found]
    sexes = [part.covariates["sex"] for part in groups]
    expected = sexes.count("female") == FEMALE and sexes.count("male") == MALE
    odd = [part.group for part in groups if len(part.members) != SIZE]
    notes = []
    if not expected:
        notes.append(
            f"{sexes.count('female')} female and {sexes.count('male')} male groups; the paper has "
            f"{FEMALE} and {MALE}"
        )
    if odd:
        notes.append(f"groups of another size than {SIZE}: {', '.join(odd)}")
    return Collection([groups[0].noted(*notes), *groups[1:]])


def _settled(tracks: Tracks) -> Tracks:
    """Tracks with one sex for the group, and 10 frames per second if the file gives no rate."""
    sex = _sex(tracks)
    data = tracks.data.drop_vars("sex") if "sex" in tracks.data.coords else tracks.data
    if tracks.fps is None:
        data = at_rate(Tracks(data), FPS).noted("10 frames per second, as in the experiment").data
    return Tracks(data).with_covariates(sex=sex)


def _sex(tracks: Tracks) -> str:
    """The sex of a group, from its covariate or from the name of its file."""
    given: Any = tracks.covariates.get("sex")
    values = set(given.values()) if isinstance(given, dict) else {given} if given else set()
    if not values:
        place = f"{tracks.data.attrs['source']} {tracks.group}".lower()
        values = set(re.findall(r"(?<![a-z])(?:females?|males?)(?![a-z])", place))
    named = {SEXES.get(str(value).strip().lower(), "") for value in values}
    if len(named) != 1 or "" in named:
        raise InputError(
            f"group {tracks.group!r}: its sex is unknown; add a column 'sex' with female or male, "
            f"or the word to the name of the file (found {sorted(map(str, values)) or 'nothing'})"
        )
    return named.pop()
