"""Fixed-interval anonymization against plain counting of what it published."""

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fixed_intervals import ATTRIBUTES, POLICY, internal, members, read_book, some_patients

import medveil
from medveil.auditor import audit
from medveil.errors import InputError, MedveilError, PolicyError, UnreachableError

QUASI = ["age", "sex", "length_of_stay", "region"]


def with_(method=None, **changes):
    return {**POLICY, "method": {"name": "fixed-interval", **(method or {})}, **changes}


def linked(folder, frame):
    """The source's records beside what was published for them."""
    links = pq.read_table(folder / "internal" / "links.parquet").to_pandas().astype(object)
    return frame.reset_index(drop=True).join(links, rsuffix="_published")


@pytest.fixture(scope="module")
def frame():
    return some_patients()


@pytest.fixture(scope="module")
def release(frame, tmp_path_factory):
    return medveil.anonymize(frame, POLICY, out=tmp_path_factory.mktemp("release") / "out")


def test_every_class_has_exactly_k_records_and_every_record_is_published(release):
    """1,500 records in classes of 5: equation 4 gives 300 classes."""
    assert internal(release.folder)["classes"] == 300
    assert release.manifest.rows == {"published": 1500, "input": 1500, "suppressed": 0}
    shown = release.to_pandas().astype(object)
    assert shown.groupby([*QUASI, "disease"], dropna=False).size().min() >= 5


def test_sets_are_the_values_of_the_records_that_show_them(release, frame):
    book = read_book(release.folder)
    both = linked(release.folder, frame)
    shown = [f"{name}_published" for name in [*QUASI, "disease"]]
    for name in ("sex", "region", "disease"):
        of_value = {line["stands_for"]: line["published"] for line in book if line["attribute"] == name}
        ids = both[name].map(of_value)
        for _, group in both.assign(id=ids).groupby(shown, dropna=False):
            assert set(group["id"]) == members(group[f"{name}_published"].iloc[0])


def test_means_are_those_of_the_people_in_their_interval(release, frame):
    intervals = pq.read_table(release.folder / "internal" / "intervals.parquet").to_pandas()
    assert len(intervals) > 3
    for line in intervals.itertuples():
        numbers = frame[line.attribute].astype(float)
        low = -np.inf if line.open_low else line.low
        high = np.inf if line.open_high else line.high
        inside = numbers[(numbers >= low) & (numbers < high)]
        assert len(inside) == line.people >= 5
        assert abs(inside.mean() - float(line.published)) <= 0.5


def test_a_class_shows_the_mean_of_the_interval_that_holds_its_own_mean(release, frame):
    intervals = pq.read_table(release.folder / "internal" / "intervals.parquet").to_pandas()
    classes = pq.read_table(release.folder / "internal" / "classes.parquet").to_pandas()
    assert classes["records"].sum() == 1500
    shown = linked(release.folder, frame)["age_published"].value_counts().sort_index()
    expected = pd.Series(0, index=intervals[intervals["attribute"] == "age"]["published"])
    for line in intervals[intervals["attribute"] == "age"].itertuples():
        means = classes["age: mean"]
        held = (means >= (-np.inf if line.open_low else line.low)) & (means < (np.inf if line.open_high else line.high))
        expected[line.published] += classes["records"][held].sum()
    assert (expected.sort_index() == shown).all()


def test_the_order_of_the_records_does_not_matter(release, frame):
    again = medveil.anonymize(frame.sample(frac=1, random_state=1), POLICY)
    assert again.to_arrow().equals(release.to_arrow())
    assert read_book(again.folder) == read_book(release.folder)


def test_ids_are_in_random_order_unless_declared(frame, release):
    def order(found):
        return [line["stands_for"] for line in read_book(found.folder) if line["attribute"] == "region"]

    other = medveil.anonymize(frame, {**POLICY, "seed": 4})
    assert sorted(order(other)) == sorted(order(release))
    assert order(other) != order(release)
    names = sorted(set(frame["region"]), reverse=True)
    declared = {**ATTRIBUTES, "region": {"role": "quasi", "hierarchy": {"type": "flat", "domain": [*names, "Moon"]}}}
    assert order(medveil.anonymize(frame, {**POLICY, "attributes": declared})) == [*names, "Moon"]


