"""Transitions and decisions are split alike: by time, group, individual, in blocks and folds."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Literal, TypeVar

import numpy as np
from jaxtyping import Int

from shoal.results import Result
from shoal.states import splitting
from shoal.states.records import Records

Some = TypeVar("Some", bound="Splits")


class Splits(Result):
    """What was seen of animals, of which it is known when and whose it was."""

    lag: int

    @abstractmethod
    def take(self: Some, rows: Any) -> Some:
        """Some of them: where a mask is True, or by the numbers of their rows."""

    @abstractmethod
    def _known(self) -> Records:
        """When and whose each of them was."""

    def split_time(self: Some, share: float) -> tuple[Some, Some]:
        """The earlier and the later part of every group.

        Of the frames from a group's first state to its last, the first ``int(share * frames)`` are
        the earlier part. A transition from one part into the other belongs to neither.

        Examples
        --------
        >>> import shoal
        >>> counts = shoal.count_transitions([[0, 1, 0, 1, 1, 0]], shoal.StateSpace.discrete(2))
        >>> earlier, later = counts.split_time(0.5)
        >>> earlier.total, later.total
        (2, 2)
        """
        return self._two(splitting.by_time(self._known(), self.lag, share))

    def split_groups(
        self: Some, which: float | Sequence[Any], seed: int = 0, stratify: str | None = None
    ) -> tuple[Some, Some]:
        """Whole groups, and the others.

        Parameters
        ----------
        which
            A share of all groups, drawn at random, or labels.
        seed
            For the draw.
        stratify
            A covariate of the tracks, such as ``"sex"``: the same share of each is drawn, up to one
            group.
        """
        return self._two(splitting.by_groups(self._known(), which, seed, stratify))

    def split_individuals(
        self: Some, which: float | Sequence[Any], seed: int = 0, stratify: str | None = None
    ) -> tuple[Some, Some]:
        """Whole animals, each with all that it did, and the others.

        Parameters
        ----------
        which
            A share of all animals, drawn at random, or names: of animals in every group that has
            them, or (group, name).
        seed
            For the draw.
        stratify
            A covariate of the tracks, such as ``"sex"``: the same share of each is drawn, up to one
            animal.
        """
        return self._two(splitting.by_individuals(self._known(), which, seed, stratify))

    def blocks(self: Some, count: int | None = None) -> list[Some]:
        """Parts that are nearly independent, for standard errors; together they are the whole.

        All animals of a group at the same time are in one block. Ten groups or more are a block
        each; the frames of fewer are cut into equal runs of five lags or more.

        Parameters
        ----------
        count
            About how many blocks are wanted of fewer than ten groups, 20 by default; each group
            is cut in two at least.
        """
        return [self.take(rows) for rows in self.block_rows(count)]

    def block_rows(self, count: int | None = None) -> list[Int[np.ndarray, " rows"]]:
        """The rows of each block."""
        number = splitting.block_of(self._known(), self.lag, count)
        order = np.argsort(number, kind="stable")
        edges = np.flatnonzero(np.diff(number[order])) + 1
        return [rows for rows in np.split(order, edges) if rows.size]

    def folds(
        self: Some,
        k: int | None,
        by: Literal["time", "group", "individual"] = "time",
        seed: int = 0,
        stratify: str | None = None,
    ) -> list[tuple[Some, Some]]:
        """What to learn from and what is held out, k times; everything is held out once.

        Parameters
        ----------
        k
            How many folds. None leaves out one group, or one individual, at a time.
        by
            ``"time"``: runs of frames in each group, one after the other; transitions into, out of
            or across the run that is held out are not trained on. ``"group"`` and
            ``"individual"``: whole ones, dealt at random.
        seed
            For the dealing.
        stratify
            A covariate of the tracks, such as ``"sex"``: every fold of groups or individuals has
            its share of each.
        """
        masks = splitting.folds_of(self._known(), self.lag, k, by, seed, stratify)
        return [self._two(pair) for pair in masks]

    def _two(self: Some, masks: tuple[splitting.Mask, splitting.Mask]) -> tuple[Some, Some]:
        return self.take(masks[0]), self.take(masks[1])
