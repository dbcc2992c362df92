"""A file before it is read: its kind, its encoding, its header and its first rows."""

import codecs
import csv
import gzip
import io
import re
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from shoal.errors import InputError
from shoal.system.quarantine import check_hdf5, check_matlab, damage

MAGIC = {
    b"\x89HDF\r\n\x1a\n": "hdf5",
    b"\x93NUMPY": "npy",
    b"PAR1": "parquet",
    b"MATLAB 5.0 MAT": "mat",
    b"PK\x03\x04": "zip",
    b"\x1f\x8b": "gzip",
    b"CDF": "netcdf3",
}
PICTURES = {
    b"\x89PNG": "PNG picture",
    b"\xff\xd8\xff": "JPEG picture",
    b"GIF8": "GIF picture",
    b"%PDF": "PDF document",
    b"\xd0\xcf\x11\xe0": "workbook of an old Excel: save it as CSV",
}
DELIMITERS = ",;\t"
LONGEST_LINE, LONGEST_NAME, MOST_COLUMNS = 1 << 20, 300, 50_000
"""Limits of a header, in characters and columns; a longer one is not that of tracks."""
LONGEST_MESSAGE = 1400
PACKED = (EOFError, OSError, ValueError, RuntimeError, zlib.error, zipfile.BadZipFile)
"""Errors that a damaged archive can raise when it is unpacked."""


@dataclass(frozen=True)
class ReadOptions:
    """The arguments of ``read_tracks``; None leaves a choice to the file."""

    columns: dict[str, str] = field(default_factory=dict)
    fps: float | None = None
    unit: str | None = None
    keypoint: str | None = None
    confidence: float = 0.0
    clock: float | None = None
    sort: bool = False
    drop_estimated: bool = False
    centre: tuple[float, float] | None = None


