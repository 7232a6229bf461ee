"""What every engine must give, against counting by hand."""

import datetime as dt
import hashlib
from collections import Counter, defaultdict
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from medveil.cells import make_cells
from medveil.engine import with_rows
from medveil.engine.links import read_links
from medveil.errors import InputError, OutputError
from medveil.sources.opening import open_source

NAMES = ("a", "A", "who")
values = st.one_of(st.none(), st.sampled_from(["x", "y", "1", "1.0", "é😀", "*", "it's", '"q"']))
tables = st.lists(st.tuples(values, values, values), min_size=1, max_size=25)
quick = settings(max_examples=25, deadline=None)


def table_of(rows, names=NAMES):
    return pa.table({name: pa.array([row[j] for row in rows], pa.string()) for j, name in enumerate(names)})


def opened(engines, rows, names=NAMES):
    return engines(open_source(table_of(rows, names)), names)


def counted(cells, width):
    return {tuple(row[f"q{j}"] for j in range(width)): row["records"] for row in cells.to_pylist()}


def ordered(rows):
    return sorted(rows, key=lambda row: [(value is None, str(value)) for value in row])


def published(publication):
    return [tuple(row.values()) for row in publication.to_arrow().to_pylist()]


@quick
@given(rows=tables)
def test_counts(engines, rows):
    with opened(engines, rows) as engine:
        assert (engine.rows, engine.columns) == (len(rows), NAMES)
        assert counted(engine.cells(NAMES), 3) == Counter(rows)
        assert engine.cells(()).to_pydict() == {"records": [len(rows)]}
        single, pair, none, again = engine.marginals([["A"], ["who", "a"], [], ["A"]])
        assert counted(single, 1) == counted(again, 1) == Counter((row[1],) for row in rows)
        assert counted(pair, 2) == Counter((row[2], row[0]) for row in rows)
        assert none.to_pydict() == {"records": [len(rows)]}
        once = sum(1 for n in Counter((row[0], row[1]) for row in rows).values() if n == 1)
        assert engine.unique_share(["a", "A"]) == pytest.approx(once / len(rows))
        assert engine.unique_share([]) == 0
        assert engine.distinct("a") == len({row[0] for row in rows} - {None})


@quick
@given(rows=tables)
def test_values_with_their_records_and_people(engines, rows):
    people = defaultdict(set)
    for a, _, who in rows:
        people[a].add(who)
    records = Counter(row[0] for row in rows)
    with opened(engines, rows) as engine:
        told = engine.values("a", "who").to_pylist()
        assert {row["value"]: row["records"] for row in told} == records
        assert {row["value"]: row["people"] for row in told} == {a: len(p - {None}) for a, p in people.items()}
        assert [row["records"] for row in told] == sorted(records.values(), reverse=True)
        plain = engine.values("a").to_pylist()
        assert {row["value"]: row["people"] for row in plain} == records
        occurrences = Counter((row[0], row[2]) for row in rows)
        told = engine.occurrences("a", "who")
        assert sorted(told["records"].to_pylist()) == sorted(occurrences.values())
        by_code, by_person = Counter(), Counter()
        for row in told.to_pylist():
            by_code[row["code"]] += row["records"]
            by_person[row["person"]] += row["records"]
        assert sorted(by_code.values()) == sorted(records.values())
        assert sorted(by_person.values()) == sorted(Counter(row[2] for row in rows).values())
        assert set(by_code) == set(range(len(records)))
        assert set(engine.occurrences("a", None)["person"].to_pylist()) == {0}


@quick
@given(rows=tables)
def test_who_is_in_each_cell(engines, rows):
    with opened(engines, rows) as engine:
        cells = engine.cells(["a", "A"])
        offsets, codes, number = engine.subjects(cells, ["a", "A"], "who")
    people = {row[2] for row in rows}
    assert number == len(people) == len(set(codes.tolist()))
    held = defaultdict(set)
    for a, other, who in rows:
        held[a, other].add(who)
    persons = defaultdict(set)
    for i, cell in enumerate(cells.to_pylist()):
        mine = codes[offsets[i] : offsets[i + 1]].tolist()
        assert len(mine) == len(set(mine)) == len(held[cell["q0"], cell["q1"]])
        for code in mine:
            persons[code].add((cell["q0"], cell["q1"]))
    expected = [frozenset(cell for cell, who in held.items() if person in who) for person in people]
    assert Counter(frozenset(cells) for cells in persons.values()) == Counter(expected)


