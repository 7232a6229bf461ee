"""Table 1 of Arca and Hewett 2021, 60 people: row 7, which the print has left out, is in their Tables 4 and 6."""

from __future__ import annotations

from typing import Any

NAMES = ("Sex", "Alcohol", "Age", "Zip", "Weight", "Race", "Genetic risk")
ROWS = (
    (("F", "Med", "35", "52000", "143", "Black", "No"), 1),
    (("F", "Low", "35", "52000", "143", "Black", "No"), 3),
    (("M", "Med", "50", "53000", "166", "White", "No"), 4),
    (("M", "Low", "35", "52003", "143", "White", "No"), 1),
    (("M", "Med", "68", "52000", "190", "Hispanic", "No"), 3),
    (("M", "High", "68", "52000", "190", "Hispanic", "No"), 4),
    (("M", "Med", "44", "52003", "166", "Asian", "Hereditary Thrombophilia"), 3),
    (("F", "Low", "75", "52002", "122", "Native Hawaiian", "No"), 4),
    (("F", "Med", "35", "52003", "143", "Black", "No"), 2),
    (("F", "High", "75", "52002", "143", "White", "Hereditary Thrombophilia"), 1),
    (("M", "High", "44", "52003", "166", "Asian", "Hereditary Thrombophilia"), 3),
    (("F", "Med", "38", "52000", "166", "White", "No"), 4),
    (("F", "High", "35", "52000", "122", "American Indian", "Hereditary Thrombophilia"), 1),
    (("F", "Low", "35", "52000", "122", "American Indian", "Hereditary Thrombophilia"), 2),
    (("M", "Med", "38", "52003", "122", "White", "No"), 3),
    (("F", "Med", "22", "54004", "180", "Native Hawaiian", "No"), 3),
    (("M", "High", "20", "54000", "180", "American Indian", "L.O. Alzheimer's"), 3),
    (("M", "Low", "21", "54001", "180", "Black", "Parkinson's"), 3),
    (("F", "High", "24", "54003", "180", "Asian", "Hereditary Thrombophilia"), 3),
    (("M", "No", "25", "54000", "122", "American Indian", "Celiac"), 3),
    (("M", "No", "26", "54001", "166", "Asian", "L.O. Alzheimer's"), 3),
    (("F", "High", "23", "54003", "180", "Asian", "Parkinson's"), 3),
)
PEOPLE = tuple(values for values, count in ROWS for _ in range(count))

ATTRIBUTES: dict[str, Any] = {
    "Zip": {"role": "quasi", "type": "code", "hierarchy": {"type": "mask", "length": 5}},
    "Age": {"role": "quasi", "hierarchy": {"type": "intervals", "domain": [20, 85], "cuts": [[35, 45, 65], [45]]}},
    "Alcohol": {"role": "quasi", "hierarchy": {"type": "taxonomy", "tree": ["No", {"Yes": ["Low", "Med", "High"]}]}},
    "Genetic risk": {"role": "sensitive"},
    "Sex": {"role": "plain"},
    "Weight": {"role": "plain"},
    "Race": {"role": "plain"},
}
"""The taxonomies of Figure 2: zip digit by digit, age in four ranges, then two, alcohol no or yes."""


def table() -> dict[str, list[str]]:
    """The people, one record each."""
    return {name: [person[column] for person in PEOPLE] for column, name in enumerate(NAMES)}
