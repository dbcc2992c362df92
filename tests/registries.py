"""One of everything that laws must hold for: a new part is added here and inherits every law."""

from collections.abc import Mapping
from dataclasses import replace

import equinox as eqx
import jax
import numpy as np
import scipy.sparse as sp

import shoal
from shoal.passive import MatrixDynamics, SparseDynamics

CIRCLE = shoal.StateSpace(shoal.Circular("angle", bins=12))
TORUS = shoal.StateSpace(shoal.Circular("local", bins=8), shoal.Circular("target", bins=6))
MIXED = shoal.StateSpace(
    shoal.Circular("angle", bins=8), shoal.states.Interval("distance", (0.0, 1.0, 2.5, 6.0), "cm")
)
CUBE = shoal.StateSpace(
    shoal.Circular("a", bins=4), shoal.Circular("b", bins=3), shoal.states.Interval("c", (0, 1, 3))
)
FOLDED = shoal.StateSpace(
    shoal.states.Folded("angle", bins=12), shoal.states.Folded("other", bins=7)
)
BEYOND = shoal.StateSpace(
    shoal.states.Interval("distance", (0, 1, 2.5, 4, 5, 6), "cm", beyond=True)
)
NUMBERED = shoal.StateSpace.discrete(15)


class Lazy(shoal.passive.PassiveOperator):
    """What a user would write: stay, or else go anywhere."""

    stay: float = 0.7

    def apply(self, values):
        return self.stay * values + (1 - self.stay) * values.mean()


def random_matrix(size: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).dirichlet(np.full(size, 0.7), size=size)


def random_graph(size: int, seed: int) -> sp.csr_array:
    """A ring with random chords: connected, aperiodic, sparse."""
    rng = np.random.default_rng(seed)
    links = np.eye(size) + np.roll(np.eye(size), 1, axis=1) + (rng.random((size, size)) < 0.1)
    weights = links * rng.uniform(0.2, 1.0, (size, size))
    return sp.csr_array(weights / weights.sum(axis=1, keepdims=True))


TURNS = shoal.TurnCoupled(
    spread=20.0, wide=70.0, share=0.3, noise=12.0, tails=3.0, follow=1.0, effects=(-1,)
)
SEEN = shoal.count_transitions([[0, 1, 2, 3, 2, 1, 14, 14, 13, 0]], NUMBERED)


class Made(Mapping):
    """Operators by name, each made when a test first asks for it: most compile programs."""

    def __init__(self, recipes):
        self.recipes, self._made = recipes, {}

    def __getitem__(self, name):
        if name not in self._made:
            make, space = self.recipes[name]
            self._made[name] = make(space)
        return self._made[name]

    def __iter__(self):
        return iter(self.recipes)

    def __len__(self):
        return len(self.recipes)


PASSIVES = Made(
    {
        "uniform": (shoal.Uniform().on, TORUS),
        "uniform by area": (shoal.Uniform("area").on, MIXED),
        "walk on a circle": (shoal.RandomWalk(40.0).on, CIRCLE),
        "wide walk on a circle": (shoal.RandomWalk(400.0).on, CIRCLE),
        "walk on a torus": (shoal.RandomWalk((60.0, 90.0)).on, TORUS),
        "walk to the ends of an interval": (shoal.RandomWalk((50.0, 1.5)).on, MIXED),
        "walk on folded circles": (shoal.RandomWalk((60.0, 90.0)).on, FOLDED),
        "walk with an open end": (shoal.RandomWalk(1.5).on, BEYOND),
        "walk on three axes": (shoal.RandomWalk((90.0, 120.0, 1.0)).on, CUBE),
        "turning mixture": (shoal.TurningMixture((-60.0, 0.0, 60.0), 20.0).on, CIRCLE),
        "turning mixture on a torus": (shoal.TurningMixture((-90.0, 45.0), 30.0).on, TORUS),
        "turns that one angle follows in part": (
            replace(TURNS, effects=(-1, -1), follow=(0.5, 1.0)).on,
            TORUS,
        ),
        "turns and distances": (replace(TURNS, effects=(-1, 0), step=0.7).on, MIXED),
        "turns on three axes": (replace(TURNS, effects=(-1, -1, 0), step=0.5).on, CUBE),
        "seen elsewhere": (shoal.passive.Empirical(SEEN, 2.0).on, NUMBERED),
        "dense": (lambda space: MatrixDynamics.of(random_matrix(48, 1), space.shape), TORUS),
        "sparse": (lambda space: SparseDynamics.of(random_graph(15, 2), space.shape), NUMBERED),
        "written by a user": (lambda space: Lazy(shape=space.shape), TORUS),
    }
)

