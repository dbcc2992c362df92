"""What is left when a run is killed, or the disk is full.

    python bench/survival.py kill [--times 20]
    python bench/survival.py disk FOLDER

kill: a fit by NUTS is killed (kill -9) at random moments, each time from the beginning, and then
resumed; the draws must equal those of an uninterrupted run bit for bit. disk: FOLDER lies on a
small disk of its own, such as a tmpfs of 6 MB; a fit there runs out of room, and nothing that was
saved is lost.
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import shoal

COMMAND = (sys.executable, "-c", "from shoal.cli.main import main; main()")


def tracks(place: Path) -> Path:
    """Eight animals that wander."""
    rng = np.random.default_rng(1)
    heading = np.cumsum(rng.normal(0, 0.5, (200, 8)), axis=0)
    step = np.stack([np.cos(heading), np.sin(heading)], axis=-1)
    herd = shoal.Tracks.from_arrays(50 + np.cumsum(step, axis=0), fps=10.0)
    return Path(herd.to_csv(place / "tracks.csv"))


def fit(source: Path, out: Path, *more: str) -> subprocess.Popen[str]:
    words = ("fit", str(source), "--state", "local:bins=12,target:bins=12", "--target", "50,50")
    model = ("--passive", "random-walk:60", "--basis", "identity", "--draws", "3000", "--fps", "10")
    return subprocess.Popen(
        [*COMMAND, *words, *model, "--out", str(out), *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def draws(path: Path) -> Any:
    found = shoal.load_fit(path)
    stats = found.data["sample_stats"].to_dataset()
    return [found.sampled.values, *(stats[name].values for name in sorted(map(str, stats)))]


def kill(times: int) -> None:
    rng = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        source = tracks(place)
        whole = place / "whole.nc"
        begun = time.perf_counter()
        run = fit(source, whole)
        out, err = run.communicate()
        if run.returncode:
            raise SystemExit(out + err)
        seconds = time.perf_counter() - begun
        wanted, same = draws(whole), 0
        number = 0
        while number < times:
            part = place / f"part{number}.nc"
            moment = rng.uniform(0.1, 1.0) * seconds
            run = fit(source, part)
            time.sleep(moment)
            if run.poll() is not None:  # it was done before: another moment
                part.unlink()
                continue
            run.send_signal(signal.SIGKILL)
            run.communicate()
            kept = len(list(place.glob(f"part{number}.nc.partial/draws-*")))
            begun = time.perf_counter()
            again = fit(source, part, "--resume")
            _, err = again.communicate()
            equal = again.returncode == 0 and all(
                np.array_equal(a, b) for a, b in zip(wanted, draws(part), strict=True)
            )
            same += equal
            left = sorted(path.name for path in place.glob(f"part{number}.nc.partial"))
            print(
                f"{number:3d}  killed after {moment:5.1f} of {seconds:.1f} s, {kept} parts of "
                f"draws kept; resumed in {time.perf_counter() - begun:.1f} s; identical: {equal}"
                f"{'; left: ' + ', '.join(left) if left else ''} {err.strip()[:80]}",
                flush=True,
            )
            number += 1
    print(f"{same} of {times} byte-identical")


def disk(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as name:
        source = tracks(Path(name))
        before = folder / "fit.nc"
        before.write_bytes(b"an earlier result")
        run = fit(source, before)
        _, err = run.communicate()
        free = shutil.disk_usage(folder).free
        print(f"exit status {run.returncode}, {free} bytes left: {err.strip()}")
        print(f"the earlier result is intact: {before.read_bytes() == b'an earlier result'}")
        kept = sorted((folder / "fit.nc.partial").glob("*.part"))
        print(f"{len(kept)} parts kept, half-written files: {hidden(folder)}")
        roomy = Path(name) / "fit.nc"
        shutil.copytree(folder / "fit.nc.partial", Path(name) / "fit.nc.partial")
        run = fit(source, roomy, "--resume")
        _, err = run.communicate()
        whole = Path(name) / "whole.nc"
        fit(source, whole).communicate()
        equal = all(np.array_equal(a, b) for a, b in zip(draws(whole), draws(roomy), strict=True))
        print(f"resumed where there is room: exit {run.returncode}, identical: {equal} {err}")


def hidden(folder: Path) -> list[str]:
    return [name for _, _, names in os.walk(folder) for name in names if name.startswith(".")]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("kill", "disk"))
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--times", type=int, default=20)
    chosen = parser.parse_args()
    if chosen.what == "kill":
        kill(chosen.times)
    else:
        disk(chosen.folder)
