"""The README's way from nothing to a report, typed as it is written there."""

import os
import re
import subprocess
import sysconfig
import venv
from pathlib import Path

import pytest

from report_pages import SHARED, browsed, herd

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PARTS = ("pyproject.toml", "src", "README.md", "LICENSE", "docs")


def typed():
    """The commands, one a line."""
    text = (ROOT / "README.md").read_text()
    (block,) = re.findall(r"^```sh\n(pip install .*?)^```", text, re.DOTALL | re.MULTILINE)
    return block.strip().splitlines()


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A checkout with the file of tracks in it, and an environment that knows the dependencies."""
    folder = tmp_path_factory.mktemp("checkout")
    for part in PARTS:
        (folder / part).symlink_to(ROOT / part)
    real = SHARED / "sticklebacks5" / "fish-5.csv"
    if real.exists():
        (folder / "fish-5.csv").symlink_to(real)
    else:
        herd(1, 5, 1000, "fish").to_csv(folder / "fish-5.csv")
    venv.create(folder / "new", with_pip=True, symlinks=True)
    site = next((folder / "new" / "lib").glob("python*/site-packages"))
    (site / "known.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder


def test_three_commands_lead_to_an_opened_report(checkout, browser):
    lines = typed()
    assert len(lines) <= 3
    place = checkout / "new" / "bin"
    opened = checkout / "opened"
    (place / "www-browser").write_text(f'#!/bin/sh\necho "$1" > {opened}\n')
    (place / "www-browser").chmod(0o755)
    known = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    known |= {"PATH": f"{place}:{os.environ['PATH']}", "BROWSER": str(place / "www-browser")}
    for line in lines:
        done = subprocess.run(
            ["bash", "-c", line],
            cwd=checkout,
            env=known,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, (line, done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    page = checkout / "report.html"
    assert opened.read_text().strip() == page.as_uri()
    assert page.stat().st_size < 8_000_000
    with browsed(browser) as seen:
        seen.goto(page.as_uri())
        assert seen.locator(".headline").text_content().startswith(("These animals", "Whether"))
        assert seen.locator("#check-figure svg").count() > 5
        assert seen.wrong == []
