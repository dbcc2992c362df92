"""Problems whose answers are known, and input that has none."""

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp

import shoal
from registries import PASSIVES, random_matrix
from shoal.lmdp.log_space import log_adjoint, log_apply
from shoal.paper.spp import spp_costs

SPP = shoal.StateSpace(shoal.Circular("local"))


def test_the_spp_flock_has_its_known_solution():
    axis = SPP.axes[0]
    solution = shoal.solve(shoal.TurningMixture().on(SPP), spp_costs(axis))
    assert abs(solution.eigenvalue - 0.0958354474) < 1e-9
    assert abs(solution.average_cost - 2.3451226479) < 1e-9
    known = {0: 0, 10: 2.5014, 20: 4.0050, 30: 5.0108, 60: 5.3943, 90: 8.3874, 180: 13.6443}
    for angle, value in known.items():
        for sign in (1, -1):
            state = int(axis.locate(np.array(float(sign * angle))))
            assert abs(solution.cost_to_go[state] - value) < 5e-5, angle
    assert solution.iterations < 20
    assert np.abs(shoal.state_cost(solution) - spp_costs(axis)).max() < 1e-10


def test_the_papers_sign_of_log_lambda_would_be_wrong_by_twice_its_value():
    cost = spp_costs(SPP.axes[0])
    solution = shoal.solve(shoal.TurningMixture().on(SPP), cost)
    passive = solution.passive
    up_to_constant = shoal.state_cost(solution.cost_to_go, passive)
    printed = up_to_constant + np.log(solution.eigenvalue)
    assert np.allclose(printed - cost, 2 * np.log(solution.eigenvalue), atol=1e-10)


@given(st.integers(0, 10**6), st.sampled_from([1.0, 300.0, 3000.0]))
def test_log_space_application_is_exact_for_any_range(seed, scale):
    matrix = random_matrix(12, seed)
    operator = shoal.passive.as_operator(matrix)
    x = np.random.default_rng(seed).normal(scale=scale, size=12)
    expected = logsumexp(np.log(matrix) + x, axis=1)
    assert np.allclose(log_apply(operator, jnp.asarray(x)), expected, rtol=1e-12, atol=1e-12)
    turned = logsumexp(np.log(matrix) + x[:, None], axis=0)
    assert np.allclose(log_adjoint(operator, jnp.asarray(x)), turned, rtol=1e-12, atol=1e-12)


def test_log_space_application_keeps_what_cannot_be_reached_apart():
    operator = shoal.passive.as_operator(np.eye(3))
    found = log_apply(operator, jnp.array([-jnp.inf, 0.0, -2000.0]))
    assert found.tolist() == [-np.inf, 0.0, -2000.0]
    nothing = log_apply(operator, jnp.full(3, -jnp.inf))
    assert np.all(np.isneginf(nothing))


def test_periodic_dynamics_converge_to_the_mean_cost_of_the_cycle():
    ring = np.roll(np.eye(5), 1, axis=1)
    solution = shoal.solve(ring, np.arange(5.0))
    assert solution.converged
    assert np.isclose(solution.average_cost, 2.0)


def test_a_ladder_to_the_exit_costs_its_rungs():
    """A walk that can only go down pays every cost on its way."""
    ladder = np.eye(6, k=-1)
    ladder[0, 0] = 1.0
    solution = shoal.solve(ladder, np.array([7.0, 1, 2, 3, 4, 5]), "first-exit")
    assert solution.absorbing == (0,)
    assert np.allclose(solution.cost_to_go, [7, 8, 10, 13, 17, 22])


def test_a_first_exit_problem_is_a_linear_system():
    matrix = random_matrix(10, 4)
    r = np.random.default_rng(4).uniform(0, 2, 10)
    inner = np.arange(2, 10)
    system = np.eye(8) - np.exp(-r[inner])[:, None] * matrix[np.ix_(inner, inner)]
    source = np.exp(-r[inner]) * (matrix[np.ix_(inner, [0, 1])] @ np.exp(-r[:2]))
    expected = -np.log(np.linalg.solve(system, source))
    solution = shoal.solve(matrix, r, "first-exit", absorbing=[0, 1])
    assert np.allclose(solution.cost_to_go[inner], expected, atol=1e-10)
    assert np.array_equal(solution.cost_to_go[:2], r[:2])


def test_a_finite_horizon_has_a_cost_to_go_for_every_step():
    matrix, r = random_matrix(4, 5), np.array([0.0, 1.0, 2.0, 3.0])
    solution = shoal.solve(matrix, r, "finite", steps=3)
    v = r
    for step in (2, 1, 0):
        v = r - np.log(matrix @ np.exp(-v))
        assert np.allclose(solution.cost_to_go[step], v)
    changing = np.stack([r, 2 * r, 3 * r])
    other = shoal.solve(matrix, changing, "finite")
    assert np.allclose(shoal.state_cost(other), changing)
    assert np.allclose(other.policy(step=1), shoal.lmdp.policy(3 * r, matrix))


