"""Whether the published records are those of the source: claims may hold of records that nobody has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import duckdb
import numpy as np
import pyarrow as pa

from medveil.auditor.context import CannotTell, Refuted
from medveil.auditor.evidence import Evidence
from medveil.auditor.generalized import published_labels
from medveil.auditor.reading import quote_text
from medveil.auditor.tables import SAME_SOURCE, STAR
from medveil.errors import InputError
from medveil.sources.csv_dialect import explain
from medveil.table.arrow import text_array
from medveil.table.domain import encode

_DRAWN = "differential-privacy"
_NOBODYS = (
    "whether these are the rows that the method drew: a proof is about how rows are made, and shows in none of them"
)
_NOT_TOLD = "whether the records are those of the original: the manifest claims nothing about them"


@dataclass(frozen=True)
class Truth:
    """What is wrong with a release as an image of its source, and what of that could not be looked at.

    misread: the source, as it was read, cannot be the one that the release was made from, so that nothing which is
        counted in it says anything about a claim.
    """

    problems: tuple[str, ...] = ()
    unchecked: tuple[str, ...] = ()
    misread: bool = False


def compare_with_source(evidence: Evidence) -> Truth:
    """Whether every published row, but for counterfeits, is a record of the source, each taken once.

    Rows are compared as combinations of all columns of which the source tells what must be published: sensitive and
    plain values as they are, and quasi-identifiers that were generalized to one level. Records that are drawn, under
    differential privacy, are nobody's and are not compared.
    """
    manifest = evidence.manifest
    if "input" not in manifest.rows and all(claim["model"] == _DRAWN for claim in manifest.claims):
        return Truth(unchecked=(_NOBODYS if manifest.claims else _NOT_TOLD,))
    if evidence.source is None:
        return Truth(unchecked=("whether the records are those of the original, which needs --source",))
    unchecked: list[str] = []
    try:
        # Links, where they are there, say which record is which; they must give the release.
        evidence.need_linked()
        recoded: Sequence[str] = ()
    except CannotTell:
        recoded = [name for name in evidence.names() if evidence.recoded(name)]
    except Refuted as refuted:
        return Truth((str(refuted),))
    compared = [name for name in evidence.names() if not evidence.recoded(name)]
    many = [name for name in compared if _has_many_levels(evidence, name)]
    if many:
        unchecked.append(
            f"which values of the original are behind {_listed(many)}: they were not published at one level"
        )
    compared = [name for name in compared if name not in many]
    _count_source(evidence, compared)
    expressions = {}
    for name in compared:
        try:
            expressions[name] = _as_published(evidence, name)
        except CannotTell as reason:
            unchecked.append(f"whether '{name}' is published as the original has it: {reason}")
        except InputError as error:
            return Truth((f"the source does not fit the manifest: {error.problem}; {SAME_SOURCE}",), misread=True)
    unchecked += [f"whether '{name}' is published as the original has it: needs links" for name in recoded]
    strangers = _strangers(evidence, expressions)
    evidence.connection.execute("DROP TABLE told")
    if strangers <= manifest.rows.get("counterfeit", 0):
        return Truth(unchecked=tuple(unchecked))
    problem = (
        f"{strangers:,} published rows match no record of the source (compared in {_listed(list(expressions))}); "
        f"{SAME_SOURCE}"
    )
    return Truth((problem,), tuple(unchecked))


def misread_as(evidence: Evidence) -> str | None:
    """Why the source must have been read in another way than when the release was made, where missing values show it.

    A release publishes no more missing values than its source has, and no text that stands for a missing one.
    """
    source = evidence.source
    assert source is not None
    names = [name for name in evidence.names() if _shows_values(evidence, name) and name in source.names]
    if not names:
        return None
    texts = ", ".join(f"coalesce(sum(n) FILTER (f{i} IS NULL), 0)::BIGINT" for i in range(len(names)))
    words = ", ".join(quote_text(word) for word in sorted(source.missing))
    published = ", ".join(
        f"coalesce(sum(n) FILTER ({column} IS NULL), 0)::BIGINT, count(*) FILTER ({column} IN ({words}))"
        for column in map(evidence.column, names)
    )
    try:
        missing = evidence.one(f"SELECT {texts} FROM {evidence.door.originals(source, names)}")
    except duckdb.OutOfMemoryException:
        raise
    except duckdb.Error:
        return None
    shown = evidence.one(f"SELECT {published} FROM ({evidence.published_rows(names)})")
    spare = evidence.manifest.rows.get("counterfeit", 0)
    for name, held, without, marked in zip(names, missing, shown[::2], shown[1::2], strict=True):
        if without > held + spare or marked:
            return (
                f"the source was not read with the --missing that the release was made with: '{name}' has {held:,} "
                f"missing values in it and {without:,} in the release"
            )
    return None


def _shows_values(evidence: Evidence, name: str) -> bool:
    described = evidence.described(name)
    return not evidence.recoded(name) and (described["role"] != "quasi" or described.get("level") == 0)


def _has_many_levels(evidence: Evidence, name: str) -> bool:
    described = evidence.described(name)
    return described["role"] == "quasi" and described.get("level") is None


def _count_source(evidence: Evidence, names: Sequence[str]) -> None:
    """The table `told`: the distinct combinations of the source's texts, and how many records have each, `n`."""
    source = evidence.source
    assert source is not None
    texts = "".join(f"f{i} AS {evidence.column(name)}, " for i, name in enumerate(names))
    try:
        evidence.connection.execute(
            f"CREATE OR REPLACE TABLE told AS SELECT {texts}sum(n)::BIGINT AS n "
            f"FROM {evidence.door.originals(source, names)} GROUP BY ALL"
        )
    except duckdb.OutOfMemoryException:
        raise
    except duckdb.Error as error:
        raise InputError("The source cannot be read.", explain(str(error))) from None


