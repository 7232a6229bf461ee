"""Hierarchies whose leaves are all written down: trees, files, lists; and top and bottom codes."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from medveil.errors import InputError
from medveil.hierarchy import builders
from medveil.hierarchy.file import File
from medveil.hierarchy.flat import Flat
from medveil.hierarchy.taxonomy import Taxonomy
from medveil.hierarchy.top_bottom import TopBottom
from medveil.table.domain import domain_of
from medveil.table.schema import Kind
from medveil.workspace import Workspace

TREE = {"Respiratory": ["flu", "cold"], "Heart": {"Rhythm": ["flutter", "pause"], "Valve": ["leak"]}}


def test_every_builder_is_found_by_its_word():
    found = builders()
    assert list(found) == sorted(found)
    assert set(found) >= {"dates", "file", "flat", "intervals", "mask", "taxonomy", "top-bottom", "icd-10-cm", "zip3"}
    assert all(spec.model_fields["type"].default == word for word, spec in found.items())


def test_a_tree_counts_its_levels_from_the_top(texts, bind, labels, covered):
    disease = bind(texts("cold", "flu", "leak", "pause"), type="taxonomy", tree=TREE)
    assert disease.size == 5
    assert labels(disease, 1) == ["cold", "flu", "Valve", "Rhythm"]
    assert labels(disease, 2) == ["Respiratory", "Respiratory", "Heart", "Heart"]
    assert covered(disease, 1) == [1, 1, 1, 2]
    assert covered(disease, 2) == [2, 2, 3, 3]
    assert labels(disease, 3) == ["*"] * 4


def test_one_outermost_group_is_the_root(texts, bind):
    disease = bind(texts("flu", None), type="taxonomy", tree={"Any": TREE})
    assert [level.labels for level in disease.levels[1:]] == [("flu", None), ("Respiratory", None), ("Any",)]


def test_a_tree_may_hold_numbers_dates_lone_leaves_and_mixed_lists(numbers, bind, labels):
    codes = bind(numbers(1, 2, 3, 4), type="taxonomy", tree={"low": [1, "02"], "high": [3, {"higher": [4.0]}]})
    assert labels(codes, 1) == ["1", "02", "3", "higher"]
    assert labels(codes, 2) == ["low", "low", "high", "high"]
    assert Taxonomy(tree={"a": None, "b": None}).leaves("column", Workspace()) == ["a", "b"]


def test_missing_and_other_may_join_a_group_of_the_tree(texts, bind, labels, covered):
    disease = bind(texts("flu", "new", None), type="taxonomy", tree=TREE, missing="Rhythm", other="Respiratory")
    assert labels(disease, 1) == ["flu", "Respiratory", "Rhythm"]
    assert labels(disease, 2) == ["Respiratory", "Respiratory", "Heart"]
    assert covered(disease, 1) == [1, 1, 3]
    assert covered(disease, 2) == [3, 3, 4]
    assert disease.size == 7


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ({}, "no leaves"),
        ({"secret": []}, "no leaves"),
        ({"a": ["secret", "x"], "b": ["secret"]}, "1 leaves more than once"),
        ({"a": {"secret": ["x"]}, "b": {"secret": ["y"]}}, "Two groups at level 1 of the tree share a label"),
        ({"a": {"secret": ["x"]}, "b": ["secret"]}, "Two groups at level 1 of the tree share a label"),
        ({"a": [True]}, "valid string"),
    ],
)
def test_trees_that_cannot_be_meant(tree, message):
    with pytest.raises(ValidationError, match=message) as caught:
        Taxonomy.model_validate({"tree": tree})
    assert all("secret" not in error["msg"] for error in caught.value.errors())


def write(folder: Path, text: str, encoding: str = "utf-8") -> Path:
    (folder / "h.csv").write_bytes(text.encode(encoding))
    return folder


@pytest.mark.parametrize("delimiter", [";", ",", "\t"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_files_in_the_common_form(delimiter, line_end, tmp_path, texts, bind, labels, covered):
    lines = [["Bachelors", "Higher", "*"], ['"10th"', "School", "*"], [" 9th ", "School", "*"], [""]]
    folder = write(tmp_path, line_end.join(delimiter.join(line) for line in lines), "utf-8-sig")
    education = bind(texts("10th", "9th", "Bachelors"), folder, type="file", path="h.csv")
    assert labels(education, 1) == ["School", "School", "Higher"]
    assert covered(education, 1) == [2, 2, 1]
    assert (education.height, education.size) == (2, 3)


def test_leaves_may_hold_the_other_delimiters(tmp_path, texts, bind, labels):
    folder = write(tmp_path, 'born, abroad;[0,4];*\n"a;b";[0,4];*\n')
    assert labels(bind(texts("born, abroad", "a;b"), folder, type="file", path="h.csv"), 1) == ["[0,4]"] * 2


def test_a_given_delimiter_is_used(tmp_path, texts, bind, labels):
    folder = write(tmp_path, "a|x|*\nb|x|*\n")
    assert labels(bind(texts("a", "b"), folder, type="file", path="h.csv", delimiter="|"), 1) == ["x", "x"]


def test_numbers_and_dates_are_compared_as_such(tmp_path, numbers, texts, bind, labels):
    folder = write(tmp_path, "05;low;*\n6.0;low;*\nunknown;none;*\n")
    ages = bind(numbers(5, 6), folder, type="file", path="h.csv")
    assert (labels(ages, 1), ages.size) == (["low", "low"], 3)
    with pytest.raises(InputError):
        bind(texts("5"), folder, type="file", path="h.csv")
    folder = write(tmp_path, "31.12.2020;old;*\n01.01.2021;new;*\n")
    assert labels(bind(texts("2021-01-01", kind=Kind.DATE), folder, type="file", path="h.csv"), 1) == ["new"]


def test_the_root_keeps_its_label_and_the_empty_leaf_is_the_missing_value(tmp_path, texts, bind, labels):
    folder = write(tmp_path, "a;x;all\nb;x;all\n;none;all\n")
    with_missing = bind(texts("a", None), folder, type="file", path="h.csv")
    assert (labels(with_missing, 1), labels(with_missing, 2), with_missing.size) == (["x", "none"], ["all"] * 2, 3)
    assert bind(texts("a"), folder, type="file", path="h.csv").size == 2


def test_a_repeated_line_counts_as_it_is_written(tmp_path, numbers, bind, covered):
    folder = write(tmp_path, "8;x;*\n9;x;*\n9;x;*\n")
    ages = bind(numbers(8, 9), folder, type="file", path="h.csv")
    assert (ages.size, covered(ages, 0), covered(ages, 1)) == (3, [1, 1], [3, 3])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("secret;x;*\nb;x\n", "Line 2 .* has another number of levels than line 1"),
        ("secret\nb\n", "have one cell only"),
        ("", "is empty"),
        ("\n \n", "is empty"),
        ("secret;x;*\nb;x;all\n", "Line 2 .* ends in another root than line 1"),
        ("secret;x;p;*\n\nb;x;q;*\n", r"a group of level 1 has different parents \(lines 1 and 3\)"),
        ("secret;x;*\nsecret;y;*\n", r"one leaf into different groups \(lines 1 and 2\)"),
        ("secret;;*\n", "Line 1 .* has a group without a label"),
    ],
)
def test_files_that_are_not_hierarchies(text, message, tmp_path, texts, bind):
    with pytest.raises(InputError, match=message) as caught:
        bind(texts("secret"), write(tmp_path, text), type="file", path="h.csv")
    assert "secret" not in str(caught.value)
    assert "'column'" in str(caught.value)
    assert caught.value.remedy


def test_numbers_that_differ_only_in_writing_must_agree(tmp_path, numbers, bind):
    with pytest.raises(InputError, match=r"one leaf into different groups \(lines 1 and 2\)"):
        bind(numbers(5), write(tmp_path, "05;x;*\n5;y;*\n"), type="file", path="h.csv")


def test_files_that_cannot_be_read(tmp_path, texts, bind):
    with pytest.raises(InputError, match=r"'h\.csv' of 'column' does not exist"):
        bind(texts("a"), tmp_path, type="file", path="h.csv")
    with pytest.raises(InputError, match="cannot be read"):
        bind(texts("a"), tmp_path, type="file", path=".")
    with pytest.raises(InputError, match="it is not a valid file name"):
        bind(texts("a"), tmp_path, type="file", path="a\0b.csv")
    with pytest.raises(InputError, match="is not UTF-8"):
        bind(texts("a"), write(tmp_path, "ä;*\n", "latin-1"), type="file", path="h.csv")
    with pytest.raises(InputError, match=r"Line 1 .* is malformed"):
        bind(texts("a"), write(tmp_path, "a" * 200_000 + ";*\n"), type="file", path="h.csv")


def test_leaves_of_files_are_in_their_order(tmp_path):
    assert File(path=Path("h.csv")).leaves("column", Workspace(write(tmp_path, "low;*\nhigh;*\n;*\n"))) == [
        "low",
        "high",
    ]
    assert File(path=Path("h.csv")).leaves("column", Workspace(write(tmp_path, "10;*\n9;*\n9;*\n"))) == ["9", "10"]


def test_the_hierarchies_of_the_benchmark_sets_load_as_they_are(data_folder, bind):
    files = [path for name in ("adult/arx", "fars", "ihis", "atus") for path in (data_folder / name).glob("*hier*.csv")]
    if not files:
        pytest.skip("the hierarchies of the benchmark sets are not here")
    for path in files:
        spec = File(path=path)
        leaves = spec.leaves("column", Workspace())
        assert leaves
        lines = [line.split(";") for line in path.read_text().splitlines() if line]
        hierarchy = spec.bind(domain_of(leaves, Kind.CATEGORY), "column", Workspace())
        assert hierarchy.height == len(lines[0]) - 1
        assert hierarchy.size == len(lines)
        for number, level in enumerate(hierarchy.levels):
            assert set(level.labels) == {line[number] for line in lines}
            assert number == 0 or level.covered.sum() == len(lines)


def test_without_a_hierarchy_a_value_goes_to_the_root(texts, bind):
    ward = bind(texts("a", "b", None), type="flat")
    assert [level.labels for level in ward.levels] == [("a", "b", None), ("*",)]
    assert ward.size == 3
    assert Flat().leaves("column", Workspace()) is None


def test_a_declared_domain_of_values(tmp_path, texts, numbers, bind):
    assert bind(texts("a"), type="flat", domain=["a", "b", "c"]).size == 3
    assert bind(numbers(1, 7), type="flat", domain={"range": [0, 9]}).size == 10
    assert bind(numbers(1, 7), type="flat", domain={"range": [0, 10**8 - 1]}).size == 10**8
    assert bind(numbers(1), type="flat", domain=[1, "02"]).size == 2
    folder = write(tmp_path, "b;what b means\na;what a means\n")
    assert bind(texts("a"), folder, type="flat", domain={"path": "h.csv"}).size == 2
    assert Flat.model_validate({"domain": {"path": "h.csv"}}).leaves("column", Workspace(folder)) == ["b", "a"]
    assert Flat.model_validate({"domain": {"range": [8, 10]}}).leaves("column", Workspace(folder)) == ["8", "9", "10"]
    assert Flat.model_validate({"domain": ["x", 2]}).leaves("column", Workspace(folder)) == ["x", "2"]


def test_values_outside_a_declared_domain(texts, numbers, bind):
    with pytest.raises(InputError, match="does not cover 1 of its 2") as caught:
        bind(texts("a", "secret"), type="flat", domain=["a"])
    assert "secret" not in str(caught.value)
    with pytest.raises(InputError, match="does not cover 2 of its 3"):
        bind(numbers(1, 1.5, 10**9), type="flat", domain={"range": [0, 10**8]})
    assert bind(texts("a", "b"), type="flat", domain=["a"], other="rest").size == 2
    with pytest.raises(ValidationError, match="ends before it begins"):
        Flat.model_validate({"domain": {"range": [9, 0]}})


def test_top_and_bottom_codes_alone(numbers, bind, labels, covered):
    ages = bind(numbers(-1, 3, 18, 50, 90, 120, None), type="top-bottom", domain=[0, 99], top=90, bottom=18)
    assert labels(ages, 1) == ["<18", "<18", "18", "50", "90+", "90+", None]
    assert covered(ages, 1) == [19, 19, 1, 1, 11, 11, 1]
    assert (ages.height, ages.size) == (2, 103)


def test_codes_of_numbers_that_are_not_whole_count_values(numbers, bind, labels, covered):
    doses = bind(numbers(0.5, 1.5, 2.25, 3), type="top-bottom", top=2.25)
    assert labels(doses, 1) == ["0.5", "1.5", "2.25+", "2.25+"]
    assert (covered(doses, 1), doses.size) == ([1, 1, 2, 2], 4)
    undeclared = bind(numbers(1, 5, 9), type="top-bottom", top=6)
    assert (covered(undeclared, 1), undeclared.size) == ([1, 1, 4], 9)


def test_codes_that_cannot_be_meant():
    with pytest.raises(ValidationError, match="a top code, a bottom code or both"):
        TopBottom()
    with pytest.raises(ValidationError, match="outside the domain"):
        TopBottom(domain=(0, 9), top=90)
    assert TopBottom(domain=(0, 2), top=1).leaves("column", Workspace()) == ["0", "1", "2"]
    assert TopBottom(domain=(0, 2), top=1.5).leaves("column", Workspace()) is None
    assert TopBottom(top=1).leaves("column", Workspace()) is None
