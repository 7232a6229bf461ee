"""Files beside the published rows: each is one that some claim is about."""

from __future__ import annotations

from collections.abc import Collection

from medveil.auditor.checks.differential_privacy import REPORT
from medveil.auditor.copies import COPIES
from medveil.auditor.known import CHECKS
from medveil.release.manifest import Manifest


def companion_problems(manifest: Manifest, tables: Collection[str] = ()) -> list[str]:
    """Which files nobody looks at, so that they may tell anything. `tables` are the files of linked tables.

    A claim that medveil has no check for may name a file among its parameters: the release then says of itself that it
    is not checked by medveil.
    """
    known = {manifest.release, *manifest.parts, REPORT, *COPIES, *tables}
    for claim in manifest.claims:
        check = CHECKS.get(claim["model"])
        known |= check.files if check is not None else {v for v in claim["parameters"].values() if isinstance(v, str)}
    return [
        f"the file '{name}' is published beside the release, and no claim is about it"
        for name in manifest.files
        if name not in known
    ]
