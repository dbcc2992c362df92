"""How long the README's three commands take a newcomer: an empty environment, no caches, one file.

    python bench/first_insight.py fish-5.csv

Each command is typed as the README has it, in a copy of the sources with the file in it. The
versions are those of constraints.txt.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tracks", type=Path)
    chosen = parser.parse_args()
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```sh\n(pip install .*?)^```", text, re.DOTALL | re.MULTILINE)
    with tempfile.TemporaryDirectory() as room:
        folder = Path(room) / "sources"
        shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(".*", "site", "demo", "build"))
        shutil.copy(chosen.tracks, folder / "fish-5.csv")
        venv.create(Path(room) / "new", with_pip=True)
        place = Path(room) / "new" / "bin"
        known = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
        known |= {
            "PATH": f"{place}:{os.environ['PATH']}",
            "HOME": room,
            "XDG_CACHE_HOME": f"{room}/cache",
            "PIP_CONSTRAINT": str(ROOT / "constraints.txt"),
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "BROWSER": "true",
        }
        total = 0.0
        for line in block.strip().splitlines():
            start = time.perf_counter()
            done = subprocess.run(
                ["bash", "-c", line],
                cwd=folder,
                env=known,
                capture_output=True,
                text=True,
                check=False,
            )
            took = time.perf_counter() - start
            total += took
            print(f"{took:7.1f} s  {line}", flush=True)
            if done.returncode:
                sys.exit(done.stdout[-2000:] + done.stderr[-2000:])
        size = (folder / "report.html").stat().st_size
        print(f"{total:7.1f} s  in all; the page has {size:,} bytes")
        print(done.stdout)


if __name__ == "__main__":
    main()
