"""Every Python example in the README and the documentation runs as it is written."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = {
    str(path.relative_to(ROOT)): re.findall(r"```python\n(.*?)```", path.read_text(), re.DOTALL)
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
}
EXAMPLES = {name: blocks for name, blocks in PAGES.items() if blocks}


def test_there_are_examples():
    assert "README.md" in EXAMPLES and len(EXAMPLES) > 3


@pytest.mark.parametrize("blocks", EXAMPLES.values(), ids=EXAMPLES.keys())
def test_examples_run(blocks, tmp_path, monkeypatch):
    """As on the page: from top to bottom, each going on from the one before."""
    monkeypatch.chdir(tmp_path)
    known = {"__name__": "example"}
    for number, block in enumerate(blocks):
        exec(compile(block, f"example {number}", "exec"), known)


def test_links_lead_somewhere():
    for path in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")):
        for target in re.findall(r"\]\(([^)#]+)\)", path.read_text()):
            assert (path.parent / target).exists(), f"{path}: {target}"
