"""The paper, section by section, and a page that leads to all of it."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.paper.claims import MARKS, Claim
from shoal.paper.folder import QUICK
from shoal.paper.guppies import GuppySettings, reproduce_guppies, reproduce_guppy_files
from shoal.paper.settings import ReproduceSettings
from shoal.paper.vicsek import Settings, reproduce_vicsek
from shoal.system.files import make_folder, write_whole
from shoal.system.progress import Report
from shoal.version import __version__
from shoal.workflows.words import point_of


@dataclass(frozen=True)
class Reproduced:
    """A study that was run: its claims and its README."""

    name: str
    title: str
    claims: list[Claim]
    readme: Path


def reproduce(
    out: Path, settings: ReproduceSettings, progress: bool | Report | None = None
) -> tuple[list[Reproduced], Path]:
    """Run the studies; gives what each found and the page over all of them."""
    target = point_of(settings.target) if settings.target else None
    make_folder(out)
    quick, seed = settings.quick, settings.seed
    flock = Settings.quick(seed) if quick else Settings(seed=seed)
    fish = GuppySettings.quick(seed) if quick else GuppySettings(seed=seed)
    done = []
    if settings.data:  # first, since a fault in the user's file shows at once
        name = "guppies-data"
        found = reproduce_guppy_files(
            out / name, fish, Path(settings.data), target, progress, flip_y=settings.flip_y
        )
        done.append(_done(name, *found))
    if settings.study in ("vicsek", "all"):
        done.append(_done("vicsek", *reproduce_vicsek(out / "vicsek", flock, progress)))
    if settings.study in ("guppies", "all"):
        done.append(_done("guppies", *reproduce_guppies(out / "guppies", fish, progress)))
    return done, _index(out, done, settings)


def _done(name: str, claims: list[Claim], readme: Path) -> Reproduced:
    title = readme.read_text().partition("\n")[0].lstrip("# ")
    return Reproduced(name, title, claims, readme)


def _index(out: Path, done: list[Reproduced], settings: Any) -> Path:
    lines = [
        "# The paper, reproduced",
        "",
        "Schafer, Wikle and Hooten, *Bayesian inverse reinforcement learning for collective animal "
        "movement*, figure by figure and claim by claim. ✓ holds, ✗ does not hold, – cannot be "
        "tested here; each study's README has figures, captions and the tests behind the verdicts.",
    ]
    if settings.quick:
        lines += ["", f"**Quick**: {QUICK}"]
    for study in done:
        lines += ["", f"## [{study.title}]({study.name}/README.md)", ""]
        lines += [f"- {MARKS[c.verdict]} {c.paper}: {c.verdict}" for c in study.claims]
    others = [
        path.parent.name
        for path in sorted(out.glob("*/claims.json"))
        if path.parent.name not in {study.name for study in done}
    ]
    if others:
        lines += ["", f"From an earlier run: {', '.join(f'[{o}]({o}/README.md)' for o in others)}."]
    lines += ["", f"Made by shoal {__version__} with seed {settings.seed}."]
    path = out / "README.md"
    write_whole(path, ("\n".join(lines) + "\n").encode())
    return path


def record_of(done: Iterable[Reproduced], index: Path) -> dict[str, Any]:
    """What ``shoal reproduce --json`` prints."""
    return {
        "studies": [
            {
                "name": part.name,
                "title": part.title,
                "readme": part.readme,
                "claims": [claim.record() for claim in part.claims],
            }
            for part in done
        ],
        "files": {"index": index},
    }
