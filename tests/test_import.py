"""The surface: quick to import, complete, and nothing hidden behind it."""

import ast
import importlib
import pkgutil
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

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


def test_few_names_are_at_the_top_and_the_others_in_packages_that_need_no_import():
    assert len(shoal.__all__) <= 40
    code = "import shoal; shoal.states.Speed; shoal.paper.simulate_tank; shoal.lmdp.policy"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.strip() == ""


MOVED = [(name, package) for package, names in shoal._MOVED.items() for name in names]


@pytest.mark.parametrize(("name", "package"), MOVED)
def test_a_name_that_has_moved_can_still_be_had_and_says_where_it_is(name, package):
    place = importlib.import_module(f"shoal.{package}")
    assert name in place.__all__
    with pytest.warns(DeprecationWarning, match=rf"shoal\.{name} is now shoal\.{package}\.{name}"):
        assert getattr(shoal, name) is getattr(place, name)
    assert name not in dir(shoal)


def test_arrays_are_double_precision():
    space = shoal.StateSpace(shoal.Circular("a"))
    assert shoal.RandomWalk(90.0).on(space).dense().dtype == "float64"


def imported(source, modules):
    """The modules that a source imports, within functions too; not those of types alone."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = []
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module in modules:
            inner = {f"{node.module}.{name.name}" for name in node.names}
            found |= (inner & modules) or {node.module}
        elif isinstance(node, ast.Import):
            found |= {name.name for name in node.names} & modules
    return found


def test_no_module_needs_one_that_needs_it_not_even_within_a_function():
    places = {found.name: found for found in pkgutil.walk_packages(shoal.__path__, "shoal.")}
    needs = {}
    for name, found in places.items():
        source = Path(found.module_finder.find_spec(name).origin).read_text(encoding="utf-8")
        needs[name] = imported(source, set(places)) - {name}
    assert len(needs) > 100 and needs["shoal.posterior.model"] >= {"shoal.posterior.plan"}
    order = list(TopologicalSorter(needs).static_order())  # or a CycleError with their names
    assert set(order) == set(places)
