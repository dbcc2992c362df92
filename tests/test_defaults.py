"""What is assumed where nobody says: the same in Python as on the command line."""

import dataclasses
import inspect

import pytest

import shoal
from shoal.workflows.moving_settings import (
    AnimateSettings,
    PredictSettings,
    ReportSettings,
    SimulateSettings,
)
from shoal.workflows.settings import (
    CalibrateSettings,
    CompareSettings,
    FitSettings,
    ReadingSettings,
)

PAIRS = {
    "fit": (FitSettings, shoal.Model.fit),
    "model": (FitSettings, shoal.Model),
    "nuts": (FitSettings, shoal.NUTS),
    "compare": (CompareSettings, shoal.compare),
    "calibrate": (CalibrateSettings, shoal.calibrate),
    "simulate": (SimulateSettings, shoal.simulate),
    "predict": (PredictSettings, shoal.predictive_check),
    "report": (ReportSettings, shoal.write_report),
    "animate": (AnimateSettings, shoal.animate),
    "read": (ReadingSettings, shoal.read_tracks),
    "open": (ReadingSettings, shoal.open_tracks),
    "count": (ReadingSettings, shoal.count_transitions),
    "decide": (ReadingSettings, shoal.decisions),
}
"""What the command line, and what Python takes for one task."""

NOTHING = (None, "", 0)
"""How an option that is not given is written: files of choices hold no None."""

SAME = {
    ("compare", "split"): ("time:2/3", "time"),  # two words for the first two thirds
    ("calibrate", "truth"): ("prior", None),  # drawn from the prior
    ("predict", "speed"): ("", "observed"),
}
"""Different words for one thing."""

DIFFERENT = {
    # the command line begins with laplace and goes on to nuts where it must; one call does one
    ("fit", "method"): "auto",
    # a model in Python is written down in full; the paper's choice of a basis is none
    ("model", "basis"): "smooth",
}
"""What is chosen from the tracks on the command line alone."""


def differences(task):
    record, function = PAIRS[task]
    said = {field.name: field.default for field in dataclasses.fields(record)}
    for name, parameter in inspect.signature(function).parameters.items():
        if name not in said or parameter.default is inspect.Parameter.empty:
            continue
        both = (said[name], parameter.default)
        if both[0] == both[1] or SAME.get((task, name)) == both:
            continue
        if not all(one in NOTHING for one in both):
            yield (task, name), both[0]


@pytest.mark.parametrize("task", PAIRS)
def test_python_and_the_command_line_assume_the_same(task):
    found = dict(differences(task))
    assert found == {key: word for key, word in DIFFERENT.items() if key[0] == task}


@pytest.mark.parametrize("task", ["fit", "compare", "calibrate", "simulate", "predict", "report"])
def test_random_numbers_begin_at_the_same_place_everywhere(task):
    record, function = PAIRS[task]
    seeds = {field.name: field.default for field in dataclasses.fields(record)}
    assert inspect.signature(function).parameters["seed"].default == seeds["seed"]
