"""``shoal formats`` and ``shoal features``."""


def formats() -> None:
    """List what can be read, with an example of each.

    Example:  shoal formats
    """
    from shoal.cli.output import print_table  # noqa: PLC0415  (loads readers only when needed)
    from shoal.tracks.readers import FORMATS  # noqa: PLC0415

    rows = [{"format": f.name, "what": f.what, "looks like": f.example} for f in FORMATS]
    print_table("Formats, in the order in which they are tried", rows)


def features() -> None:
    """List what an animal may perceive: the words of --state.

    Example:  shoal features
    """
    from shoal.cli.output import print_table  # noqa: PLC0415
    from shoal.studies.words import FEATURES  # noqa: PLC0415

    rows = [{"feature": name, "what": words} for name, words in FEATURES.items()]
    print_table("Features, for example --state local:bins=18:radius=0.1,target", rows)
