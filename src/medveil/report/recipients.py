"""The page for recipients: only what the release and its manifest hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from medveil.codes.combine import combine
from medveil.evaluation.comparison import CODE_BOOK
from medveil.evaluation.coverage import encode_labels
from medveil.hierarchy.hierarchy import ROOT
from medveil.methods import methods
from medveil.privacy import model_of
from medveil.release.manifest import Manifest
from medveil.report.claims import claims_table, verdict
from medveil.report.common import (
    about,
    attribute_table,
    files_section,
    least_group,
    method_section,
    plain_columns,
    private,
    profile_sections,
    shares,
    subtitle,
    titled,
    unguarded,
)
from medveil.report.content import Page, PageTable, Section
from medveil.report.distributions import EVERYTHING, too_many
from medveil.report.groups import MOST_VALUES, Groups, shown
from medveil.report.method_pictures import counterfeit_pictures, method_figures
from medveil.report.pictures import Pictures
from medveil.report.sizes import exposure, exposure_rows, size_groups
from medveil.report.words import clean, plural
from medveil.table.arrow import numpy_of
from medveil.table.formulas import formula_cells
from medveil.table.labels import parse_label, set_label

THRESHOLD = 0.2
IDS = "ids"


def recipients_page(manifest: Manifest, published: pa.Table, companions: Mapping[str, pa.Table]) -> Page:
    """`report.html`: what is in the release, what it claims, how to read it; nothing is read from the original."""
    pictures = Pictures()
    least = least_group(manifest)
    sections = [
        Section("claims", "What is claimed", _explained(manifest), tables=[claims_table(manifest.claims)]),
        *profile_sections(manifest),
        _left_open(manifest),
        *_uncovered(manifest),
        *_sizes(pictures, manifest, published, least),
        _columns(pictures, manifest, published, companions, least),
        method_section(
            manifest,
            [
                *method_figures(pictures, manifest.method, {}, least),
                *counterfeit_pictures(pictures, manifest.rows, companions),
            ],
        ),
        *_formulas(published),
        files_section(manifest),
    ]
    return Page(
        title=titled(manifest, "About this release"),
        subtitle=subtitle(replace(manifest, rows=manifest.rows_for_recipients)),
        about=about(manifest),
        verdict=verdict(manifest.claims, manifest.status, plain_columns(manifest)),
        sections=sections,
        footer=("Made by medveil from the release and its manifest alone; it says nothing that they do not hold.",),
    )


def _uncovered(manifest: Manifest) -> list[Section]:
    """What pseudonyms link and no claim covers, with the share of people whom it alone singles out."""
    if not manifest.uncovered:
        return []
    words = [
        (
            "Pseudonyms link the records of a person. What all of them together tell is covered by no claim: each line "
            "says how many people are alone with what they have, counted in this release."
        )
    ]
    rows = [[str(left["what"]), f"{left['singled_out']:.1%}"] for left in manifest.uncovered]
    table = PageTable("What no claim covers", ["what is known of a person", "singles out"], rows, numeric=False)
    return [Section("uncovered", "What no claim covers", words, tables=[table])]


def _formulas(published: pa.Table) -> list[Section]:
    """What recipients are told of cells that a spreadsheet would run."""
    number = formula_cells(published)
    if not number:
        return []
    words = (
        f"{plural(number, 'cell')} of the release begin like formulas (with =, +, - or @). Do not open the file in a "
        "spreadsheet by a click, which would run them: import its columns as text."
    )
    return [Section("formulas", "Before you open it in a spreadsheet", [words])]


def _explained(manifest: Manifest) -> Sequence[str]:
    words = [
        (
            "Quasi-identifiers are what others may know of a person, such as age or place; sensitive columns are what "
            "they should not learn."
        )
    ]
    if private(manifest):
        words.append(f"Who is protected: {manifest.method['unit']}.")
    elif manifest.subject is not None:
        words.append("Claims count people, who may have several records each; the pictures on this page count records.")
    return words


def _left_open(manifest: Manifest) -> Section:
    """What the release does not protect from: what its models and its method leave open, and what no release closes."""
    models = [known for claim in manifest.claims if (known := model_of(claim)) is not None]
    method = methods().get(str(manifest.method["name"]))
    said = [*(model.leaves_open for model in models), *([] if method is None else [method.leaves_open])]
    if plain_columns(manifest):
        said.append(
            "Columns that are published as they are count as known to nobody: someone who knows them of a "
            "person may find the person by them."
        )
    said.append(
        "Other releases of the same people may tell more together with this one than each does alone. Do not join it "
        "with other data on persons to find out who somebody is."
    )
    return Section("open", "What it does not protect from", [words for words in dict.fromkeys(said) if words])


def _told(manifest: Manifest) -> list[tuple[str, Mapping[str, Any]]]:
    """The columns whose values are worth a picture; ids that a method made are not."""
    return [(str(a["name"]), a) for a in manifest.attributes if not a.get("made")]


def _described(attribute: Mapping[str, Any]) -> str:
    form = attribute.get("form")
    role = {"quasi": "quasi-identifier"}.get(attribute["role"], f"{attribute['role']} column")
    return role + (f", published as {form}" if form else "") + "."


def _columns(
    pictures: Pictures, manifest: Manifest, published: pa.Table, companions: Mapping[str, pa.Table], least: int
) -> Section:
    drawn, undrawn = [], []
    for name, attribute in _told(manifest):
        groups = _counted(published[name], _meanings(name, attribute, companions), least)
        if groups is None:
            undrawn.append(name)
        else:
            drawn.append(shares(pictures, name, _described(attribute), groups))
    words = ["How often each value is in the release. Rare values are put together.", *too_many(undrawn)]
    return Section("columns", "The columns", words, drawn, [attribute_table(manifest, published)])


def _meanings(name: str, attribute: Mapping[str, Any], companions: Mapping[str, pa.Table]) -> Mapping[str, str]:
    """What the ids of a column stand for, as the code book says."""
    book = companions.get(CODE_BOOK)
    if attribute.get("form") != IDS or book is None:
        return {}
    lines = zip(*(book[key].to_pylist() for key in ("attribute", "published", "stands_for")), strict=True)
    return {str(published): str(value) for of, published, value in lines if of == name}


def _meant(label: str | None, meanings: Mapping[str, str]) -> str | None:
    """A label with the values that its ids stand for."""
    if label is None or not meanings:
        return label
    cover = parse_label(label)
    members = [meanings.get(value, value) for value in cover.values]
    return set_label([*members, *([None] if cover.missing else [])])


def _counted(column: pa.ChunkedArray, meanings: Mapping[str, str], least: int) -> Groups | None:
    """How often each value is there; None where there are too many for a picture to say anything."""
    if len(pc.unique(column)) > MOST_VALUES:
        return None
    counted = column.value_counts()
    labels = [_meant(value, meanings) for value in counted.field("values").cast(pa.string()).to_pylist()]
    names = tuple(EVERYTHING if label == ROOT else clean(label) for label in labels)
    counts = numpy_of(counted.field("counts")).astype(np.float64)
    return shown(Groups(names, None, counts, counts), least)


def _sizes(pictures: Pictures, manifest: Manifest, published: pa.Table, least: int) -> list[Section]:
    """How many records look alike; under differential privacy rows are no people, so none are counted."""
    if private(manifest):
        words = (
            (
                "The rows of this release cannot be counted like people: chance decided which are there, and how many. "
                "Its protection is the guarantee above, not the number of rows that look alike."
            ),
        )
        return [Section("risk", "What an attacker can learn", words)]
    if unguarded(manifest):
        words = (
            (
                "Nothing is guaranteed. Some rows are made up, but records of the original are among them as they are, "
                "so that an attacker may find anybody in it, however many rows look alike."
            ),
        )
        return [Section("risk", "What an attacker can learn", words)]
    sizes = class_sizes(published, [str(a["name"]) for a in manifest.attributes if a["role"] == "quasi"])
    found = exposure(sizes, THRESHOLD)
    groups = size_groups(None, sizes, max(least_group(manifest), 2), least)
    picture = shares(
        pictures,
        "Records by the size of their group",
        "A group is all records with the same quasi-identifiers; the more, the better each is hidden.",
        groups,
        "records in the group",
    )
    of_records = {"People who": "Records that", "people who": "records that", "People": "Records"}
    rows = []
    for name, *cells in exposure_rows([found], THRESHOLD, least):
        for people, records in of_records.items():
            name = name.replace(people, records)  # noqa: PLW2901
        rows.append([name, *cells])
    table = PageTable("Risk of an attacker who knows all quasi-identifiers of a person", ["figure", "release"], rows)
    return [Section("risk", "How well records are hidden", (), [picture], [table])]


def class_sizes(published: pa.Table, quasi: Sequence[str]) -> NDArray[np.int64]:
    """How many records each group of equal quasi-identifiers has; rows of nothing but `*` are suppressed ones."""
    if not quasi:
        return np.array([published.num_rows], dtype=np.int64)
    columns = {name: encode_labels(published[name]) for name in published.column_names}
    suppressed = np.ones(published.num_rows, dtype=np.bool_)
    for labels, codes in columns.values():
        suppressed &= np.array([label == ROOT for label in labels], dtype=np.bool_)[codes]
    kept = [columns[name][1][~suppressed] for name in quasi]
    first, classes = combine(kept, [max(len(columns[name][0]), 1) for name in quasi])
    return np.bincount(classes, minlength=len(first)).astype(np.int64)
