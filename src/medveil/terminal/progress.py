"""What is going on, on standard error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from medveil.run import Event, Listener, Stage


@contextmanager
def progress() -> Iterator[Listener]:
    """A line on standard error that says what is going on; nothing where that is not a terminal."""
    errors = Console(stderr=True, markup=False, emoji=False)
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=errors, transient=True, disable=not errors.is_terminal) as bar:
        task = bar.add_task("Starting", total=None)

        def tell(event: Event) -> None:
            if event.stage is Stage.WARN:
                errors.print(f"Warning: {event.detail}", style="yellow", soft_wrap=True)
                return
            total = None if event.share is None else 1.0
            bar.update(task, description=event.words, total=total, completed=event.share or 0.0)

        yield tell