def test_people_are_counted_where_a_subject_is_declared(frame, tmp_path):
    attributes = {**ATTRIBUTES, "patient_id": {"role": "subject"}}
    medveil.anonymize(frame, {**POLICY, "attributes": attributes}, out=tmp_path / "out")
    both = linked(tmp_path / "out", frame)
    shown = [f"{name}_published" for name in QUASI]
    assert both.groupby(shown, dropna=False)["patient_id"].nunique().min() >= 5
    assert both.groupby([*shown, "disease_published"], dropna=False)["patient_id"].nunique().min() >= 5
    for line in read_book(tmp_path / "out"):
        assert not line["people"] or int(line["people"]) >= 5
    # The same person's records with the same quasi-identifiers are never parted.
    together = both.groupby(["patient_id", *QUASI])["disease_published"].nunique()
    assert together.max() == 1


def test_a_person_with_many_records_of_one_value_counts_once_in_a_mean(tmp_path):
    frame = pd.DataFrame({"who": ["a"] * 50 + ["b", "c", "d"], "age": [20] * 50 + [30, 40, 50], "sex": ["f"] * 53})
    policy = {
        "attributes": {"who": {"role": "subject"}, "age": {"role": "quasi"}, "sex": {"role": "quasi"}},
        "privacy": [{"model": "k-anonymity", "k": 4}],
        "method": {"name": "fixed-interval", "intervals": 1},
    }
    medveil.anonymize(frame, policy, out=tmp_path / "out")
    (mean,) = [line for line in read_book(tmp_path / "out") if line["attribute"] == "age"]
    assert (mean["published"], mean["people"]) == ("35", "4")


@pytest.mark.parametrize("subject", [False, True])
def test_l_diversity_and_t_closeness_hold_on_what_was_published(frame, tmp_path, subject):
    attributes = {**ATTRIBUTES, "surgery": {"role": "sensitive"}}
    if subject:
        attributes["patient_id"] = {"role": "subject"}
    privacy = [
        {"model": "k-anonymity", "k": 5},
        {"model": "l-diversity", "l": 2},
        {"model": "l-diversity", "l": 3.5, "variant": "entropy", "attribute": "disease"},
        {"model": "t-closeness", "t": 0.4, "attribute": "surgery"},
    ]
    release = medveil.anonymize(frame, {**POLICY, "attributes": attributes, "privacy": privacy}, out=tmp_path / "out")
    both = linked(tmp_path / "out", frame)
    shown = [f"{name}_published" for name in QUASI]
    person = "patient_id" if subject else "line"
    both["line"] = np.arange(len(both))
    whole = both.drop_duplicates([person, "surgery"])["surgery"].value_counts(normalize=True)
    for _, group in both.groupby(shown, dropna=False):
        for name in ("disease", "surgery"):
            assert group[name].nunique() >= 2
        share = group.drop_duplicates([person, "surgery"])["surgery"].value_counts(normalize=True)
        assert (share.reindex(whole.index, fill_value=0) - whole).abs().sum() / 2 <= 0.4 + 1e-9
    bases = {(claim["model"], claim["attribute"]): claim["basis"] for claim in release.manifest.claims}
    assert bases["t-closeness", "surgery"] == "proved again from files and source"
    assert internal(tmp_path / "out")["classes joined away"] > 0
    report = audit(tmp_path / "out")
    unproved = {found.claim["model"] for found in report.findings if not found.proved}
    assert {"l-diversity", "t-closeness", "code-book"} <= unproved
    assert not report.refuted


