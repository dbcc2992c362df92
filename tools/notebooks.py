"""A page of the documentation as a Jupyter notebook."""

import re
from pathlib import PurePosixPath

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from examples import FRONT, Block, blocks_of, files_of

IMAGE = re.compile(r"!\[([^\]]*)\]\([^)]*\)")
LINK = re.compile(r"\[([^\]]*)\]\((?!https?:)[^)]*\)")
ATTRIBUTES = re.compile(r"\{[.:#][^}\n]*\}")


def has_notebook(text: str) -> bool:
    """Pages with Python have one; those for R are for R."""
    languages = {block.language for block in blocks_of(text)}
    return "python" in languages and "r" not in languages


def notebook_of(page: str, text: str, blocks: list[Block]) -> nbformat.NotebookNode:
    """Words as Markdown, Python as cells, commands as cells that a shell runs.

    Parameters
    ----------
    page, text
        Its name, and what is written.
    blocks
        Its examples, with what they printed where they were run.
    """
    stem = PurePosixPath(page).stem
    cells, place = [], (front.end() if (front := FRONT.match(text)) else 0)
    if files_of(text):
        names = " and ".join(f"`{name}`" for name in files_of(text))
        cells += _words(f"*Put {names} beside this notebook: the page has it for download.*")
    for block in blocks:
        cells += _words(text[place : block.start])
        cell = new_code_cell(_source(block))
        if block.output and block.language == "python":
            cell.outputs = [new_output("stream", name="stdout", text=block.output)]
        cells.append(cell)
        place = block.end
    cells += _words(text[place:])
    for number, cell in enumerate(cells):
        cell["id"] = f"{stem}-{number}"[-64:]  # the same page gives the same notebook
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    made = new_notebook(cells=cells, metadata={"kernelspec": kernel})
    nbformat.validate(made)
    return made


def _words(text: str) -> list[nbformat.NotebookNode]:
    """What stands between two blocks, without pictures and links that lead nowhere from here."""
    plain = ATTRIBUTES.sub("", LINK.sub(r"\1", IMAGE.sub(r"*(\1)*", text))).strip()
    return [new_markdown_cell(plain)] if plain else []


def _source(block: Block) -> str:
    if block.language == "console":
        return "\n".join(re.sub(r"^\$ ", "!", line) for line in block.code.splitlines())
    return block.code.rstrip("\n")
