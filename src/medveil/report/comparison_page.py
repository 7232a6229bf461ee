"""The page of a comparison: what each method reaches, what it costs, and what did not fit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from medveil.report.content import Page, PageTable, Picture, Section, Verdict
from medveil.report.pictures import Curve, Pictures
from medveil.report.words import figure, percent, plural, risk

MARK = "INTERNAL: this page compares releases with the original. Do not pass it on."
MEGABYTE = 2**20

Outcome = Mapping[str, Any]


def comparison_page(outcomes: Sequence[Outcome], *, private: bool, swept: str | None = None) -> Page:
    """`comparison.html`. `private`: under differential privacy, where groups of rows say nothing about people."""
    pictures = Pictures()
    done = [outcome for outcome in outcomes if outcome["reason"] is None]
    left = [outcome for outcome in outcomes if outcome["reason"] is not None]
    sections = []
    if done:
        sections.append(_balance(pictures, done, private=private, swept=swept))
        sections.append(Section("figures", "All figures", (), (), [summary(done), _claims(done)]))
        sections.append(_cost(pictures, done))
        sections.append(Section("measures", "Every measure", (), (), _measures(done)))
    if left:
        rows = [[_title(outcome), str(outcome["reason"])] for outcome in left]
        table = PageTable("What did not fit, or failed", ["method", "reason"], rows, numeric=False)
        sections.append(Section("left", "What did not fit", (), (), [table]))
    return Page(
        title="Methods compared",
        subtitle=f"{plural(len(done), 'run')} on the same data{f'; {len(left):,} left out' if left else ''}.",
        verdict=_verdict(done),
        sections=sections,
        mark=MARK,
        footer=("Made by medveil. The releases themselves were proved, measured and thrown away.",),
    )


def measured(outcome: Outcome, name: str) -> float | None:
    """A measure of a release; None where there is none."""
    value = outcome["measures"].get(name, {}).get("value")
    return None if value is None else float(value)


def highest_risk(outcome: Outcome) -> float | None:
    value = outcome["risks"].get("prosecutor", {}).get("value")
    return None if value is None else float(value)


def epsilon(outcome: Outcome) -> float | None:
    for claim in outcome["claims"]:
        if "epsilon" in claim["required"]:
            return float(claim["required"]["epsilon"])
    return None


def _verdict(done: Sequence[Outcome]) -> Verdict:
    if not done:
        return Verdict(good=False, sentence="No method made a release.")
    points = []
    for name, words in (("lm", "loses least detail of the quasi-identifiers"), ("query-error", "counts best")):
        found = [(value, outcome) for outcome in done if (value := _utility(outcome, name)) is not None]
        if found:
            value, best = min(found, key=lambda pair: pair[0])
            points.append(f"{_title(best)} {words} ({_NAMES[name]} {figure(value)}).")
    points.append("Which loss matters depends on what the data are for: look at all measures.")
    silent = [_title(outcome) for outcome in done if not outcome["claims"]]
    if silent:
        points.insert(0, f"{', '.join(silent)}: claims nothing, so nothing protects people in what it makes.")
    good = len(silent) < len(done)
    sentence = (
        "Every release that was made keeps what it claims." if good else "No release that was made claims anything."
    )
    return Verdict(good=good, sentence=sentence, points=points)


_NAMES = {"lm": "detail lost (LM)", "query-error": "median error of random counts"}
"""The measures that stand for utility: of detail, and of answers."""


def _utility(outcome: Outcome, name: str) -> float | None:
    """A measure, where it sees what the release lost: LM does not see how far means are from values. Of the errors of
    counts the median: a few counts of next to nobody rule their mean.
    """
    if name == "query-error":
        median = outcome["measures"].get(name, {}).get("parts", {}).get("median")
        return None if median is None else float(median)
    return None if name in {"lm", "ncp"} and outcome["forms"] else measured(outcome, name)


def _title(outcome: Outcome) -> str:
    setting = ", ".join(f"{key} = {value}" for key, value in outcome["setting"].items())
    return f"{outcome['name']} ({setting})" if setting else str(outcome["name"])


def gain(outcome: Outcome) -> float | None:
    """The most that any attack on people reached beyond its guesser; None where none was run."""
    found = [outcome["risks"].get(name, {}) for name in _ATTACKS]
    gained = [float(one["value"]) - float(one["guesser"]) for one in found if one.get("guesser") is not None]
    return max(*gained, 0.0) if gained else None


_ATTACKS = ("record-linkage", "attribute-inference", "homogeneity", "membership", "minimality", "downcoding")


def _balance(pictures: Pictures, done: Sequence[Outcome], *, private: bool, swept: str | None) -> Section:
    """Privacy against utility, once for each kind of utility, and all runs by what attacks reached."""
    privacy, up = (epsilon, "epsilon") if private else (_grouped_risk, "highest risk of being found")
    drawn = [_against(pictures, done, name, privacy, up, swept) for name in _NAMES]
    drawn.append(_against(pictures, done, "query-error", gain, "what attacks gain", swept))
    words = ["Left is more useful, low is safer: the best runs are at the lower left."]
    if any(outcome["forms"] for outcome in done):
        words.append(
            "Methods that publish means or ids instead of values are not in the first picture: LM does not see "
            "how far those are from the values."
        )
    if drawn[-1] is not None:
        words.append(
            "What attacks gain is the most that any attack, run on people of the original, reached beyond somebody who "
            "only guesses."
        )
    if not private and any(epsilon(outcome) is not None for outcome in done):
        where = "in the last picture" if drawn[-1] is not None else "in the table"
        words.append(f"Runs under differential privacy are {where} only: no group of rows tells their risk.")
    return Section("balance", "Privacy against utility", words, [picture for picture in drawn if picture is not None])


def _grouped_risk(outcome: Outcome) -> float | None:
    """The highest risk that group sizes leave, where rows are people."""
    return highest_risk(outcome) if epsilon(outcome) is None else None


def _against(
    pictures: Pictures,
    done: Sequence[Outcome],
    name: str,
    privacy: Callable[[Outcome], float | None],
    up: str,
    swept: str | None,
) -> Picture | None:
    names = list(dict.fromkeys(str(outcome["name"]) for outcome in done))
    curves: dict[str, list[tuple[float, float, str]]] = {}
    rows = []
    for outcome in done:
        loss, exposed = _utility(outcome, name), privacy(outcome)
        if loss is None or exposed is None:
            continue
        note = f"{swept} {figure(outcome['setting'][swept])}" if swept in outcome["setting"] else ""
        curves.setdefault(str(outcome["name"]), []).append((loss, exposed, note))
        rows.append([_title(outcome), figure(loss), risk(exposed) if privacy is _grouped_risk else figure(exposed)])
    if not curves:
        return None
    across = _NAMES[name]
    title = f"What attacks gain against {across}" if privacy is gain else f"Privacy against {across}"
    lines = [
        Curve(method, [(x, y) for x, y, _ in points], [note for _, _, note in points], names.index(method))
        for method, points in curves.items()
    ]
    table = PageTable(title, ["method", across, up], rows)
    return pictures.curves(title, f"Each mark is a run: {across} across, {up} up.", lines, across, up, table)


def protection(outcome: Outcome) -> str:
    """What protects people: epsilon under differential privacy, else the highest risk that group sizes leave."""
    if not outcome["claims"]:
        return "none claimed"
    spent, exposed = epsilon(outcome), highest_risk(outcome)
    if spent is not None:
        return f"epsilon {figure(spent)}"
    return "" if exposed is None else risk(exposed)


def summary(done: Sequence[Outcome]) -> PageTable:
    """One line a run: protection is the highest risk of being found, or epsilon; median error: of random counts."""
    headers = ["method", "protection", "LM", "NCP", "median error", "left out", "counterfeit", "s", "MB"]
    rows = []
    for outcome in done:
        counted = outcome["rows"]
        told = counted.get("input")
        rows.append(
            [
                _title(outcome),
                protection(outcome),
                *(_measure(outcome, name) for name in ("lm", "ncp", "query-error")),
                percent(counted["suppressed"] / told) if told else "",
                percent(counted.get("counterfeit", 0) / counted["published"]) if counted.get("published") else "",
                f"{outcome['seconds']:.2f}",
                f"{outcome['memory'] / MEGABYTE:,.0f}",
            ]
        )
    return PageTable("What each run reached and cost", headers, rows)


def _measure(outcome: Outcome, name: str) -> str:
    value = _utility(outcome, name)
    return "" if value is None else figure(value)


def _claims(done: Sequence[Outcome]) -> PageTable:
    rows = [
        [_title(outcome), str(claim["summary"]), figure(claim["required"]), figure(claim["achieved"] or {})]
        for outcome in done
        for claim in outcome["claims"]
    ]
    return PageTable("Claims, all proved again", ["method", "claim", "required", "reached"], rows, numeric=False)


def _cost(pictures: Pictures, done: Sequence[Outcome]) -> Section:
    names = [_title(outcome) for outcome in done]
    time = pictures.bars(
        "Time",
        "Seconds until the release was written and proved, in a process of its own; measuring is not counted.",
        names,
        {"seconds": [float(outcome["seconds"]) for outcome in done]},
        first="method",
        written=lambda value: f"{value:.2f} s",
    )
    program = max(float(outcome["program"]) for outcome in done) / MEGABYTE
    memory = pictures.bars(
        "Memory",
        f"The most that the process held until then; the program alone takes about {program:,.0f} MB.",
        names,
        {"megabytes": [float(outcome["memory"]) / MEGABYTE for outcome in done]},
        first="method",
        written=lambda value: f"{value:,.0f} MB",
    )
    return Section("cost", "Time and memory", (), [time, memory])


def _measures(done: Sequence[Outcome]) -> list[PageTable]:
    """All measures and risks, a line for each, a column for each run, a few runs a table."""
    tables = []
    for start in range(0, len(done), 6):
        part = done[start : start + 6]
        rows = []
        for kind in ("measures", "risks"):
            for name in dict.fromkeys(name for outcome in part for name in outcome[kind]):
                cells = [outcome[kind].get(name, {}).get("value") for outcome in part]
                if any(cell is not None for cell in cells):
                    rows.append([name, *("" if cell is None else figure(float(cell)) for cell in cells)])
        tables.append(PageTable("Measures and risks", ["measure", *(_title(outcome) for outcome in part)], rows))
    return tables
