"""The auditor of code books, who is lied to."""

import json
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.fixed_intervals import POLICY, read_book, some_patients

import medveil
from medveil.auditor import audit
from medveil.release.manifest import file_hash
from medveil.sources.opening import open_source


@pytest.fixture(scope="module")
def frame():
    return some_patients()


@pytest.fixture(scope="module")
def release(frame, tmp_path_factory):
    return medveil.anonymize(frame, POLICY, out=tmp_path_factory.mktemp("release") / "out")


def rewrite(folder, name, change):
    """Change a published file and its hash in the manifest."""
    path = folder / name
    path.write_text(change(path.read_text()))
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["files"][name] = file_hash(path)
    (folder / "manifest.json").write_text(json.dumps(manifest))


@pytest.fixture
def audited(frame, release, tmp_path):
    """A copy of an honest release, and what an auditor finds of it."""
    folder = tmp_path / "out"
    shutil.copytree(release.folder, folder)

    def check(*, source=True):
        report = audit(folder, open_source(frame) if source else None)
        return {found.claim["model"]: found.finding.holds for found in report.findings}

    return folder, check


def test_an_honest_release_is_proved(audited):
    _, check = audited
    assert check() == {"k-anonymity": True, "class-size": True, "mean-support": True, "code-book": True}
    assert check(source=False) == {"k-anonymity": True, "class-size": True, "mean-support": True, "code-book": None}


def line_of(folder, attribute):
    return next(line for line in read_book(folder) if line["attribute"] == attribute and line["people"])


def test_a_support_that_is_not_true(audited):
    folder, check = audited
    line = line_of(folder, "age")
    old = f'"age","{line["published"]}","mean",{line["people"]},'
    rewrite(folder, "codebook.csv", lambda text: text.replace(old, old.replace(line["people"], "400")))
    assert check()["code-book"] is False
    assert check(source=False)["mean-support"] is True


def test_a_support_below_k(audited):
    folder, check = audited
    line = line_of(folder, "age")
    old = f'"age","{line["published"]}","mean",{line["people"]},'
    rewrite(folder, "codebook.csv", lambda text: text.replace(old, old.replace(line["people"], "4")))
    assert check(source=False)["mean-support"] is False


def test_a_mean_that_is_not_in_the_book_or_not_true(audited):
    folder, check = audited
    mean = line_of(folder, "age")["published"]
    rewrite(folder, "codebook.csv", lambda text: text.replace(f'"age","{mean}"', '"age","99"'))
    found = check()
    assert found["mean-support"] is False
    assert found["code-book"] is False


def test_a_mean_of_few_that_nothing_shows_is_published_all_the_same(audited):
    folder, check = audited
    rewrite(folder, "codebook.csv", lambda text: text + '"age","107","mean",1,,\n')
    assert check(source=False)["mean-support"] is False


@pytest.mark.parametrize("line", ['"age","107","mean",,,', '"age","107","oldest",9,,'])
def test_a_number_in_the_book_that_is_no_mean_of_so_many_people(audited, line):
    folder, check = audited
    rewrite(folder, "codebook.csv", lambda text: text + line + "\n")
    assert check(source=False)["mean-support"] is False


def test_two_true_means_that_differ_by_one_person(audited, frame):
    """An interval, and the same without whoever stayed longest: subtracted, they give that person's stay."""
    folder, check = audited
    path = folder / "internal" / "intervals.parquet"
    intervals = pq.read_table(path).to_pylist()
    stays = frame["length_of_stay"].astype(float)
    for whole in intervals:
        inside = stays[(stays >= whole["low"]) & (stays < whole["high"])]
        if whole["attribute"] == "length_of_stay" and 0 < (inside == inside.max()).sum() < 5:
            break
    else:
        pytest.fail("nobody stayed longest")
    rest = inside[inside < inside.max()]
    line = {**whole, "published": f"{rest.mean():.0f}", "people": len(rest), "high": inside.max(), "open_high": False}
    pq.write_table(pa.Table.from_pylist([*intervals, line]), path)
    added = f'"length_of_stay","{line["published"]}","mean",{line["people"]},,\n'
    rewrite(folder, "codebook.csv", lambda text: text + added)
    found = check()
    assert found["mean-support"] is True
    assert found["code-book"] is False


def test_a_book_that_tells_of_other_columns(audited):
    folder, check = audited
    rewrite(folder, "codebook.csv", lambda text: text + '"patient_id","1","P0001",,,\n')
    assert check(source=False)["code-book"] is False


def test_something_else_in_the_place_of_a_mean(audited):
    folder, check = audited
    mean = line_of(folder, "age")["published"]
    rewrite(
        folder, "release.csv", lambda text: text.replace(f'"{mean}",', '"[20-29]",').replace(f"\n{mean},", "\n[20-29],")
    )
    assert check(source=False)["mean-support"] is False


def test_ids_that_were_exchanged(audited):
    folder, check = audited
    swap = {'"sex","s0"': '"sex","s1"', '"sex","s1"': '"sex","s0"'}
    rewrite(
        folder,
        "codebook.csv",
        lambda text: "\n".join(
            next((line.replace(a, b) for a, b in swap.items() if a in line), line) for line in text.split("\n")
        ),
    )
    assert check()["code-book"] is False


def test_a_book_that_is_gone(audited):
    folder, check = audited
    manifest = json.loads((folder / "manifest.json").read_text())
    del manifest["files"]["codebook.csv"]
    (folder / "manifest.json").write_text(json.dumps(manifest))
    (folder / "codebook.csv").unlink()
    assert check()["mean-support"] is None
    assert check()["code-book"] is None


def test_a_set_that_leaves_somebody_out(audited):
    """The links must give exactly what was published; a changed label has no record behind it."""
    folder, check = audited
    rewrite(folder, "release.csv", lambda text: text.replace('"{s0, s1}"', "s0", 1))
    assert check()["code-book"] is False


def test_links_and_release_that_leave_somebody_out_together(audited):
    folder, check = audited
    links = pq.read_table(folder / "internal" / "links.parquet").to_pandas().astype({"sex": object})
    links["sex"] = links["sex"].replace("{s0, s1}", "s0")
    links.to_parquet(folder / "internal" / "links.parquet")
    rewrite(folder, "release.csv", lambda text: text.replace('"{s0, s1}"', "s0"))
    assert check()["code-book"] is False


def test_a_class_that_is_too_small(audited):
    folder, check = audited
    rewrite(folder, "release.csv", lambda text: "\n".join(text.split("\n")[:-2]) + "\n")
    found = check(source=False)
    assert found["class-size"] is False
