"""Databases: a PostgreSQL in a temporary folder, and SQLite. One snapshot, no password anywhere, all or nothing."""

import os
import pwd
import shutil
import signal
import sqlite3
import subprocess
import tempfile
from pathlib import Path

import pyarrow as pa
import pytest

import medveil
from medveil.app.preview import preview
from medveil.connections import Connections, read_connections
from medveil.errors import InputError, MedveilError, OutputError, PolicyError
from medveil.run import Run
from medveil.sources import database
from medveil.sources.database import DatabaseSession, session
from medveil.sources.sql import SqlSpec
from medveil.workspace import Workspace

pytest.importorskip("adbc_driver_sqlite", reason="the extra databases is not installed")
dbapi = pytest.importorskip("adbc_driver_postgresql.dbapi", reason="the extra databases is not installed")

SECRET = "hunter2-is-not-in-any-message"  # noqa: S105 - of a server that ends with the tests
NAME = "Wilhelmina"
PLACES = ("/usr/lib/postgresql/*/bin", "/usr/local/bin", "/usr/bin")


def program(name):
    found = [path for place in PLACES for path in sorted(Path("/").glob(f"{place[1:]}/{name}"))]
    return str(found[0]) if found else shutil.which(name)


@pytest.fixture(scope="module")
def postgres():
    """A server of its own, reached by a socket in its folder. It does not run as root."""
    start, make = program("postgres"), program("initdb")
    if start is None or make is None:
        if os.environ.get("MEDVEIL_REQUIRE_POSTGRESQL"):
            pytest.fail("PostgreSQL is required here, and its programs are not installed")
        pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
    folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
    user = {}
    if os.geteuid() == 0:
        other = next(
            (name for name in ("postgres", "nobody") if name in {entry.pw_name for entry in pwd.getpwall()}), None
        )
        shutil.chown(folder, other)
        user = {"user": other, "group": pwd.getpwnam(other).pw_gid, "extra_groups": []}
    (folder / "password").write_text(SECRET, encoding="utf-8")
    (folder / "password").chmod(0o644)
    options = [
        "-D",
        str(folder / "data"),
        "-U",
        "steward",
        "--auth=scram-sha-256",
        "--no-sync",
        "--locale=C",
        "-E",
        "UTF8",
    ]
    subprocess.run(
        [make, *options, f"--pwfile={folder / 'password'}"], check=True, capture_output=True, cwd=folder, **user
    )
    settings = ["-c", "listen_addresses=", "-c", "fsync=off", "-c", "shared_buffers=32MB"]
    server = subprocess.Popen(
        [start, "-D", str(folder / "data"), "-k", str(folder), *settings],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        cwd=folder,
        text=True,
        **user,
    )
    assert server.stderr is not None
    for line in server.stderr:
        if "ready to accept connections" in line:
            break
    yield f"postgresql://steward:{SECRET}@/postgres?host={folder}"
    server.send_signal(signal.SIGINT)  # sessions that are still open end with it
    server.stderr.close()
    server.wait()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def registry(postgres):
    database._OPEN.clear()
    with dbapi.connect(postgres) as opened, opened.cursor() as cursor:
        # A session of an earlier test, kept alive by its error, would hold what is dropped here.
        others = "usename = 'steward' AND pid <> pg_backend_pid()"
        cursor.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {others}")
        cursor.execute("DROP SCHEMA IF EXISTS published CASCADE")
        cursor.execute("DROP TABLE IF EXISTS patients")
        cursor.execute(
            "CREATE TABLE patients AS SELECT i AS id, 20 + i % 40 AS age, (20 + i % 7)::numeric / 2 AS dose, "
            "DATE '2020-01-01' + i AS seen, CASE WHEN i % 2 = 0 THEN 'f' ELSE 'm' END AS \"Sex at birth\", "
            "CASE WHEN i % 5 > 0 THEN 'flu' END AS illness FROM generate_series(1, 400) AS i"
        )
        opened.commit()
    return Connections({"registry": postgres})


@pytest.fixture
def sqlite(tmp_path):
    with sqlite3.connect(tmp_path / "ward.db") as made:
        made.execute("CREATE TABLE patients (age, ill)")
        made.executemany("INSERT INTO patients VALUES (?, ?)", [(i % 3 if i % 7 else "old", None) for i in range(60)])
    made.close()
    return Connections({"ward": f"sqlite:///{tmp_path / 'ward.db'}"})


