"""What can be chosen for simulations, checks and films, on the command line or in a TOML file."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar

from shoal.errors import InputError
from shoal.workflows.settings import Choices, toml_of


@dataclass(frozen=True)
class MovingChoices(Choices):
    """What simulations and predictive checks have in common."""

    fit: str = ""
    fit_config: str = ""
    tracks: str = ""
    group: str = ""
    speed: str = ""
    arena: str = ""
    walls: str = "reflect"
    stop: str = ""
    target: str = ""
    reach: float | None = None
    seed: int = 1

    def __post_init__(self) -> None:
        """A fit is needed, from the line or from the file."""
        if not self.fit:
            raise InputError("which fit? name one that shoal wrote, such as fit.nc")

    def settings(self) -> dict[str, Any]:
        """What the simulation itself takes."""
        films = ("video", "beside", "inset", "video_speed")
        said = {one.name: getattr(self, one.name) for one in fields(self) if one.name not in films}
        return said | {"fit": Path(self.fit)}


@dataclass(frozen=True)
class SimulateChoices(MovingChoices):
    """Of ``shoal simulate``."""

    command: ClassVar[str] = "simulate"
    steps: int | None = None
    rule: str = "stochastic"
    draws: str = "mean"
    replicates: int | None = None
    release: str = ""
    fps: float | None = None
    # the film
    video: str = ""
    beside: str = ""
    inset: bool = False
    video_speed: float = 1.0


@dataclass(frozen=True)
class PredictChoices(MovingChoices):
    """Of ``shoal predict``."""

    command: ClassVar[str] = "predict"
    replicates: int | None = None
    draws: str = "each"


@dataclass(frozen=True)
class ReportChoices(PredictChoices):
    """Of ``shoal report``."""

    command: ClassVar[str] = "report"


@dataclass(frozen=True)
class ExploreChoices(MovingChoices):
    """Of ``shoal explore``."""

    command: ClassVar[str] = "explore"
    against: str = ""
    port: int = 0

    def settings(self) -> dict[str, Any]:
        """What the simulation itself takes."""
        known = super().settings()
        return {name: known[name] for name in known if name not in ("against", "port")}


@dataclass(frozen=True)
class AnimateChoices(Choices):
    """Of ``shoal animate``."""

    command: ClassVar[str] = "animate"
    tracks: str = ""
    group: str = ""
    target: str = ""
    landmarks: str = ""
    tail: int | None = None
    speed: float = 1.0
    every: int = 1
    format: str = ""
    fps: float | None = None
    unit: str = ""

    def __post_init__(self) -> None:
        """Tracks are needed, from the line or from the file."""
        if not self.tracks:
            raise InputError("which tracks? give a file, a folder or a pattern")
        if self.every < 1:
            raise InputError(f"every n-th frame: n is 1 or more, got {self.every}")


def of_a_fit(path: Path) -> bool:
    """Whether a TOML file is the one that ``shoal fit`` wrote, also before it said so."""
    content = toml_of(path)
    return bool(content.get("command", "fit" if "state" in content else "") == "fit")
