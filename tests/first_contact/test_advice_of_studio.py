"""Who follows the advice on an upload or a folder of the studio gets on."""

import asyncio
import sqlite3

import pytest
from starlette.requests import Request
from tests.first_contact.following import Case
from tests.first_contact.test_advice_of_linked_tables import WRITTEN_VISITS, written

from medveil.app.rows import peek
from medveil.app.starter import starter
from medveil.studio.database import Store
from medveil.studio.security.uploads import FIELD, MOST_FILES, receive

FORM = "multipart/form-data; boundary=x"
TABLE = "age\n1\n2\n"


def form(content, *names):
    """A form with files of this content."""
    parts = [
        f'--x\r\nContent-Disposition: form-data; name="{FIELD}"; filename="{name}"\r\n\r\n{content}\r\n'
        for name in names or ("a.csv",)
    ]
    return "".join([*parts, "--x--\r\n"]).encode()


def uploaded(body, kind=FORM, most=1000):
    """What is received of a form."""

    async def stream():
        return {"type": "http.request", "body": body, "more_body": False}

    def run(folder):
        asked = {"type": "http", "method": "POST", "headers": [(b"content-type", kind.encode())]}
        return asyncio.run(receive(Request(asked, stream), folder, most))

    return run


def chosen(folder):
    """The same table, on this computer."""
    (folder / "a.csv").write_text(TABLE)
    return starter(str(folder / "a.csv"))


def of_version(version):
    """A folder that a studio of this version made."""

    def run(folder):
        if version:
            with sqlite3.connect(folder / "studio.db") as made:
                made.execute(f"PRAGMA user_version = {version}")
        Store(folder / "studio.db").engine.dispose()

    return run


CASES = {
    "a form without a file": Case(
        "studio/security/uploads.py", "Choose one.", uploaded(b"", "text/plain"), (uploaded(form(TABLE)),)
    ),
    "an empty file": Case(
        "studio/security/uploads.py",
        "Choose one that has a header line and records.",
        uploaded(form("")),
        (uploaded(form(TABLE)),),
    ),
    "a file that is too large": Case(
        "studio/security/uploads.py",
        "Choose it on this computer instead of uploading it, or use the command line.",
        uploaded(form(TABLE), most=3),
        (chosen,),
    ),
    "a form that is damaged": Case(
        "studio/security/uploads.py", "Try it again.", uploaded(b"no form at all"), (uploaded(form(TABLE)),)
    ),
    "two files of one name": Case(
        "studio/security/uploads.py",
        "Tables are called after their files: rename one.",
        uploaded(form(TABLE, "a.csv", "a.csv")),
        (uploaded(form(TABLE, "a.csv", "b.csv")),),
    ),
    "more files than a form takes": Case(
        "studio/security/uploads.py",
        "Choose their folder on this computer instead.",
        uploaded(form(TABLE, *(f"{number}.csv" for number in range(MOST_FILES + 1))), most=10**6),
        (lambda folder: [chosen(folder), starter(together=[str(folder)])],),
    ),
    "a folder without tables": Case(
        "app/starter.py",
        "Choose a folder of CSV or Parquet files, of FHIR or of OMOP.",
        lambda folder: starter(together=[str(folder)]),
        (lambda folder: [chosen(folder), starter(together=[str(folder)])],),
    ),
    "a table that the policy lacks": Case(
        "app/rows.py",
        "Name one of its tables.",
        lambda folder: peek(written(folder, WRITTEN_VISITS), table="visitors"),
        (lambda folder: peek(written(folder, WRITTEN_VISITS), table="visits"),),
    ),
    "a folder of another version": Case(
        "studio/database.py",
        "Name another one with --folder, or use the version that made it.",
        of_version(99),
        (of_version(None),),
    ),
}
"""Cases by what is wrong."""


@pytest.mark.parametrize("name", CASES)
def test_who_follows_the_advice_gets_on(name, tmp_path):
    CASES[name].check(tmp_path)
