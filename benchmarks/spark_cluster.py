"""A standalone Spark cluster on this machine, from the pip package: a master, workers, and where they log."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

_PATIENCE = 120.0
"""Seconds in which a process must be up."""


def free_port() -> int:
    """A port that nobody listens at."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def end(process: subprocess.Popen[bytes]) -> None:
    """End a process with those that it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(_PATIENCE)


class StandaloneCluster:
    """A master and workers of one core each, ended with this block."""

    def __init__(self, folder: Path, workers: int = 2, memory: str = "1g") -> None:
        self.folder = folder
        self.address = f"spark://127.0.0.1:{free_port()}"
        self._stack = ExitStack()
        self._memory = memory
        self._number = workers
        self.workers: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Self:
        (self.folder / "events").mkdir()
        port = self.address.rpartition(":")[2]
        try:
            self._start("master", "master.Master", "--port", port)
            self._wait_for("master", "I have been elected leader")
            for number in range(self._number):
                self.add_worker(f"worker-{number}")
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def add_worker(self, name: str) -> None:
        """One more worker; its executors log below a folder of its name."""
        given = ["--cores", "1", "--memory", self._memory, "--work-dir", str(self.folder / name), self.address]
        self.workers.append(self._start(name, "worker.Worker", *given))
        self._wait_for(name, "Successfully registered with master")

    def _start(self, name: str, kind: str, *given: str) -> subprocess.Popen[bytes]:
        import pyspark  # noqa: PLC0415

        home = Path(pyspark.__file__).parent
        local = ["--host", "127.0.0.1", "--webui-port", "0"]
        command = [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{kind}", *local, *given]
        log = self._stack.enter_context((self.folder / f"{name}.log").open("wb"))
        environment = {**os.environ, "SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1"}
        process = subprocess.Popen(command, stdout=log, stderr=log, env=environment, start_new_session=True)
        self._stack.callback(end, process)
        return process

    def _wait_for(self, name: str, words: str) -> None:
        until = time.monotonic() + _PATIENCE
        while words not in (self.folder / f"{name}.log").read_text(errors="replace"):
            if time.monotonic() > until:
                raise TimeoutError(f"{name} did not say '{words}'")
            time.sleep(0.1)

    @property
    def settings(self) -> dict[str, str]:
        """How a session on it is started."""
        return {
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.eventLog.enabled": "true",
            "spark.eventLog.compress": "false",
            "spark.eventLog.dir": f"file://{self.folder}/events",
        }
