"""Sections that the page for recipients and the steward's share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from medveil.hierarchy.hierarchy import ROOT
from medveil.privacy import model_of
from medveil.profiles import profiles
from medveil.profiles.profile import Profile
from medveil.release.claim import Basis
from medveil.release.manifest import Manifest
from medveil.report.content import PageTable, Picture, Section
from medveil.report.groups import Groups
from medveil.report.pictures import Pictures
from medveil.report.terms import parameters_in_words, reported
from medveil.report.words import percent, plural
from medveil.table.schema import Role

LEAST = 5
"""No group of fewer people is ever shown, however small k is."""


def least_group(manifest: Manifest) -> int:
    """The smallest group that a page may show: the largest class that is claimed, and never under five."""
    sizes = [claim["required"].get("k") for claim in manifest.claims]
    sizes += [model.least_class_size for claim in manifest.claims if (model := model_of(claim))]
    return max([LEAST, *(int(size) for size in sizes if isinstance(size, int | float))])


def private(manifest: Manifest) -> bool:
    """Whether the release is differentially private: its rows are no people."""
    return any(claim["basis"] == Basis.PROOF.value for claim in manifest.claims)


def unguarded(manifest: Manifest) -> bool:
    """Whether it was made as if it were, by a method that has no proof: its rows are no people either."""
    return not manifest.claims and "input" not in manifest.rows


def subtitle(manifest: Manifest) -> str:
    rows = manifest.rows
    parts = [f"{plural(rows['published'], 'record')} published by the method '{manifest.method['name']}'"]
    if "suppressed" in rows:
        parts.append(f"{rows['suppressed']:,} of {rows['input']:,} suppressed")
    if rows.get("counterfeit"):
        parts.append(f"{rows['counterfeit']:,} counterfeit")
    return "; ".join(parts) + "."


def titled(manifest: Manifest, usual: str) -> str:
    """What the release is called, or what a page without a name is."""
    return manifest.about.get("title", usual)


def about(manifest: Manifest) -> list[tuple[str, str]]:
    """What the steward says of the release."""
    names = {"purpose": "Purpose", "contact": "Contact", "date": "Made on"}
    return [(words, manifest.about[key]) for key, words in names.items() if manifest.about.get(key)]


_ROLES = {
    Role.QUASI.value: "quasi-identifier: others may know it",
    Role.SENSITIVE.value: "sensitive: others should not learn it",
    Role.PLAIN.value: "published as it is",
    Role.KEY.value: "key: a pseudonym",
    Role.DATE.value: "date: shifted",
}


def attribute_table(manifest: Manifest, published: pa.Table) -> PageTable:
    """The data dictionary: every published column, what it is and what is published of it."""
    told = [a for a in manifest.attributes if a["name"] in published.column_names]
    described = any(a.get("description") for a in told)
    rows = []
    for attribute in told:
        column = published[attribute["name"]]
        values = pc.unique(column)
        rows.append(
            [
                str(attribute["name"]),
                *([str(attribute.get("description", ""))] if described else []),
                _ROLES.get(attribute["role"], str(attribute["role"])),
                str(attribute["type"]),
                _published_as(attribute, values),
                f"{len(values) - (1 if column.null_count else 0):,}",
                f"{column.null_count:,}",
            ]
        )
    headers = ["column", *(["what it means"] if described else []), "role", "type", "published as", "values", "missing"]
    return PageTable("Data dictionary", headers, rows, numeric=False)


def _published_as(attribute: Mapping[str, Any], values: pa.Array) -> str:
    """What is published in the place of a column's values, in words."""
    if attribute.get("made"):
        return "made by the method"
    if attribute.get("form"):
        return str(attribute["form"])
    if values.cast(pa.string()).to_pylist() == [ROOT]:
        return "* alone: everything is hidden"
    level, hierarchy = attribute["level"], attribute["hierarchy"] or {}
    if attribute["role"] != Role.QUASI.value or level == 0:
        return "values"
    kind = hierarchy.get("type", "")
    if level is None:
        return "values, ranges or sets"
    return f"groups of level {level}" + (f" ({kind})" if kind else "")


def shares(pictures: Pictures, title: str, words: str, groups: Groups, first: str = "values") -> Picture:
    """Groups as bars of shares, before and after where both are known."""
    series: dict[str, Sequence[float]] = {}
    if groups.before is not None:
        series["before"] = (groups.before / max(groups.before.sum(), 1.0)).tolist()
    series["after" if series else "share"] = (groups.after / max(groups.after.sum(), 1.0)).tolist()
    return pictures.bars(title, words, groups.names, series, first=first, written=percent, drawn=_drawn(groups, series))


def _drawn(groups: Groups, series: Mapping[str, Sequence[float]]) -> int:
    """How many groups are drawn: all, unless the last one, of everything rare, would dwarf the others."""
    number = len(groups.names)
    if not groups.gathered or number < 2:
        return number
    rest = max(values[-1] for values in series.values())
    return number - 1 if rest > 1.5 * max(max(values[:-1]) for values in series.values()) else number


def method_section(manifest: Manifest, drawn: Sequence[Picture]) -> Section:
    method = manifest.method
    tables = [
        PageTable(
            f"Parameters of {method['name']}",
            ["parameter", "value", "what it is"],
            parameters_in_words(method),
            numeric=False,
        )
    ]
    if told := reported(method):
        tables.append(PageTable("What the method reports", ["what", "value"], told, numeric=False))
    words = [str(method["warning"])] if method.get("warning") else []
    return Section("method", f"The method: {method['name']}", words, drawn, tables)


def files_section(manifest: Manifest, extra: Mapping[str, Any] | None = None) -> Section:
    rows = [[name, digest] for name, digest in {**manifest.files, **(extra or {})}.items()]
    versions = [[name, str(value)] for name, value in manifest.versions.items()]
    return Section(
        "files",
        "Files and versions",
        (
            (
                "A file is what was published if its SHA-256 is the one listed here: 'medveil audit DIR' compares them "
                "and proves every claim again."
            ),
        ),
        tables=[
            PageTable("Published files", ["file", "SHA-256"], rows, numeric=False),
            PageTable("Made with", ["program", "version"], versions, numeric=False),
        ],
    )


def profile_sections(manifest: Manifest) -> list[Section]:
    """The checklist of each profile that the release was made under."""
    known = profiles()
    return [_checklist(known[claim["model"]](), claim) for claim in manifest.claims if claim["model"] in known]


def _checklist(profile: Profile, claim: Mapping[str, Any]) -> Section:
    words = (
        f"The release was made under the rules of {profile.title}.",
        "This list is no legal verdict: what a program can see was checked, and the rest is for people to attest.",
    )
    rows = [[point.sentence, point.rule, point.by.value] for point in profile.checklist(claim["parameters"])]
    headers = ["what must hold", "rule", "who vouches for it"]
    return Section(
        "profile", "Checklist", words, (), [PageTable(f"Checklist: {profile.name}", headers, rows, numeric=False)]
    )


def plain_columns(manifest: Manifest) -> list[str]:
    """The columns that are published as they are; those that a method makes are none of the source's."""
    return [str(a["name"]) for a in manifest.attributes if a["role"] == "plain" and not a.get("made")]
