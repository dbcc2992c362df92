"""What MkDocs does besides: run the examples, show what they print, make notebooks of pages.

``mkdocs build`` runs every example of every page and of the README, and fails where one fails.
``mkdocs serve`` runs none, so that writing is quick. See docs/decisions/018-site.md.
"""

import os
import re
import sys
import tempfile
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import nbformat
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.plugins import get_plugin_logger
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

sys.path.insert(0, str(Path(__file__).parent))

from examples import FRONT, ROOT, Block, ExampleError, blocks_of, files_of, run_apart
from notebooks import has_notebook, notebook_of
from samples import SAMPLES, put_samples, write_samples

BESIDE = ("README.md", "CONTRIBUTING.md")
"""Pages that are no part of the site; their examples and links are held to the same."""

MADE = re.compile(r"\]\(made/([\w-]+)/([\w.-]+)\)")
"""A picture that an example of the page writes: ``made/PAGE/picture.png``."""

LINK = re.compile(r"\]\((?!https?:)([^)#]+)[^)]*\)")

ANY = re.compile(
    r"""\s*\(<code><span title="typing.Any">Any</span></code>\)"""
    r"""|(?<=\()<code><span title="typing.Any">Any</span></code>,\s*(?=default)"""
)
LOADED = re.compile(
    r"<(?:script|link|img|iframe|source|video|audio|embed)\b[^>]*?"
    r"""(?:src|href|srcset|data)=["']?((?:https?:)?//[^"'\s>]+)"""
)
LOADED_BY_STYLE = re.compile(r"""(?:url\(|@import)\s*["']?((?:https?:)?//[^"')\s]+)""")

log = get_plugin_logger("examples")
building = False
found: dict[str, list[Block]] = {}
"""The blocks of every page, with what they printed."""


def on_startup(command: str, **_: Any) -> None:
    """Examples run when the site is built, not while it is served."""
    global building  # noqa: PLW0603  (MkDocs has nowhere else to keep it)
    building = command == "build"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Run the examples, and add what they and we make: pictures, samples, notebooks."""
    _check_links()
    pages = {file.src_uri: Path(str(file.abs_src_path)) for file in files.documentation_pages()}
    pages |= {name: ROOT / name for name in BESIDE}
    found.clear()
    for name, path in pages.items():
        found[name] = blocks_of(path.read_text())
    with tempfile.TemporaryDirectory() as place:
        samples = Path(place, "samples")
        samples.mkdir()
        if building:
            write_samples(samples)
        _add_samples(files, config, samples)
        if building:
            _run({name: path for name, path in pages.items() if found[name]}, Path(place))
        for name, path in pages.items():
            for where, picture in MADE.findall(path.read_text()):
                content = _made(Path(place, where, picture), name)
                _add(files, config, f"{Path(name).parent}/made/{where}/{picture}", content)
    for name, path in pages.items():
        text = path.read_text()
        if name not in BESIDE and has_notebook(text):
            content = nbformat.writes(notebook_of(name, text, found[name])).encode()
            _add(files, config, _notebook(name), content)
    return files


def _run(pages: dict[str, Path], place: Path) -> None:
    """All pages, as many at a time as there are processors."""

    def run(item: tuple[str, Path]) -> tuple[str, list[Block]]:
        name, page = item
        folder = place / _flat(name)
        folder.mkdir()
        put_samples(files_of(page.read_text()), folder, place / "samples")
        began = time.monotonic()
        blocks = run_apart(page, folder)
        log.info("%s: %d examples, %.0f s", name, len(blocks), time.monotonic() - began)
        return name, blocks

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        try:
            found.update(pool.map(run, pages.items()))
        except ExampleError as error:
            pool.shutdown(cancel_futures=True)
            raise PluginError(f"an example fails: {error}") from error


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """The page with what its examples print, and where to have it as a notebook."""
    name = page.file.src_uri
    if not found[name]:
        return markdown
    text = Path(str(page.file.abs_src_path)).read_text()
    markdown = text
    for block in reversed(found[name]):
        shown = _shown(text[block.start : block.end], block)
        markdown = markdown[: block.start] + shown + markdown[block.end :]
    markdown = FRONT.sub("", markdown)
    if has_notebook(text):
        up = "../" * name.count("/")
        link = f"{up}{_notebook(name)}"
        markdown += f"\n\n[This page as a notebook]({link}){{ .notebook download }}\n"
    return markdown


def on_post_page(output: str, **_: Any) -> str:
    """The reference without types that say nothing: what may be passed stands in words."""
    return ANY.sub("", output)


def on_post_build(config: MkDocsConfig, **_: Any) -> None:
    """Nothing in the pages is loaded from elsewhere."""
    asked = outside(Path(config.site_dir))
    if asked:
        raise PluginError(f"pages would load from elsewhere: {', '.join(asked)}")


def outside(site: Path) -> list[str]:
    """What a browser would fetch from another place to show these pages: page, and address."""
    return sorted(
        f"{file.relative_to(site)}: {address}"
        for kind, pattern in ((".html", LOADED), (".css", LOADED_BY_STYLE))
        for file in site.rglob(f"*{kind}")
        for address in pattern.findall(file.read_text())
    )


def _shown(before: str, block: Block) -> str:
    output = block.output.rstrip("\n")
    if not output.strip():
        return before
    if block.language == "console":
        return f"```console\n{output}\n```"
    return f"{before}\n\n``` {{ .text .output }}\n{output}\n```"


def _made(path: Path, page: str) -> bytes:
    if not building:
        return b""
    if path.parent.name != _flat(page) or not path.exists():
        raise PluginError(f"{page} shows {path.name}, which none of its examples writes")
    return path.read_bytes()


def _add_samples(files: Files, config: MkDocsConfig, folder: Path) -> None:
    """For readers to try; a folder as an archive."""
    for name in SAMPLES:
        sample = folder / name
        if "." not in name:
            sample = sample.with_suffix(".zip")
            with zipfile.ZipFile(sample, "w") as packed:
                for part in sorted((folder / name).glob("*")):
                    packed.write(part, f"{name}/{part.name}")
        content = sample.read_bytes() if sample.exists() else b""
        _add(files, config, f"samples/{sample.name}", content)


def _add(files: Files, config: MkDocsConfig, uri: str, content: bytes) -> None:
    files.append(File.generated(config, uri.removeprefix("./"), content=content))


def _notebook(page: str) -> str:
    return f"notebooks/{_flat(page)}.ipynb"


def _flat(page: str) -> str:
    return page.removesuffix(".md").replace("/", "-")


def _check_links() -> None:
    """MkDocs checks those of its own pages; these are read elsewhere."""
    for name in BESIDE:
        for target in LINK.findall((ROOT / name).read_text()):
            if not (ROOT / target).exists():
                raise PluginError(f"{name} links to {target}, which does not exist")
