"""The options of commands that begin with tracks, or with a model: each is written here alone."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

from shoal.errors import InputError
from shoal.workflows.options import Option, Panel, Settings
from shoal.workflows.vocabulary import (
    BASES,
    COMPARED_MOVES,
    FEATURES,
    FIT_METHODS,
    FORMATS,
    METHODS,
    MOVES,
    OTHERS,
    PASSIVE,
    PERSISTENCES,
    READ_AS,
    SPLITS,
    TRUTHS,
)

Tracks = Annotated[str, Option("A file, a folder, or a pattern in quotes.", argument=True)]
Format = Annotated[
    str,
    Option("A name that `shoal formats` lists.", Panel.FILES, words=dict.fromkeys(FORMATS, "")),
]
Unit = Annotated[str, Option("Of lengths.", Panel.FILES)]
Chains = Annotated[int, Option("Of nuts, independent of each other.", Panel.INFERENCE)]
Draws = Annotated[int, Option("Per chain.", Panel.INFERENCE)]
SAME = "The same seed gives the same result."
Seed = Annotated[int, Option(SAME, Panel.INFERENCE, least=0)]


@dataclass(frozen=True)
class ReadingSettings(Settings):
    """All choices up to the counts."""

    is_written: ClassVar[bool] = True

    tracks: Tracks = ""
    format: Format = ""
    columns: Annotated[
        str, Option("Of long tables: individual=who,x=east,y=north,frame=n.", Panel.FILES)
    ] = ""
    fps: Annotated[float, Option("Frames per second.", Panel.FILES)] = 0.0
    unit: Unit = ""
    keypoint: Annotated[str, Option("Of poses; else the centroid.", Panel.FILES)] = ""
    confidence: Annotated[
        float,
        Option("Places with a lower score count as not seen: poses, idTracker, TRex.", Panel.FILES),
    ] = 0.0
    drop_estimated: Annotated[
        bool,
        Option(
            "Places that the tracker estimated count as not seen.",
            Panel.FILES,
            switched_off="--keep-estimated",
        ),
    ] = False
    clock: Annotated[
        float, Option("Seconds between ticks, for animals out of step.", Panel.FILES)
    ] = 0.0
    sort: Annotated[bool, Option("Rows in any order.", Panel.FILES)] = False
    stream: Annotated[
        bool,
        Option("Count without reading it all at once.", Panel.STREAMS, switched_off="--whole"),
    ] = False
    parts: Annotated[
        str, Option("With --stream: files are cut by time, or are groups.", Panel.STREAMS)
    ] = ""
    every: Annotated[
        int,
        Option(
            "Keep every n-th frame; 0 chooses: of decisions all, unless errors of measurement "
            "show; of transitions so that angles move from bin to bin.",
            Panel.PREPARING,
            shown="0",
        ),
    ] = 0
    max_step: Annotated[
        float, Option("Fixes farther than this from their neighbours go.", Panel.PREPARING)
    ] = 0.0
    fill_gaps: Annotated[
        int, Option("Straight lines across gaps of at most n frames.", Panel.PREPARING)
    ] = 0
    smooth: Annotated[
        int, Option("Savitzky–Golay over n frames, an odd number.", Panel.PREPARING)
    ] = 0
    rescale: Annotated[
        str, Option("unit-square, or a factor and a unit, '0.05 cm'.", Panel.PREPARING)
    ] = ""
    drop: Annotated[str, Option("Animals to leave out, with commas.", Panel.PREPARING)] = ""
    landmarks: Annotated[
        str, Option("No members of the group, but possible targets.", Panel.PREPARING)
    ] = ""
    flip_y: Annotated[bool, Option("y counts downwards in the file.", Panel.PREPARING)] = False
    state: Annotated[
        str,
        Option("Features with commas between; see `shoal features`.", words=FEATURES, several=True),
    ] = "local"
    target: Annotated[
        str,
        Option(
            "X,Y (longitude,latitude where tracks have them); the name of an animal or landmark; "
            "or GROUP=X,Y;…"
        ),
    ] = ""
    arena: Annotated[str, Option("left,bottom,right,top or circle:x,y,radius.")] = ""
    lag: Annotated[int | str, Option("Frames between states, or auto.", Panel.HEADINGS)] = 1
    heading_frames: Annotated[
        int, Option("Frames over which a heading is taken.", Panel.HEADINGS)
    ] = 1
    minimum_step: Annotated[
        float,
        Option("Shorter steps are rest, and keep the heading.", Panel.HEADINGS, shown="0"),
    ] = 0.0
    tracker_headings: Annotated[
        bool,
        Option("Headings as the file has them.", Panel.HEADINGS, switched_off="--displacements"),
    ] = False
    cluster: Annotated[
        str,
        Option("With --stream: workers, or a Dask address tcp://…", Panel.STREAMS, last=True),
    ] = ""

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

    as_: Annotated[
        str,
        Option(
            "decisions (what each animal chose) or transitions (how observed states changed, as "
            "in the paper); auto: decisions, unless --passive, --lag, --discount, --method advi "
            "or --stream is given.",
            words=READ_AS,
        ),
    ] = "auto"
    moves: Annotated[
        str,
        Option(
            "Of decisions: turns (headings), steps (headings and lengths), with shapes of what "
            "animals do without preferences, turns:normals, steps:log-normal; auto: steps where "
            "there are distances, walls or speeds.",
            Panel.DECISIONS,
            words=MOVES,
        ),
    ] = "auto"
    others: Annotated[
        str,
        Option(
            "Of steps: others are seen still, or ahead where going straight on leads them; auto: "
            "what scores better on held-out decisions.",
            Panel.DECISIONS,
            words=OTHERS,
        ),
    ] = "auto"
    candidates: Annotated[
        int,
        Option(
            "Moves that stand for all an animal could have made; 0: 64, and more where costs need "
            "them.",
            Panel.DECISIONS,
            shown="0",
        ),
    ] = 0
    persistence: Annotated[
        str,
        Option(
            "How much of a turn is repeated in the next: none, a number, learned, or auto, from a "
            "quick fit where it shows that turns go on as they were.",
            Panel.DECISIONS,
            words=PERSISTENCES,
        ),
    ] = "auto"
    passive: Annotated[
        str,
        Option(
            "Of transitions: auto (scored on held-out tracks), turn-coupled, walk-mixture, "
            "uniform, uniform:area (for distances to a point), random-walk:SD (one, or one for "
            "each axis; without a number the paper's 90° and a quarter of the span of distances), "
            "random-walk:90:centre (from the centres of bins, as in the paper), "
            "turning-mixture:SD.",
            words=PASSIVE,
        ),
    ] = "auto"
    basis: Annotated[
        str,
        Option(
            "smooth[:order], flat (no costs), identity, bisquare[:resolutions], "
            "gaussian[:every], fourier[:order], von-mises; bisquare-planar and gaussian-planar as "
            "in the paper.",
            words=BASES,
        ),
    ] = "smooth"
    discount: Annotated[
        float, Option("Of transitions: how much later costs count, 1 at most.", Panel.INFERENCE)
    ] = 1.0
    method: Annotated[
        str,
        Option(
            "laplace, nuts, map, or advi (transitions only).",
            shown="laplace for decisions, nuts for transitions",
            words=FIT_METHODS,
        ),
    ] = "auto"
    chains: Chains = 4
    draws: Draws = 1000
    warmup: Annotated[int, Option("Of nuts.", Panel.INFERENCE)] = 500
    target_acceptance: Annotated[
        float,
        Option(
            "Of nuts; nearer to 1 where draws diverge.",
            Panel.INFERENCE,
            shown="0.95, or 0.8 where only costs are unknown",
        ),
    ] = 0.0
    seed: Seed = 1

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
            raise InputError(f"{moves} is about decisions, {other} is not: leave one of them out")

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
        said = {
            f"--moves {self.moves}": self.moves != "auto",
            f"--others {self.others}": self.others != "auto",
            f"--candidates {self.candidates}": self.candidates != 0,
            f"--persistence {self.persistence}": self.persistence != "auto",
        }
        return next((words for words, there in said.items() if there), "")

    @property
    def maybe_decisions(self) -> bool:
        """Whether tracks are read as decisions if their features can be decided on."""
        return self.as_ != "transitions" and not self.about_states()


@dataclass(frozen=True)
class CompareSettings(ReadingSettings):
    """All choices of ``shoal compare``."""

    command: ClassVar[str] = "compare"

    as_: Annotated[
        str,
        Option(
            "decisions (what animals chose), or transitions (states that were observed).",
            shown="decisions, unless a lag is given",
            words=READ_AS,
            older="read-as",
        ),
    ] = "auto"
    moves: Annotated[
        str,
        Option(
            "What an animal chooses: turns, steps or steps:ahead (others go straight on).",
            shown="turns for angles, else steps",
            words=COMPARED_MOVES,
        ),
    ] = "auto"
    split: Annotated[
        str,
        Option(
            "time:SHARE, group:SHARE or individual:SHARE to learn from; K-fold, K-fold:group, "
            "K-fold:individual; leave-one-group-out. Groups and animals are drawn by --seed, "
            "stratified by a covariate where one follows: group:0.7:sex.",
            words=SPLITS,
        ),
    ] = "time:2/3"
    held_out: Annotated[str, Option("Other tracks to score on, instead of a split.")] = ""
    method: Annotated[str, Option("laplace, map, advi or nuts.", words=METHODS)] = "laplace"
    draws: Draws = 250
    seed: Seed = 1
    workers: Annotated[
        int, Option("Processes that share the fits.", Panel.INFERENCE, shown="none")
    ] = 0

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

    fit: Annotated[
        str,
        Option("A fit whose model is to be tried; else --state and so on.", argument=True),
    ] = ""
    method: Annotated[str, Option("nuts, laplace, advi or map.", words=METHODS)] = "nuts"
    replicates: Annotated[int, Option("Data sets.")] = 100
    truth: Annotated[
        str,
        Option("prior: each data set has its own; fit: the mean costs of the fit.", words=TRUTHS),
    ] = "prior"
    groups: Annotated[int, Option("Of the design.", Panel.DESIGN)] = 1
    animals: Annotated[int, Option("In a group.", Panel.DESIGN)] = 10
    frames: Annotated[int, Option("That they are watched.", Panel.DESIGN)] = 100
    state: Annotated[str, Option("As in shoal fit.", Panel.MODEL, words=FEATURES, several=True)] = (
        "local"
    )
    target: Annotated[str, Option("As in shoal fit.", Panel.MODEL)] = "0,0"
    passive: Annotated[str, Option("As in shoal fit.", Panel.MODEL, words=PASSIVE)] = "random-walk"
    basis: Annotated[str, Option("As in shoal fit.", Panel.MODEL, words=BASES)] = "identity"
    discount: Annotated[float, Option("As in shoal fit.", Panel.MODEL)] = 1.0
    prior: Annotated[
        str,
        Option(
            "Shape and rate of the precision's Gamma prior, from which truths come.", Panel.MODEL
        ),
    ] = "5,5"
    chains: Chains = 4
    draws: Draws = 250
    seed: Seed = 1
    cluster: Annotated[
        str, Option("Worker processes, or a Dask address tcp://…", Panel.INFERENCE)
    ] = ""


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
