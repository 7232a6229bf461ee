"""The closed list of checks. Nothing is found by being there, and nothing comes from outside this package: what the
auditor calls proved was counted by code that stands here.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from medveil.auditor.checks.class_size import ClassSizeCheck
from medveil.auditor.checks.code_book import CodeBookCheck
from medveil.auditor.checks.counterfeit_catalog import CounterfeitCatalogCheck
from medveil.auditor.checks.delta_presence import DeltaPresenceCheck
from medveil.auditor.checks.differential_privacy import DifferentialPrivacyCheck
from medveil.auditor.checks.european import EhdsCheck, GdprResearchCheck
from medveil.auditor.checks.h_ceiling import HCeilingCheck
from medveil.auditor.checks.hipaa_safe_harbor import HipaaSafeHarborCheck
from medveil.auditor.checks.km_anonymity import KMAnonymityCheck
from medveil.auditor.checks.mean_support import MeanSupportCheck
from medveil.auditor.context import Check
from medveil.auditor.models import MODELS

CHECKS: Mapping[str, type[Check]] = MappingProxyType(
    {
        **MODELS,
        **{
            check.name: check
            for check in (
                ClassSizeCheck,
                CodeBookCheck,
                CounterfeitCatalogCheck,
                DeltaPresenceCheck,
                DifferentialPrivacyCheck,
                EhdsCheck,
                GdprResearchCheck,
                HCeilingCheck,
                HipaaSafeHarborCheck,
                KMAnonymityCheck,
                MeanSupportCheck,
            )
        },
    }
)
