"""Advice in the code, what notices that a piece of it is given, and runs by which it is followed.

A piece of advice is known by its file and its words, as they stand there: holes are `{}`, and what is put together
elsewhere is the expression that does so.
"""

import ast
import copy
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

import medveil
from medveil.errors import MedveilError

ROOT = Path(medveil.__file__).parent
KINDS = {"PolicyError", "InputError", "OutputError"}
Key = tuple[str, str]
Act = Callable[[Path], object]

FRAME = pd.DataFrame(
    {
        "age": [20 + i % 4 for i in range(48)],
        "sex": ["f", "m"] * 24,
        "job": ["nurse", "nurse", "cook"] * 16,
        "ill": ["a", "b", "b", "c"] * 12,
        "born": [f"0{1 + i % 3}/0{1 + i % 4}/1980" for i in range(48)],
        "who": [f"p{i // 2}" for i in range(48)],
    }
)
AGE = {"role": "quasi", "type": "number", "hierarchy": {"type": "intervals", "widths": [2]}}
K = {"model": "k-anonymity", "k": 2}
DP = {"model": "differential-privacy", "epsilon": 5.0}
PRIVATE = {
    "attributes": {
        "age": {"role": "quasi", "type": "number", "domain": {"range": [0, 99]}},
        "ill": {"role": "sensitive", "domain": ["a", "b", "c"]},
    },
    "privacy": [DP],
    "method": "dp-histogram",
}
POLICY = {"attributes": {"age": AGE, "sex": {"role": "quasi"}, "ill": {"role": "sensitive"}}, "privacy": [K]}
MANY = pd.DataFrame({f"c{i}": [f"v{j % 2}" for j in range(40)] for i in range(70)})


@cache
def _advice_by_line() -> dict[tuple[str, int], Key]:
    """Every piece of advice in the code, by the lines of the call that gives it."""
    found = {}
    for path in sorted(ROOT.rglob("*.py")):
        place = path.relative_to(ROOT).as_posix()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            named = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in KINDS
            if named and len(node.args) > 1:
                lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
                found.update({(str(path), line): (place, _words(node.args[1])) for line in lines})
    return found


def _words(advice: ast.expr) -> str:
    if isinstance(advice, ast.Constant):
        return str(advice.value)
    if isinstance(advice, ast.JoinedStr):
        return "".join(
            str(part.value) if isinstance(part, ast.Constant) else "{}" for part in ast.iter_child_nodes(advice)
        )
    return ast.unparse(advice)


def advised() -> set[Key]:
    """Every piece of advice in the code."""
    return set(_advice_by_line().values())


@contextmanager
def noticed() -> Iterator[set[Key]]:
    """The pieces of advice that are given in the meantime, in this process."""
    lines, given = _advice_by_line(), set[Key]()
    make = MedveilError.__init__

    def notice(error: MedveilError, *words: str, **named: str) -> None:
        frame = sys._getframe(1)
        while frame is not None and (frame.f_code.co_filename, frame.f_lineno) not in lines:
            frame = frame.f_back
        if frame is not None:
            given.add(lines[frame.f_code.co_filename, frame.f_lineno])
        make(error, *words, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MedveilError, "__init__", notice)
        yield given


@dataclass(frozen=True)
class Case:
    """Where advice is given, words of it, what is wrong, and the ways in which the advice can be followed."""

    place: str
    advice: str
    wrong: Act
    followed: tuple[Act, ...]

    @property
    def key(self) -> Key:
        """The one piece of advice that is meant."""
        (found,) = [key for key in advised() if key[0] == self.place and self.advice in key[1]]
        return found

    def check(self, folder: Path) -> None:
        """The advice is given, and who follows it gets on."""
        (folder / "wrong").mkdir()
        with noticed() as given, pytest.raises((medveil.PolicyError, medveil.InputError, medveil.OutputError)) as told:
            self.wrong(folder / "wrong")
        assert self.key in given, str(told.value)
        assert told.value.remedy
        for number, follow in enumerate(self.followed):
            (folder / str(number)).mkdir()
            follow(folder / str(number))


def changed(base=POLICY, **parts):
    """A run of a policy, parts of which were changed; `attributes` are added to those that are there."""
    policy = copy.deepcopy({**base, "output": {"report": False}, "evaluation": {"advice": False}})
    policy["attributes"].update(parts.pop("attributes", {}))
    out, ledger, frame = parts.pop("out", None), parts.pop("ledger", None), parts.pop("frame", FRAME)
    policy.update(parts)
    policy["attributes"] = {name: a for name, a in policy["attributes"].items() if a is not None}

    def run(folder):
        return medveil.anonymize(
            frame,
            policy,
            out=None if out is None else folder / out,
            ledger=None if ledger is None else folder / ledger,
        )

    return run


def column(name, base=POLICY, frame=FRAME, **parts):
    """A run in which one column is declared so."""
    return changed(base, attributes={name: parts or None}, frame=frame)


def method(name, frame=FRAME, attributes=None, **parameters):
    """A run of a method with these parameters."""
    return changed(method={"name": name, **parameters}, frame=frame, attributes=attributes or {})


def looked(name, content, **options):
    """A look at a file with this content."""

    def run(folder):
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return medveil.inspect(path, **options)

    return run


def parts_of(pattern, **files):
    """A look at files that fit a pattern."""

    def run(folder):
        for name, content in files.items():
            path = folder / "parts" / name.replace("__", "/").replace("_", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        return medveil.inspect(folder / pattern)

    return run


def of_parquet(**tables):
    """A look at a folder of these Parquet files."""

    def run(folder):
        for name, table in tables.items():
            pa.parquet.write_table(pa.table(table), folder / f"{name}.parquet")
        return medveil.inspect(folder)

    return run


def tree(content, **options):
    """A run with this hierarchy of jobs."""

    def run(folder):
        (folder / "jobs.csv").write_text(content)
        hierarchy = {"type": "file", "path": str(folder / "jobs.csv"), **options}
        return column("job", role="quasi", hierarchy=hierarchy)(folder)

    return run


def jobs_of(name):
    """A run with the hierarchy in this file."""
    return lambda folder: column("job", role="quasi", hierarchy={"type": "file", "path": str(folder / name)})(folder)


def twice(first, second):
    """One thing after the other."""

    def run(folder):
        first(folder)
        return second(folder)

    return run
