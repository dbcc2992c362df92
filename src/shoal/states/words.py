"""Counted transitions and decisions in plain words: whose they are, and what was left out."""

from collections.abc import Mapping

from shoal.results import counted, share
from shoal.states.records import Records


def animals_of(records: Records) -> str:
    """Whose they are: "3 animals in 2 groups"."""
    who = counted(len(records.individuals), "animal")
    if len(records.groups) < 2:
        return who
    return f"{who} in {counted(len(records.groups), 'group')}"


def left_out(dropped: Mapping[str, int], fixes: int, what: str) -> str:
    """How many animals in how many frames are not part of it and why, in a sentence.

    >>> left_out({"not seen": 30, "no heading": 0}, 300, "decision")
    'No decision could be read from 30 of the 300 places of animals (10 %): not seen (30).'
    """
    lost = {reason: number for reason, number in dropped.items() if number}
    total = sum(lost.values())
    if not total or not fixes:
        return ""
    why = ", ".join(f"{reason.replace('_', ' ')} ({number:,})" for reason, number in lost.items())
    return (
        f"No {what} could be read from {total:,} of the {fixes:,} places of animals "
        f"({share(total, fixes)}): {why}."
    )
