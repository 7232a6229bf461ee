"""Guessing what a column is, for a data steward who decides: a kind, a role and the reason in words.

The eighteen identifiers of HIPAA's Safe Harbor rule are looked for by name and by pattern. Where nothing speaks for
a column, caution does: it may be known to others, so it is taken for a quasi-identifier. No reason holds a value.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from medveil.guessing.column_profile import ColumnProfile
from medveil.guessing.name import Name
from medveil.guessing.values import (
    ENOUGH,
    are_whole,
    date_formats,
    find_clinical_codes,
    looks_like_date,
    looks_like_person,
    share,
)
from medveil.guessing.words import (
    CODE_LIST,
    CODED,
    DEMOGRAPHIC,
    DESCRIPTION,
    FLAGS,
    FREE_TEXT,
    PLAIN,
    QUANTITY,
    QUASI,
    SENSITIVE,
    Concept,
)
from medveil.hierarchy.propose import ColumnFacts, propose
from medveil.hierarchy.specification import HierarchySpec
from medveil.sources.labelled import is_boolean_word
from medveil.table.dates import ISO, find_date_format, other_reading, without_parts
from medveil.table.domain import read_number
from medveil.table.numbers import find_number_format, other_number_reading, plain_number
from medveil.table.schema import Kind, Role

FLAGS_SET = frozenset(FLAGS.split())
NEARLY_UNIQUE = 0.9
"""Distinct values per record, from which on a value belongs to one person."""
FEW = 20
"""With fewer records than this, uniqueness says nothing."""


@dataclass(frozen=True, slots=True)
class Guess:
    """What a column seems to be. `free_text` is refused unless the policy insists. `concept` is what it is about, a
    word such as `zip`; `hierarchy` is a proposal, None where a value and `*` are all that is easy to see, and
    `min_level` the level at which it had better begin. `written` is the format of its dates or numbers, where they have
    one of their own; `hides` are the identifiers that some of its values look like; `words` says how a policy reads its
    words for yes and no.
    """

    kind: Kind
    role: Role
    reason: str
    free_text: bool = False
    concept: str = ""
    hierarchy: HierarchySpec | None = None
    min_level: int = 0
    written: str = ""
    hides: tuple[str, ...] = ()
    words: str = ""


def guess(column: ColumnProfile) -> Guess:
    """What the column seems to be. The order is that of harm: identifiers, free text, then what others may know or
    must not learn, and last what may be published as it is.
    """
    name = Name(column.name)
    found = (
        _identifier_by_name(column, name)
        or _identifier_by_values(column)
        or _free_text(column, name)
        or _date(column, name)
        or _key(column, name)
        or _by_name(column, name)
        or _clinical_codes(column)
        or _harmless(column, name)
        or _description(column, name)
        or _unique(column)
        or _by_hint(column, name)
        or Guess(
            _kind(column, name),
            Role.QUASI,
            "Nothing says what it is; to be safe, it is treated as something that others may know. "
            "Make it sensitive or plain if you know better.",
        )
    )
    return _with_hierarchy(column, _with_words(column, _with_format(column, _with_warnings(column, found))))


def _kind(column: ColumnProfile, name: Name) -> Kind:
    """The kind of the values, unless they are numbers that only name things: 0/1, lists of codes, keys."""
    kind = column.kind
    if kind is not Kind.NUMBER:
        return kind
    if column.distinct <= 2:
        return Kind.CATEGORY
    if set(name.words) & set(QUANTITY.split()):
        return Kind.NUMBER
    few = column.distinct <= 10 and column.present >= FEW * column.distinct and column.are_whole
    return Kind.CATEGORY if few or set(name.words) & set(CODE_LIST.split()) else Kind.NUMBER


def _as_code(column: ColumnProfile) -> Kind:
    """The kind of something that is never a quantity."""
    kind = column.kind
    return Kind.CODE if kind is Kind.NUMBER else kind


def _identifier_by_name(column: ColumnProfile, name: Name) -> Guess | None:
    concept = name.identifier
    if concept is None or _is_flag(column):
        return None  # has_phone identifies nobody.
    if concept.key == "stay" and not name.is_key and column.uniqueness < 0.01:
        return None
    kind = _as_code(column)
    if concept.key in {"record", "plan"} and column.distinct < column.present:
        return Guess(
            kind,
            Role.SUBJECT,
            f"Its name suggests {concept.noun} (HIPAA identifier {concept.letter}), and its values repeat: "
            "records belong together, so people are protected and counted by it. It is never published.",
            concept=concept.key,
        )
    return Guess(
        kind, Role.IDENTIFIER, _never(f"Its name suggests {concept.noun}", concept.letter), concept=concept.key
    )


def _is_unique(column: ColumnProfile) -> bool:
    """Whether nearly every record has a value of its own, among enough records to tell."""
    return column.present >= FEW and column.uniqueness >= NEARLY_UNIQUE


def _is_flag(column: ColumnProfile) -> bool:
    """Whether the column only says yes or no in many records."""
    return (
        0 < column.distinct <= 3 and column.present >= FEW and {v.strip().lower() for v in column.sample} <= FLAGS_SET
    )


def _key(column: ColumnProfile, name: Name) -> Guess | None:
    """A key with many values, whatever it is the key of; a measured number is none."""
    if column.kind is Kind.NUMBER and not column.are_whole:
        return None
    if name.whole == "id" and FEW < column.distinct < column.present:
        reason = (
            "It is called an id, and its values repeat: if it numbers people, they are protected and counted by it. "
            "Make it an identifier if it numbers anything else. It is never published either way."
        )
        return Guess(_as_code(column), Role.SUBJECT, reason, concept="key")
    many = column.distinct > 50 and column.uniqueness > 0.005
    if name.is_key and (many or _is_unique(column)):
        reason = _never("Its name ends like that of a key, and it has many values", "R")
        return Guess(_as_code(column), Role.IDENTIFIER, reason, concept="key")
    return None


def _never(evidence: str, letter: str) -> str:
    return f"{evidence}: HIPAA identifier {letter}. Never publish it."


def _identifier_by_values(column: ColumnProfile) -> Guess | None:
    for pattern, fitting in column.patterns.items():
        if fitting >= ENOUGH:
            reason = _never(f"{fitting:.0%} of its values look like {pattern.noun}", pattern.letter)
            return Guess(Kind.CODE, Role.IDENTIFIER, reason, concept=pattern.key)
    return None


def _free_text(column: ColumnProfile, name: Name) -> Guess | None:
    """Free text: many words, seldom the same; fewer words are enough where the name says so."""
    words = sum(len(value.split()) for value in column.sample) / max(1, len(column.sample))
    named = name.says(FREE_TEXT)
    wordy = words >= 5 and column.average_length >= 25 and column.uniqueness >= 0.2
    if not (wordy or column.longest >= 500 or (named and words >= 3 and column.uniqueness >= 0.1)):
        return None
    if share(column.sample, looks_like_date) >= ENOUGH:
        return None
    amount = f"{words:.0f} words" if words >= 1.5 else "one long word"
    reason = (
        f"Free text of {amount} on average: it may hold anything, names included, and cannot be made "
        "anonymous. It is refused unless the policy insists."
    )
    return Guess(Kind.CATEGORY, Role.IDENTIFIER, reason, free_text=True, concept="free-text")


def _date(column: ColumnProfile, name: Name) -> Guess | None:
    kind = column.kind
    alike = share(column.sample, looks_like_date)
    if kind is not Kind.DATE and (alike < ENOUGH or column.are_numbers):
        return None
    births = DEMOGRAPHIC[1]
    what = "Dates of birth" if name.says(births.patterns) else "Dates"
    reason = f"{what}: HIPAA identifier C unless cut to the year. Others may know them, so they are generalized."
    if kind is not Kind.DATE:
        formats = date_formats(column.sample)
        trouble = "in several formats" if formats > 1 else "in no single format that is known"
        reason += (
            f" Warning: {alike:.0%} of its values look like dates, but {trouble}. They are read as text until all "
            "are written as YYYY-MM-DD."
        )
        return Guess(Kind.CATEGORY, Role.QUASI, reason, concept="mixed-dates")
    if len(without_parts(column.sample)) < len(column.sample):
        reason += " Some tell a year or a month and no day: they are read as missing."
    return Guess(Kind.DATE, Role.QUASI, reason, concept="birth" if name.says(births.patterns) else "date")


def _by_name(column: ColumnProfile, name: Name) -> Guess | None:
    demographic = name.demographic
    if demographic is not None:
        return _quasi(column, name, demographic)
    sensitive = name.find(SENSITIVE)
    if sensitive is None and name.is_drug:
        sensitive = next(concept for concept in SENSITIVE if concept.key == "drug")
    if sensitive is not None and column.distinct > 1:
        reason = f"Its name suggests {sensitive.noun}: others must not learn it about a person."
        kind = _kind(column, name)
        if kind is Kind.NUMBER and (find_clinical_codes(column.sample) or name.says(CODED)):
            kind = Kind.CODE  # 250.83 is a diagnosis, not a quantity.
        return Guess(kind, Role.SENSITIVE, reason, concept=sensitive.key)
    quasi = name.find(QUASI) or name.find(DEMOGRAPHIC)
    return _quasi(column, name, quasi) if quasi is not None and column.distinct else None


def _quasi(column: ColumnProfile, name: Name, concept: Concept) -> Guess:
    kind = _kind(column, name)
    reason = f"Its name suggests {concept.noun}: others may know it."
    if concept.key == "zip":
        kind = Kind.CODE
        reason += (
            " HIPAA identifier B: publish at most the first three digits, and those only where more than 20,000 "
            "people live."
        )
    elif concept.key == "place":
        reason += " HIPAA identifier B: nothing smaller than a state is published under Safe Harbor."
    elif concept.key == "survey-weight":
        reason = f"Its name suggests {concept.noun}: analyses need it as it is"
        if column.uniqueness < 0.02:
            reason += ", and hardly anybody outside knows it. Sensitive columns are published as they are."
            return Guess(kind, Role.SENSITIVE, reason, concept=concept.key)
        reason += ", but many people have a value of their own. Round it, then make it sensitive."
    elif concept.key in {"birth", "time", "death"}:
        reason += " HIPAA identifier C: nothing finer than the year is published under Safe Harbor."
    elif concept.key == "age":
        over = column.highest is not None and column.highest > 89 and "months" not in name.words
        advice = "there are ages over 89, which" if over else "ages over 89, should there be any,"
        reason += f" HIPAA identifier C: {advice} belong in one group of 90 and more."
        if over and kind is Kind.NUMBER:
            return Guess(kind, Role.QUASI, reason, concept="age-over-89")
    return Guess(kind, Role.QUASI, reason, concept=concept.key)


def _by_hint(column: ColumnProfile, name: Name) -> Guess | None:
    """What a word within the name hints at; too weak for anything but sensitive or, by caution, quasi."""
    concept = name.hints(SENSITIVE) or name.hints((*DEMOGRAPHIC, *QUASI))
    if concept is None:
        return None
    verdict = "others must not learn it about a person" if concept.role is Role.SENSITIVE else "others may know it"
    reason = f"A word within its name hints at {concept.noun}: {verdict}. Check it."
    return Guess(_kind(column, name), concept.role, reason, concept=concept.key)


def _clinical_codes(column: ColumnProfile) -> Guess | None:
    noun = find_clinical_codes(column.sample)
    # Record numbers may look like codes, but a code of its own in every record is one to be found by.
    if noun is not None and not _is_unique(column):
        reason = f"Its values look like {noun}: others must not learn them about a person."
        return Guess(Kind.CODE, Role.SENSITIVE, reason, concept="diagnosis")
    return None


def _description(column: ColumnProfile, name: Name) -> Guess | None:
    if column.distinct > 1 and column.uniqueness < NEARLY_UNIQUE and name.says(DESCRIPTION) and not name.is_key:
        reason = "A code or its description; in a table of patients mostly clinical, so sensitive, to be safe."
        return Guess(_kind(column, name), Role.SENSITIVE, reason, concept="description")
    return None


def _harmless(column: ColumnProfile, name: Name) -> Guess | None:
    if column.distinct == 0:
        return Guess(Kind.CATEGORY, Role.PLAIN, "It holds no value at all.")
    if column.distinct == 1 and not column.missing and column.present >= FEW:
        return Guess(_kind(column, name), Role.PLAIN, "Every record has the same value, so it tells nothing.")
    if name.find((PLAIN,)) is not None and column.uniqueness < 0.1:
        return Guess(_kind(column, name), Role.PLAIN, f"Its name suggests {PLAIN.noun}, not who a person is.")
    return None


def _unique(column: ColumnProfile) -> Guess | None:
    """Whatever nearly every record has its own value of is an identifier."""
    kind = column.kind
    if column.present >= FEW and column.uniqueness >= 0.5 and share(column.sample, looks_like_person) >= ENOUGH:
        reason = _never("Most values are several words with capital letters, as people's names are", "A")
        return Guess(Kind.CATEGORY, Role.IDENTIFIER, reason, concept="name")
    if not _is_unique(column):
        return None
    if kind is Kind.NUMBER and not column.are_whole:
        reason = (
            "Nearly every record has its own number: whoever has the same numbers elsewhere can match them. "
            "Generalize it into intervals, or leave it out."
        )
        return Guess(kind, Role.QUASI, reason, concept="number")
    reason = _never("Nearly every record has a value of its own", "R")
    return Guess(_as_code(column), Role.IDENTIFIER, reason, concept="unique")


def _with_warnings(column: ColumnProfile, found: Guess) -> Guess:
    """The guess, with what the steward should know of the values, and never plain where identifiers hide in it."""
    if found.role in {Role.IDENTIFIER, Role.SUBJECT}:
        return found
    hidden = sorted({pattern.noun for pattern, fitting in column.patterns.items() if pattern.strong and fitting > 0})
    if hidden:
        warning = f" Warning: some of its values look like {', '.join(hidden)}; remove those first."
        role = Role.QUASI if found.role is Role.PLAIN else found.role
        found = replace(found, role=role, reason=found.reason + warning, hides=tuple(hidden))
    all_numbers = found.kind is not Kind.CATEGORY or column.are_numbers
    numbers = 0 if all_numbers else sum(read_number(value) is not None for value in column.sample)
    others = len(column.sample) - numbers
    if found.kind is Kind.CATEGORY and found.concept != "mixed-dates" and numbers >= 10 and 0 < others <= 2:
        reason = (
            f"{found.reason} All but {others} of its distinct values are numbers: list the rest under 'missing:', if "
            "that is what they mean, and declare 'type: number'."
        )
        found = replace(found, reason=reason)
    return found


def _with_format(column: ColumnProfile, found: Guess) -> Guess:
    """The guess with how its dates or numbers are written, or with both ways where they could be read in two."""
    if found.kind is Kind.DATE:
        written = find_date_format(column.sample)
        other = written and other_reading(column.sample, written)
        plain = written == ISO
    elif found.kind is Kind.NUMBER:
        plain = column.are_numbers
        written = None if plain else find_number_format(column.sample)
        other = written and other_number_reading(column.sample, written)
    else:
        return found
    if other:
        reason = f"{found.reason} It can be read in two ways: declare 'format: \"{written}\"' or 'format: \"{other}\"'."
        return replace(found, reason=reason)
    return found if plain or written is None else replace(found, written=written)


def _with_words(column: ColumnProfile, found: Guess) -> Guess:
    """The guess, with words for yes and no read as two values where they are written in more ways."""
    if found.kind not in {Kind.CATEGORY, Kind.CODE} or not 2 < column.distinct == len(column.sample):
        return found
    if found.role in {Role.IDENTIFIER, Role.SUBJECT} or not all(map(is_boolean_word, column.sample)):
        return found
    reason = f"{found.reason} Its words for yes and no are written in several ways: they are read as true and false."
    return replace(found, reason=reason, kind=Kind.CATEGORY, words="boolean")


def _with_hierarchy(column: ColumnProfile, found: Guess) -> Guess:
    if found.role is not Role.QUASI:
        return found
    lowest, highest, whole = column.lowest, column.highest, column.are_whole
    if found.kind is Kind.NUMBER and found.written:  # such as 1.234,5, which was not counted as a number
        plain = [read for text in column.sample if (read := plain_number(text, found.written))]
        lowest, highest, whole = min(map(float, plain)), max(map(float, plain)), are_whole(plain)
    facts = ColumnFacts(
        kind=found.kind,
        distinct=column.distinct,
        lowest=lowest,
        highest=highest,
        whole=whole,
        lengths=frozenset(map(len, column.sample)),
        characters=frozenset("".join(column.sample)),
        concept=found.concept,
    )
    hierarchy = propose(facts, declare_domain=False)
    # HIPAA's Safe Harbor leaves the first three digits of a zip code.
    least = max(facts.lengths) - 3 if found.concept == "zip" and hierarchy is not None else 0
    return replace(found, hierarchy=hierarchy, min_level=least)
