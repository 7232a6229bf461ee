"""Errors of counts and of SQL aggregates."""

import numpy as np
import pyarrow as pa
import pytest
from tests.support import make_problem

from medveil.evaluation.comparison import Comparison, Skipped
from medveil.evaluation.coverage import cover
from medveil.evaluation.settings import EvaluationPolicy
from medveil.table.domain import domain_of
from medveil.table.schema import Kind
from medveil.utility.query_error import QueryError
from medveil.utility.sql import connect, read_statement
from medveil.utility.sql_queries import SqlQueries
from medveil.utility.workload import Condition, answer, random_queries, shares_of_labels

AGES = domain_of([str(n) for n in (20, 22, 25, 29)], Kind.NUMBER)


def test_a_label_counts_by_the_share_that_meets_the_condition():
    """[20-29] has ten whole numbers, of which a range from 22 to 25 meets four; 22 meets it, `*` as [20-29]."""
    read = cover(pa.chunked_array([pa.array(["[20-29]", "22", "*"])]), AGES)
    condition = Condition(0, np.array([False, True, True, False]), (22.0, 26.0))
    assert shares_of_labels(condition, read) == pytest.approx([0.4, 1.0, 0.4])
    towns = domain_of(["a", "b", "c"], Kind.CATEGORY)
    read = cover(pa.chunked_array([pa.array(["{a, b}", "c", "*"])]), towns)
    assert shares_of_labels(Condition(0, np.array([True, False, True]), None), read) == pytest.approx([0.5, 1.0, 2 / 3])


def test_answers_multiply_shares_and_add_counts():
    codes = np.array([[0, 1, 1], [1, 0, 1]], dtype=np.int32)
    counts = np.array([5.0, 2.0, 1.0])
    query = (Condition(0, np.zeros(0, dtype=np.bool_), None), Condition(1, np.zeros(0, dtype=np.bool_), None))
    shares = [np.array([0.5, 1.0]), np.array([0.25, 1.0])]
    assert answer(codes, counts, query, shares) == pytest.approx(5 * 0.5 * 1 + 2 * 1 * 0.25 + 1)
    assert answer(codes, counts, query[:1], shares[:1]) == pytest.approx(5 * 0.5 + 3)


def test_queries_repeat_and_keep_to_columns_that_vary():
    domains = [AGES, domain_of(["only"], Kind.CATEGORY), domain_of(list("abcdefghij"), Kind.CATEGORY)]
    first, second = (random_queries(domains, 50, np.random.default_rng(2)) for _ in range(2))
    assert [[c.column for c in q] for q in first] == [[c.column for c in q] for q in second]
    assert {c.column for q in first for c in q} == {0, 2}
    assert all(condition.leaves.any() for query in first for condition in query)
    assert random_queries(domains[1:2], 50, np.random.default_rng(2)) == []


def test_counts_of_a_release_that_is_half_gone_are_half_wrong():
    """Each value once with x and once with y; only x is left: answers without a condition on the letter are half."""
    table = {"age": [20, 22, 25, 29] * 2, "letter": ["x"] * 4 + ["y"] * 4}
    with make_problem(table, quasi=["age"], sensitive=["letter"]) as problem:
        half = pa.table({"age": ["20", "22", "25", "29"], "letter": ["x"] * 4})
        found = QueryError().compute(Comparison(problem, half))
        assert found.parts["median"] == pytest.approx(0.5)
        assert found.low <= found.value <= found.high


@pytest.fixture
def patients():
    table = {
        "age": [20, 25, 31, 38, 44, 49],
        "sex": list("fmfmfm"),
        "ill": ["flu", "flu", "cold", "flu", "cold", "gout"],
        "weight": [50.5, 61.0, 72.0, 83.0, 54.0, 65.0],
        "born": ["2000-01-02", "1995-03-04", "1989-05-06", "1982-07-08", "1976-09-10", "1971-11-12"],
    }
    with make_problem(
        table, quasi=["age", "sex", "born"], sensitive=["ill"], plain=["weight"], kinds={"born": Kind.DATE}
    ) as problem:
        yield problem


