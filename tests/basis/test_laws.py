"""What every basis must do."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

import shoal
from registries import BASES

every_basis = pytest.mark.parametrize(("basis", "space"), BASES.values(), ids=BASES.keys())


@every_basis
def test_applying_agrees_with_the_dense_matrix(basis, space):
    operator = basis.on(space)
    beta = np.random.default_rng(0).normal(size=operator.count)
    dense = np.asarray(eqx.filter_jit(operator.dense)())
    assert dense.shape == (space.size, operator.count)
    applied = eqx.filter_jit(operator.apply)(jnp.asarray(beta))
    assert np.allclose(applied.ravel(), dense @ beta)
    assert applied.shape == space.shape


@every_basis
def test_the_adjoint_agrees_with_the_transposed_matrix(basis, space):
    operator = basis.on(space)
    y = np.random.default_rng(1).normal(size=space.shape)
    dense = np.asarray(eqx.filter_jit(operator.dense)())
    assert np.allclose(eqx.filter_jit(operator.adjoint)(jnp.asarray(y)), dense.T @ y.ravel())


@every_basis
def test_squares_and_weighted_products_agree_with_the_dense_matrix(basis, space):
    operator = basis.on(space)
    dense = np.asarray(eqx.filter_jit(operator.dense)())
    weights = np.random.default_rng(2).uniform(size=space.shape)
    assert np.allclose(operator.map.squared().dense(), dense**2)
    assert np.allclose(operator.map.gram(weights), (dense.T * weights.ravel()) @ dense)


@every_basis
def test_support_is_where_a_function_is_not_zero(basis, space):
    operator = basis.on(space)
    expected = (np.asarray(eqx.filter_jit(operator.dense)()) != 0).any(axis=1).reshape(space.shape)
    assert np.array_equal(operator.support(), expected)


def test_support_ends_where_functions_amount_to_nothing():
    space = shoal.StateSpace(shoal.Circular("angle", bins=36))
    support = shoal.Gaussian(every=6, width=5.0).on(space).support()
    assert support.reshape(6, 6).tolist() == [[True, True, False, False, False, True]] * 6
