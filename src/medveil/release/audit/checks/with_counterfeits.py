"""Models that are claimed with counterfeits, each counted again by its own check."""

from __future__ import annotations

from typing import ClassVar

from medveil.release.audit.checks.confidence import AlphaKAnonymityCheck, LKCPrivacyCheck
from medveil.release.audit.checks.gain import BetaLikenessCheck, DeltaDisclosureCheck
from medveil.release.audit.checks.k_anonymity import KAnonymityCheck
from medveil.release.audit.checks.l_diversity import LDiversityCheck
from medveil.release.audit.checks.p_sensitive import PSensitiveKAnonymityCheck
from medveil.release.audit.checks.t_closeness import TClosenessCheck
from medveil.release.audit.counterfeits import CounterfeitCheck


class KAnonymityWithCounterfeits(CounterfeitCheck):
    name: ClassVar[str] = "k-anonymity with counterfeits"
    check_of_model = KAnonymityCheck


class LDiversityWithCounterfeits(CounterfeitCheck):
    name: ClassVar[str] = "l-diversity with counterfeits"
    check_of_model = LDiversityCheck


class TClosenessWithCounterfeits(CounterfeitCheck):
    name: ClassVar[str] = "t-closeness with counterfeits"
    check_of_model = TClosenessCheck


class AlphaKAnonymityWithCounterfeits(CounterfeitCheck):
    name: ClassVar[str] = "alpha-k-anonymity with counterfeits"
    check_of_model = AlphaKAnonymityCheck


class LKCPrivacyWithCounterfeits(CounterfeitCheck):
    name: ClassVar[str] = "lkc-privacy with counterfeits"
    check_of_model = LKCPrivacyCheck


class PSensitiveWithCounterfeits(CounterfeitCheck):
    name: ClassVar[str] = "p-sensitive-k-anonymity with counterfeits"
    check_of_model = PSensitiveKAnonymityCheck


class BetaLikenessWithCounterfeits(CounterfeitCheck):
    name: ClassVar[str] = "beta-likeness with counterfeits"
    check_of_model = BetaLikenessCheck


class DeltaDisclosureWithCounterfeits(CounterfeitCheck):
    name: ClassVar[str] = "delta-disclosure with counterfeits"
    check_of_model = DeltaDisclosureCheck