def policy(query='SELECT age, "Sex at birth", illness FROM patients', connection="registry", **output):
    return {
        "data": {"type": "sql", "connection": connection, "query": query},
        "attributes": {
            "age": {"role": "quasi", "hierarchy": {"type": "intervals", "domain": [0, 99], "widths": [10, 50]}},
            "Sex at birth": {"role": "quasi"},
            "illness": {"role": "sensitive"},
        },
        "privacy": [{"model": "k-anonymity", "k": 5}],
        "output": {"report": False, **output},
    }


def everything_written(folder):
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_a_release_from_a_query_and_back_into_a_schema(registry, postgres, tmp_path):
    target = {"connection": "registry", "schema": "published", "table": "patients_2026"}
    release = medveil.anonymize(policy(database=target), out=tmp_path / "out", connections=registry.addresses)
    assert release.manifest.rows["input"] == 400
    with dbapi.connect(postgres) as opened, opened.cursor() as cursor:
        cursor.execute("SELECT * FROM published.patients_2026")
        assert cursor.fetch_arrow_table().sort_by("age").num_rows == release.manifest.rows["published"]
    assert SECRET.encode() not in everything_written(tmp_path / "out")
    with pytest.raises(OutputError, match="already exists in the connection 'registry'"):
        medveil.anonymize(policy(database=target), out=tmp_path / "again", connections=registry.addresses)
    assert not (tmp_path / "again").exists()


def test_all_or_nothing(registry, postgres):
    table = pa.table({"a": [1]})
    with pytest.raises(OutputError):
        DatabaseSession(registry.find("registry"), writes=True).write(
            "published", {"first": table, "second": pa.table({"a": [[{"b": 1}]]})}
        )
    with dbapi.connect(postgres) as opened, opened.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM information_schema.schemata WHERE schema_name = 'published'")
        assert cursor.fetchone() == (0,)


def test_types_become_what_a_table_has(registry):
    spec = SqlSpec(connection="registry", query="SELECT * FROM patients ORDER BY id LIMIT 2;")
    source = spec.open(Workspace(connections=registry))
    table = source.batches().read_all()
    assert source.names == ("id", "age", "dose", "seen", "Sex at birth", "illness")
    assert table["dose"].type == pa.string()
    assert str(table["seen"][0]) == "2020-01-02"
    assert "registry" in source.identity
    assert "SELECT" not in source.identity


def test_sources_of_one_run_see_one_state(registry, postgres):
    workspace = Workspace(connections=registry)
    first = SqlSpec(connection="registry", query="SELECT id FROM patients").open(workspace)
    assert first.batches().read_all().num_rows == 400
    with dbapi.connect(postgres) as opened, opened.cursor() as cursor:
        cursor.execute("DELETE FROM patients WHERE id > 100")
        opened.commit()
    second = SqlSpec(connection="registry", query="SELECT id FROM patients").open(workspace)
    assert second.batches().read_all().num_rows == 400
    del first, second
    later = SqlSpec(connection="registry", query="SELECT id FROM patients").open(workspace)
    assert later.batches().read_all().num_rows == 100


def test_a_query_cannot_write(registry, postgres):
    for query in ("DELETE FROM patients RETURNING id", "SELECT id FROM patients; DROP TABLE patients"):
        with pytest.raises(InputError, match="The query on the connection 'registry' failed"):
            SqlSpec(connection="registry", query=query).open(Workspace(connections=registry))
    with dbapi.connect(postgres) as opened, opened.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM patients")
        assert cursor.fetchone() == (400,)


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("SELECT * FROM nowhere", "a table in it does not exist"),
        ("SELECT nothing FROM patients", "a column in it does not exist"),
        ("SELEKT", "not SQL"),
        (f"SELECT CAST('{NAME}' AS integer) AS age", "failed"),
        ("SELECT age, age FROM patients", "several columns with the same name"),
        ("SELECT 1/(id - 200) AS x FROM patients", "failed"),
    ],
)
def test_what_goes_wrong_is_told_without_values_and_addresses(registry, query, words):
    with pytest.raises(MedveilError) as refused:
        SqlSpec(connection="registry", query=query).open(Workspace(connections=registry)).batches().read_all()
    told = str(refused.value)
    assert words in told
    for hidden in (SECRET, NAME, "host=", "steward"):
        assert hidden not in told


