"""The paper's model written out plainly, sampled by NumPyro: nothing of shoal is in it."""

import warnings
from functools import partial
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # what a library says while it is imported
    import numpyro
    from numpyro.distributions import Gamma, Normal
    from numpyro.infer import MCMC, NUTS

numpyro.enable_x64()

POWER = {"precision": 0.5, "inverse-sd": 1.0}
"""β has standard deviation 1/√τ in the paper's text, 1/α in its program."""

LARGEST_DENSE = 100
"""Up to so many coefficients a dense mass matrix saves more steps than it costs."""


class Arrays(Protocol):
    """What an engine needs to know of a problem."""

    @property
    def passive(self) -> np.ndarray: ...
    @property
    def basis(self) -> np.ndarray: ...
    @property
    def counts(self) -> np.ndarray: ...
    @property
    def discount(self) -> float: ...
    @property
    def form(self) -> str: ...
    @property
    def shape(self) -> float: ...
    @property
    def rate(self) -> float: ...


class Run(NamedTuple):
    """How long an engine draws."""

    chains: int
    warmup: int
    draws: int


class Draws(NamedTuple):
    """Cost-to-go (chain, draw, state), precision (chain, draw), and how many draws diverged."""

    cost_to_go: np.ndarray
    precision: np.ndarray
    divergences: int


def model(
    passive: Any,
    log_passive: Any,
    basis: Any,
    counts: Any,
    discount: Any,
    power: Any,
    shape: Any,
    rate: Any,
) -> None:
    """β ~ Normal(0, scale^−power), v = X β, p*(j | i) ∝ p̄_ij e^{−γ v_j}, Σ y_ij log p*(j | i)."""
    scale = numpyro.sample("scale", Gamma(shape, rate))
    with numpyro.plate("functions", basis.shape[1]):
        beta = numpyro.sample("beta", Normal(0.0, scale**-power))
    v = basis @ beta
    log_norm = jnp.log(passive @ jnp.exp(-discount * v))
    log_policy = log_passive - discount * v[None, :] - log_norm[:, None]
    numpyro.factor("transitions", jnp.sum(counts * log_policy))


@partial(jax.jit, static_argnames="run")
def sampled(key: Any, arrays: tuple[Any, ...], run: Run) -> tuple[dict[str, Any], Any]:
    """Draws by name, and which diverged; compiled once for all problems of a size."""
    functions = arrays[2].shape[1]
    mcmc = MCMC(
        NUTS(model, dense_mass=functions <= LARGEST_DENSE, target_accept_prob=0.7),
        num_warmup=run.warmup,
        num_samples=run.draws,
        num_chains=run.chains,
        chain_method=lambda chain: partial(jax.lax.map, chain),  # one after another
        progress_bar=False,
    )
    mcmc.run(key, *arrays)
    return mcmc.get_samples(group_by_chain=True), mcmc.get_extra_fields()["diverging"]


def turned(seen: np.ndarray) -> np.ndarray:
    """A reflection that takes one axis to the level, on which all coefficients are equal.

    Normal coefficients of one variance look the same from any axes, so the model is unchanged; but
    the level, which tracks say nothing of, is then one axis, and a mass matrix can stretch it. The
    axis given up for it is that of the coefficient that is seen neither much nor little.
    """
    count = len(seen)
    away = np.eye(count)[np.argsort(seen)[count // 2]] - np.full(count, count**-0.5)
    return np.asarray(np.eye(count) - 2 * np.outer(away, away) / (away @ away))


def plain_draws(problem: Arrays, run: Run, seed: int) -> Draws:
    """Draws from the posterior."""
    power = POWER[problem.form]
    seen = np.where(problem.counts > 0, problem.passive, 1.0)  # 0 log 0 is 0
    basis = problem.basis @ turned(problem.counts.sum(axis=0) @ problem.basis)
    arrays = (problem.passive, np.log(seen), basis, problem.counts.astype(float))
    numbers = (problem.discount, power, problem.shape, problem.rate)
    samples, diverging = sampled(jax.random.key(seed), (*arrays, *numbers), run)
    beta, scale = np.asarray(samples["beta"]), np.asarray(samples["scale"])
    return Draws(beta @ basis.T, scale ** (2 * power), int(diverging.sum()))
