"""How far a cluster is with what it was asked: the share of the tasks of its running stages that are done."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from medveil.clusters import Cluster

_BETWEEN = 0.5
"""Seconds between two looks."""
Told = Callable[[float], None]


def listen_by_connect(cluster: Cluster, told: Told) -> None:
    """A Connect server tells of its stages by itself, while an answer is waited for."""

    def handler(stages: Iterable[Any] | None, *_: Any, **__: Any) -> None:
        _tell([(stage.num_tasks, stage.num_completed_tasks) for stage in stages or ()], told)

    cluster.spark.registerProgressHandler(handler)


@contextmanager
def watched(cluster: Cluster, told: Told) -> Iterator[None]:
    """Within this, a classic session is asked for its stages every now and then."""
    over = threading.Event()
    tracker = cluster.spark.sparkContext.statusTracker()

    def watch() -> None:
        while not over.wait(_BETWEEN):
            # What ends in this very moment has no stages any more.
            with suppress(Exception):
                found = [tracker.getStageInfo(number) for number in tracker.getActiveStageIds()]
                _tell([(stage.numTasks, stage.numCompletedTasks) for stage in found if stage is not None], told)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()


def _tell(stages: list[tuple[int, int]], told: Told) -> None:
    tasks = sum(number for number, _ in stages)
    if tasks:
        told(sum(done for _, done in stages) / tasks)
