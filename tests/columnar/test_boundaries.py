"""Numbers and counts at the limit and one above it, to detect off-by-one errors."""

from __future__ import annotations

import pytest

from tests.columnar.comparison import Input, compare
from tests.columnar.inputs import vector_inputs
from tests.vectors import NEGATIVE
from tests.wire.minimal_messages import MINIMAL, with_chain
from tests.wire.written import vle
from zenlake.columnar import BATCH, LOW_LATENCY, NETWORK, SCOUTING
from zenlake.limits import EXTENSIONS_PER_MESSAGE_MAX, LOCATORS_PER_HELLO_MAX
from zenlake.wire.definitions import LAYOUTS

NUMBERS = sorted(
    power + step
    for power in (1 << 7, 1 << 8, 1 << 16, 1 << 17, 1 << 24, 1 << 32, 1 << 56, 1 << 63, 1 << 64)
    for step in (-1, 0)
    if power + step < 1 << 64
)


def sized(content: bytes) -> bytes:
    return vle(len(content)) + content


def chain(count: int) -> bytes:
    """A chain of `count` unknown extensions."""
    return b"\x8e" * (count - 1) + b"\x0e"


@pytest.mark.parametrize("number", NUMBERS, ids=hex)
def test_number_in_place_of_every_byte(number: int) -> None:
    for content, form in vector_inputs():
        raw = vle(number)
        places = range(len(content))
        compare([(content[:at] + raw + content[at + 1 :], form) for at in places])


def test_numbers_above_the_limit_are_refused() -> None:
    forms = (BATCH, LOW_LATENCY, SCOUTING, NETWORK)
    compare([(bytes.fromhex(one.hex), form) for one in NEGATIVE for form in forms])


def around(limit: int) -> range:
    return range(limit - 1, limit + 3)


def carried(class_name: str, content: bytes) -> Input:
    """A message, or a body in the shortest carrier it can have."""
    layer = LAYOUTS[class_name].layer
    if layer in ("scouting", "transport"):
        return content, SCOUTING if layer == "scouting" else BATCH
    carriers = {"Put": "1d00", "Del": "1d00", "Query": "1c0100", "Reply": "1b0100", "Err": "1b0100"}
    carrier = "1e" if layer == "declare" else carriers.get(class_name, "")
    return bytes.fromhex(carrier) + content, NETWORK


@pytest.mark.parametrize("class_name", MINIMAL)
def test_chains_of_extensions_are_decoded_alike(class_name: str) -> None:
    inputs = [
        carried(class_name, with_chain(class_name, chain(count)))
        for count in (1, 2, *around(EXTENSIONS_PER_MESSAGE_MAX))
    ]
    assert compare(inputs) == 4
    for header in range(0x80):
        bodies = (
            b"",
            b"\x00",
            b"\x01\x01",
            b"\x03\x01\x02\x03",
            b"\xff" * 8 + b"\x80",
            b"\xff" * 9,
        )
        compare(
            [carried(class_name, with_chain(class_name, bytes([header]) + one)) for one in bodies]
        )


def test_extensions_in_an_extension() -> None:
    counts = around(EXTENSIONS_PER_MESSAGE_MAX)
    assert (
        compare([(b"\x81\x09\x00\x05\x43" + sized(chain(count)), BATCH) for count in counts]) == 2
    )


@pytest.mark.parametrize("known", ["21", "42", "43", "47", "33"])
def test_extensions_that_come_again(known: str) -> None:
    """The last one counts, even if the first one set other columns."""
    kind = int(known, 16)
    bodies = {0x21: (b"\x05", b"\x08"), 0x33: (b"\x01", b"\x00"), 0x47: (b"\x03\x01\x00",) * 2}
    bodies[0x42] = (sized(b"\x05\x02\x01\x02"), sized(b"\x80\x01\x01\x07"))
    bodies[0x43] = (sized(b"\x10\x01\x02\x03"), sized(b"\x00\x07\x00"))
    first, second = bodies[kind]
    chained = bytes([kind | 0x80]) + first + bytes([kind]) + second
    heads = (b"\x9b\x01\x00", b"\x9d\x00", b"\x9c\x01\x00")
    tails = (b"\x04\x01\x00", b"\x01\x00", b"\x03")
    inputs = [(head + chained + tail, NETWORK) for head, tail in zip(heads, tails, strict=True)]
    compare(inputs)


@pytest.mark.parametrize("count", [0, 1, *around(LOCATORS_PER_HELLO_MAX)])
def test_lists_of_locators_are_decoded_alike(count: int) -> None:
    hello = b"\x22\x09\x00\x05" + vle(count)
    compare([(hello + sized(b"tcp/a:1") * count, SCOUTING), (hello, SCOUTING)])


@pytest.mark.parametrize(
    "locator",
    [
        *(
            "tcp/a",
            "tcp/a/b",
            "tcp/",
            "/a",
            "tcp",
            "",
            "tcp/a?",
            "tcp/a?b",
            "tcp/a?b=",
            "tcp/a?b=1",
        ),
        *("tcp/a?b=1;c=2", "tcp/a?c=1;b=2", "tcp/a?b;b", "tcp/a?b=1;b=2", "tcp/a?;b", "tcp/a?b;"),
        *("tcp/a?b;c", "tcp/a?bc;b", "tcp/a?b;bc", "tcp/a?=1", "tcp/a?b=c=d", "tcp/a?b?c", "a?b/c"),
        *(
            "tcp/a#b=1",
            "tcp/a?b=1#c=2",
            "tcp/a#",
            "tcp#?/",
            "tcp/\u00e9?\u00e9;\u4e2d",
            "tcp/a?b;;c",
        ),
        *("tcp/" + "a" * 251, "tcp/a?" + "b" * 249, "tcp/a?\u4e2d;\u00e9", "tcp/a?a=;b", "tcp/?b"),
    ],
)
def test_canonical_locators_are_those_of_the_scalar_decoder(locator: str) -> None:
    compare([(b"\x22\x09\x00\x05\x01" + sized(locator.encode()), SCOUTING)])


@pytest.mark.parametrize("size", [0, 1, 31, 32, 33])
def test_regions_of_every_size_are_decoded_alike(size: int) -> None:
    compare([(b"\x81\x09\x00\x05\x48" + sized(b"r" * size), BATCH)])


@pytest.mark.parametrize("count", [0, 1, 254, 255, 256])
def test_timestamp_stacks_of_every_length_are_decoded_alike(count: int) -> None:
    stack = b"\x03" + vle(count) + b"\x01\x00" * count
    compare([(b"\x9d\x00\x47" + sized(stack) + b"\x01\x00", NETWORK)])


def test_every_text_of_up_to_two_bytes_and_more() -> None:
    """UTF-8 as strict as Python's."""
    texts = [bytes([first, second]) for first in range(0x78, 0x100) for second in range(256)]
    for lead in (0xE0, 0xE1, 0xED, 0xEF, 0xF0, 0xF1, 0xF4, 0xF5):
        for second in range(0x7F, 0xC2):
            texts += [bytes([lead, second, *rest]) for rest in ((0x80,), (0xBF, 0x80), (0xC0,), ())]
    compare([(b"\x3d\x00" + sized(text) + b"\x01\x00", NETWORK) for text in texts])
