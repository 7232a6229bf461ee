"""What the tests of Spark share: whether there is one, and a Connect server of their own."""

import os
import shutil
import socket
import subprocess
import sys
from contextlib import contextmanager
from importlib.util import find_spec

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings

LOCAL = "local[2]"
SETTINGS = {"spark.sql.shuffle.partitions": "2", "spark.default.parallelism": "2"}
SERVER = """
import json, sys
from pyspark.sql import SparkSession
builder = SparkSession.builder.master(sys.argv[2])
settings = json.loads(sys.argv[3]) | {
    "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.connect.grpc.binding.address": "127.0.0.1",
    "spark.connect.grpc.binding.port": sys.argv[1],
    "spark.connect.progress.reportInterval": "20ms",
    "spark.ui.enabled": "false",
}
for key, value in settings.items():
    builder = builder.config(key, value)
builder.getOrCreate()
print("up", flush=True)
sys.stdin.read()
"""


def why_not():
    """Why there is no Spark on this machine, None where there is one."""
    if find_spec("pyspark") is None:
        return "pyspark is not installed: make test-spark"
    if shutil.which("java") is None:
        return "there is no Java: install openjdk-17-jre-headless, or 21"
    return None


def need_spark():
    """Leave out what needs Spark where there is none, unless somebody requires it."""
    reason = why_not()
    if reason is not None and os.environ.get("MEDVEIL_REQUIRE_SPARK"):
        pytest.fail(reason, pytrace=False)
    if reason is not None:
        pytest.skip(reason, allow_module_level=True)


few = settings(max_examples=3, deadline=None, database=None, suppress_health_check=list(HealthCheck), derandomize=True)


def run_on_few(test, **fixtures):
    """A test of drawn examples on a few of them: each answer of Spark takes a good part of a second."""
    body = test.hypothesis.inner_test
    wanted = body.__code__.co_varnames[: body.__code__.co_argcount]
    given_here = {name: value for name, value in fixtures.items() if name in wanted}

    @few
    @given(**test.hypothesis._given_kwargs)
    def check(**drawn):
        body(**given_here, **drawn)

    check()


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


@contextmanager
def connect_server(master=LOCAL, settings="{}"):
    """A Connect server in a process of its own, which ends when nobody holds its input any more: its address."""
    port = free_port()
    command = [sys.executable, "-c", SERVER, str(port), master, settings]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        assert server.stdout.readline() == "up\n"
        yield f"sc://127.0.0.1:{port}"
        server.stdin.close()


def patients(number=400):
    return pa.table(
        {
            "age": [20 + i * 7 % 60 for i in range(number)],
            "sex": ["fm"[i * i % 2] for i in range(number)],
            "ill": [("asthma", "gout", 'flu, or "cold"')[i * i % 3] for i in range(number)],
            "ward": ["AB"[i // 3 % 2] for i in range(number)],
            "who": [f"p{i // 2}" for i in range(number)],
        }
    )


def policy(method="optimal", remote=None, **more):
    engine = {} if remote is None else {"engine": {"type": "spark", "remote": remote, "settings": SETTINGS}}
    return {
        "attributes": {
            "age": {"role": "quasi", "type": "number", "hierarchy": {"type": "intervals", "widths": [10]}},
            "sex": {"role": "quasi"},
            "ill": {"role": "sensitive"},
            "ward": {"role": "plain"},
            **more,
        },
        "privacy": [{"model": "k-anonymity", "k": 5}],
        "method": {"name": method},
        "evaluation": {"advice": False},
        "output": {"report": False},
        **engine,
    }
