"""From a file of tracks to models side by side: what ``shoal compare`` does."""

import csv
import io
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from shoal.errors import InputError
from shoal.figures import save_figure
from shoal.figures.scores import score_figure
from shoal.moves import Steps, Turns, decisions
from shoal.moves.reading import check_moves
from shoal.report.page import Note, Page, Picture, write_page
from shoal.selection import Comparison, compare
from shoal.states import StateSpace
from shoal.system.files import make_folder, write_whole
from shoal.workflows.reading import Reading
from shoal.workflows.settings import CompareSettings


@dataclass(frozen=True, eq=False)
class CompareRun(Reading):
    """One comparison, made when it is first asked for."""

    settings: CompareSettings

    @cached_property
    def moves(self) -> Turns | None:
        """What animals choose among; None where transitions are compared."""
        return moves_of(self.settings, self.space)

    @cached_property
    def counts(self) -> Any:
        """The decisions that models are compared on, or the transitions."""
        if self.settings.stream:
            raise InputError("a comparison holds some tracks out: read them whole, not --stream")
        return super().counts if self.moves is None else self._decided(self.moves)

    def _decided(self, moves: Turns) -> Any:
        return decisions(
            self.tracks, self.space, moves, progress=self.progress, **self.settings.headings
        )

    @cached_property
    def held_out(self) -> "CompareRun | None":
        """Other tracks to score on, where they are given."""
        s = self.settings
        if not s.held_out:
            return None
        every = self.thinning.every
        other = CompareRun(replace(s, tracks=s.held_out, held_out="", every=every), self.progress)
        object.__setattr__(other, "space", self.space)  # the same bins
        object.__setattr__(other, "lag", self.lag)
        object.__setattr__(other, "moves", None if self.moves is None else self.counts.moves)
        return other

    @cached_property
    def comparison(self) -> Comparison:
        """Every model on the same held-out decisions or transitions."""
        s = self.settings
        if isinstance(s.lag, str) and not s.held_out:
            raise InputError(
                "--lag auto chooses by held-out scores, which would flatter a comparison on the "
                "same tracks: choose the lag with shoal fit --lag auto, or give --held-out"
            )
        data: Any = self.counts
        tracks: Any = self.tracks
        if self.held_out is not None:
            data, tracks = (data, self.held_out.counts), (tracks, self.held_out.tracks)
        return compare(
            data, split=s.split, method=s.method, draws=s.draws, seed=s.seed,
            tracks=None if self.moves is None else tracks, cluster=s.workers or None,
            progress=self.progress,
        )  # fmt: skip

    def rows(self) -> list[tuple[str, str]]:
        """What was read, for a summary."""
        found = super().rows()
        if self.moves is None:
            return found
        kind = "steps" if self.moves.steps else "turns"
        number = f"{self.counts.total:,} {kind}"
        return [("decisions", number) if name == "transitions" else (name, w) for name, w in found]

    def what_was_held_out(self) -> str:
        """In words."""
        if self.held_out is not None:
            return f"all of {self.settings.held_out}"
        return self.comparison.split

    def write(self, out: Path) -> dict[str, Path]:
        """A table, a figure, the choices and a page, beside each other."""
        folder, stem = make_folder(out.parent), out.stem
        if out.suffix != ".csv":
            raise InputError(f"a comparison is written to a name that ends in .csv; got {out}")
        ours = [folder / f"{stem}{end}" for end in (".csv", ".toml", ".html")]
        self.spare_inputs(ours)
        if self.settings.held_out:
            Reading(replace(self.settings, tracks=self.settings.held_out)).spare_inputs(ours)
        table = folder / f"{stem}.csv"
        write_whole(table, self._csv().encode())
        figure = score_figure(self.comparison)
        picture = save_figure(figure, folder / f"{stem}-scores.png")
        save_figure(figure, folder / f"{stem}-scores.pdf")
        unit = self.comparison.unit
        page = Page(
            title="Which model to believe",
            lead=self.comparison.sentence(),
            rows=self.comparison.rows(),
            pictures=(Picture(picture, "scores", _CAPTION.format(unit=unit)),),
            notes=(
                Note("What was held out", self.what_was_held_out()),
                Note("What was read", "\n".join(f"{a}: {b}" for a, b in self.rows())),
                Note("How to read it", _READING.format(unit=unit)),
                Note("To repeat it", self.resolved.toml()),
            ),
        )
        return {
            "table": table,
            "choices": self.write_choices(folder / f"{stem}.toml"),
            "page": write_page(folder / f"{stem}.html", page),
        }

    def figures(self) -> list[dict[str, Any]]:
        """A row for each model, unrounded."""
        result, weights = self.comparison, self.comparison.weights()
        rows = []
        for entry in result.entries:
            gap, error = entry.score.minus(result.best.score)
            over: dict[str, float] = {}
            if result.unit == "decision":
                gain, off = entry.score.minus(result.entries[0].score)
                over = {"gain_over_passive_moves": gain, "standard_error_of_gain": off}
            rows.append(
                {
                    "model": entry.name,
                    "bits": entry.score.bits,
                    "standard_error": entry.score.standard_error,
                    **over,
                    "difference_to_best": gap,
                    "standard_error_of_difference": error,
                    "can_be_best": entry in result.contenders,
                    "p_as_good_as_any": result.p_values[entry.name],
                    "bits_learned_from": entry.trained,
                    "stacking_weight": weights[entry.name],
                    f"held_out_{result.unit}s": entry.score.transitions,
                    "blocks": len(entry.score.counts),
                    "unknowns": entry.unknowns,
                    "converged": entry.converged,
                    "pareto_k": entry.pareto_k,
                    "importance_ess": entry.importance_ess,
                    "max_r_hat": entry.r_hat,
                    "effective_draws": entry.effective_draws,
                    "divergences": entry.divergences,
                    "warning": ", ".join(entry.doubts),
                }
            )
        return rows

    def _csv(self) -> str:
        lines, rows = io.StringIO(), self.figures()
        writer = csv.DictWriter(lines, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        return lines.getvalue()


def moves_of(settings: CompareSettings, space: StateSpace) -> Turns | None:
    """What animals of these states choose among, by a word; None for transitions between states.

    Turns where all states are angles, steps where some are distances or speeds. A lag means
    transitions, and so do states of which nobody knows what a move does to them.
    """
    kind, moves = settings.as_, settings.moves
    lagged = settings.lag != 1
    if kind == "transitions" or (kind == "auto" and lagged and moves == "auto"):
        return None
    if lagged:
        raise InputError(
            "decisions have no lag: leave frames out with --every, or --as transitions"
        )
    if moves != "auto":
        return MOVES[moves]
    straight = settings.heading_frames == 1 and not settings.tracker_headings
    angles = all(getattr(part, "turn", 0) for part in space.parts)
    found = Turns() if angles or not straight else Steps()
    if kind == "auto":
        try:
            check_moves(found, space)
        except InputError:
            return None
    return found


MOVES = {
    "turns": Turns(),
    "steps": Steps(),
    "steps:ahead": Steps(others="ahead"),
}
_CAPTION = (
    "Left: bits per held-out {unit}, with standard errors over blocks of time or over groups. "
    "Right: how far each model is from the best one, with the standard error "
    "of the difference, which is smaller, since all models meet the same {unit}s. Filled: with "
    "costs; open: without."
)
_READING = (
    "One bit less means half the probability of what the animals did next. The best of many models "
    "is the best partly by chance, so all differences are judged together: the models that can be "
    "the best hold the one that truly is in 95 of 100 studies (the model confidence set of Hansen, "
    "Lunde and Nason, over the same blocks, with Student's t where blocks are few). A model with "
    "costs is believed where the same moves or dynamics without costs cannot be the best. A "
    "warning says that the draws of a model are not its posterior: its score may then be wrong by "
    "more than its standard error, and the model is to be fitted again as the warning says. "
    "Stacking weights are those of the mixture of all models that predicts the held-out {unit}s "
    "best; models that say the same share a weight between them."
)
