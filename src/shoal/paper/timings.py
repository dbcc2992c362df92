"""How long each fit took, and what another program needs for the same, where that was measured."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from shoal.paper.estimates import Estimate, shown
from shoal.posterior import Fit
from shoal.system.files import write_whole

BEGIN, END = "<!-- timings -->", "<!-- end of timings -->"


def write_timings(folder: Path, estimates: Sequence[Estimate]) -> None:
    """``timings.json``: seconds of every fit, compilation included, with what was fitted."""
    fits = []
    for estimate in estimates:
        sizes = estimate.fit.sampled.sizes
        fits.append(
            {
                "fit": estimate.name,
                "what": estimate.label,
                "seconds": round(estimate.seconds, 2),
                "draws": f"{sizes['chain']} × {sizes['draw']}",
                "ess": shown(estimate.diagnostics.numbers, "min_ess_bulk", ".0f"),
                "sound": estimate.diagnostics.trusted,
                "transitions": digest(estimate.fit),
            }
        )
    text = json.dumps({"fits": fits}, indent=2, ensure_ascii=False) + "\n"
    write_whole(folder / "timings.json", text.encode())


def digest(fit: Fit) -> str:
    """Of the transitions behind a fit, so that times of other data are never set beside it."""
    pairs = fit.data["transitions"].to_dataset()
    rows = np.stack([pairs[name].values for name in ("origin", "destination", "count")], axis=1)
    rows = rows[np.lexsort(rows.T[::-1])].astype("<i8")
    return hashlib.sha256(rows.tobytes()).hexdigest()


def timing_section(folder: Path) -> str:
    """The table of ``timings.json``, beside Stan's times where ``stan.json`` has them."""
    ours = json.loads((folder / "timings.json").read_text())["fits"]
    stan = _stan(folder)
    head = ["fit", "what", "draws", "smallest ESS", "sound", "shoal, s"]
    if stan:
        head += ["Stan, the paper's program", "Stan, optimised by hand"]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for fit in ours:
        sound = "yes" if fit["sound"] else "no"
        cells = [fit["fit"], fit["what"], fit["draws"], fit["ess"], sound, f"{fit['seconds']:.1f}"]
        if stan:
            known = stan.get((fit["fit"], fit["transitions"]), {})
            cells += [_words(known.get(program)) for program in ("published", "optimised")]
        lines.append("| " + " | ".join(cells) + " |")
    words = (
        "Wall clock of each fit, compilation included; a model of the same shape as one before it "
        "is not compiled again."
    )
    if stan:
        words += " Stan's times are without its compilation, which took " + " and ".join(
            f"{seconds:.0f} s ({program})" for program, seconds in _compilation(folder).items()
        )
        words += "." + "".join(f" {told}" for told in _projections(stan))
    else:
        words += " `bench/stan.py` times Stan on the same transitions where rstan is installed."
    return "\n".join([BEGIN, *lines, "", words, END])


def refresh(folder: Path) -> None:
    """Put the timings into a README that is there already."""
    path = folder / "README.md"
    text = path.read_text()
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    write_whole(path, (before + timing_section(folder) + after).encode())


def _stan(folder: Path) -> dict[tuple[str, str], dict[str, dict[str, Any]]]:
    path = folder / "stan.json"
    if not path.exists():
        return {}
    found: dict[tuple[str, str], dict[str, dict[str, Any]]] = {}
    for row in json.loads(path.read_text())["fits"]:
        found.setdefault((row["fit"], row["transitions"]), {})[row["program"]] = row
    return found


def _projections(stan: dict[tuple[str, str], dict[str, dict[str, Any]]]) -> list[str]:
    """What each projected time rests on."""
    return [
        f"{name}, the paper's program: {row['projection']}."
        for (name, _), programs in stan.items()
        for row in programs.values()
        if row.get("projection")
    ]


def _compilation(folder: Path) -> dict[str, float]:
    stan = json.loads((folder / "stan.json").read_text())["stan"]
    return dict(stan["compile_seconds"])


def _words(row: dict[str, Any] | None) -> str:
    if row is None:
        return "–"
    if row.get("sampling_seconds") is not None:
        ess = row.get("min_ess_bulk")
        effective = f", ESS {ess:.0f}" if ess is not None else ""
        return f"{row['sampling_seconds']:.0f} s ({row['iterations']}{effective})"
    words = f"{row['gradient_ms']:.3g} ms a gradient"
    if row.get("projected_seconds") is not None:
        words += f", projected {row['projected_seconds'] / 3600:.1f} h"
    return words
