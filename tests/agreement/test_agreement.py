"""Shoal's posterior is the posterior that NumPyro finds for the same model plainly written."""

import pytest

from comparison import MOST_ERRORS, MOST_OF_SD, gaps, quantities
from plain_model import Run, plain_draws
from problems import KINDS, shoal_draws

pytestmark = pytest.mark.slow

OURS, THEIRS = Run(2, 600, 8000), Run(2, 600, 7000)
"""Such that a twentieth of an sd is three combined errors of a mean, or more."""

CASES = {
    "SPP, identity": "precision",
    "SPP, discount 0.9": "precision",
}
"""What half a minute allows: bench/agreement.py has all problems, both priors, Stan, more draws."""


@pytest.mark.parametrize(("kind", "form"), CASES.items(), ids=CASES)
def test_shoal_agrees_with_the_plain_model_in_numpyro(kind, form):
    problem = KINDS[kind](form)
    ours, theirs = shoal_draws(problem, OURS, seed=1), plain_draws(problem, THEIRS, seed=2)
    assert ours.divergences == theirs.divergences == 0
    found = gaps(
        quantities(ours.cost_to_go, ours.precision, problem.arrivals),
        quantities(theirs.cost_to_go, theirs.precision, problem.arrivals),
    )
    assert max(gap.errors for gap in found.values()) < MOST_ERRORS, found
    assert found["mean"].of_sd < MOST_OF_SD, found
