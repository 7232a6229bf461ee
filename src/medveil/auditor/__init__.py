"""The auditor: proves each claim of a release again from the written files, and shares no code with what it checks."""

from medveil.auditor.audit import AuditReport, ClaimFinding, audit
from medveil.auditor.context import Finding

__all__ = ["AuditReport", "ClaimFinding", "Finding", "audit"]