@quick
@given(rows=tables, most=st.integers(1, 3))
def test_records_are_bounded(engines, rows, most):
    with opened(engines, rows) as engine:
        gone = engine.bound_records("who", most)
        kept = counted(engine.cells(["who"]), 1)
        everything = counted(engine.cells(NAMES), 3)
        assert counted(engine.cells(NAMES), 3) == everything, "drawn once, and not with every question"
    expected = {(who,): min(n, most) for who, n in Counter(row[2] for row in rows).items() if who is not None}
    assert kept == expected
    assert gone == len(rows) - sum(expected.values())
    assert all(n <= Counter(rows)[row] for row, n in everything.items())


def labelled(cells, kept_every):
    """A label for each cell, and which cells are kept."""
    labels = [pa.array([f"{j}:{row[f'q{j}']}" for row in cells.to_pylist()]) for j in range(2)]
    return labels, np.arange(len(cells)) % kept_every != 0


@quick
@given(rows=tables, stars=st.booleans(), with_plain=st.booleans(), kept_every=st.integers(2, 4))
def test_records_are_published_with_the_labels_of_their_cells(engines, rows, stars, with_plain, kept_every):
    plain = ("who",) if with_plain else ()
    with opened(engines, rows) as engine:
        cells = engine.cells(["a", "A"])
        labels, kept = labelled(cells, kept_every)
        number = pa.array(np.arange(len(cells)))
        beside = pa.table({"class": [7], "a": ["p"], "A": ["q"], **{name: ["r"] for name in plain}})
        made = {"class": number.cast(pa.int64())}
        simple = engine.publish(cells, ["a", "A"], labels, kept, plain, stars=stars)
        full = engine.publish(cells, ["a", "A"], labels, kept, plain, made=made, beside=beside)
        told, told_full = published(simple), published(full)
        assert simple.names == ("a", "A", *plain)
        assert full.names == ("class", "a", "A", *plain)
        assert (simple.rows, full.rows) == (len(told), len(told_full))
    place = {(row["q0"], row["q1"]): i for i, row in enumerate(cells.to_pylist())}
    expected, with_class = [], [(7, "p", "q", *(["r"] if with_plain else []))]
    for a, other, who in rows:
        i = place[a, other]
        shown = (labels[0][i].as_py(), labels[1][i].as_py(), *([who] if with_plain else []))
        if kept[i]:
            expected.append(shown)
            with_class.append((i, *shown))
        elif stars:
            expected.append(("*",) * len(shown))
    assert told == ordered(expected), "sorted by what is published"
    assert ordered(told_full) == ordered(with_class)


@quick
@given(rows=tables, kept_every=st.integers(2, 4))
def test_links_tell_what_became_of_each_record(engines, tmp_path_factory, rows, kept_every):
    path = tmp_path_factory.mktemp("links") / "links.parquet"
    with opened(engines, rows) as engine:
        cells = engine.cells(["a", "A"])
        labels, kept = labelled(cells, kept_every)
        engine.write_links(cells, ["a", "A"], labels, kept, path)
    place = {(row["q0"], row["q1"]): i for i, row in enumerate(cells.to_pylist())}
    links = read_links(path)
    of_row = [place[a, other] for a, other, _ in rows]
    assert links.kept.tolist() == kept[of_row].tolist()
    expected = {name: label.take(of_row).to_pylist() for name, label in zip(("a", "A"), labels, strict=True)}
    assert links.labels.to_pydict() == expected


