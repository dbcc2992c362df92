"""Shapes in signatures are executed: every call in the tests is checked against them."""

from pathlib import Path

import pytest
from hypothesis import settings
from jaxtyping import install_import_hook

settings.register_profile("shoal", deadline=None, derandomize=True, max_examples=25)
settings.load_profile("shoal")

install_import_hook("shoal", "typechecker.checked")

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
