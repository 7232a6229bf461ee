"""Research under the General Data Protection Regulation, (EU) 2016/679."""

from __future__ import annotations

from typing import ClassVar

from medveil.profiles.european import EuropeanProfile, groups
from medveil.profiles.profile import ChecklistPoint, VouchedBy


class GdprResearch(EuropeanProfile):
    """Data for research under Article 89 of the GDPR, as far as columns show it.

    `format: anonymous` (recital 26; singling out, linking and inference as in Opinion 05/2014 of the Article 29 Working
    Party) refuses pseudonyms, shifted dates, plain columns that others may know, groups of fewer than `people` people
    and sensitive attributes that no model hides. `format: pseudonymous` (Article 4(5)) takes them, and the release is
    for a secure environment only. Both refuse what names people, and fill in years for dates, intervals for ages and
    what `medveil inspect` would propose elsewhere.
    """

    name: ClassVar[str] = "gdpr-research"
    title: ClassVar[str] = "research under the GDPR, Regulation (EU) 2016/679"

    def anonymous(self, people: int) -> list[ChecklistPoint]:
        likely = "That nobody can be identified by means that are reasonably likely to be used, other data included."
        return [*groups("recital 26", people), ChecklistPoint("recital 26", likely, VouchedBy.PERSON)]

    def pseudonymous(self) -> list[ChecklistPoint]:
        return [
            ChecklistPoint(
                "Art. 4(5)",
                "Keys are published as pseudonyms that cannot be computed without a secret.",
                VouchedBy.PROGRAM,
            ),
            ChecklistPoint(
                "Art. 4(5)", "The manifest calls the release fit for a secure environment only.", VouchedBy.PROGRAM
            ),
            ChecklistPoint(
                "Art. 4(5)", "That the secret is kept apart and recipients cannot get it.", VouchedBy.PERSON
            ),
            ChecklistPoint(
                "Art. 32", "That recipients work in an environment which lets no records out.", VouchedBy.PERSON
            ),
            ChecklistPoint("Art. 89(1)", "That the research cannot be done with anonymous data.", VouchedBy.PERSON),
        ]

    def attested(self) -> list[ChecklistPoint]:
        return [
            ChecklistPoint(
                "Art. 5(1)(c)",
                "That no column and no person is in the release that the research does not need.",
                VouchedBy.PERSON,
            ),
            ChecklistPoint(
                "Art. 6 and 9(2)",
                "That there is a legal basis for processing data about health, such as 9(2)(j).",
                VouchedBy.PERSON,
            ),
            ChecklistPoint(
                "Art. 35", "That the risks for people were assessed beforehand, where they are high.", VouchedBy.PERSON
            ),
        ]
