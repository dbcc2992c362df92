"""Text in CSV files that no spreadsheet takes for a formula.

A cell that begins with =, +, -, @, a tab or a line's end is run as a formula when a spreadsheet
opens the file. An apostrophe before it makes it text, and is taken off when shoal reads it again.
"""

import re

FORMULA = r"'*[=+\-@\t\r]"
"""What such text begins with, apostrophes that were there before included."""
NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")


def escape_formula(text: str) -> str:
    """A cell that a spreadsheet shows and does not run.

    >>> escape_formula("=cmd()"), escape_formula("-0.5"), escape_formula("fish")
    ("'=cmd()", '-0.5', 'fish')
    """
    runs = re.match(FORMULA, text) is not None and NUMBER.fullmatch(text) is None
    return f"'{text}" if runs else text
