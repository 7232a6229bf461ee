"""What a manifest says of columns that are not published as the source has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from medveil.table.changes import ChangedColumn, Derivation, Pseudonym, Shift
from medveil.table.pseudonyms import ReleaseKey

PSEUDONYM, SHIFT = "pseudonym", "shift"
DERIVED = ("age_at", "days_since", "days_after")
CHANGED_ROLES = {"key": PSEUDONYM, "date": SHIFT}
"""The roles of which nothing is published as the source has it."""


def change_for_recipients(column: ChangedColumn) -> Mapping[str, Any]:
    """How a column was made of one of the source's."""
    told: dict[str, Any] = {"of": column.source}
    change = column.change
    if isinstance(change, Pseudonym):
        told |= {"kind": PSEUDONYM, "space": change.space}
    elif isinstance(change, Shift):
        told |= {"kind": SHIFT, "days": change.days}
    elif isinstance(change, Derivation):
        told |= {"kind": change.kind, "by": change.by, "fixed": change.fixed}
        told |= {} if change.table is None else {"table": change.table}
        told |= {} if change.most is None else {"most": change.most}
    return told | ({} if column.written is None else {"format": column.written})


def pseudonyms_for_recipients(key: ReleaseKey) -> Mapping[str, Any]:
    """What recipients are told of pseudonyms: that they link, and how far."""
    further = (
        "other releases that the steward makes with the same key" if key.kept else "nothing outside of this release"
    )
    return {
        "algorithm": "HMAC-SHA256",
        "key": "the steward's own" if key.kept else "drawn for this release",
        "links": f"all records under one pseudonym, and {further}",
    }
