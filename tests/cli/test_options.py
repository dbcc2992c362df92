"""Options that commands share: declared once, listed by each, received by each."""

from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, get_args

import pytest
import typer
from typer.testing import CliRunner

from shoal.cli.main import app
from shoal.cli.options import (
    READING,
    STATES,
    Config,
    TracksArgument,
    settings_of,
    with_reading_options,
)
from shoal.errors import InputError
from shoal.workflows.fitting import FitSettings
from shoal.workflows.reading import ReadingSettings
from shoal.workflows.settings import key_of

OPTIONS = STATES | READING


@with_reading_options
def count(
    tracks: TracksArgument = None,
    out: Path = Path("counts.csv"),
    config: Config = None,
    method: Annotated[str | None, typer.Option(help="By hand or by eye.")] = None,
    **reading: Any,
) -> None:
    """Count, and nothing else."""
    received.append(dict(locals()))


received: list[dict[str, Any]] = []
counting = typer.Typer()
counting.command()(count)


def helped(command, *words):
    shown = CliRunner().invoke(command, [*words, "--help"], env={"COLUMNS": "300", "LINES": "99"})
    assert shown.exit_code == 0
    return shown.stdout


def places_of(names, text):
    """Where each option is first listed, in its table."""
    table = text[text.index("Options") :]
    return [table.index(f"--{name.replace('_', '-')} ") for name in names]


def test_every_choice_of_reading_has_an_option_and_every_option_is_a_choice():
    assert {field.name for field in fields(ReadingSettings)} == {"tracks", *OPTIONS}


@pytest.mark.parametrize("name", OPTIONS)
def test_an_option_is_of_the_kind_of_its_choice_and_shows_its_default(name):
    hint, option = get_args(OPTIONS[name])
    default = getattr(ReadingSettings(), name)
    kind = str if name == "lag" else type(default)
    assert hint == kind | None
    if isinstance(option.show_default, str):
        assert type(default)(option.show_default) == default


def test_help_lists_every_option_with_its_words():
    for text in (helped(counting), helped(app, "fit")):
        for name, kind in OPTIONS.items():
            assert f"--{name.replace('_', '-')} " in text
            assert get_args(kind)[1].help in text
        assert "[default: (local)]" in text
        assert "A file, a folder, or a pattern in quotes." in text
        assert "--reading" not in text
    for field in fields(FitSettings):
        assert key_of(field) in helped(app, "fit")


def test_what_decides_most_is_listed_first():
    order = places_of(["out", "config", *STATES, "method", *READING], helped(counting))
    assert order == sorted(order)


def test_a_command_receives_what_was_said():
    words = ["fish.csv", "--flip-y", "--state", "turning", "--fps", "25", "--method", "eye"]
    assert CliRunner().invoke(counting, words).exit_code == 0
    got = received.pop()
    assert (got["tracks"], got["method"], got["config"]) == ("fish.csv", "eye", None)
    given = {name: value for name, value in got["reading"].items() if value is not None}
    assert given == {"flip_y": True, "state": "turning", "fps": 25.0}
    assert set(got["reading"]) == set(OPTIONS)


def test_words_on_the_line_go_before_the_file_which_is_never_written_over(tmp_path):
    path = tmp_path / "a.toml"
    path.write_text('lag = 3\nmethod = "map"\nflip-y = true\n')
    said = {"reading": {"lag": "2", "flip_y": None}, "tracks": "fish.csv", "method": None}
    made = settings_of(FitSettings, out=tmp_path / "b.nc", config=path, **said)
    assert made == FitSettings(tracks="fish.csv", lag=2, method="map", flip_y=True)
    with pytest.raises(InputError, match="would be written over"):
        settings_of(FitSettings, out=tmp_path / "a.nc", config=path, **said)
