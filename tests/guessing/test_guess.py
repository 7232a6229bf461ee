from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from medveil.guessing.column_profile import ColumnProfile, profile
from medveil.guessing.guess import Guess, guess
from medveil.hierarchy.intervals import Intervals
from medveil.table.schema import Kind, Role

LETTERS = string.ascii_uppercase


def many(form: str, count: int = 60) -> list[str]:
    """Values of one form, each its own: {} is filled with numbers of four digits that do not follow each other."""
    return [form.format(1000 + 7919 * i % 9000) for i in range(count)]


def names(count: int = 60) -> list[str]:
    vowels = "aeiou"
    return [f"{LETTERS[i % 26]}{vowels[i % 5]}n{vowels[i // 5 % 5]} Mar{LETTERS[i % 26].lower()}" for i in range(count)]


# name, values, role, kind, concept
BY_NAME = [
    ("patient_name", names(), Role.IDENTIFIER, "name"),
    ("Nachname", ["Müller", "Schmidt", "Weber"] * 9, Role.IDENTIFIER, "name"),
    ("prénom", ["Anne", "Luc", "Zoé"] * 9, Role.IDENTIFIER, "name"),
    ("apellidos", ["García", "López", "Ruiz"] * 9, Role.IDENTIFIER, "name"),
    ("homeAddress", many("{} Elm"), Role.IDENTIFIER, "address"),
    ("Straße", many("Weg {}"), Role.IDENTIFIER, "address"),
    ("custphone", many("55{}"), Role.IDENTIFIER, "phone"),
    ("Telefonnummer", many("030 {}"), Role.IDENTIFIER, "phone"),
    ("fax_no", many("1{}"), Role.IDENTIFIER, "fax"),
    ("E-Mail", many("a{} at home"), Role.IDENTIFIER, "mail"),
    ("SSN", many("{}"), Role.IDENTIFIER, "social-security"),
    ("numéro_sécurité_sociale", many("1{}"), Role.IDENTIFIER, "social-security"),
    ("MRN", many("{}"), Role.IDENTIFIER, "record"),
    ("insurance_number", many("K{}"), Role.IDENTIFIER, "plan"),
    ("Kontonummer", many("{}"), Role.IDENTIFIER, "account"),
    ("drivers_license", many("B{}"), Role.IDENTIFIER, "licence"),
    ("Kennzeichen", many("B-{}"), Role.IDENTIFIER, "vehicle"),
    ("implant_serial_number", many("S{}"), Role.IDENTIFIER, "device"),
    ("website", many("home{}"), Role.IDENTIFIER, "url"),
    ("ip_address", many("10.{}"), Role.IDENTIFIER, "ip"),
    ("fingerprint_template", many("f{}"), Role.IDENTIFIER, "biometric"),
    ("photo", many("p{}"), Role.IDENTIFIER, "photo"),
    ("hadm_id", many("{}"), Role.IDENTIFIER, "stay"),
    ("zip", ["10115", "20095", "80331"] * 9, Role.QUASI, "zip"),
    ("PLZ", ["10115", "20095", "80331"] * 9, Role.QUASI, "zip"),
    ("ciudad", ["Lima", "Quito"] * 20, Role.QUASI, "place"),
    ("Geschlecht", ["m", "w"] * 20, Role.QUASI, "sex"),
    ("Familienstand", ["ledig", "verheiratet"] * 20, Role.QUASI, "marital"),
    ("length_of_stay", many("{}", 9) * 3, Role.QUASI, "care"),
    ("surgery", ["yes", "no"] * 20, Role.QUASI, "care"),
    ("Diagnose", ["A", "B", "C"] * 9, Role.SENSITIVE, "diagnosis"),
    ("maladie_principale", ["A", "B", "C"] * 9, Role.SENSITIVE, "diagnosis"),
    ("tratamiento", ["A", "B", "C"] * 9, Role.SENSITIVE, "drug"),
    ("atorvastatin", ["yes", "no"] * 20, Role.SENSITIVE, "drug"),
    ("HbA1c", many("{}", 9) * 3, Role.SENSITIVE, "result"),
    ("Einkommen", many("{}", 9) * 3, Role.SENSITIVE, "income"),
    ("SexOrientation", ["a", "b"] * 20, Role.SENSITIVE, "conduct"),
    ("drug_name", ["a", "b", "c"] * 9, Role.SENSITIVE, "drug"),
    ("unit", ["mg", "ml"] * 20, Role.PLAIN, "technical"),
]


@pytest.mark.parametrize(("name", "values", "role", "concept"), BY_NAME, ids=[case[0] for case in BY_NAME])
def test_names_of_four_languages(name, values, role, concept):
    found = guess(profile(name, values))
    assert (found.role, found.concept if role is not Role.PLAIN else "technical") == (role, concept)


