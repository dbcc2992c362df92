"""Commands in this process: what they say on either stream, and how they end."""

import io
import sys
import warnings
from contextlib import redirect_stderr, redirect_stdout
from typing import NamedTuple

import pytest

from shoal.cli.main import main


class Spoken(NamedTuple):
    status: int
    out: str
    err: str


def spoken(*words, encoding="utf-8", warned=False):
    """Run a command with streams of this encoding; warnings are errors unless they are expected."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding=encoding) for _ in range(2))
    with (
        pytest.MonkeyPatch.context() as patch,
        redirect_stdout(out),
        redirect_stderr(err),
        warnings.catch_warnings(),
    ):
        if warned:
            warnings.simplefilter("default", UserWarning)
        patch.setattr(sys, "argv", ["shoal", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
    texts = []
    for stream in (out, err):
        stream.flush()
        texts.append(stream.buffer.getvalue().decode(encoding))
    return Spoken(ended.value.code or 0, *texts)
