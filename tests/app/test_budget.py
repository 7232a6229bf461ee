"""The privacy ledger from policy to release: what is charged, refused, shared and voided."""

import json

import pytest
from tests.private_releases import people, policy, prepare, write

import medveil
from medveil.app.budget import budget
from medveil.errors import InputError, OutputError, UnreachableError
from medveil.methods.dp.ipa_proved import Mechanism
from medveil.release.ledger import Ledger


@pytest.fixture
def folder(tmp_path):
    return prepare(tmp_path)


def test_releases_are_charged_and_refused_beyond_the_budget(folder):
    asked = write(folder, policy(data="people.csv", model={"epsilon": 1.0, "budget": 2.0}))
    medveil.anonymize(asked, out=folder / "one")
    medveil.anonymize(asked, out=folder / "two")
    with pytest.raises(UnreachableError, match="exceed the budget"):
        medveil.anonymize(asked, out=folder / "three")
    assert not (folder / "three").exists()
    account = budget(asked)
    assert account.spent.epsilon == 2.0
    assert account.left == 0
    assert len(account.entries) == 2


def test_the_charge_comes_before_the_noise_and_stays_where_the_run_fails(folder, monkeypatch):
    asked = write(folder, policy(data="people.csv", model={"budget": 9.0}))
    ledger = Ledger.beside(folder / "people.csv")

    def draw(self, prepared, step=None):
        assert len(ledger.entries()) == 1, "charged before anything is drawn"
        raise OutputError("The disk is full.", "")

    monkeypatch.setattr(Mechanism, "draw", draw)
    with pytest.raises(OutputError, match="full"):
        medveil.anonymize(asked, out=folder / "out")
    assert not (folder / "out").exists()
    assert budget(asked).spent.epsilon == 2.0


def test_policies_of_one_folder_share_the_ledger_of_their_data(folder):
    medveil.anonymize(folder / "policy.json", out=folder / "one")
    other = write(folder, policy(data="people.csv", method={"name": "ipa", "guarantee": "published"}), "other.json")
    medveil.anonymize(other, out=folder / "two")
    account = budget(folder / "policy.json")
    assert [entry.charge.guarantee for entry in account.entries] == [True, False]
    assert account.spent.void


def test_a_release_by_another_model_voids_the_total(folder):
    medveil.anonymize(folder / "policy.json", out=folder / "one")
    asked = {**policy(data="people.csv", method="optimal"), "privacy": [{"model": "k-anonymity", "k": 3}]}
    medveil.anonymize(write(folder, asked, "k.json"), out=folder / "two")
    assert budget(folder / "policy.json").spent.void


def test_without_a_ledger_other_models_start_none(folder):
    asked = {**policy(data="people.csv", method="optimal"), "privacy": [{"model": "k-anonymity", "k": 3}]}
    medveil.anonymize(write(folder, asked, "k.json"), out=folder / "two")
    assert not Ledger.beside(folder / "people.csv").there


def test_frames_without_a_policy_file_keep_no_ledger(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    medveil.anonymize(people(500), policy())
    assert list(tmp_path.iterdir()) == []


def test_a_tampered_ledger_stops_everything(folder):
    asked = folder / "policy.json"
    medveil.anonymize(asked, out=folder / "one")
    path = Ledger.beside(folder / "people.csv").path
    path.write_text(path.read_text(encoding="utf-8").replace("2.0", "0.2"), encoding="utf-8")
    with pytest.raises(InputError, match="changed from outside"):
        medveil.anonymize(asked, out=folder / "two")
    with pytest.raises(InputError, match="changed from outside"):
        budget(asked)


def test_the_budget_on_the_command_line(folder, command):
    quiet = {"output": {"report": False}}
    asked = write(folder, policy(data="people.csv", model={"epsilon": 1.0, "budget": 1.0}, **quiet))
    assert command("anonymize", asked, "--out", folder / "one")[0] == 0
    code, _, said = command("anonymize", asked, "--out", folder / "two")
    assert code == 3
    assert "would exceed the budget" in said
    assert json.loads(command("budget", asked, "--json")[1])["spent"]["epsilon"] == 1.0
    assert "Left: epsilon 0" in command("budget", asked)[1]
    loose = policy(data="people.csv", method={"name": "ipa", "guarantee": "published"}, **quiet)
    _, told, _ = command("anonymize", write(folder, loose, "loose.json"), "--out", folder / "three")
    assert "without a differential privacy guarantee" in told
    assert "claims nothing" in told
    assert "voids the total" in command("budget", asked)[1]
