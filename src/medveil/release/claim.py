"""What a claim rests on, and what it counts."""

from enum import StrEnum

from medveil.release.status import NOT_CHECKED


class Basis(StrEnum):
    """On what a claim rests."""

    FILES = "proved again from the files"
    SOURCE = "proved again from files and source"
    PROOF = "by proof"
    NOT_CHECKED = NOT_CHECKED


class Counting(StrEnum):
    """What a claim counts where that is not people, or records where no subject is declared."""

    WITH_COUNTERFEITS = "with-counterfeits"
    """Counterfeits too, each as one more person."""
    IN_GROUPS = "in-groups"
    """The people of each group of classes that publish the records of all of them."""
