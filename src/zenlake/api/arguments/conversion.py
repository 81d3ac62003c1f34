"""Arguments of users, checked and converted to the types of the session and the wire.

Error messages are those of eclipse-zenoh where a user's program may compare them.
"""

from __future__ import annotations

from typing import Final, TypeVar

from zenlake import wire
from zenlake.api.arguments.known_keys import is_known, remember
from zenlake.api.values.encoding import Encoding, into_encoding
from zenlake.api.values.enums import (
    CongestionControl,
    Constant,
    Locality,
    Priority,
)
from zenlake.api.values.identifiers import SourceInfo
from zenlake.api.values.timestamp import Timestamp
from zenlake.api.values.zbytes import payload_bytes
from zenlake.errors import ZError
from zenlake.keyexpr import KeyExpr, Parameters, Selector
from zenlake.session import Locality as CoreLocality
from zenlake.wire.headers import QOS_BLOCK
from zenlake.wire.values.qos import CONGESTION_BITS, QOS_BYTES

_C = TypeVar("_C", bound=Constant)
PUT_CONGESTION: Final = 0
QUERY_CONGESTION: Final = QOS_BLOCK
# A cache of pure conversions, shared by all sessions: an entry depends on its text alone.
_ENCODINGS_MAX: Final = 1_024
_encodings: Final[dict[str, wire.Encoding | None]] = {}


def wrong_type(name: str, value: object, wanted: str) -> TypeError:
    """The error of eclipse-zenoh for an argument that is not of the type `wanted`."""
    found = type(value).__name__
    return TypeError(f"argument '{name}': '{found}' object cannot be converted to '{wanted}'")


def key_text(key_expr: KeyExpr | str) -> str:
    """The text of an argument named `key_expr`."""
    if type(key_expr) is str and is_known(key_expr):
        return key_expr
    if isinstance(key_expr, KeyExpr):
        return str(key_expr)
    if not isinstance(key_expr, str):
        raise wrong_type("key_expr", key_expr, "PyString")
    made = KeyExpr(key_expr)
    remember(made)
    return str(made)


def selector_texts(selector: Selector | KeyExpr | str) -> tuple[str, str]:
    """The key and the parameters of an argument named `selector`."""
    if isinstance(selector, Selector):
        return str(selector.key_expr), str(selector.parameters)
    if isinstance(selector, KeyExpr):
        return str(selector), ""
    if not isinstance(selector, str):
        raise wrong_type("selector", selector, "PyString")
    key, mark, parameters = selector.partition("?")
    return key_text(key), str(Parameters(parameters)) if mark else ""


def parameters_text(parameters: Parameters | dict[str, str] | str | None) -> str:
    return "" if parameters is None else str(Parameters(parameters))


def constant(value: object, kind: type[_C], name: str, default: _C) -> _C:
    """Check an argument that is one of the constants of an enumeration."""
    if value is None:
        return default
    if not isinstance(value, kind):
        raise wrong_type(name, value, kind.__name__)
    return value


def flag_of(value: bool | None, name: str) -> bool | None:
    """Check an argument that is True, False or None."""
    if value is not None and not isinstance(value, bool):
        raise wrong_type(name, value, "PyBool")
    return value


def locality(value: Locality | None, name: str) -> CoreLocality:
    return CoreLocality(int(constant(value, Locality, name, Locality.ANY)))


def qos_of(
    congestion_control: CongestionControl | None,
    priority: Priority | None,
    express: bool | None,
    default_congestion: int,
) -> wire.QoS:
    byte = int(constant(priority, Priority, "priority", Priority.DATA))
    if congestion_control is None:
        byte |= default_congestion
    else:
        name = "congestion_control"
        checked = constant(congestion_control, CongestionControl, name, CongestionControl.DROP)
        byte |= CONGESTION_BITS[int(checked)]
    if flag_of(express, "express"):
        byte |= 0x10
    return QOS_BYTES[byte]


def payload_of(value: object) -> bytes:
    try:
        return payload_bytes(value)
    except TypeError as error:
        raise TypeError(f"argument 'payload': {error}") from None


def attachment_of(value: object) -> bytes | None:
    try:
        return None if value is None else payload_bytes(value)
    except TypeError as error:
        raise TypeError(f"argument 'attachment': {error}") from None


def encoding_of(value: Encoding | str | None) -> wire.Encoding | None:
    """The encoding of an argument; None for `zenoh/bytes`, which is not written on the wire."""
    if value is None:
        return None
    if type(value) is str:
        # A single access, because another thread may clear the cache between two.
        try:
            return _encodings[value]
        except KeyError:
            encoding = _none_if_default(into_encoding(value).wire)
        if len(_encodings) >= _ENCODINGS_MAX:
            _encodings.clear()
        _encodings[value] = encoding
        return encoding
    if not isinstance(value, Encoding):
        raise wrong_type("encoding", value, "PyString")
    return _none_if_default(value.wire)


def _none_if_default(encoding: wire.Encoding) -> wire.Encoding | None:
    return None if encoding.id == 0 and encoding.schema is None else encoding


def timestamp_of(value: Timestamp | None) -> wire.Timestamp | None:
    if value is None:
        return None
    if not isinstance(value, Timestamp):
        raise wrong_type("timestamp", value, "Timestamp")
    return value.wire


def source_info_of(value: SourceInfo | None) -> wire.SourceInfo | None:
    if value is None:
        return None
    if not isinstance(value, SourceInfo):
        raise wrong_type("source_info", value, "SourceInfo")
    return value.wire


def timeout_ms_of(value: float | None, default_ms: int) -> int:
    if value is None:
        return default_ms
    if isinstance(value, bool) or not isinstance(value, int | float):
        kind = type(value).__name__
        raise TypeError(f"argument 'timeout': must be real number, not {kind}")
    if not value >= 0:  # NaN is refused as well
        raise ValueError("negative timeout")
    # The wire has 32 bits of milliseconds: 49 days.
    return min(int(value * 1000), 0xFFFF_FFFF) if value < 1e9 else 0xFFFF_FFFF


def budget_of(value: int | None) -> int | None:
    if value is None:
        return None
    if not isinstance(value, int) or value < 1 or value > 0xFFFF_FFFF:
        raise ZError(f"argument 'budget': expected a number of replies, at least 1, not {value!r}")
    return value
