"""The checks of privacy models: those that may be claimed with counterfeits too."""

from __future__ import annotations

from collections.abc import Mapping

from medveil.auditor.checks.confidence import AlphaKAnonymityCheck, LKCPrivacyCheck
from medveil.auditor.checks.gain import BetaLikenessCheck, DeltaDisclosureCheck
from medveil.auditor.checks.k_anonymity import KAnonymityCheck
from medveil.auditor.checks.l_diversity import LDiversityCheck
from medveil.auditor.checks.ms_bounding import MSBoundingCheck
from medveil.auditor.checks.p_sensitive import PSensitiveKAnonymityCheck
from medveil.auditor.checks.t_closeness import TClosenessCheck
from medveil.auditor.context import Check

MODELS: Mapping[str, type[Check]] = {
    check.name: check
    for check in (
        AlphaKAnonymityCheck,
        BetaLikenessCheck,
        DeltaDisclosureCheck,
        KAnonymityCheck,
        LDiversityCheck,
        LKCPrivacyCheck,
        MSBoundingCheck,
        PSensitiveKAnonymityCheck,
        TClosenessCheck,
    )
}
