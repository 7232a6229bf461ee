"""The ranges under which numbers are shown."""

from hypothesis import example, given
from hypothesis import strategies as st

from medveil.report.distributions import _edges
from medveil.table.schema import Kind

numbers = st.floats(allow_nan=False, allow_infinity=False)


@given(numbers, numbers)
@example(1e15, 1e15)
@example(-1e308, 1e308)
@example(0.3, 0.4)
def test_few_ranges_hold_everything_whatever_the_numbers(one, other):
    low, high = min(one, other), max(one, other)
    edges, texts = _edges(low, high, Kind.NUMBER)
    assert 2 <= len(edges) == len(texts) <= 14
    assert edges == sorted(edges)
    step = edges[1] - edges[0]
    assert edges[0] <= low + step / 2
    assert edges[-1] >= high - step / 2
