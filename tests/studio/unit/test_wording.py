"""All texts stand in one place: no template and no page holds one of its own, and none is missing or left over."""

import hashlib
import re
import subprocess
import sys
from pathlib import Path

import jinja2
import pytest

from medveil import studio
from medveil.app.parts import parts
from medveil.risk import risks
from medveil.studio.wording import load_words
from medveil.utility import measures

ROOT = Path(studio.__file__).parent
TEMPLATES = sorted((ROOT / "templates").glob("*.html"))
WORDS = load_words()
USED = re.compile(r"\bt\.([a-z_]+)\.([a-z0-9_]+)\b")


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_a_template_holds_no_text_of_its_own(path):
    text = path.read_text(encoding="utf-8")
    text = re.sub(r"\{% set \w+ %\}.*?\{% endset %\}", " ", text, flags=re.DOTALL)
    text = re.sub(r"\{[#%{].*?[#%}]\}", " ", text, flags=re.DOTALL)
    attributes = re.findall(r'\b(?:alt|title|placeholder|aria-label)="([^"]*)"', text)
    shown = re.sub(r"<kbd>.*?</kbd>|<[^>\"']*(?:(?:\"[^\"]*\"|'[^']*')[^>\"']*)*>", " ", text, flags=re.DOTALL)
    words = re.findall(r"[A-Za-z]{2,}", " ".join([shown, *attributes]))
    assert not words, words


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_every_text_that_a_template_uses_is_there(path):
    for section, name in USED.findall(path.read_text(encoding="utf-8")):
        if section != "fields":
            assert WORDS[section].get(name) is not None or name == "get", f"{section}.{name}"


def test_templates_are_read_without_a_fault():
    environment = jinja2.Environment(autoescape=True)
    for path in TEMPLATES:
        environment.parse(path.read_text(encoding="utf-8"))


def test_the_process_that_serves_pages_loads_nothing_that_computes():
    program = (
        "import sys; import medveil.studio.serving; "
        "print(sorted(name for name in ('numba', 'numpy', 'pyarrow', 'duckdb', 'pandas') if name in sys.modules))"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_what_others_wrote_is_as_they_wrote_it():
    vendor = ROOT / "static" / "vendor"
    sums = dict(reversed(line.split()) for line in (vendor / "SHA256SUMS").read_text().splitlines())
    assert set(sums) == {path.name for path in vendor.glob("*.js")}
    for name, expected in sums.items():
        assert hashlib.sha256((vendor / name).read_bytes()).hexdigest() == expected
        assert name in (vendor / "NOTICE.md").read_text(encoding="utf-8")


def test_no_page_fetches_anything_from_elsewhere():
    for path in [*TEMPLATES, ROOT / "static" / "studio.css", ROOT / "static" / "studio.js"]:
        found = re.findall(r"https?://[^\s\"']+", path.read_text(encoding="utf-8"))
        assert not found, path.name


@pytest.mark.parametrize("section", ["methods", "models", "hierarchies", "sources", "settings"])
def test_every_part_of_our_own_has_words(section):
    found = parts()[section]
    assert found
    assert not [name for name in found if not (WORDS[section].get(name) or {}).get("title")]


def test_every_measure_and_every_risk_has_words():
    assert not set(measures()) - set(WORDS.measures.names())
    assert not set(risks()) - set(WORDS.risks.names())
