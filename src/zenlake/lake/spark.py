"""Starts a Spark session: without log output, with this interpreter, on this machine by default.

Spark's Java process writes a lot to standard error from its start on. It goes to a temporary file;
if the process fails to start, the first error in it is reported.
"""

from __future__ import annotations

import atexit
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile, mkdtemp
from typing import IO, TYPE_CHECKING, Final

from zenlake import exit_cleanups
from zenlake.lake import spark_path
from zenlake.lake.class_archive import archive_path, java_options, make_after_this_process
from zenlake.lake.errors import LakeError

if TYPE_CHECKING:
    from pyspark.conf import SparkConf
    from pyspark.sql import SparkSession

JAVA_VERSION_MIN: Final = 17
LOCAL_MASTER: Final = "local[*,4]"
"""All cores; a task that dies is tried up to four times, as on a cluster."""
LOCAL_MEMORY: Final = f"{max(1200, 256 * (os.cpu_count() or 1))}m"
"""Java's heap. Sorts and joins that do not fit write to the disk."""
# Limits of batches between Java and Python; payloads may be large, so bytes are limited too.
ARROW_BATCH_ROWS: Final = 16_384
ARROW_BATCH_BYTES: Final = 64 << 20

QUICK_START: Final = {
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.shuffle.partitions": "1",
}
"""Settings of short runs: Java's optimizing compiler would cost more time than it saves."""
_GLOB: Final = re.compile(r"[\\*?\[\]{}]")
_LOOPBACK: Final = "127.0.0.1"
_NEEDS_JAVA: Final = (
    f"Spark needs Java {JAVA_VERSION_MIN} or later: "
    f"install openjdk-{JAVA_VERSION_MIN}-jre-headless or set JAVA_HOME"
)
_SETTINGS: Final = {
    "spark.sql.session.timeZone": "UTC",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.execution.arrow.maxRecordsPerBatch": str(ARROW_BATCH_ROWS),
    "spark.sql.execution.arrow.maxBytesPerBatch": str(ARROW_BATCH_BYTES),
}
_LOCAL_SETTINGS: Final = {
    "spark.driver.host": _LOOPBACK,
    "spark.driver.bindAddress": _LOOPBACK,
    "spark.driver.memory": LOCAL_MEMORY,
    "spark.python.daemon.module": "zenlake.lake.spark_daemon",
    # The steps have more generated code than Spark's default cache holds.
    "spark.sql.codegen.cache.maxEntries": "1000",
    # Spark's default of 200 is too many for tables of a lake.
    "spark.sql.shuffle.partitions": str(2 * (os.cpu_count() or 1)),
}


def session(
    master: str | None = None, app: str = "zenlake", log_level: str = "ERROR", **conf: str
) -> SparkSession:
    """The session for `master` (`local[4]`, `spark://...`, `sc://...`; this machine by default).

    A session that already runs is used, with the settings that can still change. `conf` are further
    settings, which override ours: `session(**{"spark.ui.port": "1"})`.
    """
    from pyspark.conf import SparkConf
    from pyspark.sql import SparkSession

    master = master or LOCAL_MASTER
    builder = SparkSession.builder.appName(app)
    if master.startswith("sc://"):
        for name, value in {"spark.sql.session.timeZone": "UTC", **conf}.items():
            builder = builder.config(name, value)
        return builder.remote(master).getOrCreate()
    settings = {**_SETTINGS, **(_local_settings() if _is_local(master) else {}), **conf}
    _use_this_interpreter(_is_local(master))
    _start(SparkConf().setMaster(master).setAppName(app).setAll(list(settings.items())))
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel(log_level)
    return spark


def literal(path: str) -> str:
    """A path with escapes, so that Spark does not read it as a pattern."""
    return _GLOB.sub(r"\\\g<0>", path)


def _is_local(master: str) -> bool:
    return master.startswith("local")


def _local_settings() -> dict[str, str]:
    folder = shlex.quote(_temporary_folder())
    return {
        **_LOCAL_SETTINGS,
        "spark.local.dir": _temporary_folder(),
        "spark.driver.defaultJavaOptions": f"-Djava.io.tmpdir={folder}",
    }


