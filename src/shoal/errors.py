"""What went wrong, in one sentence a user can act on."""


class InputError(ValueError):
    """The input is wrong: the message says what was expected, what arrived, what to do."""


class OutputError(OSError):
    """A result could not be written; nothing half-written is left behind."""
