"""How far long work has come, with the time left: shown on a terminal, silent elsewhere."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Report = Callable[[str, int, int | None], None]
"""Takes the stage's name, the steps done and the steps in all, None where nobody knows."""


def silent(stage: str, done: int, total: int | None) -> None:
    """Report nothing."""


@contextmanager
def reporting(progress: bool | Report | None) -> Iterator[Report]:
    """A report function: the one given, a bar on the terminal's error stream, or silence.

    Parameters
    ----------
    progress
        A function to call, True for a bar, False for none, None for a bar only where the error
        stream is a terminal.
    """
    if callable(progress):
        yield progress
    elif progress is False or (progress is None and not sys.stderr.isatty()):
        yield silent
    else:
        with _bar() as report:
            yield report


@contextmanager
def _bar() -> Iterator[Report]:
    from rich.console import Console  # noqa: PLC0415  (only where a bar is drawn)
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TaskID,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("passed,"),
        TimeRemainingColumn(),
        TextColumn("left"),
        console=Console(stderr=True),
        transient=True,
    )
    tasks: dict[str, TaskID] = {}

    def report(stage: str, done: int, total: int | None) -> None:
        if stage not in tasks:
            tasks[stage] = bar.add_task(stage, total=total)
        bar.update(tasks[stage], completed=done, total=total)

    with bar:
        yield report
