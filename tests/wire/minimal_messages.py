"""The shortest bytes of every message that has an extension chain, divided at the chain.

Typed in by hand from the layouts of the wire reference §2.3 and §3.2; Z is already set.
"""

from __future__ import annotations

MINIMAL: dict[str, tuple[str, str]] = {
    "Scout": ("81 09 07", ""),
    "Hello": ("82 09 00 07", ""),
    "TransportOam": ("80 05", ""),
    "Init": ("81 09 02 bb", ""),
    "Open": ("a2 0a 05", ""),
    "Close": ("83 00", ""),
    "KeepAlive": ("84", ""),
    "Frame": ("85 64", ""),
    "Fragment": ("86 64", "aa"),
    "Join": ("87 09 01 aa 0a 05 06", ""),
    "Interest": ("99 01", ""),
    "ResponseFinal": ("9a 01", ""),
    "Response": ("9b 01 09", "04 02"),
    "Request": ("9c 01 09", "03"),
    "Push": ("9d 09", "02"),
    "Declare": ("9e", "1a"),
    "Oam": ("9f 05", ""),
    "Put": ("81", "01 31"),
    "Del": ("82", ""),
    "Query": ("83", ""),
    "Reply": ("84", "02"),
    "Err": ("85", "01 21"),
    "DeclareKeyExpr": ("80 01 09", ""),
    "UndeclareKeyExpr": ("81 01", ""),
    "DeclareSubscriber": ("82 01 09", ""),
    "UndeclareSubscriber": ("83 01", ""),
    "DeclareQueryable": ("84 01 09", ""),
    "UndeclareQueryable": ("85 01", ""),
    "DeclareToken": ("86 01 09", ""),
    "UndeclareToken": ("87 01", ""),
    "DeclareFinal": ("9a", ""),
}


def with_chain(class_name: str, chain: bytes) -> bytes:
    """A message of the class with these bytes as its extension chain."""
    before, after = MINIMAL[class_name]
    return bytes.fromhex(before) + chain + bytes.fromhex(after)


def chain_offset(class_name: str) -> int:
    return len(bytes.fromhex(MINIMAL[class_name][0]))
