"""What the shell may complete, without loading anything that takes time."""

from collections.abc import Callable, Mapping
from typing import Any

from shoal.workflows import vocabulary

Completion = Callable[[str], list[tuple[str, str]]]


def of(words: Mapping[str, str]) -> Completion:
    """One of some words, each with what it means."""

    def complete(incomplete: str) -> list[tuple[str, str]]:
        return [(word, what) for word, what in words.items() if word.startswith(incomplete)]

    return complete


def listed(words: Mapping[str, str]) -> Completion:
    """Several of some words, with commas between them."""

    def complete(incomplete: str) -> list[tuple[str, str]]:
        before, comma, last = incomplete.rpartition(",")
        used = {part.partition(":")[0] for part in before.split(",")}
        return [
            (f"{before}{comma}{word}", what)
            for word, what in words.items()
            if word.startswith(last) and word not in used
        ]

    return complete


STATE: Any = listed(vocabulary.FEATURES)
PANELS: Any = listed(vocabulary.PANELS)
PASSIVE: Any = of(vocabulary.PASSIVE)
BASIS: Any = of(vocabulary.BASES)
METHOD: Any = of(vocabulary.METHODS)
FIT_METHOD: Any = of(vocabulary.FIT_METHODS)
READ_AS: Any = of(vocabulary.READ_AS)
MOVES: Any = of(vocabulary.MOVES)
OTHERS: Any = of(vocabulary.OTHERS)
PERSISTENCE: Any = of(vocabulary.PERSISTENCES)
RULE: Any = of(vocabulary.RULES)
SPLIT: Any = of(vocabulary.SPLITS)
SPEED: Any = of(vocabulary.SPEEDS)
WALLS: Any = of(vocabulary.WALLS)
STOP: Any = of(vocabulary.STOPS)
STUDY: Any = of(vocabulary.STUDIES)
TRUTH: Any = of(vocabulary.TRUTHS)
DRAWS: Any = of(vocabulary.DRAWS)
FORMAT: Any = of(dict.fromkeys(vocabulary.FORMATS, ""))
