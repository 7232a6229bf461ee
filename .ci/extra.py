"""What an extra brings, used once: `python .ci/extra.py EXTRA FOLDER PATIENTS.csv`."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow.csv

import medveil

RECORDS = [{"age": 30 + i % 7, "ill": "ab"[i % 2], "code": ("J45", "I10")[i % 2]} for i in range(80)]
TABLE = pyarrow.Table.from_pylist(RECORDS)
AGE = {"role": "quasi", "type": "number"}
ILL = {"role": "sensitive"}
K = {"model": "k-anonymity", "k": 3}


def released(privacy: Mapping[str, Any] = K, out: Path | None = None, **policy: Any) -> medveil.Release:
    attributes = policy.pop("attributes", {"age": AGE, "ill": ILL})
    report = {"output": {"report": False}} | policy
    made = medveil.anonymize(TABLE, {"attributes": attributes, "privacy": [privacy], **report}, out=out)
    assert made.manifest.rows["published"] > 0
    return made


def frames(folder: Path, patients: Path) -> None:
    assert len(released().to_pandas()) == len(released().to_polars()) == len(RECORDS)


def optimization(folder: Path, patients: Path) -> None:
    released(method="diversity-aware")


def dp(folder: Path, patients: Path) -> None:
    declared = {
        "age": {**AGE, "domain": {"range": [0, 99]}},
        "ill": {**ILL, "domain": ["a", "b"]},
    }
    released({"model": "differential-privacy", "epsilon": 5.0}, attributes=declared, method="dp-histogram")


def spark(folder: Path, patients: Path) -> None:
    """The thin client is there, without Java; a server is not."""
    command = [program(), "engine", "check", "--remote", "sc://127.0.0.1:1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "No Spark answers" in done.stderr, done.stderr


def learning(folder: Path, patients: Path) -> None:
    released(out=folder / "learned")
    found = medveil.measure(folder / "learned", original=TABLE)
    assert "classification" in found.measures, sorted(found.measures)


def report(folder: Path, patients: Path) -> None:
    assert (folder / "release/report.html").is_file()
    assert (folder / "release/internal/report.html").is_file()


def codes(folder: Path, patients: Path) -> None:
    tree = {"role": "quasi", "type": "code", "hierarchy": {"type": "icd-10-cm"}}
    released(attributes={"code": tree, "ill": ILL})


def files(folder: Path, patients: Path) -> None:
    released(out=folder / "excel", output={"format": "excel", "report": False})
    assert medveil.inspect(folder / "excel/release.xlsx").rows == len(RECORDS)


def databases(folder: Path, patients: Path) -> None:
    with sqlite3.connect(folder / "ward.db") as connection:
        connection.execute("CREATE TABLE ward (age INTEGER, ill TEXT)")
        connection.executemany("INSERT INTO ward VALUES (:age, :ill)", RECORDS)
    (folder / "policy-of-database.yaml").write_text(
        "data: {type: sql, connection: ward, query: SELECT * FROM ward}\n"
        "attributes: {age: {role: quasi, type: number}, ill: {role: sensitive}}\n"
        "privacy: [{model: k-anonymity, k: 3}]\noutput: {report: false}\n"
    )
    subprocess.run(
        [program(), "anonymize", "policy-of-database.yaml", "--out", "of-database"],
        cwd=folder,
        env={"MEDVEIL_CONNECTION_WARD": f"sqlite:///{folder}/ward.db", "HOME": str(folder)},
        check=True,
        stdout=subprocess.DEVNULL,
    )


def studio(folder: Path, _patients: Path) -> None:
    subprocess.run([sys.executable, Path(__file__).with_name("studio"), program(), folder / "studio"], check=True)


def program() -> str:
    return str(Path(sys.executable).with_name("medveil"))


EXTRAS: Mapping[str, Callable[[Path, Path], None]] = {
    "frames": frames,
    "optimization": optimization,
    "dp": dp,
    "learning": learning,
    "report": report,
    "codes": codes,
    "files": files,
    "databases": databases,
    "studio": studio,
    "spark": spark,
}
NOT_IN_ALL = {"spark"}

if __name__ == "__main__":
    asked, folder, patients = sys.argv[1], Path(sys.argv[2]).resolve(), Path(sys.argv[3]).resolve()
    for name, use in EXTRAS.items():
        if asked == name or (asked == "all" and name not in NOT_IN_ALL):
            use(folder, patients)
