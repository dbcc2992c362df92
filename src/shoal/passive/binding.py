"""From what a user writes down to the operator that does the work."""

from collections.abc import Sequence
from typing import Annotated, Any, Protocol, runtime_checkable

import numpy as np
import scipy.sparse as sp

from shoal.errors import InputError
from shoal.inputs import GIVEN
from shoal.passive.matrix import MatrixDynamics, SparseDynamics
from shoal.passive.operator import PassiveOperator, row_sums
from shoal.states import StateSpace


@runtime_checkable
class Passive(Protocol):
    """A specification of passive dynamics: small, frozen, bound to a space by ``on``."""

    def on(self, space: StateSpace) -> PassiveOperator:
        """The operator on a state space."""
        ...


Operable = Annotated[
    PassiveOperator | Passive | np.ndarray | sp.sparray | sp.spmatrix | Sequence[Sequence[float]],
    GIVEN,
]
"""Passive dynamics as users give them: a specification, an operator, a matrix."""


def as_operator(passive: Any, space: StateSpace | None = None) -> PassiveOperator:
    """The operator behind a specification, an operator, an array or a sparse matrix.

    Parameters
    ----------
    passive
        Any of these.
    space
        Needed for a specification such as ``RandomWalk``; checked against the others.
    """
    shape = None if space is None else space.shape
    if isinstance(passive, PassiveOperator):
        if shape is not None and passive.shape != shape:
            raise InputError(
                f"passive dynamics on a grid of shape {passive.shape} do not fit a state space "
                f"of shape {shape}"
            )
        _check_masses(passive)
        return passive
    if sp.issparse(passive):
        return SparseDynamics.of(passive, shape)
    if isinstance(passive, Passive) and not isinstance(passive, type):
        if space is None:
            raise InputError(
                f"{passive!r} is not bound to a state space yet: pass {passive!r}.on(space)"
            )
        operator = passive.on(space)
        if not isinstance(operator, PassiveOperator):
            raise InputError(f"{passive!r} is no passive dynamics: on(space) gave no operator of P̄")
        _check_masses(operator)
        return operator
    if isinstance(passive, np.ndarray | list | tuple) or hasattr(passive, "__array__"):
        return MatrixDynamics.of(passive, shape)
    raise InputError(
        "passive dynamics are Uniform(), RandomWalk(...), TurningMixture(...), a NumPy array, a "
        f"SciPy sparse matrix or an object with on(space); got {type(passive).__name__}"
    )


def _check_masses(operator: PassiveOperator) -> None:
    """Rows sum to 1, whoever wrote the operator: P̄ 1 = 1."""
    sums = np.asarray(row_sums(operator)).ravel()
    off = ~(np.abs(sums - 1) < 1e-6)
    if np.any(off):
        raise InputError(
            f"rows of passive probabilities sum to 1; row {int(np.argmax(off))} of "
            f"{type(operator).__name__} sums to {sums[off][0]:.10g}"
        )
