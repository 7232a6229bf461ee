"""Where cells are worked on: in memory, or where the records are."""

from __future__ import annotations

from collections.abc import Mapping

from medveil.cells import ALLOW_MORE, CellsElsewhere
from medveil.engine import Engine
from medveil.engine.classes import with_classes
from medveil.errors import PolicyError
from medveil.policy import Policy
from medveil.run import Run
from medveil.table.schema import Kind, Schema


def cells_elsewhere(
    policy: Policy,
    schema: Schema,
    engine: Engine,
    kinds: Mapping[str, Kind | None],
    formats: Mapping[str, str],
    run: Run,
) -> CellsElsewhere | None:
    """The cells as such that stay with the engine, where they are too many to travel and it can count classes itself;
    None where they travel. What would travel are cells, or where people are counted pairs of a cell and a person.
    """
    counting, most = with_classes(engine), run.limits.cells_at_most
    # There are never more of them than records, so that hardly ever somebody has to count.
    if counting is None or engine.rows <= most:
        return None
    subject = () if schema.subject is None else (schema.subject,)
    number = counting.tuples((*schema.quasi, *schema.sensitive, *subject))
    if number <= most:
        return None
    cells = CellsElsewhere(counting, schema, kinds, formats, number, most)
    if policy.evaluation.population is not None:
        what = "A population is compared with all distinct records in memory"
        raise PolicyError(f"{what}, and {cells.too_many}.", ALLOW_MORE)
    return cells
