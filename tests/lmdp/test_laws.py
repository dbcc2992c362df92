"""What every horizon must do, on every kind of passive dynamics."""

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from registries import HORIZONS, PASSIVES, horizon_of, matrix_of, random_graph, random_matrix
from shoal.lmdp.policies import control_cost

every_passive = pytest.mark.parametrize("passive", PASSIVES, indirect=True)
every_horizon = pytest.mark.parametrize("name", HORIZONS)


def costs(passive, seed, scale=2.0, low=0.0):
    return np.random.default_rng(seed).uniform(low, scale, passive.shape)


@every_passive
@every_horizon
def test_state_costs_are_recovered_from_the_cost_to_go(passive, name):
    r = costs(passive, 11)
    solution = shoal.solve(passive, r, horizon_of(name), **HORIZONS[name])
    assert solution.converged, solution.message
    assert np.abs(shoal.state_cost(solution) - r).max() < 1e-9


@given(
    st.integers(0, 10**6),
    st.sampled_from(["dense", "sparse", "circular", "product"]),
    st.sampled_from([1.0, 20.0, 500.0]),
    st.sampled_from(list(HORIZONS)),
)
def test_state_costs_are_recovered_on_random_problems_of_any_size_of_cost(seed, kind, scale, name):
    passive = {
        "dense": lambda: shoal.passive.as_operator(random_matrix(9, seed)),
        "sparse": lambda: shoal.passive.as_operator(random_graph(25, seed)),
        "circular": lambda: PASSIVES["walk on a circle"],
        "product": lambda: PASSIVES["walk to the ends of an interval"],
    }[kind]()
    low = 0.0 if name == "first-exit" else -scale  # with gains on the way, leaving may never pay
    r = costs(passive, seed, scale, low)
    solution = shoal.solve(passive, r, horizon_of(name), **HORIZONS[name])
    assert solution.converged, solution.message
    assert np.all(np.isfinite(solution.cost_to_go))
    assert np.abs(shoal.state_cost(solution) - r).max() < 1e-9 * max(1.0, scale / 20)


@every_passive
@every_horizon
def test_rows_of_the_policy_sum_to_one_and_agree_with_single_rows(passive, name):
    solution = shoal.solve(passive, costs(passive, 5), horizon_of(name), **HORIZONS[name])
    matrix = solution.policy()
    assert np.allclose(matrix.sum(axis=1), 1, atol=1e-12)
    assert np.all(matrix >= 0)
    origin = passive.size // 2
    assert np.allclose(solution.policy(origin).ravel(), matrix[origin], atol=1e-14)


@every_passive
def test_a_constant_added_to_the_cost_to_go_changes_no_policy(passive):
    v = costs(passive, 6)
    assert np.allclose(
        shoal.lmdp.policy(v, passive), shoal.lmdp.policy(v + 123.0, passive), atol=1e-12
    )


@every_passive
def test_average_cost_solutions_agree_with_eigenvectors(passive):
    r = costs(passive, 7, low=-1.0)
    solution = shoal.solve(passive, r)
    matrix = np.exp(-r.ravel())[:, None] * matrix_of(passive)
    values, vectors = np.linalg.eig(matrix)
    top = np.argmax(values.real)
    z = np.abs(vectors[:, top].real)
    expected = -np.log(z)
    assert np.isclose(solution.eigenvalue, values[top].real, rtol=1e-9)
    assert np.allclose(solution.cost_to_go.ravel(), expected - expected.min(), atol=1e-8)


@every_passive
def test_the_long_run_pays_the_average_cost(passive):
    solution = shoal.solve(passive, costs(passive, 8))
    mass = solution.stationary().ravel()
    assert np.isclose(mass.sum(), 1)
    assert np.allclose(mass @ solution.policy(), mass, atol=1e-9)
    assert np.isclose(solution.expected_cost(), solution.average_cost, atol=1e-8)


@every_passive
def test_the_policy_is_optimal_no_other_choice_costs_less(passive):
    """Bellman's equation: v_i ≤ r_i + KL(p ‖ p̄_i) + γ Σ p_j v_j, with equality for p*."""
    gamma = 0.9
    r = costs(passive, 9)
    solution = shoal.solve(passive, r, "discounted", discount=gamma)
    v, dense = solution.cost_to_go.ravel(), matrix_of(passive)
    best = solution.policy()
    rng = np.random.default_rng(1)
    for trial in range(4):
        tilt = np.zeros(v.shape) if trial == 0 else rng.normal(size=v.shape)
        other = best * np.exp(tilt)
        other /= other.sum(axis=1, keepdims=True)
        support = other > 0
        ratio = np.where(support, other / np.where(dense > 0, dense, 1), 1)
        price = r.ravel() + (other * np.log(ratio)).sum(axis=1) + gamma * other @ v
        assert np.all(price >= v - 1e-9)
        if trial == 0:
            assert np.allclose(price, v, atol=1e-9)


@every_passive
def test_control_costs_are_kl_divergences(passive):
    v = costs(passive, 10, low=-2.0)
    dense, best = matrix_of(passive), shoal.lmdp.policy(v, passive, 0.8)
    ratio = np.where(best > 0, best / np.where(dense > 0, dense, 1), 1)
    expected = (best * np.log(ratio)).sum(axis=1)
    found = np.asarray(control_cost(jnp.asarray(v), passive, 0.8)).ravel()
    assert np.allclose(found, expected, atol=1e-10)
