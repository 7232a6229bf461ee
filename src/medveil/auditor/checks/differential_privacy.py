"""Differential privacy rests on a proof; what can be seen in the files is that nothing unpaid went out with them."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar

from medveil.auditor.context import CannotTell, Check, Finding, NotOurs, Refuted, Terms
from medveil.auditor.evidence import Evidence
from medveil.auditor.generalized import specification
from medveil.auditor.tables import STAR
from medveil.errors import MedveilError
from medveil.hierarchy.specification import OWN
from medveil.table.domain import canonical, domain_of
from medveil.table.schema import Kind

PROVED_METHODS = frozenset({"dp-histogram", "dp-sampling", "ipa"})
"""Methods whose proofs are medveil's own. No file shows that another method keeps what it says."""
PAID_ROWS = {"published"}
"""Counted on the noisy table, and so free."""
REPORT = "report.html"
"""Made of the release and its manifest alone, and so free."""
MARGINALS = "marginals.csv"
"""Noisy numbers of records by value, where the method says what it spent on them."""
MARGINAL_COLUMNS = ["attribute", "value", "records"]
PAID_METHOD = {"name", "parameters", "unit", "spent", "threshold", "strata", "sampling", "k", "proof"}
"""What a method may report: its parameters, what it spent, and what it chose privately or before it saw the data."""


class DifferentialPrivacyCheck(Check):
    """No table shows that it was made with enough noise. These would show that it was not:

    - a number in the manifest that the budget did not pay for, such as how many records came in;
    - parts of the budget that add up to more than the claim;
    - a file beside the release and its report;
    - a published value outside the declared domain.
    """

    name: ClassVar[str] = "differential-privacy"
    terms: ClassVar[frozenset[str]] = frozenset({"epsilon", "delta"})
    files: ClassVar[frozenset[str]] = frozenset({MARGINALS})
    about_records: ClassVar[bool] = False

    def check(self, evidence: Evidence, claim: Mapping[str, Any]) -> Finding:
        manifest = evidence.manifest
        if manifest.method.get("name") not in PROVED_METHODS:
            raise NotOurs("it rests on the proof of a method that is not medveil's")
        unpaid = [*(manifest.rows.keys() - PAID_ROWS), *(manifest.method.keys() - PAID_METHOD)]
        if unpaid:
            raise Refuted(f"the manifest gives '{min(unpaid)}', which the budget did not pay for")
        epsilon = Terms(claim).number("epsilon")
        spent = manifest.method.get("spent", {})
        if not isinstance(spent, Mapping) or not all(isinstance(part, int | float) for part in spent.values()):
            raise Refuted("what the parts of the budget spent cannot be read")
        if sum(Fraction(part) for part in spent.values()) > Fraction(epsilon):
            raise Refuted("the parts of the budget add up to more than the claim")
        paid = {manifest.release, *manifest.parts, REPORT, *([MARGINALS] if spent.get("marginals") else [])}
        if manifest.files.keys() - paid:
            raise Refuted("a file is published beside the release, which the budget did not pay for")
        if MARGINALS in manifest.files:
            self._marginals(evidence)
        unknown = [name for name in evidence.names("quasi", "sensitive") if not self._domain(evidence, name)]
        note = "by proof; checked here: no unpaid number, and every value is of its declared domain"
        if unknown:
            note += f" (except for {', '.join(unknown)}, whose domain is not available)"
        return Finding(None, None, note, by_proof=True)

    @staticmethod
    def _marginals(evidence: Evidence) -> None:
        """Refute a file of marginals that holds anything but numbers of records of published dimensions."""
        dimensions = set(evidence.names("quasi"))
        try:
            with (evidence.folder / MARGINALS).open(encoding="utf-8", newline="") as stream:
                reader = csv.DictReader(stream, strict=True)
                sound = reader.fieldnames == MARGINAL_COLUMNS and all(
                    row["attribute"] in dimensions and int(row["records"]) > 0 for row in reader
                )
        except (OSError, ValueError, TypeError, csv.Error):
            sound = False
        if not sound:
            raise Refuted(f"'{MARGINALS}' holds something other than numbers of records of the dimensions")

    def _domain(self, evidence: Evidence, name: str) -> bool:
        """Refute a published value that the policy did not declare; False where what it declares is not at hand."""
        try:
            known = declared_labels(evidence, name)
        except NotOurs:
            raise  # nobody here knows whether its groups are the same for all data
        except CannotTell:
            return False
        if known is None:
            return False
        if evidence.described(name)["role"] == "quasi":
            known |= {STAR}
        found = evidence.distinct(f"({evidence.published_rows([name])})", evidence.column(name))
        if set(found) - known:
            raise Refuted(f"the release holds values of '{name}' that its declared domain does not have")
        return True


def declared_labels(evidence: Evidence, name: str) -> set[str | None] | None:
    """What may be published in a column at its level; None where no domain is declared."""
    described = evidence.described(name)
    if described.get("hierarchy") is None:
        return None
    declared = specification(evidence, name)
    try:
        leaves = declared.leaves(name, evidence.base)
        if leaves is None:
            raise Refuted(f"the domain of '{name}' is not declared")
        kind = Kind(described["type"])
        domain = domain_of(canonical(leaves, kind, name), kind)
        hierarchy = declared.bind(domain, name, evidence.base)
    except MedveilError:
        raise CannotTell(f"the hierarchy of '{name}' cannot be built again here") from None
    level = described.get("level")
    if level is not None and level > hierarchy.height:
        raise Refuted(f"'{name}' has no level {level}")
    if level is None and described["role"] == "quasi":
        # Levels differ by stratum: any of them may be published.
        labels: set[str | None] = {label for one in hierarchy.levels for label in one.labels}
    else:
        labels = set(hierarchy.levels[level or 0].labels)
    if declared.other is not None:
        labels.add(declared.other)
    if "missing" in declared.model_fields_set:
        labels |= {None} if declared.missing == OWN else {None, declared.missing}
    return labels
