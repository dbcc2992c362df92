"""Run the examples of a page, from top to bottom, in a folder of their own.

    python tools/examples.py docs/tour.md

Fenced blocks of ``python`` share one namespace, those of ``r`` one session of R; lines after ``$``
in ``console`` blocks go to a shell. Blocks of any other language are for reading. A page whose
front matter names ``files`` finds those of ``tools/samples.py`` in its folder. What a block prints
is returned; a warning or an error in any block ends the run with ``ExampleError``.
"""

import contextlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from shoal.cli.compiling import OLDER_WAY, keep_programs

ROOT = Path(__file__).parents[1]
FENCE = re.compile(r"^```(?P<language>\w*)[^\n]*\n(?P<code>.*?)^```[ ]*$", re.DOTALL | re.MULTILINE)
FRONT = re.compile(r"\A---\n(?P<words>.*?)\n---\n", re.DOTALL)
RUN = ("python", "console", "r")
END = "--- end of the block ---"

QUICKLY_COMPILED = f"{OLDER_WAY} --xla_cpu_parallel_codegen_split_count=1"
"""XLA's older way to make programs, in one thread: a third less work, and the same numbers."""


class ExampleError(Exception):
    """An example does not do what the page says: which one, and what went wrong."""


@dataclass(frozen=True)
class Block:
    """A fenced block of a page.

    Attributes
    ----------
    language, code, line
        What is written, and in which line of the page it begins.
    start, end
        Its place in the text of the page.
    output
        What it printed, once it was run; of a console, with the commands.
    """

    language: str
    code: str
    line: int
    start: int
    end: int
    output: str = ""


def blocks_of(text: str) -> list[Block]:
    """The fenced blocks that are run."""
    return [
        Block(
            found["language"],
            found["code"],
            text.count("\n", 0, found.start()) + 1,
            *found.span(),
        )
        for found in FENCE.finditer(text)
        if found["language"] in RUN
    ]


def files_of(text: str) -> list[str]:
    """The sample files that a page asks for in its front matter."""
    front = FRONT.match(text)
    named = re.search(r"^files: \[(.*)\]$", front["words"], re.MULTILINE) if front else None
    return [name.strip() for name in named[1].split(",")] if named else []


def run_page(page: Path, folder: Path) -> list[Block]:
    """The blocks of a page with what they print, each run in this folder after the one before."""
    done = []
    known: dict[str, Any] = {"__name__": "__main__"}
    with contextlib.chdir(folder), _r_session() as r:
        for block in blocks_of(page.read_text()):
            where = f"{page.name}, line {block.line}"
            if block.language == "python":
                output = _python(block.code, known, where)
            elif block.language == "console":
                output = "".join(_command(line, where) for line in _commands(block.code, where))
            else:
                output = r.run(block.code, where)
            here = f"{folder.resolve()}{os.sep}"
            done.append(replace(block, output=output.replace(here, "")))
    return done


def _python(code: str, known: dict[str, Any], where: str) -> str:
    printed = io.StringIO()
    with warnings.catch_warnings(), contextlib.redirect_stdout(printed):
        warnings.simplefilter("error")
        try:
            exec(compile(code, where, "exec"), known)
        except BaseException as error:
            raise ExampleError(f"{where}:\n{traceback.format_exc()}") from error
    return printed.getvalue()


def _commands(code: str, where: str) -> list[str]:
    """The lines after $, each with those that a backslash carries it on to."""
    lines = code.replace("\\\n", "\\\0").splitlines()
    if not all(line.startswith("$ ") for line in lines):
        raise ExampleError(f"{where}: a console block has lines that do not begin with $")
    return [line.removeprefix("$ ").replace("\0", "\n") for line in lines]


def _command(command: str, where: str) -> str:
    said = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        check=False,
    )
    if said.returncode:
        raise ExampleError(f"{where}: {command}\nexit status {said.returncode}\n{said.stdout}")
    lines = [line.rstrip() for line in said.stdout.splitlines()]
    return "\n".join([f"$ {command}", *lines]).rstrip() + "\n\n"


@dataclass
class _R:
    """A session of R, begun when the first block needs it."""

    process: "subprocess.Popen[str] | None" = None

    def run(self, code: str, where: str) -> str:
        if self.process is None:
            self.process = subprocess.Popen(
                ["R", "--no-echo", "--vanilla"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            self._send("options(warn = 2, width = 80)\n")
        self._send(f'{code}\ncat("\\n{END}\\n")\n')
        lines: list[str] = []
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.rstrip("\n") == END:
                return "".join(lines).rstrip("\n") + "\n" if "".join(lines).strip() else ""
            lines.append(line)
        raise ExampleError(f"{where}:\n{''.join(lines)}")

    def _send(self, code: str) -> None:
        assert self.process is not None and self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # what R said last is read and told
            self.process.stdin.write(code)
            self.process.stdin.flush()


@contextlib.contextmanager
def _r_session() -> Iterator[_R]:
    session = _R()
    try:
        yield session
    finally:
        if session.process is not None:
            session.process.communicate()


def environment() -> dict[str, str]:
    """Where examples run: our programs first, on the CPU, with no colour and a steady width.

    What was compiled for tests, or for another page, is not compiled again.
    """
    kept = {name: word for name, word in os.environ.items() if name != "JAX_COMPILATION_CACHE_DIR"}
    return kept | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}",
        "RETICULATE_PYTHON": sys.executable,
        "MPLBACKEND": "agg",
        "JAX_PLATFORMS": "cpu",
        "SHOAL_CACHE": str(ROOT / ".cache"),
        "XLA_FLAGS": QUICKLY_COMPILED,
        "COLUMNS": "78",
        "NO_COLOR": "1",
    }


def run_apart(page: Path, folder: Path) -> list[Block]:
    """As ``run_page``, in a process of its own."""
    result = folder.with_suffix(".json")
    said = subprocess.run(
        [sys.executable, __file__, str(page), str(folder), str(result)],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if said.returncode:
        raise ExampleError(said.stdout)
    return [
        replace(block, output=output)
        for block, output in zip(
            blocks_of(page.read_text()), json.loads(result.read_text()), strict=True
        )
    ]


def main(words: list[str]) -> None:
    """Run one page and print, or write as JSON, what its blocks print."""
    page = Path(words[0]).resolve()
    if len(words) == 3:
        folder, result = map(Path, words[1:])
        keep_programs(shortest=0.0)
        try:
            done = run_page(page, folder)
        except ExampleError as error:
            sys.exit(str(error))
        result.write_text(json.dumps([block.output for block in done]))
        return
    from samples import put_samples  # noqa: PLC0415  (only here)

    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "page")
        folder.mkdir()
        put_samples(files_of(page.read_text()), folder)
        for block in run_apart(page, folder):
            print(f"--- line {block.line}\n{block.output}")


if __name__ == "__main__":
    main(sys.argv[1:])
