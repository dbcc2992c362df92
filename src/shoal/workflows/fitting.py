"""From a file of tracks to a fit with its figures and page: what ``shoal fit`` does."""

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from shoal.basis import Flat
from shoal.errors import InputError
from shoal.figures import save_figure
from shoal.figures.fits import (
    arrivals_along,
    cost_figure,
    effect_figure,
    fit_figures,
    marginal_curves,
    marginal_figure,
)
from shoal.figures.trajectories import trajectories
from shoal.moves import Decisions, Turns, decisions
from shoal.posterior import NUTS, Fit, Model
from shoal.posterior.method_diagnostics import well_drawn
from shoal.posterior.model import resolved
from shoal.report import Report
from shoal.report.contents import short
from shoal.selection.candidates import paper_walk
from shoal.selection.dynamics import PassiveChoice, Thinning, choose_passive
from shoal.selection.moves import Chooser, DecisionChoice
from shoal.simulation.designs import Scenario
from shoal.states import Transitions
from shoal.system.files import make_folder, write_whole
from shoal.system.progress import reporting
from shoal.tracks.readers import OpenTracks
from shoal.workflows.deciding import moves_for
from shoal.workflows.reading import Reading
from shoal.workflows.settings import FitSettings
from shoal.workflows.words import arena_of_words, basis_of, passive_of, words_of_moves

