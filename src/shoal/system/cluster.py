"""Many independent jobs: in this process, on worker processes, or on a Dask cluster anywhere."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Protocol, TypeVar

from shoal.errors import InputError
from shoal.inputs import GIVEN
from shoal.system.progress import Report

Item = TypeVar("Item")
Result = TypeVar("Result")

RETRIES = 3
"""How often a job is tried again after its worker was lost or it failed."""

PATIENCE = 10.0
"""Seconds to wait for the answer of a scheduler."""


class DaskClient(Protocol):
    """What hands jobs to a Dask scheduler: a client."""

    def submit(self, *args: Any, **kwargs: Any) -> Any:
        """A job for one of the workers."""
        ...


class DaskCluster(Protocol):
    """A Dask cluster: workers behind one address."""

    @property
    def scheduler_address(self) -> str:
        """Where its scheduler answers."""
        ...


Cluster = Annotated[int | str | DaskClient | DaskCluster, GIVEN]
"""A number of worker processes, the address of a scheduler, a Dask client or a Dask cluster."""


@contextmanager
def client_of(cluster: Any) -> Iterator[Any]:
    """A Dask client, or None for this process.

    Parameters
    ----------
    cluster
        None; a number of worker processes to start here, which stop at the end; the address of a
        scheduler such as ``"tcp://10.0.0.5:8786"``; or a Dask client or cluster, left running.
    """
    if cluster is None:
        yield None
        return
    from distributed import Client, LocalCluster  # noqa: PLC0415  (only where there are workers)

    if isinstance(cluster, Client):
        yield cluster
    elif isinstance(cluster, str) and not cluster.isdecimal():
        try:
            client = Client(cluster, timeout=PATIENCE)
        except (OSError, ValueError) as error:
            raise InputError(
                f"no Dask scheduler answers at {cluster!r} ({error}): start one with "
                "`dask scheduler`, or give a number of workers"
            ) from error
        with client:
            yield client
    elif isinstance(cluster, int | str):
        workers = int(cluster)
        if workers < 1:
            raise InputError(f"a cluster has 1 worker or more, got {workers}")
        with (
            LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                processes=True,
                host="127.0.0.1",
                dashboard_address="127.0.0.1:0",  # any port: two may run at a time
                silence_logs=50,
            ) as local,
            Client(local) as client,
        ):
            yield client
    elif hasattr(cluster, "scheduler_address"):
        with Client(cluster) as client:
            yield client
    else:
        raise InputError(
            "a cluster is a number of workers, the address of a Dask scheduler or a Dask client; "
            f"got {cluster!r:.60}"
        )


def run_jobs(
    job: Callable[[Item], Result],
    items: Iterable[Item],
    cluster: Any,
    report: Report,
    stage: str,
) -> Iterator[Result]:
    """The result of every job, as they end: their order is not that of the items.

    A job whose worker is lost runs again elsewhere.
    """
    jobs = list(items)
    with client_of(cluster) as client:
        if client is None:
            for done, item in enumerate(jobs):
                report(stage, done, len(jobs))
                yield job(item)
        else:
            yield from _on_workers(job, jobs, client, report, stage)
    report(stage, len(jobs), len(jobs))


def _on_workers(
    job: Callable[[Item], Result], jobs: list[Item], client: Any, report: Report, stage: str
) -> Iterator[Result]:
    from distributed import as_completed  # noqa: PLC0415

    futures = client.map(job, jobs, pure=False, retries=RETRIES)
    try:
        for done, future in enumerate(as_completed(futures)):
            report(stage, done, len(jobs))
            yield future.result()
            future.release()
    finally:
        client.cancel(futures)
