"""Every dependency is pinned, at a version that pyproject.toml allows and that is installed."""

import re

from packaging.utils import canonicalize_name
from packaging.version import Version

from dependencies import ROOT, closure, pins, requirements

EXTRAS = ("test", "docs", "bench")


def test_constraints_are_plain_pins_sorted_and_named_once():
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    for line in lines:
        assert re.fullmatch(r"[A-Za-z0-9][\w.-]*==[0-9][\w.]*", line), line
    names = [canonicalize_name(line.split("==")[0]) for line in lines]
    assert names == sorted(set(names))


def test_pins_are_versions_that_pyproject_allows():
    for need in requirements(*EXTRAS):
        version = pins()[canonicalize_name(need.name)]
        assert need.specifier.contains(Version(version)), f"{need} is pinned at {version}"


def test_everything_installed_for_running_and_testing_is_what_is_pinned():
    pinned = pins()
    for package in closure(requirements("test")):
        assert pinned.get(package.name) == package.version, package
