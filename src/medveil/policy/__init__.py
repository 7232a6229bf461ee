"""The policy: what each column is, what privacy must hold, and by which method."""

from medveil.policy.attribute import AttributePolicy, DerivePolicy, ShiftPolicy
from medveil.policy.chosen import written_out
from medveil.policy.document import Policy, TablePolicy
from medveil.policy.fitting import in_order
from medveil.policy.loading import check_policy, load_policy
from medveil.policy.publishing import AboutPolicy, LeakagePolicy, OutputPolicy, PseudonymPolicy

__all__ = [
    "AboutPolicy",
    "AttributePolicy",
    "DerivePolicy",
    "LeakagePolicy",
    "OutputPolicy",
    "Policy",
    "PseudonymPolicy",
    "ShiftPolicy",
    "TablePolicy",
    "check_policy",
    "in_order",
    "load_policy",
    "written_out",
]
