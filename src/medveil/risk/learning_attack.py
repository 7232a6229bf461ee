"""Groups of classes, attacked by somebody who learns from the release itself what people of a kind tend to have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import ClassVar

import pyarrow as pa
import pyarrow.parquet

from medveil.auditor.learning import SURE, LearnedGuess, learned_from_files
from medveil.release.catalog import CLASS_ID
from medveil.release.manifest import read_manifest
from medveil.risk.risk import EXACT, Comparison, Risk, RiskFinding, Skipped, counted_rate

CLAIM = "counterfeit-catalog"


class LearningAttack(Risk):
    """How often an attacker is right about the people of groups of several classes.

    By the claim a person of a group has a value with probability R_v/|R|. The attacker learns from the classes that are
    groups by themselves which labels go with which values (naive Bayes), weighs all ways to give the values of a group
    to its people, and names for each person the likeliest. The guesser names the value that most of the group have.
    `sure`: people of whom he is surer than 0.9; `right where sure`, `claimed where sure`: how often he is right about
    them, and by the claim. Groups of near people, and columns that groups never mix, leave him less to learn.
    """

    name: ClassVar[str] = "learning-attack"
    title: ClassVar[str] = "Attack: learning from the release"
    cheap: ClassVar[bool] = False

    def assess(self, comparison: Comparison) -> RiskFinding | Skipped:
        none = Skipped("there are no groups of classes")
        if comparison.folder is None or not (comparison.folder / "manifest.json").is_file():
            return none
        claims = [claim for claim in read_manifest(comparison.folder).claims if claim["model"] == CLAIM]
        if not claims or claims[0]["parameters"].get("protection") != "people":
            return none
        guesses = learned_from_files(comparison.folder)
        if not any(guesses.values()):
            return Skipped("every class is a group by itself")
        links = None if comparison.links is None else pyarrow.parquet.read_table(comparison.links)
        found = {name: _assess(guessed, _truth(links, name)) for name, guessed in guesses.items()}
        return max(found.values(), key=lambda finding: finding.value)


def _truth(links: pa.Table | None, name: str) -> Mapping[tuple[int, str | None], int] | None:
    """How many people of each class have each value, where the links tell."""
    if links is None or CLASS_ID not in links.column_names:
        return None
    kept = links.filter(links.column(0))
    return Counter(zip(kept[CLASS_ID].to_pylist(), kept[name].cast(pa.string()).to_pylist(), strict=True))


def _assess(guesses: Sequence[LearnedGuess], truth: Mapping[tuple[int, str | None], int] | None) -> RiskFinding:
    people = sum(guess.people for guess in guesses)
    sure = [guess for guess in guesses if guess.belief > SURE]
    number = sum(guess.people for guess in sure)
    claimed = sum(guess.people * guess.claimed for guess in guesses) / people
    parts = {
        "people": float(people),
        "sure": float(number),
        "claimed where sure": sum(guess.people * guess.claimed for guess in sure) / number if number else 0.0,
    }
    if truth is None:
        belief = sum(guess.people * guess.belief for guess in guesses) / people
        return RiskFinding(belief, claimed, parts=parts, note="Believed, not tried: who has what is not known here.")
    right = sum(truth.get((guess.class_id, guess.value), 0) for guess in guesses)
    if number:
        parts["right where sure"] = sum(truth.get((guess.class_id, guess.value), 0) for guess in sure) / number
    rate, low, high = counted_rate(right, people)
    return RiskFinding(rate, claimed, low, high, EXACT, people, parts)
