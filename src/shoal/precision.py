"""Double precision, set where JAX is first loaded, and arrays handed to JAX.

Costs-to-go are published numbers; single precision would lose half their digits. Every module
that computes with JAX imports this one first.
"""

from typing import Any

import jax
import numpy as np

jax.config.update("jax_enable_x64", True)


def as_jax(values: Any, dtype: Any = None) -> jax.Array:
    """A JAX array of these numbers.

    ``jnp.asarray`` compiles a program for every new shape; this function compiles none. The numbers
    are copied, so that later changes to a NumPy array do not matter.
    """
    if isinstance(values, jax.Array):
        return values if dtype is None else values.astype(dtype)
    return jax.device_put(np.array(values, dtype=dtype, order="C"))
