"""A process that goes through HDF5 and Matlab files, so that no other hangs or dies in one.

Run as a program by ``shoal.system.quarantine``, with nothing of shoal loaded. Each line it reads
is a kind and a path, as JSON. It answers with a line of JSON: how many bytes the largest array and
all of them have as numbers in memory, or what is wrong.
"""

import json
import math
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import h5py
import numpy as np

READ_WHOLE = 1 << 25
"""Bytes up to which a dataset is read; of a larger one, the index of its chunks and its ends."""
MOST_TEXTS = 1_000_000
ROOM = 1 << 30
"""Bytes by which this process may grow."""


class RefusedError(Exception):
    """A file that is well-formed but asks for something it may not."""


def limit_memory(file: int) -> None:
    """Let no promise of a file of this size fill the machine, where the system can do that."""
    with suppress(ImportError, OSError, ValueError):
        import resource  # noqa: PLC0415  (not on Windows)

        pages = int(Path("/proc/self/statm").read_text().split()[0])
        most = pages * resource.getpagesize() + ROOM + 8 * file
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def hdf5(path: str) -> dict[str, int]:
    """Everything in an HDF5 file, touched once: every link, every attribute, every index."""
    sizes = {"largest": 0, "promised": 0}
    with h5py.File(path, "r") as file:
        seen: set[Any] = set()
        waiting = [file["/"]]
        while waiting:
            group = waiting.pop()
            _attributes(group)
            for name in group:
                _check_link(group.get(name, getlink=True), name)
                thing = group.get(name)
                if thing is None:
                    continue  # a soft link to nothing
                place = h5py.h5o.get_info(thing.id)
                if (place.fileno, place.addr) in seen:
                    continue  # a group inside itself
                seen.add((place.fileno, place.addr))
                if isinstance(thing, h5py.Group):
                    waiting.append(thing)
                else:
                    _attributes(thing)
                if isinstance(thing, h5py.Dataset):
                    size = _dataset(thing)
                    sizes["largest"] = max(sizes["largest"], size)
                    sizes["promised"] += size
    return sizes


def matlab(path: str) -> dict[str, int]:
    """Every variable of a Matlab file, loaded once."""
    from scipy.io import loadmat  # noqa: PLC0415  (HDF5 needs none of it)

    arrays = loadmat(path, squeeze_me=False, struct_as_record=False).values()
    sizes = [_bytes(v.shape, v.dtype) for v in arrays if isinstance(v, np.ndarray)]
    return {"largest": max(sizes, default=0), "promised": sum(sizes)}


def _bytes(shape: tuple[int, ...], kind: Any) -> int:
    """Of values once they are numbers in memory: small ones become float64."""
    return math.prod(shape) * max(int(kind.itemsize), 8)


def _check_link(link: Any, name: str) -> None:
    if isinstance(link, h5py.ExternalLink):
        raise RefusedError(f"its part {name!r:.60} lies in another file, {link.filename!r:.80}")


def _attributes(thing: Any) -> None:
    """Read all of them: damaged variable-length text is where HDF5 loops for ever."""
    for name in thing.attrs:
        kind = thing.attrs.get_id(name)
        if math.prod(kind.shape or (0,)) * kind.dtype.itemsize > READ_WHOLE:
            raise RefusedError(f"its attribute {name!r:.60} says that it has {kind.shape} values")
        value = thing.attrs[name]
        if h5py.check_ref_dtype(kind.dtype) or kind.dtype.kind == "O":
            for part in np.ravel(value).tolist()[:1000]:
                _follow(thing.file, part)


def _follow(file: Any, value: Any) -> None:
    """Where a reference leads; lists of them are what netCDF keeps its dimensions in."""
    for part in value if isinstance(value, list | tuple | np.ndarray) else [value]:
        if isinstance(part, h5py.Reference) and part:
            with suppress(ValueError):
                file[part]


def _dataset(found: Any) -> int:
    """Bytes of a dataset when unpacked."""
    if found.is_virtual or found.external:
        raise RefusedError(f"the values of {found.name!r:.60} lie in another file")
    if found.shape is None:
        return 0
    size = math.prod(found.shape) * found.dtype.itemsize
    if found.chunks is not None:
        found.id.get_num_chunks()
    if size == 0:
        return 0
    texts = found.dtype.hasobject and h5py.check_string_dtype(found.dtype) is not None
    if size <= READ_WHOLE and (not found.dtype.hasobject or texts):
        found[()]
    elif found.ndim:
        step = max(1, READ_WHOLE // max(1, size // found.shape[0]))
        many = min(step, MOST_TEXTS if texts else 100 if found.dtype.hasobject else step)
        if size // found.shape[0] <= READ_WHOLE:
            found[:many], found[-many:]
    return _bytes(found.shape, found.dtype)


def main() -> None:
    """Answer until nobody asks any more."""
    ways = {"hdf5": hdf5, "matlab": matlab}
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    for line in sys.stdin:
        try:
            kind, path = json.loads(line)
            limit_memory(Path(path).stat().st_size)
            answer: dict[str, Any] = dict(ways[kind](path))
        except RefusedError as error:
            answer = {"refused": str(error)}
        except MemoryError:
            answer = {"refused": "it says that it has more values than a file of its size can"}
        except Exception as error:
            answer = {"damaged": " ".join(str(error).split())[:200] or type(error).__name__}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
