"""Build the wheel and the sdist, byte for byte the same whenever and wherever it is done.

    python tools/packing.py [FOLDER]

Files in both are dated by SOURCE_DATE_EPOCH: by default the time of the last commit.
"""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder

ROOT = Path(__file__).parents[1]

OLDEST = 315_532_800
"""1980, the first year that a zip archive can hold: the date where there is no commit."""


def commit_time() -> str:
    """Seconds since 1970 of the last commit."""
    done = subprocess.run(
        ["git", "-C", str(ROOT), "log", "-1", "--format=%ct"],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.strip() or str(OLDEST)


def build(source: Path, folder: Path) -> dict[str, str]:
    """Make both in a folder; the SHA-256 of each by its name."""
    os.environ.setdefault("SOURCE_DATE_EPOCH", commit_time())
    sums = {}
    for builder in (WheelBuilder, SdistBuilder):
        for made in builder(str(source)).build(directory=str(folder), versions=["standard"]):
            path = Path(made)
            sums[path.name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return sums


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "dist"
    for name, digest in build(ROOT, target).items():
        print(f"{digest}  {name}")