def test_a_set_is_diverse_to_its_reader_where_missing_values_were_imputed():
    """The two who were seen with x or with nothing would show x alone."""
    frame = pd.DataFrame({"age": ["20", "21", "50", "51", "52", "53"], "ill": ["y", "x", "x", None, "x", "y"]})
    policy = {
        "attributes": {"age": {"role": "quasi"}, "ill": {"role": "sensitive"}},
        "privacy": [{"model": "k-anonymity", "k": 2}, {"model": "l-diversity", "l": 2, "attribute": "ill"}],
        "method": {"name": "fixed-interval", "intervals": 2, "missing": "impute"},
    }
    release = medveil.anonymize(frame, policy)
    assert all(len(members(label)) == 2 for label in release.to_pandas().astype(object)["ill"])
    kept = {**policy, "method": {**policy["method"], "missing": "keep"}}
    assert any("?" in label for label in medveil.anonymize(frame, kept).to_pandas().astype(object)["ill"])


def test_records_of_nobody_known_are_one_person():
    frame = pd.DataFrame(
        {"who": ["a", None, None, "b", "c", "d"], "age": ["20", "21", "22", "50", "51", "52"], "sex": ["f"] * 6}
    )
    attributes = {"who": {"role": "subject"}, "age": {"role": "quasi"}, "sex": {"role": "quasi"}}
    policy = {
        "attributes": attributes,
        "privacy": [{"model": "k-anonymity", "k": 2}],
        "method": {"name": "fixed-interval", "intervals": 2},
    }
    release = medveil.anonymize(frame, policy)
    assert [line["people"] for line in read_book(release.folder) if line["attribute"] == "age"] == ["2", "3"]


def test_numbers_too_large_for_a_mean_are_refused_unless_they_are_out_of_range():
    frame = pd.DataFrame({"age": ["20", "21", "50", "51", "1e308", "-1e308"]})
    policy = {
        "attributes": {"age": {"role": "quasi"}},
        "privacy": [{"model": "k-anonymity", "k": 2}],
        "method": {"name": "fixed-interval", "intervals": 2},
    }
    with pytest.raises(InputError, match="'age' holds numbers beyond"):
        medveil.anonymize(frame, policy)
    ranged = {**policy, "method": {**policy["method"], "ranges": {"age": [0, 120]}, "missing": "drop"}}
    assert sorted(medveil.anonymize(frame, ranged).to_pandas()["age"].astype(str)) == ["36"] * 4


@st.composite
def tables(draw):
    number = draw(st.integers(1, 14))

    def column(values):
        return draw(st.lists(st.sampled_from(values), min_size=number, max_size=number))

    return pd.DataFrame(
        {
            "age": column([None, "0", "7", "30", "31", "90"]),
            "dose": column(["0.5", "0.25", "-3", "0"]),
            "sex": column(["f", "m", None]),
            "zip": column(["412-791", "002-139"]),
            "seen": column(["2020-01-03", "2021-12-31", None]),
            "ill": column(["a", "b", "c", None]),
            "cost": column(["10", "250", None]),
            "note": column(["x", "y"]),
            "who": column(["p", "q", "r", "s", "t", None]),
        }
    )


