"""What a release is fit for, in one of the few ways that medveil says it."""

from __future__ import annotations

from enum import StrEnum

NOT_CHECKED = "not checked by medveil"
PARTLY_CHECKED = "in part not checked by medveil"


class Status(StrEnum):
    """What a release is before anybody asks whether every claim of it was checked."""

    FOR_PUBLICATION = "for publication"
    PSEUDONYMOUS = "pseudonymous, not anonymous"
    """Keys are published as pseudonyms, or dates shifted: both follow people, and no model covers them."""
    SECURE_ENVIRONMENT = "pseudonymous, for a secure environment only"
    """The same, made under a profile by which recipients work where no records get out."""
    REPEATABLE = "repeatable, not for publication"
    WITHOUT_GUARANTEE = "made without a differential privacy guarantee"
    UNSAFE_MEANS = "unsafe: a published mean may rest on fewer than k people, down to one person's own value"


def status_text(status: Status, *, unchecked: int = 0, claims: int = 0) -> str:
    """The status in words, where medveil has no check for `unchecked` of the claims.

    >>> status_text(Status.FOR_PUBLICATION, unchecked=1, claims=2)
    'in part not checked by medveil'
    """
    if not unchecked:
        return status.value
    told = NOT_CHECKED if unchecked == claims else PARTLY_CHECKED
    return told if status is Status.FOR_PUBLICATION else f"{told}, and {status.value}"


def read_status(text: str) -> Status | None:
    """The status that a text of `status_text` began with; None for any other text.

    >>> read_status("not checked by medveil"), read_status("certified by the ministry")
    (<Status.FOR_PUBLICATION: 'for publication'>, None)
    """
    for told in (NOT_CHECKED, PARTLY_CHECKED):
        text = Status.FOR_PUBLICATION.value if text == told else text.removeprefix(f"{told}, and ")
    return next((status for status in Status if status.value == text), None)
