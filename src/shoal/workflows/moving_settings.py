"""The options of commands about groups in motion: each is written here alone."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, ClassVar

from shoal.errors import InputError
from shoal.workflows.options import Option, Panel, Settings, toml_of
from shoal.workflows.settings import SAME, Format, Tracks, Unit
from shoal.workflows.vocabulary import DRAWS, PANELS, RULES, SPEEDS, STOPS, WALLS

ABOUT_200 = "200, fewer for large groups"


@dataclass(frozen=True)
class MovingSettings(Settings):
    """What all commands about groups in motion have in common."""

    about_file: ClassVar[str] = "A TOML file of choices; the TOML file of a fit will do, too."

    fit: Annotated[str, Option("A fit written by shoal, such as fit.nc.", argument=True)] = ""
    seed: Annotated[int, Option(SAME, least=0, last=True)] = 1
    tracks: Annotated[
        str, Option("Tracks to start from; else those the fit was made from.", Panel.START)
    ] = ""
    fit_config: Annotated[
        str, Option("The TOML file of the fit; else the one beside it.", Panel.START)
    ] = ""
    group: Annotated[str, Option("Only this group; else all.", Panel.START)] = ""
    speed: Annotated[
        str,
        Option(
            "A number per second, constant, observed or gamma.",
            Panel.WORLD,
            shown="observed",
            words=SPEEDS,
        ),
    ] = ""
    arena: Annotated[
        str,
        Option(
            "left,bottom,right,top; circle:x,y,radius; periodic:left,bottom,right,top; hull: the "
            "rectangle around the tracks; auto: that, unless they travel; none.",
            Panel.WORLD,
            shown="that of the tracks; without one, none for simulate, else auto",
        ),
    ] = ""
    walls: Annotated[str, Option("reflect or slide.", Panel.WORLD, words=WALLS)] = "reflect"
    stop: Annotated[
        str, Option("End when one, or all, are at the target.", Panel.WORLD, words=STOPS)
    ] = ""
    target: Annotated[
        str,
        Option("Of --stop: X,Y or GROUP=X,Y;…", Panel.WORLD, shown="that of the fit"),
    ] = ""
    reach: Annotated[
        float | None,
        Option("How near is there.", Panel.WORLD, shown="as near as one came"),
    ] = None

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

    steps: Annotated[
        int | None, Option("Frames after the start.", shown="as many as the tracks have")
    ] = None
    rule: Annotated[str, Option("stochastic, least-cost or passive.", words=RULES)] = "stochastic"
    draws: Annotated[
        str, Option("mean, or each: a posterior draw for every group.", words=DRAWS)
    ] = "mean"
    replicates: Annotated[int | None, Option("Groups from each start.", shown="1")] = None
    release: Annotated[
        str,
        Option("Instead of tracks: ANIMALS:X,Y:SPREAD, such as 10:0.9,0.1:0.05.", Panel.START),
    ] = ""
    fps: Annotated[float | None, Option("Of a release.", Panel.START)] = None
    video: Annotated[str, Option("Also a video of the first group: .mp4 or .gif.", Panel.FILM)] = ""
    beside: Annotated[
        str,
        Option(
            "In the video: observed, stochastic, least-cost, passive.",
            Panel.FILM,
            words=PANELS,
            several=True,
        ),
    ] = ""
    inset: Annotated[
        bool, Option("In the video: the state of one animal on the costs.", Panel.FILM)
    ] = False
    video_speed: Annotated[float, Option("Times faster than life.", Panel.FILM)] = 1.0


@dataclass(frozen=True)
class PredictSettings(MovingSettings):
    """All choices of ``shoal predict``."""

    command: ClassVar[str] = "predict"

    replicates: Annotated[int | None, Option("Of the whole design.", shown=ABOUT_200, least=40)] = (
        None
    )
    draws: Annotated[
        str, Option("each: a posterior draw for every replicate, or mean.", words=DRAWS)
    ] = "each"


@dataclass(frozen=True)
class ReportSettings(PredictSettings):
    """All choices of ``shoal report``."""

    command: ClassVar[str] = "report"

    replicates: Annotated[
        int | None,
        Option("Of the predictive check, 40 or more; 0 leaves it out.", shown=ABOUT_200, least=0),
    ] = None


@dataclass(frozen=True)
class ExploreSettings(MovingSettings):
    """All choices of ``shoal explore``."""

    command: ClassVar[str] = "explore"

    against: Annotated[str, Option("Another fit, to compare with.")] = ""
    port: Annotated[int, Option("On 127.0.0.1.", shown="any free one", least=0, most=65535)] = 0


@dataclass(frozen=True)
class AnimateSettings(Settings):
    """All choices of ``shoal animate``."""

    command: ClassVar[str] = "animate"

    tracks: Tracks = ""
    group: Annotated[str, Option("Which group.", shown="the first")] = ""
    target: Annotated[str, Option("A point to mark: X,Y, or longitude,latitude.")] = ""
    landmarks: Annotated[str, Option("No members of the group.")] = ""
    tail: Annotated[int | None, Option("Frames that tails go back.")] = None
    speed: Annotated[float, Option("Times faster than life.")] = 1.0
    every: Annotated[int, Option("Show every n-th frame.", least=1)] = 1
    format: Format = ""
    fps: Annotated[float | None, Option("Frames per second.", Panel.FILES)] = None
    unit: Unit = ""

    def __post_init__(self) -> None:
        """Tracks are needed, from the line or from the file."""
        super().__post_init__()
        if not self.tracks:
            raise InputError("which tracks? give a file, a folder or a pattern")


def _is_of_a_fit(path: Path) -> bool:
    """Whether a TOML file is the one that ``shoal fit`` wrote, also before it said so."""
    content = toml_of(path)
    return bool(content.get("command", "fit" if "state" in content else "") == "fit")
