"""Keyed pseudonyms and offsets: HMAC as the standard has it, offsets that are even and one a person."""

import hashlib
import hmac
from collections import Counter

import numpy as np
import pytest

from medveil.auditor.changed import days_of, digest
from medveil.errors import InputError
from medveil.table.offsets import offset
from medveil.table.pseudonyms import ReleaseKey

KEY = ReleaseKey(b"0123456789abcdef0123456789abcdef")


def test_a_pseudonym_is_the_hmac_of_its_space_and_value():
    expected = hmac.new(KEY.secret, b"pseudonym:2:Id:Jos\xc3\xa9", hashlib.sha256).hexdigest()[:32]
    assert KEY.pseudonym("Id", "José") == expected


def test_spaces_and_values_cannot_run_into_each_other():
    assert KEY.pseudonym("a:1", "b") != KEY.pseudonym("a", "1:b")
    assert KEY.pseudonym("a", "1") != KEY.pseudonym("b", "1")


def test_missing_stays_missing_and_other_keys_give_other_pseudonyms():
    other = ReleaseKey(b"f" * 32)
    assert KEY.pseudonyms("Id", ["1", None]) == [KEY.pseudonym("Id", "1"), None]
    assert other.pseudonym("Id", "1") != KEY.pseudonym("Id", "1")


def test_the_auditor_spells_hmac_out_and_finds_the_same():
    for secret in (KEY.secret, b"k" * 100):
        key = ReleaseKey(secret)
        assert digest(secret, "pseudonym", "Id", "x").hex()[:32] == key.pseudonym("Id", "x")
        assert [days_of(secret, "Id", str(i), 30) for i in range(50)] == [
            offset(key, "Id", str(i), 30) for i in range(50)
        ]


def test_offsets_are_even_over_the_window_and_never_zero():
    days, people = 5, 20_000
    counts = Counter(offset(KEY, "Id", str(person), days) for person in range(people))
    assert set(counts) == {*range(-days, 0), *range(1, days + 1)}
    expected = people / (2 * days)
    chi_square = sum((count - expected) ** 2 / expected for count in counts.values())
    assert chi_square < 27.9  # the 0.001 quantile with 9 degrees of freedom; one key, so the same figure in every run


def test_a_drawn_key_is_random_and_a_seeded_one_repeats():
    assert ReleaseKey.drawn() != ReleaseKey.drawn()
    assert ReleaseKey.drawn(np.random.default_rng(1)) == ReleaseKey.drawn(np.random.default_rng(1))
    assert "secret" not in repr(ReleaseKey.drawn())


def test_a_short_or_missing_key_file_is_refused(tmp_path):
    short = tmp_path / "key"
    short.write_text("password\n")
    with pytest.raises(InputError, match="too short"):
        ReleaseKey.read(short)
    with pytest.raises(InputError, match="cannot be opened"):
        ReleaseKey.read(tmp_path / "none")
    short.write_text("0" * 64 + "\n")
    assert ReleaseKey.read(short) == ReleaseKey(b"0" * 64, kept=True)
