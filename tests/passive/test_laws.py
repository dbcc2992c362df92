"""What every kind of passive dynamics must do, whoever wrote it."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import chi2

from registries import MORE_PASSIVES, PASSIVES, matrix_of

every_passive = pytest.mark.parametrize("passive", [*PASSIVES, *MORE_PASSIVES], indirect=True)


def field(passive, seed=0):
    return jnp.asarray(np.random.default_rng(seed).normal(size=passive.shape))


@every_passive
def test_rows_are_probabilities(passive):
    dense = matrix_of(passive)
    assert dense.shape == (passive.size, passive.size)
    assert np.all(dense >= 0)
    assert np.allclose(dense.sum(axis=1), 1, atol=1e-12)


@every_passive
def test_applying_agrees_with_the_dense_matrix(passive):
    x = field(passive)
    expected = matrix_of(passive) @ np.asarray(x).ravel()
    assert np.allclose(eqx.filter_jit(passive.apply)(x).ravel(), expected, atol=1e-13)


@every_passive
def test_the_adjoint_agrees_with_the_transposed_matrix(passive):
    x = field(passive)
    expected = matrix_of(passive).T @ np.asarray(x).ravel()
    assert np.allclose(eqx.filter_jit(passive.adjoint)(x).ravel(), expected, atol=1e-13)


@every_passive
def test_a_row_is_a_row_of_the_dense_matrix(passive):
    dense = matrix_of(passive)
    row = eqx.filter_jit(passive.row)
    for origin in (0, passive.size // 2, passive.size - 1):
        assert np.allclose(row(jnp.asarray(origin)).ravel(), dense[origin], atol=1e-14)


@every_passive
def test_log_probabilities_are_those_of_the_dense_matrix(passive):
    dense = matrix_of(passive)
    origin, destination = map(np.ravel, np.indices(dense.shape))
    told = eqx.filter_jit(passive.log_probability)
    logs = np.asarray(told(jnp.asarray(origin), jnp.asarray(destination)))
    expected = dense.ravel()
    assert np.all(np.isneginf(logs[expected == 0]))
    assert np.allclose(logs[expected > 0], np.log(expected[expected > 0]), atol=1e-10)


@every_passive
def test_samples_follow_the_row_they_start_from(passive):
    origin, count = passive.size // 3, 4000
    chosen = passive.sample(jax.random.key(7), jnp.full(count, origin))
    row = matrix_of(passive)[origin]
    seen = np.bincount(np.asarray(chosen), minlength=passive.size)
    assert np.all(seen[row == 0] == 0)
    likely = row * count >= 5
    rest = max(row[~likely].sum(), 1e-300)
    expected = np.append(row[likely], rest) * count
    observed = np.append(seen[likely], seen[~likely].sum())
    kept = expected >= 5
    statistic = ((observed - expected)[kept] ** 2 / expected[kept]).sum()
    assert statistic < chi2.ppf(1 - 1e-5, kept.sum())


@every_passive
def test_it_survives_compilation_and_differentiation(passive):
    x = jnp.abs(field(passive)) + 0.1

    def total(y):
        return jnp.sum(jnp.log(passive.apply(y)))

    slope = jax.jit(jax.grad(total))(x)
    matrix = matrix_of(passive)
    expected = matrix.T @ (1 / (matrix @ np.ravel(x)))
    assert np.allclose(slope.ravel(), expected, rtol=1e-12)
