"""From a fit and its tracks to a page: what ``shoal report`` and ``shoal explore`` begin with."""

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from shoal.errors import InputError
from shoal.explorer.workbench import Workbench
from shoal.posterior.decision_fit import DecisionFit
from shoal.report import Report
from shoal.report.writing import checked_replicates
from shoal.simulation.designs import Scenario
from shoal.system.files import make_folder, write_whole
from shoal.system.progress import Report as Progress
from shoal.system.progress import reporting
from shoal.workflows.fitting import FitRun
from shoal.workflows.moving import Predicting
from shoal.workflows.moving_settings import ExploreSettings, ReportSettings
from shoal.workflows.settings import FitSettings
from shoal.workflows.words import words_of_moves

OTHERWISE = (
    "That these tracks gave the transitions of this fit is not known: replay and checks show them, "
    "and how the fit was made is not said here."
)


@dataclass(frozen=True, eq=False)
class Reporting(Predicting):
    """A fit, the tracks it was made from, and a page about them."""

    settings: ReportSettings

    @property
    def has_tracks(self) -> bool:
        """Whether tracks were named, on the line or by the choices beside the fit."""
        return self.choices is not None and bool(self.choices.tracks)

    @cached_property
    def report(self) -> Report:
        """What the page shows, with a predictive check where it is wanted."""
        notes: list[str] = []
        rows: list[tuple[str, str]] = []
        choices = command = ""
        if self.has_tracks:
            with reporting(self.progress) as tell:
                tell("reading the tracks", 0, None)
                notes = list(self.tracks.notes)
                tell("counting transitions", 0, None)
            run = self._run()
            if run is None:
                notes.append(OTHERWISE)
            else:
                assert self.choices is not None
                notes, rows = run.notes(), run.rows()
                choices = self.choices.toml()
                command = self.choices.command_line(self.path)
        found = Report(
            self.fit,
            self.tracks if self.has_tracks else None,
            None,
            self.who,
            self.scenario if self.has_tracks else Scenario(),
            self.settings.seed,
            rows,
            notes,
            choices,
            command,
        )
        if not checked_replicates(self.settings.replicates) or found.stage is None:
            return found
        try:
            return replace(found, check=self.check)
        except InputError as error:
            return replace(found, notes=[*notes, f"No predictive check was made: {error}"])

    def _run(self) -> FitRun | None:
        """The run that made the fit; None where tracks and choices give other transitions."""
        assert self.choices is not None
        named = bool(self.settings.fit_config) or self.path.with_suffix(".toml").exists()
        if not named:
            return None
        run = FitRun(self._made(self.choices), progress=self.progress)
        object.__setattr__(run, "tracks", self.tracks)  # read once
        same = run.space.axes == self.fit.model.space.axes and run.lag == self.fit.lag
        if same and np.array_equal(run.counts.arrivals, self.fit.arrivals.values):
            return run
        return None

    def _made(self, choices: FitSettings) -> FitSettings:
        """Choices of this fit, with nothing left to choose again."""
        if not isinstance(self.fit, DecisionFit):
            return replace(choices, stream=False, as_="transitions")
        words = words_of_moves(self.fit.model.passive)
        every = choices.every or 1
        return replace(choices, stream=False, as_="decisions", every=every, **words)

    @property
    def headline(self) -> str:
        """What the fit says, in a sentence."""
        return self.fit.headline()[0]

    @property
    def sampled(self) -> list[str]:
        """What part of the tracks was checked, and within which walls, where nobody chose it."""
        return [] if self.report.check is None else list(self.report.check.notes)

    @property
    def who(self) -> str:
        """The animals, by the name of their file."""
        tracks = self.choices.tracks if self.choices is not None else ""
        return f"the animals of {Path(tracks or self.settings.fit).name}"

    def write_page(self, out: Path) -> Path:
        """One self-contained HTML file."""
        if out.suffix.lower() not in (".html", ".htm"):
            raise InputError(f"a report is a page whose name ends in .html; got {out}")
        make_folder(out.parent)
        self.spare_inputs(out)
        found = self.report
        with reporting(self.progress) as report:
            report("replay and page", 0, None)
            write_whole(out, found.html().encode())
        return out


def explored(settings: ExploreSettings, progress: bool | Progress | None = None) -> Workbench:
    """What the explorer shows: a fit, and the one that it is compared with."""
    first = ReportSettings(**settings.common(), replicates=0)
    runs = [Reporting(first, progress)]
    if settings.against:
        runs.append(Reporting(replace(first, fit=settings.against, fit_config=""), progress))
    names = [run.path.name for run in runs]
    if len(set(names)) < len(names):
        names[1] = str(runs[1].path)
    return Workbench([run.report for run in runs], names)
