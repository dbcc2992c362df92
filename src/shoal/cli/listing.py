"""``shoal formats`` and ``shoal features``."""

from shoal.cli.answering import Answer, Rows
from shoal.workflows.vocabulary import FEATURES


def formats() -> Answer:
    """List what can be read, with an example of each.

    Example:  shoal formats
    """
    from shoal.tracks.readers import FORMATS  # noqa: PLC0415  (loads readers only when needed)

    record = [{"name": f.name, "what": f.what, "example": f.example} for f in FORMATS]
    rows = [{"format": f.name, "what": f.what, "looks like": f.example} for f in FORMATS]
    return Answer(
        {"formats": record}, [Rows("Formats, in the order in which they are tried", rows)]
    )


def features() -> Answer:
    """List what an animal may perceive: the words of --state.

    Example:  shoal features
    """
    record = [{"name": name, "what": words} for name, words in FEATURES.items()]
    rows = [{"feature": name, "what": words} for name, words in FEATURES.items()]
    title = "Features, for example --state local:bins=18:radius=0.1,target"
    return Answer({"features": record}, [Rows(title, rows)])
