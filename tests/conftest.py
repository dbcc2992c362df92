"""Shapes in signatures are executed: every call in the tests is checked against them."""

import ctypes
import gc
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
from registries import MORE_PASSIVES, PASSIVES  # noqa: E402
from shoal.cli.compiling import keep_programs  # noqa: E402

os.environ.pop("JAX_COMPILATION_CACHE_DIR", None)  # ours is there instead
os.environ |= {
    "SHOAL_CACHE": str(Path(__file__).parents[1] / ".cache"),
    "XLA_FLAGS": QUICKLY_COMPILED,
}
"""Compiled programs are kept for the other files and for the commands that tests start."""

keep_programs(shortest=0.0)
xr.set_options(use_numbagg=False)  # which would compile every reduction, for many seconds


def pytest_collection_modifyitems(items):
    """Files with slow tests come first, so that workers end at about the same time."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


MAPS, PAGES = Path("/proc/self/maps"), Path("/proc/self/statm")
MOST_MAPS = 25_000
"""Compiled programs lie in mapped memory, of which Linux gives a process 65,530 pieces."""
MOST_MEMORY = 1.3e9
"""Bytes. A program takes more than one megabyte, and a worker stays below two gigabytes."""


def memory() -> int:
    """Bytes that this process has in memory; 0 where the system does not say so."""
    return int(PAGES.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") if PAGES.exists() else 0


def forget_programs() -> None:
    """Forget compiled programs, and give the system the memory they took."""
    import jax  # noqa: PLC0415  (loaded by then)

    jax.clear_caches()
    gc.collect()
    if hasattr(libc := ctypes.CDLL(None), "malloc_trim"):
        libc.malloc_trim(0)


@pytest.fixture(autouse=True)
def room_for_programs():
    """Programs of earlier tests are forgotten before they take too much memory."""
    yield
    if memory() > MOST_MEMORY:
        forget_programs()


@pytest.fixture(autouse=True, scope="module")
def room_for_maps():
    """Programs of earlier files are forgotten before there are too many pieces of memory."""
    yield
    if MAPS.exists() and MAPS.read_bytes().count(b"\n") > MOST_MAPS:
        forget_programs()


@pytest.fixture(scope="module")
def passive(request):
    """Passive dynamics of the registries by their name; tests of the same ones run together."""
    return (PASSIVES if request.param in PASSIVES else MORE_PASSIVES)[request.param]


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
