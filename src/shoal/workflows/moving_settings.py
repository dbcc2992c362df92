"""The options of commands about groups in motion: each is written here alone."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar

from shoal.errors import InputError
from shoal.workflows.options import Panel, Settings, option, toml_of
from shoal.workflows.settings import FORMAT, FORMAT_WORDS, SEED, TRACKS
from shoal.workflows.vocabulary import DRAWS, PANELS, RULES, SPEEDS, STOPS, WALLS

ABOUT_200 = "200, fewer for large groups"


@dataclass(frozen=True)
class MovingSettings(Settings):
    """What all commands about groups in motion have in common."""

    about_file: ClassVar[str] = "A TOML file of choices; the TOML file of a fit will do, too."

    fit: str = option("", "A fit written by shoal, such as fit.nc.", argument=True, path=True)
    seed: int = option(1, SEED, least=0, last=True)
    tracks: str = option(
        "", "Tracks to start from; else those the fit was made from.", Panel.START, path=True
    )
    fit_config: str = option(
        "", "The TOML file of the fit; else the one beside it.", Panel.START, path=True
    )
    group: str = option("", "Only this group; else all.", Panel.START)
    speed: str = option(
        "",
        "A number per second, constant, observed or gamma.",
        Panel.WORLD,
        shown="observed",
        words=SPEEDS,
    )
    arena: str = option(
        "",
        "left,bottom,right,top; circle:x,y,radius; periodic:left,bottom,right,top; hull: the "
        "rectangle around the tracks; auto: that, unless they travel; none.",
        Panel.WORLD,
        shown="that of the tracks; without one, none for simulate, else auto",
    )
    walls: str = option("reflect", "reflect or slide.", Panel.WORLD, words=WALLS)
    stop: str = option("", "End when one, or all, are at the target.", Panel.WORLD, words=STOPS)
    target: str = option(
        "", "The target of --stop: X,Y or GROUP=X,Y;…", Panel.WORLD, shown="that of the fit"
    )
    reach: float | None = option(
        None, "How near counts as arrived.", Panel.WORLD, shown="as near as one came"
    )

    def __post_init__(self) -> None:
        """A fit is needed, from the line or from the file."""
        super().__post_init__()
        if not self.fit:
            raise InputError("which fit? name one that shoal wrote, such as fit.nc")

    @classmethod
    def from_toml(cls, path: Path) -> dict[str, Any]:
        """The values in a file; the file of a fit says how the fit was made."""
        return {"fit_config": str(path)} if _is_of_a_fit(path) else super().from_toml(path)

    def common(self) -> dict[str, Any]:
        """The values of the options that all these commands have."""
        return {field.name: getattr(self, field.name) for field in fields(MovingSettings)}


@dataclass(frozen=True)
class SimulateSettings(MovingSettings):
    """All choices of ``shoal simulate``."""

    command: ClassVar[str] = "simulate"

    steps: int | None = option(None, "Frames after the start.", shown="as many as the tracks have")
    rule: str = option("stochastic", "stochastic, least-cost or passive.", words=RULES)
    draws: str = option("mean", "mean, or each: a posterior draw for every group.", words=DRAWS)
    replicates: int | None = option(None, "Groups from each start.", shown="1")
    release: str = option(
        "", "Instead of tracks: ANIMALS:X,Y:SPREAD, such as 10:0.9,0.1:0.05.", Panel.START
    )
    fps: float | None = option(None, "Frames per second of a release.", Panel.START)
    video: str = option("", "Also a video of the first group: .mp4 or .gif.", Panel.FILM, path=True)
    beside: str = option(
        "",
        "In the video: observed, stochastic, least-cost, passive.",
        Panel.FILM,
        words=PANELS,
        several=True,
    )
    inset: bool = option(False, "In the video: the state of one animal on the costs.", Panel.FILM)
    video_speed: float = option(1.0, "Times faster than life.", Panel.FILM)


@dataclass(frozen=True)
class PredictSettings(MovingSettings):
    """All choices of ``shoal predict``."""

    command: ClassVar[str] = "predict"

    replicates: int | None = option(
        None, "Number of simulated data sets.", shown=ABOUT_200, least=40
    )
    draws: str = option("each", "each: a posterior draw for every replicate, or mean.", words=DRAWS)


@dataclass(frozen=True)
class ReportSettings(PredictSettings):
    """All choices of ``shoal report``."""

    command: ClassVar[str] = "report"

    replicates: int | None = option(
        None, "Of the predictive check, 40 or more; 0: no check.", shown=ABOUT_200, least=0
    )


@dataclass(frozen=True)
class ExploreSettings(MovingSettings):
    """All choices of ``shoal explore``."""

    command: ClassVar[str] = "explore"

    against: str = option("", "Another fit, to compare with.", path=True)
    port: int = option(0, "Port on 127.0.0.1.", shown="any free one", least=0, most=65535)


@dataclass(frozen=True)
class AnimateSettings(Settings):
    """All choices of ``shoal animate``."""

    command: ClassVar[str] = "animate"

    tracks: str = option("", TRACKS, argument=True, path=True)
    group: str = option("", "Which group.", shown="the first")
    target: str = option("", "A point to mark: X,Y, or longitude,latitude.")
    landmarks: str = option("", "Not members of the group; with commas.")
    tail: int | None = option(None, "Frames that tails go back.")
    speed: float = option(1.0, "Times faster than life.")
    every: int = option(1, "Show every n-th frame.", least=1)
    format: str = option("", FORMAT, Panel.FILES, words=FORMAT_WORDS)
    fps: float | None = option(None, "Frames per second.", Panel.FILES)
    unit: str = option("", "Unit of lengths, such as cm.", Panel.FILES)

    def __post_init__(self) -> None:
        """Tracks are needed, from the line or from the file."""
        super().__post_init__()
        if not self.tracks:
            raise InputError("which tracks? give a file, a folder or a pattern")


def _is_of_a_fit(path: Path) -> bool:
    """Whether a TOML file is the one that ``shoal fit`` wrote, also before it said so."""
    content = toml_of(path)
    return bool(content.get("command", "fit" if "state" in content else "") == "fit")
