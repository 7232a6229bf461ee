"""IAB, exhaustive and greedy search over generalized tables: as many distinct rows as the requirements allow."""

from medveil.methods.iab.methods import Exhaustive, Greedy, Iab, IabFast

__all__ = ["Exhaustive", "Greedy", "Iab", "IabFast"]
