"""Files of a lake, wherever it lies: the few operations that a run needs."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from zenlake.lake.address import Address
from zenlake.lake.publish.errors import LakeError


def put_file(source: Path, target: Address) -> None:
    """A file of this machine to its place in a lake: moved where that is cheap, else copied."""
    with _told(target):
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
            target.filesystem.open_output_stream(target.fs_path) as out,
        ):
            shutil.copyfileobj(file, out, 8 << 20)
    source.unlink()


def move(source: Address, target: Address) -> None:
    """Within a lake; only where `renames_cheaply`."""
    with _told(target):
        if target.is_local:
            os.makedirs(os.path.dirname(target.path), exist_ok=True)
            os.replace(source.path, target.path)
        else:
            target.filesystem.move(source.fs_path, target.fs_path)


def fetch(source: Address, folder: Path) -> Path:
    """A file of a lake on this machine: itself, or a copy in the folder."""
    if source.is_local:
        return Path(source.path)
    target = folder / source.name
    with _told(source):
        folder.mkdir(parents=True, exist_ok=True)
        with (
            source.filesystem.open_input_stream(source.fs_path) as file,
            open(target, "wb") as out,
        ):
            shutil.copyfileobj(file, out, 8 << 20)
    return target


def remove_file(address: Address) -> None:
    """It may be gone already."""
    if address.is_local:
        Path(address.path).unlink(missing_ok=True)
        return
    try:
        address.filesystem.delete_file(address.fs_path)
    except FileNotFoundError:
        return


def remove_folder(address: Address) -> None:
    if address.is_local:
        shutil.rmtree(address.path, ignore_errors=True)
        return
    from pyarrow import fs

    with _told(address):
        kind = address.filesystem.get_file_info(address.fs_path).type
        if kind == fs.FileType.Directory:
            address.filesystem.delete_dir(address.fs_path)


def names_in(address: Address) -> list[str]:
    """Names in a folder, in order; none where there is no such folder."""
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

    with _told(address):
        chosen = fs.FileSelector(address.fs_path, allow_not_found=True)
        return sorted(one.base_name for one in address.filesystem.get_file_info(chosen))


def flush(path: Path) -> None:
    """Waits until a file is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _told(address: Address) -> Iterator[None]:
    """What a file system says, as an error of the lake."""
    try:
        yield
    except OSError as error:
        cause = error.strerror or " ".join(str(error).split())
        raise LakeError(cause, address) from error
