"""Stages of long work on a terminal: how far, how long, and that each of them ends."""

import io
import time
from types import SimpleNamespace

import pytest
from rich.console import Console

import shoal
from shoal.cli.answering import Answer, answering
from shoal.system.progress import lines_on, reporting, silent, stages_on, told


def at(done, total, passed=60.0, left=None, finished=None):
    return SimpleNamespace(
        completed=done, total=total, elapsed=passed, time_remaining=left,
        finished=finished is not None, finished_time=finished,
    )  # fmt: skip


TOLD = {
    "at the start": (at(0, 10, 0.0), "0/10, 0:00 passed"),
    "after the first of few long steps": (at(1, 5), "1/5, 1:00 passed, 4:00 left"),
    "by its present speed": (at(50, 100, 3600.0, 7.0), "50/100, 1:00:00 passed, 0:07 left"),
    "nobody knows how long": (at(7, None), "7, 1:00 passed"),
    "done": (at(5, 5, finished=61.0), "5/5, done in 1:01"),
}


@pytest.mark.parametrize(("task", "words"), TOLD.values(), ids=TOLD.keys())
def test_a_stage_tells_its_steps_and_times(task, words):
    assert told(task) == words


def drawn(reports):
    """The last picture of a terminal before the work is over."""
    out = io.StringIO()
    with stages_on(Console(file=out, force_terminal=True, width=100, color_system=None)) as report:
        for one in reports:
            report(*one)
    return out.getvalue()


def test_a_stage_without_a_known_end_is_over_when_the_next_begins():
    picture = drawn([("ADVI", 3, None), ("NUTS [fast]", 1, 4)])
    assert "3/3, done in 0:00" in picture
    assert "NUTS [fast]" in picture and "1/4, 0:00 passed, 0:00 left" in picture


def test_a_stage_may_begin_once_more():
    picture = drawn([("ADVI", 3, None), ("ADVI", 3, 3), ("ADVI", 1, None)])
    assert "3/3, done" in picture and "1, 0:00 passed" in picture


@pytest.mark.parametrize(
    "method", ["laplace", shoal.posterior.ADVI(), shoal.posterior.ADVI(family="full-rank")], ids=str
)
def test_what_a_method_reports_reaches_an_end(method):
    space = shoal.StateSpace(shoal.Circular("a", bins=5))
    counts = shoal.count_transitions([[0, 1, 2, 3, 4, 0, 0, 1, 0, 4, 3, 4, 0, 1, 1, 0]], space)
    reports = []
    shoal.Model(space, shoal.RandomWalk(80.0)).fit(
        counts, method, draws=50, seed=1, progress=lambda *words: reports.append(words)
    )
    last = {stage: (done, total) for stage, done, total in reports}
    assert last
    assert all(done == total for done, total in last.values()), last


def test_without_a_terminal_lines_come_now_and_then_also_while_nothing_is_reported():
    out = io.StringIO()
    with lines_on(out, every=0.02) as report:
        report("reading", 1, 4)
        for n in range(1000):
            report("simulating", n, 5000)
        time.sleep(0.2)
    lines = out.getvalue().splitlines()
    assert 2 <= len(lines) <= 30
    assert lines[-1].startswith("shoal: simulating 999/5000, 0:00 passed, about ")
    time.sleep(0.05)
    assert out.getvalue().splitlines() == lines  # they end with the work


def test_short_work_says_nothing():
    out = io.StringIO()
    with lines_on(out) as report:
        report("reading", 1, 4)
    assert out.getvalue() == ""


def test_a_command_reports_lines_where_there_is_no_terminal(monkeypatch, capsys):
    given = []

    def short(progress: bool | None = None) -> Answer:
        given.append(progress)
        return Answer({})

    def serving(progress: bool | None = None) -> None:
        given.append(progress)

    context = SimpleNamespace(obj={})
    for command in (short, serving):
        for quiet in (False, True):
            answering(command)(context, json=False, quiet=quiet, debug=False)
    assert callable(given[0]) and given[1:] == [False, None, False]


def test_without_a_terminal_or_a_wish_there_is_silence(capsys):
    for wish in (None, False):
        with reporting(wish) as report:
            assert report is silent
            report("NUTS", 1, 2)
    assert capsys.readouterr() == ("", "")
