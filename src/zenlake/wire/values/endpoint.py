"""Locators and endpoints: where a node can be reached, as text (wire reference §1.8).

endpoint = locator [ "#" parameters ]            local configuration, never on the wire
locator  = protocol "/" address [ "?" parameters ]    metadata, part of the locator
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from zenlake.errors import LocalError
from zenlake.secrets import hide_options
from zenlake.wire.primitives import Malformed, read_text_z8, to_utf8, write_bytes_z8
from zenlake.wire.writer import BytesWriter

if TYPE_CHECKING:
    from mypy_extensions import i64

LOCATOR_BYTES_MAX: Final = 255


class EndPoint:
    """Protocol, address, metadata (after `?`) and configuration (after `#`).

    `canonical` has its parameters sorted by name. `str()` is the same for people: passwords
    and private keys in the configuration are hidden. An EndPoint without configuration is a
    locator.
    """

    __slots__ = ("address", "config", "metadata", "protocol")

    def __init__(
        self,
        protocol: str,
        address: str,
        metadata: dict[str, str] | None = None,
        config: dict[str, str] | None = None,
    ) -> None:
        self.protocol = protocol
        self.address = address
        self.metadata: dict[str, str] = {} if metadata is None else metadata
        self.config: dict[str, str] = {} if config is None else config
        if not protocol or not address:
            raise LocalError(f"{self}: an endpoint has a protocol and an address")
        if len(to_utf8(self.locator)) > LOCATOR_BYTES_MAX:
            raise LocalError(f"{self}: a locator has at most {LOCATOR_BYTES_MAX} bytes")

    @staticmethod
    def parse(text: str) -> EndPoint:
        rest, hash_mark, config = text.partition("#")
        if "?" in config and "?" not in rest:
            raise LocalError(f"{hide_options(text)!r}: '?' must come before '#'")
        rest, question_mark, metadata = rest.partition("?")
        protocol, _, address = rest.partition("/")
        if not protocol or not address:
            raise LocalError(f"{hide_options(text)!r} is no endpoint: expected protocol/address")
        return EndPoint(
            protocol,
            address,
            _parse_parameters(text, metadata) if question_mark else None,
            _parse_parameters(text, config) if hash_mark else None,
        )

    @property
    def locator(self) -> str:
        """The endpoint as other nodes see it: without the configuration."""
        metadata = _parameters_text(self.metadata)
        return f"{self.protocol}/{self.address}{'?' if metadata else ''}{metadata}"

    @property
    def canonical(self) -> str:
        config = _parameters_text(self.config)
        return f"{self.locator}{'#' if config else ''}{config}"

    def __str__(self) -> str:
        return hide_options(self.canonical)

    def __repr__(self) -> str:
        return f"EndPoint.parse({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, EndPoint) and self.canonical == other.canonical

    def __hash__(self) -> int:
        return hash(self.canonical)


def _parse_parameters(text: str, parameters: str) -> dict[str, str]:
    """`a=1;b` to a dict; a list without any name is an error, as in deployed nodes."""
    found: dict[str, str] = {}
    for item in parameters.split(";"):
        name, _, value = item.partition("=")
        if name:
            found.setdefault(name, value)
    if not found:
        raise LocalError(f"{hide_options(text)!r}: no parameter after '?' or '#'")
    return found


def _parameters_text(parameters: dict[str, str]) -> str:
    names = sorted(parameters)
    return ";".join(f"{name}={parameters[name]}" if parameters[name] else name for name in names)


def read_locator(buf: bytes, pos: i64, end: i64) -> tuple[str, i64]:
    """A canonical locator; deployed nodes refuse any other."""
    text, pos = read_text_z8(buf, pos, end)
    try:
        canonical = EndPoint.parse(text).canonical
    except LocalError as error:
        raise Malformed(str(error)) from None
    if text != canonical or "#" in text:
        raise Malformed(f"{text!r} is not a canonical locator")
    return text, pos


def write_locator(out: BytesWriter, locator: str) -> None:
    endpoint = EndPoint.parse(locator)
    if endpoint.config or endpoint.canonical != locator:
        raise LocalError(f"{hide_options(locator)!r} is not a canonical locator")
    write_bytes_z8(out, to_utf8(locator))
