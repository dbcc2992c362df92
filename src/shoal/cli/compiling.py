"""Programs that JAX compiled are kept for the next run, in the user's cache folder.

Most of a short run is compilation. What is kept is machine code, so that the folder must be the
user's own, and has a name that differs with the releases of JAX and Python and with the processor.
"""

import os
import stat
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from importlib.metadata import version
from pathlib import Path
from typing import Any

VARIABLE = "SHOAL_CACHE"
"""``off``, or a folder instead of the user's cache folder."""

OFF = ("off", "0", "no", "false")
OLDER_WAY = "--xla_cpu_use_fusion_emitters=false"
"""XLA's older way to make programs for processors: in a fifth less time, and as fast to run."""

KNOWN_SERIES = "0.10."
"""Of jaxlib. XLA ends a program that sets an option it does not know, so others are left alone."""

SHORTEST = 0.01
"""Seconds of compilation from which on a program is kept: others are compiled as soon as read."""


@dataclass(frozen=True)
class Keeping:
    """Where compiled programs are kept, or why they are not."""

    folder: Path | None
    reason: str = ""


def with_programs_kept(command: Callable[..., Any]) -> Callable[..., Any]:
    """A command whose compiled programs are kept."""

    @wraps(command)
    def run(*args: Any, **words: Any) -> Any:
        compile_quickly()
        keep_programs()
        return command(*args, **words)

    return run


def compile_quickly() -> None:
    """Choose the older way, before JAX runs, where XLA knows it and the user has not chosen."""
    chosen = os.environ.get("XLA_FLAGS", "")
    option, _, _ = OLDER_WAY.partition("=")
    if option not in chosen and version("jaxlib").startswith(KNOWN_SERIES):
        os.environ["XLA_FLAGS"] = f"{chosen} {OLDER_WAY}".strip()


def keep_programs(shortest: float = SHORTEST) -> Keeping:
    """Let this process read and keep compiled programs, where that is possible."""
    found = keeping()
    if found.folder is None:
        return found
    import jax  # noqa: PLC0415  (slow to load)

    try:
        from jax._src import compilation_cache as jaxs  # noqa: PLC0415

        if not (hasattr(jaxs, "_cache") and hasattr(jaxs, "_cache_initialized")):
            return Keeping(None, "this JAX has no place for it")
    except ImportError:
        return Keeping(None, "this JAX has no place for it")
    from shoal.cli.programs import Programs  # noqa: PLC0415

    jax.config.update("jax_persistent_cache_min_compile_time_secs", shortest)
    warnings.filterwarnings("ignore", message="Error (reading|writing) persistent compilation")
    jaxs._cache = Programs(found.folder)  # type: ignore[assignment]
    jaxs._cache_initialized = True
    return found


def keeping() -> Keeping:
    """The folder for this machine's programs, made where it is not there, or why there is none."""
    said = os.environ.get(VARIABLE, "").strip()
    if said.lower() in OFF:
        return Keeping(None, f"switched off by {VARIABLE}={said}")
    if os.environ.get("JAX_COMPILATION_CACHE_DIR"):
        return Keeping(None, "JAX keeps its own, by JAX_COMPILATION_CACHE_DIR")
    try:
        root = Path(said).expanduser().absolute() if said else user_cache()
        folder = root / "programs" / _for_this_machine()
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        reason = _unsafe(folder)
    except (OSError, RuntimeError) as error:  # RuntimeError: there is no home
        words = getattr(error, "strerror", None) or str(error)
        return Keeping(None, f"its folder cannot be made ({words})")
    return Keeping(None, reason) if reason else Keeping(folder)


def _unsafe(folder: Path) -> str:
    """Why machine code is not to be read from a folder, or cannot be written to it."""
    known = folder.stat()
    if os.name == "posix" and known.st_uid != os.getuid():
        return f"{folder} belongs to somebody else"
    if os.name == "posix" and known.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return f"others may write to {folder}"
    if not os.access(folder, os.W_OK | os.X_OK):
        return f"{folder} cannot be written to"
    return ""


def user_cache() -> Path:
    """Where this system keeps what programs can do without."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "shoal"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "shoal"
    said = Path(os.environ.get("XDG_CACHE_HOME") or "")
    return (said if said.is_absolute() else Path.home() / ".cache") / "shoal"


def _for_this_machine() -> str:
    """A name that no machine shares on which the programs would not run."""
    import hashlib  # noqa: PLC0415  (this and the next take time that help does not have)
    import platform  # noqa: PLC0415
    from importlib.metadata import version  # noqa: PLC0415

    about = [sys.version_info[:2], platform.system(), platform.machine(), *_abilities()]
    short = hashlib.blake2b(repr(about).encode(), digest_size=6).hexdigest()
    return f"jax-{version('jax')}-jaxlib-{version('jaxlib')}-{short}"


def _abilities() -> list[str]:
    """What the processor can do, as far as the system tells."""
    listed = Path("/proc/cpuinfo")
    try:
        lines = listed.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        import platform  # noqa: PLC0415

        return [platform.processor()]
    wanted = ("flags", "Features", "model name", "CPU implementer", "CPU part", "isa")
    found = {line for line in lines if line.partition(":")[0].strip() in wanted}
    return sorted(found)
