"""Exact sampling on integers: what differential privacy needs and OpenDP has not.

A probability p is a real number that can be enclosed as narrowly as one likes. An event of probability p happens
where a uniform U < p, and U is known bit by bit: 64 bits of U are compared with 64 bits of p, and only where they
are equal (once in 2^64 draws) further bits of both are looked at. No probability is ever rounded, so what is sampled
has the distribution of the formula and not one near it. Floating-point numbers take no part.

Canonne, Kamath and Steinke 2020, The discrete Gaussian for differential privacy, show why rounding matters; the
comparison of bits is that of Knuth and Yao 1976, The complexity of nonuniform random number generation.
"""

from __future__ import annotations

import decimal
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]
Interval = tuple[Decimal, Decimal]

WORD = 64
MOST_PLACES = 2**61
_MOST_DIGITS = 100_000
"""Digits at which a probability is taken for one whose bits end, which those used here have not."""


class Randomness(Protocol):
    """Where uniform words come from."""

    def words(self, count: int) -> Words:
        """`count` independent uniform words of 64 bits."""
        ...


class SystemRandomness:
    """The operating system's cryptographic random numbers."""

    def words(self, count: int) -> Words:
        return np.frombuffer(os.urandom(8 * count), dtype=np.uint64)


SYSTEM = SystemRandomness()


@dataclass(frozen=True)
class Probability:
    """A number in [0, 1] by its enclosures: `enclose(digits)` is an interval that holds it and narrows with digits."""

    enclose: Callable[[int], Interval]

    def bits(self, count: int) -> int:
        """floor(p * 2^count), exactly."""
        digits = count // 3 + 30
        while digits < _MOST_DIGITS:
            low, high = (_floor_shifted(end, count, digits) for end in self.enclose(digits))
            if low == high:
                return low
            digits *= 2
        raise ArithmeticError("The bits of a probability cannot be told apart.")

    def powers(self, number: int) -> list[Probability]:
        """The numbers p, p^2, p^4, ..., p^(2^(number - 1))."""

        def power(times: int) -> Probability:
            return Probability(lambda digits: _squared(self.enclose(digits + times), times, digits))

        return [power(times) for times in range(number)]

    def odds(self) -> Probability:
        """The number p / (1 + p)."""
        return Probability(lambda digits: _odds(self.enclose(digits), digits))

    def complement(self) -> Probability:
        """1 - p."""

        def enclose(digits: int) -> Interval:
            low, high = self.enclose(digits)
            return _down(digits).subtract(Decimal(1), high), _up(digits).subtract(Decimal(1), low)

        return Probability(enclose)


def exponential(rate: Fraction) -> Probability:
    """exp(-rate) for a rational rate > 0."""

    def enclose(digits: int) -> Interval:
        numerator, denominator = Decimal(-rate.numerator), Decimal(rate.denominator)
        low = _down(digits).exp(_down(digits).divide(numerator, denominator))
        high = _up(digits).exp(_up(digits).divide(numerator, denominator))
        # exp is rounded to the nearest whatever the context says: one step outwards encloses it again.
        return _down(digits).next_minus(low), _up(digits).next_plus(high)

    return Probability(enclose)


def tail(rate: Fraction, threshold: int) -> Probability:
    """P[X >= threshold] = a^threshold / (1 + a) for two-sided geometric X, a = exp(-rate), threshold >= 1."""

    def enclose(digits: int) -> Interval:
        low, high = exponential(rate).enclose(digits)
        power_low, power_high = exponential(rate * threshold).enclose(digits)
        one = Decimal(1)
        return (
            _down(digits).divide(power_low, _up(digits).add(one, high)),
            _up(digits).divide(power_high, _down(digits).add(one, low)),
        )

    return Probability(enclose)


def bernoulli(probability: Probability, count: int, randomness: Randomness = SYSTEM) -> NDArray[np.bool_]:
    """`count` independent events of this probability."""
    digits = np.array([[probability.bits(WORD)]], dtype=np.uint64)
    return np.asarray(_happens([probability], digits, randomness.words(count)[None, :], randomness)[0])