class Source:
    """One file, of which no more is read than is asked for."""

    def __init__(self, path: Path) -> None:
        self.path = path
        if not path.exists():
            raise InputError(f"{path} does not exist")
        if not path.is_file():
            raise InputError(f"{path} is a folder or a device, expected a file")
        try:
            with path.open("rb") as file:
                self.start = file.read(8192)
        except OSError as error:
            raise InputError(f"{path} cannot be read ({error.strerror})") from error
        if not self.start:
            raise InputError(f"{path} is empty")

    @cached_property
    def kind(self) -> str:
        """The kind of file: text, hdf5, npy, npz, parquet, mat, netcdf3 or unknown."""
        kind = next((MAGIC[magic] for magic in MAGIC if self.start.startswith(magic)), None)
        if kind is None:
            wide = self.start[:2] in (b"\xff\xfe", b"\xfe\xff")
            return "text" if wide or b"\x00" not in self.start else "unknown"
        if kind == "zip":
            return "npz" if self._members(".npy") else "text"
        return "text" if kind == "gzip" else kind

    def open(self) -> io.TextIOBase:
        """Open the text; unpack it if it is packed."""
        return io.TextIOWrapper(
            self.open_bytes(), encoding=self.encoding, errors="replace", newline=""
        )

    def open_bytes(self) -> Any:
        """Open the bytes of the table; unpack them if they are packed."""
        if self.start.startswith(b"\x1f\x8b"):
            return gzip.open(self.path, "rb")
        if self.start.startswith(b"PK\x03\x04"):
            tables = self._members(".csv")
            if len(tables) != 1:
                raise InputError(f"{self.path} holds {len(tables)} CSV tables, expected one")
            archive = zipfile.ZipFile(self.path)
            try:
                return archive.open(tables[0])
            except PACKED as error:
                archive.close()
                raise _broken_archive(self.path, error) from error
        return self.path.open("rb")

    def _members(self, suffix: str) -> list[str]:
        try:
            with zipfile.ZipFile(self.path) as archive:
                return [name for name in archive.namelist() if name.lower().endswith(suffix)]
        except PACKED as error:
            raise _broken_archive(self.path, error) from error

    @cached_property
    def encoding(self) -> str:
        """The encoding of a text: UTF-8, or one that Excel writes."""
        try:
            with self.open_bytes() as file:
                start = file.read(65536)
        except PACKED as error:
            if isinstance(error, InputError):
                raise
            raise _broken_archive(self.path, error) from error
        if start[:2] in (b"\xff\xfe", b"\xfe\xff"):
            return "utf-16"
        try:
            codecs.getincrementaldecoder("utf-8")().decode(start)
        except UnicodeDecodeError:
            return "cp1252"
        return "utf-8-sig" if start[:3] == b"\xef\xbb\xbf" else "utf-8"

    @cached_property
    def decimal(self) -> str:
        """The decimal mark: a point, or a comma if commas do not separate the columns."""
        if self.delimiter == ",":
            return "."
        fields = [field for line in self.lines[1:] for field in line.split(self.delimiter)]
        commas = sum(re.fullmatch(r'"?[-+]?\d+,\d+"?', field) is not None for field in fields)
        points = sum(re.fullmatch(r'"?[-+]?\d+\.\d+"?', field) is not None for field in fields)
        return "," if commas > points else "."

    @cached_property
    def lines(self) -> list[str]:
        """The first lines of a text."""
        try:
            with self.open() as text:
                found = [text.readline(LONGEST_LINE).rstrip("\r\n") for _ in range(8)]
        except PACKED as error:
            if isinstance(error, InputError):
                raise
            raise _broken_archive(self.path, error) from error
        return [line for line in found if line]

    @cached_property
    def delimiter(self) -> str:
        """The character between the columns of a text table."""
        header = self.lines[0] if self.lines else ""
        return max(DELIMITERS, key=header.count)

    @cached_property
    def header(self) -> list[str]:
        """The names of the columns of a table; empty if the file is not a table."""
        if self.kind == "parquet":
            return list(self.parquet_schema.names)
        if self.kind != "text" or not self.lines:
            return []
        try:
            names = next(csv.reader([self.lines[0]], delimiter=self.delimiter), [])
        except csv.Error:  # a cell as long as a book
            return []
        odd = len(names) > MOST_COLUMNS or max(map(len, names), default=0) > LONGEST_NAME
        return [] if odd else names

    @cached_property
    def parquet_schema(self) -> Any:
        """The columns of a Parquet file with their types."""
        from pyarrow import ArrowException, parquet  # noqa: PLC0415

        try:
            return parquet.read_schema(self.path)
        except (ArrowException, OSError) as error:
            raise damaged(self.path, error) from error

    @cached_property
    def keys(self) -> frozenset[str]:
        """The names of the top-level items in an HDF5, NumPy or Matlab file."""
        if self.kind == "hdf5":
            with named(self.path), self.hdf5() as file:
                return frozenset(file)
        if self.kind == "npz":
            return frozenset(name[: -len(".npy")] for name in self._members(".npy"))
        if self.kind == "mat":
            from scipy.io import whosmat  # noqa: PLC0415

            with named(self.path):
                self.checked  # noqa: B018
                return frozenset(name for name, _, _ in whosmat(self.path))
        return frozenset()

    def hdf5(self) -> Any:
        """Open an HDF5 file, after another process has read it without a crash."""
        import h5py  # noqa: PLC0415

        self.checked  # noqa: B018  (once for each file)
        try:
            return h5py.File(self.path, "r")
        except OSError as error:
            raise damaged(self.path, error) from error

    @cached_property
    def checked(self) -> bool:
        """True if an HDF5 or Matlab file is safe to read; otherwise an error is raised."""
        (check_matlab if self.kind == "mat" else check_hdf5)(self.path)
        return True

    def mat(self) -> dict[str, Any]:
        """The variables of a Matlab file."""
        from scipy.io import loadmat  # noqa: PLC0415

        with named(self.path):
            self.checked  # noqa: B018
            return dict(loadmat(self.path, squeeze_me=False, struct_as_record=False))

    @property
    def words(self) -> str:
        """A description of the file, for messages."""
        shown = listed(sorted(self.keys) if self.keys else self.header, 8, 120)
        if self.kind == "hdf5" and "posterior" in self.keys:
            return "a fit, not tracks"
        for magic, picture in PICTURES.items():
            if self.start.startswith(magic):
                return f"a {picture}"
        return f"{self.kind}" + (f" with {shown}" if shown else "")


def listed(names: Sequence[str], most: int = 20, letters: int = 240) -> str:
    """The first names, cut to a length and without control characters, for a message."""
    plain = ["".join(c if c.isprintable() else "?" for c in name[:40]) for name in names[:most]]
    whole = ", ".join(plain)
    cut = len(names) > most or len(whole) > letters
    return whole[:letters] + (" …" if cut else "")


def damaged(path: Path, error: Exception) -> InputError:
    """The error for files that are damaged or not complete."""
    return InputError(damage(path, str(error) or type(error).__name__))


def _broken_archive(path: Path, error: Exception) -> InputError:
    words = " ".join(str(error).split())
    return InputError(f"{path} is a damaged archive: download or pack it again ({words:.100})")


@contextmanager
def named(path: Path) -> Iterator[None]:
    """Make errors raised inside name this file; do not warn of overflowing numbers."""
    try:
        with np.errstate(all="ignore"):
            yield
    except InputError as error:
        words = str(error) if str(path) in str(error) else f"{path}: {error}"
        if words == str(error) and len(words) <= LONGEST_MESSAGE:
            raise
        raise InputError(words[:LONGEST_MESSAGE]) from error
    except (Warning, AssertionError):
        raise
    except Exception as error:
        raise damaged(path, error) from error
