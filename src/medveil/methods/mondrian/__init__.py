"""Mondrian: multidimensional local recoding."""

from medveil.methods.mondrian.mondrian import Mondrian

__all__ = ["Mondrian"]