@dataclass(frozen=True)
class Geometric:
    """G >= 0 with P[G >= g] = base^g, for one base and as often as asked.

    Its bits are independent: with q the base, bit k is 1 with odds q^(2^k) : 1, and G is at least 2^K with probability
    q^(2^K) (multiply the odds over any pattern of K bits: (1 - q) q^g / (1 - q^(2^K)) comes out). So a draw is K
    events below 2^K, and one more for being beyond.
    """

    base: Probability
    bits: int
    """K."""

    @classmethod
    def unlimited(cls, base: Probability) -> Geometric:
        """With so many bits that a draw is seldom beyond them."""
        return cls(base, next(k for k, power in enumerate(base.powers(60), start=0) if power.bits(WORD) < 2**44))

    @cached_property
    def _events(self) -> list[Probability]:
        powers = self.base.powers(self.bits + 1)
        return [*(power.odds() for power in powers[:-1]), powers[-1]]

    @cached_property
    def _words(self) -> Words:
        return np.array([[event.bits(WORD)] for event in self._events], dtype=np.uint64)

    def below(self, count: int, randomness: Randomness = SYSTEM) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """`count` independent draws given that they are below 2^K, and which of them are beyond instead."""
        words = randomness.words((self.bits + 1) * count).reshape(self.bits + 1, count)
        happened = _happens(self._events, self._words, words, randomness)
        values = np.zeros(count, dtype=np.int64)
        for k in range(self.bits):
            values |= happened[k].astype(np.int64) << k
        return values, happened[-1]

    def draw(self, count: int, randomness: Randomness = SYSTEM) -> NDArray[np.int64]:
        """`count` independent draws."""
        values = np.zeros(count, dtype=np.int64)
        unfinished = np.arange(count)
        while len(unfinished):
            drawn, beyond = self.below(len(unfinished), randomness)
            # A geometric variable has no memory: from 2^K on it begins anew.
            values[unfinished] += np.where(beyond, 1 << self.bits, drawn)
            unfinished = unfinished[beyond]
        return values


class Hits:
    """Which of `places` independent places are hit, each with the same probability.

    The gap before the next hit is geometric, P[gap >= g] = (1 - p)^g, so that places without a hit cost nothing.
    """

    def __init__(self, probability: Probability, places: int) -> None:
        if not 0 <= places < MOST_PLACES:
            raise ValueError("There must be fewer than 2^61 places.")
        self.places = places
        # 2^K > places: a gap beyond the ladder is beyond the last place.
        self._gap = Geometric(probability.complement(), max(places.bit_length(), 1))

    def draw(self, randomness: Randomness = SYSTEM) -> NDArray[np.int64]:
        """The places that are hit, ascending."""
        found = [np.zeros(0, dtype=np.int64)]
        position, batch = -1, 16
        while True:
            gaps, beyond = self._gap.below(batch, randomness)
            # The first position that is not a place ends the draw. It is still below 2^63, because both what comes
            # before it and one gap are; what the sum does after that does not matter.
            positions = position + np.cumsum(gaps + 1)
            over = beyond | (positions >= self.places)
            if over.any():
                found.append(positions[: int(np.argmax(over))])
                return np.concatenate(found)
            found.append(positions)
            position, batch = int(positions[-1]), min(2 * batch, 1 << 17)


def _happens(
    probabilities: Sequence[Probability], digits: Words, words: Words, randomness: Randomness
) -> NDArray[np.bool_]:
    """Whether U < p, row by row; `digits` are the first 64 bits of each p, `words` those of each U."""
    happened = words < digits
    for row, column in np.argwhere(words == digits).tolist():
        happened[row, column] = _undecided(probabilities[row], randomness)
    return np.asarray(happened, dtype=np.bool_)


def _undecided(probability: Probability, randomness: Randomness) -> bool:
    """Whether U < p where the first 64 bits of both are the same: the next 64 decide, or those after them."""
    known = WORD
    while True:
        known += WORD
        digits = probability.bits(known) % 2**WORD
        word = int(randomness.words(1)[0])
        if word != digits:
            return bool(word < digits)


@lru_cache(maxsize=256)
def _down(digits: int) -> decimal.Context:
    return _context(digits, ROUND_FLOOR)


@lru_cache(maxsize=256)
def _up(digits: int) -> decimal.Context:
    return _context(digits, ROUND_CEILING)


def _context(digits: int, rounding: str) -> decimal.Context:
    quiet = [decimal.Overflow, decimal.InvalidOperation, decimal.DivisionByZero]
    return decimal.Context(prec=digits, rounding=rounding, Emin=decimal.MIN_EMIN, Emax=decimal.MAX_EMAX, traps=quiet)


def _squared(interval: Interval, times: int, digits: int) -> Interval:
    low, high = interval
    for _ in range(times):
        low, high = _down(digits + times).multiply(low, low), _up(digits + times).multiply(high, high)
    return max(low, Decimal(0)), high


def _odds(interval: Interval, digits: int) -> Interval:
    low, high = interval
    one = Decimal(1)
    return (
        _down(digits).divide(low, _up(digits).add(one, low)),
        _up(digits).divide(high, _down(digits).add(one, high)),
    )


def _floor_shifted(number: Decimal, bits: int, digits: int) -> int:
    """floor(number * 2^bits): the product is exact where the context has room for all its digits."""
    room = decimal.Context(
        prec=2 * digits + bits + 10, rounding=ROUND_FLOOR, Emin=decimal.MIN_EMIN, Emax=decimal.MAX_EMAX
    )
    return int(room.multiply(number, Decimal(2**bits)).to_integral_value(ROUND_FLOOR, context=room))
