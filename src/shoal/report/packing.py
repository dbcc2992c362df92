"""Numbers inside a page: short, exact enough, and nothing in them that a browser would run."""

import base64
import json
from typing import Any

import numpy as np

KINDS = {"f4": "<f4", "i4": "<i4", "u2": "<u2", "u1": "<u1"}


def packed(values: Any, kind: str = "f4") -> dict[str, Any]:
    """An array as base64 with its kind and shape, which the page's script unpacks."""
    array = np.ascontiguousarray(values, dtype=KINDS[kind])
    data = base64.b64encode(array.tobytes()).decode()
    return {"kind": kind, "shape": list(array.shape), "data": data}


def unpacked(pack: dict[str, Any]) -> np.ndarray:
    """The array again."""
    flat = np.frombuffer(base64.b64decode(pack["data"]), dtype=KINDS[pack["kind"]])
    return flat.reshape(pack["shape"])


def plain(values: Any) -> list[Any]:
    """Numbers as a list, None where there is none; seven digits are more than anyone can see."""
    return [float(f"{v:.7g}") if np.isfinite(v) else None for v in np.ravel(values).tolist()]


def script_json(contents: dict[str, Any]) -> str:
    """JSON that can stand inside a script element whatever names a file had in it."""
    text = json.dumps(contents, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
