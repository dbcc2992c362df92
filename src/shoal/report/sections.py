"""The parts of a report as HTML; everything that came from a file or a user is escaped."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from shoal.posterior.diagnostics import Diagnostics


@dataclass(frozen=True)
class Section:
    """One part of the page: its anchor, its heading and what it holds."""

    name: str
    heading: str
    body: str

    def html(self) -> str:
        """As HTML."""
        return (
            f'<section id="{self.name}" aria-labelledby="{self.name}-heading">'
            f'<h2 id="{self.name}-heading">{escape(self.heading)}</h2>{self.body}</section>'
        )

    def link(self) -> str:
        """To it, for the head of the page."""
        return f'<li><a href="#{self.name}">{escape(self.heading)}</a></li>'


def _words(text: str) -> str:
    """Escaped, with numbers held to their units."""
    return escape(text).replace("95 %", "95&nbsp;%").replace(" nats", "&nbsp;nats")


def paragraph(text: str, kind: str = "") -> str:
    """A paragraph, with a class where one is given."""
    return f"<p{f' class={kind}' if kind else ''}>{_words(text)}</p>"


def bullets(lines: Iterable[str]) -> str:
    """A list."""
    return f"<ul class=plain>{''.join(f'<li>{_words(line)}</li>' for line in lines)}</ul>"


def table(rows: Sequence[dict[str, str]], caption: str = "", numbers: int = 10**6) -> str:
    """Rows under their names; columns from ``numbers`` on are set to the right."""
    if not rows:
        return ""

    def kind(place: int) -> str:
        return " class=number" if place >= numbers else ""

    head = "".join(f"<th scope=col{kind(n)}>{escape(name)}</th>" for n, name in enumerate(rows[0]))
    body = "".join(
        "<tr>"
        + "".join(f"<td{kind(n)}>{escape(v)}</td>" for n, v in enumerate(row.values()))
        + "</tr>"
        for row in rows
    )
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    return (
        f'<div class=wide tabindex=0 role=region aria-label="{escape(caption or "table")}">'
        f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def facts(rows: Sequence[tuple[str, str]], caption: str) -> str:
    """Names and what was found, two columns."""
    return table([{"what": name, "found": value} for name, value in rows], caption)


def banner(diagnostics: Diagnostics) -> str:
    """A word of warning nobody can miss, where a fit should not be trusted."""
    if diagnostics.trusted:
        return ""
    lines = "".join(f"<li>{escape(line)}</li>" for line in diagnostics.failures)
    return (
        '<div class=banner role=alert id="banner"><strong>Do not trust this fit yet.</strong>'
        f"<ul class=plain>{lines}</ul></div>"
    )


def trust(diagnostics: Diagnostics) -> str:
    """Diagnostics in words."""
    sound = (
        "The computation is sound. Whether the model describes these animals is another question: "
        "see “Do simulated groups move alike?”."
    )
    head = paragraph(sound, "sound") if diagnostics.trusted else bullets(diagnostics.failures)
    notes = bullets(diagnostics.notes) if diagnostics.notes else ""
    return head + (f"<h3>To know when reading it</h3>{notes}" if notes else "")
