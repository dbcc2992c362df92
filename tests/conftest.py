"""Shapes in signatures are executed: every call in the tests is checked against them."""

import os
import shutil
from pathlib import Path

import pytest
import xarray as xr
from hypothesis import settings
from jaxtyping import install_import_hook

settings.register_profile("shoal", deadline=None, derandomize=True, max_examples=15)
settings.load_profile("shoal")

install_import_hook("shoal", "typechecker.checked")

from examples import QUICKLY_COMPILED  # noqa: E402  (they import shoal, which is checked now)
from shoal.cli.compiling import keep_programs  # noqa: E402

os.environ.pop("JAX_COMPILATION_CACHE_DIR", None)  # ours is there instead
os.environ |= {
    "SHOAL_CACHE": str(Path(__file__).parents[1] / ".cache"),
    "XLA_FLAGS": QUICKLY_COMPILED,
}
"""Compiled programs are kept for the other files and for the commands that tests start."""

keep_programs(shortest=0.0)
xr.set_options(use_numbagg=False)  # which would compile every reduction, for many seconds

MAPS = Path("/proc/self/maps")
MOST_MAPS = 25_000
"""Compiled programs lie in mapped memory, of which Linux gives a process 65,530 pieces."""


@pytest.fixture(autouse=True, scope="module")
def room_for_programs():
    """Programs of earlier files are let go before there are too many of them."""
    yield
    if MAPS.exists() and MAPS.read_bytes().count(b"\n") > MOST_MAPS:
        import jax  # noqa: PLC0415  (loaded by then)

        jax.clear_caches()


@pytest.fixture(scope="module")
def browser():
    """Chromium without a window, for tests that look at pages."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415  (for few tests only)

    program = shutil.which("chromium") or shutil.which("chromium-browser")
    assert program, "these tests look at pages with Chromium: apt-get install chromium"
    with sync_playwright() as started:
        opened = started.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield opened
        opened.close()
