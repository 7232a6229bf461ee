"""Where rows are scanned and counted."""

from medveil.engine.engine import KEPT, Engine, Limits, write_links
from medveil.engine.published import Published, published_table

__all__ = ["KEPT", "Engine", "Limits", "Published", "published_table", "write_links"]
