"""What comes with shoal may be used and passed on by anyone who uses shoal."""

from importlib.metadata import PathDistribution

import pytest

from dependencies import ROOT, closure, identifiers, licence, pins, requirements
from sbom import bill, shoal_version, table

ACCEPTED = {
    *("0BSD", "AFL-2.1", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "ISC", "MIT"),
    *("MIT-CMU", "PSF-2.0", "Zlib"),
    "CC-BY-4.0",  # colour maps of colorcet: name their maker
    "MPL-2.0",  # copyleft for its own files only: certifi, tqdm
}
"""Licences that ask for no more than notices, or for their own files to stay free."""


@pytest.fixture(scope="module")
def packages():
    return closure(requirements())


def test_every_dependency_has_a_licence_that_we_accept(packages):
    refused = {p.name: p.licence for p in packages if not identifiers(p.licence) <= ACCEPTED}
    assert not refused


@pytest.mark.parametrize("words", ["License: GPL-3.0-only", "Summary: says nothing"])
def test_other_licences_are_refused(words, tmp_path):
    (tmp_path / "METADATA").write_text(f"Metadata-Version: 2.1\nName: other\nVersion: 1\n{words}\n")
    assert not identifiers(licence(PathDistribution(tmp_path))) <= ACCEPTED


def test_the_page_of_licences_has_what_is_installed_and_pinned(packages):
    page = (ROOT / "docs" / "licences.md").read_text().splitlines()
    assert set(table(packages).splitlines()) <= set(page), "run make sbom"
    rows = [line.strip("| ").split(" | ") for line in page[len(table([]).splitlines()) :]]
    assert {name: version for name, version, _ in rows}.items() <= pins().items(), "run make sbom"


def test_the_bill_of_materials_has_every_package_once(packages):
    written = bill(shoal_version(), packages)
    assert (written["bomFormat"], written["specVersion"]) == ("CycloneDX", "1.6")
    purls = [part["purl"] for part in written["components"]]
    assert purls == [f"pkg:pypi/{p.name}@{p.version}" for p in packages]
    assert len(set(purls)) == len(purls)
    assert all(part["licenses"] for part in written["components"])
