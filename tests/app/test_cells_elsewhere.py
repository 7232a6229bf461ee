"""Where cells are too many to travel the engine counts classes, and the release is the one that cells would give."""

import json
import random
from collections import Counter

import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import medveil
from medveil.app.compare import fitting_methods
from medveil.auditor import audit
from medveil.datasets import patients
from medveil.engine.duckdb_classes import DuckDBCodedTable
from medveil.errors import CancelledError, PolicyError, UnreachableError
from medveil.policy import load_policy
from medveil.run import Run
from medveil.sources.opening import open_source
from medveil.workspace import Workspace

HERE, ELSEWHERE = ({"type": "duckdb", "cells_at_most": most} for most in (10_000, 1))
NUMBERS = {"type": "intervals", "domain": [0, 8], "widths": [2, 4]}
rows = st.lists(
    st.tuples(
        st.sampled_from(["0", "1", "1.0", "2", "5", "7", None]),
        st.sampled_from(["a", "b", None]),
        st.sampled_from(["x", "y", "z"]),
        st.sampled_from(["flu", "gout", None]),
        st.sampled_from(["p", "q"]),
        st.sampled_from(["1", "2", "3", "4", "5", "6", None]),
    ),
    min_size=2,
    max_size=40,
)


def table_of(records):
    names = ["age", "sex", "ward", "ill", "note", "who"]
    return pa.table({name: pa.array([row[j] for row in records], pa.string()) for j, name in enumerate(names)})


def small_policy(engine, *, k, distinct, suppression, people, stars):
    models = [{"model": "k-anonymity", "k": k}]
    if distinct:
        models.append({"model": "l-diversity", "variant": "distinct", "l": distinct, "attribute": "ill"})
    return {
        "attributes": {
            "age": {"role": "quasi", "type": "number", "hierarchy": NUMBERS},
            "sex": {"role": "quasi"},
            "ward": {"role": "quasi"},
            "ill": {"role": "sensitive", "insist": True},
            "note": {"role": "plain", "insist": True},
            **({"who": {"role": "subject"}} if people else {}),
        },
        "privacy": models,
        "method": {"name": "optimal", "suppression": suppression},
        "output": {"suppressed": "stars" if stars else "removed", "report": False},
        "engine": engine,
    }


def outcome(table, policy):
    try:
        release = medveil.anonymize(table, policy)
    except UnreachableError as error:
        return str(error)
    manifest = release.manifest
    return release.to_arrow(), manifest.method, manifest.attributes, manifest.rows, manifest.claims, manifest.files


EVERYBODY = {"distinct": 0, "suppression": 1.0, "people": True, "stars": False}
NOBODY = {"distinct": 2, "suppression": 0.0, "people": False, "stars": True}


@settings(max_examples=20, deadline=None)
@given(
    records=rows,
    k=st.integers(1, 5),
    distinct=st.sampled_from([0, 2]),
    suppression=st.sampled_from([0.0, 0.02, 0.05, 1.0]),
    people=st.booleans(),
    stars=st.booleans(),
)
@example(records=[("1", "a", "x", "flu", "p", w) for w in (None, None, "1", "2")], k=3, **EVERYBODY)
@example(records=[("1", "a", "x", ill, "p", None) for ill in ("flu", None)] * 3, k=3, **NOBODY)
def test_the_release_is_the_same_to_the_byte(records, k, distinct, suppression, people, stars):
    """Levels, loss, suppressed records, claims, and the file with its rows in order: by its hash in the manifest."""
    asked = {"k": k, "distinct": distinct, "suppression": suppression, "people": people, "stars": stars}
    here, elsewhere = (outcome(table_of(records), small_policy(engine, **asked)) for engine in (HERE, ELSEWHERE))
    assert elsewhere == here


POLICY = {
    "attributes": {
        "age": {"role": "quasi", "hierarchy": {"type": "intervals", "domain": [0, 99], "widths": [5, 10, 20]}},
        "sex": {"role": "quasi"},
        "region": {"role": "quasi"},
        "surgery": {"role": "plain"},
        "disease": {"role": "sensitive"},
        "patient_id": {"role": "subject"},
    },
    "privacy": [{"model": "k-anonymity", "k": 4}, {"model": "l-diversity", "variant": "distinct", "l": 2}],
    "method": {"name": "optimal", "suppression": 0.05},
    "evaluation": {"advice": True},
}


@pytest.fixture(scope="module")
def stays():
    """Patients of whom some have several records."""
    drawn = random.Random(5)
    table = patients(1500, seed=3)
    return table.append_column("patient_id", pa.array([str(drawn.randrange(900)) for _ in range(1500)]))


@pytest.fixture(scope="module")
def releases(stays, tmp_path_factory):
    """One release of cells in memory, and one of the same that an engine counted."""
    made, warned = {}, []
    for name, engine in (("here", HERE), ("elsewhere", ELSEWHERE)):
        folder = tmp_path_factory.mktemp(name) / "out"
        events = warned if name == "elsewhere" else []
        made[name] = medveil.anonymize(stays, {**POLICY, "engine": engine}, out=folder, progress=events.append).folder
    return made["here"], made["elsewhere"], [event.detail for event in warned if event.stage == "warn"]


