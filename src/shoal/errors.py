"""What went wrong, in one sentence a user can act on."""

import warnings


class InputError(ValueError):
    """The input is wrong: the message says what was expected, what arrived, what to do.

    Examples
    --------
    >>> import shoal
    >>> try:
    ...     shoal.Circular("heading", bins=0)
    ... except shoal.InputError as error:
    ...     print(error)
    axis 'heading' has a whole number of bins, 1 or more; got 0
    """


def checked_seed(seed: object) -> int:
    """A seed that every generator takes: a whole number from 0 to 2⁶³ − 1."""
    if not hasattr(seed, "__index__") or seed.__index__() < 0:
        raise InputError(f"a seed is a whole number, 0 or more; got {seed!r}")
    if seed.__index__() >= 2**63:
        raise InputError(f"a seed is less than 2^63, got {seed!r}")
    return int(seed.__index__())


class OutputError(OSError):
    """A result could not be written; nothing half-written is left behind.

    Examples
    --------
    >>> import shoal
    >>> issubclass(shoal.OutputError, OSError)
    True
    """


def warn(sentence: str) -> None:
    """Tell the user something that needs a look but stops nothing."""
    warnings.warn(sentence, UserWarning, stacklevel=3)
