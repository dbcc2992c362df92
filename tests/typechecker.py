"""Beartype, with whole numbers accepted where floats are meant."""

from collections.abc import Callable
from typing import Any, get_args

from beartype import BeartypeConf, beartype

GIVEN = "checked"
"""As in ``shoal.inputs``, which cannot be imported before it is checked itself."""

strictly = beartype(conf=BeartypeConf(is_pep484_tower=True))


def checked(function: Callable[..., Any]) -> Callable[..., Any]:
    """Every annotation is executed but those of what users give, which functions check in words."""
    hints = getattr(function, "__annotations__", {})
    for name, hint in hints.items():
        if _given(hint):
            hints[name] = object
    return strictly(function)


def _given(hint: Any) -> bool:
    if GIVEN in getattr(hint, "__metadata__", ()):
        return True
    return any(_given(part) for part in get_args(hint))