def test_a_wrong_password_and_a_server_that_is_not_there(postgres):
    for address in (postgres.replace(SECRET, "wrong"), "postgresql://steward:wrong@/postgres?host=/nowhere"):
        with pytest.raises(InputError, match="cannot be opened") as refused:
            session(Connections({"registry": address}).find("registry"))
        assert "wrong" not in str(refused.value).replace("the password is wrong", "")


def test_sqlite_takes_columns_of_mixed_kinds(sqlite):
    source = SqlSpec(connection="ward", query="SELECT * FROM patients").open(Workspace(connections=sqlite))
    table = source.batches().read_all()
    assert set(table["age"].to_pylist()) == {"0", "1", "2", "old"}
    assert table["ill"].null_count == 60
    plain = {
        "data": {"type": "sql", "connection": "ward", "query": "SELECT * FROM patients"},
        "attributes": {"age": {"role": "quasi"}},
        "privacy": [{"model": "k-anonymity", "k": 5}],
        "output": {"report": False, "database": {"connection": "ward"}},
    }
    medveil.anonymize(plain, connections=sqlite.addresses)
    with pytest.raises(OutputError, match="already exists"):
        medveil.anonymize(plain, connections=sqlite.addresses)


def test_a_comparison_and_a_preview_read_a_database_and_write_nothing_to_it(sqlite, tmp_path):
    asked = {
        "data": {"type": "sql", "connection": "ward", "query": "SELECT * FROM patients"},
        "attributes": {"age": {"role": "quasi"}},
        "privacy": [{"model": "k-anonymity", "k": 5}],
        "output": {"database": {"connection": "ward"}},
    }
    run = Run(workspace=Workspace(connections=sqlite))
    found = medveil.compare(asked, out=tmp_path / "out", chosen=["mondrian"], run=run)
    assert [one.reason for one in found] == [None] * len(found)
    assert preview(asked, run=run).sampled == 60
    with sqlite3.connect(tmp_path / "ward.db") as ward:
        assert ward.execute("SELECT name FROM sqlite_master").fetchall() == [("patients",)]
    ward.close()


def test_connections_are_named_in_a_file_that_is_the_stewards_alone(tmp_path):
    path = tmp_path / "connections.yaml"
    (tmp_path / "secret").write_text("p@ss/word\n", encoding="utf-8")
    path.write_text(
        "a: postgresql://reader@host/db\nb: {uri: postgresql://reader@host:5433/db, password_file: secret}\n",
        encoding="utf-8",
    )
    path.chmod(0o644)
    with pytest.raises(InputError, match="chmod 600"):
        read_connections(path)
    path.chmod(0o600)
    found = read_connections(path)
    assert found.find("b").address == "postgresql://reader:p%40ss%2Fword@host:5433/db"
    assert "reader" not in repr(found)
    assert "reader" not in repr(found.find("a"))
    for name, words in (("c", "There is no connection called 'c'"), ("", "no connection")):
        with pytest.raises(InputError, match=words):
            found.find(name)
    with pytest.raises(InputError, match="a kind that medveil does not know"):
        Connections({"x": "oracle://reader:hunter2@host"}).find("x")
    path.write_text(f"a: [{SECRET}\n", encoding="utf-8")
    with pytest.raises(InputError, match="not a file of connections") as refused:
        read_connections(path)
    assert SECRET not in str(refused.value)


def test_the_command_takes_connections_from_the_environment(sqlite, tmp_path):
    (tmp_path / "policy.yaml").write_text(
        "data: {type: sql, connection: ward, query: select * from patients}\n"
        "attributes: {age: {role: quasi}}\nprivacy: [{model: k-anonymity, k: 5}]\noutput: {report: false}\n",
        encoding="utf-8",
    )
    command = ["-m", "medveil", "anonymize", str(tmp_path / "policy.yaml"), "--out", str(tmp_path / "out")]
    environment = {**os.environ, "MEDVEIL_CONNECTION_WARD": sqlite.addresses["ward"]}
    done = subprocess.run([os.sys.executable, *command], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "release.csv").is_file()


def test_linked_tables_are_not_written_to_a_database():
    people = {"data": "p.csv", "attributes": {"id": {"role": "key"}, "age": {"role": "quasi"}}}
    visits = {"data": "v.csv", "key": {"patient": "people.id"}, "attributes": {"ward": {"role": "plain"}}}
    linked = {
        "tables": {"people": people, "visits": visits},
        "privacy": [{"model": "k-anonymity", "k": 2}],
        "output": {"database": {"connection": "registry"}},
    }
    with pytest.raises(PolicyError, match=r"'output\.database' is for one table"):
        medveil.anonymize(linked)
