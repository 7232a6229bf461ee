"""Rows are behind walls: DuckDB is reached, and SQL is written, in few places only."""

import ast
import re
from pathlib import Path

import pytest

import medveil

ROOT = Path(medveil.__file__).parent
SQL = re.compile(
    r"\bSELECT (?!\.\.\.).+\b(FROM|AS)\b|\bCREATE (OR REPLACE )?(TABLE|VIEW)\b|\bFROM\b.+\bGROUP BY\b|\bORDER BY\b|"
    r"\bINSERT INTO\b|\bCOPY \(|\bUNION ALL\b|\bPARTITION BY\b|\bCAST\(.+ AS\b",
    re.DOTALL,
)


DATABASES = {"sources/database.py", "sources/sql.py"}
"""Sources that speak SQL to the user's own database, and know nothing of DuckDB."""


def may_reach_rows(path: Path) -> bool:
    """Engines, the auditor's own door, and the measure that runs the user's own SQL on a table of its own."""
    place = path.relative_to(ROOT)
    if place.as_posix() in DATABASES:
        return "duckdb" not in path.read_text(encoding="utf-8").lower()
    return place.parts[0] in {"engine", "auditor"} or (place.parts[0] == "utility" and place.name.startswith("sql"))


FILES = [path for path in sorted(ROOT.rglob("*.py")) if not may_reach_rows(path)]


def imports(tree: ast.AST) -> set[str]:
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            found |= {module, module.split(".")[0], *(f"{module}.{alias.name}" for alias in node.names)}
    return found


def texts(tree: ast.AST) -> list[str]:
    """Every text of a program but its documentation; the parts of one that is put together, as one."""
    documented = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    joined = [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)]
    inside = {id(part) for node in joined for part in node.values}
    plain = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in documented
        and id(node) not in inside
    ]
    together = ["".join(p.value if isinstance(p, ast.Constant) else "x" for p in node.values) for node in joined]
    return plain + together


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_rows_are_reached_by_verbs_alone(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    reached = {name for name in imports(tree) if name == "duckdb" or name.startswith("medveil.engine.duckdb")}
    assert not reached, "only engines, the auditor and the SQL measure may reach DuckDB"
    assert not [text for text in texts(tree) if SQL.search(text)], "SQL belongs to engines and the auditor"


def test_the_search_finds_what_it_looks_for():
    """The same search on files that do reach rows."""
    engine = ast.parse((ROOT / "engine" / "duckdb.py").read_text(encoding="utf-8"))
    assert "duckdb" in imports(engine)
    assert len([text for text in texts(engine) if SQL.search(text)]) > 10
    assert SQL.search("SELECT d0 FROM data ORDER BY rowid")
    assert not SQL.search("Select a method from the list, or order by phone.")
    assert not SQL.search("Write it as 'SELECT ... FROM data'.")


def test_the_interface_names_no_engine():
    for name in ("interface.py", "links.py", "tables.py", "specification.py", "__init__.py"):
        assert "duckdb" not in (ROOT / "engine" / name).read_text(encoding="utf-8").lower()
