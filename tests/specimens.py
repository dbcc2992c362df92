"""Whole files of every kind that shoal reads, to be damaged, and the one way to read each kind."""

import gzip
import shutil
import warnings
import zipfile
from dataclasses import dataclass
from pathlib import Path

import xarray as xr

import shoal
from shoal.workflows.fitting import FitSettings
from track_files import FILES, made, places

SPACE = shoal.StateSpace(shoal.LocalMisalignment(6))


@dataclass(frozen=True)
class Specimen:
    """A file to damage, how it is read, and the files that lie beside it."""

    name: str
    how: str
    path: Path
    beside: tuple[Path, ...] = ()

    def laid_out(self, folder, content):
        """The path to read: the damaged file, in a folder with what lies beside it."""
        for path in self.beside:
            shutil.copy(path, folder / path.name)
        (folder / self.path.name).write_bytes(content)
        return folder if self.beside else folder / self.path.name


def read_tracks(path):
    """Tracks, and what users look at first."""
    found = shoal.read_tracks(path)
    return [(repr(part), part.notes, part.headings()) for part in found]


def open_tracks(path):
    """Tracks that are streamed, and their transitions."""
    opened = shoal.open_tracks(path, block_rows=40)
    return repr(opened), shoal.count_transitions(opened, SPACE).total


def load_fit(path):
    """A fit, and what users look at first."""
    fit = shoal.load_fit(path)
    return repr(fit), fit.cost_to_go.shape


def read_config(path):
    """The choices of a run."""
    return FitSettings(**FitSettings.from_toml(path))


HOW = {"tracks": read_tracks, "store": open_tracks, "fit": load_fit, "config": read_config}


def small_fit():
    """A fit of a few states."""
    tracks = shoal.Tracks.from_arrays(places(missing=False), fps=25.0)
    counts = shoal.count_transitions(tracks, SPACE)
    model = shoal.Model(SPACE, passive=shoal.RandomWalk(sd=60.0), basis=shoal.Identity())
    return model.fit(counts, method="laplace", draws=5, seed=1)


def specimens(folder):
    """One of every kind: all formats of tracks, packed tables, a fit, a run's choices."""
    positions = places()
    found = []
    for name in FILES:
        path = made(name, folder, positions)
        if name == "idtrackerai-csv":
            parts = [path / "trajectories.csv", path / "attributes.json"]
            found += [Specimen(name, "tracks", part, tuple(parts)) for part in parts]
        else:
            found.append(
                Specimen(name, "tracks", sorted(path.iterdir())[0] if path.is_dir() else path)
            )
    by_name = {part.name: part.path for part in found}
    found += [Specimen("store " + name, "store", by_name[name]) for name in ("csv", "parquet")]
    return found + _packed(folder, by_name) + _results(folder)


def _packed(folder, by_name):
    storks = by_name["movebank"]
    packed = folder / "storks.csv.gz"
    packed.write_bytes(gzip.compress(storks.read_bytes(), mtime=0))
    archive = folder / "storks.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr(zipfile.ZipInfo("storks.csv"), storks.read_bytes(), zipfile.ZIP_DEFLATED)
    old = folder / "poses3.nc"
    with xr.open_dataset(by_name["movement"], engine="h5netcdf") as poses:
        poses.load().to_netcdf(old, engine="scipy")
    paths = {"movebank gzip": packed, "movebank zip": archive, "movement netCDF 3": old}
    return [Specimen(name, "tracks", path) for name, path in paths.items()]


def _results(folder):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = small_fit()
    path, choices = folder / "fit.nc", folder / "fit.toml"
    fit.save(path)
    choices.write_text(FitSettings().toml())
    return [Specimen("fit", "fit", path), Specimen("config", "config", choices)]


def samples(folder):
    """The files of a folder of real samples."""
    files = sorted(p for p in Path(folder).rglob("*") if p.is_file() and p.stat().st_size < 3e6)
    aside = {".md", ".json"}
    return [
        Specimen(f"{p.parent.name}/{p.name}", "tracks", p) for p in files if p.suffix not in aside
    ]
