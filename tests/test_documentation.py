"""Pages have what readers need, and examples that fail are found; ``make docs`` runs them all."""

import dataclasses
import inspect
import logging
import re
import shlex

import nbformat
import pytest
import typer.main
from mkdocs.commands.build import build
from mkdocs.config import load_config

import shoal
from examples import ROOT, ExampleError, blocks_of, files_of, run_page
from notebooks import has_notebook, notebook_of
from samples import SAMPLES
from shoal.cli.main import app
from site_hooks import outside

PAGES = {
    str(path.relative_to(ROOT)): path.read_text()
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
}
READ = re.compile(r"^```(?:sh|console|text)\n(.*?)^```", re.DOTALL | re.MULTILINE)
COMMANDS = sorted(
    {
        (page, line.removeprefix("$ ").split(" | ")[0].split(" && ")[0])
        for page, text in PAGES.items()
        for block in READ.findall(text)
        for line in block.replace("\\\n", " ").splitlines()
        if line.removeprefix("$ ").startswith("shoal ")
    }
)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site without its examples run, and all that MkDocs had to warn of."""
    folder = tmp_path_factory.mktemp("site")
    said = []
    handler = logging.Handler(logging.WARNING)
    handler.emit = lambda record: said.append(record.getMessage())
    logging.getLogger("mkdocs").addHandler(handler)
    config = load_config(str(ROOT / "mkdocs.yml"), site_dir=str(folder))
    config.plugins.on_startup = lambda *_, **__: None  # where MkDocs says that it is a build
    build(config)
    logging.getLogger("mkdocs").removeHandler(handler)
    return folder, said


@pytest.mark.slow
def test_no_link_is_dead_and_nothing_is_warned_of(site):
    _, said = site
    assert not said


@pytest.mark.slow
def test_pages_load_nothing_from_elsewhere(site):
    folder, _ = site
    assert len(list(folder.rglob("*.html"))) > 40
    assert not outside(folder)


@pytest.mark.parametrize(
    "html",
    ['<script src="https://cdn.example/x.js">', "<link rel=x href=//fonts.example/f.css>"],
)
def test_what_is_loaded_from_elsewhere_is_found(html, tmp_path):
    (tmp_path / "page.html").write_text(html)
    (tmp_path / "fine.html").write_text('<a href="https://doi.org/10.1">paper</a><img src="a.png">')
    (tmp_path / "a.css").write_text("@font-face {src: url(https://fonts.example/f.woff)}")
    assert len(outside(tmp_path)) == 2


@pytest.mark.slow
def test_notebooks_are_valid_and_have_the_examples(site):
    folder, _ = site
    made = sorted((folder / "notebooks").glob("*.ipynb"))
    assert len(made) > 10
    for path in made:
        notebook = nbformat.read(path, as_version=4)
        nbformat.validate(notebook)
        assert any(cell.cell_type == "code" for cell in notebook.cells)
    tour = nbformat.read(folder / "notebooks" / "tour.ipynb", as_version=4)
    code = "\n".join(cell.source for cell in tour.cells if cell.cell_type == "code")
    assert 'shoal.read_tracks("school.csv")' in code and "!shoal fit school.csv" in code


def test_notebooks_show_what_was_printed():
    text = "---\nfiles: [a]\n---\n# One\n\n```python\nprint(1)\n```\n\nSee [two](two.md).\n"
    (block,) = blocks_of(text)
    assert has_notebook(text)
    made = notebook_of("one.md", text, [block.__class__(**vars(block) | {"output": "1\n"})])
    kinds = ["markdown", "markdown", "code", "markdown"]
    assert [cell.cell_type for cell in made.cells] == kinds
    assert "`a`" in made.cells[0].source
    assert made.cells[2].outputs[0].text == "1\n"
    assert made.cells[3].source == "See two."


def test_every_public_name_has_a_place_in_the_reference():
    there = [
        name
        for page, text in PAGES.items()
        if page.startswith("docs/reference/")
        for name in re.findall(r"^::: shoal\.([\w.]+)$", text, re.MULTILINE)
    ]
    moved = {f"{package}.{name}" for package, names in shoal._MOVED.items() for name in names}
    assert len(there) == len(set(there))
    assert set(there) >= set(shoal.__all__) - {"__version__"} | moved


@pytest.mark.parametrize("name", sorted(set(shoal.__all__) - {"__version__"}))
def test_every_public_name_says_what_it_takes_what_it_gives_and_shows_it(name):
    """Examples run as doctests; see ``pyproject.toml``."""
    thing = getattr(shoal, name)
    said = inspect.getdoc(thing)
    assert "\nExamples\n--------\n>>> " in said
    if inspect.isfunction(thing):
        assert "\nParameters\n----------\n" in said
        assert "\nReturns\n-------\n" in said
    elif dataclasses.is_dataclass(thing) and dataclasses.fields(thing):
        assert "\nParameters\n----------\n" in said or "\nAttributes\n----------\n" in said


@pytest.mark.parametrize(("page", "line"), COMMANDS)
def test_commands_have_the_options_that_pages_name(page, line):
    commands = typer.main.get_command(app).commands
    words = shlex.split(line, comments=True)
    command = commands[words[1]]
    known = {option for p in command.params for option in (*p.opts, *p.secondary_opts)}
    assert {word for word in words if word.startswith("--")} <= known | {"--help"}


def test_pages_ask_for_samples_that_there_are():
    asked = {name for text in PAGES.values() for name in files_of(text)}
    assert asked == set(SAMPLES)


def page_of(tmp_path, text):
    page = tmp_path / "page.md"
    page.write_text(text)
    folder = tmp_path / "folder"
    folder.mkdir()
    return page, folder


def test_blocks_go_on_from_each_other_in_a_folder_of_their_own(tmp_path):
    page, folder = page_of(
        tmp_path,
        "```python\nimport pathlib\nx = pathlib.Path('a').write_text('b')\n```\n```sh\nfalse\n```\n"
        "```console\n$ cat a\n```\n```python\nprint(x + 1)\n```\n",
    )
    assert [block.output for block in run_page(page, folder)] == ["", "$ cat a\nb\n\n", "2\n"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "block",
    [
        "```python\n1 / 0\n```",
        "```python\nimport warnings\nwarnings.warn('no')\n```",
        "```console\n$ false\n```",
        "```console\nls\n```",
        "```r\nstop('no')\n```",
        "```r\nwarning('no')\n```",
    ],
)
def test_an_example_that_fails_is_named(block, tmp_path):
    page, folder = page_of(tmp_path, f"A page.\n\n{block}\n")
    with pytest.raises(ExampleError, match=r"page.md, line 3"):
        run_page(page, folder)
