"""What would undo the hiding of codes is refused: words beside them, and the codes themselves in another table."""

import csv
import random

import pytest

import medveil
from medveil.errors import PolicyError


def rows(path):
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))


def put(policy, table, records, folder, **attributes):
    with (folder / f"{table}.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, records[0])
        writer.writeheader()
        writer.writerows(records)
    policy["tables"][table]["data"] = str(folder / f"{table}.csv")
    policy["tables"][table]["attributes"].update(attributes)


def test_words_that_stand_for_two_codes_now_and_then_still_tell_the_others(policy, folder, tmp_path):
    records = [{**row, "WORDS": f"disease {row['CODE']}"} for row in rows(folder / "conditions.csv")]
    records[0]["WORDS"] = next(row["WORDS"] for row in records if row["CODE"] != records[0]["CODE"])
    put(policy, "conditions", records, tmp_path, WORDS={"role": "plain"})
    with pytest.raises(PolicyError, match=r"'conditions\.WORDS' gives away the value of 'conditions\.CODE'"):
        medveil.anonymize(policy)


def test_columns_that_have_nothing_to_do_with_codes_are_published(policy, folder, tmp_path):
    draw = random.Random(2)
    records = [
        {**row, "BED": draw.randrange(200), "SEVERITY": draw.choice("ABC")} for row in rows(folder / "conditions.csv")
    ]
    put(policy, "conditions", records, tmp_path, BED={"role": "plain"}, SEVERITY={"role": "plain"})
    assert medveil.anonymize(policy).manifest.rows["published"]


@pytest.fixture
def reasons(policy, folder, tmp_path):
    """Visits with the diagnosis that somebody came for."""
    codes = {row["ENCOUNTER"]: row["CODE"] for row in rows(folder / "conditions.csv")}
    records = [{**row, "REASON": codes.get(row["Id"], "")} for row in rows(folder / "encounters.csv")]
    put(policy, "encounters", records, tmp_path, REASON={"role": "plain"})
    return policy


def test_a_hidden_code_that_stands_in_another_table_is_refused(reasons):
    with pytest.raises(PolicyError, match=r"'encounters\.REASON' repeats values of 'conditions\.CODE'"):
        medveil.anonymize(reasons)


@pytest.mark.parametrize("way", ["identifier", "set", "insist"])
def test_what_the_refusal_advises_gives_a_release(reasons, way):
    column = dict(reasons["tables"]["conditions"]["attributes"]["CODE"])
    given = {"identifier": {"role": "identifier"}, "set": column, "insist": {"role": "plain", "insist": True}}[way]
    reasons["tables"]["encounters"]["attributes"]["REASON"] = given
    if way == "set":
        reasons["privacy"].append({**reasons["privacy"][1], "attribute": "encounters.REASON"})
    assert medveil.anonymize(reasons).manifest.rows["published"]
