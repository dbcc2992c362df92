"""How soon shoal answers: its help, a completion, its import; and what kept programs save a fit.

Each figure is the median of ten processes (of three for the fits) started one after the other, with
everything in the system's file cache. ``--fits`` adds the fits, which take minutes.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

COMMAND = [sys.executable, "-c", "from shoal.cli.main import main; main()"]
FITS = {
    "map": "--state local:bins=18 --passive random-walk:40 --basis identity --method map",
    "laplace": "--state local:bins=18 --passive random-walk:40 --basis smooth --method laplace",
    "the defaults": "",
}


def seconds(command: Sequence[str], env: Mapping[str, str] | None = None) -> tuple[float, float]:
    """Until a process has ended, by the clock and of its processors."""
    begun, before = time.perf_counter(), os.times()
    done = subprocess.run(
        command, env=os.environ | (env or {}), capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    after = os.times()
    worked = after.children_user + after.children_system
    worked -= before.children_user + before.children_system
    return time.perf_counter() - begun, worked


def median(command: Sequence[str], times: int, env: Mapping[str, str] | None = None) -> float:
    seconds(command, env)  # the files are read
    return statistics.median(seconds(command, env)[0] for _ in range(times))


def tracks(path: Path) -> None:
    """Three groups of six animals that turn a little in every frame."""
    rng = np.random.default_rng(1)
    lines = ["group,individual,frame,x,y"]
    for group in range(3):
        heading = np.cumsum(rng.normal(0, 0.3, (120, 6)), axis=0)
        places = np.cumsum(np.stack([np.cos(heading), np.sin(heading)], axis=-1), axis=0)
        for frame, at in enumerate(places):
            lines += [f"{group},{i},{frame},{x:.4f},{y:.4f}" for i, (x, y) in enumerate(at)]
    path.write_text("\n".join(lines) + "\n")


def fits(folder: Path, names: Sequence[str] = tuple(FITS), times: int = 3) -> None:
    import shoal  # noqa: PLC0415

    tracks(folder / "fish.csv")
    for name in names:
        words = FITS[name].split()
        runs: dict[str, list[tuple[float, float]]] = {"without": [], "first": [], "again": []}
        for number in range(times):
            cache = str(folder / f"{name}{number}")
            for what, place in (("without", "off"), ("first", cache), ("again", cache)):
                out = folder / f"{name}-{what}.nc"
                line = ["fit", str(folder / "fish.csv"), *words, "--quiet", "--out", str(out)]
                runs[what].append(seconds([*COMMAND, *line], {"SHOAL_CACHE": place}))
        draws = [shoal.load_fit(folder / f"{name}-{what}.nc").sampled.values for what in runs]
        same = all(np.array_equal(draws[0], other) for other in draws[1:])
        told = {
            what: " / ".join(f"{statistics.median(one):.1f}" for one in zip(*own, strict=True))
            for what, own in runs.items()
        }
        found = ", ".join(f"{what} {words} s" for what, words in told.items())
        print(f"shoal fit, {name}, elapsed / worked: {found}; {'same' if same else 'OTHER'} draws")


def main() -> None:
    bare = median([sys.executable, "-c", "pass"], 10)
    print(f"python -c pass:      {bare:.3f} s")
    print(f"import shoal:        {median([sys.executable, '-c', 'import shoal'], 10):.3f} s  (0.2)")
    print(f"shoal --help:        {median([*COMMAND, '--help'], 10):.3f} s  (0.4)")
    print(f"shoal fit --help:    {median([*COMMAND, 'fit', '--help'], 10):.3f} s")
    words = {"_SHOAL_COMPLETE": "complete_bash", "COMP_CWORD": "3"}
    words["COMP_WORDS"] = "shoal fit --state lo"
    print(f"a completion:        {median(COMMAND, 10, words):.3f} s  (0.4)")
    if "--fits" in sys.argv:
        with tempfile.TemporaryDirectory() as folder:
            fits(Path(folder))


if __name__ == "__main__":
    main()
