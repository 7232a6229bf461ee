"""Pages that everybody can read, that stand alone, and that say no more than they may."""

import random
import re
import shutil
from dataclasses import replace
from itertools import pairwise

import pandas as pd
import pytest
from tests.report.conftest import POLICIES, policy_of
from tests.report.reading import read_page, style_colours

import medveil
from medveil.auditor import audit
from medveil.datasets import patients
from medveil.release.manifest import file_hash, read_manifest
from medveil.release.reading import read_release
from medveil.report import page as page_module
from medveil.report.palette import BACKGROUND, MARKERS, SERIES, contrast
from medveil.report.recipients import recipients_page
from medveil.terminal.console import console
from medveil.terminal.release import show_release

PAGES = [(name, where) for name in POLICIES for where in ("report.html", "internal/report.html")]
AA = 4.5
"""WCAG 2.2, level AA, for text."""


@pytest.fixture(params=PAGES, ids=lambda pair: f"{pair[0]}-{pair[1].replace('/', '-')}")
def text(request, releases):
    name, where = request.param
    return (releases / name / where).read_text(encoding="utf-8")


def test_a_page_stands_alone_and_is_small(text):
    assert len(text.encode()) < 3_000_000
    assert "<script" not in text
    links = set(re.findall(r'(?:href|src)="([^"]*)"', text)) | set(re.findall(r"url\(([^)]*)\)", text))
    assert all(link.startswith("#") for link in links)
    # Names of XML's own namespaces are no addresses to load from.
    assert set(re.findall(r'https?://[^"\s]+', text)) <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}


def test_a_page_has_a_language_landmarks_and_headings_in_order(text):
    root = read_page(text)
    (html,) = root.all("html")
    assert html.attributes["lang"] == "en"
    assert next(element.text for element in html.all("title") if element.parent.tag == "head")
    for landmark in ("header", "main", "nav", "footer"):
        assert len(list(html.all(landmark))) == 1, landmark
    levels = [int(element.tag[1]) for element in html.all("h1", "h2", "h3", "h4")]
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(later <= earlier + 1 for earlier, later in pairwise(levels))
    assert all(element.text for element in html.all("h1", "h2", "h3"))


def test_every_name_is_unique_and_every_reference_leads_somewhere(text):
    root = read_page(text)
    names = [element.attributes["id"] for element in root.all() if "id" in element.attributes]
    assert len(names) == len(set(names))
    for element in root.all():
        for key in ("aria-labelledby", "href", "xlink:href"):
            if key in element.attributes:
                assert element.attributes[key].removeprefix("#") in names


def test_every_picture_has_a_label_and_the_same_numbers_as_a_table(text):
    root = read_page(text)
    figures = list(root.all("figure"))
    assert figures
    assert len(list(root.all("svg"))) == len(figures)
    for figure in figures:
        (drawing,) = figure.all("svg")
        assert drawing.attributes["role"] == "img"
        assert len(drawing.attributes["aria-label"]) > 20
        assert next(drawing.all("title")).text == " ".join(drawing.attributes["aria-label"].split())
        (details,) = figure.all("details")
        assert next(details.all("summary")).text
        (table,) = details.all("table")
        assert len(list(table.all("tr"))) > 1


def test_every_table_has_a_caption_and_headers_with_their_scope(text):
    tables = list(read_page(text).all("table"))
    assert tables
    for table in tables:
        assert next(table.all("caption")).text
        (head,) = table.all("thead")
        headers = list(head.all("th"))
        assert all(header.attributes["scope"] == "col" and header.text for header in headers)
        for row in next(table.all("tbody")).all("tr"):
            cells = list(row.all("th", "td"))
            assert len(cells) == len(headers)
            assert (cells[0].tag, cells[0].attributes["scope"]) == ("th", "row")
            assert cells[0].text


def test_all_text_stands_out_from_what_is_behind_it(text):
    colours = list(style_colours(text))
    assert len(colours) > 5
    for selector, colour, background in colours:
        behind = background or {"good": "#eef7f3", "warning": "#fdf3ec"}.get(
            next((kind for kind in ("good", "warning") if kind in selector), ""), BACKGROUND
        )
        assert contrast(colour, behind) >= AA, selector
    for element in read_page(text).all("text"):
        fill = re.search(r"fill: (#[0-9a-f]{6})", element.attributes.get("style", ""))
        assert contrast(fill[1] if fill else "#000000", BACKGROUND) >= AA


def test_series_differ_in_more_than_colour_and_stand_out():
    assert all(contrast(colour, BACKGROUND) >= AA for colour in SERIES)
    assert len(set(MARKERS)) == len(set(SERIES)) == len(SERIES)


