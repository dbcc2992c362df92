"""One look for all figures: colour-blind-safe colours, readable sizes, files written whole."""

import io
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from shoal.system.files import write_whole

# Okabe and Ito's palette, told apart by colour-blind readers and in grey
INK, BLUE, ORANGE, GREEN, PURPLE, GREY = (
    *("#222222", "#0072B2", "#D55E00", "#009E73"),
    *("#CC79A7", "#8C8C8C"),
)

STYLE: dict[Any, Any] = {
    "font.size": 10.0,
    "axes.titlesize": 11.0,
    "axes.labelsize": 10.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "legend.fontsize": 9.0,
    "svg.hashsalt": "shoal",
    "svg.fonttype": "none",
    "hatch.linewidth": 0.4,
}


def save_figure(figure: Figure, path: Path, dpi: int = 200) -> Path:
    """Write a figure in the format of its suffix, without the time of day in it."""
    buffer = io.BytesIO()
    kind = path.suffix.lstrip(".")
    metadata = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
    with mpl.rc_context(STYLE):
        figure.savefig(buffer, format=kind, dpi=dpi, metadata=metadata.get(kind))
    write_whole(path, buffer.getvalue())
    return path
