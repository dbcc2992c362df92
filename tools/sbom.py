"""Write build/sbom.json, and docs/licences.md: what a user of shoal installs with it.

    python tools/sbom.py

The first is a bill of materials in the CycloneDX 1.6 format, the second a table for people. Neither
holds a date or a number made up at random, so that the same pins give the same files.
"""

import json
import re
from typing import Any

from dependencies import ROOT, Package, closure, requirements

SPECIFICATION = "1.6"

INTRODUCTION = """# Licences of what comes with shoal

What `pip install -c constraints.txt shoal` installs, at the versions that are pinned, with the
licence that each package declares. `make sbom` writes this page and `build/sbom.json`, and a test
fails where a licence is none that we accept ([Supply](supply.md)).

| package | version | licence |
|---|---|---|
"""


def component(package: Package) -> dict[str, Any]:
    """A package as CycloneDX has it."""
    purl = f"pkg:pypi/{package.name}@{package.version}"
    compound = " " in package.licence
    told = {"expression": package.licence} if compound else {"license": {"id": package.licence}}
    return {
        "type": "library",
        "bom-ref": purl,
        "name": package.name,
        "version": package.version,
        "licenses": [told],
        "purl": purl,
    }


def bill(version: str, packages: list[Package]) -> dict[str, Any]:
    """The bill of materials."""
    whole = component(Package("shoal", version, "BSD-3-Clause"))
    return {
        "$schema": f"http://cyclonedx.org/schema/bom-{SPECIFICATION}.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": SPECIFICATION,
        "version": 1,
        "metadata": {"component": whole},
        "components": [component(package) for package in packages],
    }


def table(packages: list[Package]) -> str:
    """The page of licences."""
    lines = (f"| {package.name} | {package.version} | {package.licence} |" for package in packages)
    return INTRODUCTION + "\n".join(lines) + "\n"


def shoal_version() -> str:
    """The version that is written in the source."""
    words = re.search(r'__version__ = "(.+)"', (ROOT / "src/shoal/version.py").read_text())
    assert words is not None
    return words[1]


def main() -> None:
    packages = closure(requirements())
    folder = ROOT / "build"
    folder.mkdir(exist_ok=True)
    text = json.dumps(bill(shoal_version(), packages), indent=2, ensure_ascii=False)
    (folder / "sbom.json").write_text(text + "\n")
    (ROOT / "docs" / "licences.md").write_text(table(packages))
    print(f"build/sbom.json and docs/licences.md: {len(packages)} packages")


if __name__ == "__main__":
    main()
