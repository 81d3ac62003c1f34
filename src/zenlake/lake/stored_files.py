"""Operations on files of a lake, on this machine or in a store.

Arrow would compress or decompress files with names like `x.gz`: here they stay as they are.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from zenlake.lake.address import Address
from zenlake.lake.errors import LakeError, cause_of


def put_file(source: Path, target: Address) -> None:
    """Moves a local file to its place in a lake; copies it if it cannot be renamed."""
    with _as_lake_errors(target):
        if target.is_local:
            os.makedirs(os.path.dirname(target.path), exist_ok=True)
            flush(source)
            try:
                os.replace(source, target.path)
            except OSError:
                shutil.copyfile(source, target.path)
                flush(Path(target.path))
                source.unlink()
            return
        with (
            open(source, "rb") as file,
            target.filesystem.open_output_stream(target.fs_path, compression=None) as out,
        ):
            shutil.copyfileobj(file, out, 8 << 20)
    source.unlink()


def move(source: Address, target: Address) -> None:
    """Renames a file within a lake; only where `renames_cheaply`."""
    with _as_lake_errors(target):
        if target.is_local:
            os.makedirs(os.path.dirname(target.path), exist_ok=True)
            os.replace(source.path, target.path)
        else:
            target.filesystem.move(source.fs_path, target.fs_path)


def fetch(source: Address, folder: Path) -> Path:
    """A local path of a file: the file itself, or a copy of it in `folder`."""
    if source.is_local:
        return Path(source.path)
    target = folder / source.name
    with _as_lake_errors(source):
        folder.mkdir(parents=True, exist_ok=True)
        with (
            source.filesystem.open_input_stream(source.fs_path, compression=None) as file,
            open(target, "wb") as out,
        ):
            shutil.copyfileobj(file, out, 8 << 20)
    return target


def remove_file(address: Address) -> None:
    """Removes a file, if it exists."""
    if address.is_local:
        Path(address.path).unlink(missing_ok=True)
        return
    try:
        address.filesystem.delete_file(address.fs_path)
    except FileNotFoundError:
        return


def modified_s(address: Address) -> float:
    """When a file was written, in seconds since 1970; infinity if a store does not know it."""
    if address.is_local:
        return os.stat(address.path).st_mtime
    found = address.filesystem.get_file_info(address.fs_path).mtime_ns
    return float("inf") if found is None else found / 1e9


def remove_folder(address: Address) -> None:
    if address.is_local:
        shutil.rmtree(address.path, ignore_errors=True)
        return
    from pyarrow import fs

    with _as_lake_errors(address):
        kind = address.filesystem.get_file_info(address.fs_path).type
        if kind == fs.FileType.Directory:
            address.filesystem.delete_dir(address.fs_path)


def names_in(address: Address) -> list[str]:
    """Names in a folder, sorted; none if there is no such folder."""
    if address.is_local:
        try:
            return sorted(os.listdir(address.path))
        except FileNotFoundError:
            return []
        except NotADirectoryError:
            raise LakeError("a lake is a folder, this is a file", address) from None
        except OSError as error:
            raise LakeError.from_os(error, address) from None
    from pyarrow import fs

    with _as_lake_errors(address):
        chosen = fs.FileSelector(address.fs_path, allow_not_found=True)
        return sorted(one.base_name for one in address.filesystem.get_file_info(chosen))


def flush(path: Path) -> None:
    """Writes a file from the system's cache to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _as_lake_errors(address: Address) -> Iterator[None]:
    """Errors of a file system become a LakeError."""
    try:
        yield
    except OSError as error:
        raise LakeError(cause_of(error), address) from error
