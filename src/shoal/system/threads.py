"""Many small NumPy jobs side by side, one processor each."""

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from threadpoolctl import threadpool_limits

Item = TypeVar("Item")
Result = TypeVar("Result")


def side_by_side(job: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """The result of each job, in order; every job keeps to one processor.

    NumPy and SciPy bring a linear algebra library each, and each of these keeps its own threads
    spinning: on matrices of a few hundred rows that takes four to ten times longer than one thread.

    >>> side_by_side(lambda number: number**2, range(3))
    [0, 1, 4]
    """
    with threadpool_limits(1), ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(job, items))
