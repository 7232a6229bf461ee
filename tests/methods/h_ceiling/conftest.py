"""Crowds of few people, with hierarchies of one group level."""

import numpy as np
import pytest

from medveil.hierarchy.hierarchy import build
from medveil.methods.h_ceiling.people import settle

HALVES = [{"a": "ab", "b": "ab", "c": "cd", "d": "cd"}]


def residents_of(records, person=None, levels=HALVES):
    """Who lives where, of records of one letter a column."""
    width = len(records[0])
    hierarchies, codes = [], []
    for column in range(width):
        values = tuple("abcd")
        groups = [[level[value] for value in values] for level in levels]
        hierarchies.append(build(values, groups, None, float(len(values)), f"a{column}"))
        codes.append([values.index(record[column]) for record in records])
    names = tuple(f"a{column}" for column in range(width))
    whose = None if person is None else np.asarray(person, dtype=np.int64)
    return settle(names, hierarchies, np.array(codes, dtype=np.int32), whose)


@pytest.fixture(scope="session")
def make_residents():
    return residents_of
