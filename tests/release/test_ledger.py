"""The privacy ledger: a chain that shows every change, a lock, and a total that is kept."""

from __future__ import annotations

import json
import math
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from medveil.errors import InputError, OutputError, UnreachableError
from medveil.release.ledger import Account, Budget, Charge, Ledger, LedgerEntry, composed


@pytest.fixture
def ledger(tmp_path):
    return Ledger.beside(tmp_path / "patients.csv")


def spend(ledger, *epsilons, budget=None):
    return [ledger.charge(Charge("ipa", epsilon), budget) for epsilon in epsilons]


def test_entries_are_numbered_and_chained(ledger):
    assert not ledger.there
    assert ledger.entries() == []
    first, second = spend(ledger, 1.0, 0.5)
    assert [entry.number for entry in ledger.entries()] == [1, 2]
    assert second.previous == first.hash
    assert ledger.entries() == [first, second]
    assert ledger.path.name == "patients.csv.ledger"
    assert len(ledger.path.read_text(encoding="utf-8").splitlines()) == 2


def test_a_release_that_would_pass_the_total_is_refused(ledger):
    budget = Budget(3.0)
    spend(ledger, 1.0, 1.5, budget=budget)
    with pytest.raises(UnreachableError, match=r"2.5 of epsilon 3 are spent.*asks for 1") as caught:
        spend(ledger, 1.0, budget=budget)
    assert caught.value.exit_code == 3
    assert len(ledger.entries()) == 2, "what was refused is not charged"
    spend(ledger, 0.5, budget=budget)
    with pytest.raises(UnreachableError):
        spend(ledger, 1e-9, budget=budget)


def test_tenths_add_up_exactly(ledger):
    budget = Budget(0.3)
    spend(ledger, 0.1, 0.1, 0.1, budget=budget)
    assert ledger.account(budget).left == 0
    with pytest.raises(UnreachableError):
        spend(ledger, 0.01, budget=budget)


def test_delta_is_part_of_the_total(ledger):
    budget = Budget(3.0, delta=1e-6)
    ledger.charge(Charge("ipa", 1.0, 1e-6), budget)
    with pytest.raises(UnreachableError, match="delta"):
        ledger.charge(Charge("ipa", 1.0, 1e-7), budget)
    ledger.charge(Charge("ipa", 1.0), budget)
    with pytest.raises(UnreachableError, match="delta"):
        Ledger.beside(ledger.path.parent / "other").charge(Charge("ipa", 1.0, 1e-9), Budget(3.0))


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("key", ["epsilon", "method", "guarantee"])
def test_a_changed_entry_is_noticed(ledger, place, key):
    spend(ledger, 1.0, 0.5, 0.25)
    lines = ledger.path.read_text(encoding="utf-8").splitlines()
    entry = json.loads(lines[place])
    entry["charge"][key] = {"epsilon": 0.001, "method": "iba", "guarantee": False}[key]
    lines[place] = json.dumps(entry)
    ledger.path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=f"changed from outside: line {place + 1}"):
        ledger.entries()
    with pytest.raises(InputError, match="nothing is released"):
        spend(ledger, 0.1)


@pytest.mark.parametrize("kept", [0, 1, 2])
def test_truncation_is_noticed(ledger, kept):
    spend(ledger, 1.0, 0.5, 0.25)
    lines = ledger.path.read_text(encoding="utf-8").splitlines()
    ledger.path.write_text("".join(line + "\n" for line in lines[:kept]), encoding="utf-8")
    with pytest.raises(InputError, match="cut off"):
        ledger.entries()
    with pytest.raises(InputError, match="cut off"):
        spend(ledger, 0.1)


def test_removal_reordering_and_rubbish_are_noticed(ledger):
    spend(ledger, 1.0, 0.5, 0.25)
    text = ledger.path.read_text(encoding="utf-8")
    lines = text.splitlines()
    for wrong in ([lines[0], lines[2]], [lines[1], lines[0], lines[2]], [*lines, "{}"], [*lines, "rubbish"]):
        ledger.path.write_text("\n".join(wrong) + "\n", encoding="utf-8")
        with pytest.raises(InputError, match="changed from outside"):
            ledger.entries()
    ledger.path.unlink()
    with pytest.raises(InputError, match="missing"):
        ledger.entries()
    ledger.path.write_text(text, encoding="utf-8")
    ledger.head.unlink()
    with pytest.raises(InputError, match="missing or damaged"):
        ledger.entries()


def test_a_run_that_stopped_between_the_two_files_takes_nothing_away(ledger):
    spend(ledger, 1.0)
    before = ledger.head.read_text(encoding="utf-8")
    spend(ledger, 0.5)
    ledger.head.write_text(before, encoding="utf-8")
    assert len(ledger.entries()) == 2
    spend(ledger, 0.25)
    assert json.loads(ledger.head.read_text(encoding="utf-8"))["entries"] == 3


@pytest.mark.parametrize("cut", [1, 40])
def test_a_line_that_is_not_whole_is_no_entry_and_nothing_is_written_behind_it(ledger, cut):
    """As a run leaves it that is stopped while it writes: before its line is whole nothing is drawn."""
    spend(ledger, 1.0)
    whole = ledger.path.read_text(encoding="utf-8"), ledger.head.read_text(encoding="utf-8")
    spend(ledger, 0.5)
    ledger.path.write_text(ledger.path.read_text(encoding="utf-8")[:-cut], encoding="utf-8")
    ledger.head.write_text(whole[1], encoding="utf-8")
    torn = ledger.path.read_text(encoding="utf-8")
    with pytest.raises(InputError, match="ends within a line"):
        ledger.entries()
    with pytest.raises(InputError, match="nothing is released"):
        spend(ledger, 0.1)
    assert ledger.path.read_text(encoding="utf-8") == torn
    ledger.path.write_text(whole[0], encoding="utf-8")
    assert len(ledger.entries()) == 1, "as the remedy says"


