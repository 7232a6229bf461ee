"""Where rows are scanned and counted."""

from medveil.engine.engine import Engine, Limits
from medveil.engine.published import Published, published_table

__all__ = ["Engine", "Limits", "Published", "published_table"]
