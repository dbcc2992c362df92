"""No module of tracks imports one that imports it back, at the top or inside a function."""

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import shoal

SOURCE = Path(shoal.__file__).parents[1]


def imports_of(path, names):
    """The modules that a file imports, those for type checks left out."""
    tree = ast.parse(path.read_text())
    checks = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for part in ast.walk(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and id(node) not in checks:
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield full if full in names else node.module


def graph(package):
    paths = (SOURCE / "shoal" / package).rglob("*.py")
    names = {
        ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__"): path
        for path in paths
    }
    return {
        name: {found for found in imports_of(path, names) if found in names and found != name}
        for name, path in names.items()
    }


@pytest.mark.parametrize("package", ["tracks"])
def test_modules_do_not_import_each_other_in_circles(package):
    modules = graph(package)
    assert modules[f"shoal.{package}.record"] > {f"shoal.{package}.preparing"}
    TopologicalSorter(modules).prepare()
    with pytest.raises(CycleError):
        TopologicalSorter({**modules, "shoal.tracks.arena": {"shoal.tracks.record"}}).prepare()
