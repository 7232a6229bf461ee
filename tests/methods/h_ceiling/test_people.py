"""Where people live, which of their records are published, and what the planner can see."""

import ast
import importlib
import inspect

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from medveil.methods.h_ceiling.grouping import group_classes
from medveil.methods.h_ceiling.partition import at_node
from medveil.methods.h_ceiling.people import PopulatedPlaces, shared_numbers
from medveil.methods.h_ceiling.planner import seat
from medveil.methods.h_ceiling.search import Filled

visits = st.lists(
    st.tuples(st.integers(0, 9), st.sampled_from("abcd"), st.sampled_from("abcd")), min_size=1, max_size=40
)


def settled(make_residents, records):
    person = np.unique([p for p, _, _ in records], return_inverse=True)[1]
    return make_residents([record[1:] for record in records], person)


@given(visits)
def test_everybody_lives_in_the_first_of_their_places(make_residents, records):
    residents = settled(make_residents, records)
    names = sorted({p for p, _, _ in records})
    for number, name in enumerate(names):
        first = min(record[1:] for record in records if record[0] == name)
        codes = residents.crowd.codes[:, residents.home[number]]
        assert "".join("abcd"[code] for code in codes) == "".join(first)
    assert residents.crowd.count == len(names)


@given(visits, st.integers(0, 2), st.integers(1, 4), st.booleans())
def test_records_are_published_in_one_class_a_person(make_residents, records, level, k, shared):
    residents = settled(make_residents, records)
    partition = at_node(residents.crowd, (level, level))
    grouping = group_classes(partition, k, [0, 1], [])
    made = seat(residents, Filled(partition, grouping, 0.0, 0), k, np.random.default_rng(1), shared=shared)
    for person in range(len(residents.home)):
        assert len(set(made.class_of_line[made.person == person].tolist())) == 1
    assert len(set(made.lines.tolist())) == len(made.lines)
    for line, number in zip(made.lines.tolist(), made.class_of_line.tolist(), strict=True):
        code = residents.codes[:, residents.place_of_row[line]][:, None]
        assert partition.fits(code, np.array([made.of_partition[number]]))[0]
    several = np.append(made.classes_of_group, 0)[made.group] > 1
    for number in np.flatnonzero(several):
        assert np.count_nonzero(made.class_of_line == number) == made.people[number], "one record a person"
    if made.groups:
        assert made.people_of_group.min() >= k
    assert sorted(made.ids.tolist()) == list(range(1, len(made.of_partition) + 1))


@given(st.lists(st.integers(1, 6), min_size=1, max_size=30), st.integers(1, 6))
def test_kept_numbers_are_those_of_k_people(numbers, k):
    kept = shared_numbers(numbers, k)
    assert all(a <= b for a, b in zip(kept, numbers, strict=True))
    assert all(kept.count(number) >= min(k, len(numbers)) for number in set(kept))


SEES_NO_VALUES = ("people", "partition", "boxes", "clusters", "objective", "grouping", "search", "planner")


@pytest.mark.parametrize("name", SEES_NO_VALUES)
def test_the_planner_cannot_see_values(name):
    """C2 by type: nothing that plans imports cells, models, problems or what looks at values."""
    module = importlib.import_module(f"medveil.methods.h_ceiling.{name}")
    imported = {
        node.module for node in ast.walk(ast.parse(inspect.getsource(module))) if isinstance(node, ast.ImportFrom)
    }
    within = {f"medveil.methods.h_ceiling.{other}" for other in SEES_NO_VALUES}
    allowed = ("medveil.lattice", "medveil.codes", "medveil.loss", "medveil.hierarchy")
    own = {found for found in imported if found and found.startswith("medveil")}
    assert all(found in within or found.startswith(allowed) for found in own)
    assert set(PopulatedPlaces.__dataclass_fields__) == {"names", "hierarchies", "codes", "people"}
