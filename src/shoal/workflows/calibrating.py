"""How well a design would do: what ``shoal calibrate`` does."""

import csv
import io
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from shoal.checks import Calibration, calibrate
from shoal.errors import InputError
from shoal.figures import save_figure
from shoal.figures.calibration import calibration_figure
from shoal.posterior import DecisionFit, Fit, Model, Prior, load_fit
from shoal.report.page import Note, Page, Picture, write_page
from shoal.states import StateSpace
from shoal.system.files import make_folder, write_whole
from shoal.system.progress import Report
from shoal.workflows.features import feature_of
from shoal.workflows.settings import CalibrateSettings
from shoal.workflows.vocabulary import TRUTHS
from shoal.workflows.words import basis_of, passive_of, target_of


@dataclass(frozen=True, eq=False)
class CalibrateRun:
    """One calibration, made when it is first asked for."""

    settings: CalibrateSettings
    progress: bool | Report | None = None

    @cached_property
    def fit(self) -> Fit | None:
        """Whose model is calibrated, where one is given."""
        found = load_fit(self.settings.fit) if self.settings.fit else None
        if isinstance(found, DecisionFit):
            raise InputError(
                f"{self.settings.fit} is a fit of decisions, and calibrate is for transitions: "
                "give one made with --as transitions, or the words of a model"
            )
        return found

    @cached_property
    def model(self) -> Model:
        """What is assumed."""
        s = self.settings
        prior = _prior_of(s.prior)
        if self.fit is not None:
            return replace(self.fit.model, prior=prior)
        target = target_of(s.target)
        features = [feature_of(word, target, None, "", _no_tracks) for word in s.state.split(",")]
        space = StateSpace(*features)
        return Model(space, passive_of(s.passive, space), basis_of(s.basis), s.discount, prior)

    @cached_property
    def calibration(self) -> Calibration:
        """All replicates."""
        s = self.settings
        if s.truth not in TRUTHS:
            raise InputError(f"the truth is {' or '.join(TRUTHS)}, got {s.truth!r}")
        if s.truth == "fit" and self.fit is None:
            raise InputError("--truth fit takes the costs of a fit: give one, such as fit.nc")
        return calibrate(
            self.model, groups=s.groups, animals=s.animals, frames=s.frames, method=s.method,
            replicates=s.replicates, chains=s.chains, draws=s.draws, seed=s.seed,
            truth=self.fit if s.truth == "fit" else None, cluster=s.cluster or None,
            progress=self.progress,
        )  # fmt: skip

    def write(self, out: Path) -> dict[str, Path]:
        """A table, a figure, the choices and a page, beside each other."""
        if out.suffix != ".csv":
            raise InputError(f"a calibration is written to a name that ends in .csv; got {out}")
        folder, stem = make_folder(out.parent), out.stem
        found = self.calibration
        write_whole(out, self._csv().encode())
        figure = calibration_figure(found)
        picture = save_figure(figure, folder / f"{stem}.png")
        save_figure(figure, folder / f"{stem}.pdf")
        choices = folder / f"{stem}.toml"
        write_whole(choices, self.settings.from_anywhere().toml().encode())
        page = Page(
            title="Are the intervals right?",
            lead=" ".join(found.sentences()),
            rows=self.rows(),
            pictures=(Picture(picture, "calibration", _CAPTION),),
            notes=(
                Note("How to read it", _READING),
                Note("To repeat it", self.settings.toml()),
            ),
        )
        return {
            "table": out,
            "choices": choices,
            "page": write_page(folder / f"{stem}.html", page),
        }

    def rows(self) -> list[dict[str, str]]:
        """Ranked quantities, or what is said of them where there are none."""
        return self.calibration.rows() or [{"what": line} for line in self.calibration.sentences()]

    def _csv(self) -> str:
        """Every rank of every replicate, with the troubles of its fit."""
        found, lines = self.calibration, io.StringIO()
        names = [*found.names, "divergences", "pareto_k", "r_hat", "converged"]
        writer = csv.writer(lines, lineterminator="\n")
        writer.writerow(["replicate", *names])
        for one in found.replicates:
            trouble = (one.divergences, one.pareto_k, one.r_hat, one.converged)
            writer.writerow([one.number, *map(float, one.ranks), *trouble])
        return lines.getvalue()


def _prior_of(words: str) -> Prior:
    """Shape and rate of the precision's Gamma prior."""
    try:
        shape, rate = (float(part) for part in words.split(","))
    except ValueError as error:
        raise InputError(f"a prior is a shape and a rate, such as 5,5; got {words!r}") from error
    return Prior(shape=shape, rate=rate)


def _no_tracks() -> Any:
    raise InputError(
        "there are no tracks to fit the bins of distances and speeds to: give max= or edges=, such "
        "as speed:max=10"
    )


_CAPTION = (
    "Left: for each quantity, how often the truth ranked below each place among the draws, less "
    "how often it would if the intervals were right; within the grey band as a whole in 99 of 100 "
    "cases. Middle: how often intervals hold the true cost-to-go, all states together. Right: "
    "estimates with 95 % intervals beside the truth, for a few states of every data set."
)
_READING = (
    "Every data set has its own truth, and animals that live by it for as long as the design says. "
    "A rank curve that bulges above the band on the left and below on the right means intervals "
    "that are too narrow; the other way round, too wide; on one side, estimates that lean. With "
    "many quantities, one in a hundred leaves its band by chance."
)
