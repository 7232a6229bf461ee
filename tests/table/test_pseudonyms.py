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


def pairs_left(pairs):
    """How many pairs of offsets are left, at each pair, to whoever sees the difference of the two."""
    differences = Counter(two - one for one, two in pairs)
    return [differences[two - one] for one, two in pairs]


def from_one_number(number, days):
    """A broken copy of `offset`: the window is no part of what is hashed, so that one number gives both."""
    size = 1 + number % days
    return -size if number // days % 2 else size


def test_offsets_in_two_windows_tell_nothing_of_each_other():
    """Whoever has two releases of one key, shifted in windows of 3 and 6 days, sees the difference of two offsets."""
    found = Counter((offset(KEY, "Id", str(p), 3), offset(KEY, "Id", str(p), 6)) for p in range(40_000))
    assert len(found) == 6 * 12
    expected = 40_000 / len(found)
    chi_square = sum((count - expected) ** 2 / expected for count in found.values())
    assert chi_square < 112.3  # the 0.001 quantile with 71 degrees of freedom
    assert np.mean(pairs_left(found)) > 4


def test_offsets_from_one_number_would_tell_each_other():
    pairs = {(from_one_number(d, 183), from_one_number(d, 366)) for d in range(4 * 366)}
    assert np.mean([left == 1 for left in pairs_left(pairs)]) >= 0.5
    apart = {(one, two) for one in range(-183, 184) for two in range(-366, 367) if one and two}
    assert np.mean([left == 1 for left in pairs_left(apart)]) < 0.0001


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
