"""The steward's page: the release against the original. It stays in the house."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from medveil.advising.advice import Advice
from medveil.evaluation.comparison import MEANS, Comparison
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
from medveil.report.content import Page, PageTable, Picture, Section
from medveil.report.distributions import distribution, plain_distribution, too_many
from medveil.report.method_pictures import counterfeit_pictures, levels_picture, method_figures
from medveil.report.pictures import Pictures
from medveil.report.sizes import exposure, exposure_rows, size_groups
from medveil.report.words import figure, percent, plural
from medveil.risk import risks as known_risks
from medveil.risk.risk import Risk
from medveil.table.schema import Role
from medveil.utility import measures

MARK = "INTERNAL: this page compares the release with the original. Do not pass it on."


@dataclass(frozen=True)
class StewardFindings:
    """What a run found out, as it is written for the steward: measures, risks and leakage of a release (a figure, or
    the reason why there is none), and what its method tells of itself.
    """

    measures: Mapping[str, Mapping[str, Any]]
    risks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    leakage: Mapping[str, Any] | None = None
    internal: Mapping[str, Any] = field(default_factory=dict)


def steward_page(manifest: Manifest, comparison: Comparison, found: StewardFindings) -> Page:
    """`internal/report.html`: risk, distributions, utility and leakage before and after, and how it was made."""
    pictures = Pictures()
    least = max(least_group(manifest), comparison.problem.k)
    sections = [
        *_warnings(found.internal.get("run", {}).get("warnings", ())),
        *_advice(found.internal.get("advice")),
        _risk(pictures, manifest, comparison, least),
        *profile_sections(manifest),
        _columns(pictures, comparison, least),
        _utility(pictures, found.measures, means=MEANS in comparison.forms.values()),
        *_risks(found.risks, private=private(manifest) or unguarded(manifest)),
        *_leakage(pictures, found.leakage),
        method_section(manifest, _method(pictures, manifest, comparison, found.internal, least)),
        Section(
            "claims",
            "Claims and columns",
            (),
            (),
            [claims_table(manifest.claims), attribute_table(manifest, comparison.published)],
        ),
        files_section(manifest),
    ]
    return Page(
        title=titled(manifest, "What this release protects, and what it still tells"),
        subtitle=subtitle(manifest),
        about=about(manifest),
        verdict=verdict(manifest.claims, manifest.status, plain_columns(manifest)),
        sections=sections,
        mark=MARK,
        footer=(
            (
                f"Made by medveil. No group of fewer than {least:,} people is shown on this page, and no value that "
                "the release does not hold."
            ),
        ),
    )


def _warnings(told: Sequence[str]) -> list[Section]:
    """What was said while the release was made, which its verdict does not say."""
    return [Section("warnings", "Worth knowing", told)] if told else []


def _advice(told: Mapping[str, Any] | None) -> list[Section]:
    """What would help a release that is of little use."""
    if told is None:
        return []
    advice = Advice.from_dict(told)
    words = [*advice.reasons, *advice.remarks]
    tables = []
    if advice.suggestions:
        rows = [[s.words, s.gives(advice.now), s.in_policy] for s in advice.suggestions]
        headers = ["change", "what it would give", "in the policy"]
        tables.append(PageTable("What one change would give, each tried on these data", headers, rows, numeric=False))
    if advice.costs:
        costs = [[cost.what, percent(cost.now), percent(cost.without)] for cost in advice.costs]
        headers = ["column or model", "kept of the other columns", "without it"]
        tables.append(PageTable("What costs most", headers, costs))
    return [Section("advice", "What should I change?", words, (), tables)]


def _risk(pictures: Pictures, manifest: Manifest, comparison: Comparison, least: int) -> Section:
    before = comparison.problem.cells.class_sizes()
    threshold = comparison.settings.threshold
    subject = comparison.problem.schema.subject
    counted = "people" if comparison.problem.cells.counts_people else "records"
    words = [
        (
            "An attacker who knows all quasi-identifiers of a person looks for their record. The more people share the "
            "same ones, the less the attacker can be sure."
        ),
    ]
    if subject is None:
        words.append("No column says who a record belongs to, so every record is taken for a person of its own.")
    caption = "Risk of an attacker who knows all quasi-identifiers"
    if private(manifest) or unguarded(manifest):
        words.append(
            "The release is differentially private: its rows are not people, so only the original's risk can be read "
            "off groups. What protects people in the release is the guarantee above."
            if private(manifest)
            else "Some rows of the release are made up, so only the original's risk can be read off groups. It comes "
            "with no guarantee: records of the original are in it as they are."
        )
        rows = exposure_rows([exposure(before, threshold)], threshold, least)
        groups = size_groups(None, before, comparison.problem.k, least)
        picture = shares(
            pictures,
            "People of the original by the size of their group",
            "How many people share all quasi-identifiers in the original.",
            groups,
            "people in the group",
        )
        return Section("risk", "Risk", words, [picture], [PageTable(caption, ["figure", "before"], rows)])
    after = comparison.sizes
    if comparison.counted != counted:
        words.append(f"After publication {comparison.counted} are counted, before it {counted}.")
    rows = exposure_rows([exposure(before, threshold), exposure(after, threshold)], threshold, least)
    picture = shares(
        pictures,
        "People by the size of their group",
        "How many people share all quasi-identifiers, as a share of everybody.",
        size_groups(before, after, comparison.problem.k, least),
        "people in the group",
    )
    table = PageTable(caption, ["figure", "before", "after"], rows)
    return Section("risk", "Risk before and after", words, [picture], [table])


def _columns(pictures: Pictures, comparison: Comparison, least: int) -> Section:
    made, undrawn = [], []
    for name in (*comparison.coverage, *comparison.sensitive_coverage):
        role = "quasi-identifier" if name in comparison.coverage else "sensitive column"
        made.append(shares(pictures, name, f"{role}, share of records.", distribution(comparison, name, least)))
    for name in comparison.problem.schema.names(Role.PLAIN):
        if name in comparison.published.column_names:
            groups = plain_distribution(comparison, name, least)
            if groups is None:
                undrawn.append(name)
            else:
                made.append(shares(pictures, name, "plain column, published as it is.", groups))
    words = [
        (
            "How often each value is in the original and in the release. A published range or set counts evenly for "
            "all that it covers. Small groups are put together."
        ),
        *too_many(undrawn),
    ]
    return Section("columns", "Each column before and after", words, made)


def _utility(pictures: Pictures, scores: Mapping[str, Mapping[str, Any]], *, means: bool) -> Section:
    known = measures()
    rows = []
    for name, score in scores.items():
        measure = known.get(name)
        title = measure.title if measure else name
        better = "" if measure is None else "lower is better" if measure.lower_is_better else "higher is better"
        if "reason" in score:
            rows.append([title, "not measured", score["reason"], _first_sentence(measure)])
            continue
        value = figure(score["value"])
        if score.get("low") is not None and score.get("high") is not None:
            value += f" ({figure(score['low'])} to {figure(score['high'])})"
        rows.append([title, value, better, _first_sentence(measure)])
    drawn = [
        _parts(pictures, known[name].title, name, parts)
        for name in _READ
        if (parts := scores.get(name, {}).get("parts"))
    ]
    table = PageTable("Measures of utility", ["measure", "value", "how to read it", "what it is"], rows, numeric=False)
    words = ["Means are published: LM and NCP do not see how far those are from the values."] if means else []
    return Section("utility", "What the release is still good for", words, drawn, [table])


_READ = {
    "lm": "How much detail each column lost: 0 % is nothing, 100 % everything.",
    "marginal-distance": "How far the shares of each column's values moved: the largest error of any count.",
}


def _parts(pictures: Pictures, title: str, name: str, parts: Mapping[str, float]) -> Picture:
    return pictures.bars(
        f"{title} by column",
        _READ[name],
        list(parts),
        {"share": list(parts.values())},
        first="column",
        most=1.0,
    )


def _first_sentence(documented: object) -> str:
    text = inspect.cleandoc(getattr(documented, "__doc__", None) or "")
    return " ".join(text.split("\n\n")[0].split()).replace("`", "").replace("*", "")


def _risks(risks: Mapping[str, Mapping[str, Any]], *, private: bool) -> list[Section]:
    """What the risk measures say, and what attacks reached where they were run; what was not assessed is listed with
    the reason.
    """
    if not risks:
        return []
    classes = known_risks()
    counted: list[list[str]] = []
    attacks: list[list[str]] = []
    for name, found in risks.items():
        attack = name in classes and not classes[name].cheap
        (attacks if attack else counted).append(_risk_row(classes.get(name), name, found))
    headers = ["risk", "value", "a guesser", "note", "what it is"]
    words = ["A guesser is somebody who does not look at the release: the release adds what is above that."]
    tables = [PageTable("Risks", headers, counted, numeric=False)]
    if attacks:
        words.append("Attacks were run on people of the original; in brackets the 95 % interval of their success.")
        tables.append(PageTable("Attacks that were run", ["attack", *headers[1:]], attacks, numeric=False))
    else:
        words.append(
            "Attacks were not run: 'medveil measure' runs them, and 'evaluation: {attacks: true}' in the policy puts "
            "them on this page."
        )
    if private:
        words.append("Rows of this release are not people: figures that rest on groups of rows say little here.")
    return [Section("risks", "What an attacker reaches", words, (), tables)]


def _risk_row(risk: type[Risk] | None, name: str, found: Mapping[str, Any]) -> list[str]:
    title, what = (name if risk is None else risk.title).removeprefix("Attack: "), _first_sentence(risk)
    if "reason" in found:
        return [title, "not assessed", "", str(found["reason"]), what]
    value = percent(found["value"])
    if found.get("low") is not None and found.get("high") is not None:
        value += f" ({percent(found['low'])} to {percent(found['high'])})"
    guesser = "" if found.get("guesser") is None else percent(found["guesser"])
    note = str(found.get("note", ""))
    if found.get("trials"):
        note = f"{plural(found['trials'], 'trial')}. {note}".strip()
    return [title, value, guesser, note, what]


def _leakage(pictures: Pictures, leakage: Mapping[str, Any] | None) -> list[Section]:
    """How much each column tells about who somebody is."""
    if not leakage:
        return []
    entries = [
        (str(entry["attribute"]), entry["before"], entry["after"])
        for entry in leakage["attributes"]
        if entry["before"] is not None and entry["after"] is not None
    ]
    together = leakage["all_quasi_identifiers"]
    if together["before"] is not None and together["after"] is not None:
        entries.append(("all quasi-identifiers", together["before"], together["after"]))
    if not entries:
        return []
    picture = pictures.bars(
        "Leakage of each column",
        "Of all that there is to learn about who a record belongs to, the share that the column tells.",
        [name for name, _, _ in entries],
        {
            "before": [before["normalized"] for _, before, _ in entries],
            "after": [after["normalized"] for _, _, after in entries],
        },
        first="column",
        most=1.0,
    )
    rows = [
        [name, f"{before['loss']:.2f}", f"{after['loss']:.2f}", f"{before['values']:,}", f"{after['values']:,}"]
        for name, before, after in entries
    ]
    headers = ["column", "bits before", "bits after", "values before", "values after"]
    words = ("Leakage is the average number of yes-or-no answers about a person's identity that a column gives.",)
    return [Section("leakage", "Leakage", words, [picture], [PageTable("Leakage in bits", headers, rows)])]


def _method(
    pictures: Pictures, manifest: Manifest, comparison: Comparison, internal: Mapping[str, Any], least: int
) -> Sequence[Picture]:
    hierarchies = comparison.problem.hierarchies
    levels = {
        str(a["name"]): (int(a["level"]), hierarchies[a["name"]].height)
        for a in manifest.attributes
        if a["level"] is not None and a["name"] in hierarchies
    }
    return [
        *levels_picture(pictures, levels),
        *method_figures(pictures, manifest.method, internal, least),
        *counterfeit_pictures(pictures, manifest.rows, comparison.companions),
    ]
