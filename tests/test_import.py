"""The surface: quick to import, complete, and nothing hidden behind it."""

import subprocess
import sys

import pytest

import shoal


@pytest.mark.parametrize("action", ["import shoal", "from shoal.cli.main import app"])
def test_neither_import_nor_help_loads_jax(action):
    code = f"{action}; import sys; heavy = {{'jax', 'xarray', 'scipy', 'matplotlib', 'numpy'}}; "
    code += "sys.exit(', '.join(heavy & set(sys.modules)) or None)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.strip() == ""
    assert done.returncode == 0


def test_every_public_name_can_be_had_and_is_listed():
    for name in shoal.__all__:
        assert getattr(shoal, name) is not None
        assert name in dir(shoal)
    with pytest.raises(AttributeError, match="no attribute 'walrus'"):
        shoal.walrus  # noqa: B018


def test_arrays_are_double_precision():
    space = shoal.StateSpace(shoal.Circular("a"))
    assert shoal.RandomWalk(90.0).on(space).dense().dtype == "float64"
