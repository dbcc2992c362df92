"""What tracks cannot tell, and numbers that are none, reach the user as sentences."""

import jax.numpy as jnp
import numpy as np
import pytest

import shoal
from shoal.errors import InputError
from shoal.posterior.identified import compared_parts
from shoal.posterior.memory import needed_memory
from shoal.system.memory import free_memory, refuse_beyond_memory


def test_parts_that_no_departure_compares_are_told_apart():
    islands = np.kron(np.eye(3), np.full((2, 2), 0.5))
    space = shoal.StateSpace.discrete(6)
    counts = shoal.count_transitions([[0, 1, 1, 0, 1], [2, 3, 3, 2, 3], [3, 2, 2]], space)
    model = shoal.Model(space, islands)
    parts = compared_parts(model.operator(), counts.departures)
    assert parts[0] == parts[1] != parts[2] == parts[3]
    assert list(parts[4:]) == [-1, -1]  # nobody was ever there
    found = model.fit(counts, "laplace", seed=1, progress=False).diagnostics()
    assert found.numbers["parts_not_compared"] == 2
    assert any("2 parts that these tracks never compare" in note for note in found.notes)


def test_a_chain_of_comparisons_joins_states():
    ring = 0.5 * (np.eye(5) + np.roll(np.eye(5), 1, axis=1))
    space = shoal.StateSpace.discrete(5)
    counts = shoal.count_transitions([[0, 1, 2, 3, 4, 0]], space)
    parts = compared_parts(shoal.Model(space, ring).operator(), counts.departures)
    assert np.unique(parts).size == 1


def test_a_basis_that_cannot_say_it_is_named():
    space = shoal.StateSpace(shoal.Circular("angle", bins=24))
    rng = np.random.default_rng(1)
    spiky = np.where(np.arange(24) % 2, 0.002, 1.0)
    states = [rng.choice(24, size=4000, p=spiky / spiky.sum())]
    counts = shoal.count_transitions(states, space)
    coarse, fine = (
        shoal.Model(space, shoal.Uniform(), basis).fit(counts, "map", progress=False).diagnostics()
        for basis in (shoal.basis.Fourier(2), shoal.Identity())
    )
    assert any("cannot say all that these tracks show" in note for note in coarse.notes)
    assert not any("cannot say" in note for note in fine.notes)
    assert fine.numbers["largest_misfit"] < 3


def test_states_that_nobody_entered_are_marked_in_the_table():
    space = shoal.StateSpace.discrete(4)
    counts = shoal.count_transitions([[0, 1, 1, 2, 1]], space)
    model = shoal.Model(space, np.full((4, 4), 0.25))
    table = model.fit(counts, "laplace", draws=50, progress=False).summary()
    assert list(table["entered"]) == [False, True, True, False]


class Broken:
    """Passive dynamics of the user's own that give no number from one state, where costs differ."""

    def on(self, space):
        operator = shoal.Uniform().on(space)
        kind = type(operator)

        class Faulty(kind):
            def apply_positive(self, values):
                found, differ = self.apply(values), jnp.ptp(values) > 1e-12
                return found.at[3].set(jnp.where(differ, jnp.nan, found[3]))

        return Faulty(*operator.__dict__.values())


@pytest.mark.parametrize("method", ["nuts", "map"])
def test_a_log_posterior_that_is_no_number_names_its_state(method):
    space = shoal.StateSpace(shoal.Circular("angle", bins=6))
    counts = shoal.count_transitions([np.arange(60) % 6], space)
    words = r"not finite.*passive dynamics give no number from state 3"
    with pytest.raises(InputError, match=words):
        shoal.Model(space, Broken()).fit(counts, method, progress=False)


def test_memory_is_estimated_before_it_is_asked_for():
    assert needed_memory(1296, 1296, "nuts", 4000) > 4000 * 1296 * 8
    assert needed_memory(3000, 3000, "laplace", 10) > 20 * 3000**2 * 8
    assert needed_memory(10**6, 10**6, "map", 1) < 1e9
    assert free_memory() > 0
    with pytest.raises(
        InputError, match=r"about 5.0 GB of memory, and 2.0 GB are free: draw fewer"
    ):
        refuse_beyond_memory(5e9, "nuts", "draw fewer", free=2 * 10**9)
    refuse_beyond_memory(5e9, "nuts", "draw fewer", free=6 * 10**9)


def test_a_fit_that_does_not_fit_is_refused_at_once():
    space = shoal.StateSpace.discrete(2000)
    counts = shoal.count_transitions([np.arange(2000)], space)
    model = shoal.Model(space, shoal.Uniform())
    with pytest.raises(InputError, match="GB are free: draw fewer"):
        model.fit(counts, "nuts", draws=10**8, progress=False)
