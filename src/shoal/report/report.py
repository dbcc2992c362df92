"""One self-contained page about a fit: what it says, how far to trust it, and groups in motion."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from typing import Any

from shoal.checks import PredictiveCheck
from shoal.checks.recovery import Recovery
from shoal.posterior import DecisionFit, Fit
from shoal.posterior.specification import Unreadable
from shoal.report import decided, sections
from shoal.report.contents import check_of, facts_of, fit_contents, short, unknowns_of
from shoal.report.frame import asset, page_html
from shoal.report.known import in_words
from shoal.report.packing import packed
from shoal.report.policies import policy_of
from shoal.report.replay import Stage
from shoal.report.sections import Section, bullets, paragraph, table
from shoal.simulation.designs import Scenario
from shoal.states import Circular, Folded
from shoal.states.scene import Feature
from shoal.version import __version__

CITATION = (
    f"The shoal developers: shoal, learn what moving animals want, version {__version__}.",
    "Schafer, T. L. J., Wikle, C. K., Hooten, M. B. (2022): Bayesian inverse reinforcement "
    "learning for collective animal movement. The Annals of Applied Statistics.",
)


@dataclass(frozen=True, eq=False)
class Report:
    """A fit, and what belongs on a page beside it.

    Attributes
    ----------
    fit
        What was learned.
    tracks
        The groups it was learned from, for the replay; None for none.
    check
        Observed groups among simulated ones; None for none.
    who
        The animals, in the title.
    scenario, seed
        How simulated groups move.
    rows, notes
        What was read and counted, and what was done to it.
    choices, command
        A TOML file that repeats the fit, and the command to type.
    known
        The true costs beside the learned ones, of simulated animals; None where nobody knows them.
    """

    fit: Fit
    tracks: Any = None
    check: PredictiveCheck | None = None
    who: str = "these animals"
    scenario: Scenario = field(default_factory=Scenario)
    seed: int = 1
    rows: Sequence[tuple[str, str]] = ()
    notes: Sequence[str] = ()
    choices: str = ""
    command: str = ""
    known: Recovery | None = None

    @cached_property
    def contents(self) -> dict[str, Any]:
        """The numbers that the page's script draws."""
        found = fit_contents(self.fit)
        follows = found["costs"]["cost_to_go"] and not isinstance(self.fit, DecisionFit)
        found["policy"] = policy_of(self.fit) if follows else None
        found["known"] = None if self.known is None else packed(self.known.truth)
        found["check"] = None if self.check is None else check_of(self.check)
        found["replay"] = None if self.stage is None else self.stage.contents()
        return found

    @cached_property
    def stage(self) -> Stage | None:
        """The groups that are replayed, where there are tracks and features to read them by."""
        features = all(isinstance(part, Feature) for part in self.fit.model.space.parts)
        if self.tracks is None or not features:
            return None
        return Stage.of(self.fit, self.tracks, self.scenario, self.seed)

    def html(self, *, served: bool = False) -> str:
        """The page, with its numbers inside, or one that asks the explorer's server for them."""
        title = f"What {self.who} {'choose' if isinstance(self.fit, DecisionFit) else 'want'}"
        return page_html(title, self.fit, self.parts(served), None if served else self.contents)

    def parts(self, served: bool = False) -> list[Section]:
        """What the page holds, in order."""
        fit, contents, diagnostics = self.fit, self.contents, self.fit.diagnostics()
        sentence, behind = fit.headline()
        moves = isinstance(fit, DecisionFit)
        shown = [
            Section(
                "headline",
                "What they choose" if moves else "What they want",
                sections.banner(diagnostics)
                + paragraph(sentence, "headline")
                + bullets(behind)
                + ("" if self.known is None else paragraph(in_words(self.known)))
                + paragraph(self._caveat(), "note"),
            )
        ]
        if served:
            shown.append(Section("try", "Try it", asset("explorer.html")))
        if contents["around"]:
            shown.append(Section("around", "Around an animal", self._around(contents["around"])))
        if contents["costs"]["cost_to_go"]:
            shown.append(Section("costs", "Costs", self._costs()))
            unread = isinstance(fit.model.passive, Unreadable)
            body = paragraph(_UNREAD, "note") if unread else asset("policy.html")
            if not moves:
                shown.append(Section("policy", "Where an animal goes next", body))
        elif contents["marginals"]["cost_to_go"]:
            shown.append(Section("costs", "Costs", paragraph(_MANY, "note")))
        if len(fit.model.space.axes) > 1 and contents["marginals"]["cost_to_go"]:
            shown.append(Section("marginals", "Axis by axis", self._marginals()))
        if contents["replay"]:
            replay = self._replay(contents["replay"])
            shown.append(Section("replay", "Observed and simulated", replay))
        if contents["replay"] or self.check is not None:
            shown.append(Section("checks", "Do simulated groups move alike?", self._checks()))
        shown.append(Section("trust", "How far to trust it", sections.trust(diagnostics)))
        shown.append(Section("data", "What was read", self._data()))
        shown.append(Section("repeat", "How to repeat it", self._repeat()))
        return shown

    def _around(self, maps: Sequence[dict[str, Any]]) -> str:
        apart = decided.APART if any(one["apart"] for one in maps) else ""
        return paragraph(f"{decided.AROUND} {apart}".strip(), "note") + asset("around.html")

    def _costs(self) -> str:
        if not isinstance(self.fit, DecisionFit):
            return paragraph(_COSTS, "note") + asset("costs.html")
        lines = decided.LEVELS if self.fit.lines.max() else ""
        words = paragraph(f"{decided.COSTS} {lines}".strip(), "note")
        return words + asset("costs.html").replace("cost-to-go v", "cost-to-go q")

    def _marginals(self) -> str:
        figure = '<div id="marginal-figure" class=many></div>'
        if isinstance(self.fit, DecisionFit):
            return paragraph(decided.MARGINALS, "note") + figure
        rows = self.fit.effects().rows()
        effects = table(rows, "What each axis does, and what they do together", 1)
        return paragraph(_MARGINALS, "note") + figure + effects

    def _caveat(self) -> str:
        if isinstance(self.fit, DecisionFit):
            return decided.caveat(self.fit)
        return (
            "A low cost-to-go marks states that animals steer towards, given what they would do "
            f"without preferences ({short(self.fit.passive)}); other passive dynamics give other "
            "costs. What it says of states never entered comes from the prior and from their "
            "absence."
        )

    def _replay(self, replay: dict[str, Any]) -> str:
        axes = [axis for axis in self.fit.model.space.axes if isinstance(axis, Circular | Folded)]
        names = [axis.name.replace("_", " ") for axis in axes]
        rays = f", dashed rays point where its perceived angles ({', '.join(names)}) point"
        lag = (
            f" A frame is shown for every {self.fit.lag} of the tracks." if self.fit.lag > 1 else ""
        )
        words = (
            f"The followed animal is ringed: its solid ray is its heading{rays if names else ''}. "
            f"Click an animal to follow it.{lag}"
        )
        left = paragraph(f"{replay['omitted']}.", "note") if replay["omitted"] else ""
        page = asset("replay.html")
        if isinstance(self.fit, DecisionFit):
            page = page.replace("by the learned policy", "by the learned choices")
            words += f" {decided.MOVES}"
        return paragraph(words, "note") + page + left

    def _checks(self) -> str:
        if self.check is None:
            return paragraph(_UNCHECKED, "note")
        rows = table(self.check.rows(), "Mean of the replicates, with 95 % interval", 1)
        key = "Black line: observed. Thin bar: 95 % of the replicates, thick bar: half of them."
        models = ("blue", "grey", "orange")
        named = ", ".join(
            f"{colour} the {model}"
            for colour, model in zip(models, self.check.models, strict=False)
        )
        return (
            paragraph(self.check.words())
            + paragraph(f"{key} {named[0].upper()}{named[1:]}.", "note")
            + '<div id="check-figure"></div>'
            + f"<details><summary>Numbers</summary>{rows}</details>"
        )

    def _data(self) -> str:
        known = _UNCHANGED if self.tracks is not None else _UNKNOWN
        notes = bullets(self.notes) if self.notes else paragraph(known)
        rows = sections.facts(self.rows or self._counted(), "What was read and counted")
        return rows + f"<h3>What reading and preparing did</h3>{notes}"

    def _counted(self) -> list[tuple[str, str]]:
        arrivals = self.fit.arrivals.values
        kind = "decisions" if isinstance(self.fit, DecisionFit) else "transitions"
        entered = "states decided for" if kind == "decisions" else "states entered"
        return [
            (kind, f"{int(arrivals.sum()):,}"),
            (entered, f"{int((arrivals > 0).sum()):,} of {arrivals.size:,}"),
        ]

    def _repeat(self) -> str:
        command = f"<pre>{escape(self.command)}</pre>" if self.command else ""
        toml = f"<summary>Every choice (TOML)</summary><pre>{escape(self.choices)}</pre>"
        choices = f"<details>{toml}</details>" if self.choices else ""
        learned = table(unknowns_of(self.fit), "Learned along with the costs", 1)
        return (
            command
            + choices
            + sections.facts(facts_of(self.fit), "How the fit was made")
            + learned
            + f"<h3>To cite</h3>{bullets(CITATION)}"
        )


_COSTS = (
    "The cost-to-go v of a state is what it costs from there on; the state cost r is what a step "
    "in it costs. Both are known up to a constant: their lowest mean is 0. Hatched or grey: states "
    "never entered, where the prior alone speaks; colours span the others."
)
_MANY = (
    "There are too many states to show one by one in a page: below are averages along each axis. "
    "fit.summary() has every state."
)
_MARGINALS = (
    "Averages over the other axes with the arrivals as weights: posterior mean and 95 % interval. "
    "In the table, effects are over all states alike, and their shares add up to one."
)
_UNREAD = (
    "The passive dynamics of this fit were given as a function or matrix that its file does not "
    "hold, so the policy cannot be shown."
)
_UNCHECKED = (
    "Not checked here. shoal report fit.nc adds posterior predictive checks: groups are simulated "
    "again and again, and measured as the observed ones were."
)
_UNCHANGED = (
    "Reading and preparing changed nothing; what counting left out is above, where it is known."
)
_UNKNOWN = "Not known: this page was made without the tracks."
