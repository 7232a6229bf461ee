"""Every piece of advice in the code is followed by a case, appears in a named test, or has a reason why neither can be.

`test_advice_of_errors` follows that of goals which cannot be met.
"""

import ast
from pathlib import Path

from tests.first_contact import (
    test_advice_of_commands,
    test_advice_of_fhir,
    test_advice_of_hierarchies,
    test_advice_of_linked_tables,
    test_advice_of_methods,
    test_advice_of_policies,
    test_advice_of_sources,
    test_advice_of_studio,
)
from tests.first_contact.elsewhere import elsewhere
from tests.first_contact.following import advised

TESTS = Path(__file__).parents[1]
FOLLOWED = {
    case.key
    for module in (
        test_advice_of_commands,
        test_advice_of_fhir,
        test_advice_of_hierarchies,
        test_advice_of_linked_tables,
        test_advice_of_methods,
        test_advice_of_policies,
        test_advice_of_sources,
        test_advice_of_studio,
    )
    for case in module.CASES.values()
}
PROCESSES = {
    ("app/reproduce.py", "did_you_mean(paper, [*known, ALL])"): (
        "test_cli.py::test_bad_input_is_one_message_and_an_exit_code",
        "no reproduction",
    ),
    ("app/bounds.py", "Give it uncompressed, or use the command line."): (
        "studio/security/test_bombs.py::test_a_compressed_file_that_expands_without_end_is_refused",
        "expands to far more",
    ),
    ("registry.py", "Fix or uninstall it."): (
        "test_plugins.py::test_a_broken_plug_in_is_named",
        "The installed package",
    ),
    ("registry.py", "Uninstall '{}', or have its part renamed."): (
        "test_plugins.py::test_a_taken_name_is_an_error_that_names_the_package",
        "or have its part renamed",
    ),
    (
        "clusters.py",
        "Is the server running, and is Java 17 or 21 installed where it runs? sc:// needs a Connect server.",
    ): (
        "engine/test_spark_refusals.py::test_no_server",
        "No Spark answers",
    ),
    ("clusters.py", "Use a cluster with Spark {}."): (
        "engine/test_spark_refusals.py::test_another_version",
        "medveil is made for Spark",
    ),
    ("clusters.py", "Use one address in a process, or sc://."): (
        "engine/test_spark_refusals.py::test_another_address_in_the_same_process",
        "already holds a Spark",
    ),
    ("engine/spark_publication.py", "Nothing was published: try again."): (
        "engine/test_spark_refusals.py::test_a_cluster_that_loses_rows_publishes_nothing",
        "other rows than it was given",
    ),
    ("engine/spark_reading.py", "Were files moved or written anew since the run began?"): (
        "engine/test_spark_refusals.py::test_data_that_vanish",
        "no longer where they were",
    ),
    ("engine/spark_reading.py", "Was the table dropped or renamed since the run began?"): (
        "engine/test_spark_tables.py::test_a_table_that_is_not_there_or_vanishes",
        "no longer where they were",
    ),
    (
        "engine/spark_session.py",
        "Does the cluster still run, and does it see the same files as this machine, in the same places?",
    ): ("engine/test_spark_refusals.py::test_data_that_vanish", "Spark could not do this"),
    ("sources/spark.py", "Check that it exists, and that its name is written as the cluster writes it."): (
        "engine/test_spark_tables.py::test_a_table_that_is_not_there_or_vanishes",
        "finds no table of that name",
    ),
}
"""Advice that appears in a process of its own, or on a cluster: the test, and the words by which it knows it."""
REFUSED_BEFORE = "a policy that would lead here is refused before, by words that have a case"
BY_HAND = "only who calls this part of the library by hand meets it"
INSTALLED = "nothing can be installed or taken away in a test; .ci/wheel runs each extra without the others"
MACHINE = "about the machine: its disk, its memory, its permissions, another run at the same moment"
CHANGED = "a question: what somebody changed can only be made anew, which every other test does"
READ_BEFORE = "the same words as where the engine reads the same file before"
LARGE = "a table or a domain that is too large for a test"
CLUSTER = "who follows it needs a cluster"
STUDIO = "who follows it has opened a server, which does not end by itself: tests/studio does so"
REASONS = {
    ("studio/routes/start.py", "studio.words.here.tick"): STUDIO,
    ("release/ledgers.py", "Nothing was released. Try again when that is done."): MACHINE,
    ("cli/running.py", "Add '--engine spark'."): CLUSTER,
    ("clusters.py", "pip install 'medveil[spark]' for sc:// addresses, 'medveil[spark-local]' for others."): INSTALLED,
    (
        "engine/spark_publication.py",
        "Is there space, and does the cluster see this folder under the same path?",
    ): CLUSTER,
    ("engine/spark_reading.py", "Give a table with at least one record."): CLUSTER,
    ("app/anonymize.py", "The release itself is complete."): MACHINE,
    ("app/linked_measuring.py", "Give its own policy."): BY_HAND,
    ("app/preparation.py", "'anonymize' and 'audit' take linked tables."): BY_HAND,
    ("app/bounds.py", "Compress it again."): REFUSED_BEFORE,
    ("auditor/changed.py", "explain(str(error))"): READ_BEFORE,
    ("auditor/tables.py", "explain(str(error))"): READ_BEFORE,
    ("auditor/truth.py", "explain(str(error))"): READ_BEFORE,
    ("cli/serving.py", "Name one with --data."): STUDIO,
    ("cli/serving.py", "pip install 'medveil[studio]'"): INSTALLED,
    ("engine/duckdb.py", "The data are copied to it while they are read."): MACHINE,
    ("engine/duckdb_texts.py", "Does the frame have plain columns only?"): READ_BEFORE,
    ("evaluation/matching.py", "Measure a part of the release."): LARGE,
    ("hierarchy/hierarchy.py", "Give every group exactly one parent."): BY_HAND,
    ("lattice/evaluate.py", "Give a table with at least one record."): REFUSED_BEFORE,
    ("lattice/evaluate.py", "Name at least one under 'privacy:'."): REFUSED_BEFORE,
    ("lattice/loss.py", "Fix the 'weight' entries."): REFUSED_BEFORE,
    ("lattice/queries.py", "Name at least one under 'privacy:'."): REFUSED_BEFORE,
    ("lattice/queries.py", "remedy"): REFUSED_BEFORE,
    ("lattice/loss.py", "did_you_mean(given, LOSSES)"): REFUSED_BEFORE,
    ("methods/diversity_aware/method.py", "Change it, or the policy."): REFUSED_BEFORE,
    ("methods/dp/ipa_published.py", "Raise 'min_level', or declare less."): LARGE,
    ("methods/dp/method.py", "Leave 'seed' out."): REFUSED_BEFORE,
    ("methods/fixed_interval/method.py", "Choose another method."): REFUSED_BEFORE,
    ("methods/iack.py", "Choose another method."): REFUSED_BEFORE,
    ("methods/mondrian/mondrian.py", "Use another one, such as 'optimal'."): REFUSED_BEFORE,
    ("privacy/delta_presence.py", "Give its file as 'population:' of the model."): REFUSED_BEFORE,
    ("privacy/integer_noise.py", "pip install 'medveil[dp]'"): INSTALLED,
    ("privacy/km_anonymity.py", "Use it with linked tables ('tables:') on a column with 'set: true'."): REFUSED_BEFORE,
    ("release/catalog.py", "Was it changed by hand?"): CHANGED,
    ("release/copies.py", "pip install 'medveil[files]'"): INSTALLED,
    ("release/copies.py", "pip install 'medveil[frames]'"): INSTALLED,
    ("release/directory.py", "cause"): MACHINE,
    ("release/ledger.py", "Check its permissions."): MACHINE,
    ("release/manifest.py", "Check its permissions."): MACHINE,
    ("release/release.py", "pip install 'medveil[frames]'"): INSTALLED,
    ("release/truthful.py", "Use the release and catalog of one directory."): REFUSED_BEFORE,
    ("release/truthful.py", "Was it changed by hand?"): CHANGED,
    ("reproduce/diversity_aware_cleveland.py", "pip install 'medveil[learning,optimization]'"): INSTALLED,
    ("risk/leakage.py", "did_you_mean(name, entries.names)"): REFUSED_BEFORE,
    ("sources/database.py", "pip install 'medveil[databases]'"): INSTALLED,
    ("sources/files.py", "Check its permissions."): MACHINE,
    ("studio/routes/start.py", "Choose another one."): STUDIO,
    ("studio/security/uploads.py", "Is the disk full?"): MACHINE,
    ("studio/serving.py", "Name another one with --port, or 0 for any that is free."): STUDIO,
    ("studio/serving.py", "Use that one, or name another folder with --folder."): STUDIO,
    ("table/domain.py", "Declare the column's type."): BY_HAND,
    ("table/schema.py", "did_you_mean(name, [a.name for a in self.attributes])"): BY_HAND,
    ("utility/classification.py", "pip install 'medveil[learning]'"): INSTALLED,
    ("utility/prediction.py", "pip install 'medveil[learning]'"): INSTALLED,
}


def test_every_piece_of_advice_is_accounted_for_once():
    given = {key for keys in elsewhere().values() for key in keys}
    ways = [FOLLOWED, given, set(PROCESSES), set(REASONS)]
    assert sum(map(len, ways)) == len(set.union(*ways)), "one way is enough for each piece of advice"
    assert set.union(*ways) == advised(), "a new piece of advice needs somebody who follows it"


def test_tests_that_are_named_exist():
    missing = [test for test in elsewhere() if _function(test.removeprefix("tests/")) is None]
    assert not missing


def test_tests_of_processes_know_the_message():
    for test, words in PROCESSES.values():
        function = _function(test)
        assert function is not None, test
        assert words in ast.unparse(function), test


def _function(test: str) -> ast.FunctionDef | None:
    """The function of a test that is called so."""
    path, _, name = test.partition("[")[0].partition("::")
    tree = ast.parse((TESTS / path).read_text(encoding="utf-8"))
    last = name.rpartition("::")[2]
    return next((n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == last), None)
