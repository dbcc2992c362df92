"""The options of ``shoal demo`` and ``shoal reproduce``: each is written here alone."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from shoal.errors import InputError
from shoal.workflows.options import Option, Settings
from shoal.workflows.settings import SAME
from shoal.workflows.vocabulary import STUDIES

Seed = Annotated[int, Option(SAME, least=0, last=True)]


@dataclass(frozen=True)
class DemoSettings(Settings):
    """All choices of ``shoal demo``."""

    command: ClassVar[str] = "demo"

    seed: Seed = 1
    draws: Annotated[int, Option("Posterior draws per chain.", least=100)] = 1000


@dataclass(frozen=True)
class ReproduceSettings(Settings):
    """Which sections, how thoroughly, and on whose fish: all choices of ``shoal reproduce``."""

    command: ClassVar[str] = "reproduce"

    study: Annotated[str, Option("vicsek, guppies or all.", words=STUDIES, argument=True)] = "all"
    quick: Annotated[bool, Option("Short chains and few groups: some minutes.")] = False
    data: Annotated[
        str, Option("Real guppies: a folder or table of all experiments, or one of them.")
    ] = ""
    target: Annotated[str, Option("X,Y: the shelter, in the coordinates of --data.")] = ""
    flip_y: Annotated[bool, Option("y counts downwards in --data.")] = False
    seed: Seed = 1

    def __post_init__(self) -> None:
        """Check the words before any work is done."""
        super().__post_init__()
        if self.study not in STUDIES:
            raise InputError(f"a study is one of {', '.join(STUDIES)}; got {self.study!r}")
        if not self.data and (self.target or self.flip_y):
            raise InputError("--target and --flip-y are about --data; the stand-in has its own")
        if self.data and self.study == "vicsek":
            raise InputError("--data is for the guppies: the flock is simulated")
