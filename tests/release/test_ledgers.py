"""The budget belongs to the data: which ledger a data set has, wherever it is and whatever it is called."""

import json
import shutil

import pyarrow.csv
import pytest
from tests.private_releases import people, policy, prepare, write

import medveil
from medveil.app.budget import budget
from medveil.errors import InputError, OutputError, PolicyError, UnreachableError
from medveil.release.ledger import Charge, Ledger
from medveil.release.ledgers import Ledgers
from medveil.run import Run, Stage

LIMITED = {"epsilon": 1.0, "budget": 1.0}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "first").mkdir()
    return prepare(tmp_path / "first")


def refused(given, **options):
    with pytest.raises(UnreachableError, match="exceed the budget"):
        medveil.anonymize(given, **options)


def test_a_policy_elsewhere_finds_the_ledger_beside_the_data(folder, tmp_path):
    medveil.anonymize(write(folder, policy(data="people.csv", model=LIMITED)))
    (tmp_path / "second").mkdir()
    refused(write(tmp_path / "second", policy(data="../first/people.csv", model=LIMITED)))
    assert not (tmp_path / "second" / "people.csv.ledger").exists()
    assert budget(folder / "policy.json").spent.epsilon == 1.0


def test_a_policy_that_is_a_mapping_keeps_the_ledger_too(folder):
    given = policy(data=str(folder / "people.csv"), model=LIMITED)
    medveil.anonymize(given)
    refused(given)


def test_a_copy_under_another_name_continues_the_ledger(folder, tmp_path):
    medveil.anonymize(policy(data=str(folder / "people.csv"), model=LIMITED))
    copy = tmp_path / "renamed.csv"
    shutil.copy(folder / "people.csv", copy)
    refused(policy(data=str(copy), model=LIMITED))
    assert not Ledger.beside(copy).there


def test_copies_that_are_released_at_once_share_the_ledger(folder, tmp_path):
    """A run that began when neither was known still finds what the other was charged."""
    copy, made = tmp_path / "renamed.csv", []
    shutil.copy(folder / "people.csv", copy)

    def meanwhile(event):
        if event.stage is Stage.COUNT and not made:
            made.append(medveil.anonymize(policy(data=str(copy), model=LIMITED)))

    refused(policy(data=str(folder / "people.csv"), model=LIMITED), progress=meanwhile)
    assert made
    assert not Ledger.beside(folder / "people.csv").there


@pytest.mark.parametrize("gone", [False, True])
def test_another_name_for_the_ledger_does_not_begin_anew(folder, tmp_path, gone):
    given = policy(data=str(folder / "people.csv"), model=LIMITED)
    medveil.anonymize(given)
    kept = Ledger.beside(folder / "people.csv")
    if gone:
        kept.path.unlink()
        kept.head.unlink()
    with pytest.raises(InputError, match="These data already have the privacy ledger"):
        medveil.anonymize(given, ledger=tmp_path / "fresh.ledger")
    assert not (tmp_path / "fresh.ledger").exists()


def test_a_ledger_that_was_named_is_found_again(folder, tmp_path):
    given = policy(data=str(folder / "people.csv"), model=LIMITED)
    medveil.anonymize(given, ledger=tmp_path / "kept.ledger")
    refused(given)
    refused(given, ledger=tmp_path / "kept.ledger")
    with pytest.raises(InputError, match="These data already have the privacy ledger"):
        medveil.anonymize(given, ledger=tmp_path / "fresh.ledger")


def test_a_ledger_may_be_moved_with_what_it_holds(folder, tmp_path):
    given = policy(data=str(folder / "people.csv"), model={"epsilon": 1.0, "budget": 3.0})
    medveil.anonymize(given)
    kept, moved = Ledger.beside(folder / "people.csv"), Ledger(tmp_path / "moved.ledger")
    kept.path.rename(moved.path)
    kept.head.rename(moved.head)
    medveil.anonymize(given, ledger=moved.path)
    assert len(moved.entries()) == 2


def test_a_link_has_the_ledger_of_its_file(folder, tmp_path):
    medveil.anonymize(policy(data=str(folder / "people.csv"), model=LIMITED))
    (tmp_path / "link.csv").symlink_to(folder / "people.csv")
    refused(policy(data=str(tmp_path / "link.csv"), model=LIMITED), run=Run(ledgers=Ledgers()))


def test_a_changed_file_of_the_same_name_continues_the_ledger(folder, tmp_path):
    medveil.anonymize(policy(data=str(folder / "people.csv"), model=LIMITED))
    pyarrow.csv.write_csv(people(3100, seed=2), folder / "people.csv")
    given = policy(data=str(folder / "people.csv"), model={"epsilon": 1.0, "budget": 2.0})
    medveil.anonymize(given)
    assert [entry.number for entry in Ledger.beside(folder / "people.csv").entries()] == [1, 2]
    # The new content is known as well.
    shutil.copy(folder / "people.csv", tmp_path / "again.csv")
    refused(policy(data=str(tmp_path / "again.csv"), model={"epsilon": 1.0, "budget": 2.0}))


