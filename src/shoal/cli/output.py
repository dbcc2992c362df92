"""Results on the terminal."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text


def printable(text: str) -> str:
    """Text that may hold names from files, without what acts on a terminal."""
    return "".join(c if c.isprintable() or c == "\n" else "?" for c in text)


def print_table(title: str, rows: Sequence[dict[str, str]]) -> None:
    """Rows as a table that fits the terminal."""
    table = Table(title=title)
    for number, name in enumerate(rows[0]):
        plain = number < 2 or len(rows[0]) <= 3
        table.add_column(name, justify="left" if plain else "right", overflow="fold")
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row.values()))
    Console().print(table)
