"""Recoding of set-valued attributes along a hierarchy, so that any m codes are had by k people."""