def test_problems_without_an_answer_say_so_in_a_sentence():
    apart = shoal.solve(np.eye(3), np.arange(3.0), max_iterations=300)
    assert not apart.converged
    assert "do not reach each other" in apart.message
    trap = np.array([[0.0, 0.9, 0.1], [0.9, 0.0, 0.1], [0, 0, 1.0]])
    tempting = shoal.solve(trap, np.array([-1.0, -1.0, 0.0]), "first-exit", max_iterations=2000)
    assert not tempting.converged
    assert "pay never to leave" in tempting.message


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda p: shoal.solve(p, np.ones(3)), r"cost of shape \(3,\) does not fit"),
        (lambda p: shoal.solve(p, np.full(4, np.nan)), "state 0 has nan"),
        (lambda p: shoal.solve(p, np.ones(4), "infinite"), "horizon is one of"),
        (lambda p: shoal.solve(p, np.ones(4), "discounted"), r"lies in \[0, 1\], got None"),
        (lambda p: shoal.solve(p, np.ones(4), "discounted", discount=1.5), "got 1.5"),
        (lambda p: shoal.solve(p, np.ones(4), "discounted", discount=1.0), "never ends"),
        (lambda p: shoal.solve(p, np.ones(4), "average", discount=0.5), "goes with horizon"),
        (lambda p: shoal.solve(p, np.ones(4), "first-exit"), "at least one absorbing"),
        (lambda p: shoal.solve(p, np.ones(4), "first-exit", absorbing=[9]), "absorbing state 9"),
        (lambda p: shoal.solve(p, ["a"] * 4), "array of numbers"),
        (lambda p: shoal.solve(p, np.ones(4), "first-exit", absorbing=[0.7]), "state 0.7 is not"),
        (lambda p: shoal.solve(p, np.ones(4), "first-exit", absorbing=[np.nan]), "nan is not"),
        (lambda p: shoal.solve(p, np.ones(4), "finite", steps=2.5), "whole number of steps"),
        (lambda p: shoal.lmdp.policy(np.ones(4), p, 2.0), "got 2"),
        (lambda p: shoal.state_cost(np.ones((3, 4)), p), r"shape \(3, 4\) does not fit"),
        (lambda p: shoal.state_cost(np.ones((3, 4)), p, 0.9, horizon="finite"), "no discount"),
        (lambda p: shoal.state_cost(np.ones(4), p, horizon="finite"), "got a single one"),
        (lambda p: shoal.state_cost(np.ones(4), p, average_cost=np.nan), "got nan"),
        (lambda p: shoal.solve(p, np.ones(4), "finite"), "give steps="),
        (lambda p: shoal.solve(p, np.ones(4), "finite", steps=0), "at least 1 step"),
        (lambda p: shoal.solve(p, np.ones((2, 4)), "finite", steps=5), "6 costs per state"),
        (lambda p: shoal.state_cost(np.ones(4), p, 2.0), r"lies in \[0, 1\], got 2"),
        (lambda p: shoal.state_cost(np.ones(4)), "needs the passive dynamics"),
        (lambda p: shoal.solve(p, np.ones(4)).policy(7), "state 7 is out of range"),
        (lambda p: shoal.solve(p, np.ones(4), "finite", steps=2).stationary(), "no long run"),
    ],
)
def test_bad_input_is_refused_with_the_value(make, words):
    with pytest.raises(shoal.InputError, match=words):
        make(random_matrix(4, 6))


def test_an_absorbing_set_that_cannot_be_reached_is_refused_with_a_state():
    blocks = np.zeros((4, 4))
    blocks[:2, :2] = blocks[2:, 2:] = 0.5
    with pytest.raises(shoal.InputError, match="from 2 of 4 states, the first is state 2"):
        shoal.solve(blocks, np.ones(4), "first-exit", absorbing=[0])


@pytest.mark.parametrize("horizon", ["average", "discounted"])
def test_an_axis_of_one_bin_is_no_horizon(horizon):
    space = shoal.StateSpace(shoal.Circular("a", bins=1), shoal.Circular("b", bins=6))
    passive = shoal.RandomWalk(60.0).on(space)
    r = np.random.default_rng(0).uniform(size=(1, 6))
    options = {"discount": 0.9} if horizon == "discounted" else {}
    assert np.allclose(shoal.state_cost(shoal.solve(passive, r, horizon, **options)), r, atol=1e-9)


def test_a_policy_that_falls_apart_has_no_stationary_distribution():
    solution = shoal.solve(np.eye(2), np.ones(2))
    with pytest.raises(shoal.InputError, match="falls apart"):
        solution.stationary()


def test_absorbing_states_are_never_left():
    solution = shoal.solve(random_matrix(6, 2), np.ones(6), "first-exit", absorbing=[2])
    assert solution.policy()[2].tolist() == [0, 0, 1, 0, 0, 0]
    assert solution.policy(2).tolist() == [0, 0, 1, 0, 0, 0]


@pytest.mark.parametrize("discount", [0.99, 0.99999, 0.9999999])
def test_contrasts_keep_their_digits_however_near_the_discount_is_to_one(discount):
    """As γ → 1 the discounted contrasts become those of the average-cost problem."""
    matrix, r = random_matrix(12, 9), np.random.default_rng(9).uniform(0, 3, 12)
    solution = shoal.solve(matrix, r, "discounted", discount=discount)
    limit = shoal.solve(matrix, r).cost_to_go
    assert solution.converged
    found = solution.cost_to_go - solution.cost_to_go.min()
    assert np.abs(found - limit).max() < 10 * (1 - discount) + 1e-7


def test_what_is_not_a_number_is_not_taken_for_nothing():
    found = log_apply(PASSIVES["walk on a circle"], jnp.full(12, 0.0).at[3].set(jnp.nan))
    assert np.all(np.isnan(found))


def test_grids_and_flat_arrays_are_the_same_problem():
    passive = PASSIVES["walk on a torus"]
    r = np.random.default_rng(0).uniform(size=passive.shape)
    grid, flat = shoal.solve(passive, r), shoal.solve(passive, r.ravel())
    assert grid.cost_to_go.shape == passive.shape
    assert flat.cost_to_go.shape == (passive.size,)
    assert np.array_equal(grid.cost_to_go.ravel(), flat.cost_to_go)
