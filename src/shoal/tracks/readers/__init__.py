"""Read files of tracks: one module for each family of formats, and functions that choose one."""

from shoal.tracks.readers.formats import FORMATS, Format
from shoal.tracks.readers.guppies import read_guppies
from shoal.tracks.readers.opening import open_tracks
from shoal.tracks.readers.reading import read_tracks
from shoal.tracks.readers.streaming import Block, OpenTracks

__all__ = ["FORMATS", "Block", "Format", "OpenTracks", "open_tracks", "read_guppies", "read_tracks"]
