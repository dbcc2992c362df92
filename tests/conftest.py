"""Shapes in signatures are executed: every call in the tests is checked against them."""

from hypothesis import settings
from jaxtyping import install_import_hook

settings.register_profile("shoal", deadline=None, derandomize=True, max_examples=25)
settings.load_profile("shoal")

install_import_hook("shoal", "typechecker.checked")
