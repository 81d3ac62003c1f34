"""A class-data archive of Java: Spark's classes in a form that Java maps instead of loading them.

Loading and verifying some ten thousand classes takes half the time of starting Spark. Java can keep
them in a file, which it ignores if anything does not match. The file is made once for a version of
Java and Spark, in the background after the first run, in the user's cache folder. Without it
everything works, but more slowly. `python -m zenlake.lake.class_archive` makes it at once.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import shlex
import shutil
import stat
import subprocess
import sys
import time
from contextlib import suppress
from importlib import resources
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Final

from zenlake.cache_folder import cache_folder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SWITCH: Final = "ZENLAKE_SPARK_ARCHIVE"
"""Environment variable; `off` means that no archive is used or made."""
ARCHIVES_KEPT: Final = 2
"""The most recently used ones, some 190 MB each: for two environments used alternately."""
RETRY_SECONDS: Final = 86_400.0
"""The pause after a failed attempt, because each one takes half a minute."""
_CONTENTS: Final = "tasks, queries, streams"
"""Archives with the classes of other work have other names."""
_STATEMENT: Final = """
SELECT session, kind, count(*) AS messages, collect_set(key) AS keys
FROM messages JOIN (SELECT DISTINCT session FROM messages WHERE packet > 0) USING (session)
GROUP BY ALL ORDER BY messages DESC
"""
_EXIT_SECONDS_MAX: Final = 300.0
_NICE: Final = 10
_WORK_PREFIX: Final = "making-"


def archive_path(java: str, spark_home: str) -> Path | None:
    """The path of the archive for this Java (the text of its version) and Spark.

    None if archives are switched off or there is no folder for them.
    """
    if os.environ.get(SWITCH, "").lower() in ("off", "0", "no", "false"):
        return None
    folder = cache_folder()
    # Java separates paths by colons.
    if folder is None or ":" in str(folder):
        return None
    try:
        jars = os.stat(Path(spark_home, "jars"))
    except OSError:
        return None
    known_by = f"{_CONTENTS}\n{java}\n{os.path.realpath(spark_home)}\n{jars.st_mtime_ns}"
    digest = hashlib.sha256(known_by.encode("utf-8", "surrogateescape")).hexdigest()
    return folder / f"spark-{digest[:16]}.jsa"


def java_options(archive: Path | None) -> str:
    """Options that make Java use the archive, or none; Java does not warn if it does not match."""
    if archive is None or not _is_ours(archive):
        return ""
    with suppress(OSError):  # the folder may be read-only
        os.utime(archive)  # archives that are not used for long are removed
    file = shlex.quote(f"-XX:SharedArchiveFile={archive}")
    return f"-Xshare:auto -Xlog:disable -Xlog:all=error:stderr {file}"


def make_after_this_process(archive: Path | None) -> None:
    """Starts a process that makes the archive when this process exits, unless it exists."""
    if archive is not None and not archive.exists():
        atexit.register(_start_maker, archive)


def _is_ours(archive: Path) -> bool:
    """Whether only this user can write it: Java executes the code in it."""
    try:
        found = os.stat(archive)
    except OSError:
        return False
    is_writable_by_others = found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    is_own_file = stat.S_ISREG(found.st_mode) and found.st_uid == os.getuid()
    return is_own_file and not is_writable_by_others


def _start_maker(archive: Path) -> None:
    try:
        archive.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if archive.exists() or not _claim(archive):
            return
        subprocess.Popen(
            [sys.executable, "-m", "zenlake.lake.class_archive", str(archive)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        return


def _claim(archive: Path) -> bool:
    """Whether this process may make it: no other does, and none has tried recently."""
    mark = archive.with_suffix(".attempt")
    with suppress(FileNotFoundError):
        if time.time() - mark.stat().st_mtime > RETRY_SECONDS:
            mark.unlink()
    try:
        os.close(os.open(mark, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        return False
    return True


def make(archive: Path) -> bool:
    """Starts another Spark with a task, whose Java writes the archive when it exits."""
    archive.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    _remove_old(archive.parent, archive)
    work = Path(mkdtemp(prefix=_WORK_PREFIX, dir=archive.parent))
    try:
        made = work / "classes.jsa"
        program = "import sys, zenlake.lake.class_archive as this; this.run_spark(sys.argv[1])"
        subprocess.run(
            [sys.executable, "-c", program, str(made)],
            env={**os.environ, SWITCH: "off", "TMPDIR": str(work)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=lambda: os.nice(_NICE),
        )
        if not made.exists():
            return False
        made.chmod(0o600)
        made.replace(archive)
        archive.with_suffix(".attempt").unlink(missing_ok=True)
        return True
    finally:
        shutil.rmtree(work, ignore_errors=True)


def run_spark(made: str) -> None:
    """Makes Java load the classes that a run on this machine needs."""
    from pyspark.core.context import SparkContext

    from zenlake.lake.pipeline.tasks import parallelism, run_tasks
    from zenlake.lake.spark import QUICK_START, session

    name = "spark.driver.extraJavaOptions"
    dump = shlex.quote(f"-XX:ArchiveClassesAtExit={made}")
    spark = session(**{**QUICK_START, name: f"{QUICK_START[name]} {dump}"})
    for _ in range(2):
        run_tasks(spark, _echo, [{"number": number} for number in range(parallelism(spark))])
    with suppress(Exception):  # the archive then lacks their classes
        _run_queries(spark, Path(made).parent)
    gateway = SparkContext._gateway
    spark.stop()
    process = gateway.proc  # type: ignore[union-attr]  # it has been started by the session
    process.stdin.close()  # Java ends, and writes
    process.wait(_EXIT_SECONDS_MAX)


def _run_queries(spark: SparkSession, folder: Path) -> None:
    """Reads the capture of `zenlake demo` with SQL and as a stream, and writes Parquet."""
    captures = str(resources.files("zenlake") / "cli" / "demo_data")
    rows = spark.read.format("zenoh").option("table", "messages").load(captures)
    rows.createOrReplaceTempView("messages")
    spark.sql(_STATEMENT).write.parquet(str(folder / "rows"))
    spark.read.parquet(str(folder / "rows")).toPandas()
    stream = spark.readStream.format("zenoh").option("table", "messages").load(captures)
    writer = stream.writeStream.option("checkpointLocation", str(folder / "checkpoint"))
    writer.trigger(availableNow=True).start(str(folder / "stream")).awaitTermination(60)


def _echo(job: dict[str, int]) -> dict[str, int]:
    return job


def _remove_old(folder: Path, archive: Path) -> None:
    """Removes the least recently used archives, and folders of killed makers."""
    others = [one for one in folder.glob("spark-*.jsa") if one != archive]
    others.sort(key=lambda one: one.stat().st_mtime, reverse=True)
    for one in others[ARCHIVES_KEPT - 1 :]:
        one.unlink(missing_ok=True)
    for one in folder.glob(_WORK_PREFIX + "*"):
        if time.time() - one.stat().st_mtime > RETRY_SECONDS:
            shutil.rmtree(one, ignore_errors=True)


def main() -> int:
    from zenlake.lake.spark import class_archive

    archive = Path(sys.argv[1]) if len(sys.argv) > 1 else class_archive()
    if archive is None:
        print("zenlake: class-data archives are switched off, or there is no cache folder")
        return 1
    started = time.monotonic()
    if not archive.exists() and not make(archive):
        print(f"zenlake: Java did not write {archive}")
        return 1
    size = archive.stat().st_size / 1e6
    print(f"{archive}: {size:.0f} MB in {time.monotonic() - started:.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
