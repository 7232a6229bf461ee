"""Diversity-aware anonymization: equal clusters under a cap on sensitive values, solved exactly."""

from medveil.methods.diversity_aware.method import DiversityAware

__all__ = ["DiversityAware"]