def told(folder, name):
    return json.loads((folder / "internal" / f"{name}.json").read_text())


def test_its_claims_are_proved_from_its_files(stays, releases):
    report = audit(releases[1], open_source(stays))
    assert report.publishable
    assert [finding.finding.achieved for finding in report.findings] == [
        finding.finding.achieved for finding in audit(releases[0], open_source(stays)).findings
    ]


def test_the_plan_is_told_before_anything_is_searched(releases):
    plans = [words for words in releases[2] if "The plan" in words]
    assert len(plans) == 1
    assert "more than the 1 of 'cells_at_most'" in plans[0]
    assert "3 queries for pairs of columns" in plans[0]
    assert plans[0] in told(releases[1], "run")["warnings"]


def test_what_needs_all_distinct_records_is_skipped_with_the_reason_and_the_rest_is_the_same(releases):
    here, elsewhere = ({**told(folder, "measures"), **told(folder, "risks")} for folder in releases[:2])
    skipped = {name for name, found in elsewhere.items() if found != here[name]}
    assert {elsewhere[name]["reason"].split(",")[0] for name in skipped} == {
        "This needs all distinct records in memory"
    }
    assert {"lm", "ncp", "marginal-distance", "discernibility", "leakage"}.isdisjoint(skipped)
    assert not (releases[1] / "internal" / "advice.json").exists()


def test_what_leaks_is_counted_by_the_engine(releases):
    def figures(value):
        return pytest.approx(value, abs=1e-9) if isinstance(value, float) else value

    here, elsewhere = (told(folder, "leakage") for folder in releases[:2])
    for mine, other in zip(elsewhere["attributes"], here["attributes"], strict=True):
        assert mine["before"] == {key: figures(value) for key, value in other["before"].items()}
        assert (mine["attribute"], mine["after"]) == (other["attribute"], other["after"])
    together = here["all_quasi_identifiers"]["before"]
    assert elsewhere["all_quasi_identifiers"]["before"] == {key: figures(value) for key, value in together.items()}
    for name in ("counted_before", "number_before", "number_after", "with_quasi_identifiers"):
        assert elsewhere[name] == here[name]


def test_the_pages_tell_of_the_same_people(releases):
    """Small groups are hidden by how many people they have, before and after: those figures come from the engine."""
    recipients = [(folder / "report.html").read_bytes() for folder in releases[:2]]
    assert recipients[0] == recipients[1]
    steward = [(folder / "internal" / "report.html").read_text() for folder in releases[:2]]
    for begin, end in (('id="risk"', "</section>"), ('id="columns"', "</section>")):
        here, elsewhere = (page[page.index(begin) :].split(end)[0] for page in steward)
        assert elsewhere == here


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"privacy": [{"model": "t-closeness", "t": 0.3}, {"model": "k-anonymity", "k": 2}]}, "t-closeness looks at"),
        ({"privacy": [{"model": "l-diversity", "variant": "entropy", "l": 2}]}, "l-diversity looks at"),
        ({"privacy": [{"model": "k-anonymity", "k": 2, "on": ["age"]}]}, "some quasi-identifiers only"),
        ({"method": {"name": "mondrian"}}, "choose a method that fits: optimal"),
        ({"evaluation": {"population": "people.csv"}}, "A population is compared"),
    ],
)
def test_what_no_query_decides_is_refused_with_what_would_help(stays, change, words):
    with pytest.raises(PolicyError) as refused:
        medveil.anonymize(stays, {**POLICY, **change, "engine": ELSEWHERE})
    assert words in str(refused.value)
    assert "cells_at_most: ..." in str(refused.value)


@pytest.mark.parametrize("subject", [True, False])
def test_a_plain_column_that_singles_people_out_is_refused(stays, subject):
    """Counted by the engine before the search, and with what is published after it: as where cells are here."""
    own = [str(number) if number % 10 == 0 else "common" for number in range(1500)]
    attributes = {**POLICY["attributes"], "mark": {"role": "plain"}}
    if not subject:
        del attributes["patient_id"]
    refusals = []
    for marks in (own, [f"{number % 40}" for number in range(1500)]):
        table = stays.append_column("mark", pa.array(marks))
        for engine in (HERE, ELSEWHERE):
            with pytest.raises(PolicyError, match="out") as refused:
                medveil.anonymize(table, {**POLICY, "attributes": attributes, "engine": engine})
            refusals.append(str(refused.value))
    assert refusals[0] == refusals[1] != refusals[2] == refusals[3]
    assert "alone singles out" in refusals[0]
    assert "With the published" in refusals[2]


def test_a_release_that_leaks_too_much_is_refused(stays):
    refusals = []
    for engine in (HERE, ELSEWHERE):
        with pytest.raises(UnreachableError, match="would still leak") as refused:
            medveil.anonymize(stays, {**POLICY, "leakage": {"most": 0.01}, "engine": engine})
        refusals.append(str(refused.value))
    assert refusals[0] == refusals[1]


