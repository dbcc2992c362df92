"""Plain data in pickles, read without executing anything.

A pickle is a program. shoal follows only the instructions that build numbers, text, lists,
dictionaries and NumPy arrays, and rebuilds arrays from their bytes. It never imports or calls a
function or class that a file names.
"""

import io
import math
import pickle
import pickletools
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from shoal.errors import InputError

LONGEST_HEADER = 1 << 16
MOST_SHARED = 100
"""How many times larger than its pickle the data may be."""


@dataclass
class _Type:
    """A stand-in for numpy.dtype until its state is read."""

    code: str = ""
    order: str = "|"

    def __setstate__(self, state: Any) -> None:
        if not isinstance(state, tuple) or len(state) < 2 or state[1] not in ("<", ">", "|", "="):
            raise pickle.UnpicklingError("it has an unusual type of numbers")
        self.order = state[1]

    @property
    def plain(self) -> np.dtype[Any]:
        if len(self.code) > 12 or self.code[:1] not in tuple("biufcSU"):
            raise pickle.UnpicklingError(f"arrays of {self.code!r} are not plain numbers or text")
        return np.dtype(self.order + self.code)


class _Array:
    """A stand-in for numpy.ndarray until its state is read."""

    content: Any = None

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        _, shape, kind, fortran, content = state
        if not all(isinstance(n, int) and n >= 0 for n in shape):
            raise pickle.UnpicklingError("an array in it has an invalid shape")
        if kind.code in ("O", "O8") and isinstance(content, list):
            if math.prod(shape) != len(content):
                raise pickle.UnpicklingError(
                    "an array in it has another number of items than it says"
                )
            self.content = content if len(shape) else content[0]
        else:
            self.content = _rebuilt(kind, shape, "F" if fortran else "C", content)


def _rebuilt(kind: _Type, shape: tuple[int, ...], order: Any, content: Any) -> np.ndarray:
    raw = content.encode("latin1") if isinstance(content, str) else bytes(content)
    if math.prod(shape) * kind.plain.itemsize != len(raw):
        raise pickle.UnpicklingError("an array in it has another number of bytes than it says")
    return np.frombuffer(raw, kind.plain).reshape(shape, order=order).copy()


def _number_type(code: str, *_: Any) -> _Type:
    return _Type(str(code).lstrip("<>|="), str(code)[0] if str(code)[:1] in "<>" else "|")


def _scalar(kind: _Type, content: Any) -> Any:
    return _rebuilt(kind, (), "C", content).item()


def _bytes(text: str, encoding: str) -> bytes:
    return str(text).encode("latin1")


class _Ready(_Array):
    """An array that is complete from the start."""

    def __init__(self, content: np.ndarray) -> None:
        self.content = content


def _whole(raw: Any, kind: _Type, shape: tuple[int, ...], order: str) -> _Ready:
    return _Ready(_rebuilt(kind, shape, order, raw))


class _Builder:
    """A function of shoal that a pickle may call but not change."""

    def __init__(self, make: Callable[..., Any]) -> None:
        self.make = make

    def __call__(self, *arguments: Any) -> Any:
        return self.make(*arguments)

    def __setstate__(self, state: Any) -> None:
        raise pickle.UnpicklingError("it tries to change how it is read")


_BUILDERS = {
    ("numpy", "dtype"): _Builder(_number_type),
    ("numpy", "ndarray"): _Builder(lambda *_: _Array()),
    ("_codecs", "encode"): _Builder(_bytes),
}
for _home in ("numpy.core", "numpy._core"):
    _BUILDERS[f"{_home}.multiarray", "_reconstruct"] = _Builder(lambda *_: _Array())
    _BUILDERS[f"{_home}.multiarray", "scalar"] = _Builder(_scalar)
    _BUILDERS[f"{_home}.numeric", "_frombuffer"] = _Builder(_whole)


class _Reader(pickle.Unpickler):
    """An unpickler that calls only the builders above."""

    def find_class(self, module: str, name: str) -> Any:
        """The builder for a name; never the object that the file names."""
        if (module, name) not in _BUILDERS:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}")
        return _BUILDERS[module, name]

    def persistent_load(self, pid: Any) -> Any:
        """Refuse references to things outside the file."""
        raise pickle.UnpicklingError("it refers to something outside the file")


