"""The command that repeats a run, to be typed or kept in a script."""

import shlex
from dataclasses import fields
from pathlib import Path

from shoal.workflows.settings import Choices, key_of


def command_line(choices: Choices, out: Path) -> str:
    """What to type for these choices; those left at their defaults are left out.

    Parameters
    ----------
    choices
        With the tracks that were read.
    out
        What was written.
    """
    words = ["shoal", choices.command, str(getattr(choices, "tracks", ""))]
    for field in fields(choices):
        value = getattr(choices, field.name)
        if field.name == "tracks" or value == field.default:
            continue
        name = f"--{key_of(field)}"
        words += [name] if value is True else [name, str(value)]
    return shlex.join([*filter(None, words), "--out", out.name])
