"""From a file of tracks to a fit with its figures and page: what ``shoal fit`` does."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from shoal.basis import Flat
from shoal.checks.candidates import paper_walk
from shoal.figures import save_figure
from shoal.figures.fits import arrivals_along, fit_figures, marginal_curves
from shoal.figures.trajectories import trajectories
from shoal.files import make_folder, write_whole
from shoal.posterior import NUTS, Fit, Model
from shoal.posterior.model import resolved
from shoal.progress import reporting
from shoal.report import Report
from shoal.report.contents import short
from shoal.report.replay import Movement
from shoal.studies.choosing import PassiveChoice, choose_passive
from shoal.studies.reading import Reading, ReadingSettings
from shoal.studies.repeating import command_line
from shoal.studies.words import arena_of_words, basis_of, passive_of
from shoal.tracks.readers import OpenTracks

STREAMED = "the paper's walk: streamed tracks cannot be held out, name others with --passive"


@dataclass(frozen=True)
class FitSettings(ReadingSettings):
    """Every choice of a fit, as words and numbers that a TOML file can hold."""

    command: ClassVar[str] = "fit"
    # model
    passive: str = "auto"
    basis: str = "smooth"
    discount: float = 1.0
    # inference
    method: str = "nuts"
    chains: int = 4
    draws: int = 1000
    warmup: int = 500
    target_acceptance: float = 0.0
    seed: int = 1


@dataclass(frozen=True, eq=False)
class FitRun(Reading):
    """One run: tracks, counts, fit, made when they are first asked for.

    Attributes
    ----------
    checkpoint
        A folder where draws are kept while it runs, and from which an interrupted run goes on.
    """

    settings: FitSettings
    checkpoint: Path | None = None

    @cached_property
    def model(self) -> Model:
        """What is assumed."""
        s = self.settings
        basis, chosen = basis_of(s.basis), self.passive_choice
        passive = passive_of(s.passive, self.space) if chosen is None else chosen.passive
        return Model(self.space, passive, basis, s.discount)

    @cached_property
    def passive_choice(self) -> PassiveChoice | None:
        """The passive dynamics that the tracks speak for, where they are left to them."""
        if self.settings.passive != "auto":
            return None
        if isinstance(self.tracks, OpenTracks):
            return PassiveChoice(paper_walk(self.space), STREAMED, {})
        with reporting(self.progress) as report:
            return choose_passive(self.counts, report)

    @cached_property
    def fit(self) -> Fit:
        """The posterior."""
        s = self.settings
        accept = s.target_acceptance or None
        sampler = NUTS(warmup=s.warmup, target_acceptance=accept)
        method: Any = sampler if s.method.lower() == "nuts" else s.method
        return self.model.fit(
            self.counts,
            method,
            chains=s.chains,
            draws=s.draws,
            seed=s.seed,
            progress=self.progress,
            checkpoint=self.checkpoint if isinstance(method, NUTS) else None,
        )

    def write(self, out: Path) -> dict[str, Path]:
        """The fit, the choices, figures and a page, beside each other."""
        resolved(self.settings.method)  # a slip is said before the work, not after it
        folder = make_folder(out.parent)
        stem = out.stem
        self.spare_inputs(folder / f"{stem}{end}" for end in (".nc", ".toml", ".html"))
        written = {
            "fit": self.fit.save(out),
            "choices": self.write_choices(folder / f"{stem}.toml"),
        }
        written |= self._figures(folder, stem)
        written["page"] = folder / f"{stem}.html"
        write_whole(written["page"], self.report(out).html().encode())
        return written

    def report(self, out: Path) -> Report:
        """What the page shows; ``shoal report`` adds predictive checks."""
        s = self.settings
        chosen = self.passive_choice
        return Report(
            self.fit,
            None if isinstance(self.tracks, OpenTracks) else self.tracks,
            who=f"the animals of {Path(s.tracks).name}",
            moving=Movement(
                arena=arena_of_words(s.arena),
                seed=s.seed,
            ),
            rows=self.rows(),
            notes=[*self.notes(), *([f"Passive dynamics: {chosen.sentence}"] if chosen else [])],
            choices=self.resolved.toml(),
            command=command_line(self.resolved, out),
        )

    def summary(self) -> list[dict[str, str]]:
        """What was read, counted and inferred, a row each."""
        rows = [
            *self.rows(),
            ("passive dynamics", short(self.fit.passive)),
            *([("  chosen", self.passive_choice.sentence)] if self.passive_choice else []),
            ("basis", short(self.model.basis)),
            ("fit", repr(self.fit)),
            *self._learned(),
            *((name, value) for name, value in self._best()),
        ]
        return [{"what": name, "found": value} for name, value in rows]

    def _learned(self) -> list[tuple[str, str]]:
        """Unknowns of passive dynamics and basis, and how much each effect matters."""
        rows = []
        draws = self.fit.parameters
        for number, name in enumerate(draws.coords.get("parameter", np.array([])).values):
            values = draws.values[..., number].ravel()
            low, high = np.quantile(values, [0.025, 0.975])
            words = f"{values.mean():.3g} [{low:.3g}, {high:.3g}]"
            rows.append((str(name), words if values.size > 1 else f"{values.mean():.3g}"))
        if len(self.space.axes) > 1 and not isinstance(self.model.basis, Flat):
            effects = self.fit.effects()
            rows += [
                (f"effect of {row['effect']}", f"{row['share of variance']} of the variance")
                for row in effects.table()
            ]
            rows.append(("what matters", effects.sentence()))
        return rows

    def _best(self) -> list[tuple[str, str]]:
        """The cheapest state, and how much each axis matters."""
        mean = self.fit.cost_to_go.values.mean(axis=(0, 1))
        entered = np.where(self.counts.arrivals > 0, mean, np.inf)
        state = int(np.argmin(entered))
        rows = [("cheapest state entered", self.space.describe(state))]
        for axis, curve in marginal_curves(self.fit, "cost_to_go").items():
            known = arrivals_along(self.fit, axis) > 0
            span = curve.mean[known].max() - curve.mean[known].min()
            rows.append((f"range of {axis.replace('_', ' ')}", f"{span:.3g} nats, on average"))
        return rows

    def _figures(self, folder: Path, stem: str) -> dict[str, Path]:
        """Pictures for a paper, beside the page."""
        drawn = fit_figures(self.fit)
        if not isinstance(self.tracks, OpenTracks):
            drawn["tracks"] = trajectories(list(self.tracks), self.target)
        pictures = {}
        for name, figure in drawn.items():
            path = save_figure(figure, folder / f"{stem}-{name}.png")
            figure.set_layout_engine("none")  # as it was laid out for the first file
            save_figure(figure, folder / f"{stem}-{name}.pdf")
            pictures[f"figure, {name}"] = path
        return pictures
