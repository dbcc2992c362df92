"""Results on the terminal: text and tables that fit it, in an encoding that it has."""

import codecs
import sys
from collections.abc import Mapping, Sequence
from typing import Any

SIMPLER = {
    **{"×": "x", "−": "-", "–": "-", "—": "-", "°": " deg", "…": "...", "·": "-", "•": "*"},
    **{"≤": "<=", "≥": ">=", "±": "+-", "→": "->", "✓": "yes", "✗": "no", "\u0302": "^"},
    **{"‘": "'", "’": "'", "“": '"', "”": '"', "γ": "gamma", "λ": "lambda", "σ": "sigma"},
    **{"³": "^3", "²": "^2", "ä": "ae", "ö": "oe", "ü": "ue", "\xa0": " ", "\u202f": " "},
}
"""What is written instead where the output can hold letters of the English alphabet only."""


def printable(text: str) -> str:
    """Text that may hold names from files, without what acts on a terminal or what it lacks."""
    safe = "".join(c if c.isprintable() or c == "\n" else "?" for c in text)
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    codecs.register_error("shoal", _simpler)
    return safe.encode(encoding, "shoal").decode(encoding)


def speak_their_encoding() -> None:
    """Let both streams write simpler characters where they lack ours, instead of failing."""
    codecs.register_error("shoal", _simpler)
    for stream in (sys.stdout, sys.stderr):
        encoding = (getattr(stream, "encoding", None) or "utf-8").lower()
        if not encoding.startswith("utf") and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="shoal")


def _simpler(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    wrong = error.object[error.start : error.end]
    return "".join(SIMPLER.get(character, "?") for character in wrong), error.end


def print_table(title: str, rows: Sequence[Mapping[str, str]]) -> None:
    """Rows as a table that fits the terminal; where none does, as a list of each."""
    from rich.console import Console  # noqa: PLC0415  (only where something is printed)

    console = Console()
    rows = [{printable(name): printable(cell) for name, cell in row.items()} for row in rows]
    title, names = printable(title), list(rows[0])
    if _least_width(rows) > console.width:
        console.print(_as_lists(title, rows))
        return
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    table = Table(title=Text(title))
    for number, name in enumerate(names):
        plain = number < 2 or len(names) <= 3
        table.add_column(Text(name), justify="left" if plain else "right", overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row.values()))
    console.print(table)


def _least_width(rows: Sequence[Mapping[str, str]]) -> int:
    """Columns that a table needs if no word of it is to be broken, but for very long ones."""
    width = 1
    for name in rows[0]:
        words = [word for row in rows for word in [*name.split(), *row[name].split()]]
        width += 3 + min(max(map(len, words), default=0), 24)
    return width


def _as_lists(title: str, rows: Sequence[Mapping[str, str]]) -> Any:
    from rich.text import Text  # noqa: PLC0415

    lines = [title]
    for row in rows:
        first, *rest = row.items()
        lines.append(f"\n{first[1]}")
        lines += [f"  {name}: {cell}" for name, cell in rest if cell]
    return Text("\n".join(lines))
