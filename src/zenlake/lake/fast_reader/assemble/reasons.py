"""Reasons why a pair of ends is irregular, and so left to the exact reader."""

from __future__ import annotations

from typing import Final

NONE: Final = 0
NO_START: Final = 1
SECOND_START: Final = 2
OWN_PORT: Final = 3
CUT_SEGMENT: Final = 4
OUT_OF_ORDER: Final = 5
AFTER_END: Final = 6
ACKED_BEYOND: Final = 7
NOT_ZENOH: Final = 8
EMPTY_BATCH: Final = 9
MALFORMED: Final = 10
HANDSHAKE: Final = 11
TERMS: Final = 12
SEQUENCE: Final = 13
FRAGMENTS: Final = 14
MESSAGE_OUT_OF_PLACE: Final = 15
UNFINISHED: Final = 16
SEVERAL_LINKS: Final = 17
TOO_LONG: Final = 18
DOUBTED: Final = 19
UNCHECKED: Final = 20

WORDS: Final = (
    "",
    "the capture does not have its beginning",
    "there are several connections",
    "a port is connected with itself",
    "a packet is cut",
    "bytes are missing or out of order",
    "something came after the end",
    "the other side has more than the capture",
    "it does not begin with INIT",
    "a batch is empty",
    "a batch cannot be decoded to its end",
    "the handshake is not complete and in order",
    "compression or several links were agreed on",
    "sequence numbers do not follow each other",
    "a message in fragments is not complete",
    "a message came where it should not",
    "a batch is not finished",
    "its nodes share another link at the same time",
    "a batch is longer than any can be",
    "rules may have been broken",
    "it was indexed, and is checked by the task that reads it",
)
