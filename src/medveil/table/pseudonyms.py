"""Keyed pseudonyms: who holds the key can make them again, and nobody else can tell what is behind one.

    pseudonym = the first 128 bits of HMAC-SHA256(secret, "pseudonym", space, value)

A *space* is what a value names, such as `patients.Id`: patient 17 and visit 17 have nothing in common. Equal values of
one space have equal pseudonyms in every table, and in every release that is made with the same secret. HMAC: Krawczyk,
Bellare and Canetti 1997, RFC 2104.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from medveil.errors import InputError

LEAST_BYTES = 32
_HEX_DIGITS = 32
_BLOCK = 64


@dataclass(frozen=True)
class ReleaseKey:
    """The secret behind pseudonyms and offsets. `kept`: it is the steward's own and may be used again, so that releases
    made with it can be linked.
    """

    secret: bytes = field(repr=False)
    kept: bool = False

    @staticmethod
    def drawn(random: np.random.Generator | None = None) -> ReleaseKey:
        """A key for one release: from the operating system, or from `random` in a run that must repeat. In hexadecimal
        digits, so that a file can hold it.
        """
        drawn = secrets.token_bytes(LEAST_BYTES) if random is None else random.bytes(LEAST_BYTES)
        return ReleaseKey(drawn.hex().encode())

    @staticmethod
    def read(path: Path) -> ReleaseKey:
        """The steward's key: all bytes of a file, without the spaces and line ends around them."""
        try:
            secret = path.read_bytes().strip()
        except OSError:
            raise InputError(
                f"The key file '{path.name}' cannot be opened.", "Check that it exists and that you may read it."
            ) from None
        if len(secret) < LEAST_BYTES:
            raise InputError(
                f"The key file '{path.name}' is too short for a secret: it needs {LEAST_BYTES} random bytes.",
                "Make one with 'openssl rand -hex 32 > FILE', and keep it from everybody who gets a release.",
            )
        return ReleaseKey(secret, kept=True)

    def pseudonym(self, space: str, value: str) -> str:
        """What is published for a value: 32 hexadecimal digits.

        >>> key = ReleaseKey(bytes(32))
        >>> key.pseudonym("patients.Id", "17") == key.pseudonym("patients.Id", "17")
        True
        >>> key.pseudonym("patients.Id", "17") == key.pseudonym("encounters.Id", "17")
        False
        """
        return self.digest("pseudonym", space, value).hex()[:_HEX_DIGITS]

    def pseudonyms(self, space: str, values: Iterable[str | None]) -> list[str | None]:
        """The pseudonyms of many values; what is missing stays missing."""
        return [None if value is None else self.pseudonym(space, value) for value in values]

    def digest(self, purpose: str, space: str, value: str) -> bytes:
        """The HMAC behind everything that is made of a value; lengths keep the parts apart."""
        message = f"{purpose}:{len(space)}:{space}:{value}".encode()
        return hmac.digest(self.secret, message, "sha256")


def hmac_pads(secret: bytes) -> tuple[bytes, bytes]:
    """The blocks that HMAC puts before its two rounds, for those who compute many at once:
    HMAC(K, m) = H(outer H(inner m)).
    """
    block = (hashlib.sha256(secret).digest() if len(secret) > _BLOCK else secret).ljust(_BLOCK, b"\0")
    return bytes(byte ^ 0x36 for byte in block), bytes(byte ^ 0x5C for byte in block)