@cache
def _temporary_folder() -> str:
    """The folder for Java's temporary files, which Java does not remove when it is killed."""
    folder = mkdtemp(prefix="zenlake-spark-")

    def remove() -> None:
        shutil.rmtree(folder, ignore_errors=True)

    exit_cleanups.register(remove)
    atexit.register(remove)
    return folder


def _use_this_interpreter(is_local: bool) -> None:
    """Local workers need our packages; for other machines the user may have set one."""
    for name in ("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON"):
        if is_local or name not in os.environ:
            os.environ[name] = sys.executable


def _start(conf: SparkConf) -> None:
    """Starts the Java process and its context, unless they exist."""
    from py4j.protocol import Py4JError
    from pyspark.core.context import SparkContext
    from pyspark.errors import PySparkException
    from pyspark.java_gateway import launch_gateway
    from pyspark.logger import PySparkLogger

    # Its messages are in the exceptions as well.
    PySparkLogger.getLogger("SQLQueryContextLogger").disabled = True
    if SparkContext._active_spark_context is not None:
        return
    if SparkContext._gateway is not None:
        SparkContext(conf=conf)
        return
    java = _check_java()
    is_local = _is_local(conf.get("spark.master") or "")
    if is_local:
        _use_class_archive(conf, java)
    with TemporaryFile() as output:
        try:
            streams = {"stdout": output, "stderr": output}
            with _own_temporary_files(), _python_path(spark_path.FOLDER if is_local else ""):
                gateway = launch_gateway(conf, streams)  # type: ignore[no-untyped-call]  # no types
            with _same_interrupt_handler():
                SparkContext(conf=conf, gateway=gateway)
        except (PySparkException, Py4JError) as error:
            cause = _first_error(output) or " ".join(str(error).split())
            raise LakeError(f"Spark does not start: {cause}") from None


def class_archive(java: str | None = None) -> Path | None:
    """The class-data archive of the Java and Spark that a session starts; `java` is its version."""
    from pyspark.find_spark_home import _find_spark_home

    return archive_path(java or _check_java(), _find_spark_home())


def _use_class_archive(conf: SparkConf, java: str) -> None:
    name = "spark.driver.defaultJavaOptions"
    archive = class_archive(java)
    conf.set(name, f"{conf.get(name) or ''} {java_options(archive)}".strip())
    make_after_this_process(archive)


@contextmanager
def _own_temporary_files() -> Iterator[None]:
    """Spark makes a temporary folder to learn Java's port. In our own folder it is removed even if
    a signal ends the process meanwhile."""
    before = tempfile.tempdir
    tempfile.tempdir = _temporary_folder()
    try:
        yield
    finally:
        tempfile.tempdir = before


@contextmanager
def _python_path(folder: str) -> Iterator[None]:
    """Adds a folder for Java, which passes its `PYTHONPATH` on to Python processes it starts."""
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (folder, before)))
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = before


@contextmanager
def _same_interrupt_handler() -> Iterator[None]:
    """Restores the caller's handler for Ctrl-C, which a context replaces by one for its jobs."""
    before = signal.getsignal(signal.SIGINT)
    yield
    is_own = before not in (None, signal.default_int_handler)
    if is_own and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, before)


def _first_error(output: IO[bytes]) -> str:
    output.seek(0)
    lines = output.read().decode("utf-8", "replace").split("\n")
    return next((line.strip() for line in lines if "Exception" in line or "rror" in line), "")


def java_command() -> str:
    home = os.environ.get("JAVA_HOME")
    return str(Path(home, "bin", "java")) if home else "java"


def _check_java() -> str:
    """The output of `java -version`; error if Java is missing or too old."""
    try:
        output = subprocess.run([java_command(), "-version"], capture_output=True, text=True).stderr
    except OSError:
        raise LakeError(_NEEDS_JAVA) from None
    # Before Java 9 the version was 1.8: its first number 1 is too old as well.
    version = re.search(r'version "(\d+)', output)
    if version is None or int(version[1]) < JAVA_VERSION_MIN:
        found = f" (found {version[1]})" if version else ""
        raise LakeError(_NEEDS_JAVA + found)
    return output
