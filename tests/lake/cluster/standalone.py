"""Cluster: Spark's own master and two workers on this machine, each with its own address."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pyspark

MASTER_HOST = "127.0.0.1"
WORKER_HOSTS = ("127.0.0.2", "127.0.0.3")
"""Two, because Spark does not run two attempts of a task on one host."""
START_SECONDS = 180
_DEPLOY = "org.apache.spark.deploy"
_URL = re.compile(r"spark://[\d.]+:\d+")


def environment() -> dict[str, str]:
    """An environment in which workers find the packages of this process."""
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_NO_DAEMONIZE": "1",
    }


class Service:
    """A Java process of Spark, with its log file."""

    def __init__(self, log: Path, *arguments: str) -> None:
        self._log = log
        package = Path(pyspark.__file__).parent
        command = [str(package / "bin" / "spark-class"), *arguments]
        variables = {**environment(), "SPARK_HOME": str(package)}
        with log.open("wb") as file:
            self.process = subprocess.Popen(
                command, env=variables, cwd=log.parent, stdout=file, stderr=file
            )

    def wait_for(self, words: re.Pattern[str]) -> str:
        """Waits for a line of the log that matches, and returns the match."""
        until = time.monotonic() + START_SECONDS
        while time.monotonic() < until and self.process.poll() is None:
            found = words.search(self._log.read_text())
            if found:
                return found[0]
            time.sleep(0.1)
        raise AssertionError(
            f"{words.pattern!r} is not in the log: {self._log.read_text()[-2000:]}"
        )

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()


class Cluster:
    """A cluster with one core and a gigabyte for each worker."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.services: list[Service] = []
        self.url = ""

    def __enter__(self) -> Cluster:
        try:
            self._start()
        except BaseException:
            self._stop()
            raise
        return self

    def _start(self) -> None:
        ports = ("--port", "0", "--webui-port", "0")
        log = self._folder / "master.log"
        master = Service(log, f"{_DEPLOY}.master.Master", "--host", MASTER_HOST, *ports)
        self.services.append(master)
        self.url = master.wait_for(_URL)
        for host in WORKER_HOSTS:
            place = self._folder / host
            place.mkdir()
            size = ("--cores", "1", "--memory", "1g", "--work-dir", str(place))
            name = f"{_DEPLOY}.worker.Worker"
            log = self._folder / f"{host}.log"
            self.services.append(Service(log, name, "--host", host, *ports, *size, self.url))
        for worker in self.services[1:]:
            worker.wait_for(re.compile("Successfully registered with master"))

    def _stop(self) -> None:
        for service in reversed(self.services):
            service.stop()

    def __exit__(self, *_: object) -> None:
        self._stop()
