"""One offset a person: all dates of somebody move by the same number of days, so that intervals survive.

    offset = 1 + d mod days, or its negative where d // days is odd
    d = HMAC-SHA256(secret, "offset:" days, space, person)

Every number from -days to days but 0 is equally likely, up to 2^-200. Who does not know the secret learns the offset of
nobody from those of others; who knows one true date of a person learns that person's. The window is part of what is
hashed: offsets of one person in two windows are drawn apart from each other. Were they not, that in 366 days would tell
the one in 183, and the difference of the two, which whoever has both releases sees, most people's offsets.
"""

from __future__ import annotations

import datetime as dt

from medveil.table.pseudonyms import ReleaseKey

EARLIEST, LATEST = dt.date(1800, 1, 1), dt.date(2200, 1, 1)
"""Dates beyond these stand for something else (`9999-12-31`: no end): shifted, each would tell its person's offset."""


def offset(key: ReleaseKey, space: str, person: str, days: int) -> int:
    """By how many days the dates of a person move: from -days to days, never 0.

    >>> all(1 <= abs(offset(ReleaseKey(bytes(32)), "Id", str(i), 2)) <= 2 for i in range(20))
    True
    """
    number = int.from_bytes(key.digest(f"offset:{days}", space, person))
    size = 1 + number % days
    return -size if number // days % 2 else size


def shifted(date: str, days: int) -> str:
    """A date in ISO form, so many days later.

    >>> shifted("2020-02-28", 2), shifted("2020-03-01", -1)
    ('2020-03-01', '2020-02-29')
    """
    return (dt.date.fromisoformat(date) + dt.timedelta(days=days)).isoformat()