def _as_published(evidence: Evidence, name: str) -> tuple[str, str]:
    """How a column of `told` is published, as an SQL expression, and the table to join for that, if any."""
    column = evidence.column(name)
    described = evidence.described(name)
    if described["role"] in {"plain", "key", "date"}:
        return f"told.{column}", ""
    rows = evidence.connection.execute(f"SELECT {column}, sum(n)::BIGINT FROM told GROUP BY {column}").fetchall()
    texts = [text for text, _ in rows]
    labels = labels_of(evidence, name, rows)
    if labels == texts:
        return f"told.{column}", ""
    table = f"told_{column}"
    evidence.keep(table, pa.table({"text": text_array(texts), "label": text_array(labels)}))
    return f"{table}.label", f"JOIN {table} ON told.{column} IS NOT DISTINCT FROM {table}.text"


def labels_of(evidence: Evidence, name: str, rows: Sequence[tuple[str | None, int]]) -> list[str | None]:
    """What the texts of a column, each with its number of records, must be published as."""
    described = evidence.described(name)
    texts = [text for text, _ in rows]
    domain, codes = encode(texts, evidence.kinds[name], name, evidence.formats.get(name))
    values = domain.values
    if described["role"] == "quasi":
        if described.get("hierarchy") is None:
            raise CannotTell("the manifest does not describe its hierarchy")
        if any("population" in claim["parameters"] for claim in evidence.manifest.claims):
            raise CannotTell("its hierarchy was built over a population too")
        counts = np.bincount(codes, [n for _, n in rows], minlength=len(domain)).astype(np.int64)
        values = published_labels(evidence, name, domain, counts)
    return [values[code] for code in codes]


def _strangers(evidence: Evidence, expressions: dict[str, tuple[str, str]]) -> int:
    """How many published rows are left when each record of the source has been taken once."""
    columns = evidence.columns(list(expressions))
    published = "".join(f"{evidence.column(name)}, " for name in expressions)
    selected = "".join(f"{expression} AS {evidence.column(name)}, " for name, (expression, _) in expressions.items())
    joins = " ".join(join for _, join in expressions.values())
    stars = "".join(f"'{STAR}', " for _ in expressions)
    balance = (
        f"SELECT {published}n AS d FROM ({evidence.published_rows(list(expressions))}) "
        f"UNION ALL SELECT {stars}-{evidence.hidden} "
        f"UNION ALL SELECT {selected}-n FROM told {joins}"
    )
    (strangers,) = evidence.one(
        f"SELECT coalesce(sum(greatest(d, 0)), 0)::BIGINT FROM (SELECT {columns}, sum(d) AS d FROM ({balance}) "
        "GROUP BY ALL)"
    )
    return int(strangers)


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(f"'{name}'" for name in names[:8])
    return f"{shown} and {len(names) - 8} more" if len(names) > 8 else shown or "no column"
