"""Where everything is printed."""

from __future__ import annotations

from rich.console import Console

console = Console(highlight=False, soft_wrap=True)
