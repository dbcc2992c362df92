"""Fits survive the disk, and nothing foreign or damaged passes for one."""

import errno
import json
import os
import shutil
import subprocess
import sys

import h5py
import numpy as np
import pytest
import scipy.sparse as sp

import shoal
from posterior_problems import random_transitions
from registries import BASES, MIXED, NUMBERED, TORUS, Lazy, random_graph, random_matrix
from shoal.posterior.specification import described, restored
from shoal.system import files

MODELS = {
    "walk": shoal.Model(TORUS, shoal.RandomWalk((60.0, 90.0)), discount=0.9),
    "turns": shoal.Model(TORUS, shoal.TurningMixture((-60.0, 60.0), 40.0)),
    "uniform": shoal.Model(NUMBERED, shoal.Uniform()),
    "dense": shoal.Model(TORUS, random_matrix(48, 3)),
    "sparse": shoal.Model(NUMBERED, random_graph(15, 4)),
    "user's own": shoal.Model(TORUS, Lazy(shape=TORUS.shape)),
    "fixed prior": shoal.Model(MIXED, shoal.Uniform(), prior=shoal.Prior("fixed", value=2.0)),
    **{
        f"basis {type(basis).__name__}": shoal.Model(space, shoal.Uniform(), basis)
        for basis, space in BASES.values()  # the last of each kind
    },
}


APPROXIMATED = ("walk", "sparse", "fixed prior", "basis Smooth")
"""Models with draws; of the others the most probable costs are enough."""
QUICK = ("walk", "user's own", "basis Smooth")
FITTED = [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in MODELS]


def fitted(model, method="laplace"):
    transitions = random_transitions(model.operator(), model.space)
    return model.fit(transitions, method, chains=2, draws=25, seed=6)


@pytest.mark.parametrize("name", FITTED)
def test_fits_come_back_exactly(name, tmp_path):
    model = MODELS[name]
    fit = fitted(model, "laplace" if name in APPROXIMATED else "map")
    path = fit.save(tmp_path / "fit.nc")
    again = shoal.load_fit(path)
    assert again.data.attrs == fit.data.attrs
    assert set(again.data.children) == set(fit.data.children)
    for part, group in fit.data.children.items():
        assert group.to_dataset().identical(again.data[part].to_dataset())
    assert again.model.space == model.space
    assert again.model.prior == model.prior
    assert again.model.discount == model.discount
    assert again.model.basis == model.basis
    assert np.array_equal(again.model.operator().dense(), model.operator().dense())
    assert again.cost_to_go.identical(fit.cost_to_go)
    if isinstance(model.passive, Lazy):  # stored as the matrix it amounts to
        assert np.allclose(again.state_cost, fit.state_cost, atol=1e-12)
    else:
        assert again.state_cost.identical(fit.state_cost)
    assert again.summary().equals(fit.summary())
    assert str(again.diagnostics()) == str(fit.diagnostics())


def test_files_that_do_not_say_where_steps_start_mean_what_they_meant():
    walk = {"kind": "RandomWalk", "sd": 60.0}
    assert restored(walk) == shoal.RandomWalk(60.0, start="centre")
    assert restored({"kind": "WalkMixture", "sd": 5.0}).start == "centre"
    assert restored({"kind": "Uniform"}) == shoal.Uniform("bins")
    axis = {"kind": "Interval", "name": "d", "edges": [0, 1, 2]}
    assert restored(axis).walls == "none"
    assert restored({"kind": "Distance", "edges": [0, 1, 2]}).axis.walls == "none"
    for made in (
        shoal.RandomWalk(60.0),
        shoal.Uniform(("area", "length")),
        shoal.states.Interval("d", (0, 1), walls="high"),
        shoal.states.Speed((0, 1)),
        *(basis for basis, _ in BASES.values()),
    ):
        assert restored(json.loads(json.dumps(described(made)))) == made


def test_a_nuts_fit_comes_back_with_its_convergence_figures(tmp_path):
    fit = fitted(MODELS["walk"], shoal.NUTS(warmup=60))
    again = shoal.load_fit(fit.save(tmp_path / "fit.nc"))
    assert again.data["convergence"].to_dataset().identical(fit.data["convergence"].to_dataset())
    assert again.diagnostics().numbers == fit.diagnostics().numbers


