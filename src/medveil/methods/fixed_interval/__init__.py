"""Fixed-interval anonymization: classes of similar records, interval means for numbers, sets of ids for categories."""

from medveil.methods.fixed_interval.method import FixedInterval

__all__ = ["FixedInterval"]
