"""Every option of every command says the same on the line, in a file and as a keyword."""

import inspect
import re
import shlex
import tomllib
from dataclasses import fields

import pytest
import typer

import shoal
from cli.speaking import spoken
from shoal.cli.main import COMMANDS, app
from shoal.errors import InputError
from shoal.paper.settings import ReproduceSettings
from shoal.workflows.moving_settings import (
    AnimateSettings,
    ExploreSettings,
    MovingSettings,
    PredictSettings,
    ReportSettings,
    SimulateSettings,
)
from shoal.workflows.options import Panel, Settings
from shoal.workflows.settings import CalibrateSettings, CompareSettings, FitSettings

FUNCTIONS = {one.__name__: one for commands in COMMANDS.values() for one in commands}
RECORDS = {
    name: inspect.signature(one).parameters["settings"].annotation
    for name, one in FUNCTIONS.items()
    if "settings" in inspect.signature(one).parameters
}
LISTED = typer.main.get_command(app).commands
HOW = {"--out", "--config", "--help", "--json", "--quiet", "--debug"}
"""Options about how a command works and answers, not about what it finds."""

MORE = {
    "fit": {"--resume", "--restart"},
    "report": {"--open"},
    "explore": {"--open"},
    "doctor": {"--measure"},
}
NEEDED = {
    **{kind: {"fit": "some.nc"} for kind in MovingSettings.__subclasses__()},
    ReportSettings: {"fit": "some.nc"},
    AnimateSettings: {"tracks": "fish.csv"},
    ReproduceSettings: {"data": "fish.csv"},
}
"""What a command, or one of its options, does not go without."""

OPTIONS = [(name, one.name) for name, kind in RECORDS.items() for one in kind.choices()]


class StopError(Exception):
    """What a command would have done."""


def choice_of(kind, name):
    return next(one for one in kind.choices() if one.name == name)


def samples(choice):
    """Two values that are not the default."""
    option = choice.option
    if choice.kind is bool:
        return (not choice.default,) * 2
    if int in choice.kinds:
        least = max(option.least or 0, 8)
        return least + 11, least + 3
    if float in choice.kinds:
        return 0.25, 0.75
    words = [word for word in option.words or ("this", "that") if word != choice.default]
    return words[-1], words[0]


def on_the_line(choice, value):
    if choice.option.argument:
        return [str(value)]
    if choice.kind is not bool:
        return [choice.flag, str(value)]
    on, off = choice.flag.split("/")
    return [on if value else off]


def in_a_file(path, kind, values):
    made = kind(**NEEDED.get(kind, {}) | values)
    lines = [line for line in made.toml().splitlines() if line.partition(" = ")[0] in
             {"command", *(choice_of(kind, name).key for name in values)}]  # fmt: skip
    path.write_text("\n".join(lines), encoding="utf-8")
    return ["--config", str(path)]


def understood(monkeypatch, *words):
    """The settings that a command makes of a line; nothing is done with them."""
    merged = Settings.merged.__func__

    def stop(cls, config, said):
        raise StopError(merged(cls, config, said))

    monkeypatch.setattr(Settings, "merged", classmethod(stop))
    with pytest.raises(StopError) as caught:
        app([*map(str, words)], standalone_mode=False)
    monkeypatch.undo()
    return caught.value.args[0]


def flags(command):
    """What the shell and the help of a command know."""
    return {
        parameter.opts[0] if parameter.param_type_name == "option" else parameter.name
        for parameter in command.params
    }


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_line_the_file_and_the_keywords_have_the_same_options(name):
    kind = RECORDS.get(name)
    here = flags(LISTED[name]) - HOW - MORE.get(name, set())
    if kind is None:
        assert here <= {"fit"}  # of check
        return
    choices = kind.choices()
    assert here == {one.key if one.option.argument else f"--{one.key}" for one in choices}
    assert all(re.fullmatch("[a-z]+(-[a-z]+)*", one.key) for one in choices)
    assert {one.name for one in choices} == set(inspect.signature(kind).parameters)
    assert {one.name for one in choices} == {field.name for field in fields(kind)}
    given = {one.name: samples(one)[0] for one in choices if one.default is None}
    keys = list(tomllib.loads(kind(**NEEDED.get(kind, {}) | given).toml()))
    assert keys == ["command", *(one.key for one in choices)]


@pytest.mark.parametrize(("name", "option"), OPTIONS)
def test_an_option_means_the_same_wherever_it_is_given(name, option, tmp_path, monkeypatch):
    kind = RECORDS[name]
    choice = choice_of(kind, option)
    needed = {key: one for key, one in NEEDED.get(kind, {}).items() if option not in (key, "study")}
    rest = [word for key, one in needed.items() for word in on_the_line(choice_of(kind, key), one)]
    first, second = samples(choice)
    keyword = kind(**needed, **{option: first})
    assert getattr(keyword, option) == first != choice.default
    line = understood(monkeypatch, name, *rest, *on_the_line(choice, first))
    config = in_a_file(tmp_path / "run.toml", kind, {option: first})
    file = understood(monkeypatch, name, *rest, *config)
    assert line == file == keyword
    other = choice.default if choice.kind is bool else second
    both = understood(monkeypatch, name, *rest, *config, *on_the_line(choice, other))
    assert both == kind(**needed, **{option: other})  # the line wins


