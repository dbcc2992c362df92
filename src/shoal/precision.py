"""Double precision, set where JAX is first loaded.

Costs-to-go are published numbers; single precision would lose half their digits. Every module
that computes with JAX imports this one first.
"""

import jax

jax.config.update("jax_enable_x64", True)