BY_VALUE = [
    ("mail", "F", [f"p{i}@example.org" for i in range(40)]),
    ("url", "N", [f"https://example.org/{i}" for i in range(40)]),
    ("ip", "O", [f"192.0.2.{i}" for i in range(40)]),
    ("ip", "O", [f"2001:db8::{i}" for i in range(40)]),
    ("social-security", "G", [f"9{i:02d}-{i + 10}-{i + 1000}" for i in range(40)]),
    ("phone", "D", [f"(555) 010-{i + 1000}" for i in range(40)]),
    ("phone", "D", [f"+49 30 {i + 1000} {i + 100}" for i in range(40)]),
    ("uuid", "R", [f"{i:08x}-0000-4000-8000-{i:012x}" for i in range(40)]),
    ("hash", "R", [f"{i:064x}" for i in range(40)]),
    ("device", "M", [f"(01){i:014d}(21)5" for i in range(40)]),
    ("device", "M", [f"00:00:5e:00:53:{i:02x}" for i in range(40)]),
    ("account", "J", ["DE89370400440532013000", "GB29NWBK60161331926819", "FR1420041010050500013M02606"]),
    ("account", "J", ["4539 5787 6362 1486", "4111111111111111", "5500005555555559"]),
    ("vehicle", "L", [f"1HGCM82633A{i:06d}" for i in range(40)]),
    ("photo", "Q", [f"face {i}.jpg" for i in range(40)]),
    ("address", "B", [f"{i} Long Hill Road" for i in range(40)]),
    ("address", "B", [f"Lange Straße {i}" for i in range(40)]),
    ("name", "A", names()),
    ("unique", "R", many("X{}")),
]


@pytest.mark.parametrize(("concept", "letter", "values"), BY_VALUE, ids=[f"{c[0]}-{i}" for i, c in enumerate(BY_VALUE)])
def test_identifiers_by_pattern_under_a_name_that_says_nothing(concept, letter, values):
    found = guess(profile("v17", values))
    assert (found.role, found.concept) == (Role.IDENTIFIER, concept)
    assert f"HIPAA identifier {letter}" in found.reason


def test_a_few_identifiers_within_a_column_are_worth_a_warning():
    found = guess(profile("unit", ["mg", "ml"] * 30 + ["ask a@example.org"] + ["b@example.org"]))
    assert found.role is Role.QUASI
    assert "some of its values look like mail addresses" in found.reason


def test_patient_numbers_that_repeat_are_the_subject():
    assert guess(profile("patient_id", many("{}") * 2)).role is Role.SUBJECT
    assert guess(profile("patient_id", many("{}"))).role is Role.IDENTIFIER
    assert guess(profile("ID", many("{}") * 2)).role is Role.SUBJECT
    assert guess(profile("encounter_id", many("{}") * 2)).role is Role.IDENTIFIER


def test_a_key_stays_an_identifier_whatever_it_is_the_key_of():
    assert guess(profile("condition_era_id", many("{}"))).role is Role.IDENTIFIER
    assert guess(profile("condition_concept_id", many("{}"))).role is Role.SENSITIVE
    assert guess(profile("admission_type_id", [str(i % 8) for i in range(400)])).role is Role.QUASI


def test_a_flag_about_an_identifier_is_none_but_one_name_in_all_records_is():
    assert guess(profile("has_phone", ["yes", "no"] * 30)).role is Role.QUASI
    assert guess(profile("patient_name", ["Ann Lee"] * 30)).role is Role.IDENTIFIER


@pytest.mark.parametrize(
    ("name", "values", "kind"),
    [
        ("flag", ["0", "1"] * 30, Kind.CATEGORY),
        ("grade_code", ["1", "2", "3", "4"] * 30, Kind.CATEGORY),
        ("cp", ["1", "2", "3", "4"] * 30, Kind.CATEGORY),
        ("age", [str(i) for i in range(18, 70)], Kind.NUMBER),
        ("age", ["20", "30", "40"] * 30, Kind.NUMBER),
        ("ward_number", ["007", "012", "101"] * 30, Kind.CODE),
        ("zip", ["10115", "20095", "80331"] * 30, Kind.CODE),
        ("dose", ["0.5", "1", "1.5", "2e1"] * 30, Kind.NUMBER),
        ("icd10", ["I64", "J00", "K05.1"] * 30, Kind.CODE),
        ("diag_1", ["250.83", "276", "401"] * 30, Kind.CODE),
        ("born", ["1980-01-31", "1999-12-01"] * 30, Kind.DATE),
        ("born", ["31.01.1980", "1.12.1999"] * 30, Kind.DATE),
        ("age", ["[0-10)", "[10-20)"] * 30, Kind.CATEGORY),
        ("colour", ["red", "green"] * 30, Kind.CATEGORY),
        ("nothing", [None] * 30, Kind.CATEGORY),
    ],
)
def test_kinds(name, values, kind):
    assert guess(profile(name, values)).kind is kind


