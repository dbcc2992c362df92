"""Choices go to a TOML file and come back, whatever a command chooses."""

import tomllib
from dataclasses import dataclass, fields
from typing import ClassVar

import pytest

from shoal.errors import InputError
from shoal.workflows.options import option
from shoal.workflows.reading import Reading
from shoal.workflows.settings import FitSettings, ReadingSettings


@dataclass(frozen=True)
class Contest(ReadingSettings):
    """Of a command that is not there."""

    command: ClassVar[str] = "contest"
    share: float = option(0.5, "Of the prize.")
    prize: str = option("fish", "What is won.")


@pytest.mark.parametrize("kind", [FitSettings, Contest])
def test_choices_come_back_as_they_were(kind, tmp_path):
    made = kind(tracks='ein "Fisch".csv', flip_y=True, every=5, max_step=0.1, lag="auto")
    path = tmp_path / "a.toml"
    path.write_text(made.toml(), encoding="utf-8")
    found = kind.from_toml(path)
    assert kind(**found) == made
    assert set(found) == {field.name for field in fields(kind)}
    assert f"shoal {kind.command} --config" in made.toml().splitlines()[0]


def test_a_file_lists_reading_preparing_states_then_what_is_the_commands_own():
    keys = list(tomllib.loads(Contest().toml()))
    assert keys[:3] == ["command", "tracks", "format"]
    assert keys[-4:] == ["tracker-headings", "share", "prize", "cluster"]
    keys = list(tomllib.loads(FitSettings().toml()))
    assert keys[-10:] == [
        *("passive", "basis", "discount", "method", "chains", "draws", "warmup"),
        *("target-acceptance", "seed", "cluster"),
    ]


def test_whole_numbers_pass_for_others_but_not_the_other_way_round(tmp_path):
    path = tmp_path / "a.toml"
    path.write_text("share = 1")
    assert type(Contest.from_toml(path)["share"]) is float
    for text, words in (
        ("every = 1.0", "every is int, such as 0; got 1.0"),
        ("every = true", "every is int, such as 0; got True"),
        ("prize = 3", "prize is str, such as 'fish'; got 3"),
        ("lag = 1.5", "lag is int or str, such as 1; got 1.5"),
        ("size = 3", "no choice 'size'; there are tracks, .*, share, prize, cluster"),
    ):
        path.write_text(text)
        with pytest.raises(InputError, match=words):
            Contest.from_toml(path)


def test_a_lag_is_a_number_or_auto():
    assert [FitSettings(lag=words).lag for words in (3, "3", "auto")] == [3, 3, "auto"]
    assert "lag = 3\n" in FitSettings(lag="3").toml()
    assert 'lag = "auto"\n' in FitSettings(lag="auto").toml()
    assert Reading(ReadingSettings(lag="4")).lag == 4
    for words in ("often", "2.5", "", "Auto"):
        with pytest.raises(InputError, match=f"a whole number of frames, or auto; got '{words}'"):
            ReadingSettings(lag=words)
