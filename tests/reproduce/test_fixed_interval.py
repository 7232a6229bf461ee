"""The releases of which the page of the fixed-interval paper is made."""

import pytest

from medveil import anonymize
from medveil.reproduce.fixed_interval_adult import HELD, METHODS, Adult


@pytest.mark.parametrize("method", METHODS)
def test_every_method_makes_a_release_of_the_papers_columns(data_folder, method):
    """Columns that the paper publishes as they are tell people apart: the policies must insist on them."""
    adult = Adult(data_folder)
    some = adult.train.slice(0, 1000)
    for sensitive in ([], [HELD]):
        release = anonymize(some, adult.policy(5, METHODS[method], sensitive))
        assert set(release.to_arrow().column_names) >= {"fnlwgt", "occupation"}
