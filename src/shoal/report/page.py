"""One self-contained HTML page: words, a table, pictures, and what to worry about."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from shoal.system.files import write_whole
from shoal.version import __version__

STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
h1 { line-height: 1.2; } figure { margin: 2rem 0; }
img { width: 100%; height: auto; background: #fff; }
figcaption { font-size: .9rem; opacity: .85; }
.wide { overflow-x: auto; } table { border-collapse: collapse; width: 100%; }
th, td { text-align: right; padding: .35rem .6rem; border-bottom: 1px solid #8886; }
th:nth-child(-n+2), td:nth-child(-n+2) { text-align: left; }
pre { white-space: pre-wrap; border-left: 4px solid #0072B2; padding: .5rem 1rem; }
"""


@dataclass(frozen=True)
class Picture:
    """A PNG file, what it shows in few words, and its caption."""

    path: Path
    alternative: str
    caption: str


@dataclass(frozen=True)
class Note:
    """A heading and lines under it."""

    heading: str
    lines: str


@dataclass(frozen=True)
class Page:
    """What a page holds, in order."""

    title: str
    lead: str
    rows: Sequence[dict[str, str]]
    pictures: Sequence[Picture]
    notes: Sequence[Note]


def write_page(path: Path, page: Page) -> Path:
    """Write the page with its pictures inside; everything is escaped, nothing is fetched."""
    body = "\n".join(
        [
            f"<h1>{escape(page.title)}</h1>",
            f"<p>{escape(page.lead)}</p>",
            *map(_figure, page.pictures),
            f"<div class=wide>{_table(page.rows)}</div>",
            "<h2>What to worry about</h2>",
            *(f"<h3>{escape(n.heading)}</h3><pre>{escape(n.lines)}</pre>" for n in page.notes),
            f"<p><small>shoal {escape(__version__)}</small></p>",
        ]
    )
    text = (
        "<!doctype html>\n<html lang=en><head><meta charset=utf-8>"
        '<meta name=viewport content="width=device-width, initial-scale=1">'
        f"<title>{escape(page.title)}</title><style>{STYLE}</style></head>\n"
        f"<body><main>\n{body}\n</main></body></html>\n"
    )
    write_whole(path, text.encode())
    return path


def _figure(picture: Picture) -> str:
    data = base64.b64encode(picture.path.read_bytes()).decode()
    return (
        f'<figure><img alt="{escape(picture.alternative)}" src="data:image/png;base64,{data}">'
        f"<figcaption>{escape(picture.caption)}</figcaption></figure>"
    )


def _table(rows: Sequence[dict[str, str]]) -> str:
    head = "".join(f"<th scope=col>{escape(name)}</th>" for name in rows[0])
    lines = [
        "<tr>" + "".join(f"<td>{escape(value)}</td>" for value in row.values()) + "</tr>"
        for row in rows
    ]
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
