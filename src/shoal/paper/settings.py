"""The options of ``shoal demo`` and ``shoal reproduce``: each is written here alone."""

from dataclasses import dataclass
from typing import ClassVar

from shoal.errors import InputError
from shoal.workflows.options import Settings, option
from shoal.workflows.settings import SEED
from shoal.workflows.vocabulary import STUDIES


@dataclass(frozen=True)
class DemoSettings(Settings):
    """All choices of ``shoal demo``."""

    command: ClassVar[str] = "demo"

    seed: int = option(1, SEED, least=0, last=True)
    draws: int = option(1000, "Posterior draws per chain.", least=100)


@dataclass(frozen=True)
class ReproduceSettings(Settings):
    """Which sections, how thoroughly, and on whose fish: all choices of ``shoal reproduce``."""

    command: ClassVar[str] = "reproduce"

    study: str = option("all", "vicsek, guppies or all.", words=STUDIES, argument=True)
    quick: bool = option(False, "Short chains and few groups: some minutes.")
    data: str = option(
        "", "Real guppies: a folder or table of all experiments, or one of them.", path=True
    )
    target: str = option("", "X,Y: the shelter, in the coordinates of --data.")
    flip_y: bool = option(False, "y counts downwards in --data.")
    seed: int = option(1, SEED, least=0, last=True)

    def __post_init__(self) -> None:
        """Check the words before any work is done."""
        super().__post_init__()
        if self.study not in STUDIES:
            raise InputError(f"a study is one of {', '.join(STUDIES)}; got {self.study!r}")
        if not self.data and (self.target or self.flip_y):
            raise InputError("--target and --flip-y are about --data; the stand-in has its own")
        if self.data and self.study == "vicsek":
            raise InputError("--data is for the guppies: the flock is simulated")
