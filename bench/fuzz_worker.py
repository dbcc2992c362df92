"""The process that reads damaged files for ``fuzz.py``, with little memory to spare."""

import faulthandler
import importlib
import resource
import sys
import time
import traceback
import warnings
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LIMIT_SECONDS = 10.0
LIMIT_BYTES = 10**9
STATUS = Path("/proc/self/status")


@dataclass(frozen=True)
class Outcome:
    """What became of one file: its kind, the message, bytes that the process grew by, seconds."""

    kind: str
    message: str
    growth: int
    seconds: float


def serve(pipe: Any, warm: list[tuple[str, str]]) -> None:
    """Read one file after the other, as the pipe names them."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    ways = importlib.import_module("specimens").HOW
    warnings.simplefilter("ignore")
    for how, path in warm:  # libraries load what they need
        with suppress(ValueError):
            ways[how](Path(path))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    most = 1024 * _status("VmSize") + LIMIT_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    pipe.send("ready")
    while True:
        how, path = pipe.recv()
        faulthandler.dump_traceback_later(0.95 * LIMIT_SECONDS)  # shows where a hang is
        pipe.send(outcome(ways[how], Path(path)))
        faulthandler.cancel_dump_traceback_later()


def outcome(read: Any, path: Path) -> Outcome:
    """What reading a file gives, or how it fails."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")  # the peak is counted from here
    before, start = _status("VmRSS"), time.perf_counter()
    kind, message = _tried(read, path)
    grown = 1024 * (_status("VmHWM") - before)
    if grown > LIMIT_BYTES:
        kind, message = "memory", f"{grown / 1e9:.1f} GB, then: {kind} {message}"
    return Outcome(kind, message, grown, time.perf_counter() - start)


def _tried(read: Any, path: Path) -> tuple[str, str]:
    from shoal import InputError, OutputError  # noqa: PLC0415  (shoal is loaded by the worker)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", UserWarning)  # ours, for users
        try:
            read(path)
        except (InputError, OutputError) as error:
            if _lacked_memory(error):
                return "memory", str(error)
            long = len(str(error)) > 1500 or "\n" in str(error)
            return ("traceback", f"not one line: {error}") if long else ("refused", str(error))
        except MemoryError as error:
            return "memory", _last_place(error)
        except Warning as error:
            return "warning", _last_place(error)
        except BaseException as error:
            return "traceback", _last_place(error)
    return "read", ""


def _lacked_memory(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, MemoryError):
            return True
        error = error.__cause__ or error.__context__
    return False


def _last_place(error: BaseException) -> str:
    """The error in a line, with the last place in shoal that it went through."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "shoal" in frame.filename] or list(frames)
    return f"{type(error).__name__}: {error} [{Path(ours[-1].filename).name}:{ours[-1].lineno}]"[
        :300
    ]


def _status(name: str) -> int:
    """Kilobytes of this process, as Linux says."""
    lines = STATUS.read_text().splitlines() if STATUS.exists() else []
    return next((int(line.split()[1]) for line in lines if line.startswith(name + ":")), 0)
