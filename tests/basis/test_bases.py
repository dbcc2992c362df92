"""Each basis against a plain loop over its definition."""

import numpy as np
import pytest

import shoal
from registries import CIRCLE, MIXED, NUMBERED, TORUS
from shoal.linear import PerAxisMap, SparseMap

PAPER = shoal.StateSpace(shoal.Circular("local"), shoal.Circular("target"))


def test_planar_bisquare_functions_are_the_819_that_frk_builds():
    operator = shoal.Bisquare(circular=False).on(PAPER)
    dense = np.asarray(operator.dense())
    first, second = PAPER.decode(np.arange(PAPER.size))
    column = 0
    grids = ((3, 175.0, 328.125), (9, 43.75, 82.03125), (27, 350 / 26, 1.875 * 350 / 26))
    for count, spacing, radius in grids:
        for i in range(count):
            for j in range(count):
                centre = (-180 + i * spacing, -180 + j * spacing)
                distance = np.hypot(first - centre[0], second - centre[1])
                expected = np.where(distance < radius, (1 - (distance / radius) ** 2) ** 2, 0)
                assert np.allclose(dense[:, column], expected, atol=1e-12)
                column += 1
    assert column == operator.count == 819
    assert np.linalg.matrix_rank(dense) == 819
    assert 0.033 < np.mean(dense > 0) < 0.035
    assert isinstance(operator.map, SparseMap)


def test_circular_bisquare_functions_do_not_know_where_the_seam_is():
    space = shoal.StateSpace(shoal.Circular("a", bins=27))
    dense = np.asarray(shoal.Bisquare().on(space).dense())[:, 12:]  # the finest resolution
    assert dense.shape == (27, 27)
    for shift in range(27):
        assert np.allclose(np.roll(dense, (shift, shift), axis=(0, 1)), dense, atol=1e-12)


def test_circular_gaussians_go_round_and_planar_ones_do_not():
    round_ = np.asarray(shoal.Gaussian(every=2).on(CIRCLE).dense())
    flat = np.asarray(shoal.Gaussian(every=2, circular=False).on(CIRCLE).dense())
    assert np.isclose(round_[11, 0], round_[1, 0])  # 150° and −150° from ±180°
    assert flat[11, 0] < 1e-10 < flat[1, 0]


def test_neighbouring_gaussians_cross_at_half_their_height_by_default():
    dense = np.asarray(shoal.Gaussian(every=2).on(CIRCLE).dense())
    assert np.isclose(dense[1, 0], 0.5)
    assert np.isclose(dense[0, 0], 1.0)


def test_gaussians_are_as_wide_as_the_bins_around_them_are_far_apart():
    uneven = shoal.states.Interval("d", (0.0, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 5.0, 20.0, 100.0))
    dense = np.asarray(shoal.Gaussian(every=1).on(shoal.StateSpace(uneven)).dense())
    assert np.linalg.cond(dense) < 100


def test_a_complete_fourier_basis_has_one_function_per_bin_and_full_rank():
    for bins in (11, 12):
        space = shoal.StateSpace(shoal.Circular("a", bins=bins))
        dense = np.asarray(shoal.basis.Fourier(order=99).on(space).dense())
        assert dense.shape == (bins, bins)
        assert np.linalg.matrix_rank(dense) == bins


def test_products_are_kept_factored():
    for basis in (shoal.Gaussian(), shoal.basis.Fourier(2), shoal.basis.VonMises(4)):
        assert isinstance(basis.on(TORUS).map, PerAxisMap)
    product = shoal.basis.Product(shoal.basis.Fourier(1), shoal.Identity()).on(MIXED)
    dense = np.kron(shoal.basis.Fourier(1).on_axis(MIXED.axes[0]), np.eye(3))
    assert np.allclose(product.dense(), dense)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: shoal.Gaussian(every=0), "every k-th bin"),
        (lambda: shoal.Gaussian(width=-1.0), "width"),
        (lambda: shoal.Bisquare(resolutions=0), "1 resolution or more"),
        (lambda: shoal.basis.Fourier(order=-1), "order"),
        (lambda: shoal.basis.VonMises(count=0), "1 function or more"),
        (lambda: shoal.basis.VonMises(concentration=0.0), "concentration"),
        (lambda: shoal.basis.Fourier().on(MIXED), "'distance' is not one"),
        (lambda: shoal.Gaussian().on(NUMBERED), "has none"),
        (lambda: shoal.Bisquare().on(NUMBERED), "has none"),
        (
            lambda: shoal.basis.Product(shoal.basis.Fourier(2)).on(TORUS),
            "1 bases do not fit the 2 axes",
        ),
        (lambda: shoal.basis.Product(shoal.Bisquare()), "no one-dimensional form"),
    ],
)
def test_bases_that_cannot_be_built_are_refused_with_a_reason(make, words):
    with pytest.raises(shoal.InputError, match=words):
        make()
