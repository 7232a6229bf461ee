"""A paper's tables and figures, computed anew."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from medveil.errors import CancelledError, InputError, MedveilError, did_you_mean
from medveil.reproduce import reproductions
from medveil.reproduce.reproduction import ReproducedSection, to_markdown
from medveil.run import Run

ALL = "all"


@dataclass(frozen=True)
class Reproduced:
    """What came out of one paper: its sections, or why there are none."""

    name: str
    paper: str
    sections: tuple[ReproducedSection, ...] = ()
    failed: MedveilError | None = None


def reproduce(
    paper: str, data: Path, *, out: Path | None = None, quick: bool = False, run: Run | None = None
) -> Iterator[Reproduced]:
    """One paper, or all of them one after the other, each as soon as it is done.

    data: the folder of public data sets. out: a folder for the results as Markdown pages. One paper whose data are
    not here does not keep the others from being told.
    """
    run = run or Run()
    known = reproductions()
    if paper != ALL and paper not in known:
        raise InputError(f"There is no reproduction of '{paper}'.", did_you_mean(paper, [*known, ALL]))
    for name in known if paper == ALL else [paper]:
        reproduction = known[name]()
        try:
            with run.stoppable():
                sections = tuple(reproduction.sections(data, run, quick=quick))
        except CancelledError:
            raise
        except MedveilError as error:
            if paper != ALL:
                raise
            yield Reproduced(name, reproduction.paper, failed=error)
            continue
        if out is not None:
            out.mkdir(parents=True, exist_ok=True)
            (out / f"{name}.md").write_text(to_markdown(reproduction, sections), encoding="utf-8")
        yield Reproduced(name, reproduction.paper, sections)
