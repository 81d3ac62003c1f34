"""Small file systems in memory, for tests of full and read-only disks."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk(place: Path, size_bytes: int) -> Iterator[Path]:
    """Mounts a small file system there; skips the test if the user may not mount."""
    place.mkdir(parents=True, exist_ok=True)
    if not _runs("mount", "-t", "tmpfs", "-o", f"size={size_bytes}", "tmpfs", str(place)):
        pytest.skip("this user may not mount a file system")
    try:
        yield place
    finally:
        # Java may still have a file open that it could not write.
        subprocess.run(["umount", "--lazy", str(place)], check=True)


@contextmanager
def filled(place: Path, free_bytes: int) -> Iterator[None]:
    """Fills the disk with a file until only `free_bytes` are left."""
    state = os.statvfs(place)
    filler = place / "filler"
    filler.write_bytes(bytes(max(0, state.f_bavail * state.f_bsize - free_bytes)))
    try:
        yield
    finally:
        filler.unlink()


@contextmanager
def read_only(place: Path) -> Iterator[None]:
    subprocess.run(["mount", "-o", "remount,ro", str(place)], check=True)
    try:
        yield
    finally:
        subprocess.run(["mount", "-o", "remount,rw", str(place)], check=True)


def _runs(*command: str) -> bool:
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False
