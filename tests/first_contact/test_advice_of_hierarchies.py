"""Who follows the advice on a hierarchy gets a release."""

import pytest
from tests.first_contact.following import AGE, Case, column, jobs_of, tree, twice

MASK = {"type": "mask", "length": 2, "alphabet": "alphanumeric"}
GOOD_TREE = "nurse;care;*\ncook;house;*\n"
CASES = {
    "a hierarchy of another type": Case(
        "hierarchy/specification.py",
        "Declare '",
        column("age", role="quasi", type="category", hierarchy={"type": "intervals", "widths": [2]}),
        (column("age", **AGE), column("age", role="quasi", type="category", hierarchy=MASK)),
    ),
    "a hierarchy with lines of other lengths": Case(
        "hierarchy/file.py",
        "Give every line one cell for each level, or declare the 'delimiter:'.",
        tree("nurse;care;*\ncook;*\n"),
        (tree(GOOD_TREE), tree(GOOD_TREE.replace(";", "|"), delimiter="|")),
    ),
    "a hierarchy of one level": Case(
        "hierarchy/file.py", "Write 'leaf;level 1;...;*' on every line.", tree("nurse\ncook\n"), (tree(GOOD_TREE),)
    ),
    "a hierarchy with two roots": Case(
        "hierarchy/file.py",
        "End every line with the same label, such as '*'.",
        tree("nurse;care;*\ncook;house;all\n"),
        (tree(GOOD_TREE),),
    ),
    "a hierarchy with an empty cell": Case(
        "hierarchy/file.py", "Write a label into every cell.", tree("nurse;;*\ncook;house;*\n"), (tree(GOOD_TREE),)
    ),
    "an empty hierarchy": Case("hierarchy/file.py", "Write one line for each value.", tree(" \n"), (tree(GOOD_TREE),)),
    "a leaf with two parents": Case(
        "hierarchy/tabulated.py",
        "Give every leaf one line.",
        tree(GOOD_TREE + "cook;care;*\n"),
        (tree(GOOD_TREE),),
    ),
    "a group with two parents": Case(
        "hierarchy/tabulated.py",
        "Give every group exactly one parent.",
        tree("nurse;care;in;*\ncook;care;out;*\n"),
        (tree("nurse;care;in;*\ncook;care;in;*\n"),),
    ),
    "intervals that are too narrow": Case(
        "hierarchy/intervals.py",
        "Give a wider one, or a smaller domain.",
        column("age", role="quasi", type="number", hierarchy={"type": "intervals", "widths": [1e-18]}),
        (column("age", **AGE),),
    ),
    "a hierarchy in another encoding": Case(
        "hierarchy/file.py",
        "Save it as UTF-8.",
        twice(lambda f: (f / "j.csv").write_bytes(b"\xff\xfe;x;*"), jobs_of("j.csv")),
        (tree(GOOD_TREE),),
    ),
    "a hierarchy that is not there": Case(
        "hierarchy/file.py",
        "Paths in a policy are relative to the policy file.",
        jobs_of("none.csv"),
        (tree(GOOD_TREE),),
    ),
    "a hierarchy that is a folder": Case(
        "hierarchy/file.py", "Check the path.", twice(lambda f: (f / "j").mkdir(), jobs_of("j")), (tree(GOOD_TREE),)
    ),
    "a hierarchy with a quote that never ends": Case(
        "hierarchy/file.py", "Check its quotes.", tree('"nurse;' + "care;" * 30_000 + "*\n"), (tree(GOOD_TREE),)
    ),
}
"""Cases by what is wrong."""


@pytest.mark.parametrize("name", CASES)
def test_who_follows_the_advice_gets_on(name, tmp_path):
    CASES[name].check(tmp_path)
