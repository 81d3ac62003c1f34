"""`zenlake decode` commands that show the messages of an item of a page.

Conditions name packets, links and numbers, never a key: text of peers must not be in a command.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from typing import Any, Final

_AROUND_PACKETS: Final = 20
_PACKETS_MAX: Final = 40
"""The most packets that one command names."""
_NAME: Final = re.compile(r"[\w.:\[\]%#/+-]+", re.ASCII)
"""Names of links and sessions: addresses, ports and a number."""


def packet_command(capture: str, link: str | None, packet: int | None) -> str | None:
    """The messages that one packet completes."""
    if packet is None:
        return None
    return _decode(capture, [f"packet == {packet}", *_is("link", link)])


def packets_command(capture: str, packets: Iterable[int]) -> str | None:
    found = sorted(set(packets))[:_PACKETS_MAX]
    if len(found) < 2:
        return packet_command(capture, None, found[0] if found else None)
    return _decode(capture, [f"packet in ({', '.join(map(str, found))})"])


def around_command(capture: str, link: str | None, packet: int | None) -> str | None:
    """The messages of a link before and after a packet."""
    if packet is None:
        return None
    first, last = max(1, packet - _AROUND_PACKETS), packet + _AROUND_PACKETS
    return _decode(capture, [f"packet >= {first} and packet <= {last}", *_is("link", link)])


def query_command(capture: str, hops: list[dict[str, Any]]) -> str | None:
    """A request and its responses on every hop. Ids are reused, so times bound them."""
    known = [hop for hop in hops if hop["request_id"] is not None]
    if not known:
        return packet_command(capture, None, hops[0]["packet"]) if hops else None
    each = [
        " and ".join([f"request_id == {hop['request_id']}", *_is("link", hop["link"])])
        for hop in known
    ]
    which = each[0] if len(each) == 1 else " or ".join(f"({one})" for one in each)
    times = [f"packet >= {min(hop['packet'] for hop in known)}"]
    if all(hop["final_ms"] is not None for hop in known):
        last_ns = max(hop["time_ns"] + round(hop["final_ms"] * 1e6) for hop in known)
        # Milliseconds in a table are rounded.
        times.append(f"time_ns <= {last_ns + 1000}")
    return _decode(capture, [*times, which if len(each) == 1 else f"({which})"])


def life_command(capture: str, row: dict[str, Any]) -> str | None:
    """The messages that declared and undeclared an entity."""
    kind = str(row["entity"]).upper()
    where = [f"kind in (DECLARE/D_{kind}, DECLARE/U_{kind})", *_is("link", row["link"])]
    if row["entity_id"]:
        where.append(f"entity_id == {row['entity_id']}")
    elif row["packet"] is not None:
        where.append(f"packet >= {row['packet']}")
    return _decode(capture, where)


def session_command(capture: str, session: str | None) -> str | None:
    """The messages that open and close sessions."""
    name = _is("session", session)
    if not name:
        return None
    kinds = "INIT_SYN, INIT_ACK, OPEN_SYN, OPEN_ACK, CLOSE"
    return _decode(capture, [f"kind in ({kinds})", *name])


def _is(field: str, name: str | None) -> list[str]:
    return [f'{field} == "{name}"'] if name and _NAME.fullmatch(name) else []


def _decode(capture: str, conditions: list[str]) -> str:
    # decode would read a name that begins with a dash as an option.
    path = f"./{capture}" if capture.startswith("-") else capture
    return f"zenlake decode --where {shlex.quote(' and '.join(conditions))} {shlex.quote(path)}"
