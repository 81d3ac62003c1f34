"""Definitions: finds a known message type by its name, its hash, or the key of its data.

`rosbags` ships the messages of all ROS 2 releases. The hash of a type (RIHS01) depends on its
definition, so it identifies the release whose definition the sender used.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from zenlake.errors import LocalError
from zenlake.ros.names import ros_type
from zenlake.ros.reading import shown

if TYPE_CHECKING:
    from rosbags.typesys.store import Typestore

_HASH: Final = "RIHS01_"
_RELEASES: Final = "ROS2_"
_REMEMBERED: Final = 1 << 12


class Definition(NamedTuple):
    """A message type, and the store of a release that defines it."""

    store: Typestore
    name: str


def check_extra() -> None:
    """Raises LocalError if the extra `ros` is not installed."""
    try:
        import rosbags.typesys  # noqa: F401  # checks that it is installed
    except ImportError:
        message = "payloads of ROS need the extra: pip install 'zenlake[ros]'"
        raise LocalError(message) from None


@lru_cache(_REMEMBERED)
def find(meant: str) -> Definition | str:
    """Finds a type by its ROS or DDS name, hash, or rmw_zenoh key; else returns the reason."""
    check_extra()
    wanted_hash, name = _hash_and_name(meant)
    named = None if name is None else _by_name().get(name)
    if wanted_hash is None:
        return named or f"type {shown(name or meant)} is not known"
    hashed = _by_hash().get(wanted_hash)
    if hashed is None:
        whose = f"{name} with the hash" if named else "hash"
        return f"{whose} {shown(wanted_hash)} is not known"
    if name is not None and hashed.name != name:
        return f"the hash is that of {hashed.name}, not of {shown(name)}"
    return hashed


def _hash_and_name(meant: str) -> tuple[str | None, str | None]:
    """Hash and name; a key contains both."""
    chunks = meant.split("/")
    hashes = [chunk for chunk in chunks if chunk.startswith(_HASH)]
    mangled = [chunk for chunk in chunks if "::" in chunk]
    if mangled:
        name = ros_type(mangled[-1])
    elif hashes:
        name = None
    elif len(chunks) == 2:
        name = f"{chunks[0]}/msg/{chunks[1]}"  # the short form, which ROS accepts too
    else:
        name = meant
    return hashes[-1] if hashes else None, name


@cache
def _stores() -> list[Typestore]:
    """The type stores of all releases, the newest first."""
    from rosbags.typesys import Stores, get_typestore

    releases = sorted((one for one in Stores if one.name.startswith(_RELEASES)), key=str)
    return [get_typestore(one) for one in reversed(releases)]


@cache
def _by_name() -> dict[str, Definition]:
    """Each type, as the newest release that has it defines it."""
    found: dict[str, Definition] = {}
    for store in _stores():
        for name in store.fielddefs:
            found.setdefault(name, Definition(store, name))
    return found


@cache
def _by_hash() -> dict[str, Definition]:
    found: dict[str, Definition] = {}
    for store in _stores():
        for name in store.fielddefs:
            found.setdefault(store.hash_rihs01(name), Definition(store, name))
    return found
