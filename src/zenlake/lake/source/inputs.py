"""Inputs: the files that paths mean, as the machine that plans sees them."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable
from typing import Final, NamedTuple
from urllib.parse import unquote, urlsplit

from zenlake.errors import LocalError
from zenlake.lake.pipeline.inputs import CAPTURE_NAME, captures_in

_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
_PATTERN: Final = re.compile(r"[*?\[]")


class Input(NamedTuple):
    """A capture: its name in tables, as it was given, and where workers open it."""

    capture: str
    path: str


def inputs_of(paths: Iterable[str]) -> list[Input]:
    """Files, folders and patterns; a name that exists is never taken for a pattern.

    Of what a pattern finds, as of a folder, files are meant that are named like captures; all,
    if none is.
    """
    found: dict[str, None] = {}
    for path in paths:
        found.update(dict.fromkeys(captures_in(_matching(_local(path)))))
    # Workers have working directories of their own.
    return [Input(path, os.path.abspath(path)) for path in found]


def _local(path: str) -> str:
    """Spark's users write `file:/data/x.pcap` as well."""
    if not _SCHEME.match(path) or os.path.lexists(path):
        return path
    parts = urlsplit(path)
    if parts.scheme.lower() != "file" or parts.netloc not in ("", "localhost"):
        raise LocalError(f"{path}: captures are read as files, from a folder that all workers see")
    return unquote(parts.path)


def _matching(path: str) -> list[str]:
    if os.path.lexists(path) or not _PATTERN.search(path):
        return [path]
    found = sorted(glob.glob(path, recursive=True))
    if not found:
        raise LocalError(f"{path}: no file has such a name{place_hint(path)}")
    return [one for one in found if os.path.isdir(one) or CAPTURE_NAME.fullmatch(one)] or found


def place_hint(path: str) -> str:
    """Over Connect, Spark plans in a folder of its own, where nobody looks for his files."""
    return "" if os.path.isabs(path) else f" (in {os.getcwd()}: better give a whole path)"
