"""Every result is a table, a paragraph and a figure; a class that lacks one of them is found."""

import importlib
import inspect
import pkgutil
import re
import typing

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import shoal
from results import RESULTS
from shoal.results import Result

NO_PROSE = re.compile(
    r"[\[({]?\b\w+\([\w.]*=|<[\w.]+ object|array\(|\bnan\b|\bNone\b(?! of )|\bTrue\b|\d-\d"
)
"""What Python prints of its objects; hyphens before digits are minus signs that were forgotten."""

PARTS = {
    *("Model", "StateSpace", "Headings", "OpenTracks", "EmpiricalMoves"),
    *("Candidates", "Moved", "Measure", "PassiveOperator", "Density", "Hierarchy"),
}
"""What is returned besides results: what a user writes down or opens, and parts of a result."""


def classes():
    """Every class of results, wherever it is."""
    for found in pkgutil.walk_packages(shoal.__path__, "shoal."):
        importlib.import_module(found.name)
    waiting, known = [Result], set()
    while waiting:
        for each in waiting.pop().__subclasses__():
            if each.__module__.startswith("shoal."):
                waiting.append(each)
                if not inspect.isabstract(each):
                    known.add(each)
    return known


def test_every_class_of_results_is_tried_here():
    tried = {type(make()) for make in RESULTS.values()}
    assert {each.__name__ for each in classes()} == {each.__name__ for each in tried}


@pytest.mark.parametrize("name", RESULTS)
def test_a_table_has_named_columns_of_numbers_truths_or_words(name):
    table = RESULTS[name]().table()
    assert isinstance(table, pd.DataFrame)
    assert len(table)
    assert table.index.equals(pd.RangeIndex(len(table)))
    assert all(isinstance(column, str) and column for column in table)
    assert table.columns.is_unique
    for column, values in table.items():
        plain = pd.api.types.is_numeric_dtype(values) or isinstance(values.dtype, pd.StringDtype)
        assert plain, (column, values.dtype)


@pytest.mark.parametrize("name", RESULTS)
def test_print_says_it_in_sentences_and_repr_is_a_short_line(name):
    result = RESULTS[name]()
    said = str(result)
    assert said != repr(result)
    assert len(said) > 40
    assert said[0].isupper() or said[0].isdigit()
    assert said.rstrip().endswith(".")
    assert not NO_PROSE.search(said), NO_PROSE.search(said)
    assert "\n" not in repr(result)
    assert len(repr(result)) < 300
    assert repr(result).startswith(type(result).__name__)


@pytest.mark.parametrize("name", RESULTS)
def test_a_plot_is_a_figure_with_words_on_its_axes_that_no_window_holds(name, tmp_path):
    import matplotlib.pyplot as plt  # noqa: PLC0415  (only here is it known to be loaded)

    before = plt.get_fignums()
    look = dict(mpl.rcParams)
    figure = RESULTS[name]().plot()
    assert isinstance(figure, Figure)
    shown = [axes for axes in figure.axes if axes.get_visible() and axes.axison]
    assert shown
    for axes in shown:
        beside = [one for one in figure.axes if one.get_subplotspec() is not None]
        assert axes.get_xlabel() or axes.get_ylabel() or shares_labels(axes, beside, figure)
    figure.savefig(tmp_path / "figure.png", dpi=40)
    assert (tmp_path / "figure.png").stat().st_size > 2000
    assert plt.get_fignums() == before
    assert dict(mpl.rcParams) == look


def shares_labels(axes, beside, figure):
    """Whether a panel has its words from the whole figure or from the panels of its row."""
    if figure.get_supxlabel() and figure.get_supylabel():
        return True
    return any(one.get_xlabel() or one.get_ylabel() for one in beside if one is not axes)


@pytest.mark.parametrize("name", ["fit", "fit to decisions", "effects", "score of decisions"])
def test_uncertainty_is_shown(name):
    figure = RESULTS[name]().plot()
    words = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    assert any("interval" in word or "standard errors" in word for word in words)


def public_functions():
    """Public functions, and the methods of models and results, by name."""
    for name in shoal.__all__:
        thing = getattr(shoal, name)
        if inspect.isfunction(thing):
            yield name, thing
        elif inspect.isclass(thing) and issubclass(thing, Result | shoal.Model):
            for member, value in inspect.getmembers(thing, inspect.isfunction):
                if not member.startswith("_") and value.__module__.startswith("shoal"):
                    yield f"{name}.{member}", value


def named_in(annotation):
    """The names of classes of shoal in an annotation, written out or not."""
    if isinstance(annotation, str):
        return set(re.findall(r"[A-Z]\w+", annotation))
    if inspect.isclass(annotation) and annotation.__module__.startswith("shoal."):
        return {annotation.__name__}
    return set().union(*map(named_in, typing.get_args(annotation)), set())


def test_what_public_functions_return_is_a_result():
    """A new result class that is no ``Result`` is found here."""
    results = {each.__name__ for each in classes()}
    every = {
        name
        for found in pkgutil.walk_packages(shoal.__path__, "shoal.")
        for name, value in vars(importlib.import_module(found.name)).items()
        if inspect.isclass(value) and value.__module__.startswith("shoal.")
    }
    found = {}
    for name, function in public_functions():
        returned = named_in(function.__annotations__.get("return")) & every
        odd = returned - results - PARTS - {owner_of(function)}
        found |= dict.fromkeys(odd, name)
    assert not found


def owner_of(function):
    return function.__qualname__.split(".")[0]


def test_a_result_without_a_figure_says_so():
    class Bare(Result):
        def table(self):
            return pd.DataFrame({"a": np.arange(2)})

        def __str__(self):
            return "A bare one."

    with pytest.raises(TypeError, match="no figure is known for Bare"):
        Bare().plot()
    with pytest.raises(TypeError, match="abstract"):
        type("Barer", (Result,), {})()
