"""medveil publishes health records so that patients stay hidden and the data stay useful."""

__version__ = "0.1.0"
