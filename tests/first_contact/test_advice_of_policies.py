"""Who follows the advice on a policy gets a release."""

import pandas as pd
import pytest
from tests.first_contact.following import AGE, DP, FRAME, MANY, POLICY, PRIVATE, Case, K, changed, column

import medveil
from medveil.app.budget import budget

TOP = {"type": "intervals", "widths": [2], "top": 90}
MAIL = FRAME.assign(mail=[f"someone{i}@ward.example" for i in range(48)])
GOOD = """\
attributes:
  age: {role: quasi, type: number}
privacy: [{model: k-anonymity, k: 2}]
output: {report: false}
"""


def written(text):
    """A run of a policy that stands in a file."""

    def run(folder):
        path = folder / "policy.yaml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return medveil.anonymize(FRAME, path)

    return run


def present_among(*names):
    """A run in which each model compares with a population of its own."""

    def run(folder):
        models = []
        for name in names:
            pd.concat([FRAME] * 3).to_csv(folder / name, index=False)
            models.append({"model": "delta-presence", "delta_max": 0.9, "population": str(folder / name)})
        return changed(privacy=models)(folder)

    return run


YEARS = {"role": "quasi", "type": "number", "domain": {"range": [0, 99]}}
CASES = {
    "a derived column under differential privacy": Case(
        "app/preparation.py",
        "Derive the column before, record by record, and name it in the policy.",
        column("born", PRIVATE, **YEARS, format="%d/%m/%Y", derive={"age_at": "2020-01-01", "name": "years"}),
        (column("years", PRIVATE, frame=FRAME.assign(years=40), **YEARS),),
    ),
    "two populations": Case(
        "app/preparation.py",
        "Name the same one in every model.",
        present_among("a.csv", "b.csv"),
        (present_among("a.csv", "a.csv"),),
    ),
    "a budget without a ledger": Case(
        "app/budget.py",
        "Name a ledger for them, or leave 'budget' out.",
        changed(PRIVATE, privacy=[{**DP, "budget": 9}]),
        (changed(PRIVATE, privacy=[{**DP, "budget": 9}], ledger="ledger"), changed(PRIVATE)),
    ),
    "one name twice": Case(
        "app/changing.py",
        "Choose another 'name' under 'derive'.",
        column("born", role="plain", format="%d/%m/%Y", derive={"age_at": "2020-01-01", "name": "age"}),
        (column("born", role="plain", format="%d/%m/%Y", derive={"age_at": "2020-01-01", "name": "years"}),),
    ),
    "no data": Case(
        "app/preparation.py",
        "Add 'data: FILE', or give a frame.",
        changed(frame=None),
        (changed(),),
    ),
    "privacy twice": Case(
        "app/preparation.py",
        "Name 'differential-privacy' once.",
        changed(PRIVATE, privacy=[DP, DP]),
        (changed(PRIVATE),),
    ),
    "records of nobody": Case(
        "app/preparation.py",
        "Give a column 'role: subject', or leave it out: every record is then a person of its own.",
        changed(PRIVATE, privacy=[{**DP, "max_records_per_subject": 2}]),
        (
            changed(PRIVATE, privacy=[{**DP, "max_records_per_subject": 2}], attributes={"who": {"role": "subject"}}),
            changed(PRIVATE),
        ),
    ),
    "a top code above the highest level": Case(
        "app/preparation.py",
        "Raise it, or take the code out of the hierarchy.",
        column("age", **{**AGE, "hierarchy": TOP, "max_level": 0}),
        (column("age", **{**AGE, "hierarchy": TOP, "max_level": 1}), column("age", **{**AGE, "max_level": 0})),
    ),
    "a level that is not there": Case(
        "app/preparation.py",
        "Choose a level from 0 to ",
        column("age", **AGE, min_level=9),
        (column("age", **AGE, min_level=1),),
    ),
    "a model on another column": Case(
        "app/preparation.py",
        "did_you_mean(name, schema.quasi)",
        changed(privacy=[{**K, "on": ["sexx"]}]),
        (changed(privacy=[{**K, "on": ["sex"]}]),),
    ),
    "too many quasi-identifiers": Case(
        "app/preparation.py",
        "Give columns that nobody outside can know the role sensitive or plain, take out those that nobody needs",
        changed({"attributes": {name: {"role": "quasi"} for name in MANY}, "privacy": [K]}, frame=MANY),
        (
            changed(
                {
                    "attributes": {
                        name: {"role": "quasi" if number < 8 else "sensitive"} for number, name in enumerate(MANY)
                    },
                    "privacy": [{"model": "lkc-privacy", "l": 2, "k": 2, "c": 1.0, "attribute": "c69"}],
                },
                frame=MANY,
            ),
        ),
    ),
    "a profile under differential privacy": Case(
        "app/profiling.py",
        "Leave 'profile' out, or take models that count.",
        changed(PRIVATE, profile="hipaa-safe-harbor"),
        (changed(PRIVATE), changed(profile="hipaa-safe-harbor", attributes={"age": {**AGE, "hierarchy": TOP}})),
    ),
    "an identifier that is plain": Case(
        "app/singling_out.py",
        "' the role identifier, or insist with 'insist: true'.",
        column("mail", frame=MAIL, role="plain"),
        (column("mail", frame=MAIL, role="identifier"), column("mail", frame=MAIL, role="plain", insist=True)),
    ),
    "a plain column that tells": Case(
        "app/singling_out.py",
        "' the role quasi (with a hierarchy), sensitive or identifier, or insist on what it tells with 'insist: ",
        column("dose", frame=FRAME.assign(dose=[*range(6), *[7] * 42]), role="plain"),
        tuple(
            column("dose", frame=FRAME.assign(dose=[*range(6), *[7] * 42]), **declared)
            for declared in (AGE, {"role": "sensitive"}, {"role": "identifier"}, {"role": "plain", "insist": 0.13})
        ),
    ),
    "no declared domain": Case(
        "declared_cells.py",
        "remedy",
        column("age", PRIVATE, role="quasi", type="number"),
        (
            changed(PRIVATE),
            column("age", PRIVATE, **{**AGE, "hierarchy": {"type": "intervals", "widths": [10], "domain": [0, 99]}}),
        ),
    ),
    "a method that does not fit": Case(
        "app/making.py",
        "_fitting(problem)",
        changed(PRIVATE, method="mondrian"),
        tuple(changed(PRIVATE, method=name) for name in ("dp-histogram", "ipa")),
    ),
    "no sensitive column": Case(
        "privacy/sensitive.py",
        "Give a column the role sensitive.",
        changed(attributes={"ill": None}, privacy=[{"model": "l-diversity", "variant": "distinct", "l": 2}]),
        (changed(privacy=[{"model": "l-diversity", "variant": "distinct", "l": 2}]),),
    ),
    "a model about another column": Case(
        "privacy/sensitive.py",
        "did_you_mean(self.attribute, sensitive)",
        changed(privacy=[{"model": "l-diversity", "variant": "distinct", "l": 2, "attribute": "il"}]),
        (changed(privacy=[{"model": "l-diversity", "variant": "distinct", "l": 2, "attribute": "ill"}]),),
    ),
    "a value that does not occur": Case(
        "privacy/sensitive.py",
        "Write it exactly as in the data.",
        changed(privacy=[{"model": "lkc-privacy", "l": 2, "k": 2, "c": 0.9, "values": ["A"], "attribute": "ill"}]),
        (changed(privacy=[{"model": "lkc-privacy", "l": 2, "k": 2, "c": 0.9, "values": ["a"], "attribute": "ill"}]),),
    ),
    "an order of words": Case(
        "privacy/t_closeness.py",
        "Use 'distance: equal' or 'hierarchical', or declare the type of '",
        changed(privacy=[{"model": "t-closeness", "t": 0.9, "distance": "ordered"}]),
        (changed(privacy=[{"model": "t-closeness", "t": 0.9, "distance": "equal"}]),),
    ),
    "a tree of words": Case(
        "privacy/t_closeness.py",
        " a hierarchy, or use 'distance: equal'.",
        changed(privacy=[{"model": "t-closeness", "t": 0.9, "distance": "hierarchical"}]),
        (
            changed(privacy=[{"model": "t-closeness", "t": 0.9, "distance": "equal"}]),
            changed(
                privacy=[{"model": "t-closeness", "t": 0.9, "distance": "hierarchical"}],
                attributes={
                    "ill": {
                        "role": "sensitive",
                        "hierarchy": {"type": "taxonomy", "tree": {"x": ["a", "b"], "y": ["c"]}},
                    }
                },
            ),
        ),
    ),
    "too many sets to check": Case(
        "privacy/lkc.py",
        "Lower 'l', or name fewer quasi-identifiers under 'on:' (at most ",
        changed(
            {"attributes": {name: {"role": "quasi"} for name in MANY}, "privacy": []},
            privacy=[{"model": "lkc-privacy", "l": 8, "k": 2, "c": 1.0}],
            frame=MANY.assign(ill=["a", "b"] * 20),
            attributes={"ill": {"role": "sensitive"}},
        ),
        tuple(
            changed(
                {"attributes": {name: {"role": "quasi"} for name in list(MANY)[:30]}, "privacy": []},
                privacy=[{"model": "lkc-privacy", "k": 2, "c": 1.0, **fewer}],
                frame=MANY.assign(ill=["a", "b"] * 20),
                attributes={"ill": {"role": "sensitive"}},
            )
            for fewer in ({"l": 1}, {"l": 8, "on": ["c0", "c1"]})
        ),
    ),
    "a budget of nothing": Case(
        "app/budget.py",
        "Name the ledger of the data.",
        lambda _: budget(PRIVATE),
        (lambda folder: budget(PRIVATE, ledger=folder / "ledger"),),
    ),
    "a budget without privacy": Case(
        "app/budget.py",
        "Name 'differential-privacy' in 'privacy:'.",
        lambda folder: budget(POLICY, ledger=folder / "ledger"),
        (lambda folder: budget(PRIVATE, ledger=folder / "ledger"),),
    ),
    "a value that stands for suppressed ones": Case(
        "declared_cells.py",
        "No record is read with such a value, and '",
        column("ill", PRIVATE, role="sensitive", domain=["a", "*"]),
        (column("ill", PRIVATE, role="sensitive", domain=["a", "b"]),),
    ),
    "no quasi-identifier": Case(
        "app/making.py",
        "_fitting(problem)",
        changed(attributes={"age": None, "sex": None}),
        (changed(),),
    ),
    "more distinct records than may travel": Case(
        "app/making.py",
        "_fitting(problem)",
        changed(method="mondrian", engine={"type": "duckdb", "cells_at_most": 2}),
        (
            changed(method="mondrian", engine={"type": "duckdb", "cells_at_most": 50}),
            changed(method="optimal", engine={"type": "duckdb", "cells_at_most": 2}),
        ),
    ),
    "more distinct records than may travel, and a model that no query decides": Case(
        "app/making.py",
        "_fitting(problem)",
        changed(privacy=[K, {"model": "t-closeness", "t": 0.9}], engine={"type": "duckdb", "cells_at_most": 2}),
        (
            changed(privacy=[K, {"model": "t-closeness", "t": 0.9}], engine={"type": "duckdb", "cells_at_most": 50}),
            changed(
                privacy=[K, {"model": "l-diversity", "variant": "distinct", "l": 1}],
                engine={"type": "duckdb", "cells_at_most": 2},
            ),
        ),
    ),
    "a policy that is not there": Case(
        "policy_file.py",
        "'medveil inspect DATA --policy-out' starts one.",
        lambda folder: medveil.anonymize(FRAME, folder / "none.yaml"),
        (written(medveil.inspect(FRAME[["age"]]).policy("age.csv")),),
    ),
    "a policy in another encoding": Case(
        "policy_file.py",
        "A policy is a text file in UTF-8.",
        written("# caf\u00e9\n".encode("latin-1") + GOOD.encode()),
        (written("# caf\u00e9\n" + GOOD),),
    ),
    "a list in place of a policy": Case(
        "policy_file.py", "It needs 'attributes:' and 'privacy:'.", written("- age\n- sex\n"), (written(GOOD),)
    ),
    "a policy that is too long": Case(
        "policy_file.py",
        "Keep long lists in files, and name those.",
        written(GOOD + "# " + "x" * (4 << 20)),
        (written(GOOD),),
    ),
    "a policy that is nested too deeply": Case(
        "policy_file.py",
        "A policy needs no more than a few levels.",
        written(GOOD + "release: " + "[" * 1200 + "]" * 1200 + "\n"),
        (written(GOOD),),
    ),
    "a policy that repeats itself": Case(
        "policy_file.py",
        "levels; aliases may repeat parts",
        written(
            "a: &a [1, 1]\n"
            + "".join(
                f"{y}: &{y} [*{x}, *{x}]\n" for x, y in zip("abcdefghijklmnopqrs", "bcdefghijklmnopqrst", strict=True)
            )
            + GOOD
        ),
        (written(GOOD),),
    ),
    "a key that is there twice": Case("policy_file.py", "remedy", written(GOOD + GOOD), (written(GOOD),)),
}
"""Cases by what is wrong."""


@pytest.mark.parametrize("name", CASES)
def test_who_follows_the_advice_gets_on(name, tmp_path):
    CASES[name].check(tmp_path)