def test_nobody_asks_the_engine_where_cells_fit(stays, monkeypatch):
    monkeypatch.setattr(DuckDBCodedTable, "__init__", None)
    medveil.anonymize(stays, {**POLICY, "engine": HERE, "output": {"report": False}})


def test_each_node_is_one_check_and_there_are_no_more_of_them(stays, monkeypatch):
    asked = Counter()
    check = DuckDBCodedTable.check

    def counted(self, *arguments):
        asked["checks"] += 1
        return check(self, *arguments)

    monkeypatch.setattr(DuckDBCodedTable, "check", counted)
    checks = []
    for engine in (HERE, ELSEWHERE):
        release = medveil.anonymize(stays, {**POLICY, "engine": engine, "output": {"report": False}})
        checks.append(told(release.folder, "search")["checks"])
    assert asked["checks"] == checks[1] <= checks[0] * 1.1


def test_a_search_that_asks_ends_early_only_where_the_policy_says_so(stays, monkeypatch):
    limits = []

    def searched(*_, time_limit, **__):
        limits.append(time_limit)
        raise ZeroDivisionError

    monkeypatch.setattr("medveil.methods.optimal.search", searched)
    for method in ({"name": "optimal"}, {"name": "optimal", "time_limit": 600}):
        with pytest.raises(ZeroDivisionError):
            medveil.anonymize(stays, {**POLICY, "method": method, "engine": ELSEWHERE})
    assert limits == [None, 600]


def test_a_comparison_lists_methods_that_need_cells_as_not_fitting(stays):
    policy, workspace = load_policy({**POLICY, "engine": ELSEWHERE})
    why = fitting_methods(policy, workspace, stays, ["optimal", "mondrian"], Run())
    assert why["optimal"] is None
    assert why["mondrian"].startswith("it works on all distinct records in memory, and there are 1,")


def test_measuring_beside_the_original_skips_what_needs_cells(stays, releases):
    found = medveil.measure(releases[1], original=stays, quick=True)
    assert "reason" in vars(found.measures["information-loss"])


def test_what_a_table_alone_reaches_is_asked_of_the_engine(stays):
    here, elsewhere = (
        medveil.measure(stays, policy=POLICY, quick=True, limits=medveil.Limits(cells_at_most=most))
        for most in (10_000, 1)
    )
    assert (elsewhere.k, elsewhere.l) == (here.k, here.l)
    assert {one.model for one in elsewhere.reached} == {"k-anonymity", "distinct l-diversity"}


@pytest.fixture(scope="module")
def visits():
    """Three records of each person, on days of their own."""
    rows = [
        {"patient": f"P{i}", "age": str(20 + i), "start": f"2020-{1 + i % 12:02}-{1 + 9 * visit:02}"}
        for i in range(30)
        for visit in range(3)
    ]
    return pa.Table.from_pylist(rows)


@pytest.mark.parametrize("suppressed", ["removed", "stars"])
def test_pseudonyms_and_shifted_dates_are_published_with_it(visits, suppressed):
    policy = {
        "attributes": {
            "patient": {"role": "key"},
            "age": {"role": "quasi", "hierarchy": {"type": "intervals", "widths": [7, 49]}},
            "start": {"role": "date", "shift": {"days": 100}},
        },
        "privacy": [{"model": "k-anonymity", "k": 4}],
        "method": {"name": "optimal", "suppression": 0.1},
        "output": {"report": False, "suppressed": suppressed},
        "seed": 7,
    }
    here, elsewhere = (medveil.anonymize(visits, {**policy, "engine": engine}) for engine in (HERE, ELSEWHERE))
    assert elsewhere.manifest.files == here.manifest.files
    assert elsewhere.manifest.rows["suppressed"] > 0


def test_linked_tables_are_refused_in_a_sentence(tmp_path):
    pyarrow.csv.write_csv(pa.table({"Id": ["1", "2", "3"], "sex": ["f", "m", "f"]}), tmp_path / "people.csv")
    pyarrow.csv.write_csv(pa.table({"person": ["1", "2"], "ward": ["a", "b"]}), tmp_path / "stays.csv")
    people = {"data": "people.csv", "attributes": {"Id": {"role": "key"}, "sex": {"role": "quasi"}}}
    stays = {"data": "stays.csv", "key": {"person": "people.Id"}, "attributes": {"ward": {"role": "plain"}}}
    policy = {
        "tables": {"people": people, "stays": stays},
        "privacy": [{"model": "k-anonymity", "k": 1}],
        "engine": ELSEWHERE,
    }
    with pytest.raises(PolicyError, match="This needs all distinct records in memory"):
        medveil.anonymize(policy, run=Run(workspace=Workspace(tmp_path)))


@pytest.mark.parametrize("events", [4, 7])
def test_it_can_be_stopped_and_leaves_nothing(stays, tmp_path, events):
    seen = []
    with pytest.raises(CancelledError):
        medveil.anonymize(
            stays,
            {**POLICY, "engine": ELSEWHERE},
            out=tmp_path / "out",
            progress=seen.append,
            cancelled=lambda: len(seen) >= events,
        )
    assert list(tmp_path.iterdir()) == []
