"""Secondary use under the European Health Data Space, Regulation (EU) 2025/327."""

from __future__ import annotations

from typing import ClassVar

from medveil.profiles.european import EuropeanProfile, groups
from medveil.profiles.profile import ChecklistPoint, VouchedBy


class Ehds(EuropeanProfile):
    """Data for secondary use under the European Health Data Space, as far as columns show it.

    Article 66: data are made available anonymous (`format: anonymous`) where that is enough for the purpose, else
    pseudonymous (`format: pseudonymous`), and the manifest says that these are for a secure environment only. Under a
    data permit users reach either in a secure processing environment (Article 73), out of which they may take what is
    not personal: a person attests it. What each format refuses and fills in is as in `gdpr-research`.
    """

    name: ClassVar[str] = "ehds"
    title: ClassVar[str] = "the European Health Data Space, Regulation (EU) 2025/327"

    def anonymous(self, people: int) -> list[ChecklistPoint]:
        return [
            *groups("Art. 66(2)", people),
            ChecklistPoint(
                "Art. 73",
                "That users with a data permit reach anonymous data too in a secure processing environment, and take "
                "out nothing that is personal.",
                VouchedBy.PERSON,
            ),
        ]

    def pseudonymous(self) -> list[ChecklistPoint]:
        return [
            ChecklistPoint(
                "Art. 66(3)",
                "Keys are published as pseudonyms that cannot be computed without a secret.",
                VouchedBy.PROGRAM,
            ),
            ChecklistPoint(
                "Art. 73", "The manifest calls the release fit for a secure environment only.", VouchedBy.PROGRAM
            ),
            ChecklistPoint(
                "Art. 66(3)",
                "That the purpose cannot be reached with anonymous data, as the permit found.",
                VouchedBy.PERSON,
            ),
            ChecklistPoint(
                "Art. 66(3)",
                "That only the access body or a trusted third party holds the secret behind the pseudonyms.",
                VouchedBy.PERSON,
            ),
            ChecklistPoint(
                "Art. 73",
                "That users reach the data in a secure processing environment and nowhere else.",
                VouchedBy.PERSON,
            ),
        ]

    def attested(self) -> list[ChecklistPoint]:
        return [
            ChecklistPoint(
                "Art. 66(1)", "That the data are limited to what the purpose in the permit needs.", VouchedBy.PERSON
            ),
            ChecklistPoint(
                "Art. 68 and 69",
                "That there is a data permit or an approved data request, and that this release is what it allows.",
                VouchedBy.PERSON,
            ),
            ChecklistPoint(
                "Art. 71",
                "That people who opted out are not among the records, unless national law lets them be used for this.",
                VouchedBy.PERSON,
            ),
            ChecklistPoint("Art. 61(3)", "That users know that they must not identify anybody.", VouchedBy.PERSON),
        ]
