"""Files of unknown origin, looked through by another process before this one opens them.

The HDF5 library loops for ever in some damaged files, and SciPy's reader of Matlab files ends the
process in others; nothing in Python can stop either. So a small process goes through each file
first, with limits on time and memory. It stays for the next file, and goes with this one.
"""

import atexit
import json
import os
import subprocess
import sys
import threading
import time
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from shoal.errors import InputError
from shoal.system.memory import refuse_beyond_memory

SECONDS, BYTES_A_SECOND = 3.0, 50e6
"""What a file may take of a processor's time: so long, and so much longer for its size."""
FIRST_LOOK, PATIENCE = 0.25, 20.0
"""Seconds between looks at the clock, and how many times longer it may be than computing is."""
START_SECONDS = 20.0
EXPANSION, SMALL = 100, 200_000_000
"""How many times larger than the file its values may be, where they have more than this."""


LIBRARIES = {"hdf5": "h5py", "matlab": "scipy.io"}
UNKNOWN = {"largest": 0, "promised": 0}


class Walker:
    """The other process, started when it is first needed and again after a file has killed it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.process: subprocess.Popen[bytes] | None = None
        self.owner = 0
        atexit.register(self.stop)

    def answer(self, kind: str, path: Path, seconds: float) -> dict[str, Any] | None:
        """What it says of a file; nothing where it hung or died."""
        with self.lock:
            started = self._started()
            if self.process is None:
                return UNKNOWN  # no second process can be had here
            self._ask(json.dumps([kind, str(path.resolve())]))
            import_module(LIBRARIES[kind])  # by both at the same time
            if started and self._line(START_SECONDS) != b"ready\n":
                return UNKNOWN
            line = self._line(seconds)
            if line.endswith(b"\n"):
                return dict(json.loads(line))
            self._end()
            return None

    def stop(self) -> None:
        """End the process, if there is one."""
        with self.lock:
            self._end()

    def _started(self) -> bool:
        """Whether it had to be started."""
        alive = self.process is not None and self.process.poll() is None
        if alive and self.owner == os.getpid():
            return False
        self._end()
        self.owner = os.getpid()
        with suppress(OSError, TypeError):
            self.process = _new_process()
        return True

    def _ask(self, words: str) -> None:
        assert self.process is not None and self.process.stdin is not None
        with suppress(OSError):  # it has died, as its answer will tell
            self.process.stdin.write(words.encode() + b"\n")
            self.process.stdin.flush()

    def _line(self, seconds: float) -> bytes:
        """What it says within this time."""
        process = self.process
        assert process is not None and process.stdout is not None
        done = threading.Event()
        watch = threading.Thread(target=_watch, args=(process, seconds, done), daemon=True)
        watch.start()
        try:
            return process.stdout.readline()
        finally:
            done.set()
            watch.join()

    def _end(self) -> None:
        process, self.process = self.process, None
        if process is None or self.owner != os.getpid():
            return  # a forked process leaves its parent's alone
        process.kill()
        for pipe in (process.stdin, process.stdout):
            with suppress(OSError):  # what it did not take is lost with it
                if pipe is not None:
                    pipe.close()
        process.wait()


def _watch(process: "subprocess.Popen[bytes]", seconds: float, done: threading.Event) -> None:
    """Kill the process where it computes for longer; on a busy machine that takes its time."""
    if done.wait(FIRST_LOOK):
        return  # as for nearly every file
    import psutil  # noqa: PLC0415

    latest = time.monotonic() + PATIENCE * seconds
    with suppress(psutil.Error):
        times = psutil.Process(process.pid).cpu_times
        limit = sum(times()[:2]) + seconds
        while not done.wait(FIRST_LOOK):
            if sum(times()[:2]) > limit or time.monotonic() > latest:
                process.kill()
                return


def _new_process() -> "subprocess.Popen[bytes]":
    program = Path(__file__).with_name("quarantine_process.py")
    return subprocess.Popen(
        [sys.executable, "-P", str(program)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


_WALKER = Walker()


def check_hdf5(path: Path) -> None:
    """Refuse an HDF5 or netCDF 4 file that is damaged, reaches out of itself, or promises much."""
    _check("hdf5", path)


def check_matlab(path: Path) -> None:
    """Refuse a Matlab file that is damaged or promises more than it can hold."""
    _check("matlab", path)


def _check(kind: str, path: Path) -> None:
    size = path.stat().st_size
    answer = _WALKER.answer(kind, path, SECONDS + size / BYTES_A_SECOND)
    if answer is None:
        raise InputError(
            f"{path} is damaged inside: a trial of reading it hung or broke off; copy or export it "
            "again"
        )
    if "damaged" in answer:
        raise InputError(damage(path, answer["damaged"]))
    if "refused" in answer:
        raise InputError(
            f"{path} was refused: {answer['refused']}; export the tracks into one plain file"
        )
    refuse_promises(path, answer["promised"], size)
    refuse_beyond_memory(
        3 * answer["largest"], f"{path}: its largest array", "cut the recording into parts"
    )


def refuse_promises(path: Path, promised: float, size: int) -> None:
    """Raise where a file of some bytes says that it holds very many more."""
    if promised > max(SMALL, EXPANSION * size):
        raise InputError(
            f"{path} says that it holds {promised / 1e9:.3g} GB of values, and has "
            f"{size / 1e6:.3g} MB: it is damaged or made to fill memory; export it again"
        )


def damage(path: Path, words: str) -> str:
    """The sentence for files that end early or are broken inside, with a library's own words."""
    return f"{path} is damaged or not complete: copy or export it again ({plain_words(words)})"


def plain_words(words: str) -> str:
    """What a library says in one short line, without the names of its functions."""
    line = " ".join(words.strip("'\"").split())
    inner = line.partition("(")[2].removesuffix(")") if "synchronously" in line else line
    return f"{inner or line:.100}"
