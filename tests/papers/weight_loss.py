"""Table 1 of Arca and Hewett 2021, 60 people: row 7, which the print has left out, is in their Tables 4 and 6."""

NAMES = ("sex", "alcohol", "age", "zip", "weight", "race", "genetic risk")
ROWS = [
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
]
PEOPLE = [values for values, count in ROWS for _ in range(count)]


def table(people=PEOPLE):
    return {name: [person[column] for person in people] for column, name in enumerate(NAMES)}


def _group(age, bounds):
    return next(f"{low}-{high}" for low, high in bounds if low <= int(age) <= high)


ZIPS = sorted({person[3] for person in PEOPLE})
AGES = sorted({person[2] for person in PEOPLE})
HIERARCHIES = {
    "zip": [{zip_code: zip_code[: 5 - level] + "*" * level for zip_code in ZIPS} for level in range(1, 6)],
    "age": [
        {age: _group(age, [(20, 34), (35, 44), (45, 64), (65, 85)]) for age in AGES},
        {age: _group(age, [(20, 44), (45, 85)]) for age in AGES},
        dict.fromkeys(AGES, "20-85"),
    ],
    "alcohol": [
        {"No": "No", "Low": "Yes", "Med": "Yes", "High": "Yes"},
        dict.fromkeys(("No", "Low", "Med", "High"), "Any"),
    ],
}
