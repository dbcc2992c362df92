"""Models side by side, each fitted to one part of transitions or decisions, scored on the rest."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated, Any

import numpy as np
from jaxtyping import Float

from shoal.basis import Flat
from shoal.errors import InputError
from shoal.inputs import GIVEN, SEED, Word
from shoal.moves import Decisions
from shoal.passive import Empirical
from shoal.posterior import Fit, Model
from shoal.posterior.decision_fit import DecisionFit, check_decisions, log_densities
from shoal.posterior.model import Method
from shoal.posterior.scoring import Score, blocks_of, log_predictive
from shoal.selection.candidates import Candidate, ladder
from shoal.selection.entrants import check_name, entrants
from shoal.selection.holding_out import Part, by_group, group_rows, holds_groups_out, parts_of
from shoal.selection.verdict import Comparison, Entry
from shoal.states import StateSpace, Transitions
from shoal.system.cluster import Cluster, run_jobs
from shoal.system.progress import Report, reporting
from shoal.tracks import Groups

Counted = Annotated[Transitions | Decisions, GIVEN]
"""What models are fitted to."""

Entrant = Annotated[Model | tuple[Model, Decisions | tuple[Decisions, Decisions]], GIVEN]
"""A model, or one with its own reading of the tracks."""


def compare(  # noqa: PLR0913
    data: Counted | tuple[Counted, Counted],
    models: Mapping[str, Entrant] | None = None,
    *,
    split: Word = "time",
    method: str | Method = "laplace",
    draws: int = 250,
    seed: int = SEED,
    tracks: Groups | tuple[Groups, Groups] | None = None,
    cluster: Cluster | None = None,
    progress: bool | Report | None = None,
) -> Comparison:
    """Fit models to one part of decisions or transitions, and score them on the rest.

    A score is bits per held-out decision (the log₂ density of the move that was made) or per
    held-out transition.

    Parameters
    ----------
    data
        From ``shoal.decisions`` or ``count_transitions``; or two of them (to learn from, to score),
        whatever the split.
    models
        Models by name. Of decisions a model may have other features, bins or ways of seeing others:
        give it with its own reading of the same tracks, ``(model, decisions)``, or with two where
        ``data`` is two. All are scored on the decisions (by group, animal and frame) that every
        model has. Baselines are always there. Of decisions: passive moves alone with three
        distributions of turns, alignment (Vicsek), zones (Couzin), linear terms (step selection),
        smooth costs. Of transitions: uniform, a Markov chain, the paper's walk with and without
        costs, maximum entropy (uniform with costs), and walks and turns that are learned, with and
        without costs.
    split
        ``"time"`` (the first two thirds to learn from), ``"time:0.5"``, ``"group:0.7"`` (whole
        groups, drawn by the seed), ``"individual:0.7"``, ``"5-fold"`` by time, ``"5-fold:group"``,
        ``"leave-one-group-out"``. A covariate of the tracks may follow, by which groups or
        animals are stratified: ``"group:0.7:sex"``, ``"5-fold:group:sex"``.
    method
        How models are fitted: laplace is exact enough for scores and quick.
    draws, seed
        Of each fit, in 4 chains; the seed also draws what is held out.
    tracks
        What decisions were read from (two where ``data`` is two): alignment and zones are read from
        them where the states compared lack headings, distance or bearing of neighbours.
    cluster
        Workers to share the fits: a number, the address of a Dask scheduler, or a Dask client.

    Returns
    -------
    Comparison
        ``print`` says which model to believe; ``best``, ``contenders``, ``weights`` and ``table``
        have the numbers.

    Examples
    --------
    >>> import shoal
    >>> space = shoal.StateSpace.discrete(3)
    >>> counts = shoal.count_transitions([[0, 1, 1, 2, 1, 1, 0, 1] * 10], space)
    >>> shoal.compare(counts, method="map").best.name
    'Markov chain, smoothed'
    """
    single = not isinstance(data, tuple)
    first = data[0] if isinstance(data, tuple) else data
    of_moves = isinstance(first, Decisions)
    if of_moves:
        data, candidates, remarks = entrants(data, models or {}, tracks)
        parts, words = parts_of(data, split, seed)
    else:
        parts, words = parts_of(data, split, seed)
        space, remarks = parts[0][0].space, ()
        candidates = ladder(space)
        for name, given in (models or {}).items():
            model = _checked_model(name, given, space, candidates)
            costs = not isinstance(model.basis, Flat)
            candidates.append(Candidate(name, lambda seen, own=model: own, costs))  # type: ignore[misc]
    apart = single and holds_groups_out(split)
    job = partial(_entry, parts=parts, method=method, draws=draws, seed=seed, apart=apart)
    with reporting(progress) as report:
        found = dict(run_jobs(job, list(enumerate(candidates)), cluster, report, "comparing"))
    counts = np.concatenate([_counts(held) for _, held in parts])
    unit = "decision" if of_moves else "transition"
    entries = tuple(found[n] for n in range(len(candidates)))
    return Comparison(entries, counts, words, unit, remarks)


def _checked_model(name: str, model: Any, space: StateSpace, others: Sequence[Candidate]) -> Model:
    """A model of transitions on these states, with a name of its own."""
    if not isinstance(model, Model):
        raise InputError(f"models are shoal.Model(…) by name; {name!r} is {model!r:.60}")
    if model.space.axes != space.axes:
        raise InputError(
            f"the model {name!r} is on the states {model.space.names}, and the transitions are on "
            f"{space.names} or in other bins"
        )
    check_name(name, others)
    return model


def _entry(
    numbered: tuple[int, Candidate],
    parts: list[Part],
    method: Any,
    draws: int,
    seed: int,
    apart: bool,
) -> tuple[int, Entry]:
    """A model fitted to every part, each fit beginning where the one before it ended."""
    number, candidate = numbered
    scores, logs, trained, figures = [], [], [], []
    fit: Fit | None = None
    for seen, held in map(candidate.read, parts):
        model = candidate.make(seen)
        again = fit if fit is not None and model.hierarchical else None
        fit = model.fit(seen, method, chains=4, draws=draws, seed=seed, progress=False, start=again)
        score, each = _scored(fit, held, apart=apart)
        scores.append(score)
        logs.append(each / np.log(2))
        trained.append(_bits(fit, seen))
        figures.append(_figures(fit))
    pooled = Score(
        np.concatenate([score.sums for score in scores]),
        np.concatenate([score.counts for score in scores]),
        scores[0].independent,
    )
    return number, Entry(
        candidate.name,
        candidate.costs,
        candidate.dynamics,
        pooled,
        np.concatenate(logs),
        float(np.mean(trained)),
        all(one["converged"] for one in figures),
        **{
            name: worst([one[name] for one in figures])
            for name, worst in (
                *(("pareto_k", np.fmax.reduce), ("importance_ess", np.fmin.reduce)),
                *(("r_hat", np.fmax.reduce), ("effective_draws", np.fmin.reduce)),
                *(("divergences", sum), ("unknowns", max)),
            )
        },
        method=fit.method if fit is not None else "",
    )


def _scored(fit: Fit, held: Any, *, apart: bool) -> tuple[Score, Float[np.ndarray, " n"]]:
    """Bits of every block, and log p of every held-out decision or distinct transition."""
    if isinstance(fit, DecisionFit):
        check_decisions(fit, held)
        each, _ = log_densities(fit, held)
        rows = group_rows(held) if apart else held.block_rows()
        sums = np.array([each[block].sum() for block in rows]) / np.log(2)
        return Score(sums, np.array([float(len(block)) for block in rows])), each
    score = fit.score(by_group(held) if apart else held)
    return score, log_predictive(fit, _together(held))


def _bits(fit: Fit, seen: Any) -> float:
    """Per decision or transition, on what a fit learned from."""
    if isinstance(seen, Decisions):
        return float(log_densities(fit, seen)[0].mean() / np.log(2))  # type: ignore[arg-type]
    return fit.score(Transitions(seen.space, seen.pairs, lag=seen.lag)).bits


def _counts(held: Any) -> Float[np.ndarray, " pairs"]:
    """How often each of the logs counts."""
    whole = isinstance(held, Decisions)
    return np.ones(held.total) if whole else _together(held).pairs.count.astype(float)


def _figures(fit: Fit) -> dict[str, Any]:
    """How far its draws can be trusted, and how many numbers it has learned."""
    facts, posterior = fit.facts, fit.data["posterior"].to_dataset()
    found = {
        "converged": bool(facts.get("converged", True)),
        "pareto_k": float(facts.get("pareto_k", "nan")),
        "importance_ess": float(facts.get("importance_ess", "nan")),
        "r_hat": float("nan"),
        "effective_draws": float("nan"),
        "divergences": 0,
    }
    if fit.method == "nuts":
        chains = fit.data["convergence"].to_dataset()
        r_hats = [chains[n].values.max() for n in chains if str(n).endswith("r_hat")]
        draws = [chains[n].values.min() for n in chains if "ess" in str(n)]
        found["r_hat"] = float(np.fmax.reduce(r_hats))
        found["effective_draws"] = float(np.fmin.reduce(draws))
        found["divergences"] = int(fit.data["sample_stats"].to_dataset()["diverging"].sum())
    learned = posterior["parameters"].sizes["parameter"] if "parameters" in posterior else 0
    if isinstance(fit.model.passive, Empirical):
        learned += len(fit.model.passive.transitions.pairs)
    if not isinstance(fit.model.basis, Flat):
        learned += posterior.sizes.get("coefficient", fit.model.space.size)
        learned += "precision" in posterior
    return found | {"unknowns": int(learned)}


def _together(held: Any) -> Transitions:
    blocks, _ = blocks_of(held)
    return Transitions.summed(blocks, blocks[0].space)
