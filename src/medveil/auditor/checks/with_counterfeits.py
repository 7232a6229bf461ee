"""Models that are claimed with counterfeits, each counted again by its own check."""

from __future__ import annotations

from typing import ClassVar

from medveil.auditor.checks.confidence import AlphaKAnonymityCheck, LKCPrivacyCheck
from medveil.auditor.checks.gain import BetaLikenessCheck, DeltaDisclosureCheck
from medveil.auditor.checks.k_anonymity import KAnonymityCheck
from medveil.auditor.checks.l_diversity import LDiversityCheck
from medveil.auditor.checks.p_sensitive import PSensitiveKAnonymityCheck
from medveil.auditor.checks.t_closeness import TClosenessCheck
from medveil.auditor.counterfeits import CounterfeitCheck


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
