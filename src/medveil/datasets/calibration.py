"""The published answers that the generated patients are calibrated to, and the population they are drawn from.

Lee and Chung 2020, Differentially private release of medical microdata (BMC Medical Informatics and Decision Making
20:155), Tables 9 to 12, column Original: four queries over 1,361,000 records of a national patients sample, about
patients with stroke and without surgery.

An age group is printed by the age at which it ends: 5 is 0-4, 90 is 85-89 (and in Tables 11 and 12, which are by
decade, 90 is 80-89). The paper's text says so ("0-4, 5-9, ..."), and the figures leave no other reading: the men of
decade 20 stay 1.4 days in the mean, which is 14 days for the 1 + 9 men of groups 15 and 20, but cannot be a mean of
the 2 + 1 men of groups 10 and 15.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

RECORDS = 1_361_000

STROKES = {
    "F": (0, 2, 7, 8, 4, 6, 10, 26, 63, 102, 178, 231, 279, 326, 457, 525, 445, 243),
    "M": (1, 2, 1, 9, 12, 13, 27, 44, 104, 205, 341, 396, 472, 442, 430, 360, 197, 78),
}
"""Tables 10 and 9: patients with stroke and without surgery, by sex and five years of age: 0-4, 5-9, ..., 85-89."""

STROKE_DAYS = {
    "F": (3.0, 3.0, 7.7, 1.7, 2.7, 3.5, 3.5, 5.6, 8.0),
    "M": (1.0, 1.4, 2.1, 2.7, 3.4, 4.0, 3.6, 4.3, 5.8),
}
"""Tables 12 and 11: their mean length of stay in days, by sex and ten years of age: 0-9, ..., 80-89."""

PEOPLE = {
    "F": (
        1079,
        1152,
        1519,
        1615,
        1422,
        1735,
        1829,
        2039,
        2060,
        2028,
        1904,
        1405,
        1125,
        974,
        925,
        714,
        424,
        207,
        70,
        14,
    ),
    "M": (1140, 1243, 1654, 1823, 1633, 1803, 1866, 2060, 2071, 2045, 1895, 1361, 1057, 838, 641, 370, 171, 63, 17, 3),
}
"""Roughly the people of South Korea around 2010 in thousands, by sex and five years of age: 0-4, ..., 95-99."""

REGIONS = (
    ("Busan", 3415, 0.3),
    ("Daegu", 2446, 0.1),
    ("Daejeon", 1502, -0.2),
    ("Gangwon", 1472, 0.7),
    ("Gwangju", 1476, -0.2),
    ("Gyeonggi", 11379, -0.4),
    ("Incheon", 2663, -0.3),
    ("Jeju", 532, 0.2),
    ("North Chungcheong", 1512, 0.5),
    ("North Gyeongsang", 2600, 0.9),
    ("North Jeolla", 1777, 0.9),
    ("Seoul", 9794, -0.2),
    ("South Chungcheong", 2028, 0.7),
    ("South Gyeongsang", 3160, 0.4),
    ("South Jeolla", 1741, 1.2),
    ("Ulsan", 1083, -0.5),
)
"""The sixteen regions: name, roughly the people in thousands, and how much it leans towards the old (1: a person forty
years above the middle age is e times as likely to live there as the people alone say)."""


def people_by_age(sex: str) -> NDArray[np.float64]:
    """Each year's people: straight lines between the middles of the five-year groups, scaled to the groups' sums."""
    groups = np.asarray(PEOPLE[sex], dtype=np.float64)
    middles = np.arange(len(groups)) * 5.0 + 2.0
    years = np.interp(np.arange(len(groups) * 5), middles, groups).reshape(-1, 5)
    return np.asarray((years * (groups / years.sum(axis=1))[:, None]).ravel())
