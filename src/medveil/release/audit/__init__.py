"""The auditor: proves each claim of a release again from the written files, and shares no code with what it checks."""

from medveil.release.audit.audit import AuditReport, ClaimFinding, audit
from medveil.release.audit.context import Finding

__all__ = ["AuditReport", "ClaimFinding", "Finding", "audit"]
