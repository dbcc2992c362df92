"""What decides the draws of a run: two runs with the same plan have the same draws."""

import json
from dataclasses import asdict
from hashlib import sha256
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.moves import Decisions
from shoal.posterior.nuts import NUTS
from shoal.posterior.saving import described_model
from shoal.posterior.specification import plain
from shoal.states import Transitions
from shoal.version import __version__

if TYPE_CHECKING:
    from shoal.posterior.model import Model

ENGINES = ("jax", "jaxlib", "blackjax")


def plan_of(
    model: "Model", transitions: Transitions | Decisions, settings: NUTS, chains: int, seed: int
) -> dict[str, Any]:
    """Data and model by their checksums, everything else in words.

    The number of draws is not part of it: a run may go on for longer than it was meant to. Nor is
    the number of chains at a time, which changes no draw.
    """
    pairs = transitions.pairs
    seen = [pairs.origin, pairs.destination, pairs.count]
    if isinstance(transitions, Decisions):
        row = [] if transitions.row is None else [transitions.row]
        seen += [transitions.candidate_states, *row, transitions.turn, transitions.step]
    description, arrays = described_model(model)
    matrix = [] if arrays is None else [arrays[name].values for name in sorted(arrays, key=str)]
    sampler = {name: value for name, value in asdict(settings).items() if name != "workers"}
    return {
        "transitions": _digest(*seen),
        "model": _digest(np.frombuffer(description.encode(), dtype=np.uint8), *matrix),
        "sampler": json.dumps(sampler, default=plain),
        "chains": int(chains),
        "seed": int(seed),
        "versions": ", ".join(
            [f"shoal {__version__}", *(f"{name} {version(name)}" for name in ENGINES)]
        ),
    }


def _digest(*arrays: Any) -> str:
    digest = sha256()
    for array in arrays:
        whole = np.ascontiguousarray(array)
        digest.update(f"{whole.dtype.str}{whole.shape}".encode())
        digest.update(whole.tobytes())
    return digest.hexdigest()[:16]
