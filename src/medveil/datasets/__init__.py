"""Generated patients and cohorts, and loaders for public data that the user has on disk."""

from medveil.datasets.cohort import Cohort, cohort
from medveil.datasets.generate import patients
from medveil.datasets.loaders import load

__all__ = ["Cohort", "cohort", "load", "patients"]