MORE_PASSIVES = Made(
    {
        "turns on a circle": (TURNS.on, CIRCLE),
        "turns on a torus": (replace(TURNS, effects=(-1, -1)).on, TORUS),
        "turns beside an angle they leave alone": (replace(TURNS, effects=(-1, 0)).on, TORUS),
        "normal turns": (replace(TURNS, turn="normals", effects=(-1, -1)).on, TORUS),
        "von Mises turns": (replace(TURNS, turn="von-mises", effects=(-1, -1)).on, TORUS),
        "two walks on mixed axes": (
            shoal.passive.WalkMixture((30.0, 0.5), (90.0, 2.0), 0.3).on,
            MIXED,
        ),
    }
)
"""Whose own laws are tried, not those of all that is built on passive dynamics."""


def compiled(change, method):
    """A derivative of an operator's method, or the like, as one program."""
    return jax.jit(change(lambda *given: method(*given)))  # noqa: PLW0108  (it has no hash)


MATRICES: dict[int, np.ndarray] = {}


def matrix_of(operator) -> np.ndarray:
    """Passive dynamics or a basis of this file as a matrix, made once and by one program."""
    if id(operator) not in MATRICES:
        MATRICES[id(operator)] = np.asarray(eqx.filter_jit(operator.dense)())
    return MATRICES[id(operator)]


BASES = {
    "identity": (shoal.Identity(), TORUS),
    "identity, numbered": (shoal.Identity(), NUMBERED),
    "gaussian": (shoal.Gaussian(every=2), TORUS),
    "gaussian, planar": (shoal.Gaussian(every=2, circular=False), MIXED),
    "gaussian, wide": (shoal.Gaussian(every=3, width=100.0), CIRCLE),
    "bisquare": (shoal.Bisquare(resolutions=2), TORUS),
    "bisquare, planar": (shoal.Bisquare(resolutions=2, circular=False), TORUS),
    "bisquare on three axes": (shoal.Bisquare(resolutions=1), CUBE),
    "bisquare on mixed axes": (shoal.Bisquare(resolutions=2), MIXED),
    "bisquare on folded circles": (shoal.Bisquare(resolutions=2), FOLDED),
    "fourier": (shoal.basis.Fourier(order=3), TORUS),
    "fourier, complete": (shoal.basis.Fourier(order=6), CIRCLE),
    "von mises": (shoal.basis.VonMises(count=5), TORUS),
    "smooth": (shoal.Smooth(order=2), TORUS),
    "smooth on mixed axes": (shoal.Smooth("matern-3/2", order=3), MIXED),
    "smooth on three axes": (shoal.Smooth("squared-exponential", order=2), CUBE),
    "smooth, numbered": (shoal.Smooth(), NUMBERED),
    "flat": (shoal.basis.Flat(), TORUS),
    "terms": (
        shoal.basis.Terms(
            (shoal.basis.Term(TORUS.names[0], "cos"), shoal.basis.Term(TORUS.names[1], "cos"))
        ),
        TORUS,
    ),
    "product": (shoal.basis.Product(shoal.basis.Fourier(2), shoal.Gaussian(every=2)), MIXED),
}

HORIZONS = {
    "average": {},
    "first-exit": {"absorbing": [0, 3]},
    "discounted": {"discount": 0.9},
    "nearly undiscounted": {"discount": 0.999},
    "myopic": {"discount": 0.0},
    "finite": {"steps": 5},
}
"""Options of ``solve``, the horizon being the name or, for variants, ``discounted``."""


def horizon_of(name: str) -> str:
    return name if name in ("average", "first-exit", "discounted", "finite") else "discounted"


METHODS = {
    "map": shoal.posterior.MAP(),
    "laplace": shoal.posterior.Laplace(),
    "advi": shoal.posterior.ADVI(),
    "advi, as in the paper": shoal.posterior.ADVI(stochastic=True),
    "advi, full-rank": shoal.posterior.ADVI(family="full-rank"),
    "nuts": shoal.NUTS(warmup=200),
}

PRIORS = {
    "text": shoal.Prior(),
    "stan": shoal.Prior("inverse-sd"),
    "informative": shoal.Prior("precision", shape=5.0, rate=5.0),
    "fixed": shoal.Prior("fixed", value=0.5),
}
