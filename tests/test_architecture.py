"""The page on how medveil is built says what is true of the code, and decisions say what they must."""

import re
from importlib import import_module
from pathlib import Path

import pytest
from tests.test_import_order import ORDER

import medveil
from medveil import testing

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
QUOTED = re.findall(r"`([^`\n]+)`", PAGE)
DECISIONS = sorted((ROOT / "docs" / "decisions").glob("0*.md"))


def test_the_rooms_are_those_of_the_code_in_their_order():
    table = PAGE.partition("| room |")[2].partition("\n\n")[0]
    assert tuple(re.findall(r"^\| `([^`]+)` \|", table, re.MULTILINE)) == ORDER


def test_every_file_that_is_named_exists():
    package = Path(medveil.__file__).parent
    named = [text for text in QUOTED if re.fullmatch(r"[\w./]+(/|\.py|\.md)", text)]
    assert len(named) > 30
    for text in named:
        # Files of the package are named from its own folder, or in full; a module alone is an example of a name.
        assert (ROOT / text).exists() or (package / text).exists() or text == "t_closeness.py", text


def load(text):
    module, _, name = text.partition(":")
    return getattr(import_module(module), name)


CLASSES = [text for text in QUOTED if re.fullmatch(r"medveil\.[\w.]+:[A-Z]\w+", text)]
FINDERS = [text for text in QUOTED if re.fullmatch(r"medveil\.[\w.]+:[a-z]\w+", text)]


def test_every_class_that_is_named_exists():
    assert len(CLASSES) > 8
    assert all(isinstance(load(text), type) for text in CLASSES)


@pytest.mark.parametrize("text", FINDERS)
def test_parts_are_found_where_the_page_says(text):
    """A finder gives medveil's own parts out of its room, and that room is the group of entry points."""
    found = load(text)()
    group = text.partition(":")[0]
    assert group in QUOTED, "the page does not name the group of entry points"
    assert len(found) > 0
    assert found.package.__name__ == group
    assert {f"{found.base.__module__}:{found.base.__name__}"} <= set(CLASSES)


def test_every_registry_is_on_the_page():
    """Whatever is discovered has a section here."""
    source = Path(medveil.__file__).parent
    rooms = {path.parent.name for path in source.rglob("__init__.py") if "discover(" in path.read_text("utf-8")}
    assert rooms == {text.partition(":")[0].rpartition(".")[2] for text in FINDERS}


def test_every_contract_that_is_named_exists():
    named = {text for text in QUOTED if text.startswith("check_")}
    assert named == {name for name in vars(testing) if name.startswith("check_")} - {"check_part"}


def test_declarations_that_are_named_exist():
    from medveil.methods.method import Method  # noqa: PLC0415
    from medveil.privacy.model import PrivacyModel  # noqa: PLC0415

    for part, names in (
        (Method, ("needs_rows", "needs_k", "draws_tree", "proves", "figures")),
        (PrivacyModel, ("monotone", "absorbing")),
    ):
        for name in names:
            assert name in QUOTED
            assert hasattr(part, name)


def test_decisions_are_numbered_one_after_the_other():
    numbers = [int(path.name[:4]) for path in DECISIONS]
    assert numbers == list(range(1, len(numbers) + 1))


@pytest.mark.parametrize("path", DECISIONS, ids=lambda path: path.stem)
def test_a_decision_has_a_date_alternatives_and_consequences(path):
    text = path.read_text(encoding="utf-8")
    assert re.match(r"# .+\n\nDate: 20\d\d-\d\d-\d\d\n", text)
    parts = dict(re.findall(r"^## (.+)\n\n((?:(?!^## ).*\n?)+)", text, re.MULTILINE))
    assert list(parts) == ["Context", "Decision", "Alternatives", "Consequences"]
    assert all(len(part.split()) > 5 for part in parts.values())


def test_links_between_pages_lead_somewhere():
    for page in [*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")]:
        for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
