"""Geography: longitude and latitude projected to metres on a plane."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

EARTH_RADIUS = 6_371_008.8
"""Metres; the mean radius of WGS 84."""

Degrees = Float[np.ndarray, " fixes"]


def centre_of(longitude: Degrees, latitude: Degrees) -> tuple[float, float]:
    """The centre of all positions, also across the date line."""
    seen = np.isfinite(longitude) & np.isfinite(latitude)
    theta, phi = np.deg2rad(longitude[seen]), np.deg2rad(latitude[seen])
    x, y, z = (np.cos(phi) * np.cos(theta)).mean(), (np.cos(phi) * np.sin(theta)).mean(), 0.0
    z = np.sin(phi).mean()
    return float(np.rad2deg(np.arctan2(y, x))), float(np.rad2deg(np.arctan2(z, np.hypot(x, y))))


def to_metres(
    longitude: Degrees, latitude: Degrees, centre: Sequence[float]
) -> tuple[Degrees, Degrees]:
    """Metres east and north of a centre, by the azimuthal equidistant projection of WGS 84."""
    from pyproj import Transformer  # noqa: PLC0415  (only for places on Earth)

    lon, lat = centre
    flat = f"+proj=aeqd +lon_0={lon!r} +lat_0={lat!r} +datum=WGS84 +units=m +no_defs"
    project: Any = Transformer.from_crs("EPSG:4326", flat, always_xy=True)
    east, north = np.full_like(longitude, np.nan), np.full_like(latitude, np.nan)
    seen = np.isfinite(longitude) & np.isfinite(latitude)
    east[seen], north[seen] = project.transform(longitude[seen], latitude[seen])
    return east, north


def projection_notes(east: Degrees, north: Degrees, centre: Sequence[float]) -> list[str]:
    """A sentence on the projection, and on how much it stretches lengths far from the centre."""
    farthest = float(np.nanmax(np.hypot(east, north), initial=0.0))
    angle = farthest / EARTH_RADIUS
    stretch = angle / np.sin(angle) - 1 if 0 < angle < np.pi else 0.0
    words = (
        f"longitude and latitude projected to metres east and north of "
        f"{centre[0]:.5f}°, {centre[1]:.5f}° (azimuthal equidistant, WGS 84)"
    )
    if stretch > 0.01:
        words += (
            f"; positions lie up to {farthest / 1000:.0f} km from it, where lengths across "
            f"are {stretch:.0%} too long: split the tracks by region"
        )
    return [words]
