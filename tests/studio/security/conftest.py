"""One studio for all attacks: none of them may break it for the next."""

import pyarrow.csv
import pytest

from medveil.datasets import patients


@pytest.fixture(scope="session")
def secret():
    """The password of the database that the studio knows."""
    return "swordfish-zqx"


@pytest.fixture(scope="session")
def places(tmp_path_factory):
    folder, data = tmp_path_factory.mktemp("studio"), tmp_path_factory.mktemp("data")
    pyarrow.csv.write_csv(patients(600, seed=3, patient_id=True), data / "patients.csv")
    return folder, data, tmp_path_factory.mktemp("state")


@pytest.fixture(scope="session")
def studio(places, start, secret):
    """It knows one database, at an address with a password where nobody listens."""
    address = f"postgresql://reader:{secret}@127.0.0.1:9/hospital"
    started = start(*places, environment={"MEDVEIL_CONNECTION_HOSPITAL": address})
    yield started
    if started.process.poll() is None:
        started.stop()
