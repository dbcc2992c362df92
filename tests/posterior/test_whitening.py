"""Whitening coordinates: they lead there and back, their volume is counted, they fit every τ."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import shoal
from posterior_problems import random_transitions
from registries import PRIORS, TORUS
from shoal.posterior import whitening as module
from shoal.posterior.whitening import DenseWhitening, LowRankWhitening, whitening

KINDS = {"all": DenseWhitening, "few": LowRankWhitening, "products": LowRankWhitening}


def problem(prior, kind, monkeypatch):
    if kind != "all":
        monkeypatch.setattr(module, "SMALL", 0)
        monkeypatch.setattr(module, "FEW", 1)
    if kind == "products":
        monkeypatch.setattr(module, "LARGEST_DENSE", 10)
    passive = shoal.RandomWalk(60.0)
    counts = random_transitions(passive.on(TORUS), TORUS)
    density = shoal.Model(TORUS, passive, prior=prior).density(counts)
    rng = np.random.default_rng(2)
    centre = np.append(rng.normal(size=density.coefficients), np.full(prior.unknowns, -0.4))
    coordinates = whitening(density, centre, 0.3 if prior.unknowns else None)
    assert isinstance(coordinates, KINDS[kind])
    return density, centre, coordinates, jnp.asarray(rng.normal(size=density.dimension))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", PRIORS)
def test_coordinates_lead_there_and_back_and_start_at_the_centre(name, kind, monkeypatch):
    _, centre, coordinates, u = problem(PRIORS[name], kind, monkeypatch)
    assert np.allclose(coordinates.inverse(coordinates.position(u)), u, atol=1e-9)
    assert np.allclose(coordinates.position(jnp.zeros_like(u)), centre, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", PRIORS)
def test_their_volume_is_the_determinant_of_their_derivatives(name, kind, monkeypatch):
    _, _, coordinates, u = problem(PRIORS[name], kind, monkeypatch)

    def change(at):
        _, exact = jnp.linalg.slogdet(jax.jacobian(coordinates.position)(at))
        return exact - coordinates.log_volume(at)

    assert float(change(u)) == pytest.approx(float(change(-0.7 * u)), abs=1e-8)


@pytest.mark.parametrize("shift", [-2.0, 0.0, 1.5])
def test_at_every_precision_the_coefficients_curvature_is_the_identity(shift, monkeypatch):
    density, _, coordinates, u = problem(shoal.Prior(), "all", monkeypatch)
    w = shift / float(coordinates.spread)
    precision = float(density.basis.prior.precision(coordinates.log_precision + shift))
    matrix = jax.jacobian(lambda z: coordinates.position(jnp.append(z, w))[:-1])(u[:-1])
    beta, _ = density.split(coordinates.position(jnp.zeros_like(u)))
    curvature = module.likelihood_curvature(density, np.zeros(1), beta)
    curvature = curvature + precision * np.eye(len(beta))
    assert np.allclose(matrix.T @ curvature @ matrix, np.eye(len(beta)), atol=1e-8)


@pytest.mark.parametrize("shift", [-1.0, 2.0])
def test_the_centre_moves_as_the_mode_of_a_normal_likelihood_would(shift, monkeypatch):
    density, centre, coordinates, u = problem(shoal.Prior(), "all", monkeypatch)
    beta, t = centre[:-1], centre[-1]
    curvature = module.likelihood_curvature(density, centre[-1:], beta)
    before, after = (float(density.basis.prior.precision(t + move)) for move in (0.0, shift))
    eye = np.eye(len(beta))
    expected = np.linalg.solve(curvature + after * eye, (curvature + before * eye) @ beta)
    w = shift / float(coordinates.spread)
    place = coordinates.position(jnp.zeros_like(u).at[-1].set(w))
    assert np.allclose(place[:-1], expected, atol=1e-8)
