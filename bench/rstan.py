"""R with rstan as a process that answers requests; arrays travel as text files."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent / "stan"


class StanError(Exception):
    """R could not do what was asked."""


class NoStanError(StanError):
    """R or rstan is not there."""


def write_array(path: Path, values: Any) -> None:
    """As text: the number of axes, their lengths, all values with the first axis fastest."""
    array = np.asarray(values)
    with path.open("w") as file:
        file.write(" ".join(map(str, (array.ndim, *array.shape))) + "\n")
        np.savetxt(file, array.ravel(order="F"), fmt="%.17g")


def read_array(path: Path) -> np.ndarray:
    """What ``write_array``, or R, wrote."""
    with path.open() as file:
        _, *shape = map(int, file.readline().split())
        return np.loadtxt(file).reshape(shape, order="F")


class Stan:
    """An R process with rstan, which does one thing after another."""

    def __init__(self, rscript: str, log: Path) -> None:
        self.log = log
        self.process = subprocess.Popen(
            [rscript, "--vanilla", str(HERE / "run.R"), str(HERE)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log.open("w"),
            text=True,
        )
        first = self._answer()
        if first == ["missing"]:
            raise NoStanError("R has no package rstan: install it (on Debian: r-cran-rstan)")
        self.version = first[1]
        self.compile_seconds: dict[str, float] = {}

    def ask(self, *words: object) -> dict[str, float]:
        """The numbers that R answers with."""
        assert self.process.stdin is not None
        with suppress(BrokenPipeError):  # where R has ended, its answer says so
            self.process.stdin.write(" ".join(map(str, words)) + "\n")
            self.process.stdin.flush()
        answer = self._answer()
        return dict(zip(answer[::2], map(float, answer[1::2]), strict=True))

    def compile(self, program: str) -> None:
        """Compile a program, once."""
        if program not in self.compile_seconds:
            self.compile_seconds[program] = self.ask("compile", program)["seconds"]
            print(f"{program}.stan compiled in {self.compile_seconds[program]:.1f} s", flush=True)

    def _answer(self) -> list[str]:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith("@ error"):
                raise StanError(f"rstan failed: {line[8:].strip()}")
            if line.startswith("@"):
                return line[1:].split()
        last = (self.log.read_text().strip() or "it said nothing").splitlines()[-1]
        raise StanError(f"R ended before its work was done: {last}")


@contextmanager
def stan_in(folder: Path) -> Iterator[Stan]:
    """A Stan that ends with the block."""
    rscript = shutil.which("Rscript")
    if rscript is None:
        raise NoStanError("Rscript was not found: install R and its package rstan")
    stan = Stan(rscript, folder / "r.log")
    try:
        yield stan
    finally:
        stan.process.kill()
        stan.process.wait()
