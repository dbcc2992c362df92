"""The options of commands that begin with tracks, or with a model: each is written here alone."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from shoal.errors import InputError
from shoal.workflows.options import Panel, Settings, option
from shoal.workflows.vocabulary import (
    BASES,
    COMPARED_MOVES,
    FEATURES,
    FIT_METHODS,
    FORMATS,
    METHODS,
    MOVES,
    OTHERS,
    PARTS,
    PASSIVE,
    PERSISTENCES,
    READ_AS,
    SPLITS,
    TRUTHS,
)

TRACKS = "A file, a folder, or a pattern in quotes."
FORMAT = "A name that `shoal formats` lists."
FORMAT_WORDS = dict.fromkeys(FORMATS, "")
CHAINS = "Number of chains."
SEED = "The same seed gives the same result."


@dataclass(frozen=True)
class ReadingSettings(Settings):
    """All choices up to the counts."""

    is_written: ClassVar[bool] = True

    tracks: str = option("", TRACKS, argument=True, path=True)
    format: str = option("", FORMAT, Panel.FILES, words=FORMAT_WORDS)
    columns: str = option("", "Of long tables: individual=who,x=east,y=north,frame=n.", Panel.FILES)
    fps: float = option(0.0, "Frames per second.", Panel.FILES)
    unit: str = option("", "Unit of lengths, such as cm.", Panel.FILES)
    keypoint: str = option("", "Which point of the body, of poses; else the centroid.", Panel.FILES)
    confidence: float = option(
        0.0, "Places with a lower score count as not seen: poses, idTracker, TRex.", Panel.FILES
    )
    drop_estimated: bool = option(
        False,
        "Places that the tracker estimated count as not seen.",
        Panel.FILES,
        switched_off="--keep-estimated",
    )
    clock: float = option(0.0, "Seconds between ticks, for animals out of step.", Panel.FILES)
    sort: bool = option(False, "Rows may be in any order.", Panel.FILES)
    stream: bool = option(
        False, "Count without reading it all at once.", Panel.STREAMS, switched_off="--whole"
    )
    parts: str = option(
        "",
        "With --stream, what files are: time (of one recording) or groups.",
        Panel.STREAMS,
        words=PARTS,
    )
    every: int = option(
        0,
        "Keep every n-th frame; 0 chooses: of decisions all, unless errors of measurement "
        "show; of transitions so that angles move from bin to bin.",
        Panel.PREPARING,
        shown="0",
    )
    max_step: float = option(
        0.0, "Leave out fixes farther than this from those before and after.", Panel.PREPARING
    )
    fill_gaps: int = option(
        0, "Fill gaps of at most n frames with straight lines.", Panel.PREPARING
    )
    smooth: int = option(
        0, "Smooth over n frames, an odd number (Savitzky–Golay).", Panel.PREPARING
    )
    rescale: str = option("", "unit-square, or a factor and a unit, '0.05 cm'.", Panel.PREPARING)
    drop: str = option("", "Animals to leave out, with commas.", Panel.PREPARING)
    landmarks: str = option(
        "", "Not members of the group, but possible targets; with commas.", Panel.PREPARING
    )
    flip_y: bool = option(False, "y counts downwards in the file.", Panel.PREPARING)
    state: str = option(
        "local", "Features with commas between; see `shoal features`.", words=FEATURES, several=True
    )
    target: str = option(
        "",
        "X,Y (longitude,latitude where tracks have them); the name of an animal or landmark; "
        "or GROUP=X,Y;…",
    )
    arena: str = option("", "left,bottom,right,top or circle:x,y,radius.")
    lag: int | str = option(1, "Frames between states, or auto.", Panel.HEADINGS)
    heading_frames: int = option(1, "Frames over which a heading is taken.", Panel.HEADINGS)
    minimum_step: float = option(
        0.0, "Shorter steps count as rest and keep the heading.", Panel.HEADINGS, shown="0"
    )
    tracker_headings: bool = option(
        False, "Headings as the file has them.", Panel.HEADINGS, switched_off="--displacements"
    )
    cluster: str = option(
        "", "With --stream: workers, or a Dask address tcp://…", Panel.STREAMS, last=True
    )

    def __post_init__(self) -> None:
        """A lag may have come as a word."""
        object.__setattr__(self, "lag", lag_of(self.lag))
        super().__post_init__()

    @property
    def headings(self) -> dict[str, Any]:
        """How headings are taken."""
        names = ("heading_frames", "minimum_step", "tracker_headings")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True)
class FitSettings(ReadingSettings):
    """All choices of ``shoal fit``."""

    command: ClassVar[str] = "fit"

    as_: str = option(
        "auto",
        "decisions (what each animal chose) or transitions (how observed states changed, as "
        "in the paper); auto: decisions, unless --passive, --lag, --discount, --method advi "
        "or --stream is given.",
        words=READ_AS,
    )
    moves: str = option(
        "auto",
        "Of decisions: turns (headings), steps (headings and lengths), with shapes of what "
        "animals do without preferences, turns:normals, steps:log-normal; auto: steps where "
        "there are distances, walls or speeds.",
        Panel.DECISIONS,
        words=MOVES,
    )
    others: str = option(
        "auto",
        "Of steps: others are seen still, or ahead where going straight on leads them; auto: "
        "what scores better on held-out decisions.",
        Panel.DECISIONS,
        words=OTHERS,
    )
    candidates: int = option(
        0,
        "Moves that stand for all an animal could have made; 0: 64, and more where costs need "
        "them.",
        Panel.DECISIONS,
        shown="0",
    )
    persistence: str = option(
        "auto",
        "How much of a turn is repeated in the next: none, a number, learned, or auto, from a "
        "quick fit where it shows that turns go on as they were.",
        Panel.DECISIONS,
        words=PERSISTENCES,
    )
    passive: str = option(
        "auto",
        "Of transitions: auto (scored on held-out tracks), turn-coupled, walk-mixture, "
        "uniform, uniform:area (for distances to a point), random-walk:SD (one, or one for "
        "each axis; without a number the paper's 90° and a quarter of the span of distances), "
        "random-walk:90:centre (from the centres of bins, as in the paper), "
        "turning-mixture:SD.",
        words=PASSIVE,
    )
    basis: str = option(
        "smooth",
        "smooth[:order], flat (no costs), identity, bisquare[:resolutions], "
        "gaussian[:every], fourier[:order], von-mises; bisquare-planar and gaussian-planar as "
        "in the paper.",
        words=BASES,
    )
    discount: float = option(
        1.0, "Of transitions: how much later costs count, 1 at most.", Panel.INFERENCE
    )
    method: str = option(
        "auto",
        "laplace, nuts, map, or advi (transitions only).",
        shown="laplace for decisions, nuts for transitions",
        words=FIT_METHODS,
    )
    chains: int = option(4, CHAINS, Panel.INFERENCE)
    draws: int = option(1000, "Number of draws in a chain.", Panel.INFERENCE)
    warmup: int = option(
        500, "Draws per chain before those that are kept, of nuts.", Panel.INFERENCE
    )
    target_acceptance: float = option(
        0.0,
        "Of nuts; nearer to 1 where draws diverge.",
        Panel.INFERENCE,
        shown="0.95, or 0.8 where only costs are unknown",
    )
    seed: int = option(1, SEED, Panel.INFERENCE, least=0)

    def __post_init__(self) -> None:
        """Words about decisions and about transitions do not go together."""
        super().__post_init__()
        if self.as_ not in READ_AS:
            raise InputError(f"--as is one of {', '.join(READ_AS)}; got {self.as_!r}")
        if self.candidates and self.candidates < 8:
            raise InputError(f"--candidates is 8 or more, or 0 for auto; got {self.candidates}")
        states, moves = self.about_states(), self.about_moves()
        if self.as_ == "decisions" and states:
            raise InputError(
                f"{states} is about transitions, and --as is decisions: leave one of them out"
            )
        if moves and (states or self.as_ == "transitions"):
            other = states or "--as transitions"
            raise InputError(
                f"{moves} is about decisions, {other} is not: leave out {other} to learn what "
                f"animals choose, or {moves} to learn from the states that they pass through"
            )

    @classmethod
    def from_toml(cls, path: Path) -> dict[str, Any]:
        """The choices in a file.

        Files of runs name every choice, so that one without ``as`` is of an earlier release, whose
        runs were of transitions.
        """
        found = super().from_toml(path)
        if found.get("passive") == "auto" and "as_" not in found:
            found["as_"] = "transitions"
        return found

    def about_states(self) -> str:
        """The first choice that only transitions have."""
        said = {
            f"--passive {self.passive}": self.passive != "auto",
            f"--lag {self.lag}": self.lag != 1,
            f"--discount {self.discount:g}": self.discount != 1,
            f"--method {self.method}": self.method.lower() == "advi",
            "--stream": self.stream,
        }
        return next((words for words, there in said.items() if there), "")

    def about_moves(self) -> str:
        """The first choice that only decisions have."""
        own = [one for one in self.choices() if one.option.panel == Panel.DECISIONS]
        said = [one for one in own if getattr(self, one.name) != one.default]
        return f"--{said[0].key} {getattr(self, said[0].name)}" if said else ""

    @property
    def maybe_decisions(self) -> bool:
        """Whether tracks are read as decisions if their features can be decided on."""
        return self.as_ != "transitions" and not self.about_states()


@dataclass(frozen=True)
class CompareSettings(ReadingSettings):
    """All choices of ``shoal compare``."""

    command: ClassVar[str] = "compare"

    as_: str = option(
        "auto",
        "decisions (what animals chose), or transitions (states that were observed).",
        shown="decisions, unless a lag is given",
        words=READ_AS,
        older="read-as",
    )
    moves: str = option(
        "auto",
        "What an animal chooses: turns, steps or steps:ahead (others go straight on).",
        shown="turns for angles, else steps",
        words=COMPARED_MOVES,
    )
    split: str = option(
        "time:2/3",
        "time:SHARE, group:SHARE or individual:SHARE to learn from; K-fold, K-fold:group, "
        "K-fold:individual; leave-one-group-out. Groups and animals are drawn by --seed, "
        "stratified by a covariate where one follows: group:0.7:sex.",
        words=SPLITS,
    )
    held_out: str = option("", "Other tracks to score on, instead of a split.", path=True)
    method: str = option("laplace", "laplace, map, advi or nuts.", words=METHODS)
    draws: int = option(250, "Number of draws in a chain.", Panel.INFERENCE)
    seed: int = option(1, SEED, Panel.INFERENCE, least=0)
    workers: int = option(0, "Processes that share the fits.", Panel.INFERENCE, shown="none")

    def __post_init__(self) -> None:
        """Check the words before any work is done."""
        super().__post_init__()
        if self.as_ not in READ_AS:
            raise InputError(f"--as is one of {', '.join(READ_AS)}; got {self.as_!r}")
        if self.moves not in COMPARED_MOVES:
            raise InputError(f"--moves is one of {', '.join(COMPARED_MOVES)}; got {self.moves!r}")


@dataclass(frozen=True)
class CalibrateSettings(Settings):
    """All choices of ``shoal calibrate``."""

    command: ClassVar[str] = "calibrate"
    is_written: ClassVar[bool] = True

    fit: str = option(
        "", "A fit whose model is to be tried; else --state and so on.", argument=True, path=True
    )
    method: str = option("nuts", "nuts, laplace, advi or map.", words=METHODS)
    replicates: int = option(100, "Number of data sets.")
    truth: str = option(
        "prior", "prior: each data set has its own; fit: the mean costs of the fit.", words=TRUTHS
    )
    groups: int = option(1, "Number of groups.", Panel.DESIGN)
    animals: int = option(10, "Number of animals in a group.", Panel.DESIGN)
    frames: int = option(100, "For how many frames they are watched.", Panel.DESIGN)
    state: str = option("local", "As in shoal fit.", Panel.MODEL, words=FEATURES, several=True)
    target: str = option("0,0", "As in shoal fit.", Panel.MODEL)
    passive: str = option("random-walk", "As in shoal fit.", Panel.MODEL, words=PASSIVE)
    basis: str = option("identity", "As in shoal fit.", Panel.MODEL, words=BASES)
    discount: float = option(1.0, "As in shoal fit.", Panel.MODEL)
    prior: str = option(
        "5,5", "Shape and rate of the precision's Gamma prior, from which truths come.", Panel.MODEL
    )
    chains: int = option(4, CHAINS, Panel.INFERENCE)
    draws: int = option(250, "Number of draws in a chain.", Panel.INFERENCE)
    seed: int = option(1, SEED, Panel.INFERENCE, least=0)
    cluster: str = option("", "Worker processes, or a Dask address tcp://…", Panel.INFERENCE)


def lag_of(words: int | str) -> int | str:
    """A whole number of frames, or ``auto``.

    >>> lag_of(3), lag_of("3"), lag_of("auto")
    (3, 3, 'auto')
    """
    if not isinstance(words, str) or words == "auto":
        return words
    try:
        return int(words)
    except ValueError:
        raise InputError(f"a lag is a whole number of frames, or auto; got {words!r}") from None