def test_runs_at_once_are_charged_one_after_the_other_or_refused(ledger):
    """Four processes charge until each has ten charges; those that find the ledger locked try again."""
    work = (
        "import sys\n"
        "from pathlib import Path\n"
        "from medveil.errors import OutputError, UnreachableError\n"
        "from medveil.release.ledger import Budget, Charge, Ledger\n"
        f"ledger, done = Ledger(Path({str(ledger.path)!r})), 0\n"
        "while done < 10:\n"
        "    try:\n"
        "        ledger.charge(Charge('ipa', 0.1, unit='record'), Budget(3.0))\n"
        "    except OutputError:\n"
        "        continue\n"
        "    except UnreachableError:\n"
        "        break\n"
        "    done += 1\n"
        "print(done)\n"
    )
    runs = [subprocess.Popen([sys.executable, "-c", work], stdout=subprocess.PIPE, text=True) for _ in range(4)]
    charged = [int(run.communicate()[0]) for run in runs]
    assert sum(charged) == 30, "no more than the budget, and nothing lost"
    assert len(ledger.entries()) == 30
    assert ledger.account(Budget(3.0)).left == 0


def test_subjects_and_records_do_not_add_up(ledger):
    budget = Budget(3.0)
    ledger.charge(Charge("ipa", 1.0, unit="person, at most 3 records"), budget)
    ledger.charge(Charge("ipa", 0.5, unit="person, at most 1 records"), budget)
    with pytest.raises(UnreachableError, match=r"protects single records, but another .* subjects by 'person'"):
        ledger.charge(Charge("ipa", 0.5, unit="record"), budget)
    assert ledger.account(budget).left == 1.5
    ledger.charge(Charge("ipa", 0.5, unit="record"), None)
    account = ledger.account(budget)
    assert account.spent.mixed
    assert account.left is None


@given(st.lists(st.floats(0.01, 0.5), max_size=20), st.floats(1.0, 20.0))
def test_what_is_left_can_be_asked_for_and_not_more(epsilons, total):
    for budget in (Budget(total, 1e-6, "zcdp"), Budget(total)):
        charges = [Charge("ipa", epsilon) for epsilon in epsilons]
        entries = [LedgerEntry(n, "", charge, "", "") for n, charge in enumerate(charges)]
        left = Account("", entries, composed(charges, budget), budget).left
        if left:
            assert composed([*charges, Charge("ipa", left * (1 - 1e-9))], budget).epsilon <= total
        assert composed([*charges, Charge("ipa", left + 1e-3)], budget).epsilon > total


def test_a_locked_ledger_is_a_clear_error(ledger):
    spend(ledger, 1.0)
    holding = (
        "import fcntl, sys\n"
        f"stream = open({str(ledger.path)!r}, 'a+')\n"
        "fcntl.flock(stream, fcntl.LOCK_EX)\n"
        "print('held', flush=True)\n"
        "sys.stdin.read()\n"
    )
    other = subprocess.Popen([sys.executable, "-c", holding], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert other.stdin is not None
    assert other.stdout is not None
    try:
        assert other.stdout.readline() == b"held\n"
        with pytest.raises(OutputError, match="is locked: another run"):
            spend(ledger, 1.0)
    finally:
        other.communicate()
    spend(ledger, 1.0)
    assert len(ledger.entries()) == 2


def test_a_folder_that_cannot_be_written_is_a_clear_error(tmp_path):
    missing = Ledger(tmp_path / "nowhere" / "x")
    with pytest.raises(OutputError, match="cannot be written"):
        spend(missing, 1.0)


def test_a_release_without_a_guarantee_voids_the_total(ledger):
    budget = Budget(3.0)
    spend(ledger, 1.0, budget=budget)
    ledger.charge(Charge("ipa", 1.0, guarantee=False), budget)
    account = ledger.account(budget)
    assert account.spent.void
    assert account.spent.epsilon == 1.0
    assert account.left is None
    spend(ledger, 2.0, budget=budget)
    with pytest.raises(UnreachableError):
        spend(ledger, 1.0, budget=budget)


@given(st.lists(st.floats(0.01, 0.5), min_size=1, max_size=60))
def test_composition(epsilons):
    charges = [Charge("ipa", epsilon) for epsilon in epsilons]
    basic = composed(charges, None)
    assert math.isclose(basic.epsilon, sum(epsilons), rel_tol=1e-9)
    budget = Budget(100.0, 1e-6, "zcdp")
    zcdp = composed(charges, budget)
    rho = sum(epsilon**2 / 2 for epsilon in epsilons)
    assert math.isclose(zcdp.epsilon, rho + 2 * math.sqrt(rho * math.log(1e6)), rel_tol=1e-9)
    assert zcdp.delta == pytest.approx(1e-6)
    assert composed(charges[:-1], budget).epsilon < zcdp.epsilon


def test_many_small_releases_cost_less_under_zcdp():
    charges = [Charge("ipa", 0.05)] * 400
    assert composed(charges, None).epsilon == 20
    assert composed(charges, Budget(10, 1e-6, "zcdp")).epsilon < 6
    assert composed([Charge("ipa", 0.1, 1e-6)], Budget(10, 1e-6, "zcdp")).epsilon == math.inf
    assert composed([], Budget(10, 1e-6, "zcdp")).epsilon == 0