STREAMED = "the paper's walk: streamed tracks cannot be held out, name others with --passive"


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
    def _moves(self) -> tuple[Turns | None, dict[str, str]]:
        """What animals choose; None where transitions are counted, and why."""
        s = self.settings
        if not s.maybe_decisions:
            return None, {}
        whole: Any = self._whole
        space = self._space_of(whole)
        try:
            return moves_for(
                s.moves, whole, space, s.headings, others=s.others, candidates=s.candidates,
                persistence=s.persistence,
            )  # fmt: skip
        except InputError as error:
            if s.as_ == "decisions" or s.about_moves():
                raise
            return None, {"transitions": f"no decisions: {error}"}

    @property
    def decides(self) -> bool:
        """Whether decisions are learned from."""
        return self._moves[0] is not None

    @cached_property
    def choice(self) -> DecisionChoice:
        """Moves, frames and candidates, as they were named or as the tracks speak for them."""
        moves, told = self._moves
        s = self.settings
        assert moves is not None
        with reporting(self.progress) as report:
            return Chooser(
                self._whole, self._space_of, s.headings, self._quickly, s.every, s.candidates,
                s.others, s.persistence, report,
            ).choose(moves, told)  # fmt: skip

    def _angle_bins(self, features: int) -> int:
        """Half as many where three or more features are decided on: states are many then."""
        known = self.__dict__.get("_moves")
        decides = self.settings.maybe_decisions if known is None else known[0] is not None
        return 18 if decides and features >= 3 else super()._angle_bins(features)

    def _quickly(self, data: Decisions) -> Fit:
        """A fit by which candidates are judged: the one that was asked for, where it is quick."""
        model = Model(data.space, data.moves, basis_of(self.settings.basis))
        quick = self.method in ("laplace", "map")
        return self._drawn(model, data) if quick else model.fit(data, "map", progress=False)

    @property
    def method(self) -> str:
        """By name."""
        named = self.settings.method.lower()
        return named if named != "auto" else "laplace" if self.decides else "nuts"

    @cached_property
    def thinning(self) -> Thinning:
        """Which frames are used, and why where that is left to the tracks."""
        if self.settings.every or not self.decides:
            return self._thinning()
        return Thinning(self.choice.every, self.choice.sentences.get("frames", ""))

    @cached_property
    def counts(self) -> Transitions | Decisions:  # type: ignore[override]
        """What costs are learned from."""
        if not self.decides:
            return self._counted(self.lag)
        if self.choice.data is not None:
            return self.choice.data
        return decisions(
            self.tracks, self.space, self.choice.moves, progress=self.progress,
            **self.settings.headings,
        )  # fmt: skip

    @cached_property
    def model(self) -> Model:
        """What is assumed."""
        s = self.settings
        basis = basis_of(s.basis)
        if isinstance(self.counts, Decisions):
            return Model(self.counts.space, self.counts.moves, basis)
        chosen = self.passive_choice
        passive = passive_of(s.passive, self.space) if chosen is None else chosen.passive
        return Model(self.space, passive, basis, s.discount)

    @cached_property
    def passive_choice(self) -> PassiveChoice | None:
        """The passive dynamics that the tracks speak for, where they are left to them."""
        if self.settings.passive != "auto" or self.decides:
            return None
        if isinstance(self.tracks, OpenTracks):
            return PassiveChoice(paper_walk(self.space), STREAMED, {})
        assert isinstance(self.counts, Transitions)
        with reporting(self.progress) as report:
            return choose_passive(self.counts, report)

    @cached_property
    def fit(self) -> Fit:
        """The posterior; by nuts where no method was named and laplace could not be corrected."""
        chosen = self.choice.fit if self.decides else None
        kept = chosen is not None and chosen.method == self.method
        found = chosen if kept else self._drawn(self.model, self.counts)
        assert found is not None
        if self.decides and self.settings.method.lower() == "auto" and not well_drawn(found):
            return self._drawn(self.model, self.counts, "nuts")
        return found

    def _drawn(self, model: Model, data: Transitions | Decisions, name: str = "") -> Fit:
        s = self.settings
        sampler = NUTS(warmup=s.warmup, target_acceptance=s.target_acceptance or None)
        method: Any = sampler if (name or self.method) == "nuts" else self.method
        return model.fit(
            data, method, chains=s.chains, draws=s.draws, seed=s.seed, progress=self.progress,
            checkpoint=self.checkpoint if isinstance(method, NUTS) else None,
        )  # fmt: skip

    def write(self, out: Path) -> dict[str, Path]:
        """The fit, the choices, figures and a page, beside each other."""
        if self.settings.method != "auto":
            resolved(self.settings.method)  # a slip is said before the work, not after it
        basis_of(self.settings.basis)
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
            scenario=Scenario(arena=arena_of_words(s.arena)),
            seed=s.seed,
            rows=self.rows(),
            notes=[*self.notes(), *([f"Passive dynamics: {chosen.sentence}"] if chosen else [])],
            choices=self.resolved.toml(),
            command=self.resolved.command_line(out),
        )

    def summary(self) -> list[dict[str, str]]:
        """What was read, counted and inferred, a row each."""
        rows = [
            *self.rows(),
            *self._passive(),
            ("basis", short(self.model.basis)),
            ("fit", repr(self.fit)),
            *self._learned(),
            *((name, value) for name, value in self._best()),
        ]
        return [{"what": name, "found": value} for name, value in rows]

    def _passive(self) -> list[tuple[str, str]]:
        """What animals do without preferences; what was learned of it has rows of its own."""
        if self.decides:
            words = words_of_moves(self.choice.moves)
            seen = "" if words["others"] == "auto" else f", others {words['others']}"
            return [("passive moves", f"{words['moves']}{seen}")]
        chosen = self.passive_choice
        why = [("  chosen", chosen.sentence)] if chosen else []
        return [("passive dynamics", short(self.fit.passive)), *why]

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
                for row in effects.rows()
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

    def rows(self) -> list[tuple[str, str]]:
        """What was read and counted, for a summary."""
        if not self.decides:
            told = self._moves[1].get("transitions")
            return [*super().rows(), *([("read as", f"transitions: {told}")] if told else [])]
        counts, choice = self.counts, self.choice
        assert isinstance(counts, Decisions)
        lost = {reason: number for reason, number in counts.dropped.items() if number}
        kind = "steps" if counts.moves.steps else "turns"
        why = {name: text for name, text in choice.sentences.items() if text}
        return [
            ("tracks", repr(self.tracks)),
            ("states", " × ".join(f"{axis.label}: {axis.size}" for axis in counts.space.axes)),
            ("fixes", f"{counts.fixes:,}"),
            *((f"  {reason}", f"{number:,}") for reason, number in lost.items()),
            ("decisions", f"{counts.total:,} among {choice.moves.candidates} {kind} each"),
            ("states decided for", f"{int((counts.arrivals > 0).sum()):,} of {self.space.size:,}"),
            *((f"{name}, chosen", sentence) for name, sentence in why.items()),
        ]

    def notes(self) -> list[str]:
        """What reading and preparing did, and where tracks were not read as decisions."""
        told = self._moves[1].get("transitions")
        found = [f"transitions were counted: {told}"] if told else []
        if self.decides and self.method == "laplace" and self.fit.method == "nuts":
            found.append("nuts was used: the draws of laplace could not be corrected")
        return [*super().notes(), *found]

    @property
    def resolved(self) -> Any:
        """The choices that were taken, which repeat the run."""
        same = super().resolved
        if not self.decides:
            return replace(same, method=self.method, as_="transitions")
        moves = words_of_moves(self.choice.moves)
        return replace(same, method=self.fit.method, as_="decisions", **moves)

    def _figures(self, folder: Path, stem: str) -> dict[str, Path]:
        """Pictures for a paper, beside the page."""
        drawn = _decision_figures(self.fit) if self.decides else fit_figures(self.fit)
        if not isinstance(self.tracks, OpenTracks):
            drawn["tracks"] = trajectories(list(self.tracks), self.target)
        pictures = {}
        for name, figure in drawn.items():
            path = save_figure(figure, folder / f"{stem}-{name}.png")
            figure.set_layout_engine("none")  # as it was laid out for the first file
            save_figure(figure, folder / f"{stem}-{name}.pdf")
            pictures[f"figure, {name}"] = path
        return pictures


def _decision_figures(fit: Fit) -> dict[str, Any]:
    """Those of the cost-to-go; state costs are not known of decisions."""
    axes = len(fit.model.space.axes)
    if isinstance(fit.model.basis, Flat):
        return {}
    drawn = {"cost-to-go": cost_figure(fit, "cost_to_go")} if axes <= 2 else {}
    if axes > 1:
        drawn |= {"marginals": marginal_figure(fit), "effects": effect_figure(fit)}
    return drawn
