"""How far long work has come, with the time left: bars on a terminal, plain lines elsewhere."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Lock, Thread
from time import monotonic
from typing import Any

Report = Callable[[str, int, int | None], None]
"""Takes the stage's name, the steps done and the steps in all, None where nobody knows."""


EVERY = 10.0
"""Seconds between two plain lines."""


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

    with stages_on(Console(stderr=True)) as report:
        yield report


@contextmanager
def stages_on(console: Any) -> Iterator[Report]:
    """A line for each stage: how far it is, the time passed, and the time left where it is known.

    Parameters
    ----------
    console
        Of Rich. The lines go when the work is done.
    """
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        Progress,
        ProgressColumn,
        TaskID,
        TextColumn,
    )
    from rich.text import Text  # noqa: PLC0415

    class Told(ProgressColumn):
        """Steps and times, as they are when the line is drawn."""

        def render(self, task: Any) -> Text:
            return Text(told(task))

    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        Told(),
        console=console,
        transient=True,
        speed_estimate_period=300.0,
    )
    tasks: dict[str, TaskID] = {}

    def report(stage: str, done: int, total: int | None) -> None:
        known = next((one for one in bar.tasks if one.id == tasks.get(stage)), None)
        if known is None or (known.finished and total is None):  # or it begins once more
            for earlier in bar.tasks:  # what had no known end is over when another stage begins
                if earlier.total is None:
                    last = max(earlier.completed, 1.0)
                    bar.update(earlier.id, completed=last, total=last)
            tasks[stage] = bar.add_task(stage, total=total)
        bar.update(tasks[stage], completed=done, total=total)

    with bar:
        yield report


def told(task: Any) -> str:
    """The steps of a stage, and its times, in words."""
    done, total = task.completed, task.total
    steps = f"{done:.0f}" if total is None else f"{done:.0f}/{total:.0f}"
    if task.finished:
        return f"{steps}, done in {_clock(task.finished_time or 0.0)}"
    passed = task.elapsed or 0.0
    words = f"{steps}, {_clock(passed)} passed"
    if total is None or not done:
        return words
    left = task.time_remaining  # by the last five minutes; None until two steps were seen
    return f"{words}, {_clock(passed * (total - done) / done if left is None else left)} left"


@contextmanager
def lines_on(stream: Any, every: float = EVERY) -> Iterator[Report]:
    """One plain line every so many seconds, also while a long step reports nothing.

    Parameters
    ----------
    stream
        Such as the error stream where it is a file or a pipe.
    every
        Seconds. Work that takes less says nothing.
    """
    begun, over, lock = monotonic(), Event(), Lock()
    latest: dict[str, Any] = {"stage": "", "done": 0, "total": None, "since": begun}

    def report(stage: str, done: int, total: int | None) -> None:
        with lock:
            again = stage != latest["stage"] or done < latest["done"]
            since = monotonic() if again else latest["since"]
            latest.update(stage=stage, done=done, total=total, since=since)

    def tell() -> None:
        while not over.wait(every):
            with lock:
                words = line_of(now=monotonic(), begun=begun, **latest)
            print(words, file=stream, flush=True)

    teller = Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield report
    finally:
        over.set()
        teller.join()


def line_of(
    stage: str, done: int, total: int | None, since: float, now: float, begun: float
) -> str:
    """A plain line about the stage that reported last.

    >>> line_of("simulating", 1, 4, since=10.0, now=30.0, begun=0.0)
    'shoal: simulating 1/4, 0:30 passed, about 1:00 left of this stage'
    >>> line_of("simulating", 4, 4, since=10.0, now=30.0, begun=0.0)
    'shoal: working, 0:30 passed (last finished: simulating)'
    """
    passed = f"{_clock(now - begun)} passed"
    if not stage:
        return f"shoal: working, {passed}"
    if total is not None and done >= total:
        return f"shoal: working, {passed} (last finished: {stage})"
    if total is None or not done:
        return f"shoal: {stage}, {passed}"
    left = _clock((now - since) * (total - done) / done)
    return f"shoal: {stage} {done:.0f}/{total:.0f}, {passed}, about {left} left of this stage"


def _clock(seconds: float) -> str:
    """Minutes and seconds, and hours where there are any.

    >>> _clock(7.2), _clock(3725)
    ('0:07', '1:02:05')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
