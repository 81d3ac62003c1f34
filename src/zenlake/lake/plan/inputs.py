"""Inputs: finds captures by paths, folders and patterns, on the machine that plans."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable
from typing import Final, NamedTuple
from urllib.parse import unquote

from zenlake.errors import LocalError
from zenlake.lake.address import KNOWN, is_stored, parse
from zenlake.lake.errors import LakeError
from zenlake.lake.plan.capture_names import CAPTURE_NAME
from zenlake.lake.plan.file_search import FileChoice, files_in, paths_matching
from zenlake.lake.plan.glob_patterns import is_pattern
from zenlake.lake.plan.listing import LOCAL_LISTING, Listing, listing_of

_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(//)?")
_FILE: Final = re.compile(r"file:(?://(?:localhost)?(?=/))?", re.IGNORECASE)
_ALL_FILES: Final = FileChoice()
_LAKE_NAMES: Final = ("captures/_delta_log", "_current")
"""Names in the folder of a lake; the second one was used before Delta tables."""


class Input(NamedTuple):
    """A capture: its name in tables, as given, and the absolute path or address for workers."""

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
        for name in _files(path if is_stored(path) else local_path(path), choice, ignore_missing):
            # Workers have other working directories.
            place = str(parse(name)) if is_stored(name) else os.path.abspath(name)
            found.setdefault(place, name)
    return [Input(name, path) for path, name in found.items()]


def captures_in(paths: Iterable[str]) -> list[str]:
    """The captures as the pipeline names them, each once, in the order given.

    Unlike those of `inputs_of`, names that are `file:` addresses stay as given.
    """
    found: dict[str, None] = {}
    for path in paths:
        names = _files(path, _ALL_FILES, False) if path == "-" else _named(path)
        found.update(dict.fromkeys(names))
    return [*found]


def _named(path: str) -> list[str]:
    address = parse(path)
    if not _FILE.match(path) or not address.is_local or os.path.lexists(path):
        return _files(path, _ALL_FILES, False)
    names = _files(address.path, _ALL_FILES, False)
    if names == [address.path]:
        return [path]
    is_folder = os.path.isdir(address.path)
    return [os.path.join(path, os.path.basename(name)) if is_folder else name for name in names]


def local_path(path: str) -> str:
    """The local path of an address; an error for an address on another machine."""
    scheme = _SCHEME.match(path)
    # A name such as `a:b.pcap` is allowed, but no folder called `s3:` makes `s3://` a path.
    if scheme is None or (scheme[2] is None and os.path.lexists(path)):
        return path
    if is_stored(path):
        raise LocalError(
            f"{path}: this takes paths and file: addresses; captures in a store are read by "
            "spark.read, zenlake sql, report and pipeline"
        )
    if f"{scheme[1].lower()}://" in KNOWN:
        parse(path)  # raises: its slashes are missing
        return path
    if scheme[1].lower() != "file":
        known = ", ".join(KNOWN)
        raise LocalError(
            f"{path}: there is no address scheme {scheme[1]!a}; captures are read from paths and "
            f"from addresses: {known}"
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
    listing = listing_of(path)
    if _is_recording(path, listing):
        return [path] if choice.admits(path, listing) else []
    if listing.is_folder(path):
        found = files_in(path, choice, listing)
        if not found and not choice.may_exclude_all:
            if any(listing.exists(f"{path.rstrip('/')}/{name}") for name in _LAKE_NAMES):
                lake = f"--lake {shlex.quote(path)}"
                hint = f"zenlake sql {lake} ..., zenlake report {lake}"
                raise LakeError(f"it is a lake and not captures: {hint}", path)
            raise LakeError(f"no captures in {path}: none is named like *.pcap or *.pcapng")
        return found
    if not is_pattern(path) or listing.exists(path):
        return [path] if choice.admits(path, listing) else []
    return _files_matching(path, choice, ignore_missing, listing)


def _files_matching(
    pattern: str, choice: FileChoice, ignore_missing: bool, listing: Listing
) -> list[str]:
    """Files named like captures, or all files if no name is like that."""
    found = paths_matching(pattern, listing)
    if not found and not ignore_missing:
        raise LocalError(f"{pattern}: no file has such a name{place_hint(pattern)}")
    recordings = {path for path in found if _is_recording(path, listing)}
    folders = {path for path in found if listing.is_folder(path)} - recordings
    files = [path for path in found if path not in folders]
    if choice.name_filter is None:
        named = [one for one in files if CAPTURE_NAME.fullmatch(one) or one in recordings]
        files = named if named or folders else files
    chosen = [path for path in files if choice.admits(path, listing)]
    chosen += [file for folder in folders for file in files_in(folder, choice, listing)]
    if found and not chosen and not choice.may_exclude_all:
        raise LakeError(f"no captures in the folders {pattern}: none is named like *.pcap")
    return sorted(chosen)


def _is_recording(path: str, listing: Listing) -> bool:
    """Whether a folder is a recording. One in a store is an error: its segments are one capture."""
    if not listing.is_recording(path):
        return False
    if listing is not LOCAL_LISTING:
        raise LakeError(
            "a recording in a store: copy it to this machine, or read each segment as a capture: "
            f"{path.rstrip('/')}/*.pcapng",
            path,
        )
    return True


def place_hint(path: str) -> str:
    """For messages: relative paths start from the folder in which Spark was started."""
    if os.path.isabs(path) or is_stored(path):
        return ""
    return f" (in {os.getcwd()}: better use an absolute path)"
