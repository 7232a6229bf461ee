"""The colours of pages and pictures: told apart by people who see few colours, and dark enough on white.

The series are Okabe and Ito's, darkened until each stands at least 4.5 : 1 against white.
"""

from __future__ import annotations

BACKGROUND = "#ffffff"
TEXT = "#1b1b1b"
SOFT = "#555555"
RULE = "#c9c9c9"
BEFORE = "#6f6f6f"
AFTER = "#005f9e"
GOOD = "#00634a"
WARNING = "#9a3c00"
SERIES = ("#005f9e", "#b34700", "#00735a", "#9b3d73", "#6b5500", "#3d3d3d", "#2f6f8f", "#8a2be2")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")


def contrast(one: str, other: str) -> float:
    """How far two colours stand apart: (L1 + 0.05) / (L2 + 0.05), L being relative luminance. W3C, WCAG 2.2.

    >>> contrast("#000000", "#ffffff")
    21.0
    """
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return round((light + 0.05) / (dark + 0.05), 2)


def _luminance(colour: str) -> float:
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