@pytest.mark.slow
def test_numbers_from_numpy_are_as_good_as_any(tmp_path):
    code = """
import sys, numpy as np, shoal
space = shoal.StateSpace(shoal.Circular("a", bins=np.int64(6)))
basis = shoal.Gaussian(every=np.int64(2), width=np.float32(30))
model = shoal.Model(space, shoal.RandomWalk(np.float64(60)), basis, np.float32(0.5))
counts = shoal.count_transitions(np.array([[0, 1, 2, 3, 4, 5, 0]]), space)
method = shoal.NUTS(warmup=np.int64(50))
fit = model.fit(counts, method, chains=np.int64(1), draws=np.int32(25), seed=np.int64(3))
again = shoal.load_fit(fit.save(sys.argv[1]))
assert again.model.space == space and again.model.basis == basis
assert again.data.attrs == fit.data.attrs
"""
    command = [sys.executable, "-c", code, str(tmp_path / "fit.nc")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_an_interrupt_while_writing_leaves_nothing(good, monkeypatch):
    def interrupt(handle):
        raise KeyboardInterrupt

    fit = shoal.load_fit(good)
    monkeypatch.setattr(files.os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        fit.save(good.with_name("other.nc"))
    assert [path.name for path in good.parent.iterdir()] == ["good.nc"]


def test_settings_and_versions_are_inside(stored):
    with h5py.File(stored) as file:
        assert json.loads(file.attrs["versions"])["shoal"] == shoal.__version__
        model = json.loads(file.attrs["model"])
        assert model["passive"] == {
            "kind": "RandomWalk",
            "sd": [60.0, 90.0],
            "start": "anywhere",
        }
        assert model["discount"] == 0.9


def test_a_basis_of_the_users_own_is_named_but_not_executed(tmp_path):
    class Mine:
        def on(self, space):
            return shoal.Identity().on(space)

        def __repr__(self):
            return "Mine()"

    fit = fitted(shoal.Model(TORUS, shoal.Uniform(), Mine()))
    again = shoal.load_fit(fit.save(tmp_path / "fit.nc"))
    assert again.state_cost.identical(fit.state_cost)
    with pytest.raises(shoal.InputError, match=r"made with Mine\(\), which a file cannot hold"):
        again.model.basis.on(TORUS)


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    return fitted(MODELS["walk"]).save(tmp_path_factory.mktemp("stored") / "fit.nc")


@pytest.fixture
def good(stored, tmp_path):
    return shutil.copy(stored, tmp_path / "good.nc")


def damaged(good, how):
    bad = good.with_name("bad.nc")
    shutil.copy(good, bad)
    if how == "empty":
        bad.write_bytes(b"")
    elif how == "text":
        bad.write_text("local,target\n1,2\n")
    elif how == "truncated":
        bad.write_bytes(good.read_bytes()[: good.stat().st_size // 2])
    else:
        with h5py.File(bad, "r+") as file:
            how(file)
    return bad


def set_model(**changes):
    def change(file):
        file.attrs["model"] = json.dumps(json.loads(file.attrs["model"]) | changes)

    return change


DAMAGES = {
    "empty": ("empty", "damaged or not a netCDF file"),
    "text": ("text", "damaged or not a netCDF file"),
    "truncated": ("truncated", "damaged or not a netCDF file"),
    "foreign": (lambda f: f.attrs.__delitem__("shoal_format"), "netCDF but not a fit"),
    "future": (lambda f: f.attrs.__setitem__("shoal_format", "shoal-fit-9"), "shoal-fit-9"),
    "half": (lambda f: f.__delitem__("posterior"), "lacks posterior"),
    "unknown kind": (set_model(basis={"kind": "os.system"}), "unknown kind of specification"),
    "wrong field": (set_model(basis={"kind": "Gaussian", "evil": 1}), "does not fit"),
    "wrong axes": (set_model(axes=[{"kind": "Circular", "bins": 5}]), "do not fit states"),
    "wrong discount": (set_model(discount=7), r"lies in \[0, 1\], got 7"),
    "an axis that is none": (set_model(axes=[{"kind": "Identity"}]), "damaged|made of axes"),
    "no costs": (lambda f: f["posterior"].__delitem__("cost_to_go"), "lacks posterior/cost_to_go"),
    "no facts": (lambda f: f.attrs.__setitem__("facts", "{}"), "whether it converged"),
    "broken facts": (lambda f: f.attrs.__setitem__("facts", "{"), "damaged description"),
    "nan": (lambda f: f["posterior/cost_to_go"].__setitem__(0, np.nan), "not finite"),
    "nuts without figures": (lambda f: f.attrs.__setitem__("method", "nuts"), "lacks"),
    "not json": (lambda f: f.attrs.__setitem__("model", "{"), "damaged description"),
}


@pytest.mark.parametrize(("how", "words"), DAMAGES.values(), ids=DAMAGES.keys())
def test_corrupt_and_foreign_files_are_refused_with_their_name(good, how, words):
    bad = damaged(good, how)
    with pytest.raises(shoal.InputError, match=words) as error:
        shoal.load_fit(bad)
    assert str(bad) in str(error.value)


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(shoal.InputError, match="is not a file"):
        shoal.load_fit(tmp_path / "nowhere.nc")


def test_a_full_disk_leaves_the_old_file_and_nothing_else(good, monkeypatch):
    before = good.read_bytes()
    fit = shoal.load_fit(good)

    def full(handle):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(shoal.OutputError, match="No space left on device"):
        fit.save(good)
    assert good.read_bytes() == before
    assert [path.name for path in good.parent.iterdir()] == ["good.nc"]


def test_a_folder_that_is_not_there_is_refused_and_not_made(good):
    with pytest.raises(shoal.OutputError, match="could not be written"):
        shoal.load_fit(good).save(good.parent / "nowhere" / "fit.nc")
    assert not (good.parent / "nowhere").exists()


def test_sparse_dynamics_stay_sparse(tmp_path):
    again = shoal.load_fit(fitted(MODELS["sparse"]).save(tmp_path / "fit.nc"))
    assert isinstance(again.model.operator(), shoal.passive.SparseDynamics)
    assert sp.issparse(again.model.operator().map.matrix())
