"""The auditor: proves each claim of a release again from the written files, and shares no code with what it checks."""

from medveil.auditor.audit import audit
from medveil.auditor.context import Finding
from medveil.auditor.report import AuditReport, ClaimFinding

__all__ = ["AuditReport", "ClaimFinding", "Finding", "audit"]
