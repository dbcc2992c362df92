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

LONG = 24
"""Characters from which on a word, such as a path, may be broken."""


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
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    console = Console()
    rows = [{printable(name): printable(cell) for name, cell in row.items()} for row in rows]
    title, names = printable(title), list(rows[0])
    columns = [[name, *(row[name] for row in rows)] for name in names]
    widths = _widths(columns, console.width - 1 - 3 * len(names))
    if widths is None:
        console.print(_as_lists(title, rows))
        return
    table = Table(title=Text(title))
    for number, (name, width) in enumerate(zip(names, widths, strict=True)):
        side: Any = "left" if number < 2 or len(names) <= 3 else "right"
        table.add_column(Text(name), justify=side, overflow="fold", width=width)
    for row in rows:
        table.add_row(*(Text(cell) for cell in row.values()))
    console.print(table)


def _widths(columns: Sequence[Sequence[str]], room: int) -> list[int] | None:
    """How wide each column is, so that no word is broken but very long ones; None without room."""
    from rich.cells import cell_len  # noqa: PLC0415

    widest = [max(cell_len(cell) for cell in column) for column in columns]
    if sum(widest) <= room:
        return widest
    words = [[cell_len(word) for cell in column for word in cell.split()] for column in columns]
    least = [min(max(found, default=1), LONG) for found in words]
    spare = room - sum(least)
    if spare < 0:
        return None
    given = list(least)
    by_need = sorted(range(len(columns)), key=lambda n: widest[n] - least[n])
    for left, n in zip(range(len(columns), 0, -1), by_need, strict=True):  # short cells stay whole
        more = min(widest[n] - least[n], spare // left)
        given[n] += more
        spare -= more
    return given


def _as_lists(title: str, rows: Sequence[Mapping[str, str]]) -> Any:
    from rich.text import Text  # noqa: PLC0415

    lines = [title]
    for row in rows:
        first, *rest = row.items()
        lines.append(f"\n{first[1]}")
        lines += [f"  {name}: {cell}" for name, cell in rest if cell]
    return Text("\n".join(lines))


def look_at(address: str) -> bool:
    """Open a page in the user's browser; False where there is none."""
    import webbrowser  # noqa: PLC0415  (rarely needed)

    return webbrowser.open(address)