@settings(max_examples=40)
@given(
    tables(),
    st.integers(1, 4),
    st.sampled_from(["keep", "drop", "impute", {"age": "drop", "ill": "impute"}]),
    st.sampled_from(["none", "iqr", "zscore"]),
    st.sampled_from([{"intervals": 3}, {"width": {"dose": 0.3}}, {"intervals": {"age": 2}, "width": {"dose": 0.1}}]),
    st.sampled_from(["mean", "median"]),
    st.sampled_from([5, 40]),
    st.booleans(),
    st.booleans(),
)
def test_whatever_the_table_the_release_holds_or_the_error_is_clear(
    frame, k, missing, outliers, cuts, statistic, threshold, subject, rule
):
    """The workflow audits each release against its source; a claim that fails would be a VerificationError."""
    roles = dict.fromkeys(["age", "dose", "sex", "zip", "seen"], "quasi")
    roles |= {"ill": "sensitive", "cost": "sensitive", "note": "plain"} | ({"who": "subject"} if subject else {})
    kinds = {"age": "number", "dose": "number", "cost": "number", "seen": "date"}
    attributes = {
        name: {"role": role, "insist": True, **({"type": kinds[name]} if name in kinds else {})}
        for name, role in roles.items()
    }
    method = {
        "name": "fixed-interval",
        **cuts,
        "missing": missing,
        "outliers": outliers,
        "statistic": statistic,
        "threshold": {"age": threshold},
        "ranges": {"age": [0, 60]},
        "codes_as_numbers": ["zip"],
        "rules": [{"when": {"sex": "m", "note": "x"}}] if rule else [],
    }
    privacy = [{"model": "k-anonymity", "k": k}, {"model": "l-diversity", "l": 2, "attribute": "ill"}]
    try:
        release = medveil.anonymize(frame, {"attributes": attributes, "privacy": privacy, "method": method})
    except (UnreachableError, InputError):
        return
    shown = release.to_pandas().astype(object)
    assert shown.groupby(["age", "dose", "sex", "zip", "seen", "ill", "cost"], dropna=False).size().min() >= k


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"attributes": {"sex": {"role": "quasi"}, "disease": {"role": "sensitive"}}}, PolicyError, "is a number"),
        ({"method": {"name": "fixed-interval", "intervals": 0}}, PolicyError, "greater than or equal to 1"),
        ({"method": {"name": "fixed-interval", "width": 0}}, PolicyError, "greater than 0"),
        ({"attributes": {**ATTRIBUTES, "sex": {"role": "quasi", "max_level": 0}}}, PolicyError, "have no levels"),
        ({"method": {"name": "fixed-interval", "intervals": 3, "width": 5}}, PolicyError, "not both"),
        ({"privacy": [{"model": "k-anonymity", "k": 1501}]}, UnreachableError, "k = 1500"),
        ({"privacy": [{"model": "l-diversity", "l": 2, "attribute": "disease"}]}, PolicyError, "needs a k"),
        (
            {"method": {"name": "fixed-interval", "rules": [{"when": {"sexx": "M"}}]}},
            PolicyError,
            "Did you mean 'sex'",
        ),
        ({"attributes": {**ATTRIBUTES, "sex": {"role": "quasi", "type": "number"}}}, InputError, "declared as number"),
        ({"method": {"name": "fixed-interval", "width": {"sex": 2}}}, PolicyError, "not numbers"),
        ({"method": {"name": "fixed-interval", "intervals": {"agee": 2}}}, PolicyError, "Did you mean 'age'"),
        ({"method": {"name": "fixed-interval", "ranges": {"age": [90, 10]}}}, PolicyError, "ends before"),
        ({"method": {"name": "fixed-interval", "ranges": {"region": [1, 10]}}}, PolicyError, "not numbers"),
        ({"method": {"name": "fixed-interval", "codes_as_numbers": ["region"]}}, InputError, "more than digits"),
        ({"method": {"name": "fixed-interval", "missing": {"surgery": "drop"}}}, PolicyError, "'surgery'"),
        ({"method": {"name": "fixed-interval", "minimum_support": 2000}}, UnreachableError, "Only 1,500 of the people"),
        ({"method": {"name": "fixed-interval", "width": {"age": 1e-9}}}, PolicyError, "greater width"),
        ({"method": {"name": "fixed-interval", "intervals": 10**30}}, PolicyError, "fewer intervals"),
        (
            {
                "method": {
                    "name": "fixed-interval",
                    "rules": [{"when": {"sex": "M"}}, {"when": {"sex": "F"}}],
                }
            },
            InputError,
            "No record is left",
        ),
        (
            {
                "privacy": [{"model": "k-anonymity", "k": 5}, {"model": "t-closeness", "t": 0, "attribute": "disease"}],
                "method": {"name": "fixed-interval", "rules": [{"when": {"sex": "M"}}]},
            },
            UnreachableError,
            "cannot be reached",
        ),
    ],
)
def test_what_cannot_be_meant_is_said_clearly(frame, tmp_path, changes, error, words):
    with pytest.raises(error) as caught:
        medveil.anonymize(frame, {**POLICY, **changes}, out=tmp_path / "out")
    assert words in str(caught.value)
    assert caught.value.exit_code in {2, 3}
    assert not list(tmp_path.iterdir())


