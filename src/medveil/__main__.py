"""`python -m medveil`."""

from medveil.cli import main

main()
