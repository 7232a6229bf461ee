from __future__ import annotations

import string

import pytest

from medveil.guessing.name import Name
from medveil.guessing.values import PATTERNS, luhn, verhoeff
from medveil.guessing.words import DEMOGRAPHIC, IDENTIFIERS, QUASI, SENSITIVE
from medveil.table.schema import Role


def test_all_eighteen_hipaa_identifiers_are_known():
    letters = {concept.letter for concept in (*IDENTIFIERS, *DEMOGRAPHIC, *QUASI)} | {p.letter for p in PATTERNS}
    assert letters - {""} == set(string.ascii_uppercase[:18])


@pytest.mark.parametrize(
    ("concepts", "role"),
    [(IDENTIFIERS, Role.IDENTIFIER), (DEMOGRAPHIC, Role.QUASI), (QUASI, Role.QUASI), (SENSITIVE, Role.SENSITIVE)],
)
def test_each_list_has_one_role_and_no_concept_twice(concepts, role):
    assert {concept.role for concept in concepts} == {role}
    assert len({concept.key for concept in concepts}) == len(concepts)


def test_patterns_are_written_as_names_are_read():
    for concept in (*IDENTIFIERS, *DEMOGRAPHIC, *QUASI, *SENSITIVE):
        for pattern in concept.patterns.split():
            word = pattern.strip("*=_").replace("?", "c")
            assert Name(word).whole == word, f"{pattern} can never fit a name"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("BIRTHDATE", ("birthdate",)),
        ("patientBirthDate", ("patient", "birth", "date")),
        ("HTTPServer2Name", ("http", "server", "2", "name")),
        ("numéro_de-sécu", ("numero", "de", "secu")),
        ("", ()),
        ("___", ()),
    ],
)
def test_words(name, words):
    assert Name(name).words == words


def test_runs_fit_however_the_words_are_joined():
    for name in ("date_of_birth", "DateOfBirth", "DATEOFBIRTH", "patient date of birth"):
        assert Name(name).says("dateofbirth")
    assert not Name("first_visit").says("=first")
    assert Name("FIRST").says("=first")


@pytest.mark.parametrize("name", ["platelets", "template", "trace_element", "template_version", "surgeon_count"])
def test_words_within_words_make_no_identifier(name):
    assert Name(name).identifier is None


@pytest.mark.parametrize("check", [luhn, verhoeff])
def test_check_digits_find_every_single_wrong_digit(check):
    body = "7321100"
    right = [body + digit for digit in string.digits if check(body + digit)]
    assert len(right) == 1
    number = right[0]
    for position in range(len(number)):
        for digit in set(string.digits) - {number[position]}:
            assert not check(number[:position] + digit + number[position + 1 :])
