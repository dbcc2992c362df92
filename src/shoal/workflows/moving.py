"""From a fit to moving groups: what ``shoal simulate`` and ``shoal predict`` do."""

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from shoal.checks import PredictiveCheck, predictive_check
from shoal.errors import InputError
from shoal.figures import save_figure
from shoal.figures.predictive import predictive_panels
from shoal.posterior import Fit, load_fit
from shoal.report.page import Note, Page, Picture, write_page
from shoal.report.tables import write_table
from shoal.simulation import Release, simulate
from shoal.simulation.designs import AUTO, HULL, NO_WALLS, Surroundings
from shoal.system.files import make_folder
from shoal.system.progress import Report
from shoal.tracks import Collection, Tracks
from shoal.tracks.readers.reading import files_of
from shoal.tracks.record import warn
from shoal.workflows.fitting import FitRun, FitSettings
from shoal.workflows.words import arena_of_words, target_note, target_of

PANELS = ("observed", "stochastic", "least-cost", "passive")
TABLES = (".csv", ".parquet")


@dataclass(frozen=True)
class MovingSettings:
    """Every choice of a simulation, as words and numbers."""

    fit: Path
    tracks: str = ""
    fit_config: str = ""
    group: str = ""
    release: str = ""
    steps: int | None = None
    rule: str = "stochastic"
    draws: str = "mean"
    replicates: int | None = None
    speed: str = ""
    arena: str = ""
    walls: str = "reflect"
    stop: str = ""
    target: str = ""
    reach: float | None = None
    fps: float | None = None
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
        path = Path(s.fit_config) if s.fit_config else beside if beside.exists() else None
        found = FitSettings(**FitSettings.from_toml(path)) if path is not None else None
        if s.tracks:
            return replace(found or FitSettings(every=1), tracks=s.tracks)
        return found

    @cached_property
    def tracks(self) -> Tracks | Collection:
        """The observed groups, prepared as they were for the fit."""
        if self.choices is None or not self.choices.tracks:
            raise InputError(
                f"which tracks? there is no {self.settings.fit.stem}.toml beside "
                f"{self.settings.fit} that names them: give --tracks FILE (shoal simulate can also "
                "let animals go without any: --release 10:X,Y)"
            )
        found: Any = FitRun(replace(self.choices, stream=False)).tracks
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

    @cached_property
    def target(self) -> Any:
        """Where groups are to arrive, as the tracks have it; None for the target of the fit."""
        words = self.settings.target
        known = bool(words) and self.choices is not None and bool(self.choices.tracks)
        seen = list(self.tracks) if known else []
        for note in target_note(words, seen):
            warn(note)
        return target_of(words, seen)

    def options(self) -> dict[str, Any]:
        """What simulations and checks have in common."""
        s = self.settings
        words = s.arena or (self.choices.arena if self.choices is not None else "")
        arena: Any = words if words in (*NO_WALLS, HULL, AUTO) else arena_of_words(words)
        common: dict[str, Any] = {
            "seed": s.seed,
            "arena": arena,
            "walls": s.walls,
            "stop": s.stop or None,
            "target": self.target,
            "reach": s.reach,
            "progress": self.progress,
        }
        speed = _speed(s.speed)
        if speed is not None:
            common["speed"] = speed
        if "headings" not in self.fit.data.attrs and self.choices is not None and not s.release:
            for name in ("heading_frames", "minimum_step", "tracker_headings"):
                common[name] = getattr(self.choices, name)
        return common

    def simulated(self, rule: str | None = None) -> Any:
        """Groups that live by the fit."""
        s = self.settings
        return simulate(
            self.fit,
            start=self.start,
            steps=s.steps,
            rule=rule or s.rule,
            draws=s.draws,
            replicates=s.replicates,
            **self._rate(),
            **self.options(),
        )

    def _rate(self) -> dict[str, Any]:
        """Of a release: the frame rate and the unit of the tracks behind the fit, where known."""
        s = self.settings
        if not s.release:
            return {"fps": s.fps}
        known = self.choices is not None and bool(self.choices.tracks)
        seen = next(iter(self.tracks)) if known else None
        fps = s.fps
        if fps is None and seen is not None and seen.fps is not None:
            fps = seen.fps / self.fit.lag
        if fps is None:
            warn("without --fps a speed is per frame")
        return {"fps": fps, "length_unit": "" if seen is None else seen.length_unit}

    def write(self, out: Path) -> Any:
        """Simulate and write the tracks."""
        suffix = out.suffix.lower()
        if suffix not in TABLES:
            raise InputError(f"tracks are written to .csv or .parquet, got {out}")
        make_folder(out.parent)
        self.spare_inputs(out)
        groups = self.simulated()
        groups.to_csv(out) if suffix == ".csv" else groups.to_parquet(out)
        return groups

    def spare_inputs(self, *outputs: Path) -> None:
        """What is read is never written over."""
        read = {self.settings.fit.resolve()}
        if self.choices is not None and self.choices.tracks and not self.settings.release:
            read |= {file.resolve() for file in files_of(self.choices.tracks)[0]}
        for out in outputs:
            if out.resolve() in read:
                raise InputError(f"{out} is what was read: choose another name")

    def arrived(self, groups: Any) -> str:
        """How many groups ended at the target, where they were to."""
        if not self.settings.stop or self.settings.steps is None:
            return ""
        ended = sum(len(part.positions) <= self.settings.steps for part in groups)
        return f"{ended} of {len(list(groups))} groups ended at the target before their last frame"

    def film(self, groups: Any, video: Path, beside: str, inset: bool, speed: float) -> Path:
        """A video of the first group, with others beside it that began alike."""
        from shoal.figures.video import animate  # noqa: PLC0415  (loads the encoder)

        first = next(iter(groups))
        label = next(iter(self.tracks)).group if not self.settings.release else first.group
        panels = {}
        for word in panels_of(beside):
            if word == "observed":
                panels[word] = self._as_long(first)
            elif word != self.settings.rule:
                panels[word] = next(iter(self.simulated(word)))
        panels[self.settings.rule] = first
        target = self.target or self._target(label)
        return animate(
            panels if len(panels) > 1 else first,
            video,
            target=None if isinstance(target, str) else target,
            inset=self.fit if inset else None,
            speed=speed,
            progress=self.progress,
        )

    def _as_long(self, simulated: Tracks) -> Tracks:
        """The observed group from the same start, for as many frames, within the same walls."""
        options = self.options()
        names = ("heading_frames", "minimum_step", "tracker_headings")
        taken = self.fit.headings_with(*(options.get(name) for name in names))
        given = Surroundings(
            arena=options["arena"],
            heading_frames=taken.heading_frames,
            minimum_step=taken.minimum_step,
            tracker_headings=taken.tracker_headings,
            lag=self.fit.lag,
        )
        seen = given.around(next(iter(self.tracks)))
        first = given.window(seen).first
        last = first + len(simulated.positions)
        return Tracks(seen.data.isel(time=slice(first, last))).with_arena(simulated.arena)

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
            replicates=self.settings.replicates,
            draws=self.settings.draws,
            **self.options(),
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
        write_table(check.rows(), table)
        page = Page(
            title="Do simulated groups move like the observed ones?",
            lead=check.words(),
            rows=check.rows(),
            pictures=(Picture(figure, "Measures of simulated and observed groups", _CAPTION),),
            notes=(
                Note("How far to trust the fit", str(self.fit.diagnostics())),
                Note("How the check was made", self._told()),
            ),
        )
        return {"page": write_page(out, page), "figure": figure, "table": table}

    def _told(self) -> str:
        check, s = self.check, self.settings
        words = s.arena or (self.choices.arena if self.choices is not None else "")
        known = next(iter(self.tracks)).arena is not None
        around = f"arena: {words or ('that of the tracks' if known else 'as said above')}"
        if words not in NO_WALLS:
            around += f", walls: {s.walls}"
        speeds = {
            "": "each animal's own, replayed in runs",
            "observed": "each animal's own, replayed in runs",
            "constant": "constant at their mean",
            "gamma": "from a gamma law fitted to them",
        }.get(s.speed, f"{s.speed} per second for all")
        near = sorted(check.reaches.values())
        reach = f"{near[0]:.3g}" if near and near[0] == near[-1] else ""
        if near and not reach:
            reach = f"{near[0]:.3g} to {near[-1]:.3g}, by group"
        reached = f" The target counts as reached within {reach}." if reach else ""
        stops = f" Groups end when {s.stop} of them are at the target." if s.stop else ""
        groups = f"{check.groups} group{'s' if check.groups > 1 else ''}"
        live = {
            "each": "All groups of a replicate live by one posterior draw",
            "mean": "Simulated groups live by the posterior mean",
        }[s.draws]
        return (
            f"{check.replicates} replicates of {groups} under each model, seed {s.seed}, with the "
            f"observed starts, numbers, lengths and gaps; speeds: {speeds}; {around}.{stops}"
            f"{reached} {live}. "
            "Passive only: the fit's passive dynamics without costs. Vicsek: the mean heading of "
            f"the fit's neighbourhood, or of all, with a noise of {check.noise:.3g}° fitted to the "
            "tracks. A measure of several groups is its mean over them; a model fails on it where "
            "the observed value lies outside the 95 % interval. p is twice the smaller tail. The "
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


def panels_of(words: str) -> list[str]:
    """What is shown beside a simulated group."""
    found = [part.strip() for part in words.split(",") if part.strip()]
    for word in found:
        if word not in PANELS:
            raise InputError(f"--beside is made of {', '.join(PANELS)}; got {word!r}")
    return found


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