def test_seven_digits_are_not_dates():
    assert guess(profile("v", ["1980131", "2001112", "1999101"] * 20)).kind is not Kind.DATE


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (["1980-01-31", "31.01.1980", "02/28/1999"] * 10, "several formats"),
        (["31 janvier 1980", "13 juin 1999", "28 mai 2001"] * 10, "no single format"),
    ],
)
def test_mixed_date_formats_are_recognised_and_warned_of(values, words):
    found = guess(profile("admitted", values))
    assert (found.role, found.kind, found.concept) == (Role.QUASI, Kind.CATEGORY, "mixed-dates")
    assert "Warning" in found.reason
    assert words in found.reason


def test_dates_of_birth_are_named_as_such():
    assert guess(profile("Geburtsdatum", ["1980-01-31", "1999-12-01"] * 30)).reason.startswith("Dates of birth")
    assert guess(profile("aufnahme", ["1980-01-31", "1999-12-01"] * 30)).reason.startswith("Dates: HIPAA identifier C")


def test_ages_over_89():
    old = guess(profile("age", [str(age) for age in range(100)]))
    assert "there are ages over 89" in old.reason
    assert old.hierarchy == Intervals(domain=(0, 99), widths=(5, 10, 20, 40), top=90)
    young = guess(profile("age", [str(age) for age in range(60)]))
    assert "should there be any" in young.reason
    assert young.hierarchy == Intervals(domain=(0, 99), widths=(5, 10, 20, 40))


def test_free_text_is_refused():
    notes = [f"Patient came in on a walk with pain in the left knee number {i}" for i in range(40)]
    for name in ("notes", "v17", "diagnosis_text"):
        found = guess(profile(name, notes))
        assert found.free_text
        assert found.role is Role.IDENTIFIER
        assert "refused unless the policy insists" in found.reason
    repeated = ["Acute bronchitis of the lower airways (disorder)", "Fracture of the left ankle bone (disorder)"] * 50
    assert not guess(profile("condition", repeated)).free_text


@pytest.mark.parametrize(
    "codes",
    [
        ["I64", "J00", "K05", "E11", "M54", "I10"],
        ["73211009", "38341003", "195967001", "13645005", "22298006"],
        ["4548-4", "718-7", "2345-7", "2160-0", "29463-7"],
    ],
    ids=["icd", "snomed", "loinc"],
)
def test_clinical_codes_by_their_form_and_check_digits(codes):
    assert guess(profile("v17", codes * 20)).role is Role.SENSITIVE


def test_wrong_check_digits_are_no_clinical_codes():
    codes = ["73211008", "38341001", "195967007", "13645009", "22298008"]
    assert guess(profile("v17", codes * 20)).role is Role.QUASI


def test_what_says_nothing_is_treated_with_caution():
    assert guess(profile("v17", ["a", "b", "c"] * 20)).role is Role.QUASI
    assert guess(profile("v17", ["a"] * 40)).role is Role.PLAIN
    assert guess(profile("v17", ["a"] * 3)).role is Role.QUASI
    assert guess(profile("v17", [f"{i / 7:.5f}" for i in range(90)])).role is Role.QUASI
    assert guess(ColumnProfile("v17", 0, 0, 0, ())).role is Role.PLAIN


def test_numbers_with_a_marker_among_them():
    found = guess(profile("weight", [str(i) for i in range(50, 80)] + ["?"]))
    assert found.kind is Kind.CATEGORY
    assert "All but 1 of its distinct values are numbers" in found.reason


CANARY = "qzxcanaryjw"
FORMS = ["{}", "{} {} {} {} {} {}", "{}@example.org", "https://{}.org", "1 {} Road", "{}1"]
CELLS = st.none() | st.text(max_size=12) | st.integers().map(str) | st.dates().map(str)


@given(
    name=st.sampled_from(["v17", "age", "notes", "zip", "diagnosis", "patient_id", "name", "born", "salary"]),
    values=st.lists(
        st.sampled_from(["{}", "{} {} {} {} {} {}", "{}@example.org", "https://{}.org", "1 {} Road", "{}1"]), min_size=1
    ),
    repeat=st.integers(1, 30),
)
def test_no_reason_ever_holds_a_value(name, values, repeat):
    texts = [value.replace("{}", f"{CANARY}{i}") for i, value in enumerate(values)] * repeat
    found = guess(profile(name, texts))
    assert isinstance(found, Guess)
    assert CANARY not in found.reason + repr(found.hierarchy) + found.concept


@given(
    st.text(), st.lists(st.none() | st.text(max_size=12) | st.integers().map(str) | st.dates().map(str), max_size=40)
)
def test_any_column_gets_a_guess_with_a_reason(name, values):
    found = guess(profile(name, values))
    assert found.reason.endswith(".")
    assert not found.free_text or found.role is Role.IDENTIFIER


@given(st.lists(st.sampled_from(["a", "b", "3", "2020-01-01", None]), max_size=30), st.randoms())
def test_the_order_of_rows_does_not_matter(values, random):
    mixed = values.copy()
    random.shuffle(mixed)
    assert guess(profile("v17", mixed)) == guess(profile("v17", values))