@pytest.mark.parametrize("name", RECORDS)
def test_all_options_come_back_from_a_file_and_from_the_command_that_repeats_a_run(
    name, tmp_path, monkeypatch
):
    kind = RECORDS[name]
    given = {one.name: samples(one)[0] for one in kind.choices()}
    given |= {
        "fit": {"as_": "transitions"} | dict.fromkeys(("moves", "others", "persistence"), "auto")
        | {"candidates": 0},
        "reproduce": {"study": "guppies"},
    }.get(name, {})  # fmt: skip
    made = kind(**given)
    path = tmp_path / "run.toml"
    path.write_text(made.toml(), encoding="utf-8")
    assert kind(**kind.from_toml(path)) == made
    assert f"shoal {name} --config" in made.toml().splitlines()[0]
    if "--out" in flags(LISTED[name]):
        words = shlex.split(made.command_line(tmp_path / "out.nc"))
        assert understood(monkeypatch, *words[1:]) == made


@pytest.mark.parametrize("name", RECORDS)
def test_help_says_what_each_option_does_and_its_default(name):
    listed = {parameter.name: parameter for parameter in LISTED[name].params}
    for choice in RECORDS[name].choices():
        assert listed[choice.name].help == choice.option.help
        assert choice.option.help[-1] in ".…" and len(choice.option.help) > 5
        shown = listed[choice.name].show_default
        assert shown == (choice.shown or False)


def test_the_words_that_are_completed_are_understood_as_defaults_are():
    for kind in RECORDS.values():
        for choice in kind.choices():
            words = choice.option.words
            if words and choice.default and not choice.option.several:
                assert choice.default.partition(":")[0] in {w.partition(":")[0] for w in words}


def test_help_lists_panels_in_one_order():
    order = [panel.value or None for panel in Panel]
    for name in RECORDS:
        panels = [
            getattr(one, "rich_help_panel", None)
            for one in LISTED[name].params
            if one.param_type_name == "option"
        ]
        known = [order.index(panel) for panel in dict.fromkeys(panels) if panel in order]
        assert known == sorted(known), name


RANGES = [
    (name, one.name, limit, beyond)
    for name, kind in RECORDS.items()
    for one in kind.choices()
    for limit, beyond in ((one.option.least, -1), (one.option.most, 1))
    if limit is not None
]


@pytest.mark.parametrize(("name", "option", "limit", "beyond"), RANGES)
def test_numbers_out_of_range_are_refused_wherever_they_are_given(
    name, option, limit, beyond, tmp_path
):
    kind, wrong = RECORDS[name], limit + beyond
    choice, needed = choice_of(kind, option), NEEDED.get(kind, {})
    said = f"--{choice.key} is {limit} or {'more' if beyond < 0 else 'less'}; got {wrong}"
    path = tmp_path / "run.toml"
    path.write_text(f"{choice.key} = {wrong}")
    for make in (lambda: kind(**needed, **{option: wrong}), lambda: kind.merged(path, needed)):
        with pytest.raises(InputError, match=said):
            make()
    done = spoken(name, choice.flag, wrong)
    assert done.status == 2 and done.err.count("\n") == 1
    assert f"Invalid value for '{choice.flag}'" in done.err


def test_files_of_earlier_releases_are_read(tmp_path):
    path = tmp_path / "compare.toml"
    for key in ("read-as", "as"):
        path.write_text(f'{key} = "transitions"')
        assert CompareSettings.from_toml(path) == {"as_": "transitions"}
    assert 'as = "auto"' in CompareSettings().toml() and "read" not in CompareSettings().toml()


def test_a_run_never_writes_over_the_file_of_its_choices(tmp_path):
    for name, ending in (("fit", "nc"), ("compare", "csv"), ("calibrate", "csv")):
        path = tmp_path / "a.toml"
        path.write_text("draws = 300")
        with pytest.raises(InputError, match="would be written over"):
            app([name, "--config", str(path), "--out", str(tmp_path / f"a.{ending}")],
                standalone_mode=False)  # fmt: skip


PYTHON = {
    SimulateSettings: (shoal.simulate,),
    PredictSettings: (shoal.predictive_check,),
    ReportSettings: (shoal.write_report,),
    ExploreSettings: (),
    CalibrateSettings: (shoal.calibrate,),
    CompareSettings: (shoal.compare, shoal.read_tracks, shoal.count_transitions),
    FitSettings: (shoal.read_tracks, shoal.count_transitions, shoal.NUTS),
    AnimateSettings: (shoal.animate,),
}
"""The functions behind commands."""

OTHERWISE = {
    "seed": 0,  # results of scripts that name no seed stay as they were
    "split": "time",  # of two thirds
    "truth": None,  # of the prior
    "speed": "observed",
}
"""Defaults that Python writes in another way, or that differ."""


@pytest.mark.parametrize("kind", PYTHON)
def test_functions_have_the_defaults_of_the_command_line(kind):
    shared = 0
    for function in PYTHON[kind]:
        keywords = inspect.signature(function).parameters
        for choice in kind.choices():
            if choice.name in keywords and not choice.option.argument:
                default = keywords[choice.name].default
                if default is inspect.Parameter.empty:
                    continue
                same = default == choice.default or not (default or choice.default)
                assert same or default == OTHERWISE.get(choice.name, ...), choice.name
                shared += 1
    assert shared >= 3 or kind is ExploreSettings
