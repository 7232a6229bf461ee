"""What is lost where records look alike, from the sizes of the classes that are kept.

n: the records of the input. s: those that are suppressed. m: the kept classes. E: one of them.
"""

from __future__ import annotations


def discernibility(squares: float, suppressed: float, records: float) -> float:
    """From how many records each cannot be told apart, as a share of all; a suppressed one from none:
    DM = (sum over kept classes of |E|^2 + s n) / n^2, where `squares` is that sum.

    Bayardo and Agrawal 2005, Data privacy through optimal k-anonymization; divided by n^2, so that 1 is one class.

    >>> discernibility(5**2 + 5**2, 0, 10), discernibility(0, 10, 10)
    (0.5, 1.0)
    """
    return (squares + suppressed * records) / records**2


def average_class_size(published: float, classes: int, k: int) -> float:
    """C_avg = (published records / m) / k: how much larger classes are than k asks for, 1 at best.

    LeFevre, DeWitt and Ramakrishnan 2006, Mondrian multidimensional k-anonymity.

    >>> average_class_size(20, 2, 5)
    2.0
    """
    return published / classes / k


def average_class_share(classes: int, suppressed: float, records: float) -> float:
    """The average class size as a share of all records, charged to each kept record; a suppressed one is charged 1:
    ((n - s) (n - s) / m + s n) / n^2.

    It orders releases like C_avg where nothing is suppressed, and unlike it stays within [0, 1] and charges for
    suppression, which a search needs: it would suppress everything otherwise.

    >>> average_class_share(2, 0, 10), average_class_share(0, 10, 10)
    (0.5, 1.0)
    """
    kept = records - suppressed
    return (kept * kept / max(classes, 1) + suppressed * records) / records**2
