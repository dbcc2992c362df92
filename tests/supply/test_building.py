"""The wheel and the sdist are the same bytes, whenever and wherever they are built."""

import os
import shutil
import tarfile
import time
import zipfile

import pytest

from dependencies import ROOT
from packing import build

pytestmark = pytest.mark.slow

OURS = ("src", "docs", "README.md", "CHANGELOG.md", "LICENSE", "CITATION.cff", "pyproject.toml")


def copy_to(folder):
    """The sources as another checkout has them: elsewhere, and with other dates."""
    folder.mkdir()
    for name in (*OURS, "constraints.txt"):
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(
                source, folder / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info")
            )
        else:
            shutil.copy(source, folder / name)
    return folder


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Two builds from two folders, the second's files two days older."""
    place = tmp_path_factory.mktemp("supply")
    sums = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOURCE_DATE_EPOCH", "1700000000")
        for name, age in (("here", 0), ("elsewhere", 172_800)):
            folder = copy_to(place / name)
            for path in folder.rglob("*"):
                os.utime(path, (time.time() - age,) * 2)
            sums.append(build(folder, place / f"{name}-dist"))
    return place, sums


def test_two_builds_have_the_same_sums(built):
    _, (one, other) = built
    assert len(one) == 2
    assert one == other


def test_the_wheel_holds_the_package_and_nothing_else(built):
    place, _ = built
    (wheel,) = (place / "here-dist").glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0].split("-")[0] for name in names} == {"shoal"}
    assert {"shoal/__init__.py", "shoal/py.typed"} <= set(names)
    assert not [name for name in names if "__pycache__" in name]


def test_the_sdist_holds_what_the_wheel_is_built_from(built):
    place, _ = built
    (sdist,) = (place / "here-dist").glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "README.md", "LICENSE", "src/shoal/__init__.py"} <= names
