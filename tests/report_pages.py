"""Fits to show, and a browser to look at them with."""

import time
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import numpy as np

import shoal

SHARED = Path(__file__).parents[2] / "shared" / "data"
TARGET = (0.2, 0.8)


@cache
def fish():
    """The digitised guppies where they are at hand, else animals that school and steer alike."""
    real = SHARED / "bode-guppy" / "observed_male_guppies_digitised.csv"
    return shoal.read_tracks(real) if real.exists() else herd(1, 10, 119, "guppies")


@cache
def sheep():
    """Two drives with the dog, where they are at hand, else two groups and somebody they follow."""
    real = SHARED / "sheep-dog" / "drives_data.mat"
    if real.exists():
        groups = [part.with_landmarks("dog") for part in list(shoal.read_tracks(real))[:2]]
        return shoal.Collection([part.thin(10) for part in groups])
    return shoal.Collection([with_dog(herd(n, 8, 150, f"drive {n}")) for n in (1, 2)])


def herd(seed, animals, frames, group):
    """Animals that turn towards each other and to the target, at their own paces."""
    rng = np.random.default_rng(seed)
    places = [rng.normal((0.8, 0.2), 0.05, (animals, 2))]
    heading = rng.uniform(-np.pi, np.pi, animals)
    pace = rng.uniform(0.004, 0.01, animals)
    for _ in range(frames - 1):
        to = np.asarray(TARGET) - places[-1]
        wanted = np.exp(1j * heading).mean() + 0.7 * np.exp(1j * np.arctan2(to[:, 1], to[:, 0]))
        turn = np.angle(wanted * np.exp(-1j * heading))
        heading = heading + 0.3 * turn + rng.normal(0, 0.25, animals)
        step = pace[:, None] * np.stack([np.cos(heading), np.sin(heading)], axis=1)
        places.append(places[-1] + step)
    return shoal.Tracks.from_arrays(np.stack(places), fps=10.0, length_unit="m", group=group)


def with_dog(tracks):
    """The same with somebody at their heels."""
    centre = tracks.positions.mean(axis=1)
    dog = centre + np.array([0.15, -0.1])
    everybody = np.concatenate([tracks.positions, dog[:, None]], axis=1)
    names = [*tracks.individuals, "dog"]
    return shoal.Tracks.from_arrays(
        everybody, fps=10.0, length_unit="m", group=tracks.group, individuals=names
    ).with_landmarks("dog")


def learned(tracks, *parts, sd=40.0):
    """A quick fit of tracks."""
    space = shoal.StateSpace(*parts)
    counts = shoal.count_transitions(tracks, space)
    model = shoal.Model(space, shoal.RandomWalk(sd), shoal.Identity())
    return model.fit(counts, method="laplace", chains=2, draws=100, seed=1, progress=False)


def decided():
    """A quick fit of what animals decided."""
    space = shoal.StateSpace(
        shoal.Distance(np.linspace(0, 0.2, 5), unit="m", beyond=True), shoal.Bearing(bins=8)
    )
    read = shoal.decisions(herd(3, 6, 91, "fish"), space, shoal.Steps())
    model = shoal.Model(space, shoal.Steps(), shoal.Smooth(order=2, interactions=1))
    return model.fit(read, "laplace", chains=2, draws=100, seed=1, progress=False)


def local(bins=12):
    return shoal.LocalMisalignment(bins=bins)


@contextmanager
def browsed(browser, width=1280, dark=False):
    """A page of a browser, and what went wrong or out on it."""
    context = browser.new_context(
        viewport={"width": width, "height": 900},
        color_scheme="dark" if dark else "light",
        accept_downloads=True,
    )
    page = context.new_page()
    page.wrong, page.asked = [], []
    page.on("console", lambda m: page.wrong.append(m.text) if m.type == "error" else None)
    page.on("pageerror", lambda error: page.wrong.append(str(error)))
    page.on("request", lambda request: page.asked.append(request.url))
    yield page
    context.close()


def ink(page, selector):
    """How varied the pixels of a canvas are: nothing drawn is 0."""
    return page.eval_on_selector(
        selector,
        """canvas => {
            const pen = canvas.getContext("2d"), seen = new Set();
            const data = new Uint32Array(
                pen.getImageData(0, 0, canvas.width, canvas.height).data.buffer);
            for (let n = 0; n < data.length; n += 37) seen.add(data[n]);
            return seen.size;
        }""",
    )


def picture(page, selector):
    """A canvas as text, to see whether it changed."""
    return page.eval_on_selector(selector, "canvas => canvas.toDataURL()")


def until(page, expression, seconds=30.0):
    """Wait until something holds on a page, whose policy lets nobody evaluate strings in it."""
    end = time.monotonic() + seconds
    while not page.evaluate(expression):
        assert time.monotonic() < end, expression
        page.wait_for_timeout(20)
