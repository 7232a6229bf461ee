"""h-ceiling: k-anonymity with a cap on generalization, counterfeit records and a catalog."""

from medveil.methods.h_ceiling.method import HCeiling

__all__ = ["HCeiling"]
