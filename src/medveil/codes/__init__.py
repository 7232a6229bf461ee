"""Arithmetic on codes: numbering their combinations, ranking and grouping, each written once."""
