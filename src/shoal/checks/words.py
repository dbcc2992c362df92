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
        "keep turning the same way for longer",
        "take back more of a turn in the next frame",
    ),
    "polarisation_autocorrelation": (
        "keep their order for longer",
        "gain and lose order more quickly",
    ),
    "straightness": ("go straighter", "wander more"),
    "time_to_target": ("reach the target later", "reach the target sooner"),
}
"""What a higher, or a lower, simulated value of each measure means."""
SHOWN = 5


def paragraph(check: "PredictiveCheck") -> str:
    """Where the learned policy holds and fails, and how it compares with the baselines."""
    learned = check.models[0]
    wrong = check.failures(learned)
    total = len(check.measures)
    if not wrong:
        first = (
            f"All {total} measures of the observed groups lie within what the learned policy "
            f"predicts ({check.replicates} replicates)."
        )
    else:
        first = (
            f"The learned policy fails on {len(wrong)} of {total} measures. Its simulated groups "
            f"{_listed([_difference(measure, learned) for measure in wrong[:SHOWN]])}"
        )
        more = len(wrong) - SHOWN
        first += f"; and {more} more." if more > 0 else "."
    return f"{first} {_ranking(check)}"


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


def _ranking(check: "PredictiveCheck") -> str:
    """Which model comes nearest on all measures together."""
    errors = check.errors()
    learned, *others = check.models
    better = [name for name in others if errors[learned] < errors[name]]
    worse = [name for name in others if name not in better]
    figures = ", ".join(f"{name} {errors[name]:.3g}" for name in check.models)
    if not worse:
        verdict = f"it comes nearer than {_listed(better, 'and')}"
    elif not better:
        verdict = f"{_listed(worse, 'and')} {'come' if len(worse) > 1 else 'comes'} nearer"
    else:
        verdict = f"it comes nearer than {_listed(better)}, but {_listed(worse)} comes nearer still"
    return f"On all measures together {verdict} (summed standardised error: {figures})."


def _listed(words: list[str], last: str = "and") -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}"
