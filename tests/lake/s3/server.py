"""A local server of the S3 protocol, for tests of lakes and captures in an object store."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyarrow import fs

from tests.ports import free_port
from tests.waiting import until

BUCKET = "robots"
START_SECONDS = 60.0


def environment(port: int) -> dict[str, str]:
    """The environment variables that Arrow, delta-rs and Amazon's tools read."""
    return {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_REGION": "us-east-1",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
    }


@contextmanager
def running() -> Iterator[int]:
    """Runs the server, which keeps one bucket in memory; yields its port."""
    port = free_port()
    command = [sys.executable, "-W", "ignore", "-m", "moto.server", "-H", "127.0.0.1"]
    quiet = subprocess.DEVNULL
    process = subprocess.Popen([*command, "-p", str(port)], stdout=quiet, stderr=quiet)
    try:
        _wait_for(port, process)
        client(port).create_dir(BUCKET)
        yield port
    finally:
        process.kill()
        process.wait()


def client(port: int) -> fs.S3FileSystem:
    return fs.S3FileSystem(
        access_key="test",
        secret_key="test",
        region="us-east-1",
        endpoint_override=f"127.0.0.1:{port}",
        scheme="http",
        allow_bucket_creation=True,
    )


def put(port: int, file: Path, key: str) -> str:
    """Uploads a file; returns its address."""
    with client(port).open_output_stream(f"{BUCKET}/{key}", compression=None) as stream:
        stream.write(file.read_bytes())
    return f"s3://{BUCKET}/{key}"


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    def is_listening() -> bool:
        assert process.poll() is None, f"the S3 server ended with {process.returncode}"
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0

    until(is_listening, START_SECONDS)


def with_environment(port: int) -> dict[str, str]:
    return {**os.environ, **environment(port)}
