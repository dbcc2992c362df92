"""From a file of tracks to a fit with its figures and page: what ``shoal fit`` does."""

import json
import tomllib
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from shoal.errors import InputError
from shoal.figures import cost_lines, save_figure
from shoal.figures.lines import Curve, Panel, marginal_lines
from shoal.figures.maps import CostMap, cost_map
from shoal.figures.trajectories import trajectories
from shoal.files import make_folder, write_whole
from shoal.posterior import NUTS, Fit, Model
from shoal.progress import Report
from shoal.report.page import Note, Page, Picture, write_page
from shoal.states import Scene, StateSpace, Transitions, count_transitions
from shoal.studies.estimates import curve_of, marginal
from shoal.studies.words import (
    arena_of_words,
    basis_of,
    feature_of,
    pairs_of,
    passive_of,
    target_of,
)
from shoal.tracks import Collection, Tracks
from shoal.tracks.readers import OpenTracks, open_tracks, read_tracks
from shoal.tracks.readers.reading import files_of
from shoal.version import __version__


@dataclass(frozen=True)
class FitSettings:
    """Every choice of a fit, as words and numbers that a TOML file can hold."""

    tracks: str = ""
    # reading
    format: str = ""
    columns: str = ""
    fps: float = 0.0
    unit: str = ""
    keypoint: str = ""
    confidence: float = 0.0
    clock: float = 0.0
    sort: bool = False
    stream: bool = False
    parts: str = ""
    # preparing
    drop: str = ""
    landmarks: str = ""
    flip_y: bool = False
    max_step: float = 0.0
    fill_gaps: int = 0
    smooth: int = 0
    rescale: str = ""
    every: int = 1
    # states
    state: str = "local"
    target: str = ""
    arena: str = ""
    lag: int = 1
    heading_frames: int = 1
    minimum_step: float = 0.0
    tracker_headings: bool = False
    # model
    passive: str = "random-walk"
    basis: str = "bisquare"
    discount: float = 1.0
    # inference
    method: str = "nuts"
    chains: int = 4
    draws: int = 1000
    warmup: int = 500
    seed: int = 1
    cluster: str = ""

    def toml(self) -> str:
        """As a file that repeats the run."""
        lines = [f"# shoal {__version__}: repeat with  shoal fit --config THIS_FILE"]
        lines += [
            f"{name.replace('_', '-')} = {json.dumps(value, ensure_ascii=False)}"
            for name, value in asdict(self).items()
        ]
        return "\n".join(lines) + "\n"

    @classmethod
    def from_toml(cls, path: Path) -> dict[str, Any]:
        """The choices in a file, checked; those it leaves out are left out."""
        try:
            content = tomllib.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise InputError(f"{path} cannot be read ({error.strerror})") from error
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise InputError(f"{path} is no TOML file ({error})") from error
        known = [field.name for field in fields(cls)]
        found: dict[str, Any] = {}
        for key, value in content.items():
            name = key.replace("-", "_")
            if name not in known:
                words = ", ".join(known).replace("_", "-")
                raise InputError(f"{path}: there is no choice {key!r}; there are {words}")
            default = getattr(cls, name)
            whole = type(value) is int and isinstance(default, float)
            if type(value) is not type(default) and not whole:
                raise InputError(
                    f"{path}: {key} is {type(default).__name__}, such as {default!r}; got {value!r}"
                )
            found[name] = type(default)(value)
        return found


