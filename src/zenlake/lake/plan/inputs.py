"""Inputs: finds capture files by paths, folders and patterns, on the machine that plans."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Final, NamedTuple
from urllib.parse import unquote

from zenlake.capture.recordings import is_recording
from zenlake.errors import LocalError
from zenlake.lake.address import KNOWN
from zenlake.lake.errors import LakeError
from zenlake.lake.plan.capture_names import CAPTURE_NAME
from zenlake.lake.plan.file_search import FileChoice, files_in, paths_matching
from zenlake.lake.plan.glob_patterns import is_pattern

_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(//)?")
_FILE: Final = re.compile(r"file:(?://(?:localhost)?(?=/))?", re.IGNORECASE)
_ALL_FILES: Final = FileChoice()


class Input(NamedTuple):
    """A capture: its name in tables, as given, and the absolute path for workers."""

    capture: str
    path: str


def inputs_of(
    paths: Iterable[str], choice: FileChoice = _ALL_FILES, ignore_missing: bool = False
) -> list[Input]:
    """The captures of files, folders and patterns; an existing name is never read as a pattern.

    A file that is named twice is read once, under the first name.
    """
    found: dict[str, str] = {}
    for path in paths:
        for name in _files(local_path(path), choice, ignore_missing):
            # Workers have other working directories.
            found.setdefault(os.path.abspath(name), name)
    return [Input(name, path) for path, name in found.items()]


def local_path(path: str) -> str:
    """The local path of an address; an error for an address on another machine."""
    scheme = _SCHEME.match(path)
    # A name such as `a:b.pcap` is allowed, but no folder called `s3:` makes `s3://` a path.
    if scheme is None or (scheme[2] is None and os.path.lexists(path)):
        return path
    if f"{scheme[1].lower()}://" in KNOWN:
        raise LocalError(
            f"{path}: this takes paths and file: addresses; captures in a store are read by "
            "zenlake pipeline"
        )
    if scheme[1].lower() != "file":
        raise LocalError(
            f"{path}: there is no address scheme {scheme[1]!a}; captures are read from paths and "
            "file: addresses"
        )
    file = _FILE.match(path)
    rest = path[file.end() :] if file else ""
    if not rest.startswith("/") or rest.startswith("//"):
        raise LocalError(f"{path}: a file: address is file:/PATH or file:///PATH, of no other host")
    # Spark writes names as they are, others write %20 for a space.
    decoded = unquote(rest)
    return decoded if not os.path.lexists(rest) and os.path.lexists(decoded) else rest


def _files(path: str, choice: FileChoice, ignore_missing: bool) -> list[str]:
    if path == "-":
        raise LakeError("standard input cannot be read by several tasks: name a file")
    if is_recording(path):
        return [path] if choice.admits(path) else []
    if os.path.isdir(path):
        found = files_in(path, choice)
        if not found and not choice.may_exclude_all:
            raise LakeError(f"no captures in {path}: none is named like *.pcap or *.pcapng")
        return found
    if os.path.lexists(path) or not is_pattern(path):
        return [path] if choice.admits(path) else []
    return _files_matching(path, choice, ignore_missing)


def _files_matching(pattern: str, choice: FileChoice, ignore_missing: bool) -> list[str]:
    """Files named like captures, or all files if no name is like that."""
    found = paths_matching(pattern)
    if not found and not ignore_missing:
        raise LocalError(f"{pattern}: no file has such a name{place_hint(pattern)}")
    folders = {path for path in found if os.path.isdir(path) and not is_recording(path)}
    files = [path for path in found if path not in folders]
    if choice.name_filter is None:
        named = [one for one in files if CAPTURE_NAME.fullmatch(one) or is_recording(one)]
        files = named if named or folders else files
    chosen = [path for path in files if choice.admits(path)]
    chosen += [file for folder in folders for file in files_in(folder, choice)]
    if found and not chosen and not choice.may_exclude_all:
        raise LakeError(f"no captures in the folders {pattern}: none is named like *.pcap")
    return sorted(chosen)


def place_hint(path: str) -> str:
    """For messages: relative paths start from the folder in which Spark was started."""
    return "" if os.path.isabs(path) else f" (in {os.getcwd()}: better use an absolute path)"
