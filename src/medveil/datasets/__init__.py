"""Generated patients, and loaders for public data that the user has on disk."""

from medveil.datasets.generate import patients
from medveil.datasets.loaders import load

__all__ = ["load", "patients"]