@quick
@given(rows=tables, counts=st.lists(st.integers(0, 3), min_size=25, max_size=25))
def test_tables_are_published_as_they_are_or_expanded(engines, rows, counts):
    numbers = np.array(counts[: len(rows)], dtype=np.int64)
    with opened(engines, rows) as engine:
        assert published(engine.publish_table(table_of(rows))) == ordered(rows)
        expanded = [row for row, n in zip(rows, numbers, strict=True) for _ in range(n)]
        assert published(engine.expand(table_of(rows), numbers)) == ordered(expanded)


@quick
@given(rows=tables, chosen=st.lists(st.integers(0, 24), max_size=10))
def test_records_one_by_one(engines, rows, chosen):
    with opened(engines, rows) as engine:
        if not engine.has_rows:
            with pytest.raises(InputError, match="one by one"):
                with_rows(engine)
            return
        by_row = with_rows(engine)
        assert list(zip(*by_row.texts(NAMES).to_pydict().values(), strict=True)) == rows
        codes = by_row.codes("a")
        assert [codes.dictionary[i].as_py() for i in codes.indices.to_pylist()] == [row[0] for row in rows]
        marks = by_row.marks(["a", "A"]).tolist()
        apart = {(mark, row[:2]) for mark, row in zip(marks, rows, strict=True)}
        assert len(set(marks)) == len(apart) == len({row[:2] for row in rows})
        lines = np.array([i % len(rows) for i in chosen], dtype=np.int64)
        taken = by_row.take(lines, ["who", "a"]).to_pydict()
        assert taken == {"who": [rows[i][2] for i in lines], "a": [rows[i][0] for i in lines]}
        cells = engine.cells(["who"])
        of_row = by_row.cell_of_row(cells, ["who"]).tolist()
        assert [cells["q0"][i].as_py() for i in of_row] == [row[2] for row in rows]
        kept = np.arange(len(rows)) % 3 != 1
        labels = [pa.array([str(i % 2) for i in range(len(rows))])]
        shown = by_row.publish_rows(["n"], labels, kept, ["A"], stars=True)
        expected = [(str(i % 2), row[1]) if kept[i] else ("*", "*") for i, row in enumerate(rows)]
        assert published(shown) == ordered(expected)


@pytest.mark.parametrize("file_format", ["csv", "parquet"])
def test_publications_are_written(engines, tmp_path, file_format):
    rows = [("b", None, "1"), ("a", 'say "x", y', "2"), (None, "é\n😀", "3"), ("a", "", "4")]
    with opened(engines, rows) as engine:
        publication = engine.publish_table(table_of(rows))
        parts = publication.write(tmp_path, file_format)
        expected = published(publication)
        with pytest.raises(OutputError, match="cannot be written"):
            publication.write(tmp_path / "nowhere", file_format)
    read = []
    for part in parts:
        path = tmp_path / part.name
        assert hashlib.sha256(path.read_bytes()).hexdigest() == part.sha256
        table = read_part(path)
        assert table.column_names == list(NAMES)
        assert table.num_rows == part.rows
        read += [tuple(row.values()) for row in table.to_pylist()]
    assert read == expected
    names = [part.name for part in parts]
    assert names == [f"release.{file_format}"] or all(name.startswith("release/") for name in names)


def read_part(path):
    if path.suffix == ".parquet":
        return pa.parquet.read_table(path)
    return pa.csv.read_csv(
        path,
        parse_options=pa.csv.ParseOptions(newlines_in_values=True),
        convert_options=pa.csv.ConvertOptions(
            column_types=dict.fromkeys(NAMES, pa.string()),
            strings_can_be_null=True,
            null_values=[""],
            quoted_strings_can_be_null=False,
        ),
    )


def test_nothing_is_published_with_its_header(engines, tmp_path):
    with opened(engines, [("x", "y", "z")]) as engine:
        empty = engine.expand(table_of([("x", "y", "z")]), np.zeros(1, dtype=np.int64))
        assert empty.rows == 0
        (part,) = empty.write(tmp_path, "csv")
        assert part.rows == 0
    assert (tmp_path / part.name).read_text(encoding="utf-8") == "a,A,who\n"


