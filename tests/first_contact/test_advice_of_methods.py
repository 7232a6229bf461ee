"""Who follows the advice of a method gets a release."""

import pytest
from tests.first_contact.following import AGE, FRAME, Case, K, changed, method

DIGITS = FRAME.assign(sex=["1", "2"] * 24)
DATES = {"born": {"role": "quasi", "type": "date", "format": "%d/%m/%Y"}}
WHO = {"who": {"role": "subject"}}
LARGE = FRAME.assign(age=[1e250, *FRAME["age"][1:]])
PLAIN_AGE = {"age": {"role": "quasi", "type": "number"}}
WIDE = FRAME[["age", "ill"]].assign(**{f"c{i}": ["x", "y"] * 24 for i in range(24)})
QUASI = {f"c{i}": {"role": "quasi"} for i in range(24)}
HELD = {f"c{i}": {"role": "quasi", "max_level": 0} for i in range(24)}
WIDE_POLICY = {"attributes": {"age": AGE, "ill": {"role": "sensitive"}, **QUASI}, "privacy": [K]}
HELD_POLICY = {"attributes": {"age": AGE, "ill": {"role": "sensitive"}, **HELD}, "privacy": [K]}
CASES = {
    "codes that are no numbers": Case(
        "methods/fixed_interval/attributes.py",
        "out of 'codes_as_numbers', or fix its values.",
        method("fixed-interval", codes_as_numbers=["sex"]),
        (method("fixed-interval"), method("fixed-interval", frame=DIGITS, codes_as_numbers=["sex"])),
    ),
    "numbers without a mean": Case(
        "methods/fixed_interval/attributes.py",
        "Give the numbers that are possible under 'ranges'",
        method("fixed-interval", frame=LARGE, attributes=PLAIN_AGE),
        (
            method("fixed-interval", frame=LARGE, attributes=PLAIN_AGE, ranges={"age": [0, 110]}),
            method("fixed-interval"),
        ),
    ),
    "nothing left after cleaning": Case(
        "methods/fixed_interval/cleaning.py",
        "Loosen 'ranges' and 'rules', or keep or impute missing values.",
        method("fixed-interval", ranges={"age": [900, 999]}, missing="drop"),
        (method("fixed-interval", ranges={"age": [0, 110]}, missing="drop"),),
    ),
    "a range of another column": Case(
        "methods/fixed_interval/cleaning.py",
        "did_you_mean(name, known)",
        method("fixed-interval", ranges={"agee": [0, 110]}),
        (method("fixed-interval", ranges={"age": [0, 110]}),),
    ),
    "a range of words": Case(
        "methods/fixed_interval/cleaning.py",
        "Name a column of numbers.",
        method("fixed-interval", ranges={"sex": [0, 110]}),
        (method("fixed-interval", ranges={"age": [0, 110]}),),
    ),
    "a range the wrong way round": Case(
        "methods/fixed_interval/cleaning.py",
        "Write it as [low, high].",
        method("fixed-interval", ranges={"age": [110, 0]}),
        (method("fixed-interval", ranges={"age": [0, 110]}),),
    ),
    "a rule with a word for a number": Case(
        "methods/fixed_interval/cleaning.py",
        "Write {}.",
        method("fixed-interval", rules=[{"when": {"age": "old"}}]),
        (method("fixed-interval", rules=[{"when": {"age": "23"}}]),),
    ),
    "nothing to stand in for missing values": Case(
        "methods/fixed_interval/cleaning.py",
        "Keep missing values, or take the column out.",
        method("fixed-interval", frame=FRAME.assign(sex=None), missing="impute"),
        (
            method("fixed-interval", frame=FRAME.assign(sex=None), missing="keep"),
            method("fixed-interval", frame=FRAME.assign(sex=None), missing="impute", attributes={"sex": None}),
        ),
    ),
    "too many intervals": Case(
        "methods/fixed_interval/intervals.py",
        "Give fewer intervals.",
        method("fixed-interval", intervals=10**30),
        (method("fixed-interval", intervals=4),),
    ),
    "intervals that are too narrow": Case(
        "methods/fixed_interval/intervals.py",
        "Give a greater width.",
        method("fixed-interval", width={"age": 1e-9}),
        (method("fixed-interval", width={"age": 2}),),
    ),
    "dates as percentages": Case(
        "methods/fixed_interval/method.py",
        "Give 'statistic' by column, such as {age: percentage}.",
        method("fixed-interval", attributes=DATES, statistic="percentage"),
        (method("fixed-interval", attributes=DATES, statistic={"age": "percentage"}),),
    ),
    "a threshold of words": Case(
        "methods/fixed_interval/method.py",
        "as 'type: number', or name it under 'codes_as_numbers'.",
        method("fixed-interval", threshold={"sex": 1}),
        (
            method(
                "fixed-interval",
                frame=DIGITS,
                attributes={"sex": {"role": "quasi", "type": "number"}},
                threshold={"sex": 1},
            ),
            method("fixed-interval", frame=DIGITS, codes_as_numbers=["sex"], threshold={"sex": 1}),
        ),
    ),
    "records that repeat nobody's": Case(
        "methods/fixed_interval/selecting.py",
        "Give the column that says whose a record is the role subject, or leave 'redundant' out.",
        method("fixed-interval", redundant="drop"),
        (method("fixed-interval", redundant="drop", attributes=WHO), method("fixed-interval")),
    ),
    "columns that tell too little": Case(
        "methods/fixed_interval/selecting.py",
        "Lower 'least' of 'features', or leave 'features' out.",
        method(
            "fixed-interval",
            features={"target": "ill", "least": 1.0},
            attributes={"age": None, "job": AGE | {"hierarchy": None}},
            frame=FRAME.assign(job=[i % 5 for i in range(48)]),
        ),
        (
            method(
                "fixed-interval",
                features={"target": "ill", "least": 0.0},
                attributes={"age": None, "job": AGE | {"hierarchy": None}},
                frame=FRAME.assign(job=[i % 5 for i in range(48)]),
            ),
            method("fixed-interval"),
        ),
    ),
    "a target that is not there": Case(
        "methods/fixed_interval/selecting.py",
        "did_you_mean(target, known)",
        method("fixed-interval", features={"target": "il"}),
        (method("fixed-interval", features={"target": "ill"}),),
    ),
    "a class that is not there": Case(
        "methods/iack.py",
        "did_you_mean(target, known)",
        method("iack", target="il"),
        (method("iack", target="ill"),),
    ),
    "another sensitive column": Case(
        "methods/diversity_aware/method.py",
        "did_you_mean(self.attribute, problem.schema.sensitive)",
        method("diversity-aware", attribute="il"),
        (method("diversity-aware", attribute="ill"),),
    ),
    "a sensitive value that does not occur": Case(
        "methods/diversity_aware/method.py",
        "Write it exactly as in the data, in quotes.",
        method("diversity-aware", sensitive_value="A"),
        (method("diversity-aware", sensitive_value="a"),),
    ),
    "distances without end": Case(
        "methods/diversity_aware/points.py",
        "Leave 'distance' out, so that columns are standardized.",
        method("diversity-aware", frame=LARGE, attributes=PLAIN_AGE, distance="manhattan"),
        (method("diversity-aware", frame=LARGE, attributes=PLAIN_AGE),),
    ),
    "a column of the method's own name": Case(
        "methods/h_ceiling/publish.py",
        "Rename yours, or leave it out.",
        method("h-ceiling", frame=FRAME.assign(class_id="x"), attributes={"class_id": {"role": "quasi"}}),
        (
            method("h-ceiling", frame=FRAME.assign(ward="x"), attributes={"ward": {"role": "quasi"}}),
            method("h-ceiling", frame=FRAME.assign(class_id="x")),
        ),
    ),
    "more levels than h-ceiling looks at": Case(
        "methods/h_ceiling/method.py",
        "Hold some columns between 'min_level' and 'max_level', or use 'recoding: mondrian'.",
        changed(
            WIDE_POLICY,
            frame=WIDE,
            method={"name": "h-ceiling", "recoding": "full-domain"},
        ),
        (
            changed(
                HELD_POLICY,
                frame=WIDE,
                method={"name": "h-ceiling", "recoding": "full-domain"},
            ),
            changed(
                WIDE_POLICY,
                frame=WIDE,
                method={"name": "h-ceiling", "recoding": "mondrian"},
            ),
        ),
    ),
    "more levels than can be listed": Case(
        "methods/iab/fast.py",
        "Hold columns between 'min_level' and 'max_level', or use the method optimal.",
        changed(
            WIDE_POLICY,
            frame=WIDE,
            method="iab-fast",
        ),
        (
            changed(
                HELD_POLICY,
                frame=WIDE,
                method="iab-fast",
            ),
            changed(WIDE_POLICY, frame=WIDE),
        ),
    ),
}
"""Cases by what is wrong."""


@pytest.mark.parametrize("name", CASES)
def test_who_follows_the_advice_gets_on(name, tmp_path):
    CASES[name].check(tmp_path)
