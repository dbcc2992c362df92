"""An interrupted run goes on and ends with the draws it would have had."""

import errno
import io
from pathlib import Path

import numpy as np
import pytest

import shoal
from shoal.errors import InputError, OutputError
from shoal.posterior.checkpoint import MARK, Checkpoint
from shoal.system import files

SETTINGS = shoal.NUTS(warmup=60)


def states(count, seed=0):
    return [np.random.default_rng(seed).integers(0, count, 300)]


def numbered():
    """A coefficient for each state."""
    space = shoal.StateSpace.discrete(5)
    return shoal.Model(space, np.full((5, 5), 0.2)), shoal.count_transitions(states(5), space)


def learned():
    """Scales, lengths and passive dynamics are unknown, too."""
    space = shoal.StateSpace(shoal.LocalMisalignment(bins=8))
    model = shoal.Model(space, shoal.TurnCoupled(tails=0.5, follow=1.0), shoal.Smooth(order=2))
    return model, shoal.count_transitions(states(8), space)


def run(problem, folder=None, draws=60, stop_after=None, **changes):
    """A fit that a user stops after so many draws of all chains."""
    model, counts = problem

    def report(stage, done, total):
        if stop_after is not None and stage == "NUTS" and done >= stop_after:
            raise KeyboardInterrupt

    options = {"chains": 2, "seed": 3, "progress": report} | changes
    return model.fit(counts, SETTINGS, draws=draws, checkpoint=folder, **options)


def drawn(fit):
    stats = fit.data["sample_stats"].to_dataset()
    return [fit.sampled.values, *(stats[name].values for name in sorted(map(str, stats)))]


def same(one, other):
    return all(np.array_equal(a, b) for a, b in zip(drawn(one), drawn(other), strict=True))


@pytest.fixture(scope="module", params=[numbered, pytest.param(learned, marks=pytest.mark.slow)])
def problem(request):
    return request.param()


@pytest.fixture(scope="module")
def whole(problem):
    return run(problem)


@pytest.mark.parametrize("moments", [(1,), (30, 31, 100), (60,), (121, 200), (239,), (240,)])
def test_an_interrupted_run_ends_as_if_it_had_not_been(problem, whole, moments, tmp_path):
    for moment in moments:
        with pytest.raises(KeyboardInterrupt):
            run(problem, tmp_path, stop_after=moment)
    assert same(run(problem, tmp_path), whole)


def test_what_is_kept_is_not_drawn_again(problem, whole, tmp_path):
    run(problem, tmp_path)
    parts = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    seen = []
    again = run(problem, tmp_path, progress=lambda stage, done, total: seen.append((stage, done)))
    assert same(again, whole)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == parts
    assert [done for stage, done in seen if stage == "NUTS"] == [60, 120, 240]  # a stage at a time


def test_a_run_may_go_on_for_longer_than_it_was_meant_to(tmp_path):
    problem = numbered()
    run(problem, tmp_path, draws=40)
    longer = run(problem, tmp_path, draws=70)
    assert same(longer, run(problem, draws=70))


def test_a_damaged_part_is_named_and_can_be_drawn_again(tmp_path):
    problem = numbered()
    whole = run(problem, tmp_path)
    rng = np.random.default_rng(5)
    for path in sorted(tmp_path.iterdir()):
        content = bytearray(path.read_bytes())
        place = int(rng.integers(len(content)))
        content[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(bytes(content))
        with pytest.raises(InputError, match="damaged, its checksum does not match") as error:
            run(problem, tmp_path)
        assert str(path) in str(error.value)
        path.unlink()
        assert same(run(problem, tmp_path), whole)


@pytest.mark.parametrize("cut", [0, 10, 200])
def test_a_part_that_was_cut_short_is_named(cut, tmp_path):
    problem = numbered()
    run(problem, tmp_path)
    part = next(tmp_path.glob("draws-1-*"))
    part.write_bytes(part.read_bytes()[:cut])
    with pytest.raises(InputError, match=part.name):
        run(problem, tmp_path)


def test_another_run_is_refused_and_told_what_differs(tmp_path):
    problem = numbered()
    run(problem, tmp_path)
    with pytest.raises(InputError, match="seed 3 → 4"):
        run(problem, tmp_path, seed=4)
    with pytest.raises(InputError, match="chains 2 → 3"):
        run(problem, tmp_path, chains=3)
    model, _ = problem
    others = shoal.count_transitions(states(5, seed=1), model.space)
    with pytest.raises(InputError, match="transitions"):
        run((model, others), tmp_path)
    wider = shoal.Model(model.space, np.full((5, 5), 0.2), prior=shoal.Prior(shape=1, rate=1))
    with pytest.raises(InputError, match="model"):
        run((wider, problem[1]), tmp_path)


def test_parts_of_another_plan_do_not_pass(tmp_path):
    problem = numbered()
    run(problem, tmp_path)
    (tmp_path / "plan.part").unlink()
    with pytest.raises(InputError, match="damaged"):
        run(problem, tmp_path, seed=4)


def test_nothing_in_a_part_is_executed(tmp_path):
    checkpoint = Checkpoint(tmp_path, {"seed": 1})
    buffer = io.BytesIO()
    np.savez(buffer, position=np.array([Checkpoint], dtype=object))
    (tmp_path / "evil.part").write_bytes(checkpoint._sealed(buffer.getvalue()))
    with pytest.raises(InputError, match="holds no draws"):
        checkpoint.read("evil")
    assert (tmp_path / "plan.part").read_bytes().startswith(MARK)


def test_a_full_disk_stops_the_run_and_leaves_what_was_saved(problem, whole, tmp_path, monkeypatch):
    write, room = Path.write_bytes, [7]

    def filling(path, content):
        if path.parent == tmp_path and path.suffix == ".part":
            room[0] -= 1
            if room[0] < 0:
                write(path, content[: len(content) // 2])
                raise OSError(errno.ENOSPC, "No space left on device")
        return write(path, content)

    monkeypatch.setattr(files.Path, "write_bytes", filling)
    with pytest.raises(OutputError, match="No space left on device"):
        run(problem, tmp_path)
    monkeypatch.undo()
    assert sorted(tmp_path.iterdir()) == sorted(tmp_path.glob("[!.]*.part"))
    assert len(list(tmp_path.iterdir())) >= 7
    assert same(run(problem, tmp_path), whole)


def test_other_methods_keep_no_draws(tmp_path):
    model, counts = numbered()
    with pytest.raises(InputError, match="only nuts keeps draws"):
        model.fit(counts, "laplace", checkpoint=tmp_path)
