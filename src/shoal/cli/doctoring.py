"""``shoal doctor``."""

from typing import Annotated, Any

import typer

from shoal.cli.answering import Answer, Rows
from shoal.cli.compiling import Keeping, keeping
from shoal.version import __version__


def doctor(
    measure: Annotated[
        bool, typer.Option("--measure/--no-measure", help="Say how fast this machine is.")
    ] = True,
) -> Answer:
    """Say what is installed, whether it works, whether a GPU is seen, and how fast this machine is.

    Exit status 1 where something needed is broken.

    Example:  shoal doctor
    """
    from shoal.workflows import machine  # noqa: PLC0415  (loads JAX only when needed)

    wrong = machine.trouble()
    parts, missing = machine.installed(), machine.missing_options()
    try:
        found = machine.hardware()
        speed = machine.speed() if measure and not wrong else None
    except Exception as error:
        wrong.append(" ".join(f"JAX finds no device ({type(error).__name__}: {error})".split()))
        found, speed = {}, None
    programs = keeping()
    rows = [
        ("shoal", __version__),
        *_machine_rows(found),
        ("compiled programs", _kept(programs)),
        ("installed", ", ".join(f"{name} {number}" for name, number in parts.items() if number)),
        *((f"without {name}", f"{what}: {how}") for name, (what, how) in missing.items()),
    ]
    shown: list[Rows | str] = [
        Rows("What is here", [{"what": name, "found": words} for name, words in rows])
    ]
    if speed is not None:
        shown += [Rows("How fast it is", _speed_rows(speed)), _guess(speed)]
    shown += [f"✗ {sentence}" for sentence in wrong] or ["Everything that is needed is here."]
    record = {
        "well": not wrong,
        "trouble": wrong,
        "machine": found,
        "precision": "float64",
        "installed": parts,
        "missing_options": {n: {"for": what, "get": how} for n, (what, how) in missing.items()},
        "programs": {"folder": programs.folder, "reason": programs.reason or None},
        "speed": None
        if speed is None
        else {
            "gradient_ms": speed.milliseconds,
            "compiling_s": speed.compiling,
            "guessed_fit_s": speed.fit,
            "reference": machine.REFERENCE,
            "reference_gradient_ms": machine.REFERENCE_MS,
        },
    }
    return Answer(record, shown, status=1 if wrong else 0)


def _machine_rows(found: dict[str, Any]) -> list[tuple[str, str]]:
    if not found:
        return []
    gpu = "yes" if found["gpu"] else "none is seen by JAX"
    if found["unused_gpu"]:
        gpu += ", though nvidia-smi is here: see the missing parts below"
    return [
        ("Python", f"{found['python']}, {found['executable']}"),
        ("system", found["system"]),
        ("cores", str(found["cores"])),
        ("free memory", f"{found['free_memory'] / 2**30:.1f} GiB"),
        ("devices", ", ".join(found["devices"])),
        ("GPU", gpu),
        ("precision", "double, float64"),
    ]


def _kept(programs: Keeping) -> str:
    if programs.folder is None:
        return f"are not kept: {programs.reason}"
    from shoal.cli.programs import programs_below  # noqa: PLC0415

    found = programs_below(programs.folder.parent)
    size = sum(one[1] for one in found) / 2**20
    return f"{len(found):,}, {size:.0f} MiB, in {programs.folder}"


def _speed_rows(speed: Any) -> list[dict[str, str]]:
    from shoal.workflows.machine import REFERENCE_MS  # noqa: PLC0415

    return [
        {
            "value and gradient of a log posterior": f"{grid} states",
            "here": f"{here:.3g} ms",
            "reference": f"{REFERENCE_MS[grid]:.3g} ms",
        }
        for grid, here in speed.milliseconds.items()
    ]


def _guess(speed: Any) -> str:
    from shoal.workflows.machine import REFERENCE, REFERENCE_FIT  # noqa: PLC0415

    return (
        f"The reference is {REFERENCE}. A fit by NUTS, 4 chains of 1,000 draws on 36 × 36 states, "
        f"takes about {sum(REFERENCE_FIT):.0f} s there and would take some {speed.fit:.0f} s here "
        "the first time; a guess from the compiler's and the gradient's times."
    )
