"""The models of decisions that are compared: baselines and a user's, on the decisions all share."""

from collections.abc import Mapping, Sequence
from typing import Any

from shoal.errors import InputError
from shoal.moves import Decisions
from shoal.posterior import Model
from shoal.selection.baselines import Own, given, lacks_social, move_ladder
from shoal.selection.candidates import Candidate
from shoal.selection.matching import common, with_passive
from shoal.selection.zones import HEADING, social_reading
from shoal.tracks.splitting import listed


def entrants(
    data: Any, models: Mapping[str, Any], tracks: Any = None
) -> tuple[Any, list[Candidate], tuple[str, ...]]:
    """The decisions that all models share (one, or two), the models, and what to say about both."""
    both = _two(data, "decisions")
    single = not isinstance(data, tuple)
    named = {name: _model_and_own(name, one, both, single) for name, one in models.items()}
    readings = [(name, own) for name, (_, own) in named.items() if own is not None]
    social, missing = None, ""
    if lacks_social(both[0].space) and tracks is not None:
        try:
            social = _social(tracks, both, single)
            readings.append(("zones (Couzin)", social))
        except InputError as error:
            missing = f"{_rules(both[0])} ({error})."
    elif lacks_social(both[0].space):
        missing = f"{_rules(both[0])}; give tracks= to read them."
    shared = tuple(
        common(part, [(name, own[place]) for name, own in readings])
        for place, part in enumerate(both[:1] if single else both)
    )
    candidates = move_ladder(shared[0], social)
    for name, (model, own) in named.items():
        check_name(name, candidates)
        candidates.append(given(name, model, own))
    lost = sum(part.total for part in (both[:1] if single else both))
    kept = sum(part.total for part in shared)
    remarks = [missing] if missing else []
    if kept < lost:
        remarks.append(
            f"Of {lost:,} decisions {lost - kept:,} were left out, since not every model could "
            "read them."
        )
    return (shared[0] if single else shared), candidates, tuple(remarks)


def _rules(like: Decisions) -> str:
    """Which rules need features that these states lack."""
    names = ["zones (Couzin)"]
    if HEADING not in like.space.names:
        names.append("alignment (Vicsek)")
    return f"Not compared, since the states lack the features: {listed(names)}"


def check_name(name: str, others: Sequence[Candidate]) -> None:
    """Two models of one name could not be told apart."""
    if name in [other.name for other in others]:
        raise InputError(f"there is a model {name!r} already: choose another name")


def _two(data: Any, what: str) -> Own:
    """What to learn from and what to score; the same twice before it is split."""
    both = data if isinstance(data, tuple) else (data, data)
    if len(both) != 2 or not all(isinstance(part, Decisions) for part in both):
        raise InputError(f"{what} are what shoal.decisions(…) returns, or two of them")
    return both


def _model_and_own(name: str, one: Any, both: Own, single: bool) -> tuple[Model, Own | None]:
    """A model, and its own reading of the decisions where it has one."""
    model, own = one if isinstance(one, tuple) and len(one) == 2 else (one, None)
    if not isinstance(model, Model):
        raise InputError(
            f"models are shoal.Model(…) by name, or (model, decisions); {name!r} is {one!r:.60}"
        )
    if own is None:
        if model.space != both[0].space:
            raise InputError(
                f"the model {name!r} is on the states {model.space.names}, and the decisions are "
                f"on {both[0].space.names} or in other bins: give it with its own decisions, "
                "(model, decisions)"
            )
        with_passive(both[0], model.passive)
        return model, None
    if isinstance(own, tuple) == single:
        raise InputError(
            f"the model {name!r} needs decisions in as many parts as those that are compared: "
            f"{'one' if single else 'two, to learn from and to score'}"
        )
    return model, _two(own, f"the decisions of the model {name!r}")


def _social(tracks: Any, both: Own, single: bool) -> Own:
    if single:
        read = social_reading(tracks, both[0])
        return read, read
    if not isinstance(tracks, tuple) or len(tracks) != 2:
        raise InputError("tracks are two, as decisions are: what was learned from, what is scored")
    first = social_reading(tracks[0], both[0])
    return first, social_reading(tracks[1], first, first.space)
