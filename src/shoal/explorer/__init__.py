"""A fit on a page that answers: the report, served on this machine alone."""

from shoal.explorer.server import Explorer

__all__ = ["Explorer"]