def test_sensitive_numbers_are_published_as_means_too(frame):
    attributes = {**ATTRIBUTES, "length_of_stay": {"role": "sensitive"}}
    release = medveil.anonymize(frame, {**POLICY, "attributes": attributes})
    values = {line["published"] for line in read_book(release.folder) if line["attribute"] == "length_of_stay"}
    assert set(map(str, release.to_pandas().astype(object)["length_of_stay"])) <= values


@pytest.mark.parametrize("file_format", ["csv", "parquet"])
def test_suppressed_records_as_stars(frame, file_format):
    policy = with_({"outliers": "iqr"}, output={"suppressed": "stars", "format": file_format})
    release = medveil.anonymize(frame, policy)
    shown = release.to_pandas().astype(object)
    stars = (shown == "*").all(axis=1).sum()
    assert stars == release.manifest.rows["suppressed"] > 0


def test_a_release_can_be_stopped(frame, tmp_path):
    calls = iter([False] * 8 + [True] * 100)
    with pytest.raises(MedveilError, match="stopped"):
        medveil.anonymize(frame, POLICY, out=tmp_path / "out", cancelled=lambda: next(calls))
    assert not list(tmp_path.iterdir())


def test_the_steward_gets_classes_with_a_picture_and_recipients_do_not(frame, tmp_path):
    release = medveil.anonymize(frame, with_({"outliers": "zscore", "threshold": 5}), out=tmp_path / "out")
    outside = {path.stem for path in (tmp_path / "out").iterdir()}
    assert "codebook" in outside
    assert not outside & {"classes", "intervals", "links", "fixed_interval"}
    classes = pq.read_table(tmp_path / "out" / "internal" / "classes.parquet").to_pandas()
    removed = internal(tmp_path / "out")["records left out"]["outlier"]
    assert classes["outliers"].sum() == removed == release.manifest.rows["suppressed"]
    assert (classes["age: least"] <= classes["age: median"]).all()
    picture = (tmp_path / "out" / "internal" / "classes.svg").read_text()
    assert picture.startswith("<svg")
    assert picture.count('fill="#c33"') >= removed


def test_what_recipients_get_holds_no_value_but_in_the_code_book_and_plain_columns(tmp_path):
    """Every number is one person's own; of numbers only means leave the house, of interval ends only declared ones."""
    chance = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "who": [f"zzwho{i:04d}zz" for i in range(200)],
            "age": [f"{number}" for number in chance.choice(90_000_000, 200, replace=False) + 10_000_000],
            "sex": chance.choice(["zzsexfzz", "zzsexmzz"], 200),
            "ill": chance.choice([f"zzill{i}zz" for i in range(9)], 200),
        }
    )
    attributes = {
        "who": {"role": "subject"},
        "age": {"role": "quasi"},
        "sex": {"role": "quasi"},
        "ill": {"role": "sensitive"},
    }
    rule = {"when": {"sex": "zzsexfzz", "ill": "zzill3zz"}}
    method = {"name": "fixed-interval", "outliers": "iqr", "rules": [rule]}
    medveil.anonymize(frame, {**POLICY, "attributes": attributes, "method": method}, out=tmp_path / "out")
    for path in (tmp_path / "out").iterdir():
        if path.is_file():
            text = path.read_text(encoding="utf-8")
            assert not [value for value in frame["who"] if value in text]
            assert not [value for value in frame["age"] if value in text], path.name
            if path.name not in {"codebook.csv", "report.html"}:  # the page reads the code book to recipients
                assert "zzill" not in text
                assert "zzsex" not in text
