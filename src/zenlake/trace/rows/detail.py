"""The column `detail`: JSON of attributes without a column in `messages` and the kind's table."""

from __future__ import annotations

import json.encoder
from collections.abc import Callable
from typing import Any, Final, cast

from zenlake.errors import WireError
from zenlake.trace.json_values import to_json
from zenlake.trace.timelines.interests import option_letters
from zenlake.wire import Declare, DeclareQueryable, Fragment, Interest, Oam
from zenlake.wire.codec import decode_link_states
from zenlake.wire.message import Extension, Message, NetworkMessage

Facts = dict[str, Any]

_KNOWN_ELSEWHERE: Final = frozenset(("extensions", "node_id"))
_PLAIN: Final = (int, str, bool)


def detail_of(kind: str, message: Message, fragments: int = 0) -> str | None:
    """`fragments` is the number of FRAGMENTs that the message came in."""
    describe = _DETAILS.get(kind)
    found: Facts = {} if describe is None else describe(message)
    if isinstance(message, NetworkMessage):
        node_id = _field(message, "node_id")
        if node_id is not None:
            found["node_id"] = node_id
        stamps = _field(message, "stamps")
        if stamps is not None:
            found["stamps"] = to_json(stamps)
    unknown = _unknown_extensions(message)
    if unknown:
        found["unknown_extensions"] = [to_json(one) for one in unknown]
    if fragments:
        found["fragments"] = fragments
    return _json_text(found) if found else None


def _encoder() -> Callable[[Any, int], Any]:
    """The encoder that `json.dumps` makes for each text, which takes half of its time."""
    plain = json.JSONEncoder()
    make: Any = getattr(json.encoder, "c_make_encoder", None)
    if make is None:
        return lambda value, level: (plain.encode(value),)
    quote = json.encoder.encode_basestring_ascii
    separators = plain.key_separator, plain.item_separator
    found: Any = make(None, plain.default, quote, None, *separators, False, False, True)
    return cast(Callable[[Any, int], Any], found)


_ENCODE: Final = _encoder()


def _json_text(found: Facts) -> str:
    return "".join(_ENCODE(found, 0))


def _field(message: Message, name: str) -> Any:
    """Looks up the name before it reads: most lookups fail, and a failing getattr is slower."""
    return getattr(message, name) if name in message.FIELDS else None


def _unknown_extensions(message: Any) -> list[Extension]:
    """Unknown extensions of a message and its body; messages in a FRAME have their own rows."""
    found: list[Extension] = []
    while isinstance(message, Message):
        found.extend(_field(message, "extensions") or ())
        message = _field(message, "body")
    return found


def _all_fields_of(message: Message) -> Facts:
    """All fields, for messages whose kind has no table."""
    found: Facts = {}
    for name in message.FIELDS:
        if name in _KNOWN_ELSEWHERE:
            continue
        value = getattr(message, name)
        if value is not None and value is not False and value != ():
            found[name] = value if type(value) in _PLAIN else to_json(value)
    return found


def _interest(message: Message) -> Facts:
    assert isinstance(message, Interest)
    options = option_letters(message)
    return {"mode": str(message.mode)} | ({"options": options} if options else {})


def _queryable(message: Message) -> Facts:
    assert isinstance(message, Declare)
    body = message.body
    assert isinstance(body, DeclareQueryable)
    info = body.info
    return {} if info is None else {"complete": info.complete, "distance": info.distance}


def _fragment(message: Message) -> Facts:
    assert isinstance(message, Fragment)
    return {name: True for name in ("more", "first", "drop") if getattr(message, name)}


def _link_state(message: Message) -> Facts:
    assert isinstance(message, Oam)
    if not isinstance(message.body, bytes):
        return {}
    try:
        states = decode_link_states(message.body).link_states
    except WireError as error:
        return {"unreadable": str(error), "body": message.body.hex()}
    return {"link_states": to_json(states)}


_DETAILS: Final[dict[str, Callable[[Message], Facts]]] = {
    "SCOUT": _all_fields_of,
    "HELLO": _all_fields_of,
    "INIT_SYN": _all_fields_of,
    "INIT_ACK": _all_fields_of,
    "OPEN_SYN": _all_fields_of,
    "OPEN_ACK": _all_fields_of,
    "CLOSE": _all_fields_of,
    "JOIN": _all_fields_of,
    "TRANSPORT_OAM": _all_fields_of,
    "OAM": _all_fields_of,
    "OAM/LINKSTATE": _link_state,
    "INTEREST": _interest,
    "DECLARE/D_QUERYABLE": _queryable,
    "FRAGMENT": _fragment,
}
KINDS_WITH_DETAIL: Final = frozenset(_DETAILS)
"""All other kinds have a detail only if there are unknown extensions or fragments."""
