"""From a fit to moving groups: what ``shoal simulate`` and ``shoal predict`` do."""

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from shoal.checks import PredictiveCheck, predictive_check
from shoal.errors import InputError
from shoal.figures import save_figure
from shoal.figures.predictive import predictive_panels
from shoal.files import make_folder
from shoal.posterior import Fit, load_fit
from shoal.progress import Report
from shoal.report.page import Note, Page, Picture, write_page
from shoal.report.tables import write_table
from shoal.simulation import Release, simulate
from shoal.studies.fitting import FitRun, FitSettings
from shoal.studies.words import arena_of_words, target_of
from shoal.tracks import Collection, Tracks

PANELS = ("observed", "stochastic", "least-cost", "passive")
TABLES = (".csv", ".parquet")
REPLICATES = 200


@dataclass(frozen=True)
class MovingSettings:
    """Every choice of a simulation, as words and numbers."""

    fit: Path
    tracks: str = ""
    config: Path | None = None
    group: str = ""
    release: str = ""
    steps: int = 0
    rule: str = "stochastic"
    draws: str = "mean"
    replicates: int = 0
    speed: str = ""
    arena: str = ""
    walls: str = "reflect"
    stop: str = ""
    target: str = ""
    reach: float = 0.0
    fps: float = 0.0
    seed: int = 1


