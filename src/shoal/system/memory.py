"""Memory: how much there is, and a clear word before more is asked for."""

from contextlib import suppress
from pathlib import Path

from shoal.errors import InputError

GROUPS = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    (
        "/sys/fs/cgroup/memory/memory.limit_in_bytes",
        "/sys/fs/cgroup/memory/memory.usage_in_bytes",
    ),
)
"""Where Linux says how much a container may use, and uses."""


def free_memory() -> int:
    """Bytes that this process can still ask for, container limits included."""
    import psutil  # noqa: PLC0415  (only where much is asked for)

    free = int(psutil.virtual_memory().available)
    for limit, used in GROUPS:
        with suppress(OSError, ValueError):  # no such limit
            free = min(free, int(Path(limit).read_text()) - int(Path(used).read_text()))
    with suppress(ImportError, AttributeError):
        import resource  # noqa: PLC0415  (not on Windows)

        most, _ = resource.getrlimit(resource.RLIMIT_AS)
        if most != resource.RLIM_INFINITY:
            free = min(free, most - int(psutil.Process().memory_info().vms))
    return max(free, 0)


def refuse_beyond_memory(needed: float, what: str, advice: str, free: int | None = None) -> None:
    """Raise where more bytes are needed than there are.

    Parameters
    ----------
    what
        That needs them, as the beginning of a sentence.
    advice
        What to do instead.
    free
        Bytes there are; by default as this machine says.
    """
    if needed < 64e6:  # not worth asking
        return
    room = free_memory() if free is None else free
    if needed > room:
        raise InputError(
            f"{what} would need about {_size(needed)} of memory, and {_size(room)} are free: "
            f"{advice}"
        )


def _size(count: float) -> str:
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.0f} MB"