def test_only_the_steward_s_page_is_marked_internal(releases):
    for name in POLICIES:
        assert "INTERNAL" in (releases / name / "internal" / "report.html").read_text()
        assert "INTERNAL" not in (releases / name / "report.html").read_text()


def test_the_published_page_is_listed_and_audited(releases, tmp_path):
    for name in POLICIES:
        folder = releases / name
        assert read_manifest(folder).files["report.html"] == file_hash(folder / "report.html")
        assert not audit(folder).problems
    changed = shutil.copytree(releases / "iab", tmp_path / "changed")
    (changed / "report.html").write_bytes((changed / "report.html").read_bytes() + b" ")
    assert list(audit(changed).problems) == ["the file 'report.html' was changed after it was written"]


def test_the_verdict_comes_first_in_words(releases):
    root = read_page((releases / "optimal" / "report.html").read_text())
    first = next(next(root.all("main")).all("section"))
    assert "for publication" in first.text
    assert "Nobody can be told apart from fewer than" in first.text
    seeded = read_page((releases / "mondrian" / "report.html").read_text())
    assert "not for publication" in next(next(seeded.all("main")).all("section")).text


def test_methods_show_their_own_pictures(releases):
    titles = {
        name: [h.text for h in read_page((releases / name / "internal/report.html").read_text()).all("h3")]
        for name in POLICIES
    }
    assert "The search for the best levels" in titles["optimal"]
    assert "Real and counterfeit records" in titles["h-ceiling"]
    assert "Intervals of each number" in titles["fixed-interval"]
    assert "The search tree" in titles["iab"]
    assert "How the privacy budget was spent" in titles["ipa"]
    assert "How clusters became tighter" in titles["diversity-aware"]


def test_under_differential_privacy_the_published_page_is_a_function_of_what_is_published(releases, tmp_path):
    """Made again from the release and its manifest, by somebody who has nothing else, it is the same."""
    folder = releases / "ipa"
    manifest = read_manifest(folder)
    published = {name: digest for name, digest in manifest.files.items() if name != "report.html"}
    again = recipients_page(replace(manifest, files=published), read_release(folder, manifest), {})
    assert page_module.render(again) == (folder / "report.html").read_text()


@pytest.mark.parametrize("method", ["optimal", "mondrian", "h-ceiling", "iab"])
def test_no_value_is_told_that_is_not_published(method, tmp_path):
    """Every cell holds a token of its own column and value."""
    chance = random.Random(5)
    columns = {"secret": 400, "who": 150, "quasi": 12, "other": 3, "ill": 6, "note": 5, "left": 9}
    frame = pd.DataFrame(
        {
            c: [f"zz{c}{chance.randrange(n) * chance.randrange(n) // n:03d}zz" for _ in range(400)]
            for c, n in columns.items()
        }
    )
    policy = {
        "attributes": {
            "secret": {"role": "identifier"},
            "who": {"role": "subject"},
            "quasi": {"role": "quasi"},
            "other": {"role": "quasi"},
            "ill": {"role": "sensitive"},
            "note": {"role": "plain", "insist": True},
        },
        "privacy": [{"model": "k-anonymity", "k": 3}],
        "method": {"name": method, **({"max_counterfeits": 0.5} if method == "h-ceiling" else {})},
    }
    medveil.anonymize(frame, policy, out=tmp_path / "out")
    known = "".join(path.read_text() for path in (tmp_path / "out").glob("*.csv"))
    tokens = {value for column in frame for value in set(frame[column])}
    for page in ("report.html", "internal/report.html"):
        told = {token for token in tokens if token in (tmp_path / "out" / page).read_text()}
        assert told
        assert all(token in known for token in told)


def test_a_rare_value_is_not_shown_and_visits_of_one_patient_are_one_patient(tmp_path):
    """One value has two people, another has sixty records of one person; both are published, neither is shown."""
    ill = ["common"] * 200 + ["rare"] * 2 + ["mine"] * 60
    who = [*map(str, range(202)), *["same"] * 60]
    frame = pd.DataFrame({"who": who, "sex": ["f", "m"] * 131, "ill": ill, "note": ill})
    policy = {
        "attributes": {
            "who": {"role": "subject"},
            "sex": {"role": "quasi"},
            "ill": {"role": "sensitive"},
            "note": {"role": "plain"},
        },
        "privacy": [{"model": "k-anonymity", "k": 3}],
    }
    medveil.anonymize(frame, policy, out=tmp_path / "out")
    released = (tmp_path / "out" / "release.csv").read_text()
    steward = (tmp_path / "out" / "internal" / "report.html").read_text()
    assert "rare" in released
    assert "mine" in released
    words = {cell.text for cell in read_page(steward).all("th", "td")}
    assert not words & {"rare", "mine"}
    recipients = (tmp_path / "out" / "report.html").read_text()
    assert "rare" not in {cell.text for cell in read_page(recipients).all("th", "td")}
    warned = "No model protects"
    assert warned in steward
    assert warned not in recipients