def test_typed_values_become_texts_alike(engines):
    table = pa.table(
        {
            "whole": pa.array([1, -20, None]),
            "float": pa.array([1.0, 0.1, float("nan")]),
            "large": pa.array([1e20, 1.5e-7, None]),
            "date": pa.array([dt.date(2024, 2, 29), dt.date(1, 1, 1), None]),
            "time": pa.array([dt.datetime(2024, 2, 29, 13, 5), dt.datetime(1999, 12, 31), None]),  # noqa: DTZ001
            "truth": pa.array([True, False, None]),
            "decimal": pa.array([Decimal("1.50"), Decimal("-0.25"), None]),
            "word": pa.array(["x", " x ", "?"]).dictionary_encode(),
        }
    )
    expected = {
        "whole": {"1", "-20", None},
        "float": {"1.0", "0.1", None},
        "large": {"1e+20", "1.5e-07", None},
        "date": {"2024-02-29", "0001-01-01", None},
        "time": {"2024-02-29 13:05:00", "1999-12-31 00:00:00", None},
        "truth": {"true", "false", None},
        "decimal": {"1.50", "-0.25", None},
        "word": {"x", None},
    }
    with engines(open_source(table, missing=["?"]), table.column_names) as engine:
        for name, texts in expected.items():
            assert set(engine.values(name)["value"].to_pylist()) == texts, name


def test_a_profile_does_not_depend_on_the_order_of_rows(engines):
    rows = [(str(i % 700), None if i % 5 else "x y", "p") for i in range(2000)]
    with opened(engines, rows) as first, opened(engines, rows[::-1]) as second:
        profile = first.profile("a")
        assert profile == second.profile("a")
        assert (profile.rows, profile.distinct, profile.missing) == (2000, 700, 0)
        assert set(profile.sample) <= {row[0] for row in rows}
        assert first.profile("A").missing == 1600


def test_what_was_read_can_be_read_again(engines):
    rows = [("1", None, "é"), ("2", "x", None)]
    with opened(engines, rows) as engine, opened(engines, rows) as same, opened(engines, rows[::-1]) as other:
        snapshot = engine.snapshot
        assert snapshot.sha256 == same.snapshot.sha256 != other.snapshot.sha256
        with engines(snapshot.source, ("who", "a")) as again:
            assert counted(again.cells(("who", "a")), 2) == {("é", "1"): 1, (None, "2"): 1}
        engine.bound_records("who", 1)
        assert engine.snapshot.sha256 == snapshot.sha256, "what was read, not what was kept of it"


def test_an_empty_table_is_refused_unless_it_may_be(engines):
    nothing = table_of([])
    with pytest.raises(InputError, match="no records"):
        engines(open_source(nothing), NAMES)
    with engines(open_source(nothing), NAMES, may_be_empty=True) as engine:
        assert engine.rows == 0
        assert len(engine.cells(NAMES)) == 0


@quick
@given(rows=tables)
def test_cells_may_come_back_as_codes(engines, rows):
    """Texts in dictionaries, which is how cells travel from an engine that is elsewhere."""
    columns = ["a", "A"]
    with opened(engines, rows) as engine:
        cells = engine.cells(columns)
        coded = pa.table(
            [column.combine_chunks().dictionary_encode() for column in cells.columns[:2]] + [cells["records"]],
            names=cells.column_names,
        )
        labels = [pa.array([f"{i}" for i in range(len(cells))])] * 2
        kept = np.arange(len(cells)) % 2 == 0
        plain = [engine.publish(given, columns, labels, kept, ["who"]) for given in (cells, coded)]
        assert published(plain[0]) == published(plain[1])
        first, again = (make_cells(given, ["a"], ["A"], dict.fromkeys(columns)) for given in (cells, coded))
        assert first.domains == again.domains
        assert np.array_equal(first.codes, again.codes)
        assert np.array_equal(first.sensitive["A"], again.sensitive["A"])