@dataclass(frozen=True, eq=False)
class Moving:
    """A fit, the tracks it was made from, and what is simulated from them."""

    settings: MovingSettings
    progress: bool | Report | None = None

    @cached_property
    def fit(self) -> Fit:
        """As it was written."""
        return load_fit(self.settings.fit)

    @cached_property
    def choices(self) -> FitSettings | None:
        """Of the fit: in the TOML file beside it, or the one that was named."""
        s = self.settings
        beside = s.fit.with_suffix(".toml")
        path = s.config or (beside if beside.exists() else None)
        found = FitSettings(**FitSettings.from_toml(path)) if path is not None else None
        if s.tracks:
            return replace(found or FitSettings(), tracks=s.tracks)
        return found

    @cached_property
    def tracks(self) -> Tracks | Collection:
        """The observed groups, prepared as they were for the fit."""
        if self.choices is None or not self.choices.tracks:
            raise InputError(
                f"where do the animals start? there is no {self.settings.fit.stem}.toml beside "
                f"{self.settings.fit} that names tracks: give --tracks FILE, or --release "
                "10:X,Y with --speed and --steps"
            )
        found: Any = FitRun(replace(self.choices, stream=False)).tracks
        if self.choices.lag > 1:
            found = found.thin(self.choices.lag)  # a decision every lag frames
        if not self.settings.group:
            return found
        for part in found:
            if part.group == self.settings.group:
                return part
        known = ", ".join(part.group for part in found)
        raise InputError(f"there is no group {self.settings.group!r}; there are {known:.200}")

    @property
    def start(self) -> Any:
        """Tracks, or a release."""
        return released(self.settings.release) if self.settings.release else self.tracks

    def _options(self) -> dict[str, Any]:
        """What simulations and checks have in common."""
        s = self.settings
        words = s.arena or (self.choices.arena if self.choices is not None else "")
        arena: Any = words if words == "unbounded" else arena_of_words(words)
        common: dict[str, Any] = {
            "seed": s.seed,
            "arena": arena,
            "walls": s.walls,
            "stop": s.stop or None,
            "target": target_of(s.target),
            "reach": s.reach or None,
            "progress": self.progress,
        }
        speed = _speed(s.speed)
        if speed is not None:
            common["speed"] = speed
        if self.choices is not None and not s.release:
            for name in ("heading_frames", "minimum_step", "tracker_headings"):
                common[name] = getattr(self.choices, name)
        return common

    def simulated(self, rule: str | None = None, replicates: int | None = None) -> Any:
        """Groups that live by the fit."""
        s = self.settings
        wanted = s.replicates if replicates is None else replicates
        return simulate(
            self.fit,
            start=self.start,
            steps=s.steps or None,
            rule=rule or s.rule,
            draws=s.draws,
            replicates=wanted or None,
            fps=s.fps or None,
            **self._options(),
        )

    def write(self, out: Path) -> Any:
        """Simulate and write the tracks."""
        suffix = out.suffix.lower()
        if suffix not in TABLES:
            raise InputError(f"tracks are written to .csv or .parquet, got {out}")
        make_folder(out.parent)
        groups = self.simulated()
        groups.to_csv(out) if suffix == ".csv" else groups.to_parquet(out)
        return groups

    def film(self, groups: Any, video: Path, beside: str, inset: bool, speed: float) -> Path:
        """A video of the first group, with others beside it that began alike."""
        from shoal.figures.video.animation import animate  # noqa: PLC0415  (loads the encoder)

        first = next(iter(groups))
        panels = {}
        for word in [part.strip() for part in beside.split(",") if part.strip()]:
            if word not in PANELS:
                raise InputError(f"--beside is made of {', '.join(PANELS)}; got {word!r}")
            if word == "observed":
                panels[word] = next(iter(self.tracks))
            else:
                panels[word] = next(iter(self.simulated(word, 0)))
        panels[self.settings.rule] = first  # last, or where it was asked for
        target = target_of(self.settings.target) or self._target(first.group)
        return animate(
            panels if len(panels) > 1 else first,
            video,
            target=None if isinstance(target, str) else target,
            inset=self.fit if inset else None,
            speed=speed,
            progress=self.progress,
        )

    def _target(self, group: str) -> Any:
        """The fixed target of the fit, for a group."""
        for part in self.fit.model.space.parts:
            found = getattr(part, "target", None)
            if isinstance(found, tuple) and found and isinstance(found[0], tuple):
                return dict(found).get(group)
            if isinstance(found, tuple):
                return found
        return None

    @cached_property
    def check(self) -> PredictiveCheck:
        """Observed groups among simulated ones."""
        return predictive_check(
            self.fit,
            self.tracks,
            replicates=self.settings.replicates or REPLICATES,
            draws=self.settings.draws,
            **self._options(),
        )

    def write_check(self, out: Path) -> dict[str, Path]:
        """The page, its figure and its table, beside each other."""
        if out.suffix.lower() != ".html":
            raise InputError(f"the page of a predictive check ends in .html, got {out}")
        folder = make_folder(out.parent)
        check = self.check
        drawn = predictive_panels(check)
        figure = save_figure(drawn, folder / f"{out.stem}-measures.png")
        save_figure(drawn, folder / f"{out.stem}-measures.pdf")
        table = folder / f"{out.stem}-measures.csv"
        write_table(check.table(), table)
        page = Page(
            title="Do simulated groups move like the observed ones?",
            lead=check.words(),
            rows=check.table(),
            pictures=(Picture(figure, "Measures of simulated and observed groups", _CAPTION),),
            notes=(Note("How it was made", self._told()),),
        )
        return {"page": write_page(out, page), "figure": figure, "table": table}

    def _told(self) -> str:
        check, s = self.check, self.settings
        groups = f"{check.groups} group{'s' if check.groups > 1 else ''}"
        live = {
            "each": "Every simulated group lives by a posterior draw of its own",
            "mean": "Simulated groups live by the posterior mean",
        }[s.draws]
        return (
            f"{check.replicates} replicates of {groups} under each model, seed {s.seed}, with the "
            "observed starts, numbers, lengths and speeds (each animal's own, replayed in runs), "
            f"walls: {s.walls}. {live}. Passive only: the fit's passive dynamics without costs. "
            f"Vicsek: all animals as neighbours, noise {check.noise:.3g}° fitted to the tracks. "
            "A measure of several groups is its mean over them. p is twice the smaller tail. The "
            "standardised error of a model is the distance of its mean from the observed value, "
            "divided by the root mean square of the models' standard deviations. Headings are "
            "taken from displacements. The fit has seen these tracks, unless others were given."
        )


_CAPTION = (
    "Each panel: a measure of the observed groups (black line) among replicates of the same design "
    "under the learned policy (blue; bar: 95 % interval), under the passive dynamics alone (grey) "
    "and under Vicsek's rule (orange). p: how often a replicate of the learned policy lies as far "
    "out as the observed value."
)


def released(words: str) -> Release:
    """``10:X,Y`` or ``10:X,Y:SPREAD``, or ``10`` for an even spread over the arena."""
    count, _, rest = words.partition(":")
    place, _, spread = rest.partition(":")
    try:
        point = tuple(float(part) for part in place.split(",")) if place else None
        return Release(int(count), point, float(spread or 0.0))
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            "a release is a number of animals, a place and a spread, 10:0.9,0.1:0.05; got "
            f"{words!r}"
        ) from None


def _speed(words: str) -> Any:
    """A word, a number, or nothing."""
    if not words:
        return None
    try:
        return float(words)
    except ValueError:
        return words
