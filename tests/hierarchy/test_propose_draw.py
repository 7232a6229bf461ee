from __future__ import annotations

from medveil.hierarchy.draw import draw
from medveil.hierarchy.flat import Flat
from medveil.hierarchy.intervals import Intervals
from medveil.hierarchy.mask import Mask
from medveil.hierarchy.propose import facts_of, propose
from medveil.table.domain import domain_of
from medveil.table.schema import Kind


def proposed(values, kind):
    domain = domain_of([None if value is None else str(value) for value in values], kind)
    spec = propose(facts_of(domain), declare_domain=True) or Flat()
    return {key: value for key, value in spec.model_dump(exclude_defaults=True).items() if value is not None} | {
        "type": spec.name
    }


def test_ages_get_the_usual_widths():
    assert proposed([*range(17, 91), None], Kind.NUMBER) == {
        "type": "intervals",
        "domain": (0, 99),
        "widths": (5, 10, 20, 40),
    }


def test_other_numbers_get_round_widths_over_round_domains():
    assert proposed(range(1, 401), Kind.NUMBER)["widths"] == (20, 40, 80, 160)
    assert proposed(range(1900, 2012), Kind.NUMBER)["domain"] == (1900, 2019)
    weights = proposed([48.2 + 0.7 * step for step in range(100)], Kind.NUMBER)
    assert weights == {"type": "intervals", "domain": (40, 120), "widths": (5, 10, 20, 40)}
    assert proposed([0.01 * step for step in range(30)], Kind.NUMBER)["widths"] == (0.02, 0.04, 0.08, 0.16)


def test_codes_dates_and_words():
    assert proposed([f"{n:05d}" for n in range(50)], Kind.CODE) == {"type": "mask", "length": 5}
    assert proposed([f"E{n:02d}" for n in range(50)], Kind.CODE)["alphabet"] == "alphanumeric"
    assert proposed([f"{n}" for n in range(90, 110)], Kind.CODE) == {"type": "flat"}
    assert proposed(["one", "two", "six", "ten", "its", "has", "was"], Kind.CATEGORY) == {"type": "flat"}
    assert proposed([f"20{y}-0{m}-11" for y in range(10, 21) for m in (1, 5)], Kind.DATE) == {"type": "dates"}
    assert proposed([f"2020-01-{d:02d}" for d in range(1, 31)], Kind.DATE)["levels"] == ("week",)
    assert proposed([f"19{y}-03-01" for y in range(10, 99)], Kind.DATE)["levels"] == ("month", "year", "decade")
    assert proposed(["f", "m", None], Kind.CATEGORY) == {"type": "flat"}
    assert proposed([1, 2, 3], Kind.NUMBER) == {"type": "flat"}


def test_a_drawing_shows_the_tree(texts, numbers, bind):
    tree = {"Respiratory": ["flu", "cold"], "Heart": {"Rhythm": ["flutter"]}}
    drawing = draw(bind(texts("cold", "flu", "flutter", None), type="taxonomy", tree=tree))
    assert drawing.splitlines() == (
        [
            "4 leaves in the domain, 4 in the data",
            "level 0: 4 groups, mean loss 0.000",
            "level 1: 4 groups, mean loss 0.000",
            "level 2: 3 groups, mean loss 0.167",
            "level 3: 1 group, mean loss 1.000",
            "",
            "*  (4)",
            "├── Respiratory  (2)",
            "│   ├── cold",
            "│   └── flu",
            "├── Heart",
            "│   └── Rhythm",
            "│       └── flutter",
            "└── (missing)",
        ]
    )


def test_a_drawing_leaves_out_what_is_too_much_and_reads_no_markup(numbers, bind):
    drawing = draw(bind(numbers(*range(100)), type="intervals", domain=[0, 99], widths=[10]), max_leaves=20)
    assert "├── [0-9]  (10)" in drawing
    assert drawing.count("... 8 more") == 10
    assert "91" in drawing
    assert "92" not in drawing


def test_what_the_name_says_counts():
    ages = domain_of([str(age) for age in range(100)], Kind.NUMBER)
    assert propose(facts_of(ages, "age-over-89"), declare_domain=True) == Intervals(
        domain=(0, 99), widths=(5, 10, 20, 40), top=90
    )
    zips = domain_of(["10115", "20095"], Kind.CODE)
    assert propose(facts_of(zips), declare_domain=True) is None
    assert propose(facts_of(zips, "zip"), declare_domain=True) == Mask(length=5)


def test_without_a_domain_only_widths_are_taken_from_the_data():
    numbers = domain_of([str(number) for number in range(1, 401)], Kind.NUMBER)
    assert propose(facts_of(numbers), declare_domain=False) == Intervals(widths=(20, 40, 80, 160))
