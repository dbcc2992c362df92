"""What a page says of a fit whose truth is known: simulated animals."""

from shoal.checks.recovery import ENOUGH, Recovery


def in_words(found: Recovery) -> str:
    """How well the truth was found."""
    states = int(found.seen(ENOUGH).sum())
    inside = int(found.inside[found.seen(ENOUGH)].sum())
    return (
        f"The true costs are known here. Of the {states} states that were decided for {ENOUGH} "
        f"times or more, the 95 % interval holds the true cost in {inside}. Estimates are off by "
        f"{found.error(ENOUGH):.2f} nats on average (root mean square), and by "
        f"{found.largest_error(ENOUGH):.2f} at most."
    )
