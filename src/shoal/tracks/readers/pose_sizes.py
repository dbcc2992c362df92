"""How large the poses or boxes in a file become, found out before another package reads them."""

import csv

import numpy as np

from shoal.tracks.gaps import check_grid
from shoal.tracks.readers.source import Source, named


def check_labels(source: Source) -> None:
    """Refuse labels of SLEAP whose frame numbers spread a few points over very many frames."""
    with named(source.path), source.hdf5() as file:
        if "frames" not in file or "instances" not in file or not len(file["frames"]):
            return
        frames, instances = file["frames"][()], file["instances"][()]
        last = int(np.max(frames["frame_idx"].astype(float)))
        tracks = len(file["tracks_json"]) if "tracks_json" in file else 0
        animals = max(tracks, _most(frames, "instance_id"))
        points = animals * _most(instances, "point_id")
        check_grid(last + 1, points, len(instances), str(source.path))


def _most(rows: np.ndarray, name: str) -> int:
    """How many parts a row has at most: from where to where they are numbered."""
    count = rows[f"{name}_end"].astype(float) - rows[f"{name}_start"].astype(float)
    return max(1, int(count.max(initial=1)))


def check_boxes(source: Source) -> None:
    """Refuse boxes of VIA with nearly as many tracks and images as rows."""
    images, tracks, count = set(), set(), 0
    with named(source.path), source.open() as text:
        for row in csv.reader(text):
            if len(row) > 5:
                images.add(row[0])
                tracks.add(row[-1])
                count += 1
    check_grid(len(images), len(tracks), count, str(source.path))
