"""What an engine must give that counts classes where its records are, against counting by hand."""

import math
from collections import Counter, defaultdict

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from medveil.engine.classes import Asked, with_classes
from medveil.engine.links import read_links
from medveil.sources.opening import open_source

TEXTS = ["x", "y", "it's", None]
CODES = {text: min(code, 2) for code, text in enumerate(TEXTS)}
"""Two texts are the same value, as 1 and 1.0 are."""
PAIRED = np.array([0, 0, 1], dtype=np.int32)
value, person = st.sampled_from(TEXTS), st.sampled_from(["1", "2", "3", None])
rows = st.lists(st.tuples(value, value, value, person), min_size=1, max_size=25)
quick = settings(max_examples=25, deadline=None)


@pytest.fixture(scope="module")
def opened(engines):
    def opened(records):
        table = pa.table({name: pa.array([row[j] for row in records], pa.string()) for j, name in enumerate("abcw")})
        return engines(open_source(table), tuple("abcw"))

    with opened([("x", "x", "x", "1")]) as engine:
        if with_classes(engine) is None:
            pytest.skip("the engine declares that it counts no classes")
    return opened


def coded(engine, subject):
    codes = pa.table({"value": TEXTS, "code": pa.array([CODES[text] for text in TEXTS], pa.int32())})
    return with_classes(engine).encode(["a", "b"], ["c"], [codes] * 3, subject)


def people(records, subject):
    """Everybody of some records: who they are, or every record."""
    return {row[3] for row in records} if subject else range(len(records))


def classes(records):
    found = defaultdict(list)
    for row in records:
        found[PAIRED[CODES[row[0]]], CODES[row[1]]].append(row)
    return found


GROUPS = [PAIRED, np.arange(3, dtype=np.int32)]


@quick
@given(records=rows, subject=st.sampled_from(["w", None]), k=st.integers(1, 4), distinct=st.sampled_from([{}, {0: 2}]))
def test_a_check_and_what_is_published_of_it(opened, records, subject, k, distinct, tmp_path_factory):
    holds = {
        key: len(people(found, subject)) >= k and (not distinct or len({CODES[row[2]] for row in found}) >= 2)
        for key, found in classes(records).items()
    }
    kept = [holds[PAIRED[CODES[a]], CODES[b]] for a, b, _, _ in records]
    failing = kept.count(False)
    path = tmp_path_factory.mktemp("links") / "links.parquet"
    labels = [["low", "high"], ["p", None, "r"], ["u", "v", "w"]]
    with opened(records) as engine:
        table = coded(engine, subject)
        found = table.check(GROUPS, Asked(k, distinct), len(records))
        short = table.check(GROUPS, Asked(k, distinct), failing - 1)
        least, values = table.least(GROUPS, [0])
        made = table.publish(GROUPS, Asked(k, distinct), labels, ["w"], stars=True)
        published = [tuple(row.values()) for row in made.published.to_arrow().to_pylist()]
        made.write_links(path)
    assert (found.failing, made.suppressed) == (failing, failing)
    sizes = [len(found) for key, found in classes(records).items() if holds[key]]
    assert (found.squares, found.classes) == (sum(size**2 for size in sizes), len(sizes))
    for j in range(2):
        lost = Counter(GROUPS[j][CODES[row[j]]] for row, stays in zip(records, kept, strict=True) if not stays)
        assert found.hidden[j].tolist() == [lost[group] for group in range(int(GROUPS[j].max()) + 1)]
    if failing:
        assert (short.failing, short.hidden) == (short.failing, ())
        assert short.failing >= failing
    assert least == min(len(people(found, subject)) for found in classes(records).values())
    assert values == {0: min(len({CODES[row[2]] for row in found}) for found in classes(records).values())}

    def labelled(row):
        return (labels[0][PAIRED[CODES[row[0]]]], labels[1][CODES[row[1]]], labels[2][CODES[row[2]]])

    expected = [(*labelled(row), row[3]) for row, stays in zip(records, kept, strict=True) if stays]
    assert Counter(published) == Counter([*expected, *[("*",) * 4] * failing])
    assert published == sorted(published, key=lambda row: [(text is None, text or "") for text in row])
    links = read_links(path)
    assert links.kept.tolist() == kept
    assert [tuple(row.values()) for row in links.labels.to_pylist()] == [labelled(row) for row in records]


@quick
@given(records=rows, subject=st.sampled_from(["w", None]))
def test_columns_and_pairs(opened, records, subject):
    with opened(records) as engine:
        table = coded(engine, subject)
        cross, held = table.cross(0, PAIRED, 2, PAIRED), table.people(1, PAIRED)
        sizes = Counter(dict(zip(*(found.tolist() for found in table.sizes()), strict=True)))
        assert with_classes(engine).tuples(["a", "w"]) == len({(row[0], row[3]) for row in records})
    pairs = Counter((PAIRED[CODES[row[0]]], PAIRED[CODES[row[2]]]) for row in records)
    assert cross.tolist() == [[pairs[a, c] for c in range(2)] for a in range(2)]
    for group in range(2):
        mine = [row for row in records if PAIRED[CODES[row[1]]] == group]
        assert held[group] == len(people(mine, subject))
    alike = defaultdict(list)
    for row in records:
        alike[CODES[row[0]], CODES[row[1]]].append(row)
    assert sizes == Counter(len(people(found, subject)) for found in alike.values())


@quick
@given(records=rows, subject=st.sampled_from(["w", None]), columns=st.sampled_from(["a", "ab", "abc"]))
def test_what_columns_tell(opened, records, subject, columns):
    """The bits that are lacking on average, after Longpre et al. 2017; see `medveil.risk.leakage`."""
    with opened(records) as engine:
        plain = with_classes(engine).told(list(columns), subject)
        table = coded(engine, subject).told(["abc".index(name) for name in columns])
    for found, shown in ((plain, lambda text: text), (table, CODES.get)):
        who = [row[3] for row in records] if subject else list(range(len(records)))
        number = Counter(who)
        mass = defaultdict(Counter)
        for row, one in zip(records, who, strict=True):
            mass[tuple(shown(row["abcw".index(name)]) for name in columns)][one] += 1 / number[one] / len(number)
        lacking = -sum(p * math.log2(p / held.total()) for held in mass.values() for p in held.values())
        alone = {one for held in mass.values() if len(held) == 1 for one in held}
        assert (found.values, found.unique, found.people) == (len(mass), len(alone), len(number))
        assert found.lacking == pytest.approx(lacking, abs=1e-9)


def test_an_engine_that_declares_nothing_counts_no_classes():
    assert with_classes(object()) is None