@pytest.fixture
def asked(patients):
    """The errors of queries on a release of the first four patients."""

    def ask(queries, **columns):
        published = {
            "age": ["[20-29]", "[20-29]", "31", "38"],
            "sex": ["f", "m", "f", "m"],
            "born": ["2000-01-02", "1995-03-04", "1989-05-06", "1982-07-08"],
            "ill": ["flu", "flu", "cold", "flu"],
            "weight": [50.5, 61.0, 72.0, 83.0],
        } | columns
        settings = EvaluationPolicy(queries=queries)
        return SqlQueries().compute(Comparison(patients, pa.table(published), settings=settings))

    return ask


def test_aggregates_by_hand(asked):
    found = asked(
        {
            # 6 in the original, 4 here.
            "count": "SELECT count(*) FROM data",
            # f 3 and m 3 against 2 and 2.
            "by sex": "SELECT sex, count(*) AS n FROM data GROUP BY sex",
            # Groups of age 20, 30, 40 with 2 each; 40 is gone.
            "decades": "SELECT floor(age / 10) * 10 AS decade, count(*) FROM data GROUP BY ALL",
            # Means of weight 64.25 and 66.625.
            "weight": "SELECT avg(weight) FROM data",
            "dates": "SELECT min(year(born)), max(year(born)) FROM data WHERE ill = 'flu'",
        }
    )
    assert found.parts["count"] == pytest.approx(1 / 3)
    assert found.parts["by sex"] == pytest.approx(1 / 3)
    assert found.parts["decades"] == pytest.approx(1 / 3)
    original, release = np.mean([50.5, 61, 72, 83, 54, 65]), np.mean([50.5, 61, 72, 83])
    assert found.parts["weight"] == pytest.approx(abs(release - original) / original)
    assert found.parts["dates"] == 0.0
    assert found.value == pytest.approx(np.mean(list(found.parts.values())))


def test_queries_of_the_paper_on_the_identity_release(asked, patients):
    whole = {
        "age": ["20", "25", "31", "38", "44", "49"],
        "sex": list("fmfmfm"),
        "born": ["2000-01-02", "1995-03-04", "1989-05-06", "1982-07-08", "1976-09-10", "1971-11-12"],
        "ill": ["flu", "flu", "cold", "flu", "cold", "gout"],
        "weight": [50.5, 61.0, 72.0, 83.0, 54.0, 65.0],
    }
    where = "WHERE sex = 'm' AND ill = 'flu' GROUP BY floor(age/5)*5"
    queries = [f"SELECT floor(age/5)*5 AS g, {what} FROM data {where}" for what in ("count(*)", "avg(weight)")]
    found = asked(queries, **whole)
    assert found.value == 0.0
    assert list(found.parts) == ["query 1", "query 2"]


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("SELECT avg(salary) FROM data", "reads 'salary', which is not published"),
        ("DROP TABLE data", "is not a SELECT statement"),
        ("COPY data TO 'x.csv'", "is not a SELECT statement"),
        ("SELECT count(*) FROM data; SELECT 1", "is not one SELECT statement"),
        ("SELEC 1", "is not SQL"),
        ("SELECT count(*) FROM read_csv('/etc/passwd')", "reaches outside of the table"),
        ("SELECT count(*) FROM elsewhere", "a table or calls a function that does not exist"),
        ("SELECT sum(CAST(ill AS INTEGER)) FROM data", "cannot be computed"),
        ("SELECT sum(ill) FROM data", "does not fit the types"),
        ("SELECT ill FROM data", "has no aggregate"),
    ],
)
def test_a_bad_query_is_left_out_and_the_others_are_measured(asked, query, reason):
    found = asked({"bad": query, "good": "SELECT count(*) FROM data"})
    assert set(found.parts) == {"good"}
    assert reason in found.skipped["bad"]
    assert not {"flu", "cold", "gout"} & set(found.skipped["bad"].replace("'", " ").split())
    alone = asked({"bad": query})
    assert isinstance(alone, Skipped)
    assert reason in alone.reason


def test_the_database_sees_no_variable_of_the_program():
    hidden = pa.table({"a": [1]})
    with connect() as connection:
        statement = read_statement(connection, "q", "SELECT count(*) FROM hidden")
        assert statement.aggregates == (True,)
        with pytest.raises(Exception, match="hidden does not exist"):
            connection.sql(statement.text)
    assert hidden.num_rows == 1


def test_without_queries_there_is_nothing_to_ask(asked):
    assert "no queries" in asked([]).reason
