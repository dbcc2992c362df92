"""Where simulated groups differ from the observed ones, in plain words."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shoal.checks.comparison import Measure, PredictiveCheck

MORE_LESS = {
    "polarisation": ("are more aligned", "are less aligned"),
    "rotation": ("mill more", "mill less"),
    "cohesion": ("are spread wider", "keep closer together"),
    "nearest_distance": ("keep farther from their neighbours", "come nearer to their neighbours"),
    "group_speed": ("move on faster as a group", "move on more slowly as a group"),
    "speed": ("are faster", "are slower"),
    "misalignment_spread": ("have more scattered headings", "have less scattered headings"),
    "turning_angle": ("turn more sharply", "turn less sharply"),
    "large_turn": ("make larger big turns", "make smaller big turns"),
    "turning_autocorrelation": (
        "have turns more correlated with the one before",
        "have turns less correlated with the one before",
    ),
    "polarisation_autocorrelation": (
        "keep their order for longer",
        "gain and lose order more quickly",
    ),
    "straightness": ("go straighter", "wander more"),
    "target_reached": ("reach the target more often", "reach the target less often"),
    "time_to_target": ("reach the target later", "reach the target sooner"),
}
"""What a higher, or a lower, simulated value of each measure means."""
SHOWN = 5
SAME = 0.05
"""Sums of errors that differ by less than this share are called about equal."""


def paragraph(check: "PredictiveCheck") -> str:
    """Where the learned policy holds and fails, and how it compares with the baselines."""
    learned = check.models[0]
    wrong = check.failures(learned)
    total = len(check.judged(learned))
    if not total:
        first = "No measure could be judged: the tracks are too short."
    elif not wrong:
        first = (
            f"All {total} measures of the observed groups lie within the 95 % intervals that the "
            f"learned policy predicts ({check.replicates} replicates)."
        )
    else:
        left = [measure.summary.label for measure in check.surviving(learned)]
        remain = (
            f"{len(left)} remain{'s' * (len(left) == 1)} ({_listed(left)})"
            if left
            else "none remains, so that this can be chance"
        )
        first = (
            f"The learned policy fails on {len(wrong)} of {total} measures; by chance alone "
            f"{0.05 * total:.1f} would. Corrected for looking at {total} measures at once "
            f"{remain}. Its simulated groups "
            f"{_listed([_difference(measure, learned) for measure in wrong[:SHOWN]])}"
        )
        more = len(wrong) - SHOWN
        first += f"; and {more} more." if more > 0 else "."
    return " ".join(filter(None, [first + _unjudged(check), _ranking(check), *check.notes]))


def _difference(measure: "Measure", model: str) -> str:
    higher, lower = MORE_LESS.get(
        measure.summary.name,
        (f"have a higher {measure.summary.label}", f"have a lower {measure.summary.label}"),
    )
    low, high = measure.interval(model)
    unit = measure.unit if measure.unit in ("", "°") else f" {measure.unit}"
    words = higher if measure.mean(model) > measure.observed else lower
    span = f"{low:.3g} to {high:.3g}{unit}, observed {measure.observed:.3g}".replace("-", "−")
    return f"{words} ({span})"


def _unjudged(check: "PredictiveCheck") -> str:
    """What is missing from the verdict or from the sum."""
    judged, compared = check.judged(), check.compared()
    missing = [m.summary.label for m in check.measures.values() if m not in judged]
    alike = [m.summary.label for m in judged if m not in compared]
    said = f" Could not be judged: {_listed(missing)}." if missing else ""
    if alike:
        said += (
            f" Left out of the sum, as some model never has it or none varies: {_listed(alike)}."
        )
    return said


def _ranking(check: "PredictiveCheck") -> str:
    """Which model comes nearest on all measures together."""
    errors = check.errors()
    if not check.compared():
        return ""
    learned, *others = check.models
    better = [name for name in others if errors[learned] < (1 - SAME) * errors[name]]
    worse = [name for name in others if errors[name] < (1 - SAME) * errors[learned]]
    same = [name for name in others if name not in better + worse]
    said = [f"nearer than {_listed(better)}"] if better else []
    said += [f"about as near as {_listed(same)}"] if same else []
    said += [f"less near than {_listed(worse)}"] if worse else []
    figures = ", ".join(f"{name} {errors[name]:.3g}" for name in check.models)
    return (
        f"On all measures together it comes {_listed(said)} (summed standardised error: {figures})."
    )


def _listed(words: list[str], last: str = "and") -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}"
