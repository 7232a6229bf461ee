"""The command line: thin. Every command calls a use case and prints what it returns."""

from medveil.cli.application import app
from medveil.cli.entry import main

__all__ = ["app", "main"]
