"""From a file of tracks to a fit with its figures and page: what ``shoal fit`` does."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from shoal.basis import Flat
from shoal.checks.candidates import paper_walk
from shoal.figures import cost_lines, save_figure
from shoal.figures.lines import Curve, Panel, marginal_lines
from shoal.figures.maps import CostMap, cost_map
from shoal.figures.trajectories import trajectories
from shoal.files import make_folder
from shoal.posterior import NUTS, Fit, Model
from shoal.posterior.model import resolved
from shoal.progress import reporting
from shoal.report.page import Note, Page, Picture, write_page
from shoal.studies.choosing import PassiveChoice, choose_passive
from shoal.studies.estimates import curve_of, marginal
from shoal.studies.reading import Reading, ReadingSettings
from shoal.studies.words import basis_of, passive_of
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
        method: Any = NUTS(warmup=s.warmup) if s.method.lower() == "nuts" else s.method
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
        pictures = self._figures(folder, stem)
        written |= {f"figure, {name}": picture.path for name, picture in pictures.items()}
        page = Page(
            title=f"What {self._who()} want",
            lead=self._lead(),
            rows=self.summary(),
            pictures=tuple(pictures.values()),
            notes=(
                Note("How far to trust it", str(self.fit.diagnostics())),
                Note("What was read", "\n".join(self.notes()) or "nothing to note"),
                Note("To repeat it", self.settings.toml()),
            ),
        )
        written["page"] = write_page(folder / f"{stem}.html", page)
        return written

    def summary(self) -> list[dict[str, str]]:
        """What was read, counted and inferred, a row each."""
        rows = [
            *self.rows(),
            ("passive dynamics", repr(self.fit.passive)),
            *([("  chosen", self.passive_choice.sentence)] if self.passive_choice else []),
            ("basis", repr(self.model.basis)),
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
        for axis, curve in self.marginals("cost_to_go").items():
            known = self._arrivals(axis) > 0
            span = curve.mean[known].max() - curve.mean[known].min()
            rows.append((f"range of {axis.replace('_', ' ')}", f"{span:.3g} nats, on average"))
        return rows

    def _arrivals(self, axis: str) -> np.ndarray:
        place = self.space.names.index(axis)
        others = tuple(n for n in range(len(self.space.names)) if n != place)
        return np.asarray(self.fit.arrivals.values.sum(axis=others))

    def marginals(self, what: str) -> dict[str, Curve]:
        """Costs along each axis, averaged over the others with the arrivals as weights."""
        draws = getattr(self.fit, what)
        found = {}
        for name in self.space.names:
            label = "most probable" if self.fit.method == "map" else self.fit.method
            found[name] = curve_of(marginal(draws, name, self.fit.arrivals), label)
        return found

    def _figures(self, folder: Path, stem: str) -> dict[str, Picture]:
        labels = {
            "cost_to_go": "cost-to-go $v$ (nats)",
            "state_cost": "state cost $r$ (nats per step)",
        }
        drawn: dict[str, tuple[Any, str]] = {}
        if isinstance(self.model.basis, Flat):
            labels = {}  # there are no costs to draw
        for what, label in labels.items():
            words = what.replace("_", "-")
            if len(self.space.axes) == 2:
                drawn[words] = (cost_map(*self.space.axes, self._map(what), label), _MAP[what])
        if len(self.space.axes) == 1:
            for what, label in labels.items():
                curve = self.marginals(what)[self.space.names[0]]
                panels = [Panel("", [curve])]
                figure = cost_lines(self.space.axes[0], panels, self.counts.arrivals, label)
                drawn[what.replace("_", "-")] = (figure, _LINE)
        elif labels:
            drawn["marginals"] = (self._marginal_figure(labels["cost_to_go"]), _MARGINAL)
            drawn["effects"] = (self._effect_figure(), _EFFECTS)
        if not isinstance(self.tracks, OpenTracks):
            drawn["tracks"] = (trajectories(list(self.tracks), self.target), _TRACKS)
        pictures = {}
        for name, (figure, caption) in drawn.items():
            path = save_figure(figure, folder / f"{stem}-{name}.png")
            figure.set_layout_engine("none")  # as it was laid out for the first file
            save_figure(figure, folder / f"{stem}-{name}.pdf")
            pictures[name] = Picture(path, name.replace("-", " "), caption)
        return pictures

    def _effect_figure(self) -> Any:
        """What each axis does by itself, all states counting alike."""
        effects = self.fit.effects()
        parts = []
        for axis in self.space.axes:
            effect = effects[axis.name]
            lower, upper = np.quantile(effect.draws, (0.025, 0.975), axis=0)
            share = f"{axis.name.replace('_', ' ')}: {effect.share.mean():.0%} of the variance"
            curve = Curve("main effect", effect.draws.mean(axis=0), lower, upper)
            parts.append((axis, Panel(share, [curve]), self._arrivals(axis.name)))
        return marginal_lines(parts, "main effect on $v$ (nats)")

    def _marginal_figure(self, label: str) -> Any:
        curves = self.marginals("cost_to_go")
        return marginal_lines(
            [
                (
                    axis,
                    Panel(axis.name.replace("_", " "), [curves[axis.name]]),
                    self._arrivals(axis.name),
                )
                for axis in self.space.axes
            ],
            label,
        )

    def _map(self, what: str) -> CostMap:
        draws = getattr(self.fit, what).values
        mean = draws.mean(axis=(0, 1))
        sd = None if self.fit.method == "map" else draws.std(axis=(0, 1), ddof=1)
        return CostMap(mean, sd, self.counts.arrivals)

    def _who(self) -> str:
        return Path(self.settings.tracks).name or "the animals"

    def _lead(self) -> str:
        return (
            f"{self.counts.total:,} transitions between {self.space.size:,} states, "
            f"{' × '.join(axis.label for axis in self.space.axes)}. Low cost-to-go marks states "
            "the animals steer towards, given what they would do without preferences "
            f"({self.model.passive!r}); other passive dynamics give other costs."
        )


_MAP = {
    "cost_to_go": "Cost-to-go: posterior mean with minimum 0, posterior sd of the part that tracks "
    "can tell (its level is removed from every draw), and arrivals. Hatched: states never entered, "
    "where the prior alone speaks; colours span the others.",
    "state_cost": "State costs that follow from the cost-to-go, known up to a constant.",
}
_LINE = "Posterior mean and 95 % interval over the number of arrivals; grey: never entered."
_MARGINAL = (
    "Average over the other axes, weighted by arrivals: posterior mean and 95 % interval, over the "
    "number of arrivals; grey: never entered."
)
_EFFECTS = (
    "What each axis does by itself: the cost-to-go averaged over all states of the other axes "
    "alike, less its mean, with 95 % intervals. Its share of the variance over all states is in "
    "the title; what is missing to 100 % is what the axes do together."
)
_TRACKS = "Tracks of each group, with the number of animals."
