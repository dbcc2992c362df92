"""What the project depends on, directly and through others: versions and licences."""

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]

NAMES = {
    "Apache Software License": "Apache-2.0",
    "Apache 2.0": "Apache-2.0",
    "Apache License 2.0": "Apache-2.0",
    "BSD": "BSD-3-Clause",
    "BSD 3-Clause": "BSD-3-Clause",
    "BSD 3-Clause License": "BSD-3-Clause",
    "BSD License": "BSD-3-Clause",
    "ISC License": "ISC",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
    "Simplified BSD": "BSD-2-Clause",
}
"""SPDX identifiers of what packages write; a BSD licence without a number has three clauses."""

READ = {
    "numba": "BSD-2-Clause",
    "numbagg": "BSD-3-Clause AND BSD-2-Clause",
    "pyvideoreader": "Apache-2.0",
    "rich-click": "MIT",
}
"""Licences read in LICENSE files, where what a package declares is silent or says otherwise."""


@dataclass(frozen=True)
class Package:
    """An installed distribution."""

    name: str
    version: str
    licence: str


def pins() -> dict[str, str]:
    """The version that constraints.txt has for every package, by canonical name."""
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    return {
        canonicalize_name(name): version for name, _, version in (x.partition("==") for x in lines)
    }


def requirements(*extras: str) -> list[Requirement]:
    """What pyproject.toml asks for."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    optional = project["optional-dependencies"]
    lines = [*project["dependencies"], *(line for extra in extras for line in optional[extra])]
    return [Requirement(line) for line in lines]


def closure(asked: Iterable[Requirement]) -> list[Package]:
    """All packages that these need here, sorted by name."""
    todo = [(need.name, frozenset(need.extras)) for need in asked]
    done: set[tuple[str, frozenset[str]]] = set()
    found: dict[str, Package] = {}
    while todo:
        name, extras = todo.pop()
        key = canonicalize_name(name)
        if (key, extras) in done:
            continue
        done.add((key, extras))
        try:
            installed = distribution(name)
        except PackageNotFoundError:
            raise SystemExit(f"{name} is needed and not installed: run make setup") from None
        found[key] = Package(key, installed.version, licence(installed))
        todo += _needs(installed, extras)
    return [found[key] for key in sorted(found)]


def _needs(installed: Distribution, extras: frozenset[str]) -> list[tuple[str, frozenset[str]]]:
    """What a package asks for on this machine, with these of its extras."""
    lines = [Requirement(line) for line in installed.requires or ()]
    return [
        (line.name, frozenset(line.extras))
        for line in lines
        if line.marker is None
        or any(line.marker.evaluate({"extra": extra}) for extra in ("", *extras))
    ]


def licence(installed: Distribution) -> str:
    """The licence by its SPDX expression, or UNKNOWN."""
    facts = installed.metadata
    name = canonicalize_name(facts["Name"])
    if name in READ:
        return READ[name]
    if "License-Expression" in facts:
        return facts["License-Expression"]
    told = facts["License"].strip() if "License" in facts else ""
    if told and "\n" not in told and len(told) < 60:
        return NAMES.get(told, told)
    classes = [x.split(" :: ")[-1] for x in facts.get_all("Classifier") or () if x[:7] == "License"]
    return " AND ".join(NAMES.get(word, word) for word in classes) or "UNKNOWN"


def identifiers(expression: str) -> set[str]:
    """The licences that an SPDX expression names, exceptions left out."""
    plain = re.sub(r"WITH [\w.-]+", "", expression)
    return {word for word in re.findall(r"[\w.+-]+", plain) if word not in ("AND", "OR")}