@dataclass(frozen=True, eq=False)
class FitRun:
    """One run: tracks, counts, fit, made when they are first asked for."""

    settings: FitSettings
    progress: bool | Report | None = None

    @cached_property
    def tracks(self) -> Tracks | Collection | OpenTracks:
        """Read and prepared."""
        s = self.settings
        columns = pairs_of(s.columns, "columns")
        if s.fps < 0 or s.clock < 0:
            raise InputError("fps and clock must be positive")
        if s.stream:
            return self._opened(columns)
        if s.cluster or s.parts:
            raise InputError("--cluster and --parts are for streamed tracks: add --stream")
        found: Any = read_tracks(
            s.tracks,
            s.format or None,
            columns=columns,
            fps=s.fps or None,
            unit=s.unit or None,
            keypoint=s.keypoint or None,
            confidence=s.confidence,
            clock=s.clock or None,
            sort=s.sort,
        )
        return self._prepared(found)

    def _opened(self, columns: dict[str, str]) -> OpenTracks:
        s = self.settings
        changed = [
            name
            for name in (
                *("drop", "landmarks", "flip_y", "max_step", "fill_gaps", "smooth", "rescale"),
                *("format", "keypoint", "confidence", "clock", "sort"),
            )
            if getattr(s, name)
        ]
        if changed or s.every != 1:
            raise InputError(
                f"streamed tracks take no {', '.join(changed) or 'every'}: read them whole"
            )
        return open_tracks(
            s.tracks,
            columns=columns,
            fps=s.fps or None,
            unit=s.unit or None,
            parts=s.parts or None,
        )

    def _prepared(self, found: Any) -> Any:
        s = self.settings
        for name in ("every", "fill_gaps", "smooth"):
            if getattr(s, name) < 0:
                raise InputError(f"{name.replace('_', '-')} cannot be negative")
        if s.drop:
            found = found.drop([name.strip() for name in s.drop.split(",")])
        if s.landmarks:
            found = found.with_landmarks(*(name.strip() for name in s.landmarks.split(",")))
        if s.flip_y:
            found = found.flip_y()
        if s.max_step:
            found = found.drop_jumps(s.max_step)
        if s.fill_gaps:
            found = found.fill_gaps(s.fill_gaps)
        if s.smooth:
            found = found.smooth(s.smooth)
        if s.rescale:
            found = found.rescale() if s.rescale == "unit-square" else _scaled(found, s.rescale)
        return found if s.every == 1 else found.thin(s.every)

    @cached_property
    def target(self) -> Any:
        """Where the animals may want to go."""
        return target_of(self.settings.target)

    @cached_property
    def space(self) -> StateSpace:
        """The states."""
        s = self.settings
        arena = arena_of_words(s.arena)
        words = [word for word in s.state.split(",") if word.strip()]
        if not words:
            raise InputError("which states? give --state local, or local,target")
        if s.target and "target" not in s.state:
            warnings.warn(f"--target {s.target} is used by no state", UserWarning, stacklevel=2)
        unit = s.unit or getattr(self.tracks, "length_unit", "")
        return StateSpace(
            *(feature_of(word, self.target, arena, unit, self._scenes) for word in words)
        )

    def _scenes(self) -> Sequence[Scene]:
        s = self.settings
        if isinstance(self.tracks, OpenTracks):
            raise InputError("of streamed tracks the bins of distances must be given: edges=0/5/10")
        return [
            Scene.of(part, s.heading_frames, s.minimum_step, s.tracker_headings)
            for part in self.tracks
        ]

    @cached_property
    def counts(self) -> Transitions:
        """Transitions between states."""
        s = self.settings
        return count_transitions(
            self.tracks,
            self.space,
            lag=s.lag,
            heading_frames=s.heading_frames,
            minimum_step=s.minimum_step,
            tracker_headings=s.tracker_headings,
            cluster=s.cluster or None,
            progress=self.progress,
        )

    @cached_property
    def model(self) -> Model:
        """What is assumed."""
        s = self.settings
        passive = passive_of(s.passive, self.space)
        return Model(self.space, passive, basis_of(s.basis), s.discount)

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
        )

    def write(self, out: Path) -> dict[str, Path]:
        """The fit, the choices, figures and a page, beside each other."""
        folder = make_folder(out.parent)
        stem = out.stem
        self._check_inputs(folder, stem)
        written = {"fit": self.fit.save(out)}
        choices = folder / f"{stem}.toml"
        place = str(Path(self.settings.tracks).expanduser().absolute())
        write_whole(choices, replace(self.settings, tracks=place).toml().encode())
        written["choices"] = choices
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

    def _check_inputs(self, folder: Path, stem: str) -> None:
        """What is read is never written over."""
        if not self.settings.tracks:
            raise InputError("which tracks? give a file, a folder or a pattern")
        files, _ = files_of(self.settings.tracks)
        ours = {(folder / f"{stem}{end}").resolve() for end in (".nc", ".toml", ".html")}
        for file in files:
            if file.resolve() in ours:
                raise InputError(f"{file} is what was read: choose another name for --out")

    def notes(self) -> list[str]:
        """What reading and preparing did, each sentence once."""
        found = [] if isinstance(self.tracks, OpenTracks) else list(self.tracks.notes)
        if len(found) <= 12:
            return found
        plain: dict[str, int] = {}
        for part in self.tracks:
            for note in part.notes:
                plain[note] = plain.get(note, 0) + 1
        return [f"{note} ({count} groups)" if count > 1 else note for note, count in plain.items()]

    def summary(self) -> list[dict[str, str]]:
        """What was read, counted and inferred, a row each."""
        counts = self.counts
        lost = {reason: number for reason, number in counts.dropped.items() if number}
        rows = [
            ("tracks", repr(self.tracks)),
            ("states", " × ".join(f"{axis.label}: {axis.size}" for axis in self.space.axes)),
            ("fixes", f"{counts.fixes:,}"),
            *((f"  {reason}", f"{number:,}") for reason, number in lost.items()),
            ("transitions", f"{counts.total:,}, {len(counts.pairs):,} distinct"),
            ("states entered", f"{int((counts.arrivals > 0).sum()):,} of {self.space.size:,}"),
            ("passive dynamics", repr(self.model.passive)),
            ("basis", repr(self.model.basis)),
            ("fit", repr(self.fit)),
            *((name, value) for name, value in self._best()),
        ]
        return [{"what": name, "found": value} for name, value in rows]

    def _best(self) -> list[tuple[str, str]]:
        """The cheapest state, and how much each axis matters."""
        mean = self.fit.cost_to_go.mean(("chain", "draw"))
        entered = np.where(self.counts.arrivals > 0, mean.values, np.inf)
        state = int(np.argmin(entered))
        rows = [("cheapest state entered", self.space.describe(state))]
        for axis, curve in self.marginals("cost_to_go").items():
            known = self._arrivals(axis) > 0
            span = curve.mean[known].max() - curve.mean[known].min()
            rows.append((f"range of {axis.replace('_', ' ')}", f"{span:.3g} nats, on average"))
        return rows

    def _arrivals(self, axis: str) -> np.ndarray:
        others = [name for name in self.space.names if name != axis]
        return np.asarray(self.fit.arrivals.sum(others).values)

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
        else:
            drawn["marginals"] = (self._marginal_figure(labels["cost_to_go"]), _MARGINAL)
        if not isinstance(self.tracks, OpenTracks):
            drawn["tracks"] = (trajectories(list(self.tracks), self.target), _TRACKS)
        pictures = {}
        for name, (figure, caption) in drawn.items():
            path = save_figure(figure, folder / f"{stem}-{name}.png")
            figure.set_layout_engine("none")  # as it was laid out for the first file
            save_figure(figure, folder / f"{stem}-{name}.pdf")
            pictures[name] = Picture(path, name.replace("-", " "), caption)
        return pictures

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
        draws = getattr(self.fit, what)
        mean = draws.mean(("chain", "draw")).values
        sd = None if self.fit.method == "map" else draws.std(("chain", "draw"), ddof=1).values
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
_TRACKS = "Tracks of each group, with the number of animals."


def _scaled(tracks: Any, words: str) -> Any:
    factor, _, unit = words.partition(" ")
    try:
        return tracks.rescale(float(factor), unit.strip())
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            f"--rescale is unit-square, or a factor with a unit such as '0.05 cm'; got {words!r}"
        ) from None
