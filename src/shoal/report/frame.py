"""The frame around a page's parts: style, script, numbers, and no way out to a network."""

from collections.abc import Sequence
from html import escape
from importlib.resources import files
from typing import Any

from shoal.posterior import Fit
from shoal.report.packing import script_json
from shoal.report.sections import Section
from shoal.version import __version__

SCRIPTS = ("core.js", "lines.js", "maps.js", "around.js", "policy.js", "checks.js", "moves.js",
           "replay.js", "main.js")  # fmt: skip
START = 'shoal.open(JSON.parse(document.getElementById("contents").textContent));'
ASK = "shoal.explore();"


def page_html(
    title: str, fit: Fit, parts: Sequence[Section], contents: dict[str, Any] | None
) -> str:
    """The parts in the page's frame, with its style and script.

    ``contents`` are the numbers that the script draws; without them it asks its server.
    """
    served = contents is None
    scripts = [asset(name) for name in (*SCRIPTS, *(("explorer.js",) if served else ()))]
    kept = _KEPT if not served else _SERVED
    filled = {
        "connect": "'self'" if served else "'none'",
        "title": escape(title),
        "version": escape(__version__),
        "method": escape(fit.how),
        "style": asset("page.css"),
        "links": "".join(part.link() for part in parts),
        "sections": "\n".join(part.html() for part in parts),
        "kept": kept,
        "script": "\n".join([*scripts, ASK if served else START]),
        "contents": script_json(contents or {}),
    }
    page, *rest = asset("page.html").split("{{")
    for piece in rest:  # one pass: what is filled in is never looked at again
        name, _, after = piece.partition("}}")
        page += filled[name] + after
    return page


def asset(name: str) -> str:
    """A file that belongs to the page."""
    return (files("shoal.report") / "assets" / name).read_text(encoding="utf-8")


_KEPT = "This page holds everything it shows and asks the network for nothing."
_SERVED = "This page is served on this machine alone, as long as shoal explore runs."
