"""What a study leaves behind: figures, tables, claims, and a README that shows them together.

Nothing in a table or in claims.json depends on the clock; times are kept apart, in timings.json.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from html import escape
from importlib.metadata import version
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from shoal.figures.style import save_figure
from shoal.paper.claims import MARKS, Claim, rounded
from shoal.paper.estimates import Estimate
from shoal.paper.timings import timing_section, write_timings
from shoal.posterior.fit import ENGINES
from shoal.report.tables import write_table
from shoal.system.files import make_folder, write_whole
from shoal.version import __version__

QUICK = "short chains and few groups; verdicts can differ from those of a full run."


@dataclass(frozen=True)
class Shown:
    """A figure or a video in the README.

    Attributes
    ----------
    heading
        As "Figure 1. Cost-to-go".
    file
        Its name within the folder: a PNG, or a video.
    paper
        What the paper shows there.
    caption
        What ours shows, with the numbers.
    differences
        Where the two differ, and why.
    claims
        What it lets one judge.
    """

    heading: str
    file: str
    paper: str
    caption: str
    differences: str
    claims: Sequence[Claim] = ()


@dataclass
class StudyFolder:
    """The folder of one study, filled as the study goes on."""

    path: Path
    title: str
    shown: list[Shown] = field(default_factory=list)
    tables: list[tuple[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Make the folder before any work is done; what an earlier run said of it goes."""
        make_folder(self.path)
        for name in ("README.md", "claims.json", "timings.json"):
            (self.path / name).unlink(missing_ok=True)

    @property
    def fits(self) -> Path:
        """Where fits go."""
        return self.path / "fits"

    def draw(self, name: str, figure: Figure) -> str:
        """A figure as PNG and PDF; gives the name of the PNG within the folder."""
        folder = make_folder(self.path / "figures")
        save_figure(figure, folder / f"{name}.png")
        figure.set_layout_engine("none")  # as it was laid out for the first file
        save_figure(figure, folder / f"{name}.pdf")
        return f"figures/{name}.png"

    def show(self, *shown: Shown) -> None:
        """Add figures to the README."""
        self.shown.extend(shown)

    def tabulate(self, name: str, what: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Write a table as CSV."""
        folder = make_folder(self.path / "tables")
        write_table([{k: str(v) for k, v in row.items()} for row in rows], folder / f"{name}.csv")
        self.tables.append((f"tables/{name}.csv", what))

    def finish(
        self,
        lead: str,
        settings: Any,
        claims: Sequence[Claim],
        estimates: Sequence[Estimate],
        data: Mapping[str, Any],
    ) -> Path:
        """Write claims, timings and the README; gives its path."""
        record = {
            "study": self.title,
            "shoal": __version__,
            "engines": {name: version(name) for name in ENGINES},
            "seed": settings.seed,
            "settings": asdict(settings),
            "data": rounded(dict(data)),
            "claims": [claim.record() for claim in claims],
        }
        write_whole(self.path / "claims.json", _json(record))
        write_timings(self.path, estimates)
        told = "\n\n".join(
            [
                f"# {self.title}",
                lead,
                *_cautions(settings, estimates),
                "## Claims",
                _claims_table(claims),
                "## Figures beside the paper's",
                *map(_figure, self.shown),
                "## Fits and how long they took",
                timing_section(self.path),
                "## Files",
                _files(self.tables),
                f"Made by shoal {__version__} with seed {settings.seed}; `claims.json` has every "
                "setting, number and test.",
            ]
        )
        path = self.path / "README.md"
        write_whole(path, (told + "\n").encode())
        return path


def _cautions(settings: Any, estimates: Sequence[Estimate]) -> list[str]:
    """What a reader must know before any verdict."""
    found = []
    if settings.shortened:
        found.append(f"**Quick**: {QUICK}")
    unsound = [e.name for e in estimates if e.fit.method == "nuts" and not e.diagnostics.trusted]
    if unsound:
        found.append(
            f"**Not to be trusted yet**: {len(unsound)} of the NUTS fits do not pass their own "
            f"diagnostics ({', '.join(unsound)}; `tables/fits.csv`), and verdicts rest on them."
        )
    return found


def _json(record: Any) -> bytes:
    return (json.dumps(record, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()


def _claims_table(claims: Sequence[Claim]) -> str:
    lines = ["| | the paper says | what we found | verdict |", "|---|---|---|---|"]
    for claim in claims:
        cells = (MARKS[claim.verdict], claim.paper, claim.found, f"**{claim.verdict}**")
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines)


def _figure(shown: Shown) -> str:
    """The picture and its caption on the left, the paper and the claims on the right."""
    if shown.file.endswith(".png"):
        picture = f'<img src="{escape(shown.file)}" alt="{escape(shown.heading)}" width="640">'
    else:
        picture = f'<a href="{escape(shown.file)}">{escape(shown.file)}</a>'
    claims = "".join(
        f"<li>{MARKS[claim.verdict]} {escape(claim.paper)}: <b>{escape(claim.verdict)}</b>. "
        f"{escape(claim.found)} <i>Test:</i> {escape(claim.test)}</li>"
        for claim in shown.claims
    )
    beside = f"<p><b>In the paper.</b> {escape(shown.paper)}</p>" if shown.paper else ""
    if shown.differences:
        beside += f"<p><b>What differs, and why.</b> {escape(shown.differences)}</p>"
    if claims:
        beside += f"<ul>{claims}</ul>"
    return (
        f"### {shown.heading}\n\n"
        '<table><tr><td width="60%" valign="top">\n'
        f"{picture}\n<p>{escape(shown.caption)}</p>\n"
        f'</td><td valign="top">\n{beside}\n</td></tr></table>'
    )


def _files(tables: Sequence[tuple[str, str]]) -> str:
    lines = [f"- [`{name}`]({name}): {what}" for name, what in tables]
    lines.append("- `fits/*.nc`: every fit, netCDF in ArviZ groups; `shoal check` judges one")
    lines.append("- `figures/`: every figure as PNG and PDF")
    return "\n".join(lines)
