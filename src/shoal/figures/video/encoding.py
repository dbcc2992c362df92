"""Pictures in order, a video out: H.264 in an MP4, or a GIF; there whole or not at all."""

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from fractions import Fraction
from pathlib import Path
from typing import IO, Any, Protocol, runtime_checkable

import imageio_ffmpeg
import numpy as np
from jaxtyping import UInt8
from PIL import Image, ImageChops
from PIL.GifImagePlugin import getdata, getheader

from shoal.errors import InputError, OutputError
from shoal.system.files import appearing_whole
from shoal.system.progress import Report

SUFFIXES = (".mp4", ".gif")
FASTEST = {".mp4": 60.0, ".gif": 50.0}
"""Pictures per second; players slow a GIF down whose pictures stay for less than 0.02 s."""
STAGE = "drawing"
H264 = (
    *("-an", "-vcodec", "libx264", "-pix_fmt", "yuv420p"),
    *("-preset", "veryfast", "-crf", "16", "-movflags", "+faststart", "-fflags", "+bitexact"),
    *("-vf", "scale=out_color_matrix=bt709:out_range=tv", "-color_range", "tv"),
    *("-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709"),
)
"""Thin lines stay sharp, playing begins before all is loaded, players show the colours meant."""

Picture = UInt8[np.ndarray, "height width 4"]


@runtime_checkable
class Film(Protocol):
    """Pictures that can be drawn in any order."""

    def __len__(self) -> int:
        """How many there are."""
        ...

    def picture(self, index: int) -> Picture:
        """One of them; it may be drawn over by the next."""
        ...


def checked_suffix(out: Any) -> Path:
    """A path whose suffix says how to write a video."""
    try:
        path = Path(out)
    except TypeError:
        raise InputError(f"a video needs the path of a file, got {out!r:.60}") from None
    if path.suffix.lower() not in SUFFIXES:
        raise InputError(f"a video ends in .mp4 or .gif, got {str(out)!r}: name it so")
    return path


def write_video(film: Film, path: Path, rate: float, repeats: int, report: Report) -> None:
    """Write all pictures, each ``repeats`` times, at ``rate`` pictures per second.

    A file appears whole or not at all; it is an error that says why where the encoder fails.
    """
    with appearing_whole(path) as temporary:
        if path.suffix.lower() == ".gif":
            _write_gif(film, temporary, repeats / rate, report)
        else:
            _write_mp4(film, temporary, rate, repeats, report)


def _write_mp4(film: Film, path: Path, rate: float, repeats: int, report: Report) -> None:
    height, width, _ = film.picture(0).shape
    with _encoder(path, width, height, rate) as encoder:
        for index in range(len(film)):
            picture = film.picture(index)
            for _ in range(repeats):
                encoder.write(picture.data)
            report(STAGE, index + 1, len(film))


@contextmanager
def _encoder(path: Path, width: int, height: int, rate: float) -> Iterator[IO[bytes]]:
    """A pipe for raw pictures into a process that makes an MP4 of them.

    imageio-ffmpeg's own writer is not used: it forks the interpreter, which JAX's threads may
    lock up, and does not say whether the encoder succeeded.
    """
    with tempfile.TemporaryFile() as log:
        process = _started(path, width, height, rate, log)
        assert process.stdin is not None
        try:
            yield process.stdin
            process.stdin.close()
            failed = process.wait() != 0
        except BrokenPipeError:
            failed = True
        except BaseException:
            process.kill()
            raise
        finally:
            with suppress(OSError):
                process.stdin.close()
            process.wait()
        if failed:
            log.seek(0)
            said = log.read().decode(errors="replace").strip().splitlines()
            raise OutputError(
                f"the video encoder failed ({said[-1] if said else 'it said nothing'}), and nothing"
                " was left behind: make room, or write a .gif"
            )


def _started(
    path: Path, width: int, height: int, rate: float, log: IO[bytes]
) -> "subprocess.Popen[bytes]":
    pace = str(Fraction(rate).limit_denominator(10_000))
    raw = ("-f", "rawvideo", "-pix_fmt", "rgba", "-s", f"{width}x{height}", "-r", pace, "-i", "-")
    try:
        program = imageio_ffmpeg.get_ffmpeg_exe()
        return subprocess.Popen(
            [program, "-y", "-v", "error", *raw, *H264, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=log,
            start_new_session=True,  # Ctrl-C is for this process, which then ends that one
        )
    except (RuntimeError, OSError) as error:
        raise OutputError(
            f"the video encoder cannot run ({error}): reinstall imageio-ffmpeg, or write a .gif"
        ) from error


def _write_gif(film: Film, path: Path, seconds: float, report: Report) -> None:
    """One palette for all; of each picture what changed, as soon as it is drawn."""
    palette = _palette(film)
    ends = np.round(100 * seconds * np.arange(1, len(film) + 1)).astype(int)  # hundredths
    stays = np.diff(ends, prepend=0)
    before = None
    with path.open("wb") as file:
        for index in range(len(film)):
            picture = _rgb(film.picture(index)).quantize(palette=palette, dither=Image.Dither.NONE)
            if before is None:
                file.writelines(getheader(picture, info={"loop": 0})[0])
                box = (0, 0, *picture.size)
            else:
                changed = ImageChops.difference(_plain(picture), _plain(before)).getbbox()
                box = changed or (0, 0, 1, 1)
            before = picture
            part = picture.crop(box)
            file.writelines(getdata(part, box[:2], duration=10 * int(stays[index]), disposal=1))
            report(STAGE, index + 1, len(film))
        file.write(b";")


def _palette(film: Film) -> Image.Image:
    """256 colours for a few pictures from the first to the last; nearly white is white."""
    some = np.unique(np.linspace(0, len(film) - 1, 5).astype(int))
    sheet = np.concatenate([film.picture(int(index))[..., :3] for index in some])
    palette = Image.fromarray(sheet).quantize(256, method=Image.Quantize.MEDIANCUT)
    colours = np.array(palette.getpalette()).reshape(-1, 3)
    colours[colours.min(axis=1) >= 248] = 255
    palette.putpalette(colours.ravel().tolist())
    return palette


def _rgb(picture: Picture) -> Image.Image:
    return Image.fromarray(np.ascontiguousarray(picture[..., :3]))


def _plain(picture: Image.Image) -> Image.Image:
    """The numbers of the colours as grey, to be compared."""
    return Image.frombytes("L", picture.size, picture.tobytes())
