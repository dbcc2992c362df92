"""What the signatures of public names say: real types, which editors and type checkers can use."""

import inspect
import typing
from pathlib import Path

import jaxtyping
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import shoal

NAMES = {"pd": pd, "Figure": Figure, "Path": Path, "Model": shoal.Model, "Fit": shoal.Fit}
"""What signatures name as strings, and modules import for type checkers only."""

ANYTHING = {
    "Fit.centre",  # what a method found on its way, for the next search alone
    "Fit.of",
    "Fit.facts",  # what a method says of itself: numbers, words, lists
    "Fit.passive",
    "Fit.score",  # transitions or decisions, by the kind of fit
    "Model.passive",  # a specification, a matrix or moves: each fit narrows it
    "Model.basis",
    "Model.density",
    "RandomWalk.sd",  # numbers, unknowns, or one of them for each axis
    "Smooth.order",
    "Smooth.interactions",
    "Smooth.scale",
    "Smooth.length",
    *(f"TurnCoupled.{name}" for name in ("spread", "wide", "share", "noise", "tails", "follow")),
    "TurnCoupled.step",
    *(
        f"{who}.{name}"
        for who in ("Turns", "Steps")
        for name in ("turn", "spread", "wide", "share")
    ),
    *(f"{who}.{name}" for who in ("Turns", "Steps") for name in ("persistence", "bias", "every")),
    *(f"{who}.candidates" for who in ("Turns", "Steps")),
    *(f"Steps.{name}" for name in ("step", "typical", "variation", "follow", "pace")),
    *("Steps.evenness", "Steps.straightness"),
    *("Steps.between", "Steps.others", "Steps.resolved"),
    *(f"{who}.parameters" for who in ("Turns", "Steps")),
    *(f"{who}.known" for who in ("RandomWalk", "TurnCoupled", "Turns")),
    *(f"{who}.{does}" for who in ("RandomWalk", "TurnCoupled") for does in ("build", "estimate")),
    *("TurnCoupled.turn_chances", "TurnCoupled.straight_on"),
    *("Tracks.covariates", "Tracks.from_arrays", "Tracks.with_covariates"),  # of any kind
}
"""Where a type would say less than the documentation does. This list may only become shorter."""


def signatures():
    """Every public function, method, property and field, with its annotations."""
    for name in shoal.__all__:
        thing = getattr(shoal, name)
        if inspect.isfunction(thing):
            yield name, thing
        elif inspect.isclass(thing):
            yield name, thing
            for member, value in vars(thing).items():
                inner = getattr(value, "__func__", None) or getattr(value, "fget", None)
                inner = inner or getattr(value, "func", value)
                if inspect.isfunction(inner) and not member.startswith("_"):
                    yield f"{name}.{member}", inner


def says_anything(hint):
    """Whether a type, or a part of it, is ``Any``; arrays of any library are arrays."""
    if hint is typing.Any:
        return True
    if inspect.isclass(hint) and issubclass(hint, jaxtyping.AbstractArray | np.generic):
        return False
    if typing.get_origin(hint) in (np.ndarray, np.dtype):
        return False
    return any(says_anything(part) for part in typing.get_args(hint) if part is not Ellipsis)


@pytest.fixture(scope="module")
def found():
    return {
        f"{name}.{argument}" if inspect.isclass(thing) else name
        for name, thing in signatures()
        for argument, hint in typing.get_type_hints(thing, localns=NAMES).items()
        if says_anything(hint)
    }


def test_public_signatures_say_real_types(found):
    assert not found - ANYTHING


def test_exceptions_that_are_none_are_no_longer_listed(found):
    assert not ANYTHING - found
