"""Clusters: a Spark that is reached by its address, through a classic session or through Spark Connect.

Spark is imported where it is wanted: few need it, and what it needs is large.
"""

from __future__ import annotations

import socket
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from medveil.errors import InputError

ADDRESS = r"^(sc://|spark://|local)"
"""How an address begins."""
_VERSION = "4.2"
_ON_THIS_MACHINE = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",
    # A laptop's own name may lead nowhere.
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "8",
}
"""How a Spark in this very machine is started; a cluster has settings of its own."""
_FOR_THIS_SESSION = {
    # Columns may differ in case only.
    "spark.sql.caseSensitive": "true",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
}
_PORT = 15002
"""Where Connect servers listen unless they are told otherwise."""
_PATIENCE = 10.0
"""Seconds in which a server must answer."""


@dataclass(frozen=True)
class Cluster:
    """A session of its own on a Spark, and the functions of columns, of which Connect has its own."""

    spark: Any
    functions: Any
    by_connect: bool

    def tag(self, tag: str) -> None:
        """What this thread starts from now on carries a tag. Classic sessions that share a Spark do not find each
        other's by themselves: the Spark does.
        """
        if self.by_connect:
            self.spark.addTag(tag)
        else:
            self.spark.sparkContext.addJobTag(tag)

    def untag(self, tag: str) -> None:
        """What this thread starts from now on does not."""
        if self.by_connect:
            self.spark.removeTag(tag)
        else:
            self.spark.sparkContext.removeJobTag(tag)

    def interrupt(self, tag: str) -> None:
        """Stop what runs under a tag; what has not begun yet is not found."""
        if self.by_connect:
            self.spark.interruptTag(tag)
        else:
            self.spark.sparkContext.cancelJobsWithTag(tag)

    def close(self) -> None:
        """End the session. A classic one shares its Spark with others of this process, and ends with that."""
        if self.by_connect:
            self.spark.stop()


def connect(remote: str, settings: Mapping[str, str] | None = None) -> Cluster:
    """A session at an address: `sc://host:15002`, `spark://host:7077` or `local[2]`."""
    settings = settings or {}
    try:
        cluster = _by_connect(remote) if remote.startswith("sc://") else _classic(remote, settings)
        _check_version(cluster.spark.version)
        own = {key: value for key, value in settings.items() if key.startswith("spark.sql.")}
        for key, value in {**own, **_FOR_THIS_SESSION}.items():
            cluster.spark.conf.set(key, value)
    except InputError:
        raise
    except ImportError:
        raise InputError(
            "Spark's client is not installed, or not whole.",
            "pip install 'medveil[spark]' for sc:// addresses, 'medveil[spark-local]' for others.",
        ) from None
    except Exception:  # noqa: BLE001 - gRPC, py4j and Spark each have their own, and may quote an address with a token
        raise InputError(
            "No Spark answers at the address that was given.",
            "Is the server running, and is Java 17 or 21 installed where it runs? sc:// needs a Connect server.",
        ) from None
    return cluster


def _by_connect(remote: str) -> Cluster:
    from pyspark.sql.connect import functions  # noqa: PLC0415
    from pyspark.sql.connect.session import SparkSession  # noqa: PLC0415

    _knock(remote)
    return Cluster(SparkSession.builder.remote(remote).create(), functions, by_connect=True)


def _classic(remote: str, settings: Mapping[str, str]) -> Cluster:
    from pyspark.sql import SparkSession, functions  # noqa: PLC0415

    builder = SparkSession.builder.master(remote).appName("medveil")
    for key, value in {**(_ON_THIS_MACHINE if remote.startswith("local") else {}), **settings}.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    if spark.sparkContext.master != remote:
        raise InputError(
            "This process already holds a Spark at another address.", "Use one address in a process, or sc://."
        )
    return Cluster(spark.newSession(), functions, by_connect=False)


def _knock(remote: str) -> None:
    """Whether anybody listens there: Spark's client itself would try for ten minutes. Raises OSError."""
    place = urlsplit(remote.partition("/;")[0])
    with socket.create_connection((place.hostname or "", place.port or _PORT), timeout=_PATIENCE):
        pass


def _check_version(version: str) -> None:
    if version.split(".")[:2] != _VERSION.split("."):
        raise InputError(
            f"The cluster runs Spark {version}; medveil is made for Spark {_VERSION}.",
            f"Use a cluster with Spark {_VERSION}.",
        )


def is_sparks(error: Exception) -> bool:
    """Whether an error is of Spark or of what carries its words."""
    return type(error).__module__.split(".")[0] in {"py4j", "grpc", "pyspark"}
