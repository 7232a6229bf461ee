"""Where everything is printed."""

from __future__ import annotations

from rich.console import Console

console = Console(highlight=False, soft_wrap=True, markup=False, emoji=False)
"""Names of files and columns may hold brackets and colons: nothing that is printed is read as markup."""
