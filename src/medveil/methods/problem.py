"""What a method is given: the cells, the hierarchies, and what must hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from medveil.cells import Cells, CellsElsewhere
from medveil.engine import Engine, Publication, with_rows
from medveil.engine.changed import Changed
from medveil.engine.classes import Asked
from medveil.engine.links import write_links
from medveil.hierarchy.hierarchy import Hierarchy
from medveil.hierarchy.specification import HierarchySpec
from medveil.privacy.count import count_classes
from medveil.privacy.model import PrivacyModel, Reference, Requirement
from medveil.release.claim import Basis
from medveil.release.draft import Draft, Promise, PublishedAttribute
from medveil.sources.source import Source
from medveil.table.arrow import number_array, text_array
from medveil.table.changes import ChangedColumn
from medveil.table.schema import Schema
from medveil.workspace import Workspace

GENERALIZE = "use the method 'optimal', which generalizes until it holds"


@dataclass(frozen=True)
class Problem:
    """One table and what is asked of it.

    raw: the engine's distinct tuples, parallel to the first of the cells; tuples of a population alone come after. None
        where the cells stay with the engine (`cells.elsewhere`).
    models: the privacy models as the policy gives them, each on one sensitive attribute where it has one.
    requirements: the same, with every shield that they must hold on.
    specifications: how the hierarchies were declared, with the `workspace` of their paths: all that may be read of a
        domain without looking at the data.
    described: the same for the manifest.
    preparation: what only the steward may know of how records came into the cells.
    changed: what the table was made of where keys became pseudonyms, dates were shifted or columns derived.
    """

    schema: Schema
    engine: Engine
    raw: pa.Table | None
    cells: Cells
    hierarchies: Mapping[str, Hierarchy]
    models: Sequence[PrivacyModel]
    requirements: Sequence[Requirement]
    reference: Reference
    weights: Mapping[str, float] = field(default_factory=dict)
    min_levels: Mapping[str, int] = field(default_factory=dict)
    max_levels: Mapping[str, int] = field(default_factory=dict)
    specifications: Mapping[str, HierarchySpec] = field(default_factory=dict)
    described: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    workspace: Workspace = field(default_factory=Workspace)
    stars: bool = False
    preparation: Mapping[str, Any] = field(default_factory=dict)
    changed: Changed | None = None
    further: tuple[Promise, ...] = ()
    """What is promised of any release beside the models, such as the checks of a profile."""

    @property
    def original(self) -> Source:
        """The source as it was read, for others who need it."""
        return self.engine.snapshot.source if self.changed is None else self.changed.original

    @property
    def k(self) -> int:
        """The largest class that a model asks for, 1 where none does."""
        return max((model.least_class_size or 1 for model in self.models), default=1)

    def weight(self, name: str) -> float:
        return self.weights.get(name, 1.0)

    def promises(self) -> list[Promise]:
        """What a release that keeps every requirement may claim."""
        return [self._promise(model) for model in self.models]

    def _promise(self, model: PrivacyModel) -> Promise:
        if model.basis == "proof":
            basis = Basis.PROOF
        else:
            hidden = self.schema.subject is not None and not self.schema.links_people
            basis = Basis.SOURCE if model.basis != "files" or hidden else Basis.FILES
        return Promise(
            model=model.name,
            summary=model.summary() + (f" on {', '.join(model.on)}" if model.on else ""),
            required=model.required,
            basis=basis,
            parameters=model.model_dump(mode="json", exclude={"on", "attribute"}),
            attribute=model.sensitive_attribute,
            on=model.on,
        )

    def beyond_everybody(self) -> str | None:
        """What to do where all records together do not keep some model, so that no grouping of all of them does; None
        where they keep every one.
        """
        everybody = count_classes(self.cells, np.zeros(len(self.cells), dtype=np.int64), 1)
        for model in self.models:
            if not model.holds(everybody, self.reference).all():
                reached = model.achieved(everybody, self.reference)
                told = ", ".join(f"{name} {figure:.4g}" for name, figure in reached.items())
                return f"All records together reach {told}: ask for no more than that, and {GENERALIZE}."
        return None

    def attributes(self, levels: Mapping[str, int] | None = None) -> list[PublishedAttribute]:
        """The published columns: quasi-identifiers, sensitive attributes, plain columns."""
        order = {name: position for position, name in enumerate(self.published)}
        return [
            PublishedAttribute(
                name=attribute.name,
                role=attribute.role,
                kind=self.cells.domains[attribute.name].kind
                if attribute.name in self.cells.domains
                else attribute.kind,
                hierarchy=self.described.get(attribute.name),
                level=(levels or {}).get(attribute.name),
                written=attribute.written,
                change=self._change(attribute.name),
            )
            for attribute in sorted(
                (a for a in self.schema if a.name in order), key=lambda attribute: order[attribute.name]
            )
        ]

    def _change(self, name: str) -> ChangedColumn | None:
        if self.changed is None:
            return None
        return next((c for c in self.changed.table.columns if c.name == name and c.change is not None), None)

    @property
    def published(self) -> tuple[str, ...]:
        return (*self.schema.quasi, *self.schema.sensitive, *self.schema.plain)

    def draft(
        self,
        labels: Sequence[pa.Array],
        kept: NDArray[np.bool_],
        method: Mapping[str, Any],
        *,
        levels: Mapping[str, int] | None = None,
        internal: Mapping[str, Any] | None = None,
    ) -> Draft:
        """The draft of a method that gives every cell one label per quasi-identifier, and leaves some cells out."""
        raw = self.tuples
        count = len(raw)
        everything = [label[:count] for label in (*labels, *self._sensitive_labels(slice(None)))]
        kept = kept[:count]
        published = self.engine.publish(raw, self.counted, everything, kept, self.schema.plain, stars=self.stars)
        return self._draft(
            published,
            int(self.cells.counts[:count][~kept].sum()),
            method,
            levels,
            internal,
            lambda path: self.engine.write_links(raw, self.counted, everything, kept, path),
        )

    def draft_levels(
        self,
        levels: tuple[int, ...],
        asked: Asked,
        method: Mapping[str, Any],
        *,
        cells: CellsElsewhere,
        internal: Mapping[str, Any] | None = None,
    ) -> Draft:
        """The draft of a method that gives every value of a column one label, where cells stay with the engine: the
        records of classes that do not keep what is `asked` are left out.
        """
        chosen = [self.hierarchies[name].levels[level] for name, level in zip(self.schema.quasi, levels, strict=True)]
        made = cells.coded.publish(
            [level.groups for level in chosen],
            asked,
            [*(level.labels for level in chosen), *(cells.domains[name].values for name in self.schema.sensitive)],
            self.schema.plain,
            stars=self.stars,
        )
        named = dict(zip(self.schema.quasi, levels, strict=True))
        return self._draft(made.published, made.suppressed, method, named, internal, made.write_links)

    def draft_rows(
        self,
        labels: Sequence[pa.Array],
        kept: NDArray[np.bool_],
        method: Mapping[str, Any],
        *,
        internal: Mapping[str, Any] | None = None,
    ) -> Draft:
        """The draft of a method that gives every *record* its labels, in the source's order (see `cell_of_row`)."""
        everything = [*labels, *self._sensitive_labels(self.cell_of_row)]
        published = with_rows(self.engine).publish_rows(
            self.counted, everything, kept, self.schema.plain, stars=self.stars
        )

        def links(path: Path) -> None:
            write_links(path, kept, pa.table(everything, names=list(self.counted)))

        return self._draft(published, int(np.count_nonzero(~kept)), method, None, internal, links)

    def _draft(
        self,
        published: Publication,
        suppressed: int,
        method: Mapping[str, Any],
        levels: Mapping[str, int] | None,
        internal: Mapping[str, Any] | None,
        links: Callable[[Path], None],
    ) -> Draft:
        return Draft(
            published=published,
            promises=self.promises(),
            attributes=self.attributes(levels),
            method=method,
            rows={"input": self.cells.records, "suppressed": suppressed},
            internal=internal or {},
            links=links if self.schema.subject else None,
        )

    @property
    def counted(self) -> tuple[str, ...]:
        """The columns of which cells are made."""
        return (*self.schema.quasi, *self.schema.sensitive)

    @cached_property
    def cell_of_row(self) -> NDArray[np.int64]:
        """The cell of each record, in the source's order."""
        return with_rows(self.engine).cell_of_row(self.tuples, self.counted)

    @property
    def tuples(self) -> pa.Table:
        """The engine's distinct tuples; refused in a sentence where they stay with it."""
        if self.cells.elsewhere is not None:
            raise self.cells.elsewhere.refusal
        assert self.raw is not None
        return self.raw

    def _sensitive_labels(self, cells: slice | NDArray[np.int64]) -> list[pa.Array]:
        return [
            label_array(self.cells.domains[name].values, self.cells.sensitive[name][cells])
            for name in self.schema.sensitive
        ]


def label_array(labels: Sequence[str | None], codes: NDArray[np.int32]) -> pa.Array:
    """Labels by code, as a dictionary-encoded text column; a label None is a missing value."""
    missing = np.array([label is None for label in labels], dtype=np.bool_)
    indices = number_array(codes.astype(np.int32, copy=False), missing=missing[codes] if missing.any() else None)
    return pa.DictionaryArray.from_arrays(indices, text_array([label or "" for label in labels]))