def plain_pickle(content: bytes, where: str) -> Any:
    """The data in a pickle; refuse a pickle with anything but plain data."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of odd backslashes
        return _plain(content, where)


def _plain(content: bytes, where: str) -> Any:
    _check_memo(content, where)
    try:
        found = _settled(_Reader(io.BytesIO(content), encoding="latin1").load(), {})
        if _expanded(found, {}) > MOST_SHARED * len(content):
            raise pickle.UnpicklingError("lists of lists of lists, made to exhaust memory")
        return found
    except pickle.UnpicklingError as error:
        raise InputError(
            f"{where} holds a pickle that is not plain data ({error}): it was not executed; "
            "save the tracks as CSV or HDF5 instead"
        ) from error
    except Exception as error:
        raise InputError(
            f"{where} holds a damaged pickle ({type(error).__name__}: {error!s:.80}): copy "
            "or save it again"
        ) from error


def _check_memo(content: bytes, where: str) -> None:
    """Refuse a pickle whose memo has gaps: it is made to fill the memory."""
    count = 0
    try:
        for instruction, argument, _ in pickletools.genops(content):
            count += 1
            if "PUT" in instruction.name and int(argument or 0) > count:
                raise InputError(f"{where} holds a pickle made to exhaust memory: it was refused")
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            f"{where} holds a damaged pickle ({error!s:.80}): copy or save it again"
        ) from error


def load_npy(path: Path) -> Any:
    """The array in a .npy file, or the plain data in its pickle."""
    with path.open("rb") as file:
        start = io.BytesIO(file.read(LONGEST_HEADER))  # ends, whatever length the header claims
        shape, kind = _header(start, str(path))
        if kind.hasobject:
            file.seek(start.tell())
            return plain_pickle(file.read(), str(path))
    _check_claim(shape, kind, path.stat().st_size, str(path))
    try:
        return np.load(path, allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        raise InputError(f"{path} could not be read to its end ({error}): truncated?") from error


def array_of(content: bytes, where: str) -> np.ndarray:
    """The numbers of a .npy file in an archive."""
    shape, kind = _header(io.BytesIO(content), where)
    _check_claim(shape, kind, len(content), where)
    return np.asarray(np.load(io.BytesIO(content), allow_pickle=False))


def _check_claim(shape: tuple[int, ...], kind: np.dtype[Any], size: int, where: str) -> None:
    claimed = math.prod(shape) * kind.itemsize
    if claimed > size or min(shape, default=0) < 0 or kind.kind not in "biuf":
        raise InputError(
            f"{where} says it holds {shape!s:.60} values of {kind!s:.40}, which its {size} bytes "
            "cannot be: is it truncated, or does it hold no numbers?"
        )


def _header(start: io.BytesIO, where: str) -> tuple[tuple[int, ...], np.dtype[Any]]:
    from numpy.lib import format as npy  # noqa: PLC0415

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of odd backslashes
            version = npy.read_magic(start)
            read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
            shape, _, kind = read(start)
    except Exception as error:
        words = " ".join(str(error).split())
        raise InputError(
            f"{where} is not a complete .npy file ({words:.100}): save it again"
        ) from error
    return shape, kind


def _expanded(value: Any, known: dict[int, int]) -> int:
    """The size of the data if every shared part is counted each time it is used."""
    if id(value) not in known:
        size = 1 + (value.size if isinstance(value, np.ndarray) else 0)
        if isinstance(value, str | bytes):
            size += len(value)
        elif isinstance(value, dict):
            size += sum(_expanded(k, known) + _expanded(v, known) for k, v in value.items())
        elif isinstance(value, list | tuple):
            size += sum(_expanded(part, known) for part in value)
        known[id(value)] = size
    return known[id(value)]


def _settled(value: Any, done: dict[int, Any]) -> Any:
    """The data with arrays in place of their stand-ins; shared parts are replaced once."""
    if id(value) in done:
        return done[id(value)]
    found = value
    if isinstance(value, _Array):
        nested = isinstance(value.content, list | dict | _Array)
        found = _settled(value.content, done) if nested else value.content
    elif isinstance(value, dict):
        found = {_settled(key, done): _settled(item, done) for key, item in value.items()}
    elif isinstance(value, list | tuple):
        found = type(value)(_settled(item, done) for item in value)
    elif isinstance(value, _Type):
        found = str(value.code)
    done[id(value)] = found
    return found