def test_odd_values_and_names_make_a_page(tmp_path):
    """Emoji, quotes, markup, formulas, line ends and control characters in values and names."""
    odd = ["😀<b>", '"$x_1$"', "a\nb", "</style><script>", "&amp;", "\x01\x07", "*", "[1-2]"]
    frame = pd.DataFrame({'<i>"sex"': odd * 20, "$ill$": odd[::-1] * 20, "n": list(range(80)) * 2})
    policy = {
        "attributes": {
            '<i>"sex"': {"role": "quasi"},
            "$ill$": {"role": "sensitive"},
            "n": {"role": "plain"},
        },
        "privacy": [{"model": "k-anonymity", "k": 5}],
    }
    medveil.anonymize(frame, policy, out=tmp_path / "out")
    for where in ("report.html", "internal/report.html"):
        text = (tmp_path / "out" / where).read_text()
        root = read_page(text)
        assert not list(root.all("script", "b", "i"))
        assert '<i>"sex"' in [heading.text for heading in root.all("h3")]


def test_attacks_are_on_the_steward_s_page_where_they_were_run(releases, tmp_path):
    quiet = (releases / "mondrian" / "internal" / "report.html").read_text()
    assert "Attacks were not run" in quiet
    policy = {**policy_of("mondrian"), "evaluation": {"attacks": True, "targets": 50}}
    medveil.anonymize(patients(500, seed=1, patient_id=True), policy, out=tmp_path / "out")
    page = read_page((tmp_path / "out" / "internal" / "report.html").read_text())
    table = next(t for t in page.all("table") if "Attacks that were run" in t.text)
    found = next(row for row in table.all("tr") if "record linkage" in row.text)
    assert "50 trials" in found.text
    assert " to " in found.text
    assert "Attacks that were run" not in (tmp_path / "out" / "report.html").read_text()


def test_a_report_can_be_switched_off_and_a_kept_release_gets_one_when_it_is_saved(tmp_path):
    table = patients(500, seed=1, patient_id=True)
    policy = policy_of("mondrian")
    medveil.anonymize(table, {**policy, "output": {"report": False}}, out=tmp_path / "off")
    assert not list((tmp_path / "off").rglob("report.html"))
    kept = medveil.anonymize(table, policy)
    assert not list(kept.folder.rglob("report.html"))
    kept.save(tmp_path / "saved")
    assert len(list((tmp_path / "saved").rglob("report.html"))) == 2
    medveil.anonymize(table, policy, out=tmp_path / "again")
    for where in ("report.html", "internal/report.html"):
        assert (tmp_path / "saved" / where).read_bytes() == (tmp_path / "again" / where).read_bytes()
    assert not audit(tmp_path / "saved").problems


def test_without_the_extra_a_release_is_made_and_says_that_it_has_no_report(tmp_path, monkeypatch):
    monkeypatch.setattr(page_module, "NEEDED", ("a_package_that_nobody_has",))
    release = medveil.anonymize(patients(500, seed=1, patient_id=True), policy_of("mondrian"), out=tmp_path / "out")
    assert not list((tmp_path / "out").rglob("report.html"))
    with console.capture() as printed:
        show_release(release)
    assert page_module.NOT_INSTALLED in printed.get()


def test_a_plain_column_of_too_many_values_is_named_but_not_drawn(monkeypatch, tmp_path):
    for module in ("distributions", "recipients"):
        monkeypatch.setattr(f"medveil.report.{module}.MOST_VALUES", 3)
    table = pd.DataFrame({"age": ["1", "2"] * 20, "ward": list("abcd") * 10, "floor": list("xy") * 20})
    roles = {"age": {"role": "quasi"}, "ward": {"role": "plain"}, "floor": {"role": "plain"}}
    policy = {"attributes": roles, "privacy": [{"model": "k-anonymity", "k": 2}], "method": "optimal"}
    medveil.anonymize(table, policy, out=tmp_path / "release")
    for page in ("report.html", "internal/report.html"):
        text = (tmp_path / "release" / page).read_text(encoding="utf-8")
        assert "Too many values to be drawn: ward." in text
        pictures = {element.attributes.get("aria-label", "").split(".")[0] for element in read_page(text).all("svg")}
        assert "floor" in pictures
        assert "ward" not in pictures