def test_a_folder_that_was_moved_takes_its_ledger_along(folder, tmp_path):
    medveil.anonymize(policy(data=str(folder / "people.csv"), model={"epsilon": 1.0, "budget": 3.0}))
    folder.rename(tmp_path / "moved")
    data = tmp_path / "moved" / "people.csv"
    medveil.anonymize(policy(data=str(data), model={"epsilon": 1.0, "budget": 3.0}))
    assert len(Ledger.beside(data).entries()) == 2


def test_a_ledger_that_is_gone_is_not_begun_anew(folder):
    given = policy(data=str(folder / "people.csv"), model=LIMITED)
    medveil.anonymize(given)
    ledger = Ledger.beside(folder / "people.csv")
    ledger.path.unlink()
    ledger.head.unlink()
    with pytest.raises(InputError, match="is missing, or lacks releases"):
        medveil.anonymize(given)


def test_a_folder_copied_with_its_ledger_shares_what_is_spent(folder, tmp_path):
    given = {"epsilon": 1.0, "budget": 3.0}
    medveil.anonymize(policy(data=str(folder / "people.csv"), model=given))
    shutil.copytree(folder, tmp_path / "copy")
    medveil.anonymize(policy(data=str(tmp_path / "copy" / "people.csv"), model=given))
    assert len(Ledger.beside(folder / "people.csv").entries()) == 2
    # Two that went different ways are not added up by guessing.
    Ledger.beside(tmp_path / "copy" / "people.csv").charge(Charge("ipa", 0.5), None)
    with pytest.raises(InputError, match="Two privacy ledgers"):
        medveil.anonymize(policy(data=str(tmp_path / "copy" / "people.csv"), model=given))


def test_other_models_void_the_total_of_a_copy_too(folder, tmp_path):
    medveil.anonymize(folder / "policy.json")
    shutil.copy(folder / "people.csv", tmp_path / "copy.csv")
    asked = {**policy(data=str(tmp_path / "copy.csv"), method="optimal"), "privacy": [{"model": "k-anonymity", "k": 3}]}
    medveil.anonymize(asked)
    assert budget(folder / "policy.json").spent.void


def test_a_budget_without_a_ledger_is_refused_and_one_can_be_handed_in(tmp_path):
    given = policy(model=LIMITED)
    with pytest.raises(PolicyError, match="nothing can write down"):
        medveil.anonymize(people(500), given)
    medveil.anonymize(people(500), given, ledger=tmp_path / "patients.ledger")
    refused(people(500), policy=given, ledger=str(tmp_path / "patients.ledger"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["patients.ledger", "patients.ledger-head"]


def test_a_budget_needs_an_index_that_can_be_written(folder, tmp_path):
    (tmp_path / "file").touch()
    run = Run(ledgers=Ledgers(index=tmp_path / "file"))
    with pytest.raises(OutputError, match="index of privacy ledgers"):
        medveil.anonymize(policy(data=str(folder / "people.csv"), model=LIMITED), run=run)
    assert not Ledger.beside(folder / "people.csv").there


def test_a_damaged_index_is_no_empty_one(folder, tmp_path):
    given, index = policy(data=str(folder / "people.csv"), model=LIMITED), tmp_path / "index"
    medveil.anonymize(given, run=Run(ledgers=Ledgers(index=index)))
    (known,) = index.glob("[!.]*")
    known.write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match="is damaged"):
        medveil.anonymize(given, run=Run(ledgers=Ledgers(index=index)))


def test_a_ledger_of_version_0_1_beside_the_policy_is_not_forgotten(folder, tmp_path):
    (tmp_path / "policies").mkdir()
    asked = write(tmp_path / "policies", policy(data="../first/people.csv", model=LIMITED))
    Ledger.beside(tmp_path / "policies" / "people.csv").charge(Charge("ipa", 1.0), None)
    with pytest.raises(InputError, match="belongs beside the data"):
        medveil.anonymize(asked)


def test_the_index_holds_no_value_and_is_the_users_alone(folder, tmp_path):
    index = tmp_path / "state" / "index"
    medveil.anonymize(policy(data=str(folder / "people.csv"), model=LIMITED), run=Run(ledgers=Ledgers(index=index)))
    assert index.stat().st_mode & 0o077 == 0
    (known,) = index.glob("[!.]*")
    assert set(json.loads(known.read_text(encoding="utf-8"))) == {"ledger", "entries", "hash"}


def test_the_ledger_on_the_command_line(folder, tmp_path, command):
    asked = write(folder, policy(data="people.csv", model=LIMITED, output={"report": False}))
    ledger = tmp_path / "kept.ledger"
    assert command("anonymize", asked, "--out", folder / "one", "--ledger", ledger)[0] == 0
    assert command("anonymize", asked, "--out", folder / "two", "--ledger", ledger)[0] == 3
    assert json.loads(command("budget", asked, "--ledger", ledger, "--json")[1])["spent"]["epsilon"] == 1.0
    assert not Ledger.beside(folder / "people.csv").there
