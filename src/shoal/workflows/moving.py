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
from shoal.simulation.designs import AUTO, HULL, NO_WALLS, Scenario
from shoal.system.files import make_folder
from shoal.system.progress import Report
from shoal.tracks import Collection, Tracks
from shoal.tracks.readers.reading import files_of
from shoal.tracks.record import warn
from shoal.workflows.fitting import FitRun
from shoal.workflows.moving_settings import MovingSettings, PredictSettings, SimulateSettings
from shoal.workflows.settings import FitSettings
from shoal.workflows.vocabulary import PANELS
from shoal.workflows.words import arena_of_words, target_note, target_of

HEADINGS = ("heading_frames", "minimum_step", "tracker_headings")
TABLES = (".csv", ".parquet")


@dataclass(frozen=True, eq=False)
class Moving:
    """A fit, the tracks it was made from, and how groups move."""

    settings: MovingSettings
    progress: bool | Report | None = None

    @property
    def path(self) -> Path:
        """Of the fit."""
        return Path(self.settings.fit)

    @cached_property
    def fit(self) -> Fit:
        """As it was written."""
        return load_fit(self.path)

    @cached_property
    def choices(self) -> FitSettings | None:
        """Of the fit: in the TOML file beside it, or the one that was named."""
        s = self.settings
        beside = self.path.with_suffix(".toml")
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
                f"which tracks? there is no {self.path.stem}.toml beside {self.path} that names "
                "them: give --tracks FILE (shoal simulate can also let animals go without any: "
                "--release 10:X,Y)"
            )
        found: Any = FitRun(replace(self.choices, stream=False)).tracks
        if not self.settings.group:
            return found
        for part in found:
            if part.group == self.settings.group:
                return part
        known = ", ".join(part.group for part in found)
        raise InputError(f"there is no group {self.settings.group!r}; there are {known:.200}")

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
        if "headings" not in self.fit.data.attrs and self.choices is not None:
            common |= self.choices.headings
        return common

    @property
    def scenario(self) -> Scenario:
        """How groups move, as a record."""
        known = self.options()
        names = ("speed", "arena", "walls", "stop", "target", "reach")
        return Scenario(
            **{name: known[name] for name in names if name in known},
            headings=self.fit.headings_with(*(known.get(name) for name in HEADINGS)),
            lag=self.fit.lag,
        )

    def inputs(self) -> set[Path]:
        """The files that are read."""
        known = self.choices is not None and self.choices.tracks
        files = files_of(known)[0] if known else []
        return {self.path.resolve(), *(file.resolve() for file in files)}

    def spare_inputs(self, out: Path) -> None:
        """What is read is never written over."""
        if out.resolve() in self.inputs():
            raise InputError(f"{out} is what was read: choose another name")


@dataclass(frozen=True, eq=False)
class Simulating(Moving):
    """Groups that live by a fit."""

    settings: SimulateSettings

    @property
    def start(self) -> Any:
        """Tracks, or a release."""
        return released(self.settings.release) if self.settings.release else self.tracks

    @cached_property
    def groups(self) -> Any:
        """All of them."""
        return self.simulated(self.settings.rule)

    def simulated(self, rule: str) -> Any:
        """Groups that live by a rule."""
        s, options = self.settings, self.options()
        if s.release:
            for name in HEADINGS:
                options.pop(name, None)  # there are no tracks to read headings from
        return simulate(
            self.fit, start=self.start, steps=s.steps, rule=rule, draws=s.draws,
            replicates=s.replicates, **self._rate(), **options,
        )  # fmt: skip

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

    def write(self, out: Path) -> dict[str, Path]:
        """The tracks, and a video where one was asked for."""
        s, suffix = self.settings, out.suffix.lower()
        film = Path(s.video) if s.video else None
        if film is not None:
            from shoal.figures.video.encoding import checked_suffix  # noqa: PLC0415

            checked_suffix(film)
        panels_of(s.beside)
        if film is None and (s.beside or s.inset):
            raise InputError("--beside and --inset are about the video: name one with --video")
        if suffix not in TABLES:
            raise InputError(f"tracks are written to .csv or .parquet, got {out}")
        make_folder(out.parent)
        self.spare_inputs(out)
        self.groups.to_csv(out) if suffix == ".csv" else self.groups.to_parquet(out)
        return {"tracks": out} | ({} if film is None else {"video": self.film(film)})

    def inputs(self) -> set[Path]:
        """The files that are read: no tracks for a release."""
        return {self.path.resolve()} if self.settings.release else super().inputs()

    def arrived(self) -> str:
        """How many groups ended at the target, where they were to."""
        if not self.settings.stop or self.settings.steps is None:
            return ""
        ended = sum(len(part.positions) <= self.settings.steps for part in self.groups)
        total = len(list(self.groups))
        return f"{ended} of {total} groups ended at the target before their last frame"

    def film(self, video: Path) -> Path:
        """A video of the first group, with others beside it that began alike."""
        from shoal.figures.video import animate  # noqa: PLC0415  (loads the encoder)

        s, first = self.settings, next(iter(self.groups))
        label = next(iter(self.tracks)).group if not s.release else first.group
        panels = {}
        for word in panels_of(s.beside):
            if word == "observed":
                panels[word] = self._as_long(first)
            elif word != s.rule:
                panels[word] = next(iter(self.simulated(word)))
        panels[s.rule] = first
        target = self.target or self._target(label)
        return animate(
            panels if len(panels) > 1 else first, video,
            target=None if isinstance(target, str) else target,
            inset=self.fit if s.inset else None, speed=s.video_speed, progress=self.progress,
        )  # fmt: skip

    def _as_long(self, simulated: Tracks) -> Tracks:
        """The observed group from the same start, for as many frames, within the same walls."""
        given = self.scenario
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


@dataclass(frozen=True, eq=False)
class Predicting(Moving):
    """Whether groups that live by a fit move like those it was made from."""

    settings: PredictSettings

    @cached_property
    def check(self) -> PredictiveCheck:
        """Observed groups among simulated ones."""
        s = self.settings
        return predictive_check(
            self.fit, self.tracks, replicates=s.replicates, draws=s.draws, **self.options()
        )

    def write(self, out: Path) -> dict[str, Path]:
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
