"""Data sub-messages: what PUSH, REQUEST and RESPONSE carry.

Seed pages: Message Reference, Data Sub-Messages; Query; Reply.
"""

# fmt: off
from __future__ import annotations

from typing import TYPE_CHECKING

from zenlake.wire.define import (
    BYTES_Z32,
    CONSOLIDATION,
    ENCODING,
    REST,
    TEXT_Z32,
    TIMESTAMP,
    UNIT,
    DataMessage,
    chain,
    ext,
    submessage,
    wire,
)

if TYPE_CHECKING:
    from zenlake.wire.definitions.structures import QueryBody, SourceInfo
    from zenlake.wire.message import Extension
    from zenlake.wire.values.choices import ConsolidationMode
    from zenlake.wire.values.encoding import Encoding
    from zenlake.wire.values.timestamp import Timestamp


class Put(DataMessage, id=0x01, header="Z|E|T"):
    """A value."""

    timestamp:   Timestamp | None      = wire(TIMESTAMP, if_flag="T", cell="ts: timestamp")
    encoding:    Encoding | None       = wire(ENCODING, if_flag="E", cell="encoding")
    extensions:  tuple[Extension, ...] = chain("put_exts")
    source_info: SourceInfo | None     = ext(0x1, "SourceInfo")
    shm:         bool                  = ext(0x2, UNIT, mandatory=True)
    attachment:  bytes | None          = ext(0x3, REST)
    payload:     bytes                 = wire(BYTES_Z32, cell="pl: <u8;z32>", sliced_if="shm")


class Del(DataMessage, id=0x02, header="Z|X|T"):
    """A deletion: the key has no value any more."""

    timestamp:   Timestamp | None      = wire(TIMESTAMP, if_flag="T", cell="ts: timestamp")
    extensions:  tuple[Extension, ...] = chain("del_exts")
    source_info: SourceInfo | None     = ext(0x1, "SourceInfo")
    attachment:  bytes | None          = ext(0x2, REST)


class Query(DataMessage, id=0x03, header="Z|P|C"):
    """The parameters of a query, and how its replies are consolidated."""

    consolidation: ConsolidationMode | None = wire(CONSOLIDATION, if_flag="C", cell="consolidation")
    parameters:  str | None            = wire(TEXT_Z32, if_flag="P", cell="ps: <u8;z32>")
    extensions:  tuple[Extension, ...] = chain("qry_exts")
    source_info: SourceInfo | None     = ext(0x1, "SourceInfo")
    body_shm:    int | None            = ext(0x4, UNIT, marks="body")
    body:        QueryBody | None      = ext(0x3, "QueryBody", sliced_if="body_shm")
    attachment:  bytes | None          = ext(0x5, REST)


class Reply(DataMessage, id=0x04, header="Z|X|C"):
    """One value that answers a query."""

    consolidation: ConsolidationMode | None = wire(CONSOLIDATION, if_flag="C", cell="consolidation")
    extensions:  tuple[Extension, ...] = chain("repl_exts")
    body:        Put | Del             = submessage("ReplyBody")


class Err(DataMessage, id=0x05, header="Z|E|X"):
    """An error instead of a reply."""

    encoding:    Encoding | None       = wire(ENCODING, if_flag="E", cell="encoding")
    extensions:  tuple[Extension, ...] = chain("err_exts")
    source_info: SourceInfo | None     = ext(0x1, "SourceInfo")
    shm:         bool                  = ext(0x2, UNIT, mandatory=True)
    payload:     bytes                 = wire(BYTES_Z32, cell="pl: <u8;z32>")
