"""Results on the terminal."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table


def print_table(title: str, rows: Sequence[dict[str, str]]) -> None:
    """Rows as a table that fits the terminal."""
    table = Table(title=title)
    for number, name in enumerate(rows[0]):
        plain = number < 2 or len(rows[0]) <= 3
        table.add_column(name, justify="left" if plain else "right", overflow="fold")
    for row in rows:
        table.add_row(*row.values())
    Console().print(table)
