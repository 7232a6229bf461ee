"""The written release, and the source where it is given, as tables of the auditor's own DuckDB."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from medveil.auditor.context import CannotTell, Refuted
from medveil.auditor.door import Door, Unreadable
from medveil.errors import InputError
from medveil.release.manifest import INTERNAL, LINKS, Manifest
from medveil.release.places import hierarchy_file, with_hierarchy_file
from medveil.sources.csv_dialect import explain
from medveil.sources.source import Source
from medveil.table.arrow import text_array
from medveil.table.dates import find_date_format, read_date
from medveil.table.domain import canonical, read_number
from medveil.table.labels import ANYTHING
from medveil.table.schema import Kind
from medveil.workspace import Workspace

STAR = ANYTHING
PERSON = "person"
SAME_SOURCE = "is it the original, read with the same --missing, --delimiter and --encoding?"


class Tables:
    """What was written and what it was made from. The attribute at position i of the manifest is column `c<i>`.

    counted: the quasi-identifiers, and the sensitive attributes that some claim is about.
    cells: the published rows of the counted columns with how many they are, `n`, without the rows of `*` that stand
        for suppressed records. The same may stand in several lines.
    origin: the source's records, `n` for each line of it: sensitive columns as they would be published. Where records
        are followed each is for itself, numbered by `line` from 0, with whose it is, `person`, plain columns and
        quasi-identifiers as they were (see `need_origin`).

    places: where the files are that the manifest names: the hierarchy of a column, the population.
    formed: the sensitive attributes whose texts are not all in their canonical form; `forms_<column>` says which is.
    consulted: what was looked at beside the release, so that a finding can say on what it rests.

    Sensitive numbers and dates stand in their canonical form, so that `5` and `5.0` are one value. A missing value is
    NULL and a value of its own.
    """

    def __init__(
        self,
        door: Door,
        folder: Path,
        manifest: Manifest,
        source: Source | None = None,
        base: Workspace | None = None,
        places: Mapping[str, Path] | None = None,
    ) -> None:
        self.door = door
        self.connection = door.connection
        self.folder = folder
        self.manifest = manifest
        self.source = source
        self.base = base or Workspace(folder)
        self.places = places or {}
        self.consulted: set[str] = set()
        self.formed: set[str] = set()
        self.kinds = {a["name"]: Kind(a["type"]) for a in manifest.attributes}
        self.formats = {a["name"]: a["format"] for a in manifest.attributes if a.get("format")}
        self._positions = {a["name"]: i for i, a in enumerate(manifest.attributes)}
        claimed = {claim.get("attribute") for claim in manifest.claims}
        self.counted = (*self.names("quasi"), *(name for name in self.names("sensitive") if name in claimed))
        self._count_cells()

    def names(self, *roles: str) -> tuple[str, ...]:
        """The published columns of these roles; all of them where none is given. Those that the method made itself,
        which the source does not have, are not among them.
        """
        return tuple(
            a["name"] for a in self.manifest.attributes if not a.get("made") and (not roles or a["role"] in roles)
        )

    def column(self, name: str) -> str:
        """The internal name of a published column."""
        return f"c{self._positions[name]}"

    def described(self, name: str) -> Mapping[str, Any]:
        """What the manifest says about a published column."""
        found: Mapping[str, Any] = self.manifest.attributes[self._positions[name]]
        if name not in self.places or hierarchy_file(found.get("hierarchy")) is None:
            return found
        return {**found, "hierarchy": with_hierarchy_file(found["hierarchy"], str(self.places[name]))}

    def recoded(self, name: str) -> bool:
        """Whether something else is published instead of a column's values, such as ids or means."""
        return self.described(name).get("form") is not None

    def original(self, name: str) -> str:
        """The internal name, beside the published column, of the source's own value."""
        return f"o{self._positions[name]}"

    @property
    def follows_records(self) -> bool:
        """Whether records are followed from the source to the release: for people, for recoded columns, or because a
        method says what became of them.
        """
        recoded = any(self.recoded(name) for name in self.names())
        return self.manifest.subject is not None or recoded or self.links.is_file()

    def columns(self, names: Sequence[str]) -> str:
        """A list of columns for SELECT; a constant where there are none, so that everything is one class."""
        return ", ".join(self.column(name) for name in names) or "0 AS everything"

    def shield(self, claim: Mapping[str, Any]) -> tuple[str, ...]:
        """The columns on which a claim is made."""
        quasi = self.names("quasi")
        shield = tuple(claim["on"]) if claim.get("on") is not None else quasi
        if not shield and quasi:
            raise Refuted("the claim is made on no column, and so says nothing")
        unknown = [name for name in shield if name not in quasi]
        if unknown:
            raise Refuted(f"the claim is made on '{unknown[0]}', which is not a published quasi-identifier")
        return shield

    def attribute(self, claim: Mapping[str, Any]) -> str:
        """The sensitive attribute that a claim is about."""
        name = claim.get("attribute")
        if name not in self.names("sensitive"):
            raise Refuted("the claim is about no published sensitive attribute")
        return str(name)

    def one(self, query: str) -> tuple[Any, ...]:
        (row,) = self.connection.execute(query).fetchall()
        return tuple(row)

    @property
    def links(self) -> Path:
        return self.folder / INTERNAL / LINKS

    # The release

    def _count_cells(self) -> None:
        selected = "".join(f"f{i} AS {self.column(name)}, " for i, name in enumerate(self.counted))
        starred = "starred" if self.names() else "false AS starred"
        try:
            self.connection.execute(
                f"CREATE TABLE cells AS SELECT {selected}{starred}, sum(n)::BIGINT AS n "
                f"FROM {self.door.published(self.counted, self.names())} GROUP BY ALL"
            )
        except (duckdb.InvalidInputException, duckdb.IOException, duckdb.ConversionException):
            raise Unreadable from None
        totals = self.one("SELECT sum(n), sum(n) FILTER (starred) FROM cells")
        self.rows, self.stars = (int(total or 0) for total in totals)
        # Rows of * beyond the suppressed ones are a class of their own: a release may generalize everything.
        hides = self.manifest.suppressed == "stars"
        self.hidden = min(self.stars, self.manifest.rows.get("suppressed", self.stars)) if hides else 0
        if self.hidden:
            self.connection.execute(f"UPDATE cells SET n = n - {self.hidden} WHERE starred")
            self.connection.execute("DELETE FROM cells WHERE n = 0")
        self.records = self.rows - self.hidden
        for name in self.names("sensitive"):
            if name in self.counted:
                self._make_canonical(name)

    def _make_canonical(self, name: str) -> None:
        if self.recoded(name):
            return
        column, table = self.column(name), f"forms_{self.column(name)}"
        texts = self.distinct("cells", column)
        changed = [
            (text, form) for text, form in zip(texts, _forms(texts, self.kinds[name]), strict=True) if text != form
        ]
        if changed:
            self.formed.add(name)
            self._keep_mapping(table, changed)
            self.connection.execute(
                f"UPDATE cells SET {column} = {table}.form FROM {table} WHERE cells.{column} = {table}.text"
            )

    def distinct(self, table: str, column: str) -> list[str | None]:
        """The distinct texts of a column, one None where any is missing."""
        return [text for (text,) in self.connection.execute(f"SELECT DISTINCT {column} FROM {table}").fetchall()]

    def _keep_mapping(self, table: str, pairs: Sequence[tuple[str | None, str | None]]) -> None:
        texts, forms = (text_array(side) for side in zip(*pairs, strict=True))
        self.keep(table, pa.table({"text": texts, "form": forms}))

    def keep(self, table: str, arrow: pa.Table) -> None:
        """An Arrow table as a table of the connection."""
        self.connection.register("arriving", arrow)
        try:
            self.connection.execute(f"CREATE OR REPLACE TABLE {table} AS SELECT * FROM arriving")
        finally:
            self.connection.unregister("arriving")

    def published_rows(self, names: Sequence[str]) -> str:
        """A query for these columns of every published row under their internal names, as they are written, rows of
        `*` included, and how many rows, `n`.
        """
        columns = "".join(f"f{i} AS {self.column(name)}, " for i, name in enumerate(names))
        return f"SELECT {columns}n FROM {self.door.published(names)}"

    # The source

    def need_origin(self) -> None:
        """Make `origin`, which needs the source."""
        if self.source is None:
            raise CannotTell("needs --source")
        self.consulted.add("source")
        self.origin_rows  # noqa: B018 - makes it

    @cached_property
    def origin_rows(self) -> int:
        """The number of the source's records; makes `origin`."""
        source = self.source
        assert source is not None
        subject = self.manifest.subject
        followed = self.follows_records
        names = self.names() if followed else self.names("sensitive")
        known = [*names, *([] if subject is None else [subject])]
        texts = [f"f{i} AS {self.column(name)}" for i, name in enumerate(names)]
        if subject is not None:
            texts.append(f"f{len(names)} AS {PERSON}")
        # Without a subject each record is somebody of their own.
        person = f"texts.{PERSON}" if subject is not None else f"texts.rowid AS {PERSON}"
        own = ["texts.rowid AS line", person, "1 AS n"] if followed else ["texts.n AS n"]
        # As many lines as records are kept only where somebody asks for each of them.
        counted = (
            f"FROM {self.door.lines(source, known)}"
            if followed
            else f", sum(n)::BIGINT AS n FROM {self.door.originals(source, known)} GROUP BY ALL"
        )
        try:
            self.connection.execute(
                f"CREATE OR REPLACE TABLE texts AS SELECT {', '.join(texts) or '0 AS nothing'} {counted}"
            )
        except duckdb.OutOfMemoryException:
            raise
        except duckdb.Error as error:
            raise InputError("The source cannot be read.", explain(str(error))) from None
        changed = [name for name in self.names("sensitive") if self._learn_source_forms(name)]
        forms = {name: _form_of(self.column(name)) for name in changed}
        columns = [f"{forms.get(name, f'texts.{self.column(name)}')} AS {self.column(name)}" for name in names]
        joins = " ".join(
            f"LEFT JOIN source_{column} ON source_{column}.text = texts.{column}"
            for column in map(self.column, changed)
        )
        self.connection.execute(
            f"CREATE OR REPLACE VIEW origin AS SELECT {', '.join([*columns, *own])} FROM texts {joins}"
        )
        return int(self.one("SELECT coalesce(sum(n), 0)::BIGINT FROM origin")[0])

    def _learn_source_forms(self, name: str) -> bool:
        """Whether any text of the source is published in another form; then makes a table of them."""
        kind = self.kinds[name]
        texts = self.distinct("texts", self.column(name))
        try:
            forms = canonical(texts, kind, name, self.formats.get(name))
        except InputError:
            raise Refuted(
                f"the source's column '{name}' does not hold {kind.value}s, as the manifest says; {SAME_SOURCE}"
            ) from None
        changed = [pair for pair in zip(texts, forms, strict=True) if pair[0] != pair[1]]
        if changed:
            self._keep_mapping(f"source_{self.column(name)}", changed)
        return bool(changed)


def _form_of(column: str) -> str:
    """What a text of the source is published as, where it is not itself; a year among days is published as missing."""
    return f"CASE WHEN source_{column}.text IS NULL THEN texts.{column} ELSE source_{column}.form END"


def _forms(texts: Sequence[str | None], kind: Kind) -> list[str | None]:
    """The canonical form of published texts; one that has none, which an honest release does not hold, stays."""
    if kind is Kind.NUMBER:
        return [text and (read_number(text) or text) for text in texts]
    date_format = find_date_format([text for text in texts if text is not None]) if kind is Kind.DATE else None
    if date_format is None:
        return list(texts)
    return [text and (read_date(text, date_format) or text) for text in texts]
