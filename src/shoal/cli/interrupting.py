"""Ctrl-C: the work ends within two seconds, and says what is left of it."""

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from threading import Event, Thread, current_thread, main_thread
from typing import Any

import typer

GRACE = 1.5
"""Seconds that the work has to end by itself, after which the process ends all the same."""

STOPPED = 130
"""The exit status of a program that was stopped by Ctrl-C."""

_ended = Event()
_left: list[Callable[[], str]] = []


def on_stop(words: Callable[[], str]) -> None:
    """What to say of the work done so far when the user stops it."""
    _left[:] = [words]


def stoppable(command: Callable[..., None]) -> Callable[..., None]:
    """A command that ends with a sentence when it is stopped."""

    @wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        try:
            command(*args, **kwargs)
        except KeyboardInterrupt:
            _say_stopped()
            raise typer.Exit(STOPPED) from None

    return run


@contextmanager
def ending_soon_after_stop() -> Iterator[None]:
    """End the process soon after Ctrl-C, even where a compiled program does not listen.

    Python hears a signal between two of its own steps only. The operating system's note of it is
    read by a thread here, which waits for the work to end and then ends it.
    """
    if os.name != "posix" or current_thread() is not main_thread():
        yield
        return
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    before = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    watcher = Thread(target=_end_after_grace, args=(reader,), daemon=True, name="Ctrl-C")
    watcher.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        os.close(writer)  # the thread reads the end of it


def _end_after_grace(reader: int) -> None:
    while (heard := os.read(reader, 1)) != bytes([signal.SIGINT]):
        if not heard:
            os.close(reader)
            return
    last = time.monotonic() + GRACE
    if _ended.wait(GRACE):
        time.sleep(max(last - time.monotonic(), 0))  # threads save their last chunk
    _say_stopped()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(STOPPED)


def _say_stopped() -> None:
    if not _ended.is_set():
        _ended.set()
        words = _left[0]() if _left else "nothing was written"
        typer.echo(f"shoal: stopped: {words}", err=True)
